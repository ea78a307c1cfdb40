#!/usr/bin/env python3
#===- sanitize-examples.py - examples under compute-sanitizer --*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Runs every kernel of test/Examples on the GPU at small sizes, compared with the
interpreter, under tools of compute-sanitizer: memory accesses, races, barriers.

  sanitize-examples.py --tile-run build/bin/tile-run
  sanitize-examples.py --tile-run build/bin/tile-run --device simt      the runs, without a GPU

Each tool watches one `tile-run --batch` with all runs. A tool that reports an error, a run
that fails, a kernel without a row, and a row with other arguments than the kernel's are
failures: exit status 1. Needs Python, tile-run, a GPU and compute-sanitizer.
"""
import argparse
import os
import re
import subprocess
import sys

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test", "Examples")

# file: kernel (where there are several), definitions, arguments. Sizes are uneven, and
# with more than one tile in each axis.
RUNS = [
    ("vadd", "", "", "x=random:f32[3001] y=random:f32[3001] z=poison:f32[3001]"),
    ("saxpy", "", "T=bf16", "a=0.5 x=random:bf16[3001] y=random:bf16[3001]"),
    ("transpose", "", "", "a=random:f32[130,70] b=poison:f32[70,130]"),
    ("transpose", "", "T=bf16", "a=random:bf16[128,192] b=poison:bf16[192,128]"),
    ("softmax", "", "", "x=random:bf16[5,1000] y=poison:bf16[5,1000]"),
    ("softmax", "", "COLS=256 ROWS=8", "x=random:bf16[30,256] y=poison:bf16[30,256]"),
    ("layernorm", "", "", "x=random:bf16[5,1000] weight=random:bf16[1000] bias=random:bf16[1000] y=poison:bf16[5,1000] eps=1e-5"),
    ("rmsnorm", "", "COLS=4096", "x=random:bf16[3,4096] weight=random:bf16[4096] y=poison:bf16[3,4096] eps=1e-5"),
    ("online_softmax", "online_softmax", "", "x=random:f32[5,1000] y=poison:f32[5,1000]"),
    ("online_softmax", "logcumsumexp", "", "x=random:f32[5,1000] y=poison:f32[5,1000]"),
    ("welford", "", "", "x=random:f32[5,1000] stats=poison:f32[5,2]"),
    ("sums", "rowsum", "", "x=random:f32[9,3000] r=poison:f32[9]"),
    ("sums", "colsum", "", "x=random:f32[200,130] r=poison:f32[130]"),
    ("sums", "colsum_bands", "", "x=random:f32[500,130] p=poison:f32[3,130]"),
    ("argmax", "", "", "x=random:f32[5,1000] places=poison:i32[5]"),
    ("cross_entropy", "", "BLOCK=1024", "x=random:bf16[5,3000] target=random:i64[5] loss=poison:f32[5]"),
    ("dropout", "", "", "x=random:bf16[3001] y=poison:bf16[3001] p=0.3 seed=7"),
    ("swiglu", "", "", "gate=random:bf16[5,1500] up=random:bf16[5,1500] y=poison:bf16[5,1500]"),
    ("layernorm_backward", "layernorm_backward", "", "x=random:bf16[7,1000] weight=random:bf16[1000] mean=random:f32[7] "
     "scale=ones:f32[7] dy=random:bf16[7,1000] dx=poison:bf16[7,1000] dweights=poison:f32[3,1000] dbiases=poison:f32[3,1000]"),
    ("layernorm_backward", "layernorm_backward_sums", "", "dweights=random:f32[70,130] dbiases=random:f32[70,130] "
     "dweight=poison:bf16[130] dbias=poison:bf16[130]"),
    ("rope", "rope", "", "positions=random:i32[9] x=random:bf16[9,10,128] base=10000"),
    ("rope", "rope_pairs", "", "x=random:bf16[1,2,37,128] cosines=random:f32[37,64] sines=random:f32[37,64] y=poison:bf16[1,2,37,128]"),
    ("selective_scan", "", "", "x=random:f32[2,3,200] dt=ones:f32[2,3,200] a=zeros:f32[3,16] b=random:f32[2,200,16] c=random:f32[2,200,16] "
     "y=poison:f32[2,3,200]"),
    ("cumsum", "", "", "x=random:f32[5,1000] y=poison:f32[5,1000]"),
    ("sort", "sort", "COLS=256", "x=random:f32[4,250] y=poison:f32[4,250]"),
    ("sort", "argsort", "COLS=256", "x=random:f32[4,250] y=poison:i32[4,250]"),
    ("topk", "", "COLS=256", "x=random:f32[4,250] values=poison:f32[4,8] places=poison:i32[4,8]"),
    ("linear_attention", "", "D=32 L=32", "q=random:bf16[2,70,32] k=random:bf16[2,70,32] v=random:bf16[2,70,32] decay=ones:f32[2] o=poison:bf16[2,70,32]"),
    ("linear_attention", "", "", "q=random:bf16[2,200,64] k=random:bf16[2,200,64] v=random:bf16[2,200,64] decay=ones:f32[2] o=poison:bf16[2,200,64]"),
    ("mamba2", "", "", "x=random:bf16[200,2,64] dt=ones:f32[2,200] a=zeros:f32[2] b=random:bf16[200,64] c=random:bf16[200,64] y=poison:bf16[200,2,64]"),
    ("attention_varlen", "", "", "q=random:bf16[200,2,64] k=random:bf16[200,2,64] v=random:bf16[200,2,64] starts=zeros:i32[3] slopes=random:f32[2] "
     "o=zeros:bf16[200,2,64] scale=0.125 window=50 longest=200"),
    ("kv_cache", "", "D=64", "k=random:bf16[1,10,64] v=random:bf16[1,10,64] slots=ones:i32[1] positions=ones:i32[1] cosines=random:f32[5,32] "
     "sines=random:f32[5,32] keys=zeros:bf16[3,10,64,64] values=zeros:bf16[3,10,64,64]"),
    ("linear_cross_entropy", "", "", "x=random:bf16[100,200] w=random:bf16[300,200] target=random:i64[100] loss=poison:f32[100]"),
    ("sample", "", "", "logits=random:f32[5,1000] token=poison:i32[5] p=0.9 temperature=0.8 seed=7"),
    ("quantize", "quantize_f8", "", "x=random:bf16[50,300] y=poison:f8e4m3[50,300] scale=poison:f32[3,50]"),
    ("quantize", "quantize_i8", "", "x=random:bf16[5,1000] y=poison:i8[5,1000] scale=poison:f32[5]"),
    ("groupnorm", "", "", "x=random:f16[2,12,1000] weight=random:f32[12] bias=random:f32[12] y=poison:f16[2,12,1000] eps=1e-5"),
    ("radix_sort", "radix_count", "", "keys=random:u32[5000] counts=poison:i32[16,5] shift=8"),
    ("radix_sort", "radix_scatter", "", "keys=ones:u32[5000] begins=zeros:i32[16,5] y=zeros:u32[5000] shift=8"),
    ("segment_sum", "", "", "ids=random:i32[5000] x=small:f32[5000] y=zeros:f32[6]"),
    ("fft", "", "N=256 LOG=8", "x=random:f32[3,2,256] y=poison:f32[3,2,256]"),
    ("histogram", "histogram", "", "x=random:i32[3000] h=zeros:i32[16]"),
    ("histogram", "histogram_few", "", "x=random:i32[3000] h=zeros:i32[16]"),
    ("histogram", "histogram_blocks", "", "x=random:i32[9000] h=zeros:i32[256] blocks=2"),
    ("histogram", "histogram_2d", "", "u=random:f32[9000] v=random:f32[9000] h=zeros:i32[64,64] blocks=2"),
    ("histogram_tile", "", "", "x=random:i32[3,3000] h=poison:i32[3,256]"),
    ("embedding", "", "", "table=random:bf16[9,300] ids=random:i32[50] y=poison:bf16[50,300]"),
    ("scatter_add", "", "", "x=small:f32[50,200] ids=random:i32[50] y=zeros:f32[8,200]"),
    ("reduce_blocks", "", "BLOCKS=8", "x=random:f32[20000] parts=poison:f32[8] done=zeros:i32[1] total=poison:f32[1]"),
    ("matmul", "", "", "a=random:bf16[200,200] b=random:bf16[200,264] c=poison:bf16[200,264]"),
    ("matmul", "", "BN=256", "a=random:bf16[256,192] b=random:bf16[192,512] c=poison:bf16[256,512]"),
    ("matmul", "", "BM=64 BN=64 BK=32", "a=random:bf16[70,101] b=random:bf16[101,75] c=poison:bf16[70,75]"),
    ("matmul", "", "T=f32 BM=64 BN=64 BK=16", "a=random:f32[100,90] b=random:f32[90,80] c=poison:f32[100,80]"),
    ("matmul_nt", "", "", "a=random:bf16[200,200] b=random:bf16[136,200] c=poison:bf16[200,136]"),
    ("matmul_nt", "", "T=i8 S=i32 O=i32 BK=128", "a=random:i8[200,320] b=random:i8[136,320] c=poison:i32[200,136]"),
    ("matmul_nt", "", "T=f32 O=f32 TF32=true BK=32", "a=small:f32[200,320] b=small:f32[136,320] c=poison:f32[200,136]"),
    ("matmul_f8_scaled", "", "", "a=small:f8e4m3[200,320] b=small:f8e4m3[136,320] a_scale=ones:f32[3,200] b_scale=ones:f32[2,3] "
     "c=poison:bf16[200,136]"),
    ("matmul_bias_gelu", "", "", "a=random:bf16[200,200] b=random:bf16[200,264] bias=random:bf16[264] c=poison:bf16[200,264]"),
    ("matmul_bias_residual", "", "", "a=random:bf16[200,200] b=random:bf16[200,264] bias=random:bf16[264] r=random:bf16[200,264] "
     "d=poison:bf16[200,264]"),
    ("matmul_split_k", "", "", "a=small:bf16[70,300] b=small:bf16[300,72] c=zeros:f32[70,72] parts=3"),
    ("grouped_gemm", "", "", "x=random:bf16[40,100] w=random:bf16[2,100,72] rows=zeros:i32[128] experts=ones:i32[2] y=poison:bf16[128,72]"),
    ("flash_decoding", "flash_decoding", "D=64 PART=128", "q=random:bf16[1,2,8,64] k=random:bf16[1,2,200,64] v=random:bf16[1,2,200,64] "
     "parts=poison:f32[2,1,2,8,64] lse=poison:f32[2,1,2,8] scale=0.125"),
    ("flash_decoding", "flash_decoding_sum", "D=64", "parts=random:f32[2,1,2,8,64] lse=random:f32[2,1,2,8] o=poison:bf16[1,2,8,64]"),
    ("paged_attention", "", "D=64 P=16", "q=random:bf16[2,2,8,64] k=random:bf16[3,2,16,64] v=random:bf16[3,2,16,64] "
     "table=ones:i32[2,4] lens=ones:i32[2] o=poison:bf16[2,2,8,64] scale=0.125"),
    ("matmul_int4", "", "", "a=random:f16[70,192] w=random:u8[96,144] scale=random:f16[3,144] zero=random:u8[3,144] c=poison:f16[70,144]"),
    ("matmul_int8_weights", "", "", "a=random:f16[70,192] w=random:i8[192,144] scale=random:f16[144] c=poison:f16[70,144]"),
    ("conv2d", "conv2d", "", "x=random:f16[1,20,20,72] f=random:f16[3,3,72,40] y=poison:f16[1,20,20,40]"),
    ("conv2d", "conv2d_filters", "", "x=random:f16[3,20,20,72] dy=random:f16[3,20,20,40] df=zeros:f32[3,3,72,40] parts=2"),
    ("depthwise", "", "", "x=random:f16[1,20,20,72] f=random:f16[3,3,72] y=poison:f16[1,20,20,72]"),
    ("stencil", "stencil", "", "x=random:f32[40,300] y=poison:f32[40,300]"),
    ("stencil", "stencil_3d", "", "x=random:f32[5,40,300] y=poison:f32[5,40,300]"),
    ("prefix_sum", "", "", "x=random:i32[5000] y=poison:i32[5000] states=zeros:i64[1] ticket=zeros:i32[1]"),
    ("spmv", "", "", "starts=zeros:i32[41] columns=zeros:i32[9] values=random:f32[9] x=random:f32[7] y=poison:f32[40]"),
    ("matmul_swiglu", "", "", "x=random:bf16[70,100] gate=random:bf16[100,72] up=random:bf16[100,72] y=poison:bf16[70,72]"),
    ("attention_backward", "attention_forward", "D=64", "q=random:bf16[1,2,70,64] k=random:bf16[1,2,70,64] v=random:bf16[1,2,70,64] "
     "o=poison:bf16[1,2,70,64] lse=poison:f32[1,2,70] scale=0.125"),
    ("attention_backward", "attention_delta", "D=64", "o=random:bf16[1,2,70,64] do=random:bf16[1,2,70,64] delta=poison:f32[1,2,70]"),
    ("attention_backward", "attention_dq", "D=64 CAUSAL=true", "q=random:bf16[1,2,70,64] k=random:bf16[1,2,70,64] "
     "v=random:bf16[1,2,70,64] do=random:bf16[1,2,70,64] lse=ones:f32[1,2,70] delta=random:f32[1,2,70] dq=poison:bf16[1,2,70,64] "
     "scale=0.125"),
    ("attention_backward", "attention_dkdv", "D=64", "q=random:bf16[1,2,70,64] k=random:bf16[1,2,70,64] v=random:bf16[1,2,70,64] "
     "do=random:bf16[1,2,70,64] lse=ones:f32[1,2,70] delta=random:f32[1,2,70] dk=poison:bf16[1,2,70,64] "
     "dv=poison:bf16[1,2,70,64] scale=0.125"),
    ("attention_backward", "attention_prepare", "D=64", "o=random:bf16[1,2,70,64] do=random:bf16[1,2,70,64] "
     "delta=poison:f32[1,2,70] parts=poison:f32[1,2,70,64]"),
    ("attention_backward", "attention_gradients", "D=64 BM=64 BN=128", "q=random:bf16[1,2,70,64] k=random:bf16[1,2,140,64] "
     "v=random:bf16[1,2,140,64] do=random:bf16[1,2,70,64] lse=ones:f32[1,2,70] delta=random:f32[1,2,70] "
     "parts=zeros:f32[1,2,70,64] dk=poison:bf16[1,2,140,64] dv=poison:bf16[1,2,140,64] scale=0.125"),
    ("attention_backward", "attention_finish", "D=64", "parts=random:f32[1,2,70,64] dq=poison:bf16[1,2,70,64] scale=0.125"),
    ("attention", "", "", "q=random:bf16[1,2,200,128] k=random:bf16[1,2,200,128] v=random:bf16[1,2,200,128] o=poison:bf16[1,2,200,128] scale=0.0883"),
    ("attention", "", "D=64 BM=64 CAUSAL=true", "q=random:bf16[1,2,200,64] k=random:bf16[1,2,200,64] v=random:bf16[1,2,200,64] o=poison:bf16[1,2,200,64] scale=0.125"),
    ("attention", "", "BN=128 CAUSAL=true", "q=random:bf16[1,1,256,128] k=random:bf16[1,1,256,128] v=random:bf16[1,1,256,128] o=poison:bf16[1,1,256,128] scale=0.0883"),
]
# f32 of weights that were rounded to bf16: there the last bit of the GPU's 2^x counts.
TOLERANCES = {"flash_decoding": 1e-3}
TOOLS = ["memcheck", "racecheck", "synccheck"]


def kernels_of(examples):
    """All kernels: file, name, names of the parameters."""
    for file in sorted(os.listdir(examples)):
        if file.endswith(".tile"):
            with open(os.path.join(examples, file)) as source:
                for kernel, parameters in re.findall(r"^kernel (\w+)(?:<[^>]*>)?\s*\(([^)]*)\)", source.read(), re.M):
                    yield file[:-5], kernel, re.findall(r"(\w+):", parameters)


def faults_of_rows(examples):
    """Kernels without a row, and rows whose arguments are not the kernel's."""
    for name, kernel, parameters in kernels_of(examples):
        rows = [run for run in RUNS if run[0] == name and run[1] in ("", kernel)]
        if not rows:
            yield f"no row for kernel {kernel} of {name}.tile"
        for run in rows:
            given = re.findall(r"(\w+)=", run[3])
            if given != parameters:
                yield f"a row for kernel {kernel} of {name}.tile gives {given}: it takes {parameters}"


def line_of(run, examples, device):
    name, kernel, defines, arguments = run
    line = [os.path.join(examples, name + ".tile"), f"--device={device}", "--check"]
    line += [f"--tolerance={TOLERANCES[kernel]}"] if kernel in TOLERANCES else []
    line += [f"--kernel={kernel}"] if kernel else []
    return " ".join(line + [f"-D{d}" for d in defines.split()] + [f"--arg {a}" for a in arguments.split()])


def watch(tool, command, lines, timeout):
    """The failures of all runs under one tool (none: without a tool)."""
    watched = [tool_path, "--tool", tool, "--print-limit", "20", *command] if tool else command
    try:
        done = subprocess.run(watched, input="\n".join(lines) + "\n", text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
        output = done.stdout
    except subprocess.TimeoutExpired as late:
        output = late.stdout or b""
        output = output if isinstance(output, str) else output.decode(errors="replace")
    failures, at, part = [], 0, []
    for text in output.splitlines():
        if not re.fullmatch(r"exit \d+", text):
            part.append(text)
            continue
        reports = [p for p in part if p.startswith("=========") and p.strip("= ") and "COMPUTE-SANITIZER" not in p]
        if text != "exit 0" or reports:
            failures.append(f"{lines[at]}\n  " + "\n  ".join(part[-40:] + [text]))
        at, part = at + 1, []
    if at < len(lines):
        failures.append(f"{lines[at]}\n  did not end\n  " + "\n  ".join(part[-20:]))
    summary = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: .*", output)
    if tool and not (summary and re.search(r": 0 (errors|hazards)", summary[-1])):
        failures.append("\n".join(summary + part[-20:]) or "no summary of the tool")
    print(f"{tool or 'no tool'}: {at} runs, {len(failures)} failures; {summary[-1] if summary else ''}", flush=True)
    return failures


def main():
    global tool_path
    parser = argparse.ArgumentParser(description="runs the examples under compute-sanitizer")
    parser.add_argument("--tile-run", default="tile-run", help="the tool; found through PATH by default")
    parser.add_argument("--examples", default=EXAMPLES)
    parser.add_argument("--device", choices=["gpu", "simt"], default="gpu")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    parser.add_argument("--only", help="examples whose name begins so")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one tool")
    options = parser.parse_args()
    tool_path = options.sanitizer
    failures = list(faults_of_rows(options.examples))
    lines = [line_of(run, options.examples, options.device) for run in RUNS if run[0].startswith(options.only or "")]
    tools = [t for t in options.tools.split(",") if t] if options.device == "gpu" else [None]
    for tool in tools:
        failures += watch(tool, [options.tile_run, "--batch"], lines, options.timeout)
    print("\n".join(failures + [f"{len(lines)} runs, {len(tools)} tools, {len(failures)} failures"]))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
