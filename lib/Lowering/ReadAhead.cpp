//===- ReadAhead.cpp - fragments of the next iteration ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: loops whose iterations wait for asynchronous copies, meet, read fragments and multiply.
// Out: the same loops, in which the wait, the meeting and the first step's reads of the next
// iteration come before the last step's products of this one, so that products are under way
// while threads meet and the first fragments arrive. What the first step multiplies is there
// when an iteration begins, so copies come before it instead of behind all products:
//
//                                    wait   barrier   %f = read 0
//   for {                            for iter_args(%a0 = %f) {
//     wait   barrier                   %a1 = read 1   copies
//     %a0 = read 0   %a1 = read 1  →   multiply %a0
//     multiply %a0   %a2 = read 2      %a2 = read 2   multiply %a1
//     multiply %a1   %a3 = read 3      %a3 = read 3   multiply %a2
//     multiply %a2   multiply %a3      wait   barrier   %next = read 0
//     copies }                         multiply %a3   yield %next }
//
// Behind the last iteration the place that comes next is waited for and read once more, for
// nothing: copies that have nothing to copy write zeros there (RingsCpAsync.cpp).
//
// A loop stays as it is where the first step reads more than two fragments of 64 rows or columns
// have: registers would not do (f64, and operands that threads convert as a whole).
//
//===------------------------------------------------------------------------===//
#include "tilec/Lowering/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/ADT/SetVector.h"

#include <numeric>

namespace tilec {
#define GEN_PASS_DEF_READAHEAD
#include "tilec/Lowering/Passes.h.inc"
} // namespace tilec

using namespace mlir;

static constexpr unsigned sharedSpace = 3;

/// What a thread may carry from one iteration to the next.
static constexpr unsigned mostCarriedBits = 32 * 32;

static bool isProduct(Operation *op) {
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  return call && call.getIntrin().starts_with("llvm.nvvm.mma.");
}

static unsigned addressSpace(Value pointer) {
  return cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
}

static bool isSharedRead(Operation *op) {
  auto load = dyn_cast<LLVM::LoadOp>(op);
  return isa<NVVM::LdMatrixOp>(op) || (load && addressSpace(load.getAddr()) == sharedSpace);
}

/// The thread's variable that `op` reads or writes, or null.
static Value variableOf(Operation *op) {
  Value address;
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    address = load.getAddr();
  else if (auto store = dyn_cast<LLVM::StoreOp>(op))
    address = store.getAddr();
  return address && address.getDefiningOp<LLVM::AllocaOp>() ? address : Value();
}

/// Of what a read gives.
static unsigned bitsOf(Type type) {
  if (auto parts = dyn_cast<LLVM::LLVMStructType>(type))
    return std::accumulate(parts.getBody().begin(), parts.getBody().end(), 0u,
                           [](unsigned sum, Type part) { return sum + bitsOf(part); });
  auto vector = dyn_cast<VectorType>(type);
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth() *
         unsigned(vector ? vector.getNumElements() : 1);
}

/// The element of a tile's part, or itself.
static unsigned elementBits(Type type) {
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth();
}

/// Bytes of which no word is made: what threads convert to a wider type is taken apart by words
/// (PackFields), which only pairs of bytes and whole words are when a loop carries them.
static bool isOfOddBytes(Operation *read) {
  Type type = read->getResult(0).getType();
  return isa<LLVM::LoadOp>(read) && elementBits(type) == 8 && bitsOf(type) != 16 && bitsOf(type) % 32;
}

/// What a loop carries of `value`: of what is read from shared memory, words, which the optimiser does not follow back
/// to where they come from. It would load them in front of their use instead, behind the products that
/// loads are to run beside, and take bytes one by one. The moves cost nothing in the machine code.
static SmallVector<Value> pack(OpBuilder &builder, Value value) {
  Type type = value.getType(), word = builder.getI32Type();
  auto load = value.getDefiningOp<LLVM::LoadOp>();
  if (!load || !isSharedRead(load) || elementBits(type) > 32 ||
      (bitsOf(type) != 16 && bitsOf(type) % 32))
    return {value};
  Location loc = value.getLoc();
  auto move = [&](Value bits) {
    return LLVM::CallIntrinsicOp::create(builder, loc, word,
                                         builder.getStringAttr("llvm.nvvm.move.i32"), bits)
        .getResult(0);
  };
  if (bitsOf(type) == 16) {
    value = LLVM::BitcastOp::create(builder, loc, builder.getI16Type(), value);
    return {move(LLVM::ZExtOp::create(builder, loc, word, value))};
  }
  if (bitsOf(type) == 32)
    return {move(LLVM::BitcastOp::create(builder, loc, word, value))};
  value = LLVM::BitcastOp::create(builder, loc, VectorType::get(bitsOf(type) / 32, word), value);
  auto words = vector::ToElementsOp::create(builder, loc, value);
  return llvm::map_to_vector(words.getResults(), move);
}

/// The other way round: the value of `type` that is carried as `words`.
static Value unpack(OpBuilder &builder, ValueRange words, Type type) {
  Location loc = words.front().getLoc();
  if (words.front().getType() == type)
    return words.front();
  if (bitsOf(type) == 16) {
    Value half = LLVM::TruncOp::create(builder, loc, builder.getI16Type(), words.front());
    return LLVM::BitcastOp::create(builder, loc, type, half);
  }
  if (words.size() == 1)
    return LLVM::BitcastOp::create(builder, loc, type, words.front());
  auto whole = cast<VectorType>(type);
  SmallVector<Value> elements;
  for (Value word : words) {
    auto part = VectorType::get(32 / elementBits(type), whole.getElementType());
    word = LLVM::BitcastOp::create(builder, loc, part, word);
    llvm::append_range(elements, vector::ToElementsOp::create(builder, loc, word).getResults());
  }
  return vector::FromElementsOp::create(builder, loc, whole, elements);
}

static bool isCopy(Operation *op) {
  return isa<NVVM::CpAsyncOp, NVVM::CpAsyncCommitGroupOp>(op);
}

/// `op` reads a variable that the loop's body writes before it.
static bool isWrittenBefore(Operation *op) {
  Value variable = variableOf(op);
  return variable && llvm::any_of(variable.getUsers(), [&](Operation *user) {
           return isa<LLVM::StoreOp>(user) && user->getBlock() == op->getBlock() &&
                  user->isBeforeInBlock(op);
         });
}

using Operations = llvm::SetVector<Operation *>;

/// Adds the operations of `body` that `ops` need.
static void addNeeded(Operations &ops, Block *body) {
  for (unsigned i = 0; i < ops.size(); ++i)
    for (Value operand : ops[i]->getOperands())
      if (Operation *from = operand.getDefiningOp(); from && from->getBlock() == body)
        ops.insert(from);
}

namespace {

/// One loop, and what becomes of its operations.
class Rotation {
public:
  explicit Rotation(scf::ForOp loop) : loop(loop), body(loop.getBody()) {}

  /// Finds what moves; false where the loop has another form.
  bool find() {
    return findMeeting() && findSteps() && findFirstReads() && findLastProducts();
  }
  void rotate();

private:
  bool findMeeting();
  bool findSteps();
  bool findFirstReads();
  bool findLastProducts();
  void moveCopies();

  scf::ForOp loop;
  Block *body;
  Operation *wait = nullptr, *barrier = nullptr, *firstProduct = nullptr;
  /// The most products that follow from each other up to this operation, with it.
  DenseMap<Operation *, unsigned> depths;
  unsigned deepest = 0;
  Operations first; ///< wait, barrier and the first step's reads, with what they need
  Operations last;  ///< the last step's products, and what follows from them
};

} // namespace

bool Rotation::findMeeting() {
  bool hasCopies = false;
  for (Operation &op : body->without_terminator()) {
    if (isa<NVVM::CpAsyncWaitGroupOp>(op)) {
      if (wait || hasCopies)
        return false;
      wait = &op;
    } else if (isa<NVVM::Barrier0Op, NVVM::BarrierOp>(op)) {
      if (barrier || !wait)
        return false;
      barrier = &op;
    } else if (isSharedRead(&op)) {
      if (!barrier)
        return false;
    } else if (isCopy(&op)) {
      hasCopies = true;
    } else if (op.getNumRegions() || (!isMemoryEffectFree(&op) && !isProduct(&op) && !variableOf(&op))) {
      return false;
    }
  }
  return barrier && hasCopies;
}

bool Rotation::findSteps() {
  for (Operation &op : body->without_terminator()) {
    unsigned depth = 0;
    for (Value operand : op.getOperands())
      if (Operation *from = operand.getDefiningOp())
        depth = std::max(depth, depths.lookup(from));
    if (isProduct(&op)) {
      ++depth;
      if (!firstProduct)
        firstProduct = &op;
    }
    depths[&op] = depth;
    deepest = std::max(deepest, depth);
  }
  return deepest > 1;
}

bool Rotation::findFirstReads() {
  Operations products, reads;
  for (Operation &op : body->without_terminator())
    if (isProduct(&op) && depths.lookup(&op) == 1)
      products.insert(&op);
  addNeeded(products, body);
  unsigned bits = 0;
  for (Operation *op : products)
    if (isSharedRead(op)) {
      if (isOfOddBytes(op))
        return false;
      reads.insert(op);
      bits += bitsOf(op->getResult(0).getType());
    }
  if (reads.empty() || bits > mostCarriedBits)
    return false;
  SmallVector<Operation *> parts;
  for (Operation *read : reads)
    for (Operation *user : read->getUsers())
      if (isa<LLVM::ExtractValueOp>(user))
        parts.push_back(user);
  addNeeded(reads, body);
  // What the ring has given counts for the reads behind the last iteration, too: nobody fills
  // that place until threads meet again.
  SmallVector<Operation *> counts;
  for (Operation *op : reads)
    if (Value variable = variableOf(op))
      for (Operation *user : variable.getUsers())
        if (isa<LLVM::StoreOp>(user) && user->getBlock() == body)
          counts.push_back(user);
  reads.insert(counts.begin(), counts.end());
  addNeeded(reads, body);
  reads.insert(parts.begin(), parts.end());
  reads.insert(wait);
  reads.insert(barrier);
  // Nothing of it may depend on the iteration but by what variables hold, or be wrong where
  // there is none.
  for (Operation *op : reads)
    if ((isa<LLVM::LoadOp>(op) && isWrittenBefore(op)) ||
        (isMemoryEffectFree(op) && !isPure(op)) ||
        llvm::any_of(op->getOperands(), [&](Value operand) {
          return isa<BlockArgument>(operand) && operand.getParentBlock() == body;
        }))
      return false;
  for (Operation &op : *body)
    if (reads.contains(&op))
      first.insert(&op);
  return true;
}

bool Rotation::findLastProducts() {
  for (Operation &op : body->without_terminator()) {
    bool isLast = isProduct(&op) && depths.lookup(&op) == deepest;
    for (Value operand : op.getOperands())
      isLast |= last.contains(operand.getDefiningOp());
    if (isLast && !isProduct(&op) && !isMemoryEffectFree(&op))
      return false;
    if (isLast)
      last.insert(&op);
  }
  return true;
}

/// Copies, and what they need, move from behind the products to before them.
void Rotation::moveCopies() {
  Operations copies;
  for (Operation &op : *body)
    if (isCopy(&op))
      copies.insert(&op);
  addNeeded(copies, body);
  if (llvm::any_of(copies, isWrittenBefore))
    return;
  SmallVector<Operation *> inOrder = copies.takeVector();
  llvm::sort(inOrder, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : inOrder)
    if (firstProduct->isBeforeInBlock(op))
      op->moveBefore(firstProduct);
}

/// Addresses are made again where they are needed; what is read is carried.
static bool isAddress(Operation *op) { return isPure(op) && !isa<LLVM::ExtractValueOp>(op); }

void Rotation::rotate() {
  IRRewriter rewriter(loop);
  IRMapping before;
  for (Operation *op : first)
    rewriter.clone(*op, before);
  moveCopies();
  auto isGone = [&](Operation *op) { return first.contains(op) && !isAddress(op); };
  SmallVector<Value> carried;
  for (Operation *op : first)
    for (Value result : op->getResults())
      if (isGone(op) && !llvm::all_of(result.getUsers(), isGone))
        carried.push_back(result);
  SmallVector<Value> initial;
  SmallVector<size_t> numWords;
  for (Value value : carried) {
    SmallVector<Value> words = pack(rewriter, before.lookup(value));
    numWords.push_back(words.size());
    initial.append(words);
  }
  auto rotateBody = [&](OpBuilder &builder, Location, ArrayRef<BlockArgument> arguments) {
    Operation *end = body->getTerminator();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(end);
    IRMapping next;
    for (Operation *op : first)
      builder.clone(*op, next);
    SmallVector<Value> results;
    for (Value value : carried)
      results.append(pack(builder, next.lookup(value)));
    builder.setInsertionPointToStart(body);
    SmallVector<Value> words(arguments.begin(), arguments.end());
    for (auto [value, count] : llvm::zip(carried, numWords)) {
      Value made = unpack(builder, ArrayRef(words).take_front(count), value.getType());
      value.replaceUsesWithIf(made, [&](OpOperand &use) { return !isGone(use.getOwner()); });
      words.erase(words.begin(), words.begin() + count);
    }
    for (Operation *op : last)
      op->moveBefore(end);
    for (Operation *op : llvm::reverse(first))
      if (!isAddress(op))
        op->erase();
    return results;
  };
  (void)loop.replaceWithAdditionalYields(rewriter, initial,
                                         /*replaceInitOperandUsesInLoop=*/false, rotateBody);
}

namespace {

struct ReadAhead : tilec::impl::ReadAheadBase<ReadAhead> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      if (!Rotation(loop).find())
        continue;
      // Addresses of the thread's own are no part of what is read.
      moveLoopInvariantCode(loop);
      Rotation rotation(loop);
      if (rotation.find())
        rotation.rotate();
    }
  }
};

} // namespace
