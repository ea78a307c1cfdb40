//===- Cache.cpp - what the code cache holds -------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: `tilec cache list` or `tilec cache clear`. Out: the kernels that programs have compiled at
// run time and that are kept on disk (JIT/CodeCache.h), the one used last in the last line:
//
//   kernel                       chip      size  last used
//   softmax (COLS 1024, T bf16)  sm_90a  41 KiB  2026-12-01 00:49
//   1 entry, 41 KiB of at most 1 GiB in /root/.cache/tilec
//
// or none of them any more. An entry that cannot be read is listed, too: it takes room.
//
//===------------------------------------------------------------------------===//
#include "Cache.h"

#include "CommandLine.h"

#include "tilec/JIT/CodeCache.h"
#include "tilec/Support/Files.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <array>
#include <ctime>

using llvm::StringRef;

namespace tilec::driver {

/// `41 KiB`.
static std::string spellSize(uint64_t bytes) {
  constexpr std::array<const char *, 4> units = {"bytes", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  for (; bytes >= 10240 && unit + 1 < units.size(); ++unit)
    bytes = (bytes + 512) / 1024;
  for (; bytes && bytes % 1024 == 0 && unit + 1 < units.size(); ++unit)
    bytes /= 1024;
  return std::to_string(bytes) + " " + units[unit];
}

/// In the time of the place, to the minute.
static std::string spellTime(int64_t nanoseconds) {
  std::time_t seconds = std::time_t(nanoseconds / 1'000'000'000);
  std::tm local = {};
  std::array<char, 32> text = {};
  if (!localtime_r(&seconds, &local) ||
      !std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &local))
    return "?";
  return text.data();
}

/// `softmax (COLS 1024, T bf16)`.
static std::string spellKernel(const KernelInfo &kernel) {
  std::string text = kernel.name;
  StringRef separator = " (";
  for (const ConstantInfo &constant : kernel.constants) {
    text += (separator + constant.name + " " + constant.value).str();
    separator = ", ";
  }
  return text + (kernel.constants.empty() ? "" : ")");
}

namespace {
struct Row {
  std::string kernel, chip, size, lastUse;
};
} // namespace

static Row describe(const CodeCache::Entry &entry) {
  Row row{"", "", spellSize(entry.bytes), spellTime(entry.lastUse)};
  auto bytes = readFile(entry.path);
  auto module = bytes ? readModule(*bytes) : Expected<ModuleFile>(bytes.failure());
  if (!module) {
    row.kernel = "damaged: will be compiled again";
    return row;
  }
  llvm::SmallVector<std::string> kernels, chips;
  for (const ModuleImage &image : module->images) {
    chips.push_back(image.arch);
    for (const KernelInfo &kernel : image.kernels)
      kernels.push_back(spellKernel(kernel));
  }
  row.kernel = llvm::join(kernels, ", ");
  row.chip = llvm::join(chips, ", ");
  return row;
}

static std::string countOf(size_t entries) {
  return std::to_string(entries) + (entries == 1 ? " entry" : " entries");
}

static int list(const CodeCache &cache) {
  llvm::SmallVector<Row> rows = {{"kernel", "chip", "size", "last used"}};
  uint64_t total = 0;
  for (const CodeCache::Entry &entry : cache.entries()) {
    rows.push_back(describe(entry));
    total += entry.bytes;
  }
  size_t entries = rows.size() - 1;
  if (!entries) {
    llvm::outs() << "no entries in " << cache.getFolder() << "\n";
    return exitSuccess;
  }
  auto widest = [&](std::string Row::*column) {
    size_t width = 0;
    for (const Row &row : rows)
      width = std::max(width, (row.*column).size());
    return unsigned(width);
  };
  unsigned kernel = widest(&Row::kernel), chip = widest(&Row::chip), size = widest(&Row::size);
  for (const Row &row : rows)
    llvm::outs() << llvm::left_justify(row.kernel, kernel) << "  " << llvm::left_justify(row.chip, chip)
                 << "  " << llvm::right_justify(row.size, size) << "  " << row.lastUse << "\n";
  llvm::outs() << countOf(entries) << ", " << spellSize(total) << " of at most "
               << spellSize(cache.getCap()) << " in " << cache.getFolder() << "\n";
  return exitSuccess;
}

static int clear(const CodeCache &cache) {
  size_t before = cache.entries().size();
  size_t removed = cache.clear();
  llvm::outs() << "removed " << countOf(removed) << " from " << cache.getFolder() << "\n";
  size_t left = cache.entries().size();
  if (!left || removed == before)
    return exitSuccess;
  llvm::errs() << "tilec: error: " << countOf(left) << " in " << cache.getFolder()
               << " cannot be removed\n";
  return exitInput;
}

int runCacheCommand(llvm::ArrayRef<const char *> words) {
  auto usage = [](const llvm::Twine &message) {
    llvm::errs() << "tilec: error: " << message << "\n";
    return exitUsage;
  };
  constexpr const char *commands = "`tilec cache list` shows the code cache, `tilec cache clear` empties it";
  if (words.empty())
    return usage(llvm::Twine("what of the cache? ") + commands);
  StringRef word = words.front();
  if (word != "list" && word != "clear")
    return usage("there is no `tilec cache " + word + "`; " + commands);
  if (words.size() > 1)
    return usage("`tilec cache " + word + "` takes nothing more, and not `" + words[1] +
                 "`; $TILEC_CACHE_DIR says which folder is meant");
  CodeCache cache = CodeCache::fromEnvironment();
  if (cache.getFolder().empty()) {
    llvm::outs() << "there is no cache: $TILEC_CACHE_DIR is empty, or neither it nor $HOME is set\n";
    return exitSuccess;
  }
  return word == "list" ? list(cache) : clear(cache);
}

} // namespace tilec::driver
