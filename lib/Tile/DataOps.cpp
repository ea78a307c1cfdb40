//===- DataOps.cpp - elements moved by index -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Verifiers and effects of what moves elements to or from computed places: in
// arrays (gather, scatter, atomics) and in tiles (cat, extract, insert, flip,
// take).

#include "tilec/Tile/TileOps.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec::tile;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

static LogicalResult verifyIndices(Operation *op, ArrayType array,
                                   ValueRange index) {
  if (static_cast<int64_t>(index.size()) !=
      array.getRank()) // gather-C1, scatter-C2, atomic-C2
    return op->emitOpError()
           << "has " << index.size() << " indices for an array of rank "
           << array.getRank();
  return success();
}

/// All of `values` (null ones aside) have the shape of `type`.
static LogicalResult verifyShapes(Operation *op, Type type, ValueRange index,
                                  Value mask) {
  for (Value value : index)
    if (getTileShape(value.getType()) !=
        getTileShape(type)) // gather-C2, scatter-C3, atomic-C3
      return op->emitOpError() << "has an index of type " << value.getType()
                               << " beside values of type " << type;
  if (mask && (getTileShape(mask.getType()) != getTileShape(type) ||
               !getElementTypeOrSelf(mask.getType()).isInteger(1)))
    return op->emitOpError() << "has a mask of type " << mask.getType()
                             << " beside values of type " << type;
  return success();
}

static LogicalResult verifyElement(Operation *op, ArrayType array, Type type) {
  if (getElementTypeOrSelf(type) !=
      array.getElementType()) // gather-C3, scatter-C4, atomic-C4
    return op->emitOpError()
           << "accesses elements of type " << array.getElementType() << " as "
           << getElementTypeOrSelf(type);
  return success();
}

/// The promises of `in_bounds` and `run`, about values of `type`.
template <typename Op>
static LogicalResult verifyPromises(Op op, Type type) {
  size_t rank = op.getArray().getType().getRank();
  if (op.getInBounds() &&
      op.getInBounds()->size() != rank) // gather-C4, scatter-C5, atomic-C6
    return op.emitOpError() << "'in_bounds' has " << op.getInBounds()->size()
                            << " flags for an array of rank " << rank;
  if (!op.getRun())
    return success();
  ArrayRef<int64_t> run = *op.getRun(), shape = getTileShape(type);
  bool isValid = run.size() == 2 && run[0] >= 0 &&
                 run[0] < static_cast<int64_t>(shape.size()) && run[1] > 0 &&
                 llvm::isPowerOf2_64(static_cast<uint64_t>(run[1])) &&
                 shape[run[0]] % run[1] == 0;
  if (!isValid)
    return op.emitOpError() << "'run' names no dim of " << type
                            << " and a power of two that divides its size";
  return success();
}

LogicalResult GatherOp::verify() {
  ArrayType array = getArray().getType();
  if (failed(verifyIndices(*this, array, getIndex())) ||
      failed(
          verifyShapes(*this, getResult().getType(), getIndex(), getMask())) ||
      failed(verifyElement(*this, array, getResult().getType())))
    return failure();
  if (TypedAttr pad = getPadAttr();
      pad && pad.getType() != array.getElementType()) // gather-C3
    return emitOpError() << "'pad' of type " << pad.getType()
                         << " for elements of type " << array.getElementType();
  return verifyPromises(*this, getResult().getType());
}

TypedAttr GatherOp::getPadValue() {
  if (TypedAttr pad = getPadAttr())
    return pad;
  return Builder(getContext())
      .getZeroAttr(getArray().getType().getElementType());
}

void GatherOp::getEffects(Effects &effects) {
  if (isReadObservable(*this, getArray().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getArrayMutable(),
                         SideEffects::DefaultResource::get());
}

LogicalResult ScatterOp::verify() {
  ArrayType array = getArray().getType();
  if (!array.isMut()) // scatter-C1
    return emitOpError() << "writes an array that is not 'mut'";
  if (failed(verifyIndices(*this, array, getIndex())) ||
      failed(verifyShapes(*this, getValue().getType(), getIndex(), getMask())) ||
      failed(verifyElement(*this, array, getValue().getType())))
    return failure();
  return verifyPromises(*this, getValue().getType());
}

void ScatterOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getArrayMutable(),
                       SideEffects::DefaultResource::get());
}

/// atomic-C4: the table.
static bool hasAtomic(AtomicKind kind, Type element) {
  bool wideInteger = element.isInteger(32) || element.isInteger(64);
  bool wideFloat = element.isF32() || element.isF64();
  switch (kind) {
  case AtomicKind::Add:
  case AtomicKind::Max:
  case AtomicKind::Min:
    return wideInteger || wideFloat || element.isF16() || element.isBF16();
  case AtomicKind::And:
  case AtomicKind::Or:
  case AtomicKind::Xor:
    return wideInteger;
  default:
    return wideInteger || wideFloat;
  }
}

LogicalResult AtomicOp::verify() {
  ArrayType array = getArray().getType();
  AtomicKind kind = getKind();
  if (!array.isMut() && kind != AtomicKind::Load) // atomic-C1
    return emitOpError() << "writes an array that is not 'mut'";
  if (failed(verifyIndices(*this, array, getIndex())))
    return failure();
  bool hasValue = kind != AtomicKind::Load,
       hasExpected = kind == AtomicKind::Cas;
  bool hasResult = kind != AtomicKind::Store;
  if (bool(getValue()) != hasValue || bool(getExpected()) != hasExpected ||
      bool(getResult()) != hasResult) // atomic-C5
    return emitOpError() << "'" << stringifyAtomicKind(kind) << "' has "
                         << (hasValue ? "a" : "no") << " value, "
                         << (hasExpected ? "an" : "no")
                         << " expected value and " << (hasResult ? "a" : "no")
                         << " result";
  if (!hasAtomic(kind, array.getElementType())) // atomic-C4
    return emitOpError() << "'" << stringifyAtomicKind(kind)
                         << "' does not exist for " << array.getElementType();
  for (Value value :
       {Value(getValue()), Value(getExpected()), Value(getResult())})
    if (value &&
        (failed(verifyShapes(*this, value.getType(), getIndex(), getMask())) ||
         failed(verifyElement(*this, array, value.getType()))))
      return failure();
  return verifyPromises(*this, getIndex().front().getType());
}

void AtomicOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getArrayMutable(),
                       SideEffects::DefaultResource::get());
  // An atomic load orders others too: it is not to be dropped or merged.
  effects.emplace_back(MemoryEffects::Write::get(), &getArrayMutable(),
                       SideEffects::DefaultResource::get());
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

static LogicalResult verifyAxis(Operation *op, int32_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank) // cat-C2, flip-C1, take-C1
    return op->emitOpError()
           << "axis " << axis << " is outside a tile of rank " << rank;
  return success();
}

LogicalResult CatOp::verify() {
  size_t count = getSources().size();
  if (!llvm::isPowerOf2_64(count)) // cat-C1
    return emitOpError() << "joins a power of two of tiles, not " << count;
  auto source = cast<RankedTensorType>(getSources().front().getType());
  auto axis = static_cast<int32_t>(getAxis());
  if (failed(verifyAxis(*this, axis, source.getRank())))
    return failure();
  SmallVector<int64_t> shape(source.getShape());
  shape[axis] *= static_cast<int64_t>(count);
  if (getTileShape(getType()) != ArrayRef(shape) ||
      getElementTypeOrSelf(getType()) != source.getElementType()) // cat-C2
    return emitOpError() << "joins into "
                         << getTileType(shape, source.getElementType())
                         << ", not " << getType();
  return success();
}

/// `part` is a tile of the whole's rank, in no dim larger, of its elements.
static LogicalResult verifySlice(Operation *op, RankedTensorType whole,
                                 Type part, size_t indices) {
  if (static_cast<int64_t>(indices) != whole.getRank()) // extract-C1, insert-C1
    return op->emitOpError()
           << "has " << indices << " indices for a tile of rank "
           << whole.getRank();
  bool fits = getElementTypeOrSelf(part) == whole.getElementType();
  if (auto tile = dyn_cast<RankedTensorType>(part)) {
    fits = fits && tile.getRank() == whole.getRank();
    for (int64_t i = 0; fits && i < whole.getRank(); ++i)
      fits = tile.getDimSize(i) <= whole.getDimSize(i);
  }
  if (!fits) // extract-C2, insert-C2
    return op->emitOpError() << part << " is not a slice of " << whole;
  return success();
}

LogicalResult ExtractOp::verify() {
  return verifySlice(*this, cast<RankedTensorType>(getSource().getType()),
                     getType(), getIndex().size());
}

LogicalResult InsertOp::verify() {
  return verifySlice(*this, cast<RankedTensorType>(getDest().getType()),
                     getSlice().getType(), getIndex().size());
}

LogicalResult FlipOp::verify() {
  return verifyAxis(*this, getAxis(), getTileShape(getType()).size());
}

LogicalResult TakeOp::verify() {
  ArrayRef<int64_t> source = getTileShape(getSource().getType());
  ArrayRef<int64_t> indices = getTileShape(getIndices().getType());
  ArrayRef<int64_t> result = getTileShape(getType());
  auto axis = static_cast<int32_t>(getAxis());
  if (failed(verifyAxis(*this, axis, source.size())))
    return failure();
  if (getAlong() ? indices != result : indices.size() != 1) // take-C3
    return emitOpError() << "has indices of type " << getIndices().getType()
                         << " for " << getType();
  SmallVector<int64_t> shape(source);
  shape[axis] = getAlong() ? indices[axis] : indices[0];
  if (result != ArrayRef(shape) ||
      getElementTypeOrSelf(getSource().getType()) !=
          getElementTypeOrSelf(getType())) // take-C2
    return emitOpError() << "takes " << getType() << " from "
                         << getSource().getType();
  return success();
}
