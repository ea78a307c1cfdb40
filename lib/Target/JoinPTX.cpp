//===- JoinPTX.cpp - one PTX module of several ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: modules as the NVPTX backend prints them. Each is, by lines,
//
//   a head       up to `.address_size`, the same in all
//   variables    one a line: `.global …;`, `.extern .shared …;`
//   entries      from the first `.visible .entry` to the last `}`
//   a tail       `.section .debug_macinfo { }`, `.file 1 "k.tile"`
//
// Out: one module with one head, each variable once, all entries, and one tail. Labels
// and registers belong to their entry. Files are numbered anew where modules number them
// differently, and with them the `.loc` lines.
//===----------------------------------------------------------------------===//

#include "tilec/Target/JoinPTX.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace {

/// The parts of a module's text.
struct Parts {
  StringRef head, variables, entries, tail;
};

Expected<Parts> split(StringRef text) {
  constexpr StringLiteral lastOfHead = ".address_size", firstEntry = "\n.visible .entry ";
  size_t head = text.find(lastOfHead);
  size_t first = text.find(firstEntry);
  size_t last = text.rfind("\n}\n");
  if (head == StringRef::npos || first == StringRef::npos || last == StringRef::npos ||
      head > first || first > last)
    return createStringError("PTX that is not of the expected form");
  head = text.find('\n', head) + 1;
  size_t end = last + 3;
  return Parts{text.take_front(head), text.slice(head, first + 1),
               text.slice(first + 1, end), text.drop_front(end)};
}

class Joiner {
public:
  Error add(StringRef text);
  std::string finish();

private:
  Error addVariables(StringRef lines);
  DenseMap<unsigned, unsigned> addTail(StringRef lines);
  void addEntries(StringRef text, const DenseMap<unsigned, unsigned> &numbers);

  std::string head, entries;
  MapVector<StringRef, std::string> variables; ///< declarations by name
  SetVector<StringRef> sections;
  SetVector<StringRef> files; ///< quoted; the first has number 1
};

/// `pad` of `.global .align 16 .b8 pad[16] = {…};`.
StringRef nameOf(StringRef declaration) {
  StringRef rest = declaration.take_until([](char c) { return c == '[' || c == '=' || c == ';'; });
  return rest.rtrim().rsplit(' ').second;
}

/// The number behind `.align `, and the declaration without it.
std::pair<unsigned, std::string> splitAlignment(StringRef declaration) {
  auto [before, rest] = declaration.split(".align ");
  unsigned alignment = 1;
  (void)rest.consumeInteger(10, alignment);
  return {alignment, (before + rest).str()};
}

Error Joiner::addVariables(StringRef lines) {
  for (StringRef line : split(lines, '\n')) {
    if (line.trim().empty() || line.trim().starts_with("//"))
      continue;
    StringRef name = nameOf(line);
    auto [place, isNew] = variables.insert({name, line.str()});
    if (isNew || place->second == line)
      continue;
    auto [known, knownRest] = splitAlignment(place->second);
    auto [other, otherRest] = splitAlignment(line);
    if (!line.starts_with(".extern .shared") || knownRest != otherRest)
      return createStringError("two modules declare '" + name + "' differently");
    if (other > known)
      place->second = line.str();
  }
  return Error::success();
}

/// New numbers of the files, by those that they have in this module.
DenseMap<unsigned, unsigned> Joiner::addTail(StringRef lines) {
  DenseMap<unsigned, unsigned> numbers;
  for (StringRef line : split(lines, '\n')) {
    StringRef rest = line.trim();
    unsigned number = 0;
    if (rest.empty())
      continue;
    if (rest.consume_front(".file\t") && !rest.consumeInteger(10, number)) {
      files.insert(rest.trim());
      numbers[number] = unsigned(find(files, rest.trim()) - files.begin()) + 1;
    } else {
      sections.insert(line);
    }
  }
  return numbers;
}

void Joiner::addEntries(StringRef text, const DenseMap<unsigned, unsigned> &numbers) {
  entries += '\n';
  if (all_of(numbers, [](auto &pair) { return pair.first == pair.second; })) {
    entries += text;
    return;
  }
  constexpr StringLiteral place = "\t.loc\t";
  for (size_t next; (next = text.find(place)) != StringRef::npos;) {
    entries += text.take_front(next + place.size());
    text = text.drop_front(next + place.size());
    unsigned number = 0;
    (void)text.consumeInteger(10, number);
    entries += utostr(numbers.lookup(number));
  }
  entries += text;
}

Error Joiner::add(StringRef text) {
  Expected<Parts> parts = ::split(text);
  if (!parts)
    return parts.takeError();
  if (head.empty())
    head = parts->head.str();
  if (head != parts->head)
    return createStringError("PTX modules of different targets");
  if (Error error = addVariables(parts->variables))
    return error;
  addEntries(parts->entries, addTail(parts->tail));
  return Error::success();
}

std::string Joiner::finish() {
  std::string text = std::move(head);
  if (!variables.empty())
    text += '\n';
  for (auto &[name, declaration] : variables)
    text += declaration + "\n";
  text += entries;
  for (StringRef line : sections)
    text += (line + "\n").str();
  for (auto [index, file] : enumerate(files))
    text += ("\t.file\t" + Twine(index + 1) + " " + file + "\n").str();
  return text;
}

} // namespace

Expected<std::string> tilec::joinPTX(ArrayRef<std::string> modules) {
  Joiner joiner;
  for (StringRef text : modules)
    if (Error error = joiner.add(text))
      return error;
  return joiner.finish();
}
