//===- DebugOutput.cpp - what kernels of one device print ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A device without such kernels pays one load of a null pointer when it is waited for.
//
//===------------------------------------------------------------------------===//

#include "DebugOutput.h"

using namespace tilec;

Expected<DebugRing *> DebugOutput::ringFor(std::span<const DebugSite> wanted) {
  uint64_t capacity = DebugRing::capacityFor(wanted);
  for (DebugRing &ring : rings)
    if (ring.bytes() >= capacity + DebugRing::headerBytes)
      return &ring;
  void *memory = nullptr;
  if (auto ok = cuda::check("allocating memory for prints",
                            cuda::driver()->memHostAlloc(&memory, capacity + DebugRing::headerBytes,
                                                         cuda::memHostPortable));
      !ok)
    return ok.failure();
  return &rings.emplace_back(memory, capacity);
}

Expected<DebugOutput::Place> DebugOutput::add(DeviceState &device, const KernelInfo &info) {
  static std::mutex making;
  DebugOutput *output;
  {
    std::lock_guard lock(making);
    output = device.debug.load(std::memory_order_relaxed);
    if (!output) {
      output = new DebugOutput;
      device.debug.store(output, std::memory_order_release);
    }
  }
  std::lock_guard lock(output->mutex);
  auto ring = output->ringFor(info.sites);
  if (!ring)
    return ring.failure();
  Place place{(*ring)->data(), static_cast<uint32_t>(output->sites.size())};
  for (const DebugSite &site : info.sites)
    output->sites.push_back({site, info.name});
  return place;
}

Expected<void> DebugOutput::collect() {
  std::lock_guard lock(mutex);
  DebugLog log;
  auto find = [&](uint32_t number) -> DebugRing::Source {
    if (number >= sites.size())
      return {};
    return {&sites[number].site, sites[number].kernel};
  };
  for (DebugRing &ring : rings)
    ring.drain(find, log, /*waits=*/true);
  log.flush(stdout, stderr);
  return log.takeFailure();
}

Expected<void> tilec::withDebugOutput(const DeviceState &device, Expected<void> waited) {
  DebugOutput *output = device.debug.load(std::memory_order_acquire);
  if (!output) [[likely]]
    return waited;
  auto asserted = output->collect();
  if (!waited)
    return waited;
  return asserted;
}
