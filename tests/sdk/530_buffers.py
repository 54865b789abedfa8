#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librocprofiler-sdk's buffers: statuses, threads, records of calls; nothing lost, nothing twice."""
from support import *

ABIS = (0, 1)
LONG = os.environ.get("RTL_TEST_LONG")


def program(name):
    return os.path.join(BUILD, "tests", name)


@case
def every_status_and_rule_of_buffers_is_as_documented():
    for abi in ABIS:
        r = run(program(f"sdk_buffers_{abi}"), status=None)
        equal(f"stdout of sdk_buffers_{abi}", r.out, "0 wrong\n")
        ended(r, 0)
        equal("stderr", r.err, "")


@case
def storm_of_calls_loses_and_doubles_nothing():
    for abi in ABIS:
        # four contexts, stopped a part of the time
        r = run(program(f"sdk_storm_{abi}"), f"calls={640000 if LONG else 10000}", f"seed={os.environ.get('RTL_TEST_SEED', 1)}",
                status=None, timeout=900)
        contains(f"stdout of sdk_storm_{abi}", r.out, "\n0 wrong\n")
        ended(r, 0)
        equal("stderr", r.err, "")
        lines = [l.split() for l in r.out.splitlines() if "records in" in l]
        equal("contexts", [l[0] for l in lines], ["lossless:", "discard:"] * 2)
        for l in lines:
            at_least(f"calls of a context that is {l[0]}", int(l[1]), 100)


@case
def records_lost_without_memory_are_counted_and_reported():
    for abi in ABIS:
        r = run(program(f"sdk_memory_{abi}"), status=None)
        equal(f"stdout of sdk_memory_{abi}", r.out, "0 wrong\n")
        ended(r, 0)
        contains("stderr", r.err, "lossless, but its function has not taken")


# ---- with HIP ----

RUNTIME = {"LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}"}
# what work() of buffer_client.cpp calls, besides launches: name -> calls
CALLS = {"hipSetDevice": 1, "hipStreamCreate": 1, "hipMalloc": 2, "hipHostMalloc": 1, "hipMemcpyAsync": 2, "hipStreamSynchronize": 1,
         "hipHostFree": 1, "hipFree": 1, "hipStreamDestroy": 1}
LAUNCH = ("__hipPopCallConfiguration", "__hipPushCallConfiguration", "hipLaunchKernel")


def client(abi, *args, trace=PLAIN):
    r = run(program(f"sdk_buffer_client_{abi}"), *args, trace=trace, env=RUNTIME if trace == PLAIN else {"RTL_INTERNAL": 1})
    equal("stderr", r.err, "")
    contains("stdout", r.out, "wrong 0\n")
    return r


def counts_of(r):
    counts = dict(l.split()[1:] for l in r.out.splitlines() if l.startswith("count "))
    return {n: int(c) for n, c in counts.items() if not n.startswith("__hipReg") and not n.startswith("__hipUnreg")}


def expected(launches, threads=1):
    return {"hipInit": 1, **{n: c * threads for n, c in CALLS.items()}, **{n: launches * threads for n in LAUNCH}}


@case
def records_of_hip_are_the_calls_that_callbacks_see():
    for abi in ABIS:
        equal(f"records, ABI {abi}", counts_of(client(abi, "launches=50")), expected(50))
        equal(f"records without callbacks, ABI {abi}", counts_of(client(abi, "launches=50", "records=1")), expected(50))


@case
def records_of_eight_threads_are_the_calls_that_callbacks_see():
    for abi in ABIS:
        equal(f"records, ABI {abi}", counts_of(client(abi, "launches=50", "threads=8")), expected(50, 8))


@case
def records_of_hsa_are_the_calls_that_callbacks_see():
    for abi in ABIS:
        counts = counts_of(client(abi, "launches=5", "hsa=1"))
        at_least("calls of hsa_signal_store_screlease", counts.get("hsa_signal_store_screlease", 0), 1)
        at_least("functions of HSA", len([n for n in counts if n.startswith("hsa_")]), 10)


@case
def tools_functions_in_the_tables_are_called():
    for abi in ABIS:
        r = client(abi, "hsa=1")
        tables = [l.split() for l in r.out.splitlines() if l.startswith("table ")]
        hsa = [t for t in tables if t[1] == "1"]
        equal("HSA's tables", len(hsa), 1)
        at_least("its version", int(hsa[0][3]), 10000)
        own = int(re.search(r"own hsa_queue_create (\d+)", r.out).group(1))
        at_least("calls of the tool's function", own, 1)
        equal("calls of hsa_queue_create", counts_of(r)["hsa_queue_create"], own)
        print("    tables:", *[t[1] for t in tables])


@case
def records_are_the_calls_of_the_trace():
    for abi in ABIS:
        r = client(abi, "launches=5", "ids=1", trace=RTL)
        records = [l.split()[1:] for l in r.out.splitlines() if l.startswith("record ")]
        records = {int(i): (n, int(t), int(b), int(e)) for i, n, t, b, e in records if n in CALLS or n in LAUNCH}
        names = ",".join(f"'{n}'" for n in (*CALLS, *LAUNCH))
        rows = r.rows(f"select correlation_id, name, tid, begin_ns, end_ns from rtl_api where name in ({names})")
        # the database adds its rows of markers and threads to each id: docs/formats/database.md
        added = min(row[0] for row in rows) - min(records)
        same_counter("calls", [(i + added, v[0], v[1]) for i, v in records.items()], [tuple(row[:3]) for row in rows])
        for i, _, _, begin, end in rows:
            record = records[i - added]
            # without what callbacks and the recorder take; the clock is computed, and exact to a microsecond or so
            if not begin - 5000 <= record[2] <= record[3] <= end + 5000:
                fail(f"times of {record}: {begin}..{end} in the database")


main()
