//===- TensorProductOperations.cpp - tcgen05.mma and commit -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  tcgen05.mma of one block (cta_group::1), dense, both operands in shared memory; and
//      tcgen05.commit, which arrives at an mbarrier when the products so far are complete.
// Out: accumulators in tensor memory, and findings: descriptors that say nothing, operands
//      that are overwritten or not yet visible, accumulators that others still use.
//
// The instruction's descriptor (PTX ISA, "Instruction descriptor", table for .kind::tf32,
// .kind::f16, .kind::f8f6f4 and .kind::i8):
//
//   4–5    type of d: f16 0, f32 1, s32 2       13–14  negates a, b
//   7–9    type of a: f16 0, bf16 1; tf32 2;    15–16  a, b are transposed: MN-major
//          e4m3 0, e5m2 1; u8 0, s8 1           17–22  N / 8
//   10–12  type of b, likewise                  24–28  M / 16
//
// Row r of an accumulator is lane r when M is 128, lane 32*(r/16) + r%16 when it is 64
// (PTX ISA, "Data path layout organization"); column c is column c behind the address.
//
// A product is computed at its commit; under a seed, now and then, at once.
//
//===--------------------------------------------------------------------------===//
#include "HostOperations.h"
#include "MatrixElements.h"
#include "SharedOperand.h"

#include <bit>
#include <cstring>

using namespace tilec;
using namespace tilec::emulator;

namespace {

enum Kind : uint32_t { KindF16, KindTF32, KindF8, KindI8 };
enum Result : uint32_t { ResultF16, ResultF32, ResultS32 };

void misuse(ThreadContext &thread, std::string text) {
  thread.block->find(thread, FindingKind::HelperMisuse, std::move(text));
}

//===--- forms -----------------------------------------------------------------------===//

struct Form {
  uint32_t m, n, k, result;
  Element a, b;
  bool transposeA, transposeB;
};

std::optional<Element> elementOf(uint32_t kind, uint32_t code) {
  switch (kind) {
  case KindF16:
    return code == 0 ? std::optional(F16) : code == 1 ? std::optional(BF16) : std::nullopt;
  case KindTF32:
    return code == 2 ? std::optional(TF32) : std::nullopt;
  case KindF8:
    return code == 0 ? std::optional(E4M3) : code == 1 ? std::optional(E5M2) : std::nullopt;
  default:
    return code == 0 ? std::optional(U8) : code == 1 ? std::optional(S8) : std::nullopt;
  }
}

/// What kind and descriptor say; nothing where they say nothing that is emulated.
std::optional<Form> parseForm(uint32_t kind, uint32_t descriptor) {
  constexpr uint32_t unused = 0xE080604F; // reserved bits, sparsity, saturation, signs, shifts
  auto field = [&](unsigned low, unsigned bits) {
    return descriptor >> low & ((1u << bits) - 1);
  };
  auto a = elementOf(kind, field(7, 3)), b = elementOf(kind, field(10, 3));
  if ((descriptor & unused) || kind > KindI8 || !a || !b)
    return std::nullopt;
  Form form{field(24, 5) * 16, field(17, 6) * 8, 256 / bitsOf(*a), field(4, 2),
            *a, *b, bool(field(15, 1)), bool(field(16, 1))};
  bool isInteger = kind == KindI8;
  bool isResult = isInteger ? form.result == ResultS32
                            : form.result == ResultF32 ||
                                  (form.result == ResultF16 && kind == KindF16 && *a == F16);
  bool isShape = (form.m == 64 && form.n >= 8) ||
                 (form.m == 128 && form.n >= 16 && form.n % 16 == 0);
  // Of a kind, f16 and bf16 do not mix.
  bool areTypes = kind != KindF16 || *a == *b;
  // MN-major tf32 needs a swizzle that moves 32 bytes at a time.
  bool isOrder = kind != KindTF32 || (!form.transposeA && !form.transposeB);
  if (!isResult || !isShape || form.n > 256 || !areTypes || !isOrder)
    return std::nullopt;
  return form;
}

//===--- products ----------------------------------------------------------------------===//

/// The matrices of one product.
template <typename Value> struct Matrices {
  alignas(32) Value a[128][32], b[32][256], c[128][256];

  void multiply(const Form &form) {
    for (unsigned i = 0; i < form.m; ++i)
      for (unsigned k = 0; k < form.k; ++k)
        for (unsigned j = 0; j < form.n; ++j)
          c[i][j] += a[i][k] * b[k][j];
  }
};

class ProductRun {
public:
  ProductRun(Block &block, const TensorProduct &product)
      : block(block), product(product), form(*parseForm(product.kind, product.shape)),
        thread(*product.issuer) {}

  void run() {
    uint32_t site = thread.site;
    thread.site = product.site;
    if (form.result == ResultS32)
      compute<int32_t>(integerElement);
    else
      compute<float>(floatElement);
    thread.site = site;
  }

private:
  template <typename Value>
  void compute(Value (*decode)(Element, uint32_t, unsigned)) {
    static thread_local Matrices<Value> matrices;
    readShared(product.a, form.a, form.m, form.transposeA, decode,
               [&](unsigned i, unsigned k, Value v) { matrices.a[i][k] = v; });
    readShared(product.b, form.b, form.n, form.transposeB, decode,
               [&](unsigned i, unsigned k, Value v) { matrices.b[k][i] = v; });
    if (!touches())
      return;
    forEachElement([&](uint32_t &word, unsigned row, unsigned column) {
      matrices.c[row][column] = product.accumulates ? valueOf<Value>(word) : Value(0);
    });
    matrices.multiply(form);
    forEachElement([&](uint32_t &word, unsigned row, unsigned column) {
      word = wordOf(matrices.c[row][column]);
    });
  }

  /// The accumulator may be read and written.
  bool touches() {
    AsyncAgent agent{block.tensorSlot(), product.step, &product.view};
    for (uint32_t quarter = 0; quarter < TensorMemory::numQuarters; ++quarter)
      for (AccessKind kind : {AccessKind::Read, AccessKind::Write})
        if (kind == AccessKind::Write || product.accumulates)
          if (!checkTensorMemory(thread, quarter, product.column, form.n, kind, agent))
            return false;
    return true;
  }

  template <typename Function> void forEachElement(Function function) {
    for (unsigned row = 0; row < form.m; ++row) {
      unsigned lane = form.m == 128 ? row : 32 * (row / 16) + row % 16;
      for (unsigned column = 0; column < form.n; ++column)
        function(block.tensorMemory.words(product.column + column)[lane], row, column);
    }
  }

  template <typename Value> Value valueOf(uint32_t word) const {
    if (form.result == ResultF16)
      return Value(halfToFloat(uint16_t(word)));
    return std::bit_cast<Value>(word);
  }
  template <typename Value> uint32_t wordOf(Value value) const {
    return form.result == ResultF16 ? floatToHalf(float(value)) : std::bit_cast<uint32_t>(value);
  }

  /// Calls set(i, k, value) for the elements of an operand with \p count rows.
  template <typename Value, typename Set>
  void readShared(uint64_t descriptor, Element element, unsigned count, bool isTransposed,
                  Value (*decode)(Element, uint32_t, unsigned), Set set) {
    SharedOperand operand = SharedOperand::ofTensorCore(descriptor, !isTransposed, block.shared);
    unsigned perWord = 32 / bitsOf(element), perChunk = 4 * perWord;
    unsigned outer = isTransposed ? count / perChunk : count;
    unsigned inner = isTransposed ? form.k : form.k / perChunk;
    AsyncAgent agent{block.tensorSlot(), product.step, &product.clock, &product.fenced};
    for (unsigned i = 0; i < outer; ++i)
      for (unsigned c = 0; c < inner; ++c) {
        uint32_t words[4] = {};
        const char *address = operand.chunk(i, c);
        if (checkShared(thread, address, 16, 16, AccessKind::Read, &agent))
          std::memcpy(words, address, 16);
        for (unsigned e = 0; e < perChunk; ++e) {
          Value value = decode(element, words[e / perWord], e % perWord);
          if (isTransposed)
            set(i * perChunk + e, c, value);
          else
            set(i, c * perChunk + e, value);
        }
      }
  }

  Block &block;
  const TensorProduct &product;
  Form form;
  ThreadContext &thread;
};

/// Computes, in their order, the products that \p thread has issued.
void computeProducts(Block &block, const ThreadContext &thread) {
  std::deque<TensorProduct> &products = block.tensorMemory.products;
  for (auto it = products.begin(); it != products.end();) {
    if (it->issuer != &thread) {
      ++it;
      continue;
    }
    ProductRun(block, *it).run();
    it = products.erase(it);
  }
}

//===--- operations --------------------------------------------------------------------===//

struct ProductArguments {
  uint64_t d, a, b;
  uint32_t shape;
  bool accumulates;
  uint32_t kind, group, collector;
};

void multiply(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  const auto &a = as<ProductArguments>(arguments);
  if (!parseForm(a.kind, a.shape) || a.group != 1)
    return misuse(thread, "a tcgen05.mma has a kind and an instruction descriptor that do not "
                          "go together, or are not emulated");
  if (!SharedOperand::isValidForTensorCore(a.a) || !SharedOperand::isValidForTensorCore(a.b))
    return misuse(thread, "a descriptor of tcgen05.mma has bits outside of its fields, or a base "
                          "offset, or not the version of this instruction");
  if (a.d >> 16)
    return misuse(thread, "an accumulator of tcgen05.mma does not begin at lane 0");
  Block &block = *thread.block;
  TensorMemory &memory = block.tensorMemory;
  TensorProduct product{&thread, thread.site, a.kind, a.shape, uint32_t(a.d), a.a, a.b,
                        a.accumulates, memory.openStep, thread.clock, thread.fencedForAsync,
                        thread.tensorView.clock};
  if (block.checks()) {
    product.clock.raise(thread.linear, thread.step);
    product.clock.raise(block.copySlot(thread), thread.copiesCompleted);
    memory.clock.join(product.clock);
  }
  memory.products.push_back(product);
  if (block.launch.seed && (block.cluster.scheduler.random() & 1))
    computeProducts(block, thread);
}

struct CommitArguments {
  char *barrier;
  uint16_t blocks; ///< of the multicast form
};

enum Variant : uint32_t { Own, Multicast };

void commit(ThreadContext &thread, const void *arguments, void *, uint32_t variant) {
  const auto &a = as<CommitArguments>(arguments);
  Block &block = *thread.block;
  computeProducts(block, thread);
  // Who waits learns what all products so far did and knew, and nothing else of this thread.
  AsyncAgent agent{block.tensorSlot(), block.tensorMemory.openStep++,
                   &block.tensorMemory.clock};
  if (variant == Own)
    return arriveFor(thread, a.barrier, agent);
  Cluster &cluster = block.cluster;
  if (a.blocks >> cluster.size())
    misuse(thread, "a tcgen05.commit names blocks that the cluster does not have");
  for (uint32_t rank = 0; rank < cluster.size(); ++rank)
    if (a.blocks >> rank & 1)
      arriveFor(thread, cluster.block(rank).shared + (a.barrier - thread.shared), agent);
}

} // namespace

llvm::ArrayRef<OperationEntry> tilec::emulator::tensorProductOperations() {
  static const OperationEntry entries[] = {
      {"llvm.nvvm.tcgen05.mma.shared", multiply},
      {"llvm.nvvm.tcgen05.commit.shared.cg1", commit, Own},
      {"llvm.nvvm.tcgen05.commit.mc.shared.cg1", commit, Multicast},
  };
  return entries;
}
