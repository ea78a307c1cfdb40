//===- CaseFile.h - cases of the language, from a .tile file --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A file of test/Language is a row of cases. Each begins with lines `//:` that say
// what is passed and what comes out; the program is the text up to the next case
// (a case without text runs the program of the case before), behind what stands
// before the first case. One kernel a program.
//
//   //: case reverse
//   //: x: f32[4] = 1 2 3 4            an argument and its values, in memory order
//   //: y: f32[4] -> 4 3 2 1           poisoned before, and what it must be after
//   //: z: i32[6] = 0* -> 5 5 x*       both; `v*` is v up to the end, `v*3` three
//                                      times, `2..9` a range, `x` any value
//   //: s: f16 = 42                    a scalar
//   //: y: f32[4] ~ 1e-6 -> …          up to a relative error
//   //: x: f32[2,3] strides 1,2 = …    strides in elements (of a `strided` array)
//   //: x: f32[8] offset 1 = …         begins that many elements into its memory
//   //: y: f32[4] memory x -> …        in the memory of another argument
//   //: define N=4                     a compile-time parameter
//   //: grid 2,1                       the caller's grid
//   //: warps 1                        instead of 1,2,4,8
//   //: repeat 100                     so many launches, each from the same memory
//   //: interpreter                    not lowered: runs on the interpreter only
//   //: error: text                    does not compile; the messages have the text
//   //: refused: text                  compiles, and the launch is refused
//
// An argument without `->` must be unchanged.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TEST_LANGUAGE_CASEFILE_H
#define TILEC_TEST_LANGUAGE_CASEFILE_H

#include "tilec/Support/Expected.h"
#include "tilec/Support/KernelArg.h"
#include "tilec/Support/LaunchPlan.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilec::test {

/// One argument, with its memory before the launch and after it.
struct CaseArgument {
  std::string name, memoryOf; ///< memoryOf: another argument, or empty
  DType dtype = DType::F32;
  bool isArray = false;
  std::vector<int64_t> dims, strides; ///< no strides: row-major
  int64_t offset = 0;
  /// Words of the elements in memory order; nothing: any value will do.
  std::vector<std::optional<uint64_t>> before, after;
  double tolerance = 0;
};

struct LanguageCase {
  std::string name, source;
  std::vector<CaseArgument> arguments; ///< in the order of the kernel's parameters
  std::vector<std::string> defines, errors;
  std::string refused;
  std::optional<Grid> grid;
  std::vector<unsigned> warps = {1, 2, 4, 8};
  unsigned repeat = 1;
  bool isInterpreterOnly = false;
};

/// All cases of a file; a failure says what is wrong in which line.
Expected<std::vector<LanguageCase>> readCases(const std::string &path);

} // namespace tilec::test

#endif // TILEC_TEST_LANGUAGE_CASEFILE_H
