//===- Numerics.h - the language's scalar arithmetic, exactly ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The one definition of conversions and of integer and float operations whose
// rules are the language's own, for the constant folder, the compile-time
// evaluator, the interpreter and the tools. Standard library only.
//
// A value is its 64-bit word:
//  - integers and `int`: two's complement, sign-extended (signed) or
//    zero-extended (unsigned); bool: 0 or 1;
//  - floats: the bits of the format, zero-extended; tf32: the bits of the f32.
// Words go in and come out in this form. A NaN comes out as one fixed quiet NaN
// of its format (nanBits): the payload and sign of NaNs are not specified by the
// language.
//
//   uint64_t h = cast(encode(DType::F32, 65520.0), DType::F32, DType::F16);  // +inf
//   uint64_t b = cast(encode(DType::F32, -1e9), DType::F32, DType::F8E4M3);  // -448
//   int64_t  q = divide(DType::I32, -7, 2, QuotientRounding::Floor);         // -4

#ifndef TILEC_SUPPORT_NUMERICS_H
#define TILEC_SUPPORT_NUMERICS_H

#include "tilec/Support/DType.h"

#include <cstdint>

namespace tilec::numerics {

/// Rounding of a conversion to a float.
enum class Rounding : uint8_t { NearestEven, TowardZero, Down, Up };

/// Where the quotient of an integer division goes.
enum class QuotientRounding : uint8_t { Trunc, Floor, Ceil };

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// Any 64-bit word, cut to the width of `type` and extended again. bool: `!= 0`
/// of the lowest bit.
uint64_t normalize(DType type, uint64_t word);

/// The value of a float word, exactly. Every format fits a double.
double decode(DType type, uint64_t word);

/// A double rounded once to a float format. Overflow is IEEE's for the rounding;
/// for f8 everything beyond the largest finite value, infinity included, becomes
/// that value.
uint64_t encode(DType type, double value, Rounding rounding = Rounding::NearestEven);

/// The f32 that equals a word of a format of at most 32 bits, as bits. NaNs keep
/// sign and payload, so that narrow() gives every word back.
uint32_t widen(DType type, uint64_t word);

/// An f32, given as bits, to nearest even in a format of at most 32 bits. As encode()
/// does it, but infinity stays where the format has one, and NaNs keep their sign and
/// the upper bits of their payload.
uint64_t narrow(DType type, uint32_t bits);

/// The quiet NaN, infinity, largest finite value of a float format. f8e4m3 has
/// no infinity: infinityBits gives its largest value.
uint64_t nanBits(DType type);
uint64_t infinityBits(DType type, bool negative = false);
uint64_t largestFiniteBits(DType type, bool negative = false);
bool isNaN(DType type, uint64_t word);

/// Least and greatest value of an integer type, as words; bool: 0 and 1.
uint64_t leastInteger(DType type);
uint64_t greatestInteger(DType type);

//===----------------------------------------------------------------------===//
// Conversion: `.to(T)`
//===----------------------------------------------------------------------===//

/// Section "conversions" of the language reference, for every pair of types.
/// `rounding` matters for float → float (not to f8) only.
uint64_t cast(uint64_t word, DType from, DType to, Rounding rounding = Rounding::NearestEven);

//===----------------------------------------------------------------------===//
// Integers (bool where it says so); words in and out
//===----------------------------------------------------------------------===//

uint64_t add(DType type, uint64_t a, uint64_t b);
uint64_t subtract(DType type, uint64_t a, uint64_t b);
uint64_t multiply(DType type, uint64_t a, uint64_t b);
/// High half of the product of twice the width.
uint64_t multiplyHigh(DType type, uint64_t a, uint64_t b);
/// MIN / -1 = MIN. Division by zero is 0 here; programs must not rely on it.
uint64_t divide(DType type, uint64_t a, uint64_t b, QuotientRounding rounding);
/// a - b * divide(a, b). A zero divisor gives 0.
uint64_t remainder(DType type, uint64_t a, uint64_t b, QuotientRounding rounding);
/// An amount of at least the width, or negative, gives 0.
uint64_t shiftLeft(DType type, uint64_t a, uint64_t amount);
/// Likewise; the sign (0 or -1) for signed types.
uint64_t shiftRight(DType type, uint64_t a, uint64_t amount);
/// |MIN| = MIN.
uint64_t absolute(DType type, uint64_t a);
uint64_t populationCount(DType type, uint64_t a);
/// The width at 0.
uint64_t countLeadingZeros(DType type, uint64_t a);
uint64_t countTrailingZeros(DType type, uint64_t a);
/// Three-way comparison by the type's signedness; bool: false < true.
int compare(DType type, uint64_t a, uint64_t b);

//===----------------------------------------------------------------------===//
// Floats, on decoded values: exact for every format narrower than double
//===----------------------------------------------------------------------===//

/// NaN if either is; -0 < +0.
double minimum(double a, double b);
double maximum(double a, double b);
/// The other operand if one is NaN; -0 < +0.
double minimumNumber(double a, double b);
double maximumNumber(double a, double b);
/// -1, -0, +0, 1 or NaN.
double sign(double a);
/// To an integer, ties to even.
double roundEven(double a);
/// fmod with the divisor's sign: a - b * floor(a / b), exact as fmod is. A zero
/// result has the divisor's sign.
double floorMod(double a, double b);

} // namespace tilec::numerics

#endif // TILEC_SUPPORT_NUMERICS_H
