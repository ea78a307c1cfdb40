//===- Subjects.h - what is measured -------------------------- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A subject is a plain kernel of test/Examples with the tile sizes that are tried and
// the shapes that it is measured at. The rules: no hints, nothing but compile-time
// parameters; of the tile sizes the best one is reported.
//
// A Problem is a subject at one shape: its arrays, and what the work comes to. Bytes
// count each input once and each output once; operations are those of the definition
// (2 m n k of a product, half for causal attention).
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILEBENCH_SUBJECTS_H
#define TILEC_TOOLS_TILEBENCH_SUBJECTS_H

#include "tilec/Support/DType.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilec::bench {

enum class Work {
  Add,
  Softmax,
  LayerNorm,
  RmsNorm,
  Transpose,
  RowSum,
  ColumnSum,
  SwiGlu,          ///< silu(gate) * up
  Product,         ///< a [m, k] x b [k, n]
  ProductNT,       ///< a [m, k] x b [n, k] transposed
  ProductBiasGelu, ///< gelu(a x b + bias)
  ProductSwiGlu,   ///< silu(a x gate) * (a x up)
  Attention,       ///< sizes b, h, s, d
  CausalAttention,
};

using Sizes = std::vector<int64_t>;

struct Subject {
  std::string_view name;
  std::string_view file;      ///< in test/Examples
  std::string_view kernel;
  Work work;
  DType dtype, result;
  std::string_view constants; ///< of all builds: "S=i32 O=i32"
  std::vector<std::string_view> tiles; ///< "BM=128 BN=256 BK=64", each a build
  std::vector<Sizes> shapes;
  std::string_view summary;   ///< for --list
};

const std::vector<Subject> &allSubjects();
/// Those whose name is `pattern` or begins with `pattern` and a `-`.
std::vector<const Subject *> findSubjects(std::string_view pattern);

struct Operand {
  std::string name;
  DType dtype;
  Sizes dims;
  bool isOutput = false;

  int64_t elements() const;
};

struct Problem {
  const Subject *subject;
  Sizes sizes;
  std::vector<Operand> operands; ///< in order of the kernel's parameters; one output
  std::vector<double> scalars;   ///< the parameters after the arrays
  double operations = 0, bytes = 0;
  double tolerance = 0; ///< of ‖out - ref‖ / ‖ref‖; 0: exact

  const Operand &output() const;
  /// "4096x4096x64".
  std::string shapeText() const;
};

/// The problem, or nothing if `sizes` has the wrong number of sizes.
std::optional<Problem> makeProblem(const Subject &subject, const Sizes &sizes);
/// How many sizes a shape of this work has, and what they are called.
std::string_view sizeNames(Work work);

/// The definitions of one build for one shape: of the subject, of the tile, and those
/// that follow from the shape (a row's length rounded up to a power of two).
std::vector<std::pair<std::string, std::string>> definitions(const Problem &problem,
                                                             std::string_view tile);

/// "4096x4096x64" into sizes; nothing if it is not such.
std::optional<Sizes> parseSizes(std::string_view text);

} // namespace tilec::bench

#endif // TILEC_TOOLS_TILEBENCH_SUBJECTS_H
