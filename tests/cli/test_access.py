#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Who can read an output: its owner alone if it has arguments of calls, else those whom the umask allows"""
import sqlite3
import stat
import sys

from support import spool
from support.cli import *

PY = sys.executable
CALLS = (f"import sys; sys.path.insert(0, {os.path.dirname(SPOOL)!r}); import os, spool\n"
         "spool.calls().write(os.environ['RTL_SESSION'] + '/1.rtl')")
FORMATS = {"perfetto": "o.json", "chrome": "o.json.gz", "kineto": "o.pt.trace.json", "csv": "o.csv", "rpd": "o.db"}


class Access(Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.umask, os.umask(0o022))

    def modes(self):
        return {name: stat.S_IMODE(os.stat(self.path(name)).st_mode) for name in self.files() if name.startswith(("o.", "trace.db"))}

    def equal_modes(self, mode):
        modes = self.modes()
        self.assertTrue(modes)
        self.assertEqual(set(modes.values()), {mode}, {name: oct(m) for name, m in modes.items()})
        for name in modes:
            os.unlink(self.path(name))

    def check(self, *args, private=True, env=None):
        """Modes under several umasks; private: unless --public or its variable is set."""
        for umask in (0o022, 0o000, 0o077, 0o777):
            os.umask(umask)
            self.rtl(*args, env=env)
            self.equal_modes(0o600 if private else 0o666 & ~umask)
        os.umask(0o022)
        self.rtl(args[0], "--public", *args[1:], env=env)
        self.equal_modes(0o644)
        self.rtl(*args, env={**(env or {}), "RTL_PUBLIC": "1"})
        self.equal_modes(0o644)

    def test_traces(self):
        self.check("trace", "-q", PY, "-c", CALLS)
        self.check("trace", "-q", PY, SPOOL, "5", private=False)

    def test_exports_and_databases(self):
        spool.calls().write(self.path("calls.rtl"))
        spool.sample(5).write(self.path("none.rtl"))
        for name in ("calls", "none"):
            self.rtl("recover", "-q", "-o", name + ".db", name + ".rtl")
        for name, private in (("calls", True), ("none", False)):
            for source in (name + ".rtl", name + ".db"):
                for form, out in FORMATS.items():
                    self.check("convert", source, "-q", "-f", form, "-o", out, private=private)
                if private:
                    self.check("merge", "-q", "-o", "o.db", "none.db", source)
            self.check("recover", "-q", "-o", "o.db", name + ".rtl", private=private)

    def test_database_of_rpd(self):
        """RPD's own tables have the arguments in another one; marker texts are none."""
        for args, name, private in (("(ptr=1)", "hipMalloc", True), ("", "hipMalloc", False), ("epoch 1", "UserMarker", False)):
            db = sqlite3.connect(self.path("rpd.db"))
            db.executescript(f"""
                create table rocpd_string(id integer primary key, string text);
                create table rocpd_op(id integer primary key, gpuId int, queueId int, sequenceId int, completionSignal text,
                    start int, end int, description_id int, opType_id int);
                create table rocpd_api(id integer primary key, pid int, tid int, start int, end int, apiName_id int, args_id int);
                create table rocpd_api_ops(id integer primary key, api_id int, op_id int);
                create table rocpd_metadata(id integer primary key, tag text, value text);
                insert into rocpd_string values (1, '{name}'), (2, '{args}'), (3, 'k'), (4, 'KernelExecution');
                insert into rocpd_api values (1, 7, 7, 100, 200, 1, 2);
                insert into rocpd_op values (1, 0, 0, 0, '', 300, 400, 3, 4);
                insert into rocpd_api_ops values (1, 1, 1);""")
            db.close()
            for form in ("perfetto", "rpd"):
                self.check("convert", "rpd.db", "-q", "-f", form, "-o", "o.out", private=private)
            os.unlink(self.path("rpd.db"))

    def test_replaced_file_gets_the_new_mode(self):
        spool.calls().write(self.path("calls.rtl"))
        with open(self.path("o.db"), "w", encoding="ascii") as f:
            f.write("x")
        os.chmod(self.path("o.db"), 0o666)
        self.rtl("recover", "-q", "--force", "-o", "o.db", "calls.rtl")
        self.equal_modes(0o600)


if __name__ == "__main__":
    unittest.main(verbosity=1)
