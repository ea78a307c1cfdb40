//===- Accumulators.cpp - products beside the threads -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: operations on accumulators in tensor memory. Out:
//
//   at the start   warp 0 takes the memory, thread 0 makes a barrier, all meet
//   accumulate     one elected thread of warp 0 issues the product
//   mma_wait       that thread lets the barrier follow its products, and waits; all meet
//   get, set       all threads read or write their elements
//   at the end     all meet, warp 0 gives the memory back
//
// Only the issuer waits at the barrier: a thread that came late to it might find that the
// next phase is over, too, and could not tell.
//
// What orders accesses of different threads is a fence on both sides of where they meet:
// after each access, before each access.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Atoms/Atom.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;

/// Behind the barrier: where the address of the memory is.
static constexpr int64_t addressOffset = 8;

static const AccumulatorCode *codeOf(tile::KernelOp kernel) {
  const AccumulatorCode *code = nullptr;
  kernel.walk([&](tgpu::AccumulateOp op) {
    if (const Atom *atom = findAtom(op.getAtom()))
      code = atom->accumulator;
  });
  return code;
}

void Emitter::emitByIssuer(function_ref<void()> fill) {
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, warp(), i32(0));
  emitUnder(isFirst, [&] {
    emitUnder(NVVM::ElectSyncOp::create(builder, loc, builder.getI1Type(), Value()), fill);
  });
}

void Emitter::emitTensorMemory() {
  auto place = kernel->getAttrOfType<DenseI64ArrayAttr>(tgpu::tensorMemoryAttrName);
  accumulators = codeOf(kernel);
  if (!place || !accumulators)
    return;
  tensorColumns = place[1];
  productBarrier = sharedAddress(place[0]);
  Value address = addBytes(productBarrier, addressOffset);
  productParity = emitStackVariable(0);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, warp(), i32(0));
  emitUnder(isFirst, [&] { accumulators->allocate(builder, loc, address, tensorColumns); });
  emitByFirstThread([&] {
    NVVM::MBarrierInitOp::create(builder, loc, productBarrier, i32(1), Value());
    NVVM::FenceMbarrierInitOp::create(builder, loc);
  });
  (void)emitBarrier();
  tensorMemory = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), address);
}

void Emitter::emitTensorMemoryEnd() {
  if (!tensorMemory)
    return;
  (void)emitBarrier();
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, warp(), i32(0));
  emitUnder(isFirst, [&] { accumulators->free(builder, loc, tensorMemory, tensorColumns); });
}

LogicalResult Emitter::emitAccumulator(tgpu::AccumulatorOp op) {
  if (!op.getColumn() || !tensorMemory)
    return op.emitError("accumulator has no column: run --tile-allocate-memory first");
  Value address = tensorMemory;
  if (*op.getColumn())
    address = arith::AddIOp::create(builder, loc, address, i32(int64_t(*op.getColumn())));
  set(op, address);
  return success();
}

LogicalResult Emitter::emitAccumulate(tgpu::AccumulateOp op) {
  const Atom *atom = findAtom(op.getAtom());
  if (!atom || !atom->accumulator)
    return op.emitError("there is no atom with accumulators called '") << op.getAtom() << "'";
  auto operand = [&](Value value, bool isUnsigned) {
    auto type = cast<tgpu::BufferType>(value.getType());
    return MmaOperand{get(value), type.getLayout().getLayout(), type.getElementType(), isUnsigned};
  };
  MmaEmission emission{operand(op.getA(), op.getAUnsigned()), operand(op.getB(), op.getBUnsigned()),
                       get(op.getAcc()), op.getAdds() ? get(op.getAdds()) : Value(), {}, thread,
                       warp()};
  emitByIssuer([&] {
    atom->accumulator->fenceAfter(builder, loc);
    atom->accumulator->multiply(builder, loc, emission);
  });
  return success();
}

LogicalResult Emitter::emitSetAccumulator(tgpu::SetAccumulatorOp op) {
  accumulators->fenceAfter(builder, loc);
  accumulators->write(builder, loc, get(op.getAccumulator()), tile::getLayout(op.getTile()),
                      get(op.getTile()), warp());
  accumulators->fenceBefore(builder, loc);
  return success();
}

LogicalResult Emitter::emitGetAccumulator(tgpu::GetAccumulatorOp op) {
  auto type = cast<VectorType>(lowerType(op.getTile().getType()));
  accumulators->fenceAfter(builder, loc);
  set(op.getTile(), accumulators->read(builder, loc, get(op.getAccumulator()),
                                       tile::getLayout(op.getTile()), type, warp()));
  accumulators->fenceBefore(builder, loc);
  return success();
}

void Emitter::emitAccumulatorWait() {
  Value parity = load(productParity);
  emitByIssuer([&] {
    accumulators->commit(builder, loc, productBarrier, /*numBlocks=*/1);
    waitForPhase(productBarrier, parity);
  });
  store(arith::XOrIOp::create(builder, loc, parity, i32(1)), productParity);
  (void)emitBarrier();
}
