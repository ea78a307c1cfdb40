#!/usr/bin/env python3
#===- check-docs.py - programs and commands of the pages do what they say -------===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===--------------------------------------------------------------------------===#
"""Runs what docs/start.md, docs/coming-from.md and docs/tour show, and follows all links.

  check-docs.py [--bin build/bin] [--write]

A page's blocks, in order, share an empty folder:

  ```tile name.tile     a file of that name, which compiles for sm_80 and sm_90a without a
                        message (`fails` behind the name: which does not)
  ```console            `$ command` lines of tilec and tile-run, run there; what follows is
                        what they print, where `...` stands for anything.

With --write the output in the pages becomes what was printed now (where it has no `...`).
Without --bin only links are checked: each file that a page of docs/ or README.md names is
there, and each `#part` is a heading of it.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs/start.md", ROOT / "docs/coming-from.md", *sorted((ROOT / "docs/tour").glob("*.md"))]
BLOCK = re.compile(r"^```(tile|console)([^\n]*)\n(.*?)^```$", re.M | re.S)


def anchors(path):
    heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", head).lower()).replace(" ", "-") for head in heads}


def check_links():
    problems = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
        for target in re.findall(r"(?<!`)\]\(([^)\s]+)\)", text):
            if target.startswith(("http:", "https:")):
                continue
            file, _, part = target.partition("#")
            path = (page.parent / file).resolve() if file else page
            name = page.relative_to(ROOT)
            if not path.exists():
                problems.append(f"{name}: there is no {target}")
            elif part and part not in anchors(path):
                problems.append(f"{name}: {target} is no heading")
    return problems


def run(command, folder, environment):
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.stdout.strip("\n")


def matches(expected, got):
    parts = re.split(r"^\.\.\.\n|\.\.\.", expected + "\n", flags=re.M)
    return re.fullmatch(".*?".join(re.escape(part) for part in parts), got + "\n", re.S) is not None


def check_console(block, folder, environment, where):
    """(the block as it should read, problems)"""
    text, problems = "", []
    for command, expected in re.findall(r"^\$ ([^\n]*(?:\\\n[^\n]*)*)\n((?:(?!\$ )[^\n]*\n)*)", block, re.M):
        got, expected = run(command, folder, environment), expected.strip("\n")
        if not matches(expected, got):
            problems.append(f"{where}: `{command}` prints\n{got}\n  not\n{expected}")
        shown = expected if "..." in expected else got
        text += f"$ {command}\n" + (shown + "\n" if shown else "")
    return text, problems


def check_page(page, binaries, write):
    name, problems = page.relative_to(ROOT), []
    environment = {**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:

        def visit(match):
            kind, info, body = match.groups()
            if kind == "console":
                text, found = check_console(body, folder, environment, name)
                problems.extend(found)
                return f"```console{info}\n{text}```"
            file, *fails = info.split()
            (pathlib.Path(folder) / file).write_text(body)
            for chip in [] if fails else ["sm_80", "sm_90a"]:
                got = run(f"tilec {file} --gpu-arch={chip} -o /dev/null && echo good", folder, environment)
                if got != "good":
                    problems.append(f"{name}: {file} for {chip}:\n{got}")
            return match.group(0)

        text = BLOCK.sub(visit, page.read_text())
    if write:
        page.write_text(text)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", help="where tilec and tile-run are")
    parser.add_argument("--write", action="store_true", help="put what commands print now into the pages")
    args = parser.parse_args()
    problems = check_links()
    for page in PAGES if args.bin else []:
        problems += check_page(page, os.path.abspath(args.bin), args.write)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(PAGES)} pages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
