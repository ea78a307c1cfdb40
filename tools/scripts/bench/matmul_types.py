#!/usr/bin/env python3
#===- matmul_types.py - products of every type beside the vendor's --*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""matmul_types.py [--sizes=4096,8192] [--chip=sm_90] [case ...]

Each row: test/Examples/matmul_nt.tile for one type, the best of some tile sizes, and
what PyTorch calls of cuBLAS for it, in this process, on N(0,1) data (integers: -8 to 8).
Checked against float64 of a band of rows, on poisoned output, two runs bit-equal. All of
a row are timed in turn (rounds.py): the ratio is the median of that in each round.
"""
import argparse
import json
import os
import statistics

import torch

from rounds import ratio, rounds_in_turn
from tile_kernel import TileKernel, run_twice

one = None
# name: torch dtypes of operands and result, definitions, tiles, the peer.
CASES = {
    "bf16": (torch.bfloat16, torch.bfloat16, {}, ["128x256x64", "256x128x64"], lambda a, b, c: torch.mm(a, b.t(), out=c)),
    "e4m3 fast": (torch.float8_e4m3fn, torch.bfloat16, dict(T="f8e4m3", FAST="true"), ["128x256x128", "256x128x128"],
                  lambda a, b, c: torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=True)),
    "e4m3 exact": (torch.float8_e4m3fn, torch.bfloat16, dict(T="f8e4m3"), ["128x128x128", "128x256x128"],
                   lambda a, b, c: torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=True)),
    "i8": (torch.int8, torch.int32, dict(T="i8", S="i32", O="i32"), ["128x256x128", "128x128x128"],
           lambda a, b, c: torch._int_mm(a, b.t(), out=c)),
    "tf32": (torch.float32, torch.float32, dict(T="f32", O="f32", TF32="true"), ["128x128x32", "128x256x32"],
             lambda a, b, c: torch.mm(a, b.t(), out=c)),
    "f32": (torch.float32, torch.float32, dict(T="f32", O="f32"), ["128x128x16", "128x128x32"],
            lambda a, b, c: torch.mm(a, b.t(), out=c)),
    "f64": (torch.float64, torch.float64, dict(T="f64", S="f64", O="f64"), ["128x128x16", "128x128x32"],
            lambda a, b, c: torch.mm(a, b.t(), out=c)),
}


def operand(n, dtype):
    if dtype == torch.int8:
        return torch.randint(-8, 9, (n, n), device="cuda", dtype=dtype)
    return torch.randn(n, n, device="cuda").to(dtype)


def checked(launch, a, b, c):
    result, complaint = run_twice(launch, c)
    if complaint:
        return complaint
    expected = a[:256].double() @ b.double().t()
    return ((result[:256].double() - expected).norm() / expected.norm()).item()


def main():
    global one
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="4096,8192")
    parser.add_argument("--chip")
    parser.add_argument("cases", nargs="*", default=list(CASES))
    args = parser.parse_args()
    one = torch.ones((), device="cuda")
    out = open(os.path.join(os.environ.get("OUT", "."), "matmul_types.jsonl"), "a")
    for name in args.cases:
        dtype, result, definitions, tiles, peer = CASES[name]
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        for n in map(int, args.sizes.split(",")):
            a, b = operand(n, dtype), operand(n, dtype)
            c = torch.empty(n, n, device="cuda", dtype=result)
            functions, errors = {"cuBLAS": lambda: peer(a, b, c)}, {}
            for tile in tiles:
                bm, bn, bk = tile.split("x")
                launch = TileKernel("matmul_nt", chip=args.chip, BM=bm, BN=bn, BK=bk, **definitions).prepare(a, b, c)
                errors[tile] = checked(launch, a, b, c)
                if isinstance(errors[tile], str):
                    print(f"{name} {n}^3 tile {tile}: {errors[tile]}", flush=True)
                    continue
                functions[tile] = launch
            times = rounds_in_turn(functions)
            rates = {key: 2 * n**3 / statistics.median(ms) / 1e9 for key, ms in times.items()}
            theirs = rates.pop("cuBLAS")
            for tile, ours in rates.items():
                middle, low, high = ratio(times[tile], times["cuBLAS"])
                print(f"{name:10} {n}^3  tile {tile:12} ours {ours:7.1f} T/s  cuBLAS {theirs:7.1f}  "
                      f"ratio {middle:6.3f} ({low:.3f} to {high:.3f})  error {errors[tile]:.1e}", flush=True)
                out.write(json.dumps(dict(case=name, n=n, tile=tile, ours=ours, cublas=theirs, ratio=[middle, low, high],
                                          error=errors[tile])) + "\n")
                out.flush()


if __name__ == "__main__":
    main()
