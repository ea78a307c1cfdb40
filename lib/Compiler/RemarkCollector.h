//===- RemarkCollector.h - remarks of all builds, each once ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: what passes say (Tile/Remarks.h) of each build of each kernel, for each chip.
// Out: diagnostics. A fact that holds for all builds and chips of its kernel is said
// once, another with the builds for which it holds:
//
//   k.tile:7:15: remark: bf16[128, 64] of `a` is copied by the engine [select-copies, aligned build]
//
// They come in the order of the source, and at one place in that of the pipeline, so
// that they read like an explanation of the kernel.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_COMPILER_REMARKCOLLECTOR_H
#define TILEC_LIB_COMPILER_REMARKCOLLECTOR_H

#include "tilec/Frontend/Diagnostics.h"
#include "tilec/Support/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tilec {

/// The first place in a file that `loc` names; invalid when that file is not known.
using RangeOfLoc = std::function<SourceRange(mlir::Location)>;

class RemarkCollector {
public:
  explicit RemarkCollector(RangeOfLoc rangeOf) : rangeOf(std::move(rangeOf)) {}

  /// Listens to the passes with these names; to all if there are none.
  void listen(mlir::MLIRContext &context, llvm::ArrayRef<std::string> names);
  bool isListening() const { return listening; }
  bool accepts(llvm::StringRef name) const;

  /// What comes from now on is of this chip.
  void beginChip(const Chip &chip) { chipName = chip.name; }
  /// What comes from now on holds of all chips and builds.
  void endChip() { chipName.clear(); }
  /// Takes note which kernel, with which facts, each symbol in `module` is a build of.
  void learnBuilds(mlir::ModuleOp module);
  void add(llvm::StringRef symbol, llvm::StringRef name, SourceRange range,
           llvm::StringRef text);
  /// Reports all, and forgets them.
  void report(DiagnosticEngine &engine);

private:
  /// A chip and what its build is called.
  using Variant = std::pair<std::string, std::string>;
  struct Build {
    std::string kernel, name;
  };
  struct Remark {
    std::string symbol, chip, name, text;
    SourceRange range;
  };

  RangeOfLoc rangeOf;
  bool listening = false;
  std::vector<std::string> accepted;
  std::string chipName;
  std::map<std::string, Build> builds; ///< by symbol
  std::map<std::string, std::set<Variant>> variants; ///< of each kernel
  std::vector<Remark> remarks;
};

} // namespace tilec

#endif // TILEC_LIB_COMPILER_REMARKCOLLECTOR_H
