//===- Remarks.h - passes say what they chose -----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: an operation and one sentence about it, in the words of the program. Out: a
// remark of MLIR's engine, whose category is the pass's name; `tilec --remarks` prints
// it at the place in the source.
//
//   remarkChoice(mma, "select-atoms", "product by {0}", atom.name);
//   remarkMissed(load, "select-copies", "not copied by the engine: {0}", why);
//
// Where nobody listens a call is one test of a pointer. What is dear to find out stands
// behind `wantsRemarks`. A text begins in lower case, has no final stop, and says in a
// miss why not. The same fact of several builds is printed once (RemarkCollector.h).
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TILE_REMARKS_H
#define TILEC_TILE_REMARKS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <string_view>

namespace tilec {

/// Who makes remarks, in the order of the pipeline: what `--remarks=` takes. All are
/// passes, but for the last.
inline constexpr llvm::StringLiteral remarkNames[] = {
    "scale-maxima",    "rotate-rows",      "stream-rows",        "choose-warps",
    "select-atoms",    "select-copies",    "defer-reductions",   "split-k",
    "schedule-blocks", "stage-operands",   "specialize-warps",   "flatten-loops",
    "choose-stages",   "schedule-async-mma", "schedule-loops",   "allocate-memory",
    "lower-to-simt",   "assemble"};

/// Not constant: a call of it ends a constant evaluation with an error.
void reportUnknownRemarkName();

/// One of `remarkNames`; any other does not compile.
class RemarkName {
public:
  consteval RemarkName(const char *name) : name(name) {
    for (llvm::StringLiteral known : remarkNames)
      if (std::string_view(known.data(), known.size()) == name)
        return;
    reportUnknownRemarkName();
  }
  llvm::StringRef str() const { return {name.data(), name.size()}; }

private:
  std::string_view name;
};

/// Whether anybody listens.
inline bool wantsRemarks(mlir::Operation *op) {
  return op->getContext()->getRemarkEngine() != nullptr;
}

/// What was chosen, and what better thing was not, as a sentence.
void emitChoice(mlir::Operation *op, RemarkName name, llvm::StringRef text);
void emitMissed(mlir::Operation *op, RemarkName name, llvm::StringRef text);

template <typename... Ts>
void remarkChoice(mlir::Operation *op, RemarkName name, const char *format, Ts &&...values) {
  if (wantsRemarks(op))
    emitChoice(op, name, llvm::formatv(format, std::forward<Ts>(values)...).str());
}

template <typename... Ts>
void remarkMissed(mlir::Operation *op, RemarkName name, const char *format, Ts &&...values) {
  if (wantsRemarks(op))
    emitMissed(op, name, llvm::formatv(format, std::forward<Ts>(values)...).str());
}

/// A type as the program spells it: `bf16[128, 64]`, `f32`.
std::string spell(mlir::Type type);
/// `48 KiB`, `200 bytes`.
std::string spellBytes(int64_t bytes);
/// The parameter that `array` is, in backquotes.
std::string spellArray(mlir::Value array);

} // namespace tilec

#endif // TILEC_TILE_REMARKS_H
