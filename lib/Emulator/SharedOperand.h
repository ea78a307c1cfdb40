//===- SharedOperand.h - operands that products read by descriptor -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  the 64 bits by which wgmma or tcgen05.mma is told of an operand (PTX ISA, "Matrix
//      Descriptor Format" of wgmma, "Shared memory descriptor" of tcgen05).
// Out: the address of each chunk of 16 bytes.
//
//   bits      wgmma                              tcgen05
//   0–13      address >> 4                       the same
//   16–29     leading offset >> 4                the same
//   32–45     stride offset >> 4                 the same
//   46–48     0                                  1, fixed
//   49–51     base offset                        the same
//   52        0                                  leading is an address: not emulated
//   61–63     62–63: 1, 2, 3 for 128, 64, 32     2, 4, 6 for 128, 64, 32 (1: pieces of 32
//             bytes of swizzle                   bytes change places, not emulated)
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_SHAREDOPERAND_H
#define TILEC_LIB_EMULATOR_SHAREDOPERAND_H

#include <cstdint>

namespace tilec::emulator {

/// An operand: rows (of a) or columns (of b) `i`, and k.
class SharedOperand {
public:
  static SharedOperand ofWarpGroup(uint64_t descriptor, bool isKMajor, char *shared) {
    static constexpr uint32_t widths[] = {0, 128, 64, 32};
    return SharedOperand(descriptor, widths[descriptor >> 62], isKMajor, shared);
  }
  static bool isValidForWarpGroup(uint64_t descriptor) {
    // Bits between the fields, and a base offset, which says that a pattern does
    // not begin at a multiple of its size.
    constexpr uint64_t unused = 0x3FFFC000C000C000;
    return (descriptor & unused) == 0;
  }

  static SharedOperand ofTensorCore(uint64_t descriptor, bool isKMajor, char *shared) {
    static constexpr uint32_t widths[] = {0, 0, 128, 0, 64, 0, 32, 0};
    return SharedOperand(descriptor, widths[descriptor >> 61], isKMajor, shared);
  }
  static bool isValidForTensorCore(uint64_t descriptor) {
    constexpr uint64_t fixed = 0x1FFFC000C000C000, version = uint64_t(1) << 46;
    return (descriptor & fixed) == version && (descriptor >> 61) % 2 == 0;
  }

  /// K-major: the chunk with bytes 16c … 16c + 15 of the k of row i. MN-major: the i-th
  /// chunk of rows, at k = c.
  char *chunk(uint32_t i, uint32_t c) const {
    uint32_t at;
    if (isKMajor)
      at = swizzle ? i / 8 * stride + i % 8 * swizzle + c * 16
                   : i / 8 * stride + c * leading + i % 8 * 16;
    else
      at = swizzle ? i / (swizzle / 16) * leading + c / 8 * stride + c % 8 * swizzle +
                         i % (swizzle / 16) * 16
                   : i * stride + c / 8 * leading + c % 8 * 16;
    uint32_t address = start + at;
    if (swizzle)
      address ^= (address >> 7 & (swizzle / 16 - 1)) << 4;
    return shared + address;
  }

private:
  SharedOperand(uint64_t descriptor, uint32_t swizzle, bool isKMajor, char *shared)
      : start(uint32_t(descriptor & 0x3FFF) << 4),
        leading(uint32_t(descriptor >> 16 & 0x3FFF) << 4),
        stride(uint32_t(descriptor >> 32 & 0x3FFF) << 4), swizzle(swizzle),
        isKMajor(isKMajor), shared(shared) {}

  uint32_t start, leading, stride, swizzle;
  bool isKMajor;
  char *shared;
};

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_SHAREDOPERAND_H
