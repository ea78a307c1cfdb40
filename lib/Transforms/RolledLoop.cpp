//===- RolledLoop.cpp - what happens seldom, as a loop ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See RolledLoop.h. The memory is made where the function begins, so that it has a place
// on the stack. LLVM would unroll the loop, and the assembler after it; the annotation
// keeps both from that.
//===----------------------------------------------------------------------===//

#include "tilec/Transforms/RolledLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;

void tilec::keepRolled(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {},
                                          {}, {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}));
}

/// Room for `count` values of `type` on the stack of `function`.
static Value makeMemory(OpBuilder &builder, Location loc, LLVM::LLVMFuncOp function, Type type,
                        int64_t count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  Value size = arith::ConstantIntOp::create(builder, loc, count, 64);
  return LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                                type, size, /*alignment=*/16);
}

Value tilec::emitRolled(OpBuilder &builder, Location loc, Value vector, int64_t lanes,
                        llvm::function_ref<Value(Value)> body) {
  auto type = dyn_cast<VectorType>(vector.getType());
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<LLVM::LLVMFuncOp>(parent);
  if (!function)
    function = parent->getParentOfType<LLVM::LLVMFuncOp>();
  if (!function || !type || type.getRank() != 1 || type.getNumElements() % lanes ||
      type.getNumElements() < 2 * lanes)
    return body(vector);

  Type element = type.getElementType();
  Type piece = lanes == 1 ? element : VectorType::get(lanes, element);
  unsigned alignment = std::min<int64_t>(16, lanes * element.getIntOrFloatBitWidth() / 8);
  int64_t count = type.getNumElements() / lanes;
  Value memory = makeMemory(builder, loc, function, piece, count);
  LLVM::StoreOp::create(builder, loc, vector, memory, /*alignment=*/16);

  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
  Value end = arith::ConstantIntOp::create(builder, loc, count, 32);
  auto loop = scf::ForOp::create(builder, loc, zero, end, one);
  keepRolled(loop);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value place = LLVM::GEPOp::create(builder, loc, memory.getType(), piece, memory,
                                      ArrayRef<LLVM::GEPArg>{loop.getInductionVar()});
    Value result = body(LLVM::LoadOp::create(builder, loc, piece, place, alignment));
    LLVM::StoreOp::create(builder, loc, result, place, alignment);
  }
  return LLVM::LoadOp::create(builder, loc, type, memory, /*alignment=*/16);
}
