#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The ways in: HSA_TOOLS_LIB, rocprofiler-register, both, beside AMD's SDK; what rtl chooses and says."""
from support import *

PLAY = os.path.join(BUILD, "tests", "libplayregister.so")
FAULTY = os.path.join(BUILD, "tests", "rocr72")
TEN = os.path.join(BUILD, "tests", "rocr100")
ONE = os.path.join(BUILD, "tests", "rocr70")
ARGS = ("threads=2", "streams=4", "launches=4000")


def launcher(trace, folder=None, **env):
    r = run("launcher", *ARGS, trace=trace, rtl_args=("-q", "-m", "standard"), env=env)
    contains("launcher's own account", r.out, "launcher: 4000 launches, 0 wrong copies")
    at_least("dispatches in the log", len(exact_dispatches(r, LAUNCHER_KERNELS)), 4000)
    complete(r)
    return r


def played(name):
    """A file for what was said, and what it holds."""
    path = os.path.join(new_dir("play"), name)

    def said():
        with open(path, encoding="ascii") as f:
            return f.read().split("\n")[:-1]

    return path, said


@case
def by_register_alone():
    log, said = played("log")
    launcher(TOOLS, HSA_TOOLS_LIB=PLAY, ROCPROFILER_REGISTER_LIBRARY=LIBRTL, PLAY_LOG=log)
    equal("what register saw", said(), ["taken hsa"])


@case
def by_register_and_as_a_tool_is_once():
    """In both orders; tables of other libraries, and one that comes again, change nothing."""
    for tools in (f"{PLAY} {LIBRTL}", f"{LIBRTL} {PLAY}"):
        log, said = played("log")
        launcher(
            TOOLS, HSA_TOOLS_LIB=tools, ROCPROFILER_REGISTER_LIBRARY=LIBRTL, PLAY_LOG=log, PLAY_TWICE="1"
        )
        equal("what register saw", said(), ["taken hip", "taken hsa", "taken hsa"])


@case
def beside_the_sdk():
    """librtl is preloaded and found first: the SDK's function gets what ours got, and its answer counts."""
    log, said = played("log")
    launcher(TOOLS, HSA_TOOLS_LIB=PLAY, LD_PRELOAD=f"{LIBRTL} {PLAY}", PLAY_LOG=log)
    equal("what register and the SDK saw", said(), ["sdk hsa", "refused hsa"])


@case
def rtl_trace_by_register():
    log, said = played("log")
    launcher(RTL, RTL_WAY="register", HSA_TOOLS_LIB=PLAY, PLAY_LOG=log)
    equal("what register saw", said(), ["taken hsa"])


def environment(**env):
    """What a traced program finds."""
    r = run("/usr/bin/env", trace=RTL, rtl_args=(), env=env)
    return dict(line.split("=", 1) for line in r.out.splitlines() if "=" in line), r


@case
def rtl_trace_chooses_what_the_runtime_needs():
    names = ("HSA_TOOLS_ROCPROFILER_V1_TOOLS", "ROCPROFILER_REGISTER_LIBRARY", "ROC_AQL_QUEUE_SIZE")
    for env, want in (
        ({}, ("1", None, None)),
        # a runtime that gives its tables to one alone
        ({"LD_LIBRARY_PATH": ONE}, ("1", LIBRTL, None)),
        ({"LD_LIBRARY_PATH": ONE, "RTL_WAY": "tools"}, ("1", None, None)),
        ({"LD_LIBRARY_PATH": ONE, "ROCPROFILER_REGISTER_LIBRARY": "/theirs.so"}, ("1", "/theirs.so", None)),
        ({"RTL_WAY": "register", "HSA_TOOLS_ROCPROFILER_V1_TOOLS": "0"}, ("0", LIBRTL, None)),
        # a faulty one: smaller queues would help, and hang some programs
        ({"LD_LIBRARY_PATH": FAULTY}, ("1", None, None)),
        ({"LD_LIBRARY_PATH": FAULTY, "ROC_AQL_QUEUE_SIZE": "256"}, ("1", None, "256")),
    ):
        got, r = environment(**env)
        equal(f"variables with {env}", tuple(map(got.get, names)), want)
        equal("told of a fault", "buffer of 256 packets" in r.err, env.get("LD_LIBRARY_PATH") == FAULTY)


def doctor(**env):
    return run(RTL_BIN, "doctor", status=None, env=env).out


@case
def doctor_says_which_way_and_why():
    for env, want in (
        ({}, "ok       way in: HSA_TOOLS_LIB: this HSA runtime knows no rocprofiler-register"),
        ({"LD_LIBRARY_PATH": FAULTY}, "ok       way in: HSA_TOOLS_LIB, with HSA_TOOLS_ROCPROFILER_V1_TOOLS=1"),
        ({"LD_LIBRARY_PATH": ONE}, "ok       way in: rocprofiler-register, because"),
        ({"LD_LIBRARY_PATH": ONE, "RTL_WAY": "tools"}, "warn     way in: HSA_TOOLS_LIB (RTL_WAY=tools), which"),
        ({"LD_LIBRARY_PATH": ONE, "RTL_WAY": "register"}, "ok       way in: rocprofiler-register (RTL_WAY=register)"),
        ({"RTL_WAY": "register"}, "warn     way in: rocprofiler-register (RTL_WAY=register), which this HSA runtime"),
    ):
        contains(f"doctor with {env}", doctor(**env), want)


@case
def doctor_names_a_faulty_build():
    said = doctor(LD_LIBRARY_PATH=FAULTY)
    contains("doctor", said, "warn     HSA runtime of ROCm 7.2.1: it hands batches to tools through a buffer")
    contains("doctor", said, "ROC_AQL_QUEUE_SIZE=256")
    equal("a good one is not", "HSA runtime of ROCm" in doctor(LD_LIBRARY_PATH=ONE), False)


@case
def doctor_warns_of_queues_that_are_made_unseen():
    what = "warn     HSA runtime has hsa_amd_queue_create(): what HIP puts into queues that it makes so"
    contains("doctor", doctor(LD_LIBRARY_PATH=TEN), what)
    for folder in (FAULTY, ONE):
        lacks("doctor", doctor(LD_LIBRARY_PATH=folder), "hsa_amd_queue_create")
    lacks("doctor", doctor(), "hsa_amd_queue_create")


main()
