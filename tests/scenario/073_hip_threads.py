#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""AMD_DIRECT_DISPATCH=0: HIP submits from threads of its own; nothing is joined to a call by guess."""
import functools

from hipcalls import *

QUEUE_THREADS = {"AMD_DIRECT_DISPATCH": "0"}


def own_threads(*args, **env):
    r = run_account("hipmix", *args, trace=RTL, env={**QUEUE_THREADS, **env})
    calls = read_account(r)
    exact_program_dispatches(r)
    matched = same_calls(r, calls)
    ops = trace_ops(r)
    cause, _ = callers(calls, ops)
    joined = joined_apis(r)
    apis = {a.api_id: a for a in matched.values()}
    wrong, right = [], 0
    for op in ops:
        mine = [apis[api] for api in joined[op.op_id] if api in apis]
        if mine and mine != [matched[cause[op.op_id]]]:
            wrong.append((op, mine, calls[cause[op.op_id]]))
        right += mine == [matched[cause[op.op_id]]]
    equal("operations that are joined to a call that did not cause them", wrong[:3], [])
    print(f"    {right} of {len(ops)} operations are joined to their call")
    return r


add_case("all_kinds_of_work", functools.partial(own_threads, "rounds=1"))
add_case("threads_share_queues", functools.partial(own_threads, "parts=kcfb", "rounds=1", GPU_MAX_HW_QUEUES=2))


@case
def the_program_can_not_tell():
    args = ("rounds=1",)
    plain = run_account("hipmix", *args, env=QUEUE_THREADS)
    traced = run_account("hipmix", *args, trace=RTL, env=QUEUE_THREADS)
    equal("stdout", traced.out, plain.out)
    equal("stderr", traced.err, plain.err)


main()
