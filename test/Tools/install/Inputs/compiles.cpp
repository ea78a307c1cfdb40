//===- compiles.cpp - source in, values out, on the CPU -----------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#include <cstdio>
#include <tilec/jit.h>
#include <vector>

int main(int, char **argv) {
  tilec::Stream s = tilec::Device::cpu().createStream();
  const std::vector<float> values = {1, 2.5, -3};
  auto x = tilec::Array<tilec::f32, 1>::fromHost(s, values);
  auto y = tilec::Array<tilec::f32, 1>::zeros(s, x.shape());
  tilec::Program program = tilec::Program::fromFile(argv[1]);
  program.kernel("twice", {{"T", tilec::f32}, {"B", 64}}).launch(s, x, y);
  for (float value : y.toHost(s))
    std::printf("%g\n", value);
  try {
    program.kernel("twice", {{"B", 60}});
  } catch (const tilec::Error &error) {
    std::printf("%s\n", error.what());
  }
}
