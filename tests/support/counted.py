# SPDX-License-Identifier: MIT
"""counted.py - what counters and metrics have to be: the lists of src/counter/data, read here on their own, and the virtual GPU's log"""
import collections
import csv
import functools
import math
import os
import re

from .harness import SOURCE, at_least, equal

DATA = os.path.join(SOURCE, "src/counter/data")


@functools.lru_cache(maxsize=None)
def table(name):
    with open(os.path.join(DATA, name), newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


class Gpu:
    """The counters and metrics of a GPU; `count` is a function of a counter's name and instance."""

    def __init__(self, name, constants, count):
        self.constants, self.count = constants, count
        self.blocks = {r["name"]: r for r in table("blocks.csv") if r["gpu"] == name}
        self.counters = {r["name"]: r for r in table("counters.csv") if r["gpu"] == name}
        every = table("metrics.csv")
        own = {r["name"]: r["expression"] for r in every if r["gpu"] == name}
        self.formulas = {**{r["name"]: r["expression"] for r in every if r["gpu"] == "global"}, **own}

    def instances(self, name):
        return int(self.blocks[self.counters[name]["block"]]["instances"])

    def needs(self, name):
        """The counters that a metric is made of."""
        if name in self.constants:
            return set()
        if name in self.counters:
            return {name}
        names = set(re.findall(r"[A-Za-z_]\w*", self.formulas[name])) - {"sum", "avr", "min", "max"}
        return set().union(*(self.needs(n) for n in names))

    def sets(self, names):
        """The names in sets that fit in one pass each: what comes first goes into the first set that has space."""
        out = []
        for name in names:
            for one in out:
                if self.fits([*one, name]):
                    one.append(name)
                    break
            else:
                out.append([name])
        return out

    def fits(self, names):
        counters = set().union(*(self.needs(n) for n in names))
        nr = collections.Counter(self.counters[n]["block"] for n in counters)
        return all(n <= int(self.blocks[b]["counters"]) for b, n in nr.items())

    def value(self, name):
        if name in self.constants:
            return self.constants[name]
        if name in self.counters:
            return sum(self.count(name, i) for i in range(self.instances(name)))
        over = {"sum": math.fsum, "avr": lambda v: math.fsum(v) / len(v), "min": min, "max": max}
        text = re.sub(r"\b(sum|avr|min|max)\((\w+),(\d+)\)",
                      lambda m: repr(over[m[1]]([self.count(m[2], i) for i in range(int(m[3]))])), self.formulas[name])
        try:
            return eval(re.sub(r"[A-Za-z_]\w*", lambda m: f"({self.value(m[0])!r})", text))
        except ZeroDivisionError:
            return 0.0


# ---- twelve kernels: tests/programs/reference.cpp -------------------------------------------------

KERNELS = 12
ENGINES = 4
# gfx900's counters that the virtual GPU feeds: the sum of these in its log
LOGGED = {"GRBM_COUNT": ("GRBM_COUNT",), "GRBM_GUI_ACTIVE": ("GRBM_GUI_ACTIVE",),
          **{n: (n,) for n in ("SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_VMEM_WR", "SQ_INSTS_VMEM_RD", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_FLAT",
                               "SQ_INSTS_LDS", "SQ_WAIT_INST_LDS", "TCC_HIT", "TCC_MISS", "TCC_EA_RDREQ", "TCP_TOTAL_ACCESSES")},
          "SQ_ACTIVE_INST_VALU": ("SQ_INSTS_VALU",), "SQ_INST_CYCLES_SALU": ("SQ_INSTS_SALU",), "TCC_EA_WRREQ": ("TCC_EA_WRREQ",),
          "TCC_EA_WRREQ_64B": ("TCC_EA_WRREQ",), "TCP_TCC_READ_REQ": ("TCC_READ",), "TCP_TCC_WRITE_REQ": ("TCC_WRITE",)}
# and these, by number
RAW = {"SQ:25": ("SQ_INSTS",), "SQ:38": ("SQ_INSTS_BRANCH",), "SQ:14": ("SQ_ITEMS",), "SQ:3": ("SQ_BUSY_CYCLES",), "SQ:60": ("SQ_WAIT_INST_ANY",),
       "SQ:29": ("SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR")}
# the same of gfx90a
KINDS = [f"SQ_INSTS_VALU_{k}_F{bits}" for bits in (16, 32, 64) for k in ("ADD", "MUL", "FMA", "TRANS")] + [f"SQ_INSTS_VALU_{k}" for k in ("INT32", "INT64", "CVT")]
LOGGED_GFX90A = {**{n: (n,) for n in (
    "GRBM_COUNT", "GRBM_GUI_ACTIVE", "SQ_BUSY_CYCLES", "SQ_WAVES", "SQ_ITEMS", "SQ_INSTS", "SQ_INSTS_VALU", *KINDS, "SQ_INSTS_VMEM_WR", "SQ_INSTS_VMEM_RD",
    "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_FLAT", "SQ_INSTS_LDS", "SQ_INSTS_BRANCH", "SQ_INSTS_SENDMSG", "SQ_WAIT_INST_ANY", "SQ_WAIT_INST_LDS", "TCC_READ",
    "TCC_WRITE", "TCC_HIT", "TCC_MISS", "TCC_EA_WRREQ", "TCC_EA_RDREQ", "TCP_TOTAL_ACCESSES")},
    "SQ_CYCLES": ("GRBM_COUNT",), "SQ_INSTS_VMEM": ("SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR"), "SQ_ACTIVE_INST_VALU": ("SQ_INSTS_VALU",),
    "SQ_INST_CYCLES_SALU": ("SQ_INSTS_SALU",), "TCC_EA_WRREQ_64B": ("TCC_EA_WRREQ",), "TCP_TOTAL_READ": ("TCP_HIT", "TCC_READ"),
    "TCP_TCC_READ_REQ": ("TCC_READ",), "TCP_TCC_WRITE_REQ": ("TCC_WRITE",)}
# counters of several instances; those of SQ and TCP are in each of the shader engines
INSTANCES = {"TCC": 16, "TCP": 16}
INSTANCES_GFX90A = {"TCC": 32, "TCP": 14}
CONSTANTS = {"CU_NUM": 64.0, "SIMD_NUM": 256.0, "SE_NUM": 4.0, "MAX_WAVE_SIZE": 64.0}
CONSTANTS_GFX90A = {"CU_NUM": 104.0, "SIMD_NUM": 416.0, "SE_NUM": 8.0, "MAX_WAVE_SIZE": 64.0}
# the counter that shows a kernel's nature, and how many a workgroup has at least
NATURE = {"ref_valu": ("SQ_INSTS_VALU", 4 * 40), "ref_salu": ("SQ_INSTS_SALU", 60), "ref_lds": ("SQ_INSTS_LDS", 4 * 8), "ref_flat": ("SQ_INSTS_FLAT", 1),
          "ref_scratch": ("SQ_INSTS_VMEM_WR", 2), "ref_atomics": ("SQ_INSTS_VMEM_WR", 2), "ref_divergent": ("SQ_INSTS_BRANCH", 2),
          "ref_barrier": ("SQ_INSTS_LDS", 4 * 5), "ref_small": ("SQ_WAVES", 1), "ref_many": ("SQ_WAVES", 1), "ref_stride": ("TCC_MISS", 64),
          "ref_odd": ("SQ_WAVES", 2)}
GROUPS = {"ref_valu": 8, "ref_salu": 5, "ref_lds": 6, "ref_flat": 9, "ref_scratch": 2, "ref_atomics": 11, "ref_divergent": 4, "ref_barrier": 7,
          "ref_small": 1, "ref_many": 500, "ref_stride": 12, "ref_odd": 6}


def total(log, name, gpu="gfx900"):
    """All others are 0."""
    logged = LOGGED if gpu == "gfx900" else LOGGED_GFX90A
    return sum(log[n] for n in (logged.get(name) or RAW.get(name, ())))


def samples(log, name, gpu="gfx900"):
    """{(engine, instance): value}: the virtual GPU divides a count evenly among the instances of the block, the rest goes to the first ones."""
    block = name.split(":")[0].split("_")[0]
    engines = ENGINES * (1 if gpu == "gfx900" else 2) if block in ("SQ", "TCP") else 1
    nr = engines * (INSTANCES if gpu == "gfx900" else INSTANCES_GFX90A).get(block, 1)
    whole, rest = divmod(total(log, name, gpu), nr)
    return {(n * engines // nr, n % (nr // engines)): whole + (n < rest) for n in range(nr)}


def gpu_of(log, gpu="gfx900"):
    """The GPU with the counts of a dispatch in the log."""
    logged, constants = (LOGGED, CONSTANTS) if gpu == "gfx900" else (LOGGED_GFX90A, CONSTANTS_GFX90A)

    of = {}

    def count(name, instance):
        if name not in logged:
            return 0.0
        if name not in of:
            of[name] = collections.Counter()
            for (_, i), v in samples(log, name, gpu).items():
                of[name][i] += v
        return float(of[name][instance])

    return Gpu(gpu, constants, count)


def metrics(gpu="gfx900"):
    """All of the GPU."""
    g = gpu_of({}, gpu)
    out = []
    for name in g.formulas:
        try:
            g.needs(name)
        except KeyError:  # a metric for all GPUs, of counters that this one does not have
            continue
        out.append(name)
    return out


def check_natures(logs):
    """`logs`: {kernel: counts in the log}"""
    equal("kernels", sorted(logs), sorted(NATURE))
    for kernel, (name, least) in NATURE.items():
        at_least(f"{name} of {kernel}", logs[kernel][name], least * GROUPS[kernel])
