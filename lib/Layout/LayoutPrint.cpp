//===- LayoutPrint.cpp - layouts as text and pictures -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// For people: the compact line in remarks and test failures, and the picture of
// `tilec --emit=layout`. The IR's own, readable-back form is that of #tile.layout.
//===----------------------------------------------------------------------===//
#include "tilec/Layout/Layout.h"
#include "tilec/Layout/Span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;

static void printBasis(llvm::raw_ostream &os, const Layout &layout, uint64_t flat) {
  if (!flat) {
    os << " 0";
    return;
  }
  os << " (";
  llvm::interleave(layout.unflatten(flat), os, ",");
  os << ")";
}

/// The bases next to each other that double each time, e.g. (0,1) (0,2) (0,4).
static size_t runLength(llvm::ArrayRef<uint64_t> bases, const Layout &layout) {
  size_t length = 1;
  while (bases.front() && length < bases.size()) {
    Layout::Coords before = layout.unflatten(bases[length - 1]);
    Layout::Coords here = layout.unflatten(bases[length]);
    for (int64_t &coord : before)
      coord *= 2;
    if (before != here)
      break;
    ++length;
  }
  return length;
}

void Layout::print(llvm::raw_ostream &os) const {
  llvm::interleave(dims, os, "x");
  if (dims.empty())
    os << "scalar";
  for (Input input : allInputs) {
    llvm::ArrayRef<uint64_t> rest = bases(input);
    if (rest.empty())
      continue;
    os << " " << inputName(input);
    while (!rest.empty()) {
      size_t length = runLength(rest, *this);
      if (length < 3) {
        length = 1;
        printBasis(os, *this, rest.front());
      } else {
        printBasis(os, *this, rest.front());
        os << " ..";
        printBasis(os, *this, rest[length - 1]);
      }
      rest = rest.drop_front(length);
    }
  }
}

std::string Layout::str() const {
  std::string text;
  llvm::raw_string_ostream(text) << *this;
  return text;
}

void Layout::draw(llvm::raw_ostream &os, unsigned maxRows, unsigned maxCols) const {
  int64_t cols = rank() ? dims.back() : 1;
  int64_t rows = rank() > 1 ? dims[rank() - 2] : 1;
  bool threads = isDistributed();
  os << "# " << *this << "\n# each element's first place, as "
     << (threads ? "warp:lane:register" : "offset");
  if (rank() > 2)
    os << "; the first of " << numElements() / (rows * cols) << " matrices";
  os << "\n";
  Span span(allBases());
  int64_t drawnCols = std::min<int64_t>(cols, maxCols);
  os << llvm::format("%6s", "");
  for (int64_t col = 0; col < drawnCols; ++col)
    os << llvm::format(" %9d", int(col));
  os << (drawnCols < cols ? "  ...\n" : "\n");
  for (int64_t row = 0; row < std::min<int64_t>(rows, maxRows); ++row) {
    os << llvm::format("%6d", int(row));
    for (int64_t col = 0; col < drawnCols; ++col) {
      Position at = splitBits(span.solve(row * cols + col).value_or(0));
      std::string cell;
      llvm::raw_string_ostream text(cell);
      if (threads)
        text << at[Input::Warp] << ":" << at[Input::Lane] << ":" << at[Input::Register];
      else
        text << at[Input::Offset];
      os << llvm::format(" %9s", cell.c_str());
    }
    os << "\n";
  }
  if (rows > int64_t(maxRows))
    os << "   ...\n";
}
