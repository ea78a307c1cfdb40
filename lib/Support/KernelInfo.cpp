//===- KernelInfo.cpp - launch facts as JSON ----------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// KernelInfo → JSON with keys in a fixed order, and back. The reader takes nothing
// for granted: text may come from a damaged or hostile file, so every field is
// checked for kind and range before use, and a failure names the field. The JSON
// library's exceptions are never triggered (checked access only).
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/KernelInfo.h"

#include "JsonReader.h"

using namespace tilec;

std::string_view tilec::buildFactName(BuildFact fact) {
  switch (fact) {
  case BuildFact::Aligned16:
    return "aligned16";
  case BuildFact::Disjoint:
    return "disjoint";
  case BuildFact::Index32:
    return "index32";
  case BuildFact::FewBlocks:
    return "few_blocks";
  case BuildFact::Pairs:
    return "pairs";
  case BuildFact::Aligned4:
    return "aligned4";
  case BuildFact::WholePieces:
    return "whole_pieces";
  case BuildFact::DenseRows:
    return "dense_rows";
  }
  return "";
}

std::string_view tilec::buildKindName(uint8_t facts) {
  auto relies = [=](BuildFact fact) { return (facts & static_cast<uint8_t>(fact)) != 0; };
  return relies(BuildFact::FewBlocks)     ? "small-grid"
         : relies(BuildFact::Pairs)       ? "paired"
         : relies(BuildFact::Aligned16)   ? "aligned"
         : relies(BuildFact::Aligned4)    ? "words"
         : relies(BuildFact::WholePieces) ? "odd-rows"
         : relies(BuildFact::DenseRows)   ? "dense"
         : relies(BuildFact::Disjoint)    ? "disjoint"
                                          : "general";
}

std::optional<BuildFact> tilec::parseBuildFact(std::string_view name) {
  for (BuildFact fact : allBuildFacts)
    if (buildFactName(fact) == name)
      return fact;
  return std::nullopt;
}

//===-- Writing -------------------------------------------------------------===//

static Json paramToJson(const ParamInfo &param) {
  Json j;
  j["name"] = param.name;
  j["dtype"] = std::string(dtypeName(param.dtype));
  j["kind"] = param.isArray ? "array" : "scalar";
  if (!param.isArray)
    return j;
  j["mut"] = param.isMutable;
  j["strided"] = param.isStrided;
  Json dims = Json::array();
  for (const DimInfo &dim : param.dims) {
    Json d = Json::object();
    if (!dim.name.empty())
      d["name"] = dim.name;
    if (dim.constant)
      d["constant"] = *dim.constant;
    dims.push_back(d);
  }
  j["dims"] = dims;
  if (!param.reach.empty())
    j["reach"] = param.reach;
  return j;
}

static Json buildToJson(const BuildInfo &build) {
  Json j, facts = Json::array();
  j["symbol"] = build.symbol;
  j["object"] = build.object;
  for (BuildFact fact : allBuildFacts)
    if (build.relies(fact))
      facts.push_back(std::string(buildFactName(fact)));
  j["facts"] = facts;
  j["threads"] = build.threads;
  j["shared"] = build.sharedBytes;
  j["registers"] = build.registers;
  j["spills"] = build.spillBytes;
  j["persistent"] = build.persistent;
  j["cluster"] = build.cluster;
  if (build.clusterAxis)
    j["cluster_axis"] = *build.clusterAxis;
  j["split_k"] = build.splitK;
  if (build.blocksAtOnce != 1)
    j["blocks_at_once"] = build.blocksAtOnce;
  if (build.sumBytes)
    j["sum_bytes"] = build.sumBytes;
  j["positions"] = build.positions;
  j["awaits_grids"] = build.awaitsGrids;
  Json maps = Json::array();
  for (const TensorMapInfo &map : build.tensorMaps)
    maps.push_back(Json{{"param", map.param}, {"box", map.box}, {"swizzle", map.swizzleBytes}});
  j["tensor_maps"] = maps;
  return j;
}

static Json siteToJson(const DebugSite &site) {
  Json j, values = Json::array();
  j["kind"] = site.isAssertion ? "assert" : "print";
  j["file"] = site.file;
  j["line"] = site.line;
  j["column"] = site.column;
  j["pieces"] = site.pieces;
  for (const DebugValue &value : site.values)
    values.push_back(Json{{"dtype", std::string(dtypeName(value.dtype))}, {"shape", value.shape}});
  j["values"] = values;
  return j;
}

Json tilec::kernelInfoToJsonValue(const KernelInfo &info) {
  Json j;
  j["name"] = info.name;
  j["doc"] = info.doc;
  j["arch"] = info.arch;
  Json params = Json::array(), requirements = Json::array(), constants = Json::array();
  Json hints = Json::array(), builds = Json::array();
  for (const ParamInfo &param : info.params)
    params.push_back(paramToJson(param));
  for (const Requirement &r : info.requirements)
    requirements.push_back(
        Json{{"expr", r.expr}, {"text", r.text}, {"file", r.file}, {"line", r.line}});
  for (const ConstantInfo &c : info.constants)
    constants.push_back(Json{{"name", c.name}, {"value", c.value}});
  for (const HintInfo &hint : info.hints)
    hints.push_back(Json{{"name", hint.name}, {"value", hint.value}});
  for (const BuildInfo &build : info.builds)
    builds.push_back(buildToJson(build));
  j["params"] = params;
  j["grid"] = info.grid;
  j["requires"] = requirements;
  j["constants"] = constants;
  j["hints"] = hints;
  j["num_sms"] = info.usesNumSMs;
  j["builds"] = builds;
  if (!info.sites.empty()) {
    Json sites = Json::array();
    for (const DebugSite &site : info.sites)
      sites.push_back(siteToJson(site));
    j["sites"] = sites;
  }
  return j;
}

std::string tilec::toJson(const KernelInfo &info) {
  // Names and comments are source bytes; anything not UTF-8 is replaced.
  return kernelInfoToJsonValue(info).dump(2, ' ', false, Json::error_handler_t::replace);
}

//===-- Reading -------------------------------------------------------------===//

Json tilec::parseJson(std::string_view text) {
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > 32)
        return Json(Json::value_t::discarded);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

static ParamInfo readParam(const Json &value, const std::string &path, std::string &error) {
  JsonReader in(value, path, error);
  ParamInfo param;
  param.name = in.string("name");
  if (auto dtype = parseDType(in.string("dtype")))
    param.dtype = *dtype;
  else
    in.fail("dtype", "is not a dtype");
  std::string kind = in.string("kind");
  if (kind != "array" && kind != "scalar")
    in.fail("kind", "is neither `array` nor `scalar`");
  param.isArray = kind == "array";
  if (!param.isArray)
    return param;
  param.isMutable = in.boolean("mut");
  param.isStrided = in.boolean("strided");
  in.array("dims", [&](const Json &element, const std::string &at) {
    JsonReader d(element, at, error);
    DimInfo dim;
    if (d.has("name"))
      dim.name = d.string("name");
    if (d.has("constant"))
      dim.constant = d.integer("constant", 0, std::numeric_limits<int64_t>::max());
    param.dims.push_back(std::move(dim));
  });
  if (in.has("reach"))
    in.array("reach", [&](const Json &element, const std::string &at) {
      int64_t extent = element.is_number_unsigned() ? element.get<int64_t>() : 0;
      if (extent < 1 || extent > 1 << 20)
        JsonReader(Json::object(), at, error).fail("is not the dim of a tile");
      param.reach.push_back(extent);
    });
  if (!param.reach.empty() && param.reach.size() != param.dims.size())
    in.fail("reach", "has not one entry per dim");
  if (param.dims.empty() || param.dims.size() > 6)
    in.fail("dims", "has not 1 to 6 entries");
  return param;
}

static TensorMapInfo readTensorMap(const Json &value, const std::string &path,
                                   std::string &error) {
  JsonReader in(value, path, error);
  TensorMapInfo map;
  map.param = static_cast<unsigned>(in.integer("param", 0, 1 << 16));
  in.array("box", [&](const Json &element, const std::string &at) {
    bool isExtent = element.is_number_unsigned() && *element.get_ptr<const uint64_t *>() >= 1 &&
                    *element.get_ptr<const uint64_t *>() <= 256;
    if (!isExtent)
      return JsonReader(Json::object(), at, error).fail("is not an extent from 1 to 256");
    map.box.push_back(static_cast<uint32_t>(*element.get_ptr<const uint64_t *>()));
  });
  if (map.box.empty() || map.box.size() > maxTensorMapRank)
    in.fail("box", "has not 1 to 5 entries");
  map.swizzleBytes = static_cast<unsigned>(in.integer("swizzle", 0, 128));
  if (map.swizzleBytes != 0 && map.swizzleBytes != 32 && map.swizzleBytes != 64 &&
      map.swizzleBytes != 128)
    in.fail("swizzle", "is none of 0, 32, 64, 128");
  return map;
}

static BuildInfo readBuild(const Json &value, const std::string &path, std::string &error) {
  JsonReader in(value, path, error);
  BuildInfo build;
  build.symbol = in.string("symbol");
  if (build.symbol.empty())
    in.fail("symbol", "is empty");
  if (in.has("object"))
    build.object = static_cast<unsigned>(in.integer("object", 0, 1 << 16));
  in.array("facts", [&](const Json &element, const std::string &at) {
    auto fact = element.is_string() ? parseBuildFact(*element.get_ptr<const std::string *>())
                                    : std::nullopt;
    // An unknown fact must not be skipped: the build relies on it.
    if (!fact)
      return JsonReader(Json::object(), at, error).fail("is not a known fact");
    build.facts |= static_cast<uint8_t>(*fact);
  });
  build.threads = static_cast<unsigned>(in.integer("threads", 1, 1024));
  build.sharedBytes = static_cast<unsigned>(in.integer("shared", 0, 1 << 20));
  build.registers = static_cast<unsigned>(in.integer("registers", 0, 1 << 16));
  build.spillBytes = static_cast<unsigned>(in.integer("spills", 0, 1 << 30));
  build.persistent = static_cast<unsigned>(in.integer("persistent", 0, 32));
  build.cluster = static_cast<unsigned>(in.integer("cluster", 1, 8));
  if (in.has("cluster_axis"))
    build.clusterAxis = static_cast<unsigned>(in.integer("cluster_axis", 0, 2));
  build.splitK = static_cast<unsigned>(in.integer("split_k", 0, 8));
  if (in.has("blocks_at_once"))
    build.blocksAtOnce = static_cast<unsigned>(in.integer("blocks_at_once", 1, 32));
  if (in.has("sum_bytes"))
    build.sumBytes = static_cast<unsigned>(in.integer("sum_bytes", 0, 1 << 24));
  build.positions = static_cast<unsigned>(in.integer("positions", 1, 32));
  build.awaitsGrids = in.boolean("awaits_grids");
  in.array("tensor_maps", [&](const Json &element, const std::string &at) {
    build.tensorMaps.push_back(readTensorMap(element, at, error));
  });
  return build;
}

static DebugValue readDebugValue(const Json &value, const std::string &path, std::string &error) {
  JsonReader in(value, path, error);
  DebugValue result;
  if (auto dtype = parseDType(in.string("dtype")))
    result.dtype = *dtype;
  else
    in.fail("dtype", "is not a dtype");
  in.array("shape", [&](const Json &dim, const std::string &at) {
    constexpr int64_t most = 1 << 20;
    int64_t size = dim.is_number_unsigned() ? dim.get<int64_t>() : 0;
    if (size < 1 || size > most || result.numElements() * size > most)
      return JsonReader(Json::object(), at, error).fail("is not a dim of a tile");
    result.shape.push_back(size);
  });
  return result;
}

static DebugSite readSite(const Json &value, const std::string &path, std::string &error) {
  JsonReader in(value, path, error);
  DebugSite site;
  std::string kind = in.string("kind");
  if (kind != "print" && kind != "assert")
    in.fail("kind", "is neither `print` nor `assert`");
  site.isAssertion = kind == "assert";
  site.file = in.string("file");
  site.line = static_cast<unsigned>(in.integer("line", 0, 1 << 30));
  site.column = static_cast<unsigned>(in.integer("column", 0, 1 << 30));
  in.array("pieces", [&](const Json &piece, const std::string &at) {
    if (piece.is_string())
      site.pieces.push_back(*piece.get_ptr<const std::string *>());
    else
      JsonReader(Json::object(), at, error).fail("is not a string");
  });
  in.array("values", [&](const Json &v, const std::string &at) {
    site.values.push_back(readDebugValue(v, at, error));
  });
  if (site.isAssertion ? site.pieces.size() != 1 || site.values.size() != 1
                       : site.pieces.size() != site.values.size() + 1)
    in.fail("pieces", "do not fit the values");
  return site;
}

KernelInfo tilec::readKernelInfo(const Json &value, const std::string &path, std::string &error) {
  JsonReader in(value, path, error);
  KernelInfo info;
  info.name = in.string("name");
  info.doc = in.string("doc");
  info.arch = in.string("arch");
  in.array("params", [&](const Json &v, const std::string &at) {
    info.params.push_back(readParam(v, at, error));
  });
  in.array("grid", [&](const Json &v, const std::string &at) {
    if (v.is_string())
      info.grid.push_back(*v.get_ptr<const std::string *>());
    else
      JsonReader(Json::object(), at, error).fail("is not a string");
  });
  if (info.grid.size() > 3)
    in.fail("grid", "has more than 3 entries");
  in.array("requires", [&](const Json &v, const std::string &at) {
    JsonReader r(v, at, error);
    info.requirements.push_back({r.string("expr"), r.string("text"), r.string("file"),
                                 static_cast<unsigned>(r.integer("line", 0, 1 << 30))});
  });
  in.array("constants", [&](const Json &v, const std::string &at) {
    JsonReader c(v, at, error);
    info.constants.push_back({c.string("name"), c.string("value")});
  });
  in.array("hints", [&](const Json &v, const std::string &at) {
    JsonReader h(v, at, error);
    info.hints.push_back({h.string("name"), h.integer("value", std::numeric_limits<int64_t>::min(),
                                                      std::numeric_limits<int64_t>::max())});
  });
  info.usesNumSMs = in.has("num_sms") && in.boolean("num_sms");
  in.array("builds", [&](const Json &v, const std::string &at) {
    info.builds.push_back(readBuild(v, at, error));
  });
  if (in.has("sites"))
    in.array("sites", [&](const Json &v, const std::string &at) {
      info.sites.push_back(readSite(v, at, error));
    });
  return info;
}

Expected<KernelInfo> tilec::kernelInfoFromJson(std::string_view text) {
  Json value = parseJson(text);
  if (value.is_discarded())
    return failure("launch facts are not JSON");
  std::string error;
  KernelInfo info = readKernelInfo(value, "", error);
  if (!error.empty())
    return failure("launch facts: " + error);
  return info;
}
