//===- CompiledKernelTest.cpp - broken compiled kernels must be found out -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// The softmax example, compiled as for a GPU, runs clean and right. Then its LLVM
// module is broken the way a compiler bug would break it: each barrier removed, the
// mask of each shuffle halved, each bound moved by one. Every one must be reported.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"

#include "tilec/Compiler/Compiler.h"
#include "tilec/Emulator/Plan.h"
#include "tilec/Frontend/Diagnostics.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

namespace {

class CompiledKernel : public ::testing::Test {
protected:
  static constexpr int rows = 3, columns = 1000;

  void SetUp() override {
    CompileOptions options;
    options.onlyGeneralBuild = true;
    options.numWarps = 4;
    Compilation compilation(options);
    compilation.loadFile(TILEC_EXAMPLES "/softmax.tile");
    auto compiled = compilation.compileFor(*findChip("sm_80"), Stage::LLVM);
    if (!compiled) {
      TextDiagnosticPrinter printer(compilation.sources(), llvm::errs(), false);
      compilation.printDiagnostics(printer);
      FAIL() << "softmax.tile does not compile: " << compilation.internalError();
    }
    code = std::make_unique<ChipCode>(std::move(*compiled));
    ASSERT_EQ(code->kernels.size(), 1u);
    input.resize(rows * columns);
    for (int i = 0; i < rows * columns; ++i)
      input[i] = toBFloat(float(i * 37 % 101) / 20 - 2);
  }

  std::unique_ptr<llvm::Module> module() { return llvm::CloneModule(*code->llvmModule); }

  EmulatorReport run(const llvm::Module &module, std::vector<uint16_t> &output) {
    const KernelInfo &info = code->kernels[0];
    std::vector<KernelArg> args = {
        ArrayArg::rowMajor(input.data(), DType::BF16, {rows, columns}),
        ArrayArg::rowMajor(output.data(), DType::BF16, {rows, columns})};
    auto plan = planLaunch(info, args);
    if (!plan) {
      ADD_FAILURE() << plan.failure().message;
      return {};
    }
    auto report = emulateLaunch(module, makeEmulatorLaunch(info, *plan, args));
    if (report)
      return std::move(*report);
    ADD_FAILURE() << llvm::toString(report.takeError());
    return {};
  }
  EmulatorReport run(const llvm::Module &module) {
    std::vector<uint16_t> output(rows * columns);
    return run(module, output);
  }

  /// Calls in \p module of intrinsics whose name begins with \p prefix.
  static std::vector<llvm::CallInst *> calls(llvm::Module &module, llvm::StringRef prefix) {
    std::vector<llvm::CallInst *> result;
    for (llvm::Function &function : module)
      llvm::append_range(result, callsIn(function, prefix));
    return result;
  }

  std::unique_ptr<ChipCode> code;
  std::vector<uint16_t> input;
};

} // namespace

TEST_F(CompiledKernel, RunsCleanAndRight) {
  std::vector<uint16_t> output(rows * columns);
  EXPECT_CLEAN(run(*module(), output));
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < columns; ++c)
      sum += std::exp(double(fromBFloat(input[r * columns + c])));
    for (int c = 0; c < columns; ++c) {
      double expected = std::exp(double(fromBFloat(input[r * columns + c]))) / sum;
      ASSERT_NEAR(fromBFloat(output[r * columns + c]), expected, expected / 128);
    }
  }
}

TEST_F(CompiledKernel, EveryRemovedBarrierIsReported) {
  auto count = calls(*module(), "llvm.nvvm.barrier").size();
  ASSERT_GT(count, 0u);
  for (size_t i = 0; i < count; ++i) {
    auto broken = module();
    calls(*broken, "llvm.nvvm.barrier")[i]->eraseFromParent();
    EmulatorReport report = run(*broken);
    EXPECT_TRUE(report.has(FindingKind::Race) ||
                report.has(FindingKind::UninitialisedRead))
        << "barrier " << i << ": " << text(report);
    for (const EmulatorFinding &finding : report.findings)
      EXPECT_NE(finding.file.find("softmax.tile"), std::string::npos);
  }
}

TEST_F(CompiledKernel, EveryWrongShuffleMaskIsReported) {
  auto count = calls(*module(), "llvm.nvvm.shfl.sync").size();
  ASSERT_GT(count, 0u);
  for (size_t i = 0; i < count; ++i) {
    auto broken = module();
    llvm::CallInst *shuffle = calls(*broken, "llvm.nvvm.shfl.sync")[i];
    shuffle->setArgOperand(
        0, llvm::ConstantInt::get(shuffle->getArgOperand(0)->getType(), 0xFFFF));
    EXPECT_FINDS(run(*broken), DivergentBarrier);
  }
}

TEST_F(CompiledKernel, ABoundOffByOneIsReported) {
  // `column < width` becomes `column <= width`, wherever a bound is not a constant.
  auto broken = module();
  unsigned changed = 0;
  for (llvm::Function &function : *broken)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction);
      if (!compare || llvm::isa<llvm::Constant>(compare->getOperand(1)) ||
          !compare->getOperand(0)->getType()->isIntegerTy(32))
        continue;
      if (compare->getPredicate() == llvm::CmpInst::ICMP_SLT ||
          compare->getPredicate() == llvm::CmpInst::ICMP_ULT) {
        compare->setPredicate(compare->getNonStrictPredicate());
        ++changed;
      }
    }
  ASSERT_GT(changed, 0u);
  EmulatorReport report = run(*broken);
  ASSERT_TRUE(report.has(FindingKind::OutOfBounds)) << text(report);
  bool reads = false, writes = false;
  for (const EmulatorFinding &finding : report.findings) {
    reads |= finding.text.find("0 bytes past the end of 'x'") != std::string::npos;
    writes |= finding.text.find("0 bytes past the end of 'y'") != std::string::npos;
    EXPECT_NE(finding.file.find("softmax.tile"), std::string::npos);
  }
  EXPECT_TRUE(reads) << text(report);
  EXPECT_TRUE(writes) << text(report);
}
