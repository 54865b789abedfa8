#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The overview of rtl summary names the problem of a program that has one, and none of a program that has none."""
import functools
import json
import re

from support import *
from support import outputs

# problem: (GPUs, duration of a kernel, environment, what the finding begins with, words that it contains)
PROBLEMS = {
    "streams": (1, 2000000, {}, "Serialised streams", ["on 5 streams", "39 of 40 changes"]),
    "launches": (1, 2000, {}, "Tiny launches", ["1,001 kernels", "hipGraphLaunch"]),
    "sync": (1, 5000000, {}, "Hidden synchronisation", ["hipFree waited for the GPU"]),
    "copies": (1, 2000000, {}, "Unpinned copies", ["20 calls", "80.00 MiB", "hipHostMalloc"]),
    "slow": (4, 2000000, {"VGPU_SLOW": "gpu=2,factor=3,count=0"}, "GPU 2 is slow", ["3.00 times", "other 3 GPUs"]),
}
NAMED = {p[3] for p in PROBLEMS.values()}


def traced(problem, gpus, kernel_ns, env):
    return run("troubled", f"problem={problem}", trace=RTL, gpus=gpus, env={"VGPU_KERNEL_NS": kernel_ns, **env})


def overview(r, *options):
    done = r.rtl("summary", r.output, *options)
    ended(done, 0)
    return done.out


def findings(r):
    found = [f["text"] for f in json.loads(overview(r, "--by", "overview", "-f", "json"))["findings"]]
    text = " ".join(overview(r).split())
    for finding in found:
        contains("overview", text, finding)
    return found


# what of a GPU is on the critical path by construction: (kind, name): number
PATHS = {
    "streams": {("kernel", "work"): 41},  # each waits for the one before it by an event of another stream
    "launches": {("call", "hipStreamSynchronize"): 1000},
    "sync": {("kernel", "work"): 31, ("call", "hipFree"): 31},
    "copies": {("kernel", "work"): 1, ("copy", "CopyHostToDevice"): 20},
    "none": {("copy", "CopyHostToDevice"): 1},
}


def path_is_known(r, problem, kernel_ns):
    """The parts add up to the time from the first operation to the end, and have what the program does one after the other."""
    parts = json.loads(overview(r, "--critical-path", "-f", "json"))
    # what is before the first operation is the start-up
    begin, end = r.rows("select (select min(start) from rocpd_op where gpuId >= 0), max(end_ns) from rtl_api")[0]
    equal("sum of the path", sum(p["total_ns"] for p in parts), end - begin)
    seen = {(p["kind"], p["name"].partition("(")[0]): p for p in parts}
    for part, number in PATHS.get(problem, {}).items():
        count = seen.get(part, {"count": 0})["count"]
        # on a busy machine an operation may be over before the host comes to wait for it
        at_least(f"{part} on the path", count, number if part[0] == "call" else number * 4 // 5)
        at_most(f"{part} on the path", count, number)
    kernels = seen.get(("kernel", "work"), {"count": 0, "total_ns": 0})
    if problem != "slow":  # the GPU's clock has ticks of 40 ns
        at_most("time of kernels, difference", abs(kernels["total_ns"] - kernels["count"] * kernel_ns), kernels["count"] * 80)
    return kernels["count"]


def problem_is_named_by_the_overview(problem):
    gpus, kernel_ns, env, title, words = PROBLEMS[problem]
    r = traced(problem, gpus, kernel_ns, env)
    found = findings(r)
    named = [f for f in found if f.startswith(title)]
    equal("findings of that kind", len(named), 1)
    for word in words:
        contains("finding", named[0], word)
    path_is_known(r, problem, kernel_ns)
    # the others are of programs that have them
    equal("other problems", [f for f in found if any(f.startswith(n) for n in NAMED - {title})], [])


for name in PROBLEMS:
    add_case(f"problem_is_named_by_the_overview_{name}", functools.partial(problem_is_named_by_the_overview, name))


@case
def program_without_a_problem_has_none_named():
    r = traced("none", 1, 2000000, {})
    equal("problems", [f for f in findings(r) if any(f.startswith(n) for n in NAMED)], [])
    # of four streams with ten kernels each, of which two may share a queue
    count = path_is_known(r, "none", 2000000)
    at_least("kernels of one stream", count, 8)
    at_most("kernels of two streams", count, 21)
    text = overview(r)
    for part in ("CopyHostToDevice", "hipLaunchKernel", "The trace is complete"):
        contains("overview", text, part)
    figures = json.loads(overview(r, "--by", "overview", "-f", "json"))
    gpu = figures["gpus"][0]
    # by SQL: the union of the operations' times
    busy, until = 0, 0
    for begin, end in r.rows("select start, end from rocpd_op where gpuId = 0 order by start"):
        busy += max(0, end - max(begin, until))
        until = max(until, end)
    wall = r.value("select end_ns - start_ns from rtl_process")
    startup = r.value("select min(start) from rocpd_op where gpuId = 0") - r.value("select start_ns from rtl_process")
    equal("wall, start-up, busy, idle", [figures["wall_ns"], figures["startup_ns"], gpu["busy_ns"], gpu["idle_ns"]],
          [wall, startup, busy, wall - startup - busy])


def outputs_agree(r, table):
    """Every output has the same numbers, times and bytes of kernels, copies and fills."""
    folder = new_dir("outputs") + "/out"
    os.mkdir(folder)

    def run_rtl(*args):
        done = rtl(*args)
        ended(done, 0)
        return done.out

    found = outputs.numbers(run_rtl, r.output, folder)
    whole = {("kernels", "number"): sum(k["calls"] for k in table["kernel"]), ("kernels", "ns"): sum(k["total_ns"] for k in table["kernel"])}
    for c in table["copy"]:
        whole.update({(c["name"], "number"): c["calls"], (c["name"], "ns"): c["total_ns"], (c["name"], "bytes"): c["bytes"]})
    for name, what in (("pftrace", 3), ("perfetto", 3), ("kineto", 3), ("summary", 3), ("report", 3), ("speedscope", 2), ("csv", 2), ("folded", 1)):
        equal(name, found[name], {k: v for k, v in whole.items() if k[1] in ("ns", "number", "bytes")[:what]})
    dispatches, copies = whole["kernels", "number"], sum(c["calls"] for c in table["copy"])
    equal("lists without kernels of HIP", found["lists"], {(n, "number"): dispatches for n in ("results.csv", "kernel_trace.csv")})
    counts = json.loads(run_rtl("info", "-f", "json", r.output))["counts"]
    equal("rtl info", [counts["dispatches"], counts["copies"]], [dispatches, copies])
    # rocprofv3's lists have each dispatch, by contract
    run_rtl("convert", "-q", r.output, "-f", "rocprofv3-csv", "-o", folder + "/v3")
    names = [row["Kernel_Name"] for row in outputs.table(folder, "v3_kernel_trace.csv")]
    equal("rocprofv3's dispatches", len(names), r.value("select count(*) from rtl_op_kernel"))
    equal("without kernels of HIP", sum(not n.startswith(outputs.BLIT) for n in names), dispatches)


@case
def copies_by_kernels_are_copies():
    r = run(built(os.path.join(BUILD, "examples/network")), trace=RTL, rtl_args=(), env={"VGPU_EXEC": None})
    seen = r.rows("select kind, means like '__amd_rocclr_copyBuffer%', count(*), sum(bytes) from rtl_transfer group by "
                  "1, 2 order by 1")
    # HIP 5.2 does the copies at the begin and the end on the host; 7.2 does all of them with kernels
    more = seen[1][2] == 2
    equal("rtl_transfer", [seen[0], seen[1][2:], seen[2][2:]],
          [("DeviceToDevice", 1, 80, 40 * 2304), (2, 576) if more else (1, 512), (42, 92736) if more else (40, 40 * 2304)])
    contains("line of rtl trace", r.err, f"160 dispatches on 1 GPU, {sum(row[2] for row in seen)} copies")
    table = json.loads(overview(r, "--by", "kernel,copy", "-f", "json"))
    equal("kernels", sorted(k["name"] for k in table["kernel"]),
          ["layer1(Net)", "layer2(Net)", "learn1(Net, float)", "learn2(Net, float)"])
    equal("copies", {c["name"]: (c["calls"], c["bytes"]) for c in table["copy"]},
          {"Copy" + kind: (n, size) for kind, _, n, size in seen})
    contains("--internal", overview(r, "--by", "copy", "--internal"), "CopyDeviceToDevice by __amd_rocclr_copyBuffer")
    outputs_agree(r, table)
    graphs = json.loads(overview(r, "--by", "graph", "-f", "json"))
    equal("graphs", [(g["launches"], g["ops"]) for g in graphs], [(40, 160)])
    # a range and what is launched in it
    part = json.loads(overview(r, "--by", "kernel,api", "-f", "json", "--range", "step@3"))
    equal("kernels of the third step", [k["calls"] for k in part["kernel"]], [1] * 4)
    equal("graph launches of it", [a["calls"] for a in part["api"] if a["name"] == "hipGraphLaunch"], [1])


@case
def options_of_rtl_trace_mean_what_they_say():
    folder = new_dir("trace")
    path = os.path.join(folder, "made.db")
    with open(path, "w", encoding="ascii"):
        pass  # as mktemp makes it
    troubled = program("troubled")
    done = rtl("trace", "--virtual-gpu", "2", "--mode", "default", "--summary", "-o", path, "--", troubled)
    ended(done, 0)
    equal("stdout", done.out, "none\n")
    contains("stderr", done.err, "on 2 GPUs")
    for part in ("GPU    BUSY", "hipLaunchKernel", "work", "The trace is complete"):
        contains("overview on stderr", done.err, part)
    # VGPU_* is in force where the user preloads the virtual GPU
    ways = {"by the user": {"LD_PRELOAD": with_driver()}, "not at all": {}}
    for way, env in ways.items():
        done = rtl("trace", "--force", "-o", path, "--", troubled, env={"VGPU_KERNEL_NS": "1000", **env})
        equal(f"warned, {way}", "has no effect" in done.err, way == "not at all")
    # the last one had no GPU: that is said, with what to do
    contains("stderr", done.err, "'rtl doctor' says why")


@case
def ranks_of_one_rtl_trace_have_databases_of_their_own():
    folder = new_dir("ranks")
    troubled = program("troubled")
    line = " & ".join(f"OMPI_COMM_WORLD_RANK={n} OMPI_COMM_WORLD_SIZE=2 '{troubled}'" for n in (0, 1)) + "; wait"
    done = rtl("trace", "--virtual-gpu", "-o", "run-%r.db", "--", "sh", "-c", line, cwd=folder)
    ended(done, 0)
    equal("files", sorted(os.listdir(folder)), ["run-0.db", "run-1.db"])
    for n in (0, 1):
        db = open_db(os.path.join(folder, f"run-{n}.db"))
        equal("ranks", db.execute("select rank from rtl_process").fetchall(), [(n,)])
        equal("kernels", db.execute("select count(*) from rtl_dispatch where kernel like 'work%'").fetchone()[0], 41)
        contains("stderr", done.err, f"run-{n}.db: 41 dispatches")


@case
def ranks_that_record_much_have_databases_of_their_own():
    """The first thread, which notes the rank, records nothing else: its chunk comes behind those of the other one."""
    folder = new_dir("much")
    marks = (f"import ctypes, threading; mark = ctypes.CDLL('{BUILD}/lib/libroctx64.so.4').roctxMarkA; mark(b'first');"
             " threading.Thread(target=lambda: [mark(b'a') for _ in range(60000)]).start()")
    line = " & ".join(f'OMPI_COMM_WORLD_RANK={n} OMPI_COMM_WORLD_SIZE=2 {sys.executable} -c "{marks}"' for n in (1, 0)) + "; wait"
    done = rtl("trace", "-q", "-o", "run-%r.db", "--", "sh", "-c", line, cwd=folder, env={"RTL_BUFFER_MB": "1"})
    ended(done, 0)
    equal("files", sorted(os.listdir(folder)), ["run-0.db", "run-1.db"])
    for n in (0, 1):
        db = open_db(os.path.join(folder, f"run-{n}.db"))
        equal("ranks", db.execute("select rank from rtl_process").fetchall(), [(n,)])
        at_least("records", db.execute("select count(*) from rtl_marker").fetchone()[0], 20000)


@case
def ranks_behind_a_launcher_have_databases_of_their_own_without_a_pattern():
    folder = new_dir("own")
    troubled = program("troubled")
    trace = f"'{RTL_BIN}' trace --virtual-gpu"
    for options, name in (("", "trace-rank{}.db"), ("-o a.b/run.db", "a.b/run-rank{}.db"), ("-o run", "run-rank{}"), ("-o p%rx.db", "p{}x.db")):
        os.makedirs(os.path.join(folder, "a.b"), exist_ok=True)
        line = " & ".join(f"OMPI_COMM_WORLD_RANK={n} OMPI_COMM_WORLD_SIZE=2 {trace} {options} -- '{troubled}'" for n in (0, 1)) + "; wait"
        done = run("/bin/sh", "-c", line, cwd=folder)
        ended(done, 0)
        for n in (0, 1):
            db = open_db(os.path.join(folder, name.format(n)))
            equal("ranks", db.execute("select rank from rtl_process").fetchall(), [(n,)])
        said = done.err.splitlines()
        line = rf"rtl trace: each of the 2 ranks writes its own database, {re.escape(name.format('%r'))} .*; rank 0: 41 dispatches on 1 GPU, .*, complete"
        equal(f"one line for both, {options}: {said}", [bool(re.fullmatch(line, x)) for x in said], [False, True])
        contains("the other line", said[0], "virtual GPU")
    # a rank other than the first one says what is unusual
    unusual = run("/bin/sh", "-c", f"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 {trace} -o no.db -- /bin/true", cwd=folder)
    contains("stderr", unusual.err, "nothing to trace: /bin/true loaded no ROCm runtime")
    # one rank alone keeps the name
    ended(run("/bin/sh", "-c", f"OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 {trace} -o alone.db -- '{troubled}'", cwd=folder), 0)
    equal("alone", os.path.exists(os.path.join(folder, "alone.db")), True)


main()
