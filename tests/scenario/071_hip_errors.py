#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A call that HIP refuses returns what it returns untraced, and is recorded with its status."""
import functools
import re

from support.hipcalls import *

WAYS = {
    "hip": (("-q", "-m", "hip"), {}),
    "callback": (("-q", "-m", "hip"), {"RTL_HIP_BACKEND": "callback"}),
    "without_arguments": (("-q", "-m", "hip"), {"RTL_ARGS": "0"}),
    "hsa": (("-q", "--hsa"), {}),
    "standard": (("-q", "-m", "standard"), {}),
}


# HIP 7.2.4 launches a grid of 2^31 x 4 x 4 workgroups, which earlier ones refuse.
NOTHING_RUNS = {"VGPU_EXEC": "off"}
# calls whose failure HIP does not make the last error
FORGOTTEN = ["hipEventCreate", *(["hipGraphInstantiate"] if HIP7 else [])]


def same_text(what, seen, expected):
    """Line by line, so that the first difference is shown."""
    a, b = seen.splitlines(), expected.splitlines()
    differ = [(x, y) for x, y in zip(a, b) if x != y]
    equal(f"{what}: lines that differ (traced, untraced)", differ[:3], [])
    equal(what, seen, expected)


def both(name, *args, way="hip", env=None, **kwargs):
    """Untraced and traced: the same output."""
    rtl_args, extra = WAYS[way]
    plain = run_account(name, *args, env=env, **kwargs)
    traced = run_account(name, *args, trace=RTL, rtl_args=rtl_args, env={**(env or {}), **extra}, **kwargs)
    same_text("stdout", traced.out, plain.out)
    same_text("stderr", traced.err, plain.err)
    return traced


def errors(way, **env):
    r = both("hiperrors", way=way, env={"VGPU_VRAM_MB": "4096", **NOTHING_RUNS, **env})
    at_least("lines", len(r.out.splitlines()), 150)
    # 5.2 calls it an invalid configuration (9), 5.7 an invalid value (1)
    if not re.search(r"hipLaunchKernel, group of 2048: (9, then 9 and 9|1, then 1 and 1),", r.out):
        fail(f"stdout tells of no group that is too large:\n{r.out[:2000]}")
    if way == "standard":
        equal("calls", r.count("rtl_api"), 0)
        return
    calls = read_account(r)
    if way == "callback":
        calls = callback_calls(r, named_by_callbacks(calls))
    matched = same_calls(r, calls, statuses=way != "callback")
    if way == "callback":
        # they don't tell the status, which is then the last error
        differ = [calls[i].api for i, a in matched.items() if a.status != calls[i].status]
        equal("calls with another status", differ, FORGOTTEN)
    failed = [a for a in matched.values() if a.status]
    at_least("calls that failed", len(failed), 120)
    # nothing of what was refused is said to have caused work
    joined = {api for apis in joined_apis(r).values() for api in apis}
    equal("refused launches with operations", [a for a in failed if a.api_id in joined], [])


for way_ in WAYS:
    add_case(f"errors_{way_}", functools.partial(errors, way_))


@case
def refused_allocation_has_its_status():
    """The driver refuses the allocation, not HIP's own check of the free memory."""
    r = both("hiperrors", env={"VGPU_ALLOC_FAIL": "bytes=0x10000000,n=3,count=2", **NOTHING_RUNS})
    failed = r.rows("select args from rtl_api where name = 'hipMalloc' and status = 2")
    at_least("calls of hipMalloc that failed", len(failed), 2)
    contains("arguments", failed[-1][0], "=536870912")


def last_errors(way):
    """librtl takes no error away from the program, whichever way it learns the status of calls."""
    rtl_args, extra = WAYS[way]
    plain, traced = run("lasterror"), run("lasterror", trace=RTL, rtl_args=rtl_args, env=extra)
    same_text("stdout", traced.out, plain.out)
    equal("lines", len(plain.out.splitlines()), 6)


for way_ in ("hip", "callback"):
    add_case(f"last_errors_are_the_programs_{way_}", functools.partial(last_errors, way_))


@case
def asynchronous_error_belongs_to_reporting_call():
    """A call's status is what it returned; an asynchronous failure belongs to the call that reports it."""
    r = both("hiperrors", env=NOTHING_RUNS)
    pairs = r.rows(
        "select name, status, lead(name) over (order by begin_ns), lead(status) over (order by begin_ns) from rtl_api"
    )
    checked = [pair for pair in pairs if pair[2] == "hipPeekAtLastError" and pair[0] != "hipGetLastError"]
    at_least("calls with hipPeekAtLastError() after them", len(checked), 90)
    equal("of them with another status", [p[0] for p in checked if p[1] != p[3]], FORGOTTEN)


for way_, parts in (("hip", ALL_PARTS), ("callback", CALLBACK_PARTS), ("standard", ALL_PARTS)):
    add_case(f"work_{way_}", functools.partial(both, "hipmix", "rounds=1", f"parts={parts}", way=way_))


main()
