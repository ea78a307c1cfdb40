//===- SemaImpl.h - the checker's state, shared by Sema*.cpp ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sema walks the syntax of a kernel once per instance, with the values of its
// compile-time parameters in scope, and appends checked statements to the block
// being built. A fn is walked again at each call with the arguments in scope,
// which is what makes fns generic: there is nothing to instantiate.
//
// An expression gives an Operand: a checked expression, or a compile-time value
// that has no expression yet (it gets one when its dtype and shape are known),
// or one of the things that are not values (array, dtype, fn, tuple).
//
//   SemaDecl       program, files, global names, kernels
//   SemaInstance   compile-time parameters, -D, specialize
//   SemaHost       requires and grid as host expressions
//   SemaStmt       statements, definite assignment, loops
//   SemaExpr       expressions, names, indexing
//   SemaOperator   weak literals, dtype agreement, broadcasting, operators
//   SemaCall       arguments, fn inlining
//   SemaBuiltin…   builtins, one row each in Builtins.def
//   SemaUncalled   names of fns that nothing calls
//   SemaName       suggestions for unknown names
//===----------------------------------------------------------------------===//
#ifndef TILEC_LIB_FRONTEND_SEMAIMPL_H
#define TILEC_LIB_FRONTEND_SEMAIMPL_H

#include "tilec/Frontend/ConstEval.h"
#include "tilec/Frontend/Sema.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <map>
#include <memory>

namespace tilec::sema {

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Where a dimension of a tile came from: the expression in a shape.
struct Origin {
  SourceRange range;
};

/// An axis that a reduction without `keep` removed, for messages.
struct DroppedAxis {
  SourceRange call;
  int64_t axis = 0;
};

struct BuiltinInfo;

/// What an expression denotes.
struct Operand {
  enum class Kind : uint8_t {
    Poison,
    Nothing,
    Runtime,
    Constant,
    Array,
    DType,
    Fn,
    Builtin,
    Shape,
    Tuple
  };

  Kind kind = Kind::Poison;
  DType dtype{};                         ///< of DType
  SourceRange range;                     ///< where it is written
  checked::Expr *expr = nullptr;         ///< of Runtime
  std::optional<ConstValue> constant;    ///< of Constant
  const checked::Param *array = nullptr; ///< of Array, and Shape (`a.shape`)
  const ast::FnDecl *fn = nullptr;       ///< of Fn
  const BuiltinInfo *builtin = nullptr;  ///< of Builtin
  std::vector<Operand> elements;         ///< of Tuple
  ArrayRef<Origin> origins; ///< per axis of a Runtime tile; may be empty
  const DroppedAxis *dropped = nullptr; ///< of a Runtime tile
  bool isArithmetic = false; ///< constant made by an operator (for messages)
  /// Of a Runtime choice between two literals: these, which may still take a dtype.
  std::shared_ptr<const std::pair<ConstValue, ConstValue>> literals;

  static Operand poison(SourceRange range) {
    Operand operand;
    operand.range = range;
    return operand;
  }
  static Operand nothing(SourceRange range) {
    Operand operand = poison(range);
    operand.kind = Kind::Nothing;
    return operand;
  }
  static Operand runtime(checked::Expr *expr, SourceRange range) {
    Operand operand = poison(range);
    operand.kind = Kind::Runtime;
    operand.expr = expr;
    return operand;
  }
  static Operand constantOf(ConstValue value, SourceRange range) {
    Operand operand = poison(range);
    operand.kind = Kind::Constant;
    operand.constant = std::move(value);
    return operand;
  }
  static Operand dtypeOf(DType dtype, SourceRange range) {
    Operand operand = poison(range);
    operand.kind = Kind::DType;
    operand.dtype = dtype;
    return operand;
  }

  bool isPoison() const { return kind == Kind::Poison; }
  bool isConstant() const { return kind == Kind::Constant; }
  bool isRuntime() const { return kind == Kind::Runtime; }
  bool isArray() const { return kind == Kind::Array; }
  /// A scalar or a tile.
  bool isValue() const { return isRuntime() || isConstant(); }
  bool isWeak() const { return isConstant() && constant->isWeak(); }
  /// Type of a value; of a weak one, the type that it has alone.
  Type type() const {
    return isRuntime()    ? expr->type
           : isConstant() ? Type::scalar(constant->dtype())
                          : Type::poison();
  }
};

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// What a local name stands for.
struct Symbol {
  enum class Kind : uint8_t { Value, Variable, ScalarParam, Dim };
  Kind kind = Kind::Value;
  StringRef name;
  SourceRange range; ///< of the declaration
  Operand value;     ///< Value: compile-time value, array, dtype, fn, or an
                     ///< argument that may be read again
  checked::Variable *variable = nullptr;
  const checked::Param *param = nullptr; ///< ScalarParam, Dim
  unsigned axis = 0;                     ///< Dim
  bool isConstParam = false;
  const ast::Expr *init = nullptr; ///< of a `let` with one name
  bool isFromInt = false; ///< a `var` that begins as an integer literal
  std::string setBy;  ///< of a compile-time parameter: "`-D BN=100`"; empty for
                      ///< a default
  bool isVar = false; ///< may be assigned
  bool isLoopVar = false; ///< for messages
  int64_t step = 0;       ///< of a loop variable, where it is constant
  bool isParam = false;   ///< of a kernel or fn, for messages
  ArrayRef<Origin> origins;
  const DroppedAxis *dropped = nullptr;
};

using Scope = llvm::DenseMap<StringRef, Symbol *>;

/// Items visible in one file.
struct FileScope {
  llvm::StringMap<const ast::Decl *> items;
};

/// A declared item and the file that it is in.
struct Item {
  const ast::Decl *decl = nullptr;
  FileId file = 0;
};

//===----------------------------------------------------------------------===//
// Flow
//===----------------------------------------------------------------------===//

/// What is known where a statement starts.
struct Flow {
  bool isReachable = true;
  bool isSkipped =
      false; ///< unreachable by an `if const`: what follows is not checked
  /// Variables without a value on some path to here, with the reason.
  std::map<const checked::Variable *, std::string> unset;
};

/// Flow at the exits of a loop, merged.
struct LoopContext {
  bool isConst = false;
  unsigned firstInnerId = 0;
  std::optional<Flow> breaks, continues;
};

/// One `return`, whose value is fixed when all are known.
struct PendingReturn {
  SourceRange range;
  std::vector<Operand> values;
  std::vector<checked::Stmt *>
      targets; ///< AssignStmt or LetStmt, one per value
};

/// The kernel or fn whose body is being walked.
struct FunctionContext {
  const ast::FnDecl *fn = nullptr; ///< null for a kernel
  checked::InlineBody *inlined = nullptr;
  FileId file = 0;
  std::vector<Scope> scopes;
  llvm::DenseMap<StringRef, SourceRange> ended; ///< names of blocks that are over
  std::vector<LoopContext> loops;
  unsigned runtimeDepth = 0; ///< runtime ifs and loops around
  std::vector<PendingReturn> returns;
  SmallVector<checked::Variable *, 2>
      results;           ///< get their types when all returns are known
  size_t firstFrame = 0; ///< of `Sema::frames`, opened in this body
  const checked::CallSite *callSite = nullptr;
  FunctionContext *caller = nullptr;
  SourceRange callRange;
};

/// Variables that a control statement assigns, collected while its body is
/// walked.
struct AssignedFrame {
  unsigned firstInnerId = 0;
  llvm::SmallSetVector<checked::Variable *, 8> assigned;
};

//===----------------------------------------------------------------------===//
// Builtins
//===----------------------------------------------------------------------===//

/// A name of another language, and what stands for it here.
struct ForeignName {
  StringRef name;
  StringRef ours; ///< the name here; empty when `advice` says all
  StringRef advice;
};

/// What an argument `name` of `function` may mean; null: nothing is known.
const ForeignName *foreignArgument(StringRef function, StringRef name);

class Sema;
struct CallArgs;
using BuiltinCheck = Operand (Sema::*)(CallArgs &);

/// Dtypes that an elementwise builtin takes.
enum class Domain : uint8_t { Number, Integer, Float };

/// A row of Builtins.def.
struct BuiltinInfo {
  StringRef name;
  StringRef signature; ///< `x, axis?, *keep?`: `?` optional, `*` by name only,
                       ///< `...` any number
  BuiltinCheck check = nullptr;
  unsigned op =
      0; ///< an operation of CheckedOps.def, by the check's enumeration
  Domain domain = Domain::Number;
};
const BuiltinInfo *findBuiltin(StringRef name);
ArrayRef<BuiltinInfo> allBuiltins();

/// The arguments of a call, by parameter.
struct CallArgs {
  const BuiltinInfo *builtin = nullptr;
  const ast::CallExpr *call = nullptr;
  SourceRange range;               ///< of the call
  SmallVector<StringRef, 6> names; ///< of the parameters
  SmallVector<const ast::Expr *, 6>
      values;                             ///< by parameter; null when not given
  SmallVector<const ast::Expr *, 4> rest; ///< for `...`
  Operand receiver;                       ///< of a method; else poison
  const ast::Expr *get(StringRef name) const {
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == name)
        return values[i];
    return nullptr;
  }
};

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

/// A kernel and values for some of its compile-time parameters.
struct InstanceRequest {
  const ast::KernelDecl *kernel = nullptr;
  FileId file = 0;
  const ast::SpecializeDecl *specialize =
      nullptr; ///< null for the kernel itself
  FileId specializeFile = 0;
};

/// One `-D`.
struct Define {
  StringRef kernel; ///< empty: any
  StringRef name, value;
  StringRef text;
  bool used = false;
};

//===----------------------------------------------------------------------===//
// Sema
//===----------------------------------------------------------------------===//

class Sema {
public:
  Sema(const ast::Program &program, DiagnosticEngine &diags,
       const CheckOptions &options, checked::Program &out);
  void run();

private:
  friend struct BuiltinTable;

  //=== SemaDecl.cpp ===//
  void collectItems();
  void checkStaticAsserts();
  void checkKernel(const InstanceRequest &request);
  void checkParams(const ast::KernelDecl &decl);
  checked::Param *checkParam(const ast::KernelParam &param, unsigned index);
  bool checkArrayDims(const ast::ArrayTypeExpr &type, checked::Param &param);
  std::optional<checked::ArrayDim> checkArrayDim(const ast::Expr *expr,
                                                 const checked::Param &param,
                                                 unsigned axis);
  void checkHints(const ast::KernelDecl &decl);
  Operand globalConstant(const ast::ConstDecl &decl, FileId file,
                         SourceRange use);
  const ast::Decl *findItem(StringRef name, FileId *file = nullptr) const;

  //=== SemaInstance.cpp ===//
  void parseDefines();
  void collectInstances();
  const ast::KernelDecl *
  specializedKernel(const ast::SpecializeDecl &specialize, FileId file);
  void checkUnusedDefines();
  bool bindConstParams(const InstanceRequest &request);
  bool bindConstParam(const InstanceRequest &request,
                      const ast::ConstParam &param, const ast::Expr *fixed,
                      StringRef instanceName);
  std::optional<Operand> parseConstant(StringRef text) const;
  bool satisfiesBound(Operand &value, const ast::ConstParam &param);
  bool hasAllConstants(const InstanceRequest &request);
  const Define *findDefine(StringRef kernel, StringRef instance,
                           StringRef name);
  void matchSpecializeArgs(const InstanceRequest &request,
                           SmallVectorImpl<const ast::Expr *> &byParam);

  //=== SemaHost.cpp ===//
  void checkRequirements(const ast::KernelDecl &decl);
  void checkGrid(const ast::KernelDecl &decl);
  /// The host expression of a checked one; reports and gives nothing when the
  /// launcher cannot evaluate it.
  std::optional<std::string> hostText(const checked::Expr *expr);

  //=== SemaStmt.cpp ===//
  void checkBlock(const ast::Block &block);
  void checkStmts(ArrayRef<ast::Stmt *> stmts);
  void checkStmt(const ast::Stmt *stmt);
  void checkLet(const ast::LetStmt &stmt);
  void checkLetTuple(const ast::LetStmt &stmt);
  void checkVar(const ast::VarStmt &stmt);
  void checkConst(const ast::ConstStmt &stmt);
  void checkAssign(const ast::AssignStmt &stmt);
  std::optional<int64_t> constStep(const ast::ForStmt &stmt);
  void checkFor(const ast::ForStmt &stmt);
  void checkForConst(const ast::ForStmt &stmt);
  void checkWhile(const ast::WhileStmt &stmt);
  void checkIf(const ast::IfStmt &stmt);
  void checkIfConst(const ast::IfStmt &stmt);
  void checkReturn(const ast::ReturnStmt &stmt);
  void checkLoopExit(const ast::Stmt &stmt, bool isBreak);
  void checkExprStmt(const ast::ExprStmt &stmt);
  void checkFast(const ast::FastStmt &stmt);
  Flow checkLoopBody(const ast::Block &body, bool entersAlways);
  std::vector<checked::Stmt *> checkNested(const ast::Stmt *body);
  /// The value as the annotated type; poison after an error.
  Operand conform(Operand value, const Type &type,
                  const ast::TypeExpr *annotation);
  void reportAssignMismatch(const ast::AssignStmt &stmt, const Symbol &symbol,
                            const Operand &value);
  void mergeInto(Flow &flow, const Flow &other);
  void explainUnset(Flow &flow, const Flow &other, const std::string &reason);
  ArrayRef<checked::Variable *> finishFrame(AssignedFrame &frame);
  void noteAssigned(checked::Variable *variable);

  //=== SemaExpr.cpp ===//
  Operand checkExpr(const ast::Expr *expr);
  Operand checkExprKind(const ast::Expr *expr);
  /// A scalar or tile; everything else is reported.
  Operand checkValue(const ast::Expr *expr);
  Operand requireValue(Operand operand);
  Operand checkName(const ast::NameExpr &expr);
  Operand readSymbol(Symbol &symbol, SourceRange range);
  Operand checkConditional(const ast::ConditionalExpr &expr);
  Operand checkMember(const ast::MemberExpr &expr);
  Operand checkIndex(const ast::IndexExpr &expr);
  Operand checkShapeIndex(const ast::IndexExpr &expr, const Operand &shape);
  Operand checkAxes(const ast::IndexExpr &expr, Operand base);
  checked::Expr *checkElementIndex(const ast::IndexItem &item, Type type,
                                   unsigned axis);
  Operand checkElement(const ast::IndexExpr &expr, Operand base);
  /// A compile-time integer; reports what it is for otherwise.
  std::optional<int64_t> checkConstInt(const ast::Expr *expr, StringRef what);
  std::optional<bool> checkConstBool(const ast::Expr *expr, StringRef what);
  std::optional<DType> checkDType(const ast::Expr *expr, StringRef what);
  std::optional<DType> resolveDType(const ast::Name &name);
  Type resolveType(const ast::TypeExpr *type, ArrayRef<Origin> *origins);
  /// The dims of a tile: compile-time, powers of two, not too many elements.
  bool checkShape(const ast::Expr *list, StringRef what,
                  SmallVectorImpl<int64_t> &shape, ArrayRef<Origin> *origins);
  bool checkShapeList(ArrayRef<ast::Expr *> dims, SourceRange range,
                      SmallVectorImpl<int64_t> &shape,
                      ArrayRef<Origin> *origins);
  bool checkTileDim(const ast::Expr *expr, int64_t &dim);
  void reportRuntimeDim(const ast::Expr *expr, const Operand &value);
  bool checkTileSize(ArrayRef<int64_t> shape, SourceRange range);
  /// A scalar integer of any dtype, as `int`.
  checked::Expr *checkInt(const ast::Expr *expr, StringRef what);
  checked::Expr *toInt(Operand value, StringRef what);
  /// A scalar bool.
  Operand checkCondition(const ast::Expr *expr, StringRef what);

  //=== SemaOperator.cpp ===//
  Operand checkUnaryOperator(const ast::UnaryExpr &expr);
  Operand checkBinaryOperator(const ast::BinaryExpr &expr);
  Operand checkLogical(const ast::BinaryExpr &expr);
  /// A value that is needed only when control comes to it. Calls that it emits
  /// as statements are kept in `emitted`, for `afterStatements`.
  Operand checkArm(const ast::Expr *expr, std::vector<checked::Stmt *> &emitted);
  /// `value` with the statements that it needs in front, as one expression;
  /// `name` says what they are part of.
  checked::Expr *afterStatements(ArrayRef<checked::Stmt *> emitted,
                                 checked::Expr *value, SourceRange range,
                                 StringRef name = "arm");
  Operand applyBinary(ast::BinaryOp op, Operand left, Operand right,
                      SourceRange range, SourceRange opRange);
  Operand applyUnary(checked::UnaryOp op, Operand operand, SourceRange range);
  Operand applyBinary(checked::BinaryOp op, Operand left, Operand right,
                      SourceRange range);
  Operand applyCompare(checked::CompareOp op, Operand left, Operand right,
                       SourceRange range);
  Operand foldBinary(checked::BinaryOp op, const Operand &left,
                     const Operand &right, SourceRange range);
  /// Brings operands to one dtype (conv-C1, lit-C1); `what` names the
  /// operation.
  bool unifyDTypes(SmallVectorImpl<Operand *> &operands, SourceRange range,
                   StringRef what);
  bool unifyPair(Operand &left, Operand &right, SourceRange range,
                 StringRef what) {
    SmallVector<Operand *, 4> both{&left, &right};
    return unifyDTypes(both, range, what);
  }
  void reportDTypeMix(const Operand &left, const Operand &right,
                      SourceRange range, StringRef what);
  /// Brings operands to one shape by broadcasting; all are Runtime afterwards,
  /// unless all are constants.
  void warnDroppedAxis(const Operand &operand, const Operand &other,
                       SourceRange range);
  bool unifyShapes(SmallVectorImpl<Operand *> &operands, SourceRange range,
                   StringRef what);
  void reportBroadcast(const Operand &left, const Operand &right,
                       SourceRange range);
  bool convertWeakTo(Operand &operand, DType dtype);
  void reportLiteral(const Operand &operand, DType dtype);
  /// The operand's expression, with a weak literal as `dtype` or what it is
  /// alone.
  static void keepLiterals(Operand &choice, const Operand &a, const Operand &b);
  void retypeChoice(Operand &choice, DType dtype);
  checked::Expr *materialize(const Operand &operand,
                             std::optional<DType> dtype = std::nullopt);
  checked::Expr *broadcastTo(const Operand &operand, ArrayRef<int64_t> shape);
  checked::Expr *makeCast(checked::Expr *expr, DType dtype, checked::Loc loc);
  checked::Expr *widenForSum(const Operand &operand);
  checked::ConstantExpr *makeConstant(const ConstValue &value, Type type,
                                      checked::Loc loc);
  checked::Expr *makeReshape(checked::Expr *expr, ArrayRef<int64_t> shape);
  checked::Expr *makeInt(int64_t value, SourceRange range);
  bool requireDomain(const Operand &operand, Domain domain, StringRef what);
  Operand castOperand(Operand operand, DType dtype, checked::Rounding rounding,
                      SourceRange range);
  Operand inheritShape(Operand result, ArrayRef<Operand *> operands);

  //=== SemaCall.cpp ===//
  Operand checkCall(const ast::CallExpr &call);
  Operand checkMethod(const ast::CallExpr &call, const ast::MemberExpr &member);
  Operand callFn(const ast::FnDecl &fn, const ast::CallExpr &call);
  bool bindFnArgs(const ast::FnDecl &fn, const ast::CallExpr &call,
                  SmallVectorImpl<Operand> &args);
  /// Walks the body with `args` in scope. Gives its results, and what it
  /// emitted (null when nothing); nothing after an error.
  std::optional<std::vector<Operand>> inlineFn(const ast::FnDecl &fn,
                                               ArrayRef<Operand> args,
                                               SourceRange callRange,
                                               checked::InlineBody *&body);
  void bindFnParam(const ast::FnParam &param, const Operand &arg);
  bool finishReturns(FunctionContext &context, std::vector<Operand> &results);
  bool bindBuiltinArgs(const BuiltinInfo &builtin, const ast::CallExpr &call,
                       CallArgs &args);
  Operand callBuiltin(const BuiltinInfo &builtin, const ast::CallExpr &call,
                      Operand receiver);
  const ast::FnDecl *checkFnArg(const ast::Expr *expr, StringRef what);

  //=== SemaBuiltin*.cpp: one per row shape of Builtins.def ===//
  Operand checkElementwiseUnary(CallArgs &args);
  Operand checkElementwiseBinary(CallArgs &args);
  Operand checkMinMax(CallArgs &args);
  Operand checkClamp(CallArgs &args);
  Operand checkFma(CallArgs &args);
  Operand checkWhere(CallArgs &args);
  Operand checkTo(CallArgs &args);
  Operand checkBitcast(CallArgs &args);
  Operand checkBid(CallArgs &args);
  Operand checkNumBlocks(CallArgs &args);
  Operand checkNumTiles(CallArgs &args);
  Operand checkNumSMs(CallArgs &args);
  Operand checkArch(CallArgs &args);
  Operand checkLoad(CallArgs &args);
  Operand checkStore(CallArgs &args);
  Operand checkLoadAt(CallArgs &args);
  Operand checkStoreAt(CallArgs &args);
  Operand checkFill(CallArgs &args);
  Operand checkFull(CallArgs &args);
  Operand checkArange(CallArgs &args);
  Operand checkReshape(CallArgs &args);
  Operand checkPermute(CallArgs &args);
  Operand checkTranspose(CallArgs &args);
  Operand checkBroadcastTo(CallArgs &args);
  Operand checkExpandDims(CallArgs &args);
  Operand checkSqueeze(CallArgs &args);
  Operand checkReduction(CallArgs &args);
  Operand checkCustomReduce(CallArgs &args);
  Operand checkMma(CallArgs &args);
  Operand checkAssume(CallArgs &args);
  Operand checkAligned(CallArgs &args);
  Operand checkStaticAssert(CallArgs &args);
  Operand checkStaticPrint(CallArgs &args);
  Operand checkPrint(CallArgs &args);
  Operand checkAssert(CallArgs &args);
  Operand checkCat(CallArgs &args);
  Operand checkSplit(CallArgs &args);
  Operand checkExtract(CallArgs &args);
  Operand checkInsert(CallArgs &args);
  Operand checkFlip(CallArgs &args);
  Operand checkTake(CallArgs &args);
  Operand checkGather(CallArgs &args);
  Operand checkScatter(CallArgs &args);
  Operand checkAtomic(CallArgs &args);
  Operand checkCumulative(CallArgs &args);
  Operand checkCustomScan(CallArgs &args);
  Operand checkSort(CallArgs &args);
  Operand checkArgSort(CallArgs &args);
  Operand checkTopK(CallArgs &args);
  Operand checkHistogram(CallArgs &args);
  Operand checkRandom(CallArgs &args);

  // Parts of them.
  const checked::Param *checkArrayArg(const ast::Expr *expr, StringRef builtin);
  bool checkWritable(const checked::Param *array, const ast::Expr *expr,
                     StringRef builtin);
  void warnOneElement(StringRef builtin, ArrayRef<Operand> index,
                      const Operand &value, const checked::Param *array,
                      SourceRange range);
  const ast::ListExpr *checkIsIndex(const ast::Expr *expr, StringRef builtin,
                                    const checked::Param *array, StringRef place);
  bool checkIndexRank(const ast::Expr *expr, const checked::Param *array, size_t entries);
  bool checkIndexList(const ast::Expr *expr, StringRef builtin,
                      const checked::Param *array, ArrayRef<int64_t> shape,
                      bool elements,
                      SmallVectorImpl<checked::Expr *> &index);
  bool checkOrder(const ast::Expr *expr, unsigned rank,
                  SmallVectorImpl<unsigned> &order, StringRef name = "order");
  checked::ConstantExpr *checkPad(const ast::Expr *expr, DType dtype,
                                  SourceRange callRange);
  void warnElementOffset(const ast::Expr *index, int64_t dim,
                         StringRef builtin);
  Operand makeLoad(CallArgs &args, bool elements);
  Operand makeStore(CallArgs &args, bool elements);
  /// The value as one of the array's dtype (store-C1); poison after an error.
  Operand checkStored(const ast::Expr *expr, const checked::Param *array,
                      StringRef builtin);
  std::optional<unsigned> checkAxis(const ast::Expr *expr, unsigned rank,
                                    StringRef what);
  bool checkAxes(const ast::Expr *expr, unsigned rank,
                 SmallVectorImpl<int64_t> &axes);
  bool checkKeep(const ast::Expr *expr, bool &keep);
  Operand finishReduction(checked::Expr *reduced, const Operand &source,
                          ArrayRef<int64_t> axes, bool keep,
                          const CallArgs &args);
  bool checkTile(const Operand &operand, StringRef what);
  std::optional<StringRef> checkWord(const ast::Expr *expr, StringRef what,
                                     ArrayRef<StringRef> words);
  bool checkMmaTypes(const Operand &a, const Operand &b, const Type &acc,
                     SourceRange range);
  bool checkMmaShapes(Operand &a, Operand &b, Operand &acc, SourceRange range);
  Operand makeMma(Operand a, Operand b, std::optional<Operand> acc,
                  checked::MmaPrecision precision, SourceRange range);
  bool evaluateOperands(const ast::Expr *expr,
                        SmallVectorImpl<Operand> &operands);
  bool evaluateTiles(const ast::Expr *expr, StringRef builtin,
                     SmallVectorImpl<Operand> &operands);
  bool checkFormat(const CallArgs &args, StringRef builtin,
                   SmallVectorImpl<StringRef> &pieces);
  bool makeRegion(const ast::FnDecl *fn, ArrayRef<Type> types,
                  SourceRange range, checked::Region &region);
  Operand tupleOf(checked::Expr *expr, SourceRange range);
  bool checkSlice(const ast::Expr *indexExpr, const Operand &tile,
                  ArrayRef<int64_t> shape, SourceRange shapeRange,
                  StringRef what, SmallVectorImpl<checked::Expr *> &index);
  std::optional<Operand> checkMask(const ast::Expr *expr, StringRef builtin);
  bool unifyAccess(SmallVectorImpl<Operand> &index, ArrayRef<Operand *> values,
                   std::optional<Operand> &mask, SourceRange range,
                   SmallVectorImpl<checked::Expr *> &indexExprs);
  bool checkCounter(const ast::Expr *expr, StringRef what, bool isScalar,
                    Operand &result);
  std::optional<unsigned> checkNamedAxis(CallArgs &args, unsigned rank);
  bool checkFlag(CallArgs &args, StringRef name, bool &flag);
  bool checkGatherIndex(const ast::Expr *list, const checked::Param *array,
                        StringRef builtin, SmallVectorImpl<Operand> &index);

  //=== SemaUncalled.cpp ===//
  void checkUncalledFns();
  void resolveNames(const ast::Stmt *stmt);
  void resolveNames(const ast::Expr *expr);

  //=== SemaName.cpp ===//
  /// `name` may have a prefix: `tl.load`.
  /// `isTarget`: a value is assigned to it.
  void reportUnknownName(StringRef name, SourceRange range, bool isTarget = false);
  std::optional<StringRef> closest(StringRef name,
                                   ArrayRef<StringRef> candidates) const;
  void visibleNames(SmallVectorImpl<StringRef> &names) const;

  //=== Common ===//
  DiagnosticBuilder error(diag::Id id, SourceRange range);
  DiagnosticBuilder warning(diag::Id id, SourceRange range) {
    return error(id, range);
  }
  checked::Loc locOf(SourceRange range) const {
    return {range, function ? function->callSite : nullptr};
  }
  std::string textOf(SourceRange range) const;
  static std::string quoted(StringRef text) { return ("`" + text + "`").str(); }
  std::string describe(const Operand &operand) const;
  void labelOrigin(DiagnosticBuilder &builder, const Operand &operand,
                   unsigned axis, StringRef what);
  template <typename T>
  T *make(Type type, SourceRange range) {
    ++numNodes;
    return out.create<T>(type, locOf(range));
  }
  template <typename T>
  T *emit(SourceRange range) {
    T *stmt = out.create<T>(locOf(range));
    ++numNodes;
    block->push_back(stmt);
    return stmt;
  }
  template <typename T>
  ArrayRef<T> copy(ArrayRef<T> list) {
    return out.copy(list);
  }
  template <typename T>
  ArrayRef<T> copy(const SmallVectorImpl<T> &list) {
    return out.copy(ArrayRef<T>(list));
  }
  checked::Variable *newVariable(StringRef name, Type type, bool isMutable,
                                 SourceRange range);
  Symbol *declare(StringRef name, SourceRange range);
  Symbol *lookup(StringRef name);
  Operand define(const ast::Name &name, Operand value); ///< a `let`
  Operand bindVariable(StringRef name, Operand value, SourceRange range);
  bool isTooDeep(SourceRange range);
  bool isTooLarge(SourceRange range);

  const ast::Program &program;
  DiagnosticEngine &diags;
  const SourceManager &sources;
  const CheckOptions &options;
  checked::Program &out;

  std::map<FileId, FileScope> fileScopes;
  llvm::DenseMap<const ast::Decl *, FileId> declFiles;
  llvm::DenseMap<const ast::ConstDecl *, Operand> constants;
  llvm::SmallPtrSet<const ast::ConstDecl *, 4> constantsInProgress;
  llvm::SmallPtrSet<const ast::FnDecl *, 8> inlinedFns;
  std::deque<Symbol> symbols;
  std::vector<Define> defines;
  std::vector<InstanceRequest> instances;

  // Of the kernel being checked.
  checked::Kernel *kernel = nullptr;
  FunctionContext *function = nullptr;
  std::vector<checked::Stmt *> *block = nullptr;
  Flow flow;
  std::vector<AssignedFrame *> frames;
  bool inRequires = false;
  bool inCombiner = false; ///< in the fn of a reduction or scan
  unsigned depth = 0;
  size_t numNodes = 0;
  bool reportedSize = false;
};

/// Restores a member at the end of a scope.
template <typename T>
class Saved {
public:
  Saved(T &place, T value) : place(place), old(std::move(place)) {
    place = std::move(value);
  }
  ~Saved() { place = std::move(old); }
  Saved(const Saved &) = delete;

private:
  T &place;
  T old;
};

} // namespace tilec::sema

#endif // TILEC_LIB_FRONTEND_SEMAIMPL_H
