//===- WarpGroupKernel.h - a product, its kernel, and what it must give -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
#ifndef TILEC_UNIT_EMULATOR_WARPGROUPKERNEL_H
#define TILEC_UNIT_EMULATOR_WARPGROUPKERNEL_H

#include "tilec/Emulator/Emulator.h"

#include <optional>
#include <string>
#include <vector>

namespace tilec::test {

/// One form of a product of 64 × n × (steps * k).
struct ProductCase {
  std::string types = "f32.bf16.bf16"; ///< accumulator, a, b
  uint32_t n = 64, swizzle = 128, steps = 1, threads = 128;
  bool aInRegisters = false, transposeA = false, transposeB = false;
  bool accumulates = false; ///< the accumulator starts at 3, and else is ignored

  std::string type(unsigned index) const;
  uint32_t elementBits() const;
  uint32_t k() const { return 256 / elementBits(); }
  uint32_t registers() const { return type(0) == "f16" ? n / 4 : n / 2; }
  std::string helperName() const;
  /// LLVM IR of a kernel @k(operands, accumulators, descriptor of a, of b).
  std::string kernel() const;
};

/// Operands as small integers, laid out in shared memory, and the results.
class ProductRun {
public:
  explicit ProductRun(const ProductCase &product);

  EmulatorReport launch(const std::string &kernel, std::optional<uint64_t> seed);
  /// Every accumulator of every thread is what it must be.
  void expectProduct() const;

  uint64_t a = 0, b = 0; ///< descriptors, relative to the start of shared memory

private:
  int valueOf(unsigned operand, uint32_t i, uint32_t k) const;
  uint32_t encode(unsigned operand, int value) const;
  void place(uint32_t base, unsigned operand, uint32_t count, bool isTransposed);
  uint32_t offset(uint32_t count, uint32_t i, uint32_t k, bool isTransposed) const;
  uint64_t describe(uint32_t base, uint32_t count, bool isTransposed) const;
  void placeRegisters();

  ProductCase product;
  std::vector<uint8_t> image;       ///< shared memory, then registers of a
  std::vector<uint32_t> accumulators;
};

} // namespace tilec::test

#endif // TILEC_UNIT_EMULATOR_WARPGROUPKERNEL_H
