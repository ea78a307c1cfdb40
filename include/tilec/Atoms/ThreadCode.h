//===- ThreadCode.h - code for positions and shared memory ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Layouts are linear over bits, so every address is the XOR of a part that is
// known when the code is written (the register's) and a part that the thread
// computes once (its lane's and warp's). Here is the code for the second, and the
// accesses to shared memory that are made of both.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_ATOMS_THREADCODE_H
#define TILEC_ATOMS_THREADCODE_H

#include "tilec/Layout/Layout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace tilec {

using LinearBases = llvm::SmallVector<uint64_t, 12>;

/// Bases of lane bits, then of warp bits: the map from a thread's number in its
/// block to elements.
LinearBases threadBases(const Layout &layout);

/// The bits that some sum of `bases` has.
uint64_t reachableBits(llvm::ArrayRef<uint64_t> bases);

/// XOR of the bases of the set bits of `number` (i32): one mask and shift for each
/// distance between an input bit and an output bit.
mlir::Value emitLinear(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value number, llvm::ArrayRef<uint64_t> bases);

/// `value` XOR `constant`, as an addition where no bit can meet. `valueBits` are
/// the bits that `value` may have.
mlir::Value emitXor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                    uint64_t valueBits, uint64_t constant);

/// The type of an element in memory: i1 is i8, index is i64, f8 is i8, tf32 is f32.
mlir::Type storedType(mlir::Type elementType);
/// The type of an element in registers: f8 is i8, tf32 is f32.
mlir::Type registerType(mlir::Type elementType);
/// Values as in registers (a vector or a scalar) from values as in memory, and back.
mlir::Value emitFromStored(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value value, mlir::Type elementType);
mlir::Value emitToStored(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, mlir::Type elementType);

/// A thread's part of an access to a buffer: element offset = `offset` XOR the
/// bases of the register's set bits.
struct BufferAccess {
  mlir::Value base;          ///< llvm.ptr<3>
  mlir::Type elementType;    ///< stored type
  mlir::Value offset;        ///< i32, in elements
  uint64_t offsetBits = 0;   ///< bits that `offset` may have
  LinearBases registerBases; ///< offsets of register bits

  /// The register bits that make up one vector access, lowest first.
  llvm::SmallVector<unsigned, 4> vectorBits() const;
};

/// The access of a thread that holds a tile in layout `registers`.
BufferAccess makeBufferAccess(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value base, mlir::Type elementType,
                              const Layout &buffer, const Layout &registers,
                              mlir::Value thread);

/// Reads all registers: a vector of 1 << registerBases.size() stored elements.
mlir::Value emitSharedLoad(mlir::OpBuilder &builder, mlir::Location loc,
                           const BufferAccess &access);
/// Writes the registers of `value` whose number has no bit of `skippedRegisters`.
void emitSharedStore(mlir::OpBuilder &builder, mlir::Location loc,
                     const BufferAccess &access, mlir::Value value,
                     uint64_t skippedRegisters = 0);

/// Writes `element`, already as in memory, to the place of register `number`.
void emitSharedStoreElement(mlir::OpBuilder &builder, mlir::Location loc,
                            const BufferAccess &access, mlir::Value element,
                            uint64_t number);

/// Writes 16-bit registers by stmatrix: matrices of 8 x 8, of which each lane gives a
/// row's address, so that 16 bytes of a row are written that four lanes hold. False, and
/// nothing is written, when registers and buffer do not fit that. The whole warp runs
/// this; no element may be in two places.
bool emitMatrixStore(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value base,
                     mlir::Type elementType, const Layout &buffer, const Layout &registers,
                     mlir::Value thread, mlir::Value value);

/// i1: this thread has all `layout`-redundant bits of lane and warp clear, so it
/// is the one to have an effect. Null when every thread is.
mlir::Value emitIsFirstCopy(mlir::OpBuilder &builder, mlir::Location loc,
                            const Layout &layout, mlir::Value thread);

/// Elements `indices` of a vector, as a vector.
mlir::Value emitShuffle(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value vector, llvm::ArrayRef<int64_t> indices);
mlir::Value emitI32(mlir::OpBuilder &builder, mlir::Location loc, int64_t value);

} // namespace tilec

#endif // TILEC_ATOMS_THREADCODE_H
