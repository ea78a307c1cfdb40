#!/usr/bin/env python3
#===- fuzz-programs.py - random programs on two executors --*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Writes random well-typed programs and runs each on two executors: compiled, by SIMT
execution with all its checks (or on the GPU), and interpreted. The results must be
equal, bit for bit.

  fuzz-programs.py --tile-run build/bin/tile-run --seeds 0:100000 --jobs 16 --keep failures
  fuzz-programs.py --tile-run build/bin/tile-run --seeds 0:5000 --jobs 8 --device gpu

A seed always gives the same program, arguments and number of warps (random_programs.py).
Each job is one `tile-run --batch`, which is handed one program after the other, and
started anew when it dies or takes too long. Programs that fail are kept, each with the
command that runs it in its first line, and once more made smaller (shrink_program.py).
Needs Python and tile-run, nothing else. Exit status 1 when a program failed.
"""
import argparse
import multiprocessing
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from random_programs import make_program  # noqa: E402
from shrink_program import shrink  # noqa: E402
from tile_batch import FAULT, Batch  # noqa: E402

# Operations that came after the rest; --operations leaves some out.
OPERATIONS = ["atomic_add", "cat", "cumsum", "extract", "flip", "gather", "row", "scatter", "sort", "split", "take"]


class Runner:
    """A `tile-run --batch`, and the folder that its programs are written to."""

    def __init__(self, tile_run, device, folder, timeout):
        self.device, self.folder = device, folder
        self.batch = Batch(tile_run, timeout)

    def run(self, program):
        """How a program ends: exit code (or what else happened) and output."""
        path = os.path.join(self.folder, f"{os.getpid()}.tile")
        with open(path, "w") as file:
            file.write(program.text())
        result = self.batch.run([path, f"--device={self.device}", "--check"] + program.options())
        if result.status == FAULT and self.device == "gpu":
            self.batch.close()  # it ends by itself, a little later
        return result


def failure_kind(result):
    """Two failures of one kind: what a smaller program must keep."""
    if result.status == 0:
        return None
    lines = result.output.splitlines()
    for mark in ("internal error", "FAILED", "error:", "race", "uninitialised", "out of bounds", "misaligned",
                 "deadlock", "divergent"):
        for line in lines:
            if mark in line:
                # A wrong program fails with the code of its message.
                code = line[line.rfind("["):] if line.endswith("]") and mark == "error:" else ""
                return result.status, mark, code
    return result.status, "", ""


#===--- one job ------------------------------------------------------------------===#

runner, settings = None, None


def start_job(options, folder):
    global runner, settings
    settings = options
    runner = Runner(options.tile_run, options.device, folder, options.timeout)


def command_of(program, path):
    return " ".join([settings.tile_run, path, f"--device={settings.device}", "--check"] + program.options())


def keep(name, program, result):
    path = os.path.join(settings.keep, name)
    with open(path, "w") as file:
        file.write(f"// {command_of(program, path)}\n{program.text()}")
        file.writelines(f"// {line}\n" for line in result.output.splitlines()[:12])
        file.write(f"// ends with: {result.status}\n")
    return path


def run_seeds(seeds):
    """The programs of these seeds: how many there was time for, and the failures among
    them as text."""
    failures = []
    for done, seed in enumerate(seeds):
        if time.monotonic() > settings.deadline:
            return done, failures
        program = make_program(seed, settings.operations, settings.only)
        result = runner.run(program)
        kind = failure_kind(result)
        if not kind:
            continue
        text = f"seed {seed}: {command_of(program, keep(f'{seed}.tile', program, result))}\n{result.output}{result.status}"
        if settings.shrink:
            small = shrink(program, lambda p: failure_kind(runner.run(p)) == kind, settings.shrink)
            path = keep(f"{seed}.small.tile", small, runner.run(small))
            text += f"\nmade smaller: {path}\n{small.text()}"
        failures.append(text)
    return len(seeds), failures


def main():
    parser = argparse.ArgumentParser(description="runs random programs compiled and interpreted")
    parser.add_argument("--tile-run", default="tile-run",
                        help="the tool; found through PATH by default")
    parser.add_argument("--seeds", default="0:100", help="first:end")
    parser.add_argument("--device", choices=["simt", "gpu"], default="simt")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--keep", default="failures", help="folder for programs that fail")
    parser.add_argument("--seconds", type=float, help="begin no program after that time")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one program")
    parser.add_argument("--shrink", type=int, default=300, metavar="RUNS",
                        help="runs that may be spent on making a failing program smaller; 0: none")
    parser.add_argument("--operations", default=",".join(OPERATIONS),
                        help="optional operations that programs may have (default: all)")
    parser.add_argument("--only", choices=["mixed", "products", "rows", "words"], help="only programs of this kind")
    options = parser.parse_args()
    options.operations = [name for name in options.operations.split(",") if name]
    os.makedirs(options.keep, exist_ok=True)
    first, end = (int(x) for x in options.seeds.split(":"))
    chunk = max(1, min(50, (end - first) // (4 * options.jobs)))
    chunks = [range(i, min(i + chunk, end)) for i in range(first, end, chunk)]
    done, failed, start, told = 0, 0, time.monotonic(), time.monotonic()
    options.deadline = start + (options.seconds or 1e9)
    with tempfile.TemporaryDirectory() as folder:
        with multiprocessing.Pool(options.jobs, start_job, (options, folder)) as pool:
            for count, failures in pool.imap_unordered(run_seeds, chunks):
                done += count
                failed += len(failures)
                for text in failures:
                    print(text, flush=True)
                if time.monotonic() - told > 30:
                    told = time.monotonic()
                    print(f"{done} programs so far, {failed} failed", file=sys.stderr, flush=True)
    seconds = time.monotonic() - start
    print(f"{done} programs, {failed} failed")
    print(f"{seconds:.1f} s, {done / max(seconds, 1e-3):.1f} programs/s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
