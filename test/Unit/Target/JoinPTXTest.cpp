//===- JoinPTXTest.cpp - one PTX module of several --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tilec/Target/JoinPTX.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tilec;
using testing::HasSubstr;

namespace {

const std::string head = "//\n// Generated\n//\n\n.version 8.0\n.target sm_90a\n.address_size 64\n";

std::string module(const std::string &variables, const std::string &entry,
                   const std::string &tail, const std::string &chipHead = head) {
  return chipHead + "\n\t// .globl\t" + entry + "\n" + variables + "\n.visible .entry " + entry +
         "()\n{\n\t.loc\t1 2 3\n$L__BB0_1:\n\tret;\n\n}\n" + tail;
}

std::string join(const std::vector<std::string> &modules) {
  auto joined = joinPTX(modules);
  return joined ? *joined : "error: " + llvm::toString(joined.takeError());
}

TEST(JoinPTX, KeepsEntriesInOrderUnderOneHead) {
  EXPECT_EQ(join({module("", "a", "\t.file\t1 \"k.tile\"\n"), module("", "b", "\t.file\t1 \"k.tile\"\n")}),
            head + "\n.visible .entry a()\n{\n\t.loc\t1 2 3\n$L__BB0_1:\n\tret;\n\n}\n"
                   "\n.visible .entry b()\n{\n\t.loc\t1 2 3\n$L__BB0_1:\n\tret;\n\n}\n"
                   "\t.file\t1 \"k.tile\"\n");
}

TEST(JoinPTX, DeclaresAVariableOnce) {
  std::string pad = ".global .align 16 .b8 pad[2] = {1, 2};\n";
  std::string text = join({module(pad, "a", ""), module(pad + ".global .align 4 .b8 own[4];\n", "b", "")});
  EXPECT_THAT(text, HasSubstr("\n" + pad + ".global .align 4 .b8 own[4];\n\n.visible"));
  EXPECT_EQ(text.find(pad), text.rfind(pad));
}

TEST(JoinPTX, TakesTheLargestAlignmentOfSharedMemory) {
  std::string small = ".extern .shared .align 16 .b8 smem[];\n";
  std::string large = ".extern .shared .align 1024 .b8 smem[];\n";
  for (auto &[first, second] : {std::pair(small, large), std::pair(large, small)}) {
    std::string text = join({module(first, "a", ""), module(second, "b", "")});
    EXPECT_THAT(text, HasSubstr(large));
    EXPECT_EQ(text.find(small), std::string::npos);
  }
}

TEST(JoinPTX, RefusesVariablesThatDiffer) {
  EXPECT_EQ(join({module(".global .b8 t[2] = {1, 2};\n", "a", ""),
                  module(".global .b8 t[2] = {1, 3};\n", "b", "")}),
            "error: two modules declare 't' differently");
  EXPECT_EQ(join({module(".extern .shared .align 16 .b8 t[];\n", "a", ""),
                  module(".extern .shared .align 16 .b16 t[];\n", "b", "")}),
            "error: two modules declare 't' differently");
}

TEST(JoinPTX, NumbersFilesAnew) {
  std::string text = join({module("", "a", "\t.file\t1 \"a.tile\"\n"),
                           module("", "b", "\t.file\t1 \"b.tile\"\n\t.file\t2 \"a.tile\"\n")});
  EXPECT_THAT(text, HasSubstr("entry a()\n{\n\t.loc\t1 2 3\n"));
  EXPECT_THAT(text, HasSubstr("entry b()\n{\n\t.loc\t2 2 3\n"));
  EXPECT_THAT(text, HasSubstr("}\n\t.file\t1 \"a.tile\"\n\t.file\t2 \"b.tile\"\n"));
}

TEST(JoinPTX, RefusesModulesOfDifferentTargets) {
  std::string other = ".version 8.0\n.target sm_80\n.address_size 64\n";
  EXPECT_EQ(join({module("", "a", ""), module("", "b", "", other)}),
            "error: PTX modules of different targets");
  EXPECT_EQ(join({"nothing"}), "error: PTX that is not of the expected form");
}

} // namespace
