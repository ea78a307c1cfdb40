//===- TileDialect.cpp - registration, types, attributes ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the dialect holds, and the parser, printer and verifier of its array
// type. The operations' own code is in one file per subject.

#include "tilec/Tile/TileDialect.h"
#include "tilec/Tile/TileOps.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace tilec::tile;

#include "tilec/Tile/TileDialect.cpp.inc"

#include "tilec/Tile/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "tilec/Tile/TileAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "tilec/Tile/TileTypes.cpp.inc"

void TileDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "tilec/Tile/TileOps.cpp.inc"
      >();
}

void TileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "tilec/Tile/TileTypes.cpp.inc"
      >();
}

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tilec/Tile/TileAttrs.cpp.inc"
      >();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Scalars and tiles
//===----------------------------------------------------------------------===//

bool tilec::tile::isF8Type(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

bool tilec::tile::isScalarType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    return integer.isSignless() && (width == 1 || width == 8 || width == 16 ||
                                    width == 32 || width == 64);
  }
  return isa<IndexType, Float16Type, BFloat16Type, Float32Type, Float64Type,
             FloatTF32Type>(type) ||
         isF8Type(type);
}

bool tilec::tile::isTileType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getRank() < 1 ||
      tensor.getRank() > maxRank || !isScalarType(tensor.getElementType()))
    return false;
  int64_t elements = 1;
  for (int64_t dim : tensor.getShape()) {
    if (dim < 1 || dim > maxTileElements || (dim & (dim - 1)) != 0) // tile-C1
      return false;
    elements *= dim;
    if (elements > maxTileElements) // tile-C2
      return false;
  }
  return true;
}

llvm::ArrayRef<int64_t> tilec::tile::getTileShape(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getShape();
  return {};
}

Type tilec::tile::getTileType(llvm::ArrayRef<int64_t> shape, Type element) {
  if (shape.empty())
    return element;
  return RankedTensorType::get(shape, element);
}

Type tilec::tile::withElementType(Type type, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(element);
  return element;
}

//===----------------------------------------------------------------------===//
// !tile.array
//===----------------------------------------------------------------------===//

Type ArrayType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  bool mut = false, strided = false, denseRows = false;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape) ||
      parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    mut = succeeded(parser.parseOptionalKeyword("mut"));
    strided = succeeded(parser.parseOptionalKeyword("strided"));
    denseRows = strided && succeeded(parser.parseOptionalKeyword("rows"));
    if (!mut && !strided) {
      parser.emitError(parser.getCurrentLocation(), "expected 'mut' or 'strided'");
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ArrayType>(loc, parser.getContext(), shape, element,
                                      mut, strided, denseRows);
}

void ArrayType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  if (!getShape().empty())
    printer << 'x';
  printer << getElementType();
  if (isMut() || hasStrides())
    printer << ", ";
  if (isMut())
    printer << "mut";
  if (hasStrides())
    printer << (isMut() ? " strided" : "strided");
  if (getDenseRows())
    printer << " rows";
  printer << '>';
}

LogicalResult ArrayType::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> shape, Type element, bool mut,
                                bool, bool) {
  if (shape.empty() || static_cast<int64_t>(shape.size()) > maxRank) // array-C1
    return emitError() << "an array has rank 1 to 6, not " << shape.size();
  if (!isScalarType(element) || isa<FloatTF32Type>(element)) // array-C2
    return emitError() << "an array cannot have elements of type " << element;
  for (int64_t dim : shape)
    if (dim < 0 && !ShapedType::isDynamic(dim))
      return emitError() << "an array's dim cannot be negative";
  return success();
}

ParseResult tilec::tile::parseArrayType(OpAsmParser &parser, Type &type) {
  ArrayType array;
  if (parser.parseType(array))
    return failure();
  type = array;
  return success();
}

void tilec::tile::printArrayType(OpAsmPrinter &printer, Operation *, Type type) {
  printer << type;
}
