//===- Debug.cpp - records of prints and failed assertions -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: tile.print, tile.assert. Out: code that writes a record of Support/DebugRing.h.
//
//   print   thread 0 reserves the record and tells its position to the block through
//           shared memory; each thread writes the elements that it owns; after a
//           barrier thread 0 writes the number of the site, which completes the record
//   assert  of a tile: a barrier that also asks whether any thread has a false element;
//           only if so, the least index is found in shared memory and thread 0 writes
//
// Scalars are the same in all threads: thread 0 does everything and nobody waits.
// Control flow is uniform in a block, so barriers may stand wherever a print may. No
// thread stops at a failed assertion.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Support/DebugRing.h"
#include "tilec/Tile/DebugSites.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;

using arith::CmpIPredicate;

//===------------------------------------------------------------------------===//
// The ring
//===------------------------------------------------------------------------===//

/// `base` plus a number of bytes.
static Value byteAddress(OpBuilder &b, Location loc, Value base, LLVM::GEPArg offset) {
  return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// A word of the ring's header, as the host or other blocks left it.
static Value loadHeader(OpBuilder &b, Location loc, Value ring, unsigned at) {
  return LLVM::LoadOp::create(b, loc, b.getI64Type(), byteAddress(b, loc, ring, int32_t(at)),
                              /*alignment=*/8, /*isVolatile=*/true);
}

Value Emitter::emitIsThread0() {
  return arith::CmpIOp::create(builder, loc, CmpIPredicate::eq, thread, i32(0));
}

/// One attempt to move the cursor from `seen` by `bytes`: (what the cursor was,
/// whether there is no more to try, the record's position or -1).
static SmallVector<Value> tryToReserve(OpBuilder &b, Location loc, Value ring, Value seen,
                                       Value bytes) {
  Value end = arith::AddIOp::create(b, loc, seen, bytes);
  Value limit = loadHeader(b, loc, ring, DebugRing::limitAt);
  Value fits = arith::CmpIOp::create(b, loc, CmpIPredicate::ule, end, limit);
  auto attempt = scf::IfOp::create(
      b, loc, fits,
      [&](OpBuilder &body, Location) {
        Value cursor = byteAddress(body, loc, ring, int32_t(DebugRing::cursorAt));
        auto exchange = LLVM::AtomicCmpXchgOp::create(
            body, loc, cursor, seen, end, LLVM::AtomicOrdering::monotonic,
            LLVM::AtomicOrdering::monotonic, /*syncscope=*/"device");
        Value was = LLVM::ExtractValueOp::create(body, loc, exchange, ArrayRef<int64_t>{0});
        Value done = LLVM::ExtractValueOp::create(body, loc, exchange, ArrayRef<int64_t>{1});
        scf::YieldOp::create(body, loc, ValueRange{was, done, seen});
      },
      [&](OpBuilder &body, Location) {
        Value yes = arith::ConstantIntOp::create(body, loc, 1, 1);
        Value none = arith::ConstantIntOp::create(body, loc, -1, 64);
        scf::YieldOp::create(body, loc, ValueRange{seen, yes, none});
      });
  return SmallVector<Value>(attempt.getResults());
}

/// Reserves a record: its position (i64), or -1 when there is no room or no ring. What
/// does not fit is counted in the header's word `counter`. For one thread.
Value Emitter::emitReserve(int64_t bytes, unsigned counter) {
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), debugRing);
  Value hasRing = arith::CmpIOp::create(builder, loc, CmpIPredicate::ne, address, i64(0));
  Value size = i64(bytes);
  auto reserved = scf::IfOp::create(
      builder, loc, hasRing,
      [&](OpBuilder &b, Location) {
        Value first = loadHeader(b, loc, debugRing, DebugRing::cursorAt);
        Type i64Type = b.getI64Type();
        auto attempts = scf::WhileOp::create(
            b, loc, TypeRange{i64Type, i64Type}, ValueRange{first},
            [&](OpBuilder &body, Location, ValueRange seen) {
              SmallVector<Value> result = tryToReserve(body, loc, debugRing, seen[0], size);
              Value yes = arith::ConstantIntOp::create(body, loc, 1, 1);
              Value again = arith::XOrIOp::create(body, loc, result[1], yes);
              scf::ConditionOp::create(body, loc, again, ValueRange{result[0], result[2]});
            },
            [&](OpBuilder &body, Location, ValueRange values) {
              scf::YieldOp::create(body, loc, values[0]);
            });
        scf::YieldOp::create(b, loc, attempts.getResult(1));
      },
      [&](OpBuilder &b, Location) {
        scf::YieldOp::create(b, loc, arith::ConstantIntOp::create(b, loc, -1, 64).getResult());
      });
  Value position = reserved.getResult(0);
  Value isLost = arith::CmpIOp::create(builder, loc, CmpIPredicate::slt, position, i64(0));
  emitUnder(arith::AndIOp::create(builder, loc, isLost, hasRing), [&] {
    LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::add,
                              byteAddress(builder, loc, debugRing, int32_t(counter)), i64(1),
                              LLVM::AtomicOrdering::monotonic, /*syncscope=*/"device");
  });
  return position;
}

/// Runs `write` where there is a record at `position`. The ring's size is read there
/// once: it may lie across a bus.
void Emitter::emitUnderRecord(Value condition, llvm::function_ref<void()> write) {
  emitUnder(condition, [&] {
    debugMask = loadHeader(builder, loc, debugRing, DebugRing::maskAt);
    write();
  });
}

/// The address of byte `offset` (i64) of the record at `position`.
Value Emitter::emitRecordAddress(Value position, Value offset) {
  Value at = arith::AddIOp::create(builder, loc, position, offset);
  at = arith::AndIOp::create(builder, loc, at, debugMask);
  at = arith::AddIOp::create(builder, loc, at, i64(DebugRing::headerBytes));
  return byteAddress(builder, loc, debugRing, at);
}

/// Completes the record at `position`: the block, then the site. For one thread, once
/// all of the record's values are written.
void Emitter::emitCompleteRecord(Value position, int64_t site) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    Value id = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), emitBlockId(axis));
    LLVM::StoreOp::create(builder, loc, id,
                          emitRecordAddress(position, i64(DebugRing::blockAt + 4 * axis)), 4);
  }
  Value number = arith::AddIOp::create(builder, loc, debugFirstSite, i32(site + 1));
  LLVM::StoreOp::create(builder, loc, number,
                        emitRecordAddress(position, i64(DebugRing::siteAt)), 4,
                        /*isVolatile=*/false, /*isNonTemporal=*/false,
                        /*isInvariantGroup=*/false, LLVM::AtomicOrdering::release);
}

Value Emitter::emitDebugSlot() { return sharedAddress(debugSlotOffset); }

//===------------------------------------------------------------------------===//
// tile.print
//===------------------------------------------------------------------------===//

/// i64: the row-major number of the thread's element whose register part is `flat`.
static Value emitElementNumber(OpBuilder &b, Location loc, const Layout &layout, Value thread,
                               uint64_t flat) {
  LinearBases bases = threadBases(layout);
  Value own = emitLinear(b, loc, thread, bases);
  if (!own)
    return arith::ConstantIntOp::create(b, loc, int64_t(flat), 64);
  Value number = emitXor(b, loc, own, reachableBits(bases), flat);
  return arith::ExtUIOp::create(b, loc, b.getI64Type(), number);
}

/// Writes the thread's part of `source`, which begins `offset` bytes into the record.
void Emitter::emitRecordValue(Value position, Value source, uint64_t offset) {
  Type element = getElementTypeOrSelf(source.getType());
  Value value = emitToStored(builder, loc, get(source), element);
  int64_t bytes = tgpu::BufferType::storedBytes(element);
  auto tensor = dyn_cast<RankedTensorType>(source.getType());
  if (!tensor) {
    emitUnder(emitIsThread0(), [&] {
      LLVM::StoreOp::create(builder, loc, value,
                            emitRecordAddress(position, i64(int64_t(offset))), unsigned(bytes));
    });
    return;
  }
  Layout layout = tile::getLayout(tensor);
  auto write = [&] {
    uint64_t copies = layout.redundant(Input::Register);
    for (uint64_t reg = 0; reg < layout.size(Input::Register); ++reg) {
      if (reg & copies)
        continue;
      uint64_t flat = layout.applyFlat(Position::thread(reg, 0));
      Value at = emitElementNumber(builder, loc, layout, thread, flat);
      at = arith::MulIOp::create(builder, loc, at, i64(bytes));
      at = arith::AddIOp::create(builder, loc, at, i64(int64_t(offset)));
      LLVM::StoreOp::create(builder, loc, extract(value, int64_t(reg)),
                            emitRecordAddress(position, at), unsigned(bytes));
    }
  };
  if (Value isFirst = emitIsFirstCopy(builder, loc, layout, thread))
    emitUnder(isFirst, write);
  else
    write();
}

/// The number that the host knows `op` by.
static FailureOr<int64_t> siteOf(Operation *op) {
  if (auto site = op->getAttrOfType<IntegerAttr>(tile::siteAttr))
    return site.getInt();
  return op->emitError("has no number in attribute '") << tile::siteAttr << "'";
}

LogicalResult Emitter::emitPrint(tile::PrintOp op) {
  FailureOr<int64_t> number = siteOf(op);
  if (mlir::failed(number))
    return mlir::failure();
  DebugSite site = tile::describeSite(op);
  int64_t bytes = int64_t(DebugRing::recordBytes(site));
  bool hasTiles = llvm::any_of(op.getValues(), [](Value v) { return isa<ShapedType>(v.getType()); });
  auto writeValues = [&](Value position) {
    for (auto [index, value] : llvm::enumerate(op.getValues()))
      emitRecordValue(position, value, DebugRing::valueOffset(site, index));
  };
  auto isReserved = [&](Value position) {
    return arith::CmpIOp::create(builder, loc, CmpIPredicate::sge, position, i64(0)).getResult();
  };
  if (!hasTiles) {
    emitUnder(emitIsThread0(), [&] {
      Value position = emitReserve(bytes, DebugRing::droppedAt);
      emitUnderRecord(isReserved(position), [&] {
        writeValues(position);
        emitCompleteRecord(position, *number);
      });
    });
    return success();
  }
  Value slot = emitDebugSlot();
  emitUnder(emitIsThread0(), [&] {
    LLVM::StoreOp::create(builder, loc, emitReserve(bytes, DebugRing::droppedAt), slot, 8);
  });
  if (failed(emitBarrier()))
    return mlir::failure();
  Value position = LLVM::LoadOp::create(builder, loc, builder.getI64Type(), slot, 8);
  emitUnderRecord(isReserved(position), [&] { writeValues(position); });
  if (failed(emitBarrier()))
    return mlir::failure();
  Value completes = arith::AndIOp::create(builder, loc, emitIsThread0(), isReserved(position));
  emitUnderRecord(completes, [&] { emitCompleteRecord(position, *number); });
  return success();
}

//===------------------------------------------------------------------------===//
// tile.assert
//===------------------------------------------------------------------------===//

/// The record of a failed assertion; `index` (i64) is of its first false element. For
/// one thread.
void Emitter::emitFailure(Value index, int64_t site) {
  Value position = emitReserve(DebugRing::valuesAt + 8, DebugRing::unheardAt);
  Value isReserved =
      arith::CmpIOp::create(builder, loc, CmpIPredicate::sge, position, i64(0));
  emitUnderRecord(isReserved, [&] {
    LLVM::StoreOp::create(builder, loc, index,
                          emitRecordAddress(position, i64(DebugRing::valuesAt)), 8);
    emitCompleteRecord(position, site);
  });
}

/// i32: the least number of a false element of `condition` in this thread, or `none`.
Value Emitter::emitFirstFalse(Value condition, const Layout &layout, Value none) {
  Value first = none;
  for (uint64_t reg = 0; reg < layout.size(Input::Register); ++reg) {
    if (reg & layout.redundant(Input::Register))
      continue;
    uint64_t flat = layout.applyFlat(Position::thread(reg, 0));
    Value number = emitElementNumber(builder, loc, layout, thread, flat);
    number = arith::TruncIOp::create(builder, loc, builder.getI32Type(), number);
    Value holds = extract(condition, int64_t(reg));
    Value candidate = arith::SelectOp::create(builder, loc, holds, none, number);
    first = arith::MinUIOp::create(builder, loc, first, candidate);
  }
  return first;
}

LogicalResult Emitter::emitAssert(tile::AssertOp op) {
  FailureOr<int64_t> site = siteOf(op);
  if (failed(site))
    return mlir::failure();
  Value condition = get(op.getCondition());
  auto tensor = dyn_cast<RankedTensorType>(op.getCondition().getType());
  if (!tensor) {
    Value isFalse =
        arith::CmpIOp::create(builder, loc, CmpIPredicate::eq, condition,
                              arith::ConstantIntOp::create(builder, loc, 0, 1).getResult());
    emitUnder(arith::AndIOp::create(builder, loc, isFalse, emitIsThread0()),
              [&] { emitFailure(i64(0), *site); });
    return success();
  }
  Value none = i32(-1);
  Value first = emitFirstFalse(condition, tile::getLayout(tensor), none);
  Value isMine = arith::CmpIOp::create(builder, loc, CmpIPredicate::ne, first, none);
  // Every thread of the block arrives, and all learn whether any has a false element.
  Value isAny = LLVM::CallIntrinsicOp::create(
                    builder, loc, builder.getI1Type(),
                    builder.getStringAttr("llvm.nvvm.barrier.cta.red.or.aligned.all"),
                    ValueRange{i32(0), isMine})
                    .getResult(0);
  LogicalResult result = success();
  emitUnder(isAny, [&] {
    Value slot = emitDebugSlot();
    emitUnder(emitIsThread0(), [&] { LLVM::StoreOp::create(builder, loc, none, slot, 4); });
    result = emitBarrier();
    emitUnder(isMine, [&] {
      LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::umin, slot, first,
                                LLVM::AtomicOrdering::monotonic, /*syncscope=*/"block");
    });
    if (failed(emitBarrier()))
      result = mlir::failure();
    emitUnder(emitIsThread0(), [&] {
      Value least = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), slot, 4);
      emitFailure(arith::ExtUIOp::create(builder, loc, builder.getI64Type(), least), *site);
    });
  });
  return result;
}
