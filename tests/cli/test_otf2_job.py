#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An OTF2 archive of a job, of a trace for each rank: read by otf2-print and python3-otf2"""
import collections
import glob
import json
import random
import re
import resource
import shutil
import signal
import subprocess
import sys

from support import spool
from support.cli import *

READ = os.path.join(SOURCE, "tests/support/otf2_read.py")
OTHER_BOOT = b"00000000-0000-4000-8000-000000000002"
MPI = 4
# as rtl trace --mpi has them
FUNCTIONS = {
    "MPI_Init": "", "MPI_Send": "bytes:z:bytes,peer:i,tag:i,comm:x", "MPI_Recv": "bytes:z:bytes,peer:i,tag:i,comm:x",
    "MPI_Isend": "bytes:z:bytes,peer:i,tag:i,comm:x,request:h", "MPI_Irecv": "bytes:z:bytes,peer:i,tag:i,comm:x,request:h",
    "MPI_Sendrecv": "bytes:z:bytes,received:z,peer:i,tag:i,source:i,recvtag:i,comm:x", "MPI_Wait": "request:h", "MPI_Waitall": "count:i",
    "MPI_Test": "request:h,flag:i", "MPI_Barrier": "comm:x,ranks:i", "MPI_Allreduce_c": "bytes:z:bytes,comm:x,ranks:i",
    "MPI_Bcast": "bytes:z:bytes,comm:x,ranks:i,root:i", "MPI_Ibarrier": "comm:x,ranks:i,request:h",
    "MPI_Comm_split": "comm:x,color:i,key:i,newcomm:x,newranks:i", "MPI_Intercomm_create": "newcomm:x,newranks:i,tag:i",
    "MPI_Startall": "count:i", "MPI_Comm_dup": "comm:x,newcomm:x,newranks:i,newrank:i", "MPI_Waitany": "count:i,index:i",
}


class Rank(spool.Spool):
    """A rank that calls MPI; each call takes 100 ns, and 100 ns are between two."""

    def __init__(self, rank, nr, **info):
        super().__init__(pid=1000 + rank)
        for key, value in {"command": "./solve", "host": "node1", "rank": str(rank), "world_size": str(nr), **info}.items():
            self.info(key, value)
        self.thread(self.tid, "solve")
        for number, (name, signature) in enumerate(FUNCTIONS.items(), 1):
            self.op(number, name, signature, domain=MPI)
        self.now = self.start

    def call(self, name, *words, status=0, begin=None, end=None):
        self.now += 200
        self.api([*FUNCTIONS].index(name) + 1, begin or self.now, end or self.now + 100, [w % (1 << 64) for w in words], status=status, domain=MPI)


def interpreter():
    """One that has python3-otf2; None: there is none."""
    for program in (sys.executable, "/usr/bin/python3"):
        if shutil.which(program) and subprocess.run([program, "-c", "import otf2"], capture_output=True, check=False).returncode == 0:
            return program
    return None


class Job(Case):
    def write(self, *traces):
        """A raw trace each; their names."""
        names = []
        for trace in traces:
            names.append(f"{trace.pid}.rtl")
            trace.write(self.path(names[-1]))
        return names

    def ranks(self, nr):
        return self.write(*[spool.calls(pid=1000 + r, rank=r, world_size=nr) for r in range(nr)])

    def convert(self, names, out="job.otf2", **kwargs):
        return self.rtl("convert", "-f", "otf2", "-o", out, *names, timeout=200, **kwargs)

    def refused(self, names, *words, **kwargs):
        """With that message, and without a file."""
        before = self.files()
        p = self.convert(names, status=1, **kwargs)
        for word in words:
            self.assertIn(word, p.stderr)
        self.assertEqual(self.files(), before)


class Printed(Job):
    """By otf2-print."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("otf2-print"):
            raise unittest.SkipTest("no otf2-print: install otf2-tools")

    def print(self, *options, path="job.otf2"):
        p = subprocess.run(["otf2-print", *options, self.path(path)], capture_output=True, check=False, text=True)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        return p.stdout

    def locations(self):
        """[(id, name, number of events, group)] in the order of their definitions."""
        return [(int(i), name, int(nr), group) for i, name, nr, group in re.findall(
            r'^LOCATION +(\d+)  Name: "(.*?)" <\d+>, Type: \w+, # Events: (\d+), Group: "(.*?)" <', self.print("-G"), re.M)]

    def times(self):
        """{location: [times of its events]}"""
        found = collections.defaultdict(list)
        for location, ns in re.findall(r"^(?:ENTER|LEAVE|RMA_\w+) +(\d+) +(\d+) ", self.print(), re.M):
            found[int(location)].append(int(ns))
        return found

    def test_ranks_are_in_names_and_in_order(self):
        names = self.ranks(120)
        random.Random(7).shuffle(names)
        self.assertIn("written; the trace is complete: 120 traces", self.convert(names).stderr)
        found = self.locations()
        self.assertEqual([int(re.match(r"rank (\d+), ", name)[1]) for _, name, _, _ in found], [r for r in range(120) for _ in range(5)])
        self.assertEqual([i for i, *_ in found], sorted(i for i, *_ in found))
        groups = [int(r) for r in re.findall(r'^LOCATION_GROUP +\d+  Name: "rank (\d+), ', self.print("-G"), re.M)]
        self.assertEqual(groups, [r for r in range(120) for _ in range(3)])
        creators = re.findall(r'^LOCATION_GROUP +\d+  Name: "rank (\d+), GPU .*Creator: "rank (\d+), ./app', self.print("-G"), re.M)
        self.assertEqual((len(creators), {a == b for a, b in creators}), (240, {True}))
        # each has a file of events, and all events
        self.assertEqual({f"{i}.evt" for i, *_ in found} | {f"{i}.def" for i, *_ in found}, set(os.listdir(self.path("job"))))
        times = self.times()
        self.assertEqual({i: len(t) for i, t in times.items()}, {i: nr for i, _, nr, _ in found if nr})
        for t in times.values():
            self.assertEqual(t, sorted(t))

    def test_events_are_those_of_the_ranks_own_archives(self):
        names = self.write(spool.calls(pid=1000, rank=0), spool.sample(20, pid=1001, rank=1))
        self.convert(names)
        job = collections.Counter()
        texts = self.print()
        event = r'^(ENTER|LEAVE) +(\d+) +(\d+)  Region: "(.*?)" <\d+>'
        for kind, location, ns, region in re.findall(event, texts, re.M):
            job[int(location) >> 32, kind, ns, region] += 1
        alone = collections.Counter()
        for rank, name in enumerate(names):
            self.rtl("convert", "-q", name, "-f", "otf2", "-o", f"r{rank}.otf2")
            for kind, _, ns, region in re.findall(event, self.print(path=f"r{rank}.otf2"), re.M):
                alone[rank, kind, ns, region] += 1
        self.assertEqual(job, alone)
        # a name is defined once, though both ranks have it
        defined = re.findall(r'^REGION +\d+  Name: "(.*?)" <', self.print("-G"), re.M)
        self.assertEqual(len(defined), len(set(defined)))

    def test_databases_and_raw_traces_without_ranks_and_without_events(self):
        silent = spool.Spool(pid=1003)
        for key, value in (("rank", "3"), ("host", "node2"), ("command", "./app")):
            silent.info(key, value)
        names = self.write(spool.calls(pid=1000, rank=0), spool.calls(pid=1001), spool.calls(pid=1002), silent)
        self.rtl("recover", "-q", names[0], "-o", "r0.db")
        self.convert(["1001.rtl", "r0.db", *names[2:]])
        found = self.locations()
        starts = [name.split(",")[0] for _, name, _, _ in found]
        self.assertEqual(sorted(set(starts), key=starts.index), ["rank 0", "rank 3", "trace 1", "trace 3"])
        self.assertEqual([(name, nr) for _, name, nr, _ in found if name.startswith("rank 3")], [("rank 3, Thread 1003", 0)])
        self.assertEqual(len({(name, group) for _, name, _, group in found}), len(found))
        tree = re.findall(r'^SYSTEM_TREE_NODE +\d+  Name: "(.*?)" <\d+>, Class: "(.*?)"', self.print("-G"), re.M)
        self.assertEqual(tree, [("job", "machine"), ("node1", "node"), ("node2", "node")])

    def test_incomplete_trace_is_named(self):
        lost = spool.calls(pid=1001, rank=1)
        lost.loss("buffer_full", 17)
        names = self.write(spool.calls(pid=1000, rank=0), lost)
        self.assertIn("incomplete: 1 of 2 traces are, the first is 1001.rtl: incomplete: 17 lost", self.convert(names).stderr)
        self.assertEqual(len({name.split(",")[0] for _, name, *_ in self.locations()}), 2)

    def hosts(self, sync, sync_1="free", namespace=False):
        """Two ranks, of which the second one's clock is 5 s ahead."""
        ranks = [spool.Spool(pid=1000 + r, start=1_000_000_000_000 + 5_000_000_000 * r) for r in range(2)]
        for r, s in enumerate(ranks):
            for key, value in (("command", "./app"), ("host", f"node{r + 1}"), ("rank", str(r)), ("clock_sync", (sync, sync_1)[r])):
                s.info(key, value)
            if namespace:
                s.info("time_offset_ns", str(5_000_000_000 * r))
            elif r:
                s.boot = OTHER_BOOT
            for ns in (0, 1_000_000_000):
                s.record("CLOCK", 0, system_ns=s.start + ns, monotonic_ns=0, boottime_ns=0, realtime_ns=1_790_000_000_000_000_000 + ns)
            s.agent(gpu=False)
            s.agent()
            s.queue(1)
            s.dispatch(s.kernel("k"), 0, s.start + 1000, s.start + 2000)
            s.dispatch(1, 0, s.start + 900_000_000, s.start + 900_001_000)
        return self.write(*ranks)

    def test_hosts_clocks_that_are_apart_by_an_unknown_time_refuse_the_archive(self):
        self.refused(self.hosts("free"), "the clocks of node2 and node1 are apart by an unknown time: it has no collectives with other hosts")

    def test_hosts_clocks_are_aligned(self):
        good = "synchronised maxerror_us=20 esterror_us=1 tai=37"
        for sync, namespace in ((good, False), ("free", True)):
            self.convert(self.hosts(sync, sync, namespace) + ["--force"])
            times = {i: t for i, t in self.times().items() if t}
            first, second = times.values()
            self.assertEqual(first, [1_000_000_001_000, 1_000_000_002_000, 1_000_900_000_000, 1_000_900_001_000])
            self.assertEqual(first, second)
            self.assertRegex(self.print("-G"), r"Global Offset: 1000000001000, Length: 900000001, Date: 2026-09-2\d \d+:\d+:20\.000001000 ")


class Refused(Job):
    def test_a_rank_or_a_trace_comes_once(self):
        names = self.write(spool.calls(pid=1000, rank=0), spool.calls(pid=1001, rank=1), spool.calls(pid=1002, rank=1))
        self.refused(names, "1002.rtl: has rank 1, as 1001.rtl has")
        os.link(self.path("1000.rtl"), self.path("again.rtl"))
        self.refused(["1000.rtl", "1001.rtl", "again.rtl"], "again.rtl: is the same trace as 1000.rtl")

    def test_damaged_rank_is_named(self):
        names = self.ranks(3)
        for name in names:
            self.rtl("recover", "-q", name, "-o", name[:-4] + ".db")
        with open(self.path("1001.db"), "r+b") as file:
            file.truncate(8192)
        self.refused(["1000.db", "1001.db", "1002.db"], "1001.db")
        with open(self.path("1001.db"), "wb") as file:
            file.write(b"no trace" * 1000)
        self.refused(["1000.db", "1001.db", "1002.db"], "1001.db: is not a trace")
        os.unlink(self.path("1001.db"))
        self.refused(["1000.db", "1001.db", "1002.db"], "1001.db: No such file")

    def test_a_trace_of_several_hosts_is_no_rank(self):
        a, b = spool.calls(pid=1000, rank=0), spool.calls(pid=1001, rank=1)
        b.boot = OTHER_BOOT
        names = self.write(a, b, spool.calls(pid=1002, rank=2))
        self.rtl("merge", "-q", *names[:2], "-o", "two.db")
        self.refused(["two.db", names[2]], "two.db: has processes of several hosts")

    def test_command_line(self):
        names = self.ranks(2)
        self.assertIn("-o NAME.otf2", self.rtl("convert", "-f", "otf2", *names, status=2).stderr)
        self.assertIn("-f otf2 writes several", self.rtl("convert", "-f", "pftrace", "-o", "x", *names, status=2).stderr)
        self.refused(names, "NAME.otf2", out="job.txt")

    def test_existing_archive_is_replaced_with_force_alone(self):
        names = self.ranks(2)
        self.convert(names)
        self.refused(names, "--force")
        self.convert([*names, "--force"])

    def test_arguments_are_for_the_owner_alone(self):
        names = self.ranks(2)
        self.convert(names)
        self.assertEqual([os.stat(self.path(p)).st_mode & 0o77 for p in ("job.otf2", "job.def", "job", "job/0.evt")], [0] * 4)
        self.convert([*names, "--force", "--public"])
        self.assertNotEqual(os.stat(self.path("job.otf2")).st_mode & 0o77, 0)

    def test_killed_writer_leaves_no_archive(self):
        """Within the ranks, and before any of the files has its name."""
        names = self.ranks(3)
        for point in ("output_begun", "archive_named"):
            p = self.start("convert", "-f", "otf2", "-o", "job.otf2", *names, env={"RTL_TEST_STALL": f"{point}:60000"})
            wait_until("it writes", lambda: glob.glob(self.path("job.tmp-*/job" + (".otf2" if point == "archive_named" else ""))) or  # pylint: disable=cell-var-from-loop
                       p.poll() is not None)  # pylint: disable=cell-var-from-loop
            p.send_signal(signal.SIGKILL)
            p.wait(20)
            self.assertEqual([f for f in self.files() if f in ("job", "job.def", "job.otf2")], [])
        self.convert(names)

    def workers(self, p):
        """The processes that write traces."""
        with open(f"/proc/{p.pid}/task/{p.pid}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]

    def test_a_process_that_is_killed_names_its_rank(self):
        names = self.ranks(1) + self.write(spool.calls(pid=1007, rank=7))
        before = self.files()
        # one process writes both, and waits behind the first
        p = self.start("convert", "-f", "otf2", "-o", "job.otf2", *names, env={"RTL_TEST_STALL": "output_begun:60000"},
                       preexec_fn=lambda: os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]))
        wait_until("it writes", lambda: glob.glob(self.path("job.tmp-*/job/*.evt")) or p.poll() is not None)
        worker, = self.workers(p)
        os.kill(worker, signal.SIGKILL)
        _, err = p.communicate(timeout=20)
        self.assertEqual(p.returncode, 1)
        self.assertIn("1000.rtl (rank 0): the process that wrote its events was killed by signal 9", err)
        self.assertEqual(self.files(), before)

    def test_processes_die_with_the_command(self):
        names = self.ranks(3)
        p = self.start("convert", "-f", "otf2", "-o", "job.otf2", *names, env={"RTL_TEST_STALL": "output_begun:60000"})
        wait_until("it writes", lambda: glob.glob(self.path("job.tmp-*/job/*.evt")) or p.poll() is not None)
        workers = self.workers(p)
        self.assertTrue(workers)
        p.kill()
        p.wait(20)
        wait_until("they are gone", lambda: not [pid for pid in workers if self.runs(pid)])

    def runs(self, pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                return file.read().rsplit(")", 1)[1].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def test_full_disk_names_the_rank(self):
        """Events of the second rank take more than a file may have."""
        names = self.write(spool.calls(pid=1000, rank=0), spool.sample(30_000, pid=1001, rank=1))
        self.rtl("recover", "-q", names[1], "-o", "1001.db")
        limit = 1 << 20
        self.refused([names[0], "1001.db"], "1001.db (rank 1)", "File size limit exceeded",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))

    def test_stopped_in_order(self):
        names = self.ranks(3)
        before = self.files()
        p = self.start("convert", "-f", "otf2", "-o", "job.otf2", *names, env={"RTL_TEST_STALL": "output_begun:500"})
        wait_until("it writes", lambda: glob.glob(self.path("job.tmp-*/job")) or p.poll() is not None)
        p.send_signal(signal.SIGTERM)
        p.communicate(timeout=20)
        self.assertEqual(p.returncode, 143)
        self.assertEqual(self.files(), before)


class Read(Job):
    """By python3-otf2."""

    @classmethod
    def setUpClass(cls):
        cls.python = interpreter()
        if not cls.python:
            raise unittest.SkipTest("no module otf2: install python3-otf2")

    def read(self, path="job.otf2"):
        p = subprocess.run([self.python, READ, self.path(path)], capture_output=True, check=False, text=True)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        return json.loads(p.stdout)

    def test_all_events_of_100_ranks(self):
        self.convert(self.ranks(100))
        found = self.read()
        nr = collections.Counter(location for location, *_ in found["events"])
        self.assertEqual([(l["id"], l["events"]) for l in found["locations"]], [(l["id"], nr[l["id"]]) for l in found["locations"]])
        self.assertEqual(len({l["name"].split(",")[0] for l in found["locations"]}), 100)
        # the same ones on each rank
        by_rank = collections.defaultdict(list)
        for location, ns, kind, fields in found["events"]:
            by_rank[location >> 32].append((ns, kind, location & 0xffffffff, fields.get("region")))
        self.assertEqual(len(by_rank), 100)
        for events in by_rank.values():
            self.assertEqual(sorted(events), sorted(by_rank[0]))

    def test_copies_are_accesses_to_memory(self):
        """To, from, within and between GPUs, by a thread and by none: each has its end, and the location at its other end."""
        ranks = []
        for r in range(2):
            s = spool.calls(pid=1000 + r, rank=r, world_size=2)
            caused = s.api(2, s.start + 4_000_000, s.start + 4_000_100, (0, 0, 64, 1, 0), tid=s.tid + 500)
            # host to GPU 0 and back, within it, to GPU 1 by its engine, from there by that of GPU 0; within the host; without agents
            for n, (source, target, kind) in enumerate(((0, 1, 1), (1, 0, 2), (1, 1, 3), (1, 2, 4), (2, 1, 4), (0, 0, 0), (0xffff, 0xffff, 2))):
                begin = s.start + 5_000_000 + n * 1000
                s.record("COPY", s.tid, begin_ns=begin, end_ns=begin + 400, bytes=1000 + n, correlation=s.next_correlation(caused if n == 1 else None),
                         marker=0, src_agent=source, dst_agent=target, kind=kind, engine=1)
            ranks.append(s)
        names = self.write(*ranks)
        self.convert(names)
        found = self.read()
        self.assertEqual(found["paradigms"], [{"name": "HIP", "class": "ACCELERATOR"}])
        self.assertEqual([w["name"] for w in found["windows"]], ["rank 0, HIP memory", "rank 1, HIP memory"])
        windows = {w["name"]: w["members"] for w in found["windows"]}
        for rank, members in enumerate(windows.values()):
            self.assertEqual({m >> 32 for m in members}, {rank})
            self.assertEqual(len(set(members)), len(members))
        where = {l["id"]: l["name"].split(", ", 1)[1] + " of " + l["group"].split(", ", 1)[1].split(" ")[0] for l in found["locations"]}
        running, seen = {}, collections.defaultdict(list)
        for location, ns, kind, e in found["events"]:
            if kind in ("RmaPut", "RmaGet"):
                self.assertNotIn(location, running)
                running[location] = (ns, kind, e)
            elif kind == "RmaOpCompleteBlocking":
                begin, kind, op = running.pop(location)
                self.assertEqual((e["win"], e["matching_id"]), (op["win"], op["matching_id"]))
                seen[location >> 32].append((kind, op["bytes"], ns - begin, where[windows[op["win"]][op["remote"]]]))
        self.assertEqual(running, {})
        self.assertEqual(seen[0][0], ("RmaGet", 1 << 20, 1000, "Thread 1000 of ./app"))
        self.assertEqual(sorted(seen[0], key=lambda op: op[1])[:5], [
            ("RmaGet", 1000, 400, "Thread 1000 of ./app"), ("RmaPut", 1001, 400, "Thread 1500 of ./app"),
            ("RmaGet", 1002, 400, "copies, engine 1 of GPU"), ("RmaGet", 1003, 400, "queue 0 of GPU"), ("RmaGet", 1004, 400, "queue 1 of GPU")])
        self.assertEqual({r: len(ops) for r, ops in seen.items()}, {0: 9, 1: 9})
        # an archive of one trace has them, too
        self.rtl("convert", "-q", names[0], "-f", "otf2", "-o", "one.otf2")
        kinds = collections.Counter(kind for _, _, kind, _ in self.read("one.otf2")["events"])
        self.assertEqual([kinds[k] for k in ("RmaPut", "RmaGet", "RmaOpCompleteBlocking")], [2, 7, 9])

    def solve(self, nr=4, missing=()):
        """The traces of a job that calls MPI in each way."""
        ranks = [Rank(r, nr) for r in range(nr)]
        for r, s in enumerate(ranks):
            right, left = (r + 1) % nr, (r - 1) % nr
            s.call("MPI_Init")
            # to the right, without waiting; MPICH has one handle for all sends that are complete
            for tag in range(2):
                s.call("MPI_Isend", 100 + r, right, tag, 1, 0x77)
                s.call("MPI_Irecv", 100 + left, left, tag, 1, 0x100 + tag)
            s.call("MPI_Waitall", 4)
            s.call("MPI_Irecv", 8, left, 5, 1, 0x200)
            s.call("MPI_Send", 8, right, 5, 1)
            s.call("MPI_Test", 0x200, 0)
            s.call("MPI_Wait", 0x200)
            s.call("MPI_Sendrecv", 16, 24, right, 6, left, 6, 1)
            if r == 0:
                s.call("MPI_Send", 32, nr - 1, 7, 1)
            if r == nr - 1:
                s.call("MPI_Recv", 32, 0, 7, 1)
            s.call("MPI_Barrier", 1, nr)
            s.call("MPI_Allreduce_c", 8, 1, nr)
            s.call("MPI_Bcast", 64, 1, nr, 2)
            s.call("MPI_Ibarrier", 1, nr, 0x300)
            s.call("MPI_Test", 0x300, 1)
            # two halves, whose ranks have the reverse order
            half = 0xdead_beef_0000_0001 + r % 2
            s.call("MPI_Comm_split", 1, r % 2, -r, half, nr // 2)
            s.call("MPI_Barrier", half, nr // 2)
            if r < 2:
                s.call("MPI_Recv", 4, 0, 9, half)
            if r >= nr - 2:
                s.call("MPI_Send", 4, nr // 2 - 1, 9, half)
            # one that some ranks saw before the one that it was made of, and one that names itself
            if r == nr - 1:
                s.call("MPI_Comm_split", half + 8, 0, 0, 0xdead_beef_0000_0006, 1)
                s.call("MPI_Comm_split", 0xdead_beef_0000_0007, 0, 0, 0xdead_beef_0000_0007, 1)
            if r == 0:
                s.call("MPI_Barrier", 0xdead_beef_0000_0006, 1)
            # alone; to and from no rank; a call that failed; one that has nothing to say which message it is
            s.call("MPI_Barrier", 2, 1)
            s.call("MPI_Send", 0, -2, 1, 1)
            s.call("MPI_Recv", 0, -2, -1, 1)
            s.call("MPI_Send", 0, right, 1, 1, status=5)
            s.call("MPI_Irecv", 8, -1, -1, 1, 0x400)
            s.call("MPI_Startall", 3)
            s.call("MPI_Intercomm_create", 0xdead_beef_0000_0009, nr // 2, 1)
            s.call("MPI_Send", 8, 0, 1, 0xdead_beef_0000_0009)
            # never waited for
            s.call("MPI_Isend", 48, right, 10, 1, 0x500)
            s.call("MPI_Recv", 48, left, 10, 1)
            marker = s.marker(s.now + 1000, "MPI_Barrier")
            s.marker_end(s.now + 2000, marker)
        return self.write(*[s for r, s in enumerate(ranks) if r not in missing])

    def check_messages(self, found, nr):
        """Each send has its receive, in the order of the messages of two ranks, and each request its end."""
        members = {g["name"]: g["members"] for g in found["groups"]}
        world = {location: rank for rank, location in enumerate(members[""])}
        sent, received, requests = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(set)
        for location, _, kind, e in found["events"]:
            if kind in ("MpiSend", "MpiIsend"):
                to = members[e["communicator"]][e["receiver"]]
                sent[e["communicator"], location, to, e["msg_tag"]].append(e["msg_length"])
            elif kind in ("MpiRecv", "MpiIrecv"):
                came_from = members[e["communicator"]][e["sender"]]
                received[e["communicator"], came_from, location, e["msg_tag"]].append(e["msg_length"])
            if kind in ("MpiIsend", "MpiIrecvRequest", "NonBlockingCollectiveRequest"):
                self.assertNotIn(e["request_id"], requests[location])
                requests[location].add(e["request_id"])
            elif kind in ("MpiIsendComplete", "MpiIrecv", "NonBlockingCollectiveComplete"):
                requests[location].remove(e["request_id"])
        self.assertEqual({k: len(v) for k, v in sent.items()}, {k: len(v) for k, v in received.items()})
        self.assertEqual({k: len(v) for k, v in requests.items() if v}, {})
        self.assertEqual(len(world), nr)
        return sent, received

    def collectives(self, found):
        """{communicator: {location: [(operation, root, sent, received)]}}; each has its begin."""
        ended, begun = collections.defaultdict(lambda: collections.defaultdict(list)), collections.Counter()
        for location, _, kind, e in found["events"]:
            if kind == "MpiCollectiveBegin":
                begun[location] += 1
                self.assertEqual(begun[location], 1)
            elif kind in ("MpiCollectiveEnd", "NonBlockingCollectiveComplete"):
                begun[location] -= kind == "MpiCollectiveEnd"
                ended[e["communicator"]][location].append((e["collective_op"], e["root"], e["size_sent"], e["size_received"]))
        self.assertEqual({k: v for k, v in begun.items() if v}, {})
        return ended

    def test_one_process_and_several_write_the_same(self):
        """As many as there are processors, in any order: equal bytes but for the archive's own id."""
        def contents(name):
            found = {}
            for path in [self.path(name + ".def")] + glob.glob(self.path(name) + "/*"):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.path(name))] = file.read()
            return {path.replace(name, "X"): data for path, data in found.items()}

        names = self.solve(6) + self.write(spool.calls(pid=2000, rank=6), spool.sample(500, pid=2001))
        random.Random(11).shuffle(names)
        self.convert(names, "one.otf2", preexec_fn=lambda: os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]))
        self.convert(names, "all.otf2")
        one = contents("one")
        self.assertEqual(len(one), 2 * len(self.read("one.otf2")["locations"]) + 1)
        self.assertEqual(one, contents("all"))

    def test_messages_and_collectives(self):
        nr = 4
        p = self.convert(random.Random(3).sample(self.solve(nr), nr))
        # per rank: from any rank, persistent requests, and a send between groups
        self.assertIn(f"{3 * nr} calls of MPI have no record", p.stderr)
        found = self.read()
        sent, _ = self.check_messages(found, nr)
        self.assertEqual(sum(map(len, sent.values())), nr * (2 + 1 + 1 + 1) + 1 + 2)
        groups = {g["name"]: g for g in found["groups"]}
        members = {name: g["members"] for name, g in groups.items()}
        locations = [l["id"] for l in found["locations"]]
        self.assertEqual(locations, [r << 32 for r in range(nr)])
        self.assertEqual((groups[""]["type"], members[""]), ("COMM_LOCATIONS", locations))
        self.assertEqual(members["MPI_COMM_WORLD"], locations)
        self.assertEqual([members["0xdeadbeef0000000%d" % (1 + h)] for h in (0, 1)], [[locations[2], locations[0]], [locations[3], locations[1]]])
        comms = {c["name"]: c["parent"] for c in found["comms"]}
        self.assertEqual((comms["MPI_COMM_WORLD"], comms["0xdeadbeef00000001"]), (None, "MPI_COMM_WORLD"))
        self.assertEqual((comms["0xdeadbeef00000006"], comms["0xdeadbeef00000007"]), ("0xdeadbeef0000000a", None))
        none = 0xffffffff
        ended = self.collectives(found)
        for name, group in members.items():
            if name not in ("MPI_COMM_WORLD", "0xdeadbeef00000001", "0xdeadbeef00000002"):
                continue
            self.assertEqual(set(ended[name]), set(group))
            self.assertEqual(len({tuple((op, root) for op, root, *_ in rows) for rows in ended[name].values()}), 1)
        self.assertEqual(ended["MPI_COMM_WORLD"][2 << 32], [("BARRIER", none, 0, 0), ("ALLREDUCE", none, 8 * nr, 8 * nr), ("BCAST", 2, 64 * nr, 64),
                                                            ("BARRIER", none, 0, 0), ("CREATE_HANDLE", none, 0, 0)])
        self.assertEqual(ended["MPI_COMM_WORLD"][0][2], ("BCAST", 2, 0, 64))
        self.assertEqual([len(ended["MPI_COMM_SELF"][i]) for i in locations], [1] * nr)
        regions = {(r["name"], r["paradigm"]): r["role"] for r in found["regions"]}
        self.assertEqual((regions["MPI_Barrier", "MPI"], regions["MPI_Send", "MPI"], regions["MPI_Barrier", "USER"]), ("BARRIER", "POINT2POINT", "CODE"))

    def test_clocks_of_hosts_by_collectives(self):
        """Four ranks on two hosts, of which the second one's clock is 7 s and 20 ppm ahead: collectives begin and end together afterwards."""
        nr, rounds = 4, 60
        ranks = [Rank(r, nr, host=f"node{r // 2 + 1}") for r in range(nr)]
        rng = random.Random(5)

        def clock(r, ns):
            return ns if r < 2 else ns + 7_000_000_000 + (ns - ranks[0].start) // 50_000

        now = ranks[0].start + 10_000
        for n in range(rounds):
            begins = [now + rng.randrange(1_000_000) for _ in ranks]
            end = max(begins) + 20_000
            # the second host returns late from some, and leaves others, which have no data, before the last rank has come
            late, empty = (n % 5 == 2) * rng.randrange(300_000, 900_000), n % 6 == 4
            for r, s in enumerate(ranks):
                left = begins[r] + 1000 if empty else end + rng.randrange(5000) + late * (r > 1)
                s.call("MPI_Barrier" if n % 2 else "MPI_Allreduce_c", *(() if n % 2 else (0 if empty else 8,)), 1, nr, begin=clock(r, begins[r]),
                       end=clock(r, left))
            now = end + 10_000_000
        for r, s in enumerate(ranks):
            s.boot = OTHER_BOOT if r > 1 else s.boot
        self.convert(self.write(*ranks))
        ends = collections.defaultdict(list)
        for location, ns, kind, _ in self.read()["events"]:
            if kind == "MpiCollectiveEnd":
                ends[location].append(ns)
        self.assertEqual([len(e) for e in ends.values()], [rounds] * nr)
        for n, at in enumerate(zip(*ends.values())):
            if n % 5 != 2 and n % 6 != 4:
                self.assertLess(max(at) - min(at), 30_000)
        # too few of them
        self.refused(self.write(*[r for r in self.few(ranks)]), "apart by an unknown time: it has too few collectives", out="few.otf2")

    def few(self, ranks):
        for s in ranks:
            s.records = [r for r in s.records if r[0] != spool.FORMAT.by_name["API"].number] + [r for r in s.records if r[0] == spool.FORMAT.by_name["API"].number][:3]
            yield s

    def test_numbers_that_are_not_believed(self):
        a, b = Rank(0, 2), Rank(1, 1 << 40)
        for s in (a, b):
            s.call("MPI_Send", 8, (1 << 31) - 2, 0, 1)
            s.call("MPI_Barrier", 1, (1 << 31) - 1)
            s.call("MPI_Barrier", 1, 2)
        self.assertIn("4 calls of MPI have no record", self.convert(self.write(a, b)).stderr)
        found = self.read()
        self.assertEqual(len(found["locations"]), 2)
        self.assertEqual(sum(len(rows) for rows in self.collectives(found)["MPI_COMM_WORLD"].values()), 2)

    def test_records_are_within_their_calls(self):
        self.convert(self.solve())
        inside, seen = {}, collections.Counter()
        for location, ns, kind, e in self.read()["events"]:
            if kind in ("Enter", "Leave"):
                inside[location] = (e["region"], ns) if kind == "Enter" else None
            elif inside[location]:
                seen[kind, inside[location][0], ns - inside[location][1]] += 1
        self.assertEqual({ns for kind, name, ns in seen if kind in ("MpiSend", "MpiIsend", "MpiIrecvRequest", "MpiCollectiveBegin")}, {0})
        self.assertEqual({ns for kind, name, ns in seen if kind in ("MpiRecv", "MpiIrecv", "MpiIsendComplete", "MpiCollectiveEnd")}, {100})
        self.assertEqual(seen["MpiIrecv", "MPI_Wait", 100], 4)
        self.assertEqual(seen["MpiIrecv", "MPI_Waitall", 100], 8)
        self.assertEqual(seen["NonBlockingCollectiveComplete", "MPI_Test", 100], 4)

    def test_ranks_without_a_trace(self):
        """Peers stay members of their communicators."""
        self.convert(self.solve(6, missing=(1, 4)))
        found = self.read()
        self.assertEqual([l["name"].split(", ")[1] for l in found["locations"]],
                         ["Thread 1000", "not in the archive", "Thread 1002", "Thread 1003", "not in the archive", "Thread 1005"])
        members = {g["name"]: g["members"] for g in found["groups"]}
        self.assertEqual(members["MPI_COMM_WORLD"], [r << 32 for r in range(6)])
        for _, _, kind, e in found["events"]:
            if kind in ("MpiSend", "MpiIsend"):
                self.assertLess(e["receiver"], len(members[e["communicator"]]))


if __name__ == "__main__":
    unittest.main()
