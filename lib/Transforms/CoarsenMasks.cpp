//===- CoarsenMasks.cpp - one comparison for elements side by side -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: comparisons of positions with a limit, as masks for the edge of an array are
// written. Out: the same where the limit is known to be a multiple of a power of two,
// with positions rounded down to it:
//
//   %in = arith.cmpi slt, %position, %columns       with `aligned16`, rows of bf16
//     →
//   %first = arith.andi %position, -8
//   %in = arith.cmpi slt, %first, %columns
//
// Eight neighbours are then compared by the same numbers, and where a thread holds them,
// which it does after a wide load, later stages see one comparison for all. Only where
// positions count up from a multiple of the power, so that rounding costs nothing. Not in
// kernels with loops: there masks are computed once before the loop, so little is saved,
// and fewer of them tempt ptxas to settle on so few registers that others spill.
//
//===----------------------------------------------------------------------===//
#include "tilec/Analysis/IndexTileFacts.h"
#include "tilec/Tile/Contains.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace tilec {
#define GEN_PASS_DEF_COARSENMASKS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

/// As many elements as an access of 16 bytes moves at most.
static constexpr int64_t mostElements = 16;

/// How many elements side by side are compared alike; 1 where that is not known.
static int64_t evenLength(arith::CmpIOp op, const IndexTileFacts &facts) {
  auto type = dyn_cast<RankedTensorType>(op.getLhs().getType());
  if (!type)
    return 1;
  for (int64_t length = mostElements; length > 1; length /= 2)
    for (unsigned dim = 0; dim < type.getRank(); ++dim)
      if (type.getDimSize(dim) % length == 0 && facts.isEvenComparison(op, dim, length))
        return length;
  return 1;
}

static void coarsen(arith::CmpIOp op, int64_t length) {
  bool leftCounts = op.getPredicate() == arith::CmpIPredicate::slt ||
                    op.getPredicate() == arith::CmpIPredicate::sge;
  OpOperand &position = leftCounts ? op.getLhsMutable() : op.getRhsMutable();
  auto type = cast<RankedTensorType>(position.get().getType());
  OpBuilder builder(op);
  Attribute mask = builder.getIntegerAttr(type.getElementType(), -length);
  Value kept = arith::ConstantOp::create(builder, op.getLoc(),
                                         DenseElementsAttr::get(type, mask));
  position.set(arith::AndIOp::create(builder, op.getLoc(), position.get(), kept));
}

namespace {

struct CoarsenMasks : tilec::impl::CoarsenMasksBase<CoarsenMasks> {
  void runOnOperation() override {
    if (contains<LoopLikeOpInterface>(getOperation()))
      return;
    IndexFacts numbers(getOperation());
    IndexTileFacts facts(numbers);
    SmallVector<std::pair<arith::CmpIOp, int64_t>> found;
    getOperation().walk([&](arith::CmpIOp op) {
      if (int64_t length = evenLength(op, facts); length > 1)
        found.push_back({op, length});
    });
    for (auto [op, length] : found)
      coarsen(op, length);
  }
};

} // namespace
