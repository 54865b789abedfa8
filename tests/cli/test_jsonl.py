#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""JSON lines, read by Python's json and compared with the database by SQL"""
import collections
import gzip
import json
import sqlite3

from support import spool
from support.cli import *

# a copy or fill by a kernel of HIP's is a copy
VIEWS = {"dispatch": "rtl_dispatch where kernel not glob '__amd_rocclr_*'", "copy": "rtl_transfer", "barrier": "rtl_barrier", "api": "rtl_api", "marker": "rtl_marker", "loss": "rtl_loss"}
RPD = RPD_TABLES + """
    insert into rocpd_string values (1, ''), (2, 'hipLaunchKernel'), (3, 'gemm'), (4, 'KernelExecution'), (5, 'CopyHostToDevice'), (6, 'UserMarker'),
        (7, 'step');
    insert into rocpd_api values (1, 77, 78, 1000, 2000, 2, 1), (2, 77, 78, 500, 9000, 6, 7);
    insert into rocpd_op values (1, 0, 0, 1, '', 3000, 5000, 3, 4), (2, 0, 0, 2, '', 5000, 6000, 1, 5);
    insert into rocpd_api_ops values (1, 1, 1);
"""


class Lines(Case):
    def database(self, trace, name="t"):
        trace.write(self.path(name + ".rtl"))
        self.rtl("recover", "-q", name + ".rtl", "-o", name + ".db", "--force")
        return name + ".db"

    def rows(self, name, query):
        """Dictionaries, as the lines are."""
        with sqlite3.connect(f"file:{self.path(name)}?mode=ro", uri=True) as db:
            db.text_factory = lambda text: text.decode(errors="replace")
            cursor = db.execute(query)
            return [dict(zip((c[0] for c in cursor.description), row)) for row in cursor]

    def read(self, name):
        """The objects by their record, without that member."""
        text = self.rtl("convert", "-q", name, "-f", "jsonl", "-o", "-").stdout
        self.assertTrue(text.endswith("}\n"))
        found = collections.defaultdict(list)
        for line in text.splitlines():
            row = json.loads(line)
            found[row.pop("record")].append(row)
        return found

    def compare(self, name):
        found = self.read(name)
        for record, view in VIEWS.items():
            lines = found[record]
            whole = self.rows(name, f"select * from {view}")
            if record in ("dispatch", "copy", "barrier"):
                # rtl_op names the thread of each operation
                threads = {r["op_id"]: (r["pid"], r["tid"]) for r in self.rows(name, "select op_id, pid, tid from rtl_op")}
                self.assertEqual([(r.pop("pid"), r.pop("tid")) for r in lines], [threads[r["op_id"]] for r in lines])
            if record == "dispatch":
                streams = collections.Counter((r["stream"], r["queue"], r["agent"]) for r in lines if r["stream"])
                self.assertEqual(streams, {(r["stream"], r["queue"], r["gpu"]): r["ops"] for r in self.rows(name, "select * from rtl_stream")})
            if record == "copy":
                ends = {r["op_id"]: (r["src"], r["dst"]) for r in self.rows(name, "select op_id, src, dst from rtl_copy")}
                # kernels are no rows of rtl_copy
                self.assertEqual([(r["src"], r["dst"]) for r in lines], [ends.get(r["op_id"], (r["src"], r["dst"])) for r in lines])
            for row in lines if record in ("dispatch", "copy", "barrier") else ():
                del row["stream"]
            self.assertEqual(lines, whole, view)
        self.assertEqual([(r["pid"], r["command"], r["rank"], r["state"]) for r in found["process"]],
                         [tuple(r.values()) for r in self.rows(name, "select pid, command, rank, state from rtl_process")])
        self.assertEqual(found["counter"], self.rows(name, "select op_id, counter, value, unit from rtl_counter"))
        self.assertEqual(len(found["trace"]), 1)
        return found

    def test_lines_equal_views(self):
        found = self.compare(self.database(spool.calls()))
        self.assertEqual([bool(found[r]) for r in ("dispatch", "copy", "api", "marker")], [True] * 4)
        self.assertEqual({r["stream"] for r in self.read("t.db")["dispatch"]} - {None}, {"0x0", "0x55aa"})

    def test_kernels_that_copy_are_copies(self):
        s = spool.calls()
        queue = s.queue(1)
        s.dispatch(s.kernel("__amd_rocclr_copyBuffer.kd"), queue, s.start + 100, s.start + 200)
        found = self.compare(self.database(s))
        self.assertIn("__amd_rocclr_copyBuffer", {r["means"] for r in found["copy"]})
        self.assertNotIn("__amd_rocclr_copyBuffer", {r["kernel"] for r in found["dispatch"]})

    def test_database_of_a_version_without_agents_of_calls_is_read(self):
        s = spool.calls()
        s.dispatch(s.kernel("__amd_rocclr_copyBuffer.kd"), s.queue(1), s.start + 100, s.start + 200)
        self.database(s)
        outputs = [("convert", "-q", "t.db", "-f", "jsonl", "-o", "-"), ("summary", "t.db", "--by", "copy"), ("convert", "-q", "t.db", "-f", "kineto", "-o", "-")]
        before = [self.rtl(*args).stdout for args in outputs]
        with sqlite3.connect(self.path("t.db")) as db:
            db.executescript("drop view rtl_transfer; drop view rtl_host_copy; drop view copyop; drop table rtl_api_copy")
        self.assertEqual([self.rtl(*args).stdout for args in outputs], before)
        self.rtl("merge", "-q", "t.db", "-o", "m.db")
        self.assertEqual([(r["src"], r["dst"]) for r in self.read("m.db")["copy"]], [(r["src"], r["dst"]) for r in self.read("t.db")["copy"]])

    def test_odd_rows_and_losses(self):
        s = spool.sample(4, names=("_Z4vaddPfS_S_i", b"caf\xe9 \"x\"\\\n"))
        queue = s.queue(1)
        s.dispatch(s.kernel("late"), queue, s.start, s.start, flags=spool.F_INVERTED)
        s.marker(s.start + 700, "one;\ttwo\x01", kind=spool.MARK)
        s.loss("buffer_full", 17)
        found = self.compare(self.database(s))
        self.assertEqual([(r["reason"], r["count"]) for r in found["loss"] if r["reason"] == "buffer_full"], [("buffer_full", 17)])
        self.assertFalse(found["trace"][0]["complete"])
        self.assertIn("17", found["trace"][0]["verdict"])

    def test_several_processes_and_empty_ones(self):
        for pid in (100, 101):
            spool.sample(3, pid=pid, rank=pid - 100).write(self.path(f"{pid}.rtl"))
        self.rtl("merge", "-q", "100.rtl", "101.rtl", "-o", "m.db")
        self.compare("m.db")
        self.assertEqual(collections.Counter(r["pid"] for r in self.read("m.db")["dispatch"]), {100: 4, 101: 4})
        s = spool.Spool()
        s.thread(s.tid, "app")
        found = self.compare(self.database(s, "none"))
        self.assertEqual([len(found[r]) for r in ("trace", "process", "dispatch", "api")], [1, 1, 0, 0])

    def test_databases_of_rpd_are_read(self):
        with sqlite3.connect(self.path("rpd.db")) as db:
            db.executescript(RPD)
        found = self.read("rpd.db")
        self.assertEqual([(r["op_id"], r["kernel"], r["begin_ns"], r["end_ns"], r["correlation_id"]) for r in found["dispatch"]], [(1, "gemm", 3000, 5000, 1)])
        self.assertEqual([(r["op_id"], r["kind"], r["correlation_id"]) for r in found["copy"]], [(2, "CopyHostToDevice", 0)])
        self.assertEqual([(r["api_id"], r["name"], r["pid"], r["tid"]) for r in found["api"]], [(1, "hipLaunchKernel", 77, 78)])
        self.assertEqual([(r["marker_id"], r["message"], r["end_ns"]) for r in found["marker"]], [(2, "step", 9000)])

    def test_files_are_compressed_and_kept(self):
        name = self.database(spool.sample(4))
        self.rtl("convert", "-q", name, "-f", "jsonl", "-o", "a.jsonl.gz")
        with gzip.open(self.path("a.jsonl.gz"), "rt", encoding="utf-8") as file:
            self.assertEqual(file.read(), self.rtl("convert", "-q", name, "-f", "jsonl", "-o", "-").stdout)
        self.assertIn("t.jsonl: written", self.rtl("convert", name, "-f", "jsonl").stderr)
        self.assertIn("exists", self.rtl("convert", name, "-f", "jsonl", status=1).stderr)


if __name__ == "__main__":
    unittest.main()
