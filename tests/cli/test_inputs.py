#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Inputs that are no files, and what others may have put where a spool is: nothing waits, nothing is followed"""
import socket
import struct
import unittest

from support import spool
from support.cli import *
from support.process import IDLE, Process

READERS = (("info",), ("info", "--format", "json"), ("summary",), ("convert", "-f", "chrome", "-o", "o.json"),
           ("convert", "-f", "csv", "-o", "o"), ("convert", "-f", "rpd", "-o", "o.db"), ("merge", "-o", "o.db"),
           ("recover", "-o", "o.db"))
# struct spool_header of src/spool/format.h
MEM_PATH, DISK_END, CLOSED = 112, 4096, 4096 + 44


class Inputs(Case):
    def test_devices_fifos_and_sockets_are_refused(self):
        os.mkfifo(self.path("fifo"))
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(self.path("socket"))
        os.symlink("fifo", self.path("link"))
        for name, kind in (("fifo", "a FIFO"), ("link", "a FIFO"), ("socket", "a socket"), ("/dev/zero", "a device"),
                           ("/dev/null", "a device"), ("/dev/tty", "a device"), ("/dev/full", "a device")):
            for command in READERS:
                p = self.rtl(*command, name, status=3, timeout=20)
                self.assertIn(f"{name}: is {kind}; a trace is read from a file", p.stderr)
            spool.sample(2).write(self.path("good.rtl"))
            self.rtl("merge", "-o", "o.db", "good.rtl", name, status=3, timeout=20)
        self.assertEqual(self.files(), ["fifo", "good.rtl", "link", "socket"])

    def test_missing_files_and_directories_are_named(self):
        os.mkdir(self.path("empty"))
        for command in READERS:
            self.assertIn("No such file", self.rtl(*command, "none", status=1).stderr)
            self.assertIn("empty", self.rtl(*command, "empty", status=1).stderr)

    def test_spool_of_an_output_that_was_not_written_is_named(self):
        """rtl trace was killed with its program, as mpirun does."""
        for folder, env in (("x.db.spool", {}), ("raw/x.db.77.spool", {"RTL_SPOOL_DIR": "raw"})):
            os.makedirs(self.path(folder))
            spool.sample(2).write(self.path(f"{folder}/1.rtl"))
            self.assertIn(f"raw traces are in {folder}", self.rtl("snapshot", "x.db", status=1, env=env).stderr)
            for force in ("", "--force "):
                for command in READERS:
                    p = self.rtl(*command, "x.db", status=1, env=env)
                    self.assertIn(f"raw traces are in {folder}; 'rtl recover {force}-o x.db {folder}' writes it", p.stderr)
                if not force:
                    open(self.path("x.db"), "wb").close()
            self.rtl("recover", "--force", "-o", "x.db", folder)
            self.assertIn("complete", self.rtl("info", "x.db").stdout)
            os.unlink(self.path("x.db"))
            shutil.rmtree(self.path(folder))

    def test_link_to_a_trace_is_read(self):
        spool.sample(2).write(self.path("a.rtl"))
        os.symlink("a.rtl", self.path("b"))
        for command in READERS:
            self.rtl(*command, *(() if command[0] in ("info", "summary") else ("--force",)), "b")

    def test_fifo_in_library_path_is_passed_over(self):
        os.mkfifo(self.path("libhsa-runtime64.so.1"))
        self.rtl("trace", "-q", "/bin/true", env={"LD_LIBRARY_PATH": self.dir}, timeout=20)


class Outputs(Case):
    def setUp(self):
        super().setUp()
        spool.sample(4).write(self.path("a.rtl"))

    def test_names_of_stdout_are_stdout(self):
        text = self.rtl("convert", "a.rtl", "-f", "folded", "-o", "-").stdout
        self.assertIn("vadd", text)
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            self.assertEqual(self.rtl("convert", "a.rtl", "-f", "folded", "-o", name).stdout, text, name)
            with open(self.path("out"), "w", encoding="utf-8") as file:
                file.write("before\n")
                file.flush()
                subprocess.run([RTL_BIN, "convert", "a.rtl", "-f", "folded", "-o", name, "--force"], cwd=self.dir, env=environment(),
                               stdout=file, timeout=60, check=True)
            with open(self.path("out"), encoding="utf-8") as file:
                self.assertEqual(file.read(), "before\n" + text, name)
        self.assertTrue(os.path.islink("/dev/stdout"))
        self.assertIn("<title>", self.rtl("report", "a.rtl", "-o", "/dev/stdout").stdout)
        self.assertIn("csv writes several files", self.rtl("convert", "a.rtl", "-f", "csv", "-o", "/dev/stdout", status=1).stderr)

    def test_others_that_are_no_files_are_refused(self):
        os.mkfifo(self.path("fifo"))
        for name, kind in (("fifo", "a FIFO"), ("/dev/null", "a device")):
            for command in (("convert",), ("report",)):
                self.assertIn(f"{name}: is {kind}; the shell can write to it: -o - > {name}",
                              self.rtl(*command, "a.rtl", "--force", "-o", name, status=1, timeout=20).stderr)

    def test_formats_that_are_no_streams_say_what_they_can_be_written_to(self):
        several = "writes several files: name a directory, -o DIR/, or the begin of their names, -o PREFIX"
        ways = {several: ("new/", "prefix"), "is an archive of several files: -o NAME.otf2": ("name.otf2",),
                "is a database, which needs a plain file: -o NAME.db": ("name.db",),
                "is a data set of several files: name a directory, -o DIR": ("dir",)}
        os.mkfifo(self.path("fifo"))
        for form, needs in (("csv", several), *((f"rocprofv3-{kind}", several) for kind in ("csv", "json", "pftrace", "otf2")),
                            ("rocpd3", several), ("otf2", [*ways][1]), ("rpd", [*ways][2]), ("parquet", [*ways][3])):
            for name, what in (("fifo", "fifo: is a FIFO, but"), ("/dev/null", "/dev/null: is a device, but"),
                               ("-", "standard output:"), ("/dev/stdout", "standard output:")):
                p = self.rtl("convert", "a.rtl", "-f", form, "--force", "-o", name, status=1, timeout=20)
                self.assertEqual(p.stderr, f"rtl convert: {what} the format {form} {needs}\n")
            self.assertEqual(self.files(), ["a.rtl", "fifo"])
            for way in ways[needs]:  # what it suggests works
                self.rtl("convert", "a.rtl", "-f", form, "-o", way)
                left = set(self.files()) - {"a.rtl", "fifo"}
                self.assertTrue(left, (form, way))
                for name in left:
                    (shutil.rmtree if os.path.isdir(self.path(name)) else os.unlink)(self.path(name))


class Directory(Case):
    """A directory of spools."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("t.db.spool"))

    def inner(self, name):
        return self.path("t.db.spool/" + name)

    def check(self, *messages, rows=2):
        for command in (("info",), ("recover",)):
            p = self.rtl(*command, "t.db.spool", status=None, timeout=20)
            for message in messages:
                self.assertIn(message, p.stdout + p.stderr)
        self.assertEqual(spool_rows(self.path("t.db")), rows)

    def test_links_and_fifos_are_left_alone(self):
        spool.sample(2).write(self.inner("1-1.rtl"))
        spool.sample(500).write(self.path("other.rtl"))
        os.symlink("../other.rtl", self.inner("2-2.rtl"))
        os.symlink("/dev/zero", self.inner("3-3.rtl"))
        os.mkfifo(self.inner("4-4.rtl"))
        self.check("2-2.rtl: is a link, not a file; it is left alone", "3-3.rtl: is a link", "4-4.rtl: is a FIFO")
        self.rtl("recover", "--force", "--remove", "t.db.spool", status=1)
        self.assertEqual(sorted(os.listdir(self.path("t.db.spool"))), ["2-2.rtl", "3-3.rtl", "4-4.rtl"])
        self.assertTrue(os.path.exists(self.path("other.rtl")))

    def test_spool_of_another_user_is_left_alone(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a file of another user")
        for path in (self.dir, self.path("t.db.spool")):
            os.chown(path, 12345, 12345)
        for name, uid in (("1-1.rtl", 12345), ("2-2.rtl", 0), ("3-3.rtl", 12346)):
            spool.sample(1, pid=int(name[0])).write(self.inner(name))
            os.chown(self.inner(name), uid, uid)
        self.check("3-3.rtl: belongs to another user (uid 12346); it is left alone")

    def killed(self):
        spool.sample(2).write(self.inner("1-1.rtl"), 12345)
        return self.inner("1-1.mem")

    def test_memory_half_that_is_a_fifo_is_passed_over(self):
        for closed in (0, 1):
            mem = self.killed()
            os.unlink(mem)
            os.mkfifo(mem)
            with open(self.inner("1-1.rtl"), "r+b") as f:
                f.seek(MEM_PATH)
                self.assertEqual(f.read(1), b"/")
                f.seek(CLOSED)
                f.write(struct.pack("<I", closed))
            for command in (("info",), ("recover", "--force", "-o", "o.db")):
                self.rtl(*command, "t.db.spool", status=None, timeout=20)
            self.trace("-q", "--force", "-o", "u.db", "sh", "-c", f"cp {self.inner('1-1.rtl')} $RTL_SESSION", status=None, timeout=20)
            os.unlink(mem)

    def test_traces_without_a_record_are_no_failure_and_damaged_ones_are(self):
        with open(self.inner("1-1.rtl"), "w"):
            pass
        p = self.rtl("recover", "t.db.spool")
        self.assertIn("1-1.rtl: is empty", p.stderr)
        self.assertIn("nothing was recorded; no database is written", p.stderr)
        os.remove(self.inner("1-1.rtl"))
        with open(self.inner("2-2.rtl"), "w") as f:
            f.write("not a trace" * 1000)
        self.assertIn("no raw trace can be read", self.rtl("recover", "t.db.spool", status=1).stderr)
        self.assertFalse(os.path.exists(self.path("t.db")))

    def test_memory_half_that_is_a_link_is_passed_over(self):
        mem = self.killed()
        os.rename(mem, self.path("elsewhere"))
        os.symlink("../elsewhere", mem)
        with open(self.path("elsewhere"), "rb") as f:
            before = f.read()
        p = self.rtl("recover", "t.db.spool")
        self.assertIn("the memory half is missing", p.stderr)
        with open(self.path("elsewhere"), "rb") as f:
            self.assertEqual(f.read(), before)

    def test_memory_half_of_another_user_is_passed_over(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a file of another user")
        mem = self.killed()
        os.chown(mem, 12345, 12345)
        p = self.rtl("recover", "--remove", "t.db.spool")
        self.assertIn("the memory half is missing", p.stderr)
        self.assertTrue(os.path.exists(mem))

    def test_holes_of_a_damaged_trace_are_skipped(self):
        """A header says 1 TiB: holes, with bytes behind them or none."""
        for behind in (False, True):
            name = f"hole{behind}.rtl"
            spool.sample(3).write(self.path(name))
            with open(self.path(name), "r+b") as file:
                file.seek(DISK_END)
                file.write(struct.pack("<Q", 1 << 40))
                file.truncate(1 << 40)
                if behind:
                    file.seek((1 << 40) - 4096)
                    file.write(b"x" * 4096)
            p = self.rtl("info", name)
            self.assertIn("3 dispatches", p.stdout)
            self.assertIn("bad_chunk", p.stdout)

    def test_force_removes_databases_of_an_earlier_run_alone(self):
        """--split makes t.001.db, t.002.db: what has such a name and is none of them stays."""
        spool.sample(3).write(self.path("a.rtl"))
        self.rtl("recover", "-q", "a.rtl", "-o", "t.001.db")
        os.rename(self.path("t.001.db"), self.path("own.db"))
        for made in ("link", "text", "fifo", "database"):
            if made == "link":
                os.symlink("own.db", self.path("t.001.db"))
            elif made == "text":
                with open(self.path("t.001.db"), "w", encoding="utf-8") as file:
                    file.write("no database")
            elif made == "fifo":
                os.mkfifo(self.path("t.001.db"))
            else:
                os.rename(self.path("own.db"), self.path("t.001.db"))
            p = self.rtl("trace", "--force", "--split", "1G", "-o", "t.db", "--", "true", status=0 if made == "database" else 125, timeout=30)
            self.assertEqual("t.001.db: is no database of an earlier run" in p.stderr, made != "database", (made, p.stderr))
            self.assertEqual(os.path.lexists(self.path("t.001.db")), made != "database", made)
            if made != "database":
                self.assertTrue(os.path.exists(self.path("own.db")))
                os.unlink(self.path("t.001.db"))

    def test_stop_deletes_nothing_but_the_raw_trace_of_the_process(self):
        """A process may say anything: what it names as its raw trace is deleted after the conversion."""
        os.mkdir(self.path("x.db.spool"))
        os.mkdir(self.path("other"))
        os.symlink("other", self.path("link.spool"))
        for name in ("x.db.spool/1.rtl", "other/1.rtl", "x.db.spool/1.dat"):
            spool.sample(3).write(self.path(name))
        process = Process(self.path("run"))
        for raw, out, why in (("other/1.rtl", "o.db", "it is left alone"), ("link.spool/1.rtl", "link", "it is left alone"),
                              ("x.db.spool/1.dat", "x.db", "it is left alone"), ("x.db.spool/../other/1.rtl", "o.db", "it is left alone"),
                              ("x.db.spool/1.rtl", "o.db", "is that of " + self.path("x.db")), ("x.db.spool/1.rtl", "x.db", "")):
            process.says(IDLE, spool=self.path(raw), output=self.path(out), command="./a")
            is_good = not why
            p = self.rtl("stop", str(process.pid), status=0 if is_good else 1, env=process.env, timeout=30)
            self.assertIn(why, p.stderr)
            self.assertEqual((os.path.exists(self.path(raw)), os.path.exists(self.path(out))), (not is_good, is_good), raw)
        process.close()
        self.assertEqual(spool_rows(self.path("x.db")), 3)


def spool_rows(path):
    db = open_db(path)
    try:
        return db.execute("select count(*) from rtl_dispatch where not flags & 32").fetchone()[0]
    finally:
        db.close()


if __name__ == "__main__":
    unittest.main(verbosity=1)
