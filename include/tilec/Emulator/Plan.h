//===- Plan.h - from a checked launch to one of the emulator -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// In: a kernel's facts, its arguments in host memory, and the LaunchPlan that
// planLaunch() made of them. Out: the same launch for the emulator, with the arrays
// registered as the memory that the kernel may touch.
//
//   auto plan = planLaunch(info, args);
//   auto report = emulateLaunch(*code.llvmModule, makeEmulatorLaunch(info, *plan, args));
//
//===--------------------------------------------------------------------------===//
#ifndef TILEC_EMULATOR_PLAN_H
#define TILEC_EMULATOR_PLAN_H

#include "tilec/Emulator/Emulator.h"
#include "tilec/Support/KernelArg.h"
#include "tilec/Support/KernelInfo.h"
#include "tilec/Support/LaunchPlan.h"

#include <span>

namespace tilec {

class DebugLog;

/// The launch of the build that \p plan chose. The plan must not be empty.
EmulatorLaunch makeEmulatorLaunch(const KernelInfo &info, const LaunchPlan &plan,
                                  std::span<const KernelArg> args);

/// After the launch: what the kernel printed and which assertions failed.
void collectDebugRecords(const KernelInfo &info, const EmulatorLaunch &launch, DebugLog &log);

} // namespace tilec

#endif // TILEC_EMULATOR_PLAN_H
