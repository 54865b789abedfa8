# SPDX-License-Identifier: MIT
"""cli.py - what the tests of the command line share: `from support.cli import *`"""
import tempfile
import unittest

from support import *

SPOOL = os.path.join(SOURCE, "tests/support/spool.py")


def environment(extra=None):
    # with what spool.py reads
    return clean_env({"RTL_SOURCE": SOURCE, "RTL_BUILD": BUILD, "TERM": "xterm", "COLUMNS": None, "NO_COLOR": None,
                      **(extra or {})})


class Case(unittest.TestCase):
    """A test in an empty directory of its own."""

    maxDiff = 2000

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="rtl-cli-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def rtl(self, *args, status=0, env=None, stdin="", timeout=60, text=True):
        p = subprocess.run([RTL_BIN, *args], cwd=self.dir, env=environment(env), capture_output=True, text=text,
                           input=stdin if text else stdin.encode(), timeout=timeout, check=False)
        if status is not None:
            self.assertEqual(p.returncode, status, f"{args}\nstdout {p.stdout[-2000:]!r}\nstderr {p.stderr[-2000:]!r}")
        return p

    def start(self, *args, env=None, **kwargs):
        p = subprocess.Popen([RTL_BIN, *args], cwd=self.dir, env=environment(env), stdin=subprocess.DEVNULL,
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
