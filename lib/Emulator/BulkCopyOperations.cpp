//===- BulkCopyOperations.cpp - bulk copies and tensor copies (TMA) -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  cp.async.bulk and cp.async.bulk.tensor (PTX ISA, sections of these names).
// Out: the bytes, at once, and an agent that moved them.
//
// Every copy is an agent with a slot and two steps of its own: it reads in the first
// and writes in the second. It knows what its issuer knew. Others learn of a load
// through the mbarrier that counts its bytes; the issuer learns of a store by waiting
// for its group: of the first step with .read, of both without.
//
//   slot  ── step s: reads source ── step s+1: writes destination
//             └► wait_group.read          └► mbarrier, wait_group
//
// Slots are used in turn; two copies that share a slot may hide each other's races,
// but never invent one.
//
//===--------------------------------------------------------------------------===//
#include "HostOperations.h"

#include "tilec/Emulator/TensorMap.h"
#include "tilec/Support/DType.h"
#include "tilec/Support/Numerics.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

using namespace tilec;
using namespace tilec::emulator;

namespace {

/// A copy in progress.
class BulkCopy {
public:
  explicit BulkCopy(ThreadContext &thread) : thread(thread) {
    Block &block = *thread.block;
    uint32_t index = block.nextAgent++ % numBlockAgents;
    slot = 2 * block.numThreads + index;
    uint32_t &last = block.agentSteps[index];
    step = std::min(last + 1, 0xFFFFCu);
    last = step + 1;
    clock = thread.clock;
    if (block.checks()) {
      clock.raise(thread.linear, thread.step);
      clock.raise(block.copySlot(thread), thread.copiesCompleted);
    }
  }

  bool readsGlobal(const void *p, uint64_t size) const {
    AsyncAgent agent{slot, step, &clock, &thread.fencedForAsync};
    return checkGlobal(thread, p, size, 1, AccessKind::Read, &agent);
  }
  bool writesGlobal(const void *p, uint64_t size) const {
    AsyncAgent agent{slot, step + 1, &clock, &thread.fencedForAsync};
    return checkGlobal(thread, p, size, 1, AccessKind::Write, &agent);
  }
  bool updatesGlobal(const void *p, uint64_t size) const {
    AsyncAgent agent{slot, step + 1, &clock, &thread.fencedForAsync};
    return checkGlobal(thread, p, size, 1, AccessKind::Atomic, &agent);
  }
  bool readsShared(const void *p, uint32_t size) const {
    AsyncAgent agent{slot, step, &clock, &thread.fencedForAsync};
    return checkShared(thread, p, size, 16, AccessKind::Read, &agent);
  }
  bool writesShared(const void *p, uint32_t size) const {
    AsyncAgent agent{slot, step + 1, &clock, &thread.fencedForAsync};
    return checkShared(thread, p, size, 16, AccessKind::Write, &agent);
  }

  /// Completes \p bytes of the transaction count of the mbarrier at \p address.
  void completeAt(char *address, uint32_t bytes) const {
    completeTransaction(thread, address, bytes, {slot, step + 1, &clock});
  }

  /// Adds the copy to the issuer's open bulk group.
  void addToGroup() const {
    thread.bulkStores.push_back({thread.bulkGroup, slot, step});
  }

private:
  ThreadContext &thread;
  VectorClock clock;
  uint32_t slot, step;
};

void misuse(ThreadContext &thread, std::string text) {
  thread.block->find(thread, FindingKind::HelperMisuse, std::move(text));
}

//===--- plain bulk copies ----------------------------------------------------------===//

struct BulkLoadArguments {
  char *destination;
  char *barrier;
  const char *source;
  uint32_t size;
};
struct BulkStoreArguments {
  char *destination;
  const char *source;
  uint32_t size;
};

bool isBulkSize(ThreadContext &thread, const void *a, const void *b, uint32_t size) {
  uintptr_t all = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) | size;
  if (all % 16 == 0)
    return true;
  misuse(thread, "a bulk copy needs addresses and a size that are multiples of 16");
  return false;
}

void bulkLoad(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  const auto &a = as<BulkLoadArguments>(arguments);
  if (!isBulkSize(thread, a.destination, a.source, a.size))
    return;
  BulkCopy copy(thread);
  if (a.size && copy.readsGlobal(a.source, a.size) &&
      copy.writesShared(a.destination, a.size))
    std::memcpy(a.destination, a.source, a.size);
  copy.completeAt(a.barrier, a.size);
}

void bulkStore(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  const auto &a = as<BulkStoreArguments>(arguments);
  if (!isBulkSize(thread, a.destination, a.source, a.size))
    return;
  BulkCopy copy(thread);
  if (a.size && copy.readsShared(a.source, a.size) &&
      copy.writesGlobal(a.destination, a.size))
    std::memcpy(a.destination, a.source, a.size);
  copy.addToGroup();
}

void commitGroup(ThreadContext &thread, const void *, void *, uint32_t) {
  ++thread.bulkGroup;
}

constexpr uint32_t readOnly = 1;

void waitGroup(ThreadContext &thread, const void *arguments, void *,
               uint32_t variant) {
  uint32_t pending = as<uint32_t>(arguments);
  uint32_t committed = thread.bulkGroup;
  if (committed < pending)
    return;
  uint32_t end = committed - pending; // groups before it are complete
  for (const BulkStore &store : thread.bulkStores)
    if (store.group < end && thread.block->checks())
      thread.clock.raise(store.slot, store.step + (variant == readOnly ? 0 : 1));
  if (variant != readOnly)
    llvm::erase_if(thread.bulkStores,
                   [&](const BulkStore &store) { return store.group < end; });
}

//===--- tensor copies ----------------------------------------------------------------===//

/// Walks the box of a tensor map, row by row along dimension 0.
class BoxWalk {
public:
  BoxWalk(const EmulatedTensorMap &map, const int32_t *origin, char *shared)
      : map(map), origin(origin), shared(shared) {}

  /// Calls `function(shared address, global address or null, bytes)` for each piece of
  /// 16 bytes or less whose elements are all inside or all outside.
  template <typename Function> void forEachPiece(Function function) const {
    uint32_t rows = 1;
    for (unsigned d = 1; d < map.rank; ++d)
      rows *= map.box[d];
    uint32_t rowBytes = uint32_t(map.box[0]) * map.elementBytes;
    for (uint32_t row = 0; row < rows; ++row) {
      uint8_t *global = rowAddress(row);
      for (uint32_t at = 0; at < rowBytes;) {
        uint32_t end = std::min(rowBytes, (at & ~15u) + 16);
        bool inside = global && isInside(at);
        uint32_t piece = at;
        while (piece < end && (global && isInside(piece)) == inside)
          piece += map.elementBytes;
        char *target = swizzled(shared + row * rowBytes + at);
        int64_t offset = int64_t(origin[0]) * map.elementBytes + at;
        function(target, inside ? global + offset : nullptr, piece - at);
        at = piece;
      }
    }
  }

private:
  /// The address of element 0 of dimension 0, or null when the row is outside.
  uint8_t *rowAddress(uint32_t row) const {
    uint8_t *address = map.data;
    for (unsigned d = 1; d < map.rank; ++d) {
      int64_t position = int64_t(origin[d]) + row % map.box[d];
      row /= map.box[d];
      if (position < 0 || uint64_t(position) >= map.dims[d])
        return nullptr;
      address += uint64_t(position) * map.strides[d - 1];
    }
    return address;
  }
  bool isInside(uint32_t at) const {
    int64_t position = int64_t(origin[0]) + at / map.elementBytes;
    return position >= 0 && uint64_t(position) < map.dims[0];
  }
  /// 16-byte chunks within 1024, 512 or 256 bytes change places by address bits.
  char *swizzled(char *p) const {
    if (!map.swizzleBytes)
      return p;
    uintptr_t address = reinterpret_cast<uintptr_t>(p);
    uintptr_t chunks = map.swizzleBytes / 16 - 1;
    return reinterpret_cast<char *>(address ^ ((address >> 7 & chunks) << 4));
  }

  const EmulatedTensorMap &map;
  const int32_t *origin;
  char *shared;
};

bool isUsable(ThreadContext &thread, const EmulatedTensorMap *map, unsigned rank,
              const int32_t *origin, const char *shared) {
  if (map->magic != EmulatedTensorMap::theMagic) {
    misuse(thread, "the tensor map is not one of the emulator's");
    return false;
  }
  if (map->rank != rank || map->elementBytes == 0) {
    misuse(thread, "the tensor map has rank " + std::to_string(map->rank) +
                       ", the copy " + std::to_string(rank));
    return false;
  }
  uint32_t rowBytes = uint32_t(map->box[0]) * map->elementBytes;
  if (rowBytes % 16 || (map->swizzleBytes && rowBytes > map->swizzleBytes)) {
    misuse(thread, "the box is " + std::to_string(rowBytes) +
                       " bytes wide, which is no multiple of 16 or more than the swizzle");
    return false;
  }
  // An H200 stops with an illegal instruction.
  if (int64_t(origin[0]) * map->elementBytes % 16) {
    misuse(thread, "a tensor copy begins at element " + std::to_string(origin[0]) +
                       " of a row, which is no multiple of 16 bytes");
    return false;
  }
  if (reinterpret_cast<uintptr_t>(shared) % 128) {
    misuse(thread, "a tensor copy needs a shared-memory address that is a multiple of 128");
    return false;
  }
  return true;
}

template <unsigned Rank> struct TensorLoadArguments {
  char *destination;
  char *barrier;
  const EmulatedTensorMap *map;
  int32_t origin[Rank];
};
/// The form whose destination may be in other blocks of the cluster.
template <unsigned Rank> struct ClusterLoadArguments {
  char *destination;
  char *barrier;
  const EmulatedTensorMap *map;
  int32_t origin[Rank];
  uint16_t blocks;
  uint64_t cacheHint;
  bool isMulticast;
};
template <unsigned Rank> struct TensorStoreArguments {
  const char *source;
  const EmulatedTensorMap *map;
  int32_t origin[Rank];
};

/// Copies a box to \p destination and counts its bytes at \p barrier.
void loadBox(ThreadContext &thread, const BulkCopy &copy, const EmulatedTensorMap &map,
             const int32_t *origin, char *destination, char *barrier) {
  uint32_t total = 0;
  BoxWalk(map, origin, destination)
      .forEachPiece([&](char *target, const uint8_t *source, uint32_t bytes) {
        total += bytes;
        if (source && !copy.readsGlobal(source, bytes))
          source = nullptr;
        if (!copy.writesShared(reinterpret_cast<char *>(
                                   reinterpret_cast<uintptr_t>(target) & ~uintptr_t(15)),
                               16))
          return;
        if (source)
          std::memcpy(target, source, bytes);
        else
          std::memset(target, map.fillsNaN ? 0xFF : 0, bytes);
      });
  copy.completeAt(barrier, total);
}

template <unsigned Rank>
void tensorLoad(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  const auto &a = as<TensorLoadArguments<Rank>>(arguments);
  if (isUsable(thread, a.map, Rank, a.origin, a.destination))
    loadBox(thread, BulkCopy(thread), *a.map, a.origin, a.destination, a.barrier);
}

template <unsigned Rank>
void clusterLoad(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  const auto &a = as<ClusterLoadArguments<Rank>>(arguments);
  if (!isUsable(thread, a.map, Rank, a.origin, a.destination))
    return;
  Cluster &cluster = thread.block->cluster;
  BulkCopy copy(thread);
  if (!a.isMulticast)
    return loadBox(thread, copy, *a.map, a.origin, a.destination, a.barrier);
  if (a.blocks >> cluster.size())
    misuse(thread, "a multicast copy names blocks that the cluster does not have");
  // Each block gets the box, and the count of its bytes, at the same places.
  for (uint32_t rank = 0; rank < cluster.size(); ++rank) {
    if (!(a.blocks >> rank & 1))
      continue;
    char *shared = cluster.block(rank).shared;
    loadBox(thread, copy, *a.map, a.origin, shared + (a.destination - thread.shared),
            shared + (a.barrier - thread.shared));
  }
}

/// The same of a copy to global memory, which must not begin before the array: there an
/// H200 stops with an illegal instruction.
bool isWritable(ThreadContext &thread, const EmulatedTensorMap *map, unsigned rank,
                const int32_t *origin, const char *shared) {
  if (!isUsable(thread, map, rank, origin, shared))
    return false;
  if (std::all_of(origin, origin + rank, [](int32_t position) { return position >= 0; }))
    return true;
  misuse(thread, "a tensor copy to global memory begins before the array");
  return false;
}

template <unsigned Rank>
void tensorStore(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  const auto &a = as<TensorStoreArguments<Rank>>(arguments);
  if (!isWritable(thread, a.map, Rank, a.origin, a.source))
    return;
  BulkCopy copy(thread);
  BoxWalk(*a.map, a.origin, const_cast<char *>(a.source))
      .forEachPiece([&](char *source, uint8_t *target, uint32_t bytes) {
        char *chunk = reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(source) &
                                               ~uintptr_t(15));
        if (target && copy.readsShared(chunk, 16) && copy.writesGlobal(target, bytes))
          std::memcpy(target, source, bytes);
      });
  copy.addToGroup();
}

//===--- reductions -----------------------------------------------------------------===//

enum Reduction : uint32_t { Add, Min, Max, And, Or, Xor };

template <typename Value> Value reduced(Reduction reduction, Value old, Value value) {
  return reduction == Add   ? Value(old + value)
         : reduction == Min ? std::min(old, value)
                            : std::max(old, value);
}

template <typename Value>
void reduceNumber(Reduction reduction, uint8_t *target, const char *source) {
  Value old, value;
  std::memcpy(&old, target, sizeof old);
  std::memcpy(&value, source, sizeof value);
  old = reduced(reduction, old, value);
  std::memcpy(target, &old, sizeof old);
}

void reduceBits(Reduction reduction, uint8_t *target, const char *source, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i)
    target[i] = reduction == And  ? target[i] & uint8_t(source[i])
                : reduction == Or ? target[i] | uint8_t(source[i])
                                  : target[i] ^ uint8_t(source[i]);
}

void reduceBF16(Reduction reduction, uint8_t *target, const char *source) {
  uint16_t oldBits, bits;
  std::memcpy(&oldBits, target, 2);
  std::memcpy(&bits, source, 2);
  float sum = reduced(reduction, std::bit_cast<float>(uint32_t(oldBits) << 16),
                      std::bit_cast<float>(uint32_t(bits) << 16));
  auto rounded = uint16_t(numerics::encode(DType::BF16, sum));
  std::memcpy(target, &rounded, 2);
}

/// One element; false when the hardware does not reduce its type that way.
bool reduceElement(Reduction reduction, DType dtype, uint8_t *target, const char *source) {
  if (reduction >= And) {
    reduceBits(reduction, target, source, dtypeBytes(dtype));
    return isInteger(dtype) && dtypeBytes(dtype) >= 4;
  }
  switch (dtype) {
  case DType::F16:
    reduceNumber<_Float16>(reduction, target, source);
    return true;
  case DType::BF16:
    reduceBF16(reduction, target, source);
    return true;
  case DType::F32:
    reduceNumber<float>(reduction, target, source);
    return reduction == Add;
  case DType::I32:
    reduceNumber<int32_t>(reduction, target, source);
    return true;
  case DType::U32:
    reduceNumber<uint32_t>(reduction, target, source);
    return true;
  case DType::U64:
    reduceNumber<uint64_t>(reduction, target, source);
    return true;
  default:
    return false;
  }
}

template <unsigned Rank>
void tensorReduce(ThreadContext &thread, const void *arguments, void *, uint32_t variant) {
  const auto &a = as<TensorStoreArguments<Rank>>(arguments);
  if (!isWritable(thread, a.map, Rank, a.origin, a.source))
    return;
  BulkCopy copy(thread);
  auto dtype = static_cast<DType>(a.map->dtype);
  bool isKnown = true;
  // Blocks on other host threads may add to the same elements.
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  BoxWalk(*a.map, a.origin, const_cast<char *>(a.source))
      .forEachPiece([&](char *source, uint8_t *target, uint32_t bytes) {
        char *chunk = reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(source) &
                                               ~uintptr_t(15));
        if (!target || !copy.readsShared(chunk, 16) || !copy.updatesGlobal(target, bytes))
          return;
        for (uint32_t at = 0; at < bytes; at += a.map->elementBytes)
          isKnown &= reduceElement(Reduction(variant), dtype, target + at, source + at);
      });
  if (!isKnown)
    misuse(thread, "a tensor copy cannot reduce elements of this type in this way");
  copy.addToGroup();
}

} // namespace

#define TENSOR_REDUCE(NAME, N)                                                         \
  "llvm.nvvm.cp.async.bulk.tensor.reduce." NAME ".tile." #N "d", tensorReduce<N>
#define TENSOR_COPY(N)                                                                 \
  {"llvm.nvvm.cp.async.bulk.tensor.g2s.tile." #N "d", clusterLoad<N>},                 \
      {"llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile." #N "d", tensorLoad<N>},          \
      {"llvm.nvvm.cp.async.bulk.tensor.s2g.tile." #N "d", tensorStore<N>},         \
      {TENSOR_REDUCE("add", N), Add}, {TENSOR_REDUCE("min", N), Min},                  \
      {TENSOR_REDUCE("max", N), Max}, {TENSOR_REDUCE("and", N), And},                  \
      {TENSOR_REDUCE("or", N), Or}, {TENSOR_REDUCE("xor", N), Xor}

llvm::ArrayRef<OperationEntry> tilec::emulator::bulkCopyOperations() {
  static const OperationEntry entries[] = {
      {"llvm.nvvm.cp.async.bulk.global.to.shared.cluster", bulkLoad},
      {"llvm.nvvm.cp.async.bulk.global.to.shared.cta", bulkLoad},
      {"llvm.nvvm.cp.async.bulk.shared.cta.to.global", bulkStore},
      {"llvm.nvvm.cp.async.bulk.commit.group", commitGroup},
      {"llvm.nvvm.cp.async.bulk.wait.group", waitGroup},
      {"llvm.nvvm.cp.async.bulk.wait.group.read", waitGroup, readOnly},
      TENSOR_COPY(1),
      TENSOR_COPY(2),
      TENSOR_COPY(3),
      TENSOR_COPY(4),
      TENSOR_COPY(5),
  };
  return entries;
}
