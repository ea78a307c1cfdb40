//===- Specialize.cpp - warps with a part of their own ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// tgpu.specialize access { A } execute { E }
//   →
// if (warp >= num_warps) {            a whole warp group, so that it can give registers up
//   give registers up
//   if (warp == num_warps && elected) { A, wait until the rings of products are empty }
// } else {
//   take registers
//   E                                 barriers are of these warps alone
// }
//
// Where threads copy, in A, all of the group run it, with numbers from 0 on, and wait for
// their copies at its end.
//
// The warp's number comes from lane 0, so that the assembler sees that warps do not
// diverge here.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Tile/Contains.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

/// The access part by one thread of its first warp.
LogicalResult Emitter::emitAccessOfOne(tgpu::SpecializeOp op) {
  int64_t numWarps = kernel.getNumWarps().value_or(4);
  Value isFirstWarp = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, warp(),
                                            i32(numWarps));
  auto first = scf::IfOp::create(builder, loc, isFirstWarp, /*withElse=*/false);
  builder.setInsertionPointToStart(first.thenBlock());
  Value elected = NVVM::ElectSyncOp::create(builder, loc, builder.getI1Type(), Value());
  auto speaker = scf::IfOp::create(builder, loc, elected, /*withElse=*/false);
  builder.setInsertionPointToStart(speaker.thenBlock());
  isSingleThread = true;
  if (failed(emitBlock(op.getAccess().front())))
    return failure();
  loc = op.getLoc();
  // What the hardware arrives for comes late, and may come from another block: it must be
  // there before this block leaves and its barriers are gone.
  for (auto made : kernel.getBody().front().getOps<tgpu::RingOp>()) {
    auto found = rings.find(made.getRing());
    if (found == rings.end() || !found->second.isReadByIssuer)
      continue;
    const RingState &ring = found->second;
    for (int64_t place = 0; place < ring.type.getStages(); ++place) {
      waitForPhase(barrierAddress(ring, stageAt(ring, ring.push), /*isEmpty=*/true),
                   parityAt(ring, ring.push));
      advance(ring, ring.push);
    }
  }
  isSingleThread = false;
  return success();
}

/// The access part by all of its threads.
LogicalResult Emitter::emitAccessOfAll(tgpu::SpecializeOp op) {
  Value ofBlock = thread, warpOfBlock = std::exchange(uniformWarp, Value());
  thread = arith::SubIOp::create(builder, loc, thread, i32(numThreads()));
  isAccessPart = true;
  if (failed(emitBlock(op.getAccess().front())))
    return failure();
  isAccessPart = false;
  loc = op.getLoc();
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
  thread = ofBlock;
  uniformWarp = warpOfBlock;
  return success();
}

LogicalResult Emitter::emitSpecialize(tgpu::SpecializeOp op) {
  int64_t numWarps = kernel.getNumWarps().value_or(4);
  auto moveRegisters = [&](unsigned part, NVVM::SetMaxRegisterAction action) {
    if (std::optional<ArrayRef<int64_t>> registers = op.getRegisters())
      NVVM::SetMaxRegisterOp::create(builder, loc, uint32_t((*registers)[part]), action);
  };
  Value isAccess = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, warp(),
                                         i32(numWarps));
  auto roles = scf::IfOp::create(builder, loc, isAccess, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(builder);

  builder.setInsertionPointToStart(roles.thenBlock());
  moveRegisters(0, NVVM::SetMaxRegisterAction::decrease);
  bool byAll = llvm::any_of(rings, [](const auto &ring) {
    return ring.second.copyingThreads != 0;
  });
  if (failed(byAll ? emitAccessOfAll(op) : emitAccessOfOne(op)))
    return failure();

  builder.setInsertionPointToStart(roles.elseBlock());
  moveRegisters(1, NVVM::SetMaxRegisterAction::increase);
  isExecutePart = true;
  if (contains<tgpu::TakeTurnOp>(op.getExecute()))
    startTurns();
  if (failed(emitBlock(op.getExecute().front())))
    return failure();
  emitTensorMemoryEnd();
  isExecutePart = false;
  return success();
}

/// Clusters lie side by side along x.
static Value countClusters(OpBuilder &builder, Location loc, Value blocks, int64_t size) {
  if (size > 1)
    blocks = arith::ShRUIOp::create(
        builder, loc, blocks,
        arith::ConstantIntOp::create(builder, loc, llvm::Log2_64(uint64_t(size)), 32));
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), blocks);
}

Value Emitter::emitResidentBlock() {
  if (hasClusterOfLaunch())
    return arith::IndexCastUIOp::create(
        builder, loc, builder.getIndexType(),
        NVVM::ClusterIdXOp::create(builder, loc, builder.getI32Type()));
  Value number = NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
  return countClusters(builder, loc, number, clusterSize);
}

Value Emitter::emitNumResidentBlocks() {
  if (hasClusterOfLaunch())
    return arith::IndexCastUIOp::create(
        builder, loc, builder.getIndexType(),
        NVVM::ClusterDimXOp::create(builder, loc, builder.getI32Type()));
  Value number = NVVM::GridDimXOp::create(builder, loc, builder.getI32Type());
  if (sumBytes)
    number = arith::MulIOp::create(builder, loc, number, numParts());
  return countClusters(builder, loc, number, clusterSize);
}

Value Emitter::clusterRank() {
  if (hasClusterOfLaunch())
    return NVVM::BlockInClusterIdXOp::create(builder, loc, builder.getI32Type());
  Value number = NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
  return arith::AndIOp::create(builder, loc, number, i32(clusterSize - 1));
}

void Emitter::emitClusterBarrier(bool isAligned) {
  UnitAttr aligned = isAligned ? builder.getUnitAttr() : UnitAttr();
  NVVM::ClusterArriveRelaxedOp::create(builder, loc, aligned);
  NVVM::ClusterWaitOp::create(builder, loc, aligned);
}
