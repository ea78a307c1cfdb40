#!/usr/bin/env python3
#===- rows.py - rows of any length beside PyTorch and Triton --------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""rows.py [--no-compile] [case ...]

Rows whose length is no multiple of a tile, vocabularies in one tile, fused elementwise
chains: the kernels of test/Examples and rows.tile beside PyTorch, torch.compile and,
where the form is plain, the same kernel in Triton (the best of some numbers of warps).
All in one process, checked against float64 on poisoned outputs, twice with equal bits.
Rates count each input and each output once; the ratio is to the best peer.
"""
import argparse
import json
import os

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

import peers
from tile_kernel import TileKernel, run_twice

bf16, f16, f32, f64 = torch.bfloat16, torch.float16, torch.float32, torch.float64
NAMES = {bf16: "bf16", f16: "f16", f32: "f32"}
ROWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rows.tile")
OUT = open(os.path.join(os.environ.get("OUT", "."), "rows.jsonl"), "a")
ARGS = None


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


def bench(fn):
    return triton.testing.do_bench(fn, warmup=15, rep=60, return_mode="median")


def randn(*shape, dtype=bf16):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def checked(launch, out, expected):
    """The relative error of the first rows of `out` on two runs with equal bits; or a complaint."""
    result, complaint = run_twice(launch, out)
    if complaint:
        return complaint
    got, want = result[:len(expected)].double(), expected.double()
    error = ((got - want).norm() / want.norm().clamp(min=1e-30)).item()
    return f"{error:.1e}" if error < 2e-2 else f"WRONG RESULT, error {error:.1e}"


def report(name, shape, nbytes, launch, outputs, others):
    """`others`: a function of no arguments, or several of which the fastest counts, by name."""
    errors = [checked(launch, out, expected) for out, expected in outputs]
    times = {}
    for key, functions in others.items():
        if key == "compile" and not ARGS.compile:
            continue
        times[key] = min(bench(fn) for fn in (functions if isinstance(functions, list) else [functions]))
    ours, rate = bench(launch), lambda ms: nbytes / ms / 1e9
    best = min(times.values())
    print(f"{name:20} {str(shape):16} ours {rate(ours):6.3f} TB/s  " + "  ".join(f"{k} {rate(v):6.3f}" for k, v in times.items())
          + f"  ratio {best / ours:5.2f}  error {' '.join(errors)}", flush=True)
    OUT.write(json.dumps(dict(name=name, shape=shape, ours=rate(ours), ratio=best / ours, errors=errors,
                              **{k: rate(v) for k, v in times.items()})) + "\n")
    OUT.flush()


def compiled(function, *args):
    made = torch.compile(function, dynamic=False)
    return lambda: made(*args)


def warps(cols):
    return (1, 4, 8) if cols <= 1024 else (4, 8) if cols <= 4096 else (8, 16) if cols <= 16384 else (16, 32)


def row_kernel(name, shape, dtype, kernel, function, peer, compile=True, pitch=None):
    """One kernel from rows x to rows y, `function` in PyTorch, `peer` in Triton."""
    r, c = shape
    storage, results = (torch.empty(r, pitch or c, device="cuda", dtype=dtype) for _ in range(2))
    x, y = storage.normal_()[:, :c], results[:, :c]
    cols = triton.next_power_of_2(c)
    launch = TileKernel(*kernel, COLS=cols, T=NAMES[dtype]).prepare(x, y)
    others = {"eager": lambda: function(x),
              "triton": [lambda w=w: peer[(r,)](x, y, pitch or c, c, B=cols, num_warps=w) for w in warps(cols)]}
    if compile:
        others["compile"] = compiled(function, x)
    report(f"{name} {NAMES[dtype]}", [r, c], 2 * r * c * dtype.itemsize, launch, [(y, function(x[:256].double()))], others)


def softmax_odd():
    softmax = lambda x: torch.softmax(x, 1)
    for r, c, dtype in ((131072, 1001, bf16), (32768, 3000, bf16), (32768, 4097, bf16), (4096, 12345, f16), (4096, 12345, f32)):
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
        x, w, b = randn(r, c, dtype=dtype), randn(c, dtype=dtype), randn(c, dtype=dtype)
        y, cols = torch.empty_like(x), triton.next_power_of_2(c)
        norm = lambda x, w, b: F.layer_norm(x, (c,), w, b)
        launch = TileKernel("layernorm", COLS=cols, T=NAMES[dtype]).prepare(x, w, b, y, 1e-5)
        others = {"eager": lambda: norm(x, w, b),
                  "triton": [lambda k=k: peers.t_layernorm[(r,)](x, w, b, y, c, c, 1e-5, B=cols, num_warps=k) for k in warps(cols)]}
        if c == 12345 and dtype == f16:
            others["compile"] = compiled(norm, x, w, b)
        report(f"layernorm {NAMES[dtype]}", [r, c], 2 * r * c * dtype.itemsize, launch,
               [(y, norm(x[:256].double(), w.double(), b.double()))], others)


def residual_rmsnorm():
    def norm(x, res, w):
        h = x + res
        return h, F.rms_norm(h, (h.shape[1],), w, 1e-5)
    for r, c in ((32768, 4096), (16384, 5120), (16384, 8192)):
        x, res, w, s, y = randn(r, c), randn(r, c), randn(c), torch.empty(r, c, device="cuda", dtype=bf16), torch.empty(r, c, device="cuda", dtype=bf16)
        cols = triton.next_power_of_2(c)
        launch = TileKernel(ROWS, "residual_rmsnorm", COLS=cols).prepare(x, res, w, s, y, 1e-5)
        sums, normal = norm(x[:256].double(), res[:256].double(), w.double())
        others = {"eager": lambda: norm(x, res, w), "compile": compiled(norm, x, res, w),
                  "triton": [lambda k=k: t_residual_rmsnorm[(r,)](x, res, w, s, y, c, c, 1e-5, B=cols, num_warps=k) for k in warps(cols)]}
        report("residual + rmsnorm", [r, c], 8 * r * c, launch, [(s, sums), (y, normal)], others)


def chains():
    for r, c in ((16384, 14336), (16384, 5000)):
        x, b, scale, y = randn(r, c), randn(c), randn(r, dtype=f32), torch.empty(r, c, device="cuda", dtype=bf16)
        chain = lambda x, b, s: (F.gelu(x.float() + b.float()) * s[:, None]).to(bf16)
        exact = F.gelu(x[:256].double() + b.double()) * scale[:256, None]
        launch = TileKernel(ROWS, "bias_gelu_scale", BLOCK=2048).prepare(x, b, scale, y)
        report("bias, gelu, scale", [r, c], 4 * r * c, launch, [(y, exact)],
               {"eager": lambda: chain(x, b, scale), "compile": compiled(chain, x, b, scale)})
        drop = lambda x, b: F.dropout(F.gelu(x + b), 0.25)
        launch = TileKernel(ROWS, "bias_gelu_dropout", BLOCK=2048).prepare(x, b, y, 0.0, 1234567)
        error = checked(launch, y, F.gelu(x[:256].double() + b.double()))
        launch = TileKernel(ROWS, "bias_gelu_dropout", BLOCK=2048).prepare(x, b, y, 0.25, 1234567)
        launch()
        kept = (y != 0).float().mean().item()
        print(f"   of 3/4 {kept:.4f} are kept; with p = 0 error {error}")
        report("bias, gelu, dropout", [r, c], 4 * r * c, launch, [], {"eager": lambda: drop(x, b), "compile": compiled(drop, x, b)})


def masked_mean():
    n, l, d = 256, 512, 1024
    x, mask, y = randn(n, l, d), torch.rand(n, l, device="cuda") < 0.7, torch.empty(n, d, device="cuda", dtype=bf16)
    mean = lambda x, m: ((x.float() * m[..., None]).sum(1) / m.sum(1, keepdim=True)).to(bf16)
    exact = (x.double() * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    launch = TileKernel(ROWS, "masked_mean").prepare(x, mask, y)
    report("masked mean", [n, l, d], 2 * n * l * d, launch, [(y, exact)], {"eager": lambda: mean(x, mask), "compile": compiled(mean, x, mask)})


def argmax():
    for r, c, dtype in ((4096, 50257, bf16), (4096, 32000, f32), (131072, 1001, f32)):
        x, y = randn(r, c, dtype=dtype), torch.empty(r, device="cuda", dtype=torch.int32)
        launch = TileKernel("argmax", COLS=triton.next_power_of_2(c), T=NAMES[dtype]).prepare(x, y)
        report(f"argmax {NAMES[dtype]}", [r, c], r * c * dtype.itemsize, launch, [(y, x.argmax(1))],
               {"eager": lambda: x.argmax(1), "compile": compiled(lambda x: x.argmax(1), x)})


CASES = [softmax_odd, softmax_wide, log_softmax, layernorm, residual_rmsnorm, chains, masked_mean, argmax]

def main():
    global ARGS
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="leave torch.compile out")
    parser.add_argument("cases", nargs="*", default=[case.__name__ for case in CASES])
    ARGS = parser.parse_args()
    print(torch.__version__, triton.__version__, torch.cuda.get_device_name())
    for name in ARGS.cases:
        try:
            globals()[name]()
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
