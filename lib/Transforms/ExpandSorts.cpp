//===- ExpandSorts.cpp - sorts of anything to sorts of words ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: tiles without layouts, `tile.sort` of any keys and payloads. Out: sorts of unsigned
// words, ascending in the keys' order:
//
//   %k, %v = tile.sort(%x, %y) axis 0 : (tensor<256xf16>, tensor<256xf64>) -> …
// becomes
//   %w = …                          key, 16 bits | position, 8 bits | 1 where x is -0
//   %s = tile.sort(%w) axis 0 unsigned : (tensor<256xi32>) -> tensor<256xi32>
//   %k = …, %p = …                  unpacked
//   %v = tile.take %y[%p] axis 0 along : …
//
// The position below the key makes equal keys distinct, so any network sorts them stably;
// and payloads move once, at the end, instead of in every step. Integers without payloads
// need none. What does not fit 64 bits is a pair of words. `descending` inverts the key.
//
// Floats compare as integers once negative ones are inverted; before, NaN becomes the
// greatest value and -0 becomes +0, to which the lowest bit of the word bears witness. Floats
// without payloads need neither that bit nor a position where the tile has no -0: where words
// of keys alone are narrower, the tile is asked, and a branch sorts them.
//
// Of a sort whose results are only used for their first k elements (topk), the tile is
// halved instead: both halves are sorted in runs of k, one upwards, one downwards, and the
// lesser of each pair of elements are the k least of both runs. They rise and then fall, or
// the other way round, so the last stage of the network sorts them (SortRuns.h).
//
// Where such a tile is loaded for that alone and has more elements than threads hold, it is
// loaded part by part; the first of each part are merged with the first of those before:
//
//   %x = tile.load %a[%i, %j] : … -> tensor<1x262144xf32>    scf.for %p … iter_args(%best) {
//   %k, %v = tile.sort(%x, …) …   first 8 of it          →     %x = tile.load %a[%i, %j * 32 + %p]
//                                                               … first 8 of %best and first 8 of %x }
//===----------------------------------------------------------------------===//
#include "PartIndex.h"

#include "tilec/Analysis/SlicePlan.h"
#include "tilec/Tile/SortRuns.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace tilec {
#define GEN_PASS_DEF_EXPANDSORTS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

namespace {

RankedTensorType tileType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The tile in which each element is its position along `axis`, as IRGen spells it.
bool isPositions(Value value, unsigned axis) {
  RankedTensorType type = tileType(value);
  if (!type.getElementType().isInteger(32))
    return false;
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getSource();
  if (tileType(value).getDimSize(axis) != type.getDimSize(axis) ||
      tileType(value).getNumElements() != type.getDimSize(axis))
    return false;
  if (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getSource();
  return value.getDefiningOp<IotaOp>() && tileType(value).getNumElements() == type.getDimSize(axis);
}

class SortExpander {
public:
  explicit SortExpander(SortOp op)
      : builder(op), loc(op.getLoc()), op(op), axis(op.getAxis()),
        type(tileType(op.getSources().front())), size(type.getDimSize(axis)),
        isFloat(isa<FloatType>(type.getElementType())),
        keyBits(type.getElementType().isIndex() ? 64
                                                : type.getElementType().getIntOrFloatBitWidth()) {}

  void run() {
    if (size == 1) {
      op.replaceAllUsesWith(op.getSources());
      op.erase();
      return;
    }
    if (isFloat || op.getSources().size() > 1)
      tagBits = llvm::Log2_64(uint64_t(size)) + isFloat;
    isPair = keyBits + tagBits > 64;
    int64_t kept = keptElements();
    Value key = op.getSources().front();
    if (!kept && isFloat && op.getSources().size() == 1 && (isPair || wordBits() > wordBitsFor(keyBits))) {
      op.getResult(0).replaceAllUsesWith(sortByCase(key));
      op.erase();
      return;
    }
    SmallVector<Value> words;
    if (LoadOp load = kept ? loadOfParts(kept) : LoadOp())
      words = sortParts(load, kept);
    else
      words = kept ? sortFirst(pack(key), kept) : sortWords(pack(key), axis, false);
    RankedTensorType resultType =
        kept ? withSize(kept) : RankedTensorType::get(type.getShape(), type.getElementType());
    SmallVector<Value> results = {unpackKeys(words, resultType)};
    for (Value payload : op.getSources().drop_front())
      results.push_back(isPositions(payload, axis) ? positions(words)
                                                   : takePayload(payload, words, resultType));
    for (auto [before, after] : llvm::zip_equal(op.getResults(), results)) {
      if (!kept) {
        before.replaceAllUsesWith(after);
        continue;
      }
      for (Operation *user : llvm::make_early_inc_range(before.getUsers())) {
        user->getResult(0).replaceAllUsesWith(after);
        user->erase();
      }
    }
    LoadOp load = op.getSources().front().getDefiningOp<LoadOp>();
    op.erase();
    if (load && load->use_empty())
      load->erase();
  }

private:
  RankedTensorType withSize(int64_t count) {
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = count;
    return RankedTensorType::get(shape, type.getElementType());
  }

  //===--- small operations ------------------------------------------------===//

  Value constant(Type tile, uint64_t bits) {
    auto tensor = cast<RankedTensorType>(tile);
    APInt value(tensor.getElementTypeBitWidth(), bits, false, /*implicitTrunc=*/true);
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(tensor, value));
  }
  Type integers(Value like, unsigned bits) {
    return tileType(like).clone(builder.getIntegerType(bits));
  }
  Value bitXor(Value value, uint64_t bits) {
    return arith::XOrIOp::create(builder, loc, value, constant(value.getType(), bits));
  }
  Value bitAnd(Value value, uint64_t bits) {
    return arith::AndIOp::create(builder, loc, value, constant(value.getType(), bits));
  }
  Value shiftLeft(Value value, unsigned bits) {
    return arith::ShLIOp::create(builder, loc, value, constant(value.getType(), bits));
  }
  Value shiftRight(Value value, unsigned bits) {
    return bits ? arith::ShRUIOp::create(builder, loc, value, constant(value.getType(), bits))
                      .getResult()
                : value;
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  /// Unsigned, to `bits` bits.
  Value resize(Value value, unsigned bits) {
    unsigned from = tileType(value).getElementTypeBitWidth();
    if (from == bits)
      return value;
    Type to = integers(value, bits);
    if (from < bits)
      return arith::ExtUIOp::create(builder, loc, to, value);
    return arith::TruncIOp::create(builder, loc, to, value);
  }

  uint64_t signBit() const { return uint64_t(1) << (keyBits - 1); }
  uint64_t allBits() const { return signBit() | (signBit() - 1); }
  static unsigned wordBitsFor(unsigned bits) { return bits > 32 ? 64 : 32; }
  unsigned wordBits() const { return isPair ? 64 : wordBitsFor(keyBits + tagBits); }

  //===--- keys to words and back -------------------------------------------===//

  /// The key's bits so that they compare as unsigned, and where a float is -0.
  std::pair<Value, Value> orderedBits(Value key) {
    Value bits = key, isNegativeZero;
    if (isFloat) {
      bits = arith::BitcastOp::create(builder, loc, integers(key, keyBits), key);
      isNegativeZero =
          compare(arith::CmpIPredicate::eq, bits, constant(bits.getType(), signBit()));
      Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, key, key);
      bits = select(isNegativeZero, constant(bits.getType(), 0), bits);
      bits = select(isNaN, constant(bits.getType(), signBit() - 1), bits);
      Value sign = arith::ShRSIOp::create(builder, loc, bits,
                                          constant(bits.getType(), keyBits - 1));
      Value change = arith::OrIOp::create(builder, loc, sign,
                                          constant(bits.getType(), signBit()));
      bits = arith::XOrIOp::create(builder, loc, bits, change);
    } else {
      if (tileType(key).getElementType().isIndex())
        bits = arith::IndexCastOp::create(builder, loc, integers(key, 64), key);
      if (!op.getIsUnsigned())
        bits = bitXor(bits, signBit());
    }
    return {op.getDescending() ? bitXor(bits, allBits()) : bits, isNegativeZero};
  }

  /// `first` (i32; null: 0): the position of the first element of `source`.
  SmallVector<Value> pack(Value source, Value first = {}) {
    auto [key, isNegativeZero] = orderedBits(source);
    Value word = resize(key, wordBits());
    if (!tagBits)
      return {word};
    unsigned bits = isPair ? 32 : wordBits();
    Value position = makePositions();
    if (first)
      position = arith::AddIOp::create(
          builder, loc, position, SplatOp::create(builder, loc, position.getType(), first));
    Value tag = resize(position, bits);
    if (isFloat)
      tag = arith::OrIOp::create(builder, loc, shiftLeft(tag, 1), resize(isNegativeZero, bits));
    if (isPair)
      return {word, tag};
    return {arith::OrIOp::create(builder, loc, shiftLeft(word, tagBits), tag)};
  }

  Value makePositions() {
    Type i32 = builder.getI32Type();
    Value line = IotaOp::create(builder, loc, RankedTensorType::get(size, i32));
    SmallVector<int64_t> thin(type.getRank(), 1);
    thin[axis] = size;
    if (type.getRank() > 1)
      line = ReshapeOp::create(builder, loc, RankedTensorType::get(thin, i32), line);
    if (type.getNumElements() != size)
      line = BroadcastOp::create(builder, loc, RankedTensorType::get(type.getShape(), i32), line);
    return line;
  }

  Value tags(ArrayRef<Value> words) {
    return isPair ? words[1] : bitAnd(words[0], (uint64_t(1) << tagBits) - 1);
  }
  Value positions(ArrayRef<Value> words) {
    return resize(shiftRight(tags(words), isFloat), 32);
  }
  Value takePayload(Value payload, ArrayRef<Value> words, RankedTensorType like) {
    Type result = like.clone(tileType(payload).getElementType());
    return TakeOp::create(builder, loc, result, payload, positions(words), axis, /*along=*/true);
  }

  Value unpackKeys(ArrayRef<Value> words, RankedTensorType result) {
    Value key = resize(isPair ? words[0] : shiftRight(words[0], tagBits), keyBits);
    if (op.getDescending())
      key = bitXor(key, allBits());
    if (!isFloat) {
      if (!op.getIsUnsigned())
        key = bitXor(key, signBit());
      if (type.getElementType().isIndex())
        return arith::IndexCastOp::create(builder, loc, result, key);
      return key;
    }
    // Positive floats had their sign bit set, the others all bits inverted.
    Value sign =
        arith::ShRSIOp::create(builder, loc, key, constant(key.getType(), keyBits - 1));
    Value change = arith::OrIOp::create(builder, loc, bitXor(sign, ~uint64_t(0)),
                                        constant(key.getType(), signBit()));
    key = arith::XOrIOp::create(builder, loc, key, change);
    if (!tagBits)
      return arith::BitcastOp::create(builder, loc, result, key);
    Value isNegativeZero = resize(bitAnd(tags(words), 1), 1);
    key = select(isNegativeZero, constant(key.getType(), signBit()), key);
    return arith::BitcastOp::create(builder, loc, result, key);
  }

  //===--- sorting words ------------------------------------------------------===//

  SmallVector<Value> sortWords(ValueRange words, unsigned along, bool descends,
                               bool areBitonic = false) {
    auto sort = SortOp::create(builder, loc, words.getTypes(), words, along, descends,
                               /*isUnsigned=*/true);
    if (areBitonic)
      sort->setAttr(bitonicRunsAttr, builder.getUnitAttr());
    return SmallVector<Value>(sort.getResults());
  }

  /// Floats without payloads: by their words alone, but where one of them is -0.
  Value sortByCase(Value key) {
    Value bits = arith::BitcastOp::create(builder, loc, integers(key, keyBits), key);
    Value isNegativeZero = compare(arith::CmpIPredicate::eq, bits, constant(bits.getType(), signBit()));
    auto any = ReduceOp::create(builder, loc, isNegativeZero,
                                llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())),
                                [](OpBuilder &inner, Location at, ValueRange left, ValueRange right) {
                                  return SmallVector<Value>{
                                      arith::OrIOp::create(inner, at, left[0], right[0])};
                                });
    auto branch = scf::IfOp::create(builder, loc, type, any.getResult(0), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    auto sortIn = [&](Region &arm) {
      builder.setInsertionPointToEnd(&arm.front());
      Value sorted = unpackKeys(sortWords(pack(key), axis, false), type);
      scf::YieldOp::create(builder, loc, sorted);
    };
    sortIn(branch.getThenRegion());
    tagBits = 0;
    isPair = false;
    sortIn(branch.getElseRegion());
    return branch.getResult(0);
  }

  /// How many first elements are all that anyone wants; 0 for all of them.
  int64_t keptElements() {
    int64_t kept = 0;
    for (Operation *user : op->getUsers()) {
      auto extract = dyn_cast<ExtractOp>(user);
      if (!extract)
        return 0;
      std::optional<Layout::Coords> start = constantStart(extract);
      auto part = dyn_cast<RankedTensorType>(extract.getType());
      if (!start || !part || llvm::any_of(*start, [](int64_t at) { return at != 0; }))
        return 0;
      int64_t count = part.getDimSize(axis);
      if (part.getShape() != withSize(count).getShape() || (kept && kept != count))
        return 0;
      kept = count;
    }
    return 2 * kept <= size ? kept : 0;
  }

  /// The first `kept` words, sorted.
  SmallVector<Value> sortFirst(SmallVector<Value> words, int64_t kept) {
    int64_t outer = 1, inner = 1, runs = size / kept;
    for (auto [dim, count] : llvm::enumerate(type.getShape()))
      if (dim != axis)
        (dim < axis ? outer : inner) *= count;
    auto reshape = [&](Value word, ArrayRef<int64_t> shape) -> Value {
      Type result = RankedTensorType::get(shape, tileType(word).getElementType());
      return ReshapeOp::create(builder, loc, result, word);
    };
    for (Value &word : words)
      word = reshape(word, {outer, runs, kept, inner});
    bool areBitonic = false;
    for (; runs > 1; runs /= 2, areBitonic = true) {
      auto half = [&](int64_t which) {
        SmallVector<Value> index;
        for (int64_t at : {int64_t(0), which, int64_t(0), int64_t(0)})
          index.push_back(arith::ConstantIndexOp::create(builder, loc, at));
        return llvm::map_to_vector<2>(words, [&](Value word) -> Value {
          Type result = RankedTensorType::get({outer, runs / 2, kept, inner},
                                              tileType(word).getElementType());
          return ExtractOp::create(builder, loc, result, word, index);
        });
      };
      SmallVector<Value> up = sortWords(half(0), 2, false, areBitonic);
      SmallVector<Value> down = sortWords(half(1), 2, true, areBitonic);
      Value isLess = compare(arith::CmpIPredicate::ult, up[0], down[0]);
      if (isPair) {
        Value tie = arith::AndIOp::create(builder, loc,
                                          compare(arith::CmpIPredicate::eq, up[0], down[0]),
                                          compare(arith::CmpIPredicate::ult, up[1], down[1]));
        isLess = arith::OrIOp::create(builder, loc, isLess, tie);
      }
      for (unsigned i = 0; i < words.size(); ++i)
        words[i] = select(isLess, up[i], down[i]);
    }
    words = sortWords(words, 2, false, areBitonic);
    for (Value &word : words)
      word = reshape(word, withSize(kept).getShape());
    return words;
  }

  //===--- wide tiles, part by part -------------------------------------------===//

  /// Elements of a part, which 16 warps sort in registers, and up to which a tile is sorted whole.
  static constexpr int64_t partElements = 16384, mostWhole = 65536;

  /// The load of a wide tile of which `kept` elements are wanted, if nobody else wants it and
  /// it can be done later, in parts.
  LoadOp loadOfParts(int64_t kept) {
    auto load = op.getSources().front().getDefiningOp<LoadOp>();
    bool isAlone = load && load->hasOneUse() && load->getBlock() == op->getBlock() &&
                   llvm::all_of(op.getSources().drop_front(),
                                [&](Value payload) { return isPositions(payload, axis); });
    int64_t others = type.getNumElements() / size;
    if (!isAlone || type.getNumElements() <= mostWhole || 4 * kept * others > partElements)
      return {};
    for (Operation *between = load->getNextNode(); between != op; between = between->getNextNode())
      if (!isMemoryEffectFree(between) && !isa<LoadOp, GatherOp>(between))
        return {};
    return load;
  }

  /// The first `kept` words, from parts of what `load` would load.
  SmallVector<Value> sortParts(LoadOp load, int64_t kept) {
    RankedTensorType wholeType = type;
    int64_t part = partElements / (type.getNumElements() / size), parts = size / part;
    auto ofSize = [&](int64_t count) {
      type = wholeType;
      type = withSize(count);
      size = count;
    };
    ofSize(kept);
    // Words that no other comes behind; one that is equal says the same.
    SmallVector<Value> worst = {
        constant(type.clone(builder.getIntegerType(wordBits())), ~uint64_t(0))};
    if (isPair)
      worst.push_back(constant(type.clone(builder.getI32Type()), ~uint64_t(0)));
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    auto loop = scf::ForOp::create(builder, loc, index(0), index(parts), index(1), worst);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> place(load.getIndex());
    Value number = loop.getInductionVar();
    Value first = arith::MulIOp::create(builder, loc, number, index(part));
    Value &start = place[axis];
    start = load.getElements() ? arith::AddIOp::create(builder, loc, start, first).getResult()
                               : partIndex(builder, loc, start, parts, number);
    ofSize(part);
    auto loaded = cast<LoadOp>(builder.clone(*load));
    loaded.getIndexMutable().assign(place);
    loaded.getResult().setType(type);
    first = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), first);
    SmallVector<Value> found = sortFirst(pack(loaded.getResult(), first), kept);
    ofSize(2 * kept);
    SmallVector<Value> both;
    for (auto [best, more] : llvm::zip_equal(loop.getRegionIterArgs(), found))
      both.push_back(CatOp::create(builder, loc,
                                   type.clone(tileType(more).getElementType()),
                                   ValueRange{best, more}, axis));
    both = sortFirst(both, kept);
    scf::YieldOp::create(builder, loc, both);
    type = wholeType;
    size = type.getDimSize(axis);
    return SmallVector<Value>(loop.getResults());
  }

  OpBuilder builder;
  Location loc;
  SortOp op;
  unsigned axis;
  RankedTensorType type;
  int64_t size;
  bool isFloat;
  unsigned keyBits;
  unsigned tagBits = 0;  ///< position, and whether a float is -0
  bool isPair = false;   ///< key and tag are words of their own
};

struct ExpandSorts : tilec::impl::ExpandSortsBase<ExpandSorts> {
  void runOnOperation() override {
    SmallVector<SortOp> sorts;
    getOperation().walk([&](SortOp op) { sorts.push_back(op); });
    for (SortOp op : sorts)
      SortExpander(op).run();
  }
};

} // namespace
