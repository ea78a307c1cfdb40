//===- InstrumentAccesses.cpp - calls of the access check, and loop fuel -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  a function that already has its context argument.
// Out: before each load, store, atomic, and memory intrinsic
//
//   %p2 = call ptr @tilec.emulator.check(ptr %thread, ptr %p, i32 site)
//
//   and the access goes to %p2 (the check redirects it when it is out of bounds).
//   At each loop's back edge
//
//   if (--thread->fuel < 0) tilec.emulator.refuel(thread, site)
//
//===--------------------------------------------------------------------------===//
#include "RewriteForHost.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::emulator;

uint32_t SiteTable::add(const Instruction &instruction) {
  Site site;
  if (const DILocation *location = instruction.getDebugLoc()) {
    site.file = location->getFilename().str();
    site.line = location->getLine();
    site.column = location->getColumn();
  }
  sites.push_back(std::move(site));
  return uint32_t(sites.size() - 1);
}

namespace {

struct Access {
  Instruction *instruction;
  unsigned pointerOperand;
  uint64_t size; ///< 0: not constant
  Value *dynamicSize = nullptr;
  uint64_t alignment;
  bool isWrite, isAtomic;
};

/// Appends the accesses of one instruction; memory intrinsics may have two.
void collect(Instruction &instruction, const DataLayout &layout,
             SmallVectorImpl<Access> &out) {
  auto size = [&](Type *type) { return layout.getTypeStoreSize(type).getFixedValue(); };
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    out.push_back({load, load->getPointerOperandIndex(), size(load->getType()), nullptr,
                   load->getAlign().value(), false,
                   load->isAtomic() || load->isVolatile()});
  } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    out.push_back({store, store->getPointerOperandIndex(),
                   size(store->getValueOperand()->getType()), nullptr,
                   store->getAlign().value(), true,
                   store->isAtomic() || store->isVolatile()});
  } else if (auto *rmw = dyn_cast<AtomicRMWInst>(&instruction)) {
    out.push_back({rmw, rmw->getPointerOperandIndex(), size(rmw->getType()), nullptr,
                   rmw->getAlign().value(), true, true});
  } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    out.push_back({exchange, exchange->getPointerOperandIndex(),
                   size(exchange->getNewValOperand()->getType()), nullptr,
                   exchange->getAlign().value(), true, true});
  } else if (auto *memory = dyn_cast<MemIntrinsic>(&instruction)) {
    out.push_back({memory, 0, 0, memory->getLength(), 1, true, false});
    if (isa<MemTransferInst>(memory))
      out.push_back({memory, 1, 0, memory->getLength(), 1, false, false});
  }
}

class AccessInstrumenter {
public:
  AccessInstrumenter(Function &function, SiteTable &sites, HostKernel &kernel,
                     ArrayRef<Value *> privatePointers)
      : function(function), sites(sites), kernel(kernel),
        privatePointers(privatePointers.begin(), privatePointers.end()),
        pointer(PointerType::get(function.getContext(), 0)),
        int32(Type::getInt32Ty(function.getContext())),
        int64(Type::getInt64Ty(function.getContext())) {}

  void run() {
    SmallVector<Access> accesses;
    const DataLayout &layout = function.getParent()->getDataLayout();
    for (Instruction &instruction : instructions(function))
      collect(instruction, layout, accesses);
    for (const Access &access : accesses)
      instrument(access);
  }

private:
  bool isPrivate(const Value *address) const {
    const Value *object = getUnderlyingObject(address, 0);
    return isa<AllocaInst>(object) || object == function.getArg(0) ||
           privatePointers.contains(object);
  }

  /// How an atomic access orders the accesses around it.
  static void noteOrder(const Instruction &instruction, Site &site) {
    AtomicOrdering order = AtomicOrdering::Monotonic;
    if (auto *load = dyn_cast<LoadInst>(&instruction))
      order = load->getOrdering();
    else if (auto *store = dyn_cast<StoreInst>(&instruction))
      order = store->getOrdering();
    else if (auto *rmw = dyn_cast<AtomicRMWInst>(&instruction))
      order = rmw->getOrdering();
    else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
      order = exchange->getSuccessOrdering();
    site.isRelease = isReleaseOrStronger(order);
    site.isAcquire = isAcquireOrStronger(order);
    SmallVector<StringRef> scopes;
    instruction.getContext().getSyncScopeNames(scopes);
    if (std::optional<SyncScope::ID> scope = getAtomicSyncScopeID(&instruction))
      site.isBlockScope = *scope < scopes.size() && scopes[*scope] == "block";
  }

  void lowerGranule(unsigned addressSpace, uint64_t size, uint64_t alignment) {
    uint64_t granule = std::max<uint64_t>(1, std::min(size & -size, alignment));
    unsigned log2 = std::min(4u, unsigned(llvm::countr_zero(granule)));
    if (addressSpace != 1 && addressSpace != 4)
      kernel.sharedGranuleLog2 = std::min(kernel.sharedGranuleLog2, log2);
    if (addressSpace != 3)
      kernel.globalGranuleLog2 = std::min(kernel.globalGranuleLog2, log2);
  }

  void instrument(const Access &access) {
    Use &use = access.instruction->getOperandUse(access.pointerOperand);
    unsigned space = use->getType()->getPointerAddressSpace();
    if (space == 5 || isPrivate(use.get()))
      return;
    uint32_t site = sites.add(*access.instruction);
    sites[site].size = uint32_t(access.size);
    sites[site].alignment = uint32_t(access.alignment);
    sites[site].isWrite = access.isWrite;
    sites[site].isAtomic = access.isAtomic;
    noteOrder(*access.instruction, sites[site]);
    lowerGranule(space, access.dynamicSize ? 1 : access.size, access.alignment);

    Module &module = *function.getParent();
    IRBuilder<> builder(access.instruction);
    builder.SetCurrentDebugLocation(DebugLoc());
    Value *thread = function.getArg(0);
    Value *address = use.get();
    if (space != 0)
      address = builder.CreateAddrSpaceCast(address, pointer);
    if (access.dynamicSize) {
      FunctionCallee check = module.getOrInsertFunction(
          symbol::checkRange,
          FunctionType::get(int64, {pointer, pointer, int64, int32}, false));
      Value *length = builder.CreateZExtOrTrunc(access.dynamicSize, int64);
      Value *allowed = builder.CreateCall(
          check, {thread, address, length, builder.getInt32(site)});
      auto *memory = cast<MemIntrinsic>(access.instruction);
      // A refused side makes the whole copy empty.
      Value *current = memory->getLength();
      Value *permitted = builder.CreateZExtOrTrunc(allowed, current->getType());
      memory->setLength(builder.CreateSelect(
          builder.CreateICmpULT(permitted, current), permitted, current));
      return;
    }
    FunctionCallee check = module.getOrInsertFunction(
        symbol::check, FunctionType::get(pointer, {pointer, pointer, int32}, false));
    Value *safe =
        builder.CreateCall(check, {thread, address, builder.getInt32(site)});
    if (space != 0)
      safe = builder.CreateAddrSpaceCast(
          safe, PointerType::get(function.getContext(), space));
    use.set(safe);
  }

  Function &function;
  SiteTable &sites;
  HostKernel &kernel;
  SmallPtrSet<const Value *, 8> privatePointers;
  PointerType *pointer;
  IntegerType *int32, *int64;
};

} // namespace

void tilec::emulator::instrumentAccesses(Function &function, SiteTable &sites,
                                         HostKernel &kernel,
                                         ArrayRef<Value *> privatePointers) {
  AccessInstrumenter(function, sites, kernel, privatePointers).run();
}

void tilec::emulator::instrumentLoops(Function &function, SiteTable &sites) {
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> edges;
  FindFunctionBackedges(function, edges);
  LLVMContext &context = function.getContext();
  auto *pointer = PointerType::get(context, 0);
  auto *int32 = Type::getInt32Ty(context);
  SmallPtrSet<BasicBlock *, 8> done;
  for (auto [from, to] : edges) {
    auto *latch = const_cast<BasicBlock *>(from);
    if (!done.insert(latch).second)
      continue;
    Instruction *terminator = latch->getTerminator();
    uint32_t site = sites.add(*terminator);
    for (const Instruction &instruction : *latch)
      if (instruction.getDebugLoc() && sites[site].file.empty())
        site = sites.add(instruction);
    IRBuilder<> builder(terminator);
    builder.SetCurrentDebugLocation(DebugLoc());
    Value *thread = function.getArg(0);
    Value *address =
        builder.CreateConstGEP1_64(builder.getInt8Ty(), thread, offset::fuel);
    Value *left = builder.CreateSub(builder.CreateLoad(int32, address),
                                    builder.getInt32(1));
    builder.CreateStore(left, address);
    Value *empty = builder.CreateICmpSLT(left, builder.getInt32(0));
    Instruction *then = SplitBlockAndInsertIfThen(empty, terminator->getIterator(),
                                                  /*Unreachable=*/false);
    IRBuilder<> call(then);
    call.SetCurrentDebugLocation(DebugLoc());
    FunctionCallee refuel = function.getParent()->getOrInsertFunction(
        symbol::refuel,
        FunctionType::get(Type::getVoidTy(context), {pointer, int32}, false));
    call.CreateCall(refuel, {thread, call.getInt32(site)});
  }
}
