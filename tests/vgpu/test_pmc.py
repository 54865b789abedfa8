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
def second_interface_of_aqlprofile_counts_the_same():
    """That which rocprofiler-sdk links: agents without the runtime, buffers by callbacks, coordinates."""
    seen = read(run("aqlprofile_test", "second", exec="auto"))
    for number in (0, 1):
        have = seen[f"set {number}"]
        equal(f"set {number}", have, {k: BY_HAND[k] for k in have})
    equal("counters that were read", set(seen["set 0"]) | set(seen["set 1"]), set(BY_HAND))


START, END, INST = 3, 6, 10


def own_dispatches(r):
    # the runtime copies code objects by a kernel on its queue 0
    return [d for d in of_kind(r, "dispatch") if d["queue"]]


class Token:
    """A token of a thread trace."""

    def __init__(self, line):
        (self.type, self.se, self.cu, self.simd, self.slot, self.gpu, self.wave, self.time, self.group, self.value,
         self.packet) = map(int, line.split()[1:])


def traces(r):
    """For each trace: ({shader engine: its tokens}, the text about it)."""
    out, samples = [], {}
    for line in r.out.splitlines():
        if line.startswith("sample "):
            se, size = map(int, line.split()[1:])
            tokens = samples[se] = []
        elif line.startswith("token "):
            tokens.append(Token(line))
        else:
            out.append((samples, line.removeprefix("text ")))
            samples = {}
    return out


def waves_of(tokens, dispatch):
    """The waves of a dispatch: {(workgroup, wave): (start, end)}; checks what is true of all traces."""
    mine = [t for t in tokens if t.packet == dispatch["index"] and (t.type == INST or t.value == dispatch["queue"])]
    out = {}
    for kind in (START, END):
        for t in mine:
            if t.type == kind:
                check((t.group, t.wave) not in out if kind == START else len(out[t.group, t.wave]) == 1, "a token twice")
                out.setdefault((t.group, t.wave), []).append(t)
    for start, end in out.values():
        check(dispatch["begin"] <= start.time <= end.time <= dispatch["end"], "a wave is not in its dispatch")
        for key in "se", "cu", "simd", "slot", "gpu":
            equal(f"{key} of a wave's end", getattr(end, key), getattr(start, key))
        check(start.se < 4 and start.cu < 16 and start.simd == start.wave % 4 and start.slot < 10, "no such slot")
    # a slot has one wave at a time
    slots = {}
    for start, end in out.values():
        slots.setdefault((start.se, start.cu, start.simd, start.slot), []).append((start.time, end.time))
    for spans in slots.values():
        spans.sort()
        check(all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), "two waves in one slot")
    return out


@case
def thread_trace_tokens_match_waves_of_log():
    """The tokens of a trace are the waves of the dispatches that ran while it was on, as the log has them, no others."""
    for more in ({"counters": 1}, {"counters": 1, "clock": "deterministic"}, {"counters": 1, "overlap": 8}):
        r = run("aqlprofile_test", "trace", exec="auto", **more)
        logged = own_dispatches(r)
        equal("dispatches", [d["counters"]["SQ_WAVES"] for d in logged], [1, 16, 6, 240, 2, 4])
        first, again = traces(r)
        for (samples, text), dispatches in ((first, logged[1:4]), (again, logged[5:])):
            equal("shader engines", list(samples), [0, 1, 2, 3])
            equal("text", text, "''")
            tokens = sum(samples.values(), [])
            waves = [waves_of(tokens, d) for d in dispatches]
            for d, have in zip(dispatches, waves):
                group = d["group"][0] // 64
                equal("waves", sorted(have), [(g, w) for g in range(d["grid"][0] // d["group"][0]) for w in range(group)])
                starts, ends = [s.time for s, _ in have.values()], [e.time for _, e in have.values()]
                equal("span of the waves", (min(starts), max(ends)), (d["begin"], d["end"]))
            equal("tokens of waves", sum(t.type != INST for t in tokens), 2 * sum(len(w) for w in waves))
            # every wave of the kernel executes the same instructions; those of one compute unit have tokens
            insts = [t for t in tokens if t.type == INST]
            equal("instructions", {t.value for t in insts}, {BY_HAND["SQ_INSTS"] // WAVES})
            equal("compute units with instructions", {t.cu for t in insts}, {0})
            equal("waves with instructions", len(insts),
                  sum(s.cu == 0 for w in waves for s, _ in w.values()))
            for tokens in samples.values():
                # dispatches of two queues may overlap; those of one are in order
                for d in dispatches:
                    times = [t.time for t in tokens if t.packet == d["index"] and t.value in (d["queue"], BY_HAND["SQ_INSTS"] // WAVES)]
                    check(times == sorted(times) or "overlap" in more, "tokens are not in the order of time")
        lines = of_kind(r, "thread_trace")
        equal("log", [(l["se"], l["tokens"], l["lost"]) for l in lines],
              [(se, len(s[se]), 0) for s, _ in (first, again) for se in range(4)])


@case
def thread_trace_without_execution_has_waves_of_grid():
    r = run("aqlprofile_test", "trace")
    logged = own_dispatches(r)
    tokens = sum(traces(r)[0][0].values(), [])
    equal("waves", [len(waves_of(tokens, d)) for d in logged], [0, 16, 6, 240, 0, 0])


@case
def thread_trace_parameters_select_engines_tokens_and_units():
    (starts, _), (rest, _) = traces(run("aqlprofile_test", "masks", exec="auto"))
    equal("shader engines", list(starts), [1, 3])
    for se, tokens in starts.items():
        equal("types", {t.type for t in tokens}, {START})
        equal("engine of tokens", {t.se for t in tokens}, {se})
        # 16 workgroups of 4 waves over 4 engines
        equal("waves", len(tokens), 16)
    equal("shader engines", list(rest), [0, 1, 2, 3])
    for tokens in rest.values():
        equal("ends", sum(t.type == END for t in tokens), 16)
        insts = [t for t in tokens if t.type == INST]
        equal("units with instructions", {(t.cu, t.simd) for t in insts}, {(0, 1), (0, 3)})
        equal("tokens", len(tokens), 16 + len(insts))


@case
def full_thread_trace_keeps_the_first_tokens_and_says_what_it_lost():
    r = run("aqlprofile_test", "full", exec="auto")
    (samples, text), = traces(r)
    # 60 waves for each engine and dispatch: 240 tokens for 128 slots
    equal("text", text, "'iterate_data: the output buffer of shader engine 3 was full: 112 tokens are lost'")
    equal("tokens", [len(t) for t in samples.values()], [128] * 4)
    first, second = [d["index"] for d in of_kind(r, "dispatch") if d["grid"][0] == 60 * 256]
    for tokens in samples.values():
        equal("whose tokens", [t.packet for t in tokens], [first] * 120 + [second] * 8)
        equal("what the second has", [t.type for t in tokens[120:]], [START] * 8)
    equal("log", [(l["tokens"], l["lost"]) for l in of_kind(r, "thread_trace")], [(128, 112)] * 4)


@case
def aqlprofile_refuses_bad_profiles():
    """Each bad input of a function has its status, and a text that names it."""
    equal("what was accepted", run("aqlprofile_test", "bad").out, "all refused\n")


main()
