//===- FakeCuda.cpp - a driver that records -----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Entry points under their exported names, as the real library has them. An image
// holds an entry point when its text has the symbol's name; one that contains
// "BAD" is refused with a log, as the driver's compiler refuses wrong PTX.
//
//===------------------------------------------------------------------------===//

#include "FakeCuda.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>

using namespace tilec;
using namespace tilec::cuda;

static FakeCuda fake;
extern "C" FakeCuda *fakeCuda() { return &fake; }

// Handles are addresses of these.
static char contexts[2];
static thread_local std::vector<Context> contextStack;
static std::deque<std::string> libraries, symbols;

static int currentDevice() {
  return contextStack.empty()
             ? -1
             : static_cast<int>(reinterpret_cast<char *>(contextStack.back()) - contexts);
}

/// Counts a call; true when a test wants it to fail.
static bool fails(const char *name, Result &result) {
  if (!fake.counting)
    return false;
  ++fake.calls[name];
  auto it = fake.failNext.find(name);
  if (it == fake.failNext.end())
    return false;
  result = it->second;
  fake.failNext.erase(it);
  return true;
}

/// Any thread may call a driver, also from within a call.
static std::recursive_mutex calling;

#define ENTRY(name, parameters, ...)                                                               \
  extern "C" Result name parameters {                                                              \
    std::lock_guard lock(calling);                                                                 \
    Result forced = 0;                                                                             \
    if (fails(#name, forced))                                                                      \
      return forced;                                                                               \
    __VA_ARGS__                                                                                    \
    return success;                                                                                \
  }

ENTRY(cuInit, (unsigned), )
extern "C" Result cuGetErrorName(Result r, const char **out) {
  *out = r == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : r == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : nullptr;
  return success;
}
extern "C" Result cuGetErrorString(Result r, const char **out) {
  *out = r == 700 ? "an illegal memory access was encountered" : "fake error";
  return success;
}

ENTRY(cuDeviceGetCount, (int *n), *n = 2;)
ENTRY(cuDeviceGet, (DeviceId * d, int ordinal), *d = ordinal;)
ENTRY(cuDeviceGetName, (char *out, int size, DeviceId d),
      std::strncpy(out, d == 0 ? "Fake 90" : "Fake 80", static_cast<size_t>(size));)
ENTRY(cuDeviceGetAttribute, (int *out, DeviceAttribute a, DeviceId d), switch (a) {
  case CapabilityMajor:
    *out = d == 0 ? 9 : 8;
    break;
  case CapabilityMinor:
    *out = 0;
    break;
  case SharedPerBlockOptin:
    *out = 227 << 10;
    break;
  default:
    *out = 132;
})
ENTRY(cuDevicePrimaryCtxRetain, (Context * out, DeviceId d),
      *out = reinterpret_cast<Context>(&contexts[d]);)
ENTRY(cuCtxPushCurrent_v2, (Context c), contextStack.push_back(c); ++fake.contextDepth;)
ENTRY(cuCtxPopCurrent_v2, (Context * c), *c = contextStack.back(); contextStack.pop_back();
      --fake.contextDepth;)
ENTRY(cuCtxGetCurrent, (Context * c), *c = contextStack.empty() ? nullptr : contextStack.back();)
ENTRY(cuCtxGetDevice, (DeviceId * d), *d = currentDevice();)
ENTRY(cuCtxSynchronize, (void), )
ENTRY(cuMemGetInfo_v2, (size_t * free, size_t *total), *free = 1 << 20; *total = 1 << 30;)

static DevicePtr allocate(size_t bytes, int where) {
  auto p = reinterpret_cast<DevicePtr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  fake.allocations[p] = where;
  return p;
}
static void release(DevicePtr p) {
  if (fake.allocations.erase(p))
    std::free(reinterpret_cast<void *>(p));
}
ENTRY(cuMemAlloc_v2, (DevicePtr * p, size_t n), *p = allocate(n, currentDevice());)
ENTRY(cuMemFree_v2, (DevicePtr p), release(p);)
static void note(StreamHandle s, const std::string &work) {
  if (fake.counting)
    fake.memoryWork.push_back({s, work});
}
ENTRY(cuMemAllocAsync, (DevicePtr * p, size_t n, StreamHandle s), *p = allocate(n, currentDevice());
      note(s, "alloc " + std::to_string(n));)
ENTRY(cuMemFreeAsync, (DevicePtr p, StreamHandle s), release(p); note(s, "free");)
ENTRY(cuMemAllocManaged, (DevicePtr * p, size_t n, unsigned), *p = allocate(n, -2);)
ENTRY(cuMemHostAlloc, (void **p, size_t n, unsigned),
      *p = reinterpret_cast<void *>(allocate(n, -1));)
ENTRY(cuMemFreeHost, (void *p), release(reinterpret_cast<DevicePtr>(p));)
ENTRY(cuMemcpyAsync, (DevicePtr to, DevicePtr from, size_t n, StreamHandle),
      std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), n);)
ENTRY(cuMemsetD8Async, (DevicePtr to, unsigned char v, size_t n, StreamHandle s),
      std::memset(reinterpret_cast<void *>(to), v, n); note(s, "clear " + std::to_string(n));)
ENTRY(cuPointerGetAttributes, (unsigned count, PointerAttribute *wanted, void **values, DevicePtr p),
      auto it = fake.allocations.find(p);
      int where = it == fake.allocations.end() ? -3 : it->second;
      for (unsigned i = 0; i < count; ++i) switch (wanted[i]) {
        case PointerMemoryType:
          *static_cast<unsigned *>(values[i]) = where == -3   ? 0u
                                                : where == -1 ? unsigned(MemoryHost)
                                                              : unsigned(MemoryDevice);
          break;
        case PointerIsManaged:
          *static_cast<unsigned *>(values[i]) = where == -2;
          break;
        case PointerDeviceOrdinal:
          *static_cast<int *>(values[i]) = where < 0 ? -2 : where;
          break;
      })

/// A handle whose first byte is the device's number.
template <typename T>
static T makeHandle(std::set<void *> &table) {
  auto *p = static_cast<char *>(std::malloc(8));
  *p = static_cast<char>(currentDevice());
  table.insert(p);
  return reinterpret_cast<T>(p);
}
ENTRY(cuStreamCreate, (StreamHandle * s, unsigned), *s = makeHandle<StreamHandle>(fake.streams);
      fake.streamNumbers[*s] = ++fake.lastStream;)
ENTRY(cuStreamGetId, (StreamHandle s, unsigned long long *number),
      *number = fake.streamNumbers[s];)
ENTRY(cuStreamIsCapturing, (StreamHandle s, int *status), *status = fake.capturing.count(s) != 0;)
ENTRY(cuStreamDestroy_v2, (StreamHandle s), fake.streams.erase(s); std::free(s);)
ENTRY(cuStreamSynchronize, (StreamHandle), )
ENTRY(cuStreamQuery, (StreamHandle), )
ENTRY(cuStreamWaitEvent, (StreamHandle, EventHandle, unsigned), )
ENTRY(cuStreamGetCtx, (StreamHandle s, Context *c),
      *c = reinterpret_cast<Context>(&contexts[int(*reinterpret_cast<char *>(s))]);)
ENTRY(cuStreamBeginCapture_v2, (StreamHandle s, int), fake.capturing.insert(s);)
ENTRY(cuStreamEndCapture, (StreamHandle s, GraphHandle *g), fake.capturing.erase(s);
      *g = reinterpret_cast<GraphHandle>(&fake);)
ENTRY(cuEventCreate, (EventHandle * e, unsigned), *e = makeHandle<EventHandle>(fake.events);)
ENTRY(cuEventDestroy_v2, (EventHandle e), fake.events.erase(e); std::free(e);)
ENTRY(cuEventRecord, (EventHandle, StreamHandle), )
ENTRY(cuEventSynchronize, (EventHandle), )
ENTRY(cuEventElapsedTime, (float *ms, EventHandle, EventHandle), *ms = 1.5f;)
ENTRY(cuGraphInstantiateWithFlags, (GraphExec * e, GraphHandle, unsigned long long),
      *e = reinterpret_cast<GraphExec>(&fake);)
ENTRY(cuGraphLaunch, (GraphExec, StreamHandle), )
ENTRY(cuGraphExecDestroy, (GraphExec), )
ENTRY(cuGraphDestroy, (GraphHandle), )

ENTRY(cuLibraryLoadData,
      (Library * out, const void *image, JitOption *options, void **values, unsigned count, int *,
       void **, unsigned),
      std::string text = static_cast<const char *>(image); fake.images.push_back(text);
      if (text.find("BAD") != std::string::npos) {
        for (unsigned i = 0; i < count; ++i)
          if (options[i] == JitErrorLog)
            std::strcpy(static_cast<char *>(values[i]), "line 3: no such instruction");
        return 218;
      } libraries.push_back(text);
      *out = reinterpret_cast<Library>(&libraries.back());)
ENTRY(cuLibraryUnload, (Library), )
ENTRY(cuLibraryGetKernel, (KernelHandle * out, Library library, const char *symbol),
      if (reinterpret_cast<std::string *>(library)->find(symbol) == std::string::npos) return 500;
      symbols.push_back(symbol); *out = reinterpret_cast<KernelHandle>(&symbols.back());)
ENTRY(cuKernelGetFunction, (Function * out, KernelHandle kernel),
      *out = reinterpret_cast<Function>(kernel);)
ENTRY(cuFuncSetAttribute, (Function f, FunctionAttribute, int value),
      fake.sharedOptIn[*reinterpret_cast<std::string *>(f)] = value;)
ENTRY(cuOccupancyMaxActiveClusters, (int *out, Function, const LaunchConfig *config),
      if (config->numAttributes != 1 || config->attributes[0].id != ClusterDimension) return 1;
      *out = int(fake.residentBlocks / config->attributes[0].value.cluster.x);)
ENTRY(cuLaunchKernelEx, (const LaunchConfig *config, Function f, void **params, void **),
      if (fake.onLaunch) fake.onLaunch(*config, *reinterpret_cast<std::string *>(f), params);)
ENTRY(cuTensorMapEncodeTiled,
      (TensorMap * out, int dtype, uint32_t rank, void *base, const uint64_t *dims,
       const uint64_t *pitches, const uint32_t *box, const uint32_t *steps, int interleave,
       int swizzle, int promotion, int outside),
      if (reinterpret_cast<uintptr_t>(out) % 64 != 0 || interleave || outside) return 1;
      for (uint32_t i = 0; i < rank; ++i) if (steps[i] != 1) return 1;
      fake.encodedMaps.push_back({dtype, swizzle, promotion, base, {dims, dims + rank},
                                  {pitches, pitches + rank - 1}, {box, box + rank}});
      *out = TensorMap(); out->opaque[0] = fake.encodedMaps.size();)
