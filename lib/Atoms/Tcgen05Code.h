//===- Tcgen05Code.h - code around tensor memory ---------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Private to lib/Atoms. The entries of AccumulatorCode but `multiply`, which Tcgen05.cpp
// writes.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_ATOMS_TCGEN05CODE_H
#define TILEC_LIB_ATOMS_TCGEN05CODE_H

#include "tilec/Atoms/Atom.h"

namespace tilec::tcgen05 {

using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

void allocate(OpBuilder &builder, Location loc, Value place, int64_t columns);
void free(OpBuilder &builder, Location loc, Value address, int64_t columns);
void commit(OpBuilder &builder, Location loc, Value barrier, int64_t numBlocks);
Value read(OpBuilder &builder, Location loc, Value address, const Layout &acc,
           mlir::VectorType type, Value warp);
void write(OpBuilder &builder, Location loc, Value address, const Layout &acc, Value elements,
           Value warp);
void fenceBefore(OpBuilder &builder, Location loc);
void fenceAfter(OpBuilder &builder, Location loc);

/// The pointer to an address of tensor memory.
Value pointerTo(OpBuilder &builder, Location loc, Value address);

} // namespace tilec::tcgen05

#endif // TILEC_LIB_ATOMS_TCGEN05CODE_H
