#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All kinds at once: callbacks, records, the database and the virtual GPU's log have the same calls and operations."""
import csv
from collections import Counter

from support import *

ABIS = (0, 1)
NONE, ENTER, EXIT = range(3)
CALLS = ("HIP_RUNTIME_API", "HIP_COMPILER_API", "HSA_CORE_API", "HSA_AMD_EXT_API", "HSA_IMAGE_EXT_API", "HSA_FINALIZE_EXT_API",
         "MARKER_CORE_API", "MARKER_CONTROL_API", "MARKER_NAME_API", "RCCL_API")
# callbacks that come once, and kinds whose records differ from them: docs/compat/rocprofiler-sdk.md
INSTANTS = ("HIP_STREAM", "HIP_GRAPH", "RUNTIME_INITIALIZATION", "CODE_OBJECT")


class Seen:
    """What the tool wrote."""

    def __init__(self, path):
        self.calls, self.records, self.refused, self.lost = [], [], [], 0
        with open(path, encoding="utf-8") as f:
            for line in f:
                word, *rest = line.split()
                if word == "call":
                    self.calls.append((rest[0], rest[1], *(int(n) for n in rest[2:])))
                elif word == "record":
                    self.records.append((rest[0], rest[1], *(int(n) for n in rest[2:])))
                elif word == "refused":
                    self.refused.append(tuple(rest))
                else:
                    self.lost += int(rest[0])

    def of(self, *kinds):
        return [c for c in self.calls if c[0] in kinds]


def traced(abi):
    program = os.path.join(BUILD, "tests", "hipmix")
    if not os.path.exists(program):
        skip("hipmix was not built: hipcc is not installed")
    tool = os.path.join(BUILD, "tests", f"libsdk_all_tool_{abi}.so")
    env = {"ROCP_TOOL_LIBRARIES": tool, "ALL_TOOL_OUT": "seen.txt", "LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}", "VGPU_EXEC": "auto",
           "LD_PRELOAD": os.path.join(LIB, f"librocprofiler-sdk.so.{abi}")}
    r = run(program, "threads=2", "streams=2", "rounds=1", "burst=5", trace=RTL, gpus=2, rtl_args=("-q", "--hsa"), env=env)
    ended(r, 0)
    return r, Seen(os.path.join(r.dir, "seen.txt"))


def each_call_begins_and_ends_once(seen):
    """In the order of each thread: calls nest, and end with the operation with which they began."""
    open_calls, ids = {}, Counter()
    for kind, operation, phase, id_, thread, _ in seen.of(*CALLS):
        stack = open_calls.setdefault(thread, [])
        if phase == ENTER:
            stack.append((kind, operation, id_))
            ids[id_] += 1
        else:
            equal("end", (phase, stack.pop() if stack else None), (EXIT, (kind, operation, id_)))
    equal("calls that did not end", {t: s for t, s in open_calls.items() if s}, {})
    equal("ids of two calls", [i for i, n in ids.items() if n > 1], [])


def records_equal_callbacks(seen):
    for kind in CALLS:
        ends = Counter((c[1], c[3], c[4]) for c in seen.of(kind) if c[2] == EXIT)
        for name in (kind, kind + "_EXT"):
            mine = Counter((r[1], r[2], r[3]) for r in seen.records if r[0] == name)
            if mine or name == kind:
                equal(f"records of {name} that callbacks lack", mine - ends, Counter())
                equal(f"callbacks of {name} without a record", ends - mine, Counter())
    for r in seen.records:
        if r[0] in CALLS and not 0 < r[4] <= r[5]:
            fail(f"times of {r}")
    for kind, end in (("KERNEL_DISPATCH", "KERNEL_DISPATCH_COMPLETE"), ("MEMORY_COPY", None)):
        ends = Counter(c[3] for c in seen.of(kind) if (c[1] == end if end else c[2] == EXIT))
        mine = Counter(r[2] for r in seen.records if r[0] == kind)
        equal(f"ids of records of {kind}", mine, ends)


def numbered(abi):
    """The functions that this ABI of the SDK has numbers for."""
    with open(os.path.join(SOURCE, "codegen/models/sdk/operations.csv"), encoding="utf-8") as f:
        return {row["name"] for row in csv.DictReader(f) if str(abi) in row["abis"]}


def calls_equal_the_database(r, seen, abi):
    """The recorder leaves out what a library calls of its own, within a call of the same API."""
    ends = {c[3]: c for c in seen.of(*CALLS) if c[2] == EXIT}
    # not shown: what comes when tools have been finalised
    last = max(x[5] for x in seen.records if x[0] in CALLS)
    rows = r.rows("SELECT correlation_id, name, status FROM rtl_api WHERE domain IN ('hip', 'hsa') AND begin_ns <= ?", last)
    known = numbered(abi)
    rows = [row for row in rows if row[1] in known]
    # the database adds a number to each id: docs/formats/database.md
    named = {}
    for id_, name, _ in rows:
        named.setdefault(name, []).append(id_)
    first = min(i for i, c in ends.items() if c[1] == "hipStreamCreate" or c[1] == "hipStreamCreateWithFlags")
    added = min(named.get("hipStreamCreate", []) + named.get("hipStreamCreateWithFlags", [])) - first
    wrong = []
    for i, name, status in rows:
        call = ends.get(i - added)
        # not all functions of HSA return a status
        if call and (call[1] != name or (call[5] != status and (call[0] == "HIP_RUNTIME_API" or status))):
            wrong.append((i - added, name, status, call))
    equal("calls whose name or result differ", wrong[:5], [])
    lacking = [(i - added, name) for i, name, _ in rows if i - added not in ends]
    equal("recorded calls that the tool was not shown", Counter(n for _, n in lacking), Counter())
    return added


def operations_equal_database_and_log(r, seen, added):
    kernels = [(x[2] + added, x[4], x[5]) for x in seen.records if x[0] == "KERNEL_DISPATCH"]
    # the runtime's own, by which it copies code, are not shown to tools
    rows = r.rows("SELECT correlation_id, begin_ns, end_ns FROM rtl_dispatch WHERE kernel NOT LIKE '[runtime kernel%'")
    equal("times of dispatches", Counter(x[1:] for x in kernels), Counter(tuple(x[1:]) for x in rows))
    equal("their ids", Counter(x[0] for x in kernels if x[0] - added), Counter(x[0] for x in rows if x[0]))
    equal("dispatches of the log", len(r.log("dispatch")), r.count("rtl_dispatch"))


@case
def all_kinds_agree_with_trace_and_log():
    for abi in ABIS:
        r, seen = traced(abi)
        equal("lost", seen.lost, 0)
        at_least("operations of calls", len({(c[0], c[1]) for c in seen.of(*CALLS)}), 60)
        each_call_begins_and_ends_once(seen)
        records_equal_callbacks(seen)
        added = calls_equal_the_database(r, seen, abi)
        operations_equal_database_and_log(r, seen, added)


main()
