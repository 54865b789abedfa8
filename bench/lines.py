# SPDX-License-Identifier: MIT
"""lines.py - rows of bench.py about cache lines that pass from one thread to another

librtl is built once more, into the build's lines/, so that it tells each of its accesses to memory, and
overhead/lines.c counts. The programs are those of step.py; a longer run's passages less a shorter one's, for each step.
An untraced program has none: those of the program, of the runtime and of the C library are not seen.
"""
import os
import shutil
import statistics
import subprocess

import step as whole_step

ROUNDS = 3


def build(bench):
    """The library that tells its accesses. None: it can't be built; why is in the notes."""
    folder, source = bench.path("lines"), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    counter = bench.path("bench/liblines.so")
    if not os.path.exists(counter) or not shutil.which("cmake"):
        bench.notes.append(f"lines: {counter} was not built; make bench builds it")
        return None
    configure = ["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None", "-DRTL_TESTS=OFF",
                 "-DRTL_OPT=-O2 -g1 -fsanitize=thread", f"-DCMAKE_C_STANDARD_LIBRARIES={counter}"]
    for argv in (configure, ["cmake", "--build", folder, "--target", "librtl"]):
        p = subprocess.run(argv, capture_output=True, text=True, check=False)
        if p.returncode:
            bench.notes.append(f"lines: {' '.join(argv)}: {(p.stdout + p.stderr)[-300:]}")
            return None
    return os.path.join(folder, "lib/librtl.so.1")


def passages(bench, library, kind, mode, nr):
    """Of a run of `nr` steps: those of the program's threads, and of librtl's."""
    out = os.path.join(bench.dir, "lines")
    env = {k: library if k in ("LD_PRELOAD", "HSA_TOOLS_LIB") else v for k, v in bench.tool(mode).items()}
    # librtl needs the counter by its name
    env["LD_PRELOAD"] = ":".join(filter(None, [bench.path("bench/liblines.so"), env.get("LD_PRELOAD")]))
    more = {"BENCH_LINES": out, **({"VGPU_DEVICES": "8"} if kind == "gpus" else {})}
    bench.run([bench.path("bench/step"), f"kind={kind}", f"steps={nr}"], {**env, **more})
    whole_step.raw_bytes(bench)
    counts = [0, 0]
    with open(out, encoding="utf-8") as f:
        for line in f:
            count, _, name = line.rstrip("\n").split(" ", 2)
            counts[name.startswith("rtl-")] += int(count)
    os.remove(out)
    return counts


def lines(bench):
    library = None if bench.quick else build(bench)
    if not library:
        return
    for kind, what in whole_step.STEPS.items():
        few, many = (5, 25) if kind == "gpus" else (20, 120)
        for mode in ("standard", "hip"):
            values = []
            for _ in range(min(ROUNDS, bench.rounds)):
                before, after = (passages(bench, library, kind, mode, nr) for nr in (few, many))
                values.append([(b - a) / (many - few) for a, b in zip(before, after)])
            bench.keep(f"lines {kind} {mode}", values)
            own, ours = ([v[n] for v in values] for n in (0, 1))
            bench.add(f"{what}, cache lines that come to its threads, {mode}", statistics.median(own), "", low=min(own),
                      note=f"{min(own):,.0f} to {max(own):,.0f}; to librtl's threads {statistics.median(ours):,.0f} ({min(ours):,.0f} to {max(ours):,.0f})")
