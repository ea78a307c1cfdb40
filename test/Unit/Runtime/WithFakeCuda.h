//===- WithFakeCuda.h - tests on the recording driver -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A fixture that has the runtime open FakeCuda.so and clears what it recorded.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TEST_UNIT_RUNTIME_WITHFAKECUDA_H
#define TILEC_TEST_UNIT_RUNTIME_WITHFAKECUDA_H

#include "FakeCuda.h"

#include "tilec/tilec.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <dlfcn.h>

namespace tilec {

class WithFakeCuda : public testing::Test {
protected:
  static void SetUpTestSuite() {
    setenv("TILEC_LIBCUDA", FAKE_CUDA, 1);
    void *library = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    fake = reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "fakeCuda"))();
  }
  void SetUp() override {
    fake->calls.clear();
    fake->failNext.clear();
    fake->onLaunch = nullptr;
    fake->images.clear();
    fake->encodedMaps.clear();
    fake->memoryWork.clear();
  }
  void TearDown() override {
    // Nothing leaks, and the thread's context is as it was.
    EXPECT_EQ(fake->contextDepth, 0);
    EXPECT_TRUE(fake->allocations.empty());
    EXPECT_TRUE(fake->streams.empty());
    EXPECT_TRUE(fake->events.empty());
  }

  static inline FakeCuda *fake = nullptr;
};

} // namespace tilec

#endif // TILEC_TEST_UNIT_RUNTIME_WITHFAKECUDA_H
