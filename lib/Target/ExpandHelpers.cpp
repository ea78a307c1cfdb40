//===- ExpandHelpers.cpp - helper calls to inline PTX ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
//   declare float @tilec.lg2.approx.f32(float)
//   %y = call float @tilec.lg2.approx.f32(float %x)
//     →
//   %y = call float asm "lg2.approx.f32 $0, $1;", "=f,f"(float %x)
//
// ExpandHelpers.h says where texts come from and what effects mean.
//===----------------------------------------------------------------------===//

#include "tilec/Target/ExpandHelpers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

constexpr tilec::Helper fixedHelpers[] = {
#define TILEC_HELPER(name, effects, text, constraints)                         \
  {name, text, constraints, tilec::HelperEffects::effects},
#include "tilec/Target/InlinePTX.def"
};

/// Replaces one call of `helper`.
Error expandCall(CallInst *call, const tilec::Helper &helper) {
  FunctionType *type = call->getFunctionType();
  if (Error error = InlineAsm::verify(type, helper.constraints))
    return createStringError("helper " + helper.name + " has constraints '" +
                             helper.constraints + "' that do not fit its type: " +
                             toString(std::move(error)));
  bool hasSideEffects = helper.effects != tilec::HelperEffects::None;
  InlineAsm *text = InlineAsm::get(type, helper.text, helper.constraints, hasSideEffects);
  IRBuilder<> builder(call);
  CallInst *replacement = builder.CreateCall(type, text, SmallVector<Value *>(call->args()));
  replacement->setDoesNotThrow();
  if (helper.effects == tilec::HelperEffects::None)
    replacement->setDoesNotAccessMemory();
  if (helper.effects == tilec::HelperEffects::Sync)
    replacement->setConvergent();
  replacement->takeName(call);
  call->replaceAllUsesWith(replacement);
  call->eraseFromParent();
  return Error::success();
}

} // namespace

std::optional<tilec::Helper> tilec::findHelper(const Function &function) {
  if (!isHelperName(function.getName()) || !function.isDeclaration())
    return std::nullopt;
  if (function.hasFnAttribute("tilec-asm")) {
    auto effects = StringSwitch<HelperEffects>(
                       function.getFnAttribute("tilec-effects").getValueAsString())
                       .Case("none", HelperEffects::None)
                       .Case("memory", HelperEffects::Memory)
                       .Default(HelperEffects::Sync);
    return Helper{function.getName(),
                  function.getFnAttribute("tilec-asm").getValueAsString(),
                  function.getFnAttribute("tilec-constraints").getValueAsString(),
                  effects};
  }
  const Helper *row = find_if(fixedHelpers, [&](const Helper &helper) {
    return helper.name == function.getName();
  });
  if (row == std::end(fixedHelpers))
    return std::nullopt;
  return *row;
}

void tilec::annotateHelpers(Module &module) {
  for (Function &function : module) {
    if (!isHelperName(function.getName()) || !function.isDeclaration())
      continue;
    std::optional<Helper> helper = findHelper(function);
    HelperEffects effects = helper ? helper->effects : HelperEffects::Sync;
    function.setDoesNotThrow();
    if (effects == HelperEffects::Sync)
      function.setConvergent();
    if (effects == HelperEffects::None) {
      function.setDoesNotAccessMemory();
      function.setWillReturn();
      function.addFnAttr(Attribute::Speculatable);
    }
  }
}

Error tilec::expandHelpers(Module &module) {
  for (Function &function : make_early_inc_range(module)) {
    if (!isHelperName(function.getName()) || !function.isDeclaration())
      continue;
    std::optional<Helper> helper = findHelper(function);
    for (User *user : make_early_inc_range(function.users())) {
      auto *call = dyn_cast<CallInst>(user);
      if (!helper || !call || call->getCalledFunction() != &function)
        return createStringError("no inline PTX for helper " + function.getName());
      if (Error error = expandCall(call, *helper))
        return error;
    }
    function.eraseFromParent();
  }
  return Error::success();
}
