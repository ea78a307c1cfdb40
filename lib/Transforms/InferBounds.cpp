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
// Flags that are set stay. What is known, and how, is in Analysis/IndexFacts.h.
// PrintFacts says it in remarks.
//===----------------------------------------------------------------------===//
#include "tilec/Analysis/IndexFacts.h"
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

struct InferBounds : tilec::impl::InferBoundsBase<InferBounds> {
  void runOnOperation() override {
    IndexFacts facts(getOperation());
    getOperation().walk([&](LoadOp op) { inferBounds(op, facts); });
    getOperation().walk([&](StoreOp op) { inferBounds(op, facts); });
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
