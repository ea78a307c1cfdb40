//===- GatheredProductsTest.cpp - warps that gather for products ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Small programs whose products have operands by index, as compiled for several chips,
// against the interpreter, byte for byte: values are small whole numbers. They differ in
// where indices come from and in what becomes of the gather: a copy of warps that only copy,
// one of all threads, or a load through registers, where what it needs is none of these
// warps' business.
//
//===------------------------------------------------------------------------===//
#include "ExampleCase.h"

using namespace tilec;
using namespace tilec::test;

namespace {

constexpr int64_t tokens = 41, experts = 3, positions = 5, tile = 64;

HostArray whole(DType dtype, std::vector<int64_t> dims, uint32_t seed) {
  HostArray array(dtype, std::move(dims));
  for (size_t i = 0; i < array.size(); ++i) {
    seed = seed * 1664525 + 1013904223;
    array.set(i, double(seed >> 24) / 51.2 > 2.5 ? double(seed >> 28) - 8 : double(seed >> 30) - 1);
  }
  return array;
}

/// Repeated, negative, outside, the largest and the least.
HostArray rowsOf(DType dtype, int64_t count) {
  HostArray rows(dtype, {count});
  for (int64_t i = 0; i < count; ++i)
    rows.set(size_t(i), double(i % 8 == 3   ? (dtype == DType::U32 ? 2'000'000 : -1 - i)
                               : i % 8 == 5 ? tokens + i
                               : i % 8 == 6 ? 4
                                            : i * 29 % tokens));
  if (dtype == DType::I32) {
    rows.set(9, 2147483647.0);
    rows.set(10, -2147483648.0);
  }
  return rows;
}

/// Runs `source` by the interpreter and as compiled for `chip`; the last array is the output.
void expectSame(const std::string &source, const char *chip, const std::vector<HostArray> &arrays,
                unsigned numWarps = 0, int numStages = 0, int numSMs = 2) {
  CompileOptions options;
  options.numWarps = numWarps;
  options.numStages = unsigned(numStages);
  std::vector<std::vector<uint8_t>> results;
  for (Executor executor : availableExecutors()) {
    KernelRunner runner(KernelRunner::Text{"gathered.tile", source}, options);
    runner.setEmulatedChip(chip);
    runner.setNumSMs(numSMs);
    std::vector<HostArray> own = arrays;
    std::vector<KernelArg> args;
    for (HostArray &array : own)
      args.push_back(array.arg());
    EXPECT_EQ(runner.run(executor, args), "") << executorName(executor) << " " << chip;
    results.push_back(own.back().bytes);
    EXPECT_EQ(results.back(), results.front()) << executorName(executor) << " " << chip << source;
  }
}

const char *const chips[] = {"sm_80", "sm_90a", "sm_100a"};

//===------------------------------------------------------------------------===//
// Rows of a
//===------------------------------------------------------------------------===//

/// Experts: ROWS makes `row`, before the loop or in it.
std::string rowsProgram(const std::string &type, const std::string &before, const std::string &inside,
                        const std::string &mask = "") {
  return "kernel rows(x: array<bf16, [m, k]>, w: array<bf16, [e, k, n]>, rows: array<" + type + R"(, [s]>,
       experts: array<i32, [b]>, y: mut array<f32, [t, n]>)
  grid [cdiv(t, 64), cdiv(n, 64)] {
  let expert = load_at(experts, [bid(0)]);
  )" + before + R"(
  var acc = zeros([64, 64], f32);
  for i in 0..cdiv(k, 64) {
    )" + inside + R"(
    let a = gather(x, [row[:, None], i * 64 + arange(64)])" + mask + R"();
    acc = mma(a, reshape(load(w, [expert, i, bid(1)], [1, 64, 64]), [64, 64]), acc);
  }
  store(y, [bid(0), bid(1)], acc);
})";
}

std::vector<HostArray> rowsArrays(DType type, int64_t k) {
  HostArray number(DType::I32, {positions});
  for (int64_t i = 0; i < positions; ++i)
    number.set(size_t(i), double(i * 2 % experts));
  return {whole(DType::BF16, {tokens, k}, 1), whole(DType::BF16, {experts, k, 72}, 2),
          rowsOf(type, positions * tile), number, HostArray::poisoned(DType::F32, {positions * tile - 3, 72})};
}

const std::string loaded = "let row = load(rows, [bid(0)], [64], pad: -1);";

TEST(GatheredProducts, RowsFromAnywhere) {
  for (const char *chip : chips) {
    expectSame(rowsProgram("i32", loaded, ""), chip, rowsArrays(DType::I32, 136));
    expectSame(rowsProgram("i64", loaded, "", ", mask: (row % 5 != 2)[:, None]"), chip,
               rowsArrays(DType::I64, 136));
    expectSame(rowsProgram("i32", "", "let row = load(rows, [bid(0) + i], [64], pad: -1);"), chip,
               rowsArrays(DType::I32, 200));
    expectSame(rowsProgram("i32", "", "let row = (arange(64) * 3 + i * 7) / 2 - 2;"), chip,
               rowsArrays(DType::I32, 200));
    // Masks along rows, and of elements: only the former are known for a whole run.
    expectSame(rowsProgram("i32", loaded, "", ", mask: i + arange(64)[:, None] % 3 != 2"), chip,
               rowsArrays(DType::I32, 136));
    expectSame(rowsProgram("i32", loaded, "", ", mask: arange(64)[None, :] % 3 != 2"), chip,
               rowsArrays(DType::I32, 136));
  }
  std::string unsignedRows = "let row = load(rows, [bid(0)], [64], pad: 0);";
  expectSame(rowsProgram("u32", unsignedRows, ""), "sm_90a", rowsArrays(DType::U32, 136));
}

TEST(GatheredProducts, EveryNumberOfIterationsAndWarps) {
  for (int stages : {1, 2, 3})
    for (int64_t k : {64 * (stages - 1), 64 * stages, 64 * stages + 8})
      expectSame(rowsProgram("i32", loaded, ""), "sm_90a", rowsArrays(DType::I32, k), 0, stages);
  for (unsigned warps : {1u, 2u, 4u, 8u})
    expectSame(rowsProgram("i32", loaded, ""), "sm_90a", rowsArrays(DType::I32, 200), warps);
}

/// A grid so small that blocks of a cluster share the loop over K.
TEST(GatheredProducts, BlocksThatShareASum) {
  for (int64_t k : {64, 200, 520})
    expectSame(rowsProgram("i32", loaded, ""), "sm_90a", rowsArrays(DType::I32, k), 0, 0, /*numSMs=*/132);
}

/// The rows come from a scan of the block's threads, the array of rows is written, rows are not
/// known to be aligned: such gathers are no copies.
TEST(GatheredProducts, WhatOtherWarpsCannotKnow) {
  for (const char *chip : {"sm_90a", "sm_100a"}) {
    expectSame(rowsProgram("i32", "let row = cumsum(load(rows, [bid(0)], [64]) % 3, axis: 0) / 2;", ""), chip,
               rowsArrays(DType::I32, 136));
    expectSame(rowsProgram("i32", "let row = load(rows, [bid(0)], [64]) + sum(load(rows, [0], [64]) % 2);", ""),
               chip, rowsArrays(DType::I32, 136));
    expectSame(rowsProgram("i32", loaded, ""), chip, rowsArrays(DType::I32, 75));
  }
}

/// A small tile comes along with the copies from a place that warps which copy may not know: no
/// warp has a part of its own, and the first ones gather.
TEST(GatheredProducts, InWarpsThatMultiply) {
  const std::string source = R"(
kernel whole(x: array<bf16, [m, k]>, w: array<bf16, [k, n]>, rows: array<i32, [s]>, bias: array<f32, [p, n]>,
             last: mut array<i32, [q]>, y: mut array<f32, [t, n]>)
  grid [cdiv(t, 64), cdiv(n, 64)] {
  let row = load(rows, [bid(0)], [64], pad: -1);
  store_at(last, [bid(0) * num_blocks(1) + bid(1)], bid(0).to(i32));
  var acc = zeros([64, 64], f32);
  for i in 0..cdiv(k, 64) {
    let at = load_at(last, [bid(0) * num_blocks(1) + bid(1)]);
    let more = load(bias, [at + i, bid(1)], [1, 64]);
    acc = mma(gather(x, [row[:, None], i * 64 + arange(64)]), load(w, [i, bid(1)], [64, 64]), acc) + more;
  }
  store(y, [bid(0), bid(1)], acc);
})";
  for (unsigned warps : {4u, 8u})
    expectSame(source, "sm_90a",
               {whole(DType::BF16, {tokens, 200}, 1), whole(DType::BF16, {200, 72}, 2),
                rowsOf(DType::I32, positions * tile), whole(DType::F32, {9, 72}, 3), HostArray(DType::I32, {64}),
                HostArray::poisoned(DType::F32, {positions * tile, 72})},
               warps);
}

//===------------------------------------------------------------------------===//
// Pages, both operands, control flow
//===------------------------------------------------------------------------===//

/// Keys on pages, as b and transposed, for a step of attention without its softmax.
TEST(GatheredProducts, PagesByTable) {
  const std::string source = R"(
kernel pages(q: array<bf16, [b, g, 64]>, k: array<bf16, [p, h, 16, 64]>, v: array<bf16, [p, h, 16, 64]>,
             table: array<i32, [b, most]>, lens: array<i32, [b]>, o: mut array<f32, [b, h, g, 64]>)
  grid [h, b] {
  let queries = reshape(load(q, [bid(1), 0, 0], [1, GROUP, 64]), [GROUP, 64]);
  let n = load_at(lens, [bid(1)]);
  var acc = zeros([GROUP, 64], f32);
  for j in 0..cdiv(n, 64) {
    let token = j * 64 + arange(64);
    let page = gather(table, [bid(1), token / 16], mask: token < n, pad: -1);
    let at = token % 16;
    let keys = gather(k, [page[:, None], bid(0), at[:, None], arange(64)]);
    let values = gather(v, [page[:, None], bid(0), at[:, None], arange(64)]);
    let s = queries @ transpose(keys);
    acc = mma((s % 3.0).to(bf16), values, acc);
  }
  store(o, [bid(1), bid(0), 0, 0], reshape(acc, [1, 1, GROUP, 64]));
})";
  HostArray table(DType::I32, {3, 9}), lens(DType::I32, {3});
  for (size_t i = 0; i < 27; ++i)
    table.set(i, double(i * 7 % 13) - 1);
  lens.set(1, 70);
  lens.set(2, 144);
  for (const char *chip : chips)
    for (int64_t group : {8, 64}) {
      std::string text = source;
      for (size_t at = 0; (at = text.find("GROUP", at)) != std::string::npos;)
        text.replace(at, 5, std::to_string(group));
      expectSame(text, chip,
                 {whole(DType::BF16, {3, group, 64}, 1), whole(DType::BF16, {11, 2, 16, 64}, 2),
                  whole(DType::BF16, {11, 2, 16, 64}, 3), table, lens,
                  HostArray::poisoned(DType::F32, {3, 2, group, 64})});
    }
}

/// Both operands by index, columns of one of them; a loop in a loop, a branch, a `while`.
TEST(GatheredProducts, BothOperandsAndControlFlow) {
  auto program = [](const std::string &loop) {
    return R"(
kernel both(x: array<f16, [m, k]>, w: array<f16, [k, n]>, rows: array<i32, [s]>, y: mut array<f32, [t, 64]>)
  grid [cdiv(t, 64)] {
  let row = load(rows, [bid(0)], [64], pad: -1);
  var acc = zeros([64, 64], f32);
  )" + loop + R"(
  store(y, [bid(0), 0], acc);
})";
  };
  const std::string step = R"(
    let at = l * 64 + arange(64);
    acc = mma(gather(x, [row[:, None], at]), gather(w, [(at / 2 + j * 3)[:, None], arange(64)]), acc);)";
  for (const char *chip : chips) {
    std::vector<HostArray> arrays = {whole(DType::F16, {tokens, 136}, 1), whole(DType::F16, {136, 72}, 2),
                                     rowsOf(DType::I32, 128), HostArray::poisoned(DType::F32, {100, 64})};
    for (const std::string &loop :
         {"for j in 0..3 { for l in 0..cdiv(k, 64) {" + step + "} }",
          "for l in 0..4 { let j = l; if l % 2 == bid(0) {" + step + "} }",
          "var l: int = 0; while l * 64 < k { let j = l;" + step + " l = l + 1; }",
          "for l in 0..4 { let j = 0; " + step + " if l == bid(0) { break; } }"})
      expectSame(program(loop), chip, arrays);
    // Rows of what is transposed; columns, which do not lie side by side.
    expectSame(program(R"(for l in 0..cdiv(k, 64) {
      acc = mma(transpose(gather(x, [(l * 64 + arange(64))[:, None], arange(64)])),
                transpose(gather(w, [row[:, None], arange(64)])), acc); })"),
               chip, arrays);
    expectSame(program(R"(for l in 0..cdiv(k, 64) {
      acc = mma(gather(x, [arange(64)[:, None], row]), gather(w, [row[:, None], arange(64)]), acc); })"),
               chip, arrays);
  }
}

//===------------------------------------------------------------------------===//
// Clusters
//===------------------------------------------------------------------------===//

/// Two blocks share the weights that the engine brings, and each gathers its own pixels; the
/// last one may have no place in the grid.
TEST(GatheredProducts, ConvolutionInClusters) {
  for (auto [n, h, w] : {std::tuple<int64_t, int64_t, int64_t>{1, 9, 11}, {3, 7, 12}}) {
    constexpr int64_t c = 40, k = 72;
    Case test{"../Lowering/Run/gathered-convolution", "convolution", {define("BC", 32)}, {}, {}, false, {}, 0, "sm_90a"};
    test.arrays = {whole(DType::F16, {n, h, w, c}, 1), whole(DType::F16, {3, 3, c, k}, 2),
                   HostArray::poisoned(DType::F16, {n * h * w, k})};
    for (int64_t pixel = 0; pixel < n * h * w; ++pixel)
      for (int64_t out = 0; out < k; ++out) {
        double sum = 0;
        for (int64_t tap = 0; tap < 9; ++tap) {
          int64_t y = pixel / w % h + tap / 3 - 1, x = pixel % w + tap % 3 - 1;
          for (int64_t in = 0; y >= 0 && y < h && x >= 0 && x < w && in < c; ++in)
            sum += test.arrays[0].at(size_t(((pixel / (h * w) * h + y) * w + x) * c + in)) *
                   test.arrays[1].at(size_t((tap * c + in) * k + out));
        }
        test.expected.push_back(sum);
      }
    test.tolerance = epsilon(DType::F16);
    check(test, /*allWarps=*/false);
  }
}

} // namespace
