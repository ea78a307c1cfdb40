//===- LocationTest.cpp - where operations come from -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Locations are lines and columns of the source, with the calls through which a
// fn was inlined.

#include "IRGenTest.h"

using namespace tilec;
using namespace tilec::test;

namespace {

/// The location of the first operation named `name`, as text.
std::string locationOf(Generated &generated, llvm::StringRef name) {
  std::string text;
  generated.module->walk([&](mlir::Operation *op) {
    if (!text.empty() || op->getName().getStringRef() != name)
      return;
    llvm::raw_string_ostream os(text);
    op->getLoc().print(os);
  });
  return text;
}

TEST(Location, LinesColumnsAndNames) {
  Generated generated("kernel k(y: mut array<f32, [n]>, s: f32) {\n"
                      "  store_at(y, [0], s * 2.0);\n"
                      "}\n");
  EXPECT_EQ(locationOf(generated, "tile.kernel"), "loc(\"test.tile\":1:8)");
  EXPECT_EQ(locationOf(generated, "tile.store"), "loc(\"test.tile\":2:3)");
  EXPECT_EQ(locationOf(generated, "arith.mulf"), "loc(\"test.tile\":2:20)");
  EXPECT_NE(generated.text(/*withLocations=*/true).find("\"s\"(#loc"),
            std::string::npos);
}

TEST(Location, ChainOfCalls) {
  Generated generated("fn inner(x) { return exp(x); }\n"
                      "fn outer(x) {\n"
                      "  return inner(x); }\n"
                      "kernel k(y: mut array<f32, [n]>, s: f32) {\n"
                      "  store_at(y, [0], outer(s));\n"
                      "}\n");
  EXPECT_EQ(locationOf(generated, "math.exp"),
            "loc(callsite(callsite(\"test.tile\":1:22 at \"test.tile\":3:10) "
            "at \"test.tile\":5:20))");
}

} // namespace
