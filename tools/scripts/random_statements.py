#===- random_statements.py - the statements of random programs -*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Each function adds a statement to a program, made from a tile in scope; the two at
the end make whole programs. See random_programs.py."""
import math

from random_programs import (COUNTED, FLOATS, FUNCTIONS, INTEGERS, NARROW, NUMBERS, SIGNED, SUM_TYPE,
                             WIDTH, Block, dims)

#===--- memory ------------------------------------------------------------------===#


def load(p, *_):
    shape = p.shape()
    dtype = p.random.choice(INTEGERS + FLOATS + FLOATS + ["bool"] + (NARROW if p.chance(0.2) else []))
    array = p.array(dtype, p.extents(shape))
    pad = ""
    if p.chance(0.3) and dtype in NUMBERS:
        pad = ", pad: " + (p.choose("1.5", "-inf", "nan", "-0.0") if dtype in FLOATS else "7")
    if p.chance(0.3):
        index = [p.choose("0", "1", "3", "bid(0)", "-1", "num_blocks(0) - 1") for _ in shape]
        return p.let(f"load_at({array}, [{', '.join(index)}], {p.dims(shape)}{pad})", shape, dtype)
    index = ", ".join(p.choose("0", "0", "1", "bid(0)", "bid(0)") for _ in shape)
    order = list(range(len(shape)))
    if len(shape) > 1 and p.chance(0.25):
        p.random.shuffle(order)
        shape = [shape[i] for i in order]
        pad += f", order: {dims(order)}"
    return p.let(f"load({array}, [{index}], {p.dims(shape)}{pad})", shape, dtype)


def element(p, name, shape, dtype):
    """One element as a scalar, with a constant or a runtime index."""
    if dtype in NUMBERS:
        index = ", ".join(str(p.below(d)) if p.chance(0.5) else p.choose("bid(0)", "num_blocks(0)")
                          for d in shape)
        scalar = p.fresh()
        p.add(f"let {scalar} = {name}[{index}];")
        p.let(f"{p.like(shape, dtype)} {p.choose('+', '-', '*')} {scalar}", shape, dtype)


def row(p, name, shape, dtype):
    """A slice at an index of some axes, inside or outside, with new axes now and then."""
    entries, left = [], []
    for d in shape:
        if p.chance(0.5) and d > 1:
            entries.append(str(p.below(d)) if p.chance(0.5) else p.choose("bid(0)", "num_blocks(0)", f"bid(0) + {d - 1}"))
        else:
            entries.append(":")
            left.append(d)
        if p.chance(0.1) and len(shape) < 4:
            entries.append("None")
            left.append(1)
    if ":" in entries or "None" in entries:
        p.let(f"{name}[{', '.join(entries)}]", left, dtype)


def gather(p, *_):
    rank = p.choose(1, 1, 2)
    extents = [p.choose(3, 8, 17, 40) for _ in range(rank)]
    dtype = p.random.choice(INTEGERS + FLOATS + ["bool"])
    array, shape = p.array(dtype, extents), p.shape(1024)
    index = ", ".join(p.choose("0", "2", p.like(shape, p.choose("i32", "int", "i64", "u8")),
                               f"reshape(arange({math.prod(shape)}), {dims(shape)}) % {p.choose(5, 45)}")
                      for _ in extents)
    if index.replace(", ", "").isdigit():
        return
    mask = f", mask: {p.like(shape, 'bool')}" if p.chance(0.4) else ""
    pad = ", pad: 3" if p.chance(0.3) and dtype in COUNTED else ""
    p.let(f"gather({array}, [{index}]{mask}{pad})", shape, dtype)


def scatter(p, name, shape, dtype):
    """To distinct places of this block's row, some of them outside."""
    if dtype == "int":
        return
    count = math.prod(shape)
    array = p.array(dtype, [math.prod(p.grid), max(1, count + p.choose(0, 0, 5, -2))], True, "random")
    index = f"(reshape(arange({count}), {dims(shape)}) * {p.choose(1, 3, 5, 7)} + {p.below(9)}) % {count}"
    mask = f", mask: {p.like(shape, 'bool')}" if p.chance(0.5) else ""
    p.add(f"scatter({array}, [{block_number(p)}, {index}], {name}{mask});")


def atomic(p, name, shape, dtype):
    """All blocks into few bins; what is there at the end has no order."""
    if dtype not in ("i32", "u32", "i64", "u64"):
        name, dtype = f"{name}.to(i32)", "i32"
    kind = p.choose("add", "add", "max", "min", "and", "or", "xor")
    array = p.array(dtype, [p.choose(1, 2, 5, 16)], True, "random")
    index = f"reshape(arange({math.prod(shape)}), {dims(shape)}) % {p.choose(1, 3, 17)}"
    mask = f", mask: {p.like(shape, 'bool')}" if p.chance(0.4) else ""
    p.add(f"atomic_{kind}({array}, [{index}], {name}{mask});")


#===--- elementwise -------------------------------------------------------------===#


def arithmetic(p, name, shape, dtype):
    if dtype == "bool":
        return p.let(f"{name} {p.choose('&', '|', '^', '&&', '||')} {p.like(shape, dtype)}", shape, dtype)
    if dtype in NUMBERS:
        other = p.like(shape, dtype)
        if p.chance(0.25):
            other = p.choose("1", "2", "3") if dtype in COUNTED else p.choose("0.5", "2.0", "1", "-3.25")
        expression = f"{name} {p.choose('+', '-', '*')} {other}"
        if p.chance(0.25):
            expression = f"{expression} {p.choose('+', '-')} {p.like(shape, dtype)}"  # may contract
        p.let(expression, shape, dtype)


def compare(p, name, shape, dtype):
    if dtype in NUMBERS:
        p.let(f"{name} {p.choose('<', '<=', '==', '!=', '>', '>=')} {p.like(shape, dtype)}", shape, "bool")


def select(p, name, shape, dtype):
    other = p.like(shape, dtype) if dtype in NUMBERS + ["bool"] else name
    p.let(f"where({p.like(shape, 'bool')}, {name}, {other})", shape, dtype)


def convert(p, name, shape, dtype):
    target = p.random.choice(INTEGERS + FLOATS + ["bool", "int"] + NARROW)
    rounding = ""
    if dtype in FLOATS and target in FLOATS and p.chance(0.3):
        rounding = f", round: {p.choose('rz', 'rd', 'ru')}"
    p.let(f"{name}.to({p.dtype_name(target) if target != 'int' else target}{rounding})", shape, target)


def recast(p, name, shape, dtype):
    """Bits as another dtype. The bits of a NaN are not specified."""
    if dtype in FLOATS:
        name = f"where(isnan({name}), 0.0, {name})"
    targets = [t for t in WIDTH if WIDTH[t] == WIDTH.get(dtype) and t != dtype]
    if targets:
        target = p.random.choice(targets)
        p.let(f"bitcast({name}, {target})", shape, target)


def integers(p, name, shape, dtype):
    if dtype not in INTEGERS:
        return
    other = p.like(shape, dtype)
    p.let(p.choose(f"{name} {p.choose('&', '|', '^', '<<', '>>')} {other}",
                   f"{name} {p.choose('/', '%')} ({other} | 1)",
                   f"{name} {p.choose('/', '%')} {p.choose(3, 8, 7)}",
                   f"{p.choose('floordiv', 'mod', 'cdiv', 'mulhi', 'min')}({name}, {other} | 1)",
                   f"{p.choose('popcount', 'clz', 'ctz', 'abs', 'sign')}({name})", f"~{name}", f"-({name})",
                   f"clamp({name}, 2, {other})"), shape, dtype)


def floats(p, name, shape, dtype):
    if dtype in FLOATS:
        other = p.like(shape, dtype)
        p.let(p.choose(f"{p.choose('abs', 'floor', 'ceil', 'round', 'trunc', '-', 'sign')}({name})",
                       f"{name} / {other}", f"{p.choose('min', 'max', 'minnum', 'maxnum')}({name}, {other})",
                       f"fma({name}, {other}, {p.like(shape, dtype)})", f"{name} % {p.choose('1.5', '0.75')}",
                       f"clamp({name}, -1.0, {other})"), shape, dtype)
        if p.chance(0.2):
            p.let(f"{p.choose('isnan', 'isinf', 'isfinite')}({name})", shape, "bool")


def function(p, name, shape, dtype):
    """Not the same bits everywhere, so it is only stored."""
    if dtype in FLOATS and p.depth == 0 and p.chance(0.3):
        p.is_exact = False
        bounded = f"clamp(where(isnan({name}), 0.25, {name}), 0.125, 0.875)"
        store(p, f"{p.random.choice(FUNCTIONS)}({bounded})", shape, dtype)


def numbers(p, name, shape, dtype):
    """Random numbers of a counter."""
    offsets = f"{name} & 1023" if dtype in ("i32", "i64", "u32") else f"reshape(arange({math.prod(shape)}), {dims(shape)})"
    if p.chance(0.5):
        p.let(f"rand_u32({p.below(9)}, {offsets})", shape, "u32")
    else:
        p.let(f"rand({p.below(9)}, {offsets})", shape, "f32")


#===--- shapes ------------------------------------------------------------------===#


def reshape(p, name, shape, dtype):
    bits = math.prod(shape).bit_length() - 1
    cuts = [0] + sorted(p.below(bits + 1) for _ in range(p.choose(0, 1, 2, 3))) + [bits]
    target = [1 << (b - a) for a, b in zip(cuts, cuts[1:])]
    p.let(f"reshape({name}, {p.dims(target)})", target, dtype)


def permute(p, name, shape, dtype):
    order = list(range(len(shape)))
    p.random.shuffle(order)
    p.let(f"permute({name}, {dims(order)})", [shape[i] for i in order], dtype)


def stretch(p, name, shape, dtype):
    if len(shape) < 4 and p.chance(0.5):
        axis = p.below(len(shape) + 1)
        shape = shape[:axis] + [1] + shape[axis:]
        name = f"expand_dims({name}, {axis})"
    target = [1 << p.below(4) if d == 1 else d for d in shape]
    if math.prod(target) <= 8192:
        p.let(f"broadcast_to({name}, {p.dims(target)})", target, dtype)


def outer(p, name, shape, dtype):
    """Two tiles of rank 1, broadcast against each other."""
    other = p.usable([dtype])
    if len(shape) == 1 and dtype in NUMBERS and other and len(other[1]) == 1 and shape[0] * other[1][0] <= 4096:
        p.let(f"{name}[:, None] {p.choose('+', '-', '*')} {other[0]}[None, :]", [shape[0], other[1][0]], dtype)


def flip(p, name, shape, dtype):
    p.let(f"flip({name}, {p.below(len(shape))})", shape, dtype)


def cat(p, name, shape, dtype):
    if dtype in NUMBERS + ["bool"] and math.prod(shape) <= 2048:
        axis = p.below(len(shape))
        target = [2 * d if i == axis else d for i, d in enumerate(shape)]
        p.let(f"cat({name}, {p.like(shape, dtype)}, axis: {axis})", target, dtype)


def split(p, name, shape, dtype):
    axes = [i for i, d in enumerate(shape) if d > 1]
    if axes:
        axis, low, high = p.random.choice(axes), p.fresh(), p.fresh()
        p.add(f"let ({low}, {high}) = split({name}, {axis});")
        target = [d // 2 if i == axis else d for i, d in enumerate(shape)]
        p.tiles += [(low, target, dtype), (high, target, dtype)]


def extract(p, name, shape, dtype):
    target = [max(1, d >> p.below(3)) for d in shape]
    index = ", ".join(p.choose(str(p.below(d // t)), "bid(0)") for d, t in zip(shape, target))
    part = p.let(f"extract({name}, [{index}], {dims(target)})", target, dtype)
    if dtype in NUMBERS and p.chance(0.5):
        index = ", ".join(p.choose(str(p.below(d // t)), "bid(0)") for d, t in zip(shape, target))
        p.let(f"insert({name}, [{index}], {part})", shape, dtype)


def take(p, name, shape, dtype):
    axis = p.below(len(shape))
    if p.chance(0.5):
        count = 1 << p.below(5)
        target = [count if i == axis else d for i, d in enumerate(shape)]
        if math.prod(target) <= 4096:
            p.let(f"take({name}, (arange({count}) * 3) % {shape[axis] + p.below(2)}, {axis})", target, dtype)
    else:
        p.let(f"take({name}, {p.like(shape, 'i32')} % {shape[axis]}, {axis})", shape, dtype)


#===--- along axes --------------------------------------------------------------===#


def reduce(p, name, shape, dtype):
    if dtype in NARROW:
        return
    axes = sorted(p.random.sample(range(len(shape)), p.choose(1, 1, 1, min(2, len(shape)), len(shape))))
    keep = p.chance(0.4)
    options = ["any", "all", "sum"] if dtype == "bool" else ["max", "min", "argmax", "argmin"]
    if dtype in FLOATS:
        options += ["maxnum", "minnum"]
    if dtype in COUNTED:
        options += ["sum", "sum", "prod"]
    kind = p.random.choice(options)
    rest = [1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes]
    if len(axes) == len(shape) and p.chance(0.5):
        axis = ""
    else:
        signed = [a - len(shape) if p.chance(0.3) else a for a in axes]
        axis = f", axis: {signed[0] if len(signed) == 1 else signed}"
    expression = f"{kind}({name}{axis}{', keep: true' if keep else ''})"
    if kind.startswith("arg"):
        expression, dtype = expression + ".to(i32)", "i32"
    elif kind in ("sum", "prod"):
        dtype = SUM_TYPE.get(dtype, dtype)
    if rest:
        p.let(expression, rest, dtype)
    else:
        shape = p.shape(512)
        p.let(f"full({p.dims(shape)}, {expression})", shape, dtype)


def float_sum(p, name, shape, dtype):
    """Of small integers, which have the same sum in every order."""
    if dtype in COUNTED:
        target = p.choose("f32", "f16", "bf16", "f64")
        mask = 3 if target in ("f16", "bf16") else 15
        axis = p.below(len(shape))
        if target in ("f16", "bf16") and shape[axis] > 64:
            return
        rest = shape[:axis] + shape[axis + 1:]
        if rest:
            p.let(f"sum(({name} & {mask}).to({target}), axis: {axis})", rest, target)


def custom_reduce(p, name, shape, dtype):
    if dtype not in INTEGERS or len(shape) < 2:
        return
    axis = p.below(len(shape))
    rest = shape[:axis] + shape[axis + 1:]
    if p.chance(0.5):
        fn = p.choose(("xor_of", "return a ^ b;"), ("sum_of", "let c = a + b; return c;"),
                      ("or_of", "return a | b;"))
        declare(p, f"fn {fn[0]}(a, b) {{ {fn[1]} }}")
        return p.let(f"reduce({name}, {axis}, 0, {fn[0]})", rest, dtype)
    declare(p, "fn both_of(a, b, c, d) { return (a + c, b ^ d); }")
    first, second = p.fresh(), p.fresh()
    p.add(f"let ({first}, {second}) = reduce(({name}, {p.like(shape, dtype)}), {axis}, (0, 0), both_of);")
    p.tiles += [(first, rest, dtype), (second, rest, dtype)]


def scan(p, name, shape, dtype):
    if dtype in COUNTED + ["bool"]:
        kind = p.choose("cumsum", "cumprod") if dtype == "bool" else p.choose("cumsum", "cumprod", "cummax", "cummin")
    elif dtype in FLOATS:
        kind = p.choose("cummax", "cummin")
    else:
        return
    flags = p.choose("", ", reverse: true", ", exclusive: true", ", reverse: true, exclusive: true")
    target = SUM_TYPE.get(dtype, dtype) if kind in ("cumsum", "cumprod") else dtype
    p.let(f"{kind}({name}, axis: {p.below(len(shape))}{flags})", shape, target)


def sort(p, name, shape, dtype):
    if dtype not in NUMBERS or math.prod(shape) > 1024:
        return
    axis = p.below(len(shape))
    flags = f"axis: {axis}{p.choose('', ', descending: true')}"
    kind = p.choose("sort", "argsort", "pairs", "topk", "histogram")
    if kind == "sort":
        p.let(f"sort({name}, {flags})", shape, dtype)
    elif kind == "argsort":
        p.let(f"argsort({name}, {flags}).to(i32)", shape, "i32")
    elif kind == "pairs":
        keys, carried = p.fresh(), p.fresh()
        p.add(f"let ({keys}, {carried}) = sort(({name}, {p.like(shape, 'i32')}), {flags});")
        p.tiles += [(keys, shape, dtype), (carried, shape, "i32")]
    elif kind == "topk":
        k = 1 << p.below(shape[axis].bit_length())
        target = [k if i == axis else d for i, d in enumerate(shape)]
        best, places = p.fresh(), p.fresh()
        p.add(f"let ({best}, {places}) = topk({name}, {k}, axis: {axis});")
        p.tiles += [(best, target, dtype), (places, target, "int")]
    elif dtype in INTEGERS:
        bins = 1 << p.below(6)
        p.let(f"histogram({name}, {bins})", [bins], "i32")


def multiply(p, *_):
    batch = [p.choose(1, 2, 4)] if p.chance(0.2) else []
    m, k, n = (1 << p.below(5 if batch else 6) for _ in range(3))
    kind = p.choose("i8", "u8", "f32", "f16", "bf16", "f64", "f8e4m3", "tf32")
    if not batch and kind in ("i8", "f16", "bf16", "f8e4m3") and p.chance(0.2):
        m, k, n = 64, p.choose(16, 32, 64), p.choose(8, 16, 64)  # the widest instructions

    def operand(rows, columns):
        shape = batch + [rows, columns]
        array = p.array("i8" if kind != "u8" else "u8", shape)
        raw = f"load({array}, {dims([0] * len(shape))}, {dims(shape)})"
        return raw if kind in ("i8", "u8") else f"((({raw} & 7) - 3).to(f32)).to({kind})"
    left, right = operand(m, k), operand(k, n)
    result = "i32" if kind in ("i8", "u8") else "f64" if kind == "f64" else "f32"
    shape = batch + [m, n]
    if p.chance(0.5):
        return p.let(f"{left} @ {right}", shape, result)
    if kind == "f16" and p.chance(0.5):
        result = "f16"
    start = f"zeros({dims(shape)}, {result})"
    if result == "i32" and p.chance(0.5):
        start = p.like(shape, "i32")
    p.let(f"mma({left}, {right}, {start})", shape, result)


#===--- functions and control flow ----------------------------------------------===#


def declare(p, text):
    if text not in p.functions:
        p.functions.append(text)


def call(p, name, shape, dtype):
    if dtype not in NUMBERS:
        return
    kind = p.below(4)
    if kind == 0:
        declare(p, "fn sum_and_difference(x, y) { let s = x + y; return (s, x - y); }")
        first, second = p.fresh(), p.fresh()
        p.add(f"let ({first}, {second}) = sum_and_difference({name}, {p.like(shape, dtype)});")
        p.tiles += [(first, shape, dtype), (second, shape, dtype)]
    elif kind == 1:
        declare(p, "fn early(x, y, c) { if c > 1 { return x; } if c == 0 { return y + x; } return x * 2; }")
        p.let(f"early({name}, {p.like(shape, dtype)}, {p.scalar()})", shape, dtype)
    elif kind == 2:
        declare(p, "fn at_least(x, low = 1) { return max(x, low); }")
        declare(p, "fn applied(f, x) { return f(x) - f(x, 2); }")
        p.let(f"applied(at_least, {name})", shape, dtype)
    else:
        declare(p, "fn looped(x, n) { var r = x; for i in 0..n { if i == 3 { return r; } r += x; } return r; }")
        p.let(f"looped({name}, {p.scalar()} + 2)", shape, dtype)


def assign(p):
    """A variable gets a new value, made of itself or of others."""
    if p.variables:
        name, shape, dtype = p.random.choice(p.variables)
        other = p.like(shape, dtype)
        if dtype == "bool":
            return p.add(f"{name} {p.choose('=', '&=', '|=', '^=')} {other};")
        p.add(p.choose(f"{name} = {other};", f"{name} {p.choose('+=', '-=')} {other};",
                       f"{name} = {p.choose('max', 'min')}({name}, {other});",
                       f"{name} = where({p.like(shape, 'bool')}, {name}, {other});"))


def body(p, count):
    """Statements of a nested body: those that keep within the scope, and assignments."""
    def some():
        tile = p.usable()
        if p.depth < 3 and p.chance(0.3):
            p.random.choice([loop, while_loop, branch])(p, *tile)
        else:
            p.random.choice([arithmetic, compare, select, integers, floats, reduce, permute, convert])(p, *tile)
        assign(p)
    return [some for _ in range(count)] + [lambda: assign(p)]


def carried(p, name, shape, dtype):
    if dtype in NUMBERS + ["bool"]:
        p.variable(name, shape, dtype)


def leave(p, inner):
    condition = p.choose(f"{inner} == 1", f"{inner} > bid(0)", f"{inner} >= 2", f"{inner} % 2 == 0")
    return f"if {condition} {{ {p.choose('break', 'continue')}; }}"


def loop(p, name, shape, dtype):
    carried(p, name, shape, dtype)
    inner = p.fresh()
    head = p.choose(f"for {inner} in 0..{p.choose('3', 'num_blocks(0) + 1', 'bid(0) + 1', '0', 'bid(0)')}",
                    f"for {inner} in 0..{p.choose('5', 'num_blocks(0) + 2')} step {p.choose('2', 'bid(0) + 1')}",
                    f"for const {inner} in 0..{p.choose(1, 2, 3)}")
    block = Block(head)
    statements = body(p, p.choose(0, 1, 2))
    if not head.startswith("for const") and p.chance(0.4):
        statements.insert(p.below(len(statements)), lambda: p.add(leave(p, inner)))
    p.nest(block, 0, statements)
    p.body.append(block)


def while_loop(p, name, shape, dtype):
    carried(p, name, shape, dtype)
    count = p.fresh()
    p.add(f"var {count} = 0;")
    block = Block(f"while {count} < {p.choose('3', 'bid(0) + 1', 'num_blocks(0)', '0')}")
    statements = [lambda: p.add(f"{count} += 1;")] + body(p, p.choose(0, 1, 2))
    if p.chance(0.4):
        statements.insert(1 + p.below(len(statements)), lambda: p.add(leave(p, count)))
    p.nest(block, 0, statements)
    p.body.append(block)


def branch(p, name, shape, dtype):
    carried(p, name, shape, dtype)
    heads = [f"if {p.condition()}"]
    if p.chance(0.3):
        heads.append(f"else if {p.condition()}")
    if p.chance(0.7):
        heads.append("else")
    block = Block(*heads)
    for index in range(len(heads)):
        p.nest(block, index, body(p, p.choose(0, 1, 2)))
    p.body.append(block)


#===--- whole programs ----------------------------------------------------------===#

STATEMENTS = [load, load, element, arithmetic, arithmetic, compare, select, convert, convert, recast, reduce,
              reduce, reduce, float_sum, custom_reduce, reshape, permute, stretch, outer, integers, integers,
              floats, floats, function, numbers, multiply, loop, loop, while_loop, branch, branch, call]
# By the name of the operation that must be there.
OPTIONAL = {"gather": gather, "scatter": scatter, "atomic_add": atomic, "flip": flip, "cat": cat,
            "split": split, "extract": extract, "take": take, "cumsum": scan, "sort": sort, "row": row}


def block_number(p):
    return "bid(0)" if len(p.grid) == 1 else "(bid(0) * num_blocks(1) + bid(1))"


def store(p, name, shape, dtype):
    """To this block's part of an array of its own."""
    if dtype == "int":
        name, dtype = f"({name}).to(i64)", "i64"
    extents = [max(1, d + p.choose(0, 0, 1, -1)) for d in shape]
    blocks = math.prod(p.grid)
    if blocks > 1:
        extents[0] = shape[0] * blocks
    array = p.array(dtype, extents, True, "poison")
    p.add(f"store({array}, [{', '.join([block_number(p)] + ['0'] * (len(shape) - 1))}], {name});")


def values(p):
    """Tiles computed from tiles; the last ones are stored."""
    p.grid = p.choose([1], [1], [2], [3], [2, 2])
    load(p)
    choices = STATEMENTS + [OPTIONAL[name] for name in sorted(OPTIONAL) if name in p.operations]
    for _ in range(3 + p.below(12)):
        # Scans, sorts and slices of very wide tiles take long to compile.
        p.random.choice(STATEMENTS if p.is_wide else choices)(p, *p.usable())
    if p.chance(0.05):
        p.add(f"if {p.condition()} {{ return; }}")
    for name, shape, dtype in [t for t in p.tiles if t[1]][-4:]:
        store(p, name, shape, dtype)


def in_place(p):
    """One array, stored and loaded in turn in tiles of several shapes, also in loops."""
    shape, dtype = p.shape(), p.random.choice(INTEGERS + ["f32", "f16", "bool"])
    array = p.array(dtype, p.extents(shape), True)

    def step(inner="0"):
        tile = [1 << p.below(6 if len(shape) < 3 else 3) for _ in shape]
        source, target = ([p.choose("0", "0", "1", "2", inner) for _ in shape] for _ in range(2))
        name = p.let(f"load{p.choose('', '_at')}({array}, [{', '.join(source)}], {dims(tile)})", tile, dtype)
        value = name if dtype == "bool" else p.choose(name, f"{name} + {name}",
                                                      f"where({name} > 0, {name}, {name} - 1)")
        if len(shape) == 2 and p.chance(0.4):
            value = f"transpose({value})"
        p.add(f"store{p.choose('', '_at')}({array}, [{', '.join(target)}], {value});")
    for _ in range(2 + p.below(4)):
        if p.chance(0.2):
            inner = p.fresh()
            block = Block(f"for {inner} in 0..3")
            p.nest(block, 0, [lambda inner=inner: step(inner)])
            p.body.append(block)
        else:
            step()
