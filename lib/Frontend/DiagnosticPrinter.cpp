//===- DiagnosticPrinter.cpp - how messages look ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: a Diagnostic. Out: text for people,
//
//   matmul.tile:9:9: error: shapes [64] and [32] do not broadcast [T0301]
//      8 |   let a = load(x, [i], [64]);
//        |           ------------------ [64] comes from here
//      9 |   let c = a + b;
//        |           - ^ - this is [32]
//        |           |
//        |           this is [64]
//        = help: …
//
// or one JSON object a line for programs. Lines that are very long are cut
// around what is marked, tabs become spaces and bytes that are no text become
// `?`, so any input can be shown.
//
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Unicode.h"
#include <algorithm>
#include <map>
#include <tuple>

using namespace llvm;

namespace tilec {

namespace {

constexpr size_t maxLineBytes = 200; // longer lines are cut
constexpr size_t contextBytes = 60;  // kept before what is marked
constexpr unsigned tabWidth = 4;
constexpr size_t maxNotes = 32;

constexpr StringLiteral bold = "\033[1m", red = "\033[1;31m",
                        yellow = "\033[1;35m", cyan = "\033[1;36m",
                        blue = "\033[1;34m", green = "\033[1;32m",
                        reset = "\033[0m";

StringRef colorOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return red;
  case Severity::Warning:
    return yellow;
  case Severity::Remark:
  case Severity::Note:
    return cyan;
  }
  return red;
}

/// What is marked on one line: the bytes [begin, end) of it.
struct Mark {
  size_t begin, end;
  bool isPrimary;
  StringRef label;
};

/// A source line made fit for a terminal, with the column of each byte.
struct DisplayLine {
  std::string text;
  size_t firstByte = 0;
  std::vector<unsigned> columns; // of each byte from firstByte, one beyond

  DisplayLine(StringRef line, size_t from) {
    bool cutEnd = false;
    if (line.size() > maxLineBytes) {
      firstByte = from > contextBytes ? from - contextBytes : 0;
      firstByte = std::min(firstByte, line.size());
      while (firstByte > 0 && firstByte < line.size() &&
             (line[firstByte] & 0xC0) == 0x80)
        --firstByte; // not inside a character
      cutEnd = line.size() - firstByte > maxLineBytes;
      line = line.substr(firstByte, maxLineBytes);
    }
    unsigned column = 0;
    auto put = [&](StringRef shown, unsigned bytes, unsigned width) {
      text += shown;
      columns.insert(columns.end(), bytes, column);
      column += width;
    };
    if (firstByte != 0) {
      text += "...";
      column = 3;
    }
    while (!line.empty()) {
      unsigned char c = line[0];
      unsigned size = c < 0x80 ? 1 : getNumBytesForUTF8(c);
      int width = c == '\t'
                      ? int(tabWidth)
                      : sys::unicode::columnWidthUTF8(line.take_front(size));
      if (c == '\t')
        put(std::string(tabWidth, ' '), 1, tabWidth);
      else if (size <= line.size() && width >= 0)
        put(line.take_front(size), size, width);
      else
        put("?", size = 1, 1);
      line = line.drop_front(size);
    }
    columns.push_back(column);
    if (cutEnd)
      text += "...";
  }

  unsigned column(size_t byte) const {
    byte = std::clamp(byte, firstByte, firstByte + columns.size() - 1);
    return columns[byte - firstByte];
  }
};

/// Writes the source lines of one message or note.
class SnippetWriter {
public:
  SnippetWriter(const SourceManager &sources, raw_ostream &os, bool color,
                Severity severity)
      : sources(sources), os(os), color(color), severity(severity) {}

  void mark(SourceRange range, bool isPrimary, StringRef label) {
    FileId file = sources.getFile(range.begin);
    LineCol begin = sources.getLineCol(range.begin);
    size_t length = sources.getLine(file, begin.line).size();
    size_t from = std::min<size_t>(begin.col - 1, length);
    // A range over several lines is marked on its first.
    size_t to = std::clamp<size_t>(from + range.size(), from, length);
    lines[{file, begin.line}].push_back({from, to, isPrimary, label});
  }

  unsigned width() const {
    unsigned most = 0;
    for (const auto &entry : lines)
      most = std::max(most, entry.first.second);
    return std::max<unsigned>(std::to_string(most).size(), 4);
  }

  /// `mainFile` needs no heading, being named in the first line.
  void write(FileId mainFile, unsigned gutter) {
    FileId file = mainFile;
    unsigned previous = 0;
    for (auto &[key, marks] : lines) {
      auto [lineFile, line] = key;
      if (lineFile != file) {
        paint(blue, std::string(gutter + 1, ' ') + "::");
        os << ' ' << sources.getFileName(lineFile) << '\n';
      } else if (previous != 0 && line == previous + 2) {
        DisplayLine between(sources.getLine(file, previous + 1), 0);
        writeSource(previous + 1, gutter, between);
      } else if (previous != 0 && line > previous + 1) {
        paint(blue, std::string(gutter - 1, ' ') + "...");
        os << '\n';
      }
      file = lineFile;
      previous = line;
      writeLine(file, line, marks, gutter);
    }
  }

  void writeSource(unsigned line, unsigned gutter, const DisplayLine &shown) {
    std::string number = std::to_string(line);
    paint(blue, std::string(
                    gutter + 1 - std::min<size_t>(number.size(), gutter), ' ') +
                    number + " |");
    if (!shown.text.empty())
      os << ' ' << shown.text;
    os << '\n';
  }

  /// A line below the source, with the parts of `row` coloured by their
  /// character.
  void writeRow(unsigned gutter, StringRef row) {
    paint(blue, std::string(gutter + 1, ' ') + " |");
    os << ' ';
    row = row.rtrim(' ');
    if (!color) {
      os << row << '\n';
      return;
    }
    paint(rowColor(row), row);
    os << '\n';
  }

  void paint(StringRef code, StringRef text) {
    if (color)
      os << code << text << reset;
    else
      os << text;
  }

private:
  StringRef rowColor(StringRef row) const {
    if (row.contains('+'))
      return green;
    return row.contains('^') ? colorOf(severity) : StringRef(blue);
  }

  void writeLine(FileId file, unsigned line, std::vector<Mark> &marks,
                 unsigned gutter) {
    llvm::sort(marks, [](const Mark &a, const Mark &b) {
      return std::tuple(a.begin, !a.isPrimary, a.end, a.label) <
             std::tuple(b.begin, !b.isPrimary, b.end, b.label);
    });
    size_t focus = marks.front().begin;
    for (const Mark &m : marks)
      if (m.isPrimary)
        focus = m.begin;
    DisplayLine shown(sources.getLine(file, line), focus);
    writeSource(line, gutter, shown);

    std::string row;
    auto fill = [&](const Mark &m, char c) {
      unsigned from = shown.column(m.begin);
      unsigned to = std::max(shown.column(m.end), from + 1);
      if (row.size() < to)
        row.resize(to, ' ');
      std::fill(row.begin() + from, row.begin() + to, c);
    };
    // What is a part of the primary range shows within it: `a---^^---`.
    const Mark *primary = nullptr;
    for (const Mark &m : marks)
      if (m.isPrimary)
        primary = &m;
    auto isPart = [&](const Mark &m) {
      return primary && primary->begin <= m.begin && m.end <= primary->end &&
             m.end - m.begin < primary->end - primary->begin;
    };
    for (const Mark &m : marks)
      if (!m.isPrimary && !isPart(m))
        fill(m, '-');
    for (const Mark &m : marks)
      if (m.isPrimary)
        fill(m, '^');
    for (const Mark &m : marks)
      if (!m.isPrimary && isPart(m))
        fill(m, '-');

    // The last label stands behind its mark; the others hang below theirs.
    std::vector<const Mark *> hanging;
    for (const Mark &m : marks)
      if (!m.label.empty())
        hanging.push_back(&m);
    if (!hanging.empty() && &marks.back() == hanging.back() &&
        shown.column(marks.back().end) >= row.size()) {
      row += ' ';
      row += hanging.back()->label;
      hanging.pop_back();
    }
    writeRow(gutter, row);
    while (!hanging.empty()) {
      writeRow(gutter, bars(hanging, shown));
      const Mark *last = hanging.back();
      hanging.pop_back();
      std::string text = bars(hanging, shown);
      text.resize(std::max<size_t>(text.size(), shown.column(last->begin)),
                  ' ');
      text.resize(shown.column(last->begin));
      writeRow(gutter, text + last->label.str());
    }
  }

  static std::string bars(ArrayRef<const Mark *> marks,
                          const DisplayLine &shown) {
    std::string row;
    for (const Mark *m : marks) {
      unsigned column = shown.column(m->begin);
      if (row.size() < column + 1)
        row.resize(column + 1, ' ');
      row[column] = '|';
    }
    return row;
  }

  const SourceManager &sources;
  raw_ostream &os;
  bool color;
  Severity severity;
  std::map<std::pair<FileId, unsigned>, std::vector<Mark>> lines;
};

/// Writes `file:line:col: severity: `.
void writeHead(raw_ostream &os, const SourceManager &sources, SourceRange range,
               Severity severity, bool color) {
  if (range.isValid()) {
    LineCol at = sources.getLineCol(range.begin);
    if (color)
      os << bold;
    os << sources.getFileName(range.begin) << ':' << at.line << ':' << at.col
       << ": ";
    if (color)
      os << reset;
  }
  if (color)
    os << colorOf(severity);
  os << spelling(severity) << ": ";
  if (color)
    os << reset;
}

/// Shows the line as it would be after the edits, with `+` below what is new;
/// nothing for edits that span lines.
void writeFixedLine(SnippetWriter &writer, const SourceManager &sources,
                    ArrayRef<FixIt> fixIts, unsigned gutter) {
  FileId file = sources.getFile(fixIts.front().range.begin);
  unsigned line = sources.getLineCol(fixIts.front().range.begin).line;
  StringRef text = sources.getLine(file, line);
  if (text.size() > maxLineBytes)
    return;
  std::vector<FixIt> sorted(fixIts.begin(), fixIts.end());
  llvm::sort(sorted, [](const FixIt &a, const FixIt &b) {
    return a.range.begin < b.range.begin;
  });
  std::string fixed;
  std::vector<std::pair<size_t, size_t>> added;
  size_t done = 0;
  for (const FixIt &fix : sorted) {
    LineCol begin = sources.getLineCol(fix.range.begin);
    size_t from = begin.col - 1, to = from + fix.range.size();
    if (sources.getFile(fix.range.begin) != file || begin.line != line ||
        from < done || to > text.size() ||
        StringRef(fix.replacement).contains('\n'))
      return;
    fixed += text.slice(done, from);
    added.push_back({fixed.size(), fixed.size() + fix.replacement.size()});
    fixed += fix.replacement;
    done = to;
  }
  fixed += text.substr(done);
  DisplayLine shown(fixed, 0);
  writer.writeSource(line, gutter, shown);
  std::string row;
  for (auto [from, to] : added) {
    row.resize(std::max<size_t>(row.size(), shown.column(to)), ' ');
    for (unsigned i = shown.column(from); i < shown.column(to); ++i)
      row[i] = '+';
  }
  if (StringRef(row).contains('+'))
    writer.writeRow(gutter, row);
}

} // namespace

void TextDiagnosticPrinter::handle(const Diagnostic &d) {
  writeHead(os, sources, d.range, d.severity, color);
  SnippetWriter writer(sources, os, color, d.severity);
  writer.paint(bold, d.message);
  if (d.category.empty())
    os << " [" << getInfo(d.id).code << "]\n";
  else
    os << " [" << d.category << (d.scope.empty() ? "" : ", ") << d.scope << "]\n";

  unsigned gutter = 4;
  const bool isRemark = d.severity == Severity::Remark;
  const bool isShown = isRemark && d.range == lastRemark;
  lastRemark = isRemark ? d.range : SourceRange();
  if (d.range.isValid() && !isShown) {
    writer.mark(d.range, /*isPrimary=*/true, d.label);
    for (const LabelledRange &s : d.secondary)
      writer.mark(s.range, /*isPrimary=*/false, s.text);
    gutter = writer.width();
    writer.write(sources.getFile(d.range.begin), gutter);
  }

  size_t shown = 0;
  for (const DiagnosticNote &note : d.notes) {
    if (++shown > maxNotes) {
      os << std::string(gutter + 2, ' ') << "= note: and "
         << d.notes.size() - maxNotes << " more\n";
      break;
    }
    if (!note.range.isValid()) {
      writer.paint(blue, std::string(gutter + 2, ' ') + "= ");
      writer.paint(bold, note.isHelp ? "help" : "note");
      os << ": " << note.text << '\n';
      continue;
    }
    writeHead(os, sources, note.range, Severity::Note, color);
    os << note.text << '\n';
    SnippetWriter noteWriter(sources, os, color, Severity::Note);
    noteWriter.mark(note.range, /*isPrimary=*/true, "");
    noteWriter.write(sources.getFile(note.range.begin), gutter);
  }
  if (!d.fixIts.empty())
    writeFixedLine(writer, sources, d.fixIts, gutter);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void writeRange(json::OStream &json, const SourceManager &sources,
                       SourceRange range) {
  if (!range.isValid())
    return;
  LineCol begin = sources.getLineCol(range.begin);
  LineCol end = sources.getLineCol(range.end);
  json.attribute("file", json::fixUTF8(sources.getFileName(range.begin)));
  json.attribute("line", begin.line);
  json.attribute("column", begin.col);
  json.attribute("endLine", end.line);
  json.attribute("endColumn", end.col);
}

void JSONDiagnosticPrinter::handle(const Diagnostic &d) {
  const DiagnosticInfo &info = getInfo(d.id);
  json::OStream json(os);
  json.object([&] {
    json.attribute("severity", spelling(d.severity));
    json.attribute("code", info.code);
    if (!info.flag.empty())
      json.attribute("flag", info.flag);
    if (!d.category.empty())
      json.attribute("pass", d.category);
    if (!d.scope.empty())
      json.attribute("builds", d.scope);
    json.attribute("message", json::fixUTF8(d.message));
    writeRange(json, sources, d.range);
    if (!d.label.empty())
      json.attribute("label", json::fixUTF8(d.label));
    json.attributeArray("related", [&] {
      for (const LabelledRange &s : d.secondary)
        json.object([&] {
          json.attribute("kind", "label");
          json.attribute("message", json::fixUTF8(s.text));
          writeRange(json, sources, s.range);
        });
      for (const DiagnosticNote &n : d.notes)
        json.object([&] {
          json.attribute("kind", n.isHelp ? "help" : "note");
          json.attribute("message", json::fixUTF8(n.text));
          writeRange(json, sources, n.range);
        });
    });
    json.attributeArray("fixes", [&] {
      for (const FixIt &f : d.fixIts)
        json.object([&] {
          json.attribute("replacement", json::fixUTF8(f.replacement));
          writeRange(json, sources, f.range);
        });
    });
  });
  json.flush();
  os << '\n';
}

} // namespace tilec
