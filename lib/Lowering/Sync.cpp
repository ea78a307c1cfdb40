//===- Sync.cpp - threads that wait for each other -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// `tgpu.barrier` is the block's barrier, or the warp's where a position of the grid has one
// warp; in the execute part of tgpu.specialize, a named barrier of its warps. What a warp
// group copies out has a barrier of its own. Turns of warp groups are named barriers, too:
// one group waits there, and the one before only arrives. `tgpu.fence_async` orders this
// thread's stores to shared memory before what copy engine and products read there.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;

/// Barrier 0 is that of all threads.
static constexpr int64_t executeBarrier = 1;
/// That of warp group 0; there are at most eight.
static constexpr int64_t firstGroupBarrier = 2;

LogicalResult Emitter::emitBarrier() {
  if (!isExecutePart) {
    if (numThreads() == 32)
      NVVM::SyncWarpOp::create(builder, loc, i32(-1));
    else
      NVVM::Barrier0Op::create(builder, loc);
    return success();
  }
  NVVM::BarrierOp::create(builder, loc, TypeRange(), i32(executeBarrier), i32(numThreads()),
                          NVVM::BarrierReductionAttr(), Value());
  return success();
}

void Emitter::emitGroupBarrier() {
  Value number = arith::AddIOp::create(builder, loc, warpGroup(), i32(firstGroupBarrier));
  NVVM::BarrierOp::create(builder, loc, TypeRange(), number, i32(128),
                          NVVM::BarrierReductionAttr(), Value());
}

/// Barriers 10, 11, … stand for the turns of warp groups 0, 1, …: where a group waits
/// for its turn it meets the group before, which does not wait.
static constexpr int64_t firstTurnBarrier = 10;
static constexpr int64_t turnThreads = 2 * 128;

LogicalResult Emitter::emitTakeTurn() {
  Value id = arith::AddIOp::create(builder, loc, warpGroup(), i32(firstTurnBarrier));
  NVVM::BarrierOp::create(builder, loc, TypeRange(), id, i32(turnThreads),
                          NVVM::BarrierReductionAttr(), Value());
  return success();
}

void Emitter::arriveForTurn(Value group) {
  Value id = arith::AddIOp::create(builder, loc, group, i32(firstTurnBarrier));
  LLVM::CallIntrinsicOp::create(
      builder, loc, builder.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
      ValueRange{id, i32(turnThreads)});
}

LogicalResult Emitter::emitPassTurn() {
  int64_t numGroups = int64_t(kernel.getNumWarps().value_or(4)) / 4;
  Value next = arith::AddIOp::create(builder, loc, warpGroup(), i32(1));
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, next,
                                       i32(numGroups));
  arriveForTurn(arith::SelectOp::create(builder, loc, isLast, i32(0), next));
  return success();
}

/// The first turn is group 0's, as if the last group had passed it on.
void Emitter::startTurns() {
  int64_t numGroups = int64_t(kernel.getNumWarps().value_or(4)) / 4;
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, warpGroup(),
                                       i32(numGroups - 1));
  emitUnder(isLast, [&] { arriveForTurn(i32(0)); });
}

LogicalResult Emitter::emitFenceAsync() {
  NVVM::FenceProxyOp::create(
      builder, loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(builder.getContext(), NVVM::SharedSpace::shared_cta));
  return success();
}

LogicalResult Emitter::emitGridControl(Operation *op) {
  NVVM::GriddepcontrolOp::create(builder, loc,
                                 isa<tgpu::AwaitGridsOp>(op)
                                     ? NVVM::GridDepActionKind::wait
                                     : NVVM::GridDepActionKind::launch_dependents);
  return success();
}

Value Emitter::warpGroup() {
  return arith::ShRUIOp::create(builder, loc, warp(), i32(2));
}

Value Emitter::warp() {
  if (uniformWarp)
    return uniformWarp;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(thread);
  Value number = arith::ShRUIOp::create(builder, loc, thread, i32(5));
  uniformWarp = NVVM::ShflOp::create(builder, loc, number.getType(), i32(-1), number, i32(0),
                                     i32(31), NVVM::ShflKind::idx, UnitAttr());
  return uniformWarp;
}
