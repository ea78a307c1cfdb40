//===- SimplifyTile.cpp - canonical forms; broadcasts sink -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In and out: stage tile. Canonicalisation and common subexpressions, and one
// rule of our own: an elementwise operation whose tiles are all stretched from
// one smaller shape is computed on that shape.
//
//   %a = tile.broadcast %x : tensor<8x1xf32> -> tensor<8x64xf32>
//   %b = tile.splat %s : f32 -> tensor<8x64xf32>
//   %r = arith.mulf %a, %b : tensor<8x64xf32>
// becomes
//   %b = tile.splat %s : f32 -> tensor<8x1xf32>
//   %m = arith.mulf %x, %b : tensor<8x1xf32>
//   %r = tile.broadcast %m : tensor<8x1xf32> -> tensor<8x64xf32>
//
// Splats alone make a scalar operation. It never computes more than before, as
// only whole operands shrink; a tile that is not stretched stops it.

#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tilec/Tile/TileOps.h"

namespace tilec {
#define GEN_PASS_DEF_SIMPLIFYTILE
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace {

/// The one element of a splat, as a scalar: a value, or a constant.
OpFoldResult splatElement(Value value) {
  if (auto splat = value.getDefiningOp<SplatOp>())
    return splat.getValue();
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    if (TypedAttr element = getSplatConstant(constant))
      return element;
  return {};
}

struct SinkBroadcast : RewritePattern {
  explicit SinkBroadcast(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) || !isMemoryEffectFree(op) ||
        op->getNumRegions() != 0)
      return failure();
    auto type = op->getNumResults() == 0
                    ? RankedTensorType()
                    : dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type)
      return failure();

    // The common smaller shape: empty while only splats have been seen.
    RankedTensorType small;
    bool hasRuntimeOperand = false;
    for (Value operand : op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()))
        continue;
      if (OpFoldResult element = splatElement(operand)) {
        hasRuntimeOperand |= isa<Value>(element);
        continue;
      }
      auto broadcast = operand.getDefiningOp<BroadcastOp>();
      if (!broadcast)
        return failure();
      auto source = cast<RankedTensorType>(broadcast.getSource().getType());
      if (small && small.getShape() != source.getShape())
        return failure();
      small = source;
      hasRuntimeOperand = true;
    }
    if (!hasRuntimeOperand) // constants are the folder's
      return failure();
    rewrite(op, small, rewriter);
    return success();
  }

private:
  void rewrite(Operation *op, RankedTensorType small,
               PatternRewriter &rewriter) const {
    Location loc = op->getLoc();
    auto shrunk = [&](Type type) -> Type {
      Type element = getElementTypeOrSelf(type);
      return small ? small.clone(element) : element;
    };
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType())) {
        operands.push_back(operand);
        continue;
      }
      if (auto broadcast = operand.getDefiningOp<BroadcastOp>()) {
        operands.push_back(broadcast.getSource());
        continue;
      }
      OpFoldResult element = splatElement(operand);
      Value scalar = dyn_cast<Value>(element);
      if (!scalar)
        scalar = arith::ConstantOp::create(
            rewriter, loc, cast<TypedAttr>(cast<Attribute>(element)));
      if (small)
        scalar =
            SplatOp::create(rewriter, loc, shrunk(operand.getType()), scalar);
      operands.push_back(scalar);
    }
    OperationState state(loc, op->getName().getStringRef());
    state.addOperands(operands);
    state.addAttributes(op->getAttrs());
    for (Type type : op->getResultTypes())
      state.addTypes(shrunk(type));
    Operation *result = rewriter.create(state);
    SmallVector<Value> stretched;
    for (auto [value, type] :
         llvm::zip_equal(result->getResults(), op->getResultTypes())) {
      if (small)
        stretched.push_back(BroadcastOp::create(rewriter, loc, type, value));
      else
        stretched.push_back(SplatOp::create(rewriter, loc, type, value));
    }
    rewriter.replaceOp(op, stretched);
  }
};

class SimplifyTile : public tilec::impl::SimplifyTileBase<SimplifyTile> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(patterns);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      name.getCanonicalizationPatterns(patterns, context);
    patterns.add<SinkBroadcast>(context);
    // The driver gives up after some rounds on very large kernels; what it has
    // done by then is still right.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
    IRRewriter rewriter(context);
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};

} // namespace
