#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl summary --by collective: ranks with a trace each and GPUs of one process, with RCCL's calls and without"""
import csv
import io
import json
import random
import re
import sqlite3

from support import spool
from support.cli import *
from test_viewers import PerfettoReader

RCCL, MPI = 3, 4
REDUCE, GROUP_START, GROUP_END, INIT, SPLIT, GATHER = 1, 2, 3, 4, 5, 6
LAUNCH = "function_address:p:kernel,numBlocks:d:grid,dimBlocks:d:block,args:p,sharedMemBytes:z:shared,stream:h:stream"


class Rank:
    """One process: its GPUs, the calls of RCCL that it makes, and its work."""

    def __init__(self, pid, gpus, ranks, rank=None, calls=True, host="node1"):
        s = self.s = spool.Spool(pid=pid)
        self.calls, self.gpus, self.host_now = calls, gpus, s.start + 1000
        for key, value in (("command", "./train"), ("host", host), ("mode", "standard"), ("version", "0.1.0")):
            s.info(key, value)
        if rank is not None:
            s.info("rank", str(rank))
            s.info("world_size", str(ranks))
        s.thread(s.tid, "train")
        s.agent(gpu=False, name="cpu")
        agents = [s.agent() for _ in range(gpus)]
        self.queues = [s.queue(agent) for agent in agents]
        self.work = s.kernel("_Z4gemmPfS_i")
        self.reduce = s.kernel("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)")
        s.op(1, "hipLaunchKernel", LAUNCH)
        s.op(2, "hipDeviceSynchronize", "")
        for number, name, args in ((REDUCE, "ncclAllReduce", "sendbuff:p,recvbuff:p,count:z,datatype:i,op:i,comm:h,stream:h:stream"),
                                   (GATHER, "ncclAllGather", "sendbuff:p,recvbuff:p,sendcount:z,datatype:i,comm:h,stream:h:stream"),
                                   (GROUP_START, "ncclGroupStart", ""), (GROUP_END, "ncclGroupEnd", ""),
                                   (INIT, "ncclCommInitRank", "newcomm:p,nranks:i,commId:h,myrank:i,handle:h"),
                                   (SPLIT, "ncclCommSplit", "comm:h,color:i,key:i,newcomm:p,config:p,handle:h")):
            s.op(number, name, args, domain=RCCL)
        if calls:
            self.init(ranks, rank or 0, 0, 0)
        self.now = [s.start + 100_000] * gpus

    def init(self, ranks, rank, identity, handle):
        self.host_now += 200
        self.s.api(INIT, self.host_now - 100, self.host_now, (0x10, ranks, identity, rank, handle), domain=RCCL)

    def split(self, comm, color, handle):
        self.host_now += 200
        self.s.api(SPLIT, self.host_now - 100, self.host_now, (comm, color & 0xFFFFFFFF, 0, 0x10, 0, handle), domain=RCCL)

    def launch(self, at, gpu):
        return self.s.api(1, at, at + 3000, (0x5001, 1 | 1 << 32, 1, 64 | 1 << 32, 1, 0, 0, 0x700 + gpu))

    def compute(self, gpu, ns, delay=0, is_in_call=False, own=0):
        """own: of the delay, after the call."""
        at = self.now[gpu] + delay
        if is_in_call:
            self.s.api(2, self.now[gpu], at - 600 - own)
        self.s.dispatch(self.work, self.queues[gpu], at, at + ns, correlation=self.launch(at - 10_000 if not delay else at - 500, gpu))
        return at + ns + 2000

    def collective(self, begins, end, count, comm=0xC0, function=REDUCE):
        """On all GPUs of the process, in a group of RCCL's."""
        at, s = min(begins) - 9000, self.s
        if self.calls:
            s.api(GROUP_START, at, at + 10, domain=RCCL)
            for gpu in range(self.gpus):
                args = (1, 2, count, 7, 0) if function == REDUCE else (1, 2, count, 7)
                s.api(function, at + 20 + gpu, at + 21 + gpu, (*args, comm + gpu, 0x700 + gpu), domain=RCCL)
        for gpu, begin in enumerate(begins):
            s.dispatch(self.reduce, self.queues[gpu], begin, end, correlation=self.launch(at + 100 + gpu, gpu))
            self.now[gpu] = end + 30_000
        if self.calls:
            s.api(GROUP_END, at + 90, at + 8000, domain=RCCL)


def other_clock(s, offset, drift):
    """Times are recorded by a clock that is ahead by that, and fast."""
    record, dispatch = s.record, s.dispatch

    def at(time):
        return time + offset + int((time - s.start) * drift)

    def other_record(*args, **values):
        record(*args, **{key: at(value) if key.endswith("_ns") and value and key != "realtime_ns" else value for key, value in values.items()})

    s.record = other_record
    s.dispatch = lambda kernel, queue, begin, end, **more: dispatch(kernel, queue, at(begin), at(end), **more)


class Collectives(Case):
    def job(self, ranks=4, in_one=False, rounds=30, late=None, by="kernel", calls=True, seed=1, hosts=1, clock=None, plain=0, namespace=False, varies=0, is_in_call=False, sleeps=False, late_ns=300_000):
        """A job of `ranks`; its trace, merged if it is of several processes. `late` comes late_ns later than the others, by a call or because it sleeps; hosts launch late by up to `varies`, in which they are within a call or not."""
        rng = random.Random(seed)
        if in_one:
            processes = [Rank(500, ranks, ranks, calls=calls)]
        else:
            processes = [Rank(500 + r, 1, ranks, r, calls, f"node{r * hosts // ranks}") for r in range(ranks)]
        for p in processes[ranks // 2:] if clock else ():
            p.s.boot = p.s.boot if namespace else b"00000000-0000-4000-8000-000000000002"
            if namespace:
                p.s.info("time_offset_ns", str(clock[0]))
            other_clock(p.s, *clock)
        for p in processes if clock else ():
            p.s.record("CLOCK", 0, system_ns=p.s.start, monotonic_ns=0, boottime_ns=p.s.start, realtime_ns=1_790_000_000_000_000_000, ticks=0)
        for n in range(rounds):
            begins = []
            for p in processes:
                begins.append([p.compute(g, int(rng.gauss(200_000, 2000)) + (late_ns if (p.s.pid - 500 + g) == late and by == "kernel" else 0) +
                                         (plain if p.s.pid % 2 else 0),
                                         (late_ns if (p.s.pid - 500 + g) == late and by == "host" else 0) + (int(rng.uniform(0, varies)) if varies else 0), is_in_call,
                                         late_ns if (p.s.pid - 500 + g) == late and sleeps else 0) for g in range(p.gpus)])
            end = max(max(b) for b in begins) + 40_000
            for p, b in zip(processes, begins):
                p.collective(b, end, 1 << 20)
        for p in processes:
            p.s.write(self.path(f"{p.s.pid}.rtl"))
        self.nr = getattr(self, "nr", 0) + 1
        name = f"job{self.nr}.db"
        self.rtl("merge", "-q", *[f"{p.s.pid}.rtl" for p in processes], "-o", name)
        for p in processes:
            os.remove(self.path(f"{p.s.pid}.rtl"))
        return name

    def rows(self, db, *args):
        return json.loads(self.rtl("summary", db, "--by", "collective", "-f", "json", *args).stdout)

    def clocks(self, db):
        return json.loads(self.rtl("summary", db, "--by", "clock", "-f", "json").stdout)

    def test_late_rank_is_named_with_its_cause(self):
        for in_one in (False, True):
            for calls in (True, False):
                for by, cause in (("kernel", "longer kernels"), ("host", "launched late")):
                    db = self.job(late=2, by=by, calls=calls, in_one=in_one, seed=7)
                    rows = self.rows(db)
                    self.assertEqual([r["rank"] for r in rows if r["verdict"] == "late"], ["GPU 2" if in_one else "rank 2"], (in_one, calls, by))
                    self.assertEqual((rows[0]["cause"], rows[0]["calls"], rows[0]["last"], rows[0]["ranks"]), (cause, 30, 30, 4))
                    self.assertTrue(280_000 * 30 < rows[0]["late_ns"] < 320_000 * 30, rows[0])
                    self.assertEqual({r["wait_ns"] for r in rows if r["rank"] == rows[0]["rank"]}, {0})
                    self.assertEqual((rows[0]["skew"], rows[0]["transfer_mean_ns"], rows[0]["class"]), (30, 40_000, "skew"))

    def test_calls_of_rccl_give_function_bytes_and_bandwidth(self):
        row = self.rows(self.job())[0]
        self.assertEqual((row["name"], row["channel"], row["bytes"]), ("ncclAllReduce", "communicator 0", 30 * 4 << 20))
        # all-reduce: each byte crosses a link 2 (n - 1) / n times
        self.assertAlmostEqual(row["bus_bandwidth"], (4 << 20) * 1.5 / 40e-6, delta=1)
        row = self.rows(self.job(calls=False))[0]
        self.assertEqual((row["name"], row["channel"], row["bytes"], row["bus_bandwidth"]),
                         ("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "queue 0", None, None))

    def pairs(self, make, rounds=12):
        """Four ranks in two communicators of two each, of which `make` tells the ranks; they run one after the other, the pairs of the second
        kind on communicator 0xD0."""
        processes = [Rank(500 + r, 1, 4, r) for r in range(4)]
        for r, p in enumerate(processes):
            make(p, r)
        for _ in range(rounds):
            for comm, pairs in ((0xC0, ((0, 1), (2, 3))), (0xD0, ((0, 2), (1, 3)))):
                for pair in pairs:
                    begins = [processes[r].compute(0, 200_000 + 5000 * r) for r in pair]
                    for r, begin in zip(pair, begins):
                        processes[r].collective([begin], max(begins) + 40_000, 1 << 20, comm)
        for p in processes:
            p.s.write(self.path(f"{p.s.pid}.rtl"))
        self.rtl("merge", "-q", *[f"{p.s.pid}.rtl" for p in processes], "-o", "pairs.db")
        rows = self.rows("pairs.db")
        os.remove(self.path("pairs.db"))
        return sorted((r["calls"], r["rank"], r["ranks"]) for r in rows), {r["inconclusive"] for r in rows}

    def test_communicators_of_processes_are_matched_by_their_ids(self):
        expected = sorted((12, f"rank {r}", 2) for r in range(4) for _ in range(2)), {0}

        def by_id(p, r):
            rows, columns = 10 + r // 2, 20 + r % 2
            # ranks make their communicators in different orders
            for handle, identity in ((0xC0, rows), (0xD0, columns))[::1 if r % 2 else -1]:
                p.init(2, 0, identity, handle)

        def by_split(p, r):
            p.init(4, r, 9, 0xA0)
            p.split(0xA0, r // 2, 0xC0)
            p.split(0xA0, r % 2, 0xD0)

        def with_none(p, r):
            p.init(4, r, 9, 0xA0)
            p.split(0xA0, -1, 0)  # this rank has no part
            p.split(0xA0, r // 2, 0xC0)
            p.split(0xA0, r % 2, 0xD0)

        for make in (by_id, by_split, with_none):
            self.assertEqual(self.pairs(make), expected, make.__name__)

    def test_view_has_the_same_arrivals(self):
        db = self.job(late=3, by="kernel", seed=11)
        with sqlite3.connect(self.path(db)) as connection:
            last = connection.execute("""WITH arrival AS (SELECT number, min(begin_ns) AS first, max(begin_ns) AS last, count(*) AS nr
                FROM rtl_collective GROUP BY number) SELECT rank, last - first, nr FROM rtl_collective JOIN arrival USING (number)
                WHERE begin_ns = last""").fetchall()
            waits = connection.execute("""SELECT sum(M.last - C.begin_ns) FROM rtl_collective C JOIN (SELECT number, max(begin_ns) AS last
                FROM rtl_collective GROUP BY number) M USING (number) WHERE rank = 0""").fetchone()[0]
        self.assertEqual((len(last), {rank for rank, _, _ in last}, {nr for _, _, nr in last}), (30, {3}, {4}))
        rows = {r["rank"]: r for r in self.rows(db)}
        self.assertEqual((rows["rank 3"]["skew_mean_ns"], rows["rank 0"]["wait_ns"]), (sum(skew for _, skew, _ in last) // 30, waits))

    def test_runs_without_a_plant_accuse_nobody(self):
        for seed in range(6):
            rows = self.rows(self.job(seed=seed, in_one=seed % 2 == 1))
            self.assertEqual({(r["verdict"], r["class"]) for r in rows}, {("", "transfer")})

    def findings(self, db, *args):
        return {f["id"]: f for f in json.loads(self.rtl("summary", db, "--by", "overview", "-f", "json", *args).stdout)["findings"]}

    def test_late_rank_is_a_finding(self):
        db = self.job(late=2, by="host", seed=3)
        found, row = self.findings(db)["late-rank"], self.rows(db)[0]
        numbers = {n["key"]: n["value"] for n in found["numbers"]}
        self.assertEqual((numbers["late_ns"], numbers["last"], numbers["collectives"]), (row["late_ns"], 30, 30))
        self.assertRegex(found["text"], r"^The other ranks wait for rank 2: it comes last to 30 of 30 ncclAllReduce, by 299.6 us on average, "
                                        r"which is \d+\.?\d*% of the time; cause: launched late\.$")
        self.assertEqual((found["query"], found["severity"]), ("--by collective", "high" if numbers["share"] >= 0.5 else "medium" if numbers["share"] >= 0.2 else "low"))
        self.assertIn(found["text"], " ".join(self.rtl("summary", db, env={"COLUMNS": "500"}).stdout.split()))
        self.assertNotIn("late-rank", self.findings(self.job(seed=4)))
        self.assertNotIn("late-rank", self.findings(self.job(late=2, by="host", varies=400_000, is_in_call=True, seed=5)))
        # of a part of the time nothing is said
        self.assertNotIn("late-rank", self.findings(db, "--time", "0:3ms"))

    def test_another_order_of_two_ranks_is_a_finding(self):
        processes = [Rank(500 + r, 1, 2, r) for r in range(2)]
        for n in range(10):
            begins = [p.compute(0, 200_000) for p in processes]
            for r, (p, begin) in enumerate(zip(processes, begins)):
                is_gather = n % 2 if not (r == 1 and n in (4, 5)) else 1 - n % 2
                p.collective([begin], max(begins) + 40_000, 1 << 20, function=GATHER if is_gather else REDUCE)
        for p in processes:
            p.s.write(self.path(f"{p.s.pid}.rtl"))
        self.rtl("merge", "-q", "500.rtl", "501.rtl", "-o", "order.db")
        found = self.findings("order.db")["collective-order"]
        self.assertEqual(found["text"], "Ranks call collectives in different orders: number 5 of communicator 0 is ncclAllReduce on rank 0 and ncclAllGather on rank 1; 2 differ in all.")
        self.assertEqual((found["severity"], [n["value"] for n in found["numbers"]]), ("high", [5, 2]))
        self.assertEqual({r["inconclusive"] for r in self.rows("order.db") if r["name"] == "ncclAllReduce"}, {1})
        self.assertNotIn("collective-order", self.findings(self.job(seed=4)))

    def mpi_job(self, late=None, swapped=False, rounds=30, ranks=3, clock=None, seed=7, size=4096):
        """Ranks without GPUs that call MPI: a barrier and an all-reduce in turn, and a broadcast, for which no rank waits; the late one computes 2 ms longer.
        With a clock the second half of the ranks are on another host, whose clock is that; ranks return some time after the last one has come."""
        rng = random.Random(seed)
        spools = []
        for r in range(ranks):
            s = spool.Spool(pid=700 + r)
            is_other = clock is not None and r >= ranks // 2
            for key, value in (("command", "./solve"), ("host", "node2" if is_other else "node1"), ("mode", "standard"), ("version", "0.1.0"), ("rank", str(r)), ("world_size", str(ranks))):
                s.info(key, value)
            if is_other:
                s.boot = b"00000000-0000-4000-8000-000000000002"
                other_clock(s, *clock)
            s.thread(s.tid, "solve")
            for number, name in ((1, "MPI_Barrier"), (2, "MPI_Allreduce"), (3, "MPI_Bcast"), (4, "MPI_Comm_dup")):
                s.op(number, name, "comm:x,ranks:i,bytes:z", domain=MPI)
            spools.append(s)
        self.start_ns = spools[0].start
        now = spools[0].start + 10_000
        for n in range(rounds):
            function = [1 + (n + (swapped and r == 1 and n in (6, 7))) % 2 for r in range(ranks)]
            begins = [now + int(rng.gauss(500_000, 5000)) + (2_000_000 if r == late else 0) for r in range(ranks)]
            end = max(begins) + 20_000
            for r, s in enumerate(spools):
                s.api(3, begins[r] - 3000, begins[r] - 2000, (0x77, ranks, 64), domain=MPI)
                s.api(1, begins[r] - 1000, begins[r] - 900, (2, 1, 0), domain=MPI)  # MPI_COMM_SELF
                s.api(function[r], begins[r], end + 100 * r if not clock else max(begins) + 2000 + int(rng.expovariate(1 / 100_000)), (1, ranks, size), domain=MPI)
            now = end + 1000
        for s in spools:
            s.write(self.path(f"{s.pid}.rtl"))
        self.rtl("merge", "-q", "--force", *[f"{s.pid}.rtl" for s in spools], "-o", "mpi.db")
        rows = self.rows("mpi.db")
        return {(r["name"], r["rank"]): r for r in rows}

    def test_collectives_of_mpi_are_matched_by_communicator_and_order(self):
        rows = self.mpi_job(late=1)
        self.assertEqual({(name, r["calls"], r["ranks"], r["inconclusive"]) for (name, _), r in rows.items()},
                         {("MPI_Barrier", 15, 3, 0), ("MPI_Allreduce", 15, 3, 0), ("MPI_Bcast", 30, 3, 30)})
        self.assertEqual({key: r["cause"] for key, r in rows.items() if r["verdict"] == "late"},
                         {("MPI_Barrier", "rank 1"): "called late", ("MPI_Allreduce", "rank 1"): "called late"})
        self.assertAlmostEqual(rows["MPI_Barrier", "rank 1"]["skew_mean_ns"], 2_000_000, delta=20_000)
        self.assertAlmostEqual(rows["MPI_Allreduce", "rank 0"]["transfer_mean_ns"], 20_100, delta=100)
        self.assertIsNone(rows["MPI_Allreduce", "rank 1"]["bus_bandwidth"])
        self.assertEqual((rows["MPI_Barrier", "rank 1"]["wait_ns"], rows["MPI_Allreduce", "rank 2"]["bytes"]), (0, 15 * 4096))
        self.assertNotIn("late", {r["verdict"] for r in self.mpi_job().values()})

    def test_clocks_of_hosts_are_aligned_by_collectives_of_mpi(self):
        for seed, offset in ((1, 7_000_000_000), (2, -350_000_000)):
            rows = self.mpi_job(ranks=4, rounds=1000, clock=(offset, 20e-6), seed=seed)
            self.assertEqual({r["inconclusive"] for (name, _), r in rows.items() if name == "MPI_Bcast"}, {1000})
            for clock in self.clocks("mpi.db")[1:]:
                self.assertEqual((clock["host"], clock["method"]), ("node2", "collectives"))
                true = offset + 20e-6 * (clock["first_ns"] - self.start_ns - offset)
                self.assertLess(abs(clock["offset_ns"] - true), clock["error_ns"] + 10)
                self.assertLess(clock["error_ns"], 20_000)
        # without data a rank need not wait, but in a barrier
        for size, nr in ((4096, 30), (0, 15)):
            self.mpi_job(ranks=4, rounds=30, clock=(7_000_000_000, 0), size=size)
            self.assertEqual(sum(c["collectives"] for c in self.clocks("mpi.db")[1:]), nr)
        self.mpi_job(ranks=4, rounds=5, clock=(7_000_000_000, 0))
        self.assertEqual([(c["method"], c["offset_ns"]) for c in self.clocks("mpi.db")[1:]], [("none", None)])

    def test_another_order_of_calls_of_mpi_is_found(self):
        rows = self.mpi_job(swapped=True)
        self.assertEqual(rows["MPI_Barrier", "rank 0"]["inconclusive"], 1)
        self.assertIn("the order differs: collective 7 is MPI_Barrier on rank 0 and MPI_Allreduce on rank 1; 2 such in all",
                      self.rtl("summary", "mpi.db", "--by", "collective").stderr)

    def test_hosts_that_wait_for_processors_are_inconclusive(self):
        for varies, is_in_call, verdict in ((400_000, True, "inconclusive"), (20_000, True, "late"), (400_000, False, "late")):
            db = self.job(late=2, by="host", varies=varies, is_in_call=is_in_call, seed=5)
            rows = self.rows(db)
            self.assertEqual([(r["rank"], r["verdict"], r["cause"]) for r in rows if r["verdict"]], [("rank 2", verdict, "launched late")])
            said = self.rtl("summary", db, "--by", "collective").stderr
            self.assertEqual(("rank 2 is late: last in " in said, "; inconclusive, since that varies by " in said), (verdict == "late", verdict != "late"), said)

    def test_lateness_of_a_slice_of_the_scheduler_counts_in_own_code_alone(self):
        for is_in_call in (True, False):
            db = self.job(late=2, by="host", varies=20_000, is_in_call=is_in_call, late_ns=4_000_000)
            self.assertEqual([r["rank"] for r in self.rows(db) if r["verdict"] == "late"], [] if is_in_call else ["rank 2"])
            said = self.rtl("summary", db, "--by", "collective").stderr
            self.assertEqual("; inconclusive, since that is within calls, and no longer than threads wait for a processor" in said, is_in_call, said)

    def test_host_that_sleeps_is_late_among_hosts_that_wait_for_processors(self):
        for late, sleeps in ((2, True), (2, False), (None, False)):
            rows = self.rows(self.job(late=late, by="host", varies=800_000, is_in_call=True, sleeps=sleeps, seed=7))
            last = max(rows, key=lambda row: row["last"])
            self.assertEqual([r["rank"] for r in rows if r["verdict"] == "late"], ["rank 2"] if sleeps else [], (late, sleeps))
            if sleeps:  # not in more than half of them
                self.assertTrue(last["rank"] == "rank 2" and last["last"] * 2 <= last["skew"], last)

    def test_hosts_of_one_boot_have_one_clock(self):
        rows = self.rows(self.job(late=1, hosts=2))
        self.assertEqual([r["rank"] for r in rows if r["verdict"] == "late"], ["rank 1"])
        self.assertEqual({r["inconclusive"] for r in rows}, {0})

    def test_clocks_of_hosts_are_aligned_by_collectives(self):
        for late, seed in ((0, 1), (3, 2)):
            # the other host was started 12 days later; its clock is 18 ppm fast
            db = self.job(late=late, by="kernel", hosts=2, seed=seed, clock=(1_036_800_123_456_789, 18e-6))
            rows = self.rows(db)
            self.assertEqual([r["rank"] for r in rows if r["verdict"] == "late"], [f"rank {late}"])
            self.assertEqual((rows[0]["cause"], rows[0]["last"], rows[0]["inconclusive"]), ("longer kernels", 30, 0))
            self.assertAlmostEqual(rows[0]["late_ns"] / 30, 300_000, delta=10_000)
            said = self.rtl("summary", db, "--by", "collective").stderr
            self.assertRegex(said, r"the clock of host node1 is \S+ \w+ ahead of that of node0, drift \+1\d\.\d+ ppm, error \S+ us at most, by 30 collectives")
            with sqlite3.connect(self.path(db)) as connection:
                spans = connection.execute("SELECT max(end_ns) - min(begin_ns) FROM rtl_collective").fetchone()
            self.assertGreater(spans[0], 10**15)  # times are as recorded

            clocks = self.clocks(db)
            self.assertEqual([(c["host"], c["of_host"], c["method"]) for c in clocks], [("node0", None, "reference"), ("node1", "node0", "collectives")])
            self.assertEqual((clocks[0]["offset_ns"], clocks[1]["collectives"]), (None, 30))
            self.assertAlmostEqual(clocks[1]["offset_ns"], 1_036_800_123_456_789, delta=clocks[1]["error_ns"] + 10_000)
            self.assertAlmostEqual(clocks[1]["drift_ppm"], 18, delta=5)

    def test_skew_within_the_error_of_the_clocks_is_not_claimed(self):
        rows = self.rows(self.job(hosts=2, clock=(5_000_000_000, 0), plain=30_000))
        self.assertEqual({(r["verdict"], r["late_ns"]) for r in rows}, {("", 0)})
        self.assertEqual({r["inconclusive"] for r in rows}, {30})

    def test_hosts_with_too_few_collectives_are_not_compared(self):
        db = self.job(late=1, hosts=2, rounds=5, clock=(5_000_000_000, 0))
        self.assertEqual({(r["inconclusive"], r["late_ns"], r["verdict"], r["skew_mean_ns"]) for r in self.rows(db)}, {(5, 0, "", None)})
        self.assertIn("the clock of host node1 can't be compared with that of node0: it has too few collectives with other hosts",
                      self.rtl("summary", db, "--by", "collective").stderr)
        self.assertEqual([(c["method"], c["error_ns"], c["reason"]) for c in self.clocks(db)[1:]],
                         [("none", None, "it has too few collectives with other hosts")])

    def test_time_namespace_of_the_boot_is_exact(self):
        db = self.job(late=1, hosts=2, rounds=5, clock=(5_000_000_000, 0), namespace=True)
        self.assertEqual([r["last"] for r in self.rows(db)][0], 5)
        self.assertIn("the clock of host node1 is 5.000 s ahead of that of node0: another time namespace",
                      self.rtl("summary", db, "--by", "collective").stderr)
        self.assertEqual([(c["method"], c["offset_ns"], c["error_ns"], c["first_ns"]) for c in self.clocks(db)[1:]], [("boot", 5_000_000_000, 0, None)])

    def test_forms_agree_and_traces_without_collectives_say_so(self):
        db = self.job(late=0, by="host")
        rows = self.rows(db)
        table = list(csv.DictReader(io.StringIO(self.rtl("summary", db, "--by", "collective", "-f", "csv").stdout)))
        self.assertEqual([(r["rank"], int(r["late_ns"])) for r in table], [(r["rank"], r["late_ns"]) for r in rows])
        p = self.rtl("summary", db, "--by", "collective")
        self.assertIn("rank 0 is late: last in 30 of 30 ncclAllReduce, by ", p.stderr)
        self.assertEqual(self.rows(db, "--collectives", "^gemm")[0]["ranks"], 4)
        self.assertIn("--collectives", self.rtl("summary", db, "--by", "collective", "--collectives", "(", status=2).stderr)
        spool.sample(10).write(self.path("alone.rtl"))
        self.assertIn("no collective of several GPUs", self.rtl("summary", "alone.rtl", "--by", "collective").stderr)

    def test_page_shows_what_rtl_prints(self):
        with open(os.path.join(SOURCE, "docs/which-rank-is-late.md"), encoding="utf-8") as file:
            shown = re.search(r"```text\n\$ rtl summary job.db --by collective\n(.*?)```", file.read(), re.S).group(1)
        os.rename(self.path(self.job(late=2, by="host", seed=3)), self.path("job.db"))
        p = self.rtl("summary", "job.db", "--by", "collective", env={"COLUMNS": "100"})
        self.assertEqual(p.stdout + p.stderr, shown)


class Lane(PerfettoReader):
    """The track of collectives in Perfetto's format, and in Chrome's JSON."""

    job = Collectives.job

    def events(self, db):
        """Those of Chrome's JSON, and the time that they count from."""
        with open(self.convert(db, "perfetto", "t.json"), encoding="utf-8") as file:
            trace = json.load(file)
        return trace["traceEvents"], trace["baseTimeNanoseconds"]

    def waits(self, db):
        """(the last rank's kernel, a kernel that waited for it) of all collectives, by ids."""
        with sqlite3.connect(self.path(db)) as connection:
            rows = connection.execute("SELECT number, op_id, first_value(op_id) OVER (PARTITION BY number ORDER BY begin_ns DESC) FROM rtl_collective").fetchall()
            times = dict((op, (begin, end)) for op, begin, end in connection.execute("SELECT op_id, begin_ns, end_ns FROM rtl_collective"))
        return sorted((times[last], times[op]) for _, op, last in rows if op != last)

    def test_collectives_are_slices_with_the_last_rank(self):
        db = self.job(late=2, by="host", seed=3)
        self.read(self.convert(db, "pftrace", "t.pftrace"))
        slices = self.of("collective")
        whole = [s for s in slices if s.name == "ncclAllReduce"]
        self.assertEqual([s.args["number"] for s in whole], list(range(1, 31)))
        self.assertEqual(len({s.track for s in slices}), 1)
        with sqlite3.connect(self.path(db)) as connection:
            rows = connection.execute("SELECT min(begin_ns), max(begin_ns), max(end_ns) FROM rtl_collective GROUP BY number ORDER BY 1").fetchall()
        self.assertEqual([(s.begin, s.args["skew_ns"], s.args["transfer_ns"], s.end) for s in whole],
                         [(first, last - first, end - last, end) for first, last, end in rows])
        waits = [s for s in slices if s.name.startswith("wait for ")]
        self.assertEqual([s.name for s in waits[1:]], 29 * ["wait for rank 2 (launched late)"])
        self.assertEqual([(s.begin, s.end) for s in waits], [(first, last) for first, last, _ in rows])
        self.assertEqual([s.begin for s in slices if s.name == "transfer"], [last for _, last, _ in rows])
        self.assertEqual({self.tracks[s.track].name for s in slices}, {"communicator 0 of rank 0 and 3 more"})

    def test_arrows_lead_from_the_last_rank_to_those_that_waited(self):
        for in_one in (False, True):
            db = self.job(late=2, by="host", seed=3, in_one=in_one)
            waits = self.waits(db)
            self.assertEqual(len(waits), 30 * 3)
            self.read(self.convert(db, "pftrace", "t.pftrace"))
            kernels = self.of("kernel")
            begun, ended = [{f: s for s in kernels for f in flows(s) if f >> 63} for flows in (lambda s: s.flows, lambda s: s.end_flows)]
            self.assertEqual(sorted(((begun[f].begin, begun[f].end), (s.begin, s.end)) for f, s in ended.items()), waits)
            self.assertEqual((set(begun), sum(f >> 63 for s in kernels for f in s.flows + s.end_flows)), (set(ended), 2 * len(waits)))
            # readers lead a flow from its earlier packet to its later one
            self.assertTrue(all(begun[f].begin < s.end for f, s in ended.items()))

    def test_chromes_json_has_the_same_slices_and_arrows(self):
        for in_one in (False, True):
            db = self.job(late=2, by="host", seed=3, in_one=in_one)
            self.read(self.convert(db, "pftrace", "t.pftrace"))
            events, base = self.events(db)
            ns = lambda us: base + round(us * 1000)
            mine = [e for e in events if e.get("cat") == "collective" and e["ph"] == "X"]
            self.assertEqual(sorted((ns(e["ts"]), ns(e["ts"] + e["dur"]), e["name"], e.get("args", {}).get("number")) for e in mine),
                             sorted((s.begin, s.end, s.name, s.args.get("number")) for s in self.of("collective")))
            self.assertEqual([e["args"] for e in mine if "args" in e], [s.args for s in self.of("collective") if s.args])
            names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
            self.assertEqual({names[e["pid"], e["tid"]] for e in mine}, {self.tracks[s.track].name for s in self.of("collective")})
            ends = {(e["ph"], e["id"]): e for e in events if e.get("cat") == "collective" and e["ph"] in "sf"}
            self.assertEqual({e["bp"] for (phase, _), e in ends.items() if phase == "f"}, {"e"})

            def bound(end):
                """As viewers bind it: to the slice of the track that is open then."""
                found = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == (end["pid"], end["tid"]) and e["ts"] <= end["ts"] < e["ts"] + e["dur"]]
                self.assertEqual([e["cat"] for e in found], ["kernel"])
                return ns(found[0]["ts"]), ns(found[0]["ts"] + found[0]["dur"])

            self.assertEqual(sorted((bound(ends["s", i]), bound(ends["f", i])) for phase, i in ends if phase == "s"), self.waits(db))

    def test_clocks_that_differ_and_single_processes_have_no_track(self):
        self.read(self.convert(self.job(late=1, hosts=2, rounds=15, clock=(5_000_000_000, 0)), "pftrace", "t.pftrace"))
        self.assertEqual(self.of("collective"), [])
        self.assertFalse([f for s in self.slices for f in s.flows + s.end_flows if f >> 63])
        self.assertFalse([e for e in self.events("job1.db")[0] if e.get("cat") == "collective"])


if __name__ == "__main__":
    unittest.main()
