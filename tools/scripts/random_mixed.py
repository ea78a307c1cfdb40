#===- random_mixed.py - random loops that do several things ---*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Whole programs whose loops add products and carry other values beside the sums: scalars and
tiles of all kinds of dtypes, which are sorted, scanned, flipped, compared, gathered with, stored
and loaded again, added to by atomic operations. Where products find their operands may depend on
what is carried, on memory, or on what an atomic operation gave. All values are whole numbers, so
results are the same in any order. See random_programs.py."""
import math

from random_products import Product, add_product, hints, leave, store
from random_programs import Block, dims


class State:
    """A value that loops carry."""

    def __init__(self, name, shape, dtype):
        self.name, self.shape, self.dtype = name, shape, dtype


TILES = ["i32", "i32", "i8", "u8", "i64", "u16", "f32", "f32", "f64", "f16", "bool"]
SCALARS = ["int", "int", "i32", "u64", "f32", "f64", "i8"]


def start(t):
    """A new value, before the loops."""
    p, name = t.p, t.p.fresh()
    if p.chance(0.4):
        dtype = p.choose(*SCALARS)
        p.add(f"var {name} = ({p.choose('0', '1', '5')}).to({dtype});")
        return State(name, [], dtype)
    dtype = p.choose(*TILES)
    shape = p.choose([1], [16], [64], [t.m], [t.n], [256], [t.m, t.n], [8, 32], [2, 4, 8])
    count = math.prod(shape)
    value = f"reshape(arange({count}, i32), {dims(shape)}) % {p.choose(3, 7, 50)}"
    p.add(f"var {name} = ({value}{' == 1' if dtype == 'bool' else ''}).to({dtype});")
    return State(name, shape, dtype)


def bounded(state, value):
    """`value`, of small whole numbers again: what floats of 16 bits hold, too."""
    if state.dtype == "bool":
        return value
    return f"clamp({value}, {0 if state.dtype[0] == 'u' else -100}, 100)"


def step_scalar(t, state, at):
    p, name = t.p, state.name
    if state.dtype in ("int", "i32"):
        counter = p.array("i32", [math.prod(p.grid)], True, "zeros") if p.chance(0.15) else None
        if counter:  # the old value of what this block alone adds to
            block = "bid(0)" if len(p.grid) == 1 else "bid(0) * num_blocks(1) + bid(1)"
            old = f"atomic_add({counter}, [{block}], {p.choose('1', '2')})"
            return p.add(f"{name} = ({name} + {old}.to({state.dtype})) % 9;")
        ids = p.array("i32", [t.rounds + 3], fill="small")
        return p.add(p.choose(f"{name} = ({name} * 5 + {p.choose('1', '3')}) % 7;",
                              f"{name} += {p.choose('1', '2', '-1')};",
                              f"{name} = load_at({ids}, [{at}]).to({state.dtype});"))
    p.add(f"{name} = {bounded(state, f'{name} * {p.choose(2, 3)} - ({at}).to({state.dtype})')};"
          if state.dtype != "u64" else f"{name} = ({name} * 3 + 1) % 11;")


def step_tile(t, state, at, operand):
    """Something of every kind that moves elements between threads, or memory."""
    p, name, axis = t.p, state.name, t.p.below(len(state.shape))
    form = p.below(9)
    if state.dtype == "bool":
        other = f"({p.choose(t.row, at)} % 2 == 0)"
        return p.add(p.choose(f"{name} = flip({name}, {axis});", f"{name} = {name} ^ {other};",
                              f"if any({name}) {{ {name} = !{name}; }}"))
    if form == 0:
        return p.add(f"{name} = sort({name}, axis: {axis}{p.choose('', ', descending: true')});")
    if form == 1:
        scanned = f"cumsum({name}.to(i32), axis: {axis}{p.choose('', ', reverse: true')})"
        return p.add(f"{name} = clamp({scanned}, 0, 50).to({state.dtype});")
    if form == 2:
        return p.add(f"{name} = {bounded(state, f'flip({name}, {axis}) + 1')};")
    if form == 3 and state.shape == [operand[1][0]]:
        return p.add(f"{name} = {bounded(state, f'{name} + sum({operand[0]}.to(i32), axis: 1).to({state.dtype})')};")
    if form == 4:
        return p.add(f"{name} = {bounded(state, f'{name} - argmax({name}, axis: {axis}, keep: true).to({state.dtype})')};")
    if form == 5:  # out to memory, and back in another order
        block = "bid(0)" if len(p.grid) == 1 else "bid(0) * num_blocks(1) + bid(1)"
        count = math.prod(state.shape)
        out = p.array(state.dtype, [math.prod(p.grid), count], True, "small")
        p.add(f"store({out}, [{block}, 0], reshape({name}, [1, {count}]));")
        return p.add(f"{name} = reshape(load_at({out}, [{block}, {p.choose('0', '1', '-1', at)}], [1, {count}]), {dims(state.shape)});")
    if form == 6:
        bins = p.array("i32", [16], True, "small")
        index = f"reshape(arange({math.prod(state.shape)}), {dims(state.shape)}) % 17"
        return p.add(f"atomic_add({bins}, [{index}], {name}.to(i32));")
    if form == 7 and len(state.shape) == 1:
        table = p.array(state.dtype, [p.choose(9, 40, 200)], fill="small")
        return p.add(f"{name} = {bounded(state, f'gather({table}, [{name}.to(i32) + arange({state.shape[0]}, i32)])')};")
    count = state.shape[axis]
    p.add(f"{name} = {bounded(state, f'take({name}, (arange({count}) * 3 + {at}) % {count}, {axis}) * 2')};")


def step(t, state, at):
    """A new value for `state`, under a condition now and then."""
    p = t.p
    tile = p.fresh()
    block = Block(f"if {at} % 2 == {p.choose(0, 1)}") if p.chance(0.2) else None

    def write():
        if not state.shape:
            return step_scalar(t, state, at)
        shape = [state.shape[0], 16]
        source = p.array("i8", [40, 40], fill="small")
        p.add(f"let {tile} = load({source}, [0, {at}], {dims(shape)});")
        step_tile(t, state, at, (tile, shape))

    if not block:
        return write()
    p.nest(block, 0, [write])
    p.body.append(block)


def position(t, states, at):
    """Which step of K a round takes: its number, or what is carried."""
    numbers = [s.name for s in states if not s.shape and s.dtype in ("int", "i32")]
    if not numbers or t.p.chance(0.5):
        return at
    return t.p.choose(*numbers) + t.p.choose(".to(int)", ".to(int)", ".to(int) % 3", f".to(int) + {at}")


def rounds(t, totals, states, depth=0):
    """A loop whose rounds add products and change what is carried."""
    p, at = t.p, t.p.fresh()
    body = [lambda: add_product(t, p.choose(*totals), position(t, states, at))] if p.chance(0.85) else []
    body += [lambda state=p.choose(*states): step(t, state, at) for _ in range(p.choose(0, 1, 1, 2, 3))]
    if depth < 1 and p.chance(0.2):
        body.append(lambda: rounds(t, totals, states, depth + 1))
    p.random.shuffle(body)
    end = p.choose(str(t.rounds), str(t.rounds), f"num_blocks(0) + {t.rounds}", "bid(0) + 1", "0")
    if p.chance(0.7):
        head = f"for {at} in {p.choose('0', '0', '1')}..{end}" + p.choose("", "", " step 2")
    else:
        p.add(f"var {at} = 0;")
        head = f"while {at} < {end}"
        body.insert(0, lambda: p.add(f"{at} += 1;"))
    if p.chance(0.15):
        body.insert(p.choose(1, len(body)) if head[0] == "w" else p.below(len(body) + 1), lambda: p.add(leave(t, at)))
    block = Block(head)
    p.nest(block, 0, body)
    p.body.append(block)


def store_state(t, state):
    p, name, dtype = t.p, state.name, state.dtype
    if dtype == "int":
        name, dtype = f"{name}.to(i64)", "i64"
    block = "bid(0)" if len(p.grid) == 1 else "bid(0) * num_blocks(1) + bid(1)"
    if not state.shape:
        out = p.array(dtype, [math.prod(p.grid)], True, "poison")
        return p.add(f"store_at({out}, [{block}], {name});")
    count = math.prod(state.shape)
    out = p.array(dtype, [math.prod(p.grid), count], True, "poison")
    p.add(f"store({out}, [{block}, 0], reshape({name}, [1, {count}]));")


def work(t):
    p = t.p
    totals, states = [p.fresh() for _ in range(p.choose(1, 1, 2))], []
    for total in totals:
        p.add(f"var {total} = zeros({dims([t.m, t.n])}, {t.sum});")
    for _ in range(p.choose(1, 2, 2, 3)):
        states.append(start(t))
    for _ in range(p.choose(1, 1, 2)):
        rounds(t, totals, states)
    for total in totals:
        store(t, total)
    for state in states:
        store_state(t, state)


def mixed(p):
    t = Product(p, words=False)
    t.positions, t.row = 0, "bid(0)"
    work(t)
    hints(p)
    p.chip = p.choose("sm_90a", "sm_90a", "sm_90a", "sm_80", "sm_80", "sm_100a", "sm_120a")
    p.warps = p.choose(0, 0, 0, 1, 2, 4, 8, 16)
