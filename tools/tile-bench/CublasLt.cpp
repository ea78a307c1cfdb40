//===- CublasLt.cpp - the vendor's products, opened at run time -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "CublasLt.h"

#include <dlfcn.h>

namespace tilec::bench {

using namespace cublaslt;

struct CublasLt::Functions {
  size_t (*getVersion)();
  Status (*create)(void **handle);
  Status (*destroy)(void *handle);
  Status (*matmulDescCreate)(void **desc, int computeType, int scaleType);
  Status (*matmulDescSetAttribute)(void *desc, int attribute, const void *value, size_t bytes);
  Status (*matrixLayoutCreate)(void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld);
  Status (*preferenceCreate)(void **preference);
  Status (*preferenceSetAttribute)(void *preference, int attribute, const void *value, size_t bytes);
  Status (*getHeuristic)(void *handle, void *desc, void *a, void *b, void *c, void *d,
                         void *preference, int wanted, HeuristicResult *results, int *found);
  Status (*matmul)(void *handle, void *desc, const void *alpha, const void *a, void *aLayout,
                   const void *b, void *bLayout, const void *beta, const void *c, void *cLayout,
                   void *d, void *dLayout, const Algo *algo, void *workspace, size_t bytes,
                   CUstream_st *stream);
};

CublasLt::CublasLt(std::unique_ptr<Functions> functions) : functions(std::move(functions)) {}

CublasLt::~CublasLt() {
  if (handle)
    functions->destroy(handle);
}

template <typename Function>
static bool resolve(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Expected<std::unique_ptr<CublasLt>> CublasLt::open(const std::string &path, void *workspace) {
  void *library = nullptr;
  std::string why;
  for (std::string name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}) {
    library = dlopen(path.empty() ? name.c_str() : path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library)
      break;
    if (const char *text = dlerror(); text && why.empty())
      why = text;
  }
  if (!library)
    return failure("cannot open cuBLASLt: " + why);
  auto f = std::make_unique<Functions>();
  bool isWhole = resolve(library, "cublasLtGetVersion", f->getVersion) &&
                 resolve(library, "cublasLtCreate", f->create) &&
                 resolve(library, "cublasLtDestroy", f->destroy) &&
                 resolve(library, "cublasLtMatmulDescCreate", f->matmulDescCreate) &&
                 resolve(library, "cublasLtMatmulDescSetAttribute", f->matmulDescSetAttribute) &&
                 resolve(library, "cublasLtMatrixLayoutCreate", f->matrixLayoutCreate) &&
                 resolve(library, "cublasLtMatmulPreferenceCreate", f->preferenceCreate) &&
                 resolve(library, "cublasLtMatmulPreferenceSetAttribute", f->preferenceSetAttribute) &&
                 resolve(library, "cublasLtMatmulAlgoGetHeuristic", f->getHeuristic) &&
                 resolve(library, "cublasLtMatmul", f->matmul);
  if (!isWhole)
    return failure("cuBLASLt lacks a function: it is too old");
  std::unique_ptr<CublasLt> result(new CublasLt(std::move(f)));
  result->workspace = workspace;
  if (Status status = result->functions->create(&result->handle); status != success)
    return failure("cublasLtCreate fails with " + std::to_string(status));
  return result;
}

std::string CublasLt::version() const {
  return "cuBLASLt " + std::to_string(functions->getVersion());
}

static int dataType(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return R16F;
  case DType::BF16:
    return R16BF;
  case DType::F64:
    return R64F;
  case DType::I8:
    return R8I;
  case DType::I32:
    return R32I;
  case DType::F8E4M3:
    return R8E4M3;
  default:
    return R32F;
  }
}

Expected<std::function<Expected<void>()>> CublasLt::prepare(const ProductCall &call) {
  const Subject &s = *call.problem->subject;
  int64_t m = call.problem->sizes[0], n = call.problem->sizes[1], k = call.problem->sizes[2];
  bool isNT = s.work == Work::ProductNT;
  bool isWide = s.dtype == DType::F64, isWhole = s.dtype == DType::I8;
  bool isTF32 = s.constants.find("TF32=true") != std::string_view::npos;
  int compute = isWide ? Compute64F : isWhole ? Compute32I : isTF32 ? Compute32FFastTF32 : Compute32F;

  // Kept by the launcher for the rest of the process.
  void *desc = nullptr, *a = nullptr, *b = nullptr, *c = nullptr, *preference = nullptr;
  Status worst = success;
  auto call1 = [&](Status status) { worst = status != success ? status : worst; };
  auto set = [&](DescAttribute attribute, auto value) {
    call1(functions->matmulDescSetAttribute(desc, attribute, &value, sizeof(value)));
  };
  call1(functions->matmulDescCreate(&desc, compute, isWide ? R64F : isWhole ? R32I : R32F));
  if (worst != success)
    return failure("cublasLtMatmulDescCreate fails with " + std::to_string(worst));
  set(TransA, int32_t(isNT ? OpT : OpN));
  set(TransB, int32_t(OpN));
  if (s.constants.find("FAST=true") != std::string_view::npos)
    set(FastAccum, int8_t(1));
  if (s.work == Work::ProductBiasGelu) {
    set(EpilogueKind, int32_t(GeluBias));
    set(BiasPointer, call.bias);
    set(BiasDataType, int32_t(dataType(s.dtype)));
  }
  uint64_t rows = isNT ? k : n, cols = isNT ? n : k;
  call1(functions->matrixLayoutCreate(&a, dataType(s.dtype), rows, cols, static_cast<int64_t>(rows)));
  call1(functions->matrixLayoutCreate(&b, dataType(s.dtype), k, m, k));
  call1(functions->matrixLayoutCreate(&c, dataType(s.result), n, m, n));
  call1(functions->preferenceCreate(&preference));
  size_t bytes = workspaceBytes;
  call1(functions->preferenceSetAttribute(preference, MaxWorkspaceBytes, &bytes, sizeof(bytes)));
  HeuristicResult best{};
  int found = 0;
  if (worst == success)
    call1(functions->getHeuristic(handle, desc, a, b, c, c, preference, 1, &best, &found));
  if (worst != success || found == 0)
    return failure("cuBLASLt has no algorithm for it (status " + std::to_string(worst) + ")");

  return std::function<Expected<void>()>([=, this]() -> Expected<void> {
    // Factors are of the scale type; their bits are kept in 8 bytes.
    union {
      float f;
      double d;
      int32_t i;
    } one{}, zero{};
    zero.d = 0;
    if (isWide)
      one.d = 1;
    else if (isWhole)
      one.i = 1;
    else
      one.f = 1;
    Status status = functions->matmul(handle, desc, &one, call.b, a, call.a, b, &zero, call.c, c, call.c, c,
                                      &best.algo, workspace, workspaceBytes, call.stream);
    if (status != success)
      return failure("cublasLtMatmul fails with " + std::to_string(status));
    return {};
  });
}

} // namespace tilec::bench
