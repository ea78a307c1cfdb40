#!/usr/bin/env python3
#===- loops.py - products by loops of every kind --------------------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""loops.py: the product of loops.tile by `for`, by `while`, by loops that are left and by one
whose places come from memory, in turn; for sm_90a (warps that only copy) and sm_80 (copies
that run ahead in the same threads), and of f32. Each result is checked against float64 of
some rows, and two runs must agree bit for bit. Rates are in TFLOP/s."""
import os

import torch

from rounds import milliseconds_in_turn
from tile_kernel import TileKernel, run_twice

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loops.tile")
LOOPS = ["for", "while", "break", "flag", "table"]
# name, chip, definitions, dtype, sizes.
CASES = [("bf16, sm_90a", None, dict(T="bf16", BM=128, BN=128, BK=64), torch.bfloat16, [(4096, 4096, 4096), (1024, 1024, 8192)]),
         ("bf16, sm_80", "sm_80", dict(T="bf16", BM=128, BN=128, BK=32), torch.bfloat16, [(4096, 4096, 4096), (1024, 1024, 8192)]),
         ("f32", None, dict(T="f32", BM=64, BN=64, BK=16), torch.float32, [(2048, 2048, 2048)])]


def main():
    for name, chip, defines, dtype, sizes in CASES:
        kernels = {loop: TileKernel(FILE, kernel=f"by_{loop}", chip=chip, **defines) for loop in LOOPS}
        for m, n, k in sizes:
            a, b = torch.randn(m, k, device="cuda").to(dtype), torch.randn(k, n, device="cuda").to(dtype)
            c, steps = torch.empty(m, n, device="cuda", dtype=dtype), torch.ones(k, device="cuda", dtype=torch.int32)
            expected = a[:64].double() @ b.double()
            launches = {loop: kernel.prepare(a, b, c, 1 << 30, steps) for loop, kernel in kernels.items()}
            for loop, launch in launches.items():
                result, complaint = run_twice(launch, c)
                error = ((result[:64].double() - expected).norm() / expected.norm()).item()
                if complaint or not error < 1e-2:
                    print(f"{name} {m}x{n}x{k} {loop}: {complaint or error}")
            times = milliseconds_in_turn(launches, rounds=4, rep=15)
            rates = ", ".join(f"{loop} {2e-9 * m * n * k / time:.0f}" for loop, time in times.items())
            print(f"{name} {m}x{n}x{k}: {rates}", flush=True)


if __name__ == "__main__":
    main()
