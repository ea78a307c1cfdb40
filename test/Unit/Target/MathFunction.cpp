//===- MathFunction.cpp - an expanded operation, callable ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: the name of an operation. Out: host code of the same LLVM IR that PTX would be
// printed from, in vectors of four as kernels have them.
//===----------------------------------------------------------------------===//

#include "MathFunction.h"

#include "tilec/Target/EmitPTX.h"
#include "tilec/Target/ExpandHelpers.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <gtest/gtest.h>
#include <cstring>

using namespace mlir;

namespace {

constexpr int lanes = 4;

// The compiler's own run-time library may lack this; the result is in xmm0.
extern "C" _Float16 tilecTruncateToBF16(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  uint16_t high = x != x ? 0x7FC0 : (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  _Float16 result; // returned in the same register
  memcpy(&result, &high, sizeof result);
  return result;
}

std::string moduleText(const std::string &operation, const std::string &type, int arity) {
  std::string vector = "vector<" + std::to_string(lanes) + "x" + type + ">";
  std::string operands = arity == 2 ? "%v, %w" : "%v";
  std::string text = R"(
llvm.func @f(%x: !llvm.ptr, %y: !llvm.ptr, %z: !llvm.ptr, %n: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  scf.for %i = %zero to %n step %one : i64 {
    %px = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, VECTOR
    %v = llvm.load %px {alignment = 1 : i64} : !llvm.ptr -> VECTOR
    LOADY
    COMPUTE
    %pz = llvm.getelementptr %z[%i] : (!llvm.ptr, i64) -> !llvm.ptr, VECTOR
    llvm.store %r, %pz {alignment = 1 : i64} : VECTOR, !llvm.ptr
  }
  llvm.return
})";
  auto replace = [&](const std::string &from, const std::string &to) {
    for (size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, from.size(), to);
  };
  replace("LOADY", arity == 2
                       ? "%py = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> "
                         "!llvm.ptr, VECTOR\n    %w = llvm.load %py {alignment = 1 : "
                         "i64} : !llvm.ptr -> VECTOR"
                       : "");
  bool whole = operation.find('=') != std::string::npos;
  replace("COMPUTE", whole ? operation : "%r = " + operation + " " + operands + " : VECTOR");
  replace("VECTOR", vector);
  return text;
}

/// The optimised module; null with a test failure.
std::unique_ptr<llvm::Module> compile(const std::string &text, llvm::LLVMContext &target) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect,
                  NVVM::NVVMDialect, math::MathDialect, scf::SCFDialect,
                  vector::VectorDialect>();
  tilec::registerTargetDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = parseSourceString<ModuleOp>(text, &context, "test.tile");
  PassManager passes(&context);
  passes.addPass(tilec::createExpandMath());
  passes.addPass(tilec::createExpandDivision());
  if (!module || failed(passes.run(*module))) {
    ADD_FAILURE() << "cannot expand:\n" << text;
    return nullptr;
  }
  const tilec::Chip &chip = *tilec::findChip("sm_80");
  llvm::Error error = tilec::lowerToLLVM(*module);
  std::unique_ptr<llvm::Module> result;
  if (!error) {
    auto translated = tilec::translateToLLVM(*module, target, chip);
    if (translated) {
      result = std::move(*translated);
      error = tilec::optimizeModule(*result, chip);
    } else {
      error = translated.takeError();
    }
  }
  // Whatever is expanded must also be code for every chip.
  if (!error && result) {
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*result);
    error = tilec::expandHelpers(*copy);
    for (const tilec::Chip &other : tilec::allChips())
      if (!error)
        error = tilec::checkSelectable(*copy, other);
  }
  if (error) {
    ADD_FAILURE() << llvm::toString(std::move(error));
    return nullptr;
  }
  return result;
}

float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
extern "C" float tilecExp2(float x) { return flushed(exp2f(flushed(x))); }
extern "C" float tilecReciprocal(float x) { return flushed(1 / flushed(x)); }

} // namespace

using Compiled = void(const void *, const void *, void *, int64_t);

struct tilec::MathFunction::State {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Compiled *function = nullptr;
  size_t width = 0;
  int arity = 1;
};

tilec::MathFunction::MathFunction(const std::string &operation, const std::string &type,
                                  int arity)
    : state(std::make_unique<State>()) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  state->width = type == "f64" ? 8 : type == "f32" ? 4 : 2;
  state->arity = arity;
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module =
      compile(moduleText(operation, type, arity), *context);
  if (!module)
    return;
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host) {
    ADD_FAILURE() << llvm::toString(host.takeError());
    return;
  }
  // These conversions to bf16 flush subnormals, which the language keeps.
  host->addFeatures({"-avx512bf16", "-avxneconvert"});
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*host).create();
  if (!jit) {
    ADD_FAILURE() << llvm::toString(jit.takeError());
    return;
  }
  state->jit = std::move(*jit);
  module->setDataLayout(state->jit->getDataLayout());
  module->setTargetTriple(state->jit->getTargetTriple());
  llvm::orc::SymbolMap symbols;
  symbols[state->jit->mangleAndIntern("__truncsfbf2")] = {
      llvm::orc::ExecutorAddr::fromPtr(&tilecTruncateToBF16),
      llvm::JITSymbolFlags::Exported};
  symbols[state->jit->mangleAndIntern("tilec.ex2.approx.ftz.f32")] = {
      llvm::orc::ExecutorAddr::fromPtr(&tilecExp2), llvm::JITSymbolFlags::Exported};
  symbols[state->jit->mangleAndIntern("tilec.rcp.approx.ftz.f32")] = {
      llvm::orc::ExecutorAddr::fromPtr(&tilecReciprocal), llvm::JITSymbolFlags::Exported};
  llvm::Error error = state->jit->getMainJITDylib().define(
      llvm::orc::absoluteSymbols(std::move(symbols)));
  if (!error)
    error = state->jit->addIRModule(
        llvm::orc::ThreadSafeModule(std::move(module), std::move(context)));
  if (!error) {
    auto symbol = state->jit->lookup("f");
    if (symbol)
      state->function = symbol->toPtr<Compiled *>();
    else
      error = symbol.takeError();
  }
  if (error)
    ADD_FAILURE() << llvm::toString(std::move(error));
}

tilec::MathFunction::~MathFunction() = default;

void tilec::MathFunction::call(const void *x, const void *y, void *z,
                               int64_t count) const {
  if (!state->function)
    return;
  int64_t whole = count / lanes;
  state->function(x, y, z, whole);
  int64_t rest = count - whole * lanes;
  if (rest == 0)
    return;
  // The last values in a full vector of their own.
  uint64_t tailX[lanes] = {}, tailY[lanes] = {}, tailZ[lanes] = {};
  size_t offset = whole * lanes * state->width, bytes = rest * state->width;
  memcpy(tailX, static_cast<const char *>(x) + offset, bytes);
  if (y)
    memcpy(tailY, static_cast<const char *>(y) + offset, bytes);
  state->function(tailX, tailY, tailZ, 1);
  memcpy(static_cast<char *>(z) + offset, tailZ, bytes);
}
