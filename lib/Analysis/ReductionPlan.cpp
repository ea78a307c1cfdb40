//===- ReductionPlan.cpp - where a reduction's operands meet ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a layout and axes. Out: the plan of ReductionPlan.h, by sorting bases into
// those along the axes, those along kept dims, and zeros.
//
//===------------------------------------------------------------------------===//
#include "tilec/Analysis/ReductionPlan.h"

#include "tilec/Layout/Span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace tilec;

namespace {

/// Splits row-major numbers into their part along the axes and the kept rest.
class AxisSplit {
public:
  AxisSplit(const Layout &layout, llvm::ArrayRef<int64_t> axes) : layout(layout) {
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      if (llvm::is_contained(axes, int64_t(dim)))
        axisMask |= layout.fieldMask(dim);
      else
        keptDims.push_back(dim);
    }
  }
  bool isAxis(uint64_t flat) const { return flat && !(flat & ~axisMask); }
  bool isKept(uint64_t flat) const { return flat && !(flat & axisMask); }
  Layout::Shape keptShape() const {
    Layout::Shape shape;
    for (unsigned dim : keptDims)
      shape.push_back(layout.shape()[dim]);
    return shape;
  }
  /// The kept coordinates of `flat`, as a number in the kept shape.
  uint64_t kept(uint64_t flat) const {
    uint64_t number = 0;
    for (unsigned dim : keptDims)
      number = number << layout.fieldBits(dim) | layout.field(flat, dim);
    return number;
  }

private:
  const Layout &layout;
  uint64_t axisMask = 0;
  llvm::SmallVector<unsigned> keptDims;
};

} // namespace

std::optional<ReductionPlan> tilec::planReduction(const Layout &layout,
                                                  llvm::ArrayRef<int64_t> axes) {
  AxisSplit split(layout, axes);
  Span span;
  for (uint64_t basis : layout.allBases())
    if (basis && (!(split.isAxis(basis) || split.isKept(basis)) || !span.add(basis)))
      return std::nullopt;

  ReductionPlan plan;
  Layout::Shape keptShape = split.keptShape();
  plan.result = Layout(keptShape);
  auto sort = [&](Input input, llvm::SmallVector<unsigned> &axisBits) {
    for (auto [bit, basis] : llvm::enumerate(layout.bases(input)))
      if (split.isAxis(basis))
        axisBits.push_back(bit);
  };
  sort(Input::Register, plan.axisRegisters);
  sort(Input::Lane, plan.axisLanes);
  sort(Input::Warp, plan.axisWarps);
  for (auto [bit, basis] : llvm::enumerate(layout.bases(Input::Register)))
    if (split.isKept(basis)) {
      plan.keptRegisters.push_back(bit);
      plan.result.addFlat(Input::Register, split.kept(basis));
    }
  for (Input input : {Input::Lane, Input::Warp})
    for (uint64_t basis : layout.bases(input))
      plan.result.addFlat(input, split.isAxis(basis) ? 0 : split.kept(basis));

  // [warps, kept…]: numbers of the kept shape are its low bits.
  unsigned keptBits = plan.result.numOutputBits();
  Layout::Shape partialShape = {int64_t(1) << plan.axisWarps.size()};
  llvm::append_range(partialShape, keptShape);
  plan.partial = Layout(partialShape);
  plan.gathered = Layout(partialShape);
  for (unsigned index = 0; index < plan.axisWarps.size(); ++index)
    plan.gathered.addFlat(Input::Register, uint64_t(1) << (keptBits + index));
  for (Input input : {Input::Register, Input::Lane, Input::Warp})
    for (auto [bit, basis] : llvm::enumerate(plan.result.bases(input))) {
      plan.gathered.addFlat(input, basis);
      const unsigned *found = llvm::find(plan.axisWarps, unsigned(bit));
      bool isAxisWarp = input == Input::Warp && found != plan.axisWarps.end();
      plan.partial.addFlat(
          input, isAxisWarp ? uint64_t(1) << (keptBits + (found - plan.axisWarps.begin()))
                            : basis);
    }
  return plan;
}

Layout tilec::reducibleLayout(llvm::ArrayRef<int64_t> shape, unsigned numWarps) {
  llvm::SmallVector<unsigned> order;
  for (unsigned dim = shape.size(); dim-- > 0;)
    order.push_back(dim);
  return Layout::coalesced(shape, order, 1, 32, numWarps);
}
