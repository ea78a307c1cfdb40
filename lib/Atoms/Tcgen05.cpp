//===- Tcgen05.cpp - products with accumulators in tensor memory -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a and b in shared memory, acc in tensor memory. Out: instructions of one thread, each
// 128 (or 64) x n x 32 bytes of k, of one block (cta_group::1):
//
//   acc = tcgen05.mma descA, descB, acc                for each step of K, for each 128
//   acc + n columns = tcgen05.mma descA + 128 rows …   rows, for each 256 columns
//
// Operands lie in shared memory as the copy engine writes them (SwizzledForm.h): along K,
// or along M and N, which 8- and 16-bit types may. The descriptors are read off the layouts
// of the buffers. Threads read the result as rows: Tcgen05Code.cpp.
//
// Shapes and types: PTX ISA, "Matrix Shape" and "Instruction descriptor" of tcgen05; where
// a row of acc is: "Data path layout organization" (layout D for 128 rows, F for 64).
//
// Three records: `tcgen05`, the same for integers, which not every chip has, and
// `tcgen05_promoted` for f8 whose sums are to be exact. How exactly the unit sums f8 is not
// documented: as with wgmma, 128 of K are summed from zero and then added to acc in f32.
//
// This family has been assembled for its chips and run by SIMT execution, but not on
// hardware.
//
//===------------------------------------------------------------------------===//
#include "tilec/Atoms/Tcgen05.h"

#include "Families.h"
#include "OperandType.h"
#include "Tcgen05Code.h"

#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Layout/SwizzledForm.h"
#include "tilec/Support/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

static constexpr int64_t mostRows = 128, fewestRows = 64;
static constexpr int64_t mostColumns = 256, fewestColumns = 16;
/// Elements of acc that a thread has registers for.
static constexpr int64_t maxAccElements = 256;
/// Of K, in bytes: what one instruction takes.
static constexpr int64_t stepBytes = 32;
/// Of K: how much the unit may sum of f8 before acc takes it.
static constexpr int64_t promotedK = 128;

//===------------------------------------------------------------------------===//
// Types and shapes
//===------------------------------------------------------------------------===//

namespace {

/// How threads share an accumulator: warp groups take 128 rows first, then columns.
struct Division {
  int64_t rows; ///< of an instruction
  int64_t groupsM, groupsN;
  int64_t blocks;  ///< of 128 rows, for each group
  int64_t columns; ///< for each group

  Division(ArrayRef<int64_t> accShape, int64_t numWarps) {
    rows = std::min(mostRows, accShape[0]);
    int64_t groups = numWarps / 4, all = accShape[0] / rows;
    groupsM = std::min(groups, all);
    groupsN = std::min(groups / groupsM, accShape[1] / 8);
    blocks = all / groupsM;
    columns = accShape[1] / groupsN;
  }
  /// Per thread.
  int64_t accElements() const { return blocks * columns * rows / 128; }
};

} // namespace

static bool supportsShape(const MmaProblem &p) {
  if (p.accShape.size() != 2 || p.numWarps % 4 != 0)
    return false;
  if (p.accShape[0] < fewestRows || p.accShape[1] < fewestColumns ||
      p.k() * bytesOf(p.aType) < stepBytes ||
      columnsOfAccumulator(p.accShape) > p.freeColumns)
    return false;
  return Division(p.accShape, p.numWarps).accElements() <= maxAccElements;
}

static bool supportsFloats(const MmaProblem &p) {
  if (!p.accType.isF32() || !supportsShape(p))
    return false;
  if (isF8(p.aType) && isF8(p.bType))
    return p.precision != tile::MmaPrecision::Exact;
  if (p.aType != p.bType)
    return false;
  // The instruction leaves out the bits of an f32 that a tf32 has not.
  if (p.aType.isF32())
    return p.precision == tile::MmaPrecision::TF32;
  return p.aType.isF16() || p.aType.isBF16() || isa<FloatTF32Type>(p.aType);
}
static bool supportsIntegers(const MmaProblem &p) {
  return p.accType.isInteger(32) && p.aType.isInteger(8) && p.bType.isInteger(8) &&
         supportsShape(p);
}
/// acc and what is added to it are in registers.
static bool supportsPromoted(const MmaProblem &p) {
  return p.accType.isF32() && isF8(p.aType) && isF8(p.bType) && p.k() <= promotedK &&
         p.precision == tile::MmaPrecision::Exact && supportsShape(p) &&
         Division(p.accShape, p.numWarps).accElements() <= maxAccElements / 2;
}

//===------------------------------------------------------------------------===//
// Layouts
//===------------------------------------------------------------------------===//

static Layout accLayout(const MmaProblem &problem) {
  Division division(problem.accShape, problem.numWarps);
  Layout layout(problem.accShape);
  unsigned columnBits = llvm::Log2_64(uint64_t(division.columns));
  if (division.rows == mostRows) {
    layout.addRun(Input::Register, 1, 1, columnBits);
    layout.addRun(Input::Register, 0, mostRows * division.groupsM,
                  llvm::Log2_64(uint64_t(division.blocks)));
    layout.addRun(Input::Lane, 0, 1, 5).addRun(Input::Warp, 0, 32, 2);
  } else {
    layout.add(Input::Register, {0, 1}).add(Input::Register, {8, 0});
    layout.addRun(Input::Register, 1, 8, columnBits - 3);
    layout.addRun(Input::Lane, 1, 2, 2).addRun(Input::Lane, 0, 1, 3);
    layout.addRun(Input::Warp, 0, 16, 2);
  }
  layout.addRun(Input::Warp, 0, mostRows, llvm::Log2_64(uint64_t(division.groupsM)));
  layout.addRun(Input::Warp, 1, division.columns, llvm::Log2_64(uint64_t(division.groupsN)));
  layout.addZeros(Input::Warp, llvm::Log2_32(problem.numWarps) - layout.numBits(Input::Warp));
  return layout;
}

/// `dimK`: the dim of K. Rows run along it, or along the other where that is wanted and
/// the type and size allow it.
static Layout bufferOf(ArrayRef<int64_t> shape, Type type, unsigned dimK, bool isKMajor) {
  int64_t bytes = bytesOf(type);
  unsigned fastest = dimK, slowest = 1 - dimK;
  bool mayTranspose = bytes <= 2 && shape[slowest] * bytes >= stepBytes;
  if (!isKMajor && mayTranspose)
    std::swap(fastest, slowest);
  return Layout::swizzled(shape, {fastest, slowest}, unsigned(bytes) * 8,
                          widestSwizzle(shape[fastest], unsigned(bytes) * 8));
}

static Layout bufferA(const MmaProblem &problem, bool isKMajor) {
  return bufferOf(problem.aShape, problem.aType, 1, isKMajor);
}
static Layout bufferB(const MmaProblem &problem, bool isKMajor) {
  return bufferOf(problem.bShape, problem.bType, 0, isKMajor);
}

//===------------------------------------------------------------------------===//
// Descriptors
//===------------------------------------------------------------------------===//

uint64_t tilec::tcgen05OperandDescriptor(const WgmmaOperand &operand) {
  constexpr uint64_t version = uint64_t(1) << 46;
  uint64_t mode = operand.swizzleBytes == 128  ? 2
                  : operand.swizzleBytes == 64 ? 4
                  : operand.swizzleBytes == 32 ? 6
                                               : 0;
  return mode << 61 | version | uint64_t(operand.strideBytes >> 4) << 32 |
         uint64_t(operand.leadingBytes >> 4) << 16;
}

uint32_t Tcgen05Form::descriptor() const {
  bool isInteger = aType == DType::I8 || aType == DType::U8;
  auto code = [](DType type) -> uint32_t {
    switch (type) {
    case DType::TF32:
      return 2;
    case DType::BF16:
    case DType::F8E5M2:
    case DType::I8:
      return 1;
    default:
      return 0;
    }
  };
  uint32_t result = isInteger ? 2 : 1; // s32, f32
  return result << 4 | code(aType) << 7 | code(bType) << 10 | uint32_t(transposeA) << 15 |
         uint32_t(transposeB) << 16 | n / 8 << 17 | m / 16 << 24;
}

static NVVM::Tcgen05MMAKind kindOf(DType type) {
  switch (type) {
  case DType::TF32:
    return NVVM::Tcgen05MMAKind::TF32;
  case DType::F8E4M3:
  case DType::F8E5M2:
    return NVVM::Tcgen05MMAKind::F8F6F4;
  case DType::I8:
  case DType::U8:
    return NVVM::Tcgen05MMAKind::I8;
  default:
    return NVVM::Tcgen05MMAKind::F16;
  }
}

//===------------------------------------------------------------------------===//
// Code
//===------------------------------------------------------------------------===//

namespace {

/// An operand in shared memory: the descriptor at any of its elements.
class DescriptorWriter {
public:
  DescriptorWriter(OpBuilder &builder, Location loc, const MmaOperand &operand, bool isA)
      : builder(builder), loc(loc), elementBytes(bytesOf(operand.elementType)),
        inverse(operand.layout.invert()), shape(operand.layout.shape()) {
    WgmmaOperand described =
        *describeWgmmaOperand(operand.layout, unsigned(elementBytes) * 8, isA);
    isMNMajor = described.isMNMajor;
    fields = tcgen05OperandDescriptor(described);
    Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), operand.value);
    // In a cluster the bits above name the block.
    address = arith::AndIOp::create(builder, loc, address, emitI32(builder, loc, 0x3ffff));
    low = arith::ShRUIOp::create(builder, loc, address, emitI32(builder, loc, 4));
  }

  /// The descriptor (i64) that begins at an element.
  Value at(int64_t row, int64_t column) {
    uint64_t flat = uint64_t(row * shape[1] + column);
    uint64_t constant = (fields & 0xFFFFFFFF) +
                        (inverse.applyBits(flat) * uint64_t(elementBytes) >> 4);
    Value word = arith::AddIOp::create(builder, loc, low, emitI32(builder, loc, int64_t(constant)));
    Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), word);
    Value high = arith::ConstantIntOp::create(
        builder, loc, int64_t(fields & ~uint64_t(0xFFFFFFFF)), 64);
    return arith::OrIOp::create(builder, loc, wide, high);
  }

  bool isMNMajor;

private:
  OpBuilder &builder;
  Location loc;
  int64_t elementBytes;
  Layout inverse;
  Layout::Shape shape;
  uint64_t fields;
  Value low;
};

} // namespace

static void multiply(OpBuilder &builder, Location loc, const MmaEmission &emission) {
  int64_t m = emission.a.layout.shape()[0], n = emission.b.layout.shape()[1];
  int64_t sizeK = emission.a.layout.shape()[1];
  DescriptorWriter a(builder, loc, emission.a, /*isA=*/true);
  DescriptorWriter b(builder, loc, emission.b, /*isA=*/false);
  Tcgen05Form form;
  form.m = unsigned(std::min(m, mostRows));
  form.n = unsigned(std::min(n, mostColumns));
  form.aType = typeOf(emission.a.elementType, emission.a.isUnsigned);
  form.bType = typeOf(emission.b.elementType, emission.b.isUnsigned);
  form.transposeA = a.isMNMajor;
  form.transposeB = b.isMNMajor;
  Value shape = emitI32(builder, loc, int32_t(form.descriptor()));
  Value always = arith::ConstantIntOp::create(builder, loc, 1, 1);
  for (int64_t k = 0; k < sizeK; k += form.k())
    for (int64_t row = 0; row < m; row += form.m)
      for (int64_t column = 0; column < n; column += form.n) {
        Value address = emission.acc;
        if (int64_t offset = row / form.m * n + column)
          address = arith::AddIOp::create(builder, loc, address, emitI32(builder, loc, offset));
        NVVM::Tcgen05MMAOp::create(
            builder, loc, kindOf(form.aType), NVVM::CTAGroupKind::CTA_1,
            NVVM::Tcgen05MMACollectorOp::DISCARD, /*aShift=*/false,
            tcgen05::pointerTo(builder, loc, address), a.at(row, k), b.at(k, column), shape,
            k || !emission.adds ? always : emission.adds, /*scaleInputD=*/Value(),
            /*disableOutputLane=*/Value());
      }
}

static constexpr AccumulatorCode accumulatorCode = {
    tcgen05::allocate, tcgen05::free,  multiply,
    tcgen05::commit,   tcgen05::read,  tcgen05::write,
    tcgen05::fenceBefore, tcgen05::fenceAfter};

static constexpr Atom makeAtom(llvm::StringLiteral name, bool (*supports)(const MmaProblem &),
                               uint32_t features) {
  Atom atom{};
  atom.name = name;
  atom.aHome = atom.bHome = OperandHome::Shared;
  atom.scope = AtomScope::Thread;
  atom.isAsync = true;
  atom.features = uint32_t(ChipFeature::TensorMemoryMma) | features;
  atom.supports = supports;
  atom.accLayout = accLayout;
  atom.aBuffer = bufferA;
  atom.bBuffer = bufferB;
  atom.accumulator = &accumulatorCode;
  atom.shape = [](const MmaProblem &problem) -> std::array<int64_t, 3> {
    return {std::min(mostRows, problem.accShape[0]), std::min(mostColumns, problem.accShape[1]),
            stepBytes / bytesOf(problem.aType)};
  };
  return atom;
}

static constexpr Atom makePromotedAtom() {
  Atom atom = makeAtom("tcgen05_promoted", supportsPromoted, 0);
  atom.addsInRegisters = true;
  return atom;
}

constinit const Atom tilec::tcgen05Atom = makeAtom("tcgen05", supportsFloats, 0);
constinit const Atom tilec::tcgen05IntegerAtom =
    makeAtom("tcgen05_i8", supportsIntegers, uint32_t(ChipFeature::TensorMemoryI8));
constinit const Atom tilec::tcgen05PromotedAtom = makePromotedAtom();
