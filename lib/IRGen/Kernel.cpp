//===- Kernel.cpp - modules, kernels, types, locations -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The outer part of the walk: one `tile.kernel` per kernel instance, with the
// facts that the launcher needs as attributes.

#include "Generator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Support/Numerics.h"

using namespace mlir;

namespace tilec::irgen {

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

mlir::Type elementType(MLIRContext *context, DType dtype) {
  Builder builder(context);
  switch (dtype) {
  case DType::Int:
    return builder.getIndexType();
  case DType::F16:
    return builder.getF16Type();
  case DType::BF16:
    return builder.getBF16Type();
  case DType::F32:
    return builder.getF32Type();
  case DType::F64:
    return builder.getF64Type();
  case DType::TF32:
    return builder.getTF32Type();
  case DType::F8E4M3:
    return Float8E4M3FNType::get(context);
  case DType::F8E5M2:
    return Float8E5M2Type::get(context);
  default:
    return builder.getIntegerType(dtypeBits(dtype));
  }
}

mlir::Type valueType(MLIRContext *context, Type type) {
  return tile::getTileType(type.shape(), elementType(context, type.dtype()));
}

TypedAttr constantAttr(MLIRContext *context, DType dtype, uint64_t word) {
  mlir::Type type = elementType(context, dtype);
  if (auto floatType = dyn_cast<FloatType>(type)) {
    uint64_t bits = dtype == DType::TF32 ? word >> 13 : word;
    APInt pattern(floatType.getWidth(), bits, /*isSigned=*/false,
                  /*implicitTrunc=*/true);
    return FloatAttr::get(type,
                          APFloat(floatType.getFloatSemantics(), pattern));
  }
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return IntegerAttr::get(
      type, APInt(width, word, /*isSigned=*/false, /*implicitTrunc=*/true));
}

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

Location Generator::location(SourceRange range) {
  if (!range.isValid())
    return UnknownLoc::get(context);
  LineCol position = sources.getLineCol(range.begin);
  return FileLineColLoc::get(context, sources.getFileName(range.begin),
                             position.line, position.col);
}

Location Generator::location(const checked::Loc &loc) {
  Location result = location(loc.range);
  for (const checked::CallSite *call = loc.inlinedAt; call;
       call = call->at.inlinedAt)
    result = CallSiteLoc::get(result, location(call->at.range));
  return result;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Generator::Generator(MLIRContext &context, const SourceManager &sources,
                     const IRGenOptions &options)
    : context(&context), builder(&context), sources(sources), options(options),
      flags(options.fastMath ? arith::FastMathFlags::afn
                             : arith::FastMathFlags::none) {}

mlir::Type Generator::parameterType(const checked::Param &param) {
  mlir::Type element = elementType(context, param.dtype);
  if (!param.isArray())
    return element;
  SmallVector<int64_t> shape;
  for (const checked::ArrayDim &dim : param.dims)
    shape.push_back(dim.constant.value_or(ShapedType::kDynamic));
  return tile::ArrayType::get(shape, element, param.isMut, param.isStrided);
}

DictionaryAttr Generator::parameterAttributes(const checked::Param &param) {
  NamedAttrList attributes;
  attributes.set(tile::KernelOp::nameAttr, builder.getStringAttr(param.name));
  attributes.set(tile::KernelOp::dtypeAttr,
                 builder.getStringAttr(StringRef(dtypeName(param.dtype))));
  if (param.isArray()) {
    SmallVector<Attribute> dims;
    for (const checked::ArrayDim &dim : param.dims)
      dims.push_back(dim.constant ? builder.getStringAttr(Twine(*dim.constant))
                                  : builder.getStringAttr(dim.name));
    attributes.set(tile::KernelOp::dimsAttr, builder.getArrayAttr(dims));
  }
  return attributes.getDictionary(context);
}

void Generator::setKernelAttributes(tile::KernelOp op,
                                    const checked::Kernel &kernel) {
  if (!kernel.docComment.empty())
    op->setAttr("tile.doc", builder.getStringAttr(kernel.docComment));
  if (kernel.hasGrid) {
    SmallVector<StringRef> grid(kernel.grid.begin(), kernel.grid.end());
    op.setGridAttr(builder.getStrArrayAttr(grid));
  }
  SmallVector<Attribute> requirements;
  for (const checked::Requirement &requirement : kernel.requirements) {
    if (requirement.hostText.empty())
      continue;
    NamedAttrList entry;
    entry.set("expr", builder.getStringAttr(requirement.hostText));
    entry.set("text", builder.getStringAttr(requirement.text));
    if (requirement.range.isValid()) {
      SourceLoc begin = requirement.range.begin;
      entry.set("loc",
                builder.getStringAttr(sources.getFileName(begin) + ":" +
                                      Twine(sources.getLineCol(begin).line)));
    }
    requirements.push_back(entry.getDictionary(context));
  }
  if (!requirements.empty())
    op.setRequirementsAttr(builder.getArrayAttr(requirements));
  NamedAttrList constants;
  for (const checked::ConstantValue &constant : kernel.constants)
    constants.set(constant.name, builder.getStringAttr(constant.text));
  if (!constants.empty())
    op.setConstantsAttr(constants.getDictionary(context));
  NamedAttrList hints;
  for (const checked::Hint &hint : kernel.hints) {
    // A hint for one chip is named `chip.hint`, one for every chip `hint`.
    std::string name = hint.arch.empty() ? hint.name.str()
                                         : (hint.arch + "." + hint.name).str();
    hints.set(name, builder.getI64IntegerAttr(hint.value));
  }
  if (!hints.empty())
    op.setHintsAttr(hints.getDictionary(context));
  op.setFastMath(options.fastMath);
  op.setNoContract(!options.contract);
}

void Generator::kernel(const checked::Kernel &kernel, ModuleOp module) {
  builder.setInsertionPointToEnd(module.getBody());
  SmallVector<mlir::Type> types;
  SmallVector<Attribute> attributes;
  for (const checked::Param *param : kernel.params) {
    types.push_back(parameterType(*param));
    attributes.push_back(parameterAttributes(*param));
  }
  Location loc = location(kernel.range);
  auto op = tile::KernelOp::create(builder, loc, kernel.name, types);
  op.setArgAttrsAttr(builder.getArrayAttr(attributes));
  setKernelAttributes(op, kernel);

  Block &body = op.getBody().front();
  parameters.assign(body.args_begin(), body.args_end());
  for (auto [argument, param] :
       llvm::zip_equal(body.getArguments(), kernel.params))
    argument.setLoc(NameLoc::get(builder.getStringAttr(param->name),
                                 location(param->range)));
  values.clear();
  builder.setInsertionPointToStart(&body);
  for (const checked::Requirement &requirement : kernel.requirements)
    if (requirement.condition)
      assume(location(requirement.range), expression(requirement.condition),
             "the requirement `" + requirement.text + "` is false");
  functions.assign({Function{nullptr, newFlag()}});
  block(kernel.body);
  functions.clear();
  tile::ReturnOp::create(builder, loc);
}

} // namespace tilec::irgen

void tilec::registerIRGenDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  tile::TileDialect>();
}

OwningOpRef<ModuleOp> tilec::generateIR(MLIRContext &context,
                                        const checked::Program &program,
                                        const SourceManager &sources,
                                        const IRGenOptions &options) {
  context.loadDialect<arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      tile::TileDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  for (const auto &kernel : program.kernels)
    irgen::Generator(context, sources, options).kernel(*kernel, *module);
  return module;
}
