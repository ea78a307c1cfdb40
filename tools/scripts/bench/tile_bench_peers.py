#!/usr/bin/env python3
#===- tile_bench_peers.py - PyTorch, Triton, cuTile for tile-bench -- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""tile_bench_peers.py ROWS.json ANSWER.json

Measures the peers of the rows that tile-bench wrote, on data of the same distribution,
each checked against float64, in the way tile-bench measures: medians of events around
one launch after a write of more than the cache. ANSWER has the entries, which tile-bench
merges (`tile-bench --peers=` runs this). Peers that are not installed are left out.
"""
import concurrent.futures
import json
import math
import os
import statistics
import sys

import torch

import cutile_kernels
import peers as triton_kernels
import triton

try:
    from triton.runtime._async_compile import AsyncCompileMode
except ImportError:
    AsyncCompileMode = None

TORCH = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16,
         "f8e4m3": torch.float8_e4m3fn, "i8": torch.int8}
SECONDS = 0.25


class Timer:
    """Seconds of a launch: quantiles over many, the cache emptied before each."""

    def __init__(self):
        l2 = torch.cuda.get_device_properties(0).L2_cache_size
        self.flush = torch.empty(max(128 << 20, 2 * l2), dtype=torch.uint8, device="cuda")

    def times(self, launch, count):
        pairs = []
        for _ in range(count):
            pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            self.flush.zero_()
            pair[0].record()
            launch()
            pair[1].record()
            pairs.append(pair)
        torch.cuda.synchronize()
        return [a.elapsed_time(b) * 1e-3 for a, b in pairs]

    def measure(self, launch):
        each = statistics.median(self.times(launch, 3))
        values = sorted(self.times(launch, int(min(200, max(10, SECONDS / each)))))
        at = lambda q: values[min(len(values) - 1, int(q * len(values)))]
        return dict(median=statistics.median(values), low=at(0.05), high=at(0.95), count=len(values))


def operand(shape, dtype):
    if dtype == "i8":
        return torch.randint(-8, 9, shape, device="cuda", dtype=torch.int8)
    return torch.randn(shape, device="cuda").to(TORCH[dtype])


def relative(got, expected):
    return ((got.double() - expected).norm() / expected.norm()).item()


def compile_configurations(kernel, grid, *args, **constants):
    """What the tuner will try, compiled side by side (one after the other it takes a minute)."""
    if AsyncCompileMode is None:
        return
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        with AsyncCompileMode(pool, ignore_errors=True):
            kernel.warmup(*args, grid=grid, **constants)


def cutile(setting, grid, result, *tensors, image):
    """The program of a cuTile kernel, if there is one; a launch without it says why."""
    if not cutile_kernels.is_available():
        return []
    chip = "sm_%d%d" % torch.cuda.get_device_capability()
    loaded = []

    def launch():
        if not loaded:
            stream = lambda: torch.cuda.current_stream().cuda_stream
            loaded.append(cutile_kernels.Image(image, chip).prepare(grid, stream, *tensors))
        loaded[0]()
        return result
    return [("cuTile", setting, launch)]


# Each case gives programs: (who, setting, launch), where launch returns the result; and a
# function of the result to its error. A name's programs are tried all, the best counts.
#===--- rows ----------------------------------------------------------------------===#

def rows_case(subject, rows, cols, dtype):
    x = operand((rows, cols), dtype)
    y = torch.empty_like(x)
    w, b = operand((cols,), dtype), operand((cols,), dtype)
    block, few = triton.next_power_of_2(cols), x[:256].double()
    programs = []

    def ours(kernel, *args):
        for warps in (1, 2, 4, 8, 16):
            def launch(warps=warps):
                kernel[(rows,)](x, *args, B=block, num_warps=warps)
                return y
            programs.append(("Triton", f"{warps} warps", launch))

    def theirs(kernel, *tensors):
        for few, blocks in cutile_kernels.ROW_SETTINGS if cols in cutile_kernels.ROW_COLUMNS else ():
            programs.extend(cutile(f"{few} rows, occupancy {blocks}", (triton.cdiv(rows, few),), y, *tensors,
                                   image=f"{kernel}-{cols}-{few}-{blocks}"))

    if subject.startswith("softmax"):
        expected = torch.softmax(few, 1)
        programs.append(("PyTorch", "", lambda: torch.softmax(x, 1)))
        ours(triton_kernels.t_softmax, y, cols, cols)
        theirs("softmax", x, y)
    elif subject == "layernorm":
        expected = torch.nn.functional.layer_norm(few, (cols,), w.double(), b.double())
        programs.append(("PyTorch", "", lambda: torch.nn.functional.layer_norm(x, (cols,), w, b)))
        ours(triton_kernels.t_layernorm, w, b, y, cols, cols, 1e-5)
        theirs("layernorm", x, w, b, y)
    else:
        expected = few * torch.rsqrt((few * few).mean(1, keepdim=True) + 1e-5) * w.double()
        programs.append(("PyTorch", "", lambda: torch.nn.functional.rms_norm(x, (cols,), w, 1e-5)))
        compiled = torch.compile(lambda: torch.nn.functional.rms_norm(x, (cols,), w, 1e-5))
        programs.append(("torch.compile", "", compiled))
    return programs, lambda out: relative(out[:256], expected)


def sums_case(subject, rows, cols, dtype):
    x = operand((rows, cols), dtype)
    axis = 1 if subject == "rowsum" else 0
    some = slice(0, 256)
    expected = (x[some] if axis else x[:, some]).double().sum(axis)
    return [("PyTorch", "", lambda: x.sum(axis))], lambda out: relative(out[some], expected)


def transpose_case(rows, cols, dtype):
    x = operand((rows, cols), dtype)
    y = torch.empty(cols, rows, device="cuda", dtype=x.dtype)
    programs = [("PyTorch", "", lambda: y.copy_(x.t()))]
    for bm, bn in ((32, 32), (64, 64), (64, 32), (32, 64), (128, 64)):
        if rows % bm or cols % bn:
            continue
        def launch(bm=bm, bn=bn):
            triton_kernels.t_transpose[(rows // bm, cols // bn)](x, y, rows, cols, BM=bm, BN=bn)
            return y
        programs.append(("Triton", f"{bm}x{bn}", launch))
    for bm, bn in ((32, 32), (64, 64), (128, 64)):
        programs += cutile(f"{bm}x{bn}", (triton.cdiv(rows, bm), triton.cdiv(cols, bn)), y, x, y,
                           image=f"transpose-{bm}x{bn}")
    return programs, lambda out: relative(out, x.t().double())


def add_case(n, dtype):
    x, y = operand((n,), dtype), operand((n,), dtype)
    z = torch.empty_like(x)
    programs = [("PyTorch", "", lambda: torch.add(x, y, out=z))]
    for block in (1024, 2048, 4096):
        def launch(block=block):
            triton_kernels.t_add[(triton.cdiv(n, block),)](x, y, z, n, B=block)
            return z
        programs.append(("Triton", f"{block}", launch))
    for block in (1024, 2048, 4096):
        programs += cutile(f"{block}", (triton.cdiv(n, block),), z, x, y, z, image=f"add-{block}")
    return programs, lambda out: relative(out, x.double() + y.double())


def swiglu_case(rows, cols, dtype):
    gate, up = operand((rows, cols), dtype), operand((rows, cols), dtype)
    eager = lambda: torch.nn.functional.silu(gate) * up
    expected = torch.nn.functional.silu(gate[:256].double()) * up[:256].double()
    return [("PyTorch", "", eager), ("torch.compile", "", torch.compile(eager))], lambda out: relative(out[:256], expected)


def product_swiglu_case(dtype, m, n, k):
    x, gate, up = operand((m, k), dtype), operand((k, n), dtype), operand((k, n), dtype)
    eager = lambda: torch.nn.functional.silu(x @ gate) * (x @ up)
    few = x[:128].double()
    expected = torch.nn.functional.silu(few @ gate.double()) * (few @ up.double())
    return [("PyTorch", "", eager), ("torch.compile", "", torch.compile(eager))], lambda out: relative(out[:128], expected)


#===--- products and attention -----------------------------------------------------===#

def product_case(subject, dtype, m, n, k):
    is_nt = subject.startswith("matmul_nt")
    a, b = operand((m, k), dtype), operand((n, k) if is_nt else (k, n), dtype)
    right = b.t() if is_nt else b
    out = torch.empty(m, n, device="cuda", dtype=torch.int32 if dtype == "i8" else torch.bfloat16 if dtype == "f8e4m3" else a.dtype)
    bias = operand((n,), dtype) if subject == "matmul_bias_gelu" else None
    torch.backends.cuda.matmul.allow_tf32 = subject.endswith("tf32")
    one = torch.ones((), device="cuda")
    expected = a[:128].double() @ right.double()
    if subject == "matmul_bias_gelu":
        expected = torch.nn.functional.gelu(expected + bias.double())
        eager = lambda: torch.nn.functional.gelu(torch.addmm(bias, a, right))
        programs = [("PyTorch", "", eager), ("torch.compile", "", torch.compile(eager))]
    elif dtype == "f8e4m3":
        fast = subject.endswith("fast")
        programs = [("PyTorch", "", lambda: torch._scaled_mm(a, right, one, one, out_dtype=torch.bfloat16, use_fast_accum=fast))]
    elif dtype == "i8":
        programs = [("PyTorch", "", lambda: torch._int_mm(a, right, out=out))]
    else:
        programs = [("PyTorch", "", lambda: torch.mm(a, right, out=out))]
    if dtype in ("bf16", "f16") and bias is None and not is_nt:
        grid = lambda meta: (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)
        args = (a, b, out, m, n, k, k, n, n)
        compile_configurations(triton_kernels.t_mm, grid, *args)
        def launch():
            triton_kernels.t_mm[grid](*args)
            return out
        programs.append(("Triton", "autotuned", launch))
        for bm, bn, bk in cutile_kernels.MATMUL_TILES:
            programs += cutile(f"{bm}x{bn}x{bk}", (triton.cdiv(m, bm) * triton.cdiv(n, bn),), out, a, b, out,
                               image=f"matmul-{dtype}-{bm}x{bn}x{bk}")
    return programs, lambda got: relative(got[:128], expected)


def attention_case(subject, b, h, s, d):
    q, k, v = (operand((b, h, s, d), "bf16") for _ in range(3))
    o = torch.empty_like(q)
    causal = subject.endswith("causal")
    scores = q[0, 0, -128:].double() @ k[0, 0].double().t() / math.sqrt(d)
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(s - 127), -math.inf)
    expected = torch.softmax(scores, 1) @ v[0, 0].double()

    def cudnn():
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    grid = lambda meta: (triton.cdiv(s, meta["BM"]), b * h)
    args, constants = (q, k, v, o, s, 1 / math.sqrt(d)), dict(D=d, CAUSAL=causal)
    compile_configurations(triton_kernels.t_attn, grid, *args, **constants)

    def launch():
        triton_kernels.t_attn[grid](*args, **constants)
        return o
    programs = [("cuDNN", "", cudnn), ("Triton", "autotuned", launch)]
    for bm, bn in cutile_kernels.ATTENTION_TILES if d == 128 else ():
        programs += cutile(f"{bm}x{bn}", (triton.cdiv(s, bm), h, b), o, q, k, v, o, image=f"{subject}-{bm}x{bn}")
    return programs, lambda out: relative(out[0, 0, -128:], expected)


#===--- all of it ------------------------------------------------------------------===#

def case_of(row):
    subject, dtype = row["subject"], row["dtype"]
    sizes = [int(size) for size in row["shape"].split("x")]
    if subject == "vadd":
        return add_case(*sizes, dtype)
    if subject == "transpose":
        return transpose_case(*sizes, dtype)
    if subject in ("rowsum", "colsum"):
        return sums_case(subject, *sizes, dtype)
    if subject == "swiglu":
        return swiglu_case(*sizes, dtype)
    if subject == "matmul_swiglu":
        return product_swiglu_case(dtype, *sizes)
    if subject.startswith("matmul"):
        return product_case(subject, dtype, *sizes)
    if subject.startswith("attention"):
        return attention_case(subject, *sizes)
    return rows_case(subject, *sizes, dtype)


def entries_of(row, timer):
    where = dict(subject=row["subject"], shape=row["shape"])
    try:
        programs, error_of = case_of(row)
    except Exception as why:  # no memory, an operation that this version lacks
        return [dict(where, who="PyTorch", wrong=str(why).splitlines()[0][:200])]
    found = []
    for who, setting, launch in programs:
        try:
            error = error_of(launch())
            if not error < 2e-2:
                raise ValueError(f"wrong result, relative error {error}")
            entry = dict(where, who=who, setting=setting, error=error, seconds=timer.measure(launch))
        except Exception as why:
            entry = dict(where, who=who, setting=setting, wrong=(str(why).splitlines() or [repr(why)])[0][:200])
        found.append(entry)
    return found


def main():
    with open(sys.argv[1]) as file:
        rows = json.load(file)["rows"]
    timer, entries = Timer(), []
    for row in rows:
        found = entries_of(row, timer)
        for entry in found:
            figure = f"{1e6 * entry['seconds']['median']:.1f} us" if "seconds" in entry else entry["wrong"]
            print(f"  {entry['subject']} {entry['shape']} {entry['who']} {entry.get('setting', '')}: {figure}", file=sys.stderr)
        entries += found
        torch.cuda.empty_cache()
    with open(sys.argv[2], "w") as file:
        json.dump({"entries": entries}, file)


if __name__ == "__main__":
    main()
