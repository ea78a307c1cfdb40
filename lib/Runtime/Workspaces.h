//===- Workspaces.h - memory in which blocks of launches add up ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Launches of one stream come one after the other, so they share a workspace
// (Support/Workspace.h). Each stream gets one at its first launch that needs it, and a
// larger one when a launch needs more, in the order of its work. Streams are told apart by
// the driver's numbers, as the handle of one that ended may be another's.
//
//   kept       of up to `mostStreams` streams, until the stream ends (one of ours) or
//              Device::trimMemory; a further stream, of which nobody says when it ends, has
//              a workspace for each launch
//   captured   a graph may run at any time and on any stream, so it has a workspace of its
//              own: allocated, cleared and freed in it
//
// Counters are cleared when a workspace is made, and kernels leave them at zero. Only a
// grid of more positions than `workspaceFixedCounters` has room for finds older sums in
// the place of the others: those are cleared before its launch.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_RUNTIME_WORKSPACES_H
#define TILEC_LIB_RUNTIME_WORKSPACES_H

#include "CudaDriver.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace tilec {

/// The workspaces of one device, whose context is current in all calls.
class Workspaces {
public:
  /// Streams that keep one.
  static constexpr size_t mostStreams = 16;

  /// Calls `launch(address)` with a workspace of `bytes`, of which the first `counters` are zero
  /// when what it puts on `stream` runs.
  template <typename Launch>
  Expected<void> with(cuda::StreamHandle stream, int64_t bytes, int64_t counters, Launch launch) {
    // While others may replace the stream's workspace, it must not be put into a launch.
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    auto place = take(stream, static_cast<size_t>(bytes), static_cast<size_t>(counters), lock);
    if (!place)
      return place.failure();
    Expected<void> done = launch(place->address);
    if (place->isKept)
      return done;
    auto freed = free(place->address, stream);
    return done ? freed : done;
  }

  /// The stream is about to end.
  void release(cuda::StreamHandle stream);
  /// Frees all of them, once the device has nothing to do.
  Expected<void> trim();

private:
  struct Place {
    cuda::DevicePtr address;
    bool isKept;
  };
  struct OfStream {
    uint64_t stream;
    cuda::DevicePtr address;
    size_t bytes;
  };

  Expected<Place> take(cuda::StreamHandle stream, size_t bytes, size_t counters,
                       std::unique_lock<std::mutex> &lock);
  static Expected<cuda::DevicePtr> make(size_t bytes, size_t counters, cuda::StreamHandle stream);
  static Expected<void> free(cuda::DevicePtr address, cuda::StreamHandle stream);
  OfStream *find(uint64_t stream);

  std::mutex mutex;
  std::vector<OfStream> kept;
  std::atomic<size_t> numKept = 0; ///< read without the lock
};

} // namespace tilec

#endif // TILEC_LIB_RUNTIME_WORKSPACES_H
