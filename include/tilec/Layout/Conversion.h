//===- Conversion.h - moving a tile from one layout to another --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: two layouts of one tile over the same lanes and warps. Out: the cheapest way
// to get from one to the other, and all numbers that code for it needs.
//
// The heart is the matrix `sourceOf`: for each position of the destination a
// position of the source that holds the same element. Where copies leave a choice,
// it stays in the same lane if it can, else in the same warp. Then
//
//   lanes and warps are mapped to themselves, register by register  -> Registers
//   warps are mapped to themselves, and a schedule exists           -> Shuffle
//   else                                                            -> Shared
//
// ## The shuffle schedule
//
// A shuffle lets each lane read one register of another lane, but the *giver* picks
// the register. In round k, lane l receives its register k ^ spread(l): different
// lanes fill different registers in one round, where that makes all 32 givers
// different. Giver lane and the register it must show are linear in (k, l), so a
// round is three linear maps: receiver -> giver lane, giver -> register shown,
// receiver -> register filled. When spread and the maps vanish the selections are
// compile-time constants and a round is one shuffle instruction and nothing else.
//
// ## The buffer in shared memory
//
// Also a layout, from offsets to elements. Lowest bits: a vector that both sides own
// in registers, filled up to a word. Then bank bits, then row bits; two lanes meet in a bank exactly
// when their elements differ by a sum of row bases. So row bases are picked from
// sums (a lane basis of the writer) ^ (a lane basis of the reader) that lie in neither
// side's span of lanes: no conflict on either side, with no padding.
//===----------------------------------------------------------------------===//
#ifndef TILEC_LAYOUT_CONVERSION_H
#define TILEC_LAYOUT_CONVERSION_H

#include "tilec/Layout/Layout.h"

namespace tilec {

enum class ConversionKind {
  None,      ///< the same registers in the same order
  Registers, ///< each thread renames, drops or copies registers
  Shuffle,   ///< lanes of a warp exchange registers
  Shared,    ///< through shared memory
};
llvm::StringRef conversionKindName(ConversionKind kind);

/// How the lanes of a warp exchange registers. All functions are linear: XOR
/// together `base[bit]` over the set bits of the argument.
struct ShufflePlan {
  /// Bases of a linear function; the input's bits number them.
  using Linear = llvm::SmallVector<uint64_t, 5>;
  static uint64_t apply(llvm::ArrayRef<uint64_t> linear, uint64_t bits);

  struct Round {
    uint64_t giverLane;      ///< giver = giverLane ^ laneToGiver(l) ^ warpToGiver(w)
    uint64_t shownRegister;  ///< giver l shows shownRegister ^ laneToShown(l) ^ warpToShown(w)
    uint64_t filledRegister; ///< receiver l fills filledRegister ^ laneToFilled(l)
  };
  llvm::SmallVector<Round> rounds;
  Linear laneToGiver, warpToGiver;
  Linear laneToShown, warpToShown;
  Linear laneToFilled;
  /// Registers of the result that are copies of others: (copy, original), after all rounds.
  llvm::SmallVector<std::pair<uint64_t, uint64_t>> copies;

  /// The register shown / filled does not depend on the lane or warp.
  bool isShownConstant() const;
  bool isFilledConstant() const;
  /// Every round is `giver = l ^ giverLane`.
  bool isButterfly() const;
  /// The round moves nothing between lanes.
  bool staysInLane(const Round &round) const { return isButterfly() && !round.giverLane; }
};

/// The way through shared memory.
struct SharedPlan {
  Layout buffer;               ///< offset (in elements) -> element
  unsigned storeVector = 1;    ///< elements per store of a thread
  unsigned loadVector = 1;     ///< elements per load
  unsigned storeConflicts = 1; ///< wavefronts per ideal wavefront, 1 = none
  unsigned loadConflicts = 1;
};

struct Conversion {
  ConversionKind kind = ConversionKind::None;
  /// Destination (register, lane, warp) -> source, as a layout whose tile is
  /// [blocks, warps, lanes, registers] of the source.
  Layout sourceOf;
  ShufflePlan shuffle; ///< for Shuffle
  SharedPlan shared;   ///< for Shared

  /// For Registers: which source register feeds a destination register.
  uint64_t sourceRegister(uint64_t destinationRegister) const;
};

/// Plans the conversion of a tile of elements of `elementBits` bits. Shapes, lanes
/// and warps of the two must agree.
Conversion planConversion(const Layout &source, const Layout &destination,
                          unsigned elementBits);

/// Only the kind, cheaper.
ConversionKind classifyConversion(const Layout &source, const Layout &destination,
                                  unsigned elementBits);

/// All copies of an element lie in one warp, in the same register of lanes that differ
/// in redundant bits only: the lane with those clear can hand it to the others.
bool copiesAreInLanes(const Layout &layout);

/// A buffer for writing with `store` and reading with `load` that avoids bank
/// conflicts, and what remains of them. The `row` elements that a reader has in its
/// first registers (runs along one dim) stay side by side in their order, aligned,
/// whatever the writer's width.
SharedPlan planShared(const Layout &store, const Layout &load, unsigned elementBits,
                      unsigned row = 1);

/// How a thread moves its registers to or from a buffer in shared memory.
struct SharedAccess {
  /// Elements per instruction: registers group ^ element(0 … vector-1) have offsets
  /// offset(group), offset(group) + 1 …; offset(group) is a multiple of `vector`.
  unsigned vector = 1;
  llvm::SmallVector<uint64_t> elements;
  /// One instruction each; together they cover every register that is not a copy.
  llvm::SmallVector<uint64_t> groups;
  /// Registers that are copies of others: (copy, original). Not stored; after a load
  /// they are filled from the original.
  llvm::SmallVector<std::pair<uint64_t, uint64_t>> copies;
  /// (register, lane, warp) -> offset in elements, as a layout of a 1-D tile.
  Layout offsetOf;
};
SharedAccess planSharedAccess(const Layout &registers, const Layout &buffer,
                              unsigned elementBits, unsigned maxBytes = 16);

/// Pairs (copy, original) of the registers that hold copies of other registers.
llvm::SmallVector<std::pair<uint64_t, uint64_t>> registerCopies(const Layout &layout);

/// The largest number of wavefronts that a warp's access to `buffer` takes, over
/// the number that its bytes need at least; simulates 32 banks of 4 bytes.
unsigned countBankConflicts(const Layout &registers, const Layout &buffer,
                            unsigned elementBits);

} // namespace tilec

#endif // TILEC_LAYOUT_CONVERSION_H
