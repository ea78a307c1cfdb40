//===- ExpandHelpers.h - helper calls to inline PTX ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What LLVM has no intrinsic for is a call of a *helper*: a declared function
// whose name starts with `tilec.`. It stays a call through all of optimisation,
// so that the emulator can bind the same name to a host function; the last step
// of the PTX path turns it into inline assembly.
//
// The text comes from one of two places:
//   1. a row of InlinePTX.def (fixed instructions: ex2.approx, …);
//   2. function attributes on the declaration, put there by whoever makes the
//      call (Atoms, whose texts depend on shapes):
//        "tilec-asm"="wgmma.fence.sync.aligned;"
//        "tilec-constraints"="=f,f,~{memory}"
//      In MLIR: `passthrough = [["tilec-asm", "…"], ["tilec-constraints", "…"]]`.
//
// A helper is pure unless told otherwise: "tilec-effects"="sync" (a barrier or
// shuffle: convergent, reads and writes memory), "memory" (reads and writes
// memory) or "none"; the default for a declaration with attributes is "sync".
//===----------------------------------------------------------------------===//

#ifndef TILEC_TARGET_EXPANDHELPERS_H
#define TILEC_TARGET_EXPANDHELPERS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace tilec {

/// What optimisation may assume about a helper call.
enum class HelperEffects {
  None,   ///< a pure function of its operands
  Memory, ///< may read and write memory
  Sync    ///< also: all threads of the warp or block arrive together
};

/// Inline PTX of one helper, in LLVM's syntax of operands and constraints.
struct Helper {
  llvm::StringRef name;
  llvm::StringRef text;
  llvm::StringRef constraints;
  HelperEffects effects;
};

/// True for names of helpers.
inline bool isHelperName(llvm::StringRef name) { return name.starts_with("tilec."); }

/// The helper that `function` declares, or nothing when neither InlinePTX.def nor
/// its attributes know it.
std::optional<Helper> findHelper(const llvm::Function &function);

/// Marks every helper declaration with what its effects allow.
void annotateHelpers(llvm::Module &module);

/// Makes calls of the helpers of products one statement where they follow one another
/// (JoinProducts.cpp says how).
void joinProducts(llvm::Module &module);

/// Replaces every helper call by inline PTX; an unknown helper is an error.
llvm::Error expandHelpers(llvm::Module &module);

} // namespace tilec
#endif // TILEC_TARGET_EXPANDHELPERS_H
