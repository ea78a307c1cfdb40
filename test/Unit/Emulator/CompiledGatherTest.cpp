//===- CompiledGatherTest.cpp - gathered copies, whole and broken ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// A product of gathered rows, compiled for a chip whose warp groups multiply, runs clean. What
// warps that only copy write, products read by another way: without the fence between the
// two, or an arrival that does not wait for the copies, the run must be reported.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"

#include "tilec/Compiler/Compiler.h"
#include "tilec/Emulator/Plan.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace tilec;
using namespace tilec::test;

namespace {

class CompiledGather : public ::testing::Test {
protected:
  static constexpr int rows = 128, tokens = 50, experts = 2, n = 64, k = 328;

  void SetUp() override {
    Compilation compilation({});
    compilation.loadFile(TILEC_EXAMPLES "/grouped_gemm.tile");
    auto compiled = compilation.compileFor(*findChip(std::string_view("sm_90a")), Stage::LLVM);
    ASSERT_TRUE(bool(compiled)) << compilation.internalError();
    code = std::make_unique<ChipCode>(std::move(*compiled));
  }

  /// The build that takes tensor maps, of a grid that is not small.
  llvm::Function &build(llvm::Module &module) {
    auto found = llvm::find_if(code->kernels[0].builds, [](const BuildInfo &build) {
      return !build.tensorMaps.empty() && !build.relies(BuildFact::FewBlocks);
    });
    return *module.getFunction(found->symbol);
  }

  /// Runs the module after `breakIt` has changed the build.
  EmulatorReport run(llvm::function_ref<void(llvm::Function &)> breakIt) {
    auto module = llvm::CloneModule(*code->llvmModule);
    breakIt(build(*module));
    std::vector<uint16_t> x(tokens * k, toBFloat(1)), w(experts * k * n, toBFloat(1)), y(rows * n);
    std::vector<int32_t> row(rows), expert(rows / 64 + 1);
    for (int i = 0; i < rows; ++i)
      row[size_t(i)] = i * 7 % (tokens + 4) - 2;
    std::vector<KernelArg> args = {ArrayArg::rowMajor(x.data(), DType::BF16, {tokens, k}),
                                   ArrayArg::rowMajor(w.data(), DType::BF16, {experts, k, n}),
                                   ArrayArg::rowMajor(row.data(), DType::I32, {rows}),
                                   ArrayArg::rowMajor(expert.data(), DType::I32, {rows / 64}),
                                   ArrayArg::rowMajor(y.data(), DType::BF16, {rows, n})};
    const KernelInfo &info = code->kernels[0];
    auto plan = planLaunch(info, args);
    EXPECT_TRUE(bool(plan));
    EmulatorLaunch launch = makeEmulatorLaunch(info, *plan, args);
    launch.timeoutSeconds = 60;
    auto report = emulateLaunch(*module, launch);
    EXPECT_TRUE(bool(report));
    for (int i = 0; report && report->clean() && i < rows; ++i) {
      bool isInside = row[size_t(i)] >= 0 && row[size_t(i)] < tokens;
      EXPECT_EQ(fromBFloat(y[size_t(i * n)]), isInside ? float(k) : 0.0f) << i;
    }
    return report ? std::move(*report) : EmulatorReport();
  }

  std::unique_ptr<ChipCode> code;
};

TEST_F(CompiledGather, RunsCleanAndRight) { EXPECT_CLEAN(run([](llvm::Function &) {})); }

TEST_F(CompiledGather, FenceBetweenCopiesAndProductsIsNeeded) {
  EmulatorReport report = run([](llvm::Function &function) {
    // Fences before copies out have a barrier behind them; the one in the loop of products
    // is the only one that follows a wait.
    llvm::CallInst *fence = callsIn(function, "llvm.nvvm.fence.proxy.async").front();
    fence->eraseFromParent();
  });
  ASSERT_TRUE(report.has(FindingKind::Race)) << text(report);
  EXPECT_NE(text(report).find("with no fence.proxy.async between the two"), std::string::npos)
      << text(report);
}

TEST_F(CompiledGather, ArrivalThatDoesNotWaitForCopiesIsFound) {
  EmulatorReport report = run([](llvm::Function &function) {
    llvm::CallInst *arrival = callsIn(function, "llvm.nvvm.cp.async.mbarrier.arrive").front();
    llvm::IRBuilder<> builder(arrival);
    builder.CreateIntrinsic(llvm::Intrinsic::nvvm_mbarrier_arrive_shared, arrival->getArgOperand(0));
    arrival->eraseFromParent();
  });
  EXPECT_TRUE(report.has(FindingKind::Race)) << text(report);
}

TEST_F(CompiledGather, ArrivalOfCopiesIsNeeded) {
  EmulatorReport report = run([](llvm::Function &function) {
    callsIn(function, "llvm.nvvm.cp.async.mbarrier.arrive").front()->eraseFromParent();
  });
  EXPECT_TRUE(report.has(FindingKind::Deadlock)) << text(report);
}

} // namespace
