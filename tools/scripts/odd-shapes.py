#!/usr/bin/env python3
#===- odd-shapes.py - products of every size around their tiles -*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Runs products with each of M, N and K from 0 to 300 against the sizes at the edge of
the tile (one less, the tile, one more) of the other two, compiled and interpreted. All
values are small whole numbers, so every sum is exact and the results must be the same
bits. Outputs are poisoned first.

  odd-shapes.py --tile-run build/bin/tile-run --jobs 16                    all, SIMT execution
  odd-shapes.py --tile-run build/bin/tile-run --sample 1000                an even part of all
  odd-shapes.py --tile-run build/bin/tile-run --device gpu --sample 5000   this machine's GPU
  odd-shapes.py … --tiles 16x64x64,8x64x32                                 cases of these tiles

Cases: matmul and matmul_nt at several tiles, for sm_80 (cp.async, mma.sync) and sm_90a
(copy engine, wgmma; a pitch or base that is no multiple of 16 bytes takes the other
build), in bf16, f16, f32 and i8; each once more with bases that are aligned to one
element only, and with operands whose axes are swapped (strided). Needs Python and
tile-run, nothing else. Exit status 1 when a run failed.
"""
import argparse
import collections
import itertools
import multiprocessing
import os
import random
import struct
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tile_batch import Batch  # noqa: E402

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test", "Examples")
LIMIT = 300
BYTES = {"bf16": 2, "f16": 2, "f32": 4, "i8": 1}
# What an element is stored as in a .npy file, and how a small whole number is.
STORED = {"bf16": ("<u2", "H", lambda v: struct.unpack("<I", struct.pack("<f", v))[0] >> 16)}

# One program at one tile: what is compiled once. form: "nn", "nt", or "strided".
Case = collections.namedtuple("Case", "form dtype chip tile skew")

STRIDED = """kernel matmul<T: float = bf16, BM: int = 64, BN: int = 64, BK: int = 64>(
    a: strided array<T, [m, k]>, b: strided array<T, [k, n]>, c: mut array<T, [m, n]>)
  grid [cdiv(m, BM), cdiv(n, BN)]
{
  var acc = zeros([BM, BN], f32);
  for i in 0..cdiv(k, BK) {
    acc = mma(load(a, [bid(0), i], [BM, BK]), load(b, [i, bid(1)], [BK, BN]), acc);
  }
  store(c, [bid(0), bid(1)], acc.to(T));
}
"""


def all_cases():
    for form, chip, tile in itertools.product(["nn", "nt"], ["sm_80", "sm_90a"],
                                              [(16, 16, 16), (32, 32, 32), (64, 32, 32), (64, 64, 64)]):
        yield Case(form, "bf16", chip, tile, 0)
    for form, chip in itertools.product(["nn", "nt"], ["sm_80", "sm_90a"]):
        yield Case(form, "bf16", chip, (64, 64, 64), 2)
        yield Case(form, "f16", chip, (64, 16, 32), 0)
        yield Case(form, "f32", chip, (32, 32, 16), 0)
    # Few rows, which warp groups multiply the other way round.
    for form, tile in itertools.product(["nn", "nt"], [(8, 64, 32), (16, 64, 64), (16, 128, 16), (32, 64, 64)]):
        yield Case(form, "bf16", "sm_90a", tile, 0)
    yield Case("nn", "bf16", "sm_90a", (16, 64, 64), 2)
    yield Case("nt", "f16", "sm_90a", (32, 128, 32), 0)
    yield Case("nt", "i8", "sm_90a", (16, 64, 64), 0)
    yield Case("strided", "bf16", "sm_90a", (16, 64, 32), 0)
    # Accumulators in tensor memory, of all lanes and of half of them.
    for form, tile in itertools.product(["nn", "nt"], [(128, 64, 32), (64, 64, 64), (128, 16, 16)]):
        yield Case(form, "bf16", "sm_100a", tile, 0)
    yield Case("nn", "f16", "sm_100a", (128, 32, 32), 2)
    for chip in ["sm_80", "sm_90a", "sm_100a"]:
        yield Case("nt", "i8", chip, (64, 32, 64), 0)
        yield Case("strided", "bf16", chip, (64, 32, 32), 0)


def shapes(tile):
    """Every size of each axis against the edges of the others', without repeats."""
    edges = [(t - 1, t, t + 1) for t in tile]
    found = {}
    for axis in range(3):
        others = [edges[i] for i in range(3) if i != axis]
        for size, (x, y) in itertools.product(range(LIMIT + 1), itertools.product(*others)):
            shape = [x, y]
            shape.insert(axis, size)
            found[tuple(shape)] = True
    return list(found)


#===--- one run ------------------------------------------------------------------===#

batch, settings, folder = None, None, None


def start_job(options, shared):
    global batch, settings, folder
    settings, folder = options, shared
    batch = Batch(options.tile_run, options.timeout)


def swapped(name, dtype, rows, cols):
    """The argument of a matrix whose first axis is innermost: a file of NumPy's."""
    descr, code, encode = STORED[dtype]
    values = random.Random(rows * 1000 + cols)
    header = f"{{'descr': '{descr}', 'fortran_order': True, 'shape': ({rows}, {cols}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = struct.pack(f"<{rows * cols}{code}", *(encode(values.randint(-3, 3)) for _ in range(rows * cols)))
    path = os.path.join(folder, f"{name}.{os.getpid()}.npy")
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
    return f"@{path}:{dtype}"


def options_of(case, shape):
    (m, n, k), (bm, bn, bk) = shape, case.tile
    out = "i32" if case.dtype == "i8" else case.dtype
    program = os.path.join(settings.examples, "matmul_nt.tile" if case.form == "nt" else "matmul.tile")
    if case.form == "strided":
        program = os.path.join(folder, "strided.tile")
    line = [program, f"--device={settings.device}", "--check", "--tolerance=0", f"--skew={case.skew}",
            f"-DT={case.dtype}", f"-DBM={bm}", f"-DBN={bn}", f"-DBK={bk}"]
    if case.form == "nt":
        line += [f"-DO={out}"] + (["-DS=i32"] if case.dtype == "i8" else [])
    if settings.device == "simt":
        line.append(f"--gpu-arch={case.chip}")
    a, b = (f"small:{case.dtype}[{rows},{cols}]" for rows, cols in ((m, k), (n, k) if case.form == "nt" else (k, n)))
    if case.form == "strided":
        a, b = swapped("a", case.dtype, m, k), swapped("b", case.dtype, k, n)
    return line + ["--arg", f"a={a}", "--arg", f"b={b}", "--arg", f"c=poison:{out}[{m},{n}]"]


def run_chunk(chunk):
    """How many runs of one case there was time for, and what failed."""
    case, part = chunk
    failures = []
    for done, shape in enumerate(part):
        if time.monotonic() > settings.deadline:
            return done, failures
        line = options_of(case, shape)
        result = batch.run(line)
        if result.status != 0:
            failures.append(f"{settings.tile_run} {' '.join(line)}\n{result.output[-2000:]}{result.status}")
    return len(part), failures


def chunks_of(options):
    """The runs in parts of one case each: all, or every n-th of all."""
    step, at, chunks = 1, 0, []
    # A GPU has one chip: the cases of another are its own again.
    cases = [c for c in all_cases() if options.device == "simt" or c.chip == "sm_90a"]
    if options.tiles:
        cases = [c for c in cases if "x".join(map(str, c.tile)) in options.tiles.split(",")]
    if options.sample:
        step = max(1, sum(len(shapes(case.tile)) for case in cases) // options.sample)
    for case in cases:
        part = shapes(case.tile)
        chosen = part[at % step::step]
        at += 7  # other sizes of each case
        chunks += [(case, chosen[i:i + 250]) for i in range(0, len(chosen), 250)]
    first, every = map(int, options.slice.split("/"))
    return chunks[first::every]


def main():
    parser = argparse.ArgumentParser(description="runs products of sizes around their tiles")
    parser.add_argument("--tile-run", default="tile-run", help="the tool; found through PATH by default")
    parser.add_argument("--examples", default=EXAMPLES, help="folder of matmul.tile and matmul_nt.tile")
    parser.add_argument("--device", choices=["simt", "gpu"], default="simt")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--sample", type=int, help="about so many of all runs, evenly chosen")
    parser.add_argument("--tiles", help="only cases of these tiles, such as 16x64x64,8x64x32")
    parser.add_argument("--slice", default="0/1", help="i/n: every n-th part of the runs, from the i-th")
    parser.add_argument("--seconds", type=float, help="begin no run after that time")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run")
    options = parser.parse_args()
    start = time.monotonic()
    options.deadline = start + (options.seconds or 1e9)
    chunks, done, failed = chunks_of(options), 0, 0
    with tempfile.TemporaryDirectory() as shared:
        with open(os.path.join(shared, "strided.tile"), "w") as file:
            file.write(STRIDED)
        with multiprocessing.Pool(options.jobs, start_job, (options, shared)) as pool:
            for count, failures in pool.imap_unordered(run_chunk, chunks):
                done, failed = done + count, failed + len(failures)
                for text in failures:
                    print(text, flush=True)
    total = sum(len(part) for _, part in chunks)
    print(f"{done} of {total} products, {failed} failed, {time.monotonic() - start:.1f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
