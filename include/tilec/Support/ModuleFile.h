//===- ModuleFile.h - image and launch facts in one file ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// `tilec --emit=module` writes one file that the runtime loads with no compiler
// present. It holds, per chip, an image and the facts of the kernels in it. An image
// is one or more objects (PTX texts or cubins), each with the entry points of some
// builds; builds are assembled side by side, one object each, and loaded when a launch
// wants them. An empty object was not compiled (a cache of what launches wanted).
//
//   offset  bytes  little-endian
//        0      8  magic "TILECMOD"
//        8      4  version, 2
//       12      4  size of the index
//       16      8  size of the whole file
//       24      8  FNV-1a (64-bit) of everything from offset 32 on
//       32      …  the index, JSON: {"producer", "images": [{"arch", "kind",
//                  "objects": [{"offset", "size"}…], "kernels": [facts…]}…]},
//                  where offsets count from the first object
//        …      …  objects, each at a multiple of 16, padded with zeros
//
// In version 1 an image has one object, whose "offset" and "size" are its own. What fits
// is written so, and both are read.
//
// Reading checks every number before it is used: a truncated or damaged file
// gives a failure, never a crash or a wrong image.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_MODULEFILE_H
#define TILEC_SUPPORT_MODULEFILE_H

#include "tilec/Support/KernelInfo.h"

#include <string>
#include <string_view>
#include <vector>

namespace tilec {

enum class ImageKind : uint8_t { PTX, Cubin };

/// Code for one chip and the kernels in it.
struct ModuleImage {
  std::string arch; ///< "sm_90a"
  ImageKind kind = ImageKind::PTX;
  std::vector<std::string> objects; ///< PTX texts or cubins; BuildInfo::object is one
  std::vector<KernelInfo> kernels;
};

struct ModuleFile {
  std::string producer; ///< "tilec 0.1.0"
  std::vector<ModuleImage> images;
};

/// The bytes of a module file; equal content gives equal bytes.
std::string writeModule(const ModuleFile &module);
/// Reads `bytes` back.
Expected<ModuleFile> readModule(std::string_view bytes);

/// Whether `bytes` begin like a module file.
bool isModuleFile(std::string_view bytes);

} // namespace tilec

#endif // TILEC_SUPPORT_MODULEFILE_H
