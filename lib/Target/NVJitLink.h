//===- NVJitLink.h - the assembler as a library ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// libnvJitLink assembles PTX in process; it is opened at run time, where a
// machine has it but not ptxas.
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_TARGET_NVJITLINK_H
#define TILEC_LIB_TARGET_NVJITLINK_H

#include "tilec/Target/AssembleCubin.h"

namespace tilec {

/// "nvJitLink 13.0 (libnvJitLink.so.13)", or nothing when there is none.
std::string describeNVJitLink();

/// Assembles by libnvJitLink, which must be present.
llvm::Expected<Cubin> assembleByNVJitLink(llvm::StringRef ptx, const Chip &chip,
                                          const AssembleOptions &options);

} // namespace tilec
#endif // TILEC_LIB_TARGET_NVJITLINK_H
