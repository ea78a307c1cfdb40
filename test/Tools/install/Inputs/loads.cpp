//===- loads.cpp - a module that is linked in ---------------------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// Without a GPU a module can be looked at, and launching says why there is none.
#include "twice.tile.h"
#include <cstdio>
#include <tilec/dlpack.h>
#include <tilec/tilec.h>

int main() {
  tilec::Module module = tilec::Module::fromMemory(tilec_modules::twice());
  for (const std::string &name : module.kernelNames())
    std::printf("kernel %s\n", name.c_str());
  for (const tilec::ModuleImage &image : module.content().images)
    std::printf("image for %s\n", image.arch.c_str());
  float value = 0;
  int64_t dims[] = {1};
  DLTensor tensor = {&value, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, dims, nullptr, 0};
  std::printf("%s of %lld\n", tilec::dtypeName(tilec::viewOf(tensor, tilec::Device::cpu()).getArg().dtype).data(),
              static_cast<long long>(dims[0]));
  std::printf("%s\n", tilec::Device::count() > 0 ? "a GPU" : tilec::Device::whyNone().c_str());
}
