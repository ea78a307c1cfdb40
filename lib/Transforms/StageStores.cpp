//===- StageStores.cpp - tiles leave through the copy engine ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: marked stores. Out: copies out of shared memory, part by part through one buffer:
//
//   tile.store %c[%m, %n], %o {mark} : …, tensor<128x256xbf16, #acc>
//     →
//   %B = tgpu.alloc : !tgpu.buffer<128x128xbf16, #swizzled>
//   tgpu.copy_out_wait                                  twice, for either half:
//   %p = tile.extract %o[0, 0] : … -> tensor<128x128xbf16, #half>
//   tgpu.store %p, %B
//   tgpu.copy_out %B, %c[%m, %n']                      %n' = 2 * %n + part
//
// A part is a piece of the columns that every thread has in registers of its own, so
// that cutting costs nothing; the parts are as large as `maxBytes` allows.
//
//===------------------------------------------------------------------------===//
#include "Copies.h"

#include "tilec/Layout/Layout.h"
#include "tilec/Tile/TileLayout.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tilec {
#define GEN_PASS_DEF_STAGESTORES
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// The last dim is dense in the array.
static Layout stagingBuffer(RankedTensorType type) {
  auto dims = llvm::seq<unsigned>(0, unsigned(type.getRank()));
  return engineBuffer(type, llvm::to_vector(llvm::reverse(dims)));
}

/// The tile as parts of at most `maxBytes`, cut along the last dim, all alike.
static std::pair<RankedTensorType, int64_t> choosePart(RankedTensorType type,
                                                       int64_t maxBytes) {
  int64_t bytes = tgpu::BufferType::storedBytes(type.getElementType());
  unsigned last = unsigned(type.getRank() - 1);
  Layout layout = tile::getLayout(type);
  int64_t parts = 1;
  while (layout.numElements() * bytes > maxBytes &&
         layout.shape()[last] * bytes > 128) {
    std::optional<Layout> half = layout.halve(last);
    if (!half)
      break;
    layout = *half;
    parts *= 2;
  }
  auto part = RankedTensorType::get(layout.shape(), type.getElementType());
  return {tile::withLayout(part, layout), parts};
}

/// The index of part `part` of a tile at `index`, in tiles of the part's size. An index
/// so large that the product would overflow is as much outside as a smaller one.
static Value partIndex(OpBuilder &builder, Location loc, Value index, int64_t numParts,
                       int64_t part) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  constexpr int64_t farAway = int64_t(1) << 48;
  index = arith::MinSIOp::create(builder, loc, index, constant(farAway));
  index = arith::MaxSIOp::create(builder, loc, index, constant(-1));
  index = arith::MulIOp::create(builder, loc, index, constant(numParts));
  return arith::AddIOp::create(builder, loc, index, constant(part));
}

static void stageStore(tile::StoreOp store, int64_t maxBytes) {
  OpBuilder builder(store);
  Location loc = store.getLoc();
  TileView view = storedView(store);
  auto type = cast<RankedTensorType>(view.tile.getType());
  auto [part, numParts] = choosePart(type, maxBytes);
  Value staging = tgpu::AllocOp::create(
      builder, loc, tgpu::BufferType::get(part, stagingBuffer(part)), IntegerAttr());
  int64_t last = type.getRank() - 1;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  for (int64_t i = 0; i < numParts; ++i) {
    Value piece = view.tile;
    SmallVector<Value> place = indexByArrayDim(store);
    if (numParts > 1) {
      SmallVector<Value> slice(type.getRank(), zero);
      slice[last] = arith::ConstantIndexOp::create(builder, loc, i);
      piece = tile::ExtractOp::create(builder, loc, part, piece, slice);
      Value &column = place[view.arrayDims[last]];
      if (store.getElements())
        column = arith::AddIOp::create(
            builder, loc, column,
            arith::ConstantIndexOp::create(builder, loc, i * part.getDimSize(last)));
      else
        column = partIndex(builder, loc, column, numParts, i);
    }
    tgpu::CopyOutWaitOp::create(builder, loc);
    tgpu::StoreOp::create(builder, loc, piece, staging);
    tgpu::CopyOutOp::create(builder, loc, staging, store.getArray(), place,
                            builder.getDenseI64ArrayAttr(view.arrayDims),
                            store.getElements());
  }
  store.erase();
}

namespace {

struct StageStores : tilec::impl::StageStoresBase<StageStores> {
  using StageStoresBase::StageStoresBase;

  void runOnOperation() override {
    SmallVector<tile::StoreOp> stores;
    getOperation().walk([&](tile::StoreOp store) {
      if (isCopied(store))
        stores.push_back(store);
    });
    for (tile::StoreOp store : stores)
      stageStore(store, maxBytes);
  }
};

} // namespace
