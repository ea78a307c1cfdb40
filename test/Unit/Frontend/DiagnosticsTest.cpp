//===- DiagnosticsTest.cpp - the engine and the printers --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Diagnostics.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tilec;

namespace {

struct DiagnosticsTest : testing::Test {
  SourceRange range(unsigned line, unsigned col, unsigned length) {
    SourceLoc begin = sources.getLoc(file, line, col);
    return {begin, begin.advanced(length)};
  }
  SourceManager sources;
  FileId file = sources.addText("a.tile", "let a = load(x);\n"
                                          "\tlet c = a + b;\n"
                                          "\n"
                                          "\n"
                                          "größe(a, b);\n");
  std::string text;
  raw_string_ostream os{text};
  TextDiagnosticPrinter printer{sources, os, /*color=*/false};
  StoredDiagnostics stored;
};

TEST(DiagnosticTable, CodesAndNamesAreUnique) {
  StringSet<> codes, names, flags;
  for (unsigned i = 0; i < diag::numDiagnostics; ++i) {
    const DiagnosticInfo &info = getInfo(static_cast<diag::Id>(i));
    EXPECT_TRUE(codes.insert(info.code).second) << info.code.str();
    EXPECT_TRUE(names.insert(info.name).second) << info.name.str();
    EXPECT_EQ(info.code.size(), 5u) << info.code.str();
    EXPECT_FALSE(info.format.ends_with(".")) << info.code.str();
    EXPECT_EQ(info.flag.empty(), info.severity != Severity::Warning);
    EXPECT_EQ(findDiagnostic(info.code), static_cast<diag::Id>(i));
  }
  EXPECT_FALSE(findDiagnostic("T9999"));
}

TEST_F(DiagnosticsTest, FillsInArguments) {
  DiagnosticEngine diags(sources, stored);
  diags.report(diag::expected_token, range(1, 1, 3), "`(`", "`{`");
  diags.report(diag::nesting_too_deep, range(1, 1, 3), 256u);
  EXPECT_EQ(stored.list[0].message, "expected `(`, found `{`");
  EXPECT_EQ(stored.list[1].message, "nesting is deeper than 256 levels");
}

TEST_F(DiagnosticsTest, ArgumentsAreNotFormats) {
  DiagnosticEngine diags(sources, stored);
  diags.report(diag::expected_token, range(1, 1, 3), "{1}{0}", "{9}");
  EXPECT_EQ(stored.list[0].message, "expected {1}{0}, found {9}");
}

TEST_F(DiagnosticsTest, ShowsTheSource) {
  DiagnosticEngine diags(sources, printer);
  diags.report(diag::chained_comparison, range(2, 12, 1))
      .label("here")
      .secondary(range(2, 10, 1), "first")
      .secondary(range(1, 9, 7), "from this")
      .secondary(range(5, 8, 1), "")
      .note(range(1, 5, 1), "declared here")
      .note("no place")
      .help("do that");
  EXPECT_EQ(text, R"(a.tile:2:12: error: comparisons do not chain [T0112]
    1 | let a = load(x);
      |         ------- from this
    2 |     let c = a + b;
      |             - ^ here
      |             |
      |             first
   ...
    5 | größe(a, b);
      |      -
a.tile:1:5: note: declared here
    1 | let a = load(x);
      |     ^
      = note: no place
      = help: do that
)");
}

TEST_F(DiagnosticsTest, ShowsTheFixedLine) {
  DiagnosticEngine diags(sources, printer);
  diags.report(diag::missing_semicolon, range(1, 9, 7), "it")
      .fixIt(range(1, 9, 0), "f(", "wrap it")
      .fixIt(range(1, 16, 0), ")", "and close it");
  EXPECT_EQ(text, R"(a.tile:1:9: error: expected `;` after it [T0110]
    1 | let a = load(x);
      |         ^^^^^^^
      = help: wrap it
      = help: and close it
    1 | let a = f(load(x));
      |         ++       +
)");
}

TEST_F(DiagnosticsTest, MarksEndsOfFilesAndLongRanges) {
  DiagnosticEngine diags(sources, printer);
  diags.report(diag::missing_semicolon,
               SourceRange(sources.getLoc(file, size_t(1) << 20)), "x");
  diags.report(diag::unterminated_comment,
               SourceRange(sources.getLoc(file, size_t(4)),
                           sources.getLoc(file, size_t(30))));
  EXPECT_EQ(text, R"(a.tile:6:1: error: expected `;` after x [T0110]
    6 |
      | ^
a.tile:1:5: error: this comment is not closed [T0008]
    1 | let a = load(x);
      |     ^^^^^^^^^^^^
)");
}

TEST_F(DiagnosticsTest, LongLinesAreCutAroundTheMark) {
  std::string line = std::string(5000, 'a') + "X" + std::string(5000, 'b');
  FileId longFile = sources.addText("long.tile", line);
  DiagnosticEngine diags(sources, printer);
  SourceLoc at = sources.getLoc(longFile, size_t(5000));
  diags.report(diag::chained_comparison, {at, at.advanced(1)});
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  EXPECT_LT(lines[1].size(), 230u);
  EXPECT_EQ(lines[1].find('X'), lines[2].find('^'));
}

TEST_F(DiagnosticsTest, ControlBytesDoNotReachTheTerminal) {
  FileId evil = sources.addText("evil.tile", "a \x1b[31m \xff b");
  DiagnosticEngine diags(sources, printer);
  diags.report(diag::chained_comparison,
               SourceRange(sources.getLoc(evil, size_t(0))));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
}

TEST_F(DiagnosticsTest, ColoursOnlyOnRequest) {
  TextDiagnosticPrinter coloured(sources, os, /*color=*/true);
  DiagnosticEngine diags(sources, coloured);
  diags.report(diag::chained_comparison, range(2, 12, 1));
  EXPECT_NE(text.find("\033[1;31merror: "), std::string::npos);
}

TEST_F(DiagnosticsTest, JSONIsOneObjectALine) {
  JSONDiagnosticPrinter json(sources, os);
  DiagnosticEngine diags(sources, json);
  diags.report(diag::chained_comparison, range(2, 12, 1))
      .label("a \"label\"")
      .secondary(range(2, 10, 1), "first")
      .help("do that")
      .fixIt(range(2, 12, 1), "\n", "break");
  diags.report(diag::file_not_read, {}, "x", "no");
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  ASSERT_EQ(lines.size(), 2u);
  Expected<json::Value> value = json::parse(lines[0]);
  ASSERT_TRUE(bool(value));
  json::Object &object = *value->getAsObject();
  EXPECT_EQ(object.getString("code"), "T0112");
  EXPECT_EQ(object.getString("severity"), "error");
  EXPECT_EQ(object.getString("file"), "a.tile");
  EXPECT_EQ(object.getInteger("line"), 2);
  EXPECT_EQ(object.getInteger("column"), 12);
  EXPECT_EQ(object.getInteger("endColumn"), 13);
  EXPECT_EQ(object.getString("label"), "a \"label\"");
  EXPECT_EQ(object.getArray("related")->size(), 3u);
  EXPECT_EQ(
      (*object.getArray("fixes"))[0].getAsObject()->getString("replacement"),
      "\n");
  value = json::parse(lines[1]);
  ASSERT_TRUE(bool(value));
  EXPECT_FALSE(value->getAsObject()->getString("file"));
}

TEST_F(DiagnosticsTest, RepetitionsAreDropped) {
  DiagnosticEngine diags(sources, stored);
  for (int i = 0; i < 3; ++i)
    diags.report(diag::chained_comparison, range(2, 12, 1));
  diags.report(diag::chained_comparison, range(2, 10, 1));
  EXPECT_EQ(stored.list.size(), 2u);
  EXPECT_EQ(diags.getNumErrors(), 2u);
}

TEST_F(DiagnosticsTest, StopsBeyondTheLimit) {
  DiagnosticEngine diags(sources, stored);
  diags.setMaxErrors(2);
  for (unsigned i = 1; i < 4; ++i)
    diags.report(diag::chained_comparison, range(1, i, 1));
  EXPECT_TRUE(diags.shouldStop());
  ASSERT_EQ(stored.list.size(), 3u);
  EXPECT_EQ(stored.list[2].message, "too many errors, stopping after 2");
}

TEST_F(DiagnosticsTest, ADroppedBuilderSaysNothing) {
  DiagnosticEngine diags(sources, stored);
  diags.report(diag::chained_comparison, range(1, 1, 1)).label("x").drop();
  EXPECT_TRUE(stored.list.empty());
}

TEST_F(DiagnosticsTest, UnknownWarningOptionsAreRefused) {
  DiagnosticEngine diags(sources, stored);
  EXPECT_TRUE(diags.setWarningOption("error"));
  EXPECT_TRUE(diags.setWarningOption("no-error"));
  EXPECT_FALSE(diags.setWarningOption("no-such-warning"));
  EXPECT_FALSE(diags.setWarningOption(""));
}

/// Any warning of the table will do.
std::optional<diag::Id> anyWarning() {
  for (unsigned i = 0; i < diag::numDiagnostics; ++i)
    if (getInfo(static_cast<diag::Id>(i)).severity == Severity::Warning)
      return static_cast<diag::Id>(i);
  return std::nullopt;
}

TEST_F(DiagnosticsTest, WarningsCanBeTurnedOffAndIntoErrors) {
  std::optional<diag::Id> id = anyWarning();
  if (!id)
    GTEST_SKIP() << "the table has no warnings";
  std::string flag = getInfo(*id).flag.str();
  auto severityWith = [&](std::vector<std::string> options) -> std::string {
    StoredDiagnostics list;
    DiagnosticEngine diags(sources, list);
    for (const std::string &option : options)
      EXPECT_TRUE(diags.setWarningOption(option)) << option;
    diags.report(*id, range(1, 1, 1), "a", "b", "c");
    return list.list.empty() ? "" : spelling(list.list[0].severity).str();
  };
  EXPECT_EQ(severityWith({}), "warning");
  EXPECT_EQ(severityWith({"no-" + flag}), "");
  EXPECT_EQ(severityWith({"no-" + flag, flag}), "warning");
  EXPECT_EQ(severityWith({"error"}), "error");
  EXPECT_EQ(severityWith({"error=" + flag}), "error");
  EXPECT_EQ(severityWith({"error", "no-error=" + flag}), "warning");
  EXPECT_EQ(severityWith({"no-" + flag, "error=" + flag}), "error");
}

TEST_F(DiagnosticsTest, RemarksBearTheirPassAndShowAPlaceOnce) {
  DiagnosticEngine diags(sources, printer);
  diags.report(diag::remark, range(1, 9, 4), "16 bytes").category("lower-to-simt", "");
  diags.report(diag::remark, range(1, 9, 4), "copied").category("select-copies", "general build");
  diags.report(diag::remark, range(1, 9, 4), "copied").category("select-copies", "general build");
  EXPECT_EQ(text, "a.tile:1:9: remark: 16 bytes [lower-to-simt]\n"
                  "    1 | let a = load(x);\n"
                  "      |         ^^^^\n"
                  "a.tile:1:9: remark: copied [select-copies, general build]\n");
  EXPECT_EQ(diags.getNumErrors() + diags.getNumWarnings(), 0u);
}

} // namespace
