//===- DebugRingTest.cpp - records of prints and assertions -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Numbers as text, and a ring that a test writes as a kernel does.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/DebugRing.h"
#include "tilec/Support/Numerics.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <thread>

using namespace tilec;

namespace {

std::string text(DType dtype, double value) {
  return debugText(dtype, isFloat(dtype) ? numerics::encode(dtype, value)
                                         : static_cast<uint64_t>(static_cast<int64_t>(value)));
}

TEST(DebugText, FloatsHaveTheFewestDigitsOfTheirDType) {
  EXPECT_EQ(text(DType::F32, 0.1), "0.1");
  EXPECT_EQ(text(DType::F64, 0.1), "0.1");
  EXPECT_EQ(text(DType::F64, double(0.1f)), "0.10000000149011612");
  EXPECT_EQ(text(DType::F16, 0.1), "0.1");
  EXPECT_EQ(text(DType::BF16, 3.140625), "3.14"); // neighbours: 3.125, 3.15625
  EXPECT_EQ(text(DType::F16, 65504), "65500.0");  // neighbours: 65472, infinity
  EXPECT_EQ(text(DType::F8E4M3, 448), "450.0");
  EXPECT_EQ(text(DType::F32, 16777216), "16777216.0");
  EXPECT_EQ(text(DType::F32, 100000), "100000.0");
  EXPECT_EQ(text(DType::F64, 1e15), "1000000000000000.0");
  EXPECT_EQ(text(DType::F64, 1e16), "1e+16");
  EXPECT_EQ(text(DType::F32, 0.0001), "0.0001");
  EXPECT_EQ(text(DType::F32, -1.5e-5), "-1.5e-05");
  EXPECT_EQ(text(DType::F32, -0.0), "-0.0");
  EXPECT_EQ(text(DType::F32, INFINITY), "inf");
  EXPECT_EQ(text(DType::BF16, -INFINITY), "-inf");
  EXPECT_EQ(text(DType::F16, NAN), "nan");
}

TEST(DebugText, EveryF16ReadsBack) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    std::string printed = debugText(DType::F16, bits);
    ASSERT_EQ(numerics::encode(DType::F16, std::strtod(printed.c_str(), nullptr)), bits) << printed;
  }
}

TEST(DebugText, IntegersBySign) {
  EXPECT_EQ(debugText(DType::I8, 0xff), "-1");
  EXPECT_EQ(debugText(DType::U8, 0xff), "255");
  EXPECT_EQ(debugText(DType::U64, ~uint64_t(0)), "18446744073709551615");
  EXPECT_EQ(debugText(DType::Int, ~uint64_t(0)), "-1");
  EXPECT_EQ(debugText(DType::Bool, 2), "true");
  EXPECT_EQ(debugText(DType::Bool, 0), "false");
}

DebugSite printSite(std::vector<std::string> pieces, std::vector<DebugValue> values) {
  return {false, "k.tile", 3, 5, std::move(pieces), std::move(values)};
}
DebugSite assertSite(std::vector<int64_t> shape) {
  return {true, "k.tile", 7, 1, {"positive"}, {{DType::Bool, std::move(shape)}}};
}

TEST(DebugLine, TilesAreNestedLists) {
  DebugSite site = printSite({"a ", " b ", " c ", ""}, {{DType::I32, {}},
                                                        {DType::I32, {2, 1, 2}},
                                                        {DType::I32, {1}}});
  auto number = [](size_t v, size_t i) { return uint64_t(10 * v + i); };
  EXPECT_EQ(debugLine(site, number), "a 0 b [[[10, 11]], [[12, 13]]] c [20]");
}

/// Writes records as a kernel does.
struct Writer {
  char *memory;
  uint64_t &word(unsigned at) { return *reinterpret_cast<uint64_t *>(memory + at); }
  char *at(uint64_t position) {
    return memory + DebugRing::headerBytes + (position & word(DebugRing::maskAt));
  }
  /// The position of a record, or -1 when it does not fit.
  int64_t reserve(uint64_t bytes, unsigned counter) {
    uint64_t position = word(DebugRing::cursorAt);
    if (position + bytes > word(DebugRing::limitAt)) {
      ++word(counter);
      return -1;
    }
    word(DebugRing::cursorAt) += bytes;
    return int64_t(position);
  }
  void finish(uint64_t position, uint32_t site, std::array<int32_t, 3> block) {
    for (unsigned d = 0; d < 3; ++d)
      std::memcpy(at(position + DebugRing::blockAt + 4 * d), &block[d], 4);
    std::atomic_ref(*reinterpret_cast<uint32_t *>(at(position))).store(site + 1);
  }
  bool print(uint32_t site, const DebugSite &facts, int32_t value) {
    int64_t position = reserve(DebugRing::recordBytes(facts), DebugRing::droppedAt);
    if (position < 0)
      return false;
    std::memcpy(at(uint64_t(position) + DebugRing::valuesAt), &value, 4);
    finish(uint64_t(position), site, {0, 0, 0});
    return true;
  }
  void fail(uint32_t site, std::array<int32_t, 3> block, int64_t index) {
    int64_t position = reserve(DebugRing::valuesAt + 8, DebugRing::unheardAt);
    if (position < 0)
      return;
    std::memcpy(at(uint64_t(position) + DebugRing::valuesAt), &index, 8);
    finish(uint64_t(position), site, block);
  }
};

struct RingTest : testing::Test {
  RingTest() : ring(DebugRing::allocate(64)), writer{static_cast<char *>(ring->data())} {}
  void drain(DebugLog &log, bool waits = false) {
    ring->drain([&](uint32_t n) -> DebugRing::Source {
      return n < sites.size() ? DebugRing::Source{&sites[n], "k"} : DebugRing::Source{};
    }, log, waits);
  }
  std::unique_ptr<DebugRing> ring;
  Writer writer;
  std::vector<DebugSite> sites = {printSite({"x = ", ""}, {{DType::I32, {}}}), assertSite({2, 4}),
                                  assertSite({})};
};

TEST_F(RingTest, WrapsAroundAndDropsWhatDoesNotFit) {
  // Records of 24 bytes in a ring of 64: they come to lie across its end.
  std::string expected;
  DebugLog log;
  for (int32_t i = 0; i < 40; i += 2) {
    EXPECT_TRUE(writer.print(0, sites[0], i));
    EXPECT_TRUE(writer.print(0, sites[0], i + 1));
    EXPECT_FALSE(writer.print(0, sites[0], -1));
    drain(log);
    expected += "x = " + std::to_string(i) + "\nx = " + std::to_string(i + 1) + "\n";
  }
  EXPECT_EQ(log.lines(), expected);
  EXPECT_TRUE(log.takeFailure());
}

TEST_F(RingTest, JoinsFailuresOfOnePlace) {
  DebugLog log;
  for (auto [x, index] : {std::pair(2, 0), {1, 7}, {1, 6}}) {
    writer.fail(1, {x, 0, 0}, index);
    drain(log);
  }
  writer.fail(2, {0, 3, 0}, 0);
  drain(log);
  auto failed = log.takeFailure();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.failure().message,
            "k.tile:7:1: assertion failed: positive (block (1, 0, 0), first at [1, 2]; 3 times)\n"
            "k.tile:7:1: assertion failed: positive (block (0, 3, 0))");
  EXPECT_EQ(failed.failure().kernel, "k");
  EXPECT_EQ(failed.failure().code, DebugLog::assertionCode);
  EXPECT_TRUE(log.takeFailure()); // told once
}

TEST_F(RingTest, AFailureThatDoesNotFitIsAFailure) {
  DebugLog log;
  writer.print(0, sites[0], 1);
  writer.print(0, sites[0], 2);
  writer.fail(1, {0, 0, 0}, 3);
  drain(log);
  auto failed = log.takeFailure();
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.failure().message.find("1 failed assertions were lost"), std::string::npos);
}

TEST_F(RingTest, WaitsForARecordThatHasBegun) {
  int64_t position = writer.reserve(24, DebugRing::droppedAt);
  DebugLog log;
  drain(log);
  EXPECT_EQ(log.lines(), "");
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    writer.finish(uint64_t(position), 0, {0, 0, 0});
  });
  drain(log, /*waits=*/true);
  late.join();
  EXPECT_EQ(log.lines(), "x = 0\n");
}

TEST_F(RingTest, ADamagedRecordIsNotRead) {
  writer.print(77, sites[0], 5);
  DebugLog log;
  drain(log);
  EXPECT_EQ(log.lines(), "");
  EXPECT_TRUE(log.takeFailure());
}

} // namespace
