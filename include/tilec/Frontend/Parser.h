//===- Parser.h - source text to AST ----------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: files. Out: their syntax trees, with imports followed, and located errors
// for whatever is wrong. Never fails as a whole: what could be read is there,
// and the diagnostics engine knows whether something could not.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_FRONTEND_PARSER_H
#define TILEC_FRONTEND_PARSER_H

#include "tilec/Frontend/AST.h"
#include "tilec/Frontend/Diagnostics.h"
#include "tilec/Frontend/Source.h"
#include <string>
#include <vector>

namespace tilec {

/// Parses one file that is already in `sources`; imports stay unresolved.
ast::File *parseFile(FileId file, ast::Context &ctx,
                     const SourceManager &sources, DiagnosticEngine &diags);

struct ParseOptions {
  /// Searched, in order, for an import that is not beside the importing file.
  std::vector<std::string> includeDirs;
};

/// Loads and parses `paths` and all that they import, each file once. Reports
/// files that cannot be read, that are too large, and import cycles. The names
/// of all loaded files are in `sources` (for depfiles).
ast::Program parseProgram(llvm::ArrayRef<std::string> paths, ast::Context &ctx,
                          SourceManager &sources, DiagnosticEngine &diags,
                          FileLoader &loader, const ParseOptions &options = {});

} // namespace tilec

#endif // TILEC_FRONTEND_PARSER_H
