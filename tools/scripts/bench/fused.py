#!/usr/bin/env python3
#===- fused.py - kernels that only move memory beside torch.compile -*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""fused.py [--no-compile] [--rounds=16] [case ...]

What training and inference do between products: gradients of softmax, norms and losses,
an optimizer, quantisation, masks, rotary positions, orders of dims. The kernels of
fused.tile and test/Examples beside PyTorch and what torch.compile makes of the same
lines, as cases.py measures. Rates count each input and each output once.
"""
import os

import torch
import torch.nn.functional as F

from cases import bf16, compiled, empty, f16, f32, main, randn, report
from tile_kernel import TileKernel

f64, i8, f8 = torch.float64, torch.int8, torch.float8_e4m3fn
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fused.tile")


def kernel(name, **defines):
    return TileKernel(FILE, kernel=name, **defines)


def row(name, shape, amount, launch, outputs, function, *args):
    """One row: ours beside `function` of `args`, eager and compiled."""
    torch._dynamo.reset()
    report(name, list(shape), amount, launch, outputs, lambda: function(*args), compiled(function, *args))


def in_place(name, shape, amount, launch, arrays, function):
    """The same of what changes `arrays`: checked once, on copies, and not on poison."""
    ours, theirs = ([a.clone() for a in arrays] for _ in range(2))
    launch(*ours)()
    function(*theirs)
    for number, (a, b) in enumerate(zip(ours, theirs)):
        error = ((a.double() - b.double()).norm() / b.double().norm()).item()
        assert error < 1e-2, f"{name}, array {number}: error {error}"
    row(name, shape, amount, launch(*ours), [], function, *theirs)


#===--- gradients --------------------------------------------------------------===#

def softmax_backward():
    gradient = lambda y, dy: (y.float() * (dy.float() - (y.float() * dy.float()).sum(1, keepdim=True))).to(bf16)
    for r, c in ((131072, 1024), (32768, 4096)):
        y, dy, dx = torch.softmax(randn(r, c), 1), randn(r, c), empty(r, c)
        row("softmax backward", (r, c), 6 * r * c, kernel("softmax_backward", COLS=c).prepare(y, dy, dx),
            [(dx, gradient(y[:256], dy[:256]))], gradient, y, dy)


def rmsnorm_backward():
    def gradient(x, w, s, dy):
        normal, g = x.float() * s[:, None], dy.float()
        mean = (g * w.float() * normal).mean(1, keepdim=True)
        return (s[:, None] * (g * w.float() - normal * mean)).to(bf16), (g * normal).sum(0).to(bf16)
    for r, c in ((131072, 1024), (32768, 4096)):
        x, w, dy, dx, dw = randn(r, c), randn(c), randn(r, c), empty(r, c), empty(c)
        s = torch.rsqrt(x.float().square().mean(1) + 1e-5)
        parts = empty(torch.cuda.get_device_properties(0).multi_processor_count * (8192 // c), c, dtype=f32)
        rows, sums = kernel("rmsnorm_backward", COLS=c).prepare(x, w, s, dy, dx, parts), kernel("column_sums").prepare(parts, dw)
        outputs = [(dx, gradient(x[:256], w, s[:256], dy[:256])[0]), (dw, (dy.float() * x.float() * s[:, None]).sum(0, dtype=f64))]
        row("rmsnorm backward", (r, c), 6 * r * c, lambda: (rows(), sums()), outputs, gradient, x, w, s, dy)


def cross_entropy_backward():
    def gradient(x, target, lse, g):
        hot = torch.arange(x.shape[1], device="cuda")[None] == target[:, None]
        return x.copy_((torch.exp(x.float() - lse[:, None]) - hot.float()) * g[:, None])
    for r, c in ((8192, 32000), (2048, 128256)):
        x, target, g = randn(r, c), torch.randint(0, c, (r,), device="cuda"), torch.full((r,), 0.5, device="cuda")
        lse = torch.logsumexp(x.float(), 1)
        in_place("cross-entropy backward", (r, c), 4 * r * c,
                 lambda x: kernel("cross_entropy_backward").prepare(x, target, lse, g), [x], lambda x: gradient(x, target, lse, g))


def swiglu_backward():
    def gradient(g, u, dy):
        x, d, s = g.float(), dy.float(), torch.sigmoid(g.float())
        return (d * u.float() * s * (1 + x * (1 - s))).to(bf16), (d * x * s).to(bf16)
    n = 8192 * 14336
    g, u, dy, dg, du = randn(n), randn(n), randn(n), empty(n), empty(n)
    first, second = gradient(g[:1 << 20], u[:1 << 20], dy[:1 << 20])
    row("swiglu backward", (n,), 10 * n, kernel("swiglu_backward").prepare(g, u, dy, dg, du), [(dg, first), (du, second)],
        gradient, g, u, dy)


def adamw():
    n, numbers = 1 << 26, (1e-3, 0.9, 0.95, 1e-8, 0.1, 1.5, 2.5)

    def step(p, g, m, v, q):
        lr, b1, b2, eps, decay, c1, c2 = numbers
        m.mul_(b1).add_(g.float() * (1 - b1))
        v.mul_(b2).add_(g.float().square() * (1 - b2))
        p.mul_(1 - lr * decay).sub_(lr * (m * c1) / (torch.sqrt(v * c2) + eps))
        return q.copy_(p)
    arrays = [randn(n, dtype=f32), randn(n), randn(n, dtype=f32), torch.rand(n, device="cuda"), randn(n)]
    in_place("AdamW", (n,), 28 * n, lambda *arrays: kernel("adamw").prepare(*arrays, *numbers), arrays, step)


#===--- rows -------------------------------------------------------------------===#

def masks():
    r, c = 131072, 1024
    x, y, lens = randn(r, c), empty(r, c), torch.randint(1, c + 1, (r,), device="cuda", dtype=torch.int32)
    def ragged(x, lens):
        outside = torch.arange(c, device="cuda")[None] >= lens[:, None]
        return torch.softmax(x.float().masked_fill(outside, -float("inf")), 1).to(bf16)
    row("softmax of lengths", (r, c), 4 * r * c, kernel("softmax_ragged").prepare(x, lens, y), [(y, ragged(x[:256], lens[:256]))],
        ragged, x, lens)
    h, n = 64, 2048
    x, y, mask = randn(h, n, n), empty(h, n, n), torch.where(torch.rand(n, n, device="cuda") < 0.5, 0.0, -1e4).to(bf16)
    masked = lambda x, mask: torch.softmax(x.float() * 0.125 + mask.float(), -1).to(bf16)
    row("softmax of a mask", (h, n, n), 4 * x.numel(), kernel("softmax_mask", COLS=n).prepare(x, mask, y, 0.125),
        [(y, masked(x[:2], mask))], masked, x, mask)


def normalize():
    unit = lambda x: (x.float() * torch.rsqrt(x.float().square().sum(1, keepdim=True) + 1e-12)).to(bf16)
    for r, c in ((1 << 20, 128), (1 << 19, 256), (1 << 18, 768)):
        x, y = randn(r, c), empty(r, c)
        row("rows of length 1", (r, c), 4 * r * c, kernel("normalize", COLS=1 << (c - 1).bit_length()).prepare(x, y),
            [(y, unit(x[:256]))], unit, x)


def groupnorm():
    for n, c, p, block in ((64, 256, 56 * 56, 1024), (32, 128, 4096, 512)):
        x, w, b, y = randn(n, c, p, dtype=f16), randn(c, dtype=f32), randn(c, dtype=f32), empty(n, c, p, dtype=f16)
        norm = lambda x, w, b: F.group_norm(x, 32, w.to(x.dtype), b.to(x.dtype))
        launch = TileKernel("groupnorm", C=c // 32, BLOCK=block).prepare(x, w, b, y, 1e-5)
        row("group norm f16", (n, c, p), 4 * x.numel(), launch, [(y, norm(x[:2].double(), w, b))], norm, x, w, b)


def scans():
    r, c = 32768, 4096
    x, y = randn(r, c, dtype=f32), empty(r, c, dtype=f32)
    report("cummax f32", [r, c], 8 * r * c, kernel("cummax").prepare(x, y), [(y, x[:256].cummax(1)[0])], lambda: x.cummax(1))
    x, y = randn(r, c), empty(r, c)
    back = lambda x: x.flip(1).cumsum(1).flip(1)
    row("cumsum from the end", (r, c), 4 * r * c, kernel("reverse_cumsum").prepare(x, y), [(y, back(x[:256].double()))], back, x)


#===--- quantisation -----------------------------------------------------------===#

def quantize():
    def whole(x):
        scale = (x.float().abs().amax(1) / 127).clamp(min=1e-12)
        return torch.round(x.float() / scale[:, None]).to(i8), scale

    def narrow(x):
        wide = x if x.dtype == f64 else x.float()
        scale = (wide.abs().amax(1) / 448).clamp(min=1e-12)
        return (wide / scale[:, None]).to(f8), scale
    for r, c in ((65536, 4096), (16384, 8192)):
        x, scale, y, z = randn(r, c), empty(r, dtype=f32), empty(r, c, dtype=i8), empty(r, c, dtype=f8)
        row("quantize i8", (r, c), 3 * r * c, TileKernel("quantize", kernel="quantize_i8", COLS=c).prepare(x, y, scale),
            [(y, whole(x[:256])[0])], whole, x)
        launch = kernel("quantize_rows_f8", COLS=c).prepare(x, z, scale)
        launch()
        exact = narrow(x[:256].double())[0].float()  # divided by 448, where f32 is multiplied by 1 / 448
        assert (z[:256].float() - exact).norm() < 1e-2 * exact.norm(), "e4m3 differs"
        row("quantize e4m3", (r, c), 3 * r * c, launch, [], narrow, x)
    r, c = 32768, 4096
    x, scale, y = torch.randint(-127, 128, (r, c), device="cuda", dtype=i8), torch.rand(r, device="cuda"), empty(r, c)
    wide = lambda x, scale: (x.float() * scale[:, None]).to(bf16)
    row("dequantize i8", (r, c), 3 * r * c, kernel("dequantize_rows").prepare(x, scale, y), [(y, wide(x[:256], scale[:256]))],
        wide, x, scale)


#===--- orders of dims, sums ---------------------------------------------------===#

def orders():
    b, s, h, d = 8, 4096, 32, 128
    x, y = randn(b, s, h, d), empty(b, h, s, d)
    turn = lambda x: x.permute(0, 2, 1, 3).contiguous()
    row("heads first", (b, s, h, d), 4 * x.numel(), kernel("heads_first", S=16).prepare(x, y), [(y, turn(x[:1]))], turn, x)
    n, c, p = 64, 256, 56 * 56
    x, y = randn(n, c, p), empty(n, p, c)
    last = lambda x: x.transpose(1, 2).contiguous()
    row("channels last", (n, c, p), 4 * x.numel(), kernel("channels_last").prepare(x, y), [(y, last(x[:1]))], last, x)


def rope():
    t, h, d = 65536, 32, 128
    x, angle = randn(t, h, d), torch.rand(8192, d // 2, device="cuda") * 6
    c, s, at = angle.cos(), angle.sin(), torch.randint(0, 8192, (t,), device="cuda", dtype=torch.int32)

    def turn(x):
        a, b = x.float().chunk(2, -1)
        cosine, sine = c[at.long()][:, None], s[at.long()][:, None]
        return x.copy_(torch.cat([a * cosine - b * sine, a * sine + b * cosine], -1))
    in_place("rope by tables", (t, h, d), 4 * x.numel(), lambda x: kernel("rope_tables").prepare(x, c, s, at), [x], turn)


def pool():
    n, s, c = 64, 112, 64
    x, y = randn(n, s, s, c), empty(n, s // 2, s // 2, c)
    function = lambda x: F.max_pool2d(x.permute(0, 3, 1, 2), 2)
    row("max pool 2 x 2", (n, s, s, c), 2 * x.numel() + 2 * y.numel(), kernel("max_pool").prepare(x, y),
        [(y, function(x[:1]).permute(0, 2, 3, 1))], function, x)


def sums():
    n, parts = 1 << 28, empty(1056, dtype=f32)
    x, y = randn(n), randn(n)
    squares, total = kernel("mse").prepare(x, y, parts), empty(1, dtype=f32)
    row("mean of squares", (n,), 4 * n, lambda: (squares(), torch.sum(parts, 0, keepdim=True, out=total)),
        [(total, (x.float() - y.float()).square().sum(dtype=f64)[None])], lambda x, y: (x.float() - y.float()).square().sum(), x, y)
    r, c, count = 64 * 56 * 56, 256, 132
    x, one, two = randn(r, c), empty(count, c, dtype=f32), empty(count, c, dtype=f32)
    first, second = empty(c, dtype=f32), empty(c, dtype=f32)
    rows, last = kernel("batch_statistics").prepare(x, one, two), kernel("column_sums", T="f32")
    launches = [rows, last.prepare(one, first), last.prepare(two, second)]
    statistics = lambda x: (x.float().sum(0), x.float().square().sum(0))
    row("sums of channels", (r, c), 2 * r * c, lambda: [launch() for launch in launches],
        [(second, x.float().square().sum(0, dtype=f64))], statistics, x)


CASES = [softmax_backward, rmsnorm_backward, cross_entropy_backward, swiglu_backward, adamw, masks, normalize, groupnorm, scans,
         quantize, orders, rope, pool, sums]

if __name__ == "__main__":
    main(CASES)
