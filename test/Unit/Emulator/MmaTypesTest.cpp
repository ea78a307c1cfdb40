//===- MmaTypesTest.cpp - mma.sync for every element type, stmatrix -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// A warp loads its fragment registers from an array, register by register, multiplies
// once, and stores its accumulators. The fragments are made here from whole matrices,
// with the layouts written out as the PTX ISA's tables have them: (row, column) of each
// register for each lane. Values are small integers, so every type is exact.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"

#include <bit>
#include <functional>

using namespace tilec;
using namespace tilec::test;

namespace {

struct Type {
  const char *intrinsic; ///< after llvm.nvvm.mma.
  unsigned k, bits;
  const char *operand;     ///< LLVM type of a fragment register
  const char *accumulator; ///< LLVM type of an accumulator register
  unsigned accumulators;   ///< registers
  std::function<uint32_t(int)> encode;
  bool integer = false;
};

std::string moduleFor(const Type &type) {
  unsigned registersB = type.k * type.bits / 128, registersA = 2 * registersB;
  std::string result = "{", parameters, loads, call, stores;
  auto load = [&](const std::string &name, unsigned index, const std::string &llvmType) {
    loads += "  %p" + name + " = getelementptr i32, ptr addrspace(1) %mine, i32 " +
             std::to_string(index) + "\n  %" + name + " = load " + llvmType +
             ", ptr addrspace(1) %p" + name + ", align 4\n";
    call += (call.empty() ? "" : ", ") + llvmType + " %" + name;
    parameters += (parameters.empty() ? "" : ", ") + llvmType;
  };
  unsigned index = 0;
  for (unsigned i = 0; i < registersA + registersB; ++i)
    load("f" + std::to_string(i), index++, type.operand);
  for (unsigned i = 0; i < type.accumulators; ++i) {
    load("c" + std::to_string(i), index++, type.accumulator);
    result += (i ? ", " : "") + std::string(type.accumulator);
  }
  result += "}";
  for (unsigned i = 0; i < type.accumulators; ++i) {
    std::string n = std::to_string(i);
    stores += "  %r" + n + " = extractvalue " + result + " %d, " + n +
              "\n  %q" + n + " = getelementptr i32, ptr addrspace(1) %yours, i32 " + n +
              "\n  store " + type.accumulator + " %r" + n + ", ptr addrspace(1) %q" + n +
              ", align 4\n";
  }
  std::string name = std::string("@llvm.nvvm.mma.") + type.intrinsic;
  return std::string(prologue) + "declare " + result + " " + name + "(" + parameters +
         ")\ndefine ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {\n"
         "  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()\n"
         "  %i = shl i32 %lane, 4\n  %j = shl i32 %lane, 2\n"
         "  %mine = getelementptr i32, ptr addrspace(1) %in, i32 %i\n"
         "  %yours = getelementptr i32, ptr addrspace(1) %out, i32 %j\n" +
         loads + "  %d = call " + result + " " + name + "(" + call + ")\n" + stores +
         "  ret void\n}";
}

uint32_t half(int x) { return std::bit_cast<uint16_t>(_Float16(x)); }
uint32_t brain(int x) { return std::bit_cast<uint32_t>(float(x)) >> 16; }
uint32_t single(int x) { return std::bit_cast<uint32_t>(float(x)); }
uint32_t byte(int x) { return uint8_t(x); }
uint32_t e4m3(int x) {
  static const uint8_t codes[] = {0, 0x38, 0x40, 0x44};
  return codes[std::abs(x)] | (x < 0 ? 0x80 : 0);
}
uint32_t e5m2(int x) {
  static const uint8_t codes[] = {0, 0x3C, 0x40, 0x42};
  return codes[std::abs(x)] | (x < 0 ? 0x80 : 0);
}

void check(const Type &type) {
  SCOPED_TRACE(type.intrinsic);
  unsigned k = type.k, perRegister = 32 / type.bits;
  unsigned registersB = k / (4 * perRegister), registersA = 2 * registersB;
  auto a = [&](unsigned row, unsigned column) { return int((row * 3 + column * 5) % 7) - 3; };
  auto b = [&](unsigned row, unsigned column) { return int((row * 2 + column * 3) % 5) - 2; };
  std::vector<uint32_t> in(32 * 16), out(32 * 4);
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned group = lane >> 2, inGroup = lane & 3;
    uint32_t *words = &in[lane * 16];
    for (unsigned e = 0; e < registersA * perRegister; ++e) {
      // PTX ISA: row = group for a0.. of registers 0 and 2, group + 8 for 1 and 3
      unsigned r = e / perRegister, j = e % perRegister;
      unsigned row = r == 0 || r == 2 ? group : group + 8;
      unsigned column = inGroup * perRegister + j + (r >= 2 ? 4 * perRegister : 0);
      words[r] |= type.encode(a(row, column)) << (j * type.bits % 32);
    }
    for (unsigned e = 0; e < registersB * perRegister; ++e) {
      unsigned r = e / perRegister, j = e % perRegister;
      unsigned row = inGroup * perRegister + j + (r ? 4 * perRegister : 0);
      words[registersA + r] |= type.encode(b(row, group)) << (j * type.bits % 32);
    }
    for (unsigned i = 0; i < type.accumulators; ++i)
      words[registersA + registersB + i] = type.integer ? 10
                                           : type.accumulators == 2
                                               ? half(10) | half(10) << 16
                                               : single(10);
  }
  EmulatedKernel kernel = load(moduleFor(type), "k");
  EXPECT_CLEAN(Launch(kernel).array(in, "in", false).array(out, "out").run(32));
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      unsigned row = (lane >> 2) + (i < 2 ? 0 : 8), column = 2 * (lane & 3) + (i & 1);
      int sum = 10;
      for (unsigned x = 0; x < k; ++x)
        sum += a(row, x) * b(x, column);
      uint32_t word = type.accumulators == 2 ? out[lane * 4 + i / 2] >> (16 * (i & 1)) & 0xFFFF
                                             : out[lane * 4 + i];
      uint32_t expected = type.integer             ? uint32_t(sum)
                          : type.accumulators == 2 ? half(sum)
                                                   : single(sum);
      ASSERT_EQ(word, expected) << "lane " << lane << " element " << i;
    }
}

} // namespace

TEST(EmulatorMmaTypes, SixteenBits) {
  check({"m16n8k16.row.col.bf16", 16, 16, "i32", "float", 4, brain});
  check({"m16n8k8.row.col.bf16", 8, 16, "i32", "float", 4, brain});
  check({"m16n8k16.row.col.f32.f32", 16, 16, "<2 x half>", "float", 4, half});
  check({"m16n8k8.row.col.f32.f32", 8, 16, "<2 x half>", "float", 4, half});
  check({"m16n8k16.row.col.f16.f16", 16, 16, "<2 x half>", "<2 x half>", 2, half});
}

TEST(EmulatorMmaTypes, TF32) {
  check({"m16n8k8.row.col.tf32", 8, 32, "i32", "float", 4, single});
  check({"m16n8k4.row.col.tf32", 4, 32, "i32", "float", 4, single});
}

TEST(EmulatorMmaTypes, EightBits) {
  check({"m16n8k32.row.col.s8", 32, 8, "i32", "i32", 4, byte, true});
  check({"m16n8k16.row.col.s8", 16, 8, "i32", "i32", 4, byte, true});
  check({"m16n8k32.row.col.f32.e4m3.e4m3.f32", 32, 8, "i32", "float", 4, e4m3});
  check({"m16n8k32.row.col.f32.e5m2.e5m2.f32", 32, 8, "i32", "float", 4, e5m2});
}

TEST(EmulatorMmaTypes, StmatrixIsTheInverseOfLdmatrix) {
  const std::string module = std::string(prologue) + R"(
@from = internal addrspace(3) global [256 x i16] undef, align 16
@to = internal addrspace(3) global [256 x i16] undef, align 16
declare {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3))
declare void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3), i32, i32, i32, i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
define ptx_kernel void @k(ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %i = shl i32 %lane, 3
  %g = getelementptr i16, ptr addrspace(1) %x, i32 %i
  %v = load <8 x i16>, ptr addrspace(1) %g, align 4
  %s = getelementptr i16, ptr addrspace(3) @from, i32 %i
  store <8 x i16> %v, ptr addrspace(3) %s, align 16
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %f = call {i32, i32, i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %s)
  %f0 = extractvalue {i32, i32, i32, i32} %f, 0
  %f1 = extractvalue {i32, i32, i32, i32} %f, 1
  %f2 = extractvalue {i32, i32, i32, i32} %f, 2
  %f3 = extractvalue {i32, i32, i32, i32} %f, 3
  %t = getelementptr i16, ptr addrspace(3) @to, i32 %i
  call void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %t, i32 %f0, i32 %f1, i32 %f2, i32 %f3)
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %w = load <8 x i16>, ptr addrspace(3) %t, align 16
  %o = getelementptr i16, ptr addrspace(1) %y, i32 %i
  store <8 x i16> %w, ptr addrspace(1) %o, align 4
  ret void
})";
  EmulatedKernel kernel = load(module, "k");
  std::vector<uint16_t> x(256), y(256);
  for (unsigned i = 0; i < 256; ++i)
    x[i] = uint16_t(i);
  EXPECT_CLEAN(Launch(kernel).array(x, "x", false).array(y, "y").run(32));
  // Each of the four 8 x 8 matrices is transposed.
  for (unsigned m = 0; m < 4; ++m)
    for (unsigned r = 0; r < 8; ++r)
      for (unsigned c = 0; c < 8; ++c)
        ASSERT_EQ(y[m * 64 + r * 8 + c], x[m * 64 + c * 8 + r]);
}
