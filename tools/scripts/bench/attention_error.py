#===- attention_error.py - attention against float64 ---------------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""How far a result of attention is from softmax(q k^T / sqrt(d)) v in float64."""
import math

import torch


def attention_error(result, q, k, v, score=None, mask=None):
    """The worst relative error of the first and the last head, of 200 rows at either end.

    q and result are (b, h, s, d), k and v (b, h / g, n, d). `score(s, b, h, i, j)` changes scores,
    `mask(b, h, i, j)` says which stay, of queries i and keys j, as FlexAttention has it.
    """
    worst, (batches, heads, queries, dim) = 0.0, q.shape
    columns = torch.arange(k.shape[2], device=q.device)[None, :]
    for b, h in ((0, 0), (batches - 1, heads - 1)):
        group = h * k.shape[1] // heads
        x, y, z = q[b, h].double(), k[b, group].double(), v[b, group].double()
        for rows in (torch.arange(min(200, queries), device=q.device),
                     torch.arange(max(queries - 200, 0), queries, device=q.device)):
            s = x[rows] @ y.t() / math.sqrt(dim)
            if score:
                s = score(s, b, h, rows[:, None], columns)
            if mask:
                s = s.masked_fill(~mask(b, h, rows[:, None], columns), -math.inf)
            expected = torch.softmax(s, 1) @ z
            worst = max(worst, ((result[b, h][rows].double() - expected).norm() / expected.norm()).item())
    return worst
