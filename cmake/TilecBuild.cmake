#===- TilecBuild.cmake - the few functions our CMakeLists are made of --------===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===--------------------------------------------------------------------------===#
#   tilec_add_library(TilecLayout Layout.cpp LINK TilecSupport)       LLVM only
#   tilec_add_mlir_library(TilecTile Ops.cpp LINK … DEPENDS …IncGen)  MLIR, shared PCH
#   tilec_add_plain_library(TilecRuntime … LINK …)                    std only, exceptions
#   tilec_add_tool(tilec tilec.cpp LINK …)        tilec_add_mlir_tool(…)
#   tilec_add_unittest(LayoutTests LayoutTest.cpp LINK TilecLayout)
#   tilec_add_mlir_unittest(…)
#
# MLIR's own add_mlir_library does not consult the shared-library setting, and a
# static LLVM component beside libLLVM.so registers its options twice and aborts.
# So: plain add_library, and one interface target that stands for "MLIR and LLVM".

find_package(MLIR REQUIRED CONFIG PATHS "${TILEC_LLVM_PREFIX}/lib/cmake/mlir" NO_DEFAULT_PATH)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
set(LLVM_TABLEGEN_EXE "${TILEC_LLVM_PREFIX}/bin/llvm-tblgen")
include(AddLLVM)
include(AddMLIR)

set(TILEC_INCLUDES "${CMAKE_SOURCE_DIR}/include" "${CMAKE_BINARY_DIR}/include")

#--- interface targets ---------------------------------------------------------

# Flags of every target of ours.
add_library(tilec_flags INTERFACE)
target_include_directories(tilec_flags INTERFACE ${TILEC_INCLUDES})
target_compile_options(tilec_flags INTERFACE -Wall -Wextra -Wno-unused-parameter
  -Wno-missing-field-initializers -fvisibility-inlines-hidden -ffunction-sections -fdata-sections)
if(TILEC_ASSERTIONS)
  target_compile_options(tilec_flags INTERFACE -UNDEBUG)
endif()
target_link_options(tilec_flags INTERFACE -fuse-ld=lld -Wl,--gc-sections)

# Flags of those that see LLVM's headers.
add_library(tilec_llvm_flags INTERFACE)
target_include_directories(tilec_llvm_flags SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_options(tilec_llvm_flags INTERFACE -fno-exceptions)
separate_arguments(_llvm_defs NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(tilec_llvm_flags INTERFACE ${_llvm_defs})

add_library(tilec_llvm_libs INTERFACE)
add_library(tilec_mlir_libs INTERFACE)
if(TILEC_STATIC)
  get_property(_mlir_libs GLOBAL PROPERTY MLIR_ALL_LIBS)
  # The static MLIR targets still name libLLVM.so in their interface.
  foreach(t ${_mlir_libs})
    if(TARGET ${t} AND NOT t STREQUAL "MLIR")
      get_target_property(l ${t} INTERFACE_LINK_LIBRARIES)
      if(l)
        list(REMOVE_ITEM l LLVM)
        set_property(TARGET ${t} PROPERTY INTERFACE_LINK_LIBRARIES "${l}")
      endif()
    endif()
  endforeach()
  llvm_map_components_to_libnames(_llvm_libs core support passes nvptxcodegen
    nvptxdesc nvptxinfo x86codegen x86desc x86info x86asmparser orcjit target
    analysis ipo vectorize asmparser irreader linker bitwriter scalaropts
    frontendopenmp executionengine option)
  include("${CMAKE_SOURCE_DIR}/cmake/MLIRStaticLibs.cmake")
  target_link_libraries(tilec_llvm_libs INTERFACE ${_llvm_libs})
  target_link_libraries(tilec_mlir_libs INTERFACE ${TILEC_MLIR_STATIC_LIBS} ${_llvm_libs})
else()
  target_link_libraries(tilec_llvm_libs INTERFACE LLVM)
  target_link_libraries(tilec_mlir_libs INTERFACE MLIR LLVM)
endif()

#--- the shared precompiled header ----------------------------------------------

# NVVM's and LLVM's dialect headers cost a compiler 25 s a file; precompiled once
# they cost 1 s. An otherwise empty object library carries the header.
file(WRITE "${CMAKE_BINARY_DIR}/pch/pch.cpp.in" "// Carries the shared precompiled header.\n")
configure_file("${CMAKE_BINARY_DIR}/pch/pch.cpp.in" "${CMAKE_BINARY_DIR}/pch/pch.cpp" COPYONLY)
# Several build trees (worktrees) can name one compiled header in TILEC_PCH, made by
# hand with the flags of tilec_pch; ccache then shares objects among them.
set(TILEC_PCH "" CACHE FILEPATH "A precompiled cmake/MLIRPrecompiled.h to use instead of making one")
add_library(tilec_pch OBJECT EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/pch/pch.cpp")
target_link_libraries(tilec_pch PRIVATE tilec_flags tilec_llvm_flags)
target_compile_options(tilec_pch PRIVATE -Xclang -fno-pch-timestamp)
target_precompile_headers(tilec_pch PRIVATE "${CMAKE_SOURCE_DIR}/cmake/MLIRPrecompiled.h")

#--- libraries, tools, tests -----------------------------------------------------

function(_tilec_split out_sources out_link out_depends)
  cmake_parse_arguments(A "" "" "LINK;DEPENDS" ${ARGN})
  set(${out_sources} "${A_UNPARSED_ARGUMENTS}" PARENT_SCOPE)
  set(${out_link} "${A_LINK}" PARENT_SCOPE)
  set(${out_depends} "${A_DEPENDS}" PARENT_SCOPE)
endfunction()

function(_tilec_use_pch name)
  # The header is compiled with -fPIC, so its users must be; executables would
  # get -fPIE.
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
  target_compile_options(${name} PRIVATE -Xclang -fno-pch-timestamp)
  if(TILEC_PCH)
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -include-pch -Xclang ${TILEC_PCH}")
  else()
    target_precompile_headers(${name} REUSE_FROM tilec_pch)
  endif()
endfunction()

function(tilec_add_plain_library name)
  _tilec_split(sources link depends ${ARGN})
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PRIVATE tilec_flags PUBLIC ${link})
  if(depends)
    add_dependencies(${name} ${depends})
  endif()
endfunction()

function(tilec_add_library name)
  tilec_add_plain_library(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE tilec_llvm_flags)
  set_property(TARGET ${name} PROPERTY TILEC_NEEDS llvm)
endfunction()

function(tilec_add_mlir_library name)
  tilec_add_library(${name} ${ARGN})
  _tilec_use_pch(${name})
endfunction()

function(_tilec_executable name libs)
  _tilec_split(sources link depends ${ARGN})
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE tilec_flags tilec_llvm_flags ${link} ${libs})
  if(TILEC_STATIC)
    # LLVM names libraries that nothing of ours reaches (z3).
    # Programs at a fixed address without a shared C++ library start in half the time: 69 000
    # addresses need no relocation, names are not looked up.
    target_link_options(${name} PRIVATE -Wl,--icf=all -Wl,--as-needed -no-pie
                        -static-libstdc++ -static-libgcc)
  endif()
  if(depends)
    add_dependencies(${name} ${depends})
  endif()
endfunction()

function(tilec_add_tool name)
  _tilec_executable(${name} tilec_llvm_libs ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
endfunction()

function(tilec_add_mlir_tool name)
  _tilec_executable(${name} tilec_mlir_libs ${ARGN})
  _tilec_use_pch(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
endfunction()

find_package(GTest REQUIRED)
function(_tilec_unittest name libs)
  _tilec_executable(${name} ${libs} ${ARGN})
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/unittests")
  set_property(GLOBAL APPEND PROPERTY TILEC_UNITTESTS ${name})
endfunction()

function(tilec_add_unittest name)
  _tilec_unittest(${name} tilec_llvm_libs ${ARGN})
endfunction()

function(tilec_add_mlir_unittest name)
  _tilec_unittest(${name} tilec_mlir_libs ${ARGN})
  _tilec_use_pch(${name})
endfunction()

# Adds every subdirectory that has a CMakeLists.txt, in the order given.
macro(tilec_add_subdirectories)
  foreach(_dir ${ARGN})
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${_dir}/CMakeLists.txt")
      add_subdirectory(${_dir})
    endif()
  endforeach()
endmacro()
