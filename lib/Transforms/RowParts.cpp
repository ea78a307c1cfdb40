//===- RowParts.cpp - a row's operations, part by part -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a kernel of rows, the size of a part, and which pass is written. Out: its operations on
// one part. Loads and stores count in parts, positions begin with those of the part, and all
// else is the same operation on a smaller tile. What was written for a part once is used again.
//
//===------------------------------------------------------------------------===//
#include "RowParts.h"

#include "Combiner.h"
#include "PartIndex.h"

#include "tilec/Tile/ArgReductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

void RowParts::writePasses(function_ref<void(ArrayRef<Operation *>)> emitPass) {
  Block &body = row.kernel.getBody().front();
  SmallVector<Operation *> all;
  for (Operation &op : body.without_terminator())
    all.push_back(&op);
  Operation *end = body.getTerminator();
  for (Operation *sink : row.sinks)
    if (auto reduce = dyn_cast<ReduceOp>(sink)) {
      paddings[sink] = paddingOf(reduce);
      if (padding.isFoundLast(reduce))
        foundLast.insert(sink);
    }
  // What is no part of the row stands behind the passes that it follows from.
  for (unsigned pass = 0; pass <= row.numPasses; ++pass) {
    for (Operation *op : all)
      if (!row.isLong(op) && row.passes[op] == pass)
        op->moveBefore(end);
    builder.setInsertionPoint(end);
    if (pass == 0)
      countParts();
    if (pass == row.numPasses)
      break;
    SmallVector<Operation *> sinks;
    for (Operation *sink : row.sinks)
      if (row.passes[sink] == pass)
        sinks.push_back(sink);
    emitPass(sinks);
  }
  for (Operation *op : llvm::reverse(all))
    if (row.isLong(op))
      op->erase();
}

//===------------------------------------------------------------------------===//
// How many parts
//===------------------------------------------------------------------------===//

/// How many parts some access of the row has elements in: null where that is not known.
void RowParts::countParts() {
  Location loc = row.kernel.getLoc();
  Value begin, end;
  auto visit = [&](auto access, Type tile) {
    unsigned along = *RowKernel::longDim(tile, row.length);
    Value own = access.getIndex()[along];
    if (begin && begin != own && !(matchPattern(begin, m_Zero()) && matchPattern(own, m_Zero())))
      return false;
    begin = own;
    unsigned dim = unsigned(access.getArrayDim(along));
    if (auto known = end ? end.template getDefiningOp<DimOp>() : DimOp();
        known && row.areEqual(known.getArray(), known.getDim(), access.getArray(), dim))
      return true;
    Value size = DimOp::create(builder, loc, access.getArray(), dim);
    end = end ? arith::MaxSIOp::create(builder, loc, end, size).getResult() : size;
    return access.getElements() || matchPattern(own, m_Zero());
  };
  for (Operation &op : row.kernel.getBody().front()) {
    auto load = dyn_cast<LoadOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    if ((load && row.isLong(&op) && !visit(load, load.getType())) ||
        (store && row.isLong(&op) && !visit(store, store.getValue().getType())))
      return;
  }
  if (!begin)
    return;
  Value count = arith::SubIOp::create(builder, loc, end, begin);
  count = arith::AddIOp::create(builder, loc, count, index(part - 1));
  count = arith::DivUIOp::create(builder, loc, count, index(part));
  count = arith::MinSIOp::create(builder, loc, count, index(row.length / part));
  numParts = arith::MaxSIOp::create(builder, loc, count, index(1));
}

bool RowParts::mayEndEarly(ArrayRef<Operation *> sinks) {
  return numParts && llvm::all_of(sinks, [&](Operation *sink) {
           return isa<StoreOp>(sink) || paddings.lookup(sink) ||
                  foundLast.contains(sink);
         });
}

//===------------------------------------------------------------------------===//
// Reductions
//===------------------------------------------------------------------------===//

TypedAttr RowParts::neutralOf(ReduceOp reduce) {
  Operation *op = combiningOp(reduce);
  if (!op)
    return {};
  Type type = op->getResult(0).getType();
  Builder builder(reduce.getContext());
  if (auto integer = dyn_cast<IntegerType>(type))
    return isa<arith::AddIOp>(op) ? builder.getIntegerAttr(integer, 0) : TypedAttr();
  auto real = dyn_cast<FloatType>(type);
  if (!real)
    return {};
  const llvm::fltSemantics &semantics = real.getFloatSemantics();
  if (isa<arith::AddFOp>(op))
    return FloatAttr::get(real, APFloat::getZero(semantics, /*Negative=*/true));
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(op))
    return FloatAttr::get(real, APFloat::getInf(semantics, isa<arith::MaximumFOp>(op)));
  return {};
}

/// What the elements of all parts behind the row are for `reduce`, if that changes nothing of
/// what they are combined with, again and again; null otherwise.
TypedAttr RowParts::paddingOf(ReduceOp reduce) {
  TypedAttr neutral = neutralOf(reduce);
  TypedAttr element = neutral ? padding.of(reduce.getSources().front()) : TypedAttr();
  if (!element || isa<arith::MaximumFOp, arith::MinimumFOp>(combiningOp(reduce)))
    return element;
  auto real = dyn_cast<FloatAttr>(element);
  auto integer = dyn_cast<IntegerAttr>(element);
  bool isZero = real ? real.getValue().isZero() : integer && integer.getValue().isZero();
  return isZero ? element : TypedAttr();
}

SmallVector<Value> RowParts::combine(ReduceOp reduce, ValueRange before, ValueRange more) {
  Location loc = reduce.getLoc();
  IRMapping mapping;
  Block &combiner = reduce.getCombiner().front();
  mapping.map(combiner.getArguments().take_front(before.size()), before);
  mapping.map(combiner.getArguments().drop_front(before.size()), more);
  auto shape = cast<RankedTensorType>(more.front().getType());
  for (Operation &op : combiner.without_terminator()) {
    for (Value operand : op.getOperands())
      if (!mapping.contains(operand)) // from outside of the combiner
        mapping.map(operand, SplatOp::create(builder, loc, shape.clone(operand.getType()), operand));
    auto scalar = dyn_cast<arith::ConstantOp>(op);
    if (scalar) {
      mapping.map(scalar.getResult(),
                  constant(loc, shape.clone(scalar.getType()), scalar.getValue()));
      continue;
    }
    Operation *copy = builder.clone(op, mapping);
    for (auto [from, to] : llvm::zip_equal(op.getResults(), copy->getResults()))
      to.setType(shape.clone(from.getType()));
  }
  SmallVector<Value> result;
  for (Value value : combiner.getTerminator()->getOperands())
    result.push_back(mapping.lookup(value));
  return result;
}

void RowParts::finish(ReduceOp reduce, ValueRange combined) {
  IRMapping mapping;
  mapping.map(reduce.getSources(), combined);
  Operation *last = builder.clone(*reduce, mapping);
  // An element stands for those of all parts: the first that is greatest may be any.
  last->removeAttr(argReductionAttr);
  reduce->replaceAllUsesWith(last->getResults());
}

//===------------------------------------------------------------------------===//
// One part
//===------------------------------------------------------------------------===//

RankedTensorType RowParts::rowType(Type type, int64_t size) {
  auto tensor = cast<RankedTensorType>(type);
  auto shape = llvm::to_vector(tensor.getShape());
  shape[*RowKernel::longDim(type, row.length)] = size;
  return tensor.clone(shape);
}

Value RowParts::constant(Location loc, RankedTensorType type, TypedAttr element) {
  return arith::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, element));
}

Value RowParts::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, row.kernel.getLoc(), value);
}

Value RowParts::firstOfPart(Location loc) {
  return arith::MulIOp::create(builder, loc, number,
                               arith::ConstantIndexOp::create(builder, loc, part));
}

/// The index of the part along a dim that counts tiles, or elements, of the row.
SmallVector<Value> RowParts::indexOfPart(Location loc, ValueRange index, unsigned dim,
                                         bool elements) {
  SmallVector<Value> result(index);
  Value &place = result[dim];
  if (elements)
    place = arith::AddIOp::create(builder, loc, place, firstOfPart(loc));
  else
    place = partIndex(builder, loc, place, row.length / part, number);
  return result;
}

void RowParts::emitStore(StoreOp store) {
  Value value = partOf(store.getValue());
  unsigned dim = *RowKernel::longDim(store.getValue().getType(), row.length);
  SmallVector<Value> index =
      indexOfPart(store.getLoc(), store.getIndex(), dim, store.getElements());
  auto copy = cast<StoreOp>(builder.clone(*store));
  copy.getValueMutable().assign(value);
  copy.getIndexMutable().assign(index);
}

Value RowParts::partOf(Value value) {
  if (!row.isLong(value))
    return value;
  if (Value known = parts.lookup(value))
    return known;
  Value result = emitPart(value.getDefiningOp(), partType(value.getType()));
  parts[value] = result;
  return result;
}

SmallVector<Value> RowParts::partsOf(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return partOf(value); });
}

Value RowParts::emitPart(Operation *op, RankedTensorType type) {
  Location loc = op->getLoc();
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op))
    return constant(loc, type, cast<SplatElementsAttr>(constantOp.getValue()).getSplatValue<TypedAttr>());
  if (isa<IotaOp>(op))
    return emitPositions(loc, type);
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, partOf(operand));
  Operation *copy = builder.clone(*op, mapping);
  copy->getResult(0).setType(type);
  if (auto load = dyn_cast<LoadOp>(copy)) {
    builder.setInsertionPoint(copy);
    unsigned dim = *RowKernel::longDim(op->getResult(0).getType(), row.length);
    load.getIndexMutable().assign(
        indexOfPart(loc, cast<LoadOp>(op).getIndex(), dim, load.getElements()));
    builder.setInsertionPointAfter(copy);
  }
  return copy->getResult(0);
}

Value RowParts::emitPositions(Location loc, RankedTensorType type) {
  Value own = IotaOp::create(builder, loc, type);
  Value first = firstOfPart(loc);
  if (!type.getElementType().isIndex())
    first = arith::IndexCastOp::create(builder, loc, type.getElementType(), first);
  return arith::AddIOp::create(builder, loc, SplatOp::create(builder, loc, type, first), own);
}
