#!/usr/bin/env python3
#===- matmul.py - our plain products beside the vendor's ------------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""matmul.py [--chip=sm_80] [--dtype=bf16] [--form=nt] [--tiles=128x256x64,...] [MxNxK ...]

Each row: test/Examples/matmul.tile, or matmul_nt.tile (b stored along k), for each tile
size that is asked for, and cuBLAS through PyTorch, in this process, on N(0,1) data. The
result is checked against float64 (of a band of rows), on poisoned output, and two runs
must agree bit for bit. All of a shape are timed in turn (rounds.py): the ratio is the median of
that in each round, with its quartiles.
"""
import argparse
import json
import os
import statistics

import torch

from rounds import ratio, rounds_in_turn
from tile_kernel import TileKernel, run_twice

TORCH = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "f64": torch.float64}


def checked(launch, a, b, c):
    """The relative error of a band of rows, or what is wrong."""
    result, complaint = run_twice(launch, c)
    if complaint:
        return complaint
    worst = 0.0
    for first in (0, max(0, a.shape[0] - 256)):
        expected = a[first:first + 256].double() @ b.double()
        got = result[first:first + 256].double()
        worst = max(worst, ((got - expected).norm() / expected.norm()).item())
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--chip")
    parser.add_argument("--dtype", default="bf16", choices=list(TORCH))
    parser.add_argument("--form", default="nn", choices=["nn", "nt"])
    parser.add_argument("--tiles", default="128x256x64,128x128x64")
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("shapes", nargs="*", default=["4096x4096x4096", "8192x8192x8192"])
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    out = open(os.path.join(os.environ.get("OUT", "."), "matmul.jsonl"), "a")
    kernels = {}
    for tiles in args.tiles.split(","):
        bm, bn, bk = tiles.split("x")
        extra = dict(O=args.dtype) if args.form == "nt" else {}
        kernels[tiles] = TileKernel("matmul_nt" if args.form == "nt" else "matmul", chip=args.chip,
                                    options=args.option, T=args.dtype, BM=bm, BN=bn, BK=bk, **extra)
    for shape in args.shapes:
        m, n, k = map(int, shape.split("x"))
        a = torch.randn(m, k, device="cuda").to(TORCH[args.dtype])
        stored = torch.randn(*((n, k) if args.form == "nt" else (k, n)), device="cuda").to(TORCH[args.dtype])
        b = stored.t() if args.form == "nt" else stored
        c = torch.empty(m, n, device="cuda", dtype=TORCH[args.dtype])
        functions, errors = {}, {}
        if not args.no_peer:
            functions["cuBLAS"] = lambda: torch.mm(a, b, out=c)
        for tiles, kernel in kernels.items():
            launch = kernel.prepare(a, stored, c)
            errors[tiles] = checked(launch, a, b, c)
            if isinstance(errors[tiles], str):
                print(f"{args.dtype} {shape} tile {tiles}: {errors[tiles]}", flush=True)
                continue
            functions[tiles] = launch
        times = rounds_in_turn(functions, rounds=args.rounds)
        rates = {name: 2 * m * n * k / statistics.median(ms) / 1e9 for name, ms in times.items()}
        peer = rates.pop("cuBLAS", None)
        for tiles, ours in rates.items():
            compared, beside = None, ""
            if peer:
                compared = ratio(times[tiles], times["cuBLAS"])
                beside = "cuBLAS {:7.1f}  ratio {:6.3f} ({:.3f} to {:.3f})  ".format(peer, *compared)
            print(f"{args.dtype} {args.form} {shape:18} tile {tiles:12} ours {ours:7.1f} TFLOP/s  {beside}"
                  f"error {errors[tiles]:.1e}", flush=True)
            out.write(json.dumps(dict(dtype=args.dtype, form=args.form, chip=args.chip, shape=[m, n, k], tile=tiles,
                                      ours=ours, cublas=peer, ratio=compared, error=errors[tiles])) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
