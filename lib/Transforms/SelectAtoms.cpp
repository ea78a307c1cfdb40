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
// on the chip is taken, and there always is one. An `atom` that is there already stays if
// it supports the problem.
//
// A product whose rows are reduced or go into another product as a, as in attention,
// asks for rows that stay within a warp. Accumulators in tensor memory each have a place
// of their own: where there is none left, the next atom is taken. An operand that threads
// compute from what copies bring is better the one that may stay in registers.
//===----------------------------------------------------------------------===//
#include "ChooseWarps.h"
#include "ComputedOperands.h"
#include "Dependence.h"
#include "LayoutRules.h"

#include "tilec/Atoms/Atom.h"
#include "tilec/Support/Target.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/Remarks.h"
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

/// Whether what is computed from `product` place by place, in branches too, is reduced along
/// its rows or becomes the a of another product.
static bool wantsWholeRows(Value product) {
  llvm::SetVector<Value> reached;
  reached.insert(product);
  auto lastAxis = cast<RankedTensorType>(product.getType()).getRank() - 1;
  for (size_t i = 0; i < reached.size(); ++i)
    for (Operation *user : reached[i].getUsers()) {
      if (auto reduce = dyn_cast<ReduceOp>(user))
        if (llvm::is_contained(reduce.getAxes(), lastAxis))
          return true;
      if (auto mma = dyn_cast<MmaOp>(user); mma && mma.getA() == reached[i])
        return true;
      if (isElementwise(user))
        for (Value result : user->getResults())
          if (isTile(result))
            reached.insert(result);
      if (auto branch = dyn_cast<scf::IfOp>(user->getParentOp()); branch && isa<scf::YieldOp>(user))
        for (auto [handed, result] : llvm::zip_equal(user->getOperands(), branch.getResults()))
          if (handed == reached[i])
            reached.insert(result);
    }
  return false;
}

/// Whether a product's a is computed place by place, in branches too, from another product's
/// result.
static bool takesProduct(Value value) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *op = reached[i].getDefiningOp();
    if (isa_and_nonnull<MmaOp>(op))
      return true;
    if (op && isElementwise(op))
      for (Value operand : op->getOperands())
        if (isTile(operand))
          reached.insert(operand);
    if (auto branch = dyn_cast_or_null<scf::IfOp>(op))
      addCarriedSources(branch, reached[i], reached);
  }
  return false;
}

/// Whether an operand is loaded from an array whose contiguous dim is not that of K.
static bool isAcrossK(Value operand, Operand which) {
  auto dim = int64_t(dimK(unsigned(cast<RankedTensorType>(operand.getType()).getRank()), which));
  for (;;) {
    Operation *op = operand.getDefiningOp();
    auto shape = cast<RankedTensorType>(operand.getType()).getShape();
    if (auto permute = dyn_cast_or_null<PermuteOp>(op)) {
      dim = permute.getDims()[dim];
    } else if (auto reshape = dyn_cast_or_null<ReshapeOp>(op);
               reshape && isTile(reshape.getSource())) {
      // The dims that follow stay as they are where only leading ones come or go.
      auto from = cast<RankedTensorType>(reshape.getSource().getType()).getShape();
      size_t behind = shape.size() - size_t(dim);
      if (behind > from.size() || from.take_back(behind) != shape.take_back(behind))
        return false;
      dim = int64_t(from.size() - behind);
    } else if (auto load = dyn_cast_or_null<LoadOp>(op)) {
      return load.getArrayDim(unsigned(dim)) != load.getArray().getType().getRank() - 1;
    } else {
      return false;
    }
    operand = op->getOperand(0);
  }
}

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
  problem.precision = mma.getPrecision();
  problem.keepsRowsInWarp = wantsWholeRows(mma.getResult()) || takesProduct(mma.getA());
  problem.aIsAcrossK = isAcrossK(mma.getA(), Operand::A);
  problem.bIsAcrossK = isAcrossK(mma.getB(), Operand::B);
  return problem;
}

const Atom *tilec::getAtom(MmaOp mma, const MmaProblem &problem) {
  if (std::optional<StringRef> name = mma.getAtom())
    if (const Atom *atom = findAtom(*name)) {
      // It may have been taken for how b comes.
      MmaProblem other = problem;
      other.bIsComputed = !problem.bIsComputed;
      if (atom->supports(problem) || atom->supports(other))
        return atom;
    }
  return selectAtom(problem);
}

static void explain(MmaOp mma, const Atom &atom, const MmaProblem &problem) {
  if (!wantsRemarks(mma))
    return;
  remarkChoice(mma, "select-atoms", "{0} x {1} to {2} by {3}", spell(mma.getA().getType()),
               spell(mma.getB().getType()), spell(mma.getType()), describeAtom(atom, problem));
  for (auto &[better, why] : explainBetterAtoms(atom, problem))
    remarkMissed(mma, "select-atoms", "not by {0}: {1}", better->name, why);
}

namespace {

struct SelectAtoms : tilec::impl::SelectAtomsBase<SelectAtoms> {
  using SelectAtomsBase::SelectAtomsBase;

  void runOnOperation() override {
    SmallVector<MmaOp> products;
    getOperation().walk([&](MmaOp mma) { products.push_back(mma); });
    if (products.empty())
      return;
    unsigned numWarps = getOrChooseNumWarps(getOperation());
    const Chip *row = findChip(chip);
    int64_t freeColumns = tensorMemoryColumns;
    bool isAligned = relies(getOperation(), BuildFact::Aligned16);
    for (MmaOp mma : products) {
      MmaProblem problem = getMmaProblem(mma, numWarps);
      problem.features = row ? row->features : 0;
      problem.bIsComputed = isAligned && row && row->has(ChipFeature::BulkCopy) &&
                            !loadsBehind(mma, mma.getB()).empty() &&
                            loadsBehind(mma, mma.getA()).empty();
      problem.freeColumns = freeColumns;
      const Atom *atom = getAtom(mma, problem);
      if (atom->accHome() == OperandHome::TensorMemory)
        freeColumns -= columnsOfAccumulator(problem.accShape);
      mma.setAtom(atom->name);
      explain(mma, *atom, problem);
    }
  }
};

} // namespace
