//===- HostTypesTest.cpp - 16- and 8-bit floats on the host -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The C++ types of elements and their conversions (whose rules Numerics tests).
//
//===------------------------------------------------------------------------===//

#include "tilec/Runtime/HostTypes.h"

#include "gtest/gtest.h"

#include <type_traits>

using namespace tilec;

TEST(HostTypes, Conversions) {
  EXPECT_EQ(float(BFloat16(1.5f)), 1.5f);
  EXPECT_EQ(Half(65504.0f).bits, 0x7bff);
  EXPECT_EQ(float(Float8E4M3::fromBits(0x7e)), 448.0f);
  static_assert(std::is_same_v<HostType<DType::Int>, int64_t>);
  static_assert(sizeof(HostType<bf16>) == 2 && sizeof(HostType<f8e5m2>) == 1);
}
