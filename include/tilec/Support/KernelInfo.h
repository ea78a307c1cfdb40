//===- KernelInfo.h - what a launcher must know of a kernel -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The contract between compiler and runtime: the compiler fills a KernelInfo per
// kernel and chip, the runtime, the interpreter and the emulator launch from it.
// It is the only thing that they share. Written as JSON into module files
// (ModuleFile.h) and generated objects.
//
// Kernel parameters in the image, in order of the source parameters:
//
//   array    pointer (8 bytes), then one i64 per dim; then, if `strided`, one i64
//            per stride in elements
//   scalar   by value: bool as a byte, `int` as i64, f16/bf16/f8 as their bits
//   then     three i32: the extents gx, gy, gz of the grid
//   then     if the kernel asks for it, one i32: the device's number of multiprocessors
//   then     in a kernel that prints or asserts: the address of a DebugRing (null:
//            nowhere) and the u32 number of the kernel's first site in it
//   then     in a build whose blocks add up in memory (`sumBytes`): the address of a
//            workspace (Workspace.h); such a kernel neither prints nor asserts
//   last     the build's tensor maps, 128 bytes each (PTX: `.param .align 64 .b8 x[128]`)
//
// each at its natural alignment. The physical launch is one-dimensional: gx·gy·gz
// blocks on x, or fewer where a block takes several positions side by side, rounded up to
// whole clusters; of a persistent build no more than the device holds at once, and each
// takes one position after the other.
// Where the blocks of a cluster share a position there are as many clusters. Where blocks add
// up in memory, positions are on x and the parts of each on y.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_KERNELINFO_H
#define TILEC_SUPPORT_KERNELINFO_H

#include "tilec/Support/DType.h"
#include "tilec/Support/Expected.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilec {

/// One dim of an array parameter: bound to a name, or fixed.
struct DimInfo {
  std::string name;                ///< `m` of `[m, k]`; empty when the source has a literal
  std::optional<int64_t> constant; ///< the value of a literal or compile-time dim
};

struct ParamInfo {
  std::string name;
  DType dtype = DType::F32;
  bool isArray = false;
  bool isMutable = false;    ///< `mut array`
  bool isStrided = false;    ///< `strided array`
  std::vector<DimInfo> dims; ///< one per axis of an array
  /// The most elements that one load or store of a tile takes along each axis; empty:
  /// unknown.
  std::vector<int64_t> reach;
};

/// A precondition of the launch (`requires`).
struct Requirement {
  std::string expr; ///< HostExpr text
  std::string text; ///< as in source, `k % 8 == 0`
  std::string file; ///< as given to the compiler
  unsigned line = 0;
};

/// A compile-time parameter and its value, in source spelling.
struct ConstantInfo {
  std::string name, value;
};

/// What a build of a kernel relies on beyond the language; the launcher checks.
enum class BuildFact : uint8_t {
  Aligned16 = 1, ///< every array's base and non-innermost pitches are multiples of 16 bytes
  Disjoint = 2,  ///< no `mut` array overlaps another array
  /// Every axis is shorter than 2^31, and the elements of a tile lie less than 2^31
  /// elements apart (ParamInfo::reach).
  Index32 = 4,
  /// The grid has at most half as many positions as blocks find room on the device at once (one
  /// a multiprocessor, or as many as `persistent` or `blocksAtOnce` says), and each has so much of
  /// the arrays (bytesToShare, divided by those blocks of a multiprocessor) that it pays that
  /// several blocks share it.
  FewBlocks = 8,
  /// The grid has more positions than half of the multiprocessors, and along axes 0 and 1 an
  /// even number or many of them, so that pairs of neighbours can share copies; and it pays:
  /// rows of some array begin anywhere in lines of the cache, which costs twice the
  /// requests, or each position has so much of the arrays (bytesToShare).
  Pairs = 16,
  Aligned4 = 32, ///< every array's base and non-innermost pitches are multiples of 4 bytes
  /// Arrays of several axes with the widest tiles of all along their last axis
  /// (ParamInfo::reach) have no gaps, begin and end at multiples of 16 bytes, and such a tile has
  /// room for a row and for what 16 bytes have in front of it, in elements of the narrowest.
  WholePieces = 64,
  /// The last axis of every `strided` array has stride 1, or one element. Where a build relies on
  /// Aligned16, too, their rows are multiples of 16 bytes long, as those of other arrays are then.
  DenseRows = 128,
};
inline constexpr BuildFact allBuildFacts[] = {
    BuildFact::Aligned16, BuildFact::Disjoint, BuildFact::Index32,    BuildFact::FewBlocks,
    BuildFact::Pairs,     BuildFact::Aligned4, BuildFact::WholePieces, BuildFact::DenseRows};
std::string_view buildFactName(BuildFact fact);
std::optional<BuildFact> parseBuildFact(std::string_view name);

/// What messages call a build that relies on `facts` (an or): "aligned", and "general" of one
/// that relies on nothing.
std::string_view buildKindName(uint8_t facts);
/// All that it gives.
inline constexpr std::array<std::string_view, 8> buildKindNames = {
    "aligned", "dense", "disjoint", "general", "odd-rows", "paired", "small-grid", "words"};

/// Most axes of an array that a tensor map describes.
inline constexpr unsigned maxTensorMapRank = 5;

/// Boxes that a build copies between an array and shared memory: the descriptor
/// (CUtensorMap) is made from this and the launch's array, and passed as a parameter.
struct TensorMapInfo {
  unsigned param = 0;        ///< index of the array parameter
  std::vector<uint32_t> box; ///< elements per axis of the array, outermost first
  unsigned swizzleBytes = 0; ///< of rows in shared memory: 0, 32, 64 or 128
};

/// One build of a kernel: an entry point and what it relies on and needs.
struct BuildInfo {
  std::string symbol;       ///< entry point in the image
  unsigned object = 0;      ///< that holds it, of those of the image (ModuleFile.h)
  uint8_t facts = 0;        ///< or of BuildFact values
  unsigned threads = 0;     ///< per block
  unsigned sharedBytes = 0; ///< dynamic shared memory
  unsigned registers = 0;   ///< per thread; 0 = unknown (not assembled)
  unsigned spillBytes = 0;  ///< per thread, as the assembler reports
  unsigned persistent = 0;  ///< blocks per multiprocessor; 0: one block per grid position
  unsigned cluster = 1;     ///< blocks per cluster
  /// Along which axis of the grid blocks of a cluster lie side by side, where a launch may
  /// leave them alone (clusterBlocks).
  std::optional<unsigned> clusterAxis;
  unsigned positions = 1;   ///< of the grid that a block takes at once, side by side
  /// Blocks that share each position of the grid, in a cluster or by way of memory; 1: as many as
  /// the launch decides (blocksOfPosition); 0: a block has its position for itself.
  unsigned splitK = 0;
  /// Blocks that find room on a multiprocessor, of a build whose blocks share positions and do not
  /// stay; 1: no more, or not known.
  unsigned blocksAtOnce = 1;
  /// Bytes of the workspace that each block writes its parts of sums to; 0: none.
  unsigned sumBytes = 0;
  bool awaitsGrids = false; ///< may start before the grids ahead of it end: it waits by itself
  std::vector<TensorMapInfo> tensorMaps; ///< in order of the parameters

  bool relies(BuildFact fact) const { return facts & static_cast<uint8_t>(fact); }
};

/// A value that a print shows, or the condition of an assertion.
struct DebugValue {
  DType dtype = DType::Bool;
  std::vector<int64_t> shape; ///< empty: a scalar

  int64_t numElements() const {
    int64_t count = 1;
    for (int64_t dim : shape)
      count *= dim;
    return count;
  }
};

/// A place in the source where a kernel talks to the host.
struct DebugSite {
  bool isAssertion = false;
  std::string file; ///< as given to the compiler
  unsigned line = 0, column = 0;
  /// A print: the text around its values, one piece more than values. An assertion:
  /// its message alone.
  std::vector<std::string> pieces;
  std::vector<DebugValue> values; ///< an assertion: its condition
};

struct HintInfo {
  std::string name;
  int64_t value = 0;
};

struct KernelInfo {
  std::string name;
  std::string doc;  ///< the `///` comment, or empty
  std::string arch; ///< "sm_90a"
  std::vector<ParamInfo> params;
  std::vector<std::string> grid; ///< HostExpr texts, at most 3; empty: the caller gives the grid
  std::vector<Requirement> requirements;
  std::vector<ConstantInfo> constants;
  std::vector<HintInfo> hints;
  std::vector<DebugSite> sites; ///< prints and assertions, by number
  bool usesNumSMs = false; ///< there is a parameter for the number of multiprocessors
  /// Tried in order: the first whose facts hold is launched, so the general one is last.
  std::vector<BuildInfo> builds;
};

/// The JSON text of a kernel's facts (keys in a fixed order, so equal facts give
/// equal text).
std::string toJson(const KernelInfo &info);
/// Reads it back; any malformed text gives a failure that names the field.
Expected<KernelInfo> kernelInfoFromJson(std::string_view text);

} // namespace tilec

#endif // TILEC_SUPPORT_KERNELINFO_H
