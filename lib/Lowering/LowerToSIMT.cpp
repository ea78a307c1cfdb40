//===- LowerToSIMT.cpp - from stage staged to stage simt -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: kernels over tiles with layouts. Out: functions over vectors, the code of one
// thread. Here: the pass, which operation goes to which file, and control flow,
// whose carried tiles become carried vectors:
//
//   %r = scf.for … iter_args(%t = %z) -> tensor<64xf32, #l> { … scf.yield %u }
//     →
//   %r = scf.for … iter_args(%t = %z) -> vector<2xf32> { … scf.yield %u }
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Lowering/Passes.h"
#include "tilec/Tile/Contains.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilec {
#define GEN_PASS_DEF_LOWERTOSIMT
#include "tilec/Lowering/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

//===------------------------------------------------------------------------===//
// Dispatch
//===------------------------------------------------------------------------===//

LogicalResult Emitter::emitBlock(Block &source) {
  for (Operation &op : source) {
    loc = op.getLoc();
    if (failed(emitOperation(&op)))
      return failure();
  }
  return success();
}

LogicalResult Emitter::emitOperation(Operation *op) {
  if (renameInMemory(op))
    return success();
  if (auto store = dyn_cast<tgpu::StoreOp>(op))
    if (tile::LoadOp load = runCopyOf(store.getTile()))
      return emitRunCopy(store, load);
  if (op->getNumResults() == 1 && runCopyOf(op->getResult(0)))
    return success(); // loaded where it is stored
  return isForPieces(op) ? emitInPieces(op) : emitWhole(op);
}

LogicalResult Emitter::emitWhole(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::BlockIdOp op) {
        set(op, emitBlockId(op.getDim()));
        return success();
      })
      .Case([&](tile::NumBlocksOp op) {
        set(op, emitNumBlocks(op.getDim()));
        return success();
      })
      .Case([&](tile::NumSMsOp op) {
        set(op, arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), numSMs));
        return success();
      })
      .Case([&](tile::DimOp op) {
        set(op, arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                           array(op.getArray()).dims[op.getDim()]));
        return success();
      })
      .Case([&](tile::AssumeOp op) { return emitAssume(op); })
      .Case([&](tile::PrintOp op) { return emitPrint(op); })
      .Case([&](tile::AssertOp op) { return emitAssert(op); })
      .Case([&](tile::ReturnOp) { return success(); })
      .Case([&](tile::LoadOp op) { return emitLoad(op); })
      .Case([&](tile::StoreOp op) { return emitStore(op); })
      .Case([&](tile::GatherOp op) { return emitGather(op); })
      .Case([&](tile::ScatterOp op) { return emitScatter(op); })
      .Case([&](tile::AtomicOp op) { return emitAtomic(op); })
      .Case([&](tile::SplatOp op) { return emitSplat(op); })
      .Case([&](tile::IotaOp op) { return emitIota(op); })
      .Case([&](tile::BroadcastOp op) { return emitBroadcast(op); })
      .Case([&](tile::ReshapeOp op) { return emitReshape(op); })
      .Case([&](tile::PermuteOp op) { return emitPermute(op); })
      .Case([&](tile::ExtractOp op) { return emitExtract(op); })
      .Case([&](tile::CatOp op) { return emitCat(op); })
      .Case([&](tile::InsertOp op) { return emitInsert(op); })
      .Case([&](tile::FlipOp op) { return emitFlip(op, op.getAxis(), {}); })
      .Case([&](tgpu::FlipOp op) { return emitFlip(op, op.getAxis(), op.getScratch()); })
      .Case([&](tgpu::StoreSliceOp op) { return emitStoreSlice(op); })
      .Case([&](tgpu::TakeOp op) { return emitTake(op); })
      .Case([&](tgpu::CountOp op) { return emitCount(op); })
      .Case([&](tile::ScanOp op) {
        return emitScan(op, op.getCombiner(), op.getSources(), op.getInits(), op.getAxis(),
                        op.getReverse(), {});
      })
      .Case([&](tgpu::ScanOp op) {
        return emitScan(op, op.getCombiner(), op.getSources(), op.getInits(), op.getAxis(),
                        op.getReverse(), op.getScratch());
      })
      .Case([&](tile::SortOp op) {
        return emitSort(op, op.getSources(), op.getAxis(), op.getDescending(), {});
      })
      .Case([&](tgpu::SortOp op) {
        return emitSort(op, op.getSources(), op.getAxis(), op.getDescending(), op.getScratch());
      })
      .Case([&](tile::ConvertLayoutOp op) { return emitConvertLayout(op); })
      .Case([&](tile::ReduceOp op) {
        return emitReduce(op, op.getCombiner(), op.getAxes());
      })
      .Case([&](tgpu::WarpReduceOp op) {
        return emitReduce(op, op.getCombiner(), op.getAxes());
      })
      .Case([&](tile::DivideOp op) { return emitDivide(op); })
      .Case([&](tile::RemainderOp op) { return emitRemainder(op); })
      .Case([&](tile::ShiftOp op) { return emitShift(op); })
      .Case([&](tile::CastOp op) { return emitCast(op); })
      .Case([&](tgpu::AllocOp op) { return emitAlloc(op); })
      .Case([&](tgpu::StoreOp op) { return emitSharedTileStore(op); })
      .Case([&](tgpu::LoadOp op) { return emitSharedTileLoad(op); })
      .Case([&](tgpu::MmaOp op) { return emitMma(op); })
      .Case([&](tgpu::AccumulatorOp op) { return emitAccumulator(op); })
      .Case([&](tgpu::AccumulateOp op) { return emitAccumulate(op); })
      .Case([&](tgpu::SetAccumulatorOp op) { return emitSetAccumulator(op); })
      .Case([&](tgpu::GetAccumulatorOp op) { return emitGetAccumulator(op); })
      .Case([&](tgpu::BarrierOp) { return emitBarrier(); })
      .Case([&](tgpu::MmaWaitOp op) { return emitMmaWait(op); })
      .Case([&](tgpu::FenceAsyncOp) { return emitFenceAsync(); })
      .Case([&](tgpu::TakeTurnOp) { return emitTakeTurn(); })
      .Case([&](tgpu::PassTurnOp) { return emitPassTurn(); })
      .Case<tgpu::AwaitGridsOp, tgpu::LaunchDependentsOp>(
          [&](Operation *op) { return emitGridControl(op); })
      .Case([&](tgpu::RingOp op) { return emitRing(op); })
      .Case([&](tgpu::PushOp op) { return emitPush(op); })
      .Case([&](tgpu::PopOp op) { return emitPop(op); })
      .Case([&](tgpu::ReleaseOp op) { return emitRelease(op); })
      .Case([&](tgpu::CopyOutOp op) { return emitCopyOut(op); })
      .Case([&](tgpu::CopyOutWaitOp op) { return emitCopyOutWait(op); })
      .Case([&](tgpu::SpecializeOp op) { return emitSpecialize(op); })
      .Case([&](tgpu::ResidentBlockOp op) {
        set(op, emitResidentBlock());
        return success();
      })
      .Case([&](tgpu::NumResidentBlocksOp op) {
        set(op, emitNumResidentBlocks());
        return success();
      })
      .Case([&](tgpu::ClusterRankOp op) {
        set(op, arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                             clusterRank()));
        return success();
      })
      .Case([&](tgpu::ClusterSizeOp op) {
        set(op, arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                             clusterBlocks()));
        return success();
      })
      .Case([&](tgpu::ClusterSumOp op) { return emitClusterSum(op); })
      .Case([&](tgpu::PartOp op) {
        set(op, arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), part()));
        return success();
      })
      .Case([&](tgpu::NumPartsOp op) {
        set(op, arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), numParts()));
        return success();
      })
      .Case([&](tgpu::MemorySumOp op) { return emitMemorySum(op); })
      .Case([&](arith::ConstantOp op) { return emitConstant(op); })
      .Case([&](ub::PoisonOp op) {
        set(op, LLVM::PoisonOp::create(builder, loc, lowerType(op.getType())));
        return success();
      })
      .Case<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp,
            scf::ExecuteRegionOp>([&](Operation *op) {
        LogicalResult result = emitStructured(op);
        emitWaitAfterLoop(op);
        return result;
      })
      .Case<scf::YieldOp, scf::ConditionOp>(
          [&](Operation *op) { return emitTerminator(op); })
      .Default([&](Operation *op) -> LogicalResult {
        if (OpTrait::hasElementwiseMappableTraits(op) ||
            isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
          return emitElementwise(op);
        return op->emitError("stage simt has no code for ") << op->getName();
      });
}

LogicalResult Emitter::emitAssume(tile::AssumeOp op) {
  LLVM::AssumeOp::create(builder, loc, get(op.getCondition()));
  return success();
}

//===------------------------------------------------------------------------===//
// Control flow
//===------------------------------------------------------------------------===//

/// Makes the same operation over the thread's types, then fills its regions.
LogicalResult Emitter::emitStructured(Operation *op) {
  if (std::optional<LogicalResult> result = emitConditionalPush(op))
    return *result;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  SmallVector<Type> results;
  for (Type type : op->getResultTypes())
    results.push_back(lowerType(type));

  OperationState state(loc, op->getName(), operands, results, op->getAttrs());
  for (unsigned i = 0, e = op->getNumRegions(); i < e; ++i)
    state.addRegion();
  Operation *copy = builder.create(state);
  for (auto [result, lowered] : llvm::zip(op->getResults(), copy->getResults()))
    set(result, lowered);

  OpBuilder::InsertionGuard guard(builder);
  Location outer = loc;
  for (auto [source, target] : llvm::zip(op->getRegions(), copy->getRegions())) {
    for (Block &block : source) {
      SmallVector<Type> types;
      SmallVector<Location> locs;
      for (BlockArgument argument : block.getArguments()) {
        types.push_back(lowerType(argument.getType()));
        locs.push_back(argument.getLoc());
      }
      Block *newBlock = builder.createBlock(&target, target.end(), types, locs);
      for (auto [argument, lowered] :
           llvm::zip(block.getArguments(), newBlock->getArguments()))
        set(argument, lowered);
      if (failed(emitBlock(block)))
        return failure();
    }
  }
  loc = outer;
  return success();
}

LogicalResult Emitter::emitTerminator(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  builder.create(OperationState(loc, op->getName(), operands, TypeRange{}, op->getAttrs()));
  return success();
}

//===------------------------------------------------------------------------===//
// The pass
//===------------------------------------------------------------------------===//

namespace {

struct LowerToSIMT : tilec::impl::LowerToSIMTBase<LowerToSIMT> {
  using LowerToSIMTBase::LowerToSIMTBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<tile::KernelOp> kernels(module.getOps<tile::KernelOp>());
    for (tile::KernelOp kernel : kernels) {
      hasSwizzles |= readsByHardware(kernel);
      if (failed(verifyLayouts(kernel)) ||
          failed(Emitter(kernel, findChip(chip.getValue())).emitKernel()))
        return signalPassFailure();
      kernel.erase();
    }
    addGlobals(module);
  }

  /// Every tile has a layout: without, no thread knows its elements.
  static LogicalResult verifyLayouts(tile::KernelOp kernel) {
    WalkResult result = kernel.walk([](Operation *op) {
      for (Type type : op->getResultTypes())
        if (isa<RankedTensorType>(type) && !tile::hasLayout(type)) {
          op->emitOpError("makes a tile without a layout, which --tile-assign-layouts gives it");
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// Whether copy engines or products find their way in shared memory by the bits of
  /// addresses.
  static bool readsByHardware(tile::KernelOp kernel) {
    return contains<tgpu::RingOp, tgpu::CopyOutOp, tgpu::MmaWaitOp>(kernel);
  }

  /// The globals that the functions name, where they do.
  void addGlobals(ModuleOp module) {
    llvm::SetVector<StringRef> paddings;
    bool needsShared = false;
    module.walk([&](LLVM::AddressOfOp op) {
      StringRef name = op.getGlobalName();
      if (name == zeroGlobalName || name.starts_with(padGlobalPrefix))
        paddings.insert(name);
      needsShared |= name == sharedGlobalName;
    });
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    Type i8 = builder.getI8Type();
    // What is in stage simt already brought its own.
    needsShared &= !module.lookupSymbol(sharedGlobalName);
    for (StringRef global : paddings) {
      if (module.lookupSymbol(global))
        continue;
      StringRef number = global;
      uint64_t word = 0;
      if (number.consume_front(padGlobalPrefix))
        number.getAsInteger(16, word);
      auto type = VectorType::get(2, builder.getI64Type());
      Attribute value = DenseElementsAttr::get(type, APInt(64, word));
      LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, global, value, /*alignment=*/16,
                             /*addrSpace=*/1);
    }
    if (needsShared)
      LLVM::GlobalOp::create(builder, module.getLoc(), LLVM::LLVMArrayType::get(i8, 0),
                             /*isConstant=*/false, LLVM::Linkage::External,
                             sharedGlobalName, Attribute(),
                             /*alignment=*/hasSwizzles ? 1024 : 16,
                             /*addrSpace=*/3);
  }

  bool hasSwizzles = false;
};

} // namespace
