//===- CaseFile.cpp - cases of the language, from a .tile file ------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "CaseFile.h"

#include "tilec/Support/Files.h"
#include "tilec/Support/Numerics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cmath>

using llvm::StringRef;

namespace tilec::test {

/// The word of a number as it is written: exact for integers of 64 bits.
static std::optional<uint64_t> parseWord(DType dtype, StringRef text) {
  if (isFloat(dtype)) {
    double value = 0;
    if (text == "nan")
      return numerics::nanBits(dtype);
    if (text == "inf" || text == "-inf")
      value = text == "inf" ? INFINITY : -INFINITY;
    else if (text.getAsDouble(value, /*AllowInexact=*/true))
      return std::nullopt;
    return numerics::encode(dtype, value);
  }
  uint64_t word = 0;
  if (dtype == DType::Bool && (text == "true" || text == "false"))
    return text == "true";
  if (int64_t negative = 0; text.starts_with("-") && !text.getAsInteger(0, negative))
    return numerics::normalize(dtype, static_cast<uint64_t>(negative));
  if (text.getAsInteger(0, word))
    return std::nullopt;
  // A byte of an array of bool may be any.
  return dtype == DType::Bool ? word & 0xff : numerics::normalize(dtype, word);
}

/// Adds the values that one item of a list stands for; false when it is none.
static bool parseItem(DType dtype, StringRef item, size_t count,
                      std::vector<std::optional<uint64_t>> &values) {
  auto [first, last] = item.split("..");
  int64_t from = 0, to = 0;
  if (!last.empty()) {
    if (first.getAsInteger(10, from) || last.getAsInteger(10, to))
      return false;
    for (int64_t step = from <= to ? 1 : -1; from != to + step; from += step)
      values.push_back(parseWord(dtype, std::to_string(from)));
    return true;
  }
  size_t times = 1;
  auto [value, repeat] = item.split('*');
  if (item.ends_with("*"))
    times = count - std::min(count, values.size());
  else if (item.contains('*') && repeat.getAsInteger(10, times))
    return false;
  std::optional<uint64_t> word = parseWord(dtype, value);
  if (!word && value != "x")
    return false;
  values.insert(values.end(), times, word);
  return true;
}

/// How many elements of memory an array spans.
static size_t spannedElements(const CaseArgument &argument) {
  int64_t last = 0, all = 1;
  for (size_t d = 0; d < argument.dims.size(); ++d) {
    all *= argument.dims[d];
    last += (argument.dims[d] - 1) * (argument.strides.empty() ? 0 : argument.strides[d]);
  }
  if (!argument.isArray)
    return 1;
  int64_t own = argument.strides.empty() || all == 0 ? all : last + 1;
  return static_cast<size_t>(argument.offset + own);
}

static bool parseList(CaseArgument &argument, StringRef text,
                      std::vector<std::optional<uint64_t>> &values) {
  size_t count = spannedElements(argument);
  llvm::SmallVector<StringRef> items;
  llvm::SplitString(text, items);
  for (StringRef item : items)
    if (!parseItem(argument.dtype, item, count, values))
      return false;
  return values.size() == count;
}

static bool parseNumbers(StringRef text, std::vector<int64_t> &numbers) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    numbers.emplace_back();
    if (part.trim().getAsInteger(10, numbers.back()))
      return false;
  }
  return true;
}

/// `f32[2,3] strides 1,2 offset 4 ~ 1e-6 = before -> after`
static bool parseArgument(StringRef text, CaseArgument &argument) {
  auto [head, after] = text.split("->");
  auto [declared, before] = head.split('=');
  auto [plain, tolerance] = declared.split('~');
  if (!tolerance.empty() && tolerance.trim().getAsDouble(argument.tolerance))
    return false;
  llvm::SmallVector<StringRef> words;
  llvm::SplitString(plain, words);
  if (words.empty() || words.size() % 2 == 0)
    return false;
  auto [name, shape] = words[0].split('[');
  auto dtype = parseDType(std::string_view(name));
  if (!dtype)
    return false;
  argument.dtype = *dtype;
  argument.isArray = shape.consume_back("]");
  if (argument.isArray && !parseNumbers(shape, argument.dims))
    return false;
  for (size_t i = 1; i < words.size(); i += 2) {
    if (words[i] == "strides" && parseNumbers(words[i + 1], argument.strides))
      continue;
    if (words[i] == "offset" && !words[i + 1].getAsInteger(10, argument.offset))
      continue;
    if (words[i] != "memory")
      return false;
    argument.memoryOf = words[i + 1].str();
  }
  if (!before.trim().empty() && !parseList(argument, before, argument.before))
    return false;
  return after.trim().empty() || parseList(argument, after, argument.after);
}

static bool parseDirective(StringRef text, LanguageCase &test) {
  auto [word, rest] = text.split(' ');
  rest = rest.trim();
  std::vector<int64_t> numbers;
  if (word == "define") {
    test.defines.push_back(rest.str());
  } else if (word == "error:") {
    test.errors.push_back(rest.str());
  } else if (word == "refused:") {
    test.refused = rest.str();
  } else if (word == "interpreter") {
    test.isInterpreterOnly = true;
  } else if (word == "repeat") {
    return !rest.getAsInteger(10, test.repeat);
  } else if (word == "grid") {
    if (!parseNumbers(rest, numbers) || numbers.size() > 3)
      return false;
    test.grid = Grid{1, 1, 1};
    for (size_t i = 0; i < numbers.size(); ++i)
      (*test.grid)[i] = numbers[i];
  } else if (word == "warps") {
    test.warps.clear();
    if (!parseNumbers(rest, numbers))
      return false;
    test.warps.assign(numbers.begin(), numbers.end());
  } else if (word.consume_back(":")) {
    test.arguments.emplace_back();
    test.arguments.back().name = word.str();
    return parseArgument(rest, test.arguments.back());
  } else {
    return false;
  }
  return true;
}

Expected<std::vector<LanguageCase>> readCases(const std::string &path) {
  auto text = readFile(path);
  if (!text)
    return text.failure();
  std::vector<LanguageCase> cases;
  std::string prelude, previous;
  unsigned number = 0;
  llvm::SmallVector<StringRef> lines;
  StringRef(*text).split(lines, '\n');
  for (StringRef line : lines) {
    ++number;
    bool isDirective = line.consume_front("//:");
    line = isDirective ? line.trim() : line;
    if (isDirective && line.consume_front("case ")) {
      cases.emplace_back();
      cases.back().name = line.trim().str();
    } else if (isDirective) {
      if (cases.empty() || !parseDirective(line, cases.back()))
        return failure(path + ":" + std::to_string(number) + ": `" + line.str() + "` is not understood");
    } else {
      (cases.empty() ? prelude : cases.back().source) += line.str() + "\n";
    }
  }
  for (LanguageCase &test : cases) {
    if (!StringRef(test.source).trim().empty())
      previous = test.source;
    test.source = prelude + previous;
  }
  return cases;
}

} // namespace tilec::test
