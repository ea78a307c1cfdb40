//===- JsonReader.h - checked reading of JSON fields --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// A cursor over a parsed JSON object that checks kind and range of each field and
// remembers the first thing wrong, named by its path ("kernels[0].builds[1].threads").
// After an error all reads give defaults, so a reader is a straight list of fields
// with one check at the end. The JSON library's throwing accessors are not used.
//
// Private to lib/Support: the one header of ours that names the JSON library.
//
//===------------------------------------------------------------------------===//
#ifndef TILEC_SUPPORT_JSONREADER_H
#define TILEC_SUPPORT_JSONREADER_H

#include "tilec/Support/Expected.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace tilec {

/// Keys stay in the order of writing, so that equal facts give equal text.
using Json = nlohmann::ordered_json;

/// Parsed text, or a discarded value; never throws. Deep nesting is refused first,
/// as the library's destructor and our readers recurse.
Json parseJson(std::string_view text);

class JsonReader {
public:
  JsonReader(const Json &value, std::string path, std::string &error)
      : value(&value), path(std::move(path)), error(&error) {
    if (!value.is_object())
      fail("is not an object");
  }

  std::string string(const char *key) const {
    const Json *v = field(key);
    if (!v)
      return {};
    if (v->is_string())
      return *v->get_ptr<const std::string *>();
    fail(key, "is not a string");
    return {};
  }

  bool boolean(const char *key) const {
    const Json *v = field(key);
    if (!v)
      return false;
    if (v->is_boolean())
      return *v->get_ptr<const bool *>();
    fail(key, "is not a boolean");
    return false;
  }

  /// An integer in [lo, hi].
  int64_t integer(const char *key, int64_t lo, int64_t hi) const {
    const Json *v = field(key);
    if (!v)
      return lo;
    int64_t result = 0;
    if (v->is_number_unsigned()) {
      uint64_t u = *v->get_ptr<const uint64_t *>();
      if (u > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        fail(key, "is out of range");
        return lo;
      }
      result = static_cast<int64_t>(u);
    } else if (v->is_number_integer()) {
      result = *v->get_ptr<const int64_t *>();
    } else {
      fail(key, "is not an integer");
      return lo;
    }
    if (result >= lo && result <= hi)
      return result;
    fail(key, "is out of range");
    return lo;
  }

  bool has(const char *key) const { return value->is_object() && value->contains(key); }

  /// Calls `visit(element, path)` for each element of the array `key`.
  template <typename Visit>
  void array(const char *key, Visit visit) const {
    const Json *v = field(key);
    if (!v)
      return;
    if (!v->is_array())
      return fail(key, "is not an array");
    size_t i = 0;
    for (const Json &element : *v)
      visit(element, name(key) + "[" + std::to_string(i++) + "]");
  }

  void fail(const char *key, const char *what) const { report(name(key), what); }
  void fail(const char *what) const { report(path.empty() ? "the text" : path, what); }

private:
  const Json *field(const char *key) const {
    if (!error->empty() || !value->is_object())
      return nullptr;
    auto it = value->find(key);
    if (it != value->end())
      return &*it;
    fail(key, "is missing");
    return nullptr;
  }
  std::string name(const char *key) const { return path.empty() ? key : path + "." + key; }
  void report(const std::string &where, const char *what) const {
    if (error->empty())
      *error = "`" + where + "` " + what;
  }

  const Json *value;
  std::string path;
  std::string *error;
};

struct KernelInfo;
/// The two halves of KernelInfo's JSON form, for files that embed it.
Json kernelInfoToJsonValue(const KernelInfo &info);
KernelInfo readKernelInfo(const Json &value, const std::string &path, std::string &error);

} // namespace tilec

#endif // TILEC_SUPPORT_JSONREADER_H
