#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many threads submit to the same queues in every order that HSA allows: each packet runs once, and is traced.

storm draws what it does from a seed. RTL_TEST_SEEDS=N tries N seeds of each case (2), RTL_TEST_SEED=N begins there.
"""
import functools
import re

from support import *

SEEDS = int(os.environ.get("RTL_TEST_SEEDS", "2"))
FIRST = int(os.environ.get("RTL_TEST_SEED", "1"))
SWITCH = os.path.join(BUILD, "lib/libroctracer64.so.4")


def account(r):
    """{thread number: (tid, dispatches)}, as the program prints it."""
    lines = re.findall(r"thread (\d+): tid (\d+), (\d+) dispatches", r.out)
    contains("stdout", r.out, "storm: 0 wrong signals")
    return {int(n): (int(tid), int(made)) for n, tid, made in lines}


def executed_once(r, threads):
    """The serial number of a dispatch is the width of its grid."""
    pid = r.log_pids()[0]
    # internal kernels have wider workgroups
    serials = [l["grid"][0] for l in r.log("dispatch", pid) if l["group"] == [1, 1, 1]]
    expected = [number << 20 | i for number, (_, made) in threads.items() for i in range(1, made + 1)]
    same_counter("serial numbers that the virtual GPU executed", serials, expected)


def joined(r, threads):
    """Each row has the thread that wrote the packet, though any thread may ring the doorbell for it."""
    rows = r.rows("select d.grid_x, o.tid from rtl_dispatch d join rtl_op o using (op_id) where d.group_x = 1")
    wrong = [(grid & 0xFFFFF, tid) for grid, tid in rows if threads[grid >> 20][0] != tid]
    equal("rows of another thread than the one that made the dispatch", wrong[:5], [])


def storm(*args, mode="standard", rtl_args=(), gpus=1, count=2000, env=None):
    for seed in range(FIRST, FIRST + SEEDS):
        r = run(
            "storm", f"seed={seed}", f"gpus={gpus}", f"count={count}", *args, trace=RTL, gpus=gpus, timeout=200,
            rtl_args=("-q", "-m", mode, *rtl_args), env={"VGPU_KERNEL_NS": 3000, **(env or {})},
        )
        threads = account(r)
        executed_once(r, threads)
        exact_dispatches(r)
        joined(r, threads)
        complete(r)


STRICT = {"VGPU_DOORBELL": "strict"}
# a thread that has submitted packets is delayed before others may submit
STALL = {"RTL_TEST_STALL": "turn_end:1"}

for name, args, options in (
    ("eight_threads_one_queue", ("threads=8", "queues=1"), {}),
    ("sixteen_threads_three_queues", ("threads=16", "queues=3"), {}),
    ("ring_of_64_mostly_full", ("threads=8", "queues=2"), {"env": {"VGPU_KERNEL_NS": 20000}, "count": 1000}),
    ("large_ring", ("threads=8", "queues=2", "size=4096"), {}),
    ("queues_with_one_producer", ("threads=8", "queues=2", "single=1"), {}),
    ("queues_created_and_destroyed", ("threads=8", "queues=2", "single=1", "lives=1"), {"count": 1000}),
    ("forks", ("threads=8", "queues=2", "forks=1"), {}),
    ("strict_doorbells", ("threads=8", "queues=3", "single=1", "lives=1"), {"env": STRICT}),
    ("overlapping_kernels", ("threads=8", "queues=3"), {"env": {"VGPU_OVERLAP": 8}}),
    ("slow_doorbell", ("threads=8", "queues=2", "lives=1"), {"env": STALL, "count": 200}),
    ("four_gpus", ("threads=16", "queues=8", "single=1"), {"gpus": 4}),
    ("full_mode", ("threads=8", "queues=3"), {"mode": "full"}),
    ("hip_mode", ("threads=8", "queues=3"), {"mode": "hip"}),
    ("recorded_barriers", ("threads=8", "queues=3"), {"rtl_args": ("--barriers",)}),
    ("everything_at_once", ("threads=16", "queues=4", "single=1", "lives=1", "forks=1"), {"gpus": 2, "env": STRICT}),
):
    add_case(name, functools.partial(storm, *args, **options))


@case
def untraced_storm_runs_each_packet_once():
    """Precondition of the other cases: the program is right without librtl."""
    for seed in range(FIRST, FIRST + SEEDS):
        r = run("storm", f"seed={seed}", "threads=16", "queues=4", "single=1", "lives=1", "forks=1", "count=1000")
        executed_once(r, account(r))


@case
def switched_recording_counts_each_packet():
    for seed in range(FIRST, FIRST + SEEDS):
        r = run("storm", f"seed={seed}", "threads=8", "queues=3", f"switch={SWITCH}", trace=RTL, timeout=200,
                rtl_args=("-q", "-m", "standard", "--trace-start", "off"),
                env={"VGPU_KERNEL_NS": 3000, **STRICT})
        threads = account(r)
        executed_once(r, threads)
        joined(r, threads)
        paused = r.losses().pop("paused", 0)
        equal("other losses", {k: v for k, v in r.losses().items() if k not in ("paused", "shared_signal")}, {})
        equal("rows and what was left out", r.count("rtl_dispatch") + paused, len(r.log("dispatch")))
        at_least("left out", paused, 1)
        at_least("rows", r.count("rtl_dispatch"), 1)


main()
