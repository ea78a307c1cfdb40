//===- Fiber.h - stacks and switches of GPU threads -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// A fiber is a stack and the stack pointer it was left with. A switch saves the
// callee-saved registers on the old stack and restores them from the new one: a
// dozen instructions, no system call. (swapcontext would cost 400 ns, as it also
// switches the signal mask.)
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_FIBER_H
#define TILEC_LIB_EMULATOR_FIBER_H

#include <cstddef>
#include <cstdint>

namespace tilec::emulator {

/// Leaves the running stack, whose pointer goes to `*saved`, for \p target.
extern "C" void tilecEmulatorSwitch(void **saved, void *target);

/// Lays out a new fiber on the stack that ends at \p top. The first switch to the
/// returned stack pointer calls `tilecEmulatorFiberMain(argument)`.
void *prepareFiber(char *top, void *argument);

/// Must be defined by the user of fibers, and must never return.
extern "C" void tilecEmulatorFiberMain(void *argument);

/// A pool of equally large stacks, each with an inaccessible page below it, so
/// that an overflow faults instead of writing into another thread's stack.
class FiberStacks {
public:
  FiberStacks() = default;
  FiberStacks(const FiberStacks &) = delete;
  FiberStacks &operator=(const FiberStacks &) = delete;
  ~FiberStacks();

  /// Makes \p count stacks of \p bytes each; false when memory is short.
  bool allocate(unsigned count, size_t bytes);

  /// The end of stack \p index. Tops are staggered: equal offsets in every stack
  /// would all fall into the same few sets of the cache.
  char *top(unsigned index) const {
    return base + (index + 1) * stride - 128 - (index % 61) * 64;
  }

  /// Whether \p address lies in one of the stacks.
  bool contains(const void *address) const {
    const char *p = static_cast<const char *>(address);
    return p >= base && p < base + mapped;
  }

private:
  char *base = nullptr;
  size_t stride = 0, mapped = 0;
};

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_FIBER_H
