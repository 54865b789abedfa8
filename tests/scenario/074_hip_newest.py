#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions that HIP 7 has and HIP 5 lacks: each call is in the trace, with its arguments and operations.

The program looks its functions up while it runs, and writes down each call of them; on an older HIP every case is
skipped. tools/userland.sh experimental has a HIP 7.
"""
import glob
import os

from support.hipcalls import *

# kernels that a round of the program launches by them
LAUNCHES = {"hipLaunchKernelExC": 2, "hipDrvLaunchKernelEx": 2}


def library_folder():
    """A folder with libamdhip64.so, which HIP opens by that name when it hands out functions."""
    libs = "/usr/lib/x86_64-linux-gnu"
    path = new_dir("lib")
    newest = sorted(glob.glob(f"{libs}/libamdhip64.so.[0-9]"))
    if newest:
        os.symlink(newest[-1], os.path.join(path, "libamdhip64.so"))
    return path


def traced(way="dlsym", backend="auto", threads=1, rounds=1, trace=RTL, **env):
    """A traced run, and the program's own list of its calls."""
    need = program("hsa_kernels.co")
    r = run(
        "hipnewest", f"module={need}", f"way={way}", f"threads={threads}", f"rounds={rounds}", "account=account",
        trace=trace, status=None, timeout=120, env={"VGPU_EXEC": "auto", "RTL_HIP_BACKEND": backend, **env},
    )
    if r.status == 77:
        skip(r.out.strip().replace("hipnewest: ", ""))
    ended(r, 0)
    contains("stdout", r.out, "right\n")
    with open(os.path.join(r.dir, "account"), encoding="ascii") as f:
        return r, [json.loads(line) for line in f]


def same_newest_calls(r, account):
    """Each call is a row of its thread, in its order, with its status and these arguments; -> the rows' ids"""
    names = {c["api"] for c in account}
    at_least("functions that were called", len(names), 24)
    rows = collections.defaultdict(list)
    for a in api_rows(r):
        if a.name in names:
            rows[a.tid].append(a)
    equal("threads with such calls", sorted(rows), sorted({c["tid"] for c in account}))
    matched = []
    for tid, seen in rows.items():
        calls = [c for c in account if c["tid"] == tid]
        equal("calls of a thread", [a.name for a in seen], [c["api"] for c in calls])
        for a, c in zip(seen, calls):
            equal(f"status of {a}", a.status, c["status"])
            args = a.args.split(", ")
            equal(f"arguments that are not in {a}", [arg for arg in c["args"] if arg not in args], [])
            matched.append((a.api_id, c))
    return matched


def exact_launches(r, account):
    """Each launch has one dispatch, of its kernel and with its grid; rocpd_kernelapi says the same."""
    rows = r.rows(
        "select N.string, S.string, D.kernel, K.gridX * K.workgroupX, K.gridY * K.workgroupY, K.workgroupX, "
        "K.groupSegmentSize, D.grid_x, D.grid_y, D.group_x from rocpd_kernelapi K "
        "join rocpd_api A on A.id = K.api_ptr_id join rocpd_string N on N.id = A.apiName_id "
        "join rocpd_string S on S.id = K.kernelName_id join rocpd_api_ops O on O.api_id = A.id "
        "join rtl_dispatch D on D.op_id = O.op_id"
    )
    same_counter("launches by function", [row[0] for row in rows], [c["api"] for c in account if c["api"] in LAUNCHES])
    for _, name, kernel, x, y, group, shared, *its in rows:
        equal("kernel", short_name(kernel), name)
        equal(f"grid and workgroup of {name}", [x, y, group], its)
        contains("kernel", ("newest_add", "flood_short", "flood_long"), name)
        if name == "newest_add":
            equal("dynamic LDS", shared, 128)


def exact_copies(r, account):
    """Sizes of batches are sums, of fills in bytes; their operations have these calls."""
    rows = r.rows(
        "select N.string, C.size, C.width, C.height, C.dstDevice, count(O.op_id) from rocpd_copyapi C "
        "join rocpd_api A on A.id = C.api_ptr_id join rocpd_string N on N.id = A.apiName_id "
        "left join rocpd_api_ops O on O.api_id = A.id group by A.id"
    )
    expected = {
        "hipMemcpyBatchAsync": (7168, 0, 0, -1, 3), "hipMemcpy3DBatchAsync": (0, 256, 4, -1, 2),
        "hipMemcpy3DPeer": (0, 256, 4, 0, 1), "hipMemcpy3DPeerAsync": (0, 256, 4, 0, 1),
        "hipMemsetD2D8": (0, 16, 2, -1, 1), "hipMemsetD2D16Async": (0, 32, 3, -1, 1),
        "hipMemsetD2D32": (0, 40, 4, -1, 1),
    }
    seen = [row for row in rows if row[0] in expected]
    failed = {c["api"] for c in account if c["status"]}
    equal("copies that failed", failed & set(expected), set())
    same_counter("copies and fills", [row[0] for row in seen], [c["api"] for c in account if c["api"] in expected])
    for name, *row in seen:
        equal(name, tuple(row), expected[name])


def check(way="dlsym", backend="auto", **more):
    r, account = traced(way, backend, **more)
    same_newest_calls(r, account)
    exact_launches(r, account)
    exact_copies(r, account)
    equal("operations without a call", exact_missed(r), 0)
    complete(r)
    return r, account


@case
def by_dlsym():
    check()


@case
def by_entry_point():
    """hipGetDriverEntryPoint() hands out wrappers, and is itself recorded."""
    r, account = check("entry", LD_LIBRARY_PATH=library_folder())
    rows = r.rows("select status, args from rtl_api where name = 'hipGetDriverEntryPoint'")
    equal("questions", len(rows), len({c["api"] for c in account}))
    for status, args in rows:
        equal("status", status, 0)
        contains("arguments", args, "*driverStatus=hipDriverEntryPointSuccess")


@case
def by_callback_backend():
    """The structures of this release's callbacks give the same."""
    check(backend="callback")
    check("past", "callback")


@case
def two_threads():
    check(threads=2, rounds=4)


@case
def without_direct_dispatch_operations_have_their_calls():
    """HIP submits from a thread of its own, and reports the call of each operation."""
    check(rounds=4, AMD_DIRECT_DISPATCH="0")


@case
def operations_of_unseen_calls_are_counted_exactly():
    """Exactly the operations of unseen calls are counted; the rest is unchanged."""
    for direct in ("1", "0"):
        r, account = traced("past", rounds=2, AMD_DIRECT_DISPATCH=direct)
        names = "', '".join({c["api"] for c in account})
        equal("calls of the functions", r.count("rtl_api", f"name in ('{names}')"), 0)
        at_least("operations without a call", exact_missed(r), 2 * sum(LAUNCHES.values()))


@case
def output_is_the_same_as_untraced():
    """Traced and untraced it makes the same calls with the same results."""
    _, plain = traced(trace=PLAIN)
    _, account = traced()
    equal("calls", [(c["api"], c["status"]) for c in account], [(c["api"], c["status"]) for c in plain])


main()
