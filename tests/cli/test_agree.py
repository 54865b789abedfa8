#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A number that two outputs of a trace have is the same in both: copies, sums, shares, busy and wall time"""
import contextlib
import json
import re
import sqlite3

from support import spool
from support.cli import *
from support.terminal import Terminal
from test_report import Report, add_counters

US, MS = 1000, 1_000_000
BLIT, FILL = "__amd_rocclr_copyBuffer.kd", "__amd_rocclr_fillBufferAligned.kd"
NAMES = ("CopyHostToHost", "CopyHostToDevice", "CopyDeviceToHost", "CopyDeviceToDevice", "CopyPeerToPeer", "FillBuffer", "Copy")


def program(pid=None, rank=None, shift=0):
    """Two GPUs; copies of all kinds by engines, and some by kernels of HIP; calls in calls; a range; an operation without times."""
    s = spool.Spool(pid)
    for key, value in (("command", "./app"), ("host", "node1"), ("mode", "hip"), ("version", "0.1.0")):
        s.info(key, value)
    if rank is not None:
        s.info("rank", str(rank))
    s.thread(s.tid, "app")
    s.agent(gpu=False, name="cpu")
    queues = [s.queue(s.agent()), s.queue(s.agent())]
    s.op(1, "hipLaunchKernel", "f:p:function_address,stream:h:stream")
    s.op(2, "hipMemcpyAsync", "dst:p:dst,src:p:src,sizeBytes:z:bytes,kind:e=hipMemcpyKind:kind,stream:h:stream")
    s.op(3, "hipDeviceSynchronize", "")
    s.op(4, "hipStreamCreate", "")
    work, more, blit, fill = (s.kernel(name) for name in ("_Z4workPf", "_Z4morePf", BLIT, FILL))
    at = s.start + 50 * MS + shift
    s.api(4, s.start + 2 * MS, at)
    step = s.marker(at, "step")
    for i in range(12):
        begin = at + 200 * i * US
        own = s.api(1, begin, begin + 10 * US, (0x5000, 0))
        s.api(1, begin + US, begin + 2 * US, (0x5000, 0), parent=own)
        s.dispatch((work, more)[i % 2], queues[i % 2], begin + 20 * US, begin + 90 * US, correlation=own, marker=step)
    s.dispatch(work, queues[0], begin, begin - 1)
    for kind in range(7):
        for k in range(kind + 1):
            begin = at + (2500 + 100 * kind + 10 * k) * US
            s.copy(begin, begin + 5 * US + kind, 1 << 12, kind=kind, correlation=s.api(2, begin, begin + US, (1, 2, 4096, min(kind, 4), 0)))
    for k, kernel in enumerate((blit, fill, blit)):
        begin = at + (3500 + 10 * k) * US
        s.dispatch(kernel, queues[0], begin, begin + 7 * US, correlation=s.api(2, begin, begin + US, (1, 2, 8192, 3, 0)))
    s.api(3, at + 3600 * US, at + 3700 * US)
    s.marker_end(at + 3800 * US, step)
    return s


class Agree(Case):
    def database(self, name, *spools):
        self.rtl("merge", "-q", *self.spools(name, *spools), "-o", name + ".db")
        return name + ".db"

    def spools(self, name, *spools):
        for i, s in enumerate(spools):
            s.write(self.path(f"{name}{i}.rtl"))
        return [f"{name}{i}.rtl" for i in range(len(spools))]

    def as_rpd(self, db):
        """The same trace as RPD's tracer would have written it: without the tables and views of rtl."""
        shutil.copy(self.path(db), self.path("rpd_" + db))
        with contextlib.closing(sqlite3.connect(self.path("rpd_" + db))) as c:
            for table in "rocpd_api_ops", "rocpd_kernelapi":
                c.execute(f"create table new_{table} as select * from {table}")
            for kind in ("view", "table"):
                for name, in c.execute("select name from sqlite_master where type = ? and name glob 'rtl_*'", (kind,)).fetchall():
                    c.execute(f"drop {kind} {name}")
            for name, in c.execute("select name from sqlite_master where type = 'view'").fetchall():
                c.execute(f"drop view {name}")
            for table in "rocpd_api_ops", "rocpd_kernelapi":
                c.execute(f"drop table if exists {table}")
                c.execute(f"alter table new_{table} rename to {table}")
            c.execute("drop index if exists rtl_kernel_untimed")
            for table in "rocpd_api", "rocpd_op":
                for _, name, *_ in c.execute(f"pragma table_info({table})").fetchall():
                    if name.startswith("rtl_"):
                        c.execute(f"alter table {table} drop column {name}")
            c.commit()
        return "rpd_" + db

    def traces(self):
        one, other = program(), program(pid=os.getpid() + 1, shift=3 * MS)
        names = [self.database("one", one), self.database("ranks", program(rank=0), program(pid=os.getpid() + 1, rank=1, shift=3 * MS)),
                 self.database("two", one, other)]
        return names + [self.as_rpd(name) for name in names]

    def golden(self):
        """The example traces of the format: calls of all kinds, a program's, what a killed one leaves, removed chunks. Those of v2 have the same records."""
        names = []
        for file in sorted(f for f in os.listdir(os.path.join(SOURCE, "tests/golden")) if re.fullmatch(r"v1.*\.rtl", f)):
            names.append(file[:-4] + ".db")
            self.rtl("merge", "-q", "--force", os.path.join(SOURCE, "tests/golden", file), "-o", names[-1])
        with open(os.path.join(SOURCE, "tests/golden/layout1-api.sql")) as f, contextlib.closing(sqlite3.connect(self.path("layout1.db"))) as c:
            c.executescript(f.read())
        return names + ["layout1.db"]

    def json(self, *args):
        return json.loads(self.rtl("summary", *args, "-f", "json").stdout)

    def by(self, db, what):
        return {r["name"]: r for r in self.json(db, "--by", what)}

    def report(self, db):
        self.rtl("report", "-q", "--force", db, "-o", "a.html")
        return Report(self.path("a.html"))

    def test_copies_have_one_name_and_number(self):
        made = self.traces()
        for db in made + self.golden():
            rows = {name: (r["calls"], r["total_ns"], r["bytes"]) for name, r in self.by(db, "copy").items()}
            if db in made:
                if not db.startswith("rpd"):
                    self.assertEqual(set(rows), set(NAMES), db)
                self.assertGreater(rows["FillBuffer"][0], 6)
            self.assertEqual({c["name"]: (c["calls"], c["total_ns"], c["bytes"]) for c in self.json(db, "--by", "overview")["copies"]}, rows, db)
            if db.startswith("rpd"):
                # RPD has no sizes: no output says 0
                self.assertEqual({(r["bytes"], r["bytes_per_s"]) for r in self.by(db, "copy").values()}, {(None, None)})
                csv = [line.split(",") for line in self.rtl("summary", db, "--by", "copy", "-f", "csv").stdout.splitlines()]
                at = csv[0].index("bytes")
                self.assertEqual({tuple(line[at:at + 2]) for line in csv[1:]}, {("", "")})
                self.assertRegex(self.rtl("summary", db, "--by", "copy").stdout.splitlines()[1], " us +- +- +0 +Copy")
            sums = {n: (c, ns) for n, (c, ns, _) in rows.items()}
            self.assertEqual(self.report(db).sums("copies"), sums, db)
            if db in made:
                # the program's copies to the host name the host on both sides
                self.assertEqual(sum(g["copies"] for g in self.json(db, "--by", "gpu")),
                                 sum(c for n, (c, _) in sums.items() if n != "CopyDeviceToHost"), db)
            self.rtl("convert", "-q", "--force", db, "-f", "chrome", "-o", "a.json")
            with open(self.path("a.json"), encoding="utf-8") as f:
                events = json.load(f)["traceEvents"]
            counts = {}
            for e in events:
                if e.get("cat") == "copy":
                    self.assertNotEqual("bytes" in e["args"], db.startswith("rpd"), e)
                    counts[e["name"]] = counts.get(e["name"], 0) + 1
            self.assertEqual(counts, {n: c for n, (c, _) in sums.items()}, db)

    def test_wall_time_and_start_up_are_the_same_everywhere(self):
        made = self.traces()
        for db in made + self.golden():
            figures, page = self.json(db, "--by", "overview"), self.report(db).main
            self.assertEqual((page["wall_ns"], page["startup_ns"]), (figures["wall_ns"], figures["startup_ns"]), db)
            if db in made:
                self.assertGreater(figures["startup_ns"], 10 * MS)
            work = figures["wall_ns"] - figures["startup_ns"]
            path = self.json(db, "--by", "path")
            self.assertLessEqual(sum(p["total_ns"] for p in path), work, db)
            for gpu in self.json(db, "--by", "gpu"):
                [of] = [g for g in figures["gpus"] if g["gpu"] == gpu["gpu"]]
                [own] = [g for g in page["gpus"] if g["gpu"] == gpu["gpu"]]
                self.assertEqual(gpu["busy"], gpu["busy_ns"] / work, db)
                for key in ("busy_ns", "kernels", "copies"):
                    self.assertEqual((of[key], own[key]), (gpu[key], gpu[key]), (db, key))
                self.assertEqual(own["span_ns"], gpu["span_ns"], db)
                self.assertLessEqual(of["busy_ns"] + of["idle_ns"], work, db)

    def test_start_up_ends_with_the_first_operation_of_any_process(self):
        """Also behind calls that wait: the runtime starts in the first copy, and a device without work is synchronized."""
        spools = []
        for rank, first in enumerate((60 * MS, 55 * MS)):
            s = spool.Spool(pid=100 + rank)
            for key, value in (("command", "./app"), ("mode", "hip"), ("version", "0.1.0"), ("rank", str(rank))):
                s.info(key, value)
            s.thread(s.tid, "app")
            s.agent(gpu=False, name="cpu")
            queue, work = s.queue(s.agent()), s.kernel("_Z4workPf")
            s.op(1, "hipDeviceSynchronize", "")
            s.op(2, "hipMemcpy", "dst:p:dst,src:p:src,sizeBytes:z:bytes,kind:e=hipMemcpyKind:kind")
            s.api(1, s.start + MS, s.start + 20 * MS)
            copy = s.api(2, s.start + 30 * MS, s.start + 62 * MS, (1, 2, 4096, 1))
            s.copy(s.start + first, s.start + first + MS, 4096, correlation=copy)
            s.dispatch(work, queue, s.start + 70 * MS, s.start + 80 * MS)
            s.dispatch(work, queue, s.start + 40 * MS, s.start + 40 * MS - 1)  # its times are not valid
            spools.append(s)
        db = self.database("first", *spools)
        figures, page = self.json(db, "--by", "overview"), self.report(db).main
        begin = min(s.start for s in spools)
        startup = min(spools[0].start + 60 * MS, spools[1].start + 55 * MS) - begin
        self.assertEqual((figures["startup_ns"], page["startup_ns"]), (startup, startup))
        self.assertIn("until the first operation", self.rtl("summary", db).stdout)
        [gpu] = self.json(db, "--by", "gpu")
        self.assertEqual(gpu["busy"], gpu["busy_ns"] / (figures["wall_ns"] - startup))
        # what waits in the start-up is no finding
        self.assertNotIn("hipDeviceSynchronize", json.dumps(figures["findings"]))
        self.assertLessEqual(sum(p["total_ns"] for p in self.json(db, "--by", "path")), figures["wall_ns"] - startup)

    def test_start_up_ends_with_the_first_call_that_waits(self):
        """For another rank, before the first operation; for a GPU, where no operation has times."""
        for name, calls, until, ends in (
            ("rank", ((1, 5, 6), (2, 10, 12), (3, 20, 45)), "MPI_barrier(), the first call that waits", 20),
            ("late", ((1, 5, 6), (3, 52, 70)), "the first operation", 50),
            ("untimed", ((1, 5, 6), (4, 30, 48)), "hipStreamSynchronize(), the first call that waits", 30),
        ):
            s = spool.Spool(pid=100)
            for key, value in (("command", "./app"), ("mode", "hip"), ("version", "0.1.0")):
                s.info(key, value)
            s.thread(s.tid, "app")
            s.agent(gpu=False, name="cpu")
            queue, work = s.queue(s.agent()), s.kernel("_Z4workPf")
            s.op(1, "hipInit", "u:flags")
            # one that asks, and does not wait; one of Fortran
            s.op(2, "MPI_Testall", "count:i", domain=4)
            s.op(3, "MPI_barrier", "comm:x", domain=4)
            s.op(4, "hipStreamSynchronize", "")
            for number, begin, end in calls:
                s.api(number, s.start + begin * MS, s.start + end * MS, (1,) if number in (2, 3) else (), domain=4 if number in (2, 3) else 1)
            s.dispatch(work, queue, s.start + 50 * MS, s.start + (60 if name != "untimed" else 49) * MS)
            db = self.database(name, s)
            figures, page = self.json(db, "--by", "overview"), self.report(db).main
            self.assertEqual([(of["startup_ns"], of["startup_until"]) for of in (figures, page)], [(ends * MS, until)] * 2, name)
            self.assertIn(f"Start-up: {ends}.00 ms until {until}", " ".join(self.rtl("summary", db).stdout.split()))
            self.assertEqual(figures["idle_ns"], figures["wall_ns"] - ends * MS - (0 if name == "untimed" else 10 * MS), name)
            for gpu in self.json(db, "--by", "gpu"):
                self.assertEqual(gpu["busy"], gpu["busy_ns"] / (figures["wall_ns"] - ends * MS), name)

    def test_tables_have_the_same_rows_and_shares(self):
        for db in self.traces() + self.golden():
            figures, page = self.json(db, "--by", "overview"), self.report(db)
            for by, key, table in (("kernel", "kernels", "kernels"), ("api", "calls", "calls")):
                rows = self.by(db, by)
                self.assertEqual(len(rows), len(self.json(db, "--by", by)), db)
                got = {name: (r["calls"], r["total_ns"]) for name, r in rows.items()}
                self.assertEqual([(r["name"], (r["calls"], r["total_ns"])) for r in figures[key]], list(got.items()), db)
                self.assertEqual(page.sums(table), got, db)
            text = self.rtl("summary", db).stdout
            for by in ("kernel", "copy", "api"):
                table = self.rtl("summary", db, "--by", by).stdout.splitlines()[1:]
                for line in table[:5]:
                    # share, total, calls; of kernels and calls also the mean; the name
                    fields = re.split(" {2,}", line.strip())
                    shown = " {2,}".join(map(re.escape, fields[:3 if by == "copy" else 4]))
                    self.assertRegex(text, f"(?m)^ *{shown} .* {re.escape(line.split()[-1])}$", (db, by))
            self.assert_shares(text)

    def test_part_has_the_same_numbers_in_its_tables(self):
        """Windows that cut operations and calls: sums are of whole durations, busy times of the parts within."""
        for db in self.traces()[:3]:
            whole = self.json(db, "--by", "overview")["wall_ns"] / MS
            for begin, end in ((0, 52.5), (50.05, 50.06), (52.5015, 53.5105), (50.0505, whole), (whole / 2, whole + 9)):
                part = f"--time={begin}ms:{end}ms"
                figures = self.json(db, "--by", "overview", part)
                for table, by in (("kernels", "kernel"), ("calls", "api"), ("copies", "copy")):
                    rows = {r["name"]: (r["calls"], r["total_ns"]) for r in self.json(db, "--by", by, part)}
                    sums = {}
                    for row in figures[table]:
                        calls, ns = sums.get(row["name"], (0, 0))
                        sums[row["name"]] = (calls + row["calls"], ns + row["total_ns"])
                    self.assertEqual({name: rows[name] for name in sums}, sums, (db, part, by))
                    self.assertEqual(len(sums), min(len(rows), 32), (db, part, by))
                gpus = self.json(db, "--by", "gpu", part)
                self.assertEqual({g["gpu"]: (g["busy_ns"], g["kernels"], g["copies"]) for g in gpus},
                                 {g["gpu"]: (g["busy_ns"], g["kernels"], g["copies"]) for g in figures["gpus"]}, (db, part))
                for g in gpus:
                    self.assertAlmostEqual(g["busy"], g["busy_ns"] / (figures["wall_ns"] - figures["startup_ns"]))
                    self.assertLessEqual(g["busy"], 1, (db, part))
                self.assertLessEqual(max([s["busy"] for s in self.json(db, "--by", "stream", part)], default=0), 1, (db, part))

    def test_report_has_the_tables_of_the_summary(self):
        for db in self.traces() + self.golden():
            page = self.report(db)
            for table, by in (("kernels", "kernel"), ("calls", "api"), ("copies", "copy"), ("ranges", "marker"), ("imbalance", "imbalance")):
                rows = [{**r, "name": page.names[r["name"]]} for r in page.main["tables"][table]]
                self.assertEqual(rows, [{**r, "name": r["name"] or "unnamed"} for r in self.json(db, "--by", by)], (db, table))

    def test_report_has_the_counters_and_the_roofline_of_the_summary(self):
        db = self.database("counted", program())
        add_counters(self.path(db))
        with contextlib.closing(sqlite3.connect(self.path(db))) as c, c:
            # the dispatch without times was counted, too: its values are in the means, its time is not
            c.execute("insert into rocpd_counter(value, op_id, name_id) select 1000, D.op_id, N.id from rtl_dispatch D, rocpd_string N "
                      "where D.flags & 2 and N.string = 'FETCH_SIZE'")
            self.assertEqual(c.execute("select changes()").fetchone(), (1,))
            fetched, written = (c.execute("select avg(C.value) from rocpd_counter C join rocpd_string N on N.id = C.name_id join rtl_dispatch D using (op_id) "
                                          "where N.string = ? and D.kernel = 'work(float*)'", (name,)).fetchone()[0] for name in ("FETCH_SIZE", "WRITE_SIZE"))
        page, want = self.report(db), {"counters": self.json(db, "--by", "counter"), "roofline": self.json(db, "--by", "kernel", "--metrics", "roofline")}
        for table, rows in want.items():
            self.assertTrue(rows)
            self.assertEqual([{**r, "kernel": page.names[r["kernel"]]} for r in page.main["tables"][table]], rows)
        [dram] = [r["value"] for r in want["roofline"] if (r["kernel"], r["metric"]) == ("work(float*)", "dram")]
        self.assertAlmostEqual(dram, 1024 * (fetched + written) / (70 * US))

    def test_processes_and_ranks_add_up_to_the_whole(self):
        for db in self.traces() + self.golden():
            if db.startswith("rpd"):
                continue  # RPD does not describe processes
            kernels, copies, calls = (self.json(db, "--by", by) for by in ("kernel", "copy", "api"))
            for by in ("process", "rank"):
                rows = self.json(db, "--by", by)
                self.assertEqual([sum(r[key] for r in rows) for key in ("kernels", "kernel_ns", "copies", "copy_ns", "calls")],
                                 [sum(r["calls"] for r in kernels), sum(r["total_ns"] for r in kernels), sum(r["calls"] for r in copies),
                                  sum(r["total_ns"] for r in copies), sum(r["calls"] for r in calls)], (db, by))

    def test_diff_of_a_trace_with_itself_has_its_numbers_and_no_change(self):
        for db in self.traces() + self.golden():
            rows = json.loads(self.rtl("diff", db, db, "-f", "json").stdout)
            for r in rows:
                self.assertIn(r["change"], (0, None), (db, r))
                self.assertIn(r["verdict"], ("noise", "equal", "too few"), (db, r))
                for key in ("median_ns", "count", "total_ns", "median_count"):
                    self.assertEqual(r["a_" + key], r["b_" + key], (db, r))
            page = self.rtl("diff", db, db, "-f", "html", "-n", "0").stdout
            items = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])["items"]
            medians = {(r["what"], r["measure"], r["name"]): r["a_median_count" if r["measure"] == "count" else "a_median_ns"] for r in rows}
            self.assertTrue(items, db)
            for i in items:
                self.assertEqual(i["a_median"], medians[i["what"], i["measure"], i["name"]], (db, i))
            counted = {(r["what"], r["name"]): (r["a_count"], r["a_total_ns"]) for r in rows if r["measure"] == "count"}
            for by, what in (("kernel", "kernel"), ("copy", "copy"), ("api", "call")):
                self.assertEqual({n: v for (w, n), v in counted.items() if w == what},
                                 {n: (r["calls"], r["total_ns"]) for n, r in self.by(db, by).items()}, (db, by))
            figures = self.json(db, "--by", "overview")
            run = {r["measure"]: r["a_median_count" if r["measure"] == "count" else "a_median_ns"] for r in rows if r["what"] == "run"}
            gpus = self.json(db, "--by", "gpu")
            # exactly: a golden trace has times of a hundred years
            self.assertEqual((run["wall"], run["busy"]), (figures["wall_ns"], figures["wall_ns"] - figures["startup_ns"] - figures["idle_ns"]), db)
            # of what ran on GPUs
            self.assertEqual((run["count"], run["total"]), (sum(g["calls"] for g in gpus), sum(g["total_ns"] for g in gpus)), db)

    def test_screen_shows_the_numbers_of_the_summary(self):
        for db in (self.traces()[1], self.golden()[0]):
            for tab, by in (("kernels", "kernel"), ("calls", "api"), ("copies", "copy"), ("gpus", "gpu")):
                table = self.rtl("summary", db, "--by", by).stdout.splitlines()
                rows = [line.split() for line in table[1:6] if line.strip()]
                if not rows:
                    continue
                t = Terminal([RTL_BIN, "tui", "--tab", tab, db], environment({"LC_ALL": "C.UTF-8", "LANG": None}), 40, 200, "linux", self.dir)
                self.addCleanup(t.close)
                for row in rows:
                    numbers = r"\s+".join(re.escape(word) for word in row[:6])
                    t.until(lambda text, of=numbers: re.search(of, text), f"{db}, {tab}: {' '.join(row)}")

    def test_rows_that_are_divided_add_up(self):
        for db in self.traces():
            for split, key, slowest in (("rank", "rank", "slowest_rank"), ("process", "pid", "slowest_pid")):
                for by, total, name in (("kernel", "total_ns", "name"), ("api", "total_ns", "name"), ("copy", "total_ns", "name"),
                                        ("marker", "total_ns", "name"), ("range", "gpu_ns", "path")):
                    rows = self.json(db, "--by", f"{by},{split}")
                    if db.startswith("rpd"):
                        self.assertEqual(rows, [], db)
                        continue
                    whole, seen = self.json(db, "--by", by), []
                    self.assertTrue(whole)
                    for row in whole:
                        own = [r for r in rows if r[name] == row[name]]
                        seen += own
                        self.assertEqual([sum(r[k] for r in own) for k in ("calls", total)], [row["calls"], row[total]], (db, by, split))
                        self.assertEqual(own, sorted(own, key=lambda r: -r[total]))
                        self.assertEqual(len({r[key] for r in own}), len(own))
                        mean = row[total] / len(own)
                        for r in own:
                            self.assertAlmostEqual(r["of_mean"], r[total] / mean)
                            self.assertAlmostEqual(r["max_of_mean"], own[0][total] / mean)
                            self.assertEqual(r[slowest], own[0][key])
                    self.assertEqual(seen, rows, (db, by, split))

    def test_slowest_rank_is_named(self):
        spools = []
        for rank in range(3):
            s = spool.Spool(pid=100 + rank)
            for key, value in (("command", "./app"), ("mode", "hip"), ("version", "0.1.0"), ("rank", str(rank))):
                s.info(key, value)
            s.thread(s.tid, "app")
            s.agent(gpu=False, name="cpu")
            queue, work, step = s.queue(s.agent()), s.kernel("_Z4workPf"), s.marker(s.start, "step")
            for i in range(4):
                begin = s.start + i * MS
                s.dispatch(work, queue, begin, begin + (300 if rank == 1 else 150) * US, correlation=i + 1, marker=step)
            s.marker_end(s.start + 5 * MS, step)
            spools.append(s)
        db = self.database("slow", *spools)
        for by in ("kernel", "range"):
            rows = self.json(db, "--by", by + ",rank")
            self.assertEqual([(r["rank"], r["slowest_rank"], r["max_of_mean"], r["of_mean"]) for r in rows],
                             [(1, 1, 1.5, 1.5), (0, 1, 1.5, 0.75), (2, 1, 1.5, 0.75)], by)
            lines = self.rtl("summary", db, "--by", by + ",rank").stdout.splitlines()
            self.assertRegex(lines[0], r"RANK  MAX/MEAN  SLOWEST  (NAME|RANGE)$")
            self.assertRegex(lines[1], r" 1 +1\.50 +1  (work\(float\*\)|step)$")
            csv = self.rtl("summary", db, "--by", by + ",rank", "-f", "csv").stdout.splitlines()
            self.assertTrue(csv[0].endswith(",rank,of_mean,max_of_mean,slowest_rank"), csv)
            self.assertTrue(csv[1].endswith(",1,1.500000,1.500000,1"), csv)
        [gpu] = self.json(db, "--by", "gpu")
        self.assertEqual((gpu["ranks"], gpu["pids"]), ("0-2", "100-102"))
        self.assertRegex(self.rtl("summary", db, "--by", "gpu").stdout, " 0-2 +100-102  Vega")

    def assert_shares(self, text):
        for share in re.findall(r"([0-9.]+)%", text):
            self.assertLessEqual(float(share), 100, text)

    def test_trace_says_the_wall_time_of_the_summary(self):
        line = self.rtl("merge", *self.spools("said", program(), program(pid=os.getpid() + 1, shift=3 * MS)), "-o", "said.db").stderr.splitlines()[0]
        head = self.rtl("summary", "said.db").stdout.splitlines()[0]
        self.assertEqual(line.rsplit(", ", 1)[1], head.rsplit(", ", 1)[1])

    def test_findings_are_the_same_everywhere_and_documented(self):
        with open(os.path.join(SOURCE, "docs/findings.md"), encoding="utf-8") as f:
            documented = set(re.findall(r"(?m)^\| `([a-z-]+)` \|", f.read()))
        with open(os.path.join(SOURCE, "src/analysis/findings.c"), encoding="utf-8") as f:
            ids = set(re.findall(r'(?m)^\t{ "([a-z-]+)", "--by', f.read()))
        self.assertEqual(ids, documented)
        for db in self.traces():
            figures = self.json(db, "--by", "overview")
            found = figures["findings"]
            self.assertIn("idle-gpu", [f["id"] for f in found])
            self.assertLessEqual({f["id"] for f in found}, ids)
            self.assertEqual(self.report(db).main["findings"], [{"id": f["id"], "text": f["text"]} for f in found], db)
            [idle] = [f for f in found if f["id"] == "idle-gpu"]
            numbers = {n["key"]: n["value"] for n in idle["numbers"]}
            self.assertEqual((idle["severity"], idle["query"], numbers["idle_ns"]), ("high", "--by gap", figures["idle_ns"]), db)
            self.assertAlmostEqual(numbers["share"], figures["idle_ns"] / (figures["wall_ns"] - figures["startup_ns"]))
            for f in found:
                self.assertLessEqual({n["value"] > 1 for n in f["numbers"] if n["key"].endswith("share")}, {False}, f)
            for f in found:
                # each is where its query says
                self.rtl("summary", db, *f["query"].split())

    def test_findings_need_what_they_are_made_of(self):
        for reason, gone, kept in (("filtered_call", {"idle-gpu", "critical-path", "unpinned-copies"}, {"slow-gpu", "copies-apart"}),
                                   ("filtered_kernel", {"idle-gpu", "critical-path", "slow-gpu"}, {"unpinned-copies"}),
                                   ("paused", {"idle-gpu", "critical-path", "copies-apart"}, {"slow-gpu", "unpinned-copies"})):
            s = program()
            s.loss(reason, 5)
            figures = self.json(self.database(reason, s), "--by", "overview")
            self.assertFalse(gone & {f["id"] for f in figures["findings"]}, reason)
            for name in gone:
                self.assertIn(name, figures["findings_missing"])
            for name in kept:
                self.assertNotIn(name, figures["findings_missing"])
        self.assertIsNone(self.json(self.database("all", program()), "--by", "overview")["findings_missing"])


if __name__ == "__main__":
    unittest.main()
