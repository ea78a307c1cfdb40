//===- RowKernel.cpp - a kernel that takes a row a position ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a kernel of stage `tile`. Out: whether it takes one row a position (RowKernel.h), and of
// each operation the pass over the row that it belongs to. Operations are visited in order;
// the first one that does not fit ends it.
//
//===------------------------------------------------------------------------===//
#include "RowKernel.h"

#include "LayoutRules.h"

#include "tilec/Tile/Accesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

static int64_t elementsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() : 1;
}

std::optional<unsigned> RowKernel::longDim(Type type, int64_t length) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getNumElements() != length)
    return std::nullopt;
  auto place = llvm::find(tensor.getShape(), length);
  if (place == tensor.getShape().end())
    return std::nullopt;
  return unsigned(place - tensor.getShape().begin());
}

RowKernel::RowKernel(KernelOp kernel) : kernel(kernel) {
  for (Operation &op : kernel.getBody().front())
    for (Type type : op.getResultTypes())
      length = std::max(length, elementsOf(type));
}

bool RowKernel::analyse() {
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (!visit(&op))
      return false;
  return length > 1 && llvm::any_of(sinks, llvm::IsaPred<ReduceOp>);
}

bool RowKernel::areEqual(Value array, unsigned dim, Value other, unsigned otherDim) const {
  if (array == other && dim == otherDim)
    return true;
  ArrayRef<int64_t> sizes = cast<ArrayType>(array.getType()).getShape();
  ArrayRef<int64_t> others = cast<ArrayType>(other.getType()).getShape();
  if (!ShapedType::isDynamic(sizes[dim]) || !ShapedType::isDynamic(others[otherDim]))
    return sizes[dim] == others[otherDim];
  KernelOp owner = kernel;
  auto nameOf = [&](Value value, unsigned number) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto names = argument ? owner.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(),
                                                              KernelOp::dimsAttr)
                          : ArrayAttr();
    return names && number < names.size() ? cast<StringAttr>(names[number]) : StringAttr();
  };
  StringAttr name = nameOf(array, dim);
  return name && !name.empty() && name == nameOf(other, otherDim);
}

bool RowKernel::isLong(Value value) const { return elementsOf(value.getType()) >= length; }

bool RowKernel::isLong(Operation *op) const {
  auto isRow = [&](Value value) { return isLong(value); };
  return llvm::any_of(op->getOperands(), isRow) || llvm::any_of(op->getResults(), isRow);
}

bool RowKernel::isSink(Operation *op) const {
  return isa<ReduceOp, StoreOp>(op) && isLong(op);
}

bool RowKernel::visit(Operation *op) {
  unsigned pass = 0;
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp()) {
      auto known = passes.find(source);
      if (known == passes.end())
        return false;
      pass = std::max(pass, known->second + (isSink(source) ? 1 : 0));
    }
  passes[op] = pass;
  if (!isLong(op))
    return isAllowedBeside(op);
  if (isSink(op)) {
    numPasses = std::max(numPasses, pass + 1);
    sinks.push_back(op);
  }
  return isOfRow(op);
}

/// What is no part of the row stays in order; it must not see what is stored.
bool RowKernel::isAllowedBeside(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getArray().hasOneUse();
  if (auto load = dyn_cast<LoadOp>(op))
    return readsUnwrittenArray(load);
  return isa<AssumeOp>(op) || (op->getNumRegions() == 0 && isMemoryEffectFree(op)) ||
         isa<ReduceOp>(op);
}

bool RowKernel::isOfRow(Operation *op) {
  for (Value value : op->getResults())
    if (isLong(value) && !longDim(value.getType(), length))
      return false;
  if (auto load = dyn_cast<LoadOp>(op))
    return readsUnwrittenArray(load);
  if (auto store = dyn_cast<StoreOp>(op))
    return longDim(store.getValue().getType(), length) && store.getArray().hasOneUse();
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return isOfRow(reduce);
  if (isa<ReshapeOp, PermuteOp>(op))
    return longDim(op->getOperand(0).getType(), length).has_value();
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return elementsOf(broadcast.getSource().getType()) == 1;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  bool isPlain = op->getNumRegions() == 0 && op->getNumResults() == 1 &&
                 isMemoryEffectFree(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
                   return longDim(operand.getType(), length) ||
                          !isa<RankedTensorType>(operand.getType());
                 });
  return isPlain && (isElementwise(op) || isa<IotaOp, SplatOp>(op));
}

/// Whether rows become single values, by work that tiles can do as well.
bool RowKernel::isOfRow(ReduceOp reduce) {
  return llvm::all_of(reduce->getResultTypes(),
                      [](Type type) { return elementsOf(type) == 1; }) &&
         llvm::all_of(reduce.getSources(),
                      [&](Value source) { return longDim(source.getType(), length); }) &&
         llvm::all_of(reduce.getCombiner().front().without_terminator(), [](Operation &op) {
           return isElementwise(&op) || isa<arith::ConstantOp>(op);
         });
}
