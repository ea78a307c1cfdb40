//===- RingOps.cpp - rings, copies and roles: types and verifiers ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The ring type with its syntax and sizes, and the verifiers of what
// TileGPURingOps.td defines. Comments such as `ring-C1` name its constraints.
//
//===------------------------------------------------------------------------===//
#include "tilec/TileGPU/TileGPU.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tgpu;

//===------------------------------------------------------------------------===//
// The ring type
//===------------------------------------------------------------------------===//

/// Swizzles repeat every 1024 bytes, and start from the address's own bits.
static constexpr int64_t slotAlignment = 1024;

/// Each buffer has its own bytes.
RingType RingType::get(MLIRContext *context, int64_t stages, ArrayRef<Type> buffers) {
  return get(context, stages, buffers,
             llvm::to_vector(llvm::seq<int64_t>(0, int64_t(buffers.size()))));
}

int64_t RingType::getSlotOffset(unsigned slot) const {
  int64_t offset = 0;
  if (slot < getOwners().size())
    slot = unsigned(getOwners()[slot]);
  for (unsigned i = 0; i < slot; ++i)
    if (!isView(i))
      offset += int64_t(llvm::alignTo(uint64_t(getBuffer(i).getBytes()), slotAlignment));
  return offset;
}

int64_t RingType::getGroupBytes() const {
  int64_t bytes = 0;
  for (unsigned slot = 0; slot < getBuffers().size(); ++slot)
    if (!isView(slot))
      bytes += getBuffer(slot).getBytes();
  return bytes;
}

Type RingType::parse(AsmParser &parser) {
  SmallVector<int64_t> stages;
  SmallVector<Type> buffers;
  SmallVector<int64_t> owners;
  SMLoc loc = parser.getCurrentLocation();
  auto parseBuffer = [&]() -> ParseResult {
    owners.push_back(int64_t(buffers.size()));
    if (parser.parseType(buffers.emplace_back()))
      return failure();
    return succeeded(parser.parseOptionalKeyword("as")) ? parser.parseInteger(owners.back())
                                                        : success();
  };
  if (parser.parseLess() ||
      parser.parseDimensionList(stages, /*allowDynamic=*/false, /*withTrailingX=*/true) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseBuffer) ||
      parser.parseGreater())
    return {};
  if (stages.size() != 1) {
    parser.emitError(loc, "a ring has one number of stages");
    return {};
  }
  auto emitError = [&] { return parser.emitError(loc); };
  return getChecked(emitError, parser.getContext(), stages.front(), ArrayRef<Type>(buffers),
                    ArrayRef<int64_t>(owners));
}

void RingType::print(AsmPrinter &printer) const {
  printer << '<' << getStages() << "x[";
  llvm::interleaveComma(llvm::enumerate(getBuffers()), printer, [&](auto entry) {
    printer.printType(entry.value());
    if (isView(unsigned(entry.index())))
      printer << " as " << getOwners()[entry.index()];
  });
  printer << "]>";
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t stages,
                               ArrayRef<Type> buffers, ArrayRef<int64_t> owners) {
  if (stages < 1)
    return emitError() << "a ring has at least one stage";
  if (buffers.empty())
    return emitError() << "a ring has at least one buffer";
  for (Type type : buffers)
    if (!isa<BufferType>(type))
      return emitError() << "a ring is made of buffers, not " << type;
  for (auto [slot, owner] : llvm::enumerate(owners))
    if (owner != int64_t(slot) &&
        (owner < 0 || owner > int64_t(slot) || owners[owner] != owner ||
         cast<BufferType>(buffers[owner]).getBytes() <
             cast<BufferType>(buffers[slot]).getBytes()))
      return emitError() << "a view is of an earlier buffer, with no more bytes";
  return success();
}

//===------------------------------------------------------------------------===//
// Operations
//===------------------------------------------------------------------------===//

LogicalResult RingOp::verify() {
  // ring-C1
  if (getCopy() != "tma" && getCopy() != "warps" && getCopy() != "cp_async")
    return emitOpError("there is no way of copying called '") << getCopy() << "'";
  // ring-C2
  if (!isa<tile::KernelOp>((*this)->getParentOp()))
    return emitOpError("does not stand in the outermost block of a kernel");
  return success();
}

LogicalResult PushOp::verify() {
  // push-C1
  RingType ring = getRing().getType();
  unsigned numSlots = unsigned(ring.getBuffers().size());
  llvm::SmallBitVector seen(numSlots), toViews(2);
  for (Operation &op : getCopies().front()) {
    if (!isa<CopyOp, CopyGatheredOp>(op))
      return op.emitOpError("does not belong in a push");
    auto slot = uint64_t(op.getAttrOfType<IntegerAttr>("slot").getInt());
    if (slot >= numSlots || seen.test(unsigned(ring.getOwners()[slot])))
      return op.emitOpError("slot ") << slot << " is taken or does not exist";
    seen.set(unsigned(ring.getOwners()[slot]));
    toViews.set(ring.isView(unsigned(slot)));
  }
  if (toViews.all())
    return emitOpError("copies go to slots and to views of others");
  for (unsigned slot = 0; slot < numSlots; ++slot)
    if (!toViews.test(1) && !ring.isView(slot) && !seen.test(slot))
      return emitOpError("a slot of the ring has no copy");
  return success();
}

BufferType CopyOp::getBuffer() {
  return cast<PushOp>((*this)->getParentOp()).getRing().getType().getBuffer(unsigned(getSlot()));
}

/// A buffer's layout, as that of a tile of `shape`.
static Layout tileLayout(BufferType buffer, std::optional<ArrayRef<int64_t>> shape) {
  Layout layout = buffer.getLayout().getLayout();
  return shape ? layout.reshape(*shape) : layout;
}

Layout CopyOp::getTileLayout() { return tileLayout(getBuffer(), getShape()); }
Layout CopyOutOp::getTileLayout() { return tileLayout(getBuffer().getType(), getShape()); }

template <typename Op> static LogicalResult verifyPlace(Op op, BufferType buffer) {
  tile::ArrayType array = op.getArray().getType();
  ValueRange index = op.getIndex();
  ArrayRef<int64_t> order = op.getOrder();
  int64_t rank = buffer.getRank();
  // copy-C4, copy_out-C4
  if (std::optional<ArrayRef<int64_t>> shape = op.getShape()) {
    rank = int64_t(shape->size());
    int64_t left = buffer.getLayout().getLayout().numElements();
    for (int64_t size : *shape)
      left = size > 0 && llvm::isPowerOf2_64(uint64_t(size)) && left % size == 0 ? left / size : 0;
    if (left != 1)
      return op->emitOpError("'shape' has not the buffer's elements, by powers of two");
  }
  // copy-C1, copy_out-C1
  if (int64_t(index.size()) != array.getRank())
    return op->emitOpError("needs one index per array dim");
  // copy-C2
  llvm::SmallBitVector dims(unsigned(array.getRank()));
  for (int64_t dim : order)
    if (dim >= 0 && dim < array.getRank())
      dims.set(unsigned(dim));
  if (int64_t(order.size()) != rank || dims.count() != order.size())
    return op->emitOpError("'order' does not name one array dim for each of the ")
           << (op.getShape() ? "shape" : "buffer");
  return success();
}

LogicalResult CopyOp::verify() {
  auto push = cast<PushOp>((*this)->getParentOp());
  if (getSlot() >= push.getRing().getType().getBuffers().size())
    return success(); // the push says so
  // copy-C3
  if (std::optional<ArrayRef<int64_t>> within = getOnceWithin())
    if (within->empty() || within->size() > 3 ||
        llvm::any_of(*within, [](int64_t most) { return most < 0; }))
      return emitOpError("'once within' has no number for each of one to three axes");
  return verifyPlace(*this, getBuffer());
}

BufferType CopyGatheredOp::getBuffer() {
  return cast<PushOp>((*this)->getParentOp()).getRing().getType().getBuffer(unsigned(getSlot()));
}

LogicalResult CopyGatheredOp::verify() {
  auto push = cast<PushOp>((*this)->getParentOp());
  if (getSlot() >= push.getRing().getType().getBuffers().size())
    return success(); // the push says so
  // copy_gathered-C1
  int64_t rank = getArray().getType().getRank();
  if (int64_t(getIndex().size()) != rank)
    return emitOpError("needs one index per array dim");
  // copy_gathered-C2
  BufferType buffer = getBuffer();
  auto first = cast<RankedTensorType>(getIndex().front().getType());
  SmallVector<Value> tiles(getIndex());
  if (getMask())
    tiles.push_back(getMask());
  for (Value tile : tiles) {
    auto type = cast<RankedTensorType>(tile.getType());
    if (type.getShape() != buffer.getShape() || type.getEncoding() != first.getEncoding())
      return emitOpError("indices and mask are not of the buffer's shape and one layout");
  }
  // copy_gathered-C3
  if (getInBounds() && int64_t(getInBounds()->size()) != rank)
    return emitOpError("'in_bounds' has not one flag per array dim");
  if (getRun().size() != 2 || getRun()[0] < 0 || getRun()[0] >= buffer.getRank() ||
      getRun()[1] * buffer.getElementBytes() < 16)
    return emitOpError("'run' is not a dim of the buffer and a length of 16 bytes or more");
  return success();
}

LogicalResult PopOp::verify() {
  // pop-C1
  if (getResultTypes() != TypeRange(getRing().getType().getBuffers()))
    return emitOpError("results are not the buffers of the ring");
  return success();
}

LogicalResult MmaWaitOp::verify() {
  // mma_wait-C1
  if (getResultTypes() != getInputs().getTypes())
    return emitOpError("results differ from the inputs in type");
  return success();
}

LogicalResult CopyOutOp::verify() {
  // copy_out-C3
  if (getReduce() && *getReduce() > tile::AtomicKind::Xor)
    return emitOpError("cannot reduce by '") << tile::stringifyAtomicKind(*getReduce()) << "'";
  // copy_out-C2
  if (std::optional<ArrayRef<int64_t>> groups = getGroups()) {
    int64_t seen = 0, elements = getBuffer().getType().getLayout().getLayout().numElements();
    for (int64_t first : *groups) {
      if (first < 1 || first >= elements || !llvm::isPowerOf2_64(uint64_t(first)) || (seen & first))
        return emitOpError("'groups' are not different powers of two within the buffer");
      seen |= first;
    }
  }
  return verifyPlace(*this, getBuffer().getType());
}

LogicalResult SpecializeOp::verify() {
  // specialize-C1
  if (!isa<tile::KernelOp>((*this)->getParentOp()))
    return emitOpError("does not stand in the outermost block of a kernel");
  // specialize-C2
  if (std::optional<ArrayRef<int64_t>> registers = getRegisters()) {
    bool good = registers->size() == 2 && llvm::all_of(*registers, [](int64_t count) {
                  return count >= 24 && count <= 256 && count % 8 == 0;
                });
    if (!good)
      return emitOpError("'registers' are two multiples of 8 in 24…256");
  }
  return success();
}

//===------------------------------------------------------------------------===//
// Clusters
//===------------------------------------------------------------------------===//

LogicalResult ClusterSumOp::verify() {
  Type element = getTile().getType().getElementType();
  if (!element.isF32() && !element.isF64() && !element.isInteger(32))
    return emitOpError("elements are f32, f64 or i32, not ") << element;
  if (getScratch() && getScratch().getType().getElementType() != element)
    return emitOpError("the scratch buffer has elements of ")
           << getScratch().getType().getElementType() << ", the tile of " << element;
  return success();
}

//===------------------------------------------------------------------------===//
// Sums in memory
//===------------------------------------------------------------------------===//

LogicalResult MemorySumOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                            ValueRange tiles, DictionaryAttr, OpaqueProperties,
                                            RegionRange, SmallVectorImpl<Type> &types) {
  llvm::append_range(types, tiles.getTypes());
  return success();
}

LogicalResult MemorySumOp::verify() {
  // memory_sum-C1
  for (Value tile : getTiles()) {
    Type element = getElementTypeOrSelf(tile.getType());
    if (!element.isF32() && !element.isF64() && !element.isInteger(32))
      return emitOpError("elements are f32, f64 or i32, not ") << element;
  }
  // memory_sum-C2
  if (!isa<tile::KernelOp>((*this)->getParentOp()))
    return emitOpError("does not stand in the outermost block of a kernel");
  if (!llvm::hasSingleElement((*this)->getBlock()->getOps<MemorySumOp>()))
    return emitOpError("is not the only one of its kernel");
  return success();
}
