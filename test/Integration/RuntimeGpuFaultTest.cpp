//===- RuntimeGpuFaultTest.cpp - a faulting kernel ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A program of its own, as a fault ends the use of the GPU by the process.
//
//===------------------------------------------------------------------------===//

#include "HandWrittenPtx.h"

#include "tilec/tilec.h"

#include "gtest/gtest.h"

using namespace tilec;

TEST(RuntimeGpuFault, IsReportedWithTheKernel) {
  if (Device::count() == 0)
    GTEST_SKIP() << Device::whyNone();
  Stream s = Device::get(0).createStream();
  Kernel k = Module::fromMemory(writeModule(handWrittenModule())).kernel("fault");
  auto y = Array<f32, 1>::zeros(s, {1});
  k.launch(s, y);
  auto ok = s.trySynchronize();
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.failure().kernel, "fault");
  EXPECT_NE(ok.failure().message.find("the kernel launched last on this device is `fault`"),
            std::string::npos)
      << ok.failure().message;
  // Destructors of the stream and the array must not throw now.
}
