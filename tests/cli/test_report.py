#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl report: the file against the database, read with SQL, and the page in a real browser"""
import base64
import json
import re
import sqlite3
import stat
import struct
import subprocess
import zlib

from support import browser, spool
from support.cli import *
import test_collective
from test_pictures import training

UNTIMED = 2 | 4 | 8 | 65536
# kernels of the program: not ROCr's, and not those with which HIP copies
OF_PROGRAM = "not flags & 32 and kernel not glob '__amd_rocclr_copy*'"
HOSTILE = ('</script><script>window.hacked = 1</script>', '"><img src=x onerror="window.hacked=1">', "\x1b[31mred\n\u202egnp.exe\u2066",
           "a&amp;b <!-- ' -->", "k" * 5000)
BLOCK = re.compile(rb'<script type="text/plain" id="(\w+)">([A-Za-z0-9+/]*=*)</script>\n')


def fetch(db, sql, *values):
    with contextlib.closing(sqlite3.connect(db)) as connection:
        return connection.execute(sql, values).fetchall()


def example(calls=True):
    """Two GPUs, streams, copies, calls, ranges, names that are an attack, operations that overlap, and one without times."""
    s = spool.calls() if calls else spool.sample(60)
    at = s.start + 60_000
    kernels = [s.kernel(name) for name in HOSTILE]
    for i, kernel in enumerate(kernels * 8):
        # two at a time on a queue
        s.dispatch(kernel, i % 2, at + i * 700, at + i * 700 + 1200 + 10 * i)
    for i, name in enumerate(HOSTILE):
        s.marker_end(at + 5000 * i + 4000, s.marker(at + 5000 * i, name))
    s.dispatch(1, 0, at + 90_000, at + 89_000)  # inverted
    if calls:  # a copy that HIP makes with a kernel
        s.op(9, "hipMemcpyAsync", "dst:p:dst,src:p:src,sizeBytes:z:bytes,kind:e=hipMemcpyKind:kind,stream:h:stream")
        own = s.api(9, at + 91_000, at + 91_500, (1, 2, 8192, 3, 0))
        s.dispatch(s.kernel("__amd_rocclr_copyBuffer.kd"), 0, at + 92_000, at + 92_700, correlation=own)
    s.loss("buffer_full", 17)
    s.info("command", HOSTILE[0])
    return s


class Varints:
    """As web/decode.js."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def next(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def column(self, count, delta):
        values, value = [], 0
        for _ in range(count):
            code = self.next()
            value = value + (code >> 1 ^ -(code & 1)) if delta else code
            values.append(value)
        return values


COLUMNS = (("begin", True), ("duration", False), ("name", False), ("flags", False), ("id", True), ("call", True), ("marker", True),
           ("extra", True), ("text", False), ("bytes", False))


class Report:
    """A report's file, decoded."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.html = file.read()
        self.blocks = {name.decode(): zlib.decompress(base64.b64decode(data, validate=True)) for name, data in BLOCK.findall(self.html)}
        self.main = json.loads(self.blocks["main"])
        self.names = self.main["names"]

    def rows(self):
        """Lane, and slices as dictionaries, for each row."""
        for lane in self.main["lanes"]:
            for row in lane["rows"]:
                slices = []
                for number, count, begin, end, has_texts in row:
                    data = Varints(self.blocks[f"b{number}"])
                    columns = {name: data.column(count, delta) for name, delta in COLUMNS}
                    if lane["kind"] == "counter":
                        columns["value"] = struct.unpack_from(f"<{count}d", data.data, data.at)
                        data.at += 8 * count
                    assert data.at == len(data.data)
                    new = [dict(zip(columns, values)) for values in zip(*columns.values())]
                    assert begin == new[0]["begin"] and end >= max(s["begin"] + s["duration"] for s in new)
                    if has_texts:
                        for s, text in zip(new, self.blocks[f"t{number}"].decode().split("\0")):
                            s["args"] = text
                    slices += new
                yield lane, slices

    def sums(self, table):
        return {self.names[s["name"]]: (s["calls"], s["total_ns"]) for s in self.main["tables"][table]}


class File(Case):
    def report(self, s=None, name="a"):
        (s or example()).write(self.path(name + ".rtl"))
        self.rtl("recover", "-q", name + ".rtl", "-o", name + ".db")
        self.rtl("report", "-q", name + ".db")
        return self.path(name + ".db"), Report(self.path(name + ".html"))

    def test_sums_are_those_of_the_database(self):
        db, r = self.report()
        timed = f"case when flags & {UNTIMED} then 0 else end_ns - begin_ns end"
        self.assertEqual(r.sums("kernels"), {
            row[0]: row[1:] for row in fetch(db, f"select kernel, count(*), sum({timed}) from rtl_dispatch where {OF_PROGRAM} group by 1")})
        self.assertEqual(r.sums("calls"), {row[0]: row[1:] for row in fetch(
            db, "select name, count(*), sum(end_ns - begin_ns) from rtl_api group by 1")})
        self.assertEqual(r.sums("ranges"), {row[0]: row[1:] for row in fetch(
            db, "select message, count(*), sum(end_ns - begin_ns) from rtl_marker group by 1")})
        self.assertEqual(r.sums("copies"), {row[0]: row[1:] for row in fetch(
            db, "select case kind when 'Fill' then 'FillBuffer' else 'Copy' || kind end, count(*), sum(end_ns - begin_ns) from rtl_transfer group by 1")})
        self.assertEqual(r.sums("copies")["CopyDeviceToDevice"], (1, 700))
        self.assertEqual(sum(s["bytes"] for s in r.main["tables"]["copies"]), fetch(db, "select sum(bytes) from rtl_transfer")[0][0])
        self.assertEqual(sum(s["errors"] for s in r.main["tables"]["calls"]), fetch(db, "select count(*) from rtl_api where status <> 0")[0][0])
        self.assertIn("buffer_full", [loss["reason"] for loss in r.main["losses"]])
        self.assertFalse(r.main["complete"])

    def test_gpus_are_busy_for_the_union_of_their_operations(self):
        db, r = self.report()
        for gpu in r.main["gpus"]:
            busy, until = 0, 0
            for begin, end in fetch(db, "select start, end from rocpd_op where gpuId = ? and end > start order by 1", gpu["gpu"]):
                busy += max(0, end - max(begin, until))
                until = max(until, end)
            self.assertEqual(gpu["busy_ns"], busy)
            self.assertEqual(sum(gpu["bins"]), busy)
        self.assertEqual([g["gpu"] for g in r.main["gpus"]], [0, 1])

    def test_slices_are_those_of_the_database(self):
        db, r = self.report()
        t0 = r.main["t0"]
        seen = {kind: [] for kind in ("kernels", "copies", "runtime", "calls", "ranges")}
        for lane, slices in r.rows():
            seen[lane["kind"]] += [(s["id"], t0 + s["begin"], s["duration"], r.names[s["name"]]) for s in slices]
        timed = f"case when flags & {UNTIMED} then 0 else end_ns - begin_ns end"
        for kind, want in (("kernels", "not flags & 32"), ("runtime", "flags & 32")):
            self.assertEqual(sorted(seen[kind]), fetch(db, f"select op_id, begin_ns, {timed}, case when kernel glob '__amd_rocclr_copy*' then "
                                                          f"'CopyDeviceToDevice' else kernel end from rtl_dispatch where {want} order by 1"))
        self.assertEqual(sorted(seen["calls"]), fetch(db, "select api_id, begin_ns, end_ns - begin_ns, name from rtl_api order by 1"))
        self.assertEqual(sorted(seen["ranges"]), fetch(db, "select marker_id, begin_ns, end_ns - begin_ns, message from rtl_marker order by 1"))
        self.assertEqual(len(seen["copies"]), fetch(db, "select count(*) from rtl_copy")[0][0])

    def test_operations_name_their_call_stream_and_shape(self):
        db, r = self.report()
        by_id = {s["id"]: s for lane, slices in r.rows() if lane["kind"] in ("kernels", "copies") for s in slices}
        joined = fetch(db, "select D.op_id, A.api_id from rtl_dispatch D join rtl_api A on A.correlation_id = D.correlation_id where not D.flags & 32 "
                       "union all select C.op_id, A.api_id from rtl_copy C join rtl_api A on A.correlation_id = C.correlation_id")
        self.assertEqual(len(joined), 14)
        for op, call in joined:
            self.assertEqual(by_id[op]["call"], call)
        streams = {r.names[by_id[op]["extra"]] for op, _ in joined}
        self.assertEqual(streams, {"stream 1 (null)", "stream 2 (0x55aa)"})
        grids = {r.names[s["text"]] for s in by_id.values() if not s["bytes"]}
        self.assertTrue(all(g.startswith("grid 1024 \u00d7 1 \u00d7 1 work-items, workgroup 256 \u00d7") for g in grids), grids)
        args = {s["id"]: s["args"] for lane, slices in r.rows() if lane["kind"] == "calls" for s in slices}
        self.assertEqual(args, dict(fetch(db, "select api_id, args from rtl_api")))

    def test_rows_do_not_overlap(self):
        _, r = self.report()
        most = 0
        for lane, slices in r.rows():
            most = max(most, len(lane["rows"]))
            for a, b in zip(slices, slices[1:]):
                self.assertLessEqual(a["begin"] + a["duration"], b["begin"], lane["name"])
        self.assertGreaterEqual(most, 2)

    def test_many_slices_come_in_blocks_and_groups(self):
        _, r = self.report(spool.sample(40_000))
        lanes = [lane for lane in r.main["lanes"] if lane["kind"] == "kernels"]
        self.assertEqual([[b[1] for b in lane["rows"][0]] for lane in lanes], [[16384, 3616]] * 2)
        levels = Varints(r.blocks["levels"])
        counts = []
        for lane in r.main["lanes"]:
            for row in lane["rows"]:
                groups = [[levels.next() for _ in range(5)] for _ in range(levels.next())]
                self.assertEqual(sum(g[0] for g in groups), sum(b[1] for b in row))
                self.assertLessEqual(max(g[0] for g in groups), 64)
                counts.append(len(groups))
        self.assertEqual(levels.at, len(levels.data))
        self.assertIn(313, counts)  # 20,000 slices

    def test_trace_cannot_become_part_of_the_page(self):
        _, r = self.report()
        _, other = self.report(spool.sample(3), "b")
        self.assertEqual(BLOCK.sub(b"", r.html), BLOCK.sub(b"", other.html))
        for name in HOSTILE:
            self.assertIn(name, r.names)
            self.assertNotIn(name.encode()[:12], r.html)

    def test_page_names_no_address(self):
        _, r = self.report()
        page = BLOCK.sub(b"", r.html).decode()
        self.assertEqual(set(re.findall(r"https?:[^\s\"']*", page)), {"http://www.w3.org/2000/svg"})
        self.assertIn("default-src 'none'", page)
        self.assertIsNone(re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function|XMLHttpRequest|\bfetch\(", page))

    def test_arguments_make_the_file_private(self):
        self.report()
        self.assertEqual(stat.S_IMODE(os.stat(self.path("a.html")).st_mode), 0o600)
        self.rtl("report", "-q", "--public", "--force", "a.db")
        self.assertTrue(os.stat(self.path("a.html")).st_mode & 0o044)

    def test_any_kind_of_trace_is_reported(self):
        db, r = self.report()
        self.rtl("report", "-q", "a.rtl", "-o", "raw.html")
        raw = Report(self.path("raw.html"))
        self.assertEqual(raw.sums("kernels"), r.sums("kernels"))
        self.assertEqual(Report(self.written("stdout.html", self.rtl("report", db, "-o", "-", text=False).stdout)).sums("calls"), r.sums("calls"))
        with contextlib.closing(sqlite3.connect(self.path("rpd.db"))) as rpd:
            rpd.executescript(RPD_TABLES + """
                insert into rocpd_string values (1, ''), (2, 'hipLaunchKernel'), (3, 'gemm'), (4, 'KernelExecution'), (5, 'CopyHostToDevice');
                insert into rocpd_api values (1, 77, 78, 1000, 2000, 2, 1);
                insert into rocpd_op values (1, 0, 0, 1, '', 3000, 5000, 3, 4), (2, 0, 0, 2, '', 5000, 6000, 1, 5);
                insert into rocpd_api_ops values (1, 1, 1);""")
        self.rtl("report", "-q", "rpd.db")
        r = Report(self.path("rpd.html"))
        self.assertEqual((r.sums("kernels"), r.sums("copies"), r.sums("calls")),
                         ({"gemm": (1, 2000)}, {"CopyHostToDevice": (1, 1000)}, {"hipLaunchKernel": (1, 1000)}))

    def written(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def test_outputs_are_not_overwritten(self):
        self.report(spool.sample(3))
        self.assertIn("exists already; use --force", self.rtl("report", "a.db", status=1).stderr)
        self.assertIn("there is no directory none", self.rtl("report", "a.db", "-o", "none/x.html", status=1).stderr)
        self.assertIn("not a trace", self.rtl("report", "a.html", "-o", "x.html", status=1).stderr)
        self.assertEqual(self.files(), ["a.db", "a.html", "a.rtl"])
        self.assertIn("written; the trace is complete", self.rtl("report", "a.db", "--force").stderr)


COUNTERS = ("FETCH_SIZE", "WRITE_SIZE", "SQ_INSTS_VALU")


def add_counters(path):
    """Values of three counters for each kernel that has times, as rtl trace --pmc records them."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        ops = [op for op, in db.execute(f"select op_id from rtl_dispatch where not flags & (32 | {UNTIMED}) order by 1")]
        for k, name in enumerate(COUNTERS):
            ident = db.execute("insert into rocpd_string(string) values (?)", (name,)).lastrowid
            db.executemany("insert into rocpd_counter(value, op_id, name_id) values (?, ?, ?)",
                           [((k + 1) * 100 + i / 4, op, ident) for i, op in enumerate(ops)])


class Ranks(Case):
    """The lanes of collectives, in the file and in headless Chromium."""

    job = test_collective.Collectives.job

    def report(self, **how):
        name = self.job(**how)
        self.rtl("report", "-q", name)
        return name, Report(self.path(name.replace(".db", ".html")))

    def test_collectives_are_slices_with_their_ranks(self):
        for in_one in (False, True):
            db, report = self.report(late=2, by="host", seed=3, in_one=in_one)
            lanes = [lane for lane in report.main["lanes"] if lane["kind"] == "collectives"]
            self.assertEqual([(lane["group"], lane["name"]) for lane in lanes], [("collectives", f"communicator 0 of {'GPU' if in_one else 'rank'} 0 and 3 more")])
            rows = fetch(self.path(db), "SELECT min(begin_ns), max(begin_ns), max(end_ns) FROM rtl_collective GROUP BY number ORDER BY 1")
            late, t0 = "GPU 2" if in_one else "rank 2", report.main["t0"]
            shown = [(t0 + s["begin"], t0 + s["begin"] + s["duration"], report.names[s["name"]]) for lane, slices in report.rows() if lane["kind"] == "collectives" for s in slices]
            self.assertEqual([(b, e) for b, e, name in shown if name == "ncclAllReduce"], [(last, end) for _, last, end in rows])
            self.assertEqual([(b, e, name) for b, e, name in shown if name != "ncclAllReduce"][1:], [(first, last, f"wait for {late} (launched late)") for first, last, _ in rows[1:]])

    def test_hosts_with_different_clocks_have_no_lane(self):
        report = self.report(late=1, hosts=2, rounds=15, clock=(5_000_000_000, 0))[1]
        self.assertNotIn(b"rtlMessages = class", report.html)  # no script for messages that it has not
        self.assertEqual({lane["kind"] for lane in report.main["lanes"]}, {"calls", "kernels"})

    def test_arrows_lead_from_the_last_rank_to_those_that_waited(self):
        if not browser.find():
            self.skipTest("chromium is not installed")
        db, _ = self.report(late=2, by="host", seed=3)
        ops = fetch(self.path(db), "SELECT rank, op_id FROM rtl_collective WHERE number = 8 ORDER BY begin_ns DESC")
        self.assertEqual(ops[0][0], 2)
        waits = fetch(self.path(db), "SELECT max(begin_ns) OVER () - begin_ns FROM rtl_collective WHERE number = 8 ORDER BY begin_ns DESC")
        with browser.Browser(self.dir) as chromium:
            page = chromium.open(self.path(db.replace(".db", ".html")))
            page.wait("document.body && document.body.dataset.loaded")
            page.click_on("#tab-timeline")
            # the collective, then the kernel of each rank
            for chosen in ["trace.find(['collectives'], 'id', 8)"] + [f"trace.find(['kernels'], 'id', {op})" for _, op in ops]:
                page.evaluate(f"rtlReport.page.timeline.select(rtlReport.{chosen}, true)")
                page.wait("rtlReport.page.timeline.arrows.filter(a => a.at !== undefined).length === 3")
                arrows = page.evaluate("rtlReport.page.timeline.arrows.filter(a => a.at !== undefined).map(a => [a.from.id, a.to.id, a.at === a.from.begin])")
                self.assertEqual(sorted(arrows), sorted([ops[0][1], op, True] for _, op in ops[1:]))
                page.wait("document.querySelectorAll('#details li').length === 3")
                text = page.evaluate("document.querySelector('#details').innerText")
                self.assertIn("number 8, skew", text)
                self.assertIn("rank 2 (launched late)", text)
                shown = page.evaluate("[...document.querySelectorAll('#details li')].map(e => e.firstChild.textContent)")
                self.assertEqual(sorted(shown), sorted(f"rank {rank}" for rank, _ in ops[1:]))
            self.assertEqual(page.evaluate("rtlReport.trace.collectiveOf(rtlReport.trace.find(['collectives'], 'id', 8)).then(one => one.ranks.map(r => r.wait))", ),
                             sorted(w for w, in waits))
            page.evaluate("rtlReport.page.timeline.drawNow()")
            # a kernel that is no collective has none
            page.evaluate("rtlReport.page.timeline.select(rtlReport.trace.find(['kernels'], 'id', 1), true)")
            self.assertIsNone(page.evaluate("rtlReport.trace.collectiveOf(rtlReport.page.timeline.selected)"))
            self.assertEqual(page.errors, [])


class Messages(Case):
    """Messages of MPI between two real ranks, in headless Chromium; the program has logged which call has received what which call has sent."""

    def job(self):
        of, launcher = os.path.join(BUILD, "tests", "mpi", "messages.openmpi"), shutil.which("mpirun.openmpi")
        if not browser.find() or not launcher or not os.path.exists(of):
            self.skipTest("chromium or Open MPI is not installed")
        subprocess.run([launcher, "--oversubscribe", "-n", "2", RTL_BIN, "trace", "-q", "--mpi", "-o", "rank%r.db", "--", of, self.path("log"), "1"], cwd=self.dir, check=True, timeout=100,
                       env={**environment(), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        self.rtl("merge", "-q", "-o", "job.db", "rank0.db", "rank1.db")
        self.rtl("report", "-q", "job.db")
        calls = {}
        for rank, tid, call in fetch(self.path("job.db"), "SELECT P.rank, A.tid, A.api_id FROM rtl_api A JOIN rtl_process P ON P.pid = A.pid WHERE A.domain = 'mpi' ORDER BY 1, 2, A.begin_ns"):
            calls.setdefault(rank, {}).setdefault(tid, []).append(call)
        calls = {rank: list(threads.values()) for rank, threads in calls.items()}
        logged = set()
        for rank in range(2):
            with open(self.path(f"log{rank}"), encoding="ascii") as file:
                lines = [[int(number) for number in line[1:].split()] for line in file if line[0] == "R"]
            logged |= {(calls[sender][by][sent - 1], calls[rank][thread][call - 1]) for thread, call, sender, by, sent in lines}
        return logged

    def test_arrows_lead_from_the_call_that_sends_to_the_one_that_receives(self):
        logged = self.job()
        self.assertIn(b"rtlMessages = class", Report(self.path("job.html")).html)
        with browser.Browser(self.dir) as chromium:
            page = chromium.open(self.path("job.html"))
            page.wait("document.body && document.body.dataset.loaded")
            page.click_on("#tab-timeline")
            self.assertEqual({tuple(pair) for pair in page.evaluate("rtlReport.trace.messages.all.map(m => [m.from.id, m.to.id])")}, logged)
            # one that is in a message of its own at both ends
            send, receive = next(pair for pair in sorted(logged) if all(sum(end in other for other in logged) == 1 for end in pair))
            bytes_, tag = (int(v) for v in re.findall(r"(?:bytes|tag)=(\d+)", fetch(self.path("job.db"), "SELECT args FROM rtl_api WHERE api_id = ?", send)[0][0]))
            (begun, returned), (called, _) = (fetch(self.path("job.db"), "SELECT begin_ns, end_ns FROM rtl_api WHERE api_id = ?", call)[0] for call in (send, receive))
            for selected, other, title, waited in ((send, receive, "Sends (1)", begun < called < returned), (receive, send, "Receives (1)", called < begun)):
                page.evaluate(f"rtlReport.page.timeline.select(rtlReport.trace.find(['calls'], 'id', {selected}), true)")
                self.assertEqual(page.evaluate("rtlReport.page.timeline.arrows.map(a => [a.from.id, a.to.id, a.at === a.to.end])"), [[send, receive, True]])
                text = page.evaluate("document.querySelector('#details').innerText")
                self.assertIn(title, text)
                self.assertRegex(text, rf"rank {0 if selected == receive else 1}.*, {bytes_} bytes, tag {tag}, .* under way")
                self.assertEqual("waited" in text, waited)
                # by the keys alone to the other end
                page.evaluate("document.querySelector('#details li button').focus()")
                page.key("Enter")
                self.assertEqual(page.evaluate("rtlReport.page.timeline.selected.id"), other)
            # few in sight have thin arrows, many have none
            page.evaluate("(t => { const m = rtlReport.trace.messages.calls.get(%d); t.select(null); t.show(m.begin - 2000, m.end + 2000); t.drawNow(); })(rtlReport.page.timeline)" % send)
            drawn = "rtlReport.page.timeline.canvas.toDataURL()"
            self.assertIn([send, receive], page.evaluate("rtlReport.page.timeline.picture.view.faint.map(m => [m.from.id, m.to.id])"))
            before = page.evaluate(drawn)
            page.evaluate("(t => { t.trace.messages.inSight = () => []; t.drawNow(); })(rtlReport.page.timeline)")
            self.assertNotEqual(page.evaluate(drawn), before)
            page.evaluate("(t => { delete t.trace.messages.inSight; t.fitAll(); t.drawNow(); })(rtlReport.page.timeline)")
            self.assertEqual(page.evaluate("rtlReport.page.timeline.picture.view.faint"), [])
            # the ranks of a collective are joined by their calls
            barrier = "rtlReport.trace.find(['calls'], 'name', rtlReport.trace.names.indexOf('MPI_Barrier'))"
            page.evaluate(f"rtlReport.page.timeline.select({barrier}, true)")
            page.wait("rtlReport.page.timeline.arrows.length === 1")
            self.assertEqual(page.evaluate("rtlReport.page.timeline.arrows.map(a => [a.from.lane.kind, a.to.lane.kind])"), [["calls", "calls"]])
            self.assertEqual(page.errors, [])


class Page(Case):
    """The page in headless Chromium. All tests share one browser."""

    browser = None

    @classmethod
    def setUpClass(cls):
        if not browser.find():
            raise unittest.SkipTest("chromium is not installed")
        cls.shared = tempfile.mkdtemp(prefix="rtl-report-")
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        for name, made in (("a", example()), ("big", spool.sample(50_000)), ("training", training())):
            path = os.path.join(cls.shared, name)
            made.write(path + ".rtl")
            subprocess.run([RTL_BIN, "recover", "-q", path + ".rtl", "-o", path + ".db"], env=environment(), check=True, timeout=60)
            if name == "a":
                add_counters(path + ".db")
            subprocess.run([RTL_BIN, "report", "-q", path + ".db"], env=environment(), check=True, timeout=60)
        cls.browser = browser.Browser(cls.shared)
        cls.addClassCleanup(cls.browser.__exit__)

    def open(self, name="a", tab=None, address="", **how):
        page = self.browser.open(os.path.join(self.shared, name + ".html") + address, **how)
        page.wait("document.body && document.body.dataset.loaded")
        self.addCleanup(self.check, page)
        if tab:
            page.click_on("#tab-" + tab)
        return page

    def check(self, page):
        self.assertEqual(page.errors, [])
        self.assertEqual([url for url in page.requests if not url.startswith(f"file://{self.shared}/")], [])
        self.assertEqual(len(page.requests), 1, page.requests)
        self.assertIsNone(page.evaluate("window.hacked"))
        page.call("Page.close")

    def db(self, sql, *values, name="a"):
        return fetch(os.path.join(self.shared, name + ".db"), sql, *values)

    def shown(self, page, table, key):
        """{name: exact value} of a column, and the sum in the last line."""
        rows, total = page.evaluate(f"""(() => {{
            const at = [...document.querySelectorAll('#{table} thead th')].findIndex(th => th.dataset.key === '{key}');
            const value = tr => Number(tr.children[at].dataset.value);
            return [[...document.querySelectorAll('#{table} tbody tr')].map(tr => [tr.querySelector('th').textContent, value(tr)]),
                value(document.querySelector('#{table} tfoot tr'))]; }})()""")
        return dict(rows), total

    def test_tables_have_the_sums_of_the_database(self):
        page = self.open()
        for tab, sql in (("kernels", f"select count(*), sum(case when flags & {UNTIMED} then 0 else end_ns - begin_ns end) from rtl_dispatch where {OF_PROGRAM}"),
                         ("calls", "select count(*), sum(end_ns - begin_ns) from rtl_api"),
                         ("copies", "select count(*), sum(end_ns - begin_ns) from rtl_transfer"),
                         ("ranges", "select count(*), sum(end_ns - begin_ns) from rtl_marker")):
            page.click_on("#tab-" + tab)
            count, total = self.db(sql)[0]
            counts, all_counts = self.shown(page, tab + "-table", "count")
            times, all_times = self.shown(page, tab + "-table", "total")
            self.assertEqual((sum(counts.values()), all_counts, sum(times.values()), all_times), (count, count, total, total), tab)
        medians, _ = self.shown(page, "kernels-table", "median")
        durations = sorted(d for d, in self.db(f"select end_ns - begin_ns from rtl_dispatch where kernel like 'kkkk%' and not flags & {UNTIMED}"))
        self.assertEqual(medians["k" * 5000], durations[(len(durations) + 1) // 2 - 1])
        wall = self.db("select max(last_ns) - min(first_ns) from rtl_process")[0][0]
        self.assertEqual(page.evaluate("rtlReport.trace.span"), wall)

    def test_counters_and_roofline_are_of_the_database(self):
        page = self.open(tab="counters")
        rows = page.evaluate("[...document.querySelectorAll('#counters-table tbody tr')].map(tr => [tr.querySelector('th').textContent, "
                             "tr.children[0].textContent, ...[1, 2, 3, 4, 5].map(i => Number(tr.children[i].dataset.value))])")
        of = {(kernel, counter): values for kernel, counter, *values in rows if kernel.startswith(("vadd", "kkk"))}
        want = self.db("select O.description, N.string, count(*), sum(C.value), avg(C.value), min(C.value), max(C.value) from rocpd_counter C "
                       "join op O on O.id = C.op_id join rocpd_string N on N.id = C.name_id group by 1, 2")
        self.assertEqual(len(rows), len(want))
        for kernel, counter, *values in want:
            if kernel.startswith(("vadd", "kkk")):
                for a, b in zip(of[kernel, counter], values):
                    self.assertAlmostEqual(a, b, delta=1e-6)
        page.click_on("#tab-roofline")
        points = {name: (x, rate) for name, x, rate in page.evaluate(
            "[...document.querySelectorAll('#roofline-table tbody tr')].map(tr => [tr.querySelector('th').textContent, "
            "Number(tr.children[0].dataset.value), Number(tr.children[1].dataset.value)])")}
        mean = {(kernel, counter): values[2] for kernel, counter, *values in want}
        kernel = "k" * 5000
        ns = self.db(f"select avg(end_ns - begin_ns) from rtl_dispatch where kernel = ? and not flags & {UNTIMED}", kernel)[0][0]
        instructions, fetched, written = (mean[kernel, c] for c in ("SQ_INSTS_VALU", "FETCH_SIZE", "WRITE_SIZE"))
        self.assertAlmostEqual(points[kernel][0], instructions / (1024 * (fetched + written)), delta=1e-9)
        self.assertAlmostEqual(points[kernel][1], instructions / ns, delta=1e-9)
        self.assertEqual(page.evaluate("document.querySelectorAll('#roofline circle').length"), len(points))
        lanes = page.evaluate("rtlReport.trace.lanes.filter(l => l.kind === 'counter').map(l => [l.name, l.count])")
        self.assertEqual({name for name, _ in lanes}, set(COUNTERS))
        self.assertEqual(sum(n for _, n in lanes), self.db("select count(*) from rocpd_counter")[0][0])

    def test_overview_has_the_findings_of_the_summary(self):
        page = self.open()
        p = subprocess.run([RTL_BIN, "summary", os.path.join(self.shared, "a.db"), "-f", "json", "--by", "overview"], env=environment(), check=True,
                           capture_output=True, timeout=60)
        findings = [f["text"] for f in json.loads(p.stdout)["findings"]]
        self.assertTrue(findings)
        self.assertEqual(page.evaluate("[...document.querySelectorAll('#findings li')].map(e => e.textContent)"), findings)

    def test_tables_are_sorted_and_filtered(self):
        page = self.open(tab="calls")
        names = "[...document.querySelectorAll('#calls-table tbody th')].map(e => e.textContent)"
        page.click_on("#calls-table th[data-key=name] button")
        want = sorted(n for n, in self.db("select distinct name from rtl_api"))
        self.assertEqual(page.evaluate(names), want)
        page.click_on("#calls-table th[data-key=name] button")
        self.assertEqual(page.evaluate(names), want[::-1])
        self.assertEqual(page.evaluate("document.querySelector('#calls-table th[data-key=name]').getAttribute('aria-sort')"), "descending")
        page.click_on("#calls-table-filter")
        page.type("memcpy")
        self.assertEqual(page.evaluate(names), ["hipMemcpyAsync"])
        self.assertEqual(self.shown(page, "calls-table", "count")[1], 2)

    def test_hostile_names_are_shown_as_they_are(self):
        page = self.open(tab="kernels")
        names = page.evaluate("[...document.querySelectorAll('#kernels-table tbody th')].map(e => e.textContent)")
        for name in HOSTILE:
            for c in "\x1b\n\u202e\u2066":
                name = name.replace(c, f"\u27e8U+{ord(c):04X}\u27e9")
            self.assertIn(name, names)
        self.assertEqual(page.evaluate("document.querySelectorAll('img, body script:not([type])').length"), 1)

    def where(self, page, op):
        """The middle of an operation's bar on the canvas, when it is fit."""
        return page.evaluate(f"""(() => {{ const t = rtlReport.page.timeline, s = rtlReport.trace.find(['kernels'], 'id', {op});
            t.fit(s.begin, s.end); t.reveal(s.row); t.drawNow();
            const r = t.canvas.getBoundingClientRect(), at = t.layout.positionOf(s.row);
            return [r.x + t.picture.x((s.begin + s.end) / 2), r.y + at.y + at.height / 2 - t.scroll + 30]; }})()""")

    def test_click_selects_the_operation_under_the_pointer(self):
        page = self.open(tab="timeline", height=1300)
        chosen = self.db(f"select op_id, kernel, end_ns - begin_ns from rtl_dispatch where not flags & (32 | {UNTIMED}) order by begin_ns")
        for op, kernel, ns in chosen[:3] + chosen[20:24]:
            x, y = self.where(page, op)
            page.click(x, y)
            self.assertEqual(page.evaluate("rtlReport.page.timeline.selected.id"), op)
            self.assertEqual(page.evaluate("Number(document.querySelector('#details [data-value]').dataset.value)"), ns)
            self.assertEqual(page.evaluate("rtlReport.trace.names[rtlReport.page.timeline.selected.name]"), kernel)
        # beside all bars: nothing
        page.evaluate("rtlReport.page.timeline.fitAll()")
        page.click(700, page.evaluate("(() => { const t = rtlReport.page.timeline; return t.canvas.getBoundingClientRect().y + t.layout.height + 28; })()"))
        self.assertTrue(page.evaluate("rtlReport.page.timeline.selected === null"))

    def test_arrows_join_calls_and_operations(self):
        page = self.open(tab="timeline")
        for call, nr in self.db("select A.api_id, count(*) from rtl_api A join rocpd_api_ops L on L.api_id = A.api_id group by 1"):
            page.evaluate(f"rtlReport.page.timeline.select(rtlReport.trace.find(['calls'], 'id', {call}), true)")
            self.assertEqual(page.evaluate("rtlReport.page.timeline.arrows.map(a => a.from.id)"), [call] * nr)
            page.evaluate("document.querySelector('#details ul button').click()")
            self.assertEqual(page.evaluate("rtlReport.page.timeline.selected.call"), call)
            self.assertEqual(page.evaluate("rtlReport.page.timeline.arrows[0].from.id"), call)

    def test_keys_move_zoom_select_and_search(self):
        page = self.open(tab="timeline")
        span = "rtlReport.page.timeline.end - rtlReport.page.timeline.begin"
        begin = "rtlReport.page.timeline.begin"
        whole = page.evaluate(span)
        for key, smaller in (("w", True), ("s", False), ("+", True), ("-", False)):
            before = page.evaluate(span)
            page.key(key)
            self.assertEqual(page.evaluate(span) < before, smaller, key)
        page.evaluate("rtlReport.page.timeline.zoom(0.1)")
        page.evaluate("document.getElementById('canvas').focus()")
        for key, later in (("d", True), ("a", False), ("ArrowRight", True), ("ArrowLeft", False)):
            before = page.evaluate(begin)
            page.key(key)
            self.assertEqual(page.evaluate(begin) > before, later, key)
        page.key("f")
        self.assertAlmostEqual(page.evaluate(span), whole, delta=1)
        page.key("]")
        first = page.evaluate("rtlReport.page.timeline.selected.index")
        page.key("]")
        self.assertEqual(page.evaluate("rtlReport.page.timeline.selected.index"), first + 1)
        page.key("[")
        self.assertEqual(page.evaluate("rtlReport.page.timeline.selected.index"), first)
        page.key("f")
        self.assertLess(page.evaluate(span), whole)
        page.key("Escape")
        self.assertIsNone(page.evaluate("rtlReport.page.timeline.selected"))
        page.key("/")
        self.assertEqual(page.evaluate("document.activeElement.id"), "search")
        page.type("vadd")
        found = self.db("select count(*) from rtl_dispatch where kernel like '%vadd%' and not flags & 32")[0][0]
        self.assertEqual(page.evaluate("document.getElementById('found').textContent"), f"{found} found")
        begins = []
        for _ in range(found):
            page.key("Enter")
            begins.append(page.evaluate("rtlReport.page.timeline.selected.begin"))
        self.assertEqual([b + page.evaluate("rtlReport.trace.t0") for b in begins],
                         [b for b, in self.db("select begin_ns from rtl_dispatch where kernel like '%vadd%' and not flags & 32 order by 1")])
        page.key("Escape")
        self.assertEqual(page.evaluate("document.activeElement.id"), "canvas")
        page.key("?")
        self.assertTrue(page.evaluate("document.getElementById('help').open"))
        page.key("Escape")
        self.assertFalse(page.evaluate("document.getElementById('help').open"))

    def test_keys_work_wherever_the_focus_is(self):
        page = self.open(tab="timeline")
        span = "rtlReport.page.timeline.end - rtlReport.page.timeline.begin"
        for focused in ("body", "#canvas", "#zoom-in", "#theme", "#tab-timeline", "#details", "#by-stream", "#failed"):
            before = page.evaluate(span)
            page.evaluate(f"(document.activeElement.blur(), document.querySelector('{focused}').focus())")
            page.key("w")
            self.assertLess(page.evaluate(span), before, focused)
        for focused in ("#canvas", "#zoom-in", "#theme"):
            before = page.evaluate("rtlReport.page.timeline.begin")
            page.evaluate(f"document.querySelector('{focused}').focus()")
            page.key("ArrowRight")
            self.assertGreater(page.evaluate("rtlReport.page.timeline.begin"), before, focused)
        # what is typed, and what moves within a list, the tabs or the details, is theirs
        begin = page.evaluate("rtlReport.page.timeline.begin")
        for focused, key in (("#search", "w"), ("#by-stream", "ArrowRight"), ("#details", "ArrowDown"), ("#tab-timeline", "ArrowRight")):
            before = page.evaluate(span)
            page.evaluate(f"document.querySelector('{focused}').focus()")
            page.key(key)
            self.assertEqual((page.evaluate(span), page.evaluate("rtlReport.page.timeline.begin")), (before, begin), focused)
        self.assertEqual(page.evaluate("rtlReport.page.current"), "kernels")
        page.key("?")
        page.key("w")
        self.assertTrue(page.evaluate("document.getElementById('help').open"))

    def selected(self, page):
        page.wait("rtlReport.page.current === 'timeline' && rtlReport.page.timeline.selected")
        self.assertEqual(page.evaluate("document.activeElement.id"), "canvas")
        return page.evaluate("(s => [s.lane.kind, s.id, s.duration])(rtlReport.page.timeline.selected)")

    def test_one_click_leads_into_the_timeline(self):
        page = self.open("training")
        for tab, title, kind, sql in (
                ("kernels", "Longest kernels", "kernels", "select kernel, max(end_ns - begin_ns) from rtl_dispatch where not flags & 32 group by 1"),
                ("calls", "Longest calls", "calls", "select name, max(end_ns - begin_ns) from rtl_api group by 1"),
                ("ranges", "Longest ranges", "ranges", "select message, max(end_ns - begin_ns) from rtl_marker group by 1")):
            longest = dict(self.db(sql, name="training"))
            page.click_on("#tab-overview")
            name = page.evaluate(f"""(() => {{ const li = [...document.querySelectorAll('.tops section')].find(s => s.querySelector('h2').textContent === '{title}').querySelector('li');
                li.querySelector('.figures button').click(); return li.querySelector('bdi').textContent; }})()""")
            seen = self.selected(page)
            self.assertEqual((seen[0], seen[2]), (kind, longest[name]), title)
            page.click_on("#tab-" + tab)
            name = page.evaluate(f"""(() => {{ const tr = document.querySelector('#{tab}-table tbody tr'), at = [...document.querySelectorAll('#{tab}-table thead th')].findIndex(th => th.dataset.key === 'max');
                tr.children[at].querySelector('button').click(); return tr.querySelector('th').textContent; }})()""")
            self.assertEqual(self.selected(page)[2], longest[name], tab)
        # each bar of a histogram: a duration that is within its bounds, and the first of them
        page.click_on("#tab-kernels")
        name = page.evaluate("(b => (b.click(), b.textContent))(document.querySelector('#kernels-table tbody th button'))")
        page.wait("document.querySelector('#kernels-picked .bin')")
        rows = self.db("select begin_ns, end_ns - begin_ns from rtl_dispatch where kernel = ? order by 1", name, name="training")
        bars = page.evaluate("[...document.querySelectorAll('#kernels-picked .bin')].map(b => Number(b.querySelector('title').textContent.split(': ')[1]))")
        ordered, at = sorted(ns for _, ns in rows), 0
        for i, count in enumerate(bars):
            low, high = ordered[at], ordered[at + count - 1]
            at += count
            page.click_on("#tab-kernels")
            page.evaluate(f"document.querySelectorAll('#kernels-picked .bin')[{i}].focus()")
            page.key("Enter")
            self.selected(page)
            self.assertEqual(page.evaluate("rtlReport.page.timeline.selected.begin + rtlReport.trace.t0"), min(b for b, ns in rows if low <= ns <= high))
        # a failed call: from the card, the table, the timeline's button, by its key
        failed = self.db("select api_id from rtl_api where status <> 0", name="training")
        for tab, how in (("overview", "document.querySelector('.card button').click()"), ("calls", "document.querySelector('#calls-table td[data-value=\"1\"] button').click()"),
                         ("timeline", "document.getElementById('failed').click()"), ("timeline", None)):
            page.click_on("#tab-" + tab)
            page.evaluate("rtlReport.page.timeline.select(null)")
            if how:
                page.evaluate(how)
            else:
                page.key("e")
            page.wait("rtlReport.page.timeline.selected")
            self.assertEqual([(page.evaluate("rtlReport.page.timeline.selected.id"),)], failed, tab)
            self.assertIn("failed: error 2", page.evaluate("document.getElementById('details').textContent"))

    def test_ranges_have_the_gpu_time_and_operations_of_the_summary(self):
        for name in ("training", "a"):
            page = self.open(name, tab="ranges")
            p = subprocess.run([RTL_BIN, "summary", os.path.join(self.shared, name + ".db"), "-f", "json", "--by", "range", "-n", "0"], env=environment(),
                               check=True, capture_output=True, timeout=60)
            want = {}
            for row in json.loads(p.stdout):
                ns, ops = want.get(row["name"], (0, 0))
                want[row["name"]] = (ns + row["gpu_ns"], ops + row["ops"])
            shown = page.evaluate("""[...document.querySelectorAll('#ranges-table tbody tr')].map(tr => [tr.querySelector('th').textContent, ...['gpu', 'ops'].map(key =>
                Number(tr.children[[...document.querySelectorAll('#ranges-table thead th')].findIndex(th => th.dataset.key === key)].dataset.value))])""")
            self.assertEqual({text: (ns, ops) for text, ns, ops in shown if text in want}, {text: sums for text, sums in want.items() if text in [s[0] for s in shown]})
            self.assertGreater(len([text for text, *_ in shown if text in want]), 1)
        page = self.open("training", tab="ranges")
        ops = {name: nr for name, nr in page.evaluate("rtlReport.trace.tables.work.map(s => [rtlReport.trace.names[s.name], s.ops])")}
        self.assertEqual((ops["step 3"], ops["attention"]), (31, 240))
        page.evaluate("[...document.querySelectorAll('#ranges-table tbody th button')].find(b => b.textContent === 'attention').click()")
        page.wait("document.querySelector('#ranges-picked tbody')")
        p = subprocess.run([RTL_BIN, "summary", os.path.join(self.shared, "training.db"), "-f", "json", "--by", "kernel", "--range", "attention"], env=environment(),
                           check=True, capture_output=True, timeout=60)
        want = [[row["name"], row["calls"], row["total_ns"]] for row in json.loads(p.stdout)]
        self.assertEqual(page.evaluate("""[...document.querySelectorAll('#ranges-picked tbody tr')].map(tr =>
            [tr.children[0].textContent, Number(tr.children[1].textContent), Number(tr.children[2].dataset.value)])"""), want)
        self.assertEqual([nr for _, nr, _ in want], [48] * 5)

    def test_failed_calls_and_idle_times_are_marked(self):
        page = self.open("training", tab="timeline")
        for gpu in (0, 1):
            gaps, until = [], None
            for begin, end in self.db("select start, end from rocpd_op where gpuId = ? and end > start order by 1", gpu, name="training"):
                if until is not None and begin - until >= page.evaluate("rtlReport.trace.span") * 1e-5:
                    gaps.append(begin - until)
                until = max(until or 0, end)
            self.assertEqual(page.evaluate(f"rtlReport.page.marks.gapsOf(rtlReport.trace.lanes.find(l => l.group.startsWith('GPU {gpu}')).group).map(g => g.end - g.begin)"), gaps)
            self.assertGreater(max(gaps), 4_000_000)
        # the colours of the marks are on the canvas: of the triangle, of the hatch, whose lines are thin
        colour = """(x, y, w, h, name, near = 12) => { const t = rtlReport.page.timeline, c = new OffscreenCanvas(w, h).getContext('2d', { willReadFrequently: true });
            c.drawImage(t.canvas, x, y, w, h, 0, 0, w, h);
            const d = c.getImageData(0, 0, w, h).data, at = parseInt(t.picture.theme[name].slice(1), 16), want = [at >> 16, at >> 8 & 255, at & 255];
            let n = 0; for (let i = 0; i < d.length; i += 4) n += want.every((v, k) => Math.abs(v - d[i + k]) < near); return n; }"""
        at = page.evaluate("""(() => { const t = rtlReport.page.timeline, p = t.picture; t.fitAll(); t.drawNow();
            const f = rtlReport.page.marks.failures()[0], g = rtlReport.page.marks.allGaps()[0], item = t.layout.items.find(i => i.name === g.group);
            return [p.x(f.begin), t.layout.positionOf(f.row).y + 30, p.x(g.begin), p.x(g.end), item.y + 30]; })()""")
        self.assertGreater(page.evaluate(f"({colour})({at[0] - 5}, {at[1]}, 11, 9, 'bad')"), 10)
        self.assertGreater(page.evaluate(f"({colour})({at[2]}, {at[4]}, {int(at[3] - at[2])}, 22, 'idle', 70)"), 30)
        # without them
        self.assertEqual(page.evaluate(f"({colour})({at[3] + 20}, {at[1]}, 11, 9, 'bad')"), 0)
        # a click on one, and its key, show what was going on
        for how in (lambda: page.click(*page.evaluate(f"(r => [r.x + {(at[2] + at[3]) / 2}, r.y + {at[4] + 12}])(rtlReport.page.timeline.canvas.getBoundingClientRect())")),
                    lambda: page.key("g")):
            page.evaluate("(rtlReport.page.timeline.gap = null, rtlReport.page.timeline.measure(null))")
            how()
            self.assertGreater(page.evaluate("(m => m.end - m.begin)(rtlReport.page.timeline.measured)"), 4_000_000)
            self.assertIn("idle", page.evaluate("document.querySelector('#details h2').textContent"))

    def test_address_has_the_view(self):
        page = self.open("training", tab="timeline")
        page.evaluate("""(() => { const t = rtlReport.page.timeline; t.show(1e6, 9e6); t.select(rtlReport.trace.find(['kernels'], 'name', rtlReport.trace.names.findIndex(n => n.includes('softmax'))));
            t.layout.toggle(t.layout.groups()[0]); document.getElementById('search').value = 'gemm float'; t.setSearch('gemm float'); t.measure(2e6, 3e6); })()""")
        page.wait("location.hash.includes('span')")
        address = page.evaluate("location.hash")
        state = """(t => [rtlReport.page.current, t.begin, t.end, t.selected.id, t.selected.lane.kind, t.layout.closed.size, t.measured.begin, t.measured.end,
            document.getElementById('search').value, document.getElementById('found').textContent])(rtlReport.page.timeline)"""
        other = self.open("training", address=address)
        self.assertEqual(other.evaluate(state), page.evaluate(state))
        self.assertEqual(other.evaluate("location.hash"), address)
        # an address that is put into the page that is open
        page.evaluate("location.hash = '#tab=kernels&sort=name,up&filter=gemm'")
        page.wait("rtlReport.page.current === 'kernels' && document.querySelectorAll('#kernels-table tbody tr').length === 2")
        self.assertEqual(page.evaluate("document.querySelector('#kernels-table th[data-key=name]').getAttribute('aria-sort')"), "ascending")
        page.click_on("#kernels-table tbody th button")
        page.wait("location.hash.includes('pick=')")
        other = self.open("training", address=page.evaluate("location.hash"))
        self.assertEqual(other.evaluate("document.querySelector('#kernels-picked h2').textContent"), page.evaluate("document.querySelector('#kernels-picked h2').textContent"))
        for wrong in ("#tab=none&t=x,y&select=kernels:99999999&pick=-1", "#tab=timeline&t=9,1&y=-5&closed=77,x&select=constructor:1&span=,", "#tab=kernels&sort=__proto__&pick=1e9", "#%", "#main-part"):
            self.assertIn(self.open("training", address=wrong).evaluate("rtlReport.page.current"), ("overview", "timeline", "kernels"))

    def test_narrow_page_shows_names(self):
        page = self.open("training", width=390, height=844)
        for tab in ("overview", "timeline", "kernels", "calls", "copies", "ranges", "imbalance", "counters", "roofline"):
            page.click_on("#tab-" + tab)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 390, tab)
            wide = page.evaluate(f"""[...document.querySelectorAll('#{tab} *')].filter(e => e.getBoundingClientRect().right > 391 && !e.closest('.scroll, svg, .unseen')).map(e => e.outerHTML.slice(0, 80))""")
            self.assertEqual(wide, [], tab)
            # the name of each row stays in sight when the other columns are
            seen = page.evaluate(f"""[...document.querySelectorAll('#{tab} .scroll')].map(s => {{ s.scrollLeft = 1e6; return [...s.querySelectorAll('tbody tr')].slice(0, 5).map(tr => {{
                const r = (tr.querySelector('th') || tr.children[0]).getBoundingClientRect(), box = s.getBoundingClientRect();
                return r.left >= box.left - 1 && r.right <= box.right && r.width >= 20; }}); }}).flat()""")
            self.assertTrue(all(seen), tab)
        self.assertEqual(page.evaluate("document.querySelector('#kernels-table thead th').dataset.key"), "name")
        page.look(1280, 800)
        page.wait("document.querySelector('#kernels-table thead th').dataset.key === 'share'")

    def test_span_is_measured(self):
        page = self.open(tab="timeline")
        x, y, width = page.evaluate("(() => { const r = document.getElementById('canvas').getBoundingClientRect(); return [r.x, r.y, r.width]; })()")
        page.drag(x + 300, y + 100, x + width - 20, y + 120, modifiers=8)
        self.assertAlmostEqual(page.evaluate("rtlReport.page.timeline.measured.begin"), page.evaluate("rtlReport.page.timeline.timeAt(300)"), delta=1)
        self.assertAlmostEqual(page.evaluate("rtlReport.page.timeline.measured.end"), page.evaluate(f"rtlReport.page.timeline.timeAt({width - 20})"), delta=1)
        # the whole trace: what is within it is all of it
        page.evaluate("rtlReport.page.timeline.measure(0, rtlReport.trace.span)")
        shown = dict(page.evaluate("[...document.querySelectorAll('#details tbody tr')].map(tr => [tr.children[0].textContent + '/' + tr.children[1].textContent, Number(tr.children[2].textContent)])"))
        for name, nr in self.db("select name, count(*) from rtl_api group by 1"):
            self.assertEqual(shown.get(name + "/call", nr), nr)
        self.assertIn("hipLaunchKernel/call", shown)
        # a part of it: as many of each name as rtl summary has of that time, and the parts of them that are within
        page = self.open("training", tab="timeline")
        begin, end = 1_000_333, 4_500_000
        first = page.evaluate("rtlReport.trace.t0")
        page.evaluate(f"rtlReport.page.timeline.measure({begin}, {end})")
        shown = {(name, kind): (nr, ns) for name, kind, nr, ns in page.evaluate("""[...document.querySelectorAll('#details tbody tr')].map(tr =>
            [tr.children[0].textContent, tr.children[1].textContent, tr.children[2].textContent, tr.children[3].title].map((t, i) =>
                i < 2 ? t : Number(t.replace(/[^0-9]/g, ''))))""")}
        self.assertGreater(len(shown), 8)
        want = {}
        for kind, name, view in (("kernel", "kernel", "rtl_dispatch"), ("copy or fill", "'Copy' || kind", "rtl_copy"), ("call", "name", "rtl_api"), ("range", "message", "rtl_marker")):
            for text, nr, ns in self.db(f"select {name}, count(*), sum(min(end_ns, ?2) - max(begin_ns, ?1)) from {view} where end_ns > ?1 and begin_ns < ?2 group by 1",
                                        first + begin, first + end, name="training"):
                want[text, kind] = (nr, ns)
        self.assertEqual(shown, want)
        p = subprocess.run([RTL_BIN, "summary", os.path.join(self.shared, "training.db"), "-f", "json", "--by", "kernel,api,copy", f"--time={begin / 1000}us:{end / 1000}us"],
                           env=environment(), check=True, capture_output=True, timeout=60)
        counts = {(row["name"], kind): row["calls"] for table, kind in (("kernel", "kernel"), ("api", "call"), ("copy", "copy or fill")) for row in json.loads(p.stdout)[table]}
        self.assertEqual({key: nr for key, (nr, _) in want.items() if key[1] != "range"}, counts)

    def test_operations_are_shown_by_stream(self):
        page = self.open(tab="timeline")
        page.evaluate("(() => { const e = document.getElementById('by-stream'); e.value = 'stream'; e.dispatchEvent(new Event('change')); })()")
        page.wait("rtlReport.page.timeline.layout.byStream")
        lanes = page.evaluate("rtlReport.page.timeline.layout.lanes().filter(l => l.kind === 'kernels').map(l => [l.group, l.name, l.count])")
        self.assertEqual(sum(n for *_, n in lanes), self.db("select count(*) from rocpd_op where gpuId >= 0")[0][0])
        self.assertTrue({"stream 1 (null)", "stream 2 (0x55aa)"} <= {name for _, name, _ in lanes}, lanes)

    def test_histogram_has_all_durations(self):
        page = self.open(tab="kernels")
        page.evaluate("[...document.querySelectorAll('#kernels-table tbody th button')].find(b => b.textContent.startsWith('vadd')).click()")
        page.wait("document.querySelector('#kernels-picked svg')")
        counts = page.evaluate("[...document.querySelectorAll('#kernels-picked .bin title')].map(t => Number(t.textContent.split(': ')[1].replaceAll(',', '')))")
        self.assertEqual(sum(counts), self.db(f"select count(*) from rtl_dispatch where kernel like 'vadd%' and not flags & (32 | {UNTIMED})")[0][0])
        # the bars are drawn of the slices; the numbers are those of the table
        shown = page.evaluate("[...document.querySelectorAll('#kernels-picked .numbers dd')].map(dd => Number((dd.title || dd.textContent).replace(/[^0-9]/g, '')))")
        row = page.evaluate("(s => [s.calls - s.untimed, s.min_ns, s.median_ns, s.mean_ns, s.p99_ns, s.max_ns])(rtlReport.page.picked.kernels)")
        self.assertEqual(shown, row)
        self.assertEqual(row[0], sum(counts))

    def test_picture_of_many_slices_shows_them(self):
        """Bars are on the canvas at every zoom, also where groups stand for slices."""
        page = self.open("big", tab="timeline")
        for zoom in (1, 1 / 40, 1 / 4000):
            page.evaluate(f"(rtlReport.page.timeline.fitAll(), rtlReport.page.timeline.zoom({zoom}), rtlReport.page.timeline.drawNow())")
            drawn = page.evaluate("""(() => { const t = rtlReport.page.timeline, item = t.layout.items.find(i => i.lane && i.lane.kind === 'kernels');
                const y = item.y - t.scroll + 30 + 8, copy = new OffscreenCanvas(800, 1).getContext('2d', { willReadFrequently: true });
                copy.drawImage(t.canvas, 330, y, 800, 1, 0, 0, 800, 1);
                const d = copy.getImageData(0, 0, 800, 1).data;
                let n = 0; for (let i = 0; i < 800; i++) n += d[4 * i] < 250 || d[4 * i + 1] < 250 || d[4 * i + 2] < 250; return n; })()""")
            self.assertGreater(drawn, 150, zoom)

    def test_frame_of_many_slices_takes_few_steps(self):
        """Each row is one picture: 50,000 slices are not as many rectangles."""
        page = self.open("big", tab="timeline")
        steps = page.evaluate("""[1, 1 / 40, 1 / 4000].map(zoom => {
            const t = rtlReport.page.timeline, c = t.picture.context;
            let nr = 0;
            t.fitAll();
            t.zoom(zoom);
            for (const name of ["fillRect", "drawImage", "fillText"])
                c[name] = (...args) => (nr++, CanvasRenderingContext2D.prototype[name].apply(c, args));
            t.drawNow();
            for (const name of ["fillRect", "drawImage", "fillText"])
                delete c[name];
            return nr; })""")
        self.assertGreater(min(steps), 10)
        self.assertLess(max(steps), 150)

    def test_overview_needs_no_slices(self):
        page = self.browser.open(os.path.join(self.shared, "big.html"), script="""
            let blocks = 0, report;
            const read = Response.prototype.arrayBuffer;
            Response.prototype.arrayBuffer = function () { blocks++; return read.call(this); };
            Object.defineProperty(window, "rtlReport", { get: () => report, set: value => {
                report = value;
                report.before = [blocks, document.querySelectorAll("#overview .card").length];
            } });
            window.blocksRead = () => blocks;""")
        self.addCleanup(page.call, "Page.close")
        page.wait("document.body && document.body.dataset.loaded")
        self.assertEqual(page.evaluate("rtlReport.before"), [2, 5])  # the trace's description and the groups
        self.assertGreaterEqual(page.evaluate("blocksRead()"), 2 + 4)

    def test_theme_follows_the_system_and_the_switch(self):
        page = self.open(tab="timeline", dark=True)
        colour = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(colour)
        page.click_on("#theme")
        light = page.evaluate(colour)
        page.look(1280, 800, dark=False)
        self.assertEqual(page.evaluate(colour), light)
        page.click_on("#theme")
        self.assertEqual(page.evaluate(colour), dark)
        self.assertNotEqual(dark, light)

    def test_print_shows_all_tables(self):
        page = self.open()
        page.pdf(self.path("a.pdf"))
        page.look(900, 1200, media="print")
        for tab in ("overview", "kernels", "calls", "copies", "ranges"):
            self.assertGreater(page.evaluate(f"document.getElementById('{tab}').getBoundingClientRect().height"), 40, tab)

    def test_page_is_accessible(self):
        script = browser.axe(self.dir)
        if not script:
            self.skipTest("axe-core is not there: npm can't fetch it; RTL_AXE=FILE names it")
        for dark, width in ((False, 1280), (True, 1280), (False, 390)):
            page = self.open(dark=dark, width=width)
            page.evaluate(script)
            for tab in ("overview", "timeline", "kernels", "calls", "copies", "ranges", "imbalance", "counters", "roofline"):
                page.click_on("#tab-" + tab)
                if tab == "kernels":
                    page.click_on("#kernels-table tbody th button")
                    page.wait("document.querySelector('#kernels-picked svg')")
                self.assertEqual(page.violations(), [], f"{tab}, {'dark' if dark else 'light'}")


if __name__ == "__main__":
    unittest.main()
