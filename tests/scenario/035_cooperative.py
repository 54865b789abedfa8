#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cooperative launches: their queue is one that the runtime makes for itself and then returns to the program."""
from support import *


@case
def cooperative_launches_are_exact_until_the_end():
    r = run(os.path.join(BUILD, "tests/vgpu/threads_test"), "cooperative", trace=RTL, env={"VGPU_EXEC": "auto"})
    equal("results", r.out, "0 failures\n")
    complete(r)
    exact_dispatches(r)
    equal("kernels", r.count("rtl_dispatch", "kernel LIKE '%cooperative_kernel%'"), 2)


main()
