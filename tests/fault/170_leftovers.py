#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Journals that a killed program left beside a database, and locks of others: every writer writes what its reader finds."""
from support import *

KILLED = """
import os, sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("pragma cache_size=2")
if sys.argv[2] == "wal":
    c.execute("pragma journal_mode=wal")
c.execute("begin")
c.execute("create table if not exists notes(a, b)")
for i in range(400):
    c.execute("insert into notes values(?, ?)", (i, "x" * 300))
c.execute("create table if not exists rocpd_string(id, string)")
c.execute("update rocpd_string set string = string || ' (seen)'")
if sys.argv[2] == "wal":
    c.execute("commit")
os._exit(9)
"""
HOLD = """
import sqlite3, sys
c = sqlite3.connect("file:" + sys.argv[1], isolation_level=None, uri=True)
for sql in sys.argv[2:]:
    c.execute(sql).fetchone()
print("held", flush=True)
sys.stdin.read()
"""
KERNELS = "select count(*) from rtl_dispatch where not flags & 32 and op_id not in (select op_id from rtl_transfer)"
SIDES = "-journal", "-wal", "-shm"
PYTHON = os.path.basename(sys.executable)[:15]
KINDS = "journal", "wal"


def leave(path, kind):
    """A script that adds a table to the database, and is killed in the middle."""
    p = subprocess.run([sys.executable, "-c", KILLED, path, kind], check=False)
    equal("status of the script", p.returncode, 9)
    if not any(os.path.exists(path + side) for side in SIDES):
        fail(f"{path}: the script left nothing behind")


@contextlib.contextmanager
def held(path, *sql):
    """Another program that has locked the database; its pid."""
    p = subprocess.Popen([sys.executable, "-c", HOLD, path, *sql], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    equal("the other program", p.stdout.readline(), b"held\n")
    try:
        yield p.pid
    finally:
        p.stdin.close()
        p.wait()
        p.stdout.close()


def alone(path, before=None):
    """The database has nothing beside it, and is what SQLite reads of the file alone."""
    equal(f"files beside {path}", [side for side in SIDES if os.path.exists(path + side)], [])
    dumps = []
    for how in "mode=ro", "mode=ro&immutable=1":
        db = sqlite3.connect(f"file:{path}?{how}", uri=True)
        dumps.append(list(db.iterdump()))
        db.close()
    equal("rows with and without what is beside the file", dumps[0] == dumps[1], True)
    equal("a table of the killed script", [line for line in dumps[0] if "notes" in line], [])
    if before:
        before(path)


def launches(nr):
    def check(path):
        db = open_db(path)
        intact(db)
        equal(f"kernels in {path}", db.execute(KERNELS).fetchone()[0], nr)
        db.close()
    return check


def trace(nr, output, *args, **kwargs):
    r = run("launcher", f"launches={nr}", trace=RTL, rtl_args=("-q", "-o", output, *args), **kwargs)
    return r


def spool(nr):
    """A raw trace."""
    r = run("launcher", f"launches={nr}", trace=RTL, rtl_args=("-q", "--no-convert"))
    return r.output + ".spool"


def by_trace(out):
    trace(51, out, "--force")
    return launches(51)


def by_recover(out):
    ended(rtl("recover", "-q", "--force", "-o", out, spool(51)), 0)
    return launches(51)


def by_merge(out):
    one = os.path.join(work_dir(), "one.db")
    trace(51, one, "--force")
    ended(rtl("merge", "--force", "-o", out, one), 0)
    return launches(51)


def by_snapshot(out):
    ended(rtl("snapshot", "-q", "--force", "-o", out, spool(51)), 0)
    return launches(51)


def by_rocpd(out):
    """rocprofv3's database is one for each process."""
    one = os.path.join(work_dir(), "one.db")
    trace(51, one, "--force")
    ended(rtl("convert", "--force", "-f", "rocpd3", "-o", out, one), 0)


def by_librtl(out):
    run("launcher", "launches=51", trace=TOOLS, env={"RTL_OUTPUT": out, "RTL_FORCE": 1})
    return launches(51)


def by_split(out):
    trace(51, out, "--force", "--split", "1h", env={"RTL_TEST_FOLLOW": "4096"})
    return launches(51)


WRITERS = {f.__name__[3:]: f for f in (by_trace, by_recover, by_merge, by_snapshot, by_rocpd, by_librtl, by_split)}


def over_leftovers(write):
    def run_it():
        out = os.path.join(work_dir(), "t.db")
        for kind in KINDS:
            for gone in (False, True):
                trace(7, out, "--force")
                leave(out, kind)
                if gone:
                    os.unlink(out)  # the database was removed, and what is beside it forgotten
                alone(out, write(out))
    return run_it


for name, writer in WRITERS.items():
    add_case(f"{name}_over_journals_writes_its_own_trace", over_leftovers(writer))


@case
def database_that_is_written_to_is_named_locked_with_its_program():
    out = os.path.join(work_dir(), "t.db")
    trace(7, out)
    raw = spool(9)
    with held(out, "begin exclusive") as pid:
        for args in ("summary", out), ("info", out), ("merge", "-o", "m.db", out), ("convert", "-o", "x.json", out):
            r = rtl(*args)
            at_least(f"status of {args}", r.status, 1)
            contains(f"rtl {args[0]}", r.err, f"t.db: is locked: {PYTHON} (pid {pid}) writes to it")
    for sql in ("begin immediate",), ("pragma journal_mode=wal", "select * from rocpd_op"):
        with held(out, *sql) as pid:
            r = trace(9, out, "--force", status=125)
            contains("rtl trace", r.err, f"t.db: is locked: {PYTHON} (pid {pid})")
            equal("the program ran", r.out, "")
            r = rtl("recover", "--force", "-o", out, raw)
            equal("status of rtl recover", r.status, 1)
            contains("rtl recover", r.err, f"t.db: is locked: {PYTHON} (pid {pid})")
        launches(7)(out)
    with held(out, "pragma journal_mode=delete", "begin", "select * from rocpd_op"):
        trace(9, out, "--force")
    alone(out, launches(9))


@case
def transaction_of_a_killed_program_is_explained():
    out = os.path.join(work_dir(), "t.db")
    trace(7, out)
    leave(out, "journal")
    r = rtl("summary", out)
    equal("status", r.status, 1)
    contains("rtl summary", r.err, "t.db-journal is there")


@case
def file_with_the_name_of_a_journal_is_kept():
    out = os.path.join(work_dir(), "t.db")
    with open(out + "-journal", "w", encoding="ascii") as f:
        f.write("Dear diary")
    r = trace(7, out, status=125)
    contains("rtl trace", r.err, "t.db-journal: has the name of SQLite's journal for the database and is none")
    with open(out + "-journal", encoding="ascii") as f:
        equal("the file", f.read(), "Dear diary")


@case
def merge_reads_a_database_that_is_open_in_wal_mode():
    out, merged = os.path.join(work_dir(), "t.db"), os.path.join(work_dir(), "m.db")
    trace(7, out)
    with held(out, "pragma journal_mode=wal", "create table mine(a)"):
        ended(rtl("merge", "-o", merged, out), 0)
    launches(7)(merged)


def read_only(folder, *args):
    """An rtl command where that folder can't be written to, by root neither."""
    script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, folder]
    p = subprocess.run([*inside, "true"], capture_output=True, text=True, check=False)
    if p.returncode:
        skip(f"a mount namespace: {p.stderr.strip()}")
    p = subprocess.run([*inside, RTL_BIN, *args], capture_output=True, text=True, check=False)
    return p.returncode, p.stdout, p.stderr


@case
def database_with_the_mode_of_a_log_is_read_where_none_can_be_made():
    folder, merged = new_dir("fixed"), os.path.join(work_dir(), "merged.db")
    out = os.path.join(folder, "t ?%#.db")
    trace(7, out)
    with contextlib.closing(sqlite3.connect(out)) as db:
        db.execute("pragma journal_mode=wal")
    equal("files", os.listdir(folder), [os.path.basename(out)])
    for args in ("info", out), ("summary", out), ("convert", "-o", os.path.join(work_dir(), "x.json"), out), ("merge", "-o", merged, out):
        status, _, err = read_only(folder, *args)
        equal(f"status of rtl {args[0]}: {err}", status, 0)
    launches(7)(merged)
    # what is in a log alone can't be read there, without the log's index
    leave(out, "wal")
    os.unlink(out + "-shm")
    for args in ("info", out), ("summary", out), ("merge", "--force", "-o", merged, out):
        status, _, err = read_only(folder, *args)
        equal(f"status of rtl {args[0]}", status, 1)
        contains(f"rtl {args[0]}", err, f"has a write-ahead log ({out}-wal), which SQLite reads only where it may write beside it: copy both")
    ended(rtl("merge", "--force", "-o", merged, out), 0)


@case
def empty_output_file_is_taken_in_every_way():
    """As mktemp(1) makes it."""
    for way in RTL, TOOLS:
        r = Run("launcher", new_dir("launcher"))
        out = os.path.join(r.dir, "made.db")
        with open(out, "w", encoding="ascii"):
            pass
        if way == RTL:
            trace(7, out)
        else:
            run("launcher", "launches=7", trace=TOOLS, env={"RTL_OUTPUT": out})
        equal("files", sorted(os.listdir(r.dir)), ["made.db"])
        launches(7)(out)
    # a second program does not replace what the first has written there
    run("launcher", "launches=9", trace=TOOLS, env={"RTL_OUTPUT": out})
    launches(7)(out)
    equal("databases", len(os.listdir(r.dir)), 2)


def listed(folder, *args):
    r = rtl("ps", "--leftovers", "--format", "json", *args, cwd=folder)
    ended(r, 0)
    return {row["path"]: row for row in json.loads(r.out)}


def memory_of(path):
    """The memory half of the raw traces in a folder."""
    with open(glob.glob(path + "/*.rtl")[0], "rb") as f:
        return re.search(rb"/\S*/rtl-\d+-[0-9a-f]{32}\.mem", f.read(4096))[0].decode()


@case
def what_killed_processes_left_is_listed_and_freed():
    p, r = start("flood", "threads=1", "count=1", "until=end", trace=RTL, rtl_args=("-q", "-m", "standard"))
    spool = r.output + ".spool"
    wait_until("a raw trace", lambda: glob.glob(spool + "/*.rtl") and os.path.getsize(glob.glob(spool + "/*.rtl")[0]))
    memory = memory_of(spool)
    equal("memory of a process that runs, in the list", memory in listed(r.dir), False)
    equal("its raw trace, in the list", "trace.db.spool" in listed(r.dir), False)
    os.killpg(p.pid, signal.SIGKILL)
    p.wait()
    os.close(os.open(os.path.join(r.dir, "end"), os.O_CREAT))
    wait_until("the program's end", lambda: memory in listed(r.dir))
    for name in "trace.db.part-999999999", "gone.db.part-999999999-3", "x.json.tmp-999999999", "mine.tmp-x", "y.tmp-1", "young.tmp-999999999":
        with open(os.path.join(r.dir, name), "w", encoding="ascii") as f:
            f.write("rows")
        if not name.startswith("young"):
            os.utime(os.path.join(r.dir, name), (0, 0))
    recover = "rtl recover --remove trace.db.spool"
    rows = {path: row for path, row in listed(r.dir, "--free").items() if path == memory or "/" not in path}
    equal("what is to be done", {path: row["todo"] for path, row in rows.items()}, {
        memory: f"rtl recover --remove {spool}", "trace.db.spool": recover, "trace.db.part-999999999": recover,
        "gone.db.part-999999999-3": "deleted", "x.json.tmp-999999999": "deleted"})
    equal("kinds", sorted(row["kind"] for row in rows.values()), ["database", "database", "memory", "raw trace", "temporary"])
    at_least("bytes in memory", rows[memory]["bytes"], 4096)
    equal("files", sorted(n for n in os.listdir(r.dir) if "tmp-" in n or "part-" in n),
          ["mine.tmp-x", "trace.db.part-999999999", "y.tmp-1", "young.tmp-999999999"])
    # the raw trace is removed by hand
    shutil.rmtree(spool)
    equal("what is to be done", listed(r.dir)[memory]["todo"], "rtl ps --leftovers --free")
    equal("without --free it stays", os.path.exists(memory), True)
    equal("what is done", listed(r.dir, "--free")[memory]["todo"], "deleted")
    equal("memory", os.path.exists(memory), False)


main()
