#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SIGKILL at a random moment, many times: the trace opens and holds what had completed 250 ms before.

The truth is the virtual GPU's log, written line by line (VGPU_LOG_SYNC=1). When an operation has completed is when
the engine completes it (done_ns): on a busy machine that is up to hundreds of ms after the kernel's own end, and nobody can see it
sooner. RTL_TEST_KILLS sets how many kills each case makes; RTL_TEST_SEED repeats a run.
"""
import concurrent.futures
import functools
import random

from support import *

KILLS = int(os.environ.get("RTL_TEST_KILLS", "1000" if LONG else "60"))
SEED = int(os.environ.get("RTL_TEST_SEED", str(int(time.time()))))
GRACE_NS = 250000000


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def said_ready(r):
    with open(os.path.join(r.dir, "stdout"), "rb") as f:
        return b"ready" in f.read()


def one_kill(trace, env, seconds, late):
    """Kills the program `seconds` after it was ready (late) or started; returns how many dispatches the trace must hold."""
    p, r = start(
        "lifecycle", "steady", "seconds=20", "period_us=150",
        trace=trace, env={"VGPU_LOG_SYNC": 1, "VGPU_KERNEL_NS": 20000, **env})
    if late:
        wait_until("the program", lambda: said_ready(r))
    time.sleep(seconds)
    pid = p.pid
    if trace == RTL:  # on a busy machine rtl has no child yet
        pid = wait_until("a child of rtl", lambda: children_of(p.pid, "lifecycle") or children_of(p.pid, "rtl"))[0]
    killed = boot_ns()
    os.kill(pid, signal.SIGKILL)
    finish(p, r, 30)
    ended(r, 137 if trace == RTL else -signal.SIGKILL)
    if trace == TOOLS:
        recover(r)
    required = check(r, killed)
    shutil.rmtree(r.dir)
    return required


def recover(r):
    # a kill at the start may precede the folder or the file in it
    spools = [s for s in glob.glob(os.path.join(r.dir, "*.spool")) if glob.glob(os.path.join(s, "*.rtl"))]
    if not spools:
        return
    out = rtl("recover", spools[0], "-o", r.output, cwd=r.dir)
    if out.status != 0:
        fail(f"rtl recover {spools[0]}: status {out.status}\n    stderr {out.err[-2000:]!r}\n    {os.listdir(spools[0])}")


def check(r, killed):
    log = r.log("dispatch")
    clocks = clocks_of(r.log())
    must, may = collections.Counter(), set()
    for d in log:
        if d["done_ns"] <= killed - GRACE_NS:
            must[dispatch_key(d)] += 1
        may.add(dispatch_key(d))
    if not os.path.exists(r.output):
        equal("dispatches that had to be kept, but no database is there", sum(must.values()), 0)
        return 0
    have = collections.Counter(row_key(row) for row in r.rows(f"{DISPATCH_SQL} where not flags & 8"))
    missing = must - have
    if missing:
        ends = [(d["done_ns"], to_ns(clocks[d["pid"], d["gpu"]], d["end"]), dispatch_key(d) in missing) for d in log]
        last, newest = max(end for end in ends if end[2]), max(ends)[0]
        fail(
            f"dispatches that completed 250 ms before the kill: {sum(must.values())}, of which {sum(missing.values())} "
            f"are not in the trace ({sum(have.values())} are); the last of them completed {(killed - last[0]) / 1e6:.1f} ms "
            f"before the kill (its end is {(killed - last[1]) / 1e6:.1f} ms before); in all {len(log)}, the newest "
            f"{(killed - newest) / 1e6:.1f} ms before\n    losses {r.losses()}")
    # the log's last lines may be missing, earlier ones not
    newest = max((d["end"] for d in log), default=0)
    invented = [key for key in have if key not in may and key[1] < newest]
    equal("dispatches that never were", invented, [])
    intact(r.db())
    return sum(must.values())


def kills(trace, env, late, span):
    rng = random.Random(f"{SEED} {trace} {late} {sorted(env.items())}")
    delays = [rng.uniform(0, span) for _ in range(KILLS)]
    print(f"    {KILLS} kills, RTL_TEST_SEED={SEED}")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(one_kill, trace, env, delay, late) for delay in delays]
        failed, required = [], 0
        for i, job in enumerate(jobs):
            try:
                required += job.result()
            except Failed as e:
                failed.append(f"kill {i} after {delays[i] * 1000:.0f} ms: {e}")
    if failed:
        fail(f"{len(failed)} of {KILLS} kills:\n  " + "\n  ".join(failed[:4]))
    if late:
        at_least("dispatches that had to be there, over all kills", required, KILLS * 50)


for name, args in {
    "kill_under_rtl_trace_keeps_completed": (RTL, {}, True, 0.7),
    "kill_with_tools_lib_keeps_completed": (TOOLS, {}, True, 0.7),
}.items():
    add_case(name, functools.partial(kills, *args))

KILLS_FEW = max(10, KILLS // 5)


def few(*args):
    global KILLS
    all_of_them, KILLS = KILLS, KILLS_FEW
    try:
        kills(*args)
    finally:
        KILLS = all_of_them


add_case("kill_at_start_leaves_readable_trace", functools.partial(few, RTL, {}, False, 0.5))
add_case("kill_at_start_with_tools_lib_leaves_readable_trace", functools.partial(few, TOOLS, {}, False, 0.5))
add_case("kill_without_memory_file_system_keeps_completed", functools.partial(few, RTL, {"RTL_MEM_DIR": "none"}, True, 0.6))
add_case("kill_with_small_buffer_keeps_completed", functools.partial(few, TOOLS, {"RTL_BUFFER_MB": "1"}, True, 0.6))


@case
def killed_rtl_leaves_recoverable_trace():
    """The program continues; rtl recover makes the database."""
    p, r = start("lifecycle", "steady", "seconds=1", "period_us=150", trace=RTL, env={"VGPU_LOG_SYNC": 1})
    wait_until("the program", lambda: said_ready(r))
    time.sleep(0.3)
    child, = children_of(p.pid, "lifecycle")
    os.kill(p.pid, signal.SIGKILL)
    p.wait()
    wait_until("the program ends by itself", lambda: not os.path.exists(f"/proc/{child}"), 30)
    read_output(r)
    contains("stdout", r.out, "steady: done")
    recover(r)
    exact_dispatches(r)


@case
def info_reports_kill():
    p, r = start("lifecycle", "steady", "seconds=20", trace=RTL)
    wait_until("the program", lambda: said_ready(r))
    time.sleep(0.3)
    child, = children_of(p.pid, "lifecycle")
    os.kill(child, signal.SIGKILL)
    finish(p, r, 30)
    contains("rtl info", r.info().lower(), "kill")


@case
def recovered_trace_leaves_no_shared_memory():
    """A killed and recovered trace leaves no file in /dev/shm."""
    before = set(os.listdir("/dev/shm"))
    p, r = start("lifecycle", "steady", "seconds=20", trace=TOOLS)
    wait_until("the program", lambda: said_ready(r))
    os.kill(p.pid, signal.SIGKILL)
    finish(p, r, 30)
    recover(r)
    time.sleep(0.1)
    mine = [n for n in set(os.listdir("/dev/shm")) - before if str(p.pid) in n]
    equal("files in /dev/shm", mine, [])


main()
