//===- SelectCopies.cpp - who moves a tile between arrays and the chip -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: stage `tile`, with an atom on every product. Out: loads, stores and atomic operations
// that the chip's copy engine is to do are marked:
//
//   %x = tile.load %a[%m, %k] {tile.copy = "tma"} : …
//   tile.store %c[%m, %n], %o {tile.copy = "tma"} : …
//
// A load is marked when all that uses it are products which read it from shared memory
// by themselves, so that it never need be in registers: then it gets no say in layouts,
// and StageRings makes a ring of it. A store is marked in kernels with such loads:
// whatever layout its tile has, it goes out through shared memory in whole lines.
//
// Loads of products whose threads read shared memory are marked where they are in a loop. The
// engine copies them, too, where its swizzle leaves all of them without bank conflicts, the
// product is large, and the chip has products of warp groups (on others it has not been
// measured): then no thread computes addresses, and no block waits for all of its warps. The
// stores of such kernels are left to the threads. Else they are marked
// "cp_async": all threads copy, and the copies of later iterations run ahead; in the build
// that relies on nothing too, element by element, where elements have 4 bytes and no write
// comes before. A kernel has copies of one kind.
//
// What is gathered by index for products comes the same two ways, in runs of 16 bytes. The
// engine knows tiles only; but the warps that tell it what to copy can copy by themselves,
// where they can make the indices: from counters and from arrays that nobody writes.
//
// In the build that relies on words only ("aligned4"), warps that do nothing else copy for
// products of warp groups, in pieces of 4 to 16 bytes.
//
// Tiles from which threads compute an operand of a product of warp groups, in the loop
// around it, are copied, too, as they lie in the array: so they come ahead of time. Those for
// products of warps are copied by threads, on chips that have no products of warp groups.
//
// Small tiles that threads read in the loop of such copies, rows of statistics for one, come
// along: then no thread waits for them, nor keeps them in registers for long. A tile of the shape
// of what is stored behind the loop, from which threads compute that, follows (Residuals.cpp).
//
// The engine combines a tile with an array's elements, too: an atomic operation whose old
// values nobody wants, and whose indices name a tile of the array, goes out as a store does.
//
// The engine wants rows that begin at multiples of 16 bytes (the build's fact), and tiles that
// begin at one of the row (else an H200 stops with an illegal instruction), reads
// zeros outside of the array, and sees what this kernel wrote only after fences: a load
// with another pad, or of an array that the kernel writes, stays as it is. What it writes is
// there some time later, and its copies may write in any order: an array that the kernel reads
// afterwards, or that two stores write at the same places, is written by threads. So is what may
// begin before the array. A store that comes back to a place in a loop waits (StageStores).
//===----------------------------------------------------------------------===//
#include "AccessCost.h"
#include "AccessSlice.h"
#include "ComputedOperands.h"
#include "Copies.h"
#include "Dependence.h"
#include "IndexTiles.h"
#include "LayoutRules.h"
#include "Overwrites.h"
#include "Residuals.h"

#include "tilec/Analysis/IndexFacts.h"
#include "tilec/Layout/Conversion.h"
#include "tilec/Layout/TensorBox.h"
#include "tilec/Support/Target.h"
#include "tilec/Tile/Accesses.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/DebugSites.h"
#include "tilec/Tile/Remarks.h"
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

namespace {
/// Why a tile is not copied, in words; null: nothing is in the way.
using Obstacle = const char *;
} // namespace

/// What keeps the engine from moving `view` to or from `array`: it counts dims up to five,
/// and pieces of 16 bytes along the one that is contiguous.
static Obstacle engineObstacle(ArrayType array, const TileView &view) {
  auto tile = cast<RankedTensorType>(view.tile.getType());
  if (array.isStrided())
    return "the array is strided";
  if (array.getRank() < 2 || array.getRank() > 5 || tile.getRank() < 2)
    return "arrays of 2 to 5 dims are copied, by tiles of 2 dims or more";
  if (isOfSingles(array))
    return "its rows are single elements";
  if (tile.getElementType().isInteger(1))
    return "bool is not copied";
  auto contiguous = llvm::find(view.arrayDims, array.getRank() - 1);
  if (contiguous == view.arrayDims.end())
    return "the tile does not extend along the array's last dim";
  if (!view.contiguousDim(array.getRank()))
    return "as it is reshaped, none of its dims runs along the array's last";
  int64_t elements = view.shape[contiguous - view.arrayDims.begin()];
  return elements * tgpu::BufferType::storedBytes(tile.getElementType()) >= 16
             ? nullptr
             : "its rows are shorter than 16 bytes";
}

/// A known multiple of where a load or store begins along the array's last dim.
template <typename Op> static int64_t rowStart(const IndexFacts &facts, Op access) {
  for (unsigned dim = 0; dim < access.getIndex().size(); ++dim)
    if (access.getArrayDim(dim) == access.getArray().getType().getRank() - 1)
      return facts.startMultiple(access, dim);
  return 1;
}

/// The same of an atomic operation on a tile.
static int64_t rowStart(const IndexFacts &facts, const IndexedTile &indexed) {
  const IndexedTile::Start &start = indexed.starts.back();
  int64_t multiple = start.constant ? start.constant & -start.constant : int64_t(1) << 30;
  for (Value term : llvm::concat<const Value>(start.plus, start.minus))
    multiple = std::min(multiple, facts.multipleOf(term));
  return multiple;
}

/// Whether a tile that is written may begin before the array: there an H200 stops with an
/// illegal instruction (it reads such tiles).
static bool mayBeginBefore(const IndexFacts &facts, StoreOp store) {
  return llvm::any_of(store.getIndex(),
                      [&](Value index) { return facts.rangeOf(index, store).min < 0; });
}
static bool mayBeginBefore(const IndexFacts &facts, const IndexedTile &indexed, AtomicOp at) {
  return llvm::any_of(indexed.starts, [&](const IndexedTile::Start &start) {
    return start.constant < 0 || !start.minus.empty() ||
           llvm::any_of(start.plus,
                        [&](Value term) { return facts.rangeOf(term, at).min < 0; });
  });
}

/// The engine copies pieces of 16 bytes, of the array as of the chip's memory.
static Obstacle startObstacle(ArrayType array, int64_t multiple) {
  return multiple * tgpu::BufferType::storedBytes(array.getElementType()) % 16
             ? "it is not known to begin at a multiple of 16 bytes of a row"
             : nullptr;
}

/// All bits clear.
static bool isZero(TypedAttr value) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return integer.getValue().isZero();
  auto number = dyn_cast<FloatAttr>(value);
  return number && number.getValue().isPosZero();
}

/// Bytes up to which a tile that threads read comes along with those of products.
static constexpr int64_t smallTile = 4096;

/// Bytes up to which those from which threads compute operands come ahead: more leave no room
/// for anything else.
static constexpr int64_t mostForOperands = 96 * 1024;

/// Whether boxes of the array, as `view` has them, fill a buffer.
static Obstacle boxObstacle(const TileView &view, const Layout &buffer, ArrayType array) {
  int64_t bytes = tgpu::BufferType::storedBytes(array.getElementType());
  return planBoxes(buffer.reshape(view.shape), unsigned(bytes) * 8, view.arrayDims,
                   unsigned(array.getRank()))
             ? nullptr
             : "as it is reshaped, boxes of the array do not make up what the product reads";
}

/// What keeps a product from reading `use` from shared memory as it comes from the array:
/// by itself if `isAsync`, else by its threads.
/// `array`: of which it is boxes; null: it is gathered.
static Obstacle useObstacle(OpOperand &use, const TileView &view, int64_t rank, ArrayType array,
                            unsigned numWarps, bool isAsync) {
  unsigned contiguousDim = *view.contiguousDim(rank);
  auto mma = dyn_cast<MmaOp>(use.getOwner());
  if (!mma)
    return "not only products use it";
  if (use.get() == mma.getAcc())
    return "a product adds to it";
  bool isA = use.getOperandNumber() == 0;
  MmaProblem problem = getMmaProblem(mma, numWarps);
  const Atom *atom = getAtom(mma, problem);
  if (atom->isAsync != isAsync)
    return isAsync ? "threads read it for the product" : "the product reads it by itself";
  if ((isA ? atom->aHome : atom->bHome) != OperandHome::Shared)
    return "the product takes it from registers";
  auto fixed = isA ? atom->aBuffer : atom->bBuffer;
  if (!fixed)
    return nullptr;
  auto type = cast<RankedTensorType>(use.get().getType());
  unsigned k = dimK(unsigned(type.getRank()), isA ? Operand::A : Operand::B);
  Layout buffer = fixed(problem, contiguousDim == k);
  // Some operands have to lie along K: is that how they come?
  if (buffer.unflatten(buffer.basis(Input::Offset, 0))[contiguousDim] != 1)
    return "the product wants it along K, and the array has it along the other dim";
  return view.isPlain() || !array ? nullptr : boxObstacle(view, buffer, array);
}

/// What keeps the products that take `view`, of an array or numbering of `rank` dims, from
/// reading it as it is copied.
static Obstacle usesObstacle(const TileView &view, int64_t rank, ArrayType array,
                             unsigned numWarps, bool isAsync) {
  for (OpOperand &use : view.tile.getUses())
    if (!isa<PermuteOp, ReshapeOp>(use.getOwner()))
      if (Obstacle obstacle = useObstacle(use, view, rank, array, numWarps, isAsync))
        return obstacle;
  return nullptr;
}

/// What keeps a load from being for products only, which take it as it is copied.
static Obstacle productsObstacle(LoadOp load, unsigned numWarps, bool isAsync) {
  if (isWritten(load.getArray()))
    return "the kernel writes the array";
  if (!isZero(load.getPadValue()))
    return "copies pad with zeros only";
  ArrayType array = load.getArray().getType();
  Obstacle hidden = nullptr;
  std::vector<TileView> views = viewsOf(load, &hidden);
  if (views.empty())
    return hidden;
  for (const TileView &view : views) {
    if (Obstacle obstacle = engineObstacle(array, view))
      return obstacle;
    if (Obstacle obstacle = usesObstacle(view, array.getRank(), array, numWarps, isAsync))
      return obstacle;
  }
  return nullptr;
}

/// The same, and what keeps the engine from taking it where it is.
static Obstacle loadObstacle(const IndexFacts &facts, LoadOp load, unsigned numWarps,
                             bool isAsync) {
  if (isAsync)
    if (Obstacle obstacle = startObstacle(load.getArray().getType(), rowStart(facts, load)))
      return obstacle;
  return productsObstacle(load, numWarps, isAsync);
}

/// Whether rows of a load begin at words, and none in front of those of the array.
static bool beginsAtWords(const IndexFacts &facts, LoadOp load) {
  int64_t bytes = tgpu::BufferType::storedBytes(load.getArray().getType().getElementType());
  if (rowStart(facts, load) * bytes % 4)
    return false;
  for (auto [dim, index] : llvm::enumerate(load.getIndex()))
    if (load.getArrayDim(unsigned(dim)) == load.getArray().getType().getRank() - 1)
      return facts.rangeOf(index, load).min >= 0;
  return false;
}

/// More indices than a thread that copies can hold.
static constexpr int64_t mostIndices = 128 * 32 * copyingWarps;

/// What keeps threads from copying what is gathered, whoever reads it.
static Obstacle gatherObstacle(GatherOp gather) {
  auto type = cast<RankedTensorType>(gather.getType());
  if (isWritten(gather.getArray()))
    return "the kernel writes the array";
  if (isOfSingles(gather.getArray().getType()))
    return "its rows are single elements";
  if (!isZero(gather.getPadValue()))
    return "copies pad with zeros only";
  if (type.getElementType().isInteger(1))
    return "bool is not copied";
  if (gather.getRunLength() * tgpu::BufferType::storedBytes(type.getElementType()) < 16)
    return "it is not known to come in runs of 16 bytes";
  if (!gather->getParentOfType<LoopLikeOpInterface>())
    return "it is in no loop";
  if (type.getNumElements() > mostIndices)
    return "it has too many indices";
  SmallVector<Value> tiles(gather.getIndex());
  if (gather.getMask())
    tiles.push_back(gather.getMask());
  if (!llvm::all_of(tiles, [](Value tile) { return canRemake(tile); }))
    return "where it gathers from is not computed by each thread for itself";
  Obstacle hidden = nullptr;
  for (const TileView &view : viewsOf(gather, &hidden))
    if (!view.contiguousDim(rankOfViews(gather)))
      return "as it is reshaped, none of its dims runs along the array's last";
  return hidden;
}

static Obstacle gatherObstacle(GatherOp gather, unsigned numWarps, bool isAsync) {
  for (const TileView &view : viewsOf(gather))
    if (Obstacle obstacle =
            usesObstacle(view, rankOfViews(gather), ArrayType(), numWarps, isAsync))
      return obstacle;
  return nullptr;
}

/// Whether `load`, which no product takes, brings a tile from a place that scalars tell: one
/// from which threads compute an operand, or a small one in the loop of copies that may come
/// along with what they bring.
static bool canComeAlong(const IndexFacts &facts, LoadOp load, bool isForOperand) {
  auto isOfTiles = [](Operation *op) {
    return isa<GatherOp, AtomicOp>(op) ||
           (op->getNumRegions() == 0 && llvm::any_of(op->getOperandTypes(), [](Type operand) {
              return isa<RankedTensorType>(operand);
            }));
  };
  bool isBesideCopies = llvm::any_of(load->getBlock()->getOps<LoadOp>(), isCopiedByEngine);
  return !isForProducts(load) && load->getParentOfType<LoopLikeOpInterface>() &&
         (isForOperand || (isBesideCopies && bytesOfTile(load.getType()) <= smallTile)) &&
         !isWritten(load.getArray()) && isZero(load.getPadValue()) &&
         !engineObstacle(load.getArray().getType(), wholeView(load)) &&
         !startObstacle(load.getArray().getType(), rowStart(facts, load)) &&
         !dependsOn(load.getIndex(), isOfTiles);
}

/// Elements of 4 bytes and more have asynchronous copies of their own, wherever they lie.
static bool hasWords(LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getResult().getType());
  return type && tgpu::BufferType::storedBytes(type.getElementType()) >= 4;
}

/// In a build in which arrays may overlap: some write may come before a copy of `load`.
static bool mayBeOverwritten(KernelOp kernel, LoadOp load) {
  if (!kernel.getArraysOverlap())
    return false;
  Block &body = kernel.getBody().front();
  Operation *outer = body.findAncestorOpInBlock(*load);
  return containsWhere(kernel, [&](Operation *op) {
    return writesArray(op) && !outer->isBeforeInBlock(body.findAncestorOpInBlock(*op));
  });
}

/// Elements of a sum from which on it pays to have warps that only copy.
static constexpr int64_t largeSum = 128 * 64;

/// The product that reads `view` is large, and its threads have no bank conflicts in what
/// the engine writes.
static bool suitsEngine(const TileView &view, int64_t arrayRank, tile::MmaOp mma,
                        unsigned numWarps) {
  if (mma.getType().getNumElements() < largeSum)
    return false;
  MmaProblem problem = getMmaProblem(mma, numWarps);
  const Atom *atom = getAtom(mma, problem);
  Operand which = mma.getA() == view.tile ? Operand::A : Operand::B;
  auto type = cast<RankedTensorType>(view.tile.getType());
  bool alongK = view.contiguousDim(arrayRank) == dimK(unsigned(type.getRank()), which);
  OperandRead read = atom->readOperand(problem, atom->accLayout(problem), which, alongK);
  unsigned bits = 8 * unsigned(tgpu::BufferType::storedBytes(type.getElementType()));
  return countBankConflicts(read.layout, engineBuffer(view), bits) == 1;
}

static bool suitsEngine(Operation *load, unsigned numWarps) {
  return llvm::all_of(viewsOf(load), [&](const TileView &view) {
    return llvm::all_of(view.tile.getUsers(), [&](Operation *user) {
      auto mma = dyn_cast<MmaOp>(user);
      return !mma || suitsEngine(view, rankOfViews(load), mma, numWarps);
    });
  });
}

/// Rows of the tile must be rows of the array.
static Obstacle rowObstacle(ArrayType array, const TileView &view) {
  if (Obstacle obstacle = engineObstacle(array, view))
    return obstacle;
  int64_t last = cast<RankedTensorType>(view.tile.getType()).getRank() - 1;
  return view.contiguousDim(array.getRank()) == last
             ? nullptr
             : "rows of the tile are not rows of the array";
}

/// Nobody wants the old values, and nothing is ordered.
static bool isSilent(AtomicOp atomic) {
  return atomic.getKind() <= AtomicKind::Xor && atomic.getOrder() == MemoryOrder::Relaxed &&
         atomic.getResult().use_empty();
}

/// The engine reduces integers of 32 bits in every way, and adds floats.
static bool canReduce(AtomicOp atomic) {
  Type element = atomic.getArray().getType().getElementType();
  return element.isInteger(32) || (atomic.getKind() == AtomicKind::Add &&
                                   (element.isF32() || element.isF16() || element.isBF16()));
}

/// What the engine does to an array is complete some time later: nothing of the kernel may
/// look at it, nor tell others that it is done. `mayStay`: other accesses that do not mind.
static Obstacle orderObstacle(KernelOp kernel, Value array,
                              llvm::function_ref<bool(Operation *)> mayStay) {
  Obstacle found = nullptr;
  kernel.walk([&](AtomicOp atomic) {
    if (atomic.getOrder() != MemoryOrder::Relaxed)
      found = "an atomic operation of the kernel orders what is before it";
  });
  for (Operation *user : array.getUsers())
    if (!isMemoryEffectFree(user) && !mayStay(user))
      found = "the kernel accesses the array in another way, too";
  return found;
}

/// Whether `load` is done with the array when `store` begins, and does not come again.
static bool isEarlier(Operation *load, StoreOp store) {
  Block &body = load->getParentOfType<KernelOp>().getBody().front();
  Operation *before = body.findAncestorOpInBlock(*load);
  Operation *after = body.findAncestorOpInBlock(*store);
  if (before != after)
    return before->isBeforeInBlock(after);
  auto isInLoop = [&](Operation *op) { return bool(op->getParentOfType<LoopLikeOpInterface>()); };
  return load->getBlock() == store->getBlock() && !isInLoop(store) &&
         load->isBeforeInBlock(store);
}

static Obstacle storeObstacle(KernelOp kernel, const IndexFacts &facts, StoreOp store) {
  Obstacle obstacle = rowObstacle(store.getArray().getType(), storedView(store));
  if (!obstacle)
    obstacle = startObstacle(store.getArray().getType(), rowStart(facts, store));
  if (!obstacle && mayBeginBefore(facts, store))
    obstacle = "it may begin before the array";
  return obstacle ? obstacle : orderObstacle(kernel, store.getArray(), [&](Operation *user) {
    if (auto other = dyn_cast<StoreOp>(user))
      return isTile(other.getValue()) && (other == store || !mayWriteSame(store, other));
    return isa<LoadOp, GatherOp>(user) && isEarlier(user, store);
  });
}

/// Marks `load` if it may come part by part for what is stored behind products of warp groups.
static bool markResidual(KernelOp kernel, const IndexFacts &facts, const Chip &target,
                         LoadOp load) {
  if (!target.has(ChipFeature::WarpGroupMma) || isWritten(load.getArray()) ||
      !isZero(load.getPadValue()) || load.getOrder() ||
      rowObstacle(load.getArray().getType(), wholeView(load)) ||
      startObstacle(load.getArray().getType(), rowStart(facts, load)))
    return false;
  StoreOp store = storeOfResidual(load);
  if (!store || storeObstacle(kernel, facts, store))
    return false;
  load->setAttr(residualAttrName, UnitAttr::get(load.getContext()));
  return true;
}

static Obstacle atomicObstacle(KernelOp kernel, const IndexFacts &facts, AtomicOp atomic) {
  if (!isSilent(atomic))
    return "old values or an order are wanted";
  if (atomic.getMask())
    return "it has a mask";
  if (atomic.getScope() == MemoryScope::System)
    return "other devices are to see it";
  if (!canReduce(atomic))
    return "the engine does not combine such elements so";
  std::optional<IndexedTile> indexed = indexedTile(atomic);
  if (!indexed)
    return "its indices do not name a tile of the array";
  Obstacle obstacle = rowObstacle(atomic.getArray().getType(), indexed->view);
  if (!obstacle)
    obstacle = startObstacle(atomic.getArray().getType(), rowStart(facts, *indexed));
  if (!obstacle && mayBeginBefore(facts, *indexed, atomic))
    obstacle = "it may begin before the array";
  if (obstacle)
    return obstacle;
  if (kernel.getArraysOverlap())
    return "arrays may overlap";
  return orderObstacle(kernel, atomic.getArray(), [&](Operation *user) {
    auto other = dyn_cast<AtomicOp>(user);
    return other && isSilent(other) && other.getKind() == atomic.getKind();
  });
}

/// What keeps all copies of a kernel from being asynchronous.
static Obstacle kernelObstacle(KernelOp kernel, const Chip *target) {
  if (!contains<MmaOp>(kernel))
    return "no product reads them from shared memory";
  if (!target)
    return "the chip is not known";
  bool hasCandidates =
      relies(kernel, BuildFact::Aligned16) || relies(kernel, BuildFact::Aligned4);
  kernel.walk([&](LoadOp load) { hasCandidates |= hasWords(load); });
  if (!hasCandidates)
    return "nothing is known of how arrays are aligned";
  // Prints and assertions bring all of the block's threads together; copies lead to
  // warps that go their own way.
  return hasSites(kernel) ? "it prints or asserts" : nullptr;
}

namespace {

/// Decides who brings the tiles of one kernel, and who takes its results out: kind by kind of
/// operation, as some are brought only where others are.
class CopySelection {
public:
  CopySelection(KernelOp kernel, const Chip *target)
      : kernel(kernel), target(target), numWarps(kernel.getNumWarps().value_or(4)),
        facts(kernel), isAligned(relies(kernel, BuildFact::Aligned16)),
        engine(StringAttr::get(kernel.getContext(), "tma")),
        threads(StringAttr::get(kernel.getContext(), "cp_async")) {}

  void run() {
    areByWarps = relies(kernel, BuildFact::Aligned4) && markForWarps(kernel, facts, target, numWarps);
    kernel.walk([&](LoadOp load) {
      if (isTile(load.getResult()) && !isCopied(load))
        selectLoad(load);
    });
    Gathers gathers = chooseGathers(kernel, target, numWarps, isAligned);
    usesEngine |= markGathers(kernel, gathers.forEngine);
    selectRead();
    selectForThreadProducts(gathers.forThreads);
    kernel.walk([&](StoreOp store) {
      if (isTile(store.getValue()))
        selectStore(store);
    });
    kernel.walk([&](AtomicOp atomic) {
      if (isTile(atomic.getIndex().front()) && atomic.getKind() <= AtomicKind::Xor)
        selectAtomic(atomic);
    });
  }

private:
  /// The engine brings what products of warp groups take; all else is for later.
  void selectLoad(LoadOp load) {
    Obstacle byEngine = !target->has(ChipFeature::BulkCopy) ? "the chip has no copy engine"
                        : !isAligned ? "nothing is known of how arrays are aligned"
                                     : loadObstacle(facts, load, numWarps, /*isAsync=*/true);
    Obstacle byThreads = threadObstacle(load, target, isAligned);
    if (!byThreads)
      byThreads = loadObstacle(facts, load, numWarps, /*isAsync=*/false);
    if (byEngine && !byThreads)
      return forThreads.push_back({load, byEngine});
    if (byEngine)
      return others.push_back({load, byEngine, byThreads});
    load->setAttr(copyAttrName, engine);
    usesEngine = true;
    explain(load, byEngine, byThreads);
  }

  /// What threads read from shared memory: beside what the engine brings, or to compute operands
  /// from it.
  void selectRead() {
    llvm::SetVector<Operation *> forOperands = loadsBehindProducts(kernel, /*isAsync=*/true);
    bool hasEngine = isAligned && target->has(ChipFeature::BulkCopy) &&
                     bytesOf(forOperands.getArrayRef()) <= mostForOperands;
    SmallVector<LoadOp> byThreads, alongside;
    if (isAligned && !usesEngine && !target->has(ChipFeature::WarpGroupMma))
      byThreads = chooseForOperands(kernel, facts, *target, forThreads);
    for (auto [load, byEngine, obstacle] : others) {
      bool isForOperand = hasEngine && forOperands.contains(load);
      if (((usesEngine || isForOperand) && canComeAlong(facts, load, isForOperand)) ||
          (usesEngine && markResidual(kernel, facts, *target, load)))
        alongside.push_back(load);
      else if (!llvm::is_contained(byThreads, load))
        explain(load, byEngine, obstacle);
    }
    usesEngine |= !alongside.empty();
    for (LoadOp load : alongside)
      markForThreads(load, engine);
    if (!usesEngine)
      for (LoadOp load : byThreads)
        markForThreads(load, threads);
  }

  /// What products take whose threads read shared memory: threads copy it, or the engine where
  /// that can bring all.
  void selectForThreadProducts(ArrayRef<GatherOp> gathers) {
    SmallVector<Operation *> all(gathers.begin(), gathers.end());
    for (auto [load, byEngine] : forThreads)
      all.push_back(load);
    // Threads copy words from anywhere, the engine does not.
    auto canEngine = [&](Operation *op) {
      auto load = dyn_cast<LoadOp>(op);
      return suitsEngine(op, numWarps) &&
             (!load || !startObstacle(load.getArray().getType(), rowStart(facts, load)));
    };
    bool suits = isAligned && target->has(ChipFeature::WarpGroupMma) && numWarps % 4 == 0 &&
                 llvm::all_of(all, canEngine) &&
                 (gathers.empty() || canCopyAlone(kernel, all));
    isForThreadProducts = suits && !all.empty();
    Obstacle mixed = suits        ? nullptr
                     : usesEngine ? "the engine brings others"
                     : areByWarps ? "warps that only copy bring others"
                                  : nullptr;
    if (!mixed)
      for (Operation *op : all)
        op->setAttr(copyAttrName, suits ? engine : threads);
    for (auto [load, byEngine] : forThreads)
      explain(load, suits ? nullptr : byEngine, mixed);
    for (GatherOp gather : gathers)
      explain(gather, mixed, suits);
  }

  void selectStore(StoreOp store) {
    Obstacle byEngine = usesEngine            ? storeObstacle(kernel, facts, store)
                        : isForThreadProducts ? "the product is one of threads"
                                              : "the engine brings none of the kernel's tiles";
    if (!byEngine)
      store->setAttr(copyAttrName, engine);
    if (!byEngine && mayWriteAgain(store))
      store->setAttr(writesAgainAttrName, UnitAttr::get(kernel.getContext()));
    explain(store, byEngine);
  }

  void selectAtomic(AtomicOp atomic) {
    Obstacle byEngine = usesEngine ? atomicObstacle(kernel, facts, atomic)
                                   : "the engine brings none of the kernel's tiles";
    if (!byEngine)
      atomic->setAttr(copyAttrName, engine);
    explain(atomic, byEngine);
  }

  /// Loads from which threads compute operands of products of warps, if there is room for two
  /// places of them and of `others`, which all threads copy.
  static SmallVector<LoadOp> chooseForOperands(KernelOp kernel, const IndexFacts &facts,
                                               const Chip &target,
                                               ArrayRef<std::pair<LoadOp, Obstacle>> others) {
    SmallVector<LoadOp> chosen;
    SmallVector<Operation *> all;
    if (!target.has(ChipFeature::AsyncCopy))
      return chosen;
    for (auto [load, obstacle] : others)
      all.push_back(load);
    for (Operation *op : loadsBehindProducts(kernel, /*isAsync=*/false))
      if (auto load = cast<LoadOp>(op); canComeAlong(facts, load, /*isForOperand=*/true)) {
        chosen.push_back(load);
        all.push_back(load);
      }
    if (2 * bytesOf(all) > int64_t(target.sharedPerBlock))
      chosen.clear();
    return chosen;
  }

  /// The copier brings what threads read.
  static void markForThreads(LoadOp load, StringAttr copier) {
    load->setAttr(copyAttrName, copier);
    remarkChoice(load, "select-copies", "{0} {1} of {2} to shared memory, where threads read it",
                 isCopiedByEngine(load) ? "the copy engine brings" : "threads copy",
                 spell(load.getType()), spellArray(load.getArray()));
  }

  /// Gathers that may be copied: for products that read shared memory by themselves, and for
  /// those whose threads do.
  struct Gathers {
    SmallVector<GatherOp> forEngine, forThreads;
  };

  static Gathers chooseGathers(KernelOp kernel, const Chip *target, unsigned numWarps,
                               bool isAligned) {
    Gathers result;
    kernel.walk([&](GatherOp gather) {
      if (!isTile(gather.getResult()) || !isForProducts(gather))
        return;
      Obstacle any = !isAligned ? "nothing is known of how arrays are aligned"
                     : !target->has(ChipFeature::AsyncCopy) ? "the chip has none"
                                                            : gatherObstacle(gather);
      Obstacle byEngine = any ? any : gatherObstacle(gather, numWarps, /*isAsync=*/true);
      if (!byEngine && (!target->has(ChipFeature::WarpGroupMma) || copyingWarpsObstacle(numWarps)))
        byEngine = "the chip has no warps that only copy";
      Obstacle byThreads = any ? any : gatherObstacle(gather, numWarps, /*isAsync=*/false);
      if (!byEngine)
        result.forEngine.push_back(gather);
      else if (!byThreads)
        result.forThreads.push_back(gather);
      else
        explain(gather, byEngine, false);
    });
    return result;
  }

  /// Whether warps that do nothing else can do all copies, those in `more` among them.
  static bool canCopyAlone(KernelOp kernel, ArrayRef<Operation *> more) {
    SmallVector<Operation *> roots(more);
    kernel.walk([&](Operation *op) {
      if (isa<LoadOp, GatherOp>(op) && isCopied(op))
        roots.push_back(op);
    });
    return !AccessSlice(roots).getObstacle();
  }

  /// Marks gathers for products that read shared memory by themselves, if that can be.
  static bool markGathers(KernelOp kernel, ArrayRef<GatherOp> gathers) {
    SmallVector<Operation *> ops(gathers.begin(), gathers.end());
    if (ops.empty())
      return false;
    bool isGood = canCopyAlone(kernel, ops);
    for (GatherOp gather : gathers) {
      if (isGood)
        gather->setAttr(copyAttrName, StringAttr::get(kernel.getContext(), "tma"));
      explain(gather,
              isGood ? nullptr : "what the kernel copies depends on more than copying threads know",
              true);
    }
    return isGood;
  }

  static void explain(GatherOp gather, Obstacle obstacle, bool byWarps) {
    std::string type = spell(gather.getType()), array = spellArray(gather.getArray());
    if (obstacle)
      remarkMissed(gather, "select-copies", "{0} gathered from {1} goes through registers: {2}",
                   type, array, obstacle);
    else
      remarkChoice(gather, "select-copies", "{2} gather {0} of {1} into shared memory", type,
                   array, byWarps ? "warps that only copy" : "threads, asynchronously,");
  }

  /// Marks loads for products of warp groups where arrays are aligned to words: warps that only
  /// copy bring them, if they can bring them all.
  static bool markForWarps(KernelOp kernel, const IndexFacts &facts, const Chip *target,
                           unsigned numWarps) {
    if (!target->has(ChipFeature::WarpGroupMma) || !target->has(ChipFeature::RegisterSplit) ||
        copyingWarpsObstacle(numWarps))
      return false;
    SmallVector<Operation *> loads;
    kernel.walk([&](LoadOp load) {
      if (isTile(load.getResult()) && !productsObstacle(load, numWarps, /*isAsync=*/true) &&
          beginsAtWords(facts, load))
        loads.push_back(load);
    });
    bool isInLoop = llvm::any_of(loads, [](Operation *load) {
      return bool(load->getParentOfType<LoopLikeOpInterface>());
    });
    if (!isInLoop || !canCopyAlone(kernel, loads))
      return false;
    for (Operation *op : loads) {
      auto load = cast<LoadOp>(op);
      load->setAttr(copyAttrName, StringAttr::get(kernel.getContext(), "warps"));
      remarkChoice(load, "select-copies", "warps that only copy bring {0} of {1} to shared memory, "
                   "in pieces as the launch allows",
                   spell(load.getType()), spellArray(load.getArray()));
    }
    return true;
  }

  /// What keeps threads from copying, whatever the load is used for.
  static Obstacle threadObstacle(LoadOp load, const Chip *target, bool isAligned) {
    if (!target->has(ChipFeature::AsyncCopy))
      return "the chip has none";
    if (!load->getParentOfType<LoopLikeOpInterface>())
      return "it is in no loop";
    if (!isAligned && !hasWords(load))
      return "elements of less than 4 bytes have to be aligned";
    if (!isAligned && mayBeOverwritten(load->getParentOfType<KernelOp>(), load))
      return "what is stored before may be what it loads";
    return nullptr;
  }

  static void explain(LoadOp load, Obstacle byEngine, Obstacle byThreads) {
    std::string array = spellArray(load.getArray());
    if (!byEngine)
      remarkChoice(load, "select-copies", "the copy engine brings {0} of {1} to shared memory",
                   spell(load.getType()), array);
    else if (!byThreads)
      remarkChoice(load, "select-copies",
                   "threads copy {0} of {1} to shared memory, and not the engine: {2}",
                   spell(load.getType()), array, byEngine);
    else
      remarkMissed(load, "select-copies", "{0} of {1} goes through registers: {2}{3}{4}",
                   spell(load.getType()), array, byEngine,
                   StringRef(byEngine) == byThreads ? "" : ", and ",
                   StringRef(byEngine) == byThreads ? "" : byThreads);
  }

  static void explain(AtomicOp atomic, Obstacle byEngine) {
    StringRef kind = stringifyAtomicKind(atomic.getKind());
    std::string type = spell(atomic.getValue().getType());
    std::string array = spellArray(atomic.getArray());
    if (!byEngine)
      remarkChoice(atomic, "select-copies",
                   "the copy engine takes {0} to {1}, each element by atomic {2}", type, array,
                   kind);
    else
      remarkMissed(atomic, "select-copies", "threads do the atomic {2} of {0} to {1}: {3}",
                   type, array, kind, byEngine);
  }

  static void explain(StoreOp store, Obstacle byEngine) {
    std::string type = spell(store.getValue().getType()), array = spellArray(store.getArray());
    if (!byEngine)
      remarkChoice(store, "select-copies", "the copy engine takes {0} to {1}", type, array);
    else
      remarkMissed(store, "select-copies", "threads store {0} to {1}: {2}", type, array,
                   byEngine);
  }

  KernelOp kernel;
  const Chip *target;
  const unsigned numWarps;
  const IndexFacts facts;
  const bool isAligned;
  StringAttr engine, threads; ///< who copies
  SmallVector<std::pair<LoadOp, Obstacle>> forThreads; ///< of products whose threads read
  SmallVector<std::tuple<LoadOp, Obstacle, Obstacle>> others;
  bool areByWarps = false, usesEngine = false, isForThreadProducts = false;
};

struct SelectCopies : tilec::impl::SelectCopiesBase<SelectCopies> {
  using SelectCopiesBase::SelectCopiesBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const Chip *target = findChip(chip);
    if (Obstacle obstacle = kernelObstacle(kernel, target))
      return remarkMissed(kernel, "select-copies", "tiles go through registers: {0}", obstacle);
    CopySelection(kernel, target).run();
  }
};

} // namespace
