#!/usr/bin/env python3
#===- ptx-gate.py - what PTX must pass before it counts ----------------------===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===--------------------------------------------------------------------------===#
"""Assembles PTX and refuses what assembles but is wrong or slow.

  ptx-gate.py a.ptx b.ptx                       PTX files, each for its .target
  ptx-gate.py --tilec build/bin/tilec x.tile    compiled first, for every chip
      [--arch sm_80,sm_90a]  [--flags='-D BM=64'] [--allow=spills,fences,messages]

Fails when, for some file and chip:
  - ptxas fails, or says anything but progress ("C75xx": wgmma was serialised);
  - a kernel spills more than two registers, or uses a stack without that, but for those
    with loops that are kept as such, whose elements live there (`.pragma "nounroll"`);
  - the code waits for all of the GPU's memory (fence or membar of gpu or sys
    scope, which ptxas also makes of a remote mbarrier arrival that says `.release.cluster`;
    MEMBAR.*.GPU in the machine code where a disassembler is found, but for one of each atomic
    that asks for order, of the source or of a block whose sum meets others in memory, and of
    each fence of a cluster, where blocks that add up in one meet).
One line a problem, then "N modules, M problems". Exit code 1 when M > 0, 3 when there
is no ptxas. `$TILEC_PTXAS` names the assembler.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

CHIPS = "sm_80,sm_86,sm_89,sm_90a,sm_100a,sm_120a"
PROGRESS = re.compile(r"bytes gmem|Compile time|Function properties for|Compiling entry|"
                      r"bytes stack frame|Used \d+ registers|^\s*$|cumulative stack size")
# A kernel that needs nearly all registers may leave one or two of them to memory, depending
# on the order in which the assembler meets them.
SPARED_BYTES = 8
FENCE = re.compile(r"^\s*(?:@!?%\w+\s+)?(fence\.(sc|acq_rel|acquire|release)\S*\.(gpu|sys)|membar\.(gl|sys)|"
                   r"mbarrier\.arrive\S*\.release\.cluster\.shared::cluster)", re.M)
ASKED_WAIT = re.compile(r"\b(?:atom|red|st)\.(?:acq_rel|acquire|release)\.(?:gpu|sys)\.|"
                        r"\bfence\.acq_rel\.cluster\b")


def find_tool(name, variable):
    chosen = os.environ.get(variable)
    if chosen:
        return chosen
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    # The disassembler also comes as a Python package, nvidia-cuda-nvdisasm.
    packages = [os.path.join(path, "nvidia", kit, "bin") for path in sys.path for kit in ("cu13", "cu12")]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join([os.path.join(home, "bin")] + packages))


def problems_of_log(log, allowed, rolled):
    kernel = "?"
    for line in log.splitlines():
        entry = re.search(r"Compiling entry function '([^']*)'", line)
        if entry:
            kernel = entry.group(1)
        usage = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        if usage and "spills" not in allowed:
            stack, stores, loads = map(int, usage.groups())
            if max(stores, loads) > SPARED_BYTES:
                yield f"{kernel}: spills: {stores} bytes stored, {loads} bytes loaded"
            elif stack and not stores and kernel not in rolled:
                yield f"{kernel}: uses a stack of {stack} bytes"
        elif not PROGRESS.search(line) and "messages" not in allowed:
            yield f"{kernel}: ptxas says: {line.strip()}"


def bodies(ptx):
    """By name, the text of each kernel."""
    entries = re.split(r"^\.visible \.entry (\w+)", ptx, flags=re.M)
    return dict(zip(entries[1::2], entries[2::2]))


def rolled_kernels(ptx):
    """Those with loops that nobody may unroll."""
    return {name for name, body in bodies(ptx).items() if '.pragma "nounroll"' in body}


def waits_of_code(text, ptx):
    """Waits in machine code for the GPU's memory, where they are more than it asks for."""
    sections = re.split(r"^\s*\.section\s+\.text\.(\w+)", text, flags=re.M)
    for name, code in zip(sections[1::2], sections[2::2]):
        asked = len(ASKED_WAIT.findall(bodies(ptx).get(name, "")))
        waits = re.findall(r"MEMBAR\.\w+\.(?:GPU|SYS)", code)
        if len(waits) > asked:
            yield f"{name}: {sorted(set(waits))[0]}"


def check(ptx, name, ptxas, disassembler, allowed):
    """All problems of one PTX text."""
    found = []
    target = re.search(r"^\s*\.target\s+(\w+)", ptx, re.M)
    if not target:
        return [f"{name}: has no .target"]
    label = f"{name} ({target.group(1)})"
    if "fences" not in allowed:
        found += [f"{label}: {m.group(1)}: waits for the whole GPU's memory" for m in FENCE.finditer(ptx)]
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cubin")
        with open(source, "w") as file:
            file.write(ptx)
        run = subprocess.run([ptxas, "-v", f"-arch={target.group(1)}", source, "-o", cubin],
                             capture_output=True, text=True)
        log = run.stdout + run.stderr
        if run.returncode:
            return found + [f"{label}: ptxas failed: {log.strip()}"]
        found += [f"{label}: {problem}" for problem in problems_of_log(log, allowed, rolled_kernels(ptx))]
        if disassembler and "fences" not in allowed:
            text = subprocess.run([disassembler, cubin], capture_output=True, text=True).stdout
            found += [f"{label}: {wait}: waits for the whole GPU's memory" for wait in waits_of_code(text, ptx)]
    return found


def modules_of(args):
    """(file, chip or None) for every module to check."""
    for path in args.files:
        for chip in args.arch.split(",") if args.tilec else [None]:
            yield path, chip


def text_of(args, path, chip):
    """(PTX, error) of one module."""
    if not chip:
        with open(path) as file:
            return file.read(), None
    command = [args.tilec, path, "--emit=ptx", f"--gpu-arch={chip}", "-o", "-"]
    run = subprocess.run(command + args.flags.split(), capture_output=True, text=True)
    return run.stdout, f"tilec failed: {run.stderr.strip()}" if run.returncode else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--tilec", help="compile the files with this program first")
    parser.add_argument("--arch", default=CHIPS, help="chips to compile for")
    parser.add_argument("--flags", default="", help="further flags of tilec")
    parser.add_argument("--allow", default="", help="of: spills, fences, messages")
    args = parser.parse_args()
    allowed = set(filter(None, args.allow.split(",")))
    ptxas = find_tool("ptxas", "TILEC_PTXAS")
    if not ptxas:
        print("ptx-gate: no ptxas on PATH or in $CUDA_HOME/bin", file=sys.stderr)
        return 3
    disassembler = find_tool("nvdisasm", "TILEC_NVDISASM")

    def run(item):
        path, chip = item
        ptx, error = text_of(args, path, chip)
        if error:
            return [f"{path} ({chip}): {error}"]
        return check(ptx, path, ptxas, disassembler, allowed)

    modules = problems = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(run, modules_of(args)):
            modules += 1
            problems += len(found)
            for problem in found:
                print(problem)
    print(f"{modules} modules, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
