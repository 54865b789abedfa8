# SPDX-License-Identifier: MIT
"""decode.py - the time in which the virtual GPU decodes a megabyte of code

    decode.py LIBRARY PROGRAM

LIBRARY is the interpreter alone (tests/vgpu/libgcn_inst.so), PROGRAM one with kernels for gfx900, whose code is decoded, over
and over until it is a megabyte. Prints the processor time of the quickest of five as JSON.
"""
import ctypes
import json
import mmap
import struct
import sys
import time

SIZE = 1 << 20
ELF, AMDGPU, EXECUTABLE = b"\x7fELF", 224, 4


def code_of(path):
    """The largest code section of the GPU ELF files that a program contains."""
    with open(path, "rb") as f:
        data = f.read()
    best, at = b"", data.find(ELF, 4)
    while at > 0:
        if struct.unpack_from("<H", data, at + 18)[0] == AMDGPU:
            sections, = struct.unpack_from("<Q", data, at + 40)
            for n in range(struct.unpack_from("<H", data, at + 60)[0]):
                flags, _, offset, size = struct.unpack_from("<QQQQ", data, at + sections + 64 * n + 8)
                if flags & EXECUTABLE and size > len(best):
                    best = data[at + offset:at + offset + size]
        at = data.find(ELF, at + 4)
    return best


def main():
    lib = ctypes.CDLL(sys.argv[1])
    lib.inst_predecode.argtypes, lib.inst_predecode.restype = [ctypes.c_uint64, ctypes.c_size_t], ctypes.c_size_t
    code = code_of(sys.argv[2])
    memory = mmap.mmap(-1, SIZE)
    memory[:] = (code * (SIZE // len(code) + 1))[:SIZE]
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    seconds, insts = [], 0
    for _ in range(5):
        begin = time.thread_time()
        insts = lib.inst_predecode(address, SIZE)
        seconds.append(time.thread_time() - begin)
    print(json.dumps({"seconds": min(seconds), "instructions": insts}))


main()
