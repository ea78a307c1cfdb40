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
# target. The target's sources include "matmul.tile.h" (`tilec --emit=header`), which has
#
#   matmul_tile::matmul.launch(stream, {.a = x, .b = y, .c = z});   // an object per kernel
#   std::string_view tilec_modules::matmul();                       // for tilec::Module::fromMemory
#
# The bytes stand in the object file as they are (`--emit=obj`): a header with them as numbers
# would cost the C++ compiler seconds a megabyte.

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
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/${target}.tilec")
  set(options ${A_OPTIONS})
  foreach(define ${A_DEFINES})
    list(APPEND options -D "${define}")
  endforeach()
  foreach(instance ${A_SPECIALIZE})
    list(APPEND options "--specialize=${instance}")
  endforeach()
  string(REPLACE ";" "," archs "${A_ARCHS}")

  file(MAKE_DIRECTORY "${dir}")
  set(object "${dir}/${stem}.tile.o")
  set(header "${dir}/${stem}.tile.h")
  add_custom_command(OUTPUT "${object}" "${header}"
    COMMAND tilec::tilec "--emit=obj=${object},header=${header}" "--gpu-arch=${archs}" ${options}
            "${file}" -MF "${object}.d" -MT "${object}"
    DEPENDS "${file}" DEPFILE "${object}.d"
    COMMENT "Compiling ${stem}.tile for ${archs}" VERBATIM)
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(${target} PRIVATE "${object}" "${header}")
  target_include_directories(${target} PRIVATE "${dir}")
endfunction()
