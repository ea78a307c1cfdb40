//===- Emulator.h - thread-exact execution of a kernel on the CPU -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  the final llvm::Module of a kernel, the one that PTX is printed from, and
//      what a launch gives a kernel: parameters, grid, threads, shared memory.
// Out: the memory the kernel wrote, and a report of everything that a GPU would
//      have left undefined: races, reads of shared memory nobody wrote, accesses
//      outside the arrays, barriers that not every thread reaches, deadlocks.
//
// Every GPU thread is a fiber on the host; the module is rewritten for the host
// and compiled in process. The result of a clean run is what the GPU computes, up
// to the accuracy of its approximate instructions, so this is how compiled code
// is tested where there is no GPU.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_EMULATOR_EMULATOR_H
#define TILEC_EMULATOR_EMULATOR_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Module;
class raw_ostream;
} // namespace llvm

namespace tilec {

class DebugRing;

/// What went wrong, in the words of the report.
enum class FindingKind {
  Race,              ///< two accesses to the same bytes, one a write, unordered
  UninitialisedRead, ///< a read of shared memory that no thread of the block wrote
  OutOfBounds,       ///< global memory outside of every registered range, a write
                     ///< to a read-only range, or shared memory beyond its size
  Misaligned,        ///< an address that is no multiple of the access's alignment
  DivergentBarrier,  ///< a barrier or warp operation that some thread misses
  Deadlock,          ///< no thread of a block can go on
  HelperMisuse,      ///< a hardware operation used against its rules
  Timeout,           ///< the run took longer than the launch allows
};

/// The name of \p kind as printed in reports, e.g. "out of bounds".
llvm::StringRef findingKindName(FindingKind kind);

/// One defect. The same defect at the same place is reported once and counted.
struct EmulatorFinding {
  FindingKind kind;
  std::string file; ///< from the module's debug information; empty without
  unsigned line = 0;
  unsigned column = 0;
  uint32_t block = 0;  ///< the first offender: linear block index …
  uint32_t thread = 0; ///< … and linear thread index in the block
  std::string text;    ///< one sentence, without location
  uint64_t count = 1;
};

/// Counters of one run.
struct EmulatorStatistics {
  uint64_t blocks = 0;
  uint64_t threads = 0;
  uint64_t switches = 0; ///< fiber switches
  double seconds = 0;
};

/// The result of a launch.
struct EmulatorReport {
  std::vector<EmulatorFinding> findings; ///< ordered by kind, then location
  EmulatorStatistics statistics;

  bool clean() const { return findings.empty(); }
  bool has(FindingKind kind) const;
  /// Prints `file:line:col: kind: text (block b, thread t; n times)` a line.
  void print(llvm::raw_ostream &os) const;
};

/// Memory that the kernel may touch. \p data must stay valid during the launch.
struct GlobalRange {
  void *data = nullptr;
  uint64_t size = 0; ///< bytes
  std::string name;  ///< for messages: the array's name
  bool writable = true;
  bool isConstant = false; ///< a constant of the module, which no other grid writes either
};

/// One launch. Parameters are the bytes of each PTX entry parameter, in order.
struct EmulatorLaunch {
  std::string symbol; ///< used by emulateLaunch only
  std::vector<std::vector<uint8_t>> parameters;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> threads = {1, 1, 1};
  uint32_t cluster = 1; ///< blocks per cluster, along grid[0], which is a multiple
  uint32_t sharedBytes = 0; ///< dynamic shared memory of a block
  std::vector<GlobalRange> globals;
  /// Launched while the grids ahead of it may still run (BuildInfo::awaitsGrids).
  bool awaitsGrids = false;
  bool checks = true; ///< used by emulateLaunch only: instrument the accesses
  /// Without a seed threads and blocks run in order; with one, in a random order
  /// that the seed determines.
  std::optional<uint64_t> seed;
  unsigned hostThreads = 0;    ///< 0: as many as the machine has
  double timeoutSeconds = 120; ///< a Timeout finding ends the run
  /// What the kernel's parameters name as the place of prints and assertions, if
  /// anything; one of `globals`.
  std::shared_ptr<DebugRing> debug;
  /// Where blocks add up, if they do so in memory (Workspace.h); one of `globals`.
  std::shared_ptr<uint8_t[]> workspace;
};

/// A kernel compiled for the host; serves any number of launches, also
/// concurrently.
class EmulatedKernel {
public:
  /// Compiles kernel \p symbol of \p module (which is left untouched). With
  /// \p checks memory accesses are instrumented. Fails with a message that names
  /// it when the module uses an operation that is not emulated.
  static llvm::Expected<EmulatedKernel>
  create(const llvm::Module &module, llvm::StringRef symbol, bool checks = true);

  EmulatedKernel(EmulatedKernel &&) noexcept;
  EmulatedKernel &operator=(EmulatedKernel &&) noexcept;
  ~EmulatedKernel();

  /// Runs the kernel. An Error means that the launch itself is impossible (wrong
  /// number or size of parameters, too many threads, too much shared memory).
  llvm::Expected<EmulatorReport> launch(const EmulatorLaunch &launch) const;

  /// Seconds spent rewriting and compiling.
  double compileSeconds() const;

private:
  struct Impl;
  explicit EmulatedKernel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// Compiles `launch.symbol` of \p module and runs it once.
llvm::Expected<EmulatorReport> emulateLaunch(const llvm::Module &module,
                                             const EmulatorLaunch &launch);

} // namespace tilec

#endif // TILEC_EMULATOR_EMULATOR_H
