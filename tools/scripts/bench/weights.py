#!/usr/bin/env python3
#===- weights.py - products of operands that are converted ----------- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""weights.py [--no-triton] [--chip=sm_90] [--rounds=24] [case ...]

test/Examples/matmul_int4.tile (f16, groups of 64) and matmul_int8_weights.tile, and
matmul_cast.tile here (f32 to bf16), for each tile that is listed below; beside PyTorch's
mm of weights that are converted already, and a plain autotuned kernel of Triton. All of
a shape are timed in turn; ours is checked against float64 of some rows, on poisoned
output, and two runs must agree bit for bit.
"""
import argparse
import json
import os
import statistics
import subprocess

import torch
import triton
import triton.language as tl

from rounds import ratio, rounds_in_turn
from tile_kernel import TileKernel, run_twice

HERE = os.path.dirname(os.path.abspath(__file__))
N = K = 8192
ROWS = (16, 64, 256, 1024, 4096)
# Tiles for each number of rows.
TILES = {16: ("16x128x64", "16x64x64", "16x128x128", "16x64x128"), 64: ("64x128x64", "64x64x64", "64x128x128"),
         256: ("128x128x64", "256x128x64", "128x128x128"), 1024: ("128x128x64", "256x128x64", "128x128x128"),
         4096: ("256x128x64", "128x128x64", "128x256x64", "128x128x128")}


def configs():
    return [triton.Config(dict(BM=bm, BN=bn, BK=bk, SPLIT=s), num_warps=w, num_stages=st)
            for bm, bn, bk, w, st, s in ((16, 64, 64, 4, 5, 4), (16, 128, 64, 4, 5, 4), (16, 64, 128, 4, 4, 8),
                                         (16, 128, 128, 4, 4, 4), (64, 128, 64, 4, 4, 2), (128, 128, 64, 8, 4, 1),
                                         (128, 256, 64, 8, 3, 1), (256, 128, 64, 8, 3, 1))]


def pick(configs, named, **_):
    """Those that suit the number of rows."""
    m = named["m"]
    return [c for c in configs if (c.kwargs["BM"] <= max(16, m)) and (m <= 64 or c.kwargs["BM"] >= 128)]


@triton.autotune(configs(), key=["m"], prune_configs_by=dict(early_config_prune=pick), reset_to_zero=["c"])
@triton.jit
def triton_weights(a, w, scale, zero, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr,
                   FORM: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    inside = rm[:, None] < m
    for i in range(tl.program_id(2), k // BK, SPLIT):
        x = tl.load(a + rm[:, None] * k + (i * BK + rk)[None, :], mask=inside, other=0)
        if FORM == 4:
            pairs = tl.load(w + (i * (BK // 2) + tl.arange(0, BK // 2))[:, None] * n + rn[None, :])
            low, high = pairs & 15, pairs >> 4
            both = tl.join(low, high).permute(0, 2, 1).reshape(BK, BN).to(tl.float16)
            if BK == 128:
                groups = i * 2 + rk // 64
                s = tl.load(scale + groups[:, None] * n + rn[None, :])
                z = tl.load(zero + groups[:, None] * n + rn[None, :]).to(tl.float16)
                y = (both - z) * s
            else:
                s = tl.load(scale + i * n + rn)[None, :]
                z = tl.load(zero + i * n + rn)[None, :].to(tl.float16)
                y = (both - z) * s
        else:
            y = tl.load(w + (i * BK + rk)[:, None] * n + rn[None, :]).to(tl.float16)
        acc = tl.dot(x, y, acc)
    if FORM == 8:
        acc *= tl.load(scale + rn)[None, :].to(tl.float32)
    place = c + rm[:, None] * n + rn[None, :]
    if SPLIT == 1:
        tl.store(place, acc.to(tl.float16), mask=inside)
    else:
        tl.atomic_add(place, acc.to(tl.float16), mask=inside)


def run_triton(a, w, scale, zero, c, m, form):
    def launch():
        grid = lambda meta: (triton.cdiv(m, meta["BM"]), N // meta["BN"], meta["SPLIT"])
        triton_weights[grid](a, w, scale, zero, c, m, N, K, FORM=form)
    return launch


def error_of(got, want):
    return ((got.double() - want).norm() / want.norm()).item()


def checked(launch, c, want, peer):
    """Some rows against float64, all against the peer."""
    result, complaint = run_twice(launch, c)
    error, other = error_of(result[:16], want), error_of(result, peer().double())
    return complaint or (f"WRONG, errors {error:.1e} {other:.1e}" if max(error, other) > 1e-2 else error)


def measure(name, m, tiles, make, peers, c, want, args):
    functions, errors = dict(peers), {}
    for tile in tiles:
        try:
            launch = make(*tile.split("x"))
        except (RuntimeError, OSError, subprocess.CalledProcessError) as failure:
            print(f"{name} {m} tile {tile}: {failure}", flush=True)
            continue
        errors[tile] = checked(launch, c, want, peers["mm"])
        if isinstance(errors[tile], str):
            print(f"{name} {m} tile {tile}: {errors[tile]}", flush=True)
            continue
        functions[tile] = launch
    rounds = rounds_in_turn(functions, rounds=args.rounds, rep=args.rep)
    times = {key: statistics.median(values) for key, values in rounds.items()}
    rates = {key: 2 * m * N * K / ms / 1e9 for key, ms in times.items()}
    others = "  ".join(f"{key} {rates[key]:7.1f}" for key in peers)
    for tile in tiles:
        if tile in rates:
            ratios = " ".join(f"{ratio(rounds[tile], rounds[key])[0]:.2f}" for key in peers)
            print(f"{name:12} {m:5} x {N} x {K} tile {tile:11} ours {rates[tile]:7.1f} TFLOP/s ({times[tile] * 1e3:7.1f} us)  "
                  f"{others}  ratios {ratios}  error {errors[tile]:.1e}", flush=True)
            args.out.write(json.dumps(dict(name=name, m=m, tile=tile, ours=rates[tile], **{k: rates[k] for k in peers})) + "\n")
            args.out.flush()


def randn(*shape, dtype=torch.half):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def int4(args):
    group = 64
    weights = torch.randint(0, 256, (K // 2, N), device="cuda", dtype=torch.uint8)
    zero = torch.randint(0, 16, (K // group, N), device="cuda", dtype=torch.uint8)
    scale = (torch.rand(K // group, N, device="cuda") * 0.01).half()
    pairs = torch.stack([weights & 15, weights >> 4], 1).view(K, N).half()
    whole = (pairs - zero.half().repeat_interleave(group, 0)) * scale.repeat_interleave(group, 0)
    for m in args.rows:
        a, c = randn(m, K), torch.empty(m, N, device="cuda", dtype=torch.half)
        want = a[:16].double() @ whole.double()
        peers = {"mm": lambda: torch.mm(a, whole)}
        if not args.no_triton:
            peers["triton"] = run_triton(a, weights, scale, zero, c, m, 4)
        # A step of K has one scale a column.
        make = lambda bm, bn, bk: TileKernel("matmul_int4", chip=args.chip, BM=bm, BN=bn, BK=bk, GROUP=64).prepare(a, weights, scale, zero, c)
        measure("int4", m, [t for t in TILES[m] if t.endswith("x64")], make, peers, c, want, args)


def int8(args):
    weights = torch.randint(-128, 128, (K, N), device="cuda", dtype=torch.int8)
    scale = (torch.rand(N, device="cuda") * 0.01).half()
    whole = weights.half() * scale
    for m in args.rows:
        a, c = randn(m, K), torch.empty(m, N, device="cuda", dtype=torch.half)
        want = a[:16].double() @ (weights.double() * scale.double())
        peers = {"mm": lambda: torch.mm(a, whole)}
        if not args.no_triton:
            peers["triton"] = run_triton(a, weights, scale, scale, c, m, 8)
        make = lambda bm, bn, bk: TileKernel("matmul_int8_weights", chip=args.chip, BM=bm, BN=bn, BK=bk).prepare(a, weights, scale, c)
        measure("int8", m, TILES[m], make, peers, c, want, args)


def cast(args):
    bf16 = torch.bfloat16
    for types in ("f32 bf16", "bf16 f32", "f32 f32"):
        ta, tb = types.split()
        for m in (r for r in args.rows if r >= 1024):
            a, b = randn(m, K, dtype=torch.float32), randn(K, N, dtype=torch.float32)
            a16, b16 = a.to(bf16), b.to(bf16)
            c = torch.empty(m, N, device="cuda", dtype=bf16)
            make = lambda bm, bn, bk: TileKernel(os.path.join(HERE, "matmul_cast.tile"), chip=args.chip, TA=ta, TB=tb, BM=bm, BN=bn,
                                                 BK=bk).prepare(a if ta == "f32" else a16, b if tb == "f32" else b16, c)
            peers = {"mm": lambda: torch.mm(a16, b16)}
            measure(f"cast {types}", m, ("128x128x64", "256x128x64", "128x256x64"), make, peers, c,
                    a16[:16].double() @ b16.double(), args)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-triton", action="store_true")
    parser.add_argument("--chip")
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--rep", type=int, default=8)
    parser.add_argument("--rows", type=lambda text: [int(m) for m in text.split(",")], default=ROWS)
    parser.add_argument("cases", nargs="*", default=["int4", "int8", "cast"])
    args = parser.parse_args()
    args.out = open(os.path.join(os.environ.get("OUT", "."), "weights.jsonl"), "a")
    for case in args.cases:
        dict(int4=int4, int8=int8, cast=cast)[case](args)


if __name__ == "__main__":
    main()
