//===- ReductionPlanTest.cpp - where a reduction's operands meet -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A plan is carried out on paper: each thread starts with the set of elements it owns,
// registers, lanes and warps are combined as the plan says, and every position of the
// result must then hold exactly the elements of its row.
//
//===------------------------------------------------------------------------===//
#include "tilec/Analysis/ReductionPlan.h"

#include "gtest/gtest.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>
#include <vector>

using namespace tilec;

namespace {

using Elements = std::multiset<uint64_t>;

/// The kept coordinates of `flat`, as the result counts them.
uint64_t keptPart(const Layout &layout, uint64_t flat, llvm::ArrayRef<int64_t> axes) {
  uint64_t number = 0;
  for (unsigned dim = 0; dim < layout.rank(); ++dim)
    if (!llvm::is_contained(axes, int64_t(dim)))
      number = number << layout.fieldBits(dim) | layout.field(flat, dim);
  return number;
}

/// What the thread has in register `kept` (a number over the kept register bits) after
/// combining registers and lanes.
Elements combined(const Layout &layout, const ReductionPlan &plan, uint64_t kept,
                  uint64_t lane, uint64_t warp) {
  Elements elements;
  uint64_t numLanes = uint64_t(1) << plan.axisLanes.size();
  uint64_t numRegisters = uint64_t(1) << plan.axisRegisters.size();
  for (uint64_t l = 0; l < numLanes; ++l)
    for (uint64_t r = 0; r < numRegisters; ++r) {
      uint64_t otherLane = lane, reg = 0;
      for (auto [index, bit] : llvm::enumerate(plan.axisLanes))
        otherLane ^= (l >> index & 1) << bit;
      for (auto [index, bit] : llvm::enumerate(plan.axisRegisters))
        reg |= (r >> index & 1) << bit;
      for (auto [index, bit] : llvm::enumerate(plan.keptRegisters))
        reg |= (kept >> index & 1) << bit;
      elements.insert(layout.applyFlat(Position::thread(reg, otherLane, warp)));
    }
  return elements;
}

void checkPlan(const Layout &layout, llvm::ArrayRef<int64_t> axes) {
  std::optional<ReductionPlan> plan = planReduction(layout, axes);
  ASSERT_TRUE(plan) << layout.str();
  std::map<uint64_t, Elements> rows;
  for (uint64_t flat = 0; flat < uint64_t(layout.numElements()); ++flat)
    rows[keptPart(layout, flat, axes)].insert(flat);
  ASSERT_TRUE(plan->result.isSurjective());
  ASSERT_TRUE(plan->partial.isSurjective());
  for (uint64_t warp = 0; warp < layout.size(Input::Warp); ++warp)
    for (uint64_t lane = 0; lane < 32; ++lane)
      for (uint64_t kept = 0; kept < plan->result.size(Input::Register); ++kept) {
        Elements all;
        for (uint64_t w = 0; w < uint64_t(1) << plan->axisWarps.size(); ++w) {
          uint64_t other = warp;
          for (auto [index, bit] : llvm::enumerate(plan->axisWarps))
            other = (other & ~(uint64_t(1) << bit)) | (w >> index & 1) << bit;
          Elements part = combined(layout, *plan, kept, lane, other);
          all.insert(part.begin(), part.end());
          // The partial tile counts the warps in its first dim.
          EXPECT_EQ(plan->partial.apply(Position::thread(kept, lane, other))[0], int64_t(w));
          // And a thread that gathers it finds that warp's part in register w.
          uint64_t gathered = w | kept << plan->axisWarps.size();
          EXPECT_EQ(plan->gathered.applyFlat(Position::thread(gathered, lane, warp)),
                    plan->partial.applyFlat(Position::thread(kept, lane, other)));
        }
        uint64_t position = plan->result.applyFlat(Position::thread(kept, lane, warp));
        EXPECT_EQ(all, rows[position]) << layout.str();
      }
}

TEST(ReductionPlanTest, CombinesEveryElementOnce) {
  for (unsigned warps : {1u, 2u, 8u})
    for (const std::vector<int64_t> &axes : std::vector<std::vector<int64_t>>{{0}, {1}, {0, 1}}) {
      checkPlan(Layout::coalesced({16, 64}, {1, 0}, 4, 32, warps), axes);
      checkPlan(Layout::coalesced({16, 64}, {0, 1}, 2, 32, warps), axes);
      checkPlan(Layout::coalesced({2, 4}, {1, 0}, 1, 32, warps), axes);
      checkPlan(reducibleLayout({64, 8}, warps), axes);
    }
}

TEST(ReductionPlanTest, RefusesWhatMixesDims) {
  Layout mixed({4, 32});
  mixed.add(Input::Register, {1, 1}).add(Input::Register, {2, 0});
  mixed.addRun(Input::Lane, 1, 1, 5);
  EXPECT_FALSE(planReduction(mixed, {1}));
  // Copies that are sums of other bases would be counted twice.
  Layout copies({32});
  copies.add(Input::Register, {1});
  copies.addRun(Input::Lane, 0, 1, 5);
  EXPECT_FALSE(planReduction(copies, {0}));
}

} // namespace
