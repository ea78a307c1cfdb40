//===- HostTypesTest.cpp - 16- and 8-bit floats on the host -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Every code of the small formats, rounding to nearest even, and overflow.
//
//===------------------------------------------------------------------------===//

#include "tilec/Runtime/HostTypes.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace tilec;

static constexpr double inf = std::numeric_limits<double>::infinity();

TEST(SmallFloat, EveryCodeSurvives) {
  for (DType t : {f16, bf16, f8e4m3, f8e5m2})
    for (uint64_t bits = 0; bits < uint64_t(1) << dtypeBits(t); ++bits) {
      double v = decodeSmallFloat(t, bits);
      if (std::isnan(v)) {
        EXPECT_TRUE(std::isnan(decodeSmallFloat(t, encodeSmallFloat(t, v))));
      } else if (!(isF8(t) && std::isinf(v))) {
        EXPECT_EQ(encodeSmallFloat(t, v), bits) << dtypeName(t);
      }
    }
}

TEST(SmallFloat, RoundsToNearestEven) {
  // Between any two neighbours: below, at, and above the middle.
  for (DType t : {f16, bf16, f8e4m3, f8e5m2}) {
    uint64_t last = t == f16 ? 0x7bff : t == bf16 ? 0x7f7f : t == f8e4m3 ? 0x7e : 0x7b;
    for (uint64_t bits = 0; bits < last; ++bits) {
      double a = decodeSmallFloat(t, bits), b = decodeSmallFloat(t, bits + 1);
      double middle = (a + b) / 2;
      EXPECT_EQ(encodeSmallFloat(t, std::nextafter(middle, -inf)), bits);
      EXPECT_EQ(encodeSmallFloat(t, middle), bits + (bits & 1));
      EXPECT_EQ(encodeSmallFloat(t, std::nextafter(middle, inf)), bits + 1);
    }
  }
}

TEST(SmallFloat, Overflow) {
  EXPECT_EQ(encodeSmallFloat(f16, 65519.0), 0x7bffu);
  EXPECT_EQ(encodeSmallFloat(f16, 65520.0), 0x7c00u);
  EXPECT_EQ(encodeSmallFloat(f16, -1e300), 0xfc00u);
  EXPECT_EQ(encodeSmallFloat(bf16, 1e39), 0x7f80u);
  EXPECT_EQ(encodeSmallFloat(f8e4m3, 1e9), 0x7eu);
  EXPECT_EQ(encodeSmallFloat(f8e4m3, -inf), 0xfeu);
  EXPECT_EQ(encodeSmallFloat(f8e5m2, inf), 0x7bu);
  EXPECT_EQ(encodeSmallFloat(f16, -0.0), 0x8000u);
  EXPECT_EQ(encodeSmallFloat(f8e4m3, std::nan("")), 0x7fu);
}

TEST(HostTypes, Conversions) {
  EXPECT_EQ(float(BFloat16(1.5f)), 1.5f);
  EXPECT_EQ(Half(65504.0f).bits, 0x7bff);
  EXPECT_EQ(float(Float8E4M3::fromBits(0x7e)), 448.0f);
  static_assert(std::is_same_v<HostType<DType::Int>, int64_t>);
  static_assert(sizeof(HostType<bf16>) == 2 && sizeof(HostType<f8e5m2>) == 1);
}
