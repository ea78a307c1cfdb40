//===- ArithmeticTest.cpp - numbers: every type, conversions, atomics -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// Arithmetic of the module's own types and of the intrinsics that become plain IR,
// against values computed here.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"

#include <cmath>

using namespace tilec;
using namespace tilec::test;

namespace {

/// Runs `out[0] = f(in[0])`: \p body defines %r of type \p to from %x of type \p from.
template <typename To, typename From>
To compute(From x, const std::string &from, const std::string &to,
           const std::string &body, const std::string &declarations = "") {
  EmulatedKernel kernel =
      load(std::string(prologue) + declarations +
               "\ndefine ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {\n"
               "  %x = load " + from + ", ptr addrspace(1) %in\n" + body +
               "\n  store " + to + " %r, ptr addrspace(1) %out\n  ret void\n}",
           "k");
  std::vector<From> in = {x};
  std::vector<To> out(1);
  EXPECT_CLEAN(Launch(kernel).array(in, "in", false).array(out, "out").run(1));
  return out[0];
}

float unary(const std::string &intrinsic, float x) {
  return compute<float>(x, "float", "float",
                        "  %r = call float @" + intrinsic + "(float %x)",
                        "declare float @" + intrinsic + "(float)");
}

} // namespace

TEST(EmulatorArithmetic, RoundsToBFloatAndBack) {
  auto roundTrip = [](float x) {
    return compute<float>(x, "float", "float",
                          "  %b = fptrunc float %x to bfloat\n"
                          "  %r = fpext bfloat %b to float");
  };
  EXPECT_EQ(roundTrip(1.0f), 1.0f);
  EXPECT_EQ(roundTrip(1.00390625f), 1.0f);          // tie to even
  EXPECT_EQ(roundTrip(1.01171875f), 1.015625f);     // tie to even, upwards
  EXPECT_TRUE(std::isnan(roundTrip(NAN)));
  EXPECT_TRUE(std::isinf(roundTrip(3.4e38f)));
}

TEST(EmulatorArithmetic, ComputesInHalfAndBFloat) {
  uint16_t half = 0x3E00; // 1.5
  EXPECT_EQ(compute<uint16_t>(half, "half", "half", "  %r = fmul half %x, %x"), 0x4080);
  uint16_t brain = 0x3FC0; // 1.5
  EXPECT_EQ(compute<uint16_t>(brain, "bfloat", "bfloat", "  %r = fadd bfloat %x, %x"),
            0x4040);
  EXPECT_EQ(compute<uint16_t>(1.0 / 3, "double", "half",
                              "  %r = fptrunc double %x to half"),
            0x3555);
  EXPECT_EQ(compute<uint16_t>(1.00390625 + 1e-12, "double", "bfloat",
                              "  %r = fptrunc double %x to bfloat"),
            0x3F81); // not rounded twice
}

TEST(EmulatorArithmetic, ComputesInBytesAndDoubles) {
  EXPECT_EQ(compute<int8_t>(int8_t(100), "i8", "i8", "  %r = add i8 %x, 100"), int8_t(-56));
  EXPECT_EQ(compute<double>(2.0, "double", "double",
                            "  %r = call double @llvm.sqrt.f64(double %x)",
                            "declare double @llvm.sqrt.f64(double)"),
            std::sqrt(2.0));
}

TEST(EmulatorArithmetic, ApproximateFunctions) {
  EXPECT_EQ(unary("llvm.nvvm.ex2.approx.ftz.f32", 3.0f), 8.0f);
  EXPECT_EQ(unary("llvm.nvvm.lg2.approx.ftz.f", 8.0f), 3.0f);
  EXPECT_EQ(unary("llvm.nvvm.rsqrt.approx.ftz.f", 4.0f), 0.5f);
  EXPECT_EQ(unary("llvm.nvvm.rcp.approx.ftz.f", 4.0f), 0.25f);
  EXPECT_EQ(unary("tilec.lg2.approx.f32", 0.5f), -1.0f);
  EXPECT_NEAR(unary("tilec.tanh.approx.f32", 1.0f), std::tanh(1.0f), 1e-6f);
  EXPECT_EQ(unary("llvm.nvvm.sqrt.rn.f", 9.0f), 3.0f);
  EXPECT_EQ(unary("llvm.nvvm.saturate.f", 1.5f), 1.0f);
  EXPECT_EQ(unary("llvm.nvvm.saturate.f", NAN), 0.0f);
  EXPECT_EQ(unary("llvm.nvvm.round.f", 2.5f), 2.0f);
  EXPECT_NEAR(unary("llvm.nvvm.sin.approx.f", 1.0f), std::sin(1.0f), 1e-6f);
}

TEST(EmulatorArithmetic, MinimaAndNaN) {
  auto max = [](const std::string &name, float x) {
    return compute<float>(x, "float", "float",
                          "  %r = call float @" + name + "(float %x, float 2.0)",
                          "declare float @" + name + "(float, float)");
  };
  EXPECT_EQ(max("llvm.nvvm.fmax.f", NAN), 2.0f);
  EXPECT_TRUE(std::isnan(max("llvm.nvvm.fmax.nan.f", NAN)));
  EXPECT_EQ(max("llvm.nvvm.fmin.f", 5.0f), 2.0f);
  EXPECT_TRUE(std::isnan(max("llvm.maximum.f32", NAN)));
}

TEST(EmulatorArithmetic, IntegerIntrinsics) {
  auto binary = [](const std::string &name, int32_t x, int32_t y) {
    return compute<int32_t>(x, "i32", "i32",
                            "  %r = call i32 @" + name + "(i32 %x, i32 " +
                                std::to_string(y) + ")",
                            "declare i32 @" + name + "(i32, i32)");
  };
  EXPECT_EQ(binary("llvm.nvvm.mulhi.i", -(1 << 30), 16), -4);
  EXPECT_EQ(binary("llvm.nvvm.mulhi.ui", -1, 2), 1);
  EXPECT_EQ(compute<uint32_t>(0x44332211u, "i32", "i32",
                              "  %r = call i32 @llvm.nvvm.prmt(i32 %x, i32 %x, i32 291)",
                              "declare i32 @llvm.nvvm.prmt(i32, i32, i32)"),
            0x11223344u); // selector 0x0123
}

TEST(EmulatorArithmetic, DivisionByZeroDoesNotFault) {
  compute<int32_t>(0, "i32", "i32", "  %r = sdiv i32 5, %x");
  EXPECT_EQ(compute<int32_t>(-1, "i32", "i32", "  %r = sdiv i32 6, %x"), -6);
}

TEST(EmulatorArithmetic, EightBitFloats) {
  const std::string declarations = "declare i16 @llvm.nvvm.ff.to.e4m3x2.rn(float, float)";
  auto encode = [&](float x) {
    return compute<uint16_t>(x, "float", "i16",
                             "  %r = call i16 @llvm.nvvm.ff.to.e4m3x2.rn(float 1.0, float %x)",
                             declarations);
  };
  EXPECT_EQ(encode(2.0f), 0x3840);
  EXPECT_EQ(encode(1e9f), 0x387E); // saturates
}

TEST(EmulatorArithmetic, AtomicsOfManyBlocks) {
  const std::string module = std::string(prologue) + R"(
define ptx_kernel void @k(ptr addrspace(1) %sums) {
  %a = atomicrmw add ptr addrspace(1) %sums, i32 1 syncscope("device") monotonic
  %pf = getelementptr i8, ptr addrspace(1) %sums, i32 4
  %f = atomicrmw fadd ptr addrspace(1) %pf, float 5.0e-1 monotonic
  %ph = getelementptr i8, ptr addrspace(1) %sums, i32 8
  %h = atomicrmw fadd ptr addrspace(1) %ph, half 1.0 monotonic
  %pb = getelementptr i8, ptr addrspace(1) %sums, i32 10
  %b = atomicrmw fadd ptr addrspace(1) %pb, bfloat 1.0 monotonic
  %p2 = getelementptr i8, ptr addrspace(1) %sums, i32 12
  %v = atomicrmw fadd ptr addrspace(1) %p2, <2 x half> <half 1.0, half 2.0> monotonic
  %px = getelementptr i8, ptr addrspace(1) %sums, i32 16
  %m = atomicrmw umax ptr addrspace(1) %px, i32 %a syncscope("block") acq_rel
  %pc = getelementptr i8, ptr addrspace(1) %sums, i32 20
  %c = cmpxchg ptr addrspace(1) %pc, i32 0, i32 7 syncscope("device") acq_rel monotonic
  ret void
})";
  EmulatedKernel kernel = load(module, "k");
  std::vector<uint32_t> sums(6);
  EXPECT_CLEAN(Launch(kernel).array(sums, "sums").run(32, 4));
  EXPECT_EQ(sums[0], 128u);
  EXPECT_EQ(sums[1], 0x42800000u); // 64.0f
  EXPECT_EQ(sums[2], 0x43005800u); // 128 as bfloat and as half
  EXPECT_EQ(sums[3], 0x5C005800u); // 256 and 128
  EXPECT_EQ(sums[4], 127u);
  EXPECT_EQ(sums[5], 7u);
}

TEST(EmulatorArithmetic, TablesInConstantMemory) {
  const std::string module = std::string(prologue) + R"(
@table = internal addrspace(4) constant [4 x i32] [i32 10, i32 20, i32 30, i32 40]
define ptx_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr addrspace(4) @table, i32 %t
  %v = load i32, ptr addrspace(4) %p
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %o
  ret void
})";
  EmulatedKernel kernel = load(module, "k");
  std::vector<int> out(5);
  EXPECT_CLEAN(Launch(kernel).array(out, "out").run(4));
  EXPECT_EQ(out, (std::vector<int>{10, 20, 30, 40, 0}));
  EXPECT_FINDS(Launch(kernel).array(out, "out").run(5), OutOfBounds);
}

TEST(EmulatorArithmetic, FunctionsPrivateMemoryAndByvalParameters) {
  const std::string module = std::string(prologue) + R"(
define internal i32 @pick(ptr %p, i32 %i) noinline {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %j = add i32 %i, %t
  %q = getelementptr i32, ptr %p, i32 %j
  %v = load i32, ptr %q
  ret i32 %v
}
define ptx_kernel void @k(ptr byval([4 x i32]) align 4 %blob, ptr addrspace(1) %out, i8 %b) {
  %local = alloca [4 x i32], align 16, addrspace(5)
  %generic = addrspacecast ptr addrspace(5) %local to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr %generic, ptr %blob, i64 16, i1 false)
  %v = call i32 @pick(ptr %generic, i32 1)
  %w = zext i8 %b to i32
  %s = add i32 %v, %w
  store i32 %s, ptr addrspace(1) %out
  ret void
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1))";
  std::string layout = mutate(module, "p6:32:32-i64:64-", "p6:32:32-i64:64-A5-");
  EmulatedKernel kernel = load(layout, "k");
  std::vector<int> out(1);
  EXPECT_CLEAN(Launch(kernel)
                   .scalar(std::array<int, 4>{1, 2, 3, 4})
                   .array(out, "out")
                   .scalar(uint8_t(200))
                   .run(1));
  EXPECT_EQ(out[0], 202);
}
