//===- Diagnostics.h - errors and warnings about source ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: "this row of the table, at this range, with these arguments, labels,
// notes and fix-its". Out: a Diagnostic handed to a consumer that prints text,
// prints JSON, or keeps it for a test.
//
//   diags.report(diag::shape_mismatch, expr->getRange(), "[128, 64]", "[64,
//   128]")
//       .label("this is [128, 64]")
//       .secondary(rhs->getRange(), "this is [64, 128]")
//       .note(decl.range, "`b` is declared here")
//       .help("`permute(b, [1, 0])` matches");
//
// The diagnostic is emitted when the builder goes out of scope. The engine
// drops exact repetitions (a template checked twice), turns warnings on, off or
// into errors, and stops the run after max-errors: check `shouldStop()` in long
// loops.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_FRONTEND_DIAGNOSTICS_H
#define TILEC_FRONTEND_DIAGNOSTICS_H

#include "tilec/Frontend/Source.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tilec {

/// One value per row of Diagnostics.def, spelled diag::name.
namespace diag {
enum Id : unsigned {
#define ERROR(code, name, format) name,
#define WARNING(code, name, flag, format) name,
#define REMARK(code, name, format) name,
#include "tilec/Frontend/Diagnostics.def"
  numDiagnostics
};
} // namespace diag

enum class Severity : uint8_t { Error, Warning, Remark, Note };

/// "error", "warning", …
llvm::StringRef spelling(Severity severity);

/// The table's columns for one diagnostic.
struct DiagnosticInfo {
  llvm::StringRef code;   // "T0101"
  llvm::StringRef name;   // "expected_token"
  Severity severity;      // as in the table
  llvm::StringRef flag;   // "" for errors
  llvm::StringRef format; // "expected {0}, found {1}"
};
const DiagnosticInfo &getInfo(diag::Id id);
/// The row with this code ("T0101"), if there is one.
std::optional<diag::Id> findDiagnostic(llvm::StringRef code);
/// The page of a code from docs/diagnostics.md, as `--explain` prints it; ""
/// where there is none.
llvm::StringRef explain(llvm::StringRef code);

/// A range and what is to be said about it.
struct LabelledRange {
  SourceRange range;
  std::string text; // may be empty
};

/// A change of the text that repairs the mistake. An empty range inserts.
struct FixIt {
  SourceRange range;
  std::string replacement;
};

struct DiagnosticNote {
  SourceRange range; // may be invalid: then only text
  std::string text;
  bool isHelp = false;
};

/// A finished message.
struct Diagnostic {
  diag::Id id;
  Severity severity; // after -Werror and the like
  std::string message;
  std::string category; // of a remark: who says it
  std::string scope;    // of a remark: of which builds; "": of all
  SourceRange range; // invalid when about no place in a file
  std::string label;
  std::vector<LabelledRange> secondary;
  std::vector<DiagnosticNote> notes;
  std::vector<FixIt> fixIts;
};

/// Receives finished messages in the order of their emission.
class DiagnosticConsumer {
public:
  virtual ~DiagnosticConsumer();
  virtual void handle(const Diagnostic &diagnostic) = 0;
};

/// Prints as a compiler does for people:
///   file:line:col: error: message [T0101]
///      12 |   acc = mma(a, b)
///         |                  ^ label
/// Remarks bear the name of who says them, and those at one place show it once.
class TextDiagnosticPrinter : public DiagnosticConsumer {
public:
  TextDiagnosticPrinter(const SourceManager &sources, llvm::raw_ostream &os,
                        bool color)
      : sources(sources), os(os), color(color) {}
  void handle(const Diagnostic &diagnostic) override;

private:
  const SourceManager &sources;
  llvm::raw_ostream &os;
  bool color;
  SourceRange lastRemark; // whose place is shown already
};

/// Prints one JSON object a line.
class JSONDiagnosticPrinter : public DiagnosticConsumer {
public:
  JSONDiagnosticPrinter(const SourceManager &sources, llvm::raw_ostream &os)
      : sources(sources), os(os) {}
  void handle(const Diagnostic &diagnostic) override;

private:
  const SourceManager &sources;
  llvm::raw_ostream &os;
};

/// Keeps them.
class StoredDiagnostics : public DiagnosticConsumer {
public:
  void handle(const Diagnostic &diagnostic) override {
    list.push_back(diagnostic);
  }
  std::vector<Diagnostic> list;
};

class DiagnosticEngine;

/// A message under construction; see the head of this file.
class DiagnosticBuilder {
public:
  DiagnosticBuilder(DiagnosticBuilder &&other);
  DiagnosticBuilder(const DiagnosticBuilder &) = delete;
  ~DiagnosticBuilder();

  /// The next argument of the format.
  template <typename T>
  DiagnosticBuilder &arg(const T &value) {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
      args.push_back(llvm::Twine(static_cast<long long>(value)).str());
    else if constexpr (std::is_integral_v<T>)
      args.push_back(llvm::Twine(static_cast<unsigned long long>(value)).str());
    else
      args.push_back(llvm::Twine(value).str());
    return *this;
  }

  /// What to write beside the primary range.
  DiagnosticBuilder &label(const llvm::Twine &text);
  /// Another range shown with the primary one.
  DiagnosticBuilder &secondary(SourceRange range, const llvm::Twine &text);
  /// A further fact, with the place where it comes from.
  DiagnosticBuilder &note(SourceRange range, const llvm::Twine &text);
  DiagnosticBuilder &note(const llvm::Twine &text) { return note({}, text); }
  /// Who makes a remark, and of which builds it holds ("": of all).
  DiagnosticBuilder &category(llvm::StringRef name, llvm::StringRef scope);
  /// What to do about it, in words.
  DiagnosticBuilder &help(const llvm::Twine &text);
  /// What to do about it, as an edit; `text` says it in words.
  DiagnosticBuilder &fixIt(SourceRange range, const llvm::Twine &replacement,
                           const llvm::Twine &text);
  /// Emits nothing after all.
  DiagnosticBuilder &drop() {
    engine = nullptr;
    return *this;
  }

private:
  friend class DiagnosticEngine;
  DiagnosticBuilder(DiagnosticEngine &engine, diag::Id id, SourceRange range);
  DiagnosticEngine *engine; // null: already emitted or moved from
  Diagnostic diagnostic;
  std::vector<std::string> args;
};

class DiagnosticEngine {
public:
  DiagnosticEngine(const SourceManager &sources, DiagnosticConsumer &consumer);
  DiagnosticEngine(const DiagnosticEngine &) = delete;

  /// Starts a message; `args` (text or integers) fill {0}, {1}, … of its
  /// format.
  template <typename... Args>
  DiagnosticBuilder report(diag::Id id, SourceRange range,
                           const Args &...args) {
    DiagnosticBuilder builder(*this, id, range);
    (builder.arg(args), ...);
    return builder;
  }

  /// 0: no limit.
  void setMaxErrors(unsigned n) { maxErrors = n; }
  /// Reads what follows -W: `x`, `no-x`, `error`, `error=x`, `no-error=x`.
  /// False when there is no such warning.
  bool setWarningOption(llvm::StringRef option);
  /// The flags of all warnings, for `--help` and for suggestions.
  static std::vector<llvm::StringRef> getWarningFlags();

  unsigned getNumErrors() const { return numErrors; }
  unsigned getNumWarnings() const { return numWarnings; }
  bool hasErrors() const { return numErrors != 0; }
  /// True once max-errors is reached: later messages are dropped.
  bool shouldStop() const { return stopped; }

  const SourceManager &getSources() const { return sources; }

private:
  friend class DiagnosticBuilder;
  void emit(Diagnostic diagnostic, llvm::ArrayRef<std::string> args);

  struct WarningState {
    bool enabled = true;
    bool isError = false, isNeverError = false;
  };
  const SourceManager &sources;
  DiagnosticConsumer &consumer;
  std::vector<WarningState> warnings; // by id
  llvm::DenseSet<uint64_t> seen;      // hashes of what was emitted
  unsigned maxErrors = 20, numErrors = 0, numWarnings = 0;
  bool warningsAreErrors = false, stopped = false;
};

} // namespace tilec

#endif // TILEC_FRONTEND_DIAGNOSTICS_H
