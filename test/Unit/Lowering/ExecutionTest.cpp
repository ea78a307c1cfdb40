//===- ExecutionTest.cpp - kernels, compiled and interpreted ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Each test is a kernel over what one file of lib/Lowering writes; KernelRunner
// compares compiled code with the interpreter for 1, 2, 4 and 8 warps.
//
//===------------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace tilec;

namespace {

std::vector<float> ramp(size_t count, float scale = 1) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = scale * float(int64_t(i * 2654435761u % 1021) - 510);
  return values;
}

TEST(ExecutionTest, AddsVectorsOfAnyLength) {
  for (int64_t n : {1, 7, 100, 1000, 1023, 4096}) {
    std::vector<HostArray> arrays = {HostArray::of(DType::F32, {n}, ramp(size_t(n))),
                                     HostArray::of(DType::F32, {n}, ramp(size_t(n), 0.5f)),
                                     HostArray::output(DType::F32, {n})};
    RunOptions options;
    options.grid = {(n + 1023) / 1024, 1, 1};
    EXPECT_EQ(checkKernel(R"(
      tile.kernel @add(%a: !tile.array<?xf32>, %b: !tile.array<?xf32>,
                       %c: !tile.array<?xf32, mut>) attributes {grid = ["g"]} {
        %i = tile.block_id 0 : index
        %x = tile.load %a[%i] : !tile.array<?xf32> -> tensor<1024xf32>
        %y = tile.load %b[%i] : !tile.array<?xf32> -> tensor<1024xf32>
        %z = arith.addf %x, %y : tensor<1024xf32>
        tile.store %c[%i], %z : !tile.array<?xf32, mut>, tensor<1024xf32>
        tile.return
      })", arrays, options), "") << n;
  }
}

TEST(ExecutionTest, EdgesInTwoDimsWithPadding) {
  std::vector<HostArray> arrays = {HostArray::of(DType::F32, {37, 60}, ramp(37 * 60)),
                                   HostArray::output(DType::F32, {60, 37})};
  RunOptions options;
  options.grid = {2, 2, 1};
  EXPECT_EQ(checkKernel(R"(
    tile.kernel @transpose(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>) {
      %i = tile.block_id 0 : index
      %j = tile.block_id 1 : index
      %x = tile.load %a[%i, %j] pad(3.0 : f32) : !tile.array<?x?xf32> -> tensor<32x32xf32>
      %y = tile.permute %x [1, 0] : tensor<32x32xf32> -> tensor<32x32xf32>
      tile.store %c[%j, %i], %y : !tile.array<?x?xf32, mut>, tensor<32x32xf32>
      tile.return
    })", arrays, options), "");
}

TEST(ExecutionTest, TilesOutsideReadPadding) {
  for (const char *index : {"-1", "4611686018427387904", "-9223372036854775808", "1"}) {
    std::vector<HostArray> arrays = {HostArray::of(DType::F32, {64}, ramp(64)),
                                     HostArray::of(DType::F32, {64}, ramp(64))};
    EXPECT_EQ(checkKernel(std::string(R"(
      tile.kernel @outside(%a: !tile.array<?xf32>, %c: !tile.array<?xf32, mut>) {
        %zero = arith.constant 0 : index
        %i = arith.constant )") + index + R"( : index
        %x = tile.load %a[%i] pad(7.0 : f32) : !tile.array<?xf32> -> tensor<64xf32>
        tile.store %c[%i], %x : !tile.array<?xf32, mut>, tensor<64xf32>
        tile.store %c[%zero], %x : !tile.array<?xf32, mut>, tensor<64xf32>
        tile.return
      })", arrays), "") << index;
  }
}

TEST(ExecutionTest, SoftmaxRow) {
  std::vector<HostArray> arrays = {HostArray::of(DType::F32, {5, 1000}, ramp(5000, 0.01f)),
                                   HostArray::output(DType::F32, {5, 1000})};
  RunOptions options;
  options.grid = {5, 1, 1};
  EXPECT_EQ(checkKernel(R"(
    tile.kernel @rowmax(%a: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>)
        attributes {grid = ["m"]} {
      %i = tile.block_id 0 : index
      %z = arith.constant 0 : index
      %x = tile.load %a[%i, %z] pad(0xFF800000 : f32) : !tile.array<?x?xf32> -> tensor<1x1024xf32>
      %m = tile.reduce(%x) axes [1] : (tensor<1x1024xf32>) -> tensor<1xf32> {
      ^bb0(%l: f32, %r: f32):
        %0 = arith.maximumf %l, %r : f32
        tile.yield %0 : f32
      }
      %k = tile.reshape %m : tensor<1xf32> -> tensor<1x1xf32>
      %b = tile.broadcast %k : tensor<1x1xf32> -> tensor<1x1024xf32>
      %d = arith.subf %x, %b : tensor<1x1024xf32>
      tile.store %c[%i, %z], %d : !tile.array<?x?xf32, mut>, tensor<1x1024xf32>
      tile.return
    })", arrays, options), "");
}

TEST(ExecutionTest, ReducesEveryAxis) {
  std::vector<int32_t> values(4 * 8 * 16);
  std::iota(values.begin(), values.end(), -100);
  std::vector<HostArray> arrays = {
      HostArray::of(DType::I32, {4, 8, 16}, values),     HostArray::output(DType::I32, {8, 16}),
      HostArray::output(DType::I32, {4, 16}),            HostArray::output(DType::I32, {4, 8}),
      HostArray::output(DType::I32, {8}),                HostArray::output(DType::I32, {1})};
  auto reduce = [](const char *name, const char *axes, const char *type) {
    return std::string("%") + name + " = tile.reduce(%x) axes " + axes +
           " : (tensor<4x8x16xi32>) -> " + type + R"( {
      ^bb0(%l: i32, %r: i32):
        %s = arith.addi %l, %r : i32
        tile.yield %s : i32
      }
    )";
  };
  EXPECT_EQ(checkKernel(R"(
    tile.kernel @sums(%a: !tile.array<?x?x?xi32>, %r0: !tile.array<?x?xi32, mut>,
        %r1: !tile.array<?x?xi32, mut>, %r2: !tile.array<?x?xi32, mut>,
        %r02: !tile.array<?xi32, mut>, %all: !tile.array<?xi32, mut>) {
      %z = arith.constant 0 : index
      %x = tile.load %a[%z, %z, %z] : !tile.array<?x?x?xi32> -> tensor<4x8x16xi32>
    )" + reduce("s0", "[0]", "tensor<8x16xi32>") + reduce("s1", "[1]", "tensor<4x16xi32>") +
    reduce("s2", "[2]", "tensor<4x8xi32>") + reduce("s02", "[0, 2]", "tensor<8xi32>") +
    reduce("sa", "[0, 1, 2]", "i32") + R"(
      tile.store %r0[%z, %z], %s0 : !tile.array<?x?xi32, mut>, tensor<8x16xi32>
      tile.store %r1[%z, %z], %s1 : !tile.array<?x?xi32, mut>, tensor<4x16xi32>
      tile.store %r2[%z, %z], %s2 : !tile.array<?x?xi32, mut>, tensor<4x8xi32>
      tile.store %r02[%z], %s02 : !tile.array<?xi32, mut>, tensor<8xi32>
      tile.store %all[%z], %sa elements : !tile.array<?xi32, mut>, i32
      tile.return
    })", arrays), "");
}

/// `text` with every `TT` replaced.
std::string withType(std::string text, const std::string &type) {
  for (size_t at; (at = text.find("TT")) != std::string::npos;)
    text.replace(at, 2, type);
  return text;
}

/// The position of the maximum, with a combiner that is no elementwise code.
TEST(ExecutionTest, ReducesTuplesThroughAnyCombiner) {
  std::vector<std::pair<std::string, DType>> types = {
      {"i8", DType::I8}, {"i16", DType::I16}, {"i32", DType::I32}, {"i64", DType::I64}};
  for (auto [type, dtype] : types) {
    size_t size = dtypeBytes(dtype);
    std::vector<uint8_t> bytes(256 * size);
    for (size_t i = 0; i < 256; ++i)
      bytes[i * size] = uint8_t(i * 37 + 11);
    std::vector<HostArray> arrays = {HostArray::of(dtype, {256}, bytes),
                                     HostArray::output(dtype, {1}),
                                     HostArray::output(DType::I32, {1})};
    arrays[0].dims = {256};
    EXPECT_EQ(checkKernel(withType(R"(
      tile.kernel @argmax(%a: !tile.array<?xTT>, %v: !tile.array<?xTT, mut>,
                          %p: !tile.array<?xi32, mut>) {
        %z = arith.constant 0 : index
        %x = tile.load %a[%z] : !tile.array<?xTT> -> tensor<256xTT>
        %n = tile.iota : tensor<256xi32>
        %m:2 = tile.reduce(%x, %n) axes [0] : (tensor<256xTT>, tensor<256xi32>) -> (TT, i32) {
        ^bb0(%l: TT, %i: i32, %r: TT, %j: i32):
          %more = arith.cmpi sgt, %l, %r : TT
          %same = arith.cmpi eq, %l, %r : TT
          %q:2 = scf.if %more -> (TT, i32) {
            scf.yield %l, %i : TT, i32
          } else {
            %k = arith.minsi %i, %j : i32
            %u = arith.select %same, %k, %j : i32
            scf.yield %r, %u : TT, i32
          }
          tile.yield %q#0, %q#1 : TT, i32
        }
        tile.store %v[%z], %m#0 elements : !tile.array<?xTT, mut>, TT
        tile.store %p[%z], %m#1 elements : !tile.array<?xi32, mut>, i32
        tile.return
      })", type), arrays), "") << type;
  }
}

/// Products of any size; whole numbers, so that every order of summation agrees.
TEST(ExecutionTest, MultipliesMatricesOfAnySize) {
  for (auto [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {32, 32, 16}, {1, 1, 1}, {2, 8, 4}, {64, 16, 64}, {16, 128, 2}, {128, 128, 32}}) {
    std::vector<float> a(size_t(m * k * 2)), b(size_t(n * k * 2));
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = float(int(i * 7 % 23) - 11);
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = float(int(i * 5 % 19) - 9);
    std::vector<HostArray> arrays = {HostArray::of(DType::F32, {m, 2 * k}, a),
                                     HostArray::of(DType::F32, {2 * k, n}, b),
                                     HostArray::output(DType::F32, {m, n})};
    std::string M = std::to_string(m), N = std::to_string(n), K = std::to_string(k);
    std::string ta = "tensor<" + M + "x" + K + "xf32>", tb = "tensor<" + K + "x" + N + "xf32>",
                tc = "tensor<" + M + "x" + N + "xf32>";
    EXPECT_EQ(checkKernel(R"(
      tile.kernel @mm(%a: !tile.array<?x?xf32>, %b: !tile.array<?x?xf32>,
                      %c: !tile.array<?x?xf32, mut>) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %z = arith.constant dense<0.0> : )" + tc + R"(
        %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %z) -> ()" + tc + R"() {
          %x = tile.load %a[%c0, %i] : !tile.array<?x?xf32> -> )" + ta + R"(
          %y = tile.load %b[%i, %c0] : !tile.array<?x?xf32> -> )" + tb + R"(
          %t = tile.mma %x, %y, %s : )" + ta + ", " + tb + ", " + tc + R"(
          scf.yield %t : )" + tc + R"(
        }
        tile.store %c[%c0, %c0], %r : !tile.array<?x?xf32, mut>, )" + tc + R"(
        tile.return
      })", arrays), "") << M << "x" << N << "x" << K;
  }
}

struct MmaTypes {
  const char *operand, *acc;
  DType operandType, accType;
  std::vector<int64_t> values; ///< bits of operands
};

TEST(ExecutionTest, MultipliesEveryType) {
  std::vector<MmaTypes> cases = {
      {"f16", "f32", DType::F16, DType::F32, {0x3c00, 0xc000, 0x0000, 0x3800}},
      {"f16", "f16", DType::F16, DType::F16, {0x3c00, 0xc000, 0x0000, 0x3800}},
      {"bf16", "f32", DType::BF16, DType::F32, {0x3f80, 0xc000, 0x0000, 0x3f00}},
      {"f8E4M3FN", "f32", DType::F8E4M3, DType::F32, {0x38, 0xc0, 0x00, 0x30}},
      {"f8E5M2", "f32", DType::F8E5M2, DType::F32, {0x3c, 0xc0, 0x00, 0x38}},
      {"f64", "f64", DType::F64, DType::F64,
       {0x3ff0000000000000, int64_t(0xc000000000000000), 0, 0x3fe0000000000000}},
      {"i8", "i32", DType::I8, DType::I32, {1, 0x80, 0xff, 0x7f}}};
  for (const MmaTypes &c : cases) {
    size_t size = dtypeBytes(c.operandType);
    std::vector<uint8_t> a(2 * 16 * 32 * size), b(32 * 16 * size);
    for (size_t i = 0; i < a.size() / size; ++i)
      std::memcpy(&a[i * size], &c.values[(i * 5 + i / 7) % 4], size);
    for (size_t i = 0; i < b.size() / size; ++i)
      std::memcpy(&b[i * size], &c.values[(i * 3 + i / 5) % 4], size);
    std::vector<HostArray> arrays = {HostArray::of(c.operandType, {2, 16, 32}, a),
                                     HostArray::of(c.operandType, {1, 32, 16}, b),
                                     HostArray::output(c.accType, {2, 16, 16})};
    std::string operand = c.operand, acc = c.acc;
    std::string ta = "tensor<2x16x32x" + operand + ">", tb = "tensor<1x32x16x" + operand + ">",
                tc = "tensor<2x16x16x" + acc + ">";
    std::string zero = acc[0] == 'i' ? "0" : "0.0";
    std::string aa = "!tile.array<?x?x?x" + operand + ">", ac = "!tile.array<?x?x?x" + acc + ", mut>";
    EXPECT_EQ(checkKernel("tile.kernel @mm(%a: " + aa + ", %b: " + aa + ", %c: " + ac + R"() {
        %c0 = arith.constant 0 : index
        %z = arith.constant dense<)" + zero + "> : " + tc + R"(
        %x = tile.load %a[%c0, %c0, %c0] : )" + aa + " -> " + ta + R"(
        %y = tile.load %b[%c0, %c0, %c0] : )" + aa + " -> " + tb + R"(
        %t = tile.mma %x, %y, %z : )" + ta + ", " + tb + ", " + tc + R"(
        tile.store %c[%c0, %c0, %c0], %t : )" + ac + ", " + tc + R"(
        tile.return
      })", arrays), "") << c.operand << " " << c.acc;
  }
}

TEST(ExecutionTest, StoresAreSeenByLaterLoads) {
  std::vector<HostArray> arrays = {HostArray::of(DType::F32, {64, 64}, ramp(4096)),
                                   HostArray::output(DType::F32, {64, 64})};
  EXPECT_EQ(checkKernel(R"(
    tile.kernel @twice(%a: !tile.array<?x?xf32, mut>, %c: !tile.array<?x?xf32, mut>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c3 step %c1 {
        %x = tile.load %a[%c0, %c0] : !tile.array<?x?xf32, mut> -> tensor<64x64xf32>
        %y = tile.permute %x [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
        %d = arith.addf %x, %y : tensor<64x64xf32>
        tile.store %a[%c0, %c0], %d : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
        %v = tile.load %a[%c0, %c0] order [1, 0] : !tile.array<?x?xf32, mut> -> tensor<64x64xf32>
        tile.store %c[%c0, %c0], %v : !tile.array<?x?xf32, mut>, tensor<64x64xf32>
      }
      tile.return
    })", arrays), "");
}

TEST(ExecutionTest, ShapesChainThroughAnyLayouts) {
  std::vector<int32_t> values(128);
  std::iota(values.begin(), values.end(), 0);
  std::vector<HostArray> arrays = {HostArray::of(DType::I32, {4, 32}, values),
                                   HostArray::output(DType::I32, {2, 64}),
                                   HostArray::output(DType::I32, {4, 8}),
                                   HostArray::output(DType::I32, {16})};
  EXPECT_EQ(checkKernel(R"(
    tile.kernel @chain(%a: !tile.array<?x?xi32>, %c: !tile.array<?x?xi32, mut>,
                       %d: !tile.array<?x?xi32, mut>, %e: !tile.array<?xi32, mut>) {
      %c0 = arith.constant 0 : index
      %x = tile.load %a[%c0, %c0] : !tile.array<?x?xi32> -> tensor<4x32xi32>
      %s = tile.reshape %x : tensor<4x32xi32> -> tensor<4x2x16xi32>
      %p = tile.permute %s [1, 0, 2] : tensor<4x2x16xi32> -> tensor<2x4x16xi32>
      %r = tile.reshape %p : tensor<2x4x16xi32> -> tensor<2x64xi32>
      tile.store %c[%c0, %c0], %r : !tile.array<?x?xi32, mut>, tensor<2x64xi32>
      %n = tile.iota : tensor<4xi32>
      %o = tile.reshape %n : tensor<4xi32> -> tensor<4x1xi32>
      %b = tile.broadcast %o : tensor<4x1xi32> -> tensor<4x8xi32>
      tile.store %d[%c0, %c0], %b : !tile.array<?x?xi32, mut>, tensor<4x8xi32>
      %t = arith.constant dense<[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3]> : tensor<16xi32>
      tile.store %e[%c0], %t : !tile.array<?xi32, mut>, tensor<16xi32>
      tile.return
    })", arrays), "");
}

TEST(ExecutionTest, DividesAndShiftsEverything) {
  std::vector<std::pair<std::string, DType>> types = {
      {"i8", DType::I8}, {"i16", DType::I16}, {"i32", DType::I32}, {"i64", DType::I64}};
  for (auto [type, dtype] : types) {
    size_t size = dtypeBytes(dtype);
    int64_t least = -(int64_t(1) << (size * 8 - 2)) * 2;
    std::vector<int64_t> numbers = {least, least + 1, -8, -7, -3, -1, 0, 1, 2, 3, 7, 8, 33,
                                    ~least, ~least - 1, 5};
    std::vector<uint8_t> a(256 * size), b(256 * size);
    for (size_t i = 0; i < 256; ++i) {
      std::memcpy(&a[i * size], &numbers[i / 16], size);
      std::memcpy(&b[i * size], &numbers[i % 16], size);
    }
    std::string body;
    int count = 0;
    for (const char *op : {"tile.divide trunc signed", "tile.divide floor signed",
                           "tile.divide ceil signed", "tile.divide trunc unsigned",
                           "tile.divide ceil unsigned", "tile.remainder trunc signed",
                           "tile.remainder floor signed", "tile.remainder trunc unsigned",
                           "tile.shift left", "tile.shift right_signed",
                           "tile.shift right_unsigned"}) {
      std::string c = std::to_string(count++);
      body += "%k" + c + " = arith.constant " + c + " : index\n%v" + c + " = " + op +
              " %x, %y : tensor<256xTT>\n%w" + c + " = tile.reshape %v" + c +
              " : tensor<256xTT> -> tensor<1x256xTT>\ntile.store %c[%k" + c + ", %z], %w" + c +
              " : !tile.array<?x?xTT, mut>, tensor<1x256xTT>\n";
    }
    std::vector<HostArray> arrays = {{dtype, {256}, a}, {dtype, {256}, b},
                                     HostArray::output(dtype, {count, 256})};
    RunOptions options;
    options.warps = {2};
    EXPECT_EQ(checkKernel(withType(R"(
      tile.kernel @ints(%a: !tile.array<?xTT>, %b: !tile.array<?xTT>, %c: !tile.array<?x?xTT, mut>) {
        %z = arith.constant 0 : index
        %x = tile.load %a[%z] : !tile.array<?xTT> -> tensor<256xTT>
        %y = tile.load %b[%z] : !tile.array<?xTT> -> tensor<256xTT>
      )" + body + "tile.return\n}", type), arrays, options), "") << type;
  }
}

} // namespace
