//===- Ptxas.cpp - ptxas as a process ---------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// ptxas reads and writes files: they are made in the system's temporary directory
// and removed whatever happens.
//
// It takes 12 ms before it opens its input, which a compiler has better use for. So it
// can be started on a named pipe:
//
//   compiler                               ptxas
//   makes the pipe, opens both ends        starts, opens the path, and waits in a read
//   … compiles …
//   puts the finished text as a file in the pipe's place, for those who open it now
//   writes the text into the pipe, closes  reads to the end, opens the path once more
//
// Ends the compiler, whatever way, the pipe ends too, and ptxas with an error. What fails
// like this for any reason is assembled from a file again, so that messages are the
// same, and programs that stand for ptxas may read as they like.
//===----------------------------------------------------------------------===//

#include "Ptxas.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace tilec {

//===-- Files -----------------------------------------------------------------===//

Expected<TemporaryFile> TemporaryFile::create(StringRef suffix) {
  SmallString<128> path;
  if (std::error_code code = sys::fs::createTemporaryFile("tilec", suffix, path))
    return make_error<ExternalToolError>("cannot create a temporary file: " + code.message());
  return TemporaryFile(path);
}

TemporaryFile::~TemporaryFile() {
  if (name)
    unlink(name->c_str());
}

std::string TemporaryFile::read() const {
  auto buffer = MemoryBuffer::getFile(*name, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

Error TemporaryFile::write(StringRef text) const {
  std::error_code code;
  raw_fd_ostream stream(*name, code);
  stream << text;
  stream.close();
  if (!code && !stream.has_error())
    return Error::success();
  stream.clear_error();
  return make_error<ExternalToolError>("cannot write '" + *name + "'");
}

//===-- One run ---------------------------------------------------------------===//

/// The command line. With several kernels ptxas is asked to work on them side by side,
/// which gives the same code in less time.
static std::vector<std::string> commandLine(StringRef program, const Chip &chip,
                                            const AssembleOptions &options, unsigned entries,
                                            StringRef input, StringRef output) {
  constexpr unsigned mostThreads = 8;
  std::vector<std::string> words = {program.str(), "-v", "-arch=" + std::string(chip.name),
                                    "-O" + std::to_string(options.optLevel)};
  if (options.lineInfo)
    words.push_back("-lineinfo");
  if (entries > 1)
    words.push_back("-split-compile=" + std::to_string(std::min(entries, mostThreads)));
  words.insert(words.end(), options.extraArguments.begin(), options.extraArguments.end());
  words.insert(words.end(), {input.str(), "-o", output.str()});
  return words;
}

Expected<Cubin> runPtxas(StringRef program, StringRef ptx, const Chip &chip,
                         const AssembleOptions &options, unsigned entries) {
  auto input = TemporaryFile::create("ptx");
  if (!input)
    return input.takeError();
  auto output = TemporaryFile::create("cubin");
  if (!output)
    return output.takeError();
  auto log = TemporaryFile::create("log");
  if (!log)
    return log.takeError();
  if (Error error = input->write(ptx))
    return error;

  std::vector<std::string> words =
      commandLine(program, chip, options, entries, input->path(), output->path());
  std::vector<StringRef> command(words.begin(), words.end());
  std::optional<StringRef> redirects[] = {StringRef(), log->path(), log->path()};
  std::string reason;
  int status = sys::ExecuteAndWait(program, command, std::nullopt, redirects,
                                   /*SecondsToWait=*/0, /*MemoryLimit=*/0, &reason);
  std::string said = log->read();
  // Older ones do not know the option.
  if (status != 0 && entries > 1 && StringRef(said).contains("split-compile"))
    return runPtxas(program, ptx, chip, options, /*entries=*/1);
  if (status != 0)
    return make_error<ExternalToolError>(
        program.str() + " failed" +
            (reason.empty() ? " with exit code " + std::to_string(status) : ": " + reason),
        said);

  Cubin cubin;
  cubin.image = output->read();
  if (cubin.image.empty())
    return make_error<ExternalToolError>(program.str() + " wrote no output", said);
  parseAssemblerLog(said, cubin);
  return cubin;
}

//===-- One that waits --------------------------------------------------------===//

std::unique_ptr<WaitingPtxas> WaitingPtxas::start(StringRef program, const Chip &chip,
                                                  const AssembleOptions &options,
                                                  unsigned entries) {
  auto input = TemporaryFile::create("ptx");
  auto output = TemporaryFile::create("cubin");
  auto log = TemporaryFile::create("log");
  if (!input || !output || !log) {
    for (auto *file : {&input, &output, &log})
      if (!*file)
        consumeError(file->takeError());
    return nullptr;
  }
  std::unique_ptr<WaitingPtxas> waiting(
      new WaitingPtxas(std::move(*input), std::move(*output), std::move(*log)));
  const char *path = waiting->input.path().data();
  if (unlink(path) != 0 || mkfifo(path, 0600) != 0)
    return nullptr;
  waiting->pipe = open(path, O_RDWR | O_CLOEXEC);
  if (waiting->pipe < 0)
    return nullptr;
  std::vector<std::string> words = commandLine(program, chip, options, entries, path,
                                               waiting->output.path());
  std::vector<StringRef> command(words.begin(), words.end());
  std::optional<StringRef> redirects[] = {StringRef(), waiting->log.path(), waiting->log.path()};
  waiting->process = sys::ExecuteNoWait(program, command, std::nullopt, redirects);
  return waiting->process.Pid == sys::ProcessInfo::InvalidPid ? nullptr : std::move(waiting);
}

WaitingPtxas::~WaitingPtxas() {
  if (pipe >= 0)
    close(pipe);
  if (process.Pid == sys::ProcessInfo::InvalidPid)
    return;
  kill(process.Pid, SIGKILL);
  sys::Wait(process, std::nullopt);
}

/// Writes all of `text`, which nobody may read any more: then the signal that comes with
/// it is taken back, as the rest of the program may do anything with it.
static void writeToPipe(int pipe, StringRef text) {
  sigset_t broken, before;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  while (!text.empty()) {
    ssize_t written = ::write(pipe, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      break;
    text = text.drop_front(size_t(written));
  }
  if (!text.empty()) {
    timespec now{};
    sigtimedwait(&broken, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool WaitingPtxas::handOver(StringRef ptx) {
  auto text = TemporaryFile::create("ptx");
  if (!text) {
    consumeError(text.takeError());
    return false;
  }
  if (Error error = text->write(ptx)) {
    consumeError(std::move(error));
    return false;
  }
  const char *path = input.path().data();
  int end = open(path, O_WRONLY | O_CLOEXEC);
  close(pipe); // from here on nobody reads but ptxas, if it has opened the path
  pipe = -1;
  if (end < 0)
    return false;
  bool isThere = rename(text->path().data(), path) == 0;
  if (isThere)
    writeToPipe(end, ptx);
  close(end);
  return isThere;
}

std::optional<Cubin> WaitingPtxas::finish(StringRef ptx) {
  if (!handOver(ptx))
    return std::nullopt;
  sys::ProcessInfo ended = sys::Wait(process, std::nullopt);
  process.Pid = sys::ProcessInfo::InvalidPid;
  if (ended.ReturnCode != 0)
    return std::nullopt;
  Cubin cubin;
  cubin.image = output.read();
  if (cubin.image.empty())
    return std::nullopt;
  parseAssemblerLog(log.read(), cubin);
  return cubin;
}

} // namespace tilec
