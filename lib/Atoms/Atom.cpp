//===- Atom.cpp - the list of atoms ---------------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a product. Out: the first atom of the list that can compute it.
//
//===------------------------------------------------------------------------===//
#include "tilec/Atoms/Atom.h"

#include "Families.h"

using namespace tilec;

llvm::ArrayRef<const Atom *> tilec::allAtoms() {
  static const Atom *const atoms[] = {&fmaAtom};
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
    if (atom->supports(problem))
      return atom;
  return &fmaAtom;
}
