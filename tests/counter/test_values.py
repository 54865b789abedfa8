#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_values.py - each metric of each GPU has the value that its formula has in Python

The lists of src/counter/data are read here on their own.
"""
import csv
import math
import re

from support import *

DATA = os.path.join(SOURCE, "src/counter/data")
CONSTANTS = {"CU_NUM": 8.0, "SIMD_NUM": 32.0, "SE_NUM": 4.0, "XCC_NUM": 2.0, "MAX_WAVE_SIZE": 64.0}


def table(name):
    with open(os.path.join(DATA, name), newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


class Gpu:
    def __init__(self, name):
        self.blocks = {r["name"]: r for r in table("blocks.csv") if r["gpu"] == name}
        self.counters = {r["name"]: r for r in table("counters.csv") if r["gpu"] == name}
        every = table("metrics.csv")
        own = {r["name"]: r["expression"] for r in every if r["gpu"] == name}
        self.formulas = {**{r["name"]: r["expression"] for r in every if r["gpu"] == "global"}, **own}

    def count(self, name, instance):
        """As values.c."""
        c = self.counters[name]
        return float((int(self.blocks[c["block"]]["id"]) * 131 + instance * 17 + int(c["event"]) * 7) % 1009 + 1)

    def instances(self, name):
        return int(self.blocks[self.counters[name]["block"]]["instances"])

    def value(self, name):
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name in self.counters:
            return sum(self.count(name, i) for i in range(self.instances(name)))
        over = {"sum": math.fsum, "avr": lambda v: math.fsum(v) / len(v), "min": min, "max": max}
        text = re.sub(r"\b(sum|avr|min|max)\((\w+),(\d+)\)",
                      lambda m: repr(over[m[1]]([self.count(m[2], i) for i in range(int(m[3]))])), self.formulas[name])
        try:
            return eval(re.sub(r"[A-Za-z_]\w*", lambda m: f"({self.value(m[0])!r})", text))
        except ZeroDivisionError:
            return 0.0


@case
def metrics_have_the_values_of_their_formulas():
    lines = [line.split() for line in run(os.path.join(BUILD, "tests/counter/values")).out.splitlines()]
    gpus = {name: Gpu(name) for name in {line[0] for line in lines}}
    for gpu, name, value in lines:
        want = gpus[gpu].value(name)
        if not math.isclose(float(value), want, rel_tol=1e-12):
            fail(f"{gpu} {name}: {value}, not {want}")
    # every row of the list, but the global ones that a GPU has no counters for
    have = {(gpu, name) for gpu, name, _ in lines}
    rows = {(r["gpu"], r["name"]) for r in table("metrics.csv") if r["gpu"] != "global"}
    equal("metrics without a value", rows - have, set())
    equal("GPUs", sorted(gpus), sorted({r["gpu"] for r in table("counters.csv")}))


main()
