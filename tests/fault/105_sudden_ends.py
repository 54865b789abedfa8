#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the program knows to have completed is in the trace, however suddenly it dies after that.

RTL_TEST_RUNS sets how often each case runs each ending (2; 50 with RTL_TEST_LONG=1).
"""
import functools
import random

from support import *

RUNS = int(os.environ.get("RTL_TEST_RUNS", "50" if LONG else "2"))
ENDINGS = {"_exit": 3, "quick_exit": 3, "abort": 128 + signal.SIGABRT, "kill": 128 + signal.SIGKILL, "exec": 6, "segv": 3}
WITHOUT_HANDLERS = "complete; the process ended without its exit handlers, with status "
VERDICTS = {
    "_exit": {WITHOUT_HANDLERS + "3"}, "quick_exit": {WITHOUT_HANDLERS + "3"}, "segv": {WITHOUT_HANDLERS + "3"},
    "abort": {"complete; the process was killed by SIGABRT"}, "kill": {"complete; the process was killed by SIGKILL"},
    "exec": {"complete; the process executed another program"},
}  # fmt: skip
WAITS = ("stream", "device", "event", "eventquery", "streamquery", "memcpy", "callback")


def seen(r):
    return max((int(line.split()[1]) for line in r.out.splitlines() if line.startswith("seen ")), default=0)


def verdict(r):
    line = json.loads(r.rtl("info", "--format", "json", r.output).out)["verdict"]
    # mode lite, and HIP 7.2: signals of the runtime
    return re.sub(r"; \d+ left out \(lite_signal \d+\)", "", line)


class Lost:
    """The runs that lost dispatches which the program had seen completed. Folders of the others are removed."""

    def __init__(self):
        self.runs = []

    def check(self, what, r, verdicts):
        if verdict(r) not in verdicts:
            fail(f"verdict after {what}: {verdict(r)!r}")
        lost = missing(r)
        if lost:
            self.runs.append(f"{what}: {lost} of {seen(r)} ({r.dir})")
        else:
            shutil.rmtree(r.dir)

    def none(self):
        equal("runs that lost dispatches which the program had seen completed", self.runs, [])


def missing(r):
    """How many dispatches that the program saw completed the trace lacks; checks that it invents none."""
    have = r.count("rtl_dispatch", "kernel like 'sudden\\_work%' escape '\\' and not flags & 8")
    at_most("completed dispatches in the trace", have, len(r.log("dispatch")))
    intact(r.db())
    return max(0, seen(r) - have)


def endings(hows, wait, *args, pauses=(0,), env=None, rtl_args=("-q",)):
    lost = Lost()
    for how in hows:
        for pause in pauses:
            for _ in range(RUNS):
                r = run("sudden", how, f"wait={wait}", f"pause={pause}", "rounds=2", "idle=40", *args, trace=RTL, rtl_args=rtl_args,
                        env={"VGPU_LOG_SYNC": 1, **(env or {})}, status=ENDINGS[how])
                at_least("dispatches that the program saw completed", seen(r), 1)
                lost.check(f"{how}, {pause} ms", r, VERDICTS[how])
    lost.none()


for wait in WAITS:
    add_case(f"after_{wait}", functools.partial(endings, ("kill", "_exit"), wait, "launches=200"))
for mode in ("lite", "full", "hip"):
    add_case(f"mode_{mode}", functools.partial(endings, ("kill", "abort"), "stream", rtl_args=("-q", "--mode", mode)))
add_case("without_direct_dispatch", functools.partial(endings, ("kill", "_exit"), "stream", env={"AMD_DIRECT_DISPATCH": 0}))
add_case("callbacks_without_direct_dispatch", functools.partial(endings, ("kill", "_exit"), "callback", env={"AMD_DIRECT_DISPATCH": 0}))
add_case("mode_hip_without_direct_dispatch", functools.partial(
    endings, ("kill", "_exit"), "event", env={"AMD_DIRECT_DISPATCH": 0}, rtl_args=("-q", "--mode", "hip")))
add_case("every_ending", functools.partial(endings, ENDINGS, "device", "streams=3", pauses=(0, 2, 20, 100)))


@case
def killed_from_outside():
    rng = random.Random(1)
    lost = Lost()
    for i in range(RUNS * 10):
        p, r = start("sudden", "forever", "launches=20", "streams=2", "idle=15", trace=RTL, env={"VGPU_LOG_SYNC": 1})
        wait_until("the program's first kernels", lambda: b"seen" in open(os.path.join(r.dir, "stdout"), "rb").read())
        time.sleep(rng.uniform(0, 0.1))
        for pid in children_of(p.pid, "sudden"):
            os.kill(pid, signal.SIGKILL)
        finish(p, r, 30)
        ended(r, 128 + signal.SIGKILL)
        lost.check(f"run {i}", r, VERDICTS["kill"])
    lost.none()


@case
def trace_of_program_that_executes_another_is_closed_while_that_runs():
    p, r = start("sudden", "execlong", trace=RTL, env={"VGPU_LOG_SYNC": 1})
    spool = os.path.join(r.dir, "trace.db.spool")
    wait_until("the trace is closed",
               lambda: any("executed" in rtl("info", path, cwd=r.dir).out for path in glob.glob(f"{spool}/*.rtl")))
    for pid in children_of(p.pid, "sleep"):
        os.kill(pid, signal.SIGTERM)
    finish(p, r, 30)
    equal("verdict", verdict(r), "complete; the process executed another program")
    equal("dispatches missing", missing(r), 0)


EXECS = ("execv", "execvp", "execve", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat", "threads")


@case
def every_exec_is_distinguished_from_an_exit():
    """200 processes execute a program that ends before rtl can look at it; each process has a trace of its own."""
    hows = {how: (6, "executed") for how in EXECS} | {"fails": (3, "unknown"), "child": (3, "unknown")}
    script = "".join(
        f'i=0; while [ $i -lt 20 ]; do "$0" {how}; test $? = {status} || echo {how}; i=$((i+1)); done; ' for how, (status, _) in hows.items())
    r = run("/bin/sh", "-c", script, program("executes"), trace=RTL)
    equal("endings with another status", r.out, "")
    rows = r.rows("select command, state from rtl_process")
    for how, (_, state) in hows.items():
        equal(f"states of the 20 processes that end by {how}", [row[1] for row in rows if row[0].endswith(f" {how}")], [state] * 20)


def other_namespaces(option):
    r = run("/usr/bin/unshare", option, program("lifecycle"), "steady", "seconds=2", "period_us=500", trace=RTL, status=None)
    if r.status and "unshare failed" in r.err:
        skip(f"unshare {option}: {r.err.strip()}")
    ended(r, 0)
    exact_dispatches(r)
    complete(r)


# rtl must not take such a process for one that has executed another program
add_case("program_in_mount_namespace_is_traced_to_its_end", functools.partial(other_namespaces, "-m"))
add_case("program_in_pid_namespace_is_traced_to_its_end", functools.partial(other_namespaces, "-pf"))

main()
