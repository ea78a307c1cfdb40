//===- EmitPTXTest.cpp - simt modules to PTX for every chip ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Hand-written modules at the simt stage go through all steps; the PTX must have
// the form that the passes promise, and must assemble where ptxas is present.
//===----------------------------------------------------------------------===//

#include "tilec/Target/AssembleCubin.h"
#include "tilec/Target/EmitPTX.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/IR/Module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace tilec;
using testing::HasSubstr;
using testing::Not;

namespace {

/// Four values a thread: a vector load, scf.if and scf.for, a helper, a barrier.
constexpr llvm::StringLiteral wholeKernel = R"(
llvm.mlir.global external @tilec_smem() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
llvm.func @tilec.ex2.approx.ftz.f32(f32) -> f32
llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: i64)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %cta = nvvm.read.ptx.sreg.ctaid.x : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : i64
  %c128 = arith.constant 128 : i32
  %b = arith.muli %cta, %c128 : i32
  %i = arith.addi %b, %tid : i32
  %i64 = arith.extui %i : i32 to i64
  %e = arith.muli %i64, %c4 : i64
  %nn = arith.index_cast %n : i64 to index
  %inside = arith.cmpi slt, %e, %n : i64
  scf.if %inside {
    %px = llvm.getelementptr %x[%e] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %v = llvm.load %px {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %s = scf.for %j = %c0 to %nn step %c1 iter_args(%a = %v) -> vector<4xf32> {
      %m = arith.mulf %a, %v : vector<4xf32>
      %t = arith.addf %m, %a : vector<4xf32>
      scf.yield %t : vector<4xf32>
    }
    %f = vector.extract %s[0] : f32 from vector<4xf32>
    %g = llvm.call @tilec.ex2.approx.ftz.f32(%f) : (f32) -> f32
    %sm = llvm.mlir.addressof @tilec_smem : !llvm.ptr<3>
    %ps = llvm.getelementptr %sm[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %g, %ps : f32, !llvm.ptr<3>
    %py = llvm.getelementptr %y[%e] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %s, %py {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
  }
  nvvm.barrier0
  llvm.return
}
)";

class EmitPTXTest : public testing::Test {
protected:
  EmitPTXTest() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                    LLVM::LLVMDialect, NVVM::NVVMDialect, math::MathDialect,
                    scf::SCFDialect, vector::VectorDialect>();
    registerTargetDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// PTX of the simt module in `text`; the error's text where there is one.
  std::string compile(llvm::StringRef text, llvm::StringRef chipName = "sm_90a") {
    auto module = parseSourceString<ModuleOp>(text, &context, "kernel.tile");
    if (!module)
      return "parse error";
    const Chip *chip = findChip(chipName);
    auto ptx = compileToPTX(*module, *chip);
    return ptx ? *ptx : "error: " + llvm::toString(ptx.takeError());
  }

  /// A kernel with this body; %x and %y are pointers, %n an i64.
  std::string kernel(llvm::StringRef body) {
    return ("llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: i64) attributes "
            "{nvvm.kernel} {\n" +
            body + "\nllvm.return\n}")
        .str();
  }

  MLIRContext context;
};

MATCHER_P2(ContainsTimes, part, times, "") {
  return llvm::StringRef(arg).count(part) == unsigned(times);
}

bool hasAssembler() {
  auto assembler = describeAssembler();
  if (assembler)
    return true;
  llvm::consumeError(assembler.takeError());
  return false;
}

/// A tensor map is a parameter of 128 bytes, behind the others, and is not copied.
constexpr llvm::StringLiteral mappedKernel = R"(
llvm.func @mapped(%x: !llvm.ptr<1>, %gx: i32,
                  %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64,
                                   nvvm.grid_constant})
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, tile.cluster = 2 : i32} {
  nvvm.prefetch tensormap, %map : !llvm.ptr
  llvm.store %gx, %x : i32, !llvm.ptr<1>
  llvm.return
}
)";

TEST_F(EmitPTXTest, TensorMapsAndClusters) {
  std::string ptx = compile(mappedKernel);
  EXPECT_THAT(ptx, HasSubstr(".param .u32 mapped_param_1,"));
  EXPECT_THAT(ptx, HasSubstr(".param .align 64 .b8 mapped_param_2[128]"));
  EXPECT_THAT(ptx, HasSubstr(".reqnctapercluster 2, 1, 1"));
  EXPECT_THAT(ptx, Not(HasSubstr("__local_depot")));
  if (hasAssembler()) {
    auto cubin = assembleCubin(ptx, *findChip("sm_90a"));
    EXPECT_TRUE(bool(cubin)) << llvm::toString(cubin.takeError());
  }
}

/// What PTX says of clusters no launch can change.
TEST_F(EmitPTXTest, ClustersOfTheLaunch) {
  std::string ptx = compile(R"(
llvm.func @launched(%x: !llvm.ptr<1>, %gx: i32)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, tile.cluster = 4 : i32,
                tile.cluster_axis = 0 : i32} {
  llvm.store %gx, %x : i32, !llvm.ptr<1>
  llvm.return
}
)");
  EXPECT_THAT(ptx, HasSubstr(".visible .entry launched("));
  EXPECT_THAT(ptx, Not(HasSubstr("cluster")));
}

TEST_F(EmitPTXTest, WholeKernelHasThePromisedForm) {
  std::string ptx = compile(wholeKernel);
  EXPECT_THAT(ptx, HasSubstr(".target sm_90a\n"));
  EXPECT_THAT(ptx, HasSubstr(".version 8.8"));
  EXPECT_THAT(ptx, HasSubstr(".visible .entry k("));
  EXPECT_THAT(ptx, HasSubstr(".reqntid 128"));
  EXPECT_THAT(ptx, HasSubstr("ld.global.v4.b32"));
  EXPECT_THAT(ptx, HasSubstr("st.global.v4.b32"));
  EXPECT_THAT(ptx, HasSubstr("ex2.approx.ftz.f32"));
  EXPECT_THAT(ptx, HasSubstr("bar.sync"));
  // 32-bit addresses of shared memory.
  EXPECT_THAT(ptx, HasSubstr("st.shared.b32 \t[%r"));
  // Lines of the source, without DWARF.
  EXPECT_THAT(ptx, HasSubstr(".loc\t"));
  EXPECT_THAT(ptx, HasSubstr("kernel.tile"));
  EXPECT_THAT(ptx, Not(HasSubstr(", debug")));
}

TEST_F(EmitPTXTest, ProductsAndSumsAreNotFused) {
  std::string ptx = compile(wholeKernel);
  EXPECT_THAT(ptx, HasSubstr("mul.rn.f32"));
  EXPECT_THAT(ptx, HasSubstr("add.rn.f32"));
  EXPECT_THAT(ptx, Not(HasSubstr("fma.rn.f32")));
}

TEST_F(EmitPTXTest, EveryChipAssembles) {
  if (!hasAssembler())
    GTEST_SKIP() << "no assembler on this machine";
  for (const Chip &chip : allChips()) {
    std::string ptx = compile(wholeKernel, std::string(chip.name));
    EXPECT_THAT(ptx, HasSubstr(".target " + std::string(chip.name)));
    auto cubin = assembleCubin(ptx, chip);
    ASSERT_TRUE(bool(cubin)) << chip.name << ": " << llvm::toString(cubin.takeError());
    EXPECT_EQ(cubin->image.substr(1, 3), "ELF");
    ASSERT_EQ(cubin->kernels.size(), 1u);
    EXPECT_EQ(cubin->kernels[0].kernel, "k");
    EXPECT_GT(cubin->kernels[0].registers, 0u);
    EXPECT_EQ(cubin->kernels[0].spillStores, 0u);
    EXPECT_TRUE(cubin->messages.empty()) << cubin->messages[0];
  }
}

TEST_F(EmitPTXTest, WideVectorsBecomeScalarsButAccessesStayWide) {
  std::string ptx = compile(kernel(R"(
    %v = llvm.load %x {alignment = 16 : i64} : !llvm.ptr<1> -> vector<16xf32>
    %w = arith.addf %v, %v : vector<16xf32>
    llvm.store %w, %y {alignment = 16 : i64} : vector<16xf32>, !llvm.ptr<1>)"));
  EXPECT_THAT(ptx, HasSubstr("ld.global.v4.b32"));
  EXPECT_THAT(ptx, HasSubstr("st.global.v4.b32"));
  EXPECT_THAT(ptx, Not(HasSubstr(".local")));
  EXPECT_THAT(ptx, HasSubstr("add.rn.f32"));
}

TEST_F(EmitPTXTest, SixteenBitTypesStayPacked) {
  for (llvm::StringRef type : {"f16", "bf16"}) {
    std::string body = llvm::StringRef(R"(
      %v = llvm.load %x {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xTYPE>
      %w = math.fma %v, %v, %v : vector<8xTYPE>
      llvm.store %w, %y {alignment = 16 : i64} : vector<8xTYPE>, !llvm.ptr<1>)").str();
    for (size_t at; (at = body.find("TYPE")) != std::string::npos;)
      body.replace(at, 4, type.str());
    std::string ptx = compile(kernel(body));
    EXPECT_THAT(ptx, HasSubstr("ld.global.v4.b32"));
    EXPECT_THAT(ptx, HasSubstr("fma.rn." + type.str() + "x2"));
    EXPECT_THAT(ptx, HasSubstr("st.global.v4.b32"));
  }
}

TEST_F(EmitPTXTest, BFloatsAreWidenedByTheWord) {
  std::string ptx = compile(kernel(R"(
    %v = llvm.load %x {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
    %f = arith.extf %v : vector<8xbf16> to vector<8xf32>
    llvm.store %f, %y : vector<8xf32>, !llvm.ptr<1>)"));
  EXPECT_THAT(ptx, HasSubstr("ld.global.v4.b32"));
  EXPECT_THAT(ptx, ContainsTimes("shl.b32", 4));
  EXPECT_THAT(ptx, ContainsTimes("and.b32", 4));
  EXPECT_THAT(ptx, Not(HasSubstr("%rs"))); // no register of 16 bits
}

TEST_F(EmitPTXTest, LoopsCarryHalvesInPairs) {
  std::string ptx = compile(kernel(R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %nn = arith.index_cast %n : i64 to index
    %v = llvm.load %x {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %r:2 = scf.for %i = %c0 to %nn step %c1 iter_args(%a = %v, %s = %zero) -> (vector<8xbf16>, vector<8xf32>) {
      %j = arith.index_cast %i : index to i64
      %p = llvm.getelementptr %x[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<8xbf16>
      %next = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
      %f = arith.extf %a : vector<8xbf16> to vector<8xf32>
      %t = arith.addf %s, %f : vector<8xf32>
      scf.yield %next, %t : vector<8xbf16>, vector<8xf32>
    }
    llvm.store %r#1, %y : vector<8xf32>, !llvm.ptr<1>)"));
  EXPECT_THAT(ptx, HasSubstr("ld.global.v4.b32"));
  EXPECT_THAT(ptx, ContainsTimes("and.b32", 4));
  EXPECT_THAT(ptx, Not(HasSubstr("%rs")));
}

TEST_F(EmitPTXTest, ConversionsOfWideVectorsUseRegistersOnly) {
  std::string ptx = compile(kernel(R"(
    %v = llvm.load %x {alignment = 16 : i64} : !llvm.ptr<1> -> vector<64xbf16>
    %zero = arith.constant dense<0.0> : vector<64xf32>
    %w = arith.extf %v : vector<64xbf16> to vector<64xf32>
    %c = arith.cmpf olt, %w, %zero : vector<64xf32>
    %s = arith.select %c, %zero, %w : vector<64xi1>, vector<64xf32>
    %r = arith.mulf %s, %s : vector<64xf32>
    %t = arith.truncf %r : vector<64xf32> to vector<64xbf16>
    llvm.store %t, %y {alignment = 16 : i64} : vector<64xbf16>, !llvm.ptr<1>)"));
  EXPECT_THAT(ptx, HasSubstr("ld.global.v4.b32"));
  EXPECT_THAT(ptx, HasSubstr("cvt.rn.bf16x2.f32"));
  EXPECT_THAT(ptx, HasSubstr("st.global.v4.b32"));
  EXPECT_THAT(ptx, Not(HasSubstr(".local")));
}

TEST_F(EmitPTXTest, VectorsCarriedByLoops) {
  std::string ptx = compile(kernel(R"(
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %v = llvm.load %x {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
    %s = scf.for %i = %zero to %n step %one iter_args(%a = %v) -> vector<8xf16> : i64 {
      %b = arith.addf %a, %v : vector<8xf16>
      %e = vector.extract %b[3] : f16 from vector<8xf16>
      %d = vector.insert %e, %b[0] : f16 into vector<8xf16>
      scf.yield %d : vector<8xf16>
    }
    llvm.store %s, %y {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>)"));
  EXPECT_THAT(ptx, HasSubstr("add.rn.f16x2"));
  EXPECT_THAT(ptx, Not(HasSubstr(".local")));
}

TEST_F(EmitPTXTest, ElementsByVariableIndex) {
  std::string ptx = compile(kernel(R"(
    %v = llvm.load %x {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %w = arith.addf %v, %v : vector<4xf32>
    %e = llvm.extractelement %w[%n : i64] : vector<4xf32>
    %f = arith.mulf %e, %e : f32
    %u = llvm.insertelement %f, %w[%n : i64] : vector<4xf32>
    llvm.store %u, %y {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>)"));
  EXPECT_THAT(ptx, HasSubstr("selp"));
  EXPECT_THAT(ptx, Not(HasSubstr(".local")));
}

TEST_F(EmitPTXTest, UnlistedMathNamesTheOperation) {
  std::string text = compile(kernel(R"(
    %v = llvm.load %x : !llvm.ptr<1> -> f32
    %e = math.exp %v : f32
    llvm.store %e, %y : f32, !llvm.ptr<1>)"));
  EXPECT_THAT(text, HasSubstr("error: "));
  EXPECT_THAT(text, HasSubstr("math.exp"));
  EXPECT_THAT(text, HasSubstr("kernel.tile"));
}

TEST_F(EmitPTXTest, UnknownOperationNamesItself) {
  std::string text = compile(kernel(R"(
    %c = arith.constant dense<1.0> : tensor<4xf32>
    %e = arith.addf %c, %c : tensor<4xf32>)"));
  EXPECT_THAT(text, HasSubstr("error: "));
  EXPECT_THAT(text, HasSubstr("arith."));
}

TEST_F(EmitPTXTest, MinAndMaxAreOneInstruction) {
  std::string ptx = compile(kernel(R"(
    %v = llvm.load %x {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %w = llvm.load %y {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %a = arith.maxnumf %v, %w : vector<4xf32>
    %b = arith.minimumf %a, %w : vector<4xf32>
    llvm.store %b, %y {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>)"));
  EXPECT_THAT(ptx, HasSubstr("max.f32"));
  EXPECT_THAT(ptx, HasSubstr("min.NaN.f32"));
  EXPECT_THAT(ptx, Not(HasSubstr("setp")));
}

TEST_F(EmitPTXTest, WhileLoopsOverIndex) {
  std::string ptx = compile(R"(
    llvm.func @f(%m: i64, %p: !llvm.ptr<1>) attributes {nvvm.kernel} {
      %n = arith.index_cast %m : i64 to index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.while (%i = %c0) : (index) -> index {
        %c = arith.cmpi slt, %i, %n : index
        scf.condition(%c) %i : index
      } do {
      ^bb0(%i: index):
        %j = arith.addi %i, %c1 : index
        %v = arith.index_cast %j : index to i64
        llvm.store volatile %v, %p : i64, !llvm.ptr<1>
        scf.yield %j : index
      }
      llvm.return
    })");
  EXPECT_THAT(ptx, HasSubstr(".visible .entry f("));
  EXPECT_THAT(ptx, HasSubstr("st.volatile.global.b64"));
}

} // namespace
