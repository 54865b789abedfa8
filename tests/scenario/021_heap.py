#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librtl does not use the program's heap: no packet and no call allocates.

programs/countalloc.c counts calls of malloc() and its relatives in the whole process, by calling library.
"""
from support import *

def allocations(name, *args, trace=PLAIN, mode="standard", **env):
    """{library: calls} of one run."""
    folder = new_dir("alloc")
    r = run(name, *args, trace=trace, rtl_args=("-q", "-m", mode),
            env={"LD_PRELOAD": program("libcountalloc.so"), "COUNT_ALLOC_DIR": folder, "VGPU_KERNEL_NS": 1000, **env})
    ended(r, 0)
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return {library: int(calls) for library, calls in (line.rsplit(" ", 1) for line in f)}


def no_more_for_more(name, few, many, mode, **env):
    """Checks that librtl allocates nothing, directly or through libc. Other libraries' calls depend on timing: HIP's threads
    and the runtime's signals in flight."""
    runs = [allocations(name, *args, trace=RTL, mode=mode, **env) for args in (few, many)]
    for calls in runs:
        equal("calls of the heap by librtl", calls.get("librtl.so.1", 0), 0)
        at_least("calls of the heap that were counted", sum(calls.values()), 100)
    few, many = (sum(calls.get(library, 0) for library in ("libc.so.6", "ld-linux-x86-64.so.2")) for calls in runs)
    at_most("calls of the heap by libc and the loader that more work costs", many - few, 50)


@case
def packets_allocate_nothing():
    no_more_for_more("flood", ["count=2000"], ["count=20000"], "standard")


def hip_calls(**env):
    few, many = (["threads=2", "streams=2", f"launches={n}"] for n in (200, 2000))
    no_more_for_more("launcher", few, many, "hip", **env)


@case
def hip_calls_allocate_nothing():
    hip_calls()


@case
def hip_callbacks_allocate_nothing():
    hip_calls(RTL_HIP_BACKEND="callback")


@case
def hip_thread_operations_allocate_nothing():
    calls = allocations("launcher", "threads=2", "streams=2", "launches=500", trace=RTL, mode="hip", AMD_DIRECT_DISPATCH="0")
    equal("calls of the heap by librtl", calls.get("librtl.so.1", 0), 0)


main()
