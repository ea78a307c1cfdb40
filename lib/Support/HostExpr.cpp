//===- HostExpr.cpp - expressions that the launcher evaluates -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Text ↔ nodes in postfix order → value. The text comes from our compiler or from
// a module file that may be damaged, so building, reading and evaluating are total:
// every operand index is made here, recursion is bounded by the nesting limit, and
// integer arithmetic wraps instead of overflowing.
//
// Each binary operator is one row of a table (spelling, precedence), which both
// the reader and the printer follow, so they cannot disagree.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/HostExpr.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

using namespace tilec;
using Op = HostExpr::Op;
using Node = HostExpr::Node;

//===-- Operators -----------------------------------------------------------===//

namespace {
enum Level { LevelSelect, LevelOr, LevelAnd, LevelCompare, LevelAdd, LevelMul, LevelUnary };

struct OperatorRow {
  Op op;
  Level level;
  std::string_view spelling;
};
// Longer spellings before their prefixes.
constexpr OperatorRow operators[] = {
    {Op::Or, LevelOr, "||"},     {Op::And, LevelAnd, "&&"},    {Op::Eq, LevelCompare, "=="},
    {Op::Ne, LevelCompare, "!="}, {Op::Le, LevelCompare, "<="}, {Op::Ge, LevelCompare, ">="},
    {Op::Lt, LevelCompare, "<"},  {Op::Gt, LevelCompare, ">"},  {Op::Add, LevelAdd, "+"},
    {Op::Sub, LevelAdd, "-"},     {Op::Mul, LevelMul, "*"},     {Op::Div, LevelMul, "/"},
    {Op::Rem, LevelMul, "%"},
};

struct FunctionRow {
  Op op;
  unsigned arity;
  std::string_view name;
};
constexpr FunctionRow functions[] = {
    {Op::FloorDiv, 2, "floordiv"}, {Op::Mod, 2, "mod"}, {Op::CeilDiv, 2, "cdiv"},
    {Op::Min, 2, "min"},           {Op::Max, 2, "max"}, {Op::Abs, 1, "abs"},
    {Op::ToInt, 1, "int"},         {Op::ToFloat, 1, "float"},
};

constexpr unsigned maxNesting = 512; // each parenthesis counts twice
constexpr size_t maxNodes = 4096;

const OperatorRow *findOperator(Op op) {
  for (const OperatorRow &row : operators)
    if (row.op == op)
      return &row;
  return nullptr;
}
const FunctionRow *findFunction(Op op) {
  for (const FunctionRow &row : functions)
    if (row.op == op)
      return &row;
  return nullptr;
}

/// Shortest text that reads back as the same double.
std::string printDouble(double v) {
  if (std::isnan(v))
    return "nan";
  if (std::isinf(v))
    return v < 0 ? "-inf" : "inf";
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, v).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}
} // namespace

std::string HostValue::str() const {
  switch (kind) {
  case Kind::Int:
    return std::to_string(i);
  case Kind::Float:
    return printDouble(f);
  case Kind::Bool:
    return i ? "true" : "false";
  }
  return "";
}

//===-- Building ------------------------------------------------------------===//

/// Appends the nodes of `x`, with their operand indices moved; gives its root.
static uint32_t append(std::vector<Node> &nodes, const HostExpr &x) {
  uint32_t base = static_cast<uint32_t>(nodes.size());
  for (Node node : x.getNodes()) {
    node.lhs += base;
    node.rhs += base;
    node.third += base;
    nodes.push_back(node);
  }
  return static_cast<uint32_t>(nodes.size()) - 1;
}

static Node leaf(HostValue value) {
  Node node;
  node.value = value;
  return node;
}

HostExpr HostExpr::integer(int64_t v) {
  HostExpr e;
  e.nodes = {leaf(HostValue::integer(v))};
  return e;
}

HostExpr HostExpr::real(double v) {
  HostExpr e;
  e.nodes = {leaf(HostValue::real(v))};
  return e;
}

HostExpr HostExpr::boolean(bool v) {
  HostExpr e;
  e.nodes = {leaf(HostValue::boolean(v))};
  return e;
}

HostExpr HostExpr::dim(unsigned param, unsigned axis) {
  HostExpr e;
  e.nodes[0].op = Op::Dim;
  e.nodes[0].a = param;
  e.nodes[0].b = axis;
  return e;
}

HostExpr HostExpr::arg(unsigned param) {
  HostExpr e;
  e.nodes[0].op = Op::Arg;
  e.nodes[0].a = param;
  return e;
}

HostExpr HostExpr::numSMs() {
  HostExpr e;
  e.nodes[0].op = Op::NumSMs;
  return e;
}

HostExpr HostExpr::aligned(unsigned param, const HostExpr &bytes) {
  HostExpr e = unary(Op::Aligned, bytes);
  e.nodes.back().a = param;
  return e;
}

HostExpr HostExpr::unary(Op op, const HostExpr &x) {
  HostExpr e;
  e.nodes.clear();
  Node node;
  node.op = op;
  node.lhs = node.rhs = node.third = append(e.nodes, x);
  e.nodes.push_back(node);
  return e;
}

HostExpr HostExpr::binary(Op op, const HostExpr &x, const HostExpr &y) {
  HostExpr e;
  e.nodes.clear();
  Node node;
  node.op = op;
  node.lhs = append(e.nodes, x);
  node.rhs = node.third = append(e.nodes, y);
  e.nodes.push_back(node);
  return e;
}

HostExpr HostExpr::select(const HostExpr &c, const HostExpr &x, const HostExpr &y) {
  HostExpr e;
  e.nodes.clear();
  Node node;
  node.op = Op::Select;
  node.lhs = append(e.nodes, c);
  node.rhs = append(e.nodes, x);
  node.third = append(e.nodes, y);
  e.nodes.push_back(node);
  return e;
}

//===-- Printing ------------------------------------------------------------===//

static std::string print(const std::vector<Node> &nodes, uint32_t index, Level context) {
  const Node &n = nodes[index];
  auto call = [&](std::string_view name, std::string args) {
    return std::string(name) + "(" + args + ")";
  };
  auto wrap = [&](Level level, std::string text) {
    return level < context ? "(" + text + ")" : text;
  };
  auto sub = [&](uint32_t operand, Level level) { return print(nodes, operand, level); };

  switch (n.op) {
  case Op::Constant:
    return n.value.str();
  case Op::Dim:
    return call("dim", std::to_string(n.a) + ", " + std::to_string(n.b));
  case Op::Arg:
    return call("arg", std::to_string(n.a));
  case Op::NumSMs:
    return call("num_sms", "");
  case Op::Aligned:
    return call("aligned", std::to_string(n.a) + ", " + sub(n.lhs, LevelSelect));
  case Op::Neg: {
    // `-5` would read back as the constant, `- 5` as this node.
    bool literal = nodes[n.lhs].op == Op::Constant;
    return "-" + (literal ? "(" + sub(n.lhs, LevelSelect) + ")" : sub(n.lhs, LevelUnary));
  }
  case Op::Not:
    return "!" + sub(n.lhs, LevelUnary);
  case Op::Select:
    return wrap(LevelSelect, sub(n.lhs, LevelOr) + " ? " + sub(n.rhs, LevelSelect) + " : " +
                                 sub(n.third, LevelSelect));
  default:
    break;
  }
  if (const FunctionRow *row = findFunction(n.op)) {
    std::string args = sub(n.lhs, LevelSelect);
    if (row->arity == 2)
      args += ", " + sub(n.rhs, LevelSelect);
    return call(row->name, args);
  }
  const OperatorRow *row = findOperator(n.op);
  // Left associative; comparisons do not chain.
  auto next = static_cast<Level>(row->level + 1);
  Level left = row->level == LevelCompare ? next : row->level;
  return wrap(row->level,
              sub(n.lhs, left) + " " + std::string(row->spelling) + " " + sub(n.rhs, next));
}

std::string HostExpr::str() const {
  return print(nodes, static_cast<uint32_t>(nodes.size()) - 1, LevelSelect);
}

//===-- Reading -------------------------------------------------------------===//

namespace {
class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  Expected<HostExpr> run() {
    HostExpr e = parseSelect();
    skipSpace();
    if (error.empty() && pos != text.size())
      fail("unexpected text");
    if (!error.empty())
      return failure("host expression `" + std::string(text.substr(0, 200)) + "`: " + error +
                     " at column " + std::to_string(errorPos + 1));
    return e;
  }

private:
  /// Remembers the first error and stops all further reading.
  HostExpr fail(std::string message) {
    if (error.empty()) {
      error = std::move(message);
      errorPos = pos;
    }
    pos = text.size();
    return HostExpr();
  }

  void skipSpace() {
    while (pos < text.size() && (text[pos] == ' ' || text[pos] == '\t' || text[pos] == '\n'))
      ++pos;
  }
  bool eat(std::string_view token) {
    skipSpace();
    if (!text.substr(pos).starts_with(token))
      return false;
    pos += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!eat(token))
      fail("expected `" + std::string(token) + "`");
  }

  /// Guards recursion and total size.
  struct Depth {
    Parser &parser;
    bool ok;
    explicit Depth(Parser &p) : parser(p), ok(++p.depth <= maxNesting) {
      if (!ok)
        p.fail("nested too deeply");
    }
    ~Depth() { --parser.depth; }
  };

  HostExpr parseSelect() {
    Depth guard(*this);
    if (!guard.ok)
      return HostExpr();
    HostExpr c = parseBinary(LevelOr);
    if (!eat("?"))
      return c;
    HostExpr x = parseSelect();
    expect(":");
    HostExpr y = parseSelect();
    return limited(HostExpr::select(c, x, y));
  }

  const OperatorRow *eatOperator(Level level) {
    skipSpace();
    for (const OperatorRow &row : operators)
      if (text.substr(pos).starts_with(row.spelling)) {
        if (row.level != level)
          return nullptr;
        pos += row.spelling.size();
        return &row;
      }
    return nullptr;
  }

  HostExpr parseBinary(Level level) {
    if (level == LevelUnary)
      return parseUnary();
    auto next = static_cast<Level>(level + 1);
    HostExpr e = parseBinary(next);
    while (const OperatorRow *row = eatOperator(level)) {
      e = limited(HostExpr::binary(row->op, e, parseBinary(next)));
      if (level == LevelCompare)
        break;
    }
    return e;
  }

  HostExpr parseUnary() {
    Depth guard(*this);
    if (!guard.ok)
      return HostExpr();
    if (eat("!"))
      return HostExpr::unary(Op::Not, parseUnary());
    if (eat("-")) {
      // A minus sign belongs to its literal.
      skipSpace();
      if (pos < text.size() && isDigit(text[pos]))
        return parseNumber(/*negative=*/true);
      if (text.substr(pos).starts_with("inf") && eatName() == "inf")
        return HostExpr::real(-std::numeric_limits<double>::infinity());
      return HostExpr::unary(Op::Neg, parseUnary());
    }
    return parsePrimary();
  }

  static bool isDigit(char c) { return c >= '0' && c <= '9'; }
  static bool isLetter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

  std::string_view eatName() {
    skipSpace();
    size_t start = pos;
    while (pos < text.size() && (isLetter(text[pos]) || (pos > start && isDigit(text[pos]))))
      ++pos;
    return text.substr(start, pos - start);
  }

  HostExpr parseNumber(bool negative) {
    size_t start = pos;
    while (pos < text.size() &&
           (isDigit(text[pos]) || text[pos] == '.' || text[pos] == 'e' ||
            ((text[pos] == '-' || text[pos] == '+') && pos > start && text[pos - 1] == 'e')))
      ++pos;
    std::string digits(text.substr(start, pos - start));
    const char *end = digits.data() + digits.size();
    if (digits.find_first_of(".e") != std::string::npos) {
      double v = 0;
      auto r = std::from_chars(digits.data(), end, v);
      if (r.ec != std::errc() || r.ptr != end)
        return fail("malformed number");
      return HostExpr::real(negative ? -v : v);
    }
    if (negative)
      digits.insert(0, "-");
    end = digits.data() + digits.size();
    int64_t v = 0;
    auto r = std::from_chars(digits.data(), end, v);
    if (r.ec != std::errc() || r.ptr != end)
      return fail("integer out of range");
    return HostExpr::integer(v);
  }

  unsigned parseIndex() {
    skipSpace();
    size_t start = pos;
    unsigned v = 0;
    while (pos < text.size() && isDigit(text[pos]) && pos - start < 6)
      v = v * 10 + static_cast<unsigned>(text[pos++] - '0');
    if (pos == start)
      fail("expected a number");
    return v;
  }

  HostExpr parsePrimary() {
    skipSpace();
    if (pos < text.size() && isDigit(text[pos]))
      return parseNumber(/*negative=*/false);
    if (eat("(")) {
      HostExpr e = parseSelect();
      expect(")");
      return e;
    }
    size_t start = pos;
    std::string_view name = eatName();
    if (name == "true" || name == "false")
      return HostExpr::boolean(name == "true");
    if (name == "inf")
      return HostExpr::real(std::numeric_limits<double>::infinity());
    if (name == "nan")
      return HostExpr::real(std::numeric_limits<double>::quiet_NaN());
    if (name.empty())
      return fail("expected an operand");
    return parseCall(name, start);
  }

  HostExpr parseCall(std::string_view name, size_t start) {
    expect("(");
    HostExpr e;
    if (name == "dim") {
      unsigned param = parseIndex();
      expect(",");
      e = HostExpr::dim(param, parseIndex());
    } else if (name == "arg") {
      e = HostExpr::arg(parseIndex());
    } else if (name == "num_sms") {
      e = HostExpr::numSMs();
    } else if (name == "aligned") {
      unsigned param = parseIndex();
      expect(",");
      e = HostExpr::aligned(param, parseSelect());
    } else {
      auto row = std::find_if(std::begin(functions), std::end(functions),
                              [&](const FunctionRow &r) { return r.name == name; });
      if (row == std::end(functions)) {
        pos = start;
        return fail("unknown name `" + std::string(name) + "`");
      }
      e = parseSelect();
      if (row->arity == 2) {
        expect(",");
        e = limited(HostExpr::binary(row->op, e, parseSelect()));
      } else {
        e = HostExpr::unary(row->op, e);
      }
    }
    expect(")");
    return e;
  }

  HostExpr limited(HostExpr e) {
    if (e.getNodes().size() > maxNodes)
      return fail("expression too long");
    return e;
  }

  std::string_view text;
  size_t pos = 0;
  unsigned depth = 0;
  std::string error;
  size_t errorPos = 0;
};
} // namespace

Expected<HostExpr> HostExpr::parse(std::string_view text) { return Parser(text).run(); }
