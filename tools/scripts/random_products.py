#===- random_products.py - random programs of products in loops -*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Whole programs whose operands are copied ahead: one to three loops that add products,
one after the other or nested, of operands that are loaded, gathered, computed, masked or
viewed in another order, and what is stored of the sums. All values are small whole numbers,
so sums are exact in any order. `words` are those whose rows begin at words and no more. See
random_programs.py."""
from random_programs import WIDTH, Block, dims

RESULT = {"i8": "i32", "u8": "i32"}
# What a sum may be stored as without saying in which order it was added.
STORED = {"i32": ["i32", "i32", "i8", "i64", "f32"], "f32": ["f32", "f32", "bf16", "f16", "i32"]}


# Tiles so far away that the number of an element overflows.
FAR = ["2305843009213693952", "144115188075855872", "-1", "-144115188075855872"]


class Product:
    """What the loops of one program have in common: tiles, sizes, and whose row they are."""

    def __init__(self, p, words):
        self.p, self.words = p, words
        self.dtype = p.choose("bf16", "bf16", "bf16", "f16", "f16", "f32", "i8", "u8", "f8e4m3")
        self.sum = RESULT.get(self.dtype, "f32")
        wide = p.chance(0.5 if words else 0.3)
        self.m = p.choose(64, 128) if wide else p.choose(8, 16, 16, 32, 64)
        self.n = p.choose(64, 64, 128) if wide else p.choose(8, 16, 32, 64)
        self.k = p.choose(16, 32, 64) if self.dtype != "f32" else p.choose(8, 16, 32)
        p.grid = p.choose([1], [1, 1], [2, 1], [2, 2], [3, 2], [4, 1], [1, 5]) if not p.chance(0.02) else [17, 2]
        self.positions = p.choose(0, 0, 0, 2, 3)  # that blocks walk over by themselves
        self.row = p.fresh() if self.positions else "bid(0)"
        self.column = "bid(1)" if len(p.grid) > 1 else "0"
        self.rounds = p.choose(0, 1, 2, 2, 3, 4, 5, 7) if not p.chance(0.02) else p.choose(40, 61)
        ragged = p.chance(0.5)
        self.rows = self.extent(self.m * (self.positions or p.grid[0]), ragged)
        self.columns = self.extent(self.n * (p.grid[1] if len(p.grid) > 1 else 1), ragged)
        self.depth = self.extent(self.k * self.rounds, ragged)
        if p.chance(0.02):  # arrays without elements
            self.rows, self.columns = p.choose((0, self.columns), (self.rows, 0), (0, 0))
        self.outer = None  # the variable of the loop around the rounds

    def extent(self, size, ragged):
        """A dim near `size`: mostly a multiple of 16 bytes of any dtype."""
        cut = self.p.choose(0, 0, 16, 32) if not ragged else self.p.below(20)
        size = max(0 if size == 0 else 1, size - cut if size > cut else size)
        if self.words:  # one, two or three words more than a multiple of 16 bytes
            word = max(1, 32 // WIDTH.get(self.dtype, 8))
            size = size // (4 * word) * 4 * word + word * self.p.choose(0, 1, 2, 2, 3)
        return size


#===--- operands -----------------------------------------------------------------===#


def place(t, index, size):
    """`load`'s index along one axis as `load_at` counts, with an offset now and then."""
    shifts = ["", "", " + 1", " - 1", " - 16", " + 8", " + 2", " + 4"]
    shifts += [f" + {t.outer}", f" + {t.outer} - 1", f" + {t.outer} * 2"] if t.outer else []
    return f"{index} * {size}" + t.p.choose(*shifts)


def mostly(t, index):
    """`index` of `load`, of a tile that is nowhere near the array now and then."""
    p = t.p
    if not p.chance(0.04):
        return index
    far = p.choose(*FAR)
    return p.choose(far, f"{index} + {far} * ({index} % 2)", f"min({index} * {far}, {far})")


def image(t, extents, tile, index):
    """A tile of pixels, whose rows and columns become one dim."""
    wide = 1 << t.p.below(tile[0].bit_length())
    a = t.p.array(t.dtype, [2, extents[0] // wide + 2, wide + t.p.below(3), extents[1]], fill="small")
    if t.p.chance(0.5):
        inner = f"load({a}, [1, {index[0]}, 0, {index[1]}], {dims([1, tile[0] // wide, wide, tile[1]])})"
    else:
        rows, columns = place(t, index[0], tile[0] // wide), t.p.choose("0", "-1", t.outer or "1")
        inner = f"load_at({a}, [0, {rows}, {columns}, {index[1]} * {tile[1]}], {dims([1, tile[0] // wide, wide, tile[1]])})"
    return f"reshape({inner}, {dims(tile)})"


def stored(t, extents, tile, index):
    """A tile of an array of its own, in one of the ways that say which."""
    p, form = t.p, t.p.below(11)
    if form == 10:
        return image(t, extents, tile, index)
    if form < 8:
        index = [mostly(t, i) for i in index]
    if form < 5:
        return f"load({p.array(t.dtype, extents, fill='small')}, {dims(index)}, {dims(tile)})"
    if form < 7:
        a = p.array(t.dtype, extents[::-1], fill="small")
        turned = f"{a}, {dims(index[::-1])}, {dims(tile[::-1])}"
        return f"transpose(load({turned}))" if p.chance(0.6) else f"load({a}, {dims(index)}, {dims(tile)}, order: [1, 0])"
    if form == 7:
        a = p.array(t.dtype, [2] + extents, fill="small")
        return f"squeeze(load({a}, {dims([p.choose('0', '1')] + index)}, {dims([1] + tile)}), 0)"
    a = p.array(t.dtype, extents, fill="small")
    at = [place(t, i, size) for i, size in zip(index, tile)]
    if form == 8:
        return f"load_at({a}, {dims(at)}, {dims(tile)})"
    rows, columns = f"({at[0]} + arange({tile[0]}))[:, None]", f"({at[1]} + arange({tile[1]}))[None, :]"
    if p.chance(0.1):
        rows = f"(({index[0]} + {p.choose(*FAR)}) * {tile[0]} + arange({tile[0]}))[:, None]"
    if p.chance(0.5):
        ids = p.array("i32", [extents[0] + 3], fill="random")
        rows = f"(load_at({ids}, [{at[0]}], [{tile[0]}]) + {extents[0] // 2})[:, None]"
    return f"gather({a}, [{rows}, {columns}])"


def operand(t, extents, tile, index):
    """The tile as it is stored, or computed from it; exact in the dtype of products."""
    p, value = t.p, stored(t, extents, tile, index)
    if not p.chance(0.1 if t.words else 0.25):
        return value
    form = p.below(3)
    if form == 0:
        return f"where(arange({tile[1]})[None, :] < {p.choose(5, tile[1])}, {value}.to(f32), 0.0).to({t.dtype})"
    if form == 1:
        ones = p.array("f32", [extents[0]], fill="small")
        scale = f"load({ones}, [{index[0]}], [{tile[0]}])[:, None]"
        return f"({value}.to(f32) * {scale}).to({t.dtype})" if t.dtype != "u8" else value
    if t.words:
        return f"({value}.to(f32) * 2.0).to({t.dtype})"
    bytes_ = p.array("u8", [max(1, e) for e in extents], fill="random")
    return f"((load({bytes_}, {dims(index)}, {dims(tile)}) & 3).to(f32)).to({t.dtype})"


#===--- masks by position --------------------------------------------------------===#


def side(t, at, along_rows):
    """Positions of a tile's rows or columns, in one of the ways to write them."""
    p, size = t.p, t.m if along_rows else t.n
    number = f"arange({size})" + ("[:, None]" if along_rows else "[None, :]")
    start = p.choose(f"{t.row if along_rows else t.column} * {size}", f"{at} * {size}", "bid(0)", "-3")
    return p.choose(f"({start} + {number})", f"({start} + {number})", f"({start} - {number})", f"({number} * 2 + {start})",
                    f"({start} + {number} * -3)", f"max({start} + {number}, {t.rows})", f"min({start} + {number}, {at} * 7)")


def masked(t, at, value, other):
    """`value` where comparisons of positions hold, of which most hold for all of some tiles."""
    p, conditions = t.p, []
    for _ in range(p.choose(1, 1, 2, 3)):
        along_rows = p.chance(0.5)
        bounds = [str(t.rows), str(t.columns), f"{at} * {t.n}", f"{t.rows} - bid(0)", "0", str(t.m * 2 - 1)]
        second = side(t, at, not along_rows) if p.chance(0.4) else p.choose(*bounds)
        conditions.append(f"{side(t, at, along_rows)} {p.choose('<', '<=', '>', '>=', '<', '>=', '!=')} {second}")
    return f"where({p.choose(' && ', ' && ', ' && ', ' || ').join(conditions)}, {value}, {other})"


#===--- loops --------------------------------------------------------------------===#


def add_product(t, total, at):
    """One round: products of tiles at step `at` added to `total`."""
    p = t.p
    x, y = p.fresh(), p.fresh()
    p.add(f"let {x} = {operand(t, [t.rows, t.depth], [t.m, t.k], [t.row, at])};")
    p.add(f"let {y} = {operand(t, [t.depth, t.columns], [t.k, t.n], [at, t.column])};")
    precise = ", precision: tf32" if t.dtype == "f32" and p.chance(0.3) else ""
    form = p.below(7)
    if form < 4:
        p.add(f"{total} = mma({x}, {y}, {total}{precise});")
    elif form == 6:
        p.add(f"{total} += {masked(t, at, f'{x} @ {y}', p.choose('0', '1', '-2'))};")
    elif form == 4:
        scale = p.array("i32" if t.sum == "i32" else "f32", [max(1, t.columns)], fill="small")
        p.add(f"{total} += ({x} @ {y}) * load({scale}, [{t.column}], [{t.n}]);")
    elif t.m >= 16 and t.dtype in ("bf16", "f16"):
        z = p.fresh()
        value = f"{x} @ {y}" if p.chance(0.5) else masked(t, at, f"{x} @ {y}", "-9.0")
        p.add(f"let {z} = clamp({value}, -2, 2).to({t.dtype});")
        w = p.array(t.dtype, [t.n, t.columns], fill="small")
        p.add(f"{total} = mma({z}, load({w}, [0, {t.column}], {dims([t.n, t.n])}), {total});")
    else:
        p.add(f"{total} += {x} @ {y};")
    if len(p.grid) == 1 and p.chance(0.1):  # what there is so far
        sofar = p.array(t.sum, [t.rows, t.n * (t.rounds + 1)], True, "small")
        p.add(f"store({sofar}, [{t.row}, {at}], {total});")


def leave(t, at):
    return f"if {at} {t.p.choose('>=', '==', '>')} {t.p.choose('1', '2', 'bid(0)')} {{ {t.p.choose('break', 'break', 'continue')}; }}"


def inner_loop(t, total, depth, variable):
    before, t.outer = t.outer, variable
    loop(t, total, depth + 1)
    t.outer = before


def loop(t, total, depth=0):
    """A loop over the rounds in one of the ways to write one."""
    p, at = t.p, t.p.fresh()
    end = p.choose(f"{t.rounds}", f"{t.rounds}", f"num_blocks(0) + {t.rounds}", "bid(0) + 1")
    form = p.below(10)
    rounds = [lambda: add_product(t, total, at)]
    if form < 5:
        head = f"for {at} in {p.choose('0', '0', '0', '1')}..{end}" + p.choose("", "", "", " step 2")
        if p.chance(0.15):
            rounds.insert(p.below(2), lambda: p.add(leave(t, at)))
    elif form < 8:
        p.add(f"var {at} = 0;")
        head = f"while {at} < {end}"
        rounds.insert(p.below(2), lambda: p.add(f"{at} += 1;"))
    elif depth < 2:
        head = f"for {at} in 0..{p.choose('2', '3', 'bid(0) + 1')}"
        rounds = [lambda: inner_loop(t, total, depth, at)]
    else:
        head = f"if bid(0) {p.choose('==', '!=')} 1"
        p.add(f"let {at} = {p.choose('0', 'bid(0)')};")
    block = Block(head)
    p.nest(block, 0, rounds)
    p.body.append(block)


#===--- what is stored -----------------------------------------------------------===#


def store(t, total):
    p, out = t.p, t.p.choose(*STORED[t.sum])
    out = "i32" if t.words and out == "i64" else out  # words, too
    form = p.below(8)
    array = p.array(out, [t.rows, t.columns], True, "small")
    if form in (0, 4):
        bias = p.array(t.sum, [max(1, t.columns)], fill="small")
        p.add(f"{total} += load({bias}, [{t.column}], [{t.n}]);")
    if form == 4:  # elementwise work for the store alone, also of what is loaded for it
        more = p.array(p.choose(t.dtype, t.sum), [t.rows, t.columns], fill="small")
        loaded = f"load({more}, [{t.row}, {t.column}], {dims([t.m, t.n])}).to({t.sum})"
        p.add(f"{total} = max({total} * 2 - {loaded}, {p.choose(loaded, '-100')});")
    if form == 5:  # the other way round
        turned = p.array(out, [t.columns, t.rows], True, "small")
        far = f" + {p.choose(FAR[0], FAR[1])}" if p.chance(0.04) else ""  # no two blocks at one place
        p.add(f"store({turned}, [{t.column}, {t.row}{far}], transpose({total}.to({out})));")
    if form == 1 and out in ("f32", "i32"):
        rows = f"({place(t, t.row, t.m)} + arange({t.m}))[:, None]"
        columns = f"({t.column} * {t.n} + arange({t.n}))[None, :]"
        return p.add(f"atomic_add({array}, [{rows}, {columns}], {total}.to({out}));")
    if form == 2:
        return p.add(f"store_at({array}, [{place(t, t.row, t.m)}, {place(t, t.column, t.n)}], {total}.to({out}));")
    if form == 3:
        sums = p.array(t.sum, [t.rows, p.grid[1] if len(p.grid) > 1 else 1], True, "small")
        p.add(f"store({sums}, [{t.row}, {t.column}], sum({total}, axis: 1, keep: true));")
    p.add(f"store({array}, [{t.row}, {t.column}], {total}.to({out}));")


def hints(p):
    if p.chance(0.3):
        p.hints = p.choose("cluster: 2", "split_k: 2", "split_k: 4", "persistent: true", "num_stages: 1", "num_stages: 2",
                           "num_stages: 3", "cluster: 2, persistent: true", "cluster: 4", "cluster: 8",
                           "cluster: 4, persistent: true", "split_k: 8", "num_stages: 5, persistent: true")


def sums(t):
    """Sums of products in loops; all that is not stored at once is added up."""
    p, totals = t.p, []
    for _ in range(p.choose(1, 1, 2, 2, 3) if not t.words else p.choose(1, 1, 1, 2)):
        if not totals or p.chance(0.6):
            totals.append(p.fresh())
            p.add(f"var {totals[-1]} = zeros({dims([t.m, t.n])}, {t.sum});")
        loop(t, p.choose(*totals))
    if len(totals) > 1 and p.chance(0.5):
        p.add(f"{totals[0]} += {' + '.join(totals[1:])};")
        totals = totals[:1]
    for total in totals:
        store(t, total)


def products(p, words=False):
    """One to three sums, in a loop over rows of tiles now and then."""
    words = words or p.chance(0.15)
    t = Product(p, words)
    if t.positions:
        block = Block(f"for {t.row} in bid(0)..{t.positions} step num_blocks(0)")
        p.nest(block, 0, [lambda: sums(t)])
        p.body.append(block)
    else:
        sums(t)
    hints(p)
    if p.chance(0.01):  # a launch that does nothing
        p.grid[0] = 0
    p.skew = p.choose(0, 0, 4, 4, 8, 12, 16) if words else 0
    p.chip = "sm_90a" if words else p.choose("sm_90a", "sm_90a", "sm_90a", "sm_80", "sm_80", "sm_100a")
    p.warps = p.choose(0, 0, 0, 4, 8) if words else p.choose(0, 0, 0, 1, 2, 4, 8)
