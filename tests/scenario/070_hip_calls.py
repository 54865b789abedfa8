#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every dispatch and copy has the HIP call that caused it, also where threads share queues."""
import functools

from support.hipcalls import *


def mix(*args, gpus=1, mode="hip", **env):
    r = run_account(
        "hipmix", f"devices={gpus}", *args, trace=RTL, gpus=gpus, rtl_args=("-q", "-m", mode), env=env
    )
    contains("hipmix's own account", r.out, " 0 wrong copies")
    calls = read_account(r)
    exact_program_dispatches(r)
    matched = same_calls(r, calls)
    ops, _ = exact_callers(r, calls, matched)
    launch_details(r, calls, matched)
    copy_details(r, calls, matched)
    complete(r)
    return r, calls, matched, ops


@case
def each_kind_of_operation_has_its_call():
    r, calls, _, ops = mix("rounds=3")
    contains("hipmix's own account", r.out, "hipMemset3DAsync: 24")
    at_least("calls", len(calls), 4000)
    at_least("operations", len(ops), 2500)
    by_kind = collections.Counter(op.key[0] for op in ops)
    at_least("copies", by_kind["copy"], 700)


@case
def on_two_gpus():
    _, calls, _, _ = mix("rounds=2", gpus=2)
    at_least("peer copies", len([c for c in calls if c.api == "hipMemcpyPeerAsync"]), 16)


for queues in (1, 2, 3, 4):
    add_case(f"hardware_queues_{queues}", functools.partial(mix, "rounds=2", GPU_MAX_HW_QUEUES=queues))


# what floods queues copies nothing, and has grids of thousands of workgroups
FLOOD = {"VGPU_EXEC": "off"}


@case
def thousands_in_flight():
    # far more than the rings hold: threads wait for free slots, and one doorbell carries others' packets
    mix("parts=b", "burst=3000", GPU_MAX_HW_QUEUES=2, VGPU_KERNEL_NS=4000, **FLOOD)


@case
def slow_kernels_on_one_queue():
    mix("parts=kb", "burst=1500", "rounds=1", GPU_MAX_HW_QUEUES=1, VGPU_KERNEL_NS=20000, **FLOOD)


@case
def kernels_of_no_time_have_their_calls():
    mix("parts=b", "burst=4000", "rounds=1", GPU_MAX_HW_QUEUES=4, VGPU_KERNEL_NS=0, **FLOOD)


@case
def kernels_overlap():
    mix("rounds=1", VGPU_OVERLAP=8)


@case
def sixteen_threads_on_one_stream():
    mix("threads=16", "streams=1", "rounds=1", GPU_MAX_HW_QUEUES=2)


@case
def calls_have_no_arguments_when_switched_off():
    """RTL_ARGS=0 leaves out the arguments and nothing else."""
    r = run_account("hipmix", "rounds=1", trace=RTL, env={"RTL_ARGS": "0"})
    calls = read_account(r)
    exact_callers(r, calls, same_calls(r, calls))
    equal("arguments", r.count("rtl_api", "args != ''"), 0)


def launches_and_parts(internal, *rtl_args, **env):
    """Each launch <<<...>>> says that it is one; the two calls that prepare it have rows on request, and are counted otherwise."""
    r = run_account("hipmix", "rounds=1", "parts=kb", trace=RTL, rtl_args=("-q", *rtl_args), env=env)
    if "--calls" not in rtl_args and "RTL_HIP_BACKEND" not in env:
        same_calls(r, read_account(r, parts=internal))
    written = len([c for c in read_account(r, parts=True) if c.api == PARTS[0]])
    marked = r.rows("select N.string, count(*) from rocpd_api A join rocpd_string C on C.id = A.category_id join rocpd_string N on "
                    "N.id = A.apiName_id where C.string = '<<<>>>' group by 1")
    equal("launches that are marked as <<<>>>", marked, [("hipLaunchKernel", written)])
    for name in PARTS:
        equal(name, r.count("rtl_api", f"name = '{name}'"), written if internal else 0)
    equal("calls of launches without a row", [n for n, in r.rows("select value from rtl_info where key = 'launch_calls'")],
          [] if internal else [str(2 * written)])
    equal("reasons of losses", list(r.losses()), ["filtered_call"] if "--calls" in rtl_args else [])


add_case("launch_is_one_call", functools.partial(launches_and_parts, False))
add_case("calls_that_prepare_a_launch_have_rows_with_internal", functools.partial(launches_and_parts, True, "--internal"))
add_case("calls_that_prepare_a_launch_have_rows_where_a_variable_says_so", functools.partial(launches_and_parts, True, RTL_INTERNAL=1))
add_case("calls_that_prepare_a_launch_have_rows_where_calls_names_them",
         functools.partial(launches_and_parts, True, "--calls", "CallConfiguration|^hipLaunch"))
add_case("calls_that_prepare_a_launch_are_no_calls_that_a_filter_leaves_out",
         functools.partial(launches_and_parts, False, "--calls", "^hipLaunch"))


add_case("launch_is_one_call_by_callbacks", functools.partial(launches_and_parts, False, RTL_HIP_BACKEND="callback"))


@case
def mode_full_records_no_calls():
    r = run_account("hipmix", "rounds=1", trace=RTL, rtl_args=("-q", "-m", "full"))
    equal("calls", r.count("rtl_api"), 0)
    exact_program_dispatches(r)


@case
def graph_operations_have_the_call_of_their_launch():
    """Kernels, copies and fills of a graph belong to their launch, which has a number."""
    r, calls, matched, ops = mix("parts=g", "rounds=2", "threads=4")
    rows = r.rows("select op_id, api_id, exec, exec_id, replay, node from rtl_graph_op")
    of_api = collections.defaultdict(list)
    for op_id, api_id, exec_, exec_id, replay, node in rows:
        of_api[api_id].append((op_id, int(exec_, 16), replay, node, exec_id))
    launches = [i for i, c in enumerate(calls) if c.api == "hipGraphLaunch"]
    equal("launches", len(launches), 4 * 2 * 7)
    count, made, exec_ids = collections.Counter(), collections.Counter(), {}
    for i in launches:
        c = calls[i]
        if calls[i - 1].api == "hipGraphInstantiate":
            count[c.tid] = 0
            made[c.tid] += 1
        count[c.tid] += 1
        mine = of_api[matched[i].api_id]
        equal(f"operations of {matched[i]}", len(mine), len(c.ops))
        equal(f"executable of {matched[i]}", {m[1] for m in mine}, {c.exec})
        equal(f"replay number of {matched[i]}", {m[2] for m in mine}, {count[c.tid]})
        exec_ids.setdefault((c.tid, made[c.tid]), set()).update(m[4] for m in mine)
        equal(f"nodes of {matched[i]}", sorted(m[3] for m in mine), list(range(1, len(mine) + 1)))
    # each executable has one number of its own, whatever handles come again
    equal("numbers of executables", sorted(n for ids in exec_ids.values() for n in ids), list(range(1, len(exec_ids) + 1)))
    equal("operations of graphs", len(rows), sum(len(calls[i].ops) for i in launches))


@case
def copy_of_pinned_memory_is_marked():
    """rocpd_copyapi.pinned agrees with the arguments of the calls that pin memory."""
    r, _, _, _ = mix("parts=kc2s", "rounds=1", "threads=4")
    spans = []
    for name, begin, end, args in r.rows(
        "select name, begin_ns, end_ns, args from rtl_api where name in ('hipHostMalloc', 'hipHostFree') order by begin_ns"
    ):
        words = dict(a.split("=", 1) for a in args.split(", "))
        if name == "hipHostMalloc":
            spans.append([int(words["*ptr"], 16), int(words["size"]), end, None])
        else:
            [s for s in spans if s[0] == int(words["ptr"], 16) and s[3] is None][0][3] = begin
    equal("allocations", len(spans), 8)
    equal("allocations that were not given back", [s for s in spans if s[3] is None], [])

    def is_pinned(pointer, ns):
        p = int(pointer, 16) if pointer else 0
        return any(addr <= p < addr + size and begin <= ns <= end for addr, size, begin, end in spans)

    rows = r.rows("select api_ptr_id, dst, src, A.start, pinned from rocpd_copyapi join rocpd_api A on A.id = api_ptr_id")
    for api, dst, src, ns, pinned in rows:
        equal(f"pinned of call {api}", pinned, int(is_pinned(dst, ns) or is_pinned(src, ns)))
    count = collections.Counter(row[4] for row in rows)
    at_least("copies of pinned memory", count[1], 40)
    at_least("copies of other memory", count[0], 40)


@case
def operations_have_stream_and_queue():
    r, calls, _, _ = mix("parts=kb", "rounds=1", "threads=2", GPU_MAX_HW_QUEUES=2)
    streams = {c.stream for c in calls if c.ops and c.stream}
    seen = {int(row[0], 16) for row in r.rows("select distinct stream from rtl_stream")}
    equal("streams without a queue", streams - seen, set())
    # hipLaunchByPtr has no stream to tell
    total = len([op for c in calls for op in c.ops if c.api != "hipLaunchByPtr"])
    equal("operations by stream", r.value("select sum(ops) from rtl_stream"), total)


main()
