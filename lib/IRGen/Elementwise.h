//===- Elementwise.h - elementwise operations of the language -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Builds what one elementwise operation of a checked program means in `arith`,
// `math` and `tile`. Works on scalars and tiles alike: an MLIR value and the
// dtype of its elements (signedness is not in the MLIR type).

#ifndef TILEC_LIB_IRGEN_ELEMENTWISE_H
#define TILEC_LIB_IRGEN_ELEMENTWISE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "tilec/Frontend/Checked.h"
#include "tilec/Support/DType.h"

namespace tilec::irgen {

/// The MLIR type of a scalar of `dtype`.
mlir::Type elementType(mlir::MLIRContext *context, DType dtype);

/// The MLIR type of a value: a scalar type or a tensor.
mlir::Type valueType(mlir::MLIRContext *context, Type type);

/// A scalar constant from a word in the form of Support/Numerics.h.
mlir::TypedAttr constantAttr(mlir::MLIRContext *context, DType dtype,
                             uint64_t word);

class Elementwise {
public:
  Elementwise(mlir::OpBuilder &builder, mlir::Location loc,
              mlir::arith::FastMathFlags flags)
      : builder(builder), loc(loc), flags(flags) {}

  mlir::Value unary(checked::UnaryOp op, DType dtype, mlir::Value x);
  mlir::Value binary(checked::BinaryOp op, DType dtype, mlir::Value a,
                     mlir::Value b);
  mlir::Value compare(checked::CompareOp op, DType dtype, mlir::Value a,
                      mlir::Value b);
  mlir::Value cast(mlir::Value x, DType from, DType to,
                   checked::Rounding rounding = checked::Rounding::NearestEven);
  mlir::Value bitcast(mlir::Value x, DType from, DType to);
  /// a * b + c, computed in f32 for 16-bit floats.
  mlir::Value fma(DType dtype, mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  /// A constant of `like`'s shape: the word of an integer, the value of a
  /// float.
  mlir::Value integer(DType dtype, uint64_t word, mlir::Value like);
  mlir::Value real(DType dtype, double value, mlir::Value like);

private:
  mlir::Value constant(mlir::TypedAttr value, mlir::Value like);
  mlir::Value floatUnary(checked::UnaryOp op, DType dtype, mlir::Value x);
  mlir::Value integerUnary(checked::UnaryOp op, DType dtype, mlir::Value x);
  mlir::Value bitCount(checked::UnaryOp op, mlir::Value x);
  mlir::Value floatBinary(checked::BinaryOp op, DType dtype, mlir::Value a,
                          mlir::Value b);
  mlir::Value integerBinary(checked::BinaryOp op, DType dtype, mlir::Value a,
                            mlir::Value b);
  mlir::Value floatMod(DType dtype, mlir::Value a, mlir::Value b);
  mlir::Value floatFloorDivide(DType dtype, mlir::Value a, mlir::Value b);
  mlir::Value sign(DType dtype, mlir::Value x);
  mlir::Value sigmoid(DType dtype, mlir::Value x);
  mlir::Value silu(DType dtype, mlir::Value x);
  mlir::Value overOnePlusExp(DType dtype, mlir::Value a, mlir::Value x);
  mlir::Value plusTimes(mlir::Value half, mlir::Value odd);
  /// Whether approximate forms are allowed; f64 has none.
  bool isApproximate(DType dtype) const {
    return dtype != DType::F64 &&
           mlir::arith::bitEnumContainsAll(flags, mlir::arith::FastMathFlags::afn);
  }
  mlir::Value gelu(DType dtype, mlir::Value x);
  mlir::Value geluTanh(DType dtype, mlir::Value x);
  mlir::Value castToBool(mlir::Value x, DType from);
  mlir::Value castInteger(mlir::Value x, DType from, DType to);
  mlir::Value castFloat(mlir::Value x, DType from, DType to,
                        checked::Rounding rounding);
  mlir::Type like(mlir::Value x, mlir::Type element);
  mlir::Type like(mlir::Value x, DType dtype);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::arith::FastMathFlags flags;
};

} // namespace tilec::irgen

#endif // TILEC_LIB_IRGEN_ELEMENTWISE_H
