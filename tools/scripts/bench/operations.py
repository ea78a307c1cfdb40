#!/usr/bin/env python3
#===- operations.py - plain kernels of one operation beside PyTorch - Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""operations.py [--no-compile] [--rounds=16] [case ...]

Each row: kernels of test/Examples as they stand, PyTorch eager and torch.compile (of
those cases where it makes a difference), all in this process, on N(0,1) data, as
cases.py measures. Rates count each input and each output once (of products: operations).
"""
import torch
import torch.nn.functional as F

from cases import bf16, compiled, empty, f32, main, randn, report
from tile_kernel import TileKernel

f64 = torch.float64


#===--- rows -------------------------------------------------------------------===#

def cross_entropy():
    r, c = 8192, 128256
    x, target, loss = randn(r, c), torch.randint(0, c, (r,), device="cuda"), empty(r, dtype=f32)
    eager = lambda: F.cross_entropy(x, target, reduction="none")
    fused = compiled(lambda x, t: F.cross_entropy(x.float(), t, reduction="none"), x, target)
    expected = F.cross_entropy(x[:256].double(), target[:256], reduction="none")
    launch = TileKernel("cross_entropy").prepare(x, target, loss)
    report("cross-entropy bf16", [r, c], 2 * r * c, launch, [(loss, expected)], eager, fused)


def rmsnorm():
    for r, c in ((131072, 1024), (32768, 4096), (8192, 16384)):
        x, w, y = randn(r, c), randn(c), empty(r, c)
        norm = lambda x, w: F.rms_norm(x, (c,), w, 1e-5)
        launch = TileKernel("rmsnorm", COLS=c).prepare(x, w, y, 1e-5)
        report("rmsnorm bf16", [r, c], 4 * r * c, launch, [(y, norm(x[:512].double(), w.double()))],
               lambda: norm(x, w), compiled(norm, x, w))


def layernorm_backward():
    for r, c in ((32768, 4096), (131072, 1024)):
        x, w, b, dy, dx = randn(r, c), randn(c), randn(c), randn(r, c), empty(r, c)
        parts = torch.cuda.get_device_properties(0).multi_processor_count * (8192 // c)
        parts_w, parts_b, dw, db = empty(parts, c, dtype=f32), empty(parts, c, dtype=f32), empty(c), empty(c)
        _, mean, rstd = torch.ops.aten.native_layer_norm(x, [c], w, b, 1e-5)
        rows = TileKernel("layernorm_backward", COLS=c).prepare(
            x, w, mean.view(-1), rstd.view(-1), dy, dx, parts_w, parts_b)
        sums = TileKernel("layernorm_backward", kernel="layernorm_backward_sums").prepare(parts_w, parts_b, dw, db)
        backward = lambda x, w, b, dy, mean, rstd: torch.ops.aten.native_layer_norm_backward(
            dy, x, [c], mean, rstd, w, b, [True, True, True])
        small = [t.double() for t in (x[:512], w, b, dy[:512])]
        statistics = torch.ops.aten.native_layer_norm(small[0], [c], small[1], small[2], 1e-5)[1:]
        normal = F.layer_norm(x.double(), (c,), eps=1e-5)
        outputs = [(dx, backward(*small, *statistics)[0]), (dw, (normal * dy).sum(0)), (db, dy.sum(0, dtype=f64))]
        del normal
        report("layernorm backward bf16", [r, c], 6 * r * c, lambda: (rows(), sums()), outputs,
               lambda: backward(x, w, b, dy, mean, rstd), compiled(backward, x, w, b, dy, mean, rstd))


def cumsum():
    r, c = 8192, 16384
    x, y = randn(r, c, dtype=f32), empty(r, c, dtype=f32)
    launch = TileKernel("cumsum", COLS=c).prepare(x, y)
    report("cumsum f32", [r, c], 8 * r * c, launch, [(y, x[:256].double().cumsum(1))], lambda: torch.cumsum(x, 1, out=y))


def argmax():
    r, c = 8192, 16384
    x, y = randn(r, c, dtype=f32), empty(r, dtype=torch.int32)
    launch = TileKernel("argmax", COLS=c).prepare(x, y)
    report("argmax f32", [r, c], 4 * r * c, launch, [(y, x.argmax(1))], lambda: x.argmax(1))


def topk():
    r, c = 8192, 16384
    x, values, places = randn(r, c, dtype=f32), empty(r, 8, dtype=f32), empty(r, 8, dtype=torch.int32)
    launch = TileKernel("topk", COLS=c).prepare(x, values, places)
    top, where = x.topk(8, 1)
    report("top-8 f32", [r, c], 4 * r * c, launch, [(values, top), (places, where)], lambda: x.topk(8, 1))


def sort():
    r, c = 8192, 1024
    x, y = randn(r, c, dtype=f32), empty(r, c, dtype=f32)
    launch = TileKernel("sort").prepare(x, y)
    report("sort f32", [r, c], 16 * r * c, launch, [(y, x.sort(1)[0])], lambda: x.sort(1))


#===--- elements ---------------------------------------------------------------===#

def swiglu():
    r, c = 8192, 14336
    g, u, y = randn(r, c), randn(r, c), empty(r, c)
    fn = lambda g, u: F.silu(g) * u
    launch = TileKernel("swiglu").prepare(g, u, y)
    report("swiglu bf16", [r, c], 6 * r * c, launch, [(y, fn(g[:512].double(), u[:512].double()))],
           lambda: fn(g, u), compiled(fn, g, u))


def dropout():
    n = 1 << 28
    x, y, dx = randn(n), empty(n), empty(n)
    kernel = TileKernel("dropout")
    launch = kernel.prepare(x, y, 0.25, 1234567)
    kernel.prepare(x, dx, 0.25, 1234567)()
    launch()
    share = ((y == 0).sum() / n).item()
    assert torch.equal(y, dx) and abs(share - 0.25) < 1e-3, f"{share} dropped"
    expected = torch.where(y == 0, 0, x.double() / 0.75)
    drop = lambda x: F.dropout(x, 0.25)
    report("dropout bf16", [n], 4 * n, launch, [(y, expected)], lambda: drop(x), compiled(drop, x))


def embedding():
    n, d = 65536, 4096
    table, ids, y = randn(128256, d), torch.randint(0, 128256, (n,), device="cuda", dtype=torch.int32), empty(n, d)
    launch = TileKernel("embedding").prepare(table, ids, y)
    report("embedding bf16", [n, d], 4 * n * d, launch, [(y, table[ids[:512]])], lambda: F.embedding(ids, table))


def histogram():
    n = 1 << 26
    x = torch.randint(0, 256, (n,), device="cuda", dtype=torch.int32)
    h = empty(256, dtype=torch.int32)
    count = TileKernel("histogram", kernel="histogram_blocks").prepare(x, h, 1056)
    launch = lambda: (h.zero_(), count())
    report("histogram of 256, i32", [n], 4 * n, launch, [(h, torch.bincount(x, minlength=256))],
           lambda: torch.bincount(x, minlength=256))


#===--- products ---------------------------------------------------------------===#

def matmul_swiglu():
    for m, n, k in ((4096, 4096, 4096), (4096, 14336, 4096)):
        x, g, u, y = randn(m, k), randn(k, n) / k**0.5, randn(k, n) / k**0.5, empty(m, n)
        fn = lambda x, g, u: F.silu(x @ g) * (x @ u)
        launch = TileKernel("matmul_swiglu", BM=128, BN=128, BK=64).prepare(x, g, u, y)
        report("matmul swiglu bf16", [m, n, k], 4 * m * n * k, launch,
               [(y, fn(x[:256].double(), g.double(), u.double()))], lambda: fn(x, g, u), compiled(fn, x, g, u), unit="TFLOP/s")


def matmul_f8_scaled():
    """Beside a product of the same values in bf16, which is what PyTorch has for such scales."""
    for m, n, k in [(4096, 4096, 4096), (8192, 8192, 4096)]:
        a, b = (randn(rows, k).to(torch.float8_e4m3fn) for rows in (m, n))
        row, block = torch.rand(k // 128, m, device="cuda") + 0.5, torch.rand(n // 128, k // 128, device="cuda") + 0.5
        wide_a = (a.float().view(m, -1, 128) * row.t()[:, :, None]).view(m, k)
        wide_b = (b.float().view(n // 128, 128, -1, 128) * block[:, None, :, None]).view(n, k)
        c, a16, b16 = empty(m, n), wide_a.to(bf16), wide_b.to(bf16)
        launch = TileKernel("matmul_f8_scaled").prepare(a, b, row, block, c)
        report("matmul_f8_scaled", [m, n, k], 2 * m * n * k, launch, [(c, wide_a[:128].double() @ wide_b.double().t())],
               lambda: a16 @ b16.t(), unit="TFLOP/s")


def attention_backward():
    for b, h, s, d, causal in ((4, 16, 4096, 128, False), (4, 16, 4096, 128, True), (4, 32, 4096, 64, False)):
        q, k, v, do = (randn(b, h, s, d) for _ in range(4))
        o, dq, dk, dv = (empty(b, h, s, d) for _ in range(4))
        lse, delta = (empty(b, h, s, dtype=f32) for _ in range(2))
        parts = empty(b, h, s, d, dtype=f32)
        make = lambda name, *args, **tiles: TileKernel("attention_backward", kernel=name, D=d, **tiles).prepare(*args)
        switch, scale = dict(CAUSAL=str(causal).lower()), d**-0.5
        make("attention_forward", q, k, v, o, lse, scale, BM=64, BN=64, **switch)()
        one = [make("attention_prepare", o, do, delta, parts),
               make("attention_gradients", q, k, v, do, lse, delta, parts, dk, dv, scale, BM=64, BN=128, **switch),
               make("attention_finish", parts, dq, scale)]
        two = [make("attention_delta", o, do, delta),
               make("attention_dq", q, k, v, do, lse, delta, dq, scale, BM=128, BN=128, **switch),
               make("attention_dkdv", q, k, v, do, lse, delta, dk, dv, scale, BM=64, BN=128, **switch)]
        inputs = [t[0, 0].double().requires_grad_() for t in (q, k, v)]
        F.scaled_dot_product_attention(*(t[None, None] for t in inputs), is_causal=causal)[0, 0].backward(do[0, 0].double())
        outputs = [(out.view(b * h * s, d), t.grad) for out, t in zip((dq, dk, dv), inputs)]
        leaves = [t.detach().requires_grad_() for t in (q, k, v)]
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
            result = F.scaled_dot_product_attention(*leaves, is_causal=causal)
        eager = lambda: torch.autograd.grad(result, leaves, do, retain_graph=True)
        for name, steps in (("attention backward", one), ("attention backward, same bits", two)):
            report(name + (" causal" if causal else ""), [b, h, s, d], 10 * b * h * s * s * d // (2 if causal else 1),
                   lambda: [step() for step in steps], outputs, eager, unit="TFLOP/s", repeats=steps is two)


def flash_decoding():
    b, h, g, n, d, part = 16, 8, 8, 8192, 128, 2048
    q, k, v, o = randn(b, h, g, d), randn(b, h, n, d), randn(b, h, n, d), empty(b, h, g, d)
    parts, lse = empty(n // part, b, h, g, d, dtype=f32), empty(n // part, b, h, g, dtype=f32)
    first = TileKernel("flash_decoding", PART=part, BN=128).prepare(q, k, v, parts, lse, d**-0.5)
    second = TileKernel("flash_decoding", kernel="flash_decoding_sum").prepare(parts, lse, o)
    attention = F.scaled_dot_product_attention
    report("flash decoding bf16", [b, h, g, n, d], 4 * k.numel(), lambda: (first(), second()),
           [(o, attention(q[:2].double(), k[:2].double(), v[:2].double()))], lambda: attention(q, k, v))


def paged_attention():
    b, h, g, n, d = 16, 8, 8, 8192, 128
    for p in (16, 64):
        q, k, v, o = randn(b, h, g, d), randn(b * n // p, h, p, d), randn(b * n // p, h, p, d), empty(b, h, g, d)
        table = torch.randperm(b * n // p, device="cuda").view(b, -1).to(torch.int32)
        lens = torch.full((b,), n, device="cuda", dtype=torch.int32)
        together = lambda pages, rows: pages[table[:rows].long()].transpose(1, 2).reshape(rows, h, n, d)
        attention, keys, values = F.scaled_dot_product_attention, together(k, b), together(v, b)
        launch = TileKernel("paged_attention", P=p).prepare(q, k, v, table, lens, o, d**-0.5)
        report(f"paged attention, {p}", [b, h, g, n, d], 4 * k.numel(), launch,
               [(o, attention(q[:2].double(), together(k, 2).double(), together(v, 2).double()))],
               lambda: attention(q, keys, values))  # of keys that lie together


def grouped_gemm():
    tokens, n, k, e = 8192, 14336, 4096, 8
    x, w, y = randn(tokens, k), randn(e, k, n) / 64, empty(tokens, n)
    rows = torch.randperm(tokens, device="cuda").to(torch.int32)
    together = x.view(e, tokens // e, k)  # as many rows for each expert
    expected = x[rows[:64].long()].double() @ w[0].double()
    for bm in (128, 64):
        blocks = tokens // bm
        experts = (torch.arange(blocks, device="cuda") * e // blocks).to(torch.int32)
        launch = TileKernel("grouped_gemm", BM=bm).prepare(x, w, rows, experts, y)
        report(f"rows of experts, {bm}", [tokens, n, k], 2 * tokens * n * k, launch, [(y, expected)],
               lambda: torch.bmm(together, w), unit="TFLOP/s")  # of rows that lie together


def matmul_int4():
    n, k, group = 8192, 8192, 64
    weights = torch.randint(0, 256, (k // 2, n), device="cuda", dtype=torch.uint8)
    zero = torch.randint(0, 16, (k // group, n), device="cuda", dtype=torch.uint8)
    scale = (torch.rand(k // group, n, device="cuda") * 0.01).half()
    pairs = torch.stack([weights & 15, weights >> 4], 1).view(k, n).half()
    whole = (pairs - zero.half().repeat_interleave(group, 0)) * scale.repeat_interleave(group, 0)
    for m, bm, bn in ((16, 16, 128), (256, 128, 128), (4096, 128, 128)):
        a, c = randn(m, k, dtype=torch.half), empty(m, n, dtype=torch.half)
        launch = TileKernel("matmul_int4", BM=bm, BN=bn).prepare(a, weights, scale, zero, c)
        report("matmul int4 f16", [m, n, k], 2 * m * n * k, launch, [(c, a[:16].double() @ whole.double())],
               lambda: torch.mm(a, whole), unit="TFLOP/s")  # of weights of 16 bits


def conv2d():
    torch.backends.cudnn.benchmark = True
    for n, s, c, k, tile, parts in ((32, 56, 64, 64, (2, 8, 8), 11), (32, 28, 128, 128, (4, 4, 4), 11), (32, 14, 256, 256, (16, 2, 2), 2)):
        x, f, y = randn(n, s, s, c, dtype=torch.half), randn(3, 3, c, k, dtype=torch.half) / 8, empty(n, s, s, k, dtype=torch.half)
        images, filters = x.permute(0, 3, 1, 2), f.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
        expected = F.conv2d(images[:1].double(), filters.double(), padding=1).permute(0, 2, 3, 1)
        bi, by, bx = tile
        launch = TileKernel("conv2d", BI=bi, BY=by, BX=bx, BN=min(k, 128), BC=64).prepare(x, f, y)
        report("conv 3x3 f16", [n, s, s, c, k], 18 * n * s * s * c * k, launch, [(y, expected)],
               lambda: F.conv2d(images, filters, padding=1), unit="TFLOP/s")
        conv2d_filters(x, images, filters, k, parts)


def conv2d_filters(x, images, filters, k, parts):
    n, s, _, c = x.shape
    dy, df = randn(n, s, s, k, dtype=torch.half), empty(3, 3, c, k, dtype=f32)
    results = dy.permute(0, 3, 1, 2)
    backward = lambda x, dy, f: torch.ops.aten.convolution_backward(dy, x, f, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [False, True, False])[1]
    expected = backward(images.float(), results.float(), filters.float()).permute(2, 3, 1, 0)
    bi, size = (16, 2) if s == 14 else (4, 4) if s == 28 else (1, 8)
    kernel = TileKernel("conv2d", kernel="conv2d_filters", BI=bi, BY=size, BX=size, BC=min(c, 128), BK=min(k, 128)).prepare(x, dy, df, parts)
    report("conv 3x3, filters", [n, s, s, c, k], 18 * n * s * s * c * k, lambda: (df.zero_(), kernel()), [(df, expected)],
           lambda: backward(images, results, filters), unit="TFLOP/s", repeats=False)


def depthwise():
    torch.backends.cudnn.benchmark = True
    for n, s, c in ((32, 56, 256), (32, 112, 64)):
        x, f, y = randn(n, s, s, c, dtype=torch.half), randn(3, 3, c, dtype=torch.half), empty(n, s, s, c, dtype=torch.half)
        images, filters = x.permute(0, 3, 1, 2), f.permute(2, 0, 1)[:, None].contiguous(memory_format=torch.channels_last)
        expected = F.conv2d(images[:1].float(), filters.float(), padding=1, groups=c).permute(0, 2, 3, 1)
        report("depthwise 3x3 f16", [n, s, s, c], 4 * x.numel(), TileKernel("depthwise").prepare(x, f, y), [(y, expected)],
               lambda: F.conv2d(images, filters, padding=1, groups=c))


def rope_pairs():
    b, h, t, d = 4, 32, 4096, 128
    x, y, angle = randn(b, h, t, d), empty(b, h, t, d), torch.rand(t, d // 2, device="cuda") * 6.28
    c, s = angle.cos(), angle.sin()

    def turn(x, c, s):
        re, im = x.float().view(*x.shape[:-1], -1, 2).unbind(-1)
        return torch.stack([re * c - im * s, re * s + im * c], -1).flatten(-2).to(x.dtype)
    launch = TileKernel("rope", kernel="rope_pairs").prepare(x, c, s, y)
    report("rope, neighbours bf16", [b, h, t, d], 4 * x.numel(), launch, [(y, turn(x[:1], c, s))], lambda: turn(x, c, s),
           compiled(turn, x, c, s))


def stencil():
    h = w = 16384
    x, y = randn(h, w, dtype=f32), empty(h, w, dtype=f32)
    cross = torch.tensor([[0, 0.25, 0], [0.25, 0, 0.25], [0, 0.25, 0]], device="cuda")[None, None]
    convolve = lambda x: F.conv2d(x[None, None], cross.to(x.dtype), padding=1)[0, 0]
    launch = TileKernel("stencil").prepare(x, y)
    report("stencil f32", [h, w], 8 * h * w, launch, [(y, convolve(x[:65].double())[:64])], lambda: convolve(x))

    def six(x):
        p = F.pad(x, (1,) * 6)
        inner = slice(1, -1)
        return (p[:-2, inner, inner] + p[2:, inner, inner] + p[inner, :-2, inner] + p[inner, 2:, inner]
                + p[inner, inner, :-2] + p[inner, inner, 2:]) / 6
    d = 512
    x, y = randn(d, d, d, dtype=f32), empty(d, d, d, dtype=f32)
    report("stencil 3-D f32", [d, d, d], 8 * d**3, TileKernel("stencil", kernel="stencil_3d").prepare(x, y),
           [(y, six(x[:9].double())[:8])], lambda: six(x), compiled(six, x))


def histogram_2d():
    n, bins, blocks = 1 << 26, 64, 264
    u, v = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    h = torch.zeros(bins, bins, device="cuda", dtype=torch.int32)
    count = lambda: torch.bincount((u * bins).int() * bins + (v * bins).int(), minlength=bins * bins)
    kernel = TileKernel("histogram", kernel="histogram_2d").prepare(u, v, h, blocks)
    report("histogram of 64 x 64, f32", [n], 8 * n, lambda: (h.zero_(), kernel()), [(h, count().view(bins, bins))], count)


def prefix_sum():
    n, block = 1 << 28, 8192
    x, y = torch.randint(-9, 10, (n,), device="cuda", dtype=torch.int32), empty(n, dtype=torch.int32)
    states, ticket = torch.zeros(n // block, device="cuda", dtype=torch.int64), torch.zeros(1, device="cuda", dtype=torch.int32)
    kernel = TileKernel("prefix_sum", BLOCK=block).prepare(x, y, states, ticket)
    report("prefix sum i32", [n], 8 * n, lambda: (states.zero_(), ticket.zero_(), kernel()), [(y, torch.cumsum(x, 0))],
           lambda: torch.cumsum(x, 0, dtype=torch.int32))


def spmv():
    rows, per = 1 << 20, 32
    starts = (torch.arange(rows + 1, device="cuda") * per).to(torch.int32)
    columns = torch.randint(0, rows, (rows, per), device="cuda", dtype=torch.int32).sort(1).values.view(-1).contiguous()
    values, x, y = randn(rows * per, dtype=f32), randn(rows, dtype=f32), empty(rows, dtype=f32)
    a = torch.sparse_csr_tensor(starts, columns, values, (rows, rows))
    launch = TileKernel("spmv", LANES=32).prepare(starts, columns, values, x, y)
    report("spmv f32", [rows, per], 8 * rows * per, launch, [(y, (a @ x[:, None])[:, 0])], lambda: a @ x[:, None])


CASES = [cross_entropy, rmsnorm, layernorm_backward, cumsum, argmax, topk, sort, swiglu, dropout, embedding, histogram,
         matmul_swiglu, matmul_f8_scaled, attention_backward, flash_decoding, paged_attention, grouped_gemm, matmul_int4,
         conv2d, depthwise, stencil, histogram_2d, rope_pairs, prefix_sum, spmv]


if __name__ == "__main__":
    main(CASES)
