//===- CudaDriver.cpp - opening libcuda ---------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// dlopen, one dlsym per row of the table, cuInit. Done once; the library stays
// open until the process ends, as contexts and streams do. Any step that fails
// leaves "no driver" and a sentence that says why.
//
//===------------------------------------------------------------------------===//

#include "CudaDriver.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace tilec;
using namespace tilec::cuda;

namespace {
struct OpenDriver {
  Driver table;
  bool usable = false;
  std::string why;

  OpenDriver() {
    const char *own = std::getenv("TILEC_LIBCUDA");
    const char *path = own && *own ? own : "libcuda.so.1";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char *reason = dlerror();
      why = "cannot open the CUDA driver: " + std::string(reason ? reason : path);
      return;
    }
#define TILEC_CUDA_LOAD(member, symbol, parameters)                                                \
  table.member = reinterpret_cast<decltype(table.member)>(dlsym(library, symbol));                 \
  if (!table.member) {                                                                             \
    why = std::string("the CUDA driver has no `") + symbol + "`: CUDA 12.0 or newer is needed";    \
    return;                                                                                        \
  }
    TILEC_CUDA_FUNCTIONS(TILEC_CUDA_LOAD)
#undef TILEC_CUDA_LOAD
    if (Result result = table.init(0); result != success) {
      const char *text = nullptr;
      table.getErrorString(result, &text);
      why = std::string("the CUDA driver does not start: ") + (text ? text : ("error " + std::to_string(result)).c_str());
      return;
    }
    usable = true;
  }
};
} // namespace

static const OpenDriver &opened() {
  // Never destroyed: buffers of static storage may be freed after it would be.
  static const OpenDriver *instance = new OpenDriver;
  return *instance;
}

const Driver *cuda::driver(const char **why) {
  const OpenDriver &d = opened();
  if (why)
    *why = d.why.c_str();
  return d.usable ? &d.table : nullptr;
}

Failure cuda::driverFailure(const char *what, Result result) {
  const char *text = nullptr, *name = nullptr;
  if (const Driver *d = driver()) {
    d->getErrorString(result, &text);
    d->getErrorName(result, &name);
  }
  std::string message = std::string(what) + " failed: " + (text ? text : "unknown error") + " (" +
                        (name ? name : ("CUDA error " + std::to_string(result)).c_str()) + ")";
  return Failure{std::move(message), {}, {}, result, {}};
}
