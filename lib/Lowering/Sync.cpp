//===- Sync.cpp - threads that wait for each other -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// `tgpu.barrier` is the block's barrier; in a block of one warp a barrier of the
// warp does the same.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tilec;

LogicalResult Emitter::emitBarrier() {
  NVVM::Barrier0Op::create(builder, loc);
  return success();
}
