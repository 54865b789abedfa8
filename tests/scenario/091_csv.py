#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rocprof's CSV files of real traces: columns, and rows equal to SQL on the database."""
import csv

from support import *

STATS = ["Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage"]
API = ["Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"]
COLUMNS = {
    "results": ["Index", "KernelName", "gpu-id", "queue-id", "queue-index", "pid", "tid", "grd", "wgr", "lds", "scr",
                "vgpr", "sgpr", "fbar", "sig", "obj", "DispatchNs", "BeginNs", "EndNs", "CompleteNs", "DurationNs"],
    "stats": STATS,
    "hip_stats": STATS,
    "hsa_stats": STATS,
    "copy_stats": STATS,
    "kernel_trace": ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id",
                     "Kernel_Name", "Correlation_Id", "Start_Timestamp", "End_Timestamp", "LDS_Block_Size",
                     "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count", "Workgroup_Size_X",
                     "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"],
    "hip_api_trace": API,
    "hsa_api_trace": API,
    "memory_copy_trace": ["Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id",
                          "Correlation_Id", "Start_Timestamp", "End_Timestamp"],
    "marker_api_trace": API,
}
OF_KERNELS = "not flags & 32"


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.reader(f))


def convert(r, *options, out="csv/"):
    """{table: rows} of the files; checks that their first lines are the tables' columns."""
    done = r.rtl("convert", r.output, "-f", "csv", "-o", out, *options)
    ended(done, 0)
    tables = {}
    for path in glob.glob(os.path.join(r.dir, out, "*.csv")):
        name = os.path.basename(path)[:-4]
        header, *rows = read(path)
        equal(f"columns of {name}", header, COLUMNS[name])
        tables[name] = rows
    contains("stderr", done.err, f"{len(tables)} files written")
    return tables


def traced(gpus=2):
    r = run("control", "launches=30", "rounds=2", trace=RTL, gpus=gpus, rtl_args=("-q", "--hsa"))
    return r, convert(r)


def expected_stats(r, sql):
    """As rocprof prints them: name, calls, sum, integer mean, share; the longest sum first."""
    groups = r.rows(f"select name, count(*), sum(ns) from ({sql}) group by 1")
    total = sum(g[2] for g in groups)
    groups.sort(key=lambda g: (-g[2], -g[1], g[0]))
    return [[n, str(calls), str(ns), str(ns // calls), repr(ns * 100.0 / total)] for n, calls, ns in groups]


@case
def csv_statistics_equal_database():
    r, tables = traced()
    sql = {
        "stats": f"select kernel as name, end_ns - begin_ns as ns from rtl_dispatch where {OF_KERNELS}",
        "hip_stats": "select name, end_ns - begin_ns as ns from rtl_api where domain = 'hip'",
        "hsa_stats": "select name, end_ns - begin_ns as ns from rtl_api where domain = 'hsa'",
        "copy_stats": "select 'Copy' || kind as name, end_ns - begin_ns as ns from rtl_copy",
    }
    for name, query in sql.items():
        equal(name, tables[name], expected_stats(r, query))


@case
def csv_traces_equal_database():
    r, tables = traced()
    numbers = lambda rows, *columns: [tuple(int(row[c]) for c in columns) for row in rows]
    dispatches = r.rows(f"""select begin_ns, end_ns, correlation_id, queue, grid_x, grid_y, grid_z, group_x, group_y,
        group_z from rtl_dispatch where {OF_KERNELS} order by begin_ns, op_id""")
    equal("kernel_trace", numbers(tables["kernel_trace"], 9, 10, 8, 2, 19, 20, 21, 16, 17, 18), dispatches)
    equal("numbers of dispatches", numbers(tables["kernel_trace"], 5), [(i + 1,) for i in range(len(dispatches))])
    equal("results", numbers(tables["results"], 17, 18, 3, 7, 8),
          [(d[0], d[1], d[3], d[4] * d[5] * d[6], d[7] * d[8] * d[9]) for d in dispatches])
    launched = r.rows(f"""select a.begin_ns from rtl_dispatch d join rtl_api a on a.correlation_id = d.correlation_id
        where {OF_KERNELS.replace('flags', 'd.flags')} and a.domain = 'hip' order by d.begin_ns, d.op_id""")
    equal("when they were launched", numbers(tables["results"], 16), launched)
    for domain in ("hip", "hsa"):
        calls = r.rows(f"""select pid, tid, correlation_id, begin_ns, end_ns from rtl_api where domain = '{domain}'
            order by begin_ns, api_id""")
        equal(f"{domain}_api_trace", numbers(tables[f"{domain}_api_trace"], 2, 3, 4, 5, 6), calls)
    copies = r.rows("select begin_ns, end_ns, correlation_id from rtl_copy order by begin_ns, op_id")
    equal("memory_copy_trace", numbers(tables["memory_copy_trace"], 6, 7, 5), copies)
    equal("directions", {row[1] for row in tables["memory_copy_trace"]}, {"MEMORY_COPY_HOST_TO_DEVICE"})
    marks = r.rows("select message, begin_ns, end_ns from rtl_marker order by begin_ns, marker_id")
    equal("marker_api_trace", [(row[1], int(row[5]), int(row[6])) for row in tables["marker_api_trace"]], marks)


@case
def csv_of_raw_trace_equals_database():
    r = run("control", "launches=10", trace=RTL, rtl_args=("-q", "--keep-spool"))
    spools = glob.glob(os.path.join(r.dir, "trace.db.spool", "**", "*.rtl"), recursive=True)
    equal("raw traces", len(spools), 1)
    ended(r.rtl("convert", r.output, "-f", "csv", "-o", "a/", "-q"), 0)
    ended(r.rtl("convert", spools[0], "-f", "csv", "-o", "b/", "-q"), 0)
    names = sorted(os.listdir(os.path.join(r.dir, "a")))
    equal("files", sorted(os.listdir(os.path.join(r.dir, "b"))), names)
    for name in names:
        equal(name, read(os.path.join(r.dir, "b", name)), read(os.path.join(r.dir, "a", name)))


@case
def specification_example_has_controlled_calls_alone():
    """Tracing control: only what is between start and stop is in hip_stats.csv."""
    r = run("matrix_transpose", "control", 10, trace=RTL, env={"VGPU_EXEC": "on"}, timeout=120,
            rtl_args=("-q", "--trace-start", "off", "--internal"))
    equal("results", [l for l in r.out.splitlines() if "!" in l], ["PASSED!"] * 10)
    tables = convert(r)
    equal("calls", sorted((row[0], row[1]) for row in tables["hip_stats"]),
          [("__hipPopCallConfiguration", "10"), ("__hipPushCallConfiguration", "10"),
           ("hipDeviceSynchronize", "10"), ("hipLaunchKernel", "10")])
    equal("kernels", [row[:2] for row in tables["stats"]], [["matrixTranspose(float*, float const*, int)", "10"]])
    equal("files of copies", [n for n in tables if "copy" in n], [])
    share = sum(float(row[4]) for row in tables["hip_stats"])
    if abs(share - 100) > 1e-9:
        fail(f"shares add up to {share}")


@case
def rtl_summary_equals_csv_tables():
    r, _ = traced(gpus=1)
    for options, name in (((), "stats"), (("--by", "copy"), "copy_stats"),
                          (("--by", "api", "--domain", "hip"), "hip_stats"),
                          (("--by", "api", "--domain", "hsa"), "hsa_stats")):
        p = r.rtl("summary", r.output, "--format", "csv", "--columns", "rocprof", *options)
        ended(p, 0)
        with open(os.path.join(r.dir, "csv", name + ".csv"), encoding="utf-8") as f:
            equal(name, p.out, f.read())


main()
