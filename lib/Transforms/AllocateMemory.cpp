//===- AllocateMemory.cpp - places in shared memory ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: buffers without offsets. Out: `tgpu.alloc offset N`.
//
// A buffer is alive from its first use to its last; a use inside a loop that does not
// contain the allocation counts for the whole loop. Operations are numbered in program
// order, so that is an interval, and two buffers may share bytes when their intervals
// are apart:
//
//   time ->        0 . . . 5 . . . 10        the largest buffer goes first, each to the
//   A (16 KiB)     [-------]                 lowest bytes that are free while it lives:
//   B (8 KiB)            [----]              A at 0, B at 16 K, C at 0
//   C (8 KiB)                  [---]
//
// Sharing costs barriers, so a kernel whose buffers are small together does not share.
//
//===------------------------------------------------------------------------===//
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
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

namespace {

struct Buffer {
  tgpu::AllocOp alloc;
  int64_t bytes;
  int64_t begin, end; ///< numbers of the first and last operation that use it
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

struct AllocateMemory : tilec::impl::AllocateMemoryBase<AllocateMemory> {
  using AllocateMemoryBase::AllocateMemoryBase;

  void runOnOperation() override {
    SmallVector<Buffer> buffers = collectBuffers();
    int64_t total = 0;
    for (const Buffer &buffer : buffers)
      total += buffer.bytes;
    bool shares = total > sharingBegins;
    int64_t used = place(buffers, shares);
    if (used > budget) {
      reportOverflow(buffers, used);
      return signalPassFailure();
    }
    Builder builder(&getContext());
    for (Buffer &buffer : buffers)
      buffer.alloc.setOffsetAttr(builder.getI64IntegerAttr(buffer.offset));
  }

  SmallVector<Buffer> collectBuffers() {
    ProgramOrder order(getOperation());
    SmallVector<Buffer> buffers;
    getOperation().walk([&](tgpu::AllocOp alloc) {
      Buffer buffer{alloc,
                    int64_t(llvm::alignTo(uint64_t(alloc.getBuffer().getType().getBytes()),
                                          bufferAlignment)),
                    order.begin(alloc), order.end(alloc)};
      if (!alloc.getBuffer().use_empty())
        buffer.begin = INT64_MAX;
      for (Operation *user : alloc.getBuffer().getUsers()) {
        Operation *outer = alloc->getBlock()->findAncestorOpInBlock(*user);
        buffer.begin = std::min(buffer.begin, order.begin(outer));
        buffer.end = std::max(buffer.end, order.end(outer));
      }
      buffers.push_back(buffer);
    });
    return buffers;
  }

  /// Sets offsets; gives the bytes used in all.
  int64_t place(SmallVector<Buffer> &buffers, bool shares) {
    SmallVector<Buffer *> bySize;
    for (Buffer &buffer : buffers)
      bySize.push_back(&buffer);
    llvm::sort(bySize, [](Buffer *a, Buffer *b) {
      return std::pair(-a->bytes, a->begin) < std::pair(-b->bytes, b->begin);
    });
    int64_t used = 0;
    SmallVector<Buffer *> placed;
    for (Buffer *buffer : bySize) {
      // Those in the way, from low to high; the first gap that is wide enough.
      llvm::sort(placed, [](Buffer *a, Buffer *b) {
        return std::pair(a->offset, a->begin) < std::pair(b->offset, b->begin);
      });
      int64_t offset = 0;
      for (Buffer *other : placed) {
        if (shares && !buffer->meets(*other))
          continue;
        if (offset + buffer->bytes <= other->offset)
          break;
        offset = std::max(offset, other->offset + other->bytes);
      }
      buffer->offset = offset;
      placed.push_back(buffer);
      used = std::max(used, offset + buffer->bytes);
    }
    return used;
  }

  void reportOverflow(MutableArrayRef<Buffer> buffers, int64_t used) {
    // All builds of a kernel bear the name that the program gave it.
    auto name = getOperation()->getAttrOfType<StringAttr>("tile.kernel");
    InFlightDiagnostic error = getOperation().emitError("kernel '")
                               << (name ? name.getValue() : getOperation().getName())
                               << "' needs " << used
                               << " bytes of shared memory, but a block has " << int64_t(budget);
    for (Buffer &buffer : buffers) {
      auto type = buffer.alloc.getBuffer().getType();
      auto tile = RankedTensorType::get(type.getShape(), type.getElementType());
      error.attachNote(buffer.alloc.getLoc())
          << buffer.bytes << " bytes at " << buffer.offset << " for " << tile;
    }
  }
};

} // namespace
