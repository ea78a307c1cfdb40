//===- Gpu.cpp - one problem on the device -------------------- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "Gpu.h"

#include "Reference.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

namespace tilec::bench {

static constexpr const char ceilingSource[] =
#include "ceiling.inc"
    ;

/// The arrays of a problem on the device, as a launch takes them.
struct Gpu::Memory {
  std::vector<Buffer> buffers; // one per operand
  std::vector<KernelArg> arrays;
  std::vector<Sample> samples;
  size_t output = 0; // its number among the operands
};

Expected<std::unique_ptr<Gpu>> Gpu::open(const MeasureOptions &options) {
  auto device = Device::tryGet(0);
  if (!device)
    return device.failure();
  auto stream = device->tryCreateStream();
  if (!stream)
    return stream.failure();
  std::unique_ptr<Gpu> gpu(new Gpu(options, *device, *stream));
  size_t bytes = std::max<size_t>(size_t(128) << 20, 2 * static_cast<size_t>(device->l2Bytes()));
  auto flush = Buffer::tryAllocate(gpu->stream, bytes);
  auto workspace = Buffer::tryAllocate(gpu->stream, CublasLt::workspaceBytes);
  if (!flush || !workspace)
    return (flush ? workspace : flush).failure();
  gpu->flush = std::move(*flush);
  gpu->workspace = std::move(*workspace);
  if (!options.usePeers)
    return gpu;
  auto cublas = CublasLt::open(options.cublasLt, gpu->workspace.data());
  if (cublas) {
    gpu->cublas = std::move(*cublas);
    gpu->peer = gpu->cublas->version();
  } else {
    gpu->peer = cublas.failure().message;
  }
  return gpu;
}

//===-- Programs ---------------------------------------------------------------------===//

Expected<Gpu::Memory> Gpu::upload(const Problem &problem) {
  Memory memory;
  std::vector<Numbers> inputs;
  std::vector<std::byte> host;
  for (const Operand &operand : problem.operands) {
    size_t bytes = static_cast<size_t>(operand.elements()) * dtypeBytes(operand.dtype);
    auto buffer = Buffer::tryAllocate(stream, bytes);
    if (!buffer)
      return buffer.failure();
    if (operand.isOutput) {
      memory.output = memory.buffers.size();
    } else {
      inputs.emplace_back(operand.dtype, 1 + inputs.size());
      host.resize(bytes);
      inputs.back().fillAll(host.data(), operand.elements());
      if (auto ok = tryCopy(stream, buffer->data(), host.data(), bytes); !ok)
        return ok.failure();
      if (auto ok = stream.trySynchronize(); !ok)
        return ok.failure();
    }
    memory.arrays.push_back(ArrayArg::rowMajor(buffer->data(), operand.dtype, operand.dims.data(),
                                               static_cast<int>(operand.dims.size())));
    memory.buffers.push_back(std::move(*buffer));
  }
  memory.samples = makeSamples(problem, inputs);
  return memory;
}

std::vector<std::string> Gpu::tilesOf(const Problem &problem) const {
  if (!options.tiles.empty())
    return options.tiles;
  return {problem.subject->tiles.begin(), problem.subject->tiles.end()};
}

/// What tells builds apart: shapes with the same definitions share one.
static std::string keyOf(const Problem &problem, std::string_view tile) {
  std::string key(problem.subject->kernel);
  for (const auto &[name, value] : definitions(problem, tile))
    key += " " + name + "=" + value;
  return key;
}

Expected<Kernel> Gpu::compile(const Problem &problem, std::string_view tile) const {
  auto program = tilec::Program::tryFromFile(options.examples + "/" + std::string(problem.subject->file));
  if (!program)
    return program.failure();
  std::vector<Constant> constants;
  for (const auto &[name, value] : definitions(problem, tile))
    constants.emplace_back(name, value);
  auto kernel = program->tryKernel(problem.subject->kernel, constants);
  if (kernel)
    if (auto ok = kernel->tryPreload(device); !ok)
      return ok.failure();
  return kernel;
}

void Gpu::compile(std::span<const Problem> problems) {
  std::vector<std::pair<const Problem *, std::string>> builds;
  std::set<std::string> keys;
  for (const Problem &problem : problems)
    for (const std::string &tile : tilesOf(problem))
      if (keys.insert(keyOf(problem, tile)).second)
        builds.emplace_back(&problem, tile);
  std::atomic<size_t> next = 0;
  std::mutex lock;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::clamp(std::thread::hardware_concurrency(), 1u, 32u); ++t)
    threads.emplace_back([&] {
      for (size_t i; (i = next++) < builds.size();) {
        auto kernel = compile(*builds[i].first, builds[i].second);
        std::lock_guard<std::mutex> guard(lock);
        kernels.emplace(keyOf(*builds[i].first, builds[i].second), std::move(kernel));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

Expected<Gpu::Launch> Gpu::build(const Problem &problem, std::string_view tile,
                                 const Memory &memory) {
  auto it = kernels.find(keyOf(problem, tile));
  if (it == kernels.end())
    it = kernels.emplace(keyOf(problem, tile), compile(problem, tile)).first;
  const Expected<Kernel> &kernel = it->second;
  if (!kernel)
    return kernel.failure();
  std::vector<KernelArg> args = memory.arrays;
  const std::vector<ParamInfo> &params = kernel->info().params;
  for (size_t i = 0; i < problem.scalars.size(); ++i) {
    auto scalar = Argument(problem.scalars[i]).resolve(params[args.size()]);
    if (!scalar)
      return scalar.failure();
    args.push_back(*scalar);
  }
  return Launch([stream = stream, kernel = *kernel, args] {
    return kernel.tryLaunchArgs(stream, LaunchConfig(), args);
  });
}

Expected<Gpu::Launch> Gpu::vendor(const Problem &problem, const Memory &memory) {
  ProductCall call{&problem, memory.buffers[0].data(), memory.buffers[1].data(),
                   problem.subject->work == Work::ProductBiasGelu ? memory.buffers[2].data() : nullptr,
                   memory.buffers[memory.output].data(), stream.get()};
  return cublas->prepare(call);
}

static bool isProduct(Work work) {
  return work == Work::Product || work == Work::ProductNT || work == Work::ProductBiasGelu;
}

/// All programs of a problem; those that cannot be made say so.
void Gpu::prepare(const Problem &problem, const Memory &memory, std::vector<Program> &programs) {
  auto add = [&](std::string who, std::string setting, Expected<Launch> launch) {
    Program program;
    program.entry = {std::move(who), std::move(setting), {}, 0, {}};
    if (launch)
      program.launch = std::move(*launch);
    else
      program.entry.wrong = launch.failure().message;
    programs.push_back(std::move(program));
  };
  for (const std::string &tile : tilesOf(problem))
    add(ourName, tile, build(problem, tile, memory));
  if (cublas && isProduct(problem.subject->work))
    add("cuBLASLt", "", vendor(problem, memory));
}

//===-- Checks -----------------------------------------------------------------------===//

/// Launches on poisoned output; what is wrong with the result, or nothing. The first
/// result is kept, later ones must have its bits.
Expected<std::string> Gpu::runOnce(const Memory &memory, Program &program, bool isFirst) {
  const Buffer &output = memory.buffers[memory.output];
  if (auto ok = tryFillBytes(stream, output.data(), 0xff, output.size()); !ok)
    return ok.failure();
  if (auto ok = program.launch(); !ok)
    return ok.failure();
  std::vector<std::byte> result(output.size());
  if (auto ok = tryCopy(stream, result.data(), output.data(), output.size()); !ok)
    return ok.failure();
  if (auto ok = stream.trySynchronize(); !ok)
    return ok.failure();
  if (isFirst)
    program.first = std::move(result);
  else if (result != program.first)
    return std::string("two runs differ");
  return std::string();
}

void Gpu::verify(const Problem &problem, const Memory &memory, Program &program) {
  for (bool isFirst : {true, false}) {
    auto complaint = runOnce(memory, program, isFirst);
    program.entry.wrong = complaint ? *complaint : complaint.failure().message;
    if (!program.entry.wrong.empty())
      return;
  }
  const Operand &output = problem.output();
  program.entry.error = relativeError(memory.samples, output.dtype, program.first.data());
  if (hasNaN(output.dtype, program.first.data(), output.elements()))
    program.entry.wrong = "an element is not written, or is NaN";
  else if (!(program.entry.error <= problem.tolerance))
    program.entry.wrong = "wrong result, relative error " + std::to_string(program.entry.error);
}

//===-- Times ------------------------------------------------------------------------===//

/// `count` launches, each between two events; the mean of them.
Expected<double> Gpu::time(const Launch &launch, int count, std::vector<double> &seconds) {
  std::vector<std::pair<Event, Event>> events;
  for (int i = 0; i < count; ++i) {
    auto start = Event::tryCreate(device), end = Event::tryCreate(device);
    if (!start || !end)
      return (start ? end : start).failure();
    if (auto ok = tryFillBytes(stream, flush.data(), 0, flush.size()); !ok)
      return ok.failure();
    if (auto ok = start->tryRecord(stream); !ok)
      return ok.failure();
    if (auto ok = launch(); !ok)
      return ok.failure();
    if (auto ok = end->tryRecord(stream); !ok)
      return ok.failure();
    events.emplace_back(*start, *end);
  }
  if (auto ok = stream.trySynchronize(); !ok)
    return ok.failure();
  double total = 0;
  for (const auto &[start, end] : events) {
    auto ms = end.tryMillisecondsSince(start);
    if (!ms)
      return ms.failure();
    seconds.push_back(*ms * 1e-3);
    total += seconds.back();
  }
  return total / count;
}

Expected<void> Gpu::timeAll(std::vector<Program> &programs) {
  constexpr int rounds = 4; // the first one warms up and says how long a launch takes
  for (int round = 0; round < rounds; ++round)
    for (Program &program : programs) {
      if (!program.entry.wrong.empty())
        continue;
      int count = 3;
      if (round > 0) {
        double wanted = options.seconds / (rounds - 1) / program.entry.seconds.median;
        count = static_cast<int>(std::clamp(wanted, 4.0, 200.0));
      }
      auto mean = time(program.launch, count, program.seconds);
      if (!mean)
        return mean.failure();
      if (round == 0) {
        program.entry.seconds.median = summarize(std::move(program.seconds)).median;
        program.seconds.clear();
      }
    }
  return {};
}

Expected<Row> Gpu::measure(const Problem &problem) {
  auto memory = upload(problem);
  if (!memory)
    return memory.failure();
  std::vector<Program> programs;
  prepare(problem, *memory, programs);
  for (Program &program : programs)
    if (program.launch)
      verify(problem, *memory, program);
  if (auto ok = timeAll(programs); !ok)
    return ok.failure();
  Row row{std::string(problem.subject->name), problem.shapeText(),
          std::string(dtypeName(problem.subject->dtype)), problem.operations, problem.bytes, {}};
  for (Program &program : programs) {
    program.entry.seconds = summarize(program.seconds);
    if (program.entry.wrong.empty()) { // still the same bits after all these launches
      auto complaint = runOnce(*memory, program, false);
      program.entry.wrong = complaint ? *complaint : complaint.failure().message;
    }
    row.entries.push_back(std::move(program.entry));
  }
  return row;
}

//===-- Ceilings ---------------------------------------------------------------------===//

Expected<double> Gpu::copyBytesPerSecond() {
  constexpr size_t bytes = size_t(1) << 30;
  auto from = Buffer::tryAllocate(stream, bytes), to = Buffer::tryAllocate(stream, bytes);
  if (!from || !to)
    return (from ? to : from).failure();
  std::vector<double> seconds;
  auto mean = time([&] { return tryCopy(stream, to->data(), from->data(), bytes); }, 20, seconds);
  if (!mean)
    return mean;
  return 2.0 * static_cast<double>(bytes) / summarize(std::move(seconds)).median;
}

Expected<Ceiling> Gpu::productCeiling(DType dtype) {
  int64_t blocks = device.numSMs(), m = 128, n = 256, k = 128 / dtypeBytes(dtype);
  std::string type(dtypeName(dtype));
  auto program = tilec::Program::tryFromSource(ceilingSource, "ceiling.tile");
  if (!program)
    return program.failure();
  std::vector<Constant> constants = {
      {"T", dtype}, {"FAST", isF8(dtype)}, {"BM", m}, {"BN", n}, {"BK", k}};
  auto kernel = program->tryKernel("ceiling", constants);
  if (!kernel)
    return kernel.failure();
  std::vector<Buffer> buffers;
  for (const Sizes &dims : {Sizes{m, k}, Sizes{n, k}}) {
    Numbers numbers(dtype, buffers.size() + 1);
    std::vector<std::byte> host(static_cast<size_t>(dims[0] * dims[1]) * dtypeBytes(dtype));
    numbers.fillAll(host.data(), dims[0] * dims[1]);
    auto buffer = Buffer::tryAllocate(stream, host.size());
    if (!buffer)
      return buffer.failure();
    if (auto ok = tryCopy(stream, buffer->data(), host.data(), host.size()); !ok)
      return ok.failure();
    if (auto ok = stream.trySynchronize(); !ok)
      return ok.failure();
    buffers.push_back(std::move(*buffer));
  }
  auto result = Buffer::tryAllocate(stream, static_cast<size_t>(blocks * m) * 4);
  if (!result)
    return result.failure();
  constexpr int64_t rounds = 20000;
  std::vector<double> seconds;
  auto mean = time(
      [&] {
        return kernel->tryLaunch(stream, TensorView(buffers[0].data(), dtype, {m, k}),
                                 TensorView(buffers[1].data(), dtype, {n, k}),
                                 TensorView(result->data(), DType::F32, {blocks, m}), rounds);
      },
      10, seconds);
  if (!mean)
    return mean.failure();
  double operations = 2.0 * static_cast<double>(m * n * k) * static_cast<double>(rounds * blocks);
  return Ceiling{type + " products", operations / summarize(std::move(seconds)).median};
}

} // namespace tilec::bench
