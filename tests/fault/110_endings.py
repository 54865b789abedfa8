#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that end, fork, exec and die in every way: they end as untraced, and the trace has their operations."""
import functools

from support.endings import *


def same_output(traced, plain):
    equal("stdout", traced.out, plain.out)
    equal("stderr", without_child(traced.err), without_child(plain.err))


def ending(how, trace):
    status = ENDINGS[how][0]
    env = {"VGPU_LOG_SYNC": 1, "VGPU_KERNEL_NS": 20000}
    plain = run_ending(how, status, env=env)
    shell = 128 - status if status < 0 and trace == RTL else status
    r = run_ending(how, shell, trace, env)
    same_output(r, plain)
    if trace == TOOLS and how in ABRUPT and not os.path.exists(r.output):
        spools = glob.glob(os.path.join(r.dir, "*.spool"))
        equal("spool folders", len(spools), 1)
        ended(rtl("recover", spools[0], "-o", r.output, cwd=r.dir), 0)
    work = r.count("rtl_dispatch", "kernel like 'ending\\_work%' escape '\\' and not flags & 8")
    logged = len(r.log("dispatch"))
    rows = r.count("rtl_dispatch", "not flags & 8")
    if how not in ABRUPT:
        equal("completed dispatches in the trace", rows, logged)
    at_least("dispatches that completed long before the end", work, 50)
    seen = {row_key(row) for row in r.rows(f"{DISPATCH_SQL} where not flags & 8")}
    newest = max((l["end"] for l in r.log("dispatch")), default=0)
    unknown = [k for k in seen if k not in {dispatch_key(l) for l in r.log("dispatch")} and k[1] < newest]
    equal("dispatches that never were", unknown, [])
    if how not in ABRUPT:
        exact_dispatches(r, where="not flags & 8")
    intact(r.db())


for how in ENDINGS:
    add_case(f"{how.strip('_') if how != '_exit' else 'underscore_exit'}", functools.partial(ending, how, RTL))
for how in ("return", "_exit", "abort", "thread_exit", "fork", "fork_exec", "atexit", "detached", "pthread_exit"):
    add_case(f"{how.strip('_') if how != '_exit' else 'underscore_exit'}_tools", functools.partial(ending, how, TOOLS))


def lifecycle(*args, status=0, **kwargs):
    env = kwargs.pop("env", {})
    plain = run("lifecycle", *args, env=env, status=status)
    r = run("lifecycle", *args, trace=RTL, env=env, status=status, timeout=60, **kwargs)
    equal("stdout", r.out, plain.out)
    equal("stderr", without_pool(r.err), without_pool(plain.err))
    return r


def without_pool(err):
    """Debian's ROCr counts the signals that it leaks itself at shut-down: an intercepted queue that the
    program left to it has two more of the runtime's own (its doorbell), whatever tool intercepts."""
    return [line for line in err.splitlines() if "SharedSignalPool" not in line]


@case
def storm_of_queues_ends_as_untraced():
    r = lifecycle("storm", "rounds=60", "threads=8")
    exact_dispatches(r)
    complete(r)


@case
def storm_of_queues_on_two_gpus_ends_as_untraced():
    r = run("lifecycle", "storm", "rounds=40", "threads=4", trace=RTL, gpus=2)
    exact_dispatches(r)
    complete(r)


@case
def hsa_restart_is_traced():
    r = lifecycle("again", "rounds=5")
    log = r.log("dispatch")
    rows = r.count("rtl_dispatch")
    if r.losses().get("unfinished", 0) == 0:
        equal("dispatches", rows, len(log))
    at_least("dispatches of the program", r.count("rtl_dispatch", "kernel like 'flood%' and not flags & 32"), 50)


@case
def dying_threads_keep_their_dispatches():
    r = lifecycle("threads", "rounds=50")
    exact_dispatches(r)
    complete(r)
    equal("dispatches", r.count("rtl_dispatch", "not flags & 32"), 600)


@case
def return_without_shut_down_is_traced():
    r = lifecycle("noshutdown")
    at_least("dispatches", r.count("rtl_dispatch", "not flags & 32 and not flags & 8"), 100)


def hang(trace):
    env = {"VGPU_HANG": "queue=1,n=6", "RTL_DRAIN_MS": 1000, "VGPU_LOG_SYNC": 1}
    plain = run("lifecycle", "hang", env=env, status=7, timeout=30)
    r = run("lifecycle", "hang", trace=trace, env=env, status=7, timeout=30)
    equal("stdout", r.out, plain.out)
    at_most("seconds it took (untraced, and the drain deadline of 1 s)", r.seconds, plain.seconds + 1 + 2)
    rows = r.rows("select flags, end_ns, end_ticks from rtl_dispatch where flags & 8")
    equal("dispatches that are marked unfinished", len(rows), 1)
    equal("end of the unfinished one", rows[0][1:], (0, 0))
    equal("count of 'unfinished'", r.losses().get("unfinished"), 1)
    equal("finished dispatches of the program", r.count("rtl_dispatch", "not flags & 40"), 5)
    equal("dispatches in the log", r.count("rtl_dispatch", "not flags & 8"), len(r.log("dispatch")))
    contains("rtl info", r.info(), "unfinished")


@case
def hung_kernel():
    hang(RTL)


@case
def hung_kernel_tools():
    hang(TOOLS)


@case
def interrupted_hung_kernel_is_unfinished():
    """Ctrl-C on a program that waits for a hung kernel."""
    p, r = start("launcher", "launches=50", trace=RTL,
                 env={"VGPU_HANG": "n=30", "RTL_DRAIN_MS": 500, "VGPU_LOG_SYNC": 1})

    def recorded():
        out = r.rtl("info", "--format", "json", r.output + ".spool")
        counts = json.loads(out.out)["counts"] if out.status == 0 else {}
        return sum(counts.get(key, 0) for key in ("dispatches", "internal_dispatches"))

    # a signal before the program opens the GPU leaves nothing to trace; one within 10 ms of a completion may precede the harvester
    wait_until("the hung kernel", lambda: len([l for l in read_logs(r.dir) if l["kind"] == "dispatch"]) >= 29)
    wait_until("the record of those before it", lambda: recorded() >= 29)
    os.kill(p.pid, signal.SIGINT)
    finish(p, r, 20)
    ended(r, 128 + signal.SIGINT)
    equal("dispatches in the log", r.count("rtl_dispatch", "not flags & 8"), len(r.log("dispatch")))


def gpu_error(knob, value):
    env = {knob: value, "VGPU_LOG_SYNC": 1}
    plain = run("launcher", "launches=200", env=env, status=None, timeout=30)
    r = run("launcher", "launches=200", trace=RTL, env=env, status=None, timeout=30)
    equal("exit status", r.status, 128 - plain.status if plain.status < 0 else plain.status)
    at_least("dispatches before the error", r.count("rtl_dispatch"), 10)


@case
def queue_error():
    gpu_error("VGPU_QUEUE_ERROR", "n=100")


@case
def memory_fault():
    gpu_error("VGPU_MEMORY_FAULT", "n=100")


@case
def occupied_descriptors_are_left_alone():
    plain = run("lifecycle", "files")
    r = run("lifecycle", "files", trace=RTL, timeout=60)
    equal("stdout", r.out, plain.out)
    equal("stderr", r.err, plain.err)
    exact_dispatches(r)


@case
def occupied_descriptors_are_left_alone_tools():
    plain = run("lifecycle", "files")
    r = run("lifecycle", "files", trace=TOOLS, timeout=60)
    equal("stdout", r.out, plain.out)
    exact_dispatches(r)


@case
def hip_through_dlopen_is_traced():
    r = run("dlopen_hip", trace=RTL)
    equal("stdout", r.out, "dlopen: 1 devices, right\n" * 2)
    at_least("copies", r.count("rtl_copy"), 10)


@case
def lost_interrupts_lose_no_dispatch():
    r = run("launcher", "launches=500", "sync=50", trace=RTL, env={"VGPU_LOST_EVENT": "n=3,count=2"}, timeout=60)
    exact_dispatches(r, LAUNCHER_KERNELS)


@case
def kill_before_first_byte_keeps_status():
    """The spool of the process exists and is empty; rtl trace returns the program's status."""
    script = ': >"$RTL_SESSION/1-0.rtl"; kill -9 $$'
    r = run("/bin/sh", "-c", script, trace=RTL, status=137)
    equal("what rtl says", r.err, "")
    equal("a database is there", os.path.exists(r.output), False)
    equal("spool folders", glob.glob(os.path.join(r.dir, "*.spool")), [])


main()
