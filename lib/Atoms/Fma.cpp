//===- Fma.cpp - matrix products on the plain arithmetic units -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a and b in shared memory, acc in registers. Out: a loop over chunks of K in
// which each thread reads the rows of a and the columns of b that its elements of
// acc need, and multiplies every pair. What is multiplied next is read before what is
// at hand is multiplied, across the ends of chunks too:
//
//   A = a[my rows, chunk 0]   B = piece 0 of b[chunk 0, my columns]
//   for chunk in 0 .. last {
//     A' = a[my rows, chunk + 1]
//     for piece: B' = the next piece
//       acc[r] = fma(A[row(r), kk], B[kk, column(r)], acc[r]) for what is in the piece
//   }   and the last chunk without A'
//
// Reads are of 16 bytes, along whichever dim of the buffer is dense. A piece of b is one
// step of K of all columns, or where neighbours along K lie side by side, some columns
// of the whole chunk: a quarter of the chunk, so that registers for two suffice.
//
// Any sizes and all types of the language: f16, bf16, f8 and tf32 are widened to
// f32, i8 and u8 to i32; a f16 accumulator is kept in f32 over the loop and rounded
// once. Products of the narrow types are exact in f32. Each element is summed in the
// order of K.
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

#include <optional>

using namespace mlir;
using namespace tilec;

/// Multiply-adds of one chunk. An iteration of the loop has two such chunks, whose registers
/// take turns; larger ones go alone.
static constexpr int64_t maxChunkProducts = 512;

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

/// An access of 16 bytes serves two quarters of the warp at once where lanes that differ in
/// bit 0 or 1 read the same place: a has that in bit 0, where lanes go along N, and b in
/// bit 1. Bits 2 and 3 go along N as well, so that rows of b are read whole and two rows
/// of a, which no swizzle brings to the same banks.
static Layout orderLanes(const Layout &layout) {
  unsigned last = layout.rank() - 1;
  SmallVector<uint64_t, 5> lanes, others;
  for (uint64_t basis : layout.bases(Input::Lane))
    (layout.field(basis, last) ? lanes : others).push_back(basis);
  if (!lanes.empty() && !others.empty()) {
    lanes.insert(lanes.begin() + 1, others.front());
    others.erase(others.begin());
  }
  lanes.append(others);
  Layout result(layout.shape());
  for (Input input : allInputs)
    for (uint64_t basis : input == Input::Lane ? ArrayRef<uint64_t>(lanes) : layout.bases(input))
      result.addFlat(input, basis);
  return result;
}

/// Turns the columns of a thread, up to `threadN`, and those of `laneN` lanes around: lanes have
/// neighbours, and a thread what lies `laneN` apart.
static Layout spreadColumns(const Layout &layout, uint64_t threadN, uint64_t laneN) {
  unsigned last = layout.rank() - 1;
  Layout result(layout.shape());
  for (Input input : allInputs)
    for (uint64_t basis : layout.bases(input)) {
      uint64_t column = layout.field(basis, last);
      if (column && column < threadN * laneN) {
        uint64_t moved = column < threadN ? column * laneN : column / threadN;
        basis ^= (column ^ moved) << layout.fieldShift(last);
      }
      result.addFlat(input, basis);
    }
  return result;
}

/// Each thread takes blocks of up to 4 x 4 neighbours, which is what reads of 16 bytes
/// give; lanes, then warps, tile the matrix so that a thread's part is nearly square;
/// what remains repeats in registers. Where b lies along K, a read is of four steps of one
/// column, and it is lanes that have columns side by side: eight rows of the buffer in a row
/// are what swizzles bring to different banks.
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
  Layout layout = orderLanes(Layout::blocked(shape, perThreadDims, lanes, warps, order));
  return problem.bIsAcrossK ? layout : spreadColumns(layout, uint64_t(threadN), uint64_t(laneN));
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

static Value multiplyAdd(OpBuilder &builder, Location loc, Value a, Value b, Value acc) {
  if (isa<FloatType>(cast<VectorType>(acc.getType()).getElementType()))
    return math::FmaOp::create(builder, loc, a, b, acc);
  return arith::AddIOp::create(builder, loc, acc,
                               arith::MulIOp::create(builder, loc, a, b));
}

namespace {

/// How K is cut: chunks of 1 << `stepBits` steps, 1 << `chunkBits` of them to an iteration.
struct Cut {
  unsigned stepBits, chunkBits;

  int64_t steps() const { return int64_t(1) << stepBits; }
  unsigned chunks() const { return 1u << chunkBits; }
};

/// A chunk: of iteration `iteration` (i32; null for the first), the `number`-th.
struct ChunkPlace {
  Value iteration;
  unsigned number;
};

/// How one operand is read: the rows or columns that a thread needs (those of acc's
/// registers that differ), by chunks of K, which come whole or in pieces.
class OperandReader {
public:
  OperandReader(OpBuilder &builder, Location loc, const MmaOperand &operand,
                const MmaEmission &emission, Operand which, Cut cut)
      : operand(operand), cut(cut) {
    Layout shape(operand.layout.shape());
    Layout inverse = operand.layout.invert();
    auto place = [&](uint64_t flat) {
      return inverse.applyFlat(Position{{0, 0, 0, 0, flat}});
    };
    const Layout &acc = emission.accLayout;
    auto project = [&](uint64_t flat) { return projectToOperand(acc, shape, flat, which); };
    unsigned k = dimK(shape.rank(), which);
    for (unsigned bit = 0; bit < shape.fieldBits(k); ++bit)
      placesK.push_back(place(uint64_t(1) << (shape.fieldShift(k) + bit)));
    Span span;
    SmallVector<uint64_t> rows;
    for (uint64_t basis : acc.bases(Input::Register))
      if (span.add(project(basis)))
        rows.push_back(project(basis));
    Span rowSpan(rows);
    for (uint64_t number = 0; number < acc.size(Input::Register); ++number) {
      uint64_t flat = acc.applyFlat(Position::thread(number, 0));
      rowOf.push_back(int64_t(*rowSpan.solve(project(flat))));
    }
    for (uint64_t row : rows)
      rowPlaces.push_back(place(row));
    LinearBases threadPlaces;
    for (uint64_t basis : threadBases(acc))
      threadPlaces.push_back(place(project(basis)));
    threadOffset = emitLinear(builder, loc, emission.thread, threadPlaces);
    threadBits = reachableBits(threadPlaces);
  }

  /// From now on chunks come in pieces: single steps of K, or some of the rows.
  void cutChunks() {
    isByStep = llvm::is_contained(rowPlaces, uint64_t(1));
    pieceBits = std::min<unsigned>(cut.stepBits, isByStep ? cut.stepBits : rowPlaces.size());
  }
  /// Into `most` pieces, by rows, so far as 16 bytes at a time are of one piece. They are put
  /// together again before factors are taken.
  void cutRows(unsigned most) {
    isJoined = true;
    uint64_t inAccess = 16 * 8 / storedType(operand.elementType).getIntOrFloatBitWidth();
    auto isFar = [&](uint64_t place) { return place >= inAccess; };
    while ((2u << pieceBits) <= most && pieceBits < rowPlaces.size() &&
           llvm::all_of(ArrayRef(rowPlaces).take_back(pieceBits + 1), isFar))
      ++pieceBits;
  }
  unsigned numPieces() const { return 1u << pieceBits; }
  bool isCutByRows() const { return pieceBits && !isByStep && !isJoined; }
  /// The piece in which register `number` of acc has its row, of those cut by rows.
  unsigned pieceOf(unsigned number) const {
    return unsigned(rowOf[number] >> (rowPlaces.size() - pieceBits));
  }

  Value read(OpBuilder &builder, Location loc, ChunkPlace chunk, unsigned piece) const {
    ArrayRef<uint64_t> ks = placesK, rows = rowPlaces;
    ArrayRef<uint64_t> inStep = ks.take_front(cut.stepBits);
    ks = ks.drop_front(cut.stepBits);
    BufferAccess access;
    access.base = operand.value;
    access.elementType = storedType(operand.elementType);
    uint64_t start = sumOf(ks.take_front(cut.chunkBits), chunk.number);
    if (isByStep) {
      start ^= sumOf(inStep, piece);
    } else {
      start ^= sumOf(rows.take_back(pieceBits), piece);
      rows = rows.drop_back(pieceBits);
      access.registerBases.assign(inStep.begin(), inStep.end());
    }
    llvm::append_range(access.registerBases, rows);
    ks = ks.drop_front(cut.chunkBits);
    uint64_t loopBits = reachableBits(ks);
    access.offset = threadOffset;
    access.offsetBits = threadBits | loopBits;
    if (chunk.iteration && !ks.empty()) {
      Value moved = emitLinear(builder, loc, chunk.iteration, ks);
      access.offset = threadBits & loopBits
                          ? arith::XOrIOp::create(builder, loc, threadOffset, moved).getResult()
                          : arith::AddIOp::create(builder, loc, threadOffset, moved).getResult();
    }
    access.offset = emitXor(builder, loc, access.offset, access.offsetBits, start);
    access.offsetBits |= start;
    return emitSharedLoad(builder, loc, access);
  }

  /// For each register of acc that `numbers` lists, its factor at step `kk` of the chunk,
  /// out of the (widened) piece that has it, or out of all pieces.
  Value factors(OpBuilder &builder, Location loc, Value piece, ArrayRef<unsigned> numbers,
                int64_t kk) const {
    SmallVector<int64_t> indices;
    int64_t rowsInPiece = int64_t(1) << (rowPlaces.size() - (isCutByRows() ? pieceBits : 0));
    for (unsigned number : numbers) {
      int64_t row = rowOf[number] & (rowsInPiece - 1);
      indices.push_back(isByStep ? row : kk + (row << cut.stepBits));
    }
    return emitShuffle(builder, loc, piece, indices);
  }

  const MmaOperand &operand;

private:
  /// The sum of the bases of the set bits of `number`.
  static uint64_t sumOf(ArrayRef<uint64_t> bases, unsigned number) {
    uint64_t sum = 0;
    for (auto [bit, basis] : llvm::enumerate(bases))
      if (number >> bit & 1)
        sum ^= basis;
    return sum;
  }

  Cut cut;
  unsigned pieceBits = 0;
  bool isByStep = false, isJoined = false;
  SmallVector<int64_t> rowOf;
  LinearBases placesK, rowPlaces;
  Value threadOffset;
  uint64_t threadBits = 0;
};

/// What a chunk begins with: sums, its rows of a, and the first piece of b.
struct ChunkState {
  /// For each piece the sums that it adds to; one where every piece adds to all.
  SmallVector<Value> sums;
  SmallVector<Value> a;
  Value b;

  SmallVector<Value> values() const {
    SmallVector<Value> all(sums);
    all.append(a);
    all.push_back(b);
    return all;
  }
  ChunkState with(ValueRange values) const {
    ValueRange rest = values.drop_front(sums.size());
    return {SmallVector<Value>(values.take_front(sums.size())),
            SmallVector<Value>(rest.drop_back()), rest.back()};
  }
};

/// Writes the code of one product.
class ProductEmitter {
public:
  ProductEmitter(OpBuilder &builder, Location loc, const MmaEmission &emission,
                 Type compute, Cut cut)
      : loc(loc), compute(compute), cut(cut),
        a(builder, loc, emission.a, emission, Operand::A, cut),
        b(builder, loc, emission.b, emission, Operand::B, cut) {
    b.cutChunks();
    a.cutRows(b.numPieces());
    registersOf.resize(b.isCutByRows() ? b.numPieces() : 1);
    for (unsigned number = 0; number < emission.accLayout.size(Input::Register); ++number)
      registersOf[b.isCutByRows() ? b.pieceOf(number) : 0].push_back(number);
  }

  /// Adds the products of so many iterations to `acc`.
  Value emit(OpBuilder &builder, Value acc, int64_t numIterations) {
    ChunkState state{split(builder, acc), {}, b.read(builder, loc, {{}, 0}, 0)};
    for (unsigned piece = 0; piece < a.numPieces(); ++piece)
      state.a.push_back(a.read(builder, loc, {{}, 0}, piece));
    Value last = emitI32(builder, loc, numIterations - 1);
    if (numIterations > 1) {
      auto loop = scf::ForOp::create(
          builder, loc, emitI32(builder, loc, 0), last, emitI32(builder, loc, 1),
          state.values(), [&](OpBuilder &body, Location, Value iteration, ValueRange carried) {
            Value next = arith::AddIOp::create(body, loc, iteration, emitI32(body, loc, 1));
            ChunkState after =
                emitIteration(body, state.with(carried), iteration, ChunkPlace{next, 0});
            scf::YieldOp::create(body, loc, after.values());
          });
      state = state.with(loop.getResults());
    }
    return join(builder, emitIteration(builder, state, last, std::nullopt).sums);
  }

private:
  ChunkState emitIteration(OpBuilder &builder, ChunkState state, Value iteration,
                           std::optional<ChunkPlace> after) {
    for (unsigned number = 0; number < cut.chunks(); ++number) {
      std::optional<ChunkPlace> next = after;
      if (number + 1 < cut.chunks())
        next = ChunkPlace{iteration, number + 1};
      state = emitChunk(builder, state, {iteration, number}, next);
    }
    return state;
  }

  /// Multiplies what is in a chunk; `next`, if there is one, is begun meanwhile.
  ChunkState emitChunk(OpBuilder &builder, ChunkState state, ChunkPlace chunk,
                       std::optional<ChunkPlace> next) {
    Value wideA = widen(builder, loc, concat(builder, state.a), a.operand, compute);
    SmallVector<Value> nextA;
    for (unsigned piece = 0; piece < b.numPieces(); ++piece) {
      Value nextB;
      if (piece + 1 < b.numPieces())
        nextB = b.read(builder, loc, chunk, piece + 1);
      else if (next)
        nextB = b.read(builder, loc, *next, 0);
      // Bit by bit, so that all of the block's warps find the memory ready.
      if (next && piece % (b.numPieces() / a.numPieces()) == 0)
        nextA.push_back(a.read(builder, loc, *next, unsigned(nextA.size())));
      Value wideB = widen(builder, loc, state.b, b.operand, compute);
      multiply(builder, state.sums, wideA, wideB, piece);
      state.b = nextB;
    }
    state.a = nextA;
    return state;
  }

  Value concat(OpBuilder &builder, ArrayRef<Value> parts) {
    if (parts.size() == 1)
      return parts.front();
    SmallVector<Value> elements;
    for (Value part : parts)
      llvm::append_range(elements, vector::ToElementsOp::create(builder, loc, part).getResults());
    auto type = VectorType::get(int64_t(elements.size()), elements.front().getType());
    return vector::FromElementsOp::create(builder, loc, type, elements);
  }

  void multiply(OpBuilder &builder, MutableArrayRef<Value> sums, Value wideA, Value wideB,
                unsigned piece) {
    bool allSteps = b.isCutByRows() || b.numPieces() == 1;
    unsigned part = b.isCutByRows() ? piece : 0;
    for (int64_t kk = allSteps ? 0 : piece; kk < (allSteps ? cut.steps() : piece + 1); ++kk)
      sums[part] = multiplyAdd(builder, loc,
                               a.factors(builder, loc, wideA, registersOf[part], kk),
                               b.factors(builder, loc, wideB, registersOf[part], kk), sums[part]);
  }

  SmallVector<Value> split(OpBuilder &builder, Value acc) {
    if (registersOf.size() == 1)
      return {acc};
    SmallVector<Value> parts;
    for (ArrayRef<unsigned> numbers : registersOf)
      parts.push_back(emitShuffle(builder, loc, acc, SmallVector<int64_t>(numbers)));
    return parts;
  }

  Value join(OpBuilder &builder, ArrayRef<Value> parts) {
    if (parts.size() == 1)
      return parts.front();
    size_t count = registersOf.size() * registersOf.front().size();
    SmallVector<Value> elements(count);
    for (auto [part, numbers] : llvm::zip(parts, registersOf)) {
      auto values = vector::ToElementsOp::create(builder, loc, part);
      for (auto [value, number] : llvm::zip(values.getResults(), numbers))
        elements[number] = value;
    }
    auto type = cast<VectorType>(parts.front().getType());
    return vector::FromElementsOp::create(
        builder, loc, VectorType::get(int64_t(count), type.getElementType()), elements);
  }

  Location loc;
  Type compute;
  Cut cut;
  OperandReader a, b;
  SmallVector<SmallVector<unsigned>> registersOf;
};

} // namespace

/// A chunk is one 16-byte read of a, where that keeps the body small.
static Cut chooseCut(const MmaEmission &emission, int64_t sizeK) {
  int64_t products = int64_t(emission.accLayout.size(Input::Register));
  int64_t wanted =
      16 * 8 / storedType(emission.a.elementType).getIntOrFloatBitWidth();
  int64_t steps = std::min({sizeK, wanted, std::max<int64_t>(maxChunkProducts / products, 1)});
  int64_t chunks = sizeK > steps && products * steps <= maxChunkProducts ? 2 : 1;
  return {llvm::Log2_64(uint64_t(steps)), llvm::Log2_64(uint64_t(chunks))};
}

static Value emitFma(OpBuilder &builder, Location loc, const MmaEmission &emission) {
  auto accType = cast<VectorType>(emission.acc.getType());
  Type compute = computeType(accType.getElementType());
  int64_t sizeK = emission.a.layout.shape().back();
  Cut cut = chooseCut(emission, sizeK);
  Value acc = emission.acc;
  if (compute != accType.getElementType())
    acc = arith::ExtFOp::create(builder, loc, accType.clone(compute), acc);
  acc = ProductEmitter(builder, loc, emission, compute, cut)
            .emit(builder, acc, sizeK >> (cut.stepBits + cut.chunkBits));
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
