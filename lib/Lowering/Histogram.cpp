//===- Histogram.cpp - counting in shared memory ---------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// `tgpu.count`: one atomic addition for each element that has a place in the buffer.
//
//   if (x - first <u bins) atomic add (bins + (x - first)), 1
//
// Negative values are large ones as unsigned, so one comparison finds what to ignore.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Atoms/ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;

LogicalResult Emitter::emitCount(tgpu::CountOp op) {
  tgpu::BufferType buffer = op.getBuffer().getType();
  Layout layout = tile::getLayout(op.getTile()), places = buffer.getLayout().getLayout();
  LinearBases offsets;
  for (unsigned bit = 0; bit < places.numOutputBits(); ++bit)
    offsets.push_back(places.find(uint64_t(1) << bit)[Input::Offset]);
  Value isFirst = emitIsFirstCopy(builder, loc, layout, thread);
  uint64_t copies = layout.redundant(Input::Register);
  Value base = get(op.getBuffer()), tile = get(op.getTile());
  for (uint64_t number = 0; number < layout.size(Input::Register); ++number) {
    if (number & copies)
      continue;
    Value value = extract(tile, int64_t(number));
    Type type = value.getType(), i32Type = builder.getI32Type();
    if (type.isIndex())
      value = toI64(value);
    else if (type.getIntOrFloatBitWidth() < 32 && op.getIsUnsigned())
      value = arith::ExtUIOp::create(builder, loc, i32Type, value);
    else if (type.getIntOrFloatBitWidth() < 32)
      value = arith::ExtSIOp::create(builder, loc, i32Type, value);
    auto constantLike = [&](int64_t constant) -> Value {
      return arith::ConstantOp::create(builder, loc,
                                       builder.getIntegerAttr(value.getType(), constant));
    };
    Value place = arith::SubIOp::create(builder, loc, value, constantLike(int64_t(op.getFirst())));
    Value counts = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place,
                                         constantLike(buffer.getNumElements()));
    if (isFirst)
      counts = arith::AndIOp::create(builder, loc, counts, isFirst);
    scf::IfOp::create(builder, loc, counts, [&](OpBuilder &body, Location) {
      Value at = place;
      if (at.getType() != i32Type)
        at = arith::TruncIOp::create(body, loc, i32Type, at);
      Value address = LLVM::GEPOp::create(body, loc, base.getType(), i32Type, base,
                                          ArrayRef<LLVM::GEPArg>{emitLinear(body, loc, at, offsets)});
      LLVM::AtomicRMWOp::create(body, loc, LLVM::AtomicBinOp::add, address,
                                emitI32(body, loc, 1), LLVM::AtomicOrdering::monotonic);
      scf::YieldOp::create(body, loc);
    });
  }
  return success();
}
