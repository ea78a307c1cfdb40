//===- MmaSyncTest.cpp - layouts of mma.sync against the PTX manual --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Accumulators lie as the tables of the PTX manual say; buffers hold the rows that
// ldmatrix reads whole, aligned, and free of bank conflicts; results of one product are
// the a of another.
//
//===------------------------------------------------------------------------===//
#include "ProblemTest.h"

#include "tilec/Analysis/CopyLayout.h"
#include "tilec/Atoms/Atom.h"
#include "tilec/Layout/Conversion.h"
#include "tilec/Support/Target.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

#include <set>

using namespace tilec;
using namespace mlir;

namespace {

class MmaSyncTest : public test::ProblemTest {
protected:
  MmaSyncTest() : ProblemTest(findChip("sm_80")->features) {}

  Type f16 = Float16Type::get(&context), bf16 = BFloat16Type::get(&context),
       f32 = Float32Type::get(&context), f64 = Float64Type::get(&context),
       tf32 = FloatTF32Type::get(&context), i8 = IntegerType::get(&context, 8),
       i32 = IntegerType::get(&context, 32), e4m3 = Float8E4M3FNType::get(&context),
       e5m2 = Float8E5M2Type::get(&context);
};

TEST_F(MmaSyncTest, ChipsAndTypesDecide) {
  auto nameOn = [&](const char *chip, MmaProblem p) {
    p.features = findChip(chip)->features;
    return selectAtom(p)->name.str();
  };
  EXPECT_EQ(nameOn("sm_80", problem(64, 64, 32, 4, f16, f16)), "mma_sync");
  EXPECT_EQ(nameOn("sm_80", problem(64, 64, 32, 4, bf16, f32)), "mma_sync");
  EXPECT_EQ(nameOn("sm_80", problem(64, 64, 32, 4, tf32, f32)), "mma_sync");
  EXPECT_EQ(nameOn("sm_80", problem(64, 64, 32, 4, i8, i32)), "mma_sync");
  EXPECT_EQ(nameOn("sm_80", problem(64, 64, 32, 4, f64, f64)), "mma_sync");
  EXPECT_EQ(nameOn("sm_90", problem(64, 64, 32, 4, f64, f64)), "mma_sync_wide");
  EXPECT_EQ(nameOn("sm_80", problem(64, 64, 32, 4, f32, f32)), "fma");
  MmaProblem rounded = problem(64, 64, 32, 4, f32, f32);
  rounded.precision = tile::MmaPrecision::TF32;
  EXPECT_EQ(nameOn("sm_80", rounded), "mma_sync_tf32");
  rounded.precision = tile::MmaPrecision::TF32x3;
  EXPECT_EQ(nameOn("sm_80", rounded), "mma_sync_tf32x3");
  // f8 is exact unless told otherwise, so it is multiplied as f16.
  MmaProblem mixed = problem(64, 64, 32, 4, e4m3, f32);
  mixed.bType = e5m2;
  EXPECT_EQ(nameOn("sm_80", mixed), "mma_sync_f8_bits");
  EXPECT_EQ(nameOn("sm_89", mixed), "mma_sync_f8_half");
  mixed.precision = tile::MmaPrecision::Fast;
  EXPECT_EQ(nameOn("sm_80", mixed), "mma_sync_f8_bits");
  EXPECT_EQ(nameOn("sm_89", mixed), "mma_sync_f8");
  MmaProblem unknown = problem(64, 64, 32, 4, f16, f32);
  unknown.features = 0;
  EXPECT_EQ(selectAtom(unknown)->name, "fma");
}

/// PTX manual, "Matrix fragments for mma.m16n8k16": c0, c1 in row lane / 4, columns
/// 2 * (lane % 4) and the next; c2, c3 eight rows below.
TEST_F(MmaSyncTest, AccumulatorIsThatOfTheManual) {
  MmaProblem p = problem(16, 8, 16, 1, f16, f32);
  Layout acc = findAtom("mma_sync")->accLayout(p);
  ASSERT_EQ(acc.size(Input::Register), 4u);
  for (uint64_t lane = 0; lane < 32; ++lane)
    for (uint64_t i = 0; i < 4; ++i) {
      Layout::Coords wanted = {int64_t(lane / 4 + (i < 2 ? 0 : 8)),
                               int64_t(lane % 4 * 2 + i % 2)};
      EXPECT_EQ(acc.apply(Position::thread(i, lane)), wanted);
    }
}

TEST_F(MmaSyncTest, WarpsTakeNearlySquareParts) {
  auto sizes = [&](MmaProblem p) {
    Layout acc = findAtom("mma_sync")->accLayout(p);
    std::set<int64_t> rows, columns;
    for (uint64_t lane = 0; lane < 32; ++lane)
      for (uint64_t reg = 0; reg < acc.size(Input::Register); ++reg) {
        Layout::Coords at = acc.apply(Position::thread(reg, lane));
        rows.insert(at[0]);
        columns.insert(at[1]);
      }
    return std::pair(rows.size(), columns.size());
  };
  EXPECT_EQ(sizes(problem(128, 128, 32, 4, f16, f32)), std::pair(size_t(64), size_t(64)));
  EXPECT_EQ(sizes(problem(128, 256, 32, 8, f16, f32)), std::pair(size_t(64), size_t(64)));
  EXPECT_EQ(sizes(problem(16, 128, 32, 4, f16, f32)), std::pair(size_t(16), size_t(32)));
  MmaProblem rows = problem(64, 64, 32, 4, f16, f32);
  rows.keepsRowsInWarp = true;
  EXPECT_EQ(sizes(rows), std::pair(size_t(16), size_t(64)));
}

/// Everything is covered, whatever the sizes; copies where there is too little.
TEST_F(MmaSyncTest, LayoutsCoverOperands) {
  for (Type type : {f16, i8, tf32, f64})
    for (int64_t m : {1, 8, 16, 64})
      for (int64_t n : {1, 8, 16, 128})
        for (int64_t k : {1, 8, 64})
          for (unsigned warps : {1u, 4u, 8u}) {
            Type sum = type == i8 ? i32 : type == f64 ? f64 : f32;
            MmaProblem p = problem(m, n, k, warps, type, sum);
            const Atom *atom = selectAtom(p);
            ASSERT_EQ(atom->name, "mma_sync");
            Layout acc = atom->accLayout(p);
            EXPECT_TRUE(acc.isSurjective()) << acc.str();
            EXPECT_EQ(acc.numBits(Input::Lane), 5u);
            EXPECT_EQ(acc.size(Input::Warp), warps);
            for (Operand operand : {Operand::A, Operand::B})
              for (bool alongK : {false, true}) {
                Layout read = atom->readOperand(p, acc, operand, alongK).layout;
                EXPECT_TRUE(read.isSurjective()) << read.str();
                EXPECT_EQ(read.numBits(Input::Lane), 5u) << read.str();
                EXPECT_EQ(read.size(Input::Warp), warps) << read.str();
              }
          }
}

/// Rows of 16 bytes are whole in the buffer, and eight that are read at a time (or as
/// many as loads of 16 bytes write) lie in different banks.
TEST_F(MmaSyncTest, BuffersSuitMatrixLoads) {
  for (Type type : {f16, i8, tf32}) {
    unsigned bytes = type == f16 ? 2 : type == i8 ? 1 : 4, row = 16 / bytes;
    for (int64_t size : {64, 128})
      for (bool alongK : {true, false}) {
        if (!alongK && type != f16)
          continue;
        MmaProblem p = problem(size, size, 64, 4, type, type == i8 ? i32 : f32);
        const Atom *atom = findAtom("mma_sync");
        Layout acc = atom->accLayout(p);
        for (Operand operand : {Operand::A, Operand::B}) {
          ArrayRef<int64_t> shape = operand == Operand::A ? p.aShape : p.bShape;
          unsigned fast = dimK(2, operand);
          if (!alongK)
            fast = 1 - fast;
          for (int64_t width : {int64_t(row), int64_t(1)}) {
            Layout stored = Layout::coalesced(shape, {fast, 1 - fast}, width, 32, 4);
            OperandRead read = atom->readOperand(p, acc, operand, alongK);
            ASSERT_EQ(read.row, row);
            Layout buffer = operandBuffer(*atom, p, acc, operand, stored);
            EXPECT_EQ(countBankConflicts(read.layout, buffer, bytes * 8), 1u) << buffer.str();
            EXPECT_EQ(planSharedAccess(read.layout, buffer, bytes * 8).vector, row);
            if (width == row) {
              EXPECT_EQ(countBankConflicts(stored, buffer, bytes * 8), 1u) << buffer.str();
              EXPECT_EQ(planSharedAccess(stored, buffer, bytes * 8).vector, row);
            }
            // Element i of a row is i elements behind its first.
            Layout inverse = buffer.invert();
            uint64_t step = uint64_t(1) << buffer.fieldShift(fast);
            for (uint64_t first = 0; first < uint64_t(buffer.numElements()); ++first) {
              if (buffer.field(first, fast) % row)
                continue;
              uint64_t place = inverse.applyFlat(Position{{0, 0, 0, 0, first}});
              ASSERT_EQ(place % row, 0u);
              for (unsigned i = 1; i < row; ++i)
                ASSERT_EQ(inverse.applyFlat(Position{{0, 0, 0, 0, first + i * step}}),
                          place + i);
            }
          }
        }
      }
  }
}

/// What all threads copy into a ring: pieces of 16 bytes, no conflicts on either side.
TEST_F(MmaSyncTest, BuffersSuitCopies) {
  struct Case {
    Type type, acc;
    unsigned bytes;
  };
  for (const Case &c : {Case{f16, f32, 2}, Case{f32, f32, 4}, Case{f64, f64, 8}})
    for (int64_t depth : {32, 64})
      for (unsigned warps : {4u, 8u})
        for (bool alongK : {true, false}) {
          MmaProblem p = problem(128, 128, depth, warps, c.type, c.acc);
          const Atom *atom = selectAtom(p);
          Layout acc = atom->accLayout(p);
          for (Operand operand : {Operand::A, Operand::B}) {
            ArrayRef<int64_t> shape = operand == Operand::A ? p.aShape : p.bShape;
            bool rowsAreRows = alongK == (operand == Operand::A);
            SmallVector<int64_t> dims = {rowsAreRows ? 0 : 1, rowsAreRows ? 1 : 0};
            Layout copy = copyLayout(shape, dims, c.bytes, warps);
            Layout buffer = operandBuffer(*atom, p, acc, operand, copy, 16 / c.bytes);
            Layout read = atom->readOperand(p, acc, operand, alongK).layout;
            std::string what = atom->name.str() + (operand == Operand::A ? " a " : " b ") +
                               (alongK ? "along K " : "across ") + buffer.str();
            EXPECT_EQ(planSharedAccess(copy, buffer, c.bytes * 8).vector, 16 / c.bytes) << what;
            EXPECT_EQ(countBankConflicts(copy, buffer, c.bytes * 8), 1u) << what;
            EXPECT_EQ(countBankConflicts(read, buffer, c.bytes * 8), 1u) << what;
          }
        }
}

/// f64 in fragments of 16 rows, and f32 on the plain units: a along K and b along N or K are read
/// without conflicts where the engine put them.
TEST_F(MmaSyncTest, ThreadsReadWhatTheEngineSwizzles) {
  for (auto [type, name, bits, depth, alongK] :
       {std::tuple(f64, "mma_sync_wide", 64u, int64_t(16), false),
        std::tuple(f64, "mma_sync_wide", 64u, int64_t(32), false),
        std::tuple(f64, "mma_sync_wide", 64u, int64_t(16), true),
        std::tuple(f64, "mma_sync_wide", 64u, int64_t(32), true),
        std::tuple(f32, "fma", 32u, int64_t(32), false), std::tuple(f32, "fma", 32u, int64_t(64), false),
        std::tuple(f32, "fma", 32u, int64_t(16), true), std::tuple(f32, "fma", 32u, int64_t(32), true),
        std::tuple(f32, "fma", 32u, int64_t(64), true)}) {
    MmaProblem p = problem(128, 128, depth, 8, type, type);
    p.bIsAcrossK = !alongK;
    p.features = findChip("sm_90a")->features;
    const Atom *atom = selectAtom(p);
    ASSERT_EQ(atom->name, name);
    Layout acc = atom->accLayout(p);
    Layout a = atom->readOperand(p, acc, Operand::A, true).layout;
    Layout b = atom->readOperand(p, acc, Operand::B, alongK).layout;
    unsigned rowBytes = std::min(128u, unsigned(depth) * bits / 8);
    Layout bufferA = Layout::swizzled({128, depth}, {1, 0}, bits, rowBytes);
    Layout bufferB = alongK ? Layout::swizzled({depth, 128}, {0, 1}, bits, rowBytes)
                            : Layout::swizzled({depth, 128}, {1, 0}, bits, 128);
    EXPECT_TRUE(acc.isSurjective() && a.isSurjective() && b.isSurjective());
    EXPECT_EQ(countBankConflicts(a, bufferA, bits), 1u) << name << depth;
    EXPECT_EQ(countBankConflicts(b, bufferB, bits), 1u) << name << depth << alongK;
  }
}

/// softmax(q k) v: the rows of the first product are the second one's a, for 16 bits
/// without moving anything.
TEST_F(MmaSyncTest, ResultsAreOperandsOfTheNext) {
  MmaProblem first = problem(64, 128, 64, 4, bf16, f32);
  MmaProblem second = problem(64, 64, 128, 4, bf16, f32);
  first.keepsRowsInWarp = second.keepsRowsInWarp = true;
  const Atom *atom = findAtom("mma_sync");
  Layout result = atom->accLayout(first);
  std::optional<Layout> wanted = atom->aRegisters(second, atom->accLayout(second));
  ASSERT_TRUE(wanted);
  EXPECT_EQ(result, *wanted);
}

} // namespace
