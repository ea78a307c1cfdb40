//===- ResidentBlocks.cpp - how many blocks share a multiprocessor --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a laid-out kernel that becomes persistent. Out: how many of its blocks are to be on a
// multiprocessor at a time. One, as a rule: copies run ahead, and its products fill the unit.
//
// Not so where one warp group computes an operand between its products (weights of few bits
// that are unpacked). Each of its warps has a quarter of the multiprocessor, and does one thing
// after the other: waits for bytes, reads them, converts, waits for the product. A second and a
// third block do theirs meanwhile; there are as many as registers hold, and as shared memory has
// room for a few steps of:
//
//   16 x 128 of 64 a step, 128 threads: 16 registers of sums, 2 x 32 of an operand, what is
//   read and addresses: 120 and 32 more threads that copy: three blocks
//
//===------------------------------------------------------------------------===//
#include "ResidentBlocks.h"

#include "AccessCost.h"
#include "ComputedOperands.h"
#include "Copies.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tilec;

/// More have no more to give: each of a multiprocessor's parts then has four warps to choose from.
static constexpr int64_t mostBlocks = 4;
/// Steps of a loop whose copies are under way, at least.
static constexpr int64_t fewestSteps = 4;
/// Registers of a thread beside sums and operands: places of rings, addresses, counters.
static constexpr int64_t registersBeside = 40;

/// Registers of a thread that a loop with a product whose operand threads compute takes; none if
/// there is no such product.
static int64_t registersOfComputedProduct(tile::KernelOp kernel) {
  int64_t most = 0;
  kernel.walk([&](tile::MmaOp mma) {
    for (Value operand : {mma.getA(), mma.getB()})
      if (!loadsBehind(mma, operand).empty()) // the next one is computed while this is multiplied
        most = std::max(most, registersOf(mma.getType()) + 2 * registersOf(operand.getType()));
  });
  return most ? most + registersBeside : 0;
}

int64_t tilec::blocksPerMultiprocessor(tile::KernelOp kernel, const Chip &chip) {
  constexpr int64_t groupWarps = 4;
  int64_t registers = registersOfComputedProduct(kernel);
  if (!registers || kernel.getNumWarps().value_or(groupWarps) != groupWarps)
    return 1;
  int64_t stepBytes = 0, otherBytes = 0;
  bool byThreads = false;
  kernel.walk([&](Operation *op) {
    bool isInLoop = op->getParentOfType<LoopLikeOpInterface>() != nullptr;
    if (isa<tile::LoadOp, tile::GatherOp>(op) && isCopied(op))
      (isInLoop ? stepBytes : otherBytes) += bytesOfTile(op->getResult(0).getType());
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      otherBytes += bytesOfTile(store.getValue().getType());
    else if (auto mma = dyn_cast<tile::MmaOp>(op))
      otherBytes += bytesOfTile(mma.getType()); // where blocks share the sum
    byThreads |= isa<tile::LoadOp, tile::GatherOp>(op) && isCopied(op) && copierOf(op) == "warps";
  });
  int64_t threads = Chip::warpSize * (groupWarps + (byThreads ? groupWarps : 1));
  int64_t forRegisters = Chip::registersPerSM / (threads * registers);
  int64_t forShared = chip.sharedPerSM / (fewestSteps * stepBytes + otherBytes + Chip::sharedReservedPerBlock);
  return std::clamp(std::min(forRegisters, forShared), int64_t(1), mostBlocks);
}
