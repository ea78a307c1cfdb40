//===- Atomic.cpp - atomic operations --------------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: tile.atomic. Out: one atomic instruction for each element, done by the thread
// whose copy bits are clear, under a branch where the element may not exist.
//
//   add, integer min max, and or xor, xchg   atom; red where nobody asks for the old
//                                            value, of runs where the chip has that
//   cas, load, store                         llvm's own, which keep order and scope
//   float min and max, bf16 add on chips     a loop of cas. It first looks, and is done
//   without it                               when the value would not change (if no
//                                            release is asked for)
//
// llvm's atomicrmw drops order and scope on its way to PTX, hence helpers, which the
// emulator turns back into atomicrmw:
//
//   call float @tilec.atom.add.acq_rel.gpu.f32(ptr %p, float %v)
//   call void @tilec.red.add.relaxed.gpu.v4.f32(ptr %p, float %v0, …)
//
// Old values: threads that hold copies get theirs from the lane that did the work.
// Copies in other warps, and scalars, were sent through shared memory by StageOperands.
//
//===------------------------------------------------------------------------===//
#include "MemoryAccess.h"

#include "tilec/Atoms/HelperCall.h"
#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Layout/Conversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilec;
using tile::AtomicKind;
using tile::MemoryOrder;
using tile::MemoryScope;

namespace tilec {

/// The instructions of one tile.atomic, element by element.
class AtomicAccess {
public:
  AtomicAccess(Emitter &emitter, tile::AtomicOp op)
      : e(emitter), b(emitter.builder), loc(emitter.loc), kind(op.getKind()),
        order(op.getOrder()), scope(op.getScope()), isUnsigned(op.getIsUnsigned()),
        isUsed(op.getResult() && !op.getResult().use_empty()),
        type(op.getArray().getType().getElementType()), width(type.getIntOrFloatBitWidth()) {}

  /// How many elements side by side one instruction may take.
  int64_t widestGroup() const;
  /// One element; gives the old value, null for a store or when nobody wants it.
  Value emit(Value address, Value expected, Value value);
  /// Several side by side.
  void emitVector(Value address, ArrayRef<Value> values);

private:
  bool releases() const {
    return order == MemoryOrder::Release || order == MemoryOrder::AcqRel;
  }
  bool acquires() const {
    return order == MemoryOrder::Acquire || order == MemoryOrder::AcqRel;
  }
  bool isFloat() const { return isa<FloatType>(type); }
  bool hasFeature(ChipFeature feature) const { return e.chip && e.chip->has(feature); }
  bool needsLoop() const;
  StringRef scopeName() const;
  std::string ptxType() const;
  Value toBits(Value value);
  Value fromBits(Value bits);
  Value load(MemoryOrder loadOrder);
  Value compareAndSwap(Value expected, Value desired);
  Value combine(Value old, Value value);
  Value emitLoop(Value value);
  Value emitInstruction(Value value);
  Value call(StringRef instruction, StringRef operation, StringRef ptxType, Type result,
             ValueRange operands, unsigned perBrace);

  Emitter &e;
  OpBuilder &b;
  Location loc;
  AtomicKind kind;
  MemoryOrder order;
  MemoryScope scope;
  bool isUnsigned, isUsed;
  Type type;
  unsigned width;
  Value address;
};

} // namespace tilec

//===------------------------------------------------------------------------===//
// Bits
//===------------------------------------------------------------------------===//

Value AtomicAccess::toBits(Value value) {
  return isFloat() ? arith::BitcastOp::create(b, loc, b.getIntegerType(width), value).getResult()
                   : value;
}
Value AtomicAccess::fromBits(Value bits) {
  return isFloat() ? arith::BitcastOp::create(b, loc, type, bits).getResult() : bits;
}

StringRef AtomicAccess::scopeName() const {
  switch (scope) {
  case MemoryScope::Block:
    return "block";
  case MemoryScope::GPU:
    return "device";
  case MemoryScope::System:
    return "";
  }
  return "";
}

//===------------------------------------------------------------------------===//
// Single instructions
//===------------------------------------------------------------------------===//

/// The type in the instruction's name.
std::string AtomicAccess::ptxType() const {
  std::string bits = std::to_string(width);
  switch (kind) {
  case AtomicKind::Add:
    return type.isBF16() ? "bf16" : (isFloat() ? "f" : "u") + bits;
  case AtomicKind::Max:
  case AtomicKind::Min:
    return (isUnsigned ? "u" : "s") + bits;
  default:
    return "b" + bits;
  }
}

/// Calls the helper whose PTX is `instruction.order.scope.global.operation.type`; the
/// operands behind the address come in one pair of braces if `perBrace` > 1.
Value AtomicAccess::call(StringRef instruction, StringRef operation, StringRef ptxType,
                         Type result, ValueRange operands, unsigned perBrace) {
  static constexpr StringLiteral ptxScopes[] = {"cta", "gpu", "sys"};
  std::string orderName = tile::stringifyMemoryOrder(order).str();
  std::string name = "tilec." + (instruction + "." + operation + "." + orderName + "." +
                                 tile::stringifyMemoryScope(scope) + "." + ptxType)
                                    .str();
  bool isHalf = ptxType.contains("f16");
  std::string text = (instruction + "." + orderName + "." + ptxScopes[unsigned(scope)] +
                      ".global." + operation + (isHalf ? ".noftz." : ".") + ptxType + " ")
                         .str();
  unsigned next = 0;
  auto operand = [&] { return "$" + std::to_string(next++); };
  SmallVector<Type, 1> results;
  if (result) {
    results.push_back(result);
    text += operand() + ", ";
  }
  text += "[" + operand() + "], ";
  std::string values = operand();
  for (size_t i = 2; i < operands.size(); ++i)
    values += ", " + operand();
  text += perBrace > 1 ? "{" + values + "};" : values + ";";
  SmallVector<Value> got = emitHelper(b, loc, {name, text, /*constraints=*/"", "memory"},
                                      results, operands);
  return result ? got.front() : Value();
}

Value AtomicAccess::emitInstruction(Value value) {
  // What PTX moves as bits.
  bool asBits = kind == AtomicKind::Xchg || width == 16;
  Value operand = asBits ? toBits(value) : value;
  // There is no red that acquires.
  bool isReduction = !isUsed && !acquires() && kind != AtomicKind::Xchg;
  StringRef operation =
      kind == AtomicKind::Xchg ? StringRef("exch") : tile::stringifyAtomicKind(kind);
  Value old = call(isReduction ? "red" : "atom", operation, ptxType(),
                   isReduction ? Type() : operand.getType(), {address, operand}, 1);
  return old && asBits ? fromBits(old) : old;
}

int64_t AtomicAccess::widestGroup() const {
  bool isReduction = kind == AtomicKind::Add && !isUsed && !acquires();
  if (!isReduction || !isFloat() || width == 64)
    return 1;
  if (hasFeature(ChipFeature::VectorReductions))
    return 128 / width;
  return type.isF16() ? 2 : 1;
}

void AtomicAccess::emitVector(Value groupAddress, ArrayRef<Value> values) {
  SmallVector<Value> operands = {groupAddress};
  std::string ptx = "f32";
  if (width == 32) {
    operands.append(values.begin(), values.end());
  } else {
    ptx = type.isBF16() ? "bf16x2" : "f16x2";
    for (size_t i = 0; i < values.size(); i += 2) {
      Value pair = e.fromElements({values[i], values[i + 1]});
      auto word = VectorType::get(1, b.getI32Type());
      operands.push_back(e.extract(vector::BitCastOp::create(b, loc, word, pair), 0));
    }
  }
  auto count = unsigned(operands.size() - 1);
  if (count > 1)
    ptx = "v" + std::to_string(count) + "." + ptx;
  call("red", "add", ptx, Type(), operands, count);
}

//===------------------------------------------------------------------------===//
// Loads, stores and compare-and-swap
//===------------------------------------------------------------------------===//

static LLVM::AtomicOrdering orderingOf(MemoryOrder order) {
  switch (order) {
  case MemoryOrder::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case MemoryOrder::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case MemoryOrder::Release:
    return LLVM::AtomicOrdering::release;
  case MemoryOrder::AcqRel:
    return LLVM::AtomicOrdering::acq_rel;
  }
  return LLVM::AtomicOrdering::acq_rel;
}

/// The bits in memory.
Value AtomicAccess::load(MemoryOrder loadOrder) {
  return LLVM::LoadOp::create(b, loc, b.getIntegerType(width), address, width / 8,
                              /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariant=*/false, /*isInvariantGroup=*/false,
                              orderingOf(loadOrder), scopeName());
}

Value AtomicAccess::compareAndSwap(Value expected, Value desired) {
  if (width == 16)
    return call("atom", "cas", "b16", expected.getType(), {address, expected, desired}, 1);
  auto failure = acquires() ? LLVM::AtomicOrdering::acquire : LLVM::AtomicOrdering::monotonic;
  auto result = LLVM::AtomicCmpXchgOp::create(b, loc, address, expected, desired,
                                              orderingOf(order), failure, scopeName());
  return LLVM::ExtractValueOp::create(b, loc, result, ArrayRef<int64_t>{0});
}

//===------------------------------------------------------------------------===//
// Loops
//===------------------------------------------------------------------------===//

bool AtomicAccess::needsLoop() const {
  if (!isFloat())
    return false;
  if (kind == AtomicKind::Max || kind == AtomicKind::Min)
    return true;
  return kind == AtomicKind::Add && type.isBF16() &&
         !hasFeature(ChipFeature::VectorReductions);
}

/// The new value; 16-bit floats are computed in f32 and rounded once.
Value AtomicAccess::combine(Value old, Value value) {
  bool isNarrow = width == 16;
  if (isNarrow) {
    old = arith::ExtFOp::create(b, loc, b.getF32Type(), old);
    value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
  }
  Value result;
  if (kind == AtomicKind::Add)
    result = arith::AddFOp::create(b, loc, old, value);
  else if (kind == AtomicKind::Max)
    result = arith::MaximumFOp::create(b, loc, old, value);
  else
    result = arith::MinimumFOp::create(b, loc, old, value);
  return isNarrow ? arith::TruncFOp::create(b, loc, type, result).getResult() : result;
}

/// seen = *p; do { new = f(seen); if (new == seen) break; old = cas(p, seen, new) }
/// while (old != seen, seen = old).
Value AtomicAccess::emitLoop(Value value) {
  bool mayLook = !releases() && kind != AtomicKind::Add;
  Value start = load(acquires() ? MemoryOrder::Acquire : MemoryOrder::Relaxed);
  Type bitsType = start.getType();
  // Built in place: what calls a helper declares it in the module around.
  auto loop = scf::WhileOp::create(b, loc, TypeRange{bitsType}, ValueRange{start});
  OpBuilder::InsertionGuard loopGuard(b);
  Value seen = b.createBlock(&loop.getBefore(), {}, bitsType, loc)->getArgument(0);
  Value old = fromBits(seen);
  Value desired = toBits(combine(old, value));
  Value swapped;
  if (mayLook) {
    // A NaN that is there stays as it is.
    Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, old, old);
    Value differs = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, desired, seen);
    auto branch = scf::IfOp::create(b, loc, TypeRange{bitsType},
                                    arith::AndIOp::create(b, loc, differs, isNumber),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, compareAndSwap(seen, desired));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, seen);
    swapped = branch.getResult(0);
  } else {
    swapped = compareAndSwap(seen, desired);
  }
  Value again = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, swapped, seen);
  scf::ConditionOp::create(b, loc, again, swapped);
  Block *after = b.createBlock(&loop.getAfter(), {}, bitsType, loc);
  scf::YieldOp::create(b, loc, after->getArguments());
  b.setInsertionPointAfter(loop);
  return fromBits(loop.getResult(0));
}

Value AtomicAccess::emit(Value elementAddress, Value expected, Value value) {
  address = elementAddress;
  switch (kind) {
  case AtomicKind::Load:
    return fromBits(load(order));
  case AtomicKind::Store:
    LLVM::StoreOp::create(b, loc, toBits(value), address, width / 8, /*isVolatile=*/false,
                          /*isNonTemporal=*/false, /*isInvariantGroup=*/false,
                          orderingOf(order), scopeName());
    return {};
  case AtomicKind::Cas:
    return fromBits(compareAndSwap(toBits(expected), toBits(value)));
  default:
    return needsLoop() ? emitLoop(value) : emitInstruction(value);
  }
}

//===------------------------------------------------------------------------===//
// The operation
//===------------------------------------------------------------------------===//

LogicalResult Emitter::emitAtomic(tile::AtomicOp op) {
  Type shape = op.getIndex().front().getType();
  IndexedAccess access(*this, op, shape);
  AtomicAccess atomic(*this, op);
  const Layout *layout = access.layoutOrNull();
  Value expected = op.getExpected() ? get(op.getExpected()) : Value();
  Value value = op.getValue() ? get(op.getValue()) : Value();
  auto element = [&](Value values, int64_t number) {
    return values && layout ? extract(values, number) : values;
  };
  Value isWriter = emitIsWriter(layout);

  if (!op.getResult() || op.getResult().use_empty()) {
    emitUnder(isWriter, [&] {
      for (const AccessGroup &group : access.groups(atomic.widestGroup()))
        emitUnder(group.guard, [&] {
          int64_t first = group.registers.front();
          SmallVector<Value> values;
          for (int64_t number : group.registers)
            values.push_back(element(value, number));
          if (values.size() > 1)
            atomic.emitVector(group.address, values);
          else
            atomic.emit(group.address, element(expected, first), values.front());
        });
    });
    return success();
  }

  SmallVector<Value> old(layout ? layout->size(Input::Register) : 1);
  Type type = op.getArray().getType().getElementType();
  for (const AccessGroup &group : access.groups(1)) {
    int64_t number = group.registers.front();
    auto perform = [&] {
      return atomic.emit(group.address, element(expected, number), element(value, number));
    };
    Value guard = group.guard && isWriter
                      ? arith::AndIOp::create(builder, loc, group.guard, isWriter).getResult()
                  : group.guard ? group.guard
                                : isWriter;
    if (!guard) {
      old[number] = perform();
      continue;
    }
    auto branch = scf::IfOp::create(builder, loc, TypeRange{type}, guard, /*withElse=*/true);
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, perform());
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, zero(type));
    old[number] = branch.getResult(0);
  }
  if (layout)
    fillCopies(old, *layout);
  Value result = layout ? fromElements(old) : old[0];
  // The lane that did it tells the others.
  if (layout && copiesAreInLanes(*layout)) {
    if (uint64_t copies = layout->redundant(Input::Lane)) {
      Value giver = arith::AndIOp::create(builder, loc, lane(), i32(int64_t(~copies & 31)));
      result = shuffleIndex(result, giver);
    }
  } else if (!layout && kernel.getNumWarps().value_or(4) == 1) {
    result = shuffleIndex(result, i32(0));
  }
  set(op.getResult(), result);
  return success();
}
