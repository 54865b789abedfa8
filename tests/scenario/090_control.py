#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--trace-start: the program switches recording. Suppressed events are counted, and are not losses."""
from support import *

SKIPPED = "paused"


def control(start, *args, mode="hip", env=None, more=(), **kwargs):
    option = () if start is None else ("--trace-start", start)
    r = run("control", *args, trace=RTL, rtl_args=("-q", "-m", mode, *option, *more), env=env, **kwargs)
    equal("stderr", r.err, "")
    return r


def kernels(r):
    return dict(r.rows("select kernel, count(*) from rtl_dispatch where not flags & 32 group by 1"))


def markers(r):
    return sorted(row[0] for row in r.rows("select message from rtl_marker"))


def everything(r):
    """Rows that can be suppressed, plus the count of those that were."""
    rows = sum(r.count(t) for t in ("rtl_dispatch", "rtl_copy", "rtl_api", "rtl_marker"))
    return rows + r.losses().get(SKIPPED, 0)


def complete(r):
    equal("reasons", {k for k in r.losses() if k != SKIPPED}, set())
    text = r.info().lower()
    contains("rtl info", text, "complete")
    lacks("rtl info", text, "incomplete")


@case
def trace_start_off_records_between_start_and_stop():
    r = control("off", "launches=10", "rounds=3", more=("--fail-on-loss",))
    equal("kernels", kernels(r), {"control_on": 36})
    equal("markers", markers(r), ["mark on"] * 3 + ["pushed on"] * 3 + ["started on"] * 3)
    equal("copies", r.rows("select bytes, count(*) from rtl_copy group by 1"), [(4 << 20, 3)])
    calls = dict(r.rows("select name, count(*) from rtl_api group by 1"))
    equal("calls", (calls.get("hipLaunchKernel"), calls.get("hipMemcpyAsync"), calls.get("hipMalloc")), (36, 3, None))
    complete(r)


@case
def suppressed_events_are_counted():
    whole = control(None, "launches=7", "rounds=2")
    equal("reasons of the whole trace", whole.losses(), {})
    equal("kernels of the whole trace", kernels(whole), {"control_on": 18, "control_off": 28})
    r = control("off", "launches=7", "rounds=2")
    at_least("suppressed", r.losses()[SKIPPED], 28)
    equal("recorded and suppressed", everything(r), everything(whole))
    complete(r)


@case
def trace_start_on_records_whole_program():
    """The default: starts and stops by the program or by HIP's profiler calls change nothing."""
    for start in (None, "on", "always"):
        for by in ("roctracer", "profiler"):
            r = control(start, "launches=5", "rounds=2", f"by={by}")
            equal("kernels", kernels(r), {"control_on": 14, "control_off": 20})
            equal("reasons", r.losses(), {})


@case
def hip_profiler_calls_switch_recording():
    r = control("off", "by=profiler", "launches=10", "rounds=2")
    equal("kernels", kernels(r), {"control_on": 24})
    equal("the call that starts is recorded", r.count("rtl_api", "name = 'hipProfilerStart'"), 2)
    complete(r)


@case
def variable_sets_default_of_option():
    r = control(None, "launches=10", env={"RTL_TRACE_START": "off"})
    equal("kernels", kernels(r), {"control_on": 12})
    r = control("always", "launches=10", env={"RTL_TRACE_START": "off"})
    equal("kernels where the option says otherwise", kernels(r), {"control_on": 12, "control_off": 20})


@case
def recorded_operations_have_call_kernel_and_time():
    # slow: the last kernels complete after recording has stopped
    r = control("off", "launches=3", env={"VGPU_KERNEL_NS": 30000000})
    log = {(l["begin"], l["end"]) for l in r.log("dispatch")}
    seen = r.rows("select begin_ticks, end_ticks from rtl_dispatch where not flags & 32")
    equal("dispatches", len(seen), 5)
    equal("dispatches with other times than the GPU's", [s for s in seen if tuple(s) not in log], [])
    orphans = r.count("rtl_dispatch", "correlation_id not in (select correlation_id from rtl_api)")
    equal("dispatches without their call", orphans, 0)
    last_call = r.value("select max(end_ns) from rtl_api")
    at_least("end of the last kernel", r.value("select max(end_ns) from rtl_dispatch"), last_call)
    complete(r)


@case
def range_opened_before_start_is_not_carried():
    r = control("off", "launches=10")
    rows = r.rows("select message, begin_ns, end_ns, marker_id, kind from rtl_marker")
    ends = {row[0]: row for row in rows}
    last_call = r.value("select max(end_ns) from rtl_api")
    for name, kind in (("pushed on", "push"), ("started on", "start")):
        equal(f"kind of {name!r}", ends[name][4], kind)
        at_least(f"end of {name!r}, which came after the stop", ends[name][2], last_call)
    # a range opened before the start is not recorded
    of = dict(r.rows("select group_x, max(marker_id) from rtl_dispatch where not flags & 32 group by 1"))
    equal("marker in a range that was opened before", of[32] or 0, 0)
    equal("marker in a range of the recording", of[64], ends["pushed on"][3])


@case
def standard_mode_counts_suppressed_operations():
    """Without API calls: kernels and copies alone."""
    whole = control(None, "launches=30", mode="standard")
    r = control("off", "launches=30", mode="standard")
    equal("kernels", kernels(r), {"control_on": 32})
    equal("recorded and suppressed", everything(r), everything(whole))
    complete(r)


@case
def hsa_calls_are_suppressed():
    r = control("off", "launches=10", more=("--hsa",))
    equal("kernels", kernels(r), {"control_on": 12})
    first = r.value("select min(begin_ns) from rtl_api where domain = 'hip'")
    at_least("HSA calls", r.count("rtl_api", "domain = 'hsa'"), 12)
    equal("HSA calls before the first HIP call", r.count("rtl_api", f"domain = 'hsa' and begin_ns < {first}"), 0)
    complete(r)


@case
def hip_callbacks_are_suppressed():
    r = control("off", "launches=10", env={"RTL_HIP_BACKEND": "callback"})
    equal("kernels", kernels(r), {"control_on": 12})
    equal("launches", r.count("rtl_api", "name = 'hipLaunchKernel'"), 12)
    complete(r)


@case
def roctracer_client_receives_suppressed_events():
    """libroctracer64 still reports every call and copy to its client; the trace has none."""
    path, env = program("hsa_client"), {"HSA_TOOLS_LIB": os.path.join(BUILD, "lib/libroctracer64.so.4")}
    whole = run(path, trace=RTL, env=env)
    r = run(path, trace=RTL, env={"RTL_TRACE_START": "off", **env}, rtl_args=("-q", "--fail-on-loss"))
    reports = lambda x: [l for l in x.out.splitlines() if "0x" not in l]
    equal("reports to the client", reports(r), reports(whole))
    contains("reports to the client", r.out, "copies 2 ")
    equal("recorded", [r.count(t) for t in ("rtl_dispatch", "rtl_copy", "rtl_api", "rtl_marker")], [0] * 4)
    equal("suppressed", r.losses()[SKIPPED], everything(whole))
    complete(r)


@case
def never_started_trace_is_empty():
    r = run("launcher", "launches=50", trace=RTL, rtl_args=("-q", "--trace-start", "off", "--fail-on-loss"))
    equal("dispatches", r.count("rtl_dispatch"), 0)
    at_least("suppressed", r.losses()[SKIPPED], 50)
    complete(r)
    run("launcher", "launches=50", trace=RTL, status=122,
        rtl_args=("-q", "--trace-start", "off", "--fail-on-empty"))


@case
def racing_switches_count_each_event():
    whole = control(None, "threads=8", "launches=500", mode="standard")
    r = control("off", "threads=8", "launches=500", mode="standard", timeout=120)
    equal("recorded and suppressed", everything(r), everything(whole))
    recorded = kernels(r)["control_on"]
    at_least("recorded", recorded, 1)
    at_most("recorded", recorded, 3999)
    log = {(l["begin"], l["end"]) for l in r.log("dispatch")}
    seen = r.rows("select begin_ticks, end_ticks from rtl_dispatch")
    equal("dispatches with other times than the GPU's", [s for s in seen if tuple(s) not in log], [])
    unended = r.count("rtl_marker", "kind like '%unclosed%'")
    equal("ranges without an end", unended, 0)
    complete(r)


@case
def racing_switches_keep_calls_of_kernels():
    r = control("off", "threads=8", "launches=500", timeout=120)
    recorded = kernels(r)["control_on"]
    launches = r.count("rtl_api", "name = 'hipLaunchKernel'")
    # a call that begins before a start may submit after it
    orphans = r.count("rtl_dispatch", "correlation_id not in (select correlation_id from rtl_api)")
    equal("kernels that no recorded call launched, beyond those", recorded - orphans, launches)
    complete(r)


main()
