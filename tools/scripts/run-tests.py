#!/usr/bin/env python3
#===- run-tests.py - lit, unit tests and style, one closing line --*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Runs the three kinds of tests and ends with `N passed, N failed[, N skipped]`.

lit tests count one each, GoogleTest cases one each, and the style check one a
rule. Exit status 0 only if nothing failed and something ran.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Tally:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, 0, 0
        self.failures = []

    def fail(self, name, text=""):
        self.failed += 1
        self.failures.append(name)
        print(f"FAIL: {name}\n{text}", flush=True)


def run_lit(lit, build, name_filter, tally):
    """One lit run; `name_filter` matches the path below test/."""
    with tempfile.TemporaryDirectory() as tmp:
        report = os.path.join(tmp, "lit.json")
        command = [lit, "-q", "-o", report, os.path.join(build, "test")]
        if name_filter:
            command += ["--filter", name_filter.replace("^", "")]
        status = subprocess.run(command).returncode
        if not os.path.exists(report):
            tally.fail("lit", f"lit wrote no report (exit {status})")
            return
        with open(report) as handle:
            tests = json.load(handle)["tests"]
    for test in tests:
        code = test["code"]
        if code in ("PASS", "XFAIL", "FLAKYPASS"):
            tally.passed += 1
        elif code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
            tally.skipped += 1
        else:
            tally.failed += 1
            tally.failures.append(test["name"])


def run_unit(build, tally):
    """Each GoogleTest program; a program that dies counts as one failure more."""
    folder = os.path.join(build, "unittests")
    programs = [os.path.join(folder, name) for name in sorted(os.listdir(folder))] if os.path.isdir(folder) else []
    programs = [p for p in programs if os.access(p, os.X_OK) and not os.path.isdir(p)]

    def run(program):
        return subprocess.run([program, "--gtest_brief=1"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace")

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(run, programs))
    for program, done in zip(programs, results):
        name, text = os.path.basename(program), done.stdout
        passed = re.search(r"\[  PASSED  \] (\d+) test", text)
        failed = re.findall(r"^\[  FAILED  \] ([\w/.<>:]+?)(?:,| \()", text, re.M)
        skipped = set(re.findall(r"^\[  SKIPPED \] ([\w/.]+)", text, re.M))
        tally.passed += int(passed.group(1)) if passed else 0
        tally.skipped += len(skipped)
        for case in sorted(set(failed)):
            tally.fail(f"{name}: {case}", text)
        if done.returncode and not failed:
            tally.fail(f"{name} (exit {done.returncode})", text)


def run_style(tally):
    script = os.path.join(ROOT, "tools", "scripts", "check-style.py")
    if not os.path.exists(script):
        return
    done = subprocess.run([sys.executable, script, "--json"], stdout=subprocess.PIPE, text=True)
    try:
        rules = json.loads(done.stdout)
    except ValueError:
        tally.fail("check-style.py", done.stdout)
        return
    for rule, problems in rules.items():
        if problems:
            tally.fail(f"style: {rule}", "\n".join(problems))
        else:
            tally.passed += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--lit", required=True)
    parser.add_argument("--only", choices=["lit", "unit", "style"])
    parser.add_argument("--filter", default="")
    args = parser.parse_args()
    tally = Tally()
    if args.only in (None, "style"):
        run_style(tally)
    if args.only in (None, "unit"):
        run_unit(args.build, tally)
    if args.only in (None, "lit"):
        run_lit(args.lit, args.build, args.filter, tally)
    if tally.failures:
        print("\nFailed:\n  " + "\n  ".join(tally.failures))
    skipped = f", {tally.skipped} skipped" if tally.skipped else ""
    print(f"{tally.passed} passed, {tally.failed} failed{skipped}")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
