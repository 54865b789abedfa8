#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""AMD_DIRECT_DISPATCH=0: HIP submits from threads of its own. Each operation has the call that caused it; one
whose call can't be found has none and is counted."""
import functools

from support.hipcalls import *

QUEUE_THREADS = {"AMD_DIRECT_DISPATCH": "0"}
DETERMINISTIC = {
    "VGPU_CLOCK": "deterministic",
    "VGPU_KERNEL_MODEL": "grid",
    "VGPU_NS_PER_GROUP": "730",
    "VGPU_SETTLE_US": "30000",
}


def own_threads(*args, gpus=1, all_joined=True, **env):
    r = run_account("hipmix", f"devices={gpus}", *args, trace=RTL, gpus=gpus, env={**QUEUE_THREADS, **env})
    calls = read_account(r)
    exact_program_dispatches(r)
    matched = same_calls(r, calls)
    # of two that ended alike neither is joined: seldom, where kernels take time
    if all_joined and not r.losses().get("api_missed"):
        exact_callers(r, calls, matched)
        launch_details(r, calls, matched)
        copy_details(r, calls, matched)
        complete(r)
        return r
    ops = trace_ops(r)
    cause, _ = callers(calls, ops)
    joined = joined_apis(r)
    apis = {a.api_id: a for a in matched.values()}
    alone = 0
    for op in ops:
        mine = [apis[api] for api in joined[op.op_id] if api in apis]
        if mine:
            equal(f"the call that {op} is joined to", mine, [matched[cause[op.op_id]]])
        alone += not mine
    print(f"    {alone} of {len(ops)} operations are joined to no call")
    equal("operations that are counted as joined to no call", r.losses().get("api_missed", 0), alone)
    if all_joined:
        at_least("operations that are joined", (len(ops) - alone) / len(ops), 0.99)
    return r


add_case("each_kind_of_operation_has_its_call", functools.partial(own_threads, "rounds=1"))
add_case("on_two_gpus", functools.partial(own_threads, "rounds=1", gpus=2))
add_case("threads_share_queues", functools.partial(own_threads, "parts=kcfb", "rounds=1", GPU_MAX_HW_QUEUES=2))
add_case("kernels_overlap", functools.partial(own_threads, "rounds=1", VGPU_OVERLAP=8))
add_case(
    "thousands_in_flight",
    functools.partial(
        own_threads, "parts=b", "burst=3000", "rounds=1", GPU_MAX_HW_QUEUES=2, VGPU_KERNEL_NS=4000, VGPU_EXEC="off"
    ),
)
# the times of two kernels are the same: nobody could tell
add_case(
    "kernels_of_no_time_have_their_calls", functools.partial(own_threads, "parts=kb", "rounds=1", all_joined=False, VGPU_KERNEL_NS=0)
)


@case
def direct_dispatch_variable_is_read_as_hip_does():
    for value in ("0", "false", "00", "no", "", "1", "-1", "true"):
        r = run("launcher", "launches=5", trace=RTL, env={"AMD_DIRECT_DISPATCH": value})
        launches = r.value("select count(*) from rtl_api where name like '%LaunchKernel'")
        joined = r.value(
            "select count(*) from rtl_dispatch D join rtl_api using (correlation_id) "
            f"where name like '%LaunchKernel' and D.flags & {INTERNAL} = 0"
        )
        at_least("launches", launches, 5)
        equal(f"launches whose kernel is known, with '{value}'", joined, launches)
        equal(f"what was lost or skipped, with '{value}'", r.losses(), {})


@case
def operation_has_range_of_calling_thread():
    """A kernel has the range in which its call was made, not a range of HIP's thread."""
    direct = run("ranges", trace=RTL, status=None)
    r = run("ranges", trace=RTL, status=None, env=QUEUE_THREADS)
    sql = (
        "select D.kernel, M.message from rtl_dispatch D left join rtl_marker M using (marker_id) "
        f"where D.flags & {INTERNAL} = 0 order by 1, 2"
    )
    at_least("kernels", len(r.rows(sql)), 1)
    equal("range of each kernel", r.rows(sql), direct.rows(sql))


@case
def output_is_the_same_as_untraced():
    args = ("rounds=1",)
    plain = run_account("hipmix", *args, env=QUEUE_THREADS)
    traced = run_account("hipmix", *args, trace=RTL, env=QUEUE_THREADS)
    equal("stdout", traced.out, plain.out)
    equal("stderr", traced.err, plain.err)


@case
def event_times_are_the_same_as_untraced():
    """A process for each part: with its callbacks on HIP gives a queue that an earlier part had to another stream at times,
    and streams that share a queue untraced do not then (docs/decisions/013-hips-own-threads.md)."""
    for part in ("recorded", "ext", "cross", "copies", "errors"):
        env = {**DETERMINISTIC, **QUEUE_THREADS}
        plain = run("eventtimes", f"part={part}", env=env, status=3)
        traced = run("eventtimes", f"part={part}", trace=RTL, env=env, status=3, timeout=90)
        equal(f"stdout of {part}", traced.out.splitlines(), plain.out.splitlines())
        equal(f"operations of {part} without a call", traced.losses().get("api_missed", 0), 0)


main()
