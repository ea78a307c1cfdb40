#!/usr/bin/env python3
#===- attention_forms.py - forms of attention beside PyTorch -------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""attention_forms.py [--compile-only] [--shape=BxHxSxD] [form ...]

The plain kernels of attention_forms.tile (groups of heads, causal, sliding windows, soft
caps, ALiBi, lengths), each beside the best of what PyTorch has for it: cuDNN's and
FlashAttention's backends of scaled_dot_product_attention, or FlexAttention, compiled.
Checked against float64 (of two heads, some rows), two runs bit for bit; in turn.
"""
import argparse
import statistics

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from attention_error import attention_error
from rounds import ratio, rounds_in_turn
from tile_kernel import TileKernel, run_twice

SOURCE = __file__.replace(".py", ".tile")
W, CAP, GROUP = 1024, 30.0, 4
flex = torch.compile(flex_attention, dynamic=False)
sdpa = torch.nn.functional.scaled_dot_product_attention


class Form:
    """A form: how FlexAttention and float64 say it, and which pairs of places it computes."""

    def __init__(self, b, h, s):
        self.slopes = 2.0 ** (-8.0 * (torch.arange(h, device="cuda") + 1) / h)
        self.lens = torch.randint(s // 4, s + 1, (b,), device="cuda", dtype=torch.int32)

    def mask(self, name):
        lens = self.lens
        return {"causal": lambda b, h, i, j: i >= j, "softcap": lambda b, h, i, j: i >= j,
                "alibi": lambda b, h, i, j: i >= j, "window": lambda b, h, i, j: (i >= j) & (j > i - W),
                "lengths": lambda b, h, i, j: j < lens[b]}.get(name)

    def score(self, name):
        slopes = self.slopes
        return {"softcap": lambda s, b, h, i, j: CAP * torch.tanh(s / CAP),
                "alibi": lambda s, b, h, i, j: s + (j - i) * slopes[h]}.get(name)

    def extra(self, name):
        return {"softcap": (CAP,), "alibi": (self.slopes,), "lengths": (self.lens,)}.get(name, ())

    def pairs(self, name, b, h, s):
        """Of queries and keys that see each other, all heads together."""
        if name == "grouped":
            return b * h * s * s
        if name == "lengths":
            return h * s * int(self.lens.sum())
        return b * h * (s * (s + 1) // 2 - (max(s - W, 0) * (s - W + 1) // 2 if name == "window" else 0))


def peers(form, name, q, k, v):
    """By name, what PyTorch computes it with."""
    found = {}
    if name in ("grouped", "causal"):
        for peer, backend in (("cuDNN", SDPBackend.CUDNN_ATTENTION), ("flash", SDPBackend.FLASH_ATTENTION)):
            def launch(backend=backend):
                with sdpa_kernel(backend):
                    sdpa(q, k, v, is_causal=name == "causal", enable_gqa=name == "grouped")
            found[peer] = launch
        return found
    b, h, s, _ = q.shape
    mask = create_block_mask(form.mask(name), b if name == "lengths" else None, None, s, s)
    score = form.score(name)
    found["flex"] = lambda: flex(q, k, v, score_mod=score, block_mask=mask)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compile-only", action="store_true", help="fills FlexAttention's cache")
    parser.add_argument("--shape", default="4x16x4096x128")
    parser.add_argument("forms", nargs="*", default=["grouped", "causal", "window", "softcap", "alibi", "lengths"])
    args = parser.parse_args()
    torch.manual_seed(0)
    b, h, s, d = map(int, args.shape.split("x"))
    for name in args.forms:
        form = Form(b, h, s)
        q = torch.randn(b, h, s, d, device="cuda", dtype=torch.bfloat16)
        k, v = (torch.randn(b, h // (GROUP if name == "grouped" else 1), s, d, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        functions = peers(form, name, q, k, v)
        for launch in functions.values():
            launch()
        torch.cuda.synchronize()
        if args.compile_only:
            continue
        o = torch.empty_like(q)
        tiles = dict(BM=128, BN=128) if d > 64 else dict(BM=256, BN=64)
        ours = TileKernel(SOURCE, kernel=name, D=d, **tiles).prepare(q, k, v, o, *form.extra(name), d**-0.5)
        result, complaint = run_twice(ours, o)
        e = complaint or f"{attention_error(result, q, k, v, form.score(name), form.mask(name)):.1e}"
        rounds = rounds_in_turn({**functions, "ours": ours})
        times = {program: statistics.median(values) for program, values in rounds.items()}
        best = min(functions, key=times.get)
        compared = ratio(rounds["ours"], rounds[best])
        flop = 4 * form.pairs(name, b, h, s) * d
        print(f"{name:8} {args.shape} ours {flop / times['ours'] / 1e9:6.1f} TFLOP/s  {best} {flop / times[best] / 1e9:6.1f}  "
              f"ratio {compared[0]:6.3f} ({compared[1]:.3f} to {compared[2]:.3f})  error {e}", flush=True)


if __name__ == "__main__":
    main()
