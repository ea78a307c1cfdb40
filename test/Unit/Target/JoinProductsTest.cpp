//===- JoinProductsTest.cpp - helpers of products, several in one -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Two registers stand for an accumulator, so texts can be read: what is joined, in which
// order, with which operands, and what must stay apart.
//===----------------------------------------------------------------------===//

#include "tilec/Target/ExpandHelpers.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llvm;
using testing::ElementsAre;

namespace {

constexpr StringLiteral helpers = R"(
declare {float, float} @tilec.wgmma.fence.f32x2(float, float) #0
declare {float, float, i32} @tilec.wgmma.fence.f32x2.i32x1(float, float, i32) #1
declare {float, float} @tilec.wgmma.m64(float, float, i64, i1) #2
declare {float, float} @tilec.wgmma.m64.rs(float, float, i32, i1) #3
declare void @tilec.wgmma.commit() #4
declare {float, float} @tilec.wgmma.wait.0.f32x2(float, float) #5
attributes #0 = { "tilec-asm"="fence;" "tilec-constraints"="=f,=f,0,1" }
attributes #1 = { "tilec-asm"="fence;" "tilec-constraints"="=f,=f,=r,0,1,2" }
attributes #2 = { "tilec-asm"="mma {$0, $1}, $4, $5;" "tilec-constraints"="=f,=f,0,1,l,b" }
attributes #3 = { "tilec-asm"="mma {$0, $1}, {$4}, $5;" "tilec-constraints"="=f,=f,0,1,r,b" }
attributes #4 = { "tilec-asm"="commit;" "tilec-constraints"="" }
attributes #5 = { "tilec-asm"="wait;" "tilec-constraints"="=f,=f,0,1" }
)";

/// `%name0` and `%name1`, what call `%name` gives.
std::string parts(StringRef name, StringRef type = "{float, float}") {
  std::string text;
  for (int index : {0, 1})
    text += ("  %" + name + Twine(index) + " = extractvalue " + type + " %" + name + ", " +
             Twine(index) + "\n")
                .str();
  return text;
}

/// A product `%name` added to two accumulators, and its parts.
std::string product(StringRef name, StringRef x, StringRef y) {
  return ("  %" + name + " = call {float, float} @tilec.wgmma.m64(float %" + x + ", float %" + y +
          ", i64 %a, i1 %p)\n" + parts(name))
      .str();
}

class JoinProductsTest : public testing::Test {
protected:
  /// Joins in `define … @f(…) { body }`; the statements, "text | constraints | operands", in
  /// order, and what is still a call by its name.
  std::vector<std::string> join(const Twine &signature, const Twine &body) {
    SMDiagnostic diagnostic;
    module = parseAssemblyString(
        (Twine(helpers) + "define " + signature + " {\n" + body + "}\n").str(), diagnostic, context);
    if (!module)
      return {"parse error: " + diagnostic.getMessage().str()};
    tilec::joinProducts(*module);
    std::string defects;
    raw_string_ostream stream(defects);
    if (verifyModule(*module, &stream))
      return {"defects: " + defects};
    std::vector<std::string> calls;
    for (Instruction &instruction : instructions(*module->getFunction("f")))
      if (auto *call = dyn_cast<CallInst>(&instruction))
        calls.push_back(describe(*call));
    return calls;
  }

  static std::string describe(const CallInst &call) {
    if (!call.isInlineAsm())
      return call.getCalledFunction()->getName().str();
    auto *text = cast<InlineAsm>(call.getCalledOperand());
    EXPECT_TRUE(text->hasSideEffects() && call.isConvergent());
    std::string result = text->getAsmString().str() + " | " + text->getConstraintString().str() + " |";
    for (const Use &operand : call.args())
      result += " " + (operand->hasName() ? operand->getName().str() : "?");
    return result;
  }

  /// What the return instruction gives is this part of the last statement.
  int returnedPart() {
    for (Instruction &instruction : instructions(*module->getFunction("f")))
      if (auto *result = dyn_cast<ReturnInst>(&instruction))
        if (auto *part = dyn_cast<ExtractValueInst>(result->getReturnValue()))
          return int(part->getIndices().front());
    return -1;
  }

  LLVMContext context;
  std::unique_ptr<Module> module;
};

TEST_F(JoinProductsTest, AWholeProduct) {
  auto calls = join("float @f(float %x, float %y, i64 %a, i1 %adds, i1 %p)",
                    "  %f = call {float, float} @tilec.wgmma.fence.f32x2(float %x, float %y)\n" + parts("f") +
                        "  %m = call {float, float} @tilec.wgmma.m64(float %f0, float %f1, i64 %a, i1 %adds)\n" +
                        parts("m") + "  %b = add i64 %a, 2\n"
                        "  %n = call {float, float} @tilec.wgmma.m64(float %m0, float %m1, i64 %b, i1 %p)\n" +
                        parts("n") + "  call void @tilec.wgmma.commit()\n"
                        "  %w = call {float, float} @tilec.wgmma.wait.0.f32x2(float %n0, float %n1)\n" +
                        parts("w") + "  ret float %w1\n");
  EXPECT_THAT(calls, ElementsAre("fence; mma {$0, $1}, $4, $5; mma {$0, $1}, $6, $7; commit; wait;"
                                 " | =f,=f,0,1,l,b,l,b | x y a adds b p"));
  EXPECT_EQ(returnedPart(), 1);
}

TEST_F(JoinProductsTest, AnOperandTwiceIsOneInput) {
  auto calls = join("float @f(float %x, float %y, i64 %a, i1 %p)",
                    product("m", "x", "y") + product("n", "m0", "m1") + "  ret float %n0\n");
  EXPECT_THAT(calls, ElementsAre("mma {$0, $1}, $4, $5; mma {$0, $1}, $4, $5; | =f,=f,0,1,l,b | x y a p"));
  EXPECT_EQ(returnedPart(), 0);
}

TEST_F(JoinProductsTest, WordsThatAreOnlyFencedAreRead) {
  auto calls = join("float @f(float %x, float %y, i32 %a, i1 %p)",
                    "  %f = call {float, float, i32} @tilec.wgmma.fence.f32x2.i32x1(float %x, float %y, i32 %a)\n" +
                        parts("f", "{float, float, i32}") + "  %f2 = extractvalue {float, float, i32} %f, 2\n"
                        "  %m = call {float, float} @tilec.wgmma.m64.rs(float %f0, float %f1, i32 %f2, i1 %p)\n" +
                        parts("m") + "  ret float %m0\n");
  EXPECT_THAT(calls, ElementsAre("fence; mma {$0, $1}, {$4}, $5; | =f,=f,0,1,r,b | x y a p"));
}

TEST_F(JoinProductsTest, TwoAccumulatorsInTurn) {
  auto calls = join("float @f(float %x, float %y, float %z, float %u, i64 %a, i1 %p)",
                    product("m", "x", "y") + product("n", "z", "u") +
                    product("o", "m0", "m1") + "  %s = fadd float %n1, %o0\n  ret float %s\n");
  EXPECT_THAT(calls, ElementsAre("mma {$0, $1}, $8, $9; mma {$2, $3}, $8, $9; mma {$0, $1}, $8, $9;"
                                 " | =f,=f,=f,=f,0,1,2,3,l,b | x y z u a p"));
}

TEST_F(JoinProductsTest, MemoryBetweenKeepsThemApart) {
  auto calls = join("float @f(float %x, float %y, i64 %a, i1 %p, ptr %q)",
                    product("m", "x", "y") +
                    "  store i64 %a, ptr %q\n" +
                    product("n", "m0", "m1") + "  ret float %n0\n");
  EXPECT_THAT(calls, ElementsAre("tilec.wgmma.m64", "tilec.wgmma.m64"));
}

TEST_F(JoinProductsTest, AValueThatIsOverwrittenKeepsThemApart) {
  auto calls = join("float @f(float %x, float %y, i64 %a, i1 %p)",
                    product("m", "x", "y") + product("n", "m0", "m1") + "  %s = fadd float %n0, %m0\n  ret float %s\n");
  EXPECT_THAT(calls, ElementsAre("tilec.wgmma.m64", "tilec.wgmma.m64"));
}

TEST_F(JoinProductsTest, AResultThatIsAskedForEndsTheStatement) {
  auto calls = join("float @f(float %x, float %y, i64 %a, i1 %p)",
                    product("m", "x", "y") +
                    "  call void @tilec.wgmma.commit()\n  %s = fadd float %m0, %m1\n" +
                    product("n", "s", "m1") + "  ret float %n0\n");
  EXPECT_THAT(calls, ElementsAre("mma {$0, $1}, $4, $5; commit; | =f,=f,0,1,l,b | x y a p", "tilec.wgmma.m64"));
}

TEST_F(JoinProductsTest, APhiOfResultsBecomesOneOfEach) {
  auto calls = join("float @f(float %x, float %y, i1 %c)",
                    "  br i1 %c, label %a, label %b\na:\n"
                    "  %w = call {float, float} @tilec.wgmma.wait.0.f32x2(float %x, float %y)\n  br label %d\nb:\n"
                    "  %v = call {float, float} @tilec.wgmma.wait.0.f32x2(float %y, float %x)\n  br label %d\nd:\n"
                    "  %r = phi {float, float} [%w, %a], [%v, %b]\n"
                    "  %s = extractvalue {float, float} %r, 1\n  ret float %s\n");
  EXPECT_THAT(calls, ElementsAre("tilec.wgmma.wait.0.f32x2", "tilec.wgmma.wait.0.f32x2"));
  auto *phi = dyn_cast<PHINode>(&module->getFunction("f")->back().front());
  ASSERT_TRUE(phi && phi->getType()->isFloatTy());
  for (Value *value : phi->incoming_values())
    EXPECT_EQ(cast<ExtractValueInst>(value)->getIndices().front(), 1u);
}

} // namespace
