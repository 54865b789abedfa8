#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""convert -f csv and summary --columns rocprof: names of files, options, refused arguments, with traces of spool.py"""
import csv
import os

from support import spool
from support.cli import *

STATS = ["Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage"]


class Csv(Case):
    def trace_file(self):
        spool.calls().write(self.path("a.rtl"))
        return "a.rtl"

    def rows(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return list(csv.reader(file))

    def test_missing_folder_is_created(self):
        p = self.rtl("convert", self.trace_file(), "-f", "csv", "-o", "new/")
        self.assertEqual(p.stdout, "")
        names = sorted(os.listdir(self.path("new")))
        self.assertIn("hip_stats.csv", names)
        self.assertIn(f"{len(names)} files written", p.stderr)
        self.assertEqual(self.rows("new/hip_stats.csv")[0], STATS)

    def test_default_names_begin_with_traces_name(self):
        self.rtl("convert", self.trace_file(), "-f", "csv", "-q")
        names = self.files()
        self.assertIn("a.csv", names)
        self.assertIn("a.stats.csv", names)
        self.assertIn("a.hip_stats.csv", names)

    def test_existing_files_are_not_overwritten(self):
        self.rtl("convert", self.trace_file(), "-f", "csv", "-o", "r.csv", "-q")
        before = {n: os.stat(self.path(n)).st_ino for n in self.files()}
        os.unlink(self.path("r.csv"))  # the first one
        p = self.rtl("convert", "a.rtl", "-f", "csv", "-o", "r.csv", status=1)
        self.assertIn("--force", p.stderr)
        self.assertNotIn("r.csv", self.files())
        self.rtl("convert", "a.rtl", "-f", "csv", "-o", "r", "--force")
        self.assertEqual(self.files(), sorted(before))

    def test_stdout_is_refused_for_several_files(self):
        p = self.rtl("convert", self.trace_file(), "-f", "csv", "-o", "-", status=1)
        self.assertIn("several files", p.stderr)

    def test_trace_and_statistics_have_same_sums(self):
        self.rtl("convert", self.trace_file(), "-f", "csv", "-o", "d/", "-q")
        calls = self.rows("d/hip_api_trace.csv")[1:]
        stats = {row[0]: (int(row[1]), int(row[2])) for row in self.rows("d/hip_stats.csv")[1:]}
        sums = {}
        for _, name, _, _, _, begin, end in calls:
            n, ns = sums.get(name, (0, 0))
            sums[name] = (n + 1, ns + int(end) - int(begin))
        self.assertEqual(stats, sums)

    def test_summary_with_rocprofs_columns(self):
        self.rtl("convert", self.trace_file(), "-f", "csv", "-o", "d/", "-q")
        for by, name in (("kernel", "stats"), ("copy", "copy_stats")):
            p = self.rtl("summary", "a.rtl", "--by", by, "--format", "csv", "--columns", "rocprof")
            with open(self.path(f"d/{name}.csv"), encoding="utf-8") as file:
                self.assertEqual(p.stdout, file.read())
        one = self.rtl("summary", "a.rtl", "--by", "api", "--format", "csv", "--columns", "rocprof", "-n", "1").stdout
        self.assertEqual(len(one.splitlines()), 2)
        # the default columns are unchanged
        self.assertIn("total_ns", self.rtl("summary", "a.rtl", "--format", "csv").stdout.splitlines()[0])

    def test_domain_option_selects_calls(self):
        both = self.rtl("summary", self.trace_file(), "--by", "api", "--format", "csv").stdout.splitlines()[1:]
        hip = self.rtl("summary", "a.rtl", "--by", "api", "--domain", "hip", "--format", "csv").stdout.splitlines()[1:]
        hsa = self.rtl("summary", "a.rtl", "--by", "api", "--domain", "hsa", "--format", "csv").stdout.splitlines()[1:]
        self.assertEqual(len(both), len(hip) + len(hsa))
        self.assertTrue(hip and all(line.rpartition(",")[2].lstrip('"_').startswith("hip") for line in hip), hip)

    def test_invalid_options_are_refused(self):
        name = self.trace_file()
        for args, part in ((("--columns", "rocprof"), "--format csv"),
                           (("--columns", "rocprof", "--format", "csv", "--by", "gpu"), "no such table"),
                           (("--columns", "rocprof", "--format", "csv", "--internal"), "no such table"),
                           (("--domain", "hip"), "--by api"),
                           (("--columns", "excel"), "rocprof")):
            self.assertIn(part, self.rtl("summary", name, *args, status=2).stderr, args)


if __name__ == "__main__":
    unittest.main(verbosity=1)
