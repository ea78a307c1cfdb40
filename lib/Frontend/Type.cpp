//===- Type.cpp - types of values in the tile language --------------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Construction and source spelling of value types; see Type.h.
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Type.h"

#include "llvm/ADT/StringExtras.h"
#include <cassert>

using namespace tilec;

Type Type::tile(DType dtype, llvm::ArrayRef<int64_t> shape) {
  assert(shape.size() <= maxTileRank && "rank is checked by the caller");
  Type type;
  type.theKind = Kind::Value;
  type.theDType = dtype;
  type.theRank = static_cast<uint8_t>(shape.size());
  std::copy(shape.begin(), shape.end(), type.dims.begin());
  return type;
}

int64_t Type::numElements() const {
  int64_t count = 1;
  for (int64_t dim : shape())
    count *= dim;
  return count;
}

std::string Type::str() const {
  if (isPoison())
    return "unknown";
  if (isNothing())
    return "nothing";
  std::string text(dtypeName(theDType));
  if (theRank != 0)
    text += shapeString(shape());
  return text;
}

std::string tilec::shapeString(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}
