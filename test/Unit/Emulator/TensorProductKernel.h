//===- TensorProductKernel.h - a product in tensor memory, its kernel, its values -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// A kernel of four warps: images of both operands go into shared memory, warp 0 allocates
// tensor memory, thread 0 multiplies and commits, all wait, load and write what they see.
// Operands are laid out by the rules of the PTX ISA, independently of the emulator.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_UNIT_EMULATOR_TENSORPRODUCTKERNEL_H
#define TILEC_UNIT_EMULATOR_TENSORPRODUCTKERNEL_H

#include "tilec/Emulator/Emulator.h"

#include <optional>
#include <string>
#include <vector>

namespace tilec::test {

/// One form of a product of m × n × (steps * k).
struct TensorProductCase {
  const char *a = "bf16", *b = "bf16"; ///< f16, bf16, tf32, e4m3, e5m2, s8, u8
  bool isHalf = false;                 ///< the accumulator is f16
  uint32_t m = 128, n = 64, swizzle = 128, steps = 1;
  bool transposeA = false, transposeB = false;
  bool accumulates = false; ///< to 3, stored before; else the accumulator is poison

  uint32_t elementBits() const;
  uint32_t k() const { return 256 / elementBits(); }
  bool isInteger() const;
  uint32_t kind() const;
  /// The instruction's descriptor.
  uint32_t shape() const;
  std::string name() const;
  /// LLVM IR of a kernel @k(operands, results, descriptor of a, of b).
  std::string kernel() const;
};

/// Operands as small integers, and the results.
class TensorProductRun {
public:
  explicit TensorProductRun(const TensorProductCase &product);

  EmulatorReport launch(const std::string &kernel, std::optional<uint64_t> seed = {});
  /// Every element of the accumulator is what it must be.
  void expectProduct() const;

private:
  int valueOf(unsigned operand, uint32_t i, uint32_t k) const;
  void place(uint32_t base, unsigned operand, uint32_t count, bool isTransposed);
  uint32_t offset(uint32_t count, uint32_t i, uint32_t k, bool isTransposed) const;
  uint64_t describe(uint32_t base, uint32_t count, bool isTransposed) const;

  TensorProductCase product;
  std::vector<uint8_t> image;
  std::vector<uint32_t> results;
};

} // namespace tilec::test

#endif // TILEC_UNIT_EMULATOR_TENSORPRODUCTKERNEL_H
