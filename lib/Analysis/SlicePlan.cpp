//===- SlicePlan.cpp - where the slices of a tile lie ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: layouts of tiles, shapes of slices. Out: layouts of slices and register numbers,
// see SlicePlan.h.
//
//===------------------------------------------------------------------------===//
#include "tilec/Analysis/SlicePlan.h"

#include "tilec/Layout/Span.h"
#include "tilec/Tile/TileLayout.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;

uint64_t tilec::sliceMask(const Layout &tile, ArrayRef<int64_t> slice) {
  uint64_t mask = 0;
  for (auto [dim, size] : llvm::enumerate(slice))
    mask |= tile.fieldMask(dim) & ~(uint64_t(size - 1) << tile.fieldShift(dim));
  return mask;
}

Layout tilec::withinSlice(const Layout &tile, ArrayRef<int64_t> slice) {
  Layout result(slice);
  for (Input input : allInputs)
    for (uint64_t flat : tile.bases(input)) {
      Layout::Coords coords = tile.unflatten(flat);
      for (auto [coord, size] : llvm::zip_equal(coords, slice))
        coord &= size - 1;
      result.add(input, coords);
    }
  return result;
}

std::optional<SmallVector<int64_t>> tilec::registersOfSlice(const Layout &tile,
                                                            const Layout &slice,
                                                            ArrayRef<int64_t> start) {
  auto inTile = [&](uint64_t flat) { return tile.flatten(slice.unflatten(flat)); };
  for (Input input : {Input::Lane, Input::Warp})
    for (unsigned bit = 0; bit < tile.numBits(input); ++bit)
      if (tile.basis(input, bit) != inTile(slice.basis(input, bit)))
        return std::nullopt;
  Span span(tile.bases(Input::Register));
  SmallVector<int64_t> registers;
  for (uint64_t number = 0; number < slice.size(Input::Register); ++number) {
    uint64_t flat = inTile(slice.applyFlat(Position::thread(number, 0)));
    std::optional<uint64_t> at = span.solve(flat ^ tile.flatten(start));
    if (!at)
      return std::nullopt;
    registers.push_back(int64_t(*at));
  }
  return registers;
}

SmallVector<int64_t> tilec::registersWith(const Layout &layout, ArrayRef<uint64_t> flats) {
  Span span(layout.bases(Input::Register));
  return llvm::map_to_vector(flats, [&](uint64_t flat) {
    std::optional<uint64_t> number = span.solve(flat);
    assert(number && "the thread has the element");
    return int64_t(number.value_or(0));
  });
}

std::optional<Layout> tilec::sliceLayout(const Layout &tile, ArrayRef<int64_t> slice) {
  Layout result = tile;
  for (unsigned dim = 0; dim < slice.size(); ++dim)
    while (result.shape()[dim] > slice[dim]) {
      std::optional<Layout> half = result.halve(dim);
      if (!half)
        return std::nullopt;
      result = *half;
    }
  return result;
}

Layout tilec::layoutOfSlices(const Layout &slice, ArrayRef<int64_t> tile) {
  Layout result(tile);
  for (Input input : allInputs)
    for (uint64_t flat : slice.bases(input))
      result.add(input, slice.unflatten(flat));
  for (unsigned dim = 0; dim < tile.size(); ++dim)
    result.addRun(Input::Register, dim, slice.shape()[dim],
                  result.fieldBits(dim) - slice.fieldBits(dim));
  return result;
}

Layout::Shape tilec::extractedShape(tile::ExtractOp op) {
  if (auto type = dyn_cast<RankedTensorType>(op.getType()))
    return Layout::Shape(type.getShape());
  return Layout::Shape(op.getIndex().size(), 1);
}

std::optional<Layout::Coords> tilec::constantStart(tile::ExtractOp op) {
  Layout::Shape slice = extractedShape(op);
  Layout::Coords start;
  for (auto [dim, index] : llvm::enumerate(op.getIndex())) {
    APInt constant;
    uint64_t count = uint64_t(op.getSource().getType().getDimSize(dim) / slice[dim]);
    if (!matchPattern(index, m_ConstantInt(&constant)) || constant.uge(count))
      return std::nullopt;
    start.push_back(int64_t(constant.getZExtValue()) * slice[dim]);
  }
  return start;
}

bool tilec::extractsWithinWarp(tile::ExtractOp op) {
  Layout source = tile::getLayout(op.getSource());
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type) // a lane shows the element to the others
    return source.redundant(Input::Warp) == source.size(Input::Warp) - 1;
  Layout result = tile::getLayout(type);
  if (std::optional<Layout::Coords> start = constantStart(op))
    return registersOfSlice(source, result, *start).has_value();
  std::optional<Layout> natural = sliceLayout(source, type.getShape());
  return natural && *natural == result;
}
