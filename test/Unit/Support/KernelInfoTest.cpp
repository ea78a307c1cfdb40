//===- KernelInfoTest.cpp - launch facts as JSON ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Dtype names, and KernelInfo to JSON and back, including malformed text.
//
//===------------------------------------------------------------------------===//

#include "SampleKernel.h"

#include "gtest/gtest.h"

using namespace tilec;

TEST(DType, NamesAndSizes) {
  for (unsigned i = 0; i < numDTypes; ++i) {
    auto t = static_cast<DType>(i);
    EXPECT_EQ(parseDType(dtypeName(t)), t);
    EXPECT_LE(dtypeBits(t), 8 * dtypeBytes(t));
  }
  EXPECT_EQ(dtypeName(DType::BF16), "bf16");
  EXPECT_EQ(dtypeBytes(DType::Int), 8u);
  EXPECT_EQ(dtypeBytes(DType::Bool), 1u);
  EXPECT_FALSE(parseDType("float"));
  EXPECT_FALSE(parseDType(""));
  EXPECT_TRUE(isFloat(DType::F8E4M3) && isUnsigned(DType::U8) && isSigned(DType::Int));
  EXPECT_FALSE(isInteger(DType::Bool));
}

TEST(KernelInfo, RoundTrip) {
  KernelInfo info = sampleKernel();
  std::string text = toJson(info);
  auto back = kernelInfoFromJson(text);
  ASSERT_TRUE(back) << back.failure().message;
  EXPECT_EQ(toJson(*back), text);
  EXPECT_EQ(back->params[0].dims[1].name, "k");
  EXPECT_EQ(back->requirements[0].line, 4u);
  EXPECT_EQ(back->builds[0].facts, static_cast<uint8_t>(BuildFact::Aligned16));
  EXPECT_EQ(back->builds[1].sharedBytes, 49152u);
  EXPECT_EQ(back->builds[1].persistent, 0u);
  EXPECT_EQ(back->builds[1].cluster, 1u);
  EXPECT_EQ(back->builds[1].splitK, 0u);
  EXPECT_TRUE(back->builds[1].tensorMaps.empty());
  EXPECT_FALSE(back->usesNumSMs);
  info.usesNumSMs = true;
  EXPECT_TRUE(kernelInfoFromJson(toJson(info))->usesNumSMs);
}

/// The sample with a build that is persistent, clustered and copies by tensor maps.
static KernelInfo residentKernel() {
  KernelInfo info = sampleKernel();
  info.builds[0].persistent = 2;
  info.builds[0].cluster = 4;
  info.builds[0].clusterAxis = 1;
  info.builds[0].splitK = 4;
  info.builds[0].blocksAtOnce = 2;
  info.builds[0].sumBytes = 5120;
  info.builds[0].positions = 2;
  info.builds[0].awaitsGrids = true;
  info.builds[0].tensorMaps = {{1, {64, 256}, 128}, {0, {8, 32}, 0}};
  return info;
}

TEST(KernelInfo, ResidentBuildsRoundTrip) {
  auto back = kernelInfoFromJson(toJson(residentKernel()));
  ASSERT_TRUE(back) << back.failure().message;
  const BuildInfo &build = back->builds[0];
  EXPECT_EQ(build.persistent, 2u);
  EXPECT_EQ(build.cluster, 4u);
  EXPECT_EQ(build.clusterAxis, 1u);
  EXPECT_FALSE(back->builds[1].clusterAxis);
  EXPECT_EQ(build.splitK, 4u);
  EXPECT_EQ(build.blocksAtOnce, 2u);
  EXPECT_EQ(back->builds[1].blocksAtOnce, 1u);
  EXPECT_EQ(build.sumBytes, 5120u);
  EXPECT_EQ(back->builds[1].sumBytes, 0u);
  EXPECT_EQ(build.positions, 2u);
  EXPECT_TRUE(build.awaitsGrids);
  EXPECT_FALSE(back->builds[1].awaitsGrids);
  ASSERT_EQ(build.tensorMaps.size(), 2u);
  EXPECT_EQ(build.tensorMaps[0].param, 1u);
  EXPECT_EQ(build.tensorMaps[0].box, (std::vector<uint32_t>{64, 256}));
  EXPECT_EQ(build.tensorMaps[0].swizzleBytes, 128u);
  EXPECT_EQ(build.tensorMaps[1].swizzleBytes, 0u);
}

/// The failure for the sample with `from` replaced by `to`.
static std::string readChanged(const std::string &from, const std::string &to) {
  std::string text = toJson(residentKernel());
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  auto back = kernelInfoFromJson(text);
  return back ? "accepted" : back.failure().message;
}

TEST(KernelInfo, MalformedFieldsAreNamed) {
  EXPECT_EQ(readChanged("\"bf16\"", "\"float\""), "launch facts: `params[0].dtype` is not a dtype");
  EXPECT_EQ(readChanged("\"threads\": 256", "\"threads\": 0"),
            "launch facts: `builds[0].threads` is out of range");
  EXPECT_EQ(readChanged("\"threads\": 256", "\"threads\": 1.5"),
            "launch facts: `builds[0].threads` is not an integer");
  EXPECT_EQ(readChanged("\"threads\": 256", "\"threads\": 18446744073709551615"),
            "launch facts: `builds[0].threads` is out of range");
  EXPECT_EQ(readChanged("\"aligned16\"", "\"lucky\""),
            "launch facts: `builds[0].facts[0]` is not a known fact");
  EXPECT_EQ(readChanged("\"cluster\": 4", "\"cluster\": 17"),
            "launch facts: `builds[0].cluster` is out of range");
  EXPECT_EQ(readChanged("\"split_k\": 4", "\"split_k\": 9"),
            "launch facts: `builds[0].split_k` is out of range");
  EXPECT_EQ(readChanged("\"blocks_at_once\": 2", "\"blocks_at_once\": 0"),
            "launch facts: `builds[0].blocks_at_once` is out of range");
  EXPECT_EQ(readChanged("\"sum_bytes\": 5120", "\"sum_bytes\": 16777217"),
            "launch facts: `builds[0].sum_bytes` is out of range");
  EXPECT_EQ(readChanged("\"persistent\": 2", "\"persistent\": -1"),
            "launch facts: `builds[0].persistent` is out of range");
  EXPECT_EQ(readChanged("\"awaits_grids\": true", "\"awaits_grids\": 1"),
            "launch facts: `builds[0].awaits_grids` is not a boolean");
  EXPECT_EQ(readChanged("256\n", "257\n"),
            "launch facts: `builds[0].tensor_maps[0].box[1]` is not an extent from 1 to 256");
  EXPECT_EQ(readChanged("\"swizzle\": 128", "\"swizzle\": 48"),
            "launch facts: `builds[0].tensor_maps[0].swizzle` is none of 0, 32, 64, 128");
  EXPECT_EQ(readChanged("\"doc\"", "\"dok\""), "launch facts: `doc` is missing");
  EXPECT_EQ(readChanged("\"kind\": \"array\"", "\"kind\": \"tile\""),
            "launch facts: `params[0].kind` is neither `array` nor `scalar`");
  EXPECT_EQ(readChanged("{", ""), "launch facts are not JSON");
}

TEST(KernelInfo, ForeignText) {
  EXPECT_FALSE(kernelInfoFromJson(""));
  EXPECT_FALSE(kernelInfoFromJson("[]"));
  EXPECT_FALSE(kernelInfoFromJson("3"));
  EXPECT_FALSE(kernelInfoFromJson(std::string(1000000, '[')));
  EXPECT_FALSE(kernelInfoFromJson("{\"name\": \"\xff\"}"));
}

TEST(KernelInfo, NonUtf8NamesStillWrite) {
  KernelInfo info = sampleKernel();
  info.doc = "\xff";
  EXPECT_TRUE(kernelInfoFromJson(toJson(info)));
}
