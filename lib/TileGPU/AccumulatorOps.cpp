//===- AccumulatorOps.cpp - the dialect of resources: tensor memory --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The accumulator type, and verifiers of TileGPUAccumulatorOps.td.
//
//===------------------------------------------------------------------------===//
#include "tilec/TileGPU/TileGPU.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tgpu;

static constexpr int64_t numLanes = 128;

int64_t AccumulatorType::getColumns() const {
  return std::max<int64_t>(1, getShape()[0] / numLanes) * getShape()[1];
}

Type AccumulatorType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseGreater())
    return {};
  if (shape.size() != 2) {
    parser.emitError(loc, "an accumulator has two dims");
    return {};
  }
  return get(parser.getContext(), shape, elementType);
}

void AccumulatorType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType() << '>';
}

LogicalResult AccumulateOp::verify() {
  // accumulate-C1
  ArrayRef<int64_t> a = getA().getType().getShape(), b = getB().getType().getShape();
  ArrayRef<int64_t> acc = getAcc().getType().getShape();
  if (a.size() != 2 || b.size() != 2 || a[0] != acc[0] || b[1] != acc[1] || a[1] != b[0])
    return emitOpError("dims do not fit: ")
           << getA().getType() << " x " << getB().getType() << " -> " << getAcc().getType();
  // accumulate-C2
  if (getAtom().empty())
    return emitOpError("needs the name of an atom");
  return success();
}

static LogicalResult verifySameTile(Operation *op, Type tile, AccumulatorType accumulator) {
  auto type = cast<RankedTensorType>(tile);
  if (type.getShape() != accumulator.getShape() ||
      type.getElementType() != accumulator.getElementType())
    return op->emitOpError("tile and accumulator differ: ") << tile << " and " << accumulator;
  return success();
}

LogicalResult SetAccumulatorOp::verify() {
  // set_accumulator-C1
  return verifySameTile(*this, getTile().getType(), getAccumulator().getType());
}

LogicalResult GetAccumulatorOp::verify() {
  // get_accumulator-C1
  return verifySameTile(*this, getTile().getType(), getAccumulator().getType());
}
