//===- SemaTest.h - a checked text for tests ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A wrong program marks the place of each error with `$`, a character that is
// in no program:
//
//   {"let t = zeros([$100], f32);", "T0301"}
//
// holds when there is exactly that error, beginning exactly there.
//===----------------------------------------------------------------------===//
#ifndef TILEC_TEST_UNIT_FRONTEND_SEMATEST_H
#define TILEC_TEST_UNIT_FRONTEND_SEMATEST_H

#include "tilec/Frontend/Parser.h"
#include "tilec/Frontend/Sema.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <string>
#include <vector>

namespace tilec {

/// A text, its checked program (null after errors) and its diagnostics.
struct Checked {
  explicit Checked(llvm::StringRef text, CheckOptions options = {},
                   std::vector<std::string> specializations = {}) {
    diags.setMaxErrors(0);
    FileId id = sources.addText("test.tile", text);
    ast::File *file = parseFile(id, ctx, sources, diags);
    syntax.files = {file};
    syntax.roots = {file};
    addSpecializations(specializations, syntax, ctx, sources, diags);
    program = check(syntax, diags, options);
  }

  /// "T0301 at 2:11, T0306 at 3:1", by place.
  std::string errors() const {
    std::vector<std::pair<uint32_t, std::string>> list;
    for (const Diagnostic &d : stored.list) {
      std::string at = "nowhere";
      if (d.range.isValid()) {
        LineCol where = sources.getLineCol(d.range.begin);
        at = std::to_string(where.line) + ":" + std::to_string(where.col);
      }
      list.push_back(
          {d.range.begin.getOffset(), getInfo(d.id).code.str() + " at " + at});
    }
    llvm::sort(list);
    std::string result;
    for (auto &[offset, text] : list)
      result += (result.empty() ? "" : ", ") + text;
    return result;
  }

  /// All diagnostics as a user sees them.
  std::string messages() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    TextDiagnosticPrinter printer(sources, os, /*color=*/false);
    for (const Diagnostic &d : stored.list)
      printer.handle(d);
    return text;
  }

  std::string printed() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (program)
      checked::print(*program, os);
    return text;
  }

  SourceManager sources;
  StoredDiagnostics stored;
  DiagnosticEngine diags{sources, stored};
  ast::Context ctx;
  ast::Program syntax;
  std::unique_ptr<checked::Program> program;
};

/// A wrong text with `$` at the errors, and their codes in order of place.
struct WrongProgram {
  llvm::StringRef text, codes;
};

/// Names that the statements of a test may use.
inline constexpr llvm::StringRef bodyHead =
    "kernel k<T: float = f32, BM: int = 64, BN: int = 128, ON: bool = true>(a: "
    "array<f32, [m, n]>, "
    "b: array<f16, [m, n]>, c: mut array<f32, [m, n]>, h: mut array<f16, [m, "
    "n]>, v: array<f32, [n]>, "
    "w: mut array<f32, [n]>, ia: mut array<i32, [n]>, s: f32, num: i32, flag: "
    "bool, big: int, d: f64) grid [m] {\n"
    "let x = load(a, [0, 0], [BM, BN]); let y = load(b, [0, 0], [BM, BN]); let "
    "r = load(v, [0], [BN]);\n"
    "let it = load(ia, [0], [BN]); let t8 = zeros([BM, BN], f8e4m3); let p = x "
    "> 0.0;\n";

/// The message of a mismatch, or "".
inline std::string mismatch(const WrongProgram &wrong, bool isBody,
                            CheckOptions options = {}) {
  std::string marked = isBody ? (bodyHead + "  " + wrong.text + "\n}\n").str()
                              : wrong.text.str();
  std::string text, want;
  llvm::SmallVector<llvm::StringRef> codes;
  wrong.codes.split(codes, ' ', -1, false);
  unsigned line = 1, col = 1, count = 0;
  for (char c : marked) {
    if (c == '$') {
      want += (want.empty() ? "" : ", ") +
              (count < codes.size() ? codes[count] : "?").str() + " at " +
              std::to_string(line) + ":" + std::to_string(col);
      ++count;
      continue;
    }
    text += c;
    line += c == '\n';
    col = c == '\n' ? 1 : col + 1;
  }
  for (; count < codes.size(); ++count)
    want += (want.empty() ? "" : ", ") + codes[count].str() + " at nowhere";
  Checked checked(text, options);
  std::string found = checked.errors();
  if (found == want)
    return "";
  return "\nprogram:  " + wrong.text.str() + "\nexpected: " + want +
         "\nfound:    " + found + "\n" + checked.messages();
}

} // namespace tilec

#endif // TILEC_TEST_UNIT_FRONTEND_SEMATEST_H
