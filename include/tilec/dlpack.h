//===- dlpack.h - tensors of other libraries ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Tensors that PyTorch, JAX, CuPy and others hand over by DLPack become arguments of launches, and
// ours go back, without a copy. The header of DLPack is the program's own (0.6 or newer);
// link nothing more.
//
//   #include <tilec/dlpack.h>
//
//   k.launch(s, tilec::viewOf(tensor, device));                    // DLTensor: borrowed
//   tilec::DLPackTensor x = tilec::DLPackTensor::take(managed, device);   // DLManagedTensor: owned,
//   k.launch(s, x);                                                       //   also the versioned one
//   DLManagedTensor *out = tilec::toDLPack(std::move(array), device);     // whoever takes it frees it
//
// A view becomes a KernelArg by `getArg()`. DLPack does not say which stream a tensor is ready on:
// who hands it over orders the streams, as `__dlpack__(stream=…)` does.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_DLPACK_H
#define TILEC_DLPACK_H

#include "tilec/Runtime/Array.h"

#include <dlpack/dlpack.h>

#include <iterator>
#include <memory>
#include <string>
#include <utility>

#if defined(DLPACK_MAJOR_VERSION)
#define TILEC_DLPACK_HAS_VERSIONS 1
#endif

namespace tilec {

namespace detail {

/// Codes of DLPack's dtypes, also of those that came after the program's header: the numbers are
/// the interface. f8 is of 1.1, bool of 0.8.
enum DLPackCode : uint8_t {
  dlInt = 0, dlUInt = 1, dlFloat = 2, dlBFloat = 4, dlBool = 6, dlF8E4M3FN = 10, dlF8E5M2 = 12,
};

struct DLPackRow {
  DType dtype;
  uint8_t code, bits;
};
/// The first row of a dtype is how it goes out. `int` is i64 outside of the language.
inline constexpr DLPackRow dlpackRows[] = {
    {DType::Bool, dlBool, 8},   {DType::I8, dlInt, 8},     {DType::I16, dlInt, 16},
    {DType::I32, dlInt, 32},    {DType::I64, dlInt, 64},   {DType::U8, dlUInt, 8},
    {DType::U16, dlUInt, 16},   {DType::U32, dlUInt, 32},  {DType::U64, dlUInt, 64},
    {DType::Int, dlInt, 64},    {DType::F16, dlFloat, 16}, {DType::BF16, dlBFloat, 16},
    {DType::F32, dlFloat, 32},  {DType::F64, dlFloat, 64}, {DType::F8E4M3, dlF8E4M3FN, 8},
    {DType::F8E5M2, dlF8E5M2, 8}};

/// `float 16`, `code 5 of 64 bits` where it has no name here.
inline std::string spellDLPackType(DLDataType type) {
  const char *names[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  std::string bits = std::to_string(type.bits);
  std::string text = type.code < std::size(names) ? names[type.code] + (" " + bits)
                                                  : "code " + std::to_string(type.code) + " of " + bits + " bits";
  return type.lanes == 1 ? text : text + " in vectors of " + std::to_string(type.lanes);
}

inline std::string spellDLPackDevice(DLDevice device) {
  std::string number = std::to_string(device.device_id);
  switch (device.device_type) {
  case kDLCPU:
    return "in host memory";
  case kDLCUDA:
    return "on GPU " + number;
  case kDLCUDAHost:
    return "in pinned host memory";
  case kDLCUDAManaged:
    return "in managed memory";
  default:
    return "on a device of DLPack's type " + std::to_string(int(device.device_type));
  }
}

inline Failure dlpackFailure(const std::string &message) { return failure("DLPack tensor: " + message); }

} // namespace detail

/// The dtype of a DLPack tensor's elements, or why the language has none.
inline Expected<DType> tryDType(DLDataType type) {
  for (const detail::DLPackRow &row : detail::dlpackRows)
    if (type.lanes == 1 && row.code == type.code && row.bits == type.bits)
      return row.dtype;
  return detail::dlpackFailure(
      "there is no dtype for elements of " + detail::spellDLPackType(type) +
      (type.code == kDLComplex ? "; view it as real numbers with one dim more" : ""));
}

/// How DLPack writes a dtype. (tf32 has no arrays.)
inline Expected<DLDataType> tryDLPackType(DType dtype) {
  for (const detail::DLPackRow &row : detail::dlpackRows)
    if (row.dtype == dtype)
      return DLDataType{row.code, row.bits, 1};
  return detail::dlpackFailure("there are no arrays of " + std::string(dtypeName(dtype)));
}

/// `tensor` as an argument of launches on `device`, which has to outlive them: of a tensor in that
/// device's memory, or in managed or pinned memory; on Device::cpu(), in host memory.
inline Expected<TensorView> tryViewOf(const DLTensor &tensor, const Device &device) {
  bool isAnywhere =
      tensor.device.device_type == kDLCUDAManaged || tensor.device.device_type == kDLCUDAHost;
  bool isHere = device.isCpu() ? tensor.device.device_type == kDLCPU
                               : tensor.device.device_type == kDLCUDA &&
                                     tensor.device.device_id == device.ordinal();
  if (!isHere && !isAnywhere)
    return detail::dlpackFailure(
        "it is " + detail::spellDLPackDevice(tensor.device) + ", the launch is on " +
        (device.isCpu() ? "the CPU" : "GPU " + std::to_string(device.ordinal())) +
        ": copy it there first");
  auto dtype = tryDType(tensor.dtype);
  if (!dtype)
    return dtype.failure();
  if (tensor.ndim < 1 || tensor.ndim > maxRank)
    return detail::dlpackFailure("it has " + std::to_string(tensor.ndim) + " dims, arrays have 1 to " +
                                 std::to_string(maxRank) +
                                 (tensor.ndim == 0 ? ": pass its value, or view it as [1]" : ""));
  bool isEmpty = false;
  for (int d = 0; d < tensor.ndim; ++d) {
    if (tensor.shape[d] < 0)
      return detail::dlpackFailure("dim " + std::to_string(d) + " is " + std::to_string(tensor.shape[d]));
    isEmpty |= tensor.shape[d] == 0;
  }
  char *data = static_cast<char *>(tensor.data);
  if (!data && !isEmpty)
    return detail::dlpackFailure("it has elements, but no address");
  if (data)
    data += tensor.byte_offset;
  if (reinterpret_cast<uintptr_t>(data) % dtypeBytes(*dtype))
    return detail::dlpackFailure("it begins at an address that is no multiple of the " +
                                 std::to_string(dtypeBytes(*dtype)) + " bytes of an element");
  ArrayArg array = ArrayArg::rowMajor(data, *dtype, tensor.shape, tensor.ndim);
  // Libraries write anything for an axis of one element.
  for (int d = 0; tensor.strides && d < tensor.ndim; ++d)
    if (tensor.shape[d] > 1)
      array.strides[d] = tensor.strides[d];
  return TensorView(array);
}
inline TensorView viewOf(const DLTensor &tensor, const Device &device) {
  return valueOrThrow(tryViewOf(tensor, device));
}

/// A tensor that another library has handed over, until it is given back.
class DLPackTensor {
public:
  /// Takes `managed` over if it succeeds: the last copy of the result gives it back.
  static DLPackTensor take(DLManagedTensor *managed, const Device &device) {
    return valueOrThrow(tryTake(managed, device));
  }
  static Expected<DLPackTensor> tryTake(DLManagedTensor *managed, const Device &device) {
    if (!managed)
      return detail::dlpackFailure("there is none");
    return own(managed, device, /*isReadOnly=*/false);
  }

#ifdef TILEC_DLPACK_HAS_VERSIONS
  static DLPackTensor take(DLManagedTensorVersioned *managed, const Device &device) {
    return valueOrThrow(tryTake(managed, device));
  }
  static Expected<DLPackTensor> tryTake(DLManagedTensorVersioned *managed, const Device &device) {
    if (!managed)
      return detail::dlpackFailure("there is none");
    // All but the version and the deleter may be another thing in another major version.
    if (managed->version.major != DLPACK_MAJOR_VERSION)
      return detail::dlpackFailure("it is of DLPack " + std::to_string(managed->version.major) + "." +
                                   std::to_string(managed->version.minor) +
                                   ", this program was compiled with " +
                                   std::to_string(DLPACK_MAJOR_VERSION) + "." +
                                   std::to_string(DLPACK_MINOR_VERSION));
    return own(managed, device, (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0);
  }
#endif

  const TensorView &view() const { return tensor; }
  operator TensorView() const { return tensor; }
  /// Whoever handed it over wants it unchanged: pass it for no `mut` array.
  bool isReadOnly() const { return readOnly; }

private:
  template <typename Managed>
  static Expected<DLPackTensor> own(Managed *managed, const Device &device, bool isReadOnly) {
    auto view = tryViewOf(managed->dl_tensor, device);
    if (!view)
      return view.failure();
    std::shared_ptr<void> owner(managed, [](void *pointer) {
      auto *managed = static_cast<Managed *>(pointer);
      if (managed->deleter)
        managed->deleter(managed);
    });
    return DLPackTensor(*view, std::move(owner), isReadOnly);
  }
  DLPackTensor(const TensorView &tensor, std::shared_ptr<void> owner, bool readOnly)
      : tensor(tensor), owner(std::move(owner)), readOnly(readOnly) {}

  TensorView tensor;
  std::shared_ptr<void> owner;
  bool readOnly;
};

namespace detail {

/// What a tensor that we hand over points to.
template <typename Managed>
struct HandedOver {
  Managed managed = {};
  int64_t shape[maxRank], strides[maxRank];
  std::shared_ptr<void> owner;
};

template <typename Managed>
Expected<Managed *> handOver(const TensorView &view, DLDevice device, std::shared_ptr<void> owner) {
  const ArrayArg &array = view.getArg();
  auto type = tryDLPackType(array.dtype);
  if (!type)
    return type.failure();
  if (array.rank < 0 || array.rank > maxRank)
    return dlpackFailure("the array has " + std::to_string(array.rank) + " dims");
  auto *made = new HandedOver<Managed>;
  made->owner = std::move(owner);
  for (int d = 0; d < array.rank; ++d) {
    made->shape[d] = array.dims[d];
    made->strides[d] = array.strides[d];
  }
  DLTensor &tensor = made->managed.dl_tensor;
  tensor.data = array.data;
  tensor.device = device;
  tensor.ndim = array.rank;
  tensor.dtype = *type;
  tensor.shape = made->shape;
  tensor.strides = made->strides;
  tensor.byte_offset = 0;
  made->managed.manager_ctx = made;
  made->managed.deleter = [](Managed *self) {
    delete static_cast<HandedOver<Managed> *>(self->manager_ctx);
  };
  return &made->managed;
}

} // namespace detail

/// How DLPack names a device.
inline DLDevice dlpackDevice(const Device &device) {
  return device.isCpu() ? DLDevice{kDLCPU, 0} : DLDevice{kDLCUDA, device.ordinal()};
}

/// A tensor for another library, of memory on `device` that `owner` keeps (null: somebody does).
/// Whoever takes it calls its deleter.
inline Expected<DLManagedTensor *> tryToDLPack(const TensorView &view, const Device &device,
                                               std::shared_ptr<void> owner = nullptr) {
  return detail::handOver<DLManagedTensor>(view, dlpackDevice(device), std::move(owner));
}
inline DLManagedTensor *toDLPack(const TensorView &view, const Device &device,
                                 std::shared_ptr<void> owner = nullptr) {
  return valueOrThrow(tryToDLPack(view, device, std::move(owner)));
}
/// The same of an array, which goes with it.
template <DType T, int Rank>
DLManagedTensor *toDLPack(Array<T, Rank> &&array, const Device &device) {
  auto owner = std::make_shared<Array<T, Rank>>(std::move(array));
  return toDLPack(owner->view(), device, owner);
}

#ifdef TILEC_DLPACK_HAS_VERSIONS
inline Expected<DLManagedTensorVersioned *>
tryToDLPackVersioned(const TensorView &view, const Device &device, std::shared_ptr<void> owner = nullptr,
                     bool isReadOnly = false) {
  auto managed =
      detail::handOver<DLManagedTensorVersioned>(view, dlpackDevice(device), std::move(owner));
  if (managed) {
    (*managed)->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    (*managed)->flags = isReadOnly ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  }
  return managed;
}
inline DLManagedTensorVersioned *toDLPackVersioned(const TensorView &view, const Device &device,
                                                   std::shared_ptr<void> owner = nullptr,
                                                   bool isReadOnly = false) {
  return valueOrThrow(tryToDLPackVersioned(view, device, std::move(owner), isReadOnly));
}
template <DType T, int Rank>
DLManagedTensorVersioned *toDLPackVersioned(Array<T, Rank> &&array, const Device &device) {
  auto owner = std::make_shared<Array<T, Rank>>(std::move(array));
  return toDLPackVersioned(owner->view(), device, owner);
}
#endif

} // namespace tilec

#endif // TILEC_DLPACK_H
