//===- TabulateFunctions.cpp - functions of positions as tables --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In: stage `tile`. Out: sines and the like of tiles that only depend on positions are
// constants, which threads load:
//
//   %i = tile.iota : tensor<2048xi32>                    %t = arith.constant dense<[1.0, 0.99…]>
//   %s = tile.shift right_signed %i, 4                          : tensor<1x128x1xf32>
//   %a = arith.mulf (arith.sitofp %s), -0.02       →     %b = tile.broadcast %t : … -> tensor<1x128x16xf32>
//   %c = math.cos %a : tensor<2048xf32>                  %c = tile.reshape %b : … -> tensor<2048xf32>
//
// A Fourier transform asks for as many in each round as it has elements: some 50 instructions
// each, where a load of what all blocks have in their caches is one. Equal neighbours are
// one element of the table, and so are periods. Values are those of double precision,
// rounded once; operands are folded as elsewhere. Functions of f32 only, and only those
// that take tens of instructions; not where a table would be larger than a row of a
// transform (`mostElements`).
//===----------------------------------------------------------------------===//
#include "LayoutRules.h"

#include "tilec/Tile/TileOps.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

namespace tilec {
#define GEN_PASS_DEF_TABULATEFUNCTIONS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

namespace {

class Tabulator {
public:
  /// The elements of a tile that only depends on positions, or null.
  DenseElementsAttr evaluate(Value value) {
    auto [place, isNew] = known.try_emplace(value);
    if (!isNew)
      return place->second;
    DenseElementsAttr elements = compute(value);
    known[value] = elements;
    return elements;
  }

  void run(KernelOp kernel) {
    SmallVector<Operation *> functions;
    kernel.walk([&](Operation *op) {
      if (isa<math::SinOp, math::CosOp, math::TanOp, math::AsinOp, math::AcosOp, math::AtanOp>(op))
        functions.push_back(op);
    });
    for (Operation *op : functions) {
      auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      if (!type || !type.getElementType().isF32())
        continue;
      if (DenseElementsAttr operand = evaluate(op->getOperand(0)))
        replace(op, type, valuesOf(op, operand));
    }
  }

private:
  static constexpr int64_t mostElements = 1 << 14;

  DenseElementsAttr compute(Value value) {
    Operation *op = value.getDefiningOp();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!op || !type || type.getNumElements() > mostElements)
      return {};
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return dyn_cast<DenseElementsAttr>(constant.getValue());
    if (isa<IotaOp>(op)) {
      SmallVector<Attribute> numbers;
      for (int64_t i = 0; i < type.getNumElements(); ++i)
        numbers.push_back(IntegerAttr::get(type.getElementType(), i));
      return DenseElementsAttr::get(type, numbers);
    }
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      DenseElementsAttr source = isTile(reshape.getSource()) ? evaluate(reshape.getSource())
                                                             : DenseElementsAttr();
      return source ? source.reshape(type) : source;
    }
    if (!isElementwise(op) || op->getNumResults() != 1 || op->getNumRegions())
      return {};
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(evaluate(operand));
      if (!operands.back())
        return {};
    }
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)) || results.size() != 1)
      return {};
    if (auto same = dyn_cast<Value>(results[0]))
      return evaluate(same);
    return dyn_cast<DenseElementsAttr>(cast<Attribute>(results[0]));
  }

  static SmallVector<float> valuesOf(Operation *op, DenseElementsAttr operand) {
    auto function = [&](double x) {
      return TypeSwitch<Operation *, double>(op)
          .Case([&](math::SinOp) { return std::sin(x); })
          .Case([&](math::CosOp) { return std::cos(x); })
          .Case([&](math::TanOp) { return std::tan(x); })
          .Case([&](math::AsinOp) { return std::asin(x); })
          .Case([&](math::AcosOp) { return std::acos(x); })
          .Default([&](Operation *) { return std::atan(x); });
    };
    return llvm::map_to_vector(operand.getValues<float>(),
                               [&](float x) { return float(function(x)); });
  }

  /// A constant of the elements that differ, repeated and stretched.
  static void replace(Operation *op, RankedTensorType type, ArrayRef<float> values) {
    auto isSame = [&](size_t a, size_t b) {
      return llvm::bit_cast<uint32_t>(values[a]) == llvm::bit_cast<uint32_t>(values[b]);
    };
    auto indices = llvm::seq<size_t>(0, values.size());
    size_t run = values.size(), period = 1;
    while (run > 1 && !llvm::all_of(indices, [&](size_t i) { return isSame(i, i & ~(run - 1)); }))
      run /= 2;
    while (period < values.size() &&
           !llvm::all_of(indices, [&](size_t i) { return isSame(i, i & (period - 1)); }))
      period *= 2;
    SmallVector<float> table;
    for (size_t i = 0; i < std::max(period, run); i += run)
      table.push_back(values[i]);
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto f32 = builder.getF32Type();
    int64_t count = int64_t(table.size()), stretch = int64_t(run);
    int64_t repeats = int64_t(values.size()) / (count * stretch);
    Value result = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(RankedTensorType::get({1, count, 1}, f32), ArrayRef<float>(table)));
    if (repeats * stretch > 1)
      result = BroadcastOp::create(builder, loc,
                                   RankedTensorType::get({repeats, count, stretch}, f32), result);
    result = ReshapeOp::create(builder, loc, type, result);
    op->replaceAllUsesWith(ValueRange{result});
    op->erase();
  }

  DenseMap<Value, DenseElementsAttr> known;
};

struct TabulateFunctions : tilec::impl::TabulateFunctionsBase<TabulateFunctions> {
  void runOnOperation() override { Tabulator().run(getOperation()); }
};

} // namespace
