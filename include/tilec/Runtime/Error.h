//===- Error.h - the runtime's exception --------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Every call that can fail exists twice: `x()` throws tilec::Error, `tryX()`
// returns tilec::Expected<T>. Both carry the same Failure: message, kernel,
// argument, CUresult, and the assembler's log. Destructors never throw.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_RUNTIME_ERROR_H
#define TILEC_RUNTIME_ERROR_H

#include "tilec/Support/Expected.h"

#include <stdexcept>

namespace tilec {

class Error : public std::runtime_error {
public:
  explicit Error(Failure why) : std::runtime_error(why.message), why(std::move(why)) {}

  const Failure &failure() const { return why; }
  /// CUresult of the driver call that failed; 0 when none was made.
  int code() const { return why.code; }
  const std::string &kernel() const { return why.kernel; }
  const std::string &argument() const { return why.argument; }
  const std::string &log() const { return why.log; }

private:
  Failure why;
};

/// Throws Error. In the library, so that code without exceptions can include this.
[[noreturn]] void throwError(Failure why);

/// The value, or an exception with the failure.
template <typename T>
T valueOrThrow(Expected<T> result) {
  if (!result)
    throwError(std::move(result.failure()));
  if constexpr (!std::is_void_v<T>)
    return std::move(*result);
}

} // namespace tilec

#endif // TILEC_RUNTIME_ERROR_H
