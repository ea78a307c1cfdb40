//===- SemaBuiltin.cpp - elementwise functions, creation, facts -----------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The table of builtins, and the checks of those that work on one element at a
// time, make tiles, or state facts. Memory is in SemaBuiltinMemory.cpp, whole
// tiles are in SemaBuiltinTile.cpp.
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace tilec::sema {
/// Sema's friend, so that the rows may name its members.
struct BuiltinTable {
  static ArrayRef<BuiltinInfo> rows() {
    static const BuiltinInfo table[] = {
#define UNARY(name, op, domain)                                                \
  {name,                                                                       \
   "x",                                                                        \
   &Sema::checkElementwiseUnary,                                               \
   unsigned(checked::UnaryOp::op),                                             \
   Domain::domain},
#define PREDICATE(name, op)                                                    \
  {name,                                                                       \
   "x",                                                                        \
   &Sema::checkElementwiseUnary,                                               \
   unsigned(checked::UnaryOp::op),                                             \
   Domain::Float},
#define BINARY(name, op, domain)                                               \
  {name,                                                                       \
   "x, y",                                                                     \
   &Sema::checkElementwiseBinary,                                              \
   unsigned(checked::BinaryOp::op),                                            \
   Domain::domain},
#define REDUCTION(name, kind, domain)                                          \
  {name,                                                                       \
   "x, *axis?, *keep?",                                                        \
   &Sema::checkReduction,                                                      \
   unsigned(checked::ReduceKind::kind),                                        \
   Domain::domain},
#define OPERATION(name, signature, check, op)                                  \
  {name, signature, &Sema::check, op, Domain::Number},
#include "tilec/Frontend/Builtins.def"
    };
    return table;
  }
};
} // namespace tilec::sema

ArrayRef<BuiltinInfo> tilec::sema::allBuiltins() {
  return BuiltinTable::rows();
}

const BuiltinInfo *tilec::sema::findBuiltin(StringRef name) {
  static const llvm::StringMap<const BuiltinInfo *> index = [] {
    llvm::StringMap<const BuiltinInfo *> map;
    for (const BuiltinInfo &row : allBuiltins())
      map[row.name] = &row;
    return map;
  }();
  return index.lookup(name);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Operand Sema::checkElementwiseUnary(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  if (operand.isPoison() ||
      !requireDomain(operand, args.builtin->domain, args.builtin->name))
    return Operand::poison(args.range);
  // Bits are counted in the width of the dtype.
  if (args.builtin->domain == Domain::Integer &&
      !convertWeakTo(operand, DType::Int))
    return Operand::poison(args.range);
  return applyUnary(static_cast<checked::UnaryOp>(args.builtin->op), operand,
                    args.range);
}

Operand Sema::checkElementwiseBinary(CallArgs &args) {
  const auto op = static_cast<checked::BinaryOp>(args.builtin->op);
  Operand left = checkValue(args.values[0]), right = checkValue(args.values[1]);
  if (left.isPoison() || right.isPoison() ||
      !unifyPair(left, right, args.range, args.builtin->name))
    return Operand::poison(args.range);
  for (Operand *operand : {&left, &right})
    if (!requireDomain(*operand, args.builtin->domain, args.builtin->name) ||
        (op == checked::BinaryOp::MulHi &&
         !convertWeakTo(*operand, DType::Int)))
      return Operand::poison(args.range);
  return applyBinary(op, left, right, args.range);
}

Operand Sema::checkMinMax(CallArgs &args) {
  if (!args.get("y"))
    return checkReduction(args);
  for (StringRef name : {"axis", "keep"}) {
    const ast::Expr *given = args.get(name);
    if (!given)
      continue;
    error(diag::unknown_argument, given->getRange())
        .arg(args.builtin->name)
        .arg(name)
        .label("of two operands the result is elementwise");
    return Operand::poison(args.range);
  }
  return checkElementwiseBinary(args);
}

/// min(max(x, lo), hi)
Operand Sema::checkClamp(CallArgs &args) {
  Operand x = checkValue(args.values[0]), low = checkValue(args.values[1]),
          high = checkValue(args.values[2]);
  SmallVector<Operand *, 4> operands{&x, &low, &high};
  if (!unifyDTypes(operands, args.range, "clamp"))
    return Operand::poison(args.range);
  for (Operand *operand : operands)
    if (!requireDomain(*operand, Domain::Number, "clamp"))
      return Operand::poison(args.range);
  Operand raised = applyBinary(checked::BinaryOp::Max, x, low, args.range);
  if (raised.isPoison())
    return raised;
  return applyBinary(checked::BinaryOp::Min, raised, high, args.range);
}

Operand Sema::checkFma(CallArgs &args) {
  Operand a = checkValue(args.values[0]), b = checkValue(args.values[1]),
          c = checkValue(args.values[2]);
  SmallVector<Operand *, 4> operands{&a, &b, &c};
  if (!unifyDTypes(operands, args.range, "fma"))
    return Operand::poison(args.range);
  for (Operand *operand : operands)
    if (!requireDomain(*operand, Domain::Float, "fma"))
      return Operand::poison(args.range);
  for (Operand *operand : operands)
    if (!convertWeakTo(*operand, DType::F32))
      return Operand::poison(args.range);
  if (!unifyShapes(operands, args.range, "fma"))
    return Operand::poison(args.range);
  auto *result = make<checked::FmaExpr>(a.expr->type, args.range);
  result->a = a.expr;
  result->b = b.expr;
  result->c = c.expr;
  return inheritShape(Operand::runtime(result, args.range), {&a, &b, &c});
}

Operand Sema::checkWhere(CallArgs &args) {
  Operand condition = checkValue(args.values[0]),
          a = checkValue(args.values[1]), b = checkValue(args.values[2]);
  if (condition.isPoison() || !unifyPair(a, b, args.range, "where"))
    return Operand::poison(args.range);
  if (condition.type().dtype() != DType::Bool) {
    auto builder = error(diag::argument_kind, condition.range);
    builder.arg("where").arg("c").arg("bool").arg(describe(condition));
    if (condition.isValue())
      builder.help("compare it: `" + textOf(condition.range) + " != 0`");
    return Operand::poison(args.range);
  }
  if (condition.isConstant() && a.isConstant() && b.isConstant()) {
    Operand result = condition.constant->isTrue() ? a : b;
    result.range = args.range;
    return result;
  }
  const DType dtype = a.type().dtype();
  Operand choice;
  keepLiterals(choice, a, b);
  if (!convertWeakTo(a, dtype) || !convertWeakTo(b, dtype))
    return Operand::poison(args.range);
  SmallVector<Operand *, 4> operands{&condition, &a, &b};
  if (!unifyShapes(operands, args.range, "where"))
    return Operand::poison(args.range);
  auto *result = make<checked::SelectExpr>(a.expr->type, args.range);
  result->condition = condition.expr;
  result->whenTrue = a.expr;
  result->whenFalse = b.expr;
  Operand chosen = inheritShape(Operand::runtime(result, args.range),
                                {&a, &b, &condition});
  chosen.literals = choice.literals;
  return chosen;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

std::optional<StringRef> Sema::checkWord(const ast::Expr *expr, StringRef what,
                                         ArrayRef<StringRef> words) {
  auto *name = dyn_cast<ast::NameExpr>(expr);
  if (name && llvm::is_contained(words, name->name))
    return name->name;
  std::string list;
  for (StringRef word : words)
    list += (list.empty() ? "`" : ", `") + word.str() + "`";
  auto builder = error(diag::unknown_word, expr->getRange());
  builder.arg(what).arg(list).arg(textOf(expr->getRange()));
  if (name)
    if (std::optional<StringRef> near = closest(name->name, words))
      builder.fixIt(expr->getRange(), *near, "did you mean `" + *near + "`?");
  return std::nullopt;
}

Operand Sema::checkTo(CallArgs &args) {
  std::optional<DType> dtype = checkDType(args.values[0], ".to");
  auto rounding = checked::Rounding::NearestEven;
  if (const ast::Expr *expr = args.get("round")) {
    static constexpr StringRef words[] = {"rne", "rz", "rd", "ru"};
    std::optional<StringRef> word = checkWord(expr, "`round`", words);
    if (!word)
      return Operand::poison(args.range);
    rounding = static_cast<checked::Rounding>(llvm::find(words, *word) - words);
  }
  if (!dtype)
    return Operand::poison(args.range);
  return castOperand(args.receiver, *dtype, rounding, args.range);
}

Operand Sema::checkBitcast(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  std::optional<DType> dtype = checkDType(args.values[1], "bitcast");
  if (operand.isPoison() || !dtype ||
      !convertWeakTo(operand, operand.type().dtype()))
    return Operand::poison(args.range);
  const DType from = operand.type().dtype();
  for (DType type : {from, *dtype}) {
    if (type != DType::Bool && type != DType::TF32)
      continue;
    error(diag::dtype_not_supported, args.range)
        .arg("bitcast")
        .arg(StringRef(dtypeName(type)))
        .help("`.to` converts");
    return Operand::poison(args.range);
  }
  if (dtypeBits(from) != dtypeBits(*dtype)) {
    error(diag::bitcast_width, args.range)
        .arg(StringRef(dtypeName(from)))
        .arg(int64_t(dtypeBits(from)))
        .arg(StringRef(dtypeName(*dtype)))
        .arg(int64_t(dtypeBits(*dtype)));
    return Operand::poison(args.range);
  }
  if (from == *dtype)
    return operand;
  if (operand.isConstant()) {
    uint64_t bits = operand.constant->bits();
    const unsigned unused = 64 - dtypeBits(*dtype);
    if (isSigned(*dtype))
      bits =
          static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused);
    else
      bits = bits << unused >> unused;
    return Operand::constantOf(ConstValue(*dtype, bits), args.range);
  }
  auto *result =
      make<checked::BitcastExpr>(operand.type().withDType(*dtype), args.range);
  result->operand = operand.expr;
  return inheritShape(Operand::runtime(result, args.range), {&operand});
}

//===----------------------------------------------------------------------===//
// Position
//===----------------------------------------------------------------------===//

/// The grid axis of bid and num_blocks.
static std::optional<unsigned> gridAxis(const Operand &value) {
  if (!value.isConstant() || !isInteger(value.constant->dtype()))
    return std::nullopt;
  std::optional<int64_t> axis = value.constant->toInt64();
  if (!axis || *axis < 0 || *axis > 2)
    return std::nullopt;
  return static_cast<unsigned>(*axis);
}

Operand Sema::checkBid(CallArgs &args) {
  Operand value = checkValue(args.values[0]);
  if (value.isPoison())
    return value;
  std::optional<unsigned> axis = gridAxis(value);
  if (!axis) {
    error(diag::grid_axis, value.range).arg("bid").arg(describe(value));
    return Operand::poison(args.range);
  }
  if (kernel && kernel->hasGrid && !inRequires && !kernel->grid.empty() &&
      *axis >= kernel->grid.size())
    warning(diag::grid_axis_unused, args.range)
        .arg(int64_t(kernel->grid.size()))
        .arg(textOf(args.range))
        .arg("0");
  auto *result =
      make<checked::BlockIdExpr>(Type::scalar(DType::Int), args.range);
  result->axis = *axis;
  return Operand::runtime(result, args.range);
}

Operand Sema::checkNumBlocks(CallArgs &args) {
  Operand value = checkValue(args.values[0]);
  if (value.isPoison())
    return value;
  std::optional<unsigned> axis = gridAxis(value);
  if (!axis) {
    error(diag::grid_axis, value.range).arg("num_blocks").arg(describe(value));
    return Operand::poison(args.range);
  }
  auto *result =
      make<checked::NumBlocksExpr>(Type::scalar(DType::Int), args.range);
  result->axis = *axis;
  return Operand::runtime(result, args.range);
}

/// (cdiv(a.shape[0], BM), …)
Operand Sema::checkNumTiles(CallArgs &args) {
  const checked::Param *array = checkArrayArg(args.values[0], "num_tiles");
  SmallVector<int64_t> shape;
  if (!checkShape(args.values[1], "num_tiles", shape, nullptr) || !array)
    return Operand::poison(args.range);
  if (shape.size() != array->rank()) {
    error(diag::shape_rank, args.values[1]->getRange())
        .arg(array->name)
        .arg(int64_t(array->rank()))
        .arg(int64_t(shape.size()))
        .arg(shape.size() == 1 ? "y" : "ies");
    return Operand::poison(args.range);
  }
  Operand tuple = Operand::poison(args.range);
  tuple.kind = Operand::Kind::Tuple;
  for (auto [axis, dim] : llvm::enumerate(array->dims)) {
    Operand size = Operand::poison(args.range);
    if (dim.constant) {
      size =
          Operand::constantOf(ConstValue::integer(*dim.constant), args.range);
    } else {
      auto *read =
          make<checked::ArrayDimExpr>(Type::scalar(DType::Int), args.range);
      read->array = array;
      read->axis = axis;
      size = Operand::runtime(read, args.range);
    }
    Operand tile =
        Operand::constantOf(ConstValue::integer(shape[axis]), args.range);
    tuple.elements.push_back(
        applyBinary(checked::BinaryOp::CeilDiv, size, tile, args.range));
  }
  return tuple.elements.size() == 1 ? tuple.elements.front() : tuple;
}

Operand Sema::checkNumSMs(CallArgs &args) {
  return Operand::runtime(
      make<checked::NumSMsExpr>(Type::scalar(DType::Int), args.range),
      args.range);
}

Operand Sema::checkArch(CallArgs &args) {
  if (options.arch)
    return Operand::constantOf(ConstValue::integer(*options.arch), args.range);
  error(diag::unknown_arch, args.range);
  return Operand::poison(args.range);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// zeros and ones; `op` is the value.
Operand Sema::checkFill(CallArgs &args) {
  SmallVector<int64_t> shape;
  ArrayRef<Origin> origins;
  const bool isValid =
      checkShape(args.values[0], args.builtin->name, shape, &origins);
  std::optional<DType> dtype = checkDType(args.values[1], args.builtin->name);
  if (!isValid || !dtype)
    return Operand::poison(args.range);
  const ConstValue value =
      evalCast(ConstValue::integer(args.builtin->op), *dtype);
  Operand result = Operand::runtime(
      makeConstant(value, Type::tile(*dtype, shape), locOf(args.range)),
      args.range);
  result.origins = origins;
  return result;
}

Operand Sema::checkFull(CallArgs &args) {
  SmallVector<int64_t> shape;
  ArrayRef<Origin> origins;
  const bool isValid = checkShape(args.values[0], "full", shape, &origins);
  Operand value = checkValue(args.values[1]);
  std::optional<DType> dtype;
  if (args.values[2] && !(dtype = checkDType(args.values[2], "full")))
    return Operand::poison(args.range);
  if (!isValid || value.isPoison())
    return Operand::poison(args.range);
  if (!value.type().isScalar()) {
    error(diag::not_scalar, value.range)
        .arg("the value of `full`")
        .arg(describe(value))
        .help("`broadcast_to` repeats a tile");
    return Operand::poison(args.range);
  }
  // As if the value met a value of the dtype.
  Operand target = Operand::constantOf(
      ConstValue(dtype.value_or(value.type().dtype()), 0), value.range);
  if (args.values[2])
    target.range = args.values[2]->getRange();
  if (!unifyPair(value, target, args.range, "full"))
    return Operand::poison(args.range);
  if (value.type().dtype() != target.type().dtype() ||
      (dtype && target.type().dtype() != *dtype)) {
    reportDTypeMix(value, target, args.range, "full");
    return Operand::poison(args.range);
  }
  Operand result = Operand::runtime(broadcastTo(value, shape), args.range);
  result.origins = origins;
  return result;
}

/// start + i * step
Operand Sema::checkArange(CallArgs &args) {
  auto *first = dyn_cast<ast::IntLiteralExpr>(args.values[0]);
  if (args.values[1] && first && first->magnitude == 0) {
    const std::string text = textOf(args.values[1]->getRange());
    error(diag::tile_dim_not_power_of_two, args.values[0]->getRange())
        .arg("0")
        .arg(int64_t(0))
        .arg("")
        .help("`arange(" + text + ")` counts from 0, `arange(" + text +
              ", start: s)` from s");
    return Operand::poison(args.range);
  }
  int64_t count = 1;
  const bool isValid = checkTileDim(args.values[0], count);
  std::optional<DType> dtype = DType::Int;
  if (args.values[1])
    dtype = checkDType(args.values[1], "arange");
  if (!isValid || !dtype || !checkTileSize({count}, args.range))
    return Operand::poison(args.range);
  Operand like = Operand::constantOf(ConstValue(*dtype, 0),
                                     args.values[1] ? args.values[1]->getRange()
                                                    : args.range);
  if (!requireDomain(like, Domain::Number, "arange"))
    return Operand::poison(args.range);
  checked::Expr *parts[2];
  for (unsigned i = 0; i < 2; ++i) {
    const ast::Expr *given = args.get(i == 0 ? "start" : "step");
    Operand value =
        given ? checkValue(given)
              : Operand::constantOf(evalCast(ConstValue::integer(i), *dtype),
                                    args.range);
    Operand target = like;
    if (value.isValue() && !value.type().isScalar()) {
      error(diag::not_scalar, value.range)
          .arg(i == 0 ? "`start`" : "`step`")
          .arg(describe(value));
      return Operand::poison(args.range);
    }
    if (value.isPoison() || !unifyPair(value, target, args.range, "arange"))
      return Operand::poison(args.range);
    if (target.type().dtype() != *dtype) { // an `int` arange of an i32 start
      reportDTypeMix(value, like, args.range, "arange");
      return Operand::poison(args.range);
    }
    parts[i] = materialize(value);
  }
  auto *result =
      make<checked::ArangeExpr>(Type::tile(*dtype, {count}), args.range);
  result->start = parts[0];
  result->step = parts[1];
  Operand operand = Operand::runtime(result, args.range);
  const Origin origin{args.values[0]->getRange()};
  operand.origins = copy(ArrayRef<Origin>(origin));
  return operand;
}

//===----------------------------------------------------------------------===//
// Facts and compile time
//===----------------------------------------------------------------------===//

Operand Sema::checkAssume(CallArgs &args) {
  Operand condition =
      checkCondition(args.values[0], "the argument of `assume`");
  if (condition.isRuntime())
    emit<checked::AssumeStmt>(args.range)->condition = condition.expr;
  else if (condition.isConstant() && !condition.constant->isTrue())
    error(diag::constant_requirement, condition.range)
        .arg(textOf(condition.range));
  return Operand::nothing(args.range);
}

Operand Sema::checkAligned(CallArgs &args) {
  if (!inRequires) {
    error(diag::aligned_misplaced, args.range);
    return Operand::poison(args.range);
  }
  const checked::Param *array = checkArrayArg(args.values[0], "aligned");
  std::optional<int64_t> bytes = checkConstInt(args.values[1], "an alignment");
  if (!array || !bytes)
    return Operand::poison(args.range);
  if (*bytes <= 0 || !llvm::isPowerOf2_64(static_cast<uint64_t>(*bytes))) {
    error(diag::alignment_value, args.values[1]->getRange()).arg(*bytes);
    return Operand::poison(args.range);
  }
  auto *result =
      make<checked::AlignedExpr>(Type::scalar(DType::Bool), args.range);
  result->array = array;
  result->bytes = *bytes;
  return Operand::runtime(result, args.range);
}

Operand Sema::checkStaticAssert(CallArgs &args) {
  std::optional<bool> holds =
      checkConstBool(args.values[0], "the condition of `static_assert`");
  if (!holds)
    return Operand::poison(args.range);
  if (*holds)
    return Operand::nothing(args.range);
  auto *message = args.values[1]
                      ? dyn_cast<ast::StringLiteralExpr>(args.values[1])
                      : nullptr;
  error(diag::static_assert_failed, args.values[0]->getRange())
      .arg(message ? ": " + message->value.str() : "");
  return Operand::poison(args.range);
}

/// The text of the format before, between and behind its `{}`, one for each value.
bool Sema::checkFormat(const CallArgs &args, StringRef builtin,
                       SmallVectorImpl<StringRef> &pieces) {
  auto *format = dyn_cast<ast::StringLiteralExpr>(args.values[0]);
  if (!format) {
    const std::string text = textOf(args.values[0]->getRange());
    error(diag::argument_kind, args.values[0]->getRange())
        .arg(builtin)
        .arg("format")
        .arg("a string")
        .arg(text)
        .help("`{}` in it stands for a value: `" + builtin + "(\"{}\", " + text +
              ")`");
    return false;
  }
  format->value.split(pieces, "{}");
  if (pieces.size() == args.rest.size() + 1)
    return true;
  error(diag::print_arguments, args.range)
      .arg(int64_t(pieces.size() - 1))
      .arg(int64_t(args.rest.size()))
      .help("each `{}` in the format is the next argument");
  return false;
}

Operand Sema::checkStaticPrint(CallArgs &args) {
  SmallVector<StringRef> pieces;
  if (!checkFormat(args, "static_print", pieces))
    return Operand::poison(args.range);
  std::string text = pieces.front().str();
  for (auto [index, expr] : llvm::enumerate(args.rest)) {
    Operand value = checkExpr(expr);
    if (value.isPoison())
      return value;
    text += value.isConstant() ? value.constant->str()
            : value.kind == Operand::Kind::DType
                ? std::string(dtypeName(value.dtype))
            : value.isRuntime() ? value.type().str()
                                : describe(value);
    text += pieces[index + 1];
  }
  const LineCol place = sources.getLineCol(args.range.begin);
  llvm::raw_ostream &os =
      options.staticPrint ? *options.staticPrint : llvm::errs();
  os << sources.getFileName(args.range.begin) << ':' << place.line << ':'
     << place.col << ": " << text << '\n';
  return Operand::nothing(args.range);
}
