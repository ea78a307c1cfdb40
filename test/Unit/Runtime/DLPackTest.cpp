//===- DLPackTest.cpp - tensors of other libraries ----------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// What comes by DLPack is the array that it says, what goes out says what the array is, memory
// lives as long as somebody has it, and what does not fit is refused in words.
//
//===------------------------------------------------------------------------===//
#include "WithFakeCuda.h"

#include "tilec/dlpack.h"

using namespace tilec;

namespace {

/// A tensor of another library, in host memory unless told.
struct Foreign {
  Foreign(void *data, DLDataType type, std::vector<int64_t> dims, std::vector<int64_t> steps = {})
      : shape(std::move(dims)), strides(std::move(steps)) {
    tensor = {data, {kDLCPU, 0}, int32_t(shape.size()), type, shape.data(),
              strides.empty() ? nullptr : strides.data(), 0};
  }
  std::vector<int64_t> shape, strides;
  DLTensor tensor;
};

constexpr DLDataType f32Type = {kDLFloat, 32, 1};

std::string why(const Foreign &foreign, const Device &device = Device::cpu()) {
  auto view = tryViewOf(foreign.tensor, device);
  return view ? "" : view.failure().message;
}

class DLPack : public WithFakeCuda {};

TEST_F(DLPack, IsTheArrayThatItSays) {
  std::vector<float> values(24);
  Foreign plain(values.data(), f32Type, {2, 3, 4});
  const ArrayArg a = viewOf(plain.tensor, Device::cpu()).getArg();
  EXPECT_EQ(a.data, values.data());
  EXPECT_EQ(a.dtype, DType::F32);
  EXPECT_EQ(a.rank, 3);
  EXPECT_EQ(a.dims[2], 4);
  EXPECT_EQ(a.strides[0], 12);
  EXPECT_EQ(a.strides[1], 4);
  EXPECT_EQ(a.strides[2], 1);

  Foreign turned(values.data(), f32Type, {3, 1, 4}, {1, 777, 3});
  turned.tensor.byte_offset = 8;
  const ArrayArg b = viewOf(turned.tensor, Device::cpu()).getArg();
  EXPECT_EQ(b.data, values.data() + 2);
  EXPECT_EQ(b.strides[0], 1);
  EXPECT_EQ(b.strides[1], 4) << "of one element: never used, so as in a row-major array";
  EXPECT_EQ(b.strides[2], 3);

  Foreign empty(nullptr, f32Type, {0, 5});
  EXPECT_EQ(why(empty), "");
}

TEST_F(DLPack, HasAllDTypes) {
  const std::pair<DLDataType, DType> pairs[] = {
      {{6, 8, 1}, boolean}, {{0, 8, 1}, i8},   {{0, 16, 1}, i16}, {{0, 32, 1}, i32},
      {{0, 64, 1}, i64},    {{1, 8, 1}, u8},   {{1, 16, 1}, u16}, {{1, 32, 1}, u32},
      {{1, 64, 1}, u64},    {{2, 16, 1}, f16}, {{4, 16, 1}, bf16}, {{2, 32, 1}, f32},
      {{2, 64, 1}, f64},    {{10, 8, 1}, f8e4m3}, {{12, 8, 1}, f8e5m2}};
  for (auto [type, dtype] : pairs) {
    auto found = tryDType(type);
    ASSERT_TRUE(found) << dtypeName(dtype);
    EXPECT_EQ(*found, dtype);
    auto back = tryDLPackType(dtype);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->code, type.code);
    EXPECT_EQ(back->bits, type.bits);
    EXPECT_EQ(back->lanes, 1);
  }
  EXPECT_EQ(tryDLPackType(DType::Int)->bits, 64);
  EXPECT_EQ(tryDLPackType(DType::TF32).failure().message, "DLPack tensor: there are no arrays of tf32");
  EXPECT_EQ(tryDType({kDLComplex, 64, 1}).failure().message,
            "DLPack tensor: there is no dtype for elements of complex 64; view it as real numbers with "
            "one dim more");
  EXPECT_EQ(tryDType({kDLFloat, 32, 4}).failure().message,
            "DLPack tensor: there is no dtype for elements of float 32 in vectors of 4");
  EXPECT_EQ(tryDType({17, 4, 1}).failure().message,
            "DLPack tensor: there is no dtype for elements of code 17 of 4 bits");
}

TEST_F(DLPack, RefusesWhatDoesNotFit) {
  std::vector<float> values(8);
  EXPECT_EQ(why({values.data(), f32Type, {}}),
            "DLPack tensor: it has 0 dims, arrays have 1 to 6: pass its value, or view it as [1]");
  EXPECT_EQ(why({values.data(), f32Type, {1, 1, 1, 1, 1, 1, 8}}),
            "DLPack tensor: it has 7 dims, arrays have 1 to 6");
  EXPECT_EQ(why({values.data(), f32Type, {2, -4}}), "DLPack tensor: dim 1 is -4");
  EXPECT_EQ(why({nullptr, f32Type, {8}}), "DLPack tensor: it has elements, but no address");
  Foreign crooked(values.data(), f32Type, {4});
  crooked.tensor.byte_offset = 2;
  EXPECT_EQ(why(crooked), "DLPack tensor: it begins at an address that is no multiple of the 4 bytes of "
                          "an element");
}

TEST_F(DLPack, KnowsWhereMemoryIs) {
  std::vector<float> values(8);
  Foreign foreign(values.data(), f32Type, {8});
  Device gpu = Device::get(0);
  EXPECT_EQ(why(foreign, gpu), "DLPack tensor: it is in host memory, the launch is on GPU 0: copy it there first");
  foreign.tensor.device = {kDLCUDA, 0};
  EXPECT_EQ(why(foreign, gpu), "");
  EXPECT_EQ(why(foreign), "DLPack tensor: it is on GPU 0, the launch is on the CPU: copy it there first");
  foreign.tensor.device = {kDLCUDA, 3};
  EXPECT_EQ(why(foreign, gpu), "DLPack tensor: it is on GPU 3, the launch is on GPU 0: copy it there first");
  foreign.tensor.device = {kDLROCM, 0};
  EXPECT_EQ(why(foreign, gpu), "DLPack tensor: it is on a device of DLPack's type 10, the launch is on GPU 0: "
                               "copy it there first");
  for (DLDeviceType anywhere : {kDLCUDAHost, kDLCUDAManaged}) {
    foreign.tensor.device = {anywhere, 0};
    EXPECT_EQ(why(foreign, gpu), "");
    EXPECT_EQ(why(foreign), "");
  }
}

TEST_F(DLPack, IsGivenBackOnce) {
  std::vector<float> values(8);
  static int given;
  given = 0;
  Foreign foreign(values.data(), f32Type, {8});
  DLManagedTensor managed = {foreign.tensor, nullptr, [](DLManagedTensor *) { ++given; }};
  {
    DLPackTensor taken = DLPackTensor::take(&managed, Device::cpu());
    DLPackTensor copy = taken;
    EXPECT_FALSE(copy.isReadOnly());
    TensorView view = copy;
    EXPECT_EQ(view.getArg().data, values.data());
    EXPECT_EQ(given, 0);
  }
  EXPECT_EQ(given, 1);
  EXPECT_FALSE(DLPackTensor::tryTake(&managed, Device::get(0))); // in host memory
  EXPECT_EQ(given, 1) << "what is refused stays with who has it";
  managed.deleter = nullptr;
  EXPECT_TRUE(DLPackTensor::tryTake(&managed, Device::cpu()));
  EXPECT_EQ(DLPackTensor::tryTake(static_cast<DLManagedTensor *>(nullptr), Device::cpu()).failure().message,
            "DLPack tensor: there is none");
}

TEST_F(DLPack, TakesAnArrayAlong) {
  Device cpu = Device::cpu();
  Stream s = cpu.createStream();
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  DLManagedTensor *out = toDLPack(Array<f32, 2>::fromHost(s, values, {2, 3}), cpu);
  EXPECT_EQ(out->dl_tensor.device.device_type, kDLCPU);
  EXPECT_EQ(out->dl_tensor.ndim, 2);
  EXPECT_EQ(out->dl_tensor.shape[1], 3);
  EXPECT_EQ(out->dl_tensor.strides[0], 3);
  EXPECT_EQ(static_cast<const float *>(out->dl_tensor.data)[5], 6);
  DLPackTensor back = DLPackTensor::take(out, cpu); // and frees the array
  EXPECT_EQ(back.view().getArg().dims[0], 2);

  Device gpu = Device::get(0);
  Stream t = gpu.createStream();
  DLManagedTensor *there = toDLPack(Array<bf16, 1>::empty(t, {100}), gpu);
  EXPECT_EQ(there->dl_tensor.device.device_type, kDLCUDA);
  EXPECT_EQ(there->dl_tensor.device.device_id, 0);
  EXPECT_EQ(there->dl_tensor.dtype.code, 4);
  EXPECT_EQ(fake->allocations.size(), 1u);
  there->deleter(there);
  EXPECT_TRUE(fake->allocations.empty());
}

#ifdef TILEC_DLPACK_HAS_VERSIONS
TEST_F(DLPack, HasVersions) {
  std::vector<float> values(8);
  static int given;
  given = 0;
  Foreign foreign(values.data(), f32Type, {8});
  DLManagedTensorVersioned managed = {{DLPACK_MAJOR_VERSION, 7}, nullptr,
                                      [](DLManagedTensorVersioned *) { ++given; },
                                      DLPACK_FLAG_BITMASK_READ_ONLY, foreign.tensor};
  EXPECT_TRUE(DLPackTensor::take(&managed, Device::cpu()).isReadOnly());
  EXPECT_EQ(given, 1);
  managed.version = {DLPACK_MAJOR_VERSION + 1, 0};
  auto other = DLPackTensor::tryTake(&managed, Device::cpu());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.failure().message,
            "DLPack tensor: it is of DLPack " + std::to_string(DLPACK_MAJOR_VERSION + 1) +
                ".0, this program was compiled with " + std::to_string(DLPACK_MAJOR_VERSION) + "." +
                std::to_string(DLPACK_MINOR_VERSION));
  EXPECT_EQ(given, 1);

  Device cpu = Device::cpu();
  DLManagedTensorVersioned *out =
      toDLPackVersioned(TensorView(values.data(), f32, {8}), cpu, nullptr, /*isReadOnly=*/true);
  EXPECT_EQ(out->version.major, uint32_t(DLPACK_MAJOR_VERSION));
  DLPackTensor back = DLPackTensor::take(out, cpu);
  EXPECT_TRUE(back.isReadOnly());
  EXPECT_EQ(back.view().getArg().data, values.data());
}
#endif

} // namespace
