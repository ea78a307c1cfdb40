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
//
// In code that may be approximate (a + b) * c, with a power of two c and a b that is stretched
// from a smaller tile, as a bias is, becomes fma(a, c, b * c) with b * c of the smaller tile:
// the same but for subnormal results.

#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "tilec/Tile/TileOps.h"

#include <climits>

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

/// A power of two, the same for all elements, of not more than so many halvings or doublings
/// that nothing but the smallest and largest numbers is rounded.
bool isPowerOfTwo(Value value) {
  APFloat number(0.0f);
  if (!matchPattern(value, m_ConstantFloat(&number)) || !number.isFiniteNonZero())
    return false;
  int log = number.getExactLog2Abs();
  return log != INT_MIN && std::abs(log) <= 4;
}

struct ScaleBias : OpRewritePattern<arith::MulFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::MulFOp op, PatternRewriter &rewriter) const override {
    auto sum = op.getLhs().getDefiningOp<arith::AddFOp>();
    constexpr auto approximate = arith::FastMathFlags::afn;
    if (!sum || !sum->hasOneUse() || !isPowerOfTwo(op.getRhs()) ||
        !bitEnumContainsAll(op.getFastmath() & sum.getFastmath(), approximate))
      return failure();
    for (auto [a, b] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}})
      if (auto stretched = b.getDefiningOp<tile::BroadcastOp>()) {
        Value bias = scaled(rewriter, stretched.getSource(), op);
        rewriter.setInsertionPoint(op);
        auto wide = tile::BroadcastOp::create(rewriter, op.getLoc(), stretched.getType(), bias);
        rewriter.replaceOpWithNewOp<math::FmaOp>(op, a, op.getRhs(), wide, op.getFastmath());
        rewriter.eraseOp(sum);
        return success();
      }
    return failure();
  }

private:
  /// `bias` times the constant of `op`, computed where the bias itself is.
  static Value scaled(PatternRewriter &rewriter, Value bias, arith::MulFOp op) {
    if (auto reshape = bias.getDefiningOp<tile::ReshapeOp>()) {
      Value inner = scaled(rewriter, reshape.getSource(), op);
      rewriter.setInsertionPoint(reshape);
      return tile::ReshapeOp::create(rewriter, reshape.getLoc(), reshape.getType(), inner);
    }
    APFloat number(0.0f);
    matchPattern(op.getRhs(), m_ConstantFloat(&number));
    rewriter.setInsertionPointAfterValue(bias);
    auto type = cast<ShapedType>(bias.getType());
    auto factor = arith::ConstantOp::create(rewriter, op.getLoc(),
                                            DenseElementsAttr::get(type, number));
    return arith::MulFOp::create(rewriter, op.getLoc(), bias, factor, op.getFastmath());
  }
};

class FuseMultiplyAdd
    : public tilec::impl::FuseMultiplyAddBase<FuseMultiplyAdd> {
  void runOnOperation() override {
    if (getOperation().getNoContract())
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseAdd, FuseSubtract, ScaleBias>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
