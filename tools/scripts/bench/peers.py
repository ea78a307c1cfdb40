#===- peers.py - the peers: vendor libraries, and Triton kernels ---*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Peer baselines on one GPU: vendor libraries through PyTorch, and Triton kernels written here.

Prints one JSON line per case: name, shape, milliseconds (median, events, rotated inputs), and the rate.
Rates count the fewest bytes (each input once, each output once) or 2*M*N*K operations.
"""
import json, os, sys, time
import torch, triton, triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

torch.manual_seed(0)
dev = "cuda"


def bench(fn, reps=None):
    return triton.testing.do_bench(fn, warmup=60, rep=250, return_mode="median")


def emit(kind, impl, shape, ms, flops=None, nbytes=None, err=None):
    row = dict(kind=kind, impl=impl, shape=shape, ms=round(ms, 5))
    if flops: row["tflops"] = round(flops / ms / 1e9, 1)
    if nbytes: row["tbps"] = round(nbytes / ms / 1e9, 3)
    if err is not None: row["err"] = float(f"{err:.2e}")
    print(json.dumps(row), flush=True)
    with open(os.path.join(os.environ.get("OUT", "."), "peers.jsonl"), "a") as out:
        out.write(json.dumps(row) + "\n")


def guard(f):
    try:
        f()
    except Exception as e:
        print(json.dumps(dict(failed=f.__name__, why=str(e)[:300])), flush=True)


# ---------------------------------------------------------------- Triton kernels
@triton.jit
def t_add(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    m = i < n
    tl.store(z + i, tl.load(x + i, m) + tl.load(y + i, m), m)


@triton.jit
def t_softmax(x, y, sx, n, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    v = tl.load(x + r * sx + c, c < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + r * sx + c, (e / tl.sum(e, 0)).to(y.dtype.element_ty), c < n)


@triton.jit
def t_layernorm(x, w, b, y, sx, n, eps, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    m = c < n
    v = tl.load(x + r * sx + c, m, other=0.0).to(tl.float32)
    mu = tl.sum(v, 0) / n
    d = tl.where(m, v - mu, 0.0)
    var = tl.sum(d * d, 0) / n
    o = d * tl.rsqrt(var + eps) * tl.load(w + c, m).to(tl.float32) + tl.load(b + c, m).to(tl.float32)
    tl.store(y + r * sx + c, o.to(y.dtype.element_ty), m)


@triton.jit
def t_rmsnorm(x, w, y, sx, n, eps, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B)
    m = c < n
    v = tl.load(x + r * sx + c, m, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    tl.store(y + r * sx + c, (v * scale * tl.load(w + c, m).to(tl.float32)).to(y.dtype.element_ty), m)


@triton.jit
def t_transpose(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    v = tl.load(x + i[:, None] * N + j[None, :])
    tl.store(y + j[:, None] * M + i[None, :], tl.trans(v))


def mm_configs(ws=False):
    cs = []
    for bm, bn, bk, s, w in [(128, 256, 64, 3, 8), (128, 256, 64, 4, 8), (128, 128, 64, 4, 4), (128, 128, 64, 4, 8),
                             (64, 256, 64, 4, 4), (128, 64, 64, 4, 4), (64, 128, 64, 5, 4), (64, 64, 64, 5, 4),
                             (128, 256, 128, 3, 8), (128, 128, 128, 3, 8)]:
        cs.append(triton.Config(dict(BM=bm, BN=bn, BK=bk, G=8), num_stages=s, num_warps=w))
    return cs


@triton.autotune(mm_configs(), key=["M", "N", "K"])
@triton.jit
def t_mm(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN)
    g = pid // (G * nn)
    gs = min(nm - g * G, G)
    pm = g * G + (pid % (G * nn)) % gs
    pn = (pid % (G * nn)) // gs
    i = (pm * BM + tl.arange(0, BM)) % M
    j = (pn * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    pa = a + i[:, None] * sa + k[None, :]
    pb = b + k[:, None] * sb + j[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for kk in range(0, K, BK):
        acc = tl.dot(tl.load(pa, mask=k[None, :] < K - kk, other=0.0), tl.load(pb, mask=k[:, None] < K - kk, other=0.0), acc)
        pa += BK; pb += BK * sb
    i = pm * BM + tl.arange(0, BM); j = pn * BN + tl.arange(0, BN)
    tl.store(c + i[:, None] * sc + j[None, :], acc.to(c.dtype.element_ty), (i[:, None] < M) & (j[None, :] < N))


def set_blocks(nargs):
    nargs["a"].block_shape = [nargs["BM"], nargs["BK"]]
    nargs["b"].block_shape = [nargs["BK"], nargs["BN"]]
    nargs["c"].block_shape = [nargs["BM"], nargs["BN"]]


def tma_configs():
    cs = []
    for bm, bn, bk, s, w in [(128, 256, 64, 3, 8), (128, 256, 64, 4, 8), (128, 128, 64, 4, 4), (128, 128, 64, 4, 8), (128, 128, 128, 3, 8)]:
        cs.append(triton.Config(dict(BM=bm, BN=bn, BK=bk, G=8), num_stages=s, num_warps=w, pre_hook=set_blocks))
    return cs


@triton.autotune(tma_configs(), key=["M", "N", "K"])
@triton.jit
def t_mm_tma(a, b, c, M, N, K, NSM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), nm * nn, NSM, flatten=True):
        g = t // (G * nn)
        gs = min(nm - g * G, G)
        pm = g * G + (t % (G * nn)) % gs
        pn = (t % (G * nn)) // gs
        acc = tl.zeros((BM, BN), tl.float32)
        for kk in range(0, tl.cdiv(K, BK)):
            acc = tl.dot(a.load([pm * BM, kk * BK]), b.load([kk * BK, pn * BN]), acc)
        c.store([pm * BM, pn * BN], acc.to(c.dtype))


@triton.autotune([triton.Config(dict(BM=bm, BN=bn), num_stages=s, num_warps=w)
                  for bm in (64, 128) for bn in (64, 128) for s in (2, 3) for w in (4, 8)], key=["T", "D", "CAUSAL"])
@triton.jit
def t_attn(q, k, v, o, T, scale, D: tl.constexpr, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    qb = tl.program_id(0); bh = tl.program_id(1).to(tl.int64)
    off = bh * T * D
    i = qb * BM + tl.arange(0, BM); d = tl.arange(0, D); j = tl.arange(0, BN)
    Q = tl.load(q + off + i[:, None] * D + d[None, :])
    m = tl.full((BM,), -float("inf"), tl.float32); l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    hi = (qb + 1) * BM if CAUSAL else T
    s2 = scale * 1.44269504
    for jj in range(0, hi, BN):
        K_ = tl.load(k + off + (jj + j)[None, :] * D + d[:, None])
        S = tl.dot(Q, K_) * s2
        if CAUSAL:
            S = tl.where(i[:, None] >= (jj + j)[None, :], S, -float("inf"))
        mn = tl.maximum(m, tl.max(S, 1))
        P = tl.exp2(S - mn[:, None]); al = tl.exp2(m - mn)
        l = l * al + tl.sum(P, 1); m = mn
        V_ = tl.load(v + off + (jj + j)[:, None] * D + d[None, :])
        acc = tl.dot(P.to(V_.dtype), V_, acc * al[:, None])
    tl.store(o + off + i[:, None] * D + d[None, :], (acc / l[:, None]).to(o.dtype.element_ty))


# ---------------------------------------------------------------- cases
def copy():
    x = torch.empty(1 << 31, dtype=torch.uint8, device=dev).random_(); y = torch.empty_like(x)
    emit("copy", "torch", [x.numel()], bench(lambda: y.copy_(x)), nbytes=2 * x.numel())


def add():
    for n in (1 << 20, 1 << 24, 1 << 28):
        x = torch.randn(n, device=dev); y = torch.randn(n, device=dev); z = torch.empty_like(x)
        emit("add_f32", "torch", [n], bench(lambda: torch.add(x, y, out=z)), nbytes=12 * n)
        best = min((bench(lambda: t_add[(triton.cdiv(n, B),)](x, y, z, n, B=B)), B) for B in (1024, 2048, 4096))
        emit("add_f32", f"triton B={best[1]}", [n], best[0], nbytes=12 * n)


def softmax():
    for n in (256, 1000, 1024, 4096, 8192, 16384, 32768):
        r = max(4096, (1 << 27) // n)
        x = torch.randn(r, n, device=dev, dtype=torch.bfloat16); y = torch.empty_like(x)
        emit("softmax_bf16", "torch", [r, n], bench(lambda: torch.softmax(x, 1)), nbytes=4 * r * n)
        B = triton.next_power_of_2(n)
        best = min((bench(lambda: t_softmax[(r,)](x, y, n, n, B=B, num_warps=w)), w) for w in (1, 2, 4, 8, 16))
        emit("softmax_bf16", f"triton w={best[1]}", [r, n], best[0], nbytes=4 * r * n)


def layernorm():
    for n in (1024, 4096, 8192, 16384):
        r = max(4096, (1 << 27) // n)
        x = torch.randn(r, n, device=dev, dtype=torch.bfloat16); y = torch.empty_like(x)
        w = torch.randn(n, device=dev, dtype=torch.bfloat16); b = torch.randn(n, device=dev, dtype=torch.bfloat16)
        emit("layernorm_bf16", "torch", [r, n], bench(lambda: torch.nn.functional.layer_norm(x, (n,), w, b)), nbytes=4 * r * n)
        B = triton.next_power_of_2(n)
        best = min((bench(lambda: t_layernorm[(r,)](x, w, b, y, n, n, 1e-5, B=B, num_warps=k)), k) for k in (1, 2, 4, 8, 16))
        emit("layernorm_bf16", f"triton w={best[1]}", [r, n], best[0], nbytes=4 * r * n)


def transpose():
    for n in (4096, 16384):
        x = torch.randn(n, n, device=dev, dtype=torch.float32); y = torch.empty_like(x)
        emit("transpose_f32", "torch", [n, n], bench(lambda: y.copy_(x.t())), nbytes=8 * n * n)
        best = min((bench(lambda: t_transpose[(n // a, n // b)](x, y, n, n, BM=a, BN=b)), a, b) for a in (32, 64, 128) for b in (32, 64, 128))
        emit("transpose_f32", f"triton {best[1:]}", [n, n], best[0], nbytes=8 * n * n)


def reduce():
    for r, n in ((1 << 14, 1 << 14), (1 << 20, 256), (256, 1 << 20)):
        x = torch.randn(r, n, device=dev)
        emit("rowsum_f32", "torch", [r, n], bench(lambda: x.sum(1)), nbytes=4 * r * n)
        emit("colsum_f32", "torch", [r, n], bench(lambda: x.sum(0)), nbytes=4 * r * n)


def gemm():
    shapes = [(s, s, s) for s in (512, 1024, 2048, 4096, 8192, 16384)] + [(16, 8192, 8192), (128, 8192, 8192), (4096, 14336, 4096), (4096, 4096, 14336), (1000, 1000, 1000), (8192, 8192, 512)]
    for M, N, K in shapes:
        for dt, name in ((torch.bfloat16, "bf16"), (torch.float16, "f16")):
            if name == "f16" and (M, N, K) not in ((4096,) * 3, (8192,) * 3): continue
            a = torch.randn(M, K, device=dev, dtype=dt); b = torch.randn(K, N, device=dev, dtype=dt); bt = b.t().contiguous().t(); c = torch.empty(M, N, device=dev, dtype=dt)
            ref = a.float() @ b.float() if M * N <= 1 << 26 else None
            f = 2.0 * M * N * K
            emit(f"gemm_{name}", "cublas nn", [M, N, K], bench(lambda: torch.mm(a, b, out=c)), flops=f)
            emit(f"gemm_{name}", "cublas nt", [M, N, K], bench(lambda: torch.mm(a, bt, out=c)), flops=f)
            grid = lambda m: (triton.cdiv(M, m["BM"]) * triton.cdiv(N, m["BN"]),)
            c.zero_()
            run = lambda: t_mm[grid](a, b, c, M, N, K, a.stride(0), b.stride(0), c.stride(0))
            run()
            err = ((c.float() - ref).norm() / ref.norm()).item() if ref is not None else None
            emit(f"gemm_{name}", "triton ptr " + str(t_mm.best_config)[:60], [M, N, K], bench(run), flops=f, err=err)
            if K % 8 == 0 and N % 8 == 0 and M >= 512:
                d = [TensorDescriptor.from_tensor(t, [1, 1]) for t in (a, b, c)]
                grid2 = lambda m: (min(132, triton.cdiv(M, m["BM"]) * triton.cdiv(N, m["BN"])),)
                c.zero_()
                run2 = lambda: t_mm_tma[grid2](d[0], d[1], d[2], M, N, K, NSM=132)
                run2()
                err = ((c.float() - ref).norm() / ref.norm()).item() if ref is not None else None
                emit(f"gemm_{name}", "triton tma persistent " + str(t_mm_tma.best_config)[:60], [M, N, K], bench(run2), flops=f, err=err)


def gemm_other():
    for s in (4096, 8192):
        f = 2.0 * s ** 3
        a = torch.randn(s, s, device=dev).to(torch.float8_e4m3fn); b = torch.randn(s, s, device=dev).to(torch.float8_e4m3fn).t()
        one = torch.ones((), device=dev)
        emit("gemm_e4m3", "cublas scaled_mm", [s, s, s], bench(lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16)), flops=f)
        emit("gemm_e4m3", "cublas scaled_mm fastacc", [s, s, s], bench(lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16, use_fast_accum=True)), flops=f)
        x = torch.randn(s, s, device=dev); y = torch.randn(s, s, device=dev)
        torch.backends.cuda.matmul.allow_tf32 = True
        emit("gemm_tf32", "cublas", [s, s, s], bench(lambda: x @ y), flops=f)
        torch.backends.cuda.matmul.allow_tf32 = False
        emit("gemm_f32", "cublas", [s, s, s], bench(lambda: x @ y), flops=f)
        i = torch.randint(-8, 8, (s, s), device=dev, dtype=torch.int8)
        emit("gemm_s8", "cublas int_mm", [s, s, s], bench(lambda: torch._int_mm(i, i.t())), flops=f)
        if s == 4096:
            xd = x.double(); emit("gemm_f64", "cublas", [s, s, s], bench(lambda: xd @ xd), flops=f)


def attention():
    from torch.nn.attention import sdpa_kernel, SDPBackend
    for D, H, B, T in ((64, 32, 4, 4096), (128, 16, 4, 4096), (128, 16, 2, 8192), (128, 16, 1, 16384), (128, 16, 16, 1024)):
        q, k, v = (torch.randn(B, H, T, D, device=dev, dtype=torch.bfloat16) for _ in range(3))
        for causal in (False, True):
            f = 4.0 * B * H * T * T * D * (0.5 if causal else 1)
            for be in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION):
                try:
                    with sdpa_kernel(be):
                        ms = bench(lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal))
                    emit(f"attn_bf16{'_causal' if causal else ''}", be.name, [B, H, T, D], ms, flops=f)
                except Exception as e:
                    print("skip", be, str(e)[:100])
            o = torch.empty_like(q)
            run = lambda: t_attn[lambda m: (triton.cdiv(T, m["BM"]), B * H)](q, k, v, o, T, D ** -0.5, D=D, CAUSAL=causal)
            run()
            ref = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
            err = ((o.float() - ref.float()).norm() / ref.float().norm()).item()
            emit(f"attn_bf16{'_causal' if causal else ''}", "triton " + str(t_attn.best_config)[:60], [B, H, T, D], bench(run), flops=f, err=err)


if __name__ == "__main__":
    print(torch.__version__, triton.__version__, torch.cuda.get_device_name(), torch.version.cuda)
    for name in (sys.argv[1:] or "copy add softmax layernorm transpose reduce gemm_other gemm attention".split()):
        t = time.time(); guard(globals()[name]); print(f"# {name} {time.time()-t:.1f} s", flush=True)
