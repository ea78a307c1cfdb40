//===- SortTest.cpp - sorts and histograms on threads ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Sorts, their first elements, and histograms: the threads together give what
// the interpreter gives, for 1, 2, 4 and 8 warps, and both what is computed
// here.
//
//===------------------------------------------------------------------------===//
#include "AxisTest.h"

using namespace tilec;

namespace {

//===------------------------------------------------------------------------===//
// Sorts
//===------------------------------------------------------------------------===//

std::string sortKernel(const Line &line, const std::string &type, bool descends,
                       bool isUnsigned, bool hasPayload) {
  size_t rank = line.shape.size();
  std::string tile = "tensor<" + dimsText(line.shape) + type + ">",
              words = "tensor<" + dimsText(line.shape) + "i16>",
              z = zeroIndex(rank);
  std::string in = arrayText(rank, type), out = arrayText(rank, type, true),
              payIn = arrayText(rank, "i16"),
              payOut = arrayText(rank, "i16", true);
  std::string options = " axis " + std::to_string(line.axis) +
                        (descends ? " descending" : "") +
                        (isUnsigned ? " unsigned" : "");
  std::string sort =
      hasPayload
          ? "%s:2 = tile.sort(%x, %y)" + options + " : (" + tile + ", " +
                words + ") -> (" + tile + ", " + words + ")\ntile.store %d[" +
                z + "], %s#1 : " + payOut + ", " + words
          : "%s:1 = tile.sort(%x)" + options + " : (" + tile + ") -> " + tile;
  return "tile.kernel @sort(%a: " + in + ", %b: " + payIn + ", %c: " + out +
         ", %d: " + payOut + R"() {
    %z = arith.constant 0 : index
    %x = tile.load %a[)" +
         z + "] : " + in + " -> " + tile + R"(
    %y = tile.load %b[)" +
         z + "] : " + payIn + " -> " + words + "\n" + sort + R"(
    tile.store %c[)" +
         z + "], %s#0 : " + out + ", " + tile + R"(
    tile.return
  })";
}

/// A few values with many ties: zeros of both signs, infinities, NaN.
TEST(SortTest, SortsFloatsStably) {
  const float special[] = {0.0f,     -0.0f,     1.5f, -1.5f,
                           INFINITY, -INFINITY, NAN,  3e-42f};
  bool descends = false;
  for (const Line &line : lines) {
    descends = !descends;
    size_t count = size_t(countOf(line.shape));
    std::vector<float> keys(count);
    std::vector<int16_t> payload(count);
    for (size_t i = 0; i < count; ++i) {
      keys[i] = special[(i * 2654435761u >> 13) % 8];
      payload[i] = int16_t(i * 31);
    }
    std::vector<HostArray> arrays = {
        HostArray::of(DType::F32, line.shape, keys),
        HostArray::of(DType::I16, line.shape, payload),
        HostArray::output(DType::F32, line.shape),
        HostArray::output(DType::I16, line.shape)};
    std::string text = sortKernel(line, "f32", descends, false, true);
    ASSERT_EQ(checkKernel(text, arrays), "") << text;
    auto less = [](float a, float b) {
      return std::isnan(b) ? !std::isnan(a) : a < b;
    };
    std::vector<int16_t> expected(count);
    forLines(line.shape, line.axis, [&](const std::vector<int64_t> &at) {
      std::vector<int64_t> from = at;
      std::sort(from.begin(), from.end(), [&](int64_t a, int64_t b) {
        float x = keys[size_t(descends ? b : a)],
              y = keys[size_t(descends ? a : b)];
        return less(x, y) || (!less(y, x) && a < b);
      });
      for (size_t i = 0; i < at.size(); ++i)
        expected[size_t(at[i])] = payload[size_t(from[i])];
    });
    ASSERT_EQ(contents<int16_t>(arrays[3]), expected) << text;
  }
}

TEST(SortTest, SortsEveryType) {
  std::vector<std::pair<std::string, DType>> types = {
      {"i1", DType::Bool},   {"i8", DType::I8},   {"i16", DType::I16},
      {"i32", DType::I32},   {"i64", DType::I64}, {"f16", DType::F16},
      {"bf16", DType::BF16}, {"f64", DType::F64}};
  for (auto [type, dtype] : types)
    for (bool hasPayload : {false, true}) {
      bool isUnsigned = hasPayload || type == "i1"; // bools sort as 0 and 1
      size_t size = dtypeBytes(dtype);
      std::vector<uint8_t> bytes(512 * size);
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = uint8_t(i * 2654435761u >> 11) & (type == "i1" ? 1 : 0xff);
      std::vector<int16_t> payload(512);
      std::iota(payload.begin(), payload.end(), 0);
      std::vector<HostArray> arrays = {
          HostArray::of(dtype, {2, 256}, bytes),
          HostArray::of(DType::I16, {2, 256}, payload),
          HostArray::output(dtype, {2, 256}),
          HostArray::output(DType::I16, {2, 256})};
      EXPECT_EQ(checkKernel(sortKernel({{2, 256}, 1}, type, hasPayload,
                                       isUnsigned, hasPayload),
                            arrays, onWarps({4})),
                "")
          << type;
    }
}

/// Only the first elements are used: the rest is dropped on the way.
TEST(SortTest, KeepsTheGreatest) {
  for (int64_t kept : {1, 8, 128})
    for (auto [type, dtype] : std::vector<std::pair<std::string, DType>>{
             {"f32", DType::F32}, {"i64", DType::I64}}) {
      std::vector<int64_t> values(4 * 256);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = int64_t(i * 2654435761u % 97) - 40;
      std::vector<float> floats(values.begin(), values.end());
      std::string k = std::to_string(kept);
      std::vector<HostArray> arrays = {
          type == "f32" ? HostArray::of(dtype, {4, 256}, floats)
                        : HostArray::of(dtype, {4, 256}, values),
          HostArray::output(dtype, {4, kept}),
          HostArray::output(DType::I32, {4, kept})};
      EXPECT_EQ(
          checkKernel("tile.kernel @topk(%a: " + arrayText(2, type) +
                          ", %c: " + arrayText(2, type, true) +
                          R"(, %d: !tile.array<?x?xi32, mut>) {
        %z = arith.constant 0 : index
        %x = tile.load %a[%z, %z] : )" +
                          arrayText(2, type) + " -> tensor<4x256x" + type + R"(>
        %n = tile.iota : tensor<256xi32>
        %r = tile.reshape %n : tensor<256xi32> -> tensor<1x256xi32>
        %p = tile.broadcast %r : tensor<1x256xi32> -> tensor<4x256xi32>
        %s:2 = tile.sort(%x, %p) axis 1 descending : (tensor<4x256x)" +
                          type + ">, tensor<4x256xi32>) -> (tensor<4x256x" +
                          type + R"(>, tensor<4x256xi32>)
        %t = tile.extract %s#0[%z, %z] : tensor<4x256x)" +
                          type + "> -> tensor<4x" + k + "x" + type + R"(>
        %u = tile.extract %s#1[%z, %z] : tensor<4x256xi32> -> tensor<4x)" +
                          k + R"(xi32>
        tile.store %c[%z, %z], %t : )" +
                          arrayText(2, type, true) + ", tensor<4x" + k + "x" +
                          type + R"(>
        tile.store %d[%z, %z], %u : !tile.array<?x?xi32, mut>, tensor<4x)" +
                          k + R"(xi32>
        tile.return
      })",
                      arrays, onWarps({1, 8})),
          "")
          << kept << type;
      std::vector<int32_t> expected;
      for (size_t row = 0; row < 4; ++row) {
        std::vector<int32_t> from(256);
        std::iota(from.begin(), from.end(), 0);
        std::sort(from.begin(), from.end(), [&](int32_t a, int32_t b) {
          return std::pair(-values[row * 256 + size_t(a)], a) <
                 std::pair(-values[row * 256 + size_t(b)], b);
        });
        expected.insert(expected.end(), from.begin(), from.begin() + kept);
      }
      EXPECT_EQ(contents<int32_t>(arrays[2]), expected);
    }
}

//===------------------------------------------------------------------------===//
// Histograms
//===------------------------------------------------------------------------===//

TEST(SortTest, CountsWhatHasABin) {
  for (int64_t bins : {1, 64, 32768})
    for (auto [type, dtype] :
         std::vector<std::pair<std::string, DType>>{{"i8", DType::I8},
                                                    {"i16", DType::I16},
                                                    {"i32", DType::I32},
                                                    {"i64", DType::I64}})
      for (bool isUnsigned : {false, true}) {
        std::vector<int64_t> values(4 * 64);
        for (size_t i = 0; i < values.size(); ++i)
          values[i] =
              i % 5 ? int64_t(i * 2654435761u >> 7) % 300 - 30 : -int64_t(i);
        size_t size = dtypeBytes(dtype);
        std::vector<uint8_t> bytes(values.size() * size);
        std::vector<int32_t> expected(size_t(bins), 0);
        for (size_t i = 0; i < values.size(); ++i) {
          std::memcpy(&bytes[i * size], &values[i], size);
          uint64_t read =
              isUnsigned ? 0 : uint64_t(values[i] << (64 - 8 * size));
          if (isUnsigned)
            std::memcpy(&read, &values[i], size);
          else
            read = uint64_t(int64_t(read) >> (64 - 8 * size));
          if (read < uint64_t(bins))
            ++expected[size_t(read)];
        }
        std::vector<HostArray> arrays = {HostArray::of(dtype, {4, 64}, bytes),
                                         HostArray::output(DType::I32, {bins})};
        EXPECT_EQ(checkKernel("tile.kernel @count(%a: " + arrayText(2, type) +
                                  R"(, %c: !tile.array<?xi32, mut>) {
          %z = arith.constant 0 : index
          %x = tile.load %a[%z, %z] : )" +
                                  arrayText(2, type) + " -> tensor<4x64x" +
                                  type + R"(>
          %h = tile.histogram %x )" +
                                  (isUnsigned ? "unsigned " : "") +
                                  ": tensor<4x64x" + type + "> -> tensor<" +
                                  std::to_string(bins) + R"(xi32>
          tile.store %c[%z], %h : !tile.array<?xi32, mut>, tensor<)" +
                                  std::to_string(bins) + R"(xi32>
          tile.return
        })",
                              arrays, onWarps({bins == 64 ? 1u : 8u})),
                  "")
            << type << " " << bins;
        EXPECT_EQ(contents<int32_t>(arrays[1]), expected)
            << type << " " << bins;
      }
}

} // namespace
