//===- Indexed.cpp - gather and scatter ------------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: tile.gather, tile.scatter. Out: per thread, one access for each element that it
// owns, or for each run of elements that lie side by side (MemoryAccess.h).
//
//   gather   reads `pad` in constant memory in place of what does not exist, so all
//            loads of a tile are issued together
//   scatter  is done by the thread whose copy bits are clear, under a branch for each
//            guard. Two elements may name one place, so these are relaxed atomic
//            stores of the block: one of them wins, and that is no race
//
//===------------------------------------------------------------------------===//
#include "MemoryAccess.h"

#include "tilec/Atoms/HelperCall.h"
#include "tilec/Atoms/ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilec;

/// More elements than any access moves: as many as the run has.
static constexpr int64_t wholeRun = 16;

LogicalResult Emitter::emitGather(tile::GatherOp op) {
  IndexedAccess access(*this, op, op.getType());
  TypedAttr pad = storedPad(op.getPadValue(), access.stored);
  SmallVector<Value> elements =
      emitGroupLoads(builder, loc, access.groups(wholeRun), access.stored,
                     access.layoutOrNull(), pad);
  Value stored = access.isScalar() ? elements[0] : fromElements(elements);
  set(op, emitFromStored(builder, loc, stored, op.getArray().getType().getElementType()));
  return success();
}

/// Bits of `value`, a scalar or vector, as integers of `width` bits.
static Value asIntegers(OpBuilder &builder, Location loc, Value value, unsigned width,
                        unsigned count) {
  Type integer = builder.getIntegerType(width);
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return value.getType() == integer
               ? value
               : arith::BitcastOp::create(builder, loc, integer, value).getResult();
  return vector::BitCastOp::create(builder, loc, VectorType::get(count, integer), value);
}

LogicalResult Emitter::emitScatter(tile::ScatterOp op) {
  IndexedAccess access(*this, op, op.getValue().getType());
  Type element = op.getArray().getType().getElementType();
  Value value = emitToStored(builder, loc, get(op.getValue()), element);
  unsigned elementBits = access.stored.getIntOrFloatBitWidth();

  auto storeGroup = [&](const AccessGroup &group) {
    unsigned bits = elementBits * unsigned(group.registers.size());
    Value part = value;
    if (!access.isScalar())
      part = group.registers.size() == 1
                 ? extract(value, group.registers[0])
                 : emitShuffle(builder, loc, value, group.registers);
    if (bits <= std::max(elementBits, 32u)) {
      Value whole = asIntegers(builder, loc, part, bits, 1);
      if (isa<VectorType>(whole.getType()))
        whole = extract(whole, 0);
      LLVM::StoreOp::create(builder, loc, whole, group.address, bits / 8,
                            /*isVolatile=*/false, /*isNonTemporal=*/false,
                            /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic,
                            "block");
      return;
    }
    // Two or four words; PTX makes each of them one relaxed store.
    unsigned wordBits = std::max(elementBits, 32u), count = bits / wordBits;
    Value words = asIntegers(builder, loc, part, wordBits, count);
    SmallVector<Value> operands = {group.address};
    std::string suffix = ".v" + std::to_string(count) + ".b" + std::to_string(wordBits);
    std::string text = "st.relaxed.cta.global" + suffix + " [$0], {";
    for (unsigned i = 0; i < count; ++i) {
      operands.push_back(extract(words, i));
      text += (i ? ", $" : "$") + std::to_string(i + 1);
    }
    HelperText store{"tilec.st.relaxed.block" + suffix, text + "};", /*constraints=*/"",
                     "memory"};
    emitHelper(builder, loc, store, TypeRange(), operands);
  };

  emitUnder(emitIsWriter(access.layoutOrNull()), [&] {
    for (const AccessGroup &group : access.groups(wholeRun))
      emitUnder(group.guard, [&] { storeGroup(group); });
  });
  return success();
}
