//===- Slices.cpp - parts of tiles, by place and by index ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A slice starts at a multiple of its size, so the high bits of an element's row-major
// number say to which slice it belongs. `emitSliceNumber` puts a runtime index into the
// same bits: to be in the slice is then to be equal to it under a mask.
//
//   extract   registers that each thread has; selected at run time where the index is not
//             known; one element from another lane. StageOperands has brought the rest
//             to shared memory (store_slice, load)
//   cat       every thread has what it had of the parts
//   insert    elements in the slice are selected from it
//   flip      reversing an axis flips all bits of the coordinate, so each element is at
//             the place of its partner XOR a constant: registers are renamed, lanes
//             exchange, warps exchange
//   take      an address for each element
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Analysis/SlicePlan.h"
#include "tilec/Atoms/ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

using namespace mlir;
using namespace tilec;

/// The numbers of the elements in a thread's registers, but for the thread's part.
static SmallVector<uint64_t> registerNumbers(const Layout &layout) {
  SmallVector<uint64_t> flats;
  for (uint64_t number = 0; number < layout.size(Input::Register); ++number)
    flats.push_back(layout.applyFlat(Position::thread(number, 0)));
  return flats;
}

/// Where the bits of row-major numbers live: bases of `input` numbers by element bit.
static LinearBases homesOf(const Layout &layout, Input input) {
  LinearBases homes;
  for (unsigned bit = 0; bit < layout.numOutputBits(); ++bit)
    homes.push_back(layout.find(uint64_t(1) << bit)[input]);
  return homes;
}

/// The index as bits of a row-major number of the whole tile; -1 outside.
Value Emitter::emitSliceNumber(ValueRange index, ArrayRef<int64_t> whole,
                               ArrayRef<int64_t> slice) {
  Layout shape(whole);
  Value number = i32(0), isInside;
  for (auto [dim, value] : llvm::enumerate(index)) {
    Value at = toI64(get(value));
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at,
                                         i64(whole[dim] / slice[dim]));
    isInside = isInside ? arith::AndIOp::create(builder, loc, isInside, inside) : inside;
    Value bits = arith::TruncIOp::create(builder, loc, builder.getI32Type(), at);
    int64_t shift = shape.fieldShift(dim) + llvm::Log2_64(uint64_t(slice[dim]));
    bits = arith::ShLIOp::create(builder, loc, bits, i32(shift));
    number = arith::OrIOp::create(builder, loc, number, bits);
  }
  return isInside ? arith::SelectOp::create(builder, loc, isInside, number, i32(-1)).getResult()
                  : number;
}

//===------------------------------------------------------------------------===//
// extract and cat
//===------------------------------------------------------------------------===//

LogicalResult Emitter::emitExtract(tile::ExtractOp op) {
  auto sourceType = op.getSource().getType();
  Layout source = tile::getLayout(sourceType);
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!extractsWithinWarp(op))
    return op.emitError("this slice needs shared memory: run --tile-stage-operands first");
  Layout::Shape shape = extractedShape(op);
  Value whole = get(op.getSource());
  std::optional<Layout::Coords> start = constantStart(op);
  if (type && start) {
    auto registers = registersOfSlice(source, tile::getLayout(type), *start);
    set(op, emitShuffle(builder, loc, whole, *registers));
    return success();
  }
  Value number = emitSliceNumber(op.getIndex(), source.shape(), shape);
  if (!type) {
    set(op, emitElementOfWarp(whole, source, number));
    return success();
  }
  // Slice by slice: a thread has the same registers of each.
  Layout result = tile::getLayout(type);
  Value value = zero(lowerType(type));
  Layout::Coords place(source.rank(), 0);
  for (int64_t slice = 0, e = source.numElements() / result.numElements(); slice < e; ++slice) {
    auto registers = registersOfSlice(source, result, place);
    Value isHere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number,
                                         i32(int64_t(source.flatten(place))));
    value = arith::SelectOp::create(builder, loc, isHere,
                                    emitShuffle(builder, loc, whole, *registers), value);
    for (unsigned dim = source.rank(); dim-- > 0;) {
      place[dim] += shape[dim];
      if (place[dim] < source.shape()[dim])
        break;
      place[dim] = 0;
    }
  }
  set(op, value);
  return success();
}

/// Element `number` (i32) of a tile of which each warp has every element; 0 for -1.
Value Emitter::emitElementOfWarp(Value tile, const Layout &layout, Value number) {
  Value isInside =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, number, i32(0));
  // Where warps have the elements in other places, number them as warp 0 does.
  LinearBases warps(5, 0);
  llvm::append_range(warps, layout.bases(Input::Warp));
  Value place = arith::XOrIOp::create(builder, loc, number,
                                      emitLinear(builder, loc, thread, warps));
  LinearBases registers = homesOf(layout, Input::Register), lanes = homesOf(layout, Input::Lane);
  Value own = extract(tile, 0);
  if (reachableBits(registers)) {
    Value wanted = emitLinear(builder, loc, place, registers);
    for (uint64_t number = 1; number <= reachableBits(registers); ++number)
      own = arith::SelectOp::create(builder, loc,
                                    hasBits(wanted, reachableBits(registers), number),
                                    extract(tile, int64_t(number)), own);
  }
  if (reachableBits(lanes))
    own = shuffleIndex(own, emitLinear(builder, loc, place, lanes));
  return arith::SelectOp::create(builder, loc, isInside, own, zero(own.getType()));
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
      return op.emitError("the parts are not in the registers of the whole");
    Value value = get(source);
    for (auto [number, at] : llvm::enumerate(*registers))
      elements[at] = extract(value, int64_t(number));
    start[op.getAxis()] += part.shape()[op.getAxis()];
  }
  // Registers that are copies have been reached by none.
  SmallVector<int64_t> originals = registersWith(whole, registerNumbers(whole));
  for (auto [element, original] : llvm::zip_equal(elements, originals))
    if (!element)
      element = elements[original];
  set(op, fromElements(elements));
  return success();
}

//===------------------------------------------------------------------------===//
// insert and store_slice
//===------------------------------------------------------------------------===//

namespace {
/// Registers grouped by the slice that they lie in.
struct SliceMembers {
  std::map<uint64_t, SmallVector<int64_t>> registers; ///< by the register's slice bits
  LinearBases threads;                                ///< slice bits of the thread

  SliceMembers(const Layout &tile, ArrayRef<int64_t> slice) {
    uint64_t mask = sliceMask(tile, slice);
    for (auto [number, flat] : llvm::enumerate(registerNumbers(tile)))
      registers[flat & mask].push_back(int64_t(number));
    for (uint64_t basis : threadBases(tile))
      threads.push_back(basis & mask);
  }
};
} // namespace

LogicalResult Emitter::emitInsert(tile::InsertOp op) {
  Layout whole = tile::getLayout(op.getType()), part = tile::getLayout(op.getSlice());
  Layout within = withinSlice(whole, part.shape());
  if (part != within.withoutRegisterCopies())
    return op.emitError("the slice is not where the tile wants it");
  SmallVector<int64_t> places = registersWith(part, registerNumbers(within));
  SliceMembers members(whole, part.shape());
  Value wanted = arith::XOrIOp::create(
      builder, loc, emitSliceNumber(op.getIndex(), whole.shape(), part.shape()),
      emitLinear(builder, loc, thread, members.threads));
  Value slice = get(op.getSlice()), dest = get(op.getDest());
  SmallVector<Value> elements(whole.size(Input::Register));
  for (auto &[bits, registers] : members.registers) {
    Value isHere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, wanted,
                                         i32(int64_t(bits)));
    for (int64_t number : registers)
      elements[number] =
          arith::SelectOp::create(builder, loc, isHere, extract(slice, places[number]),
                                  extract(dest, number));
  }
  set(op, fromElements(elements));
  return success();
}

LogicalResult Emitter::emitStoreSlice(tgpu::StoreSliceOp op) {
  tgpu::BufferType buffer = op.getBuffer().getType();
  Layout whole = tile::getLayout(op.getTile());
  Layout within = withinSlice(whole, buffer.getShape());
  BufferAccess access = makeBufferAccess(builder, loc, get(op.getBuffer()),
                                         buffer.getElementType(),
                                         buffer.getLayout().getLayout(), within, thread);
  SliceMembers members(whole, buffer.getShape());
  Value wanted = arith::XOrIOp::create(
      builder, loc, emitSliceNumber(op.getIndex(), whole.shape(), buffer.getShape()),
      emitLinear(builder, loc, thread, members.threads));
  Value value = emitToStored(builder, loc, get(op.getTile()), buffer.getElementType());
  Value isFirst = emitIsFirstCopy(builder, loc, whole, thread);
  uint64_t copies = whole.redundant(Input::Register);
  for (auto &[bits, registers] : members.registers) {
    Value stores = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, wanted,
                                         i32(int64_t(bits)));
    if (isFirst)
      stores = arith::AndIOp::create(builder, loc, stores, isFirst);
    scf::IfOp::create(builder, loc, stores, [&](OpBuilder &body, Location) {
      for (int64_t number : registers)
        if (!(uint64_t(number) & copies))
          emitSharedStoreElement(body, loc, access,
                                 vector::ExtractOp::create(body, loc, value, number),
                                 uint64_t(number));
      scf::YieldOp::create(body, loc);
    });
  }
  return success();
}

//===------------------------------------------------------------------------===//
// flip
//===------------------------------------------------------------------------===//

LogicalResult Emitter::emitFlip(Operation *op, unsigned axis, Value scratch) {
  Layout layout = tile::getLayout(op->getResult(0));
  Position mirror = layout.find(layout.fieldMask(axis));
  SmallVector<int64_t> registers;
  for (uint64_t number = 0; number < layout.size(Input::Register); ++number)
    registers.push_back(int64_t(number ^ mirror[Input::Register]));
  Value value = emitShuffle(builder, loc, get(op->getOperand(0)), registers);
  if (uint64_t warps = mirror[Input::Warp]) {
    if (!scratch)
      return op->emitError("this flip needs shared memory: run --tile-stage-operands first");
    Value other = arith::XOrIOp::create(
        builder, loc, thread, i32(int64_t(warps << tile::laneBits | mirror[Input::Lane])));
    bool isFirst = true;
    value = readThreads(value, other, scratch, isFirst)[0][0];
  } else if (mirror[Input::Lane]) {
    value = shuffleButterfly(value, unsigned(mirror[Input::Lane]));
  }
  set(op->getResult(0), value);
  return success();
}

//===------------------------------------------------------------------------===//
// take
//===------------------------------------------------------------------------===//

LogicalResult Emitter::emitTake(tgpu::TakeOp op) {
  tgpu::BufferType buffer = op.getBuffer().getType();
  Layout result = tile::getLayout(op.getTile()), indexLayout = tile::getLayout(op.getIndices());
  unsigned axis = op.getAxis();
  Layout places = buffer.getLayout().getLayout();
  LinearBases offsets; // by bit of a row-major number
  for (unsigned bit = 0; bit < places.numOutputBits(); ++bit)
    offsets.push_back(places.find(uint64_t(1) << bit)[Input::Offset]);
  // The result's elements but for the axis, and the registers with their indices.
  Layout beside = result.collapse(axis), along = result;
  if (!op.getAlong())
    for (unsigned dim = result.rank(); dim-- > 0;)
      if (dim != axis)
        along = along.slice(dim);
  SmallVector<int64_t> indexRegisters = registersWith(indexLayout, registerNumbers(along));
  auto offsetOf = [&](uint64_t flat) {
    Layout::Coords coords = beside.unflatten(flat);
    uint64_t offset = 0;
    for (auto [bit, basis] : llvm::enumerate(offsets))
      if (places.flatten(coords) >> bit & 1)
        offset ^= basis;
    return offset;
  };
  LinearBases threads;
  for (uint64_t basis : threadBases(beside))
    threads.push_back(offsetOf(basis));
  Value own = emitLinear(builder, loc, thread, threads);
  LinearBases axisOffsets(offsets.begin() + places.fieldShift(axis),
                          offsets.begin() + places.fieldShift(axis) + places.fieldBits(axis));
  Type stored = storedType(buffer.getElementType());
  Value base = get(op.getBuffer()), indices = get(op.getIndices());
  SmallVector<Value> elements;
  for (auto [number, flat] : llvm::enumerate(registerNumbers(beside))) {
    Value index = extract(indices, indexRegisters[number]);
    Type type = index.getType();
    if (type.isIndex())
      index = toI64(index);
    else if (type.getIntOrFloatBitWidth() < 32)
      index = arith::ExtSIOp::create(builder, loc, builder.getI32Type(), index);
    Value size = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(index.getType(), buffer.getShape()[axis]));
    Value isInside =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, size);
    if (index.getType().isInteger(64))
      index = arith::TruncIOp::create(builder, loc, builder.getI32Type(), index);
    index = arith::SelectOp::create(builder, loc, isInside, index, i32(0));
    Value offset = emitXor(builder, loc, own, reachableBits(threads), offsetOf(flat));
    offset = arith::XOrIOp::create(builder, loc, offset,
                                   emitLinear(builder, loc, index, axisOffsets));
    Value address = LLVM::GEPOp::create(builder, loc, base.getType(), stored, base,
                                        ArrayRef<LLVM::GEPArg>{offset});
    Value element = LLVM::LoadOp::create(builder, loc, stored, address);
    elements.push_back(arith::SelectOp::create(builder, loc, isInside, element, zero(stored)));
  }
  set(op, emitFromStored(builder, loc, fromElements(elements), buffer.getElementType()));
  return success();
}
