//===- Version.h - which compiler this is ----------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_COMPILER_VERSION_H
#define TILEC_COMPILER_VERSION_H

#include <string>

namespace tilec {

/// "tilec 0.1.0 (LLVM 22.1.8)".
std::string versionText();
/// A text that differs between any two builds of the compiler that may generate
/// different code; part of cache keys.
std::string buildId();

} // namespace tilec

#endif // TILEC_COMPILER_VERSION_H
