//===- DebugSites.cpp - prints and assertions by number ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: the operations of stage `tile`. Out: DebugSite values, as launch facts hold them.
//
//===------------------------------------------------------------------------===//

#include "tilec/Tile/DebugSites.h"

#include "tilec/Tile/Contains.h"

using namespace mlir;
using namespace tilec;

DebugSite tile::describeSite(Operation *op) {
  DebugSite site;
  if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>()) {
    site.file = place.getFilename().str();
    site.line = place.getLine();
    site.column = place.getColumn();
  }
  auto add = [&](Value value, DType dtype) {
    DebugValue described{dtype, {}};
    if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
      described.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
    site.values.push_back(std::move(described));
  };
  if (auto assertion = dyn_cast<AssertOp>(op)) {
    site.isAssertion = true;
    site.pieces.push_back(assertion.getMessage().str());
    add(assertion.getCondition(), DType::Bool);
    return site;
  }
  auto print = cast<PrintOp>(op);
  for (StringRef piece : print.getPieces().getAsValueRange<StringAttr>())
    site.pieces.push_back(piece.str());
  for (auto [value, name] :
       llvm::zip_equal(print.getValues(), print.getDtypes().getAsValueRange<StringAttr>()))
    add(value, parseDType(std::string_view(name)).value_or(DType::Int));
  return site;
}

std::vector<DebugSite> tile::numberSites(KernelOp kernel) {
  std::vector<DebugSite> sites;
  Builder builder(kernel.getContext());
  kernel.walk([&](Operation *op) {
    if (!isa<PrintOp, AssertOp>(op))
      return;
    op->setAttr(siteAttr, builder.getI32IntegerAttr(int32_t(sites.size())));
    sites.push_back(describeSite(op));
  });
  return sites;
}

bool tile::hasSites(KernelOp kernel) {
  return contains<PrintOp, AssertOp>(kernel);
}
