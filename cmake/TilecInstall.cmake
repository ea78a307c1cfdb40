#===- TilecInstall.cmake - what `cmake --install` writes ---------------------===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===--------------------------------------------------------------------------===#
#   ninja -C build tilec-dist && cmake --install build --prefix DIR
#
#   bin/                 tilec tile-run tile-opt tile-bench
#   include/tilec/       tilec.h, jit.h and what they include: the standard library only
#   lib/                 the runtime (three archives, and a shared library for C and Python),
#                        the JIT library
#   lib/cmake/tilec/     find_package(tilec): tilec::runtime, tilec::jit, tilec_add_kernels
#   share/tilec/         tile_kernel.py, which launches on PyTorch's tensors
#
# The package is written by hand: exported targets would bring along every flag and path
# of this build.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# What is installed, without the tests.
add_custom_target(tilec-dist DEPENDS tilec tile-run tile-opt tile-bench tilec_runtime tilec_jit)

install(TARGETS tilec tile-run tile-opt tile-bench RUNTIME DESTINATION bin)
install(TARGETS TilecRuntime TilecKernelInfo TilecNumerics ARCHIVE DESTINATION lib)
install(TARGETS tilec_runtime tilec_jit LIBRARY DESTINATION lib)

set(_public tilec.h jit.h dlpack.h Runtime/Array.h Runtime/C.h Runtime/Device.h Runtime/Error.h Runtime/Graph.h
  Runtime/HostTypes.h Runtime/Kernel.h Runtime/Module.h Runtime/TypedLaunch.h Support/DType.h Support/Expected.h
  Support/HostExpr.h Support/KernelArg.h Support/KernelInfo.h Support/LaunchPlan.h
  Support/ModuleFile.h Support/Numerics.h Support/TensorMapPlan.h)
foreach(_header ${_public})
  get_filename_component(_folder "${_header}" DIRECTORY)
  install(FILES "include/tilec/${_header}" DESTINATION "include/tilec/${_folder}")
endforeach()

configure_package_config_file(cmake/tilecConfig.cmake.in tilecConfig.cmake
  INSTALL_DESTINATION lib/cmake/tilec)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/tilecConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/tilecConfig.cmake" "${CMAKE_BINARY_DIR}/tilecConfigVersion.cmake"
  cmake/TilecKernels.cmake DESTINATION lib/cmake/tilec)
install(FILES tools/scripts/bench/tile_kernel.py DESTINATION share/tilec)
