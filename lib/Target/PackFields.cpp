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
//   %p = <2 x i16> %c, %d                                   %p = (%m & 0xf000f) | 0x64006400
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
//        %p = (%m & 0x00ff00ff) ^ 0x64806480
//
// So do two fields of one byte of such a vector, of the word and the word shifted, which is
// the same for all bytes of the word.
//
// The number that is added to such bits, so that they are a float, is taken away again, and where
// one such float is subtracted from another (a zero point from a weight) it need not be:
//
//   (%p - 1024.0) - (%q - 1024.0)   →   %p - %q             exact, both are in [1024, 2048)
//
//===----------------------------------------------------------------------===//
#include "PackFields.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"
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

/// A byte of a vector of whole words, or of half of one.
struct ByteOfWords {
  Value *vector;
  uint64_t number;

  Value *emitWord(IRBuilder<> &builder) const {
    unsigned bytes = cast<FixedVectorType>(vector->getType())->getNumElements();
    Value *word;
    if (match(vector, m_BitCast(m_Trunc(m_Value(word)))) && word->getType()->isIntegerTy(32))
      return word;
    if (bytes == 2)
      return builder.CreateZExt(builder.CreateBitCast(vector, builder.getInt16Ty()),
                                builder.getInt32Ty());
    Value *words = builder.CreateBitCast(vector, FixedVectorType::get(builder.getInt32Ty(), bytes / 4));
    return builder.CreateExtractElement(words, number / 4);
  }
};

std::optional<ByteOfWords> findInWords(Value *byte) {
  auto *extract = dyn_cast<ExtractElementInst>(byte);
  auto *number = extract ? dyn_cast<ConstantInt>(extract->getIndexOperand()) : nullptr;
  auto *type = extract ? dyn_cast<FixedVectorType>(extract->getVectorOperandType()) : nullptr;
  if (!number || !type || (type->getNumElements() % 4 && type->getNumElements() != 2))
    return std::nullopt;
  return ByteOfWords{extract->getVectorOperand(), number->getZExtValue()};
}

/// The fields with what is around them, if their bytes are of loaded vectors.
Value *packBytes(IRBuilder<> &builder, const Field &low, const Field &high) {
  std::optional<ByteOfWords> first = findInWords(low.byte), second = findInWords(high.byte);
  if (low.shift || !first || !second)
    return nullptr;
  Value *lower = first->emitWord(builder), *upper = second->emitWord(builder);
  if (high.shift)
    upper = builder.CreateLShr(upper, high.shift);
  uint64_t a = first->number % 4, b = second->number % 4 + 4;
  return builder.CreateIntrinsic(
      Intrinsic::nvvm_prmt, {},
      {lower, upper, builder.getInt32(uint32_t(a | a << 4 | b << 8 | b << 12))});
}

/// `word` & `mask` and other bits besides, one operation of three operands: the assembler makes
/// two of it where two of them are constants.
Value *selectBits(IRBuilder<> &builder, StringRef name, Value *word, uint32_t mask, uint32_t bits) {
  Type *i32 = builder.getInt32Ty();
  Module *module = builder.GetInsertBlock()->getModule();
  FunctionCallee helper = module->getOrInsertFunction(name, i32, i32, i32, i32);
  auto *function = cast<Function>(helper.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  return builder.CreateCall(helper, {word, builder.getInt32(mask), builder.getInt32(bits)});
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
  }
  if (!word)
    return nullptr;
  uint32_t mask = low->mask | high->mask << 16;
  uint32_t set = low->set | high->set << 16, turned = low->turned | high->turned << 16;
  if (set && !turned)
    return selectBits(builder, "tilec.lop3.and.or", word, mask, set);
  if (turned && !set)
    return selectBits(builder, "tilec.lop3.and.xor", word, mask, turned);
  word = builder.CreateAnd(word, mask);
  word = builder.CreateOr(word, set);
  return builder.CreateXor(word, turned);
}

/// A number that threads made of an integer's bits, `bits` - `bias`: all of `bits` and the bias are
/// in one binade.
struct Biased {
  Value *bits;
  const APFloat *bias;
};

std::optional<Biased> matchBiased(Value *value, const DataLayout &layout) {
  Biased biased;
  if (!match(value, m_FAdd(m_Value(biased.bits), m_APFloat(biased.bias))) || !biased.bias->isNegative() ||
      biased.bias->isZero() || !biased.bias->isFinite())
    return std::nullopt;
  Value *integer;
  if (!match(biased.bits, m_BitCast(m_Value(integer))) ||
      integer->getType()->getScalarSizeInBits() != value->getType()->getScalarSizeInBits())
    return std::nullopt;
  unsigned digits = APFloat::semanticsPrecision(biased.bias->getSemantics()) - 1;
  KnownBits known = computeKnownBits(integer, layout);
  APInt binade = abs(*biased.bias).bitcastToAPInt().lshr(digits);
  bool isKnown = known.One.lshr(digits) == binade && (known.Zero | known.One).lshr(digits).isMask() &&
                 (known.Zero | known.One).isNegative();
  return isKnown ? std::optional(biased) : std::nullopt;
}

/// The difference of two such numbers is that of their bits: exact, and so are both numbers.
Value *subtractBits(BinaryOperator &difference) {
  Value *right = difference.getOperand(1), *source = nullptr;
  ArrayRef<int> mask;
  bool isShuffled = match(right, m_Shuffle(m_Value(source), m_Poison(), m_Mask(mask))) &&
                    source->getType() == right->getType();
  const DataLayout &layout = difference.getModule()->getDataLayout();
  std::optional<Biased> a = matchBiased(difference.getOperand(0), layout);
  std::optional<Biased> b = a ? matchBiased(isShuffled ? source : right, layout) : std::nullopt;
  if (!b || *a->bias != *b->bias)
    return nullptr;
  IRBuilder<> builder(&difference);
  Value *bits = isShuffled ? builder.CreateShuffleVector(b->bits, mask) : b->bits;
  return builder.CreateFSub(a->bits, bits);
}

} // namespace

PreservedAnalyses tilec::PackFields::run(Function &function, FunctionAnalysisManager &) {
  SmallVector<WeakTrackingVH> dead;
  for (Instruction &instruction : make_early_inc_range(instructions(function)))
    if (instruction.getOpcode() == Instruction::FSub)
      if (Value *difference = subtractBits(cast<BinaryOperator>(instruction))) {
        instruction.replaceAllUsesWith(difference);
        dead.push_back(&instruction);
      }
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
