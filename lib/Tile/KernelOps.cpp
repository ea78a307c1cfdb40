//===- KernelOps.cpp - kernels, position, facts -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Parser, printer, verifiers and folds of the operations in TileKernelOps.td.

#include "tilec/Tile/TileOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec::tile;

//===----------------------------------------------------------------------===//
// tile.kernel
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     ArrayRef<Type> parameters) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name),
                     TypeAttr::get(builder.getFunctionType(parameters, {})));
  Region *body = state.addRegion();
  auto *block = new Block;
  body->push_back(block);
  for (Type type : parameters)
    block->addArgument(type, state.location);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType =
      [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
         function_interface_impl::VariadicFlag, std::string &) -> Type {
    return builder.getFunctionType(inputs, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult KernelOp::verify() {
  for (auto [index, type] : llvm::enumerate(getArgumentTypes()))
    if (!isScalarType(type) && !isa<ArrayType>(type)) // kernel-C1
      return emitOpError() << "parameter " << index
                           << " must be a scalar or an array, not " << type;
  if (!getResultTypes().empty()) // kernel-C2
    return emitOpError() << "returns nothing, but has "
                         << getResultTypes().size() << " results";
  if (auto grid = getGrid();
      grid && (grid->empty() || grid->size() > 3)) // kernel-C3
    return emitOpError() << "'grid' has one to three entries, not "
                         << grid->size();
  if (auto warps = getNumWarps();
      warps && (!llvm::isPowerOf2_32(*warps) || *warps > 32)) // kernel-C4
    return emitOpError() << "'num_warps' is a power of two up to 32, not "
                         << *warps;
  return success();
}

std::string KernelOp::getParameterName(unsigned index) {
  if (auto name = getArgAttrOfType<StringAttr>(index, nameAttr))
    return name.str();
  return "arg" + std::to_string(index);
}

//===----------------------------------------------------------------------===//
// Position
//===----------------------------------------------------------------------===//

static LogicalResult verifyGridAxis(Operation *op, int32_t dim) {
  if (dim < 0 || dim > 2)
    return op->emitOpError() << "the axis is 0, 1 or 2, not " << dim;
  return success();
}

LogicalResult BlockIdOp::verify() { // block_id-C1
  return verifyGridAxis(*this, static_cast<int32_t>(getDim()));
}

LogicalResult NumBlocksOp::verify() { // num_blocks-C1
  return verifyGridAxis(*this, static_cast<int32_t>(getDim()));
}

LogicalResult DimOp::verify() { // dim-C1
  if (getDim() >= getArray().getType().getRank())
    return emitOpError() << "dim " << static_cast<int32_t>(getDim())
                         << " is outside an array of rank "
                         << getArray().getType().getRank();
  return success();
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  ArrayType type = getArray().getType();
  if (type.isDynamicDim(getDim()))
    return {};
  return IntegerAttr::get(IndexType::get(getContext()),
                          type.getShape()[getDim()]);
}

//===----------------------------------------------------------------------===//
// tile.assume
//===----------------------------------------------------------------------===//

LogicalResult AssumeOp::canonicalize(AssumeOp op, PatternRewriter &rewriter) {
  if (!matchPattern(op.getCondition(), m_One()))
    return failure();
  rewriter.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// tile.print, tile.assert
//===----------------------------------------------------------------------===//

LogicalResult PrintOp::verify() {
  size_t count = getValues().size();
  if (getPieces().size() != count + 1 ||
      getDtypes().size() != count) // print-C1
    return emitOpError() << "has " << getPieces().size() << " pieces and "
                         << getDtypes().size() << " dtypes for " << count
                         << " values";
  return success();
}

LogicalResult AssertOp::verify() {
  if (!getElementTypeOrSelf(getCondition().getType()).isInteger(1)) // assert-C1
    return emitOpError() << "takes a condition of i1, not "
                         << getCondition().getType();
  return success();
}

#define GET_OP_CLASSES
#include "tilec/Tile/TileOps.cpp.inc"
