#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is not in the trace is counted in it, by reason; rtl info reports it; --fail-on-loss fails.

Here are the reasons that a program, a GPU or a disk can bring about. Those that only a newer runtime, a
failed allocation or an interrupted drain can are in tests/unit.
"""
import functools

from support import *


def counted(r, reason, count=None, verdict=None):
    """rtl_loss and rtl info have the reason with the same number."""
    losses = r.losses()
    if reason not in losses:
        fail(f"losses:\n    seen     {losses}\n    expected {reason}")
    if count is not None:
        equal(f"count of {reason}", losses[reason], count)
    info = r.info()
    contains("rtl info", info, reason)
    digits = info.replace(",", "").replace("\u202f", "").replace("_", "")
    contains("rtl info", digits, str(losses[reason]))
    text = info.lower()
    if verdict == "incomplete":
        contains("rtl info's verdict", text, "incomplete")
    elif verdict == "complete":
        lacks("rtl info's verdict", text, "incomplete")
        contains("rtl info's verdict", text, "complete")
    return losses[reason]


def check_fail_on_loss(name, args, status, **kwargs):
    rtl_args = (*kwargs.pop("rtl_args", ()), "-q", "--fail-on-loss")
    run(name, *args, trace=RTL, rtl_args=rtl_args, status=status, **kwargs)


@case
def complete_trace_is_reported_complete():
    r = run("launcher", "launches=500", "copies=1", trace=RTL)
    equal("losses", r.losses(), {})
    text = r.info().lower()
    contains("rtl info", text, "complete")
    lacks("rtl info", text, "incomplete")
    check_fail_on_loss("launcher", ["launches=100"], 0)


@case
def lite_signal():
    args = ["threads=2", "count=2000", "kinds=dss"]
    plain = run("flood", *args)
    r = run("flood", *args, trace=RTL, rtl_args=("-q", "-m", "lite"))
    equal("stdout", r.out, plain.out)
    at_least("count", counted(r, "lite_signal", verdict="complete"), 2 * 1333)
    equal("dispatches in the trace", r.count("rtl_dispatch", "not flags & 32"), 2 * 667)
    # left out by option: not a loss
    check_fail_on_loss("flood", args, 0, rtl_args=("-m", "lite"))


@case
def no_timestamps():
    env = {"VGPU_NO_TIMESTAMPS": "queue=1,n=10,count=5"}
    r = run("flood", "count=100", "size=128", trace=RTL, env=env)
    counted(r, "no_timestamps", 5, "incomplete")
    equal("rows without times", r.count("rtl_dispatch", "flags & 4"), 5)
    equal("rows", r.count("rtl_dispatch"), len(r.log("dispatch")))
    check_fail_on_loss("flood", ["count=100", "size=128"], 123, env=env)


@case
def inverted_times():
    env = {"VGPU_SWAP_TIMESTAMPS": "queue=1,n=10,count=5"}
    r = run("flood", "count=100", "size=128", trace=RTL, env=env)
    counted(r, "inverted", 5, "complete")
    rows = r.rows("select begin_ticks, end_ticks, begin_ns, end_ns from rtl_dispatch where flags & 2")
    equal("rows that are flagged", len(rows), 5)
    for row in rows:
        if not (row[0] > row[1] and row[2] > row[3]):
            fail(f"stored as it came: begin {row[0]}, end {row[1]}, ns {row[2]}, {row[3]}")
    exact_dispatches(r) if not any(l.get("fault") for l in r.log()) else None


@case
def queue_bypassed():
    """A program that writes the hardware's doorbell: all its packets run, and those that librtl does not see are counted."""
    env = {"VGPU_DOORBELL": "alone", "VGPU_KERNEL_NS": 5000}
    for before, after in ((0, 0), (50, 20)):
        args = [f"before={before}", "count=300", f"after={after}"]
        plain = run("directbell", *args, env=env)
        r = run("directbell", *args, trace=RTL, env=env)
        equal("stdout", r.out, plain.out)
        logged = r.log("dispatch")
        equal("dispatches that ran", len(logged), len(plain.log("dispatch")))
        at_least("of the program", sum(l["group"] == [64, 1, 1] for l in logged), before + 300 + after)
        counted(r, "queue_bypassed", 300 + after, "incomplete")
        equal("rows", r.count("rtl_dispatch"), len(logged) - 300 - after)
        check_fail_on_loss("directbell", args, 123, env=env)


@case
def packets_that_no_doorbell_announced():
    """A packet processor that follows the write index never reaches packets announced past librtl: after a timeout librtl
    submits them."""
    args = ["count=300", "after=20"]
    plain = run("directbell", *args)
    r = run("directbell", *args, trace=RTL)
    equal("stdout", r.out, plain.out)
    equal("dispatches that ran", len(r.log("dispatch")), len(plain.log("dispatch")))
    exact_dispatches(r)


@case
def queue_bypassed_with_followed_index():
    """The fourth time librtl stops holding back such a queue."""
    args = ["count=1", "parts=10", "after=20"]
    plain = run("directbell", *args)
    r = run("directbell", *args, trace=RTL)
    equal("stdout", r.out, plain.out)
    logged = r.log("dispatch")
    equal("dispatches that ran", len(logged), len(plain.log("dispatch")))
    counted(r, "queue_bypassed", 27, "incomplete")
    equal("rows", r.count("rtl_dispatch"), len(logged) - 27)


@case
def queue_unseen():
    """Queues that are created past librtl: it sees their packets reserved, and counts them as missing."""
    env = {"RTL_STRICT": 0, "HSA_TOOLS_LIB": f"{os.path.join(BUILD, 'tests', 'libsidequeue.so')} {LIBRTL}"}
    args = ["count=2000", "queues=3"]
    plain = run("flood", *args)
    r = run("flood", *args, trace=TOOLS, env=env)
    equal("stdout", r.out, plain.out)
    counted(r, "queue_unseen", 3, "incomplete")
    equal("rows, of the runtime alone", r.count("rtl_dispatch"), len(r.log("dispatch")) - 2000)


@case
def signal_create():
    """The runtime has no more signals for librtl: packets pass untimed, and are counted."""
    env = {"VGPU_KERNEL_NS": 50000, "NOSIGNALS_AFTER": 100, "RTL_STRICT": 0}
    env["HSA_TOOLS_LIB"] = f"{os.path.join(BUILD, 'tests', 'libnosignals.so')} {LIBRTL}"
    args = ["count=2000", "size=1024"]
    plain = run("flood", *args, env={"VGPU_KERNEL_NS": 50000})
    r = run("flood", *args, trace=TOOLS, env=env)
    equal("stdout", r.out, plain.out)
    rows, logged = r.count("rtl_dispatch"), len(r.log("dispatch"))
    equal("rows and what is counted", rows + counted(r, "signal_create", None, "incomplete"), logged)
    at_least("rows", rows, 100)


@case
def buffer_full():
    """The drainer is stopped and the buffers are small: losses are counted, and the program is not delayed."""
    p, r = start("launcher", "launches=400000", "threads=4", trace=RTL,
                 env={"RTL_STRICT": 0, "RTL_BUFFER_MB": 1, "VGPU_KERNEL_NS": 100})
    time.sleep(0.1)
    child = wait_until("a child of rtl", lambda: children_of(p.pid))[0]
    os.kill(p.pid, signal.SIGSTOP)
    deadline = time.monotonic() + 60
    while state(child) not in ("Z", None) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(p.pid, signal.SIGCONT)
    finish(p, r, 60)
    ended(r, 0)
    contains("stdout", r.out, "launcher: 400000 launches")
    rows, logged, losses = r.count("rtl_dispatch"), len(r.log("dispatch")), r.losses()
    if rows == logged and not losses:
        skip("the harvester drained instead of rtl: nothing was lost")
    counted(r, "buffer_full", None, "incomplete")
    equal(f"rows and what is counted ({losses})", rows + losses["buffer_full"] >= logged, True)


def state(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[0]
    except OSError:
        return None


@case
def signal_reused():
    """A signal that its owner reuses at once: the dispatch is recorded, with times or counted."""
    r = run("signals", "case=reuse", "kernel_ns=20000", "rounds=300", trace=RTL,
            env={"VGPU_KERNEL_NS": 20000, "RTL_TEST_STALL": "harvest:100"})
    equal("stdout", r.out, "reuse: ok\n")
    rows = r.count("rtl_dispatch", "not flags & 32")
    equal("dispatches", rows, 300)
    untimed = r.count("rtl_dispatch", "flags & 4")
    equal("rows without times are counted", r.losses().get("signal_reused", 0) + r.losses().get("no_timestamps", 0),
          untimed)
    if untimed:
        counted(r, "signal_reused", None, "incomplete")


@case
def shared_signals_of_kernels():
    r = run("signals", "case=counting", "kernel_ns=20000", trace=RTL, env={"VGPU_KERNEL_NS": 20000})
    equal("stdout", r.out, "counting: ok\n")
    exact_dispatches(r)
    counted_or_timed(r, "shared_signal")


def counted_or_timed(r, reason):
    """Dispatches whose signal was shared: timed, and noted where that took a barrier packet."""
    flagged = r.count("rtl_dispatch", "flags & 64")
    equal(f"count of {reason} and flagged rows", r.losses().get(reason, 0), flagged)


@case
def shared_signals_of_copies():
    r = run("signals", "case=shared_copies", trace=RTL)
    equal("stdout", r.out, "shared_copies: ok\n")
    engine = [l for l in r.log() if l["kind"] == "copy" and l["bytes"] == 8192]
    equal("copies in the log", len(engine), 8)
    rows = r.rows("select begin_ns, end_ns from rtl_copy where bytes = 8192")
    equal("copies in the trace", len(rows), 8)
    untimed = sum(1 for row in rows if not row[1])
    if untimed:
        counted(r, "copy_shared_signal", untimed, "incomplete")
    else:
        equal("losses", r.losses(), {})


@case
def reentrant():
    r = run("ranges", "handler", trace=RTL)
    losses = r.losses()
    if "reentrant" in losses:
        counted(r, "reentrant", None, "incomplete")


@case
def unfinished():
    r = run("lifecycle", "hang", trace=RTL, status=7, timeout=30,
            env={"VGPU_HANG": "queue=1,n=6", "RTL_DRAIN_MS": 300})
    counted(r, "unfinished", 1, "complete")


@case
def start_failed():
    """No spool can be created: the program runs, and one line gives the reason."""
    r = run("launcher", "launches=100", trace=TOOLS, env={"RTL_STRICT": 0, "RTL_SPOOL_DIR": "/proc/no/such"})
    contains("stdout", r.out, "launcher: 100 launches")
    contains("stderr", r.err, "/proc/no/such")
    at_most("lines on stderr", len(r.err.splitlines()), 2)
    equal("database", os.path.exists(r.output), False)


@case
def bad_chunk():
    """A damaged byte of the raw trace: the chunk is left out and counted, with file and offset."""
    # without calls: a chunk of calls alone would lose no dispatch
    args = ("-q", "--keep-spool", "-m", "standard")
    r = run("launcher", "launches=20000", trace=RTL, rtl_args=args, env={"VGPU_KERNEL_NS": 1000})
    spool = glob.glob(os.path.join(r.dir, "*.spool"))
    equal("spool folders kept", len(spool), 1)
    files = sorted(glob.glob(os.path.join(spool[0], "*.rtl")), key=os.path.getsize)
    size = os.path.getsize(files[-1])
    with open(files[-1], "r+b") as f:
        f.seek(size // 2)
        byte = f.read(1)
        f.seek(size // 2)
        f.write(bytes([byte[0] ^ 0x40]))
    full = r.count("rtl_dispatch")
    out = os.path.join(r.dir, "again.db")
    p = rtl("recover", spool[0], "-o", out, cwd=r.dir)
    ended(p, 0)
    contains("stderr", p.err, os.path.basename(files[-1]))
    db = open_db(out)
    intact(db)
    count = db.execute("select sum(count) from rtl_loss where reason = 'bad_chunk'").fetchone()[0]
    equal("count of bad_chunk", count, 1)
    rows = db.execute("select count(*) from rtl_dispatch").fetchone()[0]
    at_least("dispatches that are left (one chunk holds 2047 at most)", rows, full - 2047)
    at_most("dispatches that are left", rows, full - 1)
    info = rtl("info", out)
    contains("rtl info", info.out, "bad_chunk")
    contains("rtl info", info.out.lower(), "incomplete")


@case
def late():
    """Threads that still launch while the process ends: no crash, no hang; late operations are counted or traced."""
    checked = 0
    for _ in range(12):
        r = run("ending", "detached_exit", trace=RTL, status=None, env={"VGPU_LOG_SYNC": 1})
        if r.status == 139:
            continue  # HIP 5.2.3 does so untraced as well, 7 times of 300: its tables are gone, threads use them
        ended(r, 3)
        checked += 1
        rows = r.count("rtl_dispatch", "not flags & 8")
        losses = r.losses()
        late_count = losses.get("late", 0)
        # operations that completed after the trace was closed were submitted before or after that
        at_least(f"rows, late and unfinished ones (losses {losses})", rows + late_count + losses.get("unfinished", 0),
                 len(r.log("dispatch")) - 8)
        if late_count:
            counted(r, "late", late_count, "incomplete")
    at_least("runs that HIP survived", checked, 6)


@case
def thread_slots():
    """More threads than there are slots: all are traced, or counted."""
    r = run("launcher", "threads=400", "launches=2000", trace=RTL, rtl_args=("-q", "-m", "standard"),
            env={"VGPU_KERNEL_NS": 1000}, timeout=90)
    rows, logged, losses = r.count("rtl_dispatch"), len(r.log("dispatch")), r.losses()
    equal(f"rows and losses ({losses})", rows + losses.get("thread_slots", 0), logged)


def fail_on_empty():
    run("/bin/true", trace=RTL, rtl_args=("-q", "--fail-on-empty"), status=122)
    run("launcher", "launches=5", trace=RTL, rtl_args=("-q", "--fail-on-empty"), status=0)


add_case("fail_on_empty", fail_on_empty)


def unknown_variables(trace):
    """Unknown variables and invalid values are reported once and ignored."""
    env = {"RTL_NO_SUCH_THING": "1", "RTL_DRAIN_MS": "soon", "VGPU_NO_SUCH_KNOB": "2", "VGPU_KERNEL_NS": "short"}
    r = run("launcher", "launches=5", trace=trace, env=env)
    for name in env:
        equal(f"lines on stderr that name {name}: {r.err!r}", sum(name in l for l in r.err.splitlines()), 1)
    at_least("dispatches", r.count("rtl_dispatch"), 5)


add_case("unknown_variables", functools.partial(unknown_variables, RTL))
add_case("unknown_variables_tools", functools.partial(unknown_variables, TOOLS))

main()
