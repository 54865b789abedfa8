#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl trace --mpi: each call of MPI has one record, in order, and the program gets what it gets untraced.

Against stand-ins of three libraries each wrapped function is called by both of its names. With Open MPI and MPICH a program of four ranks logs what
it calls, from C, and one of two ranks from Fortran, by each of its three interfaces.
"""
import collections
import json
import sqlite3
import subprocess
import sys

from support import *

STAND_INS = ("mpi", "mpich", "mpi_abi")
LIBRARIES = ("openmpi", "mpich")
RANKS = 4
# tests run as root in containers, and there mpirun asks whether that is meant
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def path_of(name):
    return os.path.join(BUILD, "tests", "mpi", name)


def real(name):
    if not os.path.exists(path_of(name)):
        skip(f"{name} is not built: apt-get install libopenmpi-dev libmpich-dev mpich gfortran")
    return path_of(name)


def launcher(library, ranks):
    name = shutil.which("mpirun." + library)
    if not name:
        skip(f"mpirun.{library} is not installed: apt-get install openmpi-bin mpich")
    return [name, *(["--oversubscribe"] if library == "openmpi" else []), "-n", str(ranks)]


def namespaces():
    """The command before two_hosts.sh."""
    for name in ("unshare", "nsenter", "ip", "mpirun.openmpi", "pgrep"):
        if not shutil.which(name):
            skip(f"{name} is not installed: apt-get install util-linux iproute2 procps openmpi-bin")
    before = [shutil.which("unshare"), *([] if os.geteuid() == 0 else ["-r"]), "-m", "-n", "-u", "-p", "-f", "--mount-proc"]
    p = subprocess.run([*before, "unshare", "-T", "--boottime", "1", "--fork", "ip", "link", "add", "type", "veth"], capture_output=True, text=True, check=False)
    if p.returncode:
        skip(f"no namespaces of time and network here: {p.stderr.strip()}")
    return before


def calls_of(db):
    return [r[0] for r in db.execute("select name from rtl_api where domain = 'mpi' order by begin_ns, api_id")]


def traced(folder, *argv, options=()):
    run(RTL_BIN, "trace", "-q", "--mpi", *options, "-o", os.path.join(folder, "rank%r.db"), "--", *argv, env=AS_ROOT, cwd=folder, timeout=200)
    return [open_db(p) for p in sorted(glob.glob(os.path.join(folder, "*.db")))]


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().splitlines()


# ---- each function ----


def each_function(kind, *mode):
    folder = new_dir("each")
    plain = run(path_of("each_call_" + kind), *mode)
    lacks("untraced", plain.out, "WRONG")
    r = run(RTL_BIN, "trace", "-q", "--mpi", "-o", "each.db", "--", path_of("each_call_" + kind), *mode, cwd=folder)
    equal("what the program prints", r.out, plain.out)
    db = open_db(os.path.join(folder, "each.db"))
    equal("calls", calls_of(db), [re.sub("^P", "", line) for line in r.out.split()])
    equal("statuses", db.execute("select distinct status from rtl_api where domain = 'mpi'").fetchall(), [(13 if mode else 0,)])
    intact(db)
    return db


for of in STAND_INS:
    add_case(f"each_function_of_{of}_has_one_record_by_each_name", lambda of=of: each_function(of))
    add_case(f"each_function_of_{of}_that_fails_has_its_status", lambda of=of: each_function(of, "fail"))


@case
def rank_that_no_variable_names_is_that_in_the_world():
    db = each_function("mpi")
    equal("rank", db.execute("select rank, world_size from rtl_process").fetchall(), [(1, 4)])


@case
def copies_of_a_send_of_gpu_memory_are_those_of_the_page_s_query():
    """UCX moves the memory by HSA, on the thread that calls MPI."""
    if not glob.glob("/usr/lib/*/ucx/libuct_rocm.so*"):
        skip("UCX has no component rocm here")
    folder, of = new_dir("gpu"), real("gpu_send.mpich")
    run(*launcher("mpich", 2), RTL_BIN, "trace", "--virtual-gpu", "-q", "--mpi", "-o", os.path.join(folder, "rank%r.db"), "--", of, "4000000", "5",
        env={**AS_ROOT, "VGPU_EXEC": "auto", "UCX_TLS": "rocm_copy,sysv,self,cma"}, cwd=folder, timeout=200)
    with open(os.path.join(SOURCE, "docs/mpi.md"), encoding="utf-8") as f:
        query = re.search(r"```sql\n(SELECT M\.name.*?)```", f.read(), re.S).group(1)
    rows = open_db(os.path.join(folder, "rank0.db")).execute(query).fetchall()
    equal("calls with copies", [(name, size) for name, _, size, _ in rows], [("MPI_Send", 5 * 4000000)])
    rows = json.loads(run(RTL_BIN, "summary", "-q", "--by", "mpi,rank", "-f", "json", *(os.path.join(folder, f"rank{r}.db") for r in range(2))).out)
    send, receive = (next(r for r in rows if r["name"] == f"MPI_{what}" and r["rank"] == rank) for rank, what in enumerate(("Send", "Recv")))
    equal("sends", (send["calls"], send["bytes"], send["gpu_bytes"], send["gpu_ns"] > 0), (5, 5 * 4000000, 5 * 4000000, True))
    equal("receives", (receive["calls"], receive["slowest_rank"], receive["max_of_mean"]), (5, 1, 1))


def clocks_of(*files):
    return json.loads(run(RTL_BIN, "summary", "-q", "--by", "clock", "-f", "json", *files).out)[1:]


def two_hosts(before, program_path, ahead, rounds):
    """The clocks of a job on two hosts in namespaces, of one boot as it is; then as if the hosts had been started apart, so that collectives alone relate them."""
    folder = new_dir("hosts")
    run(*before, os.path.join(SOURCE, "tests/mpi/two_hosts.sh"), str(ahead), folder, RTL_BIN, "trace", "-q", "--mpi", "-o", os.path.join(folder, "rank%r.db"),
        "--", program_path, str(rounds), env=AS_ROOT, cwd=folder, timeout=200)
    files = [os.path.join(folder, f"rank{r}.db") for r in range(2)]
    clock, = clocks_of(*files)
    equal("in one boot", (clock["host"], clock["method"], clock["offset_ns"], clock["collectives"]), ("nodeb", "boot", ahead * 10**9, rounds))
    db = sqlite3.connect(files[1])
    db.execute("UPDATE rtl_process SET boot_id = '00000000-0000-4000-8000-000000000002'")
    db.execute("UPDATE rtl_info SET value = '0' WHERE key = 'time_offset_ns'")
    db.commit()
    db.close()
    return clocks_of(*files)


@case
def clocks_of_two_hosts_in_namespaces_are_within_their_bound():
    before, of = namespaces(), real("rounds.openmpi")
    runs, rounds = (50, 1000) if LONG else (1, 150)
    bad, errors, bounds = [], [], []
    for n in range(runs):
        ahead = 7 + 3 * n
        pieces = two_hosts(before, of, ahead, rounds)
        off = [abs(p["offset_ns"] - ahead * 10**9) for p in pieces if p["method"] == "collectives"]
        errors += off
        bounds += [p["error_ns"] for p in pieces if p["method"] == "collectives"]
        if len(off) != len(pieces) or any(e > p["error_ns"] for e, p in zip(off, pieces)):
            bad.append((ahead, pieces))
    print(f"{runs - len(bad)} of {runs} within their bound; errors up to {max(errors, default=0)} ns, bounds up to {max(bounds, default=0)} ns")
    equal("outside of their bound", bad, [])


@case
def program_without_mpi_finds_none():
    equal("untraced", run(path_of("mpi_weak")).out, "none none\n")
    for options in ((), ("--mpi",)):
        r = run(RTL_BIN, "trace", "-q", *options, "-o", "weak.db", "--", path_of("mpi_weak"), cwd=new_dir("weak"))
        equal(f"traced {options}", r.out, "none none\n")


@case
def calls_that_are_left_out_are_counted():
    folder = new_dir("left_out")
    run(RTL_BIN, "trace", "-q", "--mpi", "--calls", "^MPI_(Send|Recv)$", "-o", "some.db", "--", path_of("each_call_mpi"), cwd=folder)
    db = open_db(os.path.join(folder, "some.db"))
    equal("calls", calls_of(db), ["MPI_Recv", "MPI_Recv", "MPI_Send", "MPI_Send"])
    at_least("left out", db.execute("select sum(count) from rtl_loss where reason = 'filtered_call'").fetchone()[0], 600)


# ---- real libraries ----


def check_arguments(dbs):
    def args(rank, name):
        return [r[0] for r in dbs[rank].execute("select args from rtl_api where name = ? order by begin_ns", (name,))]

    equal("a send", args(0, "MPI_Send")[0], "bytes=12, peer=1, tag=11, comm=0x1")
    equal("a receive", args(1, "MPI_Recv")[0], "bytes=12, peer=0, tag=11, comm=0x1")
    equal("a receive from any, into more", args(1, "MPI_Recv")[1], "bytes=16, peer=0, tag=12, comm=0x1")
    equal("one of another type, without a status", args(1, "MPI_Recv")[2], "bytes=16, peer=0, tag=13, comm=0x1")
    contains("a receive from nobody", args(1, "MPI_Recv")[-1], "bytes=0, peer=-2, tag=-1")
    equal("both ways", args(0, "MPI_Sendrecv"), ["bytes=8, received=8, peer=1, tag=31, source=1, recvtag=31, comm=0x1"])
    equal("a probe", args(1, "MPI_Probe"), ["bytes=28, peer=0, tag=21, comm=0x1"])
    for rank, db in enumerate(dbs):
        equal("gather", args(rank, "MPI_Gather")[0], "bytes=8, comm=0x1, ranks=4, root=0")
        equal("own share", args(rank, "MPI_Allgatherv")[0], f"bytes={4 + rank % 2 * 4}, comm=0x1, ranks=4")
        equal("from the buffer that receives", args(rank, "MPI_Allgather")[1], "bytes=8, comm=0x1, ranks=4")
        equal("of types", args(rank, "MPI_Alltoallw")[0], "bytes=16, comm=0x1, ranks=4")
        contains("one sided", args(rank, "MPI_Put")[0], f"bytes=16, peer={rank ^ 1}, win=0x")
        contains("file", args(rank, "MPI_File_open")[0], 'filename="')
        equal("that failed", db.execute("select args from rtl_api where name = 'MPI_Send' and status").fetchall(), [("bytes=0, peer=0, tag=0, comm=0x1",)] * 2)
    check_communicators(dbs)


def check_communicators(dbs):
    """Each number is that of one communicator on all of its ranks: how many there are and who they are agrees."""
    ranks_of = {}
    for rank, db in enumerate(dbs):
        made = db.execute("select name, args from rtl_api where args like '%newcomm=%' order by begin_ns").fetchall()
        seen = []
        for name, args in made:
            comm, ranks = re.search(r"newcomm=(\w+), newranks=(\d+)", args).groups()
            if comm != "0x0":
                seen.append(comm)
                ranks_of.setdefault((comm, name, int(ranks)), []).append(rank)
        equal(f"numbers of rank {rank} that are used twice", len(seen) - len(set(seen)), 0)
    equal("numbers of several communicators", len(ranks_of), len({comm for comm, _, _ in ranks_of}))
    for (comm, name, ranks), members in ranks_of.items():
        equal(f"members of {comm} of {name}", len(members), RANKS if name.startswith("MPI_Intercomm") else ranks)


def program_in_c(library):
    program_path, ranks = real("calls." + library), launcher(library, RANKS)
    folder, data = new_dir("traced"), os.path.join(new_dir("data"), "file")
    plain = new_dir("plain")
    run(*ranks, program_path, plain + "/log", plain + "/result", data, env=AS_ROOT, cwd=plain, timeout=200)
    dbs = traced(folder, *ranks, program_path, folder + "/log", folder + "/result", data)
    equal("databases", len(dbs), RANKS)
    for rank, db in enumerate(dbs):
        equal("results", lines(f"{folder}/result{rank}"), lines(f"{plain}/result{rank}"))
        equal(f"calls of rank {rank}", calls_of(db), lines(f"{folder}/log{rank}"))
        equal("rank", db.execute("select rank, world_size from rtl_process").fetchall(), [(rank, RANKS)])
        intact(db)
    check_arguments(dbs)


def archive(folder):
    """The archive of the ranks' databases, as python3-otf2 reads it."""
    program_of = next((p for p in (sys.executable, "/usr/bin/python3") if run(p, "-c", "import otf2", status=None).status == 0), None)
    if not program_of:
        skip("no module otf2: apt-get install python3-otf2")
    rtl("convert", "-q", "-f", "otf2", "-o", "job.otf2", *sorted(os.path.basename(p) for p in glob.glob(folder + "/*.db")), cwd=folder)
    return json.loads(run(program_of, os.path.join(SOURCE, "tests/support/otf2_read.py"), folder + "/job.otf2").out)


def archive_of_c(library):
    """Each receive has its send, and each collective its begin and end on all members of its communicator."""
    program_path, ranks = real("calls." + library), launcher(library, RANKS)
    folder, data = new_dir("traced"), new_dir("data") + "/file"
    traced(folder, *ranks, program_path, folder + "/log", folder + "/result", data)
    found = archive(folder)
    members = {g["name"]: g["members"] for g in found["groups"]}
    sent, received, ended, begun = collections.Counter(), collections.Counter(), {}, collections.Counter()
    for location, _, kind, e in found["events"]:
        if kind in ("MpiSend", "MpiIsend"):
            sent[e["communicator"], location, members[e["communicator"]][e["receiver"]], e["msg_tag"]] += 1
        elif kind in ("MpiRecv", "MpiIrecv"):
            received[e["communicator"], members[e["communicator"]][e["sender"]], location, e["msg_tag"]] += 1
        begun[location] += {"MpiCollectiveBegin": 1, "MpiCollectiveEnd": -1}.get(kind, 0)
        if kind in ("MpiCollectiveEnd", "NonBlockingCollectiveComplete"):
            ended.setdefault(e["communicator"], {}).setdefault(location, []).append(e["collective_op"])
    equal("receives without a send", received - sent, collections.Counter())
    equal("sends without a receive", sent - received, collections.Counter())
    equal("collectives that were not ended", {k: n for k, n in begun.items() if n}, {})
    at_least("communicators", len(ended), 10)
    for comm, rows in ended.items():
        if comm != "MPI_COMM_SELF":
            equal(f"members of {comm}", sorted(rows), sorted(members[comm]))
            equal(f"collectives of {comm}", len({tuple(sorted(ops)) for ops in rows.values()}), 1)


def arrows_of(folder, nr):
    """{(rank, thread, call that received): {(rank, thread, call that sent)}} of the merged trace's Chrome JSON; calls of a thread are numbered by their begin."""
    rtl("merge", "-q", "-o", "job.db", *(f"rank{r}.db" for r in range(nr)), cwd=folder)
    rtl("convert", "-q", "-f", "chrome", "-o", "job.json", "job.db", cwd=folder)
    with open(os.path.join(folder, "job.json"), encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    ends, calls = {"s": {}, "f": {}}, collections.defaultdict(list)
    for e in events:
        if e.get("cat") == "message":
            ends[e["ph"]][e["id"]] = e
        elif e["ph"] == "X" and e["name"].startswith("MPI_"):
            calls[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
    pids = {pid: rank for rank in range(nr) for pid, in open_db(os.path.join(folder, f"rank{rank}.db")).execute("select pid from rtl_process")}
    equal("arrows that end", sorted(ends["s"]), sorted(ends["f"]))
    # Linux numbers threads in the order in which they begin
    thread = {(pid, tid): sum(p == pid and t < tid for p, t in calls) for pid, tid in calls}

    def call_at(e):
        at = e["pid"], e["tid"]
        return pids[e["pid"]], thread[at], next(n for n, (begin, end) in enumerate(sorted(calls[at]), 1) if begin <= e["ts"] <= end)

    found = collections.defaultdict(set)
    for number, e in ends["f"].items():
        found[call_at(e)].add(call_at(ends["s"][number]))
    return found


def arrows_of_messages(library):
    """Each message whose calls say which it is has an arrow, from the call that sent it to the one that received it; others have none, and are counted."""
    nr = 4 if LONG else 3
    program_path, ranks, folder = real("messages." + library), launcher(library, nr), new_dir("arrows")
    traced(folder, *ranks, program_path, folder + "/log", *(["700"] if LONG else []))
    logged, unknown = collections.defaultdict(set), 0
    for rank in range(nr):
        for line in lines(f"{folder}/log{rank}"):
            kind, *numbers = line.split()
            thread, call, *sent = map(int, numbers)
            if kind == "R":
                logged[rank, thread, call].add(tuple(sent))
            unknown += kind == "U"
    found = arrows_of(folder, nr)
    print(f"{sum(map(len, found.values()))} arrows of {sum(map(len, logged.values()))} messages")
    equal("arrows", {k: v for k, v in found.items() if v != logged.get(k)}, {})
    equal("messages without an arrow", {k: v for k, v in logged.items() if v != found.get(k)}, {})
    at_least("messages", sum(map(len, logged.values())), 20 * nr)
    equal("messages that are not known", unknown, nr + 1)
    r = rtl("convert", "-f", "pftrace", "-o", "job.pftrace", "job.db", cwd=folder)
    # those between two groups, and the receives whose requests were freed
    contains("the message", r.err, f"without an arrow: 2 sends and receives of MPI whose partner is not recorded; {nr} messages of MPI of which no call")


def program_in_fortran(library, form):
    program_path, ranks = real(f"fortran_{form}.{library}"), launcher(library, 2)
    folder, plain = new_dir("traced"), new_dir("plain")
    untraced = run(*ranks, program_path, plain + "/log", env=AS_ROOT, cwd=plain, timeout=100)
    r = run(RTL_BIN, "trace", "-q", "--mpi", "-o", folder + "/rank%r.db", "--", *ranks, program_path, folder + "/log", env=AS_ROOT, cwd=folder, timeout=100)
    equal("what it prints", sorted(r.out.splitlines()), sorted(untraced.out.splitlines()))
    for rank in range(2):
        db = open_db(f"{folder}/rank{rank}.db")
        equal(f"calls of rank {rank}", calls_of(db), lines(f"{folder}/log{rank}"))
        args = dict(db.execute("select name, args from rtl_api where domain = 'mpi'").fetchall())
        equal("the message", args["MPI_Recv" if rank else "MPI_Send"], f"bytes=12, peer={1 - rank}, tag=41, comm=0x1")
        equal("the root", args["MPI_Bcast"], "bytes=16, comm=0x1, ranks=2, root=1")
        kept = re.search("request=(0x[0-9a-f]+)", args["MPI_Recv_init"]).group(1)
        equal("what is started", args["MPI_Startall"], f"count=1, started={kept}")
        equal("what a call for one has received", args["MPI_Waitany"], f"count=1, index=0, done={kept}:{1 - rank}:43")
        contains("what a call for some has received", args["MPI_Waitsome"], "count=1, outcount=1, done=0x")
        contains("from whom", args["MPI_Waitsome"], f":{1 - rank}:44")


for of in LIBRARIES:
    add_case(f"program_in_c_with_{of}_has_its_calls_and_results", lambda of=of: program_in_c(of))
    add_case(f"messages_of_ranks_with_{of}_have_arrows", lambda of=of: arrows_of_messages(of))
    add_case(f"archive_of_ranks_with_{of}_has_messages_and_collectives", lambda of=of: archive_of_c(of))
    for by in ("mpif", "mpi", "mpi_f08"):
        add_case(f"program_in_fortran_by_{by}_with_{of}_has_its_calls", lambda of=of, by=by: program_in_fortran(of, by))


main()
