//===- ModuleTest.cpp - choice and loading of images --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Which image a device gets, and what is said when there is none, the driver
// refuses it, or it does not hold what the facts say.
//
//===------------------------------------------------------------------------===//

#include "SampleKernel.h"
#include "WithFakeCuda.h"

#include <cstdio>

using namespace tilec;

namespace {
using ModuleTest = WithFakeCuda;

ModuleImage image(std::string arch, ImageKind kind, std::string data = "matmul matmul__aligned") {
  KernelInfo info = sampleKernel();
  info.arch = arch;
  return {arch, kind, {std::move(data)}, {info}};
}

/// "arch kind" of the image chosen among these.
std::string choose(std::vector<ModuleImage> images, int capability) {
  std::vector<const ModuleImage *> list;
  for (const ModuleImage &i : images)
    list.push_back(&i);
  const ModuleImage *best = chooseImage(list, capability);
  return best ? best->arch + (best->kind == ImageKind::PTX ? " ptx" : " cubin") : "none";
}

TEST_F(ModuleTest, ChoosesTheBestImage) {
  using enum ImageKind;
  EXPECT_EQ(choose({image("sm_80", PTX), image("sm_90a", PTX), image("sm_90", PTX)}, 90),
            "sm_90a ptx");
  EXPECT_EQ(choose({image("sm_80", PTX), image("sm_90a", PTX)}, 100), "sm_80 ptx");
  EXPECT_EQ(choose({image("sm_80", Cubin), image("sm_80", PTX)}, 90), "sm_80 ptx");
  EXPECT_EQ(choose({image("sm_80", Cubin), image("sm_86", PTX)}, 86), "sm_80 cubin");
  EXPECT_EQ(choose({image("sm_89", PTX), image("sm_86", PTX)}, 80), "none");
  EXPECT_EQ(choose({image("sm_90a", Cubin)}, 90), "sm_90a cubin");
  EXPECT_EQ(choose({image("sm_100a", PTX), image("sm_80", PTX)}, 120), "sm_80 ptx");
  EXPECT_EQ(choose({image("gfx90", PTX), image("sm_", PTX), image("", PTX)}, 90), "none");
  EXPECT_EQ(choose({}, 90), "none");
}

/// The message of loading the sample kernel from `images` on GPU 0.
std::string loadMessage(std::vector<ModuleImage> images) {
  ModuleFile file;
  file.images = std::move(images);
  auto module = Module::tryFromMemory(writeModule(file));
  if (!module)
    return module.failure().message;
  auto ok = module->kernel("matmul").tryPreload(Device::get(0));
  return ok ? "" : ok.failure().message;
}

TEST_F(ModuleTest, LoadsOnceAndOptsIntoSharedMemory) {
  ModuleFile file;
  file.images = {image("sm_90a", ImageKind::PTX, "unique matmul matmul__aligned")};
  for (BuildInfo &build : file.images[0].kernels[0].builds)
    build.sharedBytes = 100 << 10;
  Module module = Module::fromMemory(writeModule(file));
  EXPECT_EQ(module.kernelNames(), std::vector<std::string>{"matmul"});
  Kernel k = module.kernel("matmul");
  EXPECT_EQ(k.name(), "matmul");
  k.preload(Device::get(0));
  k.preload(Device::get(0));
  module.kernel("matmul").preload(Device::get(0));
  EXPECT_EQ(fake->calls["cuLibraryLoadData"], 1);
  EXPECT_EQ(fake->sharedOptIn["matmul"], 100 << 10);
  EXPECT_EQ(k.tryInfo(Device::get(0))->builds.size(), 2u);
}

/// The sample kernel with an object for each build.
Kernel inObjects(const std::string &first, const std::string &second) {
  ModuleFile file;
  file.images = {image("sm_90a", ImageKind::Cubin, first)};
  file.images[0].objects.push_back(second);
  file.images[0].kernels[0].builds[1].object = 1;
  return Module::fromMemory(writeModule(file)).kernel("matmul");
}

TEST_F(ModuleTest, LoadsTheBuildsThatLaunchesWant) {
  Kernel k = inObjects("matmul__aligned wanted", "matmul later");
  Stream s = Device::get(0).createStream();
  auto a = Array<bf16, 2>::zeros(s, {8, 8}), odd = Array<bf16, 2>::zeros(s, {8, 9});
  k.launch(s, a, a, a, 1.0f);
  k.launch(s, a, a, a, 1.0f);
  EXPECT_EQ(fake->images, std::vector<std::string>{"matmul__aligned wanted"});
  k.launch(s, a, odd, odd, 1.0f);
  EXPECT_EQ(fake->images, (std::vector<std::string>{"matmul__aligned wanted", "matmul later"}));
  inObjects("matmul__aligned first", "matmul second").preload(Device::get(0));
  EXPECT_EQ(fake->images.size(), 4u);
}

TEST_F(ModuleTest, ABuildWithoutCodeFailsWhenItIsWanted) {
  Kernel k = inObjects("matmul__aligned alone", "");
  k.preload(Device::get(0)); // of what there is
  Stream s = Device::get(0).createStream();
  auto a = Array<bf16, 2>::zeros(s, {8, 8}), odd = Array<bf16, 2>::zeros(s, {8, 9});
  k.launch(s, a, a, a, 1.0f);
  auto ok = k.tryLaunch(s, a, odd, odd, 1.0f);
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.failure().message, "matmul: the module has no code for `matmul`");
}

TEST_F(ModuleTest, Messages) {
  EXPECT_EQ(loadMessage({image("sm_100", ImageKind::PTX), image("sm_80", ImageKind::Cubin)}),
            "matmul: no image for GPU 0 (Fake 90, sm_90); there is code for sm_100 (PTX), sm_80");
  EXPECT_EQ(loadMessage({image("sm_90", ImageKind::PTX, "BAD")}),
            "matmul: loading the sm_90 image failed: fake error (CUDA error 218)\nline 3: no such "
            "instruction");
  EXPECT_EQ(loadMessage({image("sm_90", ImageKind::PTX, "other")}),
            "matmul: finding `matmul__aligned` in its image failed: fake error (CUDA error 500)");
  ModuleImage big = image("sm_90", ImageKind::PTX);
  big.kernels[0].builds[0].sharedBytes = 256 << 10;
  EXPECT_EQ(loadMessage({big}), "matmul: needs 262144 bytes of shared memory, a block on Fake 90 "
                                "has at most 232448");
}

TEST_F(ModuleTest, Files) {
  EXPECT_EQ(Module::tryFromFile("/nonexistent/x.tlm").failure().message,
            "/nonexistent/x.tlm: No such file or directory");
  EXPECT_EQ(Module::tryFromFile("/").failure().message, "/: Is a directory");
  std::string path = testing::TempDir() + "module-test.tlm";
  ModuleFile file;
  file.images = {image("sm_90", ImageKind::PTX)};
  std::string bytes = writeModule(file);
  std::FILE *out = std::fopen(path.c_str(), "wb");
  ASSERT_NE(out, nullptr);
  std::fwrite(bytes.data(), 1, bytes.size(), out);
  std::fclose(out);
  Module module = Module::fromFile(path);
  EXPECT_EQ(module.tryKernel("matmull").failure().message,
            "the module has no kernel `matmull`; it has matmul");
  std::remove(path.c_str());
}

TEST_F(ModuleTest, ModulesHaveNoCodeForTheCpu) {
  ModuleFile file;
  file.images = {image("sm_90", ImageKind::PTX)};
  Kernel k = Module::fromMemory(writeModule(file)).kernel("matmul");
  auto ok = k.tryPreload(Device::cpu());
  ASSERT_FALSE(ok);
  EXPECT_NE(ok.failure().message.find("no code for the CPU"), std::string::npos);
}
} // namespace
