//===- Checked.h - the checked program, Sema's output -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What Sema hands to IRGen: one tree per kernel instance in which nothing is
// left to decide. Every compile-time parameter has its value, `if const` and
// `for const` are resolved, fns are inlined, names are pointers to variables
// or parameters, literals have a dtype, and every conversion and broadcast is
// a node. IRGen is therefore a total walk: it asks no questions and cannot
// fail. Example:
//
//   y * 2 + v                     // y: f32[128, 1], v: f32[128, 64]
//     (add (broadcast (mul (var y) (const 2.0 : f32[128, 1])) : f32[128, 64])
//          (var v))
//
// Invariants:
//  - operands of an elementwise operation have one shape, and one dtype unless
//    the node says otherwise;
//  - evaluation order is left to right, depth first, in the order of the
//    members of each node; an InlineExpr may contain effects;
//  - nodes live in their Program's arena, are trivially destructible, and form
//    a tree (no node is the child of two nodes);
//  - a variable is read only where it has a value on every path.
//
// Nodes use LLVM's casting: `if (auto *load = dyn_cast<LoadExpr>(expr))`.
//===----------------------------------------------------------------------===//
#ifndef TILEC_FRONTEND_CHECKED_H
#define TILEC_FRONTEND_CHECKED_H

#include "tilec/Frontend/Source.h"
#include "tilec/Frontend/Type.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace tilec::checked {

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

struct CallSite;

/// A range in the source, and the chain of fn calls it was inlined through
/// (innermost first; null when written in the kernel itself).
struct Loc {
  SourceRange range;
  const CallSite *inlinedAt = nullptr;
};

/// One call of a fn that was inlined.
struct CallSite {
  llvm::StringRef callee;
  Loc at;
};

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

enum class UnaryOp : uint8_t {
#define UNARY_OP(Name, Spelling) Name,
#define UNARY_PREDICATE(Name, Spelling) Name,
#include "tilec/Frontend/CheckedOps.def"
};
enum class BinaryOp : uint8_t {
#define BINARY_OP(Name, Spelling) Name,
#include "tilec/Frontend/CheckedOps.def"
};
enum class CompareOp : uint8_t {
#define COMPARE_OP(Name, Spelling) Name,
#include "tilec/Frontend/CheckedOps.def"
};
enum class ReduceKind : uint8_t {
#define REDUCE_KIND(Name, Spelling) Name,
#include "tilec/Frontend/CheckedOps.def"
};
enum class ScanKind : uint8_t {
#define SCAN_KIND(Name, Spelling) Name,
#include "tilec/Frontend/CheckedOps.def"
};
enum class AtomicKind : uint8_t {
#define ATOMIC_KIND(Name, Spelling) Name,
#include "tilec/Frontend/CheckedOps.def"
};

llvm::StringRef spelling(UnaryOp op);
llvm::StringRef spelling(BinaryOp op);
llvm::StringRef spelling(CompareOp op);
llvm::StringRef spelling(ReduceKind kind);
llvm::StringRef spelling(ScanKind kind);
llvm::StringRef spelling(AtomicKind kind);

/// Rounding of float→float casts.
enum class Rounding : uint8_t { NearestEven, TowardZero, Down, Up };
enum class MmaPrecision : uint8_t { Default, TF32, TF32x3, Fast };
enum class MemoryOrder : uint8_t { Relaxed, Acquire, Release, AcqRel };
enum class MemoryScope : uint8_t { Block, GPU, System };

//===----------------------------------------------------------------------===//
// Variables and parameters
//===----------------------------------------------------------------------===//

/// A `let`, `var`, loop variable, fn parameter or fn result. Its type never
/// changes.
struct Variable {
  llvm::StringRef name;
  Type type;
  /// Assigned after its definition somewhere (IRGen must thread it).
  bool isMutable = false;
  Loc loc;
  /// Dense within its kernel.
  unsigned id = 0;
};

/// One dim of an array parameter: bound to a name, or fixed.
struct ArrayDim {
  llvm::StringRef name;            ///< empty when fixed by a literal
  std::optional<int64_t> constant; ///< the value when fixed at compile time
  SourceRange range;
};

/// A parameter of a kernel.
struct Param {
  enum class Kind : uint8_t { Array, Scalar };
  Kind kind = Kind::Scalar;
  llvm::StringRef name;
  DType dtype{};
  llvm::ArrayRef<ArrayDim> dims; ///< arrays only
  bool isMut = false;
  bool isStrided = false;
  unsigned index = 0;
  SourceRange range;

  bool isArray() const { return kind == Kind::Array; }
  unsigned rank() const { return static_cast<unsigned>(dims.size()); }
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

struct Stmt;
/// Statements in order; declares a scope.
using Block = llvm::ArrayRef<Stmt *>;

struct Expr {
  enum class Kind : uint8_t {
    // Leaves
    Constant, // a scalar, or a tile of one value
    VarRead,
    ScalarParam,
    ArrayDim,
    BlockId,
    NumBlocks,
    NumSMs,
    Aligned,
    // Elementwise
    Unary,
    Binary,
    Compare,
    Select,      // where, elementwise, both arms evaluated
    Fma,         // fma(a, b, c)
    Conditional, // c ? a : b, and scalar && ||: one arm evaluated
    Cast,
    Bitcast,
    // Shape
    Splat, // scalar → tile
    Arange,
    Reshape, // also expand_dims, squeeze; scalar ↔ one-element tile
    Permute,
    Broadcast, // equal rank, 1 → n
    Cat,
    ExtractSlice,
    InsertSlice,
    ExtractElement,
    Flip,
    Take,
    // Memory
    Load,
    Gather,
    Atomic,
    // Whole tiles
    Reduce,
    CustomReduce,
    Scan,
    CustomScan,
    Mma,
    Sort,
    ArgSort,
    TopK,
    Histogram,
    RandU32,
    // fns
    Inline,
  };

  Kind kind;
  /// Type of the value; of the first one where a node has several results.
  Type type;
  Loc loc;

protected:
  Expr(Kind kind, Type type, Loc loc) : kind(kind), type(type), loc(loc) {}
};

/// CRTP base that gives each node its `classof` and constructor.
template <typename Derived, Expr::Kind theKind> struct ExprNode : Expr {
  static bool classof(const Expr *expr) { return expr->kind == theKind; }
  ExprNode(Type type, Loc loc) : Expr(theKind, type, loc) {}
};

/// A scalar, or a tile whose elements are all equal. `bits` is the encoding in
/// the type's dtype: two's complement sign- or zero-extended to 64 bits for
/// integers and `int`, IEEE bits of that width for floats (tf32: the bits of
/// the f32), 0 or 1 for bool.
struct ConstantExpr : ExprNode<ConstantExpr, Expr::Kind::Constant> {
  using ExprNode::ExprNode;
  uint64_t bits = 0;
};

struct VarReadExpr : ExprNode<VarReadExpr, Expr::Kind::VarRead> {
  using ExprNode::ExprNode;
  const Variable *variable = nullptr;
};

struct ScalarParamExpr : ExprNode<ScalarParamExpr, Expr::Kind::ScalarParam> {
  using ExprNode::ExprNode;
  const Param *param = nullptr;
};

/// A runtime dim of an array, as `int`. A name bound by several arrays is
/// always read from the first.
struct ArrayDimExpr : ExprNode<ArrayDimExpr, Expr::Kind::ArrayDim> {
  using ExprNode::ExprNode;
  const Param *array = nullptr;
  unsigned axis = 0;
};

/// bid(axis) : int, axis 0 … 2.
struct BlockIdExpr : ExprNode<BlockIdExpr, Expr::Kind::BlockId> {
  using ExprNode::ExprNode;
  unsigned axis = 0;
};

/// num_blocks(axis) : int.
struct NumBlocksExpr : ExprNode<NumBlocksExpr, Expr::Kind::NumBlocks> {
  using ExprNode::ExprNode;
  unsigned axis = 0;
};

struct NumSMsExpr : ExprNode<NumSMsExpr, Expr::Kind::NumSMs> {
  using ExprNode::ExprNode;
};

/// Whether the address of `array` is a multiple of `bytes`. Only in `requires`.
struct AlignedExpr : ExprNode<AlignedExpr, Expr::Kind::Aligned> {
  using ExprNode::ExprNode;
  const Param *array = nullptr;
  int64_t bytes = 0;
};

/// Operand and result types are equal, but for predicates (bool result).
struct UnaryExpr : ExprNode<UnaryExpr, Expr::Kind::Unary> {
  using ExprNode::ExprNode;
  UnaryOp op{};
  Expr *operand = nullptr;
};

/// All three types are equal.
struct BinaryExpr : ExprNode<BinaryExpr, Expr::Kind::Binary> {
  using ExprNode::ExprNode;
  BinaryOp op{};
  Expr *left = nullptr, *right = nullptr;
};

/// Operand types are equal; the result is bool of their shape.
struct CompareExpr : ExprNode<CompareExpr, Expr::Kind::Compare> {
  using ExprNode::ExprNode;
  CompareOp op{};
  Expr *left = nullptr, *right = nullptr;
};

/// where(condition, a, b); the condition is bool of the result's shape.
struct SelectExpr : ExprNode<SelectExpr, Expr::Kind::Select> {
  using ExprNode::ExprNode;
  Expr *condition = nullptr, *whenTrue = nullptr, *whenFalse = nullptr;
};

/// a * b + c, rounded once; all types equal.
struct FmaExpr : ExprNode<FmaExpr, Expr::Kind::Fma> {
  using ExprNode::ExprNode;
  Expr *a = nullptr, *b = nullptr, *c = nullptr;
};

/// Only the chosen arm is evaluated. The condition is a scalar bool; the arms
/// have the result's type.
struct ConditionalExpr : ExprNode<ConditionalExpr, Expr::Kind::Conditional> {
  using ExprNode::ExprNode;
  Expr *condition = nullptr, *whenTrue = nullptr, *whenFalse = nullptr;
};

/// `.to(T)`, with the rules of section 4 of the language reference: saturating
/// float→int, wrapping int→int, f8 saturation, `→ bool` is `!= 0`. Same shape.
struct CastExpr : ExprNode<CastExpr, Expr::Kind::Cast> {
  using ExprNode::ExprNode;
  Expr *operand = nullptr;
  Rounding rounding = Rounding::NearestEven;
};

/// Same bits, another dtype of equal width.
struct BitcastExpr : ExprNode<BitcastExpr, Expr::Kind::Bitcast> {
  using ExprNode::ExprNode;
  Expr *operand = nullptr;
};

/// A tile of one runtime scalar (of the same dtype).
struct SplatExpr : ExprNode<SplatExpr, Expr::Kind::Splat> {
  using ExprNode::ExprNode;
  Expr *operand = nullptr;
};

/// start + i * step, rank 1, in the result's dtype (wrapping; floats: the
/// index is converted, multiplied and added in the dtype).
struct ArangeExpr : ExprNode<ArangeExpr, Expr::Kind::Arange> {
  using ExprNode::ExprNode;
  Expr *start = nullptr, *step = nullptr; ///< scalars of the result's dtype
};

/// Same elements in row-major order, another shape.
struct ReshapeExpr : ExprNode<ReshapeExpr, Expr::Kind::Reshape> {
  using ExprNode::ExprNode;
  Expr *operand = nullptr;
};

/// result.shape[i] = operand.shape[axes[i]].
struct PermuteExpr : ExprNode<PermuteExpr, Expr::Kind::Permute> {
  using ExprNode::ExprNode;
  Expr *operand = nullptr;
  llvm::ArrayRef<int64_t> axes;
};

/// Equal rank of 1 or more; axes of size 1 are repeated.
struct BroadcastExpr : ExprNode<BroadcastExpr, Expr::Kind::Broadcast> {
  using ExprNode::ExprNode;
  Expr *operand = nullptr;
};

/// A power of two of tiles of one type, joined along an axis.
struct CatExpr : ExprNode<CatExpr, Expr::Kind::Cat> {
  using ExprNode::ExprNode;
  llvm::ArrayRef<Expr *> operands;
  unsigned axis = 0;
};

/// The slice of the result's shape whose index (counting slices, one `int`
/// per axis) is given; outside: zeros.
struct ExtractSliceExpr : ExprNode<ExtractSliceExpr, Expr::Kind::ExtractSlice> {
  using ExprNode::ExprNode;
  Expr *operand = nullptr;
  llvm::ArrayRef<Expr *> index;
};

/// `operand` with the slice at `index` replaced; outside: unchanged.
struct InsertSliceExpr : ExprNode<InsertSliceExpr, Expr::Kind::InsertSlice> {
  using ExprNode::ExprNode;
  Expr *operand = nullptr;
  llvm::ArrayRef<Expr *> index;
  Expr *slice = nullptr;
};

/// x[i, j] as a scalar; outside: 0.
struct ExtractElementExpr : ExprNode<ExtractElementExpr, Expr::Kind::ExtractElement> {
  using ExprNode::ExprNode;
  Expr *operand = nullptr;
  llvm::ArrayRef<Expr *> index;
};

struct FlipExpr : ExprNode<FlipExpr, Expr::Kind::Flip> {
  using ExprNode::ExprNode;
  Expr *operand = nullptr;
  unsigned axis = 0;
};

/// Rank-1 indices: result[…, i, …] = x[…, indices[i], …]. Indices of x's rank:
/// along the axis. Any integer dtype; outside: 0.
struct TakeExpr : ExprNode<TakeExpr, Expr::Kind::Take> {
  using ExprNode::ExprNode;
  Expr *operand = nullptr, *indices = nullptr;
  unsigned axis = 0;
  bool alongAxis = false;
};

/// A tile of an array, or one element (scalar type, `elements` set).
/// `index`: one `int` per tile axis, in tile axis order, counting tiles, or
/// elements when `elements`. `order[k]`: the array axis along which tile axis k
/// runs (always given, identity by default). `pad` is a constant scalar of the
/// array's dtype.
struct LoadExpr : ExprNode<LoadExpr, Expr::Kind::Load> {
  using ExprNode::ExprNode;
  const Param *array = nullptr;
  llvm::ArrayRef<Expr *> index;
  llvm::ArrayRef<unsigned> order;
  ConstantExpr *pad = nullptr;
  bool elements = false;
};

/// One index (any integer dtype, result's shape) per array axis. `mask` (bool,
/// same shape) may be null. `pad` is a scalar of the array's dtype.
struct GatherExpr : ExprNode<GatherExpr, Expr::Kind::Gather> {
  using ExprNode::ExprNode;
  const Param *array = nullptr;
  llvm::ArrayRef<Expr *> index;
  Expr *mask = nullptr;
  ConstantExpr *pad = nullptr;
};

/// Returns the old value (type nothing for Store). `value` is null for Load;
/// `expected` only for Cas. Operands have one shape; mask may be null.
struct AtomicExpr : ExprNode<AtomicExpr, Expr::Kind::Atomic> {
  using ExprNode::ExprNode;
  AtomicKind op{};
  const Param *array = nullptr;
  llvm::ArrayRef<Expr *> index;
  Expr *expected = nullptr, *value = nullptr, *mask = nullptr;
  MemoryOrder order = MemoryOrder::Relaxed;
  MemoryScope scope = MemoryScope::GPU;
};

/// Sorted, unique axes are removed; all of them: a scalar. Sum and Prod of
/// f16/bf16 accumulate in f32 and round once; of bool, i8, i16 the operand was
/// cast to i32 (u8, u16: u32) by Sema. `keep: true` is a Reshape around it.
struct ReduceExpr : ExprNode<ReduceExpr, Expr::Kind::Reduce> {
  using ExprNode::ExprNode;
  ReduceKind op{};
  Expr *operand = nullptr;
  llvm::ArrayRef<int64_t> axes;
};

/// The inlined combining fn of a custom reduce or scan: scalars `left[i]`,
/// `right[i]` are bound, `body` is run, `results[i]` is the combination.
struct Region {
  llvm::ArrayRef<Variable *> left, right;
  Block body;
  llvm::ArrayRef<Expr *> results;
};

/// N operands of one shape, N results; `inits` are scalars, identities of the
/// fn. More than one result: only as the `init` of a LetStmt.
struct CustomReduceExpr : ExprNode<CustomReduceExpr, Expr::Kind::CustomReduce> {
  using ExprNode::ExprNode;
  llvm::ArrayRef<Expr *> operands, inits;
  llvm::ArrayRef<int64_t> axes;
  Region region;
  llvm::ArrayRef<Type> resultTypes;
};

struct ScanExpr : ExprNode<ScanExpr, Expr::Kind::Scan> {
  using ExprNode::ExprNode;
  ScanKind op{};
  Expr *operand = nullptr;
  unsigned axis = 0;
  bool reverse = false, exclusive = false;
};

/// `inits` is empty unless exclusive.
struct CustomScanExpr : ExprNode<CustomScanExpr, Expr::Kind::CustomScan> {
  using ExprNode::ExprNode;
  llvm::ArrayRef<Expr *> operands, inits;
  unsigned axis = 0;
  bool reverse = false, exclusive = false;
  Region region;
  llvm::ArrayRef<Type> resultTypes;
};

/// a: [M, K], b: [K, N], acc: [M, N]; or with one leading batch axis, equal on
/// all three (Sema broadcasts). Result has acc's type.
struct MmaExpr : ExprNode<MmaExpr, Expr::Kind::Mma> {
  using ExprNode::ExprNode;
  Expr *a = nullptr, *b = nullptr, *acc = nullptr;
  MmaPrecision precision = MmaPrecision::Default;
};

/// operands[0] is the key; more: payloads, and as many results.
struct SortExpr : ExprNode<SortExpr, Expr::Kind::Sort> {
  using ExprNode::ExprNode;
  llvm::ArrayRef<Expr *> operands;
  unsigned axis = 0;
  bool descending = false;
  llvm::ArrayRef<Type> resultTypes;
};

struct ArgSortExpr : ExprNode<ArgSortExpr, Expr::Kind::ArgSort> {
  using ExprNode::ExprNode;
  Expr *operand = nullptr;
  unsigned axis = 0;
  bool descending = false;
};

/// Two results: values, int indices.
struct TopKExpr : ExprNode<TopKExpr, Expr::Kind::TopK> {
  using ExprNode::ExprNode;
  Expr *operand = nullptr;
  unsigned axis = 0;
  llvm::ArrayRef<Type> resultTypes;
};

/// i32 counts, one per bin (the result's size).
struct HistogramExpr : ExprNode<HistogramExpr, Expr::Kind::Histogram> {
  using ExprNode::ExprNode;
  Expr *operand = nullptr;
};

/// Word `word` of Philox4x32-10: seed is a scalar u64, offsets a u64 tile or
/// scalar of the result's shape.
struct RandU32Expr : ExprNode<RandU32Expr, Expr::Kind::RandU32> {
  using ExprNode::ExprNode;
  Expr *seed = nullptr, *offsets = nullptr;
  unsigned word = 0;
};

/// An inlined fn. `body` binds the parameters by LetStmts, assigns `results`,
/// and leaves early by ReturnStmts whose `target` is this.
struct InlineBody {
  const CallSite *call = nullptr;
  Block body;
  llvm::ArrayRef<Variable *> results;
};

/// The value of an inlined fn with one result.
struct InlineExpr : ExprNode<InlineExpr, Expr::Kind::Inline> {
  using ExprNode::ExprNode;
  InlineBody *inlined = nullptr;
};

/// Types of all results of an expression (one, but for the nodes that have
/// `resultTypes`).
llvm::ArrayRef<Type> resultTypes(const Expr *expr);

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

struct Stmt {
  enum class Kind : uint8_t {
    Let, // let, var
    Assign,
    Store,
    Scatter,
    For,
    While,
    If,
    Break,
    Continue,
    Return,
    Fast,
    Scope,
    Inline,
    Eval,
    Assume,
    Assert,
    Print,
  };
  Kind kind;
  Loc loc;

protected:
  Stmt(Kind kind, Loc loc) : kind(kind), loc(loc) {}
};

template <typename Derived, Stmt::Kind theKind> struct StmtNode : Stmt {
  static bool classof(const Stmt *stmt) { return stmt->kind == theKind; }
  explicit StmtNode(Loc loc) : Stmt(theKind, loc) {}
};

/// Defines variables (several: `init` has that many results). `init` is null
/// for `var x: T;` and for fn results: no value yet.
struct LetStmt : StmtNode<LetStmt, Stmt::Kind::Let> {
  using StmtNode::StmtNode;
  llvm::ArrayRef<Variable *> variables;
  Expr *init = nullptr;
};

/// variable = value, of equal type.
struct AssignStmt : StmtNode<AssignStmt, Stmt::Kind::Assign> {
  using StmtNode::StmtNode;
  Variable *variable = nullptr;
  Expr *value = nullptr;
};

/// As LoadExpr; `value` has the array's dtype (a scalar with `elements`).
struct StoreStmt : StmtNode<StoreStmt, Stmt::Kind::Store> {
  using StmtNode::StmtNode;
  const Param *array = nullptr;
  llvm::ArrayRef<Expr *> index;
  llvm::ArrayRef<unsigned> order;
  bool elements = false;
  Expr *value = nullptr;
};

struct ScatterStmt : StmtNode<ScatterStmt, Stmt::Kind::Scatter> {
  using StmtNode::StmtNode;
  const Param *array = nullptr;
  llvm::ArrayRef<Expr *> index;
  Expr *value = nullptr;
  Expr *mask = nullptr; ///< may be null
};

/// Bounds and step are evaluated once, before; all are `int`. A step ≤ 0 gives
/// no iteration. `assigned`: variables defined outside and assigned inside.
struct ForStmt : StmtNode<ForStmt, Stmt::Kind::For> {
  using StmtNode::StmtNode;
  Variable *induction = nullptr;
  Expr *lower = nullptr, *upper = nullptr, *step = nullptr;
  Block body;
  llvm::ArrayRef<Variable *> assigned;
};

struct WhileStmt : StmtNode<WhileStmt, Stmt::Kind::While> {
  using StmtNode::StmtNode;
  Expr *condition = nullptr; ///< scalar bool, evaluated before each iteration
  Block body;
  llvm::ArrayRef<Variable *> assigned;
};

struct IfStmt : StmtNode<IfStmt, Stmt::Kind::If> {
  using StmtNode::StmtNode;
  Expr *condition = nullptr; ///< scalar bool
  Block thenBlock, elseBlock;
  llvm::ArrayRef<Variable *> assigned;
};

/// Leaves, or continues, the innermost loop of the same kernel or inlined fn.
struct BreakStmt : StmtNode<BreakStmt, Stmt::Kind::Break> {
  using StmtNode::StmtNode;
};
struct ContinueStmt : StmtNode<ContinueStmt, Stmt::Kind::Continue> {
  using StmtNode::StmtNode;
};

/// Leaves the inlined fn `target` (results are assigned before), or the kernel
/// when null. Not emitted at the very end of a body.
struct ReturnStmt : StmtNode<ReturnStmt, Stmt::Kind::Return> {
  using StmtNode::StmtNode;
  const InlineBody *target = nullptr;
};

/// Approximate functions are allowed inside.
struct FastStmt : StmtNode<FastStmt, Stmt::Kind::Fast> {
  using StmtNode::StmtNode;
  Block body;
};

/// A block of its own: `{ … }`, the arm of an `if const`, one round of a
/// `for const`.
struct ScopeStmt : StmtNode<ScopeStmt, Stmt::Kind::Scope> {
  using StmtNode::StmtNode;
  Block body;
};

/// An inlined fn whose results are read by later statements, or not at all.
/// The result variables are visible in the statements that follow.
struct InlineStmt : StmtNode<InlineStmt, Stmt::Kind::Inline> {
  using StmtNode::StmtNode;
  InlineBody *inlined = nullptr;
};

/// An expression for its effect (an atomic, an InlineExpr).
struct EvalStmt : StmtNode<EvalStmt, Stmt::Kind::Eval> {
  using StmtNode::StmtNode;
  Expr *value = nullptr;
};

/// A trusted fact, scalar bool.
struct AssumeStmt : StmtNode<AssumeStmt, Stmt::Kind::Assume> {
  using StmtNode::StmtNode;
  Expr *condition = nullptr;
};

/// assert(cond, "msg"), bool scalar or tile.
struct AssertStmt : StmtNode<AssertStmt, Stmt::Kind::Assert> {
  using StmtNode::StmtNode;
  Expr *condition = nullptr;
  llvm::StringRef message;
};

/// print("a {} b {}", x, y): pieces has one more entry than values.
struct PrintStmt : StmtNode<PrintStmt, Stmt::Kind::Print> {
  using StmtNode::StmtNode;
  llvm::ArrayRef<llvm::StringRef> pieces;
  llvm::ArrayRef<Expr *> values;
};

//===----------------------------------------------------------------------===//
// Kernels and programs
//===----------------------------------------------------------------------===//

/// A precondition, in three forms.
struct Requirement {
  std::string hostText;      ///< grammar of Support/HostExpr.h; empty if it holds always
  llvm::StringRef text;      ///< as written
  SourceRange range;
  Expr *condition = nullptr; ///< scalar bool, to assume; null when it has an AlignedExpr
};

/// A compile-time parameter's value.
struct ConstantValue {
  enum class Kind : uint8_t { Int, Bool, DType };
  llvm::StringRef name;
  std::string text; ///< as in source: `128`, `f16`, `true`
  Kind kind = Kind::Int;
  int64_t value = 0; ///< Int, Bool
  DType dtype{};     ///< DType
};

/// hint(name: value) for `arch`, or for every chip when that is empty.
struct Hint {
  llvm::StringRef name;
  int64_t value = 0;
  llvm::StringRef arch;
  SourceRange range;
};

/// One instance of a kernel.
struct Kernel {
  llvm::StringRef name;       ///< symbol: the kernel's, or the name after `as`
  llvm::StringRef sourceName; ///< the kernel's
  llvm::StringRef docComment; ///< text after `///`, lines joined by '\n'
  SourceRange range;          ///< of the name
  llvm::ArrayRef<Param *> params;
  std::vector<ConstantValue> constants;
  bool hasGrid = false;
  std::vector<std::string> grid; ///< host expressions, up to three
  std::vector<Requirement> requirements;
  std::vector<Hint> hints;
  Block body;
  unsigned numVariables = 0;
};

/// Owns the nodes.
class Program {
public:
  Program() = default;
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  std::vector<std::unique_ptr<Kernel>> kernels;

  template <typename T, typename... Args> T *create(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (arena.Allocate<T>()) T(std::forward<Args>(args)...);
  }
  /// Copies into the arena.
  template <typename T> llvm::ArrayRef<T> copy(llvm::ArrayRef<T> list) { return list.copy(arena); }
  llvm::StringRef copy(llvm::StringRef text) { return text.copy(arena); }

private:
  llvm::BumpPtrAllocator arena;
};

/// Prints a program as indented s-expressions, for tests and debugging.
void print(const Program &program, llvm::raw_ostream &os);
void print(const Kernel &kernel, llvm::raw_ostream &os);
void print(const Expr *expr, llvm::raw_ostream &os);

} // namespace tilec::checked

#endif // TILEC_FRONTEND_CHECKED_H
