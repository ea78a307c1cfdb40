//===- Version.cpp - which compiler this is --------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The build id is the hash of the running program's or library's own file: any
// rebuild that changes code changes it, and equal builds share a cache.
//
//===------------------------------------------------------------------------===//

#include "tilec/Compiler/Version.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

#include <dlfcn.h>

namespace tilec {

std::string versionText() { return std::string("tilec ") + TILEC_VERSION + " (LLVM " LLVM_VERSION_STRING ")"; }

std::string buildId() {
  static const std::string id = [] {
    Dl_info info;
    if (dladdr(reinterpret_cast<void *>(&versionText), &info) && info.dli_fname)
      if (auto file = llvm::MemoryBuffer::getFile(info.dli_fname, false, false)) {
        llvm::SHA256 hash;
        hash.update((*file)->getBuffer());
        return llvm::toHex(hash.final());
      }
    return versionText();
  }();
  return id;
}

} // namespace tilec
