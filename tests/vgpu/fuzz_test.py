#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fuzz_test.py - random words as code: no crash, no hang, no access outside the wave's memory

    fuzz_test.py --lib libgcn_inst.so [--arch gfx90a] [--runs N] [--seed N]

Words are random within an encoding, so that most of them are instructions; kernels are bounded in what they execute.
The memory they may touch is a page range between two that trap.

Other kernels are sequences of vector instructions on few registers, each of which uses what the ones before it made.
They run by blocks, and one instruction at a time: registers, LDS and memory are the same afterwards. Every other one runs
with the model of caches, in which loads and stores are executed by their general handlers.
"""
import argparse
import collections
import ctypes
import mmap
import random
import sys
import zlib

PAGE = 4096
DONE = 1
TOPS = (0x80000000, 0xb0000000, 0xbe800000, 0xbf000000, 0xbf800000, 0xc0000000, 0x00000000, 0x20000000, 0x7c000000,
        0x7e000000, 0xd0000000, 0xd1000000, 0xd3800000, 0xd8000000, 0xdc000000, 0xdc008000, 0xe0000000, 0xe8000000)
MASKS = (0x3fffffff, 0x0fffffff, 0x007fffff, 0x007fffff, 0x000fffff, 0x03ffffff, 0x7fffffff, 0x1fffffff, 0x01ffffff,
         0x01ffffff, 0x00ffffff, 0x01ffffff, 0x007fffff, 0x03ffffff, 0x03ff3fff, 0x03ff3fff, 0x03ffffff, 0x03ffffff)


def words(rng, nr):
    out = []
    while len(out) < nr:
        n = rng.randrange(len(TOPS))
        word = TOPS[n] | rng.getrandbits(32) & MASKS[n]
        # few ends, traps and halts, so that most kernels run for long
        if word & 0xff800000 == 0xbf800000 and word >> 16 & 127 in (1, 13, 17, 18, 27) and rng.randrange(8):
            continue
        out.append(word)
        if n >= 10 or n == 5:
            out.append(rng.getrandbits(32))
    return out


def vector_words(rng, nr, base):
    """Vector instructions on v0 to v7, some of them in the pairs that make addresses, loads and stores in 16 KiB from `base` on, and
    changes of EXEC."""
    def register():
        return rng.randrange(8)

    def source():
        return rng.choice((256 + register(), 256 + register(), rng.randrange(30), 128 + rng.randrange(65),
                           240 + rng.randrange(9), 106))  # fmt: skip

    def vop2(op, dst, first, second):
        return op << 25 | dst << 17 | second << 9 | first

    def access():
        """global_load_ubyte, _dword, _dwordx2, _dwordx4, global_store_dword, _dwordx2"""
        at = register()
        op = rng.choice((16, 20, 20, 21, 23, 28, 29))
        return [vop2(19, at, 255, at), 0x3ff0, 0xdc008000 | op << 18, register() << 24 | 30 << 16 | register() << 8 | at]

    # s[30:31] is the base
    out = [0xbe9e00ff, base & 0xffffffff, 0xbe9f00ff, base >> 32]
    out += [vop2(1, n, 256 + register(), register()) for n in range(2)]
    while len(out) < nr:
        kind = rng.randrange(19)
        if kind < 5:
            out.append(vop2(rng.randrange(1, 56), register(), source(), register()))
            if out[-1] >> 25 & 63 in (23, 24, 36, 37):
                out.append(rng.getrandbits(32))  # a literal
        elif kind < 7:
            out.append(0x7e000000 | register() << 17 | rng.randrange(77) << 9 | source())
        elif kind < 8:
            out.append(0x7c000000 | rng.randrange(256) << 17 | register() << 9 | source())
        elif kind < 12:
            signs = rng.choice((0, 0, rng.getrandbits(3) << 29))
            out.append(0xd0000000 | rng.choice((rng.randrange(64, 320), rng.randrange(448, 520),
                                                rng.randrange(640, 672))) << 16 | register())  # fmt: skip
            out.append(signs | source() << 18 | (256 + register()) << 9 | source())
        elif kind < 13:
            out.append(vop2(25, register(), source(), register()))
            out.append(vop2(28, register(), source(), register()))
        elif kind < 14:
            at, to = register(), register()
            out.append(vop2(17, at + 1, 128 + 31, at))
            out += [0xd28f0000 | to, (256 + at) << 9 | 128 + rng.randrange(8)]
        elif kind < 15:
            # an address within LDS and on it
            at = register()
            out.append(vop2(19, at, 255, at))
            out.append(0x3fc)
            op = rng.choice((13, 54, 55, 63, 118, 255))
            out += [0xd8000000 | op << 17 | rng.randrange(4) * 4, register() << 24 | register() << 8 | at]
        elif kind < 17:
            out += access()
        elif kind < 18:
            # what a sum of 64 bits leaves in registers is there for the next one, too
            high = register()
            out += [vop2(25, register(), source(), register()), vop2(28, high, source(), register())]
            out += access() if rng.randrange(4) else []
            out += [vop2(25, register(), source(), register()), vop2(28, register(), source(), high)]
        else:
            out.append(rng.choice((0xbefe206a, 0xbefe01c1, 0xbefe01c1)))  # s_and_saveexec of VCC; all lanes
    return out + [0xbf810000]


def check_vectors(lib, start, area, runs):
    """Runs each kernel by blocks and by single instructions; how many ended both ways, and how many of these differ."""
    ended = bad = 0
    for run in range(runs):
        rng = random.Random(77000 + run)
        header = bytearray(64)
        # with the model of caches or without; a fault ends it: a wave that is stopped within a block has lost its registers
        header[0] = 2 | run & 1
        header[16:24] = (64).to_bytes(8, "little")
        # 16 registers, denormals kept
        header[48:52] = (3 | 0xf0 << 12 | rng.getrandbits(1) << 23).to_bytes(4, "little")
        # code is before the data
        code = vector_words(rng, rng.randrange(8, 200), start + 5 * PAGE)
        data = bytes(header) + b"".join(w.to_bytes(4, "little") for w in code)
        values = rng.randbytes(5 * PAGE)
        sums = []
        for slices in (1000, 1):
            area[5 * PAGE:10 * PAGE] = values
            result = lib.inst_fuzz(data, len(data), 20000, start + PAGE, 16 * PAGE, slices)
            sums.append((result, lib.inst_fuzz_sum(), zlib.crc32(area[5 * PAGE:10 * PAGE])))
        if any(result & 15 != DONE for result, *_ in sums):
            continue
        ended += 1
        if sums[0] != sums[1]:
            print(f"vector kernel {run}: by blocks {sums[0]}, by instructions {sums[1]}")
            bad += 1
    return ended, bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lib", required=True)
    parser.add_argument("--arch", default="gfx900")
    parser.add_argument("--runs", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    lib = ctypes.CDLL(args.lib)
    if not lib.inst_arch(args.arch.encode()):
        raise SystemExit(f"no architecture {args.arch}")
    libc = ctypes.CDLL(None)
    lib.inst_fuzz.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64,
                              ctypes.c_uint64]
    lib.inst_fuzz_sum.restype = ctypes.c_uint64
    area = mmap.mmap(-1, 18 * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(area))
    libc.mprotect(ctypes.c_void_p(start), PAGE, 0)
    libc.mprotect(ctypes.c_void_p(start + 17 * PAGE), PAGE, 0)
    ended = collections.Counter()
    executed = 0
    for run in range(args.runs):
        rng = random.Random(args.seed * 1000003 + run)
        code = words(rng, rng.randrange(8, 400))
        # a kernel object: entry behind it, registers and user data at random
        header = bytearray(rng.randbytes(64))
        header[0] &= 1  # goes on after faults
        header[16:24] = (64).to_bytes(8, "little")
        header[48:52] = (rng.getrandbits(32) & 0x00ffffff).to_bytes(4, "little")
        data = bytes(header) + b"".join(w.to_bytes(4, "little") for w in code)
        result = lib.inst_fuzz(data, len(data), 20000, start + PAGE, 16 * PAGE, 1000)
        ended[result & 15] += 1
        executed += result >> 4
    names = ("running", "done", "memory fault", "illegal", "unimplemented", "trap", "dims", "group", "lds", "code",
             "scratch")
    print(", ".join(f"{names[k]} {n}" for k, n in sorted(ended.items())),
          f"; {executed} instructions")
    pairs, bad = check_vectors(lib, start, area, args.runs // 4)
    print(f"{pairs} kernels of vector instructions ended, {bad} differ by blocks and by instructions")
    # kernels that end at once would test nothing
    return 0 if len(ended) >= 3 and executed > 100 * args.runs and pairs > args.runs // 5 and not bad else 1


if __name__ == "__main__":
    sys.exit(main())
