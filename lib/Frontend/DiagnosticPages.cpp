//===- DiagnosticPages.cpp - what `--explain` prints ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// docs/diagnostics.md is the one place where codes are explained; the build
// puts its text here. A page is the section whose heading is `## T0101`.
//
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Diagnostics.h"
#include <algorithm>

using namespace llvm;

namespace tilec {

static constexpr char pages[] =
#include "DiagnosticPages.inc"
    ;

StringRef explain(StringRef code) {
  StringRef rest(pages, sizeof(pages) - 1);
  while (!rest.empty()) {
    size_t start = rest.starts_with("## ") ? 0 : rest.find("\n## ");
    if (start == StringRef::npos)
      return "";
    rest = rest.drop_front(start).ltrim('\n').drop_front(3);
    StringRef heading = rest.take_until([](char c) { return c == '\n'; });
    if (heading.take_front(code.size()).equals_insensitive(code) &&
        (heading.size() == code.size() || heading[code.size()] == ' ')) {
      size_t end = std::min(rest.find("\n## "), rest.find("\n# "));
      return rest.substr(0, end).rtrim();
    }
  }
  return "";
}

} // namespace tilec
