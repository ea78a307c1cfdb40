//===- NoDriverTest.cpp - the runtime where there is no driver ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A program of its own, as a process opens the driver once.
//
//===------------------------------------------------------------------------===//

#include "tilec/tilec.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace tilec;

TEST(NoDriver, CountsNothingAndSaysWhy) {
  setenv("TILEC_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
  EXPECT_EQ(Device::count(), 0);
  EXPECT_EQ(Device::whyNone().find("cannot open the CUDA driver: /nonexistent/libcuda.so.1"), 0u);
  auto device = Device::tryGet(0);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.failure().message.find("there is no GPU 0: cannot open the CUDA driver"), 0u);
  EXPECT_FALSE(StreamRef(nullptr).tryDevice());
  // The CPU is always there.
  Stream s = Device::cpu().createStream();
  EXPECT_EQ((Array<f32, 1>::zeros(s, {4}).toHost(s)), std::vector<float>(4));
}
