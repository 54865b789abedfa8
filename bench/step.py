# SPDX-License-Identifier: MIT
"""step.py - rows of bench.py about a whole step of typical programs: overhead/step.cpp

A token of a language model, a training step on four streams, and a thread for each of eight GPUs: the time of a step
untraced and added by each mode, what the launching thread executes, bytes of the raw trace, the time until the file is
there, and memory. With --before DIR also by the librtl of that older build. System calls are counted by the kernel's tracepoints
(`perf trace -s`), which stops no thread, where that may be used.
"""
import contextlib
import os
import re
import shutil
import statistics
import subprocess

STEPS = {"decode": "a token (graph of 300 kernels, 40 calls)", "train": "a training step (4 streams, 120 kernels)",
         "gpus": "8 threads on 8 GPUs, 100 launches each"}


def times(bench, kind, tools, args, extra):
    values = {t: [] for t in tools}
    for r in range(bench.rounds):
        for t in tools[r % len(tools):] + tools[: r % len(tools)]:
            env = {**extra, **tools_env(bench, t)}
            result, _, rss = bench.run([bench.path("bench/step"), *args], env)
            values[t].append((result["median"] / 1000, rss, raw_bytes(bench)))
    bench.keep(f"step {kind}", values)
    return values


def tools_env(bench, name):
    mode, _, which = name.partition(", ")
    env = bench.tool(mode)
    if which:
        lib = os.path.join(os.path.abspath(bench.before), "lib/librtl.so.1")
        env = {k: lib if k in ("LD_PRELOAD", "HSA_TOOLS_LIB") else v for k, v in env.items()}
    return env


def raw_bytes(bench):
    folder = os.path.join(bench.dir, "spool")
    size = sum(os.path.getsize(os.path.join(folder, f)) for f in os.listdir(folder)) if os.path.isdir(folder) else 0
    shutil.rmtree(folder, ignore_errors=True)
    return size


def ready(bench, args, name, extra):
    """Seconds until the program has ended and its database is there; of the older build by its own rtl."""
    mode, _, which = name.partition(", ")
    rtl = os.path.join(os.path.abspath(bench.before), "bin/rtl") if which else bench.path("bin/rtl")
    out = os.path.join(bench.dir, "ready.db")
    argv = [rtl, "trace", "-q", "-m", mode, "-o", out, "--", bench.path("bench/step"), *args]
    _, seconds, _ = bench.run(argv, extra)
    os.remove(out)
    return seconds


def has_perf():
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return b"write" in subprocess.run(["perf", "trace", "-s", "echo"], capture_output=True, timeout=60, check=True).stderr
    return False


# Calls by which a thread waits: how many there are is up to the machine. The virtual driver looks at its file for each
# request of the program's, which are waits for events in a step.
WAITS = {"futex", "sched_yield", "poll", "ppoll", "nanosleep", "clock_nanosleep", "restart_syscall"}
DRIVER = {"newfstatat", "fstat", "ioctl"}


def count_calls(summary):
    """(calls of the program's threads, their waits, calls of librtl's threads, their waits), from what perf trace -s says
    of each thread: its line, and one for each function. None: events were lost. The virtual GPU's thread stands for
    hardware, which makes none; rtl-control answers other programs."""
    counts = [0, 0, 0, 0]
    thread = ""
    for line in summary.splitlines():
        if "LOST" in line:
            return None
        head = re.match(r" *(.+) \(\d+\), \d+ events", line)
        row = re.match(r" +(\w+) +(\d+) +\d+ +[\d.]+ ", line)
        if head:
            thread = head[1]
        elif row and thread != "rtl-control" and not thread.startswith("vgpu-"):
            ours = thread.startswith("rtl-")
            counts[2 * ours + (row[1] in (WAITS if ours else WAITS | DRIVER))] += int(row[2])
    return counts


def calls_of_step(bench, kind, tool, extra, steps):
    """A step's system calls, as above: what a longer run has more, for each of its steps."""
    counts = []
    out = os.path.join(bench.dir, "calls")
    for nr in steps:
        argv = ["/usr/bin/env", "perf", "trace", "-s", "-m", "4096", "-o", out, bench.path("bench/step"), f"kind={kind}", f"steps={nr}"]
        bench.run(argv, {**extra, **tools_env(bench, tool)})
        raw_bytes(bench)
        with open(out, encoding="utf-8", errors="replace") as f:
            counts.append(count_calls(f.read()))
    return None if None in counts else [(many - few) / (steps[1] - steps[0]) for few, many in zip(*counts)]


def system_calls(bench, kind, what, tools, extra):
    """System calls of the program's threads, traced beside untraced and as the difference, and those of librtl's: medians
    with the least and the most of the rounds."""
    steps = (5, 45) if kind == "gpus" else (20, 220)
    values = {t: [] for t in tools}
    for r in range(min(5, bench.rounds)):
        for t in tools[r % len(tools):] + tools[: r % len(tools)]:
            found = calls_of_step(bench, kind, t, extra, steps)
            values[t] += [found] if found else []
    bench.keep(f"step {kind} system calls", values)
    if not all(values.values()):
        bench.notes.append(f"{what}: perf trace lost events: no system calls counted")
        return

    def median(tool, n):
        return statistics.median(v[n] for v in values[tool])

    def text(tool, n):
        return "%.1f (%.1f to %.1f)" % (median(tool, n), min(v[n] for v in values[tool]), max(v[n] for v in values[tool]))

    bench.add(f"{what}, system calls untraced", median("untraced", 0), "", note=f"{text('untraced', 0)}; waits {text('untraced', 1)}")
    for t in tools[1:]:
        bench.add(f"{what}, system calls added by {t}", median(t, 0) - median("untraced", 0), "",
                  note=f"with it {text(t, 0)}; waits {text(t, 1)}; librtl's threads {text(t, 2)}, waits {text(t, 3)}")


def step(bench):
    modes = ["standard", "hip"]
    before = bench.before and os.path.exists(os.path.join(bench.before, "lib/librtl.so.1"))
    tools = ["untraced", "passthrough", *modes, *([f"{m}, before" for m in modes] if before else [])]
    for kind, what in STEPS.items():
        if bench.quick and kind != "decode":
            continue
        nr = 5 if bench.quick else 20 if kind == "gpus" else 200
        args = [f"kind={kind}", f"steps={nr}"]
        extra = {"VGPU_DEVICES": "8"} if kind == "gpus" else {}
        values = times(bench, kind, tools, args, extra)
        quiet = {t: bench.quiet([v[0] for v in values[t]]) for t in tools}
        memory = {t: statistics.median(v[1] for v in values[t]) for t in tools}
        floor = quiet["passthrough"] - quiet["untraced"]
        bench.add(f"{what}, untraced", quiet["untraced"], "us")
        for t in tools[2:]:
            size = statistics.median(v[2] for v in values[t]) / nr / (8 if kind == "gpus" else 1)
            bench.add(f"{what}, added by {t}", quiet[t] - quiet["untraced"], "us", floor, "passthrough",
                      note=f"{quiet[t] / quiet['untraced']:.2f} x untraced, {size:,.0f} bytes, {memory[t] - memory['untraced']:+.1f} MiB")
        seconds = {t: [] for t in tools[2:]}
        for _ in range(min(3, bench.rounds)):
            for t in tools[2:]:
                seconds[t].append(ready(bench, args, t, extra))
        for t in tools[2:]:
            bench.add(f"{what}, {nr} steps and the file, {t}", statistics.median(seconds[t]), "s")
        if not bench.quick and has_perf():
            system_calls(bench, kind, what, ["untraced", *tools[2:]], extra)
        # of eight threads callgrind counts what they wait for each other
        if bench.quick or kind == "gpus" or not shutil.which("valgrind"):
            continue
        counts = {t: bench.submitter("step", [f"kind={kind}", "steps=40"], t, "timed_block") / 41 for t in ["untraced", "passthrough", *modes]}
        for m in modes:
            bench.add(f"{what}, instructions added by {m}", counts[m] - counts["untraced"], "",
                      counts["passthrough"] - counts["untraced"], "passthrough", note=f"untraced {counts['untraced']:,.0f}")
