#===- npy.py - small .npy files without NumPy ----------------------*- Python -*-===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===----------------------------------------------------------------------===#
"""npy.py write FILE DESCR FORTRAN SHAPE WORD...   16-bit words in hexadecimal
npy.py show FILE                                 header, and words of 16-bit dtypes"""
import ast
import struct
import sys

if sys.argv[1] == "write":
    path, descr, fortran, shape = sys.argv[2:6]
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for word in sys.argv[6:]:
            out.write(struct.pack("<H", int(word, 16)))
else:
    data = open(sys.argv[2], "rb").read()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    length = struct.unpack("<H", data[8:10])[0]
    assert (10 + length) % 64 == 0
    header = ast.literal_eval(data[10:10 + length].decode())
    words = []
    if header["descr"].endswith("2"):
        words = [f"{w:04x}" for w in struct.unpack(f"<{(len(data) - 10 - length) // 2}H", data[10 + length:])]
    print(header["descr"], header["fortran_order"], header["shape"], *words)
