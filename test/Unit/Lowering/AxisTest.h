//===- AxisTest.h - kernels along an axis ------------------------------*- C++
//-*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What tests of scans and sorts share: text of types, the shapes they run on,
// and the lines of a tile along an axis.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TEST_LOWERING_AXISTEST_H
#define TILEC_TEST_LOWERING_AXISTEST_H

#include "KernelRunner.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilec {

inline std::string dimsText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t dim : shape)
    text += std::to_string(dim) + "x";
  return text;
}

inline std::string arrayText(size_t rank, const std::string &element,
                             bool isMutable = false) {
  std::string text = "!tile.array<";
  for (size_t i = 0; i < rank; ++i)
    text += "?x";
  return text + element + (isMutable ? ", mut>" : ">");
}

inline int64_t countOf(const std::vector<int64_t> &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

/// `%z, %z` as many times as there are dims.
inline std::string zeroIndex(size_t rank) {
  std::string text;
  for (size_t i = 0; i < rank; ++i)
    text += i ? ", %z" : "%z";
  return text;
}

template <typename T>
std::vector<T> contents(const HostArray &array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

/// Calls `visit(line)` with the indices of the elements of each line along
/// `axis`.
template <typename Visit>
void forLines(const std::vector<int64_t> &shape, unsigned axis, Visit visit) {
  int64_t inner = 1;
  for (size_t dim = axis + 1; dim < shape.size(); ++dim)
    inner *= shape[dim];
  for (int64_t outer = 0; outer < countOf(shape) / inner / shape[axis]; ++outer)
    for (int64_t at = 0; at < inner; ++at) {
      std::vector<int64_t> line;
      for (int64_t i = 0; i < shape[axis]; ++i)
        line.push_back((outer * shape[axis] + i) * inner + at);
      visit(line);
    }
}

struct Line {
  std::vector<int64_t> shape;
  unsigned axis;
};
inline const std::vector<Line> lines = {{{1}, 0},
                                        {{64}, 0},
                                        {{1024}, 0},
                                        {{4, 256}, 1},
                                        {{256, 4}, 0},
                                        {{2, 8, 16}, 1},
                                        {{2, 2, 2, 4, 2, 2}, 3},
                                        {{8, 128}, 0}};

/// Not every type needs every number of warps.
inline RunOptions onWarps(std::vector<unsigned> warps) {
  RunOptions options;
  options.warps = std::move(warps);
  return options;
}

} // namespace tilec

#endif // TILEC_TEST_LOWERING_AXISTEST_H
