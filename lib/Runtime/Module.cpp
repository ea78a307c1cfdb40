//===- Module.cpp - compiled modules ------------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Reads module files, chooses the image for a device, and hands objects of images to
// the driver. An object is loaded once per process (the driver shares it among devices)
// and stays: work in flight and instantiated graphs may still need it.
//
//===------------------------------------------------------------------------===//

#include "tilec/Runtime/Module.h"

#include "LoadedKernel.h"

#include "tilec/Support/Files.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

using namespace tilec;

//===-- Files -----------------------------------------------------------------===//

Expected<Module> Module::tryFromMemory(std::string_view bytes) {
  auto file = readModule(bytes);
  if (!file)
    return file.failure();
  return Module(std::make_shared<const ModuleFile>(std::move(*file)));
}

Expected<Module> Module::tryFromFile(const std::string &path) {
  auto bytes = readFile(path);
  if (!bytes)
    return bytes.failure();
  auto module = tryFromMemory(*bytes);
  if (!module)
    return failure(path + ": " + module.failure().message);
  return module;
}

std::vector<std::string> Module::kernelNames() const {
  std::vector<std::string> names;
  for (const ModuleImage &image : file->images)
    for (const KernelInfo &info : image.kernels)
      if (std::find(names.begin(), names.end(), info.name) == names.end())
        names.push_back(info.name);
  return names;
}

static const KernelInfo *findKernel(const ModuleImage &image, std::string_view name) {
  for (const KernelInfo &info : image.kernels)
    if (info.name == name)
      return &info;
  return nullptr;
}

namespace {
/// Kernels of a module file.
class FileSource : public CodeSource {
public:
  FileSource(std::shared_ptr<const ModuleFile> file, const KernelInfo &facts)
      : file(std::move(file)), facts(facts) {}

  const KernelInfo &info() const override { return facts; }
  Expected<std::vector<const ModuleImage *>> images(int) override {
    std::vector<const ModuleImage *> found;
    for (const ModuleImage &image : file->images)
      if (findKernel(image, facts.name))
        found.push_back(&image);
    return found;
  }
  Expected<std::shared_ptr<HostKernel>> hostKernel() override {
    return Failure{facts.name + ": a compiled module has no code for the CPU; compile its source "
                                "with tilec::Program",
                   facts.name, {}, 0, {}};
  }

private:
  std::shared_ptr<const ModuleFile> file;
  const KernelInfo &facts; // in `file`
};
} // namespace

Expected<Kernel> Module::tryKernel(std::string_view name) const {
  for (const ModuleImage &image : file->images)
    if (const KernelInfo *info = findKernel(image, name))
      return Kernel(std::make_shared<FileSource>(file, *info));
  std::string all;
  for (const std::string &other : kernelNames())
    all += (all.empty() ? "" : ", ") + other;
  return failure("the module has no kernel `" + std::string(name) + "`" +
                 (all.empty() ? "" : "; it has " + all));
}

//===-- Choice of the image ---------------------------------------------------===//

namespace {
struct Arch {
  int capability = 0;
  bool specific = false; // runs on its own chip only
};
} // namespace

/// Reads "sm_90a"; capability 0 for anything else.
static Arch parseArch(std::string_view name) {
  Arch arch;
  if (!name.starts_with("sm_") || name.size() > 8)
    return arch;
  name.remove_prefix(3);
  if (!name.empty() && (name.back() == 'a' || name.back() == 'f')) {
    arch.specific = true;
    name.remove_suffix(1);
  }
  int value = 0;
  for (char c : name) {
    if (c < '0' || c > '9')
      return Arch();
    value = 10 * value + (c - '0');
  }
  arch.capability = value;
  return arch;
}

const ModuleImage *tilec::chooseImage(std::span<const ModuleImage *const> images, int capability) {
  const ModuleImage *best = nullptr;
  int bestScore = -1;
  for (const ModuleImage *image : images) {
    Arch arch = parseArch(image->arch);
    if (arch.capability == 0 || arch.capability > capability ||
        (arch.specific && arch.capability != capability))
      continue;
    // Machine code also runs on later chips of its generation, no further.
    bool isCubin = image->kind == ImageKind::Cubin;
    if (isCubin && arch.capability / 10 != capability / 10)
      continue;
    int score = 4 * arch.capability + 2 * arch.specific + 1;
    if (isCubin)
      score += 1 << 16;
    if (score > bestScore) {
      bestScore = score;
      best = image;
    }
  }
  return best;
}

//===-- Loading ---------------------------------------------------------------===//

namespace {
/// Code that the driver has taken.
struct LoadedLibrary {
  cuda::Library handle = nullptr;
  // The driver may compile PTX later, at the first use on a device, and writes here.
  static constexpr size_t logSize = 1 << 14;
  std::unique_ptr<char[]> log = std::make_unique<char[]>(logSize);

  std::string logText() const { return std::string(log.get(), strnlen(log.get(), logSize)); }
};
} // namespace

static Failure withLog(Failure why, const LoadedLibrary &library) {
  why.log = library.logText();
  if (!why.log.empty())
    why.message += "\n" + why.log;
  return why;
}

static Expected<LoadedLibrary *> loadLibrary(const ModuleImage &image, const std::string &object) {
  static std::mutex mutex;
  static auto &loaded = *new std::unordered_map<std::string, std::unique_ptr<LoadedLibrary>>;
  std::lock_guard lock(mutex);
  auto it = loaded.find(object);
  if (it != loaded.end())
    return it->second.get();

  auto library = std::make_unique<LoadedLibrary>();
  cuda::JitOption options[] = {cuda::JitErrorLog, cuda::JitErrorLogSize};
  void *values[] = {library->log.get(), reinterpret_cast<void *>(LoadedLibrary::logSize)};
  unsigned count = image.kind == ImageKind::PTX ? 2 : 0;
  std::string what = "loading the " + image.arch + " image";
  if (auto ok = cuda::check(what.c_str(), cuda::driver()->libraryLoadData(
                                              &library->handle, object.c_str(), options,
                                              values, count, nullptr, nullptr, 0));
      !ok)
    return withLog(ok.failure(), *library);
  return loaded.emplace(object, std::move(library)).first->second.get();
}

static Failure noImage(std::span<const ModuleImage *const> images, const std::string &kernel,
                       const DeviceState &device) {
  std::string all;
  for (const ModuleImage *image : images)
    all += (all.empty() ? "" : ", ") + image->arch +
           (image->kind == ImageKind::PTX ? " (PTX)" : "");
  return Failure{kernel + ": no image for GPU " + std::to_string(device.ordinal) + " (" +
                     device.name + ", " + Device(const_cast<DeviceState *>(&device)).arch() +
                     "); there is code for " + (all.empty() ? "no chip" : all),
                 kernel, {}, 0, {}};
}

/// The name of a kernel, kept until the process ends.
static const std::string *internName(const std::string &name) {
  static std::mutex mutex;
  static auto &names = *new std::unordered_map<std::string, std::unique_ptr<std::string>>;
  std::lock_guard lock(mutex);
  auto &entry = names[name];
  if (!entry)
    entry = std::make_unique<std::string>(name);
  return entry.get();
}

/// The driver's function of one build, with its shared memory opted in.
static Expected<cuda::Function> findBuild(const BuildInfo &build, const ModuleImage &image,
                                          const std::string &object, const DeviceState &device) {
  const cuda::Driver &d = *cuda::driver();
  if (static_cast<int>(build.sharedBytes) > device.sharedPerBlock)
    return failure("needs " + std::to_string(build.sharedBytes) +
                   " bytes of shared memory, a block on " + device.name + " has at most " +
                   std::to_string(device.sharedPerBlock));
  if (object.empty())
    return failure("the module has no code for `" + build.symbol + "`");
  auto found = loadLibrary(image, object);
  if (!found)
    return found.failure();
  const LoadedLibrary &library = **found;
  cuda::KernelHandle handle = nullptr;
  std::string what = "finding `" + build.symbol + "` in its image";
  if (auto ok = cuda::check(what.c_str(),
                            d.libraryGetKernel(&handle, library.handle, build.symbol.c_str()));
      !ok)
    return withLog(ok.failure(), library);
  cuda::Function function = nullptr;
  what = "loading `" + build.symbol + "`";
  if (auto ok = cuda::check(what.c_str(), d.kernelGetFunction(&function, handle)); !ok)
    return withLog(ok.failure(), library);
  constexpr unsigned withoutOptIn = 48 << 10;
  if (build.sharedBytes > withoutOptIn)
    if (auto ok = cuda::check("asking for shared memory",
                              d.functionSetAttribute(function, cuda::MaxDynamicSharedBytes,
                                                     static_cast<int>(build.sharedBytes)));
        !ok)
      return ok.failure();
  return function;
}

static Failure inKernel(const std::string &kernel, Failure why) {
  why.message = kernel + ": " + why.message;
  why.kernel = kernel;
  return why;
}

Expected<cuda::Function> tilec::loadBuild(const LoadedKernel &kernel, const BuildInfo &build,
                                          const std::string &object) {
  auto function = findBuild(build, *kernel.image, object, *kernel.device);
  if (!function)
    return inKernel(*kernel.name, function.failure());
  return function;
}

/// One more cluster would have to wait for the others to end. Pairs find room everywhere, and
/// where the launch gives a cluster its blocks none of them stays.
Expected<unsigned> tilec::countClusters(const LoadedKernel &kernel, const BuildInfo &build,
                                        cuda::Function function) {
  if (build.persistent == 0 || build.cluster <= 2)
    return 0u;
  cuda::LaunchAttribute attribute{};
  attribute.id = cuda::ClusterDimension;
  attribute.value.cluster = {build.cluster, 1, 1}; // with fewer, there is room for more
  cuda::LaunchConfig launch{};
  launch.gridX = build.cluster;
  launch.gridY = launch.gridZ = launch.blockY = launch.blockZ = 1;
  launch.blockX = build.threads;
  launch.sharedBytes = build.sharedBytes;
  launch.attributes = &attribute;
  launch.numAttributes = 1;
  int count = 0;
  if (auto ok = cuda::check("asking how many clusters fit",
                            cuda::driver()->maxActiveClusters(&count, function, &launch));
      !ok)
    return inKernel(*kernel.name, ok.failure());
  return static_cast<unsigned>(std::max(count, 1));
}

Expected<std::unique_ptr<LoadedKernel>>
tilec::findForGpu(std::span<const ModuleImage *const> images, const std::string &kernel,
                  DeviceState &device) {
  const ModuleImage *image = chooseImage(images, device.capability);
  if (!image)
    return noImage(images, kernel, device);
  const KernelInfo *info = findKernel(*image, kernel);
  if (!info || info->builds.empty())
    return inKernel(kernel, failure("the " + image->arch + " image has no such kernel"));
  auto launcher = Launcher::create(*info);
  if (!launcher)
    return launcher.failure();
  launcher->setNumSMs(device.numSMs);

  auto builds = std::make_unique<LoadedBuild[]>(info->builds.size());
  auto result = std::make_unique<LoadedKernel>(
      LoadedKernel{std::move(*launcher), &device, image, std::move(builds), nullptr,
                   internName(kernel), {}});
  if (!info->sites.empty()) {
    ContextScope scope(device);
    if (auto ok = scope.check(); !ok)
      return inKernel(kernel, ok.failure());
    auto place = DebugOutput::add(device, *info);
    if (!place)
      return inKernel(kernel, place.failure());
    result->debug = *place;
  }
  return result;
}
