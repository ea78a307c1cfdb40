//===- AllocateMemory.cpp - places in shared memory ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: rings and buffers without offsets. Out: `tgpu.ring … offset N barriers M` and
// `tgpu.alloc offset N`. Rings of the copy engine live as long as the kernel and come
// first, then their barriers, then the buffers; rings that threads fill are empty outside
// of their loops and are placed as buffers are.
//
// A buffer is alive from its first use to its last, and until the products that read it have
// been waited for; a use inside a loop that does not
// contain the allocation counts for the whole loop. Operations are numbered in program
// order, so that is an interval, and two buffers may share bytes when their intervals
// are apart:
//
//   time ->        0 . . . 5 . . . 10        the largest buffer goes first, each to the
//   A (16 KiB)     [-------]                 lowest bytes that are free while it lives:
//   B (8 KiB)            [----]              A at 0, B at 16 K, C at 0
//   C (8 KiB)                  [---]
//
// Sharing costs barriers, so a kernel whose buffers are small together does not share, and one
// without rings, which need all that there is, takes more than it must: each buffer then gets the
// bytes that have not been used for longest.
// A ring that threads fill is in use throughout the loops around it, unless FitRings says that
// it shares in them.
// What the copy engine reads is in use for longer than operations tell, and is not shared.
//
// Accumulators in tensor memory get their columns one behind the other; SelectAtoms has
// seen to it that they fit. The hardware gives a power of two.
//
//===------------------------------------------------------------------------===//
#include "SharedMemory.h"
#include "tilec/Tile/Contains.h"
#include "tilec/Tile/DebugSites.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/TileGPU/SharedBuffers.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

namespace tilec {
#define GEN_PASS_DEF_ALLOCATEMEMORY
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// Kernels that need no more than this do not share bytes.
static constexpr int64_t sharingBegins = 16 * 1024;
static constexpr int64_t bufferAlignment = 16;
/// Of what the hardware swizzles by itself.
static constexpr int64_t swizzleAlignment = 1024;

namespace {

struct Buffer {
  Operation *op; ///< tgpu.alloc or tgpu.ring
  int64_t bytes;
  int64_t begin, end; ///< numbers of the first and last operation that use it
  int64_t alignment;
  int64_t offset = 0;

  bool meets(const Buffer &other) const {
    return begin <= other.end && other.begin <= end;
  }
};

/// Numbers operations in program order; an operation with regions spans a range.
class ProgramOrder {
public:
  explicit ProgramOrder(Operation *root) { visit(root); }
  int64_t begin(Operation *op) const { return ranges.lookup(op).first; }
  int64_t end(Operation *op) const { return ranges.lookup(op).second; }

private:
  void visit(Operation *op) {
    int64_t first = next++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          visit(&inner);
    ranges[op] = {first, next++};
  }
  int64_t next = 0;
  DenseMap<Operation *, std::pair<int64_t, int64_t>> ranges;
};

/// Copies out and products go by the address's own bits, however small the buffer is.
int64_t alignmentOf(tgpu::AllocOp alloc) {
  bool isSwizzled = llvm::any_of(alloc.getBuffer().getUsers(), [](Operation *user) {
    return isa<tgpu::CopyOutOp, tgpu::MmaOp, tgpu::AccumulateOp>(user);
  });
  return isSwizzled ? swizzleAlignment : bufferAlignment;
}

/// Where `op`, a product that completes later, is waited for.
SmallVector<Operation *, 1> waitsFor(Operation *op) {
  SmallVector<Operation *, 1> waits;
  if (isa<tgpu::MmaOp>(op))
    for (Operation *user : op->getUsers())
      if (isa<tgpu::MmaWaitOp>(user))
        waits.push_back(user);
  return waits;
}

/// The innermost block that has all uses of `ring` and the loops that take from it. What is pushed
/// there is popped there: between two iterations of a loop around it the ring is empty.
Block *blockAround(tgpu::RingOp ring) {
  SmallVector<Operation *> inside;
  for (Operation *user : ring.getRing().getUsers()) {
    Operation *loop = isa<tgpu::PopOp>(user) ? user->getParentOfType<LoopLikeOpInterface>() : nullptr;
    inside.push_back(loop ? loop : user);
  }
  Block *block = inside.empty() ? ring->getBlock() : inside.front()->getBlock();
  while (!llvm::all_of(inside, [&](Operation *op) { return block->findAncestorOpInBlock(*op); }))
    block = block->getParentOp()->getBlock();
  return block;
}

SmallVector<Buffer> collectBuffers(tile::KernelOp kernel) {
  ProgramOrder order(kernel);
  SmallVector<Buffer> buffers;
  kernel.walk([&](tgpu::AllocOp alloc) {
    int64_t alignment = alignmentOf(alloc);
    Buffer buffer{alloc.getOperation(),
                  int64_t(llvm::alignTo(uint64_t(alloc.getBuffer().getType().getBytes()),
                                        bufferAlignment)),
                  order.begin(alloc), order.end(alloc), alignment};
    if (!alloc.getBuffer().use_empty())
      buffer.begin = INT64_MAX;
    for (Operation *user : alloc.getBuffer().getUsers()) {
      Operation *outer = alloc->getBlock()->findAncestorOpInBlock(*user);
      // A barrier of the cluster keeps its state between uses.
      auto sum = dyn_cast<tgpu::ClusterSumOp>(user);
      bool isAsync =
          isa<tgpu::CopyOutOp>(user) || (sum && sum.getMeeting() == alloc.getBuffer());
      buffer.begin = isAsync ? 0 : std::min(buffer.begin, order.begin(outer));
      buffer.end = isAsync ? INT64_MAX : std::max(buffer.end, order.end(outer));
      for (Operation *wait : waitsFor(user))
        if (Operation *ancestor = alloc->getBlock()->findAncestorOpInBlock(*wait))
          buffer.end = std::max(buffer.end, order.end(ancestor));
    }
    buffers.push_back(buffer);
  });
  for (tgpu::RingOp ring : kernel.getBody().front().getOps<tgpu::RingOp>()) {
    if (!ring.isFilledByThreads())
      continue;
    Buffer buffer{ring.getOperation(), ring.getRing().getType().getBytes(), order.begin(ring),
                  order.end(ring), swizzleAlignment};
    if (!ring.getRing().use_empty())
      buffer.begin = INT64_MAX;
    Block *block = ring->hasAttr(sharesInLoopsAttrName) ? blockAround(ring) : ring->getBlock();
    for (Operation *user : ring.getRing().getUsers()) {
      Operation *outer = block->findAncestorOpInBlock(*user);
      buffer.begin = std::min(buffer.begin, order.begin(outer));
      buffer.end = std::max(buffer.end, order.end(outer));
    }
    buffers.push_back(buffer);
  }
  return buffers;
}

/// Sets offsets from `base` on; gives the end of the bytes used.
int64_t place(SmallVector<Buffer> &buffers, int64_t base) {
  int64_t total = 0;
  for (const Buffer &buffer : buffers)
    total += buffer.bytes;
  bool shares = total > sharingBegins;
  SmallVector<Buffer *> bySize;
  for (Buffer &buffer : buffers)
    bySize.push_back(&buffer);
  llvm::sort(bySize, [](Buffer *a, Buffer *b) {
    return std::pair(-a->bytes, a->begin) < std::pair(-b->bytes, b->begin);
  });
  int64_t used = base;
  SmallVector<Buffer *> placed;
  for (Buffer *buffer : bySize) {
    // Those in the way, from low to high; the first gap that is wide enough.
    llvm::sort(placed, [](Buffer *a, Buffer *b) {
      return std::pair(a->offset, a->begin) < std::pair(b->offset, b->begin);
    });
    auto aligned = [&](int64_t offset) {
      return int64_t(llvm::alignTo(uint64_t(offset), uint64_t(buffer->alignment)));
    };
    int64_t offset = aligned(base);
    for (Buffer *other : placed) {
      if (shares && !buffer->meets(*other))
        continue;
      if (offset + buffer->bytes <= other->offset)
        break;
      offset = std::max(offset, aligned(other->offset + other->bytes));
    }
    buffer->offset = offset;
    placed.push_back(buffer);
    used = std::max(used, offset + buffer->bytes);
  }
  return used;
}

/// Sets offsets from `base` to `end`, so that bytes are used again as late as possible; false where
/// there is no room for that.
bool placeInTurns(SmallVector<Buffer> &buffers, int64_t base, int64_t end) {
  SmallVector<Buffer *> inOrder;
  for (Buffer &buffer : buffers)
    inOrder.push_back(&buffer);
  llvm::stable_sort(inOrder, [](Buffer *a, Buffer *b) { return a->begin < b->begin; });
  SmallVector<Buffer *> placed;
  for (Buffer *buffer : inOrder) {
    SmallVector<int64_t> candidates = {base};
    for (Buffer *other : placed)
      candidates.push_back(other->offset + other->bytes);
    std::optional<std::pair<int64_t, int64_t>> best; // when last used, offset
    for (int64_t candidate : candidates) {
      auto offset = int64_t(llvm::alignTo(uint64_t(candidate), uint64_t(buffer->alignment)));
      bool isFree = offset + buffer->bytes <= end;
      int64_t lastUse = -1;
      for (Buffer *other : placed)
        if (offset < other->offset + other->bytes && other->offset < offset + buffer->bytes) {
          isFree &= !buffer->meets(*other);
          lastUse = std::max(lastUse, other->end);
        }
      if (isFree && (!best || std::pair(lastUse, offset) < *best))
        best = {lastUse, offset};
    }
    if (!best)
      return false;
    buffer->offset = best->second;
    placed.push_back(buffer);
  }
  return true;
}

int64_t endOf(ArrayRef<Buffer> buffers, int64_t base) {
  for (const Buffer &buffer : buffers)
    base = std::max(base, buffer.offset + buffer.bytes);
  return base;
}

/// Sets the offsets of rings that the engine fills; gives the end of the bytes used.
int64_t placeRings(tile::KernelOp kernel) {
  Builder builder(kernel.getContext());
  SmallVector<tgpu::RingOp> rings;
  for (tgpu::RingOp ring : kernel.getBody().front().getOps<tgpu::RingOp>())
    if (!ring.isFilledByThreads())
      rings.push_back(ring);
  int64_t used = 0;
  for (tgpu::RingOp ring : rings) {
    ring.setOffsetAttr(builder.getI64IntegerAttr(used));
    used += ring.getRing().getType().getBytes();
  }
  for (tgpu::RingOp ring : rings) {
    ring.setBarriersAttr(builder.getI64IntegerAttr(used));
    used += barrierBytes(ring.getRing().getType().getStages());
  }
  return used;
}

/// Sets the columns of accumulators, and what the kernel says of tensor memory; gives the
/// end of the bytes used.
int64_t placeAccumulators(tile::KernelOp kernel, int64_t used) {
  if (!usesTensorMemory(kernel))
    return used;
  constexpr int64_t fewestColumns = 32;
  Builder builder(kernel.getContext());
  int64_t columns = 0;
  kernel.walk([&](tgpu::AccumulatorOp op) {
    op.setColumnAttr(builder.getI64IntegerAttr(columns));
    columns += op.getAccumulator().getType().getColumns();
  });
  columns = std::max(fewestColumns, int64_t(llvm::PowerOf2Ceil(uint64_t(columns))));
  kernel->setAttr(tgpu::tensorMemoryAttrName, builder.getDenseI64ArrayAttr({used, columns}));
  return used + tensorMemoryBytes;
}

struct AllocateMemory : tilec::impl::AllocateMemoryBase<AllocateMemory> {
  using AllocateMemoryBase::AllocateMemoryBase;

  void runOnOperation() override {
    giveBackPlaces();
    SmallVector<Buffer> buffers = collectBuffers(getOperation());
    int64_t used = placeAccumulators(getOperation(), placeRings(getOperation()));
    used = placeBuffers(buffers, used);
    if (tile::hasSites(getOperation()))
      used += tile::siteSharedBytes; // behind the buffers, Lowering/Debug.cpp
    if (used > budget) {
      reportOverflow(used);
      return signalPassFailure();
    }
    if (used)
      remarkChoice(getOperation(), "allocate-memory", "{0} of shared memory of the {1} of a block",
                   spellBytes(used), spellBytes(budget));
    Builder builder(&getContext());
    for (Buffer &buffer : buffers) {
      IntegerAttr offset = builder.getI64IntegerAttr(buffer.offset);
      if (auto ring = dyn_cast<tgpu::RingOp>(buffer.op))
        ring.setOffsetAttr(offset);
      else
        cast<tgpu::AllocOp>(buffer.op).setOffsetAttr(offset);
    }
  }

  /// Sets offsets from `base` on; gives the end of the bytes used.
  int64_t placeBuffers(SmallVector<Buffer> &buffers, int64_t base) {
    tile::KernelOp kernel = getOperation();
    constexpr int64_t bytesPerWarp = 4 * 1024;
    int64_t most = bytesPerWarp * int64_t(kernel.getNumWarps().value_or(4));
    if (!contains<tgpu::RingOp>(kernel) && placeInTurns(buffers, base, std::min<int64_t>(base + most, budget)))
      return endOf(buffers, base);
    return place(buffers, base);
  }

  /// Buffers may live longer than they did when places were counted, as waits for products
  /// have moved down since. Then the rings with most give places back, but none of the three
  /// that products in flight count on.
  void giveBackPlaces() {
    constexpr int64_t fewest = 3;
    SmallVector<std::pair<tgpu::RingOp, int64_t>> rings;
    for (auto ring : getOperation().getBody().front().getOps<tgpu::RingOp>())
      if (!ring.isFilledByThreads())
        rings.push_back({ring, ring.getRing().getType().getStages()});
    auto setStages = [](tgpu::RingOp ring, int64_t stages) {
      ring.getRing().setType(ring.getRing().getType().withStages(stages));
    };
    auto stagesOf = [](auto &entry) { return entry.first.getRing().getType().getStages(); };
    auto hasFewer = [&](auto &a, auto &b) { return stagesOf(a) < stagesOf(b); };
    while (!rings.empty() && bytesOfKernel(getOperation()) > budget) {
      auto *most = llvm::max_element(rings, hasFewer);
      if (stagesOf(*most) > fewest) {
        setStages(most->first, stagesOf(*most) - 1);
        continue;
      }
      for (auto &[ring, stages] : rings) // it helps nothing
        setStages(ring, stages);
      return;
    }
    for (auto &entry : rings)
      if (int64_t stages = stagesOf(entry); stages < entry.second)
        remarkMissed(entry.first, "allocate-memory",
                     "tiles of {0} have {1} places only: buffers live longer than was counted on",
                     tgpu::spellSources(entry.first), stages);
  }

  void reportOverflow(int64_t used) {
    tile::KernelOp kernel = getOperation();
    // All builds of a kernel bear the name that the program gave it.
    auto name = kernel->getAttrOfType<StringAttr>("tile.kernel");
    InFlightDiagnostic error = kernel.emitError("kernel '")
                               << (name ? name.getValue() : kernel.getName()) << "' needs "
                               << spellBytes(used) << " of shared memory, but a block has "
                               << spellBytes(budget);
    for (const tgpu::SharedBuffer &buffer : tgpu::sharedBuffersOf(kernel))
      error.attachNote(buffer.op->getLoc()) << buffer.size() << " for " << buffer.what;
    error.attachNote(UnknownLoc::get(&getContext())) << whatWouldFit(used);
  }

  /// Fewer places of the rings if that helps, else smaller tiles.
  std::string whatWouldFit(int64_t used) {
    int64_t most = 1;
    SmallVector<std::pair<tgpu::RingOp, int64_t>> rings;
    for (tgpu::RingOp ring : getOperation().getBody().front().getOps<tgpu::RingOp>()) {
      rings.push_back({ring, ring.getRing().getType().getStages()});
      most = std::max(most, rings.back().second);
    }
    for (int64_t stages = most - 1; stages > 0; --stages) {
      for (auto [ring, has] : rings)
        ring.getRing().setType(ring.getRing().getType().withStages(std::min(stages, has)));
      int64_t bytes = bytesOfKernel(getOperation());
      if (bytes <= budget)
        return llvm::formatv("`num_stages: {0}` fits ({1})", stages, spellBytes(bytes)).str();
    }
    int64_t part = int64_t(llvm::PowerOf2Ceil(uint64_t(llvm::divideCeil(used, budget))));
    return llvm::formatv("tiles of 1/{0} of the elements would need some {1}", part,
                         spellBytes(llvm::divideCeil(used / part, 1024) * 1024)).str();
  }
};

} // namespace

int64_t tilec::bytesOfBuffers(tile::KernelOp kernel) {
  SmallVector<Buffer> buffers = collectBuffers(kernel);
  return place(buffers, 0);
}

int64_t tilec::bytesOfKernel(tile::KernelOp kernel) {
  SmallVector<Buffer> buffers = collectBuffers(kernel);
  return place(buffers, placeAccumulators(kernel, placeRings(kernel)));
}

bool tilec::usesTensorMemory(tile::KernelOp kernel) {
  return contains<tgpu::AccumulatorOp>(kernel);
}
