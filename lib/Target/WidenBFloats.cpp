//===- WidenBFloats.cpp - pairs of bf16 to f32 --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: optimised functions. Out: bf16 that come in words, as wide loads bring them and
// loops carry them, are widened by one operation on the word each. The code generator would first take the
// word apart, which costs a second one for every upper half:
//
//   %h = extractelement <8 x bfloat> %v, 3      %w = extractelement <4 x i32> %v', 1
//   %f = fpext bfloat %h to float           →   %b = and i32 %w, 0xffff0000
//                                               %f = bitcast i32 %b to float
//
// Even elements are shifted left by 16 instead. That holds for all values: f32 is bf16
// with 16 more bits of mantissa, and the code generator's own form keeps NaNs' bits too.
//
//===----------------------------------------------------------------------===//
#include "WidenBFloats.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {

/// An element of a vector of an even number of bf16 that is widened.
struct Widened {
  FPExtInst *extension;
  Value *vector;
  uint64_t element;
};

std::optional<Widened> match(Instruction &instruction) {
  auto *extension = dyn_cast<FPExtInst>(&instruction);
  if (!extension || !extension->getType()->isFloatTy())
    return std::nullopt;
  auto *extract = dyn_cast<ExtractElementInst>(extension->getOperand(0));
  if (!extract || !extract->getType()->isBFloatTy())
    return std::nullopt;
  auto *index = dyn_cast<ConstantInt>(extract->getIndexOperand());
  auto *type = dyn_cast<FixedVectorType>(extract->getVectorOperandType());
  if (!index || !type || type->getNumElements() % 2)
    return std::nullopt;
  return Widened{extension, extract->getVectorOperand(), index->getZExtValue()};
}

/// Whether all that is done with the elements is to widen them.
bool isOnlyWidened(LoadInst *load) {
  return all_of(load->users(), [](User *user) {
    return isa<ExtractElementInst>(user) && all_of(user->users(), [](User *last) {
             return match(*cast<Instruction>(last)).has_value();
           });
  });
}

/// `vector` as words; null where it does not come so.
Value *wordsOf(Value *vector, DenseMap<Value *, Value *> &known) {
  auto [place, isNew] = known.try_emplace(vector, nullptr);
  if (!isNew)
    return place->second;
  unsigned words = cast<FixedVectorType>(vector->getType())->getNumElements() / 2;
  Type *word = Type::getInt32Ty(vector->getContext());
  Type *type = FixedVectorType::get(word, words);
  if (auto *phi = dyn_cast<PHINode>(vector); phi && words == 1) {
    // One register as it is.
    IRBuilder<> builder(phi->getParent(), phi->getParent()->getFirstInsertionPt());
    place->second = builder.CreateBitCast(phi, word);
  } else if (auto *cast = dyn_cast<BitCastInst>(vector)) {
    if (cast->getSrcTy() == type)
      place->second = cast->getOperand(0);
  } else if (auto *load = dyn_cast<LoadInst>(vector);
             load && load->isSimple() && isOnlyWidened(load)) {
    IRBuilder<> builder(load);
    LoadInst *wide = builder.CreateAlignedLoad(type, load->getPointerOperand(), load->getAlign());
    wide->copyMetadata(*load);
    place->second = wide;
  }
  return place->second;
}

} // namespace

PreservedAnalyses tilec::WidenBFloats::run(Function &function, FunctionAnalysisManager &) {
  SmallVector<Widened> found;
  for (Instruction &instruction : instructions(function))
    if (std::optional<Widened> widened = match(instruction))
      found.push_back(*widened);

  DenseMap<Value *, Value *> words;
  SmallVector<WeakTrackingVH> dead;
  for (const Widened &widened : found) {
    Value *from = wordsOf(widened.vector, words);
    if (!from)
      continue;
    IRBuilder<> builder(widened.extension);
    Value *word = from;
    if (from->getType()->isVectorTy())
      word = builder.CreateExtractElement(from, widened.element / 2);
    Value *bits = widened.element % 2 ? builder.CreateAnd(word, 0xffff0000)
                                      : builder.CreateShl(word, 16);
    widened.extension->replaceAllUsesWith(builder.CreateBitCast(bits, builder.getFloatTy()));
    dead.push_back(widened.extension);
  }
  if (dead.empty())
    return PreservedAnalyses::all();
  RecursivelyDeleteTriviallyDeadInstructions(dead);
  return PreservedAnalyses::none();
}
