//===- Device.h - devices, streams, events ------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A Device is a GPU seen through its primary context, the one that cudart and
// PyTorch use too, or the CPU (Device::cpu(), where kernels are interpreted). The
// driver is opened at run time: with none, Device::count() is 0 and all else works.
//
// Handles (Device, Stream, Event) are small and cheap to copy; the last copy of a
// Stream or Event destroys it.
//
//   tilec::Device dev = tilec::Device::get(0);
//   tilec::Stream s = dev.createStream();
//   …
//   s.synchronize();   // also reports a fault of an earlier launch
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_RUNTIME_DEVICE_H
#define TILEC_RUNTIME_DEVICE_H

#include "tilec/Runtime/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct CUstream_st;

namespace tilec {

class Stream;
class Event;
struct DeviceState;
struct StreamState;
struct EventState;

class Device {
public:
  /// Number of GPUs; 0 without a driver.
  static int count();
  /// Why count() is 0: "cannot open libcuda.so.1: …"; empty when there are GPUs.
  static std::string whyNone();
  /// GPU number `ordinal`; retains its primary context.
  static Device get(int ordinal);
  static Expected<Device> tryGet(int ordinal);
  /// The host, where launches run by interpretation, in the calling thread.
  static Device cpu();

  bool isCpu() const;
  /// Number of the GPU, or -1 for the CPU.
  int ordinal() const;
  const std::string &name() const;
  /// 90 for a GPU of compute capability 9.0; 0 for the CPU.
  int capability() const;
  /// `sm_` and the capability; "cpu" for the CPU.
  std::string arch() const;
  int numSMs() const;
  /// Shared memory that one block can have, in bytes.
  int sharedPerBlock() const;
  int l2Bytes() const;

  struct MemoryInfo {
    size_t free, total; ///< bytes
  };
  MemoryInfo memoryInfo() const;
  Expected<MemoryInfo> tryMemoryInfo() const;

  /// A new stream that does not wait for the default stream.
  Stream createStream() const;
  Expected<Stream> tryCreateStream() const;
  /// Waits for all work on the device.
  void synchronize() const;
  Expected<void> trySynchronize() const;
  /// Waits for all work on the device, and frees what is kept for later launches: a workspace
  /// for each stream that has launched kernels whose blocks add up in memory.
  void trimMemory() const;
  Expected<void> tryTrimMemory() const;

  bool operator==(const Device &other) const { return state == other.state; }

  explicit Device(DeviceState *state) : state(state) {}
  DeviceState *getState() const { return state; }

private:
  DeviceState *state; // lives as long as the process
};

/// Any CUDA stream: ours, or one of cudart or PyTorch. Does not own it.
class StreamRef {
public:
  /// A stream of the driver or of cudart (the same type); null is the default
  /// stream of the device that is current.
  StreamRef(CUstream_st *handle) : handle(handle) {}
  StreamRef(CUstream_st *handle, Device device) : handle(handle), device(device.getState()) {}

  CUstream_st *get() const { return handle; }
  /// The device that the stream belongs to.
  Expected<Device> tryDevice() const;
  /// Waits for all work on the stream.
  void synchronize() const { valueOrThrow(trySynchronize()); }
  Expected<void> trySynchronize() const;

private:
  CUstream_st *handle;
  DeviceState *device = nullptr;
};

/// An owned stream.
class Stream {
public:
  Device device() const;
  CUstream_st *get() const;
  operator StreamRef() const { return {get(), device()}; }

  /// Waits for all work on the stream; a fault of an earlier launch is reported
  /// here, with the kernel launched last.
  void synchronize() const { valueOrThrow(trySynchronize()); }
  Expected<void> trySynchronize() const;
  /// Whether all work is done.
  bool isIdle() const { return valueOrThrow(tryIsIdle()); }
  Expected<bool> tryIsIdle() const;
  /// Later work on this stream waits for `event`.
  void wait(const Event &event) const { valueOrThrow(tryWait(event)); }
  Expected<void> tryWait(const Event &event) const;

  explicit Stream(std::shared_ptr<StreamState> state) : state(std::move(state)) {}
  const std::shared_ptr<StreamState> &getState() const { return state; }

private:
  std::shared_ptr<StreamState> state;
};

/// A point in a stream.
class Event {
public:
  /// An event of `device` that measures time.
  static Event create(Device device) { return valueOrThrow(tryCreate(device)); }
  static Expected<Event> tryCreate(Device device);

  void record(StreamRef stream) { valueOrThrow(tryRecord(stream)); }
  Expected<void> tryRecord(StreamRef stream);
  /// Waits until the event is reached.
  void synchronize() const { valueOrThrow(trySynchronize()); }
  Expected<void> trySynchronize() const;
  /// Milliseconds from `start` to this event; both must have been reached.
  float millisecondsSince(const Event &start) const { return valueOrThrow(tryMillisecondsSince(start)); }
  Expected<float> tryMillisecondsSince(const Event &start) const;

  explicit Event(std::shared_ptr<EventState> state) : state(std::move(state)) {}
  const std::shared_ptr<EventState> &getState() const { return state; }

private:
  std::shared_ptr<EventState> state;
};

} // namespace tilec

#endif // TILEC_RUNTIME_DEVICE_H
