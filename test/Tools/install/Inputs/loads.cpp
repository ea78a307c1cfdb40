//===- loads.cpp - a module that is linked in ---------------------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// Without a GPU a module can be looked at, and launching says why there is none.
#include "twice.tile.h"
#include <cstdio>
#include <tilec/dlpack.h>
#include <tilec/tilec.h>
#include <vector>

int main() {
  tilec::Module module = tilec::Module::fromMemory(tilec_modules::twice());
  for (const std::string &name : module.kernelNames())
    std::printf("kernel %s\n", name.c_str());
  for (const tilec::ModuleImage &image : module.content().images)
    std::printf("image for %s\n", image.arch.c_str());
  float value = 0;
  int64_t dims[] = {1};
  DLTensor tensor = {&value, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, dims, nullptr, 0};
  // The typed form of the same kernels.
  const std::vector<double> values(1000);
  tilec::Stream s = tilec::Device::cpu().createStream();
  auto x = tilec::Array<tilec::f64, 1>::fromHost(s, values), y = tilec::Array<tilec::f64, 1>::zeros(s, {1000});
  auto grid = twice_tile::twice_f64.grid(tilec::Device::cpu(), {.x = x, .y = y});
  static_assert(twice_tile::twice_kernel::Constants::B == 512);
  std::printf("%lld blocks\n", static_cast<long long>(grid[0]));
  auto launched = twice_tile::twice_f64.tryLaunch(s, {.x = x, .y = y});
  std::printf("launch: %s\n", launched ? "done" : launched.failure().message.c_str());
  std::printf("%s of %lld\n", tilec::dtypeName(tilec::viewOf(tensor, tilec::Device::cpu()).getArg().dtype).data(),
              static_cast<long long>(dims[0]));
  std::printf("%s\n", tilec::Device::count() > 0 ? "a GPU" : tilec::Device::whyNone().c_str());
}
