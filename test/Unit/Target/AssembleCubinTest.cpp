//===- AssembleCubinTest.cpp - the assembler and its report ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tilec/Target/AssembleCubin.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tilec;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr llvm::StringLiteral kernel = R"(
.version 8.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  st.global.u64 [%rd1], %rd1;
  ret;
}
)";

/// Sets an environment variable for one scope.
class Environment {
public:
  Environment(const char *name, const char *value) : name(name) {
    if (const char *old = getenv(name))
      before = old;
    setenv(name, value, 1);
  }
  ~Environment() {
    if (before)
      setenv(name, before->c_str(), 1);
    else
      unsetenv(name);
  }

private:
  const char *name;
  std::optional<std::string> before;
};

std::string messageOf(llvm::Error error) {
  std::string text;
  llvm::handleAllErrors(std::move(error), [&](const ExternalToolError &tool) {
    text = tool.getMessage() + "|" + tool.getToolLog();
  });
  return text;
}

const Chip &sm80() { return *findChip("sm_80"); }

/// What `cubin` holds; a failed test and nothing where it is an error.
std::string imageOf(llvm::Expected<Cubin> cubin) {
  if (cubin)
    return cubin->image;
  ADD_FAILURE() << messageOf(cubin.takeError());
  return "";
}

/// The message where `cubin` is an error; a failed test where it is none.
std::string failureOf(llvm::Expected<Cubin> cubin) {
  if (!cubin)
    return messageOf(cubin.takeError());
  ADD_FAILURE() << "assembled";
  return "";
}

/// A shell script that stands for ptxas.
class FakeAssembler {
public:
  explicit FakeAssembler(llvm::StringRef body) {
    int descriptor;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("ptxas", "sh", descriptor, path));
    llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
    os << "#!/bin/sh\n" << body << "\n";
    os.close();
    llvm::sys::fs::setPermissions(path, llvm::sys::fs::perms::all_all);
  }
  ~FakeAssembler() { llvm::sys::fs::remove(path); }
  const char *c_str() { return path.c_str(); }

private:
  llvm::SmallString<128> path;
};

TEST(AssemblerLog, NumbersByKernel) {
  Cubin cubin;
  parseAssemblerLog(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90a'
ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to x in function 'first'
ptxas info    : Function properties for first
    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 8 bytes cumulative stack size, 1024 bytes smem
ptxas info    : Compile time = 53.975 ms
ptxas info    : Compiling entry function 'second' for 'sm_90a'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas warning : something odd
)",
                    cubin);
  ASSERT_EQ(cubin.kernels.size(), 2u);
  const KernelResources &first = cubin.kernels[0];
  EXPECT_EQ(first.kernel, "first");
  EXPECT_EQ(first.registers, 168u);
  EXPECT_EQ(first.stack, 8u);
  EXPECT_EQ(first.spillStores, 12u);
  EXPECT_EQ(first.spillLoads, 16u);
  EXPECT_EQ(first.staticShared, 1024u);
  EXPECT_EQ(first.barriers, 1u);
  EXPECT_EQ(cubin.kernels[1].registers, 8u);
  EXPECT_THAT(cubin.messages, ElementsAre(HasSubstr("C7511"), HasSubstr("something odd")));
}

TEST(AssembleCubin, AMissingProgramIsNamed) {
  Environment scope("TILEC_PTXAS", "/nowhere/ptxas");
  EXPECT_THAT(failureOf(assembleCubin(kernel, sm80())),
              HasSubstr("TILEC_PTXAS names '/nowhere/ptxas', which is not an executable"));
}

TEST(AssembleCubin, AFailingProgramsWordsAreKept) {
  FakeAssembler fake("echo 'line 3; fatal : bad' >&2; exit 255");
  Environment scope("TILEC_PTXAS", fake.c_str());
  std::string text = failureOf(assembleCubin(kernel, sm80()));
  EXPECT_THAT(text, HasSubstr("failed with exit code 255"));
  EXPECT_THAT(text, HasSubstr("line 3; fatal : bad"));
}

TEST(AssembleCubin, AProgramThatDiesByASignalIsAnError) {
  FakeAssembler fake("kill -SEGV $$");
  Environment scope("TILEC_PTXAS", fake.c_str());
  EXPECT_THAT(failureOf(assembleCubin(kernel, sm80())), HasSubstr("failed"));
}

TEST(AssembleCubin, NoOutputIsAnError) {
  FakeAssembler fake("exit 0");
  Environment scope("TILEC_PTXAS", fake.c_str());
  EXPECT_THAT(failureOf(assembleCubin(kernel, sm80())), HasSubstr("wrote no output"));
}

TEST(AssembleCubin, ArgumentsAndTemporaryFiles) {
  // The stand-in writes its arguments as the "cubin".
  FakeAssembler fake("for a; do last=$prev; prev=$a; done; echo \"$@\" > \"$prev\"");
  Environment scope("TILEC_PTXAS", fake.c_str());
  AssembleOptions options;
  options.optLevel = 1;
  options.extraArguments = {"--warn-on-spills"};
  auto cubin = assembleCubin(kernel, sm80(), options);
  ASSERT_TRUE(bool(cubin)) << messageOf(cubin.takeError());
  EXPECT_THAT(cubin->image, HasSubstr("-v -arch=sm_80 -O1 -lineinfo --warn-on-spills "));
  llvm::StringRef output = llvm::StringRef(cubin->image).rtrim().rsplit(' ').second;
  EXPECT_FALSE(llvm::sys::fs::exists(output));
}

TEST(AssembleCubin, SeveralKernelsSideBySide) {
  FakeAssembler fake("for a; do prev=$a; done; echo \"$@\" > \"$prev\"");
  Environment scope("TILEC_PTXAS", fake.c_str());
  std::string two = std::string(kernel) + "\n.visible .entry k2()\n{\n\tret;\n}\n";
  EXPECT_THAT(imageOf(assembleCubin(two, sm80())), HasSubstr("-split-compile=2 "));
  auto one = assembleCubin(kernel, sm80());
  ASSERT_TRUE(bool(one)) << messageOf(one.takeError());
  EXPECT_EQ(one->image.find("split-compile"), std::string::npos);
}

TEST(AssembleCubin, OlderProgramsThatCannotWorkSideBySide) {
  FakeAssembler fake("case \"$*\" in *split-compile*) echo \"ptxas fatal : Unknown option '-split-compile'\"; exit 1;; esac\n"
                     "for a; do prev=$a; done; echo \"$@\" > \"$prev\"");
  Environment scope("TILEC_PTXAS", fake.c_str());
  std::string two = std::string(kernel) + "\n.visible .entry k2()\n{\n\tret;\n}\n";
  EXPECT_THAT(imageOf(assembleCubin(two, sm80())), HasSubstr("-v -arch=sm_80 "));
}

TEST(AssembleCubin, TheLibraryWhereThereIsNoProgram) {
  Environment scope("TILEC_PTXAS", "none");
  auto description = describeAssembler();
  if (!description) {
    EXPECT_THAT(messageOf(description.takeError()), HasSubstr("no assembler for PTX"));
    GTEST_SKIP() << "no libnvJitLink on this machine";
  }
  EXPECT_THAT(*description, HasSubstr("nvJitLink"));
  auto cubin = assembleCubin(kernel, sm80());
  ASSERT_TRUE(bool(cubin)) << messageOf(cubin.takeError());
  EXPECT_EQ(cubin->image.substr(1, 3), "ELF");
  EXPECT_THAT(failureOf(assembleCubin("this is not PTX", sm80())), HasSubstr("nvJitLink failed"));
}

TEST(AssembleCubin, RealAssembler) {
  auto description = describeAssembler();
  if (!description) {
    llvm::consumeError(description.takeError());
    GTEST_SKIP() << "no assembler on this machine";
  }
  auto cubin = assembleCubin(kernel, sm80());
  ASSERT_TRUE(bool(cubin)) << messageOf(cubin.takeError());
  EXPECT_EQ(cubin->image.substr(1, 3), "ELF");
  ASSERT_EQ(cubin->kernels.size(), 1u);
  EXPECT_EQ(cubin->kernels[0].kernel, "k");

  EXPECT_NE(failureOf(assembleCubin("this is not PTX", sm80())), "");
}

//===-- An assembler that waits for its input --------------------------------------===//

/// A stand-in's first words: `in` and `out` are the last arguments.
#define FILES "for a; do out=$a; done; in=$(for a; do [ \"$a\" = -o ] && echo \"$p\"; p=$a; done)\n"

TEST(WaitingAssembler, ReadsTheWholeText) {
  FakeAssembler fake(FILES "cat \"$in\" \"$in\" > \"$out\"");
  Environment scope("TILEC_PTXAS", fake.c_str());
  // More than a pipe holds, and read twice.
  std::string text(300000, 'x');
  Assembler assembler(sm80(), {});
  EXPECT_EQ(imageOf(assembler.assemble(text)), text + text);
}

TEST(WaitingAssembler, NeedNotRead) {
  FakeAssembler fake(FILES "echo \"$@\" > \"$out\"");
  Environment scope("TILEC_PTXAS", fake.c_str());
  AssembleOptions options;
  options.optLevel = 1;
  Assembler assembler(sm80(), options, /*entries=*/3);
  EXPECT_THAT(imageOf(assembler.assemble(std::string(300000, 'x'))), HasSubstr("-v -arch=sm_80 -O1 -lineinfo -split-compile=3 "));
}

TEST(WaitingAssembler, MayReadLate) {
  FakeAssembler fake(FILES "sleep 0.2; cat \"$in\" > \"$out\"");
  Environment scope("TILEC_PTXAS", fake.c_str());
  std::string text(300000, 'x');
  Assembler assembler(sm80(), {});
  EXPECT_EQ(imageOf(assembler.assemble(text)), text);
}

TEST(WaitingAssembler, WhatCannotReadAPipeGetsAFile) {
  FakeAssembler fake(FILES "[ -f \"$in\" ] || exit 1; cat \"$in\" > \"$out\"");
  Environment scope("TILEC_PTXAS", fake.c_str());
  Assembler assembler(sm80(), {});
  usleep(100000); // it has ended
  EXPECT_EQ(imageOf(assembler.assemble(kernel)), kernel);
}

TEST(WaitingAssembler, FailsAsTheOtherDoes) {
  FakeAssembler fake(FILES "cat \"$in\" > /dev/null; echo 'line 3; fatal : bad' >&2; exit 255");
  Environment scope("TILEC_PTXAS", fake.c_str());
  Assembler assembler(sm80(), {});
  EXPECT_THAT(failureOf(assembler.assemble(kernel)), HasSubstr("failed with exit code 255|line 3; fatal : bad"));
  Environment none("TILEC_PTXAS", "/nowhere/ptxas");
  EXPECT_THAT(failureOf(Assembler(sm80(), {}).assemble(kernel)), HasSubstr("is not an executable"));
}

TEST(WaitingAssembler, EndsWhenItIsNotNeeded) {
  FakeAssembler fake(FILES "echo $$ > \"$0.pid\"; exec cat \"$in\"");
  Environment scope("TILEC_PTXAS", fake.c_str());
  std::string pidFile = std::string(fake.c_str()) + ".pid";
  {
    Assembler assembler(sm80(), {});
    for (int i = 0; i < 500 && access(pidFile.c_str(), R_OK) != 0; ++i)
      usleep(10000);
  }
  std::ifstream in(pidFile);
  pid_t pid = 0;
  EXPECT_TRUE(in >> pid);
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
  llvm::sys::fs::remove(pidFile);
}

TEST(WaitingAssembler, RealAssembler) {
  if (!hasAssembler())
    GTEST_SKIP() << "no assembler on this machine";
  Assembler assembler(sm80(), {});
  auto cubin = assembler.assemble(kernel);
  ASSERT_TRUE(bool(cubin)) << messageOf(cubin.takeError());
  auto other = assembleCubin(kernel, sm80());
  ASSERT_TRUE(bool(other)) << messageOf(other.takeError());
  EXPECT_EQ(cubin->image, other->image);
  ASSERT_EQ(cubin->kernels.size(), 1u);
  EXPECT_EQ(cubin->kernels[0].registers, other->kernels[0].registers);
}

} // namespace
