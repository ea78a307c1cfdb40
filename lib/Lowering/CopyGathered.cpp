//===- CopyGathered.cpp - gathered elements on their way to a ring ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: tgpu.copy_gathered. Out: one cp.async for each run that this thread has the indices of:
//
//   cp.async.cg.shared.global [place + offset], [array + index0 * stride0 + index1], 16, size
//
// where `size` is 0, which writes zeros, if an index is outside or the mask false. Where the
// run goes follows from the layouts of the indices and of the buffer.
//
// Rings of all threads close a group behind it (RingsCpAsync.cpp). Rings with barriers have
// the barrier wait for the copies, of each copying thread by itself (Rings.cpp). Such copies
// write by the way of loads and stores: what reads by the other, as products of warp groups
// do, has a fence between the wait and the read.
//
//===------------------------------------------------------------------------===//
#include "MemoryAccess.h"

#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Tile/TileLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tilec;

void Emitter::emitAsyncCopy(Value target, Value source, int64_t bytes, Value size) {
  auto cache = bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(builder, loc, target, source, uint32_t(bytes), cache, size);
}

void Emitter::emitAsyncPiece(Value target, Value source, int64_t bytes, Value exists) {
  Value size;
  if (exists)
    size = arith::SelectOp::create(builder, loc, exists, i32(bytes), i32(0));
  emitAsyncCopy(target, source, bytes, size);
}

Value Emitter::emitHasIndices(tgpu::CopyGatheredOp op) {
  int64_t threads = 32 * int64_t(tile::getLayout(op.getIndex().front().getType()).size(Input::Warp));
  if (threads >= numThreads())
    return {};
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, thread, i32(threads));
}

void Emitter::emitCopyGathered(tgpu::CopyGatheredOp op, Value place, Value condition) {
  tgpu::BufferType buffer = op.getBuffer();
  auto type = cast<RankedTensorType>(op.getIndex().front().getType());
  Layout layout = layoutOf(type);
  Layout offsets = layout.then(buffer.getLayout().getLayout().invert());
  LinearBases bases = threadBases(offsets);
  Value own = emitLinear(builder, loc, thread, bases);
  Type stored = storedType(buffer.getElementType());

  IndexedAccess access(*this, op, type);
  auto copyAll = [&] {
    for (const AccessGroup &group : access.groups(op.getRunLength())) {
      uint64_t number = uint64_t(group.registers.front());
      Value offset = emitXor(builder, loc, own, reachableBits(bases),
                             offsets.applyFlat(Position::thread(number, 0)));
      Value target = LLVM::GEPOp::create(builder, loc, place.getType(), stored, place,
                                         ArrayRef<LLVM::GEPArg>{offset});
      Value exists = group.guard;
      if (condition)
        exists = exists ? arith::AndIOp::create(builder, loc, exists, condition).getResult()
                        : condition;
      emitAsyncPiece(target, group.address,
                     int64_t(group.registers.size()) * buffer.getElementBytes(), exists);
    }
  };
  emitUnder(emitIsFirstCopy(builder, loc, layout, thread), copyAll);
}
