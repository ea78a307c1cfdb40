//===- ProgramTest.cpp - compiling kernels at run time ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Source to a launch on the CPU; errors as the compiler prints them; and, against
// the recording driver in place of a GPU, the cache on disk.
//
//===------------------------------------------------------------------------===//

#include "tilec/jit.h"

#include "tilec/JIT/CodeCache.h"
#include "tilec/Support/Files.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>

using namespace tilec;

static constexpr const char *source = R"(
/// z = x + y
kernel vadd<T: number = f32, BN: int = 1024>(
    x: array<T, [n]>, y: array<T, [n]>, z: mut array<T, [n]>)
  grid [cdiv(n, BN)]
{
  store(z, [bid(0)], load(x, [bid(0)], [BN]) + load(y, [bid(0)], [BN]));
}
)";

namespace {
class ProgramTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    folder = testing::TempDir() + "tilec-program-test";
    std::filesystem::remove_all(folder);
    setenv("TILEC_CACHE_DIR", folder.c_str(), 1);
    setenv("TILEC_LIBCUDA", FAKE_CUDA, 1);
    setenv("TILEC_PTXAS", "/nonexistent/ptxas", 1); // PTX, which the driver records
    setenv("TILEC_CHECKS", "shapes", 1); // the driver knows where allocations begin only
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder); }
  void SetUp() override { cache().clear(); }

  static CodeCache cache() { return CodeCache::fromEnvironment(); }
  static inline std::string folder;
};

TEST_F(ProgramTest, RunsOnTheCpu) {
  Program p = *Program::tryFromSource(source);
  Stream s = *Device::cpu().tryCreateStream();
  std::vector<int32_t> values = {1, 2, 3, 4, 5};
  auto kernel = p.tryKernel("vadd", {{"T", i32}, {"BN", 4}});
  ASSERT_TRUE(kernel) << kernel.failure().message;
  auto x = Array<i32, 1>::fromHost(s, values);
  auto z = Array<i32, 1>::zeros(s, {5});
  auto ok = kernel->tryLaunch(s, x, x, z);
  ASSERT_TRUE(ok) << ok.failure().message;
  EXPECT_EQ(z.toHost(s), (std::vector<int32_t>{2, 4, 6, 8, 10}));
  EXPECT_EQ(kernel->info().params[0].dtype, i32);
}

TEST_F(ProgramTest, ErrorsAreTheCompilers) {
  auto wrong = Program::tryFromSource("kernel k(x: array<f32, [n]>) grid [1] {\n  nothing(x);\n}\n",
                                      "k.tile")
                   ->tryKernel("k");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.failure().message.find("k.tile:2:3: error: "), 0u) << wrong.failure().message;
  auto syntax = Program::tryFromSource("kernel k(", "k.tile")->tryKernel("k");
  ASSERT_FALSE(syntax);
  EXPECT_EQ(syntax.failure().message.find("k.tile:1:"), 0u) << syntax.failure().message;
  Program p = *Program::tryFromSource(source);
  EXPECT_FALSE(p.tryKernel("vsub"));
  EXPECT_FALSE(p.tryKernel("vadd", {{"BM", 4}}));
  EXPECT_FALSE(p.tryKernel("vadd", {{"BN", 5}}));
  EXPECT_FALSE(Program::tryFromFile("/nonexistent.tile"));
}

TEST_F(ProgramTest, KernelsAreCachedOnDisk) {
  ASSERT_TRUE(Program::tryFromSource(source)->tryKernel("vadd"));
  ASSERT_EQ(cache().entries().size(), 1u);
  // What is in the entry is what a second program gets.
  std::string path = cache().entries()[0].path;
  ModuleFile module = *readModule(*readFile(path));
  module.images[0].kernels[0].doc = "from the cache";
  ASSERT_TRUE(replaceFile(path, writeModule(module)));
  EXPECT_EQ(Program::tryFromSource(source)->tryKernel("vadd")->info().doc, "from the cache");
  ProgramOptions uncached;
  uncached.useDiskCache = false;
  EXPECT_NE(Program::tryFromSource(source, "<source>", uncached)->tryKernel("vadd")->info().doc,
            "from the cache");
  // A damaged entry is compiled again.
  std::string bytes = *readFile(path);
  ASSERT_TRUE(replaceFile(path, bytes.substr(0, bytes.size() / 2)));
  EXPECT_NE(Program::tryFromSource(source)->tryKernel("vadd")->info().doc, "from the cache");
}

TEST_F(ProgramTest, TheKeyHoldsWhatTheCodeDependsOn) {
  auto entriesAfter = [&](std::string text, std::initializer_list<Constant> constants,
                          ProgramOptions options = {}) {
    auto kernel = Program::tryFromSource(std::move(text), "<source>", std::move(options))
                      ->tryKernel("vadd", constants);
    EXPECT_TRUE(kernel) << kernel.failure().message;
    return cache().entries().size();
  };
  EXPECT_EQ(entriesAfter(source, {}), 1u);
  EXPECT_EQ(entriesAfter(source, {}), 1u);
  EXPECT_EQ(entriesAfter(source, {{"BN", 512}}), 2u);
  EXPECT_EQ(entriesAfter(source, {{"T", f16}}), 3u);
  ProgramOptions warps;
  warps.numWarps = 8;
  EXPECT_EQ(entriesAfter(source, {}, warps), 4u);
  EXPECT_EQ(entriesAfter(std::string(source) + "// more\n", {}), 5u);
}

TEST_F(ProgramTest, TheKeyHoldsImports) {
  std::filesystem::create_directories(folder);
  std::string imported = folder + "/part.tile";
  std::string text = "import \"part.tile\";\nkernel k(x: mut array<f32, [n]>) grid [1] {\n"
                     "  store(x, [0], full([4], value(), f32));\n}\n";
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(replaceFile(imported, "fn value() { return " + std::to_string(i) + ".0; }\n"));
    auto kernel = Program::tryFromSource(text, folder + "/root.tile")->tryKernel("k");
    ASSERT_TRUE(kernel) << kernel.failure().message;
    EXPECT_EQ(cache().entries().size(), static_cast<size_t>(i + 1));
  }
}

/// Objects of the only entry, and whether they are there: "aligned16: yes, general: no".
static std::string cached(const CodeCache &cache) {
  std::string text;
  ModuleFile module = *readModule(*readFile(cache.entries().at(0).path));
  const ModuleImage &image = module.images.at(0);
  for (const BuildInfo &build : image.kernels.at(0).builds)
    text += (text.empty() ? "" : ", ") + std::string(buildKindName(build.facts)) +
            (image.objects.at(build.object).empty() ? ": no" : ": yes");
  return text;
}

/// Launches `vadd` for arrays that begin at a multiple of 16 bytes, or 4 bytes behind one.
static Expected<void> launch(const Kernel &kernel, bool isAligned) {
  Stream s = Device::get(0).createStream();
  auto memory = Array<f32, 1>::zeros(s, {512});
  ArrayArg x = memory.view().getArg();
  x.dims[0] = 256;
  if (!isAligned)
    x.data = static_cast<float *>(x.data) + 1;
  return kernel.tryLaunch(s, x, x, x);
}

TEST_F(ProgramTest, BuildsAreCompiledWhenLaunchesTakeThem) {
  Kernel kernel = *Program::tryFromSource(source)->tryKernel("vadd");
  EXPECT_EQ(cached(cache()), "aligned: no, general: no");
  auto ok = launch(kernel, /*isAligned=*/false);
  ASSERT_TRUE(ok) << ok.failure().message;
  EXPECT_EQ(cached(cache()), "aligned: no, general: yes");
  // Another process finds this one in the cache, and adds the other.
  ModuleFile module = *readModule(*readFile(cache().entries()[0].path));
  unsigned general = module.images[0].kernels[0].builds[1].object;
  module.images[0].objects[general] += "// from the cache\n";
  module.images[0].kernels[0].builds[1].registers = 77;
  ASSERT_TRUE(replaceFile(cache().entries()[0].path, writeModule(module)));
  Kernel second = *Program::tryFromSource(source)->tryKernel("vadd");
  ok = second.tryPreload(Device::get(0));
  ASSERT_TRUE(ok) << ok.failure().message;
  EXPECT_EQ(cached(cache()), "aligned: yes, general: yes");
  module = *readModule(*readFile(cache().entries()[0].path));
  EXPECT_NE(module.images[0].objects[general].find("from the cache"), std::string::npos);
  EXPECT_EQ(module.images[0].kernels[0].builds[1].registers, 77u);
  EXPECT_EQ(cache().entries().size(), 1u);
}

TEST_F(ProgramTest, AFailingAssemblerIsAnErrorOfTheLaunch) {
  std::string script = testing::TempDir() + "failing-ptxas";
  ASSERT_TRUE(replaceFile(script, "#!/bin/sh\necho 'fatal: no' >&2\nexit 9\n"));
  std::filesystem::permissions(script, std::filesystem::perms::all);
  setenv("TILEC_PTXAS", script.c_str(), 1);
  Kernel kernel = *Program::tryFromSource(source, "k.tile")->tryKernel("vadd");
  for (int i = 0; i < 2; ++i) {
    auto ok = launch(kernel, /*isAligned=*/true);
    ASSERT_FALSE(ok);
    const std::string &message = ok.failure().message;
    EXPECT_EQ(message.find("k.tile:3:8: error: "), 0u) << message;
    EXPECT_NE(message.find("failed with exit code 9\nfatal: no"), std::string::npos) << message;
    EXPECT_EQ(message.find("error: "), message.rfind("error: ")) << message;
  }
  EXPECT_EQ(cached(cache()), "aligned: no, general: no");
  setenv("TILEC_PTXAS", "/nonexistent/ptxas", 1);
}

TEST_F(ProgramTest, OneProgramCompilesOnce) {
  Program p = *Program::tryFromSource(source);
  ASSERT_TRUE(p.tryKernel("vadd"));
  cache().clear();
  ASSERT_TRUE(p.tryKernel("vadd"));
  EXPECT_TRUE(cache().entries().empty());
}
} // namespace
