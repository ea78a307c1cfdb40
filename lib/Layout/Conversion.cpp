//===- Conversion.cpp - moving a tile between layouts -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The matrix from destination to source positions, its classification, and the
// schedule of shuffles. Conversion.h has the idea; the buffer in shared memory is
// planned in SharedPlan.cpp.
//===----------------------------------------------------------------------===//
#include "tilec/Layout/Conversion.h"
#include "tilec/Layout/Span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>

using namespace tilec;

llvm::StringRef tilec::conversionKindName(ConversionKind kind) {
  static constexpr llvm::StringLiteral names[] = {"none", "registers", "shuffle", "shared"};
  return names[unsigned(kind)];
}

//===----------------------------------------------------------------------===//
// From destination to source
//===----------------------------------------------------------------------===//

namespace {
/// Finds source positions for the bits of the destination.
class SourceFinder {
public:
  explicit SourceFinder(const Layout &source) : source(source), span(source.allBases()) {}

  /// A source position of the element `flat`, best one that keeps bit `bit` of
  /// `input` as it is; otherwise the one in the lowest bits.
  Position find(uint64_t flat, Input input, unsigned bit) const {
    Position direct = source.splitBits(*span.solve(flat));
    if (input == Input::Register || bit >= source.numBits(input))
      return direct;
    Position kept = source.splitBits(*span.solve(flat ^ source.basis(input, bit)));
    kept[input] ^= uint64_t(1) << bit;
    return cost(kept, input, bit) <= cost(direct, input, bit) ? kept : direct;
  }

private:
  /// 0: moves between registers only, 1: between lanes, 2: warps, 3: blocks.
  static unsigned cost(Position position, Input input, unsigned bit) {
    position[input] ^= uint64_t(1) << bit;
    return position[Input::Block] ? 3 : position[Input::Warp] ? 2 : position[Input::Lane] ? 1 : 0;
  }

  const Layout &source;
  Span span;
};
} // namespace

static Layout computeSourceOf(const Layout &source, const Layout &destination) {
  assert(source.shape() == destination.shape() && "a conversion keeps the shape");
  SourceFinder finder(source);
  Layout result({int64_t(source.size(Input::Block)), int64_t(source.size(Input::Warp)),
                 int64_t(source.size(Input::Lane)), int64_t(source.size(Input::Register))});
  for (Input input : allInputs)
    for (auto [bit, flat] : llvm::enumerate(destination.bases(input)))
      result.addFlat(input, source.joinBits(finder.find(flat, input, bit)));
  return result;
}

namespace {
/// Dimensions of the tile of `sourceOf`.
enum SourceDim : unsigned { BlockDim, WarpDim, LaneDim, RegisterDim };
} // namespace

static uint64_t part(const Layout &sourceOf, Input input, unsigned bit, SourceDim dim) {
  return sourceOf.field(sourceOf.basis(input, bit), dim);
}

/// Does every position come from one with the same number of `input`?
static bool keeps(const Layout &sourceOf, Input input, SourceDim dim) {
  for (Input from : allInputs)
    for (unsigned bit = 0; bit < sourceOf.numBits(from); ++bit)
      if (part(sourceOf, from, bit, dim) != (from == input ? uint64_t(1) << bit : 0))
        return false;
  return true;
}

/// With lanes and warps kept: does the register only depend on the register?
static bool registersAreConstant(const Layout &sourceOf) {
  for (Input from : {Input::Lane, Input::Warp, Input::Block})
    for (unsigned bit = 0; bit < sourceOf.numBits(from); ++bit)
      if (part(sourceOf, from, bit, RegisterDim))
        return false;
  return true;
}

//===----------------------------------------------------------------------===//
// The shuffle schedule
//===----------------------------------------------------------------------===//

uint64_t ShufflePlan::apply(llvm::ArrayRef<uint64_t> linear, uint64_t bits) {
  uint64_t sum = 0;
  for (unsigned i = 0; bits && i < linear.size(); ++i, bits >>= 1)
    if (bits & 1)
      sum ^= linear[i];
  return sum;
}

static bool isZero(llvm::ArrayRef<uint64_t> linear) {
  return llvm::all_of(linear, [](uint64_t basis) { return basis == 0; });
}

bool ShufflePlan::isShownConstant() const { return isZero(laneToShown) && isZero(warpToShown); }
bool ShufflePlan::isFilledConstant() const { return isZero(laneToFilled); }

bool ShufflePlan::isButterfly() const {
  for (auto [bit, giver] : llvm::enumerate(laneToGiver))
    if (giver != uint64_t(1) << bit)
      return false;
  return isZero(warpToGiver);
}

llvm::SmallVector<std::pair<uint64_t, uint64_t>> tilec::registerCopies(const Layout &layout) {
  llvm::SmallVector<std::pair<uint64_t, uint64_t>> copies;
  uint64_t redundant = layout.redundant(Input::Register);
  if (!redundant)
    return copies;
  Span span(layout.bases(Input::Register));
  for (uint64_t reg = 0; reg < layout.size(Input::Register); ++reg)
    if (reg & redundant)
      copies.push_back({reg, *span.solve(layout.applyFlat(Position::thread(reg, 0)))});
  return copies;
}

namespace {
/// Builds a ShufflePlan from the destination -> source matrix: chooses `spread`,
/// which register each lane fills in one round, so that what a giver must show is
/// a function of the giver.
class ShuffleScheduler {
public:
  ShuffleScheduler(const Layout &sourceOf, const Layout &destination)
      : sourceOf(sourceOf), destination(destination) {}

  std::optional<ShufflePlan> schedule() {
    collect();
    if (!chooseSpread())
      return std::nullopt;
    return emit();
  }

private:
  void collect() {
    freeRegisters = ~destination.redundant(Input::Register) & (destination.size(Input::Register) - 1);
    for (unsigned bit = 0; bit < destination.numBits(Input::Register); ++bit) {
      registerGiver.push_back(part(sourceOf, Input::Register, bit, LaneDim));
      registerShown.push_back(part(sourceOf, Input::Register, bit, RegisterDim));
    }
    for (unsigned bit = 0; bit < destination.numBits(Input::Lane); ++bit) {
      giver.push_back(part(sourceOf, Input::Lane, bit, LaneDim));
      shown.push_back(part(sourceOf, Input::Lane, bit, RegisterDim));
      spread.push_back(0);
    }
  }

  /// Takes lane bit `bit` with its current giver and shown; false when they contradict
  /// the bits taken so far: the same giver would have to show two registers.
  bool take(unsigned bit, bool mustBeNew) {
    std::optional<uint64_t> sum = givers.solve(giver[bit]);
    if (sum && (mustBeNew || ShufflePlan::apply(takenShown, *sum) != shown[bit]))
      return false;
    givers.add(giver[bit]);
    takenShown.push_back(shown[bit]);
    return true;
  }

  bool takeSpread(unsigned bit, bool mustBeNew) {
    for (unsigned reg = 0; reg < registerGiver.size(); ++reg) {
      if (!(freeRegisters >> reg & 1))
        continue;
      giver[bit] ^= registerGiver[reg];
      shown[bit] ^= registerShown[reg];
      if (take(bit, mustBeNew)) {
        spread[bit] = uint64_t(1) << reg;
        return true;
      }
      giver[bit] ^= registerGiver[reg];
      shown[bit] ^= registerShown[reg];
    }
    return false;
  }

  bool chooseSpread() {
    llvm::SmallVector<unsigned> waiting;
    for (unsigned bit = 0; bit < giver.size(); ++bit)
      if (!take(bit, /*mustBeNew=*/true))
        waiting.push_back(bit);
    for (unsigned bit : waiting)
      if (!take(bit, false) && !takeSpread(bit, true) && !takeSpread(bit, false))
        return false;
    return true;
  }

  /// For every lane bit what a giver with that bit adds to the register it shows.
  void computeLaneToShown(ShufflePlan &plan) {
    Span extended = givers;
    for (unsigned bit = 0; bit < giver.size(); ++bit)
      extended.add(uint64_t(1) << bit);
    uint64_t known = (uint64_t(1) << takenShown.size()) - 1;
    for (unsigned bit = 0; bit < giver.size(); ++bit)
      plan.laneToShown.push_back(
          ShufflePlan::apply(takenShown, *extended.solve(uint64_t(1) << bit) & known));
  }

  ShufflePlan emit() {
    ShufflePlan plan;
    plan.laneToGiver.assign(giver.begin(), giver.end());
    plan.laneToFilled.assign(spread.begin(), spread.end());
    computeLaneToShown(plan);
    // The giver g shows shown(receiver) where giver(receiver) = g ^ constant parts.
    for (unsigned bit = 0; bit < destination.numBits(Input::Warp); ++bit) {
      uint64_t lane = part(sourceOf, Input::Warp, bit, LaneDim);
      plan.warpToGiver.push_back(lane);
      plan.warpToShown.push_back(part(sourceOf, Input::Warp, bit, RegisterDim) ^
                                 ShufflePlan::apply(plan.laneToShown, lane));
    }
    for (uint64_t reg = 0; reg < destination.size(Input::Register); ++reg) {
      if (reg & ~freeRegisters)
        continue;
      uint64_t lane = ShufflePlan::apply(registerGiver, reg);
      uint64_t base = ShufflePlan::apply(registerShown, reg);
      plan.rounds.push_back({lane, base ^ ShufflePlan::apply(plan.laneToShown, lane), reg});
    }
    plan.copies = registerCopies(destination);
    return plan;
  }

  const Layout &sourceOf;
  const Layout &destination;
  uint64_t freeRegisters = 0;
  llvm::SmallVector<uint64_t> registerGiver, registerShown, giver, shown, spread, takenShown;
  Span givers;
};
} // namespace

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

/// Instructions to pick `count` of `registers` registers by `bits` bits of lane or
/// warp: bit by bit for all of them together, or one by one.
static uint64_t selectCost(unsigned bits, uint64_t registers, uint64_t count) {
  return std::min(bits * registers, count * ((uint64_t(1) << bits) - 1));
}

static unsigned numNonzero(llvm::ArrayRef<uint64_t> linear) {
  return llvm::count_if(linear, [](uint64_t basis) { return basis != 0; });
}

/// In instructions, roughly: a shuffle takes two issue slots; shared memory takes the
/// accesses and two barriers.
static bool shuffleIsCheaper(const ShufflePlan &plan, const Layout &source,
                             const Layout &destination, unsigned elementBits) {
  uint64_t words = std::max(1u, elementBits / 32);
  uint64_t shuffles = llvm::count_if(
      plan.rounds, [&](const ShufflePlan::Round &round) { return !plan.staysInLane(round); });
  unsigned shownBits = numNonzero(plan.laneToShown) + numNonzero(plan.warpToShown);
  unsigned filledBits = numNonzero(plan.laneToFilled);
  uint64_t selects =
      selectCost(shownBits, source.size(Input::Register), plan.rounds.size()) +
      selectCost(filledBits, destination.size(Input::Register), plan.rounds.size());
  uint64_t accesses = source.size(Input::Register) + destination.size(Input::Register);
  return words * (2 * shuffles + selects) <= words * accesses * 2 + 40;
}

static Conversion plan(const Layout &source, const Layout &destination, unsigned elementBits,
                       bool kindOnly) {
  Conversion conversion;
  conversion.sourceOf = computeSourceOf(source, destination);
  const Layout &sourceOf = conversion.sourceOf;
  bool sameBlock = keeps(sourceOf, Input::Block, BlockDim);
  bool sameWarp = sameBlock && keeps(sourceOf, Input::Warp, WarpDim);
  bool sameLane = sameWarp && keeps(sourceOf, Input::Lane, LaneDim);
  if (sameLane && registersAreConstant(sourceOf)) {
    bool same = keeps(sourceOf, Input::Register, RegisterDim) &&
                source.numBits(Input::Register) == destination.numBits(Input::Register);
    conversion.kind = same ? ConversionKind::None : ConversionKind::Registers;
    return conversion;
  }
  if (sameWarp) {
    std::optional<ShufflePlan> shuffle = ShuffleScheduler(sourceOf, destination).schedule();
    if (shuffle && shuffleIsCheaper(*shuffle, source, destination, elementBits)) {
      conversion.kind = ConversionKind::Shuffle;
      conversion.shuffle = std::move(*shuffle);
      return conversion;
    }
  }
  conversion.kind = ConversionKind::Shared;
  if (!kindOnly)
    conversion.shared = planShared(source, destination, elementBits);
  return conversion;
}

Conversion tilec::planConversion(const Layout &source, const Layout &destination,
                                 unsigned elementBits) {
  return plan(source, destination, elementBits, /*kindOnly=*/false);
}

ConversionKind tilec::classifyConversion(const Layout &source, const Layout &destination,
                                         unsigned elementBits) {
  return plan(source, destination, elementBits, /*kindOnly=*/true).kind;
}

uint64_t Conversion::sourceRegister(uint64_t destinationRegister) const {
  return sourceOf.field(sourceOf.applyFlat(Position::thread(destinationRegister, 0)), RegisterDim);
}

bool tilec::copiesAreInLanes(const Layout &layout) {
  if (layout.redundant(Input::Warp))
    return false;
  uint64_t copies = layout.redundant(Input::Lane);
  for (unsigned bit = 0; bit < layout.numBits(Input::Lane); ++bit)
    if (copies >> bit & 1 && layout.basis(Input::Lane, bit) != 0)
      return false;
  return true;
}
