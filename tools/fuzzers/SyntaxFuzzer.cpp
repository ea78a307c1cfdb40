//===- SyntaxFuzzer.cpp - lexer and parser on arbitrary bytes ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: any bytes. What must hold: the parser returns, every message can be
// printed in both forms, and what parses without an error prints to a text that
// parses to the same.
//
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <string>

using namespace llvm;
using namespace tilec;

/// Parses and prints; empty when there was an error.
static std::string roundTrip(StringRef text) {
  SourceManager sources;
  StoredDiagnostics stored;
  DiagnosticEngine diags(sources, stored);
  ast::Context ctx;
  FileId id = sources.addText("fuzz.tile", text);
  ast::File *file = parseFile(id, ctx, sources, diags);

  std::string messages;
  raw_string_ostream os(messages);
  TextDiagnosticPrinter printer(sources, os, /*color=*/false);
  JSONDiagnosticPrinter json(sources, os);
  for (const Diagnostic &d : stored.list) {
    printer.handle(d);
    json.handle(d);
  }
  if (diags.hasErrors())
    return "";
  std::string printed;
  raw_string_ostream out(printed);
  ast::print(*file, out);
  return printed;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string once =
      roundTrip(StringRef(reinterpret_cast<const char *>(data), size));
  if (roundTrip(once) != once) {
    errs() << "does not print to itself:\n" << once;
    std::abort();
  }
  return 0;
}
