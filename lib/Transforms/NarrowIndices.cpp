//===- NarrowIndices.cpp - scalar index arithmetic in 32 bits ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: stage `staged`. Out: the same, scalar `index` arithmetic, comparisons and loop
// counters in i32 where the ranges of operands and results prove that it is exact:
//
//   %n = tile.dim %a, 0                          %n32 = arith.index_cast %n : index to i32
//   scf.for %i = %c0 to %n step %c1 {      →     scf.for %i32 = %0 to %n32 step %1 : i32 {
//     %j = arith.addi %i, %c4 : index              %j32 = arith.addi %i32, %4 : i32
//     tile.load %a[%j] …                           %j = arith.index_cast %j32 : i32 to index
//                                                  tile.load %a[%j] …
//
// Of tiles, comparisons are narrowed with what they compare, as in masks:
//
//   %c = arith.cmpi slt, %columns, %limit : tensor<128xindex>     →     tensor<128xi32>
//
// A 64-bit operation is two or more on the chip. Ranges come from Analysis/IndexFacts.h:
// block numbers, `requires`, loops, and in builds for axes shorter than 2^31 (`index32`)
// every dim. What is not proven stays as it is. The pass comes last in its
// stage, as others recognise a loop's variable in an index by its value.
//===----------------------------------------------------------------------===//
#include "tilec/Analysis/IndexTileFacts.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;

namespace tilec {
#define GEN_PASS_DEF_NARROWINDICES
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

namespace {

bool fits(IndexRange range) { return range.min >= INT32_MIN && range.max <= INT32_MAX; }

/// Operations that mean the same in any width, as long as nothing overflows.
bool isNarrowable(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::MinSIOp,
             arith::MaxSIOp, arith::SelectOp, arith::CmpIOp, tile::DivideOp, tile::RemainderOp>(op);
}

bool isIndexTile(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isIndex();
}

/// Operations whose result is made of `index` tiles, splats of scalars or nothing.
bool isNarrowableTile(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::MinSIOp,
             arith::MaxSIOp, tile::SplatOp, tile::IotaOp, tile::BroadcastOp, tile::ReshapeOp,
             tile::PermuteOp, tile::ConvertLayoutOp>(op);
}

class Narrower {
public:
  explicit Narrower(tile::KernelOp kernel) : kernel(kernel), facts(kernel), tiles(facts) {}

  void run() {
    // All decisions first: facts are about the kernel as it is.
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto loop = dyn_cast<scf::ForOp>(op);
      if (loop ? canNarrow(loop) : canNarrow(op))
        chosen.push_back(op);
      else if (isa<arith::CmpIOp>(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
                 return canNarrowTile(operand, op);
               }))
        compared.push_back(op);
    });
    for (Operation *op : chosen) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        narrow(loop);
      else
        narrow(op);
    }
    for (Operation *op : compared)
      for (OpOperand &operand : op->getOpOperands())
        operand.set(narrowTile(operand.get()));
  }

private:
  /// Whether a tile and all that it is made of can be tiles of i32.
  bool canNarrowTile(Value value, Operation *at) const {
    if (!isIndexTile(value) || !fits(tiles.rangeOf(value, at)))
      return false;
    DenseElementsAttr constant;
    if (matchPattern(value, m_Constant(&constant)))
      return constant.isSplat();
    Operation *op = value.getDefiningOp();
    return op && isNarrowableTile(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
             return operand.getType().isIndex() ? fits(facts.rangeOf(operand, at))
                                                : canNarrowTile(operand, at);
           });
  }

  Value narrowTile(Value value) {
    Value &narrow = narrowTiles[value];
    if (narrow)
      return narrow;
    Operation *op = value.getDefiningOp();
    OpBuilder builder(op);
    auto type = cast<RankedTensorType>(value.getType()).clone(builder.getI32Type());
    DenseElementsAttr constant;
    if (matchPattern(value, m_Constant(&constant))) {
      APInt element = constant.getSplatValue<APInt>().trunc(32);
      return narrow = arith::ConstantOp::create(builder, op->getLoc(),
                                                DenseElementsAttr::get(type, element));
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(operand.getType().isIndex() ? narrowed(builder, op->getLoc(), operand)
                                                     : narrowTile(operand));
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    copy->getResult(0).setType(type);
    return narrowTiles[value] = copy->getResult(0);
  }

  /// Whether an operand can be taken as an i32.
  bool fitsAt(Value value, Operation *at) const {
    return value.getType().isIndex() && fits(facts.rangeOf(value, at));
  }

  bool canNarrow(Operation *op) const {
    if (!isNarrowable(op))
      return false;
    bool isCompare = isa<arith::CmpIOp>(op);
    if (!isCompare && !fitsAt(op->getResult(0), op))
      return false;
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return fitsAt(operand, op) || (isa<arith::SelectOp>(op) && operand.getType().isInteger(1));
    });
  }

  bool canNarrow(scf::ForOp loop) const {
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (!fitsAt(bound, loop))
        return false;
    // The counter after the last round: below upper + step.
    IndexRange upper = facts.rangeOf(loop.getUpperBound(), loop);
    IndexRange step = facts.rangeOf(loop.getStep(), loop);
    return !loop.getUnsignedCmp() && step.min > 0 && upper.max - 1 + step.max <= INT32_MAX;
  }

  /// `value` as an i32, for a use at the builder's place.
  Value narrowed(OpBuilder &builder, Location loc, Value value) {
    if (!value.getType().isIndex())
      return value;
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return arith::ConstantIntOp::create(builder, loc, constant.getSExtValue(), 32);
    if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
      if (cast.getIn().getType().isInteger(32))
        return cast.getIn();
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), value);
  }

  void narrow(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(narrowed(builder, loc, operand));
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    Value result = copy->getResult(0);
    if (op->getResult(0).getType().isIndex()) {
      result.setType(builder.getI32Type());
      result = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), result);
    }
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }

  void narrow(scf::ForOp loop) {
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    for (OpOperand *bound : {&loop.getLowerBoundMutable(), &loop.getUpperBoundMutable(),
                             &loop.getStepMutable()})
      bound->set(narrowed(builder, loc, bound->get()));
    Value counter = loop.getInductionVar();
    counter.setType(builder.getI32Type());
    builder.setInsertionPointToStart(loop.getBody());
    Value wide = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), counter);
    counter.replaceAllUsesExcept(wide, wide.getDefiningOp());
  }

  tile::KernelOp kernel;
  const IndexFacts facts;
  const IndexTileFacts tiles;
  SmallVector<Operation *> chosen, compared;
  DenseMap<Value, Value> narrowTiles;
};

struct NarrowIndices : tilec::impl::NarrowIndicesBase<NarrowIndices> {
  void runOnOperation() override { Narrower(getOperation()).run(); }
};

} // namespace
