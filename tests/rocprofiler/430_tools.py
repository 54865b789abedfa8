#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tool plug-ins (ROCP_TOOL_LIB) around programs that know nothing of them; counts are those of the virtual GPU's log."""
import math

from clients import TOOL
from support import *
from support import counted as reference


def run_tool(name, *args, tool="rocprofiler_tool", mode=1, trace=PLAIN, env=(), **kwargs):
    """(lines before the dispatches, {column: value} of each dispatch, the run)"""
    output = os.path.join(new_dir("tool"), "seen")
    full = {"VGPU_EXEC": "auto", "VGPU_COUNTERS": 1, "HSA_TOOLS_LIB": TOOL, "ROCP_HSA_INTERCEPT": mode,
            "ROCP_TOOL_LIB": os.path.join(BUILD, "tests", f"lib{tool}.so"), "TOOL_OUTPUT": output, **dict(env)}
    r = run(name, *args, trace=trace, env=full, **kwargs)
    if not os.path.exists(output):
        return [], [], r
    with open(output, encoding="utf-8") as f:
        lines = f.read().splitlines()
    names = ("done", "agent", "queue", "thread", "begin", "end", "kernel")
    rows = []
    for line in lines:
        if line.startswith("dispatch\t"):
            words = line.split("\t")[1:]
            rows.append({**dict(zip(names, words)), **{k: float(v) for k, _, v in (w.partition("=") for w in words[len(names):])}})
    return [line for line in lines if not line.startswith("dispatch\t")], rows, r


def as_logged(rows, r):
    """Each dispatch that the tool counted is in the virtual GPU's log with the same numbers."""
    want = collections.Counter()
    for d in r.log("dispatch"):
        c = d.get("counters")
        if c and c["SQ_WAVES"]:
            want[c["SQ_WAVES"], c["SQ_INSTS_VALU"] / c["SQ_WAVES"], c["GRBM_GUI_ACTIVE"]] += 1
    have = collections.Counter((d["SQ_WAVES"], d["VALUInsts"], d["GRBM_GUI_ACTIVE"]) for d in rows)
    equal("counted and not in the log", have - want, collections.Counter())
    equal("all were done and have times", [d for d in rows if d["done"] != "1" or int(d["begin"]) >= int(d["end"])], [])


SETTINGS = "settings 1 1 0 33554432 1 1 0 0 0 0"


@case
def tool_counts_each_dispatch_of_a_hip_program():
    head, rows, r = run_tool("matrix_transpose")
    contains("output", r.out, "PASSED!")
    equal("how the tool was loaded", head[:2], ["loaded by OnLoadToolProp metrics 1 wrong 0", SETTINGS])
    at_least("kernels by name", sum(d["kernel"].startswith("matrixTranspose") and d["kernel"].endswith("[clone .kd]") for d in rows), 1)
    as_logged(rows, r)


@case
def counters_and_metrics_of_twelve_kernels_equal_the_log():
    """Each counter that the virtual GPU feeds, as a whole and by instance, and each metric of the GPU, of each dispatch."""
    many = [n for n in reference.LOGGED if n.startswith(("TCC", "TCP"))]
    sets = reference.gpu_of({}).sets([*reference.LOGGED, *reference.metrics()])
    sets += [[f"{n}[{i}]" for n in part for i in range(16)] for part in (many[:4], many[4:])]
    head, rows, r = run_tool("reference", f"rounds={len(sets)}", mode=2,
                             env={"TOOL_NAMES": ";".join(",".join(s) for s in sets), "TOOL_ROUND": reference.KERNELS})
    contains("head", head[0], "wrong 0")
    equal("dispatches", len(rows), len(sets) * reference.KERNELS)
    log = r.log("dispatch")
    clocks = clocks_of(r.log())
    for n, row in enumerate(rows):
        near = [d["counters"] for d in log if abs(to_ns(clocks[d["pid"], d["gpu"]], d["end"]) - int(row["end"])) <= NS_TOLERANCE]
        if not any(all(math.isclose(row[name], value_of(log, name), rel_tol=1e-9) for name in sets[n // reference.KERNELS]) for log in near):
            fail(f"dispatch {n}: {row}, in the log {near}")


def value_of(log, name):
    if "[" in name:
        counter, instance = name[:-1].split("[")
        return sum(v for (_, i), v in reference.samples(log, counter).items() if i == int(instance))
    return reference.total(log, name) if name in reference.LOGGED else reference.gpu_of(log).value(name)


@case
def tool_counts_threads_queues_and_gpus():
    for trace in (PLAIN, RTL):
        head, rows, r = run_tool("flood", "threads=3", "queues=2", "count=120", "kinds=dscbn", "gpus=2", gpus=2, trace=trace)
        contains("output", r.out, " 0 wrong signals")
        equal("dispatches", len(rows), int(re.search(r"(\d+) dispatches", r.out)[1]))
        equal("GPUs", {d["agent"] for d in rows}, {"0", "1"})
        equal("queues", len({d["queue"] for d in rows}), 6)
        contains("head", head[0], "wrong 0")
        as_logged(rows, r)
    complete(r)


@case
def tool_beside_a_client_of_roctracer_and_a_trace():
    """The same dispatches are counted by the plug-in and by rtl trace --pmc, and the program has its records."""
    path = built("matrix_transpose")
    head, rows, r = run_tool(path, trace=RTL, rtl_args=("-q", "--pmc", "SQ_WAVES,GRBM_GUI_ACTIVE"))
    contains("head", head[0], "wrong 0")
    as_logged(rows, r)
    counted = collections.defaultdict(dict)
    for op, name, value in r.db().execute("select op_id, counter, value from rtl_counter"):
        counted[op][name] = int(value)
    names = dict(r.db().execute("select op_id, kernel from rtl_dispatch"))
    want = collections.Counter((v["SQ_WAVES"], v["GRBM_GUI_ACTIVE"]) for op, v in counted.items() if "[runtime" not in names[op])
    equal("counters of the trace", want, collections.Counter((d["SQ_WAVES"], d["GRBM_GUI_ACTIVE"]) for d in rows))
    at_least("records of roctracer", r.out.count("hipLaunchKernel"), 1)


# twelve events of a block with eight counters: two passes; of some the virtual GPU logs what each dispatch did
TWO_PASSES = ("SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR", "SQ_INSTS_FLAT", "SQ_INSTS_LDS",
              "SQ_INSTS_GDS", "SQ_WAIT_INST_LDS", "SQ_ACTIVE_INST_VALU", "SQ_THREAD_CYCLES_VALU")
OWN = "not flags & 32"  # not of the runtime's own queues, which are not counted
EIGHT_OF_SQ = ("SQ_INSTS_LDS", "SQ_INSTS_FLAT", "SQ_INSTS_VMEM_WR", "SQ_INSTS_VMEM_RD", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VALU", "SQ_WAVES")


def check_replayed(r):
    """Each dispatch of the trace has the counters of all passes, as logged. Returns the log's: {operation: {counter: value}}"""
    log = {(d["begin"], d["end"]): d["counters"] for d in r.log("dispatch")}
    traced = {op: log[begin, end] for op, begin, end in r.db().execute(f"select op_id, begin_ticks, end_ticks from rtl_dispatch where {OWN}")}
    counted = collections.defaultdict(dict)
    for op, name, value in r.db().execute("select op_id, counter, value from rtl_counter"):
        counted[op][name] = value
    equal("dispatches of the trace with the counters of all passes", {op for op, c in counted.items() if len(c) == len(TWO_PASSES)}, set(traced))
    for op, have in traced.items():
        for name in EIGHT_OF_SQ:
            equal(f"{name} of operation {op}", counted[op][name], have[name])
    return traced


@case
def tool_beside_replayed_dispatches_has_each_once_and_the_trace_each_pass():
    """Events that fit beside those of the last pass; eight of the same block, and a thread trace, which do not; one GPU and two."""
    for names, gpus in ((("SQ_WAVES", "SQ_INSTS_SALU"), 1), (EIGHT_OF_SQ, 2), (("SQ_WAVES", "TT"), 1)):
        _, rows, r = run_tool("again", "rounds=1", f"streams={gpus}", f"gpus={gpus}", "parts=isgdra", "size=512", gpus=gpus, trace=RTL,
                              rtl_args=("--pmc", ",".join(TWO_PASSES), "--passes=replay"), env={"TOOL_NAMES": ",".join(names)})
        contains("output", r.out, " 0 wrong")
        contains("stderr", r.err, "2 passes for these counters: each dispatch runs 2 times")
        traced = check_replayed(r)
        # the tool is asked for the program's dispatches alone, not for the passes before them
        equal("done, with times, for the tool", [d for d in rows if d["done"] != "1" or int(d["begin"]) >= int(d["end"])], [])
        equal("dispatches of the tool", len(rows), len(traced))
        equal("counters of the tool", collections.Counter(tuple(int(d[n]) for n in names) for d in rows),
              collections.Counter(tuple(4 if n == "TT" else c[n] for n in names) for c in traced.values()))
        complete(r)


@case
def tool_beside_a_dispatch_that_is_not_replayed_has_its_counters():
    """The kernel writes to memory of the host, so the trace counts it in one pass and says so. The tool's events fit beside those of either."""
    names = ("SQ_WAVES", "SQ_INSTS_SALU")
    _, rows, r = run_tool("again", "rounds=1", "streams=1", "parts=ish", "size=512", trace=RTL,
                          rtl_args=("--pmc", ",".join(TWO_PASSES), "--passes=replay"), env={"TOOL_NAMES": ",".join(names)})
    contains("output", r.out, " 0 wrong")
    contains("stderr", r.err, "again_increment, is counted in one pass: its kernel may write to memory of the host")
    equal("reasons", list(r.losses()), ["replay_shared"])
    log = {(d["begin"], d["end"]): d["counters"] for d in r.log("dispatch")}
    traced = [log[times] for times in r.db().execute(f"select begin_ticks, end_ticks from rtl_dispatch where {OWN}")]
    equal("counters of the tool", collections.Counter(tuple(int(d[n]) for n in names) for d in rows),
          collections.Counter(tuple(c[n] for n in names) for c in traced))
    equal("done", [d for d in rows if d["done"] != "1"], [])


SQ_OF_THE_TOOLS = ("SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VALU", "SQ_INSTS_FLAT", "SQ_WAVES")
SQ_OF_THE_SDK = ("SQ_INSTS_LDS", "SQ_INSTS_GDS", "SQ_WAIT_INST_LDS", "SQ_INSTS_VMEM_WR", "SQ_WAVES")
SQ_OF_THE_TRACE = ("SQ_INSTS_VMEM_RD", "SQ_THREAD_CYCLES_VALU", "SQ_ACTIVE_INST_VALU", "SQ_INST_CYCLES_SALU", "SQ_WAVES")


@case
def tools_of_both_generations_beside_a_client_of_roctracer_and_a_trace_with_counters():
    """What fits in one pass all of them get of each dispatch; what does not each gets of some, and knows of which. All kernels have times."""
    library, path = built("libsdk_counter_tool_1.so", HIP_HEADERS), built("matrix_transpose")
    for name, args, sets in ((path, (), (("SQ_WAVES", "VALUInsts", "GRBM_GUI_ACTIVE"), ("SQ_WAVES", "SQ_INSTS_SALU"), ("SQ_WAVES", "GRBM_COUNT"))),
                             ("flood", ("count=60", "kinds=dDs"), (SQ_OF_THE_TOOLS, SQ_OF_THE_SDK, SQ_OF_THE_TRACE))):
        old, sdk, own = sets
        _, rows, r = run_tool(name, *args, trace=RTL, rtl_args=("-q", "--pmc", ",".join(own)),
                              env={"LD_PRELOAD": library, "HSA_TOOLS_LIB": f"{TOOL} {os.path.join(LIB, 'librocprofiler-sdk.so.1')}", "COUNT_NAMES": ",".join(sdk), "TOOL_NAMES": ",".join(old)})
        # threads of the two clients write to stdout
        newer = [dict(zip(w[::2], w[1::2])) for w in (line.split() for line in re.findall(r"counted \d+ queue .*", r.out))]
        logs = collections.Counter((d["counters"]["SQ_WAVES"], d["counters"]["SQ_INSTS_SALU"]) for d in r.log("dispatch"))
        db = r.db()
        traced = dict(db.execute("select op_id, value from rtl_counter where counter = 'SQ_WAVES'"))
        equal("done, with times, for the plug-in", [d for d in rows if d["done"] != "1" or int(d["begin"]) >= int(d["end"])], [])
        times = db.execute("select count(*), sum(end_ns > begin_ns) from rtl_dispatch where not flags & 32").fetchone()
        equal("kernels have times", times[0], times[1])
        # a context that was not counted is done, too, and its get_data fails: the tool has zeros
        waves = [collections.Counter(int(d["SQ_WAVES"]) for d in rows if d["SQ_WAVES"]), collections.Counter(int(c["SQ_WAVES"]) for c in newer),
                 collections.Counter(int(v) for v in traced.values())]
        nr = [sum(w.values()) for w in waves]
        if args:
            equal("each dispatch is counted for one", sum(nr), times[0])
            equal("each has its turn", [n > 0 for n in nr], [True] * 3)
            equal("lost for the trace", r.losses().get("not_counted"), times[0] - nr[2])
        else:
            equal("waves of all", waves[1:], [waves[0]] * 2)
            equal("dispatches of all", nr, [times[0]] * 3)
            at_least("records of roctracer", r.out.count("hipLaunchKernel"), 1)
            equal("not in the log", collections.Counter((int(c["SQ_WAVES"]), int(c["SQ_INSTS_SALU"])) for c in newer) - logs, collections.Counter())
            complete(r)


def run_both_beside_replays(old, sdk, gpus):
    """A plug-in, a client of rocprofiler-sdk, and a trace of two passes. (what each of the two has of its dispatches, in order; check_replayed(); the run)"""
    library = built("libsdk_counter_tool_1.so", HIP_HEADERS)
    _, rows, r = run_tool("again", "rounds=1", f"streams={gpus}", f"gpus={gpus}", "parts=isgdra", "size=512", gpus=gpus, trace=RTL,
                          rtl_args=("--pmc", ",".join(TWO_PASSES), "--passes=replay"),
                          env={"TOOL_NAMES": ",".join(old), "LD_PRELOAD": library, "COUNT_NAMES": ",".join(sdk),
                               "HSA_TOOLS_LIB": f"{TOOL} {os.path.join(LIB, 'librocprofiler-sdk.so.1')}"})
    contains("output", r.out, " 0 wrong")
    contains("client", r.out, " wrong 0\n")
    contains("stderr", r.err, "2 passes for these counters: each dispatch runs 2 times")
    traced = check_replayed(r)
    complete(r)
    equal("done, with times, for the plug-in", [d for d in rows if d["done"] != "1" or int(d["begin"]) >= int(d["end"])], [])
    equal("dispatches that the plug-in and the client were asked for", (len(rows), int(re.search(r"tool: asked (\d+) shown", r.out)[1])), (len(traced),) * 2)
    newer = [dict(zip(w[::2], w[1::2])) for w in (line.split() for line in re.findall(r"counted \d+ queue .*", r.out))]
    # of a context that was not counted the plug-in has zeros
    return [tuple(int(d[n]) for n in old) for d in rows if d["SQ_WAVES"]], [tuple(int(d[n]) for n in sdk) for d in newer], traced, r


@case
def tools_of_both_generations_beside_replayed_dispatches_have_each_once():
    """Their events fit beside those of the last pass; together they fill the block, so that they have a pass of their own; and on two GPUs at a time."""
    six = ("SQ_INSTS_FLAT", "SQ_INSTS_VMEM_WR", "SQ_INSTS_VMEM_RD", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_WAVES")
    for old, sdk, gpus in ((("SQ_WAVES", "SQ_INSTS_SALU"), ("SQ_WAVES", "SQ_INSTS_VALU"), 1), ((*six, "SQ_INSTS_VALU"), (*six, "SQ_INSTS_LDS"), 2)):
        *seen, traced, _ = run_both_beside_replays(old, sdk, gpus)
        for who, have, names in zip(("plug-in", "client"), seen, (old, sdk)):
            equal(f"dispatches of the {who}", collections.Counter(have), collections.Counter(tuple(c[n] for n in names) for c in traced.values()))


@case
def tools_of_both_generations_beside_replayed_dispatches_take_turns_where_they_do_not_fit():
    """Eight events and four others of the same block: each dispatch is counted for one of them, and in all passes for the trace."""
    for gpus in (1, 2):
        *seen, traced, r = run_both_beside_replays(EIGHT_OF_SQ, SQ_OF_THE_SDK, gpus)
        equal("each dispatch is counted for one", sum(map(len, seen)), len(traced))
        equal("each has its turn", [len(have) > 0 for have in seen], [True] * 2)
        equal("counters of the plug-in that are not in the log",
              collections.Counter(seen[0]) - collections.Counter(tuple(c[n] for n in EIGHT_OF_SQ) for c in traced.values()), collections.Counter())
        common = [SQ_OF_THE_SDK.index(n) for n in ("SQ_INSTS_LDS", "SQ_INSTS_VMEM_WR", "SQ_WAVES")]
        equal("counters of the client that are not in the log", collections.Counter(tuple(have[i] for i in common) for have in seen[1]) -
              collections.Counter(tuple(c[SQ_OF_THE_SDK[i]] for i in common) for c in traced.values()), collections.Counter())
        contains("stderr", r.err, "its events do not fit in one pass with those of another client")


@case
def settings_of_a_tool_have_their_effect_or_a_message():
    """opt_mode: no names, threads and times; memcopy_tracking: a line in the log; k_concurrent: a warning, and the dispatches are counted."""
    log = os.path.join(new_dir("log"), "log")
    head, rows, r = run_tool("matrix_transpose", env={"TOOL_OPT": 1, "TOOL_COPIES": 1, "TOOL_CONCURRENT": 1, "RTL_LOG": "info", "RTL_LOG_FILE": log})
    contains("head", head[0], "wrong 0")
    at_least("dispatches", len(rows), 1)
    equal("what they have", {(d["done"], d["thread"], d["begin"], d["kernel"]) for d in rows}, {("1", "0", "0", "none")})
    waves = collections.Counter(d["counters"]["SQ_WAVES"] for d in r.log("dispatch"))
    equal("waves of no dispatch", collections.Counter(int(d["SQ_WAVES"]) for d in rows) - waves, collections.Counter())
    with open(log, encoding="utf-8") as f:
        text = f.read()
    contains("log", text, "k_concurrent 1 has no effect")
    equal("copies", len(re.findall(r"async-copy time\(\d+,\d+\)", text)), len(r.log("copy")))


@case
def tool_without_settings_is_called_by_the_other_function():
    head, rows, _ = run_tool("flood", "count=10", "kinds=d", tool="rocprofiler_tool_plain")
    contains("how the tool was loaded", head[0], "loaded by OnLoadTool metrics 1 wrong 0")
    equal("dispatches without times", [(d["begin"], d["end"]) for d in rows], [("0", "0")] * 10)


@case
def tool_that_can_not_be_loaded_is_left_out():
    """AMD's library ends the program in each of these cases."""
    for tool, why in (("rocprofiler_tool_broken", "has no OnUnloadTool()"), ("no_such_tool", "cannot open shared object file"),
                      ("rocprofiler_no_tool", "has no OnLoadTool() or OnLoadToolProp()")):
        head, _, r = run_tool("flood", "count=10", "kinds=d", tool=tool)
        contains("output", r.out, "10 dispatches")
        contains("message", r.err, why)
        equal("what the tool was called for", [line for line in head if not line.startswith(("loaded by nothing", "settings 0", "events 0"))], [])


@case
def program_without_aqlprofile_goes_on():
    """AMD's library ends the program; here contexts with counters are refused, and the program runs."""
    folder = new_dir("vgpu")
    for name in os.listdir(VGPU_DIR):
        if "aqlprofile" not in name:
            os.symlink(os.path.join(VGPU_DIR, name), os.path.join(folder, name))
    _, rows, r = run_tool("flood", "count=10", "kinds=d", env={"LD_LIBRARY_PATH": f"{folder}:{LIB}"})
    contains("output", r.out, "10 dispatches")
    equal("counted", [d for d in rows if d["done"] == "1"], [])


@case
def hsa_calls_have_callbacks():
    head, _, r = run_tool("flood", "count=10", "kinds=d", env={"TOOL_HSA": 1})
    contains("output", r.out, "10 dispatches")
    events = [int(n) for n in next(line for line in head if line.startswith("events")).split()[1:]]
    # each dispatch, and a barrier packet
    equal("packets", events[3], 11)
    equal("kernels", events[4], 2)
    equal("others that there are", [n > 0 for n in events[:2] + events[5:]], [True] * 3)
    head, _, _ = run_tool("flood", "count=10", "kinds=d")
    equal("without hsa_intercepting", [line for line in head if line.startswith("events")], ["events 0 0 0 11 0 0"])


main()
