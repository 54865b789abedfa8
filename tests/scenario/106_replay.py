#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl trace --passes=replay: each dispatch has the counters of all passes, and the program's results are its own"""
from support import *

# twelve events of a block with eight counters: two passes on gfx900
NAMES = ("SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR", "SQ_INSTS_FLAT", "SQ_INSTS_LDS",
         "SQ_INSTS_GDS", "SQ_WAIT_INST_LDS", "SQ_ACTIVE_INST_VALU", "SQ_THREAD_CYCLES_VALU")
# of these the virtual GPU logs what each dispatch did
LOGGED = {"SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR", "SQ_INSTS_FLAT", "SQ_INSTS_LDS"}


def replay(*args, names=NAMES, rtl_args=(), name="again", gpus=1, **env):
    return run(name, *args, trace=RTL, gpus=gpus, rtl_args=("--pmc", ",".join(names), "--passes=replay", *rtl_args),
               env={"VGPU_EXEC": "auto", "VGPU_COUNTERS": 1, **env})


def counters(r):
    out = collections.defaultdict(list)
    for op, name, value in r.db().execute("select op_id, counter, value from rtl_counter"):
        out[op].append((name, value))
    return out


def losses(r, names=NAMES):
    """But for counters that a kernel never had: their number is that of the pairs of kernel and name without a value."""
    of_kernels = "from rtl_loss_data where text like 'counters missing for a kernel%'"
    counted = collections.defaultdict(set)
    for process, kernel, agent, name in r.db().execute("select distinct D.op_id >> 32, D.kernel, D.agent, C.counter from rtl_counter C join rtl_dispatch D on D.op_id = C.op_id"):
        counted[process, kernel, agent].add(name)
    equal("counters that a kernel never had", r.db().execute(f"select coalesce(sum(count), 0) {of_kernels}").fetchone()[0],
          sum(len(set(names) - have) for have in counted.values()))
    return dict(r.db().execute(f"select reason, sum(count) from rtl_loss_data where id not in (select id {of_kernels}) group by reason"))


def check(r, nr_kernels, names=NAMES):
    """Returns the operations with all counters."""
    contains("output", r.out, " 0 wrong")
    equal("launches", int(re.search(r"(\d+) launches", r.out)[1]), nr_kernels)
    equal("dispatches of the program", r.db().execute("select count(*) from rtl_dispatch where kernel glob 'again_*' or kernel glob 'managed_*'").fetchone()[0], nr_kernels)
    logged = {(d["begin"], d["end"]): d["counters"] for d in r.log("dispatch")}
    at = {op: times for op, *times in r.db().execute("select op_id, begin_ticks, end_ticks from rtl_dispatch")}
    whole = []
    for op, have in counters(r).items():
        equal(f"counters of operation {op}, each once", len(have), len(dict(have)))
        log = logged[tuple(at[op])]
        for name in LOGGED & dict(have).keys():
            equal(f"{name} of operation {op}", dict(have)[name], log[name])
        if len(have) == len(names):
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
def dispatches_of_two_gpus_have_the_counters_of_three_passes():
    """Two streams, each on a GPU of its own, whose kernels are replayed at the same time. 20 events: names of the user's for more of SQ's."""
    path = os.path.join(work_dir(), "more.xml")
    extra = [f"MORE_{n}" for n in range(8)]
    with open(path, "w", encoding="utf-8") as f:
        f.write("<gfx900>" + "".join(f"<metric name={name} block=SQ event={n + 40}></metric>" for n, name in enumerate(extra)) + "</gfx900>")
    names = (*NAMES, *extra)
    r = replay("rounds=1", "streams=2", "gpus=2", "parts=isgdca", "size=512", names=names, gpus=2, rtl_args=(f"--metrics-file={path}",))
    contains("stderr", r.err, "3 passes for these counters: each dispatch runs 3 times")
    whole = check(r, 2 * 5, names)
    equal("dispatches with all counters", len(whole), r.count("rtl_op_kernel"))
    equal("losses", losses(r, names), {})
    equal("GPUs", r.db().execute("select count(distinct agent) from rtl_dispatch where kernel like 'again_%'").fetchone()[0], 2)
    complete(r)


@case
def memory_that_others_use_as_well_is_not_replayed_and_right():
    """Memory that another process opens, there and here, but not what it did not open; managed memory and variables."""
    for name, args, nr, lost, why in (("again", ("parts=x", "rounds=0", "streams=0", "size=512"), 4, 2, "another process or device has access to"),
                                      ("managed", ("rounds=2", "size=256"), 6, 6, "memory of the host")):
        r = replay(*args, name=name)
        whole = check(r, nr)
        equal("counted in one pass", losses(r), {"replay_shared": lost})
        equal("the others in all", len(whole), r.count("rtl_op_kernel") - lost)
        contains("stderr", r.err, why)


def counted_beside(others):
    """The trace and a client of rocprofiler-sdk, which counts `others`."""
    library = built("libsdk_counter_tool_1.so", HIP_HEADERS)
    r = replay("rounds=1", "streams=1", "size=256", "parts=isgd", LD_PRELOAD=library, COUNT_NAMES=",".join(others))
    whole = check(r, 4)
    equal("losses", losses(r), {})
    equal("dispatches with all counters", len(whole), r.count("rtl_op_kernel"))
    lines = [dict(zip(w[::2], w[1::2])) for w in (line.split() for line in re.findall(r"counted \d+ queue .*", r.out))]
    logs = collections.Counter(tuple(d["counters"][n] for n in others) for d in r.log("dispatch"))
    equal("not in the log", collections.Counter(tuple(int(c[n]) for n in others) for c in lines) - logs, collections.Counter())
    nr_asked, nr_shown = map(int, re.search(r"tool: asked (\d+) shown (\d+)", r.out).groups())
    equal("the client has each that it asked for", (nr_shown, nr_shown), (nr_asked, len(lines)))
    # the runtime's own kernels, too
    at_least("the client's dispatches", nr_asked, 4)


@case
def client_that_counts_beside_replays_has_its_counters_and_each_pass_too():
    """Events that fit beside those of the last pass, and eight of the same block, which do not."""
    counted_beside(("SQ_WAVES", "SQ_INSTS_SALU"))
    counted_beside(("SQ_INSTS_LDS", "SQ_INSTS_FLAT", "SQ_INSTS_VMEM_WR", "SQ_INSTS_VMEM_RD", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VALU", "SQ_WAVES"))


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
