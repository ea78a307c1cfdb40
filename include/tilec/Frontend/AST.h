//===- AST.h - what the parser builds ---------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: tokens. Out: the syntax of a program, nothing more: no types, no scopes,
// no resolved names. Sema reads it (a `fn` once for every instantiation) and
// builds its own checked tree, so nodes are never changed after parsing.
//
// Nodes live in the arena of an ast::Context and hold StringRefs into the
// source text, ArrayRefs into the arena and plain pointers; none has a
// destructor. Every node has a source range, and so has every name and
// argument. Kinds work with llvm::isa / cast / dyn_cast.
//
//   Decl      kernel, fn, const, import, specialize, static_assert
//   Stmt      let var const assign for while if break continue return
//             expression, block, fast
//   Expr      literals, name, unary, binary, conditional, call, member, index,
//             list, tuple
//   TypeExpr  name (`f32`, `T`), tile (`f32[BM]`), array (`array<T, [m]>`)
//
// After a syntax error the parser still hands over every declaration whose name
// it knows; one that lost text is `malformed` and Sema registers its name, so
// that uses resolve, but does not look inside.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_FRONTEND_AST_H
#define TILEC_FRONTEND_AST_H

#include "tilec/Frontend/Source.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"
#include <algorithm>
#include <optional>
#include <type_traits>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilec::ast {

class Block;
class Expr;
class TypeExpr;
struct File;

/// Limits that keep every recursion over the tree within a small stack.
constexpr unsigned maxNesting = 256; // blocks, parentheses, types, unary chains
constexpr unsigned maxExprHeight = 1024; // operators in a row, `a + b + …`

/// The arena that a program's nodes live in.
class Context {
public:
  /// Makes a node. Nodes are never destroyed, so they must not need it.
  template <typename T, typename... Args>
  T *create(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (arena.Allocate<T>()) T(std::forward<Args>(args)...);
  }
  /// Copies a list into the arena.
  template <typename T>
  llvm::ArrayRef<T> copy(llvm::ArrayRef<T> list) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (list.empty())
      return {};
    T *data = arena.Allocate<T>(list.size());
    std::uninitialized_copy(list.begin(), list.end(), data);
    return {data, list.size()};
  }
  llvm::StringRef copy(llvm::StringRef text) { return text.copy(arena); }

private:
  llvm::BumpPtrAllocator arena;
};

/// An identifier where it is written. `_` is an identifier like any other here;
/// where it declares, it discards.
struct Name {
  llvm::StringRef text;
  SourceRange range;
  explicit operator bool() const { return !text.empty(); }
};

/// What every node has.
class Node {
public:
  SourceRange getRange() const { return range; }
  SourceLoc getBegin() const { return range.begin; }

protected:
  explicit Node(SourceRange range) : range(range) {}
  SourceRange range;
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

class Expr : public Node {
public:
  enum class Kind : uint8_t {
    IntLiteral,
    FloatLiteral,
    BoolLiteral,
    StringLiteral,
    Name,
    Unary,
    Binary,
    Conditional,
    Call,
    Member,
    Index,
    List,
    Tuple,
  };
  Kind getKind() const { return kind; }
  /// 1 for a leaf, else one more than the highest operand; ≤ maxExprHeight.
  unsigned getHeight() const { return height; }

protected:
  Expr(Kind kind, SourceRange range, unsigned height = 1)
      : Node(range), height(height), kind(kind) {}
  static unsigned above(const Expr *e) { return e ? e->height + 1 : 1; }
  static unsigned above(llvm::ArrayRef<Expr *> list) {
    unsigned h = 1;
    for (const Expr *e : list)
      h = std::max(h, above(e));
    return h;
  }

private:
  uint32_t height;
  Kind kind;
};

/// `42`, `0xff`, `-128`: a minus sign directly before a number is part of it,
/// so
/// `-128.to(i8)` is (-128).to(i8).
class IntLiteralExpr : public Expr {
public:
  IntLiteralExpr(SourceRange range, uint64_t magnitude, bool negative)
      : Expr(Kind::IntLiteral, range), magnitude(magnitude),
        negative(negative) {}
  uint64_t magnitude;
  bool negative;
  static bool classof(const Expr *e) {
    return e->getKind() == Kind::IntLiteral;
  }
};

/// `1.5`, `-1e-3`, `inf`, `nan`. `digits` has the text without `_` and without
/// the sign, for whoever rounds to another format than f64 (from decimal,
/// once).
class FloatLiteralExpr : public Expr {
public:
  FloatLiteralExpr(SourceRange range, llvm::StringRef digits, double value,
                   bool negative)
      : Expr(Kind::FloatLiteral, range), digits(digits), value(value),
        negative(negative) {}
  llvm::StringRef digits; // "1.5", "inf", "nan"
  double value;           // with its sign; correctly rounded
  bool negative;
  static bool classof(const Expr *e) {
    return e->getKind() == Kind::FloatLiteral;
  }
};

class BoolLiteralExpr : public Expr {
public:
  BoolLiteralExpr(SourceRange range, bool value)
      : Expr(Kind::BoolLiteral, range), value(value) {}
  bool value;
  static bool classof(const Expr *e) {
    return e->getKind() == Kind::BoolLiteral;
  }
};

/// `"text"` with escapes resolved; only `print`, `assert` and their
/// compile-time relatives take one.
class StringLiteralExpr : public Expr {
public:
  StringLiteralExpr(SourceRange range, llvm::StringRef value)
      : Expr(Kind::StringLiteral, range), value(value) {}
  llvm::StringRef value;
  static bool classof(const Expr *e) {
    return e->getKind() == Kind::StringLiteral;
  }
};

/// Any identifier: a variable, dimension, constant, `fn`, builtin, dtype
/// (`f32`, `T`), or a word that a builtin takes (`relaxed`, `tf32x3`, `rz`).
class NameExpr : public Expr {
public:
  NameExpr(SourceRange range, llvm::StringRef name)
      : Expr(Kind::Name, range), name(name) {}
  llvm::StringRef name;
  static bool classof(const Expr *e) { return e->getKind() == Kind::Name; }
};

enum class UnaryOp : uint8_t { Neg, Not, BitNot };

class UnaryExpr : public Expr {
public:
  UnaryExpr(SourceRange range, UnaryOp op, SourceRange opRange, Expr *operand)
      : Expr(Kind::Unary, range, above(operand)), op(op), opRange(opRange),
        operand(operand) {}
  UnaryOp op;
  SourceRange opRange;
  Expr *operand;
  static bool classof(const Expr *e) { return e->getKind() == Kind::Unary; }
};

enum class BinaryOp : uint8_t {
  Mul,
  Div,
  Rem,
  MatMul, // * / % @
  Add,
  Sub,
  Shl,
  Shr,
  BitAnd,
  BitXor,
  BitOr,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge, // do not chain: the parser refuses `a < b < c`
  LogicalAnd,
  LogicalOr,
};

class BinaryExpr : public Expr {
public:
  BinaryExpr(SourceRange range, BinaryOp op, SourceRange opRange, Expr *lhs,
             Expr *rhs)
      : Expr(Kind::Binary, range, std::max(above(lhs), above(rhs))), op(op),
        opRange(opRange), lhs(lhs), rhs(rhs) {}
  BinaryOp op;
  SourceRange opRange;
  Expr *lhs, *rhs;
  static bool classof(const Expr *e) { return e->getKind() == Kind::Binary; }
};

/// `cond ? onTrue : onFalse`
class ConditionalExpr : public Expr {
public:
  ConditionalExpr(SourceRange range, Expr *cond, Expr *onTrue, Expr *onFalse)
      : Expr(Kind::Conditional, range,
             std::max({above(cond), above(onTrue), above(onFalse)})),
        cond(cond), onTrue(onTrue), onFalse(onFalse) {}
  Expr *cond, *onTrue, *onFalse;
  static bool classof(const Expr *e) {
    return e->getKind() == Kind::Conditional;
  }
};

/// `value` or `name: value`. The parser has checked that no positional argument
/// follows a named one and that no name is given twice in the list.
struct Argument {
  Name name; // empty when positional
  Expr *value;
  SourceRange range; // name and value
};

/// `f(args)`, and methods: `x.to(T)` is a call whose callee is a MemberExpr.
class CallExpr : public Expr {
public:
  CallExpr(SourceRange range, Expr *callee, llvm::ArrayRef<Argument> args,
           SourceRange parens)
      : Expr(Kind::Call, range, heightOf(callee, args)), callee(callee),
        args(args), parens(parens) {}
  Expr *callee;
  llvm::ArrayRef<Argument> args;
  SourceRange parens; // from `(` to `)`
  static bool classof(const Expr *e) { return e->getKind() == Kind::Call; }
  static unsigned heightOf(const Expr *callee, llvm::ArrayRef<Argument> args) {
    unsigned h = above(callee);
    for (const Argument &a : args)
      h = std::max(h, above(a.value));
    return h;
  }
};

/// `base.member`: `a.shape`, or the callee of `x.to(T)`.
class MemberExpr : public Expr {
public:
  MemberExpr(SourceRange range, Expr *base, Name member)
      : Expr(Kind::Member, range, above(base)), base(base), member(member) {}
  Expr *base;
  Name member;
  static bool classof(const Expr *e) { return e->getKind() == Kind::Member; }
};

/// One entry between the brackets of `x[…]`.
struct IndexItem {
  enum class Kind : uint8_t { Value, All, NewAxis }; // `i`, `:`, `None`
  Kind kind;
  Expr *value; // null unless Value
  SourceRange range;
};

/// `x[i, j]`, `a.shape[0]`, `x[:, None]`.
class IndexExpr : public Expr {
public:
  IndexExpr(SourceRange range, Expr *base, llvm::ArrayRef<IndexItem> items,
            SourceRange brackets)
      : Expr(Kind::Index, range, heightOf(base, items)), base(base),
        items(items), brackets(brackets) {}
  Expr *base;
  llvm::ArrayRef<IndexItem> items; // never empty
  SourceRange brackets;
  static bool classof(const Expr *e) { return e->getKind() == Kind::Index; }
  static unsigned heightOf(const Expr *base, llvm::ArrayRef<IndexItem> items) {
    unsigned h = above(base);
    for (const IndexItem &i : items)
      h = std::max(h, above(i.value));
    return h;
  }
};

/// `[BM, BN]`: a shape, an index, axes. May be empty (the shape of a scalar).
class ListExpr : public Expr {
public:
  ListExpr(SourceRange range, llvm::ArrayRef<Expr *> elements)
      : Expr(Kind::List, range, above(elements)), elements(elements) {}
  llvm::ArrayRef<Expr *> elements;
  static bool classof(const Expr *e) { return e->getKind() == Kind::List; }
};

/// `(x, y)`: in `return` and as the operands of reduce, scan and sort. Has two
/// or more elements: `(x)` is just x.
class TupleExpr : public Expr {
public:
  TupleExpr(SourceRange range, llvm::ArrayRef<Expr *> elements)
      : Expr(Kind::Tuple, range, above(elements)), elements(elements) {}
  llvm::ArrayRef<Expr *> elements;
  static bool classof(const Expr *e) { return e->getKind() == Kind::Tuple; }
};

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class TypeExpr : public Node {
public:
  enum class Kind : uint8_t { Name, Tile, Array };
  Kind getKind() const { return kind; }

protected:
  TypeExpr(Kind kind, SourceRange range) : Node(range), kind(kind) {}

private:
  Kind kind;
};

/// `f32`, `int`, `T`
class NameTypeExpr : public TypeExpr {
public:
  explicit NameTypeExpr(Name name)
      : TypeExpr(Kind::Name, name.range), name(name) {}
  Name name;
  static bool classof(const TypeExpr *t) { return t->getKind() == Kind::Name; }
};

/// `f32[BM, BN]`
class TileTypeExpr : public TypeExpr {
public:
  TileTypeExpr(SourceRange range, Name element, llvm::ArrayRef<Expr *> dims)
      : TypeExpr(Kind::Tile, range), element(element), dims(dims) {}
  Name element;
  llvm::ArrayRef<Expr *> dims;
  static bool classof(const TypeExpr *t) { return t->getKind() == Kind::Tile; }
};

/// `mut strided array<T, [m, 128]>`. A dim that is a plain NameExpr of no
/// compile-time value in scope binds that name to the runtime size.
class ArrayTypeExpr : public TypeExpr {
public:
  ArrayTypeExpr(SourceRange range, SourceRange mutRange,
                SourceRange stridedRange, TypeExpr *element,
                llvm::ArrayRef<Expr *> dims, SourceRange dimsRange)
      : TypeExpr(Kind::Array, range), mutRange(mutRange),
        stridedRange(stridedRange), element(element), dims(dims),
        dimsRange(dimsRange) {}
  SourceRange mutRange, stridedRange; // invalid where the word is absent
  TypeExpr *element;
  llvm::ArrayRef<Expr *> dims;
  SourceRange dimsRange; // with the brackets
  bool isMut() const { return mutRange.isValid(); }
  bool isStrided() const { return stridedRange.isValid(); }
  static bool classof(const TypeExpr *t) { return t->getKind() == Kind::Array; }
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

class Stmt : public Node {
public:
  enum class Kind : uint8_t {
    Let,
    Var,
    Const,
    Assign,
    For,
    While,
    If,
    Break,
    Continue,
    Return,
    Expr,
    Block,
    Fast,
  };
  Kind getKind() const { return kind; }

protected:
  Stmt(Kind kind, SourceRange range) : Node(range), kind(kind) {}

private:
  Kind kind;
};

/// `{ … }`: a scope of its own.
class Block : public Stmt {
public:
  Block(SourceRange range, llvm::ArrayRef<Stmt *> stmts)
      : Stmt(Kind::Block, range), stmts(stmts) {}
  llvm::ArrayRef<Stmt *> stmts;
  /// Where `}` is; what falls off the end of a scope is reported there.
  SourceRange getCloseBrace() const {
    return {range.end.advanced(-1), range.end};
  }
  static bool classof(const Stmt *s) { return s->getKind() == Kind::Block; }
};

/// `let x = e;`, `let x: f32[BM] = e;`, `let (a, b) = e;`
class LetStmt : public Stmt {
public:
  LetStmt(SourceRange range, llvm::ArrayRef<Name> names, bool isTuple,
          TypeExpr *type, Expr *init)
      : Stmt(Kind::Let, range), names(names), isTuple(isTuple), type(type),
        init(init) {}
  llvm::ArrayRef<Name> names; // one, or two and more if isTuple
  bool isTuple;
  TypeExpr *type; // null when not annotated; always null for a tuple
  Expr *init;
  static bool classof(const Stmt *s) { return s->getKind() == Kind::Let; }
};

/// `var x = e;`, `var x: f32[BM] = e;`, `var x: f32[BM];`
class VarStmt : public Stmt {
public:
  VarStmt(SourceRange range, Name name, TypeExpr *type, Expr *init)
      : Stmt(Kind::Var, range), name(name), type(type), init(init) {}
  Name name;
  TypeExpr *type; // null when not annotated
  Expr *init;     // null when declared unset; then `type` is there
  static bool classof(const Stmt *s) { return s->getKind() == Kind::Var; }
};

/// `const N = e;` in a body.
class ConstStmt : public Stmt {
public:
  ConstStmt(SourceRange range, Name name, TypeExpr *type, Expr *init)
      : Stmt(Kind::Const, range), name(name), type(type), init(init) {}
  Name name;
  TypeExpr *type; // null when not annotated
  Expr *init;
  static bool classof(const Stmt *s) { return s->getKind() == Kind::Const; }
};

/// `x = e;`, `x += e;`. Only names are assigned to: tiles are immutable and
/// arrays are written by `store`; the parser says so for `x[i] = e`.
class AssignStmt : public Stmt {
public:
  AssignStmt(SourceRange range, Name target, std::optional<BinaryOp> op,
             SourceRange opRange, Expr *value)
      : Stmt(Kind::Assign, range), target(target), op(op), opRange(opRange),
        value(value) {}
  Name target;
  std::optional<BinaryOp> op; // none for plain `=`
  SourceRange opRange;
  Expr *value;
  static bool classof(const Stmt *s) { return s->getKind() == Kind::Assign; }
};

/// `for i in lo..hi step s { … }`, `for const i in 0..4 { … }`
class ForStmt : public Stmt {
public:
  ForStmt(SourceRange range, SourceRange constRange, Name var, Expr *lo,
          Expr *hi, Expr *step, Block *body)
      : Stmt(Kind::For, range), constRange(constRange), var(var), lo(lo),
        hi(hi), step(step), body(body) {}
  SourceRange constRange; // invalid unless unrolled
  Name var;
  Expr *lo, *hi;
  Expr *step; // null: 1
  Block *body;
  bool isConst() const { return constRange.isValid(); }
  static bool classof(const Stmt *s) { return s->getKind() == Kind::For; }
};

class WhileStmt : public Stmt {
public:
  WhileStmt(SourceRange range, Expr *cond, Block *body)
      : Stmt(Kind::While, range), cond(cond), body(body) {}
  Expr *cond;
  Block *body;
  static bool classof(const Stmt *s) { return s->getKind() == Kind::While; }
};

/// `if c { … } else if d { … } else { … }`, `if const c { … }`
class IfStmt : public Stmt {
public:
  IfStmt(SourceRange range, SourceRange constRange, Expr *cond,
         Block *thenBlock, Stmt *elseStmt)
      : Stmt(Kind::If, range), constRange(constRange), cond(cond),
        thenBlock(thenBlock), elseStmt(elseStmt) {}
  SourceRange constRange; // invalid unless `if const`
  Expr *cond;
  Block *thenBlock;
  Stmt *elseStmt; // null, a Block or an IfStmt; `else if` counts as nesting
  bool isConst() const { return constRange.isValid(); }
  static bool classof(const Stmt *s) { return s->getKind() == Kind::If; }
};

class BreakStmt : public Stmt {
public:
  explicit BreakStmt(SourceRange range) : Stmt(Kind::Break, range) {}
  static bool classof(const Stmt *s) { return s->getKind() == Kind::Break; }
};

class ContinueStmt : public Stmt {
public:
  explicit ContinueStmt(SourceRange range) : Stmt(Kind::Continue, range) {}
  static bool classof(const Stmt *s) { return s->getKind() == Kind::Continue; }
};

/// `return;`, `return e;`, `return (a, b);`
class ReturnStmt : public Stmt {
public:
  ReturnStmt(SourceRange range, Expr *value)
      : Stmt(Kind::Return, range), value(value) {}
  Expr *value; // null, an expression or a TupleExpr
  static bool classof(const Stmt *s) { return s->getKind() == Kind::Return; }
};

/// A call for its effect. The parser refuses any other expression.
class ExprStmt : public Stmt {
public:
  ExprStmt(SourceRange range, CallExpr *call)
      : Stmt(Kind::Expr, range), call(call) {}
  CallExpr *call;
  static bool classof(const Stmt *s) { return s->getKind() == Kind::Expr; }
};

/// `fast { … }`: approximate arithmetic allowed inside.
class FastStmt : public Stmt {
public:
  FastStmt(SourceRange range, Block *body)
      : Stmt(Kind::Fast, range), body(body) {}
  Block *body;
  static bool classof(const Stmt *s) { return s->getKind() == Kind::Fast; }
};

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

class Decl : public Node {
public:
  enum class Kind : uint8_t {
    Kernel,
    Fn,
    Const,
    Import,
    Specialize,
    StaticAssert,
  };
  Kind getKind() const { return kind; }
  /// What it defines; empty for import and static_assert.
  Name name;
  /// Text of the `///` lines above it, without the slashes and one space.
  llvm::ArrayRef<llvm::StringRef> doc;
  /// Text was lost to a syntax error (reported): do not look inside.
  bool malformed = false;
  void setRange(SourceRange r) { range = r; }

protected:
  Decl(Kind kind, SourceRange range, Name name)
      : Node(range), name(name), kind(kind) {}

private:
  Kind kind;
};

/// `T: float = bf16` between `<` and `>`.
struct ConstParam {
  Name name;
  Name bound;         // float signed unsigned integer number dtype int bool
  Expr *defaultValue; // null: must be set
  SourceRange range;
};

/// `a: array<T, [m, k]>` or `n: int`
struct KernelParam {
  Name name;
  TypeExpr *type;
  SourceRange range;
};

/// `hint(num_warps: 4)`, `hint sm_90a(num_stages: 3)`; the arguments are named.
struct HintClause {
  Name chip; // empty: for all
  llvm::ArrayRef<Argument> args;
  SourceRange range;
};

class KernelDecl : public Decl {
public:
  KernelDecl(SourceRange range, Name name) : Decl(Kind::Kernel, range, name) {}
  llvm::ArrayRef<ConstParam> constParams;
  llvm::ArrayRef<KernelParam> params;
  llvm::ArrayRef<Expr *> requirements; // `requires e, …`
  SourceRange requiresRange;           // invalid without the clause
  llvm::ArrayRef<Expr *> grid;         // one to three
  SourceRange gridRange;               // invalid without the clause
  llvm::ArrayRef<HintClause> hints;    // at most one a chip
  Block *body = nullptr;               // null only if malformed
  static bool classof(const Decl *d) { return d->getKind() == Kind::Kernel; }
};

/// `x` or `eps = 1e-5`
struct FnParam {
  Name name;
  Expr *defaultValue; // null: must be given
  SourceRange range;
};

class FnDecl : public Decl {
public:
  FnDecl(SourceRange range, Name name) : Decl(Kind::Fn, range, name) {}
  llvm::ArrayRef<FnParam> params;
  SourceRange paramsRange; // with the parentheses
  Block *body = nullptr;   // null only if malformed
  static bool classof(const Decl *d) { return d->getKind() == Kind::Fn; }
};

/// `const X = e;`
class ConstDecl : public Decl {
public:
  ConstDecl(SourceRange range, Name name, TypeExpr *type, Expr *init)
      : Decl(Kind::Const, range, name), type(type), init(init) {}
  TypeExpr *type; // null when not annotated
  Expr *init;     // null only if malformed
  static bool classof(const Decl *d) { return d->getKind() == Kind::Const; }
};

/// `import "path.tile";`
class ImportDecl : public Decl {
public:
  ImportDecl(SourceRange range, llvm::StringRef path, SourceRange pathRange)
      : Decl(Kind::Import, range, {}), path(path), pathRange(pathRange) {}
  llvm::StringRef path; // as written
  SourceRange pathRange;
  File *file = nullptr; // null when it could not be loaded (reported)
  static bool classof(const Decl *d) { return d->getKind() == Kind::Import; }
};

/// `specialize matmul<f16, BM: 128> as matmul_f16;` The new name is `name`.
class SpecializeDecl : public Decl {
public:
  SpecializeDecl(SourceRange range, Name kernel, llvm::ArrayRef<Argument> args,
                 Name as)
      : Decl(Kind::Specialize, range, as), kernel(kernel), args(args) {}
  Name kernel;
  llvm::ArrayRef<Argument> args;
  static bool classof(const Decl *d) {
    return d->getKind() == Kind::Specialize;
  }
};

/// `static_assert(cond, "msg");` outside of bodies. In a body it is a call.
class StaticAssertDecl : public Decl {
public:
  StaticAssertDecl(SourceRange range, Expr *cond, StringLiteralExpr *message)
      : Decl(Kind::StaticAssert, range, {}), cond(cond), message(message) {}
  Expr *cond;
  StringLiteralExpr *message; // null when not given
  static bool classof(const Decl *d) {
    return d->getKind() == Kind::StaticAssert;
  }
};

/// One source file.
struct File {
  FileId id;
  llvm::ArrayRef<Decl *> decls; // in source order, imports included
};

/// What one run of the compiler reads.
struct Program {
  /// Every file once, each after the files that it imports.
  std::vector<File *> files;
  /// The files named by the user, in their order.
  std::vector<File *> roots;
};

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// The operator as written: "+", "&&", "@".
llvm::StringRef spelling(BinaryOp op);
llvm::StringRef spelling(UnaryOp op);

/// `--emit=ast`: source-like text with all groupings in parentheses; parsing
/// what it prints gives the same tree.
void print(const Program &program, llvm::raw_ostream &os);
void print(const File &file, llvm::raw_ostream &os);
void print(const Decl &decl, llvm::raw_ostream &os);
void print(const Stmt &stmt, llvm::raw_ostream &os, unsigned indent = 0);
void print(const Expr &expr, llvm::raw_ostream &os);
void print(const TypeExpr &type, llvm::raw_ostream &os);

} // namespace tilec::ast

#endif // TILEC_FRONTEND_AST_H
