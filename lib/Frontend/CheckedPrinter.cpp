//===- CheckedPrinter.cpp - checked programs as text ----------------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Indented statements with s-expressions, for tests and debugging:
//
//   kernel add(x: array<f32, [n]>, y: mut array<f32, [n]>)
//     constants BN = 128
//     grid cdiv(dim(0, 0), 128)
//     let v = (load x [(bid 0)] pad 0.0 : f32[128])
//     store y [(bid 0)] (add v (const 1.0 : f32[128]))
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Checked.h"
#include "tilec/Frontend/ConstEval.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using namespace tilec::checked;
using llvm::ArrayRef;
using llvm::cast;
using llvm::raw_ostream;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Spellings
//===----------------------------------------------------------------------===//

StringRef checked::spelling(checked::UnaryOp op) {
  static constexpr StringRef names[] = {
#define UNARY_OP(Name, Spelling) Spelling,
#define UNARY_PREDICATE(Name, Spelling) Spelling,
#include "tilec/Frontend/CheckedOps.def"
  };
  return names[static_cast<unsigned>(op)];
}

StringRef checked::spelling(checked::BinaryOp op) {
  static constexpr StringRef names[] = {
#define BINARY_OP(Name, Spelling) Spelling,
#include "tilec/Frontend/CheckedOps.def"
  };
  return names[static_cast<unsigned>(op)];
}

StringRef checked::spelling(CompareOp op) {
  static constexpr StringRef names[] = {
#define COMPARE_OP(Name, Spelling) Spelling,
#include "tilec/Frontend/CheckedOps.def"
  };
  return names[static_cast<unsigned>(op)];
}

StringRef checked::spelling(ReduceKind kind) {
  static constexpr StringRef names[] = {
#define REDUCE_KIND(Name, Spelling) Spelling,
#include "tilec/Frontend/CheckedOps.def"
  };
  return names[static_cast<unsigned>(kind)];
}

StringRef checked::spelling(ScanKind kind) {
  static constexpr StringRef names[] = {
#define SCAN_KIND(Name, Spelling) Spelling,
#include "tilec/Frontend/CheckedOps.def"
  };
  return names[static_cast<unsigned>(kind)];
}

StringRef checked::spelling(AtomicKind kind) {
  static constexpr StringRef names[] = {
#define ATOMIC_KIND(Name, Spelling) Spelling,
#include "tilec/Frontend/CheckedOps.def"
  };
  return names[static_cast<unsigned>(kind)];
}

ArrayRef<Type> checked::resultTypes(const Expr *expr) {
  ArrayRef<Type> types;
  switch (expr->kind) {
  case Expr::Kind::CustomReduce:
    types = cast<CustomReduceExpr>(expr)->resultTypes;
    break;
  case Expr::Kind::CustomScan:
    types = cast<CustomScanExpr>(expr)->resultTypes;
    break;
  case Expr::Kind::Sort:
    types = cast<SortExpr>(expr)->resultTypes;
    break;
  case Expr::Kind::TopK:
    types = cast<TopKExpr>(expr)->resultTypes;
    break;
  default:
    break;
  }
  return types.empty() ? ArrayRef<Type>(expr->type) : types;
}

//===----------------------------------------------------------------------===//
// Printer
//===----------------------------------------------------------------------===//

namespace {
class Printer {
public:
  explicit Printer(raw_ostream &os) : os(os) {}
  void print(const Kernel &kernel);
  void print(const Expr *expr);

private:
  void print(const Stmt *stmt);
  void print(const Param *param);
  void printBlock(Block block);
  void printInline(const InlineBody *body);
  void printRegion(const Region &region);
  void printList(ArrayRef<Expr *> list);
  void printOperands(ArrayRef<const Expr *> list);
  void printOrder(ArrayRef<unsigned> order);
  void printAccess(const Param *array, ArrayRef<Expr *> index,
                   ArrayRef<unsigned> order, bool elements);
  void printWholeTile(const Expr *expr);
  void printShape(const Expr *expr);
  void printControl(const Stmt *stmt);
  raw_ostream &line() { return os.indent(indent); }
  template <typename T>
  void join(ArrayRef<T> list) {
    llvm::interleave(list, os, [&](const T &item) { os << item; }, ", ");
  }
  /// The name, made unique by the id where needed by readers: `acc.3`.
  raw_ostream &name(const Variable *variable) {
    return os << variable->name << '.' << variable->id;
  }

  raw_ostream &os;
  unsigned indent = 0;
};
} // namespace

void Printer::printList(ArrayRef<Expr *> list) {
  os << '[';
  llvm::interleave(list, os, [&](const Expr *item) { print(item); }, ", ");
  os << ']';
}

void Printer::printOperands(ArrayRef<const Expr *> list) {
  for (const Expr *operand : list) {
    if (!operand)
      continue;
    os << ' ';
    print(operand);
  }
}

void Printer::printOrder(ArrayRef<unsigned> order) {
  bool isIdentity = true;
  for (unsigned i = 0; i < order.size(); ++i)
    isIdentity &= order[i] == i;
  if (isIdentity)
    return;
  os << " order [";
  join(order);
  os << ']';
}

void Printer::printAccess(const Param *array, ArrayRef<Expr *> index,
                          ArrayRef<unsigned> order, bool elements) {
  os << (elements ? "_at " : " ") << array->name << ' ';
  printList(index);
  printOrder(order);
}

void Printer::printRegion(const Region &region) {
  os << " combine (";
  llvm::interleave(region.left, os, [&](const Variable *v) { name(v); }, ", ");
  os << "; ";
  llvm::interleave(region.right, os, [&](const Variable *v) { name(v); }, ", ");
  os << ") {\n";
  ++indent;
  printBlock(region.body);
  line() << "yield";
  for (const Expr *result : region.results) {
    os << ' ';
    print(result);
  }
  os << '\n';
  --indent;
  line() << '}';
}

void Printer::printInline(const InlineBody *body) {
  os << "inline " << body->call->callee << " {\n";
  ++indent;
  printBlock(body->body);
  --indent;
  line() << "} →";
  for (const Variable *result : body->results) {
    os << ' ';
    name(result);
  }
}

/// Operations on whole tiles.
void Printer::printWholeTile(const Expr *expr) {
  switch (expr->kind) {
  case Expr::Kind::Reduce: {
    auto *e = cast<ReduceExpr>(expr);
    os << spelling(e->op) << " axes [";
    join(e->axes);
    os << ']';
    return printOperands({e->operand});
  }
  case Expr::Kind::CustomReduce: {
    auto *e = cast<CustomReduceExpr>(expr);
    os << "reduce axes [";
    join(e->axes);
    os << "] ";
    printList(e->operands);
    os << " init ";
    printList(e->inits);
    return printRegion(e->region);
  }
  case Expr::Kind::Scan: {
    auto *e = cast<ScanExpr>(expr);
    os << spelling(e->op) << " axis " << e->axis
       << (e->reverse ? " reverse" : "") << (e->exclusive ? " exclusive" : "");
    return printOperands({e->operand});
  }
  case Expr::Kind::CustomScan: {
    auto *e = cast<CustomScanExpr>(expr);
    os << "scan axis " << e->axis << (e->reverse ? " reverse" : "")
       << (e->exclusive ? " exclusive" : "") << ' ';
    printList(e->operands);
    os << " init ";
    printList(e->inits);
    return printRegion(e->region);
  }
  case Expr::Kind::Mma: {
    static constexpr StringRef precisions[] = {"", " tf32", " tf32x3", " fast"};
    auto *e = cast<MmaExpr>(expr);
    os << "mma" << precisions[static_cast<unsigned>(e->precision)];
    return printOperands({e->a, e->b, e->acc});
  }
  case Expr::Kind::Sort: {
    auto *e = cast<SortExpr>(expr);
    os << "sort axis " << e->axis << (e->descending ? " descending " : " ");
    return printList(e->operands);
  }
  case Expr::Kind::ArgSort: {
    auto *e = cast<ArgSortExpr>(expr);
    os << "argsort axis " << e->axis << (e->descending ? " descending" : "");
    return printOperands({e->operand});
  }
  case Expr::Kind::TopK:
    os << "topk axis " << cast<TopKExpr>(expr)->axis;
    return printOperands({cast<TopKExpr>(expr)->operand});
  case Expr::Kind::Histogram:
    os << "histogram";
    return printOperands({cast<HistogramExpr>(expr)->operand});
  case Expr::Kind::RandU32:
    os << "rand_u32 word " << cast<RandU32Expr>(expr)->word;
    return printOperands(
        {cast<RandU32Expr>(expr)->seed, cast<RandU32Expr>(expr)->offsets});
  case Expr::Kind::Gather: {
    auto *e = cast<GatherExpr>(expr);
    os << "gather " << e->array->name << ' ';
    printList(e->index);
    if (e->mask)
      os << " mask";
    printOperands({e->mask});
    os << " pad";
    return printOperands({e->pad});
  }
  case Expr::Kind::Atomic: {
    auto *e = cast<AtomicExpr>(expr);
    os << "atomic_" << spelling(e->op) << ' ' << e->array->name << ' ';
    printList(e->index);
    printOperands({e->expected, e->value});
    if (e->mask)
      os << " mask";
    return printOperands({e->mask});
  }
  default:
    return;
  }
}

/// Operations on shapes; the result's type says the rest.
void Printer::printShape(const Expr *expr) {
  switch (expr->kind) {
  case Expr::Kind::Splat:
    os << "splat";
    return printOperands({cast<SplatExpr>(expr)->operand});
  case Expr::Kind::Arange:
    os << "arange";
    return printOperands(
        {cast<ArangeExpr>(expr)->start, cast<ArangeExpr>(expr)->step});
  case Expr::Kind::Reshape:
    os << "reshape";
    return printOperands({cast<ReshapeExpr>(expr)->operand});
  case Expr::Kind::Permute:
    os << "permute [";
    join(cast<PermuteExpr>(expr)->axes);
    os << ']';
    return printOperands({cast<PermuteExpr>(expr)->operand});
  case Expr::Kind::Broadcast:
    os << "broadcast";
    return printOperands({cast<BroadcastExpr>(expr)->operand});
  case Expr::Kind::Cat:
    os << "cat axis " << cast<CatExpr>(expr)->axis << ' ';
    return printList(cast<CatExpr>(expr)->operands);
  case Expr::Kind::ExtractSlice:
    os << "extract";
    printOperands({cast<ExtractSliceExpr>(expr)->operand});
    os << ' ';
    return printList(cast<ExtractSliceExpr>(expr)->index);
  case Expr::Kind::InsertSlice:
    os << "insert";
    printOperands({cast<InsertSliceExpr>(expr)->operand});
    os << ' ';
    printList(cast<InsertSliceExpr>(expr)->index);
    return printOperands({cast<InsertSliceExpr>(expr)->slice});
  case Expr::Kind::ExtractElement:
    os << "element";
    printOperands({cast<ExtractElementExpr>(expr)->operand});
    os << ' ';
    return printList(cast<ExtractElementExpr>(expr)->index);
  case Expr::Kind::Flip:
    os << "flip axis " << cast<FlipExpr>(expr)->axis;
    return printOperands({cast<FlipExpr>(expr)->operand});
  case Expr::Kind::Take:
    os << (cast<TakeExpr>(expr)->alongAxis ? "take_along axis " : "take axis ")
       << cast<TakeExpr>(expr)->axis;
    return printOperands(
        {cast<TakeExpr>(expr)->operand, cast<TakeExpr>(expr)->indices});
  default:
    return printWholeTile(expr);
  }
}

void Printer::print(const Expr *expr) {
  if (auto *e = llvm::dyn_cast<VarReadExpr>(expr)) {
    name(e->variable);
    return;
  }
  if (auto *e = llvm::dyn_cast<ScalarParamExpr>(expr)) {
    os << e->param->name;
    return;
  }
  static constexpr StringRef roundings[] = {"", " rz", " rd", " ru"};
  os << '(';
  switch (expr->kind) {
  case Expr::Kind::Constant:
    os << "const "
       << ConstValue(expr->type.dtype(), cast<ConstantExpr>(expr)->bits).str();
    break;
  case Expr::Kind::ArrayDim:
    os << "dim " << cast<ArrayDimExpr>(expr)->array->name << ' '
       << cast<ArrayDimExpr>(expr)->axis;
    break;
  case Expr::Kind::BlockId:
    os << "bid " << cast<BlockIdExpr>(expr)->axis << ')';
    return;
  case Expr::Kind::NumBlocks:
    os << "num_blocks " << cast<NumBlocksExpr>(expr)->axis << ')';
    return;
  case Expr::Kind::NumSMs:
    os << "num_sms)";
    return;
  case Expr::Kind::Aligned:
    os << "aligned " << cast<AlignedExpr>(expr)->array->name << ' '
       << cast<AlignedExpr>(expr)->bytes << ')';
    return;
  case Expr::Kind::Unary:
    os << spelling(cast<UnaryExpr>(expr)->op);
    printOperands({cast<UnaryExpr>(expr)->operand});
    break;
  case Expr::Kind::Binary:
    os << spelling(cast<BinaryExpr>(expr)->op);
    printOperands(
        {cast<BinaryExpr>(expr)->left, cast<BinaryExpr>(expr)->right});
    break;
  case Expr::Kind::Compare:
    os << spelling(cast<CompareExpr>(expr)->op);
    printOperands(
        {cast<CompareExpr>(expr)->left, cast<CompareExpr>(expr)->right});
    break;
  case Expr::Kind::Select: {
    auto *e = cast<SelectExpr>(expr);
    os << "where";
    printOperands({e->condition, e->whenTrue, e->whenFalse});
    break;
  }
  case Expr::Kind::Conditional: {
    auto *e = cast<ConditionalExpr>(expr);
    os << "if";
    printOperands({e->condition, e->whenTrue, e->whenFalse});
    break;
  }
  case Expr::Kind::Fma:
    os << "fma";
    printOperands({cast<FmaExpr>(expr)->a, cast<FmaExpr>(expr)->b,
                   cast<FmaExpr>(expr)->c});
    break;
  case Expr::Kind::Cast:
    os << "cast"
       << roundings[static_cast<unsigned>(cast<CastExpr>(expr)->rounding)];
    printOperands({cast<CastExpr>(expr)->operand});
    break;
  case Expr::Kind::Bitcast:
    os << "bitcast";
    printOperands({cast<BitcastExpr>(expr)->operand});
    break;
  case Expr::Kind::Load: {
    auto *e = cast<LoadExpr>(expr);
    os << "load";
    printAccess(e->array, e->index, e->order, e->elements);
    os << " pad";
    printOperands({e->pad});
    break;
  }
  case Expr::Kind::Inline:
    printInline(cast<InlineExpr>(expr)->inlined);
    break;
  default:
    printShape(expr);
    break;
  }
  os << " : " << expr->type.str() << ')';
}

void Printer::printBlock(Block block) {
  for (const Stmt *stmt : block)
    print(stmt);
}

/// Statements with blocks.
void Printer::printControl(const Stmt *stmt) {
  auto body = [&](Block block) {
    os << " {\n";
    ++indent;
    printBlock(block);
    --indent;
    line() << '}';
  };
  auto carries = [&](ArrayRef<Variable *> assigned) {
    if (assigned.empty())
      return;
    os << " assigns ";
    llvm::interleave(assigned, os, [&](const Variable *v) { name(v); }, ", ");
  };
  switch (stmt->kind) {
  case Stmt::Kind::For: {
    auto *s = cast<ForStmt>(stmt);
    name((line() << "for ", s->induction)) << " in";
    printOperands({s->lower, s->upper, s->step});
    carries(s->assigned);
    return body(s->body);
  }
  case Stmt::Kind::While:
    line() << "while";
    printOperands({cast<WhileStmt>(stmt)->condition});
    carries(cast<WhileStmt>(stmt)->assigned);
    return body(cast<WhileStmt>(stmt)->body);
  case Stmt::Kind::If: {
    auto *s = cast<IfStmt>(stmt);
    line() << "if";
    printOperands({s->condition});
    carries(s->assigned);
    body(s->thenBlock);
    if (s->elseBlock.empty())
      return;
    os << " else";
    return body(s->elseBlock);
  }
  case Stmt::Kind::Fast:
    line() << "fast";
    return body(cast<FastStmt>(stmt)->body);
  case Stmt::Kind::Scope:
    line() << "scope";
    return body(cast<ScopeStmt>(stmt)->body);
  default:
    line();
    return printInline(cast<InlineStmt>(stmt)->inlined);
  }
}

void Printer::print(const Stmt *stmt) {
  switch (stmt->kind) {
  case Stmt::Kind::Let: {
    auto *s = cast<LetStmt>(stmt);
    line() << (s->variables[0]->isMutable ? "var " : "let ");
    llvm::interleave(
        s->variables, os,
        [&](const Variable *v) { name(v) << ": " << v->type.str(); }, ", ");
    if (s->init)
      os << " =";
    printOperands({s->init});
    break;
  }
  case Stmt::Kind::Assign:
    line();
    name(cast<AssignStmt>(stmt)->variable) << " =";
    printOperands({cast<AssignStmt>(stmt)->value});
    break;
  case Stmt::Kind::Store: {
    auto *s = cast<StoreStmt>(stmt);
    line() << "store";
    printAccess(s->array, s->index, s->order, s->elements);
    printOperands({s->value});
    break;
  }
  case Stmt::Kind::Scatter: {
    auto *s = cast<ScatterStmt>(stmt);
    line() << "scatter " << s->array->name << ' ';
    printList(s->index);
    printOperands({s->value, s->mask});
    break;
  }
  case Stmt::Kind::Break:
    line() << "break";
    break;
  case Stmt::Kind::Continue:
    line() << "continue";
    break;
  case Stmt::Kind::Return:
    line() << "return";
    if (const InlineBody *target = cast<ReturnStmt>(stmt)->target)
      os << " from " << target->call->callee;
    break;
  case Stmt::Kind::Eval:
    line() << "eval";
    printOperands({cast<EvalStmt>(stmt)->value});
    break;
  case Stmt::Kind::Assume:
    line() << "assume";
    printOperands({cast<AssumeStmt>(stmt)->condition});
    break;
  case Stmt::Kind::Assert:
    line() << "assert";
    printOperands({cast<AssertStmt>(stmt)->condition});
    os << " \"" << cast<AssertStmt>(stmt)->message << '"';
    break;
  case Stmt::Kind::Print:
    line() << "print";
    for (StringRef piece : cast<PrintStmt>(stmt)->pieces)
      os << " \"" << piece << '"';
    printOperands(
        llvm::SmallVector<const Expr *>(cast<PrintStmt>(stmt)->values));
    break;
  default:
    printControl(stmt);
    break;
  }
  os << '\n';
}

void Printer::print(const Param *param) {
  os << param->name << ": ";
  if (!param->isArray()) {
    os << llvm::StringRef(dtypeName(param->dtype));
    return;
  }
  os << (param->isMut ? "mut " : "") << (param->isStrided ? "strided " : "")
     << "array<" << llvm::StringRef(dtypeName(param->dtype)) << ", [";
  llvm::interleave(
      param->dims, os,
      [&](const ArrayDim &dim) {
        if (dim.constant)
          os << *dim.constant;
        else
          os << dim.name;
      },
      ", ");
  os << "]>";
}

void Printer::print(const Kernel &kernel) {
  os << "kernel " << kernel.name << '(';
  llvm::interleave(
      kernel.params, os, [&](const Param *param) { print(param); }, ", ");
  os << ")\n";
  ++indent;
  ++indent;
  for (const ConstantValue &constant : kernel.constants)
    line() << "constant " << constant.name << " = " << constant.text << '\n';
  for (const Hint &hint : kernel.hints)
    line() << "hint " << hint.arch << (hint.arch.empty() ? "" : " ")
           << hint.name << " = " << hint.value << '\n';
  for (const std::string &value : kernel.grid)
    line() << "grid " << value << '\n';
  for (const Requirement &requirement : kernel.requirements) {
    line() << "requires " << requirement.hostText;
    printOperands({requirement.condition});
    os << '\n';
  }
  printBlock(kernel.body);
  indent -= 2;
}

void checked::print(const Program &program, raw_ostream &os) {
  for (const std::unique_ptr<Kernel> &kernel : program.kernels)
    print(*kernel, os);
}

void checked::print(const Kernel &kernel, raw_ostream &os) {
  Printer(os).print(kernel);
}

void checked::print(const Expr *expr, raw_ostream &os) {
  Printer(os).print(expr);
}
