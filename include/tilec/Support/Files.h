//===- Files.h - whole files, without LLVM ------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Reading a file at once, and replacing a file at once: other processes see the
// old content or the new, never a part. Standard library and POSIX only, for the
// runtime side.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_FILES_H
#define TILEC_SUPPORT_FILES_H

#include "tilec/Support/Expected.h"

#include <string>
#include <string_view>

namespace tilec {

/// The bytes of a file; a failure is "PATH: reason".
Expected<std::string> readFile(const std::string &path);

/// Writes a temporary file in the same folder and renames it to `path`. What is
/// not a regular file (/dev/null, a pipe) is written directly.
Expected<void> replaceFile(const std::string &path, std::string_view bytes);

} // namespace tilec

#endif // TILEC_SUPPORT_FILES_H
