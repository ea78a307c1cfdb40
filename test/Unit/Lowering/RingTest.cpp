//===- RingTest.cpp - copies that run ahead, compiled and interpreted -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Loops of products whose loads become rings that all threads fill: every number of
// iterations around the number of places, none too; loops in loops, in branches, in a
// `while`; edges of arrays; transposed operands; every type that a piece of 16 bytes
// holds. The emulator reports a place that is read too early or filled too early.
//
//===------------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "gtest/gtest.h"

using namespace tilec;

namespace {

RunOptions options(int stages, std::vector<unsigned> warps) {
  RunOptions result;
  result.numStages = stages;
  result.warps = std::move(warps);
  return result;
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::vector<HostArray> operands(int64_t depth) {
  return {wholeNumbers(DType::F16, {32, depth}, 1), wholeNumbers(DType::F16, {depth, 32}, 2),
          HostArray::output(DType::F32, {32, 32})};
}

/// A product over `%n` tiles of K.
const std::string product = R"(
    tile.kernel @mm(%a: !tile.array<?x?xf16>, %b: !tile.array<?x?xf16>,
                    %c: !tile.array<?x?xf32, mut>, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %z = arith.constant dense<0.0> : tensor<32x32xf32>
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<32x32xf32>) {
        %x = tile.load %a[%c0, %i] : !tile.array<?x?xf16> -> tensor<32x16xf16>
        %y = tile.load %b[%i, %c0] : !tile.array<?x?xf16> -> tensor<16x32xf16>
        %t = tile.mma %x, %y, %s : tensor<32x16xf16>, tensor<16x32xf16>, tensor<32x32xf32>
        scf.yield %t : tensor<32x32xf32>
      }
      tile.store %c[%c0, %c0], %r : !tile.array<?x?xf32, mut>, tensor<32x32xf32>
      tile.return
    })";

/// The last tile of K is half outside.
TEST(RingTest, AnyNumberOfIterations) {
  for (int stages : {1, 2, 3, 4})
    for (int64_t n : {0, 1, 2, 3, 5}) {
      std::vector<HostArray> arrays = operands(72);
      RunOptions run = options(stages, {4});
      run.scalars = {ScalarArg::integer(DType::Int, n)};
      EXPECT_EQ(checkKernel(product, arrays, run), "") << stages << " stages, " << n;
    }
}

TEST(RingTest, LoopsInLoopsAndBranches) {
  size_t begin = product.find("%r = scf.for"), end = product.find("tile.store");
  std::string loop = product.substr(begin, end - begin);
  std::string nested = product.substr(0, begin) + R"(
      %q = scf.for %j = %c0 to %c2 step %c1 iter_args(%p = %z) -> (tensor<32x32xf32>) {
        %odd = arith.cmpi eq, %j, %c1 : index
        %w = scf.if %odd -> (tensor<32x32xf32>) {
          )" + replaced(loop, "%s = %z", "%s = %p") + R"(
          scf.yield %r : tensor<32x32xf32>
        } else {
          )" + replaced(replaced(loop, "%s = %z", "%s = %p"), "[%i, %c0]", "[%i, %j]") + R"(
          scf.yield %r : tensor<32x32xf32>
        }
        scf.yield %w : tensor<32x32xf32>
      }
      )" + replaced(product.substr(end), "%r", "%q");
  for (int stages : {2, 3, 4})
    for (int64_t n : {0, 1, 4}) {
      std::vector<HostArray> arrays = operands(64);
      RunOptions run = options(stages, {2});
      run.scalars = {ScalarArg::integer(DType::Int, n)};
      EXPECT_EQ(checkKernel(nested, arrays, run), "") << stages << " stages, " << n;
    }
}

/// The next iteration is not known to come, so nothing runs ahead; the ring still works.
TEST(RingTest, WhileLoops) {
  size_t begin = product.find("%r = scf.for"), end = product.find("tile.store");
  std::string text = product.substr(0, begin) + R"(
      %r, %last = scf.while (%s = %z, %i = %c0) : (tensor<32x32xf32>, index)
          -> (tensor<32x32xf32>, index) {
        %more = arith.cmpi slt, %i, %n : index
        scf.condition(%more) %s, %i : tensor<32x32xf32>, index
      } do {
      ^bb0(%s: tensor<32x32xf32>, %i: index):
        %x = tile.load %a[%c0, %i] : !tile.array<?x?xf16> -> tensor<32x16xf16>
        %y = tile.load %b[%i, %c0] : !tile.array<?x?xf16> -> tensor<16x32xf16>
        %t = tile.mma %x, %y, %s : tensor<32x16xf16>, tensor<16x32xf16>, tensor<32x32xf32>
        %next = arith.addi %i, %c1 : index
        scf.yield %t, %next : tensor<32x32xf32>, index
      }
      )" + product.substr(end);
  for (int stages : {1, 2, 3})
    for (int64_t n : {0, 1, 4}) {
      std::vector<HostArray> arrays = operands(64);
      RunOptions run = options(stages, {4});
      run.scalars = {ScalarArg::integer(DType::Int, n)};
      EXPECT_EQ(checkKernel(text, arrays, run), "") << stages << " stages, " << n;
    }
}

struct Element {
  const char *operand, *acc;
  DType dtype, accType;
};

/// a transposed by its load, b by a permute, batches of heads as in [b, h, s, d].
TEST(RingTest, ViewsOfEveryType) {
  for (const Element &type : std::vector<Element>{{"f16", "f32", DType::F16, DType::F32},
                                                  {"bf16", "f32", DType::BF16, DType::F32},
                                                  {"f32", "f32", DType::F32, DType::F32},
                                                  {"f64", "f64", DType::F64, DType::F64},
                                                  {"i8", "i32", DType::I8, DType::I32},
                                                  {"f8E4M3FN", "f32", DType::F8E4M3, DType::F32}}) {
    std::string text = R"(
      tile.kernel @mm(%a: !tile.array<?x?xTT>, %b: !tile.array<?x?x?x?xTT>,
                      %c: !tile.array<?x?xAA, mut>, %n: index) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %z = arith.constant dense<ZERO> : tensor<32x32xAA>
        %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<32x32xAA>) {
          %x = tile.load %a[%c0, %i] order [1, 0] : !tile.array<?x?xTT> -> tensor<32x32xTT>
          %w = tile.load %b[%c1, %c0, %c0, %i] : !tile.array<?x?x?x?xTT> -> tensor<1x1x32x32xTT>
          %v = tile.reshape %w : tensor<1x1x32x32xTT> -> tensor<32x32xTT>
          %y = tile.permute %v [1, 0] : tensor<32x32xTT> -> tensor<32x32xTT>
          %t = tile.mma %x, %y, %s : tensor<32x32xTT>, tensor<32x32xTT>, tensor<32x32xAA>
          scf.yield %t : tensor<32x32xAA>
        }
        tile.store %c[%c0, %c0], %r : !tile.array<?x?xAA, mut>, tensor<32x32xAA>
        tile.return
      })";
    text = replaced(replaced(text, "TT", type.operand), "AA", type.acc);
    text = replaced(text, "ZERO", type.acc[0] == 'i' ? "0" : "0.0");
    std::vector<HostArray> arrays = {wholeNumbers(type.dtype, {80, 32}, 5),
                                     wholeNumbers(type.dtype, {2, 2, 32, 80}, 6),
                                     HostArray::output(type.accType, {32, 32})};
    RunOptions run = options(3, {4});
    run.scalars = {ScalarArg::integer(DType::Int, 3)};
    EXPECT_EQ(checkKernel(text, arrays, run), "") << type.operand;
  }
}

} // namespace
