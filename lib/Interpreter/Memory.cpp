//===- Memory.cpp - loads and stores of tiles ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A tile's origin is `index * shape` (or `index`, counting elements) along each
// array dim, a mathematical integer: it is formed in 128 bits. What lies outside
// the array reads as the pad value and is not written.
//
//===------------------------------------------------------------------------===//

#include "BlockRun.h"

using namespace mlir;

namespace tilec::interpreter {

namespace {

/// How a tile lies in an array: per tile dim, the local coordinates inside the
/// array, [begin, end), and the step in bytes.
struct Placement {
  llvm::SmallVector<int64_t, 6> shape;         // of the tile
  llvm::SmallVector<int64_t, 6> begin, end;    // local coordinates inside
  llvm::SmallVector<int64_t, 6> stride;        // bytes a step
  char *origin = nullptr;                      // of local coordinate `begin`
  bool empty = false;

  Placement(const ArrayArg &array, unsigned elementBytes, llvm::ArrayRef<int64_t> tileShape,
            llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> order, bool elements) {
    shape.assign(tileShape.begin(), tileShape.end());
    origin = static_cast<char *>(array.data);
    for (auto [k, size] : llvm::enumerate(tileShape)) {
      int64_t d = order.empty() ? int64_t(k) : order[k];
      __int128 start = __int128(index[k]) * (elements ? 1 : size);
      __int128 lower = std::max<__int128>(0, -start);
      __int128 upper = std::min<__int128>(size, array.dims[d] - start);
      empty |= lower >= upper;
      begin.push_back(lower >= upper ? 0 : int64_t(lower));
      end.push_back(lower >= upper ? 0 : int64_t(upper));
      stride.push_back(array.strides[d] * int64_t(elementBytes));
      if (lower < upper)
        origin += int64_t(start + lower) * stride.back();
    }
  }

  /// Calls `f(linear index in the tile, address)` for each element inside.
  template <typename F>
  void forEachInside(F f) const {
    if (empty)
      return;
    walk(0, 0, origin, f);
  }

private:
  template <typename F>
  void walk(unsigned dim, size_t linear, char *address, F &f) const {
    if (dim == shape.size())
      return f(linear, address);
    for (int64_t i = begin[dim]; i < end[dim]; ++i, address += stride[dim])
      walk(dim + 1, linear * shape[dim] + i, address, f);
  }
};

} // namespace

const ArrayArg &BlockRun::arrayOf(Value array) const {
  return std::get<ArrayArg>(args[cast<BlockArgument>(array).getArgNumber()]);
}

llvm::SmallVector<int64_t, 6> BlockRun::indicesOf(ValueRange index) const {
  llvm::SmallVector<int64_t, 6> result;
  for (Value value : index)
    result.push_back(getIndex(value));
  return result;
}

/// The shape that an access covers; a scalar is one element along every dim.
static llvm::SmallVector<int64_t, 6> accessShape(Type type, unsigned rank) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return llvm::SmallVector<int64_t, 6>(shaped.getShape());
  return llvm::SmallVector<int64_t, 6>(rank, 1);
}

HostTile BlockRun::load(tile::LoadOp op) {
  const ArrayArg &array = arrayOf(op.getArray());
  HostTile result(op.getResult().getType());
  HostTile pad = HostTile::fromAttribute(op.getPadValue());
  for (size_t i = 0; i < result.size(); ++i)
    result.copyElement(i, pad, 0);
  auto shape = accessShape(op.getResult().getType(), array.rank);
  Placement placement(array, HostTile::bytesInMemory(result.elementType()), shape,
                      indicesOf(op.getIndex()), op.getOrder().value_or(llvm::ArrayRef<int64_t>()),
                      op.getElements());
  placement.forEachInside([&](size_t i, char *address) { result.readElement(i, address); });
  return result;
}

void BlockRun::store(tile::StoreOp op) {
  const ArrayArg &array = arrayOf(op.getArray());
  const HostTile &value = get(op.getValue());
  auto shape = accessShape(op.getValue().getType(), array.rank);
  Placement placement(array, HostTile::bytesInMemory(value.elementType()), shape,
                      indicesOf(op.getIndex()), op.getOrder().value_or(llvm::ArrayRef<int64_t>()),
                      op.getElements());
  placement.forEachInside([&](size_t i, char *address) { value.writeElement(i, address); });
}

} // namespace tilec::interpreter
