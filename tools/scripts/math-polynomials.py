#!/usr/bin/env python3
#===- math-polynomials.py - minimax coefficients of ExpandMath ---------------===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===--------------------------------------------------------------------------===#
"""Computes lib/Transforms/MathPolynomials.def: every polynomial of ExpandMath.

Usage: math-polynomials.py > lib/Transforms/MathPolynomials.def   (needs mpmath)

Method: the exchange algorithm of Remez at 60 digits, on g(t) with a weight, so
that the error of the whole function (not of g) is what is made small. The
degree is the lowest that reaches the wanted error. Coefficients are rounded to
the format from the lowest order up, and the rest fitted again after each
rounding, which keeps nearly all of the accuracy.
"""
import struct
import sys

import mpmath as mp

mp.mp.dps = 60


def remez(g, weight, lo, hi, degree, fixed=()):
    """Coefficients c of sum c[k] t^k minimising max |(p(t) - g(t)) * weight(t)|;
    the first len(fixed) coefficients are given. Returns (c, error)."""
    free = degree + 1 - len(fixed)
    target = lambda t: g(t) - sum(c * t**k for k, c in enumerate(fixed))
    first = len(fixed)
    points = [(lo + hi) / 2 - (hi - lo) / 2 * mp.cos(mp.pi * (i + mp.mpf('0.5')) / (free + 1)) for i in range(free + 1)]
    grid_size = 24 * (free + 1)
    grid = [(lo + hi) / 2 - (hi - lo) / 2 * mp.cos(mp.pi * i / grid_size) for i in range(grid_size + 1)]
    values = [(t, target(t), weight(t)) for t in grid]
    for _ in range(12):
        a = mp.matrix(free + 1, free + 1)
        b = mp.matrix(free + 1, 1)
        for row, t in enumerate(points):
            for k in range(free):
                a[row, k] = t**(first + k) * weight(t)
            a[row, free] = (-1)**row
            b[row] = target(t) * weight(t)
        solution = mp.lu_solve(a, b)
        coefficients = [solution[k] for k in range(free)]
        error = lambda v: (mp.polyval(coefficients[::-1], v[0]) * v[0]**first - v[1]) * v[2]
        errors = [error(v) for v in values]
        # One extremum for each run of one sign.
        extrema = []
        for (t, _, _), e in zip(values, errors):
            if extrema and (extrema[-1][1] > 0) == (e > 0):
                if abs(e) > abs(extrema[-1][1]):
                    extrema[-1] = (t, e)
            else:
                extrema.append((t, e))
        while len(extrema) > free + 1:
            extrema.pop(0 if abs(extrema[0][1]) < abs(extrema[-1][1]) else -1)
        worst = max(abs(e) for e in errors)
        if len(extrema) < free + 1:
            break
        points = [t for t, _ in extrema]
        if worst < abs(solution[free]) * mp.mpf('1.05'):
            break
    return list(fixed) + coefficients, worst


def to_format(x, bits):
    """x rounded to a float of `bits` mantissa bits."""
    if x == 0:
        return mp.mpf(0)
    exponent = int(mp.floor(mp.log(abs(x), 2)))
    scale = mp.mpf(2)**(bits - 1 - exponent)
    return mp.nint(x * scale) / scale


def fit(g, weight, lo, hi, wanted, bits, even=False, exact=()):
    """The shortest polynomial with error below `wanted`, rounded to the format."""
    lo, hi = mp.mpf(lo), mp.mpf(hi)
    for degree in range(len(exact), 40):
        coefficients, error = remez(g, weight, lo, hi, degree, exact)
        if error < wanted:
            break
    rounded = list(exact)
    while len(rounded) <= degree:
        rounded.append(to_format(coefficients[len(rounded)], bits))
        if len(rounded) <= degree:
            # On a symmetric interval the last odd terms alone do not alternate;
            # those coefficients stay as they were.
            try:
                refitted, new_error = remez(g, weight, lo, hi, degree, rounded)
            except ZeroDivisionError:
                continue
            if new_error < 4 * error:
                coefficients = refitted
    final = max(abs((mp.polyval(rounded[::-1], t) - g(t)) * weight(t))
                for t in mp.linspace(lo, hi, 400))
    return rounded, final


def safe(function, limit):
    """function(t), or its limit at zero where the formula is 0/0."""
    def call(t):
        if abs(t) < mp.mpf(10)**-28:
            return mp.mpf(limit)
        mp.mp.dps += 40
        value = function(t)
        mp.mp.dps -= 40
        return +value
    return call


def odd(function, first, third):
    """g of function(x) = first*x + x^3 g(x^2), and the weight for the error
    relative to the function."""
    def g(t):
        x = mp.sqrt(t)
        return (function(x) - first * x) / x**3
    def weight(t):
        x = mp.sqrt(t)
        return x**3 / function(x)
    return safe(g, third), safe(weight, 0)


SPECS = []


def spec(name, g, weight, lo, hi, slack32=0, slack64=0, formats=(24, 53)):
    """slack: bits by which the wanted error may exceed 2^-(mantissa + 2.5)."""
    SPECS.append((name, g, weight, lo, hi, {24: slack32, 53: slack64}, formats))


def build():
    one = lambda t: mp.mpf(1)
    half_ln2 = mp.log(2) / 2 * mp.mpf('1.0001')
    spec('expm1', safe(lambda r: (mp.expm1(r) - r) / r**2, 0.5),
         safe(lambda r: abs(r**2 / mp.expm1(r)), 0), -half_ln2, half_ln2)
    spec('exp2', safe(lambda r: (mp.mpf(2)**r - 1) / r, mp.log(2)), abs, -0.5001, 0.5001)
    spec('log', safe(lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3, mp.mpf(1) / 3),
         safe(lambda f: f**3 / mp.log1p(f), 0), mp.sqrt(0.5) - 1, mp.sqrt(2) - 1)
    quarter = (mp.pi / 4 * mp.mpf('1.01'))**2
    g, w = odd(mp.sin, 1, mp.mpf(-1) / 6)
    spec('sin', g, w, 0, quarter)
    spec('cos', safe(lambda t: (mp.cos(mp.sqrt(t)) - 1 + t / 2) / t**2, mp.mpf(1) / 24),
         safe(lambda t: t**2 / mp.cos(mp.sqrt(t)), 0), 0, quarter)
    g, w = odd(mp.tan, 1, mp.mpf(1) / 3)
    spec('tan', g, w, 0, quarter)
    g, w = odd(mp.atan, 1, mp.mpf(-1) / 3)
    spec('atan', g, w, 0, 1)
    g, w = odd(mp.asin, 1, mp.mpf(1) / 6)
    spec('asin', g, w, 0, 0.25)
    g, w = odd(mp.sinh, 1, mp.mpf(1) / 6)
    spec('sinh', g, w, 0, 1)
    g, w = odd(mp.tanh, 1, mp.mpf(-1) / 3)
    spec('tanh', g, w, 0, 0.3025)
    two_by_root_pi = 2 / mp.sqrt(mp.pi)
    spec('erf', safe(lambda t: mp.erf(mp.sqrt(t)) / mp.sqrt(t) - 1, two_by_root_pi - 1),
         safe(lambda t: mp.sqrt(t) / mp.erf(mp.sqrt(t)), 1 / two_by_root_pi), 0, mp.mpf('0.85'))
    # log2(erfc(a)): only its absolute error counts, times erfc(a)/erf(a) < 1/4.
    log2_erfc = lambda a: mp.log(mp.erfc(a), 2)
    weight = lambda a: mp.erfc(a) * mp.log(2) / mp.erf(a)
    spec('erfcTail', log2_erfc, weight, 0.9, 4.0, formats=(24,))
    # In f64 three pieces, each around its middle.
    for name, middle, low, high in (('erfcNear', '1.5', 0.9, 2.11), ('erfcMiddle', 3, 2.09, 3.91),
                                    ('erfcFar', 5, 3.89, 6)):
        c = mp.mpf(middle)
        spec(name, lambda u, c=c: log2_erfc(u + c), lambda u, c=c: weight(u + c),
             low - c, high - c, formats=(53,))
    # atanh(s) = s + s^3/3 + s^5 g(s^2), for pow: to more than the format has.
    spec('atanhTail', safe(lambda t: (mp.atanh(mp.sqrt(t)) / mp.sqrt(t) - 1 - t / 3) / t**2, mp.mpf(1) / 5),
         lambda t: t**2, 0, mp.mpf('0.0296'), slack32=-9, slack64=-9)
    return SPECS


def text_of(value, bits):
    return float(value).hex() if bits == 53 else struct.unpack('f', struct.pack('f', float(value)))[0].hex()


def main():
    only = sys.argv[1:]
    print("""//===- MathPolynomials.def - coefficients of ExpandMath --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Made by tools/scripts/math-polynomials.py, which says how. Lowest order first;
// the comment is the error of the whole function, as a power of two.
//===----------------------------------------------------------------------===//
""")
    for name, g, weight, lo, hi, slack, formats in build():
        if only and name not in only:
            continue
        for bits in formats:
            wanted = mp.mpf(2)**(-(bits + mp.mpf('2.5')) + slack[bits])
            coefficients, error = fit(g, weight, lo, hi, wanted, bits)
            lines = ",\n    ".join(text_of(c, bits) for c in coefficients)
            print(f"// error 2^{float(mp.log(error, 2)):.1f}")
            suffix = 'F32' if bits == 24 else 'F64'
            print(f"TILEC_POLYNOMIAL({name}{suffix},\n    {lines})\n", flush=True)


if __name__ == '__main__':
    main()
