#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""INT and TERM in every phase of every command: rtl ends with 128 + N, and nothing is lost

A build with internal checks can be stalled at named points (src/base/testpoint.h), so that a signal meets a phase that
is else over in no time. RTL_TEST_SIGNALS sets how many random moments are tried.
"""
import concurrent.futures
import random
import signal
import sqlite3
import subprocess
import sys
import time

from support import spool
from support.cli import *

PY = sys.executable
NR = 300  # dispatches of a small trace
HAS_POINTS = b"RTL_TEST_STALL" in open(RTL_BIN, "rb").read() and b"trace_prepared" in open(RTL_BIN, "rb").read()
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def dispatches(path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return db.execute("select count(*) from rtl_dispatch where not flags & 32").fetchone()[0]
    finally:
        db.close()


def wchan(p):
    """The kernel's function in which the main thread waits."""
    with contextlib.suppress(OSError), open(f"/proc/{p.pid}/task/{p.pid}/wchan", encoding="ascii") as f:
        return f.read()
    return ""


def is_stalled(p):
    """It sleeps at test points alone."""
    return "nanosleep" in wchan(p)


class Phases(Case):
    def setUp(self):
        super().setUp()
        if not HAS_POINTS:
            self.skipTest("this build has no test points")
        os.mkdir(self.path("tmp"))

    def stalled(self, point, *args, ms=1500):
        p = self.start(*args, env={"RTL_TEST_STALL": f"{point}:{ms}", "TMPDIR": self.path("tmp")})
        wait_until(f"rtl {args[0]} at {point}", lambda: is_stalled(p) or p.poll() is not None)
        self.assertIsNone(p.poll(), f"rtl {args} did not come to {point}: {p.stderr.read() if p.poll() else ''}")
        return p

    def ends(self, p, status):
        out, err = p.communicate(timeout=30)
        self.assertEqual(p.returncode, status, (out[-500:], err))
        left = [f for f in self.files() + os.listdir(self.path("tmp")) if ".tmp-" in f or f.startswith("rtl-")]
        self.assertEqual(left, [], err)
        return err

    def stopped_in_order(self, point, signo, *args):
        p = self.stalled(point, *args)
        p.send_signal(signo)
        err = self.ends(p, 128 + signo)
        self.assertIn(f"stopped by signal {signo:d}", err)
        return err

    def stopped_at_once(self, point, signo, *args):
        p = self.stalled(point, *args, ms=60000)
        p.send_signal(signo)
        time.sleep(0.3)
        self.assertIsNone(p.poll())
        p.send_signal(signo)
        return self.ends(p, 128 + signo)

    def in_both_ways(self, point, *args, check=lambda err: None):
        for signo in SIGNALS:
            check(self.stopped_in_order(point, signo, *args))
            check(self.stopped_at_once(point, signo, *args))

    # ---- rtl trace

    def test_trace_before_program_starts(self):
        def check(_):
            self.assertEqual([f for f in self.files() if f not in ("tmp", "trace.db.spool")], [])

        self.in_both_ways("trace_prepared", "trace", "touch", "ran", check=check)

    def recovered(self, err):
        self.assertIn("rtl recover", err)
        self.assertIn("trace.db.spool", err)
        self.assertNotIn("trace.db", self.files())
        self.rtl("recover", "--remove", "trace.db.spool")
        self.assertEqual(dispatches(self.path("trace.db")), NR)
        self.assertEqual(self.files(), ["tmp", "trace.db"])
        os.unlink(self.path("trace.db"))

    def test_trace_while_draining(self):
        self.in_both_ways("drainer_stops", "trace", PY, SPOOL, str(NR), check=self.recovered)

    def test_trace_while_database_is_written(self):
        for point in ("rpd_begun", "rpd_indexes"):
            self.in_both_ways(point, "trace", PY, SPOOL, str(NR), check=self.recovered)

    def test_trace_ignores_signals_that_the_program_got(self):
        """A signal for the program does not stop what comes after it."""
        p = self.start("trace", "sh", "-c", f"{PY} {SPOOL} 8; kill -TERM $PPID; kill -TERM 0", start_new_session=True)
        _, err = p.communicate(timeout=30)
        self.assertEqual(p.returncode, 143, err)
        self.assertEqual(dispatches(self.path("trace.db")), 8)

    def test_two_signals_of_one_moment_count_once(self):
        """As timeout(1) sends them: to rtl, and to the group of both."""
        script = f"{PY} {SPOOL} 8; trap 'sleep 0.5; exit 9' TERM; touch ready; while :; do sleep 0.02; done"
        p = self.start("trace", "sh", "-c", script, start_new_session=True)
        wait_until("the program", lambda: os.path.exists(self.path("ready")))
        p.send_signal(signal.SIGTERM)
        time.sleep(0.02)
        os.killpg(p.pid, signal.SIGTERM)
        _, err = p.communicate(timeout=30)
        self.assertEqual(p.returncode, 9, err)
        self.assertNotIn("still runs", err)
        self.assertEqual(dispatches(self.path("trace.db")), 8)

    def test_second_termination_ends_wait(self):
        p = self.start("trace", "sh", "-c", f"{PY} {SPOOL} 8; trap '' TERM; touch ready; exec sleep 20 > /dev/null 2>&1",
                       start_new_session=True)
        wait_until("the program", lambda: os.path.exists(self.path("ready")))
        for _ in range(2):
            time.sleep(0.3)
            p.send_signal(signal.SIGTERM)
        _, err = p.communicate(timeout=15)
        os.killpg(p.pid, signal.SIGKILL)
        self.assertEqual(p.returncode, 143)
        self.assertIn("still runs; its trace ends here", err)
        self.assertEqual(dispatches(self.path("trace.db")), 8)

    # ---- commands that write

    def raw(self, name="a.rtl", is_killed=False):
        spool.sample(NR).write(self.path(name), 12345 if is_killed else None)
        return name

    def test_convert(self):
        self.raw()
        for form, out in (("chrome", "o.json"), ("kineto", "o.json"), ("chrome", "o.json.gz"), ("csv", "o.csv"), ("rpd", "o.db")):
            for point in ("rpd_begun", "output_begun"):
                if (form, point) == ("rpd", "output_begun"):
                    continue
                self.in_both_ways(point, "convert", "a.rtl", "-f", form, "-o", out,
                                  check=lambda err: self.assertNotIn(out, self.files()))
                self.assertEqual(self.files(), ["a.rtl", "tmp"])

    def test_convert_to_pipe_that_nobody_reads(self):
        s = spool.sample(5000)
        s.write(self.path("a.rtl"))
        p = self.start("convert", "a.rtl", "-f", "chrome", "-o", "-", env={"TMPDIR": self.path("tmp")})
        wait_until("rtl fills the pipe", lambda: "pipe" in wchan(p))
        p.send_signal(signal.SIGTERM)
        p.wait(20)
        self.assertEqual(p.returncode, 143)
        self.assertIn("stopped by signal 15; the output ends here", self.ends(p, 143))

    def test_merge(self):
        self.raw()
        self.raw("b.rtl")
        self.in_both_ways("rpd_begun", "merge", "-o", "o.db", "a.rtl", "b.rtl",
                          check=lambda err: self.assertEqual(self.files(), ["a.rtl", "b.rtl", "tmp"]))

    def test_recover(self):
        def check(_):
            self.rtl("recover", "-o", "o.db", "a.rtl")
            self.assertEqual(dispatches(self.path("o.db")), NR)
            os.unlink(self.path("o.db"))

        for point in ("rpd_begun", "rpd_indexes"):
            for signo in SIGNALS:
                for how in (self.stopped_in_order, self.stopped_at_once):
                    self.raw(is_killed=True)
                    check(how(point, signo, "recover", "--remove", "-o", "o.db", "a.rtl"))
                    for name in ("a.rtl", "a.mem"):
                        with contextlib.suppress(FileNotFoundError):
                            os.unlink(self.path(name))

    # ---- commands that read: they have nothing to finish

    def test_readers_end_at_once(self):
        self.raw()
        for point, args in (("rpd_begun", ("summary", "a.rtl")), ("command", ("summary", "a.rtl")), ("command", ("doctor",)),
                            ("command", ("info", "a.rtl")), ("info_reads", ("info", "a.rtl"))):
            for signo in SIGNALS:
                p = self.stalled(point, *args, ms=60000)
                p.send_signal(signo)
                self.ends(p, 128 + signo)


class Abandoned(Case):
    """A second signal ends rtl trace while its program goes on."""

    def test_program_that_loads_the_runtime_later_is_recovered(self):
        script = f"exec 2>/dev/null; trap '' INT; : > began; while [ ! -e go ]; do sleep 0.02; done; {PY} {SPOOL} {NR}; : > ended"
        p = subprocess.Popen([RTL_BIN, "trace", "sh", "-c", script], cwd=self.dir, env=environment(), stdin=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, start_new_session=True)
        wait_until("the program", lambda: os.path.exists(self.path("began")))
        p.send_signal(signal.SIGINT)
        time.sleep(0.2)
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=30)[1]
        self.assertEqual(p.returncode, 128 + signal.SIGINT, err)
        self.assertIn("sh still runs; its trace ends here", err)
        self.assertIn("nothing to trace: sh loaded no ROCm runtime so far", err)
        self.assertIn("'rtl recover", err)
        open(self.path("go"), "w", encoding="ascii").close()
        wait_until("the program's end", lambda: os.path.exists(self.path("ended")), 60)
        self.rtl("recover", "--remove", "trace.db.spool")
        self.assertEqual(dispatches(self.path("trace.db")), NR)
        self.assertFalse(os.path.exists(self.path("trace.db.spool")))


class Moments(Case):
    """Signals at random moments of rtl trace, whose program ignores them."""

    COUNT = int(os.environ.get("RTL_TEST_SIGNALS", "1000" if LONG else "30"))
    SEED = int(os.environ.get("RTL_TEST_SEED", str(int(time.time()))))

    def one(self, i, rng_seed, span):
        rng = random.Random(rng_seed)
        folder = self.path(str(i))
        os.mkdir(folder)
        nr = 20000
        script = f"trap '' INT TERM; : > began; {PY} {SPOOL} {nr}; : > ended"
        delays = [rng.uniform(0, span) for _ in range(rng.choice((1, 1, 2, 3)))]
        p = subprocess.Popen([RTL_BIN, "trace", "sh", "-c", script], cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, start_new_session=True)
        for delay in sorted(delays):
            time.sleep(max(0, delay))
            if p.poll() is None:
                p.send_signal(rng.choice(SIGNALS))
        _, err = p.communicate(timeout=60)
        what = f"{i}: seed {rng_seed!r}, delays {delays}: status {p.returncode}, {sorted(os.listdir(folder))}\n{err}"
        there = os.path.exists
        if not there(os.path.join(folder, "began")):
            # one in the first moments comes before rtl has a handler
            early = min(delays) < 0.05 and p.returncode in (-signal.SIGINT, -signal.SIGTERM)
            return f"{what}: no program, no signal" if p.returncode not in (130, 143) and not early else None
        wait_until("the program's end", lambda: there(os.path.join(folder, "ended")), 60)
        left = [f for f in os.listdir(folder) if ".tmp-" in f]
        db, raw = os.path.join(folder, "trace.db"), os.path.join(folder, "trace.db.spool")
        if p.returncode not in (0, 130, 143) or left:
            return what
        if there(raw):
            r = subprocess.run([RTL_BIN, "recover", "--force", "--remove", raw], capture_output=True, text=True, env=environment(),
                               check=False)
            if r.returncode:
                return what + r.stderr
        if not there(db) or dispatches(db) != nr:
            return what
        shutil.rmtree(folder)
        return None

    def test_random_moments_lose_nothing(self):
        began = time.monotonic()
        self.one("first", "none", 0)
        span = max(1.2, 2 * (time.monotonic() - began))
        print(f"{self.COUNT} runs, RTL_TEST_SEED={self.SEED}, over {span:.2f} s")
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            failed = [f for f in pool.map(lambda i: self.one(i, f"{self.SEED} {i}", span), range(self.COUNT)) if f]
        self.assertEqual(failed[:3], [], f"{len(failed)} of {self.COUNT}")


if __name__ == "__main__":
    unittest.main(verbosity=1)
