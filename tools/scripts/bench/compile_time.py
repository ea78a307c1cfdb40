#!/usr/bin/env python3
#===- compile_time.py - compile times beside Triton's ---------------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""compile_time.py [--tilec=build/bin/tilec] [--chip=sm_90a] [--runs=3] [--rows=NAME,...] [--no-triton] [--no-fastest] [--growth]

Seconds from source to machine code on this machine, for kernels of test/Examples and the
same ones in Triton (peers.py), medians over some rounds. In a round each kernel is compiled
by `tilec`, as a whole process, to PTX, to a module of all builds and to one of the build for
aligned arrays (which is what Triton's specialisation is for, too), and by Triton in a fresh
process without a cache:
  first    the first compile in the process, after its imports and after an add of another
           tile was compiled and launched, so that what Triton builds for the driver is not
           counted; without and, as `launched`, with the first launch behind it
  Triton   the same kernel once more: what was loaded and filled by the first is there
  fastest  and with the number of warps of which launches are shortest (a row of 1024
           columns: few, so more elements a thread, as in ours)
`first` is whole against whole but for start and import. The processes of a round import side by side, and
then compile one after another while the others wait. --growth measures `tilec` with growing
tiles instead. A JSON line per row goes to $OUT/compile_time.jsonl.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
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
    """How long a process takes, or nothing if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        command = [options.tilec, os.path.join(options.examples, example + ".tile"), f"--gpu-arch={options.chip}",
                   f"--kernel={example}", f"--emit={emit}={folder}/k", *more]
        command += [f"-D{definition}" for definition in definitions.split()]
        start = time.perf_counter()
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        took = time.perf_counter() - start
    if done.returncode:
        print("   ", done.stderr.splitlines()[:1])
        return None
    return took


def median(times):
    times = [time for time in times if time]
    return statistics.median(times) if times else None


class Peer:
    """A kernel in Triton: how it is compiled and launched with a number of warps."""

    def __init__(self, kernel, grid, args, constants, warps, default):
        import triton
        self.kernel = kernel.fn if isinstance(kernel, triton.runtime.Autotuner) else kernel
        self.grid, self.args, self.constants = grid, args, constants
        self.warps, self.default = warps, default

    def compile(self, warps):
        """How long it takes to compile what was not compiled yet."""
        start = time.perf_counter()
        self.kernel.warmup(*self.args, **self.constants, num_warps=warps, grid=(1,))
        return time.perf_counter() - start

    def forget(self):
        self.kernel.device_caches.clear()

    def launch(self, warps):
        self.kernel[self.grid](*self.args, **self.constants, num_warps=warps)

    def fastest(self):
        """The number of warps with which launches are shortest."""
        import triton
        took = {}
        for warps in self.warps:
            try:
                took[warps] = triton.testing.do_bench(lambda: self.launch(warps), warmup=3, rep=12)
            except Exception:  # more shared memory or registers than there are
                continue
        return min(took, key=took.get)


def triton_kernel(name):
    """A peer, on arrays of the size that figures of speed are measured on."""
    import torch
    import peers
    half = dict(device="cuda", dtype=torch.bfloat16)

    def add():
        x = torch.empty(1 << 24, device="cuda")
        return Peer(peers.t_add, ((1 << 24) // 1024,), (x, x, x, 1 << 24), dict(B=1024), (1, 2, 4, 8), 4)

    def rows(kernel, columns, weights, more):
        count = (1 << 27) // columns
        arrays = [torch.randn(count, columns, **half)] + [torch.randn(columns, **half) for _ in range(weights)]
        return Peer(kernel, (count,), (*arrays, torch.empty(count, columns, **half), columns, columns, *more), dict(B=columns),
                    (1, 2, 4, 8, 16), 8 if columns > 2048 else 4)

    def matmul(size=4096):
        m = [torch.randn(size, size, **half) for _ in range(3)]
        return Peer(peers.t_mm, (size // 128 * size // 256,), (*m, *[size] * 6), dict(BM=128, BN=256, BK=64, G=8, num_stages=3),
                    (4, 8), 8)

    def attention(causal, b=4, h=16, t=4096, d=128):
        q = [torch.randn(b, h, t, d, **half) for _ in range(4)]
        return Peer(peers.t_attn, (t // 128, b * h), (*q, t, d**-0.5), dict(D=d, CAUSAL=causal, BM=128, BN=128, num_stages=2), (4, 8), 8)

    return {
        "add": add,
        "softmax 1024": lambda: rows(peers.t_softmax, 1024, 0, ()),
        "softmax 8192": lambda: rows(peers.t_softmax, 8192, 0, ()),
        "layernorm 1024": lambda: rows(peers.t_layernorm, 1024, 2, (1e-5,)),
        "layernorm 8192": lambda: rows(peers.t_layernorm, 8192, 2, (1e-5,)),
        "matmul 128x256x64": matmul,
        "attention 128x128": lambda: attention(False),
        "attention causal": lambda: attention(True),
    }[name]()


def serve(name):
    """Compiles a kernel with Triton whenever it is told to (the other end of TritonProcess)."""
    import torch
    import peers
    peer = triton_kernel(name)
    x = torch.empty(1 << 20, device="cuda")
    peers.t_add[(512,)](x, x, x, 1 << 20, B=2048)
    torch.cuda.synchronize()
    print(json.dumps(peer.default), flush=True)
    for line in sys.stdin:
        order, *warps = line.split()
        warps = int(warps[0]) if warps else peer.default
        if order == "first":
            start = time.perf_counter()
            answer = [peer.compile(warps)]
            peer.launch(warps)
            torch.cuda.synchronize()
            answer.append(time.perf_counter() - start)
        elif order == "warm":
            peer.forget()
            answer = peer.compile(warps)
        else:
            answer = peer.fastest()
        print(json.dumps(answer), flush=True)


class TritonProcess:
    """A fresh process with a cache of its own, which is empty."""

    def __init__(self, name, folder):
        environment = dict(os.environ, TRITON_CACHE_DIR=os.path.join(folder, name.replace(" ", "_")), TRITON_ALWAYS_COMPILE="1")
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--serve", name], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"no answer of a process with Triton: {self.process.args[-1]}")
        return json.loads(line)

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return self.answer()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def measure_tilec(options, name):
    example, definitions = KERNELS[name]
    figures = {emit: tilec_seconds(options, example, definitions, emit) for emit in ("ptx", "module")}
    return figures | {"one": tilec_seconds(options, example, definitions, "module", "--builds=aligned")}


def measure_triton(process, usual, fastest):
    compiled, launched = process.ask("first")
    figures = {"first": compiled, "launched": launched, "Triton": process.ask("warm", usual)}
    return figures | ({"fastest": process.ask("warm", fastest)} if fastest else {})


def compare(options, names, report):
    """Rounds of all kernels, then a row for each."""
    times = {name: [] for name in names}
    warps = {name: {} for name in names}
    for number in range(options.runs):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            triton = {} if options.no_triton else {name: TritonProcess(name, folder) for name in names}
            for name, process in triton.items():
                warps[name]["Triton"] = process.answer()
            if triton:
                print(f"round {number}: imports took {time.perf_counter() - start:.1f} s (not counted)", flush=True)
            for name in names:
                figures = measure_tilec(options, name)
                if name in triton:
                    figures |= measure_triton(triton[name], warps[name]["Triton"], warps[name].get("fastest"))
                    if not options.no_fastest and "fastest" not in warps[name]:
                        warps[name]["fastest"] = triton[name].ask("fastest")
                        figures["fastest"] = triton[name].ask("warm", warps[name]["fastest"])
                times[name].append(figures)
            for process in triton.values():
                process.end()
    for name in names:
        row = {key: median([figures.get(key) for figures in times[name]]) for key in sorted(set().union(*times[name]))}
        text = f"{name:18}"
        if row["module"] and row["one"]:
            text += f" tilec: to PTX {1e3 * row['ptx']:4.0f} ms, module {1e3 * row['module']:4.0f}, one build {1e3 * row['one']:4.0f}"
        for column in ("first", "launched", "Triton", "fastest"):
            if column in row:
                text += f"  {column} ({warps[name].get(column, warps[name]['Triton'])} warps) {1e3 * row[column]:4.0f} ms"
                if row["module"] and row["one"]:
                    text += f" ratio {row['module'] / row[column]:.2f}, one build {row['one'] / row[column]:.2f}"
        report(dict(kernel=name, warps=warps[name], rounds=times[name], **row), text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tilec", default=os.environ.get("TILEC", "tilec"))
    parser.add_argument("--examples", default=EXAMPLES)
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rows", default=",".join(KERNELS))
    parser.add_argument("--no-triton", action="store_true")
    parser.add_argument("--no-fastest", action="store_true")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--serve", choices=KERNELS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    out = open(os.path.join(os.environ.get("OUT", "."), "compile_time.jsonl"), "a")

    def report(row, text):
        print(text, flush=True)
        out.write(json.dumps(row) + "\n")
        out.flush()

    if not options.growth:
        return compare(options, options.rows.split(","), report)
    for example, steps in GROWTH.items():
        for definitions in steps:
            ptx, module = (median([tilec_seconds(options, example, definitions, emit) for _ in range(options.runs)])
                           for emit in ("ptx", "module"))
            report(dict(kernel=example, definitions=definitions, ptx=ptx, module=module),
                   f"{example:10} {definitions:24} ptx {1e3 * (ptx or 0):7.0f} ms  module {1e3 * (module or 0):7.0f} ms")


if __name__ == "__main__":
    main()
