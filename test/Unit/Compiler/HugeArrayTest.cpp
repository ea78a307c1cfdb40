//===- HugeArrayTest.cpp - offsets beyond 32 bits ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Arrays of more than 2^31 elements and more than 2^32 bytes, of which only a few
// pages are backed by memory: what lies there is read and written, what lies where a
// wrapped offset would point is not.
//
//===------------------------------------------------------------------------===//

#include "SourceRunner.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <sys/mman.h>

using namespace tilec;
using namespace tilec::test;

namespace {

/// Zeros that cost nothing until they are written.
template <typename T>
class HugeArray {
public:
  HugeArray(DType dtype, std::vector<int64_t> dims) : dtype(dtype), dims(std::move(dims)) {
    bytes = sizeof(T);
    for (int64_t dim : this->dims)
      bytes *= size_t(dim);
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data = memory == MAP_FAILED ? nullptr : static_cast<T *>(memory);
  }
  ~HugeArray() {
    if (data)
      munmap(data, bytes);
  }
  T &operator[](int64_t i) { return data[i]; }
  T &at(int64_t row, int64_t column) { return data[row * dims[1] + column]; }
  KernelArg arg() { return ArrayArg::rowMajor(data, dtype, dims.data(), int(dims.size())); }

  T *data;

private:
  DType dtype;
  std::vector<int64_t> dims;
  size_t bytes;
};

ScalarArg number(int64_t value) { return ScalarArg::integer(DType::Int, value); }

/// Compiles and runs; `index32` says which build is expected.
void run(const std::string &source, const std::vector<KernelArg> &args, bool index32) {
  RunResult result = emulate(source, args);
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.info.builds.at(result.build).relies(BuildFact::Index32), index32);
}

const char *const doubles = "kernel k(x: mut array<f32, [n]>, y: mut array<f32, [64]>, t: int) grid [1] {\n"
                            "  let v = load(x, [t], [64], pad: -1.0);\n"
                            "  store(x, [t], v * 2.0);\n"
                            "  store(y, [0], v);\n"
                            "}";

TEST(HugeArray, BeyondTwoGigaElements) {
  constexpr int64_t n = (int64_t(1) << 31) + 4096, t = (int64_t(1) << 25) + 3;
  HugeArray<float> x(DType::F32, {n}), y(DType::F32, {64});
  ASSERT_NE(x.data, nullptr);
  for (int64_t i = 0; i < 64; ++i) {
    x[64 * t + i] = float(i + 1);
    x[64 * 3 + i] = 100; // where an offset of 31 bits points
  }
  run(doubles, {x.arg(), y.arg(), number(t)}, /*index32=*/false);
  for (int64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(y[i], float(i + 1));
    EXPECT_EQ(x[64 * t + i], float(2 * (i + 1)));
    EXPECT_EQ(x[64 * 3 + i], 100);
  }
}

TEST(HugeArray, BeyondFourGigaBytesWithNarrowOffsets) {
  // The last tile of an array of just fewer than 2^31 elements lies 8 GiB in.
  constexpr int64_t n = (int64_t(1) << 31) - 64, t = n / 64 - 1;
  HugeArray<float> x(DType::F32, {n}), y(DType::F32, {64});
  ASSERT_NE(x.data, nullptr);
  for (int64_t i = 0; i < 64; ++i)
    x[64 * t + i] = float(i + 1);
  run(doubles, {x.arg(), y.arg(), number(t)}, /*index32=*/true);
  for (int64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(y[i], float(i + 1));
    EXPECT_EQ(x[64 * t + i], float(2 * (i + 1)));
  }
}

TEST(HugeArray, IndicesThatWrapAreOutside) {
  // Each names tile 0 when cut to 32 bits, some also when multiplied by 64.
  for (int64_t t : {int64_t(1) << 32, int64_t(1) << 26, -(int64_t(1) << 32), int64_t(1) << 58,
                    int64_t(1) << 63, int64_t(-1)}) {
    HugeArray<float> x(DType::F32, {100}), y(DType::F32, {64});
    run(doubles, {x.arg(), y.arg(), number(t)}, /*index32=*/true);
    for (int64_t i = 0; i < 64; ++i) {
      EXPECT_EQ(y[i], -1) << t;
      EXPECT_EQ(x[i], 0) << t;
    }
  }
}

TEST(HugeArray, Rows) {
  // One launch on either side of 2^31 elements; tiles reach over fewer in both.
  for (int64_t rows : {int64_t(65000), int64_t(66000)}) {
    constexpr int64_t columns = 32768;
    HugeArray<int8_t> x(DType::I8, {rows, columns});
    HugeArray<int8_t> y(DType::I8, {16, 64});
    ASSERT_NE(x.data, nullptr);
    int64_t firstRow = rows / 16 * 16 - 16, firstColumn = columns - 64;
    for (int64_t i = 0; i < 16; ++i)
      for (int64_t j = 0; j < 64; ++j)
        x.at(firstRow + i, firstColumn + j) = int8_t(7 * i + j);
    run("kernel k(x: mut array<i8, [m, n]>, y: mut array<i8, [16, 64]>) grid [1] {\n"
        "  let v = load(x, [m / 16 - 1, cdiv(n, 64) - 1], [16, 64]);\n"
        "  store(y, [0, 0], v);\n"
        "  store(x, [m / 16 - 1, cdiv(n, 64) - 2], v);\n"
        "}",
        {x.arg(), y.arg()}, /*index32=*/true);
    for (int64_t i = 0; i < 16; ++i)
      for (int64_t j = 0; j < 64; ++j) {
        EXPECT_EQ(y.at(i, j), int8_t(7 * i + j));
        EXPECT_EQ(x.at(firstRow + i, firstColumn - 64 + j), int8_t(7 * i + j));
      }
  }
}

TEST(HugeArray, LoopsOverManyTiles) {
  // Every 2^20th tile: the counter is an i32, the offset is not.
  constexpr int64_t n = int64_t(1) << 33, step = int64_t(1) << 21;
  HugeArray<int8_t> x(DType::I8, {n});
  HugeArray<int32_t> y(DType::I32, {64});
  ASSERT_NE(x.data, nullptr);
  for (int64_t tile = 0; tile < n / 64; tile += step)
    x[64 * tile + 5] = int8_t(tile / step % 100);
  run("kernel k(x: array<i8, [n]>, y: mut array<i32, [64]>, step: int) grid [1] {\n"
      "  var total = zeros([64], i32);\n"
      "  for i in 0..cdiv(n, 64) step step { total += load(x, [i], [64]).to(i32); }\n"
      "  store(y, [0], total);\n"
      "}",
      {x.arg(), y.arg(), number(step)}, /*index32=*/false);
  EXPECT_EQ(y[5], 63 * 64 / 2);
  EXPECT_EQ(y[6], 0);
}

TEST(HugeArray, NegativeStrides) {
  float data[8 * 32];
  for (int i = 0; i < 8 * 32; ++i)
    data[i] = float(i);
  HugeArray<float> y(DType::F32, {8, 32});
  ArrayArg x = ArrayArg::rowMajor(data + 7 * 32 + 31, DType::F32, {8, 32});
  x.strides[0] = -32;
  x.strides[1] = -1;
  run("kernel k(x: strided array<f32, [m, n]>, y: mut array<f32, [m, n]>) grid [2] {\n"
      "  store(y, [bid(0), 0], load(x, [bid(0), 0], [4, 32])); }",
      {x, y.arg()}, /*index32=*/false);
  for (int i = 0; i < 8 * 32; ++i)
    EXPECT_EQ(y[i], float(8 * 32 - 1 - i));
}

} // namespace
