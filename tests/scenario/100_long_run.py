#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Long runs: traces are converted while their program runs, and the database is as one that is written at the end."""
import contextlib

from support import *
from support.same import differences

PART = 100000  # bytes of the trace that are converted at a time


def long_run(name, *args, rtl_args=("-q",), mode="hip", **kwargs):
    env = {"RTL_TEST_FOLLOW": PART, "RTL_MODE": mode, **kwargs.pop("env", {})}
    return run(name, *args, trace=RTL, rtl_args=rtl_args, env=env, timeout=120, **kwargs)


def nr_commits(r):
    """The file counts the transactions that changed it."""
    with open(r.output, "rb") as f:
        return int.from_bytes(f.read(28)[24:], "big")


def same_as_at_the_end(name, *args, **kwargs):
    r = long_run(name, *args, rtl_args=("--keep-spool",), **kwargs)
    contains("stderr", r.err, "complete")
    lacks("stderr", r.err, "changed")
    at_least("transactions", nr_commits(r), 4)
    again = os.path.join(r.dir, "again.db")
    rtl("recover", "-o", again, r.output + ".spool")
    equal("differences", differences(r.output, again), [])
    equal("files", [n for n in os.listdir(r.dir) if ".part" in n or "journal" in n], [])
    return r


@case
def launches_and_markers_are_the_same():
    same_as_at_the_end("launcher", "threads=4", "streams=2", "launches=20000", "roctx=1", "copies=20")


@case
def calls_of_every_kind_are_the_same():
    same_as_at_the_end("hipmix", "threads=4", "streams=2", "rounds=6", "devices=2", gpus=2, env={"VGPU_EXEC": "auto"})


@case
def launches_without_calls_are_the_same():
    same_as_at_the_end("launcher", "threads=2", "launches=60000", "sync=100", mode="standard")


@case
def a_short_program_is_converted_at_the_end():
    r = run("launcher", "launches=200", trace=RTL)
    equal("files", [n for n in os.listdir(r.dir) if ".part" in n], [])
    equal("dispatches", r.count("rtl_op_kernel"), 200)


LAUNCHES = 60000


def start_long(*rtl_args):
    """A program whose trace is partly converted and partly given back, while it runs."""
    p, r = start("launcher", f"launches={LAUNCHES}", "sync=100", trace=RTL, rtl_args=rtl_args,
                 env={"RTL_TEST_FOLLOW": PART, "RTL_MODE": "standard", "RTL_SPOOL_DIR": ""})
    spool = wait_until("a trace", lambda: glob.glob(r.output + ".spool/*.rtl"))[0]
    wait_until("bytes that are given back", lambda: os.path.getsize(spool) > os.stat(spool).st_blocks * 512 + PART, 60)
    return p, r


def all_there(r, path=None):
    db = open_db(path or r.output)
    equal("dispatches", db.execute("select count(*) from rtl_op_kernel").fetchone()[0], LAUNCHES)
    equal("links", db.execute("select count(*) from rocpd_api_ops join rocpd_api a on a.id = api_id").fetchone()[0], LAUNCHES)
    equal("packets", db.execute("select count(distinct queueId || ' ' || sequenceId) from rocpd_op").fetchone()[0], LAUNCHES)


@case
def the_trace_is_given_back():
    p, r = start_long("-v")
    finish(p, r, 120)
    contains("stderr", r.err, "complete")
    lacks("stderr", r.err, "changed")
    all_there(r)


@case
def snapshot_has_what_is_not_converted_and_counts_the_rest():
    p, r = start_long("-v")
    program_pid = children_of(p.pid, "launcher")[0]
    os.kill(program_pid, signal.SIGSTOP)  # it does not end meanwhile
    done = rtl("snapshot", "-o", "now.db", program_pid, cwd=r.dir)
    os.kill(program_pid, signal.SIGCONT)
    finish(p, r, 120)
    contains("stderr", done.err, "complete; ")
    contains("stderr", done.err, "converted: records that are in the database which rtl trace writes")
    loss = open_db(os.path.join(r.dir, "now.db")).execute("select class, count from rtl_loss where reason = 'converted'").fetchall()
    equal("class of what is converted", [row[0] for row in loss], ["skipped"])
    at_least("records that are converted", loss[0][1], 1)
    all_there(r)


@case
def the_converter_is_killed():
    p, r = start_long("-v")
    os.kill(children_of(p.pid, "rtl-convert")[0], signal.SIGKILL)
    finish(p, r, 120)
    contains("stderr", r.err, "complete")
    all_there(r)


@case
def rtl_trace_is_killed():
    p, r = start_long("-v")
    program_pid = children_of(p.pid, "launcher")[0]
    p.kill()
    p.wait()
    wait_until("the program's end", lambda: name_of(program_pid) is None, 120)
    done = rtl("recover", r.output + ".spool")
    contains("stderr", done.err, "recover: complete")
    all_there(r)
    equal("files", [n for n in os.listdir(r.dir) if ".part" in n], [])


@case
def an_unfinished_database_that_is_gone_is_a_loss():
    p, r = start_long("-v")
    program_pid = children_of(p.pid, "launcher")[0]
    p.kill()
    p.wait()
    wait_until("the program's end", lambda: name_of(program_pid) is None, 120)
    for path in glob.glob(r.output + ".part*"):
        os.remove(path)
    done = rtl("recover", r.output + ".spool")
    contains("stderr", done.err, "incomplete")
    contains("stderr", done.err, "converted: records that rtl trace had moved")
    at_least("dispatches", r.count("rtl_op_kernel") + r.losses()["converted"], LAUNCHES)


def disk_bytes(folder):
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                if name.startswith("trace.db") or "trace.db.spool" in path:
                    total += os.lstat(os.path.join(path, name)).st_blocks * 512
    return total


@case
def max_size_stops_recording_and_not_the_program():
    limit, launches = 16 << 20, 300000
    p, r = start("launcher", f"launches={launches}", "sync=1000", trace=RTL, rtl_args=("-v", "--max-size=16M"),
                 env={"RTL_TEST_FOLLOW": PART, "RTL_MODE": "standard", "RTL_SPOOL_DIR": ""})
    largest = 0
    while p.poll() is None:
        largest = max(largest, disk_bytes(r.dir))
        time.sleep(0.02)
    finish(p, r, 60)
    largest = max(largest, disk_bytes(r.dir))
    at_most("bytes on the disk", largest, limit)
    at_least("bytes on the disk", largest, limit // 3)
    contains("stdout", r.out, f"launcher: {launches} launches")
    contains("stderr", r.err, "complete; ")
    skipped = r.value("select sum(count) from rtl_loss where reason = 'max_size' and class = 'skipped'")
    equal("dispatches and those left out", r.count("rtl_op_kernel") + skipped, launches)


main()
