//===- CublasLt.h - the vendor's products, opened at run time - -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Declarations of the part of cuBLASLt that one product needs, written from its
// documentation, and a peer made of them: the first algorithm of its heuristic, with
// 64 MiB to work in. Neither header nor library is needed to build.
//
// cuBLASLt's matrices are column-major. A row-major c = a x b is c' = b' x a' there,
// so the operands change places and the sizes m and n too.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILEBENCH_CUBLASLT_H
#define TILEC_TOOLS_TILEBENCH_CUBLASLT_H

#include "Subjects.h"

#include "tilec/Support/Expected.h"

#include <functional>
#include <memory>
#include <string>

struct CUstream_st;

namespace tilec::bench {

namespace cublaslt {
using Status = int;
inline constexpr Status success = 0;

enum DataType { R32F = 0, R64F = 1, R16F = 2, R8I = 3, R32I = 10, R16BF = 14, R8E4M3 = 28 };
enum ComputeType { Compute32F = 68, Compute64F = 70, Compute32I = 72, Compute32FFastTF32 = 77 };
enum Operation { OpN = 0, OpT = 1 };
enum DescAttribute { TransA = 3, TransB = 4, EpilogueKind = 7, BiasPointer = 8, FastAccum = 25, BiasDataType = 26 };
enum Epilogue { GeluBias = 36 };
enum PreferenceAttribute { MaxWorkspaceBytes = 1 };

struct Algo {
  uint64_t data[8];
};
struct HeuristicResult {
  Algo algo;
  size_t workspaceSize;
  Status state;
  float wavesCount;
  int reserved[4];
};
} // namespace cublaslt

/// One product, with everything on the device.
struct ProductCall {
  const Problem *problem;
  const void *a, *b, *bias; ///< bias: of ProductBiasGelu only
  void *c;
  CUstream_st *stream;
};

class CublasLt {
public:
  static constexpr size_t workspaceBytes = size_t(64) << 20;

  /// Opens the library: `path`, or without one by the names it is installed under. The
  /// device's context is current.
  static Expected<std::unique_ptr<CublasLt>> open(const std::string &path, void *workspace);
  ~CublasLt();

  /// "cuBLASLt 130200".
  std::string version() const;
  /// A launcher of the product; a failure where the library has none.
  Expected<std::function<Expected<void>()>> prepare(const ProductCall &call);

private:
  struct Functions;
  explicit CublasLt(std::unique_ptr<Functions> functions);

  std::unique_ptr<Functions> functions;
  void *handle = nullptr, *workspace = nullptr;
};

} // namespace tilec::bench

#endif // TILEC_TOOLS_TILEBENCH_CUBLASLT_H
