#===- random_rows.py - random programs of rows ----------------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Whole programs as softmax and the normalisations are: a few rows a position, loaded,
reduced and stored, from short ones, of which several share a block, to long ones, which
resident blocks load ahead, and some that are gone over part by part. Reductions are of small
whole numbers, so they are exact in any order. See random_programs.py."""
from random_programs import Block, dims


class Rows:
    """What the tiles of one program have in common."""

    def __init__(self, p):
        self.p = p
        long = p.chance(0.1)
        self.columns = p.choose(32768, 65536, 131072) if long else p.choose(32, 64, 128, 256, 256, 512, 1024, 2048, 4096, 8192, 16384)
        self.rows = p.choose(1, 1, 1, 2, 4) if self.columns > 512 else p.choose(1, 1, 2, 4, 8)
        self.rows = 1 if long else self.rows
        self.count = p.choose(1, 2) if long else max(1, p.choose(1, 2, 3, 5, 9, 17) * self.rows - p.below(self.rows))
        self.width = max(1, self.columns - p.choose(0, 0, 0, 1, 7, 8, 16, 31))
        if long and p.chance(0.5):
            self.width = p.choose(1, 1000, 16384, 20001, 70003)
        p.grid = [-(-self.count // self.rows)]
        # The tile of columns: mostly the first; of others nothing exists, or a part.
        self.at = p.choose("0", "0", "0", "0", "0", "0", "1", "-1", "bid(0)", "2305843009213693952", "bid(0) * -576460752303423488")


def load(t, pads=("", "", ", pad: -inf", ", pad: 1")):
    """A tile of rows, or of weights of the columns, in f32."""
    p, dtype = t.p, t.p.choose("f32", "bf16", "bf16", "f16", "i32", "i8")
    pad = p.choose(*pads)
    if dtype in ("i32", "i8") and "inf" in pad:
        pad = ""
    if p.chance(0.25):
        return p.let(f"load({p.array(dtype, [t.width], fill='small')}, [{t.at}], [{t.columns}]{pad}).to(f32)", [t.columns], "f32")
    array = p.array(dtype, [t.count, t.width], fill="small")
    return p.let(f"load({array}, [bid(0), {t.at}], {dims([t.rows, t.columns])}{pad}).to(f32)", [t.rows, t.columns], "f32")


def tile(t):
    """A name of the shape of all rows."""
    shape = [t.rows, t.columns]
    return t.p.random.choice([name for name, known, _ in t.p.tiles if known == shape])


def within(t, x):
    """`x` where there are columns, 0 elsewhere: finite, and small."""
    return f"where(arange({t.columns}) < {t.width}, clamp({x}, -4, 4), 0.0)"


def reduce(t):
    p, kind = t.p, t.p.choose("sum", "sum", "max", "min", "argmax")
    x = within(t, tile(t)) if kind != "max" else tile(t)
    keep = ", keep: true"
    if kind == "argmax":
        return p.let(f"argmax({x}, axis: 1{keep}).to(f32)", [t.rows, 1], "f32")
    p.let(f"{kind}({x}, axis: 1{keep})", [t.rows, 1], "f32")


def best(t):
    """The first of a row, and where they are."""
    p, k = t.p, t.p.choose(1, 2, 8, 32)
    values, places = p.fresh(), p.fresh()
    source = tile(t) if p.chance(0.3) else "load({}, [bid(0), {}], {})".format(
        p.array(p.choose("f32", "bf16", "i32"), [t.count, t.width], fill=p.choose("small", "random")), t.at, dims([t.rows, t.columns]))
    p.add(f"let ({values}, {places}) = topk({source}, {k}, axis: 1);")
    for name in (f"{values}.to(f32)", f"{places}.to(i32)"):
        p.add(f"store({p.array(name[-4:-1], [t.count, k], True, 'poison')}, [bid(0), 0], {name});")


def compute(t):
    p, shape = t.p, [t.rows, t.columns]
    other = p.random.choice([name for name, known, _ in p.tiles if known in (shape, [t.rows, 1], [t.columns])])
    x = tile(t)
    p.let(p.choose(f"{x} + {other}", f"{x} - {other}", f"max({x}, {other})", f"where({x} > {other}, {x}, 1.0)",
                   f"clamp({x}, -4, 4) * clamp({other}, -4, 4)"), shape, "f32")


def store(t):
    p, dtype = t.p, t.p.choose("f32", "bf16", "f16", "i32")
    scalars = [name for name, known, _ in p.tiles if known == [t.rows, 1]]
    if scalars and p.chance(0.3):
        array = p.array("f32", [t.count, 1], True, "poison")
        return p.add(f"store({array}, [bid(0), 0], {p.random.choice(scalars)});")
    array = p.array(dtype, [t.count, t.width], True, "poison")
    p.add(f"store({array}, [bid(0), {p.choose('0', t.at)}], clamp({tile(t)}, -1024, 1024).to({dtype}));")


def rows(p):
    """Tiles of rows, what is reduced of them, and what is made of both."""
    t = Rows(p)
    name = p.array("f32", [t.count, t.width], fill="small")
    p.let(f"load({name}, [bid(0), {t.at}], {dims([t.rows, t.columns])})", [t.rows, t.columns], "f32")
    for _ in range(p.below(3)):
        load(t)
    for _ in range(1 + p.below(5)):
        p.random.choice([reduce, reduce, compute, compute, load])(t)
    if p.chance(0.15 if t.columns <= 4096 or t.columns > 16384 else 0):
        best(t)
    if p.chance(0.2):
        known, variables = list(p.tiles), list(p.variables)
        block = Block(f"if bid(0) {p.choose('!=', '<', '>')} 1")
        p.nest(block, 0, [lambda: store(t)])
        p.body.append(block)
        p.tiles, p.variables = known, variables
    for _ in range(1 + p.below(2)):
        store(t)
    p.chip = p.choose("sm_90a", "sm_90a", "sm_80")
    p.warps = p.choose(0, 0, 0, 1, 2, 4, 8) if t.columns * t.rows <= 4096 else p.choose(0, 0, 8)
    p.hints = p.choose(None, None, None, None, "persistent: true")
