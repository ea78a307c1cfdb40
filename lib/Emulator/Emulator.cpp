//===- Emulator.cpp - thread-exact execution of a kernel on the CPU -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  a module and launches. Out: reports. The stages are in RewriteForHost.h (the
//      module becomes one for the host), HostJIT.h (machine code), and Block.h (the
//      threads of a block); here they are put together, and blocks are spread over
//      host threads.
//
//===--------------------------------------------------------------------------===//
#include "tilec/Emulator/Emulator.h"

#include "Block.h"
#include "HostJIT.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Target/TargetMachine.h"

#include <thread>

using namespace llvm;
using namespace tilec;
using namespace tilec::emulator;

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct EmulatedKernel::Impl {
  HostKernel kernel;
  std::unique_ptr<HostJIT> jit;
  KernelFunction function = nullptr;
  std::vector<GlobalRange> moduleGlobals;
  bool checks = true;
  double compileSeconds = 0;

  Error checkLaunch(const EmulatorLaunch &launch) const;
};

EmulatedKernel::EmulatedKernel(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
EmulatedKernel::EmulatedKernel(EmulatedKernel &&) noexcept = default;
EmulatedKernel &EmulatedKernel::operator=(EmulatedKernel &&) noexcept = default;
EmulatedKernel::~EmulatedKernel() = default;

double EmulatedKernel::compileSeconds() const { return impl->compileSeconds; }

Expected<EmulatedKernel> EmulatedKernel::create(const Module &module, StringRef symbol,
                                                bool checks) {
  auto start = std::chrono::steady_clock::now();
  // A copy in a context of its own, which the JIT may keep: by way of bitcode, as
  // modules cannot move between contexts.
  SmallVector<char, 0> bitcode;
  {
    BitcodeWriter writer(bitcode);
    writer.writeModule(module);
    writer.writeSymtab();
    writer.writeStrtab();
  }
  auto context = std::make_unique<LLVMContext>();
  auto copy = parseBitcodeFile(
      MemoryBufferRef(StringRef(bitcode.data(), bitcode.size()), "kernel"), *context);
  if (!copy)
    return copy.takeError();

  auto impl = std::make_unique<Impl>();
  impl->checks = checks;
  auto jit = HostJIT::create();
  if (!jit)
    return jit.takeError();
  impl->jit = std::move(*jit);
  auto kernel = rewriteForHost(**copy, symbol, impl->jit->triple(), impl->jit->layout(),
                               checks);
  if (!kernel)
    return kernel.takeError();
  impl->kernel = std::move(*kernel);
  if (Error error = impl->jit->add(std::move(*copy), std::move(context), impl->kernel))
    return std::move(error);
  auto address = impl->jit->lookup(impl->kernel.symbol);
  if (!address)
    return address.takeError();
  impl->function = reinterpret_cast<KernelFunction>(*address);
  for (const HostKernel::Global &global : impl->kernel.globals) {
    auto data = impl->jit->lookup(global.symbol);
    if (!data)
      return data.takeError();
    impl->moduleGlobals.push_back(
        {*data, global.size, global.name, global.writable, /*isConstant=*/!global.writable});
  }
  impl->compileSeconds = secondsSince(start);
  return EmulatedKernel(std::move(impl));
}

Error EmulatedKernel::Impl::checkLaunch(const EmulatorLaunch &launch) const {
  if (launch.parameters.size() != kernel.parameters.size())
    return createStringError("kernel '" + kernel.symbol + "' takes " +
                             Twine(kernel.parameters.size()) + " parameters, not " +
                             Twine(launch.parameters.size()));
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    if (launch.parameters[i].size() != kernel.parameters[i].size)
      return createStringError("parameter " + Twine(i) + " of kernel '" + kernel.symbol +
                               "' has " + Twine(kernel.parameters[i].size) +
                               " bytes, not " + Twine(launch.parameters[i].size()));
  uint64_t threads = 1, blocks = 1;
  for (unsigned d = 0; d < 3; ++d) {
    threads *= launch.threads[d];
    blocks *= launch.grid[d];
    if (launch.threads[d] > 1024)
      threads = 0;
    if (threads == 0 || threads > 1024)
      return createStringError("a block has between 1 and 1024 threads");
    if (blocks >= 0xFFFFFFFFu)
      return createStringError("the grid has too many blocks");
  }
  if (launch.cluster == 0 || launch.cluster > 16 || launch.grid[0] % launch.cluster)
    return createStringError("a cluster has between 1 and 16 blocks, and the grid is a "
                             "multiple of it");
  uint64_t shared = uint64_t(kernel.staticSharedBytes) + launch.sharedBytes;
  if (shared > sharedCapacity)
    return createStringError("the launch needs " + Twine(shared) +
                             " bytes of shared memory; a block has at most " +
                             Twine(sharedCapacity));
  return Error::success();
}

/// Runs clusters until none is left; false when the host has too little memory.
static bool runBlocks(LaunchState &launch, ArrayRef<uint32_t> order) {
  Cluster cluster(launch);
  if (!cluster.allocate())
    return false;
  uint64_t count = launch.numBlocks() / launch.clusterSize;
  while (!launch.stop) {
    uint64_t next = launch.nextCluster++;
    if (next >= count)
      break;
    cluster.run((order.empty() ? next : order[next]) * launch.clusterSize);
  }
  return true;
}

Expected<EmulatorReport> EmulatedKernel::launch(const EmulatorLaunch &launch) const {
  if (Error error = impl->checkLaunch(launch))
    return std::move(error);
  auto start = std::chrono::steady_clock::now();
  const HostKernel &kernel = impl->kernel;
  std::vector<GlobalRange> ranges = launch.globals;
  ranges.insert(ranges.end(), impl->moduleGlobals.begin(), impl->moduleGlobals.end());
  GlobalMemory globals(ranges, kernel.globalGranuleLog2, impl->checks);
  FindingLog log(kernel.sites);

  LaunchState state;
  state.kernel = impl->function;
  for (const auto &bytes : launch.parameters)
    state.parameters.push_back(bytes.data());
  state.grid = launch.grid;
  state.threads = launch.threads;
  state.staticSharedBytes = kernel.staticSharedBytes;
  state.sharedBytes = kernel.staticSharedBytes + launch.sharedBytes;
  state.sharedGranuleLog2 = kernel.sharedGranuleLog2;
  state.stackBytes = kernel.stackBytes;
  state.clusterSize = launch.cluster;
  state.checks = impl->checks;
  state.awaitsGrids = launch.awaitsGrids;
  state.seed = launch.seed;
  state.timeoutSeconds = launch.timeoutSeconds;
  state.deadline = start + std::chrono::microseconds(
                               int64_t(launch.timeoutSeconds * 1e6));
  state.globals = &globals;
  state.log = &log;

  std::vector<uint32_t> order;
  if (launch.seed) {
    order.resize(state.numBlocks() / state.clusterSize);
    for (uint32_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::mt19937_64 random(*launch.seed);
    std::shuffle(order.begin(), order.end(), random);
  }
  uint64_t workers = launch.hostThreads ? launch.hostThreads
                                        : std::max(1u, std::thread::hardware_concurrency());
  // Every stack is two mappings, and a process may have 65 530.
  workers = std::min<uint64_t>({workers, state.numBlocks() / state.clusterSize,
                                15000 / (state.numThreads() * state.clusterSize)});
  workers = std::max<uint64_t>(1, workers);
  std::atomic<bool> ranAny{false};
  auto work = [&] {
    if (runBlocks(state, order))
      ranAny = true;
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 1; i < workers; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  if (!ranAny)
    return createStringError("there is too little memory to emulate a block");

  EmulatorReport report;
  report.findings = log.take();
  report.statistics.blocks = state.numBlocks();
  report.statistics.threads = state.numBlocks() * state.numThreads();
  report.statistics.switches = state.switches;
  report.statistics.seconds = secondsSince(start);
  return report;
}

Expected<EmulatorReport> tilec::emulateLaunch(const Module &module,
                                              const EmulatorLaunch &launch) {
  auto kernel = EmulatedKernel::create(module, launch.symbol, launch.checks);
  if (!kernel)
    return kernel.takeError();
  return kernel->launch(launch);
}
