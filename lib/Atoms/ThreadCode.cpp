//===- ThreadCode.cpp - code for positions and shared memory --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: layouts, the thread's number, vectors of registers. Out: arith, vector and
// llvm operations that compute addresses and move data to and from shared memory.
// A thread's offset is computed once; registers are immediate offsets where bits
// do not meet, one XOR otherwise (swizzled buffers).
//
//===------------------------------------------------------------------------===//
#include "tilec/Atoms/ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace tilec;

//===------------------------------------------------------------------------===//
// Linear maps
//===------------------------------------------------------------------------===//

LinearBases tilec::threadBases(const Layout &layout) {
  LinearBases bases(layout.bases(Input::Lane));
  llvm::append_range(bases, layout.bases(Input::Warp));
  return bases;
}

uint64_t tilec::reachableBits(ArrayRef<uint64_t> bases) {
  uint64_t bits = 0;
  for (uint64_t basis : bases)
    bits |= basis;
  return bits;
}

Value tilec::emitI32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

/// `number & mask`, moved left by `distance` (right when negative).
static Value emitMaskShift(OpBuilder &builder, Location loc, Value number,
                           uint64_t mask, int distance) {
  Value bits = arith::AndIOp::create(builder, loc, number,
                                     emitI32(builder, loc, int64_t(mask)));
  if (distance == 0)
    return bits;
  Value amount = emitI32(builder, loc, std::abs(distance));
  if (distance > 0)
    return arith::ShLIOp::create(builder, loc, bits, amount);
  return arith::ShRUIOp::create(builder, loc, bits, amount);
}

Value tilec::emitLinear(OpBuilder &builder, Location loc, Value number,
                        ArrayRef<uint64_t> bases) {
  // Input bits whose basis has an output bit at the same distance move together.
  std::map<int, uint64_t> masks;
  for (auto [bit, basis] : llvm::enumerate(bases))
    for (unsigned out = 0; out < 64; ++out)
      if (basis >> out & 1)
        masks[int(out) - int(bit)] |= uint64_t(1) << bit;
  Value sum;
  uint64_t sumBits = 0;
  for (auto [distance, mask] : masks) {
    Value term = emitMaskShift(builder, loc, number, mask, distance);
    uint64_t termBits = distance >= 0 ? mask << distance : mask >> -distance;
    if (!sum)
      sum = term;
    else if (sumBits & termBits)
      sum = arith::XOrIOp::create(builder, loc, sum, term);
    else
      sum = arith::OrIOp::create(builder, loc, sum, term);
    sumBits |= termBits;
  }
  return sum ? sum : emitI32(builder, loc, 0);
}

Value tilec::emitXor(OpBuilder &builder, Location loc, Value value,
                     uint64_t valueBits, uint64_t constant) {
  if (!constant)
    return value;
  Value number = emitI32(builder, loc, int64_t(constant));
  if (valueBits & constant)
    return arith::XOrIOp::create(builder, loc, value, number);
  return arith::AddIOp::create(builder, loc, value, number,
                               arith::IntegerOverflowFlags::nsw |
                                   arith::IntegerOverflowFlags::nuw);
}

Value tilec::emitIsFirstCopy(OpBuilder &builder, Location loc, const Layout &layout,
                             Value thread) {
  uint64_t mask = layout.redundant(Input::Lane) |
                  layout.redundant(Input::Warp) << layout.numBits(Input::Lane);
  if (!mask)
    return {};
  Value copy = arith::AndIOp::create(builder, loc, thread,
                                     emitI32(builder, loc, int64_t(mask)));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, copy,
                               emitI32(builder, loc, 0));
}

Value tilec::emitShuffle(OpBuilder &builder, Location loc, Value vector,
                         ArrayRef<int64_t> indices) {
  auto type = cast<VectorType>(vector.getType());
  bool isIdentity = type.getNumElements() == int64_t(indices.size());
  for (auto [position, index] : llvm::enumerate(indices))
    isIdentity &= int64_t(position) == index;
  if (isIdentity)
    return vector;
  return vector::ShuffleOp::create(builder, loc, vector, vector, indices);
}

//===------------------------------------------------------------------------===//
// Elements in memory and in registers
//===------------------------------------------------------------------------===//

Type tilec::registerType(Type elementType) {
  if (isa<Float8E4M3FNType, Float8E5M2Type>(elementType))
    return IntegerType::get(elementType.getContext(), 8);
  if (isa<FloatTF32Type>(elementType))
    return Float32Type::get(elementType.getContext());
  return elementType;
}

Type tilec::storedType(Type elementType) {
  if (elementType.isInteger(1))
    return IntegerType::get(elementType.getContext(), 8);
  if (elementType.isIndex())
    return IntegerType::get(elementType.getContext(), 64);
  return registerType(elementType);
}

static Type withElement(Type type, Type elementType) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(elementType);
  return elementType;
}

Value tilec::emitFromStored(OpBuilder &builder, Location loc, Value value,
                            Type elementType) {
  if (elementType.isIndex())
    return arith::IndexCastOp::create(
        builder, loc, withElement(value.getType(), elementType), value);
  if (!elementType.isInteger(1))
    return value;
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, zero);
}

Value tilec::emitToStored(OpBuilder &builder, Location loc, Value value,
                          Type elementType) {
  Type type = withElement(value.getType(), storedType(elementType));
  if (elementType.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  if (elementType.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, type, value);
  return value;
}

//===------------------------------------------------------------------------===//
// Shared memory
//===------------------------------------------------------------------------===//

SmallVector<unsigned, 4> BufferAccess::vectorBits() const {
  unsigned maxElements = 128 / elementType.getIntOrFloatBitWidth();
  SmallVector<unsigned, 4> bits;
  while ((2u << bits.size()) <= maxElements) {
    uint64_t step = uint64_t(1) << bits.size();
    const uint64_t *found = llvm::find(registerBases, step);
    if (found == registerBases.end())
      break;
    // No other part of the address may touch the bits inside a vector.
    uint64_t others = offsetBits;
    for (const uint64_t &basis : registerBases)
      if (&basis != found)
        others |= basis & step ? step : 0;
    if (others & step)
      break;
    bits.push_back(found - registerBases.begin());
  }
  return bits;
}

BufferAccess tilec::makeBufferAccess(OpBuilder &builder, Location loc, Value base,
                                     Type elementType, const Layout &buffer,
                                     const Layout &registers, Value thread) {
  Layout offsets = registers.then(buffer.invert());
  LinearBases bases = threadBases(offsets);
  BufferAccess access;
  access.base = base;
  access.elementType = storedType(elementType);
  access.offset = emitLinear(builder, loc, thread, bases);
  access.offsetBits = reachableBits(bases);
  access.registerBases = LinearBases(offsets.bases(Input::Register));
  return access;
}

namespace {

/// The accesses of a thread one after the other: `visit(address, registers)`, where
/// `registers` are the numbers of the registers that one access moves.
class AccessWalker {
public:
  AccessWalker(OpBuilder &builder, Location loc, const BufferAccess &access)
      : builder(builder), loc(loc), access(access), vector(access.vectorBits()) {}

  template <typename Visit>
  void walk(uint64_t skippedRegisters, Visit visit) {
    unsigned count = 1u << access.registerBases.size();
    uint64_t inVector = 0;
    for (unsigned bit : vector)
      inVector |= uint64_t(1) << bit;
    for (uint64_t first = 0; first < count; ++first) {
      if (first & (inVector | skippedRegisters))
        continue;
      SmallVector<int64_t, 16> registers;
      for (unsigned element = 0; element < (1u << vector.size()); ++element) {
        uint64_t number = first;
        for (auto [position, bit] : llvm::enumerate(vector))
          if (element >> position & 1)
            number |= uint64_t(1) << bit;
        registers.push_back(int64_t(number));
      }
      visit(address(first), ArrayRef<int64_t>(registers));
    }
  }

  unsigned alignment() const {
    return access.elementType.getIntOrFloatBitWidth() / 8 << vector.size();
  }

private:
  Value address(uint64_t number) {
    uint64_t constant = 0;
    for (auto [bit, basis] : llvm::enumerate(access.registerBases))
      if (number >> bit & 1)
        constant ^= basis;
    // The thread's address once for each way in which register and thread meet in the same
    // bits, and an immediate for the other bits.
    Type pointer = access.base.getType();
    Value &start = starts[constant & access.offsetBits];
    if (!start) {
      Value offset = emitXor(builder, loc, access.offset, access.offsetBits,
                             constant & access.offsetBits);
      start = LLVM::GEPOp::create(builder, loc, pointer, access.elementType, access.base,
                                  ArrayRef<LLVM::GEPArg>{offset});
    }
    constant &= ~access.offsetBits;
    if (!constant)
      return start;
    return LLVM::GEPOp::create(builder, loc, pointer, access.elementType, start,
                               ArrayRef<LLVM::GEPArg>{int32_t(constant)});
  }

  OpBuilder &builder;
  Location loc;
  const BufferAccess &access;
  SmallVector<unsigned, 4> vector;
  std::map<uint64_t, Value> starts;
};

} // namespace

Value tilec::emitSharedLoad(OpBuilder &builder, Location loc,
                            const BufferAccess &access) {
  int64_t count = int64_t(1) << access.registerBases.size();
  SmallVector<Value> elements(count);
  AccessWalker walker(builder, loc, access);
  walker.walk(0, [&](Value address, ArrayRef<int64_t> registers) {
    Type type = access.elementType;
    if (registers.size() > 1)
      type = VectorType::get(int64_t(registers.size()), type);
    Value loaded =
        LLVM::LoadOp::create(builder, loc, type, address, walker.alignment());
    if (registers.size() == 1) {
      elements[registers[0]] = loaded;
      return;
    }
    auto parts = vector::ToElementsOp::create(builder, loc, loaded);
    for (auto [part, number] : llvm::zip(parts.getResults(), registers))
      elements[number] = part;
  });
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get(count, access.elementType), elements);
}

void tilec::emitSharedStore(OpBuilder &builder, Location loc,
                            const BufferAccess &access, Value value,
                            uint64_t skippedRegisters) {
  AccessWalker walker(builder, loc, access);
  walker.walk(skippedRegisters, [&](Value address, ArrayRef<int64_t> registers) {
    Value stored;
    if (registers.size() == 1)
      stored = vector::ExtractOp::create(builder, loc, value, registers[0]);
    else
      stored = emitShuffle(builder, loc, value, registers);
    LLVM::StoreOp::create(builder, loc, stored, address, walker.alignment());
  });
}

void tilec::emitSharedStoreElement(OpBuilder &builder, Location loc,
                                   const BufferAccess &access, Value element,
                                   uint64_t number) {
  uint64_t constant = 0;
  for (auto [bit, basis] : llvm::enumerate(access.registerBases))
    if (number >> bit & 1)
      constant ^= basis;
  Value offset = emitXor(builder, loc, access.offset, access.offsetBits, constant);
  Value address = LLVM::GEPOp::create(builder, loc, access.base.getType(), access.elementType,
                                      access.base, ArrayRef<LLVM::GEPArg>{offset});
  LLVM::StoreOp::create(builder, loc, element, address);
}

//===------------------------------------------------------------------------===//
// Matrices of 8 x 8
//===------------------------------------------------------------------------===//

namespace {

/// How the registers of a tile make up matrices: a row of one is 8 neighbours in the
/// buffer, two in each of four lanes; or, transposed, one in each of eight lanes.
struct MatrixStorePlan {
  bool isTransposed;
  unsigned pairBit;                     ///< of the register: the neighbour
  llvm::SmallVector<unsigned, 2> which; ///< register bits that choose among matrices
  llvm::SmallVector<unsigned, 6> rest;  ///< those left, one instruction for each number
  LinearBases addressBases; ///< offset of the row that a thread gives the address of
  LinearBases registerBases;
};

} // namespace

/// The register bit that makes a pair: it and lanes walk along a row, or down the rows.
static std::optional<unsigned> findPair(ArrayRef<uint64_t> registers, ArrayRef<uint64_t> lanes,
                                        bool isTransposed) {
  if (isTransposed)
    return lanes[2] == 1 && lanes[3] == 2 && lanes[4] == 4 && !registers.empty()
               ? std::optional(0u)
               : std::nullopt;
  const uint64_t *pair = llvm::find(registers, 1);
  if (pair == registers.end() || lanes[0] != 2 || lanes[1] != 4)
    return std::nullopt;
  return unsigned(pair - registers.begin());
}

static std::optional<MatrixStorePlan> planMatrixStore(const Layout &buffer,
                                                      const Layout &registers) {
  for (Input input : {Input::Register, Input::Lane, Input::Warp})
    if (registers.redundant(input))
      return std::nullopt;
  Layout offsets = registers.then(buffer.invert());
  MatrixStorePlan plan;
  plan.registerBases = LinearBases(offsets.bases(Input::Register));
  ArrayRef<uint64_t> lanes = offsets.bases(Input::Lane);
  plan.isTransposed = lanes[0] != 2;
  std::optional<unsigned> pair = findPair(plan.registerBases, lanes, plan.isTransposed);
  if (!pair)
    return std::nullopt;
  plan.pairBit = *pair;
  // What chooses a row: of a matrix, three bits; then the matrix, and the warp.
  uint64_t pairBasis = plan.registerBases[plan.pairBit];
  if (plan.isTransposed)
    plan.addressBases.assign({pairBasis, lanes[0], lanes[1]});
  else
    plan.addressBases.assign({lanes[2], lanes[3], lanes[4]});
  uint64_t rows = reachableBits(plan.addressBases) | reachableBits(offsets.bases(Input::Warp));
  for (auto [bit, basis] : llvm::enumerate(plan.registerBases))
    if (bit != plan.pairBit) {
      rows |= basis;
      (plan.which.size() < 2 ? static_cast<SmallVectorImpl<unsigned> &>(plan.which)
                             : plan.rest)
          .push_back(unsigned(bit));
    }
  if (rows & 7)
    return std::nullopt;
  // Lane l names row l % 8 of matrix l / 8.
  for (unsigned bit : plan.which)
    plan.addressBases.push_back(plan.registerBases[bit]);
  plan.addressBases.resize(5, 0);
  llvm::append_range(plan.addressBases, offsets.bases(Input::Warp));
  return plan;
}

/// The sum of `bases` over the bits of `number` that `bits` lists.
static uint64_t sumOf(ArrayRef<unsigned> bits, uint64_t number, ArrayRef<uint64_t> bases) {
  uint64_t sum = 0;
  for (auto [position, bit] : llvm::enumerate(bits))
    if (number >> position & 1)
      sum ^= bases[bit];
  return sum;
}

/// The register whose bits at the places `bits` are those of `number`.
static uint64_t scatter(ArrayRef<unsigned> bits, uint64_t number) {
  uint64_t result = 0;
  for (auto [position, bit] : llvm::enumerate(bits))
    result |= (number >> position & 1) << bit;
  return result;
}

bool tilec::emitMatrixStore(OpBuilder &builder, Location loc, Value base, Type elementType,
                            const Layout &buffer, const Layout &registers, Value thread,
                            Value value) {
  Type stored = storedType(elementType);
  std::optional<MatrixStorePlan> plan;
  if (stored.getIntOrFloatBitWidth() == 16)
    plan = planMatrixStore(buffer, registers);
  if (!plan)
    return false;
  Value offset = emitLinear(builder, loc, thread, plan->addressBases);
  uint64_t offsetBits = reachableBits(plan->addressBases);
  unsigned matrices = 1u << plan->which.size();
  auto wordType = VectorType::get(matrices, builder.getI32Type());
  for (uint64_t part = 0; part < uint64_t(1) << plan->rest.size(); ++part) {
    SmallVector<int64_t> elements;
    for (unsigned matrix = 0; matrix < matrices; ++matrix)
      for (uint64_t half : {0, 1})
        elements.push_back(int64_t(scatter(plan->rest, part) | scatter(plan->which, matrix) |
                                   half << plan->pairBit));
    Value words = vector::BitCastOp::create(builder, loc, wordType,
                                            emitShuffle(builder, loc, value, elements));
    Value place = emitXor(builder, loc, offset, offsetBits,
                          sumOf(plan->rest, part, plan->registerBases));
    Value address = LLVM::GEPOp::create(builder, loc, base.getType(), stored, base,
                                        ArrayRef<LLVM::GEPArg>{place});
    auto sources = vector::ToElementsOp::create(builder, loc, words);
    NVVM::StMatrixOp::create(
        builder, loc, address, sources.getResults(),
        plan->isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
  }
  return true;
}
