#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rtl summary --by collective on AMD's RCCL: all collectives are matched, and the rank that is late by plan is named with its cause."""
import functools
import json

from support import *

ROUNDS = 12
CAUSES = {"host": "launched late", "copy": "copies"}


def check(r, log, late, by):
    complete(r)
    with open(os.path.join(r.dir, log), encoding="utf-8") as file:
        lines = sorted(tuple(map(int, line.split())) for line in file)
    equal("the program's log", lines, [(rank, n, 4096) for rank in range(2) for n in range(ROUNDS)])
    rows = json.loads(r.rtl("summary", "--by", "collective", "-f", "json", r.output).out)
    equal("collectives", {(row["name"], row["ranks"], row["calls"], row["channel"]) for row in rows}, {("ncclAllReduce", 2, ROUNDS, "communicator 0")})
    equal("kernels in the view", r.rows("SELECT count(*) FROM rtl_collective GROUP BY agent"), [(ROUNDS,), (ROUNDS,)])
    equal("late", [(row["rank"], row["cause"]) for row in rows if row["verdict"] == "late"], [(late, CAUSES[by])])


def skip_without_rccl():
    if USERLAND != "debian13":
        skip("RCCL is on the virtual GPU in the suite debian13")


def two_processes(by):
    skip_without_rccl()
    one = f"{program('collectives')} 2 {ROUNDS} log late=1 by={by} id=id rank="
    command = f"RANK=0 WORLD_SIZE=2 {one}0 & RANK=1 WORLD_SIZE=2 {one}1; a=$?; wait $! || exit; exit $a"
    r = run("/bin/sh", "-c", command, trace=RTL, gpus=2, env={"VGPU_EXEC": "auto"}, timeout=120)
    check(r, "log", "rank 1", by)
    made = [dict(arg.split("=") for arg in args.split(", ")) for args, in r.rows("SELECT args FROM rtl_api WHERE name = 'ncclCommInitRank'")]
    equal("ids of the communicator", (len(made), len({call["commId"] for call in made}), "0" in {call["handle"] for call in made}), (2, 1, False))


def one_process(by):
    skip_without_rccl()
    r = run("collectives", "2", str(ROUNDS), "log", "late=1", f"by={by}", trace=RTL, gpus=2, env={"VGPU_EXEC": "auto"}, timeout=120)
    check(r, "log", "GPU 1", by)


for cause in CAUSES:
    add_case(f"late_rank_of_two_processes_{cause}", functools.partial(two_processes, cause))
    add_case(f"late_gpu_of_one_process_{cause}", functools.partial(one_process, cause))

main()
