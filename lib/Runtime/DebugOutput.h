//===- DebugOutput.h - what kernels of one device print -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Made when the first kernel that prints or asserts is loaded on a device, and kept
// until the process ends, as work in flight and graphs name its memory. All kernels of
// the device share it, so that lines of different kernels stay in order. The memory is
// pinned host memory: it is read while kernels run, and after a fault.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_RUNTIME_DEBUGOUTPUT_H
#define TILEC_LIB_RUNTIME_DEBUGOUTPUT_H

#include "DeviceState.h"

#include "tilec/Support/DebugRing.h"

#include <deque>

namespace tilec {

class DebugOutput {
public:
  /// A kernel's place: its ring, and the number of its first site there.
  struct Place {
    void *ring = nullptr;
    uint32_t firstSite = 0;
  };
  /// Takes the sites of `info` for `device`, whose context is current.
  static Expected<Place> add(DeviceState &device, const KernelInfo &info);

  /// Prints what the device's kernels have printed so far; fails if an assertion has.
  Expected<void> collect();

private:
  struct Site {
    DebugSite site;
    std::string kernel;
  };
  Expected<DebugRing *> ringFor(std::span<const DebugSite> sites);

  std::mutex mutex;
  std::deque<Site> sites;
  std::deque<DebugRing> rings; // one, unless a kernel has larger records than it takes
};

/// `waited`, the result of waiting for `device`, after what its kernels printed by then
/// has been written; a failed assertion when nothing worse has happened.
Expected<void> withDebugOutput(const DeviceState &device, Expected<void> waited);

} // namespace tilec

#endif // TILEC_LIB_RUNTIME_DEBUGOUTPUT_H
