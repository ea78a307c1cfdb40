//===- MatrixElements.h - elements in registers and memory -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: a 32-bit word of a matrix operand and the place of an element in it. Out: the
// element's value. Shared by the matrix instructions of warps and of warp groups.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_MATRIXELEMENTS_H
#define TILEC_LIB_EMULATOR_MATRIXELEMENTS_H

#include "llvm/ADT/APFloat.h"

#include <array>
#include <bit>
#include <cstdint>

namespace tilec::emulator {

enum Element : uint32_t { F16, BF16, TF32, S8, U8, E4M3, E5M2 };

inline float halfToFloat(uint16_t bits) { return float(std::bit_cast<_Float16>(bits)); }
inline uint16_t floatToHalf(float value) {
  return std::bit_cast<uint16_t>(_Float16(value));
}

inline float eightBitToFloat(uint8_t bits, bool isE5M2) {
  // A table: decoding through APFloat is slow.
  static const auto tables = [] {
    std::array<std::array<float, 256>, 2> t;
    for (unsigned kind = 0; kind < 2; ++kind)
      for (unsigned i = 0; i < 256; ++i) {
        llvm::APFloat x(kind ? llvm::APFloat::Float8E5M2()
                             : llvm::APFloat::Float8E4M3FN(),
                        llvm::APInt(8, i));
        bool inexact = false;
        x.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
                  &inexact);
        t[kind][i] = x.convertToFloat();
      }
    return t;
  }();
  return tables[isE5M2][bits];
}

inline unsigned bitsOf(Element element) {
  switch (element) {
  case F16:
  case BF16:
    return 16;
  case TF32:
    return 32;
  default:
    return 8;
  }
}

/// Element \p index of a register.
inline float floatElement(Element element, uint32_t word, unsigned index) {
  switch (element) {
  case F16:
    return halfToFloat(uint16_t(word >> (16 * index)));
  case BF16:
    return std::bit_cast<float>((word >> (16 * index)) << 16);
  case TF32:
    return std::bit_cast<float>(word & 0xFFFFE000u); // the hardware ignores the rest
  default:
    return eightBitToFloat(uint8_t(word >> (8 * index)), element == E5M2);
  }
}

inline int32_t integerElement(Element element, uint32_t word, unsigned index) {
  uint8_t byte = uint8_t(word >> (8 * index));
  return element == S8 ? int8_t(byte) : byte;
}

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_MATRIXELEMENTS_H
