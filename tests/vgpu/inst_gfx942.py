# SPDX-License-Identifier: MIT
"""inst_gfx942.py - models of what gfx942 has beside gfx90a's instructions, for inst_test.py

The assembler of Debian 12 doesn't know gfx942: inst_gfx942.txt keeps the words of each line, as a later one (LLVM 17 or
newer) made them. `inst_test.py --arch gfx942 --llvm-mc PROGRAM` makes the file anew.
"""
import bisect
import random
import subprocess
from fractions import Fraction

import inst_gfx90a
import inst_memory
import inst_model as m
from inst_model import F16, F32, NAN
from inst_valu import Op, Plain, bits

t = None
BF16 = inst_gfx90a.BF16
I8 = inst_gfx90a.I8
OVFL = 0x800000  # MODE: what overflows becomes the largest number


# ---- assembler ----

def read_kept(path):
    with open(path, encoding="ascii") as f:
        rows = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    return {text: [int(w, 16) for w in words.split()] for words, text in rows}


def assemble_new(program, lines, path):
    """The words of each line, by LLVM's assembler; they are kept in the file."""
    lines = sorted(set(lines))
    p = subprocess.run([program, "--triple=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-show-encoding"],
                       input="\n".join(lines).encode(), capture_output=True, check=False)
    if p.returncode:
        raise SystemExit(p.stderr.decode()[:3000])
    found = [l.split("encoding: [")[1].split("]")[0] for l in p.stdout.decode().splitlines() if "encoding: [" in l]
    assert len(found) == len(lines)
    with open(path, "w", encoding="ascii") as f:
        f.write("# words and text of instructions of gfx942, by LLVM's assembler; inst_gfx942.py says how\n")
        for text, code in zip(lines, found):
            data = bytes(int(b, 16) for b in code.split(","))
            words = [f"{int.from_bytes(data[n:n + 4], 'little'):08x}" for n in range(0, len(data), 4)]
            f.write(f"{' '.join(words)}\t{text}\n")


# ---- floats of 8 bits: every one as a fraction, and rounding by looking for the nearest ----

class Small:
    """FP8 (4 bits of exponent, 3 of fraction, bias 8) or BF8 (5, 2, bias 16): 0x80 is the NaN, there is no infinity."""
    bits = 8

    def __init__(self, fraction, bias):
        self.fraction, self.bias = fraction, bias
        # all of them, and the middles of two, are exact
        self.values = [float(self.value(v)) for v in range(128)]

    def value(self, v):
        exponent, fraction = v >> self.fraction, v & (1 << self.fraction) - 1
        if exponent:
            return Fraction((1 << self.fraction) + fraction) * Fraction(2) ** (exponent - self.bias - self.fraction)
        return Fraction(fraction) * Fraction(2) ** (1 - self.bias - self.fraction)

    def to_f32(self, v):
        if v == 0x80:
            return NAN
        return F32.round(self.value(v & 127) * (-1 if v & 128 else 1))

    def overflow(self, negative, ovfl):
        return (0xff if negative else 0x7f) if ovfl else 0x80

    def nearest(self, v, ovfl):
        """Of a float's bits. Half of the step beyond the largest number still is rounded to it."""
        if F32.isnan(v):
            return 0x80
        negative = v >> 31
        if v & 0x7fffffff == F32.inf:
            return self.overflow(negative, ovfl)
        size = abs(float(F32.value(v)))
        top = self.values[127]
        if size >= top + (top - self.values[126]) / 2:
            return self.overflow(negative, ovfl)
        at = bisect.bisect_left(self.values, size)
        best = min(range(max(at - 1, 0), min(at + 1, 128)), key=lambda n: (abs(self.values[n] - size), n & 1))
        return best | 128 * negative if best else 0

    def stochastic(self, v, seed, ovfl):
        """The seed's upper bits are added to the float's fraction, as many as are cut off of a normal number."""
        if F32.isnan(v):
            return 0x80
        negative = v >> 31
        if v & 0x7fffffff == F32.inf:
            return self.overflow(negative, ovfl)
        lost = 23 - self.fraction
        if not v >> 23 & 255:
            return 0
        v = (v & 0x7fffffff) + (seed >> 32 - lost)
        if v >= F32.inf:
            return self.overflow(negative, ovfl)
        size = float(F32.value(v))
        if size >= self.values[127] + (self.values[127] - self.values[126]):
            return self.overflow(negative, ovfl)
        best = bisect.bisect_right(self.values, size) - 1
        return best | 128 * negative if best else 0

    def round(self, x):
        """A whole number that the format has."""
        n = self.values.index(float(abs(x)))
        return n | (128 if x < 0 else 0)


FP8, BF8 = Small(3, 8), Small(2, 16)


def exhaustive():
    """All 256 numbers of each format, four at a time; one of a pair under `clamp`."""
    for name, fmt in (("fp8", FP8), ("bf8", BF8)):
        for at, sel in ((0, ""), (0, " src0_sel:BYTE_0"), (1, " src0_sel:BYTE_1"), (2, " src0_sel:BYTE_2"),
                        (3, " src0_sel:BYTE_3")):
            for part in range(4):
                yield widen(f"v_cvt_f32_{name}{'_sdwa' if sel else '_e32'} v4, v10{sel}", fmt, part, at, 1, False)
        for at, sel in ((0, ""), (2, " src0_sel:WORD_1")):
            for part in range(4):
                yield widen(f"v_cvt_pk_f32_{name}{'_sdwa' if sel else '_e32'} v[4:5], v10{sel}", fmt, part, at, 2, False)
        yield widen(f"v_cvt_pk_f32_{name}_e64 v[4:5], v10 clamp", fmt, 1, 0, 2, True)


def widen(text, fmt, part, at, nr, clamp):
    def byte(l, n):
        return (part * 64 + l + n * 77) % 256

    def setup(st):
        for l in range(64):
            word = random.Random(l).getrandbits(32)
            for n in range(nr):
                word = word & ~(255 << 8 * (at + n)) | byte(l, n) << 8 * (at + n)
            st.vgpr[10][l] = word

    def expect(_before, st):
        for l in range(64):
            for n in range(nr):
                want, have = fmt.to_f32(byte(l, n)), st.vgpr[4 + n][l]
                if clamp:
                    want = 0 if want == NAN or want & F32.sign else min(want, 0x3f800000)
                if not (F32.isnan(have) if want == NAN else have == want):
                    return f"{byte(l, n):#x}: {have:#x}, not {want}"
        return None
    return t.Case(text, setup, expect)


def floats(fmt, rng):
    """Around each number of the format and the middle of two of them; overflows, infinities, NaN, denormals."""
    values = [0, F32.sign, 1, 0x7fffff, 0x800000, F32.inf, F32.inf | F32.sign, 0x7fc00000, F32.inf - 1,
              F32.inf - 1 | F32.sign]
    for n in range(127):
        a, b = fmt.values[n], fmt.values[n + 1]
        for x in (a, (a + b) / 2):
            v = F32.round(Fraction(x))
            values += [v, v + 1, max(v, 1) - 1 | F32.sign]
    top = F32.round(fmt.value(127))
    step = F32.round(fmt.value(127) + (fmt.value(127) - fmt.value(126)) / 2)
    values += [top, top + 1, step - 1, step, step | F32.sign, step + 1, F32.round(fmt.value(127) * 2)]
    rng.shuffle(values)
    return values


def narrow():
    for name, fmt in (("fp8", FP8), ("bf8", BF8)):
        for mode in (t.MODE, t.MODE | OVFL):
            rng = random.Random(name + str(mode))
            values = floats(fmt, rng)
            for first in range(0, len(values), 128):
                some = (values[first:first + 128] * 128)[:128]
                for high in (False, True):
                    yield packed(name, fmt, some, mode, high)
            for first in range(0, len(values), 64):
                for sel in range(4):
                    yield stochastic(name, fmt, (values[first:] * 64)[:64], mode, sel, rng)


def packed(name, fmt, values, mode, high):
    sel = " op_sel:[0,0,1]" if high else ""
    ovfl = mode & OVFL

    def setup(st):
        st.mode = mode
        for l in range(64):
            st.vgpr[10][l], st.vgpr[12][l] = values[2 * l], values[2 * l + 1]

    def expect(before, st):
        for l in range(64):
            new = fmt.nearest(values[2 * l], ovfl) | fmt.nearest(values[2 * l + 1], ovfl) << 8
            old = before.vgpr[4][l]
            want = old & 0xffff | new << 16 if high else old & 0xffff0000 | new
            if st.vgpr[4][l] != want:
                return f"{values[2 * l]:#x}, {values[2 * l + 1]:#x}: {st.vgpr[4][l]:#x}, not {want:#x}"
        return None
    return t.Case(f"v_cvt_pk_{name}_f32 v4, v10, v12{sel}", setup, expect)


def stochastic(name, fmt, values, mode, sel, rng):
    ovfl = mode & OVFL
    seeds = [rng.choice((0, 0xffffffff, 0x80000000, rng.getrandbits(32))) for _ in range(64)]

    def setup(st):
        st.mode = mode
        for l in range(64):
            st.vgpr[10][l], st.vgpr[12][l] = values[l], seeds[l]

    def expect(before, st):
        for l in range(64):
            at = 8 * sel
            want = before.vgpr[4][l] & ~(255 << at) | fmt.stochastic(values[l], seeds[l], ovfl) << at
            if st.vgpr[4][l] != want:
                return f"{values[l]:#x} with {seeds[l]:#x}: {st.vgpr[4][l]:#x}, not {want:#x}"
        return None
    tail = f" op_sel:[0,0,{sel & 1},{sel >> 1}]" if sel else ""
    return t.Case(f"v_cvt_sr_{name}_f32 v4, v10, v12{tail}", setup, expect)


# ---- other vector instructions ----

def operations():
    def fma(a, b, c):
        return m.fma(F32, a, b, c)
    yield Op("v_mov_b64", "u64", ["u64"], Plain(lambda a: a, 1), text="v_mov_b64_e32 v[4:5], v[10:11]")
    yield Op("v_lshl_add_u64", "u64", ["u64", "u32", "u64"],
             Plain(lambda a, b, c: (a << (b & 7)) + c & (1 << 64) - 1, 3),
             text="v_lshl_add_u64 v[4:5], v[10:11], v12, v[14:15]")
    yield Op("v_fmamk_f32", "f32", ["f32", "f32"], lambda a, b: fma(a, 0x3fc00000, b),
             text="v_fmamk_f32 v4, v10, 0x3fc00000, v12")
    yield Op("v_fmaak_f32", "f32", ["f32", "f32"], lambda a, b: fma(a, b, 0xc0200000),
             text="v_fmaak_f32 v4, v10, v12, 0xc0200000")


def valu():
    for op in operations():
        for seed, mask in enumerate(t.EXECS):
            yield t.valu_case(op, mask, seed)
        if "f32" in op.sources:
            yield t.valu_case(op, t.EXECS[1], 3, t.MODE & ~0xf0)
    yield from exhaustive()
    yield from narrow()
    for text, want in (("v_mov_b64_e32 v[4:5], 1.0", 0x3ff0000000000000), ("v_mov_b64_e32 v[4:5], -3", (1 << 64) - 3),
                       ("v_mov_b64_e32 v[4:5], 0x12345678", 0x12345678)):
        def expect(_before, st, want=want):
            return None if t.row64(st, 4, 9) == want else f"{t.row64(st, 4, 9):#x}"
        yield t.Case(text, lambda st: None, expect)


# ---- matrices ----

MATRICES = {
    "f32_16x16x8_xf32": (F32, 16, 8, 1, 2), "f32_32x32x4_xf32": (F32, 32, 4, 1, 2),
    "f32_32x32x1_2b_f32": (F32, 32, 1, 2, 1), "f32_16x16x1_4b_f32": (F32, 16, 1, 4, 1),
    "f32_4x4x1_16b_f32": (F32, 4, 1, 16, 1), "f32_32x32x2_f32": (F32, 32, 2, 1, 1), "f32_16x16x4_f32": (F32, 16, 4, 1, 1),
    "f32_32x32x4_2b_f16": (F16, 32, 4, 2, 4), "f32_16x16x4_4b_f16": (F16, 16, 4, 4, 4),
    "f32_4x4x4_16b_f16": (F16, 4, 4, 16, 4), "f32_32x32x8_f16": (F16, 32, 8, 1, 4), "f32_16x16x16_f16": (F16, 16, 16, 1, 4),
    "i32_32x32x4_2b_i8": (I8, 32, 4, 2, 4), "i32_16x16x4_4b_i8": (I8, 16, 4, 4, 4), "i32_4x4x4_16b_i8": (I8, 4, 4, 16, 4),
    "i32_32x32x16_i8": (I8, 32, 16, 1, 8), "i32_16x16x32_i8": (I8, 16, 32, 1, 8),
    "f32_32x32x4_2b_bf16": (BF16, 32, 4, 2, 4), "f32_16x16x4_4b_bf16": (BF16, 16, 4, 4, 4),
    "f32_4x4x4_16b_bf16": (BF16, 4, 4, 16, 4), "f32_32x32x8_bf16": (BF16, 32, 8, 1, 4),
    "f32_16x16x16_bf16": (BF16, 16, 16, 1, 4),
    "f64_16x16x4_f64": (m.F64, 16, 4, 1, 1), "f64_4x4x4_4b_f64": (m.F64, 4, 4, 4, 1),
}
SMALL = {"fp8": FP8, "bf8": BF8}
# name: rows, k; A has half of the columns
SPARSE = {"f32_16x16x32_f16": (F16, F16, 16, 32), "f32_32x32x16_f16": (F16, F16, 32, 16),
          "f32_16x16x32_bf16": (BF16, BF16, 16, 32), "f32_32x32x16_bf16": (BF16, BF16, 32, 16),
          "i32_16x16x64_i8": (I8, I8, 16, 64), "i32_32x32x32_i8": (I8, I8, 32, 32)}
for _a in SMALL:
    for _b in SMALL:
        SPARSE[f"f32_16x16x64_{_a}_{_b}"] = (SMALL[_a], SMALL[_b], 16, 64)
        SPARSE[f"f32_32x32x32_{_a}_{_b}"] = (SMALL[_a], SMALL[_b], 32, 32)


def put_elements(st, reg, lane, kind, values):
    width = 8 if kind is I8 else kind.bits
    word = 0
    for n, v in enumerate(values):
        word |= (v & 255 if kind is I8 else kind.round(Fraction(v))) << n * width
    for n in range(len(values) * width // 32):
        st.vgpr[reg + n][lane] = word >> 32 * n & 0xffffffff


def check_out(st, size, kind, at, want):
    """Element n of a lane's D, 16 or 32 rows, one block."""
    for lane in range(64):
        for n in range(size * size // 64):
            _, row, column = inst_gfx90a.lane_row_column((kind, size, 0, 1, 0), lane, n)
            value = want(row, column)
            pattern = value & 0xffffffff if kind is I8 else F32.round(Fraction(value))
            if st.vgpr[at + n][lane] != pattern:
                return f"row {row}, column {column}: {st.vgpr[at + n][lane]:#x}, not {value}"
    return None


def small_matrix(a_name, b_name, size, k):
    """FP8 and BF8: 8 elements in a lane."""
    a_kind, b_kind = SMALL[a_name], SMALL[b_name]
    nr = size * size // 64
    rng = random.Random(f"{a_name} {b_name} {size}")
    # whole numbers and halves that both have
    values = [[[Fraction(rng.randrange(-7, 8), 2) for _ in range(8)] for _ in range(64)] for _ in range(2)]

    def setup(st):
        for lane in range(64):
            put_elements(st, 16, lane, a_kind, values[0][lane])
            put_elements(st, 20, lane, b_kind, values[1][lane])
            for n in range(nr):
                st.vgpr[256 + 24 + n][lane] = F32.round(Fraction(lane - n))

    def expect(_before, st):
        if st.status:
            return f"status {st.status}"
        start = {}
        for lane in range(64):
            for n in range(nr):
                _, row, column = inst_gfx90a.lane_row_column((F32, size, 0, 1, 0), lane, n)
                start[row, column] = lane - n

        def want(row, column):
            return start[row, column] + sum(values[0][x // 8 * size + row][x % 8] * values[1][x // 8 * size + column][x % 8]
                                            for x in range(k))
        return check_out(st, size, F32, 256 + 24, want)
    out = f"a[24:{23 + nr}]"
    return t.Case(f"v_mfma_f32_{size}x{size}x{k}_{a_name}_{b_name} {out}, v[16:17], v[20:21], {out}", setup, expect)


def sparse_case(name, cbsz=0, abid=0):
    a_kind, b_kind, size, k = SPARSE[name]
    per = 4 if a_kind in (F16, BF16) else 8
    halves, groups, nr = per // 4, 64 // size, size * size // 64
    rng = random.Random(name + str((cbsz, abid)))
    a = {(row, x): rng.randrange(-6, 7) for row in range(size) for x in range(k // 2)}
    b = {(x, column): rng.randrange(-6, 7) for column in range(size) for x in range(k)}
    # of each four columns two, the first before the second
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    which = {(row, four): rng.choice(pairs) for row in range(size) for four in range(k // 4)}
    first = 0 if cbsz else (abid % 4 * 8 if per == 4 else abid % 2 * 16)

    def fours_of(lane):
        """The fours of columns whose two elements of A this lane has, in the order of the lane's elements."""
        group = lane // size
        return [half * (k // 4 // halves) + group * 2 + n for half in range(halves) for n in range(2)]

    def setup(st):
        for lane in range(64):
            row = lane % size
            fours = fours_of(lane)
            put_elements(st, 16, lane, a_kind, [a[row, 2 * four + n] for four in fours for n in range(2)])
            put_elements(st, 20, lane, b_kind, [b[4 * four + n, row] for four in fours for n in range(4)])
            index = random.Random(lane).getrandbits(32) & ~((1 << 2 * per) - 1 << first)
            for at, four in enumerate(fours):
                index |= (which[row, four][0] | which[row, four][1] << 2) << first + 4 * at
            st.vgpr[30][lane] = index
            for n in range(nr):
                _, row, column = inst_gfx90a.lane_row_column((F32, size, 0, 1, 0), lane, n)
                v = row - 2 * column
                st.vgpr[256 + 32 + n][lane] = v & 0xffffffff if a_kind is I8 else F32.round(Fraction(v))

    def expect(_before, st):
        if st.status:
            return f"status {st.status}"

        def want(row, column):
            return row - 2 * column + sum(a[row, 2 * four + n] * b[4 * four + which[row, four][n], column]
                                          for four in range(k // 4) for n in range(2))
        return check_out(st, size, a_kind if a_kind is I8 else F32, 256 + 32, want)
    tail = f" cbsz:{cbsz}" * bool(cbsz) + f" abid:{abid}" * bool(abid)
    return t.Case(f"v_smfmac_{name} a[32:{31 + nr}], v[16:17], v[20:23], v30{tail}", setup, expect)


def matrices():
    g = inst_gfx90a
    for name, shape in MATRICES.items():
        yield g.matrix_case(name, shape)
        yield g.matrix_case(name, shape, files="avv", constant="2.0" if shape[0] is not I8 else "2")
        if shape[3] > 1 and shape[0] is not m.F64:
            yield g.matrix_case(name, shape, cbsz=1, abid=1, blgp=1 + len(name) % 7)
    for a_name in SMALL:
        for b_name in SMALL:
            yield small_matrix(a_name, b_name, 16, 32)
            yield small_matrix(a_name, b_name, 32, 16)
    for name in SPARSE:
        yield sparse_case(name)
        yield sparse_case(name, abid=1)
        yield sparse_case(name, cbsz=1, abid=1)
    yield sparse_case("f32_16x16x32_f16", abid=3)
    one = 0x3f800000
    f16, bf16, f32 = MATRICES["f32_16x16x16_f16"], MATRICES["f32_16x16x16_bf16"], MATRICES["f32_16x16x4_f32"]
    # denormals are kept, but for single precision where MODE says so
    yield g.special_matrix("f32_16x16x16_f16", f16, 0x0001, 0x3c00, 0, F32.round(Fraction(16, 1 << 24)))
    yield g.special_matrix("f32_16x16x16_bf16", bf16, 0x0001, 0x3f80, 0, 16 << 16)
    yield g.special_matrix("f32_16x16x16_f16", f16, 0, 0x3c00, 5, 5)
    yield g.special_matrix("f32_16x16x4_f32", f32, 1, one, 0, 4)
    flushed = g.special_matrix("f32_16x16x4_f32", f32, 1, one, 7, 7)
    prepare = flushed.setup

    def without(st):
        prepare(st)
        st.mode = t.MODE & ~0xf0
    flushed.setup = without
    yield flushed
    # 10 bits of fraction, to the nearest, ties to even: 1 + 2^-11 is 1, 1 + 3 * 2^-11 is 1 + 2^-9, 2^-11 more is 1 + 2^-10
    xf32 = MATRICES["f32_16x16x8_xf32"]
    for low, want in ((0x1000, one), (0x3000, one + 0x4000), (0x1001, one + 0x2000)):
        yield g.special_matrix("f32_16x16x8_xf32", xf32, one + low, one, 0,
                               F32.round(8 * F32.value(want)))
    yield g.special_matrix("f32_16x16x8_xf32", xf32, F32.inf, one, 0, F32.inf)


# ---- memory ----

def add_bf16(old, a, b, n):
    r = 0
    for at in (0, 16):
        v = m.add(BF16, old >> at & 0xffff, a >> at & 0xffff)
        r |= v << at
    return r


def memory():
    im = inst_memory
    yield im.atomic_case("global_atomic_pk_add_bf16 v4, v[20:21], v8, off sc0", add_bf16, 1, True, 1, im.flat_addr,
                         im.lane_at(0))
    yield im.atomic_case("flat_atomic_pk_add_bf16 v[20:21], v8", add_bf16, 1, False, 1, im.flat_addr, im.lane_at(0))
    yield im.atomic_case("flat_atomic_pk_add_f16 v4, v[20:21], v8 sc0 sc1", inst_gfx90a.add_f16, 1, True, 1, im.flat_addr,
                         im.lane_at(0))
    yield im.atomic_case("flat_atomic_add_f32 v[20:21], v8 nt", lambda old, a, b, n: m.add(F32, old, a), 1, False, 1,
                         im.flat_addr, im.lane_at(0))
    for text in ("buffer_wbl2 sc0 sc1", "buffer_inv sc1", "buffer_inv sc0 sc1"):
        yield t.Case(text, lambda st: None, lambda _, st: None if not st.status else "stopped")
    yield from packed_lds()
    yield from to_lds()
    yield from scratch()
    yield t.Case("s_getreg_b32 s5, hwreg(HW_REG_XCC_ID)", lambda st: None,
                 lambda _, st: None if not st.status and st.sgpr[5] == 0 else f"{st.sgpr[5]}")


def packed_lds():
    for name, add, one in (("f16", inst_gfx90a.add_f16, 0x3c00), ("bf16", add_bf16, 0x3f80)):
        for rtn in ("", "_rtn"):
            def setup(st, one=one):
                st.lds_size = 4096
                for l in range(64):
                    st.vgpr[20][l] = 4 * (l % 24)
                    st.vgpr[8][l] = one | (one + l) << 16
                for n in range(24):
                    st.lds[4 * n:4 * n + 4] = list((one | (one + 9 * n) << 16).to_bytes(4, "little"))

            def expect(before, st, rtn=rtn, add=add, one=one):
                values = [one | (one + 9 * n) << 16 for n in range(24)]
                for l in range(64):
                    old, values[l % 24] = values[l % 24], add(values[l % 24], before.vgpr[8][l], 0, 0)
                    if rtn and st.vgpr[4][l] != old:
                        return f"lane {l}: {st.vgpr[4][l]:#x}, not {old:#x}"
                have = [int.from_bytes(bytes(st.lds[4 * n:4 * n + 4]), "little") for n in range(24)]
                return None if have == values else "memory"
            yield t.Case(f"ds_pk_add{rtn}_{name} {'v4, ' if rtn else ''}v20, v8", setup, expect)


def to_lds():
    """A dword for each lane, one after the other, from M0 and the offset on; the offset counts on both sides."""
    im = inst_memory
    for name, size, signed in (("ubyte", 1, False), ("sbyte", 1, True), ("ushort", 2, False), ("sshort", 2, True),
                               ("dword", 4, False)):
        def setup(st):
            im.distinct(st)
            st.lds_size = 8192
            st.sgpr[t.M0] = 1024

        def expect(before, st, size=size, signed=signed):
            if st.status:
                return f"status {st.status}"
            data = im.now()
            for l in im.LANES:
                at = im.lane_at(16)(before, l)
                want = int.from_bytes(data[at:at + size], "little", signed=signed) & 0xffffffff
                have = int.from_bytes(bytes(st.lds[1040 + 4 * l:1044 + 4 * l]), "little")
                if have != want:
                    return f"lane {l}: {have:#x}, not {want:#x}"
            return None if bytes(st.vgpr[0]) == bytes(before.vgpr[0]) else "a register, too"
        yield t.Case(f"global_load_lds_{name} v[20:21], off offset:16", im.with_memory(3, setup), expect)

        def buffer(st):
            st.sgpr[8], st.sgpr[9], st.sgpr[10], st.sgpr[11] = im.BASE & 0xffffffff, im.BASE >> 32, im.SIZE, 0
            st.lds_size = 8192
            st.sgpr[t.M0] = 1024
            for l in range(64):
                st.vgpr[20][l] = 64 * l

        def loaded(before, st, size=size, signed=signed):
            data = im.now()
            for l in im.LANES:
                at = before.vgpr[20][l] + 16
                want = int.from_bytes(data[at:at + size], "little", signed=signed) & 0xffffffff
                have = int.from_bytes(bytes(st.lds[1040 + 4 * l:1044 + 4 * l]), "little")
                if st.status or have != want:
                    return f"status {st.status}, lane {l}: {have:#x}, not {want:#x}"
            return None
        yield t.Case(f"buffer_load_{name} v20, s[8:11], 0 offen offset:16 lds", im.with_memory(3, buffer), loaded)


def scratch():
    """A vector register, a scalar one, both or none."""
    im = inst_memory
    for address, vector, scalar in (("v20, s7", 1, 1), ("v20, off", 1, 0), ("off, s7", 0, 1), ("off, off", 0, 0)):
        def setup(st):
            st.sgpr[102], st.sgpr[103] = im.BASE & 0xffffffff, im.BASE >> 32
            st.sgpr[7] = 8
            for l in range(64):
                st.vgpr[20][l] = 4 * (l % 5)

        def expect(before, st, vector=vector, scalar=scalar):
            if st.status:
                return f"status {st.status}"
            data = im.now()
            for l in im.LANES:
                offset = 4 + vector * before.vgpr[20][l] + 8 * scalar
                at = offset // 4 * 256 + l * 4
                want = int.from_bytes(data[at:at + 4], "little")
                if st.vgpr[4][l] != want:
                    return f"lane {l}: {st.vgpr[4][l]:#x}, not {want:#x}"
            return None
        yield t.Case(f"scratch_load_dword v4, {address} offset:4 sc0", im.with_memory(3, setup), expect)


def gone():
    """What gfx90a has and gfx942 has not: v_mac_f32, v_mad_f32, v_mad_legacy_f32, an image, a matrix of another opcode."""
    def expect(_before, st):
        return None if st.status == 3 else f"status {st.status}"
    for name, code in (("v_mac_f32", [0x2c081d0c]), ("v_mad_f32", [0xd1c10004, 0x043a190a]),
                       ("v_mad_legacy_f32", [0xd1c00004, 0x043a190a]), ("image_load", [0xf0000f00, 0x00020408]),
                       ("v_mfma_i32_16x16x16i8", [0xd3d50020, 0x04821104])):
        case = t.Case(name, lambda st: None, expect)
        case.code = code
        yield case


def families(module):
    global t
    t = inst_gfx90a.t = module
    table = {"valu942": valu, "matrices942": matrices, "memory942": memory, "gone": gone}
    return {name: (lambda fn=fn: list(fn())) for name, fn in table.items()}
