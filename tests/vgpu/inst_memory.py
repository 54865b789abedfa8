# SPDX-License-Identifier: MIT
"""inst_memory.py - loads, stores and atomics of every kind of memory, for inst_test.py"""
import ctypes
import random

import inst_model as m
from inst_model import F32, F64, NAN, s

t = None
MEMORY = (ctypes.c_uint8 * 65536)()
HOST = (ctypes.addressof(MEMORY) + 4095) & ~4095
BASE = HOST  # the GPU's address
SIZE = 32768
EXEC_MASK = 0xf7ffffffffff7ff1
LANES = [l for l in range(64) if EXEC_MASK >> l & 1]


def register_elsewhere(lib):
    """The GPU has the memory at another address, whose low half wraps within it."""
    global BASE
    BASE = 0x123400000000 - 8192
    lib.inst_shift(ctypes.c_uint64(HOST - BASE))


def refill(seed):
    data = random.Random(seed).randbytes(SIZE)
    ctypes.memmove(HOST, data, SIZE)
    return bytearray(data)


def now():
    return ctypes.string_at(HOST, SIZE)


def num(data, at, n):
    return int.from_bytes(data[at:at + n], "little")


def value(st, reg, lane, dwords):
    return sum(st.vgpr[reg + n][lane] << 32 * n for n in range(dwords))


# loads: (bytes, result from value and old register)
LOADS = {
    "ubyte": (1, lambda v, old: v), "sbyte": (1, lambda v, old: s(v, 8) & 0xffffffff),
    "ushort": (2, lambda v, old: v), "sshort": (2, lambda v, old: s(v, 16) & 0xffffffff),
    "dword": (4, None), "dwordx2": (8, None), "dwordx3": (12, None), "dwordx4": (16, None),
    "ubyte_d16": (1, lambda v, old: old & 0xffff0000 | v), "ubyte_d16_hi": (1, lambda v, old: old & 0xffff | v << 16),
    "sbyte_d16": (1, lambda v, old: old & 0xffff0000 | s(v, 8) & 0xffff),
    "sbyte_d16_hi": (1, lambda v, old: old & 0xffff | (s(v, 8) & 0xffff) << 16),
    "short_d16": (2, lambda v, old: old & 0xffff0000 | v), "short_d16_hi": (2, lambda v, old: old & 0xffff | v << 16),
}
STORES = {"byte": (1, 0), "byte_d16_hi": (1, 16), "short": (2, 0), "short_d16_hi": (2, 16), "dword": (4, 0),
          "dwordx2": (8, 0), "dwordx3": (12, 0), "dwordx4": (16, 0)}


def to_signed(fn):
    return lambda old, a, b, n: fn(s(old, n), s(a, n)) & ((1 << n) - 1)


# new value from old, data, second data (the one to compare with) and width
ATOMICS = {
    "swap": lambda old, a, b, n: a, "cmpswap": lambda old, a, b, n: a if old == b else old,
    "add": lambda old, a, b, n: old + a, "sub": lambda old, a, b, n: old - a,
    "smin": to_signed(min), "umin": lambda old, a, b, n: min(old, a),
    "smax": to_signed(max), "umax": lambda old, a, b, n: max(old, a),
    "and": lambda old, a, b, n: old & a, "or": lambda old, a, b, n: old | a, "xor": lambda old, a, b, n: old ^ a,
    "inc": lambda old, a, b, n: 0 if old >= a else old + 1,
    "dec": lambda old, a, b, n: a if old == 0 or old > a else old - 1,
}


def vdata(reg, dwords):
    return f"v{reg}" if dwords == 1 else f"v[{reg}:{reg + dwords - 1}]"


def with_memory(seed, prepare):
    def setup(st):
        refill(seed)
        st.memory, st.memory_size = BASE, SIZE
        t.put64(st.sgpr, t.EXEC, EXEC_MASK)
        prepare(st)
    return setup


def load_case(text, size, form, seed, prepare, where):
    """where(before, lane): the offset in MEMORY that the lane reads, or a list of one for each byte; into v[4..]"""
    dwords = (size + 3) // 4

    def expect(before, st):
        data = now()
        for l in range(64):
            old = value(before, 4, l, dwords)
            want = old
            if EXEC_MASK >> l & 1:
                at = where(before, l)
                got = bytes(data[a] for a in at) if isinstance(at, list) else data[at:at + size]
                want = int.from_bytes(got, "little")
                want = form(want, old if t.ARCH == "gfx900" else 0) if form else want
            if value(st, 4, l, dwords) != want:
                return f"lane {l}: {value(st, 4, l, dwords):#x}, not {want:#x}"
        return None
    return t.Case(text, with_memory(seed, prepare), expect)


def store_case(text, size, shift, seed, prepare, where):
    """stores v[8..]"""
    def expect(before, st):
        want = bytearray(random.Random(seed).randbytes(SIZE))
        for l in LANES:
            at = where(before, l)
            data = (value(before, 8, l, 4) >> shift).to_bytes(17, "little")[:size]
            for n, b in enumerate(data):
                want[at[n] if isinstance(at, list) else at + n] = b
        return None if now() == bytes(want) else "memory"
    return t.Case(text, with_memory(seed, prepare), expect)


def atomic_case(text, fn, dwords, returns, seed, prepare, where):
    size = dwords * 4

    def expect(before, st):
        want = bytearray(random.Random(seed).randbytes(SIZE))
        patch(want)
        for l in range(64):
            old_reg = value(before, 4, l, dwords)
            if EXEC_MASK >> l & 1:
                at = where(before, l)
                old = num(want, at, size)
                new = fn(old, value(before, 8, l, dwords), value(before, 8 + dwords, l, dwords), size * 8)
                want[at:at + size] = (new & ((1 << size * 8) - 1)).to_bytes(size, "little")
                old_reg = old if returns else old_reg
            if value(st, 4, l, dwords) != old_reg:
                return f"lane {l}: old value"
        return None if now() == bytes(want) else "memory"

    def patch(data):
        # equal and small values, so that cmpswap, inc and dec take both branches
        for l in range(64):
            at = 4096 + 64 * (l % 40)
            data[at:at + 8] = (l % 40 % 5).to_bytes(8, "little")

    def patched(st):
        prepare(st)
        data = bytearray(now())
        patch(data)
        ctypes.memmove(HOST, bytes(data), SIZE)
        for l in range(64):
            st.vgpr[8][l], st.vgpr[8 + dwords][l] = l % 7, l % 5
            if dwords == 2:
                st.vgpr[9][l] = st.vgpr[11][l] = 0
                st.vgpr[10][l] = l % 5
    return t.Case(text, with_memory(seed, patched), expect)


def flat_addr(st):
    for l in range(64):
        a = BASE + 4096 + 64 * (l % 40) if l >= 32 else BASE + 4096 + 64 * (l * 3 % 40)
        st.vgpr[20][l], st.vgpr[21][l] = a & 0xffffffff, a >> 32


def lane_at(offset):
    return lambda st, l: (st.vgpr[20][l] | st.vgpr[21][l] << 32) - BASE + offset


def distinct(st):
    """Distinct addresses for all lanes, at odd offsets."""
    for l in range(64):
        a = BASE + 4096 + 37 * l
        st.vgpr[20][l], st.vgpr[21][l] = a & 0xffffffff, a >> 32


def saddr(st):
    t.put64(st.sgpr, 8, BASE + 2048)
    for l in range(64):
        st.vgpr[20][l] = 40 * l + 4


def flat_scratch(st):
    t.put64(st.sgpr, 102, BASE + 1024)
    for l in range(64):
        st.vgpr[20][l], st.vgpr[21][l] = l % 9 * 4 + 16, 0x20000


def scratch_bytes(offset, size, fixed=None):
    def where(st, l):
        out = []
        for n in range(size):
            o = (fixed if fixed is not None else st.vgpr[20][l]) + offset + n
            out.append(1024 + o // 4 * 256 + l * 4 + o % 4)
        return out
    return where


def flat():
    for name, (size, form) in LOADS.items():
        d = vdata(4, (size + 3) // 4)
        yield load_case(f"flat_load_{name} {d}, v[20:21] offset:9", size, form, 1, distinct, lane_at(9))
        yield load_case(f"global_load_{name} {d}, v[20:21], off offset:-8", size, form, 2, distinct, lane_at(-8))
        yield load_case(f"global_load_{name} {d}, v20, s[8:9] offset:12", size, form, 3, saddr,
                        lambda st, l: 2048 + st.vgpr[20][l] + 12)
        yield load_case(f"scratch_load_{name} {d}, v20, off offset:3", size, form, 4, flat_scratch,
                        scratch_bytes(3, size))
        yield load_case(f"flat_load_{name} {d}, v[20:21] offset:4", size, form, 5, flat_scratch, scratch_bytes(4, size))
        t.covered.add(f"flat_load_{name}")
    yield load_case("scratch_load_dword v4, off, s8 offset:8", 4, None, 6,
                    lambda st: (flat_scratch(st), st.sgpr.__setitem__(8, 20)), scratch_bytes(8, 4, 20))
    for name, (size, shift) in STORES.items():
        d = vdata(8, (size + 3) // 4)
        yield store_case(f"flat_store_{name} v[20:21], {d} offset:9", size, shift, 1, distinct, lane_at(9))
        yield store_case(f"global_store_{name} v[20:21], {d}, off offset:-8", size, shift, 2, distinct, lane_at(-8))
        yield store_case(f"global_store_{name} v20, {d}, s[8:9] offset:12", size, shift, 3, saddr,
                         lambda st, l: 2048 + st.vgpr[20][l] + 12)
        yield store_case(f"scratch_store_{name} v20, {d}, off offset:4", size, shift, 4, flat_scratch,
                         scratch_bytes(4, size))
    for name, fn in ATOMICS.items():
        for dwords, x in ((1, ""), (2, "_x2")):
            data = vdata(8, dwords * (2 if name == "cmpswap" else 1))
            yield atomic_case(f"flat_atomic_{name}{x} {vdata(4, dwords)}, v[20:21], {data} glc", fn, dwords, True, 1,
                              flat_addr, lane_at(0))
            yield atomic_case(f"global_atomic_{name}{x} v[20:21], {data}, off offset:64", fn, dwords, False, 2, flat_addr,
                              lane_at(64))
    yield fault_case("global_load_dword v4, v[20:21], off")
    yield fault_case("global_store_dword v[20:21], v8, off")
    yield fault_case("flat_atomic_add v[20:21], v8")


def fault_case(text):
    def prepare(st):
        flat_addr(st)
        st.vgpr[20][40], st.vgpr[21][40] = 0x1234, 5

    def expect(_, st):
        return None if (st.status, st.fault) == (2, 0x500001234) else f"status {st.status}, {st.fault:#x}"
    return t.Case(text, with_memory(9, prepare), expect)


def smem():
    def base(st):
        t.put64(st.sgpr, 8, BASE + 512)
        st.sgpr[12] = 100

    def buffer(st):
        st.sgpr[8], st.sgpr[9], st.sgpr[10], st.sgpr[11] = BASE & 0xffffffff, BASE >> 32, 64, 0
        st.sgpr[12] = 40

    def loaded(at, nr, limit=SIZE):
        def expect(_, st):
            data = now()
            for n in range(nr):
                a = at + n * 4
                want = num(data, a, 4) if a + 4 <= limit else 0
                if st.sgpr[20 + n] != want:
                    return f"dword {n}: {st.sgpr[20 + n]:#x}, not {want:#x}"
            return None
        return expect
    for nr in (1, 2, 4, 8, 16):
        x = "" if nr == 1 else f"x{nr}"
        dst = "s20" if nr == 1 else f"s[20:{19 + nr}]"
        yield t.Case(f"s_load_dword{x} {dst}, s[8:9], 0x24", with_memory(1, base), loaded(512 + 0x24, nr))
        yield t.Case(f"s_load_dword{x} {dst}, s[8:9], -8", with_memory(1, base), loaded(504, nr))
        yield t.Case(f"s_load_dword{x} {dst}, s[8:9], s12", with_memory(1, base), loaded(612, nr))
        yield t.Case(f"s_buffer_load_dword{x} {dst}, s[8:11], 0x10", with_memory(1, buffer), loaded(16, nr, 64))
        yield t.Case(f"s_buffer_load_dword{x} {dst}, s[8:11], s12", with_memory(1, buffer), loaded(40, nr, 64))
        if nr <= 4:
            def stored(before, st, nr=nr):
                want = bytearray(random.Random(2).randbytes(SIZE))
                for n in range(nr):
                    want[520 + n * 4:524 + n * 4] = before.sgpr[20 + n].to_bytes(4, "little")
                return None if now() == bytes(want) else "memory"
            yield t.Case(f"s_store_dword{x} {dst}, s[8:9], 0x8", with_memory(2, base), stored)
    for name in ("s_dcache_inv", "s_dcache_wb", "s_dcache_inv_vol", "s_dcache_wb_vol", "s_dcache_discard s[8:9], 0",
                 "s_dcache_discard_x2 s[8:9], 0"):
        yield t.Case(name, base, lambda _, st: None if not st.status else "stopped")
    yield t.Case("s_memtime s[20:21]", base, lambda _, st: None if not st.sgpr[21] else "far from its start")
    yield t.Case("s_memrealtime s[20:21]", base, lambda _, st: None if not st.sgpr[21] else "far from its start")
    yield t.Case("s_load_dword s20, s[8:9], 0", with_memory(1, lambda st: t.put64(st.sgpr, 8, 0x7000)),
                 lambda _, st: None if (st.status, st.fault) == (2, 0x7000) else "no fault")


def mubuf():
    def raw(st):
        st.sgpr[8], st.sgpr[9], st.sgpr[10], st.sgpr[11] = BASE & 0xffffffff, BASE >> 32, SIZE, 0
        st.sgpr[12] = 100
        for l in range(64):
            st.vgpr[20][l] = 19 * l * 4 + (l & 3)

    def scratch(st):
        # like the runtime's: swizzled, stride 0, 64 lanes, the lane's number added
        st.sgpr[8], st.sgpr[9], st.sgpr[10] = BASE & 0xffffffff, BASE >> 32 | 1 << 31, 0xffffffff
        st.sgpr[11], st.sgpr[12] = 1 << 23 | 3 << 21, 1024
        for l in range(64):
            st.vgpr[20][l] = l % 9 * 4

    def indexed(st):
        raw(st)
        st.sgpr[9] |= 24 << 16
        st.sgpr[10] = 1000
        for l in range(64):
            st.vgpr[20][l] = l * 5

    def swizzled(offset, size, offen):
        def where(st, l):
            first = (st.vgpr[20][l] if offen else 0) + offset
            return [1024 + (first + n) // 4 * 256 + l * 4 + (first + n) % 4 for n in range(size)]
        return where
    for name, (size, form) in LOADS.items():
        d = vdata(4, (size + 3) // 4)
        yield load_case(f"buffer_load_{name} {d}, v20, s[8:11], s12 offen offset:8", size, form, 1, raw,
                        lambda st, l: st.vgpr[20][l] + 108)
        yield load_case(f"buffer_load_{name} {d}, v20, s[8:11], 0 idxen offset:4", size, form, 2, indexed,
                        lambda st, l: st.vgpr[20][l] * 24 + 4)
        yield load_case(f"buffer_load_{name} {d}, off, s[8:11], s12 offset:12", size, form, 3, scratch,
                        swizzled(12, size, False))
        yield load_case(f"buffer_load_{name} {d}, v20, s[8:11], s12 offen offset:12", size, form, 4, scratch,
                        swizzled(12, size, True))
    for name, (size, shift) in STORES.items():
        d = vdata(8, (size + 3) // 4)
        yield store_case(f"buffer_store_{name} {d}, v20, s[8:11], s12 offen offset:8", size, shift, 1, raw,
                         lambda st, l: st.vgpr[20][l] + 108)
        yield store_case(f"buffer_store_{name} {d}, off, s[8:11], s12 offset:12", size, shift, 3, scratch,
                         swizzled(12, size, False))
    for name, fn in ATOMICS.items():
        for dwords, x in ((1, ""), (2, "_x2")):
            def addresses(st):
                raw(st)
                for l in range(64):
                    st.vgpr[20][l] = 4096 + 64 * (l * 3 % 40)
            # the old value replaces the data register; FLAT tests the returned values
            data = vdata(8, dwords * (2 if name == "cmpswap" else 1))
            yield atomic_case(f"buffer_atomic_{name}{x} {data}, v20, s[8:11], 0 offen", fn, dwords, False, 1, addresses,
                              lambda st, l: st.vgpr[20][l])

    def formatted(data):
        def prepare(st):
            indexed(st)
            # floats of 32 bits, the channels in order
            st.sgpr[10], st.sgpr[11] = 200, data << 15 | 7 << 12 | 0o7654
            for l in range(64):
                st.vgpr[20][l] = l * 3
        return prepare
    for n, data in enumerate((4, 11, 13, 14), 1):
        yield load_case(f"buffer_load_format_{'xyzw'[:n]} {vdata(4, n)}, v20, s[8:11], 0 idxen offset:4", n * 4, None, 2,
                        formatted(data), lambda st, l: st.vgpr[20][l] * 24 + 4)
        yield store_case(f"buffer_store_format_{'xyzw'[:n]} {vdata(8, n)}, v20, s[8:11], 0 idxen offset:4", n * 4, 0, 2,
                         formatted(data), lambda st, l: st.vgpr[20][l] * 24 + 4)

    def outside(st):
        raw(st)
        st.sgpr[10] = 16
        st.sgpr[12] = 0
    zero = load_case("buffer_load_dword v4, v20, s[8:11], s12 offen offset:16", 4, lambda v, old: 0, 5, outside,
                     lambda st, l: 0)
    yield zero
    yield t.Case("buffer_wbinvl1", raw, lambda _, st: None if not st.status else "stopped")
    yield t.Case("buffer_wbinvl1_vol", raw, lambda _, st: None if not st.status else "stopped")


LDS_SIZE = 8192


def lds_state(st):
    data = random.Random(5).randbytes(65536)
    ctypes.memmove(st.lds, data, 65536)
    st.lds_size = LDS_SIZE
    t.put64(st.sgpr, t.EXEC, EXEC_MASK)
    for l in range(64):
        # the last lanes are beyond the end
        st.vgpr[20][l] = l * 96 + (l & 3) if l < 60 else LDS_SIZE - 2 * (l - 59)
    # a negative address and the offset make one that is in range, or whose begin or end is not
    for l, below in enumerate((12, 11, 8, 4, 1, 24, 512, 256, 1024, 768), 12):
        st.vgpr[20][l] = 2 ** 32 - below


def aligned(st):
    lds_state(st)
    for l in range(64):
        st.vgpr[20][l] = l * 3 % 40 * 64 if l < 62 else LDS_SIZE
    for l, below in enumerate((4, 8, 16, 256, 512, 1024), 12):
        st.vgpr[20][l] = 2 ** 32 - below


def lds_at(st, lane, offset):
    return st.vgpr[20][lane] + offset & 0xffffffff


def lds_bytes(data, at, n):
    return num(data, at, n) if at + n <= LDS_SIZE else 0


def ds_load(text, size, form, offsets):
    """offsets: one for each piece of `size` bytes that is read"""
    dwords = (size * len(offsets) + 3) // 4

    def expect(before, st):
        data = bytes(before.lds)
        for l in LANES:
            old = value(before, 4, l, dwords)
            want = sum(lds_bytes(data, lds_at(before, l, o), size) << 8 * size * n for n, o in enumerate(offsets))
            want = form(want, old if t.ARCH == "gfx900" else 0) if form else want
            if value(st, 4, l, dwords) != want:
                return f"lane {l}: {value(st, 4, l, dwords):#x}, not {want:#x}"
        return None
    return t.Case(text, lds_state, expect)


def ds_store(text, size, shift, offsets):
    def expect(before, st):
        want = bytearray(bytes(before.lds))
        for l in LANES:
            for n, o in enumerate(offsets):
                at = lds_at(before, l, o)
                if at + size <= LDS_SIZE:
                    v = value(before, 8 + 4 * n, l, 4) >> shift
                    want[at:at + size] = v.to_bytes(17, "little")[:size]
        return None if bytes(st.lds) == bytes(want) else "LDS"
    return t.Case(text, lds_state, expect)


def f_add(fmt):
    def fn(old, a, b, n):
        r = m.add(fmt, old, a)
        return 0x7fc00000 if r == NAN else r
    return fn


def f_pick(fmt, low):
    def fn(old, a, b, n):
        r = m.minmax(fmt, old, a, low, False)
        return old if r == NAN else r
    return fn


DS_ATOMICS = {
    "add_u": ATOMICS["add"], "sub_u": ATOMICS["sub"], "rsub_u": lambda old, a, b, n: a - old, "inc_u": ATOMICS["inc"],
    "dec_u": ATOMICS["dec"], "min_i": ATOMICS["smin"], "max_i": ATOMICS["smax"], "min_u": ATOMICS["umin"],
    "max_u": ATOMICS["umax"], "and_b": ATOMICS["and"], "or_b": ATOMICS["or"], "xor_b": ATOMICS["xor"],
    "mskor_b": lambda old, a, b, n: old & ~a | b, "cmpst_b": lambda old, a, b, n: b if old == a else old,
}


def ds_atomic(text, fn, size, returns, two, offset=0):
    dwords = size // 4

    def prepare(st):
        aligned(st)
        for l in range(64):
            data = (l % 40 % 6).to_bytes(size, "little")
            for n, byte in enumerate(data):
                st.lds[l % 40 * 64 + n] = byte
            st.vgpr[8][l], st.vgpr[12][l] = l % 7, l % 5
            st.vgpr[9][l] = st.vgpr[13][l] = 0

    def expect(before, st):
        want = bytearray(bytes(before.lds))
        for l in LANES:
            at = lds_at(before, l, offset)
            # a misaligned one is out of range
            at = at if at % size == 0 else LDS_SIZE
            old = lds_bytes(want, at, size)
            new = fn(old, value(before, 8, l, dwords), value(before, 12, l, dwords) if two else 0, size * 8)
            if at + size <= LDS_SIZE:
                want[at:at + size] = (new & ((1 << size * 8) - 1)).to_bytes(size, "little")
            if returns and value(st, 4, l, dwords) != old:
                return f"lane {l}: {value(st, 4, l, dwords):#x}, not {old:#x}"
        return None if bytes(st.lds) == bytes(want) else "LDS"
    return t.Case(f"{text} offset:{offset}" if offset else text, prepare, expect)


def ds():
    for name, (size, form) in (("b32", (4, None)), ("b64", (8, None)), ("b96", (12, None)), ("b128", (16, None)),
                               ("u8", LOADS["ubyte"]), ("i8", LOADS["sbyte"]), ("u16", LOADS["ushort"]),
                               ("i16", LOADS["sshort"]), ("u8_d16", LOADS["ubyte_d16"]),
                               ("u8_d16_hi", LOADS["ubyte_d16_hi"]), ("i8_d16", LOADS["sbyte_d16"]),
                               ("i8_d16_hi", LOADS["sbyte_d16_hi"]), ("u16_d16", LOADS["short_d16"]),
                               ("u16_d16_hi", LOADS["short_d16_hi"])):
        yield ds_load(f"ds_read_{name} {vdata(4, (size + 3) // 4)}, v20 offset:12", size, form, [12])
    for name, size, shift in (("b8", 1, 0), ("b16", 2, 0), ("b32", 4, 0), ("b64", 8, 0), ("b96", 12, 0), ("b128", 16, 0),
                              ("b8_d16_hi", 1, 16), ("b16_d16_hi", 2, 16)):
        yield ds_store(f"ds_write_{name} v20, {vdata(8, (size + 3) // 4)} offset:12", size, shift, [12])
    for size in (4, 8):
        d, a, b, n = vdata(4, size // 2), vdata(8, size // 4), vdata(12, size // 4), size * 8
        for st64, scale in (("", size), ("st64", size * 64)):
            yield ds_load(f"ds_read2{st64}_b{n} {d}, v20 offset0:3 offset1:1", size, None, [3 * scale, scale])
            yield ds_store(f"ds_write2{st64}_b{n} v20, {a}, {b} offset0:3 offset1:1", size, 0, [3 * scale, scale])
            yield ds_exchange2(f"ds_wrxchg2{st64}_rtn_b{n} {d}, v20, {a}, {b} offset0:1 offset1:2", size,
                               [scale, 2 * scale])
        d = vdata(4, size // 4)
        fmt = F32 if size == 4 else F64
        table = dict(DS_ATOMICS)
        table["min_f"], table["max_f"] = f_pick(fmt, True), f_pick(fmt, False)
        table["cmpst_f"] = lambda old, a, b, n: b if old == a else old
        if size == 4:
            table["add_f"] = f_add(fmt)
        for name, fn in table.items():
            op, kind = name.split("_")
            two = op in ("mskor", "cmpst")
            data = f"{a}, {b}" if two else a
            yield ds_atomic(f"ds_{op}_{kind}{n} v20, {data}", fn, size, False, two)
            yield ds_atomic(f"ds_{op}_rtn_{kind}{n} {d}, v20, {data}", fn, size, True, two, 512)
        yield ds_atomic(f"ds_wrxchg_rtn_b{n} {d}, v20, {a}", ATOMICS["swap"], size, True, False)
    yield ds_atomic("ds_wrap_rtn_b32 v4, v20, v8, v12", lambda old, a, b, n: old - a if old >= a else old + b, 4, True,
                    True)
    yield t.Case("ds_nop", lds_state, lambda before, st: None if bytes(st.lds) == bytes(before.lds) else "LDS")


def ds_exchange2(text, size, offsets):
    dwords = size // 4

    def expect(before, st):
        want = bytearray(bytes(before.lds))
        for l in LANES:
            for n, o in enumerate(offsets):
                at = lds_at(before, l, o)
                # a misaligned one is out of range
                at = at if at % size == 0 else LDS_SIZE
                old = lds_bytes(want, at, size)
                if at + size <= LDS_SIZE:
                    want[at:at + size] = value(before, 8 + 4 * n, l, dwords).to_bytes(size, "little")
                if value(st, 4 + n * dwords, l, dwords) != old:
                    return f"lane {l}: old value"
        return None if bytes(st.lds) == bytes(want) else "LDS"
    return t.Case(text, aligned, expect)


def families(module):
    global t
    t = module
    return {"flat": flat, "smem": smem, "mubuf": mubuf, "ds": ds}
