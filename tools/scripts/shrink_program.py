#===- shrink_program.py - makes a failing program smaller -----*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""In: a random program that fails, and a test whether a program fails in that way. Out:
a smaller one that still does.

Delta debugging on the tree of statements. A statement is taken out together with all
that depend on the names it declares, in halves, quarters, … of the program first, then
one by one; blocks give way to their bodies; values become zeros of their type; arrays,
functions and preconditions go when nothing names them. Runs until nothing helps or the
budget of test runs is spent.
"""
import copy
import re

from random_programs import Block, Line, dims


def words(text):
    return set(re.findall(r"[A-Za-z_]\w*", text))


def declared(line):
    """Names that a statement of one line declares."""
    match = re.match(r"(?:let|var) (?:\(([^)]*)\)|(\w+))", line.text)
    return words(match.group(1) or match.group(2)) if match else set()


def all_lists(body):
    """Every list of statements, outermost first."""
    yield body
    for statement in body:
        if isinstance(statement, Block):
            for inner in statement.bodies:
                yield from all_lists(inner)


def statements(program):
    return [s for body in all_lists(program.body) for s in body]


def heading(statement):
    return statement.text if isinstance(statement, Line) else " ".join(statement.heads)


def without(program, unwanted):
    """A copy without these statements (by position) and what depends on them."""
    result = copy.deepcopy(program)
    listed = statements(result)
    gone = {id(listed[i]) for i in unwanted}
    missing = set()
    while True:
        for statement in statements(result):
            if id(statement) in gone and isinstance(statement, Line):
                missing |= declared(statement)
            elif id(statement) in gone:
                missing |= {n for s in statements_of(statement) if isinstance(s, Line) for n in declared(s)}
        for body in list(all_lists(result.body)):
            body[:] = [s for s in body if id(s) not in gone]
        more = {id(s) for s in statements(result) if words(heading(s)) & missing}
        if not more:
            return result
        gone |= more


def statements_of(block):
    return [s for inner in block.bodies for body in all_lists(inner) for s in body]


def tidy(program):
    """Leaves out what nothing names: arguments, functions, compile-time parameters."""
    result = copy.deepcopy(program)
    used = words(" ".join(heading(s) for s in statements(result)))
    keep = [i for i in range(len(result.parameters)) if f"p{i}" in used]
    result.parameters = [result.parameters[i] for i in keep]
    result.arguments = [a for a in result.arguments if a[0] in {f"p{i}" for i in keep}]
    bound = words(" ".join(result.parameters))
    result.requires = [r for r in result.requires if words(r) <= bound]
    names = used | bound
    for text in reversed(list(result.functions)):  # a function names earlier ones
        if re.match(r"fn (\w+)", text).group(1) not in names:
            result.functions.remove(text)
    result.generics = [g for g in result.generics if g[0] in names]
    return result


def candidates(program):
    """Smaller programs, the most promising first."""
    count = len(statements(program))
    size = count // 2
    while size >= 1:
        for start in range(count - size, -1, -size):
            yield without(program, range(start, start + size))
        size //= 2
    for i, statement in enumerate(statements(program)):
        if isinstance(statement, Block):
            for index in range(len(statement.bodies)):
                yield unwrapped(program, i, index)
    if program.requires:
        smaller = copy.deepcopy(program)
        smaller.requires = []
        yield smaller
    if math_product(program.grid) > 1:
        smaller = copy.deepcopy(program)
        smaller.grid = [1]
        yield smaller
    types = {name: (shape, dtype) for name, shape, dtype in program.tiles}
    for i, statement in enumerate(statements(program)):
        name = isinstance(statement, Line) and re.match(r"(let|var) (\w+) = (?!zeros)", statement.text)
        if name and name.group(2) in types:
            shape, dtype = types[name.group(2)]
            smaller = copy.deepcopy(program)
            statements(smaller)[i].text = f"{name.group(1)} {name.group(2)} = zeros({dims(shape)}, {dtype});"
            yield smaller


def math_product(grid):
    result = 1
    for extent in grid:
        result *= extent
    return result


def unwrapped(program, i, index):
    """A copy in which a block is one of its bodies; without names of its own."""
    result = copy.deepcopy(program)
    block = statements(result)[i]
    for body in list(all_lists(result.body)):
        for at, statement in enumerate(body):
            if statement is block:
                body[at:at + 1] = block.bodies[index]
                return result
    return result


def shrink(program, fails, budget):
    """The smallest program found with `budget` calls of `fails`."""
    best, changed, seen = program, True, {program.text()}
    while changed and budget > 0:
        changed = False
        for candidate in candidates(best):
            smaller = tidy(candidate)
            text = smaller.text()
            if text in seen:
                continue
            seen.add(text)
            if budget <= 0:
                break
            budget -= 1
            if smaller.parameters and fails(smaller):
                best, changed = smaller, True
                break
    return best
