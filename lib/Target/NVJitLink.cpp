//===- NVJitLink.cpp - the assembler as a library --------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In: PTX. Out: a cubin, by five calls of libnvJitLink. The library is looked
// for by its versioned names, first where the loader looks, then in the
// toolkit's directories; $TILEC_NVJITLINK names it outright. Once opened it
// stays open. No header of NVIDIA's is needed: the few declarations are below.
//===----------------------------------------------------------------------===//

#include "NVJitLink.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Process.h"

using namespace llvm;

namespace {

/// Entry points; all return 0 for success. Handles are opaque.
struct Library {
  std::string path;
  int (*version)(unsigned *major, unsigned *minor) = nullptr;
  int (*create)(void **handle, uint32_t count, const char **options) = nullptr;
  int (*destroy)(void **handle) = nullptr;
  int (*addData)(void *handle, int kind, const void *data, size_t size,
                 const char *name) = nullptr;
  int (*complete)(void *handle) = nullptr;
  int (*cubinSize)(void *handle, size_t *size) = nullptr;
  int (*cubin)(void *handle, void *data) = nullptr;
  int (*errorLogSize)(void *handle, size_t *size) = nullptr;
  int (*errorLog)(void *handle, char *text) = nullptr;
  int (*infoLogSize)(void *handle, size_t *size) = nullptr;
  int (*infoLog)(void *handle, char *text) = nullptr;
};

constexpr int inputKindPTX = 2;

/// Resolves all entry points of the library at `path`.
bool open(const std::string &path, Library &result) {
  sys::DynamicLibrary library = sys::DynamicLibrary::getPermanentLibrary(path.c_str());
  if (!library.isValid())
    return false;
  bool complete = true;
  auto resolve = [&](auto &entry, const char *name) {
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(
        library.getAddressOfSymbol(name));
    complete &= entry != nullptr;
  };
  resolve(result.version, "nvJitLinkVersion");
  resolve(result.create, "nvJitLinkCreate");
  resolve(result.destroy, "nvJitLinkDestroy");
  resolve(result.addData, "nvJitLinkAddData");
  resolve(result.complete, "nvJitLinkComplete");
  resolve(result.cubinSize, "nvJitLinkGetLinkedCubinSize");
  resolve(result.cubin, "nvJitLinkGetLinkedCubin");
  resolve(result.errorLogSize, "nvJitLinkGetErrorLogSize");
  resolve(result.errorLog, "nvJitLinkGetErrorLog");
  resolve(result.infoLogSize, "nvJitLinkGetInfoLogSize");
  resolve(result.infoLog, "nvJitLinkGetInfoLog");
  result.path = path;
  return complete;
}

/// The opened library; an empty path when there is none.
const Library &library() {
  static const Library instance = [] {
    Library result;
    SmallVector<std::string, 4> directories;
    if (std::optional<std::string> chosen = sys::Process::GetEnv("TILEC_NVJITLINK")) {
      if (!open(*chosen, result))
        result.path.clear();
      return result;
    }
    directories.push_back("");
    if (std::optional<std::string> home = sys::Process::GetEnv("CUDA_HOME"))
      directories.push_back(*home + "/lib64/");
    directories.push_back("/usr/local/cuda/lib64/");
    for (const std::string &directory : directories)
      for (const char *name : {"libnvJitLink.so.13", "libnvJitLink.so.12"})
        if (open(directory + name, result))
          return result;
    result.path.clear();
    return result;
  }();
  return instance;
}

using ReadSize = int (*)(void *, size_t *);
using ReadText = int (*)(void *, char *);

std::string readLog(void *handle, ReadSize readSize, ReadText readText) {
  size_t size = 0;
  if (readSize(handle, &size) != 0 || size == 0)
    return {};
  std::string text(size, '\0');
  readText(handle, text.data());
  return text.substr(0, text.find('\0'));
}

} // namespace

std::string tilec::describeNVJitLink() {
  const Library &api = library();
  if (api.path.empty())
    return {};
  unsigned major = 0, minor = 0;
  api.version(&major, &minor);
  return "nvJitLink " + std::to_string(major) + "." + std::to_string(minor) + " (" +
         api.path + ")";
}

Expected<tilec::Cubin> tilec::assembleByNVJitLink(StringRef ptx, const Chip &chip,
                                                  const AssembleOptions &options) {
  const Library &api = library();
  std::vector<std::string> texts = {"-arch=" + std::string(chip.name),
                                    "-O" + std::to_string(options.optLevel), "-verbose"};
  if (options.lineInfo)
    texts.push_back("-lineinfo");
  for (const std::string &argument : options.extraArguments)
    texts.push_back("-Xptxas=" + argument);
  std::vector<const char *> arguments;
  for (const std::string &text : texts)
    arguments.push_back(text.c_str());

  void *handle = nullptr;
  if (api.create(&handle, arguments.size(), arguments.data()) != 0)
    return make_error<ExternalToolError>("nvJitLink refused its options",
                                         join(texts, " "));
  std::string name = "kernel.ptx";
  size_t size = 0;
  Cubin result;
  bool ok = api.addData(handle, inputKindPTX, ptx.data(), ptx.size(), name.c_str()) == 0 &&
            api.complete(handle) == 0 && api.cubinSize(handle, &size) == 0;
  if (ok) {
    result.image.resize(size);
    ok = api.cubin(handle, result.image.data()) == 0;
  }
  std::string errors = readLog(handle, api.errorLogSize, api.errorLog);
  std::string information = readLog(handle, api.infoLogSize, api.infoLog);
  api.destroy(&handle);
  if (!ok)
    return make_error<ExternalToolError>("nvJitLink failed", errors + information);
  parseAssemblerLog(information, result);
  return result;
}
