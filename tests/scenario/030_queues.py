#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Queues of every kind, full and emptied: floods without synchronisation complete and are traced.

RTL_TEST_LONG=1: 20 000 launches of 2 ms kernels on one queue and on 16, and a soak of ten minutes.
"""
import functools
import re

from support import *


def check(r, dispatches=None, barriers=None):
    m = re.search(r"flood: (\d+) dispatches, (\d+) barriers, 0 wrong signals", r.out)
    if not m:
        fail(f"flood did not say that all is well: {r.out!r} {r.err[-1000:]!r}")
    log = exact_dispatches(r)
    internal = r.value("select count(*) from rtl_dispatch where flags & 32")
    equal("dispatches of the program in the trace", len(log) - internal, int(m.group(1)))
    complete(r)


def flood(threads, queues, count, size, kinds, kernel_ns=20000, shared=0, ring=1, gpus=1, mode="standard",
          timeout=150, **env):
    r = run(
        "flood", f"threads={threads}", f"queues={queues}", f"count={count}", f"size={size}", f"kinds={kinds}",
        f"shared={shared}", f"ring={ring}", f"gpus={gpus}",
        trace=RTL, gpus=gpus, rtl_args=("-q", "-m", mode), timeout=timeout,
        env={"VGPU_KERNEL_NS": kernel_ns, **env},
    )
    check(r)
    return r


for name, args in {
    # 20 us kernels, 20 000 launches each
    "one_thread_64": (1, 1, 20000, 64, "d"),
    "four_threads_64": (4, 1, 20000, 64, "d"),
    "eight_threads_sixteen_queues_64": (8, 2, 20000, 64, "d"),
    "one_thread_128": (1, 1, 20000, 128, "d"),
    "one_thread_4096": (1, 1, 20000, 4096, "d"),
    "four_threads_16384": (4, 1, 20000, 16384, "d"),
    "barriers_only": (4, 2, 20000, 64, "b"),
    "barriers_with_signals": (2, 2, 10000, 64, "B"),
    "or_barriers": (2, 1, 20000, 64, "o"),
    "mixture": (4, 2, 10000, 64, "dbscBownD"),
    "own_signals": (2, 1, 10000, 64, "s"),
    "counting_signals": (4, 2, 10000, 64, "c"),
    "no_barrier_bit": (4, 1, 20000, 64, "n"),
    "waits_for_own_signal": (2, 1, 5000, 64, "sw"),
}.items():
    add_case(name, functools.partial(flood, *args))


@case
def times_keep_the_order_of_ticks():
    """Kernels back to back, over many measurements of the runtime's clocks: those that do not overlap in ticks do not in ns."""
    r = run("flood", "count=200000", "size=64", "kinds=d", trace=RTL, rtl_args=("-q",), env={"VGPU_KERNEL_NS": 8000}, timeout=150)
    rows = r.db().execute("select queue, begin_ticks, end_ticks, begin_ns, end_ns from rtl_dispatch order by queue, begin_ticks").fetchall()
    pairs = [(a, b) for a, b in zip(rows, rows[1:]) if a[0] == b[0] and a[2] <= b[1]]
    at_least("kernels one after another in ticks", len(pairs), 190000)
    equal("of them, overlapping in ns", [(a, b) for a, b in pairs if b[3] < a[4]][:5], [])
    equal("kernels that end before they begin", [row for row in rows if row[4] < row[3]], [])


@case
def slow_kernels():
    # 2 ms each, on 16 queues at a time: 300 per thread are 5 s
    flood(8, 2, 2000, 64, "d", kernel_ns=2000000)


@case
def slow_kernels_twenty_thousand_each():
    if not LONG:
        skip("RTL_TEST_LONG=1 runs it: 2 ms kernels, 20 000 on each of 8 threads; slow_kernels has 2 000 of them")
    # the 16 queues run side by side: 20 s
    flood(8, 2, 20000, 64, "d", kernel_ns=2000000, timeout=200)


@case
def slow_kernels_mixture():
    flood(4, 4, 1500, 64, "dbscBowD", kernel_ns=2000000)


@case
def slow_kernels_with_signals():
    flood(2, 1, 400, 64, "sc", kernel_ns=2000000)


@case
def batches_of_32_packets_complete():
    flood(2, 2, 20000, 64, "dbd", ring=32)


@case
def full_ring_with_one_doorbell_completes():
    flood(1, 1, 6400, 64, "d", ring=64)


@case
def several_threads_on_one_queue():
    flood(8, 1, 10000, 64, "ddb", shared=1)


@case
def several_threads_on_three_queues_mixture():
    flood(6, 3, 5000, 64, "dbscBown", shared=1)


@case
def two_gpus():
    flood(4, 4, 10000, 64, "dbs", gpus=2)


@case
def full_mode():
    flood(4, 2, 10000, 64, "dbscBow", mode="full")


@case
def lite_mode():
    r = run(
        "flood", "threads=4", "queues=2", "count=10000", "kinds=ds", "size=64",
        trace=RTL, rtl_args=("-q", "-m", "lite"), env={"VGPU_KERNEL_NS": 20000}, timeout=120,
    )
    contains("flood", r.out, "0 wrong signals")
    equal("packets left out", r.losses().get("lite_signal", 0) >= 20000, True)
    internal = r.value("select count(*) from rtl_dispatch where flags & 32")
    equal("dispatches without a signal", r.count("rtl_dispatch") - internal, 20000)


@case
def slow_queue_completes():
    flood(4, 1, 5000, 64, "db", VGPU_SLOW="queue=2,factor=20")


@case
def flood_completes_while_harvester_is_stopped():
    flood(4, 1, 5000, 64, "dbs", RTL_TEST_STALL="harvest:200")


@case
def queue_destroyed_during_doorbell_completes():
    """Each thread is delayed in its doorbell after its packets were submitted."""
    args = ("overtaken", "rounds=6")
    plain = run("lifecycle", *args)
    contains("untraced", plain.out, "overtaken: 15 dispatches\n")
    for mode in ("lite", "standard", "full"):
        r = run("lifecycle", *args, trace=RTL, rtl_args=("-q", "-m", mode), env={"RTL_TEST_STALL": "turn_end:100"})
        equal("stdout", r.out, plain.out)
        # the destroying thread may take longer than the delay of the other
        overtaken = re.fullmatch(r"overtaken: (\d) of 6 doorbells\n", r.err)
        at_least("doorbells overtaken", int(overtaken[1]) if overtaken else 0, 1)
        if mode != "lite":
            exact_dispatches(r)
        equal("queues in the trace", r.count("rtl_queue", "not internal"), 12)
        complete(r)


def hip_streams(threads, streams, kernel_ns, launches):
    r = run(
        "launcher", f"threads={threads}", f"streams={streams}", f"launches={launches}",
        trace=RTL, env={"VGPU_KERNEL_NS": kernel_ns, "GPU_MAX_HW_QUEUES": 16}, timeout=150,
    )
    contains("launcher", r.out, f"launcher: {launches} launches")
    exact_dispatches(r, LAUNCHER_KERNELS)
    complete(r)


for threads, streams in ((1, 1), (4, 1), (8, 2)):
    add_case(f"hip_{threads}_threads_{streams}_streams", functools.partial(hip_streams, threads, streams, 20000, 20000 * threads))
add_case("hip_slow_kernels", functools.partial(hip_streams, 8, 2, 2000000, 8000))


@case
def long_slow_kernels():
    if not LONG:
        skip("RTL_TEST_LONG=1 runs it: 2 ms kernels on one queue, 20 000 on each of 8 threads")
    flood(8, 1, 20000, 64, "dbsc", 2000000, timeout=900)


@case
def long_soak():
    if not LONG:
        skip("RTL_TEST_LONG=1 runs it: ten minutes of mixtures")
    end = time.monotonic() + 600
    while time.monotonic() < end:
        flood(4, 4, 30000, 64, "dbscBowDn", timeout=200)



@case
def pass_through_tool_aborts_flood():
    """ROCr 5.2.3 aborts the same program under a tool that only passes packets through: why queues are interposed."""
    if not os.path.exists(PASSTHROUGH_LIB):
        fail(f"{PASSTHROUGH_LIB} was not built")
    plain = run("flood", "count=3000", "size=64", env={"VGPU_KERNEL_NS": 20000})
    contains("untraced", plain.out, "flood: 3000 dispatches, 1 barriers, 0 wrong signals")
    r = run("flood", "count=3000", "size=64", trace=PASSTHROUGH, env={"VGPU_KERNEL_NS": 20000}, status=None)
    if r.status == 0:
        skip("this ROCr does not overflow: it waits by itself")
    equal("signal that ended it", -r.status, signal.SIGABRT)
    contains("its last words", r.err, "Packet intercept error: ")


main()
