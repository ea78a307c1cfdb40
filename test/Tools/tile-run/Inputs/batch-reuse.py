#===- batch-reuse.py - runs of a batch that share a program ------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""batch-reuse.py SCRIPTS TILE-RUN FOLDER: says of each run whether it compiled."""
import os
import sys

sys.path.insert(0, sys.argv[1])
from tile_batch import Batch  # noqa: E402

PROGRAM = """kernel fill<V: int = 2>(r: mut array<f32, [n]>) grid [cdiv(n, 4)] {
  static_print("compiled");
  store(r, [bid(0)], full([4], V + ADDED, int).to(f32));
}
"""
batch = Batch(sys.argv[2], timeout=60)
path = sys.argv[3] + ".fill.tile"


def write(added):
    with open(path, "w") as file:
        file.write(PROGRAM.replace("ADDED", str(added)))


def run(what, n, *options):
    result = batch.run([path, "--device=cpu", "--arg", f"r=poison:f32[{n}]", *options])
    lines = result.output.splitlines()
    compiled = " compiled," if any(line.endswith("compiled") for line in lines) else ""
    print(f"{what}:{compiled} exit {result.status}")
    for line in lines:
        if line.startswith("r: "):
            print(line)


write(0)
run("first", 3)
run("other size", 5)
run("other constant", 3, "-DV=3")
write(2)
run("changed file", 3)
run("wrong argument", "3,3")
run("after it", 3)
batch.close()
os.remove(path)
