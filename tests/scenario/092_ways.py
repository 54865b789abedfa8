#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The ways into the runtime: HSA_TOOLS_LIB, rocprofiler-register, both, beside AMD's SDK; what rtl selects and reports."""
from support import *

PLAY = os.path.join(BUILD, "tests", "libplayregister.so")
FAULTY = os.path.join(BUILD, "tests", "rocr72")
TEN = os.path.join(BUILD, "tests", "rocr100")
ONE = os.path.join(BUILD, "tests", "rocr70")
ARGS = ("threads=2", "streams=4", "launches=4000")


def launcher(trace, rtl_args=("-q", "-m", "standard"), **env):
    r = run("launcher", *ARGS, trace=trace, rtl_args=rtl_args, env=env)
    contains("launcher's own account", r.out, "launcher: 4000 launches, 0 wrong copies")
    at_least("dispatches in the log", len(exact_dispatches(r, LAUNCHER_KERNELS)), 4000)
    complete(r)
    return r


def played(name):
    """A path for the log of playregister.c, and a function that returns its lines."""
    path = os.path.join(new_dir("play"), name)

    def said():
        with open(path, encoding="ascii") as f:
            return f.read().split("\n")[:-1]

    return path, said


@case
def register_alone_traces_each_dispatch():
    log, said = played("log")
    launcher(TOOLS, HSA_TOOLS_LIB=PLAY, ROCPROFILER_REGISTER_LIBRARY=LIBRTL, PLAY_LOG=log)
    equal("what register saw", said(), ["taken hsa"])


@case
def register_and_tools_lib_trace_once():
    """In both orders; tables of other libraries, and a table that is registered twice, change nothing."""
    for tools in (f"{PLAY} {LIBRTL}", f"{LIBRTL} {PLAY}"):
        log, said = played("log")
        launcher(
            TOOLS, HSA_TOOLS_LIB=tools, ROCPROFILER_REGISTER_LIBRARY=LIBRTL, PLAY_LOG=log, PLAY_TWICE="1"
        )
        equal("what register saw", said(), ["taken hip", "taken hsa", "taken hsa"])


@case
def preloaded_librtl_passes_register_on_to_sdk():
    """A preloaded librtl is found first: it passes the tables on to the SDK's function and returns its result."""
    log, said = played("log")
    launcher(TOOLS, HSA_TOOLS_LIB=PLAY, LD_PRELOAD=f"{LIBRTL} {PLAY}", PLAY_LOG=log)
    equal("what register and the SDK saw", said(), ["sdk hsa", "refused hsa"])


@case
def rtl_trace_with_register_traces_each_dispatch():
    log, said = played("log")
    launcher(RTL, RTL_WAY="register", HSA_TOOLS_LIB=PLAY, PLAY_LOG=log)
    equal("what register saw", said(), ["taken hsa"])


def environment(**env):
    """The environment of a traced program, and the run."""
    r = run("/usr/bin/env", trace=RTL, rtl_args=(), env=env)
    return dict(line.split("=", 1) for line in r.out.splitlines() if "=" in line), r


@case
def rtl_trace_sets_variables_for_runtime():
    names = ("HSA_TOOLS_ROCPROFILER_V1_TOOLS", "ROCPROFILER_REGISTER_LIBRARY", "ROC_AQL_QUEUE_SIZE")
    for env, want in (
        ({}, ("1", None, None)),
        # a runtime that gives its tables to one tool alone
        ({"LD_LIBRARY_PATH": ONE}, ("1", LIBRTL, None)),
        ({"LD_LIBRARY_PATH": ONE, "RTL_WAY": "tools"}, ("1", None, None)),
        ({"LD_LIBRARY_PATH": ONE, "ROCPROFILER_REGISTER_LIBRARY": "/theirs.so"}, ("1", "/theirs.so", None)),
        ({"RTL_WAY": "register", "HSA_TOOLS_ROCPROFILER_V1_TOOLS": "0"}, ("0", LIBRTL, None)),
        # one whose intercept queues are faulty: no work-around is needed, since librtl creates none
        ({"LD_LIBRARY_PATH": FAULTY}, ("1", None, None)),
        ({"LD_LIBRARY_PATH": FAULTY, "ROC_AQL_QUEUE_SIZE": "256"}, ("1", None, "256")),
    ):
        got, r = environment(**env)
        equal(f"variables with {env}", tuple(map(got.get, names)), want)
        lacks(f"stderr with {env}", r.err, "queue")


@case
def intercept_queues_are_refused_on_faulty_runtime():
    r = launcher(RTL, ("-m", "standard"), RTL_QUEUES="intercept")
    refused = "RTL_QUEUES=intercept: not with this runtime (build id "
    # ROCr 7.2.4's intercept queues overrun a buffer
    equal("message that intercept queues are refused", refused in r.err, HIP7)


def doctor(**env):
    return run(RTL_BIN, "doctor", status=None, env=env).out


def queues_line(**env):
    """The line of rtl doctor about queues."""
    lines = [line for line in doctor(**env).splitlines() if " queues: " in line]
    equal("lines on queues", len(lines), 1)
    return lines[0]


@case
def doctor_reports_way_in_and_reason():
    for env, want in (
        ({}, "ok       way in: HSA_TOOLS_LIB: this HSA runtime does not support rocprofiler-register"),
        ({"LD_LIBRARY_PATH": FAULTY}, "ok       way in: HSA_TOOLS_LIB, with HSA_TOOLS_ROCPROFILER_V1_TOOLS=1"),
        ({"LD_LIBRARY_PATH": ONE}, "ok       way in: rocprofiler-register, because"),
        ({"LD_LIBRARY_PATH": ONE, "RTL_WAY": "tools"}, "warn     way in: HSA_TOOLS_LIB (RTL_WAY=tools), which"),
        ({"LD_LIBRARY_PATH": ONE, "RTL_WAY": "register"}, "ok       way in: rocprofiler-register (RTL_WAY=register)"),
        ({"RTL_WAY": "register"}, "warn     way in: rocprofiler-register (RTL_WAY=register), which this HSA runtime"),
    ):
        contains(f"doctor with {env}", doctor(**env), want)


@case
def doctor_names_the_way_of_the_virtual_gpu():
    (line,) = [line for line in doctor().splitlines() if " virtual GPU: " in line]
    contains("line", line, "libvgpu.so is preloaded, and is the kernel driver for /")


@case
def doctor_reports_interposed_queues():
    said = "queues: interposed: programs keep their own queues"
    faulty = "this HSA runtime's intercept queues are faulty: its intercept queues hand over batches"
    for folder in (FAULTY, ONE, TEN):
        line = queues_line(LD_LIBRARY_PATH=folder)
        contains(folder, line, "ok       " + said)
        equal(f"fault of {folder}", faulty in line, folder == FAULTY)
    contains("the installed runtime", queues_line(), said)
    equal("fault of the installed runtime", faulty in queues_line(), HIP7)


@case
def doctor_reports_requested_intercept_queues():
    for folder in (ONE, TEN):
        line = queues_line(LD_LIBRARY_PATH=folder, RTL_QUEUES="intercept")
        contains(folder, line, "queues: intercepted by the runtime (RTL_QUEUES=intercept)")
    said = doctor(LD_LIBRARY_PATH=FAULTY, RTL_QUEUES="intercept")
    contains("a faulty one", said, "warn     queues: interposed, although RTL_QUEUES=intercept: this HSA runtime (build id ")
    contains("a faulty one", said, "unset RTL_QUEUES")


main()
