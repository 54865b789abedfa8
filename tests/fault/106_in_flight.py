#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What was in flight when a program dies is in its trace, and what gets lost on its way to the database is missed."""

import functools
import glob
import json
import os
import subprocess

from support import *

OPEN = 20  # launched last; one of the first hangs, and the stream's others wait for it
HANG = {"VGPU_HANG": "n=56", "VGPU_LOG_SYNC": 1}  # 50 kernels are done, up to 5 are the runtime's copies and fills
ENDINGS = {"kill": 137, "abort": 134, "_exit": 3, "quick_exit": 3}
TYPES = {r["name"]: r["number"] for r in json.load(open(os.path.join(SOURCE, "src/spool/records.json"), encoding="utf-8"))["records"]}


def unfinished(r):
    return r.rows("select kernel, correlation_id, packet_index from rtl_dispatch where flags & 8")


def check_open(r):
    rows = unfinished(r)
    at_least("unfinished dispatches", len(rows), OPEN - 5)
    equal("dispatches that were launched last", r.count("rtl_dispatch", "kernel like 'ending\\_open%' escape '\\'"), OPEN)
    equal("unfinished kernels", {row[0].split("(")[0] for row in rows}, {"ending_open"})
    equal("their packets", len({row[2] for row in rows}), len(rows))
    equal("unfinished operations in the verdict", r.losses()["unfinished"], len(rows))
    equal("unaccounted", r.losses().get("unaccounted"), None)


def died(how, *rtl_args, env=None):
    r = run("ending", how, f"open={OPEN}", "launches=50", trace=RTL, rtl_args=("-q", *rtl_args), env={**HANG, **(env or {})},
            status=ENDINGS[how])
    equal("verdict begins with", r.info().split("verdict: ")[1][:8], "complete")
    check_open(r)
    return r


for how in ENDINGS:
    add_case(f"dispatches_at_{how.strip('_')}", functools.partial(died, how))
add_case("dispatches_in_mode_lite", functools.partial(died, "kill", "--mode", "lite"))


@case
def dispatches_belong_to_their_calls():
    r = died("kill", "--mode", "hip")
    equal("unfinished dispatches joined to hipLaunchKernel", r.value(
        "select count(*) from rtl_dispatch d join rtl_api a on a.correlation_id = d.correlation_id "
        "where d.flags & 8 and a.name = 'hipLaunchKernel'"), len(unfinished(r)))


@case
def trace_recovered_after_rtl_died_too():
    r = run("ending", "kill", f"open={OPEN}", "launches=50", trace=TOOLS, env={**HANG, "RTL_SPOOL_DIR": "spool"}, status=-9)
    spools = glob.glob(os.path.join(r.dir, "spool", "*.rtl"))
    equal("spools", len(spools), 1)
    equal("status of rtl recover", r.rtl("recover", "-o", "trace.db", spools[0]).status, 0)
    check_open(r)


@case
def recovery_only_reads_until_the_database_is_written():
    """The output is there already, or does not fit: both halves stay as they are. Afterwards the memory is free, and the same is read again."""
    os.makedirs(os.path.join(work_dir(), "mem"))
    r = run("ending", "kill", f"open={OPEN}", "launches=50", trace=TOOLS, status=-9,
            env={**HANG, "RTL_SPOOL_DIR": "spool", "RTL_MEM_DIR": os.path.join(work_dir(), "mem")})
    spool, = glob.glob(os.path.join(r.dir, "spool", "*.rtl"))
    mem, = glob.glob(os.path.join(work_dir(), "mem", "*.mem"))

    def halves():
        for path in spool, mem:
            with open(path, "rb") as f:
                yield f.read()

    before = list(halves())
    with open(r.output, "w", encoding="ascii") as f:
        f.write("taken")
    equal("status where the output is taken", r.rtl("recover", "-o", "trace.db", spool).status, 1)
    os.unlink(r.output)
    limited = subprocess.run(["prlimit", "--fsize=20000", RTL_BIN, "recover", "-o", "trace.db", spool], cwd=r.dir, env=clean_env({}), check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    equal("whether an output that does not fit is written", limited.returncode == 0, False)
    contains("info", r.rtl("info", spool).out, "unfinished")
    equal("halves that have changed", [i for i, (a, b) in enumerate(zip(before, halves())) if a != b], [])
    equal("status of rtl recover", r.rtl("recover", "-o", "trace.db", spool).status, 0)
    check_open(r)
    equal("memory halves", os.path.exists(mem), False)
    equal("status of the second rtl recover", r.rtl("recover", "--force", "-o", "trace.db", spool).status, 0)
    check_open(r)


def swallowed(name, program_name, *args, mode="full", env=None, status=0):
    r = run(program_name, *args, trace=RTL, status=status, rtl_args=("-q", "--mode", mode),
            env={"RTL_TEST_SWALLOW": TYPES[name], **(env or {})})
    equal(f"unaccounted, after a record of type {name} was lost", r.losses().get("unaccounted"), 1)
    equal("verdict begins with", r.info().split("verdict: ")[1][:10], "incomplete")


for name in ("STRING", "INFO", "CLOCK", "THREAD", "AGENT", "QUEUE", "CODE_OBJECT", "KERNEL", "BARRIER"):
    add_case(f"lost_{name}_is_missed", functools.partial(swallowed, name, "launcher", "launches=20"))
for name in ("QUEUE_END", "CODE_OBJECT_END", "SUBMITTED"):  # HIP destroys its objects after librtl's exit handler has run
    add_case(f"lost_{name}_is_missed", functools.partial(swallowed, name, "lifecycle", "again"))
add_case("lost_DISPATCH_is_missed", functools.partial(swallowed, "DISPATCH", "ending", "return", status=3))
add_case("lost_COPY_is_missed", functools.partial(swallowed, "COPY", "launcher", "copies=4"))
for name in ("MARKER", "MARKER_END", "OP", "API"):
    add_case(f"lost_{name}_is_missed", functools.partial(swallowed, name, "ranges", mode="hip"))
add_case("lost_LINK_is_missed", functools.partial(
    swallowed, "LINK", "ending", "return", status=3, mode="hip", env={"AMD_DIRECT_DISPATCH": 0}))


@case
def lost_correlation_id_is_missed():
    r = run("ending", "return", "launches=50", trace=RTL, status=3, rtl_args=("-q", "--mode", "hip"), env={"RTL_TEST_SWALLOW": 31})
    equal("launches without a dispatch", r.losses().get("unjoined"), 1)
    equal("verdict begins with", r.info().split("verdict: ")[1][:10], "incomplete")


@case
def captured_launches_have_no_dispatch():
    """They become nodes of a graph."""
    r = run("graphs", trace=RTL, rtl_args=("-q", "--mode", "hip"))
    at_least("graph launches", r.count("rtl_api", "name = 'hipGraphLaunch'"), 1)
    complete(r)


main()
