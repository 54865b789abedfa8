#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ranks that a real mpirun starts (Debian's Open MPI), inside one rtl trace and with an rtl trace for each rank."""
import json

from support import *
from support.terminal import Terminal

RANKS = 4
KERNELS = 41  # of a rank
LAUNCHER = [shutil.which("mpirun") or "mpirun", "--oversubscribe", "-n", str(RANKS)]
# tests run as root in containers, and there mpirun asks whether that is meant
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def launched(name, *argv):
    if not shutil.which("mpirun"):
        skip("mpirun is not installed: apt-get install openmpi-bin")
    folder = new_dir(name)
    r = run(*argv, env=AS_ROOT, cwd=folder, timeout=120)
    equal("lines of the ranks", r.out.split(), ["none"] * RANKS)
    return folder, r


def check_ranks(folder, name):
    equal("files", sorted(os.listdir(folder)), [name.replace("%r", str(n)) for n in range(RANKS)])
    for n in range(RANKS):
        db = open_db(os.path.join(folder, name.replace("%r", str(n))))
        equal(f"rank {n}", db.execute("select rank, world_size, local_rank from rtl_process").fetchall(), [(n, RANKS, n)])
        equal("kernels", db.execute("select count(*) from rtl_dispatch where kernel like 'work%'").fetchone()[0], KERNELS)


@case
def ranks_of_mpirun_in_one_rtl_trace_are_in_one_database():
    folder, _ = launched("one", RTL_BIN, "trace", "--virtual-gpu", "-o", "all.db", "--", *LAUNCHER, program("troubled"))
    equal("files", os.listdir(folder), ["all.db"])
    db = open_db(os.path.join(folder, "all.db"))
    equal("ranks", db.execute("select rank, world_size, local_rank from rtl_process order by 1").fetchall(), [(n, RANKS, n) for n in range(RANKS)])
    equal("kernels of each", db.execute("select count(*) from rtl_dispatch where kernel like 'work%'").fetchone()[0], RANKS * KERNELS)


@case
def ranks_of_mpirun_in_one_rtl_trace_have_databases_of_their_own():
    folder, r = launched("split", RTL_BIN, "trace", "--virtual-gpu", "-o", "rank-%r.db", "--", *LAUNCHER, program("troubled"))
    check_ranks(folder, "rank-%r.db")
    for n in range(RANKS):
        contains("stderr", r.err, f"rank-{n}.db: {KERNELS} dispatches")


@case
def ranks_of_mpirun_with_an_rtl_trace_each_have_databases_of_their_own():
    folder, _ = launched("each", *LAUNCHER, RTL_BIN, "trace", "-q", "--virtual-gpu", "-o", "rank-%r.db", "--", program("troubled"))
    check_ranks(folder, "rank-%r.db")


def check_set(folder, name):
    """A folder of each rank, whole, and nothing else."""
    equal("files", os.listdir(os.path.join(folder, name)), ["job=0"])
    equal("ranks", sorted(os.listdir(os.path.join(folder, name, "job=0"))), [f"rank={n}" for n in range(RANKS)])
    rows = json.loads(rtl("fleet", "-f", "json", "--engine", "sqlite", "--by", "ranks", name, cwd=folder).out)
    equal("kernels of each", [(row["rank"], row["dispatches"], row["incomplete"]) for row in rows], [(n, KERNELS, 0) for n in range(RANKS)])


@case
def ranks_of_mpirun_with_an_rtl_trace_each_add_to_a_data_set():
    folder, r = launched("set_each", *LAUNCHER, RTL_BIN, "trace", "--virtual-gpu", "-o", "run/", "--", program("troubled"))
    equal("lines of the job", sum("adds its folder to the data set run" in line for line in r.err.splitlines()), 1)
    check_set(folder, "run")


@case
def ranks_of_mpirun_in_one_rtl_trace_become_a_data_set():
    folder, _ = launched("set_one", RTL_BIN, "trace", "--virtual-gpu", "-o", "run/", "--", *LAUNCHER, program("troubled"))
    check_set(folder, "run")


def interrupted(folder, *argv):
    """Ctrl-C at a terminal, when each rank waits for its hung kernel, the 30th."""
    if not shutil.which("mpirun"):
        skip("mpirun is not installed: apt-get install openmpi-bin")
    t = Terminal(argv, clean_env({**AS_ROOT, "VGPU_HANG": "n=30", "VGPU_LOG_SYNC": "1", "VGPU_LOG": os.path.join(folder, "gpu.%p.log")}),
                 columns=200, cwd=folder)

    def counts():
        return [open(log, encoding="utf-8").read().count("dispatch") for log in glob.glob(os.path.join(folder, "gpu.*.log"))]

    try:
        wait_until("the hung kernels", lambda: len(counts()) == RANKS and min(counts()) >= 29, 60)
        t.send("\x03")
        t.wait()
    finally:
        t.close()


def check_interrupted(db, ranks):
    equal("ranks", db.execute("select rank from rtl_process order by 1").fetchall(), [(n,) for n in ranks])
    for n in ranks:
        ended_kernels, open_kernels = db.execute("select sum(not D.flags & 8), sum(D.flags & 8 <> 0) from rtl_process P join rtl_dispatch D on D.op_id "
                                                 "between P.id_first and P.id_last where P.rank = ?", (n,)).fetchone()
        at_least(f"kernels of rank {n} that ended", ended_kernels, 20)
        at_least("its kernels that did not", open_kernels, 1)


@case
def ctrl_c_at_one_rtl_trace_leaves_a_database_of_all_ranks():
    folder = new_dir("stop_one")
    interrupted(folder, RTL_BIN, "trace", "--virtual-gpu", "-o", "all.db", "--", *LAUNCHER, program("launcher"), "launches=50")
    check_interrupted(open_db(os.path.join(folder, "all.db")), range(RANKS))


@case
def ctrl_c_at_an_rtl_trace_of_each_rank_leaves_each_database():
    folder = new_dir("stop_each")
    interrupted(folder, *LAUNCHER, RTL_BIN, "trace", "-q", "--virtual-gpu", "-o", "rank-%r.db", "--", program("launcher"), "launches=50")

    def is_complete(n):
        """mpirun kills each rank's process group within about 0.1 s of its SIGTERM. A process in another group then writes the database, or, where
        rtl trace was killed before it could make that process, rtl recover does."""
        db = os.path.join(folder, f"rank-{n}.db")
        return os.path.exists(db) or rtl("recover", "-q", db + ".spool", cwd=folder).status == 0

    wait_until("the databases", lambda: all([is_complete(n) for n in range(RANKS)]), 60)
    for n in range(RANKS):
        check_interrupted(open_db(os.path.join(folder, f"rank-{n}.db")), [n])


@case
def ctrl_c_at_an_rtl_trace_of_each_rank_leaves_each_folder():
    folder = new_dir("stop_set")
    interrupted(folder, *LAUNCHER, RTL_BIN, "trace", "-q", "--virtual-gpu", "-o", "run/", "--", program("launcher"), "launches=50")

    def is_complete():
        """As above: what was killed has a mark."""
        if glob.glob(os.path.join(folder, "run/.unfinished-*")):
            rtl("recover", "-q", "run", cwd=folder)
        return sorted(os.listdir(os.path.join(folder, "run"))) == ["job=0"]

    wait_until("the folders", is_complete, 60)
    rows = json.loads(rtl("fleet", "-f", "json", "--engine", "sqlite", "--by", "ranks", "run", cwd=folder).out)
    equal("ranks", [row["rank"] for row in rows], list(range(RANKS)))
    for row in rows:
        at_least(f"kernels of rank {row['rank']}", row["dispatches"], 21)


main()
