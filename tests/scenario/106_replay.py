#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl trace --passes=replay: each dispatch has the counters of all passes, and the program's results are its own"""
from support import *

# twelve events of a block with eight counters: two passes on gfx900
NAMES = ("SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR", "SQ_INSTS_FLAT", "SQ_INSTS_LDS",
         "SQ_INSTS_GDS", "SQ_WAIT_INST_LDS", "SQ_ACTIVE_INST_VALU", "SQ_THREAD_CYCLES_VALU")
# of these the virtual GPU logs what each dispatch did
LOGGED = NAMES[:4]


def replay(*args, names=NAMES, rtl_args=(), **env):
    return run("again", *args, trace=RTL, rtl_args=("--pmc", ",".join(names), "--passes=replay", *rtl_args),
               env={"VGPU_EXEC": "auto", "VGPU_COUNTERS": 1, **env})


def counters(r):
    out = collections.defaultdict(list)
    for op, name, value in r.db().execute("select op_id, counter, value from rtl_counter"):
        out[op].append((name, value))
    return out


def losses(r):
    return dict(r.db().execute("select reason, count from rtl_loss"))


def check(r, nr_kernels):
    """Returns the operations with all counters."""
    contains("output", r.out, " 0 wrong")
    equal("launches", int(re.search(r"(\d+) launches", r.out)[1]), nr_kernels)
    equal("dispatches of the program", r.db().execute("select count(*) from rtl_dispatch where kernel like 'again_%'").fetchone()[0], nr_kernels)
    logged = {(d["begin"], d["end"]): d["counters"] for d in r.log("dispatch")}
    at = {op: times for op, *times in r.db().execute("select op_id, begin_ticks, end_ticks from rtl_dispatch")}
    whole = []
    for op, have in counters(r).items():
        equal(f"counters of operation {op}, each once", len(have), len(dict(have)))
        log = logged[tuple(at[op])]
        for name in LOGGED:
            if name in dict(have):
                equal(f"{name} of operation {op}", dict(have)[name], log[name])
        if len(have) == len(NAMES):
            whole.append(op)
    return whole


@case
def dispatches_have_all_counters_and_results_are_right():
    """Increments of a buffer, atomics, variables of a module, reductions, copies to and from the streams, memory that comes and goes."""
    r = replay("rounds=2", "streams=2", "size=512")
    contains("stderr", r.err, "2 passes for these counters: each dispatch runs 2 times")
    whole = check(r, 2 * 2 * (3 + 9 + 2))
    equal("dispatches with all counters", len(whole), r.count("rtl_op_kernel"))
    equal("losses", losses(r), {})
    complete(r)
    intact(r.db())
    # the virtual GPU ran each of them twice
    ran = sum("counters" in d for d in r.log("dispatch"))
    at_least("dispatches that ran", ran, 2 * len(whole))


@case
def dispatch_that_cannot_be_run_again_is_counted_in_one_pass_and_said():
    """Memory of the host; more memory than the limit."""
    for args, env, reason, nr, why in ((("parts=isgh", "rounds=1"), {}, "replay_shared", 1, "again_increment, is counted in one pass: its kernel may write to memory of the host"),
                                       (("parts=is", "rounds=1", "big=8"), {"RTL_PMC_REPLAY_MB": 4}, "replay_memory", 4, "more memory in use than RTL_PMC_REPLAY_MB")):
        r = replay(*args, **env)
        kernels = int(re.search(r"(\d+) launches", r.out)[1])
        whole = check(r, kernels)
        lost = losses(r)
        equal("reasons", list(lost), [reason])
        at_least(reason, lost[reason], nr)
        equal("dispatches with all counters", len(whole), r.count("rtl_op_kernel") - lost[reason])
        equal("dispatches with counters", len(counters(r)), r.count("rtl_op_kernel"))
        contains("stderr", r.err, why)
        contains("stderr", r.err, f"loss: {lost[reason]} {reason}")


@case
def kernels_that_wait_for_each_other_end_and_counting_with_them():
    r = replay("parts=w", "rounds=0", RTL_PMC_WAIT_MS=300)
    contains("output", r.out, "2 launches, 0 wrong")
    contains("stderr", r.err, "ran for longer than RTL_PMC_WAIT_MS")
    equal("dispatches", r.db().execute("select count(*) from rtl_dispatch where kernel like 'again_wait%'").fetchone()[0], 2)
    at_least("not counted", losses(r).get("not_counted", 0), 2)


main()
