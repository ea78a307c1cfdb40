//===- MmaSync.cpp - matrix products with mma.sync -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a and b in shared memory or registers, acc in registers. Out: for each
// step of K the fragments that a warp needs, each read once, and an instruction for
// each pair:
//
//   A0 = ldmatrix a[rows 0-15, k]   A1 = …   B0, B1 = ldmatrix b[k, columns 0-15]   …
//   acc[0, 0] = mma A0, B0, acc[0, 0]
//   acc[0, 1] = mma A0, B1, acc[0, 1]   …
//
// Warps stand in a grid over M and N, so that each has a part that is nearly square.
// Fragments of the next step are read before the products of this one. Those of f64, of which
// there is no room for two sets, come between them: each of a where the last product that
// needed the old one is done.
//
// A family is one record a way to multiply:
//
//   mma_sync          f16, bf16, tf32, i8, f64 (8 x 8 x 4)
//   mma_sync_wide     f64 by 16 x 8 x 16
//   mma_sync_tf32     f32, whose low bits the instruction ignores (`precision: tf32`)
//   mma_sync_tf32x3   f32 as the sum of two tf32, three products
//   mma_sync_f8       f8, summed as the hardware does (`precision: fast`)
//   mma_sync_f8_half  f8 as f16, which is exact; where f8 can be converted
//   mma_sync_f8_bits  the same with the conversion in integers
//
// The tensor cores sum in f32 with their own rounding (toward zero, as measured by
// several authors); the f8 instructions of some chips with fewer bits than f32, which is
// why they are for `fast` only.
//
//===------------------------------------------------------------------------===//
#include "MmaSync.h"

#include "Families.h"

#include "tilec/Support/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::mmasync;
using tile::MmaPrecision;

/// Instructions that the body of a loop over K may hold.
static constexpr int64_t maxBodyProducts = 256;

namespace {

/// What happens to a fragment between shared memory and the instruction.
enum class Prepare {
  Nothing,
  SplitTF32,   ///< f32 to two tf32, the large part first
  HalfFromF8,  ///< four f8 to two pairs of f16, by the chip
  BitsFromF8,  ///< the same in integers
};

struct Variant {
  llvm::StringLiteral name;
  uint32_t features;
  Prepare prepare;
  bool isWide;
};

constexpr uint32_t base = uint32_t(ChipFeature::AsyncCopy) | uint32_t(ChipFeature::Bf16);
constexpr uint32_t with(ChipFeature feature) { return base | uint32_t(feature); }

constexpr Variant plain{"mma_sync", base, Prepare::Nothing, false};
constexpr Variant wide{"mma_sync_wide", with(ChipFeature::WideF64Mma), Prepare::Nothing, true};
constexpr Variant tf32{"mma_sync_tf32", base, Prepare::Nothing, false};
constexpr Variant tf32x3{"mma_sync_tf32x3", base, Prepare::SplitTF32, false};
constexpr Variant f8{"mma_sync_f8", with(ChipFeature::Fp8Mma), Prepare::Nothing, false};
constexpr Variant f8Half{"mma_sync_f8_half", with(ChipFeature::Fp8Convert),
                         Prepare::HalfFromF8, false};
constexpr Variant f8Bits{"mma_sync_f8_bits", base, Prepare::BitsFromF8, false};

} // namespace

static bool isF8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

/// Of a product with `n` columns; `bIsAlongK`: b's rows of 16 bytes are along K.
static Shape shapeOf(Type elementType, bool isWide, int64_t n, bool bIsAlongK) {
  switch (storedType(elementType).getIntOrFloatBitWidth()) {
  case 8:
    return {16, 4, 2};
  case 16:
    return {16, 2, 2};
  case 32:
    return {16, 1, 2};
  default:
    return isWide ? Shape{16, 1, 2, /*isSpread=*/n >= 16, bIsAlongK} : Shape{8, 1, 1};
  }
}

static Shape shapeOf(Type elementType, bool isWide, const MmaProblem &problem) {
  return shapeOf(elementType, isWide, problem.accShape.back(), !problem.bIsAcrossK);
}

/// Of the fragments that `acc` was made of: two columns of one thread are neighbours unless b
/// is along K, or comes from registers.
static Shape shapeOf(Type elementType, bool isWide, const Layout &acc) {
  Shape shape = shapeOf(elementType, isWide, acc.shape().back(), /*bIsAlongK=*/true);
  uint64_t step = acc.field(acc.bases(Input::Register).front(), acc.rank() - 1);
  if (shape.isSpread)
    shape.bIsAlongK = step == uint64_t(shape.step(Operand::B, 0));
  else if (step)
    shape.columnStep = unsigned(step);
  return shape;
}

//===------------------------------------------------------------------------===//
// What each way takes
//===------------------------------------------------------------------------===//

static bool supportsPlain(const MmaProblem &p) {
  if (p.aType.isF16() && p.bType.isF16())
    return p.accType.isF32() || p.accType.isF16();
  if (p.aType != p.bType)
    return false;
  if (p.aType.isBF16() || isa<FloatTF32Type>(p.aType))
    return p.accType.isF32();
  return (p.aType.isInteger(8) && p.accType.isInteger(32)) ||
         (p.aType.isF64() && p.accType.isF64());
}

static bool supportsWide(const MmaProblem &p) { return p.aType.isF64() && supportsPlain(p); }

static bool isF32Product(const MmaProblem &p) {
  return p.aType.isF32() && p.bType.isF32() && p.accType.isF32();
}
static bool supportsTF32(const MmaProblem &p) {
  return isF32Product(p) && p.precision == MmaPrecision::TF32;
}
static bool supportsTF32x3(const MmaProblem &p) {
  return isF32Product(p) && p.precision == MmaPrecision::TF32x3;
}

static bool isF8Product(const MmaProblem &p) {
  return isF8(p.aType) && isF8(p.bType) && p.accType.isF32();
}
static bool supportsF8(const MmaProblem &p) {
  return isF8Product(p) && p.precision == MmaPrecision::Fast;
}

//===------------------------------------------------------------------------===//
// Layout of the accumulator
//===------------------------------------------------------------------------===//

namespace {
struct WarpGrid {
  int64_t batch = 1, m = 1, n = 1;
};
} // namespace

/// Warps take batches first, which share nothing; then parts of M and N such that a
/// warp reads least, no less than a fragment each. Warps that remain hold copies.
static WarpGrid chooseGrid(const MmaProblem &problem, const Shape &fragment) {
  ArrayRef<int64_t> shape = problem.accShape;
  unsigned rank = shape.size();
  int64_t m = shape[rank - 2], n = shape[rank - 1];
  int64_t mostM = std::max<int64_t>(m / fragment.rows, 1), mostN = std::max<int64_t>(n / 8, 1);
  WarpGrid grid;
  grid.batch = std::min<int64_t>(rank == 3 ? shape[0] : 1, problem.numWarps);
  int64_t warps = int64_t(problem.numWarps) / grid.batch;
  int64_t best = INT64_MAX;
  for (int64_t warpsM = std::min(warps, mostM); warpsM >= 1; warpsM /= 2) {
    int64_t warpsN = std::min(warps / warpsM, mostN);
    int64_t cost = (m / warpsM + n / warpsN) * (warps / (warpsM * warpsN));
    if (cost < best) {
      best = cost;
      grid.m = warpsM;
      grid.n = warpsN;
    }
    if (problem.keepsRowsInWarp)
      break;
  }
  return grid;
}

/// Columns of a thread that lie side by side where threads compute b from rows along N, in
/// products of no more rows than this: there reads and conversions are what limits (larger
/// ones were a tenth slower on an H200, by the order in which instructions come).
static constexpr int64_t mostColumnsTogether = 16, mostRowsOfWideReads = 64;

static Layout accLayout(const MmaProblem &problem, Shape fragment) {
  ArrayRef<int64_t> shape = problem.accShape;
  unsigned rank = shape.size(), dimM = rank - 2, dimN = rank - 1;
  WarpGrid grid = chooseGrid(problem, fragment);
  Layout layout(shape);
  int64_t rows = fragment.rows, m = shape[dimM], n = shape[dimN];
  if (problem.bIsComputed && problem.bIsAcrossK && !problem.keepsRowsInWarp &&
      !fragment.isSpread && m <= mostRowsOfWideReads)
    fragment.columnStep = unsigned(std::clamp<int64_t>(n / (8 * grid.n), 1, mostColumnsTogether));
  auto add = [&](Input input, unsigned dim, int64_t step) {
    if (step >= shape[dim]) {
      layout.addZeros(input, 1);
      return;
    }
    Layout::Coords coords(rank, 0);
    coords[dim] = step;
    layout.add(input, coords);
  };
  int64_t columns = fragment.columnStep > 1 ? 8 : 16;
  auto run = [&](Input input, unsigned dim, int64_t begin, int64_t end) {
    for (int64_t number = begin; number < end; number *= 2) {
      // Fragments are of up to 16 rows and columns.
      int64_t step = number;
      bool isOfFragment = number < (dim == dimN ? columns : rows);
      if (number < 16 && dim + 2 >= rank && isOfFragment)
        step = fragment.step(dim == dimN ? Operand::B : Operand::A,
                             llvm::Log2_64(uint64_t(number)));
      add(input, dim, step);
    }
  };
  run(Input::Register, dimN, 1, 2);
  run(Input::Register, dimM, 8, rows);
  run(Input::Lane, dimN, 2, 8);
  run(Input::Lane, dimM, 1, 8);
  // Along N two fragments to a thread where there are, or those between the columns of one,
  // then warps, then the rest.
  int64_t nearN = n >= 16 * grid.n ? 16 : 8;
  if (fragment.columnStep > 1) {
    nearN = 8 * fragment.columnStep;
    for (unsigned column = 1; column < fragment.columnStep; column *= 2)
      add(Input::Register, dimN, column);
  } else {
    run(Input::Register, dimN, 8, nearN);
  }
  run(Input::Register, dimN, nearN * grid.n, n);
  run(Input::Register, dimM, rows * grid.m, m);
  run(Input::Warp, dimM, rows, rows * grid.m);
  run(Input::Warp, dimN, nearN, nearN * grid.n);
  if (rank == 3) {
    run(Input::Warp, 0, 1, grid.batch);
    run(Input::Register, 0, grid.batch, shape[0]);
  }
  unsigned warpBits = llvm::Log2_32(problem.numWarps);
  layout.addZeros(Input::Warp, warpBits - layout.numBits(Input::Warp));
  return layout;
}

static OperandRead readOperand(const MmaProblem &problem, const Layout &acc,
                               Operand operand, bool alongK, bool isWide) {
  ArrayRef<int64_t> shape = operand == Operand::A ? problem.aShape : problem.bShape;
  Type type = operand == Operand::A ? problem.aType : problem.bType;
  Shape fragment = shapeOf(type, isWide, acc);
  ReadMode mode = chooseReadMode(fragment, shape, operand, type, alongK);
  return readLayout(fragment, mode, shape, type, acc, operand);
}

static std::optional<Layout> operandRegisters(const MmaProblem &problem, const Layout &acc,
                                              bool isWide, Operand operand) {
  Shape fragment = shapeOf(problem.aType, isWide, acc);
  if (problem.k() < fragment.blockK())
    return std::nullopt;
  return registerLayout(fragment, operand == Operand::A ? problem.aShape : problem.bShape, acc,
                        operand);
}

//===------------------------------------------------------------------------===//
// The instruction
//===------------------------------------------------------------------------===//

static StringRef f8Name(Type type) { return isa<Float8E5M2Type>(type) ? "e5m2" : "e4m3"; }

/// The name of the intrinsic for operands as the instruction takes them.
static std::string intrinsicName(const MmaEmission &emission, const Shape &fragment,
                                 Prepare prepare) {
  Type a = emission.a.elementType, b = emission.b.elementType;
  bool sumsHalves = cast<VectorType>(emission.acc.getType()).getElementType().isF16();
  std::string name = "llvm.nvvm.mma.m" + std::to_string(fragment.rows) + "n8k" +
                     std::to_string(fragment.k()) + ".row.col.";
  if (prepare == Prepare::HalfFromF8 || prepare == Prepare::BitsFromF8)
    return "llvm.nvvm.mma.m16n8k16.row.col.f32.f32";
  if (a.isF16())
    return name + (sumsHalves ? "f16.f16" : "f32.f32");
  if (a.isBF16())
    return name + "bf16";
  if (a.isF64())
    return name + "f64";
  if (isF8(a))
    return name + "f32." + f8Name(a).str() + "." + f8Name(b).str() + ".f32";
  if (!a.isInteger(8))
    return name + "tf32";
  bool ua = emission.a.isUnsigned, ub = emission.b.isUnsigned;
  std::string types = ua ? "u8" : "s8";
  if (ua != ub)
    types += ub ? ".u8" : ".s8";
  return name + types;
}

namespace {

/// Fragments as the instruction takes them, in one or two parts.
using Parts = SmallVector<SmallVector<Value, 8>, 2>;

/// Writes the instructions of one product.
class ProductEmitter {
public:
  ProductEmitter(Location loc, const MmaEmission &emission, const Variant &variant)
      : loc(loc), emission(emission), prepare(variant.prepare),
        fragment(shapeOf(emission.a.elementType, variant.isWide, emission.accLayout)) {
    auto type = cast<VectorType>(emission.acc.getType());
    MLIRContext *context = type.getContext();
    intrinsic = StringAttr::get(context, intrinsicName(emission, fragment, prepare));
    elementType = type.getElementType();
    takesHalves = emission.a.elementType.isF16() || prepare == Prepare::HalfFromF8 ||
                  prepare == Prepare::BitsFromF8;
    isPaired = elementType.isF16();
    halfPair = VectorType::get(2, Float16Type::get(context));
    unsigned numResults = fragment.accElements() / (isPaired ? 2 : 1);
    Type resultType = isPaired ? Type(halfPair) : elementType;
    resultStruct =
        LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(numResults, resultType));
  }

  Value emit(OpBuilder &builder);

private:
  /// All products of `steps` steps of K from the first on.
  void emitSteps(OpBuilder &builder, FragmentReader &a, FragmentReader &b, unsigned steps);
  void multiplyBlock(OpBuilder &builder, FragmentReader &a, FragmentReader &b, unsigned block,
                     unsigned step);
  const Parts &fragments(OpBuilder &builder, FragmentReader &reader, Operand operand,
                         uint64_t flat, unsigned step);
  Parts prepareParts(OpBuilder &builder, ArrayRef<Value> registers, Type type);
  void multiply(OpBuilder &builder, ArrayRef<Value> a, ArrayRef<Value> b, unsigned block);
  Value halvesFromF8(OpBuilder &builder, Value word, Type type, unsigned pair);
  Value halvesFromBits(OpBuilder &builder, Value word, Type type, unsigned pair);

  uint64_t projectA(unsigned block) const { return project(block, Operand::A); }
  uint64_t project(unsigned block, Operand operand) const {
    const Layout &acc = emission.accLayout;
    uint64_t flat = acc.applyFlat(Position::thread(block * fragment.accElements(), 0));
    Layout shape((operand == Operand::A ? emission.a : emission.b).layout.shape());
    return projectToOperand(acc, shape, flat, operand);
  }
  unsigned numBlocks() const { return elements.size() / fragment.accElements(); }

  Location loc;
  const MmaEmission &emission;
  Prepare prepare;
  Shape fragment;
  StringAttr intrinsic;
  Type elementType, resultStruct;
  VectorType halfPair;
  bool takesHalves, isPaired;
  SmallVector<Value> elements; ///< of acc
  std::map<std::tuple<Operand, uint64_t, unsigned>, Parts> prepared;
};

} // namespace

static Value callIntrinsic(OpBuilder &builder, Location loc, StringAttr name, Type result,
                           ValueRange arguments) {
  return LLVM::CallIntrinsicOp::create(builder, loc, result, name, arguments).getResults();
}

void ProductEmitter::multiply(OpBuilder &builder, ArrayRef<Value> a, ArrayRef<Value> b,
                              unsigned block) {
  SmallVector<Value, 16> arguments;
  for (ArrayRef<Value> registers : {a, b})
    for (Value word : registers)
      arguments.push_back(takesHalves && word.getType() != halfPair
                              ? LLVM::BitcastOp::create(builder, loc, halfPair, word).getResult()
                              : word);
  MutableArrayRef<Value> own =
      MutableArrayRef(elements).slice(block * fragment.accElements(), fragment.accElements());
  if (isPaired) {
    for (unsigned i = 0; i < own.size(); i += 2)
      arguments.push_back(vector::FromElementsOp::create(builder, loc, halfPair,
                                                         ValueRange{own[i], own[i + 1]}));
  } else {
    arguments.append(own.begin(), own.end());
  }
  Value result = callIntrinsic(builder, loc, intrinsic, resultStruct, arguments);
  unsigned perResult = isPaired ? 2 : 1;
  for (unsigned i = 0; i < own.size(); i += perResult) {
    Value part = LLVM::ExtractValueOp::create(builder, loc, result, int64_t(i / perResult));
    if (!isPaired) {
      own[i] = part;
      continue;
    }
    auto pair = vector::ToElementsOp::create(builder, loc, part);
    own[i] = pair.getResult(0);
    own[i + 1] = pair.getResult(1);
  }
}

//===------------------------------------------------------------------------===//
// Preparing fragments
//===------------------------------------------------------------------------===//

/// The tf32 nearest to an f32, as an i32.
static Value roundToTF32(OpBuilder &builder, Location loc, Value f32) {
  return callIntrinsic(builder, loc, builder.getStringAttr("llvm.nvvm.f2tf32.rna"),
                       builder.getI32Type(), f32);
}

/// Elements 2 * pair and the next of a word of four f8, as two f16, in integers.
Value ProductEmitter::halvesFromBits(OpBuilder &builder, Value word, Type type,
                                     unsigned pair) {
  auto constant = [&](int64_t bits) { return emitI32(builder, loc, bits); };
  auto masked = [&](Value value, int64_t mask) -> Value {
    return arith::AndIOp::create(builder, loc, value, constant(mask));
  };
  auto shifted = [&](Value value, int64_t left) -> Value {
    if (left > 0)
      return arith::ShLIOp::create(builder, loc, value, constant(left));
    return left ? arith::ShRUIOp::create(builder, loc, value, constant(-left)).getResult()
                : value;
  };
  // A byte in the upper half of 16 bits is an f16, of e5m2; e4m3 has one bit less of
  // exponent, 8 less of bias, and one NaN.
  Value low = masked(shifted(word, pair ? -8 : 8), 0xff00);
  Value high = masked(shifted(word, pair ? 0 : 16), int64_t(0xff000000));
  Value bits = arith::OrIOp::create(builder, loc, low, high);
  if (isa<Float8E5M2Type>(type))
    return LLVM::BitcastOp::create(builder, loc, halfPair, bits);
  Value magnitude = shifted(masked(bits, 0x7f007f00), -1);
  Value sign = masked(bits, int64_t(0x80008000));
  Value isNaN = masked(arith::AddIOp::create(builder, loc, magnitude, constant(0x00800080)),
                       0x40004000);
  Value nan = arith::MulIOp::create(builder, loc, shifted(isNaN, -14), constant(0x7e00));
  Value scaled = LLVM::BitcastOp::create(
      builder, loc, halfPair, arith::OrIOp::create(builder, loc, sign, magnitude));
  Value factor = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(halfPair, APFloat(APFloat::IEEEhalf(), APInt(16, 0x5c00))));
  Value product = arith::MulFOp::create(builder, loc, scaled, factor);
  Value result = LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), product);
  result = arith::OrIOp::create(builder, loc, result, nan);
  return LLVM::BitcastOp::create(builder, loc, halfPair, result);
}

Value ProductEmitter::halvesFromF8(OpBuilder &builder, Value word, Type type,
                                   unsigned pair) {
  Value part = word;
  if (pair)
    part = arith::ShRUIOp::create(builder, loc, word, emitI32(builder, loc, 16));
  part = arith::TruncIOp::create(builder, loc, builder.getI16Type(), part);
  std::string name = "llvm.nvvm." + f8Name(type).str() + "x2.to.f16x2.rn";
  return callIntrinsic(builder, loc, builder.getStringAttr(name), halfPair, part);
}

Parts ProductEmitter::prepareParts(OpBuilder &builder, ArrayRef<Value> registers,
                                   Type type) {
  Parts parts;
  if (prepare == Prepare::Nothing) {
    parts.emplace_back(registers.begin(), registers.end());
    return parts;
  }
  parts.resize(2);
  for (Value word : registers) {
    if (prepare == Prepare::HalfFromF8 || prepare == Prepare::BitsFromF8) {
      for (unsigned pair = 0; pair < 2; ++pair)
        parts[pair].push_back(prepare == Prepare::HalfFromF8
                                  ? halvesFromF8(builder, word, type, pair)
                                  : halvesFromBits(builder, word, type, pair));
      continue;
    }
    Value f32 = LLVM::BitcastOp::create(builder, loc, builder.getF32Type(), word);
    Value large = roundToTF32(builder, loc, f32);
    // The instruction ignores the low bits, so must the difference.
    large = arith::AndIOp::create(builder, loc, large,
                                  emitI32(builder, loc, int64_t(0xffffe000)));
    Value rest = arith::SubFOp::create(
        builder, loc, f32, LLVM::BitcastOp::create(builder, loc, builder.getF32Type(), large));
    parts[1].push_back(roundToTF32(builder, loc, rest));
    parts[0].push_back(large);
  }
  return parts;
}

const Parts &ProductEmitter::fragments(OpBuilder &builder, FragmentReader &reader,
                                       Operand operand, uint64_t flat, unsigned step) {
  auto [entry, isNew] = prepared.try_emplace({operand, flat, step});
  if (isNew) {
    Type type = (operand == Operand::A ? emission.a : emission.b).elementType;
    entry->second = prepareParts(builder, reader.read(flat, step), type);
  }
  return entry->second;
}

//===------------------------------------------------------------------------===//
// The product
//===------------------------------------------------------------------------===//

void ProductEmitter::emitSteps(OpBuilder &builder, FragmentReader &a, FragmentReader &b,
                               unsigned steps) {
  prepared.clear();
  auto readA = [&](unsigned block, unsigned step) { (void)a.read(projectA(block), step); };
  auto readB = [&](unsigned block, unsigned step) {
    (void)b.read(project(block, Operand::B), step);
  };
  auto readAll = [&](unsigned step) {
    for (unsigned block = 0; block < numBlocks(); ++block) {
      readA(block, step);
      readB(block, step);
    }
  };
  // Blocks that share a fragment of a follow each other: a row of them.
  unsigned rowLength = 1;
  while (rowLength < numBlocks() && projectA(rowLength) == projectA(0))
    ++rowLength;
  unsigned rows = numBlocks() / rowLength;
  bool byRows = fragment.isSpread && rows > 1;
  readAll(0);
  for (unsigned step = 0; step < steps; ++step) {
    bool isLast = step + 1 == steps;
    if (!isLast && !byRows)
      readAll(step + 1);
    for (unsigned block = 0; block < numBlocks(); ++block) {
      multiplyBlock(builder, a, b, block, step);
      unsigned row = block / rowLength;
      if (isLast || !byRows || (block + 1) % rowLength)
        continue;
      // The next step's fragment of a goes where this one was; b's come some by some.
      readA(block, step + 1);
      for (unsigned i = row * rowLength / rows; i < (row + 1) * rowLength / rows; ++i)
        readB(i, step + 1);
    }
  }
}

void ProductEmitter::multiplyBlock(OpBuilder &builder, FragmentReader &a, FragmentReader &b,
                                   unsigned block, unsigned step) {
  const Parts &left = fragments(builder, a, Operand::A, projectA(block), step);
  const Parts &right = fragments(builder, b, Operand::B, project(block, Operand::B), step);
  if (prepare == Prepare::SplitTF32) {
    // The small products first; that of both small parts does not count.
    multiply(builder, left[1], right[0], block);
    multiply(builder, left[0], right[1], block);
    multiply(builder, left[0], right[0], block);
    return;
  }
  for (unsigned part = 0; part < left.size(); ++part)
    multiply(builder, left[part], right[part], block);
}

Value ProductEmitter::emit(OpBuilder &builder) {
  auto accType = cast<VectorType>(emission.acc.getType());
  FragmentReader a(builder, loc, emission.a, emission, fragment, Operand::A);
  FragmentReader b(builder, loc, emission.b, emission, fragment, Operand::B);
  int64_t sizeK = emission.a.layout.shape().back();
  int64_t steps = std::max<int64_t>(sizeK / fragment.k(), 1);
  int64_t perStep = accType.getNumElements() / fragment.accElements();
  int64_t most = int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(maxBodyProducts / perStep, 1))));
  auto takeApart = [&](OpBuilder &at, Value acc) {
    auto parts = vector::ToElementsOp::create(at, loc, acc);
    elements.assign(parts.getResults().begin(), parts.getResults().end());
  };
  if (steps <= most || emission.a.inRegisters() || emission.b.inRegisters()) {
    takeApart(builder, emission.acc);
    emitSteps(builder, a, b, unsigned(steps));
    return vector::FromElementsOp::create(builder, loc, accType, elements);
  }
  auto loop = scf::ForOp::create(
      builder, loc, emitI32(builder, loc, 0), emitI32(builder, loc, steps / most),
      emitI32(builder, loc, 1), emission.acc,
      [&](OpBuilder &body, Location, Value chunk, ValueRange carried) {
        takeApart(body, carried[0]);
        a.enterChunk(body, chunk, unsigned(most));
        b.enterChunk(body, chunk, unsigned(most));
        emitSteps(body, a, b, unsigned(most));
        Value next = vector::FromElementsOp::create(body, loc, accType, elements);
        scf::YieldOp::create(body, loc, next);
      });
  return loop.getResult(0);
}

//===------------------------------------------------------------------------===//
// The records
//===------------------------------------------------------------------------===//

template <const Variant &variant>
static constexpr Atom makeAtom(bool (*supports)(const MmaProblem &)) {
  return {
      /*name=*/variant.name,
      /*aHome=*/OperandHome::Shared,
      /*bHome=*/OperandHome::Shared,
      /*scope=*/AtomScope::Warp,
      /*isAsync=*/false,
      /*features=*/variant.features,
      /*supports=*/supports,
      /*accLayout=*/
      [](const MmaProblem &problem) {
        return accLayout(problem, shapeOf(problem.aType, variant.isWide, problem));
      },
      /*readOperand=*/
      [](const MmaProblem &problem, const Layout &acc, Operand operand, bool alongK) {
        return readOperand(problem, acc, operand, alongK, variant.isWide);
      },
      /*aRegisters=*/
      [](const MmaProblem &problem, const Layout &acc) {
        return operandRegisters(problem, acc, variant.isWide, Operand::A);
      },
      /*emit=*/
      [](OpBuilder &builder, Location loc, const MmaEmission &emission) {
        return ProductEmitter(loc, emission, variant).emit(builder);
      },
      /*aBuffer=*/nullptr,
      /*bBuffer=*/nullptr,
      /*wait=*/nullptr,
      /*canStart=*/false,
      /*shape=*/
      [](const MmaProblem &problem) -> std::array<int64_t, 3> {
        Type type = problem.aType;
        if (variant.prepare == Prepare::HalfFromF8 || variant.prepare == Prepare::BitsFromF8)
          type = Float16Type::get(type.getContext());
        Shape shape = shapeOf(type, variant.isWide, problem);
        return {int64_t(shape.rows), 8, int64_t(shape.k())};
      },
      /*accumulator=*/nullptr,
      /*addsInRegisters=*/false,
      /*addsInRegistersUpTo=*/0,
      /*bRegisters=*/
      [](const MmaProblem &problem, const Layout &acc) {
        return operandRegisters(problem, acc, variant.isWide, Operand::B);
      },
  };
}

const Atom tilec::mmaSyncAtom = makeAtom<plain>(supportsPlain);
const Atom tilec::mmaSyncWideAtom = makeAtom<wide>(supportsWide);
const Atom tilec::mmaSyncTF32Atom = makeAtom<tf32>(supportsTF32);
const Atom tilec::mmaSyncTF32x3Atom = makeAtom<tf32x3>(supportsTF32x3);
const Atom tilec::mmaSyncF8Atom = makeAtom<f8>(supportsF8);
const Atom tilec::mmaSyncF8HalfAtom = makeAtom<f8Half>(isF8Product);
const Atom tilec::mmaSyncF8BitsAtom = makeAtom<f8Bits>(isF8Product);
