//===- CodeCacheTest.cpp - compiled kernels on disk ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Entries come back, damage counts as absence, the cap is kept, and a folder that
// cannot be used is no error.
//
//===------------------------------------------------------------------------===//

#include "tilec/JIT/CodeCache.h"

#include "tilec/Support/Files.h"

#include "gtest/gtest.h"

#include <chrono>
#include <filesystem>

using namespace tilec;
namespace fs = std::filesystem;

namespace {
class CodeCacheTest : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "tilec-code-cache-test";
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  static ModuleFile module(size_t bytes) {
    ModuleFile file;
    file.images = {{"sm_80", ImageKind::PTX, {std::string(bytes, 'x')}, {}}};
    return file;
  }
  /// Makes an entry look `seconds` older.
  void age(const std::string &key, int seconds) {
    std::string path = folder + "/" + key + ".tilemod";
    fs::last_write_time(path, fs::last_write_time(path) - std::chrono::seconds(seconds));
  }

  std::string folder;
};

TEST_F(CodeCacheTest, EntriesComeBack) {
  CodeCache cache(folder, 1 << 20);
  EXPECT_FALSE(cache.find("aa"));
  cache.store("aa", module(100));
  auto found = cache.find("aa");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->images[0].objects[0].size(), 100u);
  EXPECT_FALSE(cache.find("bb"));
  EXPECT_EQ(cache.entries().size(), 1u);
  EXPECT_EQ(cache.clear(), 1u);
  EXPECT_FALSE(cache.find("aa"));
}

TEST_F(CodeCacheTest, DamagedEntriesAreAbsent) {
  CodeCache cache(folder, 1 << 20);
  cache.store("aa", module(100));
  std::string path = cache.entries()[0].path;
  std::string bytes = *readFile(path);
  bytes[bytes.size() / 2] ^= 1;
  ASSERT_TRUE(replaceFile(path, bytes));
  EXPECT_FALSE(cache.find("aa"));
  EXPECT_FALSE(fs::exists(path));
  cache.store("aa", module(100));
  ASSERT_TRUE(replaceFile(path, bytes.substr(0, 40)));
  EXPECT_FALSE(cache.find("aa"));
}

TEST_F(CodeCacheTest, TheLeastRecentlyUsedGoFirst) {
  CodeCache cache(folder, 25000);
  cache.store("a", module(10000));
  cache.store("b", module(10000));
  age("a", 100);
  age("b", 50);
  EXPECT_TRUE(cache.find("a")); // used just now
  cache.store("c", module(10000));
  EXPECT_TRUE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.find("c"));
}

TEST_F(CodeCacheTest, UnusableFoldersAreNoError) {
  CodeCache none("", 1 << 20), bad("/dev/null/cache", 1 << 20);
  none.store("a", module(10));
  bad.store("a", module(10));
  EXPECT_FALSE(none.find("a"));
  EXPECT_FALSE(bad.find("a"));
  EXPECT_TRUE(bad.entries().empty());
}

TEST_F(CodeCacheTest, TheEnvironmentNamesTheFolder) {
  setenv("TILEC_CACHE_DIR", folder.c_str(), 1);
  EXPECT_EQ(CodeCache::fromEnvironment().getFolder(), folder);
  unsetenv("TILEC_CACHE_DIR");
  setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(CodeCache::fromEnvironment().getFolder(), "/home/somebody/.cache/tilec");
}
} // namespace
