#===- random_programs.py - writes random well-typed programs --*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""One program for each seed: a kernel, the functions it calls, its arguments and how
it is to be run. Used by fuzz-programs.py, which runs and compares them.

A program grows statement by statement from the tiles in scope. What a program computes
is defined in every bit, whatever the order in which its threads run: sums are of
integers (or of floats that are small integers), each block stores to its own part of
an array, scattered indices are distinct. Functions with a bound in ulp are the
exception: their results are only stored, and the program says so (`is_exact`).

Statements are kept as a tree (Line, Block), from which a failing program is made
smaller.
"""
import math
import random

SIGNED = ["i8", "i16", "i32", "i64"]
INTEGERS = SIGNED + ["u8", "u16", "u32", "u64"]
FLOATS = ["f32", "f16", "bf16", "f64"]
NARROW = ["f8e4m3", "f8e5m2"]
COUNTED = INTEGERS + ["int"]
NUMBERS = COUNTED + FLOATS
SUM_TYPE = {"bool": "i32", "i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32"}
WIDTH = {"i8": 8, "u8": 8, "i16": 16, "u16": 16, "f16": 16, "bf16": 16, "i32": 32, "u32": 32,
         "f32": 32, "i64": 64, "u64": 64, "f64": 64}
FUNCTIONS = ["exp", "exp2", "log1p", "sin", "cos", "tanh", "erf", "sigmoid", "silu", "gelu", "atan",
             "sqrt", "cbrt", "expm1", "gelu_tanh", "asin", "sinh", "rsqrt", "log", "log2"]


class Line:
    """A statement of one line."""

    def __init__(self, text):
        self.text = text

    def lines(self):
        return [self.text]


class Block:
    """A statement with bodies: `heads[i] { bodies[i] }`, one after the other."""

    def __init__(self, *heads):
        self.heads = list(heads)
        self.bodies = [[] for _ in heads]

    def lines(self):
        result = []
        for head, body in zip(self.heads, self.bodies):
            inner = ["  " + text for statement in body for text in statement.lines()]
            if result:
                result[-1] += f" {head} {{"
            else:
                result.append(f"{head} {{")
            result += inner + ["}"]
        return result


def dims(shape):
    return "[" + ", ".join(str(d) for d in shape) + "]"


class Program:
    """A kernel in the making: parameters, statements, and what is in scope."""

    def __init__(self, seed, operations=()):
        self.random = random.Random(seed)
        self.operations = set(operations)
        self.generics, self.parameters, self.requires = [], [], []
        self.arguments, self.functions, self.body = [], [], []
        self.tiles = []      # (name, shape, dtype)
        self.variables = []  # those of them that can be assigned
        self.names = 0
        self.grid = [1]
        self.depth = 0
        self.is_exact = True
        self.is_wide = False
        self.warps = 0
        self.chip = None  # that SIMT execution compiles for
        self.hints = None
        self.skew = 0  # bytes behind an aligned address, where arrays begin
        self.seed = self.random.randrange(1000)

    #--- choices ---------------------------------------------------------------

    def choose(self, *options):
        return self.random.choice(options)

    def chance(self, p):
        return self.random.random() < p

    def below(self, n):
        return self.random.randrange(n)

    #--- what is written -------------------------------------------------------

    def fresh(self):
        self.names += 1
        return f"v{self.names}"

    def add(self, text):
        self.body.append(Line(text))

    def let(self, expression, shape, dtype):
        name = self.fresh()
        self.add(f"let {name} = {expression};")
        self.tiles.append((name, list(shape), dtype))
        return name

    def variable(self, expression, shape, dtype):
        name = self.fresh()
        self.add(f"var {name} = {expression};")
        self.tiles.append((name, list(shape), dtype))
        self.variables.append(self.tiles[-1])
        return name

    def nest(self, block, index, statements):
        """Statements into a body of `block`; what they declare is not seen outside."""
        outer, tiles, variables = self.body, list(self.tiles), list(self.variables)
        self.body = block.bodies[index]
        self.depth += 1
        for statement in statements:
            statement()
        self.depth -= 1
        self.body, self.tiles, self.variables = outer, tiles, variables

    def generic(self, value, bound):
        """`value` itself or the name of a compile-time parameter with that default."""
        for name, known, kind in self.generics:
            if known == value and kind == bound:
                return name if self.chance(0.6) else value
        if len(self.generics) >= 3 or not self.chance(0.15):
            return value
        self.generics.append((f"P{len(self.generics)}", value, bound))
        return self.generics[-1][0]

    def dtype_name(self, dtype):
        return self.generic(dtype, "dtype") if self.chance(0.3) else dtype

    def dims(self, shape):
        return dims([self.generic(d, "int") if self.chance(0.3) else d for d in shape])

    def array(self, dtype, shape, mutable=False, fill=None):
        index = len(self.parameters)
        names = []
        for i, extent in enumerate(shape):
            name = f"d{index}{chr(97 + i)}"
            if self.chance(0.08):
                name = extent  # a fixed dim
            elif self.chance(0.12):
                self.requires.append(self.choose(f"{name} <= {extent + self.below(3)}",
                                                 f"{name} == {extent}", f"{name} >= {min(extent, 1)}"))
            names.append(name)
        kind = "array" if not self.chance(0.12) else "strided array"
        kind = f"mut {kind}" if mutable else kind
        self.parameters.append(f"p{index}: {kind}<{self.dtype_name(dtype)}, {dims(names)}>")
        if fill is None:
            fill = "random" if mutable or not self.chance(0.05) else self.choose("poison", "ones", "zeros")
        extents = ",".join(str(d) for d in shape)
        self.arguments.append((f"p{index}", f"{fill}:{dtype}[{extents}]"))
        return f"p{index}"

    def scalar(self):
        """A scalar `int` expression, the same for all threads of a block."""
        return self.choose("0", "1", "2", "bid(0)", "num_blocks(0)", "bid(0) + 1")

    def condition(self):
        return self.choose("bid(0) == 0", "bid(0) == 1", "num_blocks(0) > 1", "bid(0) % 2 == 1",
                           "bid(0) >= 0 && num_blocks(0) != 2", "bid(0) > 0 || num_blocks(0) == 1",
                           "!(bid(0) == 1)")

    #--- shapes and values -----------------------------------------------------

    def shape(self, limit=4096):
        if limit >= 4096 and self.chance(0.01):  # more elements a thread than registers
            self.is_wide = True
            return self.choose([16384], [128, 128], [32, 8, 64])
        while True:
            rank = self.choose(1, 1, 2, 2, 2, 3, 3, 4)
            top = 8 if rank == 1 else 7 if rank == 2 else 5
            shape = [1 << self.below(top) for _ in range(rank)]
            if rank == 1 and self.chance(0.1):
                shape = [1 << self.choose(9, 10, 11, 12)]
            if math.prod(shape) <= limit:
                return shape

    def extents(self, shape):
        """Array dims near a tile's: smaller, equal, a little or much larger."""
        return [max(1, self.choose(d, d, 2 * d, d + 1 + self.below(3), d - self.below(3), 3 * d + 1))
                for d in shape]

    def like(self, shape, dtype):
        """An expression of this shape and dtype."""
        same = [t for t in self.tiles if t[1] == shape and t[2] == dtype]
        if same and self.chance(0.7):
            return self.random.choice(same)[0]
        other = [t for t in self.tiles if t[1] == shape and t[2] in NUMBERS]
        if other and dtype != "bool":
            return f"{self.random.choice(other)[0]}.to({dtype})"
        if dtype != "bool" and self.chance(0.2):
            return f"{self.choose('zeros', 'ones')}({self.dims(shape)}, {dtype})"
        numbers = f"reshape(arange({math.prod(shape)}, i32), {dims(shape)})"
        return f"({numbers} % 3 == 1)" if dtype == "bool" else f"{numbers}.to({dtype})"

    def usable(self, dtypes=None):
        tiles = [t for t in self.tiles if t[1] and (dtypes is None or t[2] in dtypes)]
        return self.random.choice(tiles) if tiles else None

    #--- the whole -------------------------------------------------------------

    def kernel_lines(self):
        generics = ", ".join(f"{n}: {b} = {v}" for n, v, b in self.generics)
        lines = [f"kernel k{'<' + generics + '>' if generics else ''}({', '.join(self.parameters)})"]
        if self.requires:
            lines.append(f"  requires {', '.join(self.requires)}")
        lines += [f"  grid {dims(self.grid)}"] + ([f"  hint({self.hints})"] if self.hints else []) + ["{"]
        lines += ["  " + text for statement in self.body for text in statement.lines()]
        return lines + ["}"]

    def text(self):
        return "\n".join(self.functions + self.kernel_lines()) + "\n"

    def options(self):
        """Of tile-run, but for the device."""
        result = [f"--seed={self.seed}"] if self.seed else []
        if self.is_exact:
            result.append("--tolerance=0")
        if self.chip:
            result.append(f"--gpu-arch={self.chip}")
        if self.warps:
            result.append(f"--num-warps={self.warps}")
        if self.skew:
            result.append(f"--skew={self.skew}")
        return result + [f"--arg={name}={value}" for name, value in self.arguments]


def make_program(seed, operations=(), only=None):
    """The program of `seed`; of four one is of products in loops, and of eight one of rows.
    `only`: all are of that kind."""
    from random_mixed import mixed
    from random_products import products
    from random_rows import rows
    from random_statements import in_place, values
    p = Program(seed, operations)
    kind = only or {3: "products", 7: "products", 5: "rows"}.get(seed % 8)
    if kind:
        {"mixed": mixed, "products": products, "rows": rows, "words": lambda p: products(p, True)}[kind](p)
        return p
    (in_place if p.chance(0.25) else values)(p)
    p.chip = p.choose(None, None, None, "sm_90a", "sm_90a", "sm_100a", "sm_120a")
    p.warps = 1 if p.is_wide else p.choose(0, 1, 2, 4, 8, 8, 16, 32)
    return p
