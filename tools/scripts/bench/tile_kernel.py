#===- tile_kernel.py - launches our kernels on PyTorch's tensors ---*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""Compiles a .tile file with `tilec` and launches it on torch tensors.

Launches go through the runtime's C functions (tilec/Runtime/C.h), so they are what a
program's would be. The environment names the compiler (TILEC), the library
(TILEC_RUNTIME, libtilec_runtime.so), and a folder of modules (TILEC_MODULES) that are
taken instead of compiling: matmul-sm_90a-BM128-BN256.tilemod, definitions in order of
their names.
"""
import ctypes
import os
import subprocess
import tempfile

import torch

TILEC = os.environ.get("TILEC", "tilec")
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "test", "Examples")
DTYPES = {torch.float32: "f32", torch.float64: "f64", torch.bfloat16: "bf16", torch.float16: "f16",
          torch.float8_e4m3fn: "f8e4m3", torch.float8_e5m2: "f8e5m2", torch.int8: "i8", torch.uint8: "u8",
          torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.bool: "bool"}


class Argument(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_char_p), ("rank", ctypes.c_int32), ("is_strided", ctypes.c_int32),
                ("bits", ctypes.c_uint64), ("dims", ctypes.c_int64 * 6), ("strides", ctypes.c_int64 * 6)]


runtime = ctypes.CDLL(os.environ.get("TILEC_RUNTIME", "libtilec_runtime.so"))
runtime.tilec_load.restype = ctypes.c_void_p
runtime.tilec_last_error.restype = ctypes.c_char_p
runtime.tilec_launch.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(Argument)]
IS_CONVERTING = hasattr(runtime, "tilec_launch_grid")  # libraries of before take a float for f32 alone
if IS_CONVERTING:
    runtime.tilec_launch_grid.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64), ctypes.c_int32,
                                          ctypes.POINTER(Argument)]


def check(good):
    if not good:
        raise RuntimeError(runtime.tilec_last_error().decode())


def argument(value):
    """An array of a tensor; numbers, which take the parameter's dtype."""
    if isinstance(value, torch.Tensor):
        dims = (ctypes.c_int64 * 6)(*value.shape)
        strides = (ctypes.c_int64 * 6)(*value.stride())
        return Argument(DTYPES[value.dtype].encode(), value.dim(), not value.is_contiguous(), value.data_ptr(), dims, strides)
    if isinstance(value, bool):
        return Argument(b"bool", 0, 0, value)
    if isinstance(value, float) and not IS_CONVERTING:
        return Argument(b"f32", 0, 0, ctypes.c_uint32.from_buffer(ctypes.c_float(value)).value)
    if isinstance(value, float):
        return Argument(b"f64", 0, 0, ctypes.c_uint64.from_buffer(ctypes.c_double(value)).value)
    return Argument(b"int", 0, 0, value & (2**64 - 1))


def current_chip():
    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def generation(chip):
    """Machine code runs on the chips of its generation only: 9 of sm_90a."""
    return int(chip[3:].rstrip("a")) // 10


def run_twice(launch, out):
    """Launches twice on poisoned `out`: the first result, and what is wrong with it ("": nothing)."""
    runs = []
    for _ in range(2):
        out.view(torch.uint8).fill_(255)
        launch()
        torch.cuda.synchronize()
        runs.append(out.clone())
    if not torch.equal(runs[0].view(torch.uint8), runs[1].view(torch.uint8)):
        return runs[0], "TWO RUNS DIFFER"
    if torch.isnan(runs[0]).any():
        return runs[0], "UNWRITTEN OUTPUT"
    return runs[0], ""


class TileKernel:
    """One kernel of one file, for the current GPU or for `chip`."""

    def __init__(self, name, kernel=None, chip=None, options=(), **defines):
        torch.cuda.current_stream()
        source = name if name.endswith(".tile") else os.path.join(EXAMPLES, name + ".tile")
        name = kernel or os.path.splitext(os.path.basename(source))[0]
        names = [os.path.splitext(os.path.basename(source))[0], chip or current_chip(),
                 *(option.strip("-") for option in options), *(f"{key}{defines[key]}" for key in sorted(defines))]
        ready = os.path.join(os.environ.get("TILEC_MODULES", ""), "-".join(names) + ".tilemod")
        if os.path.exists(ready):
            self.load(ready, name)
            return
        command = [TILEC, source, f"--gpu-arch={chip or current_chip()}", f"--kernel={name}", *options]
        command += [f"-D{key}={value}" for key, value in defines.items()]
        environment = dict(os.environ)
        if chip and generation(chip) != generation(current_chip()):
            environment.update(TILEC_PTXAS="none", TILEC_NVJITLINK="none")  # PTX, for the driver
        with tempfile.TemporaryDirectory() as folder:
            module = os.path.join(folder, "k.tilemod")
            subprocess.run(command + [f"--emit=module={module}"], check=True, env=environment)
            self.load(module, name)

    def load(self, module, name):
        self.kernel = runtime.tilec_load(module.encode(), name.encode())
        check(self.kernel)

    def prepare(self, *args, grid=None):
        """A callable that launches with these arguments, on `grid` where the kernel states none."""
        packed = (Argument * len(args))(*map(argument, args))
        extents = (ctypes.c_int64 * 3)(*grid, *[1] * (3 - len(grid))) if grid else None

        def launch(keep=args):
            stream = torch.cuda.current_stream().cuda_stream
            if extents:
                check(runtime.tilec_launch_grid(self.kernel, stream, extents, len(packed), packed) == 0)
            else:
                check(runtime.tilec_launch(self.kernel, stream, len(packed), packed) == 0)
        return launch

    def __call__(self, *args, grid=None):
        self.prepare(*args, grid=grid)()
