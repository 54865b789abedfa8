#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory of HIP's pools, and memory that is mapped at reserved addresses, is used by kernels and copies, traced and untraced."""
from support import *

# HIP 5.2.3 and 5.7.1 refuse to map memory, also where the runtime can; their pools allocate by themselves
MAPS = HIP7


def pools(gpus):
    env = {"VGPU_EXEC": "auto"}
    plain = run("pools", f"gpus={gpus}", gpus=gpus, env=env)
    traced = run("pools", f"gpus={gpus}", trace=RTL, gpus=gpus, env=env)
    equal("results", traced.out, plain.out)
    contains("results", plain.out, f"pools: {10 * gpus} allocations, ")
    if MAPS:
        contains("results", plain.out, f"{gpus} memories mapped, 0 wrong")
    complete(traced)
    exact_dispatches(traced, names=None)
    print("    " + plain.out.strip())


@case
def memory_of_pools_and_mapped_memory_on_one_gpu():
    pools(1)


@case
def memory_that_two_gpus_may_access():
    pools(2)


main()
