//===- Fiber.cpp - stacks and switches of GPU threads -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// The switch itself, for x86-64 (System V) and AArch64. The layout prepared for a
// new fiber is what the switch would have saved: zeros, the argument in one
// callee-saved register, and the trampoline as return address.
//
//===--------------------------------------------------------------------------===//
#include "Fiber.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace tilec::emulator;

extern "C" void tilecEmulatorTrampoline();

#if defined(__x86_64__)

asm(R"(
  .text
  .globl tilecEmulatorSwitch
  .type tilecEmulatorSwitch,@function
tilecEmulatorSwitch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp,(%rdi)
  mov %rsi,%rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
  .size tilecEmulatorSwitch,.-tilecEmulatorSwitch
  .globl tilecEmulatorTrampoline
  .type tilecEmulatorTrampoline,@function
tilecEmulatorTrampoline:
  mov %r12,%rdi
  call tilecEmulatorFiberMain
  ud2
  .size tilecEmulatorTrampoline,.-tilecEmulatorTrampoline
)");

void *tilec::emulator::prepareFiber(char *top, void *argument) {
  // r15 r14 r13 r12 rbx rbp, return address; after these seven words the stack
  // pointer is a multiple of 16, as it must be before the trampoline's call.
  void **stack = reinterpret_cast<void **>(
                     reinterpret_cast<uintptr_t>(top) & ~uintptr_t(15)) - 9;
  std::memset(stack, 0, 9 * sizeof(void *));
  stack[3] = argument;
  stack[6] = reinterpret_cast<void *>(&tilecEmulatorTrampoline);
  return stack;
}

#elif defined(__aarch64__)

asm(R"(
  .text
  .globl tilecEmulatorSwitch
  .type tilecEmulatorSwitch,@function
tilecEmulatorSwitch:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size tilecEmulatorSwitch,.-tilecEmulatorSwitch
  .globl tilecEmulatorTrampoline
  .type tilecEmulatorTrampoline,@function
tilecEmulatorTrampoline:
  mov x0, x19
  bl tilecEmulatorFiberMain
  brk #1
  .size tilecEmulatorTrampoline,.-tilecEmulatorTrampoline
)");

void *tilec::emulator::prepareFiber(char *top, void *argument) {
  // x19 … x30, d8 … d15
  void **stack = reinterpret_cast<void **>(
                     reinterpret_cast<uintptr_t>(top) & ~uintptr_t(15)) - 20;
  std::memset(stack, 0, 20 * sizeof(void *));
  stack[0] = argument;
  stack[11] = reinterpret_cast<void *>(&tilecEmulatorTrampoline);
  return stack;
}

#else
#error "the emulator has no fiber switch for this processor"
#endif

bool FiberStacks::allocate(unsigned count, size_t bytes) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  stride = ((bytes + page - 1) & ~(page - 1)) + page;
  mapped = stride * count;
  void *memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    mapped = 0;
    return false;
  }
  base = static_cast<char *>(memory);
  for (unsigned i = 0; i < count; ++i)
    if (mprotect(base + i * stride, page, PROT_NONE) != 0)
      return false;
  return true;
}

FiberStacks::~FiberStacks() {
  if (mapped)
    munmap(base, mapped);
}
