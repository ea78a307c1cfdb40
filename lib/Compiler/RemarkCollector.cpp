//===- RemarkCollector.cpp - remarks of all builds, each once --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// See RemarkCollector.h. Hangs a streamer on MLIR's remark engine, which filters by
// category before any text is made.
//
//===------------------------------------------------------------------------===//
#include "RemarkCollector.h"

#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/Remarks.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <tuple>

using namespace mlir;

namespace tilec {

namespace {
class Streamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  Streamer(RemarkCollector &collector, const RangeOfLoc &rangeOf)
      : collector(collector), rangeOf(rangeOf) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string text;
    for (const auto &part : remark.getArgs())
      text += part.val;
    collector.add(remark.getFunction(), remark.getCategoryName(),
                  rangeOf(remark.getLocation()), text);
  }

private:
  RemarkCollector &collector;
  RangeOfLoc rangeOf;
};
} // namespace

void RemarkCollector::listen(MLIRContext &context, llvm::ArrayRef<std::string> names) {
  listening = true;
  accepted = names;
  remark::RemarkCategories categories;
  categories.passed = names.empty() ? ".*" : "^(" + llvm::join(names, "|") + ")$";
  categories.missed = categories.passed;
  // Fails only where an engine is there already.
  (void)remark::enableOptimizationRemarks(context, std::make_unique<Streamer>(*this, rangeOf),
                                          std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                          categories);
}

bool RemarkCollector::accepts(StringRef name) const {
  return listening && (accepted.empty() || llvm::is_contained(accepted, name));
}

void RemarkCollector::learnBuilds(ModuleOp module) {
  for (tile::KernelOp kernel : module.getOps<tile::KernelOp>()) {
    auto name = kernel->getAttrOfType<StringAttr>("tile.kernel");
    Build build{name ? name.str() : kernel.getSymName().str(),
                std::string(buildKindName(tile::factsOf(kernel))) + " build"};
    variants[build.kernel].insert({chipName, build.name});
    builds[kernel.getSymName().str()] = std::move(build);
  }
}

void RemarkCollector::add(StringRef symbol, StringRef name, SourceRange range, StringRef text) {
  remarks.push_back({symbol.str(), chipName, name.str(), text.str(), range});
}

/// Where a fact holds, of all places where it could: "", or "sm_80, general build".
static std::string describeScope(const std::set<std::pair<std::string, std::string>> &where,
                                 const std::set<std::pair<std::string, std::string>> &all) {
  if (where == all)
    return "";
  std::set<std::string> chips, names, allChips, allNames;
  for (auto &[chip, name] : where) {
    chips.insert(chip);
    names.insert(name);
  }
  for (auto &[chip, name] : all) {
    allChips.insert(chip);
    // Not all chips have the same builds.
    if (chips.count(chip))
      allNames.insert(name);
  }
  std::vector<std::string> parts;
  if (where.size() == chips.size() * names.size()) {
    if (chips != allChips)
      parts.insert(parts.end(), chips.begin(), chips.end());
    if (names != allNames)
      parts.insert(parts.end(), names.begin(), names.end());
  } else {
    for (auto &[chip, name] : where)
      parts.push_back(chip + " " + name);
  }
  return llvm::join(parts, ", ");
}

void RemarkCollector::report(DiagnosticEngine &engine) {
  struct Merged {
    const Remark *first;
    unsigned rank;  ///< of the pass in the pipeline
    size_t number;  ///< in order of saying
    std::string kernel;
    std::set<Variant> where;
  };
  std::vector<Merged> merged;
  std::map<std::tuple<std::string, std::string, std::string, uint32_t>, size_t> known;
  for (const Remark &remark : remarks) {
    auto build = builds.find(remark.symbol);
    std::string kernel = build == builds.end() ? "" : build->second.kernel;
    auto [it, isNew] = known.try_emplace(
        {kernel, remark.name, remark.text, remark.range.begin.getOffset()}, merged.size());
    if (isNew) {
      auto rank = llvm::find(remarkNames, StringRef(remark.name)) - std::begin(remarkNames);
      merged.push_back({&remark, unsigned(rank), merged.size(), kernel, {}});
    }
    if (build != builds.end() && !remark.chip.empty())
      merged[it->second].where.insert({remark.chip, build->second.name});
  }
  llvm::sort(merged, [](const Merged &a, const Merged &b) {
    return std::tuple(a.first->range.begin.getOffset(), a.rank, a.number) <
           std::tuple(b.first->range.begin.getOffset(), b.rank, b.number);
  });
  for (const Merged &fact : merged)
    engine.report(diag::remark, fact.first->range, fact.first->text)
        .category(fact.first->name, describeScope(fact.where, variants[fact.kernel]));
  remarks.clear();
}

} // namespace tilec
