//===- Scheduler.cpp - which thread runs next -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: threads that became runnable. Out: switches of stacks. See Scheduler.h.
//
//===--------------------------------------------------------------------------===//
#include "Scheduler.h"

#include "Block.h"

using namespace tilec;
using namespace tilec::emulator;

void Scheduler::reset(uint64_t index) {
  queueHead = queueTail = nullptr;
  randomQueue.clear();
  stopped = false;
  if (launch.seed)
    random.seed(*launch.seed * 0x9E3779B97F4A7C15u + index);
}

void Scheduler::run() {
  ThreadContext *first = takeRunnable();
  ++numSwitches;
  tilecEmulatorSwitch(&hostStack, first->stackPointer);
  launch.switches += numSwitches;
  numSwitches = 0;
}

void Scheduler::makeRunnable(ThreadContext *thread) {
  thread->waitsFor = nullptr;
  if (launch.seed) {
    randomQueue.push_back(thread);
    return;
  }
  thread->next = nullptr;
  if (queueTail)
    queueTail->next = thread;
  else
    queueHead = thread;
  queueTail = thread;
}

ThreadContext *Scheduler::takeRunnable() {
  if (launch.seed) {
    if (randomQueue.empty())
      return nullptr;
    size_t pick = random() % randomQueue.size();
    std::swap(randomQueue[pick], randomQueue.back());
    ThreadContext *thread = randomQueue.back();
    randomQueue.pop_back();
    return thread;
  }
  ThreadContext *thread = queueHead;
  if (thread) {
    queueHead = thread->next;
    if (!queueHead)
      queueTail = nullptr;
  }
  return thread;
}

void Scheduler::switchFrom(ThreadContext *thread) {
  if ((++numSwitches & 0xFFF) == 0 &&
      std::chrono::steady_clock::now() > launch.deadline &&
      !launch.stop.exchange(true))
    thread->block->find(*thread, FindingKind::Timeout,
                        "the run takes longer than " +
                            std::to_string(unsigned(launch.timeoutSeconds)) + " s");
  if (launch.stop) {
    // Whoever is on a stack now stays there: the blocks end.
    stopped = true;
    tilecEmulatorSwitch(&thread->stackPointer, hostStack);
  }
  ThreadContext *other = takeRunnable();
  if (other == thread)
    return;
  tilecEmulatorSwitch(&thread->stackPointer, other ? other->stackPointer : hostStack);
}
