//===- Tcgen05Code.cpp - code around tensor memory --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: an accumulator's address and the layout in which threads hold it. Out: tcgen05.ld and
// st of up to 32 columns at a time (PTX ISA, sections of these names, and "Data Movement
// Shape"), which a warp does for the 32 lanes that it reaches:
//
//   128 rows   shape 32x32b, lane l of warp w has row 32w + l, its registers are columns
//    64 rows   shape 16x256b: rows 16w … 16w + 15 are the first 16 of those lanes; the
//              registers lie as those of mma.sync do
//
// An address is lane << 16 | column. What a warp adds to the accumulator's address is
// linear in its number: 32 lanes for each of four, then columns.
//
// What tcgen05.ld gives may be used behind tcgen05.wait::ld only, but LLVM's intrinsic for
// that takes no values, so nothing would keep their uses behind it: the wait is a helper
// that the values pass through (HelperCall.h).
//
//===------------------------------------------------------------------------===//
#include "Tcgen05Code.h"

#include "tilec/Atoms/HelperCall.h"
#include "tilec/Atoms/ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

/// Registers of one access.
static constexpr int64_t accessRegisters = 32;
/// Registers that pass through one wait.
static constexpr size_t waitRegisters = 128;

Value tcgen05::pointerTo(OpBuilder &builder, Location loc, Value address) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 6);
  return LLVM::IntToPtrOp::create(builder, loc, pointer, address);
}

void tcgen05::allocate(OpBuilder &builder, Location loc, Value place, int64_t columns) {
  NVVM::Tcgen05AllocOp::create(builder, loc, place, emitI32(builder, loc, columns));
  NVVM::Tcgen05RelinquishAllocPermitOp::create(builder, loc);
}

void tcgen05::free(OpBuilder &builder, Location loc, Value address, int64_t columns) {
  NVVM::Tcgen05DeallocOp::create(builder, loc, pointerTo(builder, loc, address),
                                 emitI32(builder, loc, columns));
}

void tcgen05::commit(OpBuilder &builder, Location loc, Value barrier, int64_t numBlocks) {
  Value blocks;
  if (numBlocks > 1)
    blocks = arith::ConstantIntOp::create(builder, loc, (int64_t(1) << numBlocks) - 1, 16);
  NVVM::Tcgen05CommitOp::create(builder, loc, barrier, blocks);
}

void tcgen05::fenceBefore(OpBuilder &builder, Location loc) {
  NVVM::Tcgen05FenceOp::create(builder, loc, NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
}
void tcgen05::fenceAfter(OpBuilder &builder, Location loc) {
  NVVM::Tcgen05FenceOp::create(builder, loc, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
}

//===------------------------------------------------------------------------===//
// Loads and stores
//===------------------------------------------------------------------------===//

namespace {

/// Where the accesses of a thread are.
class AccumulatorAccess {
public:
  AccumulatorAccess(OpBuilder &builder, Location loc, Value address, const Layout &acc, Value warp)
      : builder(builder), loc(loc), acc(acc), isShort(acc.shape()[0] == 64) {
    LinearBases bases;
    for (unsigned bit = 0; bit < acc.numBits(Input::Warp); ++bit)
      bases.push_back(bit < 2 ? uint64_t(32) << bit << 16
                              : uint64_t(columnOf(acc.basis(Input::Warp, bit))));
    own = address;
    if (reachableBits(bases))
      own = arith::AddIOp::create(builder, loc, own, emitLinear(builder, loc, warp, bases));
    registers = int64_t(acc.size(Input::Register));
    perAccess = std::min(registers, accessRegisters);
  }

  NVVM::Tcgen05LdStShape shape() const {
    return isShort ? NVVM::Tcgen05LdStShape::SHAPE_16X256B : NVVM::Tcgen05LdStShape::SHAPE_32X32B;
  }
  VectorType type() const { return VectorType::get(perAccess, builder.getI32Type()); }

  /// Calls function(first register, pointer) for each access.
  template <typename Function> void forEach(Function function) {
    for (int64_t first = 0; first < registers; first += perAccess) {
      Value address = own;
      uint64_t flat = 0;
      for (unsigned bit = 0; bit < acc.numBits(Input::Register); ++bit)
        if (first >> bit & 1)
          flat ^= acc.basis(Input::Register, bit);
      if (int64_t column = columnOf(flat))
        address = arith::AddIOp::create(builder, loc, own, emitI32(builder, loc, column));
      function(first, tcgen05::pointerTo(builder, loc, address));
    }
  }

private:
  /// Of an element: the columns of the 128 rows before come first.
  int64_t columnOf(uint64_t flat) const {
    Layout::Coords at = acc.unflatten(flat);
    return at[0] / 128 * acc.shape()[1] + at[1];
  }

  OpBuilder &builder;
  Location loc;
  const Layout &acc;
  bool isShort;
  Value own;
  int64_t registers, perAccess;
};

} // namespace

Value tcgen05::read(OpBuilder &builder, Location loc, Value address, const Layout &acc,
                    VectorType type, Value warp) {
  AccumulatorAccess access(builder, loc, address, acc, warp);
  SmallVector<Value> words;
  access.forEach([&](int64_t, Value pointer) {
    Value loaded = NVVM::Tcgen05LdOp::create(builder, loc, access.type(), /*pack=*/false,
                                             access.shape(), pointer, /*offset=*/Value());
    auto elements = vector::ToElementsOp::create(builder, loc, loaded);
    llvm::append_range(words, elements.getResults());
  });
  SmallVector<Value> complete;
  for (ArrayRef<Value> rest = words; !rest.empty();) {
    size_t count = std::min(rest.size(), waitRegisters);
    SmallVector<Value> passed =
        emitTied(builder, loc, "tilec.tcgen05.wait.ld", "tcgen05.wait::ld.sync.aligned;",
                 rest.take_front(count));
    llvm::append_range(complete, passed);
    rest = rest.drop_front(count);
  }
  auto wordType = VectorType::get(type.getShape(), builder.getI32Type());
  Value vector = vector::FromElementsOp::create(builder, loc, wordType, complete);
  if (wordType != type)
    vector = arith::BitcastOp::create(builder, loc, type, vector);
  return vector;
}

void tcgen05::write(OpBuilder &builder, Location loc, Value address, const Layout &acc,
                    Value elements, Value warp) {
  AccumulatorAccess access(builder, loc, address, acc, warp);
  auto type = cast<VectorType>(elements.getType());
  auto wordType = VectorType::get(type.getShape(), builder.getI32Type());
  if (wordType != type)
    elements = arith::BitcastOp::create(builder, loc, wordType, elements);
  access.forEach([&](int64_t first, Value pointer) {
    SmallVector<int64_t> indices;
    for (int64_t i = 0; i < access.type().getNumElements(); ++i)
      indices.push_back(first + i);
    NVVM::Tcgen05StOp::create(builder, loc, /*unpack=*/false, access.shape(), pointer,
                              emitShuffle(builder, loc, elements, indices), /*offset=*/Value());
  });
  NVVM::Tcgen05WaitOp::create(builder, loc, NVVM::Tcgen05WaitKind::STORE);
}
