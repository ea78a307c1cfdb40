//===- Values.cpp - small values of a thread -------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Types, constants, addresses and branches, and the table from values of the kernel
// to values of the thread:
//
//   tensor<64x64xbf16, #layout>   vector<32xbf16>     (32 registers in #layout)
//   tensor<8xf8E4M3FN, #layout>   vector<1xi8>        f8 as bits
//   tensor<8xtf32, #layout>       vector<1xf32>       tf32 as an f32 already rounded
//   index, i1, f16, …             themselves
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Atoms/ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilec;

Type Emitter::lowerType(Type original) {
  if (auto tensor = dyn_cast<RankedTensorType>(original)) {
    Layout layout = layoutOf(tensor);
    return VectorType::get(int64_t(layout.size(Input::Register)),
                           registerType(tensor.getElementType()));
  }
  Type scalar = registerType(original);
  if (regionWidth)
    return VectorType::get(regionWidth, scalar);
  return scalar;
}

Value Emitter::get(Value original) {
  if (piece && isa<RankedTensorType>(original.getType()))
    return getPiece(original);
  Value lowered = map.lookupOrNull(original);
  if (!lowered)
    if (Value memory = localMemory.lookup(original))
      return loadWhole(memory, cast<RankedTensorType>(original.getType()));
  assert(lowered && "operands are emitted before their users");
  // A value from outside of a combiner, used on vectors.
  if (regionWidth && !isa<VectorType>(lowered.getType()))
    return splat(lowered, regionWidth);
  return lowered;
}

void Emitter::set(Value original, Value lowered) {
  auto tensor = dyn_cast<RankedTensorType>(original.getType());
  if (piece && tensor)
    return storePiece(lowered, localMemory.lookup(original), tensor.getElementType(), piece);
  map.map(original, lowered);
}

Value Emitter::i32(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}
Value Emitter::i64(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 64);
}

Value Emitter::toI64(Value index) {
  if (index.getType().isInteger(64))
    return index;
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
}

Value Emitter::constant(Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    element = SplatElementsAttr::get(vector, Attribute(element));
  return arith::ConstantOp::create(builder, loc, element);
}

Value Emitter::zero(Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

Value Emitter::splat(Value scalar, int64_t count) {
  return vector::BroadcastOp::create(builder, loc,
                                     VectorType::get(count, scalar.getType()), scalar);
}

Value Emitter::extract(Value vector, int64_t index) {
  return vector::ExtractOp::create(builder, loc, vector, index);
}

Value Emitter::fromElements(ArrayRef<Value> elements) {
  auto type = VectorType::get(int64_t(elements.size()), elements.front().getType());
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

Value Emitter::addBytes(Value base, Value bytes) {
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value Emitter::addBytes(Value base, int64_t bytes) {
  if (!bytes)
    return base;
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
}

Value Emitter::sharedAddress(int64_t offset) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  return addBytes(LLVM::AddressOfOp::create(builder, loc, pointer, sharedGlobalName),
                  offset);
}

void Emitter::emitUnder(Value condition, function_ref<void()> fill,
                        function_ref<void()> otherwise) {
  if (!condition)
    return fill();
  OpBuilder::InsertionGuard guard(builder);
  auto branch = scf::IfOp::create(builder, loc, condition, /*withElse=*/bool(otherwise));
  builder.setInsertionPointToStart(branch.thenBlock());
  fill();
  if (otherwise) {
    builder.setInsertionPointToStart(branch.elseBlock());
    otherwise();
  }
}

void Emitter::emitByFirstThread(function_ref<void()> fill) {
  emitUnder(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, thread, i32(0)), fill);
}

Value Emitter::lane() {
  return arith::AndIOp::create(builder, loc, thread, i32(31));
}

Value Emitter::hasBits(Value number, uint64_t mask, uint64_t bits) {
  Value masked = arith::AndIOp::create(builder, loc, number, i32(int64_t(mask)));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, masked,
                               i32(int64_t(bits)));
}
