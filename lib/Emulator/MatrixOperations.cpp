//===- MatrixOperations.cpp - mma.sync, ldmatrix and stmatrix -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  the fragments of the 32 lanes of a warp. Out: theirs, too. The layouts are those
// of the PTX ISA, sections mma.m16n8k*, ldmatrix, stmatrix. With g = lane / 4,
// q = lane % 4, and e elements in a 32-bit register:
//
//   A (16 x K): register r holds row g + 8*(r%2), columns (r/2)*4e + q*e … + e-1
//   B (K x 8):  register r holds column g, rows r*4e + q*e … + e-1
//   C (16 x 8): element i holds row g + 8*(i/2), column 2q + i%2
//
// One formula serves every element type, as e = 32 / bits (f64: one per register).
// Products are exact; sums are rounded to the accumulator's type in order of k.
//
//===--------------------------------------------------------------------------===//
#include "HostOperations.h"
#include "MatrixElements.h"

#include <cstring>

using namespace tilec;
using namespace tilec::emulator;

namespace {

//===--- mma.sync -----------------------------------------------------------------===//

enum Accumulator : uint32_t { AccF32, AccF16, AccS32, AccS32Saturating };

constexpr uint32_t shape(Element a, Element b, Accumulator c, uint32_t k) {
  return uint32_t(a) | uint32_t(b) << 4 | uint32_t(c) << 8 | k << 16;
}

struct Payload {
  const void *arguments;
  void *result;
};

Payload &payload(ThreadContext *lanes, unsigned lane) {
  return *static_cast<Payload *>(lanes[lane].operation.payload);
}

template <typename Value> struct Matrices {
  alignas(32) Value a[16][32], b[32][8], c[16][8];

  void multiply(unsigned depth) {
    for (unsigned i = 0; i < 16; ++i)
      for (unsigned k = 0; k < depth; ++k)
        for (unsigned j = 0; j < 8; ++j)
          c[i][j] += a[i][k] * b[k][j];
  }
};

template <typename Value, typename Decode>
void gather(Matrices<Value> &m, ThreadContext *lanes, uint32_t variant, Decode decode) {
  auto elementA = Element(variant & 15), elementB = Element(variant >> 4 & 15);
  unsigned perRegister = 32 / bitsOf(elementA), depth = variant >> 16;
  unsigned registersB = depth / (4 * perRegister), registersA = 2 * registersB;
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned g = lane / 4, q = lane % 4;
    auto *words = static_cast<const uint32_t *>(payload(lanes, lane).arguments);
    for (unsigned r = 0; r < registersA; ++r)
      for (unsigned e = 0; e < perRegister; ++e)
        m.a[g + 8 * (r % 2)][(r / 2) * 4 * perRegister + q * perRegister + e] =
            decode(elementA, words[r], e);
    for (unsigned r = 0; r < registersB; ++r)
      for (unsigned e = 0; e < perRegister; ++e)
        m.b[r * 4 * perRegister + q * perRegister + e][g] =
            decode(elementB, words[registersA + r], e);
  }
}

/// Where a lane's accumulators begin among its argument registers.
unsigned accumulatorStart(uint32_t variant) {
  unsigned perRegister = 32 / bitsOf(Element(variant & 15));
  return 3 * ((variant >> 16) / (4 * perRegister));
}

template <typename Function> void forEachAccumulator(Function function) {
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      function(lane, i, lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2);
}

void multiplyFloats(ThreadContext *lanes, uint32_t variant) {
  Matrices<float> m;
  gather(m, lanes, variant, floatElement);
  bool halves = (variant >> 8 & 15) == AccF16;
  unsigned start = accumulatorStart(variant);
  forEachAccumulator([&](unsigned lane, unsigned i, unsigned row, unsigned column) {
    auto *words = static_cast<const uint32_t *>(payload(lanes, lane).arguments) + start;
    m.c[row][column] = halves ? halfToFloat(uint16_t(words[i / 2] >> (16 * (i % 2))))
                              : std::bit_cast<float>(words[i]);
  });
  m.multiply(variant >> 16);
  forEachAccumulator([&](unsigned lane, unsigned i, unsigned row, unsigned column) {
    void *result = payload(lanes, lane).result;
    if (halves)
      static_cast<uint16_t *>(result)[i] = floatToHalf(m.c[row][column]);
    else
      static_cast<float *>(result)[i] = m.c[row][column];
  });
}

void multiplyIntegers(ThreadContext *lanes, uint32_t variant) {
  Matrices<int32_t> m;
  gather(m, lanes, variant, integerElement);
  unsigned depth = variant >> 16, start = accumulatorStart(variant);
  bool saturates = (variant >> 8 & 15) == AccS32Saturating;
  forEachAccumulator([&](unsigned lane, unsigned i, unsigned row, unsigned column) {
    auto *words = static_cast<const uint32_t *>(payload(lanes, lane).arguments) + start;
    int64_t sum = int32_t(words[i]);
    for (unsigned k = 0; k < depth; ++k)
      sum += int64_t(m.a[row][k]) * m.b[k][column];
    if (saturates)
      sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
    static_cast<uint32_t *>(payload(lanes, lane).result)[i] = uint32_t(sum);
  });
}

void completeMultiply(Block &block, ThreadContext *lanes, uint32_t mask) {
  if (mask != ~0u) {
    block.find(lanes[__builtin_ctz(mask)], FindingKind::HelperMisuse,
               "mma.sync needs all 32 lanes of the warp");
    return;
  }
  uint32_t variant = lanes[0].operation.variant;
  auto element = Element(variant & 15);
  if (element == S8 || element == U8)
    multiplyIntegers(lanes, variant);
  else
    multiplyFloats(lanes, variant);
}

void multiply(ThreadContext &thread, const void *arguments, void *result,
              uint32_t variant) {
  Payload own{arguments, result};
  thread.block->warpOperation(&thread,
                              {"mma.sync", variant, ~0u, &own, completeMultiply});
}

/// f64: one element a register; m8n8k4 or m16n8k{4,8,16}. The variant is rows << 8 | k.
void completeDouble(Block &block, ThreadContext *lanes, uint32_t mask) {
  if (mask != ~0u) {
    block.find(lanes[__builtin_ctz(mask)], FindingKind::HelperMisuse,
               "mma.sync needs all 32 lanes of the warp");
    return;
  }
  uint32_t variant = lanes[0].operation.variant;
  unsigned depth = variant & 255, rows = variant >> 8;
  unsigned registersB = depth / 4, registersA = registersB * rows / 8;
  Matrices<double> m;
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned g = lane / 4, q = lane % 4;
    auto *values = static_cast<const double *>(payload(lanes, lane).arguments);
    for (unsigned r = 0; r < registersA; ++r)
      m.a[g + (rows == 16 ? 8 * (r % 2) : 0)][q + 4 * (rows == 16 ? r / 2 : r)] =
          values[r];
    for (unsigned r = 0; r < registersB; ++r)
      m.b[q + 4 * r][g] = values[registersA + r];
  }
  forEachAccumulator([&](unsigned lane, unsigned i, unsigned row, unsigned column) {
    if (row >= rows)
      return;
    Payload &p = payload(lanes, lane);
    double sum = static_cast<const double *>(p.arguments)[registersA + registersB + i];
    for (unsigned k = 0; k < depth; ++k)
      sum = __builtin_fma(m.a[row][k], m.b[k][column], sum);
    static_cast<double *>(p.result)[i] = sum;
  });
}

void multiplyDouble(ThreadContext &thread, const void *arguments, void *result,
                    uint32_t variant) {
  Payload own{arguments, result};
  thread.block->warpOperation(&thread,
                              {"mma.sync.f64", variant, ~0u, &own, completeDouble});
}

//===--- ldmatrix, stmatrix ---------------------------------------------------------===//

constexpr uint32_t transposed = 16;

struct LoadPayload {
  char *address;
  uint32_t *result;
};

void completeLoad(Block &block, ThreadContext *lanes, uint32_t mask) {
  if (mask != ~0u)
    return;
  uint32_t variant = lanes[0].operation.variant;
  unsigned matrices = variant & 15;
  auto rowOf = [&](unsigned matrix, unsigned row) {
    auto *p = static_cast<LoadPayload *>(lanes[matrix * 8 + row].operation.payload);
    return reinterpret_cast<const uint16_t *>(p->address);
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto *own = static_cast<LoadPayload *>(lanes[lane].operation.payload);
    unsigned g = lane / 4, q = lane % 4;
    for (unsigned i = 0; i < matrices; ++i) {
      uint16_t low, high;
      if (variant & transposed) {
        low = rowOf(i, 2 * q)[g];
        high = rowOf(i, 2 * q + 1)[g];
      } else {
        low = rowOf(i, g)[2 * q];
        high = rowOf(i, g)[2 * q + 1];
      }
      own->result[i] = uint32_t(high) << 16 | low;
    }
  }
}

void loadMatrix(ThreadContext &thread, const void *arguments, void *result,
                uint32_t variant) {
  alignas(16) static thread_local char zeros[16];
  LoadPayload own{as<char *>(arguments), static_cast<uint32_t *>(result)};
  std::memset(result, 0, 4 * (variant & 15));
  // Only the first 8 lanes of each matrix give row addresses.
  if (thread.lane < 8 * (variant & 15) &&
      !checkShared(thread, own.address, 16, 16, AccessKind::Read))
    own.address = zeros;
  thread.block->warpOperation(&thread, {"ldmatrix", variant, ~0u, &own, completeLoad});
}

struct StorePayload {
  char *address;
  const uint32_t *words;
};

struct StoreArguments {
  char *address;
  uint32_t words[4];
};

void completeStore(Block &, ThreadContext *lanes, uint32_t mask) {
  if (mask != ~0u)
    return;
  uint32_t variant = lanes[0].operation.variant;
  unsigned matrices = variant & 15;
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto *own = static_cast<StorePayload *>(lanes[lane].operation.payload);
    unsigned g = lane / 4, q = lane % 4;
    for (unsigned i = 0; i < matrices; ++i)
      for (unsigned e = 0; e < 2; ++e) {
        unsigned row = variant & transposed ? 2 * q + e : g;
        unsigned column = variant & transposed ? g : 2 * q + e;
        auto *target = static_cast<StorePayload *>(lanes[i * 8 + row].operation.payload);
        if (!target->address)
          continue;
        uint16_t value = uint16_t(own->words[i] >> (16 * e));
        std::memcpy(target->address + 2 * column, &value, 2);
      }
  }
}

void storeMatrix(ThreadContext &thread, const void *arguments, void *,
                 uint32_t variant) {
  const auto &a = as<StoreArguments>(arguments);
  StorePayload own{a.address, a.words};
  if (thread.lane < 8 * (variant & 15) &&
      !checkShared(thread, own.address, 16, 16, AccessKind::Write))
    own.address = nullptr;
  thread.block->warpOperation(&thread, {"stmatrix", variant, ~0u, &own, completeStore});
}

} // namespace

#define MMA(NAME, A, B, C, K) {"llvm.nvvm.mma." NAME, multiply, shape(A, B, C, K)}
#define MMA_INTEGER(K, NAME, A, B)                                                     \
  MMA("m16n8k" #K ".row.col." NAME, A, B, AccS32, K),                                  \
      MMA("m16n8k" #K ".row.col.satfinite." NAME, A, B, AccS32Saturating, K)
#define MMA_EIGHT_BIT(K, A, B, NAMEA, NAMEB)                                           \
  MMA("m16n8k" #K ".row.col.f32." NAMEA "." NAMEB ".f32", A, B, AccF32, K),            \
      MMA("m16n8k" #K ".row.col.f16." NAMEA "." NAMEB ".f16", A, B, AccF16, K)

llvm::ArrayRef<OperationEntry> tilec::emulator::matrixOperations() {
  static const OperationEntry entries[] = {
      MMA("m16n8k8.row.col.bf16", BF16, BF16, AccF32, 8),
      MMA("m16n8k16.row.col.bf16", BF16, BF16, AccF32, 16),
      MMA("m16n8k8.row.col.f32.f32", F16, F16, AccF32, 8),
      MMA("m16n8k16.row.col.f32.f32", F16, F16, AccF32, 16),
      MMA("m16n8k8.row.col.f16.f16", F16, F16, AccF16, 8),
      MMA("m16n8k16.row.col.f16.f16", F16, F16, AccF16, 16),
      MMA("m16n8k4.row.col.tf32", TF32, TF32, AccF32, 4),
      MMA("m16n8k8.row.col.tf32", TF32, TF32, AccF32, 8),
      MMA_INTEGER(16, "s8", S8, S8),
      MMA_INTEGER(16, "u8", U8, U8),
      MMA_INTEGER(16, "s8.u8", S8, U8),
      MMA_INTEGER(16, "u8.s8", U8, S8),
      MMA_INTEGER(32, "s8", S8, S8),
      MMA_INTEGER(32, "u8", U8, U8),
      MMA_INTEGER(32, "s8.u8", S8, U8),
      MMA_INTEGER(32, "u8.s8", U8, S8),
      MMA_EIGHT_BIT(16, E4M3, E4M3, "e4m3", "e4m3"),
      MMA_EIGHT_BIT(16, E4M3, E5M2, "e4m3", "e5m2"),
      MMA_EIGHT_BIT(16, E5M2, E4M3, "e5m2", "e4m3"),
      MMA_EIGHT_BIT(16, E5M2, E5M2, "e5m2", "e5m2"),
      MMA_EIGHT_BIT(32, E4M3, E4M3, "e4m3", "e4m3"),
      MMA_EIGHT_BIT(32, E4M3, E5M2, "e4m3", "e5m2"),
      MMA_EIGHT_BIT(32, E5M2, E4M3, "e5m2", "e4m3"),
      MMA_EIGHT_BIT(32, E5M2, E5M2, "e5m2", "e5m2"),
      {"llvm.nvvm.mma.m8n8k4.row.col.f64", multiplyDouble, 8 << 8 | 4},
      {"llvm.nvvm.mma.m16n8k4.row.col.f64", multiplyDouble, 16 << 8 | 4},
      {"llvm.nvvm.mma.m16n8k8.row.col.f64", multiplyDouble, 16 << 8 | 8},
      {"llvm.nvvm.mma.m16n8k16.row.col.f64", multiplyDouble, 16 << 8 | 16},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16*", loadMatrix, 1},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16*", loadMatrix, 2},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16*", loadMatrix, 4},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16*", loadMatrix, 1 | transposed},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16*", loadMatrix, 2 | transposed},
      {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16*", loadMatrix, 4 | transposed},
      {"llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.b16*", storeMatrix, 1},
      {"llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.b16*", storeMatrix, 2},
      {"llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.b16*", storeMatrix, 4},
      {"llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.trans.b16*", storeMatrix, 1 | transposed},
      {"llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.trans.b16*", storeMatrix, 2 | transposed},
      {"llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.trans.b16*", storeMatrix, 4 | transposed},
  };
  return entries;
}
