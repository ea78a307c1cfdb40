//===- Emitter.h - one kernel, from tiles to threads ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Private to lib/Lowering. An Emitter walks a kernel of stage `staged` once, in
// order, and writes the code of one thread into a new llvm.func. A tile is a vector
// of the elements that this thread owns, in the order of the layout's registers; a
// scalar is itself, the same in all threads; an array is a base, sizes and strides.
//
// It is no set of patterns: nothing here matches or retries, each operation has
// exactly one translation, and what an operation needs from its surroundings (the
// thread's number, the build's facts, the array's strides) is at hand. One file per
// kind of operation implements the emit functions below.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_LIB_LOWERING_EMITTER_H
#define TILEC_LIB_LOWERING_EMITTER_H

#include "tilec/Analysis/IndexFacts.h"
#include "tilec/Layout/TensorBox.h"
#include "tilec/Support/Target.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace tilec {

struct AccessGroup;
struct AccumulatorCode;
class ArrayTile;
struct Conversion;
struct ScanPieces;

/// log2 of the elements of a piece (Pieces.cpp).
inline constexpr unsigned pieceBits = 5;

/// An array parameter, as values of the thread.
struct ArrayView {
  tile::ArrayType type;
  mlir::Value base;                        ///< llvm.ptr<1>
  llvm::SmallVector<mlir::Value, 6> dims;    ///< i64, elements
  llvm::SmallVector<mlir::Value, 6> strides; ///< i64, elements
};

/// Where a thread stands in a ring: variables on the stack (pointers to i32), so that
/// pushes and pops may stand in any control flow; optimisation keeps them in registers.
/// Without `parity`, `place` counts on, and its low bits are the stage.
struct RingCursor {
  mlir::Value place, parity;
};

/// Who reads what a ring holds.
struct RingReaders {
  bool threads = false;    ///< anything but instructions that whole warps wait for
  bool warpGroups = false; ///< asynchronous products that all warps of a group issue
  bool issuer = false;     ///< products that one thread issues

  static RingReaders of(mlir::Value ring);
  bool products() const { return warpGroups || issuer; }
};

/// A ring: where it lies, and where this thread stands in it.
struct RingState {
  tgpu::RingType type;
  int64_t places;   ///< where in shared memory
  int64_t barriers; ///< where: a full one for each stage, then empty ones
  RingCursor push, pop, release;
  /// What the ring holds is read by threads, not only by instructions of whole warps.
  bool isReadByThreads = false;
  /// Only products that one thread issues read it: that thread pops and releases.
  bool isReadByIssuer = false;
  /// Threads that copy, at each push; 0: the engine brings all.
  int64_t copyingThreads = 0;
  /// The engine has a part in each push.
  bool usesEngine = false;
  /// What threads have copied, instructions read that go another way.
  bool needsFence = false;
};

/// A tensor map that the kernel takes as a parameter.
struct TensorMap {
  int64_t param; ///< number of the array among the kernel's parameters
  llvm::SmallVector<int64_t, 6> box;
  int64_t swizzleBytes;

  friend bool operator==(const TensorMap &, const TensorMap &) = default;
};

/// What a copy of the engine moves: boxes of one tensor map, given by its number.
struct EngineCopy {
  BoxPlan boxes;
  size_t map;
};

/// A ring that all threads fill by asynchronous copies. Where this thread stands is kept
/// in variables on the stack, which optimisation turns into registers.
struct ThreadRing {
  tgpu::RingType type;
  mlir::Value places; ///< llvm.ptr<3>
  /// Pointers to i32: bytes from `places` to the next place of a push and of a pop, and
  /// the groups that were pushed and not popped.
  mlir::Value pushOffset, popOffset, ahead;
  /// What threads have copied, instructions read that go another way.
  bool needsFence = false;
};

/// Where an element lies, in numbers that all accesses of a kernel have for the same place.
using ElementPlace = std::vector<int64_t>;

class Emitter {
public:
  /// `chip` may be null: only instructions that every chip has are used then.
  Emitter(tile::KernelOp kernel, const Chip *chip);

  /// Writes the function; the kernel stays. An error has been reported on failure.
  mlir::LogicalResult emitKernel();

private:
  using Value = mlir::Value;
  using Type = mlir::Type;
  using Operation = mlir::Operation;
  using LogicalResult = mlir::LogicalResult;

  //===--- Kernel.cpp -------------------------------------------------------===//
  void emitParameters(mlir::Block &source);
  Value emitBlockId(unsigned axis);
  Value emitNumBlocks(unsigned axis);

  void addRoleAttributes(int32_t numWarps);
  mlir::LogicalResult emitBody();

  //===--- LowerToSIMT.cpp: dispatch, control flow ---------------------------===//
  LogicalResult emitBlock(mlir::Block &source);
  LogicalResult emitOperation(Operation *op);
  LogicalResult emitWhole(Operation *op);
  LogicalResult emitStructured(Operation *op);
  LogicalResult emitTerminator(Operation *op);
  LogicalResult emitAssume(tile::AssumeOp op);

  //===--- Elementwise.cpp -----------------------------------------------------===//
  LogicalResult emitElementwise(Operation *op);
  LogicalResult emitGeneric(Operation *op, mlir::ValueRange operands);
  LogicalResult emitConstant(mlir::arith::ConstantOp op);
  Value emitDenseConstant(mlir::DenseElementsAttr attr, const Layout &layout);
  Value emitMinMaxNum(Operation *op, mlir::ValueRange operands);

  //===--- Shape.cpp -------------------------------------------------------------===//
  LogicalResult emitSplat(tile::SplatOp op);
  LogicalResult emitIota(tile::IotaOp op);
  LogicalResult emitBroadcast(tile::BroadcastOp op);
  LogicalResult emitReshape(tile::ReshapeOp op);
  LogicalResult emitPermute(tile::PermuteOp op);

  //===--- Slices.cpp ------------------------------------------------------------===//
  LogicalResult emitExtract(tile::ExtractOp op);
  LogicalResult emitCat(tile::CatOp op);
  LogicalResult emitInsert(tile::InsertOp op);
  LogicalResult emitStoreSlice(tgpu::StoreSliceOp op);
  LogicalResult emitTake(tgpu::TakeOp op);
  LogicalResult emitFlip(Operation *op, unsigned axis, Value scratch);
  Value emitElementOfWarp(Value tile, const Layout &layout, Value number);
  Value emitSliceNumber(mlir::ValueRange index, llvm::ArrayRef<int64_t> whole,
                        llvm::ArrayRef<int64_t> slice);

  //===--- Scan.cpp, Sort.cpp, Histogram.cpp -----------------------------------------===//
  LogicalResult emitScan(Operation *op, mlir::Region &combiner, mlir::ValueRange sources,
                         mlir::ValueRange inits, unsigned axis, bool isReverse, Value scratch);
  LogicalResult emitScanInPieces(Operation *op, mlir::Region &combiner, mlir::ValueRange sources,
                                 mlir::ValueRange inits, const ScanPieces &pieces,
                                 bool isReverse, Value scratch);
  LogicalResult emitSort(Operation *op, mlir::ValueRange sources, unsigned axis,
                         bool isDescending, Value scratch);
  LogicalResult emitCount(tgpu::CountOp op);

  //===--- Integer.cpp -------------------------------------------------------------===//
  LogicalResult emitDivide(tile::DivideOp op);
  LogicalResult emitRemainder(tile::RemainderOp op);
  LogicalResult emitShift(tile::ShiftOp op);

  //===--- Cast.cpp -----------------------------------------------------------------===//
  LogicalResult emitCast(tile::CastOp op);
  /// Conversions that arith spells and the chip lacks; nullopt when it has them.
  std::optional<Value> emitArithCast(Operation *op, Value operand);
  Value castFloat(Value value, Type from, Type to, tile::CastRounding rounding);
  Value castFloatToInt(Value value, Type from, Type to, bool isUnsigned);
  Value castIntToFloat(Value value, Type from, Type to, bool isUnsigned);
  Value castInt(Value value, Type from, Type to, bool isUnsigned);

  //===--- Memory.cpp ------------------------------------------------------------------===//
  LogicalResult emitLoad(tile::LoadOp op);
  /// The elements of `groups`: those that no load of this block has brought yet are loaded.
  llvm::SmallVector<Value> emitMissing(ArrayTile &access, llvm::ArrayRef<AccessGroup> groups, mlir::TypedAttr pad);
  /// Whether elements come in runs of 16 bytes, which may begin anywhere and are read with
  /// what is around them; i1: that stays in the array; what is loaded, so or by elements.
  bool hasRuns(tile::LoadOp op);
  Value emitHasRoom(tile::LoadOp op);
  Value emitLoaded(tile::LoadOp op, bool inRuns);
  LogicalResult emitStore(tile::StoreOp op);
  /// i1: this thread is the one to write (null: every thread is). Null layout: a scalar.
  Value emitIsWriter(const Layout *layout);

  //===--- Indexed.cpp -----------------------------------------------------------------===//
  LogicalResult emitGather(tile::GatherOp op);
  LogicalResult emitScatter(tile::ScatterOp op);

  //===--- Atomic.cpp ------------------------------------------------------------------===//
  LogicalResult emitAtomic(tile::AtomicOp op);

  //===--- Shared.cpp --------------------------------------------------------------------===//
  LogicalResult emitAlloc(tgpu::AllocOp op);
  LogicalResult emitSharedTileLoad(tgpu::LoadOp op);
  LogicalResult emitSharedTileStore(tgpu::StoreOp op);
  void emitSharedElements(tgpu::StoreOp op, const Layout &layout, Value stored);
  LogicalResult emitMma(tgpu::MmaOp op);
  LogicalResult emitMmaWait(tgpu::MmaWaitOp op);

  //===--- Sync.cpp -----------------------------------------------------------------------===//
  LogicalResult emitBarrier();
  /// The threads of each warp group meet.
  void emitGroupBarrier();
  LogicalResult emitFenceAsync();
  LogicalResult emitGridControl(Operation *op);
  LogicalResult emitTakeTurn();
  LogicalResult emitPassTurn();
  /// At the start of the part whose warp groups take turns.
  void startTurns();
  void arriveForTurn(Value group);
  /// i32: the number of the warp group.
  Value warpGroup();
  /// The number of the warp (i32), computed once and known to be uniform.
  Value warp();

  //===--- Rings.cpp ----------------------------------------------------------------------===//
  LogicalResult emitRing(tgpu::RingOp op);
  LogicalResult emitPush(tgpu::PushOp op);
  LogicalResult emitPop(tgpu::PopOp op);
  LogicalResult emitRelease(tgpu::ReleaseOp op);
  Value emitStackVariable(int64_t initial);
  Value load(Value variable);
  void store(Value value, Value variable);
  /// llvm.ptr<3>: the byte of shared memory, for code that whole warps run.
  Value ringAddress(int64_t offset);
  RingCursor emitCursor(const RingState &ring, int64_t parity, bool waits);
  Value stageAt(const RingState &ring, const RingCursor &cursor);
  /// Of the phase that the barrier of the cursor's place must have completed.
  Value parityAt(const RingState &ring, const RingCursor &cursor);
  /// The next stage, and the other parity after the last.
  void advance(const RingState &ring, const RingCursor &cursor);
  Value barrierAddress(const RingState &ring, Value stage, bool isEmpty);
  void emitBarriersOf(const RingState &ring);
  void fillPlace(tgpu::PushOp op, const RingState &ring);
  void waitForPhase(Value barrier, Value parity);
  /// Lane r of the warp arrives at `barrier` of block r of the cluster's `numBlocks` (i32).
  void arriveAtBlocks(Value barrier, Value numBlocks);

  //===--- Accumulators.cpp ---------------------------------------------------------------===//
  /// Takes the kernel's tensor memory, if it has any, and gives it back.
  void emitTensorMemory();
  void emitTensorMemoryEnd();
  LogicalResult emitAccumulator(tgpu::AccumulatorOp op);
  LogicalResult emitAccumulate(tgpu::AccumulateOp op);
  LogicalResult emitSetAccumulator(tgpu::SetAccumulatorOp op);
  LogicalResult emitGetAccumulator(tgpu::GetAccumulatorOp op);
  void emitAccumulatorWait();
  /// `fill` by the one thread that issues products.
  void emitByIssuer(llvm::function_ref<void()> fill);

  //===--- Copies.cpp ---------------------------------------------------------------------===//
  /// Decides for each copy of the engine which boxes it moves, and of which tensor map.
  LogicalResult planEngineCopies();
  void emitCopies(tgpu::PushOp op, Value place, Value barrier);
  void emitBoxes(const BoxPlan &plan, Value map, mlir::ArrayRef<Value> start, Value place,
                 Value barrier, Value policy);
  /// Of the boxes the share with this number (i32), for all blocks of the cluster.
  void emitShare(const BoxPlan &plan, Value number, Value map, mlir::ArrayRef<Value> start,
                 Value place, Value barrier, Value policy);
  /// Of the boxes this block's shares: of as many as there may be blocks in a cluster.
  void emitSharedBoxes(const BoxPlan &plan, Value map, mlir::ArrayRef<Value> start,
                       Value place, Value barrier, Value policy);
  Value cachePolicy(tgpu::CopyOp copy);
  LogicalResult emitCopyOut(tgpu::CopyOutOp op);
  LogicalResult emitCopyOutWait(tgpu::CopyOutWaitOp op);
  /// Until the engine has read all but `pending` of the copies out that this thread
  /// started.
  void emitCopyOutWait(int64_t pending, bool byGroup, bool isComplete);
  /// i32 per array dim: the first element of a tile.
  mlir::SmallVector<Value> emitTileStart(mlir::ValueRange index, bool isElements,
                                         mlir::ArrayRef<int64_t> shape,
                                         mlir::ArrayRef<int64_t> arrayDims);
  /// Innermost first, as the engine counts.
  mlir::SmallVector<Value> emitCoordinates(mlir::ArrayRef<Value> start,
                                           mlir::ArrayRef<int64_t> piece);

  //===--- Specialize.cpp -----------------------------------------------------------------===//
  LogicalResult emitSpecialize(tgpu::SpecializeOp op);
  LogicalResult emitAccessOfOne(tgpu::SpecializeOp op);
  LogicalResult emitAccessOfAll(tgpu::SpecializeOp op);
  Value emitResidentBlock();
  Value emitNumResidentBlocks();
  /// i32: the number of the block in its cluster.
  Value clusterRank();
  /// All threads of the cluster meet. What they wrote is not ordered by it.
  void emitClusterBarrier(bool isAligned);

  //===--- ClusterSum.cpp -----------------------------------------------------------------===//
  /// i32: blocks of the cluster.
  Value clusterBlocks();
  /// How many blocks a cluster has is known to the launch only.
  bool hasClusterOfLaunch() const { return (splitK && !sumBytes) || clusterAxis; }
  /// Makes the barriers at which blocks meet, at the start of the kernel.
  void emitMeetings();
  void emitMeeting(Value barrier, Value parity);
  LogicalResult emitClusterSum(tgpu::ClusterSumOp op);

  //===--- MemorySum.cpp ------------------------------------------------------------------===//
  /// Bytes that a block of the kernel has in the workspace; 0: it needs none.
  static int64_t bytesOfSums(tile::KernelOp kernel);
  /// i32: which part of the loop over K the block has, of how many.
  Value part();
  Value numParts();
  LogicalResult emitMemorySum(tgpu::MemorySumOp op);

  //===--- Debug.cpp -------------------------------------------------------------------------===//
  LogicalResult emitPrint(tile::PrintOp op);
  LogicalResult emitAssert(tile::AssertOp op);
  Value emitReserve(int64_t bytes, unsigned counter);
  Value emitRecordAddress(Value position, Value offset);
  void emitRecordValue(Value position, Value source, uint64_t offset);
  void emitCompleteRecord(Value position, int64_t site);
  void emitFailure(Value index, int64_t site);
  Value emitFirstFalse(Value condition, const Layout &layout, Value none);
  Value emitDebugSlot();
  Value emitIsThread0();
  void emitUnderRecord(Value condition, llvm::function_ref<void()> write);
  //===--- RingsCpAsync.cpp -----------------------------------------------------------------===//
  LogicalResult emitThreadRing(tgpu::RingOp op);
  /// `condition` (i1): whether there is something to push; null: there is.
  LogicalResult emitThreadPush(tgpu::PushOp op, Value condition);
  /// Code without a branch for an `scf.if` that only pushes; nullopt for all else.
  std::optional<LogicalResult> emitConditionalPush(Operation *op);
  LogicalResult emitThreadPop(tgpu::PopOp op);
  /// For empty groups, which no pop waits for.
  void emitWaitAfterLoop(Operation *op);
  Value takePlace(const ThreadRing &ring, Value cursor);

  //===--- CopyGathered.cpp -----------------------------------------------------------------===//
  /// Starts an asynchronous copy of `bytes`, of which the first `size` (i32; null: all) are
  /// read and the others zeros.
  void emitAsyncCopy(Value target, Value source, int64_t bytes, Value size);
  /// Starts an asynchronous copy of `bytes`, or of zeros where `exists` (may be null) fails.
  void emitAsyncPiece(Value target, Value source, int64_t bytes, Value exists);
  void emitCopyGathered(tgpu::CopyGatheredOp op, Value place, Value condition);
  /// i1: this thread has indices of its own; null where all have.
  Value emitHasIndices(tgpu::CopyGatheredOp op);

  //===--- Reduce.cpp ---------------------------------------------------------------------===//
  LogicalResult emitReduce(Operation *op, mlir::Region &combiner,
                           mlir::ArrayRef<int64_t> axes);
  /// One application of `combiner` to tuples of vectors (or scalars).
  mlir::FailureOr<mlir::SmallVector<Value>>
  emitCombine(mlir::Region &combiner, mlir::ValueRange left, mlir::ValueRange right);
  mlir::FailureOr<mlir::SmallVector<Value>>
  inlineCombiner(mlir::Region &combiner, mlir::ValueRange left, mlir::ValueRange right);

  //===--- ConvertLayout.cpp -----------------------------------------------------------------===//
  LogicalResult emitConvertLayout(tile::ConvertLayoutOp op);
  /// `value` in layout `source`, moved to `destination`. Reports an error at `op`
  /// when that needs shared memory (StageOperands should have seen to it).
  mlir::FailureOr<Value> convert(Operation *op, Value value, const Layout &source,
                                 const Layout &destination, Type elementType);
  Value emitShuffleRounds(Value value, const Conversion &conversion, unsigned numResults);
  /// What `values` (vectors) are in the threads `others` (i32 numbers), through the
  /// buffer `scratch`: [value][other]. There are barriers before each use of the buffer
  /// but the first.
  mlir::SmallVector<mlir::SmallVector<Value>> readThreads(mlir::ValueRange values,
                                                          mlir::ValueRange others,
                                                          Value scratch, bool &isFirst);
  /// Each element of `value` from lane `lane` (i32), or from lane ^ mask.
  Value shuffleIndex(Value value, Value lane);
  Value shuffleButterfly(Value value, unsigned mask);
  Value shuffleScalar(Value value, mlir::function_ref<Value(Value)> shuffle32);
  Value shuffleElements(Value value, mlir::function_ref<Value(Value)> shuffle32);

  //===--- Pieces.cpp: more elements a thread than it has registers ---------------------------===//
  static bool isStream(tile::KernelOp kernel);
  bool isWide(mlir::Type type) const;
  bool isForPieces(Operation *op) const;
  mlir::RankedTensorType typeInPieces(Operation *op) const;
  bool renameInMemory(Operation *op);
  /// The load that `value` comes from, if it is copied to shared memory in runs; or null.
  tile::LoadOp runCopyOf(Value value);
  LogicalResult emitRunCopy(tgpu::StoreOp op, tile::LoadOp load);
  LogicalResult emitInPieces(Operation *op);
  /// What remains of the operands of a reduction when all pieces are combined; nullopt
  /// where they are none, or do not lie along the axes.
  std::optional<mlir::SmallVector<Value>>
  combinePieces(Operation *op, mlir::Region &combiner, mlir::ArrayRef<unsigned> axisRegisters);
  template <typename Body> auto atPiece(Value number, unsigned threadBits, Body body);
  /// Emits a loop over the pieces of `registerBitsOfPiece` registers of a tile.
  void forPieces(mlir::RankedTensorType type, bool isRolled, llvm::function_ref<void()> emit);
  /// The layout of a tile, or of the piece of it that is at hand.
  Layout layoutOf(mlir::RankedTensorType type) const;
  Value makeLocalMemory(mlir::RankedTensorType type);
  void bringToMemory(Value original, Operation *user, mlir::SmallVectorImpl<Value> &temporary);
  /// For operations in which elements depend on others, and that go from piece to piece by
  /// themselves: operands and results are in memory; these are pieces of operands.
  bool needsPieces(mlir::ValueRange operands);
  void bringAllToMemory(Operation *op, mlir::SmallVectorImpl<Value> &temporary);
  mlir::SmallVector<Value> getPieces(mlir::ValueRange originals, Value number);
  void setPieces(mlir::ValueRange originals, mlir::ValueRange values, Value number);
  Value loadPiece(Value memory, Type element, mlir::LLVM::GEPArg number);
  void storePiece(Value value, Value memory, Type element, mlir::LLVM::GEPArg number);
  Value loadWhole(Value memory, mlir::RankedTensorType type);
  Value getPiece(Value original);

  //===--- values -------------------------------------------------------------------------------===//
  Value get(Value original);
  void set(Value original, Value lowered);
  /// The type in which the thread holds a value of type `original`.
  Type lowerType(Type original);
  const ArrayView &array(Value original) { return arrays.find(original)->second; }

  Value i32(int64_t value);
  Value i64(int64_t value);
  Value toI64(Value index);
  /// A constant scalar or splat of `type`.
  Value constant(Type type, mlir::TypedAttr element);
  Value splatConstant(mlir::DenseElementsAttr elements, Type type);
  Value zero(Type type);
  Value splat(Value scalar, int64_t count);
  Value extract(Value vector, int64_t index);
  Value fromElements(mlir::ArrayRef<Value> elements);
  /// A pointer to that many bytes behind `base`.
  Value addBytes(Value base, Value bytes);
  Value addBytes(Value base, int64_t bytes);
  /// A pointer to a place in the block's shared memory.
  Value sharedAddress(int64_t offset);
  /// `fill` under `condition`, or as it is when that is null.
  void emitUnder(Value condition, llvm::function_ref<void()> fill,
                 llvm::function_ref<void()> otherwise = nullptr);
  /// `fill` in thread 0.
  void emitByFirstThread(llvm::function_ref<void()> fill);
  Value lane();
  /// i1: `number` (i32) & mask == bits.
  Value hasBits(Value number, uint64_t mask, uint64_t bits);
  unsigned numThreads() { return 32 * kernel.getNumWarps().value_or(4); }

  tile::KernelOp kernel;
  const Chip *chip;
  const IndexFacts facts;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::IRMapping map;
  llvm::DenseMap<Value, ArrayView> arrays;
  /// Elements of arrays that nobody writes, as memory holds them, by where they lie
  /// (ArrayTile::placesOf).
  std::map<ElementPlace, Value> loadedElements;
  mlir::LLVM::LLVMFuncOp function;
  Value thread;               ///< i32: number in the block
  Value gridExtents[3];       ///< i32
  Value numSMs;               ///< i32, where the kernel asks for it
  bool kernelIsStream = false; ///< it has but elementwise operations
  bool isAligned16 = false;   ///< the build's facts
  bool hasWholePieces = false;
  bool isIndex32 = false;
  int64_t clusterSize = 1;    ///< blocks that share copies, at most
  /// Along which axis of the grid, where the launch may leave blocks alone.
  std::optional<int64_t> clusterAxis;
  /// Blocks that share a position of the grid; 0: as the launch has it.
  std::optional<int64_t> splitK;
  int64_t sumBytes = 0;       ///< that a block has in the workspace; 0: there is none
  Value workspace;            ///< llvm.ptr<1>, where blocks add up in memory
  /// Of each barrier at which blocks meet: the parity of the phase that a thread waits for.
  llvm::DenseMap<Value, Value> meetings;
  int64_t numPositions = 1;   ///< of the grid in this block
  Value blockNumber;          ///< i32: which position of the grid
  /// In a loop over pieces: which (i32). `thread` then has it as its highest bits.
  Value piece;
  unsigned registerBitsOfPiece = pieceBits;
  llvm::DenseMap<Value, Value> localMemory; ///< where values that have pieces are
  Value debugRing;            ///< llvm.ptr<1>; null where nothing is printed or asserted
  Value debugFirstSite;       ///< i32: the host's number of the kernel's first site
  Value debugMask;            ///< i64: the ring's size less 1, inside of emitUnderRecord
  int64_t debugSlotOffset = 0; ///< in shared memory: siteSharedBytes for Debug.cpp
  /// While a combiner is inlined on vectors: their length; scalars of the region are
  /// vectors then. 0 elsewhere.
  int64_t regionWidth = 0;
  llvm::DenseMap<Value, RingState> rings;
  llvm::SmallVector<TensorMap> tensorMaps;
  llvm::DenseMap<Operation *, EngineCopy> engineCopies;
  llvm::SmallVector<Value> tensorMapParameters; ///< llvm.ptr
  Value uniformWarp;          ///< see warp()
  /// Of kernels with accumulators in tensor memory: their code; i32, the address; the
  /// barrier (llvm.ptr<3>) at which products complete, and a pointer to its parity.
  const AccumulatorCode *accumulators = nullptr;
  Value tensorMemory, productBarrier, productParity;
  int64_t tensorColumns = 0;
  /// Only one thread runs this code: that of tgpu.specialize's access part.
  bool isSingleThread = false;
  /// All threads of the access part run this code.
  bool isAccessPart = false;
  /// Barriers are for the warps of tgpu.specialize's execute part.
  bool isExecutePart = false;
  llvm::DenseMap<Value, ThreadRing> threadRings;

  friend class ScanEmitter;
  friend class SortEmitter;
  friend class AsyncCopyEmitter;
  friend class ArrayTile;
  friend class IndexedAccess;
  friend class AtomicAccess;
};

/// The 16 bytes that masked-off loads read, all zero or, behind the prefix, twice the
/// number in the name ("tilec_pad_ff80ff80ff80ff80"); and the block's shared memory.
inline constexpr llvm::StringLiteral zeroGlobalName = "tilec_zero";
inline constexpr llvm::StringLiteral padGlobalPrefix = "tilec_pad_";
inline constexpr llvm::StringLiteral sharedGlobalName = "tilec_smem";
/// On the function: bytes of shared memory, warps per block.
inline constexpr llvm::StringLiteral sharedBytesAttr = "tile.shared_bytes";
inline constexpr llvm::StringLiteral numWarpsAttr = "tile.num_warps";
/// Also there, where they apply: warps behind those, which copy; blocks per
/// multiprocessor of a persistent kernel; the tensor maps that are parameters; blocks per
/// cluster; positions of the grid per block.
inline constexpr llvm::StringLiteral accessWarpsAttr = "tile.access_warps";
inline constexpr llvm::StringLiteral persistentAttr = "tile.persistent";
inline constexpr llvm::StringLiteral tensorMapsAttr = "tile.tensor_maps";
inline constexpr llvm::StringLiteral clusterAttr = "tile.cluster";
inline constexpr llvm::StringLiteral clusterAxisAttr = "tile.cluster_axis";
/// Blocks that share a position of the grid; 1: the launch decides. Where they add up in
/// memory, bytes that each has in the workspace.
inline constexpr llvm::StringLiteral splitKAttr = "tile.split_k";
inline constexpr llvm::StringLiteral sumBytesAttr = "tile.sum_bytes";
inline constexpr llvm::StringLiteral positionsAttr = "tile.positions";

} // namespace tilec

#endif // TILEC_LIB_LOWERING_EMITTER_H
