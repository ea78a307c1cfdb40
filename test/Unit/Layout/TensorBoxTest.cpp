//===- TensorBoxTest.cpp - buffers as copy engines write them --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The boxes of a plan are copied as the hardware does, element by element, with its
// formula for swizzled addresses; then each byte must be where the layout says.
//
//===------------------------------------------------------------------------===//
#include "tilec/Layout/SwizzledForm.h"
#include "tilec/Layout/TensorBox.h"

#include "gtest/gtest.h"

using namespace tilec;

namespace {

/// The address at which the hardware puts what belongs at `address`.
uint64_t swizzleAddress(uint64_t address, unsigned swizzleBytes) {
  uint64_t mask = swizzleBytes == 128 ? 7 : swizzleBytes == 64 ? 3 : swizzleBytes == 32 ? 1 : 0;
  return address ^ (address >> 7 & mask) << 4;
}

/// Offset in the buffer -> row-major number of the element, by copying boxes.
std::vector<int64_t> copyBoxes(const BoxPlan &plan, llvm::ArrayRef<int64_t> shape,
                               llvm::ArrayRef<int64_t> arrayDims, unsigned elementBytes) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  std::vector<int64_t> result(size_t(count), -1);
  int64_t boxElements = 1;
  for (int64_t size : plan.box)
    boxElements *= size;
  for (const BoxPlan::Piece &piece : plan.pieces)
    for (int64_t i = 0; i < boxElements; ++i) {
      std::vector<int64_t> inArray(shape.size());
      int64_t rest = i;
      for (size_t dim = shape.size(); dim-- > 0;) {
        inArray[dim] = piece.start[dim] + rest % plan.box[dim];
        rest /= plan.box[dim];
      }
      int64_t flat = 0;
      for (size_t dim = 0; dim < shape.size(); ++dim)
        flat = flat * shape[dim] + inArray[size_t(arrayDims[dim])];
      uint64_t address =
          swizzleAddress(uint64_t(piece.byteOffset + i * elementBytes), plan.swizzleBytes);
      result[size_t(address / elementBytes)] = flat;
    }
  return result;
}

void expectRoundTrip(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order,
                     llvm::ArrayRef<int64_t> arrayDims, unsigned elementBits,
                     unsigned swizzleBytes) {
  Layout buffer = Layout::swizzled(shape, order, elementBits, swizzleBytes);
  std::optional<BoxPlan> plan = planBoxes(buffer, elementBits, arrayDims, unsigned(shape.size()));
  ASSERT_TRUE(plan) << buffer.str();
  EXPECT_EQ(plan->swizzleBytes, swizzleBytes);
  for (int64_t size : plan->box)
    EXPECT_LE(size, 256);
  if (swizzleBytes) {
    EXPECT_LE(plan->box.back() * elementBits / 8, swizzleBytes);
  }
  std::vector<int64_t> copied = copyBoxes(*plan, shape, arrayDims, elementBits / 8);
  for (uint64_t offset = 0; offset < copied.size(); ++offset) {
    Position position;
    position[Input::Offset] = offset;
    ASSERT_EQ(copied[offset], int64_t(buffer.applyFlat(position)))
        << buffer.str() << " at " << offset;
  }
}

TEST(TensorBoxTest, RowsAlongTheLastDim) {
  expectRoundTrip({128, 64}, {1, 0}, {0, 1}, 16, 128);
  expectRoundTrip({128, 128}, {1, 0}, {0, 1}, 16, 128);
  expectRoundTrip({64, 32}, {1, 0}, {0, 1}, 16, 64);
  expectRoundTrip({64, 16}, {1, 0}, {0, 1}, 16, 32);
  expectRoundTrip({64, 8}, {1, 0}, {0, 1}, 16, 0);
  expectRoundTrip({128, 128}, {1, 0}, {0, 1}, 8, 128);
  expectRoundTrip({64, 64}, {1, 0}, {0, 1}, 32, 128);
  expectRoundTrip({2, 64}, {1, 0}, {0, 1}, 16, 128);
}

TEST(TensorBoxTest, MoreRowsThanABoxHas) {
  expectRoundTrip({512, 64}, {1, 0}, {0, 1}, 16, 128);
  expectRoundTrip({1024, 128}, {1, 0}, {0, 1}, 8, 128);
}

TEST(TensorBoxTest, TransposedTiles) {
  // Tile [K, N] of an array [N, K], and rows along the first dim of the tile.
  expectRoundTrip({64, 128}, {0, 1}, {1, 0}, 16, 128);
  expectRoundTrip({128, 256}, {0, 1}, {1, 0}, 16, 128);
}

TEST(TensorBoxTest, ThreeDims) {
  expectRoundTrip({4, 16, 64}, {2, 1, 0}, {0, 1, 2}, 16, 128);
  expectRoundTrip({4, 16, 128}, {2, 1, 0}, {0, 1, 2}, 16, 128);
  // The first two dims the other way round in the array: a box for each row of them.
  expectRoundTrip({4, 16, 64}, {2, 1, 0}, {1, 0, 2}, 16, 128);
  expectRoundTrip({1, 128, 64}, {2, 1, 0}, {0, 1, 2}, 16, 128);
}

TEST(TensorBoxTest, ViewsOfArraysWithMoreDims) {
  // Rows of one head of [batch, heads, rows, columns].
  std::optional<BoxPlan> plan =
      planBoxes(Layout::swizzled({64, 128}, {1, 0}, 16, 128), 16, {2, 3}, 4);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->box, (llvm::SmallVector<int64_t, 6>{1, 1, 64, 64}));
  ASSERT_EQ(plan->pieces.size(), 2u);
  EXPECT_EQ(plan->pieces[1].start, (llvm::SmallVector<int64_t, 6>{0, 0, 0, 64}));
  EXPECT_EQ(plan->pieces[1].byteOffset, 64 * 128);
  // [batch, rows, heads, columns]
  plan = planBoxes(Layout::swizzled({64, 64}, {1, 0}, 16, 128), 16, {1, 3}, 4);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->box, (llvm::SmallVector<int64_t, 6>{1, 64, 1, 64}));
  // The columns are no dim of the tile.
  EXPECT_FALSE(planBoxes(Layout::swizzled({64, 64}, {1, 0}, 16, 128), 16, {1, 2}, 4));
}

TEST(TensorBoxTest, PartsForSeveralBlocks) {
  // One box becomes two; four were there already.
  Layout rows = Layout::swizzled({256, 64}, {1, 0}, 16, 128);
  std::optional<BoxPlan> plan = planBoxes(rows, 16, {0, 1}, 2, /*parts=*/2);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->box, (llvm::SmallVector<int64_t, 6>{128, 64}));
  ASSERT_EQ(plan->pieces.size(), 2u);
  EXPECT_EQ(plan->pieces[1].start, (llvm::SmallVector<int64_t, 6>{128, 0}));
  std::vector<int64_t> copied = copyBoxes(*plan, {256, 64}, {0, 1}, 2);
  for (uint64_t offset = 0; offset < copied.size(); ++offset) {
    Position position;
    position[Input::Offset] = offset;
    ASSERT_EQ(copied[offset], int64_t(rows.applyFlat(position)));
  }
  plan = planBoxes(Layout::swizzled({64, 256}, {1, 0}, 16, 128), 16, {0, 1}, 2, 2);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->pieces.size(), 4u);
  // A single row of 128 bytes cannot be cut.
  EXPECT_FALSE(planBoxes(Layout::swizzled({1, 64}, {1, 0}, 16, 128), 16, {0, 1}, 2, 2));
}

TEST(TensorBoxTest, RefusesWhatTheEngineCannotDo) {
  // Rows that are not the array's.
  EXPECT_FALSE(planBoxes(Layout::swizzled({64, 64}, {0, 1}, 16, 128), 16, {0, 1}, 2));
  // Rows of less than 16 bytes.
  EXPECT_FALSE(planBoxes(Layout::swizzled({64, 4}, {1, 0}, 16, 0), 16, {0, 1}, 2));
  // Another swizzle.
  Layout other({8, 8});
  for (uint64_t basis : {1, 2, 4, 9, 18, 36})
    other.addFlat(Input::Offset, basis);
  EXPECT_FALSE(planBoxes(other, 16, {0, 1}, 2));
}

TEST(SwizzledFormTest, TakesLayoutsApart) {
  for (unsigned bytes : {0u, 32u, 64u, 128u})
    for (unsigned fastest : {0u, 1u}) {
      Layout buffer = Layout::swizzled({128, 128}, {fastest, 1 - fastest}, 16, bytes);
      std::optional<SwizzledForm> form = matchSwizzled(buffer, 16);
      ASSERT_TRUE(form);
      EXPECT_EQ(form->fastest(), fastest);
      EXPECT_EQ(form->swizzleBytes, bytes);
      EXPECT_EQ(form->panelWidth({128, 128}), bytes ? bytes / 2 : 128);
    }
  EXPECT_EQ(widestSwizzle(64, 16), 128u);
  EXPECT_EQ(widestSwizzle(32, 16), 64u);
  EXPECT_EQ(widestSwizzle(16, 16), 32u);
  EXPECT_EQ(widestSwizzle(8, 16), 0u);
  EXPECT_EQ(widestSwizzle(128, 8), 128u);
}

} // namespace
