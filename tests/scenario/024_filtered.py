#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that installs a seccomp filter after its first launch ends as untraced: librtl keeps to the calls that
docs/troubleshooting.md lists."""
import functools
import re

from support import *

# numbers on x86-64 of the calls in the page's table
PROGRAM = {"getpid": 39, "prctl": 157, "fallocate": 285, "process_vm_readv": 310}
OWN = {"membarrier": 324, "fallocate": 285, "newfstatat": 262, "fstat": 5, "fstatfs": 138, "openat": 257, "read": 0, "close": 3, "ppoll": 271,
       "kill": 62, "unlink": 87, "accept4": 288, "recvfrom": 45, "sendto": 44}


def check(mode, tsync, action, listed, env=()):
    args = [f"tsync={tsync}", f"action={action}", "allow=" + ",".join(str(n) for n in listed.values())]
    env = {"VGPU_EXEC": "auto", **dict(env)}
    plain = run("filtered", *args, env=env)
    if plain.out.endswith("no filter\n"):
        skip("no filter of system calls can be installed")
    equal("stdout, untraced", plain.out, "installed\nright\n")
    traced = run("filtered", *args, env=env, trace=RTL, rtl_args=("-q", "-m", mode))
    equal("stdout", traced.out, plain.out)
    equal("kernels in the trace", traced.count("rtl_dispatch", "kernel like '%add_one%'"), 903)
    equal("losses", traced.losses(), {})


def failing_calls():
    """What the filter forbids fails, for all threads: nothing is lost in silence."""
    args, env = ["tsync=1", "action=errno"], {"VGPU_EXEC": "auto"}
    plain = run("filtered", *args, env=env)
    if plain.out.endswith("no filter\n"):
        skip("no filter of system calls can be installed")
    traced = run("filtered", *args, env=env, trace=RTL, rtl_args=("-q", "-m", "hip"))
    equal("stdout", traced.out, plain.out)
    equal("kernels, and those that were counted as lost", traced.count("rtl_dispatch", "kernel like '%add_one%'") + sum(traced.losses().values()), 903)


@case
def page_lists_these_calls():
    with open(os.path.join(SOURCE, "docs", "troubleshooting.md"), encoding="utf-8") as f:
        rows = {line.split("|")[1].strip(): line for line in f if line.startswith("| of ")}
    for threads, calls in (("of the program", PROGRAM), ("of librtl", OWN)):
        listed = set(re.findall(r"`([a-z0-9_]+)`", rows[threads]))
        equal(f"calls of threads {threads}", sorted(listed), sorted(calls))


add_case("calls_that_fail", failing_calls)
# the thread that opens the socket comes late: the program goes on when it is done
add_case("filter_while_the_socket_opens", functools.partial(check, "hip", 1, "kill", {**PROGRAM, **OWN}, {"RTL_TEST_STALL": "control_starting:2000"}))
for mode in ("standard", "hip"):
    add_case(f"filter_of_one_thread_{mode}", functools.partial(check, mode, 0, "kill", PROGRAM))
    add_case(f"filter_of_all_threads_{mode}", functools.partial(check, mode, 1, "kill", {**PROGRAM, **OWN}))

main()
