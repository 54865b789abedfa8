#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dispatches and copies in the trace equal those in the virtual GPU's log, to the tick."""
import collections
import functools

from support import *


def exact(gpus, threads, streams, launches, *args, mode="standard", **env):
    r = run(
        "launcher",
        f"threads={threads}",
        f"streams={streams}",
        f"launches={launches}",
        f"devices={gpus}",
        *args,
        trace=RTL,
        gpus=gpus,
        rtl_args=("-q", "-m", mode),
        timeout=120,
        env={"VGPU_KERNEL_NS": 1000, "GPU_MAX_HW_QUEUES": 32 // gpus + 1, **env},
    )
    contains("launcher's own account", r.out, f"launcher: {launches} launches, 0 wrong copies")
    log = exact_dispatches(r, LAUNCHER_KERNELS)
    at_least("dispatches in the log", len(log), launches)
    complete(r)
    check_program_kernels(r, launches)
    return r


def check_program_kernels(r, launches):
    """A flag marks dispatches on internal queues; kernels have demangled names."""
    user = r.value("select count(*) from rtl_dispatch where kernel like '%k__\\_%' escape '\\'")
    equal("dispatches with a name of the program's kernels", user, launches)


for gpus, threads, streams in (
    (1, 1, 1), (1, 4, 8), (1, 16, 2),
    (2, 2, 4), (2, 16, 16),
    (8, 8, 4), (8, 16, 32),
):
    add_case(
        f"gpus_{gpus}_threads_{threads}_streams_{streams}",
        functools.partial(exact, gpus, threads, streams, 100000),
    )


@case
def grid_model_durations_are_exact():
    exact(2, 4, 4, 20000, VGPU_KERNEL_MODEL="grid")


@case
def overlapping_kernels_are_exact():
    exact(1, 4, 4, 20000, VGPU_OVERLAP=4)


@case
def large_copies_have_all_their_bytes():
    """Of 9 MB, which is one packet of gfx90a's copy engines, and several of gfx900's."""
    for arch in ("gfx900", "gfx90a"):
        r = run(os.path.join(PROGRAMS, "vgpu/bytes_test"), "large", trace=RTL, env={"VGPU_ARCH": arch})
        equal("the program's verdict", r.out.splitlines()[-1], "0 failures")
        complete(r)
        equal(f"large copies on {arch}", {kind for kind, in r.rows("SELECT kind FROM rtl_transfer WHERE bytes = 9000001 AND means LIKE 'copy engine%'")},
              {"HostToDevice", "DeviceToHost"})


@case
def drifting_clocks_are_exact():
    exact(2, 2, 2, 5000, "sync=1", VGPU_DRIFT_PPM="50,-80", VGPU_CLOCK_OFFSET="123456789012,7")


@case
def deterministic_clock_is_exact():
    exact(2, 1, 4, 20000, VGPU_CLOCK="deterministic")


@case
def synchronised_launches_are_exact():
    # HIP spins while it waits: four such threads leave the virtual GPU little of two cores
    exact(1, 4, 1, 3000, "sync=1")


@case
def full_mode_is_exact():
    exact(2, 4, 4, 20000, "ext=1", "waits=1", mode="full")


@case
def kernels_with_events_and_ranges_are_exact():
    exact(2, 4, 4, 20000, "ext=1", "waits=1", "roctx=1", "copies=2")


@case
def queues_out_of_order_are_exact():
    # one queue is held until another has completed 200 packets
    exact(1, 1, 4, 4000, VGPU_HOLD="queue=2,until=3,done=200")


@case
def tools_lib_alone_is_exact():
    r = run(
        "launcher", "threads=4", "streams=4", "launches=20000", "devices=2",
        trace=TOOLS, gpus=2, env={"VGPU_KERNEL_NS": 1000},
    )
    exact_dispatches(r, LAUNCHER_KERNELS)
    complete(r)


@case
def barriers_option_records_each_barrier():
    r = run(
        "flood", "threads=2", "queues=2", "count=3000", "kinds=dbBsow",
        trace=RTL, rtl_args=("-q", "--barriers"), env={"VGPU_KERNEL_NS": 1000},
    )
    log = exact_dispatches(r)
    barriers = [l for l in r.log() if l["kind"] == "barrier"]
    at_least("barrier packets in the log", len(barriers), 6000 * 4 // 6)
    at_least("dispatches in the log", len(log), 6000 * 2 // 6)
    seen = r.count("rtl_barrier")
    equal("barriers in the trace", seen, len(barriers))


def copies(gpus, mode):
    """Each operation of an SDMA engine is a row of rtl_copy; a copy by a kernel is a dispatch."""
    r = run(
        "launcher", f"threads={min(4, gpus * 2)}", "streams=2", "launches=400", f"devices={gpus}", "copies=10",
        trace=RTL, gpus=gpus, rtl_args=("-q", "-m", mode),
    )
    exact_dispatches(r, LAUNCHER_KERNELS)
    engine = [l for l in r.log() if l["kind"] in ("copy", "fill")]
    at_least("operations of the copy engines", len(engine), 40)
    rows = r.rows("select bytes, kind, begin_ns, end_ns from rtl_copy")
    seen = collections.Counter(row[0] for row in rows)
    want = collections.Counter(l["bytes"] for l in engine)
    missing = want - seen
    equal("bytes of engine operations that are not in rtl_copy", dict(missing), {})
    # each further copy ran as an internal kernel
    extra = seen - want
    internal = r.value("select count(*) from rtl_dispatch where flags & 32")
    at_most("copies in the trace that no engine did", sum(extra.values()), internal)
    for size, kind, begin, end in rows:
        if not 0 < begin <= end:
            fail(f"{kind} of {size} bytes: begin {begin}, end {end}")
    complete(r)
    return r


def copies_in_all_ways(*rtl_args):
    """The program's copies as it named them, {bytes: (kind, source, destination)}, and those in the trace by each view."""
    r = run("copyways", trace=RTL, gpus=2, rtl_args=("-q", *rtl_args), env={"VGPU_EXEC": "auto"})
    contains("output", r.out, "copyways: 0 wrong")
    named = {int(size): (kind, *("CPU 0" if end == "c" else f"GPU {end}" for end in ends))
             for size, kind, *ends in re.findall(r"^copy (\d+) (\S+) (\S+) (\S+)$", r.out, re.M)}
    at_least("copies", len(named), 19)
    complete(r)
    views = {view: {size: tuple(what) for size, *what in r.rows(f"select bytes, kind, src, dst from {view}")}
             for view in ("rtl_copy", "rtl_transfer", "rtl_host_copy")}
    for size, what in views["rtl_copy"].items():
        equal(f"copy of {size} bytes in both views", views["rtl_transfer"][size], what)
    return r, named, views


def copies_have_agents(*rtl_args):
    r, named, views = copies_in_all_ways(*rtl_args)
    for size, what in named.items():
        seen = views["rtl_transfer"].get(size) or views["rtl_host_copy"].get(size)
        equal(f"copy of {size} bytes", seen, what)
    equal("copies of the host that are operations, too", set(views["rtl_host_copy"]) & set(views["rtl_transfer"]), set())
    # HIP copies some by kernels; those by the blocking call are copies whatever does them
    equal("copies by the blocking call", {50001, 50002, 50003, 50004} - set(views["rtl_copy"]), set())
    return r


@case
def copies_have_the_agents_that_the_program_named():
    """Linear, of two and three dimensions, between GPUs, with the default direction, of pageable memory, by HSA's blocking call: by an engine,
    a kernel of HIP's or the host."""
    copies_have_agents("--hsa")


@case
def copies_by_hsa_in_a_trace_of_hip_calls_are_not_missed_calls():
    """Each has a correlation id of its own."""
    r = copies_have_agents("-m", "hip")
    ids = r.rows("select correlation_id from rtl_copy where bytes between 50001 and 50004")
    equal("ids", len({i for i, in ids} - {0}), 4)


@case
def copies_without_calls_have_the_agents_of_their_operations():
    """Kernels with which HIP copies are dispatches then."""
    r, named, views = copies_in_all_ways("-m", "standard")
    for size, what in views["rtl_copy"].items():
        if size in named:
            equal(f"copy of {size} bytes", what, named[size])
    equal("copies by the blocking call", {50001, 50002, 50003, 50004} - set(views["rtl_copy"]), set())


@case
def copies_on_one_gpu_are_exact():
    copies(1, "standard")


@case
def copies_between_gpus_are_exact():
    copies(4, "full")


@case
def copy_times_match_engine_log():
    r = run("launcher", "launches=50", "copies=30", trace=RTL)
    clocks = clocks_of(r.log())
    want = []
    for l in r.log():
        if l["kind"] in ("copy", "fill") and l.get("begin"):
            clock = clocks[l["pid"], l["gpu"]]
            want.append((l["bytes"], to_ns(clock, l["begin"]), to_ns(clock, l["end"])))
    at_least("timed operations of the copy engines", len(want), 60)
    rows = r.rows("select bytes, begin_ns, end_ns from rtl_copy order by begin_ns")
    for size, begin, end in sorted(want, key=lambda w: w[1]):
        # ROCr's time stamps are packets before and after the engine's operation
        near = [row for row in rows if row[0] == size and abs(row[1] - begin) < 20000]
        if not near:
            nearest = min((row for row in rows if row[0] == size), key=lambda row: abs(row[1] - begin), default=None)
            fail(f"no copy of {size} bytes at {begin:.0f}..{end:.0f}; nearest is {nearest}")


main()
