//===- SampleKernel.h - facts of a made-up matmul -----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The facts that several tests start from:
//
//   kernel matmul<BM: int = 128, …>(a: array<bf16, [m, k]>, b: array<bf16, [k, n]>,
//                                   c: mut array<bf16, [m, n]>, alpha: f32)
//     requires k % 8 == 0
//     grid [cdiv(m, 128), cdiv(n, 128)]
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TEST_UNIT_SUPPORT_SAMPLEKERNEL_H
#define TILEC_TEST_UNIT_SUPPORT_SAMPLEKERNEL_H

#include "tilec/Support/LaunchPlan.h"

namespace tilec {

inline ParamInfo sampleArray(std::string name, DType dtype, std::vector<DimInfo> dims,
                             bool isMutable = false) {
  ParamInfo param;
  param.name = std::move(name);
  param.dtype = dtype;
  param.isArray = true;
  param.isMutable = isMutable;
  param.dims = std::move(dims);
  return param;
}

inline ParamInfo sampleScalar(std::string name, DType dtype) {
  ParamInfo param;
  param.name = std::move(name);
  param.dtype = dtype;
  return param;
}

/// A launch of so many positions along axis 0.
inline LaunchPlan planOf(int64_t numBlocks) {
  LaunchPlan plan;
  plan.grid = {numBlocks, 1, 1};
  plan.numBlocks = numBlocks;
  return plan;
}

inline KernelInfo sampleKernel() {
  KernelInfo info;
  info.name = "matmul";
  info.doc = "C = A x B";
  info.arch = "sm_90a";
  info.params = {sampleArray("a", DType::BF16, {{"m", {}}, {"k", {}}}),
                 sampleArray("b", DType::BF16, {{"k", {}}, {"n", {}}}),
                 sampleArray("c", DType::BF16, {{"m", {}}, {"n", {}}}, true),
                 sampleScalar("alpha", DType::F32)};
  info.grid = {"cdiv(dim(0, 0), 128)", "cdiv(dim(1, 1), 128)"};
  info.requirements = {{"dim(0, 1) % 8 == 0", "k % 8 == 0", "matmul.tile", 4}};
  info.constants = {{"T", "bf16"}, {"BM", "128"}};
  info.hints = {{"num_warps", 8}};
  BuildInfo aligned, general;
  aligned.symbol = "matmul__aligned";
  aligned.facts = static_cast<uint8_t>(BuildFact::Aligned16);
  aligned.threads = general.threads = 256;
  aligned.sharedBytes = general.sharedBytes = 49152;
  general.symbol = "matmul";
  info.builds = {aligned, general};
  return info;
}

} // namespace tilec

#endif // TILEC_TEST_UNIT_SUPPORT_SAMPLEKERNEL_H
