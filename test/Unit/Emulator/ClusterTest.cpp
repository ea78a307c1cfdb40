//===- ClusterTest.cpp - blocks that reach into each other -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// Clusters of two and four blocks: positions, the barrier, loads and stores of another
// block's shared memory, arrivals at its mbarriers, multicast copies. Each thing that
// orders them is left out once.
//
//===--------------------------------------------------------------------------===//
#include "EmulatorTest.h"

#include "tilec/Emulator/TensorMap.h"

#include <gmock/gmock.h>

using namespace tilec;
using namespace tilec::test;
using testing::HasSubstr;

namespace {

const std::string start = std::string(prologue) + R"(
@buffer = internal addrspace(3) global [1024 x i32] undef, align 1024
@bar = internal addrspace(3) global i64 undef, align 8
declare i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
declare i32 @llvm.nvvm.read.ptx.sreg.cluster.nctarank()
declare i32 @llvm.nvvm.read.ptx.sreg.clusterid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nclusterid.x()
declare void @llvm.nvvm.barrier.cluster.arrive.aligned()
declare void @llvm.nvvm.barrier.cluster.wait.aligned()
declare ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3), i32)
declare void @tilec.mbarrier.arrive.cluster(ptr addrspace(7))
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3), i32)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7), ptr addrspace(3), ptr, i32, i32, i16, i64, i1 immarg, i1 immarg, i32 immarg)
)";

const std::string clusterSync = "  call void @llvm.nvvm.barrier.cluster.arrive.aligned()\n"
                         "  call void @llvm.nvvm.barrier.cluster.wait.aligned()\n";

/// Each thread writes its number to its own block, reads that of the same thread in the
/// next block, and adds 1000 to what is there.
const std::string exchange = start + R"(
define ptx_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.cluster.nctarank()
  %first = mul i32 %c, 64
  %i = add i32 %first, %t
  %own = getelementptr i32, ptr addrspace(3) @buffer, i32 %t
  store i32 %i, ptr addrspace(3) %own
)" + "; before\n" + clusterSync + R"(
  %r1 = add i32 %rank, 1
  %next = urem i32 %r1, %size
  %peer = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %own, i32 %next)
  %v = load i32, ptr addrspace(7) %peer
  %w = add i32 %v, 1000
  store i32 %w, ptr addrspace(7) %peer
)" + "; after\n" + clusterSync + R"(
  %mine = load i32, ptr addrspace(3) %own
  %o0 = mul i32 %i, 2
  %p0 = getelementptr i32, ptr addrspace(1) %out, i32 %o0
  store i32 %v, ptr addrspace(1) %p0
  %p1 = getelementptr i32, ptr addrspace(1) %p0, i32 1
  store i32 %mine, ptr addrspace(1) %p1
  ret void
})";

EmulatorReport runExchange(const std::string &module, uint32_t cluster, uint32_t blocks,
                           std::vector<int> &out, std::optional<uint64_t> seed = {}) {
  EmulatedKernel kernel = load(module, "k");
  out.assign(blocks * 128, 0);
  Launch launch(kernel);
  launch.array(out, "out");
  launch.launch.cluster = cluster;
  launch.launch.seed = seed;
  return launch.run(64, blocks);
}

} // namespace

TEST(EmulatorCluster, SharedMemoryOfOtherBlocks) {
  for (uint32_t cluster : {1u, 2u, 4u})
    for (std::optional<uint64_t> seed : {std::optional<uint64_t>(), std::optional<uint64_t>(5)}) {
      std::vector<int> out;
      EXPECT_CLEAN(runExchange(exchange, cluster, 8, out, seed));
      for (int block = 0; block < 8; ++block)
        for (int t = 0; t < 64; ++t) {
          int size = int(cluster), base = block / size * size;
          int next = base + (block - base + 1) % size;
          ASSERT_EQ(out[(block * 64 + t) * 2], next * 64 + t);
          ASSERT_EQ(out[(block * 64 + t) * 2 + 1], block * 64 + t + 1000);
        }
    }
}

/// As on the GPU: code that puts an address into a field must take the offset alone.
TEST(EmulatorCluster, AddressesAsNumbersNameTheBlock) {
  EmulatedKernel kernel = load(start + R"(
define ptx_kernel void @k(ptr addrspace(1) %out) {
  %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %c
  %p = getelementptr i32, ptr addrspace(3) @buffer, i32 3
  store i32 77, ptr addrspace(3) %p
  %n = ptrtoint ptr addrspace(3) %p to i32
  %back = inttoptr i32 %n to ptr addrspace(3)
  %v = load i32, ptr addrspace(3) %back
  %isBack = icmp eq i32 %v, 77
  %rank = lshr i32 %n, 24
  %seen = select i1 %isBack, i32 %rank, i32 -1
  store i32 %seen, ptr addrspace(1) %to
  ret void
})", "k");
  std::vector<int> out(8, -2);
  Launch launch(kernel);
  launch.array(out, "out");
  launch.launch.cluster = 4;
  EXPECT_CLEAN(launch.run(1, 8));
  EXPECT_THAT(out, testing::ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
}

TEST(EmulatorCluster, AMissingClusterBarrierIsARace) {
  std::vector<int> out;
  EXPECT_THAT(text(runExchange(mutate(exchange, "; before\n" + clusterSync, ""), 2, 2, out)),
              HasSubstr("race: "));
  EXPECT_THAT(text(runExchange(mutate(exchange, "; after\n" + clusterSync, ""), 2, 2, out)),
              HasSubstr("race: "));
  // A barrier of each block alone orders nothing between the two.
  EXPECT_THAT(text(runExchange(mutate(exchange, clusterSync,
                                      "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 "
                                      "0)\n"),
                               2, 2, out)),
              HasSubstr("race: "));
}

TEST(EmulatorCluster, BlocksStayWhileOthersUseTheirMemory) {
  // Rank 0 leaves after the first barrier; rank 1 reads its memory.
  const std::string leave = start + R"(
define ptx_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
  %own = getelementptr i32, ptr addrspace(3) @buffer, i32 %t
  store i32 %t, ptr addrspace(3) %own
)" + clusterSync + R"(
  %leaves = icmp eq i32 %rank, 0
  br i1 %leaves, label %end, label %read
read:
  %peer = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %own, i32 0)
  %v = load i32, ptr addrspace(7) %peer
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %p
  br label %end
end:
  ret void
})";
  for (uint64_t seed = 0; seed < 6; ++seed) {
    std::vector<int> out;
    std::string found = text(runExchange(leave, 2, 2, out, seed));
    // In whichever order it happened to run.
    EXPECT_TRUE(found.find("whose threads have all left the kernel") != std::string::npos ||
                found.find("the block leaves the kernel while block 1 may still be using its "
                           "shared memory") != std::string::npos)
        << found;
  }
  std::string stays = mutate(leave, "end:\n", "end:\n" + clusterSync);
  std::vector<int> out;
  EXPECT_CLEAN(runExchange(stays, 2, 2, out));
  EXPECT_EQ(out[63], 63);
}

TEST(EmulatorCluster, Positions) {
  const std::string positions = start + R"(
define ptx_kernel void @k(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
  %id = call i32 @llvm.nvvm.read.ptx.sreg.clusterid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.nclusterid.x()
  %a = mul i32 %id, 100
  %b = mul i32 %n, 10
  %d = add i32 %a, %b
  %v = add i32 %d, %rank
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %c
  %first = icmp eq i32 %t, 0
  br i1 %first, label %write, label %end
write:
  store i32 %v, ptr addrspace(1) %p
  br label %end
end:
  ret void
})";
  std::vector<int> out;
  EXPECT_CLEAN(runExchange(positions, 2, 6, out));
  EXPECT_EQ(std::vector<int>(out.begin(), out.begin() + 6),
            (std::vector<int>{30, 31, 130, 131, 230, 231}));
}

TEST(EmulatorCluster, LaunchesAreWholeClusters) {
  EmulatedKernel kernel = load(exchange, "k");
  std::vector<int> out(1000);
  Launch launch(kernel);
  launch.array(out, "out");
  launch.launch.cluster = 2;
  launch.launch.threads = {64, 1, 1};
  launch.launch.grid = {3, 1, 1};
  auto refused = kernel.launch(launch.launch);
  EXPECT_FALSE(bool(refused));
  llvm::consumeError(refused.takeError());
}

//===--- mbarriers and copies --------------------------------------------------------===//

namespace {

/// Both blocks expect a box of 8 x 64; block 0 loads it for both. Block 1 says that it
/// has read it by an arrival in block 0, which then loads the next box.
const std::string multicast = start + R"(
@empty = internal addrspace(3) global i64 undef, align 8
define ptx_kernel void @k(ptr byval([128 x i8]) align 64 %map, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
  %first = icmp eq i32 %t, 0
  %isZero = icmp eq i32 %rank, 0
  %loads = and i1 %first, %isZero
  %dst = addrspacecast ptr addrspace(3) @buffer to ptr addrspace(7)
  br i1 %first, label %init, label %ready
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @empty, i32 2)
  br label %ready
ready:
)" + clusterSync + R"(
  br label %loop
loop:
  %i = phi i32 [ 0, %ready ], [ %i1, %used ]
  br i1 %first, label %expect, label %wait
expect:
  %s = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 1024)
  br i1 %loads, label %mayload, label %wait
mayload:
  %isFirst = icmp eq i32 %i, 0
  %before = sub i32 %i, 1
  br i1 %isFirst, label %copy, label %waitempty
waitempty:
  %free = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @empty, i32 %before)
  br i1 %free, label %copy, label %waitempty
copy:
  %y = mul i32 %i, 8
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %dst, ptr addrspace(3) @bar, ptr %map, i32 0, i32 %y, i16 3, i64 0, i1 true, i1 false, i32 0)
  br label %wait
wait:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @bar, i32 %i)
  br i1 %done, label %use, label %wait
use:
  %at = mul i32 %t, 8
  %p = getelementptr i16, ptr addrspace(3) @buffer, i32 %at
  %v = load <8 x i16>, ptr addrspace(3) %p, align 16
  %ci = mul i32 %c, 2
  %box = add i32 %ci, %i
  %o0 = mul i32 %box, 512
  %o = add i32 %o0, %at
  %op = getelementptr i16, ptr addrspace(1) %out, i32 %o
  store <8 x i16> %v, ptr addrspace(1) %op, align 2
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %first, label %tell, label %used
tell:
  %remote = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) @empty, i32 0)
  call void @tilec.mbarrier.arrive.cluster(ptr addrspace(7) %remote)
  br label %used
used:
  %i1 = add i32 %i, 1
  %again = icmp ult i32 %i1, 2
  br i1 %again, label %loop, label %end
end:
)" + "; last\n" + clusterSync + R"(
  ret void
})";

EmulatorReport runMulticast(const std::string &module, std::optional<uint64_t> seed,
                            bool expectData) {
  std::vector<uint16_t> in(64 * 16), out(2 * 2 * 512);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = uint16_t(i + 1);
  EmulatedTensorMap map;
  map.rank = 2;
  map.elementBytes = 2;
  map.data = reinterpret_cast<uint8_t *>(in.data());
  map.dims[0] = 64;
  map.dims[1] = 16;
  map.strides[0] = 128;
  map.box[0] = 64;
  map.box[1] = 8;
  EmulatedKernel kernel = load(module, "k");
  Launch launch(kernel);
  launch.scalar(map).array(out, "out");
  launch.launch.globals.push_back({in.data(), in.size() * 2, "in", false});
  launch.launch.cluster = 2;
  launch.launch.seed = seed;
  EmulatorReport report = launch.run(64, 2);
  for (unsigned i = 0; expectData && i < 1024; ++i) {
    EXPECT_EQ(out[i], i + 1);
    EXPECT_EQ(out[1024 + i], i + 1);
  }
  return report;
}

} // namespace

TEST(EmulatorCluster, MulticastCopiesAndArrivalsInOtherBlocks) {
  EXPECT_CLEAN(runMulticast(multicast, {}, true));
  for (uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_CLEAN(runMulticast(multicast, seed, true));
}

TEST(EmulatorCluster, RelaxedArrivalsPublishFencedInitialisations) {
  std::string relaxed = mutate(multicast, "declare void @llvm.nvvm.barrier.cluster.arrive.aligned()",
                               "declare void @llvm.nvvm.barrier.cluster.arrive.relaxed.aligned()\n"
                               "declare void @llvm.nvvm.fence.mbarrier_init.release.cluster()");
  relaxed = mutate(relaxed, "call void @llvm.nvvm.barrier.cluster.arrive.aligned()",
                   "call void @llvm.nvvm.barrier.cluster.arrive.relaxed.aligned()");
  EXPECT_FINDS(runMulticast(relaxed, {}, false), Race);
  std::string fenced = mutate(relaxed, "@empty, i32 2)\n",
                              "@empty, i32 2)\n  call void "
                              "@llvm.nvvm.fence.mbarrier_init.release.cluster()\n");
  EXPECT_CLEAN(runMulticast(fenced, {}, true));
}

TEST(EmulatorCluster, WhatOrdersMulticastCopiesIsNeeded) {
  // Block 0 does not ask whether the box has been read.
  EXPECT_FINDS(runMulticast(mutate(multicast, "br i1 %isFirst, label %copy, label %waitempty",
                                   "br i1 true, label %copy, label %waitempty"),
                            {}, false),
               Race);
  // A block's arrival is enough to go on; the other one ends the next phase.
  EXPECT_FALSE(runMulticast(mutate(multicast, "@empty, i32 2)", "@empty, i32 1)"), 1, false)
                   .clean());
  // Arriving at the own block's barrier instead: block 0 waits for ever.
  EXPECT_FINDS(runMulticast(mutate(multicast, "@empty, i32 0)\n  call void @tilec",
                                   "@empty, i32 %rank)\n  call void @tilec"),
                            {}, false),
               Deadlock);
  // The mask names a block that does not exist.
  EXPECT_FINDS(runMulticast(mutate(multicast, "i16 3, i64 0", "i16 7, i64 0"), {}, false),
               HelperMisuse);
}
