#!/usr/bin/env python3
#===- compile_time.py - compile times beside Triton's ---------------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""compile_time.py [--tilec=build/bin/tilec] [--chip=sm_90a] [--runs=5] [--no-triton] [--growth]

Seconds from source to machine code on this machine, for kernels of test/Examples and the
same ones in Triton (peers.py): `tilec` as a whole process to a module of all builds of the
kernel, and of one build (the one for aligned arrays, which is what Triton's specialisation
is for, too); and Triton's compilation inside a
process that has compiled before, so without its start and import: with its default number
of warps, and with that of which launches are shortest (a row of 1024 columns: one warp, so
four times the elements a thread, as in ours). Medians of some runs, one
after another, caches off. --growth measures `tilec` with growing tiles instead. A JSON line
per row goes to $OUT/compile_time.jsonl.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "test", "Examples")
# name: example and definitions.
KERNELS = {
    "add": ("vadd", "BN=1024"),
    "softmax 1024": ("softmax", "COLS=1024"),
    "softmax 8192": ("softmax", "COLS=8192"),
    "layernorm 1024": ("layernorm", "COLS=1024"),
    "layernorm 8192": ("layernorm", "COLS=8192"),
    "matmul 128x256x64": ("matmul", "BM=128 BN=256 BK=64"),
    "attention 128x128": ("attention", "BM=128 BN=128 D=128"),
    "attention causal": ("attention", "BM=128 BN=128 D=128 CAUSAL=true"),
}
GROWTH = {
    "vadd": [f"BN={1 << b}" for b in range(8, 21, 2)],
    "softmax": [f"COLS={1 << b}" for b in range(8, 18)],
    "layernorm": [f"COLS={1 << b}" for b in range(8, 18)],
    "matmul": [f"BM={m} BN={n} BK={k}" for m, n, k in ((64, 64, 32), (64, 64, 64), (128, 64, 64), (128, 128, 64),
                                                      (128, 256, 64), (256, 256, 64), (128, 256, 128))],
    "attention": [f"BM={m} BN={n} D={d}" for m, n, d in ((64, 64, 64), (128, 64, 64), (128, 64, 128), (128, 128, 128), (256, 64, 128))],
}


def tilec_seconds(options, example, definitions, emit, *more):
    """The median time of a process, or nothing if it fails."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        command = [options.tilec, os.path.join(options.examples, example + ".tile"), f"--gpu-arch={options.chip}",
                   f"--kernel={example}", f"--emit={emit}={folder}/k", *more]
        command += [f"-D{definition}" for definition in definitions.split()]
        for _ in range(options.runs):
            start = time.perf_counter()
            done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
            times.append(time.perf_counter() - start)
            if done.returncode:
                print("   ", done.stderr.splitlines()[:1])
                return None
    return statistics.median(times)


class Peer:
    """A kernel in Triton: how it is compiled and launched with a number of warps."""

    def __init__(self, kernel, grid, args, constants, warps, default):
        import triton
        self.kernel = kernel.fn if isinstance(kernel, triton.runtime.Autotuner) else kernel
        self.grid, self.args, self.constants = grid, args, constants
        self.warps, self.default = warps, default

    def compile(self, warps):
        self.kernel.warmup(*self.args, **self.constants, num_warps=warps, grid=(1,))

    def seconds(self, warps, runs):
        """The median time of a compile."""
        times = []
        for _ in range(runs + 1):  # the first one also finds its tools
            self.kernel.device_caches.clear()
            start = time.perf_counter()
            self.compile(warps)
            times.append(time.perf_counter() - start)
        return statistics.median(times[1:])

    def fastest(self):
        """The number of warps with which launches are shortest."""
        import triton
        took = {}
        for warps in self.warps:
            launch = lambda: self.kernel[self.grid](*self.args, **self.constants, num_warps=warps)
            try:
                took[warps] = triton.testing.do_bench(launch, warmup=3, rep=12)
            except Exception:  # more shared memory or registers than there are
                continue
        return min(took, key=took.get)


def triton_kernels():
    """The peers by name, on arrays of the size that figures of speed are measured on."""
    import torch
    import peers
    half = dict(device="cuda", dtype=torch.bfloat16)
    x = torch.empty(1 << 24, device="cuda")
    size, (b, h, t, d) = 4096, (4, 16, 4096, 128)
    m = [torch.randn(size, size, **half) for _ in range(3)]
    q = [torch.randn(b, h, t, d, **half) for _ in range(4)]

    def rows(kernel, columns, weights, more):
        count = (1 << 27) // columns
        arrays = [torch.randn(count, columns, **half)] + [torch.randn(columns, **half) for _ in range(weights)]
        return Peer(kernel, (count,), (*arrays, torch.empty(count, columns, **half), columns, columns, *more), dict(B=columns),
                    (1, 2, 4, 8, 16), 8 if columns > 2048 else 4)

    def attention(causal):
        return Peer(peers.t_attn, (t // 128, b * h), (*q, t, d**-0.5), dict(D=d, CAUSAL=causal, BM=128, BN=128, num_stages=2), (4, 8), 8)

    return {
        "add": Peer(peers.t_add, ((1 << 24) // 1024,), (x, x, x, 1 << 24), dict(B=1024), (1, 2, 4, 8), 4),
        "softmax 1024": rows(peers.t_softmax, 1024, 0, ()),
        "softmax 8192": rows(peers.t_softmax, 8192, 0, ()),
        "layernorm 1024": rows(peers.t_layernorm, 1024, 2, (1e-5,)),
        "layernorm 8192": rows(peers.t_layernorm, 8192, 2, (1e-5,)),
        "matmul 128x256x64": Peer(peers.t_mm, (size // 128 * size // 256,), (*m, *[size] * 6),
                                  dict(BM=128, BN=256, BK=64, G=8, num_stages=3), (4, 8), 8),
        "attention 128x128": attention(False),
        "attention causal": attention(True),
    }


# How many warps Triton's kernels are compiled for: the usual number, and that with which they
# are fastest on arrays of that shape, which is what ours are made for.
COLUMNS = {"Triton": lambda peer: peer.default, "fastest": lambda peer: peer.fastest()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tilec", default=os.environ.get("TILEC", "tilec"))
    parser.add_argument("--examples", default=EXAMPLES)
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--no-triton", action="store_true")
    parser.add_argument("--growth", action="store_true")
    options = parser.parse_args()
    out = open(os.path.join(os.environ.get("OUT", "."), "compile_time.jsonl"), "a")

    def report(row, text):
        print(text, flush=True)
        out.write(json.dumps(row) + "\n")
        out.flush()

    if options.growth:
        for example, steps in GROWTH.items():
            for definitions in steps:
                ptx, module = (tilec_seconds(options, example, definitions, emit) for emit in ("ptx", "module"))
                report(dict(kernel=example, definitions=definitions, ptx=ptx, module=module),
                       f"{example:10} {definitions:24} ptx {1e3 * (ptx or 0):7.0f} ms  module {1e3 * (module or 0):7.0f} ms")
        return
    peers = {}
    if not options.no_triton:
        os.environ["TRITON_ALWAYS_COMPILE"] = "1"
        start = time.perf_counter()
        peers = triton_kernels()
        print(f"import of Triton and PyTorch: {time.perf_counter() - start:.1f} s (not counted)")
    for name, (example, definitions) in KERNELS.items():
        ptx, module = (tilec_seconds(options, example, definitions, emit) for emit in ("ptx", "module"))
        one = tilec_seconds(options, example, definitions, "module", "--builds=aligned")
        row, text = dict(kernel=name, ptx=ptx, module=module, one=one), f"{name:18}"
        if module and one:
            text += f" tilec: to PTX {1e3 * ptx:4.0f} ms, module {1e3 * module:4.0f}, one build {1e3 * one:4.0f}"
        for column, choose in COLUMNS.items() if name in peers else ():
            warps = choose(peers[name])
            row[column] = triton = peers[name].seconds(warps, options.runs)
            row[column + " warps"] = warps
            text += f"  {column} ({warps} warps) {1e3 * triton:4.0f} ms"
            if module and one:
                text += f" ratio {module / triton:.2f}, one build {one / triton:.2f}"
        report(row, text)


if __name__ == "__main__":
    main()
