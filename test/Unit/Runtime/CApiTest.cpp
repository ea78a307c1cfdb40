//===- CApiTest.cpp - the runtime's functions with C linkage -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Failures come back as a null or a code with a message, never as an exception.
//
//===------------------------------------------------------------------------===//
#include "tilec/Runtime/C.h"

#include <gmock/gmock.h>

using testing::HasSubstr;

TEST(CApi, TellsWhyAModuleCannotBeLoaded) {
  EXPECT_EQ(tilec_load("no/such/file.tilemod", "k"), nullptr);
  EXPECT_THAT(tilec_last_error(), HasSubstr("no/such/file.tilemod"));
}

TEST(CApi, UnloadsNothing) { tilec_unload(nullptr); }

TEST(CApi, TellsWhichArgumentIsNone) {
  tilec_argument arguments[2] = {};
  arguments[0].dtype = "int";
  arguments[1].dtype = "f33";
  const int64_t grid[3] = {1, 1, 1};
  EXPECT_EQ(tilec_launch_grid(nullptr, nullptr, grid, 2, arguments), 1);
  EXPECT_THAT(tilec_last_error(), HasSubstr("argument 1: there is no dtype 'f33'"));
  arguments[1].dtype = "f32";
  arguments[1].rank = 7;
  EXPECT_EQ(tilec_launch(nullptr, nullptr, 2, arguments), 1);
  EXPECT_THAT(tilec_last_error(), HasSubstr("argument 1: the rank of an array is 1 to 6"));
}

TEST(CApi, TellsWhatIsNull) {
  EXPECT_EQ(tilec_load(nullptr, "k"), nullptr);
  EXPECT_THAT(tilec_last_error(), HasSubstr("the path of a module"));
  EXPECT_EQ(tilec_load("no/such/file.tilemod", nullptr), nullptr);
  EXPECT_THAT(tilec_last_error(), HasSubstr("the name of a kernel"));
  EXPECT_EQ(tilec_launch(nullptr, nullptr, 0, nullptr), 1);
  EXPECT_THAT(tilec_last_error(), HasSubstr("there is no kernel to launch"));
  EXPECT_EQ(tilec_launch(nullptr, nullptr, 1, nullptr), 1);
  EXPECT_THAT(tilec_last_error(), HasSubstr("the number of its arguments"));
  EXPECT_EQ(tilec_launch(nullptr, nullptr, -1, nullptr), 1);
  EXPECT_THAT(tilec_last_error(), HasSubstr("the number of its arguments"));
}
