//===- Results.h - what was measured, as table and JSON ------- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A row is a subject at one shape: its builds, and the peers. Peers that another
// program measured (tools/scripts/bench/tile_bench_peers.py) come in as JSON and join
// the row of the same subject and shape.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_TOOLS_TILEBENCH_RESULTS_H
#define TILEC_TOOLS_TILEBENCH_RESULTS_H

#include "Statistics.h"
#include "Subjects.h"

#include "tilec/Support/Expected.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec::bench {

/// One program on one problem.
struct Entry {
  std::string who;     ///< "tilec", "cuBLASLt", "Triton"
  std::string setting; ///< its tile sizes
  Summary seconds;     ///< of a launch
  double error = 0;    ///< relative
  std::string wrong;   ///< why there is no time or the time does not count; else empty

  bool isGood() const { return wrong.empty() && seconds.count > 0; }
};

struct Row {
  std::string subject, shape, dtype;
  double operations = 0, bytes = 0;
  std::vector<Entry> entries;

  /// The quickest good entry that is (not) ours, or null.
  const Entry *bestOurs() const { return best(true); }
  const Entry *bestPeer() const { return best(false); }
  /// Time of the best peer over ours, or 0.
  double ratio() const;

private:
  const Entry *best(bool isOurs) const;
};

/// A roof: how quickly operands of a type are multiplied at most.
struct Ceiling {
  std::string name; ///< "bf16 products"
  double operationsPerSecond = 0;
};

struct Results {
  std::string version, device;
  double copyBytesPerSecond = 0; ///< read and written by a copy
  std::vector<Ceiling> ceilings;
  std::vector<Row> rows;
};

extern const char *const ourName; ///< "tilec"

llvm::json::Value toJSON(const Results &results);
/// Adds the entries of a peers' file: {"entries": [{"subject", "shape", "who", "setting",
/// "seconds": {"median", "low", "high", "count"}, "error", "wrong"}]}. Those of no row
/// are left out.
Expected<void> mergePeers(llvm::StringRef text, Results &results);
/// The table's first line: the device and its ceilings.
void printHeader(llvm::raw_ostream &os, const Results &results);
/// A line: our rate and each peer's, and the ratio to the best of them; then what is wrong.
void printRow(llvm::raw_ostream &os, const Row &row);

} // namespace tilec::bench

#endif // TILEC_TOOLS_TILEBENCH_RESULTS_H
