#===- rounds.py - measures several functions in turn ---------------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Times functions in turn, so that none meets the chip cooler than the others.

Products and attention make the chip draw all the power that it may, and its clock falls
with each second: what is measured first looks faster.
"""
import statistics

import triton


def milliseconds_in_turn(functions, rounds=3, rep=80):
    """By name, the median over `rounds` of the median of `rep` ms of launches each."""
    times = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            times[name].append(triton.testing.do_bench(function, warmup=rep // 3, rep=rep, return_mode="median"))
    return {name: statistics.median(values) for name, values in times.items()}
