//===- FailureError.h - our failures as llvm::Error ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The compiler side speaks llvm::Error, the runtime side tilec::Failure (it links
// no LLVM). Code that stands between them (interpreter, emulator, the JIT library,
// tools) converts here.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_FAILUREERROR_H
#define TILEC_SUPPORT_FAILUREERROR_H

#include "tilec/Support/Expected.h"

#include "llvm/Support/Error.h"

namespace tilec {

/// An llvm::Error whose text is the failure's message.
llvm::Error toError(const Failure &why);

/// The messages of `error`, one a line, which is consumed. It must hold an error.
Failure toFailure(llvm::Error error);

} // namespace tilec

#endif // TILEC_SUPPORT_FAILUREERROR_H
