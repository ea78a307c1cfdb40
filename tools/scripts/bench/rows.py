#!/usr/bin/env python3
#===- rows.py - rows of any length beside PyTorch and Triton --------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""rows.py [--no-compile] [--rounds=16] [case ...]

Rows whose length is no multiple of a tile, vocabularies in one tile, fused elementwise
chains: the kernels of test/Examples and rows.tile beside PyTorch, torch.compile and,
where the form is plain, the same kernel in Triton (the best of some numbers of warps),
as cases.py measures. Rates count each input and each output once.
"""
import os

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

import peers
from cases import NAMES, bf16, by_warps, checked, compiled, empty, f16, f32, main, randn, report
from tile_kernel import TileKernel

ROWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rows.tile")


@triton.jit
def t_log_softmax(x, y, sx, n, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    v = tl.load(x + r * sx + c, c < n, other=-float("inf")).to(tl.float32)
    d = v - tl.max(v, 0)
    tl.store(y + r * sx + c, (d - tl.log(tl.sum(tl.exp(d), 0))).to(y.dtype.element_ty), c < n)


@triton.jit
def t_residual_rmsnorm(x, res, w, s, y, sx, n, eps, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    m = c < n
    h = tl.load(x + r * sx + c, m, other=0.0).to(tl.float32) + tl.load(res + r * sx + c, m, other=0.0).to(tl.float32)
    tl.store(s + r * sx + c, h.to(s.dtype.element_ty), m)
    scale = tl.rsqrt(tl.sum(h * h, 0) / n + eps)
    tl.store(y + r * sx + c, (h * scale * tl.load(w + c, m).to(tl.float32)).to(y.dtype.element_ty), m)


def row_kernel(name, shape, dtype, kernel, function, peer, compile=True, pitch=None):
    """One kernel from rows x to rows y, `function` in PyTorch, `peer` in Triton."""
    r, c = shape
    storage, results = (empty(r, pitch or c, dtype=dtype) for _ in range(2))
    x, y = storage.normal_()[:, :c], results[:, :c]
    cols = triton.next_power_of_2(c)
    launch = TileKernel(*kernel, COLS=cols, T=NAMES[dtype]).prepare(x, y)
    report(f"{name} {NAMES[dtype]}", [r, c], 2 * r * c * dtype.itemsize, launch, [(y, function(x[:256].double()))],
           lambda: function(x), compiled(function, x) if compile else None,
           by_warps(lambda w: peer[(r,)](x, y, pitch or c, c, B=cols, num_warps=w), cols))


def softmax_odd():
    softmax = lambda x: torch.softmax(x, 1)
    for r, c, dtype in ((131072, 1001, bf16), (32768, 3000, bf16), (200000, 257, bf16), (32768, 4097, bf16), (4096, 12345, f16), (4096, 12345, f32)):
        row_kernel("softmax", (r, c), dtype, ("softmax",), softmax, peers.t_softmax, compile=c == 12345)
    row_kernel("softmax, pitch 1001", (131072, 1000), bf16, (ROWS, "softmax_pitch"), softmax, peers.t_softmax, compile=False, pitch=1001)


def softmax_wide():
    softmax = lambda x: torch.softmax(x, 1)
    for r, c, dtype in ((4096, 32000, bf16), (4096, 50257, bf16), (4096, 50257, f32), (2048, 128256, bf16), (1024, 128256, f32)):
        row_kernel("softmax", (r, c), dtype, ("softmax",), softmax, peers.t_softmax, compile=dtype == bf16)


def log_softmax():
    for r, c, dtype in ((8192, 32000, bf16), (4096, 50257, f32)):
        row_kernel("log-softmax", (r, c), dtype, (ROWS, "log_softmax"), lambda x: torch.log_softmax(x, 1), t_log_softmax)


def layernorm():
    for r, c, dtype in ((131072, 1001, bf16), (32768, 5120, bf16), (4096, 12345, f16), (4096, 12345, f32), (4096, 50257, bf16)):
        x, w, b, y = randn(r, c, dtype=dtype), randn(c, dtype=dtype), randn(c, dtype=dtype), empty(r, c, dtype=dtype)
        cols = triton.next_power_of_2(c)
        norm = lambda x, w, b: F.layer_norm(x, (c,), w, b)
        launch = TileKernel("layernorm", COLS=cols, T=NAMES[dtype]).prepare(x, w, b, y, 1e-5)
        report(f"layernorm {NAMES[dtype]}", [r, c], 2 * r * c * dtype.itemsize, launch,
               [(y, norm(x[:256].double(), w.double(), b.double()))], lambda: norm(x, w, b),
               compiled(norm, x, w, b) if c == 12345 and dtype == f16 else None,
               by_warps(lambda k: peers.t_layernorm[(r,)](x, w, b, y, c, c, 1e-5, B=cols, num_warps=k), cols))


def residual_rmsnorm():
    def norm(x, res, w):
        h = x + res
        return h, F.rms_norm(h, (h.shape[1],), w, 1e-5)
    for r, c in ((32768, 4096), (16384, 5120), (16384, 8192)):
        x, res, w, s, y = randn(r, c), randn(r, c), randn(c), empty(r, c), empty(r, c)
        cols = triton.next_power_of_2(c)
        launch = TileKernel(ROWS, "residual_rmsnorm", COLS=cols).prepare(x, res, w, s, y, 1e-5)
        sums, normal = norm(x[:256].double(), res[:256].double(), w.double())
        report("residual + rmsnorm", [r, c], 8 * r * c, launch, [(s, sums), (y, normal)],
               lambda: norm(x, res, w), compiled(norm, x, res, w),
               by_warps(lambda k: t_residual_rmsnorm[(r,)](x, res, w, s, y, c, c, 1e-5, B=cols, num_warps=k), cols))


def chains():
    for r, c in ((16384, 14336), (16384, 5000)):
        x, b, scale, y = randn(r, c), randn(c), randn(r, dtype=f32), empty(r, c)
        chain = lambda x, b, s: (F.gelu(x.float() + b.float()) * s[:, None]).to(bf16)
        exact = F.gelu(x[:256].double() + b.double())
        launch = TileKernel(ROWS, "bias_gelu_scale", BLOCK=2048).prepare(x, b, scale, y)
        report("bias, gelu, scale", [r, c], 4 * r * c, launch, [(y, exact * scale[:256, None])],
               lambda: chain(x, b, scale), compiled(chain, x, b, scale))
        drop = lambda x, b: F.dropout(F.gelu(x + b), 0.25)
        kernel = TileKernel(ROWS, "bias_gelu_dropout", BLOCK=2048)
        error = checked(kernel.prepare(x, b, y, 0.0, 1234567), [(y, exact)])
        launch = kernel.prepare(x, b, y, 0.25, 1234567)
        launch()
        print(f"   of 3/4 {(y != 0).float().mean().item():.4f} are kept; with p = 0 error {error}")
        report("bias, gelu, dropout", [r, c], 4 * r * c, launch, [], lambda: drop(x, b), compiled(drop, x, b))


def masked_mean():
    n, l, d = 256, 512, 1024
    x, mask, y = randn(n, l, d), torch.rand(n, l, device="cuda") < 0.7, empty(n, d)
    mean = lambda x, m: ((x.float() * m[..., None]).sum(1) / m.sum(1, keepdim=True)).to(bf16)
    exact = (x.double() * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    launch = TileKernel(ROWS, "masked_mean").prepare(x, mask, y)
    report("masked mean", [n, l, d], 2 * n * l * d, launch, [(y, exact)], lambda: mean(x, mask), compiled(mean, x, mask))


def argmax():
    for r, c, dtype in ((4096, 50257, bf16), (4096, 32000, f32), (131072, 1001, f32), (1024, 131072, f32)):
        x, y = randn(r, c, dtype=dtype), empty(r, dtype=torch.int32)
        launch = TileKernel("argmax", COLS=triton.next_power_of_2(c), T=NAMES[dtype]).prepare(x, y)
        report(f"argmax {NAMES[dtype]}", [r, c], r * c * dtype.itemsize, launch, [(y, x.argmax(1))],
               lambda: x.argmax(1), compiled(lambda x: x.argmax(1), x))


CASES = [softmax_odd, softmax_wide, log_softmax, layernorm, residual_rmsnorm, chains, masked_mean, argmax]

if __name__ == "__main__":
    main(CASES)
