//===- Graph.h - launches recorded once, replayed often -----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
//   k.preload(dev);                                   // loading cannot be captured
//   tilec::Graph g = tilec::Graph::capture(s, [&] { k.launch(s, a, b, c); });
//   g.launch(s);
//
// Work that `record` puts on the stream is captured instead of run. When `record`
// throws, the capture is ended and dropped, and the exception goes on.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_RUNTIME_GRAPH_H
#define TILEC_RUNTIME_GRAPH_H

#include "tilec/Runtime/Device.h"

#include <functional>
#include <memory>

namespace tilec {

struct GraphState;

class Graph {
public:
  static Graph capture(const Stream &stream, const std::function<void()> &record) {
    return valueOrThrow(tryCapture(stream, record));
  }
  static Expected<Graph> tryCapture(const Stream &stream, const std::function<void()> &record);

  void launch(StreamRef stream) const { valueOrThrow(tryLaunch(stream)); }
  Expected<void> tryLaunch(StreamRef stream) const;

private:
  explicit Graph(std::shared_ptr<GraphState> state) : state(std::move(state)) {}
  std::shared_ptr<GraphState> state;
};

} // namespace tilec

#endif // TILEC_RUNTIME_GRAPH_H
