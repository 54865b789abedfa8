#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each kernel of each replay of a graph is traced, on any number of GPUs, from any number of threads, in every mode.

RTL_TEST_LONG=1: every number of threads with every mode.
"""
import functools

from support import *

SHAPES = ((10, 100), (300, 10))
MODES = ("lite", "standard", "full", "hip")
GPUS = (1, 2, 4, 8)
THREADS = (1, 2, 4, 8, 16)


def within(what, part, whole):
    more = collections.Counter(part) - collections.Counter(whole)
    equal(what, list(more.elements())[:4], [])


def graphs(nodes, launches, gpus, threads, mode):
    r = run(
        "graphs", f"threads={threads}", f"gpus={gpus}", f"nodes={nodes}", f"launches={launches}",
        trace=RTL, gpus=gpus, rtl_args=("-q", "-m", mode), env={"VGPU_KERNEL_NS": 1000}, timeout=120,
    )
    replays = threads * launches
    equal("stdout", r.out, f"graphs: {replays * nodes} in graphs, {replays} between\n")
    log = r.log("dispatch")
    at_least("dispatches in the log", len(log), replays * (nodes + 1))
    text = r.info().lower()
    contains("rtl info", text, "complete")
    lacks("rtl info", text, "incomplete")
    if mode == "lite":  # lite mode does not time a packet that has the program's signal
        rows = r.rows(DISPATCH_SQL)
        within("dispatches that never were", [row_key(row) for row in rows], [dispatch_key(d) for d in log])
        equal("dispatches and what was left out", len(rows) + r.losses().get("lite_signal", 0), len(log))
        return len(log)
    exact_dispatches(r)
    for kernel, count in (("graph_node", replays * nodes), ("graph_between", replays)):
        equal(f"rows of {kernel}", r.count("rtl_dispatch", f"kernel like '{kernel}%'"), count)
    complete(r)
    if mode == "hip":
        equal("launches of graphs", r.count("rtl_api", "name = 'hipGraphLaunch'"), replays)
        joined = r.value(
            "select count(*) from rtl_dispatch join rtl_api using (correlation_id) "
            "where name = 'hipGraphLaunch' and kernel like 'graph_node%'"
        )
        equal("kernels that are joined to the launch of their graph", joined, replays * nodes)
    return len(log)


def every(nodes, launches, gpus):
    at = SHAPES.index((nodes, launches)) + GPUS.index(gpus)
    chosen = [(threads, mode) for threads in THREADS for mode in MODES]
    if not LONG:  # one thread for each GPU, and two, each case with two modes
        chosen = [(gpus, MODES[at % 4]), (2 * gpus, MODES[(at + 2) % 4])]
    total = sum(graphs(nodes, launches, gpus, threads, mode) for threads, mode in chosen)
    print(f"    {len(chosen)} runs, {total} dispatches")


for nodes_, launches_ in SHAPES:
    for gpus_ in GPUS:
        add_case(f"{nodes_}_nodes_{launches_}_times_gpus_{gpus_}", functools.partial(every, nodes_, launches_, gpus_))

main()
