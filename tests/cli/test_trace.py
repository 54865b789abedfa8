#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl trace: documented behaviour, with programs that need no GPU (spool.py writes their traces)"""
import os
import pty
import re
import select
import signal
import sqlite3
import struct
import subprocess
import sys
import time

from support.cli import *

PY = sys.executable
ARGV = "import sys; print(sys.argv[1:])"


def dispatches(path):
    db = sqlite3.connect(path)
    try:
        return db.execute("select count(*) from rtl_dispatch").fetchone()[0]
    finally:
        db.close()


def wait_for(what, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if what():
            return True
        time.sleep(0.01)
    return False


class Status(Case):
    def test_exit_status_is_that_of_program(self):
        for command, status in (("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -9 $$", 137),
                                ("kill -11 $$", 139), ("kill -15 $$", 143)):
            self.trace("-q", "--", "sh", "-c", command, status=status)

    def test_missing_program_exits_127(self):
        self.assertEqual(self.trace("no-such-program", status=127).stderr,
                         "rtl trace: no-such-program: command not found\n")
        self.assertIn("No such file", self.trace("./no-such-program", status=127).stderr)

    def test_unexecutable_program_exits_126(self):
        with open(self.path("data"), "w", encoding="ascii") as file:
            file.write("x")
        self.assertIn("Permission denied", self.trace("./data", status=126).stderr)
        self.trace("/tmp", status=126)
        self.assertEqual(self.files(), ["data"])

    def write(self, name, data, mode=0o755):
        with open(self.path(name), "wb") as file:
            file.write(data)
        os.chmod(self.path(name), mode)

    def test_interpreter_that_env_looks_for_is_named(self):
        for line, says in (("nosuch", "the interpreter 'nosuch' of ./s is not in PATH (its first line); no database"),
                           ("  nosuch \t", "the interpreter 'nosuch' of ./s is not in PATH (its first line); no database"),
                           ("-S nosuch -x", "the interpreter 'nosuch' of"), ("-iSnosuch", "the interpreter 'nosuch' of"),
                           ("-S A=b -u C nosuch", None), ("-S A=b nosuch c=d", "the interpreter 'nosuch' of"),
                           ("sh -e", "the interpreter 'sh -e' of ./s is not in PATH (its first line): env takes all of it as one name, without -S")):
            self.write("s", f"#!/usr/bin/env {line}\n".encode())
            os.chmod(self.path("s"), 0o755)
            p = self.trace("./s", status=127)
            if says:
                self.assertIn(says, p.stderr)
        self.write("s", b"#!/usr/bin/env sh\nexit 3\n")
        self.assertIn("./s loaded no ROCm runtime", self.trace("./s", status=3).stderr)
        self.write("s", b"#!/usr/bin/env -S sh -e\nexit 3\n")
        self.assertIn("./s loaded no ROCm runtime", self.trace("./s", status=3).stderr)

    def test_why_a_program_can_not_be_run_is_said(self):
        def elf(kind, machine):
            return b"\x7fELF" + bytes([kind, 1, 1]) + bytes(9) + struct.pack("<HHI", 2, machine, 1) + bytes(100)

        def loaded(kind, loader):
            """A program of 32 or 64 bits with a loader, and one page of nothing."""
            size, base = (52 + 2 * 32, 0x8048000) if kind == 1 else (64 + 2 * 56, 0x400000)
            end = size + len(loader)
            if kind == 1:
                head = struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + size, 52, 0, 0, 52, 32, 2, 0, 0, 0)
                parts = [struct.pack("<IIIIIIII", t, at, base + at, base + at, n, n, 5, 4096) for t, at, n in ((3, size, len(loader)), (1, 0, end))]
            else:
                head = struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, base + size, 64, 0, 0, 64, 56, 2, 0, 0, 0)
                parts = [struct.pack("<IIQQQQQQ", t, 5, at, base + at, base + at, n, n, 4096) for t, at, n in ((3, size, len(loader)), (1, 0, end))]
            return b"\x7fELF" + bytes([kind, 1, 1]) + bytes(9) + head + b"".join(parts) + loader

        self.write("lost", b"#!/no/such/interpreter -x\n")
        self.write("windows", b"#!/bin/sh\r\necho\n")
        self.write("plain", b"echo\n", 0o644)
        self.write("plain.sh", b"#!/bin/sh\necho\n", 0o644)
        self.write("refused", f"#!{self.path('plain')}\n".encode())
        self.write("loader32", loaded(1, b"/no/such/loader.so.2\0"))
        self.write("loader64", loaded(2, b"/no/such/loader.so.2\0"))
        for name in ("loader32", "loader64", "lost"):
            self.write("by_" + name, f"#!{self.path(name)}\n".encode())
        for name, status, why in (
                ("lost", 127, "its interpreter '/no/such/interpreter' does not exist"), ("windows", 127, "carriage return"),
                ("plain", 126, "as in 'python3 ./plain'"), ("plain.sh", 126, "chmod +x './plain.sh'"),
                ("loader32", 127, "it is a 32-bit program, whose loader '/no/such/loader.so.2' does not exist"),
                ("loader64", 127, "its loader '/no/such/loader.so.2' does not exist"),
                ("by_loader32", 127, f"the loader '/no/such/loader.so.2' of its interpreter '{self.path('loader32')}', a 32-bit program, does not"),
                ("by_loader64", 127, f"the loader '/no/such/loader.so.2' of its interpreter '{self.path('loader64')}' does not exist"),
                ("by_lost", 127, f"the interpreter of its interpreter '{self.path('lost')}' does not exist"),
                ("refused", 126, "may not be executed"), ("", 126, "it is a directory")):
            p = self.trace("./" + name, status=status)
            self.assertIn(f"./{name}: can't be run: ", p.stderr)
            self.assertIn(why, p.stderr)
        for name, data, why in (("i386", elf(1, 3), "is a 32-bit program"), ("arm", elf(2, 40), "is a program for another processor")):
            self.write(name, data)
            self.assertIn(f"nothing to trace: ./{name} {why}", self.trace("./" + name, status=None).stderr)

    def test_program_that_needs_a_runtime_and_does_not_use_it_is_named(self):
        source, name = self.path("x.c"), self.path("linked")
        self.write("x.c", b"int main(void) { return 0; }\n")
        self.write("lib.c", b"int nothing;\n")
        for line in (("-shared", "-fPIC", self.path("lib.c"), "-Wl,-soname,libamdhip64.so.9", "-o", self.path("libamdhip64.so.9")),
                     (source, "-o", name, "-Wl,--no-as-needed", self.path("libamdhip64.so.9"), f"-Wl,-rpath,{self.dir}")):
            if not shutil.which("cc") or subprocess.run(["cc", *line], check=False, capture_output=True).returncode:
                self.skipTest("no C compiler")
        self.assertIn("./linked is linked with libamdhip64.so.9 and ended before it used a GPU", self.trace("./linked").stderr)
        self.assertNotIn("virtual-gpu", self.trace("--virtual-gpu", "./linked").stderr)

    def test_times_have_units(self):
        for options in (("--delay", "500ms", "--duration", "2m"), ("--period", "10s:500ms:3 1h:2"), ("--drain-ms", "5s", "--snapshot-gap", "1m")):
            self.trace(*options, "true")
        for options in (("--delay", "5x"), ("--snapshot-gap", "500ms"), ("--drain-ms", "1h")):
            self.assertIn(options[1], self.trace(*options, "true", status=125).stderr)

    def test_options_behind_the_program_are_noticed(self):
        for option in (("-o", "x.db"), ("--output", "x.db"), ("--output=x.db",), ("--virtual-gpu",), ("--mode", "hip"), ("--mode=lite",), ("--kernels=a",), ("--fail-on-loss",)):
            said = f"'{option[0]}' is an argument of true"
            self.assertIn(said, self.trace("true", *option).stderr)
            self.assertNotIn(said, self.trace("--", "true", *option).stderr)
            self.assertEqual(self.trace("-q", "true", *option).stderr, "")
        for option in (("-o", "a.out"), ("--verbose",), ("--help",), ("--output", "dir"), ("--mode", "train"), ("--", "--kernels", "a")):
            self.assertNotIn("is an argument", self.trace("true", *option).stderr)

    def test_words_of_other_profilers_name_ours(self):
        for word, ours in (("stats", "rtl summary"), ("record", "rtl trace"), ("profile", "rtl trace"), ("stat", "rtl trace --summary"),
                           ("export", "rtl convert"), ("attach", "rtl start"), ("-t", "rtl trace"), ("--stats", "rtl trace"),
                           ("nvprof", "rtl trace --summary"), ("perf", "rtl trace"), ("version", "rtl --version"), ("-v", "rtl --version"),
                           ("--virtual-gpu", "rtl trace': rtl trace --virtual-gpu"), ("--mode=hip", "rtl trace': rtl trace --mode=hip"),
                           ("-o", "rtl trace': rtl trace -o")):
            self.assertIn(f"'{ours}", self.rtl(word, status=2).stderr)
        for word, ours in (("html", "rtl report"), ("json", "jsonl"), ("sqlite", "rpd")):
            self.assertIn(f"--format: '{word}' is no format; ", self.rtl("convert", "-f", word, "x.db", status=2).stderr)
            self.assertIn(f"'{ours}", self.rtl("convert", "-f", word, "x.db", status=2).stderr)
        for word, ours in (("-t", "always traced"), ("-thip,roctx", "always traced"), ("--stats", "--summary"), ("--stats=true", "--summary"),
                           ("-stats", "--summary"), ("--hip-trace", "without an option"), ("--kernel-trace", "without an option"),
                           ("--hsa-trace", "--hsa"), ("--kernel-include-regex", "--kernels"), ("-i", "--pmc-file"), ("-p", "rtl start PID"),
                           ("-F99", "nothing is sampled"), ("--cuda-memory-usage=true", "without an option"),
                           ("--output-format", "rtl convert"), ("--force-overwrite=true", "--force"), ("--list-basic", "rtl list-counters")):
            p = self.trace(word, "true", status=125)
            self.assertIn(f"rtl trace: {word}: unknown option; ", p.stderr)
            self.assertIn(ours, p.stderr)

    def test_wrong_options_exit_125(self):
        self.assertIn("did you mean --output?", self.trace("--outptu", "x", status=125).stderr)
        self.assertIn("command to run is missing", self.trace("-q", status=125).stderr)
        self.assertIn("lite|standard|default|full|hip", self.trace("-m", "x", "true", status=125).stderr)
        self.assertIn("1..16", self.trace("--virtual-gpu=17", "true", status=125).stderr)

    def test_fail_on_empty_and_loss_change_status(self):
        self.trace("-q", "--fail-on-empty", "true", status=122)
        self.trace("-q", "--fail-on-empty", "sh", "-c", "exit 3", status=3)
        self.trace("-q", "--fail-on-empty", "--fail-on-loss", PY, SPOOL, "5")
        lossy = (f"import sys; sys.path.insert(0, {os.path.dirname(SPOOL)!r}); import os, spool\n"
                 "s = spool.sample(5); s.loss('buffer_full', 9)\n"
                 "s.write(os.environ['RTL_SESSION'] + '/1.rtl'); sys.exit(int(sys.argv[1]))")
        p = self.trace("--force", "--fail-on-loss", PY, "-c", lossy, "0", status=123)
        self.assertIn("incomplete", p.stderr)
        self.assertIn("9 buffer_full", p.stderr)
        self.trace("--force", "--fail-on-loss", PY, "-c", lossy, "4", status=4)
        self.trace("--force", PY, "-c", lossy, "0", status=0)


class Program(Case):
    """The traced program's view."""

    def test_arguments_are_unchanged(self):
        for before in ((), ("--",)):
            for args in (("a", "--", "b c", "-o", "", "--", "--help"), ("--", "--"), ("-q", "--force")):
                p = self.trace("-q", *before, PY, "-c", ARGV, *args)
                self.assertEqual(p.stdout, f"{list(args)}\n")

    def test_standard_streams_are_unchanged(self):
        p = self.trace("-q", "sh", "-c", "cat; echo err >&2", stdin="in\n")
        self.assertEqual((p.stdout, p.stderr), ("in\n", "err\n"))
        p = self.trace(PY, SPOOL, "3")
        self.assertEqual(p.stdout, "")
        self.assertIn("3 dispatches", p.stderr)

    def test_environment_has_tool_variables_alone(self):
        p = self.trace("-q", "-m", "lite", "--buffer-mb", "8", "--drain-ms=9", "--barriers", "env",
                       env={"LD_PRELOAD": "", "MINE": "x=y z"})
        env = dict(line.split("=", 1) for line in p.stdout.splitlines() if "=" in line)
        self.assertEqual(env["MINE"], "x=y z")
        self.assertRegex(env["LD_PRELOAD"], r"^/.*/librtl\.so\.1$")
        self.assertEqual(env["HSA_TOOLS_LIB"], env["LD_PRELOAD"])
        self.assertEqual(env["RTL_SESSION"], self.path("trace.db.spool"))
        self.assertEqual(env["RTL_LOG_FILE"], self.path("trace.db.spool/log.%p"))
        self.assertEqual([env["RTL_" + k] for k in ("MODE", "BUFFER_MB", "DRAIN_MS", "BARRIERS")],
                         ["lite", "8", "9", "1"])
        self.assertNotIn("LD_LIBRARY_PATH", env)
        self.assertNotIn("VGPU_DEVICES", env)

    def test_virtual_gpu_option_sets_environment(self):
        p = self.trace("--virtual-gpu=3", "env")
        self.assertIn("VGPU_DEVICES=3\n", p.stdout)
        self.assertRegex(p.stdout, r"LD_LIBRARY_PATH=/.*/vgpu\n")
        self.assertIn("virtual GPU", p.stderr)
        self.assertEqual(self.trace("-q", "--virtual-gpu", "true").stderr, "")

    def test_unknown_variables_are_reported_once(self):
        p = self.trace("true", env={"RTL_MDOE": "lite", "VGPU_LOG": "x"})
        self.assertEqual(p.stderr.count("RTL_MDOE"), 1)
        self.assertIn("VGPU_LOG: has no effect without --virtual-gpu", p.stderr)

    def test_signal_dispositions_are_inherited(self):
        show = "grep -E 'SigBlk|SigIgn' /proc/self/status"
        lines = [subprocess.run(["sh", "-c", f"trap '' HUP PIPE; {rtl} sh -c \"{show}\""], cwd=self.dir, text=True,
                                capture_output=True, check=True).stdout for rtl in ("", RTL_BIN + " trace -q")]
        self.assertEqual(lines[1], lines[0])

    def test_program_keeps_process_group_and_terminal(self):
        """In a terminal the program is in its foreground group; Ctrl-C reaches it once."""
        count = ("import os,signal,sys,time; n=[0]\n"
                 "signal.signal(signal.SIGINT, lambda *a: n.__setitem__(0, n[0]+1))\n"
                 "print('ready', os.isatty(0), os.tcgetpgrp(0) == os.getpgrp(), flush=True)\n"
                 "end=time.time()+1.0\n"
                 "while time.time()<end: time.sleep(0.05)\n"
                 "print('ints', n[0], flush=True)")
        try:
            pid, fd = pty.fork()
        except OSError as error:
            self.skipTest(f"no terminal to be had: {error}")
        if pid == 0:
            os.chdir(self.dir)
            os.execve(RTL_BIN, ["rtl", "trace", "-q", PY, "-c", count], environment())
        out = b""
        sent = False
        while True:
            ready, _, _ = select.select([fd], [], [], 20)
            if not ready:
                break
            try:
                data = os.read(fd, 4096)
            except OSError:
                break
            if not data:
                break
            out += data
            if b"ready True True" in out and not sent:
                sent = True
                os.write(fd, b"\x03")
        _, status = os.waitpid(pid, 0)
        self.assertIn(b"ready True True", out)
        self.assertIn(b"ints 1", out)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)


class Output(Case):
    def test_trace_becomes_database(self):
        p = self.trace(PY, SPOOL, "12")
        self.assertEqual(self.files(), ["trace.db"])
        self.assertEqual(dispatches(self.path("trace.db")), 13)
        self.assertRegex(p.stderr, r"^rtl trace: trace\.db: 12 dispatches on 2 GPUs, 1 copy, 2 markers, 1 process")
        self.assertIn("\nrtl trace: complete\n", p.stderr)

    def test_quiet_prints_nothing(self):
        p = self.trace("-q", PY, SPOOL, "12")
        self.assertEqual(p.stdout + p.stderr, "")
        self.assertEqual(self.trace("-q", "-o", "t.db", "true").stderr, "")

    def test_processes_are_merged(self):
        p = self.trace("sh", "-c", f"for i in 1 2 3; do {PY} {SPOOL} 4; done")
        self.assertIn("3 processes", p.stderr)
        self.assertEqual(dispatches(self.path("trace.db")), 15)

    def test_existing_file_is_not_overwritten(self):
        with open(self.path("trace.db"), "w", encoding="ascii") as file:
            file.write("precious")
        p = self.trace("sh", "-c", "touch ran", status=125)
        self.assertIn("trace.db: exists already; use --force to overwrite it", p.stderr)
        self.assertEqual(self.files(), ["trace.db"])
        self.trace("--force", PY, SPOOL, "5")
        self.assertEqual(dispatches(self.path("trace.db")), 6)

    def test_unwritable_output_exits_125(self):
        self.assertIn("mkdir -p 'no/such'", self.trace("-o", "no/such/t.db", "touch", "ran", status=125).stderr)
        self.assertIn("mkdir -p 'no'", self.trace("-o", "no/such/", "touch", "ran", status=125).stderr)
        self.assertIn("not a plain file", self.trace("-o", "/dev/null", "touch", "ran", status=125).stderr)
        self.trace("-o", "x" * 300, "touch", "ran", status=125)
        # the spool's directory has a shorter name than the temporary file
        self.assertIn("File name too long", self.trace("-o", "x" * 248, "touch", "ran", status=125).stderr)
        self.assertEqual(self.files(), [])

    def test_output_patterns_are_replaced(self):
        p = self.trace("-q", "-o", "t.%p.%r.%q{WHO}.%%.db", "sh", "-c", f"echo $$; {PY} {SPOOL} 1",
                       env={"WHO": "me", "SLURM_PROCID": "5", "SLURM_STEP_ID": "0", "SLURM_JOB_ID": "9"})
        self.assertEqual(self.files(), [f"t.{p.stdout.strip()}.5.me.%.db"])
        p = self.trace("-o", "%z.db", "true")
        self.assertEqual(p.stderr.count("'%z"), 1)

    def test_rank_that_is_started_again_keeps_its_first_trace(self):
        env = {"RANK": "1", "WORLD_SIZE": "2", "TORCHELASTIC_RESTART_COUNT": "0"}
        for n in range(2):
            env["TORCHELASTIC_RESTART_COUNT"] = str(n)
            self.trace("-q", "-o", "t.db", PY, SPOOL, "1", env=env)
            self.trace("-q", "-o", "own%r.db", PY, SPOOL, "1", env=env)
            self.trace("-q", "-o", "p.%p.%r.db", PY, SPOOL, "1", env=env)
            self.trace("-q", "-o", "of%j-%r.db", PY, SPOOL, "1", env={**env, "TORCHELASTIC_RUN_ID": "train"})
        self.assertEqual([f for f in self.files() if not f.startswith("p.")],
                         ["oftrain-1.db", "oftrain-restart1-1.db", "own1-restart1.db", "own1.db", "t-rank1-restart1.db", "t-rank1.db"])
        self.assertFalse([f for f in self.files() if f.startswith("p.") and "restart" in f])

    def test_nothing_traced_leaves_nothing(self):
        p = self.trace("true")
        self.assertIn("nothing to trace: true loaded no ROCm runtime", p.stderr)
        self.assertEqual(self.files(), [])
        os.mkdir(self.path("trace.db.spool"))
        p = self.trace("true", env={"RTL_DISABLE": "1"})
        self.assertIn("nothing to trace: RTL_DISABLE is set", p.stderr)

    def test_kept_spool_is_recovered(self):
        self.trace("--keep-spool", PY, SPOOL, "5")
        self.assertEqual(self.files(), ["trace.db", "trace.db.spool"])
        p = self.trace("-o", "x.db", "--no-convert", PY, SPOOL, "6")
        self.assertIn("rtl recover", p.stderr)
        self.assertFalse(os.path.exists(self.path("x.db")))
        self.rtl("recover", "--remove", "x.db.spool")
        self.assertEqual(self.files(), ["trace.db", "trace.db.spool", "x.db"])
        self.assertEqual(dispatches(self.path("x.db")), 7)

    def test_traces_of_an_earlier_run_are_kept(self):
        self.trace("--no-convert", PY, SPOOL, "5")
        p = self.trace("touch", "ran", status=125)
        self.assertIn("contains 1 trace of an earlier run; 'rtl recover", p.stderr)
        self.trace("--force", PY, SPOOL, "2")
        self.assertEqual(self.files(), ["trace.db"])
        self.assertEqual(dispatches(self.path("trace.db")), 3)

    def test_spool_dir_option_is_followed(self):
        self.trace("--spool-dir", "sp", "--no-convert", PY, SPOOL, "5")
        self.assertEqual(self.files(), ["sp"])
        self.rtl("recover", "sp", "-o", "a.db", "--remove")
        self.assertEqual(dispatches(self.path("a.db")), 6)
        self.trace("-q", PY, SPOOL, "5", env={"RTL_SPOOL_DIR": "sp2"})
        self.assertEqual([f for f in self.files() if f.startswith("sp2")], [])

    def test_concurrent_runs_have_separate_spools(self):
        p = self.start("trace", "-q", "sh", "-c", "touch ready; exec sleep 20")
        self.assertTrue(wait_for(lambda: os.path.exists(self.path("ready"))))
        q = self.trace("true", status=125)
        self.assertIn("another rtl trace uses this directory", q.stderr)
        p.send_signal(signal.SIGTERM)
        p.wait(10)

    def test_librtl_messages_are_shown(self):
        script = 'for i in 1 2 3 4 5 6 7 8 9 10; do echo "warn line $i"; done > $RTL_SESSION/log.$$'
        p = self.trace("sh", "-c", script)
        self.assertRegex(p.stderr, r"process \d+: warn line 1\n")
        self.assertIn("... and 2 more messages", p.stderr)
        self.assertEqual(self.trace("-q", "sh", "-c", script).stderr, "")

    def test_vanished_spool_directory_is_reported(self):
        p = self.trace("sh", "-c", f"{PY} {SPOOL} 5; rm -rf $RTL_SESSION", status=125)
        self.assertIn("trace.db.spool", p.stderr)


class SpoolDirectory(Case):
    """What another user, or a careless script, may have put where the spool goes."""

    def refused(self, prepare, *parts):
        os.mkdir(self.path("t.db.spool"))
        prepare(self.path("t.db.spool"))
        p = self.trace("-o", "t.db", "true", status=125)
        for part in ("t.db.spool", *parts):
            self.assertIn(part, p.stderr)

    def test_directory_of_another_user_is_refused(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a directory of another user")
        self.refused(lambda path: os.chown(path, 12345, 12345), "belongs to another user (uid 12345)", "--spool-dir")

    def test_directory_that_others_can_write_to_is_refused(self):
        self.refused(lambda path: os.chmod(path, 0o777), "other users can write to it", "chmod go-w")

    def test_link_to_directory_is_refused(self):
        os.mkdir(self.path("elsewhere"))
        os.symlink("elsewhere", self.path("t.db.spool"))
        self.assertIn("is not a directory", self.trace("-o", "t.db", "true", status=125).stderr)
        self.assertEqual(os.listdir(self.path("elsewhere")), [])

    def test_directory_is_private_under_any_umask(self):
        for umask in (0o000, 0o022, 0o077):
            old = os.umask(umask)
            try:
                self.trace("-q", "-o", "t.db", "--", "sh", "-c", "stat -c %a t.db.spool > mode")
            finally:
                os.umask(old)
            with open(self.path("mode"), encoding="ascii") as f:
                self.assertEqual(f.read().strip(), "700")
            os.unlink(self.path("mode"))

    def test_fifos_and_links_in_the_directory_are_left_alone(self):
        plant = "cd t.db.spool; mkfifo 1-1.rtl log.1; ln -s /etc/passwd 2-2.rtl; ln -s /etc/passwd log.2; mkdir 3-3.rtl"
        p = self.trace("-o", "t.db", "--", "sh", "-c", plant, status=125, timeout=30)
        self.assertIn("1-1.rtl: is a FIFO, not a file; it is left alone", p.stderr)
        self.assertIn("2-2.rtl: is a link, not a file; it is left alone", p.stderr)
        self.assertIn("3-3.rtl: is a directory, not a file; it is left alone", p.stderr)
        self.assertNotIn("root:", p.stderr)
        with open("/etc/passwd", encoding="ascii") as f:
            self.assertIn("root:", f.read())


class Signals(Case):
    def ready(self, p):
        self.assertTrue(wait_for(lambda: os.path.exists(self.path("ready"))), p.poll())

    def test_signals_reach_the_program(self):
        for name in ("TERM", "HUP", "QUIT", "USR1", "USR2", "INT"):
            p = self.start("trace", "-q", "--force", "sh", "-c",
                           f"trap 'echo got {name}; exit 9' {name}; touch ready; while :; do sleep 0.02; done")
            self.ready(p)
            p.send_signal(getattr(signal, "SIG" + name))
            out, err = p.communicate(timeout=10)
            self.assertEqual((out, err, p.returncode), (f"got {name}\n", "", 9))
            os.unlink(self.path("ready"))

    def test_interrupted_program_is_converted(self):
        p = self.start("trace", "sh", "-c", f"{PY} {SPOOL} 8; touch ready; exec sleep 20")
        self.ready(p)
        p.send_signal(signal.SIGTERM)
        _, err = p.communicate(timeout=20)
        self.assertEqual(p.returncode, 143)
        self.assertIn("8 dispatches", err)

    def test_second_interrupt_ends_wait(self):
        p = self.start("trace", "sh", "-c",
                       f"{PY} {SPOOL} 8; trap '' INT; echo $$ > pid; touch ready; exec sleep 20 > /dev/null 2>&1")
        self.ready(p)
        p.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(p.poll())
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=10)
        self.assertEqual(p.returncode, 130)
        self.assertIn("still runs; its trace ends here", err)
        self.assertEqual(dispatches(self.path("trace.db")), 9)
        with open(self.path("pid"), encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGKILL)

    def test_running_process_is_reported_and_kept(self):
        # an open trace of a running process
        daemon = (f"import sys; sys.path.insert(0, {os.path.dirname(SPOOL)!r}); import os, spool, time\n"
                  "s = spool.sample(4); start = int(open('/proc/self/stat').read().rsplit(')')[1].split()[19])\n"
                  "path = os.environ['RTL_SESSION'] + '/d.rtl'\n"
                  "s.write(path, start); open('ready', 'w'); time.sleep(4)")
        before = time.monotonic()
        p = self.trace("sh", "-c", f"{PY} -c \"{daemon}\" > /dev/null 2>&1 & while [ ! -e ready ]; do sleep 0.05; done")
        self.assertLess(time.monotonic() - before, 4)
        self.assertRegex(p.stderr, r"1 traced process still runs \(pid \d+\)")
        self.assertEqual([f for f in self.files() if f.startswith("trace.db")], ["trace.db.spool"])
        pid = re.search(r"pid (\d+)", p.stderr).group(1)
        self.assertTrue(wait_for(lambda: not os.path.exists(f"/proc/{pid}")))
        self.rtl("recover", "--remove", "trace.db.spool")
        self.assertEqual(dispatches(self.path("trace.db")), 5)
        self.assertEqual(self.files(), ["ready", "trace.db"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
