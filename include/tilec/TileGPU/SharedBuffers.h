//===- SharedBuffers.h - what a kernel keeps in shared memory -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a staged kernel. Out: its rings and buffers as people read of them, in remarks, in
// messages about memory that does not suffice, and in `--resource-usage`:
//
//   bf16[128, 64] of `a`                  16 KiB x 4 places
//   bf16[128, 128] on its way to `c`      32 KiB
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TILEGPU_SHAREDBUFFERS_H
#define TILEC_TILEGPU_SHAREDBUFFERS_H

#include "tilec/TileGPU/TileGPU.h"

#include <string>
#include <vector>

namespace tilec::tgpu {

/// A buffer, or one slot of a ring.
struct SharedBuffer {
  mlir::Operation *op = nullptr; ///< tgpu.ring or tgpu.alloc
  std::string what;
  int64_t bytes = 0; ///< of one place
  int64_t places = 1;
  std::optional<int64_t> offset; ///< of the first place, once that is known

  /// `16 KiB x 4 places`, or `32 KiB`.
  std::string size() const;
};

/// Rings slot by slot, then buffers, in program order.
std::vector<SharedBuffer> sharedBuffersOf(tile::KernelOp kernel);

/// The arrays that a ring's tiles come from: "`a` and `b`".
std::string spellSources(RingOp ring);

} // namespace tilec::tgpu

#endif // TILEC_TILEGPU_SHAREDBUFFERS_H
