//===- Type.h - types of values in the tile language ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The type of a value: a dtype and a shape known at compile time. A scalar is
// the tile of rank 0, so there is one kind of value, not two. Two more kinds
// stand beside it: nothing (what `store` gives) and poison (what an expression
// has after an error was reported in it; every check on it succeeds, which is
// what stops one mistake from being reported twice).
//
// Arrays are not values: they are parameters (Checked.h, Param).
//===----------------------------------------------------------------------===//
#ifndef TILEC_FRONTEND_TYPE_H
#define TILEC_FRONTEND_TYPE_H

#include "tilec/Support/DType.h"
#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <cstdint>
#include <string>

namespace tilec {

/// Most axes that a tile or an array may have.
inline constexpr unsigned maxTileRank = 6;
/// Most elements that a tile may have (tile-C2).
inline constexpr int64_t maxTileElements = int64_t(1) << 20;

/// Type of a value. Small, trivially copyable, compared by meaning.
class Type {
public:
  enum class Kind : uint8_t { Poison, Nothing, Value };

  Type() = default;
  static Type poison() { return Type(); }
  static Type nothing() {
    Type t;
    t.theKind = Kind::Nothing;
    return t;
  }
  static Type scalar(DType dtype) { return tile(dtype, {}); }
  /// `shape` has at most maxTileRank entries.
  static Type tile(DType dtype, llvm::ArrayRef<int64_t> shape);

  Kind kind() const { return theKind; }
  bool isPoison() const { return theKind == Kind::Poison; }
  bool isNothing() const { return theKind == Kind::Nothing; }
  bool isValue() const { return theKind == Kind::Value; }
  /// A value of rank 0.
  bool isScalar() const { return isValue() && theRank == 0; }
  /// A value of rank 1 or more.
  bool isTile() const { return isValue() && theRank != 0; }

  DType dtype() const { return theDType; }
  unsigned rank() const { return theRank; }
  llvm::ArrayRef<int64_t> shape() const { return {dims.data(), theRank}; }
  int64_t dim(unsigned axis) const { return dims[axis]; }
  int64_t numElements() const;

  /// The same shape with another dtype, and the reverse.
  Type withDType(DType dtype) const { return tile(dtype, shape()); }
  Type withShape(llvm::ArrayRef<int64_t> shape) const { return tile(theDType, shape); }

  bool operator==(const Type &other) const {
    return theKind == other.theKind &&
           (theKind != Kind::Value || (theDType == other.theDType && shape() == other.shape()));
  }

  /// As in source: `f32[128, 64]`, `f32`; `nothing`.
  std::string str() const;

private:
  Kind theKind = Kind::Poison;
  uint8_t theRank = 0;
  DType theDType{};
  std::array<int64_t, maxTileRank> dims{};
};

/// A shape as in source: `[128, 64]`.
std::string shapeString(llvm::ArrayRef<int64_t> shape);

} // namespace tilec

#endif // TILEC_FRONTEND_TYPE_H
