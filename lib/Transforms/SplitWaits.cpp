//===- SplitWaits.cpp - half of the work behind a wait ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: the body of a skewed loop (ScheduleAsyncMma), in which powers are computed beside a
// product, and what the product gave is scaled behind the wait for it. Out: half of the
// powers stand behind the wait, too:
//
//   %p = exp2 %x : 128x128                     %p0 = exp2 (tile.extract %x [0, 0]) : 128x64
//   %s = reduce %p   %a = truncf %p      →     %o = tgpu.mma_wait %product
//   %o = tgpu.mma_wait %product                %p1 = exp2 (tile.extract %x [0, 1])
//   %r = mulf %o, %factor                      %p = tile.cat(%p0, %p1)   %s = reduce %p   …
//                                              %r = mulf %o, %factor
//
// The unit of exponentials takes one of a warp in eight cycles. Of 64 a thread half fill the
// time until the product is complete, and beside the other half there is room for sums,
// products with the factor, and conversions, which would stand alone behind all of them. A
// tile is cut where its halves are registers, so extract and cat are names.
//
//===------------------------------------------------------------------------===//
#include "SplitWaits.h"

#include "AccessCost.h"
#include "LayoutRules.h"

#include "tilec/Tile/Contains.h"
#include "tilec/Tile/TileLayout.h"
#include "tilec/Tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;

/// Below this many registers a thread there is little to put beside anything.
static constexpr int64_t fewestRegisters = 32;

/// The power that `value` is computed from, elementwise, in front of `wait`.
static Operation *findPower(Value value, Operation *wait) {
  Operation *op = value.getDefiningOp();
  while (op && op->getBlock() == wait->getBlock() && op->isBeforeInBlock(wait)) {
    if (isa<math::Exp2Op, math::ExpOp>(op))
      return op;
    if (!isElementwise(op) || op->getNumOperands() != 1)
      return nullptr;
    op = op->getOperand(0).getDefiningOp();
  }
  return nullptr;
}

namespace {

/// Elementwise operations on one tile, half by half.
class Halves {
public:
  /// `power`, and what is computed for it alone.
  Halves(Operation *power, unsigned axis) : axis(axis) {
    ops.insert(power);
    for (size_t next = 0; next < ops.size(); ++next)
      for (Value operand : ops[next]->getOperands())
        if (Operation *op = operand.getDefiningOp(); op && isForOps(op))
          ops.insert(op);
  }

  /// The half of the power that `which` names, put where `builder` stands.
  Value emit(OpBuilder &builder, int64_t which) {
    IRMapping map;
    SmallVector<Operation *> list(ops.begin(), ops.end());
    llvm::sort(list, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    for (Operation *op : list) {
      for (Value operand : op->getOperands())
        if (isTile(operand) && !map.contains(operand))
          map.map(operand, half(builder, operand, which));
      Operation *copy = builder.clone(*op, map);
      copy->getResult(0).setType(halfType(op->getResult(0)));
    }
    return map.lookup(ops.front()->getResult(0));
  }

  llvm::SetVector<Operation *> ops;

private:
  bool isForOps(Operation *op) {
    return op->getBlock() == ops.front()->getBlock() && isElementwise(op) &&
           op->getNumResults() == 1 && op->getResult(0).getType() == ops.front()->getResult(0).getType() &&
           llvm::all_of(op->getUsers(), [&](Operation *user) { return ops.contains(user); });
  }

  RankedTensorType halfType(Value value) {
    return tileTypeOf(*tile::getLayout(value).halve(axis), getElementTypeOrSelf(value.getType()));
  }

  Value half(OpBuilder &builder, Value value, int64_t which) {
    RankedTensorType type = halfType(value);
    Location loc = ops.front()->getLoc();
    if (Value constant = emitSplatAs(builder, loc, value, type))
      return constant;
    if (auto splat = value.getDefiningOp<tile::SplatOp>())
      return tile::SplatOp::create(builder, loc, type, splat.getValue());
    auto broadcast = value.getDefiningOp<tile::BroadcastOp>();
    if (broadcast && broadcast.getSource().getType().getShape()[axis] == 1)
      return tile::BroadcastOp::create(builder, loc, type, broadcast.getSource());
    SmallVector<Value> index;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      index.push_back(arith::ConstantIndexOp::create(builder, loc, dim == axis ? which : 0));
    return tile::ExtractOp::create(builder, loc, type, value, index);
  }

  const unsigned axis;
};

} // namespace

/// Operations between `power` and `wait` that need its result, in their order; nullopt where one
/// is not free to move.
static std::optional<SmallVector<Operation *>> usersUntil(Operation *power, Operation *wait) {
  llvm::SmallPtrSet<Operation *, 8> needing = {power};
  SmallVector<Operation *> list;
  for (Operation *op = power->getNextNode(); op != wait; op = op->getNextNode()) {
    bool needs = containsWhere(op, [&](Operation *inner) {
      return llvm::any_of(inner->getOperands(), [&](Value operand) {
        return needing.contains(operand.getDefiningOp());
      });
    });
    if (!needs)
      continue;
    if (!isMemoryEffectFree(op) || isa<tgpu::MmaOp, tgpu::MmaWaitOp>(op))
      return std::nullopt;
    needing.insert(op);
    list.push_back(op);
  }
  return list;
}

bool tilec::computeHalfBehind(tgpu::MmaWaitOp wait, Value a) {
  Operation *power = findPower(a, wait);
  if (!power || registersOf(power->getResult(0).getType()) < fewestRegisters)
    return false;
  auto type = cast<RankedTensorType>(power->getResult(0).getType());
  Layout layout = tile::getLayout(type);
  unsigned axis = layout.rank() - 1;
  std::optional<SmallVector<Operation *>> moved = usersUntil(power, wait);
  if (!moved || !layout.halve(axis))
    return false;

  Halves halves(power, axis);
  OpBuilder builder(wait);
  Value low = halves.emit(builder, 0);
  Operation *last = wait;
  while (isa<tgpu::ReleaseOp>(last->getNextNode()))
    last = last->getNextNode();
  builder.setInsertionPointAfter(last);
  Value high = halves.emit(builder, 1);
  Value whole = tile::CatOp::create(builder, power->getLoc(), type, ValueRange{low, high}, axis);
  for (Operation *op : *moved)
    op->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
  power->getResult(0).replaceAllUsesWith(whole);
  for (Operation *op : halves.ops)
    op->erase();
  return true;
}
