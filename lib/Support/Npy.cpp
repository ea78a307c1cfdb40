//===- Npy.cpp - NumPy's array files ------------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// The format (NumPy Enhancement Proposal 1): "\x93NUMPY", version, length of a
// header, the header, the elements. The header is a Python dictionary with exactly
// the keys descr, fortran_order and shape, which a small reader takes apart.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/Npy.h"

#include "tilec/Support/Files.h"

#include <algorithm>
#include <cstring>

using namespace tilec;

static constexpr std::string_view magic = "\x93NUMPY";

//===-- Dtypes ----------------------------------------------------------------===//

namespace {
struct DescrRow {
  std::string_view code; // without the byte order
  DType dtype;
};
} // namespace

// V1 and V2 are raw words, the form in which NumPy keeps dtypes it does not know.
static constexpr DescrRow descrRows[] = {
    {"b1", DType::Bool}, {"i1", DType::I8},  {"i2", DType::I16}, {"i4", DType::I32},
    {"i8", DType::I64},  {"u1", DType::U8},  {"u2", DType::U16}, {"u4", DType::U32},
    {"u8", DType::U64},  {"f2", DType::F16}, {"f4", DType::F32}, {"f8", DType::F64},
    {"V1", DType::U8},   {"V2", DType::U16},
};

/// How a dtype is stored, "<u2" for bf16.
static std::string descrOf(DType dtype) {
  switch (dtype) {
  case DType::BF16:
    dtype = DType::U16;
    break;
  case DType::F8E4M3:
  case DType::F8E5M2:
    dtype = DType::U8;
    break;
  case DType::Int:
    dtype = DType::I64;
    break;
  case DType::TF32:
    dtype = DType::F32;
    break;
  default:
    break;
  }
  for (const DescrRow &row : descrRows)
    if (row.dtype == dtype)
      return (dtypeBytes(dtype) == 1 ? "|" : "<") + std::string(row.code);
  return "";
}

//===-- Arrays ----------------------------------------------------------------===//

int64_t NpyArray::numElements() const {
  int64_t n = 1;
  for (int64_t dim : shape)
    n *= dim;
  return n;
}

std::vector<int64_t> NpyArray::strides() const {
  std::vector<int64_t> result(shape.size());
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    size_t axis = isFortranOrder ? i : shape.size() - 1 - i;
    result[axis] = stride;
    stride *= shape[axis];
  }
  return result;
}

Expected<void> NpyArray::reinterpretAs(DType to) {
  if (to == dtype)
    return {};
  bool isWord = isInteger(dtype) && dtypeBytes(dtype) == dtypeBytes(to);
  if (!isWord)
    return failure("elements of " + std::string(dtypeName(dtype)) +
                   " cannot be taken as " + std::string(dtypeName(to)));
  dtype = to;
  return {};
}

void NpyArray::makeRowMajor() {
  if (!isFortranOrder)
    return;
  std::vector<int64_t> from = strides();
  isFortranOrder = false;
  size_t bytes = dtypeBytes(dtype);
  std::vector<std::byte> result(data.size());
  std::vector<int64_t> index(shape.size(), 0);
  int64_t source = 0;
  for (size_t at = 0; at < result.size(); at += bytes) {
    std::memcpy(&result[at], &data[static_cast<size_t>(source) * bytes], bytes);
    for (size_t axis = shape.size(); axis-- > 0;) {
      source += from[axis];
      if (++index[axis] < shape[axis])
        break;
      source -= from[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  data = std::move(result);
}

//===-- Reading ---------------------------------------------------------------===//

namespace {
/// Reads the header's dictionary.
class HeaderReader {
public:
  explicit HeaderReader(std::string_view text) : text(text) {}

  bool run() {
    if (!eat('{'))
      return false;
    while (!eat('}')) {
      std::string_view key = quotedText();
      if (!eat(':') || !value(key))
        return false;
      if (!eat(',')) {
        if (!eat('}'))
          return false;
        break;
      }
    }
    skipSpace();
    return text.empty() && seen == 7;
  }

  std::string_view descr;
  bool isFortranOrder = false;
  std::vector<int64_t> shape;

private:
  void skipSpace() {
    while (!text.empty() && (text[0] == ' ' || text[0] == '\n' || text[0] == '\t'))
      text.remove_prefix(1);
  }
  bool eat(char c) {
    skipSpace();
    if (text.empty() || text[0] != c)
      return false;
    text.remove_prefix(1);
    return true;
  }
  bool eat(std::string_view word) {
    skipSpace();
    if (!text.starts_with(word))
      return false;
    text.remove_prefix(word.size());
    return true;
  }
  std::string_view quotedText() {
    skipSpace();
    if (text.empty() || (text[0] != '\'' && text[0] != '"'))
      return {};
    size_t end = text.find(text[0], 1);
    if (end == std::string_view::npos)
      return {};
    std::string_view result = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return result;
  }
  bool value(std::string_view key) {
    if (key == "descr") {
      seen |= 1;
      return !(descr = quotedText()).empty();
    }
    if (key == "fortran_order") {
      seen |= 2;
      isFortranOrder = eat(std::string_view("True"));
      return isFortranOrder || eat(std::string_view("False"));
    }
    if (key == "shape") {
      seen |= 4;
      return shapeTuple();
    }
    return false;
  }
  bool shapeTuple() {
    if (!eat('('))
      return false;
    while (!eat(')')) {
      skipSpace();
      int64_t dim = 0;
      size_t digits = 0;
      while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && digits < 18)
        dim = dim * 10 + (text[digits++] - '0');
      if (digits == 0 || shape.size() == 32)
        return false;
      text.remove_prefix(digits);
      shape.push_back(dim);
      if (!eat(',')) {
        if (!eat(')'))
          return false;
        break;
      }
    }
    return true;
  }

  std::string_view text;
  unsigned seen = 0;
};
} // namespace

static uint32_t littleEndian(std::string_view bytes, size_t at, unsigned size) {
  uint32_t v = 0;
  for (unsigned i = 0; i < size; ++i)
    v |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return v;
}

static void swapBytes(std::vector<std::byte> &data, size_t width) {
  for (size_t at = 0; at + width <= data.size(); at += width)
    std::reverse(data.begin() + static_cast<ptrdiff_t>(at),
                 data.begin() + static_cast<ptrdiff_t>(at + width));
}

/// Bytes of the elements, or nothing when they are more than 2^60.
static std::optional<uint64_t> dataSize(const NpyArray &array) {
  unsigned __int128 n = dtypeBytes(array.dtype);
  if (std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end())
    return 0;
  for (int64_t dim : array.shape) {
    n *= static_cast<uint64_t>(dim);
    if (n > (uint64_t(1) << 60))
      return std::nullopt;
  }
  return static_cast<uint64_t>(n);
}

Expected<NpyArray> tilec::readNpy(std::string_view bytes) {
  if (!bytes.starts_with(magic) || bytes.size() < 10)
    return failure("not a .npy file");
  unsigned major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3)
    return failure(".npy format version " + std::to_string(major) + " is not known");
  unsigned lengthBytes = major == 1 ? 2 : 4;
  size_t headerAt = 8 + lengthBytes;
  if (bytes.size() < headerAt)
    return failure(".npy file is truncated");
  size_t headerSize = littleEndian(bytes, 8, lengthBytes);
  if (headerSize > bytes.size() - headerAt)
    return failure(".npy file is truncated");
  HeaderReader header(bytes.substr(headerAt, headerSize));
  if (!header.run())
    return failure("malformed .npy header");

  NpyArray array;
  char order = header.descr[0];
  bool hasOrder = order == '<' || order == '>' || order == '|' || order == '=';
  std::string_view code = hasOrder ? header.descr.substr(1) : header.descr;
  auto row = std::find_if(std::begin(descrRows), std::end(descrRows),
                          [&](const DescrRow &r) { return r.code == code; });
  if (row == std::end(descrRows))
    return failure(".npy dtype `" + std::string(header.descr) + "` is not supported");
  array.dtype = row->dtype;
  array.shape = std::move(header.shape);
  array.isFortranOrder = header.isFortranOrder && array.shape.size() > 1;
  auto size = dataSize(array);
  std::string_view elements = bytes.substr(headerAt + headerSize);
  if (!size || *size != elements.size())
    return failure(".npy file has " + std::to_string(elements.size()) +
                   " bytes of elements, its shape needs " +
                   (size ? std::to_string(*size) : "more than 2^60"));
  const auto *first = reinterpret_cast<const std::byte *>(elements.data());
  array.data.assign(first, first + elements.size());
  if (order == '>')
    swapBytes(array.data, dtypeBytes(array.dtype));
  return array;
}

//===-- Writing ---------------------------------------------------------------===//

std::string tilec::writeNpy(const NpyArray &array) {
  std::string header = "{'descr': '" + descrOf(array.dtype) + "', 'fortran_order': " +
                       (array.isFortranOrder ? "True" : "False") + ", 'shape': (";
  for (size_t i = 0; i < array.shape.size(); ++i)
    header += (i ? " " : "") + std::to_string(array.shape[i]) + ",";
  if (array.shape.size() > 1)
    header.pop_back(); // a tuple of one keeps its comma
  header += "), }";
  // Elements start at a multiple of 64; the header ends in a newline.
  size_t unpadded = magic.size() + 4 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  std::string out(magic);
  out += '\1';
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(reinterpret_cast<const char *>(array.data.data()), array.data.size());
  return out;
}

Expected<NpyArray> tilec::loadNpy(const std::string &path) {
  auto bytes = readFile(path);
  if (!bytes)
    return bytes.failure();
  auto array = readNpy(*bytes);
  if (!array)
    return failure(path + ": " + array.failure().message);
  return array;
}

Expected<void> tilec::saveNpy(const std::string &path, const NpyArray &array) {
  return replaceFile(path, writeNpy(array));
}
