#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl tui in a terminal: screens against golden ones in tests/cli/tui, keys, and terminals and files that are not as they should be

RTL_UPDATE=1 writes the golden screens anew.
"""
import os
import re
import signal
import sqlite3
import time

from support import spool
from support.cli import *
from support.terminal import Terminal
import test_collective

GOLDEN = os.path.join(SOURCE, "tests/cli/tui")
US = 1000
LAUNCH, COPY = "hipLaunchKernel", "hipMemcpyAsync"
KERNELS = ["void mylib::gemm_kernel<float, 128, 128>(float const*, float*, int)",
           "void mylib::gemm_kernel<float, 64, 64>(float const*, float*, int)",
           "reduce_rows(float*, float*, unsigned int)", "\x1b[31mred\u202e\u4e2d\u6587(int)"]


def program(steps=40, pid=4711):
    """Two GPUs, two streams, ranges in ranges, copies, a failed call, a loss."""
    s = spool.Spool(pid=pid)
    for key, value in (("command", "./train --steps 40"), ("host", "node1"), ("mode", "hip"), ("version", "0.1.0")):
        s.info(key, value)
    s.thread(s.tid, "train")
    s.agent(gpu=False, name="cpu")
    queues = [s.queue(s.agent()), s.queue(s.agent())]
    s.op(1, LAUNCH, "f:p:function_address,stream:h:stream")
    s.op(2, COPY, "dst:p:dst,src:p:src,sizeBytes:z:bytes,kind:e=hipMemcpyKind:kind,stream:h:stream")
    kernels = [s.kernel(name) for name in KERNELS]
    for i in range(steps):
        at = s.start + 1000 * US + i * 100 * US
        step = s.marker(at, f"step {i}")
        inner = s.marker(at + 5 * US, "forward", level=1, parent=step)
        for k in range(3):
            begin = at + (10 + 20 * k) * US
            call = s.api(1, begin, begin + 6 * US, (0x5000 + k, 0x7000 + i % 2))
            s.dispatch(kernels[(i + k) % 4 if i % 8 == 3 else k], queues[i % 2], begin + 9 * US, begin + (20 + k) * US + i,
                       correlation=call, marker=inner)
        s.marker_end(at + 70 * US, inner)
        call = s.api(2, at + 72 * US, at + 80 * US, (1, 2, 65536, 1, 0x7000 + i % 2), status=1 if i == 5 else 0)
        if i != 5:
            s.copy(at + 75 * US, at + 90 * US, 65536, correlation=call, marker=step)
        s.marker_end(at + 95 * US, step)
    s.loss("buffer_full", 17)
    return s


class Tui(Case):
    def database(self, s=None, name="train"):
        (s or program()).write(self.path(name + ".rtl"))
        self.rtl("recover", "-q", "--force", name + ".rtl", "-o", name + ".db")
        return name + ".db"

    def start(self, *args, rows=24, columns=80, term="linux", env=None):
        t = Terminal([RTL_BIN, "tui", *args], environment({"LC_ALL": "C.UTF-8", "LANG": None, **(env or {})}), rows, columns, term,
                     self.dir)
        self.addCleanup(t.close)
        return t

    def end(self, t, keys="q", status=0):
        t.send(keys)
        self.assertEqual(t.wait(), status, t.text())

    def golden(self, name, t):
        """The screen becomes the golden one: parts of it may come later than others."""
        path = os.path.join(GOLDEN, name + ".txt")
        if os.environ.get("RTL_UPDATE"):
            os.makedirs(GOLDEN, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(t.settled(1))
        with open(path, encoding="utf-8") as file:
            wanted = file.read()
        end = time.monotonic() + 10
        while t.settled() != wanted and time.monotonic() < end:
            pass
        self.assertEqual(t.text(), wanted, f"{name}: another screen than {path}; RTL_UPDATE=1 writes it anew")


class Screens(Tui):
    def test_tables_and_details_are_as_the_golden_screens(self):
        t = self.start(self.database())
        t.until("KERNEL")
        self.golden("overview_80x24", t)
        for key, name, text in (("3", "kernels", "gemm_kernel"), ("\r", "kernel_details", "1.0"), ("\x1b", None, "SHARE"),
                                ("4", "calls", LAUNCH), ("5", "copies", "HostToDevice"), ("\r", "copy_details", "MEDIAN  "), ("\x1b", None, "SHARE"), ("6", "ranges", "forward"),
                                ("7", "gaps", "THE HOST"), ("8", "findings", "1. "), ("9", "losses", "buffer_full"),
                                ("\t", "errors", "hipErrorInvalidValue"), ("?", "help", "invert the order")):
            t.send(key)
            t.until(lambda now, text=text: text in now and "reading" not in now, name)
            if name:
                self.golden(name + "_80x24", t)
        self.end(t, "xq")

    def test_timeline_is_as_the_golden_screens(self):
        t = self.start("--tab", "timeline", self.database())
        t.until("GPU 1")
        self.golden("timeline_80x24", t)
        t.send("]+++++")
        t.until("takes")
        self.golden("timeline_zoomed_80x24", t)
        self.assertIn("hipLaunchKernel", t.text())
        self.assertGreater(len(t.colours()), 2)
        t.send("g")  # to its call
        screen = t.until("stream=0x7000")
        self.assertIn("later on GPU 0 queue 0 (key g): void mylib::gemm_kernel<float, 128,", screen)
        self.golden("timeline_call_80x24", t)
        t.send("0t")
        t.until("stream 0x7001")
        self.golden("timeline_streams_80x24", t)
        self.end(t)

    def test_large_screens_and_terminals_without_colours_and_utf8(self):
        database = self.database()
        t = self.start("--tab=kernels", database, rows=70, columns=250)
        t.until("gemm_kernel")
        self.golden("kernels_250x70", t)
        self.end(t)
        t = self.start("--tab=timeline", database, term="vt100", env={"LC_ALL": "C"})
        t.until("GPU 1")
        t.send("]++++++")
        screen = t.until("takes")
        self.assertTrue(screen.isascii(), screen)
        self.assertEqual(t.colours(), {"default"})
        self.golden("timeline_ascii_80x24", t)
        self.end(t)
        t = self.start("--tab=kernels", database, env={"NO_COLOR": "1"})
        t.until("gemm_kernel")
        self.assertEqual(t.colours(), {"default"})
        self.end(t)

    def test_window_that_is_resized_is_drawn_anew(self):
        t = self.start("--tab=timeline", self.database())
        t.until("GPU 1")
        t.resize(40, 120)
        t.until(lambda text: text.count("\u2502") > 3)
        self.golden("timeline_120x40", t)
        t.resize(5, 40)
        t.until("larger window")
        t.resize(24, 80)
        t.until("GPU 1")
        self.golden("timeline_80x24", t)
        self.end(t)


class Ranks(Tui):
    """The lanes of collectives."""

    job = test_collective.Collectives.job

    def open(self, **how):
        t = self.start("--tab", "timeline", self.job(late=2, by="host", seed=3, rounds=10, **how), rows=32, columns=110)
        t.until(lambda text: "communicator 0" in text and "reading" not in text)
        return t

    def find(self, t):
        """The first collective: on the last lane."""
        t.send(12 * "j" + "]")
        t.until("number 1, ")

    def test_collectives_have_a_lane_with_the_wait_and_who_came_last(self):
        for in_one, name in ((False, "ranks"), (True, "gpus")):
            t = self.open(in_one=in_one)
            self.golden(f"collectives_{name}_110x32", t)
            late = "GPU 2" if in_one else "rank 2"
            self.find(t)
            for number in range(2, 6):
                t.send("]]")
                t.until(f"number {number}, ")
            t.send("+++")
            self.golden(f"collective_{name}_110x32", t)
            self.assertIn(f"wait for {late} (launched late)", t.text())
            t.send("]")  # the transfer
            t.until("takes 40.00 us")
            self.assertIn(f"{late} came last (launched late) (key g); waited for it: ", t.text())
            t.send("g")  # to the kernel of the late rank
            screen = t.until("grid ")
            self.assertIn("ncclDevKernel_Generic_4", screen)
            self.assertIn("takes 40.00 us", screen)
            self.end(t)

    def test_text_of_a_collective_has_the_numbers_of_the_database(self):
        t = self.open()
        self.find(t)
        with sqlite3.connect(self.path("job1.db")) as connection:
            rows = connection.execute("SELECT number, rank, begin_ns, end_ns FROM rtl_collective WHERE number <= 3 ORDER BY begin_ns").fetchall()
        us = lambda ns: f"{ns / 1000:.2f} us" if ns < 100_000 else f"{ns / 1000:.1f} us"
        for number in (1, 2, 3):
            ranks = [(rank, begin) for n, rank, begin, _ in rows if n == number]
            last_rank, last = ranks[-1]
            end = max(end for n, _, _, end in rows if n == number)
            screen = t.until(f"number {number}, ")
            self.assertIn(f"skew {us(last - ranks[0][1])}, transfer {us(end - last)}, 4.000 MiB: ncclAllReduce", screen)
            self.assertIn(f"rank {last_rank} came last", screen)
            self.assertIn("waited for it: " + ", ".join(f"rank {rank} {us(last - begin)}" for rank, begin in ranks[:-1]), screen)
            t.send("]]")
        self.end(t)

    def test_streams_keep_the_lane_and_clocks_that_differ_have_none(self):
        t = self.open()
        t.send("t")
        t.until(lambda text: "stream" in text and "communicator 0" in text and "reading" not in text)
        self.end(t)
        t = self.start("--tab", "timeline", self.job(late=1, hosts=2, rounds=15, clock=(5_000_000_000, 0)), rows=40, columns=110)
        t.until(lambda text: "calls" in text and "reading" not in text)
        self.assertNotIn("communicator", t.settled(1))
        self.end(t)


class Keys(Tui):
    def rows(self, t):
        """Second column and name of the rows of a table."""
        return [line.split()[1:3] for line in t.settled().splitlines()[3:] if line.strip()][:-1]

    def test_tables_are_sorted_filtered_and_searched(self):
        t = self.start("--tab=calls", self.database())
        t.until(LAUNCH)
        t.send("\\memcpy\r")
        screen = t.until("1/1 of 2")
        self.assertNotIn(LAUNCH, screen)
        t.send("\x1b")
        t.until("1/2")
        for _ in range(9):  # up to the names
            t.send(">")
            if "sorted by NAME" in t.settled():
                break
        names = [line.split()[-1] for line in t.text().splitlines()[3:5]]
        self.assertEqual(names, sorted(names))
        t.send("I")
        self.assertEqual([line.split()[-1] for line in t.settled().splitlines()[3:5]], names[::-1])
        t.send("/nothing like it\r")
        t.until("is not here")
        self.end(t)

    def test_slices_are_found_by_name_and_one_after_another(self):
        t = self.start("--tab=timeline", self.database())
        t.until("GPU 1")
        t.send("/64, 64\r")
        first = t.until("takes")
        self.assertIn("gemm_kernel<float, 64, 64>", first)
        begins = []
        for _ in range(3):
            begins.append(t.text().split("begins at ")[1].split()[0])
            t.send("n")
            t.until(lambda text, now=begins[-1]: f"begins at {now}" not in text)
        self.assertEqual(begins, sorted(set(begins)))
        t.send("N")
        t.until(f"begins at {begins[-1]}")
        self.end(t)

    def test_hostile_names_reach_the_terminal_as_question_marks(self):
        t = self.start("--tab=kernels", self.database())
        screen = t.until("gemm_kernel")
        self.assertIn("?[31mred?\u4e2d", screen)
        self.end(t)


class Ends(Tui):
    def test_without_a_terminal_it_says_what_to_use(self):
        database = self.database()
        p = self.rtl("tui", database, status=4)
        self.assertEqual((p.stdout, p.stderr), ("", "rtl tui: needs a terminal for its screen and its keys; rtl summary prints the same "
                                                    "tables, rtl report writes a page\n"))
        for term in ("dumb", "no-such-terminal"):
            t = self.start(database, term=term)
            self.assertEqual(t.wait(), 4, term)
            self.assertIn("terminal", t.text())

    def test_signals_give_the_terminal_back(self):
        for number, send in ((signal.SIGTERM, lambda t: os.kill(t.pid, signal.SIGTERM)), (signal.SIGINT, lambda t: t.send("\x03"))):
            t = self.start(self.database())
            t.until("KERNEL")
            send(t)
            self.assertEqual(t.wait(), 128 + number)
            self.assertFalse(t.screen.cursor.hidden)

    def test_bad_file_is_a_message_on_the_terminal(self):
        with open(self.path("bad.db"), "w", encoding="ascii") as file:
            file.write("no trace\n" * 1000)
        t = self.start("bad.db", columns=200)
        self.assertEqual(t.wait(), 1)
        self.assertIn("bad.db: is not a trace", t.text())
        # damage that only reading finds
        with open(self.path(self.database()), "r+b") as file:
            data = bytearray(file.read())
            for at in range(8192, len(data), 512):
                data[at:at + 64] = b"\xa5" * 64
            file.seek(0)
            file.write(data)
        t = self.start("train.db", columns=200)
        self.assertEqual(t.wait(), 1, t.text())
        self.assertIn("train.db: ", t.text())
        self.assertFalse(t.screen.cursor.hidden)

    def test_file_that_changes_is_read_again_on_request(self):
        t = self.start("--tab=kernels", self.database(program(8)))
        t.until("gemm_kernel")
        calls = lambda text: [int(nr) for nr in re.findall(r"% +[\d.]+ \ws +(\d+) ", text)]
        self.assertEqual(sum(calls(t.text())), 24)
        self.database(program(40))
        t.until("F5 reads it again")
        t.send("R")
        t.until(lambda text: sum(calls(text)) == 120)
        self.assertNotIn("F5", t.settled())
        self.end(t)

    def test_traces_of_other_kinds_and_empty_ones(self):
        program(4).write(self.path("raw.rtl"))
        t = self.start("--tab=kernels", "raw.rtl")
        t.until("gemm_kernel")
        t.send("2")
        t.until("GPU 0")
        self.end(t)
        empty = spool.Spool(pid=1)
        empty.info("command", "./nothing")
        t = self.start(self.database(empty, "empty"), columns=120)
        t.until("No GPU operation was recorded")
        t.send("2")
        t.until("neither an operation nor a call")
        t.send("3")
        t.until("no kernel was launched")
        self.end(t)


if __name__ == "__main__":
    unittest.main()
