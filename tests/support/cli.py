# SPDX-License-Identifier: MIT
"""cli.py - what the tests of the command line share: `from support.cli import *`"""
import tempfile
import unittest

from support import *

SPOOL = os.path.join(SOURCE, "tests/support/spool.py")

# the tables of RPD's tracer, schema 2
RPD_TABLES = """
    create table rocpd_metadata(id integer primary key, tag text, value text);
    create table rocpd_string(id integer primary key, string text);
    create table rocpd_api(id integer primary key, pid int, tid int, start int, end int, apiName_id int, args_id int);
    create table rocpd_op(id integer primary key, gpuId int, queueId int, sequenceId int, completionSignal text,
        start int, end int, description_id int, opType_id int);
    create table rocpd_api_ops(id integer primary key, api_id int, op_id int);
    insert into rocpd_metadata(tag, value) values ('schema_version', '2');
"""


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

    def rtl(self, *args, status=0, env=None, stdin="", timeout=60, text=True, cwd=None, preexec_fn=None):
        p = subprocess.run([RTL_BIN, *args], cwd=cwd or self.dir, env=environment(env), capture_output=True, text=text,  # pylint: disable=subprocess-popen-preexec-fn
                           input=stdin if text else stdin.encode(), timeout=timeout, check=False, preexec_fn=preexec_fn)
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
