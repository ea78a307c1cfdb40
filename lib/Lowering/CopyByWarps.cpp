//===- CopyByWarps.cpp - copies from wherever an array begins ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a tgpu.copy in a ring of copy "warps", of an array of which only is known that its rows
// begin at words. Out: this thread's part, by the largest pieces that address and pitches
// allow, which the launch decides:
//
//   %bits = %address | %pitch
//   if all of the tile exists:
//     if (%bits & 15) == 0      cp.async of 16 bytes
//     elif (%bits & 7) == 0     cp.async of 8
//     else                      cp.async of 4
//   else, at edges              cp.async of 4, of fewer where the row ends, 0 where there is none
//
// What exists wholly needs no comparisons, which would be half of the code of a piece. For each
// width neighbouring lanes have neighbouring pieces. Each way is a loop over a few pieces, as it
// is one of four.
//
// Arrays of any alignment are not for such warps: 16 bytes out of two aligned accesses, as
// threads load them (Runs.cpp), take registers that they do not have. What they spill is in the
// way of the other pieces, and they have half the speed of the warps that multiply.
//
//===------------------------------------------------------------------------===//
#include "AsyncCopy.h"

#include "tilec/Analysis/CopyLayout.h"
#include "tilec/Transforms/RolledLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;

/// Pieces that a thread starts in a round.
static constexpr unsigned piecesInRound = 8;

/// The tile's address and the pitches of its rows, or'ed: what is aligned in all of them is
/// aligned in each row.
Value AsyncCopyEmitter::emitRowBits() {
  Value bits, offset;
  auto add = [&](Value more) {
    bits = bits ? arith::OrIOp::create(builder, loc, bits, more).getResult() : more;
  };
  for (auto [arrayDim, dim] : llvm::enumerate(dims)) {
    Value term = arith::MulIOp::create(builder, loc, dim.start, view.strides[arrayDim]);
    offset = offset ? arith::AddIOp::create(builder, loc, offset, term).getResult() : term;
    if (dim.exists && arrayDim + 1 < dims.size())
      add(view.strides[arrayDim]);
  }
  add(offset);
  bits = arith::MulIOp::create(builder, loc, bits, e.i64(elementBytes));
  add(LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), view.base));
  return arith::TruncIOp::create(builder, loc, builder.getI32Type(), bits);
}

/// All pieces of `bytes`, some at a time.
void AsyncCopyEmitter::copyAligned(int64_t bytes, bool isChecked) {
  Layout pieces = copyLayout(inBuffer.shape(), op.getOrder(), unsigned(elementBytes),
                             unsigned(copyingWarps), bytes);
  uint64_t elements = uint64_t(bytes / elementBytes), all = pieces.size(Input::Register);
  uint64_t inRound = std::min(all, elements * piecesInRound);
  SmallVector<uint64_t> numbers;
  for (uint64_t number = 0; number < inRound; number += elements)
    numbers.push_back(number);
  e.emitUnder(emitIsFirstCopy(builder, loc, pieces, e.thread), [&] {
    if (inRound == all) {
      setLayout(pieces);
      return copyPieces(numbers, bytes, isChecked);
    }
    auto loop = scf::ForOp::create(builder, loc, e.i32(0), e.i32(int64_t(all / inRound)), e.i32(1));
    keepRolled(loop);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    setLayout(pieces, loop.getInductionVar(), llvm::Log2_64(all / inRound));
    copyPieces(numbers, bytes, isChecked);
  });
}

/// i32: how many elements from this one on exist along the array's last dim, if its row does;
/// may be negative, or more than there are in the tile. Null: that is known.
Value AsyncCopyEmitter::countAt(uint64_t flat) {
  const Dim &dim = dims.back();
  if (!dim.exists)
    return {};
  uint64_t own = layout.field(flat, unsigned(dim.tileDim));
  Value &count = counts[own];
  if (!count) {
    // What a tile that is said to begin somewhere, never before the array (beginsAtWords), has
    // in front of its end. Own places are few: their difference cannot overflow.
    Value there = dim.exists;
    if (dim.shift) {
      there = arith::SubIOp::create(builder, loc, dim.exists, dim.shift);
      there = arith::MaxSIOp::create(builder, loc, there, e.i32(0));
    }
    count = arith::SubIOp::create(builder, loc, there, dim.own);
    if (own)
      count = arith::SubIOp::create(builder, loc, count, e.i32(int64_t(own)));
  }
  return count;
}

/// i1: all elements of the tile exist; null where that is known.
Value AsyncCopyEmitter::emitIsWhole() {
  Value all = uniform;
  for (const Dim &dim : dims) {
    if (!dim.exists)
      continue;
    Value width = e.i32(inBuffer.shape()[dim.tileDim]), isWhole;
    if (dim.shift) {
      Value last = arith::SubIOp::create(builder, loc, dim.exists, width);
      Value begins =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, dim.shift, e.i32(0));
      isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, dim.shift, last);
      isWhole = arith::AndIOp::create(builder, loc, begins, isWhole);
    } else {
      isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, dim.exists, width);
    }
    all = all ? arith::AndIOp::create(builder, loc, all, isWhole).getResult() : isWhole;
  }
  return all;
}

void AsyncCopyEmitter::copyPieces(ArrayRef<uint64_t> numbers, int64_t bytes, bool isChecked) {
  for (uint64_t number : numbers) {
    uint64_t flat = layout.applyFlat(Position::thread(number, 0));
    Value source = sourceAddress(flat), target = targetAddress(number), size;
    if (Value count = isChecked ? countAt(flat) : Value()) {
      count = arith::MinSIOp::create(builder, loc, count, e.i32(bytes / elementBytes));
      count = arith::MaxSIOp::create(builder, loc, count, e.i32(0));
      size = arith::MulIOp::create(builder, loc, count, e.i32(elementBytes));
    }
    if (Value exists = isChecked ? rowExistsAt(flat) : Value())
      size = arith::SelectOp::create(builder, loc, exists, size ? size : e.i32(bytes), e.i32(0));
    e.emitAsyncCopy(target, source, bytes, size);
  }
}

void AsyncCopyEmitter::emitByWarps() {
  for (unsigned arrayDim = 0; arrayDim < view.dims.size(); ++arrayDim)
    dims.push_back(describe(arrayDim));
  Value bits = emitRowBits();
  auto isMultiple = [&](uint64_t bytes) { return e.hasBits(bits, bytes - 1, 0); };
  auto whole = [&] {
    e.emitUnder(isMultiple(16), [&] { copyAligned(16, false); }, [&] {
      e.emitUnder(isMultiple(8), [&] { copyAligned(8, false); }, [&] { copyAligned(4, false); });
    });
  };
  e.emitUnder(emitIsWhole(), whole, [&] { copyAligned(4, true); });
}
