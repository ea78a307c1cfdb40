//===- KernelArg.h - one argument of a launch ---------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What a launch passes for one kernel parameter: an array (pointer, dtype, shape,
// strides) or a scalar (its bits). Shared by the GPU runtime, the interpreter and
// the SIMT emulator; `data` is a device pointer for the first and a host pointer
// for the others. Plain data, no ownership, no allocation.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_KERNELARG_H
#define TILEC_SUPPORT_KERNELARG_H

#include "tilec/Support/DType.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <variant>

namespace tilec {

/// Highest rank of an array.
inline constexpr int maxRank = 6;

/// An array argument. Strides count elements.
struct ArrayArg {
  void *data = nullptr;
  DType dtype = DType::F32;
  int rank = 0;
  int64_t dims[maxRank] = {};
  int64_t strides[maxRank] = {};

  /// A row-major array (innermost stride 1). Dims are not checked here: a
  /// negative one, or a rank above 6 (kept in `rank`), is refused by planLaunch.
  static ArrayArg rowMajor(void *data, DType dtype, const int64_t *dims, int rank) {
    ArrayArg a;
    a.data = data;
    a.dtype = dtype;
    a.rank = rank;
    uint64_t stride = 1;
    for (int i = (rank < maxRank ? rank : maxRank) - 1; i >= 0; --i) {
      a.dims[i] = dims[i];
      a.strides[i] = static_cast<int64_t>(stride);
      stride *= static_cast<uint64_t>(dims[i]);
    }
    return a;
  }
  static ArrayArg rowMajor(void *data, DType dtype, std::initializer_list<int64_t> dims) {
    return rowMajor(data, dtype, dims.begin(), static_cast<int>(dims.size()));
  }

  /// Number of elements (product of the dims; 1 for rank 0).
  int64_t numElements() const {
    uint64_t n = 1;
    for (int i = 0; i < rank && i < maxRank; ++i)
      n *= static_cast<uint64_t>(dims[i]);
    return static_cast<int64_t>(n);
  }
};

/// A scalar argument: its value's bits in the low bits (two's complement, IEEE,
/// bf16, … of the dtype's width; bool is 0 or 1); high bits zero.
struct ScalarArg {
  DType dtype = DType::Int;
  uint64_t bits = 0;

  static ScalarArg integer(DType dtype, int64_t v) {
    unsigned width = dtypeBits(dtype);
    uint64_t mask = width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
    return {dtype, static_cast<uint64_t>(v) & mask};
  }
  static ScalarArg boolean(bool v) { return {DType::Bool, v ? 1u : 0u}; }
  static ScalarArg f32(float v) { return {DType::F32, std::bit_cast<uint32_t>(v)}; }
  static ScalarArg f64(double v) { return {DType::F64, std::bit_cast<uint64_t>(v)}; }
};

using KernelArg = std::variant<ArrayArg, ScalarArg>;

} // namespace tilec

#endif // TILEC_SUPPORT_KERNELARG_H
