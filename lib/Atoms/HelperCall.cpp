//===- HelperCall.cpp - calls of named instructions -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a name, PTX text, operands. Out: one declaration a module and a call.
//
//===------------------------------------------------------------------------===//
#include "tilec/Atoms/HelperCall.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tilec;

char tilec::registerLetter(Type type) {
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type))
    return pointer.getAddressSpace() == 3 || pointer.getAddressSpace() == 7 ? 'r' : 'l';
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 1)
    return 'b';
  if (bits == 16)
    return 'h';
  if (isa<FloatType>(type))
    return bits == 32 ? 'f' : 'd';
  return bits == 32 ? 'r' : 'l';
}

/// "=f,=f,f,l": results, then operands.
static std::string constraintsOf(TypeRange results, TypeRange operands) {
  std::string text;
  auto add = [&](StringRef prefix, Type type) {
    text += text.empty() ? "" : ",";
    text += prefix;
    text += registerLetter(type);
  };
  for (Type type : results)
    add("=", type);
  for (Type type : operands)
    add("", type);
  return text;
}

static LLVM::LLVMFuncOp declareHelper(OpBuilder &builder, Location loc,
                                      const HelperText &helper, TypeRange results,
                                      TypeRange operands) {
  auto module =
      builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (auto found = module.lookupSymbol<LLVM::LLVMFuncOp>(helper.name))
    return found;
  MLIRContext *context = builder.getContext();
  Type result = LLVM::LLVMVoidType::get(context);
  if (results.size() == 1)
    result = results.front();
  else if (results.size() > 1)
    result = LLVM::LLVMStructType::getLiteral(context, llvm::to_vector(results));
  OpBuilder outside = OpBuilder::atBlockBegin(module.getBody());
  auto function = LLVM::LLVMFuncOp::create(
      outside, loc, helper.name,
      LLVM::LLVMFunctionType::get(result, llvm::to_vector(operands)));
  if (helper.text.empty())
    return function;
  auto pair = [&](StringRef key, StringRef value) -> Attribute {
    return builder.getStrArrayAttr({key, value});
  };
  std::string constraints = helper.constraints.empty() ? constraintsOf(results, operands)
                                                       : helper.constraints;
  function.setPassthroughAttr(builder.getArrayAttr({
      pair("tilec-asm", helper.text),
      pair("tilec-constraints", constraints),
      pair("tilec-effects", helper.effects),
  }));
  return function;
}

SmallVector<Value> tilec::emitHelper(OpBuilder &builder, Location loc,
                                     const HelperText &helper, TypeRange results,
                                     ValueRange operands) {
  LLVM::LLVMFuncOp function =
      declareHelper(builder, loc, helper, results, TypeRange(operands));
  auto call = LLVM::CallOp::create(builder, loc, function, operands);
  if (results.size() <= 1)
    return llvm::to_vector_of<Value>(call.getResults());
  SmallVector<Value> values;
  for (unsigned index = 0; index < results.size(); ++index)
    values.push_back(
        LLVM::ExtractValueOp::create(builder, loc, call.getResult(), int64_t(index)));
  return values;
}

/// ".f32x64.i32x4": runs of types.
static std::string typeSuffix(TypeRange types) {
  std::string text;
  for (size_t first = 0; first < types.size();) {
    size_t next = first;
    while (next < types.size() && types[next] == types[first])
      ++next;
    llvm::raw_string_ostream(text) << '.' << types[first] << 'x' << next - first;
    first = next;
  }
  return text;
}

SmallVector<Value> tilec::emitTied(OpBuilder &builder, Location loc, StringRef name,
                                   StringRef text, ValueRange values) {
  SmallVector<Type> types(values.getTypes());
  std::string constraints = constraintsOf(types, {});
  for (size_t index = 0; index < types.size(); ++index)
    constraints += "," + std::to_string(index);
  HelperText helper{(name + typeSuffix(types)).str(), text.str(), constraints};
  return emitHelper(builder, loc, helper, types, values);
}
