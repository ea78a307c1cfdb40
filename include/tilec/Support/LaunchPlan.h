//===- LaunchPlan.h - from arguments to a checked launch ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a kernel's facts, the arguments, perhaps a grid from the caller. Out: the
// build to launch, the grid, and the parameter bytes in the layout of
// KernelInfo.h; or one message that names kernel, parameter and both values:
//
//   matmul: `k % 8 == 0` (matmul.tile:4) is false: k = 4097 = a.shape[1]
//   matmul: argument `a` is f32, the parameter is bf16
//
// Every executor (GPU runtime, interpreter, emulator) goes through here, so they
// accept and refuse the same launches. What needs a driver (where does a pointer
// live) is checked by the runtime.
//
// A Launcher is made once per kernel; plan() into a LaunchPlan that is reused
// does not allocate.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_LAUNCHPLAN_H
#define TILEC_SUPPORT_LAUNCHPLAN_H

#include "tilec/Support/HostExpr.h"
#include "tilec/Support/KernelInfo.h"
#include "tilec/Support/TensorMapPlan.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tilec {

/// How much a launch checks ($TILEC_CHECKS).
enum class CheckLevel : uint8_t {
  Off,    ///< argument count and kinds only; `requires` are the caller's promises
  Shapes, ///< rank, dtype, dims, strides, `requires`
  Full,   ///< those, and (in the runtime) where pointers live
};

using Grid = std::array<int64_t, 3>;

/// Bytes of arrays for each position of a grid from which on blocks share one: what one block
/// alone reads in some 8 us, where to add up parts takes 3.
inline constexpr int64_t bytesToShare = 512 * 1024;

struct LaunchPlan;

/// Blocks that share each position of the grid in a launch of `build` as planned.
unsigned blocksOfPosition(const BuildInfo &build, const LaunchPlan &plan, unsigned multiprocessors);

/// Bytes of the workspace of the launch; 0: it needs none.
int64_t workspaceBytes(const BuildInfo &build, const LaunchPlan &plan, unsigned multiprocessors);

/// Blocks per cluster in a launch of `build` as planned.
unsigned clusterBlocks(const BuildInfo &build, const LaunchPlan &plan, unsigned multiprocessors);

/// Blocks that this launch starts on a device with that many multiprocessors. `mostClusters`:
/// how many the device holds at once (multiprocessors come in groups, and a cluster stays in
/// one); 0: as many as there is room for.
int64_t physicalBlocks(const BuildInfo &build, const LaunchPlan &plan, unsigned multiprocessors,
                       unsigned mostClusters = 0);

/// A launch ready to go.
struct LaunchPlan {
  unsigned build = 0;         ///< index into KernelInfo::builds; 0 when there are none
  Grid grid = {1, 1, 1};      ///< logical extents
  int64_t numBlocks = 0;      ///< product of the extents; 0: nothing to do
  std::vector<std::byte> params;  ///< parameters at their natural alignment
  std::vector<uint32_t> offsets;  ///< of each image parameter in `params`
  std::vector<uint32_t> sizes;    ///< of each image parameter, in bytes
  /// The parameters behind those: every executor encodes its own form.
  std::vector<TensorMapPlan> tensorMaps;

  bool isEmpty() const { return numBlocks == 0; }
  /// Says where a kernel that prints or asserts does so (KernelInfo.h); it does so
  /// nowhere until then.
  void setDebugRing(void *ring, uint32_t firstSite);
  /// Says where the blocks of a build with `sumBytes` add up.
  void setWorkspace(void *workspace);
};

class Launcher {
public:
  /// Parses and checks the expressions of `info`, which is copied.
  static Expected<Launcher> create(KernelInfo info);

  const KernelInfo &getInfo() const { return info; }

  /// The device's number of multiprocessors, which `num_sms()` gives; 1 until told.
  void setNumSMs(int32_t count) { numSMs = count; }

  /// Checks `args` (one per kernel parameter) and fills `plan`.
  Expected<void> plan(std::span<const KernelArg> args, const std::optional<Grid> &gridOverride,
                      CheckLevel level, LaunchPlan &plan) const;

  /// Evaluates the grid alone.
  Expected<Grid> evaluateGrid(std::span<const KernelArg> args) const;

private:
  /// An axis whose extent is fixed by a constant or by an earlier axis.
  struct Binding {
    unsigned param, axis;           // the axis to check
    unsigned firstParam, firstAxis; // where its name was bound first
  };

  Expected<void> checkParam(unsigned index, const KernelArg &arg) const;
  Expected<void> checkBindings(std::span<const KernelArg> args) const;
  Expected<void> checkRequirements(std::span<const KernelArg> args) const;
  Expected<void> chooseBuild(std::span<const KernelArg> args, LaunchPlan &plan) const;
  bool planTensorMaps(const BuildInfo &build, std::span<const KernelArg> args,
                      LaunchPlan &plan) const;
  void pack(std::span<const KernelArg> args, LaunchPlan &plan) const;
  std::string describeOperands(const HostExpr &expr, std::span<const KernelArg> args) const;

  KernelInfo info;
  std::vector<HostExpr> grid, requirements;
  std::vector<Binding> bindings;
  int32_t numSMs = 1;
};

/// One launch: Launcher::create and plan.
Expected<LaunchPlan> planLaunch(const KernelInfo &info, std::span<const KernelArg> args,
                                const std::optional<Grid> &gridOverride = std::nullopt,
                                CheckLevel level = CheckLevel::Full);

} // namespace tilec

#endif // TILEC_SUPPORT_LAUNCHPLAN_H
