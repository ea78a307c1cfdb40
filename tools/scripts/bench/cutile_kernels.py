#!/usr/bin/env python3
#===- cutile_kernels.py - peers in cuTile, compiled ahead of time ---*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""cutile_kernels.py FOLDER [CHIP]

Compiles the kernels below for CHIP (sm_90) with `pip install cuda-tile[tileiras]`, which
needs no GPU, and writes FOLDER/NAME.cubin. tile_bench_peers.py launches what it finds in
$CUTILE_CUBINS, so that a machine with a GPU need not have the compiler, which is 100 MB;
without that variable it compiles what it needs.

A kernel's parameters in an image: of each array the address, then its dims and its
strides, 32 bits each; constants are gone.
"""
import ctypes
import os
import struct
import sys
import tempfile

try:
    import cuda.tile as ct
except ImportError:
    ct = None

# Name: tile sizes, kernel and array parameters (dtype, rank) of each image.
MATMUL_TILES = ((128, 128, 64), (128, 256, 64), (256, 128, 64))
ATTENTION_TILES = ((128, 128), (128, 64), (64, 64))
ROW_COLUMNS = (256, 1024)
ROW_SETTINGS = ((1, 8), (4, 4), (4, 8), (4, None))  # rows, blocks a multiprocessor as a hint


def images():
    """(name, kernel, [(dtype, rank)], constants) of all that is compiled."""
    for block in (1024, 2048, 4096):
        yield f"add-{block}", add, [(ct.float32, 1)] * 3, [block]
    for m, n in ((32, 32), (64, 64), (128, 64)):
        yield f"transpose-{m}x{n}", transpose, [(ct.float32, 2)] * 2, [m, n]
    for cols in ROW_COLUMNS:
        for rows, blocks in ROW_SETTINGS:
            hinted = lambda kernel: kernel.replace_hints(occupancy=blocks) if blocks else kernel
            yield f"softmax-{cols}-{rows}-{blocks}", hinted(softmax), [(ct.bfloat16, 2)] * 2, [rows, cols]
            shapes = [(ct.bfloat16, 2), (ct.bfloat16, 1), (ct.bfloat16, 1), (ct.bfloat16, 2)]
            yield f"layernorm-{cols}-{rows}-{blocks}", hinted(layernorm), shapes, [rows, cols]
    for dtype, name in ((ct.bfloat16, "bf16"), (ct.float16, "f16")):
        for m, n, k in MATMUL_TILES:
            yield f"matmul-{name}-{m}x{n}x{k}", matmul, [(dtype, 2)] * 3, [m, n, k]
    for m, n in ATTENTION_TILES:
        for causal in (False, True):
            yield (f"attention{'-causal' if causal else ''}-{m}x{n}", attention,
                   [(ct.bfloat16, 4)] * 4, [m, n, 128, causal])


if ct:
    Int = ct.Constant[int]

    @ct.kernel
    def add(x, y, z, block: Int):
        i = ct.bid(0)
        ct.store(z, index=(i,), tile=ct.load(x, index=(i,), shape=(block,)) + ct.load(y, index=(i,), shape=(block,)))

    @ct.kernel
    def transpose(x, y, m: Int, n: Int):
        i, j = ct.bid(0), ct.bid(1)
        ct.store(y, index=(j, i), tile=ct.transpose(ct.load(x, index=(i, j), shape=(m, n))))

    @ct.kernel
    def softmax(x, y, rows: Int, cols: Int):
        i = ct.bid(0)
        v = ct.astype(ct.load(x, index=(i, 0), shape=(rows, cols), padding_mode=ct.PaddingMode.NEG_INF), ct.float32)
        e = ct.exp(v - ct.max(v, 1, keepdims=True))
        ct.store(y, index=(i, 0), tile=ct.astype(e / ct.sum(e, 1, keepdims=True), y.dtype))

    @ct.kernel
    def layernorm(x, w, b, y, rows: Int, cols: Int):
        i = ct.bid(0)
        v = ct.astype(ct.load(x, index=(i, 0), shape=(rows, cols)), ct.float32)
        d = v - ct.sum(v, 1, keepdims=True) / cols
        o = d * ct.rsqrt(ct.sum(d * d, 1, keepdims=True) / cols + 1e-5)
        scale = ct.reshape(ct.astype(ct.load(w, index=(0,), shape=(cols,)), ct.float32), (1, cols))
        shift = ct.reshape(ct.astype(ct.load(b, index=(0,), shape=(cols,)), ct.float32), (1, cols))
        ct.store(y, index=(i, 0), tile=ct.astype(o * scale + shift, y.dtype))

    @ct.kernel
    def matmul(a, b, c, m: Int, n: Int, k: Int):
        # Bands of eight rows of blocks share operands in the L2 cache.
        down, across = ct.num_tiles(c, axis=0, shape=(m, n)), ct.num_tiles(c, axis=1, shape=(m, n))
        band = 8 * across
        first = ct.bid(0) // band * 8
        height = ct.minimum(down - first, 8)
        i, j = first + ct.bid(0) % band % height, ct.bid(0) % band // height
        acc = ct.full((m, n), 0.0, dtype=ct.float32)
        zero = ct.PaddingMode.ZERO
        for at in range(ct.num_tiles(a, axis=1, shape=(m, k))):
            acc = ct.mma(ct.load(a, index=(i, at), shape=(m, k), padding_mode=zero),
                         ct.load(b, index=(at, j), shape=(k, n), padding_mode=zero), acc)
        ct.store(c, index=(i, j), tile=ct.astype(acc, c.dtype))

    @ct.kernel
    def attention(q, k, v, o, bm: Int, bn: Int, d: Int, causal: ct.Constant[bool]):
        i, h, b = ct.bid(0), ct.bid(1), ct.bid(2)
        left = ct.reshape(ct.load(q, index=(b, h, i, 0), shape=(1, 1, bm, d)), (bm, d))
        top = ct.full((bm, 1), -1e30, dtype=ct.float32)
        total = ct.full((bm, 1), 0.0, dtype=ct.float32)
        acc = ct.full((bm, d), 0.0, dtype=ct.float32)
        rows = i * bm + ct.reshape(ct.arange(bm, dtype=ct.int32), (bm, 1))
        end = ct.num_tiles(k, axis=2, shape=(1, 1, bn, d))
        if causal:
            end = ct.minimum(end, ct.cdiv((i + 1) * bm, bn))
        for j in range(end):
            keys = ct.reshape(ct.load(k, index=(b, h, j, 0), shape=(1, 1, bn, d)), (bn, d))
            s = ct.mma(left, ct.transpose(keys), ct.full((bm, bn), 0.0, dtype=ct.float32))
            s = s * (1.44269504 / 128 ** 0.5)
            if causal:
                cols = j * bn + ct.reshape(ct.arange(bn, dtype=ct.int32), (1, bn))
                s = ct.where(rows >= cols, s, -1e30)
            new = ct.maximum(top, ct.max(s, 1, keepdims=True))
            p, scale = ct.exp2(s - new), ct.exp2(top - new)
            total, top = total * scale + ct.sum(p, 1, keepdims=True), new
            values = ct.reshape(ct.load(v, index=(b, h, j, 0), shape=(1, 1, bn, d)), (bn, d))
            acc = ct.mma(ct.astype(p, v.dtype), values, acc * scale)
        ct.store(o, index=(b, h, i, 0), tile=ct.reshape(ct.astype(acc / total, o.dtype), (1, 1, bm, d)))


def export(folder, chip, wanted=None):
    """Compiles the image called `wanted`, or all."""
    from cuda.tile import compilation as c
    os.makedirs(folder, exist_ok=True)
    for name, kernel, arrays, constants in images():
        if wanted and name != wanted:
            continue
        parameters = [c.ArrayConstraint(
            dtype, rank, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(), may_alias_internally=False,
            stride_constant=[None] * (rank - 1) + [1], stride_divisible_by=[16] * (rank - 1) + [1],
            shape_divisible_by=16, base_addr_divisible_by=16) for dtype, rank in arrays]
        parameters += [c.ConstantConstraint(value) for value in constants]
        signature = c.KernelSignature(parameters, c.CallingConvention.cutile_python_v1(), symbol="kernel")
        c.export_kernel(kernel, [signature], os.path.join(folder, name + ".cubin"), gpu_code=chip, output_format="cubin")


#===--- where there is a GPU ------------------------------------------------------===#

def is_available():
    return ct is not None or "CUTILE_CUBINS" in os.environ


def required_threads(image):
    """The only block size that the image allows: three numbers behind the tag of .reqntid in .nv.info."""
    at = image.index(b"\x04\x10\x0c\x00")
    x, y, z = struct.unpack_from("<3I", image, at + 4)
    return x * y * z


class Image:
    """The compiled kernel called `name` in the current context."""

    def __init__(self, name, chip):
        self.driver = ctypes.CDLL("libcuda.so.1")
        with tempfile.TemporaryDirectory() as folder:
            ready = os.environ.get("CUTILE_CUBINS")
            if not ready:
                export(folder, chip, name)
            with open(os.path.join(ready or folder, name + ".cubin"), "rb") as file:
                image = file.read()
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.driver.cuModuleLoadData(ctypes.byref(module), image))
        self.check(self.driver.cuModuleGetFunction(ctypes.byref(self.function), module, b"kernel"))
        self.threads = required_threads(image)

    def check(self, result):
        if result:
            text = ctypes.c_char_p()
            self.driver.cuGetErrorString(result, ctypes.byref(text))
            raise RuntimeError((text.value or b"unknown error").decode())

    def prepare(self, grid, stream, *tensors):
        """A callable that launches on torch tensors, whose dims must be multiples of 16 as the images take them to be."""
        if any(size % 16 for tensor in tensors for size in tensor.shape[-2:]):
            raise ValueError("dims are no multiples of 16")
        values = []
        for tensor in tensors:
            values.append(ctypes.c_uint64(tensor.data_ptr()))
            values += [ctypes.c_int32(number) for number in (*tensor.shape, *tensor.stride())]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values))
        grid = (*grid, 1, 1)[:3]

        def launch(keep=(values, tensors)):
            self.check(self.driver.cuLaunchKernel(self.function, *grid, self.threads, 1, 1, 0,
                                                  ctypes.c_void_p(stream()), pointers, None))
        return launch


if __name__ == "__main__":
    if ct is None:
        sys.exit("cutile_kernels.py: needs cuda-tile and its compiler: pip install cuda-tile[tileiras]")
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    export(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "sm_90")
