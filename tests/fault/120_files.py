#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The disk is full, the folder is read-only or vanishes: the program continues, the loss is counted."""
import contextlib

from support import *

MANY = ["launches=150000", "threads=2"]


@contextlib.contextmanager
def small_disk(size, options="", name="disk"):
    """A small file system of its own; needs root."""
    if os.geteuid() != 0:
        skip("mounting a small file system needs root")
    path = os.path.join(work_dir(), name)
    os.makedirs(path)
    p = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}{options}", "rtl-test", path],
        stderr=subprocess.PIPE, check=False)
    if p.returncode:
        skip(f"mount: {p.stderr.decode().strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=False)


def check_program(r, launches):
    contains("stdout", r.out, f"launcher: {launches} launches, 0 wrong copies")
    equal("exit status", r.status, 0)


def kept_and_lost(r, reasons):
    """The dispatches that are not in the trace are counted, by reason."""
    intact(r.db())
    rows, logged, losses = r.count("rtl_dispatch"), len(r.log("dispatch")), r.losses()
    counted = sum(losses.get(reason, 0) for reason in reasons)
    at_least(f"losses under {reasons} (all: {losses})", counted, 1)
    at_least(f"rows and losses together ({rows} rows, {losses})", rows + counted, logged)
    at_least("rows", rows, 100)
    info = r.info()
    for reason in reasons:
        if losses.get(reason):
            contains("rtl info", info, reason)
            contains("rtl info", info.replace(",", "").replace("\u202f", ""), str(losses[reason]))
    contains("rtl info", info.lower(), "incomplete")


@case
def disk_full_under_rtl_trace():
    with small_disk("2m") as disk:
        r = run("launcher", *MANY, trace=RTL, rtl_args=("-q", "--spool-dir", os.path.join(disk, "spool")),
                env={"RTL_STRICT": 0, "VGPU_KERNEL_NS": 1000, "RTL_BUFFER_MB": 1}, status=None, timeout=90)
        check_program(r, 150000)
        kept_and_lost(r, ["disk_full", "buffer_full", "write_error"])


@case
def disk_full_with_tools_lib():
    with small_disk("500k") as disk:
        r = run("launcher", *MANY, trace=TOOLS, status=None, timeout=90,
                env={"RTL_STRICT": 0, "RTL_SPOOL_DIR": os.path.join(disk, "spool"), "VGPU_KERNEL_NS": 1000,
                     "RTL_BUFFER_MB": 1})
        check_program(r, 150000)
        if not os.path.exists(r.output):
            ended(rtl("recover", os.path.join(disk, "spool"), "-o", r.output, cwd=r.dir), 0)
        kept_and_lost(r, ["disk_full", "buffer_full", "write_error"])


@case
def full_memory_file_system_is_survived():
    """/dev/shm too small for the buffers: fewer of them, or the disk instead."""
    with small_disk("300k") as disk:
        r = run("launcher", "launches=20000", trace=RTL, status=None, timeout=60,
                env={"RTL_STRICT": 0, "RTL_MEM_DIR": disk, "VGPU_KERNEL_NS": 1000})
        check_program(r, 20000)
        rows, logged, losses = r.count("rtl_dispatch"), len(r.log("dispatch")), r.losses()
        at_least(f"rows and losses together ({losses})", rows + sum(losses.values()), logged)


@case
def full_output_disk_keeps_raw_trace():
    """The database does not fit: rtl reports it and keeps the raw trace."""
    with small_disk("1m") as disk:
        r = run("launcher", "launches=60000", trace=RTL, timeout=60, status=None,
                rtl_args=("-o", os.path.join(disk, "trace.db"), "--spool-dir", os.path.join(work_dir(), "spool")),
                env={"RTL_STRICT": 0, "VGPU_KERNEL_NS": 1000})
        contains("stdout", r.out, "launcher: 60000 launches")
        equal("exit status", r.status, 125)
        contains("stderr", r.err.lower(), "no space left")
        contains("stderr", r.err, "rtl recover")
        equal("half a database", os.path.exists(os.path.join(disk, "trace.db")), False)
        out = rtl("recover", os.path.join(work_dir(), "spool"), "-o", r.output, cwd=r.dir)
        ended(out, 0)
        equal("dispatches after rtl recover", r.count("rtl_dispatch"), len(r.log("dispatch")))


@case
def full_disk_with_split_is_recovered_to_another():
    """Each time the same: recovery only reads what is on the full disk."""
    launches = 40000
    with small_disk("4m") as disk:
        out = os.path.join(disk, "trace.db")
        r = run("launcher", f"launches={launches}", "sync=100", trace=RTL, rtl_args=("-q", "-m", "standard", "--split=1M", "-o", out),
                env={"RTL_TEST_FOLLOW": "100000", "RTL_STRICT": 0}, status=None, timeout=90)
        contains("stdout", r.out, f"launcher: {launches} launches")
        equal("status", r.status, 125)
        contains("stderr", r.err, "No space left on device")
        found = []
        for name in "one", "two":
            there = os.path.join(work_dir(), name)
            os.makedirs(there)
            done = rtl("recover", "-o", os.path.join(there, "there.db"), out + ".spool")
            ended(done, 0)
            parts = glob.glob(os.path.join(disk, "trace.*.db")) + glob.glob(os.path.join(there, "*.db"))
            rows = sum(open_db(path).execute("select count(*) from rtl_op_kernel").fetchone()[0] for path in parts)
            lost = open_db(os.path.join(there, "there.db")).execute(
                "select coalesce(sum(count), 0) from rtl_loss where class = 'loss'").fetchone()[0]
            at_least(f"rows of {len(parts)} databases and losses together ({rows}, {lost})", rows + lost, launches)
            found.append((rows, lost))
        equal("the second recovery", found[1], found[0])


@case
def read_only_output_folder_is_reported():
    with small_disk("1m", ",ro") as disk:
        r = run("launcher", "launches=10", trace=RTL, rtl_args=("-o", os.path.join(disk, "trace.db")),
                env={"RTL_STRICT": 0}, status=None)
        equal("exit status", r.status, 125)
        equal("stdout: the program must not have run for nothing", r.out, "")
        contains("stderr", r.err, "Read-only")


@case
def full_disks_are_reported_before_the_program_runs():
    """No inode for a file, or little space."""
    with small_disk("1m", ",nr_inodes=2") as disk:
        with open(os.path.join(disk, "last"), "w", encoding="ascii"):
            pass
        for where in ("-o", os.path.join(disk, "trace.db")), ("--spool-dir", disk):
            r = run("launcher", "launches=10", trace=RTL, rtl_args=where, status=None)
            equal("exit status", r.status, 125)
            equal("stdout", r.out, "")
            contains("stderr", r.err, "No space left on device")
    with small_disk("1m", name="little") as disk:
        for where, what in (("-o", os.path.join(disk, "trace.db")), "the database"), (("--spool-dir", disk), "the raw trace"):
            r = run("launcher", "launches=10", trace=RTL, rtl_args=where)
            contains("stderr", r.err, f"free for {what}; a dispatch takes about 50 bytes")


@case
def trace_in_the_way_is_kept():
    """The output appears while the program runs."""
    folder = work_dir()
    mine = os.path.join(folder, "trace.db")
    r = run("/bin/sh", "-c", f"echo precious > {mine}; exec {program('launcher')} launches=10", trace=RTL, rtl_args=("-o", mine), status=125)
    contains("stderr", r.err, "trace.db: exists")
    contains("stderr", r.err, "nothing is lost: 'rtl recover")
    with open(mine, encoding="ascii") as f:
        equal("the file", f.read(), "precious\n")
    ended(rtl("recover", mine + ".spool", "-o", r.output, cwd=r.dir), 0)
    equal("dispatches after rtl recover", r.count("rtl_dispatch"), len(r.log("dispatch")))


@case
def missing_output_folder_is_reported():
    r = run("launcher", "launches=10", trace=RTL, rtl_args=("-o", "/no/such/folder/trace.db"), status=None)
    equal("exit status", r.status, 125)
    equal("stdout", r.out, "")
    contains("stderr", r.err, "/no/such/folder")


@case
def read_only_folder_with_tools_lib_runs_untraced():
    """Without rtl trace there is no check beforehand: the program runs as untraced."""
    with small_disk("1m", ",ro") as disk:
        r = run("launcher", "launches=500", "copies=1", trace=TOOLS, status=None,
                env={"RTL_STRICT": 0, "RTL_OUTPUT": os.path.join(disk, "trace.db")})
        check_program(r, 500)
        at_most("lines on stderr", len(r.err.splitlines()), 3)
        contains("stderr says why there is no trace", r.err, "Read-only")


@case
def vanished_spool_folder_is_survived():
    """rm -rf on the spool while the program runs."""
    spool = os.path.join(work_dir(), "spool")
    p, r = start("lifecycle", "steady", "seconds=1", "period_us=100", trace=RTL,
                 rtl_args=("-q", "--spool-dir", spool), env={"RTL_STRICT": 0})
    deadline = time.monotonic() + 20
    while not os.path.exists(os.path.join(r.dir, "stdout")) or b"ready" not in open(os.path.join(r.dir, "stdout"), "rb").read():
        if time.monotonic() > deadline:
            fail("the program was not ready in 20 s")
        time.sleep(0.01)
    shutil.rmtree(spool, ignore_errors=True)
    finish(p, r, 30)
    contains("stdout", r.out, "steady: done")
    if r.status not in (0, 125):
        ended(r, 0)
    if os.path.exists(r.output):
        intact(r.db())
        equal("dispatches", r.count("rtl_dispatch"), len(r.log("dispatch")))
    else:
        contains("stderr", r.err, spool)


@case
def vanished_output_folder_with_tools_lib_is_reported():
    folder = os.path.join(work_dir(), "gone")
    os.makedirs(folder)
    p, r = start("lifecycle", "steady", "seconds=1", "period_us=100", trace=TOOLS,
                 env={"RTL_STRICT": 0, "RTL_OUTPUT": os.path.join(folder, "trace.db")})
    time.sleep(0.5)
    shutil.rmtree(folder, ignore_errors=True)
    finish(p, r, 30)
    ended(r, 0)
    contains("stdout", r.out, "steady: done")


def file_size_limit(limit, **kwargs):
    """SIGXFSZ does not reach the program, whichever write of librtl exceeds the limit."""
    # a limit that the runtimes themselves keep (HIP needs 4 MB), for every write of the process: the
    # virtual GPU's log must stay out of it
    def run_it(trace):
        return run("flood", "threads=2", "count=75000", f"largest={limit}", trace=trace, status=None, timeout=90,
                   env={"RTL_STRICT": 0, "VGPU_LOG": "", "VGPU_KERNEL_NS": 1000, "RTL_BUFFER_MB": 1, **kwargs})

    plain, r = run_it(PLAIN), run_it(TOOLS)
    equal("untraced", plain.status, 0)
    equal("exit status", r.status, 0)
    equal("stdout", r.out, plain.out)
    at_most("lines on stderr", len(r.err.splitlines()), 3)
    return r


@case
def file_size_limit_small():
    # the raw trace has the rest
    r = file_size_limit(1 << 20)
    spools = glob.glob(os.path.join(r.dir, "*.spool"))
    equal("spool folders", len(spools), 1)
    ended(rtl("recover", spools[0], "-o", r.output, cwd=r.dir), 0)
    rows, losses = r.count("rtl_dispatch", "not flags & 32"), r.losses()
    at_least("dispatches", rows, 20000)
    at_least(f"dispatches and losses ({losses})", rows + sum(losses.values()), 150000)


@case
def file_size_limit_below_the_buffers():
    file_size_limit(64 << 10)


@case
def file_size_limit_without_memory_file_system():
    file_size_limit(1 << 20, RTL_MEM_DIR="none")


@case
def address_space_limit():
    """Little address space: the program has priority."""
    plain = run("/bin/sh", "-c", "exit 0")
    del plain
    r = run("launcher", "launches=2000", trace=RTL, status=None,
            env={"RTL_STRICT": 0, "RTL_BUFFER_MB": 4096, "VGPU_KERNEL_NS": 1000}, timeout=60)
    check_program(r, 2000)
    rows, logged = r.count("rtl_dispatch"), len(r.log("dispatch"))
    equal("dispatches with the largest buffer that can be asked for", rows, logged)


main()
