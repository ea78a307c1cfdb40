//===- AssembleCubin.cpp - run ptxas, or nvJitLink -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: PTX text. Out: cubin bytes and the assembler's report. AssembleCubin.h
// says which assembler is taken.
//===----------------------------------------------------------------------===//

#include "tilec/Target/AssembleCubin.h"
#include "NVJitLink.h"
#include "Ptxas.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

char tilec::ExternalToolError::ID = 0;

void tilec::ExternalToolError::log(raw_ostream &os) const {
  os << message;
  if (!toolLog.empty())
    os << "\n" << StringRef(toolLog).rtrim();
}

std::error_code tilec::ExternalToolError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

namespace {

using tilec::ExternalToolError;

/// The path of ptxas; empty when the machine has none.
Expected<std::string> findPtxas() {
  if (std::optional<std::string> chosen = sys::Process::GetEnv("TILEC_PTXAS")) {
    if (*chosen == "none")
      return std::string();
    ErrorOr<std::string> path = sys::findProgramByName(*chosen);
    if (path && sys::fs::can_execute(*path))
      return *path;
    return make_error<ExternalToolError>(
        "TILEC_PTXAS names '" + *chosen + "', which is not an executable file");
  }
  if (ErrorOr<std::string> path = sys::findProgramByName("ptxas"))
    return *path;
  SmallVector<std::string, 2> homes;
  if (std::optional<std::string> home = sys::Process::GetEnv("CUDA_HOME"))
    homes.push_back(*home);
  homes.push_back("/usr/local/cuda");
  for (StringRef home : homes) {
    SmallString<128> directory(home);
    sys::path::append(directory, "bin");
    if (ErrorOr<std::string> path = sys::findProgramByName("ptxas", {directory}))
      return *path;
  }
  return std::string();
}

Error noAssembler() {
  return make_error<ExternalToolError>(
      "no assembler for PTX: neither ptxas (on PATH, in $CUDA_HOME/bin, in "
      "/usr/local/cuda/bin) nor libnvJitLink was found; emit PTX instead, which "
      "the driver assembles when it is loaded");
}

/// The kernels, on which an assembler can work at the same time.
unsigned countEntries(StringRef ptx) { return unsigned(ptx.count("\n.visible .entry ")); }

} // namespace

Expected<std::string> tilec::describeAssembler() {
  Expected<std::string> ptxas = findPtxas();
  if (!ptxas)
    return ptxas.takeError();
  if (ptxas->empty()) {
    std::string library = describeNVJitLink();
    return library.empty() ? Expected<std::string>(noAssembler()) : library;
  }
  auto log = TemporaryFile::create("log");
  if (!log)
    return log.takeError();
  StringRef command[] = {*ptxas, "--version"};
  std::optional<StringRef> redirects[] = {StringRef(), log->path(), log->path()};
  if (sys::ExecuteAndWait(*ptxas, command, std::nullopt, redirects) != 0)
    return make_error<ExternalToolError>(*ptxas + " --version failed", log->read());
  // "Cuda compilation tools, release 13.0, V13.0.88"
  std::string said = log->read();
  StringRef version = StringRef(said).split(", V").second.take_until(
      [](char c) { return c == '\n' || c == '\r'; });
  return "ptxas " + version.str() + " (" + *ptxas + ")";
}

std::string tilec::identifyAssembler() {
  Expected<std::string> ptxas = findPtxas();
  if (!ptxas) {
    consumeError(ptxas.takeError());
    return {};
  }
  if (ptxas->empty())
    return describeNVJitLink();
  sys::fs::file_status status;
  if (sys::fs::status(*ptxas, status))
    return *ptxas;
  return *ptxas + " " + std::to_string(status.getSize()) + " " +
         std::to_string(status.getLastModificationTime().time_since_epoch().count());
}

bool tilec::hasAssembler() { return !identifyAssembler().empty(); }

Expected<tilec::Cubin> tilec::assembleCubin(StringRef ptx, const Chip &chip,
                                            const AssembleOptions &options) {
  Expected<std::string> ptxas = findPtxas();
  if (!ptxas)
    return ptxas.takeError();
  if (!ptxas->empty())
    return runPtxas(*ptxas, ptx, chip, options, countEntries(ptx));
  if (!describeNVJitLink().empty())
    return assembleByNVJitLink(ptx, chip, options);
  return noAssembler();
}

tilec::Assembler::Assembler(const Chip &chip, AssembleOptions options, unsigned entries)
    : chip(chip), options(std::move(options)) {
  Expected<std::string> ptxas = findPtxas();
  if (!ptxas)
    consumeError(ptxas.takeError()); // assemble() says so
  else if (!ptxas->empty())
    waiting = WaitingPtxas::start(*ptxas, chip, this->options, entries);
}

tilec::Assembler::~Assembler() = default;

Expected<tilec::Cubin> tilec::Assembler::assemble(StringRef ptx) {
  if (waiting)
    if (std::optional<Cubin> cubin = waiting->finish(ptx))
      return std::move(*cubin);
  return assembleCubin(ptx, chip, options);
}
