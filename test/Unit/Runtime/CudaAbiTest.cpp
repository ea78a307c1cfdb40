//===- CudaAbiTest.cpp - our declarations against cuda.h ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Built where the CUDA toolkit is installed: sizes, offsets and numbers of our
// hand-written declarations are those of cuda.h.
//
//===------------------------------------------------------------------------===//

#include "CudaDriver.h"

#include "gtest/gtest.h"

#include <cuda.h>

namespace cuda = tilec::cuda;

#define SAME_OFFSET(ours, theirs)                                                                  \
  static_assert(offsetof(cuda::LaunchConfig, ours) == offsetof(CUlaunchConfig, theirs))
SAME_OFFSET(gridX, gridDimX);
SAME_OFFSET(blockX, blockDimX);
SAME_OFFSET(sharedBytes, sharedMemBytes);
SAME_OFFSET(stream, hStream);
SAME_OFFSET(attributes, attrs);
SAME_OFFSET(numAttributes, numAttrs);
static_assert(sizeof(cuda::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(sizeof(cuda::LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(cuda::LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(cuda::TensorMap) == sizeof(CUtensorMap));
static_assert(sizeof(cuda::DevicePtr) == sizeof(CUdeviceptr));
static_assert(sizeof(cuda::Result) == sizeof(CUresult));
static_assert(sizeof(cuda::DeviceId) == sizeof(CUdevice));

static_assert(int(cuda::MultiprocessorCount) == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(int(cuda::L2CacheSize) == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
static_assert(int(cuda::CapabilityMajor) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(int(cuda::CapabilityMinor) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(int(cuda::SharedPerBlockOptin) ==
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(int(cuda::MaxDynamicSharedBytes) == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(int(cuda::PointerMemoryType) == CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
static_assert(int(cuda::PointerIsManaged) == CU_POINTER_ATTRIBUTE_IS_MANAGED);
static_assert(int(cuda::PointerDeviceOrdinal) == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(int(cuda::MemoryHost) == CU_MEMORYTYPE_HOST);
static_assert(int(cuda::MemoryDevice) == CU_MEMORYTYPE_DEVICE);
static_assert(int(cuda::JitErrorLog) == CU_JIT_ERROR_LOG_BUFFER);
static_assert(int(cuda::JitErrorLogSize) == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(int(cuda::ClusterDimension) == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(int(cuda::ProgrammaticStreamSerialization) ==
              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(cuda::streamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(cuda::captureNone == CU_STREAM_CAPTURE_STATUS_NONE);
static_assert(cuda::memAttachGlobal == CU_MEM_ATTACH_GLOBAL);
static_assert(cuda::memHostPortable == CU_MEMHOSTALLOC_PORTABLE);
static_assert(cuda::captureThreadLocal == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(cuda::notReady == CUDA_ERROR_NOT_READY);

static_assert(int(cuda::TensorMapU8) == CU_TENSOR_MAP_DATA_TYPE_UINT8);
static_assert(int(cuda::TensorMapU16) == CU_TENSOR_MAP_DATA_TYPE_UINT16);
static_assert(int(cuda::TensorMapU32) == CU_TENSOR_MAP_DATA_TYPE_UINT32);
static_assert(int(cuda::TensorMapI32) == CU_TENSOR_MAP_DATA_TYPE_INT32);
static_assert(int(cuda::TensorMapU64) == CU_TENSOR_MAP_DATA_TYPE_UINT64);
static_assert(int(cuda::TensorMapI64) == CU_TENSOR_MAP_DATA_TYPE_INT64);
static_assert(int(cuda::TensorMapF16) == CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
static_assert(int(cuda::TensorMapF32) == CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
static_assert(int(cuda::TensorMapF64) == CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
static_assert(int(cuda::TensorMapBF16) == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
static_assert(int(cuda::NoSwizzle) == CU_TENSOR_MAP_SWIZZLE_NONE);
static_assert(int(cuda::Swizzle32) == CU_TENSOR_MAP_SWIZZLE_32B);
static_assert(int(cuda::Swizzle64) == CU_TENSOR_MAP_SWIZZLE_64B);
static_assert(int(cuda::Swizzle128) == CU_TENSOR_MAP_SWIZZLE_128B);
static_assert(int(cuda::Promote128) == CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
static_assert(int(cuda::Promote256) == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(cuda::tensorMapNotInterleaved == CU_TENSOR_MAP_INTERLEAVE_NONE);
static_assert(cuda::tensorMapOutsideIsZero == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);

TEST(CudaAbi, UnionMembersLieAtTheStart) {
  CUlaunchAttribute theirs{};
  auto &ours = reinterpret_cast<cuda::LaunchAttribute &>(theirs);
  ours.id = cuda::ClusterDimension;
  ours.value.cluster = {2, 3, 4};
  EXPECT_EQ(theirs.id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  EXPECT_EQ(theirs.value.clusterDim.x, 2u);
  EXPECT_EQ(theirs.value.clusterDim.z, 4u);
  ours.value.programmaticSerialization = 1;
  EXPECT_EQ(theirs.value.programmaticStreamSerializationAllowed, 1);
}
