//===- CudaDriver.h - the part of libcuda that we use -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Types of the CUDA driver's binary interface, declared by hand so that nobody
// needs the CUDA toolkit, and a table of its entry points, filled with dlopen. A
// unit test compares all of it with cuda.h where that is installed.
//
// `$TILEC_LIBCUDA` names another library to open instead of libcuda.so.1 (tests
// use it to record calls).
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_RUNTIME_CUDADRIVER_H
#define TILEC_LIB_RUNTIME_CUDADRIVER_H

#include "tilec/Support/Expected.h"

#include <cstddef>
#include <cstdint>

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUlib_st;
struct CUkern_st;
struct CUfunc_st;
struct CUgraph_st;
struct CUgraphExec_st;

namespace tilec::cuda {

using Result = int; // CUresult
inline constexpr Result success = 0, invalidValue = 1, notReady = 600;

using DeviceId = int;               // CUdevice
using Context = CUctx_st *;         // CUcontext
using StreamHandle = CUstream_st *; // CUstream
using EventHandle = CUevent_st *;
using Library = CUlib_st *;
using KernelHandle = CUkern_st *;
using Function = CUfunc_st *;
using GraphHandle = CUgraph_st *;
using GraphExec = CUgraphExec_st *;
using DevicePtr = unsigned long long; // CUdeviceptr

enum DeviceAttribute : int {
  MultiprocessorCount = 16,
  L2CacheSize = 38,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  SharedPerBlockOptin = 97,
};
enum FunctionAttribute : int { MaxDynamicSharedBytes = 8 };
enum PointerAttribute : int { PointerMemoryType = 2, PointerIsManaged = 8, PointerDeviceOrdinal = 9 };
enum MemoryType : unsigned { MemoryHost = 1, MemoryDevice = 2, MemoryArray = 3, MemoryUnified = 4 };
enum JitOption : int {
  JitInfoLog = 3,
  JitInfoLogSize = 4,
  JitErrorLog = 5,
  JitErrorLogSize = 6,
};
enum LaunchAttributeId : int { ClusterDimension = 4, ProgrammaticStreamSerialization = 6 };
inline constexpr unsigned streamNonBlocking = 1, memAttachGlobal = 1, memHostPortable = 1;
inline constexpr int captureThreadLocal = 1; // how a capture is begun
inline constexpr int captureNone = 0;        // whether a stream is captured

union LaunchAttributeValue {
  char pad[64];
  struct {
    unsigned x, y, z;
  } cluster;
  int programmaticSerialization;
};
struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  LaunchAttributeValue value;
};
struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  StreamHandle stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

/// Descriptor of a tile copy (CUtensorMap), opaque.
struct alignas(128) TensorMap {
  uint64_t opaque[16];
};
/// CUtensorMapDataType, and what else describes one.
enum TensorMapType : int {
  TensorMapU8 = 0,
  TensorMapU16 = 1,
  TensorMapU32 = 2,
  TensorMapI32 = 3,
  TensorMapU64 = 4,
  TensorMapI64 = 5,
  TensorMapF16 = 6,
  TensorMapF32 = 7,
  TensorMapF64 = 8,
  TensorMapBF16 = 9,
};
enum TensorMapSwizzle : int { NoSwizzle = 0, Swizzle32 = 1, Swizzle64 = 2, Swizzle128 = 3 };
enum TensorMapPromotion : int { Promote128 = 2, Promote256 = 3 };
inline constexpr int tensorMapNotInterleaved = 0, tensorMapOutsideIsZero = 0;

// TILEC_CUDA_FUNCTION(member, symbol, parameters)
#define TILEC_CUDA_FUNCTIONS(F)                                                                    \
  F(init, "cuInit", (unsigned flags))                                                              \
  F(getErrorName, "cuGetErrorName", (Result, const char **))                                       \
  F(getErrorString, "cuGetErrorString", (Result, const char **))                                   \
  F(deviceGetCount, "cuDeviceGetCount", (int *))                                                   \
  F(deviceGet, "cuDeviceGet", (DeviceId *, int ordinal))                                           \
  F(deviceGetName, "cuDeviceGetName", (char *, int size, DeviceId))                                \
  F(deviceGetAttribute, "cuDeviceGetAttribute", (int *, DeviceAttribute, DeviceId))                \
  F(primaryContextRetain, "cuDevicePrimaryCtxRetain", (Context *, DeviceId))                       \
  F(contextPush, "cuCtxPushCurrent_v2", (Context))                                                 \
  F(contextPop, "cuCtxPopCurrent_v2", (Context *))                                                 \
  F(contextGetCurrent, "cuCtxGetCurrent", (Context *))                                             \
  F(contextGetDevice, "cuCtxGetDevice", (DeviceId *))                                              \
  F(contextSynchronize, "cuCtxSynchronize", (void))                                                \
  F(memGetInfo, "cuMemGetInfo_v2", (size_t * free, size_t *total))                                 \
  F(memAlloc, "cuMemAlloc_v2", (DevicePtr *, size_t))                                              \
  F(memFree, "cuMemFree_v2", (DevicePtr))                                                          \
  F(memAllocAsync, "cuMemAllocAsync", (DevicePtr *, size_t, StreamHandle))                         \
  F(memFreeAsync, "cuMemFreeAsync", (DevicePtr, StreamHandle))                                     \
  F(memAllocManaged, "cuMemAllocManaged", (DevicePtr *, size_t, unsigned flags))                   \
  F(memHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned flags))                             \
  F(memFreeHost, "cuMemFreeHost", (void *))                                                        \
  F(memcpyAsync, "cuMemcpyAsync", (DevicePtr to, DevicePtr from, size_t, StreamHandle))            \
  F(memsetAsync, "cuMemsetD8Async", (DevicePtr, unsigned char, size_t, StreamHandle))              \
  F(pointerGetAttributes, "cuPointerGetAttributes",                                                \
    (unsigned count, PointerAttribute *, void **values, DevicePtr))                                \
  F(streamCreate, "cuStreamCreate", (StreamHandle *, unsigned flags))                              \
  F(streamDestroy, "cuStreamDestroy_v2", (StreamHandle))                                           \
  F(streamSynchronize, "cuStreamSynchronize", (StreamHandle))                                      \
  F(streamQuery, "cuStreamQuery", (StreamHandle))                                                  \
  F(streamWaitEvent, "cuStreamWaitEvent", (StreamHandle, EventHandle, unsigned flags))             \
  F(streamGetContext, "cuStreamGetCtx", (StreamHandle, Context *))                                 \
  F(streamGetId, "cuStreamGetId", (StreamHandle, unsigned long long *))                            \
  F(streamIsCapturing, "cuStreamIsCapturing", (StreamHandle, int *status))                         \
  F(streamBeginCapture, "cuStreamBeginCapture_v2", (StreamHandle, int mode))                       \
  F(streamEndCapture, "cuStreamEndCapture", (StreamHandle, GraphHandle *))                         \
  F(eventCreate, "cuEventCreate", (EventHandle *, unsigned flags))                                 \
  F(eventDestroy, "cuEventDestroy_v2", (EventHandle))                                              \
  F(eventRecord, "cuEventRecord", (EventHandle, StreamHandle))                                     \
  F(eventSynchronize, "cuEventSynchronize", (EventHandle))                                         \
  F(eventElapsedTime, "cuEventElapsedTime", (float *, EventHandle start, EventHandle end))         \
  F(graphInstantiate, "cuGraphInstantiateWithFlags",                                               \
    (GraphExec *, GraphHandle, unsigned long long flags))                                          \
  F(graphLaunch, "cuGraphLaunch", (GraphExec, StreamHandle))                                       \
  F(graphExecDestroy, "cuGraphExecDestroy", (GraphExec))                                           \
  F(graphDestroy, "cuGraphDestroy", (GraphHandle))                                                 \
  F(libraryLoadData, "cuLibraryLoadData",                                                          \
    (Library *, const void *image, JitOption *, void **values, unsigned count, int *libraryOptions, \
     void **libraryValues, unsigned libraryCount))                                                 \
  F(libraryUnload, "cuLibraryUnload", (Library))                                                   \
  F(libraryGetKernel, "cuLibraryGetKernel", (KernelHandle *, Library, const char *symbol))         \
  F(kernelGetFunction, "cuKernelGetFunction", (Function *, KernelHandle))                          \
  F(functionSetAttribute, "cuFuncSetAttribute", (Function, FunctionAttribute, int value))          \
  F(maxActiveClusters, "cuOccupancyMaxActiveClusters", (int *, Function, const LaunchConfig *))    \
  F(launchKernel, "cuLaunchKernelEx",                                                              \
    (const LaunchConfig *, Function, void **parameters, void **extra))                             \
  F(tensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                \
    (TensorMap *, int dtype, uint32_t rank, void *base, const uint64_t *dims,                      \
     const uint64_t *byteStrides, const uint32_t *box, const uint32_t *elementStrides,             \
     int interleave, int swizzle, int l2Promotion, int outOfBounds))

/// The entry points.
struct Driver {
#define TILEC_CUDA_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
  TILEC_CUDA_FUNCTIONS(TILEC_CUDA_MEMBER)
#undef TILEC_CUDA_MEMBER
};

/// The driver, opened and initialised at the first call; null with the reason in
/// `why` when there is none.
const Driver *driver(const char **why = nullptr);

/// What went wrong in a driver call: "stream wait failed: an illegal memory access
/// was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)".
Failure driverFailure(const char *what, Result result);

/// Success, or a failure that says what was attempted.
inline Expected<void> check(const char *what, Result result) {
  if (result != success) [[unlikely]]
    return driverFailure(what, result);
  return {};
}

} // namespace tilec::cuda

#endif // TILEC_LIB_RUNTIME_CUDADRIVER_H
