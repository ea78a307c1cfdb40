//===- Overwrites.cpp - stores that may write an element again ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: stores of tiles. Out: whether an element may be written twice by one block:
//
//   for %i { store %c[%m, %i] }          no: %i moves the tile on
//   for %i { store %c[%m, 0] }           yes
//   for %i { store %c[%i / 4, %i % 4] }  that cannot be said: yes
//   store %c[%m, 0]   store %c[%m, 1]    no
//
// An index is a sum of multiples of values and a constant. A loop never comes back to a place
// if along one dim its counter moves the tile by at least the tile's width, and all else of
// that index is the same in all iterations of all loops. Two stores do not meet if along one dim
// what is fixed in their indices differs by a constant, which no multiples of the rest make up for:
//
//   for %i { store %c[%m, 2 * %i]   store %c[%m, 2 * %i + 1] }      they do not
//
//===------------------------------------------------------------------------===//
#include "Overwrites.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

#include <numeric>

using namespace mlir;
using namespace tilec;

/// How deep indices are followed, and up to which multiples.
static constexpr unsigned maxDepth = 12;
static constexpr int64_t mostFactor = int64_t(1) << 31;

namespace {

/// Multiples of values, and a constant.
struct Sum {
  llvm::SmallMapVector<Value, int64_t, 4> terms;
  int64_t constant = 0;

  void add(Value value, int64_t factor, unsigned depth = 0) {
    if (std::optional<int64_t> number = smallNumber(value)) {
      constant += factor * *number;
      return;
    }
    Operation *op = value.getDefiningOp();
    // What is narrower may wrap.
    if (op && depth < maxDepth && value.getType().isIndex()) {
      if (isa<arith::AddIOp, arith::SubIOp>(op)) {
        add(op->getOperand(0), factor, depth + 1);
        return add(op->getOperand(1), isa<arith::SubIOp>(op) ? -factor : factor, depth + 1);
      }
      if (auto number = isa<arith::MulIOp>(op) ? smallNumber(op->getOperand(1)) : std::nullopt;
          number && std::abs(factor * *number) <= mostFactor)
        return add(op->getOperand(0), factor * *number, depth + 1);
      if (isa<arith::IndexCastOp>(op))
        return add(op->getOperand(0), factor, depth + 1);
    }
    terms[value] += factor;
  }

private:
  static std::optional<int64_t> smallNumber(Value value) {
    APInt number;
    if (!matchPattern(value, m_ConstantInt(&number)) || number.getSignificantBits() > 32)
      return std::nullopt;
    return number.getSExtValue();
  }
};

} // namespace

/// The loop around `op` that is in no other.
static Operation *outermostLoop(Operation *op) {
  Operation *found = nullptr;
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent))
      found = parent;
  return found;
}

/// The same in all iterations of all loops around an operation in `loop`.
static bool isFixed(Value value, Operation *loop) {
  return !loop || !loop->isAncestor(value.getParentBlock()->getParentOp());
}

/// How far the index along tile dim `dim` goes when it goes on by 1, and the tile's width, in
/// elements or in tiles.
static int64_t widthOf(tile::StoreOp store, unsigned dim) {
  return store.getElements()
             ? cast<RankedTensorType>(store.getValue().getType()).getDimSize(dim)
             : 1;
}

/// Whether each iteration of `loop` has a place of its own along a dim.
static bool movesOn(tile::StoreOp store, scf::ForOp loop, Operation *outermost) {
  APInt step;
  int64_t least = matchPattern(loop.getStep(), m_ConstantInt(&step)) ? step.getSExtValue() : 1;
  for (auto [dim, index] : llvm::enumerate(store.getIndex())) {
    Sum sum;
    sum.add(index, 1);
    int64_t factor = sum.terms.lookup(loop.getInductionVar());
    bool isAlone = llvm::all_of(sum.terms, [&](const auto &term) {
      return term.second == 0 || term.first == loop.getInductionVar() ||
             isFixed(term.first, outermost);
    });
    if (factor && isAlone && std::abs(factor) * least >= widthOf(store, unsigned(dim)))
      return true;
  }
  return false;
}

bool tilec::mayWriteAgain(tile::StoreOp store) {
  Operation *outermost = outermostLoop(store);
  for (Operation *parent = store->getParentOp(); parent; parent = parent->getParentOp()) {
    if (!isa<LoopLikeOpInterface>(parent))
      continue;
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || !movesOn(store, loop, outermost))
      return true;
  }
  return false;
}

/// Whether at most one of the two runs, being in different arms of a branch.
static bool areExclusive(Operation *first, Operation *second) {
  if (outermostLoop(first) || outermostLoop(second))
    return false;
  for (auto branch = first->getParentOfType<scf::IfOp>(); branch;
       branch = branch->getParentOfType<scf::IfOp>())
    if (branch.getThenRegion().isAncestor(first->getParentRegion()) !=
            branch.getThenRegion().isAncestor(second->getParentRegion()) &&
        branch->isAncestor(second))
      return true;
  return false;
}

/// Whether the tiles of two stores of one shape never overlap along a dim.
static bool areApart(tile::StoreOp first, tile::StoreOp second, unsigned dim) {
  Operation *loops[] = {outermostLoop(first), outermostLoop(second)};
  Sum difference;
  int64_t period = 0; // of what varies: it is a multiple of that, and may be another in each store
  for (auto [store, factor] : {std::pair(first, 1), std::pair(second, -1)}) {
    Sum sum;
    sum.add(store.getIndex()[dim], factor);
    difference.constant += sum.constant;
    for (auto [value, multiple] : sum.terms) {
      if (llvm::all_of(loops, [&](Operation *loop) { return isFixed(value, loop); }))
        difference.terms[value] += multiple;
      else
        period = std::gcd(period, multiple);
    }
  }
  if (llvm::any_of(difference.terms, [](const auto &term) { return term.second != 0; }))
    return false;
  int64_t width = widthOf(first, dim), distance = difference.constant;
  if (!period)
    return std::abs(distance) >= width;
  distance = (distance % period + period) % period;
  return distance >= width && period - distance >= width;
}

bool tilec::mayWriteSame(tile::StoreOp first, tile::StoreOp second) {
  if (areExclusive(first, second))
    return false;
  auto type = cast<RankedTensorType>(first.getValue().getType());
  if (first.getElements() != second.getElements() || type != second.getValue().getType() ||
      first.getOrder() != second.getOrder())
    return true;
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    if (areApart(first, second, dim))
      return false;
  return true;
}
