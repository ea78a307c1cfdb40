//===- Rings.cpp - rings that the copy engine fills -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: tgpu.ring, push, pop, release. Out: two barriers in memory for each place, `full`
// and `empty`, and per thread a stage and a parity for each of the three roles: two
// variables, or one counter where the number of stages is a power of two.
//
//   push     wait empty[s], parity p       p begins as 1: a fresh barrier lets that pass
//            full[s]: one arrival, bytes expected; start the copies
//   pop      wait full[s], parity p        p begins as 0
//   release  one arrival per warp at empty[s]
//
// and each moves on: s = s + 1 mod stages, p changes after the last stage.
//
// One thread pushes: the only one that runs the access part of tgpu.specialize, or the
// block's first. Where a push gathers, all threads of the access part run it (or the block's
// first so many): each starts its copies and has the barrier `full` count one arrival when
// they are complete; one of them tells the engine of the rest. Who pops then fences, before
// instructions read that do not go the way of loads and stores:
//
//   push     wait empty[s], parity p
//            cp.async …, cp.async.mbarrier.arrive.noinc full[s]      full[s] counts threads
//   pop      wait full[s], parity p; fence.proxy.async
//
// Warps that bring tiles in pieces of their own (copy "warps") do the same.
//
// Where one thread issues the products that read a ring, it alone pops and releases: the
// other warps would fall behind, and a barrier's parity tells only two phases apart. The
// release is the completion of its products, which the hardware arrives for.
//
// In a cluster a copy may write to the same place of all blocks, each of which expects
// all bytes of a group, whoever copies them. So a place is free when the warps of all
// blocks have released it, and a warp releases it in all blocks.
//
// Arrivals have the scope of a block, also those at other blocks' barriers: the wider one
// costs a fence of all of the chip's memory.
//
//===------------------------------------------------------------------------===//
#include "AsyncCopy.h"

#include "tilec/Analysis/CopyLayout.h"
#include "tilec/Atoms/Atom.h"
#include "tilec/Atoms/HelperCall.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

static constexpr int32_t barrierBytes = 8;

//===------------------------------------------------------------------------===//
// Where a thread stands
//===------------------------------------------------------------------------===//

/// A variable of the whole function, set here.
Value Emitter::emitStackVariable(int64_t initial) {
  Value variable;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
    variable = LLVM::AllocaOp::create(builder, loc, pointer, builder.getI32Type(), i32(1));
  }
  store(i32(initial), variable);
  return variable;
}

Value Emitter::load(Value variable) {
  return LLVM::LoadOp::create(builder, loc, builder.getI32Type(), variable);
}
void Emitter::store(Value value, Value variable) {
  LLVM::StoreOp::create(builder, loc, value, variable);
}

/// A number of stages that is a power of two needs one counter only: the stage is its low
/// bits, and the bit above them the parity.
static bool isCounted(const RingState &ring) {
  return llvm::isPowerOf2_64(uint64_t(ring.type.getStages()));
}

RingCursor Emitter::emitCursor(const RingState &ring, int64_t parity, bool waits) {
  if (isCounted(ring))
    return {emitStackVariable(parity * ring.type.getStages()), Value()};
  return {emitStackVariable(0), waits ? emitStackVariable(parity) : Value()};
}

Value Emitter::stageAt(const RingState &ring, const RingCursor &cursor) {
  if (!isCounted(ring))
    return load(cursor.place);
  return arith::AndIOp::create(builder, loc, load(cursor.place),
                               i32(ring.type.getStages() - 1));
}

Value Emitter::parityAt(const RingState &ring, const RingCursor &cursor) {
  if (!isCounted(ring))
    return load(cursor.parity);
  Value rounds = arith::ShRUIOp::create(builder, loc, load(cursor.place),
                                        i32(llvm::Log2_64(uint64_t(ring.type.getStages()))));
  return arith::AndIOp::create(builder, loc, rounds, i32(1));
}

void Emitter::advance(const RingState &ring, const RingCursor &cursor) {
  Value next = arith::AddIOp::create(builder, loc, load(cursor.place), i32(1));
  if (isCounted(ring))
    return store(next, cursor.place);
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, next,
                                       i32(ring.type.getStages()));
  store(arith::SelectOp::create(builder, loc, isLast, i32(0), next), cursor.place);
  if (!cursor.parity)
    return;
  Value old = load(cursor.parity);
  Value other = arith::XOrIOp::create(builder, loc, old, i32(1));
  store(arith::SelectOp::create(builder, loc, isLast, other, old), cursor.parity);
}

//===------------------------------------------------------------------------===//
// Barriers
//===------------------------------------------------------------------------===//

/// Named anew at each use, by something that optimisation does not merge: held from the
/// kernel's start on, the address of shared memory would live in a register of each
/// thread, and ptxas take the barriers found from it, what waits for them and all that
/// follows to differ between threads.
Value Emitter::ringAddress(int64_t offset) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  HelperText base;
  base.name = "tilec.shared.base";
  return addBytes(emitHelper(builder, loc, base, pointer, {}).front(), offset);
}

Value Emitter::barrierAddress(const RingState &ring, Value stage, bool isEmpty) {
  Value first =
      ringAddress(ring.barriers + (isEmpty ? ring.type.getStages() * barrierBytes : 0));
  return addBytes(first, arith::MulIOp::create(builder, loc, stage, i32(barrierBytes)));
}

/// A try may sleep for so many nanoseconds, unless the phase is complete before: without it, as
/// long as the chip likes, warps wake up often, and take issue slots from those that compute.
static constexpr int32_t longestSleep = 10'000'000;

/// Tries until the phase with `parity` is complete; each try sleeps for a while.
void Emitter::waitForPhase(Value barrier, Value parity) {
  Value sleep = i32(longestSleep);
  scf::WhileOp::create(
      builder, loc, TypeRange(), ValueRange(),
      [&](OpBuilder &body, Location, ValueRange) {
        Value done = NVVM::MBarrierTryWaitOp::create(body, loc, body.getI1Type(), barrier,
                                                     parity, sleep);
        Value yes = arith::ConstantIntOp::create(body, loc, 1, 1);
        Value again = arith::XOrIOp::create(body, loc, done, yes);
        scf::ConditionOp::create(body, loc, again, ValueRange());
      },
      [&](OpBuilder &body, Location, ValueRange) { scf::YieldOp::create(body, loc); });
}

/// The address is made by all lanes, of a block that exists: optimisation may compute it
/// outside of the branch anyway.
void Emitter::arriveAtBlocks(Value barrier, Value numBlocks) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 7);
  Value last = arith::SubIOp::create(builder, loc, numBlocks, i32(1));
  Value block = arith::AndIOp::create(builder, loc, lane(), last);
  Value remote = NVVM::MapaOp::create(builder, loc, pointer, barrier, block);
  Value speaks =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lane(), numBlocks);
  emitUnder(speaks, [&] {
    HelperText arrive;
    arrive.name = "tilec.mbarrier.arrive.cluster";
    emitHelper(builder, loc, arrive, TypeRange(), remote);
  });
}

//===------------------------------------------------------------------------===//
// The operations
//===------------------------------------------------------------------------===//

RingReaders RingReaders::of(Value ring) {
  RingReaders readers;
  for (Operation *user : ring.getUsers())
    if (isa<tgpu::PopOp>(user))
      for (Operation *reader : user->getUsers()) {
        auto mma = dyn_cast<tgpu::MmaOp>(reader);
        const Atom *atom = mma ? findAtom(mma.getAtom()) : nullptr;
        if (isa<tgpu::AccumulateOp>(reader))
          readers.issuer = true;
        else if (atom && atom->isAsync)
          readers.warpGroups = true;
        else
          readers.threads = true;
      }
  return readers;
}

/// Threads that copy at a push of `ring`; 0: the engine brings all.
static int64_t countCopyingThreads(tgpu::RingOp ring) {
  int64_t threads = ring.getCopy() == "warps" ? 32 * copyingWarps : 0;
  for (Operation *user : ring.getRing().getUsers())
    if (auto push = dyn_cast<tgpu::PushOp>(user))
      for (auto copy : push.getCopies().front().getOps<tgpu::CopyGatheredOp>()) {
        Layout layout = tile::getLayout(copy.getIndex().front().getType());
        threads = 32 * int64_t(layout.size(Input::Warp));
      }
  return threads;
}

/// Bytes that the engine brings at a push of its ring.
static int64_t bytesOfEngine(tgpu::PushOp push) {
  int64_t bytes = 0;
  for (auto copy : push.getCopies().front().getOps<tgpu::CopyOp>())
    bytes += copy.getBuffer().getBytes();
  return bytes;
}

/// Whether the engine has a part in all pushes of `ring`.
static bool usesEngine(tgpu::RingOp ring) {
  return ring.getCopy() == "tma" &&
         llvm::all_of(ring.getRing().getUsers(), [](Operation *user) {
           auto push = dyn_cast<tgpu::PushOp>(user);
           return !push || bytesOfEngine(push);
         });
}

/// `full` waits for one arrival of who tells the engine, and one of each thread that copies.
void Emitter::emitBarriersOf(const RingState &ring) {
  Value arrivals = i32(ring.copyingThreads + (ring.usesEngine ? 1 : 0));
  int64_t releases = ring.isReadByIssuer ? 1 : int64_t(kernel.getNumWarps().value_or(4));
  Value warps = clusterAxis ? arith::MulIOp::create(builder, loc, clusterBlocks(), i32(releases))
                            : i32(clusterSize * releases);
  int64_t numStages = ring.type.getStages();
  for (int64_t stage = 0; stage < numStages; ++stage)
    for (bool isEmpty : {false, true}) {
      int64_t number = stage + (isEmpty ? numStages : 0);
      NVVM::MBarrierInitOp::create(builder, loc,
                                   sharedAddress(ring.barriers + number * barrierBytes),
                                   isEmpty ? warps : arrivals, Value());
    }
  NVVM::FenceMbarrierInitOp::create(builder, loc);
}

LogicalResult Emitter::emitRing(tgpu::RingOp op) {
  if (op.isFilledByThreads())
    return emitThreadRing(op);
  if (!op.getOffset() || !op.getBarriers())
    return op.emitError("ring has no offsets: run --tile-allocate-memory first");
  RingState ring;
  ring.type = op.getRing().getType();
  ring.places = *op.getOffset();
  ring.barriers = *op.getBarriers();
  RingReaders readers = RingReaders::of(op.getRing());
  ring.isReadByThreads = readers.threads;
  ring.isReadByIssuer = accumulators && !readers.threads && !readers.warpGroups;
  ring.push = emitCursor(ring, /*parity=*/1, /*waits=*/true);
  ring.pop = emitCursor(ring, /*parity=*/0, /*waits=*/true);
  ring.release = emitCursor(ring, /*parity=*/0, /*waits=*/false);

  ring.copyingThreads = countCopyingThreads(op);
  ring.usesEngine = usesEngine(op);
  ring.needsFence = ring.copyingThreads && readers.products();
  emitByFirstThread([&] { emitBarriersOf(ring); });
  rings.try_emplace(op.getRing(), ring);
  // The last ring's barrier is for all of them.
  auto next = dyn_cast<tgpu::RingOp>(op->getNextNode());
  if (next && !next.isFilledByThreads())
    return success();
  if (clusterSize == 1)
    return emitBarrier();
  emitClusterBarrier(/*isAligned=*/true);
  return success();
}

LogicalResult Emitter::emitPush(tgpu::PushOp op) {
  if (threadRings.contains(op.getRing()))
    return emitThreadPush(op, Value());
  const RingState &ring = rings.find(op.getRing())->second;
  auto start = [&] { fillPlace(op, ring); };
  if (isSingleThread || (isAccessPart && ring.copyingThreads))
    start();
  else if (ring.copyingThreads)
    emitUnder(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, thread,
                                    i32(ring.copyingThreads)),
              start);
  else
    emitByFirstThread(start);
  advance(ring, ring.push);
  return success();
}

/// Waits for the next place and starts the copies.
void Emitter::fillPlace(tgpu::PushOp op, const RingState &ring) {
  Value stage = stageAt(ring, ring.push);
  waitForPhase(barrierAddress(ring, stage, /*isEmpty=*/true), parityAt(ring, ring.push));
  Value full = barrierAddress(ring, stage, /*isEmpty=*/false);
  Value offset = arith::MulIOp::create(builder, loc, stage, i32(ring.type.getStageBytes()));
  Value place = addBytes(ringAddress(ring.places), offset);
  auto tellEngine = [&] {
    NVVM::MBarrierArriveExpectTxOp::create(builder, loc, Type(), full, i32(bytesOfEngine(op)),
                                           NVVM::MemScopeKind::CTA, false, Value());
    emitCopies(op, place, full);
  };
  if (!ring.copyingThreads)
    return tellEngine();
  if (ring.usesEngine)
    emitByFirstThread(tellEngine);
  Block &copies = op.getCopies().front();
  auto bufferOf = [&](auto copy) {
    loc = copy.getLoc();
    return addBytes(place, ring.type.getSlotOffset(unsigned(copy.getSlot())));
  };
  for (auto copy : copies.getOps<tgpu::CopyGatheredOp>()) {
    Value buffer = bufferOf(copy);
    emitCopyGathered(copy, buffer, /*condition=*/Value());
  }
  if (!ring.usesEngine)
    for (auto copy : copies.getOps<tgpu::CopyOp>()) {
      Value buffer = bufferOf(copy);
      AsyncCopyEmitter(*this, copy, buffer, /*condition=*/Value()).emitByWarps();
    }
  loc = op.getLoc();
  NVVM::CpAsyncMBarrierArriveOp::create(builder, loc, full, /*noinc=*/true);
}

LogicalResult Emitter::emitPop(tgpu::PopOp op) {
  if (threadRings.contains(op.getRing()))
    return emitThreadPop(op);
  const RingState &ring = rings.find(op.getRing())->second;
  Value stage = stageAt(ring, ring.pop);
  auto wait = [&] {
    waitForPhase(barrierAddress(ring, stage, /*isEmpty=*/false), parityAt(ring, ring.pop));
    if (ring.needsFence)
      (void)emitFenceAsync();
  };
  if (ring.isReadByIssuer)
    emitByIssuer(wait);
  else
    wait();
  Value offset = arith::MulIOp::create(builder, loc, stage, i32(ring.type.getStageBytes()));
  Value place = addBytes(ringAddress(ring.places), offset);
  for (auto [slot, buffer] : llvm::enumerate(op.getBuffers()))
    set(buffer, addBytes(place, ring.type.getSlotOffset(unsigned(slot))));
  advance(ring, ring.pop);
  return success();
}

LogicalResult Emitter::emitRelease(tgpu::ReleaseOp op) {
  if (threadRings.contains(op.getRing()))
    return success(); // the next pop is where all threads meet
  const RingState &ring = rings.find(op.getRing())->second;
  if (ring.isReadByIssuer) {
    Value empty = barrierAddress(ring, stageAt(ring, ring.release), /*isEmpty=*/true);
    emitByIssuer([&] { accumulators->commit(builder, loc, empty, clusterSize); });
    advance(ring, ring.release);
    return success();
  }
  if (ring.isReadByThreads)
    NVVM::SyncWarpOp::create(builder, loc, i32(-1));
  Value empty = barrierAddress(ring, stageAt(ring, ring.release), /*isEmpty=*/true);
  if (clusterSize > 1)
    arriveAtBlocks(empty, clusterBlocks());
  else
    emitUnder(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lane(), i32(1)),
              [&] {
                NVVM::MBarrierArriveOp::create(builder, loc, builder.getI64Type(), empty,
                                               Value());
              });
  advance(ring, ring.release);
  return success();
}
