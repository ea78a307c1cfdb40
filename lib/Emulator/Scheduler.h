//===- Scheduler.h - which thread runs next -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// The queue of the threads that can run, of all blocks of a cluster: they run one
// after the other on one host thread, so nothing here is shared.
//
//   runnable ─► running ─► waits (barrier, warp operation, mbarrier) ─► runnable …
//
// Without a seed the thread that became runnable first runs next; with one, any. When
// nothing can run, control returns to the host.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_SCHEDULER_H
#define TILEC_LIB_EMULATOR_SCHEDULER_H

#include <cstdint>
#include <random>
#include <vector>

namespace tilec::emulator {

struct LaunchState;
struct ThreadContext;

class Scheduler {
public:
  explicit Scheduler(LaunchState &launch) : launch(launch) {}
  Scheduler(const Scheduler &) = delete;
  Scheduler &operator=(const Scheduler &) = delete;

  /// Forgets all threads; \p index makes random orders differ.
  void reset(uint64_t index);
  /// Runs until nothing is runnable, or the launch is stopped.
  void run();
  /// The launch was stopped: threads stay where they are.
  bool wasStopped() const { return stopped; }

  void makeRunnable(ThreadContext *thread);
  /// Leaves the running \p thread; returns when it runs again.
  void switchFrom(ThreadContext *thread);

  std::mt19937_64 random;

private:
  ThreadContext *takeRunnable();

  LaunchState &launch;
  ThreadContext *queueHead = nullptr, *queueTail = nullptr;
  std::vector<ThreadContext *> randomQueue;
  void *hostStack = nullptr;
  uint64_t numSwitches = 0;
  bool stopped = false;
};

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_SCHEDULER_H
