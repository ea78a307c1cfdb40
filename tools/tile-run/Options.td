//===- Options.td - the command line of tile-run --------------*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// `--help` prints the groups in this order.

include "llvm/Option/OptParser.td"

class F<string name, string help> : Flag<["--", "-"], name>, HelpText<help>;
class J<string name, string meta, string help>
    : Joined<["--", "-"], name # "=">, MetaVarName<meta>, HelpText<help>;
class S<string name, string meta, string help>
    : Separate<["--", "-"], name>, MetaVarName<meta>, HelpText<help>;

def group_program : OptionGroup<"<program>">, HelpText<"Program">;
def group_launch : OptionGroup<"<launch>">, HelpText<"Launch">;
def group_result : OptionGroup<"<result>">, HelpText<"Result">;
def group_other : OptionGroup<"<other>">, HelpText<"Other">;

let Group = group_program in {
def D : JoinedOrSeparate<["-"], "D">, MetaVarName<"<name>=<value>">, HelpText<"Set a compile-time parameter (also <kernel>.<name>)">;
def I : JoinedOrSeparate<["-"], "I">, MetaVarName<"<dir>">, HelpText<"Search <dir> for imports">;
def kernel : J<"kernel", "<name>", "The kernel to run, where the file has several">;
def fast_math : F<"fast-math", "Allow approximate forms of functions">;
def batch : F<"batch", "Make many runs, one for each line of standard input, which has the options of its run">;
def checked : F<"checked", "Assert assumptions, that int does not overflow, that divisors are not 0">;
def num_warps : J<"num-warps", "<n>", "Warps per block, a power of two">;
def num_stages : J<"num-stages", "<n>", "Groups of loads in flight, where there is room">;
def gpu_arch : J<"gpu-arch", "<chip>", "The chip that --device=simt compiles for (default sm_80)">;
}

let Group = group_launch in {
def arg : S<"arg", "<name>=<value>", "An argument: random:f32[3,4] small:.. arange:.. zeros:.. ones:.. poison:.. [[1,2],[3,4]] @file.npy @file.npy:bf16 5 1e-3 true">;
def arg_eq : Joined<["--", "-"], "arg=">, Alias<arg>;
def grid : J<"grid", "<x>[,<y>[,<z>]]", "The grid, instead of the kernel's own">;
def device : J<"device", "<auto|gpu|cpu|simt>", "Where to run: cpu interprets, simt executes the compiled code thread by thread; default auto: gpu if there is one">;
def skew : J<"skew", "<bytes>", "Let every array begin that far behind an aligned address">;
def seed : J<"seed", "<n>", "Of random arguments (default 0)">;
}

let Group = group_result in {
def check : F<"check", "Compare with the interpreter">;
def tolerance : J<"tolerance", "<x>", "Largest relative error that --check accepts">;
def bench : F<"bench", "Measure: time, GB/s, and with --flops TFLOP/s">;
def flops : J<"flops", "<expression>", "Operations of the launch, e.g. '2*m*n*k'">;
def dump_to : S<"dump", "<name>=<file.npy>", "Write an array after the launch">;
def dump_eq : Joined<["--", "-"], "dump=">, Alias<dump_to>;
}

let Group = group_other in {
def help : F<"help", "Print this">;
def help_short : Flag<["-"], "h">, Alias<help>;
def version : F<"version", "Print the version">;
def print_arch : F<"print-arch", "Print the chip to compile for on this machine's GPU">;
}
