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
// Where AssignLayouts has been kind that renames registers and costs nothing.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Atoms/ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilec;

LogicalResult Emitter::emitSplat(tile::SplatOp op) {
  auto type = cast<VectorType>(lowerType(op.getType()));
  set(op, splat(get(op.getValue()), type.getNumElements()));
  return success();
}

LogicalResult Emitter::emitIota(tile::IotaOp op) {
  Layout layout = layoutOf(op.getType());
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
