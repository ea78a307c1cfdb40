//===- SharedPlan.cpp - buffers without bank conflicts ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: the layout that writes and the layout that reads. Out: a buffer layout whose
// offset bits are [vector, word | banks | rows] as described in Conversion.h, and the way
// each thread's registers go to it.
//
// Why sums of lane bases: let P and Q be what the lanes of writer and reader span. A
// row basis inside P makes two writing lanes differ by a row only: they meet in a bank.
// p ^ q with p outside of Q and q outside of P lies in neither. Anything outside of
// P + Q does too. So the number of rows free of conflicts is
//   dim(tile) - dim(P + Q) + min(dim P, dim Q) - dim(P and Q),
// which is all rows that there are unless the tile is tiny.
//===----------------------------------------------------------------------===//
#include "tilec/Layout/Conversion.h"
#include "tilec/Layout/Span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>
#include <map>
#include <set>

using namespace tilec;

using Vectors = llvm::SmallVector<uint64_t>;

static unsigned log2Bytes(unsigned elementBits) {
  return llvm::Log2_64(std::max(1u, elementBits / 8));
}

static Vectors threadBases(const Layout &layout) {
  Vectors result;
  for (Input input : {Input::Lane, Input::Warp, Input::Block})
    llvm::append_range(result, layout.bases(input));
  return result;
}

/// The lanes that the hardware serves together when each moves 1 << `bytesLog2`
/// bytes: 32 up to four bytes, 16 of eight, 8 of sixteen; twice as many where lanes that
/// differ in bit 0 or bit 1 move the same.
static unsigned wavefrontLaneBits(const Layout &layout, unsigned bytesLog2) {
  unsigned bits = std::min(5u, 7 - bytesLog2);
  bool pairs = llvm::is_contained(layout.bases(Input::Lane).take_front(2), uint64_t(0));
  return bits < 5 && pairs ? bits + 1 : bits;
}

namespace {
class BufferPlanner {
public:
  BufferPlanner(const Layout &store, const Layout &load, unsigned elementBits, unsigned row)
      : store(store), load(load), byteShift(log2Bytes(elementBits)) {
    llvm::append_range(threads, threadBases(store));
    llvm::append_range(threads, threadBases(load));
    unsigned bits = llvm::Log2_32(row);
    for (uint64_t basis : load.bases(Input::Register).take_front(bits)) {
      vector.push_back(basis);
      rowMask |= basis;
    }
  }

  Layout plan() {
    if (vector.empty())
      chooseVector();
    chooseLanes();
    chooseRows();
    return assemble();
  }

private:
  /// What both sides own in registers, disjoint from what tells threads apart, so
  /// that the vector's offset bits do not depend on the thread.
  void chooseVector() {
    unsigned most = byteShift >= 4 ? 0 : 4 - byteShift;
    Span taken(threads);
    for (uint64_t common : Span::intersect(store.bases(Input::Register), load.bases(Input::Register))) {
      if (vector.size() == most)
        break;
      if (taken.add(common))
        vector.push_back(common);
    }
  }

  /// How many of the first elements of a vector one thread of `store` has in registers.
  unsigned storeBits() const {
    Span own(store.bases(Input::Register)), taken(threadBases(store));
    unsigned bits = 0;
    while (bits < vector.size() && own.contains(vector[bits]) && taken.add(vector[bits]))
      ++bits;
    return bits;
  }

  /// The lanes that access memory together on either side.
  void chooseLanes() {
    auto first = [](const Layout &layout, unsigned bits) {
      return Vectors(layout.bases(Input::Lane).take_front(bits));
    };
    writers = first(store, wavefrontLaneBits(store, byteShift + storeBits()));
    readers = first(load, wavefrontLaneBits(load, byteShift + vector.size()));
  }

  /// Fills up the four bytes of a bank where the vector is narrower: elements that
  /// share a word never conflict. Best those of lanes that work at the same time.
  void chooseWord() {
    Span span(vector);
    word = vector;
    Vectors shared = Span::intersect(writers, readers);
    unsigned bits = byteShift >= 2 ? 0 : 2 - byteShift;
    for (llvm::ArrayRef<uint64_t> candidates :
         {llvm::ArrayRef<uint64_t>(shared),
          llvm::ArrayRef<uint64_t>(writers), llvm::ArrayRef<uint64_t>(readers),
          llvm::ArrayRef<uint64_t>(threads)})
      for (uint64_t candidate : candidates)
        if (word.size() < bits && span.add(candidate))
          word.push_back(candidate);
  }

  /// Rows and banks leave the order within kept elements alone.
  bool tryRow(uint64_t candidate) {
    candidate &= ~rowMask;
    if (rows.size() >= rowsWanted || besideWriters.contains(candidate) ||
        besideReaders.contains(candidate))
      return false;
    besideWriters.add(candidate);
    besideReaders.add(candidate);
    rows.push_back(candidate);
    return true;
  }

  void chooseRows() {
    unsigned total = store.numOutputBits(), bankBits = 7 - byteShift;
    rowsWanted = total > bankBits ? total - bankBits : 0;
    chooseWord();
    besideReaders = Span(word);
    // A writer that is narrower than the vector shares no more than a word.
    unsigned wordBits = std::max(byteShift >= 2 ? 0 : 2 - byteShift, storeBits());
    besideWriters = Span(rowMask ? llvm::ArrayRef(word).take_front(wordBits) : llvm::ArrayRef(word));
    for (uint64_t lane : writers)
      besideWriters.add(lane);
    for (uint64_t lane : readers)
      besideReaders.add(lane);
    // Elements that no thread number reaches: registers of both sides.
    Span reached(threads);
    for (uint64_t member : vector)
      reached.add(member);
    for (unsigned bit = 0; bit < total; ++bit)
      if (!reached.contains(uint64_t(1) << bit) && tryRow(uint64_t(1) << bit))
        reached.add(uint64_t(1) << bit);
    for (uint64_t member : threads)
      tryRow(member);
    for (uint64_t p : writers)
      for (uint64_t q : readers)
        tryRow(p ^ q);
  }

  Layout assemble() {
    Layout buffer(store.shape());
    Span span;
    auto append = [&](llvm::ArrayRef<uint64_t> candidates) {
      for (uint64_t candidate : candidates)
        if (span.add(candidate & ~rowMask))
          bases.push_back(candidate & ~rowMask);
    };
    for (uint64_t member : word) {
      span.add(member);
      bases.push_back(member);
    }
    for (uint64_t row : rows)
      span.add(row);
    append(Span::intersect(writers, readers));
    append(writers);
    append(readers);
    append(threads);
    for (unsigned bit = 0; bit < store.numOutputBits(); ++bit)
      append(uint64_t(1) << bit);
    llvm::append_range(bases, rows);
    for (uint64_t basis : bases)
      buffer.addFlat(Input::Offset, basis);
    return buffer;
  }

  const Layout &store, &load;
  unsigned byteShift;
  unsigned rowsWanted = 0;
  uint64_t rowMask = 0; ///< of elements that are to stay side by side
  Vectors threads, vector, word, writers, readers, rows, bases;
  Span besideWriters, besideReaders;
};
} // namespace

SharedPlan tilec::planShared(const Layout &store, const Layout &load, unsigned elementBits,
                             unsigned row) {
  SharedPlan plan;
  plan.buffer = BufferPlanner(store, load, elementBits, row).plan();
  plan.storeVector = planSharedAccess(store, plan.buffer, elementBits).vector;
  plan.loadVector = planSharedAccess(load, plan.buffer, elementBits).vector;
  plan.storeConflicts = countBankConflicts(store, plan.buffer, elementBits);
  plan.loadConflicts = countBankConflicts(load, plan.buffer, elementBits);
  return plan;
}

//===----------------------------------------------------------------------===//
// A thread's accesses
//===----------------------------------------------------------------------===//

/// Do lanes, warps and blocks leave the offset's bits below `bits` alone?
static bool threadsLeaveLowBits(const Layout &offsetOf, unsigned bits) {
  return llvm::all_of(threadBases(offsetOf), [&](uint64_t offset) {
    return (offset & ((uint64_t(1) << bits) - 1)) == 0;
  });
}

SharedAccess tilec::planSharedAccess(const Layout &registers, const Layout &buffer,
                                     unsigned elementBits, unsigned maxBytes) {
  SharedAccess access;
  access.copies = registerCopies(registers);
  access.offsetOf = registers.then(buffer.invert()).reshape({buffer.numElements()});
  Span span(access.offsetOf.bases(Input::Register));
  unsigned most = llvm::Log2_64(std::max(1u, maxBytes >> log2Bytes(elementBits)));
  Vectors masks;
  while (masks.size() < most) {
    std::optional<uint64_t> mask = span.solve(uint64_t(1) << masks.size());
    if (!mask || !threadsLeaveLowBits(access.offsetOf, masks.size() + 1))
      break;
    masks.push_back(*mask);
  }
  access.vector = 1u << masks.size();
  for (uint64_t element = 0; element < access.vector; ++element)
    access.elements.push_back(ShufflePlan::apply(masks, element));
  uint64_t copies = registers.redundant(Input::Register);
  for (uint64_t reg = 0; reg < registers.size(Input::Register); ++reg) {
    uint64_t offset = access.offsetOf.applyFlat(Position::thread(reg, 0));
    if (!(reg & copies) && offset % access.vector == 0)
      access.groups.push_back(reg);
  }
  return access;
}

unsigned tilec::countBankConflicts(const Layout &registers, const Layout &buffer,
                                   unsigned elementBits) {
  SharedAccess access = planSharedAccess(registers, buffer, elementBits);
  unsigned bytes = std::max(1u, elementBits / 8);
  uint64_t lanes = registers.size(Input::Lane);
  uint64_t together = std::min<uint64_t>(
      lanes, uint64_t(1) << wavefrontLaneBits(registers, llvm::Log2_64(bytes * access.vector)));
  // By linearity every register group and every warp sees the same pattern.
  unsigned wavefronts = 0, ideal = 0;
  for (uint64_t first = 0; first < lanes; first += together) {
    std::map<uint64_t, std::set<uint64_t>> wordsOfBank;
    std::set<uint64_t> words;
    for (uint64_t lane = first; lane < first + together; ++lane) {
      uint64_t start = access.offsetOf.applyFlat(Position::thread(0, lane)) * bytes;
      for (uint64_t byte = start; byte < start + bytes * access.vector; ++byte) {
        wordsOfBank[byte / 4 % 32].insert(byte / 4);
        words.insert(byte / 4);
      }
    }
    size_t most = 0;
    for (auto &[bank, rows] : wordsOfBank)
      most = std::max(most, rows.size());
    wavefronts += most;
    ideal += (words.size() + 31) / 32;
  }
  return (wavefronts + ideal - 1) / ideal;
}
