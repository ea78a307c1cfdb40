//===- Layout.h - where each element of a tile lives ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// # Layouts, from the beginning
//
// A tile is a block of elements, say 16 x 16. A GPU has no place for a tile; it
// has registers, 32 lanes to a warp, some warps to a block, and shared memory. A
// layout says which of these holds which element. Everything the compiler needs
// to know about data placement - how wide a load can be, whether two values can
// be added without moving anything, how to reduce along an axis, where in shared
// memory a row starts so that no two lanes meet in a bank - is a question about
// layouts, and this file gives one answer to all of them.
//
// ## Bits instead of numbers
//
// All sizes are powers of two: those of tiles by a rule of the language, those of
// the hardware by luck. So positions are bits. A 4 x 8 tile has 2 bits of row and
// 3 bits of column. Take the plainest way to spread it over 8 lanes of 4 registers:
// each lane takes 4 neighbours of a row.
//
//              col 0   1   2   3 | 4   5   6   7
//      row 0     L0  L0  L0  L0  | L1  L1  L1  L1         lane   = row * 2 + col / 4
//      row 1     L2  L2  L2  L2  | L3  L3  L3  L3         register = col % 4
//      row 2     L4  L4  L4  L4  | L5  L5  L5  L5
//      row 3     L6  L6  L6  L6  | L7  L7  L7  L7
//
// In bits: register bits 0 and 1 are column bits 0 and 1, lane bit 0 is column bit
// 2, lane bits 1 and 2 are row bits 0 and 1. Written as the coordinates (row, col)
// to which each single bit takes us:
//
//      register   bit 0 -> (0,1)   bit 1 -> (0,2)
//      lane       bit 0 -> (0,4)   bit 1 -> (1,0)   bit 2 -> (2,0)
//
// Five pairs, and we know all 32 places: for register 3 of lane 5 add up (0,1) +
// (0,2) + (0,4) + (2,0) = (2,7). These pairs are called the *bases* of the layout.
//
// ## Adding is XOR
//
// Why is it right to add? Because the bits do not meet, each column bit comes from
// one place. Let us drop that: let bases overlap, and let addition be XOR, so that
// nothing ever carries. The map from position bits to coordinate bits is then
// *linear* over GF(2), the field of two elements:
//
//      layout(a ^ b) = layout(a) ^ layout(b)          layout(0) = 0
//
// and the bases are the columns of its matrix. Overlapping bases are not a
// curiosity, they are how hardware avoids bank conflicts. A swizzled buffer in
// shared memory is a layout from the bits of an offset:
//
//      offset 0..7 : row 0      plain               swizzled: row r starts at r
//
//      offset     0  1  2  3                  offset     0  1  2  3
//      row 0    c0 c1 c2 c3                   row 0    c0 c1 c2 c3
//      row 1    c0 c1 c2 c3                   row 1    c1 c0 c3 c2
//      row 2    c0 c1 c2 c3                   row 2    c2 c3 c0 c1
//      row 3    c0 c1 c2 c3                   row 3    c3 c2 c1 c0
//
//      offset bits -> (0,1) (0,2)             offset bits -> (0,1) (0,2)
//                     (1,0) (2,0)                            (1,1) (2,2)
//
// Reading a column of the plain buffer hits one bank four times; of the other, four
// banks once. Only two bases changed.
//
// ## What linear algebra gives for free
//
// Questions that look like case analysis become questions about vectors.
//
// * *Where is element (r, c)?* Solve layout(p) = (r, c), that is, invert a matrix
//   of some 20 bits. (`invert`)
// * *Replication.* A tile of 8 elements over 32 lanes: two lane bits have nothing to
//   do. Give them the basis zero: flipping the bit does not change the element, so
//   four lanes hold the same one. A store then has to be done by one of them: those
//   with the *redundant* bits clear. (`redundant`)
//
//      lane   0   1   2 .. 7   8   9 ..  31
//      elem   0   1   2 .. 7   0   1 ..   7       lane -> (1) (2) (4) (0) (0)
//
// * *Reduction* along an axis erases that axis from all bases. Bits that become zero
//   are exactly those over which values must be combined: register bits inside the
//   thread, lane bits by shuffles at distance 1 << bit, warp bits through shared
//   memory. What remains is the layout of the result. (`slice`)
// * *Vector width*: a thread can move 4 elements at once if its register bits have
//   the bases 1, 2 of the innermost dimension, and no other basis disturbs these
//   bits. (`vectorRegisters`)
// * *Converting* between two layouts A and B of one tile: a thread at position p of B
//   needs the element B(p), which sits at A^-1(B(p)). That product of matrices tells
//   everything. If it maps each lane and warp to itself, only registers are renamed.
//   If it maps each warp to itself, a few shuffles do. Else the tile travels through
//   shared memory, and the best swizzle for it is again a little algebra. (See
//   Conversion.h.)
//
// ## Coordinates are one number
//
// The coordinates (r, c) of a tile of powers of two are just fields of bits; put side
// by side, the last dimension lowest, they make the element's row-major number. We
// keep bases as such numbers (`flat` below). In 4 x 8, (2,7) is 0b10'111 = 23.
// XOR of numbers is XOR of all coordinates at once; a *reshape* does not touch the
// bases at all, since row-major numbers are what it keeps; a *permute* moves fields.
//
// ## Hardware formats are values
//
// None of the instruction set's fixed formats needs a class. Some of them, with
// bases as (row, col):
//
//   mma.sync m16n8k16, accumulator 16 x 8 of f32 (four registers a lane)
//      register (0,1) (8,0)          lane (0,2) (0,4) (1,0) (2,0) (4,0)
//
//              col 0 1   2 3   4 5   6 7
//      row 0     L0 L0 | L1 L1 | L2 L2 | L3 L3         registers 0, 1
//      row 1     L4 L4 | L5 L5 | L6 L6 | L7 L7
//        ..
//      row 8     L0 L0 | L1 L1 | L2 L2 | L3 L3         registers 2, 3
//
//   the same instruction's A operand, 16 x 16 of 16-bit elements
//      register (0,1) (8,0) (0,8)    lane (0,2) (0,4) (1,0) (2,0) (4,0)
//   an 8 x 8 matrix of 16-bit elements as ldmatrix delivers it
//      register (0,1)                lane (0,2) (0,4) (1,0) (2,0) (4,0)
//   the accumulator 64 x 16 of a wgmma: four warps below each other
//      register (0,1) (8,0) (0,8)    lane (0,2) (0,4) (1,0) (2,0) (4,0)   warp (16,0) (32,0)
//   a 8 x 64 tile of 16-bit elements in shared memory as TMA's 128-byte swizzle leaves it
//      offset (0,1) (0,2) (0,4) (0,8) (0,16) (0,32) (1,8) (2,16) (4,32)
//
// Larger ones are products of small ones (`product`), and `divide` finds out whether
// a layout is made of copies of a given one, i.e. whether an instruction fits.
//
// ## Conventions
//
// * A layout that spreads a tile over threads has exactly 5 lane bits and log2(warps)
//   warp bits; register bits as needed; no offset bits. One of shared memory has only
//   offset bits, counted in elements. Block bits are for tiles spread over a cluster.
// * Every layout is surjective: each element lives somewhere.
// * Order of bits, from low to high: register, lane, warp, block, offset. Where a
//   choice among equal positions is free, the lowest bits are used.
//===----------------------------------------------------------------------===//
#ifndef TILEC_LAYOUT_LAYOUT_H
#define TILEC_LAYOUT_LAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilec {

/// What an element's position is made of.
enum class Input : uint8_t { Register, Lane, Warp, Block, Offset };
inline constexpr unsigned numInputs = 5;
inline constexpr std::array<Input, numInputs> allInputs = {
    Input::Register, Input::Lane, Input::Warp, Input::Block, Input::Offset};

/// "register", "lane", "warp", "block", "offset".
llvm::StringRef inputName(Input input);

/// One place where an element may live: a number for each input.
struct Position {
  std::array<uint64_t, numInputs> numbers = {};

  uint64_t &operator[](Input input) { return numbers[unsigned(input)]; }
  uint64_t operator[](Input input) const { return numbers[unsigned(input)]; }
  friend bool operator==(const Position &, const Position &) = default;

  static Position thread(uint64_t reg, uint64_t lane, uint64_t warp = 0) {
    return {{reg, lane, warp, 0, 0}};
  }
};

class Layout {
public:
  using Shape = llvm::SmallVector<int64_t, 6>;
  using Coords = llvm::SmallVector<int64_t, 6>;
  using Bases = llvm::SmallVector<uint64_t, 8>;

  /// The layout of a scalar.
  Layout() = default;
  /// A layout of a tile of `shape` (powers of two) with no bits yet.
  explicit Layout(llvm::ArrayRef<int64_t> shape);

  //===--- building -------------------------------------------------------===//

  /// Appends one bit to `input`, with a basis given as coordinates or as the
  /// row-major number of an element.
  Layout &add(Input input, llvm::ArrayRef<int64_t> coords);
  Layout &addFlat(Input input, uint64_t flat);
  /// Appends `count` bits that walk along `dim` by doubling steps from `start`.
  Layout &addRun(Input input, unsigned dim, int64_t start, unsigned count);
  /// Appends `count` redundant bits.
  Layout &addZeros(Input input, unsigned count);

  /// Counts all elements of the tile; `order` lists the dimensions from the
  /// fastest to the slowest (default: row-major).
  static Layout counting(Input input, llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<unsigned> order = {});

  /// A tile dealt out over a block: first `perThread` neighbours per dimension to
  /// each thread, then `lanes` threads per dimension, then `warps` per dimension;
  /// what then remains of the tile repeats in registers. Within each step the
  /// dimensions come in `order`, fastest first. Where the tile is smaller than one
  /// step, the step is cut; lanes and warps that find no work hold copies. The
  /// products of `lanes` and `warps` are the numbers of lanes and warps.
  static Layout blocked(llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> perThread,
                        llvm::ArrayRef<int64_t> lanes,
                        llvm::ArrayRef<int64_t> warps,
                        llvm::ArrayRef<unsigned> order);

  /// As `blocked`, but finds lanes and warps itself: `vector` elements along
  /// order[0] per thread, then lanes fill the tile in `order` and warps in
  /// `warpOrder` (default: slowest dimension first, so that a row stays in a warp).
  static Layout coalesced(llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<unsigned> order, int64_t vector,
                          int64_t numLanes, int64_t numWarps,
                          llvm::ArrayRef<unsigned> warpOrder = {});

  /// A tile in shared memory, rows along order[0], whose 16-byte pieces are
  /// swizzled as TMA's and wgmma's modes of `swizzleBytes` (0, 32, 64, 128) do:
  /// a row is cut to pieces of that many bytes, piece after piece in memory.
  static Layout swizzled(llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<unsigned> order, unsigned elementBits,
                         unsigned swizzleBytes);

  //===--- reading --------------------------------------------------------===//

  unsigned rank() const { return dims.size(); }
  llvm::ArrayRef<int64_t> shape() const { return dims; }
  int64_t numElements() const;
  unsigned numBits(Input input) const { return bases(input).size(); }
  uint64_t size(Input input) const { return uint64_t(1) << numBits(input); }
  unsigned numInputBits() const;
  /// Bits of the row-major number: log2 of the number of elements.
  unsigned numOutputBits() const;
  llvm::ArrayRef<uint64_t> bases(Input input) const {
    return columns[unsigned(input)];
  }
  uint64_t basis(Input input, unsigned bit) const { return bases(input)[bit]; }
  /// All bases in the order of inputs.
  Bases allBases() const;
  bool isDistributed() const { return !numBits(Input::Offset); }

  /// Every element lives somewhere.
  bool isSurjective() const;
  /// No element lives in two places.
  bool isInjective() const;

  friend bool operator==(const Layout &, const Layout &) = default;
  /// Same places for every element, whatever the redundant registers.
  bool equalUpToRegisterCopies(const Layout &other) const;

  //===--- evaluating -----------------------------------------------------===//

  /// The row-major number of the element at a position.
  uint64_t applyFlat(const Position &position) const;
  Coords apply(const Position &position) const { return unflatten(applyFlat(position)); }
  /// The same with all input bits side by side, register bits lowest.
  uint64_t applyBits(uint64_t inputBits) const;
  Position splitBits(uint64_t inputBits) const;
  uint64_t joinBits(const Position &position) const;
  uint64_t flatten(llvm::ArrayRef<int64_t> coords) const;
  Coords unflatten(uint64_t flat) const;

  //===--- algebra --------------------------------------------------------===//

  /// First this, then `next`: the row-major number that this layout yields is read
  /// as the input bits of `next`. The result has this one's inputs, next's shape.
  Layout then(const Layout &next) const;

  /// A right inverse: `invert().then(*this)` counts the elements. Its one input is
  /// the offset = row-major number of an element; its result is a position of this
  /// layout, as a tile [offsets, blocks, warps, lanes, registers]. Redundant bits are zero.
  Layout invert() const;
  /// One position of an element: the one with redundant bits clear.
  Position find(uint64_t flat) const;

  /// A tile of tiles: `outer` places whole copies of this layout. Shapes multiply
  /// dimension by dimension, bits of `outer` follow those of this layout.
  Layout product(const Layout &outer) const;
  /// The layout whose product with `inner` is this: inner.product(result) == *this.
  std::optional<Layout> divide(const Layout &inner) const;

  //===--- shape operations, each commuting with apply -----------------------===//

  /// Drops an axis (a reduction's result); keeps the bits, some of which become
  /// redundant.
  Layout slice(unsigned axis) const;
  /// Makes an axis one long (the inverse of a broadcast).
  Layout collapse(unsigned axis) const;
  /// Inserts an axis of size one before `axis`.
  Layout expandDims(unsigned axis) const;
  /// Result dimension k is dimension order[k].
  Layout permute(llvm::ArrayRef<int64_t> order) const;
  Layout reshape(llvm::ArrayRef<int64_t> newShape) const;
  /// Stretches axes of size one: first over redundant lanes, then redundant warps,
  /// then new registers.
  Layout broadcast(llvm::ArrayRef<int64_t> newShape) const;
  /// The half of the tile in which the highest bit of `axis` is clear, if each thread
  /// has in its other registers the same places of the other half.
  std::optional<Layout> halve(unsigned axis) const;
  /// Without the register bits that hold copies of other registers.
  Layout withoutRegisterCopies() const;

  //===--- questions ------------------------------------------------------===//

  /// Mask of the bits of `input` that reach no new element: each such basis is a
  /// sum of bases of lower bits (zero, most often). The positions with all redundant
  /// bits clear hold every element exactly once.
  uint64_t redundant(Input input) const;

  /// The register bits that walk along `dim` in steps 1, 2, 4 … with no other basis
  /// touching these low bits: a thread owns 1 << size() aligned neighbours.
  llvm::SmallVector<unsigned, 4> vectorRegisters(unsigned dim) const;
  unsigned vectorWidth(unsigned dim) const { return 1u << vectorRegisters(dim).size(); }

  /// Bits of the row-major number that belong to `dim`: lowest bit and count.
  unsigned fieldShift(unsigned dim) const;
  unsigned fieldBits(unsigned dim) const;
  uint64_t fieldMask(unsigned dim) const;
  uint64_t field(uint64_t flat, unsigned dim) const {
    return (flat & fieldMask(dim)) >> fieldShift(dim);
  }

  //===--- printing -------------------------------------------------------===//

  /// "16x8 register (0,1) (8,0) lane (0,2) (0,4) (1,0) .. (4,0)": runs of doubling
  /// bases are cut to their ends.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;
  /// A picture: for each element of the last two dimensions the place of its first
  /// copy, as warp:lane:register or offset; large tiles are cut to `maxRows` x `maxCols`.
  void draw(llvm::raw_ostream &os, unsigned maxRows = 16, unsigned maxCols = 8) const;

private:
  void checkBasis(uint64_t flat) const;
  /// This layout with each basis replaced by `change` of it, over a new shape.
  template <typename Change>
  Layout mapBases(llvm::ArrayRef<int64_t> newShape, Change change) const;

  Shape dims;
  std::array<Bases, numInputs> columns;
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Layout &layout) {
  layout.print(os);
  return os;
}

} // namespace tilec

#endif // TILEC_LAYOUT_LAYOUT_H
