//===- EmulatorTest.h - kernels in LLVM IR, and launches in one line -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: the text of a module (or a file under Inputs), and arrays. Out: reports.
//
//   auto kernel = load(text, "k");
//   EmulatorReport report = Launch(kernel).array(x, "x").scalar(n).run(grid, threads);
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_TEST_UNIT_EMULATOR_EMULATORTEST_H
#define TILEC_TEST_UNIT_EMULATOR_EMULATORTEST_H

#include "tilec/Emulator/Emulator.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <bit>
#include <cstring>

namespace tilec::test {

/// What every hand-written module begins with.
inline const char *const prologue = R"(
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
)";

inline std::string readInput(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFile(std::string(TILEC_EMULATOR_INPUTS) + "/" + file);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

inline llvm::Expected<EmulatedKernel> compile(const std::string &text,
                                              const std::string &symbol,
                                              bool checks = true) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseIR(llvm::MemoryBufferRef(text, "test"), diagnostic, context);
  if (!module) {
    std::string message;
    llvm::raw_string_ostream stream(message);
    diagnostic.print("test", stream);
    return llvm::createStringError(message);
  }
  return EmulatedKernel::create(*module, symbol, checks);
}

/// Compiles a kernel that must compile.
inline EmulatedKernel load(const std::string &text, const std::string &symbol,
                           bool checks = true) {
  auto kernel = compile(text, symbol, checks);
  if (!kernel) {
    ADD_FAILURE() << llvm::toString(kernel.takeError());
    std::abort();
  }
  return std::move(*kernel);
}

inline uint16_t toBFloat(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  return uint16_t((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}
inline float fromBFloat(uint16_t x) { return std::bit_cast<float>(uint32_t(x) << 16); }

/// Calls in \p function of functions whose name begins with \p prefix.
inline std::vector<llvm::CallInst *> callsIn(llvm::Function &function,
                                             llvm::StringRef prefix) {
  std::vector<llvm::CallInst *> result;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (call->getCalledFunction() &&
          call->getCalledFunction()->getName().starts_with(prefix))
        result.push_back(call);
  return result;
}

class Launch {
public:
  explicit Launch(const EmulatedKernel &kernel) : kernel(kernel) {}

  template <typename T> Launch &scalar(T value) {
    std::vector<uint8_t> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    launch.parameters.push_back(std::move(bytes));
    return *this;
  }
  template <typename T>
  Launch &array(std::vector<T> &data, const char *name, bool writable = true) {
    launch.globals.push_back({data.data(), data.size() * sizeof(T), name, writable});
    return scalar(data.data());
  }
  Launch &shared(uint32_t bytes) {
    launch.sharedBytes = bytes;
    return *this;
  }
  Launch &seed(uint64_t value) {
    launch.seed = value;
    return *this;
  }
  Launch &hostThreads(unsigned n) {
    launch.hostThreads = n;
    return *this;
  }
  Launch &timeout(double seconds) {
    launch.timeoutSeconds = seconds;
    return *this;
  }
  EmulatorReport run(uint32_t threads, uint32_t gridX = 1, uint32_t gridY = 1) {
    launch.threads = {threads, 1, 1};
    launch.grid = {gridX, gridY, 1};
    auto report = kernel.launch(launch);
    if (report)
      return std::move(*report);
    ADD_FAILURE() << llvm::toString(report.takeError());
    return {};
  }

  EmulatorLaunch launch;

private:
  const EmulatedKernel &kernel;
};

inline std::string text(const EmulatorReport &report) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  report.print(stream);
  return result;
}

/// The text with every \p from replaced; \p from must occur.
inline std::string mutate(std::string source, const std::string &from,
                          const std::string &to) {
  size_t at = source.find(from);
  EXPECT_NE(at, std::string::npos) << "nothing to mutate: " << from;
  for (; at != std::string::npos; at = source.find(from, at + to.size()))
    source.replace(at, from.size(), to);
  return source;
}

/// The text without the first line that holds \p part.
inline std::string without(const std::string &source, const std::string &part) {
  size_t at = source.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  size_t begin = source.rfind('\n', at) + 1, end = source.find('\n', at);
  return source.substr(0, begin) + source.substr(end + 1);
}

#define EXPECT_CLEAN(report) EXPECT_TRUE((report).clean()) << ::tilec::test::text(report)
#define EXPECT_FINDS(report, kind)                                                     \
  EXPECT_TRUE((report).has(::tilec::FindingKind::kind)) << ::tilec::test::text(report)

} // namespace tilec::test

#endif // TILEC_TEST_UNIT_EMULATOR_EMULATORTEST_H
