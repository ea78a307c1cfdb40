//===- Compiler.h - source to any stage, as a library -------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a `.tile` file (or text) and options. Out: the program at any stage, down to
// PTX or a cubin for one chip, with the launch facts of its kernels. Used by all
// tools and by the JIT; nothing else puts stages together (Pipelines.h holds the
// passes of each).
//
//   Compilation compilation(options);
//   compilation.loadFile("matmul.tile");
//   if (auto code = compilation.compileFor(*findChip("sm_90a"), Stage::PTX))
//     use(code->ptx, code->kernels);
//   TextDiagnosticPrinter printer(compilation.sources(), llvm::errs(), false);
//   compilation.printDiagnostics(printer);
//
// A Compilation is one root file and its imports. Errors of the program go to its
// diagnostics; functions then return null or nullopt. The front end and IR
// generation run once, whatever the number of chips.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_COMPILER_COMPILER_H
#define TILEC_COMPILER_COMPILER_H

#include "tilec/Support/KernelInfo.h"
#include "tilec/Support/ModuleFile.h"
#include "tilec/Support/Target.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace tilec {

struct BuildCode; // SideBySide.h
class DiagnosticConsumer;
class DiagnosticEngine;
class SourceManager;

/// The named stages, in order of the data's flow. What a module file holds is Objects: each
/// build by itself as machine code, or as PTX where there is no assembler. A Cubin is one of
/// all builds, which takes longer, as it begins when the last build is there.
enum class Stage { AST, Tile, LaidOut, Staged, SIMT, LLVM, PTX, Cubin, Objects };

/// `laid-out`, `ptx`, … as in `--emit=`; Objects is `module` there.
llvm::StringRef stageName(Stage stage);

struct CompileOptions {
  std::vector<std::string> defines;         ///< `NAME=V` or `kernel.NAME=V`
  std::vector<std::string> includeDirs;     ///< of `import`, after the file's own
  std::vector<std::string> specializations; ///< `matmul<f16, BM: 128>`
  std::string kernel;                       ///< only this kernel; empty: all

  unsigned optLevel = 3;       ///< of LLVM and the assembler
  bool fastMath = false;       ///< approximate forms of functions
  bool contract = true;        ///< a*b+c becomes fma
  bool checked = false;        ///< assert what is trusted, and that `int` does not overflow
  bool lineInfo = true;        ///< `.loc` lines of the source in the PTX
  unsigned numWarps = 0;       ///< 0: the compiler's choice
  unsigned numStages = 0;      ///< 0: the compiler's choice
  bool onlyGeneralBuild = false; ///< no builds that rely on facts of the launch

  // Observing.
  bool printBeforeAll = false;          ///< the IR before every pass, to stderr
  bool printAfterAll = false;           ///< the IR after every pass, to stderr
  std::vector<std::string> printAfter;  ///< the IR after these passes, to stderr
  bool timePasses = false;              ///< a table of times, to stderr
  bool remarks = false;                 ///< say what passes chose, as diagnostics
  std::vector<std::string> remarkNames; ///< of these passes only (Tile/Remarks.h); empty: all
  bool verbose = false;                 ///< the commands that are run, to stderr
  std::vector<std::string> assemblerArgs; ///< further arguments of ptxas
};

/// A buffer in shared memory: `bf16[128, 64] of `a``, 16384 bytes, 4 places.
struct BufferUsage {
  std::string what;
  int64_t bytes = 0; ///< of one place
  int64_t places = 1;
  unsigned line = 0; ///< of the source; 0: not known
};

/// A program compiled for one chip, as far as asked.
struct ChipCode {
  const Chip *chip = nullptr;
  /// Facts of each kernel; `builds` filled from stage Staged on.
  std::vector<KernelInfo> kernels;
  /// What the builds keep in shared memory, by symbol; from stage Staged on.
  std::map<std::string, std::vector<BufferUsage>> buffers;
  /// The module as text at the stage asked for, where that is not PTX or cubin.
  std::string text;
  /// At stage LLVM: the optimised module. PTX is printed from the same code, each build in a
  /// module of its own.
  std::unique_ptr<llvm::LLVMContext> llvmContext;
  std::unique_ptr<llvm::Module> llvmModule;
  std::string ptx;
  std::string cubin;          ///< ELF bytes
  ImageKind objectKind = ImageKind::PTX;
  std::vector<std::string> objects; ///< at stage Objects; empty: of a build not made yet
  std::vector<std::string> assemblerMessages; ///< its warnings and advice
  /// By object, builds that are not made yet (prepareFor).
  std::vector<std::shared_ptr<BuildCode>> pending;

  /// The objects with the facts, for a module file.
  ModuleImage image() const;
};

class Compilation {
public:
  explicit Compilation(CompileOptions options);
  ~Compilation();
  Compilation(Compilation &&) noexcept;

  /// Names the root file; `-` is standard input. It is read when first needed.
  void loadFile(llvm::StringRef path);
  /// Takes `text` as the root file, called `name` in messages.
  void loadText(llvm::StringRef name, llvm::StringRef text);
  /// Takes an MLIR file at stage `tile` instead of source; false when it is invalid.
  bool loadTileModule(llvm::StringRef path);

  /// The syntax tree as text; nothing after syntax errors.
  std::optional<std::string> printAST();
  /// The module at stage `tile`, simplified; null after errors. Owned here. The
  /// chip matters only to source that asks for it (`arch()`, per-chip hints).
  mlir::ModuleOp tileModule(const Chip &chip);
  /// Facts of all kernels, without builds.
  std::vector<KernelInfo> kernels(const Chip &chip);
  /// The layouts that tiles get on a chip, as text; nothing after errors. `of`: only of
  /// these variables, array parameters and lines.
  std::optional<std::string> printLayouts(const Chip &chip,
                                          llvm::ArrayRef<std::string> of = {});
  /// Everything for one chip up to `last`; nothing after errors.
  std::optional<ChipCode> compileFor(const Chip &chip, Stage last);
  /// The same at stage Objects, all facts but those from the assembler included, of which only
  /// the objects of builds are made whose facts `isWanted` accepts, or none: makeObjects makes
  /// others, side by side, of `code` of this Compilation; false after errors. (Where passes
  /// print, all objects are made at once.)
  std::optional<ChipCode> prepareFor(const Chip &chip,
                                     llvm::function_ref<bool(uint8_t facts)> isWanted = {});
  bool makeObjects(ChipCode &code, llvm::ArrayRef<unsigned> indices);

  DiagnosticEngine &diagnostics();
  /// Hands all messages so far to `consumer`, remarks last, and forgets them.
  void printDiagnostics(DiagnosticConsumer &consumer);
  const SourceManager &sources() const;
  /// Whether an external tool (ptxas) was missing or failed: exit code 3.
  bool toolFailed() const;
  /// What went wrong inside the compiler, with its stage; empty if nothing did:
  /// exit code 70.
  const std::string &internalError() const;
  const CompileOptions &options() const;
  /// Files read: the root and its imports, for depfiles.
  std::vector<std::string> dependencies() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tilec

#endif // TILEC_COMPILER_COMPILER_H
