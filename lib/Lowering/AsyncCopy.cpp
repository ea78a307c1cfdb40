//===- AsyncCopy.cpp - a tile on its way to shared memory, by threads -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a tgpu.copy in a ring that all threads of the block fill. Out: this thread's pieces
// (CopyLayout.h), a cp.async of 16 bytes each where array and place are known to be aligned:
//
//   cp.async.cg.shared.global [place + offset], [array + row * pitch + column], 16, size
//
// where `size` is 0, which writes zeros, for what does not exist. Pieces that are not aligned
// to at least 4 bytes have no instruction; they are loaded and stored.
//
//===------------------------------------------------------------------------===//
#include "AsyncCopy.h"

#include "tilec/Analysis/CopyLayout.h"
#include "tilec/Tile/BuildFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilec;

/// Start and extent along one dim of the array, as ArrayTile finds them: nothing
/// exists of a tile that begins behind the end, where the start may have overflowed; one
/// that begins before the array, counted in elements, may reach into it.
AsyncCopyEmitter::Dim AsyncCopyEmitter::describe(unsigned arrayDim) {
  Dim dim;
  Value index = e.toI64(e.get(op.getIndex()[arrayDim]));
  Value size = view.dims[arrayDim];
  ArrayRef<int64_t> order = op.getOrder();
  const int64_t *found = llvm::find(order, int64_t(arrayDim));
  if (found != order.end())
    dim.tileDim = int(found - order.begin());
  int64_t width = dim.tileDim < 0 ? 1 : inBuffer.shape()[dim.tileDim];
  unsigned log = llvm::Log2_64(uint64_t(width));
  dim.start = index;
  Value limit = size;
  if (!op.getElements() && log) {
    dim.start = arith::ShLIOp::create(builder, loc, index, e.i64(log));
    limit = arith::AddIOp::create(builder, loc, size, e.i64(width - 1));
    limit = arith::ShRUIOp::create(builder, loc, limit, e.i64(log));
  }
  Value begins = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, limit);
  if (width == 1) {
    uniform = uniform ? arith::AndIOp::create(builder, loc, uniform, begins).getResult()
                      : begins;
    return dim;
  }
  Value whole = e.i64(width);
  IndexRange range = e.facts.rangeOf(op.getIndex()[arrayDim], op);
  if (op.getElements() && range.min < 0) {
    bool fits = range.min >= INT32_MIN && range.max <= INT32_MAX;
    auto [shift, count] =
        emitExistingPart(builder, loc, index, size, width, {fits, e.isIndex32});
    dim.shift = shift;
    dim.exists = count;
    return dim;
  }
  Value rest = arith::SubIOp::create(builder, loc, size, dim.start);
  Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, rest, whole);
  Value extent = arith::SelectOp::create(builder, loc, fits, whole, rest);
  extent = arith::SelectOp::create(builder, loc, begins, extent, e.i64(0));
  dim.exists = arith::TruncIOp::create(builder, loc, builder.getI32Type(), extent);
  return dim;
}

void AsyncCopyEmitter::setLayout(const Layout &newLayout, Value round, unsigned roundBits) {
  layout = newLayout;
  offsets = layout.then(inBuffer.invert());
  inside.clear();
  counts.clear();
  // What the thread's number and the round's give by `bases`, which both have.
  auto emitOwn = [&](const Layout &of, llvm::function_ref<uint64_t(uint64_t)> part,
                     uint64_t &bits) -> Value {
    LinearBases ofThread, ofRound;
    for (uint64_t basis : threadBases(of))
      ofThread.push_back(part(basis));
    for (uint64_t basis : of.bases(Input::Register).take_back(roundBits))
      ofRound.push_back(part(basis));
    bits = reachableBits(ofThread) | reachableBits(ofRound);
    Value own = emitLinear(builder, loc, e.thread, ofThread);
    if (!round || !reachableBits(ofRound))
      return own;
    return arith::XOrIOp::create(builder, loc, own, emitLinear(builder, loc, round, ofRound));
  };
  Value offset;
  for (auto [arrayDim, dim] : llvm::enumerate(dims)) {
    Value position = dim.start;
    if (dim.exists) {
      uint64_t bits = 0;
      unsigned tileDim = unsigned(dim.tileDim);
      dim.own = emitOwn(layout, [&](uint64_t basis) { return layout.field(basis, tileDim); }, bits);
      position = arith::AddIOp::create(
          builder, loc, position,
          arith::ExtUIOp::create(builder, loc, builder.getI64Type(), dim.own));
    }
    Value term = arith::MulIOp::create(builder, loc, position, view.strides[arrayDim]);
    offset = offset ? arith::AddIOp::create(builder, loc, offset, term).getResult() : term;
  }
  ownSource = LLVM::GEPOp::create(builder, loc, view.base.getType(),
                                  storedType(buffer.getElementType()), view.base,
                                  ArrayRef<LLVM::GEPArg>{offset});
  ownTarget = emitOwn(offsets, [](uint64_t basis) { return basis; }, targetBits);
}

/// How many elements one instruction may move: what is aligned at both ends.
unsigned AsyncCopyEmitter::pieceElements() {
  if (!e.isAligned16 || view.type.isStrided() || tile::isOfSingles(view.type))
    return 1;
  unsigned innermost = unsigned(view.type.getRank() - 1);
  if (dims[innermost].tileDim < 0)
    return 1;
  unsigned tileDim = unsigned(dims[innermost].tileDim);
  int64_t most = copyPieceBytes / elementBytes;
  if (op.getElements())
    most = std::min(most, e.facts.multipleOf(op.getIndex()[innermost]));
  // A single row may end within a piece.
  if (view.type.getRank() < 2)
    most = std::min(most, e.facts.dimMultiple(op.getArray(), innermost));
  unsigned bits = 0;
  ArrayRef<uint64_t> sources = layout.bases(Input::Register);
  ArrayRef<uint64_t> targets = offsets.bases(Input::Register);
  uint64_t others = 0;
  for (uint64_t basis : threadBases(offsets))
    others |= basis;
  while (bits < sources.size() && (int64_t(2) << bits) <= most &&
         layout.field(sources[bits], tileDim) == uint64_t(1) << bits &&
         targets[bits] == uint64_t(1) << bits && !(others >> bits & 1))
    ++bits;
  return 1u << bits;
}

Value AsyncCopyEmitter::sourceAddress(uint64_t flat) {
  Value offset;
  for (auto [arrayDim, dim] : llvm::enumerate(dims)) {
    uint64_t own = dim.tileDim < 0 ? 0 : layout.field(flat, unsigned(dim.tileDim));
    if (!own)
      continue;
    Value term = arith::MulIOp::create(builder, loc, e.i64(int64_t(own)), view.strides[arrayDim]);
    offset = offset ? arith::AddIOp::create(builder, loc, offset, term).getResult() : term;
  }
  if (!offset)
    return ownSource;
  return LLVM::GEPOp::create(builder, loc, ownSource.getType(),
                             storedType(buffer.getElementType()), ownSource,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// i1: the element exists along the first `numDims` dims of the array; null where that is
/// known.
Value AsyncCopyEmitter::existsAt(uint64_t flat, size_t numDims) {
  Value all = uniform;
  for (auto [arrayDim, dim] : llvm::enumerate(ArrayRef(dims).take_front(numDims))) {
    if (!dim.exists)
      continue;
    uint64_t own = layout.field(flat, unsigned(dim.tileDim));
    Value &known = inside[{unsigned(arrayDim), own}];
    if (!known) {
      Value coordinate = dim.own;
      if (own)
        coordinate = arith::AddIOp::create(builder, loc, coordinate, e.i32(int64_t(own)));
      if (dim.shift)
        coordinate = arith::AddIOp::create(builder, loc, coordinate, dim.shift);
      known = arith::CmpIOp::create(builder, loc,
                                    dim.shift ? arith::CmpIPredicate::ult
                                              : arith::CmpIPredicate::slt,
                                    coordinate, dim.exists);
    }
    all = all ? arith::AndIOp::create(builder, loc, all, known).getResult() : known;
  }
  return all;
}

Value AsyncCopyEmitter::targetAddress(uint64_t number) {
  uint64_t constant = offsets.applyFlat(Position::thread(number, 0));
  Value offset = emitXor(builder, loc, ownTarget, targetBits, constant);
  return LLVM::GEPOp::create(builder, loc, place.getType(),
                             storedType(buffer.getElementType()), place,
                             ArrayRef<LLVM::GEPArg>{offset});
}

void AsyncCopyEmitter::copyPiece(uint64_t number, unsigned elements) {
  uint64_t flat = layout.applyFlat(Position::thread(number, 0));
  int64_t bytes = int64_t(elements) * elementBytes;
  Value source = sourceAddress(flat), target = targetAddress(number);
  Value exists = existsAt(flat, dims.size());
  if (bytes >= 4)
    return e.emitAsyncPiece(target, source, bytes, exists);
  Type type = storedType(buffer.getElementType());
  if (elements > 1)
    type = VectorType::get(int64_t(elements), type);
  if (exists) {
    Value zeros = LLVM::AddressOfOp::create(builder, loc, source.getType(), zeroGlobalName);
    source = arith::SelectOp::create(builder, loc, exists, source, zeros);
  }
  Value loaded = LLVM::LoadOp::create(builder, loc, type, source, unsigned(bytes));
  LLVM::StoreOp::create(builder, loc, loaded, target, unsigned(bytes));
}

void AsyncCopyEmitter::emit() {
  for (unsigned arrayDim = 0; arrayDim < view.dims.size(); ++arrayDim)
    dims.push_back(describe(arrayDim));
  setLayout(copyLayout(inBuffer.shape(), op.getOrder(), unsigned(elementBytes),
                       unsigned(e.kernel.getNumWarps().value_or(4))));
  unsigned elements = pieceElements();
  e.emitUnder(emitIsFirstCopy(builder, loc, layout, e.thread), [&] {
    for (uint64_t number = 0; number < layout.size(Input::Register); number += elements)
      copyPiece(number, elements);
  });
}
