# SPDX-License-Identifier: MIT
"""inst_valu.py - models of the vector instructions, lane by lane: the table of inst_test.py"""
import math
from fractions import Fraction

import inst_model as m
from inst_model import F16, F32, F64, NAN, s

FLOATS = {"f16": F16, "f32": F32, "f64": F64}

# have no effect that is visible in one instruction; barriers of the grid are in threads_test.cpp
NO_CASE = {"v_nop", "v_clrexcp", "ds_gws_init", "ds_gws_barrier"}


class Op:
    """text: the instruction with its operands; model(op, sources, carry, lane, mode) gives the result."""

    def __init__(self, name, result, sources, fn, **how):
        self.name, self.result, self.sources, self.fn = name, result, sources, fn
        self.accumulates = how.get("accumulates", False)
        self.keeps_high = how.get("keeps_high", False)
        self.writes_mask = how.get("writes_mask", False)
        self.mask_in_vcc = how.get("mask_in_vcc", False)
        self.no_denorm = how.get("no_denorm", False)
        self.modes = how.get("modes", True)
        self.related = how.get("related", True)
        self.of_gfx90a = False
        self.text = how["text"]

    def model(self, _op, values, carry, lane, mode):
        values = [self.flush_in(k, v, mode) for k, v in zip(self.sources, values)]
        r = self.fn(*values, *([carry] if "carry" in self.wants() else []), *([lane] if "lane" in self.wants() else []),
                    *([bool(mode & 0x200)] if "ieee" in self.wants() else []))
        if self.writes_mask and self.result:
            return self.flush_out(r[0], mode), r[1]
        return self.flush_out(r, mode)

    def wants(self):
        return self.fn.__code__.co_varnames[:self.fn.__code__.co_argcount]

    def flush_in(self, kind, v, mode):
        keep = mode & (0x10 if kind == "f32" else 0x40) and not (self.no_denorm and kind == "f32")
        return v if kind not in FLOATS or keep else FLOATS[kind].flush(v)

    def flush_out(self, v, mode):
        keep = mode & (0x20 if self.result == "f32" else 0x80) and not (self.no_denorm and self.result == "f32")
        return v if self.result not in FLOATS or keep or v == NAN or callable(v) else FLOATS[self.result].flush(v)


def near(fmt, fn, slack):
    """Compares with the host's function in double precision; slack in ULP."""
    def model(*values):
        try:
            want = fn(*[m.as_float(fmt, v) for v in values])
        except (ValueError, OverflowError):
            want = math.nan
        if math.isnan(want):
            return NAN
        if math.isinf(want):
            return fmt.inf | (fmt.sign if want < 0 else 0)
        exact = fmt.round(Fraction(want), math.copysign(1, want) < 0)

        def check(have):
            # a mode may make denormals zeros
            if fmt.isdenorm(exact) and fmt.iszero(have):
                return True
            a, b = (-(v & ~fmt.sign) if v & fmt.sign else v for v in (have, exact))
            return abs(a - b) <= slack
        return check
    return model


def turns(fn, x, step, first=0.0):
    """Sine or cosine of x turns; its zeros, every `step` from `first` on, are exact."""
    part = math.remainder(x, 1)
    return 0.0 if not (part - first) % step else fn(2 * math.pi * part)


def rcp(x):
    return math.copysign(math.inf, x) if x == 0 else 1 / x


def rsq(x):
    return math.copysign(math.inf, x) if x == 0 else 1 / math.sqrt(x)


def log2(x):
    return -math.inf if x == 0 else math.log2(x)


def exp2(x):
    return math.inf if x >= 1024 else 0.0 if x < -2000 else math.pow(2.0, x)


def bits(v, n=32):
    return v & ((1 << n) - 1)


def clz(v, n=32):
    return bits(-1) if not v else n - v.bit_length()


def sad8(a, b, masked=False):
    return sum(abs((a >> n & 255) - (b >> n & 255)) for n in (0, 8, 16, 24) if not masked or b >> n & 255)


def qsad(a, b, c, masked=False):
    return sum(bits(sad8(bits(a >> 8 * n), b, masked) + (c >> 16 * n & 0xffff), 16) << 16 * n for n in range(4))


def perm(a, b, sel):
    v = a << 32 | b

    def byte(x):
        if x < 8:
            return v >> 8 * x & 255
        if x < 12:
            return 255 * (v >> (16 * (x - 8) + 15) & 1)
        return 0 if x == 12 else 255
    return sum(byte(sel >> 8 * n & 255) << 8 * n for n in range(4))


def norm16(fmt, v, scale, lo):
    if fmt.isnan(v):
        return 0
    f = Fraction(lo) if fmt.isinf(v) and v & fmt.sign else Fraction(1) if fmt.isinf(v) else fmt.value(v)
    # the product is rounded to single precision before it is made a whole number
    product = F32.value(F32.round(min(max(f, lo), 1) * scale))
    return bits(m.half_even(product), 16)


def mid(a, b, c):
    return sorted((a, b, c))[1]


def med3(fmt, a, b, c, ieee):
    if any(fmt.isnan(v) for v in (a, b, c)):
        r = m.minmax(fmt, a, b, True, ieee)
        return m.minmax(fmt, 0x7fc00000 if r == NAN and fmt is F32 else 0x7e00 if r == NAN else r, c, True, ieee)
    r = m.minmax(fmt, a, b, False)
    return m.minmax(fmt, m.minmax(fmt, a, b, True), m.minmax(fmt, r, c, True), False)


def pick3(fmt, a, b, c, low, ieee):
    r = m.minmax(fmt, a, b, low, ieee)
    if r == NAN:
        r = 0x7fc00000 if fmt is F32 else 0x7e00
    return m.minmax(fmt, r, c, low, ieee)


def fma16(a, b, c):
    return m.fma(F16, a, b, c)


def two(fn):
    """A function of 16-bit halves on pairs of them."""
    def model(*values):
        lo = fn(*[bits(v, 16) for v in values])
        hi = fn(*[v >> 16 for v in values])
        def check(have):
            return all(F16.isnan(h) if w == NAN else h == bits(w, 16)
                       for h, w in ((bits(have, 16), lo), (have >> 16, hi)))
        return check
    return model


def to_u8(v):
    return m.to_int(F32, v, 0, 255, m.half_even)


OPS2 = {
    "v_add_f32": ("f32", "f32 f32", lambda a, b: m.add(F32, a, b)),
    "v_sub_f32": ("f32", "f32 f32", lambda a, b: m.add(F32, a, m.neg(F32, b))),
    "v_subrev_f32": ("f32", "f32 f32", lambda a, b: m.add(F32, b, m.neg(F32, a))),
    "v_mul_legacy_f32": ("f32", "f32 f32", lambda a, b: 0 if F32.iszero(a) or F32.iszero(b) else m.mul(F32, a, b)),
    "v_mul_f32": ("f32", "f32 f32", lambda a, b: m.mul(F32, a, b)),
    "v_mul_i32_i24": ("u32", "u32 u32", lambda a, b: bits(s(a, 24) * s(b, 24))),
    "v_mul_hi_i32_i24": ("u32", "u32 u32", lambda a, b: bits(s(a, 24) * s(b, 24) >> 32)),
    "v_mul_u32_u24": ("u32", "u32 u32", lambda a, b: bits(bits(a, 24) * bits(b, 24))),
    "v_mul_hi_u32_u24": ("u32", "u32 u32", lambda a, b: bits(a, 24) * bits(b, 24) >> 32),
    "v_min_f32": ("f32", "f32 f32", lambda a, b, ieee: m.minmax(F32, a, b, True, ieee)),
    "v_max_f32": ("f32", "f32 f32", lambda a, b, ieee: m.minmax(F32, a, b, False, ieee)),
    "v_min_i32": ("i32", "i32 i32", lambda a, b: bits(min(s(a, 32), s(b, 32)))),
    "v_max_i32": ("i32", "i32 i32", lambda a, b: bits(max(s(a, 32), s(b, 32)))),
    "v_min_u32": ("u32", "u32 u32", min),
    "v_max_u32": ("u32", "u32 u32", max),
    "v_lshrrev_b32": ("u32", "u32 u32", lambda a, b: b >> a % 32),
    "v_ashrrev_i32": ("u32", "u32 u32", lambda a, b: bits(s(b, 32) >> a % 32)),
    "v_lshlrev_b32": ("u32", "u32 u32", lambda a, b: bits(b << a % 32)),
    "v_and_b32": ("u32", "u32 u32", lambda a, b: a & b),
    "v_or_b32": ("u32", "u32 u32", lambda a, b: a | b),
    "v_xor_b32": ("u32", "u32 u32", lambda a, b: a ^ b),
    "v_add_f16": ("f16", "f16 f16", lambda a, b: m.add(F16, a, b)),
    "v_sub_f16": ("f16", "f16 f16", lambda a, b: m.add(F16, a, m.neg(F16, b))),
    "v_subrev_f16": ("f16", "f16 f16", lambda a, b: m.add(F16, b, m.neg(F16, a))),
    "v_mul_f16": ("f16", "f16 f16", lambda a, b: m.mul(F16, a, b)),
    "v_add_u16": ("u16", "u16 u16", lambda a, b: bits(a + b, 16)),
    "v_sub_u16": ("u16", "u16 u16", lambda a, b: bits(a - b, 16)),
    "v_subrev_u16": ("u16", "u16 u16", lambda a, b: bits(b - a, 16)),
    "v_mul_lo_u16": ("u16", "u16 u16", lambda a, b: bits(a * b, 16)),
    "v_lshlrev_b16": ("u16", "u16 u16", lambda a, b: bits(b << a % 16, 16)),
    "v_lshrrev_b16": ("u16", "u16 u16", lambda a, b: b >> a % 16),
    "v_ashrrev_i16": ("u16", "u16 u16", lambda a, b: bits(s(b, 16) >> a % 16, 16)),
    "v_max_f16": ("f16", "f16 f16", lambda a, b, ieee: m.minmax(F16, a, b, False, ieee)),
    "v_min_f16": ("f16", "f16 f16", lambda a, b, ieee: m.minmax(F16, a, b, True, ieee)),
    "v_max_u16": ("u16", "u16 u16", max),
    "v_max_i16": ("u16", "u16 u16", lambda a, b: bits(max(s(a, 16), s(b, 16)), 16)),
    "v_min_u16": ("u16", "u16 u16", min),
    "v_min_i16": ("u16", "u16 u16", lambda a, b: bits(min(s(a, 16), s(b, 16)), 16)),
    "v_ldexp_f16": ("f16", "f16 i16", lambda a, b: m.ldexp(F16, a, s(b, 16))),
    "v_add_u32": ("u32", "u32 u32", lambda a, b: bits(a + b)),
    "v_sub_u32": ("u32", "u32 u32", lambda a, b: bits(a - b)),
    "v_subrev_u32": ("u32", "u32 u32", lambda a, b: bits(b - a)),
}

OPS1 = {
    "v_mov_b32": ("u32", "u32", lambda a: a),
    "v_not_b32": ("u32", "u32", lambda a: bits(~a)),
    "v_bfrev_b32": ("u32", "u32", lambda a: int(f"{a:032b}"[::-1], 2)),
    "v_ffbh_u32": ("u32", "u32", clz),
    "v_ffbl_b32": ("u32", "u32", lambda a: bits(-1) if not a else (a & -a).bit_length() - 1),
    "v_ffbh_i32": ("u32", "u32", lambda a: clz(bits(a ^ -(a >> 31)))),
    "v_sat_pk_u8_i16": ("u32", "u32", lambda a: min(max(s(a, 16), 0), 255) | min(max(s(a >> 16, 16), 0), 255) << 8),
    "v_cvt_f32_i32": ("f32", "i32", lambda a: F32.round(Fraction(s(a, 32)))),
    "v_cvt_f32_u32": ("f32", "u32", lambda a: F32.round(Fraction(a))),
    "v_cvt_u32_f32": ("u32", "f32", lambda a: m.to_int(F32, a, 0, 2**32 - 1)),
    "v_cvt_i32_f32": ("u32", "f32", lambda a: bits(m.to_int(F32, a, -2**31, 2**31 - 1))),
    "v_cvt_f32_f16": ("f32", "f16", lambda a: m.convert(F32, F16, a)),
    "v_cvt_f16_f32": ("f16", "f32", lambda a: m.convert(F16, F32, a)),
    "v_cvt_rpi_i32_f32": ("u32", "f32", lambda a: bits(m.to_int(F32, a, -2**31, 2**31 - 1,
                                                               lambda f: math.floor(f + Fraction(1, 2))))),
    "v_cvt_flr_i32_f32": ("u32", "f32", lambda a: bits(m.to_int(F32, a, -2**31, 2**31 - 1, math.floor))),
    "v_cvt_off_f32_i4": ("f32", "u32", lambda a: F32.round(Fraction(s(a, 4), 16))),
    "v_cvt_f32_f64": ("f32", "f64", lambda a: m.convert(F32, F64, a)),
    "v_cvt_f64_f32": ("f64", "f32", lambda a: m.convert(F64, F32, a)),
    "v_cvt_f32_ubyte0": ("f32", "u32", lambda a: F32.round(Fraction(a & 255))),
    "v_cvt_f32_ubyte1": ("f32", "u32", lambda a: F32.round(Fraction(a >> 8 & 255))),
    "v_cvt_f32_ubyte2": ("f32", "u32", lambda a: F32.round(Fraction(a >> 16 & 255))),
    "v_cvt_f32_ubyte3": ("f32", "u32", lambda a: F32.round(Fraction(a >> 24))),
    "v_cvt_i32_f64": ("u32", "f64", lambda a: bits(m.to_int(F64, a, -2**31, 2**31 - 1))),
    "v_cvt_u32_f64": ("u32", "f64", lambda a: m.to_int(F64, a, 0, 2**32 - 1)),
    "v_cvt_f64_i32": ("f64", "u32", lambda a: F64.round(Fraction(s(a, 32)))),
    "v_cvt_f64_u32": ("f64", "u32", lambda a: F64.round(Fraction(a))),
    "v_cvt_f16_u16": ("f16", "u16", lambda a: F16.round(Fraction(a))),
    "v_cvt_f16_i16": ("f16", "u16", lambda a: F16.round(Fraction(s(a, 16)))),
    "v_cvt_u16_f16": ("u16", "f16", lambda a: m.to_int(F16, a, 0, 65535)),
    "v_cvt_i16_f16": ("u16", "f16", lambda a: bits(m.to_int(F16, a, -32768, 32767), 16)),
    "v_cvt_norm_i16_f16": ("u16", "f16", lambda a: norm16(F16, a, 32767, -1)),
    "v_cvt_norm_u16_f16": ("u16", "f16", lambda a: norm16(F16, a, 65535, 0)),
}
for _t, _f in FLOATS.items():
    OPS1.update({
        f"v_fract_{_t}": (_t, _t, lambda a, f=_f: m.fract(f, a)),
        f"v_trunc_{_t}": (_t, _t, lambda a, f=_f: m.integral(f, a, math.trunc)),
        f"v_ceil_{_t}": (_t, _t, lambda a, f=_f: m.integral(f, a, math.ceil)),
        f"v_rndne_{_t}": (_t, _t, lambda a, f=_f: m.integral(f, a, m.half_even)),
        f"v_floor_{_t}": (_t, _t, lambda a, f=_f: m.integral(f, a, math.floor)),
        f"v_frexp_mant_{_t}": (_t, _t, lambda a, f=_f: m.frexp_mant(f, a)),
        f"v_rcp_{_t}": (_t, _t, near(_f, rcp, 1)),
        f"v_rsq_{_t}": (_t, _t, near(_f, rsq, 1)),
        f"v_sqrt_{_t}": (_t, _t, near(_f, math.sqrt, 1)),
    })
for _t in ("f16", "f32"):
    _f = FLOATS[_t]
    OPS1.update({
        f"v_exp_{_t}": (_t, _t, near(_f, exp2, 1)),
        f"v_log_{_t}": (_t, _t, near(_f, log2, 1)),
        f"v_sin_{_t}": (_t, _t, near(_f, lambda x: turns(math.sin, x, 0.5), 1)),
        f"v_cos_{_t}": (_t, _t, near(_f, lambda x: turns(math.cos, x, 0.5, 0.25), 1)),
    })
OPS1["v_exp_legacy_f32"] = OPS1["v_exp_f32"]
OPS1["v_log_legacy_f32"] = OPS1["v_log_f32"]
OPS1["v_rcp_iflag_f32"] = OPS1["v_rcp_f32"]
OPS1["v_frexp_exp_i32_f32"] = ("u32", "f32", lambda a: bits(m.frexp_exp(F32, a)))
OPS1["v_frexp_exp_i32_f64"] = ("u32", "f64", lambda a: bits(m.frexp_exp(F64, a)))
OPS1["v_frexp_exp_i16_f16"] = ("u16", "f16", lambda a: bits(m.frexp_exp(F16, a), 16))

OPS3 = {
    "v_mad_i32_i24": ("u32", "u32 u32 u32", lambda a, b, c: bits(s(a, 24) * s(b, 24) + c)),
    "v_mad_u32_u24": ("u32", "u32 u32 u32", lambda a, b, c: bits(bits(a, 24) * bits(b, 24) + c)),
    "v_bfe_u32": ("u32", "u32 u32 u32", lambda a, b, c: a >> b % 32 & ((1 << c % 32) - 1)),
    "v_bfe_i32": ("u32", "u32 u32 u32",
                  lambda a, b, c: bits(s(s(a, 32) >> b % 32, c % 32)) if c % 32 else 0),
    "v_bfi_b32": ("u32", "u32 u32 u32", lambda a, b, c: (a & b) | (c & bits(~a))),
    "v_lerp_u8": ("u32", "u32 u32 u32", lambda a, b, c: sum(
        ((a >> n & 255) + (b >> n & 255) + (c >> n & 1)) // 2 << n for n in (0, 8, 16, 24))),
    "v_alignbit_b32": ("u32", "u32 u32 u32", lambda a, b, c: bits((a << 32 | b) >> c % 32)),
    "v_alignbyte_b32": ("u32", "u32 u32 u32", lambda a, b, c: bits((a << 32 | b) >> 8 * (c % 4))),
    "v_min3_i32": ("u32", "u32 u32 u32", lambda a, b, c: bits(min(s(a, 32), s(b, 32), s(c, 32)))),
    "v_max3_i32": ("u32", "u32 u32 u32", lambda a, b, c: bits(max(s(a, 32), s(b, 32), s(c, 32)))),
    "v_med3_i32": ("u32", "u32 u32 u32", lambda a, b, c: bits(mid(s(a, 32), s(b, 32), s(c, 32)))),
    "v_min3_u32": ("u32", "u32 u32 u32", min),
    "v_max3_u32": ("u32", "u32 u32 u32", max),
    "v_med3_u32": ("u32", "u32 u32 u32", mid),
    "v_sad_u8": ("u32", "u32 u32 u32", lambda a, b, c: bits(sad8(a, b) + c)),
    "v_sad_hi_u8": ("u32", "u32 u32 u32", lambda a, b, c: bits((sad8(a, b) << 16) + c)),
    "v_sad_u16": ("u32", "u32 u32 u32",
                  lambda a, b, c: bits(abs(bits(a, 16) - bits(b, 16)) + abs((a >> 16) - (b >> 16)) + c)),
    "v_sad_u32": ("u32", "u32 u32 u32", lambda a, b, c: bits(abs(a - b) + c)),
    "v_msad_u8": ("u32", "u32 u32 u32", lambda a, b, c: bits(sad8(a, b, True) + c)),
    "v_qsad_pk_u16_u8": ("u64", "u64 u32 u64", qsad),
    "v_mqsad_pk_u16_u8": ("u64", "u64 u32 u64", lambda a, b, c: qsad(a, b, c, True)),
    "v_mad_legacy_u16": ("u16", "u16 u16 u16", lambda a, b, c: bits(a * b + c, 16)),
    "v_mad_legacy_i16": ("u16", "u16 u16 u16", lambda a, b, c: bits(a * b + c, 16)),
    "v_perm_b32": ("u32", "u32 u32 u32", perm),
    "v_mad_u32_u16": ("u32", "u16 u16 u32", lambda a, b, c: bits(a * b + c)),
    "v_mad_i32_i16": ("u32", "u16 u16 u32", lambda a, b, c: bits(s(a, 16) * s(b, 16) + c)),
    "v_xad_u32": ("u32", "u32 u32 u32", lambda a, b, c: bits((a ^ b) + c)),
    "v_lshl_add_u32": ("u32", "u32 u32 u32", lambda a, b, c: bits((a << b % 32) + c)),
    "v_add_lshl_u32": ("u32", "u32 u32 u32", lambda a, b, c: bits(a + b << c % 32)),
    "v_add3_u32": ("u32", "u32 u32 u32", lambda a, b, c: bits(a + b + c)),
    "v_lshl_or_b32": ("u32", "u32 u32 u32", lambda a, b, c: bits(a << b % 32) | c),
    "v_and_or_b32": ("u32", "u32 u32 u32", lambda a, b, c: a & b | c),
    "v_or3_b32": ("u32", "u32 u32 u32", lambda a, b, c: a | b | c),
    "v_mul_lo_u32": ("u32", "u32 u32", lambda a, b: bits(a * b)),
    "v_mul_hi_u32": ("u32", "u32 u32", lambda a, b: a * b >> 32),
    "v_mul_hi_i32": ("u32", "u32 u32", lambda a, b: bits(s(a, 32) * s(b, 32) >> 32)),
    "v_bcnt_u32_b32": ("u32", "u32 u32", lambda a, b: bits(bin(a).count("1") + b)),
    "v_mbcnt_lo_u32_b32": ("u32", "u32 u32", lambda a, b, lane: bits(bin(a & ((1 << min(lane, 32)) - 1)).count("1") + b)),
    "v_mbcnt_hi_u32_b32": ("u32", "u32 u32",
                           lambda a, b, lane: bits(bin(a & ((1 << max(lane - 32, 0)) - 1)).count("1") + b)),
    "v_lshlrev_b64": ("u64", "u32 u64", lambda a, b: bits(b << a % 64, 64)),
    "v_lshrrev_b64": ("u64", "u32 u64", lambda a, b: b >> a % 64),
    "v_ashrrev_i64": ("u64", "u32 u64", lambda a, b: bits(s(b, 64) >> a % 64, 64)),
    "v_bfm_b32": ("u32", "u32 u32", lambda a, b: bits(((1 << a % 32) - 1) << b % 32)),
    "v_cvt_pk_u16_u32": ("u32", "u32 u32", lambda a, b: min(a, 65535) | min(b, 65535) << 16),
    "v_cvt_pk_i16_i32": ("u32", "u32 u32", lambda a, b: bits(min(max(s(a, 32), -32768), 32767), 16) |
                         bits(min(max(s(b, 32), -32768), 32767), 16) << 16),
    "v_add_i32": ("u32", "u32 u32", lambda a, b: bits(a + b)),
    "v_sub_i32": ("u32", "u32 u32", lambda a, b: bits(a - b)),
    "v_pack_b32_f16": ("u32", "u32 u32", lambda a, b: bits(a, 16) | bits(b, 16) << 16),
    "v_mad_legacy_f32": ("f32", "f32 f32 f32", lambda a, b, c: c if F32.iszero(a) or F32.iszero(b) else
                         m.mad(F32, a, b, c, True)),
    "v_mad_f32": ("f32", "f32 f32 f32", lambda a, b, c: m.mad(F32, a, b, c)),
    "v_fma_f32": ("f32", "f32 f32 f32", lambda a, b, c: m.fma(F32, a, b, c)),
    "v_fma_f64": ("f64", "f64 f64 f64", lambda a, b, c: m.fma(F64, a, b, c)),
    "v_min3_f32": ("f32", "f32 f32 f32", lambda a, b, c, ieee: pick3(F32, a, b, c, True, ieee)),
    "v_max3_f32": ("f32", "f32 f32 f32", lambda a, b, c, ieee: pick3(F32, a, b, c, False, ieee)),
    "v_med3_f32": ("f32", "f32 f32 f32", lambda a, b, c, ieee: med3(F32, a, b, c, ieee)),
    "v_cvt_pk_u8_f32": ("u32", "f32 u32 u32",
                        lambda a, b, c: c & bits(~(255 << 8 * (b % 4))) | to_u8(a) << 8 * (b % 4)),
    "v_div_fixup_f32": ("f32", "f32 f32 f32", lambda a, b, c: m.div_fixup(F32, a, b, c)),
    "v_div_fixup_f64": ("f64", "f64 f64 f64", lambda a, b, c: m.div_fixup(F64, a, b, c)),
    "v_div_fixup_legacy_f16": ("f16", "f16 f16 f16", lambda a, b, c: m.div_fixup(F16, a, b, c)),
    "v_mad_legacy_f16": ("f16", "f16 f16 f16", lambda a, b, c: m.mad(F16, a, b, c)),
    "v_fma_legacy_f16": ("f16", "f16 f16 f16", fma16),
    "v_ldexp_f32": ("f32", "f32 i32", lambda a, b: m.ldexp(F32, a, s(b, 32))),
    "v_ldexp_f64": ("f64", "f64 i32", lambda a, b: m.ldexp(F64, a, s(b, 32))),
    "v_cvt_pknorm_i16_f32": ("u32", "f32 f32", lambda a, b: norm16(F32, a, 32767, -1) | norm16(F32, b, 32767, -1) << 16),
    "v_cvt_pknorm_u16_f32": ("u32", "f32 f32", lambda a, b: norm16(F32, a, 65535, 0) | norm16(F32, b, 65535, 0) << 16),
    "v_cvt_pknorm_i16_f16": ("u32", "f16 f16", lambda a, b: norm16(F16, a, 32767, -1) | norm16(F16, b, 32767, -1) << 16),
    "v_cvt_pknorm_u16_f16": ("u32", "f16 f16", lambda a, b: norm16(F16, a, 65535, 0) | norm16(F16, b, 65535, 0) << 16),
    "v_add_f64": ("f64", "f64 f64", lambda a, b: m.add(F64, a, b)),
    "v_mul_f64": ("f64", "f64 f64", lambda a, b: m.mul(F64, a, b)),
    "v_min_f64": ("f64", "f64 f64", lambda a, b, ieee: m.minmax(F64, a, b, True, ieee)),
    "v_max_f64": ("f64", "f64 f64", lambda a, b, ieee: m.minmax(F64, a, b, False, ieee)),
    "v_trig_preop_f64": ("f64", "f64 u32", lambda a, b: m.trig_preop(a, b)),
}

# results of 16 bits that keep the upper half
KEEPS = {
    "v_min3_f16": ("f16", "f16 f16 f16", lambda a, b, c, ieee: pick3(F16, a, b, c, True, ieee)),
    "v_max3_f16": ("f16", "f16 f16 f16", lambda a, b, c, ieee: pick3(F16, a, b, c, False, ieee)),
    "v_med3_f16": ("f16", "f16 f16 f16", lambda a, b, c, ieee: med3(F16, a, b, c, ieee)),
    "v_min3_i16": ("u16", "u16 u16 u16", lambda a, b, c: bits(min(s(a, 16), s(b, 16), s(c, 16)), 16)),
    "v_max3_i16": ("u16", "u16 u16 u16", lambda a, b, c: bits(max(s(a, 16), s(b, 16), s(c, 16)), 16)),
    "v_med3_i16": ("u16", "u16 u16 u16", lambda a, b, c: bits(mid(s(a, 16), s(b, 16), s(c, 16)), 16)),
    "v_min3_u16": ("u16", "u16 u16 u16", min),
    "v_max3_u16": ("u16", "u16 u16 u16", max),
    "v_med3_u16": ("u16", "u16 u16 u16", mid),
    "v_mad_u16": ("u16", "u16 u16 u16", lambda a, b, c: bits(a * b + c, 16)),
    "v_mad_i16": ("u16", "u16 u16 u16", lambda a, b, c: bits(a * b + c, 16)),
    "v_mad_f16": ("f16", "f16 f16 f16", lambda a, b, c: m.mad(F16, a, b, c)),
    "v_fma_f16": ("f16", "f16 f16 f16", fma16),
    "v_div_fixup_f16": ("f16", "f16 f16 f16", lambda a, b, c: m.div_fixup(F16, a, b, c)),
    "v_add_i16": ("u16", "u16 u16", lambda a, b: bits(a + b, 16)),
    "v_sub_i16": ("u16", "u16 u16", lambda a, b: bits(a - b, 16)),
}

PACKED = {
    "v_pk_mad_i16": (3, lambda a, b, c: a * b + c),
    "v_pk_mul_lo_u16": (2, lambda a, b: a * b),
    "v_pk_add_i16": (2, lambda a, b: a + b),
    "v_pk_sub_i16": (2, lambda a, b: a - b),
    "v_pk_lshlrev_b16": (2, lambda a, b: b << a % 16),
    "v_pk_lshrrev_b16": (2, lambda a, b: b >> a % 16),
    "v_pk_ashrrev_i16": (2, lambda a, b: s(b, 16) >> a % 16),
    "v_pk_max_i16": (2, lambda a, b: max(s(a, 16), s(b, 16))),
    "v_pk_min_i16": (2, lambda a, b: min(s(a, 16), s(b, 16))),
    "v_pk_mad_u16": (3, lambda a, b, c: a * b + c),
    "v_pk_add_u16": (2, lambda a, b: a + b),
    "v_pk_sub_u16": (2, lambda a, b: a - b),
    "v_pk_max_u16": (2, max),
    "v_pk_min_u16": (2, min),
    "v_pk_fma_f16": (3, fma16),
    "v_pk_add_f16": (2, lambda a, b: m.add(F16, a, b)),
    "v_pk_mul_f16": (2, lambda a, b: m.mul(F16, a, b)),
    "v_pk_min_f16": (2, lambda a, b: m.minmax(F16, a, b, True)),
    "v_pk_max_f16": (2, lambda a, b: m.minmax(F16, a, b, False)),
}

CONDITIONS_FLOAT = {"f": "", "lt": "<", "eq": "=", "le": "<=", "gt": ">", "lg": "<>", "ge": ">=", "o": "<=>", "u": "u",
                    "nge": "<u", "nlg": "=u", "ngt": "<=u", "nle": ">u", "neq": "<>u", "nlt": ">=u", "tru": "<=>u"}
CONDITIONS_INT = {"f": "", "lt": "<", "eq": "=", "le": "<=", "gt": ">", "ne": "<>", "ge": ">=", "t": "<=>"}


def regs(kind, at):
    return f"v[{at}:{at + 1}]" if kind in ("u64", "i64", "f64") else f"v{at}"


def line(name, result, sources, middle="", tail=""):
    ops = [regs(result, 4)] + ([middle] if middle else []) + [regs(k, 10 + 2 * n) for n, k in enumerate(sources)]
    return f"{name} {', '.join(ops)}{tail}"


def simple():
    for table, keeps in ((OPS1, False), (OPS2, False), (OPS3, False), (KEEPS, True)):
        for name, (result, sources, fn) in table.items():
            sources = sources.split()
            if not hasattr(fn, "__code__"):
                fn = (lambda f: {2: lambda a, b: f(a, b), 3: lambda a, b, c: f(a, b, c)})(fn)[len(sources)]
            if fn.__code__.co_argcount == 2 and len(sources) == 1:
                fn = (lambda g: lambda a: g(a))(fn)
            yield Op(name, result, sources, Plain(fn, len(sources)), text=line(name, result, sources),
                     keeps_high=keeps, no_denorm=name in ("v_mad_f32", "v_mad_legacy_f32"))
            if table is OPS2 or table is OPS1:
                yield Op(name, result, sources, Plain(fn, len(sources)), text=line(name + "_e64", result, sources))


class Plain:
    """A function with as many arguments as it has sources, and those that it names."""

    def __init__(self, fn, nr):
        names = fn.__code__.co_varnames[:fn.__code__.co_argcount]
        if fn.__code__.co_flags & 4:
            names = tuple("abc"[:nr])
        self.names = tuple("abc"[:nr]) + tuple(n for n in names if n in ("carry", "lane", "ieee"))
        self.fn = fn

    def __call__(self, *values):
        return self.fn(*values)

    @property
    def __code__(self):
        return self

    @property
    def co_varnames(self):
        return self.names

    @property
    def co_argcount(self):
        return len(self.names)


def special():
    acc = {"accumulates": True, "no_denorm": True}
    yield Op("v_mac_f32", "f32", ["f32"] * 3, lambda a, b, c: m.mad(F32, a, b, c), text="v_mac_f32 v4, v10, v12", **acc)
    yield Op("v_mac_f16", "f16", ["f16"] * 3, lambda a, b, c: m.mad(F16, a, b, c), text="v_mac_f16 v4, v10, v12",
             accumulates=True)
    k = 0x40490fdb
    yield Op("v_madmk_f32", "f32", ["f32", "f32"], lambda a, b: m.mad(F32, a, k, b),
             text=f"v_madmk_f32 v4, v10, {k:#x}, v12", no_denorm=True)
    yield Op("v_madak_f32", "f32", ["f32", "f32"], lambda a, b: m.mad(F32, a, b, k),
             text=f"v_madak_f32 v4, v10, v12, {k:#x}", no_denorm=True)
    yield Op("v_madmk_f16", "f16", ["f16", "f16"], lambda a, b: m.mad(F16, a, 0x4248, b),
             text="v_madmk_f16 v4, v10, 0x4248, v12")
    yield Op("v_madak_f16", "f16", ["f16", "f16"], lambda a, b: m.mad(F16, a, b, 0x4248),
             text="v_madak_f16 v4, v10, v12, 0x4248")
    yield Op("v_cndmask_b32", "u32", ["u32", "u32"], lambda a, b, carry: b if carry else a,
             text="v_cndmask_b32 v4, v10, v12, vcc")
    yield Op("v_cndmask_b32", "u32", ["u32", "u32"], lambda a, b, carry: b if carry else a,
             text="v_cndmask_b32 v4, v10, v12, s[20:21]")
    for name, fn in (("v_add_co_u32", lambda a, b: (bits(a + b), a + b >> 32)),
                     ("v_sub_co_u32", lambda a, b: (bits(a - b), a < b)),
                     ("v_subrev_co_u32", lambda a, b: (bits(b - a), b < a))):
        yield Op(name, "u32", ["u32"] * 2, fn, text=line(name, "u32", ["u32"] * 2, "vcc"), writes_mask=True,
                 mask_in_vcc=True)
        yield Op(name, "u32", ["u32"] * 2, fn, text=line(name, "u32", ["u32"] * 2, "s[20:21]"), writes_mask=True)
    for name, fn in (("v_addc_co_u32", lambda a, b, carry: (bits(a + b + carry), a + b + carry >> 32)),
                     ("v_subb_co_u32", lambda a, b, carry: (bits(a - b - carry), a < b + carry)),
                     ("v_subbrev_co_u32", lambda a, b, carry: (bits(b - a - carry), b < a + carry))):
        yield Op(name, "u32", ["u32"] * 2, fn, text=line(name, "u32", ["u32"] * 2, "vcc", ", vcc"), writes_mask=True,
                 mask_in_vcc=True)
        yield Op(name, "u32", ["u32"] * 2, fn, text=line(name, "u32", ["u32"] * 2, "s[20:21]", ", s[20:21]"),
                 writes_mask=True)
    for t, f in (("f32", F32), ("f64", F64)):
        yield Op(f"v_div_scale_{t}", t, [t] * 3, lambda a, b, c, f=f: m.div_scale(f, a, b, c),
                 text=line(f"v_div_scale_{t}", t, [t] * 3, "vcc"), writes_mask=True, mask_in_vcc=True, modes=False)
        yield Op(f"v_div_fmas_{t}", t, [t] * 3, Plain(lambda a, b, c, carry, f=f: m.div_fmas(f, a, b, c, carry), 3),
                 text=line(f"v_div_fmas_{t}", t, [t] * 3))
    yield Op("v_mad_u64_u32", "u64", ["u32", "u32", "u64"], lambda a, b, c: (bits(a * b + c, 64), a * b + c >> 64),
             text="v_mad_u64_u32 v[4:5], s[20:21], v10, v12, v[14:15]", writes_mask=True)
    yield Op("v_mad_i64_i32", "u64", ["u32", "u32", "u64"], lambda a, b, c: (
        bits(s(a, 32) * s(b, 32) + c, 64), not -2**63 <= s(a, 32) * s(b, 32) + s(c, 64) < 2**63),
             text="v_mad_i64_i32 v[4:5], s[20:21], v10, v12, v[14:15]", writes_mask=True)

    def rtz(a, b):
        want = [m.convert(F16, F32, v, "zero") for v in (a, b)]
        return lambda have: all(F16.isnan(h) if w == NAN else h == w
                                for h, w in zip((have & 0xffff, have >> 16), want))
    yield Op("v_cvt_pkrtz_f16_f32", "u32", ["f32", "f32"], rtz, text="v_cvt_pkrtz_f16_f32 v4, v10, v12", modes=False)
    for name, (nr, fn) in PACKED.items():
        yield Op(name, "u32", ["p16"] * nr, Plain(two(fn), nr), text=line(name, "u32", ["p16"] * nr), modes=False)
    yield Op("v_mad_mix_f32", "f32", ["f32"] * 3, lambda a, b, c: m.mad(F32, a, b, c),
             text="v_mad_mix_f32 v4, v10, v12, v14", modes=False)
    yield Op("v_mad_mixlo_f16", "f16", ["f32"] * 3, mix16, text="v_mad_mixlo_f16 v4, v10, v12, v14", keeps_high=True,
             modes=False)
    yield Op("v_mad_mixhi_f16", "u32", ["f32"] * 3, mixhi, text="v_mad_mixhi_f16 v4, v10, v12, v14", modes=False)


def mix16(a, b, c):
    r = m.mad(F32, a, b, c)
    return NAN if r == NAN else m.convert(F16, F32, r)


def mixhi(a, b, c):
    want = mix16(a, b, c)
    # the low half keeps its old value: 0xc0000400 + lane
    return lambda have: have & 0xff00 == 0x0400 and (F16.isnan(have >> 16) if want == NAN else have >> 16 == want)


def comparisons():
    for cmp in ("cmp", "cmpx"):
        for t, f in FLOATS.items():
            for c, outcomes in CONDITIONS_FLOAT.items():
                name = f"v_{cmp}_{c}_{t}"
                yield compare_op(name, [t, t], lambda a, b, f=f, o=outcomes: m.compare(f, a, b) in tuple(o))
            name = f"v_{cmp}_class_{t}"
            yield compare_op(name, [t.replace("f", "u"), "u32"],
                             lambda a, b, f=f: bool(m.classify(f, a) & b), modes=False)
        for t in ("i16", "u16", "i32", "u32", "i64", "u64"):
            n = int(t[1:])
            for c, outcomes in CONDITIONS_INT.items():
                def fn(a, b, signed=t[0] == "i", n=n, o=outcomes):
                    a, b = (s(a, n), s(b, n)) if signed else (a, b)
                    return ("<" if a < b else "=" if a == b else ">") in tuple(o)
                yield compare_op(f"v_{cmp}_{c}_{t}", [t, t], fn)


def compare_op(name, sources, fn, **how):
    text = f"{name} vcc, {regs(sources[0], 10)}, {regs(sources[1], 12)}"
    return Op(name, None, sources, Plain(fn, 2), text=text, writes_mask=True, mask_in_vcc=True, **how)


def operations():
    yield from simple()
    yield from special()
    yield from comparisons()
