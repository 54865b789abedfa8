#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librocprofiler-sdk counts dispatches: each has the counts that the virtual GPU logged for it; alone, and beside rtl trace --pmc."""
import math

from support import *
from support import counted as reference

RUNTIME = {"LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}"}
NAMES = ("SQ_WAVES", "SQ_INSTS_SALU", "GRBM_GUI_ACTIVE", "TCC_HIT_sum")
LOGGED = {"TCC_HIT_sum": "TCC_HIT"}
MIXED = ("threads=3", "queues=2", "count=240", "kinds=dscbnBw", "ring=2")


class Said:
    """What the tool printed."""

    def __init__(self, r):
        self.run, self.counted, self.totals = r, [], None
        for line in r.out.splitlines():
            words = line.split()
            if words[:1] == ["counted"]:
                self.counted.append({k: v if k.endswith("@") else float(v) if "." in v or "e" in v else int(v)
                                     for k, v in zip(words[::2], words[1::2])})
            elif words[:2] == ["tool:", "asked"]:
                self.totals = {k: int(v) for k, v in zip(words[1::2], words[2::2])}
        equal("wrong", [l for l in r.out.splitlines() if l.startswith("tool: wrong")], [])
        equal("dispatches shown", self.totals["shown"], len(self.counted))


def tool(abi, name, *args, names=NAMES, trace=PLAIN, gpus=1, env=None, **kwargs):
    library = built(f"libsdk_counter_tool_{abi}.so", HIP_HEADERS)
    full = {"VGPU_EXEC": "auto", "VGPU_COUNTERS": 1, "LD_PRELOAD": library, "COUNT_NAMES": ",".join(names), **(env or {})}
    if trace == PLAIN:
        full = {**RUNTIME, "HSA_TOOLS_LIB": os.path.join(LIB, f"librocprofiler-sdk.so.{abi}"), **full}
    return Said(run(name, *args, trace=trace, env=full, gpus=gpus, **kwargs))


def as_logged(said, names=NAMES):
    """Each counted dispatch has the counters of the one with its time in the log."""
    log = said.run.log("dispatch")
    clocks = clocks_of(said.run.log())
    ends = sorted((to_ns(clocks[d["pid"], d["gpu"]], d["end"]), i) for i, d in enumerate(log))
    for c in said.counted:
        near = [log[i]["counters"] for end, i in ends if abs(end - c["end"]) <= NS_TOLERANCE]
        have = {n: c[n] for n in names}
        want = [{n: l[LOGGED.get(n, n)] for n in names} for l in near]
        if have not in want:
            fail(f"dispatch {c['counted']}: counters {have}, in the log {want}")


def counts_by_callback(abi, env=None):
    said = tool(abi, "flood", *MIXED, "gpus=2", gpus=2, env=env)
    contains("output", said.run.out, " 0 wrong signals")
    equal("stderr", said.run.err, "")
    equal("dispatches", (said.totals["asked"], said.totals["shown"]), (int(re.search(r"(\d+) dispatches", said.run.out)[1]),) * 2)
    equal("ids", sorted(c["counted"] for c in said.counted), list(range(1, said.totals["asked"] + 1)))
    # four shader engines; GRBM has one instance; a metric has one value
    equal("records", {tuple(c[n + "#"] for n in NAMES) for c in said.counted}, {(4, 4, 1, 1)})
    as_logged(said)


@case
def counts_by_callback_equal_the_log():
    counts_by_callback(1)


@case
def counters_of_a_gpu_are_named_by_the_ids_of_another_one():
    for abi in (0, 1):
        counts_by_callback(abi, {"COUNT_FIRST": 1})


@case
def counts_by_callback_equal_the_log_in_the_older_abi():
    counts_by_callback(0)


@case
def counts_by_buffer_belong_to_the_traced_dispatches():
    """Every second dispatch is counted; ids and times are those of its record in the trace of dispatches."""
    for abi in (0, 1):
        said = tool(abi, "flood", *MIXED, env={"COUNT_BUFFER": 1, "COUNT_TRACE": 1, "COUNT_EVERY": 2})
        equal("stderr", said.run.err, "")
        nr = int(re.search(r"(\d+) dispatches", said.run.out)[1])
        equal("dispatches", said.totals, {"asked": nr, "shown": nr // 2, "same": nr // 2, "wrong": 0})
        as_logged(said)


@case
def ids_of_counted_dispatches_are_retired():
    for abi in (0, 1):
        said = tool(abi, "flood", *MIXED, env={"COUNT_BUFFER": 1, "COUNT_RETIRE": 1, "COUNT_EVERY": 2})
        equal("stderr", said.run.err, "")
        at_least("dispatches", said.totals["shown"], 1)


@case
def context_that_stops_counts_what_it_was_asked_for():
    said = tool(1, "flood", *MIXED, env={"COUNT_STOP": 40})
    contains("output", said.run.out, " 0 wrong signals")
    lost = len(re.findall("is not counted", said.run.err))
    # three threads, which announce two packets at a time, may be asking when it stops
    at_least("asked", said.totals["asked"], 40)
    at_most("asked", said.totals["asked"], 40 + 3 * 2 - 1)
    equal("counted of those", said.totals["shown"] + lost, said.totals["asked"])
    as_logged(said)


def by_op(r):
    out = collections.defaultdict(dict)
    for end, name, value in r.db().execute("select d.end_ns, c.counter, c.value from rtl_counter c join rtl_dispatch d using (op_id)"):
        out[end][name] = value
    return out


@case
def tool_beside_rtl_pmc_gets_the_same_values():
    """One name of both, one of each: they are counted together."""
    said = tool(1, "flood", "count=60", "kinds=dDs", names=("SQ_WAVES", "SQ_INSTS_SALU"), trace=RTL,
                rtl_args=("-q", "--pmc", "SQ_WAVES,GRBM_GUI_ACTIVE"))
    nr = int(re.search(r"(\d+) dispatches", said.run.out)[1])
    values = by_op(said.run)
    equal("counted", (said.totals["shown"], len(values)), (nr, nr))
    for c in said.counted:
        equal("waves of both", values[c["end"]]["SQ_WAVES"], c["SQ_WAVES"])
    as_logged(said, ("SQ_WAVES", "SQ_INSTS_SALU"))
    complete(said.run)
    intact(said.run.db())


@case
def events_that_do_not_fit_together_are_a_loss_of_one():
    """Five and five events of SQ, which has eight counters: each dispatch is counted for one of the two."""
    sq = ("SQ_WAVES", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VALU", "SQ_INSTS_FLAT")
    other = "SQ_INSTS_LDS,SQ_INSTS_GDS,SQ_WAIT_INST_LDS,SQ_INSTS_VMEM_WR,SQ_INSTS_VMEM_RD"
    said = tool(1, "flood", "count=40", "kinds=d", names=sq, trace=RTL, rtl_args=("--pmc", other))
    nr = int(re.search(r"(\d+) dispatches", said.run.out)[1])
    lost = int(re.search(r"loss: (\d+) not_counted", said.run.err)[1])
    values = len(by_op(said.run))
    equal("of each the other half", (said.totals["shown"] + values, lost + values), (nr, nr))
    contains("the tool's loss", said.run.err, "its events do not fit in one pass with those of another client")
    as_logged(said, sq)


@case
def queues_that_end_while_dispatches_wait_have_a_result_for_each():
    said = tool(1, "lifecycle", "storm", names=("SQ_WAVES",), env={"RTL_PMC_WAIT_MS": 60000})
    lost = len(re.findall("is not counted: its queue was destroyed", said.run.err))
    equal("asked", said.totals["asked"], int(re.search(r"(\d+) dispatches", said.run.out)[1]))
    # warnings are limited
    if "no more of these" not in said.run.err:
        equal("counted or lost", said.totals["shown"] + lost, said.totals["asked"])
    as_logged(said, ("SQ_WAVES",))


@case
def counters_and_metrics_of_twelve_kernels_equal_the_log():
    """Each counter that the virtual GPU feeds, each record of it, and each metric of the GPU, of each dispatch."""
    metrics = reference.metrics()
    sets = reference.gpu_of({}).sets([*reference.LOGGED, *metrics])
    said = tool(1, "reference", f"rounds={len(sets)}", names=[";".join(",".join(s) for s in sets)],
                env={"ROCP_TOOL_LIBRARIES": "", "COUNT_ROUND": reference.KERNELS, "COUNT_VALUES": 1})
    equal("tool", (said.totals["shown"], said.totals["wrong"]), (len(sets) * reference.KERNELS, 0))
    log = said.run.log("dispatch")
    clocks = clocks_of(said.run.log())
    for n, c in enumerate(said.counted):
        wanted = sets[n // reference.KERNELS]
        equal("names", [k for k in c if k in reference.LOGGED or k in metrics], list(wanted))
        near = [d["counters"] for d in log if abs(to_ns(clocks[d["pid"], d["gpu"]], d["end"]) - c["end"]) <= NS_TOLERANCE]
        if not any(is_counted_as(c, l, wanted) for l in near):
            fail(f"dispatch {c['counted']}: {c}, in the log {near}")


@case
def counters_that_a_tool_creates_have_the_values_of_their_expressions():
    made = {"MINE": "100 * SQ_INSTS_VALU / (SQ_WAVES + 1)", "OF_MINE": "MINE - reduce(TCC_HIT, sum) * 0.5",
            "MOST": "reduce(TCC_HIT,max)+reduce(TCC_HIT_sum,sum)", "FIXED": "CU_NUM*SE_NUM",
            "FIRST": "select(TCC_HIT,[DIMENSION_XCC=[0], DIMENSION_INSTANCE=[0]])"}
    names = ("SQ_WAVES", "SQ_INSTS_VALU", "TCC_HIT_sum", *made)
    said = tool(1, "reference", names=names, env={"ROCP_TOOL_LIBRARIES": "", "COUNT_CREATE": ";".join(f"{n}={e}" for n, e in made.items())})
    equal("tool", (said.totals["shown"], said.totals["wrong"]), (reference.KERNELS, 0))
    at_least("hits", sum(c["TCC_HIT_sum"] > 16 for c in said.counted), 1)
    for c in said.counted:
        mine = 100 * c["SQ_INSTS_VALU"] / (c["SQ_WAVES"] + 1)
        hits = c["TCC_HIT_sum"]
        want = {"MINE": mine, "OF_MINE": mine - hits * 0.5, "MOST": -(-hits // 16) + hits, "FIXED": 256, "FIRST": -(-hits // 16)}
        for name, value in want.items():
            if not math.isclose(c[name], value, rel_tol=1e-9):
                fail(f"{name} of dispatch {c['counted']}: {c[name]}, not {value}")


DEFINED = """rocprofiler-sdk:
  counters-schema-version: 1
  counters:
    - name: WAVES
      description: waves, by
        another name
      definitions:
        - architectures: [gfx900, gfx90a]
          block: SQ
          event: 4
    - name: SALU
      description: scalar instructions of a wave
      definitions:
        - architectures: [gfx900]
          expression: reduce(SQ_INSTS_SALU,sum)/reduce(WAVES,sum)
    - name: DOUBLE
      description: needs nothing that is not defined here
      definitions:
        - architectures:
            - gfx900
          expression: 2*reduce(WAVES,sum)+CU_NUM
    - name: STRANGE
      description: of a release to come
      definitions:
        - architectures: [gfx900]
          expression: whatever(WAVES)
"""


def defined(abi, names, folder=None, env=None):
    said = tool(abi, "flood", "count=6", "kinds=d", names=names, env=env or {"ROCPROFILER_METRICS_PATH": folder})
    equal("tool", (said.totals["shown"], said.totals["wrong"]), (6, 0))
    return said, int(re.search(r"tool: counters (\d+)", said.run.out)[1])


def check_defined(said, with_own):
    log = [d["counters"] for d in said.run.log("dispatch")]
    want = {(c["SQ_WAVES"], *((c["SQ_INSTS_SALU"] / c["SQ_WAVES"],) if with_own else ()), 2 * c["SQ_WAVES"] + 64) for c in log}
    have = {tuple(c[n] for n in ("WAVES", "SALU", "DOUBLE") if n in c) for c in said.counted}
    if not have <= want:
        fail(f"values {have}, in the log {want}")


def put(name, text):
    """The path of a file of that name."""
    path = os.path.join(work_dir(), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    return path


@case
def definitions_of_a_tool_stand_beside_the_librarys_or_alone():
    mine = put("mine.yaml", DEFINED)
    _, own = defined(1, ("SQ_WAVES",), work_dir())
    said, nr = defined(1, ("WAVES", "SALU", "DOUBLE"), env={"COUNT_DEFINE": mine, "COUNT_APPEND": 1})
    equal("counters", nr, own + 3)
    check_defined(said, True)
    # SALU names a counter that is not there; there are five constants
    said, nr = defined(1, ("WAVES", "DOUBLE"), env={"COUNT_DEFINE": mine})
    equal("counters, alone", nr, 2 + 5)
    check_defined(said, False)
    equal("stderr", said.run.err, "")


@case
def definitions_in_a_folder_of_the_users_replace_the_librarys():
    a = os.path.dirname(put("a/counter_defs.yaml", DEFINED.replace("name: DOUBLE", "name: OTHER")))
    b = os.path.dirname(put("b/config.yaml", DEFINED))
    for abi, folders, name in ((0, a, "OTHER"), (1, f"{a}/none:{a}", "OTHER"), (1, f"{a}:{b}", "DOUBLE")):
        said, nr = defined(abi, ("WAVES", name), folders)
        equal("counters", nr, 2 + 5)
    # what a tool appends goes before
    mine = put("mine.yaml", DEFINED.replace("2*", "4*"))
    said, nr = defined(1, ("WAVES", "DOUBLE"), env={"COUNT_DEFINE": mine, "COUNT_APPEND": 1, "ROCPROFILER_METRICS_PATH": b})
    equal("quadruples", {c["DOUBLE"] - 4 * c["WAVES"] for c in said.counted}, {64})
    # no definitions: said, and as without
    said, nr = defined(1, ("SQ_WAVES",), os.path.dirname(put("c/config.yaml", "a: b\n")))
    contains("stderr", said.run.err, "c/config.yaml: has no list 'counters'")


@case
def queue_made_before_a_tool_counts_is_not_counted_and_said():
    path = built("vgpu/sdk_late_counts_1", HIP_HEADERS, HSA_HEADERS)
    r = run(path, trace=PLAIN, env={**RUNTIME, "VGPU_EXEC": "auto", "HSA_TOOLS_LIB": os.path.join(LIB, "librocprofiler-sdk.so.1")})
    equal("stdout", r.out, "asked 3 counted 3\n")
    contains("stderr", r.err, "the dispatches of 1 queues are not counted: they were made before")


@case
def gpu_is_sampled_for_each_of_its_counters_as_in_amds_test():
    """More contexts than tools that trace may have; in loops, of two GPUs, with wrong statuses."""
    for abi in (0, 1):
        path = built(f"vgpu/sdk_device_counts_{abi}", HIP_HEADERS, HSA_HEADERS)
        r = run(path, trace=PLAIN, gpus=2, env={**RUNTIME, "VGPU_EXEC": "auto", "VGPU_COUNTERS": 1, "HSA_TOOLS_LIB": os.path.join(LIB, f"librocprofiler-sdk.so.{abi}")})
        nr = int(re.search(r"gpu 0 counters (\d+)", r.out)[1])
        at_least("counters", nr, 64)
        equal("stdout", r.out, "".join(f"gpu {i} counters {nr} constants 5\n" for i in (0, 1)) + "0 wrong\n")
        equal("stderr", r.err, "")


def is_counted_as(c, log, names):
    gpu = reference.gpu_of(log)
    for name in names:
        have = {tuple(map(int, k.split("."))): float(v) for k, v in (p.split("=") for p in c[name + "@"].split(","))}
        if name in reference.LOGGED:
            if have != reference.samples(log, name):
                return False
        elif len(have) != 1 or not math.isclose(have[0, 0], gpu.value(name), rel_tol=1e-9):
            return False
    return True


@case
def hip_program_has_metrics():
    names = ("SQ_WAVES", "FETCH_SIZE", "TCC_HIT_sum", "CU_NUM")
    said = tool(1, "sdk_client_app", "sessions=1", "launches=5", names=names, env={"ROCP_TOOL_LIBRARIES": ""})
    contains("output", said.run.out, "done")
    logged = [d["counters"] for d in said.run.log("dispatch") if d["grid"][0] == 1024]
    want = [(l["SQ_WAVES"], l["TCC_EA_RDREQ"] * 64 / 1024, l["TCC_HIT"], 64) for l in logged]
    seen = [tuple(c[n] for n in names) for c in said.counted]
    # copies by kernels are counted, too
    missing = collections.Counter(want) - collections.Counter(seen)
    equal("dispatches in the log that were not counted so", missing, collections.Counter())


@case
def constants_alone_have_a_record_for_each_dispatch():
    for abi in (0, 1):
        said = tool(abi, "flood", "count=20", names=("CU_NUM", "SE_NUM"))
        equal(f"stderr, ABI {abi}", said.run.err, "")
        equal(f"dispatches, ABI {abi}", (said.totals["asked"], said.totals["shown"]), (20, 20))
        equal(f"values, ABI {abi}", {(c["CU_NUM"], c["CU_NUM#"], c["SE_NUM"], c["SE_NUM#"]) for c in said.counted}, {(64, 1, 4, 1)})


main()
