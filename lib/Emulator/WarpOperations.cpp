//===- WarpOperations.cpp - shuffles, votes, matches and reductions of a warp -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  the arguments of every lane of the mask. Out: the result of each.
// The rules are those of the PTX ISA, sections shfl.sync, vote.sync, match.sync,
// redux.sync, activemask, elect.sync and bar.warp.sync.
//
//===--------------------------------------------------------------------------===//
#include "HostOperations.h"

#include <bit>
#include <cmath>

using namespace tilec;
using namespace tilec::emulator;

namespace {

/// A lane's arguments and where its result goes, while it waits for the others.
struct Payload {
  const void *arguments;
  void *result;
};

Payload &payload(ThreadContext *lanes, unsigned lane) {
  return *static_cast<Payload *>(lanes[lane].operation.payload);
}

template <typename Function>
void forEachLane(uint32_t mask, Function function) {
  for (uint32_t m = mask; m; m &= m - 1)
    function(unsigned(std::countr_zero(m)));
}

void runWarp(ThreadContext &thread, const char *name, uint32_t variant, uint32_t mask,
             Payload &own, void (*complete)(Block &, ThreadContext *, uint32_t)) {
  thread.block->warpOperation(&thread, {name, variant, mask, &own, complete});
}

//===--- shfl.sync --------------------------------------------------------------===//

enum ShuffleMode : uint32_t { Up, Down, Butterfly, Index, ModeMask = 3, Predicate = 4 };

struct ShuffleArguments {
  uint32_t mask, value, lane, clamp;
};
struct ShuffleResult {
  uint32_t value;
  bool inRange;
};

/// The lane that \p lane reads, and whether that lies in its segment (PTX ISA 9.7.9.6).
std::pair<unsigned, bool> shuffleSource(uint32_t mode, unsigned lane, uint32_t b,
                                        uint32_t c) {
  int own = int(lane);
  int bval = int(b & 31), cval = int(c & 31), segment = int((c >> 8) & 31);
  int maxLane = (own & segment) | (cval & ~segment);
  int minLane = own & segment;
  int source = own;
  bool inRange = false;
  switch (mode) {
  case Up:
    source = own - bval;
    inRange = source >= maxLane;
    break;
  case Down:
    source = own + bval;
    inRange = source <= maxLane;
    break;
  case Butterfly:
    source = own ^ bval;
    inRange = source <= maxLane;
    break;
  default:
    source = minLane | (bval & ~segment);
    inRange = source <= maxLane;
    break;
  }
  return {unsigned(inRange ? source : own), inRange};
}

void completeShuffle(Block &block, ThreadContext *lanes, uint32_t mask) {
  uint32_t values[32];
  forEachLane(mask, [&](unsigned lane) {
    values[lane] = as<ShuffleArguments>(payload(lanes, lane).arguments).value;
  });
  forEachLane(mask, [&](unsigned lane) {
    Payload &p = payload(lanes, lane);
    const auto &a = as<ShuffleArguments>(p.arguments);
    uint32_t variant = lanes[lane].operation.variant;
    auto [source, inRange] = shuffleSource(variant & ModeMask, lane, a.lane, a.clamp);
    bool present = mask >> source & 1;
    if (!present)
      block.find(lanes[lane], FindingKind::DivergentBarrier,
                 "shfl.sync reads lane " + std::to_string(source) +
                     ", which does not take part");
    uint32_t value = present ? values[source] : 0;
    if (variant & Predicate)
      to<ShuffleResult>(p.result) = {value, inRange};
    else
      to<uint32_t>(p.result) = value;
  });
}

void shuffle(ThreadContext &thread, const void *arguments, void *result,
             uint32_t variant) {
  Payload own{arguments, result};
  runWarp(thread, "shfl.sync", variant, as<ShuffleArguments>(arguments).mask, own,
          completeShuffle);
}

//===--- vote.sync, activemask ----------------------------------------------------===//

enum VoteMode : uint32_t { All, Any, Uniform, Ballot };

struct VoteArguments {
  uint32_t mask;
  bool predicate;
};

void completeVote(Block &, ThreadContext *lanes, uint32_t mask) {
  uint32_t ballot = 0;
  forEachLane(mask, [&](unsigned lane) {
    if (as<VoteArguments>(payload(lanes, lane).arguments).predicate)
      ballot |= 1u << lane;
  });
  forEachLane(mask, [&](unsigned lane) {
    void *result = payload(lanes, lane).result;
    switch (lanes[lane].operation.variant) {
    case All:
      to<bool>(result) = ballot == mask;
      break;
    case Any:
      to<bool>(result) = ballot != 0;
      break;
    case Uniform:
      to<bool>(result) = ballot == mask || ballot == 0;
      break;
    default:
      to<uint32_t>(result) = ballot;
    }
  });
}

void vote(ThreadContext &thread, const void *arguments, void *result,
          uint32_t variant) {
  Payload own{arguments, result};
  runWarp(thread, "vote.sync", variant, as<VoteArguments>(arguments).mask, own,
          completeVote);
}

void activeMask(ThreadContext &thread, const void *, void *result, uint32_t) {
  // Which lanes happen to run together is not defined; alone is always possible.
  to<uint32_t>(result) = 1u << thread.lane;
}

//===--- match.sync -----------------------------------------------------------------===//

enum MatchMode : uint32_t { MatchAny = 0, MatchAll = 1, Match64 = 2 };

struct Match32 {
  uint32_t mask, value;
};
struct Match64Arguments {
  uint32_t mask;
  uint64_t value;
};
struct MatchAllResult {
  uint32_t mask;
  bool all;
};

void completeMatch(Block &, ThreadContext *lanes, uint32_t mask) {
  uint64_t values[32] = {};
  forEachLane(mask, [&](unsigned lane) {
    const void *a = payload(lanes, lane).arguments;
    values[lane] = lanes[lane].operation.variant & Match64
                       ? as<Match64Arguments>(a).value
                       : as<Match32>(a).value;
  });
  forEachLane(mask, [&](unsigned lane) {
    uint32_t equal = 0;
    forEachLane(mask, [&](unsigned other) {
      if (values[other] == values[lane])
        equal |= 1u << other;
    });
    void *result = payload(lanes, lane).result;
    if (lanes[lane].operation.variant & MatchAll)
      to<MatchAllResult>(result) = {equal == mask ? mask : 0, equal == mask};
    else
      to<uint32_t>(result) = equal;
  });
}

void match(ThreadContext &thread, const void *arguments, void *result,
           uint32_t variant) {
  Payload own{arguments, result};
  runWarp(thread, "match.sync", variant, as<Match32>(arguments).mask, own,
          completeMatch);
}

//===--- redux.sync -------------------------------------------------------------------===//

enum ReduceMode : uint32_t { Add, Min, Max, UMin, UMax, And, Or, Xor, FMin, FMax,
                             Absolute = 16, PropagateNaN = 32 };

struct ReduceArguments {
  uint32_t value, mask;
};

float reduceFloat(uint32_t mode, float a, float b) {
  if (mode & Absolute) {
    a = std::fabs(a);
    b = std::fabs(b);
  }
  if ((mode & PropagateNaN) && (a != a || b != b))
    return std::nanf("");
  return (mode & 15) == FMin ? std::fmin(a, b) : std::fmax(a, b);
}

uint32_t reduceTwo(uint32_t mode, uint32_t a, uint32_t b) {
  switch (mode & 15) {
  case Add:
    return a + b;
  case Min:
    return uint32_t(std::min(int32_t(a), int32_t(b)));
  case Max:
    return uint32_t(std::max(int32_t(a), int32_t(b)));
  case UMin:
    return std::min(a, b);
  case UMax:
    return std::max(a, b);
  case And:
    return a & b;
  case Or:
    return a | b;
  case Xor:
    return a ^ b;
  default:
    return std::bit_cast<uint32_t>(
        reduceFloat(mode, std::bit_cast<float>(a), std::bit_cast<float>(b)));
  }
}

void completeReduce(Block &, ThreadContext *lanes, uint32_t mask) {
  bool first = true;
  uint32_t value = 0;
  forEachLane(mask, [&](unsigned lane) {
    uint32_t own = as<ReduceArguments>(payload(lanes, lane).arguments).value;
    value = first ? own : reduceTwo(lanes[lane].operation.variant, value, own);
    first = false;
  });
  forEachLane(mask,
              [&](unsigned lane) { to<uint32_t>(payload(lanes, lane).result) = value; });
}

void reduce(ThreadContext &thread, const void *arguments, void *result,
            uint32_t variant) {
  Payload own{arguments, result};
  runWarp(thread, "redux.sync", variant, as<ReduceArguments>(arguments).mask, own,
          completeReduce);
}

//===--- elect.sync, bar.warp.sync ------------------------------------------------------===//

struct ElectResult {
  uint32_t lane;
  bool elected;
};

void completeElect(Block &, ThreadContext *lanes, uint32_t mask) {
  uint32_t leader = uint32_t(std::countr_zero(mask));
  forEachLane(mask, [&](unsigned lane) {
    to<ElectResult>(payload(lanes, lane).result) = {leader, lane == leader};
  });
}

void elect(ThreadContext &thread, const void *arguments, void *result, uint32_t) {
  Payload own{arguments, result};
  runWarp(thread, "elect.sync", 0, as<uint32_t>(arguments), own, completeElect);
}

void completeWarpSync(Block &block, ThreadContext *lanes, uint32_t mask) {
  if (!block.checks())
    return;
  VectorClock all;
  all.reset(block.numThreads, block.numSlots());
  forEachLane(mask, [&](unsigned lane) { block.release(lanes[lane], all); });
  forEachLane(mask, [&](unsigned lane) { block.acquire(lanes[lane], all); });
}

void warpSync(ThreadContext &thread, const void *arguments, void *result, uint32_t) {
  Payload own{arguments, result};
  runWarp(thread, "bar.warp.sync", 0, as<uint32_t>(arguments), own, completeWarpSync);
}

} // namespace

llvm::ArrayRef<OperationEntry> tilec::emulator::warpOperations() {
  static const OperationEntry entries[] = {
      {"llvm.nvvm.shfl.sync.up.i32", shuffle, Up},
      {"llvm.nvvm.shfl.sync.up.f32", shuffle, Up},
      {"llvm.nvvm.shfl.sync.up.i32p", shuffle, Up | Predicate},
      {"llvm.nvvm.shfl.sync.up.f32p", shuffle, Up | Predicate},
      {"llvm.nvvm.shfl.sync.down.i32", shuffle, Down},
      {"llvm.nvvm.shfl.sync.down.f32", shuffle, Down},
      {"llvm.nvvm.shfl.sync.down.i32p", shuffle, Down | Predicate},
      {"llvm.nvvm.shfl.sync.down.f32p", shuffle, Down | Predicate},
      {"llvm.nvvm.shfl.sync.bfly.i32", shuffle, Butterfly},
      {"llvm.nvvm.shfl.sync.bfly.f32", shuffle, Butterfly},
      {"llvm.nvvm.shfl.sync.bfly.i32p", shuffle, Butterfly | Predicate},
      {"llvm.nvvm.shfl.sync.bfly.f32p", shuffle, Butterfly | Predicate},
      {"llvm.nvvm.shfl.sync.idx.i32", shuffle, Index},
      {"llvm.nvvm.shfl.sync.idx.f32", shuffle, Index},
      {"llvm.nvvm.shfl.sync.idx.i32p", shuffle, Index | Predicate},
      {"llvm.nvvm.shfl.sync.idx.f32p", shuffle, Index | Predicate},
      {"llvm.nvvm.vote.all.sync", vote, All},
      {"llvm.nvvm.vote.any.sync", vote, Any},
      {"llvm.nvvm.vote.uni.sync", vote, Uniform},
      {"llvm.nvvm.vote.ballot.sync", vote, Ballot},
      {"llvm.nvvm.activemask", activeMask},
      {"llvm.nvvm.match.any.sync.i32", match, MatchAny},
      {"llvm.nvvm.match.any.sync.i64", match, MatchAny | Match64},
      {"llvm.nvvm.match.all.sync.i32p", match, MatchAll},
      {"llvm.nvvm.match.all.sync.i64p", match, MatchAll | Match64},
      {"llvm.nvvm.redux.sync.add", reduce, Add},
      {"llvm.nvvm.redux.sync.min", reduce, Min},
      {"llvm.nvvm.redux.sync.max", reduce, Max},
      {"llvm.nvvm.redux.sync.umin", reduce, UMin},
      {"llvm.nvvm.redux.sync.umax", reduce, UMax},
      {"llvm.nvvm.redux.sync.and", reduce, And},
      {"llvm.nvvm.redux.sync.or", reduce, Or},
      {"llvm.nvvm.redux.sync.xor", reduce, Xor},
      {"llvm.nvvm.redux.sync.fmin", reduce, FMin},
      {"llvm.nvvm.redux.sync.fmin.abs", reduce, FMin | Absolute},
      {"llvm.nvvm.redux.sync.fmin.NaN", reduce, FMin | PropagateNaN},
      {"llvm.nvvm.redux.sync.fmin.abs.NaN", reduce, FMin | Absolute | PropagateNaN},
      {"llvm.nvvm.redux.sync.fmax", reduce, FMax},
      {"llvm.nvvm.redux.sync.fmax.abs", reduce, FMax | Absolute},
      {"llvm.nvvm.redux.sync.fmax.NaN", reduce, FMax | PropagateNaN},
      {"llvm.nvvm.redux.sync.fmax.abs.NaN", reduce, FMax | Absolute | PropagateNaN},
      {"llvm.nvvm.elect.sync", elect},
      {"llvm.nvvm.bar.warp.sync", warpSync},
  };
  return entries;
}
