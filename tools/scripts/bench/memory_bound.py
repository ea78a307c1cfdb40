#!/usr/bin/env python3
#===- memory_bound.py - our plain kernels beside PyTorch and Triton - Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""memory_bound.py [add softmax layernorm rmsnorm transpose sums cumsum]

Each row: our kernel as in test/Examples, PyTorch, and (where peers.py has one) the
best of Triton's, all in this process, on N(0,1) data, checked against float64, every
output poisoned first. Rates count each input once and each output once. The ratio is
to the better peer.
"""
import json
import os
import sys

import torch
import triton

import peers
from tile_kernel import TileKernel, run_twice

OUT = open(os.path.join(os.environ.get("OUT", "."), "memory_bound.jsonl"), "a")


def bench(fn):
    return triton.testing.do_bench(fn, warmup=40, rep=150, return_mode="median")


def report(name, shape, nbytes, ours, others, error):
    rate = lambda ms: nbytes / ms / 1e9
    best = min(others.values())
    row = dict(name=name, shape=shape, ours=round(rate(ours), 3), ratio=round(best / ours, 3), error=float(f"{error:.1e}"),
               **{k: round(rate(v), 3) for k, v in others.items()})
    print(f"{name:16} {str(shape):18} ours {rate(ours):6.3f} TB/s  "
          + "  ".join(f"{k} {rate(v):6.3f}" for k, v in others.items())
          + f"  ratio {best / ours:5.2f}  error {error:.1e}", flush=True)
    OUT.write(json.dumps(row) + "\n")
    OUT.flush()


def checked(launch, out, expected):
    """Runs twice on poisoned output; the relative error of the rows in `expected` (the
    first ones of `out`). Says so when runs differ, or an element is unwritten or wrong."""
    result, complaint = run_twice(launch, out)
    if complaint:
        print("   " + complaint)
    error = ((result[:len(expected)].double() - expected).norm() / expected.norm()).item()
    if not error < 2e-2:
        print("   WRONG RESULT")
    return error


def rows_case(name, launch, y, reference, shape, others):
    """A kernel on rows, checked on the first 512 of them."""
    error = checked(launch, y, reference(min(512, shape[0])))
    report(name, shape, 4 * shape[0] * shape[1], bench(launch), others, error)


def add():
    kernel = TileKernel("vadd")
    for n in (1 << 20, 1 << 24, 1 << 28):
        x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
        z = torch.empty_like(x)
        launch = kernel.prepare(x, y, z)
        error = checked(launch, z, x.double() + y.double())
        others = {"torch": bench(lambda: torch.add(x, y, out=z)),
                  "triton": min(bench(lambda: peers.t_add[(triton.cdiv(n, b),)](x, y, z, n, B=b)) for b in (1024, 2048))}
        report("add f32", [n], 12 * n, bench(launch), others, error)


def softmax():
    for n in (256, 512, 1000, 1024, 2048, 4096, 8192, 16384, 32768):
        r = max(4096, (1 << 27) // n)
        x = torch.randn(r, n, device="cuda", dtype=torch.bfloat16)
        y = torch.empty_like(x)
        cols = triton.next_power_of_2(n)
        launch = TileKernel("softmax", COLS=cols).prepare(x, y)
        others = {"torch": bench(lambda: torch.softmax(x, 1)),
                  "triton": min(bench(lambda: peers.t_softmax[(r,)](x, y, n, n, B=cols, num_warps=w)) for w in (1, 4, 8, 16))}
        rows_case("softmax bf16", launch, y, lambda k: torch.softmax(x[:k].double(), 1), [r, n], others)


def layernorm():
    for n in (1024, 4096, 8192, 16384):
        r = max(4096, (1 << 27) // n)
        x = torch.randn(r, n, device="cuda", dtype=torch.bfloat16)
        y = torch.empty_like(x)
        w, b = (torch.randn(n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        launch = TileKernel("layernorm", COLS=n).prepare(x, w, b, y, 1e-5)
        norm = torch.nn.functional.layer_norm
        others = {"torch": bench(lambda: norm(x, (n,), w, b)),
                  "triton": min(bench(lambda: peers.t_layernorm[(r,)](x, w, b, y, n, n, 1e-5, B=n, num_warps=k)) for k in (4, 8, 16))}
        rows_case("layernorm bf16", launch, y,
                  lambda k: norm(x[:k].double(), (n,), w.double(), b.double()), [r, n], others)


def rmsnorm():
    norm = torch.nn.functional.rms_norm
    for n in (1024, 4096, 8192, 16384):
        r = max(4096, (1 << 27) // n)
        x = torch.randn(r, n, device="cuda", dtype=torch.bfloat16)
        y = torch.empty_like(x)
        w = torch.randn(n, device="cuda", dtype=torch.bfloat16)
        launch = TileKernel("rmsnorm", COLS=n).prepare(x, w, y, 1e-5)
        others = {"torch": bench(lambda: norm(x, (n,), w, 1e-5))}
        rows_case("rmsnorm bf16", launch, y,
                  lambda k: norm(x[:k].double(), (n,), w.double(), 1e-5), [r, n], others)


def cumsum():
    for m, n in ((131072, 1024), (8192, 16384)):
        x = torch.randn(m, n, device="cuda")
        y = torch.empty_like(x)
        launch = TileKernel("cumsum", COLS=n).prepare(x, y)
        error = checked(launch, y, torch.cumsum(x[:512].double(), 1))
        report("cumsum f32", [m, n], 8 * m * n, bench(launch), {"torch": bench(lambda: torch.cumsum(x, 1, out=y))}, error)


def transpose():
    for n in (4096, 16384):
        x = torch.randn(n, n, device="cuda")
        y = torch.empty_like(x)
        launch = TileKernel("transpose").prepare(x, y)
        error = checked(launch, y, x.t().double())
        others = {"torch": bench(lambda: y.copy_(x.t())),
                  "triton": min(bench(lambda: peers.t_transpose[(n // a, n // b)](x, y, n, n, BM=a, BN=b))
                                for a in (32, 64) for b in (32, 64))}
        report("transpose f32", [n, n], 8 * n * n, bench(launch), others, error)


def sums():
    """Tile sizes follow the array's shape, as a user's would."""
    for m, n in ((16384, 16384), (1 << 20, 256), (256, 1 << 20)):
        x = torch.randn(m, n, device="cuda")
        r = torch.empty(m, device="cuda")
        width = min(n, 1024)
        rows = {256: 16}.get(n, 1 if m < 1024 else 4)
        launch = TileKernel("sums", kernel="rowsum", BM=rows, BN=width if m >= 1024 else 16384).prepare(x, r)
        error = checked(launch, r, x.sum(1, dtype=torch.float64))
        report("rowsum f32", [m, n], 4 * m * n, bench(launch), {"torch": bench(lambda: torch.sum(x, 1, out=r))}, error)
        c = torch.empty(n, device="cuda")
        if n > 8192:
            launch = TileKernel("sums", kernel="colsum", BM=128).prepare(x, c)
        else:
            parts = torch.empty(1024, n, device="cuda")
            bands = TileKernel("sums", kernel="colsum_bands").prepare(x, parts)
            last = TileKernel("sums", kernel="colsum", BN=16).prepare(parts, c)
            launch = lambda: (bands(), last())
        error = checked(launch, c, x.sum(0, dtype=torch.float64))
        report("colsum f32", [m, n], 4 * m * n, bench(launch), {"torch": bench(lambda: torch.sum(x, 0, out=c))}, error)


if __name__ == "__main__":
    print(torch.__version__, triton.__version__, torch.cuda.get_device_name())
    for name in sys.argv[1:] or ["add", "softmax", "layernorm", "rmsnorm", "transpose", "sums", "cumsum"]:
        globals()[name]()
