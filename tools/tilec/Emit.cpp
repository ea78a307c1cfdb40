//===- Emit.cpp - from one input to its outputs ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Everything is compiled before anything is written, and a file appears whole or
// not at all: it is written beside its place and renamed.
//
//===------------------------------------------------------------------------===//

#include "Emit.h"

#include "../StandardOutput.h"

#include "tilec/Compiler/HostCode.h"
#include "tilec/Compiler/ResourceUsage.h"
#include "tilec/Compiler/Version.h"
#include "tilec/Frontend/Diagnostics.h"
#include "tilec/Runtime/Device.h"
#include "tilec/Support/Files.h"
#include "tilec/Support/ModuleFile.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <map>

using llvm::StringRef;

namespace tilec::driver {

namespace {
/// One finished output.
struct Output {
  std::string path; ///< empty or `-`: standard output
  std::string data;
  bool binary = false;
};

class InputCompile {
public:
  InputCompile(const std::string &input, const CommandLine &line)
      : input(input), line(line), compilation(line.compile) {}
  int run();

private:
  int resolveChips();
  bool produce(const EmitRequest &request, Output &output);
  bool produceModule(std::string &bytes);
  bool produceForChip(const EmitRequest &request, Output &output);
  const ChipCode *codeFor(const Chip &chip, Stage last);
  const ChipCode *objectsFor(const Chip &chip);
  int failureStatus();
  void printMessages();
  void printResources();
  int write(const Output &output);
  int writeDepfile();
  int complain(const llvm::Twine &message, int status);

  const std::string &input;
  const CommandLine &line;
  Compilation compilation;
  std::vector<const Chip *> chips;
  std::map<std::pair<const Chip *, Stage>, std::optional<ChipCode>> codes;
};
} // namespace

int InputCompile::complain(const llvm::Twine &message, int status) {
  llvm::errs() << "tilec: error: " << message << "\n";
  return status;
}

/// Replaces `native` by the chip of device 0.
int InputCompile::resolveChips() {
  for (const Chip *chip : line.chips) {
    if (!chip) {
      if (Device::count() == 0)
        return complain("--gpu-arch=native: there is no GPU here; name a chip (" + chipNames() + ")", exitTool);
      chip = findChipForDevice(unsigned(Device::get(0).capability()));
      if (!chip)
        return complain("--gpu-arch=native: the GPU is older than sm_80", exitTool);
    }
    if (!llvm::is_contained(chips, chip))
      chips.push_back(chip);
  }
  return exitSuccess;
}

const ChipCode *InputCompile::codeFor(const Chip &chip, Stage last) {
  auto [it, isNew] = codes.try_emplace({&chip, last});
  if (isNew)
    it->second = compilation.compileFor(chip, last);
  return it->second ? &*it->second : nullptr;
}

/// What a module holds: all builds, or those of --builds.
const ChipCode *InputCompile::objectsFor(const Chip &chip) {
  if (line.builds.empty())
    return codeFor(chip, Stage::Objects);
  auto [it, isNew] = codes.try_emplace({&chip, Stage::Objects});
  if (!isNew)
    return it->second ? &*it->second : nullptr;
  auto isWanted = [&](uint8_t facts) { return llvm::is_contained(line.builds, buildKindName(facts)); };
  std::optional<ChipCode> code = compilation.prepareFor(chip, isWanted);
  if (!code)
    return nullptr;
  std::vector<unsigned> wanted;
  llvm::SmallSetVector<StringRef, 6> kinds;
  for (const KernelInfo &kernel : code->kernels)
    for (const BuildInfo &build : kernel.builds) {
      kinds.insert(buildKindName(build.facts));
      if (isWanted(build.facts))
        wanted.push_back(build.object);
    }
  if (wanted.empty() && !kinds.empty()) {
    complain("no kernel of `" + input + "` has such builds for " + std::string(chip.name) +
                 "; there are " + llvm::join(kinds, ", "),
             exitInput);
    return nullptr;
  }
  if (compilation.makeObjects(*code, wanted))
    it->second = std::move(code);
  return it->second ? &*it->second : nullptr;
}

static std::optional<Stage> stageOf(StringRef kind) {
  for (Stage stage : {Stage::AST, Stage::Tile, Stage::LaidOut, Stage::Staged, Stage::SIMT, Stage::LLVM,
                      Stage::PTX, Stage::Cubin})
    if (stageName(stage) == kind)
      return stage;
  return std::nullopt;
}

bool InputCompile::produce(const EmitRequest &request, Output &output) {
  output.path = request.path;
  if (request.kind == "ast") {
    auto text = compilation.printAST();
    output.data = text.value_or("");
    return text.has_value();
  }
  if (request.kind == "module" || request.kind == "obj") {
    output.binary = true;
    if (!produceModule(output.data))
      return false;
    if (request.kind == "obj")
      output.data = *writeHostObject(moduleNameOf(input), output.data);
    return true;
  }
  if (request.kind == "header") {
    const ChipCode *code = objectsFor(*chips.front());
    if (code)
      output.data = printHostHeader(moduleNameOf(input), input, code->kernels);
    return code;
  }
  return produceForChip(request, output);
}

bool InputCompile::produceModule(std::string &bytes) {
  ModuleFile module;
  module.producer = versionText();
  for (const Chip *chip : chips) {
    const ChipCode *code = objectsFor(*chip);
    if (!code)
      return false;
    module.images.push_back(code->image());
  }
  bytes = writeModule(module);
  return true;
}

bool InputCompile::produceForChip(const EmitRequest &request, Output &output) {
  const Chip &chip = *chips.front();
  if (request.kind == "json") {
    const ChipCode *code = codeFor(chip, Stage::PTX);
    if (!code)
      return false;
    for (const KernelInfo &kernel : code->kernels)
      output.data += toJson(kernel) + "\n";
    return true;
  }
  if (request.kind == "layout") {
    auto text = compilation.printLayouts(chip, line.layoutOf);
    output.data = text.value_or("");
    return text.has_value();
  }
  Stage stage = *stageOf(request.kind);
  const ChipCode *code = codeFor(chip, stage);
  if (!code)
    return false;
  output.data = stage == Stage::PTX ? code->ptx : stage == Stage::Cubin ? code->cubin : code->text;
  output.binary = stage == Stage::Cubin;
  return true;
}

void InputCompile::printMessages() {
  if (line.jsonDiagnostics) {
    JSONDiagnosticPrinter printer(compilation.sources(), llvm::errs());
    compilation.printDiagnostics(printer);
  } else {
    TextDiagnosticPrinter printer(compilation.sources(), llvm::errs(), line.color);
    compilation.printDiagnostics(printer);
  }
}

int InputCompile::failureStatus() {
  if (compilation.toolFailed())
    return exitTool;
  if (compilation.internalError().empty())
    return exitInput;
  complain("internal error in " + versionText() + ", " + compilation.internalError(), exitInternal);
  llvm::errs() << "tilec: note: this is a bug in tilec; the program that shows it is `" << input << "`\n";
  return exitInternal;
}

void InputCompile::printResources() {
  for (const Chip *chip : chips)
    if (const ChipCode *code = codes.contains({chip, Stage::Cubin}) ? codeFor(*chip, Stage::Cubin)
                                                                    : objectsFor(*chip)) {
      bool isHere = Device::count() > 0 &&
                    unsigned(Device::get(0).capability()) == chip->computeCapability;
      printResourceUsage(*code, isHere ? unsigned(Device::get(0).numSMs()) : 0,
                         line.jsonDiagnostics, llvm::errs());
    }
}

int InputCompile::write(const Output &output) {
  bool toStdout = output.path.empty() || output.path == "-";
  if (toStdout && output.binary && llvm::sys::Process::StandardOutIsDisplayed())
    return complain("this output is binary and standard output is a terminal; use -o <file>", exitUsage);
  if (toStdout) {
    llvm::outs() << output.data;
    return endOutput("tilec", exitSuccess);
  }
  if (llvm::sys::fs::is_directory(output.path))
    return complain("cannot write `" + output.path + "`: it is a directory", exitInput);
  auto ok = replaceFile(output.path, output.data);
  if (ok)
    return exitSuccess;
  StringRef why = ok.failure().message;
  why.consume_front(output.path + ": ");
  return complain("cannot write `" + output.path + "`: " + why.str(), exitInput);
}

int InputCompile::writeDepfile() {
  std::string output = line.emits.front().path;
  Output depfile;
  depfile.path = line.depfile;
  if (depfile.path.empty()) {
    llvm::SmallString<128> path(output.empty() || output == "-" ? input : output);
    llvm::sys::path::replace_extension(path, ".d");
    depfile.path = path.str().str();
  }
  auto escaped = [](StringRef path) {
    std::string text;
    for (char c : path) {
      if (c == ' ' || c == '#')
        text += '\\';
      text += c == '$' ? "$$" : std::string(1, c);
    }
    return text;
  };
  depfile.data = escaped(line.depfileTarget.empty() ? output : line.depfileTarget) + ":";
  for (const std::string &file : compilation.dependencies())
    depfile.data += " " + escaped(file);
  depfile.data += "\n";
  return write(depfile);
}

int InputCompile::run() {
  for (StringRef option : line.warningOptions)
    compilation.diagnostics().setWarningOption(option);
  compilation.diagnostics().setMaxErrors(line.maxErrors);
  if (int status = resolveChips())
    return status;
  bool onlyOneChip = llvm::any_of(line.emits, [](const EmitRequest &e) {
    return e.kind != "module" && e.kind != "obj" && e.kind != "header" && e.kind != "ast";
  });
  if (chips.size() > 1 && onlyOneChip)
    return complain("several chips fit in one output only with --emit=module or --emit=obj", exitUsage);
  bool wantsObject = llvm::any_of(line.emits, [](const EmitRequest &e) { return e.kind == "obj"; });
  if (wantsObject && !writeHostObject("", ""))
    return complain("--emit=obj: there are objects for x86-64 and AArch64 with ELF only; use --emit=module", exitUsage);
  if (StringRef(input).ends_with(".mlir")) {
    if (!compilation.loadTileModule(input)) {
      printMessages();
      return exitInput;
    }
  } else {
    compilation.loadFile(input);
  }
  std::vector<Output> outputs;
  for (const EmitRequest &request : line.emits)
    if (!produce(request, outputs.emplace_back())) {
      printMessages();
      return failureStatus();
    }
  if (line.resourceUsage)
    printResources();
  printMessages();
  for (const Output &output : outputs)
    if (int status = write(output))
      return status;
  return line.writeDepfile ? writeDepfile() : exitSuccess;
}

/// What was made for an input is never freed: the program is about to end.
int compileInput(const std::string &input, const CommandLine &line) {
  return (new InputCompile(input, line))->run();
}

} // namespace tilec::driver
