#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl rocprof: rocprof's options and files, from one command"""
import csv

from support import *

COLUMNS = "Index KernelName gpu-id queue-id queue-index pid tid grd wgr lds scr vgpr sgpr fbar sig obj".split()
TIMES = ["DispatchNs", "BeginNs", "EndNs", "CompleteNs"]


def rocprof(folder, *args, name="matrix_transpose", program_args=()):
    r = rtl("rocprof", "--virtual-gpu", "-o", os.path.join(folder, "r.csv"), *args, program(name), *program_args)
    return r


def read(folder, name):
    with open(os.path.join(folder, name), newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def kernels(rows):
    return [row for row in rows if "matrixTranspose" in row["KernelName"]]


@case
def columns_and_files_are_those_that_were_asked_for():
    folder = new_dir("plain")
    ended(rocprof(folder), 0)
    rows = read(folder, "r.csv")
    equal("columns", list(rows[0]), COLUMNS)
    equal("kernels", [row["KernelName"] for row in kernels(rows)], ["matrixTranspose(float*, float const*, int)"])
    equal("files", os.listdir(folder), ["r.csv"])
    ended(rocprof(folder, "--timestamp", "on", "--basenames", "on"), 0)
    rows = read(folder, "r.csv")
    equal("columns with times", list(rows[0]), COLUMNS + TIMES)
    equal("its base name", [row["KernelName"] for row in kernels(rows)], ["matrixTranspose"])
    ended(rocprof(folder, "--stats", "--keep-database"), 0)
    rows = read(folder, "r.csv")
    equal("columns with --stats", list(rows[0]), COLUMNS + TIMES + ["DurationNs"])
    names = sorted(os.listdir(folder))
    equal("files with --stats", [re.sub(r"rtl-\d+", "rtl-N", n) for n in names], ["r.csv", "r.rtl-N.db", "r.stats.csv"])
    db = open_db(os.path.join(folder, names[1]))
    equal("duration", [int(row["DurationNs"]) for row in kernels(rows)],
          [row[0] for row in db.execute("select end_ns - begin_ns from rtl_dispatch where kernel like 'matrixTranspose%'")])


@case
def system_trace_has_statistics_of_calls_and_json():
    folder = new_dir("sys")
    ended(rocprof(folder, "--sys-trace", "--roctx-trace"), 0)
    names = os.listdir(folder)
    equal("files", [n for n in ("r.csv", "r.stats.csv", "r.hip_stats.csv", "r.hsa_stats.csv", "r.copy_stats.csv", "r.json") if n not in names], [])
    equal("a HIP call", [row["Calls"] for row in read(folder, "r.hip_stats.csv") if row["Name"] == "hipMemcpy"], ["2"])
    equal("columns", list(read(folder, "r.hsa_stats.csv")[0]), ["Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage"])
    with open(os.path.join(folder, "r.json"), encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    equal("calls in JSON", sum(e.get("name") == "hipMemcpy" and e.get("ph") == "X" for e in events), 2)


@case
def input_file_is_a_run_for_each_line_and_metrics_have_the_rules_of_v1():
    folder = new_dir("counters")
    for name, text in (("in.txt", "pmc: SQ_WAVES Mine\npmc: FETCH_SIZE\nrange: 1:3\n"),
                       ("m.xml", "<global><metric name=Mine expr=10-SQ_WAVES-3 ></metric></global>")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    r = rocprof(folder, "-i", os.path.join(folder, "in.txt"), "-m", os.path.join(folder, "m.xml"), name="flood", program_args=("count=4",))
    ended(r, 0)
    equal("runs", r.out.count("flood: 4 dispatches"), 2)
    rows = read(folder, "r.csv")
    equal("columns", list(rows[0]), COLUMNS + ["SQ_WAVES", "Mine", "FETCH_SIZE"])
    equal("rows with counters", [bool(row["SQ_WAVES"] and row["FETCH_SIZE"]) for row in rows], [False, True, True, False])
    for row in rows[1:3]:
        equal("Mine", float(row["Mine"]), 10 - (float(row["SQ_WAVES"]) - 3))


@case
def options_without_a_counterpart_are_refused_and_lists_printed():
    for args, why in ((("--tool-version", "2"), "use rtl rocprofv3"), (("--roctx-rename",), "rtl rocprofv3 --kernel-rename"),
                      (("--parallel-kernels", "-i", "x"), "run one at a time")):
        r = rtl("rocprof", *args, "true")
        equal(f"status of {args}", r.status, 121)
        contains("message", r.err, why)
    for args, why in ((("--stats", "--timestamp", "off"), "leave one of them out"), (("-o", "x.txt"), "ends in .csv"),
                      (("--trace-period", "1:2"), "is not DELAY:LENGTH:RATE"), (("--nonsense",), "--nonsense"),
                      (("-i", "none.txt"), "rtl rocprof: none.txt: can't be read")):
        r = rtl("rocprof", *args, "true")
        equal(f"status of {args}", r.status, 125)
        contains("message", r.err, why)
    r = rtl("rocprof", "-o", os.path.join(new_dir("period"), "r.csv"), "--trace-period", "1:500ms:2s", "env")
    contains("windows", r.out, "=1.000000000:0.500000000:1 1.500000000:0.500000000:0\n")
    r = rtl("rocprof", "--virtual-gpu", "--list-basic", "--list-derived")
    ended(r, 0)
    contains("list", r.out, "  gpu-agent0 : TCC_HIT[0-15] : hits in the L2 cache\n      block TCC has 4 counters\n")
    contains("list", r.out, "      GPUBusy = 100*GRBM_GUI_ACTIVE/GRBM_COUNT\n")


main()
