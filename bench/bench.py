#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench.py - the costs of the product, each figure beside its floor from the same run

Programs run on the virtual GPU, untraced, under a tool that only passes packets through, and under
librtl, in turns, so that all of them see the same machine. A figure is the median over the rounds; what a
dispatch or a call costs, the lower quartile of each tool's rounds, see Bench.quiet(). Prints a table, and
writes results.json with every round's value. Times are reported, never judged by the exit status: it is 1 when
something did not run.
"""
import argparse
import concurrent.futures
import contextlib
import glob
import json
import os
import platform
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import compat
import jobs
import lines as thread_lines
import page as report_page
import step as whole_step

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
HARVESTER_BUDGET = 1.0  # % of a core
ADDED_BUDGET = 150.0  # ns for each dispatch
API_BUDGET = 80.0
STORE_BUDGET = 3.0
WAIT_BUDGET = 10.0
ADDED_RATIO = 2.0  # to the time that the pass-through tool adds
START_BUDGET = 5.0  # ms
SPOOL_BUDGET = 16.0  # bytes for each dispatch
RATE_BUDGET = 500e3  # records/s
JSON_BUDGET = 2  # seconds, of 1 M operations
MEMORY_BUDGET = 64.0  # MiB
PARQUET_BUDGET = 12  # bytes of a dispatch
RUNTIMES = ("libhsa-runtime64.so.1", "libamdhip64.so.5")


class NotRun(Exception):
    pass


class Row:
    """A figure with its floor and its budgets: (text, whether it is kept)."""

    def __init__(self, name, value, unit, floor=None, floor_name="", budgets=(), low=None, note=""):
        self.name, self.value, self.unit = name, value, unit
        self.floor, self.floor_name, self.budgets = floor, floor_name, list(budgets)
        self.low, self.note = low, note

    def ratio(self):
        return self.value / self.floor if self.floor else None

    def verdict(self):
        if not self.budgets:
            return ""
        return "ok" if all(kept for _, kept in self.budgets) else "over"

    def as_dict(self):
        return {
            "name": self.name,
            "value": self.value,
            "lowest": self.low,
            "unit": self.unit,
            "floor": self.floor,
            "floor_name": self.floor_name,
            "ratio": self.ratio(),
            "budget": "; ".join(text for text, _ in self.budgets),
            "verdict": self.verdict(),
            "note": self.note,
        }


# choices of what is recorded, by what follows the mode in a tool's name
CHOICES = {
    "paused": {"RTL_TRACE_START": "off"},
    "other kernels": {"RTL_KERNELS": "no such kernel"},
    "other GPUs": {"RTL_GPUS": "99"},
    "calls left out": {"RTL_CALLS": "no such function"},
    "kernel recorded": {"RTL_NOT_KERNELS": "no such kernel"},
    "counted": {"RTL_PMC": "SQ_WAVES,SQ_INSTS_VALU=gfx900:6.0.4,6.0.26"},
    "replayed": {"RTL_PMC": "SQ_WAVES,SQ_INSTS_VALU=gfx900:6.0.4/6.0.26", "RTL_PMC_REPLAY": "1"},
}


class Bench:
    def __init__(self, args):
        self.quick, self.build = args.quick, os.path.abspath(args.build)
        self.is_part = bool(args.part)
        self.rounds = 1 if args.quick else args.rounds
        self.rows, self.raw, self.failures, self.notes = [], {}, [], []
        self.before = args.before
        self.dir = None
        self.cpu_seconds = 0.0  # of the last program

    @staticmethod
    def quiet(values):
        """The lower quartile: other programs, and other guests of the machine, only add time. They disturb for seconds
        at a time, so medians would compare disturbed rounds of one tool with undisturbed rounds of another."""
        return sorted(values)[len(values) // 4]

    def path(self, *parts):
        return os.path.join(self.build, *parts)

    def tool(self, name):
        """The environment in which a program runs under a tool."""
        if name == "untraced":
            return {}
        if name == compat.BUFFERED:
            return compat.sdk_env(self, "kernel")
        if name in compat.COUNTING:
            return compat.counting_env(self, name)
        if name == "passthrough":
            return {"HSA_TOOLS_LIB": self.path("bench/libpassthrough.so")}
        more = dict(CHOICES.get(name.partition(", ")[2], {}))
        if name.startswith("hip") or name.endswith("preloaded"):
            more["LD_PRELOAD"] = self.path("lib/librtl.so.1")
            more["RTL_ARGS"] = "0" if name.endswith("without arguments") else "1"
        return {
            **more,
            "HSA_TOOLS_LIB": self.path("lib/librtl.so.1"),
            "RTL_MODE": name.split(",")[0],
            "RTL_OUTPUT": os.path.join(self.dir, "t.db"),
            "RTL_SPOOL_DIR": os.path.join(self.dir, "spool"),
            # the conversion is not part of the measurement
            "RTL_BIN": "/bin/true",
        }

    def env(self, extra):
        strange = ("RTL_", "VGPU_", "HSA_", "LD_", "HIP_", "ROC", "AMD_", "GPU_")
        env = {k: v for k, v in os.environ.items() if not k.startswith(strange)}
        env.update(
            LC_ALL="C.UTF-8",
            LD_LIBRARY_PATH=self.path("vgpu"),  # where HSA's runtime finds AQLprofile
            VGPU_EXEC="off",
            VGPU_KERNEL_MODEL="grid",
            VGPU_KERNEL_NS="0",
            VGPU_NS_PER_ITEM="0.1",
        )
        env.update(extra)
        # the GPU is the one of the first folder
        driver = os.path.join(env["LD_LIBRARY_PATH"].split(":")[0], "libvgpu.so")
        env["LD_PRELOAD"] = ":".join(filter(None, [env.get("LD_PRELOAD"), driver if os.path.exists(driver) else None]))
        return env

    def run(self, argv, extra=None, timeout=900, stdout=None):
        """Runs a program; its last line as JSON, its seconds and its peak memory in MiB."""
        program = argv[0]
        if not os.path.exists(program):
            raise NotRun(f"{program}: was not built; `make bench` builds it")
        with tempfile.TemporaryFile(dir=self.dir) as out, tempfile.TemporaryFile(dir=self.dir) as err:
            started = time.monotonic()
            p = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=stdout or out, stderr=err, env=self.env(extra or {})
            )
            pid, status, usage = wait_for(p, timeout)
            seconds = time.monotonic() - started
            err.seek(0)
            text = err.read().decode(errors="replace")
            if status != 0:
                what = " ".join(argv)
                raise NotRun(f"{what}: status {status}: {text[-800:].strip()}")
            out.seek(0)
            lines = out.read().decode(errors="replace").strip().split("\n")
        result = {}
        with contextlib.suppress(ValueError):
            result = json.loads(lines[-1])
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        return result, seconds, usage.ru_maxrss / 1024

    def traced(self, program, args, tool, extra=None):
        argv = [self.path("bench", program), *args]
        result, _, _ = self.run(argv, {**self.tool(tool), **(extra or {})})
        shutil.rmtree(os.path.join(self.dir, "spool"), ignore_errors=True)
        return result

    def keep(self, name, values):
        self.raw[name] = values

    def add(self, *args, **kwargs):
        self.rows.append(Row(*args, **kwargs))

    # ---- added host time -----------------------------------------------------------------------

    def interleave(self, label, program, args, tools, key="median", rounds=None):
        """{tool: [value of each round]}; the order of tools turns from round to round."""
        values = {t: [] for t in tools}
        for r in range(rounds or self.rounds):
            with contextlib.suppress(NotRun):  # one processor alone
                line = self.traced("dispatch", ["do=line"], "untraced")["ns"]
                self.raw.setdefault("line", []).append(line)
            for t in tools[r % len(tools) :] + tools[: r % len(tools)]:
                values[t].append(self.traced(program, args, t)[key])
        self.keep(label, values)
        return values

    def added_rows(self, label, values, tools, budget_for=()):
        base = values["untraced"]
        floor = self.quiet(values["passthrough"]) - self.quiet(base)
        self.add(f"{label}, untraced", self.quiet(base), "ns", low=min(base))
        for t in tools:
            if t == "untraced":
                continue
            value, low = self.quiet(values[t]) - self.quiet(base), min(values[t]) - min(base)
            if t == "passthrough":
                self.add(f"{label}, added by {t}", value, "ns", low=low)
                continue
            budgets = []
            if t in budget_for:
                budgets = [
                    (f"<= {ADDED_BUDGET:.0f} ns", value <= ADDED_BUDGET),
                    (f"<= {ADDED_RATIO:.0f} x floor", value <= ADDED_RATIO * floor),
                ]
            self.add(f"{label}, added by {t}", value, "ns", floor, "passthrough", budgets, low)

    def add_line(self):
        """The time of a cache line between processors, which explains differences between rounds."""
        values = self.raw.get("line")
        if not values:
            return
        self.add("a cache line to another processor and back", statistics.median(values), "ns",
                 low=min(values), note=f"highest {max(values):.0f}")  # fmt: skip

    def dispatch(self):
        tools = ["untraced", "passthrough", "lite", "standard", "full"]
        blocks = f"blocks={40 if self.quick else 150}"
        rounds = self.rounds if self.quick else 3 * self.rounds
        for kind, what in (("plain", "dispatch"), ("signal", "dispatch with a signal")):
            values = self.interleave(
                f"dispatch {kind}", "dispatch", ["do=submit", f"kind={kind}", blocks], tools, rounds=rounds
            )
            self.added_rows(what, values, tools, budget_for=("standard", "full"))
        few = ["untraced", "passthrough", "standard"]
        values = self.interleave(
            "dispatch spaced", "dispatch", ["do=spaced", f"count={500 if self.quick else 10000}"], few
        )
        self.added_rows("dispatch after 20 us of other work", values, few)
        values = self.interleave(
            "dispatch shared", "dispatch", ["do=shared", f"count={200 if self.quick else 4000}", "gpu=free"], few
        )
        self.added_rows("two dispatches that share a signal, until it is 0", values, few)
        stores = ["untraced", "standard"]
        values = self.interleave("signal store", "dispatch", ["do=store", blocks], stores)
        added = self.quiet(values["standard"]) - self.quiet(values["untraced"])
        self.add("store to a signal that is no doorbell, added by standard", added, "ns",
                 budgets=[(f"<= {STORE_BUDGET:.0f} ns", added <= STORE_BUDGET)])  # fmt: skip
        for what, text in (("load", "load of a completed signal, nothing in flight"), ("wait", "wait for a completed signal, nothing in flight")):
            values = self.interleave(f"signal {what}", "dispatch", [f"do={what}", blocks], few)
            added = self.quiet(values["standard"]) - self.quiet(values["untraced"])
            self.add(f"{text}, added by standard", added, "ns", self.quiet(values["untraced"]), "untraced",
                     [(f"<= {WAIT_BUDGET:.0f} ns", added <= WAIT_BUDGET)])
        values = self.interleave("dispatch free", "dispatch", ["do=submit", "gpu=free", blocks], few)
        self.added_rows("dispatch, GPU polls along", values, few)

    def counters(self):
        """A dispatch and the wait for it: two counters, beside the same with the counters' packets by hand."""
        # the harvester and the GPU each need a processor; the program waits meanwhile
        args = ["pin=0", f"count={100 if self.quick else 4000}"]
        tools = ["untraced", "standard", "standard, counted", "rocprofiler-sdk, counted", "rocprofiler v1, counted"]
        tools = [t for t in tools if os.path.exists(compat.COUNTING.get(t, lambda _: os.sep)(self))]
        values = self.interleave("counted", "dispatch", ["do=round", *args], tools)
        floors = [self.traced("dispatch", ["do=counted", *args], "untraced")["median"] for _ in range(self.rounds)]
        self.keep("counted floor", floors)
        for t in tools:
            what = f"a dispatch and the wait for it, {t}"
            if t.endswith("counted"):
                self.add(what, self.quiet(values[t]), "ns", self.quiet(floors), "packets by hand", low=min(values[t]))
            else:
                self.add(what, self.quiet(values[t]), "ns", low=min(values[t]))
        # the memory of the program is small: what remains are the passes, the waits for copies and for each packet
        replayed = self.interleave("replayed", "dispatch", ["do=round", "pin=0", f"count={50 if self.quick else 1000}"], ["standard, replayed"])
        replayed = replayed["standard, replayed"]
        self.add("a dispatch and the wait for it, replayed in two passes", self.quiet(replayed), "ns",
                 self.quiet(values["standard, counted"]), "counted in one", low=min(replayed))  # fmt: skip

    def launch(self):
        tools = ["untraced", "passthrough", "lite", "standard"]
        values = self.interleave("launch", "launch", [f"blocks={20 if self.quick else 200}"], tools)
        self.added_rows("HIP launch", values, tools, budget_for=("standard",))
        if self.quick:
            return
        few = ["untraced", "passthrough", "standard"]
        values = self.interleave("launch sync", "launch", ["kind=sync", "gpu=free", "block=64", "blocks=200"], few)
        self.added_rows("HIP launch and hipStreamSynchronize()", values, few)
        values = self.interleave("launch events", "launch", ["kind=events", "gpu=free", "blocks=200"], few)
        self.added_rows("HIP launch with two events", values, few)

    def api(self):
        """A cheap HIP call under each tool, and a launch, whose cost includes that of the dispatch."""
        args = [f"blocks={200 if self.quick else 4000}"]
        tools = ["untraced", "standard, preloaded", "hip, without arguments", "hip"]
        values = self.interleave("api", "apicall", args, tools)
        floors = [self.traced("apicall", ["do=floor", *args], "untraced")["median"] for _ in range(self.rounds)]
        self.keep("api floor", floors)
        floor, base = self.quiet(floors), values["untraced"]
        self.add("HIP call, untraced", self.quiet(base), "ns", low=min(base))
        for t in tools[1:]:
            value = self.quiet(values[t]) - self.quiet(base)
            budgets = [(f"<= {API_BUDGET:.0f} ns", value <= API_BUDGET)]
            low = min(values[t]) - min(base)
            self.add(f"HIP call, added by {t}", value, "ns", floor, "2 x counter, 64 bytes", budgets, low)
        tools = ["untraced", "standard", "hip"]
        values = self.interleave("api launch", "launch", [f"blocks={20 if self.quick else 200}"], tools)
        base = values["untraced"]
        for t in tools[1:]:
            value = self.quiet(values[t]) / self.quiet(base)
            low = min(values[t]) / min(base)
            # three calls, of which one has a record: the configuration is pushed and popped
            self.add(f"launch-bound program, {t} to untraced", value, "x", low=low)

    def roctracer(self):
        compat.roctracer(self)

    def sdk(self):
        compat.sdk(self)

    def page(self):
        report_page.report(self)

    def step(self):
        whole_step.step(self)

    def lines(self):
        thread_lines.lines(self)

    def fleet(self):
        jobs.fleet(self)

    def has_hip_callbacks(self):
        """Whether HIP is one up to 5.3, in which a program can register functions that it calls."""
        with contextlib.suppress(NotRun):
            self.traced("tracecall", ["do=least_disabled", "blocks=1", f"library={self.path('lib/libroctracer64.so.4')}"], "untraced")
            return True
        return False

    # ---- instructions --------------------------------------------------------------------------

    def callgrind(self, program, args, tool, *options):
        """{thread: (instructions, whether it is the harvester)}, threads by callgrind's numbers."""
        out = os.path.join(self.dir, "callgrind")
        # without --fair-sched a spinning thread can keep the others from running for minutes
        argv = [
            shutil.which("valgrind"), "--fair-sched=yes", "--tool=callgrind", "--separate-threads=yes",
            f"--callgrind-out-file={out}", *options, self.path("bench", program), *args, "pin=0",
        ]  # fmt: skip
        self.run(argv, self.tool(tool))
        shutil.rmtree(os.path.join(self.dir, "spool"), ignore_errors=True)
        return read_callgrind(out)

    def submitter(self, program, args, tool, function):
        """Instructions of the thread that launches, within `function`."""
        threads = self.callgrind(program, args, tool, "--collect-atstart=no", f"--toggle-collect={function}")
        return threads["01"][0]

    def instructions(self):
        if not shutil.which("valgrind"):
            raise NotRun("valgrind is not installed: no instructions counted")
        if not os.path.exists(self.path("bench/dispatch")):
            raise NotRun(f"{self.path('bench/dispatch')} was not built: no instructions counted; make bench builds it")
        blocks = 4 if self.quick else 200
        nr = (blocks + blocks // 8) * 256
        # label, program and arguments, and the budget of instructions above the untraced run
        cases = [
            ("a dispatch", "dispatch", ["do=submit"], {"standard": 160, "hip": 160}, "timed_block", nr),
            ("a dispatch with a signal", "dispatch", ["do=submit", "kind=signal"], {"standard": None}, "timed_block", nr),
            ("hipLaunchKernel()", "launch", ["kind=call"], {"standard": 160, "hip": 320, compat.BUFFERED: None}, "timed_block", nr),
            ("a launch <<<>>>", "launch", ["kind=plain"], {"hip": 480}, "timed_block", nr),
            ("a HIP call that is not recorded", "apicall", [], {"standard, preloaded": 2, "hip, calls left out": 10}, "timed_block", nr),
            ("a store to a signal that is no doorbell", "dispatch", ["do=store"], {"standard": 6}, "timed_stores", blocks * 256),
        ]  # fmt: skip
        for what, program, args, budgets, function, each in cases[: 1 if self.quick else None]:
            if not os.path.exists(self.path("bench", program)):
                continue
            counts = {
                t: self.submitter(program, [*args, f"blocks={blocks}"], t, function) / each
                for t in ("untraced", "passthrough", *budgets)
            }
            self.keep(f"instructions for {what}", counts)
            base, floor = counts["untraced"], counts["passthrough"] - counts["untraced"]
            for t, most in budgets.items():
                value = counts[t] - base
                kept = [(f"<= {most}", value <= most)] if most else []
                if not what.startswith(("a store", "a HIP call")):
                    kept.append(("< floor", value < floor))
                self.add(f"instructions for {what}, added by {t}", value, "", floor, "passthrough", kept)
        if not self.quick:
            self.choice_instructions(["do=submit", f"blocks={blocks}"], nr)
            self.harvester_instructions()

    def choice_instructions(self, args, nr):
        """A dispatch that a filter leaves out costs about as much as one in a pause."""
        tools = ["untraced", *(f"standard, {what}" for what in CHOICES)]
        counts = {t: self.submitter("dispatch", args, t, "timed_block") / nr for t in tools}
        self.keep("instructions for a dispatch with a choice", counts)
        paused = counts["standard, paused"] - counts["untraced"]
        for what in CHOICES:
            value = counts[f"standard, {what}"] - counts["untraced"]
            kept = [("<= 1.05 x paused", value <= 1.05 * paused)] if what.startswith("other") else []
            self.add(f"instructions for a dispatch with a choice, {what}", value, "", budgets=kept)

    def harvester_instructions(self):
        """What a run of more dispatches takes more, for each of them, in the harvester and in waits."""
        few, many = 16, 80
        nr = (many + many // 8 - few - few // 8) * 256
        for kind, what in (("plain", "a dispatch"), ("signal", "a dispatch with a signal")):
            total = []
            for blocks in (few, many):
                threads = self.callgrind(
                    "dispatch", ["do=submit", f"kind={kind}", f"blocks={blocks}"], "standard", "--collect-atstart=no",
                    "--toggle-collect=harvest_completed", "--toggle-collect=collect_queue",
                )
                total.append(sum(n for n, _ in threads.values()))
            self.add(f"instructions to record {what}, harvester and waits", (total[1] - total[0]) / nr, "")

    # ---- the harvester, start-up ---------------------------------------------------------------

    def harvester(self):
        seconds = 1 if self.quick else 5
        cases = (
            ("10 k dispatches/s", ["do=rate", "rate=10000", f"seconds={seconds}"], HARVESTER_BUDGET),
            ("nothing to do", ["do=idle", f"seconds={min(seconds, 3)}"], HARVESTER_BUDGET),
            ("as many as the virtual GPU takes", ["do=flood", "gpu=free", f"seconds={min(seconds, 2)}"], None),
        )
        for what, args, budget in cases:
            runs = [self.traced("dispatch", args, "standard") for _ in range(1 if self.quick else 3)]
            self.keep(f"harvester {what}", runs)
            value = statistics.median(r["percent"] for r in runs)
            budgets = [(f"< {budget:.0f} %", value < budget)] if budget else []
            note = ""
            if runs[0]["dispatches"]:
                rate = statistics.median(r["rate"] for r in runs)
                each = statistics.median(r["ns_each"] for r in runs)
                note = f"{rate / 1000:.0f} k/s, {each:.0f} ns for each"
            low = min(r["percent"] for r in runs)
            self.add(f"harvester, {what}", value, "% of a core", budgets=budgets, low=low, note=note)

    def startup(self):
        tools = ["untraced", "passthrough", "standard"]
        values = self.interleave(
            "hsa_init", "dispatch", ["do=init"], tools, key="us", rounds=1 if self.quick else 20
        )
        ms = {t: statistics.median(values[t]) / 1000 for t in tools}
        added = statistics.median(v - b for v, b in zip(values["standard"], values["untraced"])) / 1000
        self.add("hsa_init(), untraced", ms["untraced"], "ms", low=min(values["untraced"]) / 1000)
        self.add(
            "hsa_init(), added by standard", added, "ms", ms["passthrough"] - ms["untraced"], "passthrough",
            [(f"<= {START_BUDGET:.0f} ms", added <= START_BUDGET)],
            (min(values["standard"]) - min(values["untraced"])) / 1000,
        )  # fmt: skip

    # ---- the spool -----------------------------------------------------------------------------

    def spool_bytes(self, argv, mode="standard"):
        self.run(argv, self.tool(mode))
        files = glob.glob(os.path.join(self.dir, "spool", "*.rtl"))
        if len(files) != 1:
            raise NotRun(f"{' '.join(argv)}: {len(files)} raw traces were left, 1 expected")
        size = os.path.getsize(files[0])
        shutil.rmtree(os.path.join(self.dir, "spool"))
        return size

    def spool(self):
        nr = 20000 if self.quick else 200000
        program = self.path("bench/dispatch")
        base = self.spool_bytes([program, "do=count", "count=0"])
        for shapes in (1, 8, 64, 400):
            args = [program, "do=count", f"count={nr}", f"shapes={shapes}"]
            value = (self.spool_bytes(args) - base) / nr
            budgets = [(f"<= {SPOOL_BUDGET:.0f}", value <= SPOOL_BUDGET)]
            what = "all alike" if shapes == 1 else f"{shapes} kinds in turn"
            self.add(f"spool, a dispatch, {what}", value, "bytes", budgets=budgets)
        ranges = [self.path("bench/ranges"), self.path("lib/librtl.so.1"), "do=count"]
        base = self.spool_bytes([*ranges, "count=1000"])
        value = (self.spool_bytes([*ranges, f"count={nr + 1000}"]) - base) / nr
        self.add("spool, a range pushed and popped", value, "bytes", note="text of 15 bytes")
        # launches: of each eight blocks of 256, and of one more, which is not timed
        launch, few, many = [self.path("bench/launch"), "gpu=free"], 8, nr // 2048 * 8
        base = self.spool_bytes([*launch, f"blocks={few}"], "hip")
        value = (self.spool_bytes([*launch, f"blocks={many}"], "hip") - base) / ((many - few) // 8 * 9 * 256)
        self.add("spool, a launch <<<>>> with its arguments", value, "bytes", budgets=[("<= 80", value <= 80)])

    def record(self):
        blocks = f"blocks={40 if self.quick else 400}"
        env = {k: v for k, v in self.tool("standard").items() if k != "HSA_TOOLS_LIB"}

        def rounds(program, *args):
            values = []
            for _ in range(self.rounds):
                values.append(self.run([self.path("bench", program), *args, blocks], env)[0]["median"])
                shutil.rmtree(os.path.join(self.dir, "spool"), ignore_errors=True)
            self.keep(f"{program} {' '.join(args[-1:])}", values)
            return statistics.median(values), min(values)

        floor, _ = rounds("bench_record", "do=floor")
        value, low = rounds("bench_record", "do=record")
        self.add("recorder, a dispatch", value, "ns", floor, "48 bytes of stores", low=low)
        library = self.path("lib/librtl.so.1")
        floor, _ = rounds("ranges", library, "do=floor")
        value, low = rounds("ranges", library, "do=pair")
        self.add("roctx, a push and a pop", value, "ns", floor, "two clock reads, two lines", low=low)
        value, low = rounds("ranges", library, "do=mark")
        self.add("roctx, a mark", value, "ns", floor / 2, "a clock read, a line", low=low)

    # ---- conversion ----------------------------------------------------------------------------

    def convert(self):
        for nr in [100000] if self.quick else [1000000, 10000000]:
            self.convert_size(nr)
        self.convert_calls()
        jobs.collectives(self)

    def convert_size(self, nr):
        label = f"{nr / 1e6:g} M dispatches"
        spool, db = os.path.join(self.dir, "convert"), os.path.join(self.dir, "convert.db")
        copy = os.path.join(self.dir, "copy.db")
        rtl = self.path("bin/rtl")
        env = {k: v for k, v in self.tool("standard").items() if k != "HSA_TOOLS_LIB"}
        env["RTL_SPOOL_DIR"] = spool
        self.run([self.path("bench/make_spool"), f"dispatches={nr}"], env)
        files = glob.glob(os.path.join(spool, "*.rtl"))
        records = nr + 2 * (nr // 64)
        bytes_each = sum(os.path.getsize(f) for f in files) / nr
        tries = 1 if self.quick or nr > 1000000 else 3
        taken, cpu, memory, floors = [], [], [], []
        for _ in range(tries):
            _, seconds, rss = self.run([rtl, "recover", "-q", "--force", "-o", db, spool])
            taken.append(seconds)
            cpu.append(self.cpu_seconds)
            memory.append(rss)
            result, _, _ = self.run([self.path("bench/sqlite_floor"), db, copy])
            floors.append(result["seconds"] + result["index_seconds"])
            os.remove(copy)
        seconds, floor = statistics.median(taken), statistics.median(floors)
        rate = records / seconds
        self.keep(f"convert {nr}", {"recover": taken, "cpu": cpu, "floor": floors, "memory": memory, "db": os.path.getsize(db)})
        self.add(
            f"spool to SQLite, {label}", rate / 1000, "k records/s", records / floor / 1000, "SQLite, the same rows",
            [(f">= {RATE_BUDGET / 1000:.0f} k/s", rate >= RATE_BUDGET)], low=records / max(taken) / 1000,
            note=f"{statistics.median(cpu):.1f} s of processor; spool {bytes_each:.0f}, database "
            f"{os.path.getsize(db) / nr:.0f} bytes for each",
        )  # fmt: skip
        self.memory_row(f"spool to SQLite, {label}, memory", max(memory))
        self.to_json(nr, label, records, (("spool to JSON", files[0]), ("SQLite to JSON", db)))
        self.reading(nr, label, db)
        shutil.rmtree(spool)
        os.remove(db)

    def to_json(self, nr, label, records, sources):
        rtl = self.path("bin/rtl")
        for what, source in sources:
            with open(os.devnull, "wb") as null:
                argv = [rtl, "convert", "-q", source, "-f", "perfetto", "-o", "-"]
                _, seconds, rss = self.run(argv, stdout=null)
            rate = records / seconds
            self.keep(f"{what} {label}", {"seconds": seconds, "cpu": self.cpu_seconds, "memory": rss})
            budgets = [(f"<= {JSON_BUDGET} s", seconds <= JSON_BUDGET)] if records < 1.1e6 and not self.quick else []
            note = f"{seconds:.2f} s; {self.cpu_seconds:.1f} s of processor, to /dev/null"
            self.add(f"{what}, {label}", rate / 1000, "k records/s", budgets=budgets, note=note)
            self.memory_row(f"{what}, {label}, memory", rss)

    def convert_calls(self):
        """Calls beside dispatches, of 1 M operations: with arguments that repeat, and with none that does."""
        nr = 50000 if self.quick else 500000
        spool, db = os.path.join(self.dir, "convert"), os.path.join(self.dir, "convert.db")
        env = {k: v for k, v in self.tool("standard").items() if k != "HSA_TOOLS_LIB"}
        env["RTL_SPOOL_DIR"] = spool
        for calls, which in ((1, "calls"), (2, "calls of different arguments")):
            label = f"{nr / 1e6:g} M dispatches and {which}"
            self.run([self.path("bench/make_spool"), f"dispatches={nr}", f"calls={calls}"], env)
            files = glob.glob(os.path.join(spool, "*.rtl"))
            self.run([self.path("bin/rtl"), "recover", "-q", "--force", "-o", db, spool])
            self.to_json(nr, label, 2 * nr + 2 * (nr // 64), (("spool to JSON", files[0]), ("SQLite to JSON", db)))
            shutil.rmtree(spool)
            os.remove(db)

    def reading(self, nr, label, db):
        """From a database to the answer; the floor is SQLite, which reads one column of each operation."""
        rtl, out = self.path("bin/rtl"), os.path.join(self.dir, "out")
        begin = time.monotonic()
        with contextlib.closing(sqlite3.connect(db)) as connection:
            connection.execute('SELECT sum("end" - start) FROM rocpd_op').fetchone()
        floor = time.monotonic() - begin
        large = nr >= 10000000
        for what, argv, most in (
            ("summary", ["summary", db], 2),
            ("summary --by kernel", ["summary", db, "--by", "kernel"], 4),
            ("pftrace", ["convert", "-q", "--force", "-f", "pftrace", "-o", out + ".pftrace", db], 15),
            ("rocpd3", ["convert", "-q", "--force", "-f", "rocpd3", "-o", out + ".rocpd3", db], None),
            ("report", ["report", "-q", "--force", "-o", out + ".html", db], None),
        ):
            if what == "report" and nr > 1000000:
                continue  # its promise is of 1 M
            with open(os.devnull, "wb") as null:
                _, seconds, rss = self.run([rtl, *argv], stdout=null)
            self.keep(f"{what} {nr}", {"seconds": seconds, "cpu": self.cpu_seconds, "memory": rss, "floor": floor})
            most = 5 if what == "report" and nr == 1000000 else most if large else None
            budgets = [(f"<= {most} s", seconds <= most)] if most else []
            self.add(f"{what}, {label}", seconds, "s", floor, "SQLite, a sum", budgets, note=f"{self.cpu_seconds:.1f} s of processor")
            self.memory_row(f"{what}, {label}, memory", rss)
        for name in glob.glob(out + "*"):
            os.remove(name)
        self.data_set(nr, label, db)

    def data_set(self, nr, label, db):
        """The folder of a rank, in Parquet; the floor is SQLite, which reads what a dispatch is made of."""
        out = os.path.join(self.dir, "set")
        begin = time.process_time()
        with contextlib.closing(sqlite3.connect(db)) as connection:
            connection.execute(
                'SELECT max(O.id), max(gpuId), max(queueId), max(start), max("end"), max(roctxId), max(correlation_id), max(shape_id), max(flags) '
                "FROM rocpd_op O LEFT JOIN rtl_op_kernel K ON K.op_id = O.id"
            ).fetchone()
        floor = time.process_time() - begin
        _, seconds, rss = self.run([self.path("bin/rtl"), "convert", "-q", "-f", "parquet", "-o", out, db])
        size = sum(os.path.getsize(f) for f in glob.glob(out + "/*/*/dispatches.parquet"))
        self.keep(f"parquet {nr}", {"seconds": seconds, "cpu": self.cpu_seconds, "memory": rss, "floor": floor, "size": size})
        self.add(
            f"Parquet, {label}", nr / self.cpu_seconds / 1000, "k dispatches/s of processor", nr / floor / 1000, "SQLite, which reads them",
            note=f"{seconds:.2f} s; {self.cpu_seconds:.1f} s of processor",
        )  # fmt: skip
        self.add(f"Parquet, {label}, size", size / nr, "bytes for each", budgets=[(f"<= {PARQUET_BUDGET}", size <= PARQUET_BUDGET * nr)])
        self.memory_row(f"Parquet, {label}, memory", rss)
        shutil.rmtree(out)

    def memory_row(self, name, mib):
        self.add(name, mib, "MiB", budgets=[(f"<= {MEMORY_BUDGET:.0f} MiB", mib <= MEMORY_BUDGET)])

    # ---- the virtual GPU -----------------------------------------------------------------------

    def suite(self):
        """Typical programs that check their results: on one core, on all, and on one in the version before (--before)."""
        env = {"VGPU_EXEC": "on", "VGPU_KERNEL_MODEL": "fixed"}
        log = os.path.join(self.dir, "suite.json")
        tools = {"one core": {"VGPU_THREADS": "1"}, "all cores": {}, "spin, one core": {"VGPU_THREADS": "1"}, "spin": {}}
        if self.before:
            tools["before"] = {"LD_LIBRARY_PATH": os.path.abspath(self.before), "VGPU_THREADS": "1"}
        gains = {"all cores": [], "two at once": [], "spin": [], "before": []}
        for name in list(SUITE)[:3] if self.quick else SUITE:
            argv = [self.path("bench/suite"), name, "1" if self.quick else str(SUITE[name])]
            if os.path.exists(log):
                os.remove(log)
            self.run(argv, {**env, "VGPU_COUNTERS": "1", "VGPU_LOG": log})
            insts = sum(json.loads(line)["counters"]["SQ_INSTS"] for line in read(log).splitlines() if '"counters"' in line)
            runs = {tool: [] for tool in tools}
            for _ in range(1 if self.quick else self.rounds):
                for tool, extra in tools.items():
                    # a program that blocks leaves all processors to the virtual GPU; one that spins takes one of them
                    how = ["spin"] if tool.startswith("spin") else []
                    runs[tool].append(self.run([*argv, *how], {**env, **extra})[0])
                runs.setdefault("two at once", []).append(self.two_at_once(argv, {**env, "VGPU_THREADS": "1"}))
            for tool, results in runs.items():
                self.keep(f"suite {name}, {tool}", [r["seconds"] for r in results])
            # processor time: other programs of the machine don't add to it
            cpu = {tool: self.quiet([r["cpu_seconds"] for r in results]) for tool, results in runs.items()}
            wall = {tool: self.quiet([r["seconds"] for r in results]) for tool, results in runs.items()}
            gains["all cores"].append(wall["one core"] / wall["all cores"])
            gains["two at once"].append(2 * wall["one core"] / wall["two at once"])
            gains["spin"].append(wall["spin, one core"] / wall["spin"])
            note = f"{wall['one core']:.3f} s, processor {cpu['one core']:.3f}; all cores {wall['all cores']:.3f} s: "
            note += f"x{gains['all cores'][-1]:.2f}, two programs at once x{gains['two at once'][-1]:.2f}; "
            note += f"program spins {wall['spin']:.3f} s"
            if "before" in cpu:
                gains["before"].append(cpu["before"] / cpu["one core"])
                note += f"; before {wall['before']:.3f} s, processor {cpu['before']:.3f}: x{gains['before'][-1]:.2f}"
            self.add(f"virtual GPU, {name}", insts / cpu["one core"] / 1e6, "M insts/s", note=note)
        floor = statistics.geometric_mean(gains.pop("two at once"))
        for what, values in gains.items():
            if values:
                by = "of processor time" if what == "before" else "by the clock"
                note = f"{by}, geometric mean; from {min(values):.2f} to {max(values):.2f}"
                name = {
                    "all cores": "all cores to one",
                    "spin": "all cores to one, program spins",
                    "before": "one core to the version before",
                }[what]
                of = (floor, "two programs at once") if what == "all cores" else ()
                self.add(f"virtual GPU, {name}", statistics.geometric_mean(values), "times", *of, note=note)

    def two_at_once(self, argv, env):
        """The slower of two runs side by side: what a second processor of this machine can give at best."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda _: self.run(argv, env)[0], range(2)))
        return max(results, key=lambda r: r["seconds"])

    def interpreter(self):
        """The virtual GPU's instructions per second, by its own counters."""
        env = {"VGPU_EXEC": "on", "VGPU_KERNEL_MODEL": "fixed", "VGPU_COUNTERS": "1"}
        log = os.path.join(self.dir, "execute.json")
        for what, count in (("scalar", 1000000), ("fma", 300000), ("transpose", 5)):
            rates, seconds = [], []
            for _ in range(self.rounds):
                if os.path.exists(log):
                    os.remove(log)
                result, _, _ = self.run([self.path("bench/execute"), what, str(count)], {**env, "VGPU_LOG": log})
                insts = sum(json.loads(line)["counters"]["SQ_INSTS"] for line in read(log).splitlines()
                            if '"counters"' in line)  # fmt: skip
                rates.append(insts / result["seconds"] / 1e6)
                seconds.append(result["seconds"] / count)
            self.keep(f"interpreter {what}", rates)
            budgets, note = [], ""
            if what == "transpose":
                worst = statistics.median(seconds)
                budgets, note = [("<= 2 s each", worst <= 2)], f"{worst * 1e3:.0f} ms each, caches modelled"
            self.add(f"virtual GPU, {what}", statistics.median(rates), "M insts/s", budgets=budgets, low=min(rates),
                     note=note)  # fmt: skip
        rates = []
        for _ in range(self.rounds):
            result, _, _ = self.run([self.path("bench/execute"), "empty", "100000"], {"VGPU_EXEC": "on"})
            rates.append(100000 / result["seconds"] / 1000)
        self.keep("interpreter empty", rates)
        rate = statistics.median(rates)
        self.add("virtual GPU, empty kernels", rate, "k/s", budgets=[(">= 200 k/s", rate >= 200)], low=min(rates))
        self.suite()
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vgpu/decode.py")
        files = [self.path("tests/vgpu", name) for name in ("libgcn_inst.so", "stress")]
        if not all(map(os.path.exists, files)):
            raise NotRun(f"{files[0]} or {files[1]}: was not built; `make bench` builds them")
        result, _, _ = self.run([sys.executable, script, *files])
        ms = result["seconds"] * 1e3
        note = f"{result['instructions']} instructions; processor time"
        self.add("virtual GPU, decoding 1 MB", ms, "ms", budgets=[("<= 50 ms", ms <= 50)], note=note)


# how often each program's kernels run: for most of a second, so that starting and the first wake-up don't count
SUITE = {
    "stencil": 80, "reduce": 80, "sort": 8, "nbody": 10, "matmul": 20, "matmul_lds": 40, "fft": 30, "histogram": 80, "scan": 40,
    "spmv": 60, "montecarlo": 40,
}  # fmt: skip
PARTS = ("dispatch", "counters", "launch", "step", "lines", "instructions", "harvester", "startup", "spool", "record", "convert", "fleet", "page", "api", "roctracer", "sdk", "interpreter")


def wait_for(p, timeout):
    """Like p.wait(); also returns the child's resource usage."""
    deadline = time.monotonic() + timeout
    pause = 0.0005
    while True:
        pid, status, usage = os.wait4(p.pid, os.WNOHANG)
        if pid:
            p.returncode = os.waitstatus_to_exitcode(status)
            return pid, p.returncode, usage
        if time.monotonic() > deadline:
            p.kill()
            p.wait()
            raise NotRun(f"{' '.join(p.args)}: no end within {timeout} s")
        time.sleep(pause)
        pause = min(pause * 1.2, 0.01)


def read_callgrind(prefix):
    threads = {}
    for name in glob.glob(prefix + "-*"):
        with open(name, encoding="utf-8", errors="replace") as f:
            text = f.read()
        os.remove(name)
        total = sum(int(m) for m in re.findall(r"^totals: (\d+)", text, re.M))
        # the program's thread may collect completions, too
        threads[name.rsplit("-", 1)[1]] = (total, "collect_queue" in text and "timed_block" not in text)
    with contextlib.suppress(FileNotFoundError):
        os.remove(prefix)
    return threads


# ---- the machine -------------------------------------------------------------------------------


def machine(build):
    facts = {
        "processor": "?",
        "processors": os.cpu_count(),
        "kernel": platform.release(),
        "libc": "-".join(platform.libc_ver()),
        "sqlite": sqlite3.sqlite_version,
        "load_before": os.getloadavg(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "virtual": os.path.exists("/sys/hypervisor") or "hypervisor" in read("/proc/cpuinfo"),
    }
    m = re.search(r"^model name\s*: (.*)$", read("/proc/cpuinfo"), re.M)
    if m:
        facts["processor"] = m.group(1)
    with contextlib.suppress(OSError):
        out = subprocess.run([os.path.join(build, "bin/rtl"), "--version"], capture_output=True, text=True, check=False)
        facts["rtl"] = out.stdout.strip().split("\n")[0]
    for name in RUNTIMES:
        for folder in ("/usr/lib/x86_64-linux-gnu", "/opt/rocm/lib"):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                facts[name] = os.path.basename(os.path.realpath(path))
                break
    return facts


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


# ---- the report --------------------------------------------------------------------------------


def number(value):
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def print_table(rows):
    head = ("", "figure", "lowest", "", "floor", "ratio", "budget", "", "")
    lines = []
    for r in rows:
        ratio = r.ratio()
        lines.append((
            r.name, number(r.value), number(r.low), r.unit, number(r.floor),
            f"{ratio:.2f}" if ratio is not None else "",
            ", ".join(t for t, _ in r.budgets), r.verdict(), f"({r.note})" if r.note else "",
        ))  # fmt: skip
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    for line in [head, *lines]:
        cells = [c.rjust(w) if 1 <= i <= 5 and i != 3 else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths))]
        print("  ".join(cells).rstrip())


def main():
    parser = argparse.ArgumentParser(prog="bench/run", description="measures what the product costs")
    parser.add_argument("--quick", action="store_true", help="one round and small sizes: does everything run?")
    parser.add_argument("--build", default=os.environ.get("RTL_BUILD") or os.path.join(SOURCE, "build"), metavar="DIR")
    parser.add_argument("--rounds", type=int, default=9, metavar="N")
    parser.add_argument("--json", metavar="FILE", help="default: DIR/bench/results.json")
    parser.add_argument("--dir", metavar="DIR", help="where to work: needs 5 GB for a while, and should be a disk")
    parser.add_argument("--before", metavar="DIR", help="folder of an older build, for rows of its librtl (step) or of its virtual GPU (interpreter: its vgpu/)")
    parser.add_argument("part", nargs="*", help=", ".join(PARTS))
    args = parser.parse_args()
    for name in args.part:
        if name not in PARTS:
            parser.error(f"no part '{name}'; there are {', '.join(PARTS)}")
    bench = Bench(args)
    facts = machine(bench.build)
    for part in args.part or PARTS:
        with tempfile.TemporaryDirectory(prefix="rtl-bench-", dir=args.dir) as folder:
            bench.dir = folder
            print(f"{part} ...", file=sys.stderr, flush=True)
            try:
                getattr(bench, part)()
            except (NotRun, OSError, KeyError, RuntimeError) as e:
                text = f"no {e}" if isinstance(e, KeyError) else str(e)
                bench.failures.append(f"{part}: {text}")
    bench.add_line()
    facts["load_after"] = os.getloadavg()
    print_table(bench.rows)
    for text in bench.notes + bench.failures:
        print(f"bench/run: {text}", file=sys.stderr)
    name = args.json or bench.path("bench/results.json")
    os.makedirs(os.path.dirname(os.path.abspath(name)), exist_ok=True)
    with open(name, "w", encoding="utf-8") as f:
        results = {
            "machine": facts,
            "quick": bench.quick,
            "results": [r.as_dict() for r in bench.rows],
            "rounds": bench.raw,
            "failures": bench.failures,
            "notes": bench.notes,
        }
        json.dump(results, f, indent=1)
        f.write("\n")
    if bench.quick:
        print("\nquick: shows that everything runs; the figures are not meaningful")
    load = facts["load_before"][0]
    runtimes = ", ".join(facts[n] for n in RUNTIMES if n in facts) or "no runtime"
    print(f"\n{runtimes}; {facts['processor']}, {facts['processors']} processors, Linux {facts['kernel']}; load {load:.1f} "
          f"before, {facts['load_after'][0]:.1f} after; all of it: {name}")  # fmt: skip
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
