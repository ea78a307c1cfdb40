#!/usr/bin/env python3
#===- epilogues.py - what products do before they store ------------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""epilogues.py [--tiles=128x256x64,...] [--rounds=24] [--compile] [MxNxK ...]

Products of bf16 with a bias and gelu, with a residual, with both, and two with SwiGLU, as
test/Examples has them, beside the plain product of as many operations, PyTorch's ways to write
the same, and with --compile torch.compile of them. Results are checked against float64 (of a
band of rows), on poisoned output, twice bit for bit. All of a shape and kind run in turn
(rounds.py); ratios are to our plain product and to the fastest of PyTorch's ways.
"""
import argparse
import statistics

import torch
import torch.nn.functional as F

from cases import randn
from rounds import ratio, rounds_in_turn
from tile_kernel import TileKernel, run_twice


def cases(m, n, k):
    """By name: the example, its defines, arrays, the exact result of a band of rows, peers."""
    a, b, bias, r = randn(m, k), randn(k, n) / k ** 0.5, randn(n), randn(m, n)
    out = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    band = slice(0, 256)
    product = a[band].double() @ b.double()
    sums, skip = product + bias.double(), r[band].double()
    half = n // 2
    gate, up = b[:, :half].contiguous(), b[:, half:].contiguous()
    gelu = lambda: F.gelu(torch.addmm(bias, a, b))
    yield ("gelu", "matmul_bias_gelu", {}, (a, b, bias, out), F.gelu(sums),
           {"gelu(addmm)": gelu, "addmm_activation (tanh)": lambda: torch._addmm_activation(bias, a, b, use_gelu=True)})
    yield ("residual", "matmul_bias_residual", {}, (a, b, bias, r, out), sums + skip,
           {"addmm + r": lambda: torch.addmm(bias, a, b) + r, "addmm(r) without bias": lambda: torch.addmm(r, a, b)})
    yield ("gelu, residual", "matmul_bias_residual", dict(GELU="true"), (a, b, bias, r, out), F.gelu(sums) + skip,
           {"gelu(addmm) + r": lambda: gelu() + r})
    yield ("swiglu", "matmul_swiglu", {}, (a, gate, up, out[:, :half].contiguous()),
           F.silu(product[:, :half]) * product[:, half:],
           {"silu(x @ g) * (x @ u)": lambda: F.silu(a @ gate) * (a @ up)})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiles", default="128x256x64")
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("shapes", nargs="*", default=["4096x4096x4096", "8192x8192x8192", "4096x4096x1024"])
    args = parser.parse_args()
    tiles = [tuple(map(int, tile.split("x"))) for tile in args.tiles.split(",")]
    for shape in args.shapes:
        m, n, k = map(int, shape.split("x"))
        for name, example, defines, arrays, expected, peers in cases(m, n, k):
            functions, notes = dict(peers), {}
            if args.compile:
                functions.update({f"compiled {key}": torch.compile(peer) for key, peer in peers.items()})
            whole = torch.cat(arrays[1:3], 1) if name == "swiglu" else arrays[1]
            plain = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
            for bm, bn, bk in tiles:
                tile = f"{bm}x{bn}x{bk}"
                functions[f"plain {tile}"] = TileKernel("matmul", BM=bm, BN=bn, BK=bk).prepare(arrays[0], whole, plain)
                bn = bn // 2 if name == "swiglu" else bn
                launch = TileKernel(example, BM=bm, BN=bn, BK=bk, **defines).prepare(*arrays)
                got, complaint = run_twice(launch, arrays[-1])
                error = ((got[:256].double() - expected).norm() / expected.norm()).item()
                notes[tile] = complaint or f"error {error:.1e}"
                functions[tile] = launch
            times = rounds_in_turn(functions, rounds=args.rounds)
            middle = {key: statistics.median(ms) for key, ms in times.items()}
            peer = min((key for key in times if key not in notes and not key.startswith("plain")), key=middle.get)
            for tile, note in notes.items():
                print(f"{shape:16} {name:15} {tile:11} {2 * m * n * k / middle[tile] / 1e9:6.1f} TFLOP/s  of plain "
                      "{:.3f} ({:.3f} to {:.3f})".format(*ratio(times[tile], times[f"plain {tile}"])),
                      f" of {peer}", "{:.3f} ({:.3f} to {:.3f})".format(*ratio(times[tile], times[peer])), note, flush=True)


if __name__ == "__main__":
    main()
