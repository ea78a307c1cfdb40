//===- Arguments.h - kernel arguments from the command line -------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// `--arg` texts into arrays in host memory and scalars:
//
//   random:f32[3, 4]    values about N(0, 1); integers -8 … 8 (unsigned 0 … 16)
//   small:f32[3, 4]     whole numbers -3 … 3 (unsigned 0 … 3), in any dtype
//   arange:f32[3, 4]    0, 1, 2, … in order of memory (integers wrap)
//   [[1, 2], [3, 4]]    elements, which take the parameter's dtype
//   zeros: ones: poison:  poison is every byte 0xff: NaN, or -1
//   @f.npy  @f.npy:bf16   a file; with a dtype its integers are taken as that
//   5  1e-3  true  inf    scalars, which take the parameter's dtype
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILERUN_ARGUMENTS_H
#define TILEC_TOOLS_TILERUN_ARGUMENTS_H

#include "tilec/Support/Expected.h"
#include "tilec/Support/KernelArg.h"
#include "tilec/Support/KernelInfo.h"
#include "tilec/Support/Npy.h"

#include <string>
#include <utility>
#include <vector>

namespace tilec::run {

/// One argument, with its memory.
struct RunArgument {
  NpyArray array;   ///< of array parameters, in host memory
  ScalarArg scalar; ///< of scalar parameters
  bool isArray = false;
  unsigned skew = 0; ///< bytes by which an executor lets it begin behind an aligned address

  KernelArg arg();
};

/// The value of element `index` (in memory order) of an array.
double elementAt(const NpyArray &array, size_t index);

/// One argument per parameter of `info`. `given` are names and texts; every
/// parameter needs one, every name must be a parameter's.
Expected<std::vector<RunArgument>>
makeArguments(const KernelInfo &info,
              const std::vector<std::pair<std::string, std::string>> &given, uint64_t seed);

} // namespace tilec::run

#endif // TILEC_TOOLS_TILERUN_ARGUMENTS_H
