//===- SyntaxTest.h - a parsed text for tests -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILEC_TEST_UNIT_FRONTEND_SYNTAXTEST_H
#define TILEC_TEST_UNIT_FRONTEND_SYNTAXTEST_H

#include "tilec/Frontend/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace tilec {

/// A text, its tree and its diagnostics.
struct Parsed {
  explicit Parsed(llvm::StringRef text, unsigned maxErrors = 0) {
    diags.setMaxErrors(maxErrors);
    FileId id = sources.addText("test.tile", text);
    file = parseFile(id, ctx, sources, diags);
  }

  /// "T0101 at 1:9", in order.
  std::vector<std::string> errors() const {
    std::vector<std::string> result;
    for (const Diagnostic &d : stored.list) {
      std::string at = "nowhere";
      if (d.range.isValid()) {
        LineCol where = sources.getLineCol(d.range.begin);
        at = std::to_string(where.line) + ":" + std::to_string(where.col);
      }
      result.push_back(getInfo(d.id).code.str() + " at " + at);
    }
    return result;
  }

  std::string printed() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    ast::print(*file, os);
    return text;
  }

  SourceManager sources;
  StoredDiagnostics stored;
  DiagnosticEngine diags{sources, stored};
  ast::Context ctx;
  ast::File *file;
};

} // namespace tilec

#endif // TILEC_TEST_UNIT_FRONTEND_SYNTAXTEST_H
