//===- TensorMapCache.cpp - tensor maps of repeated launches ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: a description. Out: the driver's encoding, from the cache or from
// cuTensorMapEncodeTiled. What lies outside of the array reads as zeros; L2 fetches
// 256 bytes where a row of the box has half of that and rows of the array begin at
// lines, else 128.
//
//===------------------------------------------------------------------------===//

#include "TensorMapCache.h"

#include <algorithm>

using namespace tilec;

/// Only the width of an integer matters for a copy.
static cuda::TensorMapType typeOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return cuda::TensorMapF16;
  case DType::BF16:
    return cuda::TensorMapBF16;
  case DType::F32:
  case DType::TF32:
    return cuda::TensorMapF32;
  case DType::F64:
    return cuda::TensorMapF64;
  case DType::I32:
    return cuda::TensorMapI32;
  case DType::I64:
  case DType::Int:
    return cuda::TensorMapI64;
  default:
    break;
  }
  switch (dtypeBytes(dtype)) {
  case 1:
    return cuda::TensorMapU8;
  case 2:
    return cuda::TensorMapU16;
  case 4:
    return cuda::TensorMapU32;
  default:
    return cuda::TensorMapU64;
  }
}

static Expected<void> encodeByDriver(const TensorMapPlan &plan, cuda::TensorMap &out) {
  uint64_t pitches[maxTensorMapRank - 1];
  uint32_t steps[maxTensorMapRank];
  std::copy(std::begin(plan.pitches), std::end(plan.pitches), pitches);
  std::fill(std::begin(steps), std::end(steps), 1u);
  int swizzle = plan.swizzleBytes == 128  ? cuda::Swizzle128
                : plan.swizzleBytes == 64 ? cuda::Swizzle64
                : plan.swizzleBytes == 32 ? cuda::Swizzle32
                                          : cuda::NoSwizzle;
  // Where rows begin within lines of the cache, what is fetched beside a box's two lines a row
  // keeps the cache from what others want.
  constexpr uint64_t lineBytes = 128;
  bool isWide = plan.box[0] * dtypeBytes(plan.dtype) >= lineBytes &&
                std::all_of(pitches, pitches + plan.rank - 1,
                            [](uint64_t pitch) { return pitch % lineBytes == 0; });
  return cuda::check("describing an array for tile copies",
                     cuda::driver()->tensorMapEncodeTiled(
                         &out, typeOf(plan.dtype), plan.rank, plan.base, plan.dims, pitches,
                         plan.box, steps, cuda::tensorMapNotInterleaved, swizzle,
                         isWide ? cuda::Promote256 : cuda::Promote128,
                         cuda::tensorMapOutsideIsZero));
}

/// FNV-1a over the fields, a word at a time.
size_t TensorMapCache::Hash::operator()(const TensorMapPlan &plan) const {
  uint64_t hash = 0xcbf29ce484222325u;
  auto add = [&](uint64_t word) { hash = (hash ^ word) * 0x100000001b3u; };
  add(reinterpret_cast<uintptr_t>(plan.base));
  add(uint64_t(plan.dtype) << 16 | uint64_t(plan.rank) << 8 | plan.swizzleBytes);
  for (uint64_t dim : plan.dims)
    add(dim);
  for (uint64_t pitch : plan.pitches)
    add(pitch);
  for (uint32_t extent : plan.box)
    add(extent);
  return size_t(hash ^ hash >> 32);
}

Expected<void> TensorMapCache::encode(const TensorMapPlan &plan, cuda::TensorMap &out) {
  if (auto known = maps.find(plan); known != maps.end()) {
    out = known->second;
    return {};
  }
  if (auto ok = encodeByDriver(plan, out); !ok)
    return ok;
  if (maps.size() >= mostMaps)
    maps.clear();
  maps.emplace(plan, out);
  return {};
}
