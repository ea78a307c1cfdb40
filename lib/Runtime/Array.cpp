//===- Array.cpp - memory and copies ------------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Device memory comes from the driver's stream-ordered pool. A buffer keeps its
// stream alive, so that it can always be freed in order. Empty buffers have a null
// pointer. On the CPU device all kinds are host memory, aligned to 128 bytes as
// pages of a GPU would be (so the same builds are chosen).
//
//===------------------------------------------------------------------------===//

#include "tilec/Runtime/Array.h"

#include "DeviceState.h"

#include <cstring>
#include <new>

using namespace tilec;

static constexpr std::align_val_t hostAlignment{128};

static cuda::DevicePtr toDevicePtr(const void *p) {
  return static_cast<cuda::DevicePtr>(reinterpret_cast<uintptr_t>(p));
}

Expected<Buffer> Buffer::tryAllocate(const Stream &stream, size_t bytes, MemoryKind kind) {
  Buffer buffer;
  buffer.bytes = bytes;
  buffer.kind = kind;
  buffer.stream = stream.getState();
  if (bytes == 0)
    return buffer;
  if (stream.device().isCpu()) {
    buffer.pointer = ::operator new(bytes, hostAlignment, std::nothrow);
    if (!buffer.pointer)
      return failure("cannot allocate " + std::to_string(bytes) + " bytes of host memory");
    return buffer;
  }
  const cuda::Driver &d = *cuda::driver();
  ContextScope scope(*buffer.stream->device);
  if (auto ok = scope.check(); !ok)
    return ok.failure();
  cuda::DevicePtr address = 0;
  cuda::Result result;
  switch (kind) {
  case MemoryKind::Device:
    result = d.memAllocAsync(&address, bytes, buffer.stream->handle);
    break;
  case MemoryKind::Managed:
    result = d.memAllocManaged(&address, bytes, cuda::memAttachGlobal);
    break;
  case MemoryKind::Pinned:
    result = d.memHostAlloc(&buffer.pointer, bytes, cuda::memHostPortable);
    break;
  }
  if (result != cuda::success) {
    buffer.pointer = nullptr;
    std::string what = "allocating " + std::to_string(bytes) + " bytes";
    return cuda::driverFailure(what.c_str(), result);
  }
  if (kind != MemoryKind::Pinned)
    buffer.pointer = reinterpret_cast<void *>(static_cast<uintptr_t>(address));
  return buffer;
}

Buffer::~Buffer() {
  if (!pointer)
    return;
  if (stream->device->isCpu()) {
    ::operator delete(pointer, hostAlignment);
    return;
  }
  // A failure here is an earlier fault, which synchronize() reports.
  const cuda::Driver &d = *cuda::driver();
  ContextScope scope(*stream->device);
  switch (kind) {
  case MemoryKind::Device:
    d.memFreeAsync(toDevicePtr(pointer), stream->handle);
    break;
  case MemoryKind::Managed:
    d.memFree(toDevicePtr(pointer));
    break;
  case MemoryKind::Pinned:
    d.memFreeHost(pointer);
    break;
  }
}

Device Buffer::device() const { return stream ? Device(stream->device) : Device::cpu(); }

/// Does something with `bytes` of memory: `onHost` on the CPU, else `onGpu`, which gives the
/// driver's answer, where the stream is.
template <typename OnHost, typename OnGpu>
static Expected<void> inStream(StreamRef stream, size_t bytes, const char *what, OnHost onHost,
                               OnGpu onGpu) {
  if (bytes == 0)
    return {};
  auto device = stream.tryDevice();
  if (!device)
    return device.failure();
  if (device->isCpu()) {
    onHost();
    return {};
  }
  ContextScope scope(*device->getState());
  if (auto ok = scope.check(); !ok)
    return ok;
  auto ok = cuda::check(what, onGpu(*cuda::driver()));
  return ok ? std::move(ok) : withLastKernel(ok.failure(), *device->getState());
}

Expected<void> tilec::tryCopy(StreamRef stream, void *to, const void *from, size_t bytes) {
  return inStream(
      stream, bytes, "copying", [&] { std::memmove(to, from, bytes); },
      [&](const cuda::Driver &d) {
        return d.memcpyAsync(toDevicePtr(to), toDevicePtr(from), bytes, stream.get());
      });
}

Expected<void> tilec::tryFillBytes(StreamRef stream, void *to, uint8_t value, size_t bytes) {
  return inStream(
      stream, bytes, "filling memory", [&] { std::memset(to, value, bytes); },
      [&](const cuda::Driver &d) {
        return d.memsetAsync(toDevicePtr(to), value, bytes, stream.get());
      });
}
