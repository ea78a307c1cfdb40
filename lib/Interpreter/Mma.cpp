//===- Mma.cpp - matrix multiply and accumulate --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// acc + a x b, k ascending, in the accumulator's type (f16 in f32, rounded once).
// Always at full precision: `tf32` and `fast` only allow less.
//
//===------------------------------------------------------------------------===//

#include "BlockRun.h"

using namespace mlir;

namespace tilec::interpreter {

namespace {
struct Sizes {
  int64_t batch, batchA, batchB, m, n, k;
};
} // namespace

static Sizes sizesOf(const HostTile &a, const HostTile &b, const HostTile &acc) {
  unsigned rank = acc.shape().size();
  bool batched = rank == 3;
  return {batched ? acc.shape()[0] : 1, batched ? a.shape()[0] : 1, batched ? b.shape()[0] : 1,
          acc.shape()[rank - 2], acc.shape()[rank - 1], a.shape()[rank - 1]};
}

/// The loop nest over one element type of a, b and the accumulator.
template <typename T, typename A, typename B>
static void multiply(const Sizes &s, const A *a, const B *b, T *c) {
  for (int64_t batch = 0; batch < s.batch; ++batch) {
    const A *batchA = a + (s.batchA == 1 ? 0 : batch) * s.m * s.k;
    const B *batchB = b + (s.batchB == 1 ? 0 : batch) * s.k * s.n;
    T *batchC = c + batch * s.m * s.n;
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t k = 0; k < s.k; ++k) {
        T x = T(batchA[i * s.k + k]);
        for (int64_t j = 0; j < s.n; ++j)
          batchC[i * s.n + j] += x * T(batchB[k * s.n + j]);
      }
  }
}

/// The 8-bit integers of a tile, widened to wrap in 32 bits.
static std::vector<uint32_t> widened(const HostTile &tile, bool isUnsigned) {
  std::vector<uint32_t> result(tile.size());
  for (size_t i = 0; i < tile.size(); ++i)
    result[i] = isUnsigned ? uint32_t(tile.integer(i)) : uint32_t(int32_t(tile.sinteger(i)));
  return result;
}

HostTile evaluateMma(tile::MmaOp op, const HostTile &a, const HostTile &b, const HostTile &acc) {
  Sizes sizes = sizesOf(a, b, acc);
  HostTile x = a.expanded(), y = b.expanded(), result = acc.expanded();
  if (result.form() == Form::F64) {
    multiply(sizes, x.doubles.data(), y.doubles.data(), result.doubles.data());
  } else if (result.form() == Form::F32) {
    multiply(sizes, x.floats.data(), y.floats.data(), result.floats.data());
    for (float &v : result.floats)
      v = roundToType(v, result.elementType());
  } else {
    std::vector<uint32_t> left = widened(x, op.getAUnsigned()), right = widened(y, op.getBUnsigned());
    std::vector<uint32_t> sum(result.ints.begin(), result.ints.end());
    multiply(sizes, left.data(), right.data(), sum.data());
    result.ints.assign(sum.begin(), sum.end());
  }
  return result;
}

} // namespace tilec::interpreter
