//===- AsyncCopy.h - a tile on its way to shared memory, by threads -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Private to lib/Lowering. In: a tgpu.copy that threads do, and the place. Out: the code of
// one thread's part. `emit` is for rings that all threads of a block fill, where it is known
// how arrays are aligned (AsyncCopy.cpp); `emitByWarps` for those that warps fill which only
// copy, in pieces that the launch decides (CopyByWarps.cpp).
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_LOWERING_ASYNCCOPY_H
#define TILEC_LIB_LOWERING_ASYNCCOPY_H

#include "MemoryAccess.h"

#include "tilec/Atoms/ThreadCode.h"

#include <map>

namespace tilec {

/// Writes the code of one thread's part of a copy.
class AsyncCopyEmitter {
public:
  /// `condition` (i1): anything is copied at all; null: that is known.
  AsyncCopyEmitter(Emitter &emitter, tgpu::CopyOp op, mlir::Value place, mlir::Value condition)
      : e(emitter), builder(emitter.builder), loc(emitter.loc), op(op), place(place),
        uniform(condition), buffer(op.getBuffer()), view(emitter.array(op.getArray())),
        elementBytes(buffer.getElementBytes()), inBuffer(op.getTileLayout()) {}

  void emit();
  void emitByWarps();

private:
  using Value = mlir::Value;

  /// A dim of the array.
  struct Dim {
    Value start;      ///< i64: the tile's first element
    Value exists;     ///< i1 where the tile is one element wide, i32 count else
    Value shift;      ///< i32: from a coordinate to what is compared with `exists`; null: 0
    int tileDim = -1; ///< of the copied tile; -1: one element wide
    Value own;        ///< i32: this thread's part of the coordinate
  };

  Dim describe(unsigned arrayDim);
  /// Copies are made as `newLayout` has them. The bits of `round` (i32; null: 0) stand for the
  /// last `roundBits` of the registers' numbers.
  void setLayout(const Layout &newLayout, Value round = {}, unsigned roundBits = 0);
  unsigned pieceElements();
  Value sourceAddress(uint64_t flat);
  Value existsAt(uint64_t flat, size_t numDims);
  Value targetAddress(uint64_t number);
  void copyPiece(uint64_t number, unsigned elements);

  //===--- CopyByWarps.cpp -------------------------------------------------------===//
  /// i32: the tile's address and pitches or'ed.
  Value emitRowBits();
  Value emitIsWhole();
  void copyAligned(int64_t bytes, bool isChecked);
  void copyPieces(llvm::ArrayRef<uint64_t> numbers, int64_t bytes, bool isChecked);
  Value countAt(uint64_t flat);
  Value rowExistsAt(uint64_t flat) { return existsAt(flat, dims.size() - 1); }

  Emitter &e;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  tgpu::CopyOp op;
  Value place;
  Value uniform;
  tgpu::BufferType buffer;
  const ArrayView &view;
  int64_t elementBytes;
  Layout inBuffer; ///< the copied tile's places
  Layout layout;
  Layout offsets; ///< (register, lane, warp) -> offset in the buffer
  llvm::SmallVector<Dim, 6> dims;
  Value ownSource, ownTarget;
  uint64_t targetBits = 0;
  std::map<std::pair<unsigned, uint64_t>, Value> inside; ///< by dim and place
  std::map<uint64_t, Value> counts;                      ///< by place along the last dim
};

} // namespace tilec

#endif // TILEC_LIB_LOWERING_ASYNCCOPY_H
