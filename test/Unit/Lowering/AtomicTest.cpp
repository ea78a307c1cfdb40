//===- AtomicTest.cpp - atomic operations, compiled ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Every kind of tile.atomic on every type that has it, in every order and scope, with
// and without a use of the old value, at indices that are outside or masked, as tiles
// of the whole block, of four elements and of one. Targets are distinct where old
// values are compared. KernelRunner compares with the interpreter, some kernels for
// 1, 2, 4 and 8 warps, and reports what the emulator finds.
//
//===------------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace tilec;

namespace {

struct ElementType {
  const char *name; ///< in MLIR
  DType dtype;
};
constexpr ElementType i32{"i32", DType::I32}, i64{"i64", DType::I64}, f16{"f16", DType::F16},
    bf16{"bf16", DType::BF16}, f32{"f32", DType::F32}, f64{"f64", DType::F64};

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// The bits of small numbers, zeros of both signs, infinities and NaNs (floats), or of
/// small and extreme numbers (integers).
std::vector<uint64_t> specialBits(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return {0x3c00, 0xbc00, 0x0000, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x4200, 0xc200, 0x0001};
  case DType::BF16:
    return {0x3f80, 0xbf80, 0x0000, 0x8000, 0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x4040, 0xc040, 0x0001};
  case DType::F32:
    return {0x3f800000, 0xbf800000, 0,          0x80000000, 0x7f800000, 0xff800000,
            0x7fc00000, 0xffc00000, 0x40400000, 0xc0400000, 1};
  case DType::F64:
    return {0x3ff0000000000000, 0xbff0000000000000, 0, 0x8000000000000000, 0x7ff0000000000000,
            0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000, 0x4008000000000000,
            0xc008000000000000, 1};
  default:
    return {0, 1, 2, ~uint64_t(0), 100, 0x7fffffff, 0x80000000, 0x8000000000000000, ~uint64_t(6), 77, 5};
  }
}

/// Special values, `stride` apart, so that all pairs of memory and operand occur.
HostArray special(DType dtype, int64_t count, size_t stride) {
  HostArray array = HostArray::output(dtype, {count});
  std::vector<uint64_t> bits = specialBits(dtype);
  size_t size = dtypeBytes(dtype);
  for (size_t i = 0; i < size_t(count); ++i)
    std::memcpy(&array.bytes[i * size], &bits[i / stride % bits.size()], size);
  return array;
}

HostArray indices(int64_t count, int64_t size) {
  std::vector<int32_t> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(int32_t(i % 16 == 13 ? -1 - i : i % 16 == 5 ? size + i : i * 37 % size));
  return HostArray::of(DType::I32, {count}, result);
}

HostArray masks(int64_t count) {
  std::vector<uint8_t> mask;
  for (int64_t i = 0; i < count; ++i)
    mask.push_back(i % 7 != 3);
  return HostArray::of(DType::Bool, {count}, mask);
}

/// One atomic over `count` elements whose old values are stored, and the same whose
/// old values are not.
std::string checkKind(ElementType type, const std::string &kind, int64_t count,
                      const std::string &modifiers = "", const std::vector<unsigned> &warps = {1, 2, 4, 8}) {
  const int64_t size = 1021;
  std::vector<HostArray> arrays = {special(type.dtype, size, 1), special(type.dtype, size, 1),
                                   indices(count, size), masks(count),
                                   special(type.dtype, count, 11), special(type.dtype, count, 1),
                                   HostArray::output(type.dtype, {count})};
  std::string name = kind.substr(0, kind.find(' '));
  std::string operands = name == "load" ? "" : "value(%v : tensor<NNxTT>) ";
  if (name == "cas")
    operands = "expected(%e : tensor<NNxTT>) " + operands;
  bool hasResult = name != "store";
  std::string tail = "mask(%k : tensor<NNxi1>) " + modifiers +
                     (kind != name ? " unsigned " : " ") +
                     ": !tile.array<?xTT, mut>, [tensor<NNxi32>]" +
                     (hasResult ? " -> tensor<NNxTT>\n" : "\n");
  std::string text = R"(
    tile.kernel @atomics(%a: !tile.array<?xTT, mut>, %b: !tile.array<?xTT, mut>,
                         %i: !tile.array<?xi32>, %m: !tile.array<?xi1>, %w: !tile.array<?xTT>,
                         %f: !tile.array<?xTT>, %c: !tile.array<?xTT, mut>) {
      %z = arith.constant 0 : index
      %x = tile.load %i[%z] : !tile.array<?xi32> -> tensor<NNxi32>
      %k = tile.load %m[%z] : !tile.array<?xi1> -> tensor<NNxi1>
      %v = tile.load %w[%z] : !tile.array<?xTT> -> tensor<NNxTT>
      %e = tile.load %f[%z] : !tile.array<?xTT> -> tensor<NNxTT>
      )" + std::string(hasResult ? "%old = " : "") + "tile.atomic " + name + " %a[%x] " + operands + tail +
                     (hasResult ? "%unused = " : "") + "tile.atomic " + name + " %b[%x] " + operands + tail +
                     (hasResult ? "tile.store %c[%z], %old : !tile.array<?xTT, mut>, tensor<NNxTT>\n" : "") +
                     "tile.return\n}";
  RunOptions options;
  options.warps = warps;
  return checkKernel(replaced(replaced(text, "TT", type.name), "NN", std::to_string(count)), arrays,
                     options);
}

TEST(AtomicTest, AddsEveryType) {
  for (ElementType type : {i32, i64, f16, bf16, f32, f64})
    for (int64_t count : {4, 512})
      EXPECT_EQ(checkKind(type, "add", count, "", {count == 4 ? 8u : 2u}), "")
          << type.name << ", " << count;
}

TEST(AtomicTest, MinimaAndMaxima) {
  for (ElementType type : {i32, i64, f16, bf16, f32, f64})
    for (const char *kind : {"min", "max", "min unsigned", "max unsigned"}) {
      if (type.name[0] != 'i' && std::string(kind).size() > 3)
        continue;
      EXPECT_EQ(checkKind(type, kind, 512, "", {4}), "") << type.name << ", " << kind;
    }
}

TEST(AtomicTest, BitsOfIntegers) {
  for (ElementType type : {i32, i64})
    for (const char *kind : {"and", "or", "xor"})
      EXPECT_EQ(checkKind(type, kind, 256, "", {4}), "") << type.name << ", " << kind;
}

TEST(AtomicTest, ExchangesLoadsAndStores) {
  for (ElementType type : {i32, i64, f32, f64})
    for (const char *kind : {"xchg", "cas", "load", "store"})
      EXPECT_EQ(checkKind(type, kind, 256, "", {4}), "") << type.name << ", " << kind;
}

/// Tiles smaller than the block: each element once, and every copy sees the old value.
TEST(AtomicTest, CopiesSeeTheOldValue) {
  for (const char *kind : {"add", "max", "cas"})
    for (int64_t count : {1, 16, 64})
      EXPECT_EQ(checkKind(f32, kind, count), "") << kind << ", " << count;
}

TEST(AtomicTest, OrdersAndScopes) {
  for (const char *order : {"relaxed", "acquire", "release", "acq_rel"})
    for (const char *scope : {"block", "gpu", "sys"}) {
      std::string modifiers = "order(" + std::string(order) + ") scope(" + scope + ")";
      for (ElementType type : {i32, bf16})
        EXPECT_EQ(checkKind(type, "add", 64, modifiers, {2}), "") << type.name << " " << modifiers;
      for (const char *kind : {"max", "cas"})
        EXPECT_EQ(checkKind(f32, kind, 64, modifiers, {2}), "") << kind << " " << modifiers;
      if (std::string(order) == "relaxed" || std::string(order) == "acquire")
        EXPECT_EQ(checkKind(i64, "load", 64, modifiers, {2}), "") << "load " << modifiers;
      if (std::string(order) == "relaxed" || std::string(order) == "release")
        EXPECT_EQ(checkKind(i64, "store", 64, modifiers, {2}), "") << "store " << modifiers;
    }
}

/// Many elements, many blocks, few targets: nothing is lost.
TEST(AtomicTest, DuplicateTargetsOfManyBlocks) {
  for (ElementType type : {i32, i64, f16, bf16, f32, f64})
    for (const char *kind : {"add", "max"}) {
      std::vector<HostArray> arrays = {HostArray::output(type.dtype, {5})};
      arrays[0].bytes.assign(arrays[0].bytes.size(), 0);
      RunOptions options;
      options.grid = {3, 1, 1};
      options.warps = {4};
      bool isFloat = type.name[0] != 'i';
      std::string text = replaced(R"(
        tile.kernel @bins(%a: !tile.array<?xTT, mut>) attributes {grid = ["g"]} {
          %n = tile.iota : tensor<128xi32>
          %c7 = arith.constant dense<7> : tensor<128xi32>
          %i = tile.remainder trunc signed %n, %c7 : tensor<128xi32>
          %v = arith.constant dense<ONE> : tensor<128xTT>
          %0 = tile.atomic KIND %a[%i] value(%v : tensor<128xTT>)
            : !tile.array<?xTT, mut>, [tensor<128xi32>] -> tensor<128xTT>
          tile.return
        })", "TT", type.name);
      text = replaced(replaced(text, "KIND", kind), "ONE", isFloat ? "1.0" : "1");
      EXPECT_EQ(checkKernel(text, arrays, options), "") << type.name << ", " << kind;
    }
}

/// A run of neighbours becomes one instruction where the chip has it.
TEST(AtomicTest, RunsOfNeighbours) {
  for (ElementType type : {f16, bf16, f32, f64}) {
    std::vector<HostArray> arrays = {special(type.dtype, 16 * 64, 1), HostArray::output(type.dtype, {20, 64})};
    arrays[0].dims = {16, 64};
    arrays[1].bytes.assign(arrays[1].bytes.size(), 0);
    std::string run = std::to_string(16 / dtypeBytes(type.dtype));
    RunOptions options;
    options.warps = {4};
    EXPECT_EQ(checkKernel(replaced(replaced(R"(
      tile.kernel @rows(%x: !tile.array<?x?xTT>, %a: !tile.array<?x?xTT, mut>) {
        %z = arith.constant 0 : index
        %v = tile.load %x[%z, %z] : !tile.array<?x?xTT> -> tensor<16x64xTT>
        %n = tile.iota : tensor<16xi32>
        %three = arith.constant dense<3> : tensor<16xi32>
        %s = arith.muli %n, %three : tensor<16xi32>
        %r = tile.reshape %s : tensor<16xi32> -> tensor<16x1xi32>
        %rows = tile.broadcast %r : tensor<16x1xi32> -> tensor<16x64xi32>
        %m = tile.iota : tensor<64xi32>
        %o = tile.reshape %m : tensor<64xi32> -> tensor<1x64xi32>
        %columns = tile.broadcast %o : tensor<1x64xi32> -> tensor<16x64xi32>
        %0 = tile.atomic add %a[%rows, %columns] value(%v : tensor<16x64xTT>) run [1, RUN]
          : !tile.array<?x?xTT, mut>, [tensor<16x64xi32>, tensor<16x64xi32>] -> tensor<16x64xTT>
        tile.return
      })", "TT", type.name), "RUN", run), arrays, options), "") << type.name;
  }
}

TEST(AtomicTest, Scalars) {
  for (int64_t at : {-1, 0, 2, 3})
    for (const char *order : {"relaxed", "acq_rel"}) {
      std::vector<HostArray> arrays = {special(DType::F32, 3, 1), HostArray::output(DType::F32, {64})};
      RunOptions options;
      options.scalars = {ScalarArg::integer(DType::I32, at)};
      // The old value is a scalar like any other: all threads use it.
      EXPECT_EQ(checkKernel(replaced(R"(
        tile.kernel @one(%a: !tile.array<?xf32, mut>, %c: !tile.array<?xf32, mut>, %i: i32) {
          %z = arith.constant 0 : index
          %one = arith.constant 1.0 : f32
          %old = tile.atomic add %a[%i] value(%one : f32) order(ORDER) : !tile.array<?xf32, mut>, [i32] -> f32
          %next = tile.atomic xchg %a[%i] value(%old : f32) : !tile.array<?xf32, mut>, [i32] -> f32
          %sum = arith.addf %old, %next : f32
          %t = tile.splat %sum : f32 -> tensor<64xf32>
          tile.store %c[%z], %t : !tile.array<?xf32, mut>, tensor<64xf32>
          tile.return
        })", "ORDER", order), arrays, options), "") << at << " " << order;
    }
}

/// Atomics keep their place among other accesses of the array.
TEST(AtomicTest, ProgramOrder) {
  std::vector<HostArray> arrays = {HostArray::output(DType::I32, {256}), HostArray::output(DType::I32, {256}),
                                   HostArray::output(DType::I32, {256})};
  EXPECT_EQ(checkKernel(R"(
    tile.kernel @order(%a: !tile.array<?xi32, mut>, %c: !tile.array<?xi32, mut>, %d: !tile.array<?xi32, mut>) {
      %z = arith.constant 0 : index
      %one = arith.constant 1 : index
      %three = arith.constant 3 : index
      %n = tile.iota : tensor<256xi32>
      %last = arith.constant dense<255> : tensor<256xi32>
      %r = arith.subi %last, %n : tensor<256xi32>
      tile.store %a[%z], %n : !tile.array<?xi32, mut>, tensor<256xi32>
      scf.for %k = %z to %three step %one {
        %before = tile.load %a[%z] : !tile.array<?xi32, mut> -> tensor<256xi32>
        %0 = tile.atomic add %a[%r] value(%n : tensor<256xi32>) : !tile.array<?xi32, mut>, [tensor<256xi32>] -> tensor<256xi32>
        %1 = tile.atomic add %a[%n] value(%r : tensor<256xi32>) : !tile.array<?xi32, mut>, [tensor<256xi32>] -> tensor<256xi32>
        %2 = tile.atomic xor %a[%n] value(%before : tensor<256xi32>) : !tile.array<?xi32, mut>, [tensor<256xi32>] -> tensor<256xi32>
        %after = tile.gather %a[%r] : !tile.array<?xi32, mut>, [tensor<256xi32>] -> tensor<256xi32>
        tile.store %c[%z], %after : !tile.array<?xi32, mut>, tensor<256xi32>
        tile.store %d[%z], %2 : !tile.array<?xi32, mut>, tensor<256xi32>
      }
      tile.return
    })", arrays), "");
}

} // namespace
