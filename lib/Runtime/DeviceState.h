//===- DeviceState.h - what the handles point to ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Device states live in a table until the process ends; reading the table takes no
// lock. Streams and events are counted objects that hold their device.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_RUNTIME_DEVICESTATE_H
#define TILEC_LIB_RUNTIME_DEVICESTATE_H

#include "CudaDriver.h"
#include "Workspaces.h"

#include "tilec/Runtime/Device.h"

#include <atomic>

namespace tilec {

class DebugOutput;

/// Most GPUs of one process.
inline constexpr int maxDevices = 64;

struct DeviceState {
  int ordinal = -1; ///< -1: the CPU
  std::string name;
  int capability = 0;
  int numSMs = 1;
  int sharedPerBlock = 0;
  int l2Bytes = 0;
  cuda::DeviceId id = 0;
  cuda::Context context = nullptr;
  /// Name of the kernel launched last, for messages about asynchronous faults.
  /// Points into a table of names that lives as long as the process.
  std::atomic<const std::string *> lastKernel{nullptr};

  /// What the device's kernels print; null while none of them can.
  std::atomic<DebugOutput *> debug{nullptr};

  /// Where launches add up.
  Workspaces workspaces;

  bool isCpu() const { return ordinal < 0; }
};

struct StreamState {
  DeviceState *device = nullptr;
  cuda::StreamHandle handle = nullptr;
  ~StreamState();
};

struct EventState {
  DeviceState *device = nullptr;
  cuda::EventHandle handle = nullptr;
  double hostSeconds = 0; ///< on the CPU
  ~EventState();
};

/// The device whose context is `context`, if it is one of ours.
DeviceState *findDeviceOf(cuda::Context context);

/// The failure with the kernel launched last on `device`, which is the likely
/// origin of an asynchronous fault.
Failure withLastKernel(Failure why, const DeviceState &device);

/// Makes a device's context current while it lives. GPU devices only.
class ContextScope {
public:
  explicit ContextScope(const DeviceState &device) {
    const cuda::Driver &d = *cuda::driver();
    cuda::Context current = nullptr;
    d.contextGetCurrent(&current);
    if (current != device.context)
      pushed = (result = d.contextPush(device.context)) == cuda::success;
  }
  ~ContextScope() {
    cuda::Context old;
    if (pushed)
      cuda::driver()->contextPop(&old);
  }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

  Expected<void> check() const { return cuda::check("making the device current", result); }

private:
  cuda::Result result = cuda::success;
  bool pushed = false;
};

} // namespace tilec

#endif // TILEC_LIB_RUNTIME_DEVICESTATE_H
