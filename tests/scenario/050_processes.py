#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Child processes are traced, each into its own spool, and merged without loss; with and without rtl trace."""
import re
import time

from support import *


LAUNCHES = [101, 102, 103, 104, 105, 106, 107, 108]


def family(trace, **kwargs):
    r = run("family", program("launcher"), trace=trace, **kwargs)
    for text in ("fork", "vfork", "posix_spawn", "shell", "shell exec", "first of two", "second of two"):
        contains("stdout", r.out, f"{text}: status 0x0\n")
    return r


@case
def process_family_becomes_one_database():
    r = family(RTL)
    exact_dispatches(r, LAUNCHER_KERNELS)
    complete(r)
    want = sorted(sum(1 for l in r.log("dispatch", pid)) for pid in r.log_pids())
    equal("processes with GPU work in the log", len(want), len(LAUNCHES))
    processes = r.rows("select pid from rtl_process")
    at_least("processes in the trace", len(processes), len(LAUNCHES))
    missing = set(r.log_pids()) - {row[0] for row in processes}
    equal("processes of the log that the trace does not know", missing, set())
    total = r.value("select count(*) from rtl_dispatch where kernel like '%k__\\_%' escape '\\'")
    equal("dispatches of the program's kernels", total, sum(LAUNCHES))
    intact(r.db())


@case
def merged_rows_belong_to_their_process():
    r = family(RTL)
    rows = dict(r.rows(
        "select o.pid, count(*) from rtl_dispatch d join rtl_op o on o.op_id = d.op_id group by o.pid"))
    want = {pid: len(r.log("dispatch", pid)) for pid in r.log_pids()}
    equal("dispatches by process", rows, want)


@case
def rtl_merge_equals_rtl_trace():
    """rtl merge of single traces equals the database of rtl trace."""
    files = []
    logs = []
    for n in (50, 60, 70):
        r = run("launcher", f"launches={n}", "copies=1", trace=RTL)
        files.append(r.output)
        logs += r.log("dispatch")
    out = os.path.join(work_dir(), "merged.db")
    ended(rtl("merge", "-o", out, *files), 0)
    db = open_db(out)
    intact(db)
    equal("dispatches", db.execute("select count(*) from rtl_dispatch").fetchone()[0], len(logs))
    for table in ("rocpd_api", "rocpd_op", "rocpd_api_ops", "rtl_copy", "rtl_process"):
        parts = sum(open_db(f).execute(f"select count(*) from {table}").fetchone()[0] for f in files)
        equal(f"rows of {table}", db.execute(f"select count(*) from {table}").fetchone()[0], parts)
    same_counter(
        "begin and end of each dispatch",
        db.execute("select begin_ticks, end_ticks from rtl_dispatch").fetchall(),
        [(l["begin"], l["end"]) for l in logs],
    )
    dangling = db.execute(
        "select count(*) from rocpd_api_ops a left join rocpd_op o on o.id = a.op_id "
        "left join rocpd_api p on p.id = a.api_id where o.id is null or p.id is null").fetchone()[0]
    equal("links to nowhere", dangling, 0)
    equal("foreign key check", db.execute("pragma foreign_key_check").fetchall(), [])


@case
def output_pattern_gives_file_per_process():
    """With HSA_TOOLS_LIB alone, %p gives each process a file; the database exists when they have ended."""
    r = new_tools_run("'%s' launches=41; '%s' launches=42")
    paths = sorted(glob.glob(os.path.join(r.dir, "t.*.db")))
    equal("databases", len(paths), 2)
    counts = []
    for path in paths:
        pid = int(re.search(r"t\.(\d+)\.db", path).group(1))
        rows = open_db(path).execute("select count(*) from rtl_dispatch").fetchone()[0]
        equal(f"dispatches of {pid}", rows, len(r.log("dispatch", pid)))
        counts.append(rows)
    at_least("dispatches", sum(counts), 83)


def new_tools_run(command, output="t.%p.db"):
    return run("/bin/sh", "-c", command.replace("%s", program("launcher")), trace=TOOLS, env={"RTL_OUTPUT": output})


@case
def direct_mode_with_one_name_renames_second_file():
    """Without a pattern the second process writes a file of another name and keeps the first one's."""
    r = new_tools_run("'%s' launches=41; '%s' launches=42", "trace.db")
    paths = sorted(glob.glob(os.path.join(r.dir, "*.db")))
    equal(f"databases ({[os.path.basename(p) for p in paths]}, stderr {r.err[-500:]!r})", len(paths), 2)
    rows = sorted(open_db(p).execute("select count(*) from rtl_dispatch").fetchone()[0] for p in paths)
    equal("dispatches in them", rows, sorted(len(r.log("dispatch", pid)) for pid in r.log_pids()))


@case
def direct_mode_family_writes_database_each():
    """A parent without GPU work, whose children have it, with HSA_TOOLS_LIB alone: a database for each child."""
    folder = new_dir("out")
    r = family(TOOLS, env={"RTL_OUTPUT": os.path.join(folder, "%p.db")})
    for pid in r.log_pids():
        rows = open_db(os.path.join(folder, f"{pid}.db")).execute("select count(*) from rtl_dispatch").fetchone()[0]
        equal(f"dispatches of {pid}", rows, len(r.log("dispatch", pid)))
    equal("files", sorted(os.listdir(folder)), sorted(f"{pid}.db" for pid in r.log_pids()))
    equal("stderr", r.err, "")


@case
def direct_mode_database_is_whole_at_exit():
    r = run("launcher", "launches=5000", "threads=4", "copies=2", trace=TOOLS)
    # at once: the file is whole and no other file is left
    exact_dispatches(r, LAUNCHER_KERNELS)
    intact(r.db())
    left = [n for n in os.listdir(r.dir) if n not in ("stdout", "stderr", "trace.db") and not n.startswith("gpu.")]
    equal("other files beside the database", left, [])
    equal("stderr", r.err, "")


@case
def direct_mode_writes_each_format():
    """The same database with and without rtl trace."""
    a = run("launcher", "launches=500", "copies=1", trace=RTL, env={"VGPU_CLOCK": "deterministic"})
    b = run("launcher", "launches=500", "copies=1", trace=TOOLS, env={"VGPU_CLOCK": "deterministic"})
    tables = "select type, name, sql from sqlite_master where name not like 'sqlite_%' order by 1, 2"
    equal("tables and views", b.rows(tables), a.rows(tables))
    for table in ("rtl_dispatch", "rtl_copy", "rocpd_op", "rocpd_api_ops"):
        equal(f"rows of {table}", b.count(table), a.count(table))


@case
def existing_output_is_not_overwritten():
    folder = new_dir("keep")
    path = os.path.join(folder, "trace.db")
    with open(path, "w", encoding="ascii") as f:
        f.write("precious")
    r = rtl("trace", "--virtual-gpu", "-o", path, "--", program("launcher"), "launches=5", cwd=folder)
    equal("exit status", r.status, 125)
    equal("stdout: the program must not have run", r.out, "")
    contains("stderr", r.err, "--force")
    with open(path, encoding="ascii") as f:
        equal("the file", f.read(), "precious")
    r = rtl("trace", "--virtual-gpu", "--force", "-o", path, "--", program("launcher"), "launches=5", cwd=folder)
    ended(r, 0)
    at_least("dispatches", open_db(path).execute("select count(*) from rtl_dispatch").fetchone()[0], 5)


@case
def signals_reach_traced_program():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
        p, r = start("lifecycle", "steady", "seconds=60", trace=RTL, env={"VGPU_LOG_SYNC": 1})
        wait_for_dispatches(r, 20)
        time.sleep(0.3)  # the harvester has read them by then
        os.kill(p.pid, number)
        finish(p, r, 15)
        ended(r, 128 + number)
        at_least(f"dispatches before {signal.Signals(number).name}", r.count("rtl_dispatch"), 20)


def wait_for_dispatches(r, n, seconds=30):
    """Waits until the virtual GPU has logged `n` dispatches of the running program."""
    deadline = time.monotonic() + seconds
    while sum(line["kind"] == "dispatch" for line in read_logs(r.dir)) < n:
        if time.monotonic() > deadline:
            fail(f"{r.name} made less than {n} dispatches in {seconds} s")
        time.sleep(0.005)


@case
def exit_status_is_that_of_program():
    for command, status in (("exit 0", 0), ("exit 17", 17), ("exit 255", 255), ("kill -9 $$", 137), ("kill -11 $$", 139)):
        r = rtl("trace", "-q", "-o", os.path.join(work_dir(), "x.db"), "--", "/bin/sh", "-c", command)
        equal(f"status of '{command}'", r.status, status)
    equal("status of a missing program", rtl("trace", "/no/such/program").status, 127)
    equal("status of a folder", rtl("trace", "/tmp").status, 126)


@case
def process_1_of_namespace_is_merged_after_exit():
    """A process with pid 1 in its namespace is drained and merged after its end, not before."""
    inside = ("--pid", "--fork", "--mount-proc", "--kill-child")
    if subprocess.run(["unshare", *inside, "true"], capture_output=True, check=False).returncode:
        skip("a pid namespace can't be made here")
    r = run("/usr/bin/unshare", *inside, program("lifecycle"), "steady", "seconds=2", "period_us=300", trace=RTL)
    contains("stdout", r.out, "steady: done")
    exact_dispatches(r, pid=1)
    complete(r)


@case
def boot_clock_and_time_namespace_are_recorded():
    """What relates the times of two traces: the boot, the offset of the time namespace, and the wall clock."""
    boot = open("/proc/sys/kernel/random/boot_id", encoding="ascii").read().strip()
    inside = ("--time", "--boottime", "5000", "--fork", "--kill-child")
    can = subprocess.run(["unshare", *inside, "true"], capture_output=True, check=False).returncode == 0
    for command, offset in (((program("launcher"),), None), (("/usr/bin/unshare", *inside, program("launcher")), "5000000000000")):
        if offset and not can:
            skip("a time namespace can't be made here")
        before = time.time_ns()
        r = run(*command, "launches=10", trace=RTL)
        after = time.time_ns()
        at_least("kernels", r.rows("select count(*) from rtl_dispatch")[0][0], 10)
        complete(r)
        info = dict(r.rows("select key, value from rtl_info where key in ('boot_id', 'time_offset_ns', 'clock_sync')"))
        equal("boot", info.get("boot_id"), boot)
        equal("offset of the time namespace", info.get("time_offset_ns"), offset)
        if "clock_sync" in info:  # a sandbox may forbid the question
            equal("state of the wall clock is understood", bool(re.fullmatch(r"free|synchronised maxerror_us=\d+ esterror_us=\d+ tai=\d+", info["clock_sync"])), True)
        samples = r.rows("select system_ns, realtime_ns from rtl_clock where agent_id is null order by system_ns")
        at_least("samples of the clocks", len(samples), 2)  # at the begin and the end
        equal("samples that are not of the run", [s for s in samples if not before <= s[1] <= after], [])


main()
