#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl diff: runs that differ by noise alone, planted changes, forms of output, the gate of --fail-if"""
import csv
import io
import json
import os
import random
import re
import subprocess

from support import browser, spool
from support.cli import *
import test_collective

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

    def all_rows(self, *args, **how):
        return {(r["what"], r["measure"], r["name"]): r for r in json.loads(self.rtl("diff", *args, "-f", "json", **how).stdout)}

    def rows(self, *args, **how):
        """The rows of medians."""
        return {(what, name): r for (what, measure, name), r in self.all_rows(*args, **how).items() if measure == "median"}


class Diff(Runs):
    def test_equal_runs_differ_by_noise(self):
        a, b = self.runs("a", 100), self.runs("b", 200)
        p = self.rtl("diff", *a, "vs", *b)
        # three names with a median, a total and a number each, and four measures of the whole runs
        self.assertIn("0 slower, 0 faster, 0 more often, 0 less often, 13 with no difference that can be distinguished from noise, 0 only on one side",
                      p.stderr)
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
        # medians, totals and the runs' wall, busy and total; numbers are the same in all runs
        self.assertIn("9 have too few values to tell; 6 runs on each side suffice", p.stderr)
        row = self.rows(*a, "vs", *b)["kernel", "gemm(float*, float*, float*, int)"]
        self.assertEqual((row["verdict"], row["change_low"]), ("too few", None))
        self.assertGreater(row["change"], 0.8)
        enough = self.rows(*self.runs("c", 30, 6), "vs", *self.runs("d", 40, 6, gemm=2))
        self.assertEqual(enough["kernel", "gemm(float*, float*, float*, int)"]["verdict"], "slower")

    def test_names_of_one_side_are_listed(self):
        a = self.run_of("a.rtl", 1, kernels=(GEMM,), ranges=("step", "a|b`c\n<i>"))
        b = self.run_of("b.rtl", 2, kernels=(SCALE,))
        rows = self.rows(a, b)
        self.assertEqual(rows["kernel", "gemm(float*, float*, float*, int)"]["verdict"], "only in A")
        self.assertEqual(rows["kernel", "scale(float*, int)"]["verdict"], "only in B")
        self.assertIsNone(rows["kernel", "scale(float*, int)"]["change"])
        lines = self.rtl("diff", a, b, "-f", "markdown").stdout.splitlines()
        self.assertEqual(lines[1], "|---:|---|---:|---:|---|---|---|---|")
        self.assertIn("| | | | | only in A | range | median | a\\|b\\`c?\\<i\\> |", lines)
        # of totals and numbers, those that differ: "step" is in each iteration of b, in every other of a
        self.assertEqual([line for line in lines if " count " in line], ["| +100.0 % |  | 20 | 40 | more often | range | count | step |"])
        self.assertEqual(len(lines), 2 + len(rows) + 2 + 1)
        table = list(csv.DictReader(io.StringIO(self.rtl("diff", a, b, "-f", "csv").stdout)))
        self.assertEqual({(r["what"], r["measure"], r["name"]) for r in table}, set(self.all_rows(a, b)))

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

    def test_numbers_totals_and_whole_runs_are_compared(self):
        a, b = self.run_of("a.rtl", 1, nr=40), self.run_of("b.rtl", 2, nr=400)
        p = self.rtl("diff", a, b)
        self.assertIn("more often", p.stdout)
        count = self.all_rows(a, b)["kernel", "count", "gemm(float*, float*, float*, int)"]
        self.assertEqual((count["verdict"], count["a_median_count"], count["b_median_count"], count["change"], count["p"]),
                         ("more often", 40, 400, 9, None))
        self.assertIn("fails 'kernel.count:gemm.* > 0%': above the limit, gemm(float*, float*, float*, int): +900.0 % (40, 400)",
                      self.rtl("diff", a, b, "--fail-if", "kernel.count:gemm.* > 0%", status=1).stderr)
        self.rtl("diff", a, b, "--fail-if", "count > 50%", status=1)
        self.rtl("diff", b, a, "--fail-if", "count > 50%; kernel.count:.* > 0%")
        a, b = self.runs("c", 100, 5), [self.run_of(f"d{i}.rtl", 200 + i, nr=80) for i in range(5)]
        rows = self.all_rows(*a, "vs", *b, "--by", "run")
        self.assertEqual(set(rows), {("run", m, "all") for m in ("wall", "busy", "total", "count")})
        for condition in ("total > +5%", "wall > 5", "busy > 50%", "count > 99%", "kernel.total:.* > 50%"):
            self.assertIn("fails", self.rtl("diff", *a, "vs", *b, "--fail-if", condition, status=1).stderr, condition)
        # as rtl summary shows them
        shown = json.loads(self.rtl("summary", a[0], "--by", "overview", "-f", "json").stdout)
        one = self.all_rows(a[0], a[0], "--by", "run")
        self.assertEqual(one["run", "wall", "all"]["a_median_ns"], shown["wall_ns"])

    def test_gate_with_too_few_runs_is_undecided(self):
        a, b = self.runs("a", 10, 5), self.runs("b", 20, 5, gemm=2)
        for nr, condition, status, needed in ((2, "kernel:gemm.* > +5%", 4, 5), (3, "kernel:gemm.* > +5%; wall > 5%", 4, 5), (3, "wall > 1000%", 4, 5),
                                              (5, "kernel:gemm.* > +5%", 1, None), (5, "kernel:gemm.* > +500%", 0, None),
                                              (2, "kernel:gemm.* > +5%; kernel.count:gemm.* < 10%", 4, 5)):
            for form in ("table", "html"):
                p = self.rtl("diff", *a[:nr], "vs", *b[:nr], "-f", form, "--fail-if", condition, status=status)
                if needed:
                    self.assertIn(f"{nr} and {nr} runs are too few; {needed} on each side suffice", p.stderr)
        # what fails is said before what can't be decided
        c = self.run_of("c.rtl", 1, nr=10)
        self.rtl("diff", a[0], c, "--fail-if", "wall > 5%; kernel.count:.* < -10%", status=1)
        d = self.run_of("d.rtl", 1, kernels=(GEMM,))
        self.assertIn("in one side's traces alone", self.rtl("diff", a[0], d, "--fail-if", "kernel:scale.* > 5%", status=4).stderr)
        p = self.rtl("diff", a[0], d, "--fail-if", "kernel:.* > 900%")
        self.assertIn("1 of 2 that match could not be compared", p.stderr)

    def test_runs_of_the_recipe_decide_its_condition(self):
        with open(os.path.join(SOURCE, "docs/recipes.md"), encoding="utf-8") as file:
            runs, condition = re.search(r"for i in ([\d ]+); do rtl trace .*?--fail-if '([^']*)'", file.read(), re.S).groups()
        nr, condition = len(runs.split()), condition.replace("vector_add", "gemm")
        a, b = self.runs("a", 10, nr), self.runs("b", 20, nr, gemm=1.5)
        self.assertIn(f"fails '{condition}'", self.rtl("diff", *a, "vs", *b, "--by", "kernel", "--fail-if", condition, status=1).stderr)
        self.rtl("diff", *b, "vs", *a, "--by", "kernel", "--fail-if", condition)
        self.rtl("diff", *a[1:], "vs", *b[1:], "--by", "kernel", "--fail-if", condition, status=4)

    def test_failures_are_no_regressions(self):
        a = self.run_of("a.rtl", 1, nr=5)
        with open(self.path("text.db"), "w", encoding="utf-8") as file:
            file.write("no trace")
        for args in ((a, "none.db"), (a, "text.db"), (a, self.dir), (a, a, "-o", "none/out.csv")):
            p = self.rtl("diff", *args, "--fail-if", "kernel:.* > 0%", status=3)
            self.assertNotIn("fails '", p.stderr)
        with open("/dev/full", "w", encoding="utf-8") as full:
            p = subprocess.run([RTL_BIN, "diff", a, a], cwd=self.dir, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(p.returncode, 3, p.stderr)

    def test_wrong_command_lines_are_refused(self):
        a = self.run_of("a.rtl", 1, nr=5)
        for args, words in (((a,), "FILE is missing"), ((a, a, a), "write vs between the two sides"), (("vs", a), "no file on one side"),
                            ((a, a, "--fail-if", "gemm > 5%"), "is no condition"), ((a, a, "--fail-if", "kernel:gemm > five"), "is no condition"),
                            ((a, a, "--fail-if", "thread:x > 5%"), "is no condition"), ((a, a, "--fail-if", "kernel:( > 5%"), "no regular expression"),
                            ((a, a, "--fail-if", " ; "), "is no condition"), ((a, a, "--fail-if", "kernel:none > 5%"), "nothing in the traces matches")):
            self.assertIn(words, self.rtl("diff", *args, status=2).stderr, args)
        self.assertIn("No such file", self.rtl("diff", a, "none.db", status=3).stderr)
        self.assertIn("--by leaves it out", self.rtl("diff", a, a, "--by", "kernel", "--fail-if", "wall > 5%", status=2).stderr)

    def test_documents_are_files_with_the_bytes_of_stdout(self):
        a, b = self.run_of("a.rtl", 1, nr=30), self.run_of("b.rtl", 2, nr=30)
        for form in ("table", "csv", "json", "markdown", "html"):
            p = self.rtl("diff", a, b, "-f", form)
            to_file = self.rtl("diff", a, b, "-f", form, "-q", "-o", f"out.{form}")
            with open(self.path(f"out.{form}"), encoding="utf-8") as file:
                self.assertEqual((file.read(), to_file.stdout, to_file.stderr), (p.stdout, "", ""), form)
        self.assertIn("exists already; use --force to overwrite it", self.rtl("diff", a, b, "-o", "out.csv", status=3).stderr)
        self.assertIn("out.csv: written", self.rtl("diff", a, b, "--force", "-o", "out.csv").stderr)
        self.assertIn("/dev/full: is a device; the shell can write to it: -o - > /dev/full",
                      self.rtl("diff", a, b, "--force", "-o", "/dev/full", status=3).stderr)
        self.assertEqual(self.rtl("diff", a, b, "-o", "/dev/stdout").stdout, self.rtl("diff", a, b).stdout)
        self.rtl("diff", a, self.run_of("c.rtl", 3, nr=30, gemm=1.5), "-o", "gate.csv", "--fail-if", "kernel:gemm.* > 5%", status=1)
        self.assertTrue(os.path.exists(self.path("gate.csv")))


class Ranks(Runs):
    """Jobs of several ranks."""

    job, lib = test_collective.Collectives.job, None

    def jobs(self, nr, **how):
        return [self.job(rounds=20, seed=70 + i, **how) for i in range(nr)]

    def test_collectives_are_compared(self):
        name = "ncclAllReduce, communicator 0"
        a, b, shorter = self.jobs(6), self.jobs(6, late=2), self.jobs(6, late=2, varies=5000)
        rows = {(m, n): r for (what, m, n), r in self.all_rows(*a, "vs", *b, "--by", "collective").items()}
        self.assertEqual({key: r["verdict"] for key, r in rows.items() if key[0] != "late"},
                         {("median", name): "slower", ("total", name): "slower", ("count", name): "equal", ("skew", name): "slower",
                          ("transfer", name): "equal" if rows["transfer", name]["verdict"] == "equal" else "noise", ("wait", name): "slower"})
        late = rows["late", f"{name}, rank 2"]
        self.assertEqual((late["verdict"], late["b_values"], late["b_count"]), ("only in B", 6, None))
        self.assertEqual((rows["count", name]["a_median_count"], rows["transfer", name]["b_median_ns"]), (20, 40_000))
        self.assertAlmostEqual(rows["skew", name]["b_median_ns"], 300_000, delta=10_000)
        self.assertEqual({r["verdict"] for (m, n), r in {(m, n): r for (what, m, n), r in self.all_rows(*b, "vs", *shorter, "--by", "collective").items()}.items() if m == "late"}, {"noise"})
        for condition, status in ((f"collective.late:{name}, rank 2 > 5%", 1), ("collective.skew:ncclAllReduce.* > 50%", 1), ("collective:.* > 50%", 1), ("collective.wait:.* > 50%", 1),
                                  ("collective.transfer:.* > 5%; collective.count:.* > 0%", 0), ("kernel.skew:.* > 5%", 2), ("late > 5%", 2)):
            p = self.rtl("diff", *a, "vs", *b, "--fail-if", condition, status=status)
            self.assertEqual("fails" in p.stderr, status == 1, condition)
        # one run on a side: single collectives are compared
        rows = {(m, n): r for (what, m, n), r in self.all_rows(a[0], b[0], "--by", "collective").items()}
        self.assertEqual((rows["skew", name]["verdict"], rows["skew", name]["a_values"], rows["wait", name]["verdict"]), ("slower", 20, "too few"))
        self.assertIn("| collective | skew | ncclAllReduce, communicator 0 |", self.rtl("diff", *a, "vs", *b, "-f", "markdown").stdout)

    def test_page_has_collectives(self):
        if not browser.find():
            self.skipTest("chromium is not installed")
        if not browser.find():
            self.skipTest("Chromium is not installed here")
        a, b = self.jobs(1), [self.job(rounds=20, seed=80, late=2)]
        self.rtl("diff", *a, *b, "-f", "html", "-o", "diff.html")
        with browser.Browser(self.dir) as chromium:
            page = chromium.open(self.path("diff.html"), dark=False)
            page.wait("document.querySelector('#collective tbody')")
            shown = page.evaluate("""[...document.querySelectorAll('#collective tbody tr')].map(tr => [tr.querySelector('td.measure').textContent,
                tr.querySelector('th').textContent, tr.querySelector('span.verdict').textContent])""")
            self.assertIn(["late", "ncclAllReduce, communicator 0, rank 2", "only in B"], shown)
            self.assertIn(["skew", "ncclAllReduce, communicator 0", "slower"], shown)
            page.evaluate("[...document.querySelectorAll('#collective tbody tr')].find(tr => tr.querySelector('td.measure').textContent === 'skew').querySelector('button').click()")
            self.assertEqual(page.evaluate("document.querySelectorAll('#collective-picked circle').length"), 40)
            self.assertIn("Each dot is a duration", page.evaluate("document.querySelector('#collective-picked figcaption').textContent"))
            self.assertEqual(page.errors, [])

    def test_runs_without_collectives_have_no_rows_of_them(self):
        a = self.run_of("a.rtl", 1, nr=5)
        self.assertEqual({what for what, _, _ in self.all_rows(a, a)}, {"kernel", "range", "run"})


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
        rows = self.all_rows(*a, "vs", *b)
        script = browser.axe(self.dir)
        with browser.Browser(self.dir) as chromium:
            for dark in (False, True):
                page = chromium.open(self.path("diff.html"), dark=dark)
                page.wait("document.querySelector('#kernel tbody')")
                shown = page.evaluate("""[...document.querySelectorAll('table')].map(t => [...t.querySelectorAll('tbody tr')].map(tr =>
                    [t.id, tr.querySelector('td.measure').textContent, tr.querySelector('th').textContent, tr.querySelector('span.verdict').textContent,
                     tr.querySelector('.figure') && tr.querySelector('.figure').textContent])).flat()""")
                news = {k: r["verdict"] for k, r in rows.items() if k[1] not in ("total", "count") or r["verdict"] in ("slower", "faster", "more often", "less often")}
                self.assertEqual({(what, measure, name): verdict for what, measure, name, verdict, _ in shown}, news)
                change = next(c for what, measure, name, _, c in shown if measure == "median" and name.startswith("gemm"))
                self.assertEqual(change, f"+{100 * rows['kernel', 'median', 'gemm(float*, float*, float*, int)']['change']:.1f} %")
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
