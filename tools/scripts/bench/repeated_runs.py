#!/usr/bin/env python3
#===- repeated_runs.py - many launches give the same bits -----------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""repeated_runs.py [--launches=1000] [--list] [case ...]

Launches each configuration of products and attention so often on the same inputs, on
poisoned output, while another stream keeps a part of the device busy now and then, and
compares every result with the first one bit for bit. A result that changes is a race.
The first one is checked against float64. Cases whose name ends in sm_80 are compiled for
that chip (cp.async and mma.sync) and launched half as often. Exit status 1 when a result
differs or is wrong. --list prints the `tilec` options of each case, for modules that are
made on another machine (TILEC_MODULES, see tile_kernel.py), with TILEC_PTXAS=none where
they are for another generation than the GPU's: the driver assembles these.
"""
import argparse
import math
import sys

# name: example, chip, definitions, sizes.
PRODUCTS = [
    ("bf16 128x256x64", "matmul", None, dict(T="bf16", BM=128, BN=256, BK=64), (2048, 2304, 1024)),
    ("bf16 256x128x64", "matmul", None, dict(T="bf16", BM=256, BN=128, BK=64), (2048, 2304, 1024)),
    ("bf16 128x128x64", "matmul", None, dict(T="bf16", BM=128, BN=128, BK=64), (1920, 2048, 1024)),
    ("bf16 64x128x64", "matmul", None, dict(T="bf16", BM=64, BN=128, BK=64), (1000, 1000, 1000)),
    ("bf16 64x64x64", "matmul", None, dict(T="bf16", BM=64, BN=64, BK=64), (512, 512, 512)),
    ("bf16 odd pitch", "matmul", None, dict(T="bf16", BM=128, BN=128, BK=64), (999, 1001, 515)),
    ("f16 128x256x64", "matmul", None, dict(T="f16", BM=128, BN=256, BK=64), (2048, 2304, 1024)),
    ("f32 64x64x16", "matmul", None, dict(T="f32", BM=64, BN=64, BK=16), (700, 640, 512)),
    ("bf16 nt 128x256x64", "matmul_nt", None, dict(BM=128, BN=256, BK=64), (2048, 2304, 1024)),
    ("e4m3 nt fast", "matmul_nt", None, dict(T="f8e4m3", FAST="true", BM=128, BN=256, BK=128), (2048, 2304, 1024)),
    ("e4m3 nt exact", "matmul_nt", None, dict(T="f8e4m3", BM=128, BN=128, BK=128), (2048, 2304, 1024)),
    ("i8 nt", "matmul_nt", None, dict(T="i8", S="i32", O="i32", BM=128, BN=256, BK=128), (2048, 2304, 1024)),
    ("tf32 nt", "matmul_nt", None, dict(T="f32", O="f32", TF32="true", BM=128, BN=128, BK=32), (1024, 1152, 1024)),
    ("bf16 128x128x32 sm_80", "matmul", "sm_80", dict(T="bf16", BM=128, BN=128, BK=32), (2048, 2304, 1024)),
    ("bf16 64x64x32 sm_80", "matmul", "sm_80", dict(T="bf16", BM=64, BN=64, BK=32), (1000, 1000, 1000)),
    ("i8 nt sm_80", "matmul_nt", "sm_80", dict(T="i8", S="i32", O="i32", BM=128, BN=128, BK=64), (2048, 2304, 1024)),
]
ATTENTION = [
    ("attention 128 128x128", None, dict(D=128, BM=128, BN=128), (2, 8, 1024, 128)),
    ("attention 128 causal 128x128", None, dict(D=128, BM=128, BN=128, CAUSAL="true"), (2, 8, 1024, 128)),
    ("attention 128 causal 128x64", None, dict(D=128, BM=128, BN=64, CAUSAL="true"), (1, 8, 1000, 128)),
    ("attention 64 256x64", None, dict(D=64, BM=256, BN=64), (2, 8, 1024, 64)),
    ("attention 64 causal 128x128", None, dict(D=64, BM=128, BN=128, CAUSAL="true"), (2, 8, 1024, 64)),
    ("attention 64 causal 64x64 sm_80", "sm_80", dict(D=64, BM=64, BN=64, CAUSAL="true"), (1, 8, 1000, 64)),
]


def operand(torch, shape, dtype):
    if dtype == "i8":
        return torch.randint(-8, 9, shape, device="cuda", dtype=torch.int8)
    kinds = dict(bf16=torch.bfloat16, f16=torch.float16, f32=torch.float32, f8e4m3=torch.float8_e4m3fn)
    return torch.randn(shape, device="cuda").to(kinds[dtype])


def product(torch, TileKernel, example, chip, defines, sizes):
    """Launcher, output, and the expected values of some rows of a product."""
    m, n, k = sizes
    dtype = defines.get("T", "bf16")
    a = operand(torch, (m, k), dtype)
    b = operand(torch, (n, k) if example == "matmul_nt" else (k, n), dtype)
    out = dict(i8=torch.int32, f32=torch.float32, f16=torch.float16).get(dtype, torch.bfloat16)
    c = torch.empty(m, n, device="cuda", dtype=out)
    launch = TileKernel(example, chip=chip, **defines).prepare(a, b, c)
    right = b.double().t() if example == "matmul_nt" else b.double()
    return launch, c, a[:256].double() @ right, lambda out: out[:256]


def attention(torch, TileKernel, chip, defines, sizes):
    q, k, v = (operand(torch, sizes, "bf16") for _ in range(3))
    o = torch.empty_like(q)
    launch = TileKernel("attention", chip=chip, **defines).prepare(q, k, v, o, 1 / math.sqrt(sizes[3]))
    s = q[0, 0].double() @ k[0, 0].double().t() / math.sqrt(sizes[3])
    if "CAUSAL" in defines:
        s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), -math.inf)
    return launch, o, torch.softmax(s, 1) @ v[0, 0].double(), lambda out: out[0, 0]


def repeat(torch, name, launch, out, expected, part, launches):
    """Whether all results are the same bits, and right; prints a line."""
    words = out.view(torch.uint8)
    differing = torch.zeros((), device="cuda", dtype=torch.int64)
    first, side, noise = None, torch.cuda.Stream(), torch.randn(1 << 20, device="cuda")
    for i in range(launches):
        words.fill_(255)
        if i % 3 == 1:
            with torch.cuda.stream(side):
                noise.mul_(1.0)
        launch()
        if first is None:
            first = words.clone()
        else:
            differing += (words != first).any()
    error = ((part(first.view(out.dtype).view(out.shape)).double() - expected).norm() / expected.norm()).item()
    good = error < 2e-2 and differing.item() == 0
    print(f"{name:34} {launches} launches, {differing.item()} differ, error {error:.1e}{'' if good else '  WRONG'}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--launches", type=int, default=1000)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("cases", nargs="*", help="names begin so; all by default")
    args = parser.parse_args()
    cases = PRODUCTS + [(name, "attention", *rest) for name, *rest in ATTENTION]
    cases = [c for c in cases if not args.cases or any(c[0].startswith(w) for w in args.cases)]
    if args.list:
        for _, example, chip, defines, _ in cases:
            names = [example, chip or "sm_90a", *(f"{key}{defines[key]}" for key in sorted(defines))]
            options = " ".join(f"-D{key}={value}" for key, value in defines.items())
            print(f"{example}.tile --gpu-arch={chip or 'sm_90a'} {options} --emit=module={'-'.join(names)}.tilemod")
        return
    import torch
    from tile_kernel import TileKernel
    failed = 0
    for name, example, chip, defines, sizes in cases:
        if example == "attention":
            made = attention(torch, TileKernel, chip, defines, sizes)
        else:
            made = product(torch, TileKernel, example, chip, defines, sizes)
        failed += not repeat(torch, name, *made, args.launches // 2 if chip == "sm_80" else args.launches)
    print(f"{len(cases)} configurations, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
