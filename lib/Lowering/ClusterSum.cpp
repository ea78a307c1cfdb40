//===- ClusterSum.cpp - blocks of a cluster add up their parts ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: tgpu.cluster_sum, whose tile lies in the same registers of the same threads in all
// blocks. Out: each thread works with the threads of its number in the other blocks:
//
//   my places of scratch = my registers           pieces of 16 bytes
//   all blocks meet
//   for each piece p with p mod blocks == rank:
//     block 0's place p = sum over blocks b, in their order, of b's place p
//   all blocks meet
//   my registers = my places of scratch           the sums, in block 0
//
// So every block adds an equal share, no two threads touch one place between meetings, and
// the order of the sum is fixed. Nobody leaves before the second meeting, after which no
// block reads or writes another's memory.
//
// The barrier of a meeting counts a warp of each block; a warp's lane b arrives at block b.
// What was written is ordered by fences of the cluster's scope around it.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Atoms/HelperCall.h"
#include "tilec/Atoms/ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

Value Emitter::clusterBlocks() {
  if (splitK && *splitK)
    return i32(*splitK);
  if (!hasClusterOfLaunch())
    return i32(clusterSize);
  return NVVM::ClusterDimBlocksXOp::create(builder, loc, builder.getI32Type());
}

static void createFence(OpBuilder &builder, Location loc) {
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acq_rel, "cluster");
}

void Emitter::emitMeetings() {
  SmallVector<tgpu::ClusterSumOp> sums;
  kernel.walk([&](tgpu::ClusterSumOp op) { sums.push_back(op); });
  if (sums.empty())
    return;
  Value count = arith::MulIOp::create(builder, loc, clusterBlocks(),
                                      i32(int64_t(kernel.getNumWarps().value_or(4))));
  SmallVector<Value> barriers;
  for (tgpu::ClusterSumOp op : sums) {
    auto alloc = op.getMeeting().getDefiningOp<tgpu::AllocOp>();
    barriers.push_back(sharedAddress(int64_t(alloc.getOffset().value_or(0))));
    meetings.try_emplace(op.getMeeting(), emitStackVariable(0));
  }
  emitByFirstThread([&] {
    for (Value barrier : barriers)
      NVVM::MBarrierInitOp::create(builder, loc, barrier, count, Value());
    NVVM::FenceMbarrierInitOp::create(builder, loc);
  });
  emitClusterBarrier(/*isAligned=*/true);
}

/// All warps of all blocks come here before any goes on.
void Emitter::emitMeeting(Value barrier, Value parity) {
  createFence(builder, loc);
  NVVM::SyncWarpOp::create(builder, loc, i32(-1));
  arriveAtBlocks(barrier, clusterBlocks());
  Value phase = load(parity);
  waitForPhase(barrier, phase);
  store(arith::XOrIOp::create(builder, loc, phase, i32(1)), parity);
  createFence(builder, loc);
}

LogicalResult Emitter::emitClusterSum(tgpu::ClusterSumOp op) {
  if (!op.getMeeting())
    return op.emitError("the sum has no scratch: run --tile-stage-operands first");
  Value part = get(op.getTile()), scratch = get(op.getScratch());
  Value barrier = get(op.getMeeting()), parity = meetings.lookup(op.getMeeting());
  auto type = cast<VectorType>(part.getType());
  Type element = type.getElementType();
  int64_t registers = type.getNumElements();
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  int64_t threads = 32 * int64_t(kernel.getNumWarps().value_or(4));
  int64_t piece = std::min<int64_t>(registers, 16 / elementBytes), pieces = registers / piece;

  // Register r of thread t: piece r / piece of all threads, then t, then r % piece.
  BufferAccess own;
  own.base = scratch;
  own.elementType = element;
  own.offset = arith::MulIOp::create(builder, loc, thread, i32(piece));
  own.offsetBits = uint64_t(threads - 1) * uint64_t(piece);
  for (int64_t bit = 1; bit < registers; bit *= 2)
    own.registerBases.push_back(uint64_t(bit < piece ? bit : bit * threads));
  emitSharedStore(builder, loc, own, part);
  emitMeeting(barrier, parity);

  auto remote = LLVM::LLVMPointerType::get(builder.getContext(), 7);
  Type pieceType = piece > 1 ? Type(VectorType::get(piece, element)) : element;
  auto alignment = unsigned(piece * elementBytes);
  Value blocks = clusterBlocks(), rank = clusterRank();
  auto add = [&](OpBuilder &at, Value a, Value b) -> Value {
    if (isa<FloatType>(element))
      return arith::AddFOp::create(at, loc, a, b);
    return arith::AddIOp::create(at, loc, a, b);
  };
  scf::ForOp::create(
      builder, loc, rank, i32(pieces), blocks, ValueRange(),
      [&](OpBuilder &body, Location, Value number, ValueRange) {
        auto constant = [&](int64_t value) { return emitI32(body, loc, value); };
        Value line = arith::MulIOp::create(body, loc, number, constant(threads * piece));
        Value offset = arith::AddIOp::create(body, loc, line, own.offset);
        Value place = LLVM::GEPOp::create(body, loc, scratch.getType(), element, scratch,
                                          ArrayRef<LLVM::GEPArg>{offset});
        auto at = [&](OpBuilder &inner, Value block) -> Value {
          return NVVM::MapaOp::create(inner, loc, remote, place, block);
        };
        Value home = at(body, constant(0));
        Value first = LLVM::LoadOp::create(body, loc, pieceType, home, alignment);
        auto others = scf::ForOp::create(
            body, loc, constant(1), blocks, constant(1), ValueRange(first),
            [&](OpBuilder &inner, Location, Value block, ValueRange sum) {
              Value next =
                  LLVM::LoadOp::create(inner, loc, pieceType, at(inner, block), alignment);
              scf::YieldOp::create(inner, loc, add(inner, sum[0], next));
            });
        LLVM::StoreOp::create(body, loc, others.getResult(0), home, alignment);
        scf::YieldOp::create(body, loc);
      });
  emitMeeting(barrier, parity);
  set(op, emitSharedLoad(builder, loc, own));
  return success();
}
