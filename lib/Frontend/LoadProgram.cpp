//===- LoadProgram.cpp - files and their imports ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: the paths a user named. Out: a Program with those files and all they
// import, each once, imported ones before their importers. An import is looked
// for beside the importing file and then in the include directories.
//
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Parser.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tilec {

namespace {

class ProgramLoader {
public:
  ProgramLoader(ast::Context &ctx, SourceManager &sources,
                DiagnosticEngine &diags, FileLoader &loader,
                const ParseOptions &options)
      : ctx(ctx), sources(sources), diags(diags), loader(loader),
        options(options) {}

  void loadRoot(const std::string &path) {
    std::error_code error;
    ast::File *file = load(path, SourceRange(), error);
    if (error)
      diags.report(diag::file_not_read, {}, path, error.message());
    else if (file && !is_contained(program.roots, file))
      program.roots.push_back(file);
  }

  ast::Program program;

private:
  /// The parsed file at `path`; null with `error` when there is none, null
  /// without when that has been reported.
  ast::File *load(StringRef path, SourceRange at, std::error_code &error) {
    std::string key = loader.canonicalPath(path);
    auto known = files.find(key);
    if (known != files.end()) {
      if (!known->second)
        reportCycle(key, at);
      return known->second;
    }
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = loader.load(path);
    if (!buffer) {
      error = buffer.getError();
      return nullptr;
    }
    size_t size = (*buffer)->getBufferSize();
    if (size > SourceManager::maxFileSize) {
      diags.report(diag::file_too_large, at, path, size);
      return nullptr;
    }
    if (!sources.hasRoomFor(size)) {
      diags.report(diag::sources_too_large, at);
      return nullptr;
    }
    if (chain.size() >= ast::maxNesting) {
      diags.report(diag::nesting_too_deep, at, ast::maxNesting);
      return nullptr;
    }
    StringRef name = path == "-" ? "<stdin>" : path;
    FileId id = sources.addFile(name, std::move(*buffer));
    files[key] = nullptr;
    chain.push_back({key, name.str()});
    ast::File *file = parseFile(id, ctx, sources, diags);
    for (ast::Decl *decl : file->decls)
      if (auto *import = dyn_cast<ast::ImportDecl>(decl))
        import->file = resolve(*import, path);
    chain.pop_back();
    files[key] = file;
    program.files.push_back(file);
    return file;
  }

  ast::File *resolve(const ast::ImportDecl &import, StringRef importer) {
    std::vector<std::string> candidates;
    auto add = [&](StringRef directory) {
      SmallString<256> path(directory);
      sys::path::append(path, import.path);
      sys::path::remove_dots(path, /*remove_dot_dot=*/false);
      candidates.push_back(std::string(path));
    };
    if (sys::path::is_absolute(import.path)) {
      candidates.push_back(import.path.str());
    } else {
      add(sys::path::parent_path(importer));
      for (const std::string &directory : options.includeDirs)
        add(directory);
    }
    std::error_code first;
    for (const std::string &path : candidates) {
      std::error_code error;
      ast::File *file = load(path, import.pathRange, error);
      if (!error)
        return file;
      if (!first || first == std::errc::no_such_file_or_directory)
        first = error;
    }
    auto report = diags.report(diag::file_not_read, import.pathRange,
                               import.path, first.message());
    for (const std::string &path : candidates)
      report.note("looked for `" + path + "`");
    if (options.includeDirs.empty() && !sys::path::is_absolute(import.path))
      report.help("`-I DIR` adds a directory to look in");
    return nullptr;
  }

  void reportCycle(StringRef key, SourceRange at) {
    std::string path;
    bool inside = false;
    StringRef name;
    for (const Entry &entry : chain) {
      if (entry.key == key) {
        inside = true;
        name = entry.name;
      }
      if (inside)
        path += "`" + entry.name + "` -> ";
    }
    diags.report(diag::import_cycle, at, name, path + "`" + name.str() + "`")
        .help("put what both need into a third file");
  }

  struct Entry {
    std::string key, name;
  };
  ast::Context &ctx;
  SourceManager &sources;
  DiagnosticEngine &diags;
  FileLoader &loader;
  const ParseOptions &options;
  StringMap<ast::File *> files; // null while its imports are being read
  std::vector<Entry> chain;
};

} // namespace

ast::Program parseProgram(ArrayRef<std::string> paths, ast::Context &ctx,
                          SourceManager &sources, DiagnosticEngine &diags,
                          FileLoader &loader, const ParseOptions &options) {
  ProgramLoader programLoader(ctx, sources, diags, loader, options);
  for (const std::string &path : paths)
    programLoader.loadRoot(path);
  return std::move(programLoader.program);
}

} // namespace tilec
