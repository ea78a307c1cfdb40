//===- InstrumentProducts.cpp - checks where accumulators are read -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  a function with calls of the tilec.wgmma helpers or of loads of tensor memory. Out:
//      before each use of a value that comes from one, unless it goes to a product or wait,
//
//   call void @tilec.emulator.available(ptr %thread, i32 bits of the value, i32 site)
//
// Values are followed through what only passes them on: structs, vectors, phis,
// selects. Then whether the value was waited for is known exactly, when it is used.
//
//===--------------------------------------------------------------------------===//
#include "RewriteForHost.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::emulator;

static StringRef calleeOf(const User *user) {
  auto *call = dyn_cast<CallInst>(user);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee ? callee->getName() : StringRef();
}

/// Whether what it returns may be still to come.
static bool returnsMarks(const User *user) {
  StringRef name = calleeOf(user);
  return name.starts_with("tilec.wgmma.") || name.starts_with("llvm.nvvm.tcgen05.ld.");
}

/// Whether it takes values that are still to come.
static bool takesMarks(const User *user) {
  StringRef name = calleeOf(user);
  return name.starts_with("tilec.wgmma.") || name.starts_with("tilec.tcgen05.wait.ld");
}

/// What a register of an accumulator may hold.
static bool isWord(const Type *type) { return type->isIntegerTy(32) || type->isFloatTy(); }

static bool onlyPassesOn(const User *user) {
  return isa<ExtractValueInst, InsertValueInst, ExtractElementInst, InsertElementInst,
             ShuffleVectorInst, PHINode, SelectInst, FreezeInst>(user);
}

void tilec::emulator::instrumentProducts(Function &function, SiteTable &sites) {
  SetVector<Value *> values;
  for (Instruction &instruction : instructions(function))
    if (returnsMarks(&instruction) && !instruction.getType()->isVoidTy())
      values.insert(&instruction);
  SmallVector<std::pair<Value *, Instruction *>> uses;
  for (unsigned i = 0; i < values.size(); ++i)
    for (User *user : values[i]->users()) {
      if (onlyPassesOn(user))
        values.insert(user);
      else if (!takesMarks(user))
        uses.push_back({values[i], cast<Instruction>(user)});
    }
  LLVMContext &context = function.getContext();
  Type *int32 = Type::getInt32Ty(context);
  FunctionCallee check = function.getParent()->getOrInsertFunction(
      symbol::available, FunctionType::get(Type::getVoidTy(context),
                                           {PointerType::get(context, 0), int32, int32},
                                           false));
  DenseSet<std::pair<Value *, BasicBlock *>> done;
  for (auto [value, user] : uses) {
    // The value never changes, so one check in each basic block will do.
    if (!isWord(value->getType()->getScalarType()) || isa<ScalableVectorType>(value->getType()) ||
        !done.insert({value, user->getParent()}).second)
      continue;
    IRBuilder<> b(user);
    b.SetCurrentDebugLocation(DebugLoc());
    Value *thread = function.getArg(0), *site = b.getInt32(sites.add(*user));
    auto *vector = dyn_cast<FixedVectorType>(value->getType());
    for (unsigned i = 0, e = vector ? vector->getNumElements() : 1; i < e; ++i) {
      Value *element = vector ? b.CreateExtractElement(value, i) : value;
      b.CreateCall(check, {thread, b.CreateBitCast(element, int32), site});
    }
  }
}
