#!/usr/bin/env python3
#===- beside-ptx.py - a kernel's lines beside the PTX they became -*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""beside-ptx.py KERNEL.tile KERNEL.ptx [ENTRY]

Prints the source with, right of each line, the instructions that its `.loc` lines
own: opcode and how often; only the telling ones (matrix and float arithmetic, memory,
shuffles, barriers), the commonest of each kind first, as many as fit. ENTRY picks
one entry point; the default is that for aligned arrays, else the first.
"""
import collections
import re
import sys

TELLING = [r"wgmma|mma", r"ld\.global|st\.global|cp\.async|atom|red\.", r"ex2|lg2|sin|cos|tanh|sqrt|rcp|div\.\w*\.?f",
           r"(fma|add|sub|mul|max|min)\.(\w+\.)*b?f\d", r"shfl", r"ld\.shared|st\.shared|ldmatrix|stmatrix",
           r"bar\.|barrier|mbarrier", r"cvt\.\S*f\d"]
COLUMNS = 160


def rank(opcode):
    for i, pattern in enumerate(TELLING):
        if re.match(pattern, opcode):
            return i
    return len(TELLING)


def entry_text(ptx, entry):
    """Name and body of `entry`, or of the one for aligned arrays, or of the first."""
    bodies = dict(re.findall(r"\.entry\s+([\w$]+)\s*\(.*?\n\{\n(.*?)\n\}", ptx, re.S))
    wanted = [entry] if entry else [n for n in bodies if n.endswith("__aligned16")] + list(bodies)
    for name in wanted:
        if name in bodies:
            return name, bodies[name]
    sys.exit(f"no entry point {entry or ''}")


def opcodes_by_line(body):
    lines = collections.defaultdict(collections.Counter)
    current = 0
    for text in body.split("\n"):
        text = text.strip()
        loc = re.match(r"\.loc\s+\d+\s+(\d+)", text)
        if loc:
            current = int(loc.group(1))
            continue
        instruction = re.match(r"(?:@!?%\w+\s+)?([a-z][\w.:]+)[\s;]", text)
        if instruction and not text.startswith("."):
            lines[current][instruction.group(1)] += 1
    return lines


def by_interest(counter):
    """The telling opcodes: the commonest of each kind, then the next of each kind."""
    seen = collections.Counter()
    keys = {}
    for name in sorted(counter, key=lambda o: (-counter[o], o)):
        keys[name] = (seen[rank(name)], rank(name))
        seen[rank(name)] += 1
    return sorted((n for n in keys if rank(n) < len(TELLING)), key=keys.get)


def summary(counter, room):
    parts, length = [], 0
    for name in by_interest(counter):
        part = name if counter[name] == 1 else f"{name} x{counter[name]}"
        if length + len(part) + 2 > room - 2:
            parts.append("..")
            break
        parts.append(part)
        length += len(part) + 2
    return ", ".join(parts)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    source = open(sys.argv[1]).read().rstrip("\n").split("\n")
    name, body = entry_text(open(sys.argv[2]).read(), sys.argv[3] if len(sys.argv) > 3 else None)
    lines = opcodes_by_line(body)
    width = max(len(text) for text in source)
    print(f"{'':{width}} | {name}")
    for number, text in enumerate(source, 1):
        right = summary(lines[number], COLUMNS - width - 3) if number in lines else ""
        print(f"{text:{width}} | {right}".rstrip())


if __name__ == "__main__":
    main()
