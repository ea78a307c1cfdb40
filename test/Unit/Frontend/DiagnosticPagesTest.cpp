//===- DiagnosticPagesTest.cpp - the pages' examples of syntax ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The examples of codes that the parser reports (T00xx, T01xx), as built into
// the library. tools/scripts/check-diagnostics.py compiles those of all codes.
//
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Parser.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tilec;

namespace {

/// Has one file.
struct ExampleLoader : FileLoader {
  StringRef text;
  ErrorOr<std::unique_ptr<MemoryBuffer>> load(StringRef path) override {
    if (path != "example.tile")
      return std::make_error_code(std::errc::no_such_file_or_directory);
    return MemoryBuffer::getMemBufferCopy(text, path);
  }
};

/// The codes that a text gives, each once, between spaces.
std::string codesOf(StringRef text, unsigned maxErrors) {
  SourceManager sources;
  StoredDiagnostics stored;
  DiagnosticEngine diags(sources, stored);
  diags.setMaxErrors(maxErrors);
  ast::Context ctx;
  ExampleLoader loader;
  loader.text = text;
  parseProgram({"example.tile"}, ctx, sources, diags, loader);
  std::string codes;
  for (const Diagnostic &d : stored.list)
    if (!StringRef(codes).contains(getInfo(d.id).code))
      codes += (codes.empty() ? "" : " ") + getInfo(d.id).code.str();
  return codes;
}

/// The next ```tile block at or behind `pos`; its head in `head`.
StringRef nextBlock(StringRef page, size_t &pos, StringRef &head) {
  size_t start = page.find("```tile", pos);
  if (start == StringRef::npos)
    return "";
  size_t line = page.find('\n', start);
  head = page.slice(start + 7, line).trim();
  size_t end = page.find("\n```", line);
  pos = end + 4;
  return page.slice(line + 1, end + 1);
}

TEST(DiagnosticPages, ExplainFindsEachPage) {
  EXPECT_TRUE(
      explain("T0101").starts_with("T0101\n\n> error: expected …, found …\n"));
  EXPECT_EQ(explain("t0101"), explain("T0101"));
  EXPECT_EQ(explain("T01010"), "");
  EXPECT_EQ(explain("T010"), "");
  EXPECT_EQ(explain(""), "");
  EXPECT_FALSE(explain("T0020").contains("# Syntax")) << "ends with its group";
}

TEST(DiagnosticPages, SyntaxExamplesGiveTheirCode) {
  for (unsigned i = 0; i < diag::numDiagnostics; ++i) {
    StringRef code = getInfo(static_cast<diag::Id>(i)).code;
    if (code > "T01~")
      continue;
    StringRef page = explain(code);
    ASSERT_FALSE(page.empty()) << code.str();
    if (page.contains("\nNo example: "))
      continue;
    size_t pos = 0;
    StringRef head;
    StringRef failing = nextBlock(page, pos, head);
    EXPECT_TRUE(head.starts_with("fails")) << code.str();
    bool tooMany = code == "T0019";
    std::string codes = codesOf(failing, tooMany ? 1 : 0);
    EXPECT_EQ(tooMany ? StringRef(codes).take_back(5) : StringRef(codes), code);
    StringRef fixed = nextBlock(page, pos, head);
    EXPECT_EQ(head, "");
    EXPECT_FALSE(fixed.empty()) << code.str();
    EXPECT_EQ(codesOf(fixed, 0), "") << code.str();
  }
}

} // namespace
