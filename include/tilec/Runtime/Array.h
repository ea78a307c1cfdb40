//===- Array.h - memory and views of it ---------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
//   Buffer          owned bytes: stream-ordered device memory, managed memory, or
//                   pinned host memory
//   Array<T, R>     an owned, row-major array of dtype T and rank R
//   TensorView      pointer, dtype, shape, strides of memory owned elsewhere
//
//   auto a = tilec::Array<tilec::bf16, 2>::empty(s, {M, K});
//   auto b = tilec::Array<tilec::f32, 1>::fromHost(s, values);   // std::span<const float>
//   std::vector<float> back = b.toHost(s);
//
// Copies are ordered on the stream given; toHost waits for it. On Device::cpu()
// memory is host memory and copies happen at once.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_RUNTIME_ARRAY_H
#define TILEC_RUNTIME_ARRAY_H

#include "tilec/Runtime/Device.h"
#include "tilec/Runtime/HostTypes.h"
#include "tilec/Support/KernelArg.h"

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace tilec {

enum class MemoryKind : uint8_t {
  Device,  ///< allocated and freed in stream order
  Managed, ///< one pointer for host and device
  Pinned,  ///< host memory that the device can reach
};

/// Owned bytes; move only.
class Buffer {
public:
  Buffer() = default;
  /// `bytes` of memory; a device buffer must be used on `stream`, or after waiting
  /// for it, and is freed in its order.
  static Buffer allocate(const Stream &stream, size_t bytes, MemoryKind kind = MemoryKind::Device) {
    return valueOrThrow(tryAllocate(stream, bytes, kind));
  }
  static Expected<Buffer> tryAllocate(const Stream &stream, size_t bytes,
                                      MemoryKind kind = MemoryKind::Device);

  Buffer(Buffer &&other) noexcept { swap(other); }
  Buffer &operator=(Buffer &&other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer();

  void *data() const { return pointer; }
  size_t size() const { return bytes; }
  Device device() const;

private:
  void swap(Buffer &other) noexcept {
    std::swap(pointer, other.pointer);
    std::swap(bytes, other.bytes);
    std::swap(kind, other.kind);
    std::swap(stream, other.stream);
  }

  void *pointer = nullptr;
  size_t bytes = 0;
  MemoryKind kind = MemoryKind::Device;
  std::shared_ptr<StreamState> stream;
};

/// Copies between host and device memory in stream order; either side may be host
/// memory. Pageable host memory makes the call wait.
Expected<void> tryCopy(StreamRef stream, void *to, const void *from, size_t bytes);
inline void copy(StreamRef stream, void *to, const void *from, size_t bytes) {
  valueOrThrow(tryCopy(stream, to, from, bytes));
}
/// Sets each byte.
Expected<void> tryFillBytes(StreamRef stream, void *to, uint8_t value, size_t bytes);

/// Memory owned elsewhere.
class TensorView {
public:
  TensorView(void *data, DType dtype, std::initializer_list<int64_t> shape)
      : array(ArrayArg::rowMajor(data, dtype, shape)) {}
  TensorView(void *data, DType dtype, std::span<const int64_t> shape)
      : array(ArrayArg::rowMajor(data, dtype, shape.data(), static_cast<int>(shape.size()))) {}
  /// Strides count elements; as many as dims (missing ones count as 0).
  TensorView(void *data, DType dtype, std::span<const int64_t> shape,
             std::span<const int64_t> strides)
      : TensorView(data, dtype, shape) {
    for (size_t i = 0; i < static_cast<size_t>(maxRank); ++i)
      array.strides[i] = i < strides.size() ? strides[i] : 0;
  }
  explicit TensorView(const ArrayArg &array) : array(array) {}

  const ArrayArg &getArg() const { return array; }

private:
  ArrayArg array;
};

/// An owned array in device memory, row-major.
template <DType T, int Rank>
class Array {
  static_assert(Rank >= 1 && Rank <= maxRank, "arrays have rank 1 to 6");
  static_assert(T != DType::TF32, "there are no tf32 arrays");

public:
  using Element = HostType<T>;
  using Shape = std::array<int64_t, Rank>;

  /// Uninitialised memory. No dim may be negative.
  static Array empty(const Stream &stream, Shape shape, MemoryKind kind = MemoryKind::Device) {
    return valueOrThrow(tryEmpty(stream, shape, kind));
  }
  static Expected<Array> tryEmpty(const Stream &stream, Shape shape,
                                  MemoryKind kind = MemoryKind::Device) {
    size_t count = 1;
    for (int64_t dim : shape) {
      if (dim < 0)
        return tilec::failure("array dim is " + std::to_string(dim));
      if (dim != 0 && count > (size_t(1) << 60) / static_cast<size_t>(dim))
        return tilec::failure("array has more than 2^60 elements");
      count *= static_cast<size_t>(dim);
    }
    auto buffer = Buffer::tryAllocate(stream, count * dtypeBytes(T), kind);
    if (!buffer)
      return std::move(buffer.failure());
    return Array(std::move(*buffer), shape);
  }
  static Array zeros(const Stream &stream, Shape shape) {
    Array a = empty(stream, shape);
    valueOrThrow(tryFillBytes(stream, a.data(), 0, a.bytes()));
    return a;
  }
  /// A copy of `values`, row-major; their number must be the shape's.
  static Array fromHost(const Stream &stream, std::span<const Element> values, Shape shape) {
    Array a = empty(stream, shape);
    if (values.size() != a.size())
      throwError(tilec::failure("array of " + std::to_string(a.size()) + " elements from " +
                                std::to_string(values.size()) + " values"));
    copy(stream, a.data(), values.data(), a.bytes());
    return a;
  }
  static Array fromHost(const Stream &stream, std::span<const Element> values)
    requires(Rank == 1)
  {
    return fromHost(stream, values, {static_cast<int64_t>(values.size())});
  }

  /// The elements, after waiting for `stream`.
  std::vector<Element> toHost(StreamRef stream) const {
    std::vector<Element> values(size());
    copy(stream, values.data(), data(), bytes());
    stream.synchronize();
    return values;
  }

  void *data() const { return buffer.data(); }
  const Shape &shape() const { return dims; }
  size_t bytes() const { return buffer.size(); }
  size_t size() const { return buffer.size() / dtypeBytes(T); }
  TensorView view() const { return TensorView(data(), T, std::span<const int64_t>(dims)); }

private:
  Array(Buffer buffer, Shape dims) : buffer(std::move(buffer)), dims(dims) {}

  Buffer buffer;
  Shape dims;
};

} // namespace tilec

#endif // TILEC_RUNTIME_ARRAY_H
