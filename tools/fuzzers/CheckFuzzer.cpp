//===- CheckFuzzer.cpp - the checker on arbitrary bytes ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: any bytes. What must hold: parser and checker return, and the checker
// gives either a program or at least one error. The corpus to begin with is the
// examples and the tests of the frontend.
//
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Parser.h"
#include "tilec/Frontend/Sema.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;
using namespace tilec;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceManager sources;
  StoredDiagnostics stored;
  DiagnosticEngine diags(sources, stored);
  ast::Context ctx;
  FileId id = sources.addText(
      "fuzz.tile", StringRef(reinterpret_cast<const char *>(data), size));
  ast::File *file = parseFile(id, ctx, sources, diags);
  ast::Program program;
  program.files = program.roots = {file};
  CheckOptions options;
  options.arch = 90;
  options.staticPrint = &nulls();
  bool passed = check(program, diags, options) != nullptr;
  if (passed == diags.hasErrors()) {
    errs() << (passed ? "passed with errors\n" : "failed without an error\n");
    std::abort();
  }
  return 0;
}
