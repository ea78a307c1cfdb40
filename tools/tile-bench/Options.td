//===- Options.td - the command line of tile-bench ------------*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// `--help` prints the groups in this order.

include "llvm/Option/OptParser.td"

class F<string name, string help> : Flag<["--", "-"], name>, HelpText<help>;
class J<string name, string meta, string help>
    : Joined<["--", "-"], name # "=">, MetaVarName<meta>, HelpText<help>;

def group_what : OptionGroup<"<what>">, HelpText<"What is measured">;
def group_peers : OptionGroup<"<peers>">, HelpText<"Peers">;
def group_result : OptionGroup<"<result>">, HelpText<"Result">;
def group_other : OptionGroup<"<other>">, HelpText<"Other">;

let Group = group_what in {
def list_subjects : F<"list", "Print the subjects with their shapes and tile sizes">;
def shape : J<"shape", "<4096x4096x4096>", "Measure at this shape instead of the subject's (may be repeated)">;
def tile : J<"tile", "<BM=128,BN=256,BK=64>", "Try this build instead of the subject's (may be repeated)">;
def first_shape : F<"first-shape", "Measure each subject at its first shape only">;
def seconds : J<"seconds", "<s>", "Time that the launches of one program take in all (default 0.25)">;
def examples : J<"examples", "<dir>", "Where the kernels are (default: test/Examples of the source tree)">;
}

let Group = group_peers in {
def no_peers : F<"no-peers", "Measure only our kernels">;
def cublaslt : J<"cublaslt", "<file>", "The library of cuBLASLt (default: found by its name)">;
def peers : J<"peers", "<script>", "Let python3 run this (tools/scripts/bench/tile_bench_peers.py) and merge what it measures">;
}

let Group = group_result in {
def json : J<"json", "<file>", "Write all figures as JSON">;
def svg : J<"svg", "<file>", "Draw a roofline">;
def no_ceilings : F<"no-ceilings", "Do not measure the copy's and the products' ceilings">;
}

let Group = group_other in {
def help : F<"help", "Print this">;
def help_short : Flag<["-"], "h">, Alias<help>;
def version : F<"version", "Print the version">;
}
