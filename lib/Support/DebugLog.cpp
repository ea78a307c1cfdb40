//===- DebugLog.cpp - printed lines and failed assertions ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Numbers are written as Python does: with an exponent below 1e-4 and from 1e16 on,
// and never without a point or an exponent where they are floats.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/DebugLog.h"

#include "tilec/Support/Numerics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

using namespace tilec;

//===-- Values ----------------------------------------------------------------===//

/// `value`, not zero, as d.ddde±xx with the fewest digits that give it back.
static std::string shortestScientific(DType dtype, double value) {
  char text[48];
  std::to_chars_result end = {};
  if (dtype == DType::F64) {
    end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific);
  } else if (dtype == DType::F32 || dtype == DType::TF32) {
    end = std::to_chars(text, text + sizeof text, static_cast<float>(value),
                        std::chars_format::scientific);
  } else {
    for (int digits = 0; digits < 8; ++digits) {
      end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits);
      double back = 0;
      std::from_chars(text, end.ptr, back);
      if (numerics::decode(dtype, numerics::encode(dtype, back)) == value)
        break;
    }
  }
  return std::string(text, end.ptr);
}

static std::string floatText(DType dtype, double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  if (value == 0)
    return std::signbit(value) ? "-0.0" : "0.0";
  std::string text = shortestScientific(dtype, value);
  size_t e = text.find('e');
  int exponent = std::atoi(text.c_str() + e + 1);
  if (exponent < -4 || exponent >= 16)
    return text;
  std::string sign = value < 0 ? "-" : "", digits;
  for (char c : text.substr(0, e))
    if (c >= '0' && c <= '9')
      digits += c;
  if (exponent < 0)
    return sign + "0." + std::string(size_t(-exponent - 1), '0') + digits;
  size_t whole = size_t(exponent) + 1;
  if (digits.size() <= whole)
    return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string tilec::debugText(DType dtype, uint64_t word) {
  if (isFloat(dtype))
    return floatText(dtype, numerics::decode(dtype, word));
  if (dtype == DType::Bool)
    return word & 0xff ? "true" : "false";
  word = numerics::normalize(dtype, word);
  return isUnsigned(dtype) ? std::to_string(word) : std::to_string(static_cast<int64_t>(word));
}

std::string tilec::debugLine(const DebugSite &site,
                             const std::function<uint64_t(size_t, size_t)> &element) {
  std::string line = site.pieces.front();
  for (size_t v = 0; v < site.values.size(); ++v) {
    const DebugValue &value = site.values[v];
    auto count = static_cast<size_t>(value.numElements());
    for (size_t i = 0; i < count; ++i) {
      // Brackets of every dim that begins, and after the element of those that end.
      line += i ? ", " : "";
      size_t inner = 1, opened = 0, closed = 0;
      for (auto dim = value.shape.rbegin(); dim != value.shape.rend(); ++dim) {
        inner *= static_cast<size_t>(*dim);
        opened += i % inner == 0;
        closed += (i + 1) % inner == 0;
      }
      line += std::string(opened, '[') + debugText(value.dtype, element(v, i)) +
              std::string(closed, ']');
    }
    line += site.pieces[v + 1];
  }
  return line;
}

//===-- The log ---------------------------------------------------------------===//

void DebugLog::print(std::string line) {
  std::lock_guard lock(mutex);
  printed.push_back(std::move(line));
}

void DebugLog::fail(const DebugSite &site, std::string_view kernel, std::array<int32_t, 3> block,
                    int64_t index) {
  std::lock_guard lock(mutex);
  auto key = [](const std::array<int32_t, 3> &b, int64_t i) { return std::tuple(b[2], b[1], b[0], i); };
  for (Place &place : failed) {
    if (place.kernel != kernel || place.site.line != site.line ||
        place.site.column != site.column || place.site.file != site.file ||
        place.site.pieces != site.pieces ||
        place.site.values.front().shape != site.values.front().shape)
      continue;
    ++place.count;
    if (key(block, index) < key(place.block, place.index)) {
      place.block = block;
      place.index = index;
    }
    return;
  }
  failed.push_back({site, std::string(kernel), block, index, 1});
}

void DebugLog::lose(uint64_t prints, uint64_t assertions) {
  std::lock_guard lock(mutex);
  lostPrints += prints;
  lostAssertions += assertions;
}

std::string DebugLog::lines() const {
  std::lock_guard lock(mutex);
  std::string text;
  for (const std::string &line : printed)
    text += line + "\n";
  return text;
}

void DebugLog::flush(std::FILE *out, std::FILE *err) {
  std::string text = lines();
  std::lock_guard lock(mutex);
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
  printed.clear();
  if (lostPrints)
    std::fprintf(err, "note: %llu printed lines were lost, as the host read too late\n",
                 static_cast<unsigned long long>(lostPrints));
  lostPrints = 0;
}

/// `[1, 2]`: the index of element `flat` of `shape`.
static std::string indexText(const std::vector<int64_t> &shape, int64_t flat) {
  std::string text;
  for (auto dim = shape.rbegin(); dim != shape.rend(); ++dim) {
    text = std::to_string(flat % *dim) + (text.empty() ? "" : ", ") + text;
    flat /= *dim;
  }
  return "[" + text + "]";
}

Expected<void> DebugLog::takeFailure() {
  std::lock_guard lock(mutex);
  std::string text;
  // In the order of the source: that of blocks is not.
  std::stable_sort(failed.begin(), failed.end(), [](const Place &a, const Place &b) {
    return std::tie(a.site.file, a.site.line, a.site.column) <
           std::tie(b.site.file, b.site.line, b.site.column);
  });
  for (const Place &place : failed) {
    const DebugSite &site = place.site;
    text += (text.empty() ? "" : "\n") + site.file + ":" + std::to_string(site.line) + ":" +
            std::to_string(site.column) + ": assertion failed: " + site.pieces.front() +
            " (block (" + std::to_string(place.block[0]) + ", " + std::to_string(place.block[1]) +
            ", " + std::to_string(place.block[2]) + ")";
    if (!site.values.front().shape.empty())
      text += ", first at " + indexText(site.values.front().shape, place.index);
    if (place.count > 1)
      text += "; " + std::to_string(place.count) + " times";
    text += ")";
  }
  if (lostAssertions)
    text += (text.empty() ? "" : "\n") + std::to_string(lostAssertions) +
            " failed assertions were lost, as the host read too late";
  std::string kernel = failed.empty() ? "" : failed.front().kernel;
  failed.clear();
  lostAssertions = 0;
  if (text.empty())
    return {};
  return Failure{std::move(text), kernel, {}, assertionCode, {}};
}
