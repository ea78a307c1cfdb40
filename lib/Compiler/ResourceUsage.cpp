//===- ResourceUsage.cpp - what a kernel takes of a chip ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#include "tilec/Compiler/ResourceUsage.h"

#include "tilec/Support/HostExpr.h"
#include "tilec/Support/Occupancy.h"
#include "tilec/Tile/Remarks.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace tilec {

namespace {

/// All that is said of one build.
struct Usage {
  const KernelInfo &kernel;
  const BuildInfo &build;
  const Chip &chip;
  ArrayRef<BufferUsage> buffers;
  Occupancy occupancy;
  /// Blocks of the grid, where no parameter decides about them.
  std::optional<int64_t> gridBlocks;
  unsigned multiprocessors;

  std::string buildName() const { return std::string(buildKindName(build.facts)) + " build"; }
  /// How often all multiprocessors are filled for the grid.
  std::optional<double> waves() const {
    if (!gridBlocks || !multiprocessors || !occupancy.blocks())
      return std::nullopt;
    return double(*gridBlocks) / (double(multiprocessors) * occupancy.blocks());
  }
  /// Bytes that are in no buffer: barriers, and room between buffers.
  int64_t rest() const {
    int64_t bytes = build.sharedBytes;
    for (const BufferUsage &buffer : buffers)
      bytes -= buffer.bytes * buffer.places;
    return bytes;
  }
};

} // namespace

static std::optional<int64_t> constantGrid(const KernelInfo &kernel) {
  if (kernel.grid.empty())
    return std::nullopt;
  int64_t blocks = 1;
  for (const std::string &text : kernel.grid) {
    auto extent = HostExpr::parse(text);
    if (!extent || extent->getNodes().size() != 1 ||
        extent->getRoot().op != HostExpr::Op::Constant)
      return std::nullopt;
    blocks *= extent->getRoot().value.i;
  }
  return blocks;
}

static void printText(const Usage &usage, raw_ostream &os) {
  const BuildInfo &build = usage.build;
  os << usage.kernel.name << " for " << usage.chip.name << ", " << usage.buildName() << " ("
     << build.symbol << ")\n  " << build.threads << " threads, ";
  if (build.registers)
    os << build.registers << " registers a thread, "
       << (build.spillBytes ? spellBytes(build.spillBytes) + " of spills" : "no spills") << "\n";
  else
    os << "registers and spills not known: nothing has assembled it\n";
  os << "  " << spellBytes(build.sharedBytes) << " of shared memory\n";
  for (const BufferUsage &buffer : usage.buffers) {
    std::string size = spellBytes(buffer.bytes);
    if (buffer.places > 1)
      size += " x " + std::to_string(buffer.places) + " places";
    os << "    " << left_justify(size, 22) << buffer.what;
    if (buffer.line)
      os << " (line " << buffer.line << ")";
    os << "\n";
  }
  if (usage.rest() < 0)
    os << "    buffers that are not in use together share bytes\n";
  else if (usage.rest() > 0 && !usage.buffers.empty())
    os << "    " << left_justify(spellBytes(usage.rest()), 22) << "barriers and alignment\n";
  if (build.sumBytes)
    os << "  " << spellBytes(build.sumBytes) << " of the launch's workspace, for a block's part of sums\n";
  const Occupancy &occupancy = usage.occupancy;
  unsigned blocks = occupancy.blocks();
  os << "  " << (build.registers ? "" : "at most ") << blocks << " block"
     << (blocks == 1 ? "" : "s") << " a multiprocessor, limited by " << occupancy.limit() << " (";
  if (occupancy.byRegisters)
    os << "registers " << *occupancy.byRegisters << ", ";
  os << "shared memory " << occupancy.bySharedMemory << ", warps " << occupancy.byWarps
     << ", block slots " << occupancy.bySlots << ")\n";
  if (!usage.gridBlocks) {
    os << "  waves not known: the grid depends on the launch\n";
    return;
  }
  os << "  a grid of " << *usage.gridBlocks << " blocks: ";
  if (auto waves = usage.waves())
    os << format("%.2f", *waves) << " waves on " << usage.multiprocessors
       << " multiprocessors\n";
  else
    os << "waves not known: there is no such device here\n";
}

static void printJson(const Usage &usage, raw_ostream &os) {
  const BuildInfo &build = usage.build;
  json::OStream json(os);
  auto optional = [&](StringRef key, auto value) {
    if (value)
      json.attribute(key, *value);
    else
      json.attribute(key, nullptr);
  };
  auto known = [&](unsigned value) {
    return build.registers ? std::optional<unsigned>(value) : std::nullopt;
  };
  json.object([&] {
    json.attribute("kernel", json::fixUTF8(usage.kernel.name));
    json.attribute("chip", StringRef(usage.chip.name));
    json.attribute("build", usage.buildName());
    json.attribute("symbol", json::fixUTF8(build.symbol));
    json.attribute("threads", build.threads);
    optional("registers", known(build.registers));
    optional("spillBytes", known(build.spillBytes));
    json.attribute("sharedBytes", build.sharedBytes);
    if (build.sumBytes)
      json.attribute("sumBytes", build.sumBytes);
    json.attributeArray("buffers", [&] {
      for (const BufferUsage &buffer : usage.buffers)
        json.object([&] {
          json.attribute("what", json::fixUTF8(buffer.what));
          json.attribute("bytes", buffer.bytes);
          json.attribute("places", buffer.places);
          json.attribute("line", buffer.line);
        });
    });
    json.attribute("blocksPerMultiprocessor", usage.occupancy.blocks());
    json.attribute("limit", usage.occupancy.limit());
    json.attributeObject("limits", [&] {
      optional("registers", usage.occupancy.byRegisters);
      json.attribute("sharedMemory", usage.occupancy.bySharedMemory);
      json.attribute("warps", usage.occupancy.byWarps);
      json.attribute("blockSlots", usage.occupancy.bySlots);
    });
    optional("gridBlocks", usage.gridBlocks);
    optional("waves", usage.waves());
  });
  os << "\n";
}

void printResourceUsage(const ChipCode &code, unsigned multiprocessors, bool asJson,
                        raw_ostream &os) {
  for (const KernelInfo &kernel : code.kernels)
    for (const BuildInfo &build : kernel.builds) {
      auto buffers = code.buffers.find(build.symbol);
      Usage usage{kernel, build, *code.chip,
                  buffers == code.buffers.end() ? ArrayRef<BufferUsage>() : ArrayRef(buffers->second),
                  occupancyOf(*code.chip, build.threads, build.registers, build.sharedBytes),
                  constantGrid(kernel), multiprocessors};
      asJson ? printJson(usage, os) : printText(usage, os);
    }
}

} // namespace tilec
