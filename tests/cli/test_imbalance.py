#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl summary --by imbalance: kernels and ranges of ranks that are slow in a part of the run; what the page shows; forms"""
import csv
import io
import json
import random
import re

from support import browser, spool
from support.cli import *

STEPS = 1280


class Imbalance(Case):
    def job(self, slow=None, kernel=1.0, host=0, begin=320, end=640, ranks=4, steps=STEPS, by_host=False):
        """Ranks on two hosts that run the same steps: a range with a kernel of its own, and one that has two shapes. In some steps gemm takes
        `kernel` times as long on the slow ranks, or their hosts `host` ns longer in the range."""
        rng = random.Random(5)
        slow = {slow} if isinstance(slow, int) else set(slow or ())
        self.slow_ns = {}
        for r in range(ranks):
            s = spool.Spool(pid=700 + r)
            for key, value in (("command", "./train"), ("host", f"node{r * 2 // ranks}"), ("mode", "standard"), ("version", "0.1.0"), ("rank", str(r)),
                               ("world_size", str(ranks))):
                s.info(key, value)
            s.thread(s.tid, "train")
            s.agent(gpu=False, name="cpu")
            queue = s.queue(s.agent())
            gemm, mixed = s.kernel("_Z4gemmPfS_i"), s.kernel("_Z4copyPf")
            at = s.start + 100_000
            for step in range(steps):
                is_slow = r in slow and begin <= step < end
                prepare = int(rng.gauss(100_000, 4000)) + (host if is_slow else 0)
                marker = s.marker(at, "prepare")
                s.marker_end(at + prepare, marker)
                if is_slow and host:
                    self.slow_ns.setdefault(r, []).append((at, at + prepare))
                at += prepare
                ns = int(rng.gauss(200_000, 3000) * (kernel if is_slow else 1))
                s.dispatch(gemm, queue, at, at + ns)
                if is_slow and kernel > 1:
                    self.slow_ns.setdefault(r, []).append((at, at + ns))
                at += ns + 1000
                ns = int(rng.gauss(rng.choice((20_000, 90_000)), 900))
                s.dispatch(mixed, queue, at, at + ns)
                at += ns + 1000
            s.write(self.path(f"{r}.rtl"))
        self.start_ns = s.start
        self.rtl("merge", "-q", "--force", *[f"{r}.rtl" for r in range(ranks)], "-o", "job.db")
        return "job.db"

    def rows(self, db, *args):
        return json.loads(self.rtl("summary", db, "--by", "imbalance", "-f", "json", *args).stdout)

    def slow(self, rows):
        return [r for r in rows if r["verdict"] == "slow"]

    def within(self, row, rank):
        """The window is that of the slow steps, but for a block at each side."""
        times = self.slow_ns[rank]
        length = (times[-1][1] - times[0][0]) / len(times) * STEPS / 20
        # what times count from is the first event
        begin, end = (ns - self.start_ns - 100_000 for ns in (times[0][0], times[-1][1]))
        self.assertLess(abs(row["from_ns"] - begin), 1.5 * length, (row, begin))
        self.assertLess(abs(row["to_ns"] - end), 1.5 * length, (row, end))

    def test_kernel_that_is_slow_for_a_while_has_its_rank_and_time(self):
        rows = self.rows(self.job(slow=2, kernel=1.3))
        row, = self.slow(rows)
        self.assertEqual((rows[0], row["rank"], row["kind"], row["host"], row["gpu"], row["ranks"], row["slowest"]),
                         (row, "rank 2", "kernel", "node1", 1000, 4, "rank 2"))
        self.assertIn("gemm", row["name"])
        self.within(row, 2)
        self.assertAlmostEqual(row["of_others"], 1.3, delta=0.01)
        self.assertAlmostEqual(row["median_ns"] / row["others_ns"], 1.3, delta=0.02)
        self.assertAlmostEqual(row["lost_ns"], row["calls"] * 60_000, delta=row["calls"] * 2000)
        self.assertEqual(row["calls"], 320)
        others = {r["name"].split("(")[0]: r for r in rows if r["verdict"] == ""}
        self.assertEqual(set(others), {"copy", "prepare"})
        self.assertEqual((others["prepare"]["kind"], others["prepare"]["calls"], others["prepare"]["rank"], others["prepare"]["from_ns"]),
                         ("range", 4 * STEPS, None, None))

    def test_range_that_is_slow_for_a_while_has_its_rank_and_time(self):
        row, = self.slow(self.rows(self.job(slow=1, host=50_000, begin=900, end=1280)))
        self.assertEqual((row["rank"], row["kind"], row["name"], row["host"], row["gpu"]), ("rank 1", "range", "prepare", "node0", None))
        self.within(row, 1)
        self.assertAlmostEqual(row["of_others"], 1.5, delta=0.03)

    def test_all_ranks_of_a_host_are_named(self):
        rows = self.slow(self.rows(self.job(slow=(4, 5), kernel=1.25, ranks=6, steps=640, begin=0, end=640)))
        self.assertEqual({(r["rank"], r["host"], r["calls"]) for r in rows}, {("rank 4", "node1", 640), ("rank 5", "node1", 640)})
        self.assertIn("rank 4 is slow throughout: gemm(float*, float*, int) takes ", self.rtl("summary", "job.db", "--by", "imbalance").stderr)

    def test_clean_runs_and_two_ranks_accuse_nobody(self):
        for how in ({}, {"slow": 1, "kernel": 1.03}, {"ranks": 2, "slow": 1, "kernel": 1.5}, {"slow": 1, "kernel": 1.5, "steps": 60, "begin": 0}):
            rows = self.rows(self.job(**how))
            self.assertEqual(self.slow(rows), [], how)
            self.assertEqual(len(rows), 3)
            few = how.get("ranks") == 2 or how.get("steps") == 60
            self.assertEqual({r["verdict"] for r in rows}, {"not judged" if few else ""})
        self.assertIn("not judged: 3 of 3 names, of which fewer than 3 ranks or GPUs have 64 calls", self.rtl("summary", "job.db", "--by", "imbalance").stderr)
        # kernels that wait for each other are not compared
        self.assertEqual([r["verdict"] for r in self.rows(self.job(slow=1, kernel=1.5), "--collectives", "^gemm") if "gemm" in r["name"]], ["not judged"])

    def test_forms_agree_and_page_shows_what_rtl_prints(self):
        self.job(slow=2, kernel=1.3)
        rows = self.rows("job.db")
        text = self.rtl("summary", "job.db", "--by", "imbalance", "-f", "csv").stdout
        table = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([[r[key] for key in ("rank", "verdict", "name", "from_ns", "lost_ns")] for r in table],
                         [["" if r[key] is None else str(r[key]) for key in ("rank", "verdict", "name", "from_ns", "lost_ns")] for r in rows])
        p = self.rtl("summary", "job.db", "--by", "imbalance", env={"COLUMNS": "110"})
        with open(os.path.join(SOURCE, "docs/which-rank-is-late.md"), encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(re.search(r"```text\n\$ rtl summary job.db --by imbalance\n(.*?)```", page, re.S).group(1), p.stdout + p.stderr)
        shown = re.search(r"```text\n\$ rtl summary job.db --by imbalance -f csv -n 1\n(.*?)```", page, re.S).group(1)
        self.assertEqual(shown, self.rtl("summary", "job.db", "--by", "imbalance", "-f", "csv", "-n", "1").stdout)
        shown = re.search(r"```text\n\$ rtl summary job.db --by imbalance -f json -n 1\n(.*?)```", page, re.S).group(1)
        self.assertEqual(shown, self.rtl("summary", "job.db", "--by", "imbalance", "-f", "json", "-n", "1").stdout)

    @unittest.skipUnless(browser.find(), "Chromium is not there")
    def test_report_has_the_table_and_leads_to_the_time(self):
        rows = self.rows(self.job(slow=2, kernel=1.3))
        self.rtl("report", "-q", "job.db", "-o", "page.html")
        with browser.Browser(self.dir) as chromium:
            page = chromium.open(self.path("page.html"))
            page.wait("document.body && document.body.dataset.loaded")
            page.click_on("#tab-imbalance")
            self.assertEqual(page.evaluate("rtlReport.trace.tables.imbalance.map(r => ({ ...r, name: rtlReport.trace.names[r.name] }))"), rows)
            self.assertEqual(page.evaluate("[...document.querySelectorAll('#imbalance-table tbody tr')].map(tr => tr.querySelector('th').textContent)"),
                             [r["name"] for r in rows])
            self.assertIn("rank 2 is slow from ", page.evaluate("document.querySelector('#imbalance .hint').textContent"))
            page.click_on("#imbalance-table tbody button")
            begin, end = page.evaluate("[rtlReport.page.timeline.begin, rtlReport.page.timeline.end]")
            self.assertEqual(page.evaluate("rtlReport.page.current"), "timeline")
            self.assertLess(abs((begin + end) / 2 - (rows[0]["from_ns"] + rows[0]["to_ns"]) / 2), 2)
            self.assertEqual((page.errors, begin < rows[0]["from_ns"], rows[0]["to_ns"] < end), ([], True, True))

    def test_files_of_ranks_are_read_in_one_command(self):
        rows = self.rows(self.job(slow=2, kernel=1.3))
        files = [f"{r}.rtl" for r in range(4)]
        self.assertEqual(self.rows(files[0], *files[1:]), rows)
        self.assertIn("0.rtl and 3 more: 3 rows of kernels and ranges", self.rtl("summary", *files, "--by", "imbalance").stderr)

    def test_rank_that_loses_a_twentieth_of_the_time_is_a_finding(self):
        def findings(*args):
            return {f["id"]: f for f in json.loads(self.rtl("summary", *args, "--by", "overview", "-f", "json").stdout)["findings"]}

        db = self.job(slow=2, kernel=1.5, begin=0, end=STEPS)
        found, row = findings(db)["slow-rank"], self.slow(self.rows(db))[0]
        self.assertEqual({n["key"]: n["value"] for n in found["numbers"] if n["key"] != "times_as_long"},
                         {key: row[key] for key in ("lost_ns", "calls", "from_ns", "to_ns")})
        self.assertRegex(found["text"], r"^rank 2 is slower than the others throughout: kernel gemm takes 300(\.\d)? us there and \d+(\.\d)? us on the others, "
                                        r"in 1,280 calls: 12\d\.\d ms more, which is \d+\.?\d*% of the time\.$")
        self.assertEqual((found["query"], found["severity"]), ("--by imbalance", "medium"))
        self.assertNotIn("slow-rank", findings(db, "--time", "0:300ms"))
        self.assertNotIn("slow-rank", findings(self.job()))
        self.assertNotIn("slow-rank", findings(self.job(slow=2, kernel=1.3)))


if __name__ == "__main__":
    unittest.main()
