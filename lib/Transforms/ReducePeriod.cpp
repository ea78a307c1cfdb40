//===- ReducePeriod.cpp - angles to a quarter turn -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: x. Out: x - q pi/2 as a pair, and q modulo 4.
//
// Small x (below 1e5 in f32, 2^30 in f64): q = round(x 2/pi), and q times the three
// parts of pi/2 is subtracted by fma. The first difference is exact.
//
// Large x = M 2^e with an integer M: the method of Payne and Hanek. Of the binary
// digits of 2/pi only a window matters: digits before it contribute multiples of 4
// to x 2/pi, digits after it nothing visible. M times the window, as an integer, is
// x 2/pi modulo 4: two bits of quadrant, then the fraction of a quarter turn.
//
//        2/pi = 0.|A2F9836E|4E441529|FC2757D1|F534DDC0|DB629599|…
//                     ^ position e - 2       window
//
// The window is cut from a table of constants by selects on the bits of its word
// index, so that no lane addresses memory.
//===----------------------------------------------------------------------===//

#include "ReducePeriod.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilec;

namespace {

/// Digits of 2/pi after the point, in words of 64 bits; a word of zeros before.
constexpr uint64_t twoOverPi[] = {
    0,
    0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484,
    0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B,
    0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB, 0xF0CFBC209AF4361D};

/// Word `index` of the table above in words of the builder's width.
int64_t tableWord(const MathBuilder &m, unsigned index) {
  if (m.isDouble)
    return static_cast<int64_t>(twoOverPi[index]);
  // 32-bit words: one word of zeros, then the halves.
  unsigned half = index + 1;
  uint64_t word = twoOverPi[half / 2];
  return static_cast<int32_t>(half % 2 ? word & 0xFFFFFFFF : word >> 32);
}

/// `count` words of the table from word `index` on, where index < 2^indexBits.
SmallVector<Value> cutWords(MathBuilder &m, Value index, int indexBits, int count) {
  SmallVector<Value> words;
  for (int k = 0; k < (1 << indexBits) - 1 + count; ++k) {
    bool inTable = !m.isDouble || k < int(std::size(twoOverPi));
    words.push_back(m.i(inTable ? tableWord(m, k) : 0));
  }
  for (int bit = indexBits - 1; bit >= 0; --bit) {
    int distance = 1 << bit;
    Value move = m.ieq(m.iand(index, m.i(distance)), m.i(distance));
    SmallVector<Value> next;
    for (int k = 0; k < distance - 1 + count; ++k)
      next.push_back(m.select(move, words[k + distance], words[k]));
    words = next;
  }
  return words;
}

/// Mantissa as an integer, and the window of 2/pi that its exponent selects.
struct Window {
  Value mantissa;
  SmallVector<Value> words; ///< most significant first
};

Window cutWindow(MathBuilder &m, Value x, int words) {
  int width = m.isDouble ? 64 : 32;
  int indexBits = m.isDouble ? 5 : 3;
  Value bits = m.bits(m.abs(x));
  Value lead = m.i(int64_t(1) << m.mantissaBits());
  Value fraction = m.iand(bits, m.i((int64_t(1) << m.mantissaBits()) - 1));
  Value exponent = m.isub(m.shr(bits, m.i(m.mantissaBits())),
                          m.i(m.bias() + m.mantissaBits()));
  // Position e - 2 after the point; the table begins one word before the point.
  Value position = m.iadd(exponent, m.i(width - 2));
  Value index = m.shr(position, m.i(m.isDouble ? 6 : 5));
  Value offset = m.iand(position, m.i(width - 1));
  SmallVector<Value> cut = cutWords(m, index, indexBits, words + 1);
  // Funnel shift: two shifts for the lower part, so that offset 0 is no case.
  Window window{m.ior(fraction, lead), {}};
  Value rest = m.isub(m.i(width - 1), offset);
  for (int k = 0; k < words; ++k)
    window.words.push_back(m.ior(m.shl(cut[k], offset),
                                 m.shr(m.shr(cut[k + 1], m.i(1)), rest)));
  return window;
}

/// f32: 64 bits of x 2/pi modulo 4, the fraction to f64, the product rounded twice.
ReducedAngle reduceLargeSingle(MathBuilder &m, Value x) {
  Window window = cutWindow(m, x, 3);
  OpBuilder &b = m.builder;
  Location loc = m.loc;
  auto typeLike = [&](Type element) -> Type {
    auto shaped = dyn_cast<ShapedType>(m.intType);
    return shaped ? Type(shaped.clone(element)) : element;
  };
  MathBuilder wide(b, loc, typeLike(b.getF64Type()));
  auto extend = [&](Value v) -> Value {
    return arith::ExtUIOp::create(b, loc, wide.intType, v);
  };
  Value mantissa = extend(window.mantissa);
  Value high = wide.shl(wide.imul(mantissa, extend(window.words[0])), wide.i(32));
  Value middle = wide.imul(mantissa, extend(window.words[1]));
  Value low = wide.shr(wide.imul(mantissa, extend(window.words[2])), wide.i(32));
  Value turns = wide.iadd(wide.iadd(high, middle), low);

  Value q = wide.shr(wide.iadd(turns, wide.i(int64_t(1) << 61)), wide.i(62));
  Value fraction = wide.isub(turns, wide.shl(q, wide.i(62)));
  Value angle = wide.mul(wide.toFloat(fraction), wide.f(0x1.921fb54442d18p-62));
  Value r = arith::TruncFOp::create(b, loc, m.floatType, angle);
  Value back = arith::ExtFOp::create(b, loc, wide.floatType, r);
  Value rest = arith::TruncFOp::create(b, loc, m.floatType, wide.sub(angle, back));
  return {r, rest, arith::TruncIOp::create(b, loc, m.intType, q)};
}

/// f64: 128 bits of x 2/pi modulo 4; the product with pi/2 as a pair.
ReducedAngle reduceLargeDouble(MathBuilder &m, Value x) {
  Window window = cutWindow(m, x, 3);
  auto product = [&](Value a, Value b) {
    return arith::MulUIExtendedOp::create(m.builder, m.loc, a, b);
  };
  auto low = product(window.mantissa, window.words[2]);
  auto middle = product(window.mantissa, window.words[1]);
  // turns = high : rest, modulo 2^128 (in units of 2^-126 quarter turns).
  Value rest = m.iadd(middle.getLow(), low.getHigh());
  Value overflow = arith::CmpIOp::create(m.builder, m.loc, arith::CmpIPredicate::ult,
                                         rest, low.getHigh());
  Value carry = m.select(overflow, m.i(1), m.i(0));
  Value high = m.iadd(m.iadd(m.imul(window.mantissa, window.words[0]),
                             middle.getHigh()),
                      carry);
  Value q = m.shr(m.iadd(high, m.i(int64_t(1) << 61)), m.i(62));
  high = m.isub(high, m.shl(q, m.i(62)));

  // Exact parts of 51, 53 and 22 bits: high without its last 11 bits; those and the
  // first 42 of rest; the other 22, which count where x is so close to a multiple of
  // pi/2 that nothing is left of the first part (61 bits of zeros, at the worst).
  Value last = m.iand(high, m.i(0x7FF));
  Value a = m.mul(m.toFloat(m.isub(high, last)), m.f(0x1p-62));
  Value b = m.mul(m.toFloat(m.ior(m.shl(last, m.i(42)), m.shr(rest, m.i(22)))),
                  m.f(0x1p-104));
  Value tail = m.mul(m.toFloat(m.iand(rest, m.i(0x3FFFFF))), m.f(0x1p-126));
  MathBuilder::Pair fraction = m.fastTwoSum(a, b);
  fraction.low = m.add(fraction.low, tail);
  MathBuilder::Pair angle = m.twoProduct(fraction.high, m.f(0x1.921fb54442d18p+0));
  Value correction = m.fma(fraction.high, m.f(0x1.1a62633145c07p-54),
                           m.mul(fraction.low, m.f(0x1.921fb54442d18p+0)));
  MathBuilder::Pair sum = m.fastTwoSum(angle.high, m.add(angle.low, correction));
  return {sum.high, sum.low, q};
}

ReducedAngle reduceLarge(MathBuilder &m, Value x) {
  ReducedAngle angle = m.isDouble ? reduceLargeDouble(m, x) : reduceLargeSingle(m, x);
  // The computation was for |x|.
  Value negative = m.lt(x, m.zero());
  return {m.select(negative, m.neg(angle.high), angle.high),
          m.select(negative, m.neg(angle.low), angle.low),
          m.select(negative, m.isub(m.i(0), angle.quadrant), angle.quadrant)};
}

ReducedAngle reduceSmall(MathBuilder &m, Value x) {
  MathBuilder::Rounded q =
      m.roundSmall(m.mul(x, m.f(0x1.45f306p-1, 0x1.45f306dc9c883p-1)));
  Value n = m.neg(q.asFloat);
  Value first = m.fma(n, m.f(0x1.921fb6p+0, 0x1.921fb54442d18p+0), x);
  // The second product and its sum with the first difference, exactly: near a
  // multiple of pi/2 they cancel.
  MathBuilder::Pair product =
      m.twoProduct(n, m.f(-0x1.777a5cp-25, 0x1.1a62633145c07p-54));
  MathBuilder::Pair sum = m.twoSum(first, product.high);
  Value low = m.add(sum.low, m.fma(n, m.f(-0x1.ee59dap-50, -0x1.f1976b7ed8fbcp-110),
                                   product.low));
  return {sum.high, low, q.asInt};
}

} // namespace

ReducedAngle tilec::reducePeriod(MathBuilder &m, Value x) {
  ReducedAngle small = reduceSmall(m, x);
  Value large = m.ge(m.abs(x), m.f(1e5, 0x1p30));
  Value any = large;
  if (isa<VectorType>(m.floatType))
    any = vector::ReductionOp::create(m.builder, m.loc, vector::CombiningKind::OR, large);
  auto branch = scf::IfOp::create(
      m.builder, m.loc, any,
      [&](OpBuilder &, Location loc) {
        ReducedAngle angle = reduceLarge(m, x);
        scf::YieldOp::create(m.builder, loc,
                             ValueRange{m.select(large, angle.high, small.high),
                                        m.select(large, angle.low, small.low),
                                        m.select(large, angle.quadrant, small.quadrant)});
      },
      [&](OpBuilder &, Location loc) {
        scf::YieldOp::create(m.builder, loc,
                             ValueRange{small.high, small.low, small.quadrant});
      });
  return {branch.getResult(0), branch.getResult(1), branch.getResult(2)};
}
