#!/usr/bin/env python3
#===- beside-ptx.py - a kernel's lines beside the PTX they became -*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""beside-ptx.py KERNEL.tile KERNEL.ptx [ENTRY]

Prints the source with, right of each line, the instructions that its `.loc` lines
own: opcode and how often, the telling ones (memory, shuffles, barriers, matrix and
float arithmetic) first. ENTRY picks one entry point; the default is the first.
"""
import collections
import re
import sys

TELLING = [r"wgmma|mma", r"ld\.global", r"st\.global", r"cp\.async", r"ld\.shared|st\.shared", r"bar\.|barrier",
           r"shfl", r"ex2|sqrt|rcp|div", r"fma|add\.\w*f|mul\.\w*f|max\.\w*f|min\.\w*f", r"cvt"]
RIGHT = 74


def rank(opcode):
    for i, pattern in enumerate(TELLING):
        if re.match(pattern, opcode):
            return i
    return len(TELLING)


def entry_text(ptx, entry):
    """The body of `entry`, or of the first entry point."""
    for match in re.finditer(r"\.entry\s+([\w$]+)\s*\(.*?\n\{\n(.*?)\n\}", ptx, re.S):
        if entry in (None, match.group(1)):
            return match.group(1), match.group(2)
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


def summary(counter):
    parts, length = [], 0
    names = sorted(counter, key=lambda o: (rank(o), -counter[o]))
    for name in names:
        if rank(name) == len(TELLING) and parts:
            break
        part = name if counter[name] == 1 else f"{name} x{counter[name]}"
        if length + len(part) + 2 > RIGHT:
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
        right = summary(lines[number]) if number in lines else ""
        print(f"{text:{width}} | {right}".rstrip())


if __name__ == "__main__":
    main()
