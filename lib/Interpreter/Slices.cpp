//===- Slices.cpp - parts of tiles, taken by index -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// cat, extract, insert, flip, take, sort and histogram, as plain loops. A tile
// is seen as outer x size x inner elements around the axis in question.
//
//===------------------------------------------------------------------------===//

#include "BlockRun.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace tilec::interpreter {

namespace {

/// How elements lie around one axis.
struct AroundAxis {
  size_t outer = 1, size = 1, inner = 1;
  AroundAxis(llvm::ArrayRef<int64_t> shape, size_t axis) {
    for (auto [d, dim] : llvm::enumerate(shape))
      (d < axis ? outer : d == axis ? size : inner) *= size_t(dim);
  }
  size_t at(size_t o, size_t i, size_t in) const {
    return (o * size + i) * inner + in;
  }
};

/// Calls `f(linear in the slice, linear in the whole)` for each element of the
/// slice that `index` counts to; not at all when that lies outside.
template <typename F>
void forEachOfSlice(llvm::ArrayRef<int64_t> whole,
                    llvm::ArrayRef<int64_t> slice,
                    llvm::ArrayRef<int64_t> index, F f) {
  for (auto [d, dim] : llvm::enumerate(whole))
    if (index[d] < 0 || index[d] >= dim / slice[d])
      return;
  llvm::SmallVector<int64_t, 6> at(whole.size(), 0);
  size_t count = 1;
  for (int64_t dim : slice)
    count *= size_t(dim);
  for (size_t i = 0; i < count; ++i) {
    size_t linear = 0;
    for (auto [d, dim] : llvm::enumerate(whole))
      linear = linear * size_t(dim) + size_t(index[d] * slice[d] + at[d]);
    f(i, linear);
    for (int64_t d = int64_t(whole.size()) - 1; d >= 0 && ++at[d] == slice[d];
         --d)
      at[d] = 0;
  }
}

} // namespace

HostTile evaluateCat(Operands in, unsigned axis, RankedTensorType type) {
  HostTile result(type);
  AroundAxis whole(type.getShape(), axis), part(in[0]->shape(), axis);
  for (size_t o = 0; o < whole.outer; ++o)
    for (size_t i = 0; i < whole.size; ++i)
      for (size_t n = 0; n < whole.inner; ++n)
        result.copyElement(whole.at(o, i, n), *in[i / part.size],
                           part.at(o, i % part.size, n));
  return result;
}

HostTile evaluateExtract(const HostTile &source, llvm::ArrayRef<int64_t> index,
                         Type type) {
  HostTile result(type); // zeros
  llvm::SmallVector<int64_t, 6> slice(result.shape());
  if (slice.empty())
    slice.assign(source.shape().size(), 1);
  forEachOfSlice(source.shape(), slice, index, [&](size_t to, size_t from) {
    result.copyElement(to, source, from);
  });
  return result;
}

HostTile evaluateInsert(const HostTile &slice, const HostTile &dest,
                        llvm::ArrayRef<int64_t> index) {
  HostTile result = dest.expanded();
  forEachOfSlice(
      dest.shape(), slice.shape(), index,
      [&](size_t from, size_t to) { result.copyElement(to, slice, from); });
  return result;
}

HostTile evaluateFlip(const HostTile &source, unsigned axis,
                      RankedTensorType type) {
  HostTile result(type);
  AroundAxis all(type.getShape(), axis);
  for (size_t o = 0; o < all.outer; ++o)
    for (size_t i = 0; i < all.size; ++i)
      for (size_t n = 0; n < all.inner; ++n)
        result.copyElement(all.at(o, i, n), source,
                           all.at(o, all.size - 1 - i, n));
  return result;
}

HostTile evaluateTake(tile::TakeOp op, const HostTile &source,
                      const HostTile &indices) {
  auto type = cast<RankedTensorType>(op.getType());
  HostTile result(type); // zeros where an index is outside
  AroundAxis from(source.shape(), op.getAxis()),
      to(type.getShape(), op.getAxis());
  for (size_t o = 0; o < to.outer; ++o)
    for (size_t i = 0; i < to.size; ++i)
      for (size_t n = 0; n < to.inner; ++n) {
        int64_t index = indices.sinteger(op.getAlong() ? to.at(o, i, n) : i);
        if (index >= 0 && index < int64_t(from.size))
          result.copyElement(to.at(o, i, n), source,
                             from.at(o, size_t(index), n));
      }
  return result;
}

HostTile evaluateHistogram(tile::HistogramOp op, const HostTile &source) {
  auto type = cast<RankedTensorType>(op.getType());
  HostTile result(type);
  for (size_t i = 0; i < source.size(); ++i) {
    bool negative = !op.getIsUnsigned() && source.sinteger(i) < 0;
    if (!negative && source.integer(i) < uint64_t(type.getDimSize(0)))
      ++result.ints[source.integer(i)];
  }
  return result;
}

llvm::SmallVector<HostTile, 2> evaluateSort(tile::SortOp op, Operands in) {
  const HostTile &keys = *in[0];
  AroundAxis all(keys.shape(), op.getAxis());
  bool isFloat = keys.form() != Form::Int;
  // NaN is the greatest value.
  auto less = [&](size_t a, size_t b) {
    if (!isFloat)
      return op.getIsUnsigned() ? keys.integer(a) < keys.integer(b)
                                : keys.sinteger(a) < keys.sinteger(b);
    double x = keys.real(a), y = keys.real(b);
    return std::isnan(y) ? !std::isnan(x) : x < y;
  };
  llvm::SmallVector<HostTile, 2> results;
  for (Type type : op.getResultTypes())
    results.emplace_back(type);
  std::vector<size_t> order(all.size);
  for (size_t o = 0; o < all.outer; ++o)
    for (size_t n = 0; n < all.inner; ++n) {
      std::iota(order.begin(), order.end(), 0);
      // The place where an element came from makes the order total, so stable.
      llvm::sort(order, [&](size_t a, size_t b) {
        size_t x = all.at(o, a, n), y = all.at(o, b, n);
        bool before = op.getDescending() ? less(y, x) : less(x, y);
        bool after = op.getDescending() ? less(x, y) : less(y, x);
        return before || (!after && a < b);
      });
      for (auto [result, source] : llvm::zip_equal(results, in))
        for (size_t i = 0; i < all.size; ++i)
          result.copyElement(all.at(o, i, n), *source, all.at(o, order[i], n));
    }
  return results;
}

} // namespace tilec::interpreter
