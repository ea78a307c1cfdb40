//===- CublasLtAbiTest.cpp - our declarations against its header -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Built where the CUDA toolkit is installed: numbers and sizes of our declarations are
// those of cublasLt.h.
//
//===------------------------------------------------------------------------===//

#include "CublasLt.h"

#include "gtest/gtest.h"

#include <cublasLt.h>

namespace ours = tilec::bench::cublaslt;

static_assert(int(ours::success) == CUBLAS_STATUS_SUCCESS);
static_assert(int(ours::R32F) == CUDA_R_32F);
static_assert(int(ours::R64F) == CUDA_R_64F);
static_assert(int(ours::R16F) == CUDA_R_16F);
static_assert(int(ours::R8I) == CUDA_R_8I);
static_assert(int(ours::R32I) == CUDA_R_32I);
static_assert(int(ours::R16BF) == CUDA_R_16BF);
static_assert(int(ours::R8E4M3) == CUDA_R_8F_E4M3);
static_assert(int(ours::Compute32F) == CUBLAS_COMPUTE_32F);
static_assert(int(ours::Compute64F) == CUBLAS_COMPUTE_64F);
static_assert(int(ours::Compute32I) == CUBLAS_COMPUTE_32I);
static_assert(int(ours::Compute32FFastTF32) == CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(int(ours::OpN) == CUBLAS_OP_N && int(ours::OpT) == CUBLAS_OP_T);
static_assert(int(ours::TransA) == CUBLASLT_MATMUL_DESC_TRANSA);
static_assert(int(ours::TransB) == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(int(ours::EpilogueKind) == CUBLASLT_MATMUL_DESC_EPILOGUE);
static_assert(int(ours::BiasPointer) == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
static_assert(int(ours::FastAccum) == CUBLASLT_MATMUL_DESC_FAST_ACCUM);
static_assert(int(ours::BiasDataType) == CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
static_assert(int(ours::GeluBias) == CUBLASLT_EPILOGUE_GELU_BIAS);
static_assert(int(ours::MaxWorkspaceBytes) == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(sizeof(ours::Algo) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(ours::HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(ours::HeuristicResult, workspaceSize) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(ours::HeuristicResult, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));

TEST(CublasLtAbi, ResultsAreReadAsTheyAreWritten) {
  cublasLtMatmulHeuristicResult_t theirs{};
  theirs.algo.data[7] = 5;
  theirs.workspaceSize = 123;
  theirs.state = CUBLAS_STATUS_NOT_SUPPORTED;
  theirs.wavesCount = 1.5f;
  const auto &read = reinterpret_cast<const ours::HeuristicResult &>(theirs);
  EXPECT_EQ(read.algo.data[7], 5u);
  EXPECT_EQ(read.workspaceSize, 123u);
  EXPECT_EQ(read.state, int(CUBLAS_STATUS_NOT_SUPPORTED));
  EXPECT_EQ(read.wavesCount, 1.5f);
}
