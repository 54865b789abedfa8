#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions of a HIP program that do not return: callbacks of its sessions (rtl.h) leave nothing held, and those of its streams
do what they do untraced."""
from support.leaving import *


def session(part, how, **kwargs):
    return run(built("leaving_session"), f"part={part}", f"how={how}", trace=PLAIN, **kwargs)


def call(part, how):
    check(session(part, how), how, kernels=True, cancels=True, made=part == "end")


@case
def own_thread_goes_on():
    r = session("operation", "exit")
    equal("stderr", r.err, "")
    equal("stdout", r.out, f"left {MORE // 10}\ncalled {MORE}\n")


def host(how):
    """A thread of HIP's ends, or the program: the same under rtl trace, and the launch before it is recorded."""
    plain, traced = (run("leaving_host", f"how={how}", trace=t, status=None) for t in (PLAIN, RTL))
    # rtl has the status of a shell
    equal("status", traced.status, plain.status if plain.status >= 0 else 128 - plain.status)
    equal("stdout", traced.out, plain.out)
    equal("stdout's begin", plain.out.splitlines()[:1], ["launched"])
    equal("stderr", traced.err, plain.err)
    at_least("dispatches", traced.value("select count(*) from rtl_dispatch where kernel like 'lv_add%'"), 1)


for leaving in HOWS:
    for moment in ("begin", "end"):
        add_case(f"{leaving}_from_{moment}_of_a_call", functools.partial(call, moment, leaving))
for leaving in ("exception", "exit", "cancel"):
    add_case(f"{leaving}_from_a_stream", functools.partial(host, leaving))

main()
