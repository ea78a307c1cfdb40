//===- WarpGroupCodeTest.cpp - code of wgmma and its groups ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The text of single forms, which forms there are, and that the assembler takes all
// of them as they are: without a word of advice (C75xx), which it gives when it has
// to repair or to serialise products.
//
//===------------------------------------------------------------------------===//
#include "tilec/Atoms/WarpGroupCode.h"
#include "tilec/Target/AssembleCubin.h"
#include "tilec/Target/EmitPTX.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace tilec;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr DType allTypes[] = {DType::F16,    DType::BF16, DType::TF32, DType::F8E4M3,
                              DType::F8E5M2, DType::I8,   DType::U8,   DType::F32};

/// Every form that the hardware has, of the given numbers of columns.
std::vector<WarpGroupMma> allForms(std::initializer_list<unsigned> columns) {
  std::vector<WarpGroupMma> forms;
  for (unsigned n : columns)
    for (DType a : allTypes)
      for (DType b : allTypes)
        for (DType acc : {DType::F32, DType::F16, DType::I32})
          for (unsigned bits = 0; bits < 8; ++bits) {
            WarpGroupMma form{n, acc, a, b, bool(bits & 1), bool(bits & 2), bool(bits & 4)};
            if (form.isValid())
              forms.push_back(form);
          }
  return forms;
}

TEST(WarpGroupMma, Text) {
  WarpGroupMma form{16, DType::F32, DType::BF16, DType::BF16};
  EXPECT_EQ(form.name(), "tilec.wgmma.m64n16k16.f32.bf16.bf16.ss");
  EXPECT_EQ(form.text(), "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
                         "{$0, $1, $2, $3, $4, $5, $6, $7}, $16, $17, $18, 1, 1, 0, 0;");
  EXPECT_EQ(form.constraints(), "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,l,l,b");
  form.transposeA = form.transposeB = true;
  EXPECT_EQ(form.name(), "tilec.wgmma.m64n16k16.f32.bf16.bf16.ss.ta.tb");
  EXPECT_THAT(form.text(), HasSubstr(", $18, 1, 1, 1, 1;"));

  form = {8, DType::F16, DType::F16, DType::F16, true, false, true};
  EXPECT_EQ(form.name(), "tilec.wgmma.m64n8k16.f16.f16.f16.rs.tb");
  EXPECT_EQ(form.text(), "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {$0, $1}, "
                         "{$4, $5, $6, $7}, $8, $9, 1, 1, 1;");
  EXPECT_EQ(form.constraints(), "=r,=r,0,1,r,r,r,r,l,b");

  form = {8, DType::I32, DType::U8, DType::I8};
  EXPECT_EQ(form.text(),
            "wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8 {$0, $1, $2, $3}, $8, $9, $10;");
  form = {8, DType::F32, DType::F8E4M3, DType::F8E5M2};
  EXPECT_EQ(form.name(), "tilec.wgmma.m64n8k32.f32.e4m3.e5m2.ss");
  EXPECT_THAT(form.text(), HasSubstr(", $10, 1, 1;"));
  form = {8, DType::F32, DType::TF32, DType::TF32};
  EXPECT_EQ(form.name(), "tilec.wgmma.m64n8k8.f32.tf32.tf32.ss");
}

TEST(WarpGroupMma, Forms) {
  auto sizes = [](WarpGroupMma form) {
    std::vector<unsigned> result;
    for (form.n = 0; form.n <= 272; ++form.n)
      if (form.isValid())
        result.push_back(form.n);
    return result;
  };
  EXPECT_EQ(sizes({}).size(), 32u);
  EXPECT_THAT(sizes({8, DType::I32, DType::I8, DType::I8}),
              ElementsAre(8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224,
                          240, 256));
  EXPECT_FALSE((WarpGroupMma{8, DType::F16, DType::BF16, DType::BF16}.isValid()));
  EXPECT_FALSE((WarpGroupMma{8, DType::F32, DType::BF16, DType::F16}.isValid()));
  EXPECT_FALSE((WarpGroupMma{8, DType::F32, DType::F32, DType::F32}.isValid()));
  EXPECT_FALSE((WarpGroupMma{8, DType::F32, DType::TF32, DType::TF32, false, false, true}.isValid()));
  EXPECT_FALSE((WarpGroupMma{8, DType::F32, DType::F16, DType::F16, true, true, false}.isValid()));
  // f16 to two accumulators and bf16, each 6 ways; tf32 2; f8 4 × 2 × 2; integers 4 × 2.
  EXPECT_EQ(allForms({64}).size(), 3u * 6 + 2 + 16 + 8);
}

class WarpGroupCodeTest : public testing::Test {
protected:
  WarpGroupCodeTest() : builder(&context), loc(builder.getUnknownLoc()) {
    DialectRegistry registry;
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
    registerTargetDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = ModuleOp::create(loc);
  }

  /// A kernel that makes one product of two steps and stores the accumulator.
  void addKernel(const WarpGroupMma &form) {
    Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
    Type global = LLVM::LLVMPointerType::get(&context, 1);
    builder.setInsertionPointToEnd(module->getBody());
    std::string name = "k" + std::to_string(numKernels++);
    auto kernel = LLVM::LLVMFuncOp::create(
        builder, loc, name,
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&context), {global, i64, i64, i32}));
    kernel->setAttr("nvvm.kernel", builder.getUnitAttr());
    kernel->setAttr("nvvm.reqntid", builder.getDenseI32ArrayAttr({128}));
    Block *entry = kernel.addEntryBlock(builder);
    builder.setInsertionPointToStart(entry);
    Value out = entry->getArgument(0), descriptor = entry->getArgument(1);
    Type element = form.accType == DType::F32 ? Type(builder.getF32Type()) : i32;
    SmallVector<Value> acc(form.accRegisters(), LLVM::PoisonOp::create(builder, loc, element));
    SmallVector<Value> a(form.aInRegisters ? 4 : 1,
                         form.aInRegisters ? entry->getArgument(3) : descriptor);
    Value zero = LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(0));
    Value accumulates = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                             entry->getArgument(3), zero);
    Value always = LLVM::ConstantOp::create(builder, loc, builder.getI1Type(),
                                            builder.getBoolAttr(true));
    if (form.aInRegisters)
      a = emitWarpGroupFence(builder, loc, a);
    else
      emitWarpGroupFence(builder, loc, {});
    acc = emitWarpGroupMma(builder, loc, form, acc, a, entry->getArgument(2), accumulates);
    acc = emitWarpGroupMma(builder, loc, form, acc, a, entry->getArgument(2), always);
    emitWarpGroupCommit(builder, loc);
    acc = emitWarpGroupWait(builder, loc, 0, acc);
    for (auto [index, value] : llvm::enumerate(acc)) {
      Value at = LLVM::GEPOp::create(builder, loc, global, element, out,
                                     ArrayRef<LLVM::GEPArg>{int32_t(index)});
      LLVM::StoreOp::create(builder, loc, value, at);
    }
    LLVM::ReturnOp::create(builder, loc, ValueRange{});
  }

  std::string compile() {
    auto ptx = compileToPTX(*module, *findChip("sm_90a"));
    return ptx ? *ptx : "error: " + llvm::toString(ptx.takeError());
  }

  /// Assembles all kernels; nothing may be said, spilled or put on a stack.
  void expectCleanAssembly() {
    std::string ptx = compile();
    ASSERT_EQ(llvm::StringRef(ptx).count("wgmma.mma_async"), 2 * numKernels);
    EXPECT_EQ(llvm::StringRef(ptx).count("wgmma.wait_group.sync.aligned 0;"), numKernels);
    auto cubin = assembleCubin(ptx, *findChip("sm_90a"));
    ASSERT_TRUE(bool(cubin)) << llvm::toString(cubin.takeError());
    EXPECT_THAT(cubin->messages, ElementsAre());
    ASSERT_EQ(cubin->kernels.size(), numKernels);
    for (const KernelResources &kernel : cubin->kernels)
      EXPECT_EQ(kernel.spillStores + kernel.spillLoads + kernel.stack, 0u) << kernel.kernel;
  }

  static bool hasAssembler() {
    auto assembler = describeAssembler();
    if (assembler)
      return true;
    llvm::consumeError(assembler.takeError());
    return false;
  }

  MLIRContext context;
  OpBuilder builder;
  Location loc;
  OwningOpRef<ModuleOp> module;
  unsigned numKernels = 0;
};

TEST_F(WarpGroupCodeTest, PTX) {
  addKernel({8, DType::F32, DType::F16, DType::F16, false, true, false});
  std::string ptx = compile();
  EXPECT_THAT(ptx, HasSubstr("wgmma.fence.sync.aligned;"));
  EXPECT_THAT(ptx, HasSubstr("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r"));
  EXPECT_THAT(ptx, HasSubstr("wgmma.commit_group.sync.aligned;"));
  // The first product starts from nothing: no register is set to zero for it.
  EXPECT_EQ(ptx.find("mov.b32 \t%r1, 0f00000000"), std::string::npos);
}

TEST_F(WarpGroupCodeTest, EveryFormAssembles) {
  if (!hasAssembler())
    GTEST_SKIP() << "there is no assembler";
  for (const WarpGroupMma &form : allForms({8, 64}))
    addKernel(form);
  expectCleanAssembly();
}

TEST_F(WarpGroupCodeTest, WidthsAssemble) {
  if (!hasAssembler())
    GTEST_SKIP() << "there is no assembler";
  for (DType type : {DType::BF16, DType::I8})
    for (unsigned n : {8, 16, 24, 40, 48, 88, 128, 200, 240, 256})
      if (WarpGroupMma form{n, type == DType::I8 ? DType::I32 : DType::F32, type, type};
          form.isValid())
        addKernel(form);
  expectCleanAssembly();
}

} // namespace
