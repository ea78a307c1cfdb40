//===- Diagnostics.cpp - the engine of messages -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Holds the table, fills in formats, and decides what is shown and how severe
// it is. How a message looks is in DiagnosticPrinter.cpp.
//
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Diagnostics.h"
#include "llvm/ADT/Hashing.h"
#include <iterator>

using namespace llvm;

namespace tilec {

static constexpr DiagnosticInfo table[] = {
#define ERROR(code, name, format) {#code, #name, Severity::Error, "", format},
#define WARNING(code, name, flag, format)                                      \
  {#code, #name, Severity::Warning, flag, format},
#define REMARK(code, name, format)                                             \
  {#code, #name, Severity::Remark, "", format},
#include "tilec/Frontend/Diagnostics.def"
};

const DiagnosticInfo &getInfo(diag::Id id) { return table[id]; }

std::optional<diag::Id> findDiagnostic(StringRef code) {
  for (unsigned i = 0; i < diag::numDiagnostics; ++i)
    if (table[i].code.equals_insensitive(code))
      return static_cast<diag::Id>(i);
  return std::nullopt;
}

StringRef spelling(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  case Severity::Note:
    return "note";
  }
  return "error";
}

DiagnosticConsumer::~DiagnosticConsumer() = default;

/// Replaces {0} by the argument and {0:s} by a plural "s".
static std::string fillIn(StringRef format, ArrayRef<std::string> args) {
  std::string result;
  while (!format.empty()) {
    size_t open = format.find('{');
    result += format.take_front(open);
    format = format.drop_front(std::min(open, format.size()));
    if (format.empty())
      break;
    size_t close = format.find('}');
    StringRef inside = format.slice(1, close);
    auto [number, modifier] = inside.split(':');
    unsigned index;
    if (close == StringRef::npos || number.getAsInteger(10, index)) {
      result += '{'; // a brace that is no placeholder
      format = format.drop_front();
      continue;
    }
    if (index < args.size()) {
      if (modifier == "s")
        result += args[index] == "1" ? "" : "s";
      else
        result += args[index];
    }
    format = format.drop_front(close + 1);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// DiagnosticBuilder
//===----------------------------------------------------------------------===//

DiagnosticBuilder::DiagnosticBuilder(DiagnosticEngine &engine, diag::Id id,
                                     SourceRange range)
    : engine(&engine) {
  diagnostic.id = id;
  diagnostic.range = range;
  diagnostic.severity = getInfo(id).severity;
}

DiagnosticBuilder::DiagnosticBuilder(DiagnosticBuilder &&other)
    : engine(other.engine), diagnostic(std::move(other.diagnostic)),
      args(std::move(other.args)) {
  other.engine = nullptr;
}

DiagnosticBuilder::~DiagnosticBuilder() {
  if (engine)
    engine->emit(std::move(diagnostic), args);
}

DiagnosticBuilder &DiagnosticBuilder::label(const Twine &text) {
  diagnostic.label = text.str();
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::secondary(SourceRange range,
                                                const Twine &text) {
  if (range.isValid())
    diagnostic.secondary.push_back({range, text.str()});
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::note(SourceRange range,
                                           const Twine &text) {
  diagnostic.notes.push_back({range, text.str(), /*isHelp=*/false});
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::category(StringRef name,
                                               StringRef scope) {
  diagnostic.category = name.str();
  diagnostic.scope = scope.str();
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::help(const Twine &text) {
  diagnostic.notes.push_back({{}, text.str(), /*isHelp=*/true});
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::fixIt(SourceRange range,
                                            const Twine &replacement,
                                            const Twine &text) {
  diagnostic.fixIts.push_back({range, replacement.str()});
  return help(text);
}

//===----------------------------------------------------------------------===//
// DiagnosticEngine
//===----------------------------------------------------------------------===//

DiagnosticEngine::DiagnosticEngine(const SourceManager &sources,
                                   DiagnosticConsumer &consumer)
    : sources(sources), consumer(consumer), warnings(diag::numDiagnostics) {}

std::vector<StringRef> DiagnosticEngine::getWarningFlags() {
  std::vector<StringRef> flags;
  for (const DiagnosticInfo &info : table)
    if (!info.flag.empty())
      flags.push_back(info.flag);
  return flags;
}

bool DiagnosticEngine::setWarningOption(StringRef option) {
  if (option == "error" || option == "no-error") {
    warningsAreErrors = option == "error";
    return true;
  }
  StringRef name = option;
  bool isError = name.consume_front("error=");
  bool isNeverError = !isError && name.consume_front("no-error=");
  bool isOff = !isError && !isNeverError && name.consume_front("no-");
  bool found = false;
  for (unsigned i = 0; i < diag::numDiagnostics; ++i) {
    if (table[i].flag.empty() || table[i].flag != name)
      continue;
    found = true;
    WarningState &state = warnings[i];
    state.enabled = isNeverError ? state.enabled : !isOff;
    if (isError || isNeverError) {
      state.isError = isError;
      state.isNeverError = isNeverError;
    }
  }
  return found;
}

void DiagnosticEngine::emit(Diagnostic diagnostic, ArrayRef<std::string> args) {
  if (stopped)
    return;
  if (diagnostic.severity == Severity::Warning) {
    const WarningState &state = warnings[diagnostic.id];
    if (!state.enabled)
      return;
    if (state.isError || (warningsAreErrors && !state.isNeverError))
      diagnostic.severity = Severity::Error;
  }
  diagnostic.message = fillIn(getInfo(diagnostic.id).format, args);
  uint64_t hash = hash_combine(
      diagnostic.id, diagnostic.range.begin.getOffset(),
      diagnostic.range.end.getOffset(), StringRef(diagnostic.message),
      StringRef(diagnostic.category), StringRef(diagnostic.scope));
  if (!seen.insert(hash >> 2).second)
    return;

  bool isError = diagnostic.severity == Severity::Error;
  if (isError && maxErrors != 0 && numErrors == maxErrors) {
    stopped = true;
    Diagnostic last;
    last.id = diag::too_many_errors;
    last.severity = Severity::Error;
    last.message = fillIn(getInfo(last.id).format, {std::to_string(numErrors)});
    consumer.handle(last);
    return;
  }
  numErrors += isError;
  numWarnings += diagnostic.severity == Severity::Warning;
  consumer.handle(diagnostic);
}

} // namespace tilec
