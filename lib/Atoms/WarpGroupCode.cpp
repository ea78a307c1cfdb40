//===- WarpGroupCode.cpp - code of wgmma and its groups -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// See WarpGroupCode.h. The PTX of a product with P accumulator registers:
//
//   wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {$0, … $7}, $16, $17, $18, 1, 1, 0, 0;
//   "=f,=f,…,0,1,…,l,l,b"
//
// Results are $0 …; the same registers again as tied inputs $P …; then a, b and the
// predicate. The immediates are the signs of a and b, and, of 16-bit types, whether
// an operand is turned around; integers have none.
//
//===------------------------------------------------------------------------===//
#include "tilec/Atoms/WarpGroupCode.h"

#include "tilec/Atoms/HelperCall.h"

#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace tilec;

//===------------------------------------------------------------------------===//
// What there is
//===------------------------------------------------------------------------===//

static bool isFloat8(DType type) { return type == DType::F8E4M3 || type == DType::F8E5M2; }
static bool isInteger8(DType type) { return type == DType::I8 || type == DType::U8; }
static bool is16Bit(DType type) { return type == DType::F16 || type == DType::BF16; }

bool WarpGroupMma::isValid() const {
  if (n < 8 || n > 256 || n % 8 != 0)
    return false;
  // Of the sizes above 32, integers have every second one; and 24.
  if (isInteger8(aType) && n % 16 != 0 && n != 8 && n != 24)
    return false;
  if ((transposeA || transposeB) && !is16Bit(aType))
    return false;
  if (transposeA && aInRegisters)
    return false;
  if (isInteger8(aType))
    return isInteger8(bType) && accType == DType::I32;
  if (isFloat8(aType))
    return isFloat8(bType) && (accType == DType::F32 || accType == DType::F16);
  if (aType != bType)
    return false;
  if (aType == DType::F16)
    return accType == DType::F32 || accType == DType::F16;
  return (aType == DType::BF16 || aType == DType::TF32) && accType == DType::F32;
}

//===------------------------------------------------------------------------===//
// Names and PTX
//===------------------------------------------------------------------------===//

static std::string ptxType(DType type) {
  switch (type) {
  case DType::F8E4M3:
    return "e4m3";
  case DType::F8E5M2:
    return "e5m2";
  case DType::I8:
    return "s8";
  case DType::I32:
    return "s32";
  default:
    return std::string(dtypeName(type));
  }
}

/// "m64n128k16.f32.bf16.bf16"
static std::string shapeAndTypes(const WarpGroupMma &mma) {
  return ("m64n" + Twine(mma.n) + "k" + Twine(mma.k()) + "." + ptxType(mma.accType) + "." +
          ptxType(mma.aType) + "." + ptxType(mma.bType))
      .str();
}

/// "$first, $first+1, …"
static std::string operandList(unsigned first, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text;
}

std::string WarpGroupMma::name() const {
  std::string result = "tilec.wgmma." + shapeAndTypes(*this) + (aInRegisters ? ".rs" : ".ss");
  if (transposeA)
    result += ".ta";
  if (transposeB)
    result += ".tb";
  return result;
}

std::string WarpGroupMma::text() const {
  unsigned registers = accRegisters(), at = 2 * registers;
  std::string result = "wgmma.mma_async.sync.aligned." + shapeAndTypes(*this) + " {" +
                       operandList(0, registers) + "}, ";
  if (aInRegisters) {
    result += "{" + operandList(at, 4) + "}, ";
    at += 4;
  } else {
    result += operandList(at++, 1) + ", ";
  }
  result += operandList(at, 2); // b, predicate
  if (!isInteger8(aType))
    result += ", 1, 1";
  if (is16Bit(aType) && !aInRegisters)
    result += transposeA ? ", 1" : ", 0";
  if (is16Bit(aType))
    result += transposeB ? ", 1" : ", 0";
  return result + ";";
}

std::string WarpGroupMma::constraints() const {
  const char *result = accType == DType::F32 ? "=f," : "=r,";
  std::string text;
  for (unsigned i = 0; i < accRegisters(); ++i)
    text += result;
  for (unsigned i = 0; i < accRegisters(); ++i)
    text += std::to_string(i) + ",";
  return text + (aInRegisters ? "r,r,r,r,l,b" : "l,l,b");
}

//===------------------------------------------------------------------------===//
// Calls
//===------------------------------------------------------------------------===//

SmallVector<Value> tilec::emitWarpGroupMma(OpBuilder &builder, Location loc,
                                           const WarpGroupMma &mma, ValueRange acc, ValueRange a,
                                           Value b, Value accumulates) {
  assert(mma.isValid() && acc.size() == mma.accRegisters() &&
         a.size() == (mma.aInRegisters ? 4 : 1));
  SmallVector<Value> operands(acc);
  operands.append(a.begin(), a.end());
  operands.append({b, accumulates});
  return emitHelper(builder, loc, {mma.name(), mma.text(), mma.constraints()}, acc.getTypes(),
                    operands);
}

SmallVector<Value> tilec::emitWarpGroupFence(OpBuilder &builder, Location loc, ValueRange values) {
  return emitTied(builder, loc, "tilec.wgmma.fence", "wgmma.fence.sync.aligned;", values);
}

void tilec::emitWarpGroupCommit(OpBuilder &builder, Location loc) {
  emitTied(builder, loc, "tilec.wgmma.commit", "wgmma.commit_group.sync.aligned;", {});
}

SmallVector<Value> tilec::emitWarpGroupWait(OpBuilder &builder, Location loc, unsigned pending,
                                            ValueRange values) {
  std::string count = std::to_string(pending);
  return emitTied(builder, loc, "tilec.wgmma.wait." + count,
                  "wgmma.wait_group.sync.aligned " + count + ";", values);
}
