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
// Before they meet each thread fences its copies, where instructions read them that do not go
// the way of loads and stores.
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
#include "AsyncCopy.h"

#include "tilec/TileGPU/ConditionalPush.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;

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
  ring.needsFence = RingReaders::of(op.getRing()).products();
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
      emitUnder(emitHasIndices(copy), [&] { emitCopyGathered(copy, bufferOf(copy), condition); });
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
  if (ring.needsFence)
    (void)emitFenceAsync();
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
