//===- Shape.cpp - tiles made and reshaped ---------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// No change of shape moves an element; it gives it other coordinates. So each is a
// conversion from the source's layout, seen in the new shape, to the result's:
//
//   reshape     source.reshape(shape)  →  result
//   permute     source.permute(dims)   →  result
//   broadcast   source                 →  result, with stretched dims made 1
//
// Where AssignLayouts has been kind that renames registers and costs nothing. Parts of
// tiles (extract, cat) are written where each thread has them in its own registers.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Layout/Span.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;

LogicalResult Emitter::emitSplat(tile::SplatOp op) {
  auto type = cast<VectorType>(lowerType(op.getType()));
  set(op, splat(get(op.getValue()), type.getNumElements()));
  return success();
}

LogicalResult Emitter::emitIota(tile::IotaOp op) {
  Layout layout = tile::getLayout(op.getType());
  auto type = cast<VectorType>(lowerType(op.getType()));
  LinearBases bases = threadBases(layout);
  Value own = emitLinear(builder, loc, thread, bases);
  SmallVector<Value> elements;
  for (uint64_t number = 0; number < layout.size(Input::Register); ++number)
    elements.push_back(emitXor(builder, loc, own, reachableBits(bases),
                               layout.applyFlat(Position::thread(number, 0))));
  Value vector = fromElements(elements);
  Type element = type.getElementType();
  if (element.isIndex())
    vector = arith::IndexCastUIOp::create(builder, loc, type, vector);
  else if (element.getIntOrFloatBitWidth() > 32)
    vector = arith::ExtUIOp::create(builder, loc, type, vector);
  else if (element.getIntOrFloatBitWidth() < 32)
    vector = arith::TruncIOp::create(builder, loc, type, vector);
  set(op, vector);
  return success();
}

LogicalResult Emitter::emitBroadcast(tile::BroadcastOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  auto sourceType = cast<RankedTensorType>(op.getSource().getType());
  Layout wanted = tile::getLayout(type);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (sourceType.getDimSize(dim) != type.getDimSize(dim))
      wanted = wanted.collapse(dim);
  FailureOr<Value> value = convert(op, get(op.getSource()), tile::getLayout(sourceType),
                                   wanted, type.getElementType());
  if (failed(value))
    return failure();
  set(op, *value);
  return success();
}

LogicalResult Emitter::emitReshape(tile::ReshapeOp op) {
  auto sourceType = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto type = dyn_cast<RankedTensorType>(op.getType());
  Value source = get(op.getSource());
  if (!sourceType && !type) {
    set(op, source);
  } else if (!sourceType) {
    set(op, splat(source, cast<VectorType>(lowerType(type)).getNumElements()));
  } else if (!type) {
    set(op, extract(source, 0));
  } else {
    FailureOr<Value> value =
        convert(op, source, tile::getLayout(sourceType).reshape(type.getShape()),
                tile::getLayout(type), type.getElementType());
    if (failed(value))
      return failure();
    set(op, *value);
  }
  return success();
}

LogicalResult Emitter::emitPermute(tile::PermuteOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  FailureOr<Value> value =
      convert(op, get(op.getSource()),
              tile::getLayout(op.getSource()).permute(op.getDims()),
              tile::getLayout(type), type.getElementType());
  if (failed(value))
    return failure();
  set(op, *value);
  return success();
}

//===------------------------------------------------------------------------===//
// Parts of tiles
//===------------------------------------------------------------------------===//

/// For each register of the slice that starts at `start` the register of the tile
/// that holds its element; nothing where another thread holds it.
static std::optional<SmallVector<int64_t>> registersOfSlice(const Layout &tile,
                                                            const Layout &slice,
                                                            ArrayRef<int64_t> start) {
  auto inTile = [&](uint64_t flat) { return tile.flatten(slice.unflatten(flat)); };
  for (Input input : {Input::Lane, Input::Warp})
    for (unsigned bit = 0; bit < tile.numBits(input); ++bit)
      if (tile.basis(input, bit) != inTile(slice.basis(input, bit)))
        return std::nullopt;
  Span span(tile.bases(Input::Register));
  SmallVector<int64_t> registers;
  for (uint64_t number = 0; number < slice.size(Input::Register); ++number) {
    uint64_t flat = inTile(slice.applyFlat(Position::thread(number, 0)));
    std::optional<uint64_t> at = span.solve(flat ^ tile.flatten(start));
    if (!at)
      return std::nullopt;
    registers.push_back(int64_t(*at));
  }
  return registers;
}

/// Slices at constant places that every thread has in its own registers, as
/// SplitConversions makes them.
LogicalResult Emitter::emitExtract(tile::ExtractOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  Layout::Coords start;
  for (auto [dim, index] : llvm::enumerate(op.getIndex())) {
    APInt constant;
    int64_t size = type ? type.getDimSize(dim) : 1;
    if (!matchPattern(index, m_ConstantInt(&constant)) ||
        constant.uge(uint64_t(op.getSource().getType().getDimSize(dim) / size)))
      return op.emitError("stage simt has no code for ") << op->getName();
    start.push_back(int64_t(constant.getZExtValue()) * size);
  }
  std::optional<SmallVector<int64_t>> registers;
  if (type)
    registers = registersOfSlice(tile::getLayout(op.getSource()), tile::getLayout(type), start);
  if (!registers)
    return op.emitError("stage simt has no code for ") << op->getName();
  set(op, emitShuffle(builder, loc, get(op.getSource()), *registers));
  return success();
}

/// The inverse: every thread has what it had of the parts.
LogicalResult Emitter::emitCat(tile::CatOp op) {
  Layout whole = tile::getLayout(op.getType());
  SmallVector<Value> elements(whole.size(Input::Register));
  Layout::Coords start(whole.rank(), 0);
  for (Value source : op.getSources()) {
    Layout part = tile::getLayout(source);
    auto registers = registersOfSlice(whole, part, start);
    if (!registers)
      return op.emitError("stage simt has no code for ") << op->getName();
    for (auto [number, at] : llvm::enumerate(*registers))
      elements[at] = extract(get(source), int64_t(number));
    start[op.getAxis()] += part.shape()[op.getAxis()];
  }
  // Registers that are copies have been reached by none.
  for (uint64_t number = 0; number < elements.size(); ++number)
    if (!elements[number])
      elements[number] = elements[whole.find(whole.applyFlat(Position::thread(number, 0)))[Input::Register]];
  set(op, fromElements(elements));
  return success();
}
