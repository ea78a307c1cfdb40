//===- Error.cpp - the runtime's exception ------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The one place that throws. It lies in the library so that programs compiled
// without exceptions can include the headers and use the `try…` calls.
//
//===------------------------------------------------------------------------===//

#include "tilec/Runtime/Error.h"

void tilec::throwError(Failure why) { throw Error(std::move(why)); }
