#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fuzz_test.py - random words as code: no crash, no hang, no access outside the wave's memory

    fuzz_test.py --lib libgcn_inst.so [--arch gfx90a] [--runs N] [--seed N]

Words are random within an encoding, so that most of them are instructions; kernels are bounded in what they execute.
The memory they may touch is a page range between two that trap.
"""
import argparse
import collections
import ctypes
import mmap
import random
import sys

PAGE = 4096
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
    lib.inst_fuzz.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64]
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
        header[16:24] = (64).to_bytes(8, "little")
        header[48:52] = (rng.getrandbits(32) & 0x00ffffff).to_bytes(4, "little")
        data = bytes(header) + b"".join(w.to_bytes(4, "little") for w in code)
        result = lib.inst_fuzz(data, len(data), 20000, start + PAGE, 16 * PAGE)
        ended[result & 15] += 1
        executed += result >> 4
    names = ("running", "done", "memory fault", "illegal", "unimplemented", "trap", "dims", "group", "lds", "code",
             "scratch")
    print(", ".join(f"{names[k]} {n}" for k, n in sorted(ended.items())),
          f"; {executed} instructions")
    # kernels that end at once would test nothing
    return 0 if len(ended) >= 3 and executed > 100 * args.runs else 1


if __name__ == "__main__":
    sys.exit(main())
