#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl summary as a person reads it: the overview, names, ranges, gaps, parts of a trace; and how commands say what is wrong"""
import contextlib
import itertools
import json
import os
import sqlite3

from support import spool
from support.cli import *

US, MS = 1000, 1_000_000
GEMM = "void mylib::detail::gemm_kernel<float, {}, {}, 8, mylib::layout::RowMajor, mylib::epilogue::Linear<float, 1>>" \
    "(mylib::detail::Params<float>, float const*, float const*, float*, int, int, int)"
GEMMS = [GEMM.format(m, n) for m, n in ((128, 128), (128, 64), (64, 64))]
SIG_STREAM = "p:stream:stream"


class Read(Case):
    def write(self, s, name="a"):
        s.write(self.path(name + ".rtl"))
        self.rtl("recover", "-q", "--force", name + ".rtl", "-o", name + ".db")
        return name + ".db"

    @staticmethod
    def process(**kwargs):
        s = spool.Spool(**kwargs)
        for key, value in (("command", "./app"), ("host", "node1"), ("mode", "hip"), ("version", "0.1.0")):
            s.info(key, value)
        s.thread(s.tid, "app")
        s.agent(gpu=False, name="cpu")
        return s

    def lines(self, *args, columns=None, status=0):
        env = {"COLUMNS": str(columns)} if columns else None
        return self.rtl("summary", *args, env=env, status=status).stdout.splitlines()

    def rows(self, *args):
        return json.loads(self.rtl("summary", *args, "-f", "json").stdout)

    def words(self, *args):
        return " ".join(self.rtl("summary", *args).stdout.split())


GOLDEN = os.path.join(SOURCE, "tests/cli/summary")


class Screens(Read):
    """What is printed at 80, 120 and 200 columns, looked at and kept. RTL_UPDATE=1 writes it anew."""

    def trained(self):
        """Two GPUs and streams, three kernels that are alike, copies by an engine and by a kernel of HIP, ranges, a failed call, a loss."""
        s = self.process(pid=4711)
        queues = [s.queue(s.agent()), s.queue(s.agent())]
        s.op(1, "hipLaunchKernel", "f:p:function_address,stream:h:stream")
        s.op(2, "hipMemcpyAsync", "dst:p:dst,src:p:src,sizeBytes:z:bytes,kind:e=hipMemcpyKind:kind,stream:h:stream")
        s.op(3, "hipStreamSynchronize", "stream:h:stream")
        kernels = [s.kernel(name) for name in GEMMS]
        blit = s.kernel("__amd_rocclr_copyBuffer.kd")
        for i in range(40):
            at, gpu = s.start + MS + 200 * i * US, i % 2
            step = s.marker(at, f"step {i // 10}")
            for k, kernel in enumerate(kernels):
                begin = at + 20 * k * US
                s.dispatch(kernel, queues[gpu], begin + 9 * US, begin + (20 + k) * US,
                           correlation=s.api(1, begin, begin + 6 * US, (0x5000 + k, 0x7000 + gpu)), marker=step)
            s.copy(at + 75 * US, at + 90 * US, 65536, marker=step, correlation=s.api(2, at + 72 * US, at + 80 * US, (1, 2, 65536, 1, 0x7000 + gpu)))
            s.dispatch(blit, queues[gpu], at + 95 * US, at + 99 * US,
                       correlation=s.api(2, at + 91 * US, at + 94 * US, (1, 2, 8192, 3, 0x7000 + gpu)), marker=step)
            s.api(3, at + 95 * US, at + 110 * US, (0x7000 + gpu,), status=700 if i == 39 else 0)
            s.marker_end(at + 120 * US, step)
        s.loss("buffer_full", 17)
        return self.write(s, "train")

    def test_screens_are_as_the_golden_ones(self):
        db = self.trained()
        for columns, by in itertools.product((80, 120, 200), ("overview", "kernel", "copy", "api", "path", "gap", "range")):
            lines = self.lines(db, "--by", by, "-n", "5", columns=columns)
            self.assertLessEqual(max(map(len, lines)), columns, lines)
            path = os.path.join(GOLDEN, f"{by}_{columns}.txt")
            text = "".join(line + "\n" for line in lines)
            if os.environ.get("RTL_UPDATE"):
                os.makedirs(GOLDEN, exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(text, file.read(), f"{path}; RTL_UPDATE=1 writes it anew")


class Names(Read):
    def gemms(self, names=tuple(GEMMS)):
        s = self.process()
        s.agent()
        queue = s.queue(1)
        for i, name in enumerate(names):
            kernel = s.kernel(name)
            s.dispatch(kernel, queue, s.start + 100 * i * US, s.start + (100 * i + 50 - i) * US)
        return self.write(s)

    def test_kernels_that_differ_inside_differ_at_every_width(self):
        db = self.gemms()
        for columns, by in itertools.product((80, 100, 120, 200), ((), ("--by", "kernel"))):
            lines = self.lines(db, *by, columns=columns)
            self.assertLessEqual(max(map(len, lines)), columns, lines)
            shown = [line for line in lines if "gemm" in line and line.split()[0].endswith("%")]
            self.assertEqual(len(shown), 3, lines)
            for line, (m, n) in zip(shown, ((128, 128), (128, 64), (64, 64))):
                self.assertIn(f"{m}, {n}", line, (columns, by))
        # the numbers give way, not the name
        header = self.lines(db, "--by", "kernel", columns=80)[0].split()
        self.assertEqual((header[:3], header[-1]), (["SHARE", "TOTAL", "CALLS"], "NAME"))
        self.assertIn("P99", self.lines(db, "--by", "kernel", columns=200)[0].split())

    def test_forms_of_names(self):
        db = self.gemms(("_ZN1a1fILi1EEEvPf", "_ZN1a1fILi2EEEvPf", "_ZN1b1gEPf"))
        for form, wanted in (("short", ["f<1>", "f<2>", "g"]), ("medium", ["a::f<1>", "a::f<2>", "b::g"]),
                             ("full", ["void a::f<1>(float*)", "void a::f<2>(float*)", "b::g(float*)"]),
                             ("mangled", ["_ZN1a1fILi1EEEvPf", "_ZN1a1fILi2EEEvPf", "_ZN1b1gEPf"])):
            lines = self.lines(db, "--by", "kernel", "--names", form)[1:]
            # behind the GPU and the columns of times
            self.assertEqual([line.split("0    -  -  ")[-1].split("  ")[-1] for line in lines], wanted, form)
        self.assertEqual([r["name"] for r in self.rows(db)], ["void a::f<1>(float*)", "void a::f<2>(float*)", "b::g(float*)"])

    def test_same_short_names_keep_scope_or_parameters(self):
        db = self.gemms(("_ZN1a1fEi", "_ZN1b1fEi", "_Z1gi", "_Z1gf"))
        shown = [line.split("  ")[-1] for line in self.lines(db, "--by", "kernel", "--names", "short")[1:]]
        self.assertEqual(sorted(shown), ["a::f", "b::f", "g(float)", "g(int)"])

    def test_piped_output_is_unabridged(self):
        text = self.rtl("summary", self.gemms()).stdout
        for name in GEMMS:
            self.assertIn(name, text)


class Overview(Read):
    def host(self):
        """1 s: 600 ms of hipInit, a kernel of 100 ms, a copy of 50 ms that overlaps it for 20 ms, a failed call."""
        s = self.process()
        s.agent()
        queue, kernel = s.queue(1), s.kernel("_Z4workPf")
        init = s.op(1, "hipInit", "u:flags")
        wait = s.op(2, "hipStreamSynchronize", SIG_STREAM)
        fail = s.op(3, "hipMalloc", "")
        at = s.start
        s.api(init, at, at + 600 * MS)
        s.api(fail, at + 600 * MS, at + 601 * MS, status=2)
        s.dispatch(kernel, queue, at + 700 * MS, at + 800 * MS)
        s.copy(at + 780 * MS, at + 830 * MS, 50 << 20)
        s.api(wait, at + 650 * MS, at + 1000 * MS)
        return s

    def test_figures_are_those_of_the_trace(self):
        db = self.write(self.host())
        wall = self.rows(db, "--by", "overview")["wall_ns"]
        figures = self.rows(db, "--by", "overview")
        gpu = figures["gpus"][0]
        self.assertEqual((gpu["busy_ns"], gpu["kernel_busy_ns"], gpu["copy_busy_ns"], gpu["overlap_ns"]),
                         (130 * MS, 100 * MS, 50 * MS, 20 * MS))
        # until the first operation, which is the kernel
        self.assertEqual(figures["startup_ns"], 700 * MS)
        self.assertEqual(gpu["idle_ns"], wall - 700 * MS - 130 * MS)
        idle = {c["name"]: c["idle_ns"] for c in figures["calls"]}
        self.assertEqual(idle, {"hipInit": 0, "hipMalloc": 0, "hipStreamSynchronize": 170 * MS})
        self.assertEqual(figures["idle_outside_calls_ns"], figures["idle_ns"] - 170 * MS)
        text = self.words(db)
        for part in ("Start-up: 700.0 ms until the first operation", "130.0 ms", "100.0 ms", "20.00 ms", "hipErrorOutOfMemory of hipMalloc (1)",
                     "CopyHostToDevice", "50.00 MiB", "1000.0 MiB/s", "work(float*)", "The trace is complete"):
            self.assertIn(part, text)

    def test_overview_is_one_screen(self):
        lines = self.lines(self.write(self.host()), columns=80)
        self.assertLessEqual(max(map(len, lines)), 80, lines)
        self.assertLessEqual(len(lines), 48)

    def test_window_of_time_cuts_figures(self):
        db = self.write(self.host())
        begin = sqlite3.connect(self.path(db)).execute("select min(start_ns) from rtl_process").fetchone()[0]
        offset = 1_000_000_000_000 - begin
        a, b = offset + 750 * MS, offset + 850 * MS
        figures = self.rows(db, "--by", "overview", "--time", f"{a / 1e9:.9f}:{b / 1e9:.9f}")
        self.assertEqual((figures["wall_ns"], figures["gpus"][0]["busy_ns"], figures["gpus"][0]["idle_ns"]),
                         (100 * MS, 80 * MS, 20 * MS))
        self.assertIn("is no time A:B", self.rtl("summary", db, "--time", "5", status=2).stderr)
        self.assertIn("is no time A:B", self.rtl("summary", db, "--time", "2:1", status=2).stderr)

    def test_time_without_a_gap_is_not_called_idle(self):
        db = self.write(self.host())
        begin = sqlite3.connect(self.path(db)).execute("select min(start_ns) from rtl_process").fetchone()[0]
        begin_ns, end_ns = sqlite3.connect(self.path(db)).execute("select begin_ns, end_ns from rtl_dispatch order by end_ns - begin_ns desc limit 1").fetchone()
        part = (end_ns - begin_ns) // 4
        shown = self.rtl("summary", db, "--time", f"{(begin_ns - begin + part) / 1e9:.9f}:{(end_ns - begin - part) / 1e9:.9f}").stdout
        self.assertIn("Never idle\n", shown)
        self.assertNotIn(" gaps", shown)

    def test_gaps_have_their_cause(self):
        db = self.write(self.host())
        gaps = self.rows(db, "--by", "gap")
        # whatever was read before
        self.assertEqual(self.rows(db, "--by", "overview,gap")["gap"], gaps)
        # what is before the first operation is the start-up, and no gap
        self.assertEqual([(g["gap_ns"] >= 170 * MS, g["host"].split()[0], g["before"]) for g in gaps],
                         [(True, "hipStreamSynchronize", "CopyHostToDevice")])
        part = self.rows(db, "--by", "gap", "--time", "0:10")
        self.assertEqual([(g["gap_ns"], g["host"].split()[0], g["after"]) for g in part][0], (700 * MS, "hipInit", "work(float*)"))

    def test_calls_that_were_left_out_are_not_the_hosts_own_time(self):
        gaps, words, paths = {}, {}, {}
        for name in ("all", "some", "none"):
            s = self.process()
            s.agent()
            queue, kernel = s.queue(1), s.kernel("_Z4workPf")
            for at in (s.start, s.start + 101 * MS):
                s.dispatch(kernel, queue, at, at + MS)
            if name != "none":
                s.api(s.op(1, "hipGetDevice", ""), s.start + 2 * MS, s.start + 22 * MS)
            if name == "some":
                s.loss("filtered_call", 1)
            db = paths[name] = self.write(s, name)
            gaps[name] = self.rows(db, "--by", "gap")[0]["host"]
            words[name] = self.words(db)
        self.assertEqual(gaps, {"all": "hipGetDevice 20%, else outside of calls",
                                "some": "hipGetDevice 20%, else outside of recorded calls", "none": ""})
        self.assertIn("meanwhile in its own code 80%", words["all"])
        self.assertIn("meanwhile in its own code or calls that were left out 80%", words["some"])
        self.assertNotIn("meanwhile", words["none"])
        for name, noted in (("all", False), ("some", True)):
            self.assertEqual("left out of the recording (--calls)" in self.rtl("summary", "--by", "path", paths[name]).stderr, noted, name)

    def test_failed_calls_have_their_error(self):
        self.assertEqual([(e["name"], e["error"], e["calls"]) for e in self.rows(self.write(self.host()), "--by", "error")],
                         [("hipMalloc", "hipErrorOutOfMemory", 1)])

    def test_empty_traces_say_why(self):
        s = self.process()
        db = self.write(s)
        self.assertIn("found no GPU", self.words(db))
        s = self.process()
        s.op(3, "hipGetDeviceCount", "")
        s.api(3, s.start, s.start + MS, status=100)
        db = self.write(s, "b")
        self.assertIn("hipErrorNoDevice of hipGetDeviceCount", self.words(db))
        self.assertIn("--virtual-gpu", self.words(db))
        s = self.process()
        s.agent()
        s.op(3, "hipSetDevice", "")
        s.api(3, s.start, s.start + MS)
        called = self.write(s, "c")
        self.assertIn("launched nothing in its 1 call.", self.words(called))
        s = self.process()
        s.agent()
        # before the runtime was there, after its first call, between calls that are not recorded
        for db in self.write(self.process(), "e"), called, self.write(s, "d"):
            with contextlib.closing(sqlite3.connect(self.path(db))) as d, d:
                d.execute("INSERT INTO rtl_loss_data VALUES (1, 1, 'killed', 'note', 'the process was killed by SIGABRT', 1, 0, 0)")
            self.assertIn("killed before it launched anything", self.words(db))
        # and the end of rtl trace or recover
        p = self.rtl("recover", "--force", "c.rtl", "-o", "c.db")
        self.assertIn("launched nothing", p.stderr)

    def test_several_tables_in_one_run(self):
        db = self.write(self.host())
        text = self.rtl("summary", db, "--by", "kernel,api").stdout
        self.assertLess(text.index("kernel:"), text.index("api:"))
        self.assertEqual(sorted(self.rows(db, "--by", "process,copy")), ["copy", "process"])
        # a table that can't be divided stands beside that of the ranks
        self.assertEqual(list(self.rows(db, "--by", "gpu,rank,kernel,rank,process,range,process")), ["gpu", "rank", "kernel,rank", "process", "range,process"])
        self.assertIn("counter:\nnone\n", self.rtl("summary", "-q", db, "--by", "counter,kernel").stdout)
        self.assertEqual(self.rtl("summary", "-q", db, "--by", "counter").stdout, "")
        self.assertIn("one table", self.rtl("summary", db, "--by", "kernel,api", "-f", "csv", status=2).stderr)
        self.assertIn("did you mean kernel?", self.rtl("summary", db, "--by", "api,kernle", status=2).stderr)

    def test_quiet_summary_is_the_table_alone(self):
        spool.sample(10).write(self.path("a.rtl"))
        quiet, loud = (self.rtl("summary", *args, "a.rtl", "--by", "kernel") for args in (["-q"], []))
        self.assertEqual((quiet.stdout, quiet.stderr), (loud.stdout, ""))
        self.assertIn("a.rtl: 2 kernels", loud.stderr)

    def test_paused_trace_is_from_its_first_record_to_its_last(self):
        s = spool.sample(10)
        s.write(self.path("whole.rtl"))
        s.loss("paused", 3)
        s.write(self.path("paused.rtl"))
        walls = {}
        for name in ("whole", "paused"):
            walls[name] = self.rows(f"{name}.rtl", "--by", "overview")["wall_ns"]
            self.rtl("recover", "-q", "-o", f"{name}.db", f"{name}.rtl")
        with contextlib.closing(sqlite3.connect(self.path("paused.db"))) as db:
            first, last = db.execute("SELECT min(start), max(\"end\") FROM (SELECT start, \"end\" FROM rocpd_op UNION ALL "
                                     "SELECT start, \"end\" FROM rocpd_api)").fetchone()
        self.assertEqual(walls["paused"], last - first)
        self.assertGreater(walls["whole"], walls["paused"])
        self.assertIn("from the first record to the last: recording was paused", self.words("paused.rtl"))
        self.assertNotIn("recording was paused", self.words("whole.rtl"))

    def test_rows_are_sorted_by_any_column(self):
        db = self.write(self.host())
        self.assertEqual([r["name"] for r in self.rows(db, "--by", "api", "--sort", "name")],
                         ["hipInit", "hipMalloc", "hipStreamSynchronize"])
        self.assertEqual([r["name"] for r in self.rows(db, "--by", "api", "--sort", "mean", "-n", "2")],
                         ["hipInit", "hipStreamSynchronize"])
        self.assertEqual(self.rows(db, "--by", "api", "--sort", "ERRORS", "-n", "1")[0]["name"], "hipMalloc")
        self.assertIn("has no column 'colour'; it has share, total_ns", self.rtl("summary", db, "--by", "api", "--sort", "colour",
                                                                                  status=2).stderr)


class Ranges(Read):
    def tree(self):
        """epoch [ step [ forward: 10 us; backward: 20 us ] step's own: 5 us ], twice; and a start/stop range around the second."""
        s = self.process()
        s.agent()
        s.agent()
        queues = [s.queue(1), s.queue(2)]
        work, other = s.kernel("_Z4workPf"), s.kernel("_Z5otherPf")
        launch = s.op(1, "hipLaunchKernel", "")
        at = s.start + MS
        epoch = s.marker(at, "epoch")
        started = 0

        def run(kernel, us, marker):
            nonlocal at
            call = s.api(launch, at, at + US)
            s.dispatch(kernel, queues[kernel == other], at + 2 * US, at + (2 + us) * US, marker, correlation=call)
            at += 100 * US

        for n in range(2):
            if n:
                started = s.marker(at, "loop", kind=spool.START)
            at += US
            step = s.marker(at, f"step {n}", level=1, parent=epoch)
            forward = s.marker(at + 1, "forward", level=2, parent=step)
            at += 10
            run(work, 10, forward)
            s.marker_end(at, forward)
            backward = s.marker(at + 1, "backward", level=2, parent=step)
            at += 10
            run(other, 20, backward)
            s.marker_end(at, backward)
            run(work, 5, step)
            s.marker_end(at, step)
        s.marker_end(at + US, started)
        s.marker_end(at + 2 * US, epoch)
        return self.write(s)

    def test_ranges_have_inclusive_and_exclusive_time(self):
        db = self.tree()
        rows = {r["path"]: (r["gpu_ns"], r["gpu_own_ns"], r["ops"], r["depth"]) for r in self.rows(db, "--by", "range")}
        self.assertEqual(rows, {
            "epoch": (70 * US, 0, 6, 0),
            "epoch/step 0": (35 * US, 5 * US, 3, 1), "epoch/step 1": (35 * US, 5 * US, 3, 1),
            "epoch/step 0/forward": (10 * US, 10 * US, 1, 2), "epoch/step 1/forward": (10 * US, 10 * US, 1, 2),
            "epoch/step 0/backward": (20 * US, 20 * US, 1, 2), "epoch/step 1/backward": (20 * US, 20 * US, 1, 2),
            "loop": (35 * US, 0, 3, 0)})
        lines = self.lines(db, "--by", "range", columns=100)
        names = [line[lines[0].index("RANGE"):] for line in lines[1:]]
        self.assertEqual(names[:4], ["epoch", "  step 0", "    backward", "    forward"])
        self.assertIn("loop (start/stop)", names)
        self.assertIn("epoch", self.words(db))

    def test_ranges_without_gpu_time_are_in_the_order_of_host_time(self):
        s = self.process()
        for name, us in (("short", 1), ("long", 3), ("b of two", 2), ("a of two", 2)):
            s.marker_end(s.start + us * US, s.marker(s.start, name))
        self.assertEqual([r["path"] for r in self.rows(self.write(s), "--by", "range")], ["long", "a of two", "b of two", "short"])

    def test_parts_of_a_trace(self):
        db = self.tree()
        calls = {r["name"]: r["calls"] for r in self.rows(db, "--by", "kernel", "--range", "step 1")}
        self.assertEqual(calls, {"work(float*)": 2, "other(float*)": 1})
        self.assertEqual(self.rows(db, "--by", "api", "--range", "forward@2")[0]["calls"], 1)
        self.assertEqual(sum(r["calls"] for r in self.rows(db, "--by", "kernel", "--range", "loop")), 3)
        self.assertIn("no range has the name 'stop'", self.rtl("summary", db, "--range", "stop", status=1).stderr)
        self.assertEqual([r["name"] for r in self.rows(db, "--by", "kernel", "--kernels", "oth")], ["other(float*)"])
        self.assertEqual([r["name"] for r in self.rows(db, "--by", "kernel", "--gpus", "1")], ["other(float*)"])
        self.assertEqual([g["gpu"] for g in self.rows(db, "--by", "overview", "--gpus", "0")["gpus"]], [0])
        self.assertIn("in this part of the trace (--time, --kernels)", self.words(db, "--time", "100:", "--kernels", "oth"))
        self.assertIn("no API call in this part of the trace (--time)", self.rtl("summary", db, "--by", "api", "--time", "100:").stderr)

    def means(self):
        """A kernel of the program, and in two ranges on two GPUs: a copy by an engine, copies by kernels of ROCr, and of HIP."""
        s = self.process()
        s.op(1, "hipMemcpyAsync", "dst:p:dst,src:p:src,sizeBytes:z:bytes,kind:e=hipMemcpyKind:kind,stream:h:stream")
        agents = [s.agent(), s.agent()]
        queues, hidden = [s.queue(a) for a in agents], [s.queue(a, internal=True) for a in agents]
        work, blit, fill = s.kernel("_Z4workPf.kd"), s.kernel("__amd_rocclr_copyBuffer.kd"), s.kernel("__amd_rocclr_fillBufferAligned.kd")
        rocr = [s.kernel("CopyAligned.kd"), s.kernel("CopyMisaligned.kd")]
        for gpu in (0, 1):
            at = s.start + MS * (gpu + 1)
            step = s.marker(at, f"step {gpu}")
            call = lambda i: s.api(1, at + i * 10 * US, at + (i * 10 + 2) * US, (1, 2, 4096, 1, 0))
            s.dispatch(work, queues[gpu], at + US, at + 2 * US, marker=step, correlation=call(0))
            s.copy(at + 13 * US, at + 14 * US, 4096, marker=step, correlation=call(1))
            for i, kernel in ((2, blit), (3, fill)):
                s.dispatch(kernel, queues[gpu], at + (i * 10 + 3) * US, at + (i * 10 + 4) * US, marker=step, correlation=call(i))
            own = call(4)
            s.dispatch(rocr[gpu], hidden[gpu], at + 43 * US, at + 44 * US, flags=spool.F_INTERNAL, marker=step, correlation=own)
            s.copy(at + 43 * US, at + 44 * US, 4096, marker=step, correlation=own, engine=0xFFFFFFFF)
            s.marker_end(at + 90 * US, step)
        return self.write(s)

    def test_internal_kernels_are_of_the_part(self):
        db = self.means()
        hip, fill, first, second = "__amd_rocclr_copyBuffer", "__amd_rocclr_fillBufferAligned", "CopyAligned", "CopyMisaligned"
        for args, names in (((), {hip: 2, fill: 2, first: 1, second: 1}), (("--kernels", "copyBuffer"), {hip: 2}),
                            (("--kernels", "^__amd_rocclr_"), {hip: 2, fill: 2}), (("--kernels", "^CopyMis"), {second: 1}),
                            (("--kernels", "CopyMis", "--gpus", "0"), {}), (("--kernels", "work"), {}),
                            (("--gpus", "1"), {hip: 1, fill: 1, second: 1}), (("--time", ":1.5ms"), {hip: 1, fill: 1, first: 1}),
                            (("--range", "step 1"), {hip: 1, fill: 1, second: 1})):
            self.assertEqual({r["name"]: r["calls"] for r in self.rows(db, "--by", "kernel", "--internal", *args)}, names, args)
        # copies by an engine are kept, as without --internal
        engine, ours = "CopyHostToDevice by copy engine 0", "CopyHostToDevice by kernel of ROCr"
        for regex, names in (("copyBuffer", {engine: 2, f"CopyHostToDevice by {hip}": 2}), ("^CopyMis", {engine: 2, ours: 1}), ("work", {engine: 2})):
            self.assertEqual({r["name"]: r["calls"] for r in self.rows(db, "--by", "copy", "--internal", "--kernels", regex)}, names, regex)
        self.assertEqual({r["name"]: r["calls"] for r in self.rows(db, "--by", "copy", "--kernels", "work")}, {"CopyHostToDevice": 6, "FillBuffer": 2})
        self.assertIn("no kernel in this part of the trace (--kernels)", self.rtl("summary", db, "--internal", "--kernels", "work").stderr)
        self.assertIn("no kernel matches --kernels 'none'; rtl summary --internal lists those of the runtimes",
                      self.rtl("summary", db, "--internal", "--kernels", "none", status=1).stderr)

    def test_parts_that_match_nothing_are_errors_that_name_what_there_is(self):
        db = self.tree()
        for text, message in (("wrok", "'wrok'; it has work, other; rtl summary --by kernel lists them all"),
                              ("othwr$", "'othwr$'; most like it: other; rtl summary"), ("hipLaunchKernel", "it has work, other"), (".*", None), ("__amd_rocclr_copy", "no kernel matches")):
            if message is None:
                self.rtl("summary", db, "--kernels", text)
            else:
                self.assertIn(message, self.rtl("summary", db, "--kernels", text, status=1).stderr)
        stderr = self.rtl("summary", db, "--by", "gpu", "--gpus", "7-9", status=1).stderr
        self.assertIn("a.db: it has no GPU of --gpus 7-9; its GPUs are 0, 1", stderr)
        s = self.process()
        s.write(self.path("none.rtl"))
        self.assertIn("no kernel matches --kernels 'x'; it has none", self.rtl("summary", "none.rtl", "--kernels", "x", status=1).stderr)
        self.assertIn("no GPU of --gpus 0; it has none", self.rtl("summary", "none.rtl", "--gpus", "0", status=1).stderr)

    def test_file_of_rpd_has_valid_json_of_each_table(self):
        with contextlib.closing(sqlite3.connect(self.path("rpd.db"))) as d, d:
            d.executescript(RPD_TABLES)
        tables = self.rows("rpd.db", "--by", "process,rank,graph,kernel,rank,counter")
        self.assertEqual(tables, {"process": [], "rank": [], "graph": [], "kernel,rank": [], "counter": []})
        self.assertIn("files of RPD do not describe processes", self.rtl("summary", "rpd.db", "--by", "kernel,rank").stderr)

    def test_ranks_are_rows_and_parts(self):
        for rank in (0, 1):
            s = spool.sample(10 * (rank + 1), pid=100 + rank, rank=rank)
            s.write(self.path(f"{rank}.rtl"))
        self.rtl("merge", "-q", "0.rtl", "1.rtl", "-o", "m.db")
        rows = self.rows("m.db", "--by", "rank")
        self.assertEqual(sorted((r["rank"], r["processes"], r["kernels"], r["copies"]) for r in rows), [(0, 1, 10, 1), (1, 1, 20, 1)])
        mean = sum(r["kernel_ns"] + r["copy_ns"] for r in rows) / 2
        self.assertEqual([round(r["of_mean"], 9) for r in rows], [round((r["kernel_ns"] + r["copy_ns"]) / mean, 9) for r in rows])
        most = max(rows, key=lambda r: r["of_mean"])
        self.assertIn(f"rank {most['rank']} has the most work for GPUs: {most['of_mean']:.2f} times the mean of the 2 ranks",
                      self.rtl("summary", "m.db", "--by", "rank").stderr)
        self.assertEqual(sum(r["calls"] for r in self.rows("m.db", "--by", "kernel", "--ranks", "1")), 20)
        self.assertEqual(sorted(p["pid"] for p in self.rows("m.db", "--by", "process")), [100, 101])
        self.assertIn("no process has a rank of --ranks 5; rtl summary --by rank lists them",
                      self.rtl("summary", "m.db", "--ranks", "5", status=1).stderr)
        spool.sample(10).write(self.path("alone.rtl"))
        self.assertIn("alone.rtl: no process has a rank:", self.rtl("summary", "alone.rtl", "--ranks", "5", status=1).stderr)


class Traps(Read):
    def test_one_message_with_the_suggestion(self):
        for args, part in ((("sumary", "x"), "did you mean 'rtl summary'?"), (("help", "sumary"), "did you mean 'summary'?"),
                           (("help", "nope"), "nope: unknown command; 'rtl help' lists the commands"),
                           (("--summary",), "did you mean 'rtl summary'?"), (("trace", "-output", "x", "ls"), "did you mean --output?"),
                           (("trace", "-modes", "lite", "ls"), "did you mean --mode?"), (("summary", "a", "--bye", "x"), "did you mean --by?"),
                           (("trace", "--mode", "lit", "ls"), "did you mean lite?"), (("trace", "-f", "ls"), "-f: is --force here")):
            p = self.rtl(*args, status=None)
            self.assertIn(p.returncode, (2, 125), args)
            self.assertEqual((len(p.stderr.splitlines()), p.stdout), (1, ""), p.stderr)
            self.assertIn(part, p.stderr)
        self.assertEqual(self.files(), [])

    def test_empty_output_is_not_an_existing_one(self):
        spool.sample(10).write(self.path("a.rtl"))
        for name in ("e.db", "e.json"):
            with open(self.path(name), "w", encoding="ascii"):
                pass
        self.rtl("recover", "-q", "a.rtl", "-o", "e.db")
        self.assertEqual(sum(r["calls"] for r in self.rows("e.db", "--by", "kernel")), 10)
        self.rtl("convert", "-q", "e.db", "-f", "chrome", "-o", "e.json")
        self.assertGreater(os.path.getsize(self.path("e.json")), 100)
        for args in (("recover", "a.rtl", "-o", "e.db"), ("convert", "e.db", "-f", "chrome", "-o", "e.json")):
            self.assertIn("--force", self.rtl(*args, status=1).stderr)


if __name__ == "__main__":
    unittest.main()
