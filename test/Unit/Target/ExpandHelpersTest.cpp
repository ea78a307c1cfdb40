//===- ExpandHelpersTest.cpp - helper calls to inline PTX ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tilec/Target/ExpandHelpers.h"
#include "tilec/Target/EmitPTX.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llvm;
using testing::HasSubstr;

namespace {

class ExpandHelpersTest : public testing::Test {
protected:
  void parse(StringRef text) {
    SMDiagnostic diagnostic;
    module = parseAssemblyString(text, diagnostic, context);
    ASSERT_TRUE(module) << diagnostic.getMessage().str();
  }
  CallInst *firstCall(StringRef function) {
    for (Instruction &instruction : instructions(*module->getFunction(function)))
      if (auto *call = dyn_cast<CallInst>(&instruction))
        return call;
    return nullptr;
  }

  LLVMContext context;
  std::unique_ptr<Module> module;
};

TEST_F(ExpandHelpersTest, ARowOfTheTable) {
  parse("declare float @tilec.lg2.approx.f32(float)\n"
        "define float @f(float %x) {\n"
        "  %y = call float @tilec.lg2.approx.f32(float %x)\n  ret float %y\n}\n");
  tilec::annotateHelpers(*module);
  EXPECT_TRUE(module->getFunction("tilec.lg2.approx.f32")->doesNotAccessMemory());
  ASSERT_FALSE(bool(tilec::expandHelpers(*module)));
  CallInst *call = firstCall("f");
  ASSERT_TRUE(call->isInlineAsm());
  EXPECT_EQ(cast<InlineAsm>(call->getCalledOperand())->getAsmString(),
            "lg2.approx.f32 $0, $1;");
  EXPECT_FALSE(call->isConvergent());
  EXPECT_EQ(module->getFunction("tilec.lg2.approx.f32"), nullptr);
}

TEST_F(ExpandHelpersTest, TextFromAttributesIsConvergentByDefault) {
  parse("declare void @tilec.fence() #0\n"
        "define void @f() {\n  call void @tilec.fence()\n  ret void\n}\n"
        "attributes #0 = { \"tilec-asm\"=\"wgmma.fence.sync.aligned;\" "
        "\"tilec-constraints\"=\"~{memory}\" }\n");
  tilec::annotateHelpers(*module);
  EXPECT_TRUE(module->getFunction("tilec.fence")->isConvergent());
  ASSERT_FALSE(bool(tilec::expandHelpers(*module)));
  CallInst *call = firstCall("f");
  ASSERT_TRUE(call->isInlineAsm());
  EXPECT_TRUE(call->isConvergent());
  EXPECT_TRUE(cast<InlineAsm>(call->getCalledOperand())->hasSideEffects());
}

TEST_F(ExpandHelpersTest, SeveralResults) {
  parse("declare { i32, i32 } @tilec.two(i32) #0\n"
        "define i32 @f(i32 %x) {\n"
        "  %y = call { i32, i32 } @tilec.two(i32 %x)\n"
        "  %a = extractvalue { i32, i32 } %y, 0\n"
        "  %b = extractvalue { i32, i32 } %y, 1\n"
        "  %s = add i32 %a, %b\n  ret i32 %s\n}\n"
        "attributes #0 = { \"tilec-asm\"=\"{ mov.b32 $0, $2; not.b32 $1, $2; }\" "
        "\"tilec-constraints\"=\"=r,=r,r\" \"tilec-effects\"=\"none\" }\n");
  auto machine = tilec::createTargetMachine(*tilec::findChip("sm_80"));
  ASSERT_TRUE(bool(machine)) << toString(machine.takeError());
  module->setTargetTriple((*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  auto ptx = tilec::emitPTX(*module, *tilec::findChip("sm_80"));
  ASSERT_TRUE(bool(ptx)) << toString(ptx.takeError());
  EXPECT_THAT(*ptx, HasSubstr("not.b32"));
}

TEST_F(ExpandHelpersTest, UnknownHelper) {
  parse("declare void @tilec.nothing()\n"
        "define void @f() {\n  call void @tilec.nothing()\n  ret void\n}\n");
  EXPECT_THAT(toString(tilec::expandHelpers(*module)),
              HasSubstr("no inline PTX for helper tilec.nothing"));
}

TEST_F(ExpandHelpersTest, ConstraintsThatDoNotFit) {
  parse("declare void @tilec.wrong(i32) #0\n"
        "define void @f() {\n  call void @tilec.wrong(i32 1)\n  ret void\n}\n"
        "attributes #0 = { \"tilec-asm\"=\"bar;\" \"tilec-constraints\"=\"\" }\n");
  EXPECT_THAT(toString(tilec::expandHelpers(*module)), HasSubstr("do not fit its type"));
}

} // namespace
