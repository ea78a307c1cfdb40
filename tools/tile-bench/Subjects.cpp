//===- Subjects.cpp - what is measured ------------------------ -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "Subjects.h"

#include <bit>
#include <charconv>
#include <cmath>

namespace tilec::bench {

//===-- The table -------------------------------------------------------------------===//

static const std::vector<Sizes> rowShapes = {{131072, 1024}, {32768, 4096}, {16384, 8192},
                                             {8192, 16384}};
static const std::vector<Sizes> productShapes = {
    {4096, 4096, 4096},  {8192, 8192, 8192},  {2048, 2048, 2048}, {4096, 14336, 4096},
    {4096, 4096, 14336}, {8192, 8192, 512},   {1000, 1000, 1000}, {1024, 1024, 1024},
    {512, 512, 512},     {128, 8192, 8192},   {16, 8192, 8192}};
static const std::vector<Sizes> squareShapes = {{4096, 4096, 4096}, {8192, 8192, 8192}};
static const std::vector<Sizes> sumShapes = {{16384, 16384}, {1048576, 256}, {256, 1048576}};
static const std::vector<std::string_view> productTiles = {
    "BM=128 BN=256 BK=64", "BM=256 BN=128 BK=64", "BM=128 BN=128 BK=64", "BM=64 BN=128 BK=64",
    "BM=64 BN=64 BK=64"};

static std::vector<Subject> makeTable() {
  using enum DType;
  return {
      {"vadd", "vadd.tile", "vadd", Work::Add, F32, F32, "", {"BN=1024", "BN=2048"},
       {{1 << 20}, {1 << 24}, {1 << 28}}, "z = x + y"},
      {"softmax", "softmax.tile", "softmax", Work::Softmax, BF16, BF16, "", {"ROWS=1"},
       {{134217, 1000}, {131072, 1024}, {32768, 4096}, {16384, 8192}, {8192, 16384},
        {4096, 32768}},
       "softmax of rows"},
      {"softmax-short", "softmax.tile", "softmax", Work::Softmax, BF16, BF16, "",
       {"ROWS=8", "ROWS=4"}, {{524288, 256}}, "softmax of short rows, several a block"},
      {"layernorm", "layernorm.tile", "layernorm", Work::LayerNorm, BF16, BF16, "", {""},
       rowShapes, "normalized rows with weight and bias"},
      {"rmsnorm", "rmsnorm.tile", "rmsnorm", Work::RmsNorm, BF16, BF16, "", {""}, rowShapes,
       "rows over the root of their mean square, with weight"},
      {"transpose", "transpose.tile", "transpose", Work::Transpose, F32, F32, "",
       {"B=64", "B=32"}, {{4096, 4096}, {16384, 16384}}, "transposed matrix"},
      {"rowsum", "sums.tile", "rowsum", Work::RowSum, F32, F32, "",
       {"BM=4 BN=1024", "BM=32 BN=256", "BM=1 BN=4096"}, sumShapes, "sum of each row"},
      {"colsum", "sums.tile", "colsum", Work::ColumnSum, F32, F32, "",
       {"BM=64 BN=64", "BM=64 BN=128"}, {{16384, 16384}, {256, 1048576}}, "sum of each column"},
      {"swiglu", "swiglu.tile", "swiglu", Work::SwiGlu, BF16, BF16, "", {"BLOCK=1024", "BLOCK=2048"},
       {{8192, 14336}}, "silu(gate) * up"},
      {"matmul-bf16", "matmul.tile", "matmul", Work::Product, BF16, BF16, "T=bf16",
       productTiles, productShapes, "a x b"},
      {"matmul-f16", "matmul.tile", "matmul", Work::Product, F16, F16, "T=f16",
       {"BM=128 BN=256 BK=64", "BM=256 BN=128 BK=64"}, squareShapes, "a x b"},
      {"matmul_nt-bf16", "matmul_nt.tile", "matmul_nt", Work::ProductNT, BF16, BF16, "",
       {"BM=128 BN=256 BK=64", "BM=256 BN=128 BK=64"}, squareShapes, "a x b transposed"},
      {"matmul_nt-e4m3-fast", "matmul_nt.tile", "matmul_nt", Work::ProductNT, F8E4M3, BF16,
       "T=f8e4m3 FAST=true", {"BM=128 BN=256 BK=128", "BM=256 BN=128 BK=128"}, squareShapes,
       "f8, summed with fewer bits"},
      {"matmul_nt-e4m3", "matmul_nt.tile", "matmul_nt", Work::ProductNT, F8E4M3, BF16, "T=f8e4m3",
       {"BM=128 BN=128 BK=128", "BM=128 BN=256 BK=128"}, squareShapes, "f8, summed in f32"},
      {"matmul_nt-i8", "matmul_nt.tile", "matmul_nt", Work::ProductNT, I8, I32, "T=i8 S=i32 O=i32",
       {"BM=128 BN=256 BK=128", "BM=128 BN=128 BK=128"}, squareShapes, "i8, summed in i32"},
      {"matmul_nt-tf32", "matmul_nt.tile", "matmul_nt", Work::ProductNT, F32, F32,
       "T=f32 O=f32 TF32=true", {"BM=128 BN=256 BK=32", "BM=128 BN=128 BK=32"}, squareShapes,
       "f32 with operands cut to tf32"},
      {"matmul_nt-f32", "matmul_nt.tile", "matmul_nt", Work::ProductNT, F32, F32, "T=f32 O=f32",
       {"BM=128 BN=128 BK=16", "BM=128 BN=128 BK=32"}, {{4096, 4096, 4096}}, "f32"},
      {"matmul_nt-f64", "matmul_nt.tile", "matmul_nt", Work::ProductNT, F64, F64,
       "T=f64 S=f64 O=f64", {"BM=128 BN=128 BK=32", "BM=128 BN=128 BK=16"}, {{4096, 4096, 4096}},
       "f64"},
      {"matmul_bias_gelu", "matmul_bias_gelu.tile", "matmul_bias_gelu", Work::ProductBiasGelu,
       BF16, BF16, "", {"BM=128 BN=256 BK=64", "BM=128 BN=128 BK=64"},
       {{4096, 4096, 4096}, {8192, 8192, 8192}, {4096, 14336, 4096}}, "gelu(a x b + bias)"},
      {"matmul_swiglu", "matmul_swiglu.tile", "matmul_swiglu", Work::ProductSwiGlu, BF16, BF16, "",
       {"BM=128 BN=128 BK=64", "BM=128 BN=64 BK=64"}, {{4096, 4096, 4096}, {4096, 14336, 4096}},
       "silu(x x gate) * (x x up)"},
      {"attention", "attention.tile", "attention", Work::Attention, BF16, BF16, "",
       {"BM=128 BN=128", "BM=128 BN=64", "BM=256 BN=64"},
       {{4, 16, 4096, 128}, {2, 16, 8192, 128}, {16, 16, 1024, 128}, {4, 32, 4096, 64}},
       "softmax(q k^T) v"},
      {"attention-causal", "attention.tile", "attention", Work::CausalAttention, BF16, BF16,
       "CAUSAL=true", {"BM=128 BN=128", "BM=128 BN=64", "BM=256 BN=64"},
       {{4, 16, 4096, 128}, {2, 16, 8192, 128}, {16, 16, 1024, 128}, {4, 32, 4096, 64}},
       "the same, each query sees the keys up to its own"},
  };
}

const std::vector<Subject> &allSubjects() {
  static const std::vector<Subject> table = makeTable();
  return table;
}

std::vector<const Subject *> findSubjects(std::string_view pattern) {
  std::vector<const Subject *> found;
  for (const Subject &subject : allSubjects())
    if (subject.name == pattern || subject.name.starts_with(std::string(pattern) + "-"))
      found.push_back(&subject);
  return found;
}

//===-- Problems --------------------------------------------------------------------===//

int64_t Operand::elements() const {
  int64_t n = 1;
  for (int64_t dim : dims)
    n *= dim;
  return n;
}

const Operand &Problem::output() const {
  for (const Operand &operand : operands)
    if (operand.isOutput)
      return operand;
  return operands.back();
}

std::string Problem::shapeText() const {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::string_view sizeNames(Work work) {
  switch (work) {
  case Work::Add:
    return "n";
  case Work::Softmax:
  case Work::LayerNorm:
  case Work::RmsNorm:
  case Work::Transpose:
  case Work::RowSum:
  case Work::ColumnSum:
  case Work::SwiGlu:
    return "rows x columns";
  case Work::Product:
  case Work::ProductNT:
  case Work::ProductBiasGelu:
  case Work::ProductSwiGlu:
    return "m x n x k";
  case Work::Attention:
  case Work::CausalAttention:
    return "batch x heads x length x d";
  }
  return "";
}

/// How far rounding may take a result from the exact one, and no error of a program.
static double toleranceOf(const Subject &subject) {
  if (subject.work == Work::Transpose || !isFloat(subject.result))
    return 0;
  if (isF8(subject.dtype) || subject.result == DType::BF16)
    return 1e-2;
  if (subject.result == DType::F16 || subject.constants.find("TF32") != std::string_view::npos)
    return 2e-3;
  return subject.result == DType::F64 ? 1e-12 : 1e-5;
}

static void addProduct(Problem &problem) {
  const Subject &s = *problem.subject;
  int64_t m = problem.sizes[0], n = problem.sizes[1], k = problem.sizes[2];
  Sizes right = s.work == Work::ProductNT ? Sizes{n, k} : Sizes{k, n};
  problem.operands = {{"a", s.dtype, {m, k}}, {"b", s.dtype, right}};
  if (s.work == Work::ProductBiasGelu)
    problem.operands.push_back({"bias", s.dtype, {n}});
  if (s.work == Work::ProductSwiGlu)
    problem.operands.push_back({"up", s.dtype, right});
  problem.operands.push_back({"c", s.result, {m, n}, true});
  double products = s.work == Work::ProductSwiGlu ? 2 : 1;
  problem.operations = products * 2 * static_cast<double>(m * n) * static_cast<double>(k);
}

static void addRows(Problem &problem) {
  const Subject &s = *problem.subject;
  int64_t rows = problem.sizes[0], cols = problem.sizes[1];
  auto elements = static_cast<double>(rows * cols);
  problem.operands = {{"x", s.dtype, {rows, cols}}};
  if (s.work == Work::LayerNorm || s.work == Work::RmsNorm)
    problem.operands.push_back({"weight", s.dtype, {cols}});
  if (s.work == Work::LayerNorm)
    problem.operands.push_back({"bias", s.dtype, {cols}});
  if (s.work == Work::SwiGlu)
    problem.operands.push_back({"up", s.dtype, {rows, cols}});
  if (s.work == Work::LayerNorm || s.work == Work::RmsNorm)
    problem.scalars = {1e-5};
  Sizes out = {rows, cols};
  if (s.work == Work::Transpose)
    out = {cols, rows};
  else if (s.work == Work::RowSum)
    out = {rows};
  else if (s.work == Work::ColumnSum)
    out = {cols};
  problem.operands.push_back({"y", s.result, out, true});
  // Operations an element, by the definitions; moving one counts as one.
  double each = 1;
  if (s.work == Work::LayerNorm)
    each = 8;
  else if (s.work == Work::Softmax)
    each = 5;
  else if (s.work == Work::RmsNorm || s.work == Work::SwiGlu)
    each = 4;
  problem.operations = each * elements;
}

std::optional<Problem> makeProblem(const Subject &subject, const Sizes &sizes) {
  Problem problem{&subject, sizes, {}, {}};
  size_t wanted = subject.shapes.front().size();
  if (sizes.size() != wanted)
    return std::nullopt;
  DType t = subject.dtype;
  switch (subject.work) {
  case Work::Add:
    problem.operands = {{"x", t, sizes}, {"y", t, sizes}, {"z", t, sizes, true}};
    problem.operations = static_cast<double>(sizes[0]);
    break;
  case Work::Product:
  case Work::ProductNT:
  case Work::ProductBiasGelu:
  case Work::ProductSwiGlu:
    addProduct(problem);
    break;
  case Work::Attention:
  case Work::CausalAttention: {
    problem.operands = {{"q", t, sizes}, {"k", t, sizes}, {"v", t, sizes}, {"o", t, sizes, true}};
    problem.scalars = {1.0 / std::sqrt(static_cast<double>(sizes[3]))};
    double half = subject.work == Work::CausalAttention ? 0.5 : 1.0;
    problem.operations = half * 4 * static_cast<double>(sizes[0] * sizes[1] * sizes[2]) *
                         static_cast<double>(sizes[2] * sizes[3]);
    break;
  }
  default:
    addRows(problem);
  }
  for (const Operand &operand : problem.operands)
    problem.bytes += static_cast<double>(operand.elements()) * dtypeBytes(operand.dtype);
  problem.tolerance = toleranceOf(subject);
  return problem;
}

/// "A=1 B=2" into pairs.
static void addDefinitions(std::string_view text,
                           std::vector<std::pair<std::string, std::string>> &to) {
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    size_t equal = word.find('=');
    to.emplace_back(word.substr(0, equal), word.substr(equal + 1));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
}

std::vector<std::pair<std::string, std::string>> definitions(const Problem &problem,
                                                             std::string_view tile) {
  std::vector<std::pair<std::string, std::string>> result;
  addDefinitions(problem.subject->constants, result);
  addDefinitions(tile, result);
  switch (problem.subject->work) {
  case Work::Softmax:
  case Work::LayerNorm:
  case Work::RmsNorm:
    result.emplace_back("COLS", std::to_string(std::bit_ceil(static_cast<uint64_t>(problem.sizes[1]))));
    break;
  case Work::Attention:
  case Work::CausalAttention:
    result.emplace_back("D", std::to_string(problem.sizes[3]));
    break;
  default:
    break;
  }
  return result;
}

std::optional<Sizes> parseSizes(std::string_view text) {
  Sizes sizes;
  while (true) {
    int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value <= 0)
      return std::nullopt;
    sizes.push_back(value);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty())
      return sizes;
    if (text.front() != 'x')
      return std::nullopt;
    text.remove_prefix(1);
  }
}

} // namespace tilec::bench
