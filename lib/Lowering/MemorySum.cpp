//===- MemorySum.cpp - blocks add up their parts in memory -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: tgpu.memory_sum, whose tiles lie in the same registers of the same threads in all
// blocks. Out: a meeting in the workspace at which nobody waits:
//
//   my places of the workspace = my registers     pieces of 16 bytes
//   the block's barrier
//   thread 0: n = the position's counter, which goes on, and from parts - 1 back to 0
//   any thread has n == parts - 1?                the block's barrier
//   if so:
//     my registers = sum over parts, in their order, of my places in each
//     all that comes behind it in the kernel
//
// The workspace has a counter for each position of the grid, then the places
// (Workspace.h): a block's lie together, of each tile a piece of all threads beside the next
// piece, so that warps write and read whole lines. The last block reads its own part
// back, too: so the sum is the same whichever block is last, and no register is needed
// while the block learns whether it is.
//
// The atomic releases what the block wrote before its barrier, and acquires what the others
// released. It leaves the counter as it was, for the next launch.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Atoms/HelperCall.h"
#include "tilec/Support/Workspace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

namespace {
/// Where the registers of one tile go.
struct SumPlaces {
  VectorType piece;   ///< what a thread moves at once
  int64_t pieces;     ///< of a thread
  int64_t begin;      ///< byte of the block's part at which the tile begins
  int64_t pieceBytes;
  Value ofThread = {}; ///< i64: bytes from a piece of thread 0 to that of this one

  SumPlaces(RankedTensorType tile, int64_t begin) : begin(begin) {
    auto registers = int64_t(tile::getLayout(tile).size(Input::Register));
    Type element = tile.getElementType();
    int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
    int64_t count = std::min<int64_t>(registers, 16 / elementBytes);
    piece = VectorType::get(count, element);
    pieces = registers / count;
    pieceBytes = count * elementBytes;
  }

  /// From one piece of a thread to its next.
  int64_t stride(int64_t threads) const { return pieceBytes * threads; }
  int64_t end(int64_t threads) const { return begin + pieces * stride(threads); }
};
} // namespace

static SmallVector<SumPlaces> placesOf(tgpu::MemorySumOp op, int64_t threads) {
  SmallVector<SumPlaces> places;
  for (Value tile : op.getTiles())
    places.emplace_back(cast<RankedTensorType>(tile.getType()),
                        places.empty() ? 0 : places.back().end(threads));
  return places;
}

int64_t Emitter::bytesOfSums(tile::KernelOp kernel) {
  int64_t threads = 32 * int64_t(kernel.getNumWarps().value_or(4)), bytes = 0;
  for (auto sum : kernel.getBody().front().getOps<tgpu::MemorySumOp>())
    bytes = placesOf(sum, threads).back().end(threads);
  return int64_t(llvm::alignTo(uint64_t(bytes), workspaceAlignment));
}

Value Emitter::part() { return NVVM::BlockIdYOp::create(builder, loc, builder.getI32Type()); }

Value Emitter::numParts() {
  if (splitK.value_or(0))
    return i32(*splitK);
  return NVVM::GridDimYOp::create(builder, loc, builder.getI32Type());
}

/// The number that neither changes a sum's value nor its sign.
static Value neutralOf(OpBuilder &builder, Location loc, VectorType type) {
  TypedAttr attr = builder.getZeroAttr(type);
  if (auto real = dyn_cast<FloatType>(type.getElementType()))
    attr = DenseElementsAttr::get(type, APFloat::getZero(real.getFloatSemantics(), /*Negative=*/true));
  return arith::ConstantOp::create(builder, loc, attr);
}

/// Whether this block is the last of its position to come here, in all threads.
static Value emitIsLast(OpBuilder &builder, Location loc, Value thread, Value counter, Value parts) {
  auto i32 = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  };
  auto is = [&](Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, b);
  };
  auto ofThread = scf::IfOp::create(builder, loc, TypeRange{builder.getI1Type()}, is(thread, i32(0)),
                                    /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(ofThread.thenBlock());
    Value most = arith::SubIOp::create(builder, loc, parts, i32(1));
    Value number = emitHelper(builder, loc,
                              {"tilec.atom.inc.acq_rel.gpu.u32",
                               "atom.acq_rel.gpu.global.inc.u32 $0, [$1], $2;", "", "memory"},
                              {builder.getI32Type()}, {counter, most})
                       .front();
    scf::YieldOp::create(builder, loc, is(number, most));
    builder.setInsertionPointToStart(ofThread.elseBlock());
    scf::YieldOp::create(builder, loc,
                         Value(arith::ConstantIntOp::create(builder, loc, 0, 1)));
  }
  return LLVM::CallIntrinsicOp::create(
             builder, loc, builder.getI1Type(),
             builder.getStringAttr("llvm.nvvm.barrier.cta.red.or.aligned.all"),
             ValueRange{i32(0), ofThread.getResult(0)})
      .getResult(0);
}

LogicalResult Emitter::emitMemorySum(tgpu::MemorySumOp op) {
  int64_t threads = numThreads();
  SmallVector<SumPlaces> places = placesOf(op, threads);
  Type i64Type = builder.getI64Type();
  auto wide = [&](Value number) -> Value {
    return arith::ExtUIOp::create(builder, loc, i64Type, number);
  };
  auto multiply = [&](Value a, Value b) -> Value { return arith::MulIOp::create(builder, loc, a, b); };
  auto add = [&](OpBuilder &at, Value a, Value b) -> Value {
    if (isa<FloatType>(getElementTypeOrSelf(a)))
      return arith::AddFOp::create(at, loc, a, b);
    return arith::AddIOp::create(at, loc, a, b);
  };

  // The counters, rounded up, then a place for each part of each position.
  Value position = NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
  Value positions = NVVM::GridDimXOp::create(builder, loc, builder.getI32Type());
  Value counterBytes = add(builder, multiply(wide(positions), i64(workspaceCounterBytes)),
                           i64(workspaceAlignment - 1));
  counterBytes = arith::AndIOp::create(builder, loc, counterBytes, i64(-workspaceAlignment));
  counterBytes =
      arith::MaxUIOp::create(builder, loc, counterBytes, i64(workspaceFixedCounters));
  Value parts = numParts();
  Value ofPosition = multiply(wide(position), wide(multiply(parts, i32(sumBytes))));
  Value first = addBytes(addBytes(workspace, counterBytes), ofPosition);
  Value own = addBytes(first, wide(multiply(part(), i32(sumBytes))));
  for (SumPlaces &tile : places)
    tile.ofThread = wide(multiply(thread, i32(tile.pieceBytes)));
  auto placeOf = [&](OpBuilder &at, Value block, const SumPlaces &tile, int64_t number) -> Value {
    Value begin = LLVM::GEPOp::create(at, loc, block.getType(), builder.getI8Type(), block,
                                      ArrayRef<LLVM::GEPArg>{tile.ofThread});
    auto bytes = int32_t(tile.begin + number * tile.stride(threads));
    return LLVM::GEPOp::create(at, loc, block.getType(), builder.getI8Type(), begin,
                               ArrayRef<LLVM::GEPArg>{bytes});
  };
  for (auto [tile, part] : llvm::zip(places, op.getTiles()))
    for (int64_t number = 0; number < tile.pieces; ++number) {
      int64_t count = tile.piece.getNumElements();
      SmallVector<Value> elements;
      for (int64_t i = 0; i < count; ++i)
        elements.push_back(extract(get(part), number * count + i));
      LLVM::StoreOp::create(builder, loc, fromElements(elements),
                            placeOf(builder, own, tile, number), unsigned(tile.pieceBytes));
    }
  if (failed(emitBarrier()))
    return failure();
  Value counter = addBytes(workspace, multiply(wide(position), i64(workspaceCounterBytes)));
  Value isLast = emitIsLast(builder, loc, thread, counter, parts);

  // What comes behind is for the last block: it stays inside of the branch.
  auto branch = scf::IfOp::create(builder, loc, isLast, /*withElse=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> sums;
  for (const SumPlaces &tile : places)
    sums.append(tile.pieces, neutralOf(builder, loc, tile.piece));
  // Two parts at a time: their loads are under way together.
  auto loop = scf::ForOp::create(
      builder, loc, i32(0), parts, i32(2), sums,
      [&](OpBuilder &body, Location, Value number, ValueRange before) {
        Value bytes = arith::MulIOp::create(body, loc, number,
                                            arith::ConstantIntOp::create(body, loc, sumBytes, 32));
        Value offset = arith::ExtUIOp::create(body, loc, i64Type, bytes);
        Value block = LLVM::GEPOp::create(body, loc, first.getType(), builder.getI8Type(), first,
                                          ArrayRef<LLVM::GEPArg>{offset});
        Value next = LLVM::GEPOp::create(body, loc, first.getType(), builder.getI8Type(), block,
                                         ArrayRef<LLVM::GEPArg>{int32_t(sumBytes)});
        SmallVector<Value> after;
        for (const SumPlaces &tile : places)
          for (int64_t piece = 0; piece < tile.pieces; ++piece) {
            Value sum = before[after.size()];
            for (Value from : {block, next})
              sum = add(body, sum,
                        LLVM::LoadOp::create(body, loc, tile.piece,
                                             placeOf(body, from, tile, piece),
                                             unsigned(tile.pieceBytes)));
            after.push_back(sum);
          }
        scf::YieldOp::create(body, loc, after);
      });
  size_t next = 0;
  for (auto [tile, result] : llvm::zip(places, op.getResults())) {
    SmallVector<Value> elements;
    for (int64_t piece = 0; piece < tile.pieces; ++piece, ++next)
      for (int64_t i = 0; i < tile.piece.getNumElements(); ++i)
        elements.push_back(extract(loop.getResult(unsigned(next)), i));
    set(result, fromElements(elements));
  }
  return success();
}
