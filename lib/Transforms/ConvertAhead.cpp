//===- ConvertAhead.cpp - the next operand, beside a product ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a loop with one product that completes later, an operand of which threads compute in
// registers. Out: the same with that work an iteration ahead, beside the product:
//
//   for k, sum {                                w = computed for the first
//     w = computed                              for the other k, sum {
//     pop A; sum += A w, waited          →        pop A; sum += A w      (issued)
//     release                                     w' = computed for k    beside it
//   }                                             wait; release; w = w'
//                                               }
//                                               pop A; sum += A w, waited; release
//
// The *tail* is the product, the wait for it, and the pop and release of what it reads by
// itself; all else of the body runs ahead, in its order. The sum is carried for the tail
// alone, so nothing of the next iteration waits for it.
//
// What runs ahead pops its ring before the tail's is released, so that of the tail's a second
// place is needed: otherwise the copies would wait for it, and it for the copies.
//
//===------------------------------------------------------------------------===//
#include "ConvertAhead.h"
#include "LoopSums.h"

#include "tilec/Atoms/Atom.h"
#include "tilec/TileGPU/TileGPU.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;

namespace {

/// The parts of such a loop.
struct Conversion {
  tgpu::MmaOp mma;
  tgpu::MmaWaitOp wait;
  /// Of what the product reads by itself.
  SmallVector<Operation *> pops, releases;
  /// The operands that are computed.
  SmallVector<Value> computed;
  unsigned carried = 0; ///< the iteration argument that is the sum

  bool isOfTail(Operation *op) const {
    return op == mma || op == wait || llvm::is_contained(pops, op) ||
           llvm::is_contained(releases, op);
  }
};

} // namespace

/// Takes the pop that gives `buffer`, and its release, to the tail.
static bool addToTail(Conversion &found, Value buffer, scf::ForOp loop) {
  auto pop = buffer.getDefiningOp<tgpu::PopOp>();
  if (!pop || pop->getBlock() != loop.getBody() ||
      cast<tgpu::RingType>(pop.getRing().getType()).getStages() < 2)
    return false;
  if (llvm::is_contained(found.pops, pop))
    return true;
  found.pops.push_back(pop);
  for (Operation *user : pop->getUsers())
    if (user != found.mma)
      return false;
  for (Operation *user : pop.getRing().getUsers()) {
    if (!loop->isAncestor(user) || user == pop)
      continue;
    if (!isa<tgpu::ReleaseOp>(user) || user->getBlock() != loop.getBody() ||
        !found.wait->isBeforeInBlock(user) || found.releases.size() == found.pops.size())
      return false;
    found.releases.push_back(user);
  }
  return found.releases.size() == found.pops.size();
}

static std::optional<Conversion> matchConversion(scf::ForOp loop) {
  Conversion found;
  for (auto mma : loop.getBody()->getOps<tgpu::MmaOp>()) {
    if (found.mma)
      return std::nullopt;
    found.mma = mma;
  }
  const Atom *atom = found.mma ? findAtom(found.mma.getAtom()) : nullptr;
  // Halves of a register are packed and unpacked between products, which reads them.
  if (!atom || !atom->isAsync || !found.mma->hasOneUse() ||
      getElementTypeOrSelf(found.mma.getType()).getIntOrFloatBitWidth() != 32)
    return std::nullopt;
  found.wait = dyn_cast<tgpu::MmaWaitOp>(*found.mma->getUsers().begin());
  auto acc = dyn_cast<BlockArgument>(found.mma.getAcc());
  if (!found.wait || found.wait->getBlock() != loop.getBody() ||
      found.wait.getInputs().size() != 1 || !acc || acc.getOwner() != loop.getBody() ||
      acc == loop.getInductionVar() || !acc.hasOneUse() || found.mma.getAdds())
    return std::nullopt;
  found.carried = acc.getArgNumber() - 1;
  Value result = found.wait.getResult(0);
  if (!result.hasOneUse() || loop.getYieldedValues()[found.carried] != result)
    return std::nullopt;
  for (Value operand : {found.mma.getA(), found.mma.getB()}) {
    if (isa<tgpu::BufferType>(operand.getType())) {
      if (!addToTail(found, operand, loop))
        return std::nullopt;
    } else if (operand.getDefiningOp() && operand.getParentBlock() == loop.getBody()) {
      found.computed.push_back(operand);
    }
  }
  return found.computed.empty() ? std::nullopt : std::optional(found);
}

namespace {

class AheadWriter {
public:
  AheadWriter(scf::ForOp loop, Conversion &parts)
      : loop(loop), parts(parts), builder(loop), loc(loop.getLoc()) {}

  tgpu::MmaOp run() {
    replaceIfAny(builder, loop, [&] { return emitAll(); });
    return product;
  }

private:
  SmallVector<Value> emitAll() {
    IRMapping first;
    first.map(loop.getInductionVar(), loop.getLowerBound());
    first.map(loop.getRegionIterArgs(), loop.getInitArgs());
    emitHead(first);
    SmallVector<Value> inits = handedOn(first);
    inits.push_back(loop.getInitArgs()[parts.carried]);
    Value second = arith::AddIOp::create(builder, loc, loop.getLowerBound(), loop.getStep());
    auto inner = scf::ForOp::create(builder, loc, second, loop.getUpperBound(),
                                    loop.getStep(), inits);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(inner.getBody());
      IRMapping map;
      map.map(loop.getInductionVar(), inner.getInductionVar());
      unsigned next = 0;
      for (unsigned i = 0; i < loop.getNumResults(); ++i)
        if (i != parts.carried)
          map.map(loop.getRegionIterArg(i), inner.getRegionIterArg(next++));
      Value issued = emitProduct(inner.getRegionIterArgs().drop_front(next));
      product = issued.getDefiningOp<tgpu::MmaOp>();
      emitHead(map);
      SmallVector<Value> yielded = handedOn(map);
      yielded.push_back(emitWait(issued));
      scf::YieldOp::create(builder, loc, yielded);
    }
    unsigned others = loop.getNumResults() - 1;
    Value sum = emitWait(emitProduct(inner.getResults().drop_front(others)));
    SmallVector<Value> results(inner.getResults().take_front(others));
    results.insert(results.begin() + parts.carried, sum);
    return results;
  }

  /// All but the tail.
  void emitHead(IRMapping &map) {
    for (Operation &op : loop.getBody()->without_terminator())
      if (!parts.isOfTail(&op))
        builder.clone(op, map);
  }

  /// What an iteration gives the next one, but for the sum.
  SmallVector<Value> handedOn(const IRMapping &map) {
    SmallVector<Value> values;
    for (auto [number, value] : llvm::enumerate(loop.getYieldedValues()))
      if (number != parts.carried)
        values.push_back(map.lookupOrDefault(value));
    for (Value value : parts.computed)
      values.push_back(map.lookup(value));
    return values;
  }

  /// Issues the product of the operands in `handed`, whose last is the sum.
  Value emitProduct(ValueRange handed) {
    IRMapping map;
    for (auto [computed, value] : llvm::zip_first(parts.computed, handed))
      map.map(computed, value);
    map.map(parts.mma.getAcc(), handed.back());
    for (Operation *pop : parts.pops)
      builder.clone(*pop, map);
    return builder.clone(*parts.mma, map)->getResult(0);
  }

  Value emitWait(Value issued) {
    Value done = tgpu::MmaWaitOp::create(builder, loc, issued, /*pending=*/0).getResult(0);
    for (Operation *release : parts.releases)
      builder.clone(*release);
    return done;
  }

  scf::ForOp loop;
  Conversion &parts;
  OpBuilder builder;
  Location loc;
  tgpu::MmaOp product;
};

} // namespace

tgpu::MmaOp tilec::convertAhead(scf::ForOp loop) {
  std::optional<Conversion> parts = matchConversion(loop);
  return parts ? AheadWriter(loop, *parts).run() : tgpu::MmaOp();
}
