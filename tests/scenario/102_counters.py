#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl trace --pmc: each dispatch has the counts that the virtual GPU logged for it"""
import csv
import math

from support import *
from support import counted as reference

NAMES = ("SQ_WAVES", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "GRBM_GUI_ACTIVE")


def pmc(name, *args, names=NAMES, rtl_args=("-q",), **kwargs):
    env = {"VGPU_EXEC": "auto", "VGPU_COUNTERS": 1, **kwargs.pop("env", {})}
    return run(name, *args, trace=RTL, rtl_args=(*rtl_args, "--pmc", ",".join(names)), env=env, **kwargs)


def counted(r):
    """{op_id: {counter: value}}"""
    out = collections.defaultdict(dict)
    for op, name, value in r.db().execute("select op_id, counter, value from rtl_counter"):
        out[op][name] = value
    return out


def ticks(r):
    return {op: (begin, end) for op, begin, end in
            r.db().execute("select op_id, begin_ticks, end_ticks from rtl_dispatch")}


def as_logged(r, names, of_log):
    """Every counted dispatch is in the log with the same times and counts. Returns how many are counted."""
    logged = {(d["begin"], d["end"]): of_log(d["counters"]) for d in r.log("dispatch") if "counters" in d}
    at = ticks(r)
    values = counted(r)
    for op, have in values.items():
        equal(f"counters of operation {op}", have, dict(zip(names, logged[at[op]])))
    return len(values)


def of_names(counters):
    return [counters[n] for n in NAMES]


@case
def counts_of_threads_queues_and_signals_equal_the_log():
    """Dispatches without a signal, with their own, with a shared one, without the barrier bit, between barriers."""
    r = pmc("flood", "threads=3", "queues=2", "count=240", "kinds=dscbnBw", "gpus=2", "ring=2", gpus=2)
    contains("output", r.out, " 0 wrong signals")
    wanted = int(re.search(r"(\d+) dispatches", r.out)[1])
    equal("counted dispatches", as_logged(r, NAMES, of_names), wanted)
    complete(r)
    intact(r.db())


@case
def hip_program_has_metrics_and_samples():
    """A metric is computed from the counters of its dispatch; the samples of a counter add up to it."""
    names = ("SQ_WAVES", "TCC_HIT_sum", "FETCH_SIZE", "TCC_HIT[3]", "CU_NUM")
    r = pmc("matrix_transpose", names=names)
    contains("output", r.out, "PASSED!")
    # the runtime's own copy kernels may be on the program's queue (seen in 7.2.4)
    op, = (row[0] for row in r.db().execute("select op_id from rtl_dispatch where kernel like 'matrixTranspose%'"))
    log, = (d["counters"] for d in r.log("dispatch") if (d["begin"], d["end"]) == ticks(r)[op])
    have = counted(r)[op]
    equal("metrics", {n: have[n] for n in ("SQ_WAVES", "TCC_HIT_sum", "FETCH_SIZE", "CU_NUM")},
          {"SQ_WAVES": log["SQ_WAVES"], "TCC_HIT_sum": log["TCC_HIT"], "FETCH_SIZE": log["TCC_EA_RDREQ"] * 64 / 1024,
           "CU_NUM": 64})
    rows = r.db().execute("select counter, count(*), sum(value) from rtl_counter_sample where op_id = ? group by 1 "
                          "order by 1", (op,)).fetchall()
    equal("samples", rows, [("SQ_WAVES", 4, have["SQ_WAVES"]), ("TCC_HIT[3]", 1, have["TCC_HIT[3]"])])


@case
def matrix_counters_of_gfx90a_equal_the_log():
    """27 kernels of one v_mfma each, every shape and type."""
    names = ("SQ_INSTS_MFMA", *(f"SQ_INSTS_VALU_MFMA_{t}" for t in ("F32", "F64")), "GRBM_GUI_ACTIVE", "TCC_HIT_sum",
             *(f"SQ_INSTS_VALU_MFMA_MOPS_{t}" for t in ("F32", "F16", "BF16", "I8", "F64")), "TCC_EA_RDREQ_sum")
    r = pmc(os.path.join(BUILD, "tests/vgpu/cdna_test"), "matrices", names=names, env={"VGPU_ARCH": "gfx90a"})
    contains("output", r.out, "0 failures")
    # the runtime's own copy kernels are counted, too (7.2.4)
    as_logged(r, names, lambda c: [c[n.replace("_sum", "")] for n in names])
    complete(r)
    # a sample of each of the eight shader engines
    equal("kernels, and samples", r.db().execute(
        "select count(distinct op_id), count(*) from rtl_counter_sample join rtl_dispatch using (op_id) "
        "where counter = 'SQ_INSTS_MFMA' and kernel like '%kernel_%'").fetchone(), (27, 27 * 8))


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


@case
def files_and_summary_have_the_counters():
    """rocprof's columns in results.csv, rocprofv3's in counter_collection.csv, a row for each kernel and counter in rtl summary."""
    names = ("SQ_WAVES", "FETCH_SIZE")
    r = pmc("flood", "count=40", "kinds=dD", names=names)
    folder = os.path.join(r.dir, "csv")
    os.mkdir(folder)
    ended(rtl("convert", r.output, "-f", "csv", "-o", folder), 0)
    ended(rtl("convert", r.output, "-f", "rocprofv3-csv", "-o", os.path.join(folder, "v3")), 0)
    want = sorted(collections.Counter((d["SQ_WAVES"], d["FETCH_SIZE"]) for d in counted(r).values()).items())
    results = read_csv(os.path.join(folder, "results.csv"))
    equal("columns", [c for c in results[0] if c in names], list(names))
    equal("results.csv", sorted(collections.Counter(tuple(float(row[n]) for n in names) for row in results).items()), want)
    for name in ("counter_collection.csv", "v3_counter_collection.csv"):
        rows = collections.defaultdict(dict)
        for row in read_csv(os.path.join(folder, name)):
            rows[row["Dispatch_Id"]][row["Counter_Name"]] = float(row["Counter_Value"])
        have = collections.Counter(tuple(v[n] for n in names) for v in rows.values())
        equal(name, sorted(have.items()), want)
    summary = json.loads(rtl("summary", r.output, "--by", "counter", "-f", "json").out)
    equal("summary", {(s["kernel"], s["counter"]): (s["dispatches"], s["total"]) for s in summary},
          {(k, c): (n, v) for k, c, n, v in
           r.db().execute("select kernel, counter, count(*), sum(value) from rtl_counter group by 1, 2")})


@case
def preloaded_tool_of_the_sdk_runs_rocprofv3():
    """As rocprofiler-compute starts a program: settings in the environment, the tool in LD_PRELOAD."""
    folder = new_dir("tool")
    rtl_bin = os.path.join(folder, "rtl")
    with open(rtl_bin, "w", encoding="ascii") as f:
        f.write(f'#!/bin/sh\nshift\nexec {RTL_BIN} rocprofv3 --virtual-gpu "$@"\n')
    os.chmod(rtl_bin, 0o755)
    extra = "rocprofiler-sdk:\n  counters-schema-version: 1\n  counters:\n  - name: TWICE\n    description: two times\n    definitions:\n" \
            "    - architectures: [gfx900]\n      expression: SQ_WAVES*2\n"
    tool = os.path.join(LIB, "librocprofiler-sdk-tool.so")
    env = {"LD_PRELOAD": tool, "ROCP_TOOL_LIBRARIES": tool, "RTL_BIN": rtl_bin, "ROCPROF_KERNEL_TRACE": "1", "ROCPROF_COUNTER_COLLECTION": "1",
           "ROCPROF_COUNTERS": "pmc: SQ_WAVES TWICE", "ROCPROF_OUTPUT_FORMAT": "csv", "ROCPROF_OUTPUT_PATH": os.path.join(folder, "out"),
           "ROCPROF_OUTPUT_FILE_NAME": "x", "ROCPROF_AGENT_INDEX": "absolute", "ROCPROF_EXTRA_COUNTERS_CONTENTS": extra}
    run("flood", "count=20", env=env)
    rows = read_csv(os.path.join(folder, "out", "x_counter_collection.csv"))
    equal("rows", len(rows), 40)
    equal("twice", [2 * float(a["Counter_Value"]) for a in rows if a["Counter_Name"] == "SQ_WAVES"],
          [float(a["Counter_Value"]) for a in rows if a["Counter_Name"] == "TWICE"])
    equal("rows of the trace", len(read_csv(os.path.join(folder, "out", "x_kernel_trace.csv"))), 20)
    # the program has the descriptors that it has untraced
    fds = ("/bin/ls", "/proc/self/fd")
    equal("descriptors", run(*fds, env=env).out, run(*fds).out)
    # several groups, as --pmc given more than once: each dispatch has those of all
    del env["ROCPROF_COUNTERS"]
    run("flood", "count=3", env={**env, "ROCPROF_COUNTER_GROUPS": "pmc: SQ_WAVES # one\npmc:GRBM_COUNT TWICE\n", "ROCPROF_OUTPUT_FILE_NAME": "groups"})
    rows = read_csv(os.path.join(folder, "out", "groups_counter_collection.csv"))
    equal("groups", collections.Counter((a["Dispatch_Id"], a["Counter_Name"]) for a in rows),
          collections.Counter((str(i), name) for i in (1, 2, 3) for name in ("SQ_WAVES", "GRBM_COUNT", "TWICE")))
    # nothing is asked for, and there is no rtl
    equal("untraced", run("/bin/echo", "a b", env={"LD_PRELOAD": tool}).out, "a b\n")
    r = run("/bin/echo", "a b", env={**env, "RTL_BIN": "/none"})
    equal("without rtl", r.out, "a b\n")
    contains("message", r.err, "nothing is traced")


@case
def rocprofv3_takes_pmc():
    folder = new_dir("v3")
    ended(rtl("rocprofv3", "--virtual-gpu", "--pmc", *NAMES, "-f", "csv", "-d", folder, "-o", "x", "--", program("flood"), "count=20"), 0)
    equal("files", sorted(os.listdir(folder)), ["x_agent_info.csv", "x_counter_collection.csv"])
    equal("rows", len(read_csv(os.path.join(folder, "x_counter_collection.csv"))), 20 * len(NAMES))
    ended(rtl("rocprofv3", "--virtual-gpu", "--pmc", "SQ_WAVES", "FETCH_SIZE", "-d", folder, "-o", "y", "--", program("flood"), "count=20"), 0)
    ended(rtl("rocprofv3", "--virtual-gpu", "--pmc", "SQ_WAVES", "FETCH_SIZE", "-f", "json", "-d", folder, "-o", "z", "--", program("flood"), "count=20"), 0)
    with open(os.path.join(folder, "z_results.json"), encoding="utf-8") as f:
        tool, = json.load(f)["rocprofiler-sdk-tool"]
    equal("JSON's counters", [(c["name"], c["block"], c["is_derived"]) for c in tool["counters"]], [("SQ_WAVES", "SQ", 0), ("FETCH_SIZE", "", 1)])
    of = {c["id"]["handle"]: c["name"] for c in tool["counters"]}
    agents = {a["id"]["handle"] for a in tool["agents"]}
    records = tool["callback_records"]["counter_collection"]
    equal("JSON's dispatches", [r["dispatch_data"]["dispatch_info"]["dispatch_id"] for r in records], list(range(1, 21)))
    for r in records:
        equal("values of a dispatch", [of[v["counter_id"]["handle"]] for v in r["records"]], ["SQ_WAVES", "FETCH_SIZE"])
        info = r["dispatch_data"]["dispatch_info"]
        equal("its agent is known", info["agent_id"]["handle"] in agents, True)
        equal("waves of its grid", r["records"][0]["value"], -(-info["workgroup_size"]["x"] // 64) * (info["grid_size"]["x"] // info["workgroup_size"]["x"]))
    db = open_db(os.path.join(folder, "y_results.db"))
    equal("rocpd's counters", db.execute("select counter_name, count(*) from pmc_events group by 1 order by 1").fetchall(),
          [("FETCH_SIZE", 20), ("SQ_WAVES", 20)])
    equal("and what they are", db.execute("select name, block, is_derived, units from rocpd_info_pmc order by 1").fetchall(),
          [("FETCH_SIZE", "", 1, "KiB"), ("SQ_WAVES", "SQ", 0, "wavefronts")])
    equal("dispatches", db.execute("select count(*) from rocpd_kernel_dispatch").fetchone()[0], 20)


@case
def input_files():
    folder = new_dir("input")
    name = os.path.join(folder, "input.txt")

    def trace(text, *args):
        with open(name, "w", encoding="utf-8") as f:
            f.write(text)
        return rtl("trace", "--virtual-gpu", "--pmc-file", name, *args, "--force", "-o", os.path.join(folder, "t.db"), "--", program("flood"),
                   "count=30", "kinds=dD")

    def rows_of(text):
        ended(trace(text), 0)
        return open_db(os.path.join(folder, "t.db")).execute("select counter, count(*) from rtl_counter group by 1 order by 1").fetchall()

    want = [("GRBM_COUNT", 15), ("SQ_WAVES", 15)]
    equal("XML", rows_of('<metric kernel="_long,no.such" gpu_index=0 ></metric>\n<metric name=SQ_WAVES,GRBM_COUNT ></metric>\n'), want)
    equal("JSON", rows_of('{"jobs": [{"pmc": ["SQ_WAVES", "GRBM_COUNT"], "kernel_include_regex": "^flood_l"}]}'), want)
    equal("YAML", rows_of("# two jobs\njobs:\n  - pmc: [\"SQ_WAVES\",  # with a comment\n          SQ_WAVES]\n    kernel_exclude_regex: '_short'\n"
                          "  -\n    kernel_exclude_regex: _short\n    pmc:\n    - GRBM_COUNT\n"), want)
    ended(trace("# two passes of rocprof\npmc : SQ_WAVES,SQ_INSTS_VALU\n\npmc: GRBM_COUNT # and more\nkernel: _long flood.short flood_[s]hort flood_s{1}hort\ngpu : 0 1\n"), 0)
    rows = open_db(os.path.join(folder, "t.db")).execute("select kernel, counter, count(*) from rtl_counter group by 1, 2 order by 2").fetchall()
    equal("counters", [row[1:] for row in rows], [("GRBM_COUNT", 15), ("SQ_INSTS_VALU", 15), ("SQ_WAVES", 15)])
    for text, args, why in (("range: 3:2\n", (), "input.txt:1: range: '3:2'"), ("pmc SQ_WAVES\n", (), "is not KEYWORD : VALUES"), ("gpu: 0\n", (), "names no counters"),
                            ("hip: hipMalloc\n", (), "input.txt:1: 'hip'"),
                            ("<metric name=SQ_WAVES range=1:0 ></metric>", (), "input.txt:1: range"), ("<metric name=\"SQ_WAVES >", (), "quote"),
                            ("<metric name=SQ_WAVES set=1 ></metric>", (), "'set'"),
                            ("<metric name=SQ_WAVES", (), "input.txt:1: an element is not closed"), ('{"jobs": [', (), "malformed JSON"),
                            ("jobs:\n  - pmc: [SQ_WAVES\n", (), "input.txt:3: ',' or ']'"), ("jobs:\n\t- pmc: A\n", (), "input.txt:2: YAML is indented by blanks"),
                            ("jobs:\n  - pmc: A\n   kernel_include_regex: b\n", (), "input.txt:3: "), ("jobs:\n  - pmc: *x\n", (), "input.txt:2: this part of YAML"),
                            ("jobs:\n  - pmc: [SQ_WAVES]\n    kernel_iteration_range: '[2-1]'\n", (), "kernel_iteration_range: '[2-1]'"),
                            ('{"jobs": [{"pmc": ["SQ_WAVES"], "kernel_include_regex": "a"}, {"pmc": ["GRBM_COUNT"]}]}', (), "kernel_include_regex differs between jobs"),
                            ('{"jobs": [{"pmc": ["SQ_WAVES"], "truncate_kernels": true}]}', (), "'truncate_kernels'"),
                            ("jobs:\n  - pmc: [SQ_WAVES]\n    kernel_include_regex: 'a('\n", (), "kernel_include_regex: 'a(' is not a POSIX"),
                            ("pmc: SQ_WAVES\ngpu: x\n", (), "input.txt: gpu: 'x' at character 1"),
                            ("pmc: SQ_WAVES\nkernel: a\n", ("--kernels", "b"), "leave the option --kernels out")):
        r = trace(text, *args)
        equal(f"status of {text}", r.status, 125)
        contains(f"message of {text}", r.err, why)


@case
def passes_take_turns():
    """More counters than fit: each dispatch of a kernel is counted in one pass, the passes in turn."""
    names = tuple(f"SQ:{n}" for n in (4, 26, 30, 31, 28, 27, 34, 38, 3, 25, 60, 61))
    r = pmc("flood", "count=60", names=names, rtl_args=())
    contains("stderr", r.err, "gfx900 needs 2 passes")
    # ids are in the order of records, which several threads write
    at = ticks(r)
    passes = [tuple(values) for _, values in sorted(counted(r).items(), key=lambda row: at[row[0]])]
    equal("dispatches", len(passes), 60)
    equal("kinds of passes", [len(set(passes[0::2])), len(set(passes[1::2]))], [1, 1])
    equal("counters", sorted(passes[0] + passes[1]), sorted(names))


@case
def counters_that_a_kernel_never_had_are_a_loss_and_named():
    """A kernel that is launched once, and counters of two passes: those of the second are missing, and each is named. With replay none is."""
    names = tuple(f"SQ:{n}" for n in (4, 26, 30, 31, 28, 27, 34, 38, 3, 25, 60, 61))
    r = pmc("matrix_transpose", names=names, rtl_args=())
    had = set().union(*counted(r).values())
    lost = [n for n in names if n not in had]
    equal("some are missing", 0 < len(lost) < len(names), True)
    contains("stderr", r.err, f"{len(lost)} of {len(names)} counters are missing")
    contains("stderr", r.err, ": " + ", ".join(lost))
    contains("verdict", r.err, "incomplete")
    equal("loss", r.db().execute("select count from rtl_loss where reason = 'not_counted'").fetchall(), [(len(lost),)])
    r = pmc("matrix_transpose", names=names, rtl_args=("-q", "--passes", "replay"))
    equal("counters of each dispatch", {tuple(values) for values in counted(r).values()}, {names})
    complete(r)


def packets_of_counters(r):
    """Those that start, read and stop counters. In other queues the first packet lets kernels count."""
    queues = collections.Counter((p["gpu"], p["queue_id"]) for p in r.log("vendor"))
    return sum(nr for nr in queues.values() if nr > 1)


@case
def dispatches_that_are_not_chosen_cost_no_packet():
    """Of 414 of three threads on six queues and two GPUs 40 are counted."""
    r = pmc("flood", "threads=3", "queues=2", "count=240", "kinds=dscbnBw", "gpus=2", "ring=2", gpus=2,
            rtl_args=("-q", "--pmc-dispatches", "100:140"))
    contains("output", r.out, " 0 wrong signals")
    equal("counted dispatches", as_logged(r, NAMES, of_names), 40)
    equal("packets of the counters", packets_of_counters(r), 3 * 40)
    complete(r)
    intact(r.db())


@case
def kernels_left_out_are_not_counted():
    r = pmc("flood", "count=90", "kinds=dD", rtl_args=("-q", "--kernels", "flood_long"))
    equal("packets of the counters", packets_of_counters(r), 3 * 45)
    kernels = {row[0] for row in r.db().execute("select distinct kernel from rtl_counter")}
    equal("kernels", kernels, {row[0] for row in r.db().execute("select distinct kernel from rtl_dispatch where not flags & 32")})
    equal("counted dispatches", as_logged(r, NAMES, of_names), r.count("rtl_op_kernel"))
    equal("dispatches", r.count("rtl_op_kernel"), 45)


def not_counted(err, db, nr, why):
    contains("stderr", err, why)
    contains("stderr", err, f"loss: {nr} not_counted")
    for table, rows in (("rtl_op_kernel", nr), ("rtl_counter", 0)):
        equal(table, db.execute(f"select count(*) from {table}").fetchone()[0], rows)


@case
def without_aqlprofile_dispatches_are_recorded_and_lost_counters_counted():
    folder = new_dir("stub")
    open(os.path.join(folder, "libhsa-amd-aqlprofile64.so"), "w", encoding="utf-8").close()
    command = f'LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH exec {program("flood")} count=50'
    output = os.path.join(folder, "trace.db")
    r = rtl("trace", "--virtual-gpu", "--pmc", "SQ_WAVES", "-o", output, "--", "sh", "-c", command)
    equal("status", r.status, 0)
    not_counted(r.err, open_db(output), 50, "finds no libhsa-amd-aqlprofile64.so")


@case
def intercept_queues_are_not_counted_and_say_so():
    r = pmc("flood", "count=50", rtl_args=(), env={"RTL_QUEUES": "intercept"})
    if "queues are interposed" in r.err:  # this runtime has none
        equal("counted dispatches", as_logged(r, NAMES, of_names), 50)
    else:
        not_counted(r.err, r.db(), 50, "it is an intercept queue")
        r = pmc("flood", "count=50", rtl_args=("--pmc-dispatches", "10:", "--pmc-iterations", "16-18"), env={"RTL_QUEUES": "intercept"})
        contains("only those that were chosen are lost", r.err, "loss: 3 not_counted")


@case
def dispatch_that_others_wait_for_too_long_ends_counting():
    r = pmc("flood", "count=4", "queues=2", rtl_args=(), env={"RTL_PMC_WAIT_MS": 100, "VGPU_KERNEL_NS": 400000000})
    contains("output", r.out, "flood: 4 dispatches")
    not_counted(r.err, r.db(), 4, "ran for longer than RTL_PMC_WAIT_MS")


@case
def queues_that_end_while_dispatches_wait():
    """Each dispatch is counted, or is in the loss."""
    r = pmc("lifecycle", "storm", names=("SQ_WAVES",), rtl_args=(), env={"RTL_PMC_WAIT_MS": 60000})
    lost = re.search(r"loss: (\d+) not_counted", r.err)
    equal("counted and lost", len(counted(r)) + (int(lost[1]) if lost else 0), r.count("rtl_op_kernel"))


@case
def counters_and_metrics_of_twelve_kernels_equal_the_log():
    """Each counter and event that the virtual GPU feeds, each instance of it, and each metric of the GPU, of each dispatch."""
    counters = {**reference.LOGGED, **reference.RAW}
    metrics = reference.metrics()
    at_least("metrics", len(metrics), 42)
    names = [*counters, *metrics, *reference.CONSTANTS]
    passes = 3
    r = pmc("reference", f"rounds={passes}", names=names, rtl_args=())
    contains("stderr", r.err, f"gfx900 needs {passes} passes")
    logged = {(d["begin"], d["end"]): d["counters"] for d in r.log("dispatch")}
    at = ticks(r)
    of = {op: logged[at[op]] for op in counted(r)}
    kernels = dict(r.db().execute("select op_id, kernel from rtl_dispatch where kernel like 'ref_%'"))
    reference.check_natures({kernels[op]: log for op, log in of.items() if op in kernels})
    seen, parts = set(), collections.defaultdict(dict)
    for op, name, instance, engine, value in r.db().execute("select op_id, counter, instance, sample, value from rtl_counter_sample"):
        parts[op, name][engine, instance] = value
    for op, have in counted(r).items():
        gpu = reference.gpu_of(of[op])
        for name, value in have.items():
            want = reference.total(of[op], name) if name in counters else gpu.value(name)
            if not math.isclose(value, want, rel_tol=1e-9):
                fail(f"{name} of {kernels.get(op)}: {value}, not {want}")
            if name in counters:
                equal(f"parts of {name} of {kernels.get(op)}", parts[op, name], reference.samples(of[op], name))
            seen.add((kernels.get(op), name))
    equal("kernels and names that were not counted", {(k, n) for k in reference.NATURE for n in names} - seen, set())
    complete(r)


@case
def constants_alone_have_a_value_for_each_dispatch():
    names = ("CU_NUM", "MAX_WAVE_SIZE", "SE_NUM")
    r = pmc("flood", "count=6", "kinds=d", names=names)
    equal("counters", [counted(r)[op] for op in sorted(counted(r))], [dict(zip(names, (64, 64, 4)))] * 6)
    # what the GPU counts for it is no counter of the trace
    equal("samples", r.db().execute("select count(*) from rtl_counter_sample").fetchone(), (0,))
    complete(r)


@case
def bad_names_end_rtl_before_the_program():
    for names, why in (("SQ_WAVS", "did you mean 'SQ_WAVES'"), (",", "names of counters are missing"),
                       ("SQ_WAVES,a=b", "'a=b' is no name"), ("TCC[99]:4", "TCC")):
        r = rtl("trace", "--virtual-gpu", "--pmc", names, "true")
        equal(f"status of {names}", r.status, 125)
        contains(f"message of {names}", r.err, why)


main()
