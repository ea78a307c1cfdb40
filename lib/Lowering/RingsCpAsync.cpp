//===- RingsCpAsync.cpp - rings that all threads fill -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: tgpu.push, pop and release of rings with copy "cp_async". Out: cp.async of pieces
// of 16 bytes, groups of them, and waits:
//
//   push     each thread starts its pieces of every copy, zeros where the array ends
//            (a source size of 0), and closes the group
//   pop      waits for the oldest group, then for all threads of the block
//   release  nothing: the next pop is where all threads meet
//
// A place may be filled again once all threads have met since it was released, which
// holds when the push comes after the next pop (ScheduleLoops), of that ring or of another that
// takes turns with it, or the ring has two places.
//
// How many groups may be on their way when a pop goes on is a constant of the
// instruction. Where ScheduleLoops does not say it, all but the oldest may when the ring is
// full, and none otherwise: each thread counts the groups that it has pushed and not
// popped.
//
// A push that stands alone in an `scf.if` has no branch: where the condition fails, its
// pieces have a source size of 0, and the zeros go to the place that is free anyway. The
// group is closed all the same, so that it counts; nobody pops it, so behind the loop all
// groups are waited for, and the next push takes the place of the next pop. (Zeros to the
// same place again would be writes that nothing orders.)
//
// Pieces that are not aligned to at least 4 bytes have no instruction; they are loaded
// and stored, and the pop's meeting makes them visible.
//
//===------------------------------------------------------------------------===//
#include "MemoryAccess.h"

#include "tilec/Analysis/CopyLayout.h"
#include "tilec/Atoms/ThreadCode.h"
#include "tilec/TileGPU/ConditionalPush.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <map>

using namespace mlir;
using namespace tilec;

//===------------------------------------------------------------------------===//
// One copy
//===------------------------------------------------------------------------===//

namespace tilec {

/// Writes the code of one thread's part of a copy.
class AsyncCopyEmitter {
public:
  AsyncCopyEmitter(Emitter &emitter, tgpu::CopyOp op, Value place, Value condition)
      : e(emitter), builder(emitter.builder), loc(emitter.loc), op(op), place(place),
        uniform(condition),
        buffer(op.getBuffer()), view(emitter.array(op.getArray())),
        elementBytes(buffer.getElementBytes()),
        inBuffer(op.getTileLayout()),
        layout(copyLayout(inBuffer.shape(), op.getOrder(), unsigned(elementBytes),
                          unsigned(emitter.kernel.getNumWarps().value_or(4)))),
        offsets(layout.then(inBuffer.invert())) {}

  void emit();

private:
  /// A dim of the array.
  struct Dim {
    Value start;       ///< i64: the tile's first element
    Value exists;      ///< i1 where the tile is one element wide, i32 count else
    Value shift;       ///< i32: from a coordinate to what is compared with `exists`; null: 0
    int tileDim = -1;  ///< of the copied tile; -1: one element wide
    Value own;         ///< i32: this thread's part of the coordinate
  };

  Dim describe(unsigned arrayDim);
  void setOwnCoordinate(Dim &dim);
  unsigned pieceElements();
  Value sourceAddress(uint64_t flat);
  Value existsAt(uint64_t flat);
  Value targetAddress(uint64_t number);
  void copyPiece(uint64_t number, unsigned elements);

  Emitter &e;
  OpBuilder &builder;
  Location loc;
  tgpu::CopyOp op;
  Value place;
  Value uniform; ///< i1: anything is copied at all; null: that is known
  tgpu::BufferType buffer;
  const ArrayView &view;
  int64_t elementBytes;
  Layout inBuffer; ///< the copied tile's places
  Layout layout;
  Layout offsets; ///< (register, lane, warp) -> offset in the buffer
  SmallVector<Dim, 6> dims;
  Value ownSource, ownTarget;
  uint64_t targetBits = 0;
  std::map<std::pair<unsigned, uint64_t>, Value> inside;
};

} // namespace tilec

/// Start and extent along one dim of the array, as TileAccess finds them: nothing
/// exists of a tile that begins behind the end, where the start may have overflowed; one
/// that begins before the array, counted in elements, may reach into it.
AsyncCopyEmitter::Dim AsyncCopyEmitter::describe(unsigned arrayDim) {
  Dim dim;
  Value index = e.toI64(e.get(op.getIndex()[arrayDim]));
  Value size = view.dims[arrayDim];
  ArrayRef<int64_t> order = op.getOrder();
  const int64_t *found = llvm::find(order, int64_t(arrayDim));
  if (found != order.end())
    dim.tileDim = int(found - order.begin());
  int64_t width = dim.tileDim < 0 ? 1 : inBuffer.shape()[dim.tileDim];
  unsigned log = llvm::Log2_64(uint64_t(width));
  dim.start = index;
  Value limit = size;
  if (!op.getElements() && log) {
    dim.start = arith::ShLIOp::create(builder, loc, index, e.i64(log));
    limit = arith::AddIOp::create(builder, loc, size, e.i64(width - 1));
    limit = arith::ShRUIOp::create(builder, loc, limit, e.i64(log));
  }
  Value begins = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, limit);
  if (width == 1) {
    uniform = uniform ? arith::AndIOp::create(builder, loc, uniform, begins).getResult()
                      : begins;
    return dim;
  }
  Value whole = e.i64(width);
  IndexRange range = e.facts.rangeOf(op.getIndex()[arrayDim], op);
  if (op.getElements() && range.min < 0) {
    bool fits = range.min >= INT32_MIN && range.max <= INT32_MAX;
    auto [shift, count] =
        emitExistingPart(builder, loc, index, size, width, {fits, e.isIndex32});
    dim.shift = shift;
    dim.exists = count;
    setOwnCoordinate(dim);
    return dim;
  }
  Value rest = arith::SubIOp::create(builder, loc, size, dim.start);
  Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, rest, whole);
  Value extent = arith::SelectOp::create(builder, loc, fits, whole, rest);
  extent = arith::SelectOp::create(builder, loc, begins, extent, e.i64(0));
  dim.exists = arith::TruncIOp::create(builder, loc, builder.getI32Type(), extent);
  setOwnCoordinate(dim);
  return dim;
}

void AsyncCopyEmitter::setOwnCoordinate(Dim &dim) {
  LinearBases bases;
  for (uint64_t basis : threadBases(layout))
    bases.push_back(layout.field(basis, unsigned(dim.tileDim)));
  dim.own = emitLinear(builder, loc, e.thread, bases);
}

/// How many elements one instruction may move: what is aligned at both ends.
unsigned AsyncCopyEmitter::pieceElements() {
  if (!e.isAligned16 || view.type.isStrided())
    return 1;
  ArrayRef<int64_t> order = op.getOrder();
  unsigned innermost = unsigned(view.type.getRank() - 1);
  const int64_t *found = llvm::find(order, int64_t(innermost));
  if (found == order.end())
    return 1;
  unsigned tileDim = unsigned(found - order.begin());
  int64_t most = copyPieceBytes / elementBytes;
  if (op.getElements())
    most = std::min(most, e.facts.multipleOf(op.getIndex()[innermost]));
  // A single row may end within a piece.
  if (view.type.getRank() < 2)
    most = std::min(most, e.facts.dimMultiple(op.getArray(), innermost));
  unsigned bits = 0;
  ArrayRef<uint64_t> sources = layout.bases(Input::Register);
  ArrayRef<uint64_t> targets = offsets.bases(Input::Register);
  uint64_t others = 0;
  for (uint64_t basis : threadBases(offsets))
    others |= basis;
  while (bits < sources.size() && (int64_t(2) << bits) <= most &&
         layout.field(sources[bits], tileDim) == uint64_t(1) << bits &&
         targets[bits] == uint64_t(1) << bits && !(others >> bits & 1))
    ++bits;
  return 1u << bits;
}

Value AsyncCopyEmitter::sourceAddress(uint64_t flat) {
  Value offset;
  for (auto [arrayDim, dim] : llvm::enumerate(dims)) {
    uint64_t own = dim.tileDim < 0 ? 0 : layout.field(flat, unsigned(dim.tileDim));
    if (!own)
      continue;
    Value term = arith::MulIOp::create(builder, loc, e.i64(int64_t(own)), view.strides[arrayDim]);
    offset = offset ? arith::AddIOp::create(builder, loc, offset, term).getResult() : term;
  }
  if (!offset)
    return ownSource;
  return LLVM::GEPOp::create(builder, loc, ownSource.getType(),
                             storedType(buffer.getElementType()), ownSource,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// i1: the element exists; null where that is known.
Value AsyncCopyEmitter::existsAt(uint64_t flat) {
  Value all = uniform;
  for (auto [arrayDim, dim] : llvm::enumerate(dims)) {
    if (!dim.exists)
      continue;
    uint64_t own = layout.field(flat, unsigned(dim.tileDim));
    Value &known = inside[{unsigned(arrayDim), own}];
    if (!known) {
      Value coordinate = dim.own;
      if (own)
        coordinate = arith::AddIOp::create(builder, loc, coordinate, e.i32(int64_t(own)));
      if (dim.shift)
        coordinate = arith::AddIOp::create(builder, loc, coordinate, dim.shift);
      known = arith::CmpIOp::create(builder, loc,
                                    dim.shift ? arith::CmpIPredicate::ult
                                              : arith::CmpIPredicate::slt,
                                    coordinate, dim.exists);
    }
    all = all ? arith::AndIOp::create(builder, loc, all, known).getResult() : known;
  }
  return all;
}

Value AsyncCopyEmitter::targetAddress(uint64_t number) {
  uint64_t constant = offsets.applyFlat(Position::thread(number, 0));
  Value offset = emitXor(builder, loc, ownTarget, targetBits, constant);
  return LLVM::GEPOp::create(builder, loc, place.getType(),
                             storedType(buffer.getElementType()), place,
                             ArrayRef<LLVM::GEPArg>{offset});
}

void AsyncCopyEmitter::copyPiece(uint64_t number, unsigned elements) {
  uint64_t flat = layout.applyFlat(Position::thread(number, 0));
  int64_t bytes = int64_t(elements) * elementBytes;
  Value source = sourceAddress(flat), target = targetAddress(number);
  Value exists = existsAt(flat);
  if (bytes >= 4)
    return e.emitAsyncPiece(target, source, bytes, exists);
  Type type = storedType(buffer.getElementType());
  if (elements > 1)
    type = VectorType::get(int64_t(elements), type);
  if (exists) {
    Value zeros = LLVM::AddressOfOp::create(builder, loc, source.getType(), zeroGlobalName);
    source = arith::SelectOp::create(builder, loc, exists, source, zeros);
  }
  Value loaded = LLVM::LoadOp::create(builder, loc, type, source, unsigned(bytes));
  LLVM::StoreOp::create(builder, loc, loaded, target, unsigned(bytes));
}

void AsyncCopyEmitter::emit() {
  for (unsigned arrayDim = 0; arrayDim < view.dims.size(); ++arrayDim)
    dims.push_back(describe(arrayDim));
  Value offset;
  for (auto [arrayDim, dim] : llvm::enumerate(dims)) {
    Value position = dim.start;
    if (dim.own)
      position = arith::AddIOp::create(
          builder, loc, position,
          arith::ExtUIOp::create(builder, loc, builder.getI64Type(), dim.own));
    Value term = arith::MulIOp::create(builder, loc, position, view.strides[arrayDim]);
    offset = offset ? arith::AddIOp::create(builder, loc, offset, term).getResult() : term;
  }
  ownSource = LLVM::GEPOp::create(builder, loc, view.base.getType(),
                                  storedType(buffer.getElementType()), view.base,
                                  ArrayRef<LLVM::GEPArg>{offset});
  LinearBases bases = threadBases(offsets);
  ownTarget = emitLinear(builder, loc, e.thread, bases);
  targetBits = reachableBits(bases);

  unsigned elements = pieceElements();
  auto copyAll = [&] {
    for (uint64_t number = 0; number < layout.size(Input::Register); number += elements)
      copyPiece(number, elements);
  };
  Value isFirst = emitIsFirstCopy(builder, loc, layout, e.thread);
  if (!isFirst)
    return copyAll();
  auto branch = scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  copyAll();
}

//===------------------------------------------------------------------------===//
// Rings
//===------------------------------------------------------------------------===//

LogicalResult Emitter::emitThreadRing(tgpu::RingOp op) {
  if (!op.getOffset())
    return op.emitError("ring has no offset: run --tile-allocate-memory first");
  ThreadRing ring;
  ring.type = op.getRing().getType();
  ring.places = sharedAddress(*op.getOffset());
  ring.pushOffset = emitStackVariable(0);
  ring.popOffset = emitStackVariable(0);
  ring.ahead = emitStackVariable(0);
  threadRings.try_emplace(op.getRing(), ring);
  return success();
}

/// The place at the cursor, which goes on to the next.
Value Emitter::takePlace(const ThreadRing &ring, Value cursor) {
  Value offset = load(cursor);
  Value next =
      arith::AddIOp::create(builder, loc, offset, i32(ring.type.getStageBytes()));
  Value isEnd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, next,
                                      i32(ring.type.getBytes()));
  next = arith::SelectOp::create(builder, loc, isEnd, i32(0), next);
  store(next, cursor);
  return addBytes(ring.places, offset);
}

LogicalResult Emitter::emitThreadPush(tgpu::PushOp op, Value condition) {
  const ThreadRing &ring = threadRings.find(op.getRing())->second;
  // With one place, the readers of the last group may still be at it, unless ScheduleLoops has
  // put the push to where all have met.
  bool isAhead = llvm::any_of(op.getRing().getUsers(), [](Operation *user) {
    return isa<tgpu::PopOp>(user) && user->hasAttr(tgpu::pendingAttrName);
  });
  if (ring.type.getStages() == 1 && !isAhead && failed(emitBarrier()))
    return failure();
  Value place = takePlace(ring, ring.pushOffset);
  for (Operation &inner : op.getCopies().front()) {
    loc = inner.getLoc();
    auto bufferOf = [&](auto copy) {
      return addBytes(place, ring.type.getSlotOffset(unsigned(copy.getSlot())));
    };
    if (auto copy = dyn_cast<tgpu::CopyOp>(inner))
      AsyncCopyEmitter(*this, copy, bufferOf(copy), condition).emit();
    else if (auto copy = dyn_cast<tgpu::CopyGatheredOp>(inner))
      emitCopyGathered(copy, bufferOf(copy), condition);
  }
  loc = op.getLoc();
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  Value one = i32(1);
  if (condition)
    one = arith::ExtUIOp::create(builder, loc, one.getType(), condition);
  Value ahead = arith::AddIOp::create(builder, loc, load(ring.ahead), one);
  store(ahead, ring.ahead);
  return success();
}

LogicalResult Emitter::emitThreadPop(tgpu::PopOp op) {
  const ThreadRing &ring = threadRings.find(op.getRing())->second;
  Value ahead = load(ring.ahead);
  int64_t stages = ring.type.getStages();
  if (auto pending = op->getAttrOfType<IntegerAttr>(tgpu::pendingAttrName)) {
    NVVM::CpAsyncWaitGroupOp::create(builder, loc, uint32_t(pending.getInt()));
  } else if (stages > 2) {
    Value isFull = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, ahead,
                                         i32(stages - 1));
    auto wait = [&](int64_t pending) {
      return [=, this](OpBuilder &body, Location) {
        NVVM::CpAsyncWaitGroupOp::create(body, loc, uint32_t(pending));
        scf::YieldOp::create(body, loc);
      };
    };
    scf::IfOp::create(builder, loc, isFull, wait(stages - 2), wait(0));
  } else {
    NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
  }
  ahead = arith::SubIOp::create(builder, loc, ahead, i32(1));
  store(ahead, ring.ahead);
  if (failed(emitBarrier()))
    return failure();
  Value place = takePlace(ring, ring.popOffset);
  for (auto [slot, buffer] : llvm::enumerate(op.getBuffers()))
    set(buffer, addBytes(place, ring.type.getSlotOffset(unsigned(slot))));
  return success();
}

std::optional<LogicalResult> Emitter::emitConditionalPush(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  tgpu::PushOp push = branch ? tgpu::getConditionalPush(branch) : tgpu::PushOp();
  if (!push)
    return std::nullopt;
  for (Operation &op : branch.getThenRegion().front().without_terminator()) {
    loc = op.getLoc();
    if (&op == push)
      return emitThreadPush(push, get(branch.getCondition()));
    if (failed(emitOperation(&op)))
      return failure();
  }
  return success();
}

void Emitter::emitWaitAfterLoop(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return;
  bool isFirst = true;
  for (auto pop : loop.getBody()->getOps<tgpu::PopOp>()) {
    auto ring = threadRings.find(pop.getRing());
    if (ring == threadRings.end() || !pop->hasAttr(tgpu::pendingAttrName))
      continue;
    if (isFirst)
      NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
    isFirst = false;
    store(load(ring->second.popOffset), ring->second.pushOffset);
  }
}
