#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples of examples/ print right results in every mode of rtl trace, and all their operations are in the trace.

A selection of compilers' levels and numbers of GPUs for each mode; RTL_TEST_LONG=1 makes it all of them.
"""
import functools
import itertools

from support import *

EXAMPLES = {"gemm": (100,), "histogram": (), "network": (), "reduce": (300007,), "transpose": (256,), "vadd": (5,)}
MODES = {
    "lite": ("-m", "lite"),
    "standard": ("-m", "standard"),
    "full": ("-m", "full"),
    "hip": (),
    "lite_hsa": ("-m", "lite", "--hsa"),
    "standard_hsa": ("-m", "standard", "--hsa"),
    "hip_hsa": ("--hsa",),
}
SELECTION = {
    "lite": [(2, 1)],
    "standard": [(3, 4)],
    "full": [(2, 4)],
    "hip": [(0, 1), (2, 4)],
    "lite_hsa": [(3, 1)],
    "standard_hsa": [(2, 1)],
    "hip_hsa": [(3, 4)],
}


def examples(mode):
    every = list(itertools.product((0, 2, 3), (1, 4)))
    for level, gpus in every if LONG else SELECTION[mode]:
        for name, args in EXAMPLES.items():
            path = built(os.path.join(BUILD, f"tests/vgpu/{name}_o{level}"))
            r = run(path, *args, trace=RTL, gpus=gpus, rtl_args=("-q", *MODES[mode]),
                    env={"VGPU_EXEC": None}, timeout=200)
            equal(f"{name} -O{level}: stdout", r.out, "".join(f"{name}: GPU {n}: PASSED\n" for n in range(gpus)))
            equal(f"{name} -O{level}: stderr", r.err, "")
            equal("faults", r.log("fault"), [])
            equal("losses", {k: n for k, n in r.losses().items() if not k.startswith("skipped")}, {})
            if mode.startswith("lite"):
                at_least("dispatches", r.count("rtl_dispatch"), gpus)
            else:
                exact_dispatches(r)
            at_least("calls", r.count("rtl_api"), 4 if "hip" in mode or "hsa" in mode else 0)


for mode in MODES:
    add_case(mode, functools.partial(examples, mode))

main()
