//===- Roofline.h - results as a picture ---------------------- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// SVG of operations per second over operations per byte, both logarithmic. The roofs
// are measured: the slope is a copy's bandwidth, the flats the products' ceilings. A
// filled dot is our best build, a ring the best peer; each says in a tooltip what it is.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILEBENCH_ROOFLINE_H
#define TILEC_TOOLS_TILEBENCH_ROOFLINE_H

#include "Results.h"

namespace tilec::bench {

void printRoofline(llvm::raw_ostream &os, const Results &results);

} // namespace tilec::bench

#endif // TILEC_TOOLS_TILEBENCH_ROOFLINE_H
