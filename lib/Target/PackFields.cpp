//===- PackFields.cpp - two fields of a byte, as a pair --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: optimised functions. Out: pairs of 16 bits that are made of two fields of one byte,
// as weights of 4 bits are before they become f16, are made in one word, by a
// multiplication and a logic operation. Four operations are one by one needed for that:
//
//   %l = and i8 %x, 15          %h = lshr i8 %x, 4
//   %a = zext %l to i16         %b = zext %h to i16         %w = zext i8 %x to i32
//   %c = or i16 %a, 0x6400      %d = or i16 %b, 0x6400  →   %m = mul i32 %w, 0x1001
//   %p = <2 x i16> %c, %d                                   %n = and i32 %m, 0x000f000f
//                                                           %p = or i32 %n, 0x64006400
//
// The byte and its copy 16 - 4 bits above do not meet, so the product is both. The first
// field is at the byte's beginning, the second one anywhere above.
//
// Two bytes of vectors that were loaded become a pair by one permutation of their words'
// bytes and one logic operation, instead of two extractions, and what joins the results:
//
//   %x = extractelement <8 x i8> %v, 5     %y = extractelement <8 x i8> %w, 5
//   %a = xor (zext i8 %x to i16), 0x6480   %b = xor (zext i8 %y to i16), 0x6480
//   %p = <2 x i16> %a, %b
//     →  %m = prmt (word 1 of %v), (word 1 of %w), 0x5511
//        %p = xor (and i32 %m, 0x00ff00ff), 0x64806480
//
// So do two fields of one byte of such a vector, of the word and the word shifted, which is
// the same for all bytes of the word.
//
//===----------------------------------------------------------------------===//
#include "PackFields.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

#include <optional>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// `mask & byte >> shift`, and bits that are set, or turned around, besides.
struct Field {
  Value *byte;
  uint64_t shift, mask, set, turned;
};

std::optional<Field> matchField(Value *value) {
  const APInt *set = nullptr, *turned = nullptr, *mask = nullptr, *shift = nullptr;
  Value *narrow = value, *inner = nullptr;
  if (match(value, m_Or(m_Value(inner), m_APInt(set))) ||
      match(value, m_Xor(m_Value(inner), m_APInt(turned))))
    narrow = inner;
  if (!match(narrow, m_ZExt(m_Value(inner))) || !inner->getType()->isIntegerTy(8))
    return std::nullopt;
  Field field{inner, 0, 0xff, set ? set->getZExtValue() : 0,
              turned ? turned->getZExtValue() : 0};
  if (match(field.byte, m_And(m_Value(inner), m_APInt(mask)))) {
    field.byte = inner;
    field.mask = mask->getZExtValue();
  }
  if (match(field.byte, m_LShr(m_Value(inner), m_APInt(shift))) && shift->ult(8)) {
    field.byte = inner;
    field.shift = shift->getZExtValue();
    field.mask &= uint64_t(0xff) >> field.shift;
  }
  return field;
}

/// A byte of a vector of whole words.
struct ByteOfWords {
  Value *vector;
  uint64_t number;

  Value *emitWord(IRBuilder<> &builder) const {
    unsigned bytes = cast<FixedVectorType>(vector->getType())->getNumElements();
    Value *words = builder.CreateBitCast(vector, FixedVectorType::get(builder.getInt32Ty(), bytes / 4));
    return builder.CreateExtractElement(words, number / 4);
  }
};

std::optional<ByteOfWords> findInWords(Value *byte) {
  auto *extract = dyn_cast<ExtractElementInst>(byte);
  auto *number = extract ? dyn_cast<ConstantInt>(extract->getIndexOperand()) : nullptr;
  auto *type = extract ? dyn_cast<FixedVectorType>(extract->getVectorOperandType()) : nullptr;
  if (!number || !type || type->getNumElements() % 4)
    return std::nullopt;
  return ByteOfWords{extract->getVectorOperand(), number->getZExtValue()};
}

/// The fields, without what is set besides, if their bytes are of loaded vectors.
Value *packBytes(IRBuilder<> &builder, const Field &low, const Field &high) {
  std::optional<ByteOfWords> first = findInWords(low.byte), second = findInWords(high.byte);
  if (low.shift || !first || !second)
    return nullptr;
  Value *lower = first->emitWord(builder), *upper = second->emitWord(builder);
  if (high.shift)
    upper = builder.CreateLShr(upper, high.shift);
  uint64_t a = first->number % 4, b = second->number % 4 + 4;
  Value *word = builder.CreateIntrinsic(
      Intrinsic::nvvm_prmt, {},
      {lower, upper, builder.getInt32(uint32_t(a | a << 4 | b << 8 | b << 12))});
  return builder.CreateAnd(word, builder.getInt32(uint32_t(low.mask | high.mask << 16)));
}

/// The word that `pair` (two halves of 16 bits) is; null where it is of no such fields.
Value *pack(InsertElementInst &pair) {
  auto *first = dyn_cast<InsertElementInst>(pair.getOperand(0));
  if (!first || !isa<PoisonValue>(first->getOperand(0)) ||
      !match(first->getOperand(2), m_Zero()) || !match(pair.getOperand(2), m_One()))
    return nullptr;
  std::optional<Field> low = matchField(first->getOperand(1));
  std::optional<Field> high = matchField(pair.getOperand(1));
  if (!low || !high)
    return nullptr;
  IRBuilder<> builder(&pair);
  Value *word = packBytes(builder, *low, *high);
  if (!word && low->byte == high->byte && !low->shift && high->shift) {
    word = builder.CreateZExt(low->byte, builder.getInt32Ty());
    word = builder.CreateMul(word, builder.getInt32(1 + (1u << (16 - high->shift))),
                             "", /*HasNUW=*/true, /*HasNSW=*/true);
    word = builder.CreateAnd(word, builder.getInt32(uint32_t(low->mask | high->mask << 16)));
  }
  if (!word)
    return nullptr;
  if (auto set = uint32_t(low->set | high->set << 16))
    word = builder.CreateOr(word, builder.getInt32(set));
  if (auto turned = uint32_t(low->turned | high->turned << 16))
    word = builder.CreateXor(word, builder.getInt32(turned));
  return word;
}

} // namespace

PreservedAnalyses tilec::PackFields::run(Function &function, FunctionAnalysisManager &) {
  SmallVector<WeakTrackingVH> dead;
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *pair = dyn_cast<InsertElementInst>(&instruction);
    auto *type = pair ? cast<VectorType>(pair->getType()) : nullptr;
    if (!type || type != FixedVectorType::get(Type::getInt16Ty(function.getContext()), 2))
      continue;
    Value *word = pack(*pair);
    if (!word)
      continue;
    IRBuilder<> builder(pair);
    pair->replaceAllUsesWith(builder.CreateBitCast(word, type));
    dead.push_back(pair);
  }
  if (dead.empty())
    return PreservedAnalyses::all();
  RecursivelyDeleteTriviallyDeadInstructions(dead);
  return PreservedAnalyses::none();
}
