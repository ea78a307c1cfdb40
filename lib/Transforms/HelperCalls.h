//===- HelperCalls.h - calls of the chip's functions -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What expansions call instructions by that no dialect has at this stage:
//
//   HelperCalls(module, m).call("tilec.lg2.approx.f32", x)
//
// declares the helper once a module and calls it, for vectors lane by lane. Target
// makes each call one instruction, the emulator a function of the host.
//===----------------------------------------------------------------------===//

#ifndef TILEC_LIB_TRANSFORMS_HELPERCALLS_H
#define TILEC_LIB_TRANSFORMS_HELPERCALLS_H

#include "MathBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tilec {

/// On an scf.if whose condition says that all lanes of the result, a vector of e^x, are
/// between e^-64 and e^64.
inline constexpr llvm::StringLiteral ordinaryAttrName = "tile.ordinary";

/// On what lies in [0, 1] or is NaN, as e^(x - max x) does: the power itself, and after
/// ExpandMath the operation that gives it.
inline constexpr llvm::StringLiteral atMostOneAttrName = "tile.at_most_one";

/// On powers that are at most 1 and only divided by their sums, and on these divisions:
/// ExpandMath makes the powers larger by a factor.
inline constexpr llvm::StringLiteral shareAttrName = "tile.share";

/// Calls of helpers with one f32 operand.
class HelperCalls {
public:
  HelperCalls(mlir::ModuleOp module, MathBuilder &m) : module(module), m(m) {}

  mlir::Value call(llvm::StringRef name, mlir::Value x) {
    mlir::LLVM::LLVMFuncOp function = declare(name);
    auto vector = llvm::dyn_cast<mlir::VectorType>(x.getType());
    if (!vector)
      return callScalar(function, x);
    mlir::Value result = m.zero();
    for (int64_t lane = 0; lane < vector.getNumElements(); ++lane) {
      mlir::Value element = mlir::vector::ExtractOp::create(m.builder, m.loc, x, lane);
      result = mlir::vector::InsertOp::create(m.builder, m.loc,
                                              callScalar(function, element), result, lane);
    }
    return result;
  }

private:
  mlir::Value callScalar(mlir::LLVM::LLVMFuncOp function, mlir::Value x) {
    return mlir::LLVM::CallOp::create(m.builder, m.loc, function, x).getResult();
  }
  mlir::LLVM::LLVMFuncOp declare(llvm::StringRef name) {
    if (auto found = module.lookupSymbol<mlir::LLVM::LLVMFuncOp>(name))
      return found;
    mlir::OpBuilder::InsertionGuard guard(m.builder);
    m.builder.setInsertionPointToStart(module.getBody());
    mlir::Type type = m.builder.getF32Type();
    return mlir::LLVM::LLVMFuncOp::create(m.builder, m.loc, name,
                                          mlir::LLVM::LLVMFunctionType::get(type, {type}));
  }

  mlir::ModuleOp module;
  MathBuilder &m;
};

} // namespace tilec
#endif // TILEC_LIB_TRANSFORMS_HELPERCALLS_H
