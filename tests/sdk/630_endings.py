#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that end, fork, exec and die while a tool of rocprofiler-sdk has a context for every kind: they end as without it."""
import functools

from support.endings import *


def with_tool(how, abi):
    """The run, and the correlation id, thread and times of each dispatch in the tool's records: kernels on two queues may have the same times."""
    tool = built(f"libsdk_all_tool_{abi}.so")
    env = {"ROCP_TOOL_LIBRARIES": tool, "ALL_TOOL_OUT": "seen.txt", "LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}",
           "LD_PRELOAD": os.path.join(LIB, f"librocprofiler-sdk.so.{abi}"), "VGPU_KERNEL_NS": 20000, "VGPU_LOG_SYNC": 1}
    r = run_ending(how, ENDINGS[how][0], env=env)
    with open(os.path.join(r.dir, "seen.txt"), encoding="utf-8", errors="replace") as f:
        lines = [line.split() for line in f]
    # a line that a sudden end cut short has fewer words
    return r, [tuple(l[3:7]) for l in lines if l[:2] == ["record", "KERNEL_DISPATCH"] and len(l) == 7]


def ending(how, abi):
    plain = run_ending(how, ENDINGS[how][0], env={"VGPU_KERNEL_NS": 20000})
    r, records = with_tool(how, abi)
    equal("stdout", r.out, plain.out)
    equal("stderr", without_child(r.err), without_child(plain.err))
    equal("records that came twice", [record for record, nr in collections.Counter(records).items() if nr > 1], [])
    # tools are not shown the runtime's own kernels, which have larger grids
    logged = [d for d in r.log("dispatch") if d["grid"][0] <= 640]
    at_most("records", len(records), len(logged))
    if how in ABRUPT:
        return  # what was in the buffer is lost, as with any tool
    # those in flight when the tool is finalised, and what exit handlers launch after it, have none
    least = len(logged) - (25 if how in ("return", "exit", "thread_exit", "atexit") else 0)
    at_least("records of what completed before the tool was finalised", len(records), least)


for each in ENDINGS:
    add_case(f"{each.strip('_') if each != '_exit' else 'underscore_exit'}", functools.partial(ending, each, 1))
for each in ("return", "abort", "fork", "fork_busy", "exec", "thread_exit"):
    add_case(f"{each}_in_the_older_abi", functools.partial(ending, each, 0))

main()
