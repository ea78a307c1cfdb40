//===- JoinPTX.h - one PTX module of several --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The builds of a kernel are compiled side by side, each to a PTX module of its own.
// The assembler, and whoever reads the PTX, gets one module:
//
//   .version … .target …  .global pad  .entry a {…}  .file 1 "k.tile"
//   .version … .target …  .global pad  .entry b {…}  .file 1 "k.tile"
//     →
//   .version … .target …  .global pad  .entry a {…}  .entry b {…}  .file 1 "k.tile"
//===----------------------------------------------------------------------===//

#ifndef TILEC_TARGET_JOINPTX_H
#define TILEC_TARGET_JOINPTX_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tilec {

/// One module with the entries of all `modules`, in order. They come from emitPTX for
/// one chip. Variables of one name are one variable, which all must declare alike; only
/// the alignment of shared memory may differ, and the largest holds. An error means a
/// bug in the compiler.
llvm::Expected<std::string> joinPTX(llvm::ArrayRef<std::string> modules);

} // namespace tilec

#endif // TILEC_TARGET_JOINPTX_H
