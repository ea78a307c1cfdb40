//===- SlicePlan.h - where the slices of a tile lie ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A slice starts at a multiple of its size, and both are powers of two: the high bits of
// a coordinate say in which slice an element lies, the low bits where in it. So slices
// are layouts too. Here is what extract, cat, insert and take ask of them:
//
//   tensor<8x4>, slices of 2x4:   row = [slice, slice, place]  column = [place, place]
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_ANALYSIS_SLICEPLAN_H
#define TILEC_ANALYSIS_SLICEPLAN_H

#include "tilec/Layout/Layout.h"
#include "tilec/Tile/TileOps.h"

namespace tilec {

/// The bits of a tile's row-major numbers that count slices of shape `slice`.
uint64_t sliceMask(const Layout &tile, llvm::ArrayRef<int64_t> slice);

/// Where each place holds its element within the element's slice: a layout of the slice.
/// Places in different slices become copies of each other.
Layout withinSlice(const Layout &tile, llvm::ArrayRef<int64_t> slice);

/// For each register of `slice`, at `start` of the tile, the register of the tile that
/// holds its element; nullopt where another thread holds it.
std::optional<llvm::SmallVector<int64_t>> registersOfSlice(const Layout &tile,
                                                           const Layout &slice,
                                                           llvm::ArrayRef<int64_t> start);

/// For each of `flats` the register of `layout` with this element, at fixed lane and warp.
llvm::SmallVector<int64_t> registersWith(const Layout &layout,
                                         llvm::ArrayRef<uint64_t> flats);

/// The layout of slices that threads have in their own registers, the same places in
/// each; nullopt where registers alone do not tell slices apart.
std::optional<Layout> sliceLayout(const Layout &tile, llvm::ArrayRef<int64_t> slice);

/// A tile of whole slices, one set of registers after the other.
Layout layoutOfSlices(const Layout &slice, llvm::ArrayRef<int64_t> tile);

/// The start of the slice or element that `op` reads, if that is known and inside.
std::optional<Layout::Coords> constantStart(tile::ExtractOp op);

/// The shape of what `op` reads; ones for an element.
Layout::Shape extractedShape(tile::ExtractOp op);

/// `op` reads registers of its thread, or of another lane in the same warp.
bool extractsWithinWarp(tile::ExtractOp op);

} // namespace tilec

#endif // TILEC_ANALYSIS_SLICEPLAN_H
