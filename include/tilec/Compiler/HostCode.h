//===- HostCode.h - modules for programs in C++ ---------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What a C++ program links and includes to have kernels of its own: an object file that holds a
// module (Support/ModuleFile.h), images and facts, and a header with an object per kernel.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_COMPILER_HOSTCODE_H
#define TILEC_COMPILER_HOSTCODE_H

#include "tilec/Support/KernelInfo.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tilec {

/// The name of the module of `input`: the file's up to its first dot, as an identifier.
std::string moduleNameOf(llvm::StringRef input);

/// An ELF object for the machine that the compiler runs on, whose symbols `tilec_module_NAME` and
/// `tilec_module_end_NAME` enclose `module`; nothing for a machine of another kind.
std::optional<std::string> writeHostObject(llvm::StringRef name, llvm::StringRef module);

/// The header for it. `input`: the file that the kernels are from.
std::string printHostHeader(llvm::StringRef name, llvm::StringRef input,
                            llvm::ArrayRef<KernelInfo> kernels);

} // namespace tilec

#endif // TILEC_COMPILER_HOSTCODE_H
