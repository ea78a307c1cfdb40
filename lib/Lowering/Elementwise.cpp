//===- Elementwise.cpp - arithmetic on each element ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// arith and math on tiles become the same operations on vectors:
//
//   arith.addf %a, %b : tensor<64xf32, #l>   →   arith.addf %a, %b : vector<2xf32>
//
// Three things need care. f16 and bf16 are computed in f32 and rounded once, which
// for + - * / sqrt is what the chip's own instructions do, and for the rest what the
// language says. Sums and products stay in 16 bits where the chip does two at once. `index` stays index except where an operation knows integers only.
// minnum and maxnum are spelled out, because llvm's leave the order of zeros open.
//
//===------------------------------------------------------------------------===//
#include "Emitter.h"

#include "tilec/Atoms/NarrowFloat.h"
#include "tilec/Atoms/ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilec;

static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

//===------------------------------------------------------------------------===//
// Constants
//===------------------------------------------------------------------------===//

/// The attribute of a scalar as its register holds it: f8 as i8, tf32 as f32.
static TypedAttr heldConstant(TypedAttr attr) {
  Type held = registerType(attr.getType());
  if (held == attr.getType())
    return attr;
  APFloat value = cast<FloatAttr>(attr).getValue();
  if (held.isF32()) {
    bool losesInfo;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
    return FloatAttr::get(held, value);
  }
  return IntegerAttr::get(held, value.bitcastToAPInt());
}

/// The value that all `elements` have, as a vector of type `type`.
Value Emitter::splatConstant(DenseElementsAttr elements, Type type) {
  return constant(type, heldConstant(cast<TypedAttr>(elements.getSplatValue<Attribute>())));
}

LogicalResult Emitter::emitConstant(arith::ConstantOp op) {
  if (auto elements = dyn_cast<DenseElementsAttr>(op.getValue())) {
    if (!elements.isSplat()) {
      set(op, emitDenseConstant(elements, tile::getLayout(op.getType())));
      return success();
    }
    set(op, splatConstant(elements, lowerType(op.getType())));
    return success();
  }
  set(op, constant(lowerType(op.getType()), heldConstant(op.getValue())));
  return success();
}

/// Tables that the program spells out are small: the thread picks its elements out
/// of a constant array in memory.
Value Emitter::emitDenseConstant(DenseElementsAttr attr, const Layout &layout) {
  Type element = attr.getElementType();
  Type stored = storedType(element);
  auto bits = llvm::map_to_vector(attr.getValues<Attribute>(), [&](Attribute value) {
    TypedAttr held = heldConstant(cast<TypedAttr>(value));
    if (auto integer = dyn_cast<IntegerAttr>(Attribute(held)))
      return Attribute(IntegerAttr::get(
          stored, integer.getValue().zextOrTrunc(stored.getIntOrFloatBitWidth())));
    return Attribute(held);
  });
  auto type = RankedTensorType::get(int64_t(bits.size()), stored);
  ModuleOp module = kernel->getParentOfType<ModuleOp>();
  std::string name;
  for (unsigned count = 0;; ++count) {
    name = (kernel.getSymName() + "_table_" + Twine(count)).str();
    if (!module.lookupSymbol(name))
      break;
  }
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(
        builder, loc, LLVM::LLVMArrayType::get(stored, bits.size()), /*isConstant=*/true,
        LLVM::Linkage::Internal, name, DenseElementsAttr::get(type, bits),
        /*alignment=*/16, /*addrSpace=*/1);
  }
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 1);
  Value base = LLVM::AddressOfOp::create(builder, loc, pointer, name);
  LinearBases bases = threadBases(layout);
  Value own = emitLinear(builder, loc, thread, bases);
  SmallVector<Value> elements;
  for (uint64_t number = 0; number < layout.size(Input::Register); ++number) {
    uint64_t flat = layout.applyFlat(Position::thread(number, 0));
    Value index = emitXor(builder, loc, own, reachableBits(bases), flat);
    Value address = LLVM::GEPOp::create(builder, loc, pointer, stored, base,
                                        ArrayRef<LLVM::GEPArg>{index});
    elements.push_back(LLVM::LoadOp::create(builder, loc, stored, address));
  }
  return emitFromStored(builder, loc, fromElements(elements), element);
}

//===------------------------------------------------------------------------===//
// arith and math
//===------------------------------------------------------------------------===//

static bool isHalf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

/// Only moves bits: no rounding, no widening.
static bool movesBits(Operation *op) {
  return isa<arith::SelectOp, arith::BitcastOp, arith::ExtFOp, arith::TruncFOp,
             arith::NegFOp, math::AbsFOp, math::CopySignOp>(op);
}

/// The chip has it for pairs, and rounds as f32 rounded once would be: every chip that there is
/// a name for has it of f16.
static bool isPacked(Operation *op, const Chip *chip) {
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op) ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  return chip && (element.isF16() ||
                  (element.isBF16() && chip->has(ChipFeature::Bf16Arithmetic)));
}

/// Knows signless integers and not `index`.
static bool wantsIntegers(Operation *op) {
  return isa<math::MathDialect>(op->getDialect()) ||
         isa<arith::MulSIExtendedOp, arith::MulUIExtendedOp, arith::AddUIExtendedOp>(op);
}

static bool isIndexLike(Type type) { return getElementTypeOrSelf(type).isIndex(); }

LogicalResult Emitter::emitElementwise(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  if (op->getNumOperands() == 1 && op->getNumResults() == 1)
    if (std::optional<Value> cast = emitArithCast(op, operands[0])) {
      set(op->getResult(0), *cast);
      return success();
    }
  if (isa<arith::MinNumFOp, arith::MaxNumFOp>(op)) {
    set(op->getResult(0), emitMinMaxNum(op, operands));
    return success();
  }
  return emitGeneric(op, operands);
}

/// The same operation over the thread's types.
LogicalResult Emitter::emitGeneric(Operation *op, ValueRange operands) {
  // A scalar condition selects whole vectors; a region's scalars are vectors.
  bool viaFloat = !movesBits(op) && !isPacked(op, chip) && (llvm::any_of(op->getOperandTypes(), isHalf) ||
                                     llvm::any_of(op->getResultTypes(), isHalf));
  bool viaInteger = wantsIntegers(op) && (llvm::any_of(op->getOperandTypes(), isIndexLike));
  Type f32 = builder.getF32Type(), i64Type = builder.getI64Type();

  SmallVector<Value> inputs;
  for (Value operand : operands) {
    Type type = operand.getType();
    if (viaFloat && isHalf(type))
      operand = arith::ExtFOp::create(builder, loc, withElement(type, f32), operand);
    else if (viaInteger && isIndexLike(type))
      operand = arith::IndexCastOp::create(builder, loc, withElement(type, i64Type), operand);
    inputs.push_back(operand);
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    Type lowered = lowerType(type);
    if (viaFloat && isHalf(lowered))
      lowered = withElement(lowered, f32);
    else if (viaInteger && isIndexLike(lowered))
      lowered = withElement(lowered, i64Type);
    types.push_back(lowered);
  }
  OperationState state(loc, op->getName(), inputs, types, op->getAttrs());
  Operation *copy = builder.create(state);
  for (auto [result, value] : llvm::zip(op->getResults(), copy->getResults())) {
    Type wanted = lowerType(result.getType());
    Value output = value;
    if (wanted != value.getType()) {
      if (viaFloat)
        output = arith::TruncFOp::create(builder, loc, wanted, value);
      else
        output = arith::IndexCastOp::create(builder, loc, wanted, value);
    }
    set(result, output);
  }
  return success();
}

/// The other operand where one is NaN, else min or max with -0 < +0.
Value Emitter::emitMinMaxNum(Operation *op, ValueRange operands) {
  Type type = operands[0].getType();
  Value a = operands[0], b = operands[1];
  bool isNarrow = isHalf(type);
  if (isNarrow) {
    Type wide = withElement(type, builder.getF32Type());
    a = arith::ExtFOp::create(builder, loc, wide, a);
    b = arith::ExtFOp::create(builder, loc, wide, b);
  }
  Value both = isa<arith::MinNumFOp>(op)
                   ? arith::MinimumFOp::create(builder, loc, a, b).getResult()
                   : arith::MaximumFOp::create(builder, loc, a, b).getResult();
  auto isNaN = [&](Value v) {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, v, v);
  };
  Value result = arith::SelectOp::create(builder, loc, isNaN(b), a, both);
  result = arith::SelectOp::create(builder, loc, isNaN(a), b, result);
  if (isNarrow)
    result = arith::TruncFOp::create(builder, loc, type, result);
  return result;
}
