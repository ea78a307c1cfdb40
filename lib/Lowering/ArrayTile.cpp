//===- ArrayTile.cpp - where a thread's part of a tile lies ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a tile of an array, and how it is laid out over threads. Out: per thread, the groups of
// registers that lie side by side in memory, their addresses and guards.
//
// Where an element lies: base + sum over dims of (start + coordinate) * stride. The
// start is uniform, and its part of the sum has 64 bits: a pointer that loops advance.
// The coordinate is the thread's part plus the register's; its part of the sum is a word
// of 64 bits, or of 32 in a build where tiles reach over fewer than 2^31 elements.
//
// Edges: along each dim that is not known to be inside, the block computes once how
// many elements of the tile exist (`extent`, i32, 0 when nothing does, where `start` may
// have overflowed). An element exists when its coordinate is below the extent in every
// dim. Where indices count elements and may be negative, the first elements of the tile may
// be missing: coordinates are then counted from the first that exists, or, where the array's
// sizes fit into 32 bits, from the array's first element. So no check of a thread is wider
// than 32 bits; the block's test of an index is, where the index may not fit.
//
// Widths: up to 16 bytes, as far as the build's facts make addresses aligned. A group
// never straddles an edge when the array's rows are multiples of 16 bytes; in one dim
// it may, and then wide accesses are for tiles that are wholly inside.
//
// Rows that begin anywhere (RotateRows): pieces of 16 bytes straddle both ends of the row. Those
// of which an element exists are read whole, as the array has them whole, and padding is selected
// element by element; those of which all exist are written whole, others by elements.
//
//===------------------------------------------------------------------------===//
#include "ArrayTile.h"

#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Tile/Accesses.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;

//===------------------------------------------------------------------------===//
// Preparation
//===------------------------------------------------------------------------===//

template <typename Op>
ArrayTile::ArrayTile(Emitter &emitter, Op op, Type valueType)
    : e(emitter), inElements(op.getElements()) {
  const ArrayView &view = e.array(op.getArray());
  stored = storedType(view.type.getElementType());
  elementBytes = tgpu::BufferType::storedBytes(view.type.getElementType());
  array = op.getArray();
  base = view.base;
  word = e.isIndex32 ? e.builder.getI32Type() : e.builder.getI64Type();
  isStrided = view.type.isStrided();
  hasStrides = view.type.hasStrides();
  auto tensor = dyn_cast<RankedTensorType>(valueType);
  if (tensor)
    layout = e.layoutOf(tensor);
  isVectorizable = tensor && !isStrided && !tile::isOfSingles(view.type);
  inPieces = isVectorizable && e.hasWholePieces && op->hasAttr(tile::beginsAtPieceAttr);
  unsigned rank = view.type.getRank();
  for (unsigned dim = 0; dim < rank; ++dim) {
    unsigned arrayDim = unsigned(op.getArrayDim(dim));
    Dim info;
    info.index = e.toI64(e.get(op.getIndex()[dim]));
    info.place = takeOffset(op.getIndex()[dim]);
    info.arrayDim = int64_t(arrayDim);
    IndexRange range = e.facts.rangeOf(op.getIndex()[dim], op);
    info.fits = range.min >= INT32_MIN && range.max <= INT32_MAX;
    info.size = tensor ? tensor.getDimSize(dim) : 1;
    info.mayBeginBefore = inElements && info.size > 1 && range.min < 0;
    info.checkedIn = info.fits && !info.mayBeginBefore ? word : Type(e.builder.getI64Type());
    info.arraySize = view.dims[arrayDim];
    info.startMultiple = e.facts.startMultiple(op, dim);
    info.sizeMultiple = e.facts.dimMultiple(op.getArray(), arrayDim);
    info.stride = view.strides[arrayDim];
    info.isInBounds = op.isInBounds(dim);
    info.isInnermost = arrayDim == rank - 1;
    inPieces &= info.isInnermost ? info.mayBeginBefore && !info.isInBounds : info.size == 1;
    dims.push_back(info);
  }
}

template ArrayTile::ArrayTile(Emitter &, tile::LoadOp, Type);
template ArrayTile::ArrayTile(Emitter &, tile::StoreOp, Type);

/// How wide an access may be, from facts about the array and the start of the tile.
void ArrayTile::chooseVectors() {
  if (!isVectorizable || !(e.isAligned16 || inPieces))
    return;
  for (auto [number, dim] : llvm::enumerate(dims)) {
    if (!dim.isInnermost)
      continue;
    int64_t most = 16 / elementBytes;
    if (!inPieces)
      most = std::min(most, dim.startMultiple);
    SmallVector<unsigned, 4> bits = layout->vectorRegisters(unsigned(number));
    while (!bits.empty() && (int64_t(1) << bits.size()) > most)
      bits.pop_back();
    vectorBits = bits;
    // Rows of a matrix are multiples of 16 bytes; a single row ends anywhere.
    int64_t width = int64_t(1) << bits.size();
    bool isMultiple = dims.size() > 1 || dim.sizeMultiple % width == 0;
    straddles = width > 1 && !isMultiple;
    inPieces &= width > 1;
  }
}

void ArrayTile::explain(Operation *op, Value array) {
  if (isScalar() || !wantsRemarks(op))
    return;
  int64_t width = elementBytes << vectorBits.size();
  std::string why;
  for (const Dim &dim : dims) {
    if (dim.isInnermost && !inPieces && dim.startMultiple * elementBytes <= width)
      why = "tiles begin at multiples of " + spellBytes(dim.startMultiple * elementBytes);
    else if (dim.isInnermost)
      why = "a thread has no more neighbours";
  }
  if (!e.isAligned16 && !inPieces)
    why = "nothing is known of the array's alignment";
  else if (isStrided)
    why = "the array is strided";
  if (width >= 16)
    remarkChoice(op, "lower-to-simt", "threads access {0} {1} at a time; {2}", spellArray(array),
                 spellBytes(width), spellEdges());
  else
    remarkMissed(op, "lower-to-simt", "threads access {0} no more than {1} at a time: {2}; {3}",
                 spellArray(array), spellBytes(width), why, spellEdges());
}

void ArrayTile::explainRuns(Operation *op, Value array) {
  if (wantsRemarks(op))
    remarkMissed(op, "lower-to-simt",
                 "threads take each 16 bytes of {0} out of two accesses: nothing is known of the "
                 "array's alignment; {1}",
                 spellArray(array), spellEdges());
}

std::string ArrayTile::spellEdges() const {
  std::string checked;
  for (auto [number, dim] : llvm::enumerate(dims))
    if (!dim.isInBounds)
      checked += (checked.empty() ? "" : ", ") + std::to_string(number);
  return checked.empty() ? "no edge has to be checked" : "edges are checked in dim " + checked;
}

/// `value` (i64) cut to `type`.
Value ArrayTile::cut(Value value, Type type) {
  if (value.getType() == type)
    return value;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return number(type, int32_t(constant.getSExtValue()));
  return arith::TruncIOp::create(e.builder, e.loc, type, value);
}

/// `value` (i32, not negative) as a word.
Value ArrayTile::fromI32(Value value) {
  if (e.isIndex32)
    return value;
  return arith::ExtUIOp::create(e.builder, e.loc, word, value);
}

Value ArrayTile::number(Type type, int64_t value) {
  return type.isInteger(32) ? e.i32(value) : e.i64(value);
}

/// The address of the tile's first element, which need not exist.
Value ArrayTile::emitTileAddress() {
  OpBuilder &b = e.builder;
  Value offset;
  for (Dim &dim : dims) {
    unsigned log = llvm::Log2_64(uint64_t(dim.size));
    Value start = dim.index;
    if (!inElements && log)
      start = arith::ShLIOp::create(b, e.loc, start, e.i64(log));
    if (!matchPattern(dim.stride, m_One()))
      start = arith::MulIOp::create(b, e.loc, start, dim.stride);
    offset = offset ? arith::AddIOp::create(b, e.loc, offset, start).getResult() : start;
  }
  return LLVM::GEPOp::create(b, e.loc, base.getType(), stored, base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// The address of the element `offset` (a word) elements from the tile's first.
Value ArrayTile::addressOf(Value offset) {
  OpBuilder &b = e.builder;
  if (offset.getType().isInteger(32)) {
    if (hasStrides) // which may be negative
      offset = arith::ExtSIOp::create(b, e.loc, b.getI64Type(), offset);
    else
      offset = arith::ExtUIOp::create(b, e.loc, b.getI64Type(), offset);
  }
  return LLVM::GEPOp::create(b, e.loc, base.getType(), stored, tileAddress,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// Bits of the register's number that move along `dim` from one access to the next.
size_t ArrayTile::registersAlong(unsigned dim) const {
  size_t count = 0;
  for (auto [bit, basis] : llvm::enumerate(layout->bases(Input::Register)))
    count += layout->field(basis, dim) && !llvm::is_contained(vectorBits, unsigned(bit));
  return count;
}

/// How much of the tile exists where it may begin before the array.
void ArrayTile::checkBothEnds(Dim &dim) {
  OpBuilder &b = e.builder;
  Location loc = e.loc;
  auto [shift, count] = emitExistingPart(b, loc, dim.index, dim.arraySize, dim.size,
                                         {dim.fits, e.isIndex32});
  Value last = arith::SubIOp::create(b, loc, count, e.i32(dim.size));
  auto atMost = [&](Value low, Value high) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, low, high);
  };
  Value isWhole =
      arith::AndIOp::create(b, loc, atMost(e.i32(0), shift), atMost(shift, last));
  wholly = wholly ? arith::AndIOp::create(b, loc, wholly, isWhole).getResult() : isWhole;
  dim.shift = shift;
  dim.extent = count;
}

/// Finds out how much of the tile exists along `dim`.
void ArrayTile::checkDim(Dim &dim) {
  OpBuilder &b = e.builder;
  Location loc = e.loc;
  auto andOf = [&](Value a, Value c) -> Value {
    return a ? arith::AndIOp::create(b, loc, a, c).getResult() : c;
  };
  if (dim.isInBounds)
    return;
  if (dim.mayBeginBefore)
    return checkBothEnds(dim);
  unsigned log = llvm::Log2_64(uint64_t(dim.size));
  Value index = cut(dim.index, dim.checkedIn), size = cut(dim.arraySize, dim.checkedIn);
  // Tiles (or elements) that begin inside; unsigned, so that negative is outside.
  Value limit = size;
  if (!inElements && log) {
    limit = arith::AddIOp::create(b, loc, limit, number(dim.checkedIn, dim.size - 1));
    limit = arith::ShRUIOp::create(b, loc, limit, number(dim.checkedIn, log));
  }
  Value begins = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, limit);
  valid = andOf(valid, begins);
  bool isWhole = dim.size == 1 || (!inElements && dim.sizeMultiple % dim.size == 0);
  if (isWhole) {
    wholly = andOf(wholly, begins);
    return;
  }
  Value start = index;
  if (!inElements && log)
    start = arith::ShLIOp::create(b, loc, index, number(dim.checkedIn, log));
  Value rest = arith::SubIOp::create(b, loc, size, start);
  Value whole = number(dim.checkedIn, dim.size);
  Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, rest, whole);
  wholly = andOf(wholly, arith::AndIOp::create(b, loc, begins, fits));
  dim.extent = cut(arith::SelectOp::create(b, loc, fits, whole, rest), b.getI32Type());
}

void ArrayTile::prepare() {
  OpBuilder &b = e.builder;
  Location loc = e.loc;
  for (Dim &dim : dims)
    checkDim(dim);
  for (auto [number, dim] : llvm::enumerate(dims))
    if (dim.extent)
      extents.push_back(unsigned(number));
  if (layout)
    llvm::stable_sort(extents, [&](unsigned a, unsigned b) {
      return registersAlong(a) < registersAlong(b);
    });
  // What begins outside has no elements: folded into one of the extents.
  if (!extents.empty() && valid) {
    Value &extent = dims[extents.front()].extent;
    extent = arith::SelectOp::create(b, loc, valid, extent, e.i32(0));
  }

  // Every thread's own part of the address.
  auto add = [&](Value term) {
    ownOffset = ownOffset ? arith::AddIOp::create(b, loc, ownOffset, term).getResult() : term;
  };
  for (auto [number, dim] : llvm::enumerate(dims)) {
    if (!layout)
      break;
    LinearBases bases;
    for (uint64_t basis : threadBases(*layout))
      bases.push_back(layout->field(basis, unsigned(number)));
    dim.ownBits = reachableBits(bases);
    uint64_t registerBits = 0;
    for (uint64_t basis : layout->bases(Input::Register))
      registerBits |= layout->field(basis, unsigned(number));
    if (dim.ownBits)
      dim.ownCoordinate = emitLinear(b, loc, e.thread, bases);
    if (!dim.ownCoordinate || (dim.ownBits & registerBits))
      continue;
    Value coordinate = fromI32(dim.ownCoordinate);
    if (matchPattern(dim.stride, m_One()))
      add(coordinate);
    else
      add(arith::MulIOp::create(b, loc, coordinate, toWord(dim.stride)));
  }
  tileAddress = emitTileAddress();
  ownAddress = ownOffset ? addressOf(ownOffset) : tileAddress;
}

//===------------------------------------------------------------------------===//
// One access
//===------------------------------------------------------------------------===//

/// The coordinate (i32) along `dim` of the thread's element whose register part is
/// `own`.
Value ArrayTile::coordinate(unsigned number, uint64_t own) {
  Value &value = coordinates[{number, own}];
  if (!value) {
    const Dim &dim = dims[number];
    value = dim.ownCoordinate
                ? emitXor(e.builder, e.loc, dim.ownCoordinate, dim.ownBits, own)
                : e.i32(int64_t(own));
  }
  return value;
}

/// i1: the element exists along all dims; null when nothing has to be checked. Dims nest:
/// where the element does not exist along the ones before, the extent along the next is 0.
/// So an element takes one comparison; `and` of one for each dim would become as many
/// selections of its address. A dim along which all elements of a thread have one place comes
/// first: what it decides is decided once.
Value ArrayTile::guardOf(uint64_t flat) {
  if (extents.empty())
    return valid;
  OpBuilder &b = e.builder;
  Value outer;
  uint64_t reached = 0; // coordinates of the dims so far
  for (unsigned number : extents) {
    const Dim &dim = dims[number];
    uint64_t own = layout->field(flat, number);
    Value extent = dim.extent;
    if (outer) {
      Value &cutExtent = cutExtents[{number, reached}];
      if (!cutExtent)
        cutExtent = arith::SelectOp::create(b, e.loc, outer, extent, e.i32(0));
      extent = cutExtent;
    }
    reached |= flat & layout->fieldMask(number);
    Value &guard = guards[{number, reached}];
    if (!guard && inPieces && dim.isInnermost)
      guard = existsInPiece(number, own, extent);
    if (!guard) {
      Value place = coordinate(number, own);
      if (dim.shift)
        place = arith::AddIOp::create(b, e.loc, place, dim.shift);
      guard = arith::CmpIOp::create(
          b, e.loc, dim.shift ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, place, extent);
    }
    outer = guard;
  }
  return outer;
}

/// i1: the element of a piece exists, where the row does not begin in it or behind it; null where
/// it may. Neighbours compare how much of the row there is from their piece on with constants.
Value ArrayTile::existsInPiece(unsigned number, uint64_t own, Value extent) {
  constexpr uint64_t mostAhead = 16; // elements between a piece's begin and the row's, less one
  uint64_t place = own & ((uint64_t(1) << vectorBits.size()) - 1);
  if (own < mostAhead || (own & dims[number].ownBits))
    return {};
  Value &rest = rests[own - place];
  if (!rest) {
    Value begin = coordinate(number, own - place);
    begin = arith::AddIOp::create(e.builder, e.loc, begin, dims[number].shift);
    rest = arith::SubIOp::create(e.builder, e.loc, extent, begin);
  }
  return arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::sgt, rest,
                               e.i32(int64_t(place)));
}

/// The address of the element whose register part is `flat`.
Value ArrayTile::offsetOf(uint64_t flat) {
  OpBuilder &b = e.builder;
  Location loc = e.loc;
  Value dynamic;
  int64_t constant = 0;
  for (auto [number, dim] : llvm::enumerate(dims)) {
    uint64_t own = layout->field(flat, unsigned(number));
    uint64_t registerBits = 0;
    for (uint64_t basis : layout->bases(Input::Register))
      registerBits |= layout->field(basis, unsigned(number));
    bool isApart = !(dim.ownBits & registerBits);
    APInt stride;
    if (isApart && matchPattern(dim.stride, m_ConstantInt(&stride))) {
      constant += int64_t(own) * stride.getSExtValue();
      continue;
    }
    if (isApart && !own)
      continue;
    Value steps = isApart ? this->number(word, int64_t(own))
                          : fromI32(coordinate(unsigned(number), own));
    Value term = arith::MulIOp::create(b, loc, steps, toWord(dim.stride));
    dynamic = dynamic ? arith::AddIOp::create(b, loc, dynamic, term).getResult() : term;
  }
  Value address = ownAddress;
  if (dynamic)
    address = addressOf(
        ownOffset ? arith::AddIOp::create(b, loc, ownOffset, dynamic).getResult() : dynamic);
  if (constant >= INT32_MIN && constant <= INT32_MAX) {
    if (constant)
      address = LLVM::GEPOp::create(b, loc, address.getType(), stored, address,
                                    ArrayRef<LLVM::GEPArg>{int32_t(constant)});
    return address;
  }
  return LLVM::GEPOp::create(b, loc, address.getType(), stored, address,
                             ArrayRef<LLVM::GEPArg>{e.i64(constant)});
}

SmallVector<AccessGroup> ArrayTile::groups(bool isChecked, bool isVector) {
  SmallVector<AccessGroup> result;
  if (!layout) {
    result.push_back({{0}, ownAddress, isChecked ? valid : Value()});
    return result;
  }
  forget();
  result = groupRegisters(*layout, isVector ? ArrayRef<unsigned>(vectorBits)
                                            : ArrayRef<unsigned>());
  for (AccessGroup &group : result) {
    uint64_t flat =
        layout->applyFlat(Position::thread(uint64_t(group.registers.front()), 0));
    group.address = offsetOf(flat);
    if (isChecked)
      group.guard = guardOf(flat);
  }
  return result;
}

SmallVector<ElementPlace> ArrayTile::placesOf(const AccessGroup &group, Attribute pad) const {
  bool isWritten = cast<tile::ArrayType>(array.getType()).isMut() || e.kernel.getArraysOverlap();
  if (!layout || !inElements || isWritten || inPieces || straddles)
    return {};
  auto number = [](const void *pointer) { return int64_t(reinterpret_cast<intptr_t>(pointer)); };
  // What all elements of the thread have in common.
  ElementPlace common{number(array.getAsOpaquePointer()), number(pad.getAsOpaquePointer())};
  uint64_t registerBits = 0;
  for (uint64_t basis : layout->bases(Input::Register))
    registerBits |= basis;
  for (auto [dim, info] : llvm::enumerate(dims)) {
    if (info.ownBits & layout->field(registerBits, unsigned(dim)))
      return {};
    common.push_back(info.arrayDim);
    common.push_back(number(info.place.base.getAsOpaquePointer()));
    for (uint64_t basis : threadBases(*layout))
      common.push_back(int64_t(layout->field(basis, unsigned(dim))));
  }
  SmallVector<ElementPlace> places;
  for (int64_t element : group.registers) {
    ElementPlace &place = places.emplace_back(common);
    for (auto [dim, info] : llvm::enumerate(dims))
      place.push_back(info.place.offset + int64_t(layout->field(flatOf(element), unsigned(dim))));
  }
  return places;
}

//===------------------------------------------------------------------------===//
// Pieces at the ends of rows
//===------------------------------------------------------------------------===//

/// i1: the place of the group's first element, `ahead` further, is below the number of elements
/// that exist and `more`; nothing is where none exists.
Value ArrayTile::existsBelow(const AccessGroup &group, int64_t ahead, int64_t more) {
  OpBuilder &b = e.builder;
  Value all;
  for (unsigned number : extents) {
    const Dim &dim = dims[number];
    Value limit = arith::AddIOp::create(b, e.loc, dim.extent, e.i32(more));
    Value isAny = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::sgt, dim.extent,
                                        e.i32(std::max<int64_t>(0, -more)));
    limit = arith::SelectOp::create(b, e.loc, isAny, limit, e.i32(0));
    Value place = coordinate(number, layout->field(flatOf(group.registers.front()), number));
    place = arith::AddIOp::create(b, e.loc, place, dim.shift);
    if (ahead)
      place = arith::AddIOp::create(b, e.loc, place, e.i32(ahead));
    Value exists = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::ult, place, limit);
    all = all ? arith::AndIOp::create(b, e.loc, all, exists).getResult() : exists;
  }
  return all;
}

Value ArrayTile::someExist(const AccessGroup &group) {
  auto others = int64_t(group.registers.size()) - 1;
  return existsBelow(group, others, others);
}

Value ArrayTile::allExist(const AccessGroup &group) {
  return existsBelow(group, 0, 1 - int64_t(group.registers.size()));
}

SmallVector<AccessGroup> ArrayTile::elementsOf(const AccessGroup &group) {
  forget();
  SmallVector<AccessGroup> result;
  for (int64_t number : group.registers)
    result.push_back({{number}, offsetOf(flatOf(number)), guardOf(flatOf(number))});
  forget();
  return result;
}

SmallVector<Value> ArrayTile::readPieces(TypedAttr pad) {
  OpBuilder &b = e.builder;
  SmallVector<AccessGroup> all = groups(/*isChecked=*/false, /*isVector=*/true);
  for (AccessGroup &group : all)
    group.guard = someExist(group);
  SmallVector<Value> elements = emitGroupLoads(b, e.loc, all, stored, &*layout, pad);
  Value padding = arith::ConstantOp::create(b, e.loc, pad);
  for (auto [number, element] : llvm::enumerate(elements))
    element = arith::SelectOp::create(b, e.loc, guardOf(flatOf(int64_t(number))), element, padding);
  return elements;
}

//===------------------------------------------------------------------------===//
// Runs that may begin anywhere
//===------------------------------------------------------------------------===//

bool ArrayTile::chooseRuns() {
  for (auto [number, dim] : llvm::enumerate(dims)) {
    if (dim.mayBeginBefore)
      return false;
    if (!dim.isInnermost)
      continue;
    vectorBits = layout->vectorRegisters(unsigned(number));
    while (elementBytes << vectorBits.size() > 16)
      vectorBits.pop_back();
  }
  return elementBytes << vectorBits.size() == 16;
}

Value ArrayTile::hasRoom() {
  OpBuilder &b = e.builder;
  Value first = e.i64(0), last = e.i64(0), total = e.i64(0);
  auto addTo = [&](Value &sum, Value steps, const Dim &dim) {
    steps = arith::MulIOp::create(b, e.loc, steps, dim.stride);
    sum = arith::AddIOp::create(b, e.loc, sum, steps);
  };
  for (Dim &dim : dims) {
    Value start = dim.index;
    if (!inElements)
      start = arith::MulIOp::create(b, e.loc, start, e.i64(dim.size));
    Value arrayLast = arith::SubIOp::create(b, e.loc, dim.arraySize, e.i64(1));
    Value end = arith::AddIOp::create(b, e.loc, start, e.i64(dim.size - 1));
    addTo(first, start, dim);
    addTo(last, arith::MinSIOp::create(b, e.loc, end, arrayLast), dim);
    addTo(total, arrayLast, dim);
  }
  Value around = e.i64(16 / elementBytes);
  Value hasFront = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::sge, first, around);
  Value behind = arith::AddIOp::create(b, e.loc, last, around);
  Value hasBack = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::sle, behind, total);
  return arith::AndIOp::create(b, e.loc, hasFront, hasBack);
}

SmallVector<Value> ArrayTile::readRuns() {
  OpBuilder &b = e.builder;
  SmallVector<Value> elements(layout->size(Input::Register)), words;
  SmallVector<AccessGroup> all = groups(/*isChecked=*/false, /*isVector=*/true);
  for (AccessGroup &group : all) {
    uint64_t flat = layout->applyFlat(Position::thread(uint64_t(group.registers.front()), 0));
    Value exists = extents.empty() ? valid : Value(), count;
    for (unsigned number : extents) {
      Value place = coordinate(number, layout->field(flat, number));
      Value rest = arith::SubIOp::create(b, e.loc, dims[number].extent, place);
      Value isInside =
          arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::sgt, rest, e.i32(0));
      exists = exists ? arith::AndIOp::create(b, e.loc, exists, isInside).getResult() : isInside;
      if (dims[number].isInnermost)
        count = rest;
    }
    words.push_back(emitRun(b, e.loc, group.address, exists, count, elementBytes));
  }
  auto type = VectorType::get(16 / elementBytes, stored);
  for (auto [group, run] : llvm::zip_equal(all, words)) {
    Value parts = LLVM::BitcastOp::create(b, e.loc, type, run);
    auto list = vector::ToElementsOp::create(b, e.loc, parts);
    for (auto [number, part] : llvm::zip_equal(group.registers, list.getResults()))
      elements[number] = part;
  }
  fillCopies(elements, *layout);
  return elements;
}
