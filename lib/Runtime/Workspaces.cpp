//===- Workspaces.cpp - memory in which blocks of launches add up -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// All of it is put on the launch's stream, so nothing waits but the device. A new
// workspace is there before the old one goes, so a stream that finds no memory keeps what
// it has.
//
//===------------------------------------------------------------------------===//

#include "Workspaces.h"

#include "tilec/Support/Workspace.h"

#include <algorithm>

using namespace tilec;

Expected<cuda::DevicePtr> Workspaces::make(size_t bytes, size_t counters,
                                           cuda::StreamHandle stream) {
  const cuda::Driver &d = *cuda::driver();
  cuda::DevicePtr address = 0;
  if (auto ok = cuda::check("allocating a workspace for sums", d.memAllocAsync(&address, bytes, stream));
      !ok)
    return ok.failure();
  auto cleared = cuda::check("clearing the workspace for sums",
                             d.memsetAsync(address, 0, counters, stream));
  if (!cleared) {
    d.memFreeAsync(address, stream);
    return cleared.failure();
  }
  return address;
}

Expected<void> Workspaces::free(cuda::DevicePtr address, cuda::StreamHandle stream) {
  return cuda::check("freeing a workspace for sums", cuda::driver()->memFreeAsync(address, stream));
}

Workspaces::OfStream *Workspaces::find(uint64_t stream) {
  auto found = std::find_if(kept.begin(), kept.end(),
                            [&](const OfStream &own) { return own.stream == stream; });
  return found == kept.end() ? nullptr : &*found;
}

Expected<Workspaces::Place> Workspaces::take(cuda::StreamHandle stream, size_t bytes,
                                             size_t counters,
                                             std::unique_lock<std::mutex> &lock) {
  const cuda::Driver &d = *cuda::driver();
  auto once = [&]() -> Expected<Place> {
    auto address = make(bytes, counters, stream);
    if (!address)
      return address.failure();
    return Place{*address, /*isKept=*/false};
  };
  int capture = cuda::captureNone;
  if (auto ok = cuda::check("asking whether the stream is captured",
                            d.streamIsCapturing(stream, &capture));
      !ok)
    return ok.failure();
  if (capture != cuda::captureNone)
    return once();
  unsigned long long number = 0;
  if (auto ok = cuda::check("asking for the stream's number", d.streamGetId(stream, &number)); !ok)
    return ok.failure();
  lock.lock();
  OfStream *own = find(number);
  if (!own && kept.size() >= mostStreams) {
    lock.unlock();
    return once();
  }
  constexpr auto fixed = static_cast<size_t>(workspaceFixedCounters);
  if (!own || own->bytes < bytes) {
    auto address = make(bytes, fixed, stream);
    if (!address)
      return address.failure();
    if (own) {
      if (auto ok = free(own->address, stream); !ok)
        return ok.failure();
    } else {
      own = &kept.emplace_back();
      numKept.store(kept.size(), std::memory_order_relaxed);
    }
    *own = {number, *address, bytes};
  }
  if (counters > fixed)
    if (auto ok = cuda::check("clearing the workspace for sums",
                              d.memsetAsync(own->address + fixed, 0, counters - fixed, stream));
        !ok)
      return ok.failure();
  return Place{own->address, /*isKept=*/true};
}

void Workspaces::release(cuda::StreamHandle stream) {
  const cuda::Driver &d = *cuda::driver();
  unsigned long long number = 0;
  if (numKept.load(std::memory_order_relaxed) == 0 ||
      d.streamGetId(stream, &number) != cuda::success)
    return;
  std::lock_guard lock(mutex);
  OfStream *own = find(number);
  if (!own)
    return;
  d.memFreeAsync(own->address, stream);
  kept.erase(kept.begin() + (own - kept.data()));
  numKept.store(kept.size(), std::memory_order_relaxed);
}

Expected<void> Workspaces::trim() {
  std::lock_guard lock(mutex);
  if (kept.empty())
    return {};
  const cuda::Driver &d = *cuda::driver();
  if (auto ok = cuda::check("waiting for the device", d.contextSynchronize()); !ok)
    return ok;
  for (const OfStream &own : kept)
    d.memFree(own.address);
  kept.clear();
  numKept.store(0, std::memory_order_relaxed);
  return {};
}
