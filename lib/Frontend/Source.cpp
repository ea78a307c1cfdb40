//===- Source.cpp - source files, locations and ranges ----------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The table of lines of a file is built when the first line number in it is
// asked for; looking up a file or a line is a binary search.
//
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Source.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cassert>
#include <limits>
#include <system_error>

using namespace llvm;

namespace tilec {

FileLoader::~FileLoader() = default;

std::string FileLoader::canonicalPath(StringRef path) {
  SmallString<256> result(path);
  sys::path::remove_dots(result, /*remove_dot_dot=*/true);
  return std::string(result);
}

ErrorOr<std::unique_ptr<MemoryBuffer>> DiskFileLoader::load(StringRef path) {
  if (path == "-")
    return MemoryBuffer::getSTDIN();
  if (sys::fs::is_directory(path))
    return std::make_error_code(std::errc::is_a_directory);
  return MemoryBuffer::getFile(path);
}

std::string DiskFileLoader::canonicalPath(StringRef path) {
  SmallString<256> result;
  if (path != "-" && !sys::fs::real_path(path, result))
    return std::string(result);
  return FileLoader::canonicalPath(path);
}

struct SourceManager::File {
  std::string name;
  std::unique_ptr<MemoryBuffer> buffer;
  uint32_t base; // offset of its first byte
  mutable std::vector<uint32_t> lineStarts;

  StringRef text() const { return buffer->getBuffer(); }

  ArrayRef<uint32_t> lines() const {
    if (lineStarts.empty()) {
      StringRef t = text();
      lineStarts.push_back(0);
      for (size_t i = t.find('\n'); i != StringRef::npos;
           i = t.find('\n', i + 1))
        lineStarts.push_back(static_cast<uint32_t>(i + 1));
    }
    return lineStarts;
  }
};

SourceManager::SourceManager() = default;
SourceManager::~SourceManager() = default;

bool SourceManager::hasRoomFor(size_t bytes) const {
  // One offset beyond each file, so that its end is a location in it.
  return bytes < std::numeric_limits<uint32_t>::max() - size_t(nextOffset) - 1;
}

FileId SourceManager::addFile(StringRef name,
                              std::unique_ptr<MemoryBuffer> buffer) {
  assert(hasRoomFor(buffer->getBufferSize()) && "ask hasRoomFor first");
  auto file = std::make_unique<File>();
  file->name = name.str();
  file->buffer = std::move(buffer);
  file->base = nextOffset;
  nextOffset += static_cast<uint32_t>(file->text().size()) + 1;
  files.push_back(std::move(file));
  return files.size() - 1;
}

FileId SourceManager::addText(StringRef name, StringRef text) {
  return addFile(name, MemoryBuffer::getMemBufferCopy(text, name));
}

StringRef SourceManager::getFileName(FileId id) const { return file(id).name; }

StringRef SourceManager::getText(FileId id) const { return file(id).text(); }

FileId SourceManager::getFile(SourceLoc loc) const {
  assert(loc.isValid() && !files.empty());
  auto it = std::upper_bound(
      files.begin(), files.end(), loc.getOffset(),
      [](uint32_t offset, const auto &f) { return offset < f->base; });
  return static_cast<FileId>(it - files.begin()) - 1;
}

LineCol SourceManager::getLineCol(SourceLoc loc) const {
  const File &f = file(getFile(loc));
  uint32_t offset = loc.getOffset() - f.base;
  ArrayRef<uint32_t> lines = f.lines();
  auto it = std::upper_bound(lines.begin(), lines.end(), offset);
  unsigned line = it - lines.begin();
  return {line, offset - lines[line - 1] + 1};
}

SourceLoc SourceManager::getLoc(FileId id, size_t offset) const {
  const File &f = file(id);
  offset = std::min(offset, f.text().size());
  return SourceLoc::fromOffset(f.base + static_cast<uint32_t>(offset));
}

SourceLoc SourceManager::getLoc(FileId id, unsigned line, unsigned col) const {
  line = std::clamp(line, 1u, getNumLines(id));
  size_t inLine =
      std::min<size_t>(std::max(col, 1u) - 1, getLine(id, line).size());
  return getLoc(id, file(id).lines()[line - 1] + inLine);
}

int SourceManager::findFile(StringRef name) const {
  for (size_t i = 0; i < files.size(); ++i)
    if (files[i]->name == name)
      return static_cast<int>(i);
  return -1;
}

StringRef SourceManager::getText(SourceRange range) const {
  if (!range.isValid())
    return "";
  const File &f = file(getFile(range.begin));
  return f.text().substr(range.begin.getOffset() - f.base, range.size());
}

StringRef SourceManager::getLine(FileId id, unsigned line) const {
  ArrayRef<uint32_t> lines = file(id).lines();
  if (line == 0 || line > lines.size())
    return "";
  StringRef rest = getText(id).substr(lines[line - 1]);
  return rest.take_until([](char c) { return c == '\n'; }).rtrim('\r');
}

unsigned SourceManager::getNumLines(FileId id) const {
  return file(id).lines().size();
}

} // namespace tilec
