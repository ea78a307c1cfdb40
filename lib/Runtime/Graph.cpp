//===- Graph.cpp - launches recorded once, replayed often ---------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Capture of a stream into a driver graph. The capture concerns this thread only,
// so other threads may go on allocating. On the CPU device there is nothing to
// capture: the graph keeps the function and calls it.
//
//===------------------------------------------------------------------------===//

#include "tilec/Runtime/Graph.h"

#include "DeviceState.h"

using namespace tilec;

namespace tilec {
struct GraphState {
  DeviceState *device = nullptr;
  cuda::GraphExec exec = nullptr;
  std::function<void()> record; // CPU only

  ~GraphState() {
    if (!exec)
      return;
    ContextScope scope(*device);
    cuda::driver()->graphExecDestroy(exec);
  }
};
} // namespace tilec

/// Ends the capture of a stream and gives what was captured, which may be null.
static cuda::Result endCapture(const Stream &stream, cuda::GraphHandle &graph) {
  return cuda::driver()->streamEndCapture(stream.get(), &graph);
}

Expected<Graph> Graph::tryCapture(const Stream &stream, const std::function<void()> &record) {
  auto state = std::make_shared<GraphState>();
  state->device = stream.device().getState();
  if (state->device->isCpu()) {
    state->record = record;
    return Graph(std::move(state));
  }
  const cuda::Driver &d = *cuda::driver();
  ContextScope scope(*state->device);
  if (auto ok = scope.check(); !ok)
    return ok.failure();
  if (auto ok = cuda::check("starting the capture",
                            d.streamBeginCapture(stream.get(), cuda::captureThreadLocal));
      !ok)
    return ok.failure();
  cuda::GraphHandle graph = nullptr;
  try {
    record();
  } catch (...) {
    endCapture(stream, graph);
    if (graph)
      d.graphDestroy(graph);
    throw;
  }
  auto ended = cuda::check("ending the capture", endCapture(stream, graph));
  if (!ended)
    return ended.failure();
  auto made = cuda::check("instantiating the graph", d.graphInstantiate(&state->exec, graph, 0));
  d.graphDestroy(graph);
  if (!made)
    return made.failure();
  return Graph(std::move(state));
}

Expected<void> Graph::tryLaunch(StreamRef stream) const {
  if (state->record) {
    state->record();
    return {};
  }
  ContextScope scope(*state->device);
  if (auto ok = scope.check(); !ok)
    return ok;
  return cuda::check("launching the graph", cuda::driver()->graphLaunch(state->exec, stream.get()));
}
