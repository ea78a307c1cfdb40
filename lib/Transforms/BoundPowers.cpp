//===- BoundPowers.cpp - powers that are at most 1 --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: powers, as a softmax has them. Out: the same, marked where the exponent is a tile
// less its own maximum, so that it is never positive:
//
//   %m = tile.reduce(%x) axes [1] { arith.maximumf }
//   %d = arith.subf %x, (tile.broadcast %m)
//   %e = math.exp %d        →  math.exp %d {tile.at_most_one}
//
// A difference rounds to zero or below where %x <= %m. The maximum may be NaN, or both
// infinite: then the power is NaN, so the mark says "in [0, 1], or NaN". ExpandMath and
// ExpandDivision ask less of such powers. Later, when the maximum has gone through shared
// memory, nobody could tell any more.
//
// Where such powers are only added up and divided by their sum, a power of two may be a
// factor of all of them: ExpandMath then makes them so large that none is subnormal, in an
// instruction less, and ExpandDivision asks nothing:
//
//   %e = math.exp %d                                   math.exp %d {tile.at_most_one, tile.share}
//   %s = tile.reduce(%e) axes [1] { arith.addf }   →   …
//   %q = arith.divf %e, (tile.broadcast %s)            arith.divf … {tile.share}
//===----------------------------------------------------------------------===//

#include "Combiner.h"
#include "HelperCalls.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tilec {
#define GEN_PASS_DEF_BOUNDPOWERS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

/// The maximum where `difference` is a tile less its maximum along some axes, which is
/// stretched along these and no others: each element less the maximum of its own row; or null.
static ReduceOp findMaximum(Value difference) {
  auto sub = difference.getDefiningOp<arith::SubFOp>();
  if (!sub)
    return {};
  Value maximum;
  ArrayRef<int64_t> keptShape;
  if (auto broadcast = sub.getRhs().getDefiningOp<BroadcastOp>()) {
    maximum = broadcast.getSource();
    keptShape = cast<RankedTensorType>(maximum.getType()).getShape();
  } else if (auto splat = sub.getRhs().getDefiningOp<SplatOp>()) {
    maximum = splat.getValue();
  } else {
    return {};
  }
  // Elements keep their order in a reshape, so only shapes have to agree.
  while (auto reshape = maximum.getDefiningOp<ReshapeOp>())
    maximum = reshape.getSource();
  auto reduce = maximum.getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getSources()[0] != sub.getLhs() ||
      !isa_and_present<arith::MaximumFOp>(combiningOp(reduce)))
    return {};
  auto shape = llvm::to_vector(cast<RankedTensorType>(sub.getType()).getShape());
  for (int64_t axis : reduce.getAxes())
    shape[axis] = 1;
  bool isOwn = keptShape.empty() ? ShapedType::getNumElements(shape) == 1
                                 : keptShape == ArrayRef<int64_t>(shape);
  return isOwn ? reduce : ReduceOp();
}

/// Finds the divisions of `powers` by `sum`, which is a sum of them; `false` where it has
/// other uses.
static bool collectShares(Value sum, Value powers, SmallVectorImpl<arith::DivFOp> &shares) {
  return llvm::all_of(sum.getUses(), [&](OpOperand &use) {
    if (isa<ReshapeOp, BroadcastOp, SplatOp>(use.getOwner()))
      return collectShares(use.getOwner()->getResult(0), powers, shares);
    auto division = dyn_cast<arith::DivFOp>(use.getOwner());
    if (!division || division.getLhs() != powers || division.getRhs() != sum ||
        division.getFastmath() != arith::FastMathFlags::none)
      return false;
    shares.push_back(division);
    return true;
  });
}

/// The divisions by their sums of rows that are all the use that powers have, beside the sums;
/// or nothing.
static SmallVector<arith::DivFOp> findShares(math::ExpOp powers, ReduceOp maximum) {
  Value result = powers.getResult();
  if (!getElementTypeOrSelf(result.getType()).isF32() ||
      powers.getFastmath() != arith::FastMathFlags::none)
    return {};
  SmallVector<arith::DivFOp> shares;
  size_t numDivisions = 0;
  for (Operation *user : result.getUsers()) {
    auto reduce = dyn_cast<ReduceOp>(user);
    bool isSum = reduce && reduce.getSources().size() == 1 &&
                 reduce.getAxes() == maximum.getAxes() && isa_and_present<arith::AddFOp>(combiningOp(reduce)) &&
                 collectShares(reduce->getResult(0), result, shares);
    numDivisions += isa<arith::DivFOp>(user);
    if (!isSum && !isa<arith::DivFOp>(user))
      return {};
  }
  if (shares.size() != numDivisions)
    return {};
  return shares;
}

namespace {

struct BoundPowers : tilec::impl::BoundPowersBase<BoundPowers> {
  void runOnOperation() override {
    getOperation().walk([](math::ExpOp op) {
      ReduceOp maximum = findMaximum(op.getOperand());
      if (!maximum)
        return;
      auto mark = UnitAttr::get(op.getContext());
      op->setAttr(atMostOneAttrName, mark);
      SmallVector<arith::DivFOp> shares = findShares(op, maximum);
      if (!shares.empty())
        op->setAttr(shareAttrName, mark);
      for (arith::DivFOp division : shares)
        division->setAttr(shareAttrName, mark);
    });
  }
};

} // namespace
