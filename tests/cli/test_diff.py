#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl diff: runs that differ by noise alone, planted changes, forms of output, the gate of --fail-if"""
import csv
import io
import json
import os
import random

from support import browser, spool
from support.cli import *

GEMM, SCALE = "_Z4gemmPfS_S_i", "_Z5scalePfi"


class Runs(Case):
    def run_of(self, name, seed, gemm=1.0, nr=40, drift=0.02, kernels=(GEMM, SCALE), ranges=("step",), copy=0):
        """A run: kernels whose times have noise, and a factor of the whole run; and calls that copy, if `copy` is a factor of theirs."""
        rng = random.Random(seed)
        s = spool.Spool(pid=4000 + seed)
        for key, value in (("command", "./app"), ("host", "node1"), ("mode", "standard"), ("version", "0.1.0")):
            s.info(key, value)
        s.thread(s.tid, "app")
        s.agent(gpu=False, name="cpu")
        s.agent()
        queue = s.queue(1)
        s.op(1, "hipMemcpy", "dst:p:dst,src:p:src,sizeBytes:z:bytes,kind:e=hipMemcpyKind:kind")
        numbers = [s.kernel(k) for k in kernels]
        whole, at = rng.gauss(1, drift), s.start + 1000
        for i in range(nr):
            marker = s.marker(at, ranges[i % len(ranges)])
            for kernel, number in zip(kernels, numbers):
                ns = int(100_000 * whole * rng.gauss(1, 0.05) * (gemm if kernel == GEMM else 1))
                s.dispatch(number, queue, at, at + ns, marker)
                at += ns + 500
            if copy:
                ns = int(50_000 * whole * rng.gauss(1, 0.05) * copy)
                call = s.api(1, at, at + ns + 2000, (1, 2, 65536, 1))
                s.copy(at + 1000, at + 1000 + ns, 65536, correlation=call, marker=marker)
                at += ns + 3000
            s.marker_end(at, marker)
            at += 1000
        s.write(self.path(name))
        return name

    def runs(self, prefix, seed, nr=20, **how):
        return [self.run_of(f"{prefix}{i:02}.rtl", seed + i, **how) for i in range(nr)]

    def rows(self, *args, **how):
        return {(r["what"], r["name"]): r for r in json.loads(self.rtl("diff", *args, "-f", "json", **how).stdout)}


class Diff(Runs):
    def test_equal_runs_differ_by_noise(self):
        a, b = self.runs("a", 100), self.runs("b", 200)
        p = self.rtl("diff", *a, "vs", *b)
        self.assertIn("0 slower, 0 faster, 3 with no difference that can be distinguished from noise, 0 only on one side", p.stderr)
        self.assertEqual({r["verdict"] for r in self.rows(*a, "vs", *b).values()}, {"noise"})
        self.assertEqual(self.rtl("diff", *a, "vs", *b).stdout, p.stdout)
        self.rtl("diff", *a, "vs", *b, "--fail-if", "kernel:.* > 0%; range:step > 0")

    def test_planted_change_is_found(self):
        a, b = self.runs("a", 300), self.runs("b", 400, gemm=1.05)
        rows = self.rows(*a, "vs", *b, "--by", "kernel")
        gemm, scale = rows["kernel", "gemm(float*, float*, float*, int)"], rows["kernel", "scale(float*, int)"]
        self.assertEqual((gemm["verdict"], scale["verdict"]), ("slower", "noise"))
        self.assertEqual((gemm["a_values"], gemm["b_values"], gemm["a_count"]), (20, 20, 800))
        self.assertTrue(gemm["change_low"] <= 0.05 <= gemm["change_high"], gemm)
        self.assertTrue(0.02 < gemm["change"] < 0.08 and gemm["effect"] > 0.7, gemm)
        faster = self.rows(*b, "vs", *a, "--by", "kernel")["kernel", "gemm(float*, float*, float*, int)"]
        self.assertEqual((faster["verdict"], faster["p"]), ("faster", gemm["p"]))
        p = self.rtl("diff", *a, "vs", *b, "--fail-if", "kernel:gemm.* > +2%", status=1)
        self.assertIn("fails 'kernel:gemm.* > +2%': above the limit, gemm(float*", p.stderr)
        self.rtl("diff", *a, "vs", *b, "--fail-if", "kernel:gemm.* > 20%; kernel:scale.* > 0%")
        self.rtl("diff", *b, "vs", *a, "--fail-if", "kernel:gemm.* < -2 %", status=1)

    def test_single_runs_are_compared_by_their_durations(self):
        a, b = self.run_of("a.rtl", 1, drift=0, nr=200), self.run_of("b.rtl", 2, drift=0, nr=200, gemm=1.1)
        rows = self.rows(a, b)
        self.assertEqual(rows["kernel", "gemm(float*, float*, float*, int)"]["verdict"], "slower")
        self.assertEqual(rows["kernel", "gemm(float*, float*, float*, int)"]["a_values"], 200)
        self.assertIn("a side of one run does not show how much runs differ", self.rtl("diff", a, b).stderr)
        same = self.rows(a, a)
        self.assertEqual({(r["verdict"], r["change"]) for r in same.values()}, {("noise", 0)})

    def test_few_runs_are_too_few(self):
        a, b = self.runs("a", 10, 3), self.runs("b", 20, 3, gemm=2)
        p = self.rtl("diff", *a, "vs", *b)
        self.assertIn("3 have too few values to tell; 5 runs on each side suffice", p.stderr)
        row = self.rows(*a, "vs", *b)["kernel", "gemm(float*, float*, float*, int)"]
        self.assertEqual((row["verdict"], row["change_low"]), ("too few", None))
        self.assertGreater(row["change"], 0.8)
        enough = self.rows(*self.runs("c", 30, 5), "vs", *self.runs("d", 40, 5, gemm=2))
        self.assertEqual(enough["kernel", "gemm(float*, float*, float*, int)"]["verdict"], "slower")

    def test_names_of_one_side_are_listed(self):
        a = self.run_of("a.rtl", 1, kernels=(GEMM,), ranges=("step", "a|b`c\n<i>"))
        b = self.run_of("b.rtl", 2, kernels=(SCALE,))
        rows = self.rows(a, b)
        self.assertEqual(rows["kernel", "gemm(float*, float*, float*, int)"]["verdict"], "only in A")
        self.assertEqual(rows["kernel", "scale(float*, int)"]["verdict"], "only in B")
        self.assertIsNone(rows["kernel", "scale(float*, int)"]["change"])
        lines = self.rtl("diff", a, b, "-f", "markdown").stdout.splitlines()
        self.assertEqual(lines[1], "|---:|---|---:|---:|---|---|---|")
        self.assertIn("| | | | | only in A | range | a\\|b\\`c?\\<i\\> |", lines)
        self.assertEqual(len(lines), 2 + len(rows))
        table = list(csv.DictReader(io.StringIO(self.rtl("diff", a, b, "-f", "csv").stdout)))
        self.assertEqual({(r["what"], r["name"]) for r in table}, set(rows))

    def test_conditions_of_every_kind_fail_or_pass(self):
        a, b = self.runs("a", 50, 6, copy=1), self.runs("b", 60, 6, copy=1.3, gemm=0.5)
        for condition, status, words in (("call:hipMemcpy > +10%", 1, "hipMemcpy: +"), ("copy:Copy.* > 10", 1, "CopyHostToDevice: +"),
                                         ("range:st.p < -5%", 1, "below the limit, step: -"), ("kernel:gemm.* < -15%", 1, "gemm(float*"),
                                         ("kernel:gemm.* < -70%", 0, ""), ("call:.* > 50%; copy:.* > 50%; range:.* > 0%", 0, ""),
                                         ("call:.* > 50%; copy:.* > 5%", 1, "fails 'copy:.* > 5%'")):
            for form in ("table", "html")[:1 + (";" in condition)]:
                p = self.rtl("diff", *a, "vs", *b, "-f", form, "--fail-if", condition, status=status)
                self.assertIn(words, p.stderr)
                self.assertEqual("fails" in p.stderr, bool(status), condition)

    def test_wrong_command_lines_are_refused(self):
        a = self.run_of("a.rtl", 1, nr=5)
        for args, words in (((a,), "FILE is missing"), ((a, a, a), "write vs between the two sides"), (("vs", a), "no file on one side"),
                            ((a, a, "--fail-if", "gemm > 5%"), "is no condition"), ((a, a, "--fail-if", "kernel:gemm > five"), "is no condition"),
                            ((a, a, "--fail-if", "thread:x > 5%"), "is no condition"), ((a, a, "--fail-if", "kernel:( > 5%"), "no regular expression"),
                            ((a, a, "--fail-if", " ; "), "is no condition"), ((a, a, "--fail-if", "kernel:none > 5%"), "no name in the traces matches")):
            self.assertIn(words, self.rtl("diff", *args, status=2).stderr, args)
        self.assertIn("No such file", self.rtl("diff", a, "none.db", status=1).stderr)

    def test_documents_are_files_with_the_bytes_of_stdout(self):
        a, b = self.run_of("a.rtl", 1, nr=30), self.run_of("b.rtl", 2, nr=30)
        for form in ("table", "csv", "json", "markdown", "html"):
            p = self.rtl("diff", a, b, "-f", form)
            to_file = self.rtl("diff", a, b, "-f", form, "-q", "-o", f"out.{form}")
            with open(self.path(f"out.{form}"), encoding="utf-8") as file:
                self.assertEqual((file.read(), to_file.stdout, to_file.stderr), (p.stdout, "", ""), form)
        self.assertIn("exists already; use --force to overwrite it", self.rtl("diff", a, b, "-o", "out.csv", status=1).stderr)
        self.assertIn("out.csv: written", self.rtl("diff", a, b, "--force", "-o", "out.csv").stderr)
        self.assertIn("/dev/full: is a device; the shell can write to it: -o - > /dev/full",
                      self.rtl("diff", a, b, "--force", "-o", "/dev/full", status=1).stderr)
        self.assertEqual(self.rtl("diff", a, b, "-o", "/dev/stdout").stdout, self.rtl("diff", a, b).stdout)
        self.rtl("diff", a, self.run_of("c.rtl", 3, nr=30, gemm=1.5), "-o", "gate.csv", "--fail-if", "kernel:gemm.* > 5%", status=1)
        self.assertTrue(os.path.exists(self.path("gate.csv")))


class Page(Runs):
    """--format html in headless Chromium."""

    def test_page_shows_changes_values_and_conditions(self):
        if not browser.find():
            self.skipTest("chromium is not installed")
        hostile = '</script><script>window.hacked = 1</script>'
        a, b = self.runs("a", 300, 8, copy=1, ranges=("step", hostile)), self.runs("b", 400, 8, copy=1.3, gemm=1.2)
        p = self.rtl("diff", *a, "vs", *b, "-f", "html", "--fail-if", "kernel:gemm.* > +2%; copy:.* > 90%", status=1)
        self.assertNotIn(hostile, p.stdout)
        with open(self.path("diff.html"), "w", encoding="utf-8") as file:
            file.write(p.stdout)
        rows = self.rows(*a, "vs", *b)
        script = browser.axe(self.dir)
        with browser.Browser(self.dir) as chromium:
            for dark in (False, True):
                page = chromium.open(self.path("diff.html"), dark=dark)
                page.wait("document.querySelector('#kernel tbody')")
                shown = page.evaluate("""[...document.querySelectorAll('table')].map(t => [...t.querySelectorAll('tbody tr')].map(tr =>
                    [t.id, tr.querySelector('th').textContent, tr.querySelector('span.verdict').textContent,
                     tr.querySelector('.figure') && tr.querySelector('.figure').textContent])).flat()""")
                expected = {(what, name): row for (what, name), row in rows.items()}
                self.assertEqual({(what, name): verdict for what, name, verdict, _ in shown}, {k: r["verdict"] for k, r in expected.items()})
                change = next(c for what, name, _, c in shown if name.startswith("gemm"))
                self.assertEqual(change, f"+{100 * rows['kernel', 'gemm(float*, float*, float*, int)']['change']:.1f} %")
                self.assertEqual(page.evaluate("[...document.querySelectorAll('#conditions li')].map(e => e.className)"), ["bad", "good"])
                self.assertEqual(page.evaluate("document.getElementById('badge').textContent"), "1 of 2 conditions fail")
                page.click_on("#kernel tbody button")
                self.assertEqual(page.evaluate("document.querySelectorAll('#kernel-picked circle').length"), 16)
                if script:
                    page.evaluate(script)
                    self.assertEqual(page.violations(), [], "dark" if dark else "light")
                self.assertEqual((page.errors, len(page.requests), page.evaluate("window.hacked")), ([], 1, None))
        if not script:
            self.skipTest("axe-core is not there: npm can't fetch it; RTL_AXE=FILE names it")


if __name__ == "__main__":
    unittest.main()
