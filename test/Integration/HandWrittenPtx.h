//===- HandWrittenPtx.h - kernels for tests of the runtime alone --*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Three small kernels in PTX, with their launch facts, so that the runtime is
// tested on a GPU without the compiler:
//
//   twice(x: array<f32, [n]>, y: mut array<f32, [n]>)   y = 2 x
//   far(y: mut array<f32, [n]>)                         through 96 KiB of shared memory
//   fault(y: mut array<f32, [n]>)                       writes to address 0
//
// and one for chips that launch a grid before the one ahead of it ends:
//
//   mirror(x: array<f32, [n]>, y: mut array<f32, [n]>)  y[i] = x[n - 1 - i] + 1, slowly
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TEST_INTEGRATION_HANDWRITTENPTX_H
#define TILEC_TEST_INTEGRATION_HANDWRITTENPTX_H

#include "tilec/Support/ModuleFile.h"

namespace tilec {

inline constexpr const char *handWrittenPtx = R"(
.version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 tilec_smem[];

.visible .entry twice(.param .u64 x, .param .u64 nx, .param .u64 y, .param .u64 ny,
                      .param .u32 gx, .param .u32 gy, .param .u32 gz)
{
  .reg .pred %p<2>; .reg .f32 %f<3>; .reg .b32 %r<4>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [nx];
  ld.param.u64 %rd3, [y];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ntid.x;
  mul.wide.u32 %rd4, %r1, %r3;
  cvt.u64.u32 %rd5, %r2;
  add.s64 %rd4, %rd4, %rd5;
  setp.ge.s64 %p1, %rd4, %rd2;
  @%p1 ret;
  shl.b64 %rd6, %rd4, 2;
  add.s64 %rd7, %rd1, %rd6;
  ld.global.f32 %f1, [%rd7];
  add.f32 %f2, %f1, %f1;
  add.s64 %rd8, %rd3, %rd6;
  st.global.f32 [%rd8], %f2;
  ret;
}

.visible .entry far(.param .u64 y, .param .u64 ny,
                    .param .u32 gx, .param .u32 gy, .param .u32 gz)
{
  .reg .f32 %f<2>; .reg .b32 %r<3>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [y];
  mov.u32 %r1, %ctaid.x;
  cvt.rn.f32.u32 %f1, %r1;
  mov.u32 %r2, tilec_smem;
  st.shared.f32 [%r2+98300], %f1;
  ld.shared.f32 %f1, [%r2+98300];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f1;
  ret;
}

.visible .entry fault(.param .u64 y, .param .u64 ny,
                      .param .u32 gx, .param .u32 gy, .param .u32 gz)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  mov.u64 %rd1, 0;
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

inline KernelInfo handWrittenKernel(const char *name, bool hasInput, const char *grid,
                                    unsigned threads, unsigned sharedBytes) {
  auto array = [](const char *param, bool isMutable) {
    ParamInfo p;
    p.name = param;
    p.dtype = DType::F32;
    p.isArray = true;
    p.isMutable = isMutable;
    p.dims = {{"n", {}}};
    return p;
  };
  KernelInfo info;
  info.name = name;
  info.arch = "sm_80";
  if (hasInput)
    info.params.push_back(array("x", false));
  info.params.push_back(array("y", true));
  info.grid = {grid};
  BuildInfo build;
  build.symbol = name;
  build.threads = threads;
  build.sharedBytes = sharedBytes;
  info.builds = {build};
  return info;
}

inline ModuleFile handWrittenModule() {
  ModuleFile file;
  file.images = {{"sm_80",
                  ImageKind::PTX,
                  {handWrittenPtx},
                  {handWrittenKernel("twice", true, "cdiv(dim(0, 0), 128)", 128, 0),
                   handWrittenKernel("far", false, "dim(0, 0)", 32, 96 << 10),
                   handWrittenKernel("fault", false, "1", 32, 0)}}};
  return file;
}

/// Waits for the grid ahead of it, and has let the next one go before it stores.
inline constexpr const char *dependentPtx = R"(
.version 7.8
.target sm_90
.address_size 64
.visible .entry mirror(.param .u64 x, .param .u64 nx, .param .u64 y, .param .u64 ny,
                       .param .u32 gx, .param .u32 gy, .param .u32 gz)
{
  .reg .pred %p<2>; .reg .f32 %f<3>; .reg .b32 %r<5>; .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [nx];
  ld.param.u64 %rd3, [y];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ntid.x;
  mul.wide.u32 %rd4, %r1, %r3;
  cvt.u64.u32 %rd5, %r2;
  add.s64 %rd4, %rd4, %rd5;
  griddepcontrol.wait;
  griddepcontrol.launch_dependents;
  setp.ge.s64 %p1, %rd4, %rd2;
  @%p1 ret;
  sub.s64 %rd6, %rd2, %rd4;
  shl.b64 %rd7, %rd6, 2;
  add.s64 %rd8, %rd1, %rd7;
  ld.global.f32 %f1, [%rd8+-4];
  add.f32 %f2, %f1, 0f3F800000;
  mov.u32 %r4, 2000;
  nanosleep.u32 %r4;
  shl.b64 %rd9, %rd4, 2;
  add.s64 %rd10, %rd3, %rd9;
  st.global.f32 [%rd10], %f2;
  ret;
}
)";

inline ModuleFile dependentModule() {
  KernelInfo info = handWrittenKernel("mirror", true, "cdiv(dim(0, 0), 128)", 128, 0);
  info.arch = "sm_90";
  info.builds[0].awaitsGrids = true;
  ModuleFile file;
  file.images = {{"sm_90", ImageKind::PTX, {dependentPtx}, {info}}};
  return file;
}

} // namespace tilec

#endif // TILEC_TEST_INTEGRATION_HANDWRITTENPTX_H
