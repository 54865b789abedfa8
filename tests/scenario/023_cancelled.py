#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A thread with a pending cancellation ends where it ends untraced: librtl adds no cancellation point."""
import functools

from support import *

PARTS = ("launch", "stream", "copy", "fill", "sync", "alloc")
WAYS = [
    ("standard", ("-q", "-m", "standard"), {}),
    ("hip", ("-q", "-m", "hip"), {}),
    ("intercept", ("-q", "-m", "full", "--hsa"), {"RTL_QUEUES": "intercept"}),
    ("counters", ("-q", "--pmc", "SQ_WAVES"), {}),
]


def check(part, ways):
    plain = run("cancelled", f"part={part}", env={"VGPU_EXEC": "auto"})
    for _, rtl_args, env in ways:
        traced = run("cancelled", f"part={part}", trace=RTL, rtl_args=rtl_args, env={"VGPU_EXEC": "auto", **env})
        equal("stdout", traced.out, plain.out)
        equal("kernels in the trace", traced.count("rtl_dispatch", "kernel like '%count_up%'"),
              int(plain.out.splitlines()[-1].split()[0]))


for part in PARTS:
    add_case(part, functools.partial(check, part, WAYS[:2] + (WAYS[2:] if part in ("launch", "stream") else [])))

main()
