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
