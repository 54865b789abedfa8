#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data sets of Parquet: read by a reader of our own and by engines that npm fetches, and compared with the database by SQL"""
import glob
import json
import random
import signal
import sqlite3
import stat

from support import parquet, spool
from support.cli import *
from support.npm import npm_folder

TABLES = ("agents", "calls", "clocks", "copies", "counters", "dispatches", "losses", "processes", "ranges")
# What a data set has, from the views of a database of rtl; each as the columns, the rows of a process P, and how they are ordered
OF = "from {} join rtl_process P on {} between P.id_first and P.id_last"
LOCAL = "nullif({0}, 0) - P.id_first"
TIMES = "case when V.flags & 65536 then null else V.begin_ns end, case when V.flags & 65544 then null else V.end_ns end"
CAUSED = ", ".join(LOCAL.format("V." + name) for name in ("correlation_id", "marker_id"))
CALL = "(select A.id - P.id_first from rocpd_api_ops L join rocpd_api A on A.id = L.api_id join rocpd_string D on D.id = A.domain_id where L.op_id = V.op_id and D.string <> 'rtl')"
SQL = {
    "dispatches": (
        "id pid kernel gpu queue grid_x grid_y grid_z block_x block_y block_z begin_ns end_ns correlation_id range_id call_id flags",
        f"""select V.op_id - P.id_first, P.os_pid, V.kernel, V.agent % 1000, V.queue, V.grid_x, V.grid_y, V.grid_z, V.group_x, V.group_y, V.group_z,
            {TIMES}, {CAUSED}, {CALL}, V.flags {OF.format("rtl_dispatch V", "V.op_id")} where not V.flags & 32 and V.kernel not glob '__amd_rocclr_[cf]*'"""),
    "copies": (
        "id pid kind bytes gpu queue src dst means begin_ns end_ns correlation_id range_id call_id flags",
        f"""select V.op_id - P.id_first, P.os_pid, V.kind, V.bytes, V.agent % 1000, V.queue, nullif(V.src, ''), nullif(V.dst, ''), V.means,
            {TIMES}, {CAUSED}, {CALL}, V.flags {OF.format("rtl_transfer V", "V.op_id")}"""),
    "calls": (
        "id pid tid domain name begin_ns end_ns status correlation_id parent_id args",
        f"""select V.api_id - P.id_first, P.os_pid, V.tid, V.domain, V.name, V.begin_ns, V.end_ns, V.status, {LOCAL.format("V.correlation_id")},
            {LOCAL.format("V.parent_id")}, V.args {OF.format("rtl_api V", "V.api_id")}"""),
    "ranges": (
        "id pid tid kind message begin_ns end_ns level parent_id",
        f"""select V.marker_id - P.id_first, P.os_pid, V.tid, V.kind, V.message, V.begin_ns, V.end_ns, V.level, {LOCAL.format("M.parent_id")}
            {OF.format("rtl_marker V join rtl_marker_data M on M.api_id = V.marker_id", "V.marker_id")}"""),
    "processes": (
        "pid parent_pid host boot_id world_size local_rank command start_ns end_ns first_ns last_ns state",
        """select os_pid, ppid, host, boot_id, world_size, local_rank, command, start_ns, nullif(end_ns, 0), nullif(first_ns, 0), nullif(last_ns, 0), state
            from rtl_process P where 1"""),
    "losses": (
        "pid reason class count first_ns last_ns text",
        """select P.os_pid, reason, class, count, nullif(L.first_ns, 0), nullif(L.last_ns, 0), text from rtl_loss_data L join rtl_process P on P.id = L.process_id
            where 1"""),
    "agents": (
        "pid agent type gpu label name product uuid bdf compute_units wave_size clock_mhz",
        """select P.os_pid, agent_index, type, gpu_id % 1000, label, name, product, uuid, bdf, nr_cu, wave_size, clock_mhz from rtl_agent G join
            rtl_process P on P.id = G.process_id where 1"""),
    "counters": (
        "dispatch_id pid counter unit value",
        f"""select V.op_id - P.id_first, P.os_pid, N.string, coalesce(U.unit, ''), V.value {OF.format('''rocpd_counter V join rocpd_string N on N.id = V.name_id
            left join rtl_counter_name U on U.id = V.name_id''', "V.op_id")} where 1"""),
    "clocks": (
        "pid agent system_ns monotonic_ns boottime_ns realtime_ns ticks",
        """select P.os_pid, (select agent_index from rtl_agent G where G.id = K.agent_id), system_ns, monotonic_ns, boottime_ns, realtime_ns, ticks
            from rtl_clock K join rtl_process P on P.id = K.process_id where 1"""),
}
RPD = RPD_TABLES + """
    insert into rocpd_string values (1, ''), (2, 'hipLaunchKernel'), (3, 'gemm'), (4, 'KernelExecution'), (5, 'CopyHostToDevice'), (6, 'UserMarker'),
        (7, 'step'), (8, 'stream=0x55aa');
    insert into rocpd_api values (1, 77, 78, 1000, 2000, 2, 8), (2, 77, 78, 500, 9000, 6, 7);
    insert into rocpd_op values (1, 0, 3, 1, '', 3000, 5000, 3, 4), (2, 0, 0, 2, '', 5000, 6000, 1, 5);
    insert into rocpd_api_ops values (1, 1, 1);
"""
DUCKDB = """
    import { DuckDBInstance } from '@duckdb/node-api';
    const c = await (await DuckDBInstance.create(':memory:')).connect();
    for (const sql of process.argv.slice(2)) {
        const rows = (await c.runAndReadAll(sql)).getRowsJS();
        console.log(JSON.stringify(rows, (_, v) => typeof v === 'bigint' ? Number(v) : v));
    }
"""
HYPARQUET = """
    import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
    import { gunzipSync } from 'node:zlib';
    const compressors = { GZIP: (bytes) => gunzipSync(bytes) };
    for (const name of process.argv.slice(2)) {
        const rows = await parquetReadObjects({ file: await asyncBufferFromFile(name), compressors });
        console.log(JSON.stringify(rows, (_, v) => typeof v === 'bigint' ? Number(v) : v));
    }
"""


def key(row):
    return tuple((v is not None, v) for v in row)


class Sets(Case):
    def database(self, trace, name="t"):
        trace.write(self.path(name + ".rtl"))
        self.rtl("recover", "-q", name + ".rtl", "-o", name + ".db", "--force")
        return name + ".db"

    def convert(self, *names, out="set", options=(), **kwargs):
        self.rtl("convert", "-q", "-f", "parquet", "-o", out, *options, *names, **kwargs)
        return out

    def folders(self, out="set"):
        return sorted(os.path.relpath(p, self.path(out)) for p in glob.glob(self.path(out) + "/*/*"))

    def read(self, table, out="set", folder="job=*/rank=*"):
        """Rows as dictionaries, of all folders that the pattern has."""
        rows = []
        for name in sorted(glob.glob(self.path(f"{out}/{folder}/{table}.parquet"))):
            file = parquet.read(name)
            self.assertEqual((file.table, file.metadata), (table, {"rtl.table": table, "rtl.schema": "2"}))
            rows += file.dicts()
        return rows

    def wanted(self, name, table, where=""):
        columns, query = SQL[table]
        with sqlite3.connect(f"file:{self.path(name)}?mode=ro", uri=True) as db:
            db.text_factory = lambda text: text.decode(errors="backslashreplace")
            return columns.split(), sorted(db.execute(query + where), key=key)

    def compare(self, name, out="set", folder="job=*/rank=*", where=""):
        for table in SQL:
            columns, rows = self.wanted(name, table, where)
            found = self.read(table, out, folder)
            self.assertEqual(sorted((tuple(r[c] for c in columns) for r in found), key=key), rows, table)

    def odd(self, rank=None, pid=None):
        """What rows of each table can be: copies by kernels, no times, inverted ones, texts that are no UTF-8, losses."""
        s = spool.calls(pid, rank=rank, world_size=4 if rank is not None else None)
        queue = s.queue(1)
        s.dispatch(s.kernel("__amd_rocclr_copyBuffer.kd"), queue, s.start + 100, s.start + 200)
        s.dispatch(s.kernel(b"caf\xe9\n"), queue, s.start + 300, s.start + 200)
        s.dispatch(1, queue, s.start, s.start, flags=4)
        s.dispatch(1, queue, s.start + 400, 0, flags=8, grid=(2**32 - 1, 2, 3), group=(1024, 1, 1))
        s.marker(s.start + 700, "one;\ttwo\x01", kind=spool.MARK)
        s.marker(s.start + 800, "no end")
        s.loss("buffer_full", 17)
        return s

    def large(self, nr=10000, rank=None):
        """Several pages of a column, of which some have a dictionary that gets too large."""
        rng = random.Random(43)
        s = spool.sample(0, rank=rank)
        names = [s.kernel(f"_Z6kernel{i}") for i in range(200)]
        for i in range(nr):
            begin = s.start + i * 1500 + rng.randrange(1000)
            s.dispatch(rng.choice(names), rng.randrange(2), begin, begin + rng.randrange(1 << rng.randrange(40)), correlation=rng.randrange(2**30),
                       grid=(rng.choice((64, 256, 1 << 20)), rng.randrange(1, 2**32), 1), group=(64, rng.randrange(1, 17), 1))
        return s

    # ---- rows

    def test_rows_equal_sql(self):
        db = self.database(self.odd())
        self.convert(db)
        self.assertEqual(self.folders(), ["job=0/rank=-1"])
        self.compare(db)
        self.assertEqual([r["stream"] for r in self.read("dispatches") if r["call_id"]].count(None), 0)
        self.assertEqual({r["stream"] for r in self.read("dispatches")}, {None, 1, 2})
        process, = self.read("processes")
        self.assertEqual((process["complete"], process["lost"], process["realtime_ns"]), (False, 17, 1_790_000_000_000_000_000 - 1_000_000_000_000))
        # a raw trace has the same rows
        self.convert("t.rtl", out="raw")
        self.compare(db, "raw")

    def test_pages_with_and_without_a_dictionary(self):
        db = self.database(self.large())
        self.convert(db)
        self.compare(db)
        file = parquet.read(self.path("set/job=0/rank=-1/dispatches.parquet"))
        seen = {name: file.groups[0][i].seen for i, name in enumerate(file.names)}
        self.assertEqual(seen["grid_x"], {parquet.DICTIONARY})
        self.assertEqual(seen["grid_y"], {parquet.DICTIONARY, parquet.DELTA})
        self.assertEqual(seen["begin_ns"], {parquet.DELTA})
        self.assertEqual(seen["stream"], {parquet.PLAIN})

    def test_arguments_that_differ(self):
        """First more than are looked up by their ids repeat; then their dictionary gets too large; they are packed."""
        s = spool.sample(0)
        malloc = s.op(3, "hipMalloc", "ptr:p,size:z")
        for i in range(50000):
            s.api(malloc, s.start + 100 * i, s.start + 100 * i + 50, (0x7000 + 16 * (i % 5000 if i < 10000 else i), 1 << 20))
        db = self.database(s)
        self.convert(db)
        file = parquet.read(self.path("set/job=0/rank=-1/calls.parquet"))
        args = file.groups[0][file.names.index("args")]
        self.assertEqual((args.seen, args.meta[4]), ({parquet.DICTIONARY, parquet.PLAIN}, parquet.GZIP))
        self.assertLess(args.meta[7] * 4, args.meta[6])
        columns, rows = self.wanted(db, "calls")
        self.assertEqual(sorted((tuple(r[c] for c in columns) for r in file.dicts()), key=key), rows)

    def test_database_of_rpd(self):
        with sqlite3.connect(self.path("rpd.db")) as db:
            db.executescript(RPD)
        self.convert("rpd.db")
        dispatch, = self.read("dispatches")
        self.assertEqual({n: v for n, v in dispatch.items() if v is not None},
                         {"id": 1, "kernel": "gemm", "gpu": 0, "queue": 3, "stream": 1, "begin_ns": 3000, "end_ns": 5000, "call_id": 1, "flags": 0})
        copy, = self.read("copies")
        self.assertEqual((copy["kind"], copy["bytes"], copy["begin_ns"]), ("CopyHostToDevice", None, 5000))
        call, = self.read("calls")
        self.assertEqual((call["id"], call["pid"], call["name"], call["args"]), (1, 77, "hipLaunchKernel", "stream=0x55aa"))
        self.assertEqual([r["message"] for r in self.read("ranges")], ["step"])
        self.assertEqual([(r["pid"], r["complete"]) for r in self.read("processes")], [(77, None)])
        self.assertEqual([self.read(t) for t in ("agents", "counters", "losses", "clocks")], [[]] * 4)

    # ---- folders

    def test_ranks_of_a_merged_file_are_as_those_of_their_own(self):
        ranks = {rank: self.odd(rank, 1000 + rank) for rank in (0, 1, 10)}
        ranks[10].boot = b"00000000-0000-4000-8000-000000000002"  # of another host
        names = [self.database(trace, f"r{rank}") for rank, trace in ranks.items()]
        self.rtl("merge", "-q", "-o", "m.db", *names)
        self.convert(*names, out="apart")
        self.convert("m.db", out="one")
        self.assertEqual(self.folders("apart"), ["job=0/rank=0", "job=0/rank=1", "job=0/rank=10"])
        self.assertEqual(self.folders("one"), self.folders("apart"))
        for folder in self.folders("one"):
            for table in TABLES:
                one, apart = (sorted((tuple(r.values()) for r in self.read(table, out, folder)), key=key) for out in ("one", "apart"))
                self.assertEqual(one, apart, (folder, table))
            self.compare("m.db", "one", folder, f" and P.rank = {folder.rsplit('=', 1)[1]}")

    def test_job_is_in_the_folder(self):
        s = self.odd(rank=3)
        s.info("job", "12[4].cluster")
        self.convert(self.database(s))
        self.assertEqual(self.folders(), ["job=12%5B4%5D.cluster/rank=3"])
        self.convert("t.db", options=("--job", "mine"))
        self.assertEqual(self.folders(), ["job=12%5B4%5D.cluster/rank=3", "job=mine/rank=3"])
        self.assertIn("only -f parquet", self.rtl("convert", "t.db", "--job", "x", status=2).stderr)

    def test_folder_is_replaced_with_force_alone(self):
        self.convert(self.database(spool.sample(3)))
        p = self.rtl("convert", "t.db", "-f", "parquet", "-o", "set", status=1)
        self.assertIn("rank=-1: exists; use --force", p.stderr)
        self.database(spool.sample(5))
        self.convert("t.db", options=("--force",))
        self.assertEqual(len(self.read("dispatches")), 5)
        self.assertEqual(sorted(os.listdir(self.path("set/job=0"))), ["rank=-1"])
        with open(self.path("set/job=0/rank=-1/notes.txt"), "w", encoding="ascii") as f:
            f.write("mine")
        self.assertIn("other files", self.rtl("convert", "t.db", "-f", "parquet", "-o", "set", "--force", status=1).stderr)
        self.assertEqual(sorted(os.listdir(self.path("set/job=0/rank=-1"))), sorted([t + ".parquet" for t in TABLES] + ["notes.txt"]))

    def test_several_traces_need_a_data_set(self):
        self.database(spool.sample(1))
        self.assertIn("-o DIR", self.rtl("convert", "t.db", "t.db", "-f", "parquet", status=2).stderr)
        self.assertIn("rtl merge", self.rtl("convert", "t.db", "t.db", "-o", "o", status=2).stderr)
        self.assertIn("name a directory", self.rtl("convert", "t.db", "-f", "parquet", "-o", "-", status=1).stderr)
        with open(self.path("file"), "w", encoding="ascii") as f:
            f.write("x")
        self.assertIn("file", self.rtl("convert", "t.db", "-f", "parquet", "-o", "file", status=1).stderr)
        self.rtl("convert", "-q", "t.db", "-f", "parquet")
        self.assertEqual(self.folders("t.parquet"), ["job=0/rank=-1"])

    def test_trace_without_events_and_damaged_ones(self):
        self.convert(self.database(spool.Spool()))
        self.assertEqual({t: len(self.read(t)) for t in TABLES if self.read(t)}, {"processes": 1})
        rng, nr_read = random.Random(43), 0
        self.database(self.odd())
        with open(self.path("t.db"), "rb") as f:
            data = f.read()
        for i in range(40):
            damaged = bytearray(data[: rng.randrange(200, len(data))] if i % 4 == 0 else data)
            for _ in range(rng.randrange(1, 40)):
                damaged[rng.randrange(100, len(damaged))] = rng.randrange(256)
            with open(self.path("d.db"), "wb") as f:
                f.write(damaged)
            shutil.rmtree(self.path("bad"), ignore_errors=True)
            p = self.rtl("convert", "-q", "-f", "parquet", "-o", "bad", "d.db", status=None)
            self.assertIn(p.returncode, (0, 1), p.stderr)
            if p.returncode:
                self.assertIn("d.db", p.stderr)
                self.assertEqual(glob.glob(self.path("bad/*/*")) + glob.glob(self.path("bad/*/.*")), [])
            for table in TABLES:
                nr_read += len(self.read(table, "bad"))
        self.assertGreater(nr_read, 0)

    def test_folder_is_whole_or_not_there(self):
        """A writer that is killed leaves the old folder, and one that no pattern finds."""
        self.convert(self.database(spool.sample(3)))
        self.database(spool.sample(5))
        p = self.start("convert", "t.db", "-f", "parquet", "-o", "set", "--force", env={"RTL_TEST_STALL": "output_begun:60000"})
        wait_until("it writes", lambda: glob.glob(self.path("set/job=0/.rank=-1.tmp-*")) or p.poll() is not None)
        p.send_signal(signal.SIGKILL)
        p.wait(20)
        self.assertEqual(len(self.read("dispatches")), 3)
        self.assertEqual(self.folders(), ["job=0/rank=-1"])
        self.convert("t.db", options=("--force",))
        self.assertEqual(len(self.read("dispatches")), 5)

    def test_stopped_in_order(self):
        self.database(spool.sample(3))
        for out, left in (("set", []), ("mine", ["mine"])):
            if left:
                os.mkdir(self.path(out))
            p = self.start("convert", "t.db", "-f", "parquet", "-o", out, env={"RTL_TEST_STALL": "output_begun:2000"})
            wait_until("it writes", lambda: glob.glob(self.path(out + "/job=0/.rank=-1.tmp-*")) or p.poll() is not None)  # pylint: disable=cell-var-from-loop
            p.send_signal(signal.SIGTERM)
            _, err = p.communicate(timeout=20)
            self.assertEqual(p.returncode, 143, err)
            self.assertEqual([f for f in self.files() if f in ("set", "mine")], left)
        self.assertEqual(os.listdir(self.path("mine")), [])

    def test_full_disk(self):
        """A rank that finds no space says so, and is not there."""
        self.database(self.large(3000))
        p = subprocess.run(["sh", "-c", 'trap "" XFSZ; exec prlimit --fsize=16384 "$@"', "sh", RTL_BIN, "convert", "t.db", "-f", "parquet", "-o", "set"],
                           cwd=self.dir, env=environment(), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertIn("File too large", p.stderr)
        self.assertNotIn("set", self.files())

    def test_who_can_read_it(self):
        """Arguments of calls may be a program's data."""
        self.addCleanup(os.umask, os.umask(0o022))
        self.database(spool.calls(), "calls")
        self.database(spool.sample(5), "none")
        for name, options, private in (("calls", (), True), ("none", (), False), ("calls", ("--public",), False)):
            self.convert(name + ".db", out=f"{name}{len(options)}", options=options)
            folder = self.path(f"{name}{len(options)}/job=0/rank=-1")
            self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o700 if private else 0o755)
            self.assertEqual({stat.S_IMODE(os.stat(os.path.join(folder, f)).st_mode) for f in os.listdir(folder)}, {0o600 if private else 0o644})

    # ---- engines

    def node(self, package, script, *args):
        """What a script prints, which uses a package of npm: one that is in NPM_FOLDER, or that npm fetches."""
        folder = npm_folder(self, package)
        name = os.path.join(folder, f"script-{os.getpid()}.mjs")
        with open(name, "w", encoding="utf-8") as f:
            f.write(script)
        self.addCleanup(os.unlink, name)
        p = subprocess.run(["node", name, *args], cwd=self.dir, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(p.returncode, 0, p.stderr)
        return [json.loads(line) for line in p.stdout.splitlines()]

    def engine_sets(self):
        names = [self.database(self.odd(rank, 1000 + rank), f"r{rank}") for rank in (0, 2, 10)] + [self.database(self.large(rank=11), "r11")]
        self.convert(*names)
        self.rtl("merge", "-q", "-o", "m.db", *names)

    def test_duckdb(self):
        """Every row of every table, with the types of the partition."""
        self.engine_sets()
        statements = [f"select {SQL[t][0].replace(' ', ', ')} from 'set/*/*/{t}.parquet'" for t in SQL]
        found = self.node("@duckdb/node-api@1.5.6-r.1", DUCKDB, *statements,
                          "select typeof(job), typeof(rank), rank, count(*) from 'set/*/*/dispatches.parquet' group by all order by rank",
                          "select count(*) from 'set/*/*/dispatches.parquet' where rank < 10 and grid_x = 1024",
                          "select count(*), sum(d.end_ns - d.begin_ns) from 'set/*/*/dispatches.parquet' d join 'set/*/*/calls.parquet' c "
                          "on (d.job, d.rank, d.pid, d.call_id) = (c.job, c.rank, c.pid, c.id)")
        for table, rows in zip(SQL, found):
            self.assertEqual(sorted(map(tuple, rows), key=key), self.wanted("m.db", table)[1], table)
        self.assertEqual(found[-3], [["BIGINT", "BIGINT", rank, nr] for rank, nr in ((0, 13), (2, 13), (10, 13), (11, 10000))])
        self.assertEqual(found[-2], [[24]])
        self.assertEqual(found[-1], [[30, 15000]])

    def test_hyparquet(self):
        self.engine_sets()
        names = sorted(glob.glob(self.path("set/job=0/*/*.parquet")))
        found = self.node("hyparquet@1.31.5", HYPARQUET, *names)
        for name, rows in zip(names, found):
            # JSON's numbers of JavaScript have 53 bits
            self.assertEqual([{n: float(v) if isinstance(v, (int, float)) and not isinstance(v, bool) else v for n, v in r.items()} for r in rows],
                             [{n: float(v) if isinstance(v, (int, float)) and not isinstance(v, bool) else v for n, v in r.items()}
                              for r in parquet.read(name).dicts()], name)


if __name__ == "__main__":
    unittest.main()
