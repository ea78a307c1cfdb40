//===- MmaSync.h - fragments of mma.sync -----------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Private to lib/Atoms. One instruction of a warp multiplies a fragment of a,
// [rows, k], by one of b, [k, 8]. With g = lane / 4, q = lane % 4 and e elements to a
// register, k being 4 * e * blocks:
//
//   A: register r of row half h, block j:  row g + 8 h, columns 4 e j + q e … + e - 1
//   B: register j:                         column g, rows 4 e j + q e … + e - 1
//   C: element (h, i):                     row g + 8 h, column 2 q + i
//
// One formula serves all element types. An operand smaller than a fragment is read
// again for what lies beyond its M or N, which gives copies of results; beyond its K
// fragments are zero. Which rows and columns of the tile are neighbours in a fragment is free
// (Shape::step).
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_ATOMS_MMASYNC_H
#define TILEC_LIB_ATOMS_MMASYNC_H

#include "tilec/Atoms/Atom.h"
#include "tilec/Atoms/ThreadCode.h"

#include <map>

namespace tilec::mmasync {

/// The fragments of one instruction.
struct Shape {
  unsigned rows;        ///< of a: 16 or 8
  unsigned perRegister; ///< elements of an operand in a register
  unsigned blocks;      ///< registers of b
  /// Rows and columns of a fragment are not neighbours in the tile: those that eight bytes at
  /// a time are read of together lie in different banks as the copy engine swizzles rows of
  /// 128 bytes, be they along K or, of b, along N.
  bool isSpread = false, bIsAlongK = false;
  /// How far apart neighbouring columns of b's fragment are in the tile, where b comes from
  /// registers: a thread then has so many columns that lie side by side.
  unsigned columnStep = 1;

  /// How far the tile's row (of a) or column (of b) moves with bit `bit` of its number in the
  /// fragment.
  int64_t step(Operand operand, unsigned bit) const {
    constexpr int64_t alongK[] = {2, 4, 1, 8}, alongN[] = {1, 8, 2, 4};
    if (!isSpread)
      return int64_t(operand == Operand::B ? columnStep : 1) << bit;
    return (operand == Operand::A || bIsAlongK ? alongK : alongN)[bit];
  }

  unsigned blockK() const { return 4 * perRegister; }
  unsigned k() const { return blockK() * blocks; }
  unsigned halves() const { return rows / 8; }
  unsigned registersOf(Operand operand) const {
    return blocks * (operand == Operand::A ? halves() : 1);
  }
  unsigned accElements() const { return 2 * halves(); }
};

/// How fragments of an operand get from shared memory to registers.
enum class ReadMode {
  Rows,       ///< ldmatrix: rows of 16 bytes along K
  Transposed, ///< ldmatrix.trans: rows of 16 bytes along M or N, elements of 16 bits
  Elements,   ///< plain loads
};

/// The way for a tile of `shape` (of the operand) whose 16-byte rows are along K or not.
ReadMode chooseReadMode(const Shape &fragment, llvm::ArrayRef<int64_t> shape,
                        Operand operand, mlir::Type elementType, bool alongK);

/// How threads read the operand; `acc` is a layout that accLayout made.
OperandRead readLayout(const Shape &fragment, ReadMode mode, llvm::ArrayRef<int64_t> shape,
                       mlir::Type elementType, const Layout &acc, Operand operand);

/// The layout of a whole operand whose fragments are in registers.
Layout registerLayout(const Shape &fragment, llvm::ArrayRef<int64_t> shape,
                      const Layout &acc, Operand operand);

/// Writes the loads of fragments of one operand.
class FragmentReader {
public:
  FragmentReader(mlir::OpBuilder &builder, mlir::Location loc, const MmaOperand &operand,
                 const MmaEmission &emission, const Shape &fragment, Operand which);

  /// In a loop over K: all reads that follow are `chunk` (i32) times `steps` fragments
  /// further. `body` is where they are written.
  void enterChunk(mlir::OpBuilder &body, mlir::Value chunk, unsigned steps);

  /// The registers, i32 or f64, of the fragment whose first element is `flat` (its K
  /// being 0), `step` fragments further along K.
  llvm::ArrayRef<mlir::Value> read(uint64_t flat, unsigned step);

private:
  using Registers = llvm::SmallVector<mlir::Value, 8>;

  uint64_t place(uint64_t flat) const;
  uint64_t flatAtK(int64_t k) const;
  bool isBeyondK(unsigned block) const;
  mlir::Value address(uint64_t constant);
  void readMatrices(uint64_t flat, unsigned step);
  Registers readElements(uint64_t flat, unsigned step);
  Registers pickRegisters(uint64_t flat, unsigned step);
  Registers packWords(llvm::ArrayRef<mlir::Value> elements);
  mlir::Value maskLanes(mlir::Value word);
  mlir::Value zeroRegister();

  mlir::OpBuilder *builder;
  mlir::Location loc;
  const MmaOperand &operand;
  const Shape fragment;
  const Operand which;
  ReadMode mode;
  Layout tile;    ///< shape of the operand
  Layout inverse; ///< element -> offset
  int64_t sizeK;
  mlir::Value thread;
  mlir::Value threadOffset, offset, scaledOffset;
  std::map<uint64_t, mlir::Value> starts; ///< by what is mixed with the offset
  uint64_t threadBits = 0, offsetBits = 0;
  bool pairsColumns = false; ///< one ldmatrix gives the fragments of columns n and n + 8
  llvm::SmallVector<mlir::Value> registers; ///< of an operand in registers
  std::map<std::pair<uint64_t, unsigned>, Registers> known;
};

} // namespace tilec::mmasync

#endif // TILEC_LIB_ATOMS_MMASYNC_H
