# SPDX-License-Identifier: MIT
"""hipcalls.py - compares HIP calls in a trace with the program's account of them (hip_account.hpp)

Each operation of the account identifies itself: each launch has a unique grid, each copy a unique number of
bytes, each fill or move within a device a unique grid of the runtime's kernel. A call is matched with a row of
rtl_api by its thread and its index in that thread. Neither uses a correlation id, so both verify rocpd_api_ops.
"""
import collections
import json
import os
import re

from support import *

# libamdhip64's kernels for a fill or a copy within one device; op_keys() has the grids
FILL, FILL_ROWS = "__amd_rocclr_fillBufferAligned", "__amd_rocclr_fillBufferAligned2D"
MOVE, MOVE_ROWS = "__amd_rocclr_copyBuffer", "__amd_rocclr_copyBufferRectAligned"

# HIP 7.2.4 copies up to 16 KiB by kernels, and limits a kernel for a copy or a fill to 64 workgroups: sizes would not
# be unique. These settings of HIP switch both off.
OWN_SIZES = {"GPU_FORCE_BLIT_COPY_SIZE": "0", "DEBUG_CLR_LIMIT_BLIT_WG": "1000000"} if HIP7 else {}
# Kernels then copy what the program verifies.
RESULTS = {"VGPU_EXEC": "auto"} if HIP7 else {}

# The parts of hipmix. With a function in hipRegisterTracerCallback(), even one that subscribes to nothing, HIP 7.2.4 may crash in
# the launch of a graph, without librtl too: docs/compat/versions.md
ALL_PARTS = "kmtc2sfgepb"
CALLBACK_PARTS = ALL_PARTS.replace("g", "") if HIP7 else ALL_PARTS

Call = collections.namedtuple("Call", "tid api status stream exec ops")
Api = collections.namedtuple("Api", "api_id tid name begin end status correlation parent args")
Op = collections.namedtuple("Op", "op_id key begin end tid correlation")


# what the compiler makes of a launch <<<...>>>, beside hipLaunchKernel(): part of it, unless asked for
PARTS = ("__hipPushCallConfiguration", "__hipPopCallConfiguration")


def read_account(r, parts=False):
    """The program's calls by thread, in each thread's order; `parts`: with those that are part of a launch."""
    with open(os.path.join(r.dir, "account"), encoding="ascii") as f:
        calls = []
        for line in f:
            c = json.loads(line)
            calls.append(
                Call(c["tid"], c["api"], c["status"], int(c["stream"], 16), int(c["exec"], 16), c["ops"])
            )
    return [c for c in calls if parts or c.api not in PARTS]


def run_account(name, *args, env=None, **kwargs):
    """Runs a program that writes an account into the run's folder."""
    return run(name, *args, "account=account", env={**OWN_SIZES, **RESULTS, **(env or {})}, timeout=120, **kwargs)


def api_rows(r, where="domain = 'hip'"):
    return [
        Api(*row)
        for row in r.rows(
            "select api_id, tid, name, begin_ns, end_ns, status, correlation_id, parent_id, args "
            f"from rtl_api where {where} order by tid, begin_ns, api_id"
        )
    ]


def same_calls(r, calls, statuses=True):
    """Each call is one row, with thread, order and status; returns {index of call: row}."""
    rows = api_rows(r)
    same_counter("calls by name", [a.name for a in rows], [c.api for c in calls])
    by_tid = collections.defaultdict(list)
    for a in rows:
        equal(f"parent of {a.name}, which the program called itself", a.parent, 0)
        at_least(f"end of {a.name}", a.end, a.begin)
        by_tid[a.tid].append(a)
    matched = {}
    index = collections.Counter()
    for i, c in enumerate(calls):
        at = index[c.tid]
        index[c.tid] += 1
        if at >= len(by_tid[c.tid]):
            fail(f"thread {c.tid} has {len(by_tid[c.tid])} calls in the trace; its call {at} was {c.api}")
        a = by_tid[c.tid][at]
        if a.name != c.api or (statuses and a.status != c.status):
            fail(f"call {at} of thread {c.tid}:\n    seen     {a}\n    expected {c}")
        matched[i] = a
    return matched


def named_by_callbacks(calls):
    """The calls with the names of the runtime's callbacks: HIP 7.2.4 appends R0000 to the form before HIP 6."""
    if not HIP7:
        return calls
    other = {"hipGetDeviceProperties": "hipGetDevicePropertiesR0000"}
    return [c._replace(api=other.get(c.api, c.api)) for c in calls]


def callback_calls(r, calls):
    """The calls that the runtime's callbacks report: HIP 5.2.3 has no callback for two queries."""
    unreported = {
        name for name in ("hipGetDeviceCount", "hipRuntimeGetVersion") if not r.count("rtl_api", f"name = '{name}'")
    }
    return [c for c in calls if c.api not in unreported]


def round_up(n, step):
    return -(-n // step) * step


def op_keys(op):
    """The possible forms on the GPU of an operation of the account."""
    what = op[0]
    if what == "kernel":
        return [("kernel", op[1], tuple(op[2:5]), tuple(op[5:8]))]
    size = op[1]
    move = ("kernel", MOVE, (size // 4 + 256, 1, 1), (256, 1, 1))
    fill = ("kernel", FILL, (size // 8, 1, 1), (256, 1, 1))
    if HIP7:  # 16 bytes to each work-item
        move = ("kernel", MOVE, (round_up(size // 16, 512), 1, 1), (512, 1, 1))
        fill = ("kernel", FILL, (round_up(size // 16, 256), 1, 1), (256, 1, 1))
    return {
        "copy": [("copy", size)],
        "either": [("copy", size), move],
        "move": [move],
        "move_rows": [("kernel", MOVE_ROWS, (size // 64, 16, 1), (16, 16, 1))],
        "fill": [fill],
        "fill_rows": [("kernel", FILL_ROWS, (size // 4, 16, 1), (16, 16, 1))],
    }[what]


def short_name(kernel):
    """mix_template<double>(double*, double) -> mix_template"""
    return kernel.split("(")[0].split("<")[0].split(" ")[-1]


def trace_ops(r):
    """All operations of the program in the trace."""
    ops = []
    for row in r.rows(
        "select D.op_id, kernel, grid_x, grid_y, grid_z, group_x, group_y, group_z, begin_ns, end_ns, T.tid, "
        f"correlation_id from rtl_dispatch D join rtl_op T using (op_id) where D.flags & {INTERNAL} = 0"
    ):
        ops.append(Op(row[0], ("kernel", short_name(row[1]), row[2:5], row[5:8]), *row[8:12]))
    for row in r.rows(
        "select C.op_id, bytes, begin_ns, end_ns, T.tid, correlation_id from rtl_copy C join rtl_op T using (op_id)"
    ):
        ops.append(Op(row[0], ("copy", row[1]), *row[2:6]))
    return ops


def engine_copies(r):
    return collections.Counter(l["bytes"] for l in r.log() if l["kind"] == "copy")


def joined_apis(r):
    """{operation: calls that rocpd_api_ops joins it to}"""
    joined = collections.defaultdict(list)
    for op, api in r.rows("select op_id, api_id from rocpd_api_ops"):
        joined[op].append(api)
    return joined


def callers(calls, ops):
    """{op_id: index of the call that caused it}, without the trace's correlation ids; and operations without a row.

    Calls that cause the same operation (launches of one graph) are matched in order: they are on one stream, or the
    program waits between them.
    """
    by_key = collections.defaultdict(list)
    for op in sorted(ops, key=lambda o: o.begin):
        by_key[op.key].append(op)
    cause, missing = {}, []
    for i, c in enumerate(calls):
        for account_op in c.ops:
            key = next((k for k in op_keys(account_op) if by_key[k]), None)
            if not key:
                missing.append((i, account_op))
                continue
            cause[by_key[key].pop(0).op_id] = i
            # HIP 5.2.3 submits each slice of a three-dimensional fill separately
            if "Memset3D" in c.api and by_key[key]:
                cause[by_key[key].pop(0).op_id] = i
    left = [op for rest in by_key.values() for op in rest]
    if left:
        fail(f"{len(left)} operations without a call of the program, such as {left[:4]}")
    return cause, missing


def exact_callers(r, calls, matched):
    """Each operation is joined to the one call that caused it, carries its id and its thread."""
    ops = trace_ops(r)
    cause, missing = callers(calls, ops)
    engine = engine_copies(r)
    for i, op in missing:
        # done by the CPU: copies within the host, and small ones over the bus
        if op[0] != "copy" or engine[op[1]]:
            fail(f"no operation in the trace for {op} of {calls[i]}")
    joined = joined_apis(r)
    for op in ops:
        i = cause[op.op_id]
        a = matched[i]
        if joined[op.op_id] != [a.api_id]:
            others = [x for x in matched.values() if x.api_id in joined[op.op_id]]
            fail(f"{op} was caused by {calls[i]}, which is {a};\n    rocpd_api_ops joins it to {joined[op.op_id]}: {others}")
        equal(f"correlation id of {op}", op.correlation, a.correlation)
        equal(f"thread of {op}", op.tid, a.tid)
    equal("ids that two calls share", len({a.correlation for a in matched.values()}), len(matched))
    return ops, cause


def launch_details(r, calls, matched):
    """rocpd_kernelapi and the arguments equal the account."""
    details = {
        row[0]: row[1:]
        for row in r.rows(
            "select api_ptr_id, stream, gridX, gridY, gridZ, workgroupX, workgroupY, workgroupZ, S.string "
            "from rocpd_kernelapi K join rocpd_string S on S.id = K.kernelName_id"
        )
    }
    for i, c in enumerate(calls):
        kernels = [op for op in c.ops if op[0] == "kernel"]
        if len(kernels) != 1 or c.exec or c.api in ("hipLaunchByPtr", "hipExtLaunchMultiKernelMultiDevice"):
            continue
        a = matched[i]
        if a.api_id not in details:
            fail(f"no row of rocpd_kernelapi for {a}")
        stream, gx, gy, gz, bx, by, bz, name = details[a.api_id]
        op = kernels[0]
        equal(f"stream of {a}", int(stream or "0", 16), c.stream)
        equal(f"workgroup of {a}", [bx, by, bz], op[5:8])
        equal(f"grid of {a}", [gx * bx, gy * by, gz * bz], op[2:5])
        contains(f"kernel of {a}", name, op[1])
        if "hipLaunchKernel" in a.name or "hipExtLaunchKernel" in a.name:
            contains("arguments", a.args, f"{{{gx},{gy},{gz}}}")


def copy_details(r, calls, matched):
    sizes = dict(r.rows("select api_ptr_id, size from rocpd_copyapi"))
    streams = dict(r.rows("select api_ptr_id, stream from rocpd_copyapi"))
    plain = {c for c in {c.api for c in calls} if c.startswith("hipMemcpy") and "2D" not in c and "3D" not in c}
    for i, c in enumerate(calls):
        if c.api not in plain or len(c.ops) != 1:
            continue
        a = matched[i]
        if a.api_id not in sizes:
            fail(f"no row of rocpd_copyapi for {a}")
        equal(f"bytes of {a}", sizes[a.api_id], c.ops[0][1])
        contains("arguments", a.args, f"={c.ops[0][1]}")
        if c.stream:
            equal(f"stream of {a}", int(streams[a.api_id] or "0", 16), c.stream)


def exact_missed(r):
    """Operations without a recorded call are counted as missed; returns their number."""
    past = sum(
        r.count(view, "correlation_id not in (select correlation_id from rtl_api)")
        for view in ("rtl_dispatch", "rtl_copy")
    )
    equal("operations that are counted as missed", r.losses().get("api_missed", 0), past)
    verdict = re.search("^verdict: (.*)", r.info(), re.M).group(1)
    if past:
        contains("verdict", verdict, f"api_missed {past}")
    else:
        lacks("verdict", verdict, "api_missed")
    return past


def exact_program_dispatches(r):
    """Every packet of the program's queues, to the tick; every packet of internal queues, without times."""
    runtime = {row[0] for row in r.rows("select hsa_id from rtl_queue where internal")}
    log = r.log("dispatch")
    same_counter(
        "begin, end, grid and workgroup of each dispatch",
        [row_key(row) for rows in db_queues(r.db(), f"flags & {INTERNAL} = 0").values() for row in rows],
        [dispatch_key(d) for d in log if d["queue"] not in runtime],
    )
    same_counter(
        "grids on the runtime's own queues",
        r.rows(f"select grid_x, grid_y, grid_z from rtl_dispatch where flags & {INTERNAL}"),
        [tuple(d["grid"]) for d in log if d["queue"] in runtime],
    )


def complete(r):
    """Nothing was lost but times on internal queues, whose signals the runtime may reuse before they are read."""
    untimed = r.count("rtl_dispatch", f"flags & {INTERNAL} and flags & 4")
    losses = r.losses()
    equal("dispatches of the runtime's without times", untimed, losses.pop("signal_reused", 0))
    equal("what is counted as lost or skipped", losses, {})
