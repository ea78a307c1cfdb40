//===- ComputeOps.cpp - reductions, mma, integers, casts ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Builders and verifiers of the operations in TileComputeOps.td.

#include "tilec/Tile/TileOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilec::tile;

//===----------------------------------------------------------------------===//
// tile.reduce
//===----------------------------------------------------------------------===//

Type ReduceOp::reducedType(RankedTensorType type, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> shape;
  for (auto [index, dim] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(axes, static_cast<int64_t>(index)))
      shape.push_back(dim);
  return getTileType(shape, type.getElementType());
}

YieldOp ReduceOp::getYield() {
  return cast<YieldOp>(getCombiner().front().getTerminator());
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, ValueRange sources,
                     ArrayRef<int64_t> axes,
                     function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange,
                                                     ValueRange)>
                         body) {
  state.addOperands(sources);
  state.addAttribute(getAxesAttrName(state.name), builder.getDenseI64ArrayAttr(axes));
  SmallVector<Type> elements;
  for (Value source : sources) {
    auto type = cast<RankedTensorType>(source.getType());
    elements.push_back(type.getElementType());
    state.addTypes(reducedType(type, axes));
  }
  OpBuilder::InsertionGuard guard(builder);
  Region *region = state.addRegion();
  Block *block = builder.createBlock(region);
  for (int side = 0; side < 2; ++side)
    for (Type type : elements)
      block->addArgument(type, state.location);
  ValueRange arguments = block->getArguments();
  SmallVector<Value> combined =
      body(builder, state.location, arguments.take_front(sources.size()),
           arguments.drop_front(sources.size()));
  YieldOp::create(builder, state.location, combined);
}

LogicalResult ReduceOp::verify() {
  if (getSources().empty()) // reduce-C1
    return emitOpError() << "needs at least one source";
  auto first = cast<RankedTensorType>(getSources().front().getType());
  int64_t previous = -1;
  for (int64_t axis : getAxes()) { // reduce-C2
    if (axis <= previous || axis >= first.getRank())
      return emitOpError() << "the axes are distinct, ascending and below the rank "
                           << first.getRank();
    previous = axis;
  }
  if (getNumResults() != getSources().size()) // reduce-C3
    return emitOpError() << "has " << getNumResults() << " results for "
                         << getSources().size() << " sources";
  Block &block = getCombiner().front();
  if (block.getNumArguments() != 2 * getSources().size()) // reduce-C4
    return emitOpError() << "the region takes " << 2 * getSources().size()
                         << " arguments, not " << block.getNumArguments();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != getSources().size()) // reduce-C4
    return emitOpError() << "the region yields " << getSources().size() << " values";
  for (auto [index, source] : llvm::enumerate(getSources())) {
    auto type = cast<RankedTensorType>(source.getType());
    if (type.getShape() != first.getShape()) // reduce-C1
      return emitOpError() << "source " << index << " has another shape than the first";
    Type element = type.getElementType(), expected = reducedType(type, getAxes());
    Type result = getResult(index).getType();
    if (getTileShape(result) != getTileShape(expected) ||
        getElementTypeOrSelf(result) != element) // reduce-C3
      return emitOpError() << "result " << index << " is " << result << ", not " << expected;
    if (block.getArgument(index).getType() != element ||
        block.getArgument(index + getSources().size()).getType() != element ||
        yield.getValues()[index].getType() != element) // reduce-C4
      return emitOpError() << "the region combines values of type " << element
                           << " at position " << index;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// tile.mma
//===----------------------------------------------------------------------===//

/// mma-C3: the table of element types.
static bool isMmaCombination(Type a, Type b, Type acc) {
  if (isF8Type(a) && isF8Type(b))
    return acc.isF32();
  if (a != b)
    return false;
  if (a.isF16())
    return acc.isF32() || acc.isF16();
  if (a.isBF16() || a.isTF32() || a.isF32())
    return acc.isF32();
  if (a.isF64())
    return acc.isF64();
  return a.isInteger(8) && acc.isInteger(32);
}

/// mma-C4: the table of precisions.
static bool isMmaPrecision(Type a, MmaPrecision precision) {
  switch (precision) {
  case MmaPrecision::Exact:
    return true;
  case MmaPrecision::TF32:
  case MmaPrecision::TF32x3:
    return a.isF32();
  case MmaPrecision::Fast:
    return isF8Type(a);
  }
  return false;
}

LogicalResult MmaOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType());
  auto b = cast<RankedTensorType>(getB().getType());
  auto acc = cast<RankedTensorType>(getAcc().getType());
  int64_t rank = acc.getRank();
  if ((rank != 2 && rank != 3) || a.getRank() != rank || b.getRank() != rank) // mma-C1
    return emitOpError() << "the ranks are all 2 or all 3, not " << a.getRank() << ", "
                         << b.getRank() << " and " << rank;
  int64_t m = a.getDimSize(rank - 2), k = a.getDimSize(rank - 1), n = b.getDimSize(rank - 1);
  bool fits = b.getDimSize(rank - 2) == k && acc.getDimSize(rank - 2) == m &&
              acc.getDimSize(rank - 1) == n;
  if (rank == 3) {
    int64_t batch = acc.getDimSize(0);
    fits = fits && llvm::all_of(ArrayRef<int64_t>{a.getDimSize(0), b.getDimSize(0)},
                                [&](int64_t dim) { return dim == batch || dim == 1; });
  }
  if (!fits) // mma-C2
    return emitOpError() << "the shapes are MxK, KxN and MxN, with one batch";
  Type elementA = a.getElementType(), elementB = b.getElementType();
  if (!isMmaCombination(elementA, elementB, acc.getElementType())) // mma-C3
    return emitOpError() << "cannot multiply " << elementA << " by " << elementB << " into "
                         << acc.getElementType();
  if (!isMmaPrecision(elementA, getPrecision())) // mma-C4
    return emitOpError() << "precision '" << stringifyMmaPrecision(getPrecision())
                         << "' does not exist for " << elementA;
  if ((getAUnsigned() || getBUnsigned()) && !elementA.isInteger(8)) // mma-C5
    return emitOpError() << "'a_unsigned' and 'b_unsigned' are for integers";
  return success();
}

//===----------------------------------------------------------------------===//
// Integers and casts
//===----------------------------------------------------------------------===//

LogicalResult RemainderOp::verify() { // remainder-C1
  if (getRounding() == QuotientRounding::Ceil)
    return emitOpError() << "the rounding is 'trunc' or 'floor'";
  return success();
}

LogicalResult CastOp::verify() {
  Type source = getSource().getType(), result = getType();
  if (isa<RankedTensorType>(source) != isa<RankedTensorType>(result) ||
      getTileShape(source) != getTileShape(result)) // cast-C1
    return emitOpError() << "keeps the shape, but goes from " << source << " to " << result;
  Type from = getElementTypeOrSelf(source), to = getElementTypeOrSelf(result);
  bool floats = isa<FloatType>(from) && isa<FloatType>(to);
  if (getRounding() != CastRounding::NearestEven && (!floats || isF8Type(to))) // cast-C2
    return emitOpError() << "a rounding is for float to float, not " << from << " to " << to;
  if ((getFromUnsigned() && !from.isIntOrIndex()) || (getToUnsigned() && !to.isIntOrIndex())) // cast-C3
    return emitOpError() << "'from_unsigned' and 'to_unsigned' belong to integers";
  return success();
}

OpFoldResult DivideOp::fold(FoldAdaptor) { return {}; }
OpFoldResult RemainderOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ShiftOp::fold(FoldAdaptor) { return {}; }
OpFoldResult CastOp::fold(FoldAdaptor) { return {}; }
