//===- SelectAtoms.cpp - an instruction family for each product -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: stage `tile`. Out: the same with an atom on every product:
//
//   %r = tile.mma %x, %y, %s : …
//   %r = tile.mma %x, %y, %s {atom = "fma"} : …
//
// The list of atoms is ordered, the best first; the first that supports the problem
// is taken, and there always is one. An `atom` that is there already stays if it
// supports the problem.
//===----------------------------------------------------------------------===//
#include "ChooseWarps.h"

#include "tilec/Atoms/Atom.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/Transforms/MmaProblem.h"
#include "tilec/Transforms/Passes.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace tilec {
#define GEN_PASS_DEF_SELECTATOMS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

MmaProblem tilec::getMmaProblem(MmaOp mma, unsigned numWarps) {
  MmaProblem problem;
  auto describe = [](Value value, SmallVector<int64_t, 3> &shape) {
    auto type = cast<RankedTensorType>(value.getType());
    shape.assign(type.getShape().begin(), type.getShape().end());
    return type.getElementType();
  };
  problem.aType = describe(mma.getA(), problem.aShape);
  problem.bType = describe(mma.getB(), problem.bShape);
  problem.accType = describe(mma.getAcc(), problem.accShape);
  problem.numWarps = numWarps;
  return problem;
}

const Atom *tilec::getAtom(MmaOp mma, const MmaProblem &problem) {
  if (std::optional<StringRef> name = mma.getAtom())
    if (const Atom *atom = findAtom(*name); atom && atom->supports(problem))
      return atom;
  return selectAtom(problem);
}

namespace {

struct SelectAtoms : tilec::impl::SelectAtomsBase<SelectAtoms> {
  void runOnOperation() override {
    SmallVector<MmaOp> products;
    getOperation().walk([&](MmaOp mma) { products.push_back(mma); });
    if (products.empty())
      return;
    unsigned numWarps = getOrChooseNumWarps(getOperation());
    for (MmaOp mma : products)
      mma.setAtom(getAtom(mma, getMmaProblem(mma, numWarps))->name);
  }
};

} // namespace
