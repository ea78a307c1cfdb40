//===- Tcgen05Test.cpp - accumulators in tensor memory, descriptors --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Which thread reads which element against the PTX manual's figures; descriptors bit by bit
// and against the addresses that the unit reads for them.
//
//===------------------------------------------------------------------------===//
#include "OperandAddresses.h"
#include "ProblemTest.h"

#include "tilec/Atoms/Tcgen05.h"
#include "tilec/Support/Target.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

using namespace tilec;
using namespace tilec::test;

namespace {

class Tcgen05Test : public ProblemTest {
protected:
  Tcgen05Test() : ProblemTest(/*features=*/0) {}

  std::string selected(MmaProblem p, const char *chip) {
    p.features = findChip(chip)->features;
    return selectAtom(p)->name.str();
  }

  const Atom *atom = findAtom("tcgen05");
};

TEST_F(Tcgen05Test, Supports) {
  EXPECT_EQ(atom->accHome(), OperandHome::TensorMemory);
  EXPECT_TRUE(atom->supports(bf16Problem(128, 16, 16, 4)));
  EXPECT_TRUE(atom->supports(bf16Problem(64, 256, 64, 4)));
  EXPECT_TRUE(atom->supports(bf16Problem(256, 128, 64, 8)));
  EXPECT_FALSE(atom->supports(bf16Problem(32, 128, 64, 4)));
  EXPECT_FALSE(atom->supports(bf16Problem(128, 8, 64, 4)));
  EXPECT_FALSE(atom->supports(bf16Problem(128, 128, 8, 4)));
  EXPECT_FALSE(atom->supports(bf16Problem(128, 128, 64, 2)));
  // 256 elements a thread, and 512.
  EXPECT_TRUE(atom->supports(bf16Problem(128, 256, 64, 4)));
  EXPECT_FALSE(atom->supports(bf16Problem(256, 256, 64, 4)));
  // What other accumulators have left.
  MmaProblem large = bf16Problem(256, 256, 64, 8);
  EXPECT_TRUE(atom->supports(large));
  large.freeColumns = 511;
  EXPECT_FALSE(atom->supports(large));
}

TEST_F(Tcgen05Test, TypesAndChips) {
  EXPECT_EQ(selected(bf16Problem(128, 128, 64, 4), "sm_100a"), "tcgen05");
  EXPECT_EQ(selected(bf16Problem(128, 128, 64, 4), "sm_103a"), "tcgen05");
  EXPECT_EQ(selected(bf16Problem(128, 128, 64, 4), "sm_100"), "mma_sync");
  EXPECT_EQ(selected(bf16Problem(128, 128, 64, 4), "sm_120a"), "mma_sync");
  EXPECT_EQ(selected(bf16Problem(128, 128, 64, 4), "sm_90a"), "wgmma");
  MmaProblem integers = problem(128, 128, 64, 4, b.getI8Type(), b.getI32Type());
  EXPECT_EQ(selected(integers, "sm_100a"), "tcgen05_i8");
  EXPECT_EQ(selected(integers, "sm_103a"), "mma_sync");
  MmaProblem f32 = problem(128, 128, 64, 4, b.getF32Type(), b.getF32Type());
  EXPECT_EQ(selected(f32, "sm_100a"), "fma");
  f32.precision = tile::MmaPrecision::TF32;
  EXPECT_EQ(selected(f32, "sm_100a"), "tcgen05");
  // Sums of f8 are exact unless the program says otherwise.
  MmaProblem f8 = problem(128, 128, 128, 4, b.getType<mlir::Float8E4M3FNType>(), b.getF32Type());
  EXPECT_EQ(selected(f8, "sm_100a"), "tcgen05_promoted");
  f8.precision = tile::MmaPrecision::Fast;
  EXPECT_EQ(selected(f8, "sm_100a"), "tcgen05");
  // Sums in f16 stay with the warps.
  EXPECT_EQ(selected(problem(128, 128, 64, 4, b.getF16Type(), b.getF16Type()), "sm_100a"),
            "mma_sync");
}

/// 128 rows: lane l of warp w has row 32(w % 4) + l, its registers are columns.
TEST_F(Tcgen05Test, ThreadsHaveRows) {
  struct Case {
    int64_t m, n;
    unsigned warps;
    int64_t row, column; ///< where the second warp group begins
  };
  for (Case c : {Case{128, 64, 4, 0, 0}, Case{128, 128, 8, 0, 64}, Case{256, 128, 8, 128, 0},
                 Case{256, 64, 4, 0, 0}}) {
    Layout acc = atom->accLayout(bf16Problem(c.m, c.n, 64, c.warps));
    EXPECT_TRUE(acc.isSurjective() && acc.isInjective());
    int64_t columns = c.column ? c.column : c.n;
    for (uint64_t reg = 0; reg < acc.size(Input::Register); ++reg)
      for (uint64_t lane : {0u, 1u, 31u})
        for (uint64_t warp = 0; warp < c.warps; ++warp) {
          int64_t row = int64_t(32 * (warp % 4) + lane) + 128 * (int64_t(reg) / columns);
          int64_t column = int64_t(reg) % columns;
          if (warp >= 4) {
            row += c.row;
            column += c.column;
          }
          EXPECT_EQ(acc.apply(Position::thread(reg, lane, warp)), (Layout::Coords{row, column}));
        }
  }
}

/// 64 rows: register r of lane l of warp w is row 16w + l/4 + 8(r/2 % 2), column 2(l % 4) +
/// r % 2 + 8(r/4).
TEST_F(Tcgen05Test, HalfOfTheLanes) {
  Layout acc = atom->accLayout(bf16Problem(64, 64, 64, 4));
  EXPECT_TRUE(acc.isSurjective() && acc.isInjective());
  for (uint64_t reg = 0; reg < acc.size(Input::Register); ++reg)
    for (uint64_t lane : {0u, 5u, 31u})
      for (uint64_t warp = 0; warp < 4; ++warp)
        EXPECT_EQ(acc.apply(Position::thread(reg, lane, warp)),
                  (Layout::Coords{int64_t(16 * warp + lane / 4 + 8 * (reg / 2 % 2)),
                                  int64_t(2 * (lane % 4) + reg % 2 + 8 * (reg / 4))}));
}

TEST_F(Tcgen05Test, OperandsLieAsDescribed) {
  for (bool kMajor : {true, false}) {
    for (int64_t k : {16, 32, 64, 128})
      expectDescribed(atom->aBuffer(bf16Problem(128, 64, k, 4), kMajor), 16, true, !kMajor, 128);
    for (int64_t n : {16, 32, 64, 256})
      expectDescribed(atom->bBuffer(bf16Problem(128, n, 64, 4), kMajor), 16, false, !kMajor, n);
    // Bytes may run along M and N, too.
    MmaProblem bytes = problem(128, 128, 64, 4, b.getI8Type(), b.getI32Type());
    expectDescribed(atom->aBuffer(bytes, kMajor), 8, true, !kMajor, 128);
    expectDescribed(atom->bBuffer(bytes, kMajor), 8, false, !kMajor, 128);
    MmaProblem tf32 = problem(128, 64, 32, 4, b.getType<mlir::FloatTF32Type>(), b.getF32Type());
    expectDescribed(atom->aBuffer(tf32, kMajor), 32, true, false, 128);
    expectDescribed(atom->bBuffer(tf32, kMajor), 32, false, false, 64);
  }
  // 16 bytes are too few for rows along N.
  expectDescribed(atom->bBuffer(problem(128, 16, 64, 4, b.getI8Type(), b.getI32Type()), false), 8,
                  false, false, 16);
}

TEST_F(Tcgen05Test, OperandDescriptorBits) {
  uint64_t version = uint64_t(1) << 46, stride = uint64_t(64) << 32;
  WgmmaOperand operand{false, 128, 16, 1024};
  EXPECT_EQ(tcgen05OperandDescriptor(operand), uint64_t(2) << 61 | version | stride | 1 << 16);
  operand = {true, 64, 4096, 512};
  EXPECT_EQ(tcgen05OperandDescriptor(operand),
            uint64_t(4) << 61 | version | uint64_t(32) << 32 | 256 << 16);
  operand = {false, 32, 16, 256};
  EXPECT_EQ(tcgen05OperandDescriptor(operand),
            uint64_t(6) << 61 | version | uint64_t(16) << 32 | 1 << 16);
}

TEST_F(Tcgen05Test, InstructionDescriptorBits) {
  // d in bits 4-5, a in 7-9, b in 10-12, orders in 15 and 16, N/8 in 17-22, M/16 in 24-28.
  uint32_t f32 = 1 << 4, shape = 32u << 17 | 8u << 24;
  EXPECT_EQ((Tcgen05Form{128, 256, DType::BF16, DType::BF16}.descriptor()),
            f32 | 1 << 7 | 1 << 10 | shape);
  EXPECT_EQ((Tcgen05Form{128, 256, DType::F16, DType::F16, true, false}.descriptor()),
            f32 | 1 << 15 | shape);
  EXPECT_EQ((Tcgen05Form{64, 16, DType::TF32, DType::TF32}.descriptor()),
            f32 | 2 << 7 | 2 << 10 | 2u << 17 | 4u << 24);
  EXPECT_EQ((Tcgen05Form{128, 256, DType::F8E4M3, DType::F8E5M2, false, true}.descriptor()),
            f32 | 1 << 10 | 1 << 16 | shape);
  EXPECT_EQ((Tcgen05Form{128, 256, DType::I8, DType::U8}.descriptor()), 2u << 4 | 1 << 7 | shape);
  EXPECT_EQ((Tcgen05Form{128, 256, DType::U8, DType::I8}.descriptor()), 2u << 4 | 1 << 10 | shape);
  EXPECT_EQ((Tcgen05Form{128, 256, DType::TF32, DType::TF32}.k()), 8u);
  EXPECT_EQ((Tcgen05Form{128, 256, DType::I8, DType::U8}.k()), 32u);
}

} // namespace
