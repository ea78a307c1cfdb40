//===- WarpGroup.h - asynchronous products of four warps -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// A wgmma is one operation of four warps. Each warp gives its part (accumulators, a
// in registers); the product can be computed once all four have. It is computed at
// some time before somebody's wait for it ends: under a seed often at once, else as
// late as possible, so that an operand that is overwritten too early is not there
// any more.
//
//   warp 0  ── part of product 7 ──┐
//   warp 1  ── part of product 7 ──┤ all there ─► may run … must run ─► wait returns
//   …                              ┘
//
// What wgmma returns to the kernel are marks, one for each register, that stand for
// values that do not exist yet. A product that continues an accumulator takes marks
// and returns the same ones; a tied wait exchanges them for values. A mark that is
// used in any other way is an accumulator that was read without a wait.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_WARPGROUP_H
#define TILEC_LIB_EMULATOR_WARPGROUP_H

#include "Marks.h"
#include "VectorClock.h"

#include <array>
#include <deque>
#include <optional>
#include <vector>

namespace tilec::emulator {

class Block;
struct ThreadContext;

/// The form of a product, from the helper's name.
struct ProductForm {
  uint32_t n, k;            ///< columns, elements of k
  uint32_t aType, bType;    ///< Element
  uint32_t accType;         ///< 0: f32, 1: f16, 2: s32
  bool aInRegisters, transposeA, transposeB;

  uint32_t accRegisters() const { return accType == 1 ? n / 4 : n / 2; }
  /// In the 32 bits of an operation's variant, and back.
  uint32_t pack() const;
  static ProductForm unpack(uint32_t variant);
};

/// The marks of accumulators.
using AccumulatorMark = Marks<0x7FE00000>;

/// The values of an accumulator that products work on: 128 threads.
struct PendingAccumulator {
  uint32_t id = 0;
  uint32_t registers = 0;
  uint32_t lastGroup = 0; ///< of its last product
  std::vector<uint32_t> words;

  uint32_t *of(uint32_t threadInGroup) { return words.data() + threadInGroup * registers; }
};

/// A product that some warp has issued.
struct IssuedProduct {
  uint32_t variant = 0, group = 0, site = 0;
  uint64_t a = 0, b = 0;
  bool accumulates = false;
  uint32_t accumulator = 0; ///< id
  uint32_t parts = 0;       ///< a bit for each warp that has given its own
  std::vector<uint32_t> aWords; ///< four of each thread
  VectorClock clock;  ///< what all of its threads knew
  VectorClock fenced; ///< … and had fenced for the async proxy
};

/// Four warps with consecutive numbers.
struct WarpGroup {
  struct Warp {
    uint64_t numIssued = 0;
    uint32_t openGroup = 1;
    bool isFenced = false; ///< since its registers were last its own
    uint32_t numRegisterChanges = 0; ///< setmaxnreg
  };
  std::array<Warp, 4> warps;
  std::deque<IssuedProduct> products; ///< those not yet computed
  uint64_t numComputed = 0;           ///< the number of the first in `products`
  std::deque<PendingAccumulator> accumulators; ///< the youngest last
  std::vector<uint32_t> registerChanges;
  std::vector<ThreadContext *> waiters; ///< for parts of other warps

  PendingAccumulator *find(uint32_t id);
  /// Whether every product of groups up to \p group has all its parts.
  bool isIssued(uint32_t group) const;
};

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_WARPGROUP_H
