//===- StageSlices.cpp - elements by index, through buffers -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: slices, takes and histograms of stage laid-out. Out: where a thread needs what
// other threads have, at places that are not known or not in its warp:
//
//   %y = tile.extract %x[%i] : tensor<64xf32> -> tensor<16xf32>
//     →  %y = scf.if 0 <= %i < 4 {
//          %B = tgpu.alloc   tgpu.store_slice %x[%i], %B   scf.yield tgpu.load %B
//        } else { zeros }
//   %y = tile.take %x[%i] axis 0 : …
//     →  %B = tgpu.alloc   tgpu.store %x, %B   %y = tgpu.take %B[%i] axis 0
//   %h = tile.histogram %x : tensor<1024xi32> -> tensor<64xi32>
//     →  %B = tgpu.alloc   tgpu.store zeros, %B   tgpu.count %x, %B   %h = tgpu.load %B
//
// Only the slice goes through memory, so also large tiles can be read by index. An element
// of a tile from outside of a loop is taken from a buffer that is filled before it.
// Sources of takes and histograms that are too large for one buffer are done part by part.
//===----------------------------------------------------------------------===//
#include "LayoutRules.h"
#include "Staging.h"

#include "tilec/Analysis/SlicePlan.h"
#include "tilec/Layout/Conversion.h"
#include "tilec/Tile/TileLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;

/// Larger sources of takes and histograms are divided.
static constexpr int64_t largestBuffer = 64 * 1024;
/// Larger tiles are not kept in memory to be read element by element.
static constexpr int64_t largestKept = 16 * 1024;

static Value constantIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

static Value zeros(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(type)));
}

//===----------------------------------------------------------------------===//
// extract
//===----------------------------------------------------------------------===//

/// The slice, which is inside, in `type`.
static Value loadSlice(OpBuilder &builder, tile::ExtractOp op, RankedTensorType type) {
  Location loc = op.getLoc();
  Layout within =
      withinSlice(tile::getLayout(op.getSource()), type.getShape()).withoutRegisterCopies();
  SharedPlan plan = planShared(within, tile::getLayout(type), storedBits(type));
  auto bufferType = tgpu::BufferType::get(type, plan.buffer);
  Value buffer = tgpu::AllocOp::create(builder, loc, bufferType, IntegerAttr());
  tgpu::StoreSliceOp::create(builder, loc, op.getSource(), op.getIndex(), buffer);
  Value slice = tgpu::LoadOp::create(builder, loc, type, buffer);
  if (isa<RankedTensorType>(op.getType()))
    return slice;
  return tile::ReshapeOp::create(builder, loc, op.getType(), slice);
}

/// A tile of one element, which all threads hold.
static RankedTensorType singleElement(ArrayRef<int64_t> shape, Type element,
                                      unsigned warpBits) {
  Layout everywhere(shape);
  everywhere.addZeros(Input::Lane, tile::laneBits).addZeros(Input::Warp, warpBits);
  return tileTypeOf(everywhere, element);
}

/// One element of a tile from outside of the block, such as in a loop: the tile is
/// stored once, as one line, and read at the element's number.
static void takeElement(tile::ExtractOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value source = op.getSource(), number = constantIndex(builder, loc, 0), isInside;
  auto type = op.getSource().getType();
  for (auto [dim, index] : llvm::enumerate(op.getIndex())) {
    Value size = constantIndex(builder, loc, type.getDimSize(dim));
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, size);
    isInside = isInside ? arith::AndIOp::create(builder, loc, isInside, inside) : inside;
    number = arith::AddIOp::create(builder, loc,
                                   arith::MulIOp::create(builder, loc, number, size), index);
  }
  number = arith::SelectOp::create(builder, loc, isInside, number, constantIndex(builder, loc, -1));
  unsigned warpBits = tile::getLayout(type).numBits(Input::Warp);
  Value indices = tile::SplatOp::create(
      builder, loc, singleElement(1, builder.getIndexType(), warpBits), number);

  builder.setInsertionPointAfterValue(source);
  int64_t count = type.getNumElements();
  Type line = tile::withLayout(RankedTensorType::get(count, type.getElementType()),
                               tile::getLayout(type).reshape(count));
  if (line != type)
    source = tile::ReshapeOp::create(builder, loc, line, source);
  Value buffer =
      storeToBuffer(builder, loc, source, Layout::counting(Input::Offset, {count}));
  builder.setInsertionPoint(op);
  Value element = tgpu::TakeOp::create(
      builder, loc, singleElement(1, type.getElementType(), warpBits), buffer, indices, 0, false);
  op.replaceAllUsesWith(tile::ReshapeOp::create(builder, loc, op.getType(), element).getResult());
  op.erase();
}

void tilec::stageExtract(tile::ExtractOp op) {
  auto source = op.getSource().getType();
  auto type = dyn_cast<RankedTensorType>(op.getType());
  bool isInvariant = op.getSource().getParentBlock() != op->getBlock() &&
                     source.getNumElements() * storedBits(source) / 8 <= largestKept;
  if (!type && isInvariant && !constantStart(op))
    return takeElement(op);
  if (extractsWithinWarp(op))
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Layout::Shape shape = extractedShape(op);
  if (!type)
    type = singleElement(shape, source.getElementType(),
                         tile::getLayout(source).numBits(Input::Warp));
  if (constantStart(op)) {
    op.replaceAllUsesWith(loadSlice(builder, op, type));
    op.erase();
    return;
  }
  Value isInside;
  for (auto [dim, index] : llvm::enumerate(op.getIndex())) {
    Value count = constantIndex(builder, loc, source.getDimSize(dim) / shape[dim]);
    Value inside =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, count);
    isInside = isInside ? arith::AndIOp::create(builder, loc, isInside, inside) : inside;
  }
  auto branch = scf::IfOp::create(
      builder, loc, isInside,
      [&](OpBuilder &arm, Location) {
        scf::YieldOp::create(arm, loc, loadSlice(arm, op, type));
      },
      [&](OpBuilder &arm, Location) {
        scf::YieldOp::create(arm, loc, zeros(arm, loc, op.getType()));
      });
  op.replaceAllUsesWith(branch.getResult(0));
  op.erase();
}

void tilec::stageInsert(tile::InsertOp op) {
  Layout part = withinSlice(tile::getLayout(op.getType()),
                            cast<RankedTensorType>(op.getSlice().getType()).getShape())
                    .withoutRegisterCopies();
  OpBuilder builder(op);
  op.getSliceMutable().set(convertTo(builder, op.getLoc(), op.getSlice(), part));
}

//===----------------------------------------------------------------------===//
// take
//===----------------------------------------------------------------------===//

namespace {

/// One take, part by part.
class TakeStager {
public:
  explicit TakeStager(tile::TakeOp op)
      : builder(op), loc(op.getLoc()), op(op), type(cast<RankedTensorType>(op.getType())) {
    Layout wanted = takeIndexLayout(op);
    indices = convertTo(builder, loc, op.getIndices(), wanted);
    // Counting them from the start of a part does not overflow.
    auto indexType = cast<RankedTensorType>(indices.getType());
    Type element = indexType.getElementType();
    if (!element.isIndex() && element.getIntOrFloatBitWidth() < 32)
      indices = arith::ExtSIOp::create(builder, loc, indexType.clone(builder.getI32Type()), indices);
  }

  Value run() { return take(op.getSource(), 0); }

private:
  /// From a part of the source that begins at `first` of the axis.
  Value take(Value source, int64_t first) {
    auto sourceType = cast<RankedTensorType>(source.getType());
    unsigned axis = op.getAxis();
    std::optional<Layout> half;
    if (sourceType.getNumElements() * storedBits(sourceType) / 8 > largestBuffer)
      half = tile::getLayout(sourceType).halve(axis);
    if (!half) {
      Layout places = Layout::counting(Input::Offset, sourceType.getShape());
      return tgpu::TakeOp::create(builder, loc, type,
                                  storeToBuffer(builder, loc, source, places),
                                  minus(first), axis, op.getAlong());
    }
    int64_t middle = sourceType.getDimSize(axis) / 2;
    auto part = [&](int64_t which) {
      SmallVector<Value> index(sourceType.getRank(), constantIndex(builder, loc, 0));
      index[axis] = constantIndex(builder, loc, which);
      Type partType = tile::withLayout(
          RankedTensorType::get(half->shape(), sourceType.getElementType()), *half);
      Value part = tile::ExtractOp::create(builder, loc, partType, source, index);
      return take(part, first + which * middle);
    };
    Value low = part(0), high = part(1);
    return select(first + middle, low, high);
  }

  Value constantLike(Value tile, int64_t value) {
    auto tensor = cast<RankedTensorType>(tile.getType());
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(tensor, builder.getIntegerAttr(tensor.getElementType(), value)));
  }
  Value minus(int64_t first) {
    return first ? arith::SubIOp::create(builder, loc, indices, constantLike(indices, first))
                       .getResult()
                 : indices;
  }

  /// `low` where the index is below `middle`, else `high`; both are 0 outside.
  Value select(int64_t middle, Value low, Value high) {
    Value isLow = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, indices,
                                        constantLike(indices, middle));
    if (!op.getAlong()) {
      SmallVector<int64_t> thin(type.getRank(), 1);
      thin[op.getAxis()] = type.getDimSize(op.getAxis());
      Layout line = tile::getLayout(isLow).reshape(thin);
      isLow = tile::ReshapeOp::create(
          builder, loc,
          tile::withLayout(RankedTensorType::get(thin, builder.getI1Type()), line), isLow);
      isLow = tile::BroadcastOp::create(
          builder, loc, tile::withLayout(type.clone(builder.getI1Type()), tile::getLayout(type)),
          isLow);
    }
    return arith::SelectOp::create(builder, loc, isLow, low, high);
  }

  OpBuilder builder;
  Location loc;
  tile::TakeOp op;
  RankedTensorType type;
  Value indices;
};

} // namespace

void tilec::stageTake(tile::TakeOp op) {
  Value result = TakeStager(op).run();
  op.replaceAllUsesWith(result);
  op.erase();
}

//===----------------------------------------------------------------------===//
// histogram
//===----------------------------------------------------------------------===//

void tilec::stageHistogram(tile::HistogramOp op, unsigned numWarps) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  int64_t bins = type.getDimSize(0), partBins = std::min<int64_t>(bins, largestBuffer / 4);
  std::optional<Layout> partLayout = sliceLayout(tile::getLayout(type), partBins);
  if (!partLayout)
    partLayout = defaultLayout(RankedTensorType::get(partBins, type.getElementType()), numWarps);
  Type partType =
      tile::withLayout(RankedTensorType::get(partBins, type.getElementType()), *partLayout);
  Value source = op.getSource();
  if (!isa<RankedTensorType>(source.getType())) {
    source = tile::SplatOp::create(
        builder, loc, singleElement(1, source.getType(), llvm::Log2_32(numWarps)), source);
  }
  SmallVector<Value> parts;
  for (int64_t first = 0; first < bins; first += partBins) {
    Value buffer = storeToBuffer(builder, loc, zeros(builder, loc, partType),
                                 Layout::counting(Input::Offset, {partBins}));
    tgpu::CountOp::create(builder, loc, source, buffer, first, op.getIsUnsigned());
    parts.push_back(tgpu::LoadOp::create(builder, loc, partType, buffer));
  }
  Value result = parts.front();
  if (parts.size() > 1) {
    // The parts are in the registers of the whole; in its order, or moved to it.
    Layout whole = sliceLayout(tile::getLayout(type), partBins) ? tile::getLayout(type)
                                                               : layoutOfSlices(*partLayout, {bins});
    result = tile::CatOp::create(builder, loc, tile::withLayout(type, whole), parts, 0);
  }
  op.replaceAllUsesWith(convertTo(builder, loc, result, tile::getLayout(type)));
  op.erase();
}
