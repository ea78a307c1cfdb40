//===- ExpandAtomics.cpp - atomic helpers as atomic instructions -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  calls of helpers whose names say what an atomic instruction does
//
//   tilec.{atom|red}.<operation>.<order>.<scope>.[v<n>.]<type>
//   tilec.st.relaxed.<scope>.v<n>.b<bits>
//
// Out: atomicrmw, cmpxchg and atomic stores, one for each element, which the access
//      checks know: bounds, races, order between blocks.
//
//   call float @tilec.atom.add.acq_rel.gpu.f32(ptr %p, float %v)
//     →  atomicrmw fadd ptr %p, float %v syncscope("device") acq_rel
//
//===--------------------------------------------------------------------------===//
#include "RewriteForHost.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

/// A helper's name, taken apart.
struct AtomicHelper {
  StringRef instruction; ///< atom, red or st
  StringRef operation;   ///< add, cas, …; empty for st
  AtomicOrdering order = AtomicOrdering::Monotonic;
  SyncScope::ID scope = SyncScope::System;
  StringRef type; ///< f32, s64, b16, bf16x2, …

  static std::optional<AtomicHelper> parse(StringRef name, LLVMContext &context);

  /// The type of an element, and how many an operand holds.
  Type *elementType(LLVMContext &context) const;
  unsigned perOperand() const { return type.ends_with("x2") ? 2 : 1; }
  AtomicRMWInst::BinOp binaryOperation() const;
};

std::optional<AtomicHelper> AtomicHelper::parse(StringRef name, LLVMContext &context) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  if (parts.size() < 5 || parts[0] != "tilec")
    return std::nullopt;
  AtomicHelper helper;
  helper.instruction = parts[1];
  unsigned next = 2;
  if (helper.instruction == "atom" || helper.instruction == "red")
    helper.operation = parts[next++];
  else if (helper.instruction != "st")
    return std::nullopt;
  helper.order = StringSwitch<AtomicOrdering>(parts[next++])
                     .Case("relaxed", AtomicOrdering::Monotonic)
                     .Case("acquire", AtomicOrdering::Acquire)
                     .Case("release", AtomicOrdering::Release)
                     .Case("acq_rel", AtomicOrdering::AcquireRelease)
                     .Default(AtomicOrdering::NotAtomic);
  StringRef scope = parts[next++];
  if (scope == "block" || scope == "gpu")
    helper.scope = context.getOrInsertSyncScopeID(scope == "gpu" ? "device" : scope);
  if (helper.order == AtomicOrdering::NotAtomic || next >= parts.size())
    return std::nullopt;
  helper.type = parts.back();
  if (!helper.operation.empty() && helper.operation != "cas" &&
      helper.binaryOperation() == AtomicRMWInst::BAD_BINOP)
    return std::nullopt;
  return helper;
}

Type *AtomicHelper::elementType(LLVMContext &context) const {
  StringRef name = type;
  name.consume_back("x2");
  if (name == "f16")
    return Type::getHalfTy(context);
  if (name == "bf16")
    return Type::getBFloatTy(context);
  if (name == "f32")
    return Type::getFloatTy(context);
  if (name == "f64")
    return Type::getDoubleTy(context);
  unsigned width = 32;
  name.drop_front().getAsInteger(10, width);
  return IntegerType::get(context, width);
}

AtomicRMWInst::BinOp AtomicHelper::binaryOperation() const {
  bool isFloat = type.contains('f'), isUnsigned = type.starts_with("u");
  return StringSwitch<AtomicRMWInst::BinOp>(operation)
      .Case("add", isFloat ? AtomicRMWInst::FAdd : AtomicRMWInst::Add)
      .Case("max", isUnsigned ? AtomicRMWInst::UMax : AtomicRMWInst::Max)
      .Case("min", isUnsigned ? AtomicRMWInst::UMin : AtomicRMWInst::Min)
      .Case("and", AtomicRMWInst::And)
      .Case("or", AtomicRMWInst::Or)
      .Case("xor", AtomicRMWInst::Xor)
      .Case("exch", AtomicRMWInst::Xchg)
      .Case("inc", AtomicRMWInst::UIncWrap)
      .Default(AtomicRMWInst::BAD_BINOP);
}

/// The elements that the operands behind the address hold.
SmallVector<Value *> elementsOf(IRBuilder<> &b, CallInst *call, const AtomicHelper &helper,
                                Type *element) {
  SmallVector<Value *> elements;
  unsigned count = helper.perOperand();
  for (Value *operand : drop_begin(call->args())) {
    if (count == 1) {
      elements.push_back(b.CreateBitCast(operand, element));
      continue;
    }
    Value *pair = b.CreateBitCast(operand, FixedVectorType::get(element, count));
    for (unsigned i = 0; i < count; ++i)
      elements.push_back(b.CreateExtractElement(pair, i));
  }
  return elements;
}

void expand(CallInst *call, const AtomicHelper &helper) {
  IRBuilder<> b(call);
  Type *element = helper.elementType(call->getContext());
  Align align(element->getPrimitiveSizeInBits() / 8);
  Value *address = call->getArgOperand(0);
  SmallVector<Value *> values = elementsOf(b, call, helper, element);
  Value *result = nullptr;
  if (helper.operation == "cas") {
    AtomicOrdering failure =
        isAcquireOrStronger(helper.order) ? AtomicOrdering::Acquire : AtomicOrdering::Monotonic;
    Value *pair = b.CreateAtomicCmpXchg(address, values[0], values[1], align, helper.order,
                                        failure, helper.scope);
    result = b.CreateExtractValue(pair, 0);
  } else {
    for (auto [number, value] : enumerate(values)) {
      Value *place = number ? b.CreateConstGEP1_64(element, address, number) : address;
      if (helper.instruction == "st") {
        StoreInst *store = b.CreateAlignedStore(value, place, align);
        store->setAtomic(helper.order, helper.scope);
      } else {
        result = b.CreateAtomicRMW(helper.binaryOperation(), place, value, align,
                                   helper.order, helper.scope);
      }
    }
  }
  if (!call->getType()->isVoidTy())
    call->replaceAllUsesWith(b.CreateBitCast(result, call->getType()));
  call->eraseFromParent();
}

} // namespace

void tilec::emulator::expandAtomics(Module &module) {
  for (Function &function : make_early_inc_range(module)) {
    if (!function.isDeclaration())
      continue;
    std::optional<AtomicHelper> helper =
        AtomicHelper::parse(function.getName(), module.getContext());
    if (!helper)
      continue;
    for (User *user : make_early_inc_range(function.users()))
      if (auto *call = dyn_cast<CallInst>(user);
          call && call->getCalledFunction() == &function && call->arg_size() >= 2)
        expand(call, *helper);
    if (function.use_empty())
      function.eraseFromParent();
  }
}
