//===- DiagnosticText.h - what passes say, as text --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Private to lib/Target. All errors here mean a bug in the compiler; their text goes into
// an llvm::Error.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_TARGET_DIAGNOSTICTEXT_H
#define TILEC_LIB_TARGET_DIAGNOSTICTEXT_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec {

/// Collects what is said on this thread; a handler hears all that share the context.
class DiagnosticText : public mlir::ScopedDiagnosticHandler {
public:
  explicit DiagnosticText(mlir::MLIRContext *context) : ScopedDiagnosticHandler(context) {
    setHandler([this, self = llvm::get_threadid()](mlir::Diagnostic &diagnostic) {
      if (llvm::get_threadid() != self)
        return mlir::failure();
      llvm::raw_string_ostream os(text);
      if (!text.empty())
        os << "\n";
      os << diagnostic.getLocation() << ": " << diagnostic.str();
      return mlir::success();
    });
  }

  /// One line a message, or that there was none.
  std::string get() const { return text.empty() ? "unknown reason" : text; }

private:
  std::string text;
};

} // namespace tilec

#endif // TILEC_LIB_TARGET_DIAGNOSTICTEXT_H
