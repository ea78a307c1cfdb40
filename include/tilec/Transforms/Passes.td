//===- Passes.td - passes on tile IR, in pipeline order ------*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// One pass a file: `AssignLayouts` is lib/Transforms/AssignLayouts.cpp, the flag
// --tile-assign-layouts, test/Transforms/assign-layouts.mlir and a part of
// docs/stages.md.

#ifndef TILEC_TRANSFORMS_PASSES_TD
#define TILEC_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===-- stage tile ----------------------------------------------------------===//

def SimplifyTile : Pass<"tile-simplify-tile", "::tilec::tile::KernelOp"> {
  let summary = "canonical forms, common subexpressions, broadcasts sink";
  let description = [{
    Runs every canonicalisation and merges equal computations. An elementwise
    operation on stretched tiles is computed on the small ones and its result is
    stretched; on splats it is computed on scalars.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ScaleMaxima : Pass<"tile-scale-maxima", "::tilec::tile::KernelOp"> {
  let summary = "factors behind the maximum of a row";
  let description = [{
    In `fast` code the maximum of a tile times a positive number is that of the tile, times
    the number: elements are then multiplied only where they are added to something, by
    one operation for both.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FuseMultiplyAdd : Pass<"tile-fuse-multiply-add", "::tilec::tile::KernelOp"> {
  let summary = "a*b+c becomes one operation";
  let description = [{
    Decides contraction once, for every execution: a product used by one sum or
    difference becomes `math.fma` with it, unless the kernel says `no_contract`.
  }];
  let dependentDialects = ["::mlir::math::MathDialect"];
}

//===-- stage tile → laid-out ----------------------------------------------===//

def SplitBuilds : Pass<"tile-split-builds", "::mlir::ModuleOp"> {
  let summary = "one copy of each kernel per set of facts the launcher can check";
  let description = [{
    A kernel that accesses tiles gets a second build that relies on `aligned16`
    (every array's base and non-innermost pitches are multiples of 16 bytes, so
    accesses are as wide as the hardware has them) and `disjoint` (no written
    array overlaps another, so `arrays_overlap` goes). Its symbol is the kernel's
    with `__aligned16`. A kernel whose loop over K blocks can share gets a third for grids
    that are small for the device, `__aligned16__few_blocks`, on chips with products of
    warp groups; one whose neighbours can share copies, but whose tiles are too small to be
    sure of neighbours, one for grids of pairs, `__aligned16__pairs`. One with a product of
    warp groups in a loop has one for arrays whose bases and pitches are multiples of 4 bytes
    only, `__aligned4`, and one whose rows are streamed (StreamRows) one that relies on
    `disjoint` and `index32` alone, `__disjoint`; one that takes a row
    of narrow elements a position has one for rows of any length, `__whole_pieces`.
    One with `strided` arrays has two where their rows are dense, `__aligned16__dense_rows`
    and `__dense_rows`; array types say so there.
    Every build names its kernel in `tile.kernel`.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"", "Which chip">,
    Option<"onlyGeneral", "only-general", "bool", "false", "No builds that rely on facts">];
}

def ExpandSorts : Pass<"tile-expand-sorts", "::tilec::tile::KernelOp"> {
  let summary = "sorts of anything to sorts of words";
  let description = [{
    Keys become unsigned words whose order is that of the keys, with the element's
    position below where equal keys can be told apart; what follows the keys is taken
    at the sorted positions. A sort of which only the first elements are used keeps
    only as many from each half, and loads a tile too wide for registers part by part.
  }];
  let dependentDialects = ["::tilec::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def TabulateFunctions : Pass<"tile-tabulate-functions", "::tilec::tile::KernelOp"> {
  let summary = "functions of positions become tables";
  let description = [{
    Sines, cosines and their like of tiles that only depend on positions become constants.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def HoistInvariants : Pass<"tile-hoist-invariants", "::tilec::tile::KernelOp"> {
  let summary = "what does not change leaves its loop";
  let description = [{
    Scalar code, tile computations and loads of arrays that the loop does not
    write move in front of the loop when their operands are defined outside.
    Tiles that cost nothing to make again stay.
  }];
}

def InferBounds : Pass<"tile-infer-bounds", "::tilec::tile::KernelOp"> {
  let summary = "mark loads and stores that stay inside their array";
  let description = [{
    Sets `in_bounds` along every dim for which it is proven: from fixed sizes,
    `requires`, and the loops and branches around the access.
  }];
}

def BoundPowers : Pass<"tile-bound-powers", "::tilec::tile::KernelOp"> {
  let summary = "powers that are at most 1";
  let description = [{
    Marks e^(x - m) where m is the maximum of x along some axes, for ExpandMath.
  }];
}

def CoarsenMasks : Pass<"tile-coarsen-masks", "::tilec::tile::KernelOp"> {
  let summary = "one comparison for elements side by side";
  let description = [{
    Positions that are compared with a multiple of a power of two are rounded down to it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def SkipNeutral : Pass<"tile-skip-neutral", "::tilec::tile::KernelOp"> {
  let summary = "apply masks of products only where they leave something out";
  let description = [{
    In loops with products, a selection by position becomes a branch, which is not taken
    where the mask is true for the whole tile.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def CountLoops : Pass<"tile-count-loops", "::tilec::tile::KernelOp"> {
  let summary = "loops whose variable could overflow count their iterations";
  let description = [{
    Where it is not known that a loop's bounds leave room for a step before and behind them, the
    loop runs from 0 by steps of 1, and its variable is computed.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def RotateRows : Pass<"tile-rotate-rows", "::tilec::tile::KernelOp"> {
  let summary = "take rows that begin anywhere from the 16 bytes on in which they begin";
  let description = [{
    In builds that rely on `whole_pieces`: tiles that hold a row begin where the 16 bytes begin
    in which the row does, and positions along the row are turned by as many elements.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def StreamRows : Pass<"tile-stream-rows", "::tilec::tile::KernelOp"> {
  let summary = "go over rows that no block can hold part by part";
  let description = [{
    A kernel of rows that are longer than registers hold becomes as many loops over parts
    of the row as reductions follow from one another. Each loads and computes again what
    it needs. Sets `num_warps` where neither the option nor a hint asks for a number.
  }];
  let options = [
    Option<"numWarps", "num-warps", "int", /*default=*/"0", "Asked for (0: not)">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"", "Whose hints count">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def ChooseWarps : Pass<"tile-choose-warps", "::tilec::tile::KernelOp"> {
  let summary = "settle how many warps a kernel runs on";
  let description = [{
    Sets `num_warps` where the kernel does not say: from the option, the hint for
    the chip, the hint for all chips, or the sizes of the kernel's tiles.
  }];
  let options = [
    Option<"numWarps", "num-warps", "int", /*default=*/"0", "Asked for (0: not)">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"", "Whose hints count">];
}

def SelectAtoms : Pass<"tile-select-atoms", "::tilec::tile::KernelOp"> {
  let summary = "choose the instruction family of each matrix product";
  let description = [{
    Sets `atom` on every tile.mma, from types, shapes, the number of warps and what
    the chip has.
  }];
  let dependentDialects = ["::tilec::tile::TileDialect"];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "A row of the chip table; empty: a chip without matrix instructions">];
}

def SelectCopies : Pass<"tile-select-copies", "::tilec::tile::KernelOp"> {
  let summary = "mark the loads and stores that the copy engine does";
  let description = [{
    In builds that rely on `aligned16`, on chips with a copy engine: loads that only
    products use, which read them from shared memory by themselves, and the stores of
    such kernels get `tile.copy`. Loads in loops whose products' threads read shared
    memory are marked for asynchronous copies of all threads.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"", "Which chip (none: no engine)">];
  let dependentDialects = ["::tilec::tile::TileDialect"];
}

def AssignLayouts : Pass<"tile-assign-layouts", "::tilec::tile::KernelOp"> {
  let summary = "give every tile a layout";
  let description = [{
    From anchors (matrix products, then loads and stores, the largest first)
    through everything that keeps a layout; `tile.convert_layout` where two
    meet.
  }];
  let dependentDialects = ["::tilec::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def RemoveLayoutConversions
    : Pass<"tile-remove-layout-conversions", "::tilec::tile::KernelOp"> {
  let summary = "compute tiles in the layout in which they are wanted";
  let description = [{
    Recomputes what feeds a conversion in the wanted layout where that costs less
    than moving it: constants, iota and splat always, elementwise work and loads
    by cost. Dead and doubled conversions vanish.
  }];
  let dependentDialects = ["::tilec::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def DeferReductions : Pass<"tile-defer-reductions", "::tilec::tile::KernelOp"> {
  let summary = "threads exchange what a loop reduces when it has ended";
  let description = [{
    Where a loop carries the sum of reductions (in `fast` code, or of integers; also
    times a factor in each iteration), or their maximum, minimum, and, or, and needs it
    for nothing else, each thread carries what its own elements come to.
  }];
  let dependentDialects = ["::tilec::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

def SplitConversions : Pass<"tile-split-conversions", "::tilec::tile::KernelOp"> {
  let summary = "convert large tiles piece by piece";
  let description = [{
    A conversion through shared memory of more than `max-bytes` becomes several of
    parts of the tile, one after the other through the same memory.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"65536",
           "The largest buffer that is not split">];
}

//===-- stage laid-out → staged ---------------------------------------------===//

def SplitK : Pass<"tile-split-k", "::tilec::tile::KernelOp"> {
  let summary = "several blocks share one sum";
  let description = [{
    Where the hint `split_k` or the build's fact `few_blocks` asks for it, each of several blocks
    takes a part of the loop over K, and one gets the sum: the first of a cluster, or, where parts
    meet in memory, the one that comes last.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"", "Which chip">];
  let dependentDialects = ["::tilec::tgpu::TileGPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect"];
}

def ScheduleBlocks : Pass<"tile-schedule-blocks", "::tilec::tile::KernelOp"> {
  let summary = "resident blocks take one position of the grid after the other";
  let description = [{
    A kernel with copied loads in a loop becomes persistent: a loop over the grid, in a
    raster that shares operands in the L2 cache, around its body. On chips with clusters
    two blocks (by hint four or eight) that have loads in common become a cluster. On chips
    without products of warp groups other kernels with products take positions in bands, too, or
    the longest first.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"", "Which chip (none: no clusters, no order)">];
  let dependentDialects = ["::tilec::tile::TileDialect", "::tilec::tgpu::TileGPUDialect",
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PrefetchLoads : Pass<"tile-prefetch-loads", "::tilec::tile::KernelOp"> {
  let summary = "the next position's tiles are loaded while this one's are computed with";
  let description = [{
    A kernel that loads tiles, reduces and stores becomes persistent; the tiles of the
    next position of the grid wait in registers.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"", "Whose hints count">];
  let dependentDialects = ["::tilec::tile::TileDialect", "::tilec::tgpu::TileGPUDialect",
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PrefetchOperands : Pass<"tile-prefetch-operands", "::tilec::tile::KernelOp"> {
  let summary = "operands that go through registers are loaded an iteration ahead";
  let description = [{
    Where an operand of a loop's product is gathered, or computed from what is loaded,
    the loads of the next iteration are issued before the product of this one.
  }];
  let dependentDialects = ["::tilec::tile::TileDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect"];
}

def StageRings : Pass<"tile-stage-rings", "::tilec::tile::KernelOp"> {
  let summary = "copied loads become rings";
  let description = [{
    Loads that products consume together become a ring with a push at the loads, a pop
    before the first product and a release after the last.
  }];
  let dependentDialects = ["::tilec::tile::TileDialect", "::tilec::tgpu::TileGPUDialect"];
}

def StageStores : Pass<"tile-stage-stores", "::tilec::tile::KernelOp"> {
  let summary = "copied stores go out through shared memory";
  let description = [{
    A marked store becomes copies out of one or two buffers of at most `max-bytes`
    together, part by part. One that may write elements again in a loop waits until
    earlier copies are complete.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"32768",
      "Bytes of the buffers of a store">];
  let dependentDialects = ["::tilec::tile::TileDialect", "::tilec::tgpu::TileGPUDialect",
    "::mlir::arith::ArithDialect"];
}

def StageOperands : Pass<"tile-stage-operands", "::tilec::tile::KernelOp"> {
  let summary = "what threads of several warps exchange gets a buffer in shared memory";
  let description = [{
    - `tile.mma` becomes `tgpu.mma`, its operands stored to buffers whose swizzle fits
      how they are written and how the atom reads them.
    - `tile.convert_layout` between warps becomes store and load.
    - `tile.reduce` across warps becomes `tgpu.warp_reduce`, store, load, and a
      reduction over registers.
    - Conversions that broadcast, reshape, permute and reduce imply are made explicit
      where they cross warps.
    - Slices and elements at runtime places, `take` and `histogram` go through buffers;
      scans, sorts and flips across warps get a scratch buffer.
  }];
  let dependentDialects = ["::tilec::tile::TileDialect", "::tilec::tgpu::TileGPUDialect",
                           "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def FitRings : Pass<"tile-fit-rings", "::tilec::tile::KernelOp"> {
  let summary = "rings share bytes where they do not fit beside each other";
  let description = [{
    Where the rings of a kernel do not fit into a block's shared memory with one place each, all
    threads fill them, and those of different loops share bytes.
  }];
  let options = [
    Option<"budget", "budget", "int64_t", /*default=*/"232448",
      "Bytes of shared memory a block may use">];
}

def KeepAccumulators : Pass<"tile-keep-accumulators", "::tilec::tile::KernelOp"> {
  let summary = "sums of loops stay in tensor memory";
  let description = [{
    An accumulator that a loop writes before its product and reads after it, and does nothing
    else with, is written before the loop and read after it.
  }];
  let dependentDialects = ["::tilec::tgpu::TileGPUDialect", "::mlir::scf::SCFDialect",
    "::mlir::arith::ArithDialect", "::mlir::ub::UBDialect"];
}

def SpecializeWarps : Pass<"tile-specialize-warps", "::tilec::tile::KernelOp"> {
  let summary = "some warps copy, the others compute";
  let description = [{
    Splits a kernel with rings in two by program slicing: the access part has the pushes
    and what they need, the execute part everything else. Left as it is, with a remark,
    where a push needs what one thread cannot compute.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"", "Which chip (none: no split)">];
  let dependentDialects = ["::tilec::tgpu::TileGPUDialect", "::mlir::scf::SCFDialect"];
}

def FlattenLoops : Pass<"tile-flatten-loops", "::tilec::tile::KernelOp"> {
  let summary = "loops around one that adds products up become one with it";
  let description = [{
    Where a loop does nothing but run another, which a ring feeds, both become one that copies
    run ahead of and products stay in flight in.
  }];
  let dependentDialects = ["::tilec::tile::TileDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect"];
}

def ChooseStages : Pass<"tile-choose-stages", "::tilec::tile::KernelOp"> {
  let summary = "how many groups a ring holds";
  let description = [{
    As many as shared memory has room for, or `num_stages` of the command line or the
    kernel's hint when that is less.
  }];
  let options = [
    Option<"budget", "budget", "int64_t", /*default=*/"232448",
      "Bytes of shared memory a block may use">,
    Option<"numStages", "num-stages", "int", /*default=*/"0", "Asked for (0: not)">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"", "Whose hints count">];
}

def ScheduleAsyncMma : Pass<"tile-schedule-async-mma", "::tilec::tile::KernelOp"> {
  let summary = "compute while products complete";
  let description = [{
    In a loop with two products, the second of which takes what is computed from the
    first, the second is moved to the next iteration, so that the computation runs
    beside it. In a loop that only adds products up, one stays in flight.
  }];
  let dependentDialects = ["::tilec::tgpu::TileGPUDialect", "::mlir::scf::SCFDialect",
    "::mlir::arith::ArithDialect"];
}

def ScheduleLoops : Pass<"tile-schedule-loops", "::tilec::tile::KernelOp"> {
  let summary = "copies run ahead of the loop that consumes them";
  let description = [{
    A push and its pop in one iteration of a `for` are taken apart: the loop begins with
    the pushes of all places but one before it, and each iteration pushes for the one
    that many later, if there is one.
  }];
  let dependentDialects = ["::tilec::tgpu::TileGPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect"];
}

def SinkScalars : Pass<"tile-sink-scalars", "::tilec::tile::KernelOp"> {
  let summary = "scalar code that only what follows a loop needs goes behind the loop";
  let description = [{
    Only in loops over the grid whose copies run in warps of their own: there it would
    keep products from starting, and behind the loop, in front of the wait for its last product,
    it runs beside that. Small loads behind the wait come there, too.
  }];
}

def StartSums : Pass<"tile-start-sums", "::tilec::tile::KernelOp"> {
  let summary = "sums of products start without zeros in registers";
  let description = [{
    Where a loop adds products to zeros and the atom can leave acc out, the first product
    does that.
  }];
  let dependentDialects = ["::tilec::tgpu::TileGPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
}

def GroupExchanges : Pass<"tile-group-exchanges", "::tilec::tile::KernelOp"> {
  let summary = "tiles that change threads are stored together before they are loaded";
  let description = [{
    Threads then meet once between the two, not once for each tile. Not in kernels with
    rings, whose places have taken what room there is.
  }];
}

def AllocateMemory : Pass<"tile-allocate-memory", "::tilec::tile::KernelOp"> {
  let summary = "place buffers in the block's shared memory";
  let description = [{
    Buffers that are not alive together share bytes, once sharing is worth the
    barriers that it costs. More than `budget` bytes is an error that lists the
    buffers.
  }];
  let dependentDialects = ["::tilec::tgpu::TileGPUDialect"];
  let options = [
    Option<"budget", "budget", "int64_t", /*default=*/"232448",
           "Bytes of shared memory that a block may have">];
}

def InsertBarriers : Pass<"tile-insert-barriers", "::tilec::tile::KernelOp"> {
  let summary = "let threads wait where one needs what another did";
  let description = [{
    A barrier comes before every access that conflicts with one since the last
    barrier: to bytes of shared memory that overlap, or to the same array when one of
    the two is a store. Loops and branches included.
  }];
  let dependentDialects = ["::tilec::tgpu::TileGPUDialect"];
}

def PackPositions : Pass<"tile-pack-positions", "::tilec::tile::KernelOp"> {
  let summary = "small positions of the grid share a block";
  let description = [{
    A kernel of one warp that moves few bytes, without shared memory and barriers: a block
    gets several warps, each with a position of its own.
  }];
}

def NarrowIndices : Pass<"tile-narrow-indices", "::tilec::tile::KernelOp"> {
  let summary = "scalar index arithmetic in 32 bits where that is exact";
  let description = [{
    Arithmetic, comparisons and loop counters of type `index` become i32 where ranges
    prove that operands and results fit. Values are cast back to `index` for their
    other uses.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

def OverlapLaunches : Pass<"tile-overlap-launches", "::tilec::tile::KernelOp"> {
  let summary = "a kernel starts while the one before it still runs";
  let description = [{
    `tgpu.await_grids` before the kernel's first access of memory that others may write,
    and in a small grid `tgpu.launch_dependents` behind it, on chips that have both.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"", "Which chip (none: nothing is done)">];
  let dependentDialects = ["::tilec::tgpu::TileGPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect"];
}

//===-- any stage ------------------------------------------------------------===//

def PrintFacts : Pass<"tile-print-facts", "::tilec::tile::KernelOp"> {
  let summary = "say in remarks what is known of each access";
  let description = [{ For tests and for looking; changes nothing. }];
}

def VerifyStage : Pass<"tile-verify-stage", "::tilec::tile::KernelOp"> {
  let summary = "check that the IR is what its stage promises";
  let description = [{
    Fails at the first operation that breaks the stage's contract. Stage staged is
    always checked, the others in tests.
  }];
  let options = [
    Option<"stage", "stage", "std::string", /*default=*/"\"laid-out\"",
           "The stage: tile, laid-out, staged">];
}

//===-- stage simt ---------------------------------------------------------===//

def ExpandMath : Pass<"tile-expand-math", "mlir::ModuleOp"> {
  let summary = "elementary functions to arithmetic";
  let description = [{
    Replaces every operation of math that no chip has an instruction for, and
    `arith.remf`, by fma, arith and operations on bits, on scalars and vectors
    (tensors too, but for functions that need a branch). The result is the same
    bits wherever it runs, on the GPU and, for tests, on the CPU, but for `exp` and
    `exp2` in f32: they take the last step with the chip's unit for 2^x, whose error
    of 1.4 ulp is its own (e^x: 1.94 ulp in all on an H200, measured for every operand).

    Errors: at most 2 ulp in f32 and f64, subnormals kept, NaN, infinities and
    zeros as C99 Annex F says. f16 and bf16 compute in f32 and round once.
    With `fastmath<afn>`, f32 takes the approximate instructions of the chip:
    math operations that the backend selects, or calls of `@tilec.…` helpers.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::LLVM::LLVMDialect",
                           "mlir::math::MathDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

def ExpandDivision : Pass<"tile-expand-division", "mlir::ModuleOp"> {
  let summary = "many quotients by one divisor to products";
  let description = [{
    Replaces `arith.divf` on vectors of f32 whose lanes share their divisor by one
    reciprocal and three operations a lane, with the same bits as division. Operands
    for which these would not do are found by one test a vector and divided as before.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::LLVM::LLVMDialect",
                           "mlir::math::MathDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

#endif // TILEC_TRANSFORMS_PASSES_TD
