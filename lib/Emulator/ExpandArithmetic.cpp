//===- ExpandArithmetic.cpp - NVVM intrinsics that are mere arithmetic -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  a call of an `llvm.nvvm.*` intrinsic, or of a helper named like one
//      (`tilec.lg2.approx.f32`). Out: the same value by plain IR, which the host's code
//      generator knows.
//
// Approximate instructions (ex2.approx, rsqrt.approx …) are computed accurately:
// results agree with the GPU to the accuracy that PTX promises for them. A flush of
// subnormal operands and results (.ftz) is done, as whoever uses such a form has to have
// an answer for it.
//
//===--------------------------------------------------------------------------===//
#include "RewriteForHost.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using namespace tilec::emulator;

namespace {

/// The call being expanded: its name in words, and a builder before it.
class Expansion {
public:
  explicit Expansion(CallInst *call) : call(call), b(call), type(call->getType()) {
    StringRef name = call->getCalledFunction()->getName();
    if (!name.consume_front("llvm.nvvm."))
      name.consume_front("tilec."); // helpers: tilec.ex2.approx.ftz.f32, …
    name.split(words, '.');
  }

  /// The replacement, or null when the intrinsic is not arithmetic.
  Value *expand();

private:
  StringRef word(unsigned i) const { return i < words.size() ? words[i] : StringRef(); }
  bool has(StringRef w) const { return is_contained(words, w); }
  Value *arg(unsigned i) { return call->getArgOperand(i); }

  Value *roundedFloat();
  Value *flushed(Value *x);
  Value *minMax();
  Value *roundings();
  Value *floatToInteger();
  Value *convertToInteger();
  Value *integerToFloat();
  Value *narrow();
  Value *tf32();
  Value *integers();
  Value *bits();

  Value *unary(Intrinsic::ID id, Value *x) { return b.CreateUnaryIntrinsic(id, x); }
  Value *finish(Value *x);
  Constant *real(Type *t, double v) { return ConstantFP::get(t, v); }

  CallInst *call;
  IRBuilder<> b;
  Type *type;
  SmallVector<StringRef, 8> words;
};

/// Applies .relu and .sat.
Value *Expansion::finish(Value *x) {
  Type *t = x->getType();
  if (has("relu"))
    x = b.CreateBinaryIntrinsic(Intrinsic::maximum, x, real(t, 0));
  if (has("sat") || word(0) == "saturate") {
    // NaN becomes zero.
    x = b.CreateBinaryIntrinsic(Intrinsic::maximumnum, x, real(t, 0));
    x = b.CreateBinaryIntrinsic(Intrinsic::minimumnum, x, real(t, 1));
  }
  return x;
}

/// `x`, or a zero of its sign for a subnormal, in the forms that flush.
Value *Expansion::flushed(Value *x) {
  if (!has("ftz"))
    return x;
  Value *zero = b.CreateCopySign(real(x->getType(), 0), x);
  double least = x->getType()->getScalarType()->isDoubleTy() ? 0x1p-1022 : 0x1p-126;
  Value *isTiny = b.CreateFCmpOLT(unary(Intrinsic::fabs, x), real(x->getType(), least));
  return b.CreateSelect(isTiny, zero, x);
}

Value *Expansion::roundedFloat() {
  StringRef op = word(0);
  bool exact = has("rn") || has("approx") || has("full");
  if (op == "sqrt" && (exact || word(1) == "f"))
    return unary(Intrinsic::sqrt, arg(0));
  if (op == "rsqrt" && exact)
    return b.CreateFDiv(real(type, 1), unary(Intrinsic::sqrt, arg(0)));
  if (op == "rcp" && exact)
    return flushed(b.CreateFDiv(real(type, 1), flushed(arg(0))));
  if (op == "div" && exact)
    return b.CreateFDiv(arg(0), arg(1));
  if (op == "ex2" && exact)
    return flushed(unary(Intrinsic::exp2, flushed(arg(0))));
  if (op == "lg2" && exact)
    return unary(Intrinsic::log2, arg(0));
  if (op == "sin" && exact)
    return unary(Intrinsic::sin, arg(0));
  if (op == "cos" && exact)
    return unary(Intrinsic::cos, arg(0));
  if (op == "tanh" && exact)
    return unary(Intrinsic::tanh, arg(0));
  if (op == "fma" && has("rn"))
    return finish(b.CreateIntrinsic(Intrinsic::fma, {type}, {arg(0), arg(1), arg(2)}));
  if (op == "add" && has("rn"))
    return finish(b.CreateFAdd(arg(0), arg(1)));
  if (op == "sub" && has("rn"))
    return finish(b.CreateFSub(arg(0), arg(1)));
  if (op == "mul" && has("rn"))
    return finish(b.CreateFMul(arg(0), arg(1)));
  return nullptr;
}

Value *Expansion::minMax() {
  bool isMin = word(0) == "fmin";
  if ((!isMin && word(0) != "fmax") || has("xorsign"))
    return nullptr;
  Intrinsic::ID id = has("nan") ? (isMin ? Intrinsic::minimum : Intrinsic::maximum)
                                : (isMin ? Intrinsic::minimumnum : Intrinsic::maximumnum);
  // The bf16 forms of old carry their bits in integers.
  if (type->isIntOrIntVectorTy()) {
    Type *t = b.getBFloatTy();
    if (!type->isIntegerTy(16))
      t = FixedVectorType::get(t, 2);
    Value *r = b.CreateBinaryIntrinsic(id, b.CreateBitCast(arg(0), t),
                                       b.CreateBitCast(arg(1), t));
    return b.CreateBitCast(r, type);
  }
  return b.CreateBinaryIntrinsic(id, arg(0), arg(1));
}

Value *Expansion::roundings() {
  StringRef op = word(0);
  if (op == "ceil")
    return unary(Intrinsic::ceil, arg(0));
  if (op == "floor")
    return unary(Intrinsic::floor, arg(0));
  if (op == "trunc")
    return unary(Intrinsic::trunc, arg(0));
  if (op == "round")
    return unary(Intrinsic::roundeven, arg(0));
  if (op == "fabs")
    return unary(Intrinsic::fabs, arg(0));
  if (op == "saturate")
    return finish(arg(0));
  return nullptr;
}

/// cvt.{rni,rzi}.{s,u}{8,16,32}.f32, extended to the result's type.
Value *Expansion::convertToInteger() {
  unsigned width;
  if (word(0) != "cvt" || (word(1) != "rni" && word(1) != "rzi") || word(3) != "f32" ||
      word(2).drop_front().getAsInteger(10, width))
    return nullptr;
  bool isUnsigned = word(2).starts_with("u");
  Value *x = word(1) == "rni" ? unary(Intrinsic::roundeven, arg(0)) : arg(0);
  Value *result =
      b.CreateIntrinsic(isUnsigned ? Intrinsic::fptoui_sat : Intrinsic::fptosi_sat,
                        {b.getIntNTy(width), x->getType()}, {x});
  return isUnsigned ? b.CreateZExt(result, type) : b.CreateSExt(result, type);
}

Value *Expansion::floatToInteger() {
  // {f,d}2{i,ui,ll,ull}.{rn,rm,rp,rz}
  StringRef op = word(0);
  if (op != "f2i" && op != "f2ui" && op != "f2ll" && op != "f2ull" && op != "d2i" &&
      op != "d2ui" && op != "d2ll" && op != "d2ull")
    return nullptr;
  Value *x = arg(0);
  if (has("rn"))
    x = unary(Intrinsic::roundeven, x);
  else if (has("rm"))
    x = unary(Intrinsic::floor, x);
  else if (has("rp"))
    x = unary(Intrinsic::ceil, x);
  else if (!has("rz"))
    return nullptr;
  bool isUnsigned = op.drop_front(2).starts_with("u");
  return b.CreateIntrinsic(isUnsigned ? Intrinsic::fptoui_sat : Intrinsic::fptosi_sat,
                           {type, x->getType()}, {x});
}

Value *Expansion::integerToFloat() {
  StringRef op = word(0);
  if (!has("rn") || (!op.ends_with("2f") && !op.ends_with("2d")))
    return nullptr;
  StringRef from = op.drop_back(2);
  if (from == "i" || from == "ll")
    return b.CreateSIToFP(arg(0), type);
  if (from == "ui" || from == "ull")
    return b.CreateUIToFP(arg(0), type);
  if (from == "d")
    return b.CreateFPTrunc(arg(0), type);
  return nullptr;
}

Value *Expansion::narrow() {
  StringRef op = word(0);
  if (!has("rn") || has("satfinite"))
    return nullptr;
  if (op == "f2bf16" || op == "f2f16")
    return finish(b.CreateFPTrunc(arg(0), type));
  if (op == "ff2bf16x2" || op == "ff2f16x2") {
    // The first operand is the upper half.
    Type *element = cast<VectorType>(type)->getElementType();
    Value *v = PoisonValue::get(type);
    v = b.CreateInsertElement(v, b.CreateFPTrunc(arg(1), element), uint64_t(0));
    v = b.CreateInsertElement(v, b.CreateFPTrunc(arg(0), element), uint64_t(1));
    if (has("relu"))
      v = b.CreateBinaryIntrinsic(Intrinsic::maximum, v, Constant::getNullValue(type));
    return v;
  }
  if (op == "f2h")
    return b.CreateBitCast(b.CreateFPTrunc(arg(0), b.getHalfTy()), type);
  if (op == "bf2h")
    return b.CreateBitCast(
        b.CreateFPTrunc(b.CreateFPExt(arg(0), b.getFloatTy()), b.getHalfTy()), type);
  return nullptr;
}

Value *Expansion::tf32() {
  if (word(0) != "f2tf32" || has("satfinite"))
    return nullptr;
  Value *x = finish(arg(0));
  Value *bits = b.CreateBitCast(x, b.getInt32Ty());
  Value *rounded = bits;
  if (has("rna"))
    rounded = b.CreateAdd(bits, b.getInt32(0x1000));
  else if (has("rn"))
    rounded = b.CreateAdd(b.CreateAdd(bits, b.getInt32(0xFFF)),
                          b.CreateAnd(b.CreateLShr(bits, 13), 1));
  Value *isNumber = b.CreateFCmpORD(x, x);
  rounded = b.CreateAnd(rounded, b.getInt32(0xFFFFE000));
  return b.CreateSelect(isNumber, rounded, b.getInt32(0x7FFFFFFF));
}

Value *Expansion::integers() {
  StringRef op = word(0), suffix = word(1);
  bool isUnsigned = suffix.starts_with("u");
  if (op == "mulhi") {
    unsigned width = type->getIntegerBitWidth();
    Type *wide = b.getIntNTy(2 * width);
    auto extend = [&](Value *v) {
      return isUnsigned ? b.CreateZExt(v, wide) : b.CreateSExt(v, wide);
    };
    Value *product = b.CreateMul(extend(arg(0)), extend(arg(1)));
    return b.CreateTrunc(b.CreateLShr(product, width), type);
  }
  if (op == "mul24") {
    auto low = [&](Value *v) {
      Value *shifted = b.CreateShl(v, 8);
      return isUnsigned ? b.CreateLShr(shifted, 8) : b.CreateAShr(shifted, 8);
    };
    return b.CreateMul(low(arg(0)), low(arg(1)));
  }
  if (op == "sad") {
    Value *less = isUnsigned ? b.CreateICmpULT(arg(0), arg(1))
                             : b.CreateICmpSLT(arg(0), arg(1));
    Value *difference = b.CreateSelect(less, b.CreateSub(arg(1), arg(0)),
                                       b.CreateSub(arg(0), arg(1)));
    return b.CreateAdd(difference, arg(2));
  }
  if ((op == "fshl" || op == "fshr") && suffix == "clamp") {
    Type *wide = b.getInt64Ty();
    Value *both = b.CreateOr(b.CreateShl(b.CreateZExt(arg(0), wide), 32),
                             b.CreateZExt(arg(1), wide));
    Value *amount = b.CreateZExt(
        b.CreateBinaryIntrinsic(Intrinsic::umin, arg(2), b.getInt32(32)), wide);
    if (op == "fshr")
      return b.CreateTrunc(b.CreateLShr(both, amount), type);
    return b.CreateTrunc(b.CreateLShr(b.CreateShl(both, amount), 32), type);
  }
  return nullptr;
}

Value *Expansion::bits() {
  StringRef op = word(0);
  if (op == "d2i") {
    Value *whole = b.CreateBitCast(arg(0), b.getInt64Ty());
    if (word(1) == "hi")
      return b.CreateTrunc(b.CreateLShr(whole, 32), type);
    if (word(1) == "lo")
      return b.CreateTrunc(whole, type);
    return nullptr;
  }
  if (op == "lohi" && word(1) == "i2d") {
    Value *low = b.CreateZExt(arg(0), b.getInt64Ty());
    Value *high = b.CreateShl(b.CreateZExt(arg(1), b.getInt64Ty()), 32);
    return b.CreateBitCast(b.CreateOr(low, high), type);
  }
  if (op == "move")
    return arg(0);
  if (op == "cvt" && word(1) == "u32" && word(2) == "u16")
    return b.CreateZExt(arg(0), type);
  if (op == "internal" && word(1) == "addrspace")
    return b.CreateAddrSpaceCast(arg(0), type);
  if (op == "reflect")
    return Constant::getNullValue(type);
  if (op == "neg") {
    if (!type->isIntegerTy())
      return b.CreateFNeg(arg(0));
    return b.CreateXor(arg(0), ConstantInt::get(type, type->isIntegerTy(16) ? 0x8000
                                                                            : 0x80008000));
  }
  if (op == "ldu" && word(1) == "global")
    return b.CreateLoad(type, arg(0));
  return nullptr;
}

Value *Expansion::expand() {
  for (auto member : {&Expansion::roundedFloat, &Expansion::minMax,
                      &Expansion::bits, &Expansion::floatToInteger,
                      &Expansion::convertToInteger,
                      &Expansion::integerToFloat, &Expansion::narrow, &Expansion::tf32,
                      &Expansion::integers, &Expansion::roundings})
    if (Value *result = (this->*member)())
      return result;
  return nullptr;
}

} // namespace

bool tilec::emulator::expandArithmetic(CallInst *call) {
  Value *result = Expansion(call).expand();
  if (!result)
    return false;
  call->replaceAllUsesWith(result);
  call->eraseFromParent();
  return true;
}
