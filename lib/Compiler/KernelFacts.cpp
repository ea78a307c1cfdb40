//===- KernelFacts.cpp - launch facts out of a kernel --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Reads `tile.kernel`'s attributes (TileKernelOps.td) into a KernelInfo. What a
// kernel without them lacks (IR written by hand for a test) gets a plain default:
// names argN, dtypes by the MLIR type.
//
//===------------------------------------------------------------------------===//

#include "tilec/Compiler/KernelFacts.h"

#include "tilec/Support/Target.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/DebugSites.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tilec {

/// The signed dtype of an MLIR element type.
static DType dtypeOf(Type type) {
  if (isa<IndexType>(type))
    return DType::Int;
  if (type.isInteger(1))
    return DType::Bool;
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() == 8    ? DType::I8
           : integer.getWidth() == 16 ? DType::I16
           : integer.getWidth() == 32 ? DType::I32
                                      : DType::I64;
  if (isa<Float8E4M3FNType>(type))
    return DType::F8E4M3;
  if (isa<Float8E5M2Type>(type))
    return DType::F8E5M2;
  if (isa<FloatTF32Type>(type))
    return DType::TF32;
  return type.isF16() ? DType::F16 : type.isBF16() ? DType::BF16 : type.isF32() ? DType::F32 : DType::F64;
}

static ParamInfo describeParameter(tile::KernelOp kernel, unsigned index) {
  ParamInfo param;
  param.name = kernel.getParameterName(index);
  Type type = kernel.getArgumentTypes()[index];
  auto array = dyn_cast<tile::ArrayType>(type);
  param.dtype = dtypeOf(array ? array.getElementType() : type);
  if (auto name = kernel.getArgAttrOfType<StringAttr>(index, tile::KernelOp::dtypeAttr))
    if (auto dtype = parseDType(std::string_view(name.getValue())))
      param.dtype = *dtype;
  if (!array)
    return param;
  param.isArray = true;
  param.isMutable = array.isMut();
  param.isStrided = array.hasStrides();
  auto names = kernel.getArgAttrOfType<ArrayAttr>(index, tile::KernelOp::dimsAttr);
  for (unsigned d = 0; d < array.getRank(); ++d) {
    DimInfo dim;
    if (!array.isDynamicDim(d))
      dim.constant = array.getShape()[d];
    if (names && d < names.size())
      if (auto name = dyn_cast<StringAttr>(names[d]); name && !dim.constant)
        dim.name = name.str();
    param.dims.push_back(dim);
  }
  return param;
}

/// The largest tile of any load or store, per axis of each array (ParamInfo::reach).
static void describeReach(tile::KernelOp kernel, KernelInfo &info) {
  for (ParamInfo &param : info.params)
    param.reach.assign(param.dims.size(), 1);
  auto add = [&](auto op, Type value) {
    auto tensor = dyn_cast<RankedTensorType>(value);
    auto array = dyn_cast<BlockArgument>(Value(op.getArray()));
    if (!tensor || !array)
      return;
    for (unsigned dim = 0; dim < tensor.getRank(); ++dim) {
      int64_t &reach = info.params[array.getArgNumber()].reach[unsigned(op.getArrayDim(dim))];
      reach = std::max(reach, tensor.getDimSize(dim));
    }
  };
  kernel.walk([&](tile::LoadOp op) { add(op, op.getType()); });
  kernel.walk([&](tile::StoreOp op) { add(op, op.getValue().getType()); });
}

static Requirement describeRequirement(DictionaryAttr attr) {
  auto text = [&](StringRef key) {
    auto value = attr.getAs<StringAttr>(key);
    return value ? value.str() : std::string();
  };
  Requirement result;
  result.expr = text("expr");
  result.text = text("text");
  // `file:line`
  std::string loc = text("loc");
  size_t colon = loc.rfind(':');
  result.file = loc.substr(0, colon);
  if (colon != std::string::npos)
    (void)StringRef(loc).substr(colon + 1).getAsInteger(10, result.line);
  return result;
}

/// A compile-time value in source spelling.
static std::string describeConstant(Attribute value) {
  if (auto text = dyn_cast<StringAttr>(value))
    return text.str();
  if (auto boolean = dyn_cast<BoolAttr>(value))
    return boolean.getValue() ? "true" : "false";
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return std::to_string(integer.getInt());
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

KernelInfo describeKernel(tile::KernelOp kernel) {
  KernelInfo info;
  info.name = kernel.getSymName().str();
  if (auto doc = kernel->getAttrOfType<StringAttr>("tile.doc"))
    info.doc = doc.str();
  for (unsigned i = 0; i < kernel.getArgumentTypes().size(); ++i)
    info.params.push_back(describeParameter(kernel, i));
  if (auto grid = kernel.getGrid())
    for (auto extent : grid->getAsRange<StringAttr>())
      info.grid.push_back(extent.str());
  if (auto requirements = kernel.getRequirements())
    for (auto requirement : requirements->getAsRange<DictionaryAttr>())
      info.requirements.push_back(describeRequirement(requirement));
  if (auto constants = kernel.getConstants())
    for (NamedAttribute constant : *constants)
      info.constants.push_back({constant.getName().str(), describeConstant(constant.getValue())});
  if (auto hints = kernel.getHints())
    for (NamedAttribute hint : *hints)
      if (auto value = dyn_cast<IntegerAttr>(hint.getValue()))
        info.hints.push_back({hint.getName().str(), value.getInt()});
  describeReach(kernel, info);
  info.sites = tile::numberSites(kernel);
  kernel.walk([&](tile::NumSMsOp) { info.usesNumSMs = true; });
  return info;
}

//===------------------------------------------------------------------------===//
// Builds
//===------------------------------------------------------------------------===//

static unsigned integerOf(Operation *op, StringRef name, unsigned otherwise = 0) {
  auto value = op->getAttrOfType<IntegerAttr>(name);
  return value ? unsigned(value.getInt()) : otherwise;
}

static TensorMapInfo describeTensorMap(DictionaryAttr attr) {
  TensorMapInfo map;
  if (auto param = attr.getAs<IntegerAttr>("param"))
    map.param = unsigned(param.getInt());
  if (auto box = attr.getAs<DenseI64ArrayAttr>("box"))
    map.box.assign(box.asArrayRef().begin(), box.asArrayRef().end());
  if (auto swizzle = attr.getAs<IntegerAttr>("swizzle"))
    map.swizzleBytes = unsigned(swizzle.getInt());
  return map;
}

static BuildInfo describeBuild(Operation *op) {
  BuildInfo build;
  build.symbol = SymbolTable::getSymbolName(op).str();
  build.facts = tile::factsOf(op);
  build.threads = (integerOf(op, "tile.num_warps") + integerOf(op, "tile.access_warps")) *
                  Chip::warpSize;
  build.sharedBytes = integerOf(op, "tile.shared_bytes");
  build.persistent = integerOf(op, "tile.persistent");
  build.cluster = integerOf(op, "tile.cluster", 1);
  if (op->hasAttr("tile.cluster_axis"))
    build.clusterAxis = integerOf(op, "tile.cluster_axis");
  build.splitK = integerOf(op, "tile.split_k");
  build.blocksAtOnce = integerOf(op, "tile.blocks_at_once", 1);
  build.sumBytes = integerOf(op, "tile.sum_bytes");
  build.positions = integerOf(op, "tile.positions", 1);
  build.threads *= build.positions;
  build.awaitsGrids = op->hasAttr("tile.awaits_grids");
  if (auto maps = op->getAttrOfType<ArrayAttr>("tile.tensor_maps"))
    for (auto map : maps.getAsRange<DictionaryAttr>())
      build.tensorMaps.push_back(describeTensorMap(map));
  return build;
}

/// The launcher takes the first build whose facts hold: most facts first.
static void sortBuilds(std::vector<KernelInfo> &kernels) {
  for (KernelInfo &kernel : kernels)
    llvm::stable_sort(kernel.builds, [](const BuildInfo &a, const BuildInfo &b) {
      return llvm::popcount(a.facts) > llvm::popcount(b.facts);
    });
}

void describeBuilds(ModuleOp module, std::vector<KernelInfo> &kernels) {
  module.walk([&](Operation *op) {
    auto of = op->getAttrOfType<StringAttr>("tile.kernel");
    if (!of)
      return;
    for (KernelInfo &kernel : kernels)
      if (kernel.name == of.getValue())
        kernel.builds.push_back(describeBuild(op));
  });
  sortBuilds(kernels);
}

void addBuilds(std::vector<KernelInfo> &kernels, llvm::ArrayRef<KernelInfo> more) {
  for (auto [kernel, other] : llvm::zip_equal(kernels, more))
    llvm::append_range(kernel.builds, other.builds);
  sortBuilds(kernels);
}

} // namespace tilec
