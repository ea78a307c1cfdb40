//===- KernelRunner.cpp - compiled code against the interpreter ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// See KernelRunner.h. The passes are those of the compiler's pipelines from stage
// `tile` on. Products take the instructions of `chip`; optimisation is that of sm_90a.
//
//===------------------------------------------------------------------------===//
#include "KernelRunner.h"

#include "tilec/Emulator/Emulator.h"
#include "tilec/Interpreter/Interpreter.h"
#include "tilec/Lowering/Passes.h"
#include "tilec/Support/Numerics.h"
#include "tilec/Target/EmitPTX.h"
#include "tilec/Tile/BuildFacts.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/TileGPU/TileGPU.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace tilec;

namespace {

std::vector<KernelArg> makeArgs(std::vector<HostArray> &arrays, const RunOptions &options) {
  std::vector<KernelArg> args;
  for (HostArray &array : arrays)
    args.push_back(ArrayArg::rowMajor(array.bytes.data(), array.dtype, array.dims.data(),
                                      int(array.dims.size())));
  for (const ScalarArg &scalar : options.scalars)
    args.push_back(scalar);
  return args;
}

template <typename T>
std::vector<uint8_t> bytesOf(T value) {
  std::vector<uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

/// Parameters as Lowering/Kernel.cpp lays them out.
EmulatorLaunch makeLaunch(std::vector<HostArray> &arrays, const RunOptions &options) {
  EmulatorLaunch launch;
  for (HostArray &array : arrays) {
    launch.parameters.push_back(bytesOf(uint64_t(array.bytes.data())));
    for (int64_t dim : array.dims)
      launch.parameters.push_back(bytesOf(dim));
    launch.globals.push_back({array.bytes.data(), array.bytes.size(), "array", true});
  }
  for (const ScalarArg &scalar : options.scalars) {
    std::vector<uint8_t> bytes = bytesOf(scalar.bits);
    bytes.resize(dtypeBytes(scalar.dtype));
    launch.parameters.push_back(bytes);
  }
  for (int64_t extent : options.grid)
    launch.parameters.push_back(bytesOf(int32_t(extent)));
  launch.grid = {uint32_t(options.grid[0] * options.grid[1] * options.grid[2]), 1, 1};
  return launch;
}

/// One way through the compiler and the run of what comes out.
class CompiledRun {
public:
  CompiledRun(MLIRContext &context, const std::string &text, unsigned warps, bool isAligned)
      : module(parseSourceString<ModuleOp>(text, &context, "test.mlir")) {
    auto kernel = *module->getOps<tile::KernelOp>().begin();
    Builder builder(&context);
    kernel.setNumWarps(warps);
    if (isAligned)
      kernel->setAttr(tile::buildFactsAttr, builder.getStrArrayAttr({"aligned16"}));
    name = kernel.getName().str();
  }

  std::string run(std::vector<HostArray> &arrays, const RunOptions &options) {
    PassManager layouts(module->getContext());
    layouts.nest<tile::KernelOp>().addPass(createExpandSorts());
    SelectAtomsOptions atoms;
    atoms.chip = options.chip;
    layouts.nest<tile::KernelOp>().addPass(createSelectAtoms(atoms));
    // What the copy engine moves needs tensor maps, which only a launcher makes: those
    // kernels are tested as examples.
    const Chip *chip = findChip(options.chip);
    if (!chip || !chip->has(ChipFeature::WarpGroupMma)) {
      SelectCopiesOptions copies;
      copies.chip = options.chip;
      layouts.nest<tile::KernelOp>().addPass(createSelectCopies(copies));
    }
    layouts.nest<tile::KernelOp>().addPass(createAssignLayouts());
    if (failed(layouts.run(*module)))
      return "passes failed";
    PassManager passes(module->getContext());
    OpPassManager &kernels = passes.nest<tile::KernelOp>();
    if (options.afterLayouts)
      options.afterLayouts(*module);
    else
      kernels.addPass(createRemoveLayoutConversions());
    kernels.addPass(createDeferReductions());
    SplitConversionsOptions split;
    split.maxBytes = 512; // as if memory were short
    kernels.addPass(createSplitConversions(split));
    kernels.addPass(createStageRings());
    kernels.addPass(createStageOperands());
    kernels.addPass(createCanonicalizerPass());
    ChooseStagesOptions stages;
    stages.numStages = options.numStages;
    kernels.addPass(createChooseStages(stages));
    kernels.addPass(createScheduleLoops());
    kernels.addPass(createStartSums());
    kernels.addPass(createSinkScalars());
    kernels.addPass(createGroupExchanges());
    kernels.addPass(createAllocateMemory());
    kernels.addPass(createInsertBarriers());
    LowerToSIMTOptions lowering;
    lowering.chip = options.chip;
    passes.addPass(createLowerToSIMT(lowering));
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    if (failed(passes.run(*module)))
      return "passes failed";
    auto function = module->lookupSymbol<LLVM::LLVMFuncOp>(name);
    auto integer = [&](StringRef attr) {
      return uint32_t(function->getAttrOfType<IntegerAttr>(attr).getInt());
    };
    EmulatorLaunch launch = makeLaunch(arrays, options);
    launch.threads = {32 * integer("tile.num_warps"), 1, 1};
    launch.sharedBytes = integer("tile.shared_bytes");
    return compileAndLaunch(launch);
  }

private:
  std::string compileAndLaunch(const EmulatorLaunch &launch) {
    const Chip &chip = *findChip("sm_90a");
    if (llvm::Error error = lowerToLLVM(*module))
      return llvm::toString(std::move(error));
    llvm::LLVMContext llvmContext;
    auto llvmModule = translateToLLVM(*module, llvmContext, chip);
    if (!llvmModule)
      return llvm::toString(llvmModule.takeError());
    if (llvm::Error error = optimizeModule(**llvmModule, chip))
      return llvm::toString(std::move(error));
    auto kernel = EmulatedKernel::create(**llvmModule, name);
    if (!kernel)
      return llvm::toString(kernel.takeError());
    auto report = kernel->launch(launch);
    if (!report)
      return llvm::toString(report.takeError());
    std::string text;
    llvm::raw_string_ostream os(text);
    report->print(os);
    return text;
  }

  OwningOpRef<ModuleOp> module;
  std::string name;
};

/// Whether the arrays keep the promise of `aligned16`.
bool areAligned(const std::vector<HostArray> &arrays) {
  return llvm::all_of(arrays, [](const HostArray &array) {
    return array.dims.size() == 1 ||
           array.dims.back() * int64_t(dtypeBytes(array.dtype)) % 16 == 0;
  });
}

/// NaNs are one value: which of them comes out is not specified (fp-C4).
bool isNaN(DType dtype, uint64_t bits) {
  switch (dtype) {
  case DType::F16:
    return (bits & 0x7fff) > 0x7c00;
  case DType::BF16:
    return (bits & 0x7fff) > 0x7f80;
  case DType::F32:
    return (bits & 0x7fffffff) > 0x7f800000;
  case DType::F64:
    return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
  case DType::F8E4M3:
    return (bits & 0x7f) == 0x7f;
  case DType::F8E5M2:
    return (bits & 0x7f) > 0x7c;
  default:
    return false;
  }
}

std::string compare(const HostArray &got, const HostArray &wanted, double tolerance) {
  if (got.bytes == wanted.bytes)
    return "";
  if (tolerance > 0 && got.dtype == DType::F32) {
    size_t count = got.bytes.size() / 4;
    std::vector<float> a(count), b(count);
    std::memcpy(a.data(), got.bytes.data(), got.bytes.size());
    std::memcpy(b.data(), wanted.bytes.data(), wanted.bytes.size());
    double scale = 0, worst = 0;
    for (size_t i = 0; i < count; ++i) {
      scale = std::max(scale, std::abs(double(b[i])));
      double difference = std::abs(double(a[i]) - double(b[i]));
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    }
    if (worst <= tolerance * scale)
      return "";
    return "differs by " + std::to_string(worst) + " of " + std::to_string(scale);
  }
  size_t size = dtypeBytes(got.dtype);
  for (size_t i = 0; i < got.bytes.size(); i += size) {
    uint64_t a = 0, b = 0;
    std::memcpy(&a, &got.bytes[i], size);
    std::memcpy(&b, &wanted.bytes[i], size);
    if (a != b && !(isNaN(got.dtype, a) && isNaN(got.dtype, b)))
      return "element " + std::to_string(i / size) + " is 0x" + llvm::utohexstr(a) +
             ", not 0x" + llvm::utohexstr(b);
  }
  return "";
}

} // namespace

static DialectRegistry allDialects() {
  DialectRegistry registry;
  registry.insert<tile::TileDialect, tgpu::TileGPUDialect, arith::ArithDialect,
                  math::MathDialect, scf::SCFDialect, vector::VectorDialect,
                  LLVM::LLVMDialect, NVVM::NVVMDialect>();
  registerTargetDialects(registry);
  return registry;
}

std::string tilec::interpretFolded(const std::string &text, std::vector<HostArray> &arrays) {
  MLIRContext context(allDialects());
  auto module = parseSourceString<ModuleOp>(text, &context, "test.mlir");
  if (!module)
    return "does not parse";
  PassManager passes(&context);
  passes.addPass(createCanonicalizerPass());
  if (failed(passes.run(*module)))
    return "passes failed";
  bool isFolded = true;
  module->walk([&](tile::CastOp) { isFolded = false; });
  if (!isFolded)
    return "a conversion is left";
  if (llvm::Error error = interpretKernel(*module->getOps<tile::KernelOp>().begin(),
                                          makeArgs(arrays, {}), {1, 1, 1}))
    return "interpreter: " + llvm::toString(std::move(error));
  return "";
}

HostArray tilec::wholeNumbers(DType dtype, std::vector<int64_t> dims, uint32_t seed) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  size_t size = dtypeBytes(dtype);
  std::vector<uint8_t> bytes(size_t(count) * size);
  for (size_t i = 0; i < size_t(count); ++i) {
    seed = seed * 1664525 + 1013904223;
    int64_t value = int64_t(seed >> 16) % 7 - 3;
    uint64_t word = isFloat(dtype) ? numerics::encode(dtype, double(value)) : uint64_t(value);
    std::memcpy(&bytes[i * size], &word, size);
  }
  return HostArray::of(dtype, std::move(dims), bytes);
}

std::string tilec::checkKernel(const std::string &text, std::vector<HostArray> &arrays,
                               const RunOptions &options) {
  MLIRContext context(allDialects());

  const std::vector<HostArray> initial = arrays;
  auto module = parseSourceString<ModuleOp>(text, &context, "test.mlir");
  if (!module)
    return "does not parse";
  if (llvm::Error error = interpretKernel(*module->getOps<tile::KernelOp>().begin(),
                                          makeArgs(arrays, options), options.grid))
    return "interpreter: " + llvm::toString(std::move(error));

  std::string problems;
  for (unsigned warps : options.warps)
    for (bool isAligned : {false, true}) {
      if (isAligned ? !areAligned(arrays) : options.onlyAligned)
        continue;
      std::vector<HostArray> copies = initial;
      std::string problem = CompiledRun(context, text, warps, isAligned).run(copies, options);
      for (size_t i = 0; problem.empty() && i < arrays.size(); ++i) {
        problem = compare(copies[i], arrays[i], options.tolerance);
        if (!problem.empty())
          problem = "array " + std::to_string(i) + ": " + problem;
      }
      if (!problem.empty())
        problems += std::to_string(warps) + " warps, " +
                    (isAligned ? "aligned: " : "general: ") + problem + "\n";
    }
  return problems;
}
