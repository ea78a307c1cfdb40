//===- Marks.h - what stands in place of values that are not there yet -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// A register that an operation will fill later holds a mark until it is waited for: a NaN
// that names the operation and the register. \p Pattern tells kinds of operations apart.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_MARKS_H
#define TILEC_LIB_EMULATOR_MARKS_H

#include <cstdint>

namespace tilec::emulator {

template <uint32_t Pattern> struct Marks {
  static constexpr uint32_t pattern = Pattern, bits = 0xFFF00000;
  static constexpr uint32_t numIds = 8192, numRegisters = 128;
  static constexpr uint32_t make(uint32_t id, uint32_t reg) {
    return pattern | (id % numIds) * numRegisters | reg;
  }
  static constexpr bool isMark(uint32_t word) { return (word & bits) == pattern; }
  static constexpr uint32_t idOf(uint32_t word) { return (word & ~bits) / numRegisters; }
  static constexpr uint32_t registerOf(uint32_t word) { return word % numRegisters; }
};

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_MARKS_H
