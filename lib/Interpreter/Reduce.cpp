//===- Reduce.cpp - reductions -------------------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The sources are rearranged to [reduced, kept]; then the upper half of the reduced
// elements is combined with the lower half until one is left. The region runs on
// all pairs of a step at once, its scalars being lanes of a tile, unless it branches.
//
//===------------------------------------------------------------------------===//

#include "BlockRun.h"

using namespace mlir;

namespace tilec::interpreter {

/// Elements `[first, first + count)` as a tile of rank 1.
static HostTile slice(const HostTile &source, size_t first, size_t count) {
  HostTile result(RankedTensorType::get({int64_t(count)}, source.elementType()));
  for (size_t i = 0; i < count; ++i)
    result.copyElement(i, source, first + i);
  return result;
}

/// `source` with the axes to reduce moved to the front, as rank 1.
static HostTile reducedFirst(const HostTile &source, llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<int64_t, 6> dims(axes.begin(), axes.end()), shape;
  for (int64_t d = 0, rank = source.shape().size(); d < rank; ++d)
    if (!llvm::is_contained(axes, d))
      dims.push_back(d);
  for (int64_t d : dims)
    shape.push_back(source.shape()[d]);
  auto type = RankedTensorType::get(shape, source.elementType());
  return evaluatePermute(source, dims, type)
      .withType(RankedTensorType::get({int64_t(source.size())}, source.elementType()))
      .expanded();
}

/// Whether the region can run on all lanes at once.
static bool isStraightLine(Region &region) {
  return llvm::all_of(region.front(), [](Operation &op) { return op.getNumRegions() == 0; });
}

llvm::Error BlockRun::combine(Region &combiner, llvm::ArrayRef<HostTile> left,
                              llvm::ArrayRef<HostTile> right,
                              llvm::MutableArrayRef<HostTile> result) {
  Block &body = combiner.front();
  size_t lanes = left.front().size();
  bool together = isStraightLine(combiner);
  for (size_t lane = 0; lane < (together ? 1 : lanes); ++lane) {
    for (size_t i = 0; i < left.size(); ++i) {
      set(body.getArgument(i), together ? left[i] : left[i].scalar(lane));
      set(body.getArgument(left.size() + i), together ? right[i] : right[i].scalar(lane));
    }
    Values yielded;
    if (llvm::Error error = runBody(body, &yielded))
      return error;
    for (size_t i = 0; i < result.size(); ++i) {
      if (together)
        result[i] = yielded[i]->size() == lanes ? *yielded[i]
                                                : yielded[i]->withType(RankedTensorType::get(
                                                      {int64_t(lanes)}, yielded[i]->elementType()));
      else
        result[i].copyElement(lane, *yielded[i], 0);
    }
  }
  for (HostTile &tile : result)
    tile = tile.expanded();
  return llvm::Error::success();
}

llvm::Error BlockRun::runReduce(tile::ReduceOp op) {
  llvm::SmallVector<HostTile, 2> parts;
  size_t reduced = 1;
  for (int64_t axis : op.getAxes())
    reduced *= cast<ShapedType>(op.getSources().front().getType()).getDimSize(axis);
  for (Value source : op.getSources())
    parts.push_back(reducedFirst(get(source), op.getAxes()));
  size_t kept = parts.front().size() / reduced;
  for (; reduced > 1; reduced /= 2) {
    size_t half = reduced / 2 * kept;
    llvm::SmallVector<HostTile, 2> left, right, result;
    for (const HostTile &part : parts) {
      left.push_back(slice(part, 0, half));
      right.push_back(slice(part, half, half));
      result.push_back(left.back());
    }
    if (llvm::Error error = combine(op.getCombiner(), left, right, result))
      return error;
    parts = std::move(result);
  }
  for (auto [target, part] : llvm::zip_equal(op.getResults(), parts))
    set(target, part.withType(target.getType()));
  return llvm::Error::success();
}

/// One element after the other, all lanes beside the axis at once.
llvm::Error BlockRun::runScan(tile::ScanOp op) {
  auto shape = cast<ShapedType>(op.getSources().front().getType()).getShape();
  int64_t axis = op.getAxis();
  size_t steps = size_t(shape[axis]);
  llvm::SmallVector<HostTile, 2> sources, scanned, running;
  for (Value source : op.getSources()) {
    sources.push_back(reducedFirst(get(source), axis));
    scanned.push_back(sources.back());
  }
  size_t lanes = sources.front().size() / steps;
  for (Value init : op.getInits())
    running.push_back(
        get(init)
            .withType(RankedTensorType::get({int64_t(lanes)}, get(init).elementType()))
            .expanded());
  for (size_t step = 0; step < steps; ++step) {
    size_t first = (op.getReverse() ? steps - 1 - step : step) * lanes;
    llvm::SmallVector<HostTile, 2> element, next;
    for (const HostTile &source : sources)
      element.push_back(slice(source, first, lanes));
    next = element;
    if (!running.empty())
      if (llvm::Error error = combine(op.getCombiner(), running, element, next))
        return error;
    const auto &output = op.isExclusive() ? running : next;
    for (auto [to, from] : llvm::zip_equal(scanned, output))
      for (size_t lane = 0; lane < lanes; ++lane)
        to.copyElement(first + lane, from, lane);
    running = std::move(next);
  }
  // The axis goes back from the front to its place.
  llvm::SmallVector<int64_t, 6> movedShape{shape[axis]}, back;
  for (auto [d, dim] : llvm::enumerate(shape)) {
    if (int64_t(d) != axis)
      movedShape.push_back(dim);
    back.push_back(int64_t(d) == axis ? 0 : int64_t(d) < axis ? int64_t(d) + 1 : int64_t(d));
  }
  for (auto [target, tile] : llvm::zip_equal(op.getResults(), scanned)) {
    auto moved = RankedTensorType::get(movedShape, tile.elementType());
    set(target, evaluatePermute(tile.withType(moved), back, cast<RankedTensorType>(target.getType())));
  }
  return llvm::Error::success();
}

} // namespace tilec::interpreter
