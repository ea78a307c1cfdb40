//===- Program.cpp - compiling kernels at run time ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A kernel's key is the hash of the text of the root file and of all that it
// imports, of name, constants, options, compiler and assembler, and per image of
// the chip. The text of imports is found by parsing, which takes far less than a
// millisecond; on a hit in the disk cache nothing else of the compiler runs.
//
// SourceKernel is the CodeSource behind a Kernel: it learns the facts for a chip when the
// runtime asks for images, compiles a build when a launch first takes it, and keeps the
// `tile` module for the interpreter. The entry of a kernel in the disk cache has the facts
// and as many of the builds as have been compiled, by whatever process.
//
//===------------------------------------------------------------------------===//

#include "tilec/jit.h"

#include "tilec/Compiler/Compiler.h"
#include "tilec/Compiler/Version.h"
#include "tilec/Frontend/Diagnostics.h"
#include "tilec/Frontend/Parser.h"
#include "tilec/Interpreter/Interpreter.h"
#include "tilec/Support/DebugLog.h"
#include "tilec/JIT/CodeCache.h"
#include "tilec/Support/FailureError.h"
#include "tilec/Support/Files.h"
#include "tilec/Target/AssembleCubin.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

#include <map>
#include <mutex>

using namespace tilec;

namespace {
/// What does not change; kernels hold it too.
struct SourceText {
  std::string text, name;
  ProgramOptions options;
};
} // namespace

struct Program::State {
  std::shared_ptr<const SourceText> source;
  std::mutex mutex;
  std::map<std::string, Kernel> kernels; // by constants
};

//===-- Keys --------------------------------------------------------------------===//

namespace {
/// Files from disk, but for the root.
class RootTextLoader : public DiskFileLoader {
public:
  explicit RootTextLoader(const SourceText &program) : program(program) {}
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> load(llvm::StringRef path) override {
    if (path == program.name)
      return llvm::MemoryBuffer::getMemBufferCopy(program.text, program.name);
    return DiskFileLoader::load(path);
  }
  std::string canonicalPath(llvm::StringRef path) override {
    return path == program.name ? path.str() : DiskFileLoader::canonicalPath(path);
  }

private:
  const SourceText &program;
};

/// A hash over parts, each with its length, so that no two lists run together.
class KeyHash {
public:
  KeyHash &add(llvm::StringRef part) {
    hash.update(std::to_string(part.size()) + ":");
    hash.update(part);
    return *this;
  }
  std::string finish() { return llvm::toHex(hash.final(), /*LowerCase=*/true); }

private:
  llvm::SHA256 hash;
};
} // namespace

static CompileOptions compileOptions(const SourceText &program, llvm::StringRef kernel,
                                     llvm::ArrayRef<Constant> constants) {
  CompileOptions options;
  options.kernel = kernel.str();
  options.includeDirs = program.options.includeDirs;
  options.fastMath = program.options.fastMath;
  options.contract = program.options.contract;
  options.checked = program.options.checked;
  options.numWarps = program.options.numWarps;
  for (const Constant &c : constants)
    options.defines.push_back(options.kernel + "." + c.name + "=" + c.value);
  return options;
}

/// Hash of all that the code depends on, but for the chip. Empty when the source
/// does not parse: then compiling gives the messages.
static std::string contentKey(const SourceText &program, const CompileOptions &options) {
  SourceManager sources;
  StoredDiagnostics stored;
  DiagnosticEngine engine(sources, stored);
  RootTextLoader loader(program);
  ast::Context context;
  parseProgram({program.name}, context, sources, engine, loader,
               ParseOptions{options.includeDirs});
  if (engine.hasErrors())
    return "";
  KeyHash hash;
  hash.add(buildId()).add(identifyAssembler()).add(options.kernel);
  hash.add(llvm::Twine(options.fastMath).str()).add(llvm::Twine(options.contract).str());
  hash.add(llvm::Twine(options.numWarps).str()).add(llvm::Twine(options.checked).str());
  for (const std::string &define : options.defines)
    hash.add(define);
  for (FileId id = 0; id < sources.getNumFiles(); ++id)
    hash.add(sources.getFileName(id)).add(sources.getText(id));
  return hash.finish();
}

//===-- Kernels from source -----------------------------------------------------===//

namespace {
/// Interprets the kernel; holds the module that it lies in.
class InterpretedKernel : public HostKernel {
public:
  InterpretedKernel(std::shared_ptr<Compilation> compilation, tile::KernelOp kernel)
      : compilation(std::move(compilation)), kernel(kernel) {}
  tilec::Expected<void> run(std::span<const KernelArg> args, const Grid &grid) override {
    DebugLog log;
    InterpreterOptions options;
    options.log = &log;
    llvm::Error error =
        interpretKernel(kernel, llvm::ArrayRef(args.data(), args.size()), grid, options);
    log.flush(stdout, stderr);
    if (error)
      return toFailure(std::move(error));
    return log.takeFailure();
  }

private:
  std::shared_ptr<Compilation> compilation;
  tile::KernelOp kernel;
};

class SourceKernel : public CodeSource {
public:
  SourceKernel(std::shared_ptr<const SourceText> program, CompileOptions options)
      : program(std::move(program)), options(std::move(options)) {}

  /// Finds or compiles what info() needs.
  tilec::Expected<void> prepare();

  const KernelInfo &info() const override { return facts; }
  tilec::Expected<std::vector<const ModuleImage *>> images(int capability) override;
  tilec::Expected<const std::string *> object(const ModuleImage &image, unsigned index) override;
  void makeObjects(const ModuleImage &image) override;
  tilec::Expected<std::shared_ptr<HostKernel>> hostKernel() override;

private:
  /// What there is for a chip.
  struct ChipImage {
    const Chip *chip = nullptr;
    ModuleImage image;            ///< objects that are not there are empty
    std::optional<ChipCode> code; ///< where the compiler ran
    std::map<unsigned, Failure> failures; ///< of objects that cannot be made
  };

  Compilation &compilation();
  Failure messages();
  std::string keyFor(const Chip &chip) const;
  std::optional<ModuleImage> findInCache(const Chip &chip) const;
  tilec::Expected<const ModuleImage *> imageFor(const Chip &chip);
  ChipImage *find(const ModuleImage &image);
  void takeFromCache(ChipImage &known);
  void compile(ChipImage &known, llvm::ArrayRef<unsigned> indices);
  const KernelInfo *findFacts(const std::vector<KernelInfo> &kernels) const;

  std::shared_ptr<const SourceText> program;
  CompileOptions options;
  std::string key; // empty: not cached
  KernelInfo facts;
  std::shared_ptr<Compilation> compiled; // made when the cache does not help
  std::map<const Chip *, std::unique_ptr<ChipImage>> byChip;
};
} // namespace

/// The chip to check a program for where there is no GPU: the oldest.
static const Chip &chipWithoutGpu() { return allChips().front(); }

Compilation &SourceKernel::compilation() {
  if (!compiled) {
    compiled = std::make_shared<Compilation>(options);
    compiled->loadText(program->name, program->text);
  }
  return *compiled;
}

/// What the compiler has to say, as one failure.
Failure SourceKernel::messages() {
  std::string text;
  llvm::raw_string_ostream os(text);
  TextDiagnosticPrinter printer(compilation().sources(), os, /*color=*/false);
  compilation().printDiagnostics(printer);
  if (!compilation().internalError().empty())
    os << program->name << ": error: internal error in " << versionText() << ", "
       << compilation().internalError() << "\n";
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  if (text.empty())
    text = program->name + ": error: kernel `" + options.kernel + "` cannot be compiled";
  return Failure{std::move(text), options.kernel, {}, 0, {}};
}

const KernelInfo *SourceKernel::findFacts(const std::vector<KernelInfo> &kernels) const {
  for (const KernelInfo &info : kernels)
    if (info.name == options.kernel)
      return &info;
  return nullptr;
}

tilec::Expected<void> SourceKernel::prepare() {
  if (program->options.useDiskCache)
    key = contentKey(*program, options);
  const KernelInfo *found = nullptr;
  std::vector<KernelInfo> kernels;
  const Chip *chip = nullptr;
  if (Device::count() > 0)
    if (auto device = Device::tryGet(0))
      chip = findChipForDevice(static_cast<unsigned>(device->capability()));
  if (chip) {
    auto image = imageFor(*chip);
    if (!image)
      return image.failure();
    found = findFacts((*image)->kernels);
  } else {
    kernels = compilation().kernels(chipWithoutGpu());
    found = findFacts(kernels);
  }
  if (!found)
    return messages();
  facts = *found;
  return {};
}

/// Empty: nothing is cached.
std::string SourceKernel::keyFor(const Chip &chip) const {
  return key.empty() ? "" : KeyHash().add(key).add(chip.name).finish();
}

std::optional<ModuleImage> SourceKernel::findInCache(const Chip &chip) const {
  std::string chipKey = keyFor(chip);
  if (chipKey.empty())
    return std::nullopt;
  auto module = CodeCache::fromEnvironment().find(chipKey);
  if (!module || module->images.size() != 1 || module->images[0].arch != chip.name ||
      !findFacts(module->images[0].kernels))
    return std::nullopt;
  return std::move(module->images[0]);
}

tilec::Expected<const ModuleImage *> SourceKernel::imageFor(const Chip &chip) {
  std::unique_ptr<ChipImage> &slot = byChip[&chip];
  if (slot)
    return &slot->image;
  auto known = std::make_unique<ChipImage>();
  known->chip = &chip;
  if (auto cached = findInCache(chip)) {
    known->image = std::move(*cached);
  } else {
    known->code = compilation().prepareFor(chip);
    if (!known->code)
      return messages();
    known->image = known->code->image();
    if (std::string chipKey = keyFor(chip); !chipKey.empty())
      CodeCache::fromEnvironment().store(chipKey, ModuleFile{versionText(), {known->image}});
  }
  slot = std::move(known);
  return &slot->image;
}

SourceKernel::ChipImage *SourceKernel::find(const ModuleImage &image) {
  for (auto &[chip, known] : byChip)
    if (known && &known->image == &image)
      return known.get();
  return nullptr;
}

/// Takes an object that was made, and what the assembler said of its builds.
static void takeObject(ModuleImage &image, unsigned index, const std::string &object,
                       const std::vector<KernelInfo> &kernels) {
  image.objects[index] = object;
  for (auto [known, made] : llvm::zip(image.kernels, kernels))
    for (auto [build, from] : llvm::zip(known.builds, made.builds))
      if (build.object == index) {
        build.registers = from.registers;
        build.spillBytes = from.spillBytes;
      }
}

/// Adds objects that others have made.
void SourceKernel::takeFromCache(ChipImage &known) {
  ModuleImage &image = known.image;
  auto cached = findInCache(*known.chip);
  if (!cached || cached->objects.size() != image.objects.size())
    return;
  for (unsigned i = 0; i < image.objects.size(); ++i)
    if (image.objects[i].empty())
      takeObject(image, i, cached->objects[i], cached->kernels);
}

/// Makes objects that are in no cache, and notes why one cannot be made.
void SourceKernel::compile(ChipImage &known, llvm::ArrayRef<unsigned> indices) {
  if (!known.code)
    known.code = compilation().prepareFor(*known.chip);
  bool areGood = known.code && compilation().makeObjects(*known.code, indices);
  Failure why = areGood ? Failure() : messages();
  for (unsigned index : indices) {
    if (known.code)
      takeObject(known.image, index, known.code->objects[index], known.code->kernels);
    if (known.image.objects[index].empty())
      known.failures.emplace(index, why);
  }
  std::string chipKey = keyFor(*known.chip);
  if (chipKey.empty() || !areGood)
    return;
  takeFromCache(known);
  CodeCache::fromEnvironment().store(chipKey, ModuleFile{versionText(), {known.image}});
}

void SourceKernel::makeObjects(const ModuleImage &image) {
  ChipImage *known = find(image);
  auto missing = [&] {
    std::vector<unsigned> indices;
    for (unsigned i = 0; i < image.objects.size(); ++i)
      if (image.objects[i].empty() && !known->failures.contains(i))
        indices.push_back(i);
    return indices;
  };
  if (known && !missing().empty())
    takeFromCache(*known);
  if (known && !missing().empty())
    compile(*known, missing());
}

tilec::Expected<const std::string *> SourceKernel::object(const ModuleImage &image,
                                                          unsigned index) {
  ChipImage *known = find(image);
  const std::string &object = image.objects[index];
  if (known && object.empty())
    takeFromCache(*known);
  if (known && object.empty() && !known->failures.contains(index))
    compile(*known, index);
  if (known && object.empty())
    return known->failures.at(index);
  return &object;
}

tilec::Expected<std::vector<const ModuleImage *>> SourceKernel::images(int capability) {
  const Chip *chip = findChipForDevice(static_cast<unsigned>(capability));
  if (!chip)
    return failure(options.kernel + ": the GPU is older than " +
                   std::string(chipWithoutGpu().name));
  auto image = imageFor(*chip);
  if (!image)
    return image.failure();
  return std::vector<const ModuleImage *>{*image};
}

tilec::Expected<std::shared_ptr<HostKernel>> SourceKernel::hostKernel() {
  mlir::ModuleOp module = compilation().tileModule(chipWithoutGpu());
  if (!module)
    return messages();
  for (tile::KernelOp kernel : module.getOps<tile::KernelOp>())
    if (kernel.getSymName() == options.kernel)
      return std::shared_ptr<HostKernel>(std::make_shared<InterpretedKernel>(compiled, kernel));
  return messages();
}

//===-- Programs ----------------------------------------------------------------===//

tilec::Expected<Program> Program::tryFromSource(std::string text, std::string name,
                                                ProgramOptions options) {
  auto state = std::make_shared<State>();
  state->source = std::make_shared<const SourceText>(
      SourceText{std::move(text), std::move(name), std::move(options)});
  return Program(std::move(state));
}

tilec::Expected<Program> Program::tryFromFile(const std::string &path, ProgramOptions options) {
  auto text = readFile(path);
  if (!text)
    return text.failure();
  return tryFromSource(std::move(*text), path, std::move(options));
}

tilec::Expected<Kernel> Program::tryKernel(std::string_view name,
                                           std::span<const Constant> constants) const {
  std::lock_guard lock(state->mutex);
  CompileOptions options =
      compileOptions(*state->source, name, llvm::ArrayRef(constants.data(), constants.size()));
  KeyHash hash;
  hash.add(name);
  for (const std::string &define : options.defines)
    hash.add(define);
  std::string key = hash.finish();
  auto known = state->kernels.find(key);
  if (known != state->kernels.end())
    return known->second;
  auto source = std::make_shared<SourceKernel>(state->source, std::move(options));
  if (auto ok = source->prepare(); !ok)
    return ok.failure();
  return state->kernels.emplace(key, Kernel(std::move(source))).first->second;
}
