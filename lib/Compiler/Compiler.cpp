//===- Compiler.cpp - source to any stage, as a library -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Puts the stages together: parse, check, generate, the MLIR pipelines, LLVM, PTX,
// assembler. Messages of later stages come back as diagnostics at the source
// location that the IR carries; what points at a bug of ours is kept apart.
//
//===------------------------------------------------------------------------===//

#include "tilec/Compiler/Compiler.h"

#include "Layouts.h"
#include "RemarkCollector.h"
#include "SideBySide.h"
#include "Verification.h"

#include "tilec/Compiler/KernelFacts.h"
#include "tilec/Compiler/Pipelines.h"
#include "tilec/Compiler/RegisterAll.h"
#include "tilec/Frontend/AST.h"
#include "tilec/Frontend/Diagnostics.h"
#include "tilec/Frontend/Parser.h"
#include "tilec/Frontend/Sema.h"
#include "tilec/IRGen/IRGen.h"
#include "tilec/Target/AssembleCubin.h"
#include "tilec/Target/EmitPTX.h"
#include "tilec/Target/JoinPTX.h"
#include "tilec/Tile/KernelHints.h"
#include "tilec/Tile/Remarks.h"
#include "tilec/TileGPU/SharedBuffers.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Threading.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/Timer.h"

#include <map>

using namespace mlir;

namespace tilec {

llvm::StringRef stageName(Stage stage) {
  constexpr llvm::StringLiteral names[] = {"ast",  "tile", "laid-out", "staged",
                                           "simt", "llvm", "ptx",      "cubin", "module"};
  return names[unsigned(stage)];
}

//===------------------------------------------------------------------------===//
// State
//===------------------------------------------------------------------------===//

namespace {
/// Files from disk, and the root text where it was given as text.
class RootedFileLoader : public DiskFileLoader {
public:
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> load(StringRef path) override {
    if (rootText && path == rootName)
      return llvm::MemoryBuffer::getMemBufferCopy(*rootText, rootName);
    return DiskFileLoader::load(path);
  }
  std::string canonicalPath(StringRef path) override {
    return rootText && path == rootName ? path.str() : DiskFileLoader::canonicalPath(path);
  }
  std::optional<std::string> rootText;
  std::string rootName;
};
} // namespace

/// Says by its facts whether a build is wanted now; null: none is.
using WantedBuilds = llvm::function_ref<bool(uint8_t facts)>;

struct Compilation::State {
  explicit State(CompileOptions given) : options(std::move(given)), engine(sources, stored) {
    DialectRegistry registry;
    registerAllDialects(registry);
    context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    context->printOpOnDiagnostic(false);
    if (options.remarks)
      remarks.listen(*context, options.remarkNames);
  }

  bool parse();
  ModuleOp tileFor(const Chip &chip);
  LogicalResult runPasses(ModuleOp module, StringRef stage,
                          llvm::function_ref<void(OpPassManager &)> add);
  std::optional<ChipCode> lower(ModuleOp module, const Chip &chip, Stage last,
                                const WantedBuilds *wanted = nullptr);
  bool useThreads();
  bool emitSideBySide(ModuleOp module, ChipCode &code, Stage last);
  bool prepareSideBySide(ModuleOp module, ChipCode &code, WantedBuilds isWanted);
  void reportBuild(const BuildCode &build, unsigned errorsBefore);
  bool emitCode(ModuleOp module, ChipCode &code, Stage last);
  bool assemble(ChipCode &code, std::unique_ptr<Assembler> assembler);
  void announceAssembler(const ChipCode &code);
  void noteAssembly(ChipCode &code, Cubin &cubin);
  SourceRange rangeOf(Location loc);
  void reportMLIR(const mlir::Diagnostic &diagnostic);
  void reportHints(ModuleOp module);
  void explainAssembly(const ChipCode &code);
  void reportInternal(StringRef stage, llvm::Error error);

  CompileOptions options;
  SourceManager sources;
  StoredDiagnostics stored;
  DiagnosticEngine engine;
  RootedFileLoader loader;
  std::string root;
  ast::Context astContext;
  std::optional<ast::Program> program;
  RemarkCollector remarks{[this](Location loc) { return rangeOf(loc); }};
  /// Where each hint of a kernel stands, by kernel and `hint` or `chip.hint`.
  std::map<std::pair<std::string, std::string>, SourceRange> hintRanges;
  std::map<std::string, SourceRange> kernelRanges; ///< of the name
  std::unique_ptr<llvm::DefaultThreadPool> threads; ///< of the context
  std::unique_ptr<MLIRContext> context;
  /// The `tile` module by compute capability, which source can ask for.
  std::map<unsigned, OwningOpRef<ModuleOp>> tileModules;
  OwningOpRef<ModuleOp> loadedModule;
  bool toolFailed = false;
  std::string internalError;
};

Compilation::Compilation(CompileOptions options) : state(std::make_unique<State>(std::move(options))) {}
Compilation::~Compilation() = default;
Compilation::Compilation(Compilation &&) noexcept = default;

DiagnosticEngine &Compilation::diagnostics() { return state->engine; }
bool Compilation::toolFailed() const { return state->toolFailed; }
const std::string &Compilation::internalError() const { return state->internalError; }
const CompileOptions &Compilation::options() const { return state->options; }

void Compilation::printDiagnostics(DiagnosticConsumer &consumer) {
  state->remarks.report(state->engine);
  for (const Diagnostic &diagnostic : state->stored.list)
    consumer.handle(diagnostic);
  state->stored.list.clear();
}
const SourceManager &Compilation::sources() const { return state->sources; }

std::vector<std::string> Compilation::dependencies() const {
  std::vector<std::string> files;
  for (FileId id = 0; id < state->sources.getNumFiles(); ++id)
    // Text of the command line and of standard input is in no file.
    if (StringRef name = state->sources.getFileName(id); !name.starts_with("<") && name != "-")
      files.push_back(name.str());
  return files;
}

//===------------------------------------------------------------------------===//
// Front end
//===------------------------------------------------------------------------===//

void Compilation::loadFile(StringRef path) { state->root = path.str(); }

void Compilation::loadText(StringRef name, StringRef text) {
  state->root = state->loader.rootName = name.str();
  state->loader.rootText = text.str();
}

bool Compilation::loadTileModule(StringRef path) {
  ScopedDiagnosticHandler handler(state->context.get(), [&](mlir::Diagnostic &d) { state->reportMLIR(d); });
  auto buffer = state->loader.load(path);
  if (!buffer) {
    state->engine.report(diag::file_not_read, {}, path, buffer.getError().message());
    return false;
  }
  state->sources.addText(path, (*buffer)->getBuffer());
  llvm::SourceMgr manager;
  manager.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy((*buffer)->getBuffer(), path), {});
  state->loadedModule = parseSourceFile<ModuleOp>(manager, state->context.get());
  return bool(state->loadedModule);
}

bool Compilation::State::parse() {
  if (!program) {
    ParseOptions parseOptions{options.includeDirs};
    program = parseProgram({root}, astContext, sources, engine, loader, parseOptions);
    if (!engine.hasErrors() && !options.specializations.empty())
      addSpecializations(options.specializations, *program, astContext, sources, engine);
  }
  return !engine.hasErrors();
}

std::optional<std::string> Compilation::printAST() {
  if (!state->parse())
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream os(text);
  ast::print(*state->program, os);
  return text;
}

ModuleOp Compilation::tileModule(const Chip &chip) { return state->tileFor(chip); }

ModuleOp Compilation::State::tileFor(const Chip &chip) {
  if (loadedModule)
    return *loadedModule;
  if (!parse())
    return {};
  auto [it, isNew] = tileModules.try_emplace(chip.computeCapability);
  if (!isNew)
    return it->second ? *it->second : ModuleOp();
  CheckOptions checkOptions;
  checkOptions.defines = options.defines;
  checkOptions.kernel = options.kernel;
  checkOptions.arch = int(chip.computeCapability);
  auto checked = check(*program, engine, checkOptions);
  if (!checked)
    return {};
  for (const auto &kernel : checked->kernels) {
    kernelRanges[kernel->name.str()] = SourceRange(kernel->range.begin);
    for (const checked::Hint &hint : kernel->hints)
      hintRanges[{kernel->name.str(), tile::hintKey(hint.arch, hint.name)}] = hint.range;
  }
  IRGenOptions generation{options.fastMath, options.contract, options.checked};
  OwningOpRef<ModuleOp> module = generateIR(*context, *checked, sources, generation);
  // Nothing is known of the launch yet; SplitBuilds makes the builds that rely on it.
  for (tile::KernelOp kernel : module->getOps<tile::KernelOp>())
    kernel.setArraysOverlap(true);
  remarks.endChip();
  auto add = [&](OpPassManager &passes) { addTilePasses(passes, options); };
  if (failed(runPasses(*module, "tile", add)))
    return {};
  it->second = std::move(module);
  return *it->second;
}

std::vector<KernelInfo> Compilation::kernels(const Chip &chip) {
  std::vector<KernelInfo> result;
  if (ModuleOp module = tileModule(chip))
    for (tile::KernelOp kernel : module.getOps<tile::KernelOp>())
      result.push_back(describeKernel(kernel));
  return result;
}

//===------------------------------------------------------------------------===//
// MLIR stages
//===------------------------------------------------------------------------===//

/// A message of a later stage as a program spells things: `f32[64, 32]` for
/// 'tensor<64x32xf32>', and backquotes.
static std::string inSourceSpelling(StringRef message) {
  static const llvm::Regex tensor("tensor<(([0-9]+x)+)([A-Za-z0-9]+)>");
  std::string result = message.str();
  SmallVector<StringRef, 4> parts;
  while (tensor.match(result, &parts)) {
    std::string dims = llvm::join(llvm::split(parts[1].drop_back(), 'x'), ", ");
    StringRef dtype = llvm::StringSwitch<StringRef>(parts[3])
                          .Case("i1", "bool")
                          .Case("index", "int")
                          .Case("f8E4M3FN", "f8e4m3")
                          .Case("f8E5M2", "f8e5m2")
                          .Default(parts[3]);
    std::string spelled = (dtype + "[" + dims + "]").str();
    result.replace(parts[0].data() - result.data(), parts[0].size(), spelled);
  }
  std::replace(result.begin(), result.end(), '\'', '`');
  return result;
}

SourceRange Compilation::State::rangeOf(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  int file = place ? sources.findFile(place.getFilename().getValue()) : -1;
  if (file < 0)
    return {};
  return SourceRange(sources.getLoc(FileId(file), place.getLine(), place.getColumn()));
}

void Compilation::State::reportMLIR(const mlir::Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return;
  auto builder = engine.report(diag::chip_limit, rangeOf(diagnostic.getLocation()),
                               inSourceSpelling(diagnostic.str()));
  for (const mlir::Diagnostic &note : diagnostic.getNotes())
    builder.note(rangeOf(note.getLocation()), inSourceSpelling(note.str()));
}

/// A hint that no build of its kernel can follow is worth a word.
void Compilation::State::reportHints(ModuleOp module) {
  std::map<std::string, DictionaryAttr> declined;
  for (tile::KernelOp kernel : module.getOps<tile::KernelOp>()) {
    auto name = kernel->getAttrOfType<StringAttr>("tile.kernel");
    auto own = kernel->getAttrOfType<DictionaryAttr>(tile::declinedHintsAttr);
    auto [it, isNew] = declined.try_emplace(
        name ? name.str() : kernel.getSymName().str(),
        own ? own : DictionaryAttr::get(context.get()));
    if (isNew)
      continue;
    NamedAttrList both;
    for (NamedAttribute hint : it->second)
      if (own && own.get(hint.getName()))
        both.append(hint);
    it->second = both.getDictionary(context.get());
  }
  std::vector<std::pair<SourceRange, NamedAttribute>> found;
  for (auto &[kernel, hints] : declined)
    for (NamedAttribute hint : hints) {
      auto range = hintRanges.find({kernel, hint.getName().str()});
      found.push_back({range == hintRanges.end() ? SourceRange() : range->second, hint});
    }
  llvm::sort(found, [](auto &a, auto &b) { return a.first.begin < b.first.begin; });
  for (auto &[range, hint] : found) {
    StringRef key = hint.getName();
    engine.report(diag::hint_not_followed, range, key.substr(key.find('.') + 1),
                  cast<StringAttr>(hint.getValue()).getValue());
  }
}

void Compilation::State::reportInternal(StringRef stage, llvm::Error error) {
  internalError = ("stage " + stage + ": " + llvm::toString(std::move(error))).str();
}

LogicalResult Compilation::State::runPasses(ModuleOp module, StringRef stage,
                                            llvm::function_ref<void(OpPassManager &)> add) {
  ScopedDiagnosticHandler handler(context.get(), [&](mlir::Diagnostic &d) { reportMLIR(d); });
  PassManager passes(context.get(), ModuleOp::getOperationName());
  auto printThis = [&](Pass *pass, Operation *) {
    StringRef flag = pass->getArgument();
    flag.consume_front("tile-");
    return options.printAfterAll || llvm::is_contained(options.printAfter, flag.str());
  };
  if (options.printBeforeAll || options.printAfterAll || !options.printAfter.empty())
    passes.enableIRPrinting([&](Pass *, Operation *) { return options.printBeforeAll; }, printThis,
                            /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/false,
                            /*printAfterOnlyOnFailure=*/false, llvm::errs());
  if (options.timePasses)
    passes.enableTiming();
  add(passes);
  unsigned before = engine.getNumErrors();
  if (succeeded(runVerified(passes, module)))
    return success();
  if (engine.getNumErrors() == before)
    reportInternal(stage, llvm::createStringError("a pass failed without a message"));
  return mlir::failure();
}

static std::string printModule(Operation *module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  module->print(os, flags);
  os << "\n";
  return text;
}

//===------------------------------------------------------------------------===//
// To one chip
//===------------------------------------------------------------------------===//

std::optional<ChipCode> Compilation::compileFor(const Chip &chip, Stage last) {
  ModuleOp tileStage = state->tileFor(chip);
  if (!tileStage)
    return std::nullopt;
  OwningOpRef<ModuleOp> module(tileStage.clone());
  return state->lower(*module, chip, last);
}

std::optional<ChipCode> Compilation::prepareFor(const Chip &chip, WantedBuilds isWanted) {
  ModuleOp tileStage = state->tileFor(chip);
  if (!tileStage)
    return std::nullopt;
  OwningOpRef<ModuleOp> module(tileStage.clone());
  return state->lower(*module, chip, Stage::Objects, &isWanted);
}

bool Compilation::makeObjects(ChipCode &code, ArrayRef<unsigned> indices) {
  unsigned before = state->engine.getNumErrors();
  bool isAssembled = code.objectKind == ImageKind::Cubin, areGood = true;
  std::vector<BuildCode *> builds;
  for (unsigned index : indices)
    if (code.objects[index].empty() && code.pending[index]->module) // what failed is not tried again
      builds.push_back(code.pending[index].get());
  parallelForEach(state->context.get(), builds, [&](BuildCode *build) {
    finishBuild(*build, state->options, *code.chip, isAssembled);
  });
  for (BuildCode *build : builds) {
    state->reportBuild(*build, before);
    if (!build->isGood())
      continue;
    state->noteAssembly(code, build->cubin);
    code.objects[build->index] = isAssembled ? build->cubin.image : build->ptx;
  }
  for (unsigned index : indices)
    areGood &= !code.objects[index].empty();
  return areGood;
}

std::optional<std::string> Compilation::printLayouts(const Chip &chip,
                                                     llvm::ArrayRef<std::string> of) {
  ModuleOp tileStage = state->tileFor(chip);
  if (!tileStage)
    return std::nullopt;
  std::vector<NamedExpression> names;
  if (state->program)
    names = namedExpressions(*state->program);
  std::vector<LayoutChoice> choices;
  for (const std::string &text : of) {
    LayoutChoice &choice = choices.emplace_back();
    choice.text = text;
    if (StringRef(text).getAsInteger(10, choice.line))
      for (const NamedExpression &named : names)
        if (named.name == text)
          choice.places.push_back(named.range);
  }
  OwningOpRef<ModuleOp> module(tileStage.clone());
  auto add = [&](OpPassManager &passes) { addLaidOutPasses(passes, state->options, chip); };
  if (failed(state->runPasses(*module, "laid-out", add)))
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream os(text);
  auto rangeOf = [&](Location loc) { return state->rangeOf(loc); };
  std::vector<std::string> missing =
      tilec::printLayouts(*module, choices, rangeOf, state->sources, os);
  for (const std::string &name : missing)
    state->engine.report(diag::no_such_tile, {}, name)
        .help("it is a variable, an array parameter or the number of a line; what a variable "
              "names may have become part of another operation");
  return missing.empty() ? std::optional(text) : std::nullopt;
}

static std::map<std::string, std::vector<BufferUsage>> collectBuffers(ModuleOp module) {
  std::map<std::string, std::vector<BufferUsage>> result;
  for (tile::KernelOp kernel : module.getOps<tile::KernelOp>())
    for (const tgpu::SharedBuffer &buffer : tgpu::sharedBuffersOf(kernel)) {
      auto place = buffer.op->getLoc()->findInstanceOf<FileLineColLoc>();
      result[kernel.getSymName().str()].push_back(
          {buffer.what, buffer.bytes, buffer.places, place ? place.getLine() : 0});
    }
  return result;
}

/// Lets the context have threads, of which the builds of kernels make use. Not where what
/// passes say comes in the order in which they run.
bool Compilation::State::useThreads() {
  constexpr unsigned enough = 8; // there are seldom more builds
  if (options.remarks || options.timePasses || options.printBeforeAll || options.printAfterAll ||
      !options.printAfter.empty())
    return false;
  if (!threads) {
    llvm::ThreadPoolStrategy strategy = llvm::hardware_concurrency(enough);
    strategy.Limit = true;
    threads = std::make_unique<llvm::DefaultThreadPool>(strategy);
    context->setThreadPool(*threads);
  }
  return true;
}

std::optional<ChipCode> Compilation::State::lower(ModuleOp module, const Chip &chip, Stage last,
                                                  const WantedBuilds *wanted) {
  ChipCode code;
  bool isThreaded = useThreads();
  code.chip = &chip;
  remarks.beginChip(chip);
  for (tile::KernelOp kernel : module.getOps<tile::KernelOp>()) {
    code.kernels.push_back(describeKernel(kernel));
    code.kernels.back().arch = chip.name;
  }
  using Add = void (*)(OpPassManager &, const CompileOptions &, const Chip &);
  const std::pair<Stage, Add> steps[] = {{Stage::LaidOut, addLaidOutPasses},
                                         {Stage::Staged, addStagedPasses},
                                         {Stage::SIMT, addSIMTPasses}};
  for (auto [stage, add] : steps) {
    if (last < stage || (stage == Stage::SIMT && last >= Stage::PTX && isThreaded))
      break;
    auto addAll = [&, add = add](OpPassManager &passes) { add(passes, options, chip); };
    if (failed(runPasses(module, stageName(stage), addAll)))
      return std::nullopt;
    if (stage == Stage::LaidOut)
      remarks.learnBuilds(module);
    if (stage == Stage::Staged) {
      reportHints(module);
      if (engine.hasErrors()) // -Werror
        return std::nullopt;
      code.buffers = collectBuffers(module);
    }
  }
  if (last <= Stage::SIMT) {
    code.text = printModule(module);
    return code;
  }
  if (last == Stage::Objects && hasAssembler())
    code.objectKind = ImageKind::Cubin;
  bool isGood;
  if (isThreaded && wanted)
    isGood = prepareSideBySide(module, code, *wanted);
  else if (isThreaded && last >= Stage::PTX)
    isGood = emitSideBySide(module, code, last);
  else
    isGood = emitCode(module, code, last);
  return isGood ? std::optional(std::move(code)) : std::nullopt;
}

/// Says what went wrong in a build, unless there was an error before: one is enough.
void Compilation::State::reportBuild(const BuildCode &build, unsigned errorsBefore) {
  for (const mlir::Diagnostic &message : build.messages)
    reportMLIR(message);
  if (build.isGood() || !internalError.empty() || engine.getNumErrors() != errorsBefore)
    return;
  if (build.toolError.empty())
    return reportInternal(build.failedStage, llvm::createStringError(build.internalError));
  toolFailed = true;
  SourceRange place;
  for (const KernelInfo &kernel : build.kernels)
    if (!kernel.builds.empty())
      place = kernelRanges[kernel.name];
  engine.report(diag::external_tool, place, build.toolError);
}

bool Compilation::State::prepareSideBySide(ModuleOp module, ChipCode &code, WantedBuilds isWanted) {
  unsigned before = engine.getNumErrors();
  bool isAssembled = code.objectKind == ImageKind::Cubin;
  auto isFinished = [&](uint8_t facts) { return isWanted && isWanted(facts); };
  for (BuildCode &build :
       compileSideBySide(module, options, *code.chip, code.kernels, isAssembled, isFinished)) {
    reportBuild(build, before);
    addBuilds(code.kernels, build.kernels);
    code.objects.push_back(isAssembled ? build.cubin.image : build.ptx);
    code.pending.push_back(std::make_shared<BuildCode>(std::move(build)));
  }
  for (const std::shared_ptr<BuildCode> &build : code.pending)
    noteAssembly(code, build->cubin);
  return internalError.empty() && engine.getNumErrors() == before;
}

bool Compilation::State::emitSideBySide(ModuleOp module, ChipCode &code, Stage last) {
  unsigned before = engine.getNumErrors();
  bool areObjects = last == Stage::Objects, isAssembled = code.objectKind == ImageKind::Cubin;
  std::unique_ptr<Assembler> assembler;
  if (last == Stage::Cubin)
    assembler = std::make_unique<Assembler>(*code.chip, assembleOptions(options),
                                            unsigned(llvm::range_size(module.getOps<tile::KernelOp>())));
  if (isAssembled)
    announceAssembler(code);
  std::vector<std::string> texts;
  auto builds = compileSideBySide(module, options, *code.chip, code.kernels, isAssembled,
                                  [](uint8_t) { return true; });
  for (BuildCode &build : builds) {
    reportBuild(build, before);
    addBuilds(code.kernels, build.kernels);
    texts.push_back(std::move(isAssembled ? build.cubin.image : build.ptx));
  }
  if (!internalError.empty() || engine.getNumErrors() != before)
    return false;
  if (areObjects) {
    for (BuildCode &build : builds)
      noteAssembly(code, build.cubin);
    code.objects = std::move(texts);
    return true;
  }
  auto joined = joinPTX(texts);
  if (!joined) {
    reportInternal(stageName(Stage::PTX), joined.takeError());
    return false;
  }
  code.ptx = std::move(*joined);
  return last == Stage::PTX || assemble(code, std::move(assembler));
}

/// All builds as one module, one after the other.
bool Compilation::State::emitCode(ModuleOp module, ChipCode &code, Stage last) {
  describeBuilds(module, code.kernels);
  CodegenOptions codegen;
  codegen.optLevel = options.optLevel;
  ScopedDiagnosticHandler handler(context.get(), [&](mlir::Diagnostic &d) { reportMLIR(d); });
  if (llvm::Error error = lowerToLLVM(module)) {
    reportInternal("llvm", std::move(error));
    return false;
  }
  code.llvmContext = std::make_unique<llvm::LLVMContext>();
  auto translated = translateToLLVM(module, *code.llvmContext, *code.chip);
  if (!translated) {
    reportInternal("llvm", translated.takeError());
    return false;
  }
  code.llvmModule = std::move(*translated);
  if (llvm::Error error = optimizeModule(*code.llvmModule, *code.chip, codegen)) {
    reportInternal("llvm", std::move(error));
    return false;
  }
  if (last == Stage::LLVM) {
    llvm::raw_string_ostream os(code.text);
    code.llvmModule->print(os, nullptr);
    return true;
  }
  auto ptx = emitPTX(*code.llvmModule, *code.chip, codegen);
  if (!ptx) {
    reportInternal("ptx", ptx.takeError());
    return false;
  }
  code.ptx = std::move(*ptx);
  bool isAssembled = last == Stage::Cubin || code.objectKind == ImageKind::Cubin;
  if (isAssembled && !assemble(code, nullptr))
    return false;
  if (last == Stage::Objects)
    code.objects = {isAssembled ? code.cubin : code.ptx};
  return true;
}

/// `--verbose` says who assembles.
void Compilation::State::announceAssembler(const ChipCode &code) {
  if (!options.verbose)
    return;
  if (auto tool = describeAssembler())
    llvm::errs() << "tilec: assembling for " << code.chip->name << " with " << *tool << "\n";
  else
    llvm::consumeError(tool.takeError());
}

/// `assembler`: one that waits, or null.
bool Compilation::State::assemble(ChipCode &code, std::unique_ptr<Assembler> assembler) {
  announceAssembler(code);
  auto cubin = assembler ? assembler->assemble(code.ptx)
                         : assembleCubin(code.ptx, *code.chip, assembleOptions(options));
  if (!cubin) {
    toolFailed = true;
    engine.report(diag::external_tool, {}, llvm::toString(cubin.takeError()));
    return false;
  }
  code.cubin = std::move(cubin->image);
  noteAssembly(code, *cubin);
  if (remarks.accepts("assemble"))
    explainAssembly(code);
  return true;
}

/// Adds what the assembler says of the builds in `cubin`.
void Compilation::State::noteAssembly(ChipCode &code, Cubin &cubin) {
  llvm::append_range(code.assemblerMessages, cubin.messages);
  for (KernelInfo &kernel : code.kernels)
    for (BuildInfo &build : kernel.builds)
      for (const KernelResources &resources : cubin.kernels)
        if (resources.kernel == build.symbol) {
          build.registers = resources.registers;
          build.spillBytes = resources.spillStores + resources.spillLoads;
        }
}

/// What the assembler made of each build, and what it advises.
void Compilation::State::explainAssembly(const ChipCode &code) {
  for (const KernelInfo &kernel : code.kernels)
    for (const BuildInfo &build : kernel.builds) {
      std::string text = llvm::formatv("{0} registers a thread, ", build.registers).str();
      text += build.spillBytes ? spellBytes(build.spillBytes) + " of spills" : std::string("no spills");
      remarks.add(build.symbol, "assemble", kernelRanges[kernel.name], text);
    }
  for (const std::string &message : code.assemblerMessages)
    remarks.add("", "assemble", {}, message);
}

ModuleImage ChipCode::image() const {
  ModuleImage image;
  image.arch = chip->name;
  image.kind = objectKind;
  image.objects = objects;
  image.kernels = kernels;
  return image;
}

} // namespace tilec
