//===- SemaBuiltinData.cpp - slices, gathers, atomics, random numbers -----===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Operations that pick elements by index: of tiles (cat, split, extract,
// insert, flip, take), of arrays (gather, scatter, atomics), of a counter
// (rand).
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

//===----------------------------------------------------------------------===//
// Slices of tiles
//===----------------------------------------------------------------------===//

Operand Sema::checkCat(CallArgs &args) {
  SmallVector<Operand> operands;
  if (args.rest.size() == 1 && llvm::isa<ast::ListExpr>(args.rest.front())) {
    error(diag::not_a_value, args.rest.front()->getRange())
        .arg("a list")
        .help("the tiles follow one another: `cat(a, b, axis: 0)`");
    return Operand::poison(args.range);
  }
  for (const ast::Expr *expr : args.rest)
    operands.push_back(checkValue(expr));
  for (const Operand &operand : operands)
    if (!checkTile(operand, "cat"))
      return Operand::poison(args.range);
  if (operands.empty() || !llvm::isPowerOf2_64(operands.size())) {
    error(diag::tile_count, args.range)
        .arg("cat")
        .arg(int64_t(operands.size()));
    return Operand::poison(args.range);
  }
  const Type type = operands.front().type();
  SmallVector<checked::Expr *> values;
  for (const Operand &operand : operands) {
    values.push_back(operand.expr);
    if (operand.type() == type)
      continue;
    if (operand.type().dtype() != type.dtype())
      reportDTypeMix(operands.front(), operand, args.range, "cat");
    else
      error(diag::shape_mismatch, operand.range)
          .arg("an operand of `cat`")
          .arg(shapeString(type.shape()))
          .arg(shapeString(operand.type().shape()))
          .secondary(operands.front().range, "this is " + type.str());
    return Operand::poison(args.range);
  }
  std::optional<unsigned> axis =
      checkAxis(args.get("axis"), type.rank(), "`axis`");
  if (!axis)
    return Operand::poison(args.range);
  SmallVector<int64_t> shape(type.shape());
  shape[*axis] *= static_cast<int64_t>(operands.size());
  if (!checkTileSize(shape, args.range))
    return Operand::poison(args.range);
  if (operands.size() == 1)
    return operands.front();
  auto *result = make<checked::CatExpr>(type.withShape(shape), args.range);
  result->operands = copy(values);
  result->axis = *axis;
  return Operand::runtime(result, args.range);
}

/// Two slices of a variable that holds x.
Operand Sema::checkSplit(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  if (!checkTile(operand, "split"))
    return Operand::poison(args.range);
  const Type type = operand.type();
  std::optional<unsigned> axis =
      checkAxis(args.values[1], type.rank(), "`axis`");
  if (!axis)
    return Operand::poison(args.range);
  if (type.dim(*axis) < 2) {
    error(diag::shape_mismatch, operand.range)
        .arg("the operand of `split`")
        .arg("of 2 or more along axis " + std::to_string(*axis))
        .arg(shapeString(type.shape()));
    return Operand::poison(args.range);
  }
  checked::Variable *variable = newVariable("", type, false, args.range);
  auto *let = emit<checked::LetStmt>(args.range);
  let->variables = copy(ArrayRef<checked::Variable *>(variable));
  let->init = operand.expr;
  SmallVector<int64_t> shape(type.shape());
  shape[*axis] /= 2;
  Operand tuple = Operand::poison(args.range);
  tuple.kind = Operand::Kind::Tuple;
  for (int64_t half = 0; half < 2; ++half) {
    auto *read = make<checked::VarReadExpr>(type, args.range);
    read->variable = variable;
    SmallVector<checked::Expr *> index;
    for (unsigned i = 0; i < type.rank(); ++i)
      index.push_back(makeInt(i == *axis ? half : 0, args.range));
    auto *slice =
        make<checked::ExtractSliceExpr>(type.withShape(shape), args.range);
    slice->operand = read;
    slice->index = copy(index);
    tuple.elements.push_back(Operand::runtime(slice, args.range));
  }
  return tuple;
}

/// Index and shape of a slice of `tile`, counted in slices.
bool Sema::checkSlice(const ast::Expr *indexExpr, const Operand &tile,
                      ArrayRef<int64_t> shape, SourceRange shapeRange,
                      StringRef what, SmallVectorImpl<checked::Expr *> &index) {
  const Type type = tile.type();
  bool fits = shape.size() == type.rank();
  for (unsigned i = 0; fits && i < shape.size(); ++i)
    fits = shape[i] <= type.dim(i);
  if (!fits) {
    error(diag::shape_mismatch, shapeRange)
        .arg(("the slice of `" + what + "`").str())
        .arg("of rank " + std::to_string(type.rank()) + " within " +
             shapeString(type.shape()))
        .arg(shapeString(shape));
    return false;
  }
  auto *list = dyn_cast<ast::ListExpr>(indexExpr);
  if (!list || list->elements.size() != type.rank()) {
    error(diag::argument_kind, indexExpr->getRange())
        .arg(what)
        .arg("index")
        .arg("a list with one entry per axis")
        .arg(textOf(indexExpr->getRange()));
    return false;
  }
  for (const ast::Expr *entry : list->elements) {
    index.push_back(checkInt(entry, "an index"));
    if (!index.back())
      return false;
  }
  return true;
}

Operand Sema::checkExtract(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  if (!checkTile(operand, "extract"))
    return Operand::poison(args.range);
  SmallVector<int64_t> shape;
  ArrayRef<Origin> origins;
  SmallVector<checked::Expr *> index;
  if (!checkShape(args.values[2], "extract", shape, &origins) ||
      !checkSlice(args.values[1], operand, shape, args.values[2]->getRange(),
                  "extract", index))
    return Operand::poison(args.range);
  auto *result = make<checked::ExtractSliceExpr>(
      operand.type().withShape(shape), args.range);
  result->operand = operand.expr;
  result->index = copy(index);
  Operand slice = Operand::runtime(result, args.range);
  slice.origins = origins;
  return slice;
}

Operand Sema::checkInsert(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  if (!checkTile(operand, "insert"))
    return Operand::poison(args.range);
  Operand slice = Operand::poison(args.range);
  SmallVector<checked::Expr *> index;
  slice = checkValue(args.values[2]);
  if (!checkTile(slice, "insert"))
    return Operand::poison(args.range);
  if (slice.type().dtype() != operand.type().dtype()) {
    reportDTypeMix(operand, slice, args.range, "insert");
    return Operand::poison(args.range);
  }
  if (!checkSlice(args.values[1], operand, slice.type().shape(), slice.range,
                  "insert", index))
    return Operand::poison(args.range);
  auto *result = make<checked::InsertSliceExpr>(operand.type(), args.range);
  result->operand = operand.expr;
  result->index = copy(index);
  result->slice = slice.expr;
  return inheritShape(Operand::runtime(result, args.range), {&operand});
}

Operand Sema::checkFlip(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  if (!checkTile(operand, "flip"))
    return Operand::poison(args.range);
  std::optional<unsigned> axis =
      checkAxis(args.values[1], operand.type().rank(), "`axis`");
  if (!axis)
    return Operand::poison(args.range);
  auto *result = make<checked::FlipExpr>(operand.type(), args.range);
  result->operand = operand.expr;
  result->axis = *axis;
  return inheritShape(Operand::runtime(result, args.range), {&operand});
}

Operand Sema::checkTake(CallArgs &args) {
  Operand operand = checkValue(args.values[0]),
          indices = checkValue(args.values[1]);
  if (!checkTile(operand, "take") || !checkTile(indices, "take"))
    return Operand::poison(args.range);
  const Type type = operand.type(), indexType = indices.type();
  if (!requireDomain(indices, Domain::Integer, "take"))
    return Operand::poison(args.range);
  std::optional<unsigned> axis =
      checkAxis(args.values[2], type.rank(), "`axis`");
  if (!axis)
    return Operand::poison(args.range);
  SmallVector<int64_t> shape(type.shape());
  const bool alongAxis = indexType.rank() == type.rank() && type.rank() != 1;
  if (alongAxis)
    shape[*axis] = indexType.dim(*axis);
  else if (indexType.rank() == 1)
    shape[*axis] = indexType.dim(0);
  if ((alongAxis && indexType.shape() != ArrayRef<int64_t>(shape)) ||
      (!alongAxis && indexType.rank() != 1)) {
    error(diag::shape_mismatch, indices.range)
        .arg("`indices` of `take`")
        .arg("of rank 1, or that of x but for the axis: " + shapeString(shape))
        .arg(shapeString(indexType.shape()));
    return Operand::poison(args.range);
  }
  if (!checkTileSize(shape, args.range))
    return Operand::poison(args.range);
  auto *result = make<checked::TakeExpr>(type.withShape(shape), args.range);
  result->operand = operand.expr;
  result->indices = indices.expr;
  result->axis = *axis;
  result->alongAxis = alongAxis;
  return Operand::runtime(result, args.range);
}

//===----------------------------------------------------------------------===//
// Elements of arrays
//===----------------------------------------------------------------------===//

/// One integer tile or scalar per array dim.
bool Sema::checkGatherIndex(const ast::Expr *expr, const checked::Param *array,
                            StringRef builtin,
                            SmallVectorImpl<Operand> &index) {
  const ast::ListExpr *list = checkIsIndex(expr, builtin, array, /*place=*/"");
  if (!list)
    return false;
  for (const ast::Expr *entry : list->elements) {
    Operand value = checkValue(entry);
    if (value.isPoison())
      return false;
    if (!isInteger(value.type().dtype())) {
      error(diag::argument_kind, value.range)
          .arg(builtin)
          .arg("index")
          .arg("integers")
          .arg(describe(value));
      return false;
    }
    if (!convertWeakTo(value, DType::Int))
      return false;
    index.push_back(std::move(value));
  }
  return checkIndexRank(expr, array, index.size());
}

/// The mask of a gather or atomic, or nothing; poison after an error.
std::optional<Operand> Sema::checkMask(const ast::Expr *expr,
                                       StringRef builtin) {
  if (!expr)
    return std::nullopt;
  Operand mask = checkValue(expr);
  if (mask.isPoison() || mask.type().dtype() == DType::Bool)
    return mask;
  error(diag::argument_kind, expr->getRange())
      .arg(builtin)
      .arg("mask")
      .arg("bool")
      .arg(describe(mask));
  return Operand::poison(expr->getRange());
}

/// Brings index, values and mask to one shape.
bool Sema::unifyAccess(SmallVectorImpl<Operand> &index,
                       ArrayRef<Operand *> values, std::optional<Operand> &mask,
                       SourceRange range,
                       SmallVectorImpl<checked::Expr *> &indexExprs) {
  SmallVector<Operand *, 4> operands;
  for (Operand &entry : index)
    operands.push_back(&entry);
  operands.append(values.begin(), values.end());
  if (mask)
    operands.push_back(&*mask);
  for (const Operand *operand : operands)
    if (operand->isPoison())
      return false;
  if (!unifyShapes(operands, range, "index"))
    return false;
  for (Operand &entry : index)
    indexExprs.push_back(entry.expr);
  return true;
}

Operand Sema::checkGather(CallArgs &args) {
  const checked::Param *array = checkArrayArg(args.values[0], "gather");
  SmallVector<Operand> index;
  if (!array ||
      !checkGatherIndex(args.values[1], array, args.builtin->name, index))
    return Operand::poison(args.range);
  std::optional<Operand> mask = checkMask(args.get("mask"), "gather");
  checked::ConstantExpr *pad =
      checkPad(args.get("pad"), array->dtype, args.range);
  SmallVector<checked::Expr *> indexExprs;
  if (!pad || !unifyAccess(index, {}, mask, args.range, indexExprs))
    return Operand::poison(args.range);
  auto *result = make<checked::GatherExpr>(
      indexExprs.front()->type.withDType(array->dtype), args.range);
  result->array = array;
  result->index = copy(indexExprs);
  result->mask = mask ? mask->expr : nullptr;
  result->pad = pad;
  return inheritShape(Operand::runtime(result, args.range), {&index.front()});
}

/// `atomic_add(y, [0, 0], tile)`, which a store at [0, 0] is not.
void Sema::warnOneElement(StringRef builtin, ArrayRef<Operand> index,
                          const Operand &value, const checked::Param *array,
                          SourceRange range) {
  if (!value.isValue() || value.type().numElements() == 1 ||
      !llvm::all_of(index, [](const Operand &entry) {
        return entry.type().numElements() == 1;
      }))
    return;
  warning(diag::one_element, range)
      .arg(builtin)
      .arg(int64_t(value.type().numElements()))
      .arg(array->name)
      .help("indices of elements name each of them: `arange(" +
            llvm::Twine(value.type().shape().back()) +
            ")`; one value is made of all by `sum`, `max`, …");
}

Operand Sema::checkScatter(CallArgs &args) {
  const checked::Param *array = checkArrayArg(args.values[0], "scatter");
  SmallVector<Operand> index;
  if (!array || !checkWritable(array, args.values[0], "scatter") ||
      !checkGatherIndex(args.values[1], array, args.builtin->name, index))
    return Operand::poison(args.range);
  Operand value = checkStored(args.values[2], array, "scatter");
  std::optional<Operand> mask = checkMask(args.get("mask"), "scatter");
  warnOneElement("scatter", index, value, array, args.range);
  SmallVector<checked::Expr *> indexExprs;
  if (!unifyAccess(index, {&value}, mask, args.range, indexExprs))
    return Operand::poison(args.range);
  auto *scatter = emit<checked::ScatterStmt>(args.range);
  scatter->array = array;
  scatter->index = copy(indexExprs);
  scatter->value = value.expr;
  scatter->mask = mask ? mask->expr : nullptr;
  return Operand::nothing(args.range);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// Whether the operation exists for arrays of `dtype`.
static bool isAtomicDType(checked::AtomicKind kind, DType dtype) {
  using Kind = checked::AtomicKind;
  const bool isWideInt = isInteger(dtype) && dtypeBits(dtype) >= 32;
  switch (kind) {
  case Kind::Add:
  case Kind::Min:
  case Kind::Max:
    return isWideInt || isComputeFloat(dtype);
  case Kind::And:
  case Kind::Or:
  case Kind::Xor:
    return isWideInt;
  default:
    return isWideInt || dtype == DType::F32 || dtype == DType::F64;
  }
}

Operand Sema::checkAtomic(CallArgs &args) {
  using Kind = checked::AtomicKind;
  const StringRef name = args.builtin->name;
  const auto kind = static_cast<Kind>(args.builtin->op);
  const checked::Param *array = checkArrayArg(args.values[0], name);
  if (!array ||
      (kind != Kind::Load && !checkWritable(array, args.values[0], name)))
    return Operand::poison(args.range);
  if (!isAtomicDType(kind, array->dtype)) {
    error(diag::atomic_dtype, args.range)
        .arg(name)
        .arg(StringRef(dtypeName(array->dtype)))
        .secondary(array->range, "declared here");
    return Operand::poison(args.range);
  }
  SmallVector<Operand> index;
  if (!checkGatherIndex(args.values[1], array, args.builtin->name, index))
    return Operand::poison(args.range);
  Operand expected, value;
  SmallVector<Operand *> values;
  if (const ast::Expr *expr = args.get("expected")) {
    expected = checkStored(expr, array, name);
    if (expected.isPoison()) // what is wrong with it would be wrong with `new`
      return Operand::poison(args.range);
    values.push_back(&expected);
  }
  if (const ast::Expr *expr = args.get("v") ? args.get("v") : args.get("new")) {
    value = checkStored(expr, array, name);
    values.push_back(&value);
  }
  std::optional<Operand> mask = checkMask(args.get("mask"), name);
  auto order = checked::MemoryOrder::Relaxed;
  auto scope = checked::MemoryScope::GPU;
  if (const ast::Expr *expr = args.get("order")) {
    static constexpr StringRef words[] = {"relaxed", "acquire", "release",
                                          "acq_rel"};
    // A load cannot release, a store cannot acquire.
    SmallVector<StringRef> allowed(std::begin(words), std::end(words));
    if (kind == Kind::Load)
      allowed = {words[0], words[1]};
    else if (kind == Kind::Store)
      allowed = {words[0], words[2]};
    std::optional<StringRef> word = checkWord(expr, "`order`", allowed);
    if (!word)
      return Operand::poison(args.range);
    order = static_cast<checked::MemoryOrder>(llvm::find(words, *word) - words);
  }
  if (const ast::Expr *expr = args.get("scope")) {
    static constexpr StringRef words[] = {"block", "gpu", "sys"};
    std::optional<StringRef> word = checkWord(expr, "`scope`", words);
    if (!word)
      return Operand::poison(args.range);
    scope = static_cast<checked::MemoryScope>(llvm::find(words, *word) - words);
  }
  warnOneElement(name, index, value, array, args.range);
  SmallVector<checked::Expr *> indexExprs;
  if (!unifyAccess(index, values, mask, args.range, indexExprs))
    return Operand::poison(args.range);
  const Type type = kind == Kind::Store
                        ? Type::nothing()
                        : indexExprs.front()->type.withDType(array->dtype);
  auto *result = make<checked::AtomicExpr>(type, args.range);
  result->op = kind;
  result->array = array;
  result->index = copy(indexExprs);
  result->expected = expected.expr;
  result->value = value.expr;
  result->mask = mask ? mask->expr : nullptr;
  result->order = order;
  result->scope = scope;
  if (kind != Kind::Store)
    return Operand::runtime(result, args.range);
  emit<checked::EvalStmt>(args.range)->value = result;
  return Operand::nothing(args.range);
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// A u64 seed or offset of any integer type.
bool Sema::checkCounter(const ast::Expr *expr, StringRef what, bool isScalar,
                        Operand &result) {
  result = checkValue(expr);
  if (result.isPoison())
    return false;
  const bool isOkay = isInteger(result.type().dtype()) &&
                      (!isScalar || result.type().isScalar());
  if (!isOkay) {
    error(diag::argument_kind, expr->getRange())
        .arg("rand")
        .arg(what)
        .arg(isScalar ? "a scalar integer" : "an integer tile or scalar")
        .arg(describe(result));
    return false;
  }
  if (result.isWeak() && !convertWeakTo(result, DType::Int))
    return false;
  result = castOperand(result, DType::U64, checked::Rounding::NearestEven,
                       result.range);
  return true;
}

/// rand_u32, rand and randn from words of Philox (language.md, section 6):
///   rand   (w0 >> 8) * 2^-24
///   randn  sqrt(-2 ln(((w0 >> 8) + 1) * 2^-24)) * cos(2 pi (w1 >> 8) * 2^-24)
Operand Sema::checkRandom(CallArgs &args) {
  using U = checked::UnaryOp;
  using B = checked::BinaryOp;
  Operand seed, offsets;
  const SourceRange range = args.range;
  const bool isSeedValid =
      checkCounter(args.values[0], "seed", /*isScalar=*/true, seed);
  if (!checkCounter(args.values[1], "offsets", /*isScalar=*/false, offsets) ||
      !isSeedValid)
    return Operand::poison(range);
  unsigned chosenWord = 0;
  if (const ast::Expr *expr = args.get("word")) {
    std::optional<int64_t> value = checkConstInt(expr, "`word`");
    if (value && (*value < 0 || *value > 3)) {
      error(diag::random_word, expr->getRange()).arg(*value);
      value = std::nullopt;
    }
    if (!value)
      return Operand::poison(range);
    chosenWord = unsigned(*value);
  }
  // The operands are read twice: variables of an inlined body hold them.
  std::vector<checked::Stmt *> stmts;
  checked::Variable *variables[2];
  Operand result;
  {
    Saved<std::vector<checked::Stmt *> *> saved(block, &stmts);
    const Operand *operands[2] = {&seed, &offsets};
    for (unsigned i = 0; i < 2; ++i) {
      variables[i] = newVariable(i ? "offsets" : "seed", operands[i]->type(),
                                 false, range);
      auto *let = emit<checked::LetStmt>(range);
      let->variables = copy(ArrayRef<checked::Variable *>(variables[i]));
      let->init = materialize(*operands[i]);
    }
    auto word = [&](unsigned number) {
      checked::Expr *reads[2];
      for (unsigned i = 0; i < 2; ++i) {
        auto *read = make<checked::VarReadExpr>(variables[i]->type, range);
        read->variable = variables[i];
        reads[i] = read;
      }
      auto *node = make<checked::RandU32Expr>(
          offsets.type().withDType(DType::U32), range);
      node->seed = reads[0];
      node->offsets = reads[1];
      node->word = number;
      return Operand::runtime(node, range);
    };
    auto literal = [&](DType dtype, double value) {
      return Operand::constantOf(
          ConstValue::fromFloat(dtype, llvm::APFloat(value)), range);
    };
    auto top24 = [&](unsigned number, uint64_t plus) {
      Operand bits = applyBinary(
          B::Shr, word(number),
          Operand::constantOf(ConstValue(DType::U32, 8), range), range);
      if (plus)
        bits = applyBinary(
            B::Add, bits,
            Operand::constantOf(ConstValue(DType::U32, plus), range), range);
      Operand real =
          castOperand(bits, DType::F32, checked::Rounding::NearestEven, range);
      return applyBinary(B::Mul, real, literal(DType::F32, 0x1p-24), range);
    };
    if (args.builtin->name == "rand_u32") {
      result = word(chosenWord);
    } else if (args.builtin->name == "rand") {
      result = top24(chosenWord, 0);
    } else {
      Operand radius =
          applyBinary(B::Mul, applyUnary(U::Log, top24(0, 1), range),
                      literal(DType::F32, -2), range);
      Operand angle = applyBinary(
          B::Mul, top24(1, 0), literal(DType::F32, 6.283185307179586), range);
      result = applyBinary(B::Mul, applyUnary(U::Sqrt, radius, range),
                           applyUnary(U::Cos, angle, range), range);
    }
  }
  result = Operand::runtime(afterStatements(stmts, materialize(result), range,
                                            args.builtin->name),
                            range);
  return inheritShape(result, {&offsets});
}
