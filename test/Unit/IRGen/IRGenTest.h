//===- IRGenTest.h - from source text to verified tile IR ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the tests of IR generation share: a program in source form goes through
// parser, checker and IRGen, and the module is verified.

#ifndef TILEC_TEST_UNIT_IRGEN_IRGENTEST_H
#define TILEC_TEST_UNIT_IRGEN_IRGENTEST_H

#include "tilec/Frontend/Diagnostics.h"
#include "tilec/Frontend/Parser.h"
#include "tilec/Frontend/Sema.h"
#include "tilec/IRGen/IRGen.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

#include <string>

namespace tilec::test {

/// One file in memory.
class TextLoader : public FileLoader {
public:
  explicit TextLoader(llvm::StringRef text) : text(text) {}
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> load(llvm::StringRef) override {
    return llvm::MemoryBuffer::getMemBufferCopy(text, "test.tile");
  }
  std::string canonicalPath(llvm::StringRef path) override { return path.str(); }

private:
  std::string text;
};

/// Collects messages as text.
class CollectedMessages : public DiagnosticConsumer {
public:
  void handle(const Diagnostic &diagnostic) override { text += diagnostic.message + "\n"; }
  std::string text;
};

/// Generates IR from source. Errors of the program and of the verifier fail the
/// test. `text()` is the module as printed.
class Generated {
public:
  explicit Generated(llvm::StringRef source, const IRGenOptions &options = {}) {
    TextLoader loader(source);
    CollectedMessages messages;
    DiagnosticEngine engine(sources, messages);
    ast::Context ast;
    ast::Program program = parseProgram({"test.tile"}, ast, sources, engine, loader);
    std::unique_ptr<checked::Program> checked;
    CheckOptions checkOptions;
    if (!engine.hasErrors())
      checked = check(program, engine, checkOptions);
    if (!checked) {
      ADD_FAILURE() << "the program has errors:\n" << messages.text;
      return;
    }
    module = generateIR(context, *checked, sources, options);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module))) << text();
  }

  std::string text(bool withLocations = false) {
    if (!module)
      return "";
    std::string result;
    llvm::raw_string_ostream os(result);
    mlir::OpPrintingFlags flags;
    flags.assumeVerified().elideLargeElementsAttrs(64);
    if (withLocations)
      flags.enableDebugInfo(true, true);
    module->getOperation()->print(os, flags);
    return result;
  }

  SourceManager sources;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_IRGEN_IRGENTEST_H
