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


def no_more_for_more(name, few, many, mode, **env):
    """What librtl does costs the heap nothing, neither by itself nor in libc. Others' calls depend on time: of HIP's own threads,
    and of the runtime for signals of what is in flight."""
    runs = [allocations(name, *args, trace=RTL, mode=mode, **env) for args in (few, many)]
    for calls in runs:
        equal("calls of the heap by librtl", calls.get("librtl.so.1", 0), 0)
        at_least("calls of the heap that were counted", sum(calls.values()), 100)
    few, many = (sum(calls.get(library, 0) for library in ("libc.so.6", "ld-linux-x86-64.so.2")) for calls in runs)
    at_most("calls of the heap by libc and the loader that more work costs", many - few, 50)


@case
def packets_cost_no_allocation():
    no_more_for_more("flood", ["count=2000"], ["count=20000"], "standard")


def hip_calls(**env):
    few, many = (["threads=2", "streams=2", f"launches={n}"] for n in (200, 2000))
    no_more_for_more("launcher", few, many, "hip", **env)


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
