//===- Remarks.cpp - passes say what they chose ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// See Remarks.h. A remark bears the name of its pass (category), of the operation and of
// the build of the kernel (function), which is how listeners sort it.
//
//===------------------------------------------------------------------------===//
#include "tilec/Tile/Remarks.h"

#include "tilec/Tile/TileOps.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tilec;

void tilec::reportUnknownRemarkName() { llvm_unreachable("not in remarkNames"); }

static remark::RemarkOpts describe(Operation *op, RemarkName name) {
  auto kernel = dyn_cast<tile::KernelOp>(op);
  if (!kernel)
    kernel = op->getParentOfType<tile::KernelOp>();
  return remark::RemarkOpts::name(op->getName().getStringRef())
      .category(name.str())
      .function(kernel ? kernel.getSymName() : StringRef());
}

void tilec::emitChoice(Operation *op, RemarkName name, StringRef text) {
  remark::passed(op->getLoc(), describe(op, name)) << text;
}

void tilec::emitMissed(Operation *op, RemarkName name, StringRef text) {
  remark::missed(op->getLoc(), describe(op, name)) << text;
}

static std::string spellElement(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return llvm::StringSwitch<std::string>(text)
      .Case("i1", "bool")
      .Case("index", "int")
      .Case("f8E4M3FN", "f8e4m3")
      .Case("f8E5M2", "f8e5m2")
      .Default(text);
}

std::string tilec::spell(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return spellElement(type);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << spellElement(tensor.getElementType()) << "[";
  llvm::interleaveComma(tensor.getShape(), os);
  os << "]";
  return text;
}

std::string tilec::spellBytes(int64_t bytes) {
  constexpr int64_t mebi = 1024 * 1024;
  if (bytes >= mebi && bytes % mebi == 0)
    return std::to_string(bytes / mebi) + " MiB";
  if (bytes >= 1024 && bytes % 1024 == 0)
    return std::to_string(bytes / 1024) + " KiB";
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string tilec::spellArray(Value array) {
  auto argument = dyn_cast<BlockArgument>(array);
  auto kernel = argument ? dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp())
                         : tile::KernelOp();
  return kernel ? "`" + kernel.getParameterName(argument.getArgNumber()) + "`" : "an array";
}
