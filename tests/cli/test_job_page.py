#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl fleet -f html: a job as a page in a real browser, beside the answers to its questions"""
import random

from support import browser, spool
from support.cli import *
from support.job import RANKS, Job
from test_fleet import Fleet

LOADED = "document.body && document.body.dataset.loaded"


class Page(Fleet):
    """-f html in headless Chromium: what it shows is what the questions answer."""

    def setUp(self):
        super().setUp()
        if not browser.find():
            self.skipTest("chromium is not installed")
        self.job = Job(random.Random(7))
        self.make(self.job.spools)

    def opened(self, chromium, *options, status=0, **look):
        self.rtl("fleet", "--engine", "sqlite", "-f", "html", "-o", "page.html", "--force", *options, "set", status=status)
        page = chromium.open(self.path("page.html"), **look)
        page.wait(LOADED)
        return page

    def test_maps_and_tables_are_what_is_answered(self):
        busy, kernels = self.ask("busy", "--engine", "sqlite"), self.ask("rank-kernels", "--engine", "sqlite")
        with browser.Browser(self.dir) as chromium:
            page = self.opened(chromium)
            self.assertEqual(page.evaluate("document.getElementById('badge').textContent"), "all ranks are complete")
            shown = page.evaluate("rtlFleet.data.busy")
            width = int(busy[0]["bin_ns"])
            wanted = [[0] * (max(int(r["at_ns"]) // width for r in busy if r["rank"] == str(n)) + 1) for n in range(RANKS)]
            for r in busy:
                wanted[int(r["rank"])][int(r["at_ns"]) // width] = round(1000 * int(r["busy_ns"]) / width)
            self.assertEqual(shown, wanted)
            found = page.evaluate("rtlFleet.data.kernels.map(k => [k.name, k.median_ns, k.mean_ns])")
            for i, (name, median, means) in enumerate(found):
                own = [r for r in kernels if int(r["nth"]) == i + 1]
                self.assertEqual((name, median, means), (own[0]["kernel"], int(own[0]["median_ns"]), [int(r["mean_ns"]) for r in own]))
            for question in ("overview", "ranks", "slow-ranks", "slow-hosts", "imbalance", "collectives", "outliers", "kernels"):
                rows = self.ask(question, "--engine", "sqlite")
                cells = page.evaluate(f"[...document.querySelectorAll('#table-{question} tbody tr')].map(tr => [...tr.children].map(td => td.dataset.value ?? td.textContent))")
                self.assertEqual(len(cells), len(rows), question)
                for row, wanted in zip(cells, rows):
                    for cell, (key, value) in zip(row, wanted.items()):
                        same = abs(float(cell) - float(value)) < 1e-6 if key.endswith(("share", "ratio")) else cell == value
                        self.assertTrue(same, (question, key, cell, value))
            self.assertEqual((page.errors, len(page.requests)), ([], 1))

    def test_colours_of_cells(self):
        """A pixel of the map, and what is said of it by the mouse and the keys."""
        with browser.Browser(self.dir) as chromium:
            page = self.opened(chromium)
            pixel = """(map, row, column) => [...map.canvas.getContext('2d').getImageData(Math.round(HEAT_LEFT + (column + 0.5) * map.wide), Math.round(HEAT_TOP + (row + 0.5) * map.high), 1, 1).data].slice(0, 3)"""
            pixel = pixel.replace("HEAT_LEFT", "150").replace("HEAT_TOP", "22")
            gemm = next(i for i, name in enumerate(page.evaluate("rtlFleet.data.kernels.map(k => k.name)")) if name.startswith("gemm"))
            slow, even = page.evaluate(f"[({pixel})(rtlFleet.kernels, 5, {gemm}), ({pixel})(rtlFleet.kernels, 0, {gemm})]")
            self.assertGreater(slow[0], slow[1] + 40)  # red
            self.assertTrue(all(v > 245 for v in even), even)
            page.evaluate("document.getElementById('kernel-map-box').focus()")
            for key in ["ArrowDown"] * 6 + ["ArrowRight"] * gemm:
                page.key(key)
            said = page.evaluate("document.getElementById('live').textContent")
            self.assertRegex(said, r"rank 5 \(n2\): 13\.\d .s, 1\.3 times the median of 10\.0 .s, in 120 calls of gemm")
            page.evaluate("rtlFleet.setOrder('slow')")
            self.assertEqual(page.evaluate("rtlFleet.kernels.lines.slice(0, 4).map(line => line.rank)"), [7, 6, 1, 5])

    def test_timelines(self):
        for options, ranks in (((), [7, 4]), (("--ranks", "2,5"), [2, 5])):
            with browser.Browser(self.dir) as chromium:
                page = self.opened(chromium, *options)
                shown = page.evaluate("rtlFleet.lanes.ranks.map(one => one.rank)")
                self.assertEqual(shown, ranks)
                rows = [r for r in self.ask("timeline", "--engine", "sqlite", "--ranks", str(shown[0])) if r["what"] == "kernel"]
                zero = int(page.evaluate("rtlFleet.data.zero_ns"))
                lane = page.evaluate("(({ names, lanes }) => { const lane = lanes.find(l => l.what === 'kernel' && l.rank === rtlFleet.lanes.ranks[0].rank); return lane.pieces.map((v, i) => i % 5 ? v : names[v]); })(rtlFleet.data)")
                self.assertEqual(lane, sum(([r["name"], int(r["wall_ns"]) - zero, int(r["span_ns"]), int(r["calls"]), int(r["sum_ns"])] for r in rows), []))
                span = page.evaluate("rtlFleet.lanes.view[1] - rtlFleet.lanes.view[0]")
                page.evaluate("rtlFleet.lanes.ranks[0].canvas.focus()")
                page.key("w")
                self.assertAlmostEqual(page.evaluate("rtlFleet.lanes.view[1] - rtlFleet.lanes.view[0]") / span, 0.5, 3)
                self.assertEqual(page.errors, [])

    def test_ranks_without_an_answer_and_hostile_names(self):
        hostile = '</script><script>window.hacked = 1</script>'
        s = spool.sample(0, 8000, rank=9)
        s.info("job", "4711")
        s.info("host", hostile)
        s.dispatch(s.kernel(hostile), 0, s.start, s.start + 1000)
        s.loss("buffer_full", 17)
        self.make([s])
        with open(self.path("set/.unfinished-n7-12"), "w", encoding="ascii") as f:
            f.write("host n7\npid 12\nrank 8\njob 4711\nspool /x\n")
        os.truncate(self.path("set/job=4711/rank=4/calls.parquet"), 100)
        script = browser.axe(self.dir)
        with browser.Browser(self.dir) as chromium:
            for dark in (False, True):
                page = self.opened(chromium, status=4, dark=dark)
                self.assertEqual(page.evaluate("rtlFleet.data.ranks.map(line => line.state)"), ["complete"] * 4 + ["damaged"] + ["complete"] * 3 + ["unfinished", "incomplete"])
                self.assertEqual(page.evaluate("document.getElementById('badge').textContent"), "without 2 of 10 ranks")
                self.assertEqual([line[:20] for line in page.evaluate("[...document.querySelectorAll('#ranks-out li')].map(e => e.textContent)")][0], "rank 8 (n7): not fin")
                self.assertEqual(page.evaluate("[4, 8, 0].map(y => rtlFleet.busy.text({ x: 0, y }))")[:2],
                                 ["rank 4: can't be read", "rank 8 (n7): not finished: process 12 still runs, or was killed"])
                if script:
                    page.evaluate(script)
                    self.assertEqual(page.violations(), [], "dark" if dark else "light")
                self.assertEqual((page.errors, len(page.requests), page.evaluate("window.hacked")), ([], 1, None))
        if not script:
            self.skipTest("axe-core is not there: npm can't fetch it; RTL_AXE=FILE names it")

    def test_page_found_damaged_late(self):
        """A page of a column that only some questions read: all answers are without the rank."""
        path = self.path("set/job=4711/rank=3/ranges.parquet")
        with open(path, "r+b") as f:
            data = f.read()
            end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
            f.seek(4)
            f.write(b"\xff" * (end - 4))
        with browser.Browser(self.dir) as chromium:
            page = self.opened(chromium, "--ranks", "3,5", status=4)
            self.assertEqual(page.evaluate("rtlFleet.data.ranks.map(line => line.state)"), ["complete"] * 3 + ["damaged"] + ["complete"] * 4)
            self.assertEqual(page.evaluate("rtlFleet.data.tables[0].rows[0].ranks"), RANKS - 1)
            self.assertEqual(page.evaluate("rtlFleet.data.picked"), [5])

    def test_what_a_page_is_of(self):
        s = spool.sample(5, 7000, rank=0)
        s.info("job", "other")
        self.make([s])
        self.assertIn("has 2 jobs; --job JOB chooses one: 4711, other", self.rtl("fleet", "-f", "html", "set", status=2).stderr)
        self.assertIn('"job":"other"', self.rtl("fleet", "-f", "html", "--engine", "sqlite", "--job", "other", "set").stdout)
        self.assertIn("job x has no rank", self.rtl("fleet", "-f", "html", "--job", "x", "set", status=1).stderr)
        self.assertIn("none of these ranks", self.rtl("fleet", "-f", "html", "--engine", "sqlite", "--job", "4711", "--ranks", "77", "set", status=1).stderr)
        self.assertIn("leave out --by", self.rtl("fleet", "-f", "html", "--by", "ranks", "set", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
