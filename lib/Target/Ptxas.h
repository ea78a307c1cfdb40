//===- Ptxas.h - ptxas as a process -----------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_TARGET_PTXAS_H
#define TILEC_LIB_TARGET_PTXAS_H

#include "tilec/Target/AssembleCubin.h"

#include "llvm/Support/Program.h"

#include <memory>

namespace tilec {

/// Runs `program` on the text of `entries` kernels and waits for it.
llvm::Expected<Cubin> runPtxas(llvm::StringRef program, llvm::StringRef ptx, const Chip &chip,
                               const AssembleOptions &options, unsigned entries);

/// An empty temporary file that is removed at the end of its scope.
class TemporaryFile {
public:
  static llvm::Expected<TemporaryFile> create(llvm::StringRef suffix);
  TemporaryFile(TemporaryFile &&) = default;
  ~TemporaryFile();
  llvm::StringRef path() const { return *name; }

  /// What the file holds now; empty when it cannot be read.
  std::string read() const;
  llvm::Error write(llvm::StringRef text) const;

private:
  explicit TemporaryFile(llvm::StringRef path) : name(std::make_unique<std::string>(path)) {}
  std::unique_ptr<std::string> name;
};

/// A ptxas that was started before its input is there: its first 12 ms pass meanwhile.
class WaitingPtxas {
public:
  /// Null where it cannot be started.
  static std::unique_ptr<WaitingPtxas> start(llvm::StringRef program, const Chip &chip,
                                             const AssembleOptions &options, unsigned entries);
  ~WaitingPtxas();
  /// Hands the text over and waits; nothing where it failed in any way. Once.
  std::optional<Cubin> finish(llvm::StringRef ptx);

private:
  WaitingPtxas(TemporaryFile input, TemporaryFile output, TemporaryFile log)
      : input(std::move(input)), output(std::move(output)), log(std::move(log)) {}
  bool handOver(llvm::StringRef ptx);

  TemporaryFile input, output, log;
  llvm::sys::ProcessInfo process; ///< no pid: it has ended
  int pipe = -1;                  ///< keeps `input` from ending
};

} // namespace tilec

#endif // TILEC_LIB_TARGET_PTXAS_H
