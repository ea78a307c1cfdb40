//===- Kernel.h - kernels and launches ----------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A Kernel is a name and where its code comes from; each build is loaded for a device,
// and by the JIT compiled, when a launch there first takes it (or all of them by preload,
// which must come before capture into a graph). A launch checks its arguments against the kernel's facts, takes
// the grid from the kernel's `grid` clause unless the caller gives one, and picks
// the build that the arguments allow.
//
//   k.launch(s, a, b, c, 0.5f);                    // arrays, views, C++ numbers
//   k.launch(s, {.grid = Grid{4, 1, 1}}, a, b, c, 0.5f);
//
// A C++ number takes the dtype of its parameter, when it fits: integers exactly;
// floating point rounds to nearest.
//
// Threads: a Kernel may be launched from many threads at once. In the steady state
// a launch neither allocates nor locks.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_RUNTIME_KERNEL_H
#define TILEC_RUNTIME_KERNEL_H

#include "tilec/Runtime/Array.h"
#include "tilec/Runtime/Device.h"
#include "tilec/Support/KernelInfo.h"
#include "tilec/Support/LaunchPlan.h"
#include "tilec/Support/ModuleFile.h"

#include <concepts>
#include <memory>
#include <optional>
#include <span>

namespace tilec {

struct KernelState;

/// How to launch; all optional. There is no block size: threads are the
/// compiler's choice.
struct LaunchConfig {
  std::optional<Grid> grid; ///< instead of the kernel's own
  /// Blocks per cluster along the flattened grid; 0: as compiled. The number of
  /// blocks must be a multiple.
  unsigned cluster = 0;
  /// May start before the launches ahead of it in the stream end, where the kernel's code
  /// waits for them by itself (sm_90 and newer).
  bool overlapPrevious = true;
};

/// One argument as a C++ program has it.
class Argument {
public:
  enum class Kind : uint8_t { Array, Exact, Signed, Unsigned, Float, Bool };

  Argument(const TensorView &view) : kind(Kind::Array), array(view.getArg()) {}
  template <DType T, int Rank>
  Argument(const Array<T, Rank> &array) : Argument(array.view()) {}
  Argument(const ArrayArg &array) : kind(Kind::Array), array(array) {}
  Argument(const ScalarArg &scalar) : kind(Kind::Exact), scalar(scalar) {}
  Argument(bool v) : kind(Kind::Bool), scalar(ScalarArg::boolean(v)) {}
  template <std::signed_integral I>
  Argument(I v) : kind(Kind::Signed), scalar(ScalarArg::integer(DType::I64, v)) {}
  template <std::unsigned_integral I>
    requires(!std::same_as<I, bool>)
  Argument(I v)
      : kind(Kind::Unsigned), scalar(ScalarArg::integer(DType::U64, static_cast<int64_t>(v))) {}
  template <std::floating_point F>
  Argument(F v) : kind(Kind::Float), scalar(ScalarArg::f64(static_cast<double>(v))) {}
  template <DType T, typename Bits>
  Argument(SmallFloatValue<T, Bits> v) : kind(Kind::Exact), scalar{T, v.bits} {}

  /// The argument as parameter `param` takes it, or why it does not fit.
  Expected<KernelArg> resolve(const ParamInfo &param) const;

private:
  Kind kind;
  ArrayArg array;
  ScalarArg scalar;
};

/// A kernel that runs on the host: what Device::cpu() launches.
class HostKernel {
public:
  virtual ~HostKernel();
  /// Runs all blocks; the arguments have passed all checks and point to host memory.
  virtual Expected<void> run(std::span<const KernelArg> args, const Grid &grid) = 0;
};

/// Where a kernel's code comes from: a module file, or the compiler in process.
/// Calls come from any thread, at most one at a time per kernel.
class CodeSource {
public:
  virtual ~CodeSource();
  /// Facts for reflection, before a device is known.
  virtual const KernelInfo &info() const = 0;
  /// Candidates for a GPU: images that hold the kernel. The runtime picks.
  virtual Expected<std::vector<const ModuleImage *>> images(int capability) = 0;
  /// An object of one of these, when a launch first wants a build in it: made now where
  /// it was not before.
  virtual Expected<const std::string *> object(const ModuleImage &image, unsigned index);
  /// Makes all objects that are not there, as all are about to be wanted. What fails is said
  /// by object().
  virtual void makeObjects(const ModuleImage &image);
  /// The kernel for the host.
  virtual Expected<std::shared_ptr<HostKernel>> hostKernel() = 0;
};

class Kernel {
public:
  /// Facts of the kernel: parameters, constants, requirements.
  const KernelInfo &info() const;
  const std::string &name() const { return info().name; }

  /// Loads the code for `device` now.
  void preload(Device device) const { valueOrThrow(tryPreload(device)); }
  Expected<void> tryPreload(Device device) const;

  template <typename... Args>
  void launch(StreamRef stream, const Args &...args) const {
    valueOrThrow(tryLaunch(stream, args...));
  }
  template <typename... Args>
  void launch(StreamRef stream, const LaunchConfig &config, const Args &...args) const {
    valueOrThrow(tryLaunch(stream, config, args...));
  }
  template <typename... Args>
  Expected<void> tryLaunch(StreamRef stream, const Args &...args) const {
    return tryLaunch(stream, LaunchConfig(), args...);
  }
  template <typename... Args>
  Expected<void> tryLaunch(StreamRef stream, const LaunchConfig &config,
                           const Args &...args) const {
    if constexpr (sizeof...(Args) == 0) {
      return tryLaunchArguments(stream, config, {});
    } else {
      const Argument list[] = {Argument(args)...};
      return tryLaunchArguments(stream, config, list);
    }
  }
  Expected<void> tryLaunchArguments(StreamRef stream, const LaunchConfig &config,
                                    std::span<const Argument> args) const;
  /// Arguments that already have the parameters' dtypes.
  Expected<void> tryLaunchArgs(StreamRef stream, const LaunchConfig &config,
                               std::span<const KernelArg> args) const;

  /// The build that a launch with these arguments takes on `device`, and its grid.
  Expected<LaunchPlan> tryPlan(Device device, const LaunchConfig &config,
                               std::span<const KernelArg> args) const;
  /// Facts for `device`, where builds carry threads and shared memory.
  Expected<KernelInfo> tryInfo(Device device) const;

  explicit Kernel(std::shared_ptr<CodeSource> source);

private:
  std::shared_ptr<KernelState> state;
};

} // namespace tilec

#endif // TILEC_RUNTIME_KERNEL_H
