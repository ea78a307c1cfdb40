#===- tile_kernel.py - launches our kernels on PyTorch's tensors ---*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Compiles a .tile file with `tilec` and launches it on torch tensors.

Only for measuring beside PyTorch and Triton in one process: it packs parameters as
KernelInfo.h says and calls the driver. Programs use the C++ runtime.
"""
import ctypes
import json
import os
import subprocess
import tempfile

import torch
from cuda.bindings import driver

TILEC = os.environ.get("TILEC", "tilec")
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "test", "Examples")


def call(result):
    error, *values = result
    if error != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"driver: {driver.cuGetErrorString(error)[1]}")
    return values[0] if len(values) == 1 else values


def cdiv(a, b):
    return -(-a // b)


class TileKernel:
    """One kernel of one file for the current GPU."""

    def __init__(self, name, kernel=None, **defines):
        torch.cuda.current_stream()
        major, minor = torch.cuda.get_device_capability()
        chip = f"sm_{major}{minor}" + ("a" if major >= 9 else "")
        source = os.path.join(EXAMPLES, name + ".tile")
        args = [TILEC, source, f"--gpu-arch={chip}", f"--kernel={kernel or name}"]
        args += [f"-D{key}={value}" for key, value in defines.items()]
        with tempfile.TemporaryDirectory() as folder:
            image, facts = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.json")
            subprocess.run(args + [f"--emit=ptx={image},json={facts}"], check=True)
            cubin = os.path.join(folder, "k.cubin")
            subprocess.run(["ptxas", f"-arch={chip}", "-O3", image, "-o", cubin], check=True)
            self.image = open(cubin, "rb").read()
            self.facts = json.load(open(facts))
        self.module = call(driver.cuModuleLoadData(self.image))
        self.builds = {}
        for build in self.facts["builds"]:
            function = call(driver.cuModuleGetFunction(self.module, build["symbol"].encode()))
            if build["shared"] > 48 * 1024:
                call(driver.cuFuncSetAttribute(
                    function, driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    build["shared"]))
            self.builds["aligned16" in build["facts"]] = (function, build)

    def prepare(self, *args):
        """A callable that launches with these arguments."""
        values, types = [], []
        aligned = True
        for param, arg in zip(self.facts["params"], args):
            if param["kind"] == "array":
                values += [arg.data_ptr(), *arg.shape]
                types += [ctypes.c_void_p] + [ctypes.c_int64] * arg.dim()
                pitch = arg.shape[-1] * arg.element_size() if arg.dim() > 1 else 16
                aligned &= arg.data_ptr() % 16 == 0 and pitch % 16 == 0
            else:
                values.append(arg)
                types.append(ctypes.c_float if param["dtype"] == "f32" else ctypes.c_int64)
        names = {"dim": lambda p, d: args[p].shape[d], "arg": lambda p: args[p], "cdiv": cdiv}
        grid = [eval(e, names) for e in self.facts["grid"]] + [1, 1]
        gx, gy, gz = grid[:3]
        values += [gx, gy, gz]
        types += [ctypes.c_int32] * 3
        function, build = self.builds.get(aligned) or self.builds[False]
        packed = (tuple(values), tuple(types))
        stream = torch.cuda.current_stream().cuda_stream

        def launch():
            call(driver.cuLaunchKernel(function, gx * gy * gz, 1, 1, build["threads"], 1, 1,
                                       build["shared"], stream, packed, 0))
        return launch
