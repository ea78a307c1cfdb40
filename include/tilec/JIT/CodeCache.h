//===- CodeCache.h - compiled kernels on disk ---------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A folder of module files, each named by the hash of everything that its content
// depends on. Entries appear whole (written beside and renamed) and are checked
// when read: a damaged one counts as absent. When the folder outgrows its cap,
// entries that were not used for longest go first.
//
//   $TILEC_CACHE_DIR    the folder; default ~/.cache/tilec; empty: no cache
//   $TILEC_CACHE_MB     the cap in MiB, default 1024
//
// A folder that cannot be written is no error: there is no cache then.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_JIT_CODECACHE_H
#define TILEC_JIT_CODECACHE_H

#include "tilec/Support/ModuleFile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilec {

class CodeCache {
public:
  /// `folder` may be empty: nothing is kept.
  CodeCache(std::string folder, uint64_t capBytes)
      : folder(std::move(folder)), capBytes(capBytes) {}
  /// As the environment says, at the time of the call.
  static CodeCache fromEnvironment();

  /// `key` is hexadecimal.
  std::optional<ModuleFile> find(const std::string &key) const;
  void store(const std::string &key, const ModuleFile &module) const;

  struct Entry {
    std::string path;
    uint64_t bytes = 0;
    int64_t lastUse = 0; ///< nanoseconds since 1970
  };
  /// Used longest ago first.
  std::vector<Entry> entries() const;
  /// Removes all entries and gives their number.
  unsigned clear() const;

  const std::string &getFolder() const { return folder; }
  uint64_t getCap() const { return capBytes; }

private:
  void trim() const;

  std::string folder;
  uint64_t capBytes;
};

} // namespace tilec

#endif // TILEC_JIT_CODECACHE_H
