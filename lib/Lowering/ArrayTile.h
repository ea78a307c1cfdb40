//===- ArrayTile.h - where a thread's part of a tile lies ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Private to lib/Lowering. Loads and stores of tiles (Memory.cpp) ask here for the groups of
// registers that lie side by side in memory, their addresses and which of them exist.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_LOWERING_ARRAYTILE_H
#define TILEC_LIB_LOWERING_ARRAYTILE_H

#include "MemoryAccess.h"

#include "tilec/Analysis/IndexOffset.h"

#include <map>

namespace tilec {

/// One access to an array, whose code is written piece by piece.
class ArrayTile {
public:
  template <typename Op>
  ArrayTile(Emitter &emitter, Op op, mlir::Type valueType);

  bool isScalar() const { return !layout; }
  /// Sets vectors up; `false` where every access is of one element.
  void chooseVectors();
  /// Says how wide the accesses are and which edges are checked.
  void explain(mlir::Operation *op, mlir::Value array);
  void explainRuns(mlir::Operation *op, mlir::Value array);
  /// Computes extents and addresses. Must come first.
  void prepare();

  /// i1: every element of the tile exists; null when that is known.
  mlir::Value isWhollyInside() const { return wholly; }
  /// i1: the tile exists at all, when that decides about every element; else null.
  mlir::Value uniformGuard() const { return extents.empty() ? valid : mlir::Value(); }
  bool needsChecks() const { return valid || !extents.empty(); }
  bool mayStraddle() const { return straddles; }

  /// Whether vectors straddle the ends of a row, whose array has them whole.
  bool isInPieces() const { return inPieces; }
  /// The elements (as memory holds them) of all registers, in such vectors.
  llvm::SmallVector<mlir::Value> readPieces(mlir::TypedAttr pad);
  /// i1: some element of the vector of `group`, or all of them exist.
  mlir::Value someExist(const AccessGroup &group);
  mlir::Value allExist(const AccessGroup &group);
  /// The elements of `group`, each for itself, in a branch of their own.
  llvm::SmallVector<AccessGroup> elementsOf(const AccessGroup &group);

  /// Sets vectors up that may begin anywhere; `false` where that cannot be.
  bool chooseRuns();
  /// i1: 16 bytes around each element that exists are in the array.
  mlir::Value hasRoom();
  /// The elements (as memory holds them) of all registers, in runs.
  llvm::SmallVector<mlir::Value> readRuns();

  /// Where the elements of a group lie, in the order of its registers; none where other accesses do
  /// not have them, or may find others there.
  llvm::SmallVector<ElementPlace> placesOf(const AccessGroup &group, mlir::Attribute pad) const;

  /// The groups of registers, with code for their addresses and guards.
  llvm::SmallVector<AccessGroup> groups(bool isChecked, bool isVector);

  unsigned alignment(const AccessGroup &group) const {
    return unsigned(elementBytes * group.registers.size());
  }

  const Layout *layoutOrNull() const { return layout ? &*layout : nullptr; }
  mlir::Type stored;

private:
  struct Dim {
    mlir::Value index;         ///< i64
    OffsetIndex place;         ///< the same, in the kernel
    int64_t arrayDim;
    int64_t size;              ///< of the tile
    mlir::Value arraySize;     ///< i64
    mlir::Type checkedIn;      ///< the type in which the index is compared with the size
    int64_t startMultiple;     ///< powers of two known to divide the first element's number
    int64_t sizeMultiple;      ///< and the array's size
    mlir::Value stride;        ///< i64
    bool fits;                 ///< the index, into 32 bits
    bool isInBounds, isInnermost;
    bool mayBeginBefore;       ///< the array, and reach into it
    mlir::Value extent;        ///< i32; null: every element exists if `valid`
    mlir::Value shift;         ///< i32: from a coordinate to what is compared with the extent; null: 0
    mlir::Value ownCoordinate; ///< i32, the thread's part
    uint64_t ownBits = 0;
  };

  size_t registersAlong(unsigned dim) const;
  std::string spellEdges() const;
  void checkDim(Dim &dim);
  void checkBothEnds(Dim &dim);
  mlir::Value cut(mlir::Value value, mlir::Type type);
  mlir::Value toWord(mlir::Value value) { return cut(value, word); }
  mlir::Value fromI32(mlir::Value value);
  mlir::Value number(mlir::Type type, int64_t value);
  mlir::Value emitTileAddress();
  mlir::Value addressOf(mlir::Value offset);
  mlir::Value offsetOf(uint64_t flat);
  mlir::Value guardOf(uint64_t flat);
  /// What was emitted elsewhere need not dominate.
  void forget() {
    coordinates.clear();
    guards.clear();
    cutExtents.clear();
    rests.clear();
  }
  mlir::Value existsInPiece(unsigned number, uint64_t own, mlir::Value extent);
  mlir::Value existsBelow(const AccessGroup &group, int64_t ahead, int64_t more);
  uint64_t flatOf(int64_t number) const {
    return layout->applyFlat(Position::thread(uint64_t(number), 0));
  }
  mlir::Value coordinate(unsigned dim, uint64_t own);

  Emitter &e;
  std::optional<Layout> layout;
  llvm::SmallVector<Dim> dims;
  bool inElements;
  bool isVectorizable, isStrided, hasStrides;
  mlir::Type word;
  mlir::Value array; ///< of the kernel
  mlir::Value base, tileAddress, ownOffset, ownAddress, valid, wholly;
  llvm::SmallVector<unsigned> extents; ///< dims that have one, those of few places first
  llvm::SmallVector<unsigned, 4> vectorBits;
  bool straddles = false, inPieces = false;
  int64_t elementBytes;
  std::map<std::pair<unsigned, uint64_t>, mlir::Value> coordinates, guards, cutExtents;
  llvm::DenseMap<uint64_t, mlir::Value> rests; ///< of the row, from pieces on
};

} // namespace tilec

#endif // TILEC_LIB_LOWERING_ARRAYTILE_H
