#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_pmc.py - performance counters that PM4 packets program and read, against the log and against counting by hand

The packets are those of pmc_test.c, and those of the virtual GPU's AQLprofile library, which HSA's runtime loads.
"""
from support.vgpu import *

# counted.s with 4 workgroups of 4 waves, a wave on each SIMD
WAVES = 16
LINES = WAVES * 4  # of 64 bytes, that 64 work-items read one after the other, and that they write
BY_HAND = {
    "SQ_WAVES": WAVES,
    "SQ_INSTS_VALU": WAVES * (3 + 10 + 1),
    "SQ_INSTS_SALU": WAVES * (2 + 10 * 2 + 2),
    "SQ_INSTS_SMEM": WAVES,
    "SQ_INSTS_VMEM_RD": WAVES,
    "SQ_INSTS_VMEM_WR": WAVES,
    "SQ_INSTS_LDS": WAVES * 2,
    "SQ_INSTS_BRANCH": WAVES * 10,
    # and four s_waitcnt, s_barrier, s_endpgm
    "SQ_INSTS": WAVES * (14 + 24 + 1 + 2 + 2 + 10 + 6),
    # each time that the four waves of a workgroup need a unit, they wait 0, 1, 2 and 3 turns
    "SQ_WAIT_INST_VALU": 0,
    "SQ_WAIT_INST_SCA": 4 * 25 * (1 + 2 + 3),
    "SQ_WAIT_INST_VMEM": 4 * 2 * (1 + 2 + 3),
    "SQ_WAIT_INST_LDS": 4 * 2 * (1 + 2 + 3),
    "SQ_WAIT_INST_MISC": 4 * 10 * (1 + 2 + 3),
    "SQ_WAIT_INST_ANY": 4 * (25 + 2 + 2 + 10) * (1 + 2 + 3),
    # a wave runs alone on its SIMD: its instructions, four cycles each
    "SQ_BUSY_CYCLES": 59 * 4,
    "GRBM_COUNT": 59 * 4 + 1000,
    "GRBM_GUI_ACTIVE": 59 * 4 + 1000,
    "TCP_TOTAL_ACCESSES": 2 * LINES,
    "TCP_HIT": 0,
    "TCC_READ": LINES,
    "TCC_WRITE": LINES,
    "TCC_HIT": 0,
    "TCC_MISS": 2 * LINES,
    "TCC_EA_RDREQ": LINES,
    "TCC_EA_WRREQ": LINES,
}


def read(r):
    """{when: {counter: value}}"""
    out = {}
    for when, name, value in re.findall(r"^(.*): (\w+) (\d+)$", r.out, re.M):
        out.setdefault(when, {})[name] = int(value)
    return out


@case
def pmc_counts_match_log_and_hand_count():
    """Two sets of counters around a known kernel: PM4 packets, log and hand count agree."""
    r = run("pmc_test", "counts", exec="auto", counters=1)
    logged = [e["counters"] for e in of_kind(r, "dispatch") if e["grid"] == [1024, 1, 1]]
    equal("dispatches", len(logged), 8)
    for counters in logged:
        equal("counters in the log", {k: counters[k] for k in BY_HAND}, BY_HAND)
    seen = read(r)
    names = set()
    for number in (0, 1):
        for when, times in (("after 1", 1), ("after 2", 2), ("stale", 2), ("stopped", 3), ("again", 0)):
            have = seen[f"set {number} {when}"]
            names |= set(have)
            equal(f"set {number} {when}", have, {k: BY_HAND[k] * times for k in have})
    equal("counters that were read", names, set(BY_HAND))
    equal("the same without VGPU_COUNTERS", read(run("pmc_test", "counts", exec="auto")), seen)
    equal("the same with VGPU_OVERLAP", read(run("pmc_test", "counts", exec="auto", overlap=8)), seen)


@case
def pmc_counts_waves_of_enabled_queues():
    seen = read(run("pmc_test", "queues", exec="auto"))
    for number, when in enumerate(("not enabled", "enabled", "disabled"), 1):
        have = seen[when]
        waves = {k: v for k, v in have.items() if k.startswith("SQ_") or k in ("TCP_TOTAL_ACCESSES", "TCC_READ")}
        equal(f"what waves did, {when}", waves, {k: BY_HAND[k] * (number > 1) for k in waves})
        rest = {k: v for k, v in have.items() if k.startswith("GRBM") or k in ("TCC_HIT", "TCC_MISS")}
        equal(f"the rest, {when}", rest, {k: BY_HAND[k] * number for k in rest})


@case
def pmc_wait_delays_later_packets():
    """Packets before a wait are executed once and at once, those after it later, by the GPU's clock."""
    (ticks,), = numbers(run("pmc_test", "waits"), r"waits (\d+)")
    check(ticks > 0, "no time between before and after")
    # virtual time stands still while a queue waits for the host
    equal("with virtual time", run("pmc_test", "waits", clock="deterministic").out, "waits 0\n")


@case
def endless_pm4_buffer_does_not_block_other_queues():
    """Packets that never end do not block other queues."""
    equal("other queues", run("pmc_test", "endless", exec="auto").out, "went on\n")


@case
def bad_pm4_packet_is_a_queue_error():
    r = run("pmc_test", "bad")
    check(re.match(r"queue \d+ error 0x\w+\n$", r.out), r.out)
    equal("faults", [f["fault"] for f in of_kind(r, "fault")], ["queue_error"])


@case
def pm4_write_to_wild_address_is_a_fault():
    r = run("pmc_test", "wild")
    equal("event from the runtime", r.out, "event 0 fault 0x123456000\n")
    equal("faults", [f["fault"] for f in of_kind(r, "fault")], ["memory_fault"])


@case
def aqlprofile_counts_match_log_and_hand_count():
    """HSA's runtime loads the extension; its packets count two sets of counters around a known kernel, read and stopped."""
    seen = read(run("aqlprofile_test", "counts", exec="auto"))
    names = set()
    for number in (0, 1):
        for when, times in (("after 1", 1), ("after 2", 2), ("stopped", 2), ("again", 1)):
            have = seen[f"set {number} {when}"]
            names |= set(have)
            equal(f"set {number} {when}", have, {k: BY_HAND[k] * times for k in have})
    equal("counters that were read", names, set(BY_HAND))
    # the stop packet reads instead
    have = read(run("aqlprofile_test", "at_stop", exec="auto", environ={"AQLPROFILE_READ_API": "0"}))["at stop"]
    equal("at stop", have, {k: BY_HAND[k] for k in have})


@case
def aqlprofile_refuses_bad_profiles():
    """Each bad input of a function has its status, and a text that names it."""
    equal("what was accepted", run("aqlprofile_test", "bad").out, "all refused\n")


main()
