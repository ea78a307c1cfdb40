//===- JoinProducts.cpp - helpers of products, several in one --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: calls of the tilec.wgmma helpers, of which each hands its accumulators, up to 128
// registers, to the next. Out: one statement of inline PTX for as many as follow one
// another, with the same instructions in the same order.
//
//   %f = call {f32 × 64} @tilec.wgmma.fence.f32x64(f32 × 64 acc)
//   %1 = call {f32 × 64} @tilec.wgmma.m64n128k16…(f32 × 64 of %f, i64 a, i64 b, i1 true)
//   %2 = call {f32 × 64} @tilec.wgmma.m64n128k16…(f32 × 64 of %1, i64 a', i64 b', i1 true)
//   call void @tilec.wgmma.commit()
//     →
//   %2 = call {f32 × 64} asm "wgmma.fence…; wgmma… {$0, …}, $128, $129, $130, …;
//                             wgmma… {$0, …}, $131, $132, $130, …; wgmma.commit_group…;"
//
// For code generation each statement costs by its registers: they were half of the time that
// a kernel of products took to PTX. Scalars between the calls (descriptors) come before.
// A register that a fence alone touches, as the words of an a in registers, is read only.
//===----------------------------------------------------------------------===//

#include "tilec/Target/ExpandHelpers.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

/// A register that some calls of a group pass on.
struct Slot {
  Value *initial;
  char letter;               ///< of its constraint
  Value *current = nullptr;  ///< what the last call so far made of it, if anybody asks
  bool isWritten = false;    ///< not only fenced
  bool isUsedAfter = false;
  unsigned number = 0;       ///< of its operand in the joined text
};

/// One operand number of a call's text: a slot, or a value that is only read.
struct Place {
  int slot = -1;
  Value *input = nullptr;
  char letter = 0;
};

class Group {
public:
  /// `dead` gets the calls that have no users any more but what takes their results apart.
  explicit Group(SmallVectorImpl<CallInst *> &dead) : dead(dead) {}

  bool isEmpty() const { return calls.empty(); }
  void add(CallInst *call, const tilec::Helper &helper) {
    calls.push_back(call);
    helpers.push_back(helper);
  }
  bool has(const Value *value) const { return is_contained(calls, value); }

  /// True if an operand is what a call of the group gives.
  bool isUsedBy(const Instruction &instruction) const {
    return any_of(instruction.operands(), [&](const Use &use) {
      auto *part = dyn_cast<ExtractValueInst>(use.get());
      return has(use.get()) || (part && has(part->getAggregateOperand()));
    });
  }

  /// Puts one statement where the last call is, unless there is nothing to gain or a value
  /// would be needed that no register holds at the end.
  void join() {
    if (calls.size() > 1 && assignPlaces())
      write();
    clear();
  }

private:
  bool assignPlaces();
  bool assignPlaces(unsigned index);
  bool learnUses();
  int slotOf(Value *value, bool &isStale) const;
  void number();
  std::string joinedText() const;
  std::string joinedConstraints() const;
  void write();
  void clear();

  SmallVectorImpl<CallInst *> &dead;
  SmallVector<CallInst *> calls;
  SmallVector<tilec::Helper> helpers;
  SmallVector<SmallVector<Place>> places; ///< by call and operand number
  SmallVector<Slot> slots;
  DenseMap<Value *, unsigned> slotsByValue; ///< what calls gave, also before the last
  SmallVector<Value *> inputs;
  SmallVector<char> letters;
  DenseMap<Value *, unsigned> inputNumbers;
};

} // namespace

//===-- What goes where -------------------------------------------------------===//

/// The results of a call, by number; null where nobody asks. Nothing if one is not taken
/// out as a scalar.
static std::optional<SmallVector<SmallVector<Value *, 1>>> resultsOf(CallInst *call) {
  auto *all = dyn_cast<StructType>(call->getType());
  if (!all)
    return SmallVector<SmallVector<Value *, 1>>{{call}};
  SmallVector<SmallVector<Value *, 1>> results(all->getNumElements());
  for (User *user : call->users()) {
    auto *part = dyn_cast<ExtractValueInst>(user);
    if (!part || part->getNumIndices() != 1)
      return std::nullopt;
    results[part->getIndices().front()].push_back(part);
  }
  return results;
}

/// The slot that holds `value`, or -1 if it comes from outside.
int Group::slotOf(Value *value, bool &isStale) const {
  auto found = slotsByValue.find(value);
  if (found == slotsByValue.end())
    return -1;
  isStale |= slots[found->second].current != value;
  return int(found->second);
}

bool Group::assignPlaces(unsigned index) {
  CallInst *call = calls[index];
  SmallVector<StringRef> constraints;
  StringRef(helpers[index].constraints).split(constraints, ',', -1, /*KeepEmpty=*/false);
  auto results = resultsOf(call);
  if (!results)
    return false;
  bool isFence = helpers[index].name.starts_with("tilec.wgmma.fence"), isStale = false;
  unsigned numResults = count_if(constraints, [](StringRef c) { return c.front() == '='; });
  SmallVector<Place> &own = places.emplace_back(numResults);
  for (unsigned i = numResults; i < constraints.size(); ++i) {
    Value *value = call->getArgOperand(i - numResults);
    Place place;
    place.slot = slotOf(value, isStale);
    unsigned result;
    if (constraints[i].getAsInteger(10, result)) { // read only
      if (place.slot < 0)
        place.input = value, place.letter = constraints[i].front();
      own.push_back(place);
      continue;
    }
    if (place.slot < 0) {
      place.slot = int(slots.size());
      slots.push_back({value, constraints[result].back()});
    }
    own[result] = place;
    own.push_back(place);
  }
  for (unsigned result = 0; result < numResults; ++result) {
    if (own[result].slot < 0) // written without having been read
      return false;
    Slot &slot = slots[own[result].slot];
    slot.isWritten |= !isFence;
    if ((*results)[result].size() > 1)
      return false;
    slot.current = (*results)[result].empty() ? nullptr : (*results)[result].front();
    if (slot.current)
      slotsByValue[slot.current] = own[result].slot;
  }
  return !isStale;
}

/// Who asks for values behind the group; false if for one that has been overwritten.
bool Group::learnUses() {
  for (auto [value, index] : slotsByValue)
    for (User *user : value->users()) {
      if (has(user))
        continue;
      if (slots[index].current != value)
        return false;
      slots[index].isUsedAfter = true;
    }
  return true;
}

bool Group::assignPlaces() {
  for (unsigned index = 0; index < calls.size(); ++index)
    if (!assignPlaces(index))
      return false;
  return learnUses();
}

/// Slots that are results come first, then the same as inputs, then what is only read.
void Group::number() {
  unsigned numResults = 0;
  for (Slot &slot : slots)
    if (slot.isWritten || slot.isUsedAfter)
      slot.number = numResults++;
  auto addInput = [&](Value *value, char letter) {
    auto [it, isNew] = inputNumbers.try_emplace(value, 2 * numResults + unsigned(inputs.size()));
    if (isNew) {
      inputs.push_back(value);
      letters.push_back(letter);
    }
    return it->second;
  };
  for (Slot &slot : slots)
    if (!slot.isWritten && !slot.isUsedAfter)
      slot.number = addInput(slot.initial, slot.letter);
  for (ArrayRef<Place> own : places)
    for (const Place &place : own)
      if (place.input)
        addInput(place.input, place.letter);
}

//===-- The statement ---------------------------------------------------------===//

/// The texts one after the other, with their operands' new numbers.
std::string Group::joinedText() const {
  std::string result;
  for (auto [helper, own] : zip_equal(helpers, places)) {
    result += result.empty() ? "" : " ";
    for (StringRef rest = helper.text; !rest.empty();) {
      size_t at = std::min(rest.find('$'), rest.size());
      result += rest.take_front(at);
      rest = rest.drop_front(at);
      unsigned number = 0;
      if (!rest.consume_front("$") || rest.consumeInteger(10, number))
        continue;
      const Place &place = own[number];
      result += '$';
      result += std::to_string(place.input ? inputNumbers.lookup(place.input)
                                           : slots[place.slot].number);
    }
  }
  return result;
}

std::string Group::joinedConstraints() const {
  SmallVector<std::string> words;
  for (const Slot &slot : slots)
    if (slot.isWritten || slot.isUsedAfter)
      words.push_back(std::string("=") + slot.letter);
  for (unsigned index = 0, count = unsigned(words.size()); index < count; ++index)
    words.push_back(std::to_string(index));
  for (char letter : letters)
    words.emplace_back(1, letter);
  return llvm::join(words, ",");
}

void Group::write() {
  number();
  SmallVector<Value *> operands;
  SmallVector<Type *> results;
  SmallVector<Value *> finals;
  for (const Slot &slot : slots)
    if (slot.isWritten || slot.isUsedAfter) {
      operands.push_back(slot.initial);
      results.push_back(slot.initial->getType());
      finals.push_back(slot.isUsedAfter ? slot.current : nullptr);
    }
  append_range(operands, inputs);
  LLVMContext &context = calls.front()->getContext();
  Type *result = results.empty()       ? Type::getVoidTy(context)
                 : results.size() == 1 ? results.front()
                                       : StructType::get(context, results);
  SmallVector<Type *> types;
  for (Value *operand : operands)
    types.push_back(operand->getType());
  FunctionType *type = FunctionType::get(result, types, /*isVarArg=*/false);
  IRBuilder<> builder(calls.back());
  builder.SetCurrentDebugLocation(calls.front()->getDebugLoc());
  CallInst *joined = builder.CreateCall(
      type, InlineAsm::get(type, joinedText(), joinedConstraints(), /*hasSideEffects=*/true),
      operands);
  joined->setDoesNotThrow();
  joined->setConvergent();
  for (auto [index, value] : enumerate(finals))
    if (value)
      value->replaceAllUsesWith(results.size() == 1 ? joined
                                                    : builder.CreateExtractValue(joined, unsigned(index)));
  append_range(dead, calls);
}

void Group::clear() {
  calls.clear();
  helpers.clear();
  places.clear();
  slots.clear();
  slotsByValue.clear();
  inputs.clear();
  letters.clear();
  inputNumbers.clear();
}

//===-- Finding groups --------------------------------------------------------===//

/// Results are taken out where they are made: for each that is taken out elsewhere, code
/// generation would copy them all.
static void takeResultsOut(CallInst *call) {
  for (User *user : call->users())
    if (auto *part = dyn_cast<ExtractValueInst>(user); part && part->getParent() != call->getParent())
      part->moveAfter(call);
}

/// A phi of results that are taken apart behind it becomes one of each part. As a whole,
/// code generation would copy all parts for each that is taken out.
static void takeApart(PHINode &phi) {
  auto isCall = [](const Use &use) { return isa<CallInst>(use.get()); };
  auto isPart = [](const User *user) {
    auto *part = dyn_cast<ExtractValueInst>(user);
    return part && part->getNumIndices() == 1;
  };
  if (!phi.getType()->isStructTy() || !all_of(phi.incoming_values(), isCall) ||
      !all_of(phi.users(), isPart))
    return;
  SmallVector<PHINode *> parts(phi.getType()->getStructNumElements());
  for (User *user : make_early_inc_range(phi.users())) {
    auto *part = cast<ExtractValueInst>(user);
    PHINode *&own = parts[part->getIndices().front()];
    if (!own) {
      own = PHINode::Create(part->getType(), phi.getNumIncomingValues(), "", phi.getIterator());
      for (auto [value, block] : zip_equal(phi.incoming_values(), phi.blocks())) {
        IRBuilder<> builder(cast<Instruction>(value)->getNextNode());
        own->addIncoming(builder.CreateExtractValue(value, part->getIndices()), block);
      }
    }
    part->replaceAllUsesWith(own);
    part->eraseFromParent();
  }
  phi.eraseFromParent();
}

static void joinProducts(BasicBlock &block) {
  SmallVector<CallInst *> dead;
  Group group(dead);
  for (Instruction &instruction : block) {
    if (auto *call = dyn_cast<CallInst>(&instruction))
      if (Function *callee = call->getCalledFunction();
          callee && callee->getName().starts_with("tilec.wgmma."))
        if (auto helper = tilec::findHelper(*callee)) {
          takeResultsOut(call);
          group.add(call, *helper);
          continue;
        }
    auto *part = dyn_cast<ExtractValueInst>(&instruction);
    if (group.isEmpty() || (part && group.has(part->getAggregateOperand())))
      continue;
    if (instruction.mayHaveSideEffects() || instruction.mayReadFromMemory() ||
        instruction.isTerminator() || group.isUsedBy(instruction))
      group.join();
  }
  for (CallInst *call : reverse(dead)) {
    for (User *user : make_early_inc_range(call->users()))
      cast<Instruction>(user)->eraseFromParent();
    call->eraseFromParent();
  }
}

void tilec::joinProducts(Module &module) {
  for (Function &function : module) {
    for (BasicBlock &block : function)
      for (PHINode &phi : make_early_inc_range(block.phis()))
        takeApart(phi);
    for (BasicBlock &block : function)
      ::joinProducts(block);
  }
}
