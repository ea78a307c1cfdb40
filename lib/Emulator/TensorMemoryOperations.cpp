//===- TensorMemoryOperations.cpp - tensor memory and warps -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  tcgen05.alloc, dealloc, relinquish_alloc_permit, ld, st, wait and fence (PTX ISA,
//      sections of these names).
// Out: words moved at once by agents of the warp (TensorMemory.h), and findings: memory
//      that is not allocated, not written, not freed, or used in no order.
//
// Which lane and column register r of lane l holds (PTX ISA, "Data Movement Shape"):
//
//   32x32b    lane l, column r
//   16x256b   lane l/4 + 8*((r/2)%2), column 2*(l%4) + r%2 + 8*(r/4)
//
// An address has the lane in bits 31–16 and the column in bits 15–0. A warp reaches only
// the lanes of its number in four: 32*(w%4) … + 31.
//
//===--------------------------------------------------------------------------===//
#include "HostOperations.h"

#include <cstring>

using namespace tilec;
using namespace tilec::emulator;

//===--- the memory -----------------------------------------------------------------===//

void TensorMemory::begin(uint32_t numThreads, uint32_t numSlots) {
  allocations.clear();
  products.clear();
  warps.assign((numThreads + 31) / 32, Warp());
  openStep = 1;
  clock.reset(numThreads, numSlots);
  isRelinquished = false;
}

bool TensorMemory::isAllocated(uint32_t column, uint32_t count) const {
  for (const Allocation &allocation : allocations)
    if (column >= allocation.column && column + count <= allocation.column + allocation.count)
      return true;
  return false;
}

uint32_t TensorMemory::findFree(uint32_t count) const {
  auto isFree = [&](uint32_t column) {
    for (const Allocation &allocation : allocations)
      if (column < allocation.column + allocation.count && allocation.column < column + count)
        return false;
    return true;
  };
  for (uint32_t column = numColumns - count; column < numColumns; column -= count)
    if (isFree(column))
      return column;
  return numColumns;
}

bool tilec::emulator::checkTensorMemory(ThreadContext &thread, uint32_t quarter,
                                        uint32_t column, uint32_t count, AccessKind kind,
                                        const AsyncAgent &agent) {
  Block &block = *thread.block;
  TensorMemory &memory = block.tensorMemory;
  if (!memory.isAllocated(column, count)) {
    block.find(thread, FindingKind::OutOfBounds,
               "accesses columns " + std::to_string(column) + " to " +
                   std::to_string(column + count - 1) +
                   " of tensor memory, which are not allocated");
    return false;
  }
  if (!block.checks())
    return true;
  Accessor who = block.agentAccessor(thread, agent, false);
  EarlierAccess earlier, found;
  bool race = false, uninitialised = false;
  for (uint32_t i = column; i < column + count; ++i) {
    ShadowCell &cell = memory.cell(quarter, i);
    uninitialised |= kind == AccessKind::Read && cell.write.block != block.tag;
    if (cell.access(who, kind, found) && !race) {
      race = true;
      earlier = found;
    }
  }
  if (uninitialised)
    block.find(thread, FindingKind::UninitialisedRead,
               "reads tensor memory that the block has not written");
  if (race)
    block.reportRace(who, kind, earlier, "tensor memory");
  return true;
}

namespace {

void misuse(ThreadContext &thread, std::string text) {
  thread.block->find(thread, FindingKind::HelperMisuse, std::move(text));
}

/// All 32 lanes take part, at one place; reports otherwise.
bool isWhole(ThreadContext *lanes, uint32_t mask) {
  ThreadContext &first = lanes[mask ? __builtin_ctz(mask) : 0];
  bool isOne = mask == ~0u;
  for (unsigned lane = 1; isOne && lane < 32; ++lane)
    isOne = lanes[lane].site == lanes[0].site;
  if (!isOne)
    first.block->find(first, FindingKind::DivergentBarrier,
                      std::string(first.operation.name) +
                          " needs all 32 lanes of the warp at one place");
  return isOne;
}

template <typename Arguments> const Arguments &of(ThreadContext &lane) {
  return *static_cast<const Arguments *>(lane.operation.payload);
}

//===--- allocation ------------------------------------------------------------------===//

struct AllocateArguments {
  char *place;
  uint32_t columns;
};
struct FreeArguments {
  uint64_t address;
  uint32_t columns;
};

bool isCount(uint32_t columns) {
  return columns >= 32 && columns <= TensorMemory::numColumns && (columns & (columns - 1)) == 0;
}

void completeAllocate(Block &block, ThreadContext *lanes, uint32_t mask) {
  if (!isWhole(lanes, mask))
    return;
  ThreadContext &first = lanes[0];
  auto [place, columns] = of<AllocateArguments>(first);
  TensorMemory &memory = block.tensorMemory;
  if (!isCount(columns))
    return misuse(first, "allocates " + std::to_string(columns) +
                             " columns of tensor memory, not a power of two from 32 to 512");
  if (memory.isRelinquished)
    misuse(first, "allocates tensor memory after the permit to do so was relinquished");
  uint32_t column = memory.findFree(columns);
  if (column == TensorMemory::numColumns)
    return misuse(first, "waits for ever for " + std::to_string(columns) +
                             " columns of tensor memory, which the block has allocated itself");
  memory.data.resize(TensorMemory::numColumns * TensorMemory::numLanes);
  memory.cells.resize(TensorMemory::numColumns * TensorMemory::numQuarters);
  memory.allocations.push_back({column, columns, first.site});
  for (uint32_t i = column; i < column + columns; ++i) {
    for (uint32_t quarter = 0; quarter < TensorMemory::numQuarters; ++quarter)
      memory.cell(quarter, i) = ShadowCell();
    std::fill_n(memory.words(i), TensorMemory::numLanes, ~0u);
  }
  if (checkShared(first, place, 4, 4, AccessKind::Write))
    std::memcpy(place, &column, 4);
}

void allocate(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  thread.block->warpOperation(
      &thread, {"tcgen05.alloc", 0, ~0u, const_cast<void *>(arguments), completeAllocate});
}

void completeFree(Block &block, ThreadContext *lanes, uint32_t mask) {
  if (!isWhole(lanes, mask))
    return;
  ThreadContext &first = lanes[0];
  auto [address, columns] = of<FreeArguments>(first);
  TensorMemory &memory = block.tensorMemory;
  auto found = std::find_if(memory.allocations.begin(), memory.allocations.end(),
                            [&, address = address, columns = columns](const auto &allocation) {
                              return allocation.column == address && allocation.count == columns;
                            });
  if (found == memory.allocations.end())
    return misuse(first, "frees tensor memory that was not allocated in this way");
  // Nobody may use it any more, as if it were written.
  AsyncAgent agent{block.tensorSlot(first.warp, true), memory.warps[first.warp].storeStep,
                   &first.clock};
  for (uint32_t quarter = 0; quarter < TensorMemory::numQuarters; ++quarter)
    checkTensorMemory(first, quarter, found->column, found->count, AccessKind::Write, agent);
  memory.allocations.erase(found);
}

void free(ThreadContext &thread, const void *arguments, void *, uint32_t) {
  thread.block->warpOperation(
      &thread, {"tcgen05.dealloc", 0, ~0u, const_cast<void *>(arguments), completeFree});
}

void completeRelinquish(Block &block, ThreadContext *lanes, uint32_t mask) {
  if (isWhole(lanes, mask))
    block.tensorMemory.isRelinquished = true;
}

void relinquish(ThreadContext &thread, const void *, void *, uint32_t) {
  thread.block->warpOperation(
      &thread, {"tcgen05.relinquish_alloc_permit", 0, ~0u, nullptr, completeRelinquish});
}

//===--- loads and stores --------------------------------------------------------------===//

enum Shape : uint32_t { Lanes32, Lanes16 };

/// Of "…ld.32x32b.x64": the shape, and the registers of a thread.
std::optional<uint32_t> parseAccess(llvm::StringRef name) {
  if (!name.consume_front("llvm.nvvm.tcgen05.ld."))
    name.consume_front("llvm.nvvm.tcgen05.st.");
  uint32_t shape, count;
  if (name.consume_front("32x32b.x"))
    shape = Lanes32;
  else if (name.consume_front("16x256b.x"))
    shape = Lanes16;
  else
    return std::nullopt;
  if (name.consumeInteger(10, count) || !name.empty())
    return std::nullopt;
  return shape << 16 | count * (shape == Lanes16 ? 4 : 1);
}

struct Access {
  uint64_t address;
  const char *values; ///< of a store
  bool isPacked;
  void *result;       ///< of a load
};

struct Position {
  uint32_t lane, column;
};

Position positionOf(uint32_t shape, uint32_t lane, uint32_t reg) {
  if (shape == Lanes32)
    return {lane, reg};
  return {lane / 4 + 8 * (reg / 2 % 2), 2 * (lane % 4) + reg % 2 + 8 * (reg / 4)};
}

/// What the whole warp knows.
VectorClock commonView(ThreadContext *lanes) {
  VectorClock clock = lanes[0].tensorView.clock;
  for (unsigned lane = 1; lane < 32; ++lane)
    clock.meet(lanes[lane].tensorView.clock);
  return clock;
}

/// Checks the access of a warp; false when it must not take place.
bool isPossible(Block &block, ThreadContext *lanes, uint32_t variant, AccessKind kind) {
  ThreadContext &first = lanes[0];
  const Access &access = of<Access>(first);
  for (unsigned lane = 1; lane < 32; ++lane)
    if (of<Access>(lanes[lane]).address != access.address) {
      misuse(lanes[lane], "the lanes of a warp give different addresses of tensor memory");
      return false;
    }
  uint32_t lane = uint32_t(access.address) >> 16, column = access.address & 0xFFFF;
  uint32_t quarter = first.warp % 4;
  bool isLane = lane == 32 * quarter || (variant >> 16 == Lanes16 && lane == 32 * quarter + 16);
  if (!isLane || access.isPacked) {
    misuse(first, access.isPacked ? "packed accesses of tensor memory are not emulated"
                                  : "warp " + std::to_string(first.warp) +
                                        " cannot reach lane " + std::to_string(lane) +
                                        " of tensor memory");
    return false;
  }
  TensorMemory::Warp &warp = block.tensorMemory.warps[first.warp];
  bool isStore = kind == AccessKind::Write;
  VectorClock clock = commonView(lanes);
  AsyncAgent agent{block.tensorSlot(first.warp, isStore),
                   isStore ? warp.storeStep : warp.loadStep, &clock};
  uint32_t registers = variant & 0xFFFF;
  return checkTensorMemory(first, quarter, column,
                           variant >> 16 == Lanes16 ? registers * 2 : registers, kind, agent);
}

uint32_t &wordAt(Block &block, const Access &access, uint32_t variant, uint32_t lane,
                 uint32_t reg) {
  Position position = positionOf(variant >> 16, lane, reg);
  uint32_t column = (access.address & 0xFFFF) + position.column;
  return block.tensorMemory.words(column)[(access.address >> 16) + position.lane];
}

void completeLoad(Block &block, ThreadContext *lanes, uint32_t mask) {
  uint32_t variant = lanes[__builtin_ctz(mask)].operation.variant;
  if (!isWhole(lanes, mask) || !isPossible(block, lanes, variant, AccessKind::Read))
    return;
  uint32_t registers = variant & 0xFFFF;
  TensorMemory::Warp &warp = block.tensorMemory.warps[lanes[0].warp];
  constexpr size_t mostKept = 64;
  if (warp.loaded.size() == mostKept)
    warp.loaded.pop_front();
  TensorMemory::Loaded &loaded = warp.loaded.emplace_back();
  loaded.id = warp.nextId++ % LoadMark::numIds;
  loaded.registers = registers;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const Access &access = of<Access>(lanes[lane]);
    for (uint32_t r = 0; r < registers; ++r) {
      loaded.words.push_back(wordAt(block, access, variant, lane, r));
      static_cast<uint32_t *>(access.result)[r] = LoadMark::make(loaded.id, r);
    }
  }
}

struct LoadArguments {
  uint64_t address;
  bool isPacked;
};

void load(ThreadContext &thread, const void *arguments, void *result, uint32_t variant) {
  const auto &a = as<LoadArguments>(arguments);
  std::memset(result, 0xFF, (variant & 0xFFFF) * 4);
  Access access{a.address, nullptr, a.isPacked, result};
  thread.block->warpOperation(&thread, {"tcgen05.ld", variant, ~0u, &access, completeLoad});
}

void completeStore(Block &block, ThreadContext *lanes, uint32_t mask) {
  uint32_t variant = lanes[__builtin_ctz(mask)].operation.variant;
  if (!isWhole(lanes, mask) || !isPossible(block, lanes, variant, AccessKind::Write))
    return;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const Access &access = of<Access>(lanes[lane]);
    for (uint32_t r = 0; r < (variant & 0xFFFF); ++r)
      std::memcpy(&wordAt(block, access, variant, lane, r), access.values + 4 * r, 4);
  }
}

void store(ThreadContext &thread, const void *arguments, void *, uint32_t variant) {
  // The address, then a vector at a multiple of its size, then a flag.
  uint32_t bytes = (variant & 0xFFFF) * 4;
  const char *values = static_cast<const char *>(arguments) + std::max(8u, bytes);
  Access access{as<uint64_t>(arguments), values, (values[bytes] & 1) != 0, nullptr};
  thread.block->warpOperation(&thread, {"tcgen05.st", variant, ~0u, &access, completeStore});
}

//===--- waits and fences -----------------------------------------------------------===//

/// All that the warp has loaded, or stored, is over for its threads.
void completeWait(Block &block, ThreadContext *lanes, uint32_t mask, bool isForStores) {
  if (!isWhole(lanes, mask))
    return;
  TensorMemory::Warp &warp = block.tensorMemory.warps[lanes[0].warp];
  uint32_t step = isForStores ? warp.storeStep++ : warp.loadStep++;
  for (unsigned lane = 0; lane < 32; ++lane) {
    TensorView &view = lanes[lane].tensorView;
    (isForStores ? view.stores : view.loads) = step;
    if (block.checks())
      view.clock.raise(block.tensorSlot(lanes[0].warp, isForStores), step);
  }
}
void completeLoadWait(Block &block, ThreadContext *lanes, uint32_t mask) {
  completeWait(block, lanes, mask, /*isForStores=*/false);
}
void completeStoreWait(Block &block, ThreadContext *lanes, uint32_t mask) {
  completeWait(block, lanes, mask, /*isForStores=*/true);
}

/// Of "tilec.tcgen05.wait.ld.i32x64": the registers that pass through.
std::optional<uint32_t> parseWait(llvm::StringRef name) {
  name.consume_front("tilec.tcgen05.wait.ld");
  uint32_t registers = 0;
  while (!name.empty()) {
    uint32_t count;
    if (!name.consume_front(".i32x") || name.consumeInteger(10, count))
      return std::nullopt;
    registers += count;
  }
  return registers;
}

void waitForLoads(ThreadContext &thread, const void *arguments, void *result,
                  uint32_t registers) {
  Block &block = *thread.block;
  block.warpOperation(&thread, {"tcgen05.wait::ld", registers, ~0u, nullptr, completeLoadWait});
  TensorMemory::Warp &warp = block.tensorMemory.warps[thread.warp];
  auto *in = static_cast<const uint32_t *>(arguments);
  auto *out = static_cast<uint32_t *>(result);
  for (uint32_t r = 0; r < registers; ++r) {
    out[r] = in[r];
    if (!LoadMark::isMark(in[r]))
      continue;
    uint32_t reg = LoadMark::registerOf(in[r]);
    for (const TensorMemory::Loaded &loaded : warp.loaded)
      if (loaded.id == LoadMark::idOf(in[r]) && reg < loaded.registers)
        out[r] = loaded.words[thread.lane * loaded.registers + reg];
  }
}

void waitForStores(ThreadContext &thread, const void *, void *, uint32_t) {
  thread.block->warpOperation(&thread,
                              {"tcgen05.wait::st", 0, ~0u, nullptr, completeStoreWait});
}

void fenceBefore(ThreadContext &thread, const void *, void *, uint32_t) {
  Block &block = *thread.block;
  if (!block.checks())
    return;
  thread.clock.raise(block.tensorSlot(thread.warp, false), thread.tensorView.loads);
  thread.clock.raise(block.tensorSlot(thread.warp, true), thread.tensorView.stores);
}

void fenceAfter(ThreadContext &thread, const void *, void *, uint32_t) {
  if (thread.block->checks())
    thread.tensorView.clock.join(thread.clock);
}

} // namespace

void tilec::emulator::checkLoaded(ThreadContext &thread, uint32_t word, uint32_t site) {
  TensorMemory &memory = thread.block->tensorMemory;
  for (const TensorMemory::Loaded &loaded : memory.warps[thread.warp].loaded)
    if (loaded.id == LoadMark::idOf(word) && LoadMark::registerOf(word) < loaded.registers) {
      thread.site = site;
      misuse(thread, "uses what tcgen05.ld loads before a wait has returned it");
      return;
    }
}

void tilec::emulator::reportUnfinishedTensorMemory(Block &block) {
  TensorMemory &memory = block.tensorMemory;
  if (!memory.products.empty()) {
    ThreadContext &thread = *memory.products.front().issuer;
    thread.site = memory.products.front().site;
    misuse(thread, "a tcgen05.mma is still in flight when its block leaves the kernel");
  }
  if (!memory.allocations.empty()) {
    ThreadContext &thread = block.threads[0];
    thread.site = memory.allocations.front().site;
    misuse(thread, "tensor memory is not freed when the block leaves the kernel");
  }
}

llvm::ArrayRef<OperationEntry> tilec::emulator::tensorMemoryOperations() {
  static const OperationEntry entries[] = {
      {"llvm.nvvm.tcgen05.alloc.shared.cg1", allocate},
      {"llvm.nvvm.tcgen05.dealloc.cg1", free},
      {"llvm.nvvm.tcgen05.relinq.alloc.permit.cg1", relinquish},
      {"llvm.nvvm.tcgen05.ld.*", load, 0, parseAccess},
      {"llvm.nvvm.tcgen05.st.*", store, 0, parseAccess},
      {"tilec.tcgen05.wait.ld", waitForLoads},
      {"tilec.tcgen05.wait.ld.*", waitForLoads, 0, parseWait},
      {"llvm.nvvm.tcgen05.wait.st", waitForStores},
      {"llvm.nvvm.tcgen05.fence.before.thread.sync", fenceBefore},
      {"llvm.nvvm.tcgen05.fence.after.thread.sync", fenceAfter},
  };
  return entries;
}
