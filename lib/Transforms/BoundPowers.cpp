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
//===----------------------------------------------------------------------===//

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

/// Whether the region gives the greater of its two operands, or NaN.
static bool isMaximum(ReduceOp reduce) {
  Block &body = reduce.getCombiner().front();
  auto yielded = body.getTerminator()->getOperand(0).getDefiningOp<arith::MaximumFOp>();
  return yielded && body.getNumArguments() == 2 &&
         llvm::equal(yielded.getOperands(), body.getArguments());
}

/// Whether `difference` is a tile less its maximum along some axes, which is stretched
/// along these and no others: each element less the maximum of its own row.
static bool isBelowMaximum(Value difference) {
  auto sub = difference.getDefiningOp<arith::SubFOp>();
  if (!sub)
    return false;
  Value maximum;
  ArrayRef<int64_t> keptShape;
  if (auto broadcast = sub.getRhs().getDefiningOp<BroadcastOp>()) {
    maximum = broadcast.getSource();
    keptShape = cast<RankedTensorType>(maximum.getType()).getShape();
  } else if (auto splat = sub.getRhs().getDefiningOp<SplatOp>()) {
    maximum = splat.getValue();
  } else {
    return false;
  }
  // Elements keep their order in a reshape, so only shapes have to agree.
  while (auto reshape = maximum.getDefiningOp<ReshapeOp>())
    maximum = reshape.getSource();
  auto reduce = maximum.getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getSources().size() != 1 || reduce.getSources()[0] != sub.getLhs() ||
      !isMaximum(reduce))
    return false;
  auto shape = llvm::to_vector(cast<RankedTensorType>(sub.getType()).getShape());
  for (int64_t axis : reduce.getAxes())
    shape[axis] = 1;
  return keptShape.empty() ? ShapedType::getNumElements(shape) == 1
                           : keptShape == ArrayRef<int64_t>(shape);
}

namespace {

struct BoundPowers : tilec::impl::BoundPowersBase<BoundPowers> {
  void runOnOperation() override {
    getOperation().walk([](math::ExpOp op) {
      if (isBelowMaximum(op.getOperand()))
        op->setAttr(atMostOneAttrName, UnitAttr::get(op.getContext()));
    });
  }
};

} // namespace
