# SPDX-License-Identifier: MIT
"""inst_model.py - arithmetic of gfx900 stated on whole numbers and fractions

Nothing here computes in floating point but what is compared with a tolerance: values are exact fractions, rounded
once. A result that is any NaN is the object NAN.
"""
import math
from fractions import Fraction

NAN = "nan"


class Format:
    """A binary floating-point format of IEEE 754."""

    def __init__(self, bits, mant):
        self.bits, self.mant = bits, mant
        self.exp = bits - mant - 1
        self.bias = (1 << (self.exp - 1)) - 1
        self.sign = 1 << (bits - 1)
        self.inf = ((1 << self.exp) - 1) << mant
        self.emin = 1 - self.bias

    def isnan(self, v):
        return v & ~self.sign > self.inf if v != NAN else True

    def issnan(self, v):
        return self.isnan(v) and not v >> (self.mant - 1) & 1

    def isinf(self, v):
        return v & ~self.sign == self.inf

    def iszero(self, v):
        return not v & ~self.sign

    def exponent(self, v):
        return v >> self.mant & ((1 << self.exp) - 1)

    def isdenorm(self, v):
        return not self.exponent(v) and not self.iszero(v)

    def value(self, v):
        """The value of a finite pattern as a fraction."""
        e, m = self.exponent(v), v & ((1 << self.mant) - 1)
        f = Fraction(m if not e else m | 1 << self.mant) * Fraction(2) ** (max(e, 1) - self.bias - self.mant)
        return -f if v & self.sign else f

    def round(self, f, zero_sign=0, mode="even"):
        """The pattern next to a fraction; ties to even."""
        if f == 0:
            return self.sign if zero_sign else 0
        sign = self.sign if f < 0 else 0
        f = abs(f)
        e = max(floor_log2(f), self.emin)
        unit = Fraction(2) ** (e - self.mant)
        n = f / unit
        q = n.numerator // n.denominator
        rest = n - q
        if mode == "even" and (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and q & 1)):
            q += 1
        if q >> (self.mant + 1):
            q >>= 1
            e += 1
        if e > self.bias:
            return sign | (self.inf if mode == "even" else self.inf - 1)
        if q >> self.mant:
            return sign | (e + self.bias) << self.mant | (q & ((1 << self.mant) - 1))
        return sign | q

    def flush(self, v):
        return v & self.sign if self.isdenorm(v) else v


F16, F32, F64 = Format(16, 10), Format(32, 23), Format(64, 52)


def floor_log2(f):
    e = f.numerator.bit_length() - f.denominator.bit_length()
    return e if f >= Fraction(2) ** e else e - 1


def s(v, bits):
    """A pattern as a signed number."""
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> (bits - 1) else v


def neg(fmt, v):
    return v ^ fmt.sign


def add(fmt, a, b):
    if fmt.isnan(a) or fmt.isnan(b) or (fmt.isinf(a) and fmt.isinf(b) and a != b):
        return NAN
    if fmt.isinf(a) or fmt.isinf(b):
        return a if fmt.isinf(a) else b
    return fmt.round(fmt.value(a) + fmt.value(b), a & b & fmt.sign)


def mul(fmt, a, b):
    sign = (a ^ b) & fmt.sign
    if fmt.isnan(a) or fmt.isnan(b):
        return NAN
    if fmt.isinf(a) or fmt.isinf(b):
        return NAN if fmt.iszero(a) or fmt.iszero(b) else sign | fmt.inf
    return fmt.round(fmt.value(a) * fmt.value(b), sign)


def fma(fmt, a, b, c):
    sign = (a ^ b) & fmt.sign
    if fmt.isnan(a) or fmt.isnan(b) or fmt.isnan(c):
        return NAN
    if fmt.isinf(a) or fmt.isinf(b):
        if fmt.iszero(a) or fmt.iszero(b) or (fmt.isinf(c) and (c ^ sign) & fmt.sign):
            return NAN
        return sign | fmt.inf
    if fmt.isinf(c):
        return c
    return fmt.round(fmt.value(a) * fmt.value(b) + fmt.value(c), sign & c)


def mad(fmt, a, b, c, flush=False):
    if flush:
        a, b, c = fmt.flush(a), fmt.flush(b), fmt.flush(c)
    p = mul(fmt, a, b)
    if p == NAN:
        return NAN
    r = add(fmt, p, c)
    return fmt.flush(r) if flush and r != NAN else r


def less(fmt, a, b):
    """a < b of numbers, -0 below +0."""
    if fmt.iszero(a) and fmt.iszero(b):
        return a > b
    key = [(-(v & ~fmt.sign) if v & fmt.sign else v) for v in (a, b)]
    return key[0] < key[1]


def minmax(fmt, a, b, pick_less, ieee=True):
    if ieee and (fmt.issnan(a) or fmt.issnan(b)):
        return NAN
    if fmt.isnan(a) or fmt.isnan(b):
        return NAN if fmt.isnan(a) and fmt.isnan(b) else b if fmt.isnan(a) else a
    return a if less(fmt, a, b) == pick_less else b


def compare(fmt, a, b):
    """'u' for unordered, else '<', '=' or '>'."""
    if fmt.isnan(a) or fmt.isnan(b):
        return "u"
    if fmt.iszero(a) and fmt.iszero(b):
        return "="
    return "=" if a == b else "<" if less(fmt, a, b) else ">"


def to_int(fmt, v, lo, hi, how=math.trunc):
    if fmt.isnan(v):
        return 0
    if fmt.isinf(v):
        return lo if v & fmt.sign else hi
    return min(max(how(fmt.value(v)), lo), hi)


def half_even(f):
    q = math.floor(f)
    r = f - q
    return q + (r > Fraction(1, 2) or (r == Fraction(1, 2) and q & 1))


def integral(fmt, v, how):
    """Rounds to a whole number, keeping the sign of a zero."""
    if fmt.isnan(v):
        return NAN
    return v if fmt.isinf(v) else fmt.round(Fraction(how(fmt.value(v))), v & fmt.sign)


def convert(to, frm, v, mode="even"):
    if frm.isnan(v):
        return NAN
    sign = to.sign if v & frm.sign else 0
    return sign | to.inf if frm.isinf(v) else to.round(frm.value(v), sign, mode)


def frexp_exp(fmt, v):
    if fmt.isnan(v) or fmt.isinf(v) or fmt.iszero(v):
        return 0
    return floor_log2(abs(fmt.value(v))) + 1


def frexp_mant(fmt, v):
    if fmt.isnan(v):
        return NAN
    if fmt.isinf(v) or fmt.iszero(v):
        return v
    return fmt.round(fmt.value(v) / Fraction(2) ** frexp_exp(fmt, v))


def ldexp(fmt, v, n):
    if fmt.isnan(v):
        return NAN
    if fmt.isinf(v) or fmt.iszero(v):
        return v
    # enough for any result, without numbers of a billion digits
    return fmt.round(fmt.value(v) * Fraction(2) ** max(min(n, 5000), -5000), v & fmt.sign)


def fract(fmt, v):
    if fmt.isnan(v) or fmt.isinf(v):
        return NAN
    f = fmt.value(v)
    return min(fmt.round(f - math.floor(f)), fmt.round(Fraction(1)) - 1)


def classify(fmt, v):
    sign = bool(v & fmt.sign)
    if fmt.isnan(v):
        return 1 if fmt.issnan(v) else 2
    if fmt.isinf(v):
        return 4 if sign else 0x200
    if fmt.iszero(v):
        return 0x20 if sign else 0x40
    if fmt.isdenorm(v):
        return 0x10 if sign else 0x80
    return 8 if sign else 0x100


def tiny(fmt, f):
    return f != 0 and abs(f) < Fraction(2) ** fmt.emin


def div_scale(fmt, s0, s1, s2):
    """(result, VCC)"""
    by, near, low = (64, 96, 23) if fmt is F32 else (128, 768, 53)
    if fmt.iszero(s1) or fmt.iszero(s2):
        return NAN, 0
    finite = not (fmt.isnan(s1) or fmt.isinf(s1))
    rcp = Fraction(1) / fmt.value(s1) if finite else Fraction(0)
    quotient = fmt.value(s2) * rcp if finite and not (fmt.isnan(s2) or fmt.isinf(s2)) else Fraction(0)
    # 1 / s1 is not a denormal if it is exactly the least normal number
    tiny_rcp, tiny_q = tiny(fmt, rcp), tiny(fmt, quotient)
    if fmt.exponent(s2) - fmt.exponent(s1) >= near:
        return (ldexp(fmt, s0, by) if s0 == s1 else s0), 1
    if fmt.isdenorm(s1):
        return ldexp(fmt, s0, by), 0
    if tiny_rcp and tiny_q:
        return (ldexp(fmt, s0, -by) if s0 == s1 else s0), 1
    if tiny_rcp:
        return ldexp(fmt, s0, -by), 0
    if tiny_q:
        return (ldexp(fmt, s0, by) if s0 == s2 else s0), 1
    if fmt.exponent(s2) <= low:
        return ldexp(fmt, s0, by), 0
    return s0, 0


def div_fmas(fmt, a, b, c, scale):
    by, half = (64, 127) if fmt is F32 else (128, 1023)
    r = fma(fmt, a, b, c)
    if r == NAN or not scale or any(fmt.isinf(v) for v in (a, b, c)):
        return r
    exact = fmt.value(a) * fmt.value(b) + fmt.value(c)
    return fmt.round(exact * Fraction(2) ** (by if fmt.exponent(c) > half else -by), r & fmt.sign)


def div_fixup(fmt, q, d, n):
    sign = (d ^ n) & fmt.sign
    if fmt.isnan(n) or fmt.isnan(d):
        return NAN
    if (fmt.iszero(d) and fmt.iszero(n)) or (fmt.isinf(d) and fmt.isinf(n)):
        return NAN
    if fmt.iszero(d) or fmt.isinf(n):
        return sign | fmt.inf
    if fmt.isinf(d) or fmt.iszero(n):
        return sign
    if fmt is not F16 and fmt.exponent(n) - fmt.exponent(d) < (-150 if fmt is F32 else -1075):
        return sign
    if fmt.isnan(q):
        return sign | fmt.inf
    return sign | (q & ~fmt.sign)


def two_over_pi(bits):
    """2 / pi in that many bits behind the point, by Machin's formula."""
    n = bits + 64
    one = 1 << n

    def arctan(x):
        total = term = one // x
        k, sign = 3, -1
        while term:
            term //= x * x
            total += sign * (term // k)
            k, sign = k + 2, -sign
        return total

    pi = 4 * (4 * arctan(5) - arctan(239))
    return (2 << (n + bits)) // pi


TWO_OVER_PI = two_over_pi(1201)


def trig_preop(a, segment):
    e = F64.exponent(a)
    shift = (segment & 31) * 53 + max(e - 1077, 0)
    bits = (TWO_OVER_PI << shift & ((1 << 1201) - 1)) >> (1201 - 53)
    return F64.round(Fraction(bits) * Fraction(2) ** (-53 - shift + (128 if e >= 1968 else 0)))


def as_float(fmt, v):
    if fmt.isnan(v):
        return math.nan
    if fmt.isinf(v):
        return -math.inf if v & fmt.sign else math.inf
    f = float(fmt.value(v))
    return math.copysign(f, -1.0) if v & fmt.sign else f
