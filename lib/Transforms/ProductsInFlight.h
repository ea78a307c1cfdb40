//===- ProductsInFlight.h - is every product waited for? ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A product of an asynchronous atom completes after it was issued. Until a `tgpu.mma_wait`
// has taken its result, that is no number yet, and may only be handed on: to another product
// that adds to it, through what loops and branches carry, to the wait. The same holds for
// an accumulator in tensor memory between `tgpu.accumulate` and the wait.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_TRANSFORMS_PRODUCTSINFLIGHT_H
#define TILEC_LIB_TRANSFORMS_PRODUCTSINFLIGHT_H

#include "tilec/Tile/TileOps.h"

namespace tilec {

/// Fails, with an error there, at the first operation that reads a product which may still
/// be in flight, and at a wait that leaves more products pending than were issued after one
/// that it waits for.
llvm::LogicalResult verifyProductsAreWaitedFor(tile::KernelOp kernel);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_PRODUCTSINFLIGHT_H
