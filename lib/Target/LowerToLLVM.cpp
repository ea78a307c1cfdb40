//===- LowerToLLVM.cpp - simt stage to the LLVM dialect --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: functions over scf, cf, arith, math, vector, index, ub, llvm and nvvm.
// Out: llvm and nvvm only. All patterns are upstream's; what this file adds is
// the choice of them and errors that name the operation which has none.
//
//   llvm.func @k(%n: i64) attributes {nvvm.kernel} {      llvm.func @k(%n: i64) … {
//     %i = arith.index_cast %n : i64 to index               %c = llvm.mlir.constant(…)
//     scf.for %j = %c0 to %i step %c1 { … }             →   llvm.br ^loop(%c : i64)
//     llvm.return }                                       ^loop(%j: i64): …
//
// `index` is i64 throughout: addresses and tile indices must not overflow.
// Transcendental functions of math are refused: the backend has no code for
// them, and ExpandMath has replaced them before.
//===----------------------------------------------------------------------===//

#include "DiagnosticText.h"

#include "tilec/Target/EmitPTX.h"
#include "tilec/Target/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tilec {
#define GEN_PASS_DEF_LOWERTOLLVM
#include "tilec/Target/Passes.h.inc"
} // namespace tilec

using namespace mlir;

namespace {

/// True for what the NVPTX backend has instructions for; the approximate ones
/// only where the operation allows approximation.
bool hasInstruction(Operation *op) {
  if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp, math::TruncOp,
          math::RoundOp, math::RoundEvenOp, math::CopySignOp, math::FmaOp,
          math::SqrtOp, math::CtPopOp, math::CountLeadingZerosOp,
          math::CountTrailingZerosOp, math::IsNaNOp, math::IsInfOp,
          math::IsFiniteOp, math::IsNormalOp>(op))
    return true;
  if (isa<math::Exp2Op, math::SinOp, math::CosOp, math::TanhOp>(op)) {
    auto flags = cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr();
    return getElementTypeOrSelf(op->getResult(0)).isF32() &&
           arith::bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::afn);
  }
  return false;
}

/// minnum and maxnum to the intrinsics that order zeros too, as PTX does; llvm.maxnum
/// leaves the sign of max(-0, +0) open, and hosts differ.
template <typename Op> struct OrderZeros : OpConversionPattern<Op> {
  OrderZeros(const LLVMTypeConverter &converter, MLIRContext *context, StringRef name)
      : OpConversionPattern<Op>(converter, context, /*benefit=*/10), name(name) {}

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type type = this->getTypeConverter()->convertType(op.getType());
    auto call = LLVM::CallIntrinsicOp::create(
        rewriter, op.getLoc(), type, rewriter.getStringAttr(name), adaptor.getOperands());
    rewriter.replaceOp(op, call);
    return success();
  }

  StringRef name;
};

/// Structured control flow to blocks. Must come first: the conversion of types
/// rewrites the arguments of the blocks that this makes.
LogicalResult lowerControlFlow(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*context);
  target.addIllegalOp<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp,
                      scf::ExecuteRegionOp>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(module, target, std::move(patterns));
}

LogicalResult lowerOperations(ModuleOp module) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(context, options);

  RewritePatternSet patterns(context);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  patterns.add<OrderZeros<arith::MinNumFOp>>(converter, context, "llvm.minimumnum");
  patterns.add<OrderZeros<arith::MaxNumFOp>>(converter, context, "llvm.maximumnum");

  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  target.addLegalOp<ModuleOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

/// What loops were annotated with comes as far as the branch back, but under a name that
/// the translation does not ask for.
void renameAnnotations(ModuleOp module) {
  module.walk([](LLVM::BrOp branch) {
    constexpr StringLiteral name = "llvm.loop_annotation";
    if (auto annotation = branch->getAttrOfType<LLVM::LoopAnnotationAttr>(name)) {
      branch->removeAttr(name);
      branch.setLoopAnnotationAttr(annotation);
    }
  });
}

/// Reports every operation that the steps above could not lower.
LogicalResult refuseUnsupported(ModuleOp module) {
  bool failed = false;
  module.walk([&](Operation *op) {
    if (isa<math::MathDialect>(op->getDialect()) && !hasInstruction(op)) {
      op->emitError("no instruction for ")
          << op->getName() << " on " << op->getOperand(0).getType()
          << "; ExpandMath replaces it";
      failed = true;
    }
    if (isa<arith::RemFOp>(op)) {
      op->emitError("no instruction for arith.remf; ExpandMath replaces it");
      failed = true;
    }
  });
  return failure(failed);
}

struct LowerToLLVM : tilec::impl::LowerToLLVMBase<LowerToLLVM> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(refuseUnsupported(module)) || failed(lowerControlFlow(module)) ||
        failed(lowerOperations(module)))
      return signalPassFailure();
    renameAnnotations(module);
  }
};

} // namespace

llvm::Error tilec::lowerToLLVM(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false); // the translation verifies the result
  passes.addPass(createLowerToLLVM());
  LLVM::DIScopeForLLVMFuncOpPassOptions scopes;
  // `.loc` lines without DWARF: PTX stays `.target` without `debug`, which
  // would switch the assembler's optimiser off.
  scopes.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(scopes));

  DiagnosticText said(module.getContext());
  if (succeeded(passes.run(module)))
    return llvm::Error::success();
  return llvm::createStringError("lowering to LLVM failed: " +
                                 said.get());
}
