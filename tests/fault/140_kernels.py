#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels that fail on the virtual GPU: the program dies as untraced, the trace has what completed before."""
import functools

from support import *

PROGRAM = os.path.join(BUILD, "tests/vgpu/exec_test_o2")
UNFINISHED = 8

# argument of the program -> fault in the log, kernel
FAULTS = {
    "wild": (["memory_fault"], "wild(int*)"),
    "trap": (["trap", "queue_error"], "trap()"),
    "illegal": (["illegal_instruction", "queue_error"], "illegal()"),
    "assert": (["trap", "queue_error"], "doubtful(int)"),
    "missing": (["unimplemented_instruction", "queue_error"], "missing()"),
}


def ends(what, trace, rtl_args=("-q",)):
    built(PROGRAM)
    faults, kernel = FAULTS[what]
    env = {"VGPU_EXEC": "auto", "VGPU_LOG_SYNC": 1}
    plain = run(PROGRAM, "bad", what, env=env, status=-signal.SIGABRT)
    traced = 128 + signal.SIGABRT if trace == RTL else -signal.SIGABRT
    r = run(PROGRAM, "bad", what, trace=trace, rtl_args=rtl_args, env=env, status=traced)
    equal("stdout", r.out, plain.out)
    if what == "wild":
        contains("stderr", r.err, "on address 0x123456789000")
    for each in (plain, r):
        equal("faults", [l["fault"] for l in each.log("fault")], faults)
    if trace == TOOLS:
        spool, = glob.glob(os.path.join(r.dir, "*.spool"))
        ended(r.rtl("recover", spool, "-o", r.output), 0)
    done = f"not flags & {UNFINISHED}"
    equal("dispatches that were done", r.count("rtl_dispatch", done), len(r.log("dispatch")))
    same_counter("their times", r.rows(f"select begin_ticks, end_ticks from rtl_dispatch where {done}"),
                 [(l["begin"], l["end"]) for l in r.log("dispatch")])
    names = {n for n, in r.rows(f"select kernel from rtl_dispatch where {done}") if not n.startswith("[runtime")}
    equal("kernels that were done", names, {"shape(unsigned int*, int, int, int)"})
    equal("the one that was not", r.rows(f"select kernel from rtl_dispatch where flags & {UNFINISHED}"), [(kernel,)])
    end = "killed" if trace == RTL else "end_unknown"  # rtl recover sees no wait status
    equal("losses", r.losses(), {"unfinished": 1, end: 1})
    if "-m" not in rtl_args and trace == RTL:
        launches = r.rows("select args from rtl_api where name = 'hipLaunchKernel' order by api_id")
        equal("launches", len(launches), 6)
        contains("the last of them", launches[-1][0], kernel.split("(")[0])


for name in FAULTS:
    add_case(name, functools.partial(ends, name, RTL))
add_case("wild_without_calls", functools.partial(ends, "wild", RTL, ("-q", "-m", "standard")))
add_case("trap_without_rtl_trace", functools.partial(ends, "trap", TOOLS))

main()
