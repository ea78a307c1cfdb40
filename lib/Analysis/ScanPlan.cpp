//===- ScanPlan.cpp - where an axis lies, bit by bit -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a layout and an axis. Out: the plan of ScanPlan.h, by sorting bases into single
// bits along the axis, those beside it, and zeros.
//
//===------------------------------------------------------------------------===//
#include "tilec/Analysis/ScanPlan.h"

#include "tilec/Layout/Span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace tilec;

bool ScanPlan::crossesWarps() const { return mask(Input::Warp) != 0; }

uint64_t ScanPlan::mask(Input home) const {
  uint64_t result = 0;
  for (const Bit &bit : bits)
    if (bit.home == home)
      result |= uint64_t(1) << bit.bit;
  return result;
}

std::optional<ScanPlan> tilec::planScan(const Layout &layout, unsigned axis) {
  ScanPlan plan;
  plan.bits.resize(layout.fieldBits(axis), {Input::Offset, 0});
  Span span;
  for (Input input : {Input::Register, Input::Lane, Input::Warp})
    for (auto [bit, basis] : llvm::enumerate(layout.bases(input))) {
      if (!basis && input != Input::Register)
        continue;
      uint64_t along = layout.field(basis, axis);
      bool isPure = !along || (llvm::isPowerOf2_64(along) && !(basis & ~layout.fieldMask(axis)));
      if (!isPure || !span.add(basis))
        return std::nullopt;
      if (along)
        plan.bits[llvm::Log2_64(along)] = {input, unsigned(bit)};
      else if (input == Input::Register)
        plan.keptRegisters.push_back(bit);
    }
  return plan;
}

std::optional<ScanPieces> tilec::splitScan(const ScanPlan &plan, unsigned pieceBits) {
  ScanPieces pieces;
  for (const ScanPlan::Bit &bit : plan.bits) {
    if (bit.home == Input::Register && bit.bit >= pieceBits)
      pieces.along.push_back(uint64_t(1) << (bit.bit - pieceBits));
    else if (pieces.along.empty())
      pieces.plan.bits.push_back(bit);
    else
      return std::nullopt;
  }
  for (unsigned bit : plan.keptRegisters)
    if (bit >= pieceBits)
      pieces.beside.push_back(uint64_t(1) << (bit - pieceBits));
    else
      pieces.plan.keptRegisters.push_back(bit);
  if (pieces.along.empty() && pieces.beside.empty())
    return std::nullopt;
  return pieces;
}

Layout tilec::scannableLayout(llvm::ArrayRef<int64_t> shape, unsigned axis,
                              unsigned numWarps) {
  llvm::SmallVector<unsigned> order, warpOrder;
  for (unsigned dim = shape.size(); dim-- > 0;)
    order.push_back(dim);
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    if (dim != axis)
      warpOrder.push_back(dim);
  warpOrder.push_back(axis);
  return Layout::coalesced(shape, order, 1, 32, numWarps, warpOrder);
}

/// Instructions an element of a bitonic network: its steps over the lowest bit are as many as
/// there are bits, over the highest it is one. Between lanes a step is a shuffle and a choice,
/// between warps it goes through shared memory.
static int64_t costOfSort(const ScanPlan &plan) {
  int64_t cost = 0;
  for (auto [index, bit] : llvm::enumerate(plan.bits))
    cost += int64_t(plan.bits.size() - index) *
            (bit.home == Input::Register ? 1 : bit.home == Input::Lane ? 3 : 6);
  return cost;
}

Layout tilec::cheapestToSort(const Layout &layout, unsigned axis, unsigned numWarps) {
  constexpr int64_t costOfMoving = 12, mostRegisters = 32;
  std::optional<ScanPlan> plan = planScan(layout, axis);
  if (!plan)
    return layout;
  llvm::SmallVector<unsigned> order = {axis}, warpOrder;
  for (unsigned dim = unsigned(layout.rank()); dim-- > 0;)
    if (dim != axis)
      order.push_back(dim);
  warpOrder.assign(order.rbegin(), order.rend());
  int64_t share = std::min({layout.shape()[axis], mostRegisters,
                            std::max<int64_t>(layout.numElements() / (32 * numWarps), 1)});
  Layout other = Layout::coalesced(layout.shape(), order, share, 32, numWarps, warpOrder);
  std::optional<ScanPlan> otherPlan = planScan(other, axis);
  return otherPlan && costOfSort(*otherPlan) + costOfMoving < costOfSort(*plan) ? other : layout;
}
