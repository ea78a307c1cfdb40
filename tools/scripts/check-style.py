#!/usr/bin/env python3
#===- check-style.py - rules of the tree that a compiler does not see -*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Checks file sizes, banners, include layers, chip words, pass and diagnostic pages.

Each rule is a function that yields one line a problem. `--json` prints
{rule: [problems]}; plain prints them. Exit status 1 when there is a problem.
"""
import argparse
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# library → libraries of ours that it may include (itself is always allowed).
SUPPORT = {"Support"}
CORE = SUPPORT | {"Layout", "Tile", "TileGPU"}
LAYERS = {
    "Support": set(),
    "Layout": SUPPORT,
    "Frontend": SUPPORT,
    "Tile": SUPPORT | {"Layout"},
    "TileGPU": SUPPORT | {"Layout", "Tile"},
    "IRGen": SUPPORT | {"Frontend", "Tile"},
    "Analysis": CORE | {"Atoms"},
    "Transforms": CORE | {"Analysis", "Atoms"},
    "Atoms": CORE,
    "Lowering": CORE | {"Analysis", "Atoms", "Transforms"},
    "Target": SUPPORT,
    "Interpreter": CORE,
    "Emulator": SUPPORT | {"Layout"},
    "Runtime": SUPPORT,
    "Compiler": None,  # may use everything but the tools
    "JIT": None,
}
# what else a library's files must not include
FORBIDDEN = {
    "Support": r'"mlir/', "Layout": r'"mlir/', "Frontend": r'"mlir/|cuda\.h',
    "Tile": r"NVVM|/GPUDialect", "TileGPU": r"NVVM|/GPUDialect", "Transforms": r"NVVM",
    "Analysis": r"NVVM", "Emulator": r'"mlir/', "Runtime": r'"mlir/|"llvm/|cuda\.h',
    "Interpreter": r"NVVM|LLVMDialect",
}
CHIP_WORDS = re.compile(r"wgmma|tcgen05|sm_[0-9]")


def tracked(*suffixes):
    """Files of the repository, or of an unpacked copy of it."""
    out = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.split("\n")
    if out == [""]:
        out = [os.path.relpath(os.path.join(folder, name), ROOT) for folder, _, names in os.walk(ROOT)
               for name in names if not os.path.relpath(folder, ROOT).startswith("build")]
    return [f for f in out if f.endswith(suffixes) and os.path.exists(os.path.join(ROOT, f))]


def read(path):
    with open(os.path.join(ROOT, path), errors="replace") as handle:
        return handle.read()


def library_of(path):
    match = re.match(r"(?:include/tilec|lib)/(\w+)/", path)
    return match.group(1) if match else None


def sizes():
    limits = [((".cpp", ".h"), "", 800), ((".td",), "", 1000), ((".mlir", ".tile", ".test"), "test/", 300)]
    for suffixes, prefix, limit in limits:
        for path in tracked(*suffixes):
            lines = read(path).count("\n")
            if path.startswith(prefix) and lines > limit:
                yield f"{path}: {lines} lines, the limit is {limit}"


def banners():
    for path in tracked(".cpp", ".h", ".td", ".def"):
        if "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception" not in read(path)[:400]:
            yield f"{path}: no licence banner"


def layers():
    for path in tracked(".cpp", ".h"):
        library = library_of(path)
        if library not in LAYERS:
            continue
        text = read(path)
        includes = re.findall(r'#include "tilec/(\w+)/', text)
        allowed = LAYERS[library]
        for other in sorted(set(includes)):
            if allowed is not None and other != library and other not in allowed:
                yield f"{path}: {library} must not include {other}"
        forbidden = FORBIDDEN.get(library)
        # KernelInfo and its neighbours are std only; the rest of Support may use LLVM.
        for line in re.findall(r"#include .*", text) if forbidden else []:
            if re.search(forbidden, line):
                yield f"{path}: {library} must not have `{line}`"


def chip_words():
    allowed = re.compile(r"(include/tilec|lib)/(Atoms|Target|Emulator)/|Support/(Target|Chip)|tools/|test/|docs/")
    for path in tracked(".cpp", ".h", ".td"):
        if allowed.search(path):
            continue
        for number, line in enumerate(read(path).split("\n"), 1):
            code = line.split("//")[0]
            if CHIP_WORDS.search(code):
                yield f"{path}:{number}: chip word outside Atoms and Target: {line.strip()}"


def unfinished_words():
    for path in tracked(".cpp", ".h", ".td", ".def", ".py", ".txt", ".cmake"):
        if path.endswith("check-style.py"):
            continue
        for number, line in enumerate(read(path).split("\n"), 1):
            if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", line):
                yield f"{path}:{number}: {line.strip()}"


def names():
    for path in tracked(""):
        if re.search(r"(^|/)(utils?|misc|common|helpers)(/|\.|$)", path, re.I):
            yield f"{path}: says nothing about what is inside"


def pass_pages():
    """Every pass of a Passes.td has a test of its name and a line in docs/stages.md."""
    stages = read("docs/stages.md") if os.path.exists(os.path.join(ROOT, "docs/stages.md")) else ""
    tests = {os.path.basename(t) for t in tracked(".mlir", ".tile", ".test", ".ll")}
    for path in tracked("Passes.td"):
        for name, flag in re.findall(r'def (\w+)\s*:\s*Pass<"tile-([\w-]+)"', read(path)):
            if f"{flag}.mlir" not in tests:
                yield f"{path}: pass {name} has no test {flag}.mlir"
            if name not in stages:
                yield f"{path}: pass {name} is not in docs/stages.md"


def pass_order():
    """docs/stages.md and Transforms/Passes.td have the passes as Pipelines.cpp does."""
    made = re.findall(r"create([A-Z]\w+)\(", read("lib/Compiler/Pipelines.cpp"))
    for path, row in [("docs/stages.md", r"^\|[ \w-]*\| ([A-Z]\w+) \|"),
                      ("include/tilec/Transforms/Passes.td", r"^def (\w+)\s*:\s*Pass")]:
        listed = [name for name in re.findall(row, read(path), re.M) if name in made]
        wanted = [name for name in dict.fromkeys(made) if name in listed]
        for name, instead in zip(listed, wanted):
            if name != instead:
                yield f"{path}: {name} stands where {instead} should, as in Pipelines.cpp"
                break


RULES = [sizes, banners, layers, chip_words, unfinished_words, names, pass_pages, pass_order]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    problems = {rule.__name__: list(rule()) for rule in RULES}
    if args.json:
        print(json.dumps(problems))
    else:
        for rule, lines in problems.items():
            for line in lines:
                print(f"{rule}: {line}")
    return 1 if any(problems.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
