//===- Interpreter.cpp - control flow and dispatch -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Walks a kernel's body operation by operation, once per block of the grid. Loops
// and branches are `scf`; everything without a region goes to the evaluators.
//
//===------------------------------------------------------------------------===//

#include "tilec/Interpreter/Interpreter.h"

#include "BlockRun.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

using namespace mlir;

namespace tilec::interpreter {

/// `file:line:col` of the innermost source location in `loc`.
static std::string describe(Location loc) {
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    return (file.getFilename().getValue() + ":" + llvm::Twine(file.getLine()) + ":" +
            llvm::Twine(file.getColumn()))
        .str();
  return "<unknown>";
}

llvm::Error errorAt(Operation *op, const llvm::Twine &message) {
  return llvm::createStringError(describe(op->getLoc()) + ": " + message);
}

BlockRun::BlockRun(tile::KernelOp kernel, llvm::ArrayRef<KernelArg> args,
                   std::array<int64_t, 3> grid, std::array<int64_t, 3> block, DebugLog &log)
    : kernel(kernel), args(args), grid(grid), block(block), log(log) {}

llvm::Error BlockRun::run() {
  Block &body = kernel.getBody().front();
  for (auto [i, parameter] : llvm::enumerate(body.getArguments())) {
    if (isa<tile::ArrayType>(parameter.getType()))
      continue;
    HostTile value(parameter.getType());
    value.readElement(0, &std::get<ScalarArg>(args[i]).bits);
    set(parameter, std::move(value));
  }
  return runBody(body, nullptr);
}

void BlockRun::setAll(ValueRange targets, llvm::ArrayRef<TileRef> from) {
  for (auto [target, value] : llvm::zip_equal(targets, from))
    values[target] = value;
}

llvm::Error BlockRun::runBody(Block &body, Values *yielded) {
  for (Operation &op : body.without_terminator())
    if (llvm::Error error = runOp(op))
      return error;
  if (!yielded)
    return llvm::Error::success();
  yielded->clear();
  for (Value operand : body.getTerminator()->getOperands())
    yielded->push_back(values.find(operand)->second);
  return llvm::Error::success();
}

llvm::Error BlockRun::runFor(scf::ForOp op) {
  int64_t lower = getIndex(op.getLowerBound()), upper = getIndex(op.getUpperBound());
  int64_t step = getIndex(op.getStep());
  Values carried;
  for (Value init : op.getInitArgs())
    carried.push_back(values.find(init)->second);
  // Counted, so that a step near the end of the range cannot wrap.
  uint64_t trips = lower < upper && step > 0
                       ? (uint64_t(upper) - uint64_t(lower) - 1) / uint64_t(step) + 1
                       : 0;
  for (uint64_t trip = 0; trip < trips; ++trip) {
    HostTile counter(op.getInductionVar().getType());
    counter.ints[0] = truncateTo(uint64_t(lower) + trip * uint64_t(step), counter.width());
    set(op.getInductionVar(), std::move(counter));
    setAll(op.getRegionIterArgs(), carried);
    if (llvm::Error error = runBody(*op.getBody(), &carried))
      return error;
  }
  setAll(op.getResults(), carried);
  return llvm::Error::success();
}

llvm::Error BlockRun::runWhile(scf::WhileOp op) {
  Values carried;
  for (Value init : op.getInits())
    carried.push_back(values.find(init)->second);
  while (true) {
    setAll(op.getBeforeArguments(), carried);
    if (llvm::Error error = runBody(*op.getBeforeBody(), &carried))
      return error;
    bool goOn = carried.front()->integer(0);
    carried.erase(carried.begin());
    if (!goOn)
      break;
    setAll(op.getAfterArguments(), carried);
    if (llvm::Error error = runBody(*op.getAfterBody(), &carried))
      return error;
  }
  setAll(op.getResults(), carried);
  return llvm::Error::success();
}

llvm::Error BlockRun::runIf(scf::IfOp op) {
  bool taken = get(op.getCondition()).integer(0);
  Region &region = taken ? op.getThenRegion() : op.getElseRegion();
  Values results;
  if (!region.empty())
    if (llvm::Error error = runBody(region.front(), &results))
      return error;
  setAll(op.getResults(), results);
  return llvm::Error::success();
}

std::optional<HostTile> BlockRun::evaluateTileOp(Operation *op, Operands in) {
  auto index = [&](int64_t v) {
    HostTile result(op->getResult(0).getType());
    result.ints[0] = uint64_t(v);
    return result;
  };
  auto type = op->getNumResults() ? op->getResult(0).getType() : Type();
  return llvm::TypeSwitch<Operation *, std::optional<HostTile>>(op)
      .Case([&](tile::BlockIdOp id) { return index(block[id.getDim()]); })
      .Case([&](tile::NumBlocksOp count) { return index(grid[count.getDim()]); })
      .Case([&](tile::DimOp dim) { return index(arrayOf(dim.getArray()).dims[dim.getDim()]); })
      .Case([&](tile::LoadOp op) { return load(op); })
      .Case<tile::SplatOp, tile::ReshapeOp>([&](auto) { return in[0]->withType(type); })
      .Case([&](tile::IotaOp) { return evaluateIota(cast<RankedTensorType>(type)); })
      .Case([&](tile::BroadcastOp) { return evaluateBroadcast(*in[0], cast<RankedTensorType>(type)); })
      .Case([&](tile::PermuteOp permute) {
        return evaluatePermute(*in[0], permute.getDims(), cast<RankedTensorType>(type));
      })
      .Case([&](tile::NumSMsOp) { return index(1); })
      .Case([&](tile::GatherOp op) { return gather(op); })
      .Case([&](tile::CatOp cat) {
        return evaluateCat(in, cat.getAxis(), cast<RankedTensorType>(type));
      })
      .Case([&](tile::ExtractOp op) { return evaluateExtract(*in[0], indicesOf(op.getIndex()), type); })
      .Case([&](tile::InsertOp op) {
        return evaluateInsert(*in[0], *in[1], indicesOf(op.getIndex()));
      })
      .Case([&](tile::FlipOp flip) {
        return evaluateFlip(*in[0], flip.getAxis(), cast<RankedTensorType>(type));
      })
      .Case([&](tile::TakeOp op) { return evaluateTake(op, *in[0], *in[1]); })
      .Case([&](tile::HistogramOp op) { return evaluateHistogram(op, *in[0]); })
      .Case([&](tile::MmaOp mma) { return evaluateMma(mma, *in[0], *in[1], *in[2]); })
      .Default([](Operation *) { return std::nullopt; });
}

/// Operations that write; false when `op` is none.
bool BlockRun::runEffect(Operation &op) {
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case([&](tile::StoreOp write) { return store(write), true; })
      .Case([&](tile::ScatterOp write) { return scatter(write), true; })
      .Case([&](tile::PrintOp line) { return print(line), true; })
      .Case([&](tile::AssertOp assertion) { return check(assertion), true; })
      .Case([&](tile::AtomicOp op) {
        HostTile old = atomic(op);
        if (op.getResult())
          set(op.getResult(), std::move(old));
        return true;
      })
      .Default([](Operation *) { return false; });
}

llvm::Error BlockRun::runOp(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return runWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return runIf(branch);
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return runReduce(reduce);
  if (auto scan = dyn_cast<tile::ScanOp>(op))
    return runScan(scan);
  if (runEffect(op))
    return llvm::Error::success();
  if (auto assume = dyn_cast<tile::AssumeOp>(op)) {
    if (get(assume.getCondition()).integer(0))
      return llvm::Error::success();
    return errorAt(&op, "an assumption of the program is false here");
  }
  llvm::SmallVector<const HostTile *, 4> operands;
  for (Value operand : op.getOperands())
    operands.push_back(isa<tile::ArrayType>(operand.getType()) ? nullptr : &get(operand));
  if (auto sort = dyn_cast<tile::SortOp>(op)) {
    for (auto [target, tile] : llvm::zip_equal(sort.getResults(), evaluateSort(sort, operands)))
      set(target, tile);
    return llvm::Error::success();
  }
  if (auto halves = evaluateExtendedMultiply(&op, operands)) {
    set(op.getResult(0), std::move(halves->first));
    set(op.getResult(1), std::move(halves->second));
    return llvm::Error::success();
  }
  std::optional<HostTile> result = evaluateTileOp(&op, operands);
  if (!result)
    result = evaluateElementwise(&op, operands);
  if (!result)
    return errorAt(&op, "the interpreter does not know " + op.getName().getStringRef());
  set(op.getResult(0), std::move(*result));
  return llvm::Error::success();
}

} // namespace tilec::interpreter

llvm::Error tilec::interpretKernel(tile::KernelOp kernel, llvm::ArrayRef<KernelArg> args,
                                   std::array<int64_t, 3> grid, const InterpreterOptions &options) {
  uint64_t count = uint64_t(grid[0]) * uint64_t(grid[1]) * uint64_t(grid[2]);
  std::atomic<uint64_t> next{0};
  std::mutex mutex;
  std::optional<std::string> failure;
  DebugLog ownLog;
  DebugLog &log = options.log ? *options.log : ownLog;
  auto work = [&] {
    for (uint64_t i; (i = next++) < count;) {
      std::array<int64_t, 3> block = {int64_t(i % grid[0]), int64_t(i / grid[0] % grid[1]),
                                      int64_t(i / grid[0] / grid[1])};
      if (llvm::Error error = interpreter::BlockRun(kernel, args, grid, block, log).run()) {
        std::string text = llvm::toString(std::move(error));
        std::lock_guard<std::mutex> lock(mutex);
        if (!failure)
          failure = std::move(text);
        next = count;
      }
    }
  };
  unsigned threads = options.hostThreads ? options.hostThreads : std::thread::hardware_concurrency();
  threads = unsigned(std::min<uint64_t>(std::max(1u, threads), count));
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < threads; ++i)
    workers.emplace_back(work);
  work();
  for (std::thread &worker : workers)
    worker.join();
  ownLog.flush(stdout, stderr);
  if (auto asserted = ownLog.takeFailure(); !failure && !asserted)
    failure = asserted.failure().message;
  if (failure)
    return llvm::createStringError(*failure);
  return llvm::Error::success();
}
