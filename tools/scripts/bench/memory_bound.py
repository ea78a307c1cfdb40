#!/usr/bin/env python3
#===- memory_bound.py - our plain kernels beside PyTorch and Triton - Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""memory_bound.py [--rounds=16] [add softmax layernorm rmsnorm transpose sums cumsum]

Each row: our kernel as in test/Examples, PyTorch, and (where peers.py has one) Triton's
with the fastest of some settings, all in this process, on N(0,1) data, as cases.py
measures. Rates count each input once and each output once.
"""
import torch
import torch.nn.functional as F
import triton

import peers
from cases import by_warps, empty, f32, main, randn, report
from tile_kernel import TileKernel


def add():
    kernel = TileKernel("vadd")
    for n in (1 << 20, 1 << 24, 1 << 28):
        x, y, z = randn(n, dtype=f32), randn(n, dtype=f32), empty(n, dtype=f32)
        triton_add = lambda b, w: peers.t_add[(triton.cdiv(n, b),)](x, y, z, n, B=b, num_warps=w)
        report("add f32", [n], 12 * n, kernel.prepare(x, y, z), [(z, x.double() + y.double())],
               lambda: torch.add(x, y, out=z),
               triton={f"{b}, {w} warps": lambda b=b, w=w: triton_add(b, w) for b in (1024, 2048) for w in (4, 8)})


def softmax():
    for n in (256, 512, 1000, 1024, 2048, 4096, 8192, 16384, 32768):
        r, cols = max(4096, (1 << 27) // n), triton.next_power_of_2(n)
        x, y = randn(r, n), empty(r, n)
        launch = TileKernel("softmax", COLS=cols).prepare(x, y)
        report("softmax bf16", [r, n], 4 * r * n, launch, [(y, torch.softmax(x[:512].double(), 1))],
               lambda: torch.softmax(x, 1),
               triton=by_warps(lambda w: peers.t_softmax[(r,)](x, y, n, n, B=cols, num_warps=w), cols))


def layernorm():
    norm = F.layer_norm
    for n in (256, 512, 1024, 4096, 8192, 16384):
        r = max(4096, (1 << 27) // n)
        x, y, w, b = randn(r, n), empty(r, n), randn(n), randn(n)
        launch = TileKernel("layernorm", COLS=n).prepare(x, w, b, y, 1e-5)
        report("layernorm bf16", [r, n], 4 * r * n, launch, [(y, norm(x[:512].double(), (n,), w.double(), b.double()))],
               lambda: norm(x, (n,), w, b),
               triton=by_warps(lambda k: peers.t_layernorm[(r,)](x, w, b, y, n, n, 1e-5, B=n, num_warps=k), n))


def rmsnorm():
    norm = F.rms_norm
    for n in (256, 512, 1024, 4096, 8192, 16384):
        r = max(4096, (1 << 27) // n)
        x, y, w = randn(r, n), empty(r, n), randn(n)
        launch = TileKernel("rmsnorm", COLS=n).prepare(x, w, y, 1e-5)
        report("rmsnorm bf16", [r, n], 4 * r * n, launch, [(y, norm(x[:512].double(), (n,), w.double(), 1e-5))],
               lambda: norm(x, (n,), w, 1e-5),
               triton=by_warps(lambda k: peers.t_rmsnorm[(r,)](x, w, y, n, n, 1e-5, B=n, num_warps=k), n))


def cumsum():
    for m, n in ((131072, 1024), (8192, 16384), (512, 131072)):
        x, y = randn(m, n, dtype=f32), empty(m, n, dtype=f32)
        launch = TileKernel("cumsum", COLS=n).prepare(x, y)
        report("cumsum f32", [m, n], 8 * m * n, launch, [(y, torch.cumsum(x[:512].double(), 1))],
               lambda: torch.cumsum(x, 1, out=y))


def transpose():
    for n in (4096, 16384):
        x, y = randn(n, n, dtype=f32), empty(n, n, dtype=f32)
        turn = lambda a, b: peers.t_transpose[(n // a, n // b)](x, y, n, n, BM=a, BN=b)
        report("transpose f32", [n, n], 8 * n * n, TileKernel("transpose").prepare(x, y), [(y, x.t().double())],
               lambda: y.copy_(x.t()),
               triton={f"{a} x {b}": lambda a=a, b=b: turn(a, b) for a in (32, 64) for b in (32, 64)})


def sums():
    """Tile sizes follow the array's shape, as a user's would."""
    for m, n in ((16384, 16384), (1 << 20, 256), (256, 1 << 20)):
        x, r, c = randn(m, n, dtype=f32), empty(m, dtype=f32), empty(n, dtype=f32)
        width = min(n, 1024)
        rows = {256: 16}.get(n, 1 if m < 1024 else 4)
        launch = TileKernel("sums", kernel="rowsum", BM=rows, BN=width if m >= 1024 else 16384).prepare(x, r)
        report("rowsum f32", [m, n], 4 * m * n, launch, [(r, x.sum(1, dtype=torch.float64))], lambda: torch.sum(x, 1, out=r))
        if n > 8192:
            launch = TileKernel("sums", kernel="colsum", BM=128).prepare(x, c)
        else:
            parts = empty(1024, n, dtype=f32)
            bands = TileKernel("sums", kernel="colsum_bands").prepare(x, parts)
            last = TileKernel("sums", kernel="colsum", BN=16).prepare(parts, c)
            launch = lambda: (bands(), last())
        report("colsum f32", [m, n], 4 * m * n, launch, [(c, x.sum(0, dtype=torch.float64))], lambda: torch.sum(x, 0, out=c))


if __name__ == "__main__":
    main([add, softmax, layernorm, rmsnorm, transpose, sums, cumsum])
