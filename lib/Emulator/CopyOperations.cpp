//===- CopyOperations.cpp - asynchronous copies from global to shared memory -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: cp.async and its groups (PTX ISA, section cp.async). Out: the bytes, at once;
// and an agent that did it.
//
// The bytes move when the copy is issued, so nothing depends on a schedule; what makes
// the copy asynchronous is its clock. The agent of a thread starts from what the
// thread knows, its step is the number of the open group, and the thread learns of a
// group only by waiting for it. A use that does not wait is therefore a race, however
// the threads happen to run.
//
//===--------------------------------------------------------------------------===//
#include "HostOperations.h"

#include <cstring>

using namespace tilec;
using namespace tilec::emulator;

namespace {

constexpr uint32_t hasSourceSize = 256;

struct CopyArguments {
  char *destination;
  const char *source;
  uint32_t sourceSize;
};

void copy(ThreadContext &thread, const void *arguments, void *, uint32_t variant) {
  const auto &a = as<CopyArguments>(arguments);
  uint32_t size = variant & 255;
  uint32_t fromSource = size;
  if (variant & hasSourceSize)
    fromSource = std::min(a.sourceSize, size);
  AsyncAgent agent{thread.block->copySlot(thread), thread.copyGroup, &thread.clock};
  if (!checkShared(thread, a.destination, size, size, AccessKind::Write, &agent))
    return;
  bool readable = fromSource != 0 &&
                  checkGlobal(thread, a.source, fromSource, size, AccessKind::Read,
                              &agent);
  if (!readable)
    fromSource = 0;
  if (fromSource)
    std::memcpy(a.destination, a.source, fromSource);
  std::memset(a.destination + fromSource, 0, size - fromSource);
}

void commitGroup(ThreadContext &thread, const void *, void *, uint32_t) {
  ++thread.copyGroup;
}

void complete(ThreadContext &thread, uint32_t lastGroup) {
  thread.copiesCompleted = std::max(thread.copiesCompleted, lastGroup);
}

void waitGroup(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  // All but the last `pending` committed groups are complete.
  uint32_t pending = as<uint32_t>(arguments);
  uint32_t committed = thread.copyGroup - 1;
  if (committed > pending)
    complete(thread, committed - pending);
}

void waitAll(ThreadContext &thread, const void *, void *, uint32_t) {
  complete(thread, thread.copyGroup);
  ++thread.copyGroup;
}

} // namespace

llvm::ArrayRef<OperationEntry> tilec::emulator::copyOperations() {
  static const OperationEntry entries[] = {
      {"llvm.nvvm.cp.async.ca.shared.global.4", copy, 4},
      {"llvm.nvvm.cp.async.ca.shared.global.8", copy, 8},
      {"llvm.nvvm.cp.async.ca.shared.global.16", copy, 16},
      {"llvm.nvvm.cp.async.cg.shared.global.16", copy, 16},
      {"llvm.nvvm.cp.async.ca.shared.global.4.s", copy, 4 | hasSourceSize},
      {"llvm.nvvm.cp.async.ca.shared.global.8.s", copy, 8 | hasSourceSize},
      {"llvm.nvvm.cp.async.ca.shared.global.16.s", copy, 16 | hasSourceSize},
      {"llvm.nvvm.cp.async.cg.shared.global.16.s", copy, 16 | hasSourceSize},
      {"llvm.nvvm.cp.async.commit.group", commitGroup},
      {"llvm.nvvm.cp.async.wait.group", waitGroup},
      {"llvm.nvvm.cp.async.wait.all", waitAll},
  };
  return entries;
}
