//===- WarpGroupOperations.cpp - wgmma and setmaxnreg -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  calls of the tilec.wgmma helpers, named as in Atoms/WarpGroupCode.h.
// Out: marks, then values (WarpGroup.h), and findings: a product without a fence,
//      operands that are overwritten or not yet visible, warps that part.
//
// With t a thread of the group, w = t / 32, l = t % 32 (PTX ISA, wgmma fragments):
//
//   D register r (32 bits): row 16w + l/4 + 8*((r/2)%2), column 2*(l%4) + r%2 + 8*(r/4)
//   D register r (two f16): row 16w + l/4 + 8*(r%2), columns 2*(l%4) + {0, 1} + 8*(r/2)
//   A register r, element e of E = 32/bits: row 16w + l/4 + 8*(r%2),
//                                           k = E*(l%4) + e + 4E*(r/2)
//
// Operands in shared memory are found through descriptors (SharedOperand.h). They are
// read in chunks of 16 bytes by an agent of the warp group, whose step is the number of
// the group of products: who waits for the group knows the step.
//
//===--------------------------------------------------------------------------===//
#include "HostOperations.h"
#include "MatrixElements.h"
#include "SharedOperand.h"
#include "WarpGroup.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cstring>

using namespace tilec;
using namespace tilec::emulator;

//===--- forms --------------------------------------------------------------------===//

uint32_t ProductForm::pack() const {
  return n / 8 | aType << 6 | bType << 9 | accType << 12 | uint32_t(aInRegisters) << 14 |
         uint32_t(transposeA) << 15 | uint32_t(transposeB) << 16;
}

ProductForm ProductForm::unpack(uint32_t v) {
  ProductForm form;
  form.n = (v & 63) * 8;
  form.aType = v >> 6 & 7;
  form.bType = v >> 9 & 7;
  form.accType = v >> 12 & 3;
  form.aInRegisters = v >> 14 & 1;
  form.transposeA = v >> 15 & 1;
  form.transposeB = v >> 16 & 1;
  form.k = 256 / bitsOf(Element(form.aType));
  return form;
}

static std::optional<uint32_t> parseElement(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<uint32_t>>(name)
      .Case("f16", F16)
      .Case("bf16", BF16)
      .Case("tf32", TF32)
      .Case("s8", S8)
      .Case("u8", U8)
      .Case("e4m3", E4M3)
      .Case("e5m2", E5M2)
      .Default(std::nullopt);
}

/// Of "tilec.wgmma.m64n128k16.f32.bf16.bf16.ss.ta.tb".
static std::optional<uint32_t> parseProduct(llvm::StringRef name) {
  if (!name.consume_front("tilec.wgmma.m64n"))
    return std::nullopt;
  ProductForm form{};
  if (name.consumeInteger(10, form.n) || !name.consume_front("k") ||
      name.consumeInteger(10, form.k) || !name.consume_front("."))
    return std::nullopt;
  llvm::SmallVector<llvm::StringRef, 6> words;
  name.split(words, '.');
  if (words.size() < 4 || form.n % 8 || form.n == 0 || form.n > 256)
    return std::nullopt;
  form.accType = words[0] == "f32" ? 0 : words[0] == "f16" ? 1 : 2;
  auto a = parseElement(words[1]), b = parseElement(words[2]);
  if (!a || !b || (words[0] != "s32") != (form.accType != 2) ||
      (words[3] != "rs" && words[3] != "ss"))
    return std::nullopt;
  form.aType = *a;
  form.bType = *b;
  form.aInRegisters = words[3] == "rs";
  for (llvm::StringRef word : llvm::drop_begin(words, 4))
    (word == "ta" ? form.transposeA : form.transposeB) = true;
  if (form.k != 256 / bitsOf(Element(form.aType)) ||
      bitsOf(Element(form.aType)) != bitsOf(Element(form.bType)))
    return std::nullopt;
  return form.pack();
}

/// Of "tilec.wgmma.wait.1.f32x64.i32x4": the groups that may be open, and how many
/// registers pass through.
static std::optional<uint32_t> parseTied(llvm::StringRef name) {
  uint32_t pending = 0, registers = 0;
  if (name.consume_front("tilec.wgmma.wait.")) {
    if (name.consumeInteger(10, pending) || pending > 7)
      return std::nullopt;
  } else if (!name.consume_front("tilec.wgmma.fence")) {
    return std::nullopt;
  }
  while (!name.empty()) {
    uint32_t count = 0;
    if (!name.consume_front(".f32x") && !name.consume_front(".i32x"))
      return std::nullopt;
    if (name.consumeInteger(10, count))
      return std::nullopt;
    registers += count;
  }
  return pending | registers << 8;
}

//===--- the group ----------------------------------------------------------------===//

PendingAccumulator *WarpGroup::find(uint32_t id) {
  for (PendingAccumulator &accumulator : accumulators)
    if (accumulator.id % AccumulatorMark::numIds == id % AccumulatorMark::numIds)
      return &accumulator;
  return nullptr;
}

bool WarpGroup::isIssued(uint32_t group) const {
  for (const IssuedProduct &product : products)
    if (product.group <= group && product.parts != 15)
      return false;
  // A warp that is behind may yet issue products of the group.
  for (const Warp &warp : warps)
    if (warp.openGroup <= group)
      return false;
  return true;
}

namespace {

WarpGroup &groupOf(ThreadContext &thread) {
  return thread.block->warpGroups[thread.linear / 128];
}
WarpGroup::Warp &warpOf(ThreadContext &thread) {
  return groupOf(thread).warps[thread.warp % 4];
}

void report(const ThreadContext &thread, FindingKind kind, std::string text) {
  thread.block->find(thread, kind, std::move(text));
}

/// All 32 lanes at one place, in a group of four whole warps; reports otherwise.
bool isWhole(Block &block, ThreadContext *lanes, uint32_t mask) {
  if (mask != ~0u) {
    ThreadContext &lane = lanes[__builtin_ctz(mask)];
    report(lane, FindingKind::DivergentBarrier,
           std::string(lane.operation.name) + " needs all 32 lanes of the warp");
    return false;
  }
  for (unsigned lane = 1; lane < 32; ++lane)
    if (lanes[lane].site != lanes[0].site) {
      report(lanes[lane], FindingKind::DivergentBarrier,
             std::string(lanes[0].operation.name) +
                 " is executed by the lanes of a warp at different places");
      break;
    }
  if ((lanes[0].linear / 128 + 1) * 128 > block.numThreads) {
    report(lanes[0], FindingKind::HelperMisuse,
           std::string(lanes[0].operation.name) +
               " needs a warp group: four warps, the first with a number that is a "
               "multiple of 4");
    return false;
  }
  return true;
}

//===--- one product ------------------------------------------------------------------===//

/// The matrices of one product.
template <typename Value> struct Product {
  alignas(32) Value a[64][32], b[32][256], c[64][256];

  void multiply(const ProductForm &form) {
    for (unsigned i = 0; i < 64; ++i)
      for (unsigned k = 0; k < form.k; ++k)
        for (unsigned j = 0; j < form.n; ++j)
          c[i][j] += a[i][k] * b[k][j];
  }
};

class ProductRun {
public:
  ProductRun(Block &block, uint32_t group, const IssuedProduct &product)
      : block(block), group(group), product(product),
        form(ProductForm::unpack(product.variant)),
        issuer(block.threads[group * 128]) {}

  void run() {
    if (form.accType == 2)
      compute<int32_t>(integerElement);
    else
      compute<float>(floatElement);
  }

private:
  template <typename Value>
  void compute(Value (*decode)(Element, uint32_t, unsigned)) {
    static thread_local Product<Value> matrices;
    if (form.aInRegisters)
      readRegisters(matrices, decode);
    else
      readShared(product.a, Element(form.aType), 64, form.transposeA, decode,
                 [&](unsigned i, unsigned k, Value v) { matrices.a[i][k] = v; });
    readShared(product.b, Element(form.bType), form.n, form.transposeB, decode,
               [&](unsigned i, unsigned k, Value v) { matrices.b[k][i] = v; });
    PendingAccumulator &acc = *block.warpGroups[group].find(product.accumulator);
    forEachElement([&](unsigned t, unsigned reg, unsigned half, unsigned row, unsigned col) {
      matrices.c[row][col] =
          product.accumulates ? loadAccumulator<Value>(acc.of(t)[reg], half) : Value(0);
    });
    matrices.multiply(form);
    forEachElement([&](unsigned t, unsigned reg, unsigned half, unsigned row, unsigned col) {
      storeAccumulator(acc.of(t)[reg], half, matrices.c[row][col]);
    });
  }

  /// Calls function(thread, register, half, row, column) for the accumulators.
  template <typename Function> void forEachElement(Function function) const {
    bool isPacked = form.accType == 1;
    for (unsigned t = 0; t < 128; ++t) {
      unsigned row = 16 * (t / 32) + t % 32 / 4, column = 2 * (t % 4);
      for (unsigned r = 0; r < form.n / 2; ++r)
        function(t, isPacked ? r / 2 : r, isPacked ? r % 2 : 0, row + 8 * (r / 2 % 2),
                 column + r % 2 + 8 * (r / 4));
    }
  }

  template <typename Value> Value loadAccumulator(uint32_t word, unsigned half) const {
    if (form.accType == 1)
      return Value(halfToFloat(uint16_t(word >> (16 * half))));
    return std::bit_cast<Value>(word);
  }
  template <typename Value>
  void storeAccumulator(uint32_t &word, unsigned half, Value value) const {
    if (form.accType == 1)
      word = (word & ~(0xFFFFu << (16 * half))) |
             uint32_t(floatToHalf(float(value))) << (16 * half);
    else
      word = std::bit_cast<uint32_t>(value);
  }

  template <typename Value>
  void readRegisters(Product<Value> &matrices,
                     Value (*decode)(Element, uint32_t, unsigned)) const {
    unsigned perRegister = 32 / bitsOf(Element(form.aType));
    for (unsigned t = 0; t < 128; ++t)
      for (unsigned r = 0; r < 4; ++r)
        for (unsigned e = 0; e < perRegister; ++e)
          matrices.a[16 * (t / 32) + t % 32 / 4 + 8 * (r % 2)]
                    [perRegister * (t % 4) + e + 4 * perRegister * (r / 2)] =
              decode(Element(form.aType), product.aWords[t * 4 + r], e);
  }

  /// Calls set(i, k, value) for the elements of an operand with \p count rows.
  template <typename Value, typename Set>
  void readShared(uint64_t descriptor, Element element, unsigned count, bool isTransposed,
                  Value (*decode)(Element, uint32_t, unsigned), Set set) {
    SharedOperand operand = SharedOperand::ofWarpGroup(descriptor, !isTransposed, block.shared);
    unsigned perWord = 32 / bitsOf(element), perChunk = 4 * perWord;
    unsigned outer = isTransposed ? count / 8 : count;
    unsigned inner = isTransposed ? form.k : form.k / perChunk;
    for (unsigned i = 0; i < outer; ++i)
      for (unsigned c = 0; c < inner; ++c) {
        uint32_t words[4] = {};
        readChunk(operand.chunk(i, c), words);
        for (unsigned e = 0; e < perChunk; ++e) {
          Value value = decode(element, words[e / perWord], e % perWord);
          if (isTransposed)
            set(i * 8 + e, c, value);
          else
            set(i, c * perChunk + e, value);
        }
      }
  }

  void readChunk(const char *address, uint32_t *words) {
    AsyncAgent agent{block.productSlot(group), product.group, &product.clock,
                     &product.fenced};
    uint32_t site = issuer.site;
    issuer.site = product.site;
    if (checkShared(issuer, address, 16, 16, AccessKind::Read, &agent))
      std::memcpy(words, address, 16);
    issuer.site = site;
  }

  Block &block;
  uint32_t group;
  const IssuedProduct &product;
  ProductForm form;
  ThreadContext &issuer;
};

/// Computes the oldest products: those that have all parts, up to group \p last.
void computeProducts(Block &block, uint32_t index, uint32_t last) {
  WarpGroup &group = block.warpGroups[index];
  while (!group.products.empty() && group.products.front().parts == 15 &&
         group.products.front().group <= last) {
    ProductRun(block, index, group.products.front()).run();
    group.products.pop_front();
    ++group.numComputed;
  }
}

//===--- issuing ------------------------------------------------------------------===//

/// The arguments of a lane, which come one after the other: accumulators, a, b, flag.
struct ProductArguments {
  const uint32_t *acc;
  const char *rest;
  uint32_t *result;

  uint64_t word64(unsigned at) const {
    uint64_t value;
    std::memcpy(&value, rest + at, 8);
    return value;
  }
};

ProductArguments &argumentsOf(ThreadContext &lane) {
  return *static_cast<ProductArguments *>(lane.operation.payload);
}

/// The accumulator that all lanes' marks stand for, if there is one.
std::optional<uint32_t> continuedAccumulator(WarpGroup &group, ThreadContext *lanes,
                                             uint32_t registers) {
  uint32_t first = argumentsOf(lanes[0]).acc[0];
  if (!AccumulatorMark::isMark(first))
    return std::nullopt;
  uint32_t id = AccumulatorMark::idOf(first);
  PendingAccumulator *acc = group.find(id);
  if (!acc || acc->registers != registers)
    return std::nullopt;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < registers; ++r)
      if (argumentsOf(lanes[lane]).acc[r] != AccumulatorMark::make(id, r))
        return std::nullopt;
  return acc->id;
}

bool holdsMark(WarpGroup &group, ThreadContext *lanes, uint32_t registers) {
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < registers; ++r) {
      uint32_t word = argumentsOf(lanes[lane]).acc[r];
      if (AccumulatorMark::isMark(word) && group.find(AccumulatorMark::idOf(word)))
        return true;
    }
  return false;
}

/// The product that a warp's next part belongs to; new when it is the first to come.
IssuedProduct &productOf(Block &block, WarpGroup &group, WarpGroup::Warp &warp,
                         const IssuedProduct &own, ThreadContext &lane) {
  uint64_t index = warp.numIssued++ - group.numComputed;
  if (index == group.products.size()) {
    group.products.push_back(own);
    IssuedProduct &product = group.products.back();
    product.aWords.resize(512);
    return product;
  }
  IssuedProduct &product = group.products[index];
  if (product.variant != own.variant || product.b != own.b || product.a != own.a ||
      product.group != own.group || product.accumulates != own.accumulates ||
      product.accumulator != own.accumulator)
    report(lane, FindingKind::DivergentBarrier,
           "the warps of a group issue different products, here and at " +
               block.launch.log->site(product.site).place());
  return product;
}

PendingAccumulator &accumulatorFor(WarpGroup &group, uint32_t id, uint32_t registers) {
  for (PendingAccumulator &acc : group.accumulators)
    if (acc.id == id)
      return acc;
  // Marks of old accumulators may still be passed to a wait, but not for ever.
  constexpr size_t mostKept = 32;
  auto isInUse = [&](const PendingAccumulator &acc) {
    return llvm::any_of(group.products, [&](const IssuedProduct &product) {
      return product.accumulator == acc.id;
    });
  };
  if (group.accumulators.size() >= mostKept && !isInUse(group.accumulators.front()))
    group.accumulators.pop_front();
  PendingAccumulator &acc = group.accumulators.emplace_back();
  acc.id = id;
  acc.registers = registers;
  acc.words.resize(128 * registers);
  return acc;
}

void checkFence(ThreadContext &lane, const WarpGroup::Warp &warp, const ProductForm &form,
                bool continues) {
  // Only an accumulator that stays in the hands of products of one shape needs none.
  if (warp.isFenced || (continues && !form.aInRegisters))
    return;
  report(lane, FindingKind::HelperMisuse,
         "wgmma uses registers without a wgmma.fence since the warp could last change them");
}

void completeProduct(Block &block, ThreadContext *lanes, uint32_t mask) {
  if (!isWhole(block, lanes, mask))
    return;
  ThreadContext &first = lanes[0];
  WarpGroup &group = groupOf(first);
  WarpGroup::Warp &warp = warpOf(first);
  ProductForm form = ProductForm::unpack(first.operation.variant);
  uint32_t registers = form.accRegisters();
  unsigned sizeOfA = form.aInRegisters ? 16 : 8;

  IssuedProduct own;
  own.variant = first.operation.variant;
  own.group = warp.openGroup;
  own.site = first.site;
  own.b = argumentsOf(first).word64(sizeOfA);
  own.a = form.aInRegisters ? 0 : argumentsOf(first).word64(0);
  own.accumulates = argumentsOf(first).rest[sizeOfA + 8] & 1;
  auto continued = continuedAccumulator(group, lanes, registers);
  if (!continued && own.accumulates && holdsMark(group, lanes, registers))
    report(first, FindingKind::HelperMisuse,
           "wgmma takes accumulators of products that it does not continue and nobody "
           "has waited for");
  // Without an accumulator to add to, whatever the arguments held is forgotten.
  bool extends = continued && own.accumulates;
  own.accumulator = extends ? *continued : uint32_t(warp.numIssued);
  checkFence(first, warp, form, continued.has_value());
  for (unsigned lane = 1; lane < 32; ++lane) {
    const ProductArguments &other = argumentsOf(lanes[lane]);
    bool isEqual = other.word64(sizeOfA) == own.b &&
                   (form.aInRegisters || other.word64(0) == own.a) &&
                   bool(other.rest[sizeOfA + 8] & 1) == own.accumulates;
    if (!isEqual)
      report(lanes[lane], FindingKind::HelperMisuse,
             "the lanes of a warp give different descriptors or scales to wgmma");
  }
  if (!SharedOperand::isValidForWarpGroup(own.a) || !SharedOperand::isValidForWarpGroup(own.b))
    report(first, FindingKind::HelperMisuse,
           "a descriptor of wgmma has bits outside of its fields, or a base offset");

  PendingAccumulator &acc = accumulatorFor(group, own.accumulator, registers);
  acc.lastGroup = own.group;
  IssuedProduct &product = productOf(block, group, warp, own, first);
  for (unsigned lane = 0; lane < 32; ++lane) {
    ThreadContext &t = lanes[lane];
    ProductArguments &arguments = argumentsOf(t);
    unsigned inGroup = t.linear % 128;
    if (own.accumulates && !extends)
      std::memcpy(acc.of(inGroup), arguments.acc, 4 * registers);
    if (form.aInRegisters)
      std::memcpy(&product.aWords[inGroup * 4], arguments.rest, 16);
    if (block.checks()) {
      // The product is of all threads: it may rely on what every one of them knows.
      bool isFirst = product.parts == 0 && lane == 0;
      if (isFirst) {
        product.clock = t.clock;
        product.fenced = t.fencedForAsync;
      }
      product.clock.meet(t.clock);
      product.fenced.meet(t.fencedForAsync);
    }
    for (unsigned r = 0; r < registers; ++r)
      arguments.result[r] = AccumulatorMark::make(own.accumulator, r);
  }
  product.parts |= 1u << (first.warp % 4);
  if (product.parts != 15)
    return;
  for (ThreadContext *waiter : group.waiters)
    block.makeRunnable(waiter);
  group.waiters.clear();
  if (block.launch.seed && (block.cluster.scheduler.random() & 1))
    computeProducts(block, first.linear / 128, own.group);
}

void multiply(ThreadContext &thread, const void *arguments, void *result,
              uint32_t variant) {
  ProductForm form = ProductForm::unpack(variant);
  uint32_t registers = form.accRegisters();
  auto *bytes = static_cast<const char *>(arguments);
  uint32_t afterAcc = 4 * registers;
  if (!form.aInRegisters)
    afterAcc = (afterAcc + 7) & ~7u; // a descriptor, at a multiple of 8
  // Four registers of a; the descriptor behind them is at a multiple of 8, as
  // accumulators come in pairs.
  ProductArguments own{static_cast<const uint32_t *>(arguments), bytes + afterAcc,
                       static_cast<uint32_t *>(result)};
  thread.block->warpOperation(&thread, {"wgmma", variant, ~0u, &own, completeProduct});
}

//===--- fences, groups, waits --------------------------------------------------------===//

void completeFence(Block &block, ThreadContext *lanes, uint32_t mask) {
  if (isWhole(block, lanes, mask))
    warpOf(lanes[0]).isFenced = true;
}

void fence(ThreadContext &thread, const void *arguments, void *result, uint32_t variant) {
  uint32_t registers = variant >> 8;
  thread.block->warpOperation(&thread,
                              {"wgmma.fence", variant, ~0u, nullptr, completeFence});
  if (registers)
    std::memcpy(result, arguments, 4 * registers);
}

void completeCommit(Block &block, ThreadContext *lanes, uint32_t mask) {
  if (!isWhole(block, lanes, mask))
    return;
  ++warpOf(lanes[0]).openGroup;
  WarpGroup &group = groupOf(lanes[0]);
  for (ThreadContext *waiter : group.waiters)
    block.makeRunnable(waiter);
  group.waiters.clear();
}

void commit(ThreadContext &thread, const void *, void *, uint32_t) {
  thread.block->warpOperation(&thread,
                              {"wgmma.commit_group", 0, ~0u, nullptr, completeCommit});
}

void completeWait(Block &block, ThreadContext *lanes, uint32_t mask) {
  if (isWhole(block, lanes, mask))
    warpOf(lanes[0]).isFenced = false;
}

void wait(ThreadContext &thread, const void *arguments, void *result, uint32_t variant) {
  Block &block = *thread.block;
  uint32_t pending = variant & 255, registers = variant >> 8;
  block.warpOperation(&thread, {"wgmma.wait_group", variant, ~0u, nullptr, completeWait});
  if ((thread.linear / 128 + 1) * 128 > block.numThreads)
    return; // reported
  WarpGroup &group = groupOf(thread);
  uint32_t committed = warpOf(thread).openGroup - 1;
  uint32_t last = committed > pending ? committed - pending : 0;
  // The four warps' parts are one operation, so all must have been issued.
  while (!group.isIssued(last)) {
    group.waiters.push_back(&thread);
    block.wait(&thread, "wgmma.wait_group");
  }
  computeProducts(block, thread.linear / 128, last);
  if (block.checks() && last)
    thread.clock.raise(block.productSlot(thread.linear / 128), last);
  auto *in = static_cast<const uint32_t *>(arguments);
  auto *out = static_cast<uint32_t *>(result);
  for (uint32_t r = 0; r < registers; ++r) {
    out[r] = in[r];
    if (!AccumulatorMark::isMark(in[r]))
      continue;
    PendingAccumulator *acc = group.find(AccumulatorMark::idOf(in[r]));
    if (acc && acc->lastGroup <= last && AccumulatorMark::registerOf(in[r]) < acc->registers)
      out[r] = acc->of(thread.linear % 128)[AccumulatorMark::registerOf(in[r])];
  }
}

void waitUntied(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  wait(thread, nullptr, nullptr, uint32_t(as<uint64_t>(arguments)));
}

//===--- setmaxnreg -----------------------------------------------------------------===//

void completeRegisters(Block &block, ThreadContext *lanes, uint32_t mask) {
  if (!isWhole(block, lanes, mask))
    return;
  WarpGroup &group = groupOf(lanes[0]);
  WarpGroup::Warp &warp = warpOf(lanes[0]);
  uint32_t count = lanes[0].operation.variant;
  if (count % 8 != 0 || count < 24 || count > 256)
    report(lanes[0], FindingKind::HelperMisuse,
           "setmaxnreg asks for " + std::to_string(count) +
               " registers, not a multiple of 8 from 24 to 256");
  uint32_t index = warp.numRegisterChanges++;
  if (index == group.registerChanges.size())
    group.registerChanges.push_back(count);
  else if (group.registerChanges[index] != count)
    report(lanes[0], FindingKind::DivergentBarrier,
           "the warps of a group ask for different numbers of registers");
}

void setRegisters(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  thread.block->warpOperation(
      &thread, {"setmaxnreg", as<uint32_t>(arguments), ~0u, nullptr, completeRegisters});
}

/// Warp groups ask for registers out of those that the block was launched with: at most the
/// file's share of each thread, a multiple of 8. More are waited for for ever.
void checkRegisterPool(Block &block) {
  constexpr uint32_t file = 65536, most = 256, groupThreads = 128;
  uint32_t launched = std::min(file / block.numThreads / 8 * 8, most) * block.numThreads;
  uint32_t wanted = 0;
  for (const WarpGroup &group : block.warpGroups)
    if (!group.registerChanges.empty())
      wanted += group.registerChanges.back() * groupThreads;
  if (wanted > launched)
    block.find(block.threads[0], FindingKind::HelperMisuse,
               "setmaxnreg asks for " + std::to_string(wanted) + " registers in all, of " +
                   std::to_string(launched) + " that the block is launched with");
}

} // namespace

void tilec::emulator::reportUnfinishedProducts(Block &block) {
  checkRegisterPool(block);
  reportUnfinishedTensorMemory(block);
  for (uint32_t index = 0; index < block.warpGroups.size(); ++index) {
    WarpGroup &group = block.warpGroups[index];
    const ThreadContext &thread = block.threads[index * 128];
    for (const IssuedProduct &product : group.products)
      if (product.parts != 15) {
        block.launch.log->add(FindingKind::DivergentBarrier, product.site, 0, block.tag - 1,
                              thread.linear,
                              "a wgmma is issued by some warps of its group only");
        break;
      }
    // What is left was never waited for; that it reads its operands may be a race.
    if (!group.products.empty() && group.products.front().parts == 15) {
      block.launch.log->add(FindingKind::HelperMisuse, group.products.front().site, 0,
                            block.tag - 1, thread.linear,
                            "a wgmma is still in flight when its block leaves the kernel");
      computeProducts(block, index, ~0u);
    }
    for (const WarpGroup::Warp &warp : group.warps)
      if (warp.numRegisterChanges != group.registerChanges.size()) {
        block.find(thread, FindingKind::DivergentBarrier,
                   "setmaxnreg is executed by some warps of its group only");
        break;
      }
  }
}

/// A value that generated code uses: not the mark of one that is still to come.
void tilec::emulator::checkAvailable(ThreadContext *thread, uint32_t word, uint32_t site) {
  if (LoadMark::isMark(word))
    return checkLoaded(*thread, word, site);
  if (!AccumulatorMark::isMark(word) || (thread->linear / 128 + 1) * 128 > thread->block->numThreads)
    return;
  PendingAccumulator *acc = groupOf(*thread).find(AccumulatorMark::idOf(word));
  if (!acc || AccumulatorMark::registerOf(word) >= acc->registers)
    return;
  thread->site = site;
  report(*thread, FindingKind::HelperMisuse,
         "reads an accumulator of wgmma before a wait for its group has returned it");
}

llvm::ArrayRef<OperationEntry> tilec::emulator::warpGroupOperations() {
  static const OperationEntry entries[] = {
      {"tilec.wgmma.m64*", multiply, 0, parseProduct},
      {"tilec.wgmma.fence", fence},
      {"tilec.wgmma.fence.*", fence, 0, parseTied},
      {"tilec.wgmma.commit", commit},
      {"tilec.wgmma.wait.*", wait, 0, parseTied},
      {"llvm.nvvm.wgmma.fence.sync.aligned", fence},
      {"llvm.nvvm.wgmma.commit_group.sync.aligned", commit},
      {"llvm.nvvm.wgmma.wait_group.sync.aligned", waitUntied},
      {"llvm.nvvm.setmaxnreg.inc.sync.aligned.u32", setRegisters},
      {"llvm.nvvm.setmaxnreg.dec.sync.aligned.u32", setRegisters},
  };
  return entries;
}
