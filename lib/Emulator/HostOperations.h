//===- HostOperations.h - what generated code calls on the host -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// Two kinds of functions are called from the rewritten kernel.
//
// 1. Operations: what the module calls by name, an `llvm.nvvm.*` intrinsic that is
//    more than arithmetic, or a helper `tilec.*`. The call site stores the arguments
//    into a struct of the IR types, in order, and loads the result from another:
//
//      %r = call {i32, i1} @llvm.nvvm.shfl.sync.down.i32p(i32 %m, i32 %v, i32 %d, i32 %c)
//      ──►  operation(thread, &{m, v, d, c}, &r, variant)
//
//    so one calling convention serves every signature on every host, and a helper
//    with 128 accumulators is no special case. To add one: write the function, and
//    add its name to a table in the file of its family. A name that ends in '*'
//    stands for all that begin like it; the longest match wins.
//
// 2. Runtime: access checks, loop fuel, traps; inserted by the rewrite itself.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_LIB_EMULATOR_HOSTOPERATIONS_H
#define TILEC_LIB_EMULATOR_HOSTOPERATIONS_H

#include "Block.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace tilec::emulator {

using Operation = void (*)(ThreadContext &thread, const void *arguments, void *result,
                           uint32_t variant);

struct OperationEntry {
  llvm::StringRef name;
  Operation function;
  uint32_t variant = 0;
  /// Reads the variant from the rest of a name that the entry's '*' stands for;
  /// nothing when there is no such operation.
  std::optional<uint32_t> (*parse)(llvm::StringRef name) = nullptr;
};

/// The operation that \p name calls, or null.
const OperationEntry *findOperation(llvm::StringRef name);

// The tables, one a family.
llvm::ArrayRef<OperationEntry> warpOperations();
llvm::ArrayRef<OperationEntry> barrierOperations();
llvm::ArrayRef<OperationEntry> memoryBarrierOperations();
llvm::ArrayRef<OperationEntry> copyOperations();
llvm::ArrayRef<OperationEntry> bulkCopyOperations();
llvm::ArrayRef<OperationEntry> matrixOperations();
llvm::ArrayRef<OperationEntry> conversionOperations();
llvm::ArrayRef<OperationEntry> warpGroupOperations();
llvm::ArrayRef<OperationEntry> tensorMemoryOperations();
llvm::ArrayRef<OperationEntry> tensorProductOperations();

/// At the end of a block: products and register requests that warps left others alone
/// with.
void reportUnfinishedProducts(Block &block);
/// Likewise: tensor memory that is not freed, products that nobody committed.
void reportUnfinishedTensorMemory(Block &block);
/// Notes an access of \p agent, started by \p thread, to columns of the lanes of
/// \p quarter; false when they are not allocated.
bool checkTensorMemory(ThreadContext &thread, uint32_t quarter, uint32_t column, uint32_t count,
                       AccessKind kind, const AsyncAgent &agent);
/// The mark of a load of tensor memory is used as a value.
void checkLoaded(ThreadContext &thread, uint32_t word, uint32_t site);
/// Called from generated code, see WarpGroup.h.
void checkAvailable(ThreadContext *thread, uint32_t word, uint32_t site);

/// A host function with its symbol in generated code.
struct RuntimeEntry {
  llvm::StringRef name;
  void *address;
};
llvm::ArrayRef<RuntimeEntry> runtimeFunctions();

/// Reads the arguments of an operation: a struct with the fields of the call.
template <typename Arguments> const Arguments &as(const void *arguments) {
  return *static_cast<const Arguments *>(arguments);
}
template <typename Result> Result &to(void *result) {
  return *static_cast<Result *>(result);
}

/// Checks an access of an operation to shared memory (bounds, alignment, races);
/// false when it must not take place. \p address may be a 32- or 64-bit pointer.
bool checkShared(ThreadContext &thread, const void *address, uint32_t size,
                 uint32_t alignment, AccessKind kind,
                 const AsyncAgent *agent = nullptr);

/// The same for global memory.
bool checkGlobal(ThreadContext &thread, const void *address, uint64_t size,
                 uint32_t alignment, AccessKind kind,
                 const AsyncAgent *agent = nullptr);

/// Counts \p bytes as arrived at the mbarrier at \p address, in any block of the cluster;
/// who waits there learns of the step of \p agent, and of all that it knows.
void completeTransaction(ThreadContext &thread, char *address, uint32_t bytes,
                         const AsyncAgent &agent);

/// One arrival at the mbarrier at \p address, of what \p agent did.
void arriveFor(ThreadContext &thread, char *address, const AsyncAgent &agent);

/// Names in generated code of the functions in runtimeFunctions().
namespace symbol {
constexpr const char *check = "tilec.emulator.check";
constexpr const char *checkRange = "tilec.emulator.check_range";
constexpr const char *refuel = "tilec.emulator.refuel";
constexpr const char *fence = "tilec.emulator.fence";
constexpr const char *available = "tilec.emulator.available";
constexpr const char *trap = "tilec.emulator.trap";
constexpr const char *exit = "tilec.emulator.exit";
} // namespace symbol

} // namespace tilec::emulator

#endif // TILEC_LIB_EMULATOR_HOSTOPERATIONS_H
