//===- tile-bench.cpp - measures the examples beside their peers -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
//   tile-bench                                      all subjects, all shapes
//   tile-bench matmul-bf16 --shape=4096x4096x4096 --json=r.json --svg=r.svg
//   tile-bench --peers=tools/scripts/bench/tile_bench_peers.py softmax
//   tile-bench --list
//
// Subjects are the plain kernels of test/Examples (Subjects.cpp), compiled here and
// launched through the runtime. cuBLASLt runs in this process, on the same data;
// PyTorch, Triton and cuTile in a script, right after each other. Exit codes: 0; 1 a
// wrong result or a file; 2 bad usage; 3 no GPU or a failing script.
//
//===------------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Gpu.h"
#include "Roofline.h"

#include "../StandardOutput.h"

#include "tilec/Compiler/Version.h"
#include "tilec/Support/Files.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace tilec;
using namespace tilec::bench;

static int fail(int code, const llvm::Twine &message) {
  llvm::errs() << "tile-bench: error: " << message << "\n";
  return code;
}

static void printList(const CommandLine &line) {
  for (const Subject *subject : line.subjects) {
    llvm::outs() << subject->name << ": " << subject->summary << " (" << subject->file << ", "
                 << dtypeName(subject->dtype) << ")\n  " << sizeNames(subject->work) << ":";
    for (const Sizes &sizes : subject->shapes)
      llvm::outs() << " " << makeProblem(*subject, sizes)->shapeText();
    llvm::outs() << "\n";
    for (std::string_view tile : subject->tiles)
      if (!tile.empty())
        llvm::outs() << "  " << tile << "\n";
  }
}

/// Writes a file as `print` says.
static int writeFile(const std::string &path, llvm::function_ref<void(llvm::raw_ostream &)> print) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  if (auto ok = replaceFile(path, text); !ok)
    return fail(exitInput, ok.failure().message);
  return exitSuccess;
}

/// Lets the script measure all rows and merges what it found.
static int runPeers(const std::string &script, Results &results) {
  llvm::SmallString<128> asked, answer;
  if (llvm::sys::fs::createTemporaryFile("tile-bench", "json", asked) ||
      llvm::sys::fs::createTemporaryFile("tile-bench", "json", answer))
    return fail(exitInput, "no temporary file for --peers");
  llvm::FileRemover removeAsked(asked), removeAnswer(answer);
  if (int status = writeFile(asked.str().str(), [&](auto &os) { os << bench::toJSON(results); }))
    return status;
  auto python = llvm::sys::findProgramByName("python3");
  if (!python)
    return fail(exitTool, "--peers needs python3, which is not on PATH");
  std::string error;
  if (int code = llvm::sys::ExecuteAndWait(*python, {*python, script, asked, answer}, std::nullopt, {}, 0, 0,
                                           &error))
    return fail(exitTool, script + " fails with " + llvm::Twine(code) + (error.empty() ? "" : ": " + error));
  auto text = llvm::MemoryBuffer::getFile(answer);
  if (!text)
    return fail(exitTool, script + " wrote nothing");
  if (auto merged = mergePeers((*text)->getBuffer(), results); !merged)
    return fail(exitTool, script + ": " + merged.failure().message);
  return exitSuccess;
}

static int measureCeilings(Gpu &gpu, Results &results) {
  auto copy = gpu.copyBytesPerSecond();
  if (!copy)
    return fail(exitTool, copy.failure().message);
  results.copyBytesPerSecond = *copy;
  for (DType dtype : {DType::BF16, DType::F8E4M3}) {
    auto ceiling = gpu.productCeiling(dtype);
    if (ceiling)
      results.ceilings.push_back(*ceiling);
    else // an older chip has no products of f8
      llvm::errs() << "tile-bench: " << ceiling.failure().message << "\n";
  }
  return exitSuccess;
}

static std::vector<Problem> allProblems(const CommandLine &line) {
  std::vector<Problem> problems;
  for (const Subject *subject : line.subjects) {
    std::vector<Sizes> shapes = line.shapes.empty() ? subject->shapes : line.shapes;
    if (line.onlyFirstShape)
      shapes.resize(1);
    for (const Sizes &sizes : shapes)
      problems.push_back(*makeProblem(*subject, sizes));
  }
  return problems;
}

/// All rows, printed as they are measured; a device that fails ends it.
static int measureAll(const CommandLine &line, Gpu &gpu, Results &results) {
  std::vector<Problem> problems = allProblems(line);
  gpu.compile(problems);
  for (const Problem &problem : problems) {
    auto row = gpu.measure(problem);
    if (!row)
      return fail(exitTool, std::string(problem.subject->name) + ": " + row.failure().message);
    printRow(llvm::outs(), *row);
    llvm::outs().flush();
    results.rows.push_back(std::move(*row));
  }
  if (line.peersScript.empty())
    return exitSuccess;
  if (int status = runPeers(line.peersScript, results))
    return status;
  llvm::outs() << "with the peers of " << line.peersScript << ":\n";
  for (const Row &row : results.rows)
    printRow(llvm::outs(), row);
  return exitSuccess;
}

static int run(const CommandLine &line) {
  MeasureOptions options{line.examples, line.cublasLt, line.usePeers, line.seconds, line.tiles};
  auto gpu = Gpu::open(options);
  if (!gpu)
    return fail(exitTool, gpu.failure().message);
  Results results;
  results.version = versionText();
  results.device = (*gpu)->name();
  if (line.usePeers)
    llvm::errs() << "tile-bench: peer: " << (*gpu)->peerText() << "\n";
  if (line.measureCeilings)
    if (int status = measureCeilings(**gpu, results))
      return status;
  printHeader(llvm::outs(), results);
  int status = measureAll(line, **gpu, results);
  if (!line.json.empty() && writeFile(line.json, [&](auto &os) { os << bench::toJSON(results) << "\n"; }))
    status = exitInput;
  if (!line.svg.empty() && writeFile(line.svg, [&](auto &os) { printRoofline(os, results); }))
    status = exitInput;
  for (const Row &row : results.rows) // every subject has a build that is right
    for (const Entry &entry : row.entries)
      if (entry.who == ourName && !entry.wrong.empty() && !status)
        status = exitInput;
  return status;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  CommandLine line;
  if (int status = line.parse(llvm::ArrayRef<const char *>(argv + 1, argv + argc), llvm::errs()))
    return status;
  int status = exitSuccess;
  if (line.showHelp)
    bench::printHelp(llvm::outs());
  else if (line.showVersion)
    llvm::outs() << versionText() << "\n";
  else if (line.showList)
    printList(line);
  else
    status = run(line);
  return endOutput("tile-bench", status);
}
