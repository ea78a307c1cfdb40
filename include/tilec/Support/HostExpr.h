//===- HostExpr.h - expressions that the launcher evaluates -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// `grid` and `requires` of a kernel speak about dims and scalar arguments, and
// are evaluated on the host at every launch. They travel as text: in attributes
// of `tile.kernel`, in module files, in generated headers.
//
//   grid [cdiv(m, BM)]     →  "cdiv(dim(0, 0), 128)"
//   requires k % 8 == 0    →  "dim(0, 1) % 8 == 0"
//
// Grammar (spaces are free; precedence as in the tile language, which is Rust's):
//
//   expr    := or ('?' expr ':' expr)?          or  := and ('||' and)*
//   and     := cmp ('&&' cmp)*                  cmp := add (cmpop add)?
//   cmpop   := == != < <= > >=
//   add     := mul (('+' | '-') mul)*           mul := unary (('*' | '/' | '%') unary)*
//   unary   := ('-' | '!') unary | primary
//   primary := INT | FLOAT | 'true' | 'false' | 'inf' | 'nan' | '(' expr ')'
//            | 'dim' '(' INT ',' INT ')'        dim d of array parameter p
//            | 'arg' '(' INT ')'                value of scalar parameter p
//            | 'num_sms' '(' ')'                the device's number of multiprocessors
//            | 'aligned' '(' INT ',' expr ')'   address of array parameter p is a multiple of n bytes
//            | 'floordiv|mod|cdiv|min|max' '(' expr ',' expr ')' | 'abs' '(' expr ')'
//            | 'int' '(' expr ')' | 'float' '(' expr ')'
//
// p counts kernel parameters from 0, arrays and scalars alike.
//
// Values are `int` (64-bit, wraps), `float` (double) or `bool`. An int beside a
// float becomes a float. `/` on ints truncates, `%` has the dividend's sign,
// floordiv/mod/cdiv round down/take the divisor's sign/round up; MIN / -1 = MIN.
// Integer division by zero, and a bool where a number is wanted, fail: the launch
// is refused. `&& || ?:` evaluate only what they need. arg(p) of an unsigned or
// narrow integer gives its value (u64 above 2^63 wraps), of any float its value.
//
// Evaluation does not allocate. Nesting deeper than 256 is refused by parse.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_HOSTEXPR_H
#define TILEC_SUPPORT_HOSTEXPR_H

#include "tilec/Support/Expected.h"
#include "tilec/Support/KernelArg.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilec {

/// A value of a host expression.
struct HostValue {
  enum class Kind : uint8_t { Int, Float, Bool };
  Kind kind = Kind::Int;
  int64_t i = 0; ///< Int, and Bool as 0 or 1
  double f = 0;  ///< Float

  static HostValue integer(int64_t v) { return {Kind::Int, v, 0}; }
  static HostValue real(double v) { return {Kind::Float, 0, v}; }
  static HostValue boolean(bool v) { return {Kind::Bool, v, 0}; }

  bool isInt() const { return kind == Kind::Int; }
  bool isFloat() const { return kind == Kind::Float; }
  bool isBool() const { return kind == Kind::Bool; }
  /// The value as written in source: `42`, `0.5`, `true`.
  std::string str() const;
};

class HostExpr {
public:
  enum class Op : uint8_t {
    Constant, // value
    Dim,      // a = parameter, b = axis
    Arg,      // a = parameter
    NumSMs,   // of the device
    Aligned,  // a = parameter, lhs = bytes
    Neg,
    Not,
    Abs,
    ToInt,   // float → int: truncates, saturates, NaN gives 0; bool gives 0 or 1
    ToFloat, // int → float, to nearest even
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    FloorDiv,
    Mod,
    CeilDiv,
    Min,
    Max,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Select, // lhs ? rhs : third
  };

  /// Nodes are in postfix order: operands precede their user, the root is last.
  struct Node {
    Op op = Op::Constant;
    uint32_t a = 0, b = 0;                // parameter and axis
    uint32_t lhs = 0, rhs = 0, third = 0; // indices of operand nodes
    HostValue value;                      // of Constant
  };

  /// The constant 0.
  HostExpr() { nodes.push_back({}); }

  static HostExpr integer(int64_t v);
  static HostExpr real(double v);
  static HostExpr boolean(bool v);
  /// Dim `axis` of array parameter number `param`.
  static HostExpr dim(unsigned param, unsigned axis);
  /// Scalar parameter number `param`.
  static HostExpr arg(unsigned param);
  /// The device's number of multiprocessors.
  static HostExpr numSMs();
  /// Whether the address of array parameter `param` is a multiple of `bytes`.
  static HostExpr aligned(unsigned param, const HostExpr &bytes);
  static HostExpr unary(Op op, const HostExpr &x);
  static HostExpr binary(Op op, const HostExpr &x, const HostExpr &y);
  static HostExpr select(const HostExpr &c, const HostExpr &x, const HostExpr &y);

  /// Reads the text form; a failure names the column.
  static Expected<HostExpr> parse(std::string_view text);
  /// The text form; parse(str()) gives the same nodes.
  std::string str() const;

  /// The value for these arguments (one per kernel parameter), on a device of so many
  /// multiprocessors.
  Expected<HostValue> evaluate(std::span<const KernelArg> args, int32_t numSMs = 1) const;

  const std::vector<Node> &getNodes() const { return nodes; }
  const Node &getRoot() const { return nodes.back(); }

private:
  std::vector<Node> nodes;
};

} // namespace tilec

#endif // TILEC_SUPPORT_HOSTEXPR_H
