//===- OperandType.h - what units of descriptors multiply -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Types of operands that Wgmma and Tcgen05 have in common: 16-bit floats, f8, 8-bit
// integers, and f32 taken as tf32.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_ATOMS_OPERANDTYPE_H
#define TILEC_LIB_ATOMS_OPERANDTYPE_H

#include "tilec/Atoms/Atom.h"
#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Support/DType.h"

#include "mlir/IR/BuiltinTypes.h"

namespace tilec {

inline bool isF8(mlir::Type type) {
  return llvm::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(type);
}

/// Of an element in shared memory.
inline int64_t bytesOf(mlir::Type elementType) {
  return storedType(elementType).getIntOrFloatBitWidth() / 8;
}

inline DType typeOf(mlir::Type type, bool isUnsigned) {
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (llvm::isa<mlir::Float8E4M3FNType>(type))
    return DType::F8E4M3;
  if (llvm::isa<mlir::Float8E5M2Type>(type))
    return DType::F8E5M2;
  if (type.isInteger(8))
    return isUnsigned ? DType::U8 : DType::I8;
  return DType::TF32;
}

} // namespace tilec

#endif // TILEC_LIB_ATOMS_OPERANDTYPE_H
