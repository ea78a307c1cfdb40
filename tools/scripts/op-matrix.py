#!/usr/bin/env python3
#===- op-matrix.py - every operation on every dtype for every chip -*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------------===#
"""Compiles every operation of the language on every dtype, for each chip.

  op-matrix.py --tilec build/bin/tilec [--arch sm_80,sm_90a] [--shard 1/4] [--only REGEX]

A cell of the matrix is a kernel that does nothing else. The language says which cells
are programs: those compile to PTX (to a cubin where ptxas is found), and every other
cell gives exactly one message, a code with a line and a column. A row of Builtins.def
that this table does not know is a failure. Many cells share one run of the compiler;
when one fails, each is tried alone. Prints what failed and `N cells, M problems`.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHIPS = "sm_80,sm_89,sm_90a,sm_100a,sm_120a"

SIGNED, UNSIGNED = ["i8", "i16", "i32", "i64", "int"], ["u8", "u16", "u32", "u64"]
INTEGER, FLOAT, F8 = SIGNED + UNSIGNED, ["f16", "bf16", "f32", "f64"], ["f8e4m3", "f8e5m2"]
NUMBER, BOOL, STORED = INTEGER + FLOAT, ["bool"], F8 + ["tf32"]
ALL = BOOL + NUMBER + STORED
WIDTH = {"bool": 1, "int": 64, "bf16": 16, "tf32": 32, "f8e4m3": 8, "f8e5m2": 8}
WIDTH.update({d: int(d[1:]) for d in NUMBER if d[0] != "b" and d != "int"})


def memory(dtype):
    """The dtype of an array that holds values of `dtype`: no array has int or tf32."""
    return {"int": "i64", "tf32": "f32"}.get(dtype, dtype)


def summed(dtype):
    return {"bool": "i32", "i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32"}.get(dtype, dtype)


def same(dtype):
    return dtype


def always(dtype):
    return lambda _: dtype


class Row:
    """An operation: `{d}` in its text is the dtype, x and y are tiles [64] of it, i is an
    int tile [64]; without `result` the text is statements."""

    def __init__(self, name, text, domain, result=same):
        self.name, self.text, self.domain, self.result = name, text, domain, result


def elementwise_rows():
    for name in ("abs", "sign"):
        yield Row(name, f"{name}(x)", NUMBER)
    for name in ("popcount", "clz", "ctz"):
        yield Row(name, f"{name}(x)", INTEGER)
    for name in ("floor ceil round trunc sqrt rsqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos "
                 "atan sinh cosh tanh erf sigmoid silu gelu gelu_tanh").split():
        yield Row(name, f"{name}(x)", FLOAT)
        yield Row(f"fast {name}", f"fast {{ store(c, [0], {name}(x)); }}", FLOAT, None)
    for name in ("isnan", "isinf", "isfinite"):
        yield Row(name, f"{name}(x)", FLOAT, always("bool"))
    for name in ("floordiv", "mod", "min", "max", "minnum", "maxnum"):
        yield Row(name, f"{name}(x, y)", NUMBER)
    for name in ("cdiv", "mulhi"):
        yield Row(name, f"{name}(x, y)", INTEGER)
    for name in ("pow", "atan2"):
        yield Row(name, f"{name}(x, y)", FLOAT)
    yield Row("fma", "fma(x, y, x)", FLOAT)
    yield Row("clamp", "clamp(x, y, x)", NUMBER)
    yield Row("where", "where(i < 3, x, y)", ALL)
    yield Row("?:", "bid(0) == 0 ? x : y", [])
    for op in ("+", "-", "*", "/", "%"):
        yield Row(op, f"x {op} y", NUMBER)
        yield Row(f"{op} 3", f"x {op} 3", NUMBER)
    yield Row("fast /", "fast { store(c, [0], x / y); }", NUMBER, None)
    for op in ("&", "|", "^"):
        yield Row(op, f"x {op} y", INTEGER + BOOL)
    for op in ("<<", ">>"):
        yield Row(op, f"x {op} y", INTEGER)
    for op in ("==", "!="):
        yield Row(op, f"x {op} y", NUMBER + BOOL, always("bool"))
    for op in ("<", "<=", ">", ">="):
        yield Row(op, f"x {op} y", NUMBER, always("bool"))
    for op in ("&&", "||"):
        yield Row(op, f"x {op} y", BOOL)
    yield Row("neg", "-x", NUMBER)
    yield Row("~", "~x", INTEGER)
    yield Row("!", "!x", BOOL)


def tile_rows():
    yield Row("load", "x", ALL)
    yield Row("store", "x", ALL)
    yield Row("load pad", "load(a, [1], [64], pad: 1).to({d})", [d for d in ALL if d != "bool"])
    yield Row("load_at", "full([64], load_at(a, [3]), {m}).to({d})", ALL)
    yield Row("store_at", "store_at(c, [1], load_at(a, [3]));", ALL, None)
    yield Row("bid", "x[bid(0)]", [])
    yield Row("num_blocks", "where(i < num_blocks(0), x, y)", ALL)
    yield Row("num_tiles", "let (t) = num_tiles(a, [64]); store(c, [0], x);", [], None)
    yield Row("num_sms", "where(i < num_sms(), x, y)", ALL)
    yield Row("zeros", "zeros([64], {d})", ALL)
    yield Row("ones", "ones([64], {d})", ALL)
    yield Row("full", "full([64], load_at(a, [3])).to({d})", ALL)
    yield Row("arange", "arange(64, {d})", NUMBER)
    offsets = ["int", "i32", "i64", "u32", "u64", "i8", "i16", "u8", "u16"]
    for name, result in (("rand_u32", "u32"), ("rand", "f32"), ("randn", "f32")):
        yield Row(name, f"{name}(7, x)", offsets, always(result))
    for name, result in (("rand_u32", "u32"), ("rand", "f32")):
        yield Row(f"{name} word", f"{name}(7, x, word: 3)", offsets, always(result))
    yield Row("reshape", "reshape(reshape(x, [8, 8]), [64])", ALL)
    yield Row("permute", "reshape(permute(reshape(x, [8, 8]), [1, 0]), [64])", ALL)
    yield Row("transpose", "reshape(transpose(reshape(x, [4, 16])), [64])", ALL)
    yield Row("broadcast_to", "broadcast_to(reshape(broadcast_to(load_at(a, [1]), [1]), [1]), [64]).to({d})", ALL)
    yield Row("expand_dims", "reshape(expand_dims(x, 0), [64])", ALL)
    yield Row("squeeze", "squeeze(reshape(x, [1, 64]), 0)", ALL)
    yield Row("cat", "cat(reshape(x, [1, 64]), reshape(y, [1, 64]), axis: 0)[0:1]", [])
    yield Row("split", "let (p, q) = split(x, 0); store(c, [0], p); store(c, [1], q);", ALL, None)
    yield Row("extract", "store(c, [0], extract(x, [bid(0)], [16]));", ALL, None)
    yield Row("insert", "insert(x, [bid(0)], extract(y, [1], [16]))", ALL)
    yield Row("flip", "flip(x, 0)", ALL)
    yield Row("take", "take(x, i, 0)", ALL)
    yield Row("element", "store_at(c, [1], x[bid(0)]);", ALL, None)


def memory_rows():
    yield Row("gather", "gather(a, [i], mask: i < 9, pad: 0).to({d})", [d for d in ALL if d != "bool"])
    yield Row("scatter", "scatter(c, [i], x, mask: i < 9);", [d for d in ALL if d not in ("int", "tf32")], None)
    wide, real = ["i32", "i64", "u32", "u64"], ["f16", "bf16", "f32", "f64"]
    atomics = {"add": wide + real, "max": wide + real, "min": wide + real, "and": wide, "or": wide, "xor": wide,
               "xchg": wide + ["f32", "f64"], "store": wide + ["f32", "f64"], "load": wide + ["f32", "f64", "int", "tf32"],
               "cas": wide + ["f32", "f64"]}
    for name, domain in atomics.items():
        value = {"load": "", "cas": ", x, y"}.get(name, ", x")
        call = f"atomic_{name}(c, [i]{value})"
        yield Row(f"atomic_{name}", call + ";" if name == "store" else f"let r = {call};", domain, None)


def whole_tile_rows():
    for name in ("sum", "prod"):
        yield Row(name, f"{name}(x, keep: true)", NUMBER + BOOL, summed)
    for name in ("min", "max", "minnum", "maxnum"):
        yield Row(f"{name} reduction", f"{name}(x, keep: true)", NUMBER)
    for name in ("any", "all"):
        yield Row(name, f"{name}(x, keep: true)", BOOL)
    for name in ("argmin", "argmax"):
        yield Row(name, f"{name}(x, keep: true)", NUMBER, always("int"))
    yield Row("sum of rows", "sum(reshape(x, [4, 16]), axis: 1)", NUMBER + BOOL, summed)
    yield Row("reduce", "reshape(reduce(x, 0, 0, first), [1])", [d for d in ALL if d != "bool"])
    for name in ("cumsum", "cumprod"):
        yield Row(name, f"{name}(x, axis: 0, reverse: true)", NUMBER + BOOL, summed)
    for name in ("cummax", "cummin"):
        yield Row(name, f"{name}(x, axis: 0, exclusive: true)", NUMBER)
    yield Row("scan", "scan(x, 0, first)", ALL)
    yield Row("sort", "sort(x, axis: 0)", NUMBER)
    yield Row("argsort", "argsort(x, axis: 0)", NUMBER, always("int"))
    yield Row("topk", "let (v, p) = topk(x, 8, axis: 0); store(c, [0], v);", NUMBER, None)
    yield Row("histogram", "histogram(x, 64)", INTEGER, always("i32"))
    yield Row("print", 'print("{}", x);', ALL, None)
    yield Row("assert", 'assert(x == x, "equal");', NUMBER + BOOL, None)
    yield Row("assume", "assume(bid(0) < 9); store(c, [0], x);", ALL, None)


def conversion_rows():
    for to in ALL:
        yield Row(f".to({to})", f"x.to({to})", ALL, always(to))
        yield Row(f"bitcast({to})", f"bitcast(x, {to})",
                  [d for d in ALL if WIDTH[d] == WIDTH[to] and not {d, to} & {"bool", "tf32"}], always(to))
        if to in FLOAT + ["tf32"]:
            for rounding in ("rz", "rd", "ru"):
                yield Row(f".to({to}, {rounding})", f"x.to({to}, round: {rounding})", FLOAT + STORED, always(to))


def mma_rows():
    allowed = {("f16", "f16"): "f16 f32", ("bf16", "bf16"): "f32", ("f32", "f32"): "f32", ("f64", "f64"): "f64",
               ("tf32", "tf32"): "f32"}
    allowed.update({(p, q): "f32" for p in F8 for q in F8})
    allowed.update({(p, q): "i32" for p in ("i8", "u8") for q in ("i8", "u8")})
    matrix = "let p = reshape(broadcast_to(x, [16, 64]), [32, 32]); let q = reshape(broadcast_to(y, [16, 64]), [32, 32])"
    for other in ALL:
        for acc in ("f16", "bf16", "f32", "f64", "i32"):
            domain = [d for d in ALL if acc in allowed.get((d, other), "").split()]
            text = f"{matrix}.to({other}); let r = mma(p, q, zeros([32, 32], {acc})); store(c2, [0, 0], r);"
            if domain or other == acc:
                yield Row(f"mma {other} {acc}", text, domain, lambda _, acc=acc: acc + " matrix")
    for precision in ("tf32", "tf32x3"):
        yield Row(f"mma {precision}", f"{matrix}; store(c2, [0, 0], mma(p, q, zeros([32, 32], f32), precision: {precision}));",
                  ["f32"], always("f32 matrix"))
    yield Row("mma fast", f"{matrix}; store(c2, [0, 0], mma(p, q, zeros([32, 32], f32), precision: fast));", F8,
              always("f32 matrix"))
    yield Row("@", f"{matrix}; let r = p @ q; store_at(c2, [0, 0], sum(where(r == r, 1, 0).to(i32)));",
              [d for d in ALL if (d, d) in allowed], always("i32 matrix"))


def all_rows():
    rows = [*elementwise_rows(), *tile_rows(), *memory_rows(), *whole_tile_rows(), *conversion_rows(), *mma_rows()]
    return [row for row in rows if row.name not in ("?:", "bid", "num_tiles", "cat")]


def kernel(name, row, dtype):
    load = lambda array: f"load({array}, [0], [64])" + (f".to({dtype})" if memory(dtype) != dtype else "")
    head = f"let x = {load('a')}; let y = {load('b')}; let i = arange(64); "
    text = row.text.replace("{d}", dtype).replace("{m}", memory(dtype))
    result = row.result(dtype) if row.result else memory(dtype)
    outputs = f"c: mut array<{memory(result)}, [m]>"
    if result.endswith(" matrix"):
        outputs = f"c2: mut array<{result.split()[0]}, [m, k]>"
        body = text
    elif row.result is None:
        body = text
        if "c, [0]" in text and memory(dtype) != dtype:
            body = re.sub(r"store\(c, \[(\d)\], (.*?)\);", rf"store(c, [\1], (\2).to({memory(dtype)}));", text)
        elif memory(dtype) != dtype:
            body = text.replace("x[bid(0)]", f"x[bid(0)].to({memory(dtype)})")
    else:
        value = text if memory(result) == result else f"({text}).to({memory(result)})"
        body = f"store(c, [0], {value});"
    m = memory(dtype)
    return f"kernel {name}(a: array<{m}, [n]>, b: array<{m}, [n]>, {outputs}) {{ {head}{body} }}"


def check_coverage(rows):
    """Every builtin occurs in some row's text."""
    table = (ROOT / "include/tilec/Frontend/Builtins.def").read_text()
    elsewhere = {"bid", "num_tiles", "cat", "aligned", "static_assert", "static_print", "arch"}
    texts = " ".join(row.text for row in rows)
    names = re.findall(r'^(?:UNARY|PREDICATE|BINARY|REDUCTION|OPERATION)\("([^"]+)"', table, re.M)
    return [f"no row for `{name}`" for name in names
            if name not in elsewhere and not re.search(rf"(?<!\w){re.escape(name)}\(", texts)]


class Compiler:
    def __init__(self, tilec, ptxas):
        self.tilec, self.emit = tilec, "cubin" if ptxas else "ptx"

    def run(self, lines, arch, emit):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "cells.tile"
            path.write_text("fn first(p, q) { return p; }\n" + "\n".join(lines) + "\n")
            command = [self.tilec, f"--gpu-arch={arch}", f"--emit={emit}", "--max-errors=0", "-g0", "-o", "/dev/null", str(path)]
            run = subprocess.run(command, capture_output=True, text=True, timeout=600)
        return run.returncode, run.stderr

    def refused(self, cells):
        """Cells that are no programs: each gives one message at its line."""
        lines = [kernel(f"k{i}", row, dtype) for i, (row, dtype) in enumerate(cells)]
        code, text = self.run(lines, "sm_80", "tile")
        found = {}
        for line, message in re.findall(r"cells\.tile:(\d+):\d+: error: (.* \[T\d{4}\])", text):
            found.setdefault(int(line) - 2, []).append(message)
        problems = [] if code in (0, 1) else [f"the compiler ended with {code}: {text[-500:]}"]
        for i, (row, dtype) in enumerate(cells):
            if len(found.get(i, [])) != 1:
                problems.append(f"{row.name} on {dtype}: {len(found.get(i, []))} messages, not one: {found.get(i, [])}\n  {lines[i]}")
        return problems

    def accepted(self, cells, arch):
        lines = [kernel(f"k{i}", row, dtype) for i, (row, dtype) in enumerate(cells)]
        code, text = self.run(lines, arch, self.emit)
        if code == 0 and "error" not in text:
            return []
        if len(cells) == 1:
            return [f"{cells[0][0].name} on {cells[0][1]} for {arch}: exit {code}: {text.strip()[:800]}\n  {lines[0]}"]
        half = len(cells) // 2
        return self.accepted(cells[:half], arch) + self.accepted(cells[half:], arch)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tilec", default=str(ROOT / "build/bin/tilec"))
    parser.add_argument("--arch", default=CHIPS)
    parser.add_argument("--shard", default="1/1", help="I/N: the I-th part of the rows")
    parser.add_argument("--only", default="", help="rows whose name matches")
    parser.add_argument("--ptx", action="store_true", help="stop at PTX also where ptxas is found")
    args = parser.parse_args()
    ptxas = shutil.which("ptxas") or shutil.which("ptxas", path=os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin"))
    compiler = Compiler(args.tilec, ptxas and not args.ptx)

    rows = all_rows()
    problems = check_coverage(rows)
    index, count = map(int, args.shard.split("/"))
    rows = [row for row in rows if re.search(args.only, row.name)][index - 1::count]
    good = [(row, d) for row in rows for d in ALL if d in row.domain]
    bad = [(row, d) for row in rows for d in ALL if d not in row.domain]
    if bad:
        problems += compiler.refused(bad)
    for arch in args.arch.split(","):
        if good:
            problems += compiler.accepted(good, arch)
    for problem in problems:
        print(problem)
    print(f"{len(good) * len(args.arch.split(',')) + len(bad)} cells, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
