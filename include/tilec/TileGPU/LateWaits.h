//===- LateWaits.h - waits with work in front of them ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a wait for a product that stands behind what is to be done beside the product.
// Out: a mark on it, by which the lowering keeps the assembler from moving it up:
//
//   %p = exp2 … : beside the product
//   %o = tgpu.mma_wait %product pending 0 {tgpu.late}
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TILEGPU_LATEWAITS_H
#define TILEC_TILEGPU_LATEWAITS_H

#include "llvm/ADT/StringRef.h"

namespace tilec::tgpu {

/// On tgpu.mma_wait.
inline constexpr llvm::StringLiteral lateAttrName = "tgpu.late";

} // namespace tilec::tgpu

#endif // TILEC_TILEGPU_LATEWAITS_H
