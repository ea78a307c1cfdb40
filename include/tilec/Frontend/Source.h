//===- Source.h - source files, locations and ranges ------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All files of one compilation (the ones named by the user and their imports)
// live in one SourceManager and share one space of 32-bit offsets: file 0 takes
// offsets 1 … size+1, file 1 the ones after it, and so on. A SourceLoc is such
// an offset, so a location costs four bytes in every node of the AST, a range
// eight, and both say which file they are in. Lines and columns are computed
// only when a message or debug information asks for them.
//
// Columns are 1-based bytes, a tab counts one (as `grep --column` and editors'
// "go to" count). A range is half open: [begin, end).
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_FRONTEND_SOURCE_H
#define TILEC_FRONTEND_SOURCE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilec {

/// A byte in some source file; 0 is "nowhere".
class SourceLoc {
public:
  constexpr SourceLoc() = default;
  constexpr static SourceLoc fromOffset(uint32_t offset) {
    SourceLoc loc;
    loc.offset = offset;
    return loc;
  }
  constexpr bool isValid() const { return offset != 0; }
  constexpr uint32_t getOffset() const { return offset; }
  constexpr SourceLoc advanced(int32_t bytes) const {
    return fromOffset(offset + static_cast<uint32_t>(bytes));
  }
  friend constexpr bool operator==(SourceLoc a, SourceLoc b) = default;
  friend constexpr auto operator<=>(SourceLoc a, SourceLoc b) = default;

private:
  uint32_t offset = 0;
};

/// The bytes [begin, end) of one file. An empty range marks a position, such as
/// where a missing `;` belongs.
struct SourceRange {
  SourceLoc begin, end;

  constexpr SourceRange() = default;
  constexpr SourceRange(SourceLoc begin, SourceLoc end)
      : begin(begin), end(end) {}
  /// The empty range at `loc`.
  constexpr explicit SourceRange(SourceLoc loc) : begin(loc), end(loc) {}

  constexpr bool isValid() const { return begin.isValid(); }
  constexpr uint32_t size() const {
    return end.getOffset() - begin.getOffset();
  }
  /// From the start of this range to the end of `other`.
  constexpr SourceRange to(SourceRange other) const {
    return {begin, other.end};
  }
  constexpr bool contains(SourceLoc loc) const {
    return begin <= loc && loc < end;
  }
  friend constexpr bool operator==(SourceRange a, SourceRange b) = default;
};

/// Index of a file in the SourceManager.
using FileId = unsigned;

struct LineCol {
  unsigned line = 0, col = 0; // both 1-based
  friend bool operator==(LineCol a, LineCol b) = default;
};

/// Where imported files come from. The parser asks it and nothing else, so
/// tests, the editor server and in-memory compilation bring their own.
class FileLoader {
public:
  virtual ~FileLoader();
  /// The text of the file at `path`, or the reason why there is none.
  virtual llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
  load(llvm::StringRef path) = 0;
  /// One spelling for all names of the same file (the default: lexically
  /// normalised), so that a file imported twice is loaded once.
  virtual std::string canonicalPath(llvm::StringRef path);
};

/// Reads from disk; `-` is standard input.
class DiskFileLoader : public FileLoader {
public:
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
  load(llvm::StringRef path) override;
  std::string canonicalPath(llvm::StringRef path) override;
};

/// Owns the text of every file of a compilation.
class SourceManager {
public:
  /// The largest file the language accepts.
  static constexpr size_t maxFileSize = size_t(16) << 20;

  SourceManager();
  ~SourceManager();
  SourceManager(const SourceManager &) = delete;
  SourceManager &operator=(const SourceManager &) = delete;

  /// Takes over a buffer; messages call it `name`. The buffer must be
  /// null-terminated, as MemoryBuffer's are by default.
  FileId addFile(llvm::StringRef name,
                 std::unique_ptr<llvm::MemoryBuffer> buffer);
  /// Copies `text`; for tests and programs made in memory.
  FileId addText(llvm::StringRef name, llvm::StringRef text);
  /// Whether `bytes` more still fit in the 32-bit offset space.
  bool hasRoomFor(size_t bytes) const;

  unsigned getNumFiles() const { return files.size(); }
  llvm::StringRef getFileName(FileId id) const;
  llvm::StringRef getText(FileId id) const;

  /// The file that a valid location lies in.
  FileId getFile(SourceLoc loc) const;
  llvm::StringRef getFileName(SourceLoc loc) const {
    return getFileName(getFile(loc));
  }
  LineCol getLineCol(SourceLoc loc) const;

  /// Location of byte `offset` of a file; the end of the text is allowed.
  SourceLoc getLoc(FileId id, size_t offset) const;
  /// Location of a 1-based line and column, clamped into the file; for
  /// locations that come back from later stages.
  SourceLoc getLoc(FileId id, unsigned line, unsigned col) const;
  /// The file that messages call `name`, or -1.
  int findFile(llvm::StringRef name) const;

  /// The source text of a range, "" for an invalid one.
  llvm::StringRef getText(SourceRange range) const;
  /// Text of a 1-based line without its line end.
  llvm::StringRef getLine(FileId id, unsigned line) const;
  unsigned getNumLines(FileId id) const;

private:
  struct File;
  const File &file(FileId id) const { return *files[id]; }
  std::vector<std::unique_ptr<File>> files;
  uint32_t nextOffset = 1;
};

} // namespace tilec

#endif // TILEC_FRONTEND_SOURCE_H
