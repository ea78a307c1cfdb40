//===- SemaBuiltinTile.cpp - shapes, reductions, mma ----------------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Operations on whole tiles: those that move elements, those that combine them,
// and matrix products.
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

static std::string axisList(unsigned rank) {
  std::string text;
  for (unsigned i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(i);
  return text.empty() ? "none" : text;
}

std::optional<unsigned> Sema::checkAxis(const ast::Expr *expr, unsigned rank,
                                        StringRef what) {
  std::optional<int64_t> axis = checkConstInt(expr, what);
  if (!axis)
    return std::nullopt;
  if (*axis >= -int64_t(rank) && *axis < int64_t(rank))
    return static_cast<unsigned>(*axis < 0 ? *axis + rank : *axis);
  error(diag::axis_out_of_range, expr->getRange())
      .arg(*axis)
      .arg(int64_t(rank))
      .arg(axisList(rank));
  return std::nullopt;
}

/// An axis, a list of them, or (null) all; sorted.
bool Sema::checkAxes(const ast::Expr *expr, unsigned rank,
                     SmallVectorImpl<int64_t> &axes) {
  if (!expr) {
    for (unsigned i = 0; i < rank; ++i)
      axes.push_back(i);
    return true;
  }
  auto *list = dyn_cast<ast::ListExpr>(expr);
  ast::Expr *single = const_cast<ast::Expr *>(expr);
  for (const ast::Expr *element :
       list ? list->elements : ArrayRef<ast::Expr *>(single)) {
    std::optional<unsigned> axis = checkAxis(element, rank, "`axis`");
    if (!axis)
      return false;
    if (llvm::is_contained(axes, int64_t(*axis))) {
      error(diag::axis_repeated, element->getRange()).arg(int64_t(*axis));
      return false;
    }
    axes.push_back(*axis);
  }
  llvm::sort(axes);
  return true;
}

bool Sema::checkKeep(const ast::Expr *expr, bool &keep) {
  keep = false;
  if (!expr)
    return true;
  std::optional<bool> value = checkConstBool(expr, "`keep`");
  keep = value.value_or(false);
  return value.has_value();
}

bool Sema::checkTile(const Operand &operand, StringRef what) {
  if (operand.isPoison())
    return false;
  if (operand.type().isTile())
    return true;
  error(diag::not_a_tile, operand.range)
      .arg(("the operand of `" + what + "`").str())
      .arg(describe(operand));
  return false;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Operand Sema::checkReshape(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  SmallVector<int64_t> shape;
  ArrayRef<Origin> origins;
  const bool isValid = checkShape(args.values[1], "reshape", shape, &origins);
  if (!isValid || operand.isPoison() ||
      !convertWeakTo(operand, operand.type().dtype()))
    return Operand::poison(args.range);
  const Type type = operand.type();
  const Type target = type.withShape(shape);
  if (type.numElements() != target.numElements()) {
    error(diag::reshape_count, args.range)
        .arg(shapeString(type.shape()))
        .arg(type.numElements())
        .arg(shapeString(shape))
        .arg(target.numElements());
    return Operand::poison(args.range);
  }
  Operand result =
      Operand::runtime(makeReshape(materialize(operand), shape), args.range);
  result.origins = origins;
  return result;
}

Operand Sema::checkPermute(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  if (!checkTile(operand, args.builtin->name))
    return Operand::poison(args.range);
  SmallVector<unsigned> order;
  if (!checkOrder(args.values[1], operand.type().rank(), order, "dims"))
    return Operand::poison(args.range);
  SmallVector<int64_t> axes(order.begin(), order.end()), shape;
  SmallVector<Origin> origins;
  bool isIdentity = true;
  for (auto [index, axis] : llvm::enumerate(order)) {
    shape.push_back(operand.type().dim(axis));
    isIdentity &= axis == index;
    if (axis < operand.origins.size())
      origins.push_back(operand.origins[axis]);
  }
  if (isIdentity)
    return operand;
  auto *result =
      make<checked::PermuteExpr>(operand.type().withShape(shape), args.range);
  result->operand = operand.expr;
  result->axes = copy(axes);
  Operand permuted = Operand::runtime(result, args.range);
  if (origins.size() == shape.size())
    permuted.origins = copy(origins);
  return permuted;
}

/// Swaps the last two axes.
Operand Sema::checkTranspose(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  if (operand.isPoison())
    return operand;
  const unsigned rank = operand.type().rank();
  if (rank < 2) {
    error(diag::argument_kind, operand.range)
        .arg("transpose")
        .arg("x")
        .arg("a tile of rank 2 or more")
        .arg(describe(operand));
    return Operand::poison(args.range);
  }
  SmallVector<int64_t> axes, shape(operand.type().shape());
  for (unsigned i = 0; i < rank; ++i)
    axes.push_back(i);
  std::swap(axes[rank - 1], axes[rank - 2]);
  std::swap(shape[rank - 1], shape[rank - 2]);
  auto *result =
      make<checked::PermuteExpr>(operand.type().withShape(shape), args.range);
  result->operand = operand.expr;
  result->axes = copy(axes);
  Operand transposed = Operand::runtime(result, args.range);
  if (operand.origins.size() == rank) {
    SmallVector<Origin> origins(operand.origins);
    std::swap(origins[rank - 1], origins[rank - 2]);
    transposed.origins = copy(origins);
  }
  return transposed;
}

Operand Sema::checkBroadcastTo(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  SmallVector<int64_t> shape;
  ArrayRef<Origin> origins;
  const bool isValid =
      checkShape(args.values[1], "broadcast_to", shape, &origins);
  if (!isValid || operand.isPoison() ||
      !convertWeakTo(operand, operand.type().dtype()))
    return Operand::poison(args.range);
  const Type type = operand.type();
  std::string problem;
  if (type.rank() > shape.size())
    problem = "the rank would fall from " + std::to_string(type.rank()) +
              " to " + std::to_string(shape.size());
  for (unsigned i = 0; problem.empty() && i < type.rank(); ++i) {
    const unsigned axis = type.rank() - 1 - i;
    const int64_t want = shape[shape.size() - 1 - i];
    if (type.dim(axis) != 1 && type.dim(axis) != want)
      problem = "axis " + std::to_string(axis) + " is " +
                std::to_string(type.dim(axis)) + ", not 1 or " +
                std::to_string(want);
  }
  if (!problem.empty()) {
    error(diag::broadcast_target, args.range)
        .arg(shapeString(type.shape()))
        .arg(shapeString(shape))
        .arg(problem);
    return Operand::poison(args.range);
  }
  Operand result = Operand::runtime(broadcastTo(operand, shape), args.range);
  result.origins = origins;
  return result;
}

Operand Sema::checkExpandDims(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  if (operand.isPoison() || !convertWeakTo(operand, operand.type().dtype()))
    return Operand::poison(args.range);
  const unsigned rank = operand.type().rank();
  std::optional<unsigned> axis = checkAxis(args.values[1], rank + 1, "`axis`");
  if (!axis)
    return Operand::poison(args.range);
  if (rank == maxTileRank) {
    error(diag::tile_rank, args.range).arg(int64_t(rank + 1));
    return Operand::poison(args.range);
  }
  SmallVector<int64_t> shape(operand.type().shape());
  shape.insert(shape.begin() + *axis, 1);
  Operand result =
      Operand::runtime(makeReshape(materialize(operand), shape), args.range);
  if (operand.origins.size() == rank) {
    SmallVector<Origin> origins(operand.origins);
    origins.insert(origins.begin() + *axis, Origin{args.values[1]->getRange()});
    result.origins = copy(origins);
  }
  return result;
}

Operand Sema::checkSqueeze(CallArgs &args) {
  Operand operand = checkValue(args.values[0]);
  if (!checkTile(operand, "squeeze"))
    return Operand::poison(args.range);
  SmallVector<int64_t> axes, shape;
  if (!checkAxes(args.values[1], operand.type().rank(), axes))
    return Operand::poison(args.range);
  SmallVector<Origin> origins;
  for (unsigned axis = 0; axis < operand.type().rank(); ++axis) {
    const int64_t dim = operand.type().dim(axis);
    if (!llvm::is_contained(axes, int64_t(axis))) {
      shape.push_back(dim);
      if (axis < operand.origins.size())
        origins.push_back(operand.origins[axis]);
    } else if (dim != 1) {
      error(diag::squeeze_axis, args.values[1]->getRange())
          .arg(int64_t(axis))
          .arg(dim);
      return Operand::poison(args.range);
    }
  }
  Operand result =
      Operand::runtime(makeReshape(operand.expr, shape), args.range);
  if (origins.size() == shape.size())
    result.origins = copy(origins);
  return result;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The result of removing `axes`, or with axes of one when `keep`.
Operand Sema::finishReduction(checked::Expr *reduced, const Operand &source,
                              ArrayRef<int64_t> axes, bool keep,
                              const CallArgs &args) {
  SmallVector<int64_t> shape;
  SmallVector<Origin> origins;
  for (unsigned axis = 0; axis < source.type().rank(); ++axis) {
    const bool isReduced = llvm::is_contained(axes, int64_t(axis));
    if (isReduced && !keep)
      continue;
    shape.push_back(isReduced ? 1 : source.type().dim(axis));
    origins.push_back(!isReduced && axis < source.origins.size()
                          ? source.origins[axis]
                          : Origin{args.range});
  }
  Operand result = Operand::runtime(makeReshape(reduced, shape), args.range);
  result.origins = copy(origins);
  if (!keep && axes.size() == 1 && !shape.empty()) {
    auto *dropped = out.create<DroppedAxis>();
    dropped->call = args.range;
    dropped->axis = axes.front();
    result.dropped = dropped;
  }
  return result;
}

static SmallVector<int64_t> removeAxes(ArrayRef<int64_t> shape,
                                       ArrayRef<int64_t> axes) {
  SmallVector<int64_t> kept;
  for (auto [axis, dim] : llvm::enumerate(shape))
    if (!llvm::is_contained(axes, int64_t(axis)))
      kept.push_back(dim);
  return kept;
}

/// The kind of min, max, minnum and maxnum, whose rows name the elementwise
/// one.
static checked::ReduceKind reduceKind(const BuiltinInfo &builtin) {
  if (builtin.name == "min")
    return checked::ReduceKind::Min;
  if (builtin.name == "max")
    return checked::ReduceKind::Max;
  if (builtin.name == "minnum")
    return checked::ReduceKind::MinNum;
  if (builtin.name == "maxnum")
    return checked::ReduceKind::MaxNum;
  return static_cast<checked::ReduceKind>(builtin.op);
}

/// What sums and products add up or multiply: of narrow integers, 32 bits.
checked::Expr *Sema::widenForSum(const Operand &operand) {
  const DType dtype = operand.type().dtype();
  const checked::Loc loc = locOf(operand.range);
  if (dtype == DType::Bool || dtype == DType::I8 || dtype == DType::I16)
    return makeCast(operand.expr, DType::I32, loc);
  if (dtype == DType::U8 || dtype == DType::U16)
    return makeCast(operand.expr, DType::U32, loc);
  return operand.expr;
}

Operand Sema::checkReduction(CallArgs &args) {
  using Kind = checked::ReduceKind;
  const StringRef name = args.builtin->name;
  Operand operand = checkValue(args.values[0]);
  if (operand.isValue() && !operand.type().isTile()) {
    auto builder = error(diag::not_a_tile, operand.range);
    builder.arg(("the operand of `" + name + "`").str()).arg(describe(operand));
    if (name.starts_with("m"))
      builder.help("`" + name + "(x, y)` compares two values");
    return Operand::poison(args.range);
  }
  SmallVector<int64_t> axes;
  bool keep = false;
  if (operand.isPoison() ||
      !checkAxes(args.get("axis"), operand.type().rank(), axes) ||
      !checkKeep(args.get("keep"), keep))
    return Operand::poison(args.range);
  const Kind kind = reduceKind(*args.builtin);
  const DType dtype = operand.type().dtype();
  const bool isLogical = kind == Kind::Any || kind == Kind::All;
  const bool isSum = kind == Kind::Sum || kind == Kind::Prod;
  if (isLogical && dtype != DType::Bool) {
    error(diag::dtype_not_supported, operand.range)
        .arg(name)
        .arg(operand.type().str())
        .help("compare it: `" + textOf(operand.range) + " != 0`");
    return Operand::poison(args.range);
  }
  if (!isLogical && !(isSum && dtype == DType::Bool) &&
      !requireDomain(operand, Domain::Number, name))
    return Operand::poison(args.range);
  checked::Expr *value = isSum ? widenForSum(operand) : operand.expr;
  const bool isIndex = kind == Kind::ArgMin || kind == Kind::ArgMax;
  const DType resultDType = isIndex ? DType::Int : value->type.dtype();
  if (axes.empty()) {
    error(diag::argument_kind, args.get("axis")->getRange())
        .arg(name)
        .arg("axis")
        .arg("an axis or a list of axes")
        .arg("`[]`");
    return Operand::poison(args.range);
  }
  auto *reduce = make<checked::ReduceExpr>(
      Type::tile(resultDType, removeAxes(value->type.shape(), axes)),
      args.range);
  reduce->op = kind;
  reduce->operand = value;
  reduce->axes = copy(axes);
  return finishReduction(reduce, operand, axes, keep, args);
}

/// One value, or the values of a tuple.
bool Sema::evaluateOperands(const ast::Expr *expr,
                            SmallVectorImpl<Operand> &operands) {
  if (auto *tuple = dyn_cast<ast::TupleExpr>(expr)) {
    for (const ast::Expr *element : tuple->elements)
      operands.push_back(checkValue(element));
  } else {
    operands.push_back(checkValue(expr));
  }
  return llvm::none_of(
      operands, [](const Operand &operand) { return operand.isPoison(); });
}

/// The same where each is a tile, all of one shape, as `reduce`, `scan` and `sort` take them.
bool Sema::evaluateTiles(const ast::Expr *expr, StringRef builtin,
                         SmallVectorImpl<Operand> &operands) {
  if (!evaluateOperands(expr, operands) ||
      !llvm::all_of(operands, [&](const Operand &operand) {
        return checkTile(operand, builtin);
      }))
    return false;
  const Type first = operands.front().type();
  for (const Operand &operand : operands) {
    if (operand.type().shape() == first.shape())
      continue;
    error(diag::shape_mismatch, operand.range)
        .arg("an operand of `" + builtin + "`")
        .arg(shapeString(first.shape()))
        .arg(shapeString(operand.type().shape()));
    return false;
  }
  return true;
}

/// Inlines the combining fn on scalars: left values, then right values.
bool Sema::makeRegion(const ast::FnDecl *fn, ArrayRef<Type> types,
                      SourceRange range, checked::Region &region) {
  const size_t count = types.size();
  if (fn->params.size() != 2 * count) {
    error(diag::argument_kind, range)
        .arg("reduce")
        .arg("fn")
        .arg("a fn of " + std::to_string(2 * count) + " parameters")
        .arg("`" + fn->name.text + "` with " + llvm::Twine(fn->params.size()));
    return false;
  }
  SmallVector<checked::Variable *> variables;
  SmallVector<Operand> args;
  for (size_t i = 0; i < 2 * count; ++i) {
    const ast::FnParam &param = fn->params[i];
    checked::Variable *variable =
        newVariable(param.name.text, types[i % count], false, param.name.range);
    variables.push_back(variable);
    auto *read = make<checked::VarReadExpr>(variable->type, param.name.range);
    read->variable = variable;
    args.push_back(Operand::runtime(read, param.name.range));
  }
  std::vector<checked::Stmt *> stmts;
  std::optional<std::vector<Operand>> results;
  {
    Saved<std::vector<checked::Stmt *> *> saved(block, &stmts);
    Saved<bool> combining(inCombiner, true);
    checked::InlineBody *body;
    results = inlineFn(*fn, args, range, body);
    if (body)
      emit<checked::InlineStmt>(range)->inlined = body;
  }
  if (!results)
    return false;
  auto listed = [](ArrayRef<Type> list) {
    std::string text;
    for (const Type &type : list)
      text += (text.empty() ? "" : ", ") + type.str();
    return text.empty() ? std::string("nothing") : text;
  };
  SmallVector<Type> resultTypes;
  SmallVector<checked::Expr *> values;
  for (auto [index, result] : llvm::enumerate(*results)) {
    if (result.isWeak() && index < count &&
        !convertWeakTo(result, types[index].dtype()))
      return false;
    resultTypes.push_back(result.type());
    if (result.isValue())
      values.push_back(materialize(result));
  }
  if (ArrayRef<Type>(resultTypes) != types) {
    error(diag::combine_result, range)
        .arg(fn->name.text)
        .arg(listed(types))
        .arg(listed(resultTypes))
        .note(fn->name.range, "defined here");
    return false;
  }
  region.left =
      copy(ArrayRef<checked::Variable *>(variables).take_front(count));
  region.right =
      copy(ArrayRef<checked::Variable *>(variables).drop_front(count));
  region.body = copy(ArrayRef<checked::Stmt *>(stmts));
  region.results = copy(values);
  return true;
}

/// Variables for the results of an expression with several.
Operand Sema::tupleOf(checked::Expr *expr, SourceRange range) {
  ArrayRef<Type> types = checked::resultTypes(expr);
  SmallVector<checked::Variable *> variables;
  Operand tuple = Operand::poison(range);
  tuple.kind = Operand::Kind::Tuple;
  for (const Type &type : types) {
    checked::Variable *variable = newVariable("", type, false, range);
    variables.push_back(variable);
    auto *read = make<checked::VarReadExpr>(type, range);
    read->variable = variable;
    tuple.elements.push_back(Operand::runtime(read, range));
  }
  auto *let = emit<checked::LetStmt>(range);
  let->variables = copy(variables);
  let->init = expr;
  return tuple;
}

/// reduce(x, axis, init, fn), reduce((x, y), axis, (ix, iy), fn)
Operand Sema::checkCustomReduce(CallArgs &args) {
  SmallVector<Operand> operands, inits;
  if (!evaluateTiles(args.values[0], "reduce", operands))
    return Operand::poison(args.range);
  const Type first = operands.front().type();
  SmallVector<int64_t> axes;
  if (!checkAxes(args.values[1], first.rank(), axes) ||
      !evaluateOperands(args.values[2], inits))
    return Operand::poison(args.range);
  if (inits.size() != operands.size()) {
    error(diag::reduction_inits, args.values[2]->getRange())
        .arg("reduce")
        .arg(int64_t(operands.size()))
        .arg(int64_t(inits.size()));
    return Operand::poison(args.range);
  }
  SmallVector<checked::Expr *> values, initValues;
  SmallVector<Type> scalars, results;
  const SmallVector<int64_t> kept = removeAxes(first.shape(), axes);
  for (auto [operand, init] : llvm::zip(operands, inits)) {
    const Type scalar = Type::scalar(operand.type().dtype());
    if (init.isWeak() && !convertWeakTo(init, scalar.dtype()))
      return Operand::poison(args.range);
    if (!(init.type() == scalar)) {
      error(diag::argument_kind, init.range)
          .arg("reduce")
          .arg("init")
          .arg(scalar.str())
          .arg(describe(init));
      return Operand::poison(args.range);
    }
    values.push_back(materialize(operand));
    initValues.push_back(materialize(init));
    scalars.push_back(scalar);
    results.push_back(Type::tile(scalar.dtype(), kept));
  }
  const ast::FnDecl *fn = checkFnArg(args.values[3], "reduce");
  checked::Region region;
  if (!fn || !makeRegion(fn, scalars, args.range, region))
    return Operand::poison(args.range);
  auto *reduce = make<checked::CustomReduceExpr>(results.front(), args.range);
  reduce->operands = copy(values);
  reduce->inits = copy(initValues);
  reduce->axes = copy(axes);
  reduce->region = region;
  reduce->resultTypes = copy(results);
  if (results.size() > 1)
    return tupleOf(reduce, args.range);
  return finishReduction(reduce, operands.front(), axes, /*keep=*/false, args);
}

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

namespace {
/// Accumulators of a pair of operand dtypes; the first is that of `@`.
struct MmaRule {
  SmallVector<DType, 2> accumulators;
};
} // namespace

static MmaRule mmaRule(DType a, DType b) {
  const auto isByte = [](DType dtype) {
    return dtype == DType::I8 || dtype == DType::U8;
  };
  if (isF8(a) && isF8(b))
    return {{DType::F32}};
  if (isByte(a) && isByte(b))
    return {{DType::I32}};
  if (a != b)
    return {};
  switch (a) {
  case DType::F16:
    return {{DType::F32, DType::F16}};
  case DType::BF16:
  case DType::TF32:
  case DType::F32:
    return {{DType::F32}};
  case DType::F64:
    return {{DType::F64}};
  default:
    return {};
  }
}

/// Reports dtypes that do not go together; `acc` is poison for `@`.
bool Sema::checkMmaTypes(const Operand &a, const Operand &b, const Type &acc,
                         SourceRange range) {
  const std::string aName(dtypeName(a.type().dtype())),
      bName(dtypeName(b.type().dtype()));
  const MmaRule rule = mmaRule(a.type().dtype(), b.type().dtype());
  if (rule.accumulators.empty()) {
    auto builder = error(diag::mma_dtype, range);
    builder.arg(aName).arg(bName).secondary(a.range,
                                            "this is " + a.type().str());
    builder.secondary(b.range, "this is " + b.type().str());
    if (aName != bName && isFloat(a.type().dtype()) &&
        isFloat(b.type().dtype()))
      builder.help("convert one side, so that both are equal");
    else
      builder.help(
          "it takes f16, bf16, f8, tf32, f32, f64, and i8 and u8 in any mix");
    return false;
  }
  if (!acc.isValue() || llvm::is_contained(rule.accumulators, acc.dtype()))
    return true;
  std::string wanted;
  for (DType dtype : rule.accumulators)
    wanted += (wanted.empty() ? "" : " or ") + std::string(dtypeName(dtype));
  error(diag::mma_accumulator, range)
      .arg(aName == bName ? aName : aName + " and " + bName)
      .arg(wanted)
      .arg(StringRef(dtypeName(acc.dtype())))
      .help("`zeros([M, N], " +
            std::string(dtypeName(rule.accumulators.front())) +
            ")` is such an accumulator");
  return false;
}

/// [M, K] x [K, N] + [M, N], with one batch axis in front of all or none.
bool Sema::checkMmaShapes(Operand &a, Operand &b, Operand &acc,
                          SourceRange range) {
  const Type ta = a.type(), tb = b.type();
  const unsigned rank = ta.rank();
  if ((rank != 2 && rank != 3) || tb.rank() != rank) {
    error(diag::mma_shape, range)
        .arg("mma needs [M, K] and [K, N], or both with a batch in front; "
             "found " +
             shapeString(ta.shape()) + " and " + shapeString(tb.shape()));
    return false;
  }
  const unsigned m = rank - 2, n = rank - 1;
  auto place = [&](const Operand &operand, unsigned axis) {
    return axis < operand.origins.size()
               ? " (from `" + textOf(operand.origins[axis].range) + "`)"
               : std::string();
  };
  if (ta.dim(n) != tb.dim(m)) {
    auto builder = error(diag::mma_shape, range);
    builder.arg("mma needs [M, K] and [K, N]: K is " +
                std::to_string(ta.dim(n)) + place(a, n) + " and " +
                std::to_string(tb.dim(m)) + place(b, m));
    labelOrigin(builder, a, n, "K is " + std::to_string(ta.dim(n)) + " here");
    labelOrigin(builder, b, m, "K is " + std::to_string(tb.dim(m)) + " here");
    if (ta.dim(n) == tb.dim(n))
      builder.help("`transpose(" + textOf(b.range) + ")` matches");
    return false;
  }
  SmallVector<int64_t> shape{ta.dim(m), tb.dim(n)};
  if (rank == 3) {
    if (ta.dim(0) != tb.dim(0) && ta.dim(0) != 1 && tb.dim(0) != 1) {
      error(diag::mma_shape, range)
          .arg("the batches of mma are equal or 1; found " +
               std::to_string(ta.dim(0)) + " and " + std::to_string(tb.dim(0)));
      return false;
    }
    shape.insert(shape.begin(), std::max(ta.dim(0), tb.dim(0)));
    for (Operand *operand : {&a, &b}) {
      SmallVector<int64_t> own(operand->type().shape());
      own[0] = shape[0];
      operand->expr = broadcastTo(*operand, own);
    }
  }
  if (!checkTileSize(shape, range) ||
      !checkTileSize(a.type().shape(), a.range) ||
      !checkTileSize(b.type().shape(), b.range))
    return false;
  if (acc.isPoison()) { // `@`: onto zeros
    const DType dtype = mmaRule(ta.dtype(), tb.dtype()).accumulators.front();
    acc = Operand::runtime(makeConstant(ConstValue(dtype, 0),
                                        Type::tile(dtype, shape), locOf(range)),
                           range);
  }
  if (acc.type().shape() == ArrayRef<int64_t>(shape))
    return true;
  error(diag::shape_mismatch, acc.range)
      .arg("the accumulator of mma")
      .arg(shapeString(shape))
      .arg(shapeString(acc.type().shape()))
      .secondary(a.range, "this is " + shapeString(ta.shape()))
      .secondary(b.range, "this is " + shapeString(tb.shape()));
  return false;
}

Operand Sema::makeMma(Operand a, Operand b, std::optional<Operand> acc,
                      checked::MmaPrecision precision, SourceRange range) {
  StringRef name = acc ? "mma" : "@";
  if (!checkTile(a, name) || !checkTile(b, name) ||
      (acc && !checkTile(*acc, name)))
    return Operand::poison(range);
  Operand accumulator = acc ? *acc : Operand::poison(range);
  if (!checkMmaTypes(a, b, accumulator.type(), range) ||
      !checkMmaShapes(a, b, accumulator, range))
    return Operand::poison(range);
  auto *result = make<checked::MmaExpr>(accumulator.type(), range);
  result->a = a.expr;
  result->b = b.expr;
  result->acc = accumulator.expr;
  result->precision = precision;
  Operand operand = Operand::runtime(result, range);
  operand.origins = accumulator.origins;
  const unsigned rank = a.type().rank();
  if (operand.origins.empty() && rank == 2 && a.origins.size() == 2 &&
      b.origins.size() == 2) {
    const Origin origins[] = {a.origins[0], b.origins[1]};
    operand.origins = copy(ArrayRef<Origin>(origins));
  }
  return operand;
}

Operand Sema::checkMma(CallArgs &args) {
  using Precision = checked::MmaPrecision;
  Operand a = checkValue(args.values[0]), b = checkValue(args.values[1]),
          acc = checkValue(args.values[2]);
  auto precision = Precision::Default;
  if (const ast::Expr *expr = args.get("precision")) {
    static constexpr StringRef words[] = {"tf32", "tf32x3", "fast"};
    std::optional<StringRef> word = checkWord(expr, "`precision`", words);
    if (!word || a.isPoison())
      return Operand::poison(args.range);
    precision = *word == "tf32"     ? Precision::TF32
                : *word == "tf32x3" ? Precision::TF32x3
                                    : Precision::Fast;
    const bool isOkay = precision == Precision::Fast
                            ? isF8(a.type().dtype())
                            : a.type().dtype() == DType::F32;
    if (!isOkay) {
      error(diag::precision_dtype, expr->getRange())
          .arg(*word)
          .arg(precision == Precision::Fast ? "f8" : "f32")
          .arg(StringRef(dtypeName(a.type().dtype())));
      return Operand::poison(args.range);
    }
  }
  if (a.isPoison() || b.isPoison() || acc.isPoison())
    return Operand::poison(args.range);
  return makeMma(a, b, acc, precision, args.range);
}
