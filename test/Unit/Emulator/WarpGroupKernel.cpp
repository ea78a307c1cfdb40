//===- WarpGroupKernel.cpp - a product, its kernel, and what it must give -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
#include "WarpGroupKernel.h"

#include "EmulatorTest.h"
#include "OperandValues.h"

#include "llvm/ADT/StringExtras.h"

#include <bit>

using namespace tilec;
using namespace tilec::test;

/// Bytes of shared memory kept for each operand.
static constexpr uint32_t operandBytes = 32 << 10;

//===--- the form -----------------------------------------------------------------===//

std::string ProductCase::type(unsigned index) const {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(types).split(parts, '.');
  return parts[index].str();
}

uint32_t ProductCase::elementBits() const {
  std::string name = type(1);
  return name == "tf32" ? 32 : name == "f16" || name == "bf16" ? 16 : 8;
}

std::string ProductCase::helperName() const {
  return "tilec.wgmma.m64n" + std::to_string(n) + "k" + std::to_string(k()) + "." + types +
         (aInRegisters ? ".rs" : ".ss") + (transposeA ? ".ta" : "") + (transposeB ? ".tb" : "");
}

//===--- the kernel -----------------------------------------------------------------===//

static std::string repeat(const std::string &text, uint32_t count) {
  std::string result;
  for (uint32_t i = 0; i < count; ++i)
    result += (i ? ", " : "") + text;
  return result;
}

std::string ProductCase::kernel() const {
  uint32_t p = registers();
  std::string element = type(0) == "f32" ? "float" : "i32";
  std::string all = "{ " + repeat(element, p) + " }";
  std::string typeOfA = aInRegisters ? "i32, i32, i32, i32" : "i64";
  std::string out = std::string(prologue) + R"(
@smem = external addrspace(3) global [0 x i8], align 1024
declare void @llvm.nvvm.fence.proxy.async.shared_cta()
declare void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 immarg)
declare void @llvm.nvvm.setmaxnreg.dec.sync.aligned.u32(i32 immarg)
declare void @tilec.wgmma.fence()
declare void @tilec.wgmma.commit()
)";
  std::string wait = "@tilec.wgmma.wait.0." + std::string(element == "float" ? "f32" : "i32") +
                     "x" + std::to_string(p);
  out += "declare " + all + " " + wait + "(" + repeat(element, p) + ")\n";
  out += "declare " + all + " @" + helperName() + "(" + repeat(element, p) + ", " + typeOfA +
         ", i64, i1)\n";
  out += R"(
define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %da, i64 %db) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %base = ptrtoint ptr addrspace(3) @smem to i64
  %low = and i64 %base, 262143
  %chunk = lshr i64 %low, 4
  %a = add i64 %da, %chunk
  %b = add i64 %db, %chunk
)";
  // Each thread copies every threads-th chunk of 16 bytes.
  uint32_t chunks = 2 * operandBytes / 16;
  for (uint32_t i = 0; i < chunks / threads; ++i) {
    std::string s = std::to_string(i);
    out += "  %i" + s + " = add i32 %t, " + std::to_string(i * threads) + "\n";
    out += "  %from" + s + " = getelementptr <4 x i32>, ptr addrspace(1) %in, i32 %i" + s + "\n";
    out += "  %slot" + s + " = getelementptr <4 x i32>, ptr addrspace(3) @smem, i32 %i" + s + "\n";
    out += "  %v" + s + " = load <4 x i32>, ptr addrspace(1) %from" + s + ", align 16\n";
    out += "  store <4 x i32> %v" + s + ", ptr addrspace(3) %slot" + s + ", align 16\n";
  }
  out += "  call void @llvm.nvvm.fence.proxy.async.shared_cta()\n"
         "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
         "  %inGroup = and i32 %t, 127\n";
  for (uint32_t i = 0; aInRegisters && i < 4 * steps; ++i) {
    std::string s = std::to_string(i);
    out += "  %ri" + s + " = add i32 %inGroup, " +
           std::to_string(2 * operandBytes / 4 + i * 128) + "\n  %rp" + s +
           " = getelementptr i32, ptr addrspace(1) %in, i32 %ri" + s + "\n  %r" + s +
           " = load i32, ptr addrspace(1) %rp" + s + "\n";
  }
  out += "  call void @tilec.wgmma.fence()\n";
  for (uint32_t step = 0; step < steps; ++step) {
    std::string s = std::to_string(step), operands;
    std::string start = element == "float"   ? "float 3.0"
                        : type(0) == "s32" ? "i32 3"
                                           : "i32 1107313152"; // two halves of 3.0
    for (uint32_t r = 0; r < p; ++r) {
      std::string value = "%x" + s + "_" + std::to_string(r);
      if (step)
        out += "  " + value + " = extractvalue " + all + " %acc" + std::to_string(step - 1) +
               ", " + std::to_string(r) + "\n";
      operands += (step ? element + " " + value : start) + ", ";
    }
    for (uint32_t r = 0; aInRegisters && r < 4; ++r)
      operands += "i32 %r" + std::to_string(4 * step + r) + ", ";
    std::string k = std::to_string(2 * step); // 32 bytes on, in units of 16
    if (!aInRegisters)
      out += "  %a" + s + " = add i64 %a, " + k + "\n";
    out += "  %b" + s + " = add i64 %b, " + k + "\n";
    operands += (aInRegisters ? "" : "i64 %a" + s + ", ") + "i64 %b" + s + ", i1 " +
                (step || accumulates ? "true" : "false");
    out += "  %acc" + s + " = call " + all + " @" + helperName() + "(" + operands + ")\n";
  }
  std::string last = "%acc" + std::to_string(steps - 1), operands;
  for (uint32_t r = 0; r < p; ++r) {
    std::string value = "%y" + std::to_string(r);
    out += "  " + value + " = extractvalue " + all + " " + last + ", " + std::to_string(r) + "\n";
    operands += (r ? ", " : "") + element + " " + value;
  }
  out += "  call void @tilec.wgmma.commit()\n";
  out += "  %done = call " + all + " " + wait + "(" + operands + ")\n";
  out += "  %at = mul i32 %t, " + std::to_string(p) + "\n";
  for (uint32_t r = 0; r < p; ++r) {
    std::string s = std::to_string(r);
    out += "  %out" + s + " = add i32 %at, " + s + "\n  %op" + s + " = getelementptr " + element +
           ", ptr addrspace(1) %out, i32 %out" + s + "\n  %z" + s + " = extractvalue " + all +
           " %done, " + s + "\n  store " + element + " %z" + s + ", ptr addrspace(1) %op" + s +
           "\n";
  }
  return out + "  ret void\n}\n";
}

//===--- operands -------------------------------------------------------------------===//

int test::ProductRun::valueOf(unsigned operand, uint32_t i, uint32_t k) const {
  return operandValue(product.type(operand + 1), operand, i, k);
}

uint32_t test::ProductRun::encode(unsigned operand, int value) const {
  return encodeOperand(product.type(operand + 1), value);
}

/// The byte of element (i, k) of an operand with \p count rows.
uint32_t test::ProductRun::offset(uint32_t count, uint32_t i, uint32_t k,
                                  bool isTransposed) const {
  uint32_t bytes = product.elementBits() / 8, width = product.swizzle;
  if (width == 0) { // core matrices of 8 rows of 16 bytes
    uint32_t row = isTransposed ? k : i, byte = (isTransposed ? i : k) * bytes;
    uint32_t across = (isTransposed ? count : product.k() * product.steps) * bytes / 16;
    return ((row / 8) * across + byte / 16) * 128 + row % 8 * 16 + byte % 16;
  }
  uint32_t row = isTransposed ? k : i, byte = (isTransposed ? i : k) * bytes;
  uint32_t rows = isTransposed ? product.k() * product.steps : count;
  uint32_t panel = byte / width, chunk = byte % width / 16;
  // Of 128 bytes every row has a pattern of its own, of 64 every two, of 32 every four.
  uint32_t pattern = width == 128 ? row % 8 : width == 64 ? row / 2 % 4 : row / 4 % 2;
  return panel * rows * width + row * width + (chunk ^ pattern) * 16 + byte % 16;
}

uint64_t test::ProductRun::describe(uint32_t base, uint32_t count, bool isTransposed) const {
  uint32_t bytes = product.elementBits() / 8, width = product.swizzle;
  uint64_t leading, stride, kind = width == 128 ? 1 : width == 64 ? 2 : width == 32 ? 3 : 0;
  if (width) {
    stride = 8 * width;
    leading = isTransposed ? uint64_t(product.k() * product.steps) * width : 16;
  } else if (isTransposed) { // leading: next 8 of k, stride: next 8 rows
    leading = uint64_t(count) * bytes / 16 * 128;
    stride = 128;
  } else {
    leading = 128;
    stride = uint64_t(product.k() * product.steps) * bytes / 16 * 128;
  }
  return base >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | kind << 62;
}

void test::ProductRun::place(uint32_t base, unsigned operand, uint32_t count,
                             bool isTransposed) {
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t k = 0; k < product.k() * product.steps; ++k) {
      uint32_t bits = encode(operand, valueOf(operand, i, k));
      std::memcpy(&image[base + offset(count, i, k, isTransposed)], &bits,
                  product.elementBits() / 8);
    }
}

/// Of a: register r of thread t, a word of consecutive k.
void test::ProductRun::placeRegisters() {
  uint32_t perWord = 32 / product.elementBits();
  for (uint32_t step = 0; step < product.steps; ++step)
    for (uint32_t t = 0; t < 128; ++t)
      for (uint32_t r = 0; r < 4; ++r) {
        uint32_t word = 0, row = t / 32 * 16 + t % 32 / 4 + (r & 1 ? 8 : 0);
        for (uint32_t e = 0; e < perWord; ++e) {
          uint32_t k = step * product.k() + (r & 2 ? product.k() / 2 : 0) + t % 4 * perWord + e;
          word |= encode(0, valueOf(0, row, k)) << (product.elementBits() % 32 * e);
        }
        std::memcpy(&image[2 * operandBytes + ((4 * step + r) * 128 + t) * 4], &word, 4);
      }
}

test::ProductRun::ProductRun(const ProductCase &product)
    : product(product), image(2 * operandBytes + 128 * 16 * product.steps),
      accumulators(product.threads * product.registers()) {
  place(0, 0, 64, product.transposeA);
  place(operandBytes, 1, product.n, product.transposeB);
  placeRegisters();
  a = describe(0, 64, product.transposeA);
  b = describe(operandBytes, product.n, product.transposeB);
}

EmulatorReport test::ProductRun::launch(const std::string &text, std::optional<uint64_t> seed) {
  EmulatedKernel kernel = load(text, "k");
  Launch launch(kernel);
  launch.array(image, "in", false).array(accumulators, "out").scalar(a).scalar(b);
  launch.shared(2 * operandBytes);
  launch.launch.seed = seed;
  return launch.run(product.threads);
}

void test::ProductRun::expectProduct() const {
  uint32_t registers = product.registers();
  bool isPacked = product.type(0) == "f16", isInteger = product.type(0) == "s32";
  for (uint32_t thread = 0; thread < product.threads; ++thread)
    for (uint32_t e = 0; e < product.n / 2; ++e) {
      uint32_t t = thread % 128;
      uint32_t row = t / 32 * 16 + t % 32 / 4 + (e & 2 ? 8 : 0);
      uint32_t column = e / 4 * 8 + t % 4 * 2 + (e & 1);
      int expected = product.accumulates ? 3 : 0;
      for (uint32_t k = 0; k < product.k() * product.steps; ++k)
        expected += valueOf(0, row, k) * valueOf(1, column, k);
      uint32_t word = accumulators[thread * registers + (isPacked ? e / 2 : e)];
      double found = isInteger ? double(int32_t(word))
                     : isPacked
                         ? double(std::bit_cast<_Float16>(uint16_t(word >> (e & 1 ? 16 : 0))))
                         : double(std::bit_cast<float>(word));
      ASSERT_EQ(found, double(expected)) << "thread " << thread << " element " << e;
    }
}
