//===- Kernel.cpp - parameters and position of a kernel --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// tile.kernel @k(%a: !tile.array<?x8xf32, mut>, %n: index)
//   →
// llvm.func @k(%a: !llvm.ptr<1> {llvm.noalias}, %a_d0: i64, %a_d1: i64, %n: i64,
//              %gx: i32, %gy: i32, %gz: i32, tensor maps…) attributes {nvvm.kernel, nvvm.reqntid = …}
//
// and, where the kernel asks for the number of multiprocessors, that as a last i32; where its
// blocks add up in memory, a workspace before the tensor maps (KernelInfo.h).
//
// The grid is launched flattened on x, so that no axis is limited to 65 535 (y has the parts
// of a position where blocks add up in memory); the block's position is recovered by division. A kernel with one grid expression has
// extents (g, 1, 1), and its position is the block's number itself.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/Contains.h"
#include "tilec/Tile/DebugSites.h"
#include "tilec/Tile/Grid.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tilec;

/// The parameter type of a scalar: floats narrower than 32 bits as their bits.
static Type scalarParameterType(Type type) {
  MLIRContext *context = type.getContext();
  if (type.isIndex())
    return IntegerType::get(context, 64);
  if (type.isInteger(1))
    return IntegerType::get(context, 8);
  Type held = registerType(type);
  if (isa<FloatType>(held) && held.getIntOrFloatBitWidth() < 32)
    return IntegerType::get(context, held.getIntOrFloatBitWidth());
  return held;
}

static bool usesNumSMs(tile::KernelOp kernel) {
  return kernel->hasAttr(tile::KernelOp::numSMsAttr) ||
         contains<tile::NumSMsOp>(kernel);
}

static SmallVector<Type> parameterTypes(tile::KernelOp kernel, bool hasWorkspace,
                                        unsigned numTensorMaps) {
  MLIRContext *context = kernel.getContext();
  Type i64 = IntegerType::get(context, 64);
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes()) {
    if (auto array = dyn_cast<tile::ArrayType>(type)) {
      types.push_back(LLVM::LLVMPointerType::get(context, 1));
      types.append(array.getRank() * (array.hasStrides() ? 2 : 1), i64);
    } else {
      types.push_back(scalarParameterType(type));
    }
  }
  types.append(usesNumSMs(kernel) ? 4 : 3, IntegerType::get(context, 32));
  if (tile::hasSites(kernel)) {
    types.push_back(LLVM::LLVMPointerType::get(context, 1));
    types.push_back(IntegerType::get(context, 32));
  }
  if (hasWorkspace)
    types.push_back(LLVM::LLVMPointerType::get(context, 1));
  types.append(numTensorMaps, LLVM::LLVMPointerType::get(context));
  return types;
}

static int32_t sharedBytes(tile::KernelOp kernel) {
  int64_t bytes = 0;
  kernel.walk([&](tgpu::AllocOp op) {
    bytes = std::max<int64_t>(bytes, int64_t(op.getOffset().value_or(0)) +
                                         op.getBuffer().getType().getBytes());
  });
  kernel.walk([&](tgpu::RingOp op) {
    tgpu::RingType type = op.getRing().getType();
    int64_t barriers = type.getStages() * 16;
    bytes = std::max({bytes, int64_t(op.getOffset().value_or(0)) + type.getBytes(),
                      int64_t(op.getBarriers().value_or(0)) + barriers});
  });
  if (auto place = kernel->getAttrOfType<DenseI64ArrayAttr>(tgpu::tensorMemoryAttrName))
    bytes = std::max(bytes, place[0] + 16);
  return int32_t(bytes);
}

/// Whether two blocks should be resident on a multiprocessor, so that one loads while
/// the other computes: where the assembler would take a few registers more than the 64 or
/// 128 a thread that allow it, with 16 warps or with 8 that hold large tiles. With 8 and
/// smaller tiles it finds three blocks by itself, and a bound of two costs the third.
/// Products want registers, and so do tiles of more than half of them, and kernels whose
/// largest tiles are not what they load or store: those compute more than they wait. (Of
/// integers, which count elements, few registers are left in the end.)
static bool wantsTwoBlocks(tile::KernelOp kernel, int32_t numWarps) {
  if ((numWarps != 16 && numWarps != 8) || contains<tgpu::MmaOp, tgpu::AccumulateOp>(kernel))
    return false;
  uint64_t largest = 0, most = 0, accessed = 0;
  auto elementsOf = [](Type type) {
    return tile::hasLayout(type) ? tile::getLayout(type).size(Input::Register) : 0;
  };
  kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      uint64_t elements = elementsOf(type);
      most = std::max(most, elements);
      Type element = getElementTypeOrSelf(type);
      if (elements && isa<FloatType>(element))
        largest =
            std::max<uint64_t>(largest, elements * tgpu::BufferType::storedBytes(element));
      if (isa<tile::LoadOp, tile::GatherOp>(op))
        accessed = std::max(accessed, elements);
    }
    if (auto store = dyn_cast<tile::StoreOp>(op))
      accessed = std::max(accessed, elementsOf(store.getValue().getType()));
  });
  uint64_t half = numWarps == 16 ? 32 * 4 : 64 * 4;
  return most <= accessed && largest <= half && (numWarps == 16 || largest == half);
}

Emitter::Emitter(tile::KernelOp kernel, const Chip *chip)
    : kernel(kernel), chip(chip), facts(kernel), builder(kernel), loc(kernel.getLoc()),
      kernelIsStream(isStream(kernel)), isAligned16(tile::relies(kernel, BuildFact::Aligned16)),
      hasWholePieces(tile::relies(kernel, BuildFact::WholePieces)),
      isIndex32(tile::relies(kernel, BuildFact::Index32)) {
  if (auto size = kernel->getAttrOfType<IntegerAttr>(tgpu::clusterAttrName))
    clusterSize = size.getInt();
  if (auto axis = kernel->getAttrOfType<IntegerAttr>(tgpu::clusterAxisAttrName))
    clusterAxis = axis.getInt();
  if (auto parts = kernel->getAttrOfType<IntegerAttr>(tgpu::splitKAttrName))
    splitK = parts.getInt();
  sumBytes = bytesOfSums(kernel);
  if (auto positions = kernel->getAttrOfType<IntegerAttr>(tgpu::positionsAttrName))
    numPositions = positions.getInt();
}

LogicalResult Emitter::emitKernel() {
  if (failed(planEngineCopies()))
    return mlir::failure();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()),
      parameterTypes(kernel, sumBytes > 0, unsigned(tensorMaps.size())));
  function = LLVM::LLVMFuncOp::create(builder, loc, kernel.getName(), type);
  int32_t numWarps = int32_t(kernel.getNumWarps().value_or(4));
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  addRoleAttributes(numWarps);
  function->setAttr(numWarpsAttr, builder.getI32IntegerAttr(numWarps));
  int32_t shared = sharedBytes(kernel);
  if (tile::hasSites(kernel)) {
    debugSlotOffset = int64_t(llvm::alignTo(uint64_t(shared), 16));
    shared = int32_t(debugSlotOffset + tile::siteSharedBytes);
  }
  function->setAttr(sharedBytesAttr, builder.getI32IntegerAttr(shared));
  for (NamedAttribute attr : kernel->getDiscardableAttrs())
    function->setAttr(attr.getName(), attr.getValue());

  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  thread = NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
  emitParameters(kernel.getBody().front());
  emitTensorMemory();
  emitMeetings();
  if (failed(emitBody()))
    return mlir::failure();
  if (!kernel->hasAttr(tgpu::accessWarpsAttrName))
    emitTensorMemoryEnd();
  if (contains<tgpu::CopyOutOp>(kernel))
    // Shared memory may go away then.
    emitCopyOutWait(/*pending=*/0, /*byGroup=*/true, /*isComplete=*/false);
  // No block leaves while others may still reach into its shared memory.
  if (clusterSize > 1)
    emitClusterBarrier(/*isAligned=*/false);
  // One block alone does what comes behind a sum in memory.
  builder.setInsertionPointToEnd(entry);
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
  return success();
}

/// Where a block takes several positions of the grid, each has `numWarps` warps of the
/// block, and the last block may have more than there are positions.
LogicalResult Emitter::emitBody() {
  Block &body = kernel.getBody().front();
  blockNumber = NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
  if (numPositions == 1)
    return emitBlock(body);
  int64_t threads = 32 * int64_t(kernel.getNumWarps().value_or(4));
  Value first = arith::MulIOp::create(builder, loc, blockNumber, i32(numPositions));
  Value own = arith::ShRUIOp::create(builder, loc, thread, i32(llvm::Log2_64(threads)));
  blockNumber = arith::AddIOp::create(builder, loc, first, own);
  thread = arith::AndIOp::create(builder, loc, thread, i32(threads - 1));
  Value total = gridExtents[0];
  unsigned numAxes = tile::numGridAxes(kernel);
  for (unsigned axis = 1; axis < numAxes; ++axis)
    total = arith::MulIOp::create(builder, loc, total, gridExtents[axis]);
  LogicalResult result = success();
  emitUnder(
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, blockNumber, total),
      [&] { result = emitBlock(body); });
  return result;
}

/// Threads, and what the launcher has to know of roles and tensor maps.
void Emitter::addRoleAttributes(int32_t numWarps) {
  int32_t accessWarps = 0;
  if (auto warps = kernel->getAttrOfType<IntegerAttr>(tgpu::accessWarpsAttrName)) {
    accessWarps = int32_t(warps.getInt());
    function->setAttr(accessWarpsAttr, builder.getI32IntegerAttr(accessWarps));
  }
  if (clusterSize > 1)
    function->setAttr(clusterAttr, builder.getI32IntegerAttr(int32_t(clusterSize)));
  if (clusterAxis)
    function->setAttr(clusterAxisAttr, builder.getI32IntegerAttr(int32_t(*clusterAxis)));
  if (splitK) {
    // 1: the launch decides.
    int32_t parts = *splitK ? int32_t(*splitK) : 1;
    function->setAttr(splitKAttr, builder.getI32IntegerAttr(parts));
    if (sumBytes)
      function->setAttr(sumBytesAttr, builder.getI32IntegerAttr(int32_t(sumBytes)));
    else if (*splitK)
      function->setAttr(clusterAttr, builder.getI32IntegerAttr(parts));
  }
  auto resident = kernel->getAttrOfType<IntegerAttr>(tgpu::residentBlocksAttrName);
  if (resident)
    function->setAttr(persistentAttr, resident);
  if (numPositions > 1)
    function->setAttr(positionsAttr, builder.getI32IntegerAttr(int32_t(numPositions)));
  int32_t threads = 32 * (numWarps + accessWarps) * int32_t(numPositions);
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    builder.getDenseI32ArrayAttr({threads, 1, 1}));
  int64_t atOnce = resident ? resident.getInt() : wantsTwoBlocks(kernel, numWarps) ? 2 : 0;
  if (atOnce)
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      builder.getI32IntegerAttr(int32_t(atOnce)));
  if (tensorMaps.empty())
    return;
  SmallVector<Attribute> maps;
  for (const TensorMap &map : tensorMaps)
    maps.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("param", builder.getI64IntegerAttr(map.param)),
         builder.getNamedAttr("box", builder.getDenseI64ArrayAttr(map.box)),
         builder.getNamedAttr("swizzle", builder.getI64IntegerAttr(map.swizzleBytes))}));
  function->setAttr(tensorMapsAttr, builder.getArrayAttr(maps));
}

/// Whether tiles that are loaded a position ahead (PrefetchLoads) are to be under way at once. The
/// assembler moves loads of what nobody writes down to what needs them, also across barriers.
/// Where a second block loads meanwhile, it does well to: its registers are free for longer.
static bool loadsAhead(tile::KernelOp kernel) {
  auto resident = kernel->getAttrOfType<IntegerAttr>(tgpu::residentBlocksAttrName);
  return resident && resident.getInt() == 1 &&
         !contains<tgpu::RingOp>(kernel);
}

void Emitter::emitParameters(Block &source) {
  bool mayAlias = kernel.getArraysOverlap() || loadsAhead(kernel);
  Block &entry = function.getBody().front();
  unsigned next = 0;
  llvm::DenseMap<StringAttr, Value> namedDims;
  auto take = [&] { return Value(entry.getArgument(next++)); };
  for (BlockArgument parameter : source.getArguments()) {
    auto type = dyn_cast<tile::ArrayType>(parameter.getType());
    if (!type) {
      Value value = take();
      Type held = registerType(parameter.getType());
      if (held.isIndex() || held.isInteger(1))
        value = emitFromStored(builder, loc, value, held);
      else if (held != value.getType())
        value = arith::BitcastOp::create(builder, loc, held, value);
      map.map(parameter, value);
      continue;
    }
    // What a thread reads from an array that is written may be another thread's doing
    // since the last barrier; LLVM believes that of no array with this attribute.
    if (!mayAlias && !type.isMut())
      function.setArgAttr(next, LLVM::LLVMDialect::getNoAliasAttrName(),
                          builder.getUnitAttr());
    if (!type.isMut())
      function.setArgAttr(next, LLVM::LLVMDialect::getReadonlyAttrName(),
                          builder.getUnitAttr());
    if (isAligned16)
      function.setArgAttr(next, LLVM::LLVMDialect::getAlignAttrName(),
                          builder.getI64IntegerAttr(16));
    ArrayView view;
    view.type = type;
    view.base = take();
    auto names = kernel.getArgAttrOfType<ArrayAttr>(parameter.getArgNumber(),
                                                    tile::KernelOp::dimsAttr);
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      Value value = take();
      if (!ShapedType::isDynamic(size))
        value = i64(size);
      else if (names && dim < names.size() && !cast<StringAttr>(names[dim]).empty())
        // Dims of one name are equal (the launcher checks): one value for all, so
        // that the edge tests of several arrays are one test.
        value = namedDims.try_emplace(cast<StringAttr>(names[dim]), value).first->second;
      view.dims.push_back(value);
    }
    view.strides.resize(type.getRank());
    if (type.hasStrides()) {
      for (Value &stride : view.strides)
        stride = take();
      if (!type.isStrided())
        view.strides.back() = i64(1);
    } else {
      int64_t constant = 1; // the stride while all dims inside are static
      for (unsigned dim = type.getRank(); dim-- > 0;) {
        if (constant > 0)
          view.strides[dim] = i64(constant);
        else
          view.strides[dim] = arith::MulIOp::create(
              builder, loc, view.strides[dim + 1], view.dims[dim + 1]);
        constant = type.isDynamicDim(dim) ? 0 : constant * type.getShape()[dim];
      }
    }
    arrays.try_emplace(parameter, std::move(view));
  }
  for (Value &extent : gridExtents)
    extent = take();
  if (usesNumSMs(kernel))
    numSMs = take();
  if (tile::hasSites(kernel)) {
    debugRing = take();
    debugFirstSite = take();
  }
  if (sumBytes) {
    function.setArgAttr(next, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    workspace = take();
  }
  for (size_t map = 0; map < tensorMaps.size(); ++map) {
    auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
    function.setArgAttr(next, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
    function.setArgAttr(next, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(64));
    function.setArgAttr(next, NVVM::NVVMDialect::getGridConstantAttrName(),
                        builder.getUnitAttr());
    tensorMapParameters.push_back(take());
  }
}

Value Emitter::emitNumBlocks(unsigned axis) {
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      gridExtents[axis]);
}

Value Emitter::emitBlockId(unsigned axis) {
  unsigned numAxes = tile::numGridAxes(kernel);
  if (axis >= numAxes)
    return arith::ConstantIndexOp::create(builder, loc, 0);
  // Blocks that add up in memory have positions along x, and parts along y.
  Value number = splitK && !sumBytes
                     ? NVVM::ClusterIdXOp::create(builder, loc, builder.getI32Type()).getResult()
                     : blockNumber;
  for (unsigned before = 0; before < axis; ++before)
    number = arith::DivUIOp::create(builder, loc, number, gridExtents[before]);
  if (axis + 1 < numAxes)
    number = arith::RemUIOp::create(builder, loc, number, gridExtents[axis]);
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), number);
}
