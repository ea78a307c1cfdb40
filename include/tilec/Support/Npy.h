//===- Npy.h - NumPy's array files --------------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Reads and writes `.npy` files (format versions 1 to 3), so that tools exchange
// arrays with NumPy. Big-endian files are swapped. NumPy has no bf16 and f8: such
// arrays are stored as unsigned integers of their width (also what NumPy calls
// `V2`, as other writers do), and reinterpretAs gives them their dtype.
//
//   auto a = loadNpy("b.npy");                       // u16[512, 300]
//   if (auto ok = a->reinterpretAs(DType::BF16)) …   // bf16[512, 300]
//   a->makeRowMajor();
//
// Damaged files give a failure. Standard library only.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_NPY_H
#define TILEC_SUPPORT_NPY_H

#include "tilec/Support/DType.h"
#include "tilec/Support/Expected.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilec {

struct NpyArray {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  bool isFortranOrder = false; ///< first axis innermost
  std::vector<std::byte> data; ///< elements, little-endian, without gaps

  /// Product of the shape.
  int64_t numElements() const;
  /// Strides in elements.
  std::vector<int64_t> strides() const;
  /// Takes the stored words as `to`: integers of the same width, or the same dtype.
  Expected<void> reinterpretAs(DType to);
  /// Reorders the elements so that the last axis is innermost.
  void makeRowMajor();
};

Expected<NpyArray> readNpy(std::string_view bytes);
std::string writeNpy(const NpyArray &array);

/// Failures name the file.
Expected<NpyArray> loadNpy(const std::string &path);
/// Writes a temporary file beside `path` and renames it.
Expected<void> saveNpy(const std::string &path, const NpyArray &array);

} // namespace tilec

#endif // TILEC_SUPPORT_NPY_H
