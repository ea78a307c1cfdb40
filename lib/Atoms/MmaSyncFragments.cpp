//===- MmaSyncFragments.cpp - operands of mma.sync out of shared memory -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: an operand in a buffer of any layout, or in registers. Out: its fragments, and
// before that the layouts for which buffers are made.
//
// ldmatrix delivers 8 x 8 matrices of 16 bits: lane l gives the address of row l % 8 of
// matrix l / 8, and gets two elements of row l / 4. Rows along K give fragments of
// every type of 8 to 32 bits as they are wanted; rows along M or N, transposed on the
// way, those of 16 bits. Four matrices are a fragment of a, or two of b:
//
//   a (Rows)   lanes 0-7 rows 0-7, 8-15 rows 8-15, 16-31 the same of the next 16 bytes
//   b (Rows)   lanes 0-7 columns 0-7, 8-15 their next 16 bytes, 16-31 columns 8-15
//
// That is a layout: the row in registers, the row's number in lanes. It is what
// planShared is given, and 8 lanes of 16 bytes at a time is how ldmatrix is served.
// All other operands, and tiles with less than 16 bytes of K, are read by elements.
//
//===------------------------------------------------------------------------===//
#include "MmaSync.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::mmasync;

static constexpr unsigned rowBytes = 16;

static unsigned elementBytes(Type elementType) {
  return storedType(elementType).getIntOrFloatBitWidth() / 8;
}

/// The dim of an operand that is not summed over: M or N.
static unsigned dimOther(unsigned rank, Operand operand) {
  return rank - (operand == Operand::A ? 2 : 1);
}

//===------------------------------------------------------------------------===//
// Layouts
//===------------------------------------------------------------------------===//

ReadMode mmasync::chooseReadMode(const Shape &fragment, ArrayRef<int64_t> shape,
                                 Operand operand, Type elementType, bool alongK) {
  int64_t k = shape[dimK(shape.size(), operand)];
  int64_t other = shape[dimOther(shape.size(), operand)];
  unsigned bytes = elementBytes(elementType);
  if (bytes > 4 || k < fragment.blockK() ||
      (operand == Operand::B && fragment.columnStep > 1))
    return ReadMode::Elements;
  if (alongK)
    return ReadMode::Rows;
  return bytes == 2 && other >= 8 ? ReadMode::Transposed : ReadMode::Elements;
}

namespace {

/// Adds bases by dim and step; steps beyond the tile's size become copies.
class LayoutWriter {
public:
  LayoutWriter(ArrayRef<int64_t> shape, Operand operand)
      : layout(shape), k(dimK(shape.size(), operand)),
        other(dimOther(shape.size(), operand)) {}

  void addK(Input input, int64_t step) { add(input, k, step); }
  void addOther(Input input, int64_t step) { add(input, other, step); }
  void runK(Input input, int64_t begin, int64_t end) {
    for (int64_t step = begin; step < end; step *= 2)
      addK(input, step);
  }
  void runOther(Input input, int64_t begin, int64_t end) {
    for (int64_t step = begin; step < end; step *= 2)
      addOther(input, step);
  }
  /// The eight rows or columns that lanes tell apart.
  void lanesOfFragment(const Shape &fragment, Operand operand) {
    for (unsigned bit = 0; bit < 3; ++bit)
      addOther(Input::Lane, fragment.step(operand, bit));
  }
  /// What repeats beyond a fragment, as acc has it, with K before.
  void finish(const Layout &acc, const Shape &fragment, Operand operand, bool isPaired) {
    runK(Input::Register, fragment.k(), layout.shape()[k]);
    ArrayRef<uint64_t> bases = acc.bases(Input::Register);
    unsigned fragmentBits = llvm::Log2_32(fragment.accElements());
    for (uint64_t basis : bases.drop_front(fragmentBits)) {
      uint64_t projected = projectToOperand(acc, layout, basis, operand);
      bool isInLanes = isPaired && layout.field(projected, other) == 8;
      if (projected && !isInLanes)
        layout.addFlat(Input::Register, projected);
    }
    for (uint64_t basis : acc.bases(Input::Warp))
      layout.addFlat(Input::Warp, projectToOperand(acc, layout, basis, operand));
  }

  Layout layout;

private:
  void add(Input input, unsigned dim, int64_t step) {
    Layout::Coords coords(layout.rank(), 0);
    if (step >= layout.shape()[dim])
      return void(layout.addZeros(input, 1));
    coords[dim] = step;
    layout.add(input, coords);
  }
  unsigned k, other;
};

} // namespace

/// acc has columns n and n + 8 in the registers of one thread.
static bool hasColumnPairs(const Layout &acc) {
  uint64_t step = uint64_t(8) << acc.fieldShift(acc.rank() - 1);
  return acc.shape().back() > 8 && llvm::is_contained(acc.bases(Input::Register), step);
}

OperandRead mmasync::readLayout(const Shape &fragment, ReadMode mode,
                                ArrayRef<int64_t> shape, Type elementType,
                                const Layout &acc, Operand operand) {
  LayoutWriter writer(shape, operand);
  bool isA = operand == Operand::A;
  int64_t e = fragment.perRegister, blockK = fragment.blockK();
  if (mode == ReadMode::Elements) {
    writer.runK(Input::Register, 1, e);
    if (isA && fragment.halves() > 1)
      writer.addOther(Input::Register, 8);
    writer.runK(Input::Register, blockK, fragment.k());
    writer.runK(Input::Lane, e, blockK);
    writer.lanesOfFragment(fragment, operand);
    writer.finish(acc, fragment, operand, false);
    return {writer.layout};
  }
  bool alongK = mode == ReadMode::Rows;
  if (alongK) {
    writer.runK(Input::Register, 1, blockK);
    writer.runOther(Input::Lane, 1, 8);
  } else {
    writer.runOther(Input::Register, 1, 8);
    writer.runK(Input::Lane, 1, 8);
  }
  bool isPaired = !isA && hasColumnPairs(acc);
  if (isA) {
    writer.addOther(Input::Lane, 8);
    writer.addK(Input::Lane, blockK);
  } else {
    writer.addK(Input::Lane, blockK);
    if (isPaired)
      writer.addOther(Input::Lane, 8);
    else
      writer.layout.addZeros(Input::Lane, 1);
  }
  writer.finish(acc, fragment, operand, isPaired);
  return {writer.layout, rowBytes / elementBytes(elementType)};
}

Layout mmasync::registerLayout(const Shape &fragment, ArrayRef<int64_t> shape,
                               const Layout &acc, Operand operand) {
  return readLayout(fragment, ReadMode::Elements, shape, Type(), acc, operand).layout;
}

//===------------------------------------------------------------------------===//
// Preparation
//===------------------------------------------------------------------------===//

/// Whether the buffer has rows of 16 bytes along `dim`, in order and aligned.
static bool hasRows(const Layout &buffer, unsigned dim, unsigned bytes) {
  unsigned bits = llvm::Log2_32(rowBytes / bytes);
  ArrayRef<uint64_t> bases = buffer.bases(Input::Offset);
  if (bits > bases.size() || bits > buffer.fieldBits(dim))
    return false;
  uint64_t row = 0;
  for (unsigned bit = 0; bit < bits; ++bit) {
    uint64_t step = uint64_t(1) << (buffer.fieldShift(dim) + bit);
    if (bases[bit] != step)
      return false;
    row |= step;
  }
  return llvm::none_of(bases.drop_front(bits), [&](uint64_t basis) { return basis & row; });
}

FragmentReader::FragmentReader(OpBuilder &builder, Location loc, const MmaOperand &operand,
                               const MmaEmission &emission, const Shape &fragment,
                               Operand which)
    : builder(&builder), loc(loc), operand(operand), fragment(fragment), which(which),
      tile(operand.layout.shape()), thread(emission.thread) {
  unsigned rank = tile.rank();
  sizeK = tile.shape()[dimK(rank, which)];
  if (operand.inRegisters()) {
    auto parts = vector::ToElementsOp::create(builder, loc, operand.value);
    registers.assign(parts.getResults().begin(), parts.getResults().end());
    mode = ReadMode::Elements;
    return;
  }
  unsigned bytes = elementBytes(operand.elementType);
  auto tryMode = [&](bool alongK) {
    mode = chooseReadMode(fragment, tile.shape(), which, operand.elementType, alongK);
    unsigned dim = alongK ? dimK(rank, which) : dimOther(rank, which);
    return mode != ReadMode::Elements && hasRows(operand.layout, dim, bytes);
  };
  if (!tryMode(true) && !tryMode(false))
    mode = ReadMode::Elements;
  inverse = operand.layout.invert();
  OperandRead read = readLayout(fragment, mode, tile.shape(), operand.elementType,
                                emission.accLayout, which);
  pairsColumns = which == Operand::B && mode != ReadMode::Elements &&
                 hasColumnPairs(emission.accLayout);
  LinearBases places;
  for (uint64_t basis : threadBases(read.layout))
    places.push_back(place(basis));
  threadOffset = offset = emitLinear(builder, loc, thread, places);
  threadBits = offsetBits = reachableBits(places);
}

uint64_t FragmentReader::place(uint64_t flat) const {
  return inverse.applyFlat(Position{{0, 0, 0, 0, flat}});
}

uint64_t FragmentReader::flatAtK(int64_t k) const {
  return uint64_t(k) << tile.fieldShift(dimK(tile.rank(), which));
}

bool FragmentReader::isBeyondK(unsigned block) const {
  return int64_t(block) * fragment.blockK() >= sizeK;
}

void FragmentReader::enterChunk(OpBuilder &body, Value chunk, unsigned steps) {
  builder = &body;
  known.clear();
  starts.clear();
  scaledOffset = {};
  int64_t first = int64_t(steps) * fragment.k();
  LinearBases places;
  for (int64_t k = first; k < sizeK; k *= 2)
    places.push_back(place(flatAtK(k)));
  uint64_t bits = reachableBits(places);
  Value moved = emitLinear(body, loc, chunk, places);
  offset = threadBits & bits
               ? arith::XOrIOp::create(body, loc, threadOffset, moved).getResult()
               : arith::AddIOp::create(body, loc, threadOffset, moved).getResult();
  offsetBits = threadBits | bits;
}

//===------------------------------------------------------------------------===//
// Code
//===------------------------------------------------------------------------===//

ArrayRef<Value> FragmentReader::read(uint64_t flat, unsigned step) {
  auto found = known.find({flat, step});
  if (found != known.end())
    return found->second;
  if (operand.inRegisters())
    known[{flat, step}] = pickRegisters(flat, step);
  else if (mode == ReadMode::Elements)
    known[{flat, step}] = readElements(flat, step);
  else
    readMatrices(flat, step);
  return known[{flat, step}];
}

/// The address of the element that lies at `constant` from the thread's own. Where registers
/// keep addresses over all iterations, what the swizzle mixes with the thread's offset takes one,
/// in bytes; the place and the rest are part of the instruction. (So it would be elsewhere, too;
/// but where two rings take turns products were up to a tenth slower.)
Value FragmentReader::address(uint64_t constant) {
  bool keeps = operand.keepsAddresses;
  uint64_t unit = keeps ? elementBytes(operand.elementType) : 1;
  Type type = keeps ? Type(builder->getI8Type()) : storedType(operand.elementType);
  auto gep = [&](Value base, LLVM::GEPArg index) -> Value {
    return LLVM::GEPOp::create(*builder, loc, base.getType(), type, base,
                               ArrayRef<LLVM::GEPArg>{index});
  };
  if (!scaledOffset)
    scaledOffset = unit == 1 ? offset
                             : arith::MulIOp::create(*builder, loc, offset,
                                                     emitI32(*builder, loc, int64_t(unit)));
  uint64_t mixed = constant & offsetBits;
  if (mixed && !keeps)
    mixed = constant;
  Value &start = starts[mixed];
  if (!start)
    start = gep(operand.value,
                emitXor(*builder, loc, scaledOffset, offsetBits * unit, mixed * unit));
  return constant == mixed ? start : gep(start, int32_t((constant ^ mixed) * unit));
}

Value FragmentReader::zeroRegister() {
  Type type = elementBytes(operand.elementType) == 8 ? operand.elementType
                                                     : Type(builder->getI32Type());
  return arith::ConstantOp::create(*builder, loc, builder->getZeroAttr(type));
}

void FragmentReader::readMatrices(uint64_t flat, unsigned step) {
  uint64_t columnPair = uint64_t(8) << tile.fieldShift(dimOther(tile.rank(), which));
  if (pairsColumns)
    flat &= ~columnPair;
  unsigned count = which == Operand::A || pairsColumns ? 4 : 2;
  auto layout = mode == ReadMode::Transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row;
  auto *context = builder->getContext();
  Type i32 = builder->getI32Type();
  Type result = LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(count, i32));
  Value loaded = NVVM::LdMatrixOp::create(
      *builder, loc, result, address(place(flat ^ flatAtK(int64_t(step) * fragment.k()))),
      count, layout, NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
      NVVM::LdStMatrixEltType::B16);
  SmallVector<Value, 4> words;
  for (unsigned i = 0; i < count; ++i)
    words.push_back(LLVM::ExtractValueOp::create(*builder, loc, loaded, int64_t(i)));
  Value zero = isBeyondK(1) ? zeroRegister() : Value();
  if (which == Operand::A) {
    // Matrices: row halves, then blocks of K.
    Registers &registers = known[{flat, step}];
    for (unsigned i = 0; i < count; ++i)
      registers.push_back(i >= 2 && zero ? zero : words[i]);
    return;
  }
  for (unsigned column = 0; column < count / 2; ++column)
    known[{column ? flat | columnPair : flat, step}] = {words[2 * column],
                                                        zero ? zero : words[2 * column + 1]};
}

/// Zero in lanes whose elements lie beyond K.
Value FragmentReader::maskLanes(Value word) {
  int64_t beyond = 0;
  for (unsigned bit = 0; bit < 2; ++bit)
    if (int64_t(fragment.perRegister) << bit >= sizeK)
      beyond |= 1 << bit;
  if (!beyond)
    return word;
  Value bits = arith::AndIOp::create(*builder, loc, thread, emitI32(*builder, loc, beyond));
  Value inside = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::eq, bits,
                                       emitI32(*builder, loc, 0));
  return arith::SelectOp::create(*builder, loc, inside, word, zeroRegister());
}

/// Registers out of stored elements, `perRegister` to a word.
FragmentReader::Registers FragmentReader::packWords(ArrayRef<Value> elements) {
  Registers words;
  Type i32 = builder->getI32Type();
  for (unsigned first = 0; first < elements.size(); first += fragment.perRegister) {
    ArrayRef<Value> parts = elements.slice(first, fragment.perRegister);
    Value word = parts.front();
    if (parts.size() > 1)
      word = vector::FromElementsOp::create(
          *builder, loc, VectorType::get(int64_t(parts.size()), word.getType()), parts);
    if (elementBytes(operand.elementType) < 8 && word.getType() != i32)
      word = LLVM::BitcastOp::create(*builder, loc, i32, word);
    words.push_back(maskLanes(word));
  }
  return words;
}

/// The fragment's elements in the order of registers, one load each or wider.
FragmentReader::Registers FragmentReader::readElements(uint64_t flat, unsigned step) {
  unsigned rank = tile.rank();
  unsigned otherShift = tile.fieldShift(dimOther(rank, which));
  // The bits of an element's number in the fragment: what each adds, where it exists.
  struct Bit {
    uint64_t flat;
    bool exists, isK;
  };
  SmallVector<Bit, 6> bits;
  auto addK = [&](int64_t k) { bits.push_back({flatAtK(k), k < sizeK, true}); };
  for (int64_t k = 1; k < int64_t(fragment.perRegister); k *= 2)
    addK(k);
  if (which == Operand::A && fragment.halves() > 1)
    bits.push_back({uint64_t(8) << otherShift,
                    tile.shape()[dimOther(rank, which)] > 8, false});
  for (int64_t k = fragment.blockK(); k < int64_t(fragment.k()); k *= 2)
    addK(k);

  BufferAccess access;
  access.base = operand.value;
  access.elementType = storedType(operand.elementType);
  uint64_t constant = place(flat ^ flatAtK(int64_t(step) * fragment.k()));
  access.offset = emitXor(*builder, loc, offset, offsetBits, constant);
  access.offsetBits = offsetBits | constant;
  for (const Bit &bit : bits)
    if (bit.exists)
      access.registerBases.push_back(place(bit.flat));
  auto loaded = vector::ToElementsOp::create(*builder, loc,
                                             emitSharedLoad(*builder, loc, access));
  Value zero = arith::ConstantOp::create(*builder, loc,
                                         builder->getZeroAttr(access.elementType));
  SmallVector<Value, 16> elements;
  for (unsigned number = 0; number < 1u << bits.size(); ++number) {
    unsigned source = 0, next = 0;
    bool isBeyond = false;
    for (auto [position, bit] : llvm::enumerate(bits)) {
      bool isSet = number >> position & 1;
      if (bit.exists)
        source |= unsigned(isSet) << next++;
      else
        isBeyond |= isSet && bit.isK;
    }
    elements.push_back(isBeyond ? zero : loaded.getResult(source));
  }
  return packWords(elements);
}

/// The fragment out of a tile in registers, which lies as `registerLayout` says.
FragmentReader::Registers FragmentReader::pickRegisters(uint64_t flat, unsigned step) {
  unsigned otherShift = tile.fieldShift(dimOther(tile.rank(), which));
  unsigned halves = which == Operand::A ? fragment.halves() : 1;
  SmallVector<Value, 16> elements;
  for (unsigned block = 0; block < fragment.blocks; ++block)
    for (unsigned half = 0; half < halves; ++half)
      for (unsigned e = 0; e < fragment.perRegister; ++e) {
        int64_t k = int64_t(step) * fragment.k() + block * fragment.blockK() + e;
        uint64_t element = flat ^ flatAtK(k);
        uint64_t row = uint64_t(8 * half) << otherShift;
        if (row & tile.fieldMask(dimOther(tile.rank(), which)))
          element ^= row;
        elements.push_back(
            isBeyondK(block) ? Value(arith::ConstantOp::create(
                                   *builder, loc, builder->getZeroAttr(registerType(operand.elementType))))
                             : registers[operand.layout.find(element)[Input::Register]]);
      }
  return packWords(elements);
}
