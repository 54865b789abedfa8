#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""decode_test.py - every opcode of gfx942 is decoded as LLVM's disassembler decodes it

    decode_test.py --lib libgcn_inst.so [--llvm-mc PROGRAM]

Each opcode of each encoding is tried with several operands. decode_gfx942.txt keeps what LLVM (17 or newer, which Debian 12
doesn't have by default) says of the first ones that it accepts; with --llvm-mc the file is made anew. The interpreter
has to give the same text, or at least the name, and must refuse all opcodes that are not in the file.
"""
import ctypes
import os
import re
import subprocess
import sys

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "decode_gfx942.txt")
# only the name: formats of buffers; messages and indexed registers by number; two that are not implemented
NAME_ONLY = re.compile("tbuffer_|s_sendmsg|s_set_gpr_idx_(on|mode)|v_mqsad_u32_u8|v_cvt_pkaccum_u8_f32")
# VOP3 forms that LLVM does not have, and the interpreter does, on all architectures: v_pk_fmac_f16, v_readfirstlane_b32,
# v_swap_b32
MORE = {("VOP3", 316), ("VOP3", 322), ("VOP3", 401)}
RUNS, ILLEGAL, UNIMPLEMENTED, MISALIGNED = range(4)


def v(n):
    return 256 + n


def candidates():
    """(encoding and opcode, words)"""
    yield from scalar()
    yield from vector()
    yield from memory()


def scalar():
    for op in range(96):
        yield ("SOP2", op), [0x80040602 | op << 23]
    for op in range(32):
        if op < 29:  # the others are encodings of their own
            yield ("SOPK", op), [0xb0040001 | op << 23]
            yield ("SOPK", op), [0xb000f801 | op << 23, 0x1234]
    for op in range(256):
        yield ("SOP1", op), [0xbe840002 | op << 8]
        yield ("SOP1", op), [0xbe840000 | op << 8]
        yield ("SOP1", op), [0xbe800002 | op << 8]
    for op in range(128):
        yield ("SOPC", op), [0xbf000402 | op << 16]
        yield ("SOPP", op), [0xbf800001 | op << 16]
        yield ("SOPP", op), [0xbf800000 | op << 16]
    for op in range(256):
        for dst in (4, 8, 16, 0):
            yield ("SMEM", op), [0xc0020002 | op << 18 | dst << 6, 0x10]
        yield ("SMEM", op), [0xc0000000 | op << 18, 0]
        yield ("SMEM", op), [0xc0000100 | op << 18, 0]


def vector():
    for op in range(62):  # the others are encodings of their own
        yield ("VOP2", op), [op << 25 | 4 << 17 | 10 << 9 | v(12)]
        yield ("VOP2", op), [op << 25 | 4 << 17 | 10 << 9 | v(12), 0x1234]
    for op in range(256):
        yield ("VOP1", op), [0x7e000000 | op << 9 | 4 << 17 | v(12)]
        yield ("VOP1", op), [0x7e000000 | op << 9]
        yield ("VOPC", op), [0x7c000000 | op << 17 | 10 << 9 | v(12)]
    for op in range(1024):
        if op >> 7 == 7:
            continue
        for third in (v(14), 106, v(12), 0):
            yield ("VOP3", op), [0xd0000004 | op << 16, v(10) | v(12) << 9 | third << 18]
        yield ("VOP3", op), [0xd0000000 | op << 16, 0]
        yield ("VOP3", op), [0xd0000004 | op << 16, v(10) | 2 << 9]
        yield ("VOP3", op), [0xd0000004 | op << 16, 2 | 2 << 9]
    for op in range(128):
        yield ("VOP3P", op), [0xd3800020 | op << 16 | 0x4000, v(4) | 3 << 27]
        yield ("VOP3P", op), [0xd3800020 | op << 16, v(4)]
        for third in (v(32), v(4), 0):
            for bits, more in ((0, 0), (0x4000, 3 << 27), (0, 1 << 27), (0x8000, 0)):
                yield ("VOP3P", op), [0xd3800020 | op << 16 | bits, v(4) | v(8) << 9 | third << 18 | more]


def memory():
    for op in range(256):
        for low, second in ((0, 0x08060402), (1 << 16, 0x08060402), (1 << 16, 4), (1 << 16, 0), (0, 0x0402),
                            (0, 0x08000002), (1, 0x08000000), (0, 0x08000402), (0, 0x0400), (0, 0)):
            yield ("DS", op), [0xd8000000 | op << 17 | low, second]
    for op in range(128):
        for segment in range(3):
            for saddr in (0x7f, 0):
                for data in (0x08000400, 0x0400, 0x08000000, 0):
                    for bit in (0, 1, 8):  # none, SC0, what was LDS
                        yield (f"FLAT{segment}", op), [0xdc000000 | op << 18 | segment << 14 | (bit & 1) << 16 |
                                                       (bit >> 3) << 13, 2 | saddr << 16 | data]
    for op in range(128):
        for bits in (0, 1 << 16):
            for low, second in ((0, 0x80008004), (0x1000, 0x80020802), (0x4000, 0x80020804), (0, 0)):
                yield ("MUBUF", op), [0xe0000000 | op << 18 | bits | low, second & ~0x8000]
    for op in range(16):
        yield ("MTBUF", op), [0xea080000 | op << 15, 0x80020800]
    for op in range(128):
        yield ("MIMG", op), [0xf0000f00 | op << 18, 0x00420804]


def disassemble(program, tries):
    """LLVM's text of each, or None."""
    def text(words):
        return " ".join(f"0x{b:02x}" for w in words for b in w.to_bytes(4, "little"))
    # s_mov_b32 s0, 0x7NNNNNNN in front of number N, so that what follows an error can't be taken for it; behind it s_nop, since
    # a literal that is missing is taken from there
    source = "".join(f"{text([0xbe8000ff, 0x70000000 | n])}\n{text(words + [0xbf800000] * 2)}\n" for n, words in enumerate(tries))
    p = subprocess.run([program, "--triple=amdgcn-amd-amdhsa", "-mcpu=gfx942", "--disassemble", "-show-encoding"],
                       input=source, capture_output=True, text=True, check=False)
    found, current = {}, None
    for m in re.finditer(r"^\s*(.+?)\s*[;/]+ encoding: \[(.*)\]$", p.stdout, re.M):
        mark = re.match(r"s_mov_b32 s0, 0x7([0-9a-f]{7})$", m[1])
        if mark:
            current = int(mark[1], 16)
        elif current not in found:
            found[current] = (m[1].strip(), bytes(int(b, 16) for b in m[2].split(",")))
    for n, words in enumerate(tries):
        line, code = found.get(n, ("", b""))
        whole = b"".join(w.to_bytes(4, "little") for w in words)
        yield line if line and whole == code and "Invalid" not in line else None


def make(program):
    tries = list(candidates())
    rows = {}
    for (op, words), text in zip(tries, disassemble(program, [words for _, words in tries])):
        if text and op not in rows:
            rows[op] = f"{op[0]} {op[1]}\t{' '.join(f'{w:08x}' for w in words)}\t{text}\n"
    with open(KEPT, "w", encoding="ascii") as f:
        f.write("# encoding and opcode, words, text: what LLVM's disassembler knows of gfx942; decode_test.py says how\n")
        f.writelines(rows.values())


def kept():
    with open(KEPT, encoding="ascii") as f:
        for line in f:
            if not line.startswith("#"):
                op, words, text = line.rstrip("\n").split("\t")
                yield (op.split()[0], int(op.split()[1])), [int(w, 16) for w in words.split()], text


def main():
    args = sys.argv[1:]
    lib = ctypes.CDLL(args[args.index("--lib") + 1])
    lib.inst_text.restype = ctypes.c_char_p
    if not lib.inst_arch(b"gfx942"):
        raise SystemExit("no architecture gfx942")
    if "--llvm-mc" in args:
        make(args[args.index("--llvm-mc") + 1])

    def array(words):
        return (ctypes.c_uint32 * 3)(*words, *[0] * (3 - len(words))), len(words)
    failures, known = [], set()
    nr = {"text": 0, "name": 0, RUNS: 0, UNIMPLEMENTED: 0}
    for op, words, text in kept():
        known.add(op)
        want = re.sub("_(e32|e64)(?= |$)", "", text)
        have = lib.inst_text(*array(words)).decode()
        same = have == want
        if not same and (not NAME_ONLY.match(want) or have.split()[0] != want.split()[0]):
            failures.append(f"{op[0]} {op[1]}: {have!r}, it is {want!r}")
        nr["text" if same else "name"] += 1
        status = lib.inst_runs(*array(words))
        if status not in nr:
            failures.append(f"{op[0]} {op[1]}: {want!r} is illegal")
        else:
            nr[status] += 1
    refused, accepted = set(), set()
    for op, words in candidates():
        if op in known:
            continue
        refused.add(op)
        if lib.inst_runs(*array(words)) == RUNS and op not in accepted:
            accepted.add(op)
            if op not in MORE:
                failures.append(f"{op[0]} {op[1]}: {lib.inst_text(*array(words)).decode()!r} runs, and does not exist")
    for f in failures[:60]:
        print(f)
    print(f"{len(known)} instructions: {nr['text']} have LLVM's text, {nr['name']} its name; {nr[RUNS]} run, {nr[UNIMPLEMENTED]} "
          f"are refused as not implemented; {len(refused)} other opcodes; {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
