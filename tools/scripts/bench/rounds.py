#===- rounds.py - measures several functions in turn ---------------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Times functions in turn, so that none meets the chip cooler than the others.

Products and attention make the chip draw all the power that it may, and its clock falls
and rises with what ran in the tenths of a second before. So a round is a short burst of
each function, in another order each time, and what counts is the ratio within a round:
the clock is nearly the same for all of its bursts. Before each launch the L2 cache is
overwritten, as `triton.testing.do_bench` does.
"""
import random
import statistics

import torch

_cache = None
_clearing = 0.06  # ms that overwriting the cache takes, about


def _burst(function, launches):
    """The median of so many launches, in ms."""
    global _cache
    if _cache is None:
        _cache = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(launches)]
    for begin, end in events:
        _cache.zero_()
        begin.record()
        function()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) for begin, end in events)


def rounds_in_turn(functions, rounds=24, rep=10):
    """By name, the ms of a launch in each round; a burst has some `rep` ms of launches."""
    for function in functions.values():
        function()
    launches = {name: max(1, round(rep / (_burst(function, 3) + _clearing))) for name, function in functions.items()}
    times = {name: [] for name in functions}
    order, shuffled = list(functions), random.Random(rounds)
    for _ in range(rounds):
        shuffled.shuffle(order)
        for name in order:
            times[name].append(_burst(functions[name], launches[name]))
    return times


def milliseconds_in_turn(functions, rounds=24, rep=10):
    """By name, the median of the rounds."""
    return {name: statistics.median(values) for name, values in rounds_in_turn(functions, rounds, rep).items()}


def fastest(functions):
    """The name of the one that short rounds find fastest."""
    if len(functions) == 1:
        return next(iter(functions))
    times = milliseconds_in_turn(functions, rounds=3, rep=2)
    return min(times, key=times.get)


def ratio(times, peer):
    """How much faster than `peer` the rounds `times` are, by the median of the rounds, and the
    quartiles of that."""
    ratios = [theirs / ours for ours, theirs in zip(times, peer)]
    if len(ratios) == 1:
        return ratios * 3
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return middle, low, high
