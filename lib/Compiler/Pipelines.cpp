//===- Pipelines.cpp - the passes of each stage, in order -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The whole middle of the compiler, top to bottom. docs/stages.md has a part on
// each pass, with IR before and after.
//
//===------------------------------------------------------------------------===//

#include "tilec/Compiler/Pipelines.h"

#include "tilec/Lowering/Passes.h"
#include "tilec/Tile/TileOps.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tilec {

void addTilePasses(OpPassManager &passes, const CompileOptions &options) {
  OpPassManager &kernels = passes.nest<tile::KernelOp>();
  kernels.addPass(createSimplifyTile());
  if (options.contract) {
    kernels.addPass(createScaleMaxima());
    kernels.addPass(createFuseMultiplyAdd());
  }
}

void addLaidOutPasses(OpPassManager &passes, const CompileOptions &options, const Chip &chip) {
  SplitBuildsOptions builds;
  builds.onlyGeneral = options.onlyGeneralBuild;
  builds.chip = std::string(chip.name);
  passes.addPass(createSplitBuilds(builds));

  OpPassManager &kernels = passes.nest<tile::KernelOp>();
  kernels.addPass(createExpandSorts());
  kernels.addPass(createSimplifyTile());
  kernels.addPass(createTabulateFunctions());
  kernels.addPass(createHoistInvariants());
  kernels.addPass(createInferBounds());
  kernels.addPass(createBoundPowers());
  kernels.addPass(createCoarsenMasks());
  kernels.addPass(createSkipNeutral());
  kernels.addPass(createCountLoops());
  kernels.addPass(createRotateRows());
  StreamRowsOptions rows;
  rows.numWarps = int(options.numWarps);
  rows.chip = std::string(chip.name);
  kernels.addPass(createStreamRows(rows));
  ChooseWarpsOptions warps;
  warps.numWarps = int(options.numWarps);
  warps.chip = std::string(chip.name);
  kernels.addPass(createChooseWarps(warps));
  SelectAtomsOptions atoms;
  atoms.chip = std::string(chip.name);
  kernels.addPass(createSelectAtoms(atoms));
  SelectCopiesOptions copies;
  copies.chip = std::string(chip.name);
  kernels.addPass(createSelectCopies(copies));
  kernels.addPass(createAssignLayouts());
  kernels.addPass(createRemoveLayoutConversions());
  kernels.addPass(createDeferReductions());
  kernels.addPass(createSplitConversions());
}

void addStagedPasses(OpPassManager &passes, const CompileOptions &options, const Chip &chip) {
  OpPassManager &kernels = passes.nest<tile::KernelOp>();
  SplitKOptions split;
  split.chip = std::string(chip.name);
  kernels.addPass(createSplitK(split));
  ScheduleBlocksOptions blocks;
  blocks.chip = std::string(chip.name);
  kernels.addPass(createScheduleBlocks(blocks));
  PrefetchLoadsOptions prefetch;
  prefetch.chip = std::string(chip.name);
  kernels.addPass(createPrefetchLoads(prefetch));
  kernels.addPass(createPrefetchOperands());
  kernels.addPass(createStageRings());
  kernels.addPass(createStageStores());
  kernels.addPass(createStageOperands());
  FitRingsOptions rings;
  rings.budget = chip.sharedPerBlock;
  kernels.addPass(createFitRings(rings));
  kernels.addPass(createKeepAccumulators());
  SpecializeWarpsOptions roles;
  roles.chip = std::string(chip.name);
  kernels.addPass(createSpecializeWarps(roles));
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createFlattenLoops());
  ChooseStagesOptions stages;
  stages.budget = chip.sharedPerBlock;
  stages.chip = std::string(chip.name);
  stages.numStages = int(options.numStages);
  kernels.addPass(createChooseStages(stages));
  kernels.addPass(createScheduleAsyncMma());
  kernels.addPass(createScheduleLoops());
  kernels.addPass(createSinkScalars());
  kernels.addPass(createStartSums());
  kernels.addPass(createGroupExchanges());
  AllocateMemoryOptions memory;
  memory.budget = chip.sharedPerBlock;
  kernels.addPass(createAllocateMemory(memory));
  kernels.addPass(createInsertBarriers());
  kernels.addPass(createPackPositions());
  kernels.addPass(createNarrowIndices());
  OverlapLaunchesOptions overlap;
  overlap.chip = std::string(chip.name);
  kernels.addPass(createOverlapLaunches(overlap));
  kernels.addPass(createVerifyStage({"staged"}));
}

void addSIMTPasses(OpPassManager &passes, const CompileOptions &options, const Chip &chip) {
  LowerToSIMTOptions lowering;
  lowering.chip = std::string(chip.name);
  passes.addPass(createLowerToSIMT(lowering));
  passes.addNestedPass<LLVM::LLVMFuncOp>(createReadAhead());
  passes.addPass(createExpandMath());
  passes.addPass(createExpandDivision());
  // Once over, and not the regions: what more it does LLVM finds again.
  GreedyRewriteConfig once;
  once.setMaxIterations(1);
  once.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  passes.addPass(createCanonicalizerPass(once));
  passes.addPass(createCSEPass());
}

} // namespace tilec
