#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Long runs: traces are converted while their program runs, and the database is as one that is written at the end."""
import contextlib
import hashlib
import shutil
import sqlite3
import tempfile

from support import *
from support.same import differences

PART = 20000  # bytes of the trace on disk that are converted at a time


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
HELD = "hold=go"  # the launcher waits after half of its launches, so that the converter gets its turn on any machine


def go_on(r):
    open(os.path.join(r.dir, "go"), "w", encoding="utf-8").close()


def has_state(path):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        with contextlib.suppress(sqlite3.OperationalError):  # its writer has locked it
            return db.execute("select count(*) from sqlite_master where name = 'rtl_state'").fetchone()[0] > 0
    return True


def start_long(*rtl_args):
    """A program whose trace is partly converted and partly given back, and that waits until go_on()."""
    p, r = start("launcher", f"launches={LAUNCHES}", "sync=100", HELD, trace=RTL, rtl_args=rtl_args,
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
    go_on(r)
    finish(p, r, 120)
    contains("stderr", r.err, "complete")
    lacks("stderr", r.err, "changed")
    all_there(r)


@case
def snapshot_has_what_is_not_converted_and_counts_the_rest():
    p, r = start_long("-v")
    done = rtl("snapshot", "-o", "now.db", children_of(p.pid, "launcher")[0], cwd=r.dir)
    go_on(r)
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
    go_on(r)
    finish(p, r, 120)
    contains("stderr", r.err, "complete")
    all_there(r)


@case
def rtl_trace_is_killed():
    p, r = start_long("-v")
    program_pid = children_of(p.pid, "launcher")[0]
    p.kill()
    p.wait()
    go_on(r)
    wait_until("the program's end", lambda: name_of(program_pid) is None, 120)
    done = rtl("recover", "--remove", r.output + ".spool")
    contains("stderr", done.err, "recover: complete")
    all_there(r)
    equal("files", [n for n in os.listdir(r.dir) if n.startswith("trace.db")], ["trace.db"])


@case
def recovered_to_another_file_system():
    """The source is only read: it can be recovered again, from a copy as well."""
    p, r = start_long("-v")
    program_pid = children_of(p.pid, "launcher")[0]
    p.kill()
    p.wait()
    go_on(r)
    wait_until("the program's end", lambda: name_of(program_pid) is None, 120)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        equal("one device", os.stat(folder).st_dev == os.stat(r.dir).st_dev, False)
        done = rtl("recover", "-o", os.path.join(folder, "there.db"), r.output + ".spool")
        contains("stderr", done.err, "recover: complete")
        equal("files", os.listdir(folder), ["there.db"])
        all_there(r, os.path.join(folder, "there.db"))
    before = contents(r.dir)
    copies = os.path.join(work_dir(), "copies")
    shutil.copytree(r.dir, copies, ignore=shutil.ignore_patterns("gpu.*"))
    ended(rtl("recover", "--remove", os.path.join(copies, "trace.db.spool")), 0)
    all_there(r, os.path.join(copies, "trace.db"))
    equal("the source is as it was", contents(r.dir) == before, True)
    done = rtl("recover", "--remove", r.output + ".spool")
    contains("stderr", done.err, "recover: complete")
    all_there(r)


@case
def killed_before_the_complete_database_has_its_name():
    p, r = start("launcher", f"launches={LAUNCHES}", "sync=100", HELD, trace=RTL,
                 env={"RTL_TEST_FOLLOW": PART, "RTL_MODE": "standard", "RTL_SPOOL_DIR": "", "RTL_TEST_STALL": "rpd_closed:60000"})
    part = wait_until("a database", lambda: glob.glob(r.output + ".part-*[0-9]"), 60)[0]
    go_on(r)
    wait_until("the program's end", lambda: not children_of(p.pid), 120)
    # a converter that failed leaves a database that stays unfinished, and says why
    wait_until("its end", lambda: p.poll() is not None or not has_state(part), 120)
    if p.poll() is not None:
        finish(p, r, 1)
        fail(f"rtl trace ended by itself: status {r.status}\n{r.err}")
    p.kill()
    p.wait()
    done = rtl("recover", r.output + ".spool")
    contains("stderr", done.err, f"{LAUNCHES:,} dispatches on 1 GPU")
    contains("stderr", done.err, "recover: complete")
    all_there(r)


@case
def an_unfinished_database_that_another_program_looks_at_is_continued():
    """A reader's lock; then a writer's, which has to end first."""
    for begin in ("begin; select count(*) from rocpd_op", "begin exclusive"):
        p, r = start_long()
        program_pid = children_of(p.pid, "launcher")[0]
        p.kill()
        p.wait()
        go_on(r)
        wait_until("the program's end", lambda: name_of(program_pid) is None, 120)
        part, = glob.glob(r.output + ".part-*[0-9]")
        with contextlib.closing(sqlite3.connect(part, isolation_level=None)) as other:
            for statement in begin.split("; "):
                other.execute(statement).fetchall()
            argv = [RTL_BIN, "recover", "-q", r.output + ".spool"]
            if begin != "begin exclusive":
                equal("status beside a reader", subprocess.run(argv, check=False).returncode, 0)
                all_there(r)
                continue
            stopped = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
            time.sleep(1)
            stopped.send_signal(signal.SIGINT)
            equal("status of one that is stopped while it waits for the lock", stopped.wait(30), 128 + signal.SIGINT)
            recovery = subprocess.Popen(argv, stderr=subprocess.PIPE)
            time.sleep(1)
            equal("status of one that waits for the lock", recovery.poll(), None)
        equal("stderr", recovery.communicate(timeout=60)[1], b"")
        equal("status", recovery.returncode, 0)
        all_there(r)


@case
def an_unfinished_database_that_is_gone_is_a_loss():
    p, r = start_long("-v")
    program_pid = children_of(p.pid, "launcher")[0]
    p.kill()
    p.wait()
    go_on(r)
    wait_until("the program's end", lambda: name_of(program_pid) is None, 120)
    for path in glob.glob(r.output + ".part*"):
        os.remove(path)
    done = rtl("recover", r.output + ".spool")
    contains("stderr", done.err, "incomplete")
    contains("stderr", done.err, "converted: records that rtl trace had moved")
    at_least("dispatches", r.count("rtl_op_kernel") + r.losses()["converted"], LAUNCHES)


def contents(folder):
    """What a recovery must not change: raw traces, the unfinished database and its list."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".rtl") or ".part" in name or name == "unfinished":
                with open(os.path.join(path, name), "rb") as f:
                    found[name] = hashlib.sha256(f.read()).hexdigest()
    return found


def files_on_disk(folder):
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                if name.startswith("trace.db") or "trace.db.spool" in path:
                    found[os.path.join(path, name)] = os.lstat(os.path.join(path, name)).st_blocks * 512
    return found


def disk_bytes(folder):
    """At a moment: a part of the spool that goes must not count beside the rows that it becomes. So nothing may change between
    two looks; if something always does, the least of a hundred counts."""
    least, found = None, files_on_disk(folder)
    for _ in range(100):
        before, found = found, files_on_disk(folder)
        total = sum(found.values())
        least = total if least is None else min(least, total)
        if found == before:
            return total
    return least


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


def parts_of(r):
    """The databases of a trace that was split, in their order."""
    return sorted(glob.glob(r.output[:-3] + ".[0-9][0-9][0-9].db")) + [r.output]


def rows_of(paths, sql):
    return [tuple(row) for path in paths for row in open_db(path).execute(sql)]


DISPATCHES = """select r.trace, k.begin_ticks, k.end_ticks, o.queueId, o.sequenceId, s.string
    from rocpd_op o join rtl_op_kernel k on k.op_id = o.id join rocpd_string s on s.id = o.description_id,
    (select substr(trace_id, 1, 32) as trace from rtl_process) r"""
CALLS = """select s.string, a.tid, a.start, a.end, u.string from rocpd_api a join rtl_api_data d on d.api_id = a.id
    join rocpd_string s on s.id = a.apiName_id join rocpd_ustring u on u.id = a.args_id"""
RANGES = """select u.string, a.tid, a.start, a.end, m.kind, m.level, m.end_tid from rocpd_api a
    join rtl_marker_data m on m.api_id = a.id join rocpd_ustring u on u.id = a.args_id where unclosed = 0"""
INSIDE = """select u.string, count(*) from rocpd_op o join rtl_marker_data m on m.api_id = o.roctxId
    join rocpd_api a on a.id = m.api_id join rocpd_ustring u on u.id = a.args_id group by 1"""


def split_run(*args, limit="1M", mode="hip", nr=3):
    """A program that goes on when its trace has so many databases, OUTPUT included."""
    p, r = start("launcher", *args, HELD, trace=RTL, rtl_args=("-v", "--keep-spool", f"--split={limit}"),
                 env={"RTL_TEST_FOLLOW": PART, "RTL_MODE": mode, "RTL_SPOOL_DIR": ""})
    wait_until(f"{nr} databases", lambda: len(parts_of(r)) >= nr, 60)
    return p, r


def split_run_to_its_end(*args, **kwargs):
    p, r = split_run(*args, **kwargs)
    go_on(r)
    finish(p, r, 120)
    return r


def parts_are_the_trace(r, least=3):
    """Each part is a complete database; together they have what one database of the same trace has."""
    paths = parts_of(r)
    at_least("databases", len(paths), least)
    again = os.path.join(r.dir, "again.db")
    rtl("recover", "-o", again, r.output + ".spool")
    for what, sql in (("dispatches", DISPATCHES), ("calls", CALLS), ("ranges", RANGES)):
        same_counter(what, rows_of(paths, sql), rows_of([again], sql))
    for path in paths:
        intact(open_db(path))
        last = path == r.output
        info = rtl("info", path)
        contains(f"info of {path}", info.out, "complete" if last else "complete; continued in another file")
        equal("continued", open_db(path).execute("select count(*) from rtl_loss where reason = 'continued'").fetchone()[0], int(not last))
    equal("files", [n for n in os.listdir(r.dir) if ".part" in n or "journal" in n], [])
    return paths, again


@case
def split_by_size_has_each_row_once():
    # sync: few operations are in flight where a database ends
    r = split_run_to_its_end("threads=2", "launches=20000", "sync=100", "roctx=1", "copies=20")
    contains("stderr", r.err, "what was recorded before is in")
    paths, again = parts_are_the_trace(r)
    # HIP's kernels for copies count as copies
    nr = len(rows_of(paths[-1:], "select 1 from rtl_op_kernel where op_id not in (select op_id from rtl_transfer)"))
    contains("stderr", r.err, f"trace.db: {nr:,} dispatches on")
    # an operation that completes in the next database may have its range in this one
    inside, all_of_them = (sum(nr for _, nr in rows_of(files, INSIDE)) for files in (paths, [again]))
    at_most("operations of ranges", inside, all_of_them)
    at_least("operations of ranges", inside, all_of_them // 2)
    for path in paths[:-1]:
        at_most("bytes", os.path.getsize(path), 4 << 20)


@case
def split_by_time_has_each_row_once():
    r = split_run_to_its_end("launches=60000", "sync=100", limit="300ms", mode="standard")
    parts_are_the_trace(r)


@case
def parts_of_a_split_trace_merge():
    r = split_run_to_its_end("launches=20000", "sync=100", "roctx=1")
    paths, again = parts_are_the_trace(r)
    both = os.path.join(r.dir, "both.db")
    done = rtl("merge", "-o", both, *paths)
    equal("status", done.status, 0)
    lacks("stderr", done.err, "continued")
    contains("stderr", done.err, "1 process,")
    part = rtl("merge", "-o", os.path.join(r.dir, "part.db"), paths[0], paths[-1])
    contains("stderr without those between", part.err, "complete; continued in another file")
    equal("dispatches", open_db(both).execute("select count(*) from rtl_op_kernel").fetchone()[0], 20000)
    same_counter("calls", rows_of([both], CALLS), rows_of([again], CALLS))
    equal("status of the same one twice", rtl("merge", "--force", "-o", both, paths[0], paths[0]).status != 0, True)


def read_lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().splitlines()


def killed_between_two_databases(point):
    p, r = start("launcher", "launches=60000", "sync=100", HELD, trace=RTL, rtl_args=("-v", "--keep-spool", "--split=1M"),
                 env={"RTL_TEST_FOLLOW": PART, "RTL_MODE": "standard", "RTL_SPOOL_DIR": "", "RTL_TEST_STALL": f"{point}:60000"})
    names = r.output + ".spool/unfinished"
    wait_until("two databases", lambda: os.path.exists(names) and len(read_lines(names)) == 3, 60)
    converter = children_of(p.pid, "rtl-convert")[0]
    if point == "converter_finished":
        wait_until("the first part", lambda: os.path.exists(parts_of(r)[0]) and len(parts_of(r)) > 1, 60)
    os.kill(converter, signal.SIGKILL)
    go_on(r)
    finish(p, r, 120)
    parts_are_the_trace(r, 1)
    return r


@case
def killed_before_the_end_of_a_database_is_committed():
    r = killed_between_two_databases("converter_split")
    equal("databases", len(parts_of(r)), 1)


@case
def killed_after_the_end_of_a_database_is_committed():
    r = killed_between_two_databases("converter_finished")
    equal("databases", len(parts_of(r)), 2)


@case
def rtl_trace_of_a_split_trace_is_killed():
    p, r = split_run("launches=60000", "sync=100", mode="standard")
    program_pid = wait_until("the program", lambda: children_of(p.pid, "launcher"))[0]
    p.kill()
    p.wait()
    go_on(r)
    wait_until("the program's end", lambda: name_of(program_pid) is None, 120)
    done = rtl("recover", r.output + ".spool")
    contains("stderr", done.err, "what was recorded before is in")
    equal("dispatches", len(rows_of(parts_of(r), "select 1 from rtl_op_kernel")), 60000)


@case
def databases_of_an_earlier_run_are_not_mixed_with_this_one():
    r = split_run_to_its_end("launches=20000", "sync=100")
    nr = len(parts_of(r))
    at_least("databases", nr, 3)
    again = rtl("trace", "-o", r.output, "--split=1M", "/bin/true", cwd=r.dir)
    equal("status", again.status, 125)
    contains("stderr", again.err, "--force")
    os.remove(r.output)
    shutil.rmtree(r.output + ".spool")
    again = rtl("trace", "-o", r.output, "--split=1M", "/bin/true", cwd=r.dir)
    equal("status", again.status, 125)
    contains("stderr", again.err, ".001.db: exists; use --force")
    again = rtl("trace", "--force", "-o", r.output, "--split=1M", "/bin/true", cwd=r.dir)
    equal("status", again.status, 0)
    equal("databases", len(parts_of(r)), 1)
    refused = rtl("trace", "-o", "x.db", "--split=1M", "--no-convert", "/bin/true", cwd=r.dir)
    equal("status with --no-convert", refused.status, 125)
    contains("stderr", refused.err, "--split")


main()
