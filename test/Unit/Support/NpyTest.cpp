//===- NpyTest.cpp - NumPy's array files --------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// Round trips, headers as NumPy and others write them, orders, damage.
//
//===------------------------------------------------------------------------===//

#include "tilec/Support/Npy.h"

#include "gtest/gtest.h"

#include <cstring>
#include <random>

using namespace tilec;

/// A file with this header text and these elements, in format version `major`.
static std::string file(std::string header, std::string elements, int major = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(major);
  out += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    out += static_cast<char>(header.size() >> (8 * i));
  return out + header + elements;
}

template <typename T>
static std::vector<T> elements(const NpyArray &a) {
  std::vector<T> v(a.data.size() / sizeof(T));
  std::memcpy(v.data(), a.data.data(), a.data.size());
  return v;
}

TEST(Npy, RoundTripOfEveryDtype) {
  for (unsigned i = 0; i < numDTypes; ++i) {
    NpyArray a;
    a.dtype = static_cast<DType>(i);
    a.shape = {2, 3};
    for (unsigned k = 0; k < 6 * dtypeBytes(a.dtype); ++k)
      a.data.push_back(static_cast<std::byte>(k));
    auto back = readNpy(writeNpy(a));
    ASSERT_TRUE(back) << back.failure().message;
    EXPECT_EQ(back->shape, a.shape);
    EXPECT_EQ(back->data, a.data);
    // What NumPy has no name for comes back as words.
    if (back->dtype != a.dtype && a.dtype != DType::TF32) {
      EXPECT_TRUE(back->reinterpretAs(a.dtype)) << dtypeName(a.dtype);
    }
  }
}

TEST(Npy, ElementsStartAtAMultipleOf64) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {5}, {1, 2, 3}, {0, 7}}) {
    NpyArray a;
    a.shape = shape;
    a.data.resize(static_cast<size_t>(a.numElements()) * 4);
    std::string bytes = writeNpy(a);
    EXPECT_EQ((bytes.size() - a.data.size()) % 64, 0u);
    auto back = readNpy(bytes);
    ASSERT_TRUE(back) << back.failure().message;
    EXPECT_EQ(back->shape, shape);
  }
}

TEST(Npy, ReadsVersionsAndSpellings) {
  std::string two("\1\2\3\4", 4);
  for (int major : {1, 2, 3})
    EXPECT_TRUE(readNpy(
        file("{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }   \n", two, major)));
  EXPECT_TRUE(readNpy(file("{\"shape\":(1,2),\"fortran_order\":False,\"descr\":\"<i2\"}", two)));
  auto raw = readNpy(file("{'descr': '|V2', 'fortran_order': False, 'shape': (2,)}", two));
  ASSERT_TRUE(raw);
  EXPECT_TRUE(raw->reinterpretAs(DType::BF16));
  EXPECT_FALSE(raw->reinterpretAs(DType::F32));
}

TEST(Npy, BigEndianIsSwapped) {
  auto a = readNpy(file("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }",
                        std::string("\0\1\xff\xfe", 4)));
  ASSERT_TRUE(a);
  EXPECT_EQ(elements<int16_t>(*a), (std::vector<int16_t>{1, -2}));
}

TEST(Npy, FortranOrder) {
  // [[0, 1, 2], [3, 4, 5]] with the first axis innermost.
  auto a = readNpy(file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }",
                        std::string("\0\3\1\4\2\5", 6)));
  ASSERT_TRUE(a);
  EXPECT_TRUE(a->isFortranOrder);
  EXPECT_EQ(a->strides(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(readNpy(writeNpy(*a))->strides(), a->strides());
  a->makeRowMajor();
  EXPECT_EQ(a->strides(), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(elements<uint8_t>(*a), (std::vector<uint8_t>{0, 1, 2, 3, 4, 5}));
  NpyArray cube;
  cube.dtype = DType::U8;
  cube.shape = {2, 3, 4};
  cube.isFortranOrder = true;
  for (int i = 0; i < 24; ++i)
    cube.data.push_back(static_cast<std::byte>(i));
  cube.makeRowMajor();
  EXPECT_EQ(cube.data[1 * 12 + 2 * 4 + 3], static_cast<std::byte>(1 + 2 * 2 + 3 * 6));
}

static std::string problem(std::string header, std::string elements = "abcd") {
  auto a = readNpy(file(std::move(header), std::move(elements)));
  return a ? "accepted" : a.failure().message;
}

TEST(Npy, RefusesMalformedFiles) {
  EXPECT_EQ(readNpy("").failure().message, "not a .npy file");
  EXPECT_EQ(readNpy("PK\3\4 zip").failure().message, "not a .npy file");
  EXPECT_EQ(problem("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}"),
            ".npy dtype `<c8` is not supported");
  EXPECT_EQ(problem("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"),
            ".npy file has 4 bytes of elements, its shape needs 8");
  EXPECT_EQ(problem("{'descr': '<f4', 'fortran_order': False, 'shape': "
                    "(1000000000000000, 1000000000000000)}"),
            ".npy file has 4 bytes of elements, its shape needs more than 2^60");
  for (const char *header :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
        "{'descr': '', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x"})
    EXPECT_EQ(problem(header), "malformed .npy header") << header;
}

TEST(Npy, DamageNeverCrashes) {
  NpyArray a;
  a.shape = {3, 4};
  a.data.resize(48);
  std::string bytes = writeNpy(a);
  for (size_t n = 0; n < bytes.size(); ++n)
    EXPECT_FALSE(readNpy(bytes.substr(0, n)));
  std::mt19937 rng(3);
  for (int i = 0; i < 50000; ++i) {
    std::string changed = bytes;
    for (int k = 0; k < 3; ++k)
      changed[rng() % 80] = static_cast<char>(rng());
    (void)bool(readNpy(changed));
  }
}

TEST(Npy, Files) {
  std::string path = testing::TempDir() + "npy-test.npy";
  NpyArray a;
  a.shape = {2};
  a.data.resize(8);
  ASSERT_TRUE(saveNpy(path, a));
  EXPECT_EQ(loadNpy(path)->shape, a.shape);
  EXPECT_TRUE(saveNpy("/dev/null", a));
  EXPECT_EQ(saveNpy("/nonexistent/a.npy", a).failure().message,
            "/nonexistent/a.npy: No such file or directory");
  EXPECT_EQ(loadNpy("/nonexistent/a.npy").failure().message,
            "/nonexistent/a.npy: No such file or directory");
  EXPECT_EQ(loadNpy("/dev/null").failure().message, "/dev/null: not a .npy file");
  std::remove(path.c_str());
}
