//===- Device.cpp - devices, streams, events ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Devices are made at first use under a lock and published in a table of atomic
// pointers. Every driver call runs with the device's primary context current.
// On the CPU device all work is done when a call returns, so waiting does nothing.
//
//===------------------------------------------------------------------------===//

#include "DebugOutput.h"
#include "DeviceState.h"

#include <chrono>
#include <mutex>

using namespace tilec;

//===-- The table of devices --------------------------------------------------===//

static std::atomic<DeviceState *> deviceTable[maxDevices];

static Failure noDriver() {
  const char *why = "";
  cuda::driver(&why);
  return failure(why);
}

int Device::count() {
  const cuda::Driver *d = cuda::driver();
  int n = 0;
  if (!d || d->deviceGetCount(&n) != cuda::success)
    return 0;
  return n < maxDevices ? n : maxDevices;
}

std::string Device::whyNone() {
  if (count() > 0)
    return "";
  if (!cuda::driver())
    return noDriver().message;
  return "the CUDA driver finds no GPU";
}

static Expected<DeviceState *> createDevice(int ordinal) {
  const cuda::Driver &d = *cuda::driver();
  auto state = std::make_unique<DeviceState>();
  state->ordinal = ordinal;
  if (auto ok = cuda::check("opening the device", d.deviceGet(&state->id, ordinal)); !ok)
    return ok.failure();
  char name[256] = "";
  d.deviceGetName(name, sizeof name, state->id);
  name[sizeof name - 1] = 0;
  state->name = name;
  int major = 0, minor = 0;
  struct {
    cuda::DeviceAttribute attribute;
    int *value;
  } wanted[] = {{cuda::CapabilityMajor, &major},
                {cuda::CapabilityMinor, &minor},
                {cuda::MultiprocessorCount, &state->numSMs},
                {cuda::SharedPerBlockOptin, &state->sharedPerBlock},
                {cuda::L2CacheSize, &state->l2Bytes}};
  for (auto &w : wanted)
    if (auto ok = cuda::check("reading the device's properties",
                              d.deviceGetAttribute(w.value, w.attribute, state->id));
        !ok)
      return ok.failure();
  state->capability = 10 * major + minor;
  if (auto ok = cuda::check("opening the device's context",
                            d.primaryContextRetain(&state->context, state->id));
      !ok)
    return ok.failure();
  return state.release();
}

Expected<Device> Device::tryGet(int ordinal) {
  int n = count();
  if (ordinal < 0 || ordinal >= n)
    return failure("there is no GPU " + std::to_string(ordinal) +
                   (n == 0 ? ": " + whyNone() : ", there are " + std::to_string(n)));
  std::atomic<DeviceState *> &slot = deviceTable[ordinal];
  if (DeviceState *state = slot.load(std::memory_order_acquire))
    return Device(state);
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (DeviceState *state = slot.load(std::memory_order_relaxed))
    return Device(state);
  auto state = createDevice(ordinal);
  if (!state)
    return state.failure();
  slot.store(*state, std::memory_order_release);
  return Device(*state);
}

Device Device::get(int ordinal) { return valueOrThrow(tryGet(ordinal)); }

Device Device::cpu() {
  static DeviceState *state = [] {
    auto *s = new DeviceState;
    s->name = "CPU (interpreter)";
    return s;
  }();
  return Device(state);
}

DeviceState *tilec::findDeviceOf(cuda::Context context) {
  for (std::atomic<DeviceState *> &slot : deviceTable) {
    DeviceState *state = slot.load(std::memory_order_acquire);
    if (state && state->context == context)
      return state;
  }
  return nullptr;
}

Failure tilec::withLastKernel(Failure why, const DeviceState &device) {
  if (!why.kernel.empty())
    return why; // a failed assertion knows
  if (const std::string *name = device.lastKernel.load(std::memory_order_relaxed)) {
    why.message += "; the kernel launched last on this device is `" + *name + "`";
    why.kernel = *name;
  }
  return why;
}

//===-- Properties ------------------------------------------------------------===//

bool Device::isCpu() const { return state->isCpu(); }
int Device::ordinal() const { return state->ordinal; }
const std::string &Device::name() const { return state->name; }
int Device::capability() const { return state->capability; }
int Device::numSMs() const { return state->numSMs; }
int Device::sharedPerBlock() const { return state->sharedPerBlock; }
int Device::l2Bytes() const { return state->l2Bytes; }

std::string Device::arch() const {
  return isCpu() ? "cpu" : "sm_" + std::to_string(state->capability);
}

Expected<Device::MemoryInfo> Device::tryMemoryInfo() const {
  MemoryInfo info{0, 0};
  if (isCpu())
    return info;
  ContextScope scope(*state);
  if (auto ok = scope.check(); !ok)
    return ok.failure();
  if (auto ok = cuda::check("reading the device's memory size",
                            cuda::driver()->memGetInfo(&info.free, &info.total));
      !ok)
    return ok.failure();
  return info;
}

Device::MemoryInfo Device::memoryInfo() const { return valueOrThrow(tryMemoryInfo()); }

Expected<void> Device::trySynchronize() const {
  if (isCpu())
    return {};
  ContextScope scope(*state);
  if (auto ok = scope.check(); !ok)
    return ok;
  auto ok = withDebugOutput(
      *state, cuda::check("waiting for the device", cuda::driver()->contextSynchronize()));
  return ok ? std::move(ok) : withLastKernel(ok.failure(), *state);
}

void Device::synchronize() const { valueOrThrow(trySynchronize()); }

Expected<void> Device::tryTrimMemory() const {
  if (isCpu())
    return {};
  ContextScope scope(*state);
  if (auto ok = scope.check(); !ok)
    return ok;
  return state->workspaces.trim();
}

void Device::trimMemory() const { valueOrThrow(tryTrimMemory()); }

//===-- Streams ---------------------------------------------------------------===//

Expected<Stream> Device::tryCreateStream() const {
  auto stream = std::make_shared<StreamState>();
  stream->device = state;
  if (!isCpu()) {
    ContextScope scope(*state);
    if (auto ok = scope.check(); !ok)
      return ok.failure();
    if (auto ok = cuda::check("creating a stream", cuda::driver()->streamCreate(
                                                       &stream->handle, cuda::streamNonBlocking));
        !ok)
      return ok.failure();
  }
  return Stream(std::move(stream));
}

Stream Device::createStream() const { return valueOrThrow(tryCreateStream()); }

StreamState::~StreamState() {
  if (!handle)
    return;
  ContextScope scope(*device);
  device->workspaces.release(handle);
  cuda::driver()->streamDestroy(handle);
}

Device Stream::device() const { return Device(state->device); }
CUstream_st *Stream::get() const { return state->handle; }

Expected<void> Stream::trySynchronize() const { return StreamRef(*this).trySynchronize(); }

Expected<Device> StreamRef::tryDevice() const {
  if (device)
    return Device(device);
  const cuda::Driver *d = cuda::driver();
  if (!d)
    return noDriver();
  cuda::Context context = nullptr;
  cuda::Result result =
      handle ? d->streamGetContext(handle, &context) : d->contextGetCurrent(&context);
  if (auto ok = cuda::check("finding the stream's device", result); !ok)
    return ok.failure();
  if (!context)
    return Device::tryGet(0); // the default stream before any use of CUDA
  if (DeviceState *known = findDeviceOf(context))
    return Device(known);
  // A primary context that we have not retained yet, or a foreign one.
  cuda::Context old;
  cuda::DeviceId id = 0;
  if (auto ok = cuda::check("making the stream's context current", d->contextPush(context)); !ok)
    return ok.failure();
  result = d->contextGetDevice(&id);
  d->contextPop(&old);
  if (auto ok = cuda::check("finding the stream's device", result); !ok)
    return ok.failure();
  auto own = Device::tryGet(id);
  if (own && own->getState()->context != context)
    return failure("the stream belongs to a context that is not the primary one of GPU " +
                   std::to_string(id));
  return own;
}

Expected<void> StreamRef::trySynchronize() const {
  auto where = tryDevice();
  if (!where)
    return where.failure();
  if (where->isCpu())
    return {};
  DeviceState &state = *where->getState();
  ContextScope scope(state);
  if (auto ok = scope.check(); !ok)
    return ok;
  auto ok = withDebugOutput(
      state, cuda::check("waiting for the stream", cuda::driver()->streamSynchronize(handle)));
  return ok ? std::move(ok) : withLastKernel(ok.failure(), state);
}

Expected<bool> Stream::tryIsIdle() const {
  if (state->device->isCpu())
    return true;
  ContextScope scope(*state->device);
  cuda::Result result = cuda::driver()->streamQuery(state->handle);
  if (result == cuda::notReady)
    return false;
  if (auto ok = cuda::check("asking the stream", result); !ok)
    return withLastKernel(ok.failure(), *state->device);
  return true;
}

Expected<void> Stream::tryWait(const Event &event) const {
  if (state->device->isCpu() || !event.getState()->handle)
    return {};
  ContextScope scope(*state->device);
  return cuda::check("waiting for an event", cuda::driver()->streamWaitEvent(
                                                 state->handle, event.getState()->handle, 0));
}

//===-- Events ----------------------------------------------------------------===//

static double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

EventState::~EventState() {
  if (!handle)
    return;
  ContextScope scope(*device);
  cuda::driver()->eventDestroy(handle);
}

Expected<Event> Event::tryCreate(Device device) {
  auto event = std::make_shared<EventState>();
  event->device = device.getState();
  if (!device.isCpu()) {
    ContextScope scope(*event->device);
    if (auto ok = scope.check(); !ok)
      return ok.failure();
    if (auto ok = cuda::check("creating an event", cuda::driver()->eventCreate(&event->handle, 0));
        !ok)
      return ok.failure();
  }
  return Event(std::move(event));
}

Expected<void> Event::tryRecord(StreamRef stream) {
  if (state->device->isCpu()) {
    state->hostSeconds = now();
    return {};
  }
  ContextScope scope(*state->device);
  return cuda::check("recording an event",
                     cuda::driver()->eventRecord(state->handle, stream.get()));
}

Expected<void> Event::trySynchronize() const {
  if (state->device->isCpu())
    return {};
  ContextScope scope(*state->device);
  auto ok = withDebugOutput(
      *state->device,
      cuda::check("waiting for an event", cuda::driver()->eventSynchronize(state->handle)));
  return ok ? std::move(ok) : withLastKernel(ok.failure(), *state->device);
}

Expected<float> Event::tryMillisecondsSince(const Event &start) const {
  if (state->device->isCpu())
    return static_cast<float>((state->hostSeconds - start.state->hostSeconds) * 1e3);
  ContextScope scope(*state->device);
  float ms = 0;
  if (auto ok = cuda::check("reading the time between events",
                            cuda::driver()->eventElapsedTime(&ms, start.state->handle,
                                                             state->handle));
      !ok)
    return ok.failure();
  return ms;
}
