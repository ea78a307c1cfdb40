//===- Tcgen05.h - descriptors of products in tensor memory ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What tcgen05.mma is told of its operands and of itself, as numbers (PTX ISA, sections
// "Shared memory descriptor" and "Instruction descriptor" of the 5th-generation tensor
// core). Tests compare them with the addresses that the hardware reads.
//
// The address of an operand is that of wgmma (Wgmma.h): bits 0–13, strides 16–29 and
// 32–45, all in units of 16 bytes. Different are bits 46–48, which are 1, and the swizzle
// in bits 61–63: 2 for 128 bytes, 4 for 64, 6 for 32.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_ATOMS_TCGEN05_H
#define TILEC_ATOMS_TCGEN05_H

#include "tilec/Atoms/Wgmma.h"
#include "tilec/Support/DType.h"

namespace tilec {

/// All of an operand's descriptor but the address.
uint64_t tcgen05OperandDescriptor(const WgmmaOperand &operand);

/// One instruction of one block, dense, operands in shared memory.
struct Tcgen05Form {
  unsigned m = 128, n = 256;
  DType aType = DType::BF16, bType = DType::BF16; ///< f16, bf16, tf32, f8, i8, u8
  bool transposeA = false, transposeB = false;    ///< MN-major

  /// 32 bytes of the operands' elements.
  unsigned k() const { return 256 / dtypeBits(aType == DType::TF32 ? DType::F32 : aType); }
  /// The instruction descriptor.
  uint32_t descriptor() const;
};

} // namespace tilec

#endif // TILEC_ATOMS_TCGEN05_H
