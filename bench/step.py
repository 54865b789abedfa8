# SPDX-License-Identifier: MIT
"""step.py - rows of bench.py about a whole step of typical programs: overhead/step.cpp

A token of a language model, a training step on four streams, and a thread for each of eight GPUs: the time of a step
untraced and added by each mode, what the launching thread executes, bytes of the raw trace, the time until the file is
there, and memory. With --before DIR also by the librtl of that older build.
"""
import os
import shutil
import statistics

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
        # of eight threads callgrind counts what they wait for each other
        if bench.quick or kind == "gpus" or not shutil.which("valgrind"):
            continue
        counts = {t: bench.submitter("step", [f"kind={kind}", "steps=40"], t, "timed_block") / 41 for t in ["untraced", "passthrough", *modes]}
        for m in modes:
            bench.add(f"{what}, instructions added by {m}", counts[m] - counts["untraced"], "",
                      counts["passthrough"] - counts["untraced"], "passthrough", note=f"untraced {counts['untraced']:,.0f}")
