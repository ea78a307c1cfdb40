//===- Indexed.cpp - gather, scatter, atomics; print and assert -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Access to arrays element by element, and what a kernel tells the host. Atomic
// operations of all blocks go one after the other, so every order and scope
// holds.
//
//===------------------------------------------------------------------------===//

#include "BlockRun.h"

#include "tilec/Support/Numerics.h"
#include "tilec/Tile/DebugSites.h"

#include <cmath>
#include <mutex>

using namespace mlir;

namespace tilec::interpreter {

/// The address of the element that `index` gives at position `i`; null when it
/// is outside the array or masked.
char *BlockRun::elementAddress(Value array, ValueRange index, Value mask,
                               size_t i) const {
  if (mask && !get(mask).integer(i))
    return nullptr;
  const ArrayArg &view = arrayOf(array);
  char *address = static_cast<char *>(view.data);
  unsigned bytes = HostTile::bytesInMemory(
      cast<tile::ArrayType>(array.getType()).getElementType());
  for (auto [d, value] : llvm::enumerate(index)) {
    int64_t at = get(value).sinteger(i);
    if (at < 0 || at >= view.dims[d])
      return nullptr;
    address += at * view.strides[d] * int64_t(bytes);
  }
  return address;
}

HostTile BlockRun::gather(tile::GatherOp op) {
  HostTile result(op.getResult().getType());
  HostTile pad = HostTile::fromAttribute(op.getPadValue());
  for (size_t i = 0; i < result.size(); ++i) {
    if (const char *address =
            elementAddress(op.getArray(), op.getIndex(), op.getMask(), i))
      result.readElement(i, address);
    else
      result.copyElement(i, pad, 0);
  }
  return result;
}

void BlockRun::scatter(tile::ScatterOp op) {
  const HostTile &value = get(op.getValue());
  for (size_t i = 0; i < value.size(); ++i)
    if (char *address =
            elementAddress(op.getArray(), op.getIndex(), op.getMask(), i))
      value.writeElement(i, address);
}

//===------------------------------------------------------------------------===//
// Atomics
//===------------------------------------------------------------------------===//

/// The new value of an integer element.
static uint64_t combineIntegers(tile::AtomicKind kind, bool isUnsigned,
                                const HostTile &old, const HostTile &value,
                                size_t i) {
  uint64_t a = old.integer(i), b = value.integer(i);
  bool less = isUnsigned ? a < b : old.sinteger(i) < value.sinteger(i);
  switch (kind) {
  case tile::AtomicKind::Add:
    return truncateTo(a + b, old.width());
  case tile::AtomicKind::Max:
    return less ? b : a;
  case tile::AtomicKind::Min:
    return less ? a : b;
  case tile::AtomicKind::And:
    return a & b;
  case tile::AtomicKind::Or:
    return a | b;
  case tile::AtomicKind::Xor:
    return a ^ b;
  default:
    return b;
  }
}

/// The new value of a float element. A NaN operand of min and max is stored,
/// and a NaN that is there stays.
static double combineFloats(tile::AtomicKind kind, double a, double b) {
  switch (kind) {
  case tile::AtomicKind::Add:
    return a + b;
  case tile::AtomicKind::Max:
    return numerics::maximum(a, b);
  case tile::AtomicKind::Min:
    return numerics::minimum(a, b);
  default:
    return b;
  }
}

/// Element `i` of `result` becomes what the operation leaves in memory.
static void applyAtomic(tile::AtomicOp op, HostTile &result,
                        const HostTile &old, const HostTile &value, size_t i) {
  tile::AtomicKind kind = op.getKind();
  if (result.form() == Form::Int)
    result.ints[i] = combineIntegers(kind, op.getIsUnsigned(), old, value, i);
  else if (kind == tile::AtomicKind::Xchg || kind == tile::AtomicKind::Cas ||
           kind == tile::AtomicKind::Store)
    result.copyElement(i, value, i);
  else if (result.form() == Form::F64)
    result.doubles[i] = combineFloats(kind, old.f64(i), value.f64(i));
  else
    result.floats[i] = roundToType(
        float(combineFloats(kind, double(old.f32(i)), double(value.f32(i)))),
        result.elementType());
}

/// Whether the bytes in memory are those of element `i` of `expected`.
static bool sameBits(const char *address, const HostTile &expected, size_t i) {
  char bytes[8];
  expected.writeElement(i, bytes);
  return std::equal(address,
                    address + HostTile::bytesInMemory(expected.elementType()),
                    bytes);
}

HostTile BlockRun::atomic(tile::AtomicOp op) {
  static std::mutex allAtomics;
  std::lock_guard<std::mutex> lock(allAtomics);
  Value shape = op.getValue() ? op.getValue() : op.getResult();
  HostTile old(shape.getType()); // 0 where nothing happens
  HostTile next = old;
  for (size_t i = 0; i < old.size(); ++i) {
    char *address =
        elementAddress(op.getArray(), op.getIndex(), op.getMask(), i);
    if (!address)
      continue;
    old.readElement(i, address);
    if (!op.getValue() ||
        (op.getExpected() && !sameBits(address, get(op.getExpected()), i)))
      continue;
    applyAtomic(op, next, old, get(op.getValue()), i);
    next.writeElement(i, address);
  }
  return old;
}

//===------------------------------------------------------------------------===//
// Print and assert
//===------------------------------------------------------------------------===//

void BlockRun::print(tile::PrintOp op) {
  DebugSite site = tile::describeSite(op);
  log.print(debugLine(site, [&](size_t v, size_t i) -> uint64_t {
    const HostTile &tile = get(op.getValues()[v]);
    if (tile.form() == Form::Int)
      return tile.integer(i);
    return numerics::encode(site.values[v].dtype, tile.real(i));
  }));
}

void BlockRun::check(tile::AssertOp op) {
  const HostTile &condition = get(op.getCondition());
  for (size_t i = 0; i < condition.size(); ++i)
    if (!condition.integer(i))
      return log.fail(tile::describeSite(op), kernel.getSymName(),
                      {int32_t(block[0]), int32_t(block[1]), int32_t(block[2])}, int64_t(i));
}

} // namespace tilec::interpreter
