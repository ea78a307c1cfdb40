//===- TypedLaunch.h - what generated headers are made of ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// `tilec --emit=header` writes an object per kernel whose arguments are fields with these types:
// an array of another dtype or rank does not compile, nor does a launch that leaves one out.
// What is only known at run time (a TensorView, whether a number fits) the launch checks.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_RUNTIME_TYPEDLAUNCH_H
#define TILEC_RUNTIME_TYPEDLAUNCH_H

#include "tilec/Runtime/Module.h"

#include <concepts>
#include <span>
#include <string_view>
#include <vector>

namespace tilec {

/// An argument for `array<T, …>` of rank `Rank`.
template <DType T, int Rank>
class ArrayParam {
public:
  ArrayParam(const Array<T, Rank> &array) : view(array.view()) {}
  ArrayParam(const TensorView &view) : view(view) {}
  operator Argument() const { return view; }

private:
  TensorView view;
};

namespace detail {
/// Whether a C++ value of type V may be one of dtype T: of the same kind; whether it fits is seen later.
template <DType T, typename V>
inline constexpr bool isNumberFor =
    T == DType::Bool ? std::same_as<V, bool>
    : isInteger(T)   ? std::integral<V> && !std::same_as<V, bool>
                     : std::same_as<V, HostType<T>> ||
                         (std::constructible_from<double, V> && !std::same_as<V, bool>);
} // namespace detail

/// An argument for a number of dtype T.
template <DType T>
class ScalarParam {
public:
  template <typename V>
    requires(detail::isNumberFor<T, V>)
  ScalarParam(V value) : value(value) {}
  operator Argument() const { return value; }

private:
  Argument value;
};

/// A kernel of a module that is linked in.
inline Expected<Kernel> findLinkedKernel(const Expected<Module> &module, std::string_view name) {
  return module ? module->tryKernel(name) : Expected<Kernel>(module.failure());
}

inline Expected<void> tryLaunchLinked(const Expected<Kernel> &kernel, StreamRef stream,
                                      const LaunchConfig &config, std::span<const Argument> args) {
  return kernel ? kernel->tryLaunchArguments(stream, config, args) : Expected<void>(kernel.failure());
}

/// The grid that a launch on `device` would have.
inline Expected<Grid> tryGridOfLinked(const Expected<Kernel> &kernel, const Device &device,
                                      std::span<const Argument> args) {
  if (!kernel)
    return kernel.failure();
  const KernelInfo &info = kernel->info();
  std::vector<KernelArg> resolved;
  for (size_t i = 0; i < args.size(); ++i) {
    auto arg = args[i].resolve(info.params[i]);
    if (!arg)
      return arg.failure();
    resolved.push_back(*arg);
  }
  auto launcher = Launcher::create(info);
  if (!launcher)
    return launcher.failure();
  launcher->setNumSMs(device.isCpu() ? 1 : device.numSMs());
  return launcher->evaluateGrid(resolved);
}

} // namespace tilec

#endif // TILEC_RUNTIME_TYPEDLAUNCH_H
