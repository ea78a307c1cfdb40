//===- Atom.cpp - the list of atoms, buffers of operands -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a product. Out: the first atom of the list that can compute it on the chip, and
// the buffers in shared memory that its operands want.
//
//===------------------------------------------------------------------------===//
#include "tilec/Atoms/Atom.h"

#include "Families.h"

#include "tilec/Layout/Conversion.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace tilec;

llvm::ArrayRef<const Atom *> tilec::allAtoms() {
  static const Atom *const atoms[] = {
      &tcgen05Atom,     &tcgen05IntegerAtom, &tcgen05PromotedAtom,
      &wgmmaAtom,       &wgmmaPromotedAtom, &wgmmaTransposedAtom,
      &wgmmaPromotedTransposedAtom,         &mmaSyncWideAtom,
      &mmaSyncAtom,     &mmaSyncTF32Atom,   &mmaSyncTF32x3Atom,
      &mmaSyncF8Atom,   &mmaSyncF8HalfAtom, &mmaSyncF8BitsAtom,
      &fmaAtom};
  return atoms;
}

const Atom *tilec::findAtom(llvm::StringRef name) {
  for (const Atom *atom : allAtoms())
    if (atom->name == name)
      return atom;
  return nullptr;
}

const Atom *tilec::selectAtom(const MmaProblem &problem) {
  for (const Atom *atom : allAtoms())
    if ((problem.features & atom->features) == atom->features && atom->supports(problem))
      return atom;
  return &fmaAtom;
}

int64_t tilec::columnsOfAccumulator(llvm::ArrayRef<int64_t> accShape) {
  constexpr int64_t lanes = 128;
  return std::max<int64_t>(1, accShape[0] / lanes) * accShape[1];
}

uint64_t tilec::projectToOperand(const Layout &acc, const Layout &operand, uint64_t flat,
                                 Operand which) {
  Layout::Coords coords = acc.unflatten(flat);
  coords[dimK(acc.rank(), which)] = 0;
  if (coords.size() == 3 && operand.shape()[0] == 1)
    coords[0] = 0;
  return operand.flatten(coords);
}

/// Whether neighbours along K rather than along M or N lie side by side in the pieces
/// of `stored`: in a thread's registers, else in neighbouring lanes.
static bool isAlongK(const Layout &stored, Operand operand) {
  unsigned rank = stored.rank(), k = dimK(rank, operand), other = 2 * rank - 3 - k;
  unsigned widthK = stored.vectorWidth(k), widthOther = stored.vectorWidth(other);
  if (widthK != widthOther)
    return widthK > widthOther;
  for (uint64_t basis : stored.bases(Input::Lane))
    if (basis)
      return stored.field(basis, k) >= stored.field(basis, other);
  return true;
}

Layout tilec::operandBuffer(const Atom &atom, const MmaProblem &problem, const Layout &acc,
                            Operand operand, const Layout &stored, unsigned piece) {
  mlir::Type type = operand == Operand::A ? problem.aType : problem.bType;
  unsigned bits = mlir::isa<mlir::FloatTF32Type>(type) ? 32 : type.getIntOrFloatBitWidth();
  bool alongK = isAlongK(stored, operand);
  if (auto *fixed = operand == Operand::A ? atom.aBuffer : atom.bBuffer)
    return fixed(problem, alongK);
  OperandRead read = atom.readOperand(problem, acc, operand, alongK);
  // Both sides look alike to the planner: the one that needs whole rows is the reader.
  if (read.row == 1 && piece > 1)
    return planShared(read.layout, stored, bits, piece).buffer;
  return planShared(stored, read.layout, bits, read.row).buffer;
}
