#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The heap is the program's: librtl takes nothing from it, and no packet or call costs an allocation.

What is counted: calls of malloc() and its like in the whole process, by the library that made them (programs/countalloc.c).
"""
from support import *

def allocations(name, *args, trace=PLAIN, mode="standard", **env):
    """Calls by library of one run."""
    folder = new_dir("alloc")
    r = run(name, *args, trace=trace, rtl_args=("-q", "-m", mode),
            env={"LD_PRELOAD": program("libcountalloc.so"), "COUNT_ALLOC_DIR": folder, "VGPU_KERNEL_NS": 1000, **env})
    ended(r, 0)
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return {library: int(calls) for library, calls in (line.rsplit(" ", 1) for line in f)}


def grows(libraries, name, few, many, trace, mode, **env):
    """How many calls more of these libraries' `many` costs than `few`; all of them where there are none."""
    runs = [allocations(name, *args, trace=trace, mode=mode, **env) for args in (few, many)]
    if trace == RTL:
        for calls in runs:
            equal("calls of the heap by librtl", calls.get("librtl.so.1", 0), 0)
            at_least("calls of the heap that were counted", sum(calls.values()), 100)
    few, many = (sum(n for library, n in calls.items() if not libraries or library in libraries) for calls in runs)
    return many - few


@case
def packets_cost_no_allocation():
    cost = {trace: grows((), "flood", ["count=2000"], ["count=20000"], trace, "standard") for trace in (PLAIN, RTL)}
    at_most(f"calls of the heap that 18000 packets cost, traced ({cost[PLAIN]} untraced)", cost[RTL], cost[PLAIN] + 200)


def hip_calls(**env):
    # HIP's own depend on time: it makes them by libstdc++
    few, many = (["threads=2", "streams=2", f"launches={n}"] for n in (200, 2000))
    at_most("calls of the heap that 3600 launches cost libc and the loader",
            grows(("libc.so.6", "ld-linux-x86-64.so.2"), "launcher", few, many, RTL, "hip", **env), 50)


@case
def hip_calls_cost_no_allocation():
    hip_calls()


@case
def hip_calls_by_callback_cost_no_allocation():
    hip_calls(RTL_HIP_BACKEND="callback")


@case
def operations_of_hips_own_threads_take_none_of_the_heap():
    calls = allocations("launcher", "threads=2", "streams=2", "launches=500", trace=RTL, mode="hip", AMD_DIRECT_DISPATCH="0")
    equal("calls of the heap by librtl", calls.get("librtl.so.1", 0), 0)


main()
