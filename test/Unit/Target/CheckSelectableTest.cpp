//===- CheckSelectableTest.cpp - errors instead of aborts ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tilec/Target/EmitPTX.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llvm;
using testing::HasSubstr;

namespace {

/// What emitPTX says to this module on this chip: its PTX, or its error.
std::string emit(StringRef text, StringRef chipName = "sm_80") {
  LLVMContext context;
  SMDiagnostic diagnostic;
  auto module = parseAssemblyString(text, diagnostic, context);
  if (!module)
    return "parse error: " + diagnostic.getMessage().str();
  const tilec::Chip *chip = tilec::findChip(chipName);
  auto machine = tilec::createTargetMachine(*chip);
  if (!machine)
    return toString(machine.takeError());
  module->setTargetTriple((*machine)->getTargetTriple());
  module->setDataLayout((*machine)->createDataLayout());
  auto ptx = tilec::emitPTX(*module, *chip);
  return ptx ? *ptx : "error: " + toString(ptx.takeError());
}

TEST(CheckSelectable, Transcendentals) {
  for (StringRef name : {"exp", "log", "log2", "sin", "tanh", "exp2"}) {
    std::string text = emit(("define float @f(float %x) {\n"
                             "  %y = call float @llvm." + name + ".f32(float %x)\n"
                             "  ret float %y\n}\n").str());
    EXPECT_THAT(text, HasSubstr("error: in function f: an intrinsic without instruction"));
    EXPECT_THAT(text, HasSubstr("llvm." + name.str() + ".f32"));
  }
}

TEST(CheckSelectable, ApproximateOnesUnderTheirFlag) {
  EXPECT_THAT(emit("define float @f(float %x) {\n"
                   "  %y = call afn float @llvm.exp2.f32(float %x)\n"
                   "  ret float %y\n}\n"),
              HasSubstr("ex2.approx"));
}

TEST(CheckSelectable, Remainder) {
  EXPECT_THAT(emit("define float @f(float %x, float %y) {\n"
                   "  %z = frem float %x, %y\n  ret float %z\n}\n"),
              HasSubstr("a remainder that is not expanded"));
}

TEST(CheckSelectable, UnknownFunctionAndIndirectCall) {
  EXPECT_THAT(emit("declare float @expf(float)\ndefine float @f(float %x) {\n"
                   "  %y = call float @expf(float %x)\n  ret float %y\n}\n"),
              HasSubstr("a call of an unknown function"));
  EXPECT_THAT(emit("define void @f(ptr %p) {\n  call void %p()\n  ret void\n}\n"),
              HasSubstr("an indirect call"));
}

TEST(CheckSelectable, WideDivision) {
  EXPECT_THAT(emit("define i128 @f(i128 %x, i128 %y) {\n"
                   "  %z = sdiv i128 %x, %y\n  ret i128 %z\n}\n"),
              HasSubstr("a 128-bit division"));
}

TEST(CheckSelectable, FeaturesOfAnotherChip) {
  StringRef text = "declare void @llvm.nvvm.griddepcontrol.wait()\n"
                   "define void @f() {\n  call void @llvm.nvvm.griddepcontrol.wait()\n"
                   "  ret void\n}\n";
  EXPECT_THAT(emit(text, "sm_80"), HasSubstr("an intrinsic without instruction on sm_80"));
  EXPECT_THAT(emit(text, "sm_90a"), HasSubstr("griddepcontrol.wait"));
}

TEST(CheckSelectable, TheSourceLineIsNamed) {
  EXPECT_THAT(emit(R"(
define float @f(float %x) !dbg !4 {
  %y = call float @llvm.exp.f32(float %x), !dbg !5
  ret float %y
}
declare float @llvm.exp.f32(float)
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "softmax.tile", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !{})
!4 = distinct !DISubprogram(name: "f", file: !1, line: 1, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DILocation(line: 12, column: 7, scope: !4)
)"),
              HasSubstr("softmax.tile:12:7: in function f"));
}

} // namespace
