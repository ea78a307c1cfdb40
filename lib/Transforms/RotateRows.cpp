//===- RotateRows.cpp - rows that begin anywhere, by whole pieces ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a kernel of rows (RowKernel.h), in a build that relies on whole pieces. Out: the same on
// tiles that begin at the 16 bytes in which the row begins, with as many elements of the row
// ahead of it in front:
//
//   %x = tile.load %a[%r, 0] : tensor<1x1024xbf16>        rows of 1001
//     →
//   %ahead = (%r * %n) & 7
//   %x = tile.load %a[%r, -%ahead] elements {tile.begins_at_piece}
//
// The tile's elements are turned by %ahead, and what comes out at one end comes in at the other.
// Nothing else sees it: reductions take elements in any order, and positions are turned, too:
//
//   %i = tile.iota        →        (%i - %ahead) & 1023
//
// Where argmax and argmin look for a place (ArgReductions.h) in the turned tile, the place that
// they found is turned, if padding is what they find last:
//
//   %m, %i = tile.reduce(…)        →        max(%i - %ahead, 0)
//
// What lies in front of the row, and behind it, is outside of the array's row, and padding as
// before: the launcher has checked that the tile has room for both. Rows of 1001 bf16 are then
// loaded and stored 16 bytes at a time, but for their ends, and not by 1001 accesses.
//
// Only where all rows begin after as many elements. Weights of columns, turned with the others,
// would be accessed by elements that are apart in neighbouring threads (layernorm of 12 345 f16,
// H200: 1.66 -> 0.74 TB/s), and words gain too little (softmax of 12 345 f32: 3.45 -> 2.65).
//
//===------------------------------------------------------------------------===//
#include "RotateRows.h"

#include "AccessCost.h"
#include "Dependence.h"
#include "RowKernel.h"
#include "RowPadding.h"

#include "tilec/Tile/Accesses.h"
#include "tilec/Tile/ArgReductions.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/DebugSites.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilec {
#define GEN_PASS_DEF_ROTATEROWS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

/// Bytes that are accessed at once.
static constexpr int64_t pieceBytes = 16;
/// Wider elements are accessed fast enough one by one.
static constexpr int64_t mostElementBytes = 2;

namespace {

/// A load or store of a row.
struct RowAccess {
  Operation *op;
  TypedValue<ArrayType> array;
  OperandRange index;

  ArrayType type() const { return array.getType(); }
  unsigned last() const { return type().getRank() - 1; }
};

class Rotation {
public:
  explicit Rotation(KernelOp kernel) : kernel(kernel), row(kernel), padding(row) {}

  bool analyse() {
    if (hasSites(kernel) || !row.analyse())
      return false;
    for (Operation &op : kernel.getBody().front().without_terminator())
      if (row.isLong(&op) && !visit(&op))
        return false;
    for (const RowAccess &access : accesses)
      if (access.type().getRank() > 1 && access.type().isDynamicDim(access.last())) {
        first = &access;
        break;
      }
    if (!first)
      return false;
    for (const RowAccess &access : accesses) {
      if (!lieAlike(access, *first))
        return false;
      elementBytes = std::min(elementBytes, storedBytes(access.type().getElementType()));
    }
    slice = sliceIn(&kernel.getBody().front(), first->index,
                    [](Operation *op) { return isPure(op); },
                    [](BlockArgument) { return true; });
    return slice.has_value() && elementBytes <= mostElementBytes;
  }

  void run() {
    Block &body = kernel.getBody().front();
    for (Operation *op : llvm::reverse(*slice))
      op->moveBefore(&body, body.begin());
    OpBuilder builder(&body, std::next(body.begin(), int64_t(slice->size())));
    Location loc = first->op->getLoc();
    Value ahead = emitAhead(builder, loc);
    Value start = arith::SubIOp::create(
        builder, loc, arith::ConstantIndexOp::create(builder, loc, 0), ahead);
    for (const RowAccess &access : accesses) {
      access.op->setOperand(access.index.getBeginOperandIndex() + access.last(), start);
      access.op->setAttr("elements", builder.getUnitAttr());
      access.op->setAttr(beginsAtPieceAttr, builder.getUnitAttr());
    }
    DenseSet<Operation *> seeking;
    for (IotaOp iota : iotas) {
      if (!seeksPlaces(iota.getResult())) {
        rotate(iota, ahead);
        continue;
      }
      for (ReduceOp reduce : placesFrom(iota.getResult())) {
        turnPlace(reduce, ahead);
        seeking.insert(reduce);
      }
    }
    for (Operation *sink : row.sinks)
      if (!seeking.contains(sink)) // positions do not count up any more
        sink->removeAttr(argReductionAttr);
    remarkChoice(kernel, "rotate-rows",
                 "rows are taken from the {0} bytes on in which they begin, with what is ahead of "
                 "them as padding",
                 pieceBytes);
  }

private:
  bool visit(Operation *op) {
    if (auto iota = dyn_cast<IotaOp>(op)) {
      Type element = iota.getType().getElementType();
      iotas.push_back(iota);
      return element.isIndex() || element.getIntOrFloatBitWidth() >= 32;
    }
    if (auto load = dyn_cast<LoadOp>(op))
      return visit(load, load.getType());
    if (auto store = dyn_cast<StoreOp>(op))
      return visit(store, store.getValue().getType());
    return true;
  }

  /// Rows that begin at the array's first column, and lie along its last dim.
  template <typename Op> bool visit(Op op, Type tile) {
    RowAccess access{op, op.getArray(), op.getIndex()};
    accesses.push_back(access);
    unsigned last = access.last();
    return !op.getOrder() && !op.isInBounds(last) && !access.type().hasStrides() &&
           RowKernel::longDim(tile, row.length) == last &&
           matchPattern(access.index[last], m_Zero());
  }

  /// Whether rows of both begin after as many elements, so that pieces of 16 bytes begin alike.
  bool lieAlike(const RowAccess &a, const RowAccess &b) {
    if (a.type().getRank() != b.type().getRank() || a.type().getRank() < 2)
      return false;
    for (unsigned dim = 0; dim < a.last(); ++dim)
      if (a.index[dim] != b.index[dim] || !row.areEqual(a.array, dim + 1, b.array, dim + 1))
        return false;
    return true;
  }

  /// Elements between the piece in which the row begins and the row.
  Value emitAhead(OpBuilder &builder, Location loc) {
    Value offset;
    for (unsigned dim = 0; dim < first->last(); ++dim) {
      Value place = first->index[dim];
      if (offset)
        place = arith::AddIOp::create(builder, loc, offset, place);
      Value size = DimOp::create(builder, loc, first->array, dim + 1);
      offset = arith::MulIOp::create(builder, loc, place, size);
    }
    Value mask = arith::ConstantIndexOp::create(builder, loc, pieceBytes / elementBytes - 1);
    return arith::AndIOp::create(builder, loc, offset, mask);
  }

  /// The reductions that take `positions`, under whatever shape.
  SmallVector<ReduceOp> placesFrom(Value positions) {
    SmallVector<ReduceOp> reductions;
    for (Operation *user : positions.getUsers())
      if (auto reduce = dyn_cast<ReduceOp>(user))
        reductions.push_back(reduce);
      else if (isa<ReshapeOp, PermuteOp>(user))
        llvm::append_range(reductions, placesFrom(user->getResult(0)));
    return reductions;
  }

  /// Whether `positions` only say what places are, among which padding is found last.
  bool seeksPlaces(Value positions) {
    return llvm::all_of(positions.getUsers(), [&](Operation *user) {
      if (auto reduce = dyn_cast<ReduceOp>(user))
        return reduce.getSources()[0] != positions && padding.isFoundLast(reduce);
      return isa<ReshapeOp, PermuteOp>(user) && seeksPlaces(user->getResult(0));
    });
  }

  /// A place in the turned tile becomes a column: the row's first where padding was found.
  void turnPlace(ReduceOp reduce, Value ahead) {
    Location loc = reduce.getLoc();
    OpBuilder builder(reduce);
    builder.setInsertionPointAfter(reduce);
    Value place = reduce.getResult(1);
    Type type = place.getType();
    Type element = getElementTypeOrSelf(type);
    if (!element.isIndex())
      ahead = arith::IndexCastOp::create(builder, loc, element, ahead);
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      ahead = SplatOp::create(builder, loc, tensor, ahead);
    auto moved = arith::SubIOp::create(builder, loc, place, ahead);
    Value column = arith::MaxSIOp::create(builder, loc, moved, zero);
    place.replaceAllUsesExcept(column, moved);
  }

  void rotate(IotaOp iota, Value ahead) {
    Location loc = iota.getLoc();
    OpBuilder builder(iota);
    builder.setInsertionPointAfter(iota);
    RankedTensorType type = iota.getType();
    Type element = type.getElementType();
    if (!element.isIndex())
      ahead = arith::IndexCastOp::create(builder, loc, element, ahead);
    Value steps = SplatOp::create(builder, loc, type, ahead);
    auto moved = arith::SubIOp::create(builder, loc, iota, steps);
    Attribute mask = builder.getIntegerAttr(element, row.length - 1);
    Value masks = arith::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, mask));
    auto turned = arith::AndIOp::create(builder, loc, moved, masks);
    turned->setAttr(turnedPositionAttr, builder.getUnitAttr());
    iota.getResult().replaceAllUsesExcept(turned.getResult(), moved);
  }

  KernelOp kernel;
  RowKernel row;
  RowPadding padding;
  SmallVector<RowAccess> accesses;
  SmallVector<IotaOp> iotas;
  const RowAccess *first = nullptr; ///< after which the others are looked at
  int64_t elementBytes = pieceBytes; ///< of the narrowest
  std::optional<SmallVector<Operation *>> slice; ///< what the place of the row is computed from
};

struct RotateRows : tilec::impl::RotateRowsBase<RotateRows> {
  void runOnOperation() override {
    if (!relies(getOperation(), BuildFact::WholePieces))
      return;
    Rotation rotation(getOperation());
    if (rotation.analyse())
      rotation.run();
  }
};

} // namespace

bool tilec::canRotateRows(KernelOp kernel) { return Rotation(kernel).analyse(); }
