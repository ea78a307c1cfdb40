//===- ExplainAtom.cpp - why this family and no better one -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a product and the atom that it got. Out: words, for remarks.
//
// A record says whether it supports a product, not why not. The reason is found by asking
// again about a product that differs in one thing: with four warps, with less precision,
// with other sizes. What turns the answer is the reason; where nothing does, it is the
// types. So a new record needs no texts of its own.
//
//===------------------------------------------------------------------------===//
#include "tilec/Atoms/Atom.h"

#include "llvm/Support/FormatVariadic.h"

using namespace tilec;

std::string tilec::describeAtom(const Atom &atom, const MmaProblem &problem) {
  if (!atom.shape)
    return atom.name.str();
  auto [m, n, k] = atom.shape(problem);
  return llvm::formatv("{0} of {1} x {2} x {3}", atom.name, m, n, k).str();
}

namespace {

/// What stands in the way, what is easiest to change first.
enum class Obstacle { Precision, Warps, Sizes, Chip, Types };

struct Reason {
  Obstacle obstacle;
  std::string text;
};

} // namespace

/// The number of warps, next to what the kernel has, with which `atom` would do.
static unsigned warpsThatWouldDo(const Atom &atom, MmaProblem problem) {
  unsigned has = problem.numWarps;
  for (unsigned warps : {has * 2, has * 4, has * 8, has * 16, has / 2, has / 4}) {
    problem.numWarps = warps;
    if (warps >= 1 && warps <= 32 && atom.supports(problem))
      return warps;
  }
  return 0;
}

static bool supportsOtherSizes(const Atom &atom, MmaProblem problem) {
  problem.aShape = {64, 64};
  problem.bShape = {64, 64};
  problem.accShape = {64, 64};
  for (unsigned warps : {problem.numWarps, 4u}) {
    problem.numWarps = warps;
    if (atom.supports(problem))
      return true;
  }
  return false;
}

static Reason findReason(const Atom &atom, const MmaProblem &problem) {
  using tile::MmaPrecision;
  constexpr std::pair<MmaPrecision, const char *> others[] = {
      {MmaPrecision::Fast, "fast"}, {MmaPrecision::TF32x3, "tf32x3"}, {MmaPrecision::TF32, "tf32"}};
  bool isOnChip = (problem.features & atom.features) == atom.features;
  const Reason notOnChip = {Obstacle::Chip, "the chip does not have it"};
  if (atom.supports(problem))
    return notOnChip;
  for (auto [precision, name] : others) {
    MmaProblem other = problem;
    other.precision = precision;
    if (problem.precision != MmaPrecision::Exact || !atom.supports(other))
      continue;
    if (!isOnChip)
      return notOnChip;
    return {Obstacle::Precision, llvm::formatv("`precision: {0}` would allow it", name).str()};
  }
  if (unsigned warps = warpsThatWouldDo(atom, problem)) {
    if (!isOnChip)
      return notOnChip;
    return {Obstacle::Warps, llvm::formatv("it would take {0} warps", warps).str()};
  }
  if (supportsOtherSizes(atom, problem))
    return {Obstacle::Sizes, "it does not do tiles of these shapes"};
  return {Obstacle::Types, "it does not do these types"};
}

llvm::SmallVector<std::pair<const Atom *, std::string>>
tilec::explainBetterAtoms(const Atom &chosen, const MmaProblem &problem) {
  // One of each scope: the one that is the least away.
  llvm::SmallVector<std::pair<const Atom *, Reason>> best;
  for (const Atom *atom : allAtoms()) {
    if (atom == &chosen)
      break;
    // Of a memory that the chip has not there is nothing to say.
    if (atom->accHome() == OperandHome::TensorMemory &&
        (problem.features & atom->features) != atom->features)
      continue;
    Reason reason = findReason(*atom, problem);
    if (atom->scope == chosen.scope && reason.obstacle != Obstacle::Precision)
      continue;
    auto same = llvm::find_if(best, [&](auto &other) { return other.first->scope == atom->scope; });
    if (same == best.end())
      best.push_back({atom, reason});
    else if (reason.obstacle < same->second.obstacle)
      *same = {atom, reason};
  }
  llvm::SmallVector<std::pair<const Atom *, std::string>> result;
  for (auto &[atom, reason] : best)
    result.push_back({atom, reason.text});
  return result;
}
