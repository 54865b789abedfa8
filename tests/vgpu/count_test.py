#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""count_test.py - counters of kernels whose instructions can be counted by hand

    count_test.py --lib libgcn_inst.so

Each kernel is assembly with its counts beside it, as products that can be checked against the text.
"""
import ctypes
import mmap
import sys

import inst_test

NAMES = ("waves", "items", "insts", "valu", "salu", "smem", "branch", "vmem_rd", "vmem_wr", "flat", "lds", "msg", "wait",
         "busy", "gui", "tcp_req", "tcp_hit", "tcc_hit", "tcc_miss", "tcc_rd", "tcc_wr", "ea_rd", "ea_wr", "ea_wr_end",
         "wait_any", "wait_valu", "wait_sca", "wait_vmem", "wait_flat", "wait_lds", "wait_misc",
         *(f"valu_of_{k}" for k in range(15)), "mfma", *(f"mfma_{t}" for t in range(7)), *(f"mops_{t}" for t in range(7)), "mfma_cycles")

# (name, items, workgroup, text, counts); s[0:1] is the kernarg pointer, s2 the workgroup, v0 the work-item
KERNELS = [
    ("straight", 256, 64, """
        s_mov_b32 s4, 1
        s_add_u32 s4, s4, s4
        v_mov_b32 v1, s4
        v_add_u32 v1, v1, v0
        v_mul_f32 v2, v1, v1
        s_endpgm""",
     # 4 waves, each: 2 scalar, 3 vector, the end
     {"waves": 4, "items": 256, "salu": 4 * 2, "valu": 4 * 3, "insts": 4 * 6, "lds": 0, "smem": 0, "branch": 0}),
    ("loop", 130, 130, """
        s_movk_i32 s4, 10
    loop:
        v_add_u32 v1, v1, v0
        s_sub_u32 s4, s4, 1
        s_cmp_lg_u32 s4, 0
        s_cbranch_scc1 loop
        s_endpgm""",
     # 130 work-items are 3 waves, each ten times round
     {"waves": 3, "items": 130, "salu": 3 * (1 + 10 * 2), "valu": 3 * 10, "branch": 3 * 10,
      "insts": 3 * (1 + 10 * 4 + 1)}),
    ("divergent", 64, 64, """
        v_cmp_gt_u32 vcc, 32, v0
        s_and_saveexec_b64 s[4:5], vcc
        s_cbranch_execz skip
        v_add_u32 v1, v0, v0
    skip:
        s_andn2_b64 exec, s[4:5], exec
        s_cbranch_execz out
        v_sub_u32 v1, v0, v0
        v_sub_u32 v1, v0, v0
    out:
        s_endpgm""",
     # both branches are executed
     {"waves": 1, "valu": 1 + 1 + 2, "salu": 2, "branch": 2, "insts": 9}),
    ("memory", 128, 64, """
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_waitcnt lgkmcnt(0)
        v_lshlrev_b32 v1, 2, v0
        global_load_dword v2, v1, s[4:5]
        global_load_dword v3, v1, s[4:5]
        s_waitcnt vmcnt(0)
        global_store_dword v1, v2, s[4:5] offset:1024
        s_endpgm""",
     # both waves access the same 256 bytes, 4 lines: the first load misses, all others hit; stores bypass the first
     # level, miss once and hit once
     {"waves": 2, "smem": 2, "valu": 2, "vmem_rd": 4, "vmem_wr": 2, "wait": 4, "flat": 0, "tcp_req": 6 * 4,
      "tcp_hit": 3 * 4, "tcc_rd": 4, "tcc_wr": 8, "tcc_miss": 4 + 4, "tcc_hit": 4, "ea_rd": 4, "ea_wr_end": 4}),
    ("strided", 64, 64, """
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_lshlrev_b32 v1, 8, v0
        global_load_dwordx2 v[2:3], v1, s[4:5]
        global_load_dword v2, v1, s[4:5] offset:62
        s_endpgm""",
     # a line for each lane; the second load spans two lines, one of which is cached
     {"waves": 1, "vmem_rd": 2, "tcp_req": 64 + 128, "tcc_miss": 128, "ea_rd": 128, "tcc_wr": 0}),
    ("lds", 256, 256, """
        v_lshlrev_b32 v1, 2, v0
        ds_write_b32 v1, v0
        s_waitcnt lgkmcnt(0)
        s_barrier
        v_xor_b32 v2, 0x3fc, v1
        ds_read_b32 v3, v2
        s_waitcnt lgkmcnt(0)
        ds_add_u32 v1, v3
        s_endpgm""",
     # four waves share the LDS: of each four instructions one waits for none, the others for one, two, three
     {"waves": 4, "lds": 4 * 3, "valu": 4 * 2, "wait": 4 * 3, "insts": 4 * 9, "vmem_rd": 0,
      "wait_lds": 3 * (1 + 2 + 3), "wait_valu": 0, "wait_any": 3 * (1 + 2 + 3)}),
    ("crowded", 512, 512, """
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_lshlrev_b32 v1, 2, v0
        s_mov_b32 s6, 1
        s_mov_b32 s7, 1
        v_add_u32 v2, v1, v1
        v_add_u32 v2, v2, v1
        global_load_dword v3, v1, s[4:5]
        s_branch next
    next:
        s_endpgm""",
     # eight waves, two on each SIMD: a vector instruction of one of the two waits
     {"waves": 8, "wait_valu": 4 * 3, "wait_sca": 3 * 28, "wait_vmem": 28, "wait_misc": 28, "wait_flat": 0,
      "wait_any": 12 + 84 + 28 + 28}),
    ("flat", 64, 64, """
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_mov_b32 v2, s4
        v_mov_b32 v3, s5
        flat_load_dword v4, v[2:3]
        flat_store_dword v[2:3], v4
        flat_atomic_add v[2:3], v4
        s_getpc_b64 s[8:9]
        s_sendmsg 0
        s_endpgm""",
     # FLAT counts as vector memory as well
     # all lanes access one line: the load misses, the store and the atomic hit
     {"flat": 3, "vmem_rd": 1, "vmem_wr": 2, "valu": 2, "salu": 1, "msg": 1, "smem": 1, "insts": 9, "tcp_req": 3,
      "tcc_rd": 1, "tcc_wr": 2, "tcc_hit": 2}),
    ("flat to LDS", 64, 64, """
        v_lshlrev_b32 v2, 2, v0
        v_mov_b32 v3, 0x10000
        v_mov_b32 v4, 1
        flat_atomic_add v[2:3], v4
        flat_load_dword v5, v[2:3]
        s_endpgm""",
     # LDS does not use the caches
     {"flat": 2, "vmem_rd": 1, "vmem_wr": 1, "tcp_req": 0, "tcc_wr": 0}),
    ("waves that wait for each other", 128, 128, """
        v_mov_b32 v1, 0
        v_mov_b32 v2, 1
        v_cmp_gt_u32 vcc, 64, v0
        s_cbranch_vccnz again
        ds_write_b32 v1, v2
        s_endpgm
    again:
        ds_read_b32 v2, v1
        s_waitcnt lgkmcnt(0)
        v_readfirstlane_b32 s4, v2
        s_cmp_eq_u32 s4, 0
        s_cbranch_scc1 again
        s_endpgm""",
     # the first wave polls, without s_sleep, until the second had its turn
     {"waves": 2, "valu": 2 * 3 + 4001, "lds": 4001 + 1}),
    ("clock", 64, 64, """
        s_memtime s[4:5]
        s_nop 0
        s_mov_b32 s10, 1
        s_memtime s[6:7]
        s_sub_u32 s8, s6, s4
        s_cmp_eq_u32 s8, 12
        s_cbranch_scc1 right
        v_mov_b32 v1, v0
    right:
        s_endpgm""",
     # three instructions later
     {"smem": 2, "valu": 0}),
    ("two parts of a loop, 64 words from each other", 64, 64, """
        s_movk_i32 s4, 100
    loop:
        s_sub_u32 s4, s4, 1
        s_cbranch_execz loop
        .rept 61
        v_nop
        .endr
        s_cbranch_execz loop
        s_cmp_lg_u32 s4, 0
        s_cbranch_scc1 loop
        s_endpgm""",
     {"salu": 1 + 100 * 2, "branch": 100 * 3, "valu": 100 * 61, "insts": 1 + 100 * 66 + 1}),
    ("a jump into a straight line", 64, 64, """
        s_mov_b32 s4, 0
    first:
        v_nop
        v_nop
    second:
        v_nop
        s_add_u32 s4, s4, 1
        s_cmp_eq_u32 s4, 1
        s_cbranch_scc1 second
        s_cmp_eq_u32 s4, 2
        s_cbranch_scc1 first
        s_endpgm""",
     # two from the beginning and one to `second`
     {"valu": 2 * 3 + 1, "salu": 1 + 1 * 2 + 2 * 3, "branch": 1 + 2 * 2}),
    ("a number", 64, 64, """
        s_mov_b32 s4, 0x1234567
        s_cmp_eq_u32 s4, 0x1234567
        s_cbranch_scc1 same
        v_nop
    same:
        s_endpgm""",
     {"salu": 2, "valu": 0}),
    ("the same with another number, at the address of the one before", 64, 64, """
        s_mov_b32 s4, 0x7654321
        s_cmp_eq_u32 s4, 0x1234567
        s_cbranch_scc1 same
        v_nop
    same:
        s_endpgm""",
     {"salu": 2, "valu": 1}),
]

# Arguments in registers: architecture, user registers, dwords, index of the first, the words that v0 = s2 + 2 s3 + 4 s4 has,
# status. s[0:1] is the pointer; the first 256 bytes are for another firmware. The arguments are 11, 12, 13 ...
PRELOADS = [
    ("gfx942", 5, 3, 0, 11 + 2 * 12 + 4 * 13, 1),
    ("gfx90a", 5, 3, 1, 12 + 2 * 13 + 4 * 14, 1),
    # the workgroup's number is behind the user registers, however many dwords the descriptor asks for
    ("gfx942", 4, 16, 0, 11 + 2 * 12 + 4 * 0, 1),
    ("gfx942", 4, 1, 0, 11 + 2 * 0 + 4 * 0, 1),
    # nothing is asked for: the code of the other firmware runs
    ("gfx942", 5, 0, 0, 77, 1),
    # gfx900 has no such fields
    ("gfx900", 5, 3, 0, 77, 1),
    # arguments that are not there are a fault, as of a load
    ("gfx942", 5, 3, 511, None, 2),
]
PRELOADED = """
    s_add_u32 s3, s3, s3
    s_lshl_b32 s4, s4, 2
    s_add_u32 s2, s2, s3
    s_add_u32 s2, s2, s4
    """


def preload(lib, area, start):
    """Runs PRELOADS; returns how many were wrong."""
    load = """s_load_dwordx2 s[6:7], s[0:1], 0x40
        s_waitcnt lgkmcnt(0)
        v_mov_b32 v1, s2
        v_mov_b32 v2, s6
        v_mov_b32 v3, s7
        flat_store_dword v[2:3], v1
        s_endpgm"""
    other, usual = (b"".join(w.to_bytes(4, "little") for w in inst_test.assemble([text + load])[0])
                    for text in ("s_movk_i32 s2, 77\n", PRELOADED))
    failed = 0
    for arch, users, nr, first, want, status in PRELOADS:
        lib.inst_arch(arch.encode())
        lib.inst_keep_code(False)
        header = bytearray(64)
        header[16:24] = (64).to_bytes(8, "little")
        header[48] = 3
        header[52] = users << 1 | 1 << 7
        header[56] = 8
        header[58:60] = (nr | first << 7).to_bytes(2, "little")
        area[0:64 + 256] = bytes(header) + other.ljust(256, b"\0")
        area[320:320 + len(usual)] = usual
        at = (1 << 17) - 128  # the last argument that is there is dword 31
        area[at:at + 64] = b"".join((11 + n).to_bytes(4, "little") for n in range(16))
        area[at + 64:at + 72] = (start + 16384).to_bytes(8, "little")
        area[16384:16388] = bytes(4)
        out = (ctypes.c_uint64 * len(NAMES))()
        ended = lib.inst_kernel(1, 1, start, 1 << 17, start + at, out)
        have = int.from_bytes(area[16384:16388], "little")
        if ended != status or (want is not None and have != want):
            failed += 1
            print(f"{nr} arguments from {first} on, {users} user registers, {arch}: status {ended}, {have}; {status}, {want}")
    lib.inst_arch(b"gfx900")
    return failed


def main():
    lib = ctypes.CDLL(sys.argv[sys.argv.index("--lib") + 1])
    lib.inst_kernel.argtypes = [ctypes.c_uint32, ctypes.c_uint16, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64,
                                ctypes.c_void_p]
    area = mmap.mmap(-1, 1 << 17)
    start = ctypes.addressof(ctypes.c_char.from_buffer(area))
    failed = 0
    # in the second round what is decoded is kept: all kernels are at one address, and memory says which of them
    for name, items, group, text, counts, keep in [(*k, keep) for keep in (False, True) for k in KERNELS]:
        lib.inst_keep_code(keep)
        code = b"".join(w.to_bytes(4, "little") for w in inst_test.assemble([text])[0])
        header = bytearray(64)
        header[16:24] = (64).to_bytes(8, "little")
        header[48] = 3  # 16 vector registers
        header[52] = 2 << 1 | 1 << 7  # two user registers, the workgroup's number behind them
        header[56] = 8  # kernarg pointer
        area[0:64 + len(code)] = bytes(header) + code
        area[8192:8200] = (start + 16384).to_bytes(8, "little")
        out = (ctypes.c_uint64 * len(NAMES))()
        status = lib.inst_kernel(items, group, start, 1 << 17, start + 8192, out)
        have = dict(zip(NAMES, out))
        wrong = {k: (have[k], v) for k, v in counts.items() if have[k] != v}
        if status != 1 or wrong:
            failed += 1
            print(f"{name}{', code kept' * keep}: status {status}; (have, want): {wrong}")
    failed += preload(lib, area, start)
    print(f"{len(KERNELS)} kernels, twice, {len(PRELOADS)} with arguments in registers, {failed} wrong")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
