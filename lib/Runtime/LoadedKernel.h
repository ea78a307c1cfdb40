//===- LoadedKernel.h - a kernel's code on one device -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What a launch needs, found without a lock: KernelState has one slot per device,
// filled once. On a GPU the slot has one entry point per build, each loaded when a
// launch first wants it, on the CPU a HostKernel.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_RUNTIME_LOADEDKERNEL_H
#define TILEC_LIB_RUNTIME_LOADEDKERNEL_H

#include "DebugOutput.h"
#include "DeviceState.h"

#include "tilec/Runtime/Kernel.h"

#include <atomic>
#include <mutex>

namespace tilec {

struct LoadedBuild {
  std::atomic<cuda::Function> function = nullptr; ///< null: not loaded yet
  /// Clusters that the device holds at once, of a build whose blocks stay; 0: not asked.
  unsigned mostClusters = 0;
};

struct LoadedKernel {
  Launcher launcher; ///< facts for this device
  DeviceState *device = nullptr;
  const ModuleImage *image = nullptr; ///< on a GPU
  std::unique_ptr<LoadedBuild[]> builds;
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
  /// The entry point of a build, loaded on first use. The device's context is current.
  Expected<cuda::Function> function(const LoadedKernel &kernel, unsigned build);
};

/// Finds the best of `images`; nothing of it is loaded yet.
Expected<std::unique_ptr<LoadedKernel>>
findForGpu(std::span<const ModuleImage *const> images, const std::string &kernel,
           DeviceState &device);

/// Hands the object with a build to the driver and finds the build's entry point.
Expected<cuda::Function> loadBuild(const LoadedKernel &kernel, const BuildInfo &build,
                                   const std::string &object);

/// How many clusters of a build whose blocks stay the device holds at once; 0: not asked.
Expected<unsigned> countClusters(const LoadedKernel &kernel, const BuildInfo &build,
                                 cuda::Function function);

} // namespace tilec

#endif // TILEC_LIB_RUNTIME_LOADEDKERNEL_H
