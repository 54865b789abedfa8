#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_values.py - each metric of each GPU has the value that its formula has in Python

The lists of src/counter/data are read by support/counted.py on its own.
"""
import math

from support import *
from support.counted import Gpu, table

CONSTANTS = {"CU_NUM": 8.0, "SIMD_NUM": 32.0, "SE_NUM": 4.0, "XCC_NUM": 2.0, "MAX_WAVE_SIZE": 64.0}


def gpu(name):
    def count(counter, instance):
        """As values.c."""
        c = g.counters[counter]
        return float((int(g.blocks[c["block"]]["id"]) * 131 + instance * 17 + int(c["event"]) * 7) % 1009 + 1)

    g = Gpu(name, CONSTANTS, count)
    return g


@case
def metrics_have_the_values_of_their_formulas():
    lines = [line.split() for line in run(os.path.join(BUILD, "tests/counter/values")).out.splitlines()]
    gpus = {name: gpu(name) for name in {line[0] for line in lines}}
    for isa, name, value in lines:
        want = gpus[isa].value(name)
        if not math.isclose(float(value), want, rel_tol=1e-12):
            fail(f"{isa} {name}: {value}, not {want}")
    # every row of the list, but the global ones that a GPU has no counters for
    have = {(isa, name) for isa, name, _ in lines}
    rows = {(r["gpu"], r["name"]) for r in table("metrics.csv") if r["gpu"] != "global"}
    equal("metrics without a value", rows - have, set())
    equal("GPUs", sorted(gpus), sorted({r["gpu"] for r in table("counters.csv")}))


main()
