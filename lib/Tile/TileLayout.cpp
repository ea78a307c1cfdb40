//===- TileLayout.cpp - layouts in the IR ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Text form and verification of `#tile.layout`, and `tile.convert_layout`. Text
// has coordinates, one tuple per basis; storage has row-major numbers.

#include "tilec/Tile/TileLayout.h"
#include "tilec/Tile/TileOps.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/IR/DialectImplementation.h"
#include "tilec/Layout/Span.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

static ArrayRef<int64_t> storedBases(LayoutAttr attr, Input input) {
  switch (input) {
  case Input::Register:
    return attr.getRegisters();
  case Input::Lane:
    return attr.getLanes();
  case Input::Warp:
    return attr.getWarps();
  case Input::Block:
    return attr.getBlocks();
  case Input::Offset:
    return attr.getOffsets();
  }
  return {};
}

Layout LayoutAttr::getLayout() const {
  Layout layout(getShape());
  for (Input input : allInputs)
    for (int64_t flat : storedBases(*this, input))
      layout.addFlat(input, flat);
  return layout;
}

OpAsmAliasResult LayoutAttr::getAlias(raw_ostream &os) const {
  os << "layout";
  return OpAsmAliasResult::OverridableAlias;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// layout-C1; returns the number of elements, 0 after an error.
static int64_t verifyShape(function_ref<InFlightDiagnostic()> emitError,
                           ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t dim : shape) {
    if (dim < 1 || dim > maxTileElements || !llvm::isPowerOf2_64(dim) ||
        (elements *= dim) > maxTileElements) {
      emitError() << "a layout is for power-of-two dims and at most 2^20 elements, not ["
                  << shape << "]";
      return 0;
    }
  }
  return elements;
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, ArrayRef<int64_t> registers,
                                 ArrayRef<int64_t> lanes, ArrayRef<int64_t> warps,
                                 ArrayRef<int64_t> blocks, ArrayRef<int64_t> offsets) {
  int64_t elements = verifyShape(emitError, shape);
  if (!elements)
    return failure();
  Span span;
  for (ArrayRef<int64_t> bases : {registers, lanes, warps, blocks, offsets}) {
    if (bases.size() > 20)
      return emitError() << "a layout has at most 20 bits of a kind";
    for (int64_t basis : bases) {
      if (basis < 0 || basis >= elements) // layout-C2
        return emitError() << "a basis lies outside of the layout's shape";
      if (span.numAdded() == 64)
        return emitError() << "a layout has at most 64 bits";
      span.add(basis);
    }
  }
  if (span.dimension() != llvm::Log2_64(elements)) // layout-C3
    return emitError() << "the layout of [" << shape << "] leaves out elements";
  return success();
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  if (shape != getShape()) // layout-C4
    return emitError() << "the layout is for shape [" << getShape() << "], the tile is ["
                       << shape << "]";
  if (!getOffsets().empty() || getLanes().size() != laneBits) // layout-C5
    return emitError() << "a tile's layout has " << laneBits << " lane bits and no offset bits";
  return success();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static ParseResult parseBasis(AsmParser &parser, ArrayRef<int64_t> shape, int64_t &flat) {
  SmallVector<int64_t> coords;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
        return parser.parseInteger(coords.emplace_back());
      }))
    return failure();
  if (coords.size() != shape.size()) // layout-C2
    return parser.emitError(loc) << "a basis has one coordinate per dim: " << shape.size();
  flat = 0;
  for (auto [coord, dim] : llvm::zip_equal(coords, shape)) {
    if (coord < 0 || coord >= dim) // layout-C2
      return parser.emitError(loc) << "a basis lies outside of the layout's shape";
    flat = flat * dim + coord;
  }
  return success();
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> shape;
  SMLoc loc = parser.getCurrentLocation();
  auto parseDim = [&] { return parser.parseInteger(shape.emplace_back()); };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return {};
  auto emitError = [&] { return parser.emitError(loc); };
  if (!verifyShape(emitError, shape))
    return {};
  std::array<SmallVector<int64_t>, numInputs> bases;
  for (Input input : allInputs) {
    if (failed(parser.parseOptionalKeyword(inputName(input))))
      continue;
    auto parse = [&] {
      return parseBasis(parser, shape, bases[unsigned(input)].emplace_back());
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parse))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return LayoutAttr::getChecked(emitError, parser.getContext(), ArrayRef<int64_t>(shape),
                                ArrayRef<int64_t>(bases[0]), ArrayRef<int64_t>(bases[1]),
                                ArrayRef<int64_t>(bases[2]), ArrayRef<int64_t>(bases[3]),
                                ArrayRef<int64_t>(bases[4]));
}

void LayoutAttr::print(AsmPrinter &printer) const {
  Layout layout = getLayout();
  printer << "<[" << getShape() << "]";
  for (Input input : allInputs) {
    if (!layout.numBits(input))
      continue;
    printer << " " << inputName(input) << " [";
    llvm::interleaveComma(layout.bases(input), printer, [&](uint64_t flat) {
      printer << "(";
      llvm::interleaveComma(layout.unflatten(flat), printer);
      printer << ")";
    });
    printer << "]";
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Layouts of types
//===----------------------------------------------------------------------===//

LayoutAttr tilec::tile::getLayoutAttr(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return dyn_cast_or_null<LayoutAttr>(tensor.getEncoding());
  return {};
}

Layout tilec::tile::getLayout(Type type) {
  LayoutAttr attr = getLayoutAttr(type);
  return attr ? attr.getLayout() : Layout();
}

RankedTensorType tilec::tile::withLayout(Type type, LayoutAttr layout) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(), layout);
}

RankedTensorType tilec::tile::withLayout(Type type, const Layout &layout) {
  return withLayout(type, LayoutAttr::get(type.getContext(), layout));
}

RankedTensorType tilec::tile::withoutLayout(Type type) { return withLayout(type, LayoutAttr()); }

//===----------------------------------------------------------------------===//
// tile.convert_layout
//===----------------------------------------------------------------------===//

LogicalResult ConvertLayoutOp::verify() {
  RankedTensorType from = getSource().getType(), to = getType();
  if (withoutLayout(from) != withoutLayout(to)) // convert_layout-C1
    return emitOpError() << "changes the layout only, but goes from " << from << " to " << to;
  if (!hasLayout(from) || !hasLayout(to)) // convert_layout-C2
    return emitOpError() << "goes from one layout to another";
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  // There and back. Other chains are RemoveLayoutConversions' matter: one conversion
  // may need shared memory where each of two does not.
  if (auto inner = getSource().getDefiningOp<ConvertLayoutOp>())
    if (inner.getSource().getType() == getType())
      return inner.getSource();
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getSource()))
    if (TypedAttr value = getSplatConstant(dense))
      return DenseElementsAttr::get(getType(), ArrayRef<Attribute>(value));
  return {};
}
