//===- ExecuteGpu.cpp - one launch on the GPU ---------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Compiles for the device what launches want, to machine code where there is an assembler,
// else to PTX for the driver. Module files are loaded as any program would.
//
// Bench: each launch lies between two events, after a write of more than the L2
// cache, so that arrays come from memory. The yardstick is a copy on the device.
//
//===------------------------------------------------------------------------===//

#include "Execute.h"

#include "tilec/tilec.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace tilec::run {

namespace {
/// The arguments with their arrays on the device.
struct DeviceArgs {
  std::vector<Buffer> buffers; // one per argument, empty for scalars
  std::vector<KernelArg> list;
};

/// Code that the compiler makes when it is wanted.
class CompiledSource : public CodeSource {
public:
  CompiledSource(Compilation &compilation, ChipCode code, const KernelInfo &facts)
      : compilation(compilation), code(std::move(code)), image(this->code.image()), facts(facts) {}

  const KernelInfo &info() const override { return facts; }
  Expected<std::vector<const ModuleImage *>> images(int) override {
    return std::vector<const ModuleImage *>{&image};
  }
  Expected<const std::string *> object(const ModuleImage &, unsigned index) override {
    if (!compilation.makeObjects(code, index))
      return exitWith(exitInput, "");
    return &code.objects[index];
  }
  Expected<std::shared_ptr<HostKernel>> hostKernel() override {
    return exitWith(exitInternal, "compiled for a GPU");
  }

private:
  Compilation &compilation;
  ChipCode code;
  ModuleImage image;
  KernelInfo facts;
};

class GpuExecutor : public Executor {
public:
  GpuExecutor(Device device, Stream stream, Kernel kernel)
      : device(device), stream(std::move(stream)), kernel(std::move(kernel)) {}

  std::string name() const override { return device.name(); }
  Expected<void> run(std::vector<RunArgument> &args, const std::optional<Grid> &grid) override;
  Expected<BenchResult> bench(std::vector<RunArgument> &args,
                              const std::optional<Grid> &grid) override;

private:
  Expected<DeviceArgs> upload(std::vector<RunArgument> &args);
  Expected<void> launch(const DeviceArgs &args, const std::optional<Grid> &grid);
  Expected<double> timed(const std::function<Expected<void>()> &body);
  Expected<double> copyBandwidth();

  Device device;
  Stream stream;
  Kernel kernel;
};
} // namespace

/// A driver call that failed: a fault.
static Failure fault(const Failure &why) { return exitWith(exitFault, why.message); }

Expected<DeviceArgs> GpuExecutor::upload(std::vector<RunArgument> &args) {
  DeviceArgs result;
  for (RunArgument &argument : args) {
    KernelArg arg = argument.arg();
    Buffer buffer;
    if (auto *array = std::get_if<ArrayArg>(&arg)) {
      size_t bytes = argument.array.data.size();
      auto memory = Buffer::tryAllocate(stream, bytes + argument.skew);
      if (!memory)
        return exitWith(exitInput, memory.failure().message);
      buffer = std::move(*memory);
      array->data = static_cast<std::byte *>(buffer.data()) + argument.skew;
      if (auto ok = tryCopy(stream, array->data, argument.array.data.data(), bytes); !ok)
        return fault(ok.failure());
    }
    result.buffers.push_back(std::move(buffer));
    result.list.push_back(arg);
  }
  return result;
}

Expected<void> GpuExecutor::launch(const DeviceArgs &args, const std::optional<Grid> &grid) {
  LaunchConfig config;
  config.grid = grid;
  if (auto ok = kernel.tryLaunchArgs(stream, config, args.list); !ok) {
    // The driver's failures have its code, the planner's have none.
    return ok.failure().code ? fault(ok.failure()) : exitWith(exitInput, ok.failure().message);
  }
  return {};
}

Expected<void> GpuExecutor::run(std::vector<RunArgument> &args, const std::optional<Grid> &grid) {
  llvm::outs().flush(); // the runtime writes what the kernel prints
  auto onDevice = upload(args);
  if (!onDevice)
    return onDevice.failure();
  if (auto ok = launch(*onDevice, grid); !ok)
    return ok;
  for (size_t i = 0; i < args.size(); ++i)
    if (auto *array = std::get_if<ArrayArg>(&onDevice->list[i]))
      if (auto ok = tryCopy(stream, args[i].array.data.data(), array->data,
                            args[i].array.data.size());
          !ok)
        return fault(ok.failure());
  if (auto ok = stream.trySynchronize(); !ok)
    return fault(ok.failure());
  return {};
}

//===-- Bench -----------------------------------------------------------------------===//

Expected<double> GpuExecutor::timed(const std::function<Expected<void>()> &body) {
  auto start = Event::tryCreate(device), end = Event::tryCreate(device);
  if (!start || !end)
    return fault(start ? end.failure() : start.failure());
  if (auto ok = start->tryRecord(stream); !ok)
    return fault(ok.failure());
  if (auto ok = body(); !ok)
    return ok.failure();
  if (auto ok = end->tryRecord(stream); !ok)
    return fault(ok.failure());
  if (auto ok = end->trySynchronize(); !ok)
    return fault(ok.failure());
  auto ms = end->tryMillisecondsSince(*start);
  if (!ms)
    return fault(ms.failure());
  return *ms * 1e-3;
}

/// Bytes read and written per second by a copy between two large buffers.
Expected<double> GpuExecutor::copyBandwidth() {
  constexpr size_t bytes = size_t(512) << 20;
  auto from = Buffer::tryAllocate(stream, bytes), to = Buffer::tryAllocate(stream, bytes);
  if (!from || !to)
    return 0.0; // no room: no yardstick
  double best = 0;
  for (int i = 0; i < 8; ++i) {
    auto seconds = timed([&] { return tryCopy(stream, to->data(), from->data(), bytes); });
    if (!seconds)
      return seconds;
    best = std::max(best, 2.0 * static_cast<double>(bytes) / *seconds);
  }
  return best;
}

Expected<BenchResult> GpuExecutor::bench(std::vector<RunArgument> &args,
                                         const std::optional<Grid> &grid) {
  auto onDevice = upload(args);
  if (!onDevice)
    return onDevice.failure();
  size_t flushBytes = std::max<size_t>(size_t(64) << 20, 2 * static_cast<size_t>(device.l2Bytes()));
  auto flush = Buffer::tryAllocate(stream, flushBytes);
  BenchResult result;
  double total = 0;
  constexpr int warmUp = 5;
  for (int i = 0; i < warmUp + 1000 && (i < warmUp + 20 || total < 0.5); ++i) {
    if (flush)
      if (auto ok = tryFillBytes(stream, flush->data(), 0, flushBytes); !ok)
        return fault(ok.failure());
    auto seconds = timed([&] { return launch(*onDevice, grid); });
    if (!seconds)
      return seconds.failure();
    if (i < warmUp)
      continue;
    result.seconds.push_back(*seconds);
    total += *seconds;
  }
  std::sort(result.seconds.begin(), result.seconds.end());
  auto peak = copyBandwidth();
  if (!peak)
    return peak.failure();
  result.peakBytesPerSecond = *peak;
  return result;
}

//===-- Making one --------------------------------------------------------------------===//

static Expected<Device> findGpu() {
  auto device = Device::tryGet(0);
  if (!device)
    return exitWith(exitTool, "--device=gpu: " + device.failure().message);
  return device;
}

static Expected<std::unique_ptr<Executor>> makeExecutor(Device device, Kernel kernel) {
  auto stream = device.tryCreateStream();
  if (!stream)
    return fault(stream.failure());
  return std::unique_ptr<Executor>(
      std::make_unique<GpuExecutor>(device, *stream, std::move(kernel)));
}

Expected<std::unique_ptr<Executor>> makeGpu(const ModuleFile &file, const std::string &kernel) {
  auto device = findGpu();
  if (!device)
    return device.failure();
  auto module = Module::tryFromMemory(writeModule(file));
  if (!module)
    return exitWith(exitInternal, module.failure().message);
  auto loaded = module->tryKernel(kernel);
  if (!loaded)
    return exitWith(exitInput, loaded.failure().message);
  if (auto ok = loaded->tryPreload(*device); !ok)
    return exitWith(exitTool, ok.failure().message);
  return makeExecutor(*device, *loaded);
}

Expected<const Chip *> findGpuChip() {
  auto device = findGpu();
  if (!device)
    return device.failure();
  const Chip *chip = findChipForDevice(static_cast<unsigned>(device->capability()));
  if (!chip)
    return exitWith(exitTool, device->name() + " is older than all chips of this compiler (" +
                                  chipNames() + ")");
  return chip;
}

Expected<std::unique_ptr<Executor>> makeGpu(Compilation &compilation, const std::string &kernel) {
  auto chip = findGpuChip();
  if (!chip)
    return chip.failure();
  auto code = compilation.prepareFor(**chip);
  if (!code)
    return exitWith(exitInput, "");
  auto facts = llvm::find_if(code->kernels, [&](auto &info) { return info.name == kernel; });
  auto device = findGpu();
  if (!device)
    return device.failure();
  KernelInfo wanted = *facts;
  return makeExecutor(*device, Kernel(std::make_shared<CompiledSource>(compilation, std::move(*code), wanted)));
}

} // namespace tilec::run
