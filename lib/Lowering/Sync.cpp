//===- Sync.cpp - threads that wait for each other -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// `tgpu.barrier` is the block's barrier; in the execute part of tgpu.specialize, a
// named barrier of its warps. What a warp group copies out has a barrier of its own. `tgpu.fence_async` orders this thread's stores to shared
// memory before what copy engine and products read there.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tilec;

/// Barrier 0 is that of all threads.
static constexpr int64_t executeBarrier = 1;
/// That of warp group 0; there are at most eight.
static constexpr int64_t firstGroupBarrier = 2;

LogicalResult Emitter::emitBarrier() {
  if (!isExecutePart) {
    NVVM::Barrier0Op::create(builder, loc);
    return success();
  }
  int64_t numThreads = 32 * int64_t(kernel.getNumWarps().value_or(4));
  NVVM::BarrierOp::create(builder, loc, TypeRange(), i32(executeBarrier), i32(numThreads),
                          NVVM::BarrierReductionAttr(), Value());
  return success();
}

void Emitter::emitGroupBarrier() {
  Value number = arith::AddIOp::create(builder, loc, warpGroup(), i32(firstGroupBarrier));
  NVVM::BarrierOp::create(builder, loc, TypeRange(), number, i32(128),
                          NVVM::BarrierReductionAttr(), Value());
}

LogicalResult Emitter::emitFenceAsync() {
  NVVM::FenceProxyOp::create(
      builder, loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(builder.getContext(), NVVM::SharedSpace::shared_cta));
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
