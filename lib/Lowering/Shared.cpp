//===- Shared.cpp - tiles to and from shared memory, products --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A buffer becomes an address: the block's shared memory plus the offset that
// AllocateMemory chose. Tiles are stored and read with the widest accesses that
// layout and buffer have in common, fragments of products by stmatrix where the chip has
// it; products are written by their atom.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Atoms/Atom.h"
#include "tilec/Atoms/ThreadCode.h"
#include "tilec/TileGPU/LateWaits.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tilec;

LogicalResult Emitter::emitAlloc(tgpu::AllocOp op) {
  if (!op.getOffset())
    return op.emitError("buffer has no offset: run --tile-allocate-memory first");
  set(op, sharedAddress(*op.getOffset()));
  return success();
}

LogicalResult Emitter::emitSharedTileLoad(tgpu::LoadOp op) {
  tgpu::BufferType buffer = op.getBuffer().getType();
  BufferAccess access = makeBufferAccess(
      builder, loc, get(op.getBuffer()), buffer.getElementType(),
      buffer.getLayout().getLayout(), tile::getLayout(op.getTile()), thread);
  Value stored = emitSharedLoad(builder, loc, access);
  set(op, emitFromStored(builder, loc, stored, buffer.getElementType()));
  return success();
}

LogicalResult Emitter::emitSharedTileStore(tgpu::StoreOp op) {
  tgpu::BufferType buffer = op.getBuffer().getType();
  Layout layout = layoutOf(cast<RankedTensorType>(op.getTile().getType()));
  if (!piece && chip && chip->has(ChipFeature::MatrixStore) &&
      emitMatrixStore(builder, loc, get(op.getBuffer()), buffer.getElementType(),
                      buffer.getLayout().getLayout(), layout, thread, get(op.getTile())))
    return success();
  emitSharedElements(op, layout,
                     emitToStored(builder, loc, get(op.getTile()), buffer.getElementType()));
  return success();
}

/// `stored`: elements as memory holds them.
void Emitter::emitSharedElements(tgpu::StoreOp op, const Layout &layout, Value stored) {
  tgpu::BufferType buffer = op.getBuffer().getType();
  BufferAccess access =
      makeBufferAccess(builder, loc, get(op.getBuffer()), buffer.getElementType(),
                       buffer.getLayout().getLayout(), layout, thread);
  uint64_t copies = layout.redundant(Input::Register);
  emitUnder(emitIsFirstCopy(builder, loc, layout, thread),
            [&] { emitSharedStore(builder, loc, access, stored, copies); });
}

/// Whether threads keep the buffer's addresses over all iterations: those of a place that never
/// changes, or of the only ring of a loop that is in no other and may have the registers.
static bool keepsAddresses(Value buffer) {
  auto pop = buffer.getDefiningOp<tgpu::PopOp>();
  if (!pop || cast<tgpu::RingType>(pop.getRing().getType()).getStages() == 1)
    return true;
  return pop->hasAttr(tgpu::pendingAttrName) &&
         isa<tile::KernelOp>(pop->getParentOp()->getParentOp()) &&
         llvm::hasSingleElement(pop->getBlock()->getOps<tgpu::PopOp>());
}

LogicalResult Emitter::emitMma(tgpu::MmaOp op) {
  const Atom *atom = findAtom(op.getAtom());
  if (!atom)
    return op.emitError("there is no atom called '") << op.getAtom() << "'";
  if (op.getAdds() && !atom->canStart && atom->addsInRegistersUpTo == 0)
    return op.emitError("'") << op.getAtom() << "' always reads acc";
  auto operand = [&](Value value, bool isUnsigned) {
    if (auto type = dyn_cast<tgpu::BufferType>(value.getType()))
      return MmaOperand{get(value), type.getLayout().getLayout(), type.getElementType(),
                        isUnsigned, keepsAddresses(value)};
    return MmaOperand{get(value), tile::getLayout(value),
                      getElementTypeOrSelf(value.getType()), isUnsigned};
  };
  MmaOperand a = operand(op.getA(), op.getAUnsigned());
  if (op.getATransposed())
    a.layout = a.layout.permute({1, 0});
  MmaEmission emission{a,
                       operand(op.getB(), op.getBUnsigned()), get(op.getAcc()),
                       op.getAdds() ? get(op.getAdds()) : Value(),
                       tile::getLayout(op.getAcc()), thread,
                       atom->scope == AtomScope::WarpGroup ? warp() : Value()};
  set(op, atom->emit(builder, loc, emission));
  return success();
}

/// The atom of the kernel's asynchronous products; null when there are none.
static const Atom *asynchronousAtom(tile::KernelOp kernel) {
  const Atom *found = nullptr;
  kernel.walk([&](tgpu::MmaOp op) {
    const Atom *atom = findAtom(op.getAtom());
    if (atom && atom->wait)
      found = atom;
  });
  return found;
}

LogicalResult Emitter::emitMmaWait(tgpu::MmaWaitOp op) {
  if (accumulators) {
    emitAccumulatorWait();
    return success();
  }
  const Atom *atom = asynchronousAtom(kernel);
  if (!atom)
    return op.emitError("no product of this kernel completes later");
  SmallVector<Value> values;
  for (Value input : op.getInputs())
    values.push_back(get(input));
  // The assembler moves waits up, to before conversions to registers that the product read, and
  // with them all that was to be done beside the product; but not across an event. This is none.
  if (op->hasAttr(tgpu::lateAttrName))
    NVVM::PMEventOp::create(builder, loc, builder.getI16IntegerAttr(0), IntegerAttr());
  values = atom->wait(builder, loc, int64_t(op.getPending()), values);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), values))
    set(result, value);
  return success();
}
