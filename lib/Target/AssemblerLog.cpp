//===- AssemblerLog.cpp - what ptxas -v says -------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: the text of `ptxas -v` (nvJitLink's information log has the same lines):
//
//   ptxas info    : Compiling entry function 'k' for 'sm_90a'
//   ptxas info    : Function properties for k
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 8 registers, used 1 barriers, 16 bytes smem
//   ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async …
//
// Out: numbers by kernel, and every line that is neither a number nor progress.
//===----------------------------------------------------------------------===//

#include "tilec/Target/AssembleCubin.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace {

/// The number before `unit` in `line`, or zero.
unsigned numberBefore(StringRef line, StringRef unit) {
  size_t at = line.find(unit);
  if (at == StringRef::npos)
    return 0;
  StringRef head = line.take_front(at).rtrim();
  size_t start = head.find_last_not_of("0123456789");
  StringRef digits = start == StringRef::npos ? head : head.drop_front(start + 1);
  unsigned value = 0;
  return digits.getAsInteger(10, value) ? 0 : value;
}

bool isMessage(StringRef line) {
  static constexpr StringLiteral progress[] = {
      "bytes gmem", "Compile time", "Function properties for", "Compiling entry"};
  for (StringRef text : progress)
    if (line.contains(text))
      return false;
  return line.contains("warning") || line.contains("(C7") ||
         line.contains("dvisory") || line.contains("error");
}

} // namespace

void tilec::parseAssemblerLog(StringRef log, Cubin &cubin) {
  KernelResources *current = nullptr;
  for (StringRef line : split(log, '\n')) {
    if (line.contains("Compiling entry function '")) {
      StringRef name = line.split("function '").second.split('\'').first;
      current = &cubin.kernels.emplace_back();
      current->kernel = name.str();
    } else if (isMessage(line)) {
      cubin.messages.push_back(line.trim().str());
    } else if (current && line.contains("bytes stack frame")) {
      current->stack = numberBefore(line, "bytes stack frame");
      current->spillStores = numberBefore(line, "bytes spill stores");
      current->spillLoads = numberBefore(line, "bytes spill loads");
    } else if (current && line.contains("registers") && line.contains("Used ")) {
      current->registers = numberBefore(line, "registers");
      current->barriers = numberBefore(line, "barriers");
      current->staticShared = numberBefore(line, "bytes smem");
    }
  }
}
