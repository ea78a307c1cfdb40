//===- ResultsTest.cpp - table, JSON, merged peers, roofline --- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "Results.h"
#include "Roofline.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace tilec;
using namespace tilec::bench;
using testing::HasSubstr;
using testing::Not;

static Entry entry(std::string who, double seconds, std::string wrong = "") {
  Entry result{std::move(who), "BM=64", {seconds, seconds * 0.9, seconds * 1.1, 20}, 1e-3, std::move(wrong)};
  return result;
}

static Results sample() {
  Results results;
  results.version = "tilec 0";
  results.device = "Some <GPU>";
  results.copyBytesPerSecond = 4e12;
  results.ceilings = {{"bf16 products", 8e14}};
  results.rows = {{"matmul-bf16", "4096x4096x4096", "bf16", 1.374e11, 1.0e8,
                   {entry("tilec", 3e-4), entry("tilec", 2e-4), entry("tilec", 1e-4, "wrong result"),
                    entry("cuBLASLt", 1.8e-4), entry("PyTorch", 1.9e-4)}},
                  {"vadd", "1000", "f32", 1e3, 1.2e4, {entry("tilec", 1e-6)}}};
  return results;
}

TEST(Results, WrongEntriesDoNotCount) {
  Results results = sample();
  EXPECT_EQ(results.rows[0].bestOurs()->seconds.median, 2e-4);
  EXPECT_EQ(results.rows[0].bestPeer()->who, "cuBLASLt");
  EXPECT_DOUBLE_EQ(results.rows[0].ratio(), 0.9);
  EXPECT_EQ(results.rows[1].bestPeer(), nullptr);
  EXPECT_EQ(results.rows[1].ratio(), 0);
}

static std::string tableOf(const Results &results) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printHeader(os, results);
  for (const Row &row : results.rows)
    printRow(os, row);
  return text;
}

TEST(Results, Table) {
  std::string text = tableOf(sample());
  EXPECT_THAT(text, HasSubstr("Some <GPU>, copy 4.00 TB/s, bf16 products 800 T/s"));
  EXPECT_THAT(text, HasSubstr("687.0 T/s"));        // 1.374e11 / 2e-4
  EXPECT_THAT(text, HasSubstr("cuBLASLt 763.3"));
  EXPECT_THAT(text, HasSubstr("ratio 0.90"));
  EXPECT_THAT(text, HasSubstr("spread 20.0 %"));
  EXPECT_THAT(text, HasSubstr("tilec BM=64: wrong result"));
  EXPECT_THAT(text, HasSubstr("0.012 TB/s"));       // vadd is told in bytes
}

TEST(Results, JSON) {
  llvm::json::Value value = toJSON(sample());
  const llvm::json::Object &row = *(*value.getAsObject()->getArray("rows"))[0].getAsObject();
  EXPECT_EQ(row.getString("subject"), "matmul-bf16");
  EXPECT_EQ(row.getNumber("ratio"), 0.9);
  const llvm::json::Object &first = *(*row.getArray("entries"))[0].getAsObject();
  EXPECT_EQ(first.getObject("seconds")->getNumber("median"), 3e-4);
  EXPECT_EQ(first.getObject("seconds")->getInteger("count"), 20);
  EXPECT_EQ((*row.getArray("entries"))[2].getAsObject()->getString("wrong"), "wrong result");
  EXPECT_EQ(value.getAsObject()->getNumber("copy_bytes_per_second"), 4e12);
}

TEST(Results, NoNumberIsNoJSON) {
  Results results = sample();
  results.rows[0].entries[2].error = NAN;
  std::string text;
  llvm::raw_string_ostream(text) << toJSON(results);
  EXPECT_TRUE(static_cast<bool>(llvm::json::parse(text)));
}

TEST(Results, PeersJoinTheirRow) {
  Results results = sample();
  auto ok = mergePeers(R"({"entries": [
    {"subject": "vadd", "shape": "1000", "who": "Triton", "setting": "1024", "error": 0,
     "seconds": {"median": 5e-7, "low": 4e-7, "high": 6e-7, "count": 50}},
    {"subject": "vadd", "shape": "1000", "who": "cuTile", "wrong": "not for this chip"},
    {"subject": "vadd", "shape": "7", "who": "Triton", "seconds": {"median": 1}}]})", results);
  ASSERT_TRUE(static_cast<bool>(ok));
  ASSERT_EQ(results.rows[1].entries.size(), 3u);
  EXPECT_DOUBLE_EQ(results.rows[1].ratio(), 0.5);
  EXPECT_THAT(tableOf(results), HasSubstr("cuTile : not for this chip"));
}

TEST(Results, WrongPeersFilesAreRefused) {
  for (const char *text : {"", "[]", "{}", "{\"entries\": 1}", "{\"entries\": [1]}",
                           "{\"entries\": [{\"subject\": \"vadd\", \"shape\": \"1000\"}]}",
                           "{\"entries\": [{\"subject\": \"vadd\", \"shape\": \"1000\", \"who\": \"x\"}]}",
                           "{\"entries\": [{\"subject\": \"v\", \"shape\": \"1\", \"who\": \"x\", \"seconds\": {}}]}"}) {
    Results results = sample();
    EXPECT_FALSE(static_cast<bool>(mergePeers(text, results))) << text;
    EXPECT_EQ(results.rows[1].entries.size(), 1u);
  }
}

//===-- The picture ------------------------------------------------------------------===//

static std::string pictureOf(const Results &results) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printRoofline(os, results);
  return text;
}

/// The values of an attribute of all elements of a kind.
static std::vector<double> attributes(llvm::StringRef svg, llvm::StringRef element, llvm::StringRef name) {
  std::vector<double> values;
  while (true) {
    size_t at = svg.find(("<" + element + " ").str());
    if (at == llvm::StringRef::npos)
      return values;
    svg = svg.drop_front(at);
    llvm::StringRef tag = svg.take_until([](char c) { return c == '>'; });
    size_t place = tag.find((" " + name + "=\"").str());
    if (place != llvm::StringRef::npos)
      values.push_back(std::stod(tag.drop_front(place + name.size() + 3).str()));
    svg = svg.drop_front(1);
  }
}

TEST(Roofline, IsWellFormedAndNamesEverything) {
  std::string svg = pictureOf(sample());
  EXPECT_TRUE(llvm::StringRef(svg).starts_with("<svg "));
  EXPECT_TRUE(llvm::StringRef(svg).ends_with("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("Some &lt;GPU&gt;"));
  EXPECT_THAT(svg, HasSubstr("copy 4.00 TB/s"));
  EXPECT_THAT(svg, HasSubstr("bf16 products 800 T/s"));
  EXPECT_THAT(svg, HasSubstr("<title>matmul-bf16 4096x4096x4096, tilec: 687 T/s"));
  EXPECT_THAT(svg, HasSubstr("<title>matmul-bf16 4096x4096x4096, cuBLASLt: 763 T/s"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  // Dots of three programs and the two of the legend.
  EXPECT_EQ(attributes(svg, "circle", "cx").size(), 5u);
}

TEST(Roofline, QuickerLiesHigherAndEverythingInside) {
  std::string svg = pictureOf(sample());
  std::vector<double> y = attributes(svg, "circle", "cy"), x = attributes(svg, "circle", "cx");
  EXPECT_LT(y[0], y[1]); // cuBLASLt before tilec, and quicker
  EXPECT_GT(y[2], y[1]); // vadd
  EXPECT_LT(x[2], x[1]);
  EXPECT_EQ(x[0], x[1]);
  for (double value : x)
    EXPECT_TRUE(value >= 80 && value <= 940) << value;
  for (llvm::StringRef name : {"x1", "x2", "y1", "y2"})
    for (double value : attributes(svg, "line", name))
      EXPECT_TRUE(value >= 40 && value <= 940) << value;
}

TEST(Roofline, TheSlopeMeetsTheFlat) {
  std::string svg = pictureOf(sample());
  std::vector<double> x1 = attributes(svg, "line", "x1"), y1 = attributes(svg, "line", "y1");
  std::vector<double> x2 = attributes(svg, "line", "x2"), y2 = attributes(svg, "line", "y2");
  size_t slope = x1.size() - 2, flat = x1.size() - 1;
  EXPECT_EQ(y1[flat], y2[flat]);
  EXPECT_NEAR(x2[slope], x1[flat], 0.11);
  EXPECT_NEAR(y2[slope], y1[flat], 0.11);
  EXPECT_LT(y2[slope], y1[slope]);
}

TEST(Roofline, NothingMeasured) {
  std::string svg = pictureOf(Results());
  EXPECT_TRUE(llvm::StringRef(svg).ends_with("</svg>\n"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}
