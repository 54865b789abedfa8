# SPDX-License-Identifier: MIT
"""inst_gfx90a.py - models of what gfx90a has beside gfx900's instructions, for inst_test.py

Matrices have small whole numbers as elements, so that every order of the sums gives the same; denormals and NaNs are cases of
their own.
"""
import random
from fractions import Fraction

import inst_memory
import inst_model as m
import inst_valu
from inst_model import F16, F32, F64, NAN, s
from inst_valu import Op, Plain, bits, line

t = None

# gfx900's, whose opcodes are others' here
GONE = {"v_mad_mix_f32", "v_mad_mixlo_f16", "v_mad_mixhi_f16"}

# what the disassembler prints for instructions that the interpreter refuses
TEXTS = ["v_cubeid_f32 v1, v2, s3, 1.0", "ds_add_u32 v1, v2 gds", "s_scratch_load_dword s5, s[2:3], 0x10",
         "v_accvgpr_read_b32 v1, a2"]


# ---- vector ALU ----

def half(v, high):
    return F16.flush(v >> 16 if high else v & 0xffff)


def dot_f16(a, b, c):
    r = F32.flush(c)
    for high in (False, True):
        x, y = (m.convert(F32, F16, half(v, high)) for v in (a, b))
        r = NAN if NAN in (x, y, r) or F32.isnan(r) else m.fma(F32, x, y, r)
    return r if r == NAN else F32.flush(r)


def parts(v, width, signed):
    values = [v >> n & ((1 << width) - 1) for n in range(0, 32, width)]
    return [s(x, width) for x in values] if signed else values


def dot(width, signed, clamp=False):
    lo, hi = (-2**31, 2**31 - 1) if signed else (0, 2**32 - 1)

    def model(a, b, c):
        r = sum(x * y for x, y in zip(parts(a, width, signed), parts(b, width, signed)))
        r += s(c, 32) if signed else c
        return bits(min(max(r, lo), hi) if clamp else r)
    return model


def mix(a, b, c):
    return m.fma(F32, a, b, c)


def mix16(a, b, c):
    r = mix(a, b, c)
    return NAN if r == NAN else m.convert(F16, F32, r)


def mixhi(a, b, c):
    want = mix16(a, b, c)
    return lambda have: have & 0xff00 == 0x0400 and (F16.isnan(have >> 16) if want == NAN else have >> 16 == want)


def halves(fn):
    return inst_valu.two(fn)


def pair(fn, take=((0, 1), (0, 1), (0, 1)), negated=(), clamp=False):
    """A function of floats on pairs of them; take: which of a source's two the low and the high result use."""
    def half_of(v, source, high):
        v = bits(v >> 32 * take[source][high])
        return v ^ F32.sign if (source, high) in negated else v

    def model(*values):
        def check(have):
            for high in (0, 1):
                want = fn(*[half_of(v, n, high) for n, v in enumerate(values)])
                got = bits(have >> 32 * high)
                if clamp:
                    want = 0 if want == NAN or want & F32.sign else min(want, 0x3f800000)
                if not (F32.isnan(got) if want == NAN else got == want):
                    return False
            return True
        return check
    return Plain(model, len(take))


def operations():
    yield from (op for op in inst_valu.operations() if op.name not in GONE)
    for op in own():
        op.of_gfx90a = True
        yield op


def own():
    yield Op("v_fmac_f64", "f64", ["f64"] * 3, lambda a, b, c: m.fma(F64, a, b, c), accumulates=True,
             text="v_fmac_f64 v[4:5], v[10:11], v[12:13]")
    yield Op("v_fmac_f32", "f32", ["f32"] * 3, lambda a, b, c: m.fma(F32, a, b, c), accumulates=True,
             text="v_fmac_f32 v4, v10, v12")
    yield Op("v_pk_fmac_f16", "u32", ["p16"] * 3, Plain(halves(lambda a, b, c: m.fma(F16, a, b, c)), 3),
             accumulates=True, text="v_pk_fmac_f16 v4, v10, v12", modes=False)
    yield Op("v_xnor_b32", "u32", ["u32"] * 2, lambda a, b: bits(~(a ^ b)), text="v_xnor_b32 v4, v10, v12")
    yield Op("v_fma_mix_f32", "f32", ["f32"] * 3, mix, text="v_fma_mix_f32 v4, v10, v12, v14", modes=False)
    yield Op("v_fma_mixlo_f16", "f16", ["f32"] * 3, mix16, text="v_fma_mixlo_f16 v4, v10, v12, v14", keeps_high=True,
             modes=False)
    yield Op("v_fma_mixhi_f16", "u32", ["f32"] * 3, mixhi, text="v_fma_mixhi_f16 v4, v10, v12, v14", modes=False)
    yield Op("v_dot2c_f32_f16", "f32", ["p16", "p16", "f32"], dot_f16, accumulates=True, modes=False,
             text="v_dot2c_f32_f16 v4, v10, v12")
    yield Op("v_dot2_f32_f16", "f32", ["p16", "p16", "f32"], dot_f16, text="v_dot2_f32_f16 v4, v10, v12, v14", modes=False)
    for name, width, signed in (("v_dot2_i32_i16", 16, True), ("v_dot2_u32_u16", 16, False), ("v_dot4_i32_i8", 8, True),
                                ("v_dot4_u32_u8", 8, False), ("v_dot8_i32_i4", 4, True), ("v_dot8_u32_u4", 4, False)):
        for clamp in (False, True):
            yield Op(name, "u32", ["u32"] * 3, Plain(dot(width, signed, clamp), 3),
                     text=line(name, "u32", ["u32"] * 3, tail=" clamp" if clamp else ""))
    for name, width in (("v_dot2c_i32_i16", 16), ("v_dot4c_i32_i8", 8), ("v_dot8c_i32_i4", 4)):
        yield Op(name, "u32", ["u32"] * 3, Plain(dot(width, True), 3), accumulates=True, text=f"{name} v4, v10, v12")
    yield from packed()


def packed():
    fma, mul, add = (lambda a, b, c: m.fma(F32, a, b, c)), (lambda a, b: m.mul(F32, a, b)), (lambda a, b: m.add(F32, a, b))
    both, low, high, crossed = (0, 1), (0, 0), (1, 1), (1, 0)

    def op(name, fn, nr, tail=""):
        text = line(name, "u64", ["u64"] * nr, tail=tail)
        return Op(name, "u64", ["u64"] * nr, fn, text=text, modes=False)
    yield op("v_pk_fma_f32", pair(fma), 3)
    yield op("v_pk_fma_f32", pair(fma, (crossed, low, high), {(0, 0), (1, 1), (2, 0), (2, 1)}), 3,
             " op_sel:[1,0,1] op_sel_hi:[0,0,1] neg_lo:[1,0,1] neg_hi:[0,1,1]")
    for name, fn in (("v_pk_mul_f32", mul), ("v_pk_add_f32", add)):
        yield op(name, pair(fn, (both, both)), 2)
        yield op(name, pair(fn, (low, crossed), {(1, 0)}), 2, " op_sel:[0,1] op_sel_hi:[0,0] neg_lo:[0,1]")
        yield op(name, pair(fn, (both, both), clamp=True), 2, " clamp")
    # a constant is the low one of two: the high one is 0
    yield Op("v_pk_mul_f32", "u64", ["u64"], pair(lambda a: m.mul(F32, a, 0x40800000), (both,)), modes=False,
             text="v_pk_mul_f32 v[4:5], v[10:11], 4.0 op_sel_hi:[1,0]")
    for tail, x, y in (("", 0, 0), (" op_sel:[1,0]", 1, 0), (" op_sel:[0,1]", 0, 1), (" op_sel:[1,1]", 1, 1)):
        yield op("v_pk_mov_b32", Plain(lambda a, b, x=x, y=y: bits(a >> 32 * x) | bits(b >> 32 * y) << 32, 2), 2, tail)


# ---- accumulation registers, alignment, DPP ----

def acc(st, reg, lane):
    return st.vgpr[256 + reg][lane]


def fill(st):
    rng = random.Random(5)
    for reg in list(range(48)) + list(range(256, 304)):
        for lane in range(64):
            st.vgpr[reg][lane] = rng.getrandbits(32)


def registers():
    mask = 0xfff0a5a50f0f1234

    def moved(to, frm):
        def setup(st):
            fill(st)
            st.sgpr[8] = 77
            t.put64(st.sgpr, t.EXEC, mask)

        def expect(before, st):
            for l in range(64):
                want = (frm(before, l) if callable(frm) else frm) if mask >> l & 1 else before.vgpr[to][l]
                if st.vgpr[to][l] != want:
                    return f"lane {l}: {st.vgpr[to][l]:#x}, not {want:#x}"
            return None
        return setup, expect
    yield t.Case("v_accvgpr_read_b32 v4, a9", *moved(4, lambda st, l: acc(st, 9, l)))
    yield t.Case("v_accvgpr_write_b32 a9, v5", *moved(256 + 9, lambda st, l: st.vgpr[5][l]))
    yield t.Case("v_accvgpr_write_b32 a9, 1.0", *moved(256 + 9, 0x3f800000))
    yield t.Case("v_accvgpr_mov_b32 a9, a3", *moved(256 + 9, lambda st, l: acc(st, 3, l)))
    yield t.Case("v_mov_b32_dpp v4, v10 row_newbcast:5 row_mask:0xf bank_mask:0xf",
                 *moved_if(mask, lambda st, l: st.vgpr[10][l & 48 | 5], lambda l: mask >> (l & 48 | 5) & 1))
    yield from wide_dpp(mask)
    yield single("global_atomic_cmpswap v5, v[20:21], v[8:9], off glc")
    yield single("flat_atomic_cmpswap v5, v[20:21], v[8:9] glc")
    for text in ("v_add_f64 v[4:5], v[10:11], v[12:13]", "v_pk_add_f32 v[4:5], v[10:11], v[12:13]",
                 "global_load_dwordx2 v[4:5], v[20:21], off", "ds_read_b64 v[4:5], v20", "ds_write_b128 v20, v[8:11]",
                 "v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]"):
        yield illegal(text)


def single(text):
    """A single register as result may be odd, beside pairs; there is no memory."""
    return t.Case(text, lambda st: None, lambda _, st: f"status {st.status}" if st.status == 3 else None)


def moved_if(mask, value, there):
    def setup(st):
        fill(st)
        t.put64(st.sgpr, t.EXEC, mask)

    def expect(before, st):
        for l in range(64):
            want = value(before, l) if mask >> l & 1 and there(l) else before.vgpr[4][l]
            if st.vgpr[4][l] != want:
                return f"lane {l}: {st.vgpr[4][l]:#x}, not {want:#x}"
        return None
    return setup, expect


def wide_dpp(mask):
    """Of 64-bit operations: whole rows read one lane."""
    def setup(st):
        t.put64(st.sgpr, t.EXEC, mask)
        for l in range(64):
            for reg, v in ((10, l * 1.25 + 0.75), (12, 3 - l), (4, l * 0.5)):
                t.set_operand(st, reg, l, "f64", F64.round(Fraction(v)))

    def expect(before, st):
        for l in range(64):
            lane = l & 48 | 2
            a, b, c = t.row64(before, 10, lane), t.row64(before, 12, l), t.row64(before, 4, l)
            want = m.fma(F64, a, b, c) if mask >> l & 1 and mask >> lane & 1 else c
            if t.row64(st, 4, l) != want:
                return f"lane {l}: {t.row64(st, 4, l):#x}, not {want:#x}"
        return None
    yield t.Case("v_fmac_f64_dpp v[4:5], v[10:11], v[12:13] row_newbcast:2 row_mask:0xf bank_mask:0xf", setup, expect)


def illegal(text):
    """The same with one register more in its last operand, or first: refused."""
    def expect(_before, st):
        return None if st.status == 3 else f"status {st.status} for an odd register"
    case = t.Case(text, lambda st: None, expect)
    case.odd = True
    return case


# ---- memory ----

def add_f16(old, a, b, n):
    r = 0
    for at in (0, 16):
        v = m.add(F16, old >> at & 0xffff, a >> at & 0xffff)
        r |= v << at
    return r


FLOAT_ATOMICS = {"add_f32": (1, lambda old, a, b, n: m.add(F32, old, a)), "pk_add_f16": (1, add_f16),
                 "add_f64": (2, lambda old, a, b, n: m.add(F64, old, a)),
                 "min_f64": (2, lambda old, a, b, n: m.minmax(F64, old, a, True)),
                 "max_f64": (2, lambda old, a, b, n: m.minmax(F64, old, a, False))}


def memory():
    im = inst_memory

    def buffer(st):
        st.sgpr[8], st.sgpr[9], st.sgpr[10], st.sgpr[11] = im.BASE & 0xffffffff, im.BASE >> 32, im.SIZE, 0
        for l in range(64):
            st.vgpr[20][l] = 4096 + 64 * (l * 3 % 40)
    for name, (dwords, fn) in FLOAT_ATOMICS.items():
        data = im.vdata(8, dwords)
        form = "flat" if dwords == 2 else "global"
        yield im.atomic_case(f"{form}_atomic_{name} {im.vdata(4, dwords)}, v[20:21], {data}"
                             f"{'' if form == 'flat' else ', off'} glc", fn, dwords, True, 1, im.flat_addr, im.lane_at(0))
        yield im.atomic_case(f"global_atomic_{name} v[20:21], {data}, off offset:64", fn, dwords, False, 2, im.flat_addr,
                             im.lane_at(64))
        yield im.atomic_case(f"buffer_atomic_{name} {data}, v20, s[8:11], 0 offen", fn, dwords, False, 1, buffer,
                             lambda st, l: st.vgpr[20][l])
    for text in ("buffer_wbl2", "buffer_invl2", "buffer_wbinvl1_vol"):
        yield t.Case(text, lambda st: None, lambda _, st: None if not st.status else "stopped")
    yield from lds_add()
    yield from agprs()


def lds_add():
    for rtn in ("", "_rtn"):
        def setup(st):
            st.lds_size = 4096
            for l in range(64):
                st.vgpr[20][l] = 8 * (l % 24)
                t.set_operand(st, 8, l, "f64", F64.round(Fraction(l * l - 300, 8)))
            for n in range(24):
                st.lds[8 * n:8 * n + 8] = list(F64.round(Fraction(n, 4)).to_bytes(8, "little"))

        def expect(before, st, rtn=rtn):
            values = [F64.round(Fraction(n, 4)) for n in range(24)]
            for l in range(64):
                old, values[l % 24] = values[l % 24], m.add(F64, values[l % 24], t.row64(before, 8, l))
                if rtn and t.row64(st, 4, l) != old:
                    return f"lane {l}: old value"
            have = [int.from_bytes(bytes(st.lds[8 * n:8 * n + 8]), "little") for n in range(24)]
            return None if have == values else "memory"
        yield t.Case(f"ds_add{rtn}_f64 {'v[4:5], ' if rtn else ''}v20, v[8:9]", setup, expect)


def agprs():
    """Loads into accumulation registers, and stores of them."""
    im = inst_memory

    def loaded(text, nr, prepare, at):
        def expect(before, st):
            data = im.now()
            for l in im.LANES:
                for n in range(nr):
                    if acc(st, 4 + n, l) != im.num(data, at(before, l) + 4 * n, 4):
                        return f"lane {l}: a{4 + n}"
            return None if [r[:] for r in st.vgpr[4:8]] == [r[:] for r in before.vgpr[4:8]] else "vector registers, too"
        return t.Case(text, im.with_memory(3, prepare), expect)

    def stored(text, nr, prepare, at):
        def setup(st):
            prepare(st)
            for n in range(nr):
                for l in range(64):
                    st.vgpr[256 + 8 + n][l] = 0xa0000000 + n * 256 + l

        def expect(before, st):
            want = bytearray(random.Random(3).randbytes(im.SIZE))
            for l in im.LANES:
                for n in range(nr):
                    want[at(before, l) + 4 * n:at(before, l) + 4 * n + 4] = acc(before, 8 + n, l).to_bytes(4, "little")
            return None if im.now() == bytes(want) else "memory"
        return t.Case(text, im.with_memory(3, setup), expect)

    def raw(st):
        st.sgpr[8], st.sgpr[9], st.sgpr[10], st.sgpr[11] = im.BASE & 0xffffffff, im.BASE >> 32, im.SIZE, 0
        for l in range(64):
            st.vgpr[20][l] = 64 * l

    def lds(st):
        st.lds_size = 8192
        for l in range(64):
            st.vgpr[20][l] = 16 * l
            for n in range(16):
                st.lds[16 * l + n] = (l * 5 + n) % 256
    yield loaded("global_load_dwordx4 a[4:7], v[20:21], off", 4, im.distinct, im.lane_at(0))
    yield loaded("flat_load_dword a4, v[20:21]", 1, im.distinct, im.lane_at(0))
    yield loaded("buffer_load_dwordx2 a[4:5], v20, s[8:11], 0 offen", 2, raw, lambda st, l: st.vgpr[20][l])
    yield stored("global_store_dwordx2 v[20:21], a[8:9], off", 2, im.distinct, im.lane_at(0))
    yield stored("buffer_store_dword a8, v20, s[8:11], 0 offen", 1, raw, lambda st, l: st.vgpr[20][l])

    def read(before, st):
        for l in range(64):
            for n in range(2):
                want = int.from_bytes(bytes(before.lds[16 * l + 4 * n:16 * l + 4 * n + 4]), "little")
                if acc(st, 4 + n, l) != want:
                    return f"lane {l}: {acc(st, 4 + n, l):#x}, not {want:#x}"
        return None

    def written(before, st):
        for l in range(64):
            for n, reg in enumerate((8, 9)):
                if bytes(st.lds[16 * l + 8 * n:16 * l + 8 * n + 4]) != acc(before, reg, l).to_bytes(4, "little"):
                    return f"lane {l}"
        return None

    def with_agprs(st):
        fill(st)
        lds(st)
    yield t.Case("ds_read_b64 a[4:5], v20", lds, read)
    yield t.Case("ds_write2_b32 v20, a8, a9 offset0:0 offset1:2", with_agprs, written)


# ---- matrices ----

BF16 = m.Format(16, 7)
I8 = object()
# name: type, rows, k, blocks, elements of a lane
MATRICES = {
    "f32_32x32x1f32": (F32, 32, 1, 2, 1), "f32_16x16x1f32": (F32, 16, 1, 4, 1), "f32_4x4x1f32": (F32, 4, 1, 16, 1),
    "f32_32x32x2f32": (F32, 32, 2, 1, 1), "f32_16x16x4f32": (F32, 16, 4, 1, 1),
    "f32_32x32x4f16": (F16, 32, 4, 2, 4), "f32_16x16x4f16": (F16, 16, 4, 4, 4), "f32_4x4x4f16": (F16, 4, 4, 16, 4),
    "f32_32x32x8f16": (F16, 32, 8, 1, 4), "f32_16x16x16f16": (F16, 16, 16, 1, 4),
    "i32_32x32x4i8": (I8, 32, 4, 2, 4), "i32_16x16x4i8": (I8, 16, 4, 4, 4), "i32_4x4x4i8": (I8, 4, 4, 16, 4),
    "i32_32x32x8i8": (I8, 32, 8, 1, 4), "i32_16x16x16i8": (I8, 16, 16, 1, 4),
    "f32_32x32x4bf16_1k": (BF16, 32, 4, 2, 4), "f32_16x16x4bf16_1k": (BF16, 16, 4, 4, 4),
    "f32_4x4x4bf16_1k": (BF16, 4, 4, 16, 4), "f32_32x32x8bf16_1k": (BF16, 32, 8, 1, 4),
    "f32_16x16x16bf16_1k": (BF16, 16, 16, 1, 4),
    "f32_32x32x2bf16": (BF16, 32, 2, 2, 2), "f32_16x16x2bf16": (BF16, 16, 2, 4, 2), "f32_4x4x2bf16": (BF16, 4, 2, 16, 2),
    "f32_32x32x4bf16": (BF16, 32, 4, 1, 2), "f32_16x16x8bf16": (BF16, 16, 8, 1, 2),
    "f64_16x16x4f64": (F64, 16, 4, 1, 1), "f64_4x4x4f64": (F64, 4, 4, 4, 1),
}


def pattern(kind, v):
    return v & 255 if kind is I8 else kind.round(Fraction(v))


def lane_row_column(shape, lane, reg):
    """Block, row and column of element `reg` of a lane's C or D: written down from AMD's tables, shape by shape."""
    kind, size, _, blocks, _ = shape
    if kind is F64:
        return (0, 4 * reg + lane // 16, lane % 16) if size == 16 else (lane // 4 % 4, lane // 16, lane % 4)
    if size == 4:
        return lane // 4, reg, lane % 4
    if size == 16:
        return reg // 4, 4 * (lane // 16) + reg % 4, lane % 16
    return reg // 16, 8 * (reg % 16 // 4) + 4 * (lane // 32) + reg % 4, lane % 32


def lane_block_k(shape, lane):
    """Block, row (or column), and first k of a lane's elements of A (or B)."""
    kind, size, k, blocks, per = shape
    if kind is F64:
        return (0, lane % 16, lane // 16) if size == 16 else (lane // 4 % 4, lane % 4, lane // 16)
    return (lane // size, lane % size, 0) if blocks > 1 else (0, lane % size, lane // size * per)


B_FROM = [lambda l: l, lambda l: l % 32, lambda l: 32 + l % 32, lambda l: (l + 16) % 64, lambda l: l % 16,
          lambda l: 16 + l % 16, lambda l: 32 + l % 16, lambda l: 48 + l % 16]


def matrix_case(name, shape, cbsz=0, abid=0, blgp=0, constant=None, files="vva"):
    """files: of A, B, and of C and D."""
    kind, size, k, blocks, per = shape
    rng = random.Random(name + str((cbsz, abid, blgp)))
    regs_in = max(1, per * (64 if kind is F64 else 8 if kind is I8 else 32 if kind is F32 else 16) // 32)
    nr_out = size * size * blocks // 64
    wide = 2 if kind is F64 else 1
    out = F64 if kind is F64 else F32
    at = [16, 20, 24]

    def first(n):
        return at[n] + (256 if files[n] == "a" else 0)

    def name_of(n, nr):
        return f"{files[n]}{at[n]}" if nr == 1 else f"{files[n]}[{at[n]}:{at[n] + nr - 1}]"
    c_text = name_of(2, nr_out * wide) if constant is None else constant
    tail = "".join(f" {w}:{v}" for w, v in (("cbsz", cbsz), ("abid", abid), ("blgp", blgp)) if v)
    text = f"v_mfma_{name} {name_of(2, nr_out * wide)}, {name_of(0, regs_in)}, {name_of(1, regs_in)}, {c_text}{tail}"
    values = [[[rng.randrange(-9, 10) for _ in range(per)] for _ in range(64)] for _ in range(2)]
    start = [[rng.randrange(-99, 100) for _ in range(nr_out)] for _ in range(64)]

    def put(st, reg, lane, v, width, n):
        """Element n, of `width` bits, of the registers from reg on."""
        for at_bit in range(0, width, 32):
            part = v >> at_bit & 0xffffffff
            r, shift = reg + (n * width + at_bit) // 32, n * width % 32
            mask = ((1 << min(width, 32)) - 1) << shift
            st.vgpr[r][lane] = st.vgpr[r][lane] & ~mask | part << shift

    def setup(st):
        t.put64(st.sgpr, t.EXEC, 0x5)
        width = 8 if kind is I8 else kind.bits
        for lane in range(64):
            for source in range(2):
                for n in range(per):
                    put(st, first(source), lane, pattern(kind, values[source][lane][n]), width, n)
            for n in range(nr_out):
                v = start[lane][n] & 0xffffffff if kind is I8 else out.round(Fraction(start[lane][n]))
                put(st, first(2), lane, v, 32 * wide, n)

    def expect(_before, st):
        if st.status:
            return f"status {st.status}"
        a, b = {}, {}
        for lane in range(64):
            block, row, k0 = lane_block_k(shape, lane)
            for n in range(per):
                a[block, row, k0 + n] = values[0][lane][n]
                b[block, row, k0 + n] = values[1][B_FROM[blgp](lane)][n]
        group = 1 << cbsz
        for lane in range(64):
            for n in range(nr_out):
                block, row, column = lane_row_column(shape, lane, n)
                from_block = block // group * group + abid if cbsz else block
                want = sum(a[from_block, row, x] * b[block, column, x] for x in range(k))
                want += start[lane][n] if constant is None else int(float(constant))
                reg = first(2) + n * wide
                have = st.vgpr[reg][lane] | (st.vgpr[reg + 1][lane] << 32 if wide == 2 else 0)
                if have != (want & 0xffffffff if kind is I8 else out.round(Fraction(want))):
                    return f"lane {lane}, element {n}: {have:#x}, not {want}"
        return None
    return t.Case(text, setup, expect)


def special_matrix(name, shape, a_value, b_value, c_value, want):
    """All elements of A, B and C alike: denormals, infinities."""
    kind, size, k, blocks, per = shape
    nr_out = size * size * blocks // 64
    regs_in = max(1, per * kind.bits // 32)
    wide = 2 if kind is F64 else 1

    def rows(letter, at, nr):
        return f"{letter}{at}" if nr == 1 else f"{letter}[{at}:{at + nr - 1}]"

    def spread(st, reg, nr, v, bits_of):
        word = v * (1 if bits_of >= 32 else 0x10001)
        for lane in range(64):
            for n in range(nr):
                st.vgpr[reg + n][lane] = word >> 32 * (n % 2 if bits_of == 64 else 0) & 0xffffffff

    def setup(st):
        spread(st, 16, regs_in, a_value, kind.bits)
        spread(st, 20, regs_in, b_value, kind.bits)
        spread(st, 256 + 24, nr_out * wide, c_value, 32 * wide)

    def expect(_before, st):
        for lane in range(64):
            have = st.vgpr[256 + 24][lane] | (st.vgpr[256 + 25][lane] << 32 if wide == 2 else 0)
            if not (F32.isnan(have) if want == NAN else have == want):
                return f"lane {lane}: {have:#x}, not {want}"
        return None
    out = rows("a", 24, nr_out * wide)
    return t.Case(f"v_mfma_{name} {out}, {rows('v', 16, regs_in)}, {rows('v', 20, regs_in)}, {out}", setup, expect)


def matrices():
    for name, shape in MATRICES.items():
        kind, size, _, blocks, _ = shape
        yield matrix_case(name, shape)
        yield matrix_case(name, shape, files="avv", constant="2.0" if kind is not I8 else "2")
        if kind is F64:
            continue
        yield matrix_case(name, shape, blgp=1 + len(name) % 7, files="aaa")
        if blocks > 1:
            yield matrix_case(name, shape, cbsz=1, abid=1)
    for blgp in range(8):
        yield matrix_case("f32_32x32x1f32", MATRICES["f32_32x32x1f32"], blgp=blgp)
    for cbsz, abid in ((2, 3), (3, 5), (4, 11)):
        yield matrix_case("f32_4x4x4f16", MATRICES["f32_4x4x4f16"], cbsz=cbsz, abid=abid)
    one = 0x3f800000
    f16, bf16 = MATRICES["f32_16x16x16f16"], MATRICES["f32_16x16x16bf16_1k"]
    f32, f64 = MATRICES["f32_16x16x4f32"], MATRICES["f64_16x16x4f64"]
    # denormals of the short types are zero, going in and coming out; the others' are kept
    yield special_matrix("f32_16x16x16f16", f16, 0x0001, 0x3c00, 0, 0)
    yield special_matrix("f32_16x16x16f16", f16, 0, 0x3c00, 5, 0)
    yield special_matrix("f32_16x16x16bf16_1k", bf16, 0x0001, 0x3f80, 0, 0)
    yield special_matrix("f32_16x16x4f32", f32, 0x00000001, one, 0, 4)
    yield special_matrix("f64_16x16x4f64", f64, 1, 0x3ff0000000000000, 0, 4)
    yield special_matrix("f32_16x16x4f32", f32, F32.inf, 0, one, NAN)
    yield special_matrix("f32_16x16x16f16", f16, F16.inf, 0x3c00, one, F32.inf)


def families(module):
    global t
    t = module
    table = {"registers90a": registers, "memory90a": memory, "matrices": matrices}
    return {name: (lambda fn=fn: list(fn())) for name, fn in table.items()}
