#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""summary, info, convert, merge, recover, doctor and help: forms of output, refused arguments"""
import contextlib
import csv
import gzip
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess

from support import spool
from support.cli import *

LONG = "_Z" + "4" + "vadd" + "I" + "".join("Li%dE" % i for i in range(1000)) + "EvPf"


class Reader(Case):
    def sample(self, name="a", rtl_args=(), **kwargs):
        s = spool.sample(**kwargs)
        s.write(self.path(name + ".rtl"))
        self.rtl("recover", "-q", name + ".rtl", "-o", name + ".db", *rtl_args)
        return name + ".db"

    def rpd(self, name="rpd.db"):
        """A database of RPD's tracer, schema 2."""
        db = sqlite3.connect(self.path(name))
        db.executescript(RPD_TABLES + """
            insert into rocpd_string values (1, ''), (2, 'hipLaunchKernel'), (3, 'gemm'), (4, 'KernelExecution'),
                (5, 'CopyHostToDevice'), (6, 'UserMarker'), (7, 'step 1'), (8, 'tick');
            insert into rocpd_api values (1, 77, 78, 1000, 2000, 2, 1), (2, 77, 78, 500, 9000, 6, 7),
                (3, 77, 78, 600, 600, 6, 8);
            insert into rocpd_op values (1, 0, 0, 1, '', 3000, 5000, 3, 4), (2, 0, 0, 2, '', 5000, 6000, 1, 5);
            insert into rocpd_api_ops values (1, 1, 1), (2, 1, 2);
        """)
        db.close()
        return name

    def events(self, *args):
        self.rtl("convert", *args, "-f", "perfetto", "-o", "out.json", "--force")
        with open(self.path("out.json"), encoding="utf-8") as file:
            return json.load(file)


class Summary(Reader):
    def test_csv_and_json_agree(self):
        db = self.sample()
        rows = list(csv.DictReader(io.StringIO(self.rtl("summary", db, "--format", "csv").stdout)))
        objects = json.loads(self.rtl("summary", db, "-f", "json").stdout)
        self.assertEqual([r["name"] for r in rows], [o["name"] for o in objects])
        self.assertEqual([int(r["total_ns"]) for r in rows], [o["total_ns"] for o in objects])
        self.assertEqual({r["name"] for r in rows}, {"vadd(float*, float*, float*, int)", "copy(float*, int)"})
        self.assertEqual(sum(int(r["calls"]) for r in rows), 100)
        times = sorted(1000 + 10 * (i % 7) for i in range(0, 100, 2))
        vadd = next(o for o in objects if o["name"].startswith("vadd"))
        self.assertEqual((vadd["total_ns"], vadd["min_ns"], vadd["max_ns"], vadd["median_ns"], vadd["p99_ns"]),
                         (sum(times), times[0], times[-1], times[24], times[49]))
        self.assertEqual(vadd["gpus"], "0")

    def test_internal_kernels_are_listed_separately(self):
        rows = json.loads(self.rtl("summary", self.sample(), "-f", "json", "--internal").stdout)
        self.assertEqual([(r["name"], r["calls"]) for r in rows], [("copy(float*, int)", 1)])

    def test_summary_by_each_kind_has_rows(self):
        db = self.sample()
        gpus = json.loads(self.rtl("summary", db, "--by", "gpu", "-f", "json").stdout)
        self.assertEqual([(g["gpu"], g["kernels"], g["copies"]) for g in gpus], [(0, 50, 1), (1, 50, 0)])
        markers = json.loads(self.rtl("summary", db, "--by", "marker", "-f", "json").stdout)
        self.assertEqual([(m["name"], m["calls"]) for m in markers], [("train", 1), ("epoch 0 starts", 1)])
        self.assertEqual(markers[0]["gpu_ns"], sum(1000 + 10 * (i % 7) for i in range(100)))
        copies = json.loads(self.rtl("summary", db, "--by", "copy", "-f", "json").stdout)
        self.assertEqual([(c["name"], c["bytes"]) for c in copies], [("CopyHostToDevice", 1 << 20)])
        self.assertEqual(json.loads(self.rtl("summary", db, "--by", "api", "-f", "json").stdout), [])

    def test_limited_rows_are_reported(self):
        db = self.sample()
        p = self.rtl("summary", db, "--by", "kernel", "-n", "1")
        self.assertEqual(len(p.stdout.splitlines()), 2)
        self.assertIn("... and 1 more (-n 0 shows all)", p.stderr)
        self.assertEqual(len(self.rtl("summary", db, "--by", "kernel", "-n", "0").stdout.splitlines()), 3)

    def test_rows_without_times_are_left_out_of_sums(self):
        s = spool.sample(10)
        s.dispatch(1, 0, s.start + 9000, s.start + 8000)  # inverted
        s.write(self.path("a.rtl"))
        self.rtl("recover", "-q", "a.rtl", "-o", "a.db")
        rows = json.loads(self.rtl("summary", "a.db", "-f", "json").stdout)
        vadd = next(o for o in rows if o["name"].startswith("vadd"))
        self.assertEqual((vadd["calls"], vadd["untimed"]), (6, 1))
        self.assertLess(vadd["max_ns"], 2000)
        self.assertIn("no valid times", self.rtl("summary", "a.db", "--by", "kernel").stderr)

    def test_long_names_fit_the_terminal(self):
        db = self.sample(names=(LONG, "k\x1b[31mred\n"))
        rows = json.loads(self.rtl("summary", db, "-f", "json").stdout)
        name = max((r["name"] for r in rows), key=len)
        self.assertGreater(len(name), 3000)
        self.assertEqual(name, f"void vadd<{', '.join(re.findall('Li([0-9]+)E', LONG))}>(float*)")
        self.assertIn(name, self.rtl("summary", db, "--by", "kernel", "--wide").stdout)
        for line in self.rtl("summary", db, "--by", "kernel", env={"COLUMNS": "100"}).stdout.splitlines():
            self.assertLessEqual(len(line), 100)
        self.assertIn("vadd<...>\n", self.rtl("summary", db, "--by", "kernel", env={"COLUMNS": "100"}).stdout)
        self.assertNotIn("\x1b", self.rtl("summary", db).stdout)

    def test_rpd_database_is_summarised(self):
        self.rpd()
        rows = json.loads(self.rtl("summary", "rpd.db", "-f", "json").stdout)
        self.assertEqual([(r["name"], r["total_ns"]) for r in rows], [("gemm", 2000)])
        rows = json.loads(self.rtl("summary", "rpd.db", "-f", "json", "--by", "api").stdout)
        self.assertEqual([(r["name"], r["total_ns"]) for r in rows], [("hipLaunchKernel", 1000)])
        rows = json.loads(self.rtl("summary", "rpd.db", "-f", "json", "--by", "marker").stdout)
        self.assertEqual([(r["name"], r["calls"]) for r in rows], [("step 1", 1), ("tick", 1)])
        self.assertIn("no rtl_ tables", self.rtl("summary", "rpd.db", "--by", "kernel").stderr)
        self.assertIn("no rtl_ tables", " ".join(self.rtl("summary", "rpd.db").stdout.split()))

    def test_raw_trace_is_summarised(self):
        spool.sample(6).write(self.path("a.rtl"))
        self.assertIn("vadd", self.rtl("summary", "a.rtl").stdout)
        self.assertEqual(self.files(), ["a.rtl"])

    def test_other_files_are_refused(self):
        with open(self.path("x"), "w", encoding="ascii") as file:
            file.write("hello")
        sqlite3.connect(self.path("y.db")).execute("create table t(x)").connection.close()
        for command in ("summary", "info"):
            for name, words in (("x", "not a trace"), ("y.db", ""), ("none.db", "No such file")):
                self.assertIn(words, self.rtl(command, name, status=1).stderr)
        self.assertIn("FILE is missing", self.rtl("summary", status=2).stderr)
        self.assertIn("a: can't be read: No such file", self.rtl("summary", "a", "b", status=1).stderr)
        self.rtl("summary", "a", "--by", "colour", status=2)

    def test_closed_pipe_ends_without_error(self):
        p = subprocess.run(["sh", "-c", f"{RTL_BIN} summary {self.sample()} --by kernel -n 0 2>err | head -n 1"],
                           cwd=self.dir, capture_output=True, text=True, check=False)
        self.assertEqual(len(p.stdout.splitlines()), 1)


class Info(Reader):
    def test_info_shows_identity_and_losses(self):
        s = spool.sample(7, pid=4242, rank=3)
        s.loss("buffer_full", 1234567)
        s.loss("lite_signal", 3)
        s.write(self.path("a.rtl"))
        self.rtl("recover", "-q", "a.rtl", "-o", "a.db")
        for name in ("a.rtl", "a.db"):
            text = self.rtl("info", name).stdout
            for words in ("process 4242, rank 3 on node1", "./app --n 1", "7 dispatches", "gfx900", "1,234,567",
                          "buffer_full", "skipped", "verdict: incomplete", "libhsa-runtime64.so.1.5.0"):
                self.assertIn(words, text)
            doc = json.loads(self.rtl("info", name, "--format", "json").stdout)
            self.assertFalse(doc["complete"])
            self.assertEqual({(row["reason"], row["count"]) for row in doc["losses"]},
                             {("buffer_full", 1234567), ("lite_signal", 3)})
            self.assertEqual(doc["counts"]["dispatches"], 7)
            self.assertEqual(doc["processes"][0]["rank"], 3)

    def test_info_reports_complete_trace(self):
        text = self.rtl("info", self.sample()).stdout
        self.assertIn("verdict: complete", text)
        self.assertNotIn("incomplete", text)

    def test_info_of_directory_names_running_process(self):
        os.mkdir(self.path("t.db.spool"))
        spool.sample(3, pid=11).write(self.path("t.db.spool/11.rtl"))
        with open("/proc/self/stat", encoding="ascii") as file:
            start = int(file.read().rsplit(")")[1].split()[19])
        spool.sample(4).write(self.path("t.db.spool/12.rtl"), start)
        text = self.rtl("info", "t.db.spool").stdout
        self.assertIn("process 11", text)
        self.assertIn(f"process {os.getpid()} on node1: running", text)
        self.assertIn("7 dispatches", text)

    def test_rpd(self):
        text = self.rtl("info", self.rpd()).stdout
        self.assertIn("RPD schema 2", text)
        self.assertIn("1 dispatch, 1 copy", text)

    def test_kernels_of_hip_that_copy_count_as_copies(self):
        s = spool.sample(6)
        for name in ("__amd_rocclr_copyBuffer.kd", "__amd_rocclr_fillBufferAligned.kd", "__amd_rocclr_gwsInit.kd"):
            s.dispatch(s.kernel(name), 0, s.start + 1000, s.start + 2000)
        s.write(self.path("a.rtl"))
        self.rtl("recover", "-q", "a.rtl", "-o", "a.db")
        for name in ("a.rtl", "a.db"):
            counts = json.loads(self.rtl("info", name, "--format", "json").stdout)["counts"]
            self.assertEqual([counts["dispatches"], counts["copies"]], [7, 3])  # the sample has a copy by an engine


class Convert(Reader):
    def test_chrome_json_has_what_viewers_need(self):
        doc = self.events(self.sample())
        events = doc["traceEvents"]
        kernels = [e for e in events if e.get("cat") == "kernel"]
        self.assertEqual(len(kernels), 100)
        first = min(kernels, key=lambda e: e["ts"])
        self.assertEqual(first["name"], "vadd")
        args = first["args"]
        self.assertEqual(args["kernel"], "vadd(float*, float*, float*, int)")
        self.assertEqual(args["mangled"], "_Z4vaddPfS_S_i")
        self.assertEqual((args["grid"], args["workgroup"]), ([1024, 1, 1], [256, 1, 1]))
        self.assertEqual((args["begin_ns"], first["dur"]), (1_000_000_010_000, 1.0))
        self.assertEqual(first["ts"], 9.5)  # since the mark, the earliest event
        self.assertTrue(all(e["ts"] >= 0 for e in events if e["ph"] != "M"))
        self.assertEqual([(e["ph"], e["ts"]) for e in events if e["name"] == "epoch 0 starts"], [("i", 0.0)])
        gpus = {e["pid"] for e in kernels}
        self.assertEqual([e["name"] for e in events if e["pid"] in gpus and e.get("cat") == "marker"], [])
        names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.assertTrue({"GPU 0", "GPU 1"} < names)
        self.assertEqual(doc["metadata"]["verdict"], "complete")
        self.assertEqual([e["args"]["bytes"] for e in events if e.get("cat") == "copy"], [1 << 20])
        self.assertEqual(len([e for e in events if e.get("cat") == "runtime"]), 1)

    def test_arrows_lead_from_marker_to_kernel(self):
        events = self.events(self.sample())["traceEvents"]
        starts = {e["id"]: e for e in events if e["ph"] == "s"}
        ends = {e["id"]: e for e in events if e["ph"] == "f"}
        self.assertEqual(len(starts), 100)
        self.assertEqual(set(starts), set(ends))
        marker = next(e for e in events if e["name"] == "train")
        self.assertEqual({(e["pid"], e["tid"], e["ts"]) for e in starts.values()},
                         {(marker["pid"], marker["tid"], marker["ts"])})

    def test_overlapping_kernels_get_lanes(self):
        s = spool.sample(0)
        for i in range(5):
            s.dispatch(1, 0, s.start + 10_000 + i, s.start + 20_000 + i)
        s.dispatch(1, 0, s.start + 20_000, s.start + 21_000)
        s.write(self.path("a.rtl"))
        kernels = [e for e in self.events("a.rtl")["traceEvents"] if e.get("cat") == "kernel"]
        self.assertEqual(len({e["tid"] for e in kernels}), 5)

    def test_kernel_without_times_is_an_instant(self):
        s = spool.sample(2)
        s.dispatch(1, 0, s.start + 9000, s.start + 8000)
        s.write(self.path("a.rtl"))
        events = self.events("a.rtl")["traceEvents"]
        bad = [e for e in events if e.get("cat") == "kernel" and e["ph"] == "i"]
        self.assertEqual([e["args"]["flags"] for e in bad], [["inverted"]])

    def test_start_stop_ranges_are_asynchronous(self):
        s = spool.sample(2)
        a = s.marker(s.start + 5000, "one", kind=spool.START)
        b = s.marker(s.start + 6000, "two", kind=spool.START)
        s.marker_end(s.start + 7000, a)
        s.marker_end(s.start + 8000, b)
        s.write(self.path("a.rtl"))
        events = self.events("a.rtl")["traceEvents"]
        self.assertEqual([(e["name"], e["ph"]) for e in events if e["name"] in ("one", "two")],
                         [("one", "b"), ("one", "e"), ("two", "b"), ("two", "e")])

    def test_gz_name_compresses_and_dash_writes_stdout(self):
        db = self.sample()
        plain = self.events(db)
        self.rtl("convert", db, "-f", "chrome", "-o", "x.json.gz")
        with gzip.open(self.path("x.json.gz"), "rt", encoding="utf-8") as file:
            self.assertEqual(json.load(file)["traceEvents"], plain["traceEvents"])
        p = self.rtl("convert", db, "-f", "chrome", "-o", "-")
        self.assertEqual(json.loads(p.stdout)["traceEvents"], plain["traceEvents"])
        self.assertEqual(p.stderr, "")
        p = subprocess.run(["sh", "-c", f"{RTL_BIN} convert {db} -f chrome -o - | head -c 10"], cwd=self.dir,
                           capture_output=True, check=False)
        self.assertEqual((len(p.stdout), p.stderr), (10, b""))

    def test_default_names_are_not_overwritten(self):
        db = self.sample()
        self.rtl("convert", db, "-f", "perfetto")
        self.assertIn("a.json", self.files())
        self.assertIn("--force", self.rtl("convert", db, "-f", "perfetto", status=1).stderr)
        self.rtl("convert", db, "-f", "perfetto", "--force")
        self.rtl("convert", db)  # Perfetto's own format
        self.assertIn("a.pftrace", self.files())
        self.rtl("convert", db, "-f", "nsys", status=2)
        self.rtl("convert", db, "-f", "perfetto", "-o", "no/such/x.json", status=1)
        self.assertEqual([f for f in self.files() if "tmp" in f], [])

    def test_bytes_of_names_that_are_not_utf8_are_recognisable(self):
        s = spool.sample(2, names=(b"bad\xff\xfe\"\\name", "tab\tand\nline"))
        s.write(self.path("a.rtl"))
        names = {e["name"] for e in self.events("a.rtl")["traceEvents"] if e.get("cat") == "kernel"}
        self.assertEqual(names, {"bad\\xff\\xfe\"\\name", "tab\tand\nline"})

    def test_long_names_are_cut_with_full_name_in_args(self):
        db = self.sample(names=(LONG,))
        kernel = next(e for e in self.events(db)["traceEvents"] if e.get("cat") == "kernel")
        self.assertTrue(kernel["name"].endswith("..."))
        self.assertLess(len(kernel["name"]), 200)
        self.assertGreater(len(kernel["args"]["kernel"]), 3000)

    def test_rpd(self):
        doc = self.events(self.rpd())
        events = doc["traceEvents"]
        kernel = next(e for e in events if e.get("cat") == "kernel")
        self.assertEqual((kernel["name"], kernel["ts"], kernel["dur"]), ("gemm", 2.5, 2.0))
        self.assertEqual([e["name"] for e in events if e.get("cat") == "copy"], ["CopyHostToDevice"])
        self.assertEqual([(e["ph"], e["name"]) for e in events if e.get("cat") == "marker"],
                         [("X", "step 1"), ("i", "tick")])
        self.assertEqual({e["ts"] for e in events if e["ph"] == "s"}, {0.5})

    def test_kernels_of_two_processes_share_a_row_if_their_mangled_names_are_equal(self):
        """`static` is no part of a readable name."""
        for pid, kernels in ((1, ("_ZL1kPi", "_Z1gv.kd")), (2, ("_Z1kPi.kd", "_Z1gv")), (3, ("_Z1kPi", "_ZL1kPi"))):
            s = spool.Spool(pid=pid)
            s.thread(s.tid, "main")
            s.agent(gpu=False, name="cpu")
            queue = s.queue(s.agent())
            for i, name in enumerate(kernels):
                s.dispatch(s.kernel(name), queue, s.start + 1000 * (10 * pid + i), s.start + 1000 * (10 * pid + i) + 500)
            s.write(self.path(f"{pid}.rtl"))
            self.rtl("recover", "-q", f"{pid}.rtl", "-o", f"{pid}.db")
        for ending in "rtl", "db":
            self.rtl("merge", "-q", "--force", *(f"{pid}.{ending}" for pid in (1, 2, 3)), "-o", "m.db")
            rows = json.loads(self.rtl("summary", "m.db", "--by", "kernel", "-f", "json").stdout)
            self.assertEqual(sorted((r["name"], r["calls"]) for r in rows), [("g()", 2), ("k(int*)", 2), ("k(int*) [_Z1kPi]", 2)], ending)
            with contextlib.closing(sqlite3.connect(self.path("m.db"))) as db:
                self.assertEqual(db.execute("select distinct D.kernel, rtrim(replace(Y.name, '.kd', '')) from rtl_dispatch D join rtl_op_kernel K using "
                                            "(op_id) join rtl_shape S on S.id = K.shape_id join rtl_kernel_symbol Y on Y.id = S.kernel_id order by 1").fetchall(),
                                 [("g()", "_Z1gv"), ("k(int*)", "_ZL1kPi"), ("k(int*) [_Z1kPi]", "_Z1kPi")])
                self.assertEqual(db.execute("select count(*) from rocpd_op O join rocpd_string T on T.id = O.description_id join rtl_dispatch D on "
                                            "D.op_id = O.id where D.kernel <> T.string").fetchone(), (0,))

    def test_merged_processes_have_separate_rows(self):
        self.sample("a", pid=501)
        self.sample("b", pid=502)
        self.rtl("merge", "-q", "-o", "c.db", "a.db", "b.db")
        events = self.events("c.db")["traceEvents"]
        tracks = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.assertTrue({"queue 0 (pid 501)", "queue 0 (pid 502)"} < tracks, tracks)
        self.assertEqual({e["pid"] for e in events if e["name"] == "train"}, {501, 502})


class Upstream(Case):
    """A database as rocm-trace-lite 0.3 in C++ writes it: calls by api_id, ranges as operations of GPU -1, a signal that is NULL, and a WAL."""

    TABLES = """
        create table rocpd_metadata(id integer primary key autoincrement, tag text, value text);
        create table rocpd_string(id integer primary key autoincrement, string text unique);
        create table rocpd_api(id integer primary key autoincrement, pid integer, tid integer, start integer, end integer, apiName_id integer, args_id integer);
        create table rocpd_op(id integer primary key autoincrement, gpuId integer, queueId integer, sequenceId integer, completionSignal text,
            start integer, end integer, description_id integer, opType_id integer, roctxId integer default 0);
        create table rocpd_api_ops(id integer primary key autoincrement, api_id integer, op_id integer);
        create table rocpd_kernelapi(id integer primary key autoincrement, api_id integer, stream text, gridX integer, gridY integer, gridZ integer,
            workgroupX integer, workgroupY integer, workgroupZ integer, groupSegmentSize integer, privateSegmentSize integer, kernelName_id integer);
        create table rocpd_copyapi(id integer primary key autoincrement, api_id integer, stream text, size integer, dst text, src text, kind integer, sync integer);
        insert into rocpd_string values (1, 'hipLaunchKernel'), (2, 'gemm(float*)'), (3, 'KernelExecution'), (4, 'UserMarker'), (5, 'step'), (6, ''),
            (7, 'hipMemcpy'), (8, 'CopyHostToDevice');
        insert into rocpd_api values (1, 77, 78, 1000, 2000, 1, 6), (2, 77, 78, 6000, 9000, 7, 6);
        insert into rocpd_op values (1, 0, 0, 1, 'hwq=0x1 wg=64,1,1 grid=64,1,1', 3000, 5000, 2, 3, 7), (2, 0, 0, 2, NULL, 6500, 7000, 8, 8, 7),
            (3, -1, 0, 0, NULL, 500, 9500, 5, 4, 7);
        insert into rocpd_api_ops values (1, 1, 1), (2, 2, 2);
        insert into rocpd_kernelapi values (1, 1, '0x5', 64, 1, 1, 64, 1, 1, 0, 0, 2);
        insert into rocpd_copyapi values (1, 2, '0x0', 4096, '0x1', '0x2', 1, 1);
    """

    def database(self, name, mode):
        with contextlib.closing(sqlite3.connect(self.path(name))) as db:
            db.execute(f"pragma journal_mode={mode}")
            db.executescript(self.TABLES)
        return name

    def test_every_reader_reads_it(self):
        db = self.database("up.db", "wal")
        rows = json.loads(self.rtl("summary", db, "--by", "kernel,copy,stream", "-f", "json").stdout)
        self.assertEqual([(r["name"], r["calls"]) for r in rows["kernel"]], [("gemm(float*)", 1)])
        self.assertEqual([(r["name"], r["kernels"], r["copies"]) for r in rows["stream"]], [("0x5", 1, 0), ("null", 0, 1)])
        self.rtl("summary", db)
        for form in ("perfetto", "pftrace", "speedscope", "folded", "kineto", "jsonl", "csv"):
            p = self.rtl("convert", db, "-f", form, "-o", "out." + form)
            if form not in ("csv", "jsonl"):
                self.assertIn("1 ranges, which are operations of GPU -1", p.stderr, form)
        with open(self.path("out.perfetto"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.assertEqual([e["name"] for e in events if e.get("cat") == "kernel"], ["gemm"])
        self.rtl("report", db, "-o", "out.html")
        self.rtl("diff", db, db)

    def test_it_is_merged(self):
        self.merged("up.db", self.database("up.db", "delete"))

    def test_it_is_merged_while_its_program_has_it_open(self):
        """Its rows are in the WAL alone, and another transaction is open."""
        with contextlib.closing(sqlite3.connect(self.path("up.db"), isolation_level=None)) as db:
            db.execute("pragma journal_mode=wal")
            db.execute("pragma wal_autocheckpoint=0")
            db.executescript(self.TABLES)
            db.execute("begin immediate")
            db.execute("delete from rocpd_op")
            self.assertGreater(os.stat(self.path("up.db-wal")).st_size, 4096)
            self.merged("up.db", "up.db")
            # as a killed program leaves them
            for end in ("", "-wal"):
                shutil.copy(self.path("up.db" + end), self.path("left.db" + end))
        self.merged("left.db", "left.db")

    def merged(self, what, name):
        p = self.rtl("merge", "--force", name, "-o", "m.db")
        self.assertIn("1 dispatch on 1 GPU, 1 copy, 2 API calls", p.stderr, what)
        self.assertNotIn("No GPU operation", p.stderr)
        with contextlib.closing(sqlite3.connect(self.path("m.db"))) as db:
            ((api, stream, name),) = db.execute("select api_ptr_id, stream, S.string from rocpd_kernelapi K join rocpd_string S on S.id = K.kernelName_id")
            self.assertEqual(db.execute("select count(*) from rocpd_api where id = ?", (api,)).fetchone(), (1,))
            self.assertEqual((stream, name), ("0x5", "gemm(float*)"))
            self.assertEqual([s for s, in db.execute("select completionSignal from rocpd_op order by id")], ["hwq=0x1 wg=64,1,1 grid=64,1,1", "", ""])


class RawTrace(Case):
    """What a command reads of a raw trace is what it reads of the database that is made of it."""
    FORMATS = ("perfetto", "pftrace", "speedscope", "folded", "kineto", "jsonl", "csv", "rocprofv3-csv", "rocprofv3-json",
               "rocprofv3-pftrace", "rocpd3")
    COMMANDS = (*(("convert", "-q", "-f", form, "-o", "out/x", "t") for form in FORMATS),
                ("report", "-q", "-o", "out/x", "t"), ("summary", "t"), ("summary", "--by", "kernel,api,stream,range,gap,graph", "t"),
                ("summary", "--internal", "--format", "json", "t"))

    def output(self, folder, command):
        out = self.path(os.path.join(folder, "out"))
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        p = self.rtl(*command, cwd=self.path(folder), text=False)
        files = {}
        for name in sorted(os.listdir(out)):
            with open(os.path.join(out, name), "rb") as f:
                files[name] = f.read()
        return p.stdout, files

    def same_of(self, s):
        for folder in ("raw", "database"):
            os.makedirs(self.path(folder))
        s.write(self.path("raw/t"))
        self.rtl("merge", "-q", "-o", "database/t", "raw/t")
        for command in self.COMMANDS:
            with self.subTest(command=command):
                seen, expected = self.output("raw", command), self.output("database", command)
                self.assertTrue(expected[0] or expected[1])
                self.assertEqual(seen, expected)

    def test_calls_and_operations(self):
        self.same_of(spool.calls())

    def test_operations_without_calls(self):
        self.same_of(spool.sample(3000))

    def test_launches_get_the_names_of_their_kernels_from_dispatches(self):
        s = spool.calls()
        launch = s.op(9, "hipModuleLaunchKernel", "f:p:kernel,numBlocks:d:grid,dimBlocks:d:block,stream:h:stream")
        for i in range(20):
            begin = s.start + 100_000 + i * 1000
            own = s.api(launch, begin, begin + 500, (0x4000 + i % 2, 4 | 1 << 32, 1, 256 | 1 << 32, 1, 0x55AA))
            s.dispatch(1 + i % 2, 0, begin + 2000, begin + 2100 + i, correlation=own)
        self.same_of(s)


class MergeAndRecover(Reader):
    def count(self, name, table="rtl_dispatch"):
        db = sqlite3.connect(self.path(name))
        n = db.execute(f"select count(*) from {table}").fetchone()[0]
        db.close()
        return n

    def test_merge_joins_databases(self):
        self.sample("a", pid=1001)
        self.sample("b", pid=1002, dispatches=50)
        p = self.rtl("merge", "-o", "c.db", "a.db", "b.db")
        self.assertIn("150 dispatches on 2 GPUs", p.stderr)
        self.assertEqual(self.count("c.db"), self.count("a.db") + self.count("b.db"))
        self.assertIn("exist", self.rtl("merge", "-o", "c.db", "a.db", status=1).stderr)
        self.assertIn("is both input and output", self.rtl("merge", "--force", "-o", "a.db", "a.db", status=1).stderr)
        self.assertIn("output is missing", self.rtl("merge", "a.db", status=2).stderr)
        self.rtl("merge", "-o", "d.db", "none.db", status=1)

    def test_recover_names_its_output(self):
        os.mkdir(self.path("t.db.spool"))
        spool.sample(3, pid=21).write(self.path("t.db.spool/21.rtl"))
        spool.sample(4, pid=22).write(self.path("t.db.spool/22.rtl"))
        self.rtl("recover", "t.db.spool/")
        self.assertEqual(self.count("t.db"), 9)
        self.assertIn("exists", self.rtl("recover", "t.db.spool", status=1).stderr)
        self.rtl("recover", "-q", "t.db.spool/21.rtl")
        self.assertEqual(self.count("21.db"), 4)
        self.rtl("recover", "-q", "--force", "--remove", "t.db.spool")
        self.assertEqual(self.files(), ["21.db", "t.db"])

    def test_or_pid_option_names_second_file(self):
        spool.sample(3, pid=31).write(self.path("a.rtl"))
        self.rtl("recover", "-q", "-o", "t.db", "a.rtl")
        p = self.rtl("recover", "--or-pid", "--remove", "-o", "t.db", "a.rtl")
        self.assertIn("t.db: exists already; writing t.31.db", p.stderr)
        self.assertEqual(self.files(), ["t.31.db", "t.db"])

    def test_running_process_is_left_alone(self):
        with open("/proc/self/stat", encoding="ascii") as file:
            start = int(file.read().rsplit(")")[1].split()[19])
        spool.sample(4).write(self.path("a.rtl"), start)
        p = self.rtl("recover", "--remove", "-o", "t.db", "a.rtl")
        self.assertIn(f"process {os.getpid()} still runs", p.stderr)
        self.assertEqual(self.count("t.db"), 5)
        self.assertEqual(self.files(), ["a.mem", "a.rtl", "t.db"])

    def test_killed_process_is_recovered_from_both_halves(self):
        spool.sample(4).write(self.path("a.rtl"), 12345)
        self.rtl("recover", "-o", "t.db", "a.rtl")
        self.assertEqual(self.count("t.db"), 5)
        self.assertEqual(self.files(), ["a.rtl", "t.db"])
        self.rtl("recover", "-o", "u.db", "a.rtl")
        self.assertEqual(self.count("u.db"), 5)

    def test_damaged_chunk_is_reported(self):
        spool.sample(3000).write(self.path("a.rtl"))
        with open(self.path("a.rtl"), "r+b") as file:
            file.seek(60000)
            file.write(b"\xff" * 64)
        p = self.rtl("recover", "-o", "t.db", "a.rtl")
        self.assertIn("bad_chunk", p.stderr)
        with open(self.path("b.rtl"), "wb") as file:
            file.write(b"garbage")
        self.assertIn("b.rtl", self.rtl("recover", "b.rtl", status=1).stderr)
        os.mkdir(self.path("empty"))
        self.assertIn("contains no raw trace", self.rtl("recover", "empty", status=1).stderr)


class Output(Case):
    def test_output_is_checked_before_the_work(self):
        spool.sample(4).write(self.path("a.rtl"))
        for form in ("chrome", "kineto", "csv", "rpd"):
            for out in ("no/such/o", "x" * 250, "a.rtl/o"):
                p = self.rtl("convert", "a.rtl", "-f", form, "-o", out, status=1, env={"TMPDIR": "/no/such/folder"})
                why = "there is no directory no/such; make it" if out == "no/such/o" else "can't be written"
                self.assertIn(f"{out}: {why}", p.stderr)
        self.assertEqual(self.files(), ["a.rtl"])

    def test_missing_directory_of_the_output_is_named(self):
        spool.sample(4).write(self.path("a.rtl"))
        for command, status in ((("report", "a.rtl"), 1), (("diff", "a.rtl", "a.rtl"), 3), (("merge", "a.rtl"), 1),
                                (("recover", "a.rtl"), 1), (("snapshot", "a.rtl"), 1), (("selftest",), 125)):
            p = self.rtl(*command, "-o", "no/such/o", status=status)
            self.assertEqual(p.stderr, f"rtl {command[0]}: no/such/o: there is no directory no/such; make it, or choose another with -o\n")
        p = self.rtl("rocprof", "-o", "no/such/o.csv", "true", status=125)
        self.assertIn("no/such/o.csv: there is no directory no/such; make it, or choose another with -o", p.stderr)
        self.assertIn("there is no directory 'no/such'; make it first", self.rtl("trace", "-o", "no/such/o", "true", status=125).stderr)
        p = self.rtl("trace", "--spool-dir", "no/such/sp", "true", status=125)
        self.assertIn("no/such/sp: spool directory: there is no directory 'no/such' to make it in; make that first", p.stderr)
        self.assertEqual(self.files(), ["a.rtl"])

    def test_database_is_not_written_to_what_is_no_file(self):
        spool.sample(4).write(self.path("a.rtl"))
        os.mkfifo(self.path("fifo"))
        for command in ("merge", "recover", "snapshot"):
            for name in ("-", "/dev/stdout"):
                p = self.rtl(command, "a.rtl", "--force", "-o", name, status=1)
                self.assertEqual(p.stderr, f"rtl {command}: standard output: a database needs a plain file: -o NAME.db\n")
            p = self.rtl(command, "a.rtl", "--force", "-o", "fifo", status=1)
            self.assertEqual(p.stderr, f"rtl {command}: fifo: is a FIFO; choose another with -o\n")
        self.assertEqual(self.files(), ["a.rtl", "fifo"])


class Help(Case):

    def test_recover_deletes_temporary_files_of_killed_conversions(self):
        spool.sample().write(self.path("a.rtl"))
        gone, busy, other = "t.db.tmp-999999", f"t.db.tmp-{os.getpid()}", "t.db.tmp-999999x"
        for name in (gone, busy, other, "t.db.tmp-999998"):
            with open(self.path(name), "w", encoding="ascii") as f:
                f.write("x")
        for name in (gone, busy, other):
            os.utime(self.path(name), (1, 1))
        p = self.rtl("recover", "-o", "t.db", "a.rtl")
        self.assertIn("1 temporary file of killed conversions deleted", p.stderr)
        self.assertEqual(self.files(), sorted(["a.rtl", "t.db", "t.db.tmp-999998", busy, other]))

    def test_recover_of_a_process_killed_at_its_start(self):
        os.mkdir(os.path.join(self.dir, "t.db.spool"))
        with open(os.path.join(self.dir, "t.db.spool", "7-1.rtl"), "w", encoding="utf-8"):
            pass
        p = self.rtl("recover", "t.db.spool")
        self.assertIn("killed before anything was recorded", p.stderr)
        self.assertNotIn("t.db", os.listdir(self.dir))
        self.rtl("recover", "-q", "--remove", "t.db.spool")
        self.assertNotIn("t.db.spool", os.listdir(self.dir))

    def test_version_and_overview_are_printed(self):
        self.assertRegex(self.rtl("--version").stdout, r"^rtl \d+\.\d+\.\d+\n$")
        self.assertIn("rtl trace", self.rtl("--help").stdout)
        self.assertIn("usage", self.rtl(status=2).stdout)
        self.assertIn("did you mean 'rtl summary'?", self.rtl("sumary", status=2).stderr)
        self.assertIn("rtl trace ./app", self.rtl("./app", status=2).stderr)
        self.rtl("--frobnicate", status=2)

    def test_help_fits_a_screen(self):
        for name in self.rtl("help", "--names").stdout.split():
            lines = self.rtl(name, "--help").stdout.splitlines()
            self.assertLessEqual(len(lines), 24, name)
            self.assertLessEqual(max(map(len, lines)), 80, name)
            self.assertGreater(len(self.rtl("help", name).stdout.splitlines()), len(lines))

    def test_completions_offer_commands_and_options(self):
        with open(self.path("c"), "w", encoding="utf-8") as file:
            file.write(self.rtl("help", "--completion=bash").stdout)
        complete = 'source ./c; COMP_WORDS=(%s); COMP_CWORD=%d; _rtl; printf "%%s\\n" "${COMPREPLY[@]}"'
        for words, at, wanted in (("rtl tr", 1, "trace"), ("rtl trace --kee", 2, "--keep-spool"),
                                  ("rtl trace --mode li", 3, "lite"), ("rtl trace --mode = li", 4, "lite"),
                                  ("rtl summary --by mark", 3, "marker"), ("rtl convert c -f perf", 4, "perfetto")):
            p = subprocess.run(["bash", "-c", complete % (words, at)], cwd=self.dir, capture_output=True, text=True,
                               env={**environment(), "PATH": BUILD + "/bin:" + os.environ["PATH"]},
                               check=False)
            self.assertEqual(p.stdout.split(), [wanted], (words, p.stderr))
        self.assertIn("#compdef rtl", self.rtl("help", "--completion=zsh").stdout)
        self.assertIn("complete -c rtl", self.rtl("help", "--completion", "fish").stdout)

    def test_doctor_has_the_status_of_what_is_required(self):
        text = self.rtl("doctor", status=None).stdout
        for what, words in (("gpu", "GPU programs can be traced here: "), ("virtual-gpu", "")):
            p = self.rtl("doctor", "-q", "--require", what, status=None)
            self.assertEqual(p.returncode, 0 if words in text and "Nothing can be traced" not in text else 1, what)

    def test_doctor_knows_a_preloaded_virtual_gpu(self):
        path = self.rtl("doctor", "--path", "virtual-gpu").stdout.strip()
        text = self.rtl("doctor", status=None, env={"LD_PRELOAD": path}).stdout
        self.assertNotIn("/dev/dri", text)
        self.assertNotIn("--virtual-gpu", text)
        self.assertIn("see the virtual GPU alone", text)

    def test_doctor_prints_paths(self):
        for what, name in (("librtl", "librtl.so.1"), ("virtual-gpu", "libvgpu.so")):
            path = self.rtl("doctor", "--path", what).stdout.strip()
            self.assertTrue(os.path.exists(path), path)
            self.assertEqual(os.path.basename(path), name)

    def test_doctor_lines_begin_with_a_verdict(self):
        p = self.rtl("doctor", status=None)
        self.assertIn(p.returncode, (0, 1))
        for line in p.stdout.splitlines()[1:-1]:
            self.assertRegex(line, r"^(ok|warn|missing|note|        ) ")
        self.assertNotIn("\x1b", p.stdout)
        self.assertLessEqual(len(self.rtl("doctor", "-q", status=None).stdout), len(p.stdout))
        self.assertRegex(p.stdout, r"^rtl \d")
        self.assertNotRegex(self.rtl("doctor", "-q", status=None).stdout, r"(?m)^rtl \d")


class ListCounters(Case):
    def test_all_counters_of_a_gpu(self):
        rows = list(csv.DictReader(io.StringIO(self.rtl("list-counters", "--gpu", "gfx90a", "-f", "csv").stdout)))
        by_name = {r["name"]: r for r in rows}
        self.assertEqual(len(by_name), len(rows))
        hit = by_name["TCC_HIT"]
        self.assertEqual((hit["kind"], hit["block"], hit["instances"], hit["counters_per_instance"]), ("counter", "TCC", "32", "4"))
        self.assertEqual(by_name["GPUBusy"]["expression"], "100*GRBM_GUI_ACTIVE/GRBM_COUNT")
        self.assertGreater(len(rows), 400)
        # an agent's full name, and one of the same family
        for name in ("gfx90a:sramecc+:xnack-", "gfx902"):
            self.assertIn("SQ_WAVES", self.rtl("list-counters", "-g", name).stdout)

    def test_passes_of_some_counters(self):
        text = self.rtl("list-counters", "-g", "gfx900", "SQ_WAVES", "L2CacheHit", "FETCH_SIZE", "WRITE_SIZE").stdout
        self.assertIn("gfx900: 2 passes; no fewer are possible\n  pass 1: SQ_WAVES L2CacheHit FETCH_SIZE\n  pass 2: WRITE_SIZE\n", text)
        rows = json.loads(self.rtl("list-counters", "-g", "gfx900", "-f", "json", "SQ:4", "TCC[2]:20", "CU_NUM").stdout)
        self.assertEqual([(r["name"], r["kind"], r["pass"]) for r in rows],
                         [("SQ:4", "counter", 1), ("TCC[2]:20", "counter", 1), ("CU_NUM", "constant", 1)])

    def test_unknown_gpus_and_counters_are_refused(self):
        p = self.rtl("list-counters", "-g", "gfx1", status=2)
        self.assertIn("--gpu: 'gfx1' is not a GPU whose counters are known: gfx8, gfx900,", p.stderr)
        p = self.rtl("list-counters", "-g", "gfx900", "SQ_WAVE", status=1)
        self.assertIn("did you mean 'SQ_WAVES'?", p.stderr)
        p = self.rtl("list-counters", "-g", "gfx900", "TCC_HIT[16]", status=1)
        self.assertIn("instances 0 to 15", p.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
