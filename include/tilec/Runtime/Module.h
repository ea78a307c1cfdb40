//===- Module.h - compiled modules --------------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A Module is what `tilec --emit=module` writes: images for some chips and the
// facts of their kernels. No compiler is needed. Each kernel is loaded per device
// on first use, from the best image:
//
//   machine code for the device's chip, then for an older chip of its generation,
//   then PTX for the newest chip that is not newer than the device
//
// (code of a chip whose name ends in `a` runs on that chip alone).
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_RUNTIME_MODULE_H
#define TILEC_RUNTIME_MODULE_H

#include "tilec/Runtime/Kernel.h"

#include <string>
#include <string_view>
#include <vector>

namespace tilec {

class Module {
public:
  static Module fromFile(const std::string &path) { return valueOrThrow(tryFromFile(path)); }
  static Expected<Module> tryFromFile(const std::string &path);
  /// The bytes are copied.
  static Module fromMemory(std::string_view bytes) { return valueOrThrow(tryFromMemory(bytes)); }
  static Expected<Module> tryFromMemory(std::string_view bytes);

  /// Names of all kernels, in order of the file.
  std::vector<std::string> kernelNames() const;
  Kernel kernel(std::string_view name) const { return valueOrThrow(tryKernel(name)); }
  Expected<Kernel> tryKernel(std::string_view name) const;

  /// What the file holds.
  const ModuleFile &content() const { return *file; }

private:
  explicit Module(std::shared_ptr<const ModuleFile> file) : file(std::move(file)) {}
  std::shared_ptr<const ModuleFile> file;
};

/// The image of `images` to load on a device of `capability` (90 for 9.0), or
/// null. `sm_90a` code needs capability 90 exactly.
const ModuleImage *chooseImage(std::span<const ModuleImage *const> images, int capability);

} // namespace tilec

#endif // TILEC_RUNTIME_MODULE_H
