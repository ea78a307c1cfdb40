//===- Files.cpp - whole files, without LLVM ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The temporary file has the process's number and a counter in its name, so any
// number of writers may replace one file at once; the last rename wins.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/Files.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace tilec;

static Failure because(const std::string &path, int error) {
  return failure(path + ": " + std::strerror(error));
}

Expected<std::string> tilec::readFile(const std::string &path) {
  std::FILE *in = std::fopen(path.c_str(), "rb");
  if (!in)
    return because(path, errno);
  std::string bytes;
  char chunk[1 << 16];
  size_t n;
  while ((n = std::fread(chunk, 1, sizeof chunk, in)) > 0)
    bytes.append(chunk, n);
  int error = std::ferror(in) ? (errno ? errno : EIO) : 0;
  std::fclose(in);
  if (error)
    return because(path, error);
  return bytes;
}

static Expected<void> writeTo(const std::string &path, std::string_view bytes) {
  std::FILE *out = std::fopen(path.c_str(), "wb");
  if (!out)
    return because(path, errno);
  bool written = std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size();
  int error = errno;
  bool closed = std::fclose(out) == 0;
  if (!written || !closed)
    return because(path, written ? errno : error);
  return {};
}

Expected<void> tilec::replaceFile(const std::string &path, std::string_view bytes) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return writeTo(path, bytes);
  static std::atomic<unsigned> counter;
  std::string temporary =
      path + ".tmp" + std::to_string(getpid()) + "." + std::to_string(counter++);
  auto ok = writeTo(temporary, bytes);
  if (ok && std::rename(temporary.c_str(), path.c_str()) != 0)
    ok = because(path, errno);
  if (!ok) {
    std::remove(temporary.c_str());
    // The caller knows the file by its own name.
    std::string &message = ok.failure().message;
    if (message.starts_with(temporary))
      message = path + message.substr(temporary.size());
  }
  return ok;
}
