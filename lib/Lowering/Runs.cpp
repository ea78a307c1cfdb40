//===- Runs.cpp - neighbours in an array that may begin anywhere ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: the address of 16 bytes of elements side by side, of which the alignment is not known.
// Out: the four words, from the two aligned pieces of 16 bytes that have them all:
//
//   %s = %address & 15                       bytes in front of the run
//   %w0 … %w7                                the words of both pieces
//   %x0 … %x5 = %s & 8 ? %w2 … : %w0 …       eleven selections,
//   %y0 … %y4 = %s & 4 ? %x1 … : %x0 …
//   %r0 = (%y1 : %y0) >> 8 (%s & 3) …        and four funnel shifts
//
// The second piece is the one with the last element that exists, so each piece has one. What
// comes from behind the last is cut off. Both pieces lie in the array where the tile is not at
// its very beginning or end (Memory.cpp asks), so only what belongs to it is read; eight
// accesses to elements of 2 bytes would be as many lines looked up for each piece.
//
//===------------------------------------------------------------------------===//
#include "MemoryAccess.h"

#include "tilec/Atoms/ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilec;

namespace {

class Run {
public:
  Run(OpBuilder &builder, Location loc, int64_t elementBytes)
      : b(builder), loc(loc), elementBytes(elementBytes) {}

  Value emit(Value address, Value exists, Value count) {
    int64_t most = 16 / elementBytes;
    if (count)
      count = arith::MinSIOp::create(b, loc, count, i32(most));
    Value lastByte = count ? arith::SubIOp::create(b, loc, bytesOf(count), i32(1)).getResult()
                           : i32(15);
    if (exists) {
      Value zeros = LLVM::AddressOfOp::create(b, loc, address.getType(), zeroGlobalName);
      address = arith::SelectOp::create(b, loc, exists, address, zeros);
      lastByte = arith::SelectOp::create(b, loc, exists, lastByte, i32(0));
    }
    Value last = LLVM::GEPOp::create(b, loc, address.getType(), b.getI8Type(), address,
                                     ArrayRef<LLVM::GEPArg>{lastByte});
    SmallVector<Value> words = piece(address);
    llvm::append_range(words, piece(last));
    Value number = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), address);
    Value shift = arith::TruncIOp::create(b, loc, b.getI32Type(), number);
    words = moved(words, 2, 6, hasBit(shift, 8));
    words = moved(words, 1, 5, hasBit(shift, 4));
    Value bits = arith::ShLIOp::create(b, loc, masked(shift, 3), i32(3));
    SmallVector<Value> result;
    for (unsigned word = 0; word < 4; ++word) {
      Value run = LLVM::FshrOp::create(b, loc, words[word + 1], words[word], bits);
      if (count)
        run = arith::AndIOp::create(b, loc, run, keptBits(count, word));
      result.push_back(run);
    }
    return vector::FromElementsOp::create(b, loc, VectorType::get(4, b.getI32Type()), result);
  }

private:
  Value i32(int64_t value) { return emitI32(b, loc, value); }
  Value masked(Value value, int64_t mask) {
    return arith::AndIOp::create(b, loc, value, i32(mask));
  }
  Value hasBit(Value value, int64_t bit) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, masked(value, bit), i32(0));
  }
  Value bytesOf(Value count) {
    return arith::ShLIOp::create(b, loc, count, i32(llvm::Log2_64(uint64_t(elementBytes))));
  }

  /// The four words around `address`.
  SmallVector<Value> piece(Value address) {
    Value mask = arith::ConstantIntOp::create(b, loc, -16, 64);
    Value aligned = LLVM::PtrMaskOp::create(b, loc, address.getType(), address, mask);
    Value loaded = LLVM::LoadOp::create(b, loc, VectorType::get(4, b.getI32Type()), aligned,
                                        /*alignment=*/16);
    return SmallVector<Value>(vector::ToElementsOp::create(b, loc, loaded).getResults());
  }

  /// The first `count` words, or those `steps` further.
  SmallVector<Value> moved(ArrayRef<Value> words, unsigned steps, unsigned count, Value isMoved) {
    SmallVector<Value> result;
    for (unsigned word = 0; word < count; ++word)
      result.push_back(
          arith::SelectOp::create(b, loc, isMoved, words[word + steps], words[word]));
    return result;
  }

  /// All ones for the bits of this word that belong to the first `count` elements.
  Value keptBits(Value count, unsigned word) {
    Value bits = arith::ShLIOp::create(b, loc, bytesOf(count), i32(3));
    Value own = arith::SubIOp::create(b, loc, bits, i32(32 * int64_t(word)));
    own = arith::MaxSIOp::create(b, loc, own, i32(0));
    own = arith::MinSIOp::create(b, loc, own, i32(32));
    // Shifts are by less than 32: of 32 ones and as many zeros.
    Value one = arith::ConstantIntOp::create(b, loc, 1, 64);
    Value wide = arith::ShLIOp::create(
        b, loc, one, arith::ExtUIOp::create(b, loc, b.getI64Type(), own));
    Value ones = arith::SubIOp::create(b, loc, wide, one);
    return arith::TruncIOp::create(b, loc, b.getI32Type(), ones);
  }

  OpBuilder &b;
  Location loc;
  int64_t elementBytes;
};

} // namespace

Value tilec::emitRun(OpBuilder &builder, Location loc, Value address, Value exists, Value count,
                     int64_t elementBytes) {
  return Run(builder, loc, elementBytes).emit(address, exists, count);
}
