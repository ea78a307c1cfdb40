//===- Copies.cpp - tiles that the copy engine moves ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: tgpu.copy, tgpu.copy_out. Out: one instruction for each box (TensorBox.h), told by
// one thread. What an array looks like is not in the instruction but in a tensor map,
// 128 bytes that the launcher makes from the array and passes by value: the function gets
// a parameter for each, and an attribute that says what they describe:
//
//   tile.tensor_maps = [{param = 0 : i64, box = array<i64: 128, 64>, swizzle = 128 : i64}]
//
// A tile that all blocks of a cluster want is cut into as many parts; each block copies
// one to all. Where the launch gives a cluster fewer blocks, each copies several parts.
//
// The engine reads zeros outside of the array and writes nothing there, and counts in 32
// bits: positions are clamped to numbers that are outside of any array it knows.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Atoms/ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

//===------------------------------------------------------------------------===//
// Tensor maps
//===------------------------------------------------------------------------===//

/// The boxes of a copy's tile, at least `parts`; an error when there are none.
template <typename Op>
static FailureOr<BoxPlan> planCopy(Op op, tgpu::BufferType buffer, int64_t parts = 1) {
  unsigned bits = unsigned(buffer.getElementBytes()) * 8;
  std::optional<BoxPlan> plan =
      planBoxes(op.getTileLayout(), bits, op.getOrder(),
                unsigned(op.getArray().getType().getRank()), parts);
  if (!plan)
    return op.emitError("no boxes of the array make up ") << buffer;
  return *plan;
}

static TensorMap describe(const BoxPlan &plan, Value array) {
  return {int64_t(cast<BlockArgument>(array).getArgNumber()), plan.box,
          int64_t(plan.swizzleBytes)};
}

/// The boxes of a copy that goes out by warp groups: none holds what two groups stored.
static FailureOr<BoxPlan> planGroups(tgpu::CopyOutOp op) {
  tgpu::BufferType buffer = op.getBuffer().getType();
  Layout layout = op.getTileLayout();
  auto isGood = [&](const BoxPlan &plan) {
    return llvm::all_of(*op.getGroups(), [&](int64_t first) {
      for (auto [dim, size] : llvm::enumerate(layout.unflatten(uint64_t(first))))
        if (size && plan.box[op.getOrder()[dim]] > size)
          return false;
      return true;
    });
  };
  for (int64_t parts = 1;; parts *= 2) {
    FailureOr<BoxPlan> plan = planCopy(op, buffer, parts);
    if (failed(plan) || isGood(*plan))
      return plan;
  }
}

/// The boxes of `op`, if the engine does it; null where it does not.
static std::optional<FailureOr<BoxPlan>> planByEngine(Operation *op, int64_t clusterSize) {
  if (auto copy = dyn_cast<tgpu::CopyOp>(op))
    if (auto push = copy->getParentOfType<tgpu::PushOp>();
        push.getRing().getDefiningOp<tgpu::RingOp>().getCopy() == "tma")
      return planCopy(copy, copy.getBuffer(), copy.getMulticast() ? clusterSize : 1);
  if (auto copy = dyn_cast<tgpu::CopyOutOp>(op))
    return copy.getGroups() ? planGroups(copy) : planCopy(copy, copy.getBuffer().getType());
  return std::nullopt;
}

static Value arrayOf(Operation *op) {
  auto in = dyn_cast<tgpu::CopyOp>(op);
  return in ? in.getArray() : cast<tgpu::CopyOutOp>(op).getArray();
}

LogicalResult Emitter::planEngineCopies() {
  WalkResult result = kernel.walk([&](Operation *op) {
    std::optional<FailureOr<BoxPlan>> plan = planByEngine(op, clusterSize);
    if (!plan)
      return WalkResult::advance();
    if (failed(*plan))
      return WalkResult::interrupt();
    TensorMap map = describe(**plan, arrayOf(op));
    auto *found = llvm::find(tensorMaps, map);
    auto number = size_t(found - tensorMaps.begin());
    if (found == tensorMaps.end())
      tensorMaps.push_back(map);
    engineCopies.try_emplace(op, EngineCopy{std::move(**plan), number});
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===------------------------------------------------------------------------===//
// Positions
//===------------------------------------------------------------------------===//

SmallVector<Value> Emitter::emitTileStart(ValueRange index, bool isElements,
                                          ArrayRef<int64_t> shape,
                                          ArrayRef<int64_t> arrayDims) {
  SmallVector<Value> start;
  for (auto [arrayDim, position] : llvm::enumerate(index)) {
    const int64_t *found = llvm::find(arrayDims, int64_t(arrayDim));
    int64_t size = found == arrayDims.end() ? 1 : shape[found - arrayDims.begin()];
    unsigned shift = isElements ? 0 : llvm::Log2_64(uint64_t(size));
    // The whole tile stays within 32 bits; arrays with tensor maps end before that place.
    int64_t most = ((int64_t(1) << 31) - size) >> shift;
    Value clamped = arith::MinSIOp::create(builder, loc, toI64(get(position)), i64(most));
    clamped = arith::MaxSIOp::create(builder, loc, clamped, i64(-most));
    Value first = arith::TruncIOp::create(builder, loc, builder.getI32Type(), clamped);
    if (shift)
      first = arith::ShLIOp::create(builder, loc, first, i32(shift));
    start.push_back(first);
  }
  return start;
}

SmallVector<Value> Emitter::emitCoordinates(ArrayRef<Value> start,
                                            ArrayRef<int64_t> piece) {
  SmallVector<Value> coordinates;
  for (unsigned dim = unsigned(start.size()); dim-- > 0;) {
    Value coordinate = start[dim];
    if (piece[dim])
      coordinate = arith::AddIOp::create(builder, loc, coordinate, i32(piece[dim]));
    coordinates.push_back(coordinate);
  }
  return coordinates;
}

//===------------------------------------------------------------------------===//
// Into shared memory
//===------------------------------------------------------------------------===//

/// What `createpolicy` gives for all of what is read: caches drop it first, or as usual.
static constexpr int64_t evictFirst = 0x12F0000000000000, evictNormal = 0x1000000000000000;

/// How caches are to keep what `copy` reads (i64); null where there is nothing to say.
Value Emitter::cachePolicy(tgpu::CopyOp copy) {
  if (!copy.getOnceWithin())
    return {};
  Value isOnce;
  for (auto [axis, most] : llvm::enumerate(*copy.getOnceWithin())) {
    if (!most)
      continue;
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                       gridExtents[axis], i32(most));
    isOnce = isOnce ? arith::AndIOp::create(builder, loc, isOnce, fits).getResult() : fits;
  }
  if (!isOnce)
    return i64(evictFirst);
  return arith::SelectOp::create(builder, loc, isOnce, i64(evictFirst), i64(evictNormal));
}

void Emitter::emitBoxes(const BoxPlan &plan, Value map, ArrayRef<Value> start, Value place,
                        Value barrier, Value policy) {
  for (const BoxPlan::Piece &piece : plan.pieces)
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        builder, loc, addBytes(place, piece.byteOffset), map,
        emitCoordinates(start, piece.start), barrier, /*im2colOffsets=*/ValueRange(),
        /*multicastMask=*/Value(), policy, NVVM::TMALoadMode::TILE,
        /*isCTAOnly=*/true, /*group=*/NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
}

/// Where a share begins is linear in its number: both count powers of two.
void Emitter::emitShare(const BoxPlan &plan, Value number, Value map, ArrayRef<Value> start,
                        Value place, Value barrier, Value policy) {
  size_t share = plan.pieces.size() / size_t(clusterSize);
  auto ofShare = [&](function_ref<int64_t(const BoxPlan::Piece &)> position) {
    LinearBases bases;
    for (size_t bit = 1; bit < size_t(clusterSize); bit *= 2)
      bases.push_back(uint64_t(position(plan.pieces[bit * share])));
    return reachableBits(bases) ? emitLinear(builder, loc, number, bases) : Value();
  };
  SmallVector<Value> ownStart(start);
  for (auto [dim, coordinate] : llvm::enumerate(ownStart))
    if (Value more = ofShare([&](const BoxPlan::Piece &piece) { return piece.start[dim]; }))
      coordinate = arith::AddIOp::create(builder, loc, coordinate, more);
  Value offset = ofShare([](const BoxPlan::Piece &piece) { return piece.byteOffset; });
  Value ownPlace = LLVM::GEPOp::create(builder, loc, place.getType(), builder.getI8Type(),
                                       place, ArrayRef<LLVM::GEPArg>{offset});
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 7);
  Value mask = arith::ConstantIntOp::create(builder, loc, (int64_t(1) << clusterSize) - 1, 16);
  if (clusterAxis) {
    Value end = arith::ShLIOp::create(builder, loc, i32(1), clusterBlocks());
    mask = arith::TruncIOp::create(builder, loc, builder.getI16Type(),
                                   arith::SubIOp::create(builder, loc, end, i32(1)));
  }
  for (const BoxPlan::Piece &piece : ArrayRef(plan.pieces).take_front(share)) {
    Value address = addBytes(ownPlace, piece.byteOffset);
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        builder, loc, LLVM::AddrSpaceCastOp::create(builder, loc, pointer, address), map,
        emitCoordinates(ownStart, piece.start), barrier, /*im2colOffsets=*/ValueRange(),
        mask, policy, NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        /*group=*/NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  }
}

void Emitter::emitSharedBoxes(const BoxPlan &plan, Value map, ArrayRef<Value> start,
                              Value place, Value barrier, Value policy) {
  Value rank = clusterRank();
  emitShare(plan, rank, map, start, place, barrier, policy);
  // With n blocks the shares rank, rank + n, rank + 2 n, …
  for (int64_t blocks = clusterSize / 2; clusterAxis && blocks >= 1; blocks /= 2) {
    Value isSo = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, clusterBlocks(),
                                       i32(blocks));
    emitUnder(isSo, [&] {
      for (int64_t first = blocks; first < clusterSize; first += 2 * blocks) {
        Value number = arith::AddIOp::create(builder, loc, rank, i32(first));
        emitShare(plan, number, map, start, place, barrier, policy);
      }
    });
  }
}

void Emitter::emitCopies(tgpu::PushOp op, Value place, Value barrier) {
  tgpu::RingType ring = op.getRing().getType();
  for (auto copy : op.getCopies().front().getOps<tgpu::CopyOp>()) {
    loc = copy.getLoc();
    const EngineCopy &planned = engineCopies.find(copy)->second;
    Value map = tensorMapParameters[planned.map];
    SmallVector<Value> start = emitTileStart(copy.getIndex(), copy.getElements(),
                                             copy.getTileLayout().shape(), copy.getOrder());
    Value target = addBytes(place, ring.getSlotOffset(unsigned(copy.getSlot())));
    Value policy = cachePolicy(copy);
    if (copy.getMulticast() && clusterSize > 1)
      emitSharedBoxes(planned.boxes, map, start, target, barrier, policy);
    else
      emitBoxes(planned.boxes, map, start, target, barrier, policy);
  }
  loc = op.getLoc();
}

//===------------------------------------------------------------------------===//
// Out of shared memory
//===------------------------------------------------------------------------===//

/// i1: this is the thread that tells the engine, of the block or of its warp group.
static Value emitIsSpeaker(OpBuilder &builder, Location loc, Value thread, bool byGroup) {
  if (byGroup)
    thread = arith::AndIOp::create(builder, loc, thread, emitI32(builder, loc, 127));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, thread,
                               emitI32(builder, loc, 0));
}

/// Keeps of `plan` the boxes of group 0; gives what a group's number adds to the offset
/// of each box and, per array dim, to its start.
static std::pair<LinearBases, SmallVector<LinearBases>> splitGroups(tgpu::CopyOutOp op,
                                                                    BoxPlan &plan) {
  Layout layout = op.getTileLayout();
  LinearBases offsets;
  SmallVector<LinearBases> starts(plan.box.size());
  ArrayRef<int64_t> groups = *op.getGroups();
  for (int64_t first : groups) {
    SmallVector<int64_t, 6> start(plan.box.size(), 0);
    for (auto [dim, size] : llvm::enumerate(layout.unflatten(uint64_t(first))))
      start[op.getOrder()[dim]] = size;
    for (auto [dim, size] : llvm::enumerate(start))
      starts[dim].push_back(uint64_t(size));
    auto isFirst = [&](const BoxPlan::Piece &piece) { return piece.start == start; };
    offsets.push_back(uint64_t(llvm::find_if(plan.pieces, isFirst)->byteOffset));
    llvm::erase_if(plan.pieces, [&](const BoxPlan::Piece &piece) {
      return llvm::any_of(llvm::zip_equal(piece.start, start), [](auto both) {
        return std::get<0>(both) & std::get<1>(both);
      });
    });
  }
  return {offsets, starts};
}

static NVVM::TMAReduxKind reductionOf(tile::AtomicKind kind) {
  switch (kind) {
  case tile::AtomicKind::Max:
    return NVVM::TMAReduxKind::MAX;
  case tile::AtomicKind::Min:
    return NVVM::TMAReduxKind::MIN;
  case tile::AtomicKind::And:
    return NVVM::TMAReduxKind::AND;
  case tile::AtomicKind::Or:
    return NVVM::TMAReduxKind::OR;
  case tile::AtomicKind::Xor:
    return NVVM::TMAReduxKind::XOR;
  default:
    return NVVM::TMAReduxKind::ADD;
  }
}

LogicalResult Emitter::emitCopyOut(tgpu::CopyOutOp op) {
  if (failed(emitFenceAsync()))
    return failure();
  bool byGroup = op.getGroups().has_value();
  if (byGroup)
    emitGroupBarrier();
  else if (failed(emitBarrier()))
    return failure();
  EngineCopy planned = engineCopies.find(op)->second;
  Value map = tensorMapParameters[planned.map];
  auto branch = scf::IfOp::create(builder, loc, emitIsSpeaker(builder, loc, thread, byGroup),
                                  /*withElse=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> start = emitTileStart(op.getIndex(), op.getElements(),
                                           op.getTileLayout().shape(), op.getOrder());
  Value source = get(op.getBuffer());
  if (byGroup) {
    auto [offsets, starts] = splitGroups(op, planned.boxes);
    for (auto [coordinate, bases] : llvm::zip_equal(start, starts))
      if (reachableBits(bases))
        coordinate = arith::AddIOp::create(builder, loc, coordinate,
                                           emitLinear(builder, loc, warpGroup(), bases));
    source = addBytes(source, emitLinear(builder, loc, warpGroup(), offsets));
  }
  for (const BoxPlan::Piece &piece : planned.boxes.pieces) {
    Value from = addBytes(source, piece.byteOffset);
    SmallVector<Value> to = emitCoordinates(start, piece.start);
    if (op.getReduce())
      NVVM::CpAsyncBulkTensorReduceOp::create(builder, loc, map, from,
                                              reductionOf(*op.getReduce()),
                                              NVVM::TMAStoreMode::TILE, to, Value());
    else
      NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
          builder, loc, map, from, to, /*l2CacheHint=*/Value(), NVVM::TMAStoreMode::TILE,
          /*predicate=*/Value());
  }
  NVVM::CpAsyncBulkCommitGroupOp::create(builder, loc);
  return success();
}

void Emitter::emitCopyOutWait(int64_t pending, bool byGroup, bool isComplete) {
  scf::IfOp::create(builder, loc, emitIsSpeaker(builder, loc, thread, byGroup),
                    [&](OpBuilder &body, Location) {
                      NVVM::CpAsyncBulkWaitGroupOp::create(
                          body, loc, uint32_t(pending),
                          isComplete ? UnitAttr() : body.getUnitAttr());
                      scf::YieldOp::create(body, loc);
                    });
}

LogicalResult Emitter::emitCopyOutWait(tgpu::CopyOutWaitOp op) {
  emitCopyOutWait(int64_t(op.getPending()), op.getByGroup(), op.getComplete());
  if (!op.getByGroup())
    return emitBarrier();
  emitGroupBarrier();
  return success();
}
