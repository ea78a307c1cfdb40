#===- TilecToolchain.cmake - compiler, linker, cache -------------------------===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===--------------------------------------------------------------------------===#
# Chosen before project(): clang of the same LLVM that we link, lld, ccache.

foreach(pair "C;clang" "CXX;clang++")
  list(GET pair 0 lang)
  list(GET pair 1 name)
  if(NOT CMAKE_${lang}_COMPILER AND EXISTS "${TILEC_LLVM_PREFIX}/bin/${name}")
    set(CMAKE_${lang}_COMPILER "${TILEC_LLVM_PREFIX}/bin/${name}" CACHE FILEPATH "")
  endif()
  # ccache accepts a precompiled header only with these leniencies; the header's
  # own content still takes part in the hash.
  find_program(TILEC_CCACHE ccache)
  if(TILEC_CCACHE AND NOT CMAKE_${lang}_COMPILER_LAUNCHER)
    set(CMAKE_${lang}_COMPILER_LAUNCHER
        "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime;CCACHE_BASEDIR=${CMAKE_SOURCE_DIR};CCACHE_NOHASHDIR=1;${TILEC_CCACHE}"
        CACHE STRING "")
  endif()
endforeach()
