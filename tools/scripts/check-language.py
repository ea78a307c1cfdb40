#!/usr/bin/env python3
#===- check-language.py - every rule of the language has a test ---*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===--------------------------------------------------------------------------===#
"""Checks the named rules of docs/language.md against the tests.

  check-language.py [--list]

A rule is a row `| load-C4 | … |` of a table. Each is defined once, a family counts from
1 without gaps, every rule is named by a test (in a comment or as a string), and a test
names no rule that is not there. Names of the rules of operations of the IR, which stand
in the .td files, are left alone. The grammar's keywords are also compared with the
lexer's. Prints problems and `N rules, M problems`.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/language.md"
NAME = re.compile(r"\b([a-z_0-9]+)-C([0-9]+)\b")
SUFFIXES = {".cpp", ".h", ".tile", ".test", ".mlir", ".py"}


def names_in(paths):
    """name -> the first file that has it"""
    found = {}
    for path in paths:
        for match in NAME.finditer(path.read_text(errors="replace")):
            found.setdefault(match.group(0), path.relative_to(ROOT))
    return found


def check_rules():
    text = PAGE.read_text()
    defined = re.findall(r"^\| ([a-z_0-9]+-C[0-9]+) \|", text, re.M)
    problems = [f"docs/language.md: {name} is defined twice" for name in sorted(set(defined)) if defined.count(name) > 1]
    families = {}
    for name in set(defined):
        family, number = NAME.fullmatch(name).groups()
        families.setdefault(family, []).append(int(number))
    for family, numbers in sorted(families.items()):
        for missing in sorted(set(range(1, max(numbers) + 1)) - set(numbers)):
            problems.append(f"docs/language.md: {family} has no C{missing}")
    for match in NAME.finditer(text):
        if match.group(0) not in defined:
            problems.append(f"docs/language.md: {match.group(0)} is mentioned and not defined")

    tests = names_in(sorted(p for p in (ROOT / "test").rglob("*") if p.suffix in SUFFIXES and p.is_file()))
    in_ir = names_in((ROOT / "include").rglob("*.td"))
    problems += [f"docs/language.md: no test names {name}" for name in defined if name not in tests]
    problems += [f"{where}: {name} is no rule of docs/language.md" for name, where in sorted(tests.items())
                 if name not in defined and name not in in_ir]
    return len(defined), problems


def check_keywords():
    """The reserved words that the page lists are those of the token table."""
    line = re.search(r"^`(as break [a-z ]+)` are reserved", PAGE.read_text(), re.M)
    tokens = (ROOT / "include/tilec/Frontend/Tokens.def").read_text()
    keywords = set(re.findall(r"^KEYWORD\((\w+)\)", tokens, re.M))
    listed = set(line.group(1).split()) if line else set()
    return [f"docs/language.md: keyword {word} is {'not ' if word in keywords else ''}listed" for word in sorted(listed ^ keywords)]


def main():
    count, problems = check_rules()
    problems += check_keywords()
    for problem in problems:
        print(problem)
    print(f"{count} rules, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
