//===- tilec.h - the runtime library ------------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Everything of libtilec_runtime in one include: devices, streams, memory,
// modules, kernels, graphs. Needs no CUDA header and no driver to build or start.
//
//   #include <tilec/tilec.h>
//
//   tilec::Device dev = tilec::Device::get(0);
//   tilec::Stream s = dev.createStream();
//   auto x = tilec::Array<tilec::f32, 1>::fromHost(s, values);
//   auto y = tilec::Array<tilec::f32, 1>::zeros(s, x.shape());
//   tilec::Kernel k = tilec::Module::fromFile("double.tilemod").kernel("twice");
//   k.launch(s, x, y);
//   std::vector<float> result = y.toHost(s);
//
// To compile source at run time, add <tilec/jit.h> and libtilec_jit.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TILEC_H
#define TILEC_TILEC_H

#include "tilec/Runtime/Array.h"
#include "tilec/Runtime/Device.h"
#include "tilec/Runtime/Error.h"
#include "tilec/Runtime/Graph.h"
#include "tilec/Runtime/HostTypes.h"
#include "tilec/Runtime/Kernel.h"
#include "tilec/Runtime/Module.h"

#endif // TILEC_TILEC_H
