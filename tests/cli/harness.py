# SPDX-License-Identifier: MIT
"""harness.py - what the tests of the command line share"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
os.environ.setdefault("RTL_SOURCE", os.path.dirname(os.path.dirname(HERE)))
BUILD = os.environ.get("RTL_BUILD", os.path.join(os.environ["RTL_SOURCE"], "build"))
RTL = os.path.join(BUILD, "bin/rtl")
SPOOL = os.path.join(HERE, "spool.py")
PREFIXES = ("RTL_", "VGPU_", "HSA_", "LD_", "OMPI_", "PMI_", "SLURM_", "COLUMNS", "NO_COLOR")


def environment(extra=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith(PREFIXES)}
    env["RTL_SOURCE"] = os.environ["RTL_SOURCE"]  # for spool.py
    env["TERM"] = "xterm"
    env.update(extra or {})
    return env


class Case(unittest.TestCase):
    """A test in an empty directory of its own."""

    maxDiff = 2000

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="rtl-cli-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def rtl(self, *args, status=0, env=None, stdin="", timeout=60, text=True):
        p = subprocess.run([RTL, *args], cwd=self.dir, env=environment(env), capture_output=True, text=text,
                           input=stdin if text else stdin.encode(), timeout=timeout, check=False)
        if status is not None:
            self.assertEqual(p.returncode, status, f"{args}\nstdout {p.stdout[-2000:]!r}\nstderr {p.stderr[-2000:]!r}")
        return p

    def start(self, *args, env=None, **kwargs):
        p = subprocess.Popen([RTL, *args], cwd=self.dir, env=environment(env), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)
        self.addCleanup(self.end, p)
        return p

    @staticmethod
    def end(p):
        if p.poll() is None:
            p.kill()
        p.communicate()

    def trace(self, *args, **kwargs):
        return self.rtl("trace", *args, **kwargs)

    def files(self):
        return sorted(os.listdir(self.dir))


def main():
    unittest.main(verbosity=1)
