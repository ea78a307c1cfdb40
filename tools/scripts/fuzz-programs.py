#!/usr/bin/env python3
#===- fuzz-programs.py - random programs on two executors --*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Writes random well-typed programs and runs each on two executors: compiled, by SIMT
execution with all its checks (or on the GPU), and interpreted. The results must be
equal, bit for bit.

  fuzz-programs.py --tile-run build/bin/tile-run --seeds 0:200 --keep /tmp/failures
  fuzz-programs.py --tile-run build/bin/tile-run --seeds 0:5000 --device gpu --jobs 8

A seed always gives the same program, arguments and number of warps. Values are such
that the order of a reduction cannot matter: sums are of integers, and products of
matrices have small integers in them.
"""
import argparse
import math
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SIGNED = ["i8", "i16", "i32", "i64"]
INTEGERS = SIGNED + ["u8", "u16", "u32", "u64"]
FLOATS = ["f32", "f16", "bf16", "f64"]
SUM_TYPE = {"i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32"}


def dims(shape):
    return "[" + ", ".join(str(d) for d in shape) + "]"


class Program:
    """A kernel in the making: parameters, statements, and the tiles in scope."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.parameters, self.arguments, self.body = [], [], []
        self.tiles = []  # (name, shape, dtype)
        self.names = 0
        self.grid = 1

    def choose(self, *options):
        return self.random.choice(options)

    def chance(self, p):
        return self.random.random() < p

    def fresh(self):
        self.names += 1
        return f"v{self.names}"

    def let(self, expression, shape, dtype):
        name = self.fresh()
        self.body.append(f"let {name} = {expression};")
        self.tiles.append((name, list(shape), dtype))
        return name

    def array(self, dtype, shape, mutable=False, fill="random"):
        index = len(self.parameters)
        names = ", ".join(f"d{index}{chr(97 + i)}" for i in range(len(shape)))
        kind = "mut array" if mutable else "array"
        self.parameters.append(f"p{index}: {kind}<{dtype}, [{names}]>")
        extents = ",".join(str(d) for d in shape)
        self.arguments += ["--arg", f"p{index}={fill}:{dtype}[{extents}]"]
        return f"p{index}"

    def shape(self, limit=4096):
        while True:
            rank = self.choose(1, 1, 2, 2, 2, 3)
            top = 7 if rank < 3 else 5
            shape = [1 << self.random.randrange(top) for _ in range(rank)]
            if math.prod(shape) <= limit:
                return shape

    def extents(self, shape):
        """Array dims near a tile's: smaller, equal, a little or much larger."""
        return [max(1, self.choose(d, d, 2 * d, d + self.random.randrange(1, 4),
                                   d - self.random.randrange(3), 3 * d + 1))
                for d in shape]

    def like(self, shape, dtype):
        """An expression of this shape and dtype."""
        same = [t for t in self.tiles if t[1] == shape and t[2] == dtype]
        if same and self.chance(0.7):
            return self.random.choice(same)[0]
        other = [t for t in self.tiles if t[1] == shape and t[2] != "bool"]
        if other and dtype != "bool":
            return f"{self.random.choice(other)[0]}.to({dtype})"
        numbers = f"reshape(arange({math.prod(shape)}, i32), {dims(shape)})"
        return f"({numbers} % 3 == 1)" if dtype == "bool" else f"{numbers}.to({dtype})"

    def text(self):
        return (f"kernel k({', '.join(self.parameters)})\n  grid [{self.grid}]\n{{\n  " +
                "\n  ".join(self.body) + "\n}\n")


#===--- one statement each ------------------------------------------------------===#


def load(p, *_):
    shape = p.shape()
    dtype = p.random.choice(INTEGERS + FLOATS + ["bool"])
    array = p.array(dtype, p.extents(shape))
    if p.chance(0.3):
        index = [p.choose("0", "1", "3", "bid(0)", "-1") for _ in shape]
        return p.let(f"load_at({array}, [{', '.join(index)}], {dims(shape)})", shape, dtype)
    index = ", ".join(p.choose("0", "0", "1", "bid(0)", "bid(0)") for _ in shape)
    pad = ""
    if p.chance(0.3) and dtype != "bool":
        pad = ", pad: 1.5" if dtype in FLOATS else ", pad: 7"
    if len(shape) == 2 and p.chance(0.25):
        shape = shape[::-1]
        return p.let(f"load({array}, [{index}], {dims(shape)}{pad}, order: [1, 0])", shape, dtype)
    return p.let(f"load({array}, [{index}], {dims(shape)}{pad})", shape, dtype)


def arithmetic(p, name, shape, dtype):
    if dtype == "bool":
        return p.let(f"{name} {p.choose('&', '|', '^')} {p.like(shape, dtype)}", shape, dtype)
    return p.let(f"{name} {p.choose('+', '-', '*')} {p.like(shape, dtype)}", shape, dtype)


def compare(p, name, shape, dtype):
    if dtype != "bool":
        operator = p.choose("<", "<=", "==", "!=", ">")
        p.let(f"{name} {operator} {p.like(shape, dtype)}", shape, "bool")


def select(p, name, shape, dtype):
    p.let(f"where({p.like(shape, 'bool')}, {name}, {p.like(shape, dtype)})", shape, dtype)


def convert(p, name, shape, dtype):
    target = p.random.choice(INTEGERS + FLOATS + ["bool"])
    p.let(f"{name}.to({target})", shape, target)


def reduce(p, name, shape, dtype):
    axis, keep = p.random.randrange(len(shape)), p.chance(0.5)
    options = ["any", "all"] if dtype == "bool" else ["max", "min", "argmax", "argmin"]
    function = p.random.choice(options + (["sum", "prod"] if dtype in INTEGERS else []))
    rest = [1 if i == axis else d for i, d in enumerate(shape) if keep or i != axis]
    expression = f"{function}({name}, axis: {axis}{', keep: true' if keep else ''})"
    if function.startswith("arg"):
        expression, dtype = expression + ".to(i32)", "i32"
    elif function in ("sum", "prod"):
        dtype = SUM_TYPE.get(dtype, dtype)
    p.let(expression, rest, dtype)


def reshape(p, name, shape, dtype):
    bits = math.prod(shape).bit_length() - 1
    cuts = [0] + sorted(p.random.randrange(bits + 1) for _ in range(p.choose(0, 1, 2))) + [bits]
    target = [1 << (b - a) for a, b in zip(cuts, cuts[1:])]
    p.let(f"reshape({name}, {dims(target)})", target, dtype)


def permute(p, name, shape, dtype):
    order = list(range(len(shape)))
    p.random.shuffle(order)
    p.let(f"permute({name}, {dims(order)})", [shape[i] for i in order], dtype)


def stretch(p, name, shape, dtype):
    if len(shape) < 3 and p.chance(0.5):
        axis = p.random.randrange(len(shape) + 1)
        shape = shape[:axis] + [1] + shape[axis:]
        name = f"expand_dims({name}, {axis})"
    target = [1 << p.random.randrange(4) if d == 1 else d for d in shape]
    if math.prod(target) <= 8192:
        p.let(f"broadcast_to({name}, {dims(target)})", target, dtype)


def integers(p, name, shape, dtype):
    if dtype not in INTEGERS:
        return
    other = p.like(shape, dtype)
    p.let(p.choose(f"{name} {p.choose('&', '|', '^', '<<', '>>')} {other}",
                   f"{name} {p.choose('/', '%')} ({other} | 1)",
                   f"{p.choose('floordiv', 'mod', 'cdiv', 'mulhi', 'min')}({name}, {other} | 1)",
                   f"popcount({name})", f"~{name}"), shape, dtype)


def roundings(p, name, shape, dtype):
    if dtype in FLOATS:
        p.let(f"{p.choose('abs', 'floor', 'ceil', 'round', 'trunc', '-')}({name})", shape, dtype)


def multiply(p, *_):
    m, k, n = (1 << p.random.randrange(6) for _ in range(3))
    dtype = p.choose("i8", "f32", "f16", "bf16")

    def operand(rows, columns):
        bytes_ = f"load({p.array('i8', [rows, columns])}, [0, 0], [{rows}, {columns}])"
        return bytes_ if dtype == "i8" else f"(({bytes_} & 7) - 3).to({dtype})"
    p.let(f"{operand(m, k)} @ {operand(k, n)}", [m, n], "i32" if dtype == "i8" else "f32")


def loop(p, name, shape, dtype):
    if dtype == "bool":
        return
    variable, other = p.fresh(), p.like(shape, dtype)
    step = "+ 1" if dtype in INTEGERS else "* 1.0"
    p.body.append(f"var {variable} = {name};")
    p.body.append(f"for i in 0..{p.choose('3', 'num_blocks(0) + 1', 'bid(0) + 1')} "
                  f"{{ {variable} = {p.choose('max', 'min')}({variable}, {other}) {step}; }}")
    p.tiles.append((variable, shape, dtype))


def branch(p, name, shape, dtype):
    variable = p.fresh()
    p.body.append(f"var {variable} = {name};")
    p.body.append(f"if bid(0) == {p.choose(0, 1)} {{ {variable} = {p.like(shape, dtype)}; }} "
                  f"else {{ {variable} = {p.like(shape, dtype)}; }}")
    p.tiles.append((variable, shape, dtype))


STATEMENTS = [load, arithmetic, arithmetic, compare, select, convert, reduce, reduce, reshape,
              permute, stretch, integers, integers, roundings, multiply, loop, branch]


#===--- two kinds of programs -----------------------------------------------------===#


def values(p):
    """Tiles computed from tiles; the last four are stored."""
    p.grid = p.choose(1, 1, 2, 3)
    load(p)
    for _ in range(p.random.randrange(4, 14)):
        usable = [t for t in p.tiles if t[1]]
        p.random.choice(STATEMENTS)(p, *p.random.choice(usable))
    for name, shape, dtype in [t for t in p.tiles if t[1]][-4:]:
        extents = [max(1, d + p.choose(0, 0, 1, -1)) for d in shape]
        if p.grid > 1:
            extents[0] = shape[0] * p.grid
        array = p.array(dtype, extents, True, "poison")
        p.body.append(f"store({array}, [{', '.join(['bid(0)'] + ['0'] * (len(shape) - 1))}], {name});")


def in_place(p):
    """One array, stored and loaded in turn in tiles of several shapes."""
    shape, dtype = p.shape(), p.random.choice(INTEGERS + ["f32", "f16", "bool"])
    array = p.array(dtype, p.extents(shape), True)
    for _ in range(p.random.randrange(2, 6)):
        tile = [1 << p.random.randrange(6 if len(shape) < 3 else 4) for _ in shape]
        source, target = ([p.choose("0", "0", "1", "2") for _ in shape] for _ in range(2))
        name = p.let(f"load{p.choose('', '_at')}({array}, [{', '.join(source)}], {dims(tile)})",
                     tile, dtype)
        value = name if dtype == "bool" else p.choose(name, f"{name} + {name}",
                                                      f"where({name} > 0, {name}, {name} - 1)")
        if len(shape) == 2 and p.chance(0.4):
            value = f"transpose({value})"
        p.body.append(f"store{p.choose('', '_at')}({array}, [{', '.join(target)}], {value});")


def run(seed, options):
    p = Program(seed)
    (in_place if p.chance(0.3) else values)(p)
    warps = p.choose([], ["--num-warps=1"], ["--num-warps=2"], ["--num-warps=8"])
    path = os.path.join(options.keep, f"{seed}.tile")
    with open(path, "w") as file:
        file.write(p.text())
    command = [options.tile_run, path, f"--device={options.device}", "--check"] + warps + p.arguments
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
        output, failed = result.stderr + result.stdout, result.returncode != 0
    except subprocess.TimeoutExpired:
        output, failed = "no end", True
    if not failed:
        os.remove(path)
        return True
    print(f"seed {seed}: {' '.join(command)}\n{output}", flush=True)
    return False


def main():
    parser = argparse.ArgumentParser(description="runs random programs compiled and interpreted")
    parser.add_argument("--tile-run", default="tile-run",
                        help="the tool; found through PATH by default")
    parser.add_argument("--seeds", default="0:100", help="first:end")
    parser.add_argument("--device", choices=["simt", "gpu"], default="simt")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--keep", default=".", help="where programs that fail stay")
    parser.add_argument("--timeout", type=float, default=120)
    options = parser.parse_args()
    os.makedirs(options.keep, exist_ok=True)
    first, end = (int(x) for x in options.seeds.split(":"))
    with ThreadPoolExecutor(options.jobs) as pool:
        failures = list(pool.map(lambda seed: run(seed, options), range(first, end))).count(False)
    print(f"{end - first} programs, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
