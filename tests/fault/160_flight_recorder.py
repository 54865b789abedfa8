#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The last records are kept, whatever happens: all of a time, within a limit of space, and nothing is lost."""
import contextlib
import os
import signal

from support import *

LIMIT = 128 << 10


def recorded(name="launcher", *args, limit="128K", options=(), **kwargs):
    return start(name, *args, trace=RTL, rtl_args=("-q", "--keep-spool", f"--flight-recorder={limit}", *options), **kwargs)


def run_to_end(*args, **kwargs):
    p, r = recorded("launcher", *args, **kwargs)
    finish(p, r, 120)
    ended(r, 0)
    return r


def disk_bytes(folder):
    return sum(os.stat(os.path.join(folder, f)).st_blocks * 512 for f in os.listdir(folder) if f.endswith(".rtl"))


def spool_of(r):
    return os.path.join(r.dir, "trace.db.spool")


def rows_of(r, sql, db=None):
    with contextlib.closing(open_db(db or r.output)) as opened:
        return opened.execute(sql).fetchall()


def last_of_log(r, db=None):
    """The trace's dispatches are in the GPU's log, with the same times, and none between the first and the last one is missing. Returns
    how many of the log are behind."""
    rows = rows_of(r, "select begin_ticks, end_ticks from rtl_dispatch where begin_ticks order by begin_ticks", db)
    log = sorted((l["begin"], l["end"]) for l in read_logs(r.dir) if l["kind"] == "dispatch")
    at_least("dispatches", len(rows), 1)
    rows = [tuple(row) for row in rows if tuple(row) <= log[-1]]  # a kill loses the log's end
    first = log.index(rows[0])
    same_counter("dispatches from the first one on", rows, log[first : first + len(rows)])
    return len(log) - first - len(rows)


def whole(r, text=None):
    text = text or r.info()
    contains("rtl info", text, "verdict: complete")
    contains("rtl info", text, "left out (flight_recorder ")
    contains("rtl info", text, "window    the last ")


def definitions(r, db=None):
    equal("kernels without a name", rows_of(r, "select kernel from rtl_dispatch where kernel like 'kernel%' or kernel = ''", db), [])
    equal("calls without a name", rows_of(r, "select name from rtl_api where name like '%#%'", db), [])
    equal("agents", rows_of(r, "select distinct agent from rtl_dispatch", db), [(0,)])
    equal("threads without a name", rows_of(r, "select tid from rtl_thread where name is null or name = ''", db), [])


@case
def last_records_are_the_database_of_a_program_that_ends():
    r = run_to_end("launches=25000", "sync=100")
    equal("dispatches after the last one of the database", last_of_log(r), 0)
    at_most("dispatches kept", r.count("rtl_dispatch"), 15000)
    definitions(r)
    whole(r)
    at_most("bytes of the disk half", disk_bytes(spool_of(r)), LIMIT * 2)


def flood(r_limit="128K", **kwargs):
    """A program that dispatches until it is killed."""
    p, r = recorded("flood", "threads=1", "count=100000000", "size=64", limit=r_limit, **kwargs)
    wait_until("records that were left out", lambda: snapshot(r, r.dir + "/first.db", "--force") and "left out" in r.rtl("info", "first.db").out, 60)
    return p, r


def snapshot(r, output, *options):
    s = r.rtl("snapshot", "-q", *options, "-o", output, spool_of(r))
    return s.status == 0


def stop(p, r, sig=signal.SIGKILL):
    for pid in children_of(p.pid):
        with contextlib.suppress(ProcessLookupError):  # rtl's own, which has just written a snapshot
            os.kill(pid, sig)
    finish(p, r, 60)


@case
def snapshot_of_a_running_program_has_all_of_its_window():
    p, r = flood(env={"RTL_BUFFER_MB": "4"})
    for i in range(3):
        s = r.rtl("snapshot", "-q", spool_of(r))
        equal("status and stderr of rtl snapshot", (s.status, s.err), (0, ""))
    app = children_of(p.pid)[0]
    for who in (p.pid, app):
        s = r.rtl("snapshot", "-q", "-o", f"pid{who}.db", str(who))
        equal("status and stderr of rtl snapshot PID", (s.status, s.err), (0, ""))
    at_most("bytes of the disk half", disk_bytes(spool_of(r)), LIMIT * 2)
    stop(p, r)
    for name in ("trace-1.db", "trace-2.db", "trace-3.db", f"pid{p.pid}.db", f"pid{app}.db", "trace.db"):
        path = os.path.join(r.dir, name)
        last_of_log(r, path)
        definitions(r, path)
        whole(r, r.rtl("info", path).out)
    contains("rtl info of a snapshot", r.rtl("info", "trace-1.db").out, "still running")
    contains("rtl info", r.info(), "killed by SIGKILL")


def trigger(*options, program=("launcher", "launches=3000", "sync=10", "roctx=1"), **kwargs):
    name, *args = program
    p, r = start(name, *args, trace=RTL, rtl_args=("--flight-recorder=8M", *options), **kwargs)
    finish(p, r, 120)
    return r


def snapshots_of(r):
    return sorted(f for f in os.listdir(r.dir) if f.startswith("trace-"))


@case
def triggers_write_snapshots_within_bounds_and_count_the_others():
    # long enough for several looks of rtl, which are 100 ms apart at most
    r = trigger("--trigger-longer=1us", "--snapshots=2", "--snapshot-gap=0", program=("launcher", "launches=8000", "sync=10", "roctx=1"))
    ended(r, 0)
    equal("snapshots", snapshots_of(r), ["trace-1.db", "trace-2.db"])
    contains("stderr", r.err, "trace-1.db: snapshot, since a kernel took")
    contains("stderr", r.err, "beyond --snapshots=2")
    for name in snapshots_of(r):
        last_of_log(r, os.path.join(r.dir, name))
    r = trigger("--trigger-longer=1us", "--snapshot-gap=1000")
    equal("snapshots of a long gap", snapshots_of(r), ["trace-1.db"])
    r = trigger("--trigger-longer=1h", "--trigger-error", "--trigger-mark=no such range")
    equal("snapshots without a reason", (snapshots_of(r), ": snapshot, since" in r.err), ([], False))


@case
def marks_and_failed_calls_are_triggers():
    r = trigger("--trigger-mark=*", "--snapshots=1")
    equal("snapshots after a mark", snapshots_of(r), ["trace-1.db"])
    contains("stderr", r.err, "trace-1.db: snapshot, since marker '")
    # rtl looks every 100 ms at most, and does not write one at the program's end, when it writes the database
    lasting = ("/bin/sh", "-c", f"{program('hiperrors')}; sleep 1")
    r = trigger("--trigger-error", "--snapshots=1", program=lasting)
    equal("snapshots after a failed call", snapshots_of(r), ["trace-1.db"])
    contains("stderr", r.err, "trace-1.db: snapshot, since a call of HIP returned ")


@case
def usr2_to_rtl_writes_a_snapshot_if_asked_for():
    p, r = flood(options=("--snapshot-on-usr2", "--snapshot-gap=0"))
    for i in (1, 2):
        os.kill(p.pid, signal.SIGUSR2)
        wait_until(f"snapshot {i}", lambda: f"trace-{i}.db" in snapshots_of(r), 60)
    stop(p, r)
    for name in snapshots_of(r):
        last_of_log(r, os.path.join(r.dir, name))


@case
def harvester_keeps_the_limit_without_rtl_trace():
    env = {"RTL_FLIGHT_RECORDER": "128K", "RTL_BUFFER_MB": "2"}
    p, r = start("flood", "threads=1", "count=100000000", "size=64", trace=TOOLS, env=env)
    wait_until("records that were left out", lambda: snapshot(r, r.dir + "/first.db", "--force") and "left out" in r.rtl("info", "first.db").out, 60)
    s = r.rtl("snapshot", "-q", "-o", "pid.db", str(p.pid))
    equal("status and stderr of rtl snapshot PID", (s.status, s.err), (0, ""))
    at_most("bytes of the disk half", disk_bytes(spool_of(r)), LIMIT * 3)
    os.kill(p.pid, signal.SIGKILL)
    finish(p, r, 60)
    s = r.rtl("recover", "-q", "-o", "trace.db", spool_of(r))
    equal("status of rtl recover", s.status, 0)
    for name in ("pid.db", "trace.db"):
        path = os.path.join(r.dir, name)
        last_of_log(r, path)
        definitions(r, path)
        whole(r, r.rtl("info", path).out)


@case
def swallowed_records_are_missed_behind_the_window():
    for number in (12, 19):  # DISPATCH, API
        p, r = recorded("launcher", "launches=25000", "sync=100", env={"RTL_TEST_SWALLOW": str(number), "RTL_STRICT": "0"})
        finish(p, r, 120)
        contains(f"rtl info after a lost record {number}", r.info(), "incomplete: 1 lost (unaccounted 1)")
        contains("rtl info", r.info(), "flight_recorder")


main()
