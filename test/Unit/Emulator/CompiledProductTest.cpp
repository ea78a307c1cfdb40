//===- CompiledProductTest.cpp - broken pipelines must be found out -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// The matmul example, compiled for chips with tensor copies and products of warp groups or
// in tensor memory, runs clean and right. Then its LLVM module is broken the way a compiler bug
// would break it: what orders copies, products and stores is removed, one call at a
// time. Every one must be reported.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"

#include "tilec/Compiler/Compiler.h"
#include "tilec/Emulator/Plan.h"
#include "tilec/Frontend/Diagnostics.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace tilec;
using namespace tilec::test;

namespace {

class CompiledProduct : public ::testing::Test {
protected:
  // Edges on all sides, and more steps than a ring has places.
  static constexpr int n = 136, k = 456;
  int m = 264;

  void SetUp() override { compileFor("sm_90a"); }

  void compileFor(llvm::StringRef chip) {
    Compilation compilation({});
    compilation.loadFile(TILEC_EXAMPLES "/matmul.tile");
    auto compiled = compilation.compileFor(*findChip(std::string_view(chip)), Stage::LLVM);
    if (!compiled) {
      TextDiagnosticPrinter printer(compilation.sources(), llvm::errs(), false);
      compilation.printDiagnostics(printer);
      FAIL() << "matmul.tile does not compile: " << compilation.internalError();
    }
    code = std::make_unique<ChipCode>(std::move(*compiled));
    ASSERT_EQ(code->kernels.size(), 1u);
    // Small integers, whose products and sums are exact.
    a.resize(size_t(m * k));
    b.resize(k * n);
    for (int i = 0; i < m * k; ++i)
      a[size_t(i)] = toBFloat(float((i * 7 + i / k) % 5 - 2));
    for (int i = 0; i < k * n; ++i)
      b[size_t(i)] = toBFloat(float((i * 3 + i / n) % 3 - 1));
  }

  const KernelInfo &info() const { return code->kernels[0]; }
  std::unique_ptr<llvm::Module> module() { return llvm::CloneModule(*code->llvmModule); }

  EmulatorReport run(const llvm::Module &module, std::vector<uint16_t> &c,
                     std::optional<uint64_t> seed = {}) {
    c.assign(size_t(m * n), 0xFFFF);
    std::vector<KernelArg> args = {ArrayArg::rowMajor(a.data(), DType::BF16, {m, k}),
                                   ArrayArg::rowMajor(b.data(), DType::BF16, {k, n}),
                                   ArrayArg::rowMajor(c.data(), DType::BF16, {m, n})};
    auto plan = planLaunch(info(), args);
    if (!plan) {
      ADD_FAILURE() << plan.failure().message;
      return {};
    }
    EXPECT_FALSE(plan->tensorMaps.empty());
    EmulatorLaunch launch = makeEmulatorLaunch(info(), *plan, args);
    launch.seed = seed;
    launch.timeoutSeconds = 60;
    auto report = emulateLaunch(module, launch);
    if (report)
      return std::move(*report);
    ADD_FAILURE() << llvm::toString(report.takeError());
    return {};
  }

  /// Calls, in the build that uses tensor maps and is launched, of functions named \p prefix….
  std::vector<llvm::CallInst *> calls(llvm::Module &module, llvm::StringRef prefix) {
    auto build = llvm::find_if(info().builds, [](const BuildInfo &build) {
      return !build.tensorMaps.empty() && !build.relies(BuildFact::FewBlocks);
    });
    return callsIn(*module.getFunction(build->symbol), prefix);
  }

  /// Takes the call out; a value that it passes on comes from its operand.
  static void remove(llvm::CallInst *call) {
    if (!call->use_empty()) {
      llvm::IRBuilder<> builder(call);
      llvm::Value *all = llvm::PoisonValue::get(call->getType());
      for (unsigned i = 0; i < call->arg_size(); ++i)
        all = builder.CreateInsertValue(all, call->getArgOperand(i), i);
      call->replaceAllUsesWith(all);
    }
    call->eraseFromParent();
  }

  /// Each of the first calls of \p prefix, left out alone, is reported.
  void expectEachIsNeeded(llvm::StringRef prefix) {
    size_t count = std::min<size_t>(2, calls(*module(), prefix).size());
    EXPECT_GT(count, 0u) << prefix.str();
    for (size_t i = 0; i < count; ++i) {
      auto broken = module();
      remove(calls(*broken, prefix)[i]);
      std::vector<uint16_t> c;
      EXPECT_FALSE(run(*broken, c).clean()) << prefix.str() << " number " << i;
    }
  }

  void expectRight() {
    for (std::optional<uint64_t> seed : {std::optional<uint64_t>(), std::optional<uint64_t>(1)}) {
      std::vector<uint16_t> c;
      EXPECT_CLEAN(run(*module(), c, seed));
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          float sum = 0;
          for (int x = 0; x < k; ++x)
            sum += fromBFloat(a[size_t(i * k + x)]) * fromBFloat(b[size_t(x * n + j)]);
          ASSERT_EQ(c[size_t(i * n + j)], toBFloat(sum)) << i << ", " << j;
        }
    }
  }

  std::unique_ptr<ChipCode> code;
  std::vector<uint16_t> a, b;
};

TEST_F(CompiledProduct, RunsCleanAndRight) { expectRight(); }

TEST_F(CompiledProduct, WhatOrdersProductsIsNeeded) {
  expectEachIsNeeded("tilec.wgmma.fence");
  expectEachIsNeeded("tilec.wgmma.commit");
  expectEachIsNeeded("tilec.wgmma.wait");
}

TEST_F(CompiledProduct, WhatOrdersCopiesIsNeeded) {
  expectEachIsNeeded("llvm.nvvm.mbarrier.arrive");
  expectEachIsNeeded("llvm.nvvm.mbarrier.init");
  expectEachIsNeeded("llvm.nvvm.fence.proxy.async");
  expectEachIsNeeded("llvm.nvvm.cp.async.bulk.wait.group");
}

//===--- accumulators in tensor memory ------------------------------------------===//

class CompiledTensorProduct : public CompiledProduct {
protected:
  // So many tiles that blocks use their accumulators again.
  void SetUp() override {
    m = 648;
    compileFor("sm_100a");
  }
};

TEST_F(CompiledTensorProduct, RunsCleanAndRight) {
  EXPECT_FALSE(calls(*module(), "llvm.nvvm.tcgen05.mma.shared").empty());
  expectRight();
}

TEST_F(CompiledTensorProduct, WhatOrdersProductsIsNeeded) {
  expectEachIsNeeded("llvm.nvvm.tcgen05.commit");
  expectEachIsNeeded("llvm.nvvm.tcgen05.fence.after");
  expectEachIsNeeded("llvm.nvvm.tcgen05.fence.before");
  expectEachIsNeeded("tilec.tcgen05.wait.ld");
}

TEST_F(CompiledTensorProduct, WhatMakesMemoryIsNeeded) {
  expectEachIsNeeded("llvm.nvvm.tcgen05.alloc");
  expectEachIsNeeded("llvm.nvvm.tcgen05.dealloc");
  expectEachIsNeeded("llvm.nvvm.mbarrier.init");
}

} // namespace
