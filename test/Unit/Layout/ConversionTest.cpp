//===- ConversionTest.cpp - planned conversions, executed -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A register file of numbers, one for each element of a tile, is taken through the
// plan of a conversion just as threads would do it; afterwards every register must
// hold the element that the destination promises.
//===----------------------------------------------------------------------===//
#include "tilec/Layout/Conversion.h"
#include "RandomLayout.h"
#include "gtest/gtest.h"
#include <map>

using namespace tilec;
using tilec::test::Random;

namespace {

constexpr uint64_t unset = ~uint64_t(0);

/// values[warp][lane][register].
class RegisterFile {
public:
  explicit RegisterFile(const Layout &layout)
      : registers(layout.size(Input::Register)), lanes(layout.size(Input::Lane)),
        warps(layout.size(Input::Warp)), values(warps * lanes * registers, unset) {}

  uint64_t &at(uint64_t warp, uint64_t lane, uint64_t reg) {
    EXPECT_TRUE(warp < warps && lane < lanes && reg < registers);
    return values.at((warp * lanes + lane) * registers + reg);
  }

  template <typename Body> void forThreads(Body body) {
    for (uint64_t warp = 0; warp < warps; ++warp)
      for (uint64_t lane = 0; lane < lanes; ++lane)
        body(warp, lane);
  }

  uint64_t registers, lanes, warps;

private:
  std::vector<uint64_t> values;
};

RegisterFile elementsOf(const Layout &layout) {
  RegisterFile file(layout);
  file.forThreads([&](uint64_t warp, uint64_t lane) {
    for (uint64_t reg = 0; reg < file.registers; ++reg)
      file.at(warp, lane, reg) = layout.applyFlat(Position::thread(reg, lane, warp));
  });
  return file;
}

void runRegisters(const Conversion &conversion, RegisterFile &from, RegisterFile &to) {
  to.forThreads([&](uint64_t warp, uint64_t lane) {
    for (uint64_t reg = 0; reg < to.registers; ++reg)
      to.at(warp, lane, reg) = from.at(warp, lane, conversion.sourceRegister(reg));
  });
}

void runShuffles(const ShufflePlan &plan, RegisterFile &from, RegisterFile &to) {
  for (const ShufflePlan::Round &round : plan.rounds) {
    // What every lane shows, before anyone reads.
    RegisterFile shown = from;
    to.forThreads([&](uint64_t warp, uint64_t lane) {
      uint64_t reg = round.shownRegister ^ ShufflePlan::apply(plan.laneToShown, lane) ^
                     ShufflePlan::apply(plan.warpToShown, warp);
      shown.at(warp, lane, 0) = from.at(warp, lane, reg);
    });
    to.forThreads([&](uint64_t warp, uint64_t lane) {
      uint64_t giver = round.giverLane ^ ShufflePlan::apply(plan.laneToGiver, lane) ^
                       ShufflePlan::apply(plan.warpToGiver, warp);
      uint64_t filled = round.filledRegister ^ ShufflePlan::apply(plan.laneToFilled, lane);
      if (plan.staysInLane(round)) {
        EXPECT_EQ(giver, lane);
      }
      to.at(warp, lane, filled) = shown.at(warp, giver, 0);
    });
  }
  to.forThreads([&](uint64_t warp, uint64_t lane) {
    for (auto [copy, original] : plan.copies)
      to.at(warp, lane, copy) = to.at(warp, lane, original);
  });
}

void runShared(const Layout &source, const Layout &destination, const SharedPlan &plan,
               unsigned elementBits, RegisterFile &from, RegisterFile &to) {
  std::vector<uint64_t> memory(plan.buffer.numElements(), unset);
  SharedAccess store = planSharedAccess(source, plan.buffer, elementBits);
  EXPECT_EQ(store.vector, plan.storeVector);
  auto offsetOf = [](const SharedAccess &access, uint64_t group, uint64_t lane, uint64_t warp) {
    uint64_t offset = access.offsetOf.applyFlat(Position::thread(group, lane, warp));
    EXPECT_EQ(offset % access.vector, 0u);
    return offset;
  };
  from.forThreads([&](uint64_t warp, uint64_t lane) {
    for (uint64_t group : store.groups)
      for (uint64_t i = 0; i < store.vector; ++i)
        memory.at(offsetOf(store, group, lane, warp) + i) =
            from.at(warp, lane, group ^ store.elements[i]);
  });
  SharedAccess load = planSharedAccess(destination, plan.buffer, elementBits);
  to.forThreads([&](uint64_t warp, uint64_t lane) {
    for (uint64_t group : load.groups)
      for (uint64_t i = 0; i < load.vector; ++i)
        to.at(warp, lane, group ^ load.elements[i]) =
            memory.at(offsetOf(load, group, lane, warp) + i);
    for (auto [copy, original] : load.copies)
      to.at(warp, lane, copy) = to.at(warp, lane, original);
  });
}

/// Executes the plan and compares; returns the kind.
ConversionKind convert(const Layout &source, const Layout &destination, unsigned elementBits) {
  Conversion conversion = planConversion(source, destination, elementBits);
  EXPECT_EQ(classifyConversion(source, destination, elementBits), conversion.kind);
  RegisterFile from = elementsOf(source), to(destination), expected = elementsOf(destination);
  switch (conversion.kind) {
  case ConversionKind::None:
    EXPECT_EQ(from.registers, to.registers);
    to = from;
    break;
  case ConversionKind::Registers:
    runRegisters(conversion, from, to);
    break;
  case ConversionKind::Shuffle:
    runShuffles(conversion.shuffle, from, to);
    break;
  case ConversionKind::Shared:
    runShared(source, destination, conversion.shared, elementBits, from, to);
    break;
  }
  to.forThreads([&](uint64_t warp, uint64_t lane) {
    for (uint64_t reg = 0; reg < to.registers; ++reg)
      EXPECT_EQ(to.at(warp, lane, reg), expected.at(warp, lane, reg))
          << "warp " << warp << " lane " << lane << " register " << reg;
  });
  return conversion.kind;
}

TEST(ConversionTest, RandomPairsMoveNoValue) {
  std::map<ConversionKind, unsigned> kinds;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    Layout::Shape shape = random.shape(4, 9);
    unsigned warpBits = random.below(3);
    Layout source = random.layout(shape, 5, warpBits);
    Layout destination = random.layout(shape, 5, warpBits);
    unsigned elementBits = 8u << random.below(4);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + source.str() + "  ->  " + destination.str());
    ++kinds[convert(source, destination, elementBits)];
    if (testing::Test::HasFailure())
      return;
  }
  EXPECT_GT(kinds[ConversionKind::Registers], 20u);
  EXPECT_GT(kinds[ConversionKind::Shuffle], 100u);
  EXPECT_GT(kinds[ConversionKind::Shared], 100u);
}

/// The same with warps and registers alike, so that shuffles are exercised hard.
TEST(ConversionTest, RandomPairsWithinAWarp) {
  unsigned shuffles = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    Layout::Shape shape = random.shape(3, 8);
    Layout source = random.layout(shape, 5, 0), destination = random.layout(shape, 5, 0);
    // Add warps that do the same in both.
    for (Layout *layout : {&source, &destination})
      *layout = layout->reshape({layout->numElements()}).product(Layout({2}).add(Input::Warp, {1}));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + source.str() + "  ->  " + destination.str());
    shuffles += convert(source, destination, 32) == ConversionKind::Shuffle;
    if (testing::Test::HasFailure())
      return;
  }
  EXPECT_GT(shuffles, 1000u);
}

TEST(ConversionTest, SameLayoutIsFree) {
  Layout layout = Layout::coalesced({64, 64}, {1, 0}, 4, 32, 4);
  EXPECT_EQ(convert(layout, layout, 32), ConversionKind::None);
}

TEST(ConversionTest, RenamingStaysInRegisters) {
  Layout a({8, 32}), b({8, 32});
  a.addRun(Input::Register, 0, 1, 3).addRun(Input::Lane, 1, 1, 5);
  b.add(Input::Register, {4, 0}).add(Input::Register, {3, 0}).add(Input::Register, {1, 0});
  b.addRun(Input::Lane, 1, 1, 5);
  EXPECT_EQ(convert(a, b, 32), ConversionKind::Registers);
  // Fewer warps' worth of copies: everybody has everything already.
  Layout everywhere({8}), spread({8});
  everywhere.addRun(Input::Register, 0, 1, 3).addZeros(Input::Lane, 5).addZeros(Input::Warp, 2);
  spread.addRun(Input::Register, 0, 1, 3).addZeros(Input::Lane, 5).addZeros(Input::Warp, 2).addZeros(Input::Register, 1);
  EXPECT_EQ(convert(everywhere, spread, 32), ConversionKind::Registers);
}

TEST(ConversionTest, PickingByLaneNeedsNoShuffle) {
  // All lanes hold all; each then keeps the element of its own number.
  Layout everywhere({32}), spread({32});
  everywhere.addRun(Input::Register, 0, 1, 5).addZeros(Input::Lane, 5);
  spread.addRun(Input::Lane, 0, 1, 5);
  Conversion conversion = planConversion(everywhere, spread, 32);
  ASSERT_EQ(conversion.kind, ConversionKind::Shuffle);
  ASSERT_EQ(conversion.shuffle.rounds.size(), 1u);
  EXPECT_TRUE(conversion.shuffle.staysInLane(conversion.shuffle.rounds[0]));
  convert(everywhere, spread, 32);
}

TEST(ConversionTest, ReversingLanesIsOneButterflyPerRegister) {
  Layout a({2, 32}), b({2, 32});
  a.add(Input::Register, {1, 0}).addRun(Input::Lane, 1, 1, 5);
  b.add(Input::Register, {1, 1}).addRun(Input::Lane, 1, 1, 5);
  Conversion conversion = planConversion(a, b, 32);
  ASSERT_EQ(conversion.kind, ConversionKind::Shuffle);
  EXPECT_TRUE(conversion.shuffle.isButterfly());
  EXPECT_TRUE(conversion.shuffle.isShownConstant() && conversion.shuffle.isFilledConstant());
  EXPECT_EQ(conversion.shuffle.rounds.size(), 2u);
}

TEST(ConversionTest, CrossingWarpsGoesThroughSharedMemory) {
  Layout a = Layout::coalesced({64, 64}, {1, 0}, 4, 32, 4);
  Layout b = Layout::coalesced({64, 64}, {0, 1}, 4, 32, 4);
  EXPECT_EQ(convert(a, b, 32), ConversionKind::Shared);
}

TEST(ConversionTest, TransposesHaveNoBankConflicts) {
  for (unsigned elementBits : {32u, 16u, 64u, 8u}) {
    for (int64_t size : {32, 64, 128}) {
      for (int64_t vector : {1, 2, 4, 8}) {
        Layout rows = Layout::coalesced({size, size}, {1, 0}, vector, 32, 4);
        Layout cols = Layout::coalesced({size, size}, {0, 1}, vector, 32, 4);
        SharedPlan plan = planShared(rows, cols, elementBits);
        SCOPED_TRACE(std::to_string(elementBits) + " bits, size " + std::to_string(size) +
                     " vector " + std::to_string(vector) + ": " + plan.buffer.str());
        EXPECT_EQ(plan.storeConflicts, 1u);
        EXPECT_EQ(plan.loadConflicts, 1u);
        convert(rows, cols, elementBits);
      }
    }
  }
}

TEST(ConversionTest, PlainBufferOfATransposeConflicts) {
  // The counter sees what the swizzle avoids.
  Layout cols = Layout::coalesced({64, 64}, {0, 1}, 1, 32, 4);
  EXPECT_EQ(countBankConflicts(cols, Layout::counting(Input::Offset, {64, 64}), 32), 32u);
}

TEST(ConversionTest, CommonVectorsAreKept) {
  // Both own runs of 4 along dimension 1, but on different lanes and warps.
  Layout a = Layout::blocked({64, 64}, {1, 4}, {2, 16}, {4, 1}, {1, 0});
  Layout b = Layout::blocked({64, 64}, {1, 4}, {32, 1}, {1, 4}, {1, 0});
  SharedPlan plan = planShared(a, b, 32);
  EXPECT_EQ(plan.storeVector, 4u);
  EXPECT_EQ(plan.loadVector, 4u);
  EXPECT_EQ(plan.storeConflicts, 1u);
  EXPECT_EQ(plan.loadConflicts, 1u);
  convert(a, b, 32);
}

} // namespace
