#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Texts of others: escapes, C1, marks of direction, newlines, bytes that are not UTF-8 and formulas in every text of a trace; every output is neutral"""
import csv
import io
import json
import re
import shutil
import sqlite3
import stat
import unicodedata

from support import spool
from support.cli import *
from support.process import IDLE, RECORDING, Process
from support.terminal import Terminal

# A name begins like a formula, and ends in what terminals, viewers and parsers act on.
BEGINS = (b"=cmd|' /C calc'!A0", b"+1+1", b"@SUM(1)", b"-2+3", b"\t=1+1")
ENDS = (b"\x1b]0;PWNED\x07\x1b[2J\x1b[31m\x7f\xc2\x9b31m\xe2\x80\xae\xe2\x80\xa8\xef\xbb\xbf\xff\xfe\xed\xa0\x80\xc0\xaf"
        b"\nverdict: forged\r\n,\"q\";%s%n${x}&lt;</script><script>document.title='PWNED'</script>]]>")
INVISIBLE = {"Cc", "Cf", "Zl", "Zp", "Cs"}
BY = "kernel,api,copy,marker,range,stream,gpu,process,rank,graph,error,gap,path"
BINARY = ("pftrace", "rocprofv3-pftrace", "rocprofv3-otf2", "rocpd3", "otf2", "parquet", "rpd")


class Hostile(spool.Spool):
    """A spool whose texts are hostile, but for keys and signatures."""
    plain = False

    def string(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        if not self.plain:
            data = BEGINS[len(self.strings) % len(BEGINS)] + data + ENDS
        return super().string(data)

    def as_it_is(self, text):
        self.plain = True
        try:
            return self.string(text)
        finally:
            self.plain = False

    def info(self, key, value):
        # numbers are no texts
        value = self.as_it_is(value) if key in ("rank", "world_size", "mode", "version") else self.string(value)
        self.record("INFO", 0, key=self.as_it_is(key), value=value)

    def thread(self, tid, name):
        self.record("THREAD", tid, first_ns=self.start, name=b"=\x1b[31m\xc2\x9b\xff\n" + name.encode()[:5])

    def op(self, number, name, signature, domain=spool.HIP):
        self.record("OP", domain << 16 | number, name=self.as_it_is(name), signature=self.as_it_is(signature))
        return number

    def marker(self, time_ns, text, kind=spool.PUSH, level=0, parent=0):
        self.nr_markers += 1
        data = BEGINS[self.nr_markers % len(BEGINS)] + text.encode() + ENDS
        self.record("MARKER", self.tid, 0, b"", time_ns=time_ns, marker=self.nr_markers, parent=parent, kind=kind, level=level,
                    text_size=super().string(data))
        return self.nr_markers


class Outputs(Case):
    def setUp(self):
        super().setUp()
        spools, spool.Spool = spool.Spool, Hostile
        try:
            trace = spool.calls(rank=1, world_size=2)
        finally:
            spool.Spool = spools
        for key in ("cwd", "job", "rocm", "uname"):
            trace.info(key, "/some/where")
        trace.write(self.path("t.rtl"))
        self.rtl("merge", "-q", "-o", "t.db", "t.rtl")

    def neutral(self, what, data, keep="\n\t"):
        try:
            text = data.decode()
        except UnicodeDecodeError as e:
            self.fail(f"{what}: {e}: {data[max(e.start - 40, 0):e.end + 20]}")
        for i, c in enumerate(text):
            if c not in keep and (unicodedata.category(c) in INVISIBLE or c == "\x7f"):
                self.fail(f"{what}: U+{ord(c):04x} in {text[max(i - 40, 0):i + 20]!r}")
        return text

    def no_formulas(self, what, text):
        for row in csv.reader(io.StringIO(text)):
            for cell in row:
                if cell[:1] and cell[0] in "=+-@\t\r" and not re.fullmatch(r"-?[0-9.e+-]+", cell):
                    self.fail(f"{what}: a cell is {cell!r}")

    def printed(self, *command, status=0):
        """stdout and stderr of a command, neutral; no line is the text's own."""
        p = self.rtl(*command, status=status, text=False)
        for name, data in (("stdout", p.stdout), ("stderr", p.stderr)):
            text = self.neutral(f"{command} {name}", data)
            if name == "stdout" and "csv" not in command:
                self.assertNotIn("verdict: forged", text.splitlines(), command)
        return p.stdout.decode()

    def test_text_on_a_terminal(self):
        for name in ("t.rtl", "t.db"):
            for command in (("info", name), ("summary", name), ("summary", name, "--by", BY), ("summary", name, "--internal"),
                            ("summary", name, "--by", "kernel", "--wide", "--names", "full"), ("summary", name, "--critical-path"),
                            ("summary", name, "--by", "kernel", "--names", "mangled"), ("diff", name, name), ("diff", name, name, "-f", "markdown")):
                seen = self.printed(*command)
                if "--critical-path" not in command:
                    self.assertIn("?", seen)

    def test_what_a_running_process_says(self):
        process = Process(self.path("run"))
        hostile = BEGINS[0] + ENDS[:120]
        for state in (RECORDING, IDLE):
            process.says(state, text=hostile, spool=self.path("t.rtl").encode(), output=hostile, command=hostile)
            pid = str(process.pid)
            for command in (("ps",), ("ps", "-f", "json"), ("ps", "-f", "csv"), ("status", pid), ("top", pid, "--once", "-d", "100"), ("stop", pid)):
                p = self.rtl(*command, status=None, env=process.env, text=False, timeout=60)
                for name, data in (("stdout", p.stdout), ("stderr", p.stderr)):
                    text = self.neutral(f"{command} {name}", data)
                    if "csv" in command and name == "stdout":
                        self.no_formulas(command, text)
                if command[0] in ("ps", "status"):
                    self.assertIn(b"=cmd", p.stdout, command)
            # what it refuses with, and names of files
            process.says(state, text=hostile, spool=hostile, output=hostile, command=hostile, status=-22)
            for command in (("ps",), ("ps", "-f", "csv"), ("status", pid), ("top", pid, "--once", "-d", "100"), ("stop", pid), ("start", pid),
                            ("start", pid, "-o", "x.db"), ("snapshot", pid)):
                p = self.rtl(*command, status=None, env=process.env, text=False, timeout=60)
                self.neutral(f"{command}", p.stdout + p.stderr)
        process.close()

    def test_screens(self):
        """rtl tui: what it sends to its terminal are its own sequences alone."""
        for name in ("t.rtl", "t.db"):
            t = Terminal([RTL_BIN, "tui", name], environment({"LC_ALL": "C.UTF-8", "LANG": None}), 24, 120, "linux", self.dir)
            self.addCleanup(t.close)
            sent, feed = [], t.stream.feed
            t.stream.feed = lambda data, sent=sent, feed=feed: (sent.append(data), feed(data))
            t.until("KERNEL")
            for key, text in (("2", "GPU"), ("]", "takes"), ("3", "SHARE"), ("\r", "vadd"), ("\x1b", "SHARE"), ("4", "hip"), ("5", "HostToDevice"),
                              ("6", "train"), ("7", "GAP"), ("8", ""), ("9", "")):
                t.send(key)
                t.until(lambda now, text=text: text in now and "reading" not in now, key)
            t.send("q")
            t.wait()
            data = b"".join(sent)
            self.assertNotIn(b"\x1b]", data)
            self.assertNotIn("PWNED\x07".encode(), data)
            # the sequences of the library apart
            self.neutral(name, re.sub(rb"\x1b(\[[?>!]?[0-9;]*[A-Za-z]|[()][A-Z0-9]|[78=>cM])", b"", data), "\n\t\r\b\x0f\x0e")

    def test_bytes_of_other_programs_databases_become_utf8(self):
        """A database of RPD, and one of rtl that another program changed."""
        bad = b"caf\xe9 \xff\xfe ker\x00nel \xed\xa0\x80"
        marked = "caf\\xe9 \\xff\\xfe ker"
        with sqlite3.connect(self.path("rpd.db")) as db:
            db.executescript("create table rocpd_metadata(id integer primary key, tag text, value text); create table rocpd_string(id integer primary "
                             "key, string text); create table rocpd_api(id integer primary key, pid integer, tid integer, start integer, \"end\" integer, "
                             "apiName_id integer, args_id integer); create table rocpd_op(id integer primary key, gpuId integer, queueId integer, "
                             "sequenceId integer, completionSignal text, start integer, \"end\" integer, description_id integer, opType_id integer); "
                             "create table rocpd_api_ops(id integer primary key, api_id integer, op_id integer); insert into rocpd_api values (1, 7, 8, 10, 20, "
                             "1, 1); insert into rocpd_op values (1, 0, 0, 1, '', 30, 50, 1, 2); insert into rocpd_api_ops values (1, 1, 1); insert into "
                             "rocpd_string values (2, 'KernelExecution')")
            db.execute("insert into rocpd_string values (1, cast(? as text))", (bad,))
            db.execute("insert into rocpd_metadata values (1, 'note', cast(? as text))", (bad,))
        shutil.copy(self.path("t.db"), self.path("own.db"))
        with sqlite3.connect(self.path("own.db")) as db:
            db.execute("update rtl_process set command = cast(? as text), host = cast(? as text)", (bad, bad))
            db.execute("update rocpd_string set string = cast(? as text) where id = (select min(description_id) from rocpd_op)", (bad,))
        for name, nr in (("rpd.db", 3), ("own.db", 3)):
            self.rtl("merge", "-q", name, "-o", "m.db", "--force")
            found = 0
            with sqlite3.connect(f"file:{self.path('m.db')}?mode=ro", uri=True) as db:
                for table, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                    for row in db.execute(f'SELECT * FROM "{table}"'):  # fails at a text that is not UTF-8
                        found += sum(isinstance(v, str) and v.startswith(marked) and v.endswith("\0nel \\xed\\xa0\\x80") for v in row)
            self.assertEqual(found, nr, name)

    def test_json(self):
        for command in (("info", "t.db", "-f", "json"), ("info", "t.rtl", "-f", "json"), ("summary", "t.db", "-f", "json"), ("diff", "t.db", "t.db", "-f", "json"),
                        ("summary", "t.rtl", "--by", BY, "-f", "json")):
            self.assertTrue(json.loads(self.printed(*command)))

    def test_csv(self):
        for by in BY.split(","):
            for name in ("t.rtl", "t.db"):
                if by != "path":
                    self.no_formulas(by, self.printed("summary", name, "--by", by, "-f", "csv"))
        self.no_formulas("diff", self.printed("diff", "t.db", "t.db", "-f", "csv"))
        for columns in ("kernel", "copy", "api"):
            self.no_formulas(columns, self.printed("summary", "t.db", "--by", columns, "-f", "csv", "--columns", "rocprof"))

    def files(self):
        for folder, _, names in os.walk(self.path("out")):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    yield os.path.join(folder, name), file.read()

    def test_files(self):
        listed = self.rtl("convert", "t.db", "-f", "none", status=2).stderr.rsplit(" ", 1)[1].strip().split("|")
        self.assertIn("perfetto", listed)
        for form in sorted(set(listed) - {"chrome"}):  # another name of perfetto
            shutil.rmtree(self.path("out"), ignore_errors=True)
            os.mkdir(self.path("out"))
            out = "out/x.otf2" if form == "otf2" else "out/x.rpd" if form == "rpd" else "out/x"
            self.printed("convert", "-q", "t.db", "-f", form, "-o", out)
            found = list(self.files())
            self.assertTrue(found, form)
            for path, data in found:
                # arguments of calls: the owner's alone
                self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600, path)
                if form in BINARY:
                    continue
                text = self.neutral(path, data)
                if "csv" in form:
                    self.no_formulas(path, text)
                elif form == "jsonl":
                    for line in text.splitlines():
                        json.loads(line)
                elif form == "folded":
                    for line in text.splitlines():
                        self.assertRegex(line, " [0-9]+$")
                else:
                    json.loads(text)
        self.printed("report", "-q", "t.db", "-o", "out/report.html")
        self.printed("diff", "t.db", "t.db", "-f", "html", "-o", "out/diff.html")
        for name in ("report", "diff"):
            with open(self.path(f"out/{name}.html"), "rb") as file:
                text = self.neutral(name, file.read())
            self.assertNotIn("<script>document", text)

    def test_databases_are_utf8_and_bytes_stay_recognisable(self):
        self.rtl("convert", "-q", "t.db", "-f", "rocpd3", "-o", "v3")
        for name in ("t.db", *[f for f in os.listdir(self.dir) if f.startswith("v3")]):
            marked = 0
            with sqlite3.connect(f"file:{self.path(name)}?mode=ro", uri=True) as db:
                for table, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                    for row in db.execute(f'SELECT * FROM "{table}"'):
                        marked += any(isinstance(v, str) and "\\xff\\xfe\\xed\\xa0\\x80\\xc0\\xaf" in v for v in row)
            self.assertGreater(marked, 5, name)

    def test_messages_quote_what_they_were_given(self):
        name = os.fsdecode(b"no\x1b[31m\xc2\x9b\xe2\x80\xae\xff.db")
        for command in (("info", name), ("summary", name), ("convert", name), ("diff", name, name), ("report", name), ("merge", name, "-o", "x.db"),
                        ("recover", name), ("trace", "--", name), ("status", name), ("trace", "--kernels", name + "(", "--", "true"), (name,),
                        ("summary", "t.db", "--by", name), ("summary", "t.db", "--sort", name), ("summary", "t.db", "--range", name),
                        ("convert", "t.db", "-f", name), ("list-counters", name), ("help", name), ("snapshot", name), ("rocprof", name),
                        ("rocprofv3", name), ("trace", "--pmc", name, "--", "true"), ("trace", "--ranks", name, "--", "true")):
            self.printed(*command, status=None)


if __name__ == "__main__":
    unittest.main()
