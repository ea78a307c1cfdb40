//===- TileGPU.cpp - the dialect of named resources ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The buffer type with its syntax, and the verifiers of the operations. Comments
// such as `alloc-C1` name the constraints of TileGPUOps.td.
//
//===------------------------------------------------------------------------===//
#include "tilec/TileGPU/TileGPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "tilec/Layout/Layout.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tgpu;

// Used by the assembly formats of operations that name a place in an array.
namespace tilec::tgpu {
using tile::parseArrayType;
using tile::printArrayType;
} // namespace tilec::tgpu

#include "tilec/TileGPU/TileGPUDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "tilec/TileGPU/TileGPUTypes.cpp.inc"

#define GET_OP_CLASSES
#include "tilec/TileGPU/TileGPUOps.cpp.inc"

void TileGPUDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "tilec/TileGPU/TileGPUTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilec/TileGPU/TileGPUOps.cpp.inc"
      >();
}

//===------------------------------------------------------------------------===//
// The buffer type
//===------------------------------------------------------------------------===//

int64_t BufferType::getNumElements() const {
  return ShapedType::getNumElements(getShape());
}

int64_t BufferType::storedBytes(Type elementType) {
  if (elementType.isIndex())
    return 8;
  if (elementType.isInteger(1))
    return 1;
  if (isa<FloatTF32Type>(elementType))
    return 4;
  return elementType.getIntOrFloatBitWidth() / 8;
}

BufferType BufferType::get(RankedTensorType tile, const Layout &layout) {
  return Base::get(tile.getContext(), tile.getShape(), tile.getElementType(),
                   tile::LayoutAttr::get(tile.getContext(), layout));
}

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  tile::LayoutAttr layout;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parser.parseAttribute(layout) || parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(loc); };
  return getChecked(emitError, parser.getContext(), shape, elementType, layout);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  if (!getShape().empty())
    printer << 'x';
  printer << getElementType() << ", ";
  printer.printAttribute(getLayout());
  printer << '>';
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type elementType,
                                 tile::LayoutAttr attr) {
  if (!elementType.isIntOrIndexOrFloat())
    return emitError() << "elements of a buffer are scalars, not " << elementType;
  if (!attr)
    return emitError() << "a buffer needs a layout";
  Layout layout = attr.getLayout();
  if (layout.shape() != shape)
    return emitError() << "the layout of a buffer has the buffer's shape";
  if (layout.numInputBits() != layout.numBits(Input::Offset) ||
      !layout.isSurjective() || !layout.isInjective())
    return emitError() << "the layout of a buffer maps offsets to elements, one to one";
  return success();
}

//===------------------------------------------------------------------------===//
// Operations
//===------------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  // alloc-C1
  if (std::optional<int64_t> offset = getOffset())
    if (*offset < 0 || *offset % 16 != 0)
      return emitOpError("offset is not a multiple of 16");
  return success();
}

static LogicalResult verifySameTile(Operation *op, RankedTensorType tile,
                                    BufferType buffer) {
  if (tile.getShape() != buffer.getShape() ||
      tile.getElementType() != buffer.getElementType())
    return op->emitOpError("tile and buffer differ: ") << tile << " and " << buffer;
  return success();
}

LogicalResult StoreOp::verify() {
  // store-C3
  return verifySameTile(*this, cast<RankedTensorType>(getTile().getType()),
                        getBuffer().getType());
}

LogicalResult LoadOp::verify() {
  // load-C5
  return verifySameTile(*this, cast<RankedTensorType>(getTile().getType()),
                        getBuffer().getType());
}

LogicalResult StoreSliceOp::verify() {
  // store_slice-C1
  auto tile = cast<RankedTensorType>(getTile().getType());
  BufferType buffer = getBuffer().getType();
  if (tile.getElementType() != buffer.getElementType() || tile.getRank() != buffer.getRank() ||
      tile.getRank() != int64_t(getIndex().size()))
    return emitOpError("tile, index and buffer do not go together: ") << tile << " and " << buffer;
  for (auto [whole, part] : llvm::zip_equal(tile.getShape(), buffer.getShape()))
    if (part > whole)
      return emitOpError("a slice is in no dim larger than its tile");
  return success();
}

LogicalResult TakeOp::verify() {
  auto result = cast<RankedTensorType>(getTile().getType());
  auto indices = cast<RankedTensorType>(getIndices().getType());
  BufferType buffer = getBuffer().getType();
  // take-C1
  bool fits = result.getElementType() == buffer.getElementType() &&
              result.getRank() == buffer.getRank() && getAxis() < result.getRank();
  for (int64_t dim = 0; fits && dim < result.getRank(); ++dim)
    fits = dim == getAxis() || result.getDimSize(dim) == buffer.getShape()[dim];
  if (!fits)
    return emitOpError("result and buffer do not go together: ") << result << " and " << buffer;
  // take-C2
  if (!indices.getElementType().isIntOrIndex() ||
      (getAlong() ? indices.getShape() != result.getShape()
                  : indices.getShape() != ArrayRef(result.getDimSize(getAxis()))))
    return emitOpError("indices do not fit the result: ") << indices;
  return success();
}

LogicalResult CountOp::verify() {
  // count-C1
  BufferType buffer = getBuffer().getType();
  if (buffer.getRank() != 1 || !buffer.getElementType().isInteger(32) ||
      !cast<RankedTensorType>(getTile().getType()).getElementType().isIntOrIndex())
    return emitOpError("counts integers in a buffer of i32");
  return success();
}

LogicalResult ScanOp::verify() {
  // scan-C1
  if (getSources().empty() || getSources().getTypes() != getResultTypes())
    return emitOpError("results have the sources' types");
  return success();
}

LogicalResult SortOp::verify() {
  // sort-C1
  if (getSources().empty() || getSources().size() > 2 ||
      getSources().getTypes() != getResultTypes())
    return emitOpError("sorts one or two tiles, results have their types");
  return success();
}

LogicalResult WarpReduceOp::verify() {
  // warp_reduce-C1
  if (getSources().empty())
    return emitOpError("needs a source");
  auto first = cast<RankedTensorType>(getSources().front().getType());
  auto partial = cast<RankedTensorType>(getResults().front().getType());
  for (auto [source, result] : llvm::zip(getSources(), getResults())) {
    auto sourceType = cast<RankedTensorType>(source.getType());
    auto resultType = cast<RankedTensorType>(result.getType());
    if (sourceType.getShape() != first.getShape() ||
        sourceType.getEncoding() != first.getEncoding())
      return emitOpError("sources differ in shape or layout");
    // warp_reduce-C2
    if (resultType.getShape() != partial.getShape() ||
        resultType.getElementType() != sourceType.getElementType())
      return emitOpError("results do not go with the sources");
  }
  SmallVector<int64_t> kept = {partial.getRank() ? partial.getDimSize(0) : 0};
  for (auto [dim, size] : llvm::enumerate(first.getShape()))
    if (!llvm::is_contained(getAxes(), int64_t(dim)))
      kept.push_back(size);
  if (partial.getShape() != ArrayRef(kept))
    return emitOpError("results do not have the shape [warps, kept dims…]");
  return success();
}

/// Shape and element type of an operand, wherever it is.
static RankedTensorType tileOf(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return RankedTensorType::get(buffer.getShape(), buffer.getElementType());
  return cast<RankedTensorType>(type);
}

LogicalResult MmaOp::verify() {
  RankedTensorType a = tileOf(getA().getType()), b = tileOf(getB().getType());
  auto acc = cast<RankedTensorType>(getAcc().getType());
  // mma-C5
  int64_t rank = acc.getRank();
  if ((rank != 2 && rank != 3) || a.getRank() != rank || b.getRank() != rank)
    return emitOpError("a, b and acc are all of rank 2 or all of rank 3");
  // mma-C6
  SmallVector<int64_t> sa(a.getShape());
  if (getATransposed()) {
    if (rank != 2 || !isa<BufferType>(getA().getType()))
      return emitOpError("only a buffer of rank 2 is taken transposed");
    std::swap(sa[0], sa[1]);
  }
  ArrayRef<int64_t> sb = b.getShape(), sc = acc.getShape();
  bool fits = sa[rank - 2] == sc[rank - 2] && sb[rank - 1] == sc[rank - 1] &&
              sa[rank - 1] == sb[rank - 2];
  if (rank == 3)
    fits &= (sa[0] == sc[0] || sa[0] == 1) && (sb[0] == sc[0] || sb[0] == 1);
  if (!fits)
    return emitOpError("dims do not fit: ") << a << " x " << b << " -> " << acc;
  // mma-C7
  if (getAtom().empty())
    return emitOpError("needs the name of an atom");
  return success();
}
