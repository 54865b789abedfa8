#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl fleet: questions about a data set, by SQLite and by DuckDB where npm has its library, beside the same numbers in Python"""
import collections
import csv
import glob
import http.server
import io
import json
import random
import sys
import textwrap
import threading
import time

from support import parquet, spool
from support.cli import *
from support.job import HOSTS, RANKS, REDUCE, SECOND, STEPS, Job, write
from support.npm import npm_folder
from test_collective import Rank

QUESTIONS = ("overview", "ranks", "kernels", "ranges", "slow-ranks", "slow-hosts", "slow-gpus", "slow-ranges", "imbalance", "collectives", "outliers", "busy",
             "rank-kernels", "timeline")
CHDB = """
    import { Session } from 'chdb';
    import { readFileSync } from 'node:fs';
    const session = new Session();
    let out = '';
    for (const part of readFileSync(process.argv[2], 'utf8').split(/;\\n/))
        if (part.trim())
            out = session.query(part, 'CSVWithNames');
    process.stdout.write(out);
    session.cleanup();
"""


# ClickHouse has no server in npm: its engine behind Node's, with the settings of the request
SERVER = """
    import { createServer } from 'node:http';
    import { Session } from 'chdb';
    const session = new Session();
    const server = createServer((request, answer) => {
        let sql = '';
        request.on('data', (part) => { sql += part; });
        request.on('end', () => {
            try {
                for (const [key, value] of new URL(request.url, 'http://x').searchParams)
                    session.query(`SET ${key} = ${value}`);
                answer.end(session.query(sql, 'CSV'));
            } catch (error) {
                answer.statusCode = 500;
                answer.end(String(error));
            }
        });
    });
    server.listen(0, '127.0.0.1', () => console.log(server.address().port));
"""


class Fleet(Case):
    def make(self, spools, out="set"):
        write(spools, self.path(out))

    def ask(self, question, *options, out="set", status=0, env=None):
        p = self.rtl("fleet", "-f", "csv", "--by", question, *options, out, status=status, env=env)
        return list(csv.DictReader(io.StringIO(p.stdout)))

    def library(self):
        """The environment in which DuckDB's library is found: npm's."""
        folder = npm_folder(self, "@duckdb/node-api@1.5.6-r.1")
        return {"LD_LIBRARY_PATH": os.path.join(folder, "node_modules/@duckdb/node-bindings-linux-x64"), "PATH": "/usr/bin:/bin"}

    def chdb(self, program):
        """A script for Node beside npm's chdb."""
        folder = os.environ.get("NPM_FOLDER")
        if not folder or not os.path.exists(os.path.join(folder, "node_modules/chdb")):
            self.skipTest("chdb is not in NPM_FOLDER: npm install chdb@3.4.0")
        script = os.path.join(folder, f"fleet-{os.getpid()}.mjs")
        self.addCleanup(os.unlink, script)
        with open(script, "w", encoding="utf-8") as f:
            f.write(program)
        return script

    def clickhouse(self):
        """The options for ClickHouse's engine behind HTTP."""
        p = subprocess.Popen(["node", self.chdb(SERVER)], cwd=self.dir, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end, p)
        return "--engine", f"clickhouse://127.0.0.1:{int(p.stdout.readline())}"


# what the script for Spark does with pyspark, as a line of JSON
PYSPARK = """
    import json
    class Text(str):
        def cast(self, kind): return f"{self} as {kind}"
    lit = Text
    class Rows:
        def __init__(self, columns): self.columns = columns
        def __getitem__(self, name): return Text(name)
        def withColumn(self, name, value): return Rows([*self.columns, f"{name} = {value}"])
        def createOrReplaceTempView(self, name): did["views"][name] = self.columns
        def collect(self): return [(1, "two")]
    class SparkSession:
        @property
        def read(self): return self
        def appName(self, name): return self
        def config(self, key, value): did["config"][key] = value; return self
        def getOrCreate(self): return self
        def option(self, key, value): did["options"][key] = value; return self
        def parquet(self, *paths): did["paths"] += paths; return Rows(["job", "rank", "tid"])
        def sql(self, text): did["sql"] = text; return Rows(["n", "name"])
        def stop(self): print(json.dumps(did))
    SparkSession.builder = SparkSession()
    did = {"config": {}, "options": {}, "paths": [], "views": {}, "sql": ""}
"""


class Answers(Fleet):
    def setUp(self):
        super().setUp()
        self.job = Job(random.Random(7))
        self.make(self.job.spools)

    def test_overview_and_ranks(self):
        row, = self.ask("overview", "--engine", "sqlite")
        total = sum(r[4] for r in self.job.rows)
        wanted = {"job": "4711", "ranks": RANKS, "hosts": HOSTS, "gpus": RANKS, "processes": RANKS, "incomplete": 0, "lost": 0, "dispatches": len(self.job.rows),
                  "kernel_ns": total, "copies": RANKS * STEPS, "bytes": RANKS * STEPS << 20}
        self.assertEqual({k: v for k, v in row.items() if k in wanted}, {k: str(v) for k, v in wanted.items()})
        rows = self.ask("ranks", "--engine", "sqlite")
        self.assertEqual([(int(r["rank"]), r["host"], int(r["dispatches"]), int(r["kernel_ns"])) for r in rows],
                         [(n, f"n{n // 2}", STEPS * 12, sum(r[4] for r in self.job.rows if r[0] == n)) for n in range(RANKS)])

    def test_kernels_and_ranges(self):
        rows = {r["kernel"]: r for r in self.ask("kernels", "--engine", "sqlite")}
        total = sum(r[4] for r in self.job.rows)
        for kernel in {r[2] for r in self.job.rows}:
            ns = [r[4] for r in self.job.rows if r[2] == kernel]
            found, = (r for name, r in rows.items() if name.startswith(kernel[:8]) or "ncclDev" in name and kernel == REDUCE)
            self.assertEqual([int(found[k]) for k in ("ranks", "calls", "total_ns", "mean_ns", "min_ns", "max_ns")],
                             [RANKS, len(ns), sum(ns), round(sum(ns) / len(ns)), min(ns), max(ns)])
            self.assertAlmostEqual(float(found["share"]), sum(ns) / total, 3)
        row, = self.ask("ranges", "--engine", "sqlite")
        self.assertEqual((row["name"], int(row["calls"]), int(row["total_ns"])), ("step", RANKS * STEPS, sum(r[1] for r in self.job.ranges)))

    def test_rows_of_all_groups_of_a_file(self):
        nr = 2000  # 1024 of such texts are more than a group of rows has
        trace = spool.sample(1, 4000, rank=0)
        for i in range(nr):
            trace.marker_end(trace.start + 200 * i + 100, trace.marker(trace.start + 200 * i, f"{i} {'x' * 8500}"))
        self.make([trace], "groups")
        rows = self.ask("ranges", "--engine", "sqlite", out="groups")
        self.assertEqual(sorted(int(r["name"].split()[0]) for r in rows if r["name"] != "train"), list(range(nr)))

    def test_slow_ranks_hosts_and_gpus(self):
        for question, unit in (("slow-ranks", lambda n: n), ("slow-gpus", lambda n: n), ("slow-hosts", lambda n: f"n{n // 2}")):
            rows = self.ask(question, "--engine", "sqlite")
            key = "host" if question == "slow-hosts" else "rank"
            found = sorted((r[key] if key == "host" else int(r[key]), r["kernel"] if "nccl" not in r["kernel"] else REDUCE, int(r["calls"]), int(r["mean_ns"]), int(r["median_ns"]), int(r["mad_ns"]))
                           for r in rows)
            self.assertEqual(found, self.job.slow(unit), question)
            self.assertGreater(len(found), 0)
        slow = self.ask("slow-ranks", "--engine", "sqlite")
        self.assertEqual({(r["rank"], r["kernel"][:4]) for r in slow if not r["kernel"].startswith("nccl")} - {("1", "gemm")}, {("5", "gemm"), ("6", "norm"), ("7", "norm")})
        self.assertEqual(self.ask("slow-ranges", "--engine", "sqlite"), [])

    def test_imbalance(self):
        rows = {r["kernel"]: r for r in self.ask("imbalance", "--engine", "sqlite")}
        sums = [sum(r[4] for r in self.job.rows if r[0] == n and r[2].startswith("norm")) for n in range(RANKS)]
        found = rows["norm(float*)"]
        self.assertEqual((int(found["ranks"]), int(found["mean_ns"]), int(found["max_ns"]), int(found["slowest"])),
                         (RANKS, round(sum(sums) / RANKS), max(sums), sums.index(max(sums))))
        self.assertIn("(all)", rows)

    def test_collectives(self):
        """Rank 2 comes last to each."""
        rows = self.ask("collectives", "--engine", "sqlite")
        by = collections.defaultdict(list)
        seen = collections.Counter()
        for n, _, kernel, _, ns in self.job.rows:
            if kernel == REDUCE:
                by[seen[n]].append((ns, n))
                seen[n] += 1
        late = sum(sorted(v)[1][0] - sorted(v)[0][0] for v in by.values())
        wait = sum(sum(ns for ns, _ in v) - len(v) * min(v)[0] for v in by.values())
        self.assertEqual([(r["rank"], int(r["collectives"]), int(r["last"]), int(r["late_ns"]), int(r["wait_ns"])) for r in rows], [("2", len(by), len(by), late, wait)])

    def test_collectives_of_several_communicators(self):
        """One kernel in three communicators, of which two pairs of ranks run different numbers: matched by the communicator, where RCCL's calls say it."""
        for calls in (True, False):
            ranks = [Rank(500 + n, 1, 4, n, calls) for n in range(4)]
            for n, r in enumerate(ranks):
                if calls:
                    r.init(4, n, 0x1D, 0xC0)
                    r.split(0xC0, n // 2, 0xD0)
            at = max(r.now[0] for r in ranks) + 100_000
            for step in range(20):
                for n, r in enumerate(ranks):
                    for k in range(1 if n < 2 else 3):  # rank 1 and rank 2 come last in theirs
                        r.collective([at + k * 1_000_000 + (7000 if n in (1, 2) else 0)], at + k * 1_000_000 + 50_000, 1 << 20, 0xD0)
                    r.collective([at + 4_000_000 + (3000 if n == 3 else 0)], at + 4_000_000 + 60_000, 1 << 20, 0xC0)
                at += 10_000_000
            self.make([r.s for r in ranks], f"calls{calls}")
            rows = self.ask("collectives", "--engine", "sqlite", out=f"calls{calls}")
            self.assertEqual(self.ask("collectives", "--engine", "duckdb", out=f"calls{calls}", env=self.library()), rows)
            if not calls:
                self.assertEqual({r["communicator"] for r in rows}, {""})
                continue
            found = {(r["rank"], int(r["collectives"]), int(r["last"]), int(r["late_ns"]), int(r["wait_ns"])) for r in rows}
            self.assertEqual(found, {("1", 20, 20, 20 * 7000, 20 * 7000), ("2", 60, 60, 60 * 7000, 60 * 7000), ("3", 20, 20, 20 * 3000, 20 * 9000)})
            self.assertEqual(len({r["communicator"] for r in rows}), 3)
            threads = parquet.read(self.path(f"calls{calls}/job=0/rank=0/dispatches.parquet"))
            self.assertEqual({row["tid"] for row in threads.dicts()}, {ranks[0].s.tid})

    def test_outliers(self):
        rows = self.ask("outliers", "--engine", "sqlite")
        self.assertEqual([(r["rank"], r["kernel"], int(r["at_ns"]) // SECOND, int(r["calls"])) for r in rows], [("1", "gemm(float*)", 2, 20)])
        self.assertEqual(int(rows[0]["wall_ns"]) // SECOND, 1_790_000_000 + 2)

    def spans(self, n):
        """Begin and end of each operation of a rank, in ns since 1970."""
        zero = 1_790_000_000 * SECOND + n
        copies = [(zero + step * SECOND // 5 + 500, zero + step * SECOND // 5 + 900) for step in range(STEPS)]
        return sorted([(zero + r[3], zero + r[3] + r[4]) for r in self.job.rows if r[0] == n] + copies)

    def test_busy(self):
        """Bins are of a power of two, of which the job has at most 256; time in which two operations run is counted once."""
        rows = self.ask("busy", "--engine", "sqlite")
        width, = {int(r["bin_ns"]) for r in rows}
        self.assertEqual(width & (width - 1), 0)
        spans = {n: self.spans(n) for n in range(RANKS)}
        least, most = min(s[0][0] for s in spans.values()), max(e for s in spans.values() for _, e in s)
        self.assertTrue(width * 128 < most - least <= width * 256, width)
        for n in range(RANKS):
            busy, until = collections.Counter(), 0
            for begin, end in spans[n]:
                begin, until = max(begin, until), max(until, end)
                while begin < end:
                    stop = min(end, begin - begin % width + width)
                    busy[begin - begin % width] += stop - begin
                    begin = stop
            own = [r for r in rows if r["rank"] == str(n)]
            self.assertEqual({int(r["wall_ns"]): int(r["busy_ns"]) for r in own}, busy)
            self.assertTrue(all(int(r["at_ns"]) == int(r["wall_ns"]) - (least - least % width) and r["gpus"] == "1" for r in own))
            self.assertTrue(all(abs(float(r["share"]) - int(r["busy_ns"]) / width) < 1e-5 for r in own))

    def test_busy_of_long_operations(self):
        """Bins within an operation are full, on each GPU; a rank that is short has shorter bins, which the job's consist of."""
        spools = []
        for n in range(3):
            s = spool.sample(0, 6000 + n, rank=n)
            s.clock(1_790_000_000 * SECOND)
            for k in range(2 if n else 1):
                s.dispatch(1, 0, s.start + 1000 + k, s.start + (10 * SECOND if n else 2_000_000) - k)
            spools.append(s)
        self.make(spools, "long")
        for options, env in ((("--engine", "sqlite"), None), (("--engine", "duckdb"), self.library())):
            rows = self.ask("busy", *options, out="long", env=env)
            for n, ns in ((0, 2_000_000), (1, 10 * SECOND), (2, 10 * SECOND)):
                self.assertEqual(sum(int(r["busy_ns"]) for r in rows if r["rank"] == str(n)), ns - 1000)
            own = [int(r["busy_ns"]) for r in rows if r["rank"] == "1"]
            width = int(rows[0]["bin_ns"])
            self.assertEqual(set(own[1:-1]), {width})
            self.assertTrue(128 < len(own) <= 258, len(own))

    def test_rank_kernels(self):
        rows = self.ask("rank-kernels", "--engine", "sqlite")
        means = {(u, k): v for (u, k), v in self.job.means(lambda n: n).items()}
        self.assertEqual(len(rows), len(means))
        totals = collections.Counter()
        for r in self.job.rows:
            totals[r[2]] += r[4]
        order = [name for name, _ in totals.most_common()]
        for r in rows:
            kernel = order[int(r["nth"]) - 1]
            calls, mean = means[int(r["rank"]), kernel]
            values = sorted(m for (_, k), (_, m) in means.items() if k == kernel)
            self.assertEqual((int(r["calls"]), int(r["mean_ns"]), int(r["median_ns"]), r["collective"]),
                             (calls, round(mean), round((values[RANKS // 2 - 1] + values[RANKS // 2]) / 2), str(int(kernel == REDUCE))))

    def test_timeline(self):
        rows = self.ask("timeline", "--engine", "sqlite", "--ranks", "3")
        self.assertEqual({r["rank"] for r in rows}, {"3"})
        own = [r for r in self.job.rows if r[0] == 3]
        found = [r for r in rows if r["what"] == "kernel"]
        self.assertEqual((sum(int(r["calls"]) for r in found), sum(int(r["sum_ns"]) for r in found)), (len(own), sum(r[4] for r in own)))
        self.assertEqual([int(r["span_ns"]) for r in rows if r["what"] == "range"], [100_000_003] * STEPS)
        self.assertEqual(int(found[0]["wall_ns"]), 1_790_000_000 * SECOND + 3 + own[0][3])
        alone = [r for r in rows if r["calls"] == "1"]
        self.assertTrue(alone and all(r["span_ns"] == r["sum_ns"] for r in alone))

    def test_ranks_and_jobs_that_are_asked(self):
        s = spool.sample(5, 7000, rank=0)
        s.info("job", "other")
        self.make([s])
        env = self.library()
        for options, env in ((("--engine", "sqlite"), None), (("--engine", "duckdb"), env)):
            self.assertEqual([r["job"] for r in self.ask("overview", *options, env=env)], ["4711", "other"])
            self.assertEqual([r["ranks"] for r in self.ask("overview", *options, "--job", "4711", "--ranks", "1,3-5", env=env)], ["4"])
            self.assertEqual([r["dispatches"] for r in self.ask("overview", *options, "--job", "other", env=env)], ["5"])
        self.assertIn("no rank that was asked for can be read", self.rtl("fleet", "--job", "none", "set", status=1).stderr)
        for engine in ("dask", "spark"):
            text = self.rtl("fleet", "--sql", "kernels", "--engine", engine, "--job", "other", "set").stdout
            self.assertIn("FOLDERS = ['job=other/rank=0', ]", text)

    def test_answer_in_a_file(self):
        self.rtl("fleet", "--engine", "sqlite", "-f", "csv", "--by", "kernels", "-o", "k.csv", "set")
        with open(self.path("k.csv"), encoding="utf-8") as f:
            self.assertEqual(list(csv.DictReader(f)), self.ask("kernels", "--engine", "sqlite"))
        self.assertIn("exists already", self.rtl("fleet", "-o", "k.csv", "set", status=1).stderr)

    def test_engines_give_the_same_rows(self):
        env = self.library()
        # and in DuckDB by batches of ranks, as sets that are large
        for question in QUESTIONS:
            self.assertEqual(self.ask(question, "--engine", "duckdb", env={**env, "RTL_TEST_BATCH": "1000"}), self.ask(question, "--engine", "sqlite"), question)
        for question in QUESTIONS:
            self.assertEqual(self.ask(question, "--engine", "duckdb", env=env), self.ask(question, "--engine", "sqlite"), question)
            self.assertEqual(self.ask(question, env=env), self.ask(question, "--engine", "sqlite"), question)

    def same(self, question, rows):
        """Rows of another engine, whose real numbers are not rounded, are those of SQLite."""
        wanted = self.ask(question, "--engine", "sqlite")
        self.assertEqual(len(rows), len(wanted), question)
        for row, own in zip(rows, wanted):
            self.assertEqual(list(row), list(own))
            for key, value in own.items():
                if value != row[key].replace("\\N", ""):
                    self.assertLessEqual(abs(float(row[key]) - float(value)), 0.5001 if key.endswith("_ns") else 1e-6, (question, key))

    def test_clickhouse(self):
        """ClickHouse 26.7, as npm's chdb 3.4 has it, answers each question; 540 MB, which are not fetched for the test."""
        script = self.chdb(CHDB)
        for question in QUESTIONS:
            sql = self.rtl("fleet", "--sql", question, "--engine", "clickhouse", "set").stdout
            with open(self.path("q.sql"), "w", encoding="utf-8") as f:
                f.write(sql)
            p = subprocess.run(["node", script, self.path("q.sql")], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(p.returncode, 0, p.stderr)
            self.same(question, list(csv.DictReader(io.StringIO(p.stdout))))

    def test_clickhouse_by_http(self):
        """The same by rtl itself."""
        options = self.clickhouse()
        for question in QUESTIONS:
            self.same(question, self.ask(question, *options))

    def test_dask(self):
        """The printed script, on a scheduler and two workers, of which one is killed while it runs."""
        python = os.environ.get("DASK_PYTHON", sys.executable)
        if subprocess.run([python, "-c", "import distributed, pyarrow"], capture_output=True, check=False).returncode:
            self.skipTest("dask, distributed and pyarrow are not there: DASK_PYTHON names a python3 that has them")
        script = self.path("ask.py")
        for question in QUESTIONS:
            with open(script, "w", encoding="utf-8") as f:
                f.write(self.rtl("fleet", "--sql", question, "--engine", "dask", "set").stdout)
            if question == QUESTIONS[0]:
                cluster = self.cluster(python)
            p = subprocess.Popen([python, script, cluster[0]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if question == QUESTIONS[1]:
                cluster[1].kill()
            out, err = p.communicate(timeout=120)
            self.assertEqual(p.returncode, 0, err)
            self.same(question, list(csv.DictReader(io.StringIO(out))))

    def cluster(self, python):
        """The address of a scheduler, and one of its two workers."""
        address = self.path("scheduler.json")
        workers = []
        for argv in (["distributed.cli.dask_scheduler", "--no-dashboard", "--port", "0"], ["distributed.cli.dask_worker", "--no-dashboard", "--no-nanny"],
                     ["distributed.cli.dask_worker", "--no-dashboard", "--no-nanny"]):
            p = subprocess.Popen([python, "-m", argv[0], *argv[1:], "--scheduler-file", address], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(p.wait, 20)
            self.addCleanup(p.kill)
            workers.append(p)
            wait_until("the scheduler is there", lambda: os.path.exists(address), 60)
        with open(address, encoding="utf-8") as f:
            return json.load(f)["address"], workers[-1]

    def server(self, answer):
        """A server of HTTP: answer(statement) is the status and the body, which is sent in chunks; what it got is kept."""
        got = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # pylint: disable=invalid-name
                sql = self.rfile.read(int(self.headers["Content-Length"])).decode()
                got.append((self.path, self.headers, sql))
                status, body, whole = answer(sql)
                self.send_response(status)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for i in range(0, len(body), 50):
                    part = body[i:i + 50].encode()
                    self.wfile.write(b"%x\r\n" % len(part) + part + b"\r\n")
                if whole:
                    self.wfile.write(b"0\r\n\r\n")
                self.close_connection = True

            def log_message(self, *args):  # pylint: disable=arguments-differ
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        return f"127.0.0.1:{server.server_port}", got

    def test_server_of_clickhouse(self):
        host, got = self.server(lambda sql: (200, '4711,"n3","a ""b"", c",2,24000.6,20000,\\N,5\n' if "host" in sql else "", True))
        row, = self.ask("slow-hosts", "--engine", f"clickhouse://me@{host}/", env={"CLICKHOUSE_PASSWORD": "secret"})
        self.assertEqual(list(row.values()), ["4711", "n3", 'a "b", c', "2", "24001", "20000", "", "5"])
        path, headers, sql = got[0]
        self.assertEqual((path, headers["X-ClickHouse-User"], headers["X-ClickHouse-Key"]), ("/?use_hive_partitioning=1&cast_keep_nullable=1&join_use_nulls=1", "me", "secret"))
        self.assertTrue(sql.startswith(f"WITH dispatches AS (SELECT * FROM file('{os.path.realpath(self.path('set'))}/job=*/rank=*/dispatches.parquet', Parquet))"), sql)
        self.assertTrue(sql.endswith("FORMAT CSV\n"))
        for answer, words in (((500, "Code: 291. DB::Exception: no access", True), "Code: 291"), ((200, "4711,8", True), "columns"),
                              # as the server of Debian 12, 18.16.1, says it
                              ((500, "Code: 115, e.displayText() = DB::Exception: Unknown setting use_hive_partitioning, e.what() = DB::Exception\n", True),
                               "e.what() = DB::Exception; it is too old: ClickHouse 24.8 and later"), ((200, "4711,8\n", False), "was cut")):
            host, got = self.server(lambda _: answer)  # pylint: disable=cell-var-from-loop
            self.assertIn(words, self.rtl("fleet", "--engine", f"clickhouse://{host}", "set", status=1).stderr)
        self.assertIn("127.0.0.1:1: Connection refused", self.rtl("fleet", "--engine", "clickhouse://127.0.0.1:1/", "set", status=1).stderr)
        for wrong in ("clickhouse:/x", "clickhouse://", "clickhouse://h:x/", "clickhouse://h/db", "mysql"):
            self.assertIn("is no engine", self.rtl("fleet", "--engine", wrong, "set", status=2).stderr)

    def test_scripts_are_python_that_names_the_set(self):
        for engine in ("dask", "spark"):
            text = self.rtl("fleet", "--sql", "collectives", "--engine", engine, "set").stdout
            code = compile(text, "script", "exec")
            self.assertIn(os.path.realpath(self.path("set")), code.co_consts)
        self.assertIn("of which data set", self.rtl("fleet", "--sql", "kernels", "--engine", "dask", status=2).stderr)
        self.assertIn("--sql overview", self.rtl("fleet", "--engine", "spark", "set", status=2).stderr)
        os.rename(self.path("set"), self.path("a{b}"))
        self.assertIn("ClickHouse can't read", self.rtl("fleet", "--sql", "kernels", "--engine", "clickhouse", "a{b}", status=1).stderr)

    def test_script_for_spark_reads_all_ranks(self):
        """Of Spark no more is there than what its script calls."""
        os.makedirs(self.path("stub/pyspark"))
        for name, text in (("__init__", ""), ("sql", textwrap.dedent(PYSPARK)), ("functions", "from pyspark.sql import lit\n")):
            folder = self.path("stub/pyspark" if name == "__init__" else "stub/pyspark/sql")
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, f"{name if name == 'functions' else '__init__'}.py"), "w", encoding="utf-8") as f:
                f.write(text)
        with open(self.path("ask.py"), "w", encoding="utf-8") as f:
            f.write(self.rtl("fleet", "--sql", "kernels", "--engine", "spark", "set").stdout)
        p = subprocess.run([sys.executable, "-B", self.path("ask.py")], env={**os.environ, "PYTHONPATH": self.path("stub")}, capture_output=True, text=True, check=True)
        *rows, did = p.stdout.splitlines()
        did = json.loads(did)
        base = f"file://{os.path.realpath(self.path('set'))}"
        self.assertEqual(rows, ["n,name", "1,two"])
        self.assertEqual(did["config"], {"spark.sql.sources.partitionColumnTypeInference.enabled": "false"})
        self.assertEqual(did["options"], {"basePath": base, "mergeSchema": "true"})
        self.assertEqual(sorted(did["paths"]), sorted(f"file://{os.path.realpath(path)}" for path in glob.glob(self.path("set/job=*/rank=*/*.parquet"))))
        self.assertEqual(did["views"]["dispatches"], ["job", "rank", "tid", "rank = rank as bigint", "job = job as bigint", "communicator = None as string"])
        self.assertIn(" ".join(did["sql"].split()), " ".join(self.rtl("fleet", "--sql", "kernels").stdout.split()))
        os.rename(self.path("set"), self.path("a[b]"))
        self.assertIn("Spark can't read", self.rtl("fleet", "--sql", "kernels", "--engine", "spark", "a[b]", status=1).stderr)

    def test_forms_of_output(self):
        text = self.rtl("fleet", "--engine", "sqlite", "--by", "slow-ranks", "set").stdout
        self.assertRegex(text.splitlines()[0], r"^JOB +RANK +HOST +KERNEL +CALLS +MEAN +MEDIAN +MAD +EXTRA$")
        rows = json.loads(self.rtl("fleet", "--engine", "sqlite", "-f", "json", "--by", "ranks", "--sort", "rank", "-n", "3", "set").stdout)
        self.assertEqual([r["rank"] for r in rows], [0, 1, 2])
        p = self.rtl("fleet", "--engine", "sqlite", "--by", "ranks", "-n", "3", "set")
        self.assertIn("3 of 8 rows; -n 0 shows all", p.stderr)

    def test_sql_is_what_is_asked(self):
        sql = self.rtl("fleet", "--sql", "slow-ranks").stdout
        self.assertIn("WITH part AS (", sql)
        self.assertNotIn("read_parquet", sql)
        sql = self.rtl("fleet", "--sql", "slow-ranks", "set").stdout
        self.assertIn(f"read_parquet('{os.path.realpath(self.path('set'))}/job=*/rank=*/dispatches.parquet'", sql)
        for question in QUESTIONS:
            with open(os.path.join(SOURCE, f"src/fleet/sql/{question}.sql"), encoding="utf-8") as f:
                query = f.read().split("WITH part", 1)[1]
            self.assertIn(" ".join(query.split()), " ".join(self.rtl("fleet", "--sql", question).stdout.split()))

    def huge(self, *options, env=None):
        """Sums beyond 2^63 are the most that a column holds; their mean is that of 53 bits, of which ClickHouse writes no more digits than it takes."""
        row = self.ask("kernels", *options, out="huge", env=env)[0]
        self.assertEqual((row["calls"], int(row["total_ns"]), int(row["max_ns"])), ("8", (1 << 63) - 1, (1 << 62) + 1000))
        self.assertEqual(float(row["mean_ns"]), ((1 << 62) + 2000) / 2)
        row, = self.ask("overview", *options, out="huge", env=env)
        self.assertEqual((row["dispatches"], int(row["kernel_ns"]), row["copies"], int(row["bytes"])), ("12", (1 << 63) - 1, "16", (1 << 63) - 1))

    def test_sums_do_not_wrap(self):
        spools = []
        for n in range(4):
            s = spool.sample(0, 2000 + n, rank=n)
            s.dispatch(1, 0, 1000, 1000 + (1 << 62))
            s.dispatch(2, 0, 1000, 2000)
            s.dispatch(2, 0, 1000, 2000 + (1 << 62))
            for i in range(3):
                s.copy(5000 + i, 6000, (1 << 63) - 1)
            spools.append(s)
        self.make(spools, "huge")
        self.huge("--engine", "sqlite")
        with self.subTest("duckdb"):
            self.huge("--engine", "duckdb", env=self.library())
        with self.subTest("clickhouse"):
            self.huge(*self.clickhouse())


class Damage(Fleet):
    def setUp(self):
        super().setUp()
        self.make([spool.sample(20 + n, 3000 + n, rank=n) for n in range(3)])

    def file(self, rank, table):
        return self.path(f"set/job=0/rank={rank}/{table}.parquet")

    def left_out(self, rank, words, question="kernels", options=("--engine", "sqlite"), env=None):
        """The rank is named and left out, the others are answered."""
        p = self.rtl("fleet", "-f", "csv", *options, "--by", question, "set", status=4, env=env)
        self.assertIn(f"job=0/rank={rank}: ", p.stderr)
        for word in words:
            self.assertIn(word, p.stderr)
        self.assertEqual({r["ranks"] for r in csv.DictReader(io.StringIO(p.stdout))}, {"2"})

    def change(self, rank, table, change):
        with open(self.file(rank, table), "r+b") as f:
            data = f.read()
            f.seek(0)
            f.truncate()
            f.write(change(data))

    def test_cut_file(self):
        self.change(1, "dispatches", lambda data: data[:-20])
        self.left_out(1, ["dispatches.parquet is no Parquet file, or was cut", "convert it again with --force"])

    def test_missing_file(self):
        os.unlink(self.file(2, "losses"))
        self.left_out(2, ["losses.parquet is missing"])

    def test_file_of_another_program(self):
        self.change(0, "calls", lambda data: data.replace(b"rtl.schema", b"xyz.schema"))
        self.left_out(0, ["calls.parquet was not written by rtl"])

    def test_file_of_another_table(self):
        shutil.copy(self.file(0, "copies"), self.file(0, "calls"))
        self.left_out(0, ["calls.parquet has the table copies"])

    def test_fifo_is_not_waited_for(self):
        os.unlink(self.file(0, "calls"))
        os.mkfifo(self.file(0, "calls"))
        self.left_out(0, ["calls.parquet is a FIFO"])

    def test_damaged_page_is_found_when_the_engine_fails(self):
        def change(data):
            end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
            return data[:4] + b"\xff" * (end - 4) + data[end:]
        self.change(1, "dispatches", change)
        self.left_out(1, ["dispatches.parquet column", "pages are damaged"])
        self.left_out(1, ["pages are damaged"], options=("--engine", "duckdb"), env=self.library())

    def test_random_damage(self):
        rng = random.Random(58)
        with open(self.file(1, "dispatches"), "rb") as f:
            data = f.read()
        for _ in range(150):
            damaged = bytearray(data[:rng.randrange(1, len(data))] if rng.random() < 0.2 else data)
            for _ in range(rng.randrange(1, 12)):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            with open(self.file(1, "dispatches"), "wb") as f:
                f.write(damaged)
            p = self.rtl("fleet", "-f", "csv", "--engine", "sqlite", "--by", "kernels", "set", status=None)
            self.assertIn(p.returncode, (0, 4), p.stderr)
            if p.returncode == 4:
                self.assertIn("job=0/rank=1", p.stderr)

    def aged(self, rank):
        """The rank as version 1 of the tables has it: the columns that were added have other names, which nothing asks for."""
        for f in glob.glob(self.path(f"set/job=0/rank={rank}/*.parquet")):
            table = os.path.basename(f)[:-len(".parquet")]
            self.change(rank, table, lambda data: data.replace(b"rtl.schema\x18\x012", b"rtl.schema\x18\x011"))
            if table == "dispatches":
                self.change(rank, table, lambda data: data.replace(b"communicator", b"xommunicator").replace(b"\x03tid", b"\x03xid"))

    def same_of_each_engine(self, question):
        wanted = self.ask(question, "--engine", "sqlite")
        env = self.library()
        for batch in ("1", "1000000"):
            self.assertEqual(self.ask(question, "--engine", "duckdb", env={**env, "RTL_TEST_BATCH": batch}), wanted, (question, batch))
        return wanted

    def test_ranks_of_two_versions(self):
        """What an older rtl has written lacks the columns that were added since: they are NULL, in one rank, in all."""
        for n in range(3):
            for question in ("collectives", "kernels", "ranks"):
                rows = self.same_of_each_engine(question)
                self.assertEqual(len(rows), {"collectives": 0, "kernels": len(rows), "ranks": 3}[question])
            self.aged(n)
        self.same_of_each_engine("collectives")
        sql = self.rtl("fleet", "--sql", "collectives", "--engine", "clickhouse", "set").stdout
        self.assertIn("CAST(NULL AS Nullable(String)) AS communicator", sql)

    def test_files_of_two_versions(self):
        """A column that one rank lacks is NULL there."""
        self.change(1, "copies", lambda data: data.replace(b"bytes", b"octet").replace(b"rtl.schema\x18\x012", b"rtl.schema\x18\x013"))
        for options, env in ((("--engine", "sqlite"), None), (("--engine", "duckdb"), self.library())):
            rows = self.ask("ranks", *options, env=env)
            self.assertEqual([int(r["bytes"]) for r in rows], [1 << 20, 0, 1 << 20], options)
        self.assertIn("schema_inference_mode = 'union'", self.rtl("fleet", "--sql", "ranks", "--engine", "clickhouse", "set").stdout)

    def test_other_folders(self):
        os.makedirs(self.path("set/job=0/rank=x"))
        os.makedirs(self.path("set/job=0/.rank=7.tmp-12"))
        os.makedirs(self.path("set/notes/rank=1"))
        with open(self.path("set/job=file"), "w", encoding="ascii"):
            pass
        p = self.rtl("fleet", "--engine", "sqlite", "set", status=4)
        for words in ("rank=x: is no number of a rank", ".rank=7.tmp-12: a rank that is being written", "job=file: is no folder"):
            self.assertIn(words, p.stderr)
        self.assertNotIn("notes", p.stderr)

    def test_what_is_no_data_set(self):
        os.mkdir(self.path("empty"))
        with open(self.path("t.db"), "w", encoding="ascii"):
            pass
        self.assertIn("has no rank of a data set", self.rtl("fleet", "empty", status=1).stderr)
        self.assertIn("rtl convert t.db -f parquet", self.rtl("fleet", "t.db", status=1).stderr)
        self.assertIn("No such file", self.rtl("fleet", "nothing", status=1).stderr)
        self.assertIn("which data set", self.rtl("fleet", status=2).stderr)
        for n in range(3):
            os.unlink(self.file(n, "calls"))
        self.assertIn("no rank can be read", self.rtl("fleet", "set", status=1).stderr)

    def test_engine_that_is_not_there(self):
        p = self.rtl("fleet", "--engine", "duckdb", "set", status=1, env={"PATH": "/nowhere", "LD_LIBRARY_PATH": None})
        self.assertIn("https://duckdb.org/install", p.stderr)

    def test_command_that_fails_says_why(self):
        os.mkdir(self.path("bin"))
        with open(self.path("bin/duckdb"), "w", encoding="ascii") as f:
            f.write("#!/bin/sh\ncat > /dev/null\necho 'Out of Memory Error' >&2\nexit 1\n")
        os.chmod(self.path("bin/duckdb"), 0o755)
        p = self.rtl("fleet", "set", status=1, env={"PATH": self.path("bin") + ":/usr/bin:/bin"})
        self.assertIn("Out of Memory Error", p.stderr)
        self.assertEqual(glob.glob(os.path.join(os.environ.get("TMPDIR", "/tmp"), "rtl-fleet-*/script")), [])

    def test_unfinished_ranks_are_named(self):
        with open(self.path("set/.unfinished-n7-12"), "w", encoding="ascii") as f:
            f.write("host n7\npid 12\nrank 3\njob 0\nspool /x\n")
        p = self.rtl("fleet", "--engine", "sqlite", "set")
        self.assertIn("1 rank is not finished, which the answer is without: rank 3 on n7", p.stderr)

    def test_names_of_folders_are_not_patterns(self):
        os.rename(self.path("set"), self.path("a'[b] *{c}"))
        for options, env in ((("--engine", "sqlite"), None), (("--engine", "duckdb"), self.library())):
            self.assertEqual(self.ask("overview", *options, out="a'[b] *{c}", env=env)[0]["ranks"], "3", options)


class Keep(Fleet):
    """Jobs 0 to 3 of two ranks each, the last event of each job a day after that of the one before; its first rank ends ten days earlier."""

    def setUp(self):
        super().setUp()
        spools = []
        self.now = int(time.time())
        for n in range(8):
            s = spool.sample(10, 5000 + n, rank=n % 2)
            s.info("job", f"j{n // 2}")
            s.clock((self.now - (4 - n // 2) * 86400 + 3600 - (n % 2 == 0) * 864000) * SECOND)
            spools.append(s)
        self.make(spools)

    def jobs(self):
        return sorted(os.path.basename(f) for f in glob.glob(self.path("set/job=*")))

    def test_old_jobs_are_deleted_as_a_whole(self):
        p = self.rtl("fleet", "--keep", "50h", "--dry-run", "set")
        self.assertEqual([line.split(" ", 3)[-1] for line in p.stdout.splitlines()], ["job=j0, 2 ranks", "job=j1, 2 ranks"])
        self.assertIn("2 jobs would be deleted", p.stderr)
        self.assertEqual(len(self.jobs()), 4)
        q = self.rtl("fleet", "--keep", "50h", "set")
        self.assertEqual((q.stdout, self.jobs()), (p.stdout, ["job=j2", "job=j3"]))
        self.assertIn("2 jobs deleted", q.stderr)
        self.assertEqual([r["ranks"] for r in self.ask("overview", "--engine", "sqlite")], ["2", "2"])
        self.rtl("fleet", "--keep", "1s", "set")
        self.assertEqual(os.listdir(self.path("set")), [])

    def test_oldest_are_deleted_until_the_size_is_kept(self):
        size = sum(os.stat(f).st_blocks * 512 for f in glob.glob(self.path("set/job=j0/*/*")))
        self.rtl("fleet", "--max-size", str(2 * size + size // 2), "set")
        self.assertEqual(self.jobs(), ["job=j2", "job=j3"])
        self.rtl("fleet", "--max-size", "1G", "--keep", "10w", "set")
        self.assertEqual(self.jobs(), ["job=j2", "job=j3"])

    def test_damaged_ranks_are_as_old_as_their_folder(self):
        for rank in (0, 1):
            for f in ("processes", "calls"):
                os.truncate(self.path(f"set/job=j3/rank={rank}/{f}.parquet"), 20)
            os.utime(self.path(f"set/job=j3/rank={rank}"), (1000, 1000))
        self.rtl("fleet", "--keep", "10w", "set", status=4)
        self.assertEqual(self.jobs(), ["job=j0", "job=j1", "job=j2"])

    def test_unfinished_jobs_stay(self):
        with open(self.path("set/.unfinished-n7-12"), "w", encoding="ascii") as f:
            f.write("host n7\npid 12\nrank 8\njob j0\nspool /x\n")
        os.mkdir(self.path("set/job=j1/.rank=7.tmp-12"))
        p = self.rtl("fleet", "--keep", "50h", "set", status=4)
        self.assertIn("job=j0: is not deleted: it has a rank that is not finished", p.stderr)
        self.assertIn("job=j1: is not deleted: it has a rank that is being written", p.stderr)
        self.assertEqual(len(self.jobs()), 4)

    def test_deletion_that_was_killed_is_finished(self):
        """A job is there or not, never half of it."""
        p = self.start("fleet", "--keep", "50h", "set", env={"RTL_TEST_STALL": "job_hidden:60000"})
        wait_until("its name is another one", lambda: "job=j0" not in self.jobs() or p.poll() is not None)
        p.kill()
        p.wait(20)
        self.assertEqual(self.jobs(), ["job=j1", "job=j2", "job=j3"])
        self.assertEqual(len(os.listdir(self.path("set"))), 4)
        self.assertEqual(self.ask("kernels", "--engine", "sqlite")[0]["ranks"], "6")
        self.rtl("fleet", "--max-size", "1G", "--dry-run", "set")
        self.assertEqual(len(os.listdir(self.path("set"))), 4)
        self.rtl("fleet", "--max-size", "1G", "set")
        self.assertEqual(sorted(os.listdir(self.path("set"))), ["job=j1", "job=j2", "job=j3"])

    def test_folders_of_others_and_links_stay(self):
        with open(self.path("set/job=j0/rank=0/notes.txt"), "w", encoding="ascii") as f:
            f.write("mine")
        os.rename(self.path("set/job=j1/rank=1"), self.path("away"))
        os.symlink(self.path("away"), self.path("set/job=j1/rank=1"))
        os.rename(self.path("set/job=j3"), self.path("other"))
        os.symlink(self.path("other"), self.path("set/job=j3"))
        os.mkdir(self.path("set/job=j2/mine"))
        p = self.rtl("fleet", "--keep", "1s", "set", status=4)
        self.assertEqual(p.stderr.count("is not deleted: it has other files than a data set's, or is a link"), 4)
        self.assertEqual(self.jobs(), ["job=j0", "job=j1", "job=j2", "job=j3"])
        self.assertEqual([len(os.listdir(self.path(d))) for d in ("away", "other/rank=0", "set/job=j0/rank=0", "set/job=j0/rank=1")], [9, 9, 10, 9])

    def test_file_that_is_no_parquet_stays(self):
        with open(self.path("set/job=j0/rank=0/calls.parquet"), "w", encoding="ascii") as f:
            f.write("precious")
        for rank in (0, 1):
            os.utime(self.path(f"set/job=j0/rank={rank}"), (1000, 1000))
        p = self.rtl("fleet", "--keep", "50h", "set", status=4)
        self.assertIn("job=j0: is not deleted", p.stderr)
        self.assertEqual(self.jobs(), ["job=j0", "job=j2", "job=j3"])
        self.assertEqual([len(os.listdir(self.path(f"set/job=j0/rank={rank}"))) for rank in (0, 1)], [9, 9])

    def test_wrong_values(self):
        for options in (("--keep", "30"), ("--keep", "x"), ("--keep", "0d"), ("--keep", "99999w"), ("--max-size", "x"), ("--dry-run",)):
            self.rtl("fleet", *options, "set", status=2)
        self.assertEqual(len(self.jobs()), 4)
        self.assertIn("leave out --job", self.rtl("fleet", "--keep", "1s", "--job", "j0", "set", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
