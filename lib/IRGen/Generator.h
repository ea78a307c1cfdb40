//===- Generator.h - the walk from a checked kernel to tile IR -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The state of the walk: where IR is built, what value each variable has now,
// and which loops and fns enclose the statement.
//
// Variables are SSA values in `values`. A region (an arm, a loop body) takes
// the variables that it may assign as loop-carried values or results. Exits
// (`break`, `continue`, `return`) are flags: variables of type bool that the
// exit sets to true. A statement that may exit is followed by
// `scf.if (no flag is set) { the rest of its block }`.

#ifndef TILEC_LIB_IRGEN_GENERATOR_H
#define TILEC_LIB_IRGEN_GENERATOR_H

#include "Elementwise.h"

#include "mlir/IR/Builders.h"
#include "tilec/Frontend/Checked.h"
#include "tilec/IRGen/IRGen.h"
#include "tilec/Tile/TileOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <deque>

namespace tilec::irgen {

using Variables = llvm::SmallSetVector<const checked::Variable *, 8>;

/// What a list of statements does to its surroundings.
struct Footprint {
  Variables assigned; ///< defined outside, given a value inside; flags too
  Variables exits;    ///< the flags among them
};

class Generator {
public:
  Generator(mlir::MLIRContext &context, const SourceManager &sources,
            const IRGenOptions &options);

  void kernel(const checked::Kernel &kernel, mlir::ModuleOp module);

private:
  // Kernel.cpp
  void setKernelAttributes(tile::KernelOp op, const checked::Kernel &kernel);
  mlir::DictionaryAttr parameterAttributes(const checked::Param &param);
  mlir::Type parameterType(const checked::Param &param);
  mlir::Location location(const checked::Loc &loc);
  mlir::Location location(SourceRange range);

  // Statements.cpp
  void block(llvm::ArrayRef<checked::Stmt *> statements);
  bool continueInArm(const checked::Stmt *stmt,
                     llvm::ArrayRef<checked::Stmt *> rest);
  void guardEach(llvm::ArrayRef<checked::Stmt *> statements);
  void statement(const checked::Stmt *stmt);
  void let(const checked::LetStmt *stmt);
  void store(const checked::StoreStmt *stmt);
  void ifStatement(const checked::IfStmt *stmt);
  void ifArms(mlir::Location loc, mlir::Value condition,
              llvm::ArrayRef<checked::Stmt *> thenPart,
              llvm::ArrayRef<checked::Stmt *> elsePart);
  void forStatement(const checked::ForStmt *stmt);
  mlir::Value numberOfRounds(mlir::Location loc, mlir::Value lower, mlir::Value upper,
                             mlir::Value step);
  void countedLoop(const checked::ForStmt *stmt, mlir::Value lower, mlir::Value upper,
                   mlir::Value step, llvm::ArrayRef<checked::Stmt *> rest,
                   llvm::ArrayRef<const checked::Expr *> breaks, Variables carried,
                   const Variables &exits);
  /// `condition`, and none of `breaks`, each of which is asked only if all before it hold.
  mlir::Value goesOn(mlir::Location loc, mlir::Value condition,
                     llvm::ArrayRef<const checked::Expr *> breaks);
  void whileStatement(const checked::WhileStmt *stmt);
  void inlined(const checked::InlineBody *body);
  void exit(const checked::Stmt *stmt);

  // ControlFlow.cpp
  /// `scf.if` around two parts; `assigned` is updated from its results.
  void conditional(mlir::Location loc, mlir::Value condition,
                   const Variables &assigned,
                   llvm::function_ref<void()> thenPart,
                   llvm::function_ref<void()> elsePart);
  /// One value chosen by a scalar condition, only one part evaluated.
  mlir::Value conditionalValue(mlir::Location loc, mlir::Type type,
                               mlir::Value condition,
                               llvm::function_ref<mlir::Value()> thenPart,
                               llvm::function_ref<mlir::Value()> elsePart);
  /// `scf.while` with the `assigned` variables carried. `condition` is not
  /// evaluated once a flag of `exits` is set.
  void whileLoop(mlir::Location loc, const Variables &carried,
                 const Variables &exits,
                 llvm::function_ref<mlir::Value()> condition,
                 llvm::function_ref<void()> body);
  /// True while no flag is set.
  mlir::Value noneSet(mlir::Location loc, const Variables &flags);
  /// A new flag, false until an exit sets it.
  const checked::Variable *newFlag();
  Footprint footprint(llvm::ArrayRef<checked::Stmt *> statements);
  mlir::Value boolConstant(mlir::Location loc, bool value);
  /// The current value; a zero where none has been given yet (never used).
  mlir::Value valueOf(const checked::Variable *variable, mlir::Location loc);
  llvm::SmallVector<mlir::Value> valuesOf(const Variables &variables,
                                          mlir::Location loc);
  void setValues(const Variables &variables, mlir::ValueRange results);

  // Expressions.cpp
  mlir::Value expression(const checked::Expr *expr);
  llvm::SmallVector<mlir::Value>
  expressions(llvm::ArrayRef<checked::Expr *> exprs);
  /// All results of an expression that has several.
  llvm::SmallVector<mlir::Value> results(const checked::Expr *expr);
  mlir::Value leaf(const checked::Expr *expr, mlir::Location loc);
  mlir::Value elementwise(const checked::Expr *expr, mlir::Location loc);
  mlir::Value shape(const checked::Expr *expr, mlir::Location loc);
  mlir::Value constant(DType dtype, uint64_t word, const Type &type,
                       mlir::Location loc);
  mlir::Value zero(const Type &type, mlir::Location loc);
  mlir::Value arange(const checked::ArangeExpr *expr, mlir::Location loc);
  mlir::Value load(const checked::LoadExpr *expr, mlir::Location loc);
  mlir::Value mma(const checked::MmaExpr *expr, mlir::Location loc);
  mlir::DenseI64ArrayAttr orderAttr(llvm::ArrayRef<unsigned> order);
  mlir::Value arrayOf(const checked::Param *param) {
    return parameters[param->index];
  }
  Elementwise at(mlir::Location loc) {
    return Elementwise(builder, loc, flags);
  }

  // Reductions.cpp
  mlir::Value reduce(const checked::ReduceExpr *expr, mlir::Location loc);
  mlir::Value argReduce(const checked::ReduceExpr *expr, mlir::Location loc);
  llvm::SmallVector<mlir::Value>
  customReduce(const checked::CustomReduceExpr *expr, mlir::Location loc);
  /// The combining fn of a custom reduction or scan on two tuples.
  llvm::SmallVector<mlir::Value> combine(const checked::Region &region,
                                         mlir::ValueRange left,
                                         mlir::ValueRange right);
  /// Each element's row-major index within the reduced axes, as i32.
  mlir::Value positionTile(llvm::ArrayRef<int64_t> shape,
                           llvm::ArrayRef<int64_t> axes, mlir::Location loc);

  // WholeTile.cpp
  mlir::Value scan(const checked::ScanExpr *expr, mlir::Location loc);
  llvm::SmallVector<mlir::Value> customScan(const checked::CustomScanExpr *expr,
                                            mlir::Location loc);
  llvm::SmallVector<mlir::Value> sort(const checked::SortExpr *expr,
                                      mlir::Location loc);
  llvm::SmallVector<mlir::Value> topK(const checked::TopKExpr *expr,
                                      mlir::Location loc);
  std::pair<mlir::Value, mlir::Value>
  sortWithPositions(const checked::Expr *operand, unsigned axis,
                    bool descending, mlir::Location loc);
  /// argsort, histogram, random words.
  mlir::Value wholeTile(const checked::Expr *expr, mlir::Location loc);
  mlir::Value random(const checked::RandU32Expr *expr, mlir::Location loc);

  // Data.cpp
  /// cat, extract, insert, flip, take.
  mlir::Value slice(const checked::Expr *expr, mlir::Location loc);
  /// gather, atomics.
  mlir::Value memory(const checked::Expr *expr, mlir::Location loc);
  mlir::Value atomic(const checked::AtomicExpr *expr, mlir::Location loc);
  /// scatter, assert, print.
  void effect(const checked::Stmt *stmt, mlir::Location loc);

  // Checks.cpp
  /// `condition` is true: trusted, or asserted with this text under `--checked`.
  void assume(mlir::Location loc, mlir::Value condition, const llvm::Twine &text);
  void assumeStatement(const checked::AssumeStmt *stmt, mlir::Location loc);
  /// Under `--checked`: nothing went wrong in computing `result`.
  void checkBinary(const checked::BinaryExpr *expr, mlir::Value a, mlir::Value b,
                   mlir::Value result, mlir::Location loc);
  void checkUnary(const checked::UnaryExpr *expr, mlir::Value x, mlir::Location loc);
  mlir::Value signedIndex(const checked::Expr *expr, mlir::Location loc);
  llvm::SmallVector<mlir::Value>
  signedIndices(llvm::ArrayRef<checked::Expr *> exprs, mlir::Location loc);

  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  const SourceManager &sources;
  const IRGenOptions &options;
  mlir::arith::FastMathFlags flags;

  llvm::SmallVector<mlir::Value> parameters;
  llvm::DenseMap<const checked::Variable *, mlir::Value> values;
  std::deque<checked::Variable> flagVariables;

  struct Loop {
    const checked::Variable *broken = nullptr;  ///< set by break
    const checked::Variable *skipped = nullptr; ///< set by continue
  };
  struct Function {
    const checked::InlineBody *target = nullptr; ///< null: the kernel
    const checked::Variable *returned = nullptr;
  };
  /// Beyond this many statements that may exit, one after the other, what
  /// follows is guarded piece by piece instead of nesting deeper.
  static constexpr unsigned maxExitDepth = 64;
  unsigned exitDepth = 0;

  bool inCombiner = false; ///< inside the fn of a custom reduction or scan
  llvm::SmallVector<Loop> loops;
  llvm::SmallVector<Function> functions;
};

} // namespace tilec::irgen

#endif // TILEC_LIB_IRGEN_GENERATOR_H
