#===- TilecKernels.cmake - kernels compiled with a program -------------------===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===--------------------------------------------------------------------------===#
#   tilec_add_kernels(program kernels/matmul.tile
#     [ARCHS sm_80 sm_90a]               default sm_80, which newer chips run as well
#     [DEFINES T=f16 matmul.BM=128]      as after -D
#     [SPECIALIZE "matmul<f16>"]         as after --specialize=
#     [OPTIONS --fast-math -I dir])
#
# Compiles the file when it or an import of it changes, and links the module into the
# target. The target's sources include "matmul.tile.h", which has
#
#   std::string_view tilec_modules::matmul();   // for tilec::Module::fromMemory
#
# The bytes stand in the object file as they are: a header with them as numbers would cost
# the C++ compiler seconds a megabyte.

function(tilec_add_kernels target file)
  cmake_parse_arguments(A "" "" "ARCHS;DEFINES;SPECIALIZE;OPTIONS" ${ARGN})
  if(A_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tilec_add_kernels: what is `${A_UNPARSED_ARGUMENTS}`?")
  endif()
  if(NOT A_ARCHS)
    set(A_ARCHS sm_80)
  endif()
  get_filename_component(file "${file}" ABSOLUTE)
  get_filename_component(stem "${file}" NAME_WE)
  string(MAKE_C_IDENTIFIER "${stem}" name)
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/${target}.tilec")
  set(module "${dir}/${stem}.tilemod")
  set(options ${A_OPTIONS})
  foreach(define ${A_DEFINES})
    list(APPEND options -D "${define}")
  endforeach()
  foreach(instance ${A_SPECIALIZE})
    list(APPEND options "--specialize=${instance}")
  endforeach()
  string(REPLACE ";" "," archs "${A_ARCHS}")

  add_custom_command(OUTPUT "${module}"
    COMMAND tilec::tilec --emit=module "--gpu-arch=${archs}" ${options} "${file}" -o "${module}"
            -MD -MF "${module}.d" -MT "${module}"
    DEPENDS "${file}" DEPFILE "${module}.d"
    COMMENT "Compiling ${stem}.tile for ${archs}" VERBATIM)
  file(CONFIGURE OUTPUT "${dir}/${stem}.tile.h" @ONLY CONTENT [[
// Written by tilec_add_kernels.
#pragma once
#include <string_view>

extern "C" const char tilec_module_@name@[], tilec_module_end_@name@[];

namespace tilec_modules {
inline std::string_view @name@() { return {tilec_module_@name@, tilec_module_end_@name@}; }
} // namespace tilec_modules
]])
  file(CONFIGURE OUTPUT "${dir}/${stem}.tile.cpp" @ONLY CONTENT [[
// Written by tilec_add_kernels.
__asm__(".section .rodata\n.balign 16\n"
        ".globl tilec_module_@name@\ntilec_module_@name@:\n"
        ".incbin \"@module@\"\n"
        ".globl tilec_module_end_@name@\ntilec_module_end_@name@:\n"
        ".byte 0\n.text\n");
]])
  set_source_files_properties("${dir}/${stem}.tile.cpp" PROPERTIES OBJECT_DEPENDS "${module}")
  target_sources(${target} PRIVATE "${dir}/${stem}.tile.cpp")
  target_include_directories(${target} PRIVATE "${dir}")
endfunction()
