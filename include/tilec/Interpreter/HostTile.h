//===- HostTile.h - a tile's value in host memory ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What the interpreter computes with: a shape, an element type and the elements in
// row-major order. Scalars are tiles of rank 0. Elements live in one of three
// forms, chosen by the element type:
//
//   Int   i1 … i64, index   uint64_t, zero-extended from the type's width
//   F32   f32 and narrower  float that holds a value of the type exactly
//   F64   f64               double
//
// A tile whose elements are all equal may hold just one ("splat"), so constants
// and broadcasts cost nothing. Values are immutable once shared.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_INTERPRETER_HOSTTILE_H
#define TILEC_INTERPRETER_HOSTTILE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <vector>

namespace tilec::interpreter {

enum class Form : uint8_t { Int, F32, F64 };

/// The form of elements of this type.
Form formOf(mlir::Type elementType);
/// Width in bits of an integer type; 64 for index.
unsigned widthOf(mlir::Type elementType);
/// `v` cut to `width` bits (zero-extended).
inline uint64_t truncateTo(uint64_t v, unsigned width) {
  return width >= 64 ? v : v & ((uint64_t(1) << width) - 1);
}
/// `v` of `width` bits as a signed number.
inline int64_t signExtend(uint64_t v, unsigned width) {
  return width >= 64 ? int64_t(v) : int64_t(v << (64 - width)) >> (64 - width);
}
/// The nearest value of a float type of at most 32 bits (ties to even); identity
/// on f32. Sums, products, quotients and square roots of two such values computed
/// in f32 and rounded here are rounded correctly, as f32 has more than twice the
/// digits of any narrower type.
float roundToType(float v, mlir::Type elementType);
/// The same from double, rounding once.
float roundToType(double v, mlir::Type elementType);

class HostTile {
public:
  HostTile() = default;
  /// A tile of `count(type)` uninitialised elements, or of one if `splat`.
  explicit HostTile(mlir::Type type, bool splat = false);

  llvm::ArrayRef<int64_t> shape() const { return dims; }
  mlir::Type elementType() const { return element; }
  Form form() const { return kind; }
  unsigned width() const { return bits; }
  /// Number of elements by shape.
  size_t size() const { return count; }
  /// Number of elements held: 1 or size().
  size_t stored() const;
  bool isSplat() const { return stored() == 1; }

  uint64_t integer(size_t i) const { return ints[ints.size() == 1 ? 0 : i]; }
  int64_t sinteger(size_t i) const { return signExtend(integer(i), bits); }
  float f32(size_t i) const { return floats[floats.size() == 1 ? 0 : i]; }
  double f64(size_t i) const { return doubles[doubles.size() == 1 ? 0 : i]; }
  /// Any float as double.
  double real(size_t i) const { return kind == Form::F64 ? f64(i) : double(f32(i)); }

  /// Element `i` in the form of Support/Numerics.h, and back.
  uint64_t word(size_t i, bool isUnsigned) const;
  void setWord(size_t i, uint64_t word);

  /// Copies element `from` of `other` (same element type) to element `to`.
  void copyElement(size_t to, const HostTile &other, size_t from);
  /// The element `i` as a one-element tile of the scalar type.
  HostTile scalar(size_t i) const;
  /// The same elements under another shape of equal count.
  HostTile withType(mlir::Type type) const;
  /// All elements stored, also of a splat.
  HostTile expanded() const;

  /// Bytes of one element in an array (bool: one byte).
  static unsigned bytesInMemory(mlir::Type elementType);
  /// Reads element `i` from its bytes in an array.
  void readElement(size_t i, const void *bytes);
  /// Writes element `i` as its bytes in an array.
  void writeElement(size_t i, void *bytes) const;

  /// From an arith.constant's value (scalar or dense elements).
  static HostTile fromAttribute(mlir::TypedAttr value);

  std::vector<uint64_t> ints;
  std::vector<float> floats;
  std::vector<double> doubles;

private:
  llvm::SmallVector<int64_t, 4> dims;
  mlir::Type element;
  size_t count = 1;
  Form kind = Form::Int;
  unsigned bits = 64;
};

using TileRef = std::shared_ptr<const HostTile>;

} // namespace tilec::interpreter

#endif // TILEC_INTERPRETER_HOSTTILE_H
