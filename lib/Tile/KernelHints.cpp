//===- KernelHints.cpp - what a kernel asks of the compiler ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
#include "tilec/Tile/KernelHints.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tile;

std::optional<KernelHint> tile::findHint(KernelOp kernel, StringRef chip, StringRef name) {
  DictionaryAttr hints = kernel.getHintsAttr();
  if (!hints)
    return std::nullopt;
  for (const std::string &key : {hintKey(chip, name), name.str()})
    if (auto value = hints.getAs<IntegerAttr>(key))
      return KernelHint{key, value.getInt()};
  return std::nullopt;
}

void tile::declineHint(KernelOp kernel, StringRef chip, StringRef name, const Twine &why) {
  std::optional<KernelHint> hint = findHint(kernel, chip, name);
  if (!hint)
    return;
  NamedAttrList declined(kernel->getAttrOfType<DictionaryAttr>(declinedHintsAttr));
  declined.set(hint->key, StringAttr::get(kernel.getContext(), why));
  kernel->setAttr(declinedHintsAttr, declined.getDictionary(kernel.getContext()));
}
