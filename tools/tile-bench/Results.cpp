//===- Results.cpp - what was measured, as table and JSON ----- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "Results.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace llvm;

namespace tilec::bench {

const char *const ourName = "tilec";

const Entry *Row::best(bool isOurs) const {
  const Entry *found = nullptr;
  for (const Entry &entry : entries)
    if (entry.isGood() && (entry.who == ourName) == isOurs &&
        (!found || entry.seconds.median < found->seconds.median))
      found = &entry;
  return found;
}

double Row::ratio() const {
  const Entry *ours = bestOurs(), *peer = bestPeer();
  return ours && peer ? peer->seconds.median / ours->seconds.median : 0;
}

//===-- JSON ------------------------------------------------------------------------===//

static json::Value toJSON(const Entry &entry) {
  json::Object object{{"who", entry.who}, {"setting", entry.setting}};
  if (entry.seconds.count > 0)
    object["seconds"] = json::Object{{"median", entry.seconds.median},
                                     {"low", entry.seconds.low},
                                     {"high", entry.seconds.high},
                                     {"count", entry.seconds.count}};
  if (std::isfinite(entry.error))
    object["error"] = entry.error;
  if (!entry.wrong.empty())
    object["wrong"] = entry.wrong;
  return object;
}

json::Value toJSON(const Results &results) {
  json::Array rows, ceilings;
  for (const Row &row : results.rows) {
    json::Array entries;
    for (const Entry &entry : row.entries)
      entries.push_back(toJSON(entry));
    json::Object object{{"subject", row.subject},       {"shape", row.shape},
                        {"dtype", row.dtype},           {"operations", row.operations},
                        {"bytes", row.bytes},           {"entries", std::move(entries)}};
    if (row.ratio() > 0)
      object["ratio"] = row.ratio();
    rows.push_back(std::move(object));
  }
  for (const Ceiling &ceiling : results.ceilings)
    ceilings.push_back(json::Object{{"name", ceiling.name},
                                    {"operations_per_second", ceiling.operationsPerSecond}});
  return json::Object{{"version", results.version},
                      {"device", results.device},
                      {"copy_bytes_per_second", results.copyBytesPerSecond},
                      {"ceilings", std::move(ceilings)},
                      {"rows", std::move(rows)}};
}

/// One entry of the peers' file and where it belongs; nothing if a field is missing.
static bool readEntry(const json::Object &object, std::string &subject, std::string &shape,
                      Entry &entry) {
  auto text = [&](StringRef key, std::string &to) {
    auto value = object.getString(key);
    if (value)
      to = value->str();
    return value.has_value();
  };
  if (!text("subject", subject) || !text("shape", shape) || !text("who", entry.who))
    return false;
  text("setting", entry.setting);
  text("wrong", entry.wrong);
  entry.error = object.getNumber("error").value_or(0);
  const json::Object *seconds = object.getObject("seconds");
  if (!seconds)
    return !entry.wrong.empty();
  auto median = seconds->getNumber("median");
  if (!median)
    return false;
  entry.seconds.median = *median;
  entry.seconds.low = seconds->getNumber("low").value_or(*median);
  entry.seconds.high = seconds->getNumber("high").value_or(*median);
  entry.seconds.count = static_cast<unsigned>(seconds->getInteger("count").value_or(1));
  return true;
}

Expected<void> mergePeers(StringRef text, Results &results) {
  auto value = json::parse(text);
  if (!value)
    return failure("no JSON: " + toString(value.takeError()));
  const json::Object *top = value->getAsObject();
  const json::Array *entries = top ? top->getArray("entries") : nullptr;
  if (!entries)
    return failure("no object with a list `entries`");
  for (const json::Value &item : *entries) {
    std::string subject, shape;
    Entry entry;
    const json::Object *object = item.getAsObject();
    if (!object || !readEntry(*object, subject, shape, entry))
      return failure("an entry lacks `subject`, `shape`, `who`, or both `seconds` and `wrong`");
    for (Row &row : results.rows)
      if (row.subject == subject && row.shape == shape)
        row.entries.push_back(entry);
  }
  return {};
}

//===-- The table -------------------------------------------------------------------===//

/// Work that moves about as many operations as bytes is told in bytes.
static bool isMemoryBound(const Row &row) { return row.operations < 16 * row.bytes; }

static std::string rateText(const Row &row, const Entry &entry) {
  double amount = isMemoryBound(row) ? row.bytes : row.operations;
  std::string text;
  raw_string_ostream(text) << format(isMemoryBound(row) ? "%.3f" : "%.1f",
                                     amount / entry.seconds.median * 1e-12);
  return text;
}

/// The quickest entry of each name that is not ours, in order of first appearance.
static std::vector<const Entry *> peersOf(const Row &row) {
  std::vector<const Entry *> peers;
  for (const Entry &entry : row.entries) {
    if (entry.who == ourName || !entry.isGood())
      continue;
    auto it = llvm::find_if(peers, [&](const Entry *p) { return p->who == entry.who; });
    if (it == peers.end())
      peers.push_back(&entry);
    else if (entry.seconds.median < (*it)->seconds.median)
      *it = &entry;
  }
  return peers;
}

void printHeader(raw_ostream &os, const Results &results) {
  os << results.device;
  if (results.copyBytesPerSecond > 0)
    os << ", copy " << format("%.2f", results.copyBytesPerSecond * 1e-12) << " TB/s";
  for (const Ceiling &ceiling : results.ceilings)
    os << ", " << ceiling.name << " " << format("%.0f", ceiling.operationsPerSecond * 1e-12) << " T/s";
  os << "\n";
}

void printRow(raw_ostream &os, const Row &row) {
  os << left_justify(row.subject, 20) << " " << left_justify(row.shape, 18) << " ";
  if (const Entry *ours = row.bestOurs()) {
    os << right_justify(rateText(row, *ours), 8) << (isMemoryBound(row) ? " TB/s" : " T/s ");
    os << format("  spread %4.1f %%  error %.1e  ", 100 * ours->seconds.spread(), ours->error)
       << left_justify(ours->setting, 22);
  } else {
    os << "no result";
  }
  for (const Entry *peer : peersOf(row))
    os << "  " << peer->who << " " << rateText(row, *peer);
  if (row.ratio() > 0)
    os << format("  ratio %.2f", row.ratio());
  os << "\n";
  for (const Entry &entry : row.entries)
    if (!entry.wrong.empty())
      os << "    " << entry.who << " " << entry.setting << ": " << entry.wrong << "\n";
}

} // namespace tilec::bench
