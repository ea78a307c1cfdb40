//===- AssembleCubin.cpp - run ptxas, or nvJitLink -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: PTX text. Out: cubin bytes and the assembler's report. AssembleCubin.h
// says which assembler is taken. ptxas reads and writes files: they are made in
// the system's temporary directory and removed whatever happens.
//===----------------------------------------------------------------------===//

#include "tilec/Target/AssembleCubin.h"
#include "NVJitLink.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
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

/// An empty temporary file that is removed at the end of its scope.
class TemporaryFile {
public:
  static Expected<TemporaryFile> create(StringRef suffix) {
    SmallString<128> path;
    if (std::error_code code = sys::fs::createTemporaryFile("tilec", suffix, path))
      return make_error<ExternalToolError>("cannot create a temporary file: " +
                                           code.message());
    return TemporaryFile(path);
  }
  StringRef path() const { return *name; }

  /// What the file holds now; empty when it cannot be read.
  std::string read() const {
    auto buffer = MemoryBuffer::getFile(*name, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/false);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }

private:
  explicit TemporaryFile(StringRef path)
      : name(std::make_unique<std::string>(path)),
        remover(std::make_unique<FileRemover>(Twine(path))) {}
  std::unique_ptr<std::string> name;
  std::unique_ptr<FileRemover> remover;
};

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

/// How many functions ptxas can work on at the same time: the builds of the kernels.
unsigned countEntries(StringRef ptx) { return std::min<size_t>(ptx.count("\n.visible .entry "), 8); }

/// The command line after the program's name. With several kernels ptxas is asked to
/// work on them side by side, which gives the same code in less time.
std::vector<std::string> ptxasArguments(StringRef ptx, const tilec::Chip &chip,
                                        const tilec::AssembleOptions &options, bool mayBeSplit) {
  std::vector<std::string> arguments = {"-v", "-arch=" + std::string(chip.name),
                                        "-O" + std::to_string(options.optLevel)};
  if (options.lineInfo)
    arguments.push_back("-lineinfo");
  if (mayBeSplit && countEntries(ptx) > 1)
    arguments.push_back("-split-compile=" + std::to_string(countEntries(ptx)));
  arguments.insert(arguments.end(), options.extraArguments.begin(),
                   options.extraArguments.end());
  return arguments;
}

Expected<tilec::Cubin> runPtxas(StringRef program, StringRef ptx,
                                const tilec::Chip &chip,
                                const tilec::AssembleOptions &options, bool mayBeSplit = true) {
  auto input = TemporaryFile::create("ptx");
  if (!input)
    return input.takeError();
  auto output = TemporaryFile::create("cubin");
  if (!output)
    return output.takeError();
  auto log = TemporaryFile::create("log");
  if (!log)
    return log.takeError();

  std::error_code code;
  raw_fd_ostream stream(input->path(), code);
  stream << ptx;
  stream.close();
  if (code || stream.has_error()) {
    stream.clear_error();
    return make_error<ExternalToolError>("cannot write '" + input->path().str() + "'");
  }

  std::vector<std::string> arguments = ptxasArguments(ptx, chip, options, mayBeSplit);
  arguments.insert(arguments.end(), {input->path().str(), "-o", output->path().str()});
  SmallVector<StringRef, 16> command = {program};
  command.append(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(), log->path(), log->path()};
  std::string reason;
  int status = sys::ExecuteAndWait(program, command, std::nullopt, redirects,
                                   /*SecondsToWait=*/0, /*MemoryLimit=*/0, &reason);
  std::string said = log->read();
  // Older ones do not know the option.
  if (status != 0 && mayBeSplit && StringRef(said).contains("split-compile"))
    return runPtxas(program, ptx, chip, options, /*mayBeSplit=*/false);
  if (status != 0)
    return make_error<ExternalToolError>(
        program.str() + " failed" +
            (reason.empty() ? " with exit code " + std::to_string(status)
                            : ": " + reason),
        said);

  tilec::Cubin cubin;
  cubin.image = output->read();
  if (cubin.image.empty())
    return make_error<ExternalToolError>(program.str() + " wrote no output", said);
  tilec::parseAssemblerLog(said, cubin);
  return cubin;
}

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

Expected<tilec::Cubin> tilec::assembleCubin(StringRef ptx, const Chip &chip,
                                            const AssembleOptions &options) {
  Expected<std::string> ptxas = findPtxas();
  if (!ptxas)
    return ptxas.takeError();
  if (!ptxas->empty())
    return runPtxas(*ptxas, ptx, chip, options);
  if (!describeNVJitLink().empty())
    return assembleByNVJitLink(ptx, chip, options);
  return noAssembler();
}
