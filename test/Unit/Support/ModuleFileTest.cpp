//===- ModuleFileTest.cpp - module files --------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Module files survive a round trip; cut or changed ones are refused, also when
// the damage is made to pass the checksum.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/ModuleFile.h"

#include "SampleKernel.h"

#include "gtest/gtest.h"

#include <random>

using namespace tilec;

static ModuleFile sampleModule() {
  ModuleFile module;
  module.producer = "tilec test";
  ModuleImage ptx{"sm_80", ImageKind::PTX, {".version 8.8\n"}, {sampleKernel()}};
  ModuleImage cubin{"sm_90a", ImageKind::Cubin, {std::string("\x7f" "ELF\0\1\2", 7)}, {sampleKernel()}};
  module.images = {ptx, cubin};
  return module;
}

/// The same with one object a build, and none of the second build of the cubin.
static ModuleFile sampleOfObjects() {
  ModuleFile module = sampleModule();
  for (ModuleImage &image : module.images) {
    image.objects.push_back(image.kind == ImageKind::PTX ? "general" : "");
    image.kernels[0].builds[1].object = 1;
  }
  return module;
}

/// Puts the right checksum on changed bytes, so that what lies behind it is tested.
static std::string withChecksum(std::string bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 32; i < bytes.size(); ++i)
    hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3;
  for (unsigned i = 0; i < 8; ++i) {
    bytes[24 + i] = static_cast<char>(hash >> (8 * i));
    bytes[16 + i] = static_cast<char>(static_cast<uint64_t>(bytes.size()) >> (8 * i));
  }
  return bytes;
}

TEST(ModuleFile, RoundTrip) {
  std::string bytes = writeModule(sampleModule());
  EXPECT_TRUE(isModuleFile(bytes));
  EXPECT_EQ(bytes.size() % 16, 0u);
  auto back = readModule(bytes);
  ASSERT_TRUE(back) << back.failure().message;
  EXPECT_EQ(back->producer, "tilec test");
  ASSERT_EQ(back->images.size(), 2u);
  EXPECT_EQ(back->images[0].objects.at(0), ".version 8.8\n");
  EXPECT_EQ(back->images[1].kind, ImageKind::Cubin);
  EXPECT_EQ(back->images[1].objects.at(0), std::string("\x7f" "ELF\0\1\2", 7));
  EXPECT_EQ(back->images[1].kernels[0].name, "matmul");
  EXPECT_EQ(writeModule(*back), bytes);
}

TEST(ModuleFile, AnObjectABuild) {
  std::string bytes = writeModule(sampleOfObjects());
  auto back = readModule(bytes);
  ASSERT_TRUE(back) << back.failure().message;
  ASSERT_EQ(back->images.size(), 2u);
  EXPECT_EQ(back->images[0].objects, (std::vector<std::string>{".version 8.8\n", "general"}));
  EXPECT_EQ(back->images[1].objects,
            (std::vector<std::string>{std::string("\x7f" "ELF\0\1\2", 7), ""}));
  for (const ModuleImage &image : back->images) {
    EXPECT_EQ(image.kernels[0].builds[0].object, 0u);
    EXPECT_EQ(image.kernels[0].builds[1].object, 1u);
  }
  EXPECT_EQ(writeModule(*back), bytes);
}

TEST(ModuleFile, OneObjectAnImageIsReadByOlderRuntimes) {
  EXPECT_EQ(writeModule(sampleModule())[8], 1);
  EXPECT_EQ(writeModule(sampleOfObjects())[8], 2);
}

TEST(ModuleFile, BuildsWithoutAnObjectAreRefused) {
  ModuleFile module = sampleOfObjects();
  module.images[1].kernels[0].builds[0].object = 2;
  auto back = readModule(writeModule(module));
  ASSERT_FALSE(back);
  EXPECT_EQ(back.failure().message, "tilec module is damaged: `images[1].kernels[0].builds` "
                                    "name an object that is not there");
}

TEST(ModuleFile, Empty) {
  auto back = readModule(writeModule(ModuleFile()));
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->images.empty());
}

TEST(ModuleFile, EveryTruncationIsRefused) {
  std::string bytes = writeModule(sampleOfObjects());
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(readModule(std::string_view(bytes).substr(0, n))) << n;
    // Also where size and checksum have been made to fit.
    if (n >= 32) {
      EXPECT_TRUE(!readModule(withChecksum(bytes.substr(0, n))) || n + 16 > bytes.size()) << n;
    }
  }
  EXPECT_FALSE(readModule(bytes + "x"));
}

TEST(ModuleFile, EveryBitFlipIsRefused) {
  std::string bytes = writeModule(sampleOfObjects());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    EXPECT_FALSE(readModule(changed)) << i;
  }
}

TEST(ModuleFile, DamageBehindTheChecksumNeverCrashes) {
  std::string bytes = writeModule(sampleOfObjects());
  std::mt19937 rng(7);
  unsigned refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string changed = bytes;
    for (unsigned k = 0; k < 1 + rng() % 3; ++k)
      changed[8 + rng() % (changed.size() - 8)] = static_cast<char>(rng());
    auto back = readModule(withChecksum(changed));
    refused += !back;
    if (!back) {
      EXPECT_FALSE(back.failure().message.empty());
    }
  }
  EXPECT_GT(refused, 1000u);
}

TEST(ModuleFile, Messages) {
  std::string bytes = writeModule(sampleModule());
  EXPECT_EQ(readModule("hello").failure().message, "not a tilec module");
  EXPECT_EQ(readModule(bytes.substr(0, 40)).failure().message,
            "tilec module is truncated: 40 of " + std::to_string(bytes.size()) + " bytes");
  std::string newer = bytes;
  newer[8] = 3;
  EXPECT_EQ(readModule(newer).failure().message,
            "tilec module has version 3, this runtime reads versions 1 to 2");
  std::string changed = bytes;
  changed.back() ^= 1;
  EXPECT_EQ(readModule(changed).failure().message, "tilec module is damaged");
}
