//===- MemoryAccess.cpp - what accesses to arrays have in common -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// See MemoryAccess.h. An access by index finds, for each group of registers, the
// address and the guard of its first element:
//
//   %in = %row u< m and %col u< n and %mask           i1
//   %at = %base + %row * n + %col                     64 bits
//
// A group has one guard: `run` promises that its elements exist together.
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
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilec;

//===------------------------------------------------------------------------===//
// Groups
//===------------------------------------------------------------------------===//

ExistingPart tilec::emitExistingPart(OpBuilder &b, Location loc, Value start, Value size,
                                     int64_t width, StartAndSize known) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, 64);
  };
  auto narrow = [&](Value value) -> Value {
    return arith::TruncIOp::create(b, loc, b.getI32Type(), value);
  };
  Value zero = constant(0);
  if (known.sizeFits) {
    // Sums that wrap are negative, and so no place; neither is there one so far away that 32
    // bits do not hold where the tile begins.
    Value shift = narrow(start);
    if (known.startFits)
      return {shift, narrow(size)};
    Value held = arith::ExtSIOp::create(b, loc, b.getI64Type(), shift);
    Value isHeld = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, held, start);
    return {shift, narrow(arith::SelectOp::create(b, loc, isHeld, size, zero))};
  }
  start = arith::MaxSIOp::create(b, loc, start, constant(-width));
  Value shift = arith::MinSIOp::create(b, loc, start, zero);
  Value end = arith::SubIOp::create(b, loc, size, start);
  end = arith::MinSIOp::create(b, loc, end, constant(width));
  Value count = arith::AddIOp::create(b, loc, end, shift);
  return {narrow(shift), narrow(arith::MaxSIOp::create(b, loc, count, zero))};
}

SmallVector<AccessGroup> tilec::groupRegisters(const Layout &layout,
                                               ArrayRef<unsigned> bits) {
  uint64_t inGroup = 0;
  for (unsigned bit : bits)
    inGroup |= uint64_t(1) << bit;
  uint64_t copies = layout.redundant(Input::Register);
  SmallVector<AccessGroup> result;
  for (uint64_t first = 0; first < layout.size(Input::Register); ++first) {
    if (first & (inGroup | copies))
      continue;
    AccessGroup group;
    for (uint64_t element = 0; element < uint64_t(1) << bits.size(); ++element) {
      uint64_t number = first;
      for (auto [position, bit] : llvm::enumerate(bits))
        if (element >> position & 1)
          number |= uint64_t(1) << bit;
      group.registers.push_back(int64_t(number));
    }
    result.push_back(std::move(group));
  }
  return result;
}

void tilec::fillCopies(MutableArrayRef<Value> elements, const Layout &layout) {
  for (uint64_t number = 0; number < elements.size(); ++number)
    if (!elements[number]) {
      uint64_t flat = layout.applyFlat(Position::thread(number, 0));
      elements[number] = elements[layout.find(flat)[Input::Register]];
    }
}

//===------------------------------------------------------------------------===//
// Loads
//===------------------------------------------------------------------------===//

TypedAttr tilec::storedPad(TypedAttr pad, Type stored) {
  if (pad.getType() == stored)
    return pad;
  if (auto integer = dyn_cast<IntegerAttr>(Attribute(pad)))
    return IntegerAttr::get(
        stored, integer.getValue().zextOrTrunc(stored.getIntOrFloatBitWidth()));
  APFloat value = cast<FloatAttr>(Attribute(pad)).getValue();
  if (!isa<FloatType>(stored))
    return IntegerAttr::get(stored, value.bitcastToAPInt());
  bool losesInfo;
  value.convert(cast<FloatType>(stored).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return FloatAttr::get(stored, value);
}

/// The global of which masked-off loads read `pad` (see Emitter.h).
static std::string padGlobalOf(TypedAttr pad) {
  APInt bits = isa<FloatAttr>(pad) ? cast<FloatAttr>(pad).getValue().bitcastToAPInt()
                                   : cast<IntegerAttr>(pad).getValue();
  APInt word = APInt::getSplat(64, bits);
  if (word.isZero())
    return zeroGlobalName.str();
  return padGlobalPrefix.str() + llvm::utohexstr(word.getZExtValue(), /*LowerCase=*/true);
}

SmallVector<Value> tilec::emitGroupLoads(OpBuilder &builder, Location loc,
                                         ArrayRef<AccessGroup> groups, Type stored,
                                         const Layout *layout, TypedAttr pad) {
  std::string padGlobal = padGlobalOf(pad);
  unsigned bytes = stored.getIntOrFloatBitWidth() / 8;
  SmallVector<Value> loaded;
  for (const AccessGroup &group : groups) {
    Value address = group.address;
    if (group.guard) {
      Value padding = LLVM::AddressOfOp::create(builder, loc, address.getType(), padGlobal);
      address = arith::SelectOp::create(builder, loc, group.guard, address, padding);
    }
    auto count = unsigned(group.registers.size());
    Type type = count > 1 ? Type(VectorType::get(count, stored)) : stored;
    loaded.push_back(LLVM::LoadOp::create(builder, loc, type, address, bytes * count));
  }
  SmallVector<Value> elements(layout ? layout->size(Input::Register) : 1);
  for (auto [group, value] : llvm::zip_equal(groups, loaded)) {
    if (group.registers.size() == 1) {
      elements[group.registers[0]] = value;
      continue;
    }
    auto parts = vector::ToElementsOp::create(builder, loc, value);
    for (auto [number, part] : llvm::zip_equal(group.registers, parts.getResults()))
      elements[number] = part;
  }
  if (layout)
    fillCopies(elements, *layout);
  return elements;
}

//===------------------------------------------------------------------------===//
// By index
//===------------------------------------------------------------------------===//

void IndexedAccess::initialise(Type valueType) {
  stored = storedType(array->type.getElementType());
  if (auto tensor = dyn_cast<RankedTensorType>(valueType))
    layout = e.layoutOf(tensor);
  for (auto [number, dim] : llvm::enumerate(dims))
    prepare(dim, unsigned(number));
  if (mask)
    maskValues = e.get(mask);
}

/// Brings an index to 32 or 64 bits, and the dim's size to the same.
void IndexedAccess::prepare(Dim &dim, unsigned number) {
  OpBuilder &b = e.builder;
  dim.values = e.get(dim.index);
  Type type = dim.values.getType();
  auto withElement = [&](Type element) {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(element)) : element;
  };
  Type element = getElementTypeOrSelf(type);
  if (element.isIndex())
    dim.values =
        arith::IndexCastOp::create(b, e.loc, withElement(b.getI64Type()), dim.values);
  else if (element.getIntOrFloatBitWidth() < 32)
    dim.values = arith::ExtSIOp::create(b, e.loc, withElement(b.getI32Type()), dim.values);
  if (dim.isInBounds)
    return;
  dim.limit = array->dims[number];
  if (getElementTypeOrSelf(dim.values.getType()).isInteger(64))
    return;
  dim.limit = arith::MinUIOp::create(b, e.loc, dim.limit, e.i64(int64_t(1) << 31));
  dim.limit = arith::TruncIOp::create(b, e.loc, b.getI32Type(), dim.limit);
}

Value IndexedAccess::element(Value values, int64_t number) {
  return isa<VectorType>(values.getType()) ? e.extract(values, number) : values;
}

Value IndexedAccess::guardOf(int64_t number) {
  Value all = maskValues ? element(maskValues, number) : Value();
  for (const Dim &dim : dims) {
    if (!dim.limit)
      continue;
    Value inside =
        arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::ult,
                              element(dim.values, number), dim.limit);
    all = all ? arith::AndIOp::create(e.builder, e.loc, all, inside).getResult() : inside;
  }
  return all;
}

Value IndexedAccess::addressOf(int64_t number) {
  OpBuilder &b = e.builder;
  Value offset;
  for (auto [dim, stride] : llvm::zip_equal(dims, array->strides)) {
    Value steps = element(dim.values, number);
    if (!steps.getType().isInteger(64))
      steps = arith::ExtSIOp::create(b, e.loc, b.getI64Type(), steps);
    if (!matchPattern(stride, m_One()))
      steps = arith::MulIOp::create(b, e.loc, steps, stride);
    offset = offset ? arith::AddIOp::create(b, e.loc, offset, steps).getResult() : steps;
  }
  return LLVM::GEPOp::create(b, e.loc, array->base.getType(), stored, array->base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// Says how many bytes an instruction moves, and why no more of the `most` elements.
void IndexedAccess::explain(int64_t elements, int64_t most) const {
  int64_t bytes = elements * stored.getIntOrFloatBitWidth() / 8;
  const char *why = !e.isAligned16            ? "nothing is known of the array's alignment"
                    : array->type.isStrided() ? "the array is strided"
                    : most <= elements        ? "no instruction does more"
                    : runLength <= elements   ? "indices are not known to run on for longer"
                                              : "a thread has no more neighbours";
  if (bytes >= 16)
    remarkChoice(op, "lower-to-simt", "threads access elements by index {0} at a time",
                 spellBytes(bytes));
  else
    remarkMissed(op, "lower-to-simt", "threads access elements by index no more than {0} at a time: {1}",
                 spellBytes(bytes), why);
}

SmallVector<AccessGroup> IndexedAccess::groups(int64_t most) {
  SmallVector<AccessGroup> result;
  if (!layout) {
    result.push_back({{0}, addressOf(0), guardOf(0)});
    return result;
  }
  SmallVector<unsigned, 4> bits;
  const int64_t asked = most;
  most = std::min({most, runLength, int64_t(128 / stored.getIntOrFloatBitWidth())});
  if (most > 1 && e.isAligned16 && !array->type.isStrided() &&
      !tile::isOfSingles(array->type)) {
    bits = layout->vectorRegisters(runDim);
    while (!bits.empty() && (int64_t(1) << bits.size()) > most)
      bits.pop_back();
  }
  explain(int64_t(1) << bits.size(), asked);
  result = groupRegisters(*layout, bits);
  for (AccessGroup &group : result) {
    group.address = addressOf(group.registers.front());
    group.guard = guardOf(group.registers.front());
  }
  return result;
}
