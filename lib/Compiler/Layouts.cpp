//===- Layouts.cpp - the layout of every tile, as text ---------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// `--emit=layout`: for each distinct layout of a build, which tiles have it, its bases,
// and a picture (of the first rows and columns where it is large):
//
//   kernel matmul, aligned build, 8 warps
//
//   f32[128, 128]
//     128x128 register (0,1) (8,0) (0,8) .. (0,64) lane (0,2) (0,4) (1,0) .. (4,0) warp …
//     matmul.tile:8:11: tile.mma
//   # each element's first place, as warp:lane:register
//   …
//
// `--layout-of=acc` shows the tiles of a name: of a variable the last operation of each
// expression that is assigned to it, of an array parameter its loads and stores.
// `--layout-of=8` shows what is made in line 8.
//
//===------------------------------------------------------------------------===//

#include "Layouts.h"

#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/Tile/TileLayout.h"
#include "tilec/Tile/TileOps.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <set>

using namespace mlir;

namespace tilec {

//===------------------------------------------------------------------------===//
// Names
//===------------------------------------------------------------------------===//

static void collectNames(const ast::Stmt *stmt, std::vector<NamedExpression> &found) {
  if (!stmt)
    return;
  if (auto *block = llvm::dyn_cast<ast::Block>(stmt)) {
    for (const ast::Stmt *inner : block->stmts)
      collectNames(inner, found);
  } else if (auto *let = llvm::dyn_cast<ast::LetStmt>(stmt)) {
    if (!let->isTuple && let->init)
      found.push_back({let->names.front().text, let->init->getRange()});
  } else if (auto *var = llvm::dyn_cast<ast::VarStmt>(stmt)) {
    if (var->init)
      found.push_back({var->name.text, var->init->getRange()});
  } else if (auto *assign = llvm::dyn_cast<ast::AssignStmt>(stmt)) {
    found.push_back({assign->target.text, assign->getRange()});
  } else if (auto *loop = llvm::dyn_cast<ast::ForStmt>(stmt)) {
    collectNames(loop->body, found);
  } else if (auto *loop = llvm::dyn_cast<ast::WhileStmt>(stmt)) {
    collectNames(loop->body, found);
  } else if (auto *branch = llvm::dyn_cast<ast::IfStmt>(stmt)) {
    collectNames(branch->thenBlock, found);
    collectNames(branch->elseStmt, found);
  } else if (auto *fast = llvm::dyn_cast<ast::FastStmt>(stmt)) {
    collectNames(fast->body, found);
  }
}

std::vector<NamedExpression> namedExpressions(const ast::Program &program) {
  std::vector<NamedExpression> found;
  for (const ast::File *file : program.files)
    for (const ast::Decl *decl : file->decls)
      if (auto *kernel = llvm::dyn_cast<ast::KernelDecl>(decl))
        collectNames(kernel->body, found);
      else if (auto *fn = llvm::dyn_cast<ast::FnDecl>(decl))
        collectNames(fn->body, found);
  return found;
}

//===------------------------------------------------------------------------===//
// Tiles
//===------------------------------------------------------------------------===//

namespace {

class LayoutPrinter {
public:
  LayoutPrinter(const std::function<SourceRange(Location)> &rangeOf,
                const SourceManager &sources, llvm::raw_ostream &os)
      : rangeOf(rangeOf), sources(sources), os(os) {}

  /// Prints `tiles`, each layout once.
  void print(tile::KernelOp kernel, ArrayRef<Value> shown) {
    auto name = kernel->getAttrOfType<StringAttr>("tile.kernel");
    os << "kernel " << (name ? name.getValue() : kernel.getSymName()) << ", "
       << buildKindName(tile::factsOf(kernel)) << " build, "
       << kernel.getNumWarps().value_or(0) << " warps\n";
    llvm::MapVector<Type, llvm::SetVector<StringRef>> tiles;
    for (Value tile : shown)
      tiles[tile.getType()].insert(keep(describeOrigin(tile)));
    for (auto &[type, origins] : tiles) {
      Layout layout = tile::getLayout(type);
      os << "\n" << spell(type) << "\n  " << layout.str() << "\n";
      for (StringRef origin : origins)
        os << "  " << origin << "\n";
      layout.draw(os);
    }
    os << "\n";
  }

  /// The tiles that `choice` means; all that the kernel computes if there is none.
  std::vector<Value> find(tile::KernelOp kernel, const LayoutChoice *choice) {
    std::vector<Value> found;
    std::vector<Value> last(choice ? choice->places.size() : 0);
    kernel.walk([&](Operation *op) {
      if (choice && isOfArray(op, choice->text))
        for (Value tile : op->getOperands())
          if (tile::hasLayout(tile.getType()))
            found.push_back(tile);
      SourceRange place = choice ? rangeOf(op->getLoc()) : SourceRange();
      for (Value result : op->getResults()) {
        if (!tile::hasLayout(result.getType()))
          continue;
        bool isLine = choice && choice->line && place.isValid() &&
                      sources.getFile(place.begin) == 0 &&
                      sources.getLineCol(place.begin).line == choice->line;
        if (!choice || isLine || isOfArray(op, choice->text))
          found.push_back(result);
        for (size_t i = 0; i < last.size(); ++i)
          if (place.isValid() && choice->places[i].contains(place.begin))
            last[i] = result;
      }
    });
    for (Value value : last)
      if (value)
        found.push_back(value);
    return found;
  }

private:
  /// `file:line:col: op` of the operation that makes a tile.
  static std::string describeOrigin(Value tile) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (auto place = tile.getLoc()->findInstanceOf<FileLineColLoc>())
      os << place.getFilename().getValue() << ":" << place.getLine() << ":"
         << place.getColumn() << ": ";
    if (Operation *op = tile.getDefiningOp())
      os << op->getName();
    else
      os << "carried by a loop";
    return text;
  }

  /// A load or store of the array parameter `name`.
  static bool isOfArray(Operation *op, StringRef name) {
    Value array;
    if (auto load = dyn_cast<tile::LoadOp>(op))
      array = load.getArray();
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      array = store.getArray();
    return array && spellArray(array) == ("`" + name + "`").str();
  }

  StringRef keep(std::string text) { return *texts.insert(std::move(text)).first; }

  const std::function<SourceRange(Location)> &rangeOf;
  const SourceManager &sources;
  llvm::raw_ostream &os;
  std::set<std::string> texts;
};

} // namespace

std::vector<std::string> printLayouts(ModuleOp module, ArrayRef<LayoutChoice> choices,
                                      const std::function<SourceRange(Location)> &rangeOf,
                                      const SourceManager &sources, llvm::raw_ostream &os) {
  LayoutPrinter printer(rangeOf, sources, os);
  std::vector<bool> isFound(choices.size());
  for (tile::KernelOp kernel : module.getOps<tile::KernelOp>()) {
    std::vector<Value> shown;
    if (choices.empty())
      shown = printer.find(kernel, nullptr);
    for (size_t i = 0; i < choices.size(); ++i) {
      std::vector<Value> found = printer.find(kernel, &choices[i]);
      isFound[i] = isFound[i] || !found.empty();
      shown.insert(shown.end(), found.begin(), found.end());
    }
    if (choices.empty() || !shown.empty())
      printer.print(kernel, shown);
  }
  std::vector<std::string> missing;
  for (size_t i = 0; i < choices.size(); ++i)
    if (!isFound[i])
      missing.push_back(choices[i].text);
  return missing;
}

} // namespace tilec
