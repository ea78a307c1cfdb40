//===- Layout.cpp - the algebra of layouts ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Evaluation, composition, inversion, shape operations and questions. Coordinates
// are row-major numbers throughout; a dimension is a field of bits in them (see
// the header). Constructors of whole families are in LayoutBuild.cpp.
//===----------------------------------------------------------------------===//
#include "tilec/Layout/Layout.h"
#include "tilec/Layout/Span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>
#include <utility>

using namespace tilec;

llvm::StringRef tilec::inputName(Input input) {
  static constexpr llvm::StringLiteral names[numInputs] = {
      "register", "lane", "warp", "block", "offset"};
  return names[unsigned(input)];
}

Layout::Layout(llvm::ArrayRef<int64_t> shape) : dims(shape.begin(), shape.end()) {
  assert(llvm::all_of(shape, [](int64_t d) { return d > 0 && llvm::isPowerOf2_64(d); }) &&
         "tile dimensions are powers of two");
}

//===----------------------------------------------------------------------===//
// Fields of the row-major number
//===----------------------------------------------------------------------===//

unsigned Layout::fieldBits(unsigned dim) const { return llvm::Log2_64(dims[dim]); }

unsigned Layout::fieldShift(unsigned dim) const {
  unsigned shift = 0;
  for (unsigned d = dim + 1; d < rank(); ++d)
    shift += fieldBits(d);
  return shift;
}

uint64_t Layout::fieldMask(unsigned dim) const {
  return uint64_t(dims[dim] - 1) << fieldShift(dim);
}

int64_t Layout::numElements() const { return int64_t(1) << numOutputBits(); }

unsigned Layout::numOutputBits() const {
  unsigned bits = 0;
  for (unsigned d = 0; d < rank(); ++d)
    bits += fieldBits(d);
  return bits;
}

uint64_t Layout::flatten(llvm::ArrayRef<int64_t> coords) const {
  assert(coords.size() == rank());
  uint64_t flat = 0;
  for (auto [dim, coord] : llvm::enumerate(coords)) {
    assert(coord >= 0 && coord < dims[dim] && "coordinate outside of the tile");
    flat = flat << fieldBits(dim) | uint64_t(coord);
  }
  return flat;
}

Layout::Coords Layout::unflatten(uint64_t flat) const {
  Coords coords(rank());
  for (unsigned dim = 0; dim < rank(); ++dim)
    coords[dim] = field(flat, dim);
  return coords;
}

//===----------------------------------------------------------------------===//
// Bits and bases
//===----------------------------------------------------------------------===//

void Layout::checkBasis(uint64_t flat) const {
  assert(flat < uint64_t(numElements()) && "basis outside of the tile");
  (void)flat;
}

Layout &Layout::addFlat(Input input, uint64_t flat) {
  checkBasis(flat);
  columns[unsigned(input)].push_back(flat);
  return *this;
}

Layout &Layout::add(Input input, llvm::ArrayRef<int64_t> coords) {
  return addFlat(input, flatten(coords));
}

Layout &Layout::addRun(Input input, unsigned dim, int64_t start, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    addFlat(input, uint64_t(start) << i << fieldShift(dim));
  return *this;
}

Layout &Layout::addZeros(Input input, unsigned count) {
  columns[unsigned(input)].append(count, 0);
  return *this;
}

unsigned Layout::numInputBits() const {
  unsigned bits = 0;
  for (const Bases &column : columns)
    bits += column.size();
  return bits;
}

Layout::Bases Layout::allBases() const {
  Bases all;
  for (const Bases &column : columns)
    all.append(column.begin(), column.end());
  return all;
}

bool Layout::isSurjective() const {
  return Span(allBases()).dimension() == numOutputBits();
}

bool Layout::isInjective() const {
  return Span(allBases()).dimension() == numInputBits();
}

bool Layout::equalUpToRegisterCopies(const Layout &other) const {
  return withoutRegisterCopies() == other.withoutRegisterCopies();
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static uint64_t sumOf(llvm::ArrayRef<uint64_t> bases, uint64_t bits) {
  assert((bases.size() >= 64 || bits < uint64_t(1) << bases.size()) &&
         "position outside of the layout");
  uint64_t sum = 0;
  for (unsigned i = 0; bits; ++i, bits >>= 1)
    if (bits & 1)
      sum ^= bases[i];
  return sum;
}

uint64_t Layout::applyFlat(const Position &position) const {
  uint64_t flat = 0;
  for (Input input : allInputs)
    flat ^= sumOf(bases(input), position[input]);
  return flat;
}

uint64_t Layout::applyBits(uint64_t inputBits) const {
  return applyFlat(splitBits(inputBits));
}

Position Layout::splitBits(uint64_t inputBits) const {
  Position position;
  for (Input input : allInputs) {
    position[input] = inputBits & (size(input) - 1);
    inputBits >>= numBits(input);
  }
  return position;
}

uint64_t Layout::joinBits(const Position &position) const {
  uint64_t bits = 0;
  unsigned shift = 0;
  for (Input input : allInputs) {
    bits |= position[input] << shift;
    shift += numBits(input);
  }
  return bits;
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

template <typename Change>
Layout Layout::mapBases(llvm::ArrayRef<int64_t> newShape, Change change) const {
  Layout result(newShape);
  for (Input input : allInputs)
    for (uint64_t flat : bases(input))
      result.addFlat(input, change(flat));
  return result;
}

Layout Layout::then(const Layout &next) const {
  assert(numOutputBits() <= next.numInputBits() && "maps do not fit");
  return mapBases(next.dims, [&](uint64_t flat) { return next.applyBits(flat); });
}

Layout Layout::invert() const {
  Shape positions;
  for (Input input : llvm::reverse(allInputs))
    positions.push_back(int64_t(size(input)));
  Span span(allBases());
  Layout result(positions);
  for (unsigned bit = 0, e = numOutputBits(); bit < e; ++bit) {
    std::optional<uint64_t> place = span.solve(uint64_t(1) << bit);
    assert(place && "only surjective layouts have an inverse");
    result.addFlat(Input::Offset, place.value_or(0));
  }
  return result;
}

Position Layout::find(uint64_t flat) const {
  return splitBits(Span(allBases()).solve(flat).value_or(0));
}

Layout Layout::product(const Layout &outer) const {
  assert(rank() == outer.rank() && "products are of equal rank");
  Shape newShape;
  for (auto [mine, others] : llvm::zip_equal(dims, outer.dims))
    newShape.push_back(mine * others);
  Layout result(newShape);
  for (Input input : allInputs) {
    for (uint64_t flat : bases(input))
      result.add(input, unflatten(flat));
    for (uint64_t flat : outer.bases(input)) {
      Coords coords = outer.unflatten(flat);
      for (auto [coord, size] : llvm::zip_equal(coords, dims))
        coord *= size;
      result.add(input, coords);
    }
  }
  return result;
}

std::optional<Layout> Layout::divide(const Layout &inner) const {
  if (rank() != inner.rank())
    return std::nullopt;
  Shape newShape;
  for (auto [mine, inners] : llvm::zip_equal(dims, inner.dims)) {
    if (mine % inners)
      return std::nullopt;
    newShape.push_back(mine / inners);
  }
  Layout result(newShape);
  for (Input input : allInputs) {
    unsigned numInner = inner.numBits(input);
    if (numBits(input) < numInner)
      return std::nullopt;
    for (auto [bit, flat] : llvm::enumerate(bases(input))) {
      Coords coords = unflatten(flat);
      if (bit < numInner) {
        if (coords != inner.unflatten(inner.basis(input, bit)))
          return std::nullopt;
        continue;
      }
      for (auto [coord, size] : llvm::zip_equal(coords, inner.dims)) {
        if (coord % size)
          return std::nullopt;
        coord /= size;
      }
      result.add(input, coords);
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Shape operations
//===----------------------------------------------------------------------===//

Layout Layout::slice(unsigned axis) const {
  Shape newShape(dims);
  newShape.erase(newShape.begin() + axis);
  return collapse(axis).reshape(newShape);
}

Layout Layout::collapse(unsigned axis) const {
  unsigned shift = fieldShift(axis), above = shift + fieldBits(axis);
  Shape newShape(dims);
  newShape[axis] = 1;
  return mapBases(newShape, [&](uint64_t flat) {
    uint64_t low = flat & ((uint64_t(1) << shift) - 1);
    return flat >> above << shift | low;
  });
}

Layout Layout::expandDims(unsigned axis) const {
  Shape newShape(dims);
  newShape.insert(newShape.begin() + axis, 1);
  return reshape(newShape);
}

Layout Layout::permute(llvm::ArrayRef<int64_t> order) const {
  assert(order.size() == rank());
  Shape newShape;
  for (int64_t dim : order)
    newShape.push_back(dims[dim]);
  Layout target(newShape);
  return mapBases(newShape, [&](uint64_t flat) {
    Coords from = unflatten(flat), to;
    for (int64_t dim : order)
      to.push_back(from[dim]);
    return target.flatten(to);
  });
}

Layout Layout::reshape(llvm::ArrayRef<int64_t> newShape) const {
  Layout result(newShape);
  assert(result.numElements() == numElements() && "a reshape keeps the size");
  result.columns = columns;
  return result;
}

Layout Layout::broadcast(llvm::ArrayRef<int64_t> newShape) const {
  assert(newShape.size() == rank());
  Layout grown(newShape);
  Layout result = mapBases(newShape, [&](uint64_t flat) {
    return grown.flatten(unflatten(flat));
  });
  // Where the new coordinates may come from without costing registers.
  llvm::SmallVector<std::pair<Input, unsigned>> spare;
  for (Input input : {Input::Lane, Input::Warp}) {
    uint64_t mask = redundant(input);
    for (unsigned bit = 0; bit < numBits(input); ++bit)
      if (mask >> bit & 1)
        spare.push_back({input, bit});
  }
  unsigned next = 0;
  for (unsigned d = rank(); d-- > 0;) {
    if (dims[d] == newShape[d])
      continue;
    assert(dims[d] == 1 && "only axes of size one stretch");
    for (unsigned i = 0; i < grown.fieldBits(d); ++i) {
      uint64_t basis = uint64_t(1) << (grown.fieldShift(d) + i);
      if (next < spare.size()) {
        auto [input, bit] = spare[next++];
        result.columns[unsigned(input)][bit] ^= basis;
      } else {
        result.addFlat(Input::Register, basis);
      }
    }
  }
  return result;
}

std::optional<Layout> Layout::halve(unsigned axis) const {
  if (dims[axis] == 1)
    return std::nullopt;
  uint64_t top = fieldMask(axis) & ~(fieldMask(axis) >> 1);
  // Only then has the other half the same places, with `top` added.
  if (!Span(bases(Input::Register)).contains(top))
    return std::nullopt;
  Shape newShape(dims);
  newShape[axis] /= 2;
  Layout result(newShape);
  uint64_t pivot = 0;
  for (Input input : allInputs) {
    for (uint64_t flat : bases(input)) {
      if (flat & top) {
        if (input != Input::Register)
          return std::nullopt;
        // The first register bit to change halves is fixed; others go along with it.
        if (!std::exchange(pivot, pivot ? pivot : flat))
          continue;
        flat ^= pivot;
      }
      result.add(input, unflatten(flat));
    }
  }
  return result;
}

Layout Layout::withoutRegisterCopies() const {
  Layout result(dims);
  result.columns = columns;
  Bases &registers = result.columns[unsigned(Input::Register)];
  registers.clear();
  Span span;
  for (uint64_t flat : bases(Input::Register))
    if (span.add(flat))
      registers.push_back(flat);
  return result;
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

uint64_t Layout::redundant(Input input) const {
  Span span;
  uint64_t mask = 0;
  for (Input current : allInputs) {
    for (auto [bit, flat] : llvm::enumerate(bases(current)))
      if (!span.add(flat) && current == input)
        mask |= uint64_t(1) << bit;
    if (current == input)
      break;
  }
  return mask;
}

llvm::SmallVector<unsigned, 4> Layout::vectorRegisters(unsigned dim) const {
  llvm::SmallVector<unsigned, 4> result;
  for (unsigned i = 0; i < fieldBits(dim); ++i) {
    uint64_t unit = uint64_t(1) << (fieldShift(dim) + i);
    // Exactly one basis of all may contain the unit, and must be it.
    unsigned users = 0;
    for (uint64_t flat : allBases())
      users += (flat & unit) != 0;
    const uint64_t *at = llvm::find(bases(Input::Register), unit);
    if (users != 1 || at == bases(Input::Register).end())
      break;
    result.push_back(at - bases(Input::Register).begin());
  }
  return result;
}
