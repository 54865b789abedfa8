#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl summary --by collective on AMD's RCCL: all collectives are matched, and the rank that is late by plan is named with its cause.

RTL_TEST_LONG=1: 2, 4 and 8 ranks, and runs in which no rank is late by plan. RTL_TEST_RUNS sets how often each case
runs (1; 20 with RTL_TEST_LONG): of 20 runs 19 name the rank and the cause, and of 50 runs without a plan one may name any."""
import functools
import json

from support import *

ROUNDS = 24
CAUSES = {"host": "launched late", "copy": "copies", "kernel": "longer kernels", "graph": "graph launched late"}
RANKS = (2, 4, 8) if LONG else (2,)
RUNS = int(os.environ.get("RTL_TEST_RUNS", "20" if LONG else "1"))


def skip_without_rccl():
    if USERLAND not in ("debian13", "experimental"):
        skip("RCCL is on the virtual GPU in the suites debian13 and experimental")


def env(late):
    # RCCL 7 has no code for gfx900; a copy is long beside what other programs of the machine delay;
    # a model that is not measured gives all kernels the same time
    return {"VGPU_EXEC": "auto", "VGPU_ARCH": "gfx90a" if HIP7 else "gfx900", "VGPU_COPY_GBPS": 1,
            "VGPU_KERNEL_MODEL": "measured" if "kernel" in late else "fixed"}


def found_late(r, ranks):
    """Rank and cause of each that is called late; the rows are compared with the log that the program wrote."""
    complete(r)
    with open(os.path.join(r.dir, "log"), encoding="utf-8") as file:
        lines = sorted(tuple(map(int, line.split())) for line in file)
    equal("the program's log", lines, [(rank, n, 4096) for rank in range(ranks) for n in range(ROUNDS)])
    rows = json.loads(r.rtl("summary", "--by", "collective", "-f", "json", r.output).out)
    equal("collectives", {(row["name"], row["ranks"], row["calls"], row["channel"]) for row in rows}, {("ncclAllReduce", ranks, ROUNDS, "communicator 0")})
    equal("kernels in the view", r.rows("SELECT count(*) FROM rtl_collective GROUP BY agent"), [(ROUNDS,)] * ranks)
    return [(row["rank"], row["cause"]) for row in rows if row["verdict"] == "late"]


def in_processes(ranks, late):
    one = [f"RANK={n} {program('collectives')} {ranks} {ROUNDS} log {late} id=id rank={n}" for n in range(ranks)]
    command = f"export WORLD_SIZE={ranks}; {' & '.join(one)} & for job in $(jobs -p); do wait $job || exit; done"
    r = run("/bin/bash", "-c", command, trace=RTL, gpus=ranks, env=env(late), timeout=300)
    late_ones = found_late(r, ranks)
    made = [dict(arg.split("=") for arg in args.split(", ")) for args, in r.rows("SELECT args FROM rtl_api WHERE name = 'ncclCommInitRank'")]
    equal("ids of the communicator", (len(made), len({call["commId"] for call in made}), "0" in {call["handle"] for call in made}), (ranks, 1, False))
    return late_ones


def in_one_process(ranks, late):
    r = run("collectives", str(ranks), str(ROUNDS), "log", *late.split(), trace=RTL, gpus=ranks, env=env(late), timeout=300)
    return found_late(r, ranks)


WAYS = {"rank": in_processes, "gpu": in_one_process}


def planned(what, ranks, by):
    skip_without_rccl()
    name = {"rank": "rank", "gpu": "GPU"}[what]
    other = []
    for n in range(RUNS):
        late = (n + 1) % ranks
        found = WAYS[what](ranks, f"late={late} by={by}")
        if found != [(f"{name} {late}", CAUSES[by])]:
            other.append((late, found))
    print(f"{RUNS - len(other)} of {RUNS} runs right")
    if len(other) > RUNS // 20:
        fail(f"of {RUNS} runs these name another rank or cause than planned: {other}")


def unplanned(what, ranks):
    skip_without_rccl()
    accused = sum(WAYS[what](ranks, "") != [] for _ in range(5 * RUNS))
    print(f"{accused} of {5 * RUNS} runs accused")
    if accused > 5 * RUNS // 50:
        fail(f"{accused} of {5 * RUNS} runs in which no rank is late by plan name one")


for kind, plural in (("rank", "processes"), ("gpu", "gpus")):
    for count in RANKS:
        for cause in CAUSES:
            add_case(f"late_{kind}_of_{count}_{cause}", functools.partial(planned, kind, count, cause))
        if LONG:
            add_case(f"no_late_{kind}_of_{count}", functools.partial(unplanned, kind, count))

main()
