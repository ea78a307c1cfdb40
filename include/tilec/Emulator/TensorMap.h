//===- TensorMap.h - tensor maps that the emulator reads -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// On a GPU the driver encodes a tensor map into 128 opaque bytes. Those bytes mean
// nothing here, so an emulated launch passes the same facts in a layout of its own,
// in place of the driver's: same size, same parameter.
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_EMULATOR_TENSORMAP_H
#define TILEC_EMULATOR_TENSORMAP_H

#include <cstdint>
#include <type_traits>

namespace tilec {

/// What cuTensorMapEncodeTiled takes. Dimension 0 is the innermost one.
struct EmulatedTensorMap {
  static constexpr uint32_t theMagic = 0x50414D54; // "TMAP"

  uint32_t magic = theMagic;
  uint8_t rank = 1;
  uint8_t elementBytes = 1;
  uint8_t swizzleBytes = 0; ///< 0, 32, 64 or 128
  uint8_t fillsNaN = 0;     ///< what loads read outside: zero, or NaN
  uint8_t *data = nullptr;
  uint64_t dims[5] = {1, 1, 1, 1, 1};    ///< elements
  uint64_t strides[4] = {0, 0, 0, 0};    ///< bytes, of dimensions 1 …
  uint16_t box[5] = {1, 1, 1, 1, 1};     ///< elements
  uint8_t dtype = 0;                     ///< DType, for reductions
  uint8_t reserved[29] = {};
};
static_assert(sizeof(EmulatedTensorMap) == 128 &&
              std::is_trivially_copyable_v<EmulatedTensorMap>);

} // namespace tilec

#endif // TILEC_EMULATOR_TENSORMAP_H
