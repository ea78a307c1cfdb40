//===- SplitConversions.cpp - convert large tiles in pieces ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: the laid-out stage. Out: the same, where a conversion that needs a large buffer in
// shared memory has become several of parts of the tile, one after the other:
//
//   %y = tile.convert_layout %x : tensor<256x256xf32, #a> -> tensor<256x256xf32, #b>
// becomes
//   %x0 = tile.extract %x[0, 0] : … -> tensor<128x256xf32, #a'>
//   %y0 = tile.convert_layout %x0 : … -> tensor<128x256xf32, #b'>
//   %x1 = tile.extract %x[1, 0] : … -> tensor<128x256xf32, #a'>
//   %y1 = tile.convert_layout %x1 : … -> tensor<128x256xf32, #b'>
//   %y = tile.cat(%y0, %y1) axis 0 : … -> tensor<256x256xf32, #b>
//
// A tile is cut where in both layouts only register numbers tell the halves apart:
// extract and cat then name registers and cost nothing, and the buffers of the pieces,
// not being alive together, share their bytes. Large tiles have such cuts, since
// beyond threads times vector everything is registers. Where many warps leave none, and the
// tile only goes to arrays, threads store it as it lies.
//===----------------------------------------------------------------------===//
#include "AccessCost.h"
#include "Copies.h"
#include "LayoutRules.h"

#include "tilec/Layout/Conversion.h"
#include "tilec/Tile/TileLayout.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace tilec {
#define GEN_PASS_DEF_SPLITCONVERSIONS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

namespace {

class Splitter {
public:
  Splitter(ConvertLayoutOp op, int64_t maxBytes)
      : builder(op), loc(op.getLoc()), element(op.getType().getElementType()),
        maxBytes(maxBytes) {}

  /// `value` in layout `to`, in pieces as small as asked if that can be.
  Value convert(Value value, const Layout &to) {
    Layout from = getLayout(value);
    RankedTensorType type = withLayout(value.getType(), to);
    if (needsSplit(from, to)) {
      if (std::optional<unsigned> axis = axisOfHalves(from, to)) {
        Layout fromHalf = *from.halve(*axis), toHalf = *to.halve(*axis);
        Value low = convert(half(value, fromHalf, *axis, 0), toHalf);
        Value high = convert(half(value, fromHalf, *axis, 1), toHalf);
        return CatOp::create(builder, loc, type, ValueRange{low, high}, *axis);
      }
    }
    return ConvertLayoutOp::create(builder, loc, type, value);
  }

  /// The first axis whose halves are registers of their own in both layouts.
  static std::optional<unsigned> axisOfHalves(const Layout &from, const Layout &to) {
    for (unsigned axis = 0; axis < to.rank(); ++axis)
      if (from.halve(axis) && to.halve(axis))
        return axis;
    return std::nullopt;
  }

  bool needsSplit(const Layout &from, const Layout &to) {
    int64_t bytes = storedBytes(element);
    return from.numElements() * bytes > maxBytes &&
           classifyConversion(from, to, bytes * 8) == ConversionKind::Shared;
  }

private:
  Value half(Value value, const Layout &layout, unsigned axis, int64_t which) {
    SmallVector<Value> index;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      index.push_back(arith::ConstantIndexOp::create(builder, loc, dim == axis ? which : 0));
    Type type = tileTypeOf(layout, element);
    return ExtractOp::create(builder, loc, type, value, index);
  }

  OpBuilder builder;
  Location loc;
  Type element;
  int64_t maxBytes;
};

/// All that happens to the tile is that threads store it to arrays.
bool isOnlyStored(ConvertLayoutOp op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<StoreOp>(user) && !isCopied(user);
  });
}

struct SplitConversions : tilec::impl::SplitConversionsBase<SplitConversions> {
  using SplitConversionsBase::SplitConversionsBase;

  void runOnOperation() override {
    SmallVector<ConvertLayoutOp> conversions;
    getOperation().walk([&](ConvertLayoutOp op) { conversions.push_back(op); });
    for (ConvertLayoutOp op : conversions) {
      Splitter splitter(op, maxBytes);
      Layout to = getLayout(op.getType());
      if (!splitter.needsSplit(getLayout(op.getSource()), to))
        continue;
      Value source = op.getSource();
      bool isWhole = !Splitter::axisOfHalves(getLayout(source), to) && isOnlyStored(op);
      op.replaceAllUsesWith(isWhole ? source : splitter.convert(source, to));
      op.erase();
    }
  }
};

} // namespace
