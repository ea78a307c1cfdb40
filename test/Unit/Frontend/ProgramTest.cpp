//===- ProgramTest.cpp - files and imports ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tilec/Frontend/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <map>

using namespace llvm;
using namespace tilec;
using testing::ElementsAre;

namespace {

/// Files in memory.
class MapLoader : public FileLoader {
public:
  std::map<std::string, std::string> texts;
  std::map<std::string, int> loads;
  ErrorOr<std::unique_ptr<MemoryBuffer>> load(StringRef path) override {
    auto it = texts.find(canonicalPath(path));
    if (it == texts.end())
      return std::make_error_code(std::errc::no_such_file_or_directory);
    ++loads[it->first];
    return MemoryBuffer::getMemBufferCopy(it->second, path);
  }
};

struct ProgramTest : testing::Test {
  ast::Program load(std::vector<std::string> paths) {
    return parseProgram(paths, ctx, sources, diags, loader, options);
  }
  std::vector<std::string> names(ArrayRef<ast::File *> files) {
    std::vector<std::string> result;
    for (ast::File *file : files)
      result.push_back(sources.getFileName(file->id).str());
    return result;
  }
  std::string messages() {
    std::string result;
    for (const Diagnostic &d : stored.list)
      result += getInfo(d.id).code.str() + " " + d.message + "\n";
    return result;
  }
  MapLoader loader;
  ParseOptions options;
  SourceManager sources;
  StoredDiagnostics stored;
  DiagnosticEngine diags{sources, stored};
  ast::Context ctx;
};

TEST_F(ProgramTest, ImportsComeBeforeTheirImportersAndOnce) {
  loader.texts = {{"d/a.tile", "import \"b.tile\"; import \"c.tile\";"},
                  {"d/b.tile", "import \"./c.tile\";"},
                  {"d/c.tile", "const N = 1;"}};
  ast::Program program = load({"d/a.tile", "d/c.tile", "d/a.tile"});
  EXPECT_EQ(messages(), "");
  EXPECT_THAT(names(program.files),
              ElementsAre("d/c.tile", "d/b.tile", "d/a.tile"));
  EXPECT_THAT(names(program.roots), ElementsAre("d/a.tile", "d/c.tile"));
  EXPECT_EQ(loader.loads["d/c.tile"], 1);
  auto *import = cast<ast::ImportDecl>(program.roots[0]->decls[1]);
  EXPECT_EQ(import->file, program.files[0]);
}

TEST_F(ProgramTest, IncludeDirectoriesAreSearchedAfterTheImportersOwn) {
  loader.texts = {{"d/a.tile", "import \"b.tile\"; import \"c.tile\";"},
                  {"d/b.tile", ""},
                  {"inc/b.tile", ""},
                  {"inc/c.tile", ""}};
  options.includeDirs = {"none", "inc"};
  ast::Program program = load({"d/a.tile"});
  EXPECT_EQ(messages(), "");
  EXPECT_THAT(names(program.files),
              ElementsAre("d/b.tile", "inc/c.tile", "d/a.tile"));
}

TEST_F(ProgramTest, AMissingImportNamesWhereItWasLookedFor) {
  loader.texts = {{"d/a.tile", "import \"b.tile\";\nconst N = 1;"}};
  options.includeDirs = {"inc"};
  ast::Program program = load({"d/a.tile"});
  EXPECT_EQ(messages(),
            "T0001 cannot read `b.tile`: No such file or directory\n");
  EXPECT_EQ(sources.getText(stored.list[0].range), "\"b.tile\"");
  ASSERT_EQ(stored.list[0].notes.size(), 2u);
  EXPECT_EQ(stored.list[0].notes[0].text, "looked for `d/b.tile`");
  EXPECT_EQ(stored.list[0].notes[1].text, "looked for `inc/b.tile`");
  EXPECT_EQ(program.files.size(), 1u) << "the rest is read all the same";
}

TEST_F(ProgramTest, AMissingMainFileHasNoPlace) {
  load({"a.tile"});
  EXPECT_EQ(messages(),
            "T0001 cannot read `a.tile`: No such file or directory\n");
  EXPECT_FALSE(stored.list[0].range.isValid());
}

TEST_F(ProgramTest, CyclesAreNamed) {
  loader.texts = {{"a.tile", "import \"b.tile\";"},
                  {"b.tile", "import \"c.tile\";"},
                  {"c.tile", "import \"b.tile\";"}};
  load({"a.tile"});
  EXPECT_EQ(
      messages(),
      "T0004 `b.tile` imports itself: `b.tile` -> `c.tile` -> `b.tile`\n");
  EXPECT_EQ(sources.getFileName(stored.list[0].range.begin), "c.tile");
}

TEST_F(ProgramTest, AFileThatImportsItself) {
  loader.texts = {{"a.tile", "import \"a.tile\";"}};
  load({"a.tile"});
  EXPECT_EQ(messages(),
            "T0004 `a.tile` imports itself: `a.tile` -> `a.tile`\n");
}

TEST_F(ProgramTest, LongImportChainsEnd) {
  for (int i = 0; i < 1000; ++i)
    loader.texts["f" + std::to_string(i)] =
        "import \"f" + std::to_string(i + 1) + "\";";
  load({"f0"});
  EXPECT_EQ(messages(), "T0115 nesting is deeper than 256 levels\n");
}

TEST_F(ProgramTest, LargeFilesAreRefusedWithoutReadingThem) {
  loader.texts = {{"a.tile", std::string(SourceManager::maxFileSize + 1, 'x')}};
  load({"a.tile"});
  EXPECT_EQ(messages(),
            "T0002 `a.tile` has 16777217 bytes, the limit is 16 MiB\n");
}

TEST_F(ProgramTest, AllFilesTogetherHaveALimit) {
  // Many files that share one buffer: a comment, quickly read.
  struct SharedLoader : FileLoader {
    std::string text = "//" + std::string(SourceManager::maxFileSize - 2, 'x');
    ErrorOr<std::unique_ptr<MemoryBuffer>> load(StringRef path) override {
      return MemoryBuffer::getMemBuffer(text, path);
    }
  } shared;
  std::vector<std::string> paths;
  for (int i = 0; i < 257; ++i)
    paths.push_back("f" + std::to_string(i));
  parseProgram(paths, ctx, sources, diags, shared);
  ASSERT_FALSE(stored.list.empty());
  EXPECT_EQ(stored.list[0].id, diag::sources_too_large);
}

TEST_F(ProgramTest, LocationsKnowTheirFile) {
  FileId a = sources.addText("a", "one\ntwo");
  FileId b = sources.addText("b", "");
  FileId c = sources.addText("c", "\nx\ty\n");
  EXPECT_EQ(sources.getFile(sources.getLoc(a, size_t(7))), a)
      << "the end is inside";
  EXPECT_EQ(sources.getFile(sources.getLoc(b, size_t(0))), b);
  EXPECT_EQ(sources.getLineCol(sources.getLoc(a, size_t(4))), (LineCol{2, 1}));
  EXPECT_EQ(sources.getLineCol(sources.getLoc(c, size_t(3))), (LineCol{2, 3}));
  EXPECT_EQ(sources.getLoc(c, 2, 3), sources.getLoc(c, size_t(3)));
  EXPECT_EQ(sources.getLoc(c, 99, 99), sources.getLoc(c, size_t(5)))
      << "clamped";
  EXPECT_EQ(sources.getLine(c, 2), "x\ty");
  EXPECT_EQ(sources.findFile("c"), int(c));
  EXPECT_EQ(sources.findFile("nope"), -1);
}

} // namespace
