//===- Memory.cpp - loads and stores of tiles ------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: tile.load, tile.store. Out: per thread, one access for each group of registers
// that lie side by side in memory.
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
//   loads   read `pad` in constant memory instead of what does not exist: no branches,
//           all loads of a tile are issued together, nothing is selected afterwards
//   stores  are skipped by branches, unless the whole tile is inside (one uniform test;
//           not in the general build, which is kept short)
//
// Widths: up to 16 bytes, as far as the build's facts make addresses aligned. A group
// never straddles an edge when the array's rows are multiples of 16 bytes; in one dim
// it may, and then wide accesses are for tiles that are wholly inside.
//
//===------------------------------------------------------------------------===//
#include "MemoryAccess.h"

#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <map>

using namespace mlir;
using namespace tilec;

namespace tilec {

/// One access to an array, whose code is written piece by piece.
class TileAccess {
public:
  template <typename Op>
  TileAccess(Emitter &emitter, Op op, Type valueType);

  bool isScalar() const { return !layout; }
  /// Sets vectors up; `false` where every access is of one element.
  void chooseVectors();
  /// Says how wide the accesses are and which edges are checked.
  void explain(Operation *op, Value array);
  void explainRuns(Operation *op, Value array);
  /// Computes extents and addresses. Must come first.
  void prepare();

  /// i1: every element of the tile exists; null when that is known.
  Value isWhollyInside() const { return wholly; }
  /// i1: the tile exists at all, when that decides about every element; else null.
  Value uniformGuard() const { return extents.empty() ? valid : Value(); }
  bool needsChecks() const { return valid || !extents.empty(); }
  bool mayStraddle() const { return straddles; }

  /// Sets vectors up that may begin anywhere; `false` where that cannot be.
  bool chooseRuns();
  /// i1: 16 bytes around each element that exists are in the array.
  Value hasRoom();
  /// The elements (as memory holds them) of all registers, in runs.
  SmallVector<Value> readRuns();

  /// The groups of registers, with code for their addresses and guards.
  SmallVector<AccessGroup> groups(bool isChecked, bool isVector);

  unsigned alignment(const AccessGroup &group) const {
    return unsigned(elementBytes * group.registers.size());
  }

  const Layout *layoutOrNull() const { return layout ? &*layout : nullptr; }
  Type stored;

private:
  struct Dim {
    Value index;       ///< i64
    int64_t size;      ///< of the tile
    Value arraySize;   ///< i64
    Type checkedIn;    ///< the type in which the index is compared with the size
    int64_t startMultiple; ///< powers of two known to divide the first element's number
    int64_t sizeMultiple;  ///< and the array's size
    Value stride;      ///< i64
    bool fits;         ///< the index, into 32 bits
    bool isInBounds, isInnermost;
    bool mayBeginBefore; ///< the array, and reach into it
    Value extent;      ///< i32; null: every element exists if `valid`
    Value shift;       ///< i32: from a coordinate to what is compared with the extent; null: 0
    Value ownCoordinate; ///< i32, the thread's part
    uint64_t ownBits = 0;
  };

  size_t registersAlong(unsigned dim) const;
  std::string spellEdges() const;
  void checkDim(Dim &dim);
  void checkBothEnds(Dim &dim);
  Value cut(Value value, Type type);
  Value toWord(Value value) { return cut(value, word); }
  Value fromI32(Value value);
  Value number(Type type, int64_t value);
  Value emitTileAddress();
  Value addressOf(Value offset);
  Value offsetOf(uint64_t flat);
  Value guardOf(uint64_t flat);
  Value coordinate(unsigned dim, uint64_t own);

  Emitter &e;
  std::optional<Layout> layout;
  SmallVector<Dim> dims;
  bool inElements;
  bool isVectorizable, isStrided, isMutable;
  Type word;
  Value base, tileAddress, ownOffset, ownAddress, valid, wholly;
  SmallVector<unsigned> extents; ///< dims that have one, those of few places in a thread first
  SmallVector<unsigned, 4> vectorBits;
  bool straddles = false;
  int64_t elementBytes;
  std::map<std::pair<unsigned, uint64_t>, Value> coordinates, guards, cutExtents;
};

} // namespace tilec

//===------------------------------------------------------------------------===//
// Preparation
//===------------------------------------------------------------------------===//

template <typename Op>
TileAccess::TileAccess(Emitter &emitter, Op op, Type valueType)
    : e(emitter), inElements(op.getElements()) {
  const ArrayView &view = e.array(op.getArray());
  stored = storedType(view.type.getElementType());
  elementBytes = tgpu::BufferType::storedBytes(view.type.getElementType());
  base = view.base;
  word = e.isIndex32 ? e.builder.getI32Type() : e.builder.getI64Type();
  isStrided = view.type.isStrided();
  isMutable = view.type.isMut();
  auto tensor = dyn_cast<RankedTensorType>(valueType);
  if (tensor)
    layout = e.layoutOf(tensor);
  isVectorizable = tensor && !isStrided && !tile::isOfSingles(view.type);
  unsigned rank = view.type.getRank();
  for (unsigned dim = 0; dim < rank; ++dim) {
    unsigned arrayDim = unsigned(op.getArrayDim(dim));
    Dim info;
    info.index = e.toI64(e.get(op.getIndex()[dim]));
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
    dims.push_back(info);
  }
}

/// How wide an access may be, from facts about the array and the start of the tile.
void TileAccess::chooseVectors() {
  if (!isVectorizable || !e.isAligned16)
    return;
  for (auto [number, dim] : llvm::enumerate(dims)) {
    if (!dim.isInnermost)
      continue;
    int64_t most = std::min(16 / elementBytes, dim.startMultiple);
    SmallVector<unsigned, 4> bits = layout->vectorRegisters(unsigned(number));
    while (!bits.empty() && (int64_t(1) << bits.size()) > most)
      bits.pop_back();
    vectorBits = bits;
    // Rows of a matrix are multiples of 16 bytes; a single row ends anywhere.
    int64_t width = int64_t(1) << bits.size();
    bool isMultiple = dims.size() > 1 || dim.sizeMultiple % width == 0;
    straddles = width > 1 && !isMultiple;
  }
}

void TileAccess::explain(Operation *op, Value array) {
  if (isScalar() || !wantsRemarks(op))
    return;
  int64_t width = elementBytes << vectorBits.size();
  std::string why;
  for (const Dim &dim : dims) {
    if (dim.isInnermost && dim.startMultiple * elementBytes <= width)
      why = "tiles begin at multiples of " + spellBytes(dim.startMultiple * elementBytes);
    else if (dim.isInnermost)
      why = "a thread has no more neighbours";
  }
  if (!e.isAligned16)
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

void TileAccess::explainRuns(Operation *op, Value array) {
  if (wantsRemarks(op))
    remarkMissed(op, "lower-to-simt",
                 "threads take each 16 bytes of {0} out of two accesses: nothing is known of the "
                 "array's alignment; {1}",
                 spellArray(array), spellEdges());
}

std::string TileAccess::spellEdges() const {
  std::string checked;
  for (auto [number, dim] : llvm::enumerate(dims))
    if (!dim.isInBounds)
      checked += (checked.empty() ? "" : ", ") + std::to_string(number);
  return checked.empty() ? "no edge has to be checked" : "edges are checked in dim " + checked;
}

/// `value` (i64) cut to `type`.
Value TileAccess::cut(Value value, Type type) {
  if (value.getType() == type)
    return value;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return number(type, int32_t(constant.getSExtValue()));
  return arith::TruncIOp::create(e.builder, e.loc, type, value);
}

/// `value` (i32, not negative) as a word.
Value TileAccess::fromI32(Value value) {
  if (e.isIndex32)
    return value;
  return arith::ExtUIOp::create(e.builder, e.loc, word, value);
}

Value TileAccess::number(Type type, int64_t value) {
  return type.isInteger(32) ? e.i32(value) : e.i64(value);
}

/// The address of the tile's first element, which need not exist.
Value TileAccess::emitTileAddress() {
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
Value TileAccess::addressOf(Value offset) {
  OpBuilder &b = e.builder;
  if (offset.getType().isInteger(32)) {
    if (isStrided) // strides may be negative
      offset = arith::ExtSIOp::create(b, e.loc, b.getI64Type(), offset);
    else
      offset = arith::ExtUIOp::create(b, e.loc, b.getI64Type(), offset);
  }
  return LLVM::GEPOp::create(b, e.loc, base.getType(), stored, tileAddress,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// Bits of the register's number that move along `dim` from one access to the next.
size_t TileAccess::registersAlong(unsigned dim) const {
  size_t count = 0;
  for (auto [bit, basis] : llvm::enumerate(layout->bases(Input::Register)))
    count += layout->field(basis, dim) && !llvm::is_contained(vectorBits, unsigned(bit));
  return count;
}

/// How much of the tile exists where it may begin before the array.
void TileAccess::checkBothEnds(Dim &dim) {
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
void TileAccess::checkDim(Dim &dim) {
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

void TileAccess::prepare() {
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
Value TileAccess::coordinate(unsigned number, uint64_t own) {
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
Value TileAccess::guardOf(uint64_t flat) {
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

/// The address of the element whose register part is `flat`.
Value TileAccess::offsetOf(uint64_t flat) {
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

SmallVector<AccessGroup> TileAccess::groups(bool isChecked, bool isVector) {
  SmallVector<AccessGroup> result;
  if (!layout) {
    result.push_back({{0}, ownAddress, isChecked ? valid : Value()});
    return result;
  }
  coordinates.clear(); // what was emitted elsewhere need not dominate
  guards.clear();
  cutExtents.clear();
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

//===------------------------------------------------------------------------===//
// Runs that may begin anywhere
//===------------------------------------------------------------------------===//

bool TileAccess::chooseRuns() {
  if (!isVectorizable || e.isAligned16 || isMutable || elementBytes > 2)
    return false;
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

Value TileAccess::hasRoom() {
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

SmallVector<Value> TileAccess::readRuns() {
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

bool Emitter::hasRuns(tile::LoadOp op) {
  if (!isa<RankedTensorType>(op.getType()))
    return false;
  TileAccess access(*this, op, op.getType());
  auto pad = storedPad(op.getPadValue(), access.stored);
  bool isZero = isa<FloatAttr>(pad) ? cast<FloatAttr>(pad).getValue().isPosZero()
                                    : cast<IntegerAttr>(pad).getValue().isZero();
  return isZero && access.chooseRuns();
}

Value Emitter::emitHasRoom(tile::LoadOp op) {
  TileAccess access(*this, op, op.getType());
  access.explainRuns(op, op.getArray());
  return access.hasRoom();
}

Value Emitter::emitLoaded(tile::LoadOp op, bool inRuns) {
  TileAccess access(*this, op, op.getType());
  if (inRuns)
    access.chooseRuns();
  access.prepare();
  if (inRuns)
    return fromElements(access.readRuns());
  TypedAttr pad = storedPad(op.getPadValue(), access.stored);
  return fromElements(emitGroupLoads(builder, loc, access.groups(access.needsChecks(), false),
                                     access.stored, access.layoutOrNull(), pad));
}

//===------------------------------------------------------------------------===//
// tile.load
//===------------------------------------------------------------------------===//

LogicalResult Emitter::emitLoad(tile::LoadOp op) {
  TileAccess access(*this, op, op.getType());
  access.chooseVectors();
  access.explain(op, op.getArray());
  access.prepare();
  Type element = op.getArray().getType().getElementType();
  TypedAttr pad = storedPad(op.getPadValue(), access.stored);
  uint64_t count = access.isScalar() ? 1 : access.layoutOrNull()->size(Input::Register);

  auto read = [&](OpBuilder &body, bool isChecked, bool isVector) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(body.getInsertionBlock(), body.getInsertionPoint());
    return emitGroupLoads(builder, loc, access.groups(isChecked, isVector), access.stored,
                          access.layoutOrNull(), pad);
  };
  SmallVector<Value> elements;
  if (access.mayStraddle() && access.isWhollyInside()) {
    // Whole tiles wide; the last one element by element.
    auto type = VectorType::get(int64_t(count), access.stored);
    auto branch = scf::IfOp::create(
        builder, loc, access.isWhollyInside(),
        [&](OpBuilder &body, Location) {
          auto wide = vector::FromElementsOp::create(body, loc, type, read(body, false, true));
          scf::YieldOp::create(body, loc, ValueRange(wide));
        },
        [&](OpBuilder &body, Location) {
          auto narrow =
              vector::FromElementsOp::create(body, loc, type, read(body, true, false));
          scf::YieldOp::create(body, loc, ValueRange(narrow));
        });
    set(op, emitFromStored(builder, loc, branch.getResult(0), element));
    return success();
  }
  elements = read(builder, access.needsChecks(), true);
  Value stored = access.isScalar() ? elements[0] : fromElements(elements);
  set(op, emitFromStored(builder, loc, stored, element));
  return success();
}

//===------------------------------------------------------------------------===//
// tile.store
//===------------------------------------------------------------------------===//

Value Emitter::emitIsWriter(const Layout *layout) {
  if (layout)
    return emitIsFirstCopy(builder, loc, *layout, thread);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, thread, i32(0));
}

LogicalResult Emitter::emitStore(tile::StoreOp op) {
  TileAccess access(*this, op, op.getValue().getType());
  access.chooseVectors();
  access.explain(op, op.getArray());
  access.prepare();
  Type element = op.getArray().getType().getElementType();
  Value value = emitToStored(builder, loc, get(op.getValue()), element);

  auto write = [&](bool isChecked, bool isVector) {
    for (AccessGroup &group : access.groups(isChecked, isVector)) {
      Value stored = value;
      if (!access.isScalar())
        stored = group.registers.size() == 1
                     ? extract(value, group.registers[0])
                     : emitShuffle(builder, loc, value, group.registers);
      emitUnder(group.guard, [&] {
        LLVM::StoreOp::create(builder, loc, stored, group.address, access.alignment(group));
      });
    }
  };

  // One thread writes each element.
  emitUnder(emitIsWriter(access.layoutOrNull()), [&] {
    if (Value guard = access.uniformGuard()) {
      emitUnder(guard, [&] { write(false, true); });
    } else if (access.needsChecks() && !isAligned16) {
      write(true, false); // short code: it is the build that is seldom taken
    } else if (access.needsChecks()) {
      emitUnder(
          access.isWhollyInside(), [&] { write(false, true); },
          [&] { write(true, !access.mayStraddle()); });
    } else {
      write(false, true);
    }
  });
  return success();
}
