//===- ScaleMaxima.cpp - factors behind the maximum of a row ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In and out: stage tile, before contraction. Attention scales its scores, masks them, and
// takes their maximum from them:
//
//   s = where(mask, x * c, -inf);  m = max(s, axis: 1);  p = exp2(s - m)
//
// Where c is positive, the largest of the products is that of the largest x, rounded in
// the same way, so elements need not be multiplied for it:
//
//   y = where(mask, x, -inf);  m = max(y, axis: 1) * c;  p = exp2(y * c - m)
//
// The product that is left becomes one operation with the difference (FuseMultiplyAdd). c is
// positive if it is a constant, or a scalar that `requires` says is, or a multiple of that.
// Only in `fast` code: elsewhere e^(s - max s) is cheaper where it is known not to exceed 1
// (BoundPowers), which y * c - m, rounded once, may do.
//
//===----------------------------------------------------------------------===//

#include "Combiner.h"

#include "tilec/Tile/Remarks.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace tilec {
#define GEN_PASS_DEF_SCALEMAXIMA
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// The number that all elements of `value` are, if it is a constant.
static std::optional<APFloat> constantOf(Value value) {
  APFloat number(0.0f);
  if (matchPattern(value, m_ConstantFloat(&number)))
    return number;
  return std::nullopt;
}

/// Whether the kernel assumes, for all of its code, `scalar > c` or `scalar >= c` with a c
/// that makes it positive.
static bool isAssumedPositive(Value scalar) {
  auto isAssumed = [](Operation *user) {
    return isa<tile::AssumeOp>(user) && isa<tile::KernelOp>(user->getParentOp());
  };
  return llvm::any_of(scalar.getUsers(), [&](Operation *user) {
    auto compare = dyn_cast<arith::CmpFOp>(user);
    if (!compare || compare.getLhs() != scalar || llvm::none_of(compare->getUsers(), isAssumed))
      return false;
    std::optional<APFloat> bound = constantOf(compare.getRhs());
    if (!bound || bound->isNaN() || (bound->isNegative() && !bound->isZero()))
      return false;
    return compare.getPredicate() == arith::CmpFPredicate::OGT ||
           (compare.getPredicate() == arith::CmpFPredicate::OGE && !bound->isZero());
  });
}

/// Whether `factor`, a scalar, a splat or a constant, is positive and not rounded to zero.
static bool isPositive(Value factor) {
  if (auto splat = factor.getDefiningOp<tile::SplatOp>())
    return isPositive(splat.getValue());
  if (std::optional<APFloat> number = constantOf(factor))
    return number->isFiniteNonZero() && !number->isNegative();
  if (isa<RankedTensorType>(factor.getType()))
    return false;
  if (auto product = factor.getDefiningOp<arith::MulFOp>())
    for (auto [part, other] : {std::pair(product.getLhs(), product.getRhs()),
                               {product.getRhs(), product.getLhs()}}) {
      std::optional<APFloat> number = constantOf(part);
      if (number && number->isFinite() && !(*number < APFloat::getOne(number->getSemantics())))
        return isPositive(other);
    }
  return isAssumedPositive(factor);
}

namespace {

/// A tile times a positive number.
struct Scaled {
  arith::MulFOp product;
  Value tile, factor;
};

} // namespace

static std::optional<Scaled> findScaled(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || !isa<RankedTensorType>(product.getType()) ||
      !bitEnumContainsAny(product.getFastmath(), arith::FastMathFlags::afn))
    return std::nullopt;
  if (isPositive(product.getRhs()))
    return Scaled{product, product.getLhs(), product.getRhs()};
  if (isPositive(product.getLhs()))
    return Scaled{product, product.getRhs(), product.getLhs()};
  return std::nullopt;
}

/// Of a factor that is the same everywhere, a tile of another shape.
static Value stretch(OpBuilder &builder, Location loc, Value factor, Type type) {
  auto shape = dyn_cast<RankedTensorType>(type);
  if (auto splat = factor.getDefiningOp<tile::SplatOp>())
    return shape ? tile::SplatOp::create(builder, loc, shape, splat.getValue()).getResult()
                 : splat.getValue();
  FloatAttr number = FloatAttr::get(getElementTypeOrSelf(type), *constantOf(factor));
  TypedAttr all = shape ? TypedAttr(DenseElementsAttr::get(shape, Attribute(number))) : number;
  return arith::ConstantOp::create(builder, loc, all);
}

namespace {

/// where(mask, x * c, -inf) = where(mask, x, -inf) * c
struct ScaleSelected : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp select, PatternRewriter &rewriter) const override {
    std::optional<Scaled> scaled = findScaled(select.getTrueValue());
    std::optional<APFloat> other = constantOf(select.getFalseValue());
    if (!scaled || !scaled->product->hasOneUse() || !other || !other->isInfinity())
      return failure();
    auto unscaled = arith::SelectOp::create(rewriter, select.getLoc(), select.getCondition(),
                                            scaled->tile, select.getFalseValue());
    rewriter.replaceOpWithNewOp<arith::MulFOp>(select, unscaled, scaled->factor,
                                               scaled->product.getFastmath());
    rewriter.eraseOp(scaled->product);
    return success();
  }
};

/// max(x * c) = max(x) * c where at most one sum or difference needs the product besides
struct ScaleReduced : OpRewritePattern<tile::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tile::ReduceOp reduce, PatternRewriter &rewriter) const override {
    if (!isa_and_present<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(
            combiningOp(reduce)))
      return failure();
    std::optional<Scaled> scaled = findScaled(reduce.getSources()[0]);
    if (!scaled)
      return explain(reduce);
    if (scaled->product.getResult().hasNUsesOrMore(3))
      return failure();
    for (Operation *user : scaled->product->getUsers())
      if (user != reduce && !isa<arith::AddFOp, arith::SubFOp>(user))
        return failure();
    rewriter.modifyOpInPlace(reduce, [&] { reduce.getSourcesMutable().assign(scaled->tile); });
    rewriter.setInsertionPointAfter(reduce);
    Value result = reduce.getResult(0);
    Value factor = stretch(rewriter, reduce.getLoc(), scaled->factor, result.getType());
    auto product = arith::MulFOp::create(rewriter, reduce.getLoc(), result, factor,
                                         scaled->product.getFastmath());
    rewriter.replaceAllUsesExcept(result, product, product);
    if (scaled->product->use_empty())
      rewriter.eraseOp(scaled->product);
    return success();
  }

private:
  /// Where it is only the sign that is not known.
  static LogicalResult explain(tile::ReduceOp reduce) {
    Value source = reduce.getSources()[0];
    if (auto select = source.getDefiningOp<arith::SelectOp>())
      source = select.getTrueValue();
    auto product = source.getDefiningOp<arith::MulFOp>();
    if (product && bitEnumContainsAny(product.getFastmath(), arith::FastMathFlags::afn) &&
        llvm::any_of(product.getOperands(), [](Value factor) {
          return isa_and_present<tile::SplatOp>(factor.getDefiningOp());
        }))
      remarkMissed(reduce, "scale-maxima",
                   "every element is multiplied before they are compared, as the factor may be "
                   "negative: `requires` can say that it is above 0.0");
    return failure();
  }
};

class ScaleMaxima : public tilec::impl::ScaleMaximaBase<ScaleMaxima> {
  void runOnOperation() override {
    if (getOperation().getNoContract())
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<ScaleSelected, ScaleReduced>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
