//===- ModuleFile.cpp - image and launch facts in one file --------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Writer and reader of the format described in ModuleFile.h. The reader checks in
// the order header, size, checksum, index, ranges; nothing is copied out of the
// file before its range is known to lie inside it.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/ModuleFile.h"

#include "JsonReader.h"

#include <algorithm>

using namespace tilec;

static constexpr std::string_view magic = "TILECMOD";
static constexpr uint32_t version = 2;
/// The newest one in which every image has one object.
static constexpr uint32_t versionOfOneObject = 1;
static constexpr size_t headerSize = 32;
static constexpr size_t imageAlignment = 16;

static uint64_t fnv1a(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

template <typename T>
static void putInteger(std::string &out, T v) {
  for (unsigned i = 0; i < sizeof(T); ++i)
    out.push_back(static_cast<char>(v >> (8 * i)));
}

template <typename T>
static T getInteger(std::string_view bytes, size_t at) {
  T v = 0;
  for (unsigned i = 0; i < sizeof(T); ++i)
    v |= static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return v;
}

static size_t alignUp(size_t n) { return (n + imageAlignment - 1) / imageAlignment * imageAlignment; }

static std::string_view kindName(ImageKind kind) {
  return kind == ImageKind::PTX ? "ptx" : "cubin";
}

bool tilec::isModuleFile(std::string_view bytes) { return bytes.starts_with(magic); }

//===-- Writing -------------------------------------------------------------===//

std::string tilec::writeModule(const ModuleFile &module) {
  // Offsets of objects count from the end of the index, so that the index's own size
  // does not change them.
  bool areWhole = std::all_of(module.images.begin(), module.images.end(),
                              [](const ModuleImage &image) { return image.objects.size() == 1; });
  Json images = Json::array();
  size_t offset = 0;
  for (const ModuleImage &image : module.images) {
    Json kernels = Json::array(), objects = Json::array();
    for (const KernelInfo &info : image.kernels)
      kernels.push_back(kernelInfoToJsonValue(info));
    for (const std::string &object : image.objects) {
      objects.push_back(Json{{"offset", offset}, {"size", object.size()}});
      offset = alignUp(offset + object.size());
    }
    Json entry{{"arch", image.arch}, {"kind", std::string(kindName(image.kind))}};
    if (areWhole)
      entry.update(objects[0]);
    else
      entry["objects"] = objects;
    entry["kernels"] = kernels;
    images.push_back(entry);
  }
  Json index{{"producer", module.producer}, {"images", images}};
  std::string body = index.dump(-1, ' ', false, Json::error_handler_t::replace);
  size_t indexSize = body.size();
  body.resize(alignUp(headerSize + indexSize) - headerSize);
  size_t base = body.size();
  for (const ModuleImage &image : module.images)
    for (const std::string &object : image.objects) {
      body += object;
      body.resize(base + alignUp(body.size() - base));
    }

  std::string out(magic);
  putInteger<uint32_t>(out, areWhole ? versionOfOneObject : version);
  putInteger<uint32_t>(out, static_cast<uint32_t>(indexSize));
  putInteger<uint64_t>(out, headerSize + body.size());
  putInteger<uint64_t>(out, fnv1a(body));
  return out + body;
}

//===-- Reading -------------------------------------------------------------===//

/// The bytes that "offset" and "size" name.
static std::string readObject(JsonReader &in, std::string_view area) {
  auto limit = static_cast<int64_t>(area.size());
  int64_t offset = in.integer("offset", 0, limit);
  int64_t size = in.integer("size", 0, limit - offset);
  return std::string(area.substr(static_cast<size_t>(offset), static_cast<size_t>(size)));
}

static ModuleImage readImage(const Json &value, const std::string &path, std::string_view area,
                             std::string &error) {
  JsonReader in(value, path, error);
  ModuleImage image;
  image.arch = in.string("arch");
  std::string kind = in.string("kind");
  if (kind != "ptx" && kind != "cubin")
    in.fail("kind", "is neither `ptx` nor `cubin`");
  image.kind = kind == "ptx" ? ImageKind::PTX : ImageKind::Cubin;
  if (in.has("objects"))
    in.array("objects", [&](const Json &v, const std::string &at) {
      JsonReader object(v, at, error);
      image.objects.push_back(readObject(object, area));
    });
  else
    image.objects.push_back(readObject(in, area));
  in.array("kernels", [&](const Json &v, const std::string &at) {
    image.kernels.push_back(readKernelInfo(v, at, error));
    for (const BuildInfo &build : image.kernels.back().builds)
      if (build.object >= image.objects.size())
        JsonReader(v, at, error).fail("builds", "name an object that is not there");
  });
  return image;
}

Expected<ModuleFile> tilec::readModule(std::string_view bytes) {
  if (!isModuleFile(bytes))
    return failure("not a tilec module");
  if (bytes.size() < headerSize)
    return failure("tilec module is truncated");
  auto fileVersion = getInteger<uint32_t>(bytes, 8);
  if (fileVersion < versionOfOneObject || fileVersion > version)
    return failure("tilec module has version " + std::to_string(fileVersion) +
                   ", this runtime reads versions " + std::to_string(versionOfOneObject) +
                   " to " + std::to_string(version));
  auto indexSize = getInteger<uint32_t>(bytes, 12);
  auto fileSize = getInteger<uint64_t>(bytes, 16);
  if (bytes.size() < fileSize)
    return failure("tilec module is truncated: " + std::to_string(bytes.size()) + " of " +
                   std::to_string(fileSize) + " bytes");
  if (bytes.size() != fileSize || fnv1a(bytes.substr(headerSize)) != getInteger<uint64_t>(bytes, 24))
    return failure("tilec module is damaged");
  size_t base = alignUp(headerSize + size_t(indexSize));
  if (base > bytes.size())
    return failure("tilec module is damaged: its index lies outside the file");

  Json index = parseJson(bytes.substr(headerSize, indexSize));
  if (index.is_discarded())
    return failure("tilec module is damaged: its index is not JSON");
  std::string error;
  ModuleFile module;
  JsonReader in(index, "", error);
  module.producer = in.string("producer");
  in.array("images", [&](const Json &v, const std::string &at) {
    module.images.push_back(readImage(v, at, bytes.substr(base), error));
  });
  if (!error.empty())
    return failure("tilec module is damaged: " + error);
  return module;
}
