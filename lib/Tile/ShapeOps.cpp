//===- ShapeOps.cpp - tiles made and reshaped -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Verifiers, folds and canonical forms of the operations in TileShapeOps.td.

#include "tilec/Tile/TileOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilec::tile;

TypedAttr tilec::tile::getSplatConstant(Attribute attr) {
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(attr))
    return dense.isSplat() ? cast<TypedAttr>(dense.getSplatValue<Attribute>())
                           : TypedAttr();
  if (isa_and_nonnull<FloatAttr, IntegerAttr>(attr))
    return cast<TypedAttr>(attr);
  return {};
}

/// `constant` (a splat or a scalar) as a constant of `type`, or null.
static Attribute splatOf(Attribute constant, Type type) {
  TypedAttr value = getSplatConstant(constant);
  if (!value)
    return {};
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return DenseElementsAttr::get(tile, ArrayRef<Attribute>(value));
  return value;
}

/// Rule C2 or C3 of shape operations: they change no element.
static LogicalResult verifySameElement(Operation *op, Type source,
                                       Type result) {
  Type from = getElementTypeOrSelf(source), to = getElementTypeOrSelf(result);
  if (from != to)
    return op->emitOpError()
           << "changes the element type from " << from << " to " << to;
  return success();
}

//===----------------------------------------------------------------------===//
// tile.splat
//===----------------------------------------------------------------------===//

LogicalResult SplatOp::verify() { // splat-C1
  return verifySameElement(*this, getValue().getType(), getType());
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  return splatOf(adaptor.getValue(), getType());
}

//===----------------------------------------------------------------------===//
// tile.iota
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (type.getRank() != 1) // iota-C1
    return emitOpError() << "makes a tile of rank 1, not " << type.getRank();
  Type element = type.getElementType();
  if (!element.isIntOrIndex() || element.isInteger(1)) // iota-C2
    return emitOpError() << "makes integers or indices, not " << element;
  return success();
}

//===----------------------------------------------------------------------===//
// tile.broadcast
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = getTileShape(getSource().getType()),
                    to = getTileShape(getType());
  if (from.size() != to.size()) // broadcast-C1
    return emitOpError() << "keeps the rank, but goes from " << from.size()
                         << " to " << to.size();
  for (auto [index, source, result] : llvm::enumerate(from, to))
    if (source != result && source != 1) // broadcast-C2
      return emitOpError() << "stretches dims of size 1, but dim " << index
                           << " goes from " << source << " to " << result;
  return verifySameElement(*this, getSource().getType(),
                           getType()); // broadcast-C3
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  return splatOf(adaptor.getSource(), getType());
}

namespace {

/// broadcast(broadcast(x)) is one broadcast; broadcast(splat(x)) is a splat.
struct MergeBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op,
                                PatternRewriter &rewriter) const override {
    if (auto inner = op.getSource().getDefiningOp<BroadcastOp>()) {
      rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(),
                                               inner.getSource());
      return success();
    }
    if (auto splat = op.getSource().getDefiningOp<SplatOp>()) {
      rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getValue());
      return success();
    }
    return failure();
  }
};

/// A reshaped or permuted splat is a splat (or its scalar).
template <typename Op>
struct MoveSplat : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto splat = op.getSource().template getDefiningOp<SplatOp>();
    if (!splat)
      return failure();
    if (isa<RankedTensorType>(op.getType()))
      rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getValue());
    else
      rewriter.replaceOp(op, splat.getValue());
    return success();
  }
};

/// A scalar reshaped into a tile of one element is a splat.
struct SplatOne : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    if (isa<RankedTensorType>(op.getSource().getType()))
      return failure();
    rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), op.getSource());
    return success();
  }
};

} // namespace

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<MergeBroadcast>(context);
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<MoveSplat<ReshapeOp>, SplatOne>(context);
}

void PermuteOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<MoveSplat<PermuteOp>>(context);
}

//===----------------------------------------------------------------------===//
// tile.reshape
//===----------------------------------------------------------------------===//

static int64_t elementCount(Type type) {
  int64_t count = 1;
  for (int64_t dim : getTileShape(type))
    count *= dim;
  return count;
}

LogicalResult ReshapeOp::verify() {
  int64_t from = elementCount(getSource().getType()),
          to = elementCount(getType());
  if (from != to) // reshape-C1
    return emitOpError() << "keeps the number of elements, but goes from "
                         << from << " to " << to;
  return verifySameElement(*this, getSource().getType(),
                           getType()); // reshape-C2
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<ReshapeOp>()) {
    if (inner.getSource().getType() == getType())
      return inner.getSource();
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  if (Attribute splat = splatOf(adaptor.getSource(), getType()))
    return splat;
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getSource()))
    if (auto type = dyn_cast<RankedTensorType>(getType()))
      return dense.reshape(type);
  return {};
}

//===----------------------------------------------------------------------===//
// tile.permute
//===----------------------------------------------------------------------===//

void PermuteOp::build(OpBuilder &builder, OperationState &state, Value source,
                      ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim : dims)
    shape.push_back(type.getDimSize(dim));
  build(builder, state, RankedTensorType::get(shape, type.getElementType()),
        source, dims);
}

LogicalResult PermuteOp::verify() {
  ArrayRef<int64_t> from = getTileShape(getSource().getType()),
                    to = getTileShape(getType());
  ArrayRef<int64_t> dims = getDims();
  SmallVector<bool> seen(from.size());
  bool permutation = dims.size() == from.size();
  for (int64_t dim : dims) { // permute-C1
    permutation = permutation && dim >= 0 &&
                  dim < static_cast<int64_t>(from.size()) && !seen[dim];
    if (!permutation)
      break;
    seen[dim] = true;
  }
  if (!permutation)
    return emitOpError() << "[" << dims
                         << "] is not a permutation of the source's dims";
  bool matches = to.size() == from.size();
  for (size_t i = 0; matches && i < dims.size(); ++i) // permute-C2
    matches = to[i] == from[dims[i]];
  if (!matches)
    return emitOpError()
           << "the result's shape is not the source's in the order [" << dims
           << "]";
  return verifySameElement(*this, getSource().getType(),
                           getType()); // permute-C2
}

OpFoldResult PermuteOp::fold(FoldAdaptor adaptor) {
  bool identity = true;
  for (auto [index, dim] : llvm::enumerate(getDims()))
    identity &= static_cast<int64_t>(index) == dim;
  if (identity && getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<PermuteOp>()) {
    SmallVector<int64_t> dims;
    for (int64_t dim : getDims())
      dims.push_back(inner.getDims()[dim]);
    setDims(dims);
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return splatOf(adaptor.getSource(), getType());
}
