//===- LoadedKernel.h - a kernel's code on one device -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What a launch needs, found without a lock: KernelState has one slot per device,
// filled once. On a GPU the slot has one entry point per build, on the CPU a
// HostKernel.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_RUNTIME_LOADEDKERNEL_H
#define TILEC_LIB_RUNTIME_LOADEDKERNEL_H

#include "DebugOutput.h"
#include "DeviceState.h"

#include "tilec/Runtime/Kernel.h"

#include <mutex>

namespace tilec {

struct LoadedKernel {
  Launcher launcher; ///< facts for this device
  DeviceState *device = nullptr;
  std::vector<cuda::Function> functions; ///< one per build
  std::shared_ptr<HostKernel> host;
  const std::string *name = nullptr; ///< lives as long as the process
  DebugOutput::Place debug;          ///< where a kernel with sites prints
};

struct KernelState {
  std::shared_ptr<CodeSource> source;
  std::mutex mutex;
  std::atomic<LoadedKernel *> slots[maxDevices + 1] = {}; // the last one is the CPU's

  ~KernelState();
  /// The code for `device`, loaded on first use.
  Expected<LoadedKernel *> get(DeviceState &device);
};

/// Loads the best of `images` and finds the kernel's entry points.
Expected<std::unique_ptr<LoadedKernel>>
loadForGpu(std::span<const ModuleImage *const> images, const std::string &kernel,
           DeviceState &device);

} // namespace tilec

#endif // TILEC_LIB_RUNTIME_LOADEDKERNEL_H
