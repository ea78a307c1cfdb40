//===- ScalarizeVectors.cpp - a thread's vectors to registers --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: functions on vectors as wide as a thread's part of a tile (<256 x float>).
// Out: the same on scalars, which are registers.
//
//   %s = fadd <4 x float> %a, %b            %s0 = fadd float %a0, %b0    …
//   %t = fadd <4 x half> %a, %b        →    %t01 = fadd <2 x half> %a01, %b01  …
//   %v = load <4 x float>                   unchanged; elements are extracted
//   store <4 x float> %s                    unchanged; the vector is built before it
//
// Why not LLVM's scalarizer: it leaves operations whole whose operands and results
// differ in width (conversions, comparisons and shuffles of 16-bit types), and is
// quadratic in the number of elements. Here every value has a list of its elements,
// made once.
//===----------------------------------------------------------------------===//

#include "ScalarizeVectors.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace {

using Elements = SmallVector<Value *, 8>;

FixedVectorType *vectorType(const Value *value) {
  return dyn_cast<FixedVectorType>(value->getType());
}

class Scalarizer {
public:
  explicit Scalarizer(Function &function) : function(function) {}

  bool run() {
    ReversePostOrderTraversal<Function *> order(&function);
    for (BasicBlock *block : order)
      for (Instruction &instruction : make_early_inc_range(*block))
        visit(instruction);
    finishPhis();
    replaceUses();
    for (Instruction *instruction : reverse(replaced)) {
      instruction->replaceAllUsesWith(PoisonValue::get(instruction->getType()));
      instruction->eraseFromParent();
    }
    return !replaced.empty();
  }

private:
  //===-- elements of values -------------------------------------------------===//

  /// The elements of a vector; extracted behind its definition if it stays a vector.
  const Elements &elementsOf(Value *vector) {
    Elements &list = elements[vector];
    if (!list.empty())
      return list;
    unsigned count = vectorType(vector)->getNumElements();
    Elements made;
    if (auto *constant = dyn_cast<Constant>(vector)) {
      for (unsigned i = 0; i < count && constant->getAggregateElement(i); ++i)
        made.push_back(constant->getAggregateElement(i));
      if (made.size() == count)
        return elements[vector] = made;
      made.clear();
    }
    IRBuilder<> builder(function.getContext());
    setInsertionPointBehind(builder, vector);
    for (unsigned i = 0; i < count; ++i)
      made.push_back(builder.CreateExtractElement(vector, uint64_t(i)));
    return elements[vector] = made;
  }

  void setInsertionPointBehind(IRBuilder<> &builder, Value *value) {
    if (auto *instruction = dyn_cast<Instruction>(value)) {
      if (std::optional<BasicBlock::iterator> at = instruction->getInsertionPointAfterDef()) {
        builder.SetInsertPoint((*at)->getParent(), *at);
        builder.SetCurrentDebugLocation(instruction->getDebugLoc());
        return;
      }
    }
    builder.SetInsertPoint(&function.getEntryBlock(),
                           function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  }

  /// Elements `i` and `i + 1` as a vector, without new instructions where they come
  /// from one.
  Value *pairOf(IRBuilder<> &builder, Value *vector, unsigned i) {
    const Elements &list = elementsOf(vector);
    Value *low = list[i], *high = list[i + 1];
    auto *first = dyn_cast<ExtractElementInst>(low);
    auto *second = dyn_cast<ExtractElementInst>(high);
    if (first && second && first->getVectorOperand() == second->getVectorOperand()) {
      auto *at = dyn_cast<ConstantInt>(first->getIndexOperand());
      auto *next = dyn_cast<ConstantInt>(second->getIndexOperand());
      if (at && next && next->getZExtValue() == at->getZExtValue() + 1) {
        Value *whole = first->getVectorOperand();
        int start = at->getZExtValue();
        if (start == 0 && vectorType(whole)->getNumElements() == 2)
          return whole;
        return builder.CreateShuffleVector(whole, ArrayRef<int>{start, start + 1});
      }
    }
    Type *type = FixedVectorType::get(low->getType(), 2);
    Value *pair = builder.CreateInsertElement(PoisonValue::get(type), low, uint64_t(0));
    return builder.CreateInsertElement(pair, high, uint64_t(1));
  }

  void replace(Instruction &instruction, Elements made) {
    elements[&instruction] = std::move(made);
    replaced.push_back(&instruction);
  }

  //===-- operations -----------------------------------------------------------===//

  void visit(Instruction &instruction) {
    if (auto *extract = dyn_cast<ExtractElementInst>(&instruction))
      return visitExtract(*extract);
    FixedVectorType *type = vectorType(&instruction);
    if (!type || type->getNumElements() < 1)
      return;
    if (auto *phi = dyn_cast<PHINode>(&instruction))
      return visitPhi(*phi);
    if (auto *insert = dyn_cast<InsertElementInst>(&instruction))
      return visitInsert(*insert);
    if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction))
      return visitShuffle(*shuffle);
    if (isElementwise(instruction))
      visitElementwise(instruction);
  }

  static bool isElementwise(const Instruction &instruction) {
    if (isa<BitCastInst>(instruction))
      return vectorType(instruction.getOperand(0)) &&
             vectorType(instruction.getOperand(0))->getNumElements() ==
                 vectorType(&instruction)->getNumElements();
    if (isa<BinaryOperator, UnaryOperator, CastInst, CmpInst, SelectInst, FreezeInst>(
            instruction))
      return true;
    const auto *call = dyn_cast<IntrinsicInst>(&instruction);
    return call && isTriviallyVectorizable(call->getIntrinsicID());
  }

  /// Whether two 16-bit floats take one instruction.
  static bool isPacked(const Instruction &instruction) {
    FixedVectorType *type = vectorType(&instruction);
    Type *element = type->getElementType();
    if ((!element->isHalfTy() && !element->isBFloatTy()) || type->getNumElements() % 2)
      return false;
    switch (instruction.getOpcode()) {
    case Instruction::FAdd: case Instruction::FSub: case Instruction::FMul:
    case Instruction::FNeg:
      return true;
    case Instruction::FPTrunc:
      return instruction.getOperand(0)->getType()->getScalarType()->isFloatTy();
    default:
      break;
    }
    const auto *call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call)
      return false;
    switch (call->getIntrinsicID()) {
    case Intrinsic::fma: case Intrinsic::fabs: case Intrinsic::minnum:
    case Intrinsic::maxnum: case Intrinsic::minimum: case Intrinsic::maximum:
    case Intrinsic::minimumnum: case Intrinsic::maximumnum:
      return true;
    default:
      return false;
    }
  }

  void visitElementwise(Instruction &instruction) {
    FixedVectorType *type = vectorType(&instruction);
    IRBuilder<> builder(&instruction);
    Elements made;
    if (isPacked(instruction)) {
      Type *pair = FixedVectorType::get(type->getElementType(), 2);
      for (unsigned i = 0; i < type->getNumElements(); i += 2) {
        Value *both = build(builder, instruction, pair,
                            [&](Value *operand) { return pairOf(builder, operand, i); });
        made.push_back(builder.CreateExtractElement(both, uint64_t(0)));
        made.push_back(builder.CreateExtractElement(both, uint64_t(1)));
      }
    } else {
      for (unsigned i = 0; i < type->getNumElements(); ++i)
        made.push_back(build(builder, instruction, type->getElementType(),
                             [&](Value *operand) { return elementsOf(operand)[i]; }));
    }
    replace(instruction, std::move(made));
  }

  /// `instruction` on parts of its operands, with its flags.
  Value *build(IRBuilder<> &builder, Instruction &instruction, Type *type,
               function_ref<Value *(Value *)> part) {
    auto take = [&](unsigned i) {
      Value *operand = instruction.getOperand(i);
      return vectorType(operand) ? part(operand) : operand;
    };
    Value *result = nullptr;
    if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
      SmallVector<Value *, 4> operands;
      for (unsigned i = 0; i < call->arg_size(); ++i)
        operands.push_back(take(i));
      result = builder.CreateIntrinsic(type, call->getIntrinsicID(), operands);
    } else if (auto *conversion = dyn_cast<CastInst>(&instruction)) {
      result = builder.CreateCast(conversion->getOpcode(), take(0), type);
    } else if (auto *compare = dyn_cast<CmpInst>(&instruction)) {
      result = builder.CreateCmp(compare->getPredicate(), take(0), take(1));
    } else if (isa<SelectInst>(instruction)) {
      result = builder.CreateSelect(take(0), take(1), take(2));
    } else if (isa<FreezeInst>(instruction)) {
      result = builder.CreateFreeze(take(0));
    } else if (auto *unary = dyn_cast<UnaryOperator>(&instruction)) {
      result = builder.CreateUnOp(unary->getOpcode(), take(0));
    } else {
      result = builder.CreateBinOp(cast<BinaryOperator>(instruction).getOpcode(), take(0),
                                   take(1));
    }
    if (auto *made = dyn_cast<Instruction>(result))
      if (made->getOpcode() == instruction.getOpcode())
        made->copyIRFlags(&instruction);
    return result;
  }

  /// Elements of 16 bits are carried in pairs: one register holds two.
  void visitPhi(PHINode &phi) {
    FixedVectorType *type = vectorType(&phi);
    Type *element = type->getElementType();
    bool inPairs = element->getPrimitiveSizeInBits() == 16 && type->getNumElements() % 2 == 0;
    IRBuilder<> builder(&phi);
    SmallVector<PHINode *, 8> parts;
    unsigned count = type->getNumElements() / (inPairs ? 2 : 1);
    for (unsigned i = 0; i < count; ++i)
      parts.push_back(builder.CreatePHI(inPairs ? FixedVectorType::get(element, 2) : element,
                                        phi.getNumIncomingValues()));
    setInsertionPointBehind(builder, &phi);
    Elements made;
    for (PHINode *part : parts) {
      if (inPairs)
        for (uint64_t i : {0, 1})
          made.push_back(builder.CreateExtractElement(part, i));
      else
        made.push_back(part);
    }
    phis.push_back({&phi, std::move(parts)});
    replace(phi, std::move(made));
  }

  void finishPhis() {
    for (auto &[phi, parts] : phis)
      for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k) {
        Value *value = phi->getIncomingValue(k);
        BasicBlock *from = phi->getIncomingBlock(k);
        IRBuilder<> builder(from->getTerminator());
        for (auto [i, part] : enumerate(parts))
          part->addIncoming(vectorType(part) ? pairOf(builder, value, 2 * i)
                                             : elementsOf(value)[i],
                            from);
      }
  }

  void visitInsert(InsertElementInst &insert) {
    IRBuilder<> builder(&insert);
    Elements made = elementsOf(insert.getOperand(0));
    Value *element = insert.getOperand(1), *index = insert.getOperand(2);
    if (auto *constant = dyn_cast<ConstantInt>(index)) {
      if (constant->getValue().uge(made.size()))
        return;
      made[constant->getZExtValue()] = element;
    } else {
      for (unsigned i = 0; i < made.size(); ++i) {
        Value *here = builder.CreateICmpEQ(index, ConstantInt::get(index->getType(), i));
        made[i] = builder.CreateSelect(here, element, made[i]);
      }
    }
    replace(insert, std::move(made));
  }

  void visitExtract(ExtractElementInst &extract) {
    Value *vector = extract.getVectorOperand(), *index = extract.getIndexOperand();
    if (!vectorType(vector) || !elements.contains(vector))
      return; // of a value that stays a vector
    Elements list = elementsOf(vector);
    Value *result = nullptr;
    if (auto *constant = dyn_cast<ConstantInt>(index)) {
      if (constant->getValue().uge(list.size()))
        return;
      result = list[constant->getZExtValue()];
    } else {
      IRBuilder<> builder(&extract);
      result = list[0];
      for (unsigned i = 1; i < list.size(); ++i) {
        Value *here = builder.CreateICmpEQ(index, ConstantInt::get(index->getType(), i));
        result = builder.CreateSelect(here, list[i], result);
      }
    }
    if (result == &extract)
      return; // made here
    // No list holds it yet: definitions are visited before uses.
    extract.replaceAllUsesWith(result);
    replaced.push_back(&extract);
  }

  void visitShuffle(ShuffleVectorInst &shuffle) {
    Elements first = elementsOf(shuffle.getOperand(0));
    Elements second = elementsOf(shuffle.getOperand(1));
    Elements made;
    Type *type = vectorType(&shuffle)->getElementType();
    for (int from : shuffle.getShuffleMask())
      made.push_back(from < 0 ? PoisonValue::get(type)
                     : from < int(first.size()) ? first[from]
                                                : second[from - first.size()]);
    replace(shuffle, std::move(made));
  }

  //===-- what still wants vectors ---------------------------------------------===//

  /// The pair of which `low` and `high` are the elements, or null.
  static Value *commonPair(Value *low, Value *high) {
    auto *first = dyn_cast<ExtractElementInst>(low);
    auto *second = dyn_cast<ExtractElementInst>(high);
    if (!first || !second || first->getVectorOperand() != second->getVectorOperand() ||
        vectorType(first->getVectorOperand())->getNumElements() != 2)
      return nullptr;
    auto *at = dyn_cast<ConstantInt>(first->getIndexOperand());
    auto *next = dyn_cast<ConstantInt>(second->getIndexOperand());
    return at && next && at->isZero() && next->isOne() ? first->getVectorOperand()
                                                       : nullptr;
  }

  /// One vector of all elements; pairs are joined as they are.
  static Value *join(IRBuilder<> &builder, ArrayRef<Value *> list) {
    SmallVector<Value *, 8> pairs;
    for (unsigned i = 0; i + 1 < list.size(); i += 2)
      if (Value *pair = commonPair(list[i], list[i + 1]))
        pairs.push_back(pair);
    if (!pairs.empty() && pairs.size() * 2 == list.size())
      return concatenateVectors(builder, pairs);
    Value *whole = PoisonValue::get(FixedVectorType::get(list[0]->getType(), list.size()));
    for (auto [i, element] : enumerate(list))
      whole = builder.CreateInsertElement(whole, element, uint64_t(i));
    return whole;
  }

  /// Builds a vector before each user that stays: stores, calls, returns.
  void replaceUses() {
    SmallPtrSet<Instruction *, 32> gone(replaced.begin(), replaced.end());
    for (Instruction *vector : replaced) {
      if (!vectorType(vector))
        continue;
      for (Use &use : make_early_inc_range(vector->uses())) {
        auto *user = cast<Instruction>(use.getUser());
        if (gone.contains(user))
          continue;
        auto *phi = dyn_cast<PHINode>(user); // in a block that is never reached
        IRBuilder<> builder(phi ? phi->getIncomingBlock(use)->getTerminator() : user);
        use.set(join(builder, elements[vector]));
      }
    }
  }

  Function &function;
  DenseMap<Value *, Elements> elements;
  /// Phis of vectors, and those of their elements or pairs.
  SmallVector<std::pair<PHINode *, SmallVector<PHINode *, 8>>, 8> phis;
  SmallVector<Instruction *, 64> replaced;
};

} // namespace

PreservedAnalyses tilec::ScalarizeVectors::run(Function &function,
                                               FunctionAnalysisManager &) {
  if (function.isDeclaration() || !Scalarizer(function).run())
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}
