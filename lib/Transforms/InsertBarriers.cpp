//===- InsertBarriers.cpp - let threads wait for each other ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: buffers with offsets. Out: `tgpu.barrier` wherever a thread might otherwise meet
// another that is still (or already) at the same bytes:
//
//   tgpu.store %x, %A                 tgpu.store %x, %A
//   %y = tgpu.load %A            →    tgpu.barrier
//                                     %y = tgpu.load %A
//
// The pass walks the program with the set of accesses since the last barrier. An access
// that conflicts with one of the set (the same bytes of shared memory, or the same
// array, one of the two writing) gets a barrier before it, which empties the set. At
// the end of a loop's body the set flows back to its beginning, until it stays as it is;
// after branches the sets of all arms are joined.
//
// Two accesses of one array do not conflict when each thread touches the same elements
// in both: same place, same layout, no copies. Across iterations of a loop that holds
// when the place does not change, or moves on by whole tiles with the loop's variable.
// Nor do atomics that commute and whose old values nobody wants, nor writes of single
// elements, which are all done by one thread.
//
// Threads have elements of their own of an accumulator in tensor memory, products have all:
// a barrier is between the two. The wait for products meets all threads.
//
// An atomic with acquire or release orders the whole block, not only the threads that
// do it: all array accesses behind an acquire, and all before a release, are on the
// other side of a barrier.
//
//===------------------------------------------------------------------------===//
#include "SharedMemory.h"

#include "tilec/Tile/TileLayout.h"
#include "tilec/TileGPU/ConditionalPush.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tilec {
#define GEN_PASS_DEF_INSERTBARRIERS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

struct Access {
  bool isWrite;
  // Shared memory: bytes [begin, end). Arrays: the operation tells the rest.
  int64_t begin = 0, end = 0;
  Value array;
  Operation *op = nullptr;
  /// Made in an earlier iteration of a loop that changes the place: its indices, though
  /// the same SSA values, may be other numbers now.
  bool isFromEarlierIteration = false;
  /// The ring whose bytes these are; it keeps its own accesses apart.
  Value ring = {};
  /// The accumulator in tensor memory, and whether a product accesses it.
  Value accumulator = {};
  bool isByProduct = false;

  friend bool operator==(const Access &, const Access &) = default;
};

using Pending = SmallVector<Access>;

void addTo(Pending &pending, const Access &access) {
  if (!llvm::is_contained(pending, access))
    pending.push_back(access);
}

void join(Pending &into, const Pending &other) {
  for (const Access &access : other)
    addTo(into, access);
}

//===------------------------------------------------------------------------===//
// Conflicts
//===------------------------------------------------------------------------===//

/// What tile.load and tile.store have in common.
struct Place {
  ValueRange index;
  Attribute order;
  bool elements;
  Type value;

  explicit Place(Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      index = load.getIndex();
      order = load.getOrderAttr();
      elements = load.getElements();
      value = load.getType();
    } else {
      auto store = cast<tile::StoreOp>(op);
      index = store.getIndex();
      order = store.getOrderAttr();
      elements = store.getElements();
      value = store.getValue().getType();
    }
  }
};

bool acquires(const Access &access) {
  auto atomic = dyn_cast<tile::AtomicOp>(access.op);
  return atomic && (atomic.getOrder() == tile::MemoryOrder::Acquire ||
                    atomic.getOrder() == tile::MemoryOrder::AcqRel);
}
bool releases(const Access &access) {
  auto atomic = dyn_cast<tile::AtomicOp>(access.op);
  return atomic && (atomic.getOrder() == tile::MemoryOrder::Release ||
                    atomic.getOrder() == tile::MemoryOrder::AcqRel);
}

/// Atomics that may come in any order: nobody can tell.
bool commute(const Access &a, const Access &b) {
  auto left = dyn_cast<tile::AtomicOp>(a.op), right = dyn_cast<tile::AtomicOp>(b.op);
  auto isSilent = [](tile::AtomicOp op) {
    return op.getKind() <= tile::AtomicKind::Xor && op.getResult().use_empty();
  };
  return left && right && left.getKind() == right.getKind() && isSilent(left) &&
         isSilent(right);
}

/// A write of one element, which thread 0 does.
bool isWriteOfOne(const Access &access) {
  auto isScalar = [](Value value) { return !isa<RankedTensorType>(value.getType()); };
  if (auto store = dyn_cast<tile::StoreOp>(access.op))
    return isScalar(store.getValue());
  if (auto scatter = dyn_cast<tile::ScatterOp>(access.op))
    return isScalar(scatter.getValue());
  auto atomic = dyn_cast<tile::AtomicOp>(access.op);
  return atomic && isScalar(atomic.getIndex().front());
}

/// Each element of the tile is touched by the same thread in both accesses.
bool touchSameElements(const Access &a, const Access &b) {
  if (!isa<tile::LoadOp, tile::StoreOp>(a.op) || !isa<tile::LoadOp, tile::StoreOp>(b.op))
    return false;
  Place left(a.op), right(b.op);
  if (!llvm::equal(left.index, right.index) || left.order != right.order ||
      left.elements != right.elements || left.value != right.value)
    return false;
  // A single element is written by one thread and read by all; so is a copy.
  if (!tile::hasLayout(left.value))
    return false;
  Layout layout = tile::getLayout(left.value);
  return !layout.redundant(Input::Lane) && !layout.redundant(Input::Warp) &&
         !a.isFromEarlierIteration;
}

/// Whether `b` must not begin before all threads are done with `a`.
bool conflict(const Access &a, const Access &b, bool arraysOverlap) {
  if (a.accumulator || b.accumulator)
    return a.accumulator == b.accumulator && a.isByProduct != b.isByProduct &&
           (a.isWrite || b.isWrite);
  if (!a.array != !b.array)
    return false;
  if (a.array && (acquires(a) || releases(b)))
    return true;
  if (!a.isWrite && !b.isWrite)
    return false;
  if (a.ring && a.ring == b.ring)
    return false;
  if (!a.array)
    return a.begin < b.end && b.begin < a.end;
  if (a.array != b.array && !arraysOverlap)
    return false;
  if (commute(a, b) || (isWriteOfOne(a) && isWriteOfOne(b)))
    return false;
  return a.array != b.array || !touchSameElements(a, b);
}

/// Whether the operation says that it writes to the buffer.
bool writes(Operation *op, Value buffer) {
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
    interface.getEffectsOnValue(buffer, effects);
  return llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect());
  });
}

/// The ring, if it is one that threads fill: its bytes are others' before and after.
tgpu::RingOp threadRing(Value ring) {
  auto op = ring.getDefiningOp<tgpu::RingOp>();
  return op && op.isFilledByThreads() ? op : tgpu::RingOp();
}

/// The accesses of one operation, its regions aside.
SmallVector<Access, 2> accessesOf(Operation *op) {
  SmallVector<Access, 2> accesses;
  auto ring = [&](Value value, bool isWrite) {
    if (tgpu::RingOp made = threadRing(value)) {
      int64_t begin = int64_t(made.getOffset().value_or(0));
      int64_t end = begin + made.getRing().getType().getBytes();
      accesses.push_back({isWrite, begin, end, {}, nullptr, false, value});
    }
  };
  auto shared = [&](Value buffer, bool isWrite) {
    if (auto pop = buffer.getDefiningOp<tgpu::PopOp>())
      return ring(pop.getRing(), isWrite);
    auto alloc = buffer.getDefiningOp<tgpu::AllocOp>();
    int64_t begin = alloc ? int64_t(alloc.getOffset().value_or(0)) : 0;
    int64_t bytes = cast<tgpu::BufferType>(buffer.getType()).getBytes();
    accesses.push_back({isWrite, begin, begin + bytes, {}, nullptr, false});
  };
  auto array = [&](Value value, bool isWrite) {
    accesses.push_back({isWrite, 0, 0, value, op, false});
  };
  auto accumulator = [&](Value value, bool isWrite) {
    accesses.push_back({isWrite, 0, 0, {}, nullptr, false, {}, value, isa<tgpu::AccumulateOp>(op)});
  };
  if (auto push = dyn_cast<tgpu::PushOp>(op))
    ring(push.getRing(), true);
  else if (auto load = dyn_cast<tile::LoadOp>(op))
    array(load.getArray(), false);
  else if (auto store = dyn_cast<tile::StoreOp>(op))
    array(store.getArray(), true);
  else if (auto gather = dyn_cast<tile::GatherOp>(op))
    array(gather.getArray(), false);
  else if (auto scatter = dyn_cast<tile::ScatterOp>(op))
    array(scatter.getArray(), true);
  else if (auto atomic = dyn_cast<tile::AtomicOp>(op))
    array(atomic.getArray(), atomic.getKind() != tile::AtomicKind::Load);
  else if (auto wait = dyn_cast<tgpu::MmaWaitOp>(op)) {
    // Until then the product reads its buffers.
    for (Value input : wait.getInputs())
      if (auto mma = input.getDefiningOp<tgpu::MmaOp>())
        for (Value operand : mma->getOperands())
          if (operand.getDefiningOp<tgpu::AllocOp>())
            shared(operand, false);
  } else if (!isa<tgpu::AllocOp>(op))
    for (Value operand : op->getOperands()) {
      if (isa<tgpu::BufferType>(operand.getType()))
        shared(operand, writes(op, operand));
      else if (isa<tgpu::AccumulatorType>(operand.getType()))
        accumulator(operand, writes(op, operand));
    }
  return accesses;
}

//===------------------------------------------------------------------------===//
// The walk
//===------------------------------------------------------------------------===//

class BarrierInserter {
public:
  BarrierInserter(bool arraysOverlap, bool waitsMeet)
      : arraysOverlap(arraysOverlap), waitsMeet(waitsMeet) {}

  /// Walks `block` starting from `pending`, which becomes what is pending at its end.
  void walk(Block &block, Pending &pending) {
    for (Operation &op : block)
      visit(&op, pending);
  }

private:
  void visit(Operation *op, Pending &pending) {
    // Where warp groups copy out by themselves, the buffer is theirs in parts.
    if (auto copy = dyn_cast<tgpu::CopyOutOp>(op); copy && copy.getGroups())
      return forget(pending, accessesOf(op));
    if (auto wait = dyn_cast<tgpu::CopyOutWaitOp>(op); wait && wait.getByGroup())
      return;
    // All of these meet all threads, once what they wrote before is visible.
    auto pop = dyn_cast<tgpu::PopOp>(op);
    if (isa<tgpu::BarrierOp, tgpu::CopyOutOp, tgpu::CopyOutWaitOp>(op) ||
        (waitsMeet && isa<tgpu::MmaWaitOp>(op)) ||
        (pop && threadRing(pop.getRing())))
      return pending.clear();
    // The copying warps touch nothing that is not guarded by a ring.
    if (auto roles = dyn_cast<tgpu::SpecializeOp>(op))
      return walk(roles.getExecute().front(), pending);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visitLoop(loop, {loop.getBody()}, pending, loop.getInductionVar());
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return visitLoop(loop, {loop.getBeforeBody(), loop.getAfterBody()}, pending, {});
    tgpu::PushOp push;
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      push = tgpu::getConditionalPush(branch);
      if (tgpu::CopyOutOp copy = loneCopyOut(branch))
        return forget(pending, accessesOf(copy));
    }
    if (!push && isa<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>(op))
      return visitBranches(op, pending);
    // A push under a condition writes in any case, and must stay alone in its branch.
    SmallVector<Access, 2> accesses = accessesOf(push ? push.getOperation() : op);
    bool needsBarrier = llvm::any_of(accesses, [&](const Access &access) {
      return llvm::any_of(pending, [&](const Access &before) {
        return conflict(before, access, arraysOverlap);
      });
    });
    if (needsBarrier) {
      OpBuilder builder(op);
      tgpu::BarrierOp::create(builder, op->getLoc());
      pending.clear();
    }
    for (const Access &access : accesses)
      addTo(pending, access);
  }

  /// The copy out by groups that is all of `branch`, of a buffer of which each thread always
  /// writes the same elements: where it is left out nobody reads the buffer, and who writes it
  /// again is who wrote it.
  static tgpu::CopyOutOp loneCopyOut(scf::IfOp branch) {
    Block &block = *branch.thenBlock();
    auto copy = dyn_cast<tgpu::CopyOutOp>(block.front());
    if (!copy || !copy.getGroups() || !branch.getElseRegion().empty() ||
        !llvm::hasSingleElement(block.without_terminator()))
      return {};
    Type written;
    for (Operation *user : copy.getBuffer().getUsers())
      if (auto store = dyn_cast<tgpu::StoreOp>(user)) {
        if (written && written != store.getTile().getType())
          return {};
        written = store.getTile().getType();
      }
    return copy;
  }

  /// Takes from `pending` what is at the same bytes of shared memory as `accesses`.
  static void forget(Pending &pending, ArrayRef<Access> accesses) {
    llvm::erase_if(pending, [&](const Access &before) {
      return !before.array && llvm::any_of(accesses, [&](const Access &access) {
        return !access.array && before.begin < access.end && access.begin < before.end;
      });
    });
  }

  /// `blocks` run one after the other, then again. What is pending after the loop is
  /// what was pending before it (no iteration) or after any block (the last one of a
  /// `while` ends in its first).
  void visitLoop(Operation *loop, ArrayRef<Block *> blocks, Pending &pending,
                 Value variable) {
    Pending entry = pending, after = pending;
    while (true) {
      Pending current = entry;
      for (Block *block : blocks) {
        walk(*block, current);
        join(after, current);
      }
      Pending next = entry;
      for (Access access : current) {
        access.isFromEarlierIteration |= changesPlace(access, loop, variable);
        addTo(next, access);
      }
      if (next.size() == entry.size())
        break;
      entry = next;
    }
    for (Access &access : after)
      access.isFromEarlierIteration |= changesPlace(access, loop, {});
    pending = after;
  }

  /// Whether an access in `loop` may be at a place that the same access of another
  /// iteration, in another thread, meets. By whole tiles with the variable: it may not.
  static bool changesPlace(const Access &access, Operation *loop, Value variable) {
    if (!access.op || !loop->isProperAncestor(access.op) ||
        !isa<tile::LoadOp, tile::StoreOp>(access.op))
      return false;
    Place place(access.op);
    if (variable && !place.elements && llvm::is_contained(place.index, variable))
      return false;
    return llvm::any_of(place.index, [&](Value index) {
      return loop->isProperAncestor(index.getParentBlock()->getParentOp()) ||
             index.getParentBlock()->getParentOp() == loop;
    });
  }

  void visitBranches(Operation *op, Pending &pending) {
    Pending after;
    bool mayPass = isa<scf::IfOp>(op) && cast<scf::IfOp>(op).getElseRegion().empty();
    if (mayPass)
      after = pending;
    for (Region &region : op->getRegions()) {
      if (region.empty())
        continue;
      Pending arm = pending;
      for (Block &block : region)
        walk(block, arm);
      join(after, arm);
    }
    pending = after;
  }

  bool arraysOverlap, waitsMeet;
};

struct InsertBarriers : tilec::impl::InsertBarriersBase<InsertBarriers> {
  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    Pending pending;
    BarrierInserter(kernel.getArraysOverlap(), usesTensorMemory(kernel))
        .walk(kernel.getBody().front(), pending);
  }
};

} // namespace
