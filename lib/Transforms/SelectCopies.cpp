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
// Loads of products whose threads read shared memory are marked "cp_async" where they are
// in a loop: all threads copy, and the copies of later iterations run ahead.
//
// The engine wants rows that begin at multiples of 16 bytes (the build's fact), reads
// zeros outside of the array, and sees what this kernel wrote only after fences: a load
// with another pad, or of an array that the kernel writes, stays as it is.
//===----------------------------------------------------------------------===//
#include "Copies.h"

#include "tilec/Support/Target.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/DebugSites.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/MmaProblem.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace tilec {
#define GEN_PASS_DEF_SELECTCOPIES
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

/// Whether the engine can move `view` to or from `array`: it counts dims up to five, and
/// pieces of 16 bytes along the one that is contiguous.
static bool fitsEngine(ArrayType array, const TileView &view) {
  auto tile = cast<RankedTensorType>(view.tile.getType());
  if (array.isStrided() || array.getRank() < 2 || array.getRank() > 5 || tile.getRank() < 2 ||
      tile.getElementType().isInteger(1))
    return false;
  auto contiguous = llvm::find(view.arrayDims, array.getRank() - 1);
  if (contiguous == view.arrayDims.end())
    return false;
  int64_t elements = tile.getDimSize(contiguous - view.arrayDims.begin());
  return elements * tgpu::BufferType::storedBytes(tile.getElementType()) >= 16;
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

/// A product reads `use` from shared memory, and accepts it as it comes from the array:
/// by itself if `isAsync`, else by its threads.
static bool isReadByProduct(OpOperand &use, int64_t contiguousDim, unsigned numWarps,
                            bool isAsync) {
  auto mma = dyn_cast<MmaOp>(use.getOwner());
  if (!mma || use.get() == mma.getAcc())
    return false;
  bool isA = use.getOperandNumber() == 0;
  MmaProblem problem = getMmaProblem(mma, numWarps);
  const Atom *atom = getAtom(mma, problem);
  if (atom->isAsync != isAsync || (isA ? atom->aHome : atom->bHome) != OperandHome::Shared)
    return false;
  auto fixed = isA ? atom->aBuffer : atom->bBuffer;
  if (!fixed)
    return true;
  auto type = cast<RankedTensorType>(use.get().getType());
  int64_t rank = type.getRank();
  bool isKMajor = contiguousDim == (isA ? rank - 1 : rank - 2);
  Layout buffer = fixed(problem, isKMajor);
  // Some operands have to lie along K: is that how they come?
  return buffer.unflatten(buffer.basis(Input::Offset, 0))[contiguousDim] == 1;
}

static bool isForProductsOnly(LoadOp load, unsigned numWarps, bool isAsync) {
  if (!isa<RankedTensorType>(load.getResult().getType()) || isWritten(load.getArray()) ||
      !isZero(load.getPadValue()))
    return false;
  ArrayType array = load.getArray().getType();
  std::vector<TileView> views = viewsOf(load);
  return !views.empty() && llvm::all_of(views, [&](const TileView &view) {
    if (!fitsEngine(array, view))
      return false;
    int64_t contiguous =
        llvm::find(view.arrayDims, array.getRank() - 1) - view.arrayDims.begin();
    return llvm::all_of(view.tile.getUses(), [&](OpOperand &use) {
      return isa<PermuteOp, ReshapeOp>(use.getOwner()) ||
             isReadByProduct(use, contiguous, numWarps, isAsync);
    });
  });
}

/// Rows of the tile are rows of the array.
static bool canCopyOut(StoreOp store) {
  if (!isa<RankedTensorType>(store.getValue().getType()))
    return false;
  TileView view = storedView(store);
  ArrayType array = store.getArray().getType();
  return fitsEngine(array, view) && view.arrayDims.back() == array.getRank() - 1;
}

namespace {

struct SelectCopies : tilec::impl::SelectCopiesBase<SelectCopies> {
  using SelectCopiesBase::SelectCopiesBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const Chip *target = findChip(chip);
    if (!target || !relies(kernel, BuildFact::Aligned16))
      return;
    // Prints and assertions bring all of the block's threads together; copies lead to
    // warps that go their own way.
    if (hasSites(kernel))
      return;
    unsigned numWarps = kernel.getNumWarps().value_or(4);
    auto engine = StringAttr::get(&getContext(), "tma");
    auto threads = StringAttr::get(&getContext(), "cp_async");
    bool usesEngine = false;
    kernel.walk([&](LoadOp load) {
      bool isInLoop = load->getParentOfType<LoopLikeOpInterface>() != nullptr;
      if (target->has(ChipFeature::BulkCopy) && isForProductsOnly(load, numWarps, true)) {
        load->setAttr(copyAttrName, engine);
        usesEngine = true;
      } else if (target->has(ChipFeature::AsyncCopy) && isInLoop &&
                 isForProductsOnly(load, numWarps, false)) {
        load->setAttr(copyAttrName, threads);
      }
    });
    if (usesEngine)
      kernel.walk([&](StoreOp store) {
        if (canCopyOut(store))
          store->setAttr(copyAttrName, engine);
      });
  }
};

} // namespace
