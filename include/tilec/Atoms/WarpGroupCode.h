//===- WarpGroupCode.h - code of wgmma and its groups ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// wgmma multiplies 64 rows of a by n columns of b, for a warp group: 128 threads of
// four warps, the first of which has a number that is a multiple of 4. MLIR's
// operation for it takes neither a in registers nor a run-time scale of the
// accumulator, so each form is a helper (HelperCall.h) whose name says all:
//
//   tilec.wgmma.m64n128k16.f32.bf16.bf16.ss      a and b by descriptor
//   tilec.wgmma.m64n128k16.f32.bf16.bf16.rs.tb   a in registers, b turned around
//   tilec.wgmma.fence.f32x64                     tied: values that wgmma will read
//   tilec.wgmma.commit                           what was issued so far is a group
//   tilec.wgmma.wait.1.f32x64                    tied: at most 1 group is still open
//
//   {f32 × P} @tilec.wgmma.…(f32 × P acc, i64 a | i32 × 4 a, i64 b, i1 accumulates)
//
// acc is scalars: f32; i32 for integers; i32 that holds two f16. `accumulates`
// false: acc is not read and may be poison.
//
// "Tied" helpers take values and return them: nothing that uses the results moves
// above, nothing that makes the operands moves below. Results of wgmma may be
// read only when they went through a wait.
//
// A descriptor (PTX ISA, matrix-descriptor) is 64 bits:
//   [13:0] address >> 4   [29:16] leading offset >> 4   [45:32] stride offset >> 4
//   [63:62] swizzle of 0: none, 1: 128, 2: 64, 3: 32 bytes
// with element (row or column i, k) of an operand, in units of 16-byte chunks:
//   K-major   8 rows × one swizzle row are a block; stride: next 8 rows; leading:
//             next chunk of k (only without swizzle)
//   MN-major  one swizzle row of i × 8 k are a block; stride: next 8 k; leading: next
//             swizzle row of i. Without swizzle: leading is next 8 k, stride next 8 i
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_ATOMS_WARPGROUPCODE_H
#define TILEC_ATOMS_WARPGROUPCODE_H

#include "tilec/Support/DType.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

#include <string>

namespace tilec {

/// One wgmma instruction.
struct WarpGroupMma {
  unsigned n = 8;                ///< columns
  DType accType = DType::F32;    ///< F32, F16 or I32
  DType aType = DType::BF16;     ///< F16, BF16, TF32, F8E4M3, F8E5M2, I8, U8
  DType bType = DType::BF16;     ///< another one only among the 8-bit floats or integers
  bool aInRegisters = false;
  bool transposeA = false; ///< a is M-major in shared memory; 16-bit types only
  bool transposeB = false; ///< b is N-major; 16-bit types only

  static constexpr unsigned m = 64;
  /// 32 bytes of the operands' elements.
  unsigned k() const { return 256 / dtypeBits(aType == DType::TF32 ? DType::F32 : aType); }
  /// Registers of acc per thread.
  unsigned accRegisters() const { return accType == DType::F16 ? n / 4 : n / 2; }

  /// Whether the hardware has it.
  bool isValid() const;

  /// The helper's name, and its inline PTX.
  std::string name() const;
  std::string text() const;
  std::string constraints() const;
};

/// Issues the product and returns the new accumulator, one scalar a register. `a` is
/// a descriptor, or four i32.
mlir::SmallVector<mlir::Value> emitWarpGroupMma(mlir::OpBuilder &builder, mlir::Location loc,
                                                const WarpGroupMma &mma, mlir::ValueRange acc,
                                                mlir::ValueRange a, mlir::Value b,
                                                mlir::Value accumulates);

/// Orders registers that wgmma will read (accumulators, a) before the next one. To be
/// called once before each group, and again after a branch inside of one.
mlir::SmallVector<mlir::Value> emitWarpGroupFence(mlir::OpBuilder &builder, mlir::Location loc,
                                                  mlir::ValueRange values);
/// Ends a group.
void emitWarpGroupCommit(mlir::OpBuilder &builder, mlir::Location loc);
/// Waits until at most `pending` groups are open; `values` (f32 or i32 scalars) are
/// those of the groups that are complete then.
mlir::SmallVector<mlir::Value> emitWarpGroupWait(mlir::OpBuilder &builder, mlir::Location loc,
                                                 unsigned pending, mlir::ValueRange values);

} // namespace tilec

#endif // TILEC_ATOMS_WARPGROUPCODE_H
