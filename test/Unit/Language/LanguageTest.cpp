//===- LanguageTest.cpp - the cases of test/Language ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// One test for each case of each file of test/Language (CaseFile.h says how they are
// written): the kernel runs on the interpreter, by SIMT execution with several
// numbers of warps, and on the GPU where there is one. What comes out must be what
// the case says, bit for bit, where it gives no tolerance.
//
//===------------------------------------------------------------------------===//

#include "../Examples/KernelRunner.h"
#include "CaseFile.h"

#include "tilec/Support/Numerics.h"

#include "gtest/gtest.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <cstring>

using namespace tilec;
using namespace tilec::test;

namespace {

/// The memory of a case's arguments during a launch.
class Memory {
public:
  explicit Memory(const LanguageCase &test) : test(test) {
    for (const CaseArgument &argument : test.arguments) {
      auto &bytes = memory[argument.name];
      size_t width = dtypeBytes(argument.dtype);
      bytes.assign(std::max(argument.before.size(), argument.after.size()) * width, 0xff);
      for (size_t i = 0; i < argument.before.size(); ++i)
        if (argument.before[i])
          std::memcpy(&bytes[i * width], &*argument.before[i], width);
    }
  }

  std::vector<KernelArg> arguments() {
    std::vector<KernelArg> result;
    for (const CaseArgument &argument : test.arguments) {
      if (!argument.isArray) {
        result.push_back(ScalarArg{argument.dtype, argument.before.front().value_or(0)});
        continue;
      }
      auto &bytes = memory[argument.memoryOf.empty() ? argument.name : argument.memoryOf];
      ArrayArg array = ArrayArg::rowMajor(bytes.data() + size_t(argument.offset) * dtypeBytes(argument.dtype),
                                          argument.dtype, argument.dims.data(), int(argument.dims.size()));
      std::copy(argument.strides.begin(), argument.strides.end(), array.strides);
      result.push_back(array);
    }
    return result;
  }

  /// Compares with what the case expects.
  void check() {
    for (const CaseArgument &argument : test.arguments) {
      if (!argument.isArray)
        continue;
      const auto &wanted = argument.after.empty() ? argument.before : argument.after;
      const auto &bytes = memory[argument.memoryOf.empty() ? argument.name : argument.memoryOf];
      size_t width = dtypeBytes(argument.dtype);
      int reported = 0;
      for (size_t i = 0; i < wanted.size() && reported < 4; ++i) {
        uint64_t word = 0;
        std::memcpy(&word, &bytes[i * width], width);
        if (argument.dtype != DType::Bool)
          word = numerics::normalize(argument.dtype, word);
        if (!wanted[i] || isRight(argument, word, *wanted[i]))
          continue;
        ADD_FAILURE() << argument.name << "[" << i << "] in memory is " << show(argument.dtype, word)
                      << ", expected " << show(argument.dtype, *wanted[i]);
        ++reported;
      }
    }
  }

private:
  static bool isRight(const CaseArgument &argument, uint64_t word, uint64_t wanted) {
    if (!isFloat(argument.dtype))
      return word == wanted;
    if (numerics::isNaN(argument.dtype, wanted))
      return numerics::isNaN(argument.dtype, word);
    double got = numerics::decode(argument.dtype, word), want = numerics::decode(argument.dtype, wanted);
    return word == wanted || std::fabs(got - want) <= argument.tolerance * std::fabs(want);
  }

  static std::string show(DType dtype, uint64_t word) {
    if (!isFloat(dtype))
      return isUnsigned(dtype) || dtype == DType::Bool ? std::to_string(word) : std::to_string(int64_t(word));
    char text[40];
    std::snprintf(text, sizeof(text), "%.9g", numerics::decode(dtype, word));
    return text;
  }

  const LanguageCase &test;
  std::map<std::string, std::vector<uint8_t>> memory;
};

class LanguageTest : public testing::Test {
public:
  explicit LanguageTest(const LanguageCase &test) : test(test) {}

  void TestBody() override {
    if (!test.errors.empty())
      return checkErrors();
    for (Executor executor : availableExecutors()) {
      bool isPlain = true; // the GPU's memory is copied array by array
      for (const CaseArgument &argument : test.arguments)
        isPlain &= argument.memoryOf.empty() && argument.strides.empty() && !argument.offset;
      if (executor == Executor::Interpreter)
        run(executor, 0);
      else if (!test.isInterpreterOnly && (executor == Executor::SIMT || isPlain))
        for (unsigned warps : test.warps)
          run(executor, warps);
      if (HasFailure())
        return;
    }
  }

private:
  void run(Executor executor, unsigned warps) {
    SCOPED_TRACE(std::string(executorName(executor)) + ", warps " + std::to_string(warps));
    CompileOptions options;
    options.defines = test.defines;
    options.numWarps = warps;
    KernelRunner runner(KernelRunner::Text{test.name + ".tile", test.source}, options);
    for (unsigned i = 0; i < test.repeat && !HasFailure(); ++i) {
      Memory memory(test);
      std::string error = runner.run(executor, memory.arguments(), test.grid);
      if (test.refused.empty())
        EXPECT_TRUE(error.empty()) << error;
      else
        EXPECT_NE(error.find(test.refused), std::string::npos) << "refused with: " << error;
      if (error.empty())
        memory.check();
    }
  }

  void checkErrors() {
    CompileOptions options;
    options.defines = test.defines;
    KernelRunner runner(KernelRunner::Text{test.name + ".tile", test.source}, options);
    std::string messages = runner.compileOnly();
    for (const std::string &error : test.errors)
      EXPECT_NE(messages.find(error), std::string::npos) << "no `" << error << "` in:\n" << messages;
    EXPECT_EQ(messages.find("internal error"), std::string::npos) << messages;
  }

  const LanguageCase &test;
};

/// A name that a filter can have.
std::string testName(llvm::StringRef text) {
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) ? c : '_';
  return name;
}

int registerFile(const std::string &path) {
  auto cases = readCases(path);
  std::string suite = testName(llvm::sys::path::stem(path));
  if (!cases) {
    std::fprintf(stderr, "%s\n", cases.failure().message.c_str());
    std::exit(1);
  }
  static std::vector<std::unique_ptr<std::vector<LanguageCase>>> kept;
  kept.push_back(std::make_unique<std::vector<LanguageCase>>(std::move(*cases)));
  for (const LanguageCase &test : *kept.back())
    testing::RegisterTest(suite.c_str(), testName(test.name).c_str(), nullptr, nullptr, path.c_str(), 1,
                          [&test]() -> testing::Test * { return new LanguageTest(test); });
  return int(kept.back()->size());
}

/// Before main, as gtest's own tests are.
[[maybe_unused]] const int numCases = [] {
  int count = 0;
  std::error_code error;
  std::vector<std::string> paths;
  for (llvm::sys::fs::directory_iterator it(sourceFolder("test/Language"), error), end; !error && it != end; it.increment(error))
    if (llvm::StringRef(it->path()).ends_with(".tile"))
      paths.push_back(it->path());
  std::sort(paths.begin(), paths.end());
  for (const std::string &path : paths)
    count += registerFile(path);
  return count;
}();

TEST(LanguageCases, WereFound) { EXPECT_GT(numCases, 100); }

} // namespace
