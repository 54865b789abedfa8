#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The order of functions in HIP's dispatch tables: as a header has it, and as models/hip_tables.json has it.

Usage: hip_tables.py --include DIR           compare the header of HIP 6.1 and later with the record
       hip_tables.py --include DIR --print   what the header says, as the record has it
Exit:  0 the same, 1 different, 77 nothing to compare with.
"""

import argparse
import json
import os
import re
import sys

from extract import ExtractError, parameter, split_top, tidy

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(HERE, "models", "hip_tables.json")
HEADER = os.path.join("hip", "amd_detail", "hip_api_trace.hpp")
STRUCTS = {"compiler": "HipCompilerDispatchTable", "runtime": "HipDispatchTable", "tools": "HipToolsDispatchTable"}


def order(steps):
    """All functions of a table in their order. Indices count from 1: size_t size comes first."""
    return [name for step in steps for name in step["names"]]


def functions_at(steps, last):
    """How many functions a table has at that step."""
    return sum(len(step["names"]) for step in steps if step["step"] <= last)


def read_steps(body, table):
    """The functions of a structure: [{"step", "names"}], steps without any left out."""
    steps = []
    for number, ctype, name in re.findall(r"STEP_VERSION\s*==?\s*(\d+)|\b(\w+)\s+(\w+)_fn\s*;", body):
        if number:
            steps.append({"step": int(number), "names": []})
        elif ctype != "t_" + name or not steps:
            raise ExtractError("%s: %s %s_fn" % (table, ctype, name))
        else:
            steps[-1]["names"].append(name)
    return [step for step in steps if step["names"]]


def read_prototypes(text):
    """{function: {"params", "returns"}} of the types that the tables' members have."""
    out = {}
    for returns, name, args in re.findall(r"typedef\s+([\w\s*]+?)\(\*t_(\w+)\)\s*\(((?:[^()]|\([^()]*\))*)\)\s*;", text):
        args = " ".join(args.split())
        params = [] if args in ("", "void") else [parameter(p, i) for i, p in enumerate(split_top(args))]
        out[name] = {"params": params, "returns": tidy(returns)}
    return out


def read_header(text):
    """A header in the form of the record, of one release: "steps", "tables" and all prototypes."""
    # in the comments are the steps, in the rest of them anything
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    out = {"steps": {}, "tables": {}, "prototypes": read_prototypes(re.sub(r"//[^\n]*", "", text))}
    for table, name in STRUCTS.items():
        body = re.search(r"struct\s+%s\s*\{(.*?)\n\};" % name, text, re.S)
        if not body:
            continue
        major, step = (re.search(r"#define\s+HIP_%s_API_TABLE_%s_VERSION\s+(\d+)" % (table.upper(), part), text)
                       for part in ("MAJOR", "STEP"))
        if not major or not step:
            raise ExtractError("%s: no version" % name)
        out["steps"][table] = read_steps(body.group(1), name)
        out["tables"][table] = [int(major.group(1)), int(step.group(1)), len(order(out["steps"][table]))]
    if "runtime" not in out["tables"]:
        raise ExtractError("no HipDispatchTable")
    return out


def compare(recorded, header, version):
    """Where a header contradicts the record: a list of sentences."""
    wrong = []
    rows = [r for r in recorded["runtimes"] if ".".join(r["hip"].split(".")[:2]) == version]
    for table, steps in header["steps"].items():
        its, ours = order(steps), order(recorded["steps"][table])
        for i, (a, b) in enumerate(zip(its, ours)):
            if a != b:
                wrong.append("%s table: index %d is %s, recorded is %s" % (table, i + 1, a, b))
                break
        known = len(its) if len(its) <= len(ours) else len(ours)
        if [(s["step"], n) for s in steps for n in s["names"]][:known] != \
                [(s["step"], n) for s in recorded["steps"][table] for n in s["names"]][:known]:
            wrong.append("%s table: other steps than recorded" % table)
        if rows and header["tables"][table] != rows[0][table]:
            wrong.append("%s table of HIP %s: %s, recorded is %s" % (
                table, version, header["tables"][table], rows[0][table]))
    for name, proto in recorded["prototypes"].items():
        if name in header["prototypes"] and header["prototypes"][name] != proto:
            wrong.append("%s has another prototype" % name)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--include", required=True)
    parser.add_argument("--print", action="store_true", dest="show")
    args = parser.parse_args()
    path = os.path.join(args.include, HEADER)
    if not os.path.exists(path):
        print("no %s installed" % HEADER)
        return 77
    with open(path, encoding="utf-8") as f:
        header = read_header(f.read())
    if args.show:
        print(json.dumps(header, indent=1))
        return 0
    with open(os.path.join(args.include, "hip", "hip_version.h"), encoding="utf-8") as f:
        version = ".".join(re.findall(r"#define HIP_VERSION_M(?:AJOR|INOR)\s+(\d+)", f.read())[:2])
    with open(RECORDED, encoding="utf-8") as f:
        wrong = compare(json.load(f), header, version)
    print("HIP %s: %s" % (version, ", ".join("%s %s" % row for row in sorted(header["tables"].items()))))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
