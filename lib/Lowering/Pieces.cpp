//===- Pieces.cpp - tiles of more elements than a thread has registers -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A thread has at most 255 registers. What has more elements a thread than that would
// be spilled anyway, and straight-line code for thousands of elements keeps LLVM and
// the assembler busy for minutes: their time grows faster than the code. So such a
// value lives in local memory from the start, and operations on it are loops over
// pieces of it:
//
//   %c = arith.addf %a, %b : tensor<1048576xf32>      1024 elements a thread
//
//   scf.for %piece = 0 to 32 {
//     %x = llvm.load %a_memory[%piece] : vector<32xf32>
//     %y = llvm.load %b_memory[%piece] : vector<32xf32>
//     llvm.store (arith.addf %x, %y), %c_memory[%piece]
//   }
//
// A piece is the elements of the lowest register bits. The higher register bits are
// taken for warp bits, and the number of the piece for the highest bits of the
// thread's number; with that, what is written for whole tiles is right for pieces.
//
// Accesses to arrays, elementwise operations and reductions along the pieces are done so.
// Threads of 16 and 32 warps have 128 and 64 registers. Kernels that only stream from arrays
// to arrays take pieces from there on, at the same speed (131 072 elements, H200: sums of
// arrays 2.7 % slower, running sums 24 % faster). Rows that are reduced do not: with 128
// elements, some of which the assembler spills, they are up to twice as fast. Where arrays
// may overlap, which is seldom, the code is to be short, though (StreamRows has the others).
// Where nothing is known of an array's alignment, so that each element is an access with a
// test of its own, stores take pieces from two of them on, and so do loads that go on into
// shared memory: what they do is small against what their code costs the assembler.
// Scans and sorts go from piece to piece by themselves, already where fewer registers are
// taken (Scan.cpp, Sort.cpp). Everything else takes the value whole out of its memory, or
// leaves it whole.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Analysis/SlicePlan.h"
#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Tile/Accesses.h"
#include "tilec/Transforms/RolledLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace tilec;

/// log2 of the elements that a thread holds at most.
static constexpr unsigned mostRegisterBits = 8;

/// Registers that operations with elements of several pieces hold at most.
static constexpr int64_t mostOrdered = 64;

/// The operand of a reshape or permute that leaves every element in its register; else null.
static Value renamedBy(Operation *op) {
  if (auto permute = dyn_cast_if_present<tile::PermuteOp>(op))
    return tile::getLayout(permute.getSource()).permute(permute.getDims()) ==
                   tile::getLayout(permute.getResult())
               ? permute.getSource()
               : Value();
  auto reshape = dyn_cast_if_present<tile::ReshapeOp>(op);
  auto type = reshape ? dyn_cast<RankedTensorType>(reshape.getType()) : RankedTensorType();
  if (!type || !isa<RankedTensorType>(reshape.getSource().getType()))
    return {};
  return tile::getLayout(reshape.getSource()).reshape(type.getShape()) == tile::getLayout(type)
             ? reshape.getSource()
             : Value();
}

/// Whether all that happens to what `load` brings, here `value`, under whatever shape, is that
/// it is put into buffers, and that before the next product: where there is work in between,
/// it hides the load's latency, while a loop would wait for every piece.
static bool goesToShared(tile::LoadOp load, Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (renamedBy(user))
      return goesToShared(load, user->getResult(0));
    if (!isa<tgpu::StoreOp>(user) || user->getBlock() != load->getBlock())
      return false;
    for (Operation *between = load; between != user; between = between->getNextNode())
      if (isa<tgpu::MmaOp>(between) || between->getNumRegions())
        return false;
    return true;
  });
}

/// In elements of a copy in runs: log2 of how many a thread moves at once, and one by one, in
/// copies and in stores.
static constexpr unsigned runRegisterBits = 6, singleRegisterBits = 3;

/// The store to shared memory that is all the use of what `load` brings, if it is in the same
/// block and no array is written before it; null otherwise.
static tgpu::StoreOp onlyStoreOf(tile::LoadOp load) {
  Operation *user = load;
  while (user == load || renamedBy(user)) {
    if (!user->hasOneUse())
      return {};
    user = *user->getUsers().begin();
  }
  if (!isa<tgpu::StoreOp>(user) || user->getBlock() != load->getBlock())
    return {};
  for (Operation *between = load; between != user; between = between->getNextNode())
    if (tile::containsWrite(between))
      return {};
  return cast<tgpu::StoreOp>(user);
}

tile::LoadOp Emitter::runCopyOf(Value value) {
  while (Value source = renamedBy(value.getDefiningOp()))
    value = source;
  auto load = value.getDefiningOp<tile::LoadOp>();
  bool isCopied = load && onlyStoreOf(load) && hasRuns(load);
  return isCopied ? load : tile::LoadOp();
}

/// The type of what `op` loads, or puts into an array or a buffer, where it is done in pieces
/// although a thread has registers enough: null elsewhere.
RankedTensorType Emitter::typeInPieces(Operation *op) const {
  auto typeOf = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    bool isLong = type && tile::hasLayout(type) &&
                  tile::getLayout(type).numBits(Input::Register) > pieceBits;
    return isLong ? type : RankedTensorType();
  };
  if (isAligned16 || hasWholePieces)
    return {};
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return typeOf(store.getValue());
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return goesToShared(load, load.getResult()) ? typeOf(load.getResult())
                                                : RankedTensorType();
  auto store = dyn_cast<tgpu::StoreOp>(op);
  if (!store)
    return {};
  Value origin = store.getTile();
  while (Value source = renamedBy(origin.getDefiningOp()))
    origin = source;
  auto load = origin.getDefiningOp<tile::LoadOp>();
  return load && typeInPieces(load) ? typeOf(store.getTile()) : RankedTensorType();
}

static Value addressOfPiece(OpBuilder &builder, Location loc, Value memory, VectorType type,
                            LLVM::GEPArg number) {
  return LLVM::GEPOp::create(builder, loc, memory.getType(), type, memory,
                             ArrayRef<LLVM::GEPArg>{number});
}

/// The first piece of those that `op` takes of its source, where it takes a run of pieces.
static std::optional<int32_t> firstPieceOf(tile::ExtractOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  std::optional<Layout::Coords> start = constantStart(op);
  if (!type || !start)
    return std::nullopt;
  auto registers =
      registersOfSlice(tile::getLayout(op.getSource()), tile::getLayout(type), *start);
  int64_t unit = int64_t(1) << pieceBits;
  if (!registers || int64_t(registers->size()) < unit || registers->front() % unit)
    return std::nullopt;
  for (auto [index, number] : llvm::enumerate(*registers))
    if (number != registers->front() + int64_t(index))
      return std::nullopt;
  return int32_t(registers->front() / unit);
}

/// What is in memory only, under another shape, or a part of it.
bool Emitter::renameInMemory(Operation *op) {
  auto extract = dyn_cast<tile::ExtractOp>(op);
  Value source = extract ? Value(extract.getSource()) : renamedBy(op);
  Value memory = source && !map.contains(source) ? localMemory.lookup(source) : Value();
  std::optional<int32_t> first = extract && memory ? firstPieceOf(extract) : 0;
  if (!memory || !first)
    return false;
  if (*first) {
    Type element = cast<RankedTensorType>(source.getType()).getElementType();
    memory = addressOfPiece(builder, loc, memory,
                            VectorType::get(1 << pieceBits, storedType(element)), *first);
  }
  localMemory[op->getResult(0)] = memory;
  return true;
}

static bool isSplat(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_if_present<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    return elements && elements.isSplat();
  }
  return isa_and_present<tile::SplatOp>(op);
}

/// Whether each element of the results depends on the same element of the operands,
/// or on its place.
static bool isElementwise(Operation *op) {
  if (isa<tile::LoadOp, tile::StoreOp, tile::GatherOp, tile::ScatterOp, tile::AtomicOp,
          tile::IotaOp, tile::DivideOp, tile::RemainderOp, tile::ShiftOp, tile::CastOp>(op))
    return true;
  return OpTrait::hasElementwiseMappableTraits(op) && !isa<arith::ConstantOp>(op) &&
         isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
}

/// Whether tiles come from arrays, are worked on element by element or scanned, and go to
/// arrays again.
bool Emitter::isStream(tile::KernelOp kernel) {
  auto hasTile = [](TypeRange types) {
    return llvm::any_of(types, llvm::IsaPred<RankedTensorType>);
  };
  return !containsWhere(kernel, [&](Operation *op) {
    return (hasTile(op->getOperandTypes()) || hasTile(op->getResultTypes())) &&
           !isElementwise(op) &&
           !isa<arith::ConstantOp, tile::SplatOp, tile::ScanOp, tgpu::ScanOp>(op);
  });
}

bool Emitter::isWide(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tile::hasLayout(tensor))
    return false;
  Layout layout = tile::getLayout(tensor);
  constexpr unsigned fewWarps = 3; // log2; threads of more have fewer registers
  unsigned warps = std::max(layout.numBits(Input::Warp), fewWarps);
  bool isShort = kernelIsStream || tile::KernelOp(kernel).getArraysOverlap();
  unsigned most = isShort ? mostRegisterBits + fewWarps - warps : mostRegisterBits;
  return layout.numBits(Input::Register) > most;
}

bool Emitter::isForPieces(Operation *op) const {
  auto hasWide = [&](TypeRange types) {
    return llvm::any_of(types, [&](Type type) { return isWide(type); });
  };
  return typeInPieces(op) ||
         (isElementwise(op) && (hasWide(op->getOperandTypes()) || hasWide(op->getResultTypes())));
}

Layout Emitter::layoutOf(RankedTensorType type) const {
  Layout layout = tile::getLayout(type);
  if (!piece)
    return layout;
  Layout result(layout.shape());
  ArrayRef<uint64_t> registers = layout.bases(Input::Register);
  for (uint64_t basis : registers.take_front(registerBitsOfPiece))
    result.addFlat(Input::Register, basis);
  for (Input input : {Input::Lane, Input::Warp, Input::Block})
    for (uint64_t basis : layout.bases(input))
      result.addFlat(input, basis);
  for (uint64_t basis : registers.drop_front(registerBitsOfPiece))
    result.addFlat(Input::Warp, basis);
  return result;
}

//===------------------------------------------------------------------------===//
// Local memory
//===------------------------------------------------------------------------===//

/// Room for all pieces of a value of type `tensor`, one behind the other.
Value Emitter::makeLocalMemory(RankedTensorType tensor) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto type = VectorType::get(1 << pieceBits, storedType(tensor.getElementType()));
  int64_t pieces = int64_t(tile::getLayout(tensor).size(Input::Register)) >> pieceBits;
  return LLVM::AllocaOp::create(builder, loc, pointer, type, i64(pieces), /*alignment=*/16);
}

Value Emitter::loadPiece(Value memory, Type element, LLVM::GEPArg number) {
  auto type = VectorType::get(1 << registerBitsOfPiece, storedType(element));
  unsigned bytes = (type.getElementTypeBitWidth() << registerBitsOfPiece) / 8;
  Value address = addressOfPiece(builder, loc, memory, type, number);
  Value stored = LLVM::LoadOp::create(builder, loc, type, address, std::min(bytes, 16u));
  return emitFromStored(builder, loc, stored, element);
}

void Emitter::storePiece(Value value, Value memory, Type element, LLVM::GEPArg number) {
  Value stored = emitToStored(builder, loc, value, element);
  auto type = cast<VectorType>(stored.getType());
  LLVM::StoreOp::create(builder, loc, stored, addressOfPiece(builder, loc, memory, type, number),
                        /*alignment=*/16);
}

/// All of a value that is in memory.
Value Emitter::loadWhole(Value memory, RankedTensorType type) {
  SmallVector<Value> elements;
  int32_t pieces = int32_t(tile::getLayout(type).size(Input::Register) >> pieceBits);
  for (int32_t number = 0; number < pieces; ++number) {
    Value part = loadPiece(memory, type.getElementType(), number);
    llvm::append_range(elements, vector::ToElementsOp::create(builder, loc, part).getResults());
  }
  return fromElements(elements);
}

/// Puts an operand that is held whole into memory, for the loop of `user`. Where the
/// two are in one block, the memory serves all later users too.
void Emitter::bringToMemory(Value original, Operation *user, SmallVectorImpl<Value> &temporary) {
  if (isSplat(original) || localMemory.count(original))
    return;
  auto type = cast<RankedTensorType>(original.getType());
  Value whole = map.lookup(original), memory = makeLocalMemory(type);
  int64_t count = cast<VectorType>(whole.getType()).getNumElements();
  for (int64_t first = 0; first < count; first += 1 << pieceBits) {
    auto indices = llvm::to_vector(llvm::seq<int64_t>(first, first + (1 << pieceBits)));
    storePiece(emitShuffle(builder, loc, whole, indices), memory, type.getElementType(),
               int32_t(first >> pieceBits));
  }
  localMemory[original] = memory;
  if (original.getParentBlock() != user->getBlock())
    temporary.push_back(original);
}

/// The part of a value that the loop is at.
Value Emitter::getPiece(Value original) {
  auto type = cast<RankedTensorType>(original.getType());
  if (auto splatOp = original.getDefiningOp<tile::SplatOp>())
    return splat(map.lookup(splatOp.getValue()), 1 << registerBitsOfPiece);
  if (auto constantOp = original.getDefiningOp<arith::ConstantOp>(); constantOp && isSplat(original))
    return splatConstant(cast<DenseElementsAttr>(constantOp.getValue()), lowerType(type));
  return loadPiece(localMemory.lookup(original), type.getElementType(), piece);
}

//===------------------------------------------------------------------------===//
// Loops
//===------------------------------------------------------------------------===//

/// From here on, and in `body`, tiles are the piece of this number (index).
template <typename Body>
auto Emitter::atPiece(Value number, unsigned threadBits, Body body) {
  Value outerThread = thread;
  llvm::scope_exit restore([&] {
    thread = outerThread;
    piece = Value();
  });
  piece = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), number);
  Value high = arith::ShLIOp::create(builder, loc, piece, i32(threadBits));
  thread = arith::OrIOp::create(builder, loc, thread, high);
  return body();
}

bool Emitter::needsPieces(ValueRange operands) {
  int64_t registers = 0;
  for (Value operand : operands) {
    auto type = cast<RankedTensorType>(operand.getType());
    unsigned bits = storedType(type.getElementType()).getIntOrFloatBitWidth();
    registers += int64_t(tile::getLayout(type).size(Input::Register)) * (bits > 32 ? 2 : 1);
  }
  return registers > mostOrdered;
}

void Emitter::bringAllToMemory(Operation *op, SmallVectorImpl<Value> &temporary) {
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.getType()); type && tile::hasLayout(type))
      bringToMemory(operand, op, temporary);
  for (Value result : op->getResults())
    localMemory[result] = makeLocalMemory(cast<RankedTensorType>(result.getType()));
}

SmallVector<Value> Emitter::getPieces(ValueRange originals, Value number) {
  llvm::scope_exit restore([&] { piece = Value(); });
  piece = number;
  return llvm::map_to_vector(originals, [&](Value original) { return get(original); });
}

void Emitter::setPieces(ValueRange originals, ValueRange values, Value number) {
  for (auto [original, value] : llvm::zip_equal(originals, values))
    storePiece(value, localMemory.lookup(original),
               cast<RankedTensorType>(original.getType()).getElementType(), number);
}

static unsigned threadBitsOf(RankedTensorType type) {
  Layout layout = tile::getLayout(type);
  return layout.numBits(Input::Lane) + layout.numBits(Input::Warp);
}

static int64_t numPieces(RankedTensorType type) {
  return int64_t(tile::getLayout(type).size(Input::Register)) >> pieceBits;
}

void Emitter::forPieces(RankedTensorType type, bool isRolled, function_ref<void()> emit) {
  unsigned all = tile::getLayout(type).numBits(Input::Register);
  OpBuilder::InsertionGuard guard(builder);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = arith::ConstantIndexOp::create(builder, loc, 1 << (all - registerBitsOfPiece));
  auto loop = scf::ForOp::create(builder, loc, zero, count, one);
  if (isRolled)
    keepRolled(loop);
  builder.setInsertionPointToStart(loop.getBody());
  atPiece(loop.getInductionVar(), threadBitsOf(type), emit);
}

LogicalResult Emitter::emitInPieces(Operation *op) {
  SmallVector<Value> temporary;
  RankedTensorType type = typeInPieces(op);
  bool isRolled = bool(type);
  // What is held in registers and stored element by element: each is a branch, so few at once,
  // beside products of warp groups. Where single warps multiply, the places that go up in the
  // loop would be spilled (sm_89), and rows are as fast as their stores.
  auto store = dyn_cast<tile::StoreOp>(op);
  bool isSpread = isRolled && store && !localMemory.count(store.getValue()) && chip &&
                  chip->has(ChipFeature::WarpGroupMma) &&
                  contains<tgpu::MmaOp>(kernel);
  for (Value operand : op->getOperands())
    if (isWide(operand.getType()) || (type && operand.getType() == type))
      bringToMemory(operand, op, temporary);
  for (Value result : op->getResults())
    localMemory[result] = makeLocalMemory(cast<RankedTensorType>(result.getType()));
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type candidate : types)
      if (isWide(candidate))
        type = cast<RankedTensorType>(candidate);

  if (isSpread)
    registerBitsOfPiece = singleRegisterBits;
  llvm::scope_exit restore([&] { registerBitsOfPiece = pieceBits; });
  LogicalResult result = success();
  forPieces(type, isRolled, [&] { result = emitWhole(op); });
  for (Value value : temporary)
    localMemory.erase(value);
  return result;
}

/// Loads where the tile is stored to shared memory, a few runs at once; at the array's very
/// beginning and end by elements.
LogicalResult Emitter::emitRunCopy(tgpu::StoreOp op, tile::LoadOp load) {
  auto type = cast<RankedTensorType>(op.getTile().getType());
  Value hasRoom = emitHasRoom(load);
  auto copy = [&](unsigned bits, bool inRuns) {
    registerBitsOfPiece = std::min(bits, tile::getLayout(type).numBits(Input::Register));
    llvm::scope_exit restore([&] { registerBitsOfPiece = pieceBits; });
    forPieces(type, /*isRolled=*/true,
              [&] { emitSharedElements(op, layoutOf(type), emitLoaded(load, inRuns)); });
  };
  emitUnder(
      hasRoom, [&] { copy(runRegisterBits, true); }, [&] { copy(singleRegisterBits, false); });
  return success();
}

std::optional<SmallVector<Value>> Emitter::combinePieces(Operation *op, Region &combiner,
                                                         ArrayRef<unsigned> axisRegisters) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  unsigned numBits = tile::getLayout(type).numBits(Input::Register);
  for (unsigned bit = pieceBits; bit < numBits; ++bit)
    if (!llvm::is_contained(axisRegisters, bit))
      return std::nullopt;
  if (!isWide(type))
    return std::nullopt;
  SmallVector<Value> temporary;
  for (Value operand : op->getOperands())
    if (isWide(operand.getType()))
      bringToMemory(operand, op, temporary);
  auto all = [&] {
    SmallVector<Value> pieces;
    for (Value operand : op->getOperands())
      pieces.push_back(get(operand));
    return pieces;
  };
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = arith::ConstantIndexOp::create(builder, loc, numPieces(type));
  SmallVector<Value> first = atPiece(zero, threadBitsOf(type), all);
  OpBuilder::InsertionGuard guard(builder);
  auto loop = scf::ForOp::create(builder, loc, one, count, one, first);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = atPiece(loop.getInductionVar(), threadBitsOf(type), all);
  FailureOr<SmallVector<Value>> combined = emitCombine(combiner, loop.getRegionIterArgs(), next);
  for (Value value : temporary)
    localMemory.erase(value);
  if (failed(combined))
    return std::nullopt;
  scf::YieldOp::create(builder, loc, *combined);
  return llvm::to_vector(ValueRange(loop.getResults()));
}
