//===- Fma.cpp - matrix products on the plain arithmetic units -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a and b in shared memory, acc in registers. Out: a loop over chunks of K in
// which each thread reads the rows of a and the columns of b that its elements of
// acc need, and multiplies every pair:
//
//   for k0 in 0 .. K step chunk {
//     A = a[my rows, k0 .. k0 + chunk]       16-byte reads along K
//     B = b[k0 .. k0 + chunk, my columns]    16-byte reads along N
//     for kk in chunk: acc[r] = fma(A[row(r), kk], B[kk, column(r)], acc[r])
//   }
//
// Any sizes and all types of the language: f16, bf16, f8 and tf32 are widened to
// f32, i8 and u8 to i32; a f16 accumulator is kept in f32 over the loop and rounded
// once. Products of the narrow types are exact in f32.
//
//===------------------------------------------------------------------------===//
#include "Families.h"

#include "tilec/Atoms/NarrowFloat.h"
#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Layout/Span.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

/// Multiply-adds that one iteration of the loop may hold.
static constexpr int64_t maxBodyProducts = 2048;

//===------------------------------------------------------------------------===//
// Layouts
//===------------------------------------------------------------------------===//

/// How `parts` (a power of two) share m x n blocks so that each reads least: the part
/// along M. Parts that find no block hold copies.
static int64_t shareAlongM(int64_t parts, int64_t m, int64_t n) {
  int64_t best = 1, bestCost = INT64_MAX;
  for (int64_t alongM = 1; alongM <= std::min(parts, m); alongM *= 2) {
    int64_t alongN = std::min(parts / alongM, n);
    int64_t cost = (m / alongM + n / alongN) * (parts / (alongM * alongN));
    if (cost <= bestCost) {
      best = alongM;
      bestCost = cost;
    }
  }
  return best;
}

/// Each thread takes blocks of up to 4 x 4 neighbours, which is what reads of 16 bytes
/// give; lanes, then warps, tile the matrix so that a thread's part is nearly square;
/// what remains repeats in registers.
static Layout fmaAccLayout(const MmaProblem &problem) {
  ArrayRef<int64_t> shape = problem.accShape;
  unsigned rank = shape.size();
  int64_t m = shape[rank - 2], n = shape[rank - 1];
  int64_t threads = 32 * int64_t(problem.numWarps);
  int64_t batch = rank == 3 ? shape[0] : 1;
  int64_t perThread = std::max<int64_t>(batch * m * n / threads, 1);
  int64_t threadN = std::min({perThread, n, int64_t(4)});
  int64_t threadM = std::min({perThread / threadN, m, int64_t(4)});
  int64_t blocksM = m / threadM, blocksN = n / threadN;
  int64_t laneM = std::min<int64_t>(4, blocksM), laneN = std::min(32 / laneM, blocksN);
  laneM = std::min(32 / laneN, blocksM);
  int64_t warpM = shareAlongM(problem.numWarps, blocksM / laneM, blocksN / laneN);
  SmallVector<int64_t, 3> perThreadDims = {threadM, threadN}, lanes = {laneM, 32 / laneM},
                          warps = {warpM, problem.numWarps / warpM};
  SmallVector<unsigned, 3> order = {1, 0};
  if (rank == 3) {
    perThreadDims.insert(perThreadDims.begin(), 1);
    lanes.insert(lanes.begin(), 1);
    warps.insert(warps.begin(), 1);
    order = {2, 1, 0};
  }
  return Layout::blocked(shape, perThreadDims, lanes, warps, order);
}

/// K in registers (all of it), the rest where acc has it.
static OperandRead fmaRead(const MmaProblem &problem, const Layout &acc, Operand operand,
                           bool /*alongK*/) {
  bool isA = operand == Operand::A;
  ArrayRef<int64_t> shape = isA ? problem.aShape : problem.bShape;
  Layout result(shape);
  unsigned k = dimK(shape.size(), operand);
  unsigned bitsK = llvm::Log2_64(uint64_t(shape[k]));
  auto project = [&](uint64_t flat) {
    return projectToOperand(acc, Layout(shape), flat, operand);
  };
  if (isA)
    result.addRun(Input::Register, k, 1, bitsK);
  for (uint64_t basis : acc.bases(Input::Register))
    if (uint64_t projected = project(basis))
      result.addFlat(Input::Register, projected);
  if (!isA)
    result.addRun(Input::Register, k, 1, bitsK);
  for (Input input : {Input::Lane, Input::Warp})
    for (uint64_t basis : acc.bases(input))
      result.addFlat(input, project(basis));
  return {result};
}

//===------------------------------------------------------------------------===//
// Code
//===------------------------------------------------------------------------===//

/// The type that products are summed in.
static Type computeType(Type accElement) {
  if (accElement.isF16() || accElement.isBF16())
    return Float32Type::get(accElement.getContext());
  return accElement;
}

/// Widens a vector of stored elements to the type of the sums.
static Value widen(OpBuilder &builder, Location loc, Value vector,
                   const MmaOperand &operand, Type compute) {
  Type element = operand.elementType;
  auto type = cast<VectorType>(vector.getType()).clone(compute);
  if (isa<Float8E4M3FNType, Float8E5M2Type>(element))
    return emitFloat8ToF32(builder, loc, vector, isa<Float8E5M2Type>(element));
  if (vector.getType() == type)
    return vector;
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(builder, loc, type, vector);
  if (operand.isUnsigned)
    return arith::ExtUIOp::create(builder, loc, type, vector);
  return arith::ExtSIOp::create(builder, loc, type, vector);
}

namespace {

/// How one operand is read: a fragment of [chunk of K] x [independent rows or
/// columns], and which of its rows belongs to each register of acc.
struct OperandReader {
  OperandReader(OpBuilder &builder, Location loc, const MmaOperand &operand,
                const MmaEmission &emission, bool isA, unsigned chunkBits)
      : operand(operand), isA(isA), chunkBits(chunkBits) {
    Layout shape(operand.layout.shape());
    Layout inverse = operand.layout.invert();
    auto place = [&](uint64_t flat) {
      return inverse.applyFlat(Position{{0, 0, 0, 0, flat}});
    };
    const Layout &acc = emission.accLayout;
    auto project = [&](uint64_t flat) {
      return projectToOperand(acc, shape, flat, isA ? Operand::A : Operand::B);
    };
    // K.
    unsigned k = dimK(shape.rank(), isA ? Operand::A : Operand::B);
    unsigned bitsK = shape.fieldBits(k);
    LinearBases placesK;
    for (unsigned bit = 0; bit < bitsK; ++bit)
      placesK.push_back(place(uint64_t(1) << (shape.fieldShift(k) + bit)));
    // Registers: rows that differ.
    Span span;
    SmallVector<uint64_t> rows;
    for (uint64_t basis : acc.bases(Input::Register))
      if (span.add(project(basis)))
        rows.push_back(project(basis));
    numRowBits = rows.size();
    Span rowSpan(rows);
    for (uint64_t number = 0; number < acc.size(Input::Register); ++number) {
      uint64_t flat = acc.applyFlat(Position::thread(number, 0));
      rowOf.push_back(int64_t(*rowSpan.solve(project(flat))));
    }
    LinearBases rowPlaces;
    for (uint64_t row : rows)
      rowPlaces.push_back(place(row));
    LinearBases chunkPlaces(ArrayRef<uint64_t>(placesK).take_front(chunkBits));
    access.registerBases = isA ? chunkPlaces : rowPlaces;
    llvm::append_range(access.registerBases, isA ? rowPlaces : chunkPlaces);
    access.base = operand.value;
    access.elementType = storedType(operand.elementType);
    // The thread's part, and that of the chunk.
    LinearBases threadPlaces;
    for (uint64_t basis : threadBases(acc))
      threadPlaces.push_back(place(project(basis)));
    threadOffset = emitLinear(builder, loc, emission.thread, threadPlaces);
    loopPlaces.assign(placesK.begin() + chunkBits, placesK.end());
    access.offset = threadOffset;
    threadBits = reachableBits(threadPlaces);
    access.offsetBits = threadBits | reachableBits(loopPlaces);
  }

  /// The fragment of chunk `chunk` (i32, counted in chunks; null for the first).
  Value read(OpBuilder &builder, Location loc, Value chunk, Type compute) {
    if (chunk && !loopPlaces.empty()) {
      Value moved = emitLinear(builder, loc, chunk, loopPlaces);
      access.offset =
          threadBits & reachableBits(loopPlaces)
              ? arith::XOrIOp::create(builder, loc, threadOffset, moved).getResult()
              : arith::AddIOp::create(builder, loc, threadOffset, moved).getResult();
    }
    Value fragment = emitSharedLoad(builder, loc, access);
    return widen(builder, loc, fragment, operand, compute);
  }

  /// For each register of acc, its factor at step `kk` of the chunk.
  Value factors(OpBuilder &builder, Location loc, Value fragment, int64_t kk) const {
    SmallVector<int64_t> indices;
    for (int64_t row : rowOf)
      indices.push_back(isA ? kk + (row << chunkBits) : row + (kk << numRowBits));
    return emitShuffle(builder, loc, fragment, indices);
  }

private:
  const MmaOperand &operand;
  bool isA;
  unsigned chunkBits;
  unsigned numRowBits = 0;
  SmallVector<int64_t> rowOf;
  BufferAccess access;
  LinearBases loopPlaces;
  Value threadOffset;
  uint64_t threadBits = 0;
};

} // namespace

/// How many steps of K one iteration takes, as a power of two: one 16-byte read of a
/// where that keeps the body small.
static unsigned chooseChunkBits(const MmaEmission &emission, int64_t sizeK) {
  int64_t products = int64_t(emission.accLayout.size(Input::Register));
  int64_t wanted =
      16 * 8 / storedType(emission.a.elementType).getIntOrFloatBitWidth();
  int64_t allowed = std::max<int64_t>(maxBodyProducts / products, 1);
  return llvm::Log2_64(uint64_t(std::min({sizeK, wanted, allowed})));
}

static Value multiplyAdd(OpBuilder &builder, Location loc, Value a, Value b, Value acc) {
  if (isa<FloatType>(cast<VectorType>(acc.getType()).getElementType()))
    return math::FmaOp::create(builder, loc, a, b, acc);
  return arith::AddIOp::create(builder, loc, acc,
                               arith::MulIOp::create(builder, loc, a, b));
}

static Value emitFma(OpBuilder &builder, Location loc, const MmaEmission &emission) {
  auto accType = cast<VectorType>(emission.acc.getType());
  Type compute = computeType(accType.getElementType());
  int64_t sizeK = emission.a.layout.shape().back();
  unsigned chunkBits = chooseChunkBits(emission, sizeK);
  OperandReader a(builder, loc, emission.a, emission, true, chunkBits);
  OperandReader b(builder, loc, emission.b, emission, false, chunkBits);

  auto emitChunk = [&](OpBuilder &builder, Value chunk, Value acc) {
    Value fragmentA = a.read(builder, loc, chunk, compute);
    Value fragmentB = b.read(builder, loc, chunk, compute);
    for (int64_t kk = 0; kk < int64_t(1) << chunkBits; ++kk)
      acc = multiplyAdd(builder, loc, a.factors(builder, loc, fragmentA, kk),
                        b.factors(builder, loc, fragmentB, kk), acc);
    return acc;
  };

  Value acc = emission.acc;
  if (compute != accType.getElementType())
    acc = arith::ExtFOp::create(builder, loc, accType.clone(compute), acc);
  int64_t numChunks = sizeK >> chunkBits;
  if (numChunks == 1) {
    acc = emitChunk(builder, {}, acc);
  } else {
    auto loop = scf::ForOp::create(
        builder, loc, emitI32(builder, loc, 0), emitI32(builder, loc, numChunks),
        emitI32(builder, loc, 1), acc,
        [&](OpBuilder &body, Location, Value chunk, ValueRange carried) {
          scf::YieldOp::create(body, loc, emitChunk(body, chunk, carried[0]));
        });
    acc = loop.getResult(0);
  }
  if (compute != accType.getElementType())
    acc = arith::TruncFOp::create(builder, loc, accType, acc);
  return acc;
}

static bool fmaSupports(const MmaProblem &) { return true; }

const Atom tilec::fmaAtom = {
    /*name=*/"fma",
    /*aHome=*/OperandHome::Shared,
    /*bHome=*/OperandHome::Shared,
    /*scope=*/AtomScope::Thread,
    /*isAsync=*/false,
    /*features=*/0,
    /*supports=*/fmaSupports,
    /*accLayout=*/fmaAccLayout,
    /*readOperand=*/fmaRead,
    /*aRegisters=*/nullptr,
    /*emit=*/emitFma,
};
