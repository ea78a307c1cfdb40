//===- LayoutRules.cpp - what operations ask of layouts --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// See the table in LayoutRules.h. Each rule is one operation of the algebra.
//===----------------------------------------------------------------------===//
#include "LayoutRules.h"

#include "Copies.h"

#include "tilec/Analysis/SlicePlan.h"
#include "tilec/Layout/Conversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

bool tilec::isElementwise(Operation *op) { return op->hasTrait<OpTrait::Elementwise>(); }

Agreement tilec::getAgreement(Operation *op) {
  Agreement agreement;
  // Who copies makes indices as it needs them.
  if (isa<GatherOp>(op) && isCopied(op))
    return agreement;
  auto addOperands = [&](MutableArrayRef<OpOperand> operands) {
    for (OpOperand &operand : operands)
      if (isTile(operand.get()))
        agreement.operands.push_back(&operand);
  };
  auto addResults = [&] {
    for (Value result : op->getResults())
      if (isTile(result))
        agreement.results.push_back(result);
  };
  if (isElementwise(op) || isa<GatherOp, ScatterOp, AtomicOp, ScanOp, SortOp, FlipOp>(op)) {
    addOperands(op->getOpOperands());
    addResults();
  } else if (isa<CatOp, ReduceOp>(op)) {
    addOperands(op->getOpOperands());
  } else if (auto insert = dyn_cast<InsertOp>(op)) {
    addOperands(MutableArrayRef<OpOperand>(insert.getDestMutable()));
    addResults();
  } else if (auto mma = dyn_cast<MmaOp>(op)) {
    addOperands(MutableArrayRef<OpOperand>(mma.getAccMutable()));
    addResults();
  }
  return agreement;
}

bool tilec::isCheapToRecreate(Operation *op) {
  return isa_and_nonnull<SplatOp, IotaOp, arith::ConstantOp>(op);
}

Layout tilec::reducedLayout(const Layout &source, ArrayRef<int64_t> axes) {
  Layout result = source;
  for (int64_t axis : llvm::reverse(axes))
    result = result.slice(axis);
  return result.withoutRegisterCopies();
}

Layout tilec::layoutOfResult(Operation *op, const Layout &source) {
  ArrayRef<int64_t> shape = getTileShape(op->getResult(0).getType());
  return TypeSwitch<Operation *, Layout>(op)
      .Case([&](ReshapeOp) { return source.reshape(shape); })
      .Case([&](PermuteOp permute) { return source.permute(permute.getDims()); })
      .Case([&](ReduceOp reduce) { return reducedLayout(source, reduce.getAxes()); })
      .Case([&](BroadcastOp) { return source.broadcast(shape); })
      .Default(source);
}

static Layout collapseTo(const Layout &layout, ArrayRef<int64_t> shape) {
  Layout result = layout;
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != layout.shape()[axis])
      result = result.collapse(axis);
  return result;
}

Layout tilec::layoutOfSource(Operation *op, const Layout &result) {
  ArrayRef<int64_t> shape = getTileShape(op->getOperand(0).getType());
  return TypeSwitch<Operation *, Layout>(op)
      .Case([&](ReshapeOp) { return result.reshape(shape); })
      .Case([&](PermuteOp permute) {
        SmallVector<int64_t> inverse(permute.getDims().size());
        for (auto [to, from] : llvm::enumerate(permute.getDims()))
          inverse[from] = to;
        return result.permute(inverse);
      })
      .Case([&](BroadcastOp) { return collapseTo(result, shape).withoutRegisterCopies(); })
      .Default(result);
}

bool tilec::broadcastKeepsPlaces(BroadcastOp op, const Layout &source, const Layout &result) {
  Layout wanted = collapseTo(result, getTileShape(op.getSource().getType()));
  return classifyConversion(source, wanted, 32) <= ConversionKind::Registers;
}

Layout tilec::insertedLayout(InsertOp op) {
  return withinSlice(getLayout(op.getType()), getTileShape(op.getSlice().getType()))
      .withoutRegisterCopies();
}

Layout tilec::takeIndexLayout(TakeOp op) {
  Layout layout = getLayout(op.getType());
  if (op.getAlong())
    return layout;
  for (unsigned dim = layout.rank(); dim-- > 0;)
    if (dim != op.getAxis())
      layout = layout.slice(dim);
  return layout.withoutRegisterCopies();
}

bool tilec::catKeepsPlaces(CatOp op) {
  Layout whole = getLayout(op.getType());
  Layout::Coords start(whole.rank(), 0);
  for (Value source : op.getSources()) {
    if (!registersOfSlice(whole, getLayout(source), start))
      return false;
    start[op.getAxis()] += getTileShape(source.getType())[op.getAxis()];
  }
  return true;
}

Layout tilec::defaultLayout(RankedTensorType type, unsigned numWarps) {
  SmallVector<unsigned, 6> order(type.getRank());
  std::iota(order.rbegin(), order.rend(), 0u);
  int64_t share = std::clamp<int64_t>(type.getNumElements() / (32 * numWarps), 1, 4);
  return Layout::coalesced(type.getShape(), order, share, 32, numWarps);
}

/// `constant` with a type that differs in its layout only.
static TypedAttr retype(TypedAttr constant, RankedTensorType type) {
  auto dense = dyn_cast<DenseElementsAttr>(constant);
  return dense ? cast<TypedAttr>(dense.reshape(type)) : constant;
}

void tilec::setLayout(Value value, LayoutAttr layout) {
  RankedTensorType type = withLayout(value.getType(), layout);
  value.setType(type);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    constant.setValueAttr(retype(constant.getValue(), type));
}

RankedTensorType tilec::tileTypeOf(const Layout &layout, Type element) {
  return withLayout(RankedTensorType::get(layout.shape(), element), layout);
}

Value tilec::emitSplatAs(OpBuilder &builder, Location loc, Value value, RankedTensorType type) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return {};
  return arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, elements.getSplatValue<Attribute>()));
}

Value tilec::recreate(OpBuilder &builder, Operation *op, LayoutAttr layout) {
  Operation *copy = builder.clone(*op);
  setLayout(copy->getResult(0), layout);
  return copy->getResult(0);
}
