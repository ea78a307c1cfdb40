//===- Wgmma.cpp - matrix products of warp groups --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: b in shared memory, a there or in registers, acc in registers. Out: four warps
// together multiply 64 x n x k an instruction; the operands in shared memory are read
// by the unit itself, as descriptors tell it:
//
//   acc = fence(acc)
//   acc[0] = wgmma descA, descB, acc[0]            for each step of K, for each 64
//   acc[1] = wgmma descA + 64 rows, descB, acc[1]  rows, for each 256 columns
//   acc[0] = wgmma descA + 32 bytes, descB + 32 bytes, acc[0]   …
//   commit
//
// The result is in flight until `wait`. Warp groups take rows first, then columns.
//
// Operands lie in shared memory as the copy engine writes them (SwizzledForm.h): along K,
// or along M and N, which 16-bit types may. Where the pieces for an instruction begin is
// read off the layout of the buffer: an address of the thread's group plus constants.
//
// `wgmma`, and `wgmma_promoted` for f8 whose sums are to be exact: the unit
// sums f8 products with some 14 bits, so that 128 of K are summed from zero and then
// added to acc in f32.
//
// An instruction has no fewer than 64 rows, but as few as 8 columns. Tiles of 8, 16 and 32
// rows are multiplied the other way round, by `wgmma_transposed` and its like: acc^T =
// b^T a^T. That is the same code for a problem turned around; what it takes and gives are
// the same layouts with their dims exchanged.
//
//===------------------------------------------------------------------------===//
#include "tilec/Atoms/Wgmma.h"

#include "Families.h"
#include "OperandType.h"

#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Atoms/WarpGroupCode.h"
#include "tilec/Layout/SwizzledForm.h"
#include "tilec/Support/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

static constexpr int64_t rowsOfInstruction = 64;
static constexpr int64_t maxColumns = 256;
/// Elements of acc that a thread has registers for.
static constexpr int64_t maxAccElements = 256;
/// Of K, in bytes: what one instruction takes.
static constexpr int64_t stepBytes = 32;
/// Of K: how much the unit may sum of f8 before acc takes it.
static constexpr int64_t promotedK = 128;

/// Registers of products that are added to sums of as many.
static constexpr unsigned mostPromoted = 64;

//===------------------------------------------------------------------------===//
// Types and shapes
//===------------------------------------------------------------------------===//

static bool supportsTypes(const MmaProblem &p) {
  if (p.aType.isF16() && p.bType.isF16())
    return p.accType.isF32() || p.accType.isF16();
  if (isF8(p.aType) && isF8(p.bType))
    return p.accType.isF32();
  if (p.aType != p.bType)
    return false;
  if (p.aType.isInteger(8))
    return p.accType.isInteger(32);
  // The instruction leaves out the bits of an f32 that a tf32 has not.
  if (p.aType.isF32())
    return p.accType.isF32() && p.precision == tile::MmaPrecision::TF32;
  return (p.aType.isBF16() || isa<FloatTF32Type>(p.aType)) && p.accType.isF32();
}

namespace {

/// How a matrix of M x N is divided: among warp groups, and into instructions.
struct Division {
  int64_t groupsM, groupsN; ///< warp groups along M and N that have a part of their own
  int64_t blocks;           ///< of 64 rows, for each group
  int64_t columns;          ///< for each group
  int64_t chunkColumns;     ///< for each instruction

  Division(ArrayRef<int64_t> accShape, int64_t numWarps) {
    int64_t groups = numWarps / 4, m = accShape[0] / rowsOfInstruction, n = accShape[1];
    groupsM = std::min(groups, m);
    groupsN = std::min(groups / groupsM, n / 8);
    blocks = m / groupsM;
    columns = n / groupsN;
    chunkColumns = std::min(columns, maxColumns);
  }
  int64_t chunks() const { return columns / chunkColumns; }
  /// Per thread.
  int64_t accElements() const { return blocks * columns * rowsOfInstruction / 128; }
};

} // namespace

static bool supportsShape(const MmaProblem &p, int64_t maxElements) {
  if (p.accShape.size() != 2 || p.numWarps % 4 != 0)
    return false;
  if (p.accShape[0] % rowsOfInstruction != 0 || p.accShape[1] < 8 ||
      p.k() * bytesOf(p.aType) < stepBytes)
    return false;
  return Division(p.accShape, p.numWarps).accElements() <= maxElements;
}

static bool isExactF8(const MmaProblem &p) {
  return isF8(p.aType) && p.precision == tile::MmaPrecision::Exact;
}
static bool supportsDirect(const MmaProblem &p) {
  return supportsTypes(p) && !isExactF8(p) && supportsShape(p, maxAccElements);
}
/// Two accumulators are in registers.
static bool supportsPromoted(const MmaProblem &p) {
  return supportsTypes(p) && isExactF8(p) && supportsShape(p, maxAccElements / 2);
}

//===------------------------------------------------------------------------===//
// The other way round
//===------------------------------------------------------------------------===//

/// acc^T = b^T a^T.
static MmaProblem transposed(const MmaProblem &problem) {
  MmaProblem result = problem;
  std::swap(result.aShape, result.bShape);
  std::swap(result.aType, result.bType);
  for (auto *shape : {&result.aShape, &result.bShape, &result.accShape})
    std::reverse(shape->begin(), shape->end());
  return result;
}

static Layout transposed(const Layout &layout) { return layout.permute({1, 0}); }

static MmaOperand transposed(MmaOperand operand) {
  operand.layout = transposed(operand.layout);
  return operand;
}

static MmaEmission transposed(const MmaEmission &emission) {
  MmaEmission result = emission;
  result.a = transposed(emission.b);
  result.b = transposed(emission.a);
  result.accLayout = transposed(emission.accLayout);
  return result;
}

/// Tiles with too few rows, and columns in their place; and a b that threads compute, which
/// then need not go through shared memory. Operands that the unit wants along K and that do
/// not come so would have to be turned by threads: warps do that better.
static bool gainsTransposed(const MmaProblem &p) {
  bool comesAlongK = !p.aIsAcrossK && (!p.bIsAcrossK || p.bIsComputed);
  return p.accShape.size() == 2 && (p.accShape[0] < rowsOfInstruction || p.bIsComputed) &&
         (bytesOf(p.aType) == 2 || comesAlongK);
}
static bool supportsDirectTransposed(const MmaProblem &p) {
  return gainsTransposed(p) && supportsDirect(transposed(p));
}
static bool supportsPromotedTransposed(const MmaProblem &p) {
  return gainsTransposed(p) && supportsPromoted(transposed(p));
}

/// As they are, but for those that are better turned around.
static bool supportsStraight(const MmaProblem &p) {
  return supportsDirect(p) && !supportsDirectTransposed(p);
}
static bool supportsStraightPromoted(const MmaProblem &p) {
  return supportsPromoted(p) && !supportsPromotedTransposed(p);
}

//===------------------------------------------------------------------------===//
// Layouts
//===------------------------------------------------------------------------===//

namespace {
/// How far the rows of the matrix are apart that a thread, a lane, a warp, … holds.
struct RowSteps {
  int64_t half;  ///< the two rows of a thread in one instruction
  int64_t block; ///< instructions of a warp group
  int64_t lane, warp, group;

  /// As the instruction has them, blocks of all groups in turn.
  static RowSteps ofInstruction(const Division &division) {
    return {8, rowsOfInstruction * division.groupsM, 1, 16, rowsOfInstruction};
  }
  /// Those of a thread lie side by side. Which row is which is nothing to the unit where a comes
  /// from registers; who reads a from memory in which rows lie side by side reads words.
  static RowSteps ofThreads(const Division &division) {
    int64_t blocks = division.blocks;
    return {1, 2, 2 * blocks, 16 * blocks, rowsOfInstruction * blocks};
  }
  /// Those of `acc`, which has one of the two forms.
  static RowSteps of(const Layout &acc, const Division &division) {
    bool isOfThreads = acc.basis(Input::Register, 1) == acc.flatten({1, 0});
    return isOfThreads ? ofThreads(division) : ofInstruction(division);
  }
};
} // namespace

/// Warps of a group, then groups along M, then along N; what is left holds copies.
/// `columnStep`: from a group to the next along N, 0 where all need the same.
static void addWarps(Layout &layout, const Division &division, const RowSteps &steps,
                     unsigned numWarps, int64_t columnStep) {
  layout.addRun(Input::Warp, 0, steps.warp, 2);
  layout.addRun(Input::Warp, 0, steps.group, llvm::Log2_64(division.groupsM));
  unsigned bitsN = llvm::Log2_64(division.groupsN);
  if (columnStep)
    layout.addRun(Input::Warp, 1, columnStep, bitsN);
  else
    layout.addZeros(Input::Warp, bitsN);
  layout.addZeros(Input::Warp, llvm::Log2_32(numWarps) - layout.numBits(Input::Warp));
}

static Layout accLayout(const MmaProblem &problem, const Division &division,
                        const RowSteps &steps) {
  Layout layout(problem.accShape);
  layout.add(Input::Register, {0, 1}).add(Input::Register, {steps.half, 0});
  layout.addRun(Input::Register, 1, 8, llvm::Log2_64(division.columns) - 3);
  layout.addRun(Input::Register, 0, steps.block, llvm::Log2_64(division.blocks));
  layout.addRun(Input::Lane, 1, 2, 2).addRun(Input::Lane, 0, steps.lane, 3);
  addWarps(layout, division, steps, problem.numWarps, division.columns);
  return layout;
}

static Layout wgmmaAccLayout(const MmaProblem &problem) {
  Division division(problem.accShape, problem.numWarps);
  return accLayout(problem, division, RowSteps::ofInstruction(division));
}

/// Rows of what threads compute and do not have along K are dealt out by threads.
static Layout wgmmaAccLayoutTransposed(const MmaProblem &problem) {
  MmaProblem turned = transposed(problem);
  Division division(turned.accShape, turned.numWarps);
  bool isDealt = problem.bIsComputed && problem.bIsAcrossK;
  return transposed(accLayout(turned, division,
                              isDealt ? RowSteps::ofThreads(division)
                                      : RowSteps::ofInstruction(division)));
}

/// A word of neighbours along K, the other row of the instruction, half a step of K on; then
/// steps.
static std::optional<Layout> wgmmaRegistersOfA(const MmaProblem &problem, const Layout &acc) {
  Division division(problem.accShape, problem.numWarps);
  RowSteps rows = RowSteps::of(acc, division);
  int64_t perWord = 4 / bytesOf(problem.aType);
  unsigned wordBits = llvm::Log2_64(perWord);
  Layout layout(problem.aShape);
  layout.addRun(Input::Register, 1, 1, wordBits).add(Input::Register, {rows.half, 0});
  layout.addRun(Input::Register, 1, 4 * perWord,
                llvm::Log2_64(problem.k() / (4 * perWord)));
  layout.addRun(Input::Register, 0, rows.block, llvm::Log2_64(division.blocks));
  layout.addRun(Input::Lane, 1, perWord, 2).addRun(Input::Lane, 0, rows.lane, 3);
  addWarps(layout, division, rows, problem.numWarps, /*columnStep=*/0);
  return layout;
}

static std::optional<Layout> wgmmaRegistersOfB(const MmaProblem &problem, const Layout &acc) {
  return transposed(*wgmmaRegistersOfA(transposed(problem), transposed(acc)));
}

/// `dimK`: the dim of K. Rows run along it, or along the other where that is wanted and
/// the type and size allow it.
static Layout bufferOf(ArrayRef<int64_t> shape, Type type, unsigned dimK,
                            bool isKMajor) {
  int64_t bytes = bytesOf(type);
  unsigned fastest = dimK, slowest = 1 - dimK;
  bool mayTranspose = bytes == 2 && shape[slowest] * bytes >= stepBytes;
  if (!isKMajor && mayTranspose)
    std::swap(fastest, slowest);
  return Layout::swizzled(shape, {fastest, slowest}, unsigned(bytes) * 8,
                          widestSwizzle(shape[fastest], unsigned(bytes) * 8));
}

static Layout wgmmaBufferA(const MmaProblem &problem, bool isKMajor) {
  return bufferOf(problem.aShape, problem.aType, 1, isKMajor);
}
static Layout wgmmaBufferB(const MmaProblem &problem, bool isKMajor) {
  return bufferOf(problem.bShape, problem.bType, 0, isKMajor);
}

//===------------------------------------------------------------------------===//
// Descriptors
//===------------------------------------------------------------------------===//

uint64_t WgmmaOperand::descriptor() const {
  uint64_t mode = swizzleBytes == 128 ? 1 : swizzleBytes == 64 ? 2 : swizzleBytes == 32 ? 3 : 0;
  return mode << 62 | uint64_t(strideBytes >> 4) << 32 | uint64_t(leadingBytes >> 4) << 16;
}

std::optional<WgmmaOperand> tilec::describeWgmmaOperand(const Layout &buffer,
                                                        unsigned elementBits, bool isA) {
  std::optional<SwizzledForm> form = matchSwizzled(buffer, elementBits);
  if (!form || !form->swizzleBytes)
    return std::nullopt;
  unsigned dimK = isA ? 1 : 0;
  WgmmaOperand operand;
  operand.isMNMajor = form->fastest() != dimK;
  operand.swizzleBytes = form->swizzleBytes;
  operand.strideBytes = 8 * form->swizzleBytes;
  // Along K an instruction stays in a panel, and the field means nothing.
  if (operand.isMNMajor)
    operand.leadingBytes = unsigned(buffer.shape()[dimK]) * form->swizzleBytes;
  return operand;
}

//===------------------------------------------------------------------------===//
// Code
//===------------------------------------------------------------------------===//

/// A vector as the 32-bit registers that instructions take: f32, or i32.
static SmallVector<Value> toWords(OpBuilder &builder, Location loc, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  unsigned bits = type.getElementTypeBitWidth();
  if (bits < 32)
    vector = vector::BitCastOp::create(
        builder, loc,
        VectorType::get(type.getNumElements() * bits / 32, builder.getI32Type()), vector);
  auto elements = vector::ToElementsOp::create(builder, loc, vector);
  return llvm::to_vector_of<Value>(elements.getResults());
}

static Value fromWords(OpBuilder &builder, Location loc, ValueRange words, Type type) {
  auto wordType = VectorType::get(int64_t(words.size()), words.front().getType());
  Value vector = vector::FromElementsOp::create(builder, loc, wordType, words);
  if (vector.getType() != type)
    vector = vector::BitCastOp::create(builder, loc, type, vector);
  return vector;
}

namespace {

/// An operand in shared memory: the descriptor at any of its elements.
class DescriptorWriter {
public:
  /// `stepM`, `stepN`: what the warp group's number along M and N adds.
  DescriptorWriter(OpBuilder &builder, Location loc, const MmaOperand &operand, bool isA,
                   const Division &division, Value group)
      : builder(builder), loc(loc), elementBytes(bytesOf(operand.elementType)),
        inverse(operand.layout.invert()), shape(operand.layout.shape()) {
    fields = *describeWgmmaOperand(operand.layout, unsigned(elementBytes) * 8, isA);
    LinearBases bases;
    for (int64_t i = 1; i < division.groupsM; i *= 2)
      bases.push_back(isA ? offset(rowsOfInstruction * i, 0) : 0);
    for (int64_t i = 1; i < division.groupsN; i *= 2)
      bases.push_back(isA ? 0 : offset(0, division.columns * i));
    Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), operand.value);
    // In a cluster the bits above name the block.
    address = arith::AndIOp::create(builder, loc, address, emitI32(builder, loc, 0x3ffff));
    low = arith::ShRUIOp::create(builder, loc, address, emitI32(builder, loc, 4));
    if (reachableBits(bases))
      low = add(low, emitLinear(builder, loc, group, bases));
  }

  bool isMNMajor() const { return fields.isMNMajor; }

  /// The descriptor (i64) that begins at an element of the group's part.
  Value at(int64_t row, int64_t column) {
    uint64_t all = fields.descriptor();
    uint64_t constant = (all & 0xFFFFFFFF) + offset(row, column);
    Value word = add(low, emitI32(builder, loc, int64_t(constant)));
    Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), word);
    Value high = arith::ConstantIntOp::create(
        builder, loc, int64_t(all & ~uint64_t(0xFFFFFFFF)), 64);
    return arith::OrIOp::create(builder, loc, wide, high);
  }

private:
  /// In units of 16 bytes. Pieces begin where no swizzle has moved anything.
  uint64_t offset(int64_t row, int64_t column) const {
    uint64_t flat = uint64_t(row * shape[1] + column);
    return inverse.applyBits(flat) * uint64_t(elementBytes) >> 4;
  }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }

  OpBuilder &builder;
  Location loc;
  int64_t elementBytes;
  Layout inverse;
  Layout::Shape shape;
  WgmmaOperand fields;
  Value low;
};

/// Writes one product.
class ProductWriter {
public:
  ProductWriter(OpBuilder &builder, Location loc, const MmaEmission &emission)
      : builder(builder), loc(loc), emission(emission),
        division(emission.accLayout.shape(), int64_t(emission.accLayout.size(Input::Warp))),
        group(arith::ShRUIOp::create(builder, loc, emission.warp, emitI32(builder, loc, 2))),
        b(builder, loc, emission.b, /*isA=*/false, division, group) {
    if (!emission.a.inRegisters())
      a.emplace(builder, loc, emission.a, /*isA=*/true, division, group);
    Type acc = cast<VectorType>(emission.acc.getType()).getElementType();
    form.n = unsigned(division.chunkColumns);
    form.accType = acc.isF32() ? DType::F32 : acc.isF16() ? DType::F16 : DType::I32;
    form.aType = typeOf(emission.a.elementType, emission.a.isUnsigned);
    form.bType = typeOf(emission.b.elementType, emission.b.isUnsigned);
    form.aInRegisters = !a;
    form.transposeA = a && a->isMNMajor();
    form.transposeB = b.isMNMajor();
    sizeK = emission.a.layout.shape()[1];
    accWords = toWords(builder, loc, emission.acc);
    if (!a)
      aWords = toWords(builder, loc, emission.a.value);
  }

  Value writeDirect() {
    Value adds = emission.adds ? emission.adds : constant(true);
    if (matchPattern(emission.acc, m_AnyZeroFloat()) || matchPattern(emission.acc, m_Zero())) {
      adds = constant(false);
      accWords = nothing(accWords.size());
    }
    fence(accWords);
    step(accWords, 0, 0, sizeK, adds);
    emitWarpGroupCommit(builder, loc);
    return fromWords(builder, loc, accWords, emission.acc.getType());
  }

  /// Where the sums leave no room for as many products, columns are multiplied one part
  /// after the other.
  Value writePromoted() {
    size_t inFlight = accWords.size();
    if (inFlight > mostPromoted) {
      form.n = std::min<unsigned>(form.n, 2 * mostPromoted);
      inFlight = form.accRegisters();
    }
    for (int64_t k = 0; k < sizeK; k += promotedK)
      for (size_t first = 0; first < accWords.size(); first += inFlight) {
        SmallVector<Value> part = nothing(inFlight), none;
        fence(none);
        step(part, first, k, std::min(sizeK, k + promotedK), constant(false));
        emitWarpGroupCommit(builder, loc);
        part = emitWarpGroupWait(builder, loc, /*pending=*/0, part);
        MutableArrayRef<Value> sums = MutableArrayRef<Value>(accWords).slice(first, inFlight);
        for (auto [sum, more] : llvm::zip_equal(sums, part))
          sum = arith::AddFOp::create(builder, loc, sum, more);
        // Added before the next part needs the registers.
        if (inFlight < accWords.size())
          llvm::copy(emitWarpGroupFence(builder, loc, SmallVector<Value>(sums)), sums.begin());
      }
    return fromWords(builder, loc, accWords, emission.acc.getType());
  }

private:
  /// What was written to registers before is there for the unit.
  void fence(SmallVector<Value> &acc) {
    SmallVector<Value> all(acc);
    llvm::append_range(all, aWords);
    all = emitWarpGroupFence(builder, loc, all);
    std::copy_n(all.begin(), acc.size(), acc.begin());
    std::copy(all.begin() + acc.size(), all.end(), aWords.begin());
  }

  /// Registers that are written before they are read.
  SmallVector<Value> nothing(size_t count) {
    Value poison = LLVM::PoisonOp::create(builder, loc, accWords.front().getType());
    return SmallVector<Value>(count, poison);
  }
  Value constant(bool value) {
    return arith::ConstantIntOp::create(builder, loc, value, 1);
  }

  /// Products of [begin, end) of K in the words of the accumulator from `firstWord` on; the
  /// first of each adds to it or not (i1).
  void step(SmallVector<Value> &acc, size_t firstWord, int64_t begin, int64_t end, Value addsFirst) {
    unsigned count = form.accRegisters();
    int64_t perBlock = division.chunks() * division.chunkColumns / form.n;
    for (int64_t k = begin; k < end; k += form.k())
      for (size_t at = 0; at < acc.size(); at += count) {
        int64_t number = int64_t((firstWord + at) / count), block = number / perBlock;
        int64_t row = block * rowsOfInstruction * division.groupsM;
        Value adds = k > begin ? constant(true) : addsFirst;
        auto own = MutableArrayRef<Value>(acc).slice(at, count);
        llvm::copy(emitWarpGroupMma(builder, loc, form, ValueRange(own), operandA(row, k, block),
                                    b.at(k, number % perBlock * form.n), adds),
                   own.begin());
      }
  }

  SmallVector<Value> operandA(int64_t row, int64_t k, int64_t block) {
    if (a)
      return {a->at(row, k)};
    int64_t steps = sizeK / form.k();
    auto first = aWords.begin() + (block * steps + k / form.k()) * 4;
    return SmallVector<Value>(first, first + 4);
  }

  OpBuilder &builder;
  Location loc;
  const MmaEmission &emission;
  Division division;
  Value group;
  DescriptorWriter b;
  std::optional<DescriptorWriter> a;
  WarpGroupMma form;
  int64_t sizeK;
  SmallVector<Value> accWords, aWords;
};

} // namespace

static Value emitDirect(OpBuilder &builder, Location loc, const MmaEmission &emission) {
  return ProductWriter(builder, loc, emission).writeDirect();
}
/// Onto zeros, or what it is told to leave out, a product that is short enough is what the
/// unit gives; others add it.
static Value emitPromoted(OpBuilder &builder, Location loc, const MmaEmission &emission) {
  ProductWriter writer(builder, loc, emission);
  bool isPart = emission.a.layout.shape()[1] <= promotedK &&
                (emission.adds || matchPattern(emission.acc, m_AnyZeroFloat()));
  return isPart ? writer.writeDirect() : writer.writePromoted();
}
static Value emitDirectTransposed(OpBuilder &builder, Location loc,
                                  const MmaEmission &emission) {
  return emitDirect(builder, loc, transposed(emission));
}
static Value emitPromotedTransposed(OpBuilder &builder, Location loc,
                                    const MmaEmission &emission) {
  return emitPromoted(builder, loc, transposed(emission));
}

static SmallVector<Value> emitWait(OpBuilder &builder, Location loc, int64_t pending,
                                   ValueRange values) {
  SmallVector<Value> words;
  SmallVector<size_t> counts;
  for (Value value : values) {
    SmallVector<Value> own = toWords(builder, loc, value);
    counts.push_back(own.size());
    llvm::append_range(words, own);
  }
  words = emitWarpGroupWait(builder, loc, unsigned(pending), words);
  SmallVector<Value> results;
  ArrayRef<Value> rest = words;
  for (auto [value, count] : llvm::zip_equal(values, counts)) {
    results.push_back(fromWords(builder, loc, rest.take_front(count), value.getType()));
    rest = rest.drop_front(count);
  }
  return results;
}

/// M, N, K of an instruction.
static std::array<int64_t, 3> shapeOf(const MmaProblem &problem) {
  return {rowsOfInstruction, Division(problem.accShape, problem.numWarps).chunkColumns,
          stepBytes / bytesOf(problem.aType)};
}

static constexpr Atom makeAtom(llvm::StringLiteral name, bool canStart,
                               bool (*supports)(const MmaProblem &),
                               Value (*emit)(OpBuilder &, Location, const MmaEmission &)) {
  Atom atom{};
  atom.name = name;
  atom.aHome = atom.bHome = OperandHome::Shared;
  atom.scope = AtomScope::WarpGroup;
  atom.isAsync = true;
  atom.canStart = canStart;
  atom.features = uint32_t(ChipFeature::WarpGroupMma);
  atom.supports = supports;
  atom.accLayout = wgmmaAccLayout;
  atom.aRegisters = wgmmaRegistersOfA;
  atom.emit = emit;
  atom.aBuffer = wgmmaBufferA;
  atom.bBuffer = wgmmaBufferB;
  atom.wait = emitWait;
  atom.shape = shapeOf;
  return atom;
}

/// Buffers are as they are: which dim is that of K is known of both operands.
static constexpr Atom makeTransposed(llvm::StringLiteral name, Atom atom,
                                     bool (*supports)(const MmaProblem &),
                                     Value (*emit)(OpBuilder &, Location,
                                                   const MmaEmission &)) {
  atom.name = name;
  atom.supports = supports;
  atom.emit = emit;
  atom.accLayout = wgmmaAccLayoutTransposed;
  atom.aRegisters = nullptr;
  atom.bRegisters = wgmmaRegistersOfB;
  atom.shape = [](const MmaProblem &problem) { return shapeOf(transposed(problem)); };
  return atom;
}

static constexpr Atom makePromoted(llvm::StringLiteral name) {
  Atom atom = makeAtom(name, /*canStart=*/false, supportsStraightPromoted, emitPromoted);
  atom.addsInRegistersUpTo = promotedK;
  atom.mostAddedInRegisters = mostPromoted;
  return atom;
}

constinit const Atom tilec::wgmmaAtom =
    makeAtom("wgmma", /*canStart=*/true, supportsStraight, emitDirect);
constinit const Atom tilec::wgmmaPromotedAtom = makePromoted("wgmma_promoted");
constinit const Atom tilec::wgmmaTransposedAtom =
    makeTransposed("wgmma_transposed",
                   makeAtom("", /*canStart=*/true, supportsStraight, emitDirect),
                   supportsDirectTransposed, emitDirectTransposed);
constinit const Atom tilec::wgmmaPromotedTransposedAtom =
    makeTransposed("wgmma_promoted_transposed", makePromoted(""),
                   supportsPromotedTransposed, emitPromotedTransposed);
