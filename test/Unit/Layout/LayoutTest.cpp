//===- LayoutTest.cpp - properties of the layout algebra --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The algebra against its definition: each operation commutes with apply, on
// random layouts, wild ones included.
//===----------------------------------------------------------------------===//
#include "RandomLayout.h"
#include "tilec/Layout/Layout.h"
#include "tilec/Layout/Span.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <numeric>
#include <set>

using namespace tilec;
using tilec::test::Random;

namespace {

constexpr unsigned numRandom = 300;

/// Runs `check` on random layouts of 5 lane bits.
template <typename Check> void forRandomLayouts(Check check) {
  for (unsigned seed = 0; seed < numRandom; ++seed) {
    Random random(seed);
    Layout::Shape shape = random.shape(6, 11);
    Layout layout = random.layout(shape, 5, random.below(4));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + layout.str());
    check(layout, random);
    if (testing::Test::HasFailure())
      return;
  }
}

template <typename Check> void forPositions(const Layout &layout, Check check) {
  for (uint64_t bits = 0; bits < uint64_t(1) << layout.numInputBits(); bits += 3)
    check(layout.splitBits(bits));
}

TEST(SpanTest, SolvesAndIntersects) {
  Random random(1);
  for (unsigned round = 0; round < 500; ++round) {
    std::vector<uint64_t> a(random.below(6)), b(random.below(6));
    for (auto *vectors : {&a, &b})
      for (uint64_t &vector : *vectors)
        vector = random.below(64);
    auto all = [](const std::vector<uint64_t> &vectors) {
      std::set<uint64_t> sums;
      for (uint64_t mask = 0; mask < uint64_t(1) << vectors.size(); ++mask) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < vectors.size(); ++i)
          sum ^= (mask >> i & 1) ? vectors[i] : 0;
        sums.insert(sum);
      }
      return sums;
    };
    std::set<uint64_t> inA = all(a), inB = all(b), both;
    std::set_intersection(inA.begin(), inA.end(), inB.begin(), inB.end(),
                          std::inserter(both, both.end()));
    auto basis = Span::intersect(a, b);
    EXPECT_EQ(all({basis.begin(), basis.end()}), both);
    EXPECT_EQ(uint64_t(1) << basis.size(), both.size());
    Span span(a);
    for (uint64_t vector = 0; vector < 64; ++vector) {
      std::optional<uint64_t> mask = span.solve(vector);
      ASSERT_EQ(mask.has_value(), inA.count(vector) != 0);
      uint64_t sum = 0;
      for (unsigned i = 0; mask && i < a.size(); ++i)
        sum ^= (*mask >> i & 1) ? a[i] : 0;
      if (mask) {
        EXPECT_EQ(sum, vector);
      }
    }
  }
}

TEST(LayoutTest, TutorialExample) {
  Layout layout = Layout::blocked({4, 8}, {1, 4}, {4, 2}, {1, 1}, {1, 0});
  EXPECT_EQ(layout.str(), "4x8 register (0,1) (0,2) lane (0,4) (1,0) (2,0)");
  EXPECT_EQ(layout.apply(Position::thread(3, 5)), (Layout::Coords{2, 7}));
  EXPECT_EQ(layout.vectorWidth(1), 4u);
  EXPECT_EQ(layout.vectorWidth(0), 1u);
  Position at = layout.find(layout.flatten({2, 7}));
  EXPECT_EQ(at, Position::thread(3, 5));
}

TEST(LayoutTest, ScalarHasOnePlace) {
  Layout scalar;
  EXPECT_EQ(scalar.numElements(), 1);
  EXPECT_TRUE(scalar.isSurjective());
  EXPECT_EQ(scalar.str(), "scalar");
  Layout spread = Layout::coalesced({}, {}, 1, 32, 4);
  EXPECT_EQ(spread.redundant(Input::Lane), 31u);
  EXPECT_EQ(spread.redundant(Input::Warp), 3u);
  EXPECT_EQ(spread.applyFlat(Position::thread(0, 17, 2)), 0u);
}

TEST(LayoutTest, InvertIsARightInverse) {
  forRandomLayouts([](const Layout &layout, Random &) {
    ASSERT_TRUE(layout.isSurjective());
    Layout inverse = layout.invert();
    Layout identity = inverse.then(layout);
    for (int64_t flat = 0; flat < layout.numElements(); ++flat) {
      EXPECT_EQ(identity.applyFlat({{0, 0, 0, 0, uint64_t(flat)}}), uint64_t(flat));
      Position at = layout.find(flat);
      EXPECT_EQ(layout.applyFlat(at), uint64_t(flat));
      for (Input input : allInputs)
        EXPECT_EQ(at[input] & layout.redundant(input), 0u);
    }
  });
}

TEST(LayoutTest, RedundantBitsCountCopies) {
  forRandomLayouts([](const Layout &layout, Random &) {
    unsigned redundantBits = 0;
    for (Input input : allInputs)
      redundantBits += llvm::popcount(layout.redundant(input));
    EXPECT_EQ(redundantBits, layout.numInputBits() - layout.numOutputBits());
    EXPECT_EQ(layout.isInjective(), redundantBits == 0);
    // Positions with redundant bits clear: every element exactly once.
    std::vector<unsigned> seen(layout.numElements());
    for (uint64_t bits = 0; bits < uint64_t(1) << layout.numInputBits(); ++bits) {
      Position at = layout.splitBits(bits);
      bool first = true;
      for (Input input : allInputs)
        first &= (at[input] & layout.redundant(input)) == 0;
      seen[layout.applyFlat(at)] += first;
    }
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](unsigned n) { return n == 1; }));
  });
}

TEST(LayoutTest, ShapeOperationsCommuteWithApply) {
  forRandomLayouts([](const Layout &layout, Random &random) {
    unsigned rank = layout.rank();
    Layout expanded = layout.expandDims(random.below(rank + 1));
    EXPECT_EQ(expanded.rank(), rank + 1);
    Layout flat = layout.reshape({layout.numElements()});
    forPositions(layout, [&](const Position &at) {
      EXPECT_EQ(flat.apply(at)[0], int64_t(layout.applyFlat(at)));
      EXPECT_EQ(expanded.applyFlat(at), layout.applyFlat(at));
    });
    if (!rank)
      return;
    unsigned axis = random.below(rank);
    Layout sliced = layout.slice(axis), collapsed = layout.collapse(axis);
    llvm::SmallVector<int64_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    for (unsigned i = 0; i < rank; ++i)
      std::swap(order[i], order[random.below(rank)]);
    Layout permuted = layout.permute(order);
    forPositions(layout, [&](const Position &at) {
      Layout::Coords coords = layout.apply(at), without = coords, one = coords, moved;
      without.erase(without.begin() + axis);
      one[axis] = 0;
      for (int64_t dim : order)
        moved.push_back(coords[dim]);
      EXPECT_EQ(sliced.apply(at), without);
      EXPECT_EQ(collapsed.apply(at), one);
      EXPECT_EQ(permuted.apply(at), moved);
    });
    EXPECT_TRUE(sliced.isSurjective());
    // Without register copies the other places stay.
    Layout lean = sliced.withoutRegisterCopies();
    EXPECT_TRUE(lean.isSurjective());
    EXPECT_EQ(lean.redundant(Input::Register), 0u);
  });
}

TEST(LayoutTest, BroadcastThenCollapseIsTheSource) {
  forRandomLayouts([](const Layout &layout, Random &random) {
    if (!layout.rank())
      return;
    unsigned axis = random.below(layout.rank());
    Layout source = layout.collapse(axis).withoutRegisterCopies();
    Layout::Shape stretched(source.shape().begin(), source.shape().end());
    stretched[axis] = int64_t(1) << random.below(6);
    Layout result = source.broadcast(stretched);
    EXPECT_TRUE(result.isSurjective());
    EXPECT_EQ(result.collapse(axis).withoutRegisterCopies(), source);
  });
}

TEST(LayoutTest, HalvesAreTheSameElements) {
  unsigned halved = 0;
  forRandomLayouts([&](const Layout &layout, Random &random) {
    if (!layout.rank())
      return;
    unsigned axis = random.below(layout.rank());
    std::optional<Layout> half = layout.halve(axis);
    if (!half)
      return;
    ++halved;
    EXPECT_TRUE(half->isSurjective());
    EXPECT_EQ(half->numBits(Input::Register) + 1, layout.numBits(Input::Register));
    // What a thread has of the half is what it has of the tile there.
    int64_t middle = half->shape()[axis];
    for (uint64_t thread = 0; thread < layout.size(Input::Warp) * 32; thread += 5) {
      std::set<Layout::Coords> mine, low, high;
      for (uint64_t reg = 0; reg < layout.size(Input::Register); ++reg) {
        Layout::Coords coords = layout.apply(Position::thread(reg, thread % 32, thread / 32));
        bool isLow = coords[axis] < middle;
        coords[axis] %= middle;
        (isLow ? low : high).insert(coords);
      }
      for (uint64_t reg = 0; reg < half->size(Input::Register); ++reg)
        mine.insert(half->apply(Position::thread(reg, thread % 32, thread / 32)));
      EXPECT_EQ(mine, low);
      EXPECT_EQ(mine, high);
    }
  });
  EXPECT_GT(halved, 20u);
}

TEST(LayoutTest, ThenComposes) {
  forRandomLayouts([](const Layout &layout, Random &random) {
    Layout inner = random.layout({int64_t(1) << layout.numInputBits()}, 5, 1);
    Layout both = inner.then(layout);
    forPositions(inner, [&](const Position &at) {
      EXPECT_EQ(both.applyFlat(at), layout.applyBits(inner.applyFlat(at)));
    });
  });
}

TEST(LayoutTest, DivideUndoesProduct) {
  for (unsigned seed = 0; seed < numRandom; ++seed) {
    Random random(seed);
    Layout inner = random.layout({4, 8}, 3, 0), outer = random.layout({8, 2}, 2, 1);
    Layout product = inner.product(outer);
    EXPECT_EQ(product.shape(), (llvm::ArrayRef<int64_t>{32, 16}));
    EXPECT_TRUE(product.isSurjective());
    std::optional<Layout> quotient = product.divide(inner);
    ASSERT_TRUE(quotient.has_value());
    EXPECT_EQ(*quotient, outer);
    Layout other = random.layout({4, 8}, 3, 0);
    std::optional<Layout> wrong = product.divide(other);
    EXPECT_EQ(wrong.has_value(), wrong && other.product(*wrong) == product);
  }
}

TEST(LayoutTest, CoalescedIsTotal) {
  for (unsigned seed = 0; seed < numRandom; ++seed) {
    Random random(seed);
    Layout::Shape shape = random.shape(6, 20);
    llvm::SmallVector<unsigned> order(shape.size());
    std::iota(order.begin(), order.end(), 0u);
    for (unsigned &dim : order)
      std::swap(dim, order[random.below(order.size())]);
    int64_t warps = int64_t(1) << random.below(4), vector = int64_t(1) << random.below(5);
    Layout layout = Layout::coalesced(shape, order, vector, 32, warps);
    EXPECT_TRUE(layout.isSurjective());
    EXPECT_EQ(layout.size(Input::Lane), 32u);
    EXPECT_EQ(layout.size(Input::Warp), uint64_t(warps));
    EXPECT_EQ(layout.redundant(Input::Register), 0u);
    if (!order.empty()) {
      EXPECT_GE(layout.vectorWidth(order[0]), std::min(vector, shape[order[0]]));
    }
  }
}

TEST(LayoutTest, SoftmaxRow) {
  Layout row = Layout::coalesced({1, 1024}, {1, 0}, 8, 32, 4);
  EXPECT_EQ(row.str(), "1x1024 register (0,1) .. (0,4) lane (0,8) .. (0,128) warp (0,256) (0,512)");
  EXPECT_EQ(row.vectorWidth(1), 8u);
  Layout rows = Layout::coalesced({16, 128}, {1, 0}, 4, 32, 4);
  EXPECT_EQ(rows.str(), "16x128 register (0,1) (0,2) (4,0) (8,0) lane (0,4) .. (0,64) warp (1,0) (2,0)");
}

TEST(LayoutTest, VectorNeedsUndisturbedBits) {
  Layout layout({2, 4});
  layout.add(Input::Register, {0, 1}).add(Input::Register, {0, 2}).add(Input::Lane, {1, 1});
  EXPECT_EQ(layout.vectorWidth(1), 1u);
  Layout swapped({8});
  swapped.add(Input::Register, {2}).add(Input::Register, {1}).add(Input::Lane, {4});
  EXPECT_EQ(swapped.vectorRegisters(0), (llvm::SmallVector<unsigned, 4>{1, 0}));
}

TEST(LayoutTest, Prints) {
  Layout layout({4, 4});
  layout.add(Input::Offset, {0, 1}).add(Input::Offset, {0, 2}).add(Input::Offset, {1, 1}).add(Input::Offset, {2, 2});
  EXPECT_EQ(layout.str(), "4x4 offset (0,1) (0,2) (1,1) (2,2)");
  std::string picture;
  llvm::raw_string_ostream os(picture);
  layout.draw(os);
  EXPECT_EQ(picture, "# 4x4 offset (0,1) (0,2) (1,1) (2,2)\n"
                     "# each element's first place, as offset\n"
                     "               0         1         2         3\n"
                     "     0         0         1         2         3\n"
                     "     1         5         4         7         6\n"
                     "     2        10        11         8         9\n"
                     "     3        15        14        13        12\n");
}

} // namespace
