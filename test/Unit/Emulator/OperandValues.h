//===- OperandValues.h - what test products multiply ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------------===//
// Types are named as PTX has them: f16, bf16, tf32, e4m3, e5m2, s8, u8.
//===----------------------------------------------------------------------------===//
#ifndef TILEC_TEST_UNIT_EMULATOR_OPERANDVALUES_H
#define TILEC_TEST_UNIT_EMULATOR_OPERANDVALUES_H

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace tilec::test {

/// Element (i, k) of operand 0 or 1: small integers, of either sign where the type has
/// one, that every type holds.
inline int operandValue(llvm::StringRef type, unsigned operand, uint32_t i, uint32_t k) {
  int value = int((i * 7 + k * 5 + operand * 3 + i * k) % 7) - 3;
  return type == "u8" ? value + 3 : value;
}

/// The bits of `value`.
inline uint32_t encodeOperand(llvm::StringRef type, int value) {
  if (type == "s8" || type == "u8")
    return uint8_t(value);
  const llvm::fltSemantics &semantics = type == "f16"    ? llvm::APFloat::IEEEhalf()
                                        : type == "bf16" ? llvm::APFloat::BFloat()
                                        : type == "e4m3" ? llvm::APFloat::Float8E4M3FN()
                                        : type == "e5m2" ? llvm::APFloat::Float8E5M2()
                                                         : llvm::APFloat::IEEEsingle();
  llvm::APFloat x{float(value)};
  bool inexact = false;
  x.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
  return uint32_t(x.bitcastToAPInt().getZExtValue());
}

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_EMULATOR_OPERANDVALUES_H
