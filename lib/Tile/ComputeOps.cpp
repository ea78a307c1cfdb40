//===- ComputeOps.cpp - reductions, mma, integers, casts -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Builders and verifiers of the operations in TileComputeOps.td.

#include "tilec/Tile/TileOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilec::tile;

//===----------------------------------------------------------------------===//
// Combining regions, of reductions and scans
//===----------------------------------------------------------------------===//

using CombinerBody = function_ref<SmallVector<Value>(OpBuilder &, Location,
                                                     ValueRange, ValueRange)>;

/// The region `(l…, r…) -> (…)` over the sources' element types.
static void buildCombiner(OpBuilder &builder, OperationState &state,
                          ValueRange sources, CombinerBody body) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(state.addRegion());
  for (int side = 0; side < 2; ++side)
    for (Value source : sources)
      block->addArgument(getElementTypeOrSelf(source.getType()),
                         state.location);
  ValueRange arguments = block->getArguments();
  SmallVector<Value> combined =
      body(builder, state.location, arguments.take_front(sources.size()),
           arguments.drop_front(sources.size()));
  YieldOp::create(builder, state.location, combined);
}

/// reduce-C4 and scan-C4.
static LogicalResult verifyCombiner(Operation *op, ValueRange sources,
                                    Region &region) {
  Block &block = region.front();
  size_t count = sources.size();
  if (block.getNumArguments() != 2 * count)
    return op->emitOpError() << "the region takes " << 2 * count
                             << " arguments, not " << block.getNumArguments();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != count)
    return op->emitOpError() << "the region yields " << count << " values";
  for (auto [index, source] : llvm::enumerate(sources)) {
    Type element = getElementTypeOrSelf(source.getType());
    if (block.getArgument(index).getType() != element ||
        block.getArgument(index + count).getType() != element ||
        yield.getValues()[index].getType() != element)
      return op->emitOpError() << "the region combines values of type "
                               << element << " at position " << index;
  }
  return success();
}

/// There are sources, and all have one shape.
static LogicalResult verifySameShape(Operation *op, ValueRange sources) {
  if (sources.empty())
    return op->emitOpError() << "needs at least one source";
  for (auto [index, source] : llvm::enumerate(sources))
    if (getTileShape(source.getType()) !=
        getTileShape(sources.front().getType()))
      return op->emitOpError()
             << "source " << index << " has another shape than the first";
  return success();
}

/// One axis that lies in the rank, and results of the sources' types.
static LogicalResult verifyAlongAxis(Operation *op, ValueRange sources,
                                     TypeRange results, int32_t axis) {
  int64_t rank = getTileShape(sources.front().getType()).size();
  if (axis < 0 || axis >= rank) // scan-C2, sort-C2
    return op->emitOpError()
           << "axis " << axis << " is outside a tile of rank " << rank;
  if (TypeRange(sources) != results) // scan-C3, sort-C3
    return op->emitOpError() << "the results have the sources' types";
  return success();
}

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

void ReduceOp::build(OpBuilder &builder, OperationState &state,
                     ValueRange sources, ArrayRef<int64_t> axes,
                     CombinerBody body) {
  state.addOperands(sources);
  state.addAttribute(getAxesAttrName(state.name),
                     builder.getDenseI64ArrayAttr(axes));
  for (Value source : sources)
    state.addTypes(reducedType(cast<RankedTensorType>(source.getType()), axes));
  buildCombiner(builder, state, sources, body);
}

LogicalResult ReduceOp::verify() {
  if (failed(verifySameShape(*this, getSources()))) // reduce-C1
    return failure();
  auto first = cast<RankedTensorType>(getSources().front().getType());
  int64_t previous = -1;
  for (int64_t axis : getAxes()) { // reduce-C2
    if (axis <= previous || axis >= first.getRank())
      return emitOpError()
             << "the axes are distinct, ascending and below the rank "
             << first.getRank();
    previous = axis;
  }
  if (getNumResults() != getSources().size()) // reduce-C3
    return emitOpError() << "has " << getNumResults() << " results for "
                         << getSources().size() << " sources";
  if (failed(verifyCombiner(*this, getSources(), getCombiner()))) // reduce-C4
    return failure();
  for (auto [index, source] : llvm::enumerate(getSources())) {
    auto type = cast<RankedTensorType>(source.getType());
    Type expected = reducedType(type, getAxes());
    Type result = getResult(index).getType();
    if (getTileShape(result) != getTileShape(expected) ||
        getElementTypeOrSelf(result) != type.getElementType()) // reduce-C3
      return emitOpError() << "result " << index << " is " << result << ", not "
                           << expected;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// tile.scan, tile.sort, tile.histogram
//===----------------------------------------------------------------------===//

YieldOp ScanOp::getYield() {
  return cast<YieldOp>(getCombiner().front().getTerminator());
}

void ScanOp::build(OpBuilder &builder, OperationState &state,
                   ValueRange sources, ValueRange inits, int32_t axis,
                   bool reverse, CombinerBody body) {
  state.addOperands(sources);
  state.addOperands(inits);
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.axis = builder.getI32IntegerAttr(axis);
  if (reverse)
    properties.reverse = builder.getUnitAttr();
  properties.operandSegmentSizes = {static_cast<int32_t>(sources.size()),
                                    static_cast<int32_t>(inits.size())};
  state.addTypes(sources.getTypes());
  buildCombiner(builder, state, sources, body);
}

LogicalResult ScanOp::verify() {
  if (failed(verifySameShape(*this, getSources())) || // scan-C1
      failed(
          verifyAlongAxis(*this, getSources(), getResultTypes(), getAxis())) ||
      failed(verifyCombiner(*this, getSources(), getCombiner()))) // scan-C4
    return failure();
  if (getInits().empty())
    return success();
  if (getInits().size() != getSources().size()) // scan-C5
    return emitOpError() << "has " << getInits().size()
                         << " initial values for " << getSources().size()
                         << " sources";
  for (auto [index, source, init] : llvm::enumerate(getSources(), getInits()))
    if (getElementTypeOrSelf(source.getType()) != init.getType()) // scan-C5
      return emitOpError() << "initial value " << index << " is "
                           << init.getType() << " for elements of type "
                           << getElementTypeOrSelf(source.getType());
  return success();
}

LogicalResult SortOp::verify() {
  if (failed(verifySameShape(*this, getSources()))) // sort-C1
    return failure();
  return verifyAlongAxis(*this, getSources(), getResultTypes(), getAxis());
}

LogicalResult HistogramOp::verify() {
  if (!getElementTypeOrSelf(getSource().getType())
           .isIntOrIndex()) // histogram-C1
    return emitOpError() << "counts integers";
  auto type = cast<RankedTensorType>(getType());
  if (type.getRank() != 1 ||
      !type.getElementType().isInteger(32)) // histogram-C2
    return emitOpError() << "makes a tile of rank 1 of i32, not " << type;
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
  if ((rank != 2 && rank != 3) || a.getRank() != rank ||
      b.getRank() != rank) // mma-C1
    return emitOpError() << "the ranks are all 2 or all 3, not " << a.getRank()
                         << ", " << b.getRank() << " and " << rank;
  int64_t m = a.getDimSize(rank - 2), k = a.getDimSize(rank - 1),
          n = b.getDimSize(rank - 1);
  bool fits = b.getDimSize(rank - 2) == k && acc.getDimSize(rank - 2) == m &&
              acc.getDimSize(rank - 1) == n;
  if (rank == 3) {
    int64_t batch = acc.getDimSize(0);
    fits = fits &&
           llvm::all_of(ArrayRef<int64_t>{a.getDimSize(0), b.getDimSize(0)},
                        [&](int64_t dim) { return dim == batch || dim == 1; });
  }
  if (!fits) // mma-C2
    return emitOpError() << "the shapes are MxK, KxN and MxN, with one batch";
  Type elementA = a.getElementType(), elementB = b.getElementType();
  if (!isMmaCombination(elementA, elementB, acc.getElementType())) // mma-C3
    return emitOpError() << "cannot multiply " << elementA << " by " << elementB
                         << " into " << acc.getElementType();
  if (!isMmaPrecision(elementA, getPrecision())) // mma-C4
    return emitOpError() << "precision '"
                         << stringifyMmaPrecision(getPrecision())
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
  // cast-C1 is what Elementwise verifies.
  Type source = getSource().getType(), result = getType();
  Type from = getElementTypeOrSelf(source), to = getElementTypeOrSelf(result);
  bool floats = isa<FloatType>(from) && isa<FloatType>(to);
  if (getRounding() != CastRounding::NearestEven &&
      (!floats || isF8Type(to))) // cast-C2
    return emitOpError() << "a rounding is for float to float, not " << from
                         << " to " << to;
  if ((getFromUnsigned() && !from.isIntOrIndex()) ||
      (getToUnsigned() && !to.isIntOrIndex())) // cast-C3
    return emitOpError()
           << "'from_unsigned' and 'to_unsigned' belong to integers";
  return success();
}
