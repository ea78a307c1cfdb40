//===- ScanTest.cpp - scans on threads ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Scans of every shape, direction and type: the threads together give what the
// interpreter gives, for 1, 2, 4 and 8 warps, and both what is computed here.
//
//===------------------------------------------------------------------------===//
#include "AxisTest.h"

using namespace tilec;

namespace {

/// Composing maps x → a x + b (modulo 2^32) is associative and does not
/// commute: the order of operands shows.
TEST(ScanTest, KeepsTheOrderOfOperands) {
  unsigned form = 0;
  for (const Line &line : lines) {
    bool isReverse = form & 1, isExclusive = form & 2;
    ++form;
    std::vector<uint32_t> a(size_t(countOf(line.shape))), b(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = uint32_t(i * 7 + 3) | 1;
      b[i] = uint32_t(i * 13 + 5);
    }
    std::vector<HostArray> arrays = {HostArray::of(DType::I32, line.shape, a),
                                     HostArray::of(DType::I32, line.shape, b),
                                     HostArray::output(DType::I32, line.shape),
                                     HostArray::output(DType::I32, line.shape)};
    std::string tile = "tensor<" + dimsText(line.shape) + "i32>";
    std::string in = arrayText(line.shape.size(), "i32"),
                out = arrayText(line.shape.size(), "i32", true),
                z = zeroIndex(line.shape.size());
    std::string text =
        "tile.kernel @maps(%a: " + in + ", %b: " + in + ", %c: " + out +
        ", %d: " + out + R"() {
          %z = arith.constant 0 : index
          %one = arith.constant 1 : i32
          %zero = arith.constant 0 : i32
          %x = tile.load %a[)" +
        z + "] : " + in + " -> " + tile + R"(
          %y = tile.load %b[)" +
        z + "] : " + in + " -> " + tile + R"(
          %s:2 = tile.scan(%x, %y) axis )" +
        std::to_string(line.axis) + (isReverse ? " reverse" : "") +
        (isExclusive ? " exclusive(%one, %zero : i32, i32)" : "") + " : (" +
        tile + ", " + tile + ") -> (" + tile + ", " + tile + R"() {
          ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
            %p = arith.muli %la, %ra : i32
            %q = arith.muli %ra, %lb : i32
            %r = arith.addi %q, %rb : i32
            tile.yield %p, %r : i32, i32
          }
          tile.store %c[)" +
        z + "], %s#0 : " + out + ", " + tile + R"(
          tile.store %d[)" +
        z + "], %s#1 : " + out + ", " + tile + R"(
          tile.return
        })";
    ASSERT_EQ(checkKernel(text, arrays), "") << text;
    std::vector<uint32_t> p(a.size()), q(a.size());
    forLines(line.shape, line.axis, [&](std::vector<int64_t> at) {
      if (isReverse)
        std::reverse(at.begin(), at.end());
      uint32_t scale = 1, offset = 0;
      for (int64_t i : at) {
        uint32_t nextScale = scale * a[size_t(i)],
                 nextOffset = offset * a[size_t(i)] + b[size_t(i)];
        p[size_t(i)] = isExclusive ? scale : nextScale;
        q[size_t(i)] = isExclusive ? offset : nextOffset;
        scale = nextScale;
        offset = nextOffset;
      }
    });
    ASSERT_EQ(contents<uint32_t>(arrays[2]), p) << text;
    ASSERT_EQ(contents<uint32_t>(arrays[3]), q) << text;
  }
}

/// Every element type; and a region with branches, so one that is no vector
/// code.
TEST(ScanTest, ScansEveryType) {
  std::vector<std::pair<std::string, DType>> types = {
      {"i8", DType::I8},   {"i16", DType::I16}, {"i32", DType::I32},
      {"i64", DType::I64}, {"f16", DType::F16}, {"bf16", DType::BF16},
      {"f32", DType::F32}, {"f64", DType::F64}};
  for (auto [type, dtype] : types) {
    size_t size = dtypeBytes(dtype);
    bool isFloat = type[0] != 'i';
    std::vector<uint8_t> bytes(512 * size);
    for (size_t i = 0; i < 512; ++i)
      bytes[i * size + size - 1] = uint8_t((i * 37 + 11) % 120);
    std::vector<HostArray> arrays = {HostArray::of(dtype, {2, 256}, bytes),
                                     HostArray::output(dtype, {2, 256})};
    std::string in = arrayText(2, type), out = arrayText(2, type, true),
                tile = "tensor<2x256x" + type + ">";
    EXPECT_EQ(checkKernel("tile.kernel @peaks(%a: " + in + ", %c: " + out +
                              R"() {
        %z = arith.constant 0 : index
        %x = tile.load %a[%z, %z] : )" +
                              in + " -> " + tile + R"(
        %s = tile.scan(%x) axis 1 : ()" +
                              tile + ") -> " + tile + R"( {
        ^bb0(%l: )" + type +
                              ", %r: " + type + R"():
          %more = arith.)" + (isFloat ? "cmpf ogt" : "cmpi sgt") +
                              ", %l, %r : " + type + R"(
          %q = scf.if %more -> )" +
                              type + R"( {
            scf.yield %l : )" +
                              type + R"(
          } else {
            scf.yield %r : )" +
                              type + R"(
          }
          tile.yield %q : )" + type +
                              R"(
        }
        tile.store %c[%z, %z], %s : )" +
                              out + ", " + tile + R"(
        tile.return
      })",
                          arrays, onWarps({1, 8})),
              "")
        << type;
  }
}

} // namespace
