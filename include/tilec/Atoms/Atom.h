//===- Atom.h - one family of matrix instructions as a record -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// An atom is one way of the hardware to multiply matrices: where its operands
// live, how the accumulator lies in registers, who takes part, and how its code is
// written. Passes choose atoms and make their operands ready by reading records;
// no pass knows a chip or an instruction. A new family is a new file in lib/Atoms
// and one row in `allAtoms`.
//
//   const Atom *atom = selectAtom(problem);           // never null
//   Layout acc = atom->accLayout(problem);            // registers of the result
//   Layout buffer = operandBuffer(*atom, problem, acc, Operand::A, stored);
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_ATOMS_ATOM_H
#define TILEC_ATOMS_ATOM_H

#include "tilec/Layout/Layout.h"
#include "tilec/Tile/TileAttrs.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <array>
#include <optional>
#include <string>

namespace tilec {

/// What a block has where there is tensor memory: columns of 32 bits in 128 lanes.
inline constexpr int64_t tensorMemoryColumns = 512;

/// A product acc[M, N] += a[M, K] * b[K, N], with a batch dim before when the
/// rank is 3.
struct MmaProblem {
  llvm::SmallVector<int64_t, 3> aShape, bShape, accShape;
  mlir::Type aType, bType, accType;
  unsigned numWarps = 4;
  tile::MmaPrecision precision = tile::MmaPrecision::Exact;
  /// What the chip has: bits of ChipFeature (Support/Target.h).
  uint32_t features = 0;
  /// Columns of tensor memory that other products have left.
  int64_t freeColumns = tensorMemoryColumns;
  /// A row of acc is better not spread over warps: it is reduced, or becomes a row of
  /// another product's a.
  bool keepsRowsInWarp = false;
  /// The operand is loaded from an array in which neighbours along K do not lie side by side.
  bool aIsAcrossK = false, bIsAcrossK = false;
  /// Threads compute b, and not a, from tiles that copies bring: it is better the operand
  /// that may come from registers.
  bool bIsComputed = false;

  int64_t k() const { return aShape.back(); }
};

/// Where an operand has to be when the instruction is issued. Only accumulators are in
/// tensor memory.
enum class OperandHome { Register, Shared, TensorMemory };

/// Who issues the instruction together.
enum class AtomScope { Thread, Warp, WarpGroup };

enum class Operand { A, B };

/// How threads read an operand from shared memory: what a buffer is made for.
struct OperandRead {
  /// A layout of the operand: what a thread touches at a time is in its first registers.
  Layout layout;
  /// So many elements of the first registers must lie side by side in the buffer, in
  /// order and aligned.
  unsigned row = 1;
};

/// An operand of a product when its code is written.
struct MmaOperand {
  mlir::Value value;       ///< llvm.ptr<3> to the buffer, or a vector of registers
  Layout layout;           ///< offset (in elements) -> element, or of the registers
  mlir::Type elementType;  ///< as in the tile, such as f8E4M3FN
  bool isUnsigned = false; ///< of integers
  /// In shared memory: threads keep its addresses, but for the place, over all iterations.
  bool keepsAddresses = false;

  bool inRegisters() const { return llvm::isa<mlir::VectorType>(value.getType()); }
};

/// All that the code of a product needs, per thread.
struct MmaEmission {
  MmaOperand a, b;
  mlir::Value acc;    ///< vector of this thread's elements; i32, an address in tensor memory
  mlir::Value adds;   ///< i1: acc is read; null: it always is
  Layout accLayout;
  mlir::Value thread; ///< i32: number of the thread in the block
  /// i32: number of the warp, known to be one for all its lanes; for warp groups.
  mlir::Value warp;
};

/// Code of accumulators in tensor memory. Addresses of it are i32.
struct AccumulatorCode {
  using Builder = mlir::OpBuilder;
  using Location = mlir::Location;
  using Value = mlir::Value;

  /// By one whole warp: takes `columns`, a power of two; the address goes to `place`, four
  /// bytes of shared memory. No more is taken afterwards.
  void (*allocate)(Builder &, Location, Value place, int64_t columns);
  /// By the same warp, when nobody uses it any more.
  void (*free)(Builder &, Location, Value address, int64_t columns);
  /// By one thread: issues a product.
  void (*multiply)(Builder &, Location, const MmaEmission &);
  /// By that thread: one arrival at a barrier in shared memory, of each of the first
  /// `numBlocks` of the cluster, when what it has issued is complete.
  void (*commit)(Builder &, Location, Value barrier, int64_t numBlocks);
  /// By all threads: their elements, a vector of `type`.
  Value (*read)(Builder &, Location, Value address, const Layout &acc, mlir::VectorType type,
                Value warp);
  void (*write)(Builder &, Location, Value address, const Layout &acc, Value elements,
                Value warp);
  /// Before threads meet: what this one has read and written is over for the others. And
  /// after: what others did is over for this one.
  void (*fenceBefore)(Builder &, Location);
  void (*fenceAfter)(Builder &, Location);
};

struct Atom {
  llvm::StringRef name;
  OperandHome aHome, bHome;
  AtomScope scope;
  /// Completes later; its result may be read after a wait only.
  bool isAsync;
  /// Bits of ChipFeature that a chip must have, all of them.
  uint32_t features;
  bool (*supports)(const MmaProblem &);
  /// Registers of acc and of the result.
  Layout (*accLayout)(const MmaProblem &);
  /// How an operand is read from shared memory when neighbours along K lie side by
  /// side there (`alongK`), or neighbours along M or N.
  OperandRead (*readOperand)(const MmaProblem &, const Layout &acc, Operand, bool alongK);
  /// The registers of a, if a may be in registers too; else null, as is the function.
  std::optional<Layout> (*aRegisters)(const MmaProblem &, const Layout &acc);
  /// Writes the code and returns the new accumulator.
  mlir::Value (*emit)(mlir::OpBuilder &, mlir::Location, const MmaEmission &);

  /// The one layout in which an operand has to lie in shared memory, where the
  /// instruction reads it by itself; null where threads read it. `isKMajor`: neighbours
  /// along K are wanted next to each other; an operand that must be so is, anyway.
  Layout (*aBuffer)(const MmaProblem &, bool isKMajor) = nullptr;
  Layout (*bBuffer)(const MmaProblem &, bool isKMajor) = nullptr;
  /// Of asynchronous atoms: waits until no more than `pending` products of the thread
  /// are in flight; gives back the vectors `values`, which may be read then.
  llvm::SmallVector<mlir::Value> (*wait)(mlir::OpBuilder &, mlir::Location, int64_t pending,
                                         mlir::ValueRange values) = nullptr;
  /// Can leave acc out when told to at run time (MmaEmission::adds).
  bool canStart = false;
  /// M, N, K of one instruction, where there is one.
  std::array<int64_t, 3> (*shape)(const MmaProblem &) = nullptr;
  /// Of atoms with accumulators in tensor memory, where one thread issues products; then
  /// `accLayout` is how threads read them, and there is no `emit`.
  const AccumulatorCode *accumulator = nullptr;
  /// The unit sums from zero, and threads add that to acc.
  bool addsInRegisters = false;
  /// The same of a product with no more of K than this; a longer one adds its parts itself.
  int64_t addsInRegistersUpTo = 0;
  /// The registers of b, where b may be in registers instead.
  std::optional<Layout> (*bRegisters)(const MmaProblem &, const Layout &acc) = nullptr;
  /// Where the unit sums from zero up to addsInRegistersUpTo: registers of sums a thread, at most.
  int64_t mostAddedInRegisters = 0;

  OperandHome accHome() const {
    return accumulator ? OperandHome::TensorMemory : OperandHome::Register;
  }
};

/// Columns of tensor memory that an accumulator takes.
int64_t columnsOfAccumulator(llvm::ArrayRef<int64_t> accShape);

/// All families, the best first.
llvm::ArrayRef<const Atom *> allAtoms();
/// The atom called `name`, or null.
const Atom *findAtom(llvm::StringRef name);
/// The best atom for the problem. The Fma atom takes every problem that the
/// language allows, so there always is one.
const Atom *selectAtom(const MmaProblem &problem);

/// `wgmma of 64 x 256 x 16`: the family and what one of its instructions multiplies.
std::string describeAtom(const Atom &atom, const MmaProblem &problem);
/// Families better than `chosen`, each with why it was not taken: the chip, the number of
/// warps, the precision, the sizes or the types.
llvm::SmallVector<std::pair<const Atom *, std::string>>
explainBetterAtoms(const Atom &chosen, const MmaProblem &problem);

/// The dim of an operand that products sum over: the last of a, the last but one of b.
inline unsigned dimK(unsigned rank, Operand operand) {
  return rank - (operand == Operand::A ? 1 : 2);
}

/// The element of an operand that goes with an element of acc, its K being 0.
uint64_t projectToOperand(const Layout &acc, const Layout &operand, uint64_t flat,
                          Operand which);

/// The layout of a buffer for an operand that threads put there in the pieces of
/// `stored`: free of bank conflicts on both sides where that is possible. The `piece`
/// elements of its first registers, which a copy moves at once, stay side by side.
Layout operandBuffer(const Atom &atom, const MmaProblem &problem, const Layout &acc,
                     Operand operand, const Layout &stored, unsigned piece = 1);

} // namespace tilec

#endif // TILEC_ATOMS_ATOM_H
