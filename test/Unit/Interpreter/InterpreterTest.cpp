//===- InterpreterTest.cpp - the oracle against hand-made values ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Small kernels in `tile` text, run on host arrays, compared with values computed
// here in plain C++. Every output is poisoned first.
//
//===------------------------------------------------------------------------===//

#include "tilec/Interpreter/Interpreter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <numeric>

using namespace tilec;

namespace {

class InterpreterTest : public ::testing::Test {
protected:
  InterpreterTest() {
    mlir::DialectRegistry registry;
    registry.insert<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                    mlir::scf::SCFDialect>();
    context.appendDialectRegistry(registry);
  }

  /// Runs the first kernel of `text`; returns the error's text or "".
  std::string run(const char *text, std::vector<KernelArg> args, std::array<int64_t, 3> grid = {1, 1, 1}) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context, "test.mlir");
    if (!module)
      return "does not parse";
    auto kernel = *module->getOps<tile::KernelOp>().begin();
    if (llvm::Error error = interpretKernel(kernel, args, grid))
      return llvm::toString(std::move(error));
    return "";
  }

  mlir::MLIRContext context;
};

template <typename T>
KernelArg array(std::vector<T> &v, DType dtype, std::initializer_list<int64_t> dims) {
  return ArrayArg::rowMajor(v.data(), dtype, dims);
}

TEST_F(InterpreterTest, EdgesReadPadAndAreNotWritten) {
  std::vector<float> x = {1, 2, 3, 4, 5}, y(8, -1);
  EXPECT_EQ(run(R"(
    tile.kernel @k(%x: !tile.array<?xf32>, %y: !tile.array<?xf32, mut>) {
      %i = tile.block_id 0 : index
      %t = tile.load %x[%i] pad(10.0 : f32) : !tile.array<?xf32> -> tensor<4xf32>
      %u = arith.addf %t, %t : tensor<4xf32>
      tile.store %y[%i], %u : !tile.array<?xf32, mut>, tensor<4xf32>
      tile.return
    })", {array(x, DType::F32, {5}), array(y, DType::F32, {7})}, {2, 1, 1}), "");
  EXPECT_EQ(y, (std::vector<float>{2, 4, 6, 8, 10, 20, 20, -1}));
}

TEST_F(InterpreterTest, NegativeAndHugeTileIndicesAreAllPadding) {
  std::vector<float> x = {1, 2, 3, 4}, y(4, 0);
  for (const char *index : {"-1", "4611686018427387904", "-9223372036854775808"}) {
    std::string text = std::string(R"(
      tile.kernel @k(%x: !tile.array<?xf32>, %y: !tile.array<?xf32, mut>) {
        %zero = arith.constant 0 : index
        %i = arith.constant )") + index + R"( : index
        %t = tile.load %x[%i] pad(7.0 : f32) : !tile.array<?xf32> -> tensor<4xf32>
        tile.store %y[%i], %t : !tile.array<?xf32, mut>, tensor<4xf32>
        tile.store %y[%zero], %t : !tile.array<?xf32, mut>, tensor<4xf32>
        tile.return
      })";
    y.assign(4, 0);
    EXPECT_EQ(run(text.c_str(), {array(x, DType::F32, {4}), array(y, DType::F32, {4})}), "");
    EXPECT_EQ(y, (std::vector<float>{7, 7, 7, 7})) << index;
  }
}

TEST_F(InterpreterTest, ReducesAnyAxes) {
  std::vector<int32_t> x(8 * 4 * 2), rows(8, -1), middle(16, -1);
  std::iota(x.begin(), x.end(), 0);
  int32_t all[1] = {-1};
  EXPECT_EQ(run(R"(
    tile.kernel @k(%x: !tile.array<?x?x?xi32>, %r: !tile.array<?xi32, mut>,
                   %m: !tile.array<?x?xi32, mut>, %a: !tile.array<?xi32, mut>) {
      %c0 = arith.constant 0 : index
      %t = tile.load %x[%c0, %c0, %c0] : !tile.array<?x?x?xi32> -> tensor<8x4x2xi32>
      %0 = tile.reduce(%t) axes [1, 2] : (tensor<8x4x2xi32>) -> tensor<8xi32> {
      ^bb0(%l: i32, %r0: i32):
        %s = arith.addi %l, %r0 : i32
        tile.yield %s : i32
      }
      %1 = tile.reduce(%t) axes [1] : (tensor<8x4x2xi32>) -> tensor<8x2xi32> {
      ^bb0(%l: i32, %r0: i32):
        %s = arith.maxsi %l, %r0 : i32
        tile.yield %s : i32
      }
      %2 = tile.reduce(%t) axes [0, 1, 2] : (tensor<8x4x2xi32>) -> i32 {
      ^bb0(%l: i32, %r0: i32):
        %c = arith.cmpi sgt, %l, %r0 : i32
        %s = scf.if %c -> i32 { scf.yield %l : i32 } else { scf.yield %r0 : i32 }
        tile.yield %s : i32
      }
      tile.store %r[%c0], %0 : !tile.array<?xi32, mut>, tensor<8xi32>
      tile.store %m[%c0, %c0], %1 : !tile.array<?x?xi32, mut>, tensor<8x2xi32>
      tile.store %a[%c0], %2 elements : !tile.array<?xi32, mut>, i32
      tile.return
    })", {array(x, DType::I32, {8, 4, 2}), array(rows, DType::I32, {8}), array(middle, DType::I32, {8, 2}),
          ArrayArg::rowMajor(all, DType::I32, {1})}), "");
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(rows[i], 8 * (8 * i) + 28);
    EXPECT_EQ(middle[2 * i], 8 * i + 6);
    EXPECT_EQ(middle[2 * i + 1], 8 * i + 7);
  }
  EXPECT_EQ(all[0], 63);
}

TEST_F(InterpreterTest, MultipliesInLoops) {
  std::vector<float> a(6 * 10), b(10 * 5), c(6 * 5, NAN);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = float(int(i * 7 % 11) - 5);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = float(int(i * 5 % 13) - 6);
  EXPECT_EQ(run(R"(
    tile.kernel @mm(%a: !tile.array<?x?xf32>, %b: !tile.array<?x?xf32>, %c: !tile.array<?x?xf32, mut>) {
      %m = tile.block_id 0 : index
      %n = tile.block_id 1 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %k = tile.dim %a, 1 : !tile.array<?x?xf32>
      %trips = tile.divide ceil signed %k, %c4 : index
      %z = arith.constant dense<0.0> : tensor<4x4xf32>
      %r = scf.for %i = %c0 to %trips step %c1 iter_args(%acc = %z) -> tensor<4x4xf32> {
        %x = tile.load %a[%m, %i] : !tile.array<?x?xf32> -> tensor<4x4xf32>
        %y = tile.load %b[%i, %n] : !tile.array<?x?xf32> -> tensor<4x4xf32>
        %s = tile.mma %x, %y, %acc : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
        scf.yield %s : tensor<4x4xf32>
      }
      tile.store %c[%m, %n], %r : !tile.array<?x?xf32, mut>, tensor<4x4xf32>
      tile.return
    })", {array(a, DType::F32, {6, 10}), array(b, DType::F32, {10, 5}), array(c, DType::F32, {6, 5})}, {2, 2, 1}), "");
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 5; ++j) {
      float sum = 0;
      for (int k = 0; k < 10; ++k)
        sum += a[i * 10 + k] * b[k * 5 + j];
      EXPECT_EQ(c[i * 5 + j], sum) << i << "," << j;
    }
}

TEST_F(InterpreterTest, TransposesThroughOrderAndPermute) {
  std::vector<int16_t> x(4 * 8), y(8 * 4, -1), z(8 * 4, -1);
  std::iota(x.begin(), x.end(), 0);
  EXPECT_EQ(run(R"(
    tile.kernel @k(%x: !tile.array<?x?xi16>, %y: !tile.array<?x?xi16, mut>, %z: !tile.array<?x?xi16, mut>) {
      %c0 = arith.constant 0 : index
      %t = tile.load %x[%c0, %c0] order [1, 0] : !tile.array<?x?xi16> -> tensor<8x4xi16>
      tile.store %y[%c0, %c0], %t : !tile.array<?x?xi16, mut>, tensor<8x4xi16>
      %u = tile.load %x[%c0, %c0] : !tile.array<?x?xi16> -> tensor<4x8xi16>
      %v = tile.permute %u [1, 0] : tensor<4x8xi16> -> tensor<8x4xi16>
      tile.store %z[%c0, %c0], %v : !tile.array<?x?xi16, mut>, tensor<8x4xi16>
      tile.return
    })", {array(x, DType::I16, {4, 8}), array(y, DType::I16, {8, 4}), array(z, DType::I16, {8, 4})}), "");
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 4; ++j)
      EXPECT_EQ(y[i * 4 + j], x[j * 8 + i]);
  EXPECT_EQ(y, z);
}

TEST_F(InterpreterTest, NarrowFloatsRoundOnce) {
  // 1.015625 * 1.2578125 = 1.2774658…; bf16 neighbours are 1.2734375 and 1.28125.
  std::vector<uint16_t> x = {0x3f82}, y = {0x3fa1}, z = {0};
  EXPECT_EQ(run(R"(
    tile.kernel @k(%x: !tile.array<?xbf16>, %y: !tile.array<?xbf16>, %z: !tile.array<?xbf16, mut>) {
      %c0 = arith.constant 0 : index
      %a = tile.load %x[%c0] elements : !tile.array<?xbf16> -> bf16
      %b = tile.load %y[%c0] elements : !tile.array<?xbf16> -> bf16
      %c = arith.mulf %a, %b : bf16
      tile.store %z[%c0], %c elements : !tile.array<?xbf16, mut>, bf16
      tile.return
    })", {array(x, DType::BF16, {1}), array(y, DType::BF16, {1}), array(z, DType::BF16, {1})}), "");
  EXPECT_EQ(z[0], 0x3fa4);
}

TEST_F(InterpreterTest, FloatToIntegerSaturates) {
  std::vector<float> x = {INFINITY, 510, -200, NAN, -1, 0.9f, -0.9f, 127.5f};
  std::vector<int8_t> s(8, 77);
  std::vector<uint8_t> u(8, 77);
  EXPECT_EQ(run(R"(
    tile.kernel @k(%x: !tile.array<?xf32>, %s: !tile.array<?xi8, mut>, %u: !tile.array<?xi8, mut>) {
      %c0 = arith.constant 0 : index
      %t = tile.load %x[%c0] : !tile.array<?xf32> -> tensor<8xf32>
      %a = tile.cast %t : tensor<8xf32> -> tensor<8xi8>
      %b = tile.cast %t to_unsigned : tensor<8xf32> -> tensor<8xi8>
      tile.store %s[%c0], %a : !tile.array<?xi8, mut>, tensor<8xi8>
      tile.store %u[%c0], %b : !tile.array<?xi8, mut>, tensor<8xi8>
      tile.return
    })", {array(x, DType::F32, {8}), array(s, DType::I8, {8}), array(u, DType::U8, {8})}), "");
  EXPECT_EQ(s, (std::vector<int8_t>{127, 127, -128, 0, -1, 0, 0, 127}));
  EXPECT_EQ(u, (std::vector<uint8_t>{255, 255, 0, 0, 0, 0, 0, 127}));
}

TEST_F(InterpreterTest, WhileRunsZeroTimesAndStops) {
  std::vector<int64_t> y = {-1};
  for (int start : {5, -3}) {
    std::string text = std::string(R"(
      tile.kernel @k(%y: !tile.array<?xi64, mut>) {
        %c0 = arith.constant 0 : index
        %zero = arith.constant 0 : i64
        %one = arith.constant 1 : i64
        %start = arith.constant )") + std::to_string(start) + R"( : i64
        %r = scf.while (%v = %start) : (i64) -> i64 {
          %c = arith.cmpi slt, %v, %zero : i64
          scf.condition(%c) %v : i64
        } do {
        ^bb0(%v: i64):
          %n = arith.addi %v, %one : i64
          scf.yield %n : i64
        }
        tile.store %y[%c0], %r elements : !tile.array<?xi64, mut>, i64
        tile.return
      })";
    EXPECT_EQ(run(text.c_str(), {array(y, DType::I64, {1})}), "");
    EXPECT_EQ(y[0], std::max(start, 0));
  }
}

TEST_F(InterpreterTest, FalseAssumptionIsReported) {
  std::vector<float> x = {1};
  std::string error = run(R"(
    tile.kernel @k(%x: !tile.array<?xf32>) {
      %c2 = arith.constant 2 : index
      %n = tile.dim %x, 0 : !tile.array<?xf32>
      %c = arith.cmpi eq, %n, %c2 : index
      tile.assume %c
      tile.return
    })", {array(x, DType::F32, {1})});
  EXPECT_NE(error.find("test.mlir:6"), std::string::npos) << error;
  EXPECT_NE(error.find("assumption"), std::string::npos) << error;
}

} // namespace
