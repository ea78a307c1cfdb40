//===- MemoryOps.cpp - loads and stores -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Builders, verifiers and effects of the operations in TileMemoryOps.td.

#include "tilec/Tile/TileOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilec::tile;

/// The rules that loads and stores share; `rule` names the operation in them.
static LogicalResult verifyAccess(Operation *op, ArrayType array,
                                  size_t indices, Type value,
                                  std::optional<ArrayRef<int64_t>> order,
                                  std::optional<ArrayRef<bool>> inBounds,
                                  bool elements) {
  size_t rank = array.getRank();
  if (indices != rank) // load-C1, store-C3
    return op->emitOpError()
           << "has " << indices << " indices for an array of rank " << rank;
  auto tile = dyn_cast<RankedTensorType>(value);
  if (!tile && !elements) // load-C2, store-C2
    return op->emitOpError() << "a scalar is accessed with 'elements' only";
  if (tile && tile.getRank() != array.getRank()) // load-C2, store-C2
    return op->emitOpError() << "a tile of rank " << tile.getRank()
                             << " does not fit an array of rank " << rank;
  if (getElementTypeOrSelf(value) !=
      array.getElementType()) // load-C3, store-C4
    return op->emitOpError()
           << "accesses elements of type " << array.getElementType() << " as "
           << getElementTypeOrSelf(value);
  if (order) { // load-C5, store-C5
    llvm::SmallVector<bool> seen(rank);
    if (order->size() != rank)
      return op->emitOpError()
             << "'order' has " << order->size() << " entries for rank " << rank;
    for (int64_t dim : *order) {
      if (dim < 0 || dim >= static_cast<int64_t>(rank) || seen[dim])
        return op->emitOpError()
               << "'order' is not a permutation of the array's dims";
      seen[dim] = true;
    }
  }
  if (inBounds && inBounds->size() != rank) // load-C7, store-C6
    return op->emitOpError() << "'in_bounds' has " << inBounds->size()
                             << " flags for rank " << rank;
  return success();
}

bool tilec::tile::isReadObservable(Operation *op, ArrayType array) {
  auto kernel = op->getParentOfType<KernelOp>();
  return array.isMut() || (kernel && kernel.getArraysOverlap());
}

//===----------------------------------------------------------------------===//
// tile.load
//===----------------------------------------------------------------------===//

void LoadOp::build(OpBuilder &builder, OperationState &state, Type result,
                   Value array, ValueRange index, bool elements, TypedAttr pad,
                   ArrayRef<int64_t> order) {
  DenseI64ArrayAttr orderAttr =
      order.empty() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(order);
  build(builder, state, result, array, index, orderAttr, pad,
        /*in_bounds=*/DenseBoolArrayAttr(),
        elements ? builder.getUnitAttr() : UnitAttr());
}

LogicalResult LoadOp::verify() {
  if (failed(verifyAccess(*this, getArray().getType(), getIndex().size(),
                          getResult().getType(), getOrder(), getInBounds(),
                          getElements())))
    return failure();
  if (TypedAttr pad = getPadAttr()) // load-C6
    if (pad.getType() != getArray().getType().getElementType())
      return emitOpError() << "'pad' of type " << pad.getType()
                           << " for elements of type "
                           << getArray().getType().getElementType();
  return success();
}

void LoadOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (isReadObservable(*this, getArray().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getArrayMutable(),
                         SideEffects::DefaultResource::get());
}

TypedAttr LoadOp::getPadValue() {
  if (TypedAttr pad = getPadAttr())
    return pad;
  return Builder(getContext())
      .getZeroAttr(getArray().getType().getElementType());
}

//===----------------------------------------------------------------------===//
// tile.store
//===----------------------------------------------------------------------===//

void StoreOp::build(OpBuilder &builder, OperationState &state, Value array,
                    ValueRange index, Value value, bool elements,
                    ArrayRef<int64_t> order) {
  DenseI64ArrayAttr orderAttr =
      order.empty() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(order);
  build(builder, state, array, index, value, orderAttr,
        /*in_bounds=*/DenseBoolArrayAttr(),
        elements ? builder.getUnitAttr() : UnitAttr());
}

LogicalResult StoreOp::verify() {
  if (!getArray().getType().isMut()) // store-C1
    return emitOpError() << "writes an array that is not 'mut'";
  return verifyAccess(*this, getArray().getType(), getIndex().size(),
                      getValue().getType(), getOrder(), getInBounds(),
                      getElements());
}

void StoreOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getArrayMutable(),
                       SideEffects::DefaultResource::get());
}
