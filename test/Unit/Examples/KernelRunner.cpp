//===- KernelRunner.cpp - runs a .tile kernel on every executor ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "KernelRunner.h"

#include "tilec/Emulator/Plan.h"
#include "tilec/Frontend/Diagnostics.h"
#include "tilec/Interpreter/Interpreter.h"
#include "tilec/Runtime/Array.h"
#include "tilec/Runtime/Module.h"
#include "tilec/Support/ModuleFile.h"
#include "tilec/Support/Numerics.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>

namespace tilec::test {

std::string sourceFolder(const char *inside) {
  const char *checkout = std::getenv("TILEC_SOURCE_DIR");
  return std::string(checkout ? checkout : TILEC_SOURCE_DIR) + "/" + inside;
}

const char *executorName(Executor executor) {
  return executor == Executor::Interpreter ? "Interpreter" : executor == Executor::SIMT ? "SIMT" : "GPU";
}

std::vector<Executor> availableExecutors() {
  if (std::getenv("TILEC_TEST_GPU_ONLY") && Device::count() > 0)
    return {Executor::GPU};
  std::vector<Executor> result = {Executor::Interpreter, Executor::SIMT};
  if (Device::count() > 0)
    result.push_back(Executor::GPU);
  return result;
}

bool gpuRunsExamplesOf(std::string_view chip) {
  auto device = Device::tryGet(0);
  return device && (chip != "sm_100a" || findChipForDevice(unsigned(device->capability()))->name == chip);
}

//===------------------------------------------------------------------------===//
// HostArray
//===------------------------------------------------------------------------===//

HostArray::HostArray(DType dtype, std::vector<int64_t> dims)
    : dtype(dtype), dims(std::move(dims)), bytes(size() * dtypeBytes(dtype)) {}

size_t HostArray::size() const {
  return std::accumulate(dims.begin(), dims.end(), size_t(1), std::multiplies<>());
}

HostArray HostArray::random(DType dtype, std::vector<int64_t> dims, uint32_t seed) {
  HostArray array(dtype, std::move(dims));
  std::minstd_rand generator(seed);
  auto uniform = [&] { return double(generator()) / double(std::minstd_rand::max()); };
  for (size_t i = 0; i < array.size(); ++i) {
    // The sum of a few uniform numbers is normal enough, and fast.
    double v = (uniform() + uniform() + uniform() + uniform() - 2.0) * 1.732;
    array.set(i, isFloat(dtype) ? v : std::floor(uniform() * 17) - 8);
  }
  return array;
}

HostArray HostArray::poisoned(DType dtype, std::vector<int64_t> dims) {
  HostArray array(dtype, std::move(dims));
  std::fill(array.bytes.begin(), array.bytes.end(), 0xff);
  return array;
}

double HostArray::at(size_t i) const {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data() + i * dtypeBytes(dtype), dtypeBytes(dtype));
  word = numerics::normalize(dtype, word); // integers: extended to 64 bits by sign
  if (isFloat(dtype))
    return numerics::decode(dtype, word);
  return isUnsigned(dtype) ? double(word) : double(int64_t(word));
}

void HostArray::set(size_t i, double value) {
  uint64_t word = isFloat(dtype) ? numerics::encode(dtype, value) : uint64_t(int64_t(value));
  std::memcpy(bytes.data() + i * dtypeBytes(dtype), &word, dtypeBytes(dtype));
}

KernelArg HostArray::arg() {
  return ArrayArg::rowMajor(bytes.data(), dtype, dims.data(), int(dims.size()));
}

//===------------------------------------------------------------------------===//
// KernelRunner
//===------------------------------------------------------------------------===//

namespace {
/// Objects that the compiler makes when a launch wants them.
class CompiledCode : public CodeSource {
public:
  CompiledCode(Compilation &compilation, ChipCode code)
      : compilation(compilation), code(std::move(code)), image(this->code.image()) {}

  const KernelInfo &info() const override { return image.kernels.front(); }
  Expected<std::vector<const ModuleImage *>> images(int) override {
    return std::vector<const ModuleImage *>{&image};
  }
  Expected<const std::string *> object(const ModuleImage &, unsigned index) override {
    if (!compilation.makeObjects(code, index))
      return failure("no object is made");
    return &code.objects[index];
  }
  Expected<std::shared_ptr<HostKernel>> hostKernel() override {
    return failure("compiled for a GPU");
  }

private:
  Compilation &compilation;
  ChipCode code;
  ModuleImage image;
};
} // namespace

struct KernelRunner::Loaded {
  Stream stream;
  Kernel kernel;
};

KernelRunner::KernelRunner(std::string file, std::string kernel, std::vector<std::string> defines,
                           unsigned numWarps)
    : kernelName(std::move(kernel)) {
  CompileOptions options;
  options.defines = std::move(defines);
  options.kernel = kernelName;
  options.numWarps = numWarps;
  compilation = std::make_unique<Compilation>(options);
  compilation->loadFile(file);
}

KernelRunner::KernelRunner(const Text &text, const CompileOptions &options)
    : compilation(std::make_unique<Compilation>(options)) {
  compilation->loadText(text.name, text.source);
}

KernelRunner::~KernelRunner() = default;

std::string KernelRunner::compileOnly() { return compile(*findChip("sm_80"), Stage::PTX); }

std::string KernelRunner::messages() {
  std::string text = compilation->internalError();
  llvm::raw_string_ostream os(text);
  TextDiagnosticPrinter printer(compilation->sources(), os, false);
  compilation->printDiagnostics(printer);
  return text.empty() ? "no message" : text;
}

std::string KernelRunner::compile(const Chip &chip, Stage last) {
  if (code && code->chip == &chip && compiledTo == last)
    return "";
  code = compilation->compileFor(chip, last);
  compiledTo = last;
  return code ? "" : messages();
}

/// The interpreter needs no builds: facts of stage `tile`.
std::string KernelRunner::interpret(std::vector<KernelArg> &args, const std::optional<Grid> &grid) {
  const Chip &chip = *findChip("sm_80");
  mlir::ModuleOp module = compilation->tileModule(chip);
  if (!module)
    return messages();
  if (kernelName.empty())
    kernelName = compilation->kernels(chip).front().name;
  auto kernel = module.lookupSymbol<tile::KernelOp>(kernelName);
  for (const KernelInfo &info : compilation->kernels(chip)) {
    if (info.name != kernelName)
      continue;
    auto plan = planLaunch(info, args, grid);
    if (!plan)
      return plan.failure().message;
    if (llvm::Error error = interpretKernel(kernel, args, plan->grid))
      return llvm::toString(std::move(error));
    return "";
  }
  return "no kernel " + kernelName;
}

std::string KernelRunner::emulate(std::vector<KernelArg> &args, const std::optional<Grid> &grid) {
  if (std::string error = compile(*findChip(emulatedChip), Stage::LLVM); !error.empty())
    return error;
  const KernelInfo &info = code->kernels.front();
  auto launcher = Launcher::create(info);
  if (!launcher)
    return launcher.failure().message;
  launcher->setNumSMs(numSMs);
  LaunchPlan plan;
  if (auto planned = launcher->plan(args, grid, CheckLevel::Full, plan); !planned)
    return planned.failure().message;
  if (plan.isEmpty())
    return "";
  const BuildInfo &build = info.builds.at(plan.build);
  auto found = emulated.find(build.symbol);
  if (found == emulated.end()) {
    auto kernel = EmulatedKernel::create(*code->llvmModule, build.symbol);
    if (!kernel)
      return llvm::toString(kernel.takeError());
    found = emulated.emplace(build.symbol, std::move(*kernel)).first;
  }
  EmulatorLaunch launch = makeEmulatorLaunch(info, plan, args);
  auto report = found->second.launch(launch);
  if (!report)
    return llvm::toString(report.takeError());
  std::string text;
  llvm::raw_string_ostream os(text);
  report->print(os);
  return report->clean() ? "" : text;
}

const Kernel &KernelRunner::kernelOnGPU() const { return loaded->kernel; }

std::string KernelRunner::prepareForGPU() {
  auto device = Device::tryGet(0);
  if (!device)
    return device.failure().message;
  auto stream = device->tryCreateStream();
  if (!stream)
    return stream.failure().message;
  if (gpuChip) {
    if (std::string error = compile(*findChip(gpuChip), Stage::PTX); !error.empty())
      return error;
    ModuleFile file;
    file.images = {{gpuChip, ImageKind::PTX, {code->ptx}, code->kernels}};
    for (BuildInfo &build : file.images.front().kernels.front().builds)
      build.object = 0;
    auto module = Module::tryFromMemory(writeModule(file));
    if (!module)
      return module.failure().message;
    auto kernel = module->tryKernel(code->kernels.front().name);
    if (!kernel)
      return kernel.failure().message;
    loaded = std::make_unique<Loaded>(Loaded{*stream, *kernel});
    return "";
  }
  auto prepared = compilation->prepareFor(*findChipForDevice(unsigned(device->capability())));
  if (!prepared)
    return messages();
  Kernel kernel(std::make_shared<CompiledCode>(*compilation, std::move(*prepared)));
  loaded = std::make_unique<Loaded>(Loaded{*stream, kernel});
  return "";
}

std::string KernelRunner::launchOnGPU(std::vector<KernelArg> &args, const std::optional<Grid> &grid) {
  if (!loaded)
    if (std::string error = prepareForGPU(); !error.empty())
      return error;
  std::vector<Buffer> buffers;
  std::vector<KernelArg> onDevice = args;
  for (KernelArg &arg : onDevice)
    if (auto *array = std::get_if<ArrayArg>(&arg)) {
      size_t bytes = size_t(array->numElements()) * dtypeBytes(array->dtype);
      auto buffer = Buffer::tryAllocate(loaded->stream, std::max<size_t>(bytes, 16));
      if (!buffer)
        return buffer.failure().message;
      if (auto done = tryCopy(loaded->stream, buffer->data(), array->data, bytes); !done)
        return done.failure().message;
      array->data = buffer->data();
      buffers.push_back(std::move(*buffer));
    }
  LaunchConfig config;
  config.grid = grid;
  if (auto done = loaded->kernel.tryLaunchArgs(loaded->stream, config, onDevice); !done)
    return done.failure().message;
  size_t next = 0;
  for (KernelArg &arg : args)
    if (auto *array = std::get_if<ArrayArg>(&arg)) {
      size_t bytes = size_t(array->numElements()) * dtypeBytes(array->dtype);
      if (auto done = tryCopy(loaded->stream, array->data, buffers[next++].data(), bytes); !done)
        return done.failure().message;
    }
  auto done = loaded->stream.trySynchronize();
  return done ? "" : done.failure().message;
}

std::string KernelRunner::run(Executor executor, std::vector<KernelArg> args, std::optional<Grid> grid) {
  switch (executor) {
  case Executor::Interpreter:
    return interpret(args, grid);
  case Executor::SIMT:
    return emulate(args, grid);
  case Executor::GPU:
    return launchOnGPU(args, grid);
  }
  return "unknown executor";
}

} // namespace tilec::test
