//===- Arguments.cpp - kernel arguments from the command line -----*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Random values depend on seed, parameter and position only, not on the machine or
// on the order of the options.
//
//===------------------------------------------------------------------------===//

#include "Arguments.h"

#include "tilec/Support/Numerics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cmath>
#include <cstring>

using llvm::StringRef;

namespace tilec::run {

KernelArg RunArgument::arg() {
  if (!isArray)
    return scalar;
  ArrayArg result = ArrayArg::rowMajor(array.data.data(), array.dtype, array.shape.data(),
                                       static_cast<int>(array.shape.size()));
  std::vector<int64_t> strides = array.strides();
  std::copy(strides.begin(), strides.end(), result.strides);
  return result;
}

double elementAt(const NpyArray &array, size_t index) {
  size_t bytes = dtypeBytes(array.dtype);
  uint64_t word = 0;
  std::memcpy(&word, array.data.data() + index * bytes, bytes);
  word = numerics::normalize(array.dtype, word);
  if (isFloat(array.dtype))
    return numerics::decode(array.dtype, word);
  return isUnsigned(array.dtype) ? static_cast<double>(word)
                                 : static_cast<double>(static_cast<int64_t>(word));
}

//===-- Made-up arrays ------------------------------------------------------------===//

/// SplitMix64: a well-mixed number for each counter.
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

static uint64_t randomWord(DType dtype, uint64_t bits) {
  if (isFloat(dtype)) {
    // Four uniform numbers have a sum that is normal enough, of variance 1/3.
    double sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += static_cast<double>((bits >> (16 * i)) & 0xffff) / 65535.0;
    return numerics::encode(dtype, (sum - 2.0) * 1.7320508075688772);
  }
  if (dtype == DType::Bool)
    return bits & 1;
  auto value = static_cast<int64_t>((bits >> 11) % 17);
  return static_cast<uint64_t>(isUnsigned(dtype) ? value : value - 8);
}

/// -3 … 3 (unsigned 0 … 3), of which products sum exactly in every dtype that sums.
static uint64_t smallWord(DType dtype, uint64_t bits) {
  if (isUnsigned(dtype) || dtype == DType::Bool)
    return (bits >> 11) % (dtype == DType::Bool ? 2 : 4);
  auto value = static_cast<int64_t>((bits >> 11) % 7) - 3;
  return isFloat(dtype) ? numerics::encode(dtype, static_cast<double>(value))
                        : static_cast<uint64_t>(value);
}

static uint64_t countWord(DType dtype, uint64_t i) {
  if (isFloat(dtype))
    return numerics::encode(dtype, static_cast<double>(i));
  return dtype == DType::Bool ? i != 0 : i; // its low bytes
}

static void fill(NpyArray &array, StringRef how, uint64_t seed) {
  size_t bytes = dtypeBytes(array.dtype);
  if (how == "zeros" || how == "poison") {
    std::fill(array.data.begin(), array.data.end(), std::byte(how == "zeros" ? 0 : 0xff));
    return;
  }
  uint64_t one = isFloat(array.dtype) ? numerics::encode(array.dtype, 1.0) : 1;
  for (size_t at = 0, i = 0; at < array.data.size(); at += bytes, ++i) {
    uint64_t word = how == "ones"     ? one
                    : how == "arange" ? countWord(array.dtype, i)
                    : how == "small"  ? smallWord(array.dtype, mix(seed + i))
                                      : randomWord(array.dtype, mix(seed + i));
    std::memcpy(&array.data[at], &word, bytes);
  }
}

/// Reads `bf16[512, 300]`.
static Expected<NpyArray> parseType(StringRef text) {
  auto wrong = [&](const llvm::Twine &why) {
    return failure(("`" + text + "` " + why).str());
  };
  auto [name, rest] = text.trim().split('[');
  auto dtype = parseDType(std::string_view(name.trim()));
  if (!dtype || *dtype == DType::TF32)
    return wrong("does not begin with the dtype of an array");
  if (!rest.consume_back("]"))
    return wrong("is not <dtype>[<dims>]");
  NpyArray array;
  array.dtype = *dtype;
  llvm::SmallVector<StringRef> dims;
  rest.split(dims, ',');
  unsigned __int128 bytes = dtypeBytes(*dtype);
  for (StringRef dim : dims) {
    int64_t value = 0;
    if (dim.trim().getAsInteger(10, value) || value < 0)
      return wrong("has a dim that is not a number");
    array.shape.push_back(value);
    bytes *= static_cast<uint64_t>(value);
    if (bytes > (uint64_t(1) << 40))
      return wrong("is larger than 1 TiB");
  }
  if (array.shape.size() > static_cast<size_t>(maxRank))
    return wrong("has more than 6 dims");
  array.data.resize(static_cast<size_t>(bytes));
  return array;
}

//===-- Arguments -----------------------------------------------------------------===//

static Expected<NpyArray> loadArray(StringRef text, const ParamInfo &param) {
  StringRef path = text.drop_front();
  std::optional<DType> as;
  auto [head, tail] = path.rsplit(':');
  if (!tail.empty())
    if ((as = parseDType(std::string_view(tail))))
      path = head;
  auto array = loadNpy(path.str());
  if (!array)
    return array;
  // NumPy's int64 stands for both.
  if (!as && param.dtype == DType::Int && array->dtype == DType::I64)
    as = DType::Int;
  if (as)
    if (auto ok = array->reinterpretAs(*as); !ok)
      return failure((path + ": " + ok.failure().message).str());
  if (array->shape.empty() || array->shape.size() > static_cast<size_t>(maxRank))
    return failure((path + ": has rank " + llvm::Twine(array->shape.size()) +
                    ", arrays have rank 1 to 6")
                       .str());
  if (!param.isStrided)
    array->makeRowMajor();
  return array;
}

static Expected<ScalarArg> parseScalar(StringRef text, const ParamInfo &param) {
  DType dtype = param.dtype;
  auto wrong = [&] {
    return failure(("`" + text + "` is not a value of " + llvm::StringRef(dtypeName(dtype))).str());
  };
  if (dtype == DType::Bool) {
    if (text != "true" && text != "false")
      return wrong();
    return ScalarArg::boolean(text == "true");
  }
  if (isFloat(dtype)) {
    double value = 0;
    if (text == "inf" || text == "-inf" || text == "nan")
      value = text == "nan" ? NAN : text == "inf" ? INFINITY : -INFINITY;
    else if (text.getAsDouble(value, /*AllowInexact=*/true))
      return wrong();
    return ScalarArg{dtype, numerics::encode(dtype, value)};
  }
  if (isUnsigned(dtype)) {
    uint64_t value = 0;
    if (text.getAsInteger(0, value) || value > numerics::greatestInteger(dtype))
      return wrong();
    return ScalarArg{dtype, value};
  }
  int64_t value = 0;
  if (text.getAsInteger(0, value) ||
      value < static_cast<int64_t>(numerics::leastInteger(dtype)) ||
      value > static_cast<int64_t>(numerics::greatestInteger(dtype)))
    return wrong();
  return ScalarArg::integer(dtype, value);
}

/// Reads `[1, 2, 3]` or `[[1, 2], [3, 4]]`: elements of the parameter's dtype.
static Expected<NpyArray> parseElements(StringRef text, const ParamInfo &param) {
  const auto wrong = [&](const llvm::Twine &why) {
    return failure(("`" + text + "` " + why).str());
  };
  NpyArray array;
  array.dtype = param.dtype;
  std::vector<int64_t> counts; // of the lists that are open
  size_t leaves = 0;           // how deep the numbers lie, once there is one
  for (StringRef rest = text.trim(); !rest.empty();) {
    if (rest.consume_front("[")) {
      counts.push_back(0);
      if (leaves && counts.size() > leaves)
        return wrong("mixes numbers and lists");
      if (counts.size() > static_cast<size_t>(maxRank))
        return wrong("has more than 6 dims");
    } else if (rest.consume_front("]")) {
      const size_t depth = counts.size(); // of the list that ends
      if (array.shape.size() < depth)
        array.shape.resize(depth, -1);
      int64_t &dim = array.shape[depth - 1];
      if (dim >= 0 && dim != counts.back())
        return wrong("has lists of different lengths");
      dim = counts.back();
      counts.pop_back();
      if (!counts.empty())
        ++counts.back();
      else if (!rest.trim().empty())
        return wrong("goes on behind its end");
    } else {
      StringRef element = rest.take_until([](char c) { return c == ',' || c == '[' || c == ']'; });
      rest = rest.drop_front(element.size());
      auto scalar = parseScalar(element.trim(), param);
      if (!scalar)
        return scalar.failure();
      if (array.shape.size() > counts.size() || (leaves && leaves != counts.size()))
        return wrong("mixes numbers and lists");
      leaves = counts.size();
      const auto *bytes = reinterpret_cast<const std::byte *>(&scalar->bits);
      array.data.insert(array.data.end(), bytes, bytes + dtypeBytes(param.dtype));
      ++counts.back();
    }
    rest = rest.ltrim();
    if (!counts.empty() && rest.consume_front(","))
      rest = rest.ltrim();
  }
  if (!counts.empty())
    return wrong("has a `[` that is not closed");
  return array;
}

static Expected<RunArgument> makeArgument(const ParamInfo &param, StringRef text, uint64_t seed) {
  RunArgument result;
  result.isArray = param.isArray;
  if (!param.isArray) {
    auto scalar = parseScalar(text, param);
    if (!scalar)
      return scalar.failure();
    result.scalar = *scalar;
    return result;
  }
  if (text.starts_with("@") || text.starts_with("[")) {
    auto array = text.starts_with("@") ? loadArray(text, param) : parseElements(text, param);
    if (!array)
      return array.failure();
    result.array = std::move(*array);
    return result;
  }
  auto [how, type] = text.split(':');
  if (!llvm::is_contained({"random", "small", "arange", "zeros", "ones", "poison"}, how))
    return failure(("`" + text + "` is not an array: write random:, small:, arange:, zeros:, ones: or "
                    "poison: and a type, e.g. random:" + llvm::StringRef(dtypeName(param.dtype)) +
                    "[128, 64], or [1, 2, 3], or @file.npy")
                       .str());
  auto array = parseType(type);
  if (!array)
    return array.failure();
  fill(*array, how, seed);
  result.array = std::move(*array);
  return result;
}

/// "x, y, z" of the parameters.
static std::string parameterNames(const KernelInfo &info) {
  std::string text;
  for (const ParamInfo &param : info.params)
    text += (text.empty() ? "" : ", ") + param.name;
  return text;
}

Expected<std::vector<RunArgument>>
makeArguments(const KernelInfo &info,
              const std::vector<std::pair<std::string, std::string>> &given, uint64_t seed) {
  for (const auto &[name, text] : given)
    if (llvm::none_of(info.params, [&](const ParamInfo &p) { return p.name == name; }))
      return failure("--arg " + name + ": kernel `" + info.name + "` has no parameter `" + name +
                     "`; it has " + parameterNames(info));
  std::vector<RunArgument> result;
  std::string missing;
  for (size_t i = 0; i < info.params.size(); ++i) {
    const ParamInfo &param = info.params[i];
    auto it = llvm::find_if(given, [&](const auto &g) { return g.first == param.name; });
    if (it == given.end()) {
      missing += (missing.empty() ? "`" : ", `") + param.name + "`";
      continue;
    }
    auto argument = makeArgument(param, it->second, mix(seed * 1000003 + i));
    if (!argument)
      return failure("--arg " + param.name + ": " + argument.failure().message);
    result.push_back(std::move(*argument));
  }
  if (!missing.empty())
    return failure("no --arg for " + missing + " of kernel `" + info.name + "`");
  return result;
}

} // namespace tilec::run
