//===- Kernel.cpp - kernels and launches --------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The path of a launch, top to bottom: the stream's device, the kernel's code on
// it, C++ numbers to parameter dtypes, the plan (all checks that need no driver),
// where the pointers live, the driver call. Scratch memory is per thread and is
// reused, so a launch that has run once before allocates nothing.
//
//===------------------------------------------------------------------------===//

#include "tilec/Runtime/Kernel.h"

#include "LoadedKernel.h"
#include "TensorMapCache.h"

#include "tilec/Support/Numerics.h"
#include "tilec/Support/Workspace.h"

#include <cmath>
#include <cstdlib>

using namespace tilec;

HostKernel::~HostKernel() = default;
CodeSource::~CodeSource() = default;

//===-- Code per device -------------------------------------------------------===//

Kernel::Kernel(std::shared_ptr<CodeSource> source) : state(std::make_shared<KernelState>()) {
  state->source = std::move(source);
}

KernelState::~KernelState() {
  for (auto &slot : slots)
    delete slot.load(std::memory_order_relaxed);
}

Expected<LoadedKernel *> KernelState::get(DeviceState &device) {
  auto &slot = slots[device.isCpu() ? maxDevices : device.ordinal];
  if (LoadedKernel *kernel = slot.load(std::memory_order_acquire)) [[likely]]
    return kernel;
  std::lock_guard lock(mutex);
  if (LoadedKernel *kernel = slot.load(std::memory_order_relaxed))
    return kernel;
  std::unique_ptr<LoadedKernel> kernel;
  if (device.isCpu()) {
    auto host = source->hostKernel();
    if (!host)
      return host.failure();
    auto launcher = Launcher::create(source->info());
    if (!launcher)
      return launcher.failure();
    kernel.reset(new LoadedKernel{std::move(*launcher), &device, nullptr, nullptr,
                                  std::move(*host), nullptr, {}});
  } else {
    auto images = source->images(device.capability);
    if (!images)
      return images.failure();
    auto loaded = findForGpu(*images, source->info().name, device);
    if (!loaded)
      return loaded.failure();
    kernel = std::move(*loaded);
  }
  slot.store(kernel.get(), std::memory_order_release);
  return kernel.release();
}

Expected<cuda::Function> KernelState::function(const LoadedKernel &kernel, unsigned index) {
  LoadedBuild &slot = kernel.builds[index];
  if (cuda::Function function = slot.function.load(std::memory_order_acquire)) [[likely]]
    return function;
  std::lock_guard lock(mutex);
  if (cuda::Function function = slot.function.load(std::memory_order_relaxed))
    return function;
  const BuildInfo &build = kernel.launcher.getInfo().builds[index];
  auto object = source->object(*kernel.image, build.object);
  if (!object)
    return object.failure();
  auto function = loadBuild(kernel, build, **object);
  if (!function)
    return function;
  auto clusters = countClusters(kernel, build, *function);
  if (!clusters)
    return clusters.failure();
  slot.mostClusters = *clusters;
  slot.function.store(*function, std::memory_order_release);
  return function;
}

Expected<const std::string *> CodeSource::object(const ModuleImage &image, unsigned index) {
  return &image.objects[index];
}

void CodeSource::makeObjects(const ModuleImage &) {}

const KernelInfo &Kernel::info() const { return state->source->info(); }

Expected<void> Kernel::tryPreload(Device device) const {
  auto kernel = state->get(*device.getState());
  if (!kernel)
    return kernel.failure();
  if ((*kernel)->host)
    return {};
  ContextScope scope(*(*kernel)->device);
  if (auto ok = scope.check(); !ok)
    return ok;
  const ModuleImage &image = *(*kernel)->image;
  const std::vector<BuildInfo> &builds = (*kernel)->launcher.getInfo().builds;
  std::vector<unsigned> present; // a module may have been made without the others
  {
    std::lock_guard lock(state->mutex);
    state->source->makeObjects(image);
    for (unsigned i = 0; i < builds.size(); ++i) {
      auto object = state->source->object(image, builds[i].object);
      if (!object)
        return object.failure();
      if (!(*object)->empty())
        present.push_back(i);
    }
  }
  for (unsigned i : present)
    if (auto function = state->function(**kernel, i); !function)
      return function.failure();
  return {};
}

Expected<KernelInfo> Kernel::tryInfo(Device device) const {
  auto kernel = state->get(*device.getState());
  if (!kernel)
    return kernel.failure();
  return (*kernel)->launcher.getInfo();
}

//===-- Arguments -------------------------------------------------------------===//

static Failure doesNotFit(const ParamInfo &param, const std::string &value) {
  return Failure{"argument `" + param.name + "`: " + value + " is not a value of " +
                     std::string(dtypeName(param.dtype)),
                 {}, param.name, 0, {}};
}

/// Whether the integer is a value of an integer dtype.
static bool fitsInteger(DType dtype, bool isNegative, uint64_t bits) {
  unsigned width = dtypeBits(dtype);
  if (isSigned(dtype)) {
    auto v = static_cast<int64_t>(bits);
    if (!isNegative && v < 0)
      return false;
    return width == 64 || (v >= -(int64_t(1) << (width - 1)) && v < int64_t(1) << (width - 1));
  }
  return !isNegative && (width == 64 || bits >> width == 0);
}

Expected<KernelArg> Argument::resolve(const ParamInfo &param) const {
  switch (kind) {
  case Kind::Array:
    return KernelArg(array);
  case Kind::Exact:
    return KernelArg(scalar);
  default:
    break;
  }
  if (param.isArray)
    return KernelArg(scalar); // refused by the plan
  DType to = param.dtype;
  if (kind == Kind::Bool)
    return KernelArg(scalar);
  if (kind == Kind::Float) {
    double v = numerics::decode(DType::F64, scalar.bits);
    if (isFloat(to))
      return KernelArg(ScalarArg{to, numerics::encode(to, v)});
    return doesNotFit(param, HostValue::real(v).str());
  }
  bool isNegative = kind == Kind::Signed && static_cast<int64_t>(scalar.bits) < 0;
  std::string text = kind == Kind::Signed ? std::to_string(static_cast<int64_t>(scalar.bits))
                                          : std::to_string(scalar.bits);
  if (isInteger(to) && fitsInteger(to, isNegative, scalar.bits))
    return KernelArg(ScalarArg::integer(to, static_cast<int64_t>(scalar.bits)));
  if (isFloat(to)) {
    double v = isNegative ? static_cast<double>(static_cast<int64_t>(scalar.bits))
                          : static_cast<double>(scalar.bits);
    uint64_t bits = numerics::encode(to, v);
    if (numerics::decode(to, bits) == v && std::fabs(v) <= 9007199254740992.0)
      return KernelArg(ScalarArg{to, bits});
  }
  return doesNotFit(param, text);
}

//===-- Checks that need the driver -------------------------------------------===//

static CheckLevel checkLevel() {
  static const CheckLevel level = [] {
    const char *text = std::getenv("TILEC_CHECKS");
    std::string_view word = text ? text : "";
    return word == "off" ? CheckLevel::Off : word == "shapes" ? CheckLevel::Shapes : CheckLevel::Full;
  }();
  return level;
}

/// Whether launches overlap where they can: $TILEC_OVERLAP is not `off`.
static bool mayOverlap() {
  static const bool may = [] {
    const char *text = std::getenv("TILEC_OVERLAP");
    return std::string_view(text ? text : "") != "off";
  }();
  return may;
}

/// Where the arrays' memory lives: on the stream's device, managed, or pinned. What has no
/// element may lie anywhere, such as behind the end of an allocation.
static Expected<void> checkPointers(const LoadedKernel &kernel, std::span<const KernelArg> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const auto *array = std::get_if<ArrayArg>(&args[i]);
    if (!array || !array->data || array->numElements() == 0)
      continue;
    unsigned type = 0, isManaged = 0;
    int ordinal = -1;
    cuda::PointerAttribute wanted[] = {cuda::PointerMemoryType, cuda::PointerIsManaged,
                                       cuda::PointerDeviceOrdinal};
    void *values[] = {&type, &isManaged, &ordinal};
    auto address = static_cast<cuda::DevicePtr>(reinterpret_cast<uintptr_t>(array->data));
    if (auto ok = cuda::check("asking where an argument lives",
                              cuda::driver()->pointerGetAttributes(3, wanted, values, address));
        !ok)
      return withLastKernel(ok.failure(), *kernel.device);
    const KernelInfo &info = kernel.launcher.getInfo();
    const std::string &name = info.params[i].name;
    std::string problem;
    if (type == 0)
      problem = "pointer is pageable host memory";
    else if (type == cuda::MemoryDevice && !isManaged && ordinal != kernel.device->id)
      problem = "pointer is on device " + std::to_string(ordinal) + " but the stream is on device " +
                std::to_string(kernel.device->ordinal);
    if (!problem.empty())
      return Failure{info.name + ": argument `" + name + "`: " + problem, info.name, name, 0, {}};
  }
  return {};
}

//===-- Launch ----------------------------------------------------------------===//

namespace {
/// Memory that a launch writes to, kept per thread.
struct Scratch {
  std::vector<KernelArg> args;
  LaunchPlan plan;
  std::vector<void *> pointers;
  std::vector<cuda::TensorMap> tensorMaps;
  TensorMapCache tensorMapCache;
  bool inUse = false; // a host kernel may launch others
};
} // namespace

static thread_local Scratch threadScratch;

/// The failure of something that a launch of the kernel needs.
static Failure ofKernel(Failure why, const KernelInfo &info) {
  why.message = info.name + ": " + why.message;
  why.kernel = info.name;
  return why;
}

/// Where the driver finds each parameter.
static Expected<void> gatherParameters(const KernelInfo &info, Scratch &scratch) {
  scratch.pointers.clear();
  for (uint32_t offset : scratch.plan.offsets)
    scratch.pointers.push_back(scratch.plan.params.data() + offset);
  const std::vector<TensorMapPlan> &maps = scratch.plan.tensorMaps;
  scratch.tensorMaps.resize(maps.size());
  for (size_t i = 0; i < maps.size(); ++i) {
    if (auto ok = scratch.tensorMapCache.encode(maps[i], scratch.tensorMaps[i]); !ok)
      return ofKernel(ok.failure(), info);
    scratch.pointers.push_back(&scratch.tensorMaps[i]);
  }
  return {};
}

/// Blocks per cluster: as compiled, or as the caller wants a kernel that does not care.
static Expected<unsigned> clusterOf(const KernelInfo &info, unsigned own,
                                    const LaunchConfig &config, int64_t blocks) {
  std::string problem;
  if (config.cluster == 0 || config.cluster == own)
    return own;
  if (own > 1)
    problem = "the kernel is compiled for clusters of " + std::to_string(own) + ", not " +
              std::to_string(config.cluster);
  else if (blocks % config.cluster != 0)
    problem = std::to_string(blocks) + " blocks are not a multiple of the cluster, " +
              std::to_string(config.cluster);
  else
    return config.cluster;
  return Failure{info.name + ": " + problem, info.name, {}, 0, {}};
}

static Expected<void> callDriver(const LoadedKernel &kernel, const cuda::LaunchConfig &launch,
                                 cuda::Function function, Scratch &scratch) {
  cuda::Result result = cuda::driver()->launchKernel(&launch, function,
                                                     scratch.pointers.data(), nullptr);
  if (result != cuda::success) [[unlikely]] {
    const KernelInfo &info = kernel.launcher.getInfo();
    Failure why = cuda::driverFailure("launching", result);
    why.message = info.name + ": " + why.message;
    if (kernel.device->lastKernel.load(std::memory_order_relaxed))
      why = withLastKernel(std::move(why), *kernel.device);
    why.kernel = info.name;
    return why;
  }
  kernel.device->lastKernel.store(kernel.name, std::memory_order_relaxed);
  return {};
}

static Expected<void> launchOnGpu(KernelState &state, const LoadedKernel &kernel, StreamRef stream,
                                  const LaunchConfig &config, Scratch &scratch) {
  const KernelInfo &info = kernel.launcher.getInfo();
  const LaunchPlan &plan = scratch.plan;
  const BuildInfo &build = info.builds[plan.build];
  if (kernel.debug.ring)
    scratch.plan.setDebugRing(kernel.debug.ring, kernel.debug.firstSite);
  auto function = state.function(kernel, plan.build);
  if (!function)
    return function.failure();
  if (auto ok = gatherParameters(info, scratch); !ok)
    return ok;
  auto numSMs = static_cast<unsigned>(kernel.device->numSMs);
  // Blocks that add up in memory have parts on an axis of their own.
  int64_t blocks =
      build.sumBytes
          ? plan.numBlocks
          : physicalBlocks(build, plan, numSMs, kernel.builds[plan.build].mostClusters);
  auto cluster = clusterOf(info, clusterBlocks(build, plan, numSMs), config, blocks);
  if (!cluster)
    return cluster.failure();

  cuda::LaunchAttribute attributes[2];
  cuda::LaunchConfig launch{};
  launch.attributes = attributes;
  if (*cluster > 1) {
    auto &attribute = attributes[launch.numAttributes++];
    attribute = {};
    attribute.id = cuda::ClusterDimension;
    attribute.value.cluster = {*cluster, 1, 1};
  }
  if (build.awaitsGrids && config.overlapPrevious && mayOverlap()) {
    auto &attribute = attributes[launch.numAttributes++];
    attribute = {};
    attribute.id = cuda::ProgrammaticStreamSerialization;
    attribute.value.programmaticSerialization = 1;
  }
  launch.gridX = static_cast<unsigned>(blocks);
  launch.gridY = launch.gridZ = launch.blockY = launch.blockZ = 1;
  launch.blockX = build.threads;
  launch.sharedBytes = build.sharedBytes;
  launch.stream = stream.get();
  if (!build.sumBytes)
    return callDriver(kernel, launch, *function, scratch);

  launch.gridY = blocksOfPosition(build, plan, numSMs);
  auto done = kernel.device->workspaces.with(
      stream.get(), workspaceBytes(build, plan, numSMs), counterBytes(plan.numBlocks),
      [&](cuda::DevicePtr address) {
        scratch.plan.setWorkspace(reinterpret_cast<void *>(address));
        return callDriver(kernel, launch, *function, scratch);
      });
  return done || !done.failure().kernel.empty() ? done : ofKernel(done.failure(), info);
}

static Expected<void> launchPlanned(KernelState &state, const LoadedKernel &kernel,
                                    StreamRef stream, const LaunchConfig &config, std::span<const KernelArg> args,
                                    Scratch &scratch) {
  CheckLevel level = checkLevel();
  if (auto ok = kernel.launcher.plan(args, config.grid, level, scratch.plan); !ok)
    return ok;
  if (scratch.plan.isEmpty())
    return {};
  if (kernel.host)
    return kernel.host->run(args, scratch.plan.grid);
  ContextScope scope(*kernel.device);
  if (auto ok = scope.check(); !ok)
    return ok;
  if (level == CheckLevel::Full)
    if (auto ok = checkPointers(kernel, args); !ok)
      return ok;
  return launchOnGpu(state, kernel, stream, config, scratch);
}

/// Calls `body` with scratch memory: the thread's, or a fresh one inside a launch.
template <typename Body>
static Expected<void> withScratch(Body body) {
  if (threadScratch.inUse) {
    Scratch fresh;
    return body(fresh);
  }
  struct Guard {
    ~Guard() { threadScratch.inUse = false; }
  } guard;
  threadScratch.inUse = true;
  return body(threadScratch);
}

static Expected<LoadedKernel *> findCode(KernelState &state, StreamRef stream) {
  auto device = stream.tryDevice();
  if (!device)
    return device.failure();
  return state.get(*device->getState());
}

Expected<void> Kernel::tryLaunchArguments(StreamRef stream, const LaunchConfig &config,
                                          std::span<const Argument> args) const {
  auto kernel = findCode(*state, stream);
  if (!kernel)
    return kernel.failure();
  const KernelInfo &facts = (*kernel)->launcher.getInfo();
  return withScratch([&](Scratch &scratch) -> Expected<void> {
    scratch.args.clear();
    scratch.args.resize(args.size()); // a wrong number is refused by the plan
    for (size_t i = 0; i < args.size() && args.size() == facts.params.size(); ++i) {
      auto arg = args[i].resolve(facts.params[i]);
      if (!arg)
        return ofKernel(arg.failure(), facts);
      scratch.args[i] = *arg;
    }
    return launchPlanned(*state, **kernel, stream, config, scratch.args, scratch);
  });
}

Expected<void> Kernel::tryLaunchArgs(StreamRef stream, const LaunchConfig &config,
                                     std::span<const KernelArg> args) const {
  auto kernel = findCode(*state, stream);
  if (!kernel)
    return kernel.failure();
  return withScratch([&](Scratch &scratch) {
    return launchPlanned(*state, **kernel, stream, config, args, scratch);
  });
}

Expected<LaunchPlan> Kernel::tryPlan(Device device, const LaunchConfig &config,
                                     std::span<const KernelArg> args) const {
  auto kernel = state->get(*device.getState());
  if (!kernel)
    return kernel.failure();
  LaunchPlan plan;
  if (auto ok = (*kernel)->launcher.plan(args, config.grid, checkLevel(), plan); !ok)
    return ok.failure();
  return plan;
}
