#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""RCCL's calls in tools and in traces: AMD's library on the virtual GPU where the suite has one, else a stand-in."""
import csv
import json

from support import *

ABIS = (0, 1)
# the RCCL of the suite: its version, and what it can do here
VERSION = {"debian13": "21304", "experimental": "22707"}.get(USERLAND, "22707")
# 7.2's has no code for gfx900, and takes long to find that out
REDUCES = USERLAND == "debian13"
STAND_IN = [] if USERLAND else [os.path.join(BUILD, "tests", "rccl")]


def program(abi):
    return built(f"sdk_rccl_client_{abi}")


def args():
    return ["reduce=1"] if REDUCES else []


def client(abi, *more, trace=PLAIN):
    env = {"LD_LIBRARY_PATH": ":".join([VGPU_DIR, LIB] + STAND_IN), "VGPU_EXEC": "auto"}
    if trace == PLAIN:
        env["LD_PRELOAD"] = LIBRTL
    r = run(program(abi), *args(), *more, trace=trace, gpus=2, env=env)
    ended(r, 0)
    contains("stdout", r.out, "\n0 wrong\n")
    return r, dict(line.rsplit(" ", 1) for line in r.out.splitlines() if not line.startswith("inner"))


@case
def calls_of_rccl_have_arguments_results_and_records():
    for abi in ABIS:
        _, seen = client(abi)
        equal(f"version, ABI {abi}", seen["version"], VERSION)
        # the numbers are those of the library that is there
        is_newest = VERSION == "22707"
        equal("number 23", seen["23"], "ncclCommShrink" if is_newest else "ncclCommSplit")
        equal("number 24", seen["split"], "ncclCommSplit" if is_newest else "ncclGetErrorString")
        if REDUCES:
            equal("wrong sums", seen["wrong sums"], "0")
            at_least("dispatches", int(seen["dispatches"]), 2)
            # a kernel's id is that of the launch, within the call of RCCL
            equal("dispatches of launches", seen["of launches"], seen["dispatches"])
            if abi:
                at_least("launches within RCCL", int(seen["within"]), 2)


@case
def trace_of_rccl_has_its_calls_and_what_they_launch():
    r, seen = client(1, "late=1", trace=RTL)
    rows = r.rows("SELECT apiName, args FROM api WHERE domain = 'rccl' ORDER BY start")
    names = [n for n, _ in rows]
    for name, number in {"ncclGetVersion": 2, "ncclGetUniqueId": 1, "ncclGetErrorString": 1,
                         **({"ncclAllReduce": 2, "ncclGroupEnd": 1, "ncclCommDestroy": 2} if REDUCES else {})}.items():
        at_least(name, names.count(name), number)
    contains("verdict", r.info(), "verdict: complete")
    r.rtl("convert", "-f", "rocprofv3-csv", "-o", "out", r.output)
    with open(os.path.join(r.dir, "out_rccl_api_trace.csv"), encoding="utf-8") as f:
        table = list(csv.DictReader(f))
    equal("rccl_api_trace.csv", [(t["Domain"], t["Function"]) for t in table], [("RCCL_API", n) for n in names])
    r.rtl("convert", "-f", "rocprofv3-json", "-o", "out.json", r.output)
    with open(os.path.join(r.dir, "out.json"), encoding="utf-8") as f:
        equal("rccl_api", len(json.load(f)["rocprofiler-sdk-tool"][0]["buffer_records"]["rccl_api"]), len(names))
    if REDUCES:
        equal("wrong sums", seen["wrong sums"], "0")
        for _, text in [row for row in rows if row[0] == "ncclAllReduce"]:
            contains("arguments", text, "count=1024, datatype=7, op=0, comm=0x")
        kernels = r.value("SELECT count(*) FROM op WHERE description LIKE 'ncclKernel%'")
        equal("kernels", kernels, 2)


main()
