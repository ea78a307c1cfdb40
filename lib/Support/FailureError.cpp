//===- FailureError.cpp - our failures as llvm::Error -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Both directions keep the message and nothing else: code, kernel and argument of
// a Failure matter to the runtime's callers, which never see an llvm::Error.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/FailureError.h"

llvm::Error tilec::toError(const Failure &why) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), llvm::Twine(why.message));
}

tilec::Failure tilec::toFailure(llvm::Error error) {
  return failure(llvm::toString(std::move(error)));
}
