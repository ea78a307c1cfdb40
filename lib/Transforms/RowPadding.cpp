//===- RowPadding.cpp - what is computed behind the end of a row -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a tile of a row. Out: the constant that its elements behind the row are. Loads give their
// padding, constants themselves, and what is computed is folded. Two more things are known:
//
//   position < columns          is false behind the row
//   -inf - max x, x being -inf  is -inf, unless the maximum is -inf or NaN: then the row has an
//                               element inside for which the difference is NaN, too;
//                               what follows is only known where it is NaN then, too
//
//===------------------------------------------------------------------------===//
#include "RowPadding.h"

#include "Combiner.h"
#include "RotateRows.h"

#include "tilec/Tile/ArgReductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

/// The tile or scalar whose elements `value` has, under whatever shape.
static Value withoutShape(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ReshapeOp, BroadcastOp, PermuteOp, SplatOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

TypedAttr RowPadding::of(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return getSplatConstant(constant);
  if (!row.isLong(value) || !value.getDefiningOp())
    return {};
  if (auto found = known.find(value); found != known.end())
    return found->second;
  TypedAttr result = compute(value.getDefiningOp());
  known[value] = result;
  return result;
}

TypedAttr RowPadding::compute(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getPadValue();
  if (isa<ReshapeOp, PermuteOp>(op)) {
    TypedAttr element = of(op->getOperand(0));
    if (mayBeNaN.contains(op->getOperand(0)))
      mayBeNaN.insert(op->getResult(0));
    return element;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    if (compare.getPredicate() == arith::CmpIPredicate::slt && isPosition(compare.getLhs()) &&
        isLengthOfRow(compare.getRhs()))
      return BoolAttr::get(op->getContext(), false);
  if (isa<arith::SubFOp>(op)) {
    auto left = dyn_cast_if_present<FloatAttr>(of(op->getOperand(0)));
    bool isLeast = left && left.getValue().isInfinity() && left.getValue().isNegative();
    if (isLeast && isGreatest(op->getOperand(1), op->getOperand(0))) {
      mayBeNaN.insert(op->getResult(0));
      return left;
    }
  }
  return fold(op);
}

/// Folds `op` where elements of its operands are known.
TypedAttr RowPadding::fold(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() || op->getNumOperands() == 0)
    return {};
  SmallVector<Attribute> operands;
  bool isNaNToo = false;
  for (Value operand : op->getOperands()) {
    TypedAttr element = of(operand);
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    operands.push_back(element && type ? Attribute(DenseElementsAttr::get(type, Attribute(element)))
                                       : Attribute(element));
    isNaNToo |= mayBeNaN.contains(operand);
  }
  if (isNaNToo && !isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
                       arith::ExtFOp, arith::TruncFOp, math::ExpOp, math::Exp2Op>(op))
    return {};
  if (isNaNToo)
    mayBeNaN.insert(op->getResult(0));
  SmallVector<OpFoldResult> results;
  // A fold in place would change the kernel: a copy is asked.
  Operation *copy = op->clone();
  bool isFolded = succeeded(copy->fold(operands, results)) && results.size() == 1;
  copy->destroy();
  if (!isFolded)
    return {};
  if (auto value = dyn_cast<Value>(results.front()))
    return of(value);
  return getSplatConstant(cast<Attribute>(results.front()));
}

bool RowPadding::isFoundLast(ReduceOp reduce) {
  auto sought = reduce->getAttrOfType<StringAttr>(argReductionAttr);
  TypedAttr element = sought ? of(reduce.getSources().front()) : TypedAttr();
  if (!element)
    return false;
  bool isMax = sought.getValue().ends_with("max");
  if (auto real = dyn_cast<FloatAttr>(element))
    return real.getValue().isInfinity() && real.getValue().isNegative() == isMax;
  APInt value = cast<IntegerAttr>(element).getValue();
  if (sought.getValue().starts_with("u"))
    return isMax ? value.isZero() : value.isAllOnes();
  return isMax ? value.isMinSignedValue() : value.isMaxSignedValue();
}

/// Whether elements are numbers of columns, turned (RotateRows) or not.
bool RowPadding::isPosition(Value value) {
  Operation *op = withoutShape(value).getDefiningOp();
  return op && (isa<IotaOp>(op) || op->hasAttr(turnedPositionAttr));
}

/// Whether it is the size of an array along a row that is loaded or stored.
bool RowPadding::isLengthOfRow(Value value) {
  auto dim = withoutShape(value).getDefiningOp<DimOp>();
  return dim && llvm::any_of(dim.getArray().getUsers(), [&](Operation *user) {
           auto load = dyn_cast<LoadOp>(user);
           if (!load)
             return false;
           auto along = RowKernel::longDim(load.getType(), row.length);
           return along && load.getArrayDim(*along) == int64_t(dim.getDim());
         });
}

/// Whether it is the maximum of the row `of`.
bool RowPadding::isGreatest(Value value, Value of) {
  auto reduce = withoutShape(value).getDefiningOp<ReduceOp>();
  return reduce && withoutShape(reduce.getSources().front()) == withoutShape(of) &&
         isa_and_present<arith::MaximumFOp>(combiningOp(reduce));
}
