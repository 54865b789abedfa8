#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""librocprofiler-sdk 1.0: allocations, streams, graphs and runtimes, beside the calls that they come from."""
from support import *

RUNTIME = {"LD_LIBRARY_PATH": f"{VGPU_DIR}:{LIB}"}
FIRST_AGENT = 2048
Shown = collections.namedtuple("Shown", "what phase fields")


def run_client(*args, trace=PLAIN, env=None, program="sdk_effects_client_1", **kwargs):
    path = built(program)
    r = run(path, *args, trace=trace, env={**RUNTIME, **(env or {})} if trace == PLAIN else env, **kwargs)
    equal("stderr", r.err, "")
    *lines, last = r.out.splitlines()
    equal("last line", last, "wrong 0")
    shown = []
    for line in lines:
        what, phase, *rest = line.split()
        shown.append(Shown(what, phase, dict(zip(rest[::2], map(int, rest[1::2])))))
    equal("sizes of payloads", {s.fields.get("sized", 1) for s in shown}, {1})
    return r, shown


def client(*args, **kwargs):
    return run_client(*args, **kwargs)[1]


def of(shown, what, phase="now"):
    return [s.fields for s in shown if s.what == what and s.phase == phase]


def paired(shown, what):
    """Each begin has its end, with the same id. Returns the ends."""
    begun, ended = of(shown, what, "enter"), of(shown, what, "exit")
    key = lambda f: (f["tid"], f["id"])
    same_counter(f"begins and ends of {what}", map(key, begun), map(key, ended))
    equal(f"instants of {what}", of(shown, what), [])
    return ended


def check_allocations(shown):
    ended, calls = paired(shown, "MEMORY_ALLOCATION_ALLOCATE"), of(shown, "allocate_call")
    keys = ("tid", "id", "address", "bytes")
    same_counter("allocations", [tuple(f[k] for k in keys) for f in ended], [tuple(c[k] for k in keys) for c in calls])
    for f in ended:
        if f["agent"] not in (FIRST_AGENT, FIRST_AGENT + 1) or not 0 < f["begin"] <= f["end"]:
            fail(f"allocation {f}")
    equal("allocations of the program's", [f["agent"] for f in ended if f["bytes"] == 12288], [FIRST_AGENT + 1])
    ended, calls = paired(shown, "MEMORY_ALLOCATION_FREE"), of(shown, "free_call")
    keys = ("tid", "id", "address")
    same_counter("frees", [tuple(f[k] for k in keys) for f in ended], [tuple(c[k] for k in keys) for c in calls])


@case
def allocations_have_the_id_of_the_call_around_them():
    shown = client(env={"EFFECTS_HIP_ALONE": "1"})
    calls = [(c["tid"], c["id"]) for c in of(shown, "malloc_call")]
    ended = [f for f in paired(shown, "MEMORY_ALLOCATION_ALLOCATE") if f["bytes"] == 12288]
    at_least("allocations", len(ended), 1)
    equal("of no call of hipMalloc()", [f for f in ended if (f["tid"], f["id"]) not in calls], [])


@case
def allocations_equal_the_calls_of_hsa():
    check_allocations(client())


@case
def streams_are_created_used_destroyed():
    # HIP 7.2.4: a third of runs end by an exception if threads make graphs at the same time while calls have callbacks
    for threads in (1,) if HIP7 else (1, 4):
        shown = client(f"threads={threads}")
        created, destroyed = of(shown, "HIP_STREAM_CREATE"), of(shown, "HIP_STREAM_DESTROY")
        equal("streams", len(created), 2 * threads)
        same_counter("streams", [(f["stream"], f["value"]) for f in created], [(f["stream"], f["value"]) for f in destroyed])
        equal("numbers", len({f["stream"] for f in created}), 2 * threads)
        used = paired(shown, "HIP_STREAM_SET")
        same_counter("calls with a stream", [(f["tid"], f["id"]) for f in used],
                     [(f["tid"], f["id"]) for f in of(shown, "stream_call")])
        numbers = {f["value"]: f["stream"] for f in used}
        equal("number of the null stream", numbers[0], 0)
        if set(numbers.values()) != {0} | {f["stream"] for f in created}:
            fail(f"streams {numbers}, created {created}")


@case
def graphs_are_created_launched_destroyed():
    shown = client()
    created, destroyed = of(shown, "HIP_GRAPH_EXEC_CREATE"), of(shown, "HIP_GRAPH_EXEC_DESTROY")
    launched = paired(shown, "HIP_GRAPH_EXEC_LAUNCH")
    equal("graphs", (len(created), len(launched), len(destroyed)), (1, 2, 1))
    equal("graph", {(f["exec"], f["value"]) for f in launched + destroyed}, {(created[0]["exec"], created[0]["value"])})
    equal("launches", len({f["id"] for f in launched}), 2)


@case
def launch_of_a_graph_has_one_record_of_its_kernels():
    r, shown = run_client()
    launched = paired(shown, "HIP_GRAPH_EXEC_LAUNCH")
    records = [f for f in of(shown, "record") if f["kind"] == 33]
    keys = ("tid", "id", "exec")
    same_counter("launches", [tuple(f[k] for k in keys) for f in records], [tuple(f[k] for k in keys) for f in launched])
    equal("operations, kernels, agents", [(f["operation"], f["kernels"], f["agent"]) for f in records],
          [(3, 3, FIRST_AGENT + 1)] * 2)
    clocks, log = clocks_of(r.log()), [l for l in r.log("dispatch") if l["group"] == [32, 1, 1]]
    equal("kernels of graphs in the log", len(log), 6)
    times = sorted((to_ns(clocks[l["pid"], l["gpu"]], l["begin"]), to_ns(clocks[l["pid"], l["gpu"]], l["end"])) for l in log)
    for f, kernels in zip(sorted(records, key=lambda f: f["begin"]), (times[:3], times[3:])):
        for what, seen, expected in (("begin", f["begin"], kernels[0][0]), ("end", f["end"], kernels[2][1])):
            if abs(seen - expected) > NS_TOLERANCE:
                fail(f"{what} of {f}, in the log {expected}")


@case
def runtimes_are_reported_once():
    shown = client()
    for what in ("HSA", "HIP"):
        reported = of(shown, f"RUNTIME_INITIALIZATION_{what}")
        equal(f"times that {what} was reported", len(reported), 1)
        equal(f"instance of {what}", (reported[0]["instance"], reported[0]["id"]), (0, 0))
        at_least(f"version of {what}", reported[0]["version"], 10000)


@case
def records_equal_callbacks():
    shown = client("threads=1" if HIP7 else "threads=2")
    records = of(shown, "record")
    ends = [f for what in ("ALLOCATE", "FREE") for f in paired(shown, f"MEMORY_ALLOCATION_{what}")]
    keys = ("tid", "id", "agent", "address", "bytes", "begin", "end")
    same_counter("allocations", [tuple(r[k] for k in keys) for r in records if r["kind"] == 16],
                 [tuple(f[k] for k in keys) for f in ends])
    same_counter("runtimes", [(r["version"], r["time"]) for r in records if r["kind"] == 17],
                 [(of(shown, f"RUNTIME_INITIALIZATION_{what}")[0]["version"], 1) for what in ("HSA", "HIP")])


def retired_once(shown):
    """The id of each allocation, free and launch; no other: no call is shown."""
    records = [f for f in of(shown, "record") if "id" in f]
    same_counter("ids", [f["id"] for f in of(shown, "retired")], {f["id"] for f in records})


@case
def allocations_outside_of_calls_have_ids_that_are_retired():
    shown = client("threads=1" if HIP7 else "threads=3", env={"EFFECTS_BARE": "1"})
    paired(shown, "MEMORY_ALLOCATION_ALLOCATE")
    paired(shown, "MEMORY_ALLOCATION_FREE")
    retired_once(shown)


def freed_at_the_end(shown):
    whats = [s.what for s in shown]
    [kept] = [f["address"] for f in of(shown, "MEMORY_ALLOCATION_ALLOCATE", "exit") if f["bytes"] == 20480]
    late = [f["address"] for f in of(shown[whats.index("main"):], "MEMORY_ALLOCATION_FREE", "exit")]
    equal("times that the program's memory is freed at its end", late.count(kept), 1)
    return late


@case
def frees_at_the_end_of_the_program_are_shown_and_retired():
    for env in {}, {"EFFECTS_BARE": "1"}:
        for program in "sdk_effects_client_1", "sdk_effects_linked":
            shown = client(env=env, program=program)
            late = freed_at_the_end(shown)
            if HIP7 and program == "sdk_effects_linked":
                at_least("frees, with those of HIP's own end", len(late), 3)
            if env:
                retired_once(shown)
            else:
                check_allocations(shown)


main()
