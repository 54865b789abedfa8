#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Callbacks of roctracer's clients that do not return leave no lock and no turn behind: nothing hangs, is lost or comes twice."""
from support.leaving import *


def client(old, part, how, **kwargs):
    name = "leaving_roctracer_old" if old else "leaving_roctracer"
    path = built(name, HSA_HEADERS)
    built("hsa_kernels.co")
    tool = os.path.join(BUILD, "tests/libroctracer_old_tool.so") if old else os.path.join(LIB, "libroctracer64.so.4")
    env = {"HSA_TOOLS_LIB": tool, "LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}", **kwargs.pop("env", {})}
    return run(path, f"part={part}", f"how={how}", trace=PLAIN, env=env, **kwargs)


def submit(how, old):
    check(client(old, "submit", how), how, kernels=True)


def call(how, old):
    check(client(old, "call", how), how, cancels=True, made=False)


def marker(how, old):
    check(client(old, "marker", how), how, cancels=True, made=False)


def pool(old):
    """pthread_exit() on the library's own thread, ten times."""
    r = client(old, "pool", "exit")
    equal("stdout", r.out, "left 10, records 100\n")


def ranges(how):
    # with the lock held cancellation is off
    check(client(True, "ranges", how), how)


for old in (False, True):
    since = "of_rocm_5_2" if old else "of_rocm_5_4"
    for how in HOWS:
        add_case(f"{how}_from_packet_{since}", functools.partial(submit, how, old))
        add_case(f"{how}_from_call_{since}", functools.partial(call, how, old))
        add_case(f"{how}_from_marker_{since}", functools.partial(marker, how, old))
    add_case(f"exit_from_pool_{since}", functools.partial(pool, old))
for how in HOWS:
    add_case(f"{how}_from_ranges_of_rocm_5_2", functools.partial(ranges, how))

main()
