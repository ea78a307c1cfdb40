//===- MemoryAccess.h - what accesses to arrays have in common ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Private to lib/Lowering. A thread's part of an access is a list of groups:
// registers that lie side by side in memory, moved by one instruction. Where groups
// lie is found by ArrayTile for tiles at a position and by
// IndexedAccess for elements at given indices; here is what is done with them.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_LOWERING_MEMORYACCESS_H
#define TILEC_LIB_LOWERING_MEMORYACCESS_H

#include "Emitter.h"

namespace tilec {

/// Registers side by side, their address, and i1: do they exist (null: they do).
struct AccessGroup {
  llvm::SmallVector<int64_t, 16> registers;
  mlir::Value address, guard;
};

/// The registers of each group of `1 << bits.size()`, without copies of others.
llvm::SmallVector<AccessGroup> groupRegisters(const Layout &layout,
                                              llvm::ArrayRef<unsigned> bits);

/// What exists of `width` elements from element `start` on (which may be negative) of `size`
/// along a dim: element number e of them does where e + shift, as unsigned, is below `count`.
/// Both are i32; all exist where shift is at least 0 and at most count - width.
struct ExistingPart {
  mlir::Value shift, count;
};
/// Whether numbers of 32 bits can hold these.
struct StartAndSize {
  bool startFits, sizeFits;
};
/// `start` and `size` are i64. Where sizes fit into 32 bits, places in the array are compared
/// with them, and nothing else is to be computed; else places in the tile with how much of it
/// exists.
ExistingPart emitExistingPart(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value start,
                              mlir::Value size, int64_t width, StartAndSize known);

/// `pad` as memory holds it.
mlir::TypedAttr storedPad(mlir::TypedAttr pad, mlir::Type stored);

/// The loads of all groups, branch free: what does not exist reads `pad` in constant
/// memory. Gives one stored element per register of `layout` (null: a scalar).
llvm::SmallVector<mlir::Value> emitGroupLoads(mlir::OpBuilder &builder, mlir::Location loc,
                                              llvm::ArrayRef<AccessGroup> groups,
                                              mlir::Type stored, const Layout *layout,
                                              mlir::TypedAttr pad);

/// 16 bytes of elements side by side that may begin anywhere, as vector<4xi32>: with what is
/// around them they are two accesses that are aligned. `exists` (i1): there is one at all;
/// `count` (i32): how many, at least 1 then, may be more than there is room for; null: all.
mlir::Value emitRun(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                    mlir::Value exists, mlir::Value count, int64_t elementBytes);

/// Gives registers that hold copies the value of the register they copy.
void fillCopies(llvm::MutableArrayRef<mlir::Value> elements, const Layout &layout);

/// An access by index: tile.gather, tile.scatter, tile.atomic.
///
/// An element exists where its mask is true and its index is inside in every dim;
/// negative indices, seen as unsigned, are outside. Indices of up to 32 bits are
/// compared in 32 bits, with the size cut to 2^31, wider ones in 64; addresses are
/// always computed in 64.
class IndexedAccess {
public:
  template <typename Op>
  IndexedAccess(Emitter &emitter, Op op, mlir::Type valueType)
      : e(emitter), op(op), array(&emitter.array(op.getArray())), mask(op.getMask()),
        runDim(op.getRunDim()), runLength(op.getRunLength()) {
    for (auto [dim, index] : llvm::enumerate(op.getIndex()))
      dims.push_back({index, op.isInBounds(unsigned(dim))});
    initialise(valueType);
  }

  bool isScalar() const { return !layout; }
  const Layout *layoutOrNull() const { return layout ? &*layout : nullptr; }
  /// All groups, of at most `most` elements, with code for addresses and guards.
  llvm::SmallVector<AccessGroup> groups(int64_t most);

  mlir::Type stored; ///< an element in memory

private:
  struct Dim {
    mlir::Value index; ///< of the kernel: a tile or scalar
    bool isInBounds;
    mlir::Value values;  ///< lowered: a vector or scalar
    mlir::Value limit;   ///< the size, in the width of comparison
  };

  void initialise(mlir::Type valueType);
  void prepare(Dim &dim, unsigned number);
  mlir::Value element(mlir::Value values, int64_t number);
  mlir::Value guardOf(int64_t number);
  mlir::Value addressOf(int64_t number);
  void explain(int64_t elements, int64_t most) const;

  Emitter &e;
  mlir::Operation *op;
  const ArrayView *array;
  std::optional<Layout> layout;
  llvm::SmallVector<Dim> dims;
  mlir::Value mask, maskValues;
  unsigned runDim;
  int64_t runLength;
};

} // namespace tilec

#endif // TILEC_LIB_LOWERING_MEMORYACCESS_H
