//===- Layouts.cpp - the layout of every tile, as text ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// `--emit=layout`: for each distinct layout of a kernel, which tiles have it, its
// bases, and a picture of small ones.
//
//===------------------------------------------------------------------------===//

#include "tilec/Compiler/Compiler.h"

#include "Layouts.h"

#include "tilec/Tile/TileLayout.h"
#include "tilec/Tile/TileOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tilec {

/// `file:line:col: op` of the operation that makes a tile.
static std::string describeOrigin(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
    os << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn() << ": ";
  os << op->getName();
  return text;
}

void printLayouts(ModuleOp module, llvm::raw_ostream &os) {
  for (tile::KernelOp kernel : module.getOps<tile::KernelOp>()) {
    os << "kernel " << kernel.getSymName() << ", " << kernel.getNumWarps().value_or(0) << " warps\n";
    llvm::MapVector<Type, std::vector<std::string>> tiles;
    kernel.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (tile::hasLayout(result.getType()))
          tiles[result.getType()].push_back(describeOrigin(op));
    });
    for (auto &[type, origins] : tiles) {
      Layout layout = tile::getLayout(type);
      os << "\n" << tile::withoutLayout(type) << "\n  " << layout.str() << "\n";
      for (const std::string &origin : origins)
        os << "  " << origin << "\n";
      layout.draw(os);
    }
    os << "\n";
  }
}

} // namespace tilec
