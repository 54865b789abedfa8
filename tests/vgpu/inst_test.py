#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inst_test.py - every implemented instruction against an independent model of it

    inst_test.py --lib libgcn_inst.so [--arch gfx90a|gfx942] [--processor x86_64|avx2] [--elsewhere] [--llvm-mc PROGRAM] [family...]

Instructions are assembled by clang's assembler, executed one at a time on registers and memory full of edge cases,
under EXEC masks with holes, and compared with inst_model.py and the tables of expressions here. An opcode that the
interpreter implements and that no case names is an error.
"""
import ctypes
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile

import inst_gfx90a
import inst_gfx942
import inst_memory
import inst_other
import inst_valu
from inst_model import NAN, F16, F32, F64

LANES = 64
MODE = 0x3f0  # round to nearest, denormals kept, DX10 clamp, IEEE
VCC, M0, EXEC = 106, 124, 126
ENCODINGS = ("SOP2", "SOPK", "SOP1", "SOPC", "SOPP", "SMEM", "VOP2", "VOP1", "VOPC", "VOP3", "VOP3P", "DS", "FLAT",
             "MUBUF")
EXECS = (0xffffffffffffffff, 0xfff0a5a50f0f1234)


class State(ctypes.Structure):
    _fields_ = [("sgpr", ctypes.c_uint32 * 128), ("vgpr", (ctypes.c_uint32 * LANES) * 512),
                ("scc", ctypes.c_uint32), ("mode", ctypes.c_uint32), ("pc", ctypes.c_uint64),
                ("status", ctypes.c_uint32), ("wave_state", ctypes.c_uint32), ("fault", ctypes.c_uint64),
                ("lds_size", ctypes.c_uint32), ("idx_on", ctypes.c_uint32), ("idx_mode", ctypes.c_uint32),
                ("memory", ctypes.c_uint64), ("memory_size", ctypes.c_uint64), ("lds", ctypes.c_uint8 * 65536)]


LIB = None
ARCH = "gfx900"
# words of lines of assembly, for an architecture that the assembler doesn't know
KEPT = None
KEPT_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inst_gfx942.txt")
covered = set()
failures = []


def assemble(lines):
    """The words of each line of assembly."""
    if KEPT is not None:
        missing = [l for l in lines if l not in KEPT]
        if missing:
            raise SystemExit(f"not in {KEPT_PATH}: {missing[:3]}; --llvm-mc PROGRAM makes it anew")
        return [KEPT[l] for l in lines]
    with tempfile.NamedTemporaryFile(suffix=".o") as f:
        p = subprocess.run(["clang-15", "--target=amdgcn-amd-amdhsa", f"-mcpu={ARCH}", "-x", "assembler", "-c", "-",
                            "-o", f.name, "-Wa,-L"], input="\n".join(f".Lx{n}:\n{l}" for n, l in
                                                                     enumerate(lines)).encode(),
                           capture_output=True, check=False)
        if p.returncode:
            raise SystemExit(p.stderr.decode()[:3000])
        return elf_split(f.read(), len(lines))


def elf_split(data, nr):
    """Cuts .text at the local labels."""
    def u(at, size):
        return int.from_bytes(data[at:at + size], "little")
    shoff, shnum, shstr = u(0x28, 8), u(0x3c, 2), u(0x3e, 2)
    sections = []
    for n in range(shnum):
        at = shoff + n * 64
        sections.append({"name": u(at, 4), "type": u(at + 4, 4), "off": u(at + 24, 8), "size": u(at + 32, 8),
                         "link": u(at + 40, 4)})
    names = sections[shstr]["off"]

    def string(base, at):
        return data[base + at:data.index(b"\0", base + at)].decode()
    text = next(x for x in sections if string(names, x["name"]) == ".text")
    symtab = next(x for x in sections if x["type"] == 2)
    strings = sections[symtab["link"]]["off"]
    at = {}
    for n in range(symtab["size"] // 24):
        sym = symtab["off"] + n * 24
        name = string(strings, u(sym, 4))
        if name.startswith(".Lx"):
            at[int(name[3:])] = u(sym + 8, 8)
    ends = [at[n] for n in range(nr)] + [text["size"]]
    return [[u(text["off"] + a, 4) for a in range(ends[n], ends[n + 1], 4)] for n in range(nr)]


def make_odd(code):
    """The next register for the destination or data: VOP3 (7:0), DS (second word, 31:24 and 15:8), FLAT (31:24)."""
    if code[0] >> 26 == 0x34:
        return [code[0] + 1, code[1]]
    return [code[0], code[1] + (1 << 24) + (1 << 8)]


class Case:
    """One instruction: a line of assembly, the preparation of the state, and the expected result."""

    def __init__(self, text, setup, expect):
        self.text, self.setup, self.expect = text, setup, expect
        # run with a register more than its assembly says, which no assembler gives
        self.odd = False
        self.code = None  # words that are no instruction, whose assembly is only its name


def run_cases(cases):
    words = iter(assemble([c.text for c in cases if not c.code]))
    words = [c.code or next(words) for c in cases]
    rng = random.Random(7)
    for case, code in zip(cases, words):
        name = re.sub(r"_(e32|e64|sdwa|dpp)$", "", case.text.split()[0])
        # GLOBAL and SCRATCH are forms of FLAT
        covered.add(re.sub("^(global|scratch)_", "flat_", name))
        if case.odd:
            code = make_odd(code)
        st = State()
        st.mode = MODE
        for reg in range(102):
            st.sgpr[reg] = rng.getrandbits(32)
        for reg in range(48):
            for lane in range(LANES):
                st.vgpr[reg][lane] = 0xc0000000 + reg * 256 + lane
        st.sgpr[EXEC] = st.sgpr[EXEC + 1] = 0xffffffff
        case.setup(st)
        before = State.from_buffer_copy(st)
        nr = LIB.inst_step((ctypes.c_uint32 * 3)(*code, 0), len(code), ctypes.byref(st))
        if nr != len(code):
            failures.append(f"{case.text}: {nr} words, not {len(code)}")
            continue
        why = case.expect(before, st)
        if why:
            failures.append(f"{case.text}: {why}")


def get64(regs, n):
    return regs[n] | regs[n + 1] << 32


def put64(regs, n, v):
    regs[n], regs[n + 1] = v & 0xffffffff, v >> 32 & 0xffffffff


def row64(st, reg, lane):
    return st.vgpr[reg][lane] | st.vgpr[reg + 1][lane] << 32


# ---- vector ALU ----

WIDTH = {"u32": 32, "i32": 32, "f32": 32, "u64": 64, "i64": 64, "f64": 64, "u16": 16, "i16": 16, "f16": 16, "p16": 32,
         "h16": 32}
FORMAT = {"f32": F32, "f64": F64, "f16": F16}


def edges(kind, rng):
    fmt = FORMAT.get(kind)
    bits = WIDTH[kind]
    if fmt:
        one = fmt.bias << fmt.mant
        few = [0, fmt.sign, one, one | fmt.sign, fmt.inf, fmt.inf | fmt.sign, fmt.inf | 1 << (fmt.mant - 1),
               fmt.inf | 1, 1, 1 | fmt.sign, (1 << fmt.mant) - 1, 1 << fmt.mant, fmt.inf - 1, one + 1, one - 1,
               one + (1 << fmt.mant), (fmt.bias + fmt.mant) << fmt.mant | 1, (fmt.bias - 1) << fmt.mant]
        def make():
            e = rng.randrange(max(fmt.bias - 20, 0), min(fmt.bias + 36, 2 * fmt.bias))
            return rng.getrandbits(1) << (bits - 1) | e << fmt.mant | rng.getrandbits(fmt.mant)
    else:
        top = 1 << (bits - 1)
        few = [0, 1, 2, top - 1, top, top + 1, 2 * top - 1, 31, 32, 33, 63, 64, 255, 0x7fff, 0x8000 % (2 * top),
               0xffff % (2 * top), 15, 16]
        def make():
            return rng.getrandbits(bits)
    r = rng.randrange(4)
    return rng.choice(few) if r < 2 else make() if r < 3 else rng.getrandbits(bits)


def same(kind, have, want, near=0):
    fmt = FORMAT.get(kind)
    if want == NAN:
        return fmt.isnan(have)
    if callable(want):
        return want(have)
    return have == want


def set_operand(st, reg, lane, kind, v):
    if WIDTH[kind] == 64:
        st.vgpr[reg][lane], st.vgpr[reg + 1][lane] = v & 0xffffffff, v >> 32
    elif WIDTH[kind] == 16:
        # the bits above must not matter
        st.vgpr[reg][lane] = v | (lane * 0x9e37 & 0xffff) << 16
    else:
        st.vgpr[reg][lane] = v


def valu_case(op, exec_mask, seed, mode=MODE):
    """All operands in vector registers: v10, v12, v14; the result in v4, the mask in VCC or s[20:21]."""
    rng = random.Random(f"{op.name} {seed}")
    values = [[edges(k, rng) for k in op.sources] for _ in range(LANES)]
    if op.related:
        # equal operands are a special case
        for lane in range(0, LANES, 3):
            for n in range(1, len(op.sources)):
                if rng.getrandbits(1) and op.sources[n] == op.sources[0]:
                    values[lane][n] = values[lane][0]
    carries = rng.getrandbits(64)

    def setup(st):
        st.mode = mode
        put64(st.sgpr, EXEC, exec_mask)
        put64(st.sgpr, VCC, carries)
        put64(st.sgpr, 20, carries)
        for lane in range(LANES):
            for n, kind in enumerate(op.sources):
                reg = 4 if op.accumulates and n == 2 else 10 + 2 * n
                set_operand(st, reg, lane, kind, values[lane][n])

    def expect(before, st):
        masks = 0
        for lane in range(LANES):
            active = exec_mask >> lane & 1
            want = op.model(op, values[lane], carries >> lane & 1, lane, mode)
            want, mask = want if op.writes_mask and op.result else (want, want) if op.writes_mask else (want, 0)
            masks |= (mask & 1) << lane if active else 0
            if not op.result:
                continue
            wide = WIDTH[op.result] == 64
            have = row64(st, 4, lane) if wide else st.vgpr[4][lane]
            old = row64(before, 4, lane) if wide else before.vgpr[4][lane]
            if not active:
                if have != old:
                    return f"lane {lane} is off, and was written"
                continue
            if WIDTH[op.result] == 16:
                if have >> 16 != (old >> 16 if op.keeps_high else 0):
                    return f"lane {lane}: upper half {have >> 16:#x}"
                have &= 0xffff
            if not same(op.result, have, want):
                shown = want if isinstance(want, str) or callable(want) else hex(want)
                return f"lane {lane}: {have:#x}, not {shown}, of {[hex(v) for v in values[lane]]} mode {mode:#x}"
        if op.writes_mask:
            at = VCC if op.mask_in_vcc else 20
            if get64(st.sgpr, at) != masks:
                return f"mask {get64(st.sgpr, at):#x}, not {masks:#x}"
            if op.name.startswith("v_cmpx") and get64(st.sgpr, EXEC) != masks:
                return "EXEC"
        return None
    return Case(op.text, setup, expect)


def valu():
    cases = []
    for op in (inst_valu.operations() if ARCH == "gfx900" else inst_gfx90a.operations()):
        if ARCH != "gfx900" and not op.of_gfx90a:
            # how it computes is checked for gfx900
            cases.append(valu_case(op, EXECS[1], 1))
            continue
        for seed, mask in enumerate(EXECS):
            cases.append(valu_case(op, mask, seed))
        if any(k in FORMAT for k in op.sources + [op.result]) and op.modes:
            # IEEE off; denormals flushed
            cases.append(valu_case(op, EXECS[0], 2, MODE & ~0x200))
            cases.append(valu_case(op, EXECS[1], 3, MODE & ~0xf0))
    return cases


# Unimplemented instructions, and their text in reports
TEXTS = [
    "v_interp_p1_f32 v3, v1, attr2.x", "v_interp_p2_f32 v255, v1, attr32.w", "v_interp_mov_f32 v3, p20, attr0.y",
    "v_cubeid_f32 v1, v2, s3, 1.0", "v_cubema_f32 v1, -v2, |v3|, -|v4|", "v_screen_partition_4se_b32 v1, v2",
    "s_sendmsghalt 1",
    "s_scratch_load_dword s5, s[2:3], 0x10", "s_scratch_load_dwordx4 s[4:7], flat_scratch, s9",
    "s_scratch_store_dwordx2 vcc, s[2:3], m0",
    "ds_add_u32 v1, v2 gds", "ds_add_u64 v1, v[2:3] offset:16 gds",
    "buffer_load_dword v2, s[4:7], s1 offen offset:4 lds", "buffer_load_dword off, s[4:7], 0 lds",
    "buffer_load_dword v[2:3], s[4:7], vcc_hi idxen offen lds",
]
# images and formatted buffers by their names, exports by their family
FAMILIES = {
    "image_load_mip": "image_load_mip v[0:3], v[4:6], s[0:7] dmask:0xf unorm",
    "tbuffer_load_format_x": "tbuffer_load_format_x v1, off, s[4:7], s1",
    "exp": "exp mrt0 v0, v1, v2, v3",
}


def texts():
    """The disassembly of unimplemented instructions."""
    wanted = TEXTS + list(FAMILIES) if ARCH == "gfx900" else inst_gfx90a.TEXTS
    for want, code in zip(wanted, assemble([FAMILIES.get(t, t) for t in wanted])):
        have = LIB.inst_text((ctypes.c_uint32 * len(code))(*code), len(code)).decode()
        if have != want:
            failures.append(f"disassembled as {have!r}, it is {want!r}")
    return len(wanted)


def main():
    global LIB, ARCH
    args = sys.argv[1:]
    LIB = ctypes.CDLL(args[args.index("--lib") + 1])
    if "--arch" in args:
        ARCH = args[args.index("--arch") + 1]
    if not LIB.inst_arch(ARCH.encode()):
        raise SystemExit(f"no architecture {ARCH}")
    if "--processor" in args:
        LIB.inst_processor(("x86_64", "avx2").index(args[args.index("--processor") + 1]))
    if "--elsewhere" in args:
        inst_memory.register_elsewhere(LIB)
    LIB.inst_name.restype = ctypes.c_char_p
    LIB.inst_state_size.restype = ctypes.c_size_t
    assert LIB.inst_state_size() == ctypes.sizeof(State)
    LIB.inst_text.restype = ctypes.c_char_p
    if ARCH == "gfx942":
        return gfx942(args)
    families = {"valu": valu}
    families.update(inst_other.families(sys.modules[__name__]))
    if ARCH == "gfx90a":
        families.update(inst_gfx90a.families(sys.modules[__name__]))
    wanted = [a for a in args if a in families] or list(families)
    nr = texts()
    for name in wanted:
        cases = families[name]()
        nr += len(cases)
        run_cases(cases)
    if len(wanted) == len(families):
        for enc, op in itertools.product(range(len(ENCODINGS)), range(1024)):
            name = LIB.inst_name(enc, op)
            if name and name.decode() not in covered and name.decode() not in inst_valu.NO_CASE:
                failures.append(f"{ENCODINGS[enc]} {op}: {name.decode()} is implemented, and not tested")
    return finish(nr)


def gfx942(args):
    """What it has of its own; all others are those of gfx90a, which are checked there."""
    global KEPT
    inst_memory.t = inst_valu.t = sys.modules[__name__]
    families = inst_gfx942.families(sys.modules[__name__])
    cases = {name: make() for name, make in families.items()}
    if "--llvm-mc" in args:
        inst_gfx942.assemble_new(args[args.index("--llvm-mc") + 1],
                                 [c.text for some in cases.values() for c in some if not c.code], KEPT_PATH)
    KEPT = inst_gfx942.read_kept(KEPT_PATH)
    wanted = [a for a in args if a in families] or list(families)
    for name in wanted:
        run_cases(cases[name])
    return finish(sum(len(cases[name]) for name in wanted))


def finish(nr):
    for f in failures[:40]:
        print(f)
    print(f"{nr} cases of {len(covered)} instructions, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.modules["inst_test"] = sys.modules["__main__"]
    sys.exit(main())
