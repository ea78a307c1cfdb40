//===- RewriteForHost.h - from a module for a GPU to one for this machine -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In:  the final module of a kernel, for NVPTX.
// Out: the same module for the host, in place, and what a launch needs to know.
//
//   define ptx_kernel void @k(ptr addrspace(1) %a, i32 %n)
//   ──►
//   define void @k(ptr %thread, ptr %parameters)   ; parameters: array of pointers
//
// Special registers become loads from the thread's context, shared-memory globals
// become offsets from its base of shared memory, intrinsics become plain IR or calls
// of host operations (see HostOperations.h), loops count fuel, and with checks every
// access of memory is preceded by a call.
//
// Refuses, with a message that names it, whatever has no meaning on the host:
// intrinsics without an entry in the tables, inline PTX, indirect calls.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_REWRITEFORHOST_H
#define TILEC_LIB_EMULATOR_REWRITEFORHOST_H

#include "FindingLog.h"
#include "HostOperations.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

namespace tilec::emulator {

/// What is known of a rewritten kernel.
struct HostKernel {
  std::string symbol;
  struct Parameter {
    uint64_t size;
  };
  std::vector<Parameter> parameters;
  std::vector<Site> sites;
  uint32_t staticSharedBytes = 0; ///< dynamic shared memory begins here
  unsigned sharedGranuleLog2 = 4, globalGranuleLog2 = 4;
  /// Room for what the host spills of a thread that holds thousands of values; pages
  /// that are not touched cost nothing.
  size_t stackBytes = 1 << 20;
  /// Globals of the module itself, addressable like arrays.
  struct Global {
    std::string symbol, name;
    uint64_t size;
    bool writable;
  };
  std::vector<Global> globals;
  /// Host operations called, by the symbol that generated code uses.
  llvm::StringMap<Operation> operations;
};

llvm::Expected<HostKernel> rewriteForHost(llvm::Module &module,
                                          llvm::StringRef kernel,
                                          const llvm::Triple &triple,
                                          const llvm::DataLayout &layout,
                                          bool checks);

/// Replaces a call of an intrinsic or helper that is mere arithmetic by plain
/// IR; false when \p call is none of those.
bool expandArithmetic(llvm::CallInst *call);

/// Where instructions come from: numbers places, and knows the context argument.
class SiteTable {
public:
  explicit SiteTable(std::vector<Site> &sites) : sites(sites) {
    if (sites.empty())
      sites.emplace_back();
  }
  /// A new site at the source position of \p instruction.
  uint32_t add(const llvm::Instruction &instruction);
  Site &operator[](uint32_t index) { return sites[index]; }

private:
  std::vector<Site> &sites;
};

/// Inserts a call of the access check before every access of \p function to memory
/// that is not private to a thread. Lowers the granules of \p kernel to the smallest
/// access.
void instrumentAccesses(llvm::Function &function, SiteTable &sites, HostKernel &kernel,
                        llvm::ArrayRef<llvm::Value *> privatePointers);

/// Inserts a check before every use of what the warp-group products of \p function
/// return, but for products and waits: such a value may still be to come.
void instrumentProducts(llvm::Function &function, SiteTable &sites);

/// Replaces calls of the helpers of atomic instructions by llvm's own.
void expandAtomics(llvm::Module &module);

/// Makes every loop of \p function count down the thread's fuel.
void instrumentLoops(llvm::Function &function, SiteTable &sites);

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_REWRITEFORHOST_H
