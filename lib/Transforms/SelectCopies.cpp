//===- SelectCopies.cpp - who moves a tile between arrays and the chip -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: stage `tile`, with an atom on every product. Out: loads and stores that the chip's
// copy engine is to do are marked:
//
//   %x = tile.load %a[%m, %k] {tile.copy = "tma"} : …
//   tile.store %c[%m, %n], %o {tile.copy = "tma"} : …
//
// A load is marked when all that uses it are products which read it from shared memory
// by themselves, so that it never need be in registers: then it gets no say in layouts,
// and StageRings makes a ring of it. A store is marked in kernels with such loads:
// whatever layout its tile has, it goes out through shared memory in whole lines.
//
// The engine wants rows that begin at multiples of 16 bytes (the build's fact), reads
// zeros outside of the array, and sees what this kernel wrote only after fences: a load
// with another pad, or of an array that the kernel writes, stays as it is.
//===----------------------------------------------------------------------===//
#include "Copies.h"

#include "tilec/Support/Target.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/MmaProblem.h"
#include "tilec/Transforms/Passes.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace tilec {
#define GEN_PASS_DEF_SELECTCOPIES
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

/// Elements that one copy moves along the contiguous dim make up at least 16 bytes, and
/// along any other there are as many rows as the engine can count.
static bool fitsEngine(ArrayType array, RankedTensorType tile, int64_t contiguousDim) {
  int64_t elementBytes = tgpu::BufferType::storedBytes(tile.getElementType());
  return !array.isStrided() && array.getRank() >= 2 && array.getRank() <= 5 &&
         !tile.getElementType().isInteger(1) &&
         tile.getDimSize(contiguousDim) * elementBytes >= 16;
}

/// The tile dim along which neighbours are neighbours in the array.
template <typename Op> static int64_t contiguousTileDim(Op access, int64_t rank) {
  for (int64_t dim = 0; dim < rank; ++dim)
    if (access.getArrayDim(unsigned(dim)) == rank - 1)
      return dim;
  return rank - 1;
}

/// All bits clear.
static bool isZero(TypedAttr value) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return integer.getValue().isZero();
  auto number = dyn_cast<FloatAttr>(value);
  return number && number.getValue().isPosZero();
}

static bool isWritten(Value array) {
  return llvm::any_of(array.getUsers(), [](Operation *user) {
    return isa<StoreOp, ScatterOp, AtomicOp>(user);
  });
}

/// A product reads `use` by itself, and accepts it as it comes from the array.
static bool isReadByProduct(OpOperand &use, int64_t contiguousDim, unsigned numWarps) {
  auto mma = dyn_cast<MmaOp>(use.getOwner());
  if (!mma || use.get() == mma.getAcc())
    return false;
  bool isA = use.getOperandNumber() == 0;
  MmaProblem problem = getMmaProblem(mma, numWarps);
  const Atom *atom = getAtom(mma, problem);
  if (!atom->isAsync || (isA ? atom->aHome : atom->bHome) != OperandHome::Shared)
    return false;
  auto type = cast<RankedTensorType>(use.get().getType());
  int64_t rank = type.getRank();
  bool isKMajor = contiguousDim == (isA ? rank - 1 : rank - 2);
  Layout buffer = (isA ? atom->aBuffer : atom->bBuffer)(problem, isKMajor);
  // Some operands have to lie along K: is that how they come?
  return buffer.unflatten(buffer.basis(Input::Offset, 0))[contiguousDim] == 1;
}

static bool isForProductsOnly(LoadOp load, unsigned numWarps) {
  Value tile = load.getResult();
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type || tile.use_empty() || isWritten(load.getArray()))
    return false;
  if (!isZero(load.getPadValue()))
    return false;
  int64_t contiguous = contiguousTileDim(load, type.getRank());
  if (!fitsEngine(load.getArray().getType(), type, contiguous))
    return false;
  return llvm::all_of(tile.getUses(), [&](OpOperand &use) {
    auto permute = dyn_cast<PermuteOp>(use.getOwner());
    if (!permute)
      return isReadByProduct(use, contiguous, numWarps);
    int64_t permuted = llvm::find(permute.getDims(), contiguous) - permute.getDims().begin();
    return llvm::all_of(permute->getUses(), [&](OpOperand &inner) {
      return isReadByProduct(inner, permuted, numWarps);
    });
  });
}

static bool canCopyOut(StoreOp store) {
  auto type = dyn_cast<RankedTensorType>(store.getValue().getType());
  return type && fitsEngine(store.getArray().getType(), type,
                            contiguousTileDim(store, type.getRank())) &&
         contiguousTileDim(store, type.getRank()) == type.getRank() - 1;
}

namespace {

struct SelectCopies : tilec::impl::SelectCopiesBase<SelectCopies> {
  using SelectCopiesBase::SelectCopiesBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const Chip *target = findChip(chip);
    if (!target || !target->has(ChipFeature::BulkCopy) ||
        !relies(kernel, BuildFact::Aligned16))
      return;
    unsigned numWarps = kernel.getNumWarps().value_or(4);
    auto mark = StringAttr::get(&getContext(), "tma");
    bool any = false;
    kernel.walk([&](LoadOp load) {
      if (!isForProductsOnly(load, numWarps))
        return;
      load->setAttr(copyAttrName, mark);
      any = true;
    });
    if (any)
      kernel.walk([&](StoreOp store) {
        if (canCopyOut(store))
          store->setAttr(copyAttrName, mark);
      });
  }
};

} // namespace
