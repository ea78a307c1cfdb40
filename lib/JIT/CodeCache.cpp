//===- CodeCache.cpp - compiled kernels on disk -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The time of last use is the file's modification time, set at each hit. Other
// processes may add and remove entries at any time; whatever fails because of that
// is as if the entry were not there.
//
//===------------------------------------------------------------------------===//

#include "tilec/JIT/CodeCache.h"

#include "tilec/Support/Files.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

using namespace tilec;
namespace fs = std::filesystem;

static constexpr const char *suffix = ".tilemod";

CodeCache CodeCache::fromEnvironment() {
  std::string folder;
  if (const char *own = std::getenv("TILEC_CACHE_DIR"))
    folder = own;
  else if (const char *home = std::getenv("HOME"); home && *home)
    folder = std::string(home) + "/.cache/tilec";
  uint64_t megabytes = 1024;
  if (const char *cap = std::getenv("TILEC_CACHE_MB"); cap && *cap)
    megabytes = std::strtoull(cap, nullptr, 10);
  return CodeCache(folder, std::min<uint64_t>(megabytes, 1 << 30) << 20);
}

std::optional<ModuleFile> CodeCache::find(const std::string &key) const {
  if (folder.empty())
    return std::nullopt;
  std::string path = folder + "/" + key + suffix;
  auto bytes = readFile(path);
  if (!bytes)
    return std::nullopt;
  auto module = readModule(*bytes);
  std::error_code ignored;
  if (!module) {
    fs::remove(path, ignored);
    return std::nullopt;
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return std::move(*module);
}

void CodeCache::store(const std::string &key, const ModuleFile &module) const {
  if (folder.empty())
    return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return;
  if (replaceFile(folder + "/" + key + suffix, writeModule(module)))
    trim();
}

std::vector<CodeCache::Entry> CodeCache::entries() const {
  std::vector<Entry> result;
  std::error_code error;
  if (folder.empty())
    return result;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != suffix)
      continue;
    std::error_code gone;
    fs::file_time_type written = it->last_write_time(gone);
    if (gone)
      continue;
    auto since1970 = std::chrono::file_clock::to_sys(written).time_since_epoch();
    Entry entry{it->path().string(), it->file_size(gone),
                std::chrono::duration_cast<std::chrono::nanoseconds>(since1970).count()};
    if (!gone)
      result.push_back(entry);
  }
  std::sort(result.begin(), result.end(),
            [](const Entry &a, const Entry &b) { return a.lastUse < b.lastUse; });
  return result;
}

unsigned CodeCache::clear() const {
  unsigned removed = 0;
  std::error_code ignored;
  for (const Entry &entry : entries())
    removed += fs::remove(entry.path, ignored);
  return removed;
}

void CodeCache::trim() const {
  std::vector<Entry> all = entries();
  uint64_t total = 0;
  for (const Entry &entry : all)
    total += entry.bytes;
  if (total <= capBytes)
    return;
  // To below the cap, so that not every store has to remove one.
  uint64_t goal = capBytes / 10 * 9;
  std::error_code ignored;
  for (const Entry &entry : all) {
    if (total <= goal)
      break;
    fs::remove(entry.path, ignored);
    total -= entry.bytes;
  }
}
