#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A launching thread makes no system call for librtl."""
import functools

from support import *


def check(mode, *args):
    lines = run("ownsyscalls", *args, trace=RTL, rtl_args=("-q", "-m", mode)).out.splitlines()
    if lines == ["unavailable"]:
        skip("the kernel has no prctl(PR_SET_SYSCALL_USER_DISPATCH): Linux 5.11 and later on x86-64")
    equal("the last line", lines[-1:], ["counted"])
    # HIP's own calls wait for its threads, and their number varies
    equal("system calls by librtl", [line for line in lines if line.startswith("librtl.")], [])


for mode in ("standard", "hip"):
    add_case(f"launches_one_after_the_other_{mode}", functools.partial(check, mode, "launches=10000"))
    # longer than the harvester's naps, so that each launch finds it asleep
    add_case(f"launches_after_idle_moments_{mode}", functools.partial(check, mode, "launches=20", "idle_us=60000"))

main()
