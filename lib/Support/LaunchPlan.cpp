//===- LaunchPlan.cpp - from arguments to a checked launch --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Checks run from the outside in: count and kind of the arguments, dtype and rank,
// dims and strides of each, dims against each other, `requires`, the grid; then a
// build is chosen and the parameters are packed. The first thing wrong is
// reported. Text is made only on the way out with an error.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/LaunchPlan.h"

#include "tilec/Support/Workspace.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace tilec;

static constexpr int64_t gridLimit = int64_t(1) << 31; // exclusive

//===-- Words for messages --------------------------------------------------===//

static std::string quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

static std::string shapeText(const std::string &param, unsigned axis) {
  return param + ".shape[" + std::to_string(axis) + "]";
}

static Failure refuse(const KernelInfo &info, const std::string &argument, std::string text) {
  return Failure{info.name + ": " + std::move(text), info.name, argument, 0, {}};
}

//===-- Creation ------------------------------------------------------------===//

/// Whether every operand of `expr` names a parameter of the right kind.
static bool operandsExist(const HostExpr &expr, const KernelInfo &info) {
  using Op = HostExpr::Op;
  return std::all_of(expr.getNodes().begin(), expr.getNodes().end(), [&](const auto &n) {
    if (n.op != Op::Dim && n.op != Op::Arg && n.op != Op::Aligned)
      return true;
    if (n.a >= info.params.size() || info.params[n.a].isArray == (n.op == Op::Arg))
      return false;
    return n.op != Op::Dim || n.b < info.params[n.a].dims.size();
  });
}

Expected<Launcher> Launcher::create(KernelInfo info) {
  Launcher launcher;
  auto parseInto = [&](const std::string &text, std::vector<HostExpr> &out) -> Expected<void> {
    auto expr = HostExpr::parse(text);
    if (!expr)
      return refuse(info, "", expr.failure().message);
    if (!operandsExist(*expr, info))
      return refuse(info, "", "host expression " + quoted(text) + " names a missing parameter");
    out.push_back(std::move(*expr));
    return {};
  };
  for (const std::string &text : info.grid)
    if (auto ok = parseInto(text, launcher.grid); !ok)
      return ok.failure();
  for (const Requirement &r : info.requirements)
    if (auto ok = parseInto(r.expr, launcher.requirements); !ok)
      return ok.failure();

  // Each further use of a dim's name is checked against its first.
  for (unsigned p = 0; p < info.params.size(); ++p)
    for (unsigned d = 0; d < info.params[p].dims.size(); ++d) {
      const std::string &name = info.params[p].dims[d].name;
      if (name.empty() || info.params[p].dims[d].constant)
        continue;
      for (unsigned q = 0; q <= p; ++q) {
        const auto &dims = info.params[q].dims;
        auto end = q == p ? dims.begin() + d : dims.end();
        auto it = std::find_if(dims.begin(), end, [&](const DimInfo &x) { return x.name == name; });
        if (it == end)
          continue;
        launcher.bindings.push_back({p, d, q, static_cast<unsigned>(it - dims.begin())});
        break;
      }
    }
  for (const BuildInfo &build : info.builds)
    for (const TensorMapInfo &map : build.tensorMaps)
      if (map.param >= info.params.size() || !info.params[map.param].isArray ||
          info.params[map.param].dims.size() != map.box.size())
        return refuse(info, "", "a tensor map of " + quoted(build.symbol) +
                                    " describes no array parameter of its rank");
  launcher.info = std::move(info);
  return launcher;
}

//===-- Checks --------------------------------------------------------------===//

static Expected<void> checkStrides(const KernelInfo &info, const ParamInfo &param,
                                   const ArrayArg &array) {
  if (param.isStrided || array.numElements() == 0)
    return {};
  int64_t expected = 1;
  for (int d = array.rank - 1; d >= 0; --d) {
    // The stride of an axis of one element is never used.
    if (array.dims[d] != 1 && array.strides[d] != expected)
      return refuse(info, param.name,
                    "argument " + quoted(param.name) + " is not row-major: axis " +
                        std::to_string(d) + " has stride " + std::to_string(array.strides[d]) +
                        ", expected " + std::to_string(expected) +
                        " (copy it, or declare the parameter `strided`)");
    expected *= array.dims[d];
  }
  return {};
}

/// Dims are not negative, and neither they nor the elements that the array spans are more than
/// 2^60, so that bytes are counted in 63 bits and loops over an axis may go a step further.
static Expected<void> checkExtents(const KernelInfo &info, const ParamInfo &param,
                                   const ArrayArg &array) {
  unsigned __int128 elements = 1, span = 1;
  bool isEmpty = std::find(array.dims, array.dims + array.rank, 0) != array.dims + array.rank;
  for (int d = 0; d < array.rank; ++d) {
    if (array.dims[d] < 0)
      return refuse(info, param.name,
                    shapeText(param.name, d) + " is " + std::to_string(array.dims[d]) +
                        ", a dim is not negative");
    elements *= static_cast<uint64_t>(array.dims[d]);
    uint64_t stride = array.strides[d] < 0 ? 0 - static_cast<uint64_t>(array.strides[d])
                                           : static_cast<uint64_t>(array.strides[d]);
    if (array.dims[d] > 0)
      span += static_cast<unsigned __int128>(array.dims[d] - 1) * stride;
    constexpr unsigned __int128 limit = uint64_t(1) << 60;
    bool isLong = static_cast<unsigned __int128>(array.dims[d]) > limit;
    if (isLong || (!isEmpty && (elements > limit || span > limit)))
      return refuse(info, param.name,
                    "argument " + quoted(param.name) + " has more than 2^60 elements");
  }
  if (!array.data && !isEmpty)
    return refuse(info, param.name, "argument " + quoted(param.name) + " is a null pointer");
  return {};
}

Expected<void> Launcher::checkParam(unsigned index, const KernelArg &arg) const {
  const ParamInfo &param = info.params[index];
  const auto *array = std::get_if<ArrayArg>(&arg);
  DType dtype = array ? array->dtype : std::get<ScalarArg>(arg).dtype;
  if (dtype != param.dtype)
    return refuse(info, param.name,
                  "argument " + quoted(param.name) + " is " + std::string(dtypeName(dtype)) +
                      ", the parameter is " + std::string(dtypeName(param.dtype)));
  if (!array)
    return {};
  if (auto ok = checkExtents(info, param, *array); !ok)
    return ok;
  for (unsigned d = 0; d < param.dims.size(); ++d)
    if (param.dims[d].constant && array->dims[d] != *param.dims[d].constant) {
      std::string name = param.dims[d].name.empty() ? "" : " (" + quoted(param.dims[d].name) + ")";
      return refuse(info, param.name,
                    shapeText(param.name, d) + " is " + std::to_string(array->dims[d]) +
                        ", the parameter has " + std::to_string(*param.dims[d].constant) + name);
    }
  return checkStrides(info, param, *array);
}

Expected<void> Launcher::checkBindings(std::span<const KernelArg> args) const {
  for (const Binding &b : bindings) {
    int64_t first = std::get<ArrayArg>(args[b.firstParam]).dims[b.firstAxis];
    int64_t second = std::get<ArrayArg>(args[b.param]).dims[b.axis];
    if (first == second)
      continue;
    const ParamInfo &param = info.params[b.param];
    return refuse(info, param.name,
                  "dimension " + quoted(param.dims[b.axis].name) + " is " + std::to_string(first) +
                      " = " + shapeText(info.params[b.firstParam].name, b.firstAxis) + " and " +
                      std::to_string(second) + " = " + shapeText(param.name, b.axis));
  }
  return {};
}

/// Where the values in `expr` come from: "k = 4097 = a.shape[1], n = 3".
std::string Launcher::describeOperands(const HostExpr &expr,
                                       std::span<const KernelArg> args) const {
  using Op = HostExpr::Op;
  std::vector<std::string> seen;
  for (const HostExpr::Node &n : expr.getNodes()) {
    std::string text;
    if (n.op == Op::NumSMs) {
      text = "num_sms() = " + std::to_string(numSMs);
    } else if (n.op != Op::Dim && n.op != Op::Arg && n.op != Op::Aligned) {
      continue;
    } else if (const ParamInfo &param = info.params[n.a]; n.op == Op::Aligned) {
      char address[32];
      std::snprintf(address, sizeof address, "%p", std::get<ArrayArg>(args[n.a]).data);
      text = "address of " + param.name + " = " + address;
    } else if (n.op == Op::Arg) {
      auto value = HostExpr::arg(n.a).evaluate(args);
      text = param.name + " = " + (value ? value->str() : "?");
    } else {
      const std::string &name = param.dims[n.b].name;
      text = (name.empty() ? "" : name + " = ") +
             std::to_string(std::get<ArrayArg>(args[n.a]).dims[n.b]) + " = " +
             shapeText(param.name, n.b);
    }
    if (std::find(seen.begin(), seen.end(), text) == seen.end())
      seen.push_back(text);
  }
  std::string all;
  for (const std::string &text : seen)
    all += (all.empty() ? ": " : ", ") + text;
  return all;
}

Expected<void> Launcher::checkRequirements(std::span<const KernelArg> args) const {
  for (size_t i = 0; i < requirements.size(); ++i) {
    auto value = requirements[i].evaluate(args, numSMs);
    if (value && value->isBool() && value->i)
      continue;
    const Requirement &r = info.requirements[i];
    std::string where = r.file.empty() ? "" : " (" + r.file + ":" + std::to_string(r.line) + ")";
    std::string what = !value           ? "cannot be evaluated, " + value.failure().message
                       : value->isBool() ? "is false"
                                         : "is not a bool";
    return refuse(info, "",
                  quoted(r.text) + where + " " + what + describeOperands(requirements[i], args));
  }
  return {};
}

//===-- Grid and build ------------------------------------------------------===//

Expected<Grid> Launcher::evaluateGrid(std::span<const KernelArg> args) const {
  if (grid.empty())
    return refuse(info, "", "the kernel has no `grid` clause and the launch gives no grid");
  Grid result = {1, 1, 1};
  for (size_t d = 0; d < grid.size(); ++d) {
    auto value = grid[d].evaluate(args, numSMs);
    if (!value)
      return refuse(info, "",
                    "grid[" + std::to_string(d) + "] cannot be evaluated, " +
                        value.failure().message + describeOperands(grid[d], args));
    if (!value->isInt())
      return refuse(info, "", "grid[" + std::to_string(d) + "] is not an int");
    result[d] = value->i;
  }
  return result;
}

static Expected<int64_t> countBlocks(const KernelInfo &info, const Grid &grid) {
  for (int d = 0; d < 3; ++d)
    if (grid[d] < 0 || grid[d] >= gridLimit)
      return refuse(info, "",
                    "grid[" + std::to_string(d) + "] is " + std::to_string(grid[d]) +
                        ", it must be at least 0 and less than 2^31");
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return int64_t(0);
  unsigned __int128 blocks = grid[0];
  blocks = blocks * static_cast<uint64_t>(grid[1]) * static_cast<uint64_t>(grid[2]);
  if (blocks >= static_cast<uint64_t>(gridLimit))
    return refuse(info, "",
                  "grid [" + std::to_string(grid[0]) + ", " + std::to_string(grid[1]) + ", " +
                      std::to_string(grid[2]) + "] has 2^31 blocks or more");
  return static_cast<int64_t>(blocks);
}

namespace {
/// First and last byte (exclusive) that an array may touch, relative to nothing.
struct ByteRange {
  __int128 begin, end;
};
} // namespace

static ByteRange byteRange(const ArrayArg &a) {
  __int128 low = 0, high = 0;
  for (int d = 0; d < a.rank; ++d) {
    if (a.dims[d] == 0)
      return {0, 0};
    __int128 reach = static_cast<__int128>(a.dims[d] - 1) * a.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  __int128 base = static_cast<__int128>(reinterpret_cast<uintptr_t>(a.data));
  unsigned bytes = dtypeBytes(a.dtype);
  return {base + low * bytes, base + (high + 1) * bytes};
}

/// The last dim of an array that is not one element by its type: where rows are single
/// elements nobody accesses more at a time, and no pitch of theirs counts.
static int rowDim(const ParamInfo &param, const ArrayArg &array) {
  int dim = array.rank - 1;
  while (!param.isStrided && dim > 0 && param.dims[dim].constant == 1)
    --dim;
  return dim;
}

/// Addresses of arrays and pitches of their rows, in bytes, or'ed: what is aligned in all of
/// them is aligned in each row.
static uint64_t rowBits(const KernelInfo &info, std::span<const KernelArg> args) {
  uint64_t bits = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    const auto *a = std::get_if<ArrayArg>(&args[i]);
    if (!a)
      continue;
    bits |= reinterpret_cast<uintptr_t>(a->data);
    for (int d = 0; d < rowDim(info.params[i], *a); ++d)
      bits |= static_cast<uint64_t>(a->strides[d]) * dtypeBytes(a->dtype);
  }
  return bits;
}

static bool isDisjoint(const KernelInfo &info, std::span<const KernelArg> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const auto *a = std::get_if<ArrayArg>(&args[i]);
    if (!a || !info.params[i].isMutable)
      continue;
    ByteRange x = byteRange(*a);
    for (size_t j = 0; j < args.size(); ++j) {
      const auto *b = std::get_if<ArrayArg>(&args[j]);
      if (j == i || !b)
        continue;
      ByteRange y = byteRange(*b);
      if (x.begin < y.end && y.begin < x.end)
        return false;
    }
  }
  return true;
}

/// Elements between the first and the last of a tile; of the array where it is not known
/// what its tiles are.
static unsigned __int128 reachOf(const ParamInfo &param, const ArrayArg &array) {
  unsigned __int128 reach = 0;
  for (int d = 0; d < array.rank; ++d) {
    auto axis = static_cast<size_t>(d);
    int64_t extent = axis < param.reach.size() ? param.reach[axis] : array.dims[d];
    uint64_t stride = array.strides[d] < 0 ? 0 - static_cast<uint64_t>(array.strides[d])
                                           : static_cast<uint64_t>(array.strides[d]);
    if (extent > 0)
      reach += static_cast<unsigned __int128>(extent - 1) * stride;
  }
  return reach;
}

static bool isIndex32(const KernelInfo &info, std::span<const KernelArg> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const auto *a = std::get_if<ArrayArg>(&args[i]);
    if (!a)
      continue;
    for (int d = 0; d < a->rank; ++d)
      if (a->dims[d] >= gridLimit)
        return false;
    if (reachOf(info.params[i], *a) >= static_cast<unsigned __int128>(gridLimit))
      return false;
  }
  return true;
}

/// The second block of a pair at an odd end has nothing to do: it is to be one in many.
static bool isOfPairs(const Grid &grid) {
  constexpr int64_t many = 16;
  return std::all_of(grid.begin(), grid.begin() + 2,
                     [](int64_t extent) { return extent % 2 == 0 || extent >= many; });
}

static bool beginsWithinLines(std::span<const KernelArg> args) {
  constexpr uint64_t lineBytes = 128;
  return std::any_of(args.begin(), args.end(), [](const KernelArg &arg) {
    const auto *array = std::get_if<ArrayArg>(&arg);
    for (int d = 0; array && d + 1 < array->rank; ++d)
      if (static_cast<uint64_t>(array->strides[d]) * dtypeBytes(array->dtype) % lineBytes)
        return true;
    return false;
  });
}

/// The most elements that a tile has along the last axis of an array of several.
static int64_t widthOfTiles(const ParamInfo &param) {
  return param.dims.size() < 2 || param.reach.size() < param.dims.size() ? 0 : param.reach.back();
}

static bool hasWholePieces(const KernelInfo &info, std::span<const KernelArg> args) {
  int64_t widest = 1;
  for (const ParamInfo &param : info.params)
    widest = std::max(widest, widthOfTiles(param));
  int64_t narrowest = 16, longest = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    const auto *array = std::get_if<ArrayArg>(&args[i]);
    if (!array || widthOfTiles(info.params[i]) != widest)
      continue;
    auto elementBytes = static_cast<int64_t>(dtypeBytes(array->dtype));
    if (info.params[i].isStrided || reinterpret_cast<uintptr_t>(array->data) % 16 ||
        array->numElements() * elementBytes % 16)
      return false;
    narrowest = std::min(narrowest, elementBytes);
    longest = std::max(longest, array->dims[array->rank - 1]);
  }
  return longest + 16 / narrowest - 1 <= widest;
}

/// Whether neighbours in a row of a `strided` array are neighbours in memory; with `inPieces`, also
/// whether such rows are multiples of 16 bytes long, but for the only row of an array.
static bool hasDenseRows(const KernelInfo &info, std::span<const KernelArg> args, bool inPieces) {
  for (size_t i = 0; i < args.size(); ++i) {
    const auto *array = std::get_if<ArrayArg>(&args[i]);
    if (!array || !info.params[i].isStrided)
      continue;
    int64_t length = array->dims[array->rank - 1];
    if (length > 1 && array->strides[array->rank - 1] != 1)
      return false;
    if (inPieces && array->rank > 1 && length * dtypeBytes(array->dtype) % 16)
      return false;
  }
  return true;
}

static int64_t bytesOfArrays(std::span<const KernelArg> args) {
  int64_t bytes = 0;
  for (const KernelArg &arg : args)
    if (const auto *array = std::get_if<ArrayArg>(&arg))
      bytes += array->numElements() * static_cast<int64_t>(dtypeBytes(array->dtype));
  return bytes;
}

/// Whether several blocks for each position of the grid find room at once, and each position has
/// so much of the arrays that it pays: less, where blocks of a multiprocessor share its time.
static bool isOfFewBlocks(const BuildInfo &build, std::span<const KernelArg> args, int64_t numBlocks,
                          unsigned multiprocessors) {
  int64_t atOnce = std::max(build.persistent, build.blocksAtOnce);
  return numBlocks <= atOnce * multiprocessors / 2 &&
         bytesOfArrays(args) * atOnce / bytesToShare >= numBlocks;
}

/// 8, 4 or 2 for each of `numBlocks` positions: the most that find room at once, of `room`.
static unsigned mostWithRoom(int64_t numBlocks, int64_t room) {
  for (unsigned blocks : {8u, 4u})
    if (numBlocks * blocks <= room)
      return blocks;
  return 2;
}

unsigned tilec::blocksOfPosition(const BuildInfo &build, const LaunchPlan &plan,
                                 unsigned multiprocessors) {
  if (build.splitK != 1)
    return std::max(build.splitK, 1u);
  if (build.sumBytes)
    return mostWithRoom(plan.numBlocks, int64_t(build.blocksAtOnce) * multiprocessors);
  // Multiprocessors come in groups of some 16, and a cluster stays in one: clusters of
  // more than two leave some of them without work. Nor do they pay where they only fill places
  // beside other blocks: an H200 adds four parts up in longer than that saves.
  return mostWithRoom(plan.numBlocks, multiprocessors - multiprocessors / 8);
}

int64_t tilec::workspaceBytes(const BuildInfo &build, const LaunchPlan &plan,
                              unsigned multiprocessors) {
  if (!build.sumBytes)
    return 0;
  int64_t blocks = plan.numBlocks * blocksOfPosition(build, plan, multiprocessors);
  return counterBytes(plan.numBlocks) + blocks * build.sumBytes;
}

unsigned tilec::clusterBlocks(const BuildInfo &build, const LaunchPlan &plan,
                              unsigned multiprocessors) {
  // A block without a position of its own would have nothing to do.
  if (build.clusterAxis)
    return plan.grid[*build.clusterAxis] == 1 ? 1 : build.cluster;
  if (!build.splitK || build.sumBytes)
    return build.cluster;
  return blocksOfPosition(build, plan, multiprocessors);
}

int64_t tilec::physicalBlocks(const BuildInfo &build, const LaunchPlan &plan,
                              unsigned multiprocessors, unsigned mostClusters) {
  int64_t cluster = clusterBlocks(build, plan, multiprocessors), numBlocks = plan.numBlocks;
  int64_t blocks = numBlocks / build.positions + (numBlocks % build.positions != 0);
  blocks = build.splitK ? numBlocks * blocksOfPosition(build, plan, multiprocessors)
                        : (blocks + cluster - 1) / cluster * cluster;
  if (build.persistent == 0)
    return blocks;
  int64_t resident = static_cast<int64_t>(build.persistent) * multiprocessors / cluster * cluster;
  if (mostClusters)
    resident = std::min(resident, mostClusters * cluster);
  resident = std::max(resident, cluster);
  if (cluster > 1 && !build.splitK && blocks > resident) {
    // Blocks that share tiles stay together where all have a position in the last round, too,
    // as long as that leaves few without work.
    int64_t rounds = (blocks + resident - 1) / resident;
    int64_t even = ((blocks + rounds - 1) / rounds + cluster - 1) / cluster * cluster;
    if (even >= resident - resident / 32)
      resident = even;
  }
  return std::min(blocks, resident);
}

/// Plans the maps that `build` needs; false when one of them is impossible.
bool Launcher::planTensorMaps(const BuildInfo &build, std::span<const KernelArg> args,
                              LaunchPlan &plan) const {
  plan.tensorMaps.clear();
  for (const TensorMapInfo &map : build.tensorMaps) {
    auto planned = planTensorMap(map, std::get<ArrayArg>(args[map.param]),
                                 info.params[map.param].isStrided);
    if (!planned)
      return false;
    plan.tensorMaps.push_back(*planned);
  }
  return true;
}

Expected<void> Launcher::chooseBuild(std::span<const KernelArg> args, LaunchPlan &plan) const {
  plan.build = 0;
  plan.tensorMaps.clear();
  if (info.builds.empty())
    return {};
  uint8_t wanted = 0;
  for (const BuildInfo &build : info.builds)
    wanted |= build.facts;
  auto asked = [&](BuildFact fact) { return wanted & static_cast<uint8_t>(fact); };
  uint8_t holds = 0;
  if (asked(BuildFact::Aligned16) || asked(BuildFact::Aligned4)) {
    uint64_t bits = rowBits(info, args);
    if (bits % 16 == 0)
      holds |= static_cast<uint8_t>(BuildFact::Aligned16);
    if (bits % 4 == 0)
      holds |= static_cast<uint8_t>(BuildFact::Aligned4);
  }
  if (asked(BuildFact::Disjoint) && isDisjoint(info, args))
    holds |= static_cast<uint8_t>(BuildFact::Disjoint);
  if (asked(BuildFact::Index32) && isIndex32(info, args))
    holds |= static_cast<uint8_t>(BuildFact::Index32);
  for (const BuildInfo &build : info.builds)
    if ((build.facts & static_cast<uint8_t>(BuildFact::FewBlocks)) &&
        isOfFewBlocks(build, args, plan.numBlocks, numSMs))
      holds |= static_cast<uint8_t>(BuildFact::FewBlocks);
  if (asked(BuildFact::Pairs) && plan.numBlocks > numSMs / 2 && isOfPairs(plan.grid) &&
      (beginsWithinLines(args) ||
       bytesOfArrays(args) / bytesToShare >= plan.numBlocks))
    holds |= static_cast<uint8_t>(BuildFact::Pairs);
  if (asked(BuildFact::WholePieces) && hasWholePieces(info, args))
    holds |= static_cast<uint8_t>(BuildFact::WholePieces);
  if (asked(BuildFact::DenseRows) && hasDenseRows(info, args, /*inPieces=*/false))
    holds |= static_cast<uint8_t>(BuildFact::DenseRows);
  auto suits = [&](const BuildInfo &build) {
    return (build.facts & ~holds) == 0 &&
           (!build.relies(BuildFact::DenseRows) || !build.relies(BuildFact::Aligned16) ||
            hasDenseRows(info, args, /*inPieces=*/true));
  };
  for (size_t i = 0; i < info.builds.size(); ++i)
    if (suits(info.builds[i]) && planTensorMaps(info.builds[i], args, plan)) {
      plan.build = static_cast<unsigned>(i);
      return {};
    }
  if ((wanted & ~holds) == 0)
    return refuse(info, "", "no build of the kernel takes these arguments (no tensor map "
                            "describes an array)");
  std::string missing;
  for (BuildFact fact : allBuildFacts)
    if (asked(fact) && !(holds & static_cast<uint8_t>(fact)))
      missing += (missing.empty() ? "" : ", ") + std::string(buildFactName(fact));
  return refuse(info, "", "no build of the kernel takes these arguments (not " + missing + ")");
}

//===-- Packing -------------------------------------------------------------===//

namespace {
class Packer {
public:
  explicit Packer(LaunchPlan &plan) : plan(plan) {
    plan.params.clear();
    plan.offsets.clear();
    plan.sizes.clear();
  }

  void add(const void *value, unsigned size) {
    size_t at = (plan.params.size() + size - 1) / size * size;
    plan.params.resize(at + size);
    std::memcpy(plan.params.data() + at, value, size);
    plan.offsets.push_back(static_cast<uint32_t>(at));
    plan.sizes.push_back(size);
  }
  template <typename T>
  void add(T value) {
    add(&value, sizeof value);
  }

private:
  LaunchPlan &plan;
};
} // namespace

void Launcher::pack(std::span<const KernelArg> args, LaunchPlan &plan) const {
  Packer out(plan);
  for (size_t i = 0; i < args.size(); ++i) {
    if (const auto *s = std::get_if<ScalarArg>(&args[i])) {
      // Little-endian hosts only, like the device: the low bytes come first.
      uint64_t bits = s->dtype == DType::Bool ? (s->bits & 0xff) != 0 : s->bits;
      out.add(&bits, dtypeBytes(s->dtype));
      continue;
    }
    const auto &a = std::get<ArrayArg>(args[i]);
    out.add(a.data);
    int rank = static_cast<int>(info.params[i].dims.size());
    for (int d = 0; d < rank; ++d)
      out.add(a.dims[d]);
    for (int d = 0; d < rank && info.params[i].isStrided; ++d)
      out.add(a.strides[d]);
  }
  for (int64_t extent : plan.grid)
    out.add(static_cast<int32_t>(extent));
  if (info.usesNumSMs)
    out.add(numSMs);
  if (!info.sites.empty()) {
    out.add(static_cast<void *>(nullptr));
    out.add(static_cast<uint32_t>(0));
  }
  if (!info.builds.empty() && info.builds[plan.build].sumBytes)
    out.add(static_cast<void *>(nullptr));
}

void LaunchPlan::setDebugRing(void *ring, uint32_t firstSite) {
  std::memcpy(params.data() + offsets[offsets.size() - 2], &ring, sizeof ring);
  std::memcpy(params.data() + offsets.back(), &firstSite, sizeof firstSite);
}

void LaunchPlan::setWorkspace(void *workspace) {
  std::memcpy(params.data() + offsets.back(), &workspace, sizeof workspace);
}

//===-- Plan ----------------------------------------------------------------===//

Expected<void> Launcher::plan(std::span<const KernelArg> args,
                              const std::optional<Grid> &gridOverride, CheckLevel level,
                              LaunchPlan &plan) const {
  if (args.size() != info.params.size())
    return refuse(info, "",
                  "the kernel has " + std::to_string(info.params.size()) +
                      " parameters, the launch gives " + std::to_string(args.size()));
  for (unsigned i = 0; i < args.size(); ++i) {
    const ParamInfo &param = info.params[i];
    bool isArray = std::holds_alternative<ArrayArg>(args[i]);
    if (isArray != param.isArray)
      return refuse(info, param.name,
                    "argument " + quoted(param.name) + " is " +
                        (isArray ? "an array, the parameter is a scalar"
                                 : "a scalar, the parameter is an array"));
    if (const auto *array = std::get_if<ArrayArg>(&args[i]);
        array && array->rank != static_cast<int>(param.dims.size()))
      return refuse(info, param.name,
                    "argument " + quoted(param.name) + " has rank " +
                        std::to_string(array->rank) + ", the parameter has rank " +
                        std::to_string(param.dims.size()));
    if (level != CheckLevel::Off)
      if (auto ok = checkParam(i, args[i]); !ok)
        return ok;
  }
  if (level != CheckLevel::Off) {
    if (auto ok = checkBindings(args); !ok)
      return ok;
    if (auto ok = checkRequirements(args); !ok)
      return ok;
  }
  if (gridOverride) {
    // Compiled code knows of no position along an axis that `grid` does not name.
    for (size_t axis = info.grid.size(); !info.grid.empty() && axis < 3; ++axis)
      if ((*gridOverride)[axis] > 1)
        return refuse(info, "",
                      "the kernel's grid has " + std::to_string(info.grid.size()) +
                          (info.grid.size() == 1 ? " extent" : " extents") + ", the launch gives " +
                          std::to_string((*gridOverride)[axis]) + " blocks along axis " +
                          std::to_string(axis));
    plan.grid = *gridOverride;
  } else {
    auto own = evaluateGrid(args);
    if (!own)
      return own.failure();
    plan.grid = *own;
  }
  auto blocks = countBlocks(info, plan.grid);
  if (!blocks)
    return blocks.failure();
  plan.numBlocks = *blocks;
  if (auto ok = chooseBuild(args, plan); !ok)
    return ok;
  pack(args, plan);
  return {};
}

Expected<LaunchPlan> tilec::planLaunch(const KernelInfo &info, std::span<const KernelArg> args,
                                       const std::optional<Grid> &gridOverride, CheckLevel level) {
  auto launcher = Launcher::create(info);
  if (!launcher)
    return launcher.failure();
  LaunchPlan plan;
  if (auto ok = launcher->plan(args, gridOverride, level, plan); !ok)
    return ok.failure();
  return plan;
}
