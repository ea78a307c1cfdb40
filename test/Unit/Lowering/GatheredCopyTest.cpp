//===- GatheredCopyTest.cpp - operands by index, copied asynchronously -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Products whose operands are gathered by index, in rings that all threads fill (those of warps
// that only copy are in Unit/Examples): rows that repeat, are negative, outside, masked off; indices of
// several types, loaded outside or in the loop, or computed; a or b, as they are or
// transposed, of arrays of two and three dims; every number of iterations around the number
// of places. Compiled code must give the interpreter's bits, and the emulator find nothing.
//
//===------------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "gtest/gtest.h"

using namespace tilec;

namespace {

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// A kernel and what of it changes: II, the type of rows; MASK; OUTSIDE and INSIDE, operations
/// before and in the loop that make %row, a tile of 64 of them.
const std::string gatheredA = R"(
  tile.kernel @rows(%x: !tile.array<?x?xbf16>, %w: !tile.array<?x?xbf16>,
                    %rows: !tile.array<?xII>, %m: !tile.array<?xi1>,
                    %y: !tile.array<?x?xf32, mut>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant dense<0.0> : tensor<64x64xf32>
    %along = tile.iota : tensor<64xindex>
    %masked = tile.load %m[%c0] : !tile.array<?xi1> -> tensor<64xi1>
    %mask1 = tile.reshape %masked : tensor<64xi1> -> tensor<64x1xi1>
    %mask = tile.broadcast %mask1 : tensor<64x1xi1> -> tensor<64x64xi1>
    OUTSIDE
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32>) {
      INSIDE
      %row1 = tile.reshape %row : tensor<64xII> -> tensor<64x1xII>
      %row2 = tile.broadcast %row1 : tensor<64x1xII> -> tensor<64x64xII>
      %start = arith.muli %i, %c64 : index
      %starts = tile.splat %start : index -> tensor<64xindex>
      %at = arith.addi %starts, %along : tensor<64xindex>
      %at1 = tile.reshape %at : tensor<64xindex> -> tensor<1x64xindex>
      %at2 = tile.broadcast %at1 : tensor<1x64xindex> -> tensor<64x64xindex>
      %a = tile.gather %x[%row2, %at2] MASK run [1, 8]
          : !tile.array<?x?xbf16>, [tensor<64x64xII>, tensor<64x64xindex>] -> tensor<64x64xbf16>
      %b = tile.load %w[%i, %c0] : !tile.array<?x?xbf16> -> tensor<64x64xbf16>
      %t = tile.mma %a, %b, %s : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      scf.yield %t : tensor<64x64xf32>
    }
    tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
    tile.return
  })";

const std::string loadRows =
    "%row = tile.load %rows[%c0] pad(-1 : II) : !tile.array<?xII> -> tensor<64xII>";
/// Other rows in each iteration.
const std::string loadRowsOfIteration =
    "%row = tile.load %rows[%i] pad(-1 : II) : !tile.array<?xII> -> tensor<64xII>";
/// (7 i + 3 p) / 2 - 2 of a number p.
const std::string computeRows = R"(
      %number = tile.iota : tensor<64xII>
      %ci = arith.index_cast %i : index to II
      %seven = arith.constant 7 : II
      %seven_i = arith.muli %ci, %seven : II
      %all_i = tile.splat %seven_i : II -> tensor<64xII>
      %three = arith.constant dense<3> : tensor<64xII>
      %two = arith.constant dense<2> : tensor<64xII>
      %p3 = arith.muli %number, %three : tensor<64xII>
      %sum = arith.addi %p3, %all_i : tensor<64xII>
      %half = tile.divide trunc signed %sum, %two : tensor<64xII>
      %row = arith.subi %half, %two : tensor<64xII>)";

std::string kernel(const std::string &type, const std::string &outside, const std::string &inside,
                   bool isMasked = false) {
  std::string text = replaced(replaced(gatheredA, "OUTSIDE", outside), "INSIDE", inside);
  text = replaced(text, "MASK", isMasked ? "mask(%mask : tensor<64x64xi1>)" : "");
  return replaced(text, "II", type);
}

constexpr int64_t tokens = 41, depth = 136;

template <typename T> HostArray someRows(DType dtype, int64_t count) {
  std::vector<T> rows;
  for (int64_t i = 0; i < count; ++i)
    rows.push_back(T(i % 8 == 3   ? -1 - i
                     : i % 8 == 5 ? tokens + i
                     : i % 8 == 6 ? 4
                     : i == 17    ? std::numeric_limits<T>::max()
                     : i == 18    ? std::numeric_limits<T>::min()
                                  : i * 29 % tokens));
  return HostArray::of(dtype, {count}, rows);
}

HostArray someMask() {
  std::vector<uint8_t> mask;
  for (int64_t i = 0; i < 64; ++i)
    mask.push_back(i % 5 != 2);
  return HostArray::of(DType::Bool, {64}, mask);
}

std::vector<HostArray> arraysWith(HostArray rows) {
  return {wholeNumbers(DType::BF16, {tokens, depth}, 1), wholeNumbers(DType::BF16, {depth, 64}, 2),
          std::move(rows), someMask(), HostArray::output(DType::F32, {64, 64})};
}

RunOptions options(const char *chip, int64_t n, int stages = 0) {
  RunOptions result;
  result.chip = chip;
  result.numStages = stages;
  result.onlyAligned = true;
  result.scalars = {ScalarArg::integer(DType::Int, n)};
  return result;
}

const char *const chips[] = {"sm_80", "sm_89"};

TEST(GatheredCopy, IndicesOfEveryTypeAndFromAnywhere) {
  for (const char *chip : chips)
    for (auto [outside, inside] : {std::pair<std::string, std::string>{loadRows, ""},
                                   {"", loadRowsOfIteration}, {"", computeRows}}) {
      std::vector<HostArray> arrays = arraysWith(someRows<int32_t>(DType::I32, 200));
      EXPECT_EQ(checkKernel(kernel("i32", outside, inside), arrays, options(chip, 3)), "")
          << chip << inside;
      arrays = arraysWith(someRows<int64_t>(DType::I64, 200));
      RunOptions few = options(chip, 3);
      few.warps = {4};
      EXPECT_EQ(checkKernel(kernel("i64", outside, inside, /*isMasked=*/true), arrays, few), "")
          << chip << inside;
    }
}

TEST(GatheredCopy, AnyNumberOfIterations) {
  for (int stages : {1, 2, 3, 4})
    for (int64_t n : {0, 1, stages - 1, stages, stages + 1}) {
      std::vector<HostArray> arrays = arraysWith(someRows<int32_t>(DType::I32, 64));
      RunOptions run = options("sm_80", n, stages);
      run.warps = {4};
      EXPECT_EQ(checkKernel(kernel("i32", loadRows, ""), arrays, run), "")
          << stages << " stages, " << n;
    }
}

/// b gathered by rows of an array of three dims, as pages are, and transposed or not.
const std::string gatheredB = R"(
  tile.kernel @pages(%x: !tile.array<?x?xTT>, %k: !tile.array<?x?x?xTT>, %table: !tile.array<?xi32>,
                     %y: !tile.array<?x?xf32, mut>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant dense<0.0> : tensor<64x64xf32>
    %along = tile.iota : tensor<64xindex>
    %along1 = tile.reshape %along : tensor<64xindex> -> tensor<1x64xindex>
    %along2 = tile.broadcast %along1 : tensor<1x64xindex> -> tensor<64x64xindex>
    %number = tile.iota : tensor<64xi32>
    %size = arith.constant dense<16> : tensor<64xi32>
    %c64 = arith.constant 64 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32>) {
      %ci = arith.index_cast %i : index to i32
      %start = arith.muli %ci, %c64 : i32
      %starts = tile.splat %start : i32 -> tensor<64xi32>
      %token = arith.addi %starts, %number : tensor<64xi32>
      %entry = tile.divide trunc signed %token, %size : tensor<64xi32>
      %slot = tile.remainder trunc signed %token, %size : tensor<64xi32>
      %page = tile.gather %table[%entry] pad(-1 : i32)
          : !tile.array<?xi32>, [tensor<64xi32>] -> tensor<64xi32>
      %page1 = tile.reshape %page : tensor<64xi32> -> tensor<64x1xi32>
      %page2 = tile.broadcast %page1 : tensor<64x1xi32> -> tensor<64x64xi32>
      %slot1 = tile.reshape %slot : tensor<64xi32> -> tensor<64x1xi32>
      %slot2 = tile.broadcast %slot1 : tensor<64x1xi32> -> tensor<64x64xi32>
      %g = tile.gather %k[%page2, %slot2, %along2] run [1, RUN] : !tile.array<?x?x?xTT>,
          [tensor<64x64xi32>, tensor<64x64xi32>, tensor<64x64xindex>] -> tensor<64x64xTT>
      VIEW
      %a = tile.load %x[%c0, ACOLUMN] : !tile.array<?x?xTT> -> tensor<64x64xTT>
      %t = tile.mma %a, %b, %s : tensor<64x64xTT>, tensor<64x64xTT>, tensor<64x64xf32>
      scf.yield %t : tensor<64x64xf32>
    }
    tile.store %y[%c0, %c0], %r : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
    tile.return
  })";

TEST(GatheredCopy, PagesAsTheyAreAndTransposed) {
  struct Element {
    const char *name;
    DType dtype;
  };
  for (const char *chip : chips)
    for (auto [name, dtype] : {Element{"bf16", DType::BF16}, {"f16", DType::F16}, {"f8E4M3FN", DType::F8E4M3}})
      for (bool isTransposed : {false, true}) {
        std::string text = replaced(gatheredB, "VIEW",
                                    isTransposed ? "%b = tile.permute %g [1, 0] : tensor<64x64xTT> -> tensor<64x64xTT>"
                                                 : "%b = tile.reshape %g : tensor<64x64xTT> -> tensor<64x64xTT>");
        text = replaced(text, "RUN", dtype == DType::F8E4M3 ? "16" : "8");
        text = replaced(replaced(text, "ACOLUMN", isTransposed ? "%c0" : "%i"), "TT", name);
        std::vector<HostArray> arrays = {
            wholeNumbers(dtype, {64, 192}, 1), wholeNumbers(dtype, {11, 16, 64}, 2),
            HostArray::of(DType::I32, {10}, std::vector<int32_t>{3, 10, 3, -1, 0, 7, 11, 1, 2, 5}),
            HostArray::output(DType::F32, {64, 64})};
        RunOptions run = options(chip, 3);
        run.warps = {4, 8};
        EXPECT_EQ(checkKernel(text, arrays, run), "") << chip << " " << name << isTransposed;
      }
}

} // namespace
