//===- SharedMemory.h - what a block has in shared memory --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// Rings come first, from byte 0, each at a multiple of 1024 (swizzles start from the
// address's bits); then their barriers; then the buffers.
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_SHAREDMEMORY_H
#define TILEC_LIB_TRANSFORMS_SHAREDMEMORY_H

#include "tilec/TileGPU/TileGPU.h"

namespace tilec {

/// A full and an empty barrier of 8 bytes a stage, in all a multiple of 16.
inline int64_t barrierBytes(int64_t stages) { return stages * 16; }

/// For accumulators in tensor memory: a barrier, and the address of the memory.
inline constexpr int64_t tensorMemoryBytes = 16;
bool usesTensorMemory(tile::KernelOp kernel);

/// On a tgpu.ring that threads fill (unit): within a loop around the one that takes from it,
/// others may have its bytes.
inline constexpr llvm::StringLiteral sharesInLoopsAttrName = "tgpu.shares_in_loops";

/// Bytes of shared memory that the kernel takes with its rings as long as they are.
int64_t bytesOfKernel(tile::KernelOp kernel);

/// Bytes that the kernel's buffers take when those that are not alive together share.
int64_t bytesOfBuffers(tile::KernelOp kernel);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_SHAREDMEMORY_H
