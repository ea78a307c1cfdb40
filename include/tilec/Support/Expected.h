//===- Expected.h - a value or the reason there is none -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What the runtime side returns where the compiler side returns llvm::Expected:
// the runtime links no LLVM, and C++20 has no std::expected. A Failure is one
// finished message (first line in the style of our diagnostics: lower case, no
// final stop) with the parts that a program may want to look at.
//
//   Expected<int> parse(std::string_view);
//   if (auto n = parse(s)) use(*n); else report(n.failure().message);
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_EXPECTED_H
#define TILEC_SUPPORT_EXPECTED_H

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace tilec {

/// Why something could not be done.
struct Failure {
  std::string message;
  std::string kernel;   ///< the kernel concerned, or empty
  std::string argument; ///< the kernel parameter concerned, or empty
  int code = 0;         ///< CUresult of the driver call that failed, or 0
  std::string log;      ///< what the assembler or the driver's JIT said, or empty
};

/// Makes a failure of a message alone.
inline Failure failure(std::string message) { return Failure{std::move(message), {}, {}, 0, {}}; }

template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Expected(Failure why) : state(std::in_place_index<1>, std::move(why)) {}

  bool hasValue() const { return state.index() == 0; }
  explicit operator bool() const { return hasValue(); }

  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T &&operator*() && { return std::move(value()); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

  Failure &failure() {
    assert(!hasValue() && "no failure here");
    return *std::get_if<1>(&state);
  }
  const Failure &failure() const {
    assert(!hasValue() && "no failure here");
    return *std::get_if<1>(&state);
  }

private:
  T &value() {
    assert(hasValue() && "no value here");
    return *std::get_if<0>(&state);
  }
  const T &value() const {
    assert(hasValue() && "no value here");
    return *std::get_if<0>(&state);
  }

  std::variant<T, Failure> state;
};

/// Success, or why not.
template <>
class [[nodiscard]] Expected<void> {
public:
  Expected() : state(std::in_place_index<0>) {}
  Expected(Failure why) : state(std::in_place_index<1>, std::move(why)) {}

  bool hasValue() const { return state.index() == 0; }
  explicit operator bool() const { return hasValue(); }

  Failure &failure() {
    assert(!hasValue() && "no failure here");
    return *std::get_if<1>(&state);
  }
  const Failure &failure() const {
    assert(!hasValue() && "no failure here");
    return *std::get_if<1>(&state);
  }

private:
  std::variant<std::monostate, Failure> state;
};

} // namespace tilec

#endif // TILEC_SUPPORT_EXPECTED_H
