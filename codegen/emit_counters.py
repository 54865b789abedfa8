#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn the lists of counters, blocks and metrics of src/counter/data into tables.

Metrics of the scope `global` are those of every GPU that has what they need, and no metric of the name. The unit of a
metric over the instances of a counter is the counter's; others have that of the first row of units.csv that has the name, or else
that of the one they equal, or percent where they multiply by 100.

Usage: emit_counters.py --data DIR --out DIR
Exit:  0 written, 1 a list is not understood; nothing is written then.
"""

import argparse
import csv
import fnmatch
import os
import re
import sys

from extract import write_if_changed

CONSTANTS = {"CU_NUM", "SIMD_NUM", "SE_NUM", "XCC_NUM", "MAX_WAVE_SIZE"}
OVER = {"sum": "sum", "avr": "mean", "min": "least", "max": "largest"}


class DataError(Exception):
    """A row that can't be taken; the message says which and why."""


def rows(folder, name):
    with open(os.path.join(folder, name), newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def names_in(expression):
    """The names that an expression needs."""
    return {n for n in re.findall(r"[A-Za-z_]\w*", expression) if n not in OVER}


def described(row):
    """A metric's description; of one over the instances of a counter it is made."""
    over = re.fullmatch(r"(sum|avr|min|max)\((\w+),(\d+)\)", row["expression"])
    if row["description"] or not over:
        return row["description"]
    return f"{OVER[over[1]]} of {over[2]} over its {over[3]} instances"


def unit_of(gpu, name, units):
    """The unit of a counter or metric; every one has one."""
    expression = gpu.deriveds.get(name, {"expression": ""})["expression"]
    over = re.fullmatch(r"(?:sum|avr|min|max)\((\w+),\d+\)", expression)
    if over:
        return unit_of(gpu, over[1], units)
    for row in units:
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in row["names"].split()):
            return row["unit"]
    if gpu.has(expression):
        return unit_of(gpu, expression, units)
    if expression.startswith("100*"):
        return "percent"
    raise DataError(f"{gpu.name}: {name} has no unit in units.csv")


class Gpu:
    """What one GPU has, by name."""

    def __init__(self, name):
        self.name, self.blocks, self.basics, self.deriveds = name, {}, {}, {}

    def add(self, kind, row):
        there = {"block": self.blocks, "counter": self.basics, "metric": self.deriveds}[kind]
        if row["name"] in there or (kind == "metric" and row["name"] in self.basics):
            raise DataError(f"{self.name}: {kind} {row['name']} twice")
        there[row["name"]] = dict(row)

    def has(self, name):
        return name in self.basics or name in self.deriveds or name in CONSTANTS

    def lacks(self, row):
        return sorted(n for n in names_in(row["expression"]) if not self.has(n))

    def add_global(self, every):
        """Those that need each other are taken together."""
        rest = [r for r in every if not self.has(r["name"])]
        while True:
            good = [r for r in rest if not self.lacks(r)]
            if not good:
                return
            for row in good:
                self.add("metric", row)
            rest = [r for r in rest if r not in good]

    def check(self):
        for row in self.basics.values():
            if row["block"] not in self.blocks:
                raise DataError(f"{self.name}: counter {row['name']} is of no block: {row['block']}")
        for row in self.deriveds.values():
            if self.lacks(row):
                raise DataError(f"{self.name}: metric {row['name']} needs {', '.join(self.lacks(row))}")


def read(folder):
    gpus = {}
    for row in rows(folder, "blocks.csv"):
        gpus.setdefault(row["gpu"], Gpu(row["gpu"])).add("block", row)
    for row in rows(folder, "counters.csv"):
        gpus[row["gpu"]].add("counter", row)
    metrics, units = rows(folder, "metrics.csv"), rows(folder, "units.csv")
    for row in metrics:
        if row["gpu"] != "global":
            gpus[row["gpu"]].add("metric", row)
    for gpu in gpus.values():
        gpu.add_global([r for r in metrics if r["gpu"] == "global"])
        gpu.check()
        for row in [*gpu.basics.values(), *gpu.deriveds.values()]:
            row["unit"] = unit_of(gpu, row["name"], units)
    return list(gpus.values())


def text(s):
    return '"' + s.replace("\\", "\\\\").replace('"', '\\"') + '"'


def emit(gpus):
    out = ["/* made by codegen/emit_counters.py */", '#include "counter/gpus.h"', ""]
    for g in gpus:
        at = {name: i for i, name in enumerate(g.blocks)}
        out.append(f"static const struct counter_block blocks_{g.name}[] = {{")
        for b in g.blocks.values():
            per_se = {"yes": "true", "no": "false"}[b["per_se"]]
            out.append(f"\t{{ {text(b['name'])}, {int(b['id'])}, {int(b['counters'])}, {int(b['instances'])}, {per_se} }},")
        out += ["};", f"static const struct counter_basic basics_{g.name}[] = {{"]
        for c in g.basics.values():
            out.append(f"\t{{ {text(c['name'])}, {text(c['description'])}, {text(c['unit'])}, &blocks_{g.name}[{at[c['block']]}], {int(c['event'])} }},")
        out += ["};", f"static const struct counter_derived deriveds_{g.name}[] = {{"]
        for m in g.deriveds.values():
            out.append(f"\t{{ {text(m['name'])}, {text(m['expression'])}, {text(described(m))}, {text(m['unit'])}, EXPRESSION_ORDINARY }},")
        out += ["};", ""]
    out.append("const struct counter_gpu counter_gpus[] = {")
    for g in gpus:
        out.append(f"\t{{ {text(g.name)}, blocks_{g.name}, basics_{g.name}, deriveds_{g.name},")
        out.append(f"\t  {len(g.blocks)}, {len(g.basics)}, {len(g.deriveds)} }},")
    out += ["};", f"const uint32_t counter_nr_gpus = {len(gpus)};", ""]
    return "\n".join(out)


def emit_views(folder):
    """The rows of views.csv, and the peaks of GPUs."""
    out = ["", '#include "counter/view.h"', "", "const struct counter_view_row counter_view_rows[] = {"]
    views, peaks = rows(folder, "views.csv"), rows(folder, "peaks.csv")
    for r in views:
        out.append("\t{ " + ", ".join(text(r[k]) for k in ("view", "name", "expression", "unit", "peak", "meaning")) + " },")
    out += ["};", f"const uint32_t counter_nr_view_rows = {len(views)};", "const struct counter_peaks counter_all_peaks[] = {"]
    for r in peaks:
        numbers = ", ".join(str(float(r[k] or 0)) for k in ("lanes", "fp16", "fp32", "fp64", "dram_gbs"))
        out.append(f"\t{{ {text(r['gpu'])}, {numbers}, {text(r['dram_of'])} }},")
    out += ["};", f"const uint32_t counter_nr_peaks = {len(peaks)};", ""]
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    try:
        made = emit(read(args.data)) + emit_views(args.data)
    except (DataError, KeyError, ValueError) as e:
        print(f"emit_counters.py: {args.data}: {e}", file=sys.stderr)
        return 1
    write_if_changed(os.path.join(args.out, "counter_tables_gen.c"), made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
