#!/usr/bin/env python3
#===- attention.py - our plain attention beside cuDNN's -------------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""attention.py [--causal] [--dtype=bf16] [--chip=sm_90] [--peer=flash] [--tiles=128x128,...] [BxHxSxD ...]

Each row: test/Examples/attention.tile and PyTorch's scaled_dot_product_attention with
the cuDNN backend (or FlashAttention-2, which is code for sm_80), in this process, on N(0,1) data. Checked against float64 (of a few
heads and rows), on poisoned output, and two runs must agree bit for bit.

All of a shape take turns (rounds.py).
"""
import argparse
import json
import math
import os
import statistics

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from attention_error import attention_error
from rounds import ratio, rounds_in_turn
from tile_kernel import TileKernel, run_twice

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}


def checked(launch, q, k, v, o, causal):
    result, complaint = run_twice(launch, o)
    return complaint or attention_error(result, q, k, v, mask=(lambda b, h, i, j: j <= i) if causal else None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--dtype", default="bf16", choices=DTYPES)
    parser.add_argument("--chip")
    parser.add_argument("--peer", default="cuDNN", choices=["cuDNN", "flash"])
    parser.add_argument("--tiles", help="by default 128x128, and 256x64 for heads of 64, as in the example")
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("shapes", nargs="*", default=["4x16x4096x128", "2x16x8192x128"])
    args = parser.parse_args()
    out = open(os.path.join(os.environ.get("OUT", "."), "attention.jsonl"), "a")
    for shape in args.shapes:
        b, h, s, d = map(int, shape.split("x"))
        q, k, v = (torch.randn(b, h, s, d, device="cuda", dtype=DTYPES[args.dtype]) for _ in range(3))
        o = torch.empty_like(q)

        def peer():
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION if args.peer == "cuDNN" else SDPBackend.FLASH_ATTENTION):
                torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=args.causal)

        functions, errors = {args.peer: peer}, {}
        for tiles in (args.tiles or ("128x128" if d > 64 else "256x64")).split(","):
            bm, bn = tiles.split("x")
            kernel = TileKernel("attention", chip=args.chip, options=args.option, T=args.dtype, D=d, BM=bm, BN=bn,
                                CAUSAL=str(args.causal).lower())
            launch = kernel.prepare(q, k, v, o, 1 / math.sqrt(d))
            errors[tiles] = checked(launch, q, k, v, o, args.causal)
            if isinstance(errors[tiles], str):
                print(f"{shape} tile {tiles}: {errors[tiles]}", flush=True)
                continue
            functions[tiles] = launch
        times = rounds_in_turn(functions)
        rates = {name: 4 * b * h * s * s * d / (2 if args.causal else 1) / statistics.median(ms) / 1e9
                 for name, ms in times.items()}
        for tiles in list(functions)[1:]:
            ours, theirs, compared = rates[tiles], rates[args.peer], ratio(times[tiles], times[args.peer])
            print(f"{args.dtype} {shape:16} {'causal' if args.causal else ''} tile {tiles:8} ours {ours:7.1f} TFLOP/s  "
                  f"{args.peer} {theirs:7.1f}  ratio {compared[0]:6.3f} ({compared[1]:.3f} to {compared[2]:.3f})  "
                  f"error {errors[tiles]:.1e}", flush=True)
            out.write(json.dumps(dict(dtype=args.dtype, causal=args.causal, shape=[b, h, s, d], tile=tiles, ours=ours,
                                      peer=args.peer, theirs=theirs, ratio=compared, error=errors[tiles])) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
