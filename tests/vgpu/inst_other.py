# SPDX-License-Identifier: MIT
"""inst_other.py - scalar, memory and lane-crossing instructions, and the modifiers of vector ones

Cases for inst_test.py, as families() names them. `t` is the module inst_test.
"""
import random
from fractions import Fraction

from inst_model import F16, F32, s
from inst_valu import bits, clz

t = None

HOLES = 0xf7ffffffffff7ff0

VALUES32 = [0, 1, 2, 31, 32, 33, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0x00ff00ff, 0x12345678,
            0xdeadbeef, 0x8000, 0xffff8000, 0x100005, 0x400003, 0x10001f, 0x7f0000]
VALUES64 = [0, 1, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
            0x0123456789abcdef, 0xfedcba9876543210, 0x00000000f0f0f0f0, 0xaaaaaaaa55555555, 63]


def overflow(v):
    return not -2**31 <= v < 2**31


def nonzero(fn):
    return lambda a, b, scc: ((lambda r: (r, r != 0))(fn(a, b)))


def keep(fn):
    return lambda a, b, scc: (fn(a, b), scc)


def field(v, spec, n, signed=False):
    at, width = spec & (n - 1), min(spec >> 16 & 127, n)
    if not width:
        return 0
    v = s(v, n) if signed else v
    return bits(s(v >> at, width), n) if signed else v >> at & ((1 << width) - 1)


def lshl_add(k):
    return lambda a, b, scc: (bits((a << k) + b), (a << k) + b >> 32 != 0)


# name: (width of result, of first and second source, function of a, b, scc giving result and SCC)
SOP2 = {
    "s_add_u32": (32, 32, 32, lambda a, b, scc: (bits(a + b), a + b >> 32)),
    "s_sub_u32": (32, 32, 32, lambda a, b, scc: (bits(a - b), a < b)),
    "s_add_i32": (32, 32, 32, lambda a, b, scc: (bits(a + b), overflow(s(a, 32) + s(b, 32)))),
    "s_sub_i32": (32, 32, 32, lambda a, b, scc: (bits(a - b), overflow(s(a, 32) - s(b, 32)))),
    "s_addc_u32": (32, 32, 32, lambda a, b, scc: (bits(a + b + scc), a + b + scc >> 32)),
    "s_subb_u32": (32, 32, 32, lambda a, b, scc: (bits(a - b - scc), a < b + scc)),
    "s_min_i32": (32, 32, 32, lambda a, b, scc: (bits(min(s(a, 32), s(b, 32))), s(a, 32) < s(b, 32))),
    "s_min_u32": (32, 32, 32, lambda a, b, scc: (min(a, b), a < b)),
    "s_max_i32": (32, 32, 32, lambda a, b, scc: (bits(max(s(a, 32), s(b, 32))), s(a, 32) > s(b, 32))),
    "s_max_u32": (32, 32, 32, lambda a, b, scc: (max(a, b), a > b)),
    "s_cselect_b32": (32, 32, 32, lambda a, b, scc: (a if scc else b, scc)),
    "s_cselect_b64": (64, 64, 64, lambda a, b, scc: (a if scc else b, scc)),
    "s_lshl_b32": (32, 32, 32, nonzero(lambda a, b: bits(a << b % 32))),
    "s_lshr_b32": (32, 32, 32, nonzero(lambda a, b: a >> b % 32)),
    "s_ashr_i32": (32, 32, 32, nonzero(lambda a, b: bits(s(a, 32) >> b % 32))),
    "s_lshl_b64": (64, 64, 32, nonzero(lambda a, b: bits(a << b % 64, 64))),
    "s_lshr_b64": (64, 64, 32, nonzero(lambda a, b: a >> b % 64)),
    "s_ashr_i64": (64, 64, 32, nonzero(lambda a, b: bits(s(a, 64) >> b % 64, 64))),
    "s_bfm_b32": (32, 32, 32, keep(lambda a, b: bits(((1 << a % 32) - 1) << b % 32))),
    "s_bfm_b64": (64, 32, 32, keep(lambda a, b: bits(((1 << a % 64) - 1) << b % 64, 64))),
    "s_mul_i32": (32, 32, 32, keep(lambda a, b: bits(a * b))),
    "s_mul_hi_u32": (32, 32, 32, keep(lambda a, b: a * b >> 32)),
    "s_mul_hi_i32": (32, 32, 32, keep(lambda a, b: bits(s(a, 32) * s(b, 32) >> 32))),
    "s_bfe_u32": (32, 32, 32, nonzero(lambda a, b: field(a, b, 32))),
    "s_bfe_i32": (32, 32, 32, nonzero(lambda a, b: field(a, b, 32, True))),
    "s_bfe_u64": (64, 64, 32, nonzero(lambda a, b: field(a, b, 64))),
    "s_bfe_i64": (64, 64, 32, nonzero(lambda a, b: field(a, b, 64, True))),
    "s_absdiff_i32": (32, 32, 32, nonzero(lambda a, b: bits(abs(s(a - b, 32))))),
    "s_lshl1_add_u32": (32, 32, 32, lshl_add(1)),
    "s_lshl2_add_u32": (32, 32, 32, lshl_add(2)),
    "s_lshl3_add_u32": (32, 32, 32, lshl_add(3)),
    "s_lshl4_add_u32": (32, 32, 32, lshl_add(4)),
    "s_pack_ll_b32_b16": (32, 32, 32, keep(lambda a, b: bits(a, 16) | bits(b, 16) << 16)),
    "s_pack_lh_b32_b16": (32, 32, 32, keep(lambda a, b: bits(a, 16) | b >> 16 << 16)),
    "s_pack_hh_b32_b16": (32, 32, 32, keep(lambda a, b: a >> 16 | b >> 16 << 16)),
}
LOGIC = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "andn2": lambda a, b: a & ~b,
         "orn2": lambda a, b: a | ~b, "nand": lambda a, b: ~(a & b), "nor": lambda a, b: ~(a | b),
         "xnor": lambda a, b: ~(a ^ b)}
for _name, _fn in LOGIC.items():
    for _n in (32, 64):
        SOP2[f"s_{_name}_b{_n}"] = (_n, _n, _n, nonzero(lambda a, b, f=_fn, n=_n: bits(f(a, b), n)))


def quads(v, whole):
    return sum((15 << n if whole else 1 << n // 4) for n in range(0, 64, 4) if v >> n & 15)


def first(v):
    return bits(-1) if not v else (v & -v).bit_length() - 1


def sign_run(v, n):
    """Number of leading bits equal to the sign; -1 if all are."""
    x = bits(~v, n) if v >> (n - 1) else v
    return bits(-1) if not x else n - x.bit_length()


# name: (width of result, of source, function of a, old destination, scc)
SOP1 = {
    "s_abs_i32": (32, 32, lambda a, d, scc: (bits(abs(s(a, 32))), a != 0)),
    "s_sext_i32_i8": (32, 32, lambda a, d, scc: (bits(s(a, 8)), scc)),
    "s_sext_i32_i16": (32, 32, lambda a, d, scc: (bits(s(a, 16)), scc)),
    "s_flbit_i32": (32, 32, lambda a, d, scc: (sign_run(a, 32), scc)),
    "s_flbit_i32_i64": (32, 64, lambda a, d, scc: (sign_run(a, 64), scc)),
    "s_bitset0_b64": (64, 32, lambda a, d, scc: (d & ~(1 << a % 64), scc)),
    "s_bitset1_b64": (64, 32, lambda a, d, scc: (d | 1 << a % 64, scc)),
    "s_bitset0_b32": (32, 32, lambda a, d, scc: (d & ~(1 << a % 32), scc)),
    "s_bitset1_b32": (32, 32, lambda a, d, scc: (d | 1 << a % 32, scc)),
    "s_bitreplicate_b64_b32": (64, 32, lambda a, d, scc: (sum(3 << 2 * n for n in range(32) if a >> n & 1), scc)),
}
for _n in (32, 64):
    SOP1.update({
        f"s_mov_b{_n}": (_n, _n, lambda a, d, scc: (a, scc)),
        f"s_cmov_b{_n}": (_n, _n, lambda a, d, scc: (a if scc else d, scc)),
        f"s_not_b{_n}": (_n, _n, lambda a, d, scc, n=_n: (bits(~a, n), bits(~a, n) != 0)),
        f"s_wqm_b{_n}": (_n, _n, lambda a, d, scc: (quads(a, True), a != 0)),
        f"s_quadmask_b{_n}": (_n, _n, lambda a, d, scc: (quads(a, False), a != 0)),
        f"s_brev_b{_n}": (_n, _n, lambda a, d, scc, n=_n: (int(f"{a:0{n}b}"[::-1], 2), scc)),
        f"s_bcnt0_i32_b{_n}": (32, _n, lambda a, d, scc, n=_n: (n - bin(a).count("1"), n != bin(a).count("1"))),
        f"s_bcnt1_i32_b{_n}": (32, _n, lambda a, d, scc: (bin(a).count("1"), a != 0)),
        f"s_ff0_i32_b{_n}": (32, _n, lambda a, d, scc, n=_n: (first(bits(~a, n)), scc)),
        f"s_ff1_i32_b{_n}": (32, _n, lambda a, d, scc: (first(a), scc)),
        f"s_flbit_i32_b{_n}": (32, _n, lambda a, d, scc, n=_n: (clz(a, n), scc)),
    })
SAVEEXEC = {f"s_{n}_saveexec_b64": f for n, f in LOGIC.items()}
SAVEEXEC["s_andn1_saveexec_b64"] = lambda a, x: ~a & x
SAVEEXEC["s_orn1_saveexec_b64"] = lambda a, x: ~a | x
WREXEC = {"s_andn1_wrexec_b64": lambda a, x: ~a & x, "s_andn2_wrexec_b64": lambda a, x: a & ~x}
CONDITIONS = {"eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
              "lt": lambda a, b: a < b, "le": lambda a, b: a <= b}


def sreg(n, width):
    return f"s[{n}:{n + 1}]" if width == 64 else f"s{n}"


def put(st, n, v, width):
    st.sgpr[n] = bits(v)
    if width == 64:
        st.sgpr[n + 1] = v >> 32


def got(st, n, width):
    return st.sgpr[n] | (st.sgpr[n + 1] << 32 if width == 64 else 0)


def values(width):
    return VALUES64 if width == 64 else VALUES32


def scalar_case(text, sources, scc, width, want, want_scc, extra=None):
    """sources: (register, value, width); the result is in s4."""
    def setup(st):
        st.scc = scc
        for reg, v, w in sources:
            put(st, reg, v, w)

    def expect(before, st):
        have = got(st, 4, width)
        if width and have != want:
            return f"{have:#x}, not {want:#x}, of {[hex(x[1]) for x in sources]}, SCC {scc}"
        if st.scc != bool(want_scc):
            return f"SCC {st.scc}, of {[hex(x[1]) for x in sources]}"
        return extra(st) if extra else None
    return t.Case(text, setup, expect)


def salu():
    rng = random.Random(3)
    for name, (w, wa, wb, fn) in SOP2.items():
        pairs = [(a, b) for a in values(wa) for b in values(wb)]
        for a, b in rng.sample(pairs, min(60, len(pairs))):
            scc = rng.getrandbits(1)
            want, want_scc = fn(a, b, scc)
            yield scalar_case(f"{name} {sreg(4, w)}, {sreg(8, wa)}, {sreg(10, wb)}", [(8, a, wa), (10, b, wb)], scc, w,
                              want, want_scc)
    for name, (w, wa, fn) in SOP1.items():
        for a in values(wa):
            scc, old = rng.getrandbits(1), rng.getrandbits(w)
            want, want_scc = fn(a, old, scc)
            yield scalar_case(f"{name} {sreg(4, w)}, {sreg(8, wa)}", [(8, a, wa), (4, old, w)], scc, w, want, want_scc)
    for table, saves in ((SAVEEXEC, True), (WREXEC, False)):
        for name, fn in table.items():
            for a in VALUES64:
                x = rng.getrandbits(64)
                new = bits(fn(a, x), 64)
                yield scalar_case(f"{name} s[4:5], s[8:9]", [(8, a, 64), (t.EXEC, x, 64)], 0, 64, x if saves else new,
                                  new != 0, lambda st, new=new: None if got(st, t.EXEC, 64) == new else "EXEC")
    for c, fn in CONDITIONS.items():
        for kind in "iu":
            for a in VALUES32:
                b = rng.choice(VALUES32)
                x, y = (s(a, 32), s(b, 32)) if kind == "i" else (a, b)
                yield scalar_case(f"s_cmp_{c}_{kind}32 s8, s10", [(8, a, 32), (10, b, 32)], 0, 0, 0, fn(x, y))
                k = bits(b, 16)
                x, y = (s(a, 32), s(k, 16)) if kind == "i" else (a, k)
                yield scalar_case(f"s_cmpk_{c}_{kind}32 s8, {k:#x}", [(8, a, 32)], 1, 0, 0, fn(x, y))
    for a in VALUES64:
        for b in (a, VALUES64[3]):
            yield scalar_case("s_cmp_eq_u64 s[8:9], s[10:11]", [(8, a, 64), (10, b, 64)], 0, 0, 0, a == b)
            yield scalar_case("s_cmp_lg_u64 s[8:9], s[10:11]", [(8, a, 64), (10, b, 64)], 0, 0, 0, a != b)
        for n in (0, 31, 32, 63, 64):
            for one in (0, 1):
                yield scalar_case(f"s_bitcmp{one}_b64 s[8:9], s10", [(8, a, 64), (10, n, 32)], 0, 0, 0,
                                  (a >> n % 64 & 1) == one)
                yield scalar_case(f"s_bitcmp{one}_b32 s8, s10", [(8, bits(a), 32), (10, n, 32)], 0, 0, 0,
                                  (a >> n % 32 & 1) == one)
    for k in (0, 1, 0x7fff, 0x8000, 0xffff):
        for scc in (0, 1):
            old = VALUES32[k % len(VALUES32)]
            total = s(old, 32) + s(k, 16)
            yield scalar_case(f"s_movk_i32 s4, {k:#x}", [], scc, 32, bits(s(k, 16)), scc)
            yield scalar_case(f"s_cmovk_i32 s4, {k:#x}", [(4, old, 32)], scc, 32, bits(s(k, 16)) if scc else old, scc)
            yield scalar_case(f"s_addk_i32 s4, {k:#x}", [(4, old, 32)], scc, 32, bits(total), overflow(total))
            yield scalar_case(f"s_mulk_i32 s4, {k:#x}", [(4, old, 32)], scc, 32, bits(old * s(k, 16)), scc)
    yield from constants()
    yield from registers()


def constants():
    inline = [(str(n), n) for n in (0, 1, 64, -1, -16)] + [("0.5", 0x3f000000), ("-4.0", 0xc0800000),
                                                           ("0.15915494", 0x3e22f983), ("0x12345678", 0x12345678)]
    for text, v in inline:
        yield scalar_case(f"s_mov_b32 s4, {text}", [], 0, 32, bits(v), 0)
    yield scalar_case("s_mov_b64 s[4:5], -3", [], 0, 64, bits(-3, 64), 0)
    yield scalar_case("s_mov_b64 s[4:5], 1.0", [], 0, 64, 0x3ff0000000000000, 0)
    yield scalar_case("s_mov_b64 s[4:5], src_shared_base", [], 0, 64, 1 << 48, 0)
    yield scalar_case("s_mov_b64 s[4:5], src_private_base", [], 0, 64, 2 << 48, 0)
    yield scalar_case("s_mov_b32 s4, scc", [], 1, 32, 1, 1)
    yield scalar_case("s_mov_b32 s4, vccz", [(t.VCC, 0, 64)], 1, 32, 1, 1)
    yield scalar_case("s_mov_b32 s4, execz", [(t.EXEC, 5, 64)], 1, 32, 0, 1)


def registers():
    bases = 1 << 16 | 2
    yield scalar_case("s_getreg_b32 s4, hwreg(HW_REG_SH_MEM_BASES)", [], 1, 32, bases, 1)
    yield scalar_case("s_getreg_b32 s4, hwreg(HW_REG_SH_MEM_BASES, 16, 16)", [], 1, 32, 1, 1)
    yield scalar_case("s_getreg_b32 s4, hwreg(HW_REG_MODE, 4, 4)", [], 1, 32, 15, 1)
    yield scalar_case("s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s4", [(4, 1, 32)], 0, 32, 1, 0,
                      lambda st: None if st.mode == 0x3d0 else hex(st.mode))
    yield scalar_case("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0xa", [], 0, 0, 0, 0,
                      lambda st: None if st.mode == 0x3fa else hex(st.mode))
    m0 = (t.M0, 3, 32)
    yield scalar_case("s_movrels_b32 s4, s8", [m0, (11, 77, 32)], 1, 32, 77, 1)
    yield scalar_case("s_movrels_b64 s[4:5], s[8:9]", [(t.M0, 4, 32), (12, 77 << 30, 64)], 1, 64, 77 << 30, 1)
    yield scalar_case("s_movreld_b32 s1, s8", [m0, (8, 78, 32)], 1, 32, 78, 1)
    yield scalar_case("s_movreld_b64 s[2:3], s[8:9]", [(t.M0, 2, 32), (8, 78 << 30, 64)], 1, 64, 78 << 30, 1)
    yield scalar_case("s_set_gpr_idx_on s8, 1", [(8, 5, 32)], 0, 0, 0, 0, lambda st: None if (
        st.idx_on, st.idx_mode, st.sgpr[t.M0] & 0xf0ff) == (1, 1, 0x1005) else "index mode")
    yield scalar_case("s_set_gpr_idx_idx s8", [(8, 6, 32), (t.M0, 0x1005, 32)], 0, 0, 0, 0,
                      lambda st: None if st.sgpr[t.M0] == 0x1006 else "M0")

    def indexed(on):
        def setup(st):
            st.idx_on, st.idx_mode = 1, 1
            st.sgpr[t.M0] = 3

        def expect(before, st):
            if on:
                return None if st.vgpr[4][9] == before.vgpr[13][9] else "not the indexed register"
            return None if not st.idx_on else "still on"
        return setup, expect
    yield t.Case("v_mov_b32 v4, v10", *indexed(True))
    yield t.Case("s_set_gpr_idx_off", *indexed(False))
    yield t.Case("s_set_gpr_idx_mode 2", lambda st: setattr(st, "idx_on", 1),
                 lambda before, st: None if st.idx_mode == 2 else "mode")


def flow_case(text, to, setup=lambda st: None, more=lambda st: None):
    def expect(_, st):
        return f"pc {st.pc:#x}, not {to:#x}" if st.pc != to else more(st)
    return t.Case(text, setup, expect)


def flow():
    def put_scc(v):
        return lambda st: setattr(st, "scc", v)

    def put_mask(reg, v):
        return lambda st: t.put64(st.sgpr, reg, v)
    yield flow_case("s_branch 5", 24)
    yield flow_case("s_branch 65535", 0)
    for name, true, false in (("scc0", put_scc(0), put_scc(1)), ("scc1", put_scc(1), put_scc(0)),
                              ("vccz", put_mask(t.VCC, 0), put_mask(t.VCC, 1 << 40)),
                              ("vccnz", put_mask(t.VCC, 1 << 40), put_mask(t.VCC, 0)),
                              ("execz", put_mask(t.EXEC, 0), put_mask(t.EXEC, 1 << 63)),
                              ("execnz", put_mask(t.EXEC, 1 << 63), put_mask(t.EXEC, 0))):
        yield flow_case(f"s_cbranch_{name} 9", 40, true)
        yield flow_case(f"s_cbranch_{name} 9", 4, false)
    for name in ("cdbgsys", "cdbguser", "cdbgsys_or_user", "cdbgsys_and_user"):
        yield flow_case(f"s_cbranch_{name} 9", 4)
    base = 0x10000
    yield flow_case("s_setpc_b64 s[8:9]", 0x1230, put_mask(8, base + 0x1230))
    yield flow_case("s_swappc_b64 s[4:5], s[8:9]", 0x1230, put_mask(8, base + 0x1230),
                    lambda st: None if got(st, 4, 64) == base + 4 else "return address")
    yield flow_case("s_getpc_b64 s[4:5]", 4, more=lambda st: None if got(st, 4, 64) == base + 4 else "address")
    yield flow_case("s_call_b64 s[4:5], 7", 32, more=lambda st: None if got(st, 4, 64) == base + 4 else "address")
    for name in ("s_nop 3", "s_wakeup", "s_waitcnt 0", "s_sleep 1", "s_setprio 1", "s_icache_inv", "s_incperflevel 1",
                 "s_decperflevel 1", "s_ttracedata", "s_trap 3"):
        yield flow_case(name, 4, more=lambda st: None if not st.status and not st.wave_state else "stopped")
    yield flow_case("s_endpgm", 4, more=lambda st: None if st.wave_state == 2 else "goes on")
    yield flow_case("s_endpgm_saved", 4, more=lambda st: None if st.wave_state == 2 else "goes on")
    yield flow_case("s_barrier", 4, more=lambda st: None if st.wave_state == 1 else "goes on")
    yield flow_case("s_trap 2", 4, more=lambda st: None if (st.status, st.fault) == (5, 2) else "no trap")
    yield flow_case("s_sendmsg 1", 4, put_mask(t.M0, 0x1234),
                    lambda st: None if t.LIB.inst_interrupted() == 0x1234 else "event")
    for text, status in (("v_cubema_f32 v0, v0, v0, v0", 4), ("v_cubeid_f32 v0, v0, v1, v2", 4),
                         ("buffer_load_format_x v0, off, s[0:3], 0", 4), ("ds_append v0", 4), (".long 0xbfff0000", 3),
                         (".long 0x7e00ff00", 3)):
        yield flow_case(text, 8 if text[0] in "cbd" or "cube" in text else 4,
                        more=lambda st, n=status: None if st.status == n else f"status {st.status}")
    # of graphics, which gfx90a has not
    yield flow_case(".long 0xd4000000", 4, more=lambda st: None if st.status == (4 if t.ARCH == "gfx900" else 3) else
                    f"status {st.status}")


# ---- modifiers, SDWA, DPP, op_sel ----

def rows(fn, text, setup_regs):
    """fn(before, lane) gives v4's value of an active lane; None: it keeps the old one."""
    exec_mask = HOLES

    def setup(st):
        t.put64(st.sgpr, t.EXEC, exec_mask)
        setup_regs(st)

    def expect(before, st):
        for lane in range(64):
            want = fn(before, lane) if exec_mask >> lane & 1 else None
            want = before.vgpr[4][lane] if want is None else want
            if st.vgpr[4][lane] != want:
                return f"lane {lane}: {st.vgpr[4][lane]:#x}, not {want:#x}"
        return None
    return t.Case(text, setup, expect)


def fill(st):
    rng = random.Random(11)
    for reg in (4, 10, 12, 14):
        for lane in range(64):
            st.vgpr[reg][lane] = rng.getrandbits(32)


def floats(st):
    for lane in range(64):
        st.vgpr[10][lane] = F32.round(Fraction(lane - 20, 8)) if lane else 0x80000000
        st.vgpr[12][lane] = F32.round(Fraction(lane * lane % 37 - 15, 4))
        st.vgpr[14][lane] = F32.round(Fraction(lane % 7 - 3, 2))


def val(st, reg, lane):
    return F32.value(st.vgpr[reg][lane])


DPP = {
    "quad_perm:[3,0,1,1]": lambda l: (l & ~3) + (3, 0, 1, 1)[l & 3],
    "row_shl:3": lambda l: l + 3 if l % 16 + 3 < 16 else -1,
    "row_shr:5": lambda l: l - 5 if l % 16 >= 5 else -1,
    "row_ror:7": lambda l: l - l % 16 + (l - 7) % 16,
    "wave_shl:1": lambda l: l + 1 if l < 63 else -1,
    "wave_rol:1": lambda l: (l + 1) % 64,
    "wave_shr:1": lambda l: l - 1,
    "wave_ror:1": lambda l: (l - 1) % 64,
    "row_mirror": lambda l: l - l % 16 + 15 - l % 16,
    "row_half_mirror": lambda l: l - l % 8 + 7 - l % 8,
    "row_bcast:15": lambda l: l - l % 16 - 1 if l >= 16 else -1,
    "row_bcast:31": lambda l: 31 if l >= 32 else -1,
}


def part(v, sel, sext):
    if sel.startswith("BYTE"):
        v = v >> 8 * int(sel[-1]) & 255
        return bits(s(v, 8)) if sext else v
    if sel.startswith("WORD"):
        v = v >> 16 * int(sel[-1]) & 0xffff
        return bits(s(v, 16)) if sext else v
    return v


def insert(v, sel, unused, old):
    n = 8 if sel.startswith("BYTE") else 16 if sel.startswith("WORD") else 32
    at = n * int(sel[-1]) if n < 32 else 0
    v, mask = bits(v, n), ((1 << n) - 1) << at
    if unused == "UNUSED_PRESERVE":
        return v << at | old & ~mask
    return bits(s(v, n) << at) if unused == "UNUSED_SEXT" else v << at


def modifiers():
    exec_mask = HOLES
    for text, lane_of in DPP.items():
        for tail, bound, off in (("row_mask:0xf bank_mask:0xf", False, lambda l: False),
                                 ("row_mask:0xf bank_mask:0xf bound_ctrl:0", True, lambda l: False),
                                 ("row_mask:0xa bank_mask:0x7", False, lambda l: not l // 16 & 1 or l % 16 >= 12)):
            def moved(st, l, lane_of=lane_of, bound=bound, off=off):
                lane = lane_of(l)
                there = lane >= 0 and exec_mask >> lane & 1
                return None if off(l) or not (there or bound) else st.vgpr[10][lane] if there else 0
            yield rows(moved, f"v_mov_b32_dpp v4, v10 {text} {tail}", fill)
    yield rows(lambda st, l: bits(st.vgpr[10][(l & ~3) + 3 - l % 4] + st.vgpr[12][l]) if
               exec_mask >> ((l & ~3) + 3 - l % 4) & 1 else None,
               "v_add_u32_dpp v4, v10, v12 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf", fill)
    for sel0 in ("BYTE_1", "BYTE_3", "WORD_0", "WORD_1", "DWORD"):
        for sext in (False, True):
            for dst, unused in (("DWORD", "UNUSED_PAD"), ("BYTE_2", "UNUSED_PRESERVE"), ("WORD_1", "UNUSED_PAD"),
                                ("BYTE_1", "UNUSED_SEXT"), ("WORD_0", "UNUSED_SEXT"), ("BYTE_0", "UNUSED_PAD")):
                def added(st, l, sel0=sel0, sext=sext, dst=dst, unused=unused):
                    r = part(st.vgpr[10][l], sel0, sext) + part(st.vgpr[12][l], "WORD_1", False)
                    return insert(bits(r), dst, unused, st.vgpr[4][l])
                src = "sext(v10)" if sext else "v10"
                yield rows(added, f"v_add_u32_sdwa v4, {src}, v12 dst_sel:{dst} dst_unused:{unused} src0_sel:{sel0} "
                           "src1_sel:WORD_1", fill)
    yield rows(lambda st, l: part(st.vgpr[10][l], "BYTE_2", False) | part(st.sgpr[9], "WORD_1", False),
               "v_or_b32_sdwa v4, v10, s9 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:WORD_1", fill)

    def compared(before, st):
        want = sum(1 << l for l in range(64) if part(before.vgpr[10][l], "BYTE_0", False) <
                   part(before.vgpr[12][l], "BYTE_3", False))
        return None if got(st, 20, 64) == want else "mask"
    yield t.Case("v_cmp_lt_u32_sdwa s[20:21], v10, v12 src0_sel:BYTE_0 src1_sel:BYTE_3", fill, compared)
    for text, fn in (
            ("v_add_f32_e64 v4, -v10, |v12|", lambda a, b, c: -a + abs(b)),
            ("v_mul_f32_e64 v4, v10, -|v12| mul:2", lambda a, b, c: a * -abs(b) * 2),
            ("v_mul_f32_e64 v4, v10, v12 mul:4", lambda a, b, c: a * b * 4),
            ("v_add_f32_e64 v4, v10, v12 div:2", lambda a, b, c: (a + b) / 2),
            ("v_add_f32_e64 v4, v10, v12 clamp", lambda a, b, c: min(max(a + b, 0), 1)),
            ("v_fma_f32 v4, |v10|, -v12, -v14", lambda a, b, c: abs(a) * -b - c),
            ("v_add_f32_e64 v4, s9, v12", lambda a, b, c: Fraction(3, 2) + b),
            ("v_mul_f32 v4, -4.0, v12", lambda a, b, c: -4 * b),
            ("v_add_f32 v4, 0x3fc00000, v12", lambda a, b, c: Fraction(3, 2) + b)):
        def plus_zero(st, l, fn=fn):
            r = F32.round(Fraction(fn(val(st, 10, l), val(st, 12, l), val(st, 14, l))))
            return r

        def near_zero(before, st, fn=plus_zero):
            for l in range(64):
                have, want = st.vgpr[4][l], fn(before, l)
                if have != want and not (F32.iszero(have) and F32.iszero(want)):
                    return f"lane {l}: {have:#x}, not {want:#x}"
            return None

        def setup(st):
            floats(st)
            st.sgpr[9] = 0x3fc00000
        yield t.Case(text, setup, near_zero)
    for text, fn in (
            ("v_add_u32_e64 v4, v10, v12 clamp", lambda a, b, c: min(a + b, 2**32 - 1)),
            ("v_sub_u32_e64 v4, v10, v12 clamp", lambda a, b, c: max(a - b, 0)),
            ("v_subrev_u32_e64 v4, v10, v12 clamp", lambda a, b, c: max(b - a, 0)),
            ("v_add_i32 v4, v10, v12 clamp", lambda a, b, c: bits(min(max(s(a, 32) + s(b, 32), -2**31), 2**31 - 1))),
            ("v_sub_i32 v4, v10, v12 clamp", lambda a, b, c: bits(min(max(s(a, 32) - s(b, 32), -2**31), 2**31 - 1))),
            ("v_add_u16_e64 v4, v10, v12 clamp", lambda a, b, c: min(bits(a, 16) + bits(b, 16), 65535)),
            ("v_mad_u32_u24 v4, v10, v12, v14 clamp",
             lambda a, b, c: min(bits(a, 24) * bits(b, 24) + c, 2**32 - 1)),
            ("v_mad_i32_i24 v4, v10, v12, v14 clamp",
             lambda a, b, c: bits(min(max(s(a, 24) * s(b, 24) + s(c, 32), -2**31), 2**31 - 1))),
            ("v_pk_add_u16 v4, v10, v12 op_sel:[1,0] op_sel_hi:[0,1]",
             lambda a, b, c: bits((a >> 16) + b, 16) | bits(a + (b >> 16), 16) << 16),
            ("v_pk_sub_i16 v4, v10, v12 clamp",
             lambda a, b, c: sum(bits(min(max(s(a >> n, 16) - s(b >> n, 16), -32768), 32767), 16) << n
                                 for n in (0, 16))),
            ("v_pk_mul_lo_u16 v4, v10, 3 op_sel_hi:[1,0]", lambda a, b, c: bits(a * 3, 16) | bits((a >> 16) * 3, 16) << 16),
            ("v_alignbit_b32 v4, v10, v12, 9", lambda a, b, c: bits((a << 32 | b) >> 9))):
        yield rows(lambda st, l, fn=fn: fn(st.vgpr[10][l], st.vgpr[12][l], st.vgpr[14][l]), text, fill)
    yield rows(lambda st, l: st.vgpr[4][l] & 0xffff | bits((st.vgpr[10][l] >> 16) * bits(st.vgpr[12][l], 16) +
                                                         (st.vgpr[14][l] >> 16), 16) << 16,
               "v_mad_u16 v4, v10, v12, v14 op_sel:[1,0,1,1]", fill)
    yield rows(lambda st, l: F16_neg_add(st.vgpr[10][l], st.vgpr[12][l]),
               "v_pk_add_f16 v4, v10, v12 neg_lo:[1,0] neg_hi:[0,1]", halves)
    mad = "v_mad_mix_f32" if t.ARCH == "gfx900" else "v_fma_mix_f32"
    yield rows(lambda st, l: mix(st, l), f"{mad} v4, v10, v12, v14 op_sel:[1,0,0] op_sel_hi:[1,1,0]", halves)


def halves(st):
    for lane in range(64):
        for reg, k in ((10, 3), (12, 5)):
            lo, hi = F16.round(Fraction(lane * k % 41 - 19, 4)), F16.round(Fraction(lane * k % 23 + 1, 8))
            st.vgpr[reg][lane] = lo | hi << 16
        st.vgpr[14][lane] = F32.round(Fraction(lane * 7 + 1, 16))


def F16_neg_add(a, b):
    lo = F16.round(-F16.value(bits(a, 16)) + F16.value(bits(b, 16)))
    hi = F16.round(F16.value(a >> 16) - F16.value(b >> 16))
    return lo | hi << 16


def mix(st, l):
    a, b = F16.value(st.vgpr[10][l] >> 16), F16.value(bits(st.vgpr[12][l], 16))
    return F32.round(F32.value(F32.round(a * b)) + val(st, 14, l))


# ---- between lanes ----

def swizzled(pattern, l):
    if pattern & 0x8000:
        return (l & ~3) | (pattern >> 2 * (l & 3) & 3)
    return (l & ~31) | ((((l & 31) & (pattern & 31)) | pattern >> 5 & 31) ^ (pattern >> 10 & 31))


def lanes():
    exec_mask = HOLES
    for pattern in (0x8000 | 0x1b, 0x041f, 0x7c1f, 0x001e, 0x0fe0, 0x401f):
        yield rows(lambda st, l, p=pattern: st.vgpr[10][swizzled(p, l)] if exec_mask >> swizzled(p, l) & 1 else 0,
                   f"ds_swizzle_b32 v4, v10 offset:{pattern}", fill)
    yield rows(lambda st, l: (lambda n: st.vgpr[12][n] if exec_mask >> n & 1 else 0)((st.vgpr[10][l] + 20) // 4 % 64),
               "ds_bpermute_b32 v4, v10, v12 offset:20", fill)

    def sent(st, l):
        found = [n for n in range(64) if exec_mask >> n & 1 and (st.vgpr[10][n] & 0xffffffff) // 4 % 64 == l]
        return st.vgpr[12][found[-1]] if found else 0
    yield rows(sent, "ds_permute_b32 v4, v10, v12", fill)

    def read(reg, lane):
        return lambda before, st: None if st.sgpr[4] == before.vgpr[reg][lane] else hex(st.sgpr[4])

    def mask(v):
        return lambda st: t.put64(st.sgpr, t.EXEC, v)
    yield t.Case("v_readfirstlane_b32 s4, v10", mask(1 << 37 | 1 << 60), read(10, 37))
    yield t.Case("v_readfirstlane_b32 s4, v10", mask(0), read(10, 0))
    yield t.Case("v_readlane_b32 s4, v10, 41", mask(1), read(10, 41))
    yield t.Case("v_readlane_b32 s4, v10, s8", lambda st: st.sgpr.__setitem__(8, 64 + 13), read(10, 13))
    yield t.Case("v_writelane_b32 v4, s9, 41", mask(1),
                 lambda before, st: None if [l for l in range(64) if st.vgpr[4][l] != before.vgpr[4][l]] == [41] and
                 st.vgpr[4][41] == before.sgpr[9] else "lanes")

    def swapped(before, st):
        for l in range(64):
            a, b = (10, 4) if exec_mask >> l & 1 else (4, 10)
            if (st.vgpr[4][l], st.vgpr[10][l]) != (before.vgpr[a][l], before.vgpr[b][l]):
                return f"lane {l}"
        return None
    yield t.Case("v_swap_b32 v4, v10", mask(exec_mask), swapped)


def families(module):
    global t
    t = module
    import inst_memory
    table = {"salu": salu, "flow": flow, "modifiers": modifiers, "lanes": lanes}
    table.update(inst_memory.families(module))
    return {name: (lambda fn=fn: list(fn())) for name, fn in table.items()}
