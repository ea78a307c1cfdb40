//===- CheckSelectable.cpp - what the backend would abort on ---*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: the module as code generation gets it. Out: success, or an error that names
// the first operation that the NVPTX backend has no instruction for, with its
// source line. The backend itself would end the process ("Cannot select"), or
// print a call of a function that no assembler knows.
//
// The list is a whitelist, found by giving every intrinsic on every type to the
// backend: what is not listed is refused.
//===----------------------------------------------------------------------===//

#include "tilec/Target/EmitPTX.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {

using tilec::Chip;
using tilec::ChipFeature;

/// True when the call, or the function it is in, allows approximation and the
/// type is the one that the approximate units work on.
bool isApproximateF32(const IntrinsicInst &call) {
  return call.getType()->getScalarType()->isFloatTy() && call.hasApproxFunc();
}

/// Feature that an `llvm.nvvm.…` intrinsic needs, by the start of its name.
std::optional<ChipFeature> neededFeature(StringRef name) {
  static constexpr std::pair<StringLiteral, ChipFeature> rows[] = {
      {"llvm.nvvm.tcgen05.", ChipFeature::TensorMemoryMma},
      {"llvm.nvvm.wgmma.", ChipFeature::WarpGroupMma},
      {"llvm.nvvm.setmaxnreg.", ChipFeature::RegisterSplit},
      {"llvm.nvvm.cp.async.bulk.", ChipFeature::BulkCopy},
      {"llvm.nvvm.fence.proxy.", ChipFeature::BulkCopy},
      {"llvm.nvvm.barrier.cluster.", ChipFeature::Cluster},
      {"llvm.nvvm.mapa", ChipFeature::Cluster},
      {"llvm.nvvm.griddepcontrol.", ChipFeature::DependentLaunch},
      {"llvm.nvvm.elect.sync", ChipFeature::Cluster},
      {"llvm.nvvm.stmatrix.", ChipFeature::Cluster},
      {"llvm.nvvm.ff.to.e4m3x2.", ChipFeature::Fp8Convert},
      {"llvm.nvvm.ff.to.e5m2x2.", ChipFeature::Fp8Convert},
      {"llvm.nvvm.e4m3x2.to.", ChipFeature::Fp8Convert},
  };
  for (const auto &[prefix, feature] : rows)
    if (name.starts_with(prefix))
      return feature;
  return std::nullopt;
}

bool isSelectable(const IntrinsicInst &call, const Chip &chip) {
  StringRef name = call.getCalledFunction()->getName();
  if (name.starts_with("llvm.nvvm.")) {
    std::optional<ChipFeature> feature = neededFeature(name);
    return !feature || chip.has(*feature);
  }
  switch (call.getIntrinsicID()) {
  // Arithmetic, on all types.
  case Intrinsic::fabs: case Intrinsic::fma: case Intrinsic::fmuladd:
  case Intrinsic::sqrt: case Intrinsic::floor: case Intrinsic::ceil:
  case Intrinsic::trunc: case Intrinsic::rint: case Intrinsic::nearbyint:
  case Intrinsic::round: case Intrinsic::roundeven: case Intrinsic::copysign:
  case Intrinsic::minnum: case Intrinsic::maxnum: case Intrinsic::minimum:
  case Intrinsic::maximum: case Intrinsic::minimumnum: case Intrinsic::maximumnum:
  case Intrinsic::ldexp: case Intrinsic::is_fpclass: case Intrinsic::abs:
  case Intrinsic::smin: case Intrinsic::smax: case Intrinsic::umin:
  case Intrinsic::umax: case Intrinsic::scmp: case Intrinsic::ucmp:
  case Intrinsic::ctpop: case Intrinsic::ctlz: case Intrinsic::cttz:
  case Intrinsic::bswap: case Intrinsic::bitreverse: case Intrinsic::fshl:
  case Intrinsic::fshr: case Intrinsic::sadd_sat: case Intrinsic::uadd_sat:
  case Intrinsic::ssub_sat: case Intrinsic::usub_sat: case Intrinsic::sshl_sat:
  case Intrinsic::ushl_sat: case Intrinsic::sadd_with_overflow:
  case Intrinsic::uadd_with_overflow: case Intrinsic::ssub_with_overflow:
  case Intrinsic::usub_with_overflow: case Intrinsic::smul_with_overflow:
  case Intrinsic::umul_with_overflow: case Intrinsic::fptosi_sat:
  case Intrinsic::fptoui_sat:
  // Reductions of vectors, expanded before selection.
  case Intrinsic::vector_reduce_add: case Intrinsic::vector_reduce_mul:
  case Intrinsic::vector_reduce_and: case Intrinsic::vector_reduce_or:
  case Intrinsic::vector_reduce_xor: case Intrinsic::vector_reduce_smax:
  case Intrinsic::vector_reduce_smin: case Intrinsic::vector_reduce_umax:
  case Intrinsic::vector_reduce_umin: case Intrinsic::vector_reduce_fadd:
  case Intrinsic::vector_reduce_fmul: case Intrinsic::vector_reduce_fmax:
  case Intrinsic::vector_reduce_fmin: case Intrinsic::vector_reduce_fmaximum:
  case Intrinsic::vector_reduce_fminimum:
  // Memory and facts.
  case Intrinsic::memcpy: case Intrinsic::memmove: case Intrinsic::memset:
  case Intrinsic::masked_load: case Intrinsic::masked_store:
  case Intrinsic::lifetime_start: case Intrinsic::lifetime_end:
  case Intrinsic::invariant_start: case Intrinsic::invariant_end:
  case Intrinsic::assume: case Intrinsic::expect: case Intrinsic::ptrmask:
  case Intrinsic::experimental_noalias_scope_decl: case Intrinsic::sideeffect:
  case Intrinsic::trap: case Intrinsic::debugtrap: case Intrinsic::dbg_value:
  case Intrinsic::dbg_declare: case Intrinsic::dbg_label:
    return true;
  case Intrinsic::exp2: case Intrinsic::sin: case Intrinsic::cos:
  case Intrinsic::tanh:
    return isApproximateF32(call);
  default:
    return false;
  }
}

/// Types that registers hold: up to 64 bits, or vectors of those.
bool isRegisterType(Type *type) {
  Type *scalar = type->getScalarType();
  if (isa<ScalableVectorType>(type))
    return false;
  if (scalar->isIntegerTy())
    return scalar->getIntegerBitWidth() <= 128;
  return scalar->isVoidTy() || scalar->isHalfTy() || scalar->isBFloatTy() ||
         scalar->isFloatTy() || scalar->isDoubleTy() || scalar->isPointerTy() ||
         scalar->isStructTy() || scalar->isArrayTy() || scalar->isLabelTy() ||
         scalar->isTokenTy() || scalar->isMetadataTy();
}

/// Why `instruction` cannot be selected; empty when it can.
std::string defectOf(const Instruction &instruction, const Chip &chip) {
  if (!isRegisterType(instruction.getType()))
    return "a value of a type that registers do not hold";
  if (const auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
    if (!isSelectable(*call, chip))
      return "an intrinsic without instruction on " + std::string(chip.name);
    return {};
  }
  if (const auto *call = dyn_cast<CallBase>(&instruction)) {
    if (call->isInlineAsm() && isa<CallInst>(call))
      return {};
    const Function *callee = call->getCalledFunction();
    if (!callee)
      return "an indirect call";
    return callee->isDeclaration() ? "a call of an unknown function" : "";
  }
  switch (instruction.getOpcode()) {
  case Instruction::FRem:
    return "a remainder that is not expanded";
  case Instruction::SDiv: case Instruction::UDiv: case Instruction::SRem:
  case Instruction::URem:
    return instruction.getType()->getScalarSizeInBits() > 64 ? "a 128-bit division" : "";
  case Instruction::IndirectBr: case Instruction::VAArg: case Instruction::LandingPad:
  case Instruction::Resume:
    return "an instruction without counterpart";
  default:
    return {};
  }
}

} // namespace

Error tilec::checkSelectable(const Module &module, const Chip &chip) {
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      std::string defect = defectOf(instruction, chip);
      if (defect.empty())
        continue;
      std::string text;
      raw_string_ostream os(text);
      if (const DILocation *location = instruction.getDebugLoc())
        os << location->getFilename() << ":" << location->getLine() << ":"
           << location->getColumn() << ": ";
      os << "in function " << function.getName() << ": " << defect << ":" << instruction;
      return createStringError(text);
    }
  return Error::success();
}
