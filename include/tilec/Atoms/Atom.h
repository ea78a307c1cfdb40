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
//   SharedPlan plan = …                               // of a: atom->aReadLayout
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_ATOMS_ATOM_H
#define TILEC_ATOMS_ATOM_H

#include "tilec/Layout/Layout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"

namespace tilec {

/// A product acc[M, N] += a[M, K] * b[K, N], with a batch dim before when the
/// rank is 3.
struct MmaProblem {
  llvm::SmallVector<int64_t, 3> aShape, bShape, accShape;
  mlir::Type aType, bType, accType;
  unsigned numWarps = 4;

  int64_t k() const { return aShape.back(); }
};

/// Where an operand has to be when the instruction is issued.
enum class OperandHome { Register, Shared };

/// Who issues the instruction together.
enum class AtomScope { Thread, Warp, WarpGroup };

/// An operand in shared memory.
struct SharedOperand {
  mlir::Value base;        ///< llvm.ptr<3> to the buffer
  Layout buffer;           ///< offset (in elements) -> element
  mlir::Type elementType;  ///< as in the tile, such as f8E4M3FN
  bool isUnsigned = false; ///< of integers
};

/// All that the code of a product needs, per thread.
struct MmaEmission {
  SharedOperand a, b;
  mlir::Value acc;    ///< vector of this thread's elements
  Layout accLayout;
  mlir::Value thread; ///< i32: number of the thread in the block
};

struct Atom {
  llvm::StringRef name;
  OperandHome aHome, bHome;
  AtomScope scope;
  /// Completes later; its result may be read after a wait only.
  bool isAsync;
  bool (*supports)(const MmaProblem &);
  /// Registers of acc and of the result.
  Layout (*accLayout)(const MmaProblem &);
  /// How threads read an operand from shared memory, as a layout of the operand:
  /// what a buffer's swizzle is chosen for.
  Layout (*aReadLayout)(const MmaProblem &, const Layout &acc);
  Layout (*bReadLayout)(const MmaProblem &, const Layout &acc);
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
};

/// All families, the best first.
llvm::ArrayRef<const Atom *> allAtoms();
/// The atom called `name`, or null.
const Atom *findAtom(llvm::StringRef name);
/// The best atom for the problem. The Fma atom takes every problem that the
/// language allows, so there always is one.
const Atom *selectAtom(const MmaProblem &problem);

} // namespace tilec

#endif // TILEC_ATOMS_ATOM_H
