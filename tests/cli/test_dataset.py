#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl trace -o DIR/ and rtl recover DIR: each rank adds its folder to a data set, whole or visibly not"""
import collections
import glob
import json
import signal
import stat
import sys
import time

from support import parquet
from support.cli import *

PY = sys.executable
TABLES = 9


def rank(number, size=3, job="77"):
    return {"OMPI_COMM_WORLD_RANK": str(number), "OMPI_COMM_WORLD_SIZE": str(size), "SLURM_JOB_ID": job}


class Set(Case):
    def folders(self):
        return sorted(os.path.relpath(f, self.path("set")) for f in glob.glob(self.path("set/*/*")))

    def marks(self):
        return sorted(f for f in glob.glob(self.path("set/.unfinished-*")) if not f.endswith((".db", ".spool", "-journal")) and ".db." not in f)

    def kernels(self, folder):
        files = glob.glob(self.path(f"set/{folder}/*.parquet"))
        self.assertEqual(len(files), TABLES)
        for name in files:
            parquet.read(name)
        return len(parquet.read(self.path(f"set/{folder}/dispatches.parquet")).rows)


class Trace(Set):
    def test_each_rank_adds_its_folder(self):
        said = []
        for n in (1, 0, 2):
            said.append(self.trace("-o", "set/", PY, SPOOL, str(3 + n), env=rank(n)).stderr)
        self.assertEqual(self.folders(), ["job=77/rank=0", "job=77/rank=1", "job=77/rank=2"])
        self.assertEqual([self.kernels(f) for f in self.folders()], [3, 4, 5])
        self.assertEqual(os.listdir(self.path("set")), ["job=77"])
        self.assertEqual([s for s in said if s], [said[1]])
        self.assertRegex(said[1], r"^rtl trace: each of the 3 ranks adds its folder to the data set set; rank 0: 3 dispatches .*, complete\n$")

    def test_directory_without_a_slash_and_patterns(self):
        os.mkdir(self.path("set"))
        p = self.trace("-o", "set", PY, SPOOL, "4")
        self.assertIn("set: 4 dispatches", p.stderr)
        self.assertEqual(self.folders(), ["job=0/rank=-1"])
        self.trace("-q", "-o", "r%q{WHO}/", PY, SPOOL, "4", env={"WHO": "7"})
        self.assertEqual(os.listdir(self.path("r7")), ["job=0"])
        self.trace("-q", "-o", ".", PY, SPOOL, "4", env=rank(5, job="x"), cwd=self.path("set"))
        self.assertEqual(self.folders(), ["job=0/rank=-1", "job=x/rank=5"])

    def test_folder_that_exists_is_refused_before_the_program_runs(self):
        self.trace("-q", "-o", "set/", PY, SPOOL, "4", env=rank(1))
        p = self.trace("-o", "set/", "touch", "ran", env=rank(1), status=125)
        self.assertIn("job=77/rank=1: exists already; use --force to replace it, or another directory", p.stderr)
        self.assertEqual(self.files(), ["set"])
        for command in ("summary", "info"):
            self.assertIn("set: is a data set of many ranks, which rtl fleet reads: rtl fleet set", self.rtl(command, "set", status=1).stderr)
        self.trace("-q", "--force", "-o", "set/", PY, SPOOL, "6", env=rank(1))
        self.assertEqual(self.kernels("job=77/rank=1"), 6)

    def test_rank_that_is_started_again_has_a_job_of_its_own(self):
        """Neither start is lost, whichever ends first; rtl fleet compares the ranks of each."""
        for start in range(3):
            for n in range(2):
                env = {"RANK": str(n), "WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "train", "TORCHELASTIC_RESTART_COUNT": str(start)}
                self.trace("-q", "-o", "set/", PY, SPOOL, str(3 + 2 * start + n), env=env)
        self.assertIn("exists already", self.trace("-o", "set/", "touch", "ran", env=env, status=125).stderr)
        jobs = ("train", "train-restart1", "train-restart2")
        folders = [f"job={job}/rank={n}" for job in jobs for n in range(2)]
        self.assertEqual(self.folders(), sorted(folders))
        self.assertEqual([self.kernels(f) for f in folders], [3, 4, 5, 6, 7, 8])
        rows = json.loads(self.rtl("fleet", "-f", "json", "--engine", "sqlite", "--by", "ranks", "set").stdout)
        self.assertEqual(sorted((row["job"], row["rank"], row["dispatches"]) for row in rows), [(job, n, 3 + 2 * start + n) for start, job in enumerate(jobs) for n in range(2)])
        one = json.loads(self.rtl("fleet", "-f", "json", "--engine", "sqlite", "--by", "ranks", "--job", "train-restart1", "set").stdout)
        self.assertEqual([row["dispatches"] for row in one], [5, 6])

    def test_nothing_recorded_leaves_nothing(self):
        self.trace("-o", "set/", "true")
        self.trace("-o", "set/", "no-such-program", status=127)
        self.assertEqual(self.files(), [])

    def test_what_writes_databases_is_refused(self):
        for options, word in ((("--split", "1G"), "--split"), (("--trigger-error",), "--trigger-error"), (("--snapshot-on-usr2",), "--snapshot-on-usr2")):
            p = self.trace("-o", "set/", *options, "touch", "ran", status=125)
            self.assertIn(word, p.stderr)
            self.assertIn("data set", p.stderr)
        self.assertIn("%r", self.trace("-o", "set-%r/", "touch", "ran", status=125).stderr)
        self.assertEqual(self.files(), [])

    def test_full_disk_costs_its_rank_alone(self):
        """The database fits, the folder does not: what is there stays, and recover finishes the rank."""
        self.trace("-q", "-o", "set/", PY, SPOOL, "4", env=rank(0))
        os.mkdir(self.path("set/job=77/.keep"))
        os.chmod(self.path("set/job=77"), 0o500)
        self.addCleanup(os.chmod, self.path("set/job=77"), 0o700)
        if os.access(self.path("set/job=77"), os.W_OK):
            # root may write there: a file has the name of the folder
            os.rmdir(self.path("set/job=77/.keep"))
            os.rename(self.path("set/job=77"), self.path("set/away"))
            with open(self.path("set/job=77"), "w", encoding="ascii"):
                pass
        p = self.trace("-o", "set/", PY, SPOOL, "5", env=rank(1), status=125)
        self.assertIn("nothing is lost: 'rtl recover", p.stderr)
        self.assertEqual(len(self.marks()), 1)
        if os.path.isfile(self.path("set/job=77")):
            os.unlink(self.path("set/job=77"))
            os.rename(self.path("set/away"), self.path("set/job=77"))
        os.chmod(self.path("set/job=77"), 0o700)
        self.rtl("recover", "set")
        self.assertEqual([self.kernels(f"job=77/rank={n}") for n in (0, 1)], [4, 5])
        self.assertEqual(self.marks(), [])

    def test_arguments_are_private(self):
        self.addCleanup(os.umask, os.umask(0o022))
        self.trace("-q", "-o", "set/", PY, SPOOL, "4")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("set/job=0/rank=-1/calls.parquet")).st_mode), 0o644)


class Recover(Set):
    def test_kept_raw_trace_is_finished(self):
        self.trace("-o", "set/", "--no-convert", PY, SPOOL, "6", env=rank(2))
        self.assertEqual(self.folders(), [])
        mark, = self.marks()
        with open(mark, encoding="ascii") as f:
            text = f.read()
        self.assertIn("rank 2\njob 77\nspool ", text)
        self.rtl("recover", "set")
        self.assertEqual(self.kernels("job=77/rank=2"), 6)
        self.assertEqual(os.listdir(self.path("set")), ["job=77"])
        self.assertIn("set: no rank is unfinished", self.rtl("recover", "set", status=1).stderr)

    def test_raw_trace_elsewhere(self):
        self.trace("-o", "set/", "--spool-dir", "local", "--no-convert", PY, SPOOL, "6", env=rank(2))
        self.rtl("recover", "set")
        self.assertEqual(self.kernels("job=77/rank=2"), 6)
        self.assertEqual(os.listdir(self.path("set")), ["job=77"])
        self.assertEqual(os.listdir(self.path("local")), [])

    def test_spool_into_a_data_set(self):
        self.trace("-o", "x.db", "--no-convert", PY, SPOOL, "6")
        self.rtl("recover", "-o", "set/", "x.db.spool")
        self.assertEqual(self.kernels("job=0/rank=-1"), 6)
        self.assertEqual(os.listdir(self.path("set")), ["job=0"])

    def test_running_rank_is_left_alone(self):
        p = self.start("trace", "-o", "set/", "sh", "-c", f"{PY} {SPOOL} 4; touch ready; cat fifo", env=rank(1))
        os.mkfifo(self.path("fifo"))
        wait_until("it runs", lambda: os.path.exists(self.path("ready")) or p.poll() is not None)
        q = self.rtl("recover", "set", status=1)
        self.assertIn("rank 1 of job 77: still runs", q.stderr)
        with open(self.path("fifo"), "w", encoding="ascii"):
            pass
        p.communicate(timeout=30)
        self.assertEqual(p.returncode, 0)
        self.assertEqual(self.kernels("job=77/rank=1"), 4)
        self.assertEqual(self.marks(), [])

    def test_rank_of_another_host_is_named(self):
        self.trace("-o", "set/", "--no-convert", PY, SPOOL, "6", env=rank(2))
        mark, = self.marks()
        with open(mark, encoding="ascii") as f:
            text = f.read()
        with open(mark, "w", encoding="ascii") as f:
            f.write("host elsewhere\n" + text.split("\n", 1)[1])
        p = self.rtl("recover", "set", status=1)
        self.assertIn("rank 2 of job 77: is not finished; on elsewhere: rtl recover", p.stderr)
        self.rtl("recover", "--force", "set")
        self.assertEqual(self.kernels("job=77/rank=2"), 6)

    def test_status_of_a_set(self):
        """Each unfinished rank, whether its rtl trace runs, and what finishes it."""
        self.trace("-q", "-o", "set/", "--no-convert", PY, SPOOL, "6", env=rank(2))
        with open(self.path("set/.unfinished-n7.x-12"), "w", encoding="ascii") as f:
            f.write("host n7.x\npid 12\nrank 3\njob 77\nspool /x\n")
        p = self.start("trace", "-q", "-o", "set/", PY, SPOOL, "7", env={**rank(1), "RTL_TEST_STALL": "output_begun:60000"})
        wait_until("it converts", lambda: glob.glob(self.path("set/job=77/.rank=1.tmp-*")) or p.poll() is not None)
        host = os.uname().nodename
        rows = {r["rank"]: r for r in json.loads(self.rtl("status", "-f", "json", "set/").stdout)}
        self.assertEqual({n: (r["job"], r["host"], r["state"], r["command"]) for n, r in rows.items()},
                         {1: ("77", host, "running", "the end of the program"), 2: ("77", host, "killed", "rtl recover set/"), 3: ("77", "n7.x", "not known here", "on n7.x: rtl recover set/")})
        self.assertEqual((rows[1]["pid"], rows[3]["pid"]), (p.pid, 12))
        p.send_signal(signal.SIGKILL)
        p.wait(20)
        said = self.rtl("status", "set")
        self.assertRegex(said.stdout.splitlines()[0], r"^JOB +RANK +HOST +PID +STATE +FOR +FINISHED BY$")
        self.assertIn("2 of 3 unfinished were killed on this host: rtl recover set finishes them", said.stderr)
        os.unlink(self.path("set/.unfinished-n7.x-12"))
        wait_until("both are finished", lambda: self.rtl("recover", "--force", "set", status=None).returncode == 0, 60)
        self.assertIn("set: no rank is unfinished", self.rtl("status", "set").stderr)
        self.assertIn("--format is of a data set", self.rtl("status", "-f", "json", "1", status=2).stderr)

    def test_marks_of_others_lead_nowhere(self):
        """A mark is text: no directory that rtl trace would not have made for it is read or deleted."""
        os.mkdir(self.path("set"))
        self.trace("-o", "precious", "--no-convert", PY, SPOOL, "6")
        for i, spool in enumerate((self.path("precious.spool"), "/", "../precious.spool", "x" * 5000)):
            with open(self.path(f"set/.unfinished-h-{i}"), "w", encoding="ascii") as f:
                f.write(f"host {os.uname().nodename}\nrank {i}\nspool {spool}\n")
        os.symlink("/etc/passwd", self.path("set/.unfinished-h-9"))
        self.rtl("recover", "--force", "set", status=None)
        self.assertEqual(len(os.listdir(self.path("precious.spool"))), 1)
        self.assertEqual(self.folders(), [])
        self.assertTrue(os.path.islink(self.path("set/.unfinished-h-9")))

    def whole_or_marked(self, env, kernels):
        """What is there after a kill: the folder, or a mark. Then recover finishes it."""
        if os.path.isdir(self.path("set")) and self.folders():
            self.assertEqual(self.kernels(self.folders()[0]), kernels)
        elif not self.marks():
            return False
        p = None

        def finished():
            nonlocal p
            p = self.rtl("recover", "--force", "set", status=None)
            return not self.marks()

        if self.marks():
            wait_until("the program has ended, and its rank is finished", finished, 60)
        shutil.rmtree(self.path("set"), ignore_errors=True)
        return True

    def test_killed_at_named_steps(self):
        for step in ("output_begun", "dataset_written"):
            p = self.start("trace", "-q", "-o", "set/", PY, SPOOL, "7", env={**rank(1), "RTL_TEST_STALL": f"{step}:60000"})
            there = "set/job=77/.rank=1.tmp-*" if step == "output_begun" else "set/job=77/rank=1"
            wait_until(step, lambda: glob.glob(self.path(there)) or p.poll() is not None)  # pylint: disable=cell-var-from-loop
            p.send_signal(signal.SIGKILL)
            p.wait(20)
            self.assertEqual(len(self.marks()), 1, step)
            self.assertEqual(len(self.folders()), step == "dataset_written")
            self.rtl("recover", "--force", "set")
            self.assertEqual(self.kernels("job=77/rank=1"), 7)
            self.assertEqual(self.marks(), [])
            shutil.rmtree(self.path("set"))

    def test_killed_at_any_time(self):
        """Of kills spread over a run each leaves the rank's folder whole, or a mark with which it is finished."""
        argv = ("trace", "-q", "-o", "set/", PY, SPOOL, "7")
        begin = time.monotonic()
        self.rtl(*argv, env=rank(1))
        whole = time.monotonic() - begin
        shutil.rmtree(self.path("set"))
        nr = 0
        for i in range(int(os.environ.get("DATASET_KILLS", "30"))):
            p = self.start(*argv, env=rank(1))
            try:
                p.wait(whole * (i % 30) / 28)
            except subprocess.TimeoutExpired:
                p.send_signal(signal.SIGKILL)
                p.wait(20)
            nr += self.whole_or_marked(rank(1), 7)
            shutil.rmtree(self.path("set"), ignore_errors=True)
        self.assertGreater(nr, 0)

    def test_conversion_killed_at_any_time(self):
        """rtl convert --force: the rank's folder is the old one or the new one, whole, and nothing else is in sight of a pattern."""
        for nr in (3, 7):
            self.trace("-q", "-o", f"{nr}.db", PY, SPOOL, str(nr))
        argv = ("convert", "-q", "--force", "-f", "parquet", "-o", "set", "7.db")
        begin = time.monotonic()
        self.rtl(*argv)
        whole = time.monotonic() - begin
        seen = collections.Counter()
        for i in range(int(os.environ.get("DATASET_KILLS", "30"))):
            self.rtl("convert", "-q", "--force", "-f", "parquet", "-o", "set", "3.db")
            p = self.start(*argv)
            try:
                p.wait(whole * (i % 30) / 28)
            except subprocess.TimeoutExpired:
                p.send_signal(signal.SIGKILL)
                p.wait(20)
            self.assertEqual(self.folders(), ["job=0/rank=-1"])
            seen[self.kernels("job=0/rank=-1")] += 1
        self.assertLessEqual(set(seen), {3, 7}, seen)


if __name__ == "__main__":
    unittest.main()
