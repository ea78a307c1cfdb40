//===- SwizzledForm.cpp - buffers that hardware addresses itself ----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A layout is recognised by making every candidate and comparing: there are four
// swizzles for each dimension that may be the fastest.
//===----------------------------------------------------------------------===//
#include "tilec/Layout/SwizzledForm.h"

#include <algorithm>

using namespace tilec;

int64_t SwizzledForm::panelWidth(llvm::ArrayRef<int64_t> shape) const {
  int64_t size = shape[fastest()];
  return swizzleBytes ? std::min<int64_t>(size, swizzleBytes * 8 / elementBits) : size;
}

unsigned tilec::widestSwizzle(int64_t elements, unsigned elementBits) {
  for (unsigned bytes : {128u, 64u, 32u})
    if (elements * elementBits >= bytes * 8)
      return bytes;
  return 0;
}

std::optional<SwizzledForm> tilec::matchSwizzled(const Layout &buffer,
                                                 unsigned elementBits) {
  unsigned rank = buffer.rank();
  for (unsigned fastest = rank; fastest-- > 0;)
    for (unsigned bytes : {128u, 64u, 32u, 0u}) {
      if (widestSwizzle(buffer.shape()[fastest], elementBits) < bytes)
        continue;
      SwizzledForm form;
      form.order.push_back(fastest);
      for (unsigned dim = rank; dim-- > 0;)
        if (dim != fastest)
          form.order.push_back(dim);
      form.swizzleBytes = bytes;
      form.elementBits = elementBits;
      if (Layout::swizzled(buffer.shape(), form.order, elementBits, bytes) == buffer)
        return form;
    }
  return std::nullopt;
}
