#===- cases.py - cases of kernels beside their peers ---------------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""What memory_bound.py, rows.py and operations.py share.

A case is a function without arguments that makes its data and reports rows: ours, eager
PyTorch and, where it makes a difference, torch.compile and a kernel in Triton, in one
process. Ours is checked first: on poisoned outputs, against what was computed in
float64, twice with equal bits. Where a peer has several settings, a first pass chooses
the fastest; then all take turns (rounds.py), so no program is given the best of several
noisy figures. The ratio is to the fastest peer: the median of the rounds and quartiles.
"""
import argparse
import json
import os
import statistics
import sys

import torch

from rounds import fastest, ratio, rounds_in_turn
from tile_kernel import run_twice

bf16, f16, f32 = torch.bfloat16, torch.float16, torch.float32
NAMES = {bf16: "bf16", f16: "f16", f32: "f32"}
ARGS = None
OUT = None


def randn(*shape, dtype=bf16):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def empty(*shape, dtype=bf16):
    return torch.empty(*shape, device="cuda", dtype=dtype)


def compiled(function, *args):
    made = torch.compile(function, dynamic=False)
    return lambda: made(*args)


def by_warps(launch, cols):
    """`launch` with each number of warps that a kernel of Triton may want for rows of so many columns."""
    warps = (1, 2, 4) if cols <= 1024 else (2, 4, 8) if cols <= 4096 else (8, 16, 32) if cols <= 16384 else (16, 32)
    return {f"{w} warps": lambda w=w: launch(w) for w in warps}


def checked(launch, outputs, repeats=True):
    """The worst relative error of `outputs`, (tensor, expected of its first rows) each; or a complaint."""
    worst = 0.0
    for out, expected in outputs:
        result, complaint = run_twice(launch, out)
        if complaint and (repeats or complaint != "TWO RUNS DIFFER"):
            return complaint
        got, want = result[:len(expected)].double(), expected.double()
        error = ((got - want).norm() / want.norm().clamp(min=1e-30)).item()
        if not error < 2e-2:
            return f"WRONG RESULT, error {error:.1e}"
        worst = max(worst, error)
    return worst


def report(name, shape, amount, launch, outputs, eager, compiled=None, triton=None, unit="TB/s", repeats=True):
    """`amount` is bytes, or operations where `unit` says so. `compiled`: what torch.compile makes of a function.
    `triton`: launches by their setting. `repeats`: two runs give the same bits."""
    error = checked(launch, outputs, repeats)
    functions, setting = {"ours": launch, "eager": eager}, None
    if compiled and ARGS.compile:
        functions["compile"] = compiled
    if triton:
        setting = fastest(triton)
        functions["triton"] = triton[setting]
    times = rounds_in_turn(functions, ARGS.rounds, rep=6)
    rates = {key: amount / statistics.median(ms) / 1e9 for key, ms in times.items()}
    peer = max(rates.keys() - {"ours"}, key=rates.get)
    middle, low, high = ratio(times["ours"], times[peer])
    print(f"{name:22} {str(shape):18} {unit} " + "  ".join(f"{key} {rate:.3f}" for key, rate in rates.items())
          + (f" [{setting}]" if triton else "") + f"  ratio {middle:.3f} ({low:.3f} to {high:.3f}) to {peer}  error "
          + (error if isinstance(error, str) else f"{error:.1e}"), flush=True)
    OUT.write(json.dumps(dict(name=name, shape=shape, unit=unit, ratio=[middle, low, high], peer=peer, error=error,
                              setting=setting, **rates)) + "\n")
    OUT.flush()


def main(cases):
    """Runs the functions `cases`, or those of them that the command line names."""
    global ARGS, OUT
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="leave torch.compile out")
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("cases", nargs="*", metavar="case", help=" ".join(case.__name__ for case in cases))
    ARGS = parser.parse_args()
    by_name = {case.__name__: case for case in cases}
    for name in ARGS.cases:
        if name not in by_name:
            parser.error(f"no case {name}; there are {' '.join(by_name)}")
    script = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    OUT = open(os.path.join(os.environ.get("OUT", "."), script + ".jsonl"), "a")
    print(torch.__version__, torch.cuda.get_device_name(), flush=True)
    for name in ARGS.cases or by_name:
        try:
            by_name[name]()
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
        torch.cuda.empty_cache()
