//===- ExpandMath.cpp - elementary functions to arithmetic -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: math operations on f16, bf16, f32 or f64, scalars or vectors. Out: the same
// without those that no chip has an instruction for.
//
//   %y = math.log %x : vector<4xf32>
//     →  about 20 arith and math.fma operations
//   %y = math.exp %x : f32
//     →  %e = llvm.call @tilec.ex2.approx.ftz.f32(%fraction); %y = arith.mulf %e, %scale
//   %y = math.exp %x : f16
//     →  %w = arith.extf %x; (exp of %w); %y = arith.truncf
//   %y = math.log %x fastmath<afn> : f32
//     →  %l = llvm.call @tilec.lg2.approx.f32(%x); %y = arith.mulf %l, %ln2
//
// No library is called: the same operations run on the GPU and in the emulator, so
// results agree to the last bit. Only exp and exp2 in f32 have part of their work done
// by the chip's unit for 2^x, at less than 2 ulp still. The formulas are in Math*.cpp, a
// family a file.
//===----------------------------------------------------------------------===//

#include "HelperCalls.h"
#include "MathExpansions.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilec {
#define GEN_PASS_DEF_EXPANDMATH
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// What backends have instructions for in every format.
bool staysAsItIs(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp, math::TruncOp,
             math::RoundOp, math::RoundEvenOp, math::CopySignOp, math::FmaOp,
             math::SqrtOp, math::CtPopOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::IsNaNOp, math::IsInfOp,
             math::IsFiniteOp, math::IsNormalOp>(op);
}

/// Whether the operation needs a branch or a loop, so that tensors cannot have it.
bool needsControlFlow(Operation *op) {
  return isa<arith::RemFOp, math::SinOp, math::CosOp, math::TanOp>(op);
}

/// The accurate expansion, or null for an operation without one.
Value expandAccurate(MathBuilder &m, Operation *op, ValueRange x) {
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return expandExp(m, x[0]); })
      .Case([&](math::Exp2Op) { return expandExp2(m, x[0]); })
      .Case([&](math::ExpM1Op) { return expandExpm1(m, x[0]); })
      .Case([&](math::LogOp) { return expandLog(m, x[0]); })
      .Case([&](math::Log2Op) { return expandLog2(m, x[0]); })
      .Case([&](math::Log10Op) { return expandLog10(m, x[0]); })
      .Case([&](math::Log1pOp) { return expandLog1p(m, x[0]); })
      .Case([&](math::PowFOp) { return expandPow(m, x[0], x[1]); })
      .Case([&](math::SinOp) { return expandSin(m, x[0]); })
      .Case([&](math::CosOp) { return expandCos(m, x[0]); })
      .Case([&](math::TanOp) { return expandTan(m, x[0]); })
      .Case([&](math::AsinOp) { return expandAsin(m, x[0]); })
      .Case([&](math::AcosOp) { return expandAcos(m, x[0]); })
      .Case([&](math::AtanOp) { return expandAtan(m, x[0]); })
      .Case([&](math::Atan2Op) { return expandAtan2(m, x[0], x[1]); })
      .Case([&](math::SinhOp) { return expandSinh(m, x[0]); })
      .Case([&](math::CoshOp) { return expandCosh(m, x[0]); })
      .Case([&](math::TanhOp) { return expandTanh(m, x[0]); })
      .Case([&](math::ErfOp) { return expandErf(m, x[0]); })
      .Case([&](math::CbrtOp) { return expandCbrt(m, x[0]); })
      .Case([&](math::RsqrtOp) { return expandRsqrt(m, x[0]); })
      .Case([&](arith::RemFOp) { return expandRemainder(m, x[0], x[1]); })
      .Default([](Operation *) { return Value(); });
}

/// Below this many lanes a test of all costs more than it saves.
constexpr int64_t minLanes = 4;

/// Whether |x| <= `limit` in all lanes.
Value allWithin(MathBuilder &m, Value x, double limit) {
  MathBuilder s(m.builder, m.loc, m.builder.getF32Type());
  SmallVector<Value> sizes;
  for (int64_t lane = 0; lane < cast<VectorType>(x.getType()).getNumElements(); ++lane)
    sizes.push_back(s.abs(vector::ExtractOp::create(m.builder, m.loc, x, lane)));
  for (size_t next = 0; next + 1 < sizes.size(); next += 2)
    sizes.push_back(s.max(sizes[next], sizes[next + 1]));
  return s.le(sizes.back(), s.f(limit));
}

/// Whether the result is divided, by what is not known (see ExpandDivision).
bool isDividend(Operation *op) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    auto division = dyn_cast<arith::DivFOp>(user);
    return division && division.getLhs() == op->getResult(0) &&
           division.getFastmath() == arith::FastMathFlags::none;
  });
}

/// e^x in f32: 2^fraction by the unit, times 2^n. Of an ordinary x it is a normal number,
/// and n is added to its exponent.
Value powerByUnit(MathBuilder &m, HelperCalls &helpers, Value x, bool isOrdinary) {
  UnitPower power = splitExp(m, x, isOrdinary);
  Value unit = helpers.call("tilec.ex2.approx.ftz.f32", power.fraction);
  if (isOrdinary)
    return m.fromBits(m.iadd(m.bits(unit), power.exponent));
  return m.mul(unit, m.fromBits(m.iadd(power.exponent, m.i(0x3f800000))));
}

/// 2^106 e^x for x <= 0. Of -inf the unit gives 0 and n is 0, too.
Value largePowerByUnit(MathBuilder &m, HelperCalls &helpers, Value x) {
  UnitPower power = splitLargeExp(m, x);
  Value unit = helpers.call("tilec.ex2.approx.ftz.f32", power.fraction);
  return m.fromBits(m.iadd(m.bits(unit), power.exponent));
}

/// The same for all x. Whether all lanes are ordinary is asked where they are divided,
/// which has to know, too; not of powers that are at most 1, of which division asks less.
Value expandExpByUnit(MathBuilder &m, HelperCalls &helpers, Operation *op, Value x) {
  auto vector = dyn_cast<VectorType>(x.getType());
  if (op->hasAttr(shareAttrName))
    return largePowerByUnit(m, helpers, x);
  if (op->hasAttr(atMostOneAttrName)) {
    Value power = powerByUnit(m, helpers, x, /*isOrdinary=*/false);
    power.getDefiningOp()->setAttr(atMostOneAttrName, m.builder.getUnitAttr());
    return power;
  }
  if (!vector || vector.getNumElements() < minLanes || !isDividend(op))
    return powerByUnit(m, helpers, x, /*isOrdinary=*/false);
  Value areOrdinary = allWithin(m, x, ordinaryExponent);
  auto choice = scf::IfOp::create(m.builder, m.loc, x.getType(), areOrdinary, true);
  for (bool isOrdinary : {true, false}) {
    OpBuilder::InsertionGuard guard(m.builder);
    m.builder.setInsertionPointToEnd(isOrdinary ? choice.thenBlock() : choice.elseBlock());
    Value value = powerByUnit(m, helpers, x, isOrdinary);
    scf::YieldOp::create(m.builder, m.loc, value);
  }
  choice->setAttr(ordinaryAttrName, m.builder.getUnitAttr());
  return choice.getResult(0);
}

/// 2^x in f32 by the unit, which leaves out subnormal results: those are 2^(x + 24), whose
/// operand is exact, times 2^-24. (The unit's own form for them squares 2^(x/2), and its
/// error with it.)
Value expandExp2ByUnit(MathBuilder &m, HelperCalls &helpers, Value x) {
  Value isSmall = m.lt(x, m.f(-126.0));
  Value power = helpers.call("tilec.ex2.approx.ftz.f32", m.select(isSmall, m.add(x, m.f(24.0)), x));
  return m.mul(power, m.select(isSmall, m.f(0x1p-24), m.one()));
}

/// exp and exp2 in f32 by the unit for 2^x, for all operands and accurate; null for
/// other functions. Not on tensors, as helpers take scalars.
Value expandByUnit(MathBuilder &m, ModuleOp module, Operation *op, Value x) {
  bool isExp = isa<math::ExpOp>(op);
  if ((!isExp && !isa<math::Exp2Op>(op)) || m.isDouble || isa<TensorType>(x.getType()))
    return {};
  HelperCalls helpers(module, m);
  if (!isExp)
    return expandExp2ByUnit(m, helpers, x);
  return expandExpByUnit(m, helpers, op, x);
}

/// What `x` is a multiple of, and how many times; else `x` and 1.
std::pair<Value, double> takeFactor(Value x) {
  APFloat factor(1.0f);
  auto product = x.getDefiningOp<arith::MulFOp>();
  if (product && matchPattern(product.getRhs(), m_ConstantFloat(&factor)))
    return {product.getLhs(), factor.convertToDouble()};
  return {x, 1};
}

/// The approximate expansion of an f32 operation; null where there is none that
/// is better than the accurate one.
Value expandFast(MathBuilder &m, ModuleOp module, Operation *op, ValueRange x) {
  HelperCalls helpers(module, m);
  auto flags = arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::afn);
  // Flushes subnormal results, for a quarter of the instructions.
  auto exp2 = [&](Value v) { return helpers.call("tilec.ex2.approx.ftz.f32", v); };
  auto log2 = [&](Value v) { return helpers.call("tilec.lg2.approx.f32", v); };
  Value log2e = m.f(0x1.715476p+0);
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return exp2(m.mul(x[0], log2e)); })
      .Case([&](math::Exp2Op) { return exp2(x[0]); })
      .Case([&](math::LogOp) { return m.mul(log2(x[0]), m.f(0x1.62e430p-1)); })
      .Case([&](math::Log2Op) { return log2(x[0]); })
      .Case([&](math::Log10Op) { return m.mul(log2(x[0]), m.f(0x1.344136p-2)); })
      .Case([&](math::RsqrtOp) { return helpers.call("tilec.rsqrt.approx.f32", x[0]); })
      .Case([&](math::SinOp) -> Value {
        return math::SinOp::create(m.builder, m.loc, x[0], flags);
      })
      .Case([&](math::CosOp) -> Value {
        return math::CosOp::create(m.builder, m.loc, x[0], flags);
      })
      .Case([&](math::TanhOp) -> Value {
        return math::TanhOp::create(m.builder, m.loc, x[0], flags);
      })
      .Case([&](math::ErfOp) -> Value {
        // The odd polynomial is nearest to the inverse of tanh at erf(x); it grows for
        // all x, so beyond the range that was fitted tanh of it is 1. A factor of x becomes
        // part of its coefficients.
        auto [v, scale] = takeFactor(x[0]);
        Value factor = m.fma(m.mul(v, v), m.f(0x1.9c81c0p-4 * scale * scale * scale),
                             m.f(0x1.20f77ap+0 * scale));
        return math::TanhOp::create(m.builder, m.loc, m.mul(v, factor), flags);
      })
      .Default([](Operation *) { return Value(); });
}

/// One operation to replace.
class Expansion {
public:
  Expansion(ModuleOp module, Operation *op) : module(module), op(op), builder(op) {}

  LogicalResult run() {
    Type type = op->getResult(0).getType();
    Type element = getElementTypeOrSelf(type);
    if (isa<TensorType>(type) && needsControlFlow(op))
      return op->emitError("is not expanded on tensors");
    if (!element.isF16() && !element.isBF16() && !element.isF32() && !element.isF64())
      return op->emitError("has no expansion on ") << type;

    bool narrow = element.getIntOrFloatBitWidth() == 16;
    Type computed = narrow ? withElement(type, builder.getF32Type()) : type;
    SmallVector<Value> operands(op->getOperands());
    if (narrow)
      for (Value &operand : operands)
        operand = arith::ExtFOp::create(builder, op->getLoc(), computed, operand);

    MathBuilder m(builder, op->getLoc(), computed);
    Value result;
    if (allowsApproximation() && !m.isDouble)
      result = expandFast(m, module, op, operands);
    if (!result)
      result = expandByUnit(m, module, op, operands[0]);
    if (!result)
      result = expandAccurate(m, op, operands);
    if (!result)
      return op->emitError("has no expansion");
    if (narrow)
      result = arith::TruncFOp::create(builder, op->getLoc(), type, result);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return success();
  }

private:
  static Type withElement(Type type, Type element) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped ? Type(shaped.clone(element)) : element;
  }
  bool allowsApproximation() {
    auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
    return fast && arith::bitEnumContainsAll(fast.getFastMathFlagsAttr().getValue(),
                                             arith::FastMathFlags::afn);
  }

  ModuleOp module;
  Operation *op;
  OpBuilder builder;
};

struct ExpandMath : tilec::impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> worklist;
    module->walk([&](Operation *op) {
      bool candidate = isa<arith::RemFOp>(op) || isa<math::MathDialect>(op->getDialect());
      if (candidate && !staysAsItIs(op))
        worklist.push_back(op);
    });
    bool failed = false;
    for (Operation *op : worklist)
      failed |= Expansion(module, op).run().failed();
    if (failed)
      signalPassFailure();
  }
};

} // namespace
