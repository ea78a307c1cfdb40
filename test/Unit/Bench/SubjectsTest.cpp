//===- SubjectsTest.cpp - the table of subjects, references --- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The table against the kernels that it names, and references against definitions
// that are computed here from the arrays as they lie in memory.
//
//===------------------------------------------------------------------------===//

#include "Reference.h"
#include "Subjects.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <cmath>
#include <map>
#include <numbers>
#include <set>

using namespace tilec;
using namespace tilec::bench;

static std::string sourceOf(const Subject &subject) {
  auto file = llvm::MemoryBuffer::getFile(std::string(TILEC_EXAMPLES_DIR) + "/" + std::string(subject.file));
  return file ? (*file)->getBuffer().str() : "";
}

TEST(Subjects, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Subject &subject : allSubjects())
    EXPECT_TRUE(names.insert(subject.name).second) << subject.name;
}

TEST(Subjects, KernelsAndConstantsExist) {
  for (const Subject &subject : allSubjects()) {
    std::string source = sourceOf(subject);
    EXPECT_NE(source.find("kernel " + std::string(subject.kernel) + "<"), std::string::npos) << subject.name;
    ASSERT_FALSE(subject.tiles.empty());
    for (std::string_view tile : subject.tiles)
      for (const auto &[name, value] : definitions(*makeProblem(subject, subject.shapes.front()), tile))
        EXPECT_NE(source.find(name + ": "), std::string::npos) << subject.name << " " << name;
  }
}

TEST(Subjects, ShapesFit) {
  for (const Subject &subject : allSubjects()) {
    ASSERT_FALSE(subject.shapes.empty());
    for (const Sizes &sizes : subject.shapes) {
      auto problem = makeProblem(subject, sizes);
      ASSERT_TRUE(problem) << subject.name;
      EXPECT_GT(problem->operations, 0);
      EXPECT_GT(problem->bytes, 0);
      EXPECT_TRUE(problem->output().isOutput);
    }
    Sizes longer = subject.shapes.front();
    longer.push_back(1);
    EXPECT_FALSE(makeProblem(subject, longer));
  }
}

TEST(Subjects, FoundByNameAndByItsBeginning) {
  ASSERT_EQ(findSubjects("vadd").size(), 1u);
  EXPECT_EQ(findSubjects("matmul").size(), 2u); // bf16 and f16
  EXPECT_EQ(findSubjects("matmul_nt-e4m3").size(), 2u);
  EXPECT_TRUE(findSubjects("matm").empty());
}

TEST(Subjects, WorkIsCountedByDefinition) {
  auto product = makeProblem(*findSubjects("matmul-bf16").front(), {10, 20, 30});
  EXPECT_EQ(product->operations, 2.0 * 10 * 20 * 30);
  EXPECT_EQ(product->bytes, 2.0 * (10 * 30 + 30 * 20 + 10 * 20));
  EXPECT_EQ(product->shapeText(), "10x20x30");
  auto full = makeProblem(*findSubjects("attention").front(), {2, 3, 64, 16});
  EXPECT_EQ(full->operations, 4.0 * 2 * 3 * 64 * 64 * 16);
  auto causal = makeProblem(*findSubjects("attention-causal").front(), {2, 3, 64, 16});
  EXPECT_EQ(causal->operations, full->operations / 2);
  auto i8 = makeProblem(*findSubjects("matmul_nt-i8").front(), {10, 20, 30});
  EXPECT_EQ(i8->bytes, 10 * 30 + 30 * 20 + 4.0 * 10 * 20);
}

TEST(Subjects, RowsAreRoundedUp) {
  auto problem = makeProblem(*findSubjects("rmsnorm").front(), {5, 1000});
  std::map<std::string, std::string> constants;
  for (const auto &[name, value] : definitions(*problem, ""))
    constants[name] = value;
  EXPECT_EQ(constants["COLS"], "1024");
}

TEST(Subjects, SizesAreParsed) {
  EXPECT_EQ(parseSizes("16x8192x7"), (Sizes{16, 8192, 7}));
  EXPECT_EQ(parseSizes("5"), Sizes{5});
  for (const char *wrong : {"", "x", "5x", "5x0", "-5", "5 x 6", "5,6", "a"})
    EXPECT_FALSE(parseSizes(wrong)) << wrong;
}

//===-- References -------------------------------------------------------------------===//

namespace {
/// A subject at a small shape, with its inputs in double.
struct Small {
  Small(std::string_view name, const Sizes &sizes) : problem(*makeProblem(*findSubjects(name).front(), sizes)) {
    for (const Operand &operand : problem.operands) {
      if (operand.isOutput)
        continue;
      numbers.emplace_back(operand.dtype, 40 + numbers.size());
      std::vector<double> &values = inputs.emplace_back();
      for (int64_t i = 0; i < operand.elements(); ++i)
        values.push_back(numbers.back().at(i));
    }
    samples = makeSamples(problem, numbers);
  }
  /// Compares all samples with expected(index).
  void compare(const std::function<double(int64_t)> &expected) {
    EXPECT_GE(samples.size(), 2u);
    std::set<int64_t> indices;
    for (const Sample &sample : samples) {
      ASSERT_LT(sample.index, problem.output().elements());
      indices.insert(sample.index);
      EXPECT_NEAR(sample.value, expected(sample.index), 1e-9) << problem.subject->name << " " << sample.index;
    }
    EXPECT_EQ(indices.size(), samples.size());
    EXPECT_TRUE(indices.count(0) && indices.count(problem.output().elements() - 1));
  }

  Problem problem;
  std::vector<Numbers> numbers;
  std::vector<std::vector<double>> inputs;
  std::vector<Sample> samples;
};
} // namespace

TEST(Reference, Products) {
  Small plain("matmul-bf16", {7, 9, 33});
  plain.compare([&](int64_t i) {
    double sum = 0;
    for (int64_t k = 0; k < 33; ++k)
      sum += plain.inputs[0][i / 9 * 33 + k] * plain.inputs[1][k * 9 + i % 9];
    return sum;
  });
  Small transposed("matmul_nt-i8", {7, 9, 33});
  transposed.compare([&](int64_t i) {
    double sum = 0;
    for (int64_t k = 0; k < 33; ++k)
      sum += transposed.inputs[0][i / 9 * 33 + k] * transposed.inputs[1][i % 9 * 33 + k];
    return sum;
  });
  Small fused("matmul_bias_gelu", {7, 9, 33});
  fused.compare([&](int64_t i) {
    double x = fused.inputs[2][i % 9];
    for (int64_t k = 0; k < 33; ++k)
      x += fused.inputs[0][i / 9 * 33 + k] * fused.inputs[1][k * 9 + i % 9];
    return x * 0.5 * std::erfc(-x / std::numbers::sqrt2);
  });
}

TEST(Reference, SwiGlu) {
  auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  Small pointwise("swiglu", {20, 30});
  pointwise.compare([&](int64_t i) { return silu(pointwise.inputs[0][i]) * pointwise.inputs[1][i]; });
  Small fused("matmul_swiglu", {7, 9, 33});
  fused.compare([&](int64_t i) {
    double gate = 0, up = 0;
    for (int64_t k = 0; k < 33; ++k) {
      gate += fused.inputs[0][i / 9 * 33 + k] * fused.inputs[1][k * 9 + i % 9];
      up += fused.inputs[0][i / 9 * 33 + k] * fused.inputs[2][k * 9 + i % 9];
    }
    return silu(gate) * up;
  });
  auto problem = makeProblem(*findSubjects("matmul_swiglu").front(), {10, 20, 30});
  EXPECT_EQ(problem->operations, 4.0 * 10 * 20 * 30);
  EXPECT_EQ(problem->bytes, 2.0 * (10 * 30 + 2 * 30 * 20 + 10 * 20));
}

TEST(Reference, Moves) {
  Small add("vadd", {1000});
  add.compare([&](int64_t i) { return add.inputs[0][i] + add.inputs[1][i]; });
  Small transpose("transpose", {6, 10});
  transpose.compare([&](int64_t i) { return transpose.inputs[0][i % 6 * 10 + i / 6]; });
}

TEST(Reference, Sums) {
  Small rows("rowsum", {6, 10}), columns("colsum", {6, 10});
  rows.compare([&](int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < 10; ++j)
      sum += rows.inputs[0][i * 10 + j];
    return sum;
  });
  columns.compare([&](int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < 6; ++j)
      sum += columns.inputs[0][j * 10 + i];
    return sum;
  });
}

TEST(Reference, Rows) {
  constexpr int64_t cols = 13;
  Small softmax("softmax", {5, cols});
  softmax.compare([&](int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < cols; ++j)
      sum += std::exp(softmax.inputs[0][i / cols * cols + j]);
    return std::exp(softmax.inputs[0][i]) / sum;
  });
  Small rms("rmsnorm", {5, cols});
  rms.compare([&](int64_t i) {
    double squares = 0;
    for (int64_t j = 0; j < cols; ++j)
      squares += std::pow(rms.inputs[0][i / cols * cols + j], 2);
    return rms.inputs[0][i] / std::sqrt(squares / cols + 1e-5) * rms.inputs[1][i % cols];
  });
  Small norm("layernorm", {5, cols});
  norm.compare([&](int64_t i) {
    double mean = 0, squares = 0;
    for (int64_t j = 0; j < cols; ++j)
      mean += norm.inputs[0][i / cols * cols + j] / cols;
    for (int64_t j = 0; j < cols; ++j)
      squares += std::pow(norm.inputs[0][i / cols * cols + j] - mean, 2);
    return (norm.inputs[0][i] - mean) / std::sqrt(squares / cols + 1e-5) * norm.inputs[1][i % cols] +
           norm.inputs[2][i % cols];
  });
}

TEST(Reference, Attention) {
  constexpr int64_t length = 5, d = 4;
  for (bool isCausal : {false, true}) {
    Small small(isCausal ? "attention-causal" : "attention", {2, 3, length, d});
    const auto &[q, k, v] = std::tie(small.inputs[0], small.inputs[1], small.inputs[2]);
    small.compare([&](int64_t i) {
      int64_t query = i / d, head = query / length * length, last = isCausal ? query - head : length - 1;
      double sum = 0, total = 0;
      for (int64_t key = 0; key <= last; ++key) {
        double dot = 0;
        for (int64_t j = 0; j < d; ++j)
          dot += q[query * d + j] * k[(head + key) * d + j];
        double p = std::exp(dot / 2); // 1 / sqrt(4)
        total += p;
        sum += p * v[(head + key) * d + i % d];
      }
      return sum / total;
    });
  }
}

TEST(Reference, ErrorsAreSeen) {
  std::vector<float> output = {1, 2, 3, 4};
  std::vector<Sample> samples = {{0, 1}, {1, 2}, {3, 4}};
  auto *bytes = reinterpret_cast<const std::byte *>(output.data());
  EXPECT_EQ(relativeError(samples, DType::F32, bytes), 0);
  output[3] = 5;
  EXPECT_NEAR(relativeError(samples, DType::F32, bytes), 1 / std::sqrt(21), 1e-12);
  EXPECT_FALSE(hasNaN(DType::F32, bytes, 4));
  output[2] = NAN;
  EXPECT_TRUE(hasNaN(DType::F32, bytes, 4));
  output[1] = NAN;
  EXPECT_FALSE(relativeError(samples, DType::F32, bytes) <= 1); // as a tolerance asks
}
