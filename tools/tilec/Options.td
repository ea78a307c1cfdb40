//===- Options.td - the command line of tilec -----------------*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
// `--help` prints the groups in this order. LLVM's option tables and not cl::opt:
// they are no globals, so they cannot collide with options inside libLLVM.

include "llvm/Option/OptParser.td"

class F<string name, string help> : Flag<["--", "-"], name>, HelpText<help>;
class J<string name, string meta, string help>
    : Joined<["--", "-"], name # "=">, MetaVarName<meta>, HelpText<help>;

def group_output : OptionGroup<"<output>">, HelpText<"Output">;
def group_input : OptionGroup<"<input>">, HelpText<"Program">;
def group_code : OptionGroup<"<code>">, HelpText<"Code generation">;
def group_look : OptionGroup<"<look>">, HelpText<"Looking inside">;
def group_message : OptionGroup<"<message>">, HelpText<"Messages">;

let Group = group_output in {
def o : JoinedOrSeparate<["-"], "o">, MetaVarName<"<file>">, HelpText<"Write to <file>; `-` is standard output">;
def emit : J<"emit", "<kind>[,..]", "ast tile laid-out staged simt llvm ptx cubin module obj header json layout; default ptx; <kind>=<file> names its file">;
def S : Flag<["-"], "S">, HelpText<"Same as --emit=ptx">;
def c : Flag<["-"], "c">, HelpText<"Same as --emit=obj: an object file of the module, for programs in C++">;
def MD : Flag<["-"], "MD">, HelpText<"Write a depfile beside the output">;
def MF : JoinedOrSeparate<["-"], "MF">, MetaVarName<"<file>">, HelpText<"Where to write the depfile">;
def MT : JoinedOrSeparate<["-"], "MT">, MetaVarName<"<target>">, HelpText<"Target in the depfile">;
}

let Group = group_input in {
def D : JoinedOrSeparate<["-"], "D">, MetaVarName<"<name>=<value>">, HelpText<"Set a compile-time parameter (also <kernel>.<name>)">;
def I : JoinedOrSeparate<["-"], "I">, MetaVarName<"<dir>">, HelpText<"Search <dir> for imports">;
def kernel : J<"kernel", "<name>", "Compile only this kernel">;
def specialize : J<"specialize", "<instance>", "Add an instance, e.g. 'matmul<f16, BM: 128>'">;
}

let Group = group_code in {
def gpu_arch : J<"gpu-arch", "<chip>[,..]", "Chips: sm_80 (default), sm_90a, .., `native`, `all`">;
def O : Joined<["-"], "O">, MetaVarName<"<0-3>">, HelpText<"Optimisation level (default 3)">;
def g0 : Flag<["-"], "g0">, HelpText<"No line information">;
def fast_math : F<"fast-math", "Allow approximate forms of functions">;
def checked : F<"checked", "Assert assumptions, that int does not overflow, that divisors are not 0">;
def fmad : J<"fmad", "<true|false>", "Contract a*b+c to fma (default true)">;
def num_warps : J<"num-warps", "<n>", "Warps per block, a power of two">;
def num_stages : J<"num-stages", "<n>", "Groups of loads in flight, where there is room">;
def builds : J<"builds", "<kind>[,..]", "With --emit=module: compile these builds only: aligned dense disjoint general odd-rows paired small-grid words">;
def Xptxas : Separate<["-"], "Xptxas">, MetaVarName<"<arg>">, HelpText<"Pass <arg> to the assembler">;
}

let Group = group_look in {
def resource_usage : F<"resource-usage", "Print registers, spills, shared memory and resident blocks of each build">;
def remarks : F<"remarks", "Say what each pass chose, and why not better, at the place in the source">;
def remarks_of : J<"remarks", "<pass>[,..]", "The same of these passes: scale-maxima rotate-rows .. assemble">;
def layout_of : J<"layout-of", "<name>[,..]", "With --emit=layout: of this variable, array parameter or line only">;
def print_ir_before_all : F<"print-ir-before-all", "Print the IR before every pass">;
def print_ir_after_all : F<"print-ir-after-all", "Print the IR after every pass">;
def print_ir_after : J<"print-ir-after", "<pass>", "Print the IR after this pass (its flag without --tile-)">;
def time_passes : F<"time-passes", "Print a table of times">;
def v : Flag<["-"], "v">, HelpText<"Print the commands that are run">;
}

let Group = group_message in {
def W : Joined<["-"], "W">, MetaVarName<"<warning>">, HelpText<"Warning on, off (-Wno-x), an error (-Werror=x)">;
def max_errors : J<"max-errors", "<n>", "Stop after so many errors (default 20, 0: never)">;
def color : J<"color", "<auto|always|never>", "Colour in messages">;
def diagnostic_format : J<"diagnostic-format", "<text|json>", "Form of messages">;
def explain : Separate<["--", "-"], "explain">, MetaVarName<"<code>">, HelpText<"Explain a message, e.g. T0203">;
def explain_joined : Joined<["--", "-"], "explain=">, Alias<explain>;
def help : F<"help", "Print this">;
def help_short : Flag<["-"], "h">, Alias<help>;
def version : F<"version", "Print the version">;
}
