//===- InferBounds.cpp - mark accesses that stay inside --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: stage `tile` or `laid-out`. Out: the same, loads and stores knowing along which
// dims they need no check:
//
//   scf.for %k = 0 to cdiv(n, 64)           with `requires n % 64 == 0`
//     %t = tile.load %a[%k, %j] : …
// becomes
//     %t = tile.load %a[%k, %j] in_bounds [true, false] : …
//
// Accesses by index get such flags too, and the length of the runs that they move
// (TileMemoryOps.td):
//
//   %t = tile.gather %a[%row, %col] in_bounds [false, true] run [1, 8] : …
//
// Flags that are set stay. What is known, and how, is in Analysis/IndexFacts.h and
// IndexTileFacts.h. PrintFacts says it in remarks.
//===----------------------------------------------------------------------===//
#include "tilec/Analysis/IndexTileFacts.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace tilec {
#define GEN_PASS_DEF_INFERBOUNDS
#define GEN_PASS_DEF_PRINTFACTS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

namespace {

template <typename Op> void inferBounds(Op op, const IndexFacts &facts) {
  SmallVector<bool> flags;
  for (unsigned dim = 0; dim < op.getIndex().size(); ++dim)
    flags.push_back(op.isInBounds(dim) || facts.isInBounds(op, dim));
  if (llvm::is_contained(flags, true))
    op.setInBounds(flags);
}

/// The same for an access by index, and its runs.
template <typename Op> void inferIndexed(Op op, const IndexTileFacts &facts) {
  SmallVector<bool> flags;
  for (auto [dim, index] : llvm::enumerate(op.getIndex()))
    flags.push_back(op.isInBounds(unsigned(dim)) ||
                    facts.isInBounds(op.getArray(), unsigned(dim), index, op));
  if (llvm::is_contained(flags, true))
    op.setInBounds(flags);
  if (op.getRun())
    return;
  IndexTileFacts::Run run =
      facts.findRun(op.getArray(), op.getIndex(), op.getMask(), flags.back());
  if (run.length > 1)
    op.setRun(ArrayRef<int64_t>{int64_t(run.dim), run.length});
}

struct InferBounds : tilec::impl::InferBoundsBase<InferBounds> {
  void runOnOperation() override {
    IndexFacts facts(getOperation());
    getOperation().walk([&](LoadOp op) { inferBounds(op, facts); });
    getOperation().walk([&](StoreOp op) { inferBounds(op, facts); });
    IndexTileFacts tiles(facts);
    getOperation().walk([&](GatherOp op) { inferIndexed(op, tiles); });
    getOperation().walk([&](ScatterOp op) { inferIndexed(op, tiles); });
    getOperation().walk([&](AtomicOp op) { inferIndexed(op, tiles); });
  }
};

template <typename Op> void printFacts(Op op, const IndexFacts &facts) {
  for (auto [dim, index] : llvm::enumerate(op.getIndex())) {
    IndexRange range = facts.rangeOf(index, op);
    InFlightDiagnostic remark = op.emitRemark()
                                << "dim " << dim << ": starts at a multiple of "
                                << facts.startMultiple(op, dim) << ", index in [";
    auto bound = [&](int64_t number) {
      if (number == INT64_MIN || number == INT64_MAX)
        remark << "?";
      else
        remark << number;
    };
    bound(range.min);
    remark << ", ";
    bound(range.max);
    remark << "], size a multiple of "
           << facts.dimMultiple(op.getArray(), op.getArrayDim(dim)) << ", "
           << (facts.isInBounds(op, dim) ? "in bounds" : "checked");
  }
}

struct PrintFacts : tilec::impl::PrintFactsBase<PrintFacts> {
  void runOnOperation() override {
    IndexFacts facts(getOperation());
    getOperation().walk([&](LoadOp op) { printFacts(op, facts); });
    getOperation().walk([&](StoreOp op) { printFacts(op, facts); });
    markAllAnalysesPreserved();
  }
};

} // namespace
