//===- ASTPrinter.cpp - syntax trees as text --------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: a tree. Out: the program it stands for, one statement a line, every
// operator in parentheses, so that the text shows how the source was understood
// and parses to the same tree again. Comments are gone, except `///`.
//
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/AST.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec::ast {

StringRef spelling(BinaryOp op) {
  static constexpr StringLiteral texts[] = {
      "*", "/",  "%",  "@", "+",  "-", "<<", ">>", "&", "^",
      "|", "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
  return texts[static_cast<unsigned>(op)];
}

StringRef spelling(UnaryOp op) {
  static constexpr StringLiteral texts[] = {"-", "!", "~"};
  return texts[static_cast<unsigned>(op)];
}

namespace {

class Printer {
public:
  explicit Printer(raw_ostream &os, unsigned indent = 0)
      : os(os), indent(indent) {}

  void print(const Decl &decl);
  void print(const Stmt &stmt);
  void print(const Expr &expr);
  void print(const TypeExpr &type);

private:
  void printKernel(const KernelDecl &kernel);
  void printFn(const FnDecl &fn);
  void printBody(const Block *block);
  void printFor(const ForStmt &loop);
  void printIf(const IfStmt &branch);
  void printString(StringRef text);

  void print(const Argument &arg) {
    if (arg.name)
      os << arg.name.text << ": ";
    print(*arg.value);
  }
  void print(const IndexItem &item) {
    if (item.kind == IndexItem::Kind::Value)
      print(*item.value);
    else
      os << (item.kind == IndexItem::Kind::All ? ":" : "None");
  }
  template <typename T>
  void printList(StringRef open, ArrayRef<T> list, StringRef close) {
    os << open;
    interleaveComma(list, os, [&](const T &element) {
      if constexpr (std::is_pointer_v<T>)
        print(*element);
      else
        print(element);
    });
    os << close;
  }
  void printInit(const TypeExpr *type, const Expr *init) {
    if (type) {
      os << ": ";
      print(*type);
    }
    if (init) {
      os << " = ";
      print(*init);
    }
    os << ';';
  }

  raw_ostream &os;
  unsigned indent;
};

} // namespace

//===----------------------------------------------------------------------===//
// Expressions and types
//===----------------------------------------------------------------------===//

void Printer::printString(StringRef text) {
  os << '"';
  for (char c : text) {
    switch (c) {
    case '\n':
      os << "\\n";
      break;
    case '\t':
      os << "\\t";
      break;
    case '\r':
      os << "\\r";
      break;
    case '\0':
      os << "\\0";
      break;
    case '"':
    case '\\':
      os << '\\' << c;
      break;
    default:
      os << c;
    }
  }
  os << '"';
}

void Printer::print(const Expr &expr) {
  switch (expr.getKind()) {
  case Expr::Kind::IntLiteral: {
    auto &e = cast<IntLiteralExpr>(expr);
    os << (e.negative ? "-" : "") << e.magnitude;
    return;
  }
  case Expr::Kind::FloatLiteral: {
    auto &e = cast<FloatLiteralExpr>(expr);
    os << (e.negative ? "-" : "") << e.digits;
    return;
  }
  case Expr::Kind::BoolLiteral:
    os << (cast<BoolLiteralExpr>(expr).value ? "true" : "false");
    return;
  case Expr::Kind::StringLiteral:
    return printString(cast<StringLiteralExpr>(expr).value);
  case Expr::Kind::Name:
    os << cast<NameExpr>(expr).name;
    return;
  case Expr::Kind::Unary: {
    auto &e = cast<UnaryExpr>(expr);
    // A minus before a bare number would become part of it.
    bool isNumber = isa<IntLiteralExpr, FloatLiteralExpr>(e.operand);
    os << '(' << spelling(e.op) << (isNumber ? "(" : "");
    print(*e.operand);
    os << (isNumber ? "))" : ")");
    return;
  }
  case Expr::Kind::Binary: {
    auto &e = cast<BinaryExpr>(expr);
    os << '(';
    print(*e.lhs);
    os << ' ' << spelling(e.op) << ' ';
    print(*e.rhs);
    os << ')';
    return;
  }
  case Expr::Kind::Conditional: {
    auto &e = cast<ConditionalExpr>(expr);
    os << '(';
    print(*e.cond);
    os << " ? ";
    print(*e.onTrue);
    os << " : ";
    print(*e.onFalse);
    os << ')';
    return;
  }
  case Expr::Kind::Call: {
    auto &e = cast<CallExpr>(expr);
    print(*e.callee);
    return printList("(", e.args, ")");
  }
  case Expr::Kind::Member: {
    auto &e = cast<MemberExpr>(expr);
    print(*e.base);
    os << '.' << e.member.text;
    return;
  }
  case Expr::Kind::Index: {
    auto &e = cast<IndexExpr>(expr);
    print(*e.base);
    return printList("[", e.items, "]");
  }
  case Expr::Kind::List:
    return printList("[", cast<ListExpr>(expr).elements, "]");
  case Expr::Kind::Tuple:
    return printList("(", cast<TupleExpr>(expr).elements, ")");
  }
}

void Printer::print(const TypeExpr &type) {
  switch (type.getKind()) {
  case TypeExpr::Kind::Name:
    os << cast<NameTypeExpr>(type).name.text;
    return;
  case TypeExpr::Kind::Tile: {
    auto &t = cast<TileTypeExpr>(type);
    os << t.element.text;
    return printList("[", t.dims, "]");
  }
  case TypeExpr::Kind::Array: {
    auto &t = cast<ArrayTypeExpr>(type);
    os << (t.isMut() ? "mut " : "") << (t.isStrided() ? "strided " : "")
       << "array<";
    print(*t.element);
    return printList(", [", t.dims, "]>");
  }
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Printer::printBody(const Block *block) {
  os << "{\n";
  if (block) {
    indent += 2;
    for (const Stmt *stmt : block->stmts) {
      os.indent(indent);
      print(*stmt);
      os << '\n';
    }
    indent -= 2;
  }
  os.indent(indent) << '}';
}

void Printer::printFor(const ForStmt &loop) {
  os << "for " << (loop.isConst() ? "const " : "") << loop.var.text << " in ";
  print(*loop.lo);
  os << "..";
  print(*loop.hi);
  if (loop.step) {
    os << " step ";
    print(*loop.step);
  }
  os << ' ';
  printBody(loop.body);
}

void Printer::printIf(const IfStmt &branch) {
  os << "if " << (branch.isConst() ? "const " : "");
  print(*branch.cond);
  os << ' ';
  printBody(branch.thenBlock);
  if (branch.elseStmt) {
    os << " else ";
    print(*branch.elseStmt);
  }
}

void Printer::print(const Stmt &stmt) {
  switch (stmt.getKind()) {
  case Stmt::Kind::Let: {
    auto &s = cast<LetStmt>(stmt);
    os << "let ";
    if (s.isTuple) {
      os << '(';
      interleaveComma(s.names, os, [&](const Name &name) { os << name.text; });
      os << ')';
    } else {
      os << s.names.front().text;
    }
    return printInit(s.type, s.init);
  }
  case Stmt::Kind::Var: {
    auto &s = cast<VarStmt>(stmt);
    os << "var " << s.name.text;
    return printInit(s.type, s.init);
  }
  case Stmt::Kind::Const: {
    auto &s = cast<ConstStmt>(stmt);
    os << "const " << s.name.text;
    return printInit(s.type, s.init);
  }
  case Stmt::Kind::Assign: {
    auto &s = cast<AssignStmt>(stmt);
    os << s.target.text << ' ' << (s.op ? spelling(*s.op) : "") << "= ";
    print(*s.value);
    os << ';';
    return;
  }
  case Stmt::Kind::For:
    return printFor(cast<ForStmt>(stmt));
  case Stmt::Kind::While:
    os << "while ";
    print(*cast<WhileStmt>(stmt).cond);
    os << ' ';
    return printBody(cast<WhileStmt>(stmt).body);
  case Stmt::Kind::If:
    return printIf(cast<IfStmt>(stmt));
  case Stmt::Kind::Break:
    os << "break;";
    return;
  case Stmt::Kind::Continue:
    os << "continue;";
    return;
  case Stmt::Kind::Return:
    os << "return";
    if (const Expr *value = cast<ReturnStmt>(stmt).value) {
      os << ' ';
      print(*value);
    }
    os << ';';
    return;
  case Stmt::Kind::Expr:
    print(*cast<ExprStmt>(stmt).call);
    os << ';';
    return;
  case Stmt::Kind::Block:
    return printBody(&cast<Block>(stmt));
  case Stmt::Kind::Fast:
    os << "fast ";
    return printBody(cast<FastStmt>(stmt).body);
  }
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void Printer::printKernel(const KernelDecl &kernel) {
  os << "kernel " << kernel.name.text;
  if (!kernel.constParams.empty()) {
    os << '<';
    interleaveComma(kernel.constParams, os, [&](const ConstParam &p) {
      os << p.name.text << ": " << p.bound.text;
      if (p.defaultValue) {
        os << " = ";
        print(*p.defaultValue);
      }
    });
    os << '>';
  }
  os << '(';
  interleaveComma(kernel.params, os, [&](const KernelParam &p) {
    os << p.name.text << ": ";
    print(*p.type);
  });
  os << ")\n";
  if (kernel.requiresRange.isValid())
    printList("  requires ", kernel.requirements, "\n");
  if (kernel.gridRange.isValid())
    printList("  grid [", kernel.grid, "]\n");
  for (const HintClause &hint : kernel.hints) {
    os << "  hint" << (hint.chip ? " " : "") << hint.chip.text;
    printList("(", hint.args, ")\n");
  }
  printBody(kernel.body);
}

void Printer::printFn(const FnDecl &fn) {
  os << "fn " << fn.name.text << '(';
  interleaveComma(fn.params, os, [&](const FnParam &p) {
    os << p.name.text;
    if (p.defaultValue) {
      os << " = ";
      print(*p.defaultValue);
    }
  });
  os << ") ";
  printBody(fn.body);
}

void Printer::print(const Decl &decl) {
  for (StringRef line : decl.doc)
    os << "///" << (line.empty() ? "" : " ") << line << '\n';
  switch (decl.getKind()) {
  case Decl::Kind::Kernel:
    printKernel(cast<KernelDecl>(decl));
    break;
  case Decl::Kind::Fn:
    printFn(cast<FnDecl>(decl));
    break;
  case Decl::Kind::Const: {
    auto &d = cast<ConstDecl>(decl);
    os << "const " << d.name.text;
    printInit(d.type, d.init);
    break;
  }
  case Decl::Kind::Import:
    os << "import ";
    printString(cast<ImportDecl>(decl).path);
    os << ';';
    break;
  case Decl::Kind::Specialize: {
    auto &d = cast<SpecializeDecl>(decl);
    os << "specialize " << d.kernel.text;
    printList("<", d.args, ">");
    os << " as " << d.name.text << ';';
    break;
  }
  case Decl::Kind::StaticAssert: {
    auto &d = cast<StaticAssertDecl>(decl);
    os << "static_assert(";
    print(*d.cond);
    if (d.message) {
      os << ", ";
      print(*d.message);
    }
    os << ");";
    break;
  }
  }
  os << '\n';
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

void print(const Program &program, raw_ostream &os) {
  interleave(
      program.files, os, [&](const File *file) { print(*file, os); }, "\n");
}

void print(const File &file, raw_ostream &os) {
  bool first = true;
  for (const Decl *decl : file.decls) {
    if (!first)
      os << '\n';
    first = false;
    print(*decl, os);
  }
}

void print(const Decl &decl, raw_ostream &os) { Printer(os).print(decl); }

void print(const Stmt &stmt, raw_ostream &os, unsigned indent) {
  Printer(os, indent).print(stmt);
}

void print(const Expr &expr, raw_ostream &os) { Printer(os).print(expr); }

void print(const TypeExpr &type, raw_ostream &os) { Printer(os).print(type); }

} // namespace tilec::ast
