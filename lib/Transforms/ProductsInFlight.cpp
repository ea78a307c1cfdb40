//===- ProductsInFlight.cpp - is every product waited for? ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Walks the kernel in the order of execution, with what may be in flight: results and
// accumulators, each with the least number of products that have been issued after it.
// Products complete in the order of issue, so a wait that leaves `pending` of them in flight
// is one for those after which at least as many were issued. Where paths meet, a value may
// be in flight if it is on one of them; loops are walked until nothing is added.
//
//===------------------------------------------------------------------------===//
#include "ProductsInFlight.h"

#include "tilec/Atoms/Atom.h"
#include "tilec/TileGPU/TileGPU.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

namespace {

/// A product that may not be complete.
struct InFlight {
  int64_t age = 0; ///< products issued after it, at least
  Operation *product = nullptr;

  bool operator==(const InFlight &other) const { return age == other.age; }
};

/// Results of products, what carries them, and accumulators in tensor memory.
class ProductsInFlight {
public:
  const InFlight *find(Value value) const {
    auto found = values.find(value);
    return found == values.end() ? nullptr : &found->second;
  }

  void issue(Value result, Operation *product) {
    for (auto &[value, inFlight] : values)
      ++inFlight.age;
    values[result] = {0, product};
  }

  /// Tensor memory may be read when the wait is over; results only as those of the wait.
  void completeAccumulators(int64_t pending) {
    values.remove_if([&](const auto &entry) {
      return isa<tgpu::AccumulatorType>(entry.first.getType()) && entry.second.age >= pending;
    });
  }

  /// On a path to here `value` is in flight, if so.
  void mayBe(Value value, const InFlight *inFlight) {
    if (!inFlight)
      return;
    auto [place, isNew] = values.insert({value, *inFlight});
    if (!isNew && inFlight->age < place->second.age)
      place->second = *inFlight;
  }
  void mayBe(const ProductsInFlight &onPath) {
    for (const auto &[value, inFlight] : onPath.values)
      mayBe(value, &inFlight);
  }
  /// The first of `carried` take what the second are in `onPath`.
  void carry(ValueRange carried, ValueRange from, const ProductsInFlight &onPath) {
    for (auto [value, source] : llvm::zip_equal(carried, from))
      mayBe(value, onPath.find(source));
  }

  bool operator==(const ProductsInFlight &other) const {
    return values.size() == other.values.size() && llvm::all_of(values, [&](const auto &entry) {
             const InFlight *there = other.find(entry.first);
             return there && *there == entry.second;
           });
  }

private:
  llvm::MapVector<Value, InFlight> values;
};

/// Whether the unit itself adds to acc, which may be in flight then: not where threads add
/// what it has summed, or pack halves of registers.
bool unitAdds(tgpu::MmaOp mma, const Atom &atom) {
  return !atom.addsInRegisters &&
         getElementTypeOrSelf(mma.getResult().getType()).getIntOrFloatBitWidth() == 32;
}

class Walk {
public:
  LogicalResult block(Block &block, ProductsInFlight &state) {
    for (Operation &op : block)
      if (failed(operation(&op, state)))
        return failure();
    return success();
  }

private:
  LogicalResult operation(Operation *op, ProductsInFlight &state) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](tgpu::MmaOp mma) { return product(mma, state); })
        .Case([&](tgpu::AccumulateOp accumulate) {
          state.issue(accumulate.getAcc(), accumulate);
          return success();
        })
        .Case([&](tgpu::MmaWaitOp wait) { return this->wait(wait, state); })
        .Case([&](scf::ForOp loop) { return forLoop(loop, state); })
        .Case([&](scf::WhileOp loop) { return whileLoop(loop, state); })
        .Case([&](scf::IfOp branch) { return this->branch(branch, state); })
        .Case<scf::YieldOp, scf::ConditionOp>([](auto) { return success(); })
        .Default([&](Operation *other) { return reader(other, state); });
  }

  static LogicalResult isComplete(Operation *reader, Value value, const ProductsInFlight &state) {
    const InFlight *inFlight = state.find(value);
    if (!inFlight)
      return success();
    InFlightDiagnostic diagnostic = reader->emitOpError(
        "reads a product that may not be complete: a tgpu.mma_wait has to come first");
    diagnostic.attachNote(inFlight->product->getLoc()) << "the product is issued here";
    return diagnostic;
  }

  LogicalResult product(tgpu::MmaOp mma, ProductsInFlight &state) {
    const Atom *atom = findAtom(mma.getAtom());
    bool isAsync = atom && atom->isAsync;
    for (OpOperand &operand : mma->getOpOperands()) {
      bool isAddedTo = isAsync && unitAdds(mma, *atom) &&
                       operand.getOperandNumber() == mma.getAccMutable().getOperandNumber();
      if (!isAddedTo && failed(isComplete(mma, operand.get(), state)))
        return failure();
    }
    if (isAsync)
      state.issue(mma.getResult(), mma);
    return success();
  }

  static LogicalResult wait(tgpu::MmaWaitOp wait, ProductsInFlight &state) {
    int64_t pending = wait.getPending();
    for (Value input : wait.getInputs()) {
      const InFlight *inFlight = state.find(input);
      if (!inFlight || inFlight->age >= pending)
        continue;
      InFlightDiagnostic diagnostic = wait.emitOpError()
                                      << "leaves " << pending << " products in flight, but only "
                                      << inFlight->age << " may follow one that it waits for";
      diagnostic.attachNote(inFlight->product->getLoc()) << "the product is issued here";
      return diagnostic;
    }
    state.completeAccumulators(pending);
    return success();
  }

  LogicalResult branch(scf::IfOp branch, ProductsInFlight &state) {
    if (failed(isComplete(branch, branch.getCondition(), state)))
      return failure();
    ProductsInFlight after;
    for (Region *region : branch.getRegions()) {
      ProductsInFlight onPath = state;
      if (!region->empty()) {
        if (failed(block(region->front(), onPath)))
          return failure();
        after.carry(branch.getResults(), region->front().getTerminator()->getOperands(), onPath);
      }
      after.mayBe(onPath);
    }
    state = std::move(after);
    return success();
  }

  LogicalResult forLoop(scf::ForOp loop, ProductsInFlight &state) {
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (failed(isComplete(loop, bound, state)))
        return failure();
    // What may be in flight where an iteration begins, or none does.
    state.carry(loop.getRegionIterArgs(), loop.getInitArgs(), state);
    while (true) {
      ProductsInFlight after = state;
      if (failed(block(*loop.getBody(), after)))
        return failure();
      ProductsInFlight next = state;
      next.mayBe(after);
      next.carry(loop.getRegionIterArgs(), loop.getYieldedValues(), after);
      if (next == state)
        break;
      state = std::move(next);
    }
    state.carry(loop.getResults(), loop.getRegionIterArgs(), state);
    return success();
  }

  LogicalResult whileLoop(scf::WhileOp loop, ProductsInFlight &state) {
    state.carry(loop.getBeforeArguments(), loop.getInits(), state);
    while (true) {
      ProductsInFlight after = state;
      if (failed(block(*loop.getBeforeBody(), after)))
        return failure();
      scf::ConditionOp condition = loop.getConditionOp();
      if (failed(isComplete(condition, condition.getCondition(), after)))
        return failure();
      ProductsInFlight done = after;
      done.carry(loop.getResults(), condition.getArgs(), after);
      after.carry(loop.getAfterArguments(), condition.getArgs(), after);
      if (failed(block(*loop.getAfterBody(), after)))
        return failure();
      ProductsInFlight next = state;
      next.mayBe(after);
      next.carry(loop.getBeforeArguments(), loop.getYieldOp().getResults(), after);
      if (next == state) {
        state = std::move(done);
        return success();
      }
      state = std::move(next);
    }
  }

  /// Any other operation reads what it is given. Its regions, as the parts of a kernel whose
  /// warps are specialized, do not follow one another.
  LogicalResult reader(Operation *op, ProductsInFlight &state) {
    for (Value operand : op->getOperands()) {
      bool isRead = isa<tgpu::GetAccumulatorOp, tgpu::SetAccumulatorOp>(op) ||
                    !isa<tgpu::AccumulatorType>(operand.getType());
      if (isRead && failed(isComplete(op, operand, state)))
        return failure();
    }
    const ProductsInFlight before = state;
    for (Region &region : op->getRegions())
      for (Block &part : region) {
        ProductsInFlight inPart = before;
        if (failed(block(part, inPart)))
          return failure();
        state.mayBe(inPart);
      }
    return success();
  }
};

} // namespace

LogicalResult tilec::verifyProductsAreWaitedFor(tile::KernelOp kernel) {
  ProductsInFlight none;
  return Walk().block(kernel.getBody().front(), none);
}
