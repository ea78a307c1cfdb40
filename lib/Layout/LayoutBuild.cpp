//===- LayoutBuild.cpp - families of layouts --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Counting, blocked and swizzled layouts: each deals out the bits of a tile's
// dimensions, from low to high, to the bits of its inputs.
//===----------------------------------------------------------------------===//
#include "tilec/Layout/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>

using namespace tilec;

namespace {
/// Hands out the bits of each dimension, low ones first.
class Dealer {
public:
  explicit Dealer(llvm::ArrayRef<int64_t> shape) : layout(shape), dealt(shape.size(), 0) {}

  unsigned left(unsigned dim) const { return layout.fieldBits(dim) - dealt[dim]; }

  /// Gives up to `count` bits of `dim` to `input`; returns how many there were.
  unsigned deal(Input input, unsigned dim, unsigned count) {
    count = std::min(count, left(dim));
    layout.addRun(input, dim, int64_t(1) << dealt[dim], count);
    dealt[dim] += count;
    return count;
  }

  Layout layout;

private:
  llvm::SmallVector<unsigned, 6> dealt;
};
} // namespace

static llvm::SmallVector<unsigned, 6> orderOrRowMajor(llvm::ArrayRef<unsigned> order,
                                                      unsigned rank) {
  llvm::SmallVector<unsigned, 6> result(order.begin(), order.end());
  if (order.empty())
    for (unsigned dim = rank; dim-- > 0;)
      result.push_back(dim);
  assert(result.size() == rank && "an order names every dimension once");
  return result;
}

Layout Layout::counting(Input input, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<unsigned> order) {
  Dealer dealer(shape);
  for (unsigned dim : orderOrRowMajor(order, shape.size()))
    dealer.deal(input, dim, dealer.left(dim));
  return dealer.layout;
}

Layout Layout::blocked(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> perThread,
                       llvm::ArrayRef<int64_t> lanes, llvm::ArrayRef<int64_t> warps,
                       llvm::ArrayRef<unsigned> order) {
  llvm::SmallVector<unsigned, 6> dims = orderOrRowMajor(order, shape.size());
  Dealer dealer(shape);
  for (unsigned dim : dims)
    dealer.deal(Input::Register, dim, llvm::Log2_64(perThread[dim]));
  for (auto [input, counts] : {std::pair(Input::Lane, lanes), std::pair(Input::Warp, warps)}) {
    for (unsigned dim : dims) {
      unsigned bits = llvm::Log2_64(counts[dim]);
      dealer.layout.addZeros(input, bits - dealer.deal(input, dim, bits));
    }
  }
  for (unsigned dim : dims)
    dealer.deal(Input::Register, dim, dealer.left(dim));
  return dealer.layout;
}

Layout Layout::coalesced(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order,
                         int64_t vector, int64_t numLanes, int64_t numWarps,
                         llvm::ArrayRef<unsigned> warpOrder) {
  llvm::SmallVector<unsigned, 6> dims = orderOrRowMajor(order, shape.size());
  Dealer dealer(shape);
  if (!dims.empty())
    dealer.deal(Input::Register, dims.front(), llvm::Log2_64(vector));
  unsigned lanesLeft = llvm::Log2_64(numLanes);
  for (unsigned dim : dims)
    lanesLeft -= dealer.deal(Input::Lane, dim, lanesLeft);
  dealer.layout.addZeros(Input::Lane, lanesLeft);
  llvm::SmallVector<unsigned, 6> warpDims(dims.rbegin(), dims.rend());
  if (!warpOrder.empty())
    warpDims.assign(warpOrder.begin(), warpOrder.end());
  unsigned warpsLeft = llvm::Log2_64(numWarps);
  for (unsigned dim : warpDims)
    warpsLeft -= dealer.deal(Input::Warp, dim, warpsLeft);
  dealer.layout.addZeros(Input::Warp, warpsLeft);
  for (unsigned dim : dims)
    dealer.deal(Input::Register, dim, dealer.left(dim));
  return dealer.layout;
}

Layout Layout::swizzled(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order,
                        unsigned elementBits, unsigned swizzleBytes) {
  llvm::SmallVector<unsigned, 6> dims = orderOrRowMajor(order, shape.size());
  unsigned byteShift = llvm::Log2_64(std::max(1u, elementBits / 8));
  Dealer dealer(shape);
  if (!dims.empty() && swizzleBytes)
    dealer.deal(Input::Offset, dims.front(), llvm::Log2_64(swizzleBytes) - byteShift);
  else if (!dims.empty())
    dealer.deal(Input::Offset, dims.front(), dealer.left(dims.front()));
  for (unsigned dim : llvm::drop_begin(dims, dims.empty() ? 0 : 1))
    dealer.deal(Input::Offset, dim, dealer.left(dim));
  if (!dims.empty())
    dealer.deal(Input::Offset, dims.front(), dealer.left(dims.front()));
  // The hardware XORs address bits 7, 8, 9 into bits 4, 5, 6 (as many as the mode
  // says). To an offset with bit 7 + i set belongs the element whose plain address
  // differs in bit 4 + i too.
  const Layout &plain = dealer.layout;
  Layout result(shape);
  unsigned swizzleBits = swizzleBytes ? llvm::Log2_64(swizzleBytes) - 4 : 0;
  for (auto [bit, flat] : llvm::enumerate(plain.bases(Input::Offset))) {
    unsigned address = bit + byteShift;
    bool mixes = address >= 7 && address < 7 + swizzleBits;
    result.addFlat(Input::Offset, mixes ? flat ^ plain.basis(Input::Offset, bit - 3) : flat);
  }
  return result;
}
