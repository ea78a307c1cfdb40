//===- dlpack.h - DLPack's interface, for tests -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A double of the header that programs bring along: names, numbers and layouts of DLPack 1.1
// that tilec/dlpack.h uses, or of 0.6 (TILEC_TEST_OLD_DLPACK), so that tests need no package.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TEST_UNIT_RUNTIME_INPUTS_DLPACK_H
#define TILEC_TEST_UNIT_RUNTIME_INPUTS_DLPACK_H

#include <cstdint>

#ifdef TILEC_TEST_OLD_DLPACK
#define DLPACK_VERSION 60
#else
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 1
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#endif

enum DLDeviceType : int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLROCM = 10, kDLCUDAManaged = 13 };
enum DLDataTypeCode { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5 };

struct DLDevice {
  DLDeviceType device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensor *self);
};

#ifdef DLPACK_MAJOR_VERSION
struct DLPackVersion {
  uint32_t major, minor;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
};
#endif

#endif // TILEC_TEST_UNIT_RUNTIME_INPUTS_DLPACK_H
