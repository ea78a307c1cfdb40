//===- TensorProductKernel.cpp - a product in tensor memory, its kernel, its values -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
#include "TensorProductKernel.h"

#include "EmulatorTest.h"
#include "OperandValues.h"

#include "llvm/ADT/StringSwitch.h"

using namespace tilec;
using namespace tilec::test;

/// Bytes of shared memory kept for each operand; a barrier and an address follow.
static constexpr uint32_t operandBytes = 32 << 10;

//===--- the form -----------------------------------------------------------------===//

uint32_t TensorProductCase::elementBits() const {
  std::string name = a;
  return name == "tf32" ? 32 : name == "f16" || name == "bf16" ? 16 : 8;
}

bool TensorProductCase::isInteger() const {
  return llvm::StringRef(a) == "s8" || llvm::StringRef(a) == "u8";
}

uint32_t TensorProductCase::kind() const {
  return elementBits() == 16 ? 0 : elementBits() == 32 ? 1 : isInteger() ? 3 : 2;
}

uint32_t TensorProductCase::shape() const {
  auto code = [](llvm::StringRef type) {
    return llvm::StringSwitch<uint32_t>(type)
        .Cases({"f16", "e4m3", "u8"}, 0)
        .Cases({"bf16", "e5m2", "s8"}, 1)
        .Default(2);
  };
  uint32_t result = isInteger() ? 2 : isHalf ? 0 : 1;
  return result << 4 | code(a) << 7 | code(b) << 10 | uint32_t(transposeA) << 15 |
         uint32_t(transposeB) << 16 | n / 8 << 17 | m / 16 << 24;
}

std::string TensorProductCase::name() const {
  return std::string(a) + " " + b + " " + std::to_string(m) + "x" + std::to_string(n) +
         " swizzle " + std::to_string(swizzle) + (transposeA ? " ta" : "") +
         (transposeB ? " tb" : "") + (isHalf ? " half" : "");
}

//===--- the kernel -----------------------------------------------------------------===//

static const char *const declarations = R"(
@smem = external addrspace(3) global [0 x i8], align 1024
declare void @llvm.nvvm.fence.proxy.async.shared_cta()
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3), i32)
declare void @llvm.nvvm.tcgen05.alloc.shared.cg1(ptr addrspace(3), i32)
declare void @llvm.nvvm.tcgen05.dealloc.cg1(ptr addrspace(6), i32)
declare void @llvm.nvvm.tcgen05.relinq.alloc.permit.cg1()
declare void @llvm.nvvm.tcgen05.commit.shared.cg1(ptr addrspace(3))
declare void @llvm.nvvm.tcgen05.mma.shared(ptr addrspace(6), i64, i64, i32, i1, i32, i32, i32)
declare void @llvm.nvvm.tcgen05.fence.before.thread.sync()
declare void @llvm.nvvm.tcgen05.fence.after.thread.sync()
declare void @llvm.nvvm.tcgen05.wait.st()
define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %da, i64 %db) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %warp = lshr i32 %t, 5
  %base = ptrtoint ptr addrspace(3) @smem to i64
  %chunk = lshr i64 %base, 4
  %a = add i64 %da, %chunk
  %b = add i64 %db, %chunk
  %barrier = getelementptr i8, ptr addrspace(3) @smem, i32 65536
  %slot = getelementptr i8, ptr addrspace(3) @smem, i32 65544
  %isWarp0 = icmp eq i32 %warp, 0
  %isThread0 = icmp eq i32 %t, 0
  br i1 %isThread0, label %first, label %all
first:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) %barrier, i32 1)
  br label %all
all:
  br i1 %isWarp0, label %take, label %taken
take:
  call void @llvm.nvvm.tcgen05.alloc.shared.cg1(ptr addrspace(3) %slot, i32 256)
  call void @llvm.nvvm.tcgen05.relinq.alloc.permit.cg1()
  br label %taken
taken:
  br label %copy
copy:
  %i = phi i32 [ %t, %taken ], [ %next, %copy ]
  %from = getelementptr <4 x i32>, ptr addrspace(1) %in, i32 %i
  %to = getelementptr <4 x i32>, ptr addrspace(3) @smem, i32 %i
  %v = load <4 x i32>, ptr addrspace(1) %from, align 16
  store <4 x i32> %v, ptr addrspace(3) %to, align 16
  %next = add i32 %i, 128
  %more = icmp ult i32 %next, 4096
  br i1 %more, label %copy, label %copied
copied:
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %taddr = load i32, ptr addrspace(3) %slot
  %acc = inttoptr i32 %taddr to ptr addrspace(6)
  %quarter = shl i32 %warp, 21
  %own = add i32 %taddr, %quarter
  %lanes = inttoptr i32 %own to ptr addrspace(6)
)";

static const char *const ending = R"(
  call void @llvm.nvvm.tcgen05.fence.before.thread.sync()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %isWarp0, label %give, label %end
give:
  call void @llvm.nvvm.tcgen05.dealloc.cg1(ptr addrspace(6) %acc, i32 256)
  br label %end
end:
  ret void
}
)";

std::string TensorProductCase::kernel() const {
  // 64 rows lie in 16 lanes of each quarter, which the other shape of loads reads.
  std::string access = m == 128 ? "32x32b.x" + std::to_string(n)
                                : "16x256b.x" + std::to_string(n / 8);
  uint32_t registers = m == 128 ? n : n / 2;
  std::string count = std::to_string(registers), vector = "<" + count + " x i32>", all;
  for (uint32_t r = 0; r < registers; ++r)
    all += r ? ", i32" : "i32";
  std::string results = "{ " + all + " }", wait = "@tilec.tcgen05.wait.ld.i32x" + count;
  std::string three = isInteger() ? "3" : isHalf ? "16896" : "1077936128", splat;
  for (uint32_t r = 0; r < registers; ++r)
    splat += (r ? ", i32 " : "i32 ") + three;
  std::string out = std::string(prologue) + "declare " + vector + " @llvm.nvvm.tcgen05.ld." +
                    access + "(ptr addrspace(6), i1)\ndeclare void @llvm.nvvm.tcgen05.st." +
                    access + "(ptr addrspace(6), " + vector + ", i1)\ndeclare " + results + " " +
                    wait + "(" + all + ")" + declarations;
  if (accumulates)
    out += "  call void @llvm.nvvm.tcgen05.st." + access + "(ptr addrspace(6) %lanes, " + vector +
           " <" + splat + ">, i1 false)\n"
           "  call void @llvm.nvvm.tcgen05.wait.st()\n"
           "  call void @llvm.nvvm.tcgen05.fence.before.thread.sync()\n"
           "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
           "  call void @llvm.nvvm.tcgen05.fence.after.thread.sync() ; for products\n";
  out += "  br i1 %isThread0, label %issue, label %issued\nissue:\n";
  for (uint32_t step = 0; step < steps; ++step) {
    std::string s = std::to_string(step), more = std::to_string(2 * step);
    // Of MN-major operands the next k are rows further on.
    uint32_t rowBytes = k() * swizzle / 16;
    std::string stepA = transposeA ? std::to_string(step * rowBytes) : more;
    std::string stepB = transposeB ? std::to_string(step * rowBytes) : more;
    out += "  %a" + s + " = add i64 %a, " + stepA + "\n  %b" + s + " = add i64 %b, " + stepB +
           "\n  call void @llvm.nvvm.tcgen05.mma.shared(ptr addrspace(6) %acc, i64 %a" + s +
           ", i64 %b" + s + ", i32 " + std::to_string(shape()) + ", i1 " +
           (step || accumulates ? "true" : "false") + ", i32 " + std::to_string(kind()) +
           ", i32 1, i32 0)\n";
  }
  out += R"(  call void @llvm.nvvm.tcgen05.commit.shared.cg1(ptr addrspace(3) %barrier)
  br label %issued
issued:
  br label %wait
wait:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) %barrier, i32 0)
  br i1 %done, label %complete, label %wait
complete:
  call void @llvm.nvvm.tcgen05.fence.after.thread.sync() ; for loads
)";
  out += "  %x = call " + vector + " @llvm.nvvm.tcgen05.ld." + access +
         "(ptr addrspace(6) %lanes, i1 false)\n";
  std::string operands;
  for (uint32_t r = 0; r < registers; ++r) {
    std::string s = std::to_string(r);
    out += "  %x" + s + " = extractelement " + vector + " %x, i32 " + s + "\n";
    operands += (r ? ", i32 %x" : "i32 %x") + s;
  }
  out += "  %w = call " + results + " " + wait + "(" + operands + ")\n  %at = mul i32 %t, " +
         count + "\n";
  for (uint32_t r = 0; r < registers; ++r) {
    std::string s = std::to_string(r);
    out += "  %w" + s + " = extractvalue " + results + " %w, " + s + "\n  %n" + s +
           " = add i32 %at, " + s + "\n  %p" + s + " = getelementptr i32, ptr addrspace(1) %out, i32 %n" +
           s + "\n  store i32 %w" + s + ", ptr addrspace(1) %p" + s + "\n";
  }
  return out + ending;
}

//===--- operands -------------------------------------------------------------------===//

int TensorProductRun::valueOf(unsigned operand, uint32_t i, uint32_t k) const {
  return operandValue(operand ? product.b : product.a, operand, i, k);
}

/// The byte of element (i, k) of an operand with \p count rows: panels as wide as the
/// swizzle, in which a chunk's place depends on its row.
uint32_t TensorProductRun::offset(uint32_t count, uint32_t i, uint32_t k,
                                  bool isTransposed) const {
  uint32_t bytes = product.elementBits() / 8, width = product.swizzle;
  uint32_t row = isTransposed ? k : i, byte = (isTransposed ? i : k) * bytes;
  uint32_t rows = isTransposed ? product.k() * product.steps : count;
  uint32_t panel = byte / width, chunk = byte % width / 16;
  uint32_t pattern = width == 128 ? row % 8 : width == 64 ? row / 2 % 4 : row / 4 % 2;
  return panel * rows * width + row * width + (chunk ^ pattern) * 16 + byte % 16;
}

uint64_t TensorProductRun::describe(uint32_t base, uint32_t, bool isTransposed) const {
  uint32_t width = product.swizzle;
  uint64_t stride = 8 * width, kind = width == 128 ? 2 : width == 64 ? 4 : 6;
  uint64_t leading = isTransposed ? uint64_t(product.k() * product.steps) * width : 16;
  return base >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | uint64_t(1) << 46 | kind << 61;
}

void TensorProductRun::place(uint32_t base, unsigned operand, uint32_t count,
                             bool isTransposed) {
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t k = 0; k < product.k() * product.steps; ++k) {
      uint32_t bits = encodeOperand(operand ? product.b : product.a, valueOf(operand, i, k));
      std::memcpy(&image[base + offset(count, i, k, isTransposed)], &bits,
                  product.elementBits() / 8);
    }
}

TensorProductRun::TensorProductRun(const TensorProductCase &product)
    : product(product), image(2 * operandBytes), results(product.m * product.n) {
  place(0, 0, product.m, product.transposeA);
  place(operandBytes, 1, product.n, product.transposeB);
}

EmulatorReport TensorProductRun::launch(const std::string &text, std::optional<uint64_t> seed) {
  EmulatedKernel kernel = load(text, "k");
  Launch launch(kernel);
  launch.array(image, "in", false).array(results, "out");
  launch.scalar(describe(0, product.m, product.transposeA));
  launch.scalar(describe(operandBytes, product.n, product.transposeB));
  launch.shared(2 * operandBytes + 16);
  launch.launch.seed = seed;
  return launch.run(128);
}

void TensorProductRun::expectProduct() const {
  uint32_t registers = uint32_t(results.size()) / 128;
  for (uint32_t t = 0; t < 128; ++t)
    for (uint32_t r = 0; r < registers; ++r) {
      uint32_t row = t, column = r;
      if (product.m == 64) {
        row = t / 32 * 16 + t % 32 / 4 + (r & 2 ? 8 : 0);
        column = r / 4 * 8 + t % 4 * 2 + (r & 1);
      }
      int expected = product.accumulates ? 3 : 0;
      for (uint32_t k = 0; k < product.k() * product.steps; ++k)
        expected += valueOf(0, row, k) * valueOf(1, column, k);
      uint32_t word = results[t * registers + r];
      double found = product.isInteger() ? double(int32_t(word))
                     : product.isHalf    ? double(std::bit_cast<_Float16>(uint16_t(word)))
                                         : double(std::bit_cast<float>(word));
      ASSERT_EQ(found, double(expected)) << "row " << row << " column " << column;
    }
}
