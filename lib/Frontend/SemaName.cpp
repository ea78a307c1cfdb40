//===- SemaName.cpp - unknown names and what was meant
//---------------------===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Suggestions: a name of Triton, CUDA, cuTile or NumPy has an equivalent here
// or a reason why there is none; another one may be misspelt.
//===----------------------------------------------------------------------===//

#include "SemaImpl.h"

using namespace tilec;
using namespace tilec::sema;

static ArrayRef<ForeignName> foreignNames() {
  static constexpr StringRef noThreads =
      "tiles have no threads: a kernel is written for a whole block";
  static constexpr StringRef noShared =
      "the compiler decides what is in shared memory";
  static constexpr StringRef noFragments =
      "a tile is a value: `var acc = zeros([BM, BN], f32)`";
  static constexpr StringRef noCopies =
      "`let t = load(a, [i, j], [BM, BN])` reads a tile, `store(c, [i, j], t)` "
      "writes it";
  static constexpr StringRef diagonal =
      "compare the places: `where(arange(M)[:, None] >= arange(N), x, 0.0)`";
  static constexpr StringRef noBarriers =
      "operations on one array take effect in program order; there are no "
      "barriers";
  static constexpr ForeignName table[] = {
      // Triton
      {"program_id", "bid", ""},
      {"num_programs", "num_blocks", ""},
      {"constexpr", "",
       "compile-time parameters stand in `<BM: int = 128>` after the kernel's "
       "name"},
      {"dot", "mma", "`mma(a, b, acc)`, or `a @ b`"},
      {"matmul", "mma", "`mma(a, b, acc)`, or `a @ b`"},
      {"maximum", "max", ""},
      {"minimum", "min", ""},
      {"fdiv", "", "division is `/`"},
      {"trans", "transpose", ""},
      {"ravel", "reshape", ""},
      {"view", "reshape", ""},
      {"expand_dim", "expand_dims", ""},
      {"make_block_ptr", "",
       "arrays are parameters: `load(a, [i, j], [BM, BN])` counts tiles"},
      {"make_tensor_descriptor", "",
       "arrays are parameters: `load(a, [i, j], [BM, BN])` counts tiles"},
      {"advance", "", "index tiles: `load(a, [i, j], …)` with a loop variable"},
      {"associative_scan", "scan", ""},
      {"device_print", "print", ""},
      {"device_assert", "assert", ""},
      {"static_range", "", "`for const i in 0..4` is unrolled"},
      {"multiple_of", "", "state it in `requires`: `n % 8 == 0`"},
      {"max_contiguous", "", "the compiler finds out; `requires` states facts"},
      {"interleave", "", "`cat` along a new last axis, then `reshape`"},
      {"join", "",
       "`cat(x, y, axis: 0)` puts tiles side by side; `x[:, None]` makes the "
       "new axis"},
      {"stack", "",
       "`cat(x, y, axis: 0)` puts tiles side by side; `x[:, None]` makes the "
       "new axis"},
      {"swizzle2d", "",
       "the compiler orders the blocks; indices may be computed from `bid`"},
      {"inline_asm_elementwise", "", "there is no assembly in the language"},
      {"umulhi", "mulhi", ""},
      {"range_constexpr", "", "`for const i in 0..4` is unrolled"},
      {"math", "", "functions have no prefix: `exp(x)`"},
      // CUDA
      {"blockIdx", "bid", "`bid(0)` is blockIdx.x"},
      {"gridDim", "num_blocks", "`num_blocks(0)` is gridDim.x"},
      {"threadIdx", "", noThreads},
      {"blockDim", "", noThreads},
      {"warpSize", "", noThreads},
      {"laneid", "", noThreads},
      {"__syncthreads", "", noBarriers},
      {"__syncwarp", "", noBarriers},
      {"syncthreads", "", noBarriers},
      {"debug_barrier", "", noBarriers},
      {"barrier", "", noBarriers},
      {"__shared__", "", noShared},
      {"shared", "", noShared},
      {"alloc_shared", "", noShared},
      {"alloc_fragment", "", noFragments},
      {"alloc_local", "", noFragments},
      {"alloc_var", "", noFragments},
      {"__shfl_down_sync", "", "reductions are `sum`, `max`, `reduce`, …"},
      {"atomicAdd", "atomic_add", ""},
      {"atomicMax", "atomic_max", ""},
      {"atomicMin", "atomic_min", ""},
      {"atomicCAS", "atomic_cas", ""},
      {"atomicExch", "atomic_xchg", ""},
      {"expf", "exp", ""},
      {"__expf", "exp", "`exp`, in a `fast { … }` block"},
      {"sqrtf", "sqrt", ""},
      {"rsqrtf", "rsqrt", ""},
      {"logf", "log", ""},
      {"tanhf", "tanh", ""},
      {"fabs", "abs", ""},
      {"fabsf", "abs", ""},
      {"fmaxf", "maxnum", ""},
      {"fminf", "minnum", ""},
      {"fmaf", "fma", ""},
      {"powf", "pow", ""},
      {"__popc", "popcount", ""},
      {"__clz", "clz", ""},
      {"__ffs", "ctz", ""},
      {"printf", "print", ""},
      {"sizeof", "",
       "sizes in bytes are not needed: indices count tiles or elements"},
      // cuTile
      {"bid_x", "bid", ""},
      {"num_blocks_x", "num_blocks", ""},
      {"tile_load", "load", ""},
      {"tile_store", "store", ""},
      {"Constant", "",
       "compile-time parameters stand in `<BM: int = 128>` after the kernel's "
       "name"},
      // TileLang
      {"gemm", "mma", "`acc = mma(a, b, acc)`"},
      {"copy", "", noCopies},
      {"clear", "", "assign zeros: `acc = zeros([BM, BN], f32)`"},
      {"fill", "full", ""},
      {"Pipelined", "", "`for i in 0..n`: the compiler copies ahead"},
      {"Parallel", "", "operators take whole tiles: `c = a + b`"},
      {"Serial", "", "a loop is written `for i in 0..n`"},
      {"Kernel", "", "a grid is written `grid [cdiv(n, BN)]` before the body"},
      // NumPy, PyTorch and others
      {"astype", "", "a conversion is written `x.to(f16)`"},
      {"cast", "", "a conversion is written `x.to(f16)`"},
      {"concat", "cat", ""},
      {"concatenate", "cat", ""},
      {"clip", "clamp", ""},
      {"select", "where", ""},
      {"range", "arange", "a loop is written `for i in 0..n`"},
      {"iota", "arange", ""},
      {"ceildiv", "cdiv", ""},
      {"ceil_div", "cdiv", ""},
      {"div_up", "cdiv", ""},
      {"power", "pow", ""},
      {"amax", "max", ""},
      {"amin", "min", ""},
      {"reduce_sum", "sum", ""},
      {"reduce_max", "max", ""},
      {"product", "prod", ""},
      {"mean", "", "`sum(x, axis: …) / n`"},
      {"var", "", "`sum(d * d, axis: …) / n`, d what differs from the mean"},
      {"std", "", "`sqrt(sum(d * d, axis: …) / n)`, d what differs from the mean"},
      {"logsumexp", "", "`let m = max(x); m + log(sum(exp(x - m)))`"},
      {"zeros_like", "zeros", ""},
      {"ones_like", "ones", ""},
      {"full_like", "full", ""},
      {"empty", "zeros", ""},
      {"flatten", "reshape", ""},
      {"unsqueeze", "expand_dims", ""},
      {"einsum", "mma", "`a @ b`, of two or three dims"},
      {"randint", "rand_u32", ""},
      {"softmax", "",
       "`let e = exp(x - max(x, axis: 1, keep: true)); e / sum(e, axis: 1, "
       "keep: true)`"},
      {"relu", "", "`max(x, 0)`"},
      {"logistic", "sigmoid", ""},
      {"swish", "silu", ""},
      {"isNaN", "isnan", ""},
      {"gather_at", "gather", ""},
      {"size", "",
       "the sizes of an array are `a.shape[0]` or the names of its dims"},
      {"not", "", "negation is `!x`"},
      {"softplus", "", "`log1p(exp(x))`"},
      {"hypot", "", "`sqrt(x * x + y * y)`"},
      {"reciprocal", "", "`1.0 / x`"},
      {"square", "", "`x * x`"},
      {"count", "", "`sum(x > 0.0)`: the sum of bools counts them"},
      {"requires", "", "it stands between the parameters and the body; here there is `assume`"},
      {"norm", "", "`sqrt(sum(x * x, axis: …))`"},
      {"eye", "", "`(arange(N)[:, None] == arange(N)).to(f32)`"},
      {"tril", "", diagonal},
      {"triu", "", diagonal},
      {"one_hot", "", "`(x[:, None] == arange(N)).to(f32)`"},
      {"onehot", "", "`(x[:, None] == arange(N)).to(f32)`"},
      {"linspace", "", "`lo + arange(N).to(f32) * ((hi - lo) / (N - 1))`"},
      {"ln", "log", ""},
      {"leaky_relu", "", "`where(x > 0.0, x, slope * x)`"},
      {"fmod", "", "`a % b` has the sign of a, as fmod has; `mod(a, b)` that of b"},
      {"mul", "", "a product is `a * b`"},
      {"add", "", "a sum is `a + b`"},
      {"sub", "", "a difference is `a - b`"},
      {"div", "", "division is `/`"},
      {"repeat", "", "`broadcast_to` stretches dims of one; `x[:, None]` makes one"},
      {"tile", "", "`broadcast_to` stretches dims of one; `x[:, None]` makes one"},
      {"swapaxes", "permute", "`permute(x, [1, 0, 2])` names all axes"},
      {"scatter_add", "atomic_add", ""},
      {"index_add", "atomic_add", ""},
      {"index_select", "", "`gather` takes elements of an array, `take` of a tile"},
      {"float", "", "an infinity is written `inf`, a conversion `x.to(f32)`"},
      {"exp10", "", "`pow(10.0, x)`"},
      {"len", "",
       "the sizes of an array are `a.shape[0]` or the names of its dims"},
      {"None", "", "`None` is written only in an index: `x[:, None]`"},
      {"True", "true", ""},
      {"False", "false", ""},
      {"null", "", "there are no pointers"},
      {"nullptr", "", "there are no pointers"},
  };
  return table;
}

static const ForeignName *findRow(ArrayRef<ForeignName> table, StringRef name) {
  auto *row = llvm::find_if(
      table, [&](const ForeignName &row) { return row.name == name; });
  return row == table.end() ? nullptr : row;
}

static const ForeignName *foreignName(StringRef name) {
  return findRow(foreignNames(), name);
}

const ForeignName *tilec::sema::foreignArgument(StringRef function,
                                                StringRef name) {
  static constexpr StringRef noPolicy =
      "leave it out: the compiler decides how memory is accessed";
  static constexpr ForeignName masks[] = {
      {"mask", "",
       "none is needed at the edges of an array: what lies outside reads as "
       "`pad` and is not written; `gather` and `scatter` take masks"},
      {"boundary_check", "", "edges are always checked: leave it out"},
  };
  static constexpr ForeignName table[] = {
      {"other", "pad", ""},
      {"padding", "pad", ""},
      {"padding_mode", "pad", ""},
      {"padding_option", "pad", ""},
      {"padding_value", "pad", ""},
      {"fill_value", "pad", ""},
      {"cache_modifier", "", noPolicy},
      {"eviction_policy", "", noPolicy},
      {"is_volatile", "", noPolicy},
      {"latency", "", noPolicy},
      {"allow_tma", "", noPolicy},
      {"dim", "axis", ""},
      {"keepdim", "keep", ""},
      {"keepdims", "keep", ""},
      {"keep_dims", "keep", ""},
      {"input_precision", "precision", ""},
      {"allow_tf32", "precision", ""},
      {"sem", "order", ""},
      {"dtype", "T", ""},
      {"reverse", "descending", ""},
      {"min", "lo", ""},
      {"max", "hi", ""},
  };
  const bool isOfTiles = function == "load" || function == "load_at" ||
                         function == "store" || function == "store_at";
  if (const ForeignName *row = isOfTiles ? findRow(masks, name) : nullptr)
    return row;
  return findRow(table, name);
}

static std::string sorted(StringRef text) {
  std::string letters = text.str();
  llvm::sort(letters);
  return letters;
}

/// The candidate at the least distance, when that is small for the name's
/// length.
std::optional<StringRef> Sema::closest(StringRef name,
                                       ArrayRef<StringRef> candidates) const {
  const unsigned limit = name.size() <= 2   ? 0
                         : name.size() <= 5 ? 1
                         : name.size() <= 8 ? 2
                                            : 3;
  unsigned best = limit + 1;
  std::optional<StringRef> result;
  const std::string lower = name.lower();
  for (StringRef candidate : candidates) {
    if (candidate == name || candidate.starts_with("."))
      continue;
    // Letters in another order (`laod`) count as one edit.
    const bool isReordered =
        candidate.size() == name.size() && sorted(candidate) == sorted(name);
    const unsigned distance =
        candidate.lower() == lower ? 0
        : isReordered              ? 1
                                   : name.edit_distance(
                                         candidate, /*AllowReplacements=*/true, limit + 1);
    if (distance >= best)
      continue;
    best = distance;
    result = candidate;
  }
  return result;
}

void Sema::visibleNames(SmallVectorImpl<StringRef> &names) const {
  if (function) {
    for (const Scope &scope : llvm::reverse(function->scopes))
      for (const auto &[name, symbol] : scope)
        names.push_back(name);
    if (auto scope = fileScopes.find(function->file); scope != fileScopes.end())
      for (StringRef name : scope->second.items.keys())
        names.push_back(name);
  }
  for (const BuiltinInfo &builtin : allBuiltins())
    names.push_back(builtin.name);
  // Ties go to the first in alphabetical order, whatever the order of the maps.
  llvm::sort(names);
}

void Sema::reportUnknownName(StringRef name, SourceRange range, bool isTarget) {
  auto builder = error(diag::unknown_name, range);
  builder.arg(name);
  StringRef last =
      name.rsplit('.').second.empty() ? name : name.rsplit('.').second;
  if (last != name && findBuiltin(last)) {
    builder.fixIt(range, last, "functions have no prefix: `" + last + "`");
    return;
  }
  const SourceRange ended = function ? function->ended.lookup(name) : SourceRange();
  if (ended.isValid()) {
    builder.note(ended, "`" + name.str() + "` is known until the end of this block");
    builder.help("declare it before the block, by `var " + name.str() +
                 " = …`, and assign to it inside");
    return;
  }
  StringRef first = name.split('.').first;
  const ForeignName *foreign = foreignName(last);
  if (!foreign)
    foreign = foreignName(first);
  SmallVector<StringRef> names;
  visibleNames(names);
  std::optional<StringRef> near = closest(last, names);
  if (isTarget && !foreign && !near) {
    builder.help("what is assigned again is declared before, by `var " + name.str() +
                 " = …`; what is not, by `let`");
    return;
  }
  if (!foreign && !near) { // perhaps misspelt on top
    SmallVector<StringRef> others;
    for (const ForeignName &row : foreignNames())
      others.push_back(row.name);
    if (std::optional<StringRef> other = closest(last, others))
      foreign = foreignName(*other);
  }
  if (foreign && foreign->ours.empty()) {
    builder.help(foreign->advice);
    return;
  }
  if (foreign) {
    std::string text = "did you mean `" + foreign->ours.str() + "`?";
    if (!foreign->advice.empty())
      text += " " + foreign->advice.str();
    if (last == name)
      builder.fixIt(range, foreign->ours, text);
    else
      builder.help(text);
    return;
  }
  if (near)
    builder.fixIt(range, *near, "did you mean `" + *near + "`?");
}
