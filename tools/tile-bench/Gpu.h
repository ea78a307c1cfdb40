//===- Gpu.h - one problem on the device ---------------------- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A Device here holds a stream, the memory that empties the cache, and where products
// work. measure() takes one problem through all its programs:
//
//   all builds are compiled by many threads first (and kept on disk by libtilec_jit);
//   inputs N(0, 1) to the device once, for all of them;
//   each program twice on poisoned output: the same bits, nothing unwritten, and the
//   samples of the reference within the tolerance; again after all times were taken;
//   times in rounds, all programs in each, so that a device that slows down does so
//   for all. A time is that between two events around one launch, after a write of
//   twice the L2 cache.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILEBENCH_GPU_H
#define TILEC_TOOLS_TILEBENCH_GPU_H

#include "CublasLt.h"
#include "Results.h"

#include "tilec/jit.h"

#include <map>

namespace tilec::bench {

struct MeasureOptions {
  std::string examples;               ///< folder of the kernels
  std::string cublasLt;               ///< file; empty: by name
  bool usePeers = true;
  double seconds = 0.25;              ///< of launches per program
  std::vector<std::string> tiles;     ///< instead of the subject's
};

class Gpu {
public:
  static Expected<std::unique_ptr<Gpu>> open(const MeasureOptions &options);

  const std::string &name() const { return device.name(); }
  /// "cuBLASLt 130200", or why there is none.
  const std::string &peerText() const { return peer; }
  Expected<double> copyBytesPerSecond();
  /// The rate of products of operands that stay on the chip.
  Expected<Ceiling> productCeiling(DType dtype);
  /// Compiles the builds of these problems, many at a time, before any is measured.
  void compile(std::span<const Problem> problems);
  Expected<Row> measure(const Problem &problem);

private:
  using Launch = std::function<Expected<void>()>;
  struct Program {
    Entry entry;
    Launch launch;
    std::vector<double> seconds;
    std::vector<std::byte> first; ///< its result, that later ones must equal
  };
  struct Memory;

  Gpu(MeasureOptions options, Device device, Stream stream)
      : options(std::move(options)), device(device), stream(std::move(stream)) {}
  Expected<Memory> upload(const Problem &problem);
  Expected<Kernel> compile(const Problem &problem, std::string_view tile) const;
  std::vector<std::string> tilesOf(const Problem &problem) const;
  Expected<Launch> build(const Problem &problem, std::string_view tile, const Memory &memory);
  Expected<Launch> vendor(const Problem &problem, const Memory &memory);
  void prepare(const Problem &problem, const Memory &memory, std::vector<Program> &programs);
  Expected<std::string> runOnce(const Memory &memory, Program &program, bool isFirst);
  void verify(const Problem &problem, const Memory &memory, Program &program);
  Expected<double> time(const Launch &launch, int count, std::vector<double> &seconds);
  Expected<void> timeAll(std::vector<Program> &programs);

  MeasureOptions options;
  Device device;
  Stream stream;
  Buffer flush, workspace;
  std::unique_ptr<CublasLt> cublas;
  std::string peer;
  std::map<std::string, Expected<Kernel>> kernels; // by their key
};

} // namespace tilec::bench

#endif // TILEC_TOOLS_TILEBENCH_GPU_H
