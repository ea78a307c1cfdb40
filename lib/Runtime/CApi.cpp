//===- CApi.cpp - the runtime's functions with C linkage -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: C structs. Out: calls of Module and Kernel. No exception leaves: failures become
// a code and a message of the thread.
//
//===------------------------------------------------------------------------===//
#include "tilec/Runtime/C.h"

#include "tilec/Runtime/Module.h"

#include <bit>
#include <exception>

using namespace tilec;

struct tilec_kernel {
  Module module;
  Kernel kernel;
};

static thread_local std::string lastError;

/// Runs `action`, which returns a message or nothing; gives 0 when there was none.
template <typename Action> static int guarded(Action action) {
  try {
    lastError = action();
  } catch (const std::exception &error) {
    lastError = error.what();
  }
  return lastError.empty() ? 0 : 1;
}

/// The argument as the runtime takes it, or why it is none. The numbers of Python and C are
/// converted to the parameter's dtype as those of C++ are.
static Expected<Argument> toArgument(const tilec_argument &argument) {
  std::optional<DType> dtype =
      argument.dtype ? parseDType(argument.dtype) : std::optional<DType>();
  if (!dtype)
    return failure(std::string("there is no dtype '") +
                   (argument.dtype ? argument.dtype : "(null)") + "'");
  if (argument.rank == 0) {
    if (*dtype == DType::Int)
      return Argument(static_cast<int64_t>(argument.bits));
    if (*dtype == DType::F64)
      return Argument(std::bit_cast<double>(argument.bits));
    if (*dtype == DType::Bool)
      return Argument(argument.bits != 0);
    return Argument(ScalarArg{*dtype, argument.bits});
  }
  if (argument.rank < 0 || argument.rank > maxRank)
    return failure("the rank of an array is 1 to 6");
  auto *data = reinterpret_cast<void *>(static_cast<uintptr_t>(argument.bits));
  ArrayArg array = ArrayArg::rowMajor(data, *dtype, argument.dims, argument.rank);
  if (argument.is_strided)
    for (int dim = 0; dim < argument.rank; ++dim)
      array.strides[dim] = argument.strides[dim];
  return Argument(array);
}

tilec_kernel *tilec_load(const char *path, const char *name) {
  tilec_kernel *result = nullptr;
  guarded([&]() -> std::string {
    if (!path || !name)
      return "tilec_load takes the path of a module and the name of a kernel, not NULL";
    Expected<Module> module = Module::tryFromFile(path);
    if (!module)
      return module.failure().message;
    Expected<Kernel> kernel = module->tryKernel(name);
    if (!kernel)
      return kernel.failure().message;
    result = new tilec_kernel{*module, *kernel};
    return "";
  });
  return result;
}

void tilec_unload(tilec_kernel *kernel) { delete kernel; }

int tilec_launch(tilec_kernel *kernel, void *stream, int32_t numArguments,
                 const tilec_argument *arguments) {
  return tilec_launch_grid(kernel, stream, nullptr, numArguments, arguments);
}

int tilec_launch_grid(tilec_kernel *kernel, void *stream, const int64_t *grid,
                      int32_t numArguments, const tilec_argument *arguments) {
  return guarded([&]() -> std::string {
    if (numArguments < 0 || (numArguments > 0 && !arguments))
      return "a launch takes the number of its arguments and where they are, not NULL";
    std::vector<Argument> args;
    args.reserve(size_t(numArguments));
    for (int32_t i = 0; i < numArguments; ++i) {
      Expected<Argument> arg = toArgument(arguments[i]);
      if (!arg)
        return "argument " + std::to_string(i) + ": " + arg.failure().message;
      args.push_back(*arg);
    }
    if (!kernel)
      return "there is no kernel to launch: tilec_load gives NULL when it fails";
    LaunchConfig config;
    if (grid)
      config.grid = Grid{grid[0], grid[1], grid[2]};
    Expected<void> launched = kernel->kernel.tryLaunchArguments(
        StreamRef(static_cast<CUstream_st *>(stream)), config, args);
    return launched ? "" : launched.failure().message;
  });
}

const char *tilec_last_error(void) { return lastError.c_str(); }
