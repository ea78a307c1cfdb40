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

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <cstdio>
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

/// The shortest digits that read back as the same value of the type.
static std::string floatText(double value, Type type) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    double back = std::strtod(text, nullptr);
    if (back == value ||
        (!type.isF64() && double(roundToType(back, type)) == value))
      break;
  }
  std::string result = text;
  if (result.find_first_of(".e") == std::string::npos)
    result += ".0";
  return result;
}

static std::string elementText(const HostTile &tile, llvm::StringRef dtype,
                               size_t i) {
  if (tile.form() != Form::Int)
    return floatText(tile.real(i), tile.elementType());
  if (dtype == "bool")
    return tile.integer(i) ? "true" : "false";
  return dtype.starts_with("u") ? std::to_string(tile.integer(i))
                                : std::to_string(tile.sinteger(i));
}

/// A tile as nested lists.
static void appendTile(std::string &text, const HostTile &tile,
                       llvm::StringRef dtype, size_t dim, size_t &next) {
  if (dim == tile.shape().size()) {
    text += elementText(tile, dtype, next++);
    return;
  }
  text += "[";
  for (int64_t i = 0; i < tile.shape()[dim]; ++i) {
    text += i ? ", " : "";
    appendTile(text, tile, dtype, dim + 1, next);
  }
  text += "]";
}

void BlockRun::print(tile::PrintOp op) {
  auto pieces = op.getPieces().getAsValueRange<StringAttr>();
  auto dtypes = op.getDtypes().getAsValueRange<StringAttr>();
  std::string line = (*pieces.begin()).str();
  for (auto [piece, dtype, value] :
       llvm::zip_equal(llvm::drop_begin(pieces), dtypes, op.getValues())) {
    size_t next = 0;
    appendTile(line, get(value), dtype, 0, next);
    line += piece;
  }
  line += "\n";
  std::fwrite(line.data(), 1, line.size(),
              stdout); // one call: lines of blocks do not mix
}

llvm::Error BlockRun::check(tile::AssertOp op) {
  const HostTile &condition = get(op.getCondition());
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition.integer(i))
      continue;
    std::string where = "block (" + std::to_string(block[0]) + ", " +
                        std::to_string(block[1]) + ", " +
                        std::to_string(block[2]) + ")";
    if (!condition.shape().empty()) {
      llvm::SmallVector<int64_t, 6> at;
      size_t rest = i;
      for (int64_t dim : llvm::reverse(condition.shape())) {
        at.insert(at.begin(), int64_t(rest % size_t(dim)));
        rest /= size_t(dim);
      }
      where += ", first at [" +
               llvm::join(llvm::map_range(
                              at, [](int64_t d) { return std::to_string(d); }),
                          ", ") +
               "]";
    }
    return errorAt(op,
                   "assertion failed: " + op.getMessage() + " (" + where + ")");
  }
  return llvm::Error::success();
}

} // namespace tilec::interpreter
