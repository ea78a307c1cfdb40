//===- TensorBox.cpp - a tile in shared memory as boxes of an array -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The buffer must have the form that SwizzledForm.h describes, rows along the array's
// innermost dim. A box is a panel's width, and as much of the other dims as comes in the
// array's order; the rest is counted.
//===----------------------------------------------------------------------===//
#include "tilec/Layout/TensorBox.h"

#include "tilec/Layout/SwizzledForm.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace tilec;

static constexpr int64_t maxBoxSize = 256;
static constexpr unsigned maxBoxRank = 5;
/// Where a box may begin in shared memory.
static constexpr int64_t boxAlignment = 128;

/// Elements of a box per tile dim.
static llvm::SmallVector<int64_t, 6> boxOfTile(const SwizzledForm &form,
                                               llvm::ArrayRef<int64_t> shape,
                                               llvm::ArrayRef<int64_t> arrayDims) {
  llvm::SmallVector<int64_t, 6> box(shape.size(), 1);
  box[form.fastest()] = form.panelWidth(shape);
  int64_t inner = arrayDims[form.fastest()];
  bool isWhole = true;
  for (unsigned dim : llvm::ArrayRef(form.order).drop_front()) {
    if (shape[dim] == 1)
      continue;
    if (isWhole && arrayDims[dim] < inner)
      box[dim] = std::min(shape[dim], maxBoxSize);
    isWhole &= box[dim] == shape[dim];
    inner = arrayDims[dim];
  }
  return box;
}

/// Makes boxes smaller, along the slowest dim that has more than one element of a box,
/// until a tile is at least `parts` of them.
static void splitBoxes(llvm::MutableArrayRef<int64_t> box, const SwizzledForm &form,
                       int64_t tileElements, int64_t parts) {
  auto countBoxes = [&] {
    int64_t elements = 1;
    for (int64_t size : box)
      elements *= size;
    return tileElements / elements;
  };
  for (unsigned dim : llvm::reverse(llvm::ArrayRef(form.order).drop_front()))
    while (box[dim] > 1 && countBoxes() < parts)
      box[dim] /= 2;
}

std::optional<BoxPlan> tilec::planBoxes(const Layout &buffer, unsigned elementBits,
                                        llvm::ArrayRef<int64_t> arrayDims,
                                        unsigned arrayRank, int64_t parts) {
  llvm::ArrayRef<int64_t> shape = buffer.shape();
  unsigned rank = buffer.rank();
  std::optional<SwizzledForm> form = matchSwizzled(buffer, elementBits);
  if (!form || rank == 0 || arrayRank > maxBoxRank ||
      arrayDims[form->fastest()] != arrayRank - 1)
    return std::nullopt;
  llvm::SmallVector<int64_t, 6> box = boxOfTile(*form, shape, arrayDims);
  splitBoxes(box, *form, buffer.numElements(), parts);
  int64_t rowBytes = box[form->fastest()] * elementBits / 8, boxBytes = elementBits / 8;
  for (int64_t size : box)
    boxBytes *= size;
  int64_t tileBytes = buffer.numElements() * elementBits / 8;
  if (rowBytes % 16 != 0 || box[form->fastest()] > maxBoxSize ||
      (boxBytes != tileBytes && boxBytes % boxAlignment != 0) ||
      tileBytes / boxBytes < parts)
    return std::nullopt;

  BoxPlan plan;
  plan.swizzleBytes = form->swizzleBytes;
  plan.box.assign(arrayRank, 1);
  for (unsigned dim = 0; dim < rank; ++dim)
    plan.box[arrayDims[dim]] = box[dim];
  // Pieces in the order of the buffer: the slow dims, then the panels.
  llvm::SmallVector<unsigned, 6> counted(form->order.begin() + 1, form->order.end());
  counted.push_back(form->fastest());
  for (int64_t offset = 0; offset < tileBytes; offset += boxBytes) {
    BoxPlan::Piece piece{llvm::SmallVector<int64_t, 6>(arrayRank, 0), offset};
    int64_t rest = offset / boxBytes;
    for (unsigned dim : counted) {
      int64_t count = shape[dim] / box[dim];
      piece.start[arrayDims[dim]] = rest % count * box[dim];
      rest /= count;
    }
    plan.pieces.push_back(std::move(piece));
  }
  return plan;
}
