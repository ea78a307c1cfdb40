//===- StageStores.cpp - tiles leave through the copy engine ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: marked stores. Out: copies out of shared memory, part by part through two buffers:
//
//   tile.store %c[%m, %n], %o {mark} : …, tensor<128x256xbf16, #acc>
//     →
//   %A = tgpu.alloc : !tgpu.buffer<128x64xbf16, #swizzled>      and %B
//   tgpu.copy_out_wait pending 1                        for each quarter, to %A and %B
//   %p = tile.extract %o[0, 0] : … -> tensor<128x64xbf16, #quarter>    by turns:
//   tgpu.store %p, %A
//   tgpu.copy_out %A, %c[%m, %n']                       %n' = 4 * %n + part
//
// A part is a piece that every thread has in registers of its own, so that cutting costs
// nothing; buffers are as large as `maxBytes` allows, and stores of one block share theirs.
// Where they allow one buffer only, each part waits until the one before it has been read. A tile of
// which warps hold the halves, and which is too large as a whole, threads store as it lies.
//
// What is computed elementwise for the store alone, as a bias and an activation behind a
// product, is computed part by part, too: all of it at once would not fit into registers,
// and each part is computed while the one before it is copied.
//
// Marked atomic operations go the same way, as copies that reduce; their indices, which name
// a tile of the array (Copies.h), are no longer needed then.
//
// Where lanes would meet in a bank, as those of products that sum in 32 bits do in the engine's
// swizzle, some of them write their registers in another order: that moves nothing between lanes.
//
// Where the parts of warp groups lie apart, each group waits, stores and copies by itself:
// then the products of one run beside the stores of another.
//
// Residuals, tiles that only this is computed from, come in pieces of some parts (Residuals.cpp). All
// blocks of a cluster take them, so of a store that some leave out only the copy is left out.
//
// Copies write in any order. A store that may come back to an element in a loop waits until all
// before it are complete, and there groups wait for each other.
//
//===------------------------------------------------------------------------===//
#include "AccessCost.h"
#include "Copies.h"
#include "LayoutRules.h"
#include "PartIndex.h"
#include "Residuals.h"
#include "Staging.h"

#include "tilec/Layout/Conversion.h"
#include "tilec/Layout/Layout.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/Tile/TileLayout.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_STAGESTORES
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// The last dim is dense in the array.
static Layout stagingBuffer(RankedTensorType type) {
  auto dims = llvm::seq<unsigned>(0, unsigned(type.getRank()));
  return engineBuffer(type, llvm::to_vector(llvm::reverse(dims)));
}

namespace {

/// A tile as parts that are all alike.
struct Parts {
  RankedTensorType type;
  SmallVector<int64_t> counts; ///< along each dim
  int64_t number = 1;
};

} // namespace

/// Rows shorter than this do not fill the engine's swizzle.
static constexpr int64_t rowBytes = 128;

/// A part that cannot be cut to this leaves too little shared memory for anything else.
static constexpr int64_t largestPart = 96 * 1024;

/// Parts of at most `maxBytes`, cut along the last dim first; larger where threads do not
/// have them in registers of their own.
static Parts chooseParts(RankedTensorType type, int64_t maxBytes) {
  int64_t bytes = tgpu::BufferType::storedBytes(type.getElementType());
  Layout layout = tile::getLayout(type);
  Parts parts{type, SmallVector<int64_t>(type.getRank(), 1), 1};
  for (unsigned dim = unsigned(type.getRank()); dim-- > 0;) {
    bool isLast = dim + 1 == unsigned(type.getRank());
    while (layout.numElements() * bytes > maxBytes &&
           layout.shape()[dim] * (isLast ? bytes : rowBytes) > rowBytes) {
      std::optional<Layout> half = layout.halve(dim);
      if (!half)
        break;
      layout = *half;
      parts.counts[dim] *= 2;
      parts.number *= 2;
    }
  }
  auto part = RankedTensorType::get(layout.shape(), type.getElementType());
  parts.type = tile::withLayout(part, layout);
  return parts;
}

/// Where warp groups have parts of their own that lie apart, in rows of the buffer that no
/// other has a part of: for each bit of a group's number the first element of the part of
/// the group that has only that bit.
static DenseI64ArrayAttr findGroups(Builder &builder, RankedTensorType type) {
  Layout layout = tile::getLayout(type);
  int64_t bytes = tgpu::BufferType::storedBytes(type.getElementType());
  constexpr unsigned bitsInGroup = 2;
  if (layout.numBits(Input::Warp) <= bitsInGroup)
    return {};
  uint64_t all = 0, others = 0;
  SmallVector<int64_t> groups;
  for (auto [bit, basis] : llvm::enumerate(layout.bases(Input::Warp))) {
    if (bit < bitsInGroup) {
      others |= basis;
      continue;
    }
    int64_t column = layout.unflatten(basis).back();
    if (!llvm::isPowerOf2_64(basis) || (all & basis) || (column && column * bytes < rowBytes))
      return {};
    all |= basis;
    groups.push_back(int64_t(basis));
  }
  for (Input input : {Input::Register, Input::Lane})
    for (uint64_t basis : layout.bases(input))
      others |= basis;
  return all & others ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(groups);
}

/// `layout` with the lanes that have bit `lane` set one basis of a register further.
static Layout exchangedInLane(const Layout &layout, unsigned lane, uint64_t basis) {
  Layout result(layout.shape());
  for (Input input : {Input::Register, Input::Lane, Input::Warp})
    for (auto [bit, own] : llvm::enumerate(layout.bases(input)))
      result.addFlat(input, input == Input::Lane && bit == lane ? own ^ basis : own);
  return result;
}

/// `tile` so that its threads write it to `buffer` without bank conflicts, if that takes no
/// more than another order of registers in some lanes: rows of the buffer are rotated by what
/// lanes differ in, too, and lanes that would meet then write another part first.
static Value avoidConflicts(OpBuilder &builder, Location loc, Value tile, const Layout &buffer) {
  auto type = cast<RankedTensorType>(tile.getType());
  unsigned bits = 8 * unsigned(tgpu::BufferType::storedBytes(type.getElementType()));
  Layout best = tile::getLayout(type);
  unsigned conflicts = countBankConflicts(best, buffer, bits);
  unsigned width = planSharedAccess(best, buffer, bits).vector;
  for (bool isBetter = conflicts > 1; isBetter;) {
    isBetter = false;
    Layout from = best;
    for (unsigned lane = 0; lane < from.numBits(Input::Lane); ++lane)
      for (uint64_t basis : from.bases(Input::Register)) {
        Layout other = exchangedInLane(from, lane, basis);
        unsigned count = countBankConflicts(other, buffer, bits);
        if (count >= conflicts || planSharedAccess(other, buffer, bits).vector < width)
          continue;
        best = other;
        conflicts = count;
        isBetter = true;
      }
  }
  return convertTo(builder, loc, tile, best);
}

/// What is computed elementwise for `tile` and nothing else, last first.
static llvm::SetVector<Operation *> findPrivateWork(Value tile) {
  llvm::SetVector<Operation *> work;
  Operation *last = tile.getDefiningOp();
  if (!last || !tile.hasOneUse())
    return work;
  for (Operation *op = last; op; op = op->getPrevNode()) {
    bool isWork = op->getNumResults() == 1 && op->getNumRegions() == 0 &&
                  isa<RankedTensorType>(op->getResult(0).getType()) &&
                  (isElementwise(op) || isa<tile::BroadcastOp, tile::SplatOp>(op));
    bool isPrivate = llvm::all_of(op->getUsers(), [&](Operation *user) {
      return work.contains(user);
    });
    if (isWork && (op == last || (isPrivate && !op->use_empty())))
      work.insert(op);
    else if (op == last)
      break;
  }
  return work;
}

namespace {

/// The buffers of earlier stores of a block. Copies are read in order, and each store goes
/// through all of its buffers equally often by turns, so the next store may go on with them,
/// if warp groups have the same parts.
class StagingBuffers {
public:
  SmallVector<Value, 2> get(OpBuilder &builder, Location loc, tgpu::BufferType type,
                            size_t number, DenseI64ArrayAttr groups) {
    for (const Entry &entry : entries)
      if (entry.block == builder.getBlock() && entry.groups == groups &&
          entry.buffers.size() == number && entry.buffers.front().getType() == type)
        return entry.buffers;
    Entry entry{builder.getBlock(), groups, {}};
    for (size_t i = 0; i < number; ++i)
      entry.buffers.push_back(tgpu::AllocOp::create(builder, loc, type, IntegerAttr()));
    entries.push_back(entry);
    return entry.buffers;
  }

private:
  struct Entry {
    Block *block;
    DenseI64ArrayAttr groups;
    SmallVector<Value, 2> buffers;
  };
  SmallVector<Entry> entries;
};

/// Makes the copies of one store or atomic operation.
class StoreWriter {
public:
  StoreWriter(tile::StoreOp store, StagingBuffers &staging, int64_t maxBytes)
      : op(store), builder(store), loc(store.getLoc()), view(storedView(store)),
        array(store.getArray()), start(indexByArrayDim(store)), elements(store.getElements()),
        writesAgain(store->hasAttr(writesAgainAttrName)) {
    work = findPrivateWork(view.tile);
    if (llvm::any_of(work, hasResidual))
      leaveBranch();
    chooseBuffers(staging, maxBytes);
  }

  StoreWriter(tile::AtomicOp atomic, const IndexedTile &indexed, StagingBuffers &staging,
              int64_t maxBytes)
      : op(atomic), builder(atomic), loc(atomic.getLoc()), view(indexed.view),
        array(atomic.getArray()), elements(true), reduce(atomic.getKindAttr()) {
    for (const IndexedTile::Start &place : indexed.starts)
      start.push_back(sumOf(place));
    work = findPrivateWork(view.tile);
    chooseBuffers(staging, maxBytes);
  }

  void run() {
    if ((parts.number == 1 && llvm::none_of(work, hasResidual)) ||
        !llvm::all_of(work, [&](Operation *op) { return canCut(op); }))
      work.clear();
    for (int64_t part = 0; part < parts.number; ++part)
      writePart(part);
    Operation *branch = isInside ? op->getParentOp() : nullptr;
    op->erase();
    if (branch)
      branch->erase();
    llvm::SetVector<Operation *> residuals;
    for (Operation *done : work) {
      for (Value operand : done->getOperands())
        if (isResidual(operand))
          residuals.insert(operand.getDefiningOp());
      if (done->use_empty())
        done->erase();
    }
    for (Operation *load : residuals)
      if (load->use_empty())
        load->erase();
  }

private:
  static bool isResidual(Value tile) {
    auto load = tile.getDefiningOp<tile::LoadOp>();
    return load && load->hasAttr(residualAttrName);
  }
  static bool hasResidual(Operation *op) { return llvm::any_of(op->getOperands(), isResidual); }

  /// Works in front of the branch that blocks take which have a position of their own, if the
  /// store is in one.
  void leaveBranch() {
    auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
    if (!branch || !branch.getElseRegion().empty() ||
        !llvm::hasSingleElement(branch.thenBlock()->without_terminator()))
      return;
    isInside = branch.getCondition();
    builder.setInsertionPoint(branch);
  }

  Value sumOf(const IndexedTile::Start &place) {
    Value sum = place.plus.empty() ? constant(place.constant) : Value();
    for (Value term : place.plus)
      sum = sum ? arith::AddIOp::create(builder, loc, sum, term).getResult() : term;
    for (Value term : place.minus)
      sum = arith::SubIOp::create(builder, loc, sum, term);
    if (place.constant && !place.plus.empty())
      sum = arith::AddIOp::create(builder, loc, sum, constant(place.constant));
    return sum;
  }

  void chooseBuffers(StagingBuffers &staging, int64_t maxBytes) {
    auto type = cast<RankedTensorType>(view.tile.getType());
    parts = chooseParts(type, maxBytes / 2);
    if (parts.number == 1)
      parts = chooseParts(type, maxBytes);
    if (!writesAgain)
      groups = findGroups(builder, parts.type);
    auto buffer = tgpu::BufferType::get(parts.type, stagingBuffer(parts.type));
    size_t numBuffers = parts.number > 1 && 2 * buffer.getBytes() <= maxBytes ? 2 : 1;
    buffers = staging.get(builder, loc, buffer, numBuffers, groups);
  }

  void writePart(int64_t part) {
    if (isInside && part == 0)
      waitWhereOutside(builder);
    Value piece = view.tile;
    SmallVector<Value> place = start;
    if (parts.number > 1 || !work.empty()) {
      SmallVector<int64_t> numbers = numberOf(part);
      movePlace(place, numbers);
      IRMapping pieces;
      for (Operation *op : llvm::reverse(work))
        computePiece(op, numbers, pieces);
      piece = pieceOf(piece, numbers, pieces);
    }
    Value buffer = buffers[size_t(part) % buffers.size()];
    bool isComplete = writesAgain && part == 0;
    tgpu::CopyOutWaitOp::create(builder, loc, isComplete ? 0 : int64_t(buffers.size()) - 1,
                                bool(groups), isComplete);
    piece = avoidConflicts(builder, loc, piece, cast<tgpu::BufferType>(buffer.getType()).getLayout().getLayout());
    tgpu::StoreOp::create(builder, loc, piece, buffer);
    OpBuilder::InsertionGuard guard(builder);
    if (isInside)
      builder.setInsertionPointToStart(
          scf::IfOp::create(builder, loc, isInside, /*withElse=*/false).thenBlock());
    tgpu::CopyOutOp::create(builder, loc, buffer, array, place,
                            builder.getDenseI64ArrayAttr(view.arrayDims),
                            partShape(), elements, groups, reduce);
  }

  /// Waits count copies that were issued: who issues none writes to buffers that those before it
  /// may still be read from.
  void waitWhereOutside(OpBuilder &builder) {
    OpBuilder::InsertionGuard guard(builder);
    Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
    Value isOutside = arith::XOrIOp::create(builder, loc, isInside, yes);
    builder.setInsertionPointToStart(
        scf::IfOp::create(builder, loc, isOutside, /*withElse=*/false).thenBlock());
    tgpu::CopyOutWaitOp::create(builder, loc, /*pending=*/0, bool(groups), /*complete=*/false);
  }

  /// The type of a part of `type`, which may be one element wide where the stored tile
  /// is not; null where threads do not have it in registers of their own.
  RankedTensorType partType(RankedTensorType type) const { return partType(type, parts.counts); }
  /// The same of a part of as many as `counts` says.
  RankedTensorType partType(RankedTensorType type, ArrayRef<int64_t> counts) const {
    std::optional<Layout> layout = tile::getLayout(type);
    for (unsigned dim = 0; dim < type.getRank(); ++dim)
      if (!isStretched(type, dim))
        for (int64_t count = counts[dim]; layout && count > 1; count /= 2)
          layout = layout->halve(dim);
    if (!layout)
      return {};
    return tileTypeOf(*layout, type.getElementType());
  }
  bool canCut(Operation *op) const {
    auto isGood = [&](Type type) {
      auto tile = dyn_cast<RankedTensorType>(type);
      return !tile || (tile.getRank() == parts.type.getRank() && partType(tile));
    };
    return llvm::all_of(op->getOperandTypes(), isGood) &&
           llvm::all_of(op->getResultTypes(), isGood);
  }
  bool isStretched(RankedTensorType type, unsigned dim) const {
    return type.getDimSize(dim) == 1;
  }

  /// A part of a tile: computed before, a smaller constant, or cut out.
  Value pieceOf(Value whole, ArrayRef<int64_t> numbers, IRMapping &pieces) {
    auto type = dyn_cast<RankedTensorType>(whole.getType());
    if (!type)
      return whole;
    if (Value piece = pieces.lookupOrNull(whole))
      return piece;
    RankedTensorType smaller = partType(type);
    if (isResidual(whole)) {
      Value piece = partOfResidual(whole.getDefiningOp<tile::LoadOp>(), smaller, numbers);
      pieces.map(whole, piece);
      return piece;
    }
    if (smaller == type)
      return whole;
    if (Value constant = emitSplatAs(builder, loc, whole, smaller))
      return constant;
    SmallVector<Value> slice;
    for (unsigned dim = 0; dim < type.getRank(); ++dim)
      slice.push_back(constant(isStretched(type, dim) ? 0 : numbers[dim]));
    return tile::ExtractOp::create(builder, loc, smaller, whole, slice);
  }

  void computePiece(Operation *op, ArrayRef<int64_t> numbers, IRMapping &pieces) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(pieceOf(operand, numbers, pieces));
    OperationState state(op->getLoc(), op->getName().getStringRef(), operands,
                         partType(cast<RankedTensorType>(op->getResult(0).getType())),
                         op->getAttrs());
    pieces.map(op->getResult(0), builder.create(state)->getResult(0));
  }

  /// Part `numbers` of a residual, in registers. It comes in pieces of several parts, so that it
  /// takes few places from the operands that come next.
  Value partOfResidual(tile::LoadOp load, RankedTensorType type, ArrayRef<int64_t> numbers) {
    SmallVector<int64_t> counts = piecesOf(load), wanted;
    SmallVector<Value> slice;
    for (auto [number, all, pieces] : llvm::zip_equal(numbers, parts.counts, counts)) {
      wanted.push_back(number / (all / pieces));
      slice.push_back(constant(number % (all / pieces)));
    }
    auto &[number, piece] = pieceOfResidual[load];
    if (!piece || number != wanted)
      piece = bringPiece(load, counts, wanted);
    number = wanted;
    return piece.getType() == type
               ? piece
               : tile::ExtractOp::create(builder, loc, type, piece, slice).getResult();
  }

  /// How often a residual is cut along each dim: as the stored tile, or less often, in the order
  /// of parts, as places have room and threads registers.
  SmallVector<int64_t> piecesOf(tile::LoadOp load) const {
    constexpr int64_t mostRegisters = 32;
    int64_t room = roomForResidual(&*builder.getInsertionPoint());
    SmallVector<int64_t> counts = parts.counts;
    for (size_t dim = counts.size(); dim-- > 0;)
      for (; counts[dim] > 1; counts[dim] /= 2) {
        SmallVector<int64_t> fewer = counts;
        fewer[dim] /= 2;
        RankedTensorType type = partType(cast<RankedTensorType>(load.getType()), fewer);
        if (bytesOfTile(type) > room || registersOf(type) > mostRegisters)
          return counts;
      }
    return counts;
  }

  /// The dims of a residual are those of its array.
  Value bringPiece(tile::LoadOp load, ArrayRef<int64_t> counts, ArrayRef<int64_t> numbers) {
    RankedTensorType type = partType(cast<RankedTensorType>(load.getType()), counts);
    SmallVector<Value> place(load.getIndex());
    for (auto [index, number, count, size] :
         llvm::zip_equal(place, numbers, counts, type.getShape()))
      index = movedIndex(index, load.getElements(), number, count, size);
    return bringPart(builder, load, place, type, tgpu::BufferType::get(type, stagingBuffer(type)));
  }

  /// Per dim, parts along the last one following each other.
  SmallVector<int64_t> numberOf(int64_t part) const {
    SmallVector<int64_t> numbers(parts.counts.size());
    for (size_t dim = numbers.size(); dim-- > 0; part /= parts.counts[dim])
      numbers[dim] = part % parts.counts[dim];
    return numbers;
  }

  /// How often each dim of the view's shape is cut: those of which a dim of the tile is made
  /// from the outermost on.
  SmallVector<int64_t> boxCounts() const {
    SmallVector<int64_t> counts(view.shape.size(), 1);
    for (auto [count, group] : llvm::zip_equal(parts.counts, *view.groups()))
      for (int64_t left = count; unsigned dim : group) {
        counts[dim] = std::min(left, view.shape[dim]);
        left /= counts[dim];
      }
    return counts;
  }

  /// The shape of a part, where it is not that of its buffer.
  DenseI64ArrayAttr partShape() {
    if (view.isPlain())
      return {};
    SmallVector<int64_t> shape = view.shape;
    for (auto [size, count] : llvm::zip_equal(shape, boxCounts()))
      size /= count;
    return builder.getDenseI64ArrayAttr(shape);
  }

  /// Moves `place`, per array dim, to the part with these numbers along the tile's dims.
  void movePlace(MutableArrayRef<Value> place, ArrayRef<int64_t> numbers) {
    SmallVector<int64_t> counts = boxCounts();
    for (auto [number, group] : llvm::zip_equal(numbers, *view.groups()))
      for (int64_t left = number; unsigned dim : llvm::reverse(group)) {
        if (counts[dim] == 1)
          continue;
        Value &index = place[view.arrayDims[dim]];
        int64_t own = left % counts[dim];
        left /= counts[dim];
        index = movedIndex(index, elements, own, counts[dim], view.shape[dim] / counts[dim]);
      }
  }

  /// Of part `number` of `count` of `size` elements each, in a tile at `index`.
  Value movedIndex(Value index, bool inElements, int64_t number, int64_t count, int64_t size) {
    if (count == 1)
      return index;
    return inElements
               ? arith::AddIOp::create(builder, loc, index, constant(number * size)).getResult()
               : partIndex(builder, loc, index, count, builder.getIndexAttr(number));
  }

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  Operation *op;
  OpBuilder builder;
  Location loc;
  TileView view;
  Value array;
  SmallVector<Value> start; ///< of the tile, per array dim: in tiles, or in elements
  bool elements;
  bool writesAgain = false;
  Value isInside; ///< of a store that blocks of a cluster may leave out: the condition
  tile::AtomicKindAttr reduce;
  Parts parts;
  llvm::SetVector<Operation *> work; ///< computed part by part, last first
  /// Of each residual the piece that came last, and its number.
  llvm::MapVector<Operation *, std::pair<SmallVector<int64_t>, Value>> pieceOfResidual;
  DenseI64ArrayAttr groups;
  SmallVector<Value, 2> buffers;
};

} // namespace

/// With what only it is computed from.
static void eraseIfUnused(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isOpTriviallyDead(op))
    return;
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    eraseIfUnused(operand);
}

namespace {

struct StageStores : tilec::impl::StageStoresBase<StageStores> {
  using StageStoresBase::StageStoresBase;

  void runOnOperation() override {
    SmallVector<Operation *> marked;
    getOperation().walk([&](Operation *op) {
      if (isa<tile::StoreOp, tile::AtomicOp>(op) && isCopied(op))
        marked.push_back(op);
    });
    StagingBuffers staging;
    stageStores(marked, staging);
    // What has not come with its store is loaded by threads.
    getOperation().walk([](tile::LoadOp load) {
      if (load->hasAttr(residualAttrName))
        load->removeAttr(copyAttrName);
    });
  }

  void stageStores(ArrayRef<Operation *> marked, StagingBuffers &staging) {
    for (Operation *op : marked) {
      if (auto store = dyn_cast<tile::StoreOp>(op)) {
        auto type = cast<RankedTensorType>(store.getValue().getType());
        if (bytesOfTile(chooseParts(type, maxBytes).type) <= largestPart) {
          StoreWriter(store, staging, maxBytes).run();
          continue;
        }
        remarkMissed(store, "select-copies",
                     "threads store {0}: their registers hold no part of it that fits beside the "
                     "other tiles in shared memory",
                     spell(type));
        store->removeAttr(copyAttrName);
        continue;
      }
      auto atomic = cast<tile::AtomicOp>(op);
      SmallVector<Value> indices(atomic.getIndex());
      std::optional<IndexedTile> indexed = indexedTile(atomic);
      if (!indexed) {
        // Indices have been rewritten beyond recognition: threads do it.
        op->removeAttr(copyAttrName);
        continue;
      }
      StoreWriter(atomic, *indexed, staging, maxBytes).run();
      for (Value index : indices)
        eraseIfUnused(index);
    }
  }
};

} // namespace
