//===- Cache.h - what the code cache holds ---------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILEC_CACHE_H
#define TILEC_TOOLS_TILEC_CACHE_H

#include "llvm/ADT/ArrayRef.h"

namespace tilec::driver {

/// `tilec cache list` and `tilec cache clear`; `words` are those behind `cache`. Gives the exit code.
int runCacheCommand(llvm::ArrayRef<const char *> words);

} // namespace tilec::driver

#endif // TILEC_TOOLS_TILEC_CACHE_H
