//===- OperandAddresses.h - what a unit reads for a descriptor -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_UNIT_ATOMS_OPERANDADDRESSES_H
#define TILEC_UNIT_ATOMS_OPERANDADDRESSES_H

#include "tilec/Atoms/Wgmma.h"

#include "gtest/gtest.h"

namespace tilec::test {

inline uint64_t swizzleAddress(uint64_t address, unsigned swizzleBytes) {
  uint64_t mask = swizzleBytes == 128 ? 7 : swizzleBytes == 64 ? 3 : 1;
  return address ^ (address >> 7 & mask) << 4;
}

/// Reads all instructions' parts of an operand by the unit's formula.
inline void expectDescribed(const Layout &buffer, unsigned bits, bool isA, bool isMNMajor,
                     int64_t rowsOfInstruction) {
  std::optional<WgmmaOperand> fields = describeWgmmaOperand(buffer, bits, isA);
  ASSERT_TRUE(fields) << buffer.str();
  EXPECT_EQ(fields->isMNMajor, isMNMajor);
  int64_t bytes = bits / 8, kStep = 32 / bytes;
  unsigned dimK = isA ? 1 : 0;
  int64_t sizeMN = buffer.shape()[1 - dimK], sizeK = buffer.shape()[dimK];
  Layout inverse = buffer.invert();
  auto offsetOf = [&](int64_t mn, int64_t k) {
    int64_t coords[] = {isA ? mn : k, isA ? k : mn};
    return inverse.applyBits(buffer.flatten(coords)) * uint64_t(bytes);
  };
  int64_t width = fields->swizzleBytes / bytes; // elements of a row
  for (int64_t mn0 = 0; mn0 < sizeMN; mn0 += rowsOfInstruction)
    for (int64_t k0 = 0; k0 < sizeK; k0 += kStep) {
      uint64_t start = offsetOf(mn0, k0);
      EXPECT_EQ(start % 16, 0u);
      for (int64_t mn = 0; mn < std::min(rowsOfInstruction, sizeMN); ++mn)
        for (int64_t k = 0; k < kStep; ++k) {
          uint64_t address = start;
          if (isMNMajor)
            address += uint64_t(mn / width * fields->leadingBytes + mn % width * bytes +
                                k / 8 * fields->strideBytes + k % 8 * fields->swizzleBytes);
          else
            address += uint64_t(mn / 8 * fields->strideBytes + mn % 8 * fields->swizzleBytes +
                                k * bytes);
          ASSERT_EQ(swizzleAddress(address, fields->swizzleBytes), offsetOf(mn0 + mn, k0 + k))
              << buffer.str() << " " << mn0 + mn << ", " << k0 + k;
        }
    }
}

} // namespace tilec::test

#endif // TILEC_UNIT_ATOMS_OPERANDADDRESSES_H
