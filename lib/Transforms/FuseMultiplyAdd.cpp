//===- FuseMultiplyAdd.cpp - a*b+c becomes one operation -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In and out: stage tile. This is where contraction is decided, once: the
// interpreter, the emulator and the GPU all see the same `math.fma`.
//
//   %m = arith.mulf %a, %b            %r = math.fma %a, %b, %c
//   %r = arith.addf %m, %c       →
//
// Also a*b-c = fma(a, b, -c) and c-a*b = fma(-a, b, c). A product with another
// use stays, and is not computed twice. Kernels with `no_contract` are left as
// they are.

#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "tilec/Tile/TileOps.h"

namespace tilec {
#define GEN_PASS_DEF_FUSEMULTIPLYADD
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// The product that `value` is, when nothing else needs it.
arith::MulFOp fusableProduct(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  return product && product->hasOneUse() ? product : arith::MulFOp();
}

struct FuseAdd : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::AddFOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [side, other] :
         {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}})
      if (arith::MulFOp product = fusableProduct(side)) {
        rewriter.replaceOpWithNewOp<math::FmaOp>(
            op, product.getLhs(), product.getRhs(), other, op.getFastmath());
        rewriter.eraseOp(product);
        return success();
      }
    return failure();
  }
};

struct FuseSubtract : OpRewritePattern<arith::SubFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SubFOp op,
                                PatternRewriter &rewriter) const override {
    arith::FastMathFlags flags = op.getFastmath();
    auto negate = [&](Value value) -> Value {
      return arith::NegFOp::create(rewriter, op.getLoc(), value, flags);
    };
    if (arith::MulFOp product = fusableProduct(op.getLhs())) {
      rewriter.replaceOpWithNewOp<math::FmaOp>(
          op, product.getLhs(), product.getRhs(), negate(op.getRhs()), flags);
      rewriter.eraseOp(product);
      return success();
    }
    if (arith::MulFOp product = fusableProduct(op.getRhs())) {
      rewriter.replaceOpWithNewOp<math::FmaOp>(
          op, negate(product.getLhs()), product.getRhs(), op.getLhs(), flags);
      rewriter.eraseOp(product);
      return success();
    }
    return failure();
  }
};

class FuseMultiplyAdd
    : public tilec::impl::FuseMultiplyAddBase<FuseMultiplyAdd> {
  void runOnOperation() override {
    if (getOperation().getNoContract())
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseAdd, FuseSubtract>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
