#!/usr/bin/env python3
#===- check-diagnostics.py - every message has a page, an example and a test --===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===--------------------------------------------------------------------------===#
"""Checks docs/diagnostics.md against the table Diagnostics.def.

  check-diagnostics.py [--tilec build/bin/tilec]

Without a compiler: every row of the table has a page in the order of the table,
the page states the row's message, and the code occurs in a test. With one, the
examples are compiled too: that of a ```tile fails block gives its code and no
other, that of the ```tile block behind it gives nothing. Options on the line of the
block are passed to the compiler, which stops at stage `tile` unless they say more. A message whose cause does not fit on a page says so:
`No example: why`.
"""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "include/tilec/Frontend/Diagnostics.def"
PAGES = ROOT / "docs/diagnostics.md"

ROW = re.compile(r'^(ERROR|WARNING|REMARK)\((T\d{4}), (\w+),\s*(?:"([\w-]+)",\s*)?((?:"(?:[^"\\]|\\.)*"\s*)+)\)', re.M)
EXAMPLE = re.compile(r"^```tile( fails)?([^\n]*)\n(.*?)^```$", re.M | re.S)


def read_table():
    rows = []
    for kind, code, name, flag, literals in ROW.findall(TABLE.read_text()):
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals))
        text = text.replace('\\"', '"').replace("\\\\", "\\")
        text = re.sub(r"\{\d+\}", "…", re.sub(r"\{\d+:s\}", "s", text))
        heads = {"ERROR": f"> error: {text}", "REMARK": f"> remark: {text}",
                 "WARNING": f"> warning: {text} (`-W{flag}`)"}
        rows.append((code, name, kind, heads[kind]))
    return rows


def read_pages():
    parts = re.split(r"^## (T\d{4})$", PAGES.read_text(), flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def compile_example(tilec, text, options):
    if not any(option.startswith("--emit=") for option in options):
        options = ["--emit=tile", *options]
    with tempfile.TemporaryDirectory() as directory:
        (pathlib.Path(directory) / "example.tile").write_text(text)
        run = subprocess.run([tilec, "-o", "/dev/null", *options, "example.tile"],
                             cwd=directory, capture_output=True, text=True, timeout=60)
    return run.returncode, set(re.findall(r"(?:error|warning): .* \[(T\d{4})\]$", run.stderr, re.M)), run.stderr


def check_examples(tilec, code, kind, page):
    if re.search(r"^No example: \S", page, re.M):
        return []
    examples = EXAMPLE.findall(page)
    if [bool(e[0]) for e in examples] != [True, False]:
        return [f"{code}: needs one `tile fails` block and one `tile` block behind it"]
    if not tilec:
        return []
    problems = []
    options = shlex.split(examples[0][1])
    status, codes, log = compile_example(tilec, examples[0][2], options)
    if code == "T0019":  # "too many errors" comes after others
        codes &= {code}
    if codes != {code} or status != (1 if kind == "ERROR" else 0):
        problems.append(f"{code}: the failing example gives {sorted(codes) or 'nothing'}, status {status}\n{log}")
    status, codes, log = compile_example(tilec, examples[1][2], shlex.split(examples[1][1]))
    if codes or status != 0:
        problems.append(f"{code}: the fixed example gives {sorted(codes)}, status {status}\n{log}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tilec", help="also compile the examples with this compiler")
    args = parser.parse_args()
    if args.tilec:
        found = shutil.which(args.tilec)
        if not found:
            parser.error(f"no such program: {args.tilec}")
        args.tilec = os.path.abspath(found)

    rows, pages = read_table(), read_pages()
    problems = []
    if [r[0] for r in rows] != [p[0] for p in pages]:
        have, want = {p[0] for p in pages}, {r[0] for r in rows}
        problems += [f"{code}: no page in docs/diagnostics.md" for code in sorted(want - have)]
        problems += [f"{code}: a page but no row in the table" for code in sorted(have - want)]
        if have == want:
            problems.append("the pages are not in the order of the table")
    texts = dict(pages)
    tests = "\n".join(p.read_text(errors="replace") for p in (ROOT / "test").rglob("*") if p.is_file())
    jobs = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for code, name, kind, head in rows:
            # Compiling the example is a test.
            untested = "\nNo example: " in texts.get(code, "\nNo example: ")
            if untested and code not in tests and f"diag::{name}" not in tests:
                problems.append(f"{code}: occurs in no test")
            if code not in texts:
                continue
            if texts[code].strip().splitlines()[0] != head:
                problems.append(f"{code}: the page should begin with: {head}")
            jobs.append(pool.submit(check_examples, args.tilec, code, kind, texts[code]))
    for job in jobs:
        problems += job.result()
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(rows)} diagnostics, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
