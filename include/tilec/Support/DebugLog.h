//===- DebugLog.h - printed lines and failed assertions ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What kernels had to say: filled by the interpreter directly, for the GPU and the
// emulator from a DebugRing. Floats are printed with the fewest digits that read back
// as the same value of their dtype, tiles as nested lists:
//
//   print("x = {}", load(x, [0], [2]));      x = [0.1, 2.0]
//
// Failed assertions become one text, with a line for each place in the source:
//
//   k.tile:3:5: assertion failed: positive (block (1, 0, 0), first at [2]; 4 times)
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_DEBUGLOG_H
#define TILEC_SUPPORT_DEBUGLOG_H

#include "tilec/Support/KernelInfo.h"

#include <array>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace tilec {

/// One element as text. `word` has the bits of the value in its low bytes.
std::string debugText(DType dtype, uint64_t word);

/// The line of a print, without its end. `element(v, i)` gives the word of element i
/// (row-major) of value v.
std::string debugLine(const DebugSite &site,
                      const std::function<uint64_t(size_t, size_t)> &element);

class DebugLog {
public:
  void print(std::string line);
  /// A failed assertion; `index` is the row-major number of the first false element.
  void fail(const DebugSite &site, std::string_view kernel, std::array<int32_t, 3> block,
            int64_t index);
  /// Records that were lost as there was no room for them.
  void lose(uint64_t prints, uint64_t assertions);

  /// Writes the lines so far to `out`, a note of lost ones to `err`, and forgets both.
  void flush(std::FILE *out, std::FILE *err);
  /// The lines so far, each with its end.
  std::string lines() const;

  /// What failed, as one failure (Failure::code is assertionCode), or success. Forgets it.
  Expected<void> takeFailure();
  /// Failure::code of a failed assertion, as the driver's for an assertion of CUDA.
  static constexpr int assertionCode = 710;

private:
  struct Place {
    DebugSite site;
    std::string kernel;
    std::array<int32_t, 3> block;
    int64_t index;
    uint64_t count;
  };

  mutable std::mutex mutex;
  std::vector<std::string> printed;
  std::vector<Place> failed;
  uint64_t lostPrints = 0, lostAssertions = 0;
};

} // namespace tilec

#endif // TILEC_SUPPORT_DEBUGLOG_H
